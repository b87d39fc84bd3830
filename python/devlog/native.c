/* The extension module devlog._native: a log read to its end, into columns; statistics, findings and clocks as the
 * library gives them; zones as a stream of the Arrow C interface. __init__.py gives them their shape for users; nothing is
 * worked out here. */
#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "budget.h"
#include "clocks.h"
#include "column.h"
#include "devlog/version.h"
#include "ops.h"
#include "trace.h"
#include "wishes.h"
#include "zones.h"

static PyObject *error_type;

void raise_error(devlog_status status, const devlog_error *err)
{
    if (status == DEVLOG_ERR_MEMORY) {
        PyErr_NoMemory();
        return;
    }
    PyObject *text = PyUnicode_DecodeUTF8(err->text, (Py_ssize_t)strlen(err->text), "replace");
    PyObject *error = text ? PyObject_CallFunctionObjArgs(error_type, text, NULL) : NULL;
    PyObject *number = error ? PyLong_FromLong(status) : NULL;
    if (number && !PyObject_SetAttrString(error, "status", number)) PyErr_SetObject(error_type, error);
    Py_XDECREF(number);
    Py_XDECREF(error);
    Py_XDECREF(text);
}

/* Names may hold any bytes. */
static PyObject *text_of(const char *s)
{
    return PyUnicode_DecodeUTF8(s, (Py_ssize_t)strlen(s), "surrogateescape");
}

/* ---- A log that was read to its end --------------------------------------------------------------------- */

enum { ZONE_COLUMNS = 7, VALUE_COLUMNS = 7, LAUNCH_COLUMNS = 7 };

static const struct {
    const char *name;
    size_t item;
} zone_columns[ZONE_COLUMNS] = {{"start", 8},  {"end", 8},   {"stream", 4},  {"zone", 4},
                                {"launch", 4}, {"depth", 4}, {"own_cost", 4}},
  value_columns[VALUE_COLUMNS] = {{"time", 8}, {"data", 8},   {"kind", 4}, {"stream", 4},
                                  {"zone", 4}, {"launch", 4}, {"text", 4}},
  launch_columns[LAUNCH_COLUMNS] = {{"chip", 4},     {"number", 4},        {"run_host_id", 8},
                                    {"trace_id", 8}, {"trace_counter", 8}, {"first_start", 8},
                                    {"last_end", 8}};

typedef struct log_object {
    PyObject_HEAD wishes wishes;
    devlog_log *log;
    growing zones[ZONE_COLUMNS], values[VALUE_COLUMNS];
} log_object;

static bool keep_batch(log_object *self, const devlog_batch *b)
{
    const devlog_zones *z = &b->zones;
    const devlog_values *v = &b->values;
    const void *zones[ZONE_COLUMNS] = {z->start,  z->end,   z->stream,  z->zone,
                                       z->launch, z->depth, z->own_cost};
    const void *values[VALUE_COLUMNS] = {v->time, v->data, v->kind, v->stream, v->zone, v->launch, v->text};
    bool ok = true;
    for (int i = 0; ok && i < ZONE_COLUMNS; i++)
        ok = growing_append(&self->zones[i], zones[i], z->count);
    for (int i = 0; ok && i < VALUE_COLUMNS; i++)
        ok = growing_append(&self->values[i], values[i], v->count);
    return ok;
}

/* Reads what there is; between batches, signals reach Python (Ctrl-C). */
static bool read_all(log_object *self)
{
    devlog_error err = {DEVLOG_OK, ""};
    devlog_batch batch;
    devlog_status status;
    bool last = false, kept = true;
    Py_BEGIN_ALLOW_THREADS status = wishes_open(&self->wishes, &self->log, &err);
    Py_END_ALLOW_THREADS while (!status && kept && !last)
    {
        Py_BEGIN_ALLOW_THREADS status = devlog_log_next(self->log, &batch, &err);
        if (!status) {
            last = batch.last;
            kept = last || keep_batch(self, &batch);
        }
        Py_END_ALLOW_THREADS if (PyErr_CheckSignals()) return false;
    }
    if (!kept) PyErr_NoMemory();
    if (status) raise_error(status, &err);
    return !status && kept;
}

