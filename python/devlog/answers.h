/* Answers (devlog/answers.h) for Python. */
#ifndef DEVLOG_PYTHON_ANSWERS_H
#define DEVLOG_PYTHON_ANSWERS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyTypeObject answer_type; /* PyType_Ready before use */

/* Functions of the module: each gives an Answer. */
PyObject *answer_report(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *answer_causes(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *answer_diff(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *answer_memory(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *answer_ops(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
