/* The log of ops as a Python object; see ops.h. One call of the library for each method; _ops.py gives it its shape. */
#include "ops.h"

#include <string.h>

typedef struct ops_object {
    PyObject_HEAD devlog_ops *ops; /* NULL: closed */
} ops_object;

PyObject *ops_open(PyObject *module, PyObject *args)
{
    PyObject *folder = NULL;
    int append = 0, on = 0;
    devlog_error err = {DEVLOG_OK, ""};
    devlog_ops *ops = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "Opp", &folder, &append, &on)) return NULL;
    if (folder == Py_None)
        folder = NULL;
    else if (!PyUnicode_FSConverter(folder, &folder))
        return NULL;
    devlog_ops_options options =
        DEVLOG_OPS_OPTIONS(.log_folder = folder ? PyBytes_AS_STRING(folder) : NULL, .append = append != 0,
                           .profile = on ? DEVLOG_ON : DEVLOG_AUTO);
    const devlog_status status = devlog_ops_open(&options, &ops, &err);
    Py_XDECREF(folder);
    if (status) {
        raise_error(status, &err);
        return NULL;
    }
    if (!ops) Py_RETURN_NONE;
    ops_object *self = PyObject_New(ops_object, &ops_type);
    if (self)
        self->ops = ops;
    else
        devlog_ops_close(ops, &err);
    return (PyObject *)self;
}

static void ops_free(PyObject *self)
{
    devlog_error err;
    devlog_ops_close(((ops_object *)self)->ops, &err);
    PyObject_Free(self);
}

static devlog_ops *log_of(PyObject *self)
{
    return ((ops_object *)self)->ops;
}

/* (name, type, fidelity, strategy or None, cores): the op's id. */
static PyObject *ops_start(PyObject *self, PyObject *args)
{
    devlog_op op = {0};
    int type, fidelity;
    if (!PyArg_ParseTuple(args, "siizI", &op.name, &type, &fidelity, &op.strategy, &op.cores)) return NULL;
    op.type = (devlog_op_type)type;
    op.fidelity = (devlog_fidelity)fidelity;
    return PyLong_FromUnsignedLong(devlog_op_start(log_of(self), &op));
}

static PyObject *ops_end(PyObject *self, PyObject *id)
{
    const unsigned long number = PyLong_AsUnsignedLong(id);
    if (PyErr_Occurred()) return NULL;
    devlog_op_end(log_of(self), (uint32_t)number);
    Py_RETURN_NONE;
}

/* (id, is an output, (w, z, y, x), (w, z, y, x) without padding, layout, data type, memory; texts may be None) */
static PyObject *ops_tensor(PyObject *self, PyObject *args)
{
    unsigned id;
    int output;
    unsigned long long shape[4], logical[4];
    devlog_tensor t = {0};
    if (!PyArg_ParseTuple(args, "Ip(KKKK)(KKKK)zzz", &id, &output, &shape[0], &shape[1], &shape[2], &shape[3],
                          &logical[0], &logical[1], &logical[2], &logical[3], &t.layout, &t.data_type,
                          &t.memory))
        return NULL;
    t.w = shape[0];
    t.z = shape[1];
    t.y = shape[2];
    t.x = shape[3];
    for (int i = 0; i < 4; i++)
        t.logical[i] = logical[i];
    (output ? devlog_op_output : devlog_op_input)(log_of(self), id, &t);
    Py_RETURN_NONE;
}

static PyObject *ops_append(PyObject *self, PyObject *args)
{
    unsigned id;
    const char *text;
    if (!PyArg_ParseTuple(args, "Is", &id, &text)) return NULL;
    devlog_op_append_meta_data(log_of(self), id, text);
    Py_RETURN_NONE;
}

static PyObject *ops_signpost(PyObject *self, PyObject *args)
{
    const char *header, *message;
    if (!PyArg_ParseTuple(args, "sz", &header, &message)) return NULL;
    devlog_signpost(log_of(self), header, message);
    Py_RETURN_NONE;
}

static PyObject *ops_step(PyObject *self, PyObject *args)
{
    unsigned long long number;
    const char *name;
    if (!PyArg_ParseTuple(args, "Kz", &number, &name)) return NULL;
    devlog_step(log_of(self), number, name);
    Py_RETURN_NONE;
}

static PyObject *ops_path(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyUnicode_DecodeFSDefault(devlog_ops_log(log_of(self)));
}

/* Ends the log; what is called on it afterwards does nothing. */
static PyObject *ops_close(PyObject *self, PyObject *unused)
{
    devlog_error err = {DEVLOG_OK, ""};
    (void)unused;
    const devlog_status status = devlog_ops_close(log_of(self), &err);
    ((ops_object *)self)->ops = NULL;
    if (status) {
        raise_error(status, &err);
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef ops_methods[] = {
    {"start", ops_start, METH_VARARGS, "(name, type, fidelity, strategy, cores): id"},
    {"end", ops_end, METH_O, "(id)"},
    {"tensor", ops_tensor, METH_VARARGS, "(id, output, shape, logical, layout, data type, memory)"},
    {"append", ops_append, METH_VARARGS, "(id, text)"},
    {"signpost", ops_signpost, METH_VARARGS, "(header, message)"},
    {"step", ops_step, METH_VARARGS, "(number, name)"},
    {"path", ops_path, METH_NOARGS, "Path of the log."},
    {"close", ops_close, METH_NOARGS, "Ends the log."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject ops_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "devlog._native.Ops",
    .tp_basicsize = sizeof(ops_object),
    .tp_dealloc = ops_free,
    .tp_methods = ops_methods,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "The log of a run's ops.",
};