static PyObject *log_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    log_object *self = (log_object *)type->tp_alloc(type, 0); /* all zero */
    if (!self) return NULL;
    for (int i = 0; i < ZONE_COLUMNS; i++)
        self->zones[i].item = zone_columns[i].item;
    for (int i = 0; i < VALUE_COLUMNS; i++)
        self->values[i].item = value_columns[i].item;
    if (!wishes_parse(&self->wishes, args, kwargs) || !read_all(self)) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static void log_free(PyObject *object)
{
    log_object *self = (log_object *)object;
    for (int i = 0; i < ZONE_COLUMNS; i++)
        free(self->zones[i].data);
    for (int i = 0; i < VALUE_COLUMNS; i++)
        free(self->values[i].data);
    devlog_log_close(self->log);
    wishes_free(&self->wishes);
    Py_TYPE(object)->tp_free(object);
}

/* dict[name] = value; takes value's reference, and fails when it is NULL. */
static bool put(PyObject *dict, const char *name, PyObject *value)
{
    bool ok = value && !PyDict_SetItemString(dict, name, value);
    Py_XDECREF(value);
    return ok;
}

/* The columns leave the object: it can be asked once. */
static PyObject *take_columns(PyObject *object, PyObject *unused)
{
    log_object *self = (log_object *)object;
    PyObject *zones = PyDict_New(), *values = PyDict_New();
    bool ok = zones && values;
    (void)unused;
    for (int i = 0; ok && i < ZONE_COLUMNS; i++) {
        const size_t item = self->zones[i].item;
        ok = put(zones, zone_columns[i].name, column_take(&self->zones[i]));
        self->zones[i].item = item;
    }
    for (int i = 0; ok && i < VALUE_COLUMNS; i++) {
        const size_t item = self->values[i].item;
        ok = put(values, value_columns[i].name, column_take(&self->values[i]));
        self->values[i].item = item;
    }
    if (ok) return Py_BuildValue("(NN)", zones, values);
    Py_XDECREF(zones);
    Py_XDECREF(values);
    return NULL;
}

static PyObject *take_launches(PyObject *object, PyObject *unused)
{
    log_object *self = (log_object *)object;
    PyObject *dict = PyDict_New();
    growing columns[LAUNCH_COLUMNS];
    bool ok = dict != NULL;
    (void)unused;
    memset(columns, 0, sizeof(columns));
    for (int i = 0; i < LAUNCH_COLUMNS; i++)
        columns[i].item = launch_columns[i].item;
    const size_t n = devlog_log_launches(self->log);
    for (size_t at = 0; ok && at < n; at++) {
        const devlog_launch l = devlog_log_launch(self->log, (uint32_t)at);
        const void *items[LAUNCH_COLUMNS] = {&l.chip,          &l.number,      &l.run_host_id, &l.trace_id,
                                             &l.trace_counter, &l.first_start, &l.last_end};
        for (int i = 0; ok && i < LAUNCH_COLUMNS; i++)
            ok = growing_append(&columns[i], items[i], 1);
        if (!ok) PyErr_NoMemory();
    }
    for (int i = 0; i < LAUNCH_COLUMNS; i++) {
        if (ok)
            ok = put(dict, launch_columns[i].name, column_take(&columns[i]));
        else
            free(columns[i].data);
    }
    if (!ok) Py_CLEAR(dict);
    return dict;
}

