/* Columns; see column.h. Knows nothing of logs. */
#include "column.h"

#include <stdlib.h>
#include <string.h>

bool growing_append(growing *g, const void *items, size_t n)
{
    if (n > g->room - g->n) {
        size_t room = g->room + g->room / 2 + n;
        char *data = realloc(g->data, room * g->item);
        if (!data) return false;
        g->data = data;
        g->room = room;
    }
    if (n) memcpy(g->data + g->n * g->item, items, n * g->item);
    g->n += n;
    return true;
}

typedef struct column {
    PyObject_HEAD char *data;
    Py_ssize_t n, item;
} column;

PyObject *column_take(growing *g)
{
    column *c = PyObject_New(column, &column_type);
    char *fitting;
    if (c) {
        c->n = (Py_ssize_t)g->n;
        c->item = (Py_ssize_t)g->item;
        fitting = g->n ? realloc(g->data, g->n * g->item) : NULL;
        c->data = fitting ? fitting : g->data;
    } else {
        free(g->data);
    }
    memset(g, 0, sizeof(*g));
    return (PyObject *)c;
}

static void column_free(PyObject *self)
{
    free(((column *)self)->data);
    PyObject_Free(self);
}

static int column_buffer(PyObject *self, Py_buffer *view, int flags)
{
    column *c = (column *)self;
    static char none;
    if (flags & PyBUF_WRITABLE) {
        view->obj = NULL;
        PyErr_SetString(PyExc_BufferError, "what a log says cannot be written to");
        return -1;
    }
    memset(view, 0, sizeof(*view));
    view->obj = self;
    Py_INCREF(self);
    view->buf = c->data ? c->data : &none;
    view->len = c->n * c->item;
    view->readonly = 1;
    view->itemsize = c->item;
    view->ndim = 1;
    if (flags & PyBUF_FORMAT) view->format = c->item == 8 ? "Q" : "I";
    if (flags & PyBUF_ND) view->shape = &c->n;
    if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES) view->strides = &c->item;
    return 0;
}

static Py_ssize_t column_length(PyObject *self)
{
    return ((column *)self)->n;
}

static PyBufferProcs column_as_buffer = {.bf_getbuffer = column_buffer};
static PySequenceMethods column_as_sequence = {.sq_length = column_length};

PyTypeObject column_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "devlog._native.Column",
    .tp_basicsize = sizeof(column),
    .tp_dealloc = column_free,
    .tp_as_buffer = &column_as_buffer,
    .tp_as_sequence = &column_as_sequence,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc =
        "Numbers of a log, unsigned, of 4 or 8 bytes: memoryview(column) or numpy.asarray(column), without a copy.",
};
