/* Budgets of zones (docs/budgets.md) for Python. */
#ifndef DEVLOG_PYTHON_BUDGET_H
#define DEVLOG_PYTHON_BUDGET_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* (capture, zone, risc or None, cycles, running): (result, most cycles, why it was not kept). running: who asks made the capture, and it
 * has not ended. */
PyObject *budget_judge(PyObject *module, PyObject *args);

#endif
