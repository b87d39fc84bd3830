/* Functions and lines of Python programs as zones of host code; see trace.h. What is recorded, and under which names, is decided by
 * _profile.py, once for each function; this file keeps the decision with the code object, and a stack of what is open with each
 * thread. Everything runs with the interpreter's lock; other threads of the library take records out of rings meanwhile.
 *
 * Two sources of events, one machine: the profile and trace functions of the interpreter, and sys.monitoring (3.12). Both tell
 * each resumption of a generator or coroutine as a call and each suspension as a return, so zones nest on their thread. */
#include "trace.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "devlog/host.h"

#include "zones.h"

#if PY_VERSION_HEX < 0x030C0000 /* 3.12 has them under the names that stay */
#define PyUnstable_Eval_RequestCodeExtraIndex _PyEval_RequestCodeExtraIndex
#define PyUnstable_Code_GetExtra              _PyCode_GetExtra
#define PyUnstable_Code_SetExtra              _PyCode_SetExtra
#endif

enum { MOST_LINES = 1 << 20 };

/* ---- The session ---------------------------------------------------------------------------------------- */

static struct {
    bool on, lines;
    uint32_t number; /* of sessions: decisions and stacks of others are not this one's */
    PyObject *describe, *describe_c, *disable;
    PyInterpreterState *interpreter;
    Py_ssize_t extra; /* where decisions are kept in code objects of that interpreter */
} session;

/* What is open on a thread: a function of Python or C, or a line. */
typedef struct open_zone {
    uintptr_t
        key; /* of whose end is awaited: a code object, with 1 added for a line of it, or a PyMethodDef */
    devlog_host_zone zone;
} open_zone;

typedef struct open_stack {
    open_zone *items;
    size_t n, cap;
    uint32_t session;
} open_stack;

static __thread open_stack stack;
static pthread_key_t at_thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void free_stack(void *items)
{
    free(items);
    stack = (open_stack){0};
}

static void make_key(void)
{
    (void)pthread_key_create(&at_thread_end, free_stack);
}

static void push(open_stack *s, uintptr_t key, devlog_host_site *site)
{
    if (s->n == s->cap) {
        const size_t cap = s->cap ? 2 * s->cap : 256;
        open_zone *items = realloc(s->items, cap * sizeof *items);
        if (!items) return; /* its end is not found, either */
        s->items = items;
        s->cap = cap;
        (void)pthread_once(&once, make_key);
        (void)pthread_setspecific(at_thread_end, items);
    }
    open_zone *o = &s->items[s->n++];
    *o = (open_zone){.key = key};
    if (__builtin_expect(__atomic_load_n(&devlog_host_on, __ATOMIC_RELAXED), 1))
        devlog_host_begin(&o->zone, site);
}

static void end_top(open_stack *s)
{
    devlog_host_end(&s->items[--s->n].zone);
}

/* Ends what `key` began, with what is open in it: ends in it have not come. What began before the session is not there. */
static void pop(open_stack *s, uintptr_t key)
{
    size_t at = s->n;
    while (at && s->items[at - 1].key != key)
        at--;
    while (at && s->n >= at)
        end_top(s);
}

static void end_all(open_stack *s)
{
    while (s->n)
        end_top(s);
}

/* The stack of this thread; what is open of another session ends. NULL: its events are not wanted. */
static open_stack *in_session(void)
{
    open_stack *s = &stack;
    if (__builtin_expect(session.on && s->session == session.number, 1)) return s;
    end_all(s);
    s->session = session.number;
    return session.on ? s : NULL;
}

/* ---- Decisions -------------------------------------------------------------------------------------------- */

typedef struct code_info {
    uint32_t session;
    uint32_t n_lines;
    devlog_host_site *site;   /* NULL: it is not recorded */
    devlog_host_site **lines; /* from the first one; NULL: not met */
} code_info;

static void free_info(void *object)
{
    code_info *info = object;
    if (info) free(info->lines);
    free(info);
}

/* Names that describe() gave become sites. An exception of it ends nothing: what cannot be described is not recorded. */
static devlog_host_site *site_named(PyObject *describe, PyObject *what, const char *file, unsigned line)
{
    devlog_host_site *site = NULL;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *name = PyObject_CallFunctionObjArgs(describe, what, NULL);
    if (name && PyUnicode_Check(name)) site = zones_site(name, file, line);
    if (PyErr_Occurred()) PyErr_WriteUnraisable(what);
    Py_XDECREF(name);
    PyErr_Restore(type, value, trace);
    return site;
}

static PyObject *file_of(PyCodeObject *code)
{
    return zones_bytes(code->co_filename);
}

