/* What a caller in Python wants of a log, as devlog_log_options, in memory of its own: it outlives the call, and may be
 * freed by a thread that does not hold Python's lock. */
#ifndef DEVLOG_PYTHON_WISHES_H
#define DEVLOG_PYTHON_WISHES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "devlog/decode.h"

typedef struct wishes {
    devlog_log_options options; /* its arrays are those below */
    char **paths;
    size_t n_paths;
    devlog_range *chips, *launches;
    devlog_core *cores;
    char **riscs, **zones;
    char *elf_folder;
} wishes;

/* From the arguments of a function: paths (a sequence of str, bytes or os.PathLike), and by name what
 * devlog_log_options has; chips and launches are sequences of (low, high), cores of (x, y). Returns false with a Python
 * exception set; then nothing is to be freed. */
bool wishes_parse(wishes *w, PyObject *args, PyObject *kwargs);
void wishes_free(wishes *w);

/* The parts, for other options: each is false, or NULL, with a Python exception set. A text is a copy; with `path` of what names a
 * file, otherwise of a str. None and NULL are no texts, and no ranges. */
char *wishes_text(PyObject *o, bool path);
bool wishes_texts(PyObject *o, const char *what, bool path, char ***out, size_t *n);
bool wishes_ranges(PyObject *o, const char *what, devlog_range **out, size_t *n);
void wishes_free_texts(char **texts, size_t n);

/* Opens the log that w describes. Needs no lock. */
devlog_status wishes_open(const wishes *w, devlog_log **out, devlog_error *err);

#endif
