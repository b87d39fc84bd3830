/* Answers (devlog/answers.h) for Python: tables as lists of tuples. _answers.py gives them their shape for users; nothing is worked
 * out here. */
#include "answers.h"

#include <stdlib.h>
#include <string.h>

#include "devlog/answers.h"
#include "ops.h"
#include "wishes.h"

typedef struct answer_object {
    PyObject_HEAD devlog_answer *answer;
} answer_object;

static PyObject *text_of(const char *s)
{
    return PyUnicode_DecodeUTF8(s, (Py_ssize_t)strlen(s), "surrogateescape");
}

static void answer_free(PyObject *object)
{
    devlog_answer_free(((answer_object *)object)->answer);
    Py_TYPE(object)->tp_free(object);
}

/* Takes the answer over; NULL with an exception when the call failed. */
static PyObject *wrap(devlog_status status, devlog_answer *answer, const devlog_error *err)
{
    if (status) {
        raise_error(status, err);
        return NULL;
    }
    answer_object *self = (answer_object *)answer_type.tp_alloc(&answer_type, 0);
    if (self)
        self->answer = answer;
    else
        devlog_answer_free(answer);
    return (PyObject *)self;
}

/* ---- Tables --- */

/* None, a str, or a number: an int where it is whole, as in JSON. */
static PyObject *cell_of(const devlog_answer *a, size_t table, size_t row, size_t column)
{
    const devlog_cell c = devlog_answer_cell(a, table, row, column);
    if (!c.known) Py_RETURN_NONE;
    if (c.text) return text_of(c.text);
    if (c.number >= -9e15 && c.number <= 9e15 && c.number == (double)(long long)c.number)
        return PyLong_FromLongLong((long long)c.number);
    return PyFloat_FromDouble(c.number);
}