static void decide(PyCodeObject *code, code_info *info)
{
    free(info->lines);
    *info = (code_info){.session = session.number};
    PyObject *file = file_of(code);
    if (file)
        info->site = site_named(session.describe, (PyObject *)code, PyBytes_AS_STRING(file),
                                (unsigned)code->co_firstlineno);
    else
        PyErr_Clear();
    Py_XDECREF(file);
}

/* What is decided of a code object. NULL: it is not recorded. */
static code_info *info_of(PyCodeObject *code)
{
    void *extra = NULL;
    if (PyUnstable_Code_GetExtra((PyObject *)code, session.extra, &extra)) {
        PyErr_Clear();
        return NULL;
    }
    code_info *info = extra;
    if (__builtin_expect(!info, 0)) {
        if (!(info = calloc(1, sizeof *info))) return NULL;
        if (PyUnstable_Code_SetExtra((PyObject *)code, session.extra, info)) {
            PyErr_Clear();
            free(info);
            return NULL;
        }
    }
    if (__builtin_expect(info->session != session.number, 0)) decide(code, info);
    return info->site ? info : NULL;
}

/* The site of a line, "name:line". */
static devlog_host_site *line_site(PyCodeObject *code, code_info *info, int line)
{
    const int at = line - code->co_firstlineno;
    if (line <= 0 || at < 0 || at >= MOST_LINES) return NULL;
    if ((uint32_t)at >= info->n_lines) {
        uint32_t n = info->n_lines ? info->n_lines : 16;
        while (n <= (uint32_t)at)
            n *= 2;
        devlog_host_site **lines = realloc(info->lines, n * sizeof *lines);
        if (!lines) return NULL;
        memset(lines + info->n_lines, 0, (n - info->n_lines) * sizeof *lines);
        info->lines = lines;
        info->n_lines = n;
    }
    if (__builtin_expect(!info->lines[at], 0)) {
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        PyObject *file = file_of(code), *name = PyUnicode_FromFormat("%s:%d", info->site->name, line);
        if (file && name) info->lines[at] = zones_site(name, PyBytes_AS_STRING(file), (unsigned)line);
        Py_XDECREF(file);
        Py_XDECREF(name);
        PyErr_Restore(type, value, trace);
    }
    return info->lines[at];
}

/* Functions of C, by their PyMethodDef. One that is freed and another in its place are told apart by their names' address. */
typedef struct c_function {
    const PyMethodDef *def;
    const char *name;
    devlog_host_site *site; /* NULL: it is not recorded */
} c_function;

static struct {
    c_function *items;
    size_t n, cap; /* a power of two, at most half full */
    uint32_t session;
} functions;

static c_function *place_of(const PyMethodDef *def)
{
    for (uintptr_t i = (uintptr_t)def * (uintptr_t)0x9E3779B97F4A7C15 >> 20;; i++) {
        c_function *f = &functions.items[i & (functions.cap - 1)];
        if (!f->def || f->def == def) return f;
    }
}

static bool room_for_function(void)
{
    if (functions.session != session.number) {
        if (functions.items) memset(functions.items, 0, functions.cap * sizeof *functions.items);
        functions.n = 0;
        functions.session = session.number;
    }
    if (2 * (functions.n + 1) <= functions.cap) return true;
    const size_t before = functions.cap, cap = before ? 2 * before : 256;
    c_function *old = functions.items, *items = calloc(cap, sizeof *items);
    if (!items) return false;
    functions.items = items;
    functions.cap = cap;
    for (size_t i = 0; i < before; i++)
        if (old[i].def) *place_of(old[i].def) = old[i];
    free(old);
    return true;
}

static devlog_host_site *function_site(PyObject *function)
{
    const PyMethodDef *def = ((PyCFunctionObject *)function)->m_ml;
    if (!room_for_function()) return NULL;
    c_function *f = place_of(def);
    if (__builtin_expect(!f->def || f->name != def->ml_name, 0)) {
        devlog_host_site *site = site_named(session.describe_c, function, "", 0);
        f = place_of(def); /* describing may have called others */
        functions.n += !f->def;
        *f = (c_function){def, def->ml_name, site};
    }
    return f->site;
}

/* ---- Events ----------------------------------------------------------------------------------------------- */

/* Each returns whether the code is recorded. */
static bool enter(open_stack *s, PyCodeObject *code)
{
    code_info *info = info_of(code);
    if (info) push(s, (uintptr_t)code, info->site);
    return info != NULL;
}

static bool leave(open_stack *s, PyCodeObject *code)
{
    const uintptr_t key = (uintptr_t)code;
    if (!info_of(code)) return false;
    if (s->n && s->items[s->n - 1].key == (key | 1)) end_top(s);
    pop(s, key);
    return true;
}

