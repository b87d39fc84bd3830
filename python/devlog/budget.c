/* Budgets of zones, judged as `devlog budget --log` judges them; see budget.h. _budget.py asks. */
#include "budget.h"

#include "answers/budget.h"

#include "ops.h"

enum { LINES = 12 }; /* of a kernel whose zone took too long */

PyObject *budget_judge(PyObject *module, PyObject *args)
{
    devlog_error err = {DEVLOG_OK, ""};
    PyObject *path = NULL, *result = NULL;
    const char *zone, *risc;
    Py_ssize_t zone_size, risc_size;
    unsigned long long cycles;
    dl_str why = {0};
    int running;
    (void)module;
    if (!PyArg_ParseTuple(args, "O&s#z#Kp", PyUnicode_FSConverter, &path, &zone, &zone_size, &risc,
                          &risc_size, &cycles, &running))
        return NULL;
    const char *capture = PyBytes_AS_STRING(path);
    budgets b = {.running = running != 0};
    devlog_status status =
        budgets_add(&b, zone, (size_t)zone_size, risc, risc ? (size_t)risc_size : 0, cycles, 0, &err);
    Py_BEGIN_ALLOW_THREADS;
    if (!status) status = budgets_judge(&b, capture, NULL, &err);
    if (!status && !budgets_kept(&b))
        status = budget_explain(&b.items[0], capture, NULL, LINES, 0, &why, &err);
    Py_END_ALLOW_THREADS;
    if (status)
        raise_error(status, &err);
    else
        result = Py_BuildValue("(sKs)", budget_result_names[b.items[0].result],
                               (unsigned long long)b.items[0].most, why.text ? why.text : "");
    dl_str_free(&why);
    budgets_free(&b);
    Py_DECREF(path);
    return result;
}