/* A list of n items that make(a, table, i) gives. */
static PyObject *list_of(const devlog_answer *a, size_t table, size_t n,
                         PyObject *(*make)(const devlog_answer *a, size_t table, size_t number))
{
    PyObject *list = PyList_New((Py_ssize_t)n), *item;
    for (size_t i = 0; list && i < n; i++) {
        if ((item = make(a, table, i)))
            PyList_SET_ITEM(list, (Py_ssize_t)i, item);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *make_column(const devlog_answer *a, size_t table, size_t column)
{
    const devlog_column c = devlog_answer_column(a, table, column);
    return Py_BuildValue("(sssN)", c.key, c.title, c.unit, PyBool_FromLong(c.is_text));
}

static PyObject *make_row(const devlog_answer *a, size_t table, size_t row)
{
    const size_t n = devlog_answer_table(a, table).columns;
    PyObject *tuple = PyTuple_New((Py_ssize_t)n), *cell;
    for (size_t k = 0; tuple && k < n; k++) {
        if ((cell = cell_of(a, table, row, k)))
            PyTuple_SET_ITEM(tuple, (Py_ssize_t)k, cell);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* (key, title, value, note, unit) */
static PyObject *make_fact(const devlog_answer *a, size_t table, size_t row)
{
    PyObject *key = cell_of(a, table, row, 0), *title = cell_of(a, table, row, 1),
             *value = cell_of(a, table, row, 2), *note = cell_of(a, table, row, 3);
    if (key && title && value && note)
        return Py_BuildValue("(NNNNs)", key, title, value, note, devlog_answer_cell(a, table, row, 2).unit);
    Py_XDECREF(key);
    Py_XDECREF(title);
    Py_XDECREF(value);
    Py_XDECREF(note);
    return NULL;
}

static PyObject *make_note(const devlog_answer *a, size_t table, size_t note)
{
    return text_of(devlog_answer_note(a, table, note));
}

static PyObject *make_table(const devlog_answer *a, size_t unused, size_t table)
{
    const devlog_table t = devlog_answer_table(a, table);
    (void)unused;
    PyObject *columns = list_of(a, table, t.columns, make_column);
    PyObject *rows = columns ? list_of(a, table, t.rows, t.facts ? make_fact : make_row) : NULL;
    PyObject *notes = rows ? list_of(a, table, t.notes, make_note) : NULL;
    if (notes)
        return Py_BuildValue("(ssNnNNN)", t.key, t.title, PyBool_FromLong(t.facts), (Py_ssize_t)t.more,
                             columns, rows, notes);
    Py_XDECREF(columns);
    Py_XDECREF(rows);
    return NULL;
}

static PyObject *tables(PyObject *self, PyObject *unused)
{
    const devlog_answer *a = ((answer_object *)self)->answer;
    (void)unused;
    return list_of(a, 0, devlog_answer_tables(a), make_table);
}

static PyObject *as_a_whole(PyObject *self, PyObject *unused)
{
    const devlog_answer *a = ((answer_object *)self)->answer;
    static const char *const judgements[] = {
        [DEVLOG_PASSED] = "passed", [DEVLOG_FAILED] = "failed", [DEVLOG_UNDECIDED] = "undecided"};
    (void)unused;
    return Py_BuildValue("(NNs)", PyBool_FromLong(devlog_answer_complete(a)),
                         text_of(devlog_answer_troubles(a)), judgements[devlog_answer_judgement(a)]);
}

static PyObject *print(PyObject *self, PyObject *number)
{
    const long form = PyLong_AsLong(number);
    devlog_error err = {DEVLOG_OK, ""};
    char *text = NULL;
    if (PyErr_Occurred()) return NULL;
    const devlog_status status =
        devlog_answer_print(((answer_object *)self)->answer, (devlog_form)form, &text, &err);
    if (status) {
        raise_error(status, &err);
        return NULL;
    }
    PyObject *printed = text_of(text ? text : "");
    free(text);
    return printed;
}

static PyMethodDef methods[] = {
    {"tables", tables, METH_NOARGS,
     "[(key, title, facts, more, [(key, title, unit, is_text)], rows, notes)]; a row of facts is (key, title, value, note, "
     "unit)."},
    {"as_a_whole", as_a_whole, METH_NOARGS, "(complete, troubles, judgement)"},
    {"print", print, METH_O, "As the program prints it, in that devlog_form."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject answer_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "devlog._native.Answer",
    .tp_basicsize = sizeof(answer_object),
    .tp_dealloc = answer_free,
    .tp_methods = methods,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "What a run says.",
};

/* ---- Asking --- */

/* A selection, and the texts of options, in memory of their own. */
typedef struct asked {
    devlog_selection selection;
    devlog_range *chips, *launches, *traces, *sessions;
    char **ops, **inputs, **more_inputs, **conditions;
    size_t n_ops, n_inputs, n_more_inputs, n_conditions;
    char *from, *to, *board, *ops_table, *rules, *thresholds, *elf_folder;
} asked;

static void asked_free(asked *q)
{
    free(q->chips);
    free(q->launches);
    free(q->traces);
    free(q->sessions);
    wishes_free_texts(q->ops, q->n_ops);
    wishes_free_texts(q->inputs, q->n_inputs);
    wishes_free_texts(q->more_inputs, q->n_more_inputs);
    wishes_free_texts(q->conditions, q->n_conditions);
    char *const texts[] = {q->from, q->to, q->board, q->ops_table, q->rules, q->thresholds, q->elf_folder};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        free(texts[i]);
}

static bool text_unless_none(PyObject *o, bool path, char **out)
{
    return !o || o == Py_None || (*out = wishes_text(o, path)) != NULL;
}

/* What a selection's arguments are, in this order. */
typedef struct selected {
    PyObject *chips, *launches, *traces, *sessions, *ops, *from, *to;
    unsigned long long skip_launches;
    int skip_warm_up;
} selected;
#define SELECTED_FORMAT "OOOOOOOKp"
#define SELECTED_NAMES                                                                                       \
    "chips", "launches", "traces", "trace_sessions", "ops", "from_signpost", "to_signpost", "skip_launches", \
        "skip_warm_up"
#define SELECTED_PLACES(s)                                                                                   \
    &(s).chips, &(s).launches, &(s).traces, &(s).sessions, &(s).ops, &(s).from, &(s).to, &(s).skip_launches, \
        &(s).skip_warm_up

static bool take_selection(asked *q, const selected *s)
{
    devlog_selection *to = &q->selection;
    *to = (devlog_selection)DEVLOG_SELECTION(.skip_launches = s->skip_launches,
                                             .skip_warm_up = s->skip_warm_up != 0);
    const bool ok = wishes_ranges(s->chips, "chips", &q->chips, &to->n_chips) &&
                    wishes_ranges(s->launches, "launches", &q->launches, &to->n_launches) &&
                    wishes_ranges(s->traces, "traces", &q->traces, &to->n_traces) &&
                    wishes_ranges(s->sessions, "trace_sessions", &q->sessions, &to->n_sessions) &&
                    wishes_texts(s->ops, "ops", false, &q->ops, &q->n_ops) &&
                    text_unless_none(s->from, false, &q->from) && text_unless_none(s->to, false, &q->to);
    to->chips = q->chips;
    to->launches = q->launches;
    to->traces = q->traces;
    to->sessions = q->sessions;
    to->ops = (const char *const *)q->ops;
    to->n_ops = q->n_ops;
    to->from_signpost = q->from;
    to->to_signpost = q->to;
    return ok;
}

PyObject *answer_report(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"inputs",           "group",     "sort",  "top",        "firmware_time", "board",
                            "dram_bytes_per_s", "ops_table", "rules", "thresholds", SELECTED_NAMES,  NULL};
    asked q = {.selection = {0}};
    selected s = {0};
    PyObject *inputs, *board = NULL, *ops_table = NULL, *rules = NULL, *thresholds = NULL, *result = NULL;
    int group = 0, sort = 0, firmware = 0;
    unsigned long long top = 0;
    double dram = 0;
    devlog_error err = {DEVLOG_OK, ""};
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$iiKpOdOOO" SELECTED_FORMAT, names, &inputs, &group,
                                     &sort, &top, &firmware, &board, &dram, &ops_table, &rules, &thresholds,
                                     SELECTED_PLACES(s)))
        return NULL;
    if (wishes_texts(inputs, "inputs", true, &q.inputs, &q.n_inputs) && take_selection(&q, &s) &&
        text_unless_none(board, false, &q.board) && text_unless_none(ops_table, true, &q.ops_table) &&
        text_unless_none(rules, true, &q.rules) && text_unless_none(thresholds, true, &q.thresholds)) {
        const devlog_report_options o =
            DEVLOG_REPORT_OPTIONS(.selection = &q.selection, .group = (devlog_group)group,
                                  .sort = (devlog_sort)sort, .top = (size_t)top,
                                  .firmware_time = firmware != 0, .board = q.board, .dram_bytes_per_s = dram,
                                  .ops_table = q.ops_table, .rules = q.rules, .thresholds = q.thresholds);
        devlog_answer *answer = NULL;
        devlog_status status;
        Py_BEGIN_ALLOW_THREADS status = devlog_report(q.n_inputs ? q.inputs[0] : NULL, &o, &answer, &err);
        Py_END_ALLOW_THREADS result = wrap(status, answer, &err);
    }
    asked_free(&q);
    return result;
}

PyObject *answer_causes(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"inputs", "top", "elf_folder", SELECTED_NAMES, NULL};
    asked q = {.selection = {0}};
    selected s = {0};
    PyObject *inputs, *elf_folder = NULL, *result = NULL;
    unsigned long long top = 0;
    devlog_error err = {DEVLOG_OK, ""};
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$KO" SELECTED_FORMAT, names, &inputs, &top, &elf_folder,
                                     SELECTED_PLACES(s)))
        return NULL;
    if (wishes_texts(inputs, "inputs", true, &q.inputs, &q.n_inputs) && take_selection(&q, &s) &&
        text_unless_none(elf_folder, true, &q.elf_folder)) {
        const devlog_causes_options o =
            DEVLOG_CAUSES_OPTIONS(.selection = &q.selection, .top = (size_t)top, .elf_folder = q.elf_folder);
        devlog_answer *answer = NULL;
        devlog_status status;
        Py_BEGIN_ALLOW_THREADS status = devlog_causes(q.n_inputs ? q.inputs[0] : NULL, &o, &answer, &err);
        Py_END_ALLOW_THREADS result = wrap(status, answer, &err);
    }
    asked_free(&q);
    return result;
}