static bool at_line(open_stack *s, PyCodeObject *code, int line)
{
    const uintptr_t key = (uintptr_t)code | 1;
    code_info *info = info_of(code);
    devlog_host_site *site = info ? line_site(code, info, line) : NULL;
    if (!info) return false;
    if (s->n && s->items[s->n - 1].key == key) end_top(s);
    if (site) push(s, key, site);
    return true;
}

static bool call_c(open_stack *s, PyCodeObject *caller, PyObject *function)
{
    if (!info_of(caller)) return false;
    devlog_host_site *site = function_site(function);
    if (site) push(s, (uintptr_t)((PyCFunctionObject *)function)->m_ml, site);
    return true;
}

static bool return_c(open_stack *s, PyCodeObject *caller, PyObject *function)
{
    if (!info_of(caller)) return false;
    if (function_site(function)) pop(s, (uintptr_t)((PyCFunctionObject *)function)->m_ml);
    return true;
}

/* ---- By profile and trace functions ------------------------------------------------------------------------ */

static void listen(PyThreadState *thread, bool on);

static int on_profile(PyObject *nothing, PyFrameObject *frame, int what, PyObject *arg)
{
    (void)nothing;
    open_stack *s = in_session();
    if (!s) {
        listen(PyThreadState_Get(), false);
        return 0;
    }
    PyCodeObject *code = PyFrame_GetCode(frame);
    switch (what) {
    case PyTrace_CALL: enter(s, code); break;
    case PyTrace_RETURN: leave(s, code); break;
    case PyTrace_C_CALL:
        if (PyCFunction_Check(arg)) call_c(s, code, arg);
        break;
    case PyTrace_C_RETURN:
    case PyTrace_C_EXCEPTION:
        if (PyCFunction_Check(arg)) return_c(s, code, arg);
        break;
    default: break;
    }
    Py_DECREF(code);
    return 0;
}

static int on_trace(PyObject *nothing, PyFrameObject *frame, int what, PyObject *arg)
{
    (void)nothing, (void)arg;
    open_stack *s = what == PyTrace_LINE ? in_session() : NULL;
    if (!s) return 0;
    PyCodeObject *code = PyFrame_GetCode(frame);
    at_line(s, code, PyFrame_GetLineNumber(frame));
    Py_DECREF(code);
    return 0;
}

/* The profile and trace functions of a thread of this interpreter. */
static void listen(PyThreadState *thread, bool on)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
#if PY_VERSION_HEX < 0x030C0000
    if (_PyEval_SetProfile(thread, on ? on_profile : NULL, NULL)) PyErr_Clear();
    if ((session.lines || !on) && _PyEval_SetTrace(thread, on && session.lines ? on_trace : NULL, NULL))
        PyErr_Clear();
#else /* there sys.monitoring is used; this is for who has taken it out of sys */
    if (thread == PyThreadState_Get()) {
        PyEval_SetProfile(on ? on_profile : NULL, NULL);
        if (session.lines || !on) PyEval_SetTrace(on && session.lines ? on_trace : NULL, NULL);
    }
#endif
    PyErr_Restore(type, value, trace);
}

PyObject *trace_thread(PyObject *module, PyObject *args)
{
    (void)module, (void)args;
    if (session.on && session.disable == Py_None && PyInterpreterState_Get() == session.interpreter)
        listen(PyThreadState_Get(), true);
    Py_RETURN_NONE;
}

/* ---- By sys.monitoring -------------------------------------------------------------------------------------- */

static PyObject *told(bool recorded)
{
    PyObject *result = recorded || !session.disable ? Py_None : session.disable;
    Py_INCREF(result);
    return result;
}

/* The code of an event that is wanted, and the stack. */
static PyCodeObject *code_in(PyObject *const *args, Py_ssize_t n, open_stack **s)
{
    *s = in_session();
    return n > 1 && PyCode_Check(args[0]) && *s ? (PyCodeObject *)args[0] : NULL;
}

PyObject *trace_on_start(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    open_stack *s;
    PyCodeObject *code = code_in(args, n, &s);
    return told(!code || enter(s, code));
}

PyObject *trace_on_return(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    open_stack *s;
    PyCodeObject *code = code_in(args, n, &s);
    return told(!code || leave(s, code));
}

PyObject *trace_on_throw(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    open_stack *s;
    PyCodeObject *code = code_in(args, n, &s);
    if (code) enter(s, code);
    Py_RETURN_NONE;
}

PyObject *trace_on_unwind(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    open_stack *s;
    PyCodeObject *code = code_in(args, n, &s);
    if (code) leave(s, code);
    Py_RETURN_NONE;
}