/* A list of n tuples, made one by one. */
static PyObject *list_of(log_object *self, size_t n, PyObject *(*make)(const devlog_log *log, size_t number))
{
    PyObject *list = PyList_New((Py_ssize_t)n), *item;
    for (size_t i = 0; list && i < n; i++) {
        if ((item = make(self->log, i)))
            PyList_SET_ITEM(list, (Py_ssize_t)i, item);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *make_stream(const devlog_log *log, size_t number)
{
    const devlog_stream s = devlog_log_stream(log, (uint32_t)number);
    return Py_BuildValue("(IIIN)", s.chip, s.core.x, s.core.y, text_of(s.risc));
}

static PyObject *make_zone(const devlog_log *log, size_t number)
{
    static const char *const roles[] = {"user", "firmware", "kernel"};
    const devlog_zone z = devlog_log_zone(log, (uint32_t)number);
    return Py_BuildValue("(NNIs)", text_of(z.name), text_of(z.file), z.line, roles[z.role]);
}

static PyObject *make_chip(const devlog_log *log, size_t number)
{
    const devlog_chip c = devlog_log_chip(log, (uint32_t)number);
    return Py_BuildValue("(INddd)", c.chip, text_of(c.arch), c.mhz, c.core_error_cycles, c.host_error_ns);
}

static PyObject *make_finding(const devlog_log *log, size_t number)
{
    const devlog_finding f = devlog_log_finding(log, number);
    /* What a file has there, for people: '?' where it cannot be printed, as the program has it. */
    PyObject *raw = text_of(f.first),
             *plain = raw ? PyUnicode_AsEncodedString(raw, "utf-8", "replace") : NULL,
             *first = plain ? PyUnicode_FromEncodedObject(plain, "utf-8", "strict") : NULL;
    Py_XDECREF(raw);
    Py_XDECREF(plain);
    return Py_BuildValue("(sNNKN)", f.key, text_of(f.text), first, (unsigned long long)f.count,
                         PyBool_FromLong(f.loss));
}

static PyObject *log_streams(PyObject *self, PyObject *unused)
{
    (void)unused;
    return list_of((log_object *)self, devlog_log_streams(((log_object *)self)->log), make_stream);
}

static PyObject *log_zones(PyObject *self, PyObject *unused)
{
    (void)unused;
    return list_of((log_object *)self, devlog_log_zones(((log_object *)self)->log), make_zone);
}

static PyObject *log_chips(PyObject *self, PyObject *unused)
{
    (void)unused;
    return list_of((log_object *)self, devlog_log_chips(((log_object *)self)->log), make_chip);
}

static PyObject *log_findings(PyObject *self, PyObject *unused)
{
    (void)unused;
    return list_of((log_object *)self, devlog_log_findings(((log_object *)self)->log), make_finding);
}

static PyObject *log_text(PyObject *self, PyObject *number)
{
    const unsigned long n = PyLong_AsUnsignedLong(number);
    if (PyErr_Occurred()) return NULL;
    return text_of(n <= UINT32_MAX ? devlog_log_text(((log_object *)self)->log, (uint32_t)n) : "");
}

static PyObject *log_complete(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(devlog_log_complete(((log_object *)self)->log));
}

static PyObject *log_rows(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(devlog_log_rows(((log_object *)self)->log));
}

static PyObject *log_host_ns(PyObject *self, PyObject *args)
{
    unsigned chip;
    unsigned long long cycles;
    double ns, error_ns;
    if (!PyArg_ParseTuple(args, "IK", &chip, &cycles)) return NULL;
    if (!devlog_log_host_ns(((log_object *)self)->log, chip, cycles, &ns, &error_ns)) Py_RETURN_NONE;
    return Py_BuildValue("(dd)", ns, error_ns);
}

static PyObject *number_unless(uint32_t number, uint32_t none)
{
    if (number != none) return PyLong_FromUnsignedLong(number);
    Py_RETURN_NONE;
}

/* (chip, launch or None, stream or None, risc, zone, role, count, min, max, total's two halves, average, median,
 * p90, p95, p99) of each group. */
static PyObject *make_statistics(const devlog_statistics *s)
{
    static const char *const roles[] = {"user", "firmware", "kernel"};
    return Py_BuildValue("(INNNNsKKKKKddKKK)", s->chip, number_unless(s->launch, DEVLOG_NO_LAUNCH),
                         number_unless(s->stream, UINT32_MAX), text_of(s->risc), text_of(s->zone),
                         roles[s->role], (unsigned long long)s->count, (unsigned long long)s->min,
                         (unsigned long long)s->max, (unsigned long long)s->total_low,
                         (unsigned long long)s->total_high, s->average, s->median, (unsigned long long)s->p90,
                         (unsigned long long)s->p95, (unsigned long long)s->p99);
}

static PyObject *log_statistics(PyObject *self, PyObject *number)
{
    const long grouping = PyLong_AsLong(number);
    const devlog_statistics *rows;
    devlog_error err = {DEVLOG_OK, ""};
    size_t n;
    if (PyErr_Occurred()) return NULL;
    const devlog_status status =
        devlog_log_statistics(((log_object *)self)->log, (devlog_grouping)grouping, &rows, &n, &err);
    if (status) {
        raise_error(status, &err);
        return NULL;
    }
    PyObject *list = PyList_New((Py_ssize_t)n), *item;
    for (size_t i = 0; list && i < n; i++) {
        if ((item = make_statistics(&rows[i])))
            PyList_SET_ITEM(list, (Py_ssize_t)i, item);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyMethodDef log_methods[] = {
    {"take_columns", take_columns, METH_NOARGS, "(zones, values): names of columns to columns; once."},
    {"launches", take_launches, METH_NOARGS, "Names of columns to columns."},
    {"streams", log_streams, METH_NOARGS, "[(chip, x, y, risc)]"},
    {"zones", log_zones, METH_NOARGS, "[(name, file, line, role)]"},
    {"chips", log_chips, METH_NOARGS, "[(chip, arch, MHz, core error in cycles, host error in ns)]"},
    {"findings", log_findings, METH_NOARGS, "[(key, text, first, count, loss)]"},
    {"text", log_text, METH_O, "The text of that number."},
    {"complete", log_complete, METH_NOARGS, "Whether nothing was lost."},
    {"rows", log_rows, METH_NOARGS, "Rows or records that were read."},
    {"host_ns", log_host_ns, METH_VARARGS, "(chip, cycles) to (ns, error in ns), or None."},
    {"statistics", log_statistics, METH_O, "A tuple for each group of that grouping."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject log_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "devlog._native.Log",
    .tp_basicsize = sizeof(log_object),
    .tp_new = log_new,
    .tp_dealloc = log_free,
    .tp_methods = log_methods,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "A log that was read to its end.",
};

/* ---- Arrow ---------------------------------------------------------------------------------------------- */

/* devlog_log_arrow's stream with the log that it borrows: its consumer owns both, and may let go of them in any thread. */
typedef struct owned_stream {
    struct ArrowArrayStream inner;
    devlog_log *log;
    wishes wishes;
} owned_stream;

static int owned_schema(struct ArrowArrayStream *s, struct ArrowSchema *out)
{
    owned_stream *o = s->private_data;
    return o->inner.get_schema(&o->inner, out);
}

static int owned_next(struct ArrowArrayStream *s, struct ArrowArray *out)
{
    owned_stream *o = s->private_data;
    return o->inner.get_next(&o->inner, out);
}

static const char *owned_error(struct ArrowArrayStream *s)
{
    owned_stream *o = s->private_data;
    return o->inner.get_last_error(&o->inner);
}

static void owned_free(owned_stream *o)
{
    if (!o) return;
    if (o->inner.release) o->inner.release(&o->inner);
    devlog_log_close(o->log);
    wishes_free(&o->wishes);
    free(o);
}

static void owned_release(struct ArrowArrayStream *s)
{
    owned_free(s->private_data);
    s->release = NULL;
}

static void capsule_free(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream && stream->release) stream->release(stream); /* nobody took it */
    free(stream);
}

/* A capsule as the Arrow PyCapsule interface wants it, of the zones of a log that is opened for it. */
static PyObject *arrow_stream(PyObject *module, PyObject *args, PyObject *kwargs)
{
    devlog_error err = {DEVLOG_OK, ""};
    struct ArrowArrayStream *stream = calloc(1, sizeof(*stream));
    owned_stream *o = calloc(1, sizeof(*o));
    PyObject *capsule = NULL;
    (void)module;
    if (!stream || !o) {
        PyErr_NoMemory();
        goto out;
    }
    if (!wishes_parse(&o->wishes, args, kwargs)) goto out;
    devlog_status status = wishes_open(&o->wishes, &o->log, &err);
    if (!status) status = devlog_log_arrow(o->log, &o->inner, &err);
    if (status) {
        raise_error(status, &err);
        goto out;
    }
    *stream = (struct ArrowArrayStream){owned_schema, owned_next, owned_error, owned_release, o};
    o = NULL;
    if (!(capsule = PyCapsule_New(stream, "arrow_array_stream", capsule_free))) stream->release(stream);
out:
    owned_free(o);
    if (!capsule) free(stream);
    return capsule;
}

/* ---- The module ----------------------------------------------------------------------------------------- */

static PyMethodDef functions[] = {
    {"arrow_stream", (PyCFunction)(void (*)(void))arrow_stream, METH_VARARGS | METH_KEYWORDS,
     "A capsule \"arrow_array_stream\" of a log's zones."},
    {"report", (PyCFunction)(void (*)(void))answer_report, METH_VARARGS | METH_KEYWORDS, "An Answer."},
    {"causes", (PyCFunction)(void (*)(void))answer_causes, METH_VARARGS | METH_KEYWORDS, "An Answer."},
    {"memory", (PyCFunction)(void (*)(void))answer_memory, METH_VARARGS | METH_KEYWORDS, "An Answer."},
    {"diff", (PyCFunction)(void (*)(void))answer_diff, METH_VARARGS | METH_KEYWORDS, "An Answer."},
    {"ops", (PyCFunction)(void (*)(void))answer_ops, METH_VARARGS | METH_KEYWORDS, "An Answer."},
    {"budget_judge", budget_judge, METH_VARARGS, "(capture, zone, risc or None, cycles, running)"},
    {"clocks_now", clocks_now, METH_NOARGS, "CLOCK_MONOTONIC, ns."},
    {"clocks_exchange", clocks_exchange, METH_VARARGS,
     "(peer, send, receive, answer, rounds, most_ms, folder or None)"},
    {"clocks_keep", clocks_keep, METH_VARARGS, "(peer, stamps, folder or None)"},
    {"zones_on", zones_on, METH_NOARGS, "Whether zones are recorded."},
    {"zones_start", zones_start, METH_VARARGS, "(folder or None, ring = 0, wait_ms = 0)"},
    {"zones_stop", zones_stop, METH_NOARGS, "Ends the file."},
    {"zones_thread", zones_thread, METH_O, "Names the calling thread."},
    {"zones_value", zones_value, METH_VARARGS, "(name, value, file, line)"},
    {"zones_message", zones_message, METH_VARARGS, "(text, file, line, name = \"message\")"},
    {"trace_start", trace_start, METH_VARARGS, "(describe, describe_c, lines, disable)"},
    {"trace_stop", trace_stop, METH_NOARGS, "Ends what trace_start began."},
    {"trace_records", trace_records, METH_VARARGS, "(code, name)"},
    {"trace_thread", trace_thread, METH_VARARGS, "For threading.setprofile."},
    {"trace_leave", trace_leave, METH_NOARGS, "No more of the calling thread."},
    {"trace_forget", trace_forget, METH_NOARGS, "In a forked child."},
    {"trace_on_start", (PyCFunction)(void (*)(void))trace_on_start, METH_FASTCALL,
     "A callback of sys.monitoring."},
    {"trace_on_return", (PyCFunction)(void (*)(void))trace_on_return, METH_FASTCALL,
     "A callback of sys.monitoring."},
    {"trace_on_throw", (PyCFunction)(void (*)(void))trace_on_throw, METH_FASTCALL,
     "A callback of sys.monitoring."},
    {"trace_on_unwind", (PyCFunction)(void (*)(void))trace_on_unwind, METH_FASTCALL,
     "A callback of sys.monitoring."},
    {"trace_on_line", (PyCFunction)(void (*)(void))trace_on_line, METH_FASTCALL,
     "A callback of sys.monitoring."},
    {"trace_on_call", (PyCFunction)(void (*)(void))trace_on_call, METH_FASTCALL,
     "A callback of sys.monitoring."},
    {"trace_on_c_return", (PyCFunction)(void (*)(void))trace_on_c_return, METH_FASTCALL,
     "A callback of sys.monitoring."},
    {"ops_open", ops_open, METH_VARARGS, "(folder, append, on): Ops, or None when op profiling is off."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "devlog._native", .m_size = -1, .m_methods = functions,
    .m_doc = "What the package devlog is made of; its names are not for users."};

PyMODINIT_FUNC PyInit__native(void);
PyMODINIT_FUNC PyInit__native(void)
{
    if (PyType_Ready(&column_type) || PyType_Ready(&log_type) || PyType_Ready(&ops_type) ||
        PyType_Ready(&answer_type) || PyType_Ready(&zone_type))
        return NULL;
    PyObject *m = PyModule_Create(&module);
    error_type = PyErr_NewExceptionWithDoc(
        "devlog.Error",
        "A log cannot be read. str() is one line: what is wrong, where, what to do; status: a devlog_status.",
        NULL, NULL);
    /* The module takes over one reference of each; error_type keeps its own. */
    Py_XINCREF(error_type);
    Py_INCREF(&log_type);
    Py_INCREF(&zone_type);
    if (!m || !error_type || PyModule_AddObject(m, "Error", error_type) ||
        PyModule_AddObject(m, "Log", (PyObject *)&log_type) ||
        PyModule_AddObject(m, "Zone", (PyObject *)&zone_type) ||
        PyModule_AddStringConstant(m, "version", DEVLOG_VERSION)) {
        Py_XDECREF(m);
        return NULL;
    }
    return m;
}
