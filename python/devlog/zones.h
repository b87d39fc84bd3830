/* Zones of host code (devlog/host.h) for Python. */
#ifndef DEVLOG_PYTHON_ZONES_H
#define DEVLOG_PYTHON_ZONES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyTypeObject zone_type; /* zone(name, function, file, line); PyType_Ready before use */

struct devlog_host_site;
/* The site of that name, file and line. NULL: an exception is set. */
struct devlog_host_site *zones_site(PyObject *name, const char *file, unsigned line);
PyObject *
zones_bytes(PyObject *text); /* its UTF-8; what cannot be encoded is escaped. NULL: an exception is set */

PyObject *zones_on(PyObject *module, PyObject *nothing);
PyObject *zones_start(PyObject *module, PyObject *args); /* (folder or None, ring = 0, wait_ms = 0) */
PyObject *zones_stop(PyObject *module, PyObject *nothing);
PyObject *zones_thread(PyObject *module, PyObject *name);  /* the calling thread's */
PyObject *zones_value(PyObject *module, PyObject *args);   /* (name, value, file, line) */
PyObject *zones_message(PyObject *module, PyObject *args); /* (text, file, line, name = "message") */

#endif