PyObject *trace_on_line(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    open_stack *s;
    PyCodeObject *code = code_in(args, n, &s);
    const long line = code ? PyLong_AsLong(args[1]) : 0;
    if (line == -1 && PyErr_Occurred()) return NULL;
    return told(!code || at_line(s, code, (int)line));
}

/* The function of C that a callable is, as C_CALL of the profile function has it; NULL: it is another thing. A new reference. */
static PyObject *c_function_of(PyObject *callable, PyObject *self)
{
    if (PyCFunction_Check(callable)) {
        Py_INCREF(callable);
        return callable;
    }
    if (Py_TYPE(callable) != &PyMethodDescr_Type || !session.disable) return NULL;
    PyObject *function = Py_TYPE(callable)->tp_descr_get(callable, self, (PyObject *)Py_TYPE(self));
    if (!function) PyErr_Clear(); /* it is not a method of that: the call fails, too */
    if (function && PyCFunction_Check(function)) return function;
    Py_XDECREF(function);
    return NULL;
}

static PyObject *on_c(PyObject *const *args, Py_ssize_t n,
                      bool (*what)(open_stack *, PyCodeObject *, PyObject *), bool may_disable)
{
    open_stack *s;
    PyCodeObject *code = n > 3 ? code_in(args, n, &s) : NULL;
    PyObject *function = code ? c_function_of(args[2], args[3]) : NULL;
    const bool recorded = function ? what(s, code, function) : !code || info_of(code);
    Py_XDECREF(function);
    return told(recorded || !may_disable);
}

PyObject *trace_on_call(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    return on_c(args, n, call_c, true);
}

PyObject *trace_on_c_return(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    return on_c(args, n, return_c, false);
}

/* ---- Start and stop ----------------------------------------------------------------------------------------- */

/* Code objects have places for others' data, numbered by interpreter. */
static bool find_place(void)
{
    static const char name[] = "devlog.code_extra";
    PyObject *dict = PyInterpreterState_GetDict(PyInterpreterState_Get());
    PyObject *known = dict ? PyDict_GetItemString(dict, name) : NULL;
    if (!dict) PyErr_NoMemory();
    if (!dict || known) {
        session.extra = known ? PyLong_AsSsize_t(known) : -1;
        return dict != NULL;
    }
    session.extra = PyUnstable_Eval_RequestCodeExtraIndex(free_info);
    if (session.extra < 0)
        PyErr_SetString(PyExc_RuntimeError, "code objects have no place left: too many tools use it");
    PyObject *number = session.extra < 0 ? NULL : PyLong_FromSsize_t(session.extra);
    const bool good = number && !PyDict_SetItemString(dict, name, number);
    Py_XDECREF(number);
    return good;
}

static void listen_all(bool on)
{
    PyThreadState *mine = PyThreadState_Get();
#if PY_VERSION_HEX < 0x030C0000
    for (PyThreadState *t = PyInterpreterState_ThreadHead(PyThreadState_GetInterpreter(mine)); t;
         t = PyThreadState_Next(t))
        if (on || t == mine) listen(t, on);
#else
    listen(mine, on);
#endif
}

PyObject *trace_start(PyObject *module, PyObject *args)
{
    PyObject *describe, *describe_c, *disable;
    int lines;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOpO", &describe, &describe_c, &lines, &disable)) return NULL;
    if (session.on) {
        PyErr_SetString(PyExc_RuntimeError,
                        PyInterpreterState_Get() == session.interpreter
                            ? "functions are profiled already"
                            : "functions of another interpreter of this process are profiled already");
        return NULL;
    }
    if (!find_place()) return NULL;
    Py_INCREF(describe), Py_INCREF(describe_c), Py_INCREF(disable);
    session.describe = describe;
    session.describe_c = describe_c;
    session.disable = disable;
    session.interpreter = PyInterpreterState_Get();
    session.lines = lines != 0;
    session.number++;
    session.on = true;
    (void)in_session();
    if (disable == Py_None) listen_all(true);
    Py_RETURN_NONE;
}

PyObject *trace_leave(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    end_all(&stack);
    if (session.disable == Py_None) listen(PyThreadState_Get(), false);
    Py_RETURN_NONE;
}

/* Other threads let go at their next event. */
PyObject *trace_stop(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    end_all(&stack);
    if (!session.on) Py_RETURN_NONE;
    session.on = false;
    if (session.disable == Py_None) listen_all(false);
    Py_CLEAR(session.describe);
    Py_CLEAR(session.describe_c);
    Py_CLEAR(session.disable);
    Py_RETURN_NONE;
}

PyObject *trace_forget(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    stack.n = 0;
    Py_RETURN_NONE;
}
