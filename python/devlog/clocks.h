/* Exchanges of clocks between ranks (devlog/devlog.h, "Clocks of ranks") for Python. */
#ifndef DEVLOG_PYTHON_CLOCKS_H
#define DEVLOG_PYTHON_CLOCKS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

PyObject *clocks_now(PyObject *module, PyObject *nothing);
/* (peer, send, receive, answer, rounds, most_ms, folder or None): four numbers, or None of who answers. */
PyObject *clocks_exchange(PyObject *module, PyObject *args);
/* (peer, a list of tuples of four numbers, folder or None). */
PyObject *clocks_keep(PyObject *module, PyObject *args);

#endif