PyObject *answer_memory(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"inputs", "top", "steps", NULL};
    asked q = {.selection = {0}};
    PyObject *inputs, *result = NULL;
    unsigned long long top = 0, steps = 0;
    devlog_error err = {DEVLOG_OK, ""};
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$KK", names, &inputs, &top, &steps)) return NULL;
    if (wishes_texts(inputs, "inputs", true, &q.inputs, &q.n_inputs)) {
        const devlog_memory_options o = DEVLOG_MEMORY_OPTIONS(.top = (size_t)top, .steps = (size_t)steps);
        devlog_answer *answer = NULL;
        devlog_status status;
        Py_BEGIN_ALLOW_THREADS status =
            devlog_memory_of_run(q.n_inputs ? q.inputs[0] : NULL, &o, &answer, &err);
        Py_END_ALLOW_THREADS result = wrap(status, answer, &err);
    }
    asked_free(&q);
    return result;
}

PyObject *answer_diff(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"old",        "new",       "exact",      "firmware_time",
                            "confidence", "min_share", "conditions", NULL};
    asked q = {.selection = {0}};
    PyObject *before, *after, *conditions = NULL, *result = NULL;
    int exact = 0, firmware = 0;
    double confidence = 0, min_share = 0;
    devlog_error err = {DEVLOG_OK, ""};
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|$ppddO", names, &before, &after, &exact, &firmware,
                                     &confidence, &min_share, &conditions))
        return NULL;
    if (wishes_texts(before, "old", true, &q.inputs, &q.n_inputs) &&
        wishes_texts(after, "new", true, &q.more_inputs, &q.n_more_inputs) &&
        wishes_texts(conditions, "conditions", false, &q.conditions, &q.n_conditions)) {
        const devlog_diff_options o =
            DEVLOG_DIFF_OPTIONS(.exact = exact != 0, .firmware_time = firmware != 0,
                                .confidence_percent = confidence, .min_share_percent = min_share,
                                .conditions = (const char *const *)q.conditions,
                                .n_conditions = q.n_conditions);
        devlog_answer *answer = NULL;
        devlog_status status;
        Py_BEGIN_ALLOW_THREADS status =
            devlog_diff((const char *const *)q.inputs, q.n_inputs, (const char *const *)q.more_inputs,
                        q.n_more_inputs, &o, &answer, &err);
        Py_END_ALLOW_THREADS result = wrap(status, answer, &err);
    }
    asked_free(&q);
    return result;
}

PyObject *answer_ops(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"inputs", NULL};
    asked q = {.selection = {0}};
    PyObject *inputs, *result = NULL;
    devlog_error err = {DEVLOG_OK, ""};
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O", names, &inputs)) return NULL;
    if (wishes_texts(inputs, "inputs", true, &q.inputs, &q.n_inputs)) {
        devlog_answer *answer = NULL;
        devlog_status status;
        Py_BEGIN_ALLOW_THREADS status = devlog_op_rows(q.n_inputs ? q.inputs[0] : NULL, &answer, &err);
        Py_END_ALLOW_THREADS result = wrap(status, answer, &err);
    }
    asked_free(&q);
    return result;
}
