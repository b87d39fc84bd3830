/* Options of a log from Python's arguments; see wishes.h. Knows the names of arguments, and nothing of what they do. */
#include "wishes.h"

#include <stdlib.h>
#include <string.h>

void wishes_free_texts(char **texts, size_t n)
{
    for (size_t i = 0; texts && i < n; i++)
        free(texts[i]);
    free(texts);
}

void wishes_free(wishes *w)
{
    wishes_free_texts(w->paths, w->n_paths);
    wishes_free_texts(w->riscs, w->options.n_riscs);
    wishes_free_texts(w->zones, w->options.n_zones);
    free(w->chips);
    free(w->launches);
    free(w->cores);
    free(w->elf_folder);
    memset(w, 0, sizeof(*w));
}

/* One array of n items, never NULL; the exception is set when there is no memory. */
static void *room(size_t n, size_t item)
{
    void *p = calloc(n ? n : 1, item);
    if (!p) PyErr_NoMemory();
    return p;
}

/* Paths are bytes of the file system, names are UTF-8. */
char *wishes_text(PyObject *o, bool path)
{
    PyObject *bytes = NULL;
    char *copy = NULL;
    if (path) {
        if (!PyUnicode_FSConverter(o, &bytes)) return NULL;
    } else if (PyUnicode_Check(o)) {
        bytes = PyUnicode_AsEncodedString(o, "utf-8", "surrogateescape");
    } else {
        PyErr_Format(PyExc_TypeError, "a name is a str, not %.100s", Py_TYPE(o)->tp_name);
    }
    if (!bytes) return NULL;
    if (strlen(PyBytes_AS_STRING(bytes)) != (size_t)PyBytes_GET_SIZE(bytes))
        PyErr_SetString(PyExc_ValueError, "a name with a NUL byte");
    else if (!(copy = strdup(PyBytes_AS_STRING(bytes))))
        PyErr_NoMemory();
    Py_DECREF(bytes);
    return copy;
}

/* The items of a sequence as a list or tuple, or NULL with an exception. A str is no sequence of names: it is refused. */
static PyObject *items_of(PyObject *o, const char *what)
{
    if (PyUnicode_Check(o) || PyBytes_Check(o)) {
        PyErr_Format(PyExc_TypeError, "%s: a sequence of them is wanted, not one", what);
        return NULL;
    }
    return PySequence_Fast(o, what);
}

bool wishes_texts(PyObject *o, const char *what, bool path, char ***out, size_t *n)
{
    if (!o || o == Py_None) return true;
    PyObject *items = items_of(o, what);
    if (!items) return false;
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
    bool ok = (*out = room((size_t)count, sizeof(char *))) != NULL;
    for (Py_ssize_t i = 0; ok && i < count; i++) {
        ok = ((*out)[i] = wishes_text(PySequence_Fast_GET_ITEM(items, i), path)) != NULL;
        if (ok) *n = (size_t)i + 1;
    }
    Py_DECREF(items);
    return ok;
}

/* Pairs of numbers: ranges, and coordinates of cores. */
static bool pairs_of(PyObject *o, const char *what, uint64_t (**out)[2], size_t *n)
{
    if (!o || o == Py_None) return true;
    PyObject *items = items_of(o, what);
    if (!items) return false;
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
    bool ok = (*out = room((size_t)count, sizeof(**out))) != NULL;
    for (Py_ssize_t i = 0; ok && i < count; i++) {
        unsigned long long low = 0, high = 0;
        PyObject *item = PySequence_Fast_GET_ITEM(items, i);
        ok = PyTuple_Check(item) && PyArg_ParseTuple(item, "KK", &low, &high);
        if (!ok && !PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%s: pairs of numbers are wanted", what);
        (*out)[i][0] = low;
        (*out)[i][1] = high;
    }
    *n = ok ? (size_t)count : 0;
    Py_DECREF(items);
    return ok;
}

bool wishes_ranges(PyObject *o, const char *what, devlog_range **out, size_t *n)
{
    uint64_t(*pairs)[2] = NULL;
    bool ok = pairs_of(o, what, &pairs, n) && (*out = room(*n, sizeof(**out)));
    for (size_t i = 0; ok && i < *n; i++)
        (*out)[i] = (devlog_range){pairs[i][0], pairs[i][1]};
    free(pairs);
    return ok;
}

static bool cores_of(PyObject *o, devlog_core **out, size_t *n)
{
    uint64_t(*pairs)[2] = NULL;
    bool ok = pairs_of(o, "cores", &pairs, n) && (*out = room(*n, sizeof(**out)));
    for (size_t i = 0; ok && i < *n; i++) {
        ok = pairs[i][0] <= UINT32_MAX && pairs[i][1] <= UINT32_MAX;
        if (!ok) PyErr_SetString(PyExc_ValueError, "cores: no core has such coordinates");
        (*out)[i] = (devlog_core){(uint32_t)pairs[i][0], (uint32_t)pairs[i][1]};
    }
    free(pairs);
    return ok;
}

bool wishes_parse(wishes *w, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"paths",         "chips",     "cores",   "riscs",      "zones",
                            "launches",      "start",     "until",   "min_cycles", "skip_launches",
                            "subtract_cost", "quantiles", "threads", "elf_folder", NULL};
    PyObject *paths = NULL, *chips = NULL, *cores = NULL, *riscs = NULL, *zones = NULL, *launches = NULL,
             *elf_folder = NULL;
    unsigned long long start = 0, until = 0, min_cycles = 0, skip_launches = 0;
    int subtract_cost = 0, quantiles = 1;
    unsigned threads = 0;
    memset(w, 0, sizeof(*w));
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OOOOOKKKKppIO", names, &paths, &chips, &cores, &riscs,
                                     &zones, &launches, &start, &until, &min_cycles, &skip_launches,
                                     &subtract_cost, &quantiles, &threads, &elf_folder))
        return false;
    w->options =
        (devlog_log_options)DEVLOG_LOG_OPTIONS(.from = start, .until = until, .min_cycles = min_cycles,
                                               .skip_launches = skip_launches,
                                               .subtract_cost = subtract_cost != 0,
                                               .no_quantiles = !quantiles, .threads = threads);
    bool ok = wishes_texts(paths, "paths", true, &w->paths, &w->n_paths) &&
              wishes_ranges(chips, "chips", &w->chips, &w->options.n_chips) &&
              wishes_ranges(launches, "launches", &w->launches, &w->options.n_launches) &&
              cores_of(cores, &w->cores, &w->options.n_cores) &&
              wishes_texts(riscs, "riscs", false, &w->riscs, &w->options.n_riscs) &&
              wishes_texts(zones, "zones", false, &w->zones, &w->options.n_zones);
    if (ok && elf_folder && elf_folder != Py_None)
        ok = (w->elf_folder = wishes_text(elf_folder, true)) != NULL;
    w->options.chips = w->chips;
    w->options.launches = w->launches;
    w->options.cores = w->cores;
    w->options.riscs = (const char *const *)w->riscs;
    w->options.zones = (const char *const *)w->zones;
    w->options.elf_folder = w->elf_folder;
    if (!ok) wishes_free(w);
    return ok;
}

devlog_status wishes_open(const wishes *w, devlog_log **out, devlog_error *err)
{
    return devlog_log_open((const char *const *)w->paths, w->n_paths, &w->options, out, err);
}
