/* Functions and lines by sys.monitoring (3.12); see trace.h. Each callback tells whether it wants to hear of that place again. */
#include "trace.h"
#include "trace_internal.h"

static PyObject *told(bool recorded)
{
    PyObject *result = recorded || !trace_session.disable ? Py_None : trace_session.disable;
    Py_INCREF(result);
    return result;
}

/* The code of an event that is wanted, and the stack. */
static PyCodeObject *code_in(PyObject *const *args, Py_ssize_t n, open_stack **s)
{
    *s = trace_in_session();
    return n > 1 && PyCode_Check(args[0]) && *s ? (PyCodeObject *)args[0] : NULL;
}

PyObject *trace_on_start(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    open_stack *s;
    PyCodeObject *code = code_in(args, n, &s);
    return told(!code || trace_enter(s, code));
}

PyObject *trace_on_return(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    open_stack *s;
    PyCodeObject *code = code_in(args, n, &s);
    return told(!code || trace_leave_code(s, code));
}

PyObject *trace_on_throw(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    open_stack *s;
    PyCodeObject *code = code_in(args, n, &s);
    if (code) trace_enter(s, code);
    Py_RETURN_NONE;
}

PyObject *trace_on_unwind(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    open_stack *s;
    PyCodeObject *code = code_in(args, n, &s);
    if (code) trace_leave_code(s, code);
    Py_RETURN_NONE;
}

PyObject *trace_on_line(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    open_stack *s;
    PyCodeObject *code = code_in(args, n, &s);
    const long line = code ? PyLong_AsLong(args[1]) : 0;
    if (line == -1 && PyErr_Occurred()) return NULL;
    return told(!code || trace_at_line(s, code, (int)line));
}

/* The function of C that a callable is, as C_CALL of the profile function has it; NULL: it is another thing. A new reference. */
static PyObject *c_function_of(PyObject *callable, PyObject *self)
{
    if (PyCFunction_Check(callable)) {
        Py_INCREF(callable);
        return callable;
    }
    if (Py_TYPE(callable) != &PyMethodDescr_Type || !trace_session.disable) return NULL;
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
    const bool recorded = function ? what(s, code, function) : !code || trace_info_of(code);
    Py_XDECREF(function);
    return told(recorded || !may_disable);
}

PyObject *trace_on_call(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    return on_c(args, n, trace_call_c, true);
}

PyObject *trace_on_c_return(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    (void)module;
    return on_c(args, n, trace_return_c, false);
}
