/* Zones of host code (devlog/host.h) for Python. */
#ifndef DEVLOG_PYTHON_ZONES_H
#define DEVLOG_PYTHON_ZONES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyTypeObject zone_type; /* zone(name, function, file, line); PyType_Ready before use */

PyObject *zones_on(PyObject *module, PyObject *nothing);
PyObject *zones_start(PyObject *module, PyObject *folder);
PyObject *zones_stop(PyObject *module, PyObject *nothing);
PyObject *zones_value(PyObject *module, PyObject *args);   /* (name, value, file, line) */
PyObject *zones_message(PyObject *module, PyObject *args); /* (text, file, line) */

#endif
