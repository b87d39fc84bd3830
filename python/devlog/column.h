/* A column: numbers of one kind in memory that Python sees through the buffer protocol, without a copy. It owns its memory,
 * so that arrays made of it outlive the log that it was read from. */
#ifndef DEVLOG_PYTHON_COLUMN_H
#define DEVLOG_PYTHON_COLUMN_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

/* Grows without Python's lock. */
typedef struct growing {
    char *data;
    size_t n, room, item; /* item: 4 or 8 bytes */
} growing;

bool growing_append(growing *g, const void *items, size_t n);

extern PyTypeObject column_type; /* PyType_Ready before use */

/* Takes over the memory of g, which is empty then, also when this fails (NULL, with an exception). */
PyObject *column_take(growing *g);

#endif
