/* Functions and lines of Python programs as zones of host code, as trace.h has them: a session's beginning and end, and events by the
 * profile and trace functions of the interpreter. Those of sys.monitoring (3.12) are in trace_monitoring.c, what is decided of code in
 * trace_sites.c, what is open on a thread in trace_stack.c. Everything runs with the interpreter's lock; other threads of the library
 * take records out of rings meanwhile.
 *
 * Both sources tell each resumption of a generator or coroutine as a call and each suspension as a return, so zones nest on their
 * thread. */
#include "trace.h"

#include <string.h>

#include "trace_internal.h"
#include "zones.h"

trace_session_state trace_session;

/* ---- By profile and trace functions ------------------------------------------------------------------------ */

static void listen(PyThreadState *thread, bool on);

static int on_profile(PyObject *nothing, PyFrameObject *frame, int what, PyObject *arg)
{
    (void)nothing;
    open_stack *s = trace_in_session();
    if (!s) {
        listen(PyThreadState_Get(), false);
        return 0;
    }
    PyCodeObject *code = PyFrame_GetCode(frame);
    switch (what) {
    case PyTrace_CALL: trace_enter(s, code); break;
    case PyTrace_RETURN: trace_leave_code(s, code); break;
    case PyTrace_C_CALL:
        if (PyCFunction_Check(arg)) trace_call_c(s, code, arg);
        break;
    case PyTrace_C_RETURN:
    case PyTrace_C_EXCEPTION:
        if (PyCFunction_Check(arg)) trace_return_c(s, code, arg);
        break;
    default: break;
    }
    Py_DECREF(code);
    return 0;
}

static int on_trace(PyObject *nothing, PyFrameObject *frame, int what, PyObject *arg)
{
    (void)nothing, (void)arg;
    open_stack *s = what == PyTrace_LINE ? trace_in_session() : NULL;
    if (!s) return 0;
    PyCodeObject *code = PyFrame_GetCode(frame);
    trace_at_line(s, code, PyFrame_GetLineNumber(frame));
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
    if ((trace_session.lines || !on) &&
        _PyEval_SetTrace(thread, on && trace_session.lines ? on_trace : NULL, NULL))
        PyErr_Clear();
#else /* there sys.monitoring is used; this is for who has taken it out of sys */
    if (thread == PyThreadState_Get()) {
        PyEval_SetProfile(on ? on_profile : NULL, NULL);
        if (trace_session.lines || !on) PyEval_SetTrace(on && trace_session.lines ? on_trace : NULL, NULL);
    }
#endif
    PyErr_Restore(type, value, trace);
}

PyObject *trace_thread(PyObject *module, PyObject *args)
{
    (void)module, (void)args;
    if (trace_session.on && trace_session.disable == Py_None &&
        PyInterpreterState_Get() == trace_session.interpreter)
        listen(PyThreadState_Get(), true);
    Py_RETURN_NONE;
}

/* ---- Start and stop ----------------------------------------------------------------------------------------- */

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
    if (trace_session.on) {
        PyErr_SetString(PyExc_RuntimeError,
                        PyInterpreterState_Get() == trace_session.interpreter
                            ? "functions are profiled already"
                            : "functions of another interpreter of this process are profiled already");
        return NULL;
    }
    if (!trace_find_place()) return NULL;
    Py_INCREF(describe), Py_INCREF(describe_c), Py_INCREF(disable);
    trace_session.describe = describe;
    trace_session.describe_c = describe_c;
    trace_session.disable = disable;
    trace_session.interpreter = PyInterpreterState_Get();
    trace_session.lines = lines != 0;
    trace_session.number++;
    trace_session.on = true;
    (void)trace_in_session();
    if (disable == Py_None) listen_all(true);
    Py_RETURN_NONE;
}

PyObject *trace_leave(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    trace_end_all(&trace_stack);
    if (trace_session.disable == Py_None) listen(PyThreadState_Get(), false);
    Py_RETURN_NONE;
}

/* Other threads let go at their next event. */
PyObject *trace_stop(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    trace_end_all(&trace_stack);
    if (!trace_session.on) Py_RETURN_NONE;
    trace_session.on = false;
    if (trace_session.disable == Py_None) listen_all(false);
    Py_CLEAR(trace_session.describe);
    Py_CLEAR(trace_session.describe_c);
    Py_CLEAR(trace_session.disable);
    Py_RETURN_NONE;
}

/* Profile functions are those of some threads; one that has had an event has joined the session. */
PyObject *trace_records(PyObject *module, PyObject *args)
{
    PyObject *code, *name;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!U", &PyCode_Type, &code, &name)) return NULL;
    const bool joined = trace_session.disable == Py_None ? trace_stack.session == trace_session.number
                                                         : trace_session.on && trace_in_session();
    const code_info *info = trace_session.on && joined ? trace_info_of((PyCodeObject *)code) : NULL;
    PyObject *bytes = info ? zones_bytes(name) : NULL;
    if (info && !bytes) return NULL;
    const bool same = bytes && strcmp(PyBytes_AS_STRING(bytes), info->site->name) == 0;
    Py_XDECREF(bytes);
    return PyBool_FromLong(same);
}

PyObject *trace_forget(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    trace_stack.n = 0;
    Py_RETURN_NONE;
}
