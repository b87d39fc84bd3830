/* Functions and lines of Python programs as zones of host code (docs/python.md). */
#ifndef DEVLOG_PYTHON_TRACE_H
#define DEVLOG_PYTHON_TRACE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* (describe, describe_c, lines, disable): begins a session. describe(code) and describe_c(function) give the name of a zone, or
 * None for what is not recorded; each is asked once. `disable` is None where events come from the interpreter's profile and trace
 * functions, and sys.monitoring.DISABLE where they come from there, by the functions below. */
PyObject *trace_start(PyObject *module, PyObject *args);
PyObject *trace_stop(PyObject *module, PyObject *nothing);
PyObject *trace_thread(PyObject *module,
                       PyObject *args); /* for threading.setprofile: the calling thread, too */
PyObject *trace_leave(PyObject *module, PyObject *nothing); /* no more of the calling thread */
PyObject *trace_forget(PyObject *module,
                       PyObject *nothing); /* in a forked child: what is open is the parent's */
/* (code, name): whether calls of a function on this thread are recorded as zones of that name. */
PyObject *trace_records(PyObject *module, PyObject *args);

/* Callbacks of sys.monitoring. */
PyObject *trace_on_start(PyObject *module, PyObject *const *args, Py_ssize_t n);
PyObject *trace_on_return(PyObject *module, PyObject *const *args, Py_ssize_t n);
PyObject *trace_on_throw(PyObject *module, PyObject *const *args,
                         Py_ssize_t n); /* as on_start; may not be disabled */
PyObject *trace_on_unwind(PyObject *module, PyObject *const *args, Py_ssize_t n); /* as on_return */
PyObject *trace_on_line(PyObject *module, PyObject *const *args, Py_ssize_t n);
PyObject *trace_on_call(PyObject *module, PyObject *const *args, Py_ssize_t n);
PyObject *trace_on_c_return(PyObject *module, PyObject *const *args, Py_ssize_t n);

#endif
