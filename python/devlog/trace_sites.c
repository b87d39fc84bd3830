/* Which code is recorded, and under which name: what _profile.py decided, once for each function, kept with the code object, and
 * for functions of C in a table; see trace_internal.h. Events are not this file's. */
#include <stdlib.h>
#include <string.h>

#include "trace_internal.h"
#include "zones.h"

#if PY_VERSION_HEX < 0x030C0000 /* 3.12 has them under the names that stay */
#define PyUnstable_Eval_RequestCodeExtraIndex _PyEval_RequestCodeExtraIndex
#define PyUnstable_Code_GetExtra              _PyCode_GetExtra
#define PyUnstable_Code_SetExtra              _PyCode_SetExtra
#endif

enum { MOST_LINES = 1 << 20 };

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
    *info = (code_info){.session = trace_session.number};
    PyObject *file = file_of(code);
    if (file)
        info->site = site_named(trace_session.describe, (PyObject *)code, PyBytes_AS_STRING(file),
                                (unsigned)code->co_firstlineno);
    else
        PyErr_Clear();
    Py_XDECREF(file);
}

code_info *trace_info_of(PyCodeObject *code)
{
    void *extra = NULL;
    if (PyUnstable_Code_GetExtra((PyObject *)code, trace_session.extra, &extra)) {
        PyErr_Clear();
        return NULL;
    }
    code_info *info = extra;
    if (__builtin_expect(!info, 0)) {
        if (!(info = calloc(1, sizeof *info))) return NULL;
        if (PyUnstable_Code_SetExtra((PyObject *)code, trace_session.extra, info)) {
            PyErr_Clear();
            free(info);
            return NULL;
        }
    }
    if (__builtin_expect(info->session != trace_session.number, 0)) decide(code, info);
    return info->site ? info : NULL;
}

devlog_host_site *trace_line_site(PyCodeObject *code, code_info *info, int line)
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
    if (functions.session != trace_session.number) {
        if (functions.items) memset(functions.items, 0, functions.cap * sizeof *functions.items);
        functions.n = 0;
        functions.session = trace_session.number;
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

devlog_host_site *trace_function_site(PyObject *function)
{
    const PyMethodDef *def = ((PyCFunctionObject *)function)->m_ml;
    if (!room_for_function()) return NULL;
    c_function *f = place_of(def);
    if (__builtin_expect(!f->def || f->name != def->ml_name, 0)) {
        devlog_host_site *site = site_named(trace_session.describe_c, function, "", 0);
        f = place_of(def); /* describing may have called others */
        functions.n += !f->def;
        *f = (c_function){def, def->ml_name, site};
    }
    return f->site;
}

/* Code objects have places for others' data, numbered by interpreter. */
bool trace_find_place(void)
{
    static const char name[] = "devlog.code_extra";
    PyObject *dict = PyInterpreterState_GetDict(PyInterpreterState_Get());
    PyObject *known = dict ? PyDict_GetItemString(dict, name) : NULL;
    if (!dict) PyErr_NoMemory();
    if (!dict || known) {
        trace_session.extra = known ? PyLong_AsSsize_t(known) : -1;
        return dict != NULL;
    }
    trace_session.extra = PyUnstable_Eval_RequestCodeExtraIndex(free_info);
    if (trace_session.extra < 0)
        PyErr_SetString(PyExc_RuntimeError, "code objects have no place left: too many tools use it");
    PyObject *number = trace_session.extra < 0 ? NULL : PyLong_FromSsize_t(trace_session.extra);
    const bool good = number && !PyDict_SetItemString(dict, name, number);
    Py_XDECREF(number);
    return good;
}
