/* Zones of host code as Python objects; see zones.h. _zones.py gives them their shape. */
#include "zones.h"

#include <limits.h>

#include "devlog/host.h"

#include "ops.h"

typedef struct zone_object {
    PyObject_HEAD devlog_host_site *site; /* NULL: nothing was recorded when it was made */
    devlog_host_zone zone;
} zone_object;

static int is_on(void)
{
    return __atomic_load_n(&devlog_host_on, __ATOMIC_RELAXED);
}

/* Text of UTF-8; what cannot be encoded is escaped. NULL: an exception is set. */
PyObject *zones_bytes(PyObject *text)
{
    return PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
}

static devlog_host_site *site_of(PyObject *name, const char *function, const char *file, unsigned line)
{
    PyObject *bytes = zones_bytes(name);
    if (!bytes) return NULL;
    devlog_host_site *site =
        devlog_host_named(PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes), function, file, line);
    Py_DECREF(bytes);
    if (!site) PyErr_NoMemory();
    return site;
}

devlog_host_site *zones_site(PyObject *name, const char *file, unsigned line)
{
    return site_of(name, NULL, file, line);
}

static PyObject *zone_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *name;
    const char *function, *file;
    unsigned line;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "UssI", &name, &function, &file, &line)) return NULL;
    devlog_host_site *site = NULL;
    if (is_on() && !(site = site_of(name, function, file, line))) return NULL;
    zone_object *self = (zone_object *)type->tp_alloc(type, 0);
    if (self) self->site = site;
    return (PyObject *)self;
}

static PyObject *zone_enter(PyObject *object, PyObject *nothing)
{
    zone_object *self = (zone_object *)object;
    (void)nothing;
    if (self->zone.thread) {
        PyErr_SetString(PyExc_RuntimeError, "this zone is open: make one for each `with`");
        return NULL;
    }
    if (self->site && is_on()) devlog_host_begin(&self->zone, self->site);
    Py_INCREF(object);
    return object;
}

static PyObject *zone_exit(PyObject *object, PyObject *args)
{
    (void)args;
    devlog_host_end(&((zone_object *)object)->zone);
    Py_RETURN_NONE;
}

static PyMethodDef zone_methods[] = {
    {"__enter__", zone_enter, METH_NOARGS, "Begins the zone."},
    {"__exit__", zone_exit, METH_VARARGS, "Ends the zone."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject zone_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "devlog._native.Zone",
    .tp_doc = "A zone of host code: (name, function, file, line).",
    .tp_basicsize = sizeof(zone_object),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = zone_new,
    .tp_methods = zone_methods,
};

PyObject *zones_on(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    return PyBool_FromLong(is_on());
}

PyObject *zones_start(PyObject *module, PyObject *args)
{
    devlog_error err = {DEVLOG_OK, ""};
    PyObject *bytes = NULL, *folder;
    unsigned ring = 0, wait_ms = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "O|II", &folder, &ring, &wait_ms)) return NULL;
    if (folder != Py_None && !PyUnicode_FSConverter(folder, &bytes)) return NULL;
    const devlog_host_options options = DEVLOG_HOST_OPTIONS(.folder = bytes ? PyBytes_AS_STRING(bytes) : NULL,
                                                            .ring = ring, .wait_ms = wait_ms);
    const devlog_status status = devlog_host_start(&options, &err);
    Py_XDECREF(bytes);
    if (!status) Py_RETURN_NONE;
    raise_error(status, &err);
    return NULL;
}

PyObject *zones_stop(PyObject *module, PyObject *nothing)
{
    devlog_error err = {DEVLOG_OK, ""};
    devlog_status status;
    (void)module, (void)nothing;
    Py_BEGIN_ALLOW_THREADS;
    status = devlog_host_stop(&err);
    Py_END_ALLOW_THREADS;
    if (!status) Py_RETURN_NONE;
    raise_error(status, &err);
    return NULL;
}

PyObject *zones_value(PyObject *module, PyObject *args)
{
    PyObject *name;
    PyObject *number;
    const char *file;
    unsigned line;
    (void)module;
    if (!PyArg_ParseTuple(args, "UOsI", &name, &number, &file, &line)) return NULL;
    const unsigned long long value = PyLong_AsUnsignedLongLong(number);
    if (value == ULLONG_MAX && PyErr_Occurred()) return NULL;
    devlog_host_site *site = site_of(name, NULL, file, line);
    if (!site) return NULL;
    devlog_host_value(site, value);
    Py_RETURN_NONE;
}

PyObject *zones_message(PyObject *module, PyObject *args)
{
    static const char message[] = "message";
    PyObject *text, *name = NULL;
    const char *file;
    unsigned line;
    (void)module;
    if (!PyArg_ParseTuple(args, "UsI|U", &text, &file, &line, &name)) return NULL;
    devlog_host_site *site = name ? site_of(name, NULL, file, line)
                                  : devlog_host_named(message, sizeof message - 1, NULL, file, line);
    if (name && !site) return NULL;
    PyObject *bytes = site ? zones_bytes(text) : PyErr_NoMemory();
    if (!bytes) return NULL;
    devlog_host_message(site, PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes));
    Py_DECREF(bytes);
    Py_RETURN_NONE;
}

PyObject *zones_thread(PyObject *module, PyObject *name)
{
    (void)module;
    PyObject *bytes =
        PyUnicode_Check(name) ? zones_bytes(name) : PyErr_Format(PyExc_TypeError, "a name is a str");
    if (!bytes) return NULL;
    if (is_on()) devlog_host_thread(PyBytes_AS_STRING(bytes));
    Py_DECREF(bytes);
    Py_RETURN_NONE;
}
