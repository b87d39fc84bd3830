/* Exchanges of clocks for Python; see clocks.h. _clocks.py gives them their shape. */
#include "clocks.h"

#include "ops.h"

typedef struct way {
    PyObject *send, *receive;
} way;

/* An exception stays set, and ends the exchange. */
static int to_other(void *context, const void *bytes, size_t n)
{
    PyObject *done = PyObject_CallFunction(((way *)context)->send, "y#", (const char *)bytes, (Py_ssize_t)n);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

static int from_other(void *context, void *bytes, size_t n)
{
    PyObject *got = PyObject_CallFunction(((way *)context)->receive, "n", (Py_ssize_t)n);
    Py_buffer view;
    if (!got || PyObject_GetBuffer(got, &view, PyBUF_SIMPLE)) {
        Py_XDECREF(got);
        return -1;
    }
    const int good = view.len == (Py_ssize_t)n;
    if (good)
        memcpy(bytes, view.buf, n);
    else
        PyErr_Format(PyExc_ValueError, "receive(%zu) gave %zd bytes", n, view.len);
    PyBuffer_Release(&view);
    Py_DECREF(got);
    return good ? 0 : -1;
}

PyObject *clocks_now(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    return PyLong_FromUnsignedLongLong(devlog_clock_now());
}

PyObject *clocks_exchange(PyObject *module, PyObject *args)
{
    devlog_error err = {DEVLOG_OK, ""};
    devlog_clock_stamps best;
    PyObject *bytes = NULL, *folder;
    way w;
    int answer;
    unsigned peer, rounds, most_ms;
    (void)module;
    if (!PyArg_ParseTuple(args, "IOOpIIO", &peer, &w.send, &w.receive, &answer, &rounds, &most_ms, &folder))
        return NULL;
    if (folder != Py_None && !PyUnicode_FSConverter(folder, &bytes)) return NULL;
    const devlog_clock_options options =
        DEVLOG_CLOCK_OPTIONS(.peer = peer, .answer = answer != 0, .send = to_other, .receive = from_other,
                             .context = &w, .rounds = rounds, .most_ms = most_ms,
                             .log_folder = bytes ? PyBytes_AS_STRING(bytes) : NULL);
    const devlog_status status = devlog_clock_exchange(&options, &best, &err);
    Py_XDECREF(bytes);
    if (PyErr_Occurred()) return NULL;
    if (status) {
        raise_error(status, &err);
        return NULL;
    }
    if (answer) Py_RETURN_NONE;
    return Py_BuildValue("KKKK", (unsigned long long)best.sent, (unsigned long long)best.received,
                         (unsigned long long)best.answered, (unsigned long long)best.arrived);
}

/* *out is freed by the caller. False: an exception is set. */
static int stamps_of(PyObject *list, devlog_clock_stamps **out, size_t *n)
{
    PyObject *items = PySequence_Fast(list, "stamps are a list");
    *out = NULL;
    if (!items) return 0;
    *n = (size_t)PySequence_Fast_GET_SIZE(items);
    *out = PyMem_New(devlog_clock_stamps, *n + 1);
    if (!*out) PyErr_NoMemory();
    for (size_t i = 0; *out && i < *n; i++) {
        PyObject *four = PySequence_Tuple(PySequence_Fast_GET_ITEM(items, (Py_ssize_t)i));
        unsigned long long v[4] = {0};
        const int good = four && PyArg_ParseTuple(four, "KKKK", &v[0], &v[1], &v[2], &v[3]);
        Py_XDECREF(four);
        if (!good) break;
        (*out)[i] = (devlog_clock_stamps){v[0], v[1], v[2], v[3]};
    }
    Py_DECREF(items);
    return !PyErr_Occurred();
}

PyObject *clocks_keep(PyObject *module, PyObject *args)
{
    devlog_error err = {DEVLOG_OK, ""};
    devlog_clock_stamps *stamps;
    PyObject *bytes = NULL, *folder, *list;
    unsigned peer;
    size_t n = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "IOO", &peer, &list, &folder)) return NULL;
    if (folder != Py_None && !PyUnicode_FSConverter(folder, &bytes)) return NULL;
    if (stamps_of(list, &stamps, &n)) {
        const devlog_status status =
            devlog_clock_keep(bytes ? PyBytes_AS_STRING(bytes) : NULL, peer, stamps, n, &err);
        if (status) raise_error(status, &err);
    }
    PyMem_Free(stamps);
    Py_XDECREF(bytes);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}
