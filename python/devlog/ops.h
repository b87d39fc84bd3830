/* The op profiler (devlog/devlog.h, "Op profiler") for Python. */
#ifndef DEVLOG_PYTHON_OPS_H
#define DEVLOG_PYTHON_OPS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "devlog/devlog.h"

extern PyTypeObject ops_type; /* PyType_Ready before use */

/* Sets the exception of a status: devlog.Error(text), with the status as a number in .status. In native.c. */
void raise_error(devlog_status status, const devlog_error *err);

/* (folder or None, append, on): an Ops, or None when op profiling is off. */
PyObject *ops_open(PyObject *module, PyObject *args);

#endif
