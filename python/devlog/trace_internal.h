/* What the files of trace.h share: the session, what is open on a thread (trace_stack.c), what is decided of code (trace_sites.c), and
 * the events made of both, inline, for they are what every call of a profiled function costs. Not for other files. */
#ifndef DEVLOG_PYTHON_TRACE_INTERNAL_H
#define DEVLOG_PYTHON_TRACE_INTERNAL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "devlog/host.h"

/* ---- The session --- */

typedef struct trace_session_state {
    bool on, lines;
    uint32_t number; /* of sessions: decisions and stacks of others are not this one's */
    PyObject *describe, *describe_c, *disable;
    PyInterpreterState *interpreter;
    Py_ssize_t extra; /* where decisions are kept in code objects of that interpreter */
} trace_session_state;

extern trace_session_state trace_session;

/* ---- What is open --- */

/* What is open on a thread: a function of Python or C, or a line. */
typedef struct open_zone {
    uintptr_t
        key; /* of whose end is awaited: a code object, with 1 added for a line of it, or a PyMethodDef */
    devlog_host_zone zone;
} open_zone;

typedef struct open_stack {
    open_zone *items;
    size_t n, cap;
    uint32_t session;
} open_stack;

extern __thread open_stack trace_stack;

bool trace_stack_grow(open_stack *s); /* false: no room */
void trace_end_all(open_stack *s);
/* Ends what `key` began, with what is open in it: ends in it have not come. What began before the session is not there. */
void trace_pop(open_stack *s, uintptr_t key);
/* What is open of another session ends. NULL: events of this thread are not wanted. */
open_stack *trace_join_session(open_stack *s);

static inline void trace_push(open_stack *s, uintptr_t key, devlog_host_site *site)
{
    if (__builtin_expect(s->n == s->cap, 0) && !trace_stack_grow(s))
        return; /* its end is not found, either */
    open_zone *o = &s->items[s->n++];
    *o = (open_zone){.key = key};
    if (__builtin_expect(__atomic_load_n(&devlog_host_on, __ATOMIC_RELAXED), 1))
        devlog_host_begin(&o->zone, site);
}

static inline void trace_end_top(open_stack *s)
{
    devlog_host_end(&s->items[--s->n].zone);
}

/* The stack of this thread, or NULL. */
static inline open_stack *trace_in_session(void)
{
    open_stack *s = &trace_stack;
    if (__builtin_expect(trace_session.on && s->session == trace_session.number, 1)) return s;
    return trace_join_session(s);
}

/* ---- What is decided --- */

typedef struct code_info {
    uint32_t session;
    uint32_t n_lines;
    devlog_host_site *site;   /* NULL: it is not recorded */
    devlog_host_site **lines; /* from the first one; NULL: not met */
} code_info;

bool trace_find_place(void); /* where code objects keep decisions; false: an exception is set */
/* What is decided of a code object. NULL: it is not recorded. */
code_info *trace_info_of(PyCodeObject *code);
devlog_host_site *trace_line_site(PyCodeObject *code, code_info *info, int line); /* "name:line" */
devlog_host_site *trace_function_site(PyObject *function);                        /* of C */

/* ---- Events: each returns whether the code is recorded --- */

static inline bool trace_enter(open_stack *s, PyCodeObject *code)
{
    code_info *info = trace_info_of(code);
    if (info) trace_push(s, (uintptr_t)code, info->site);
    return info != NULL;
}

static inline bool trace_leave_code(open_stack *s, PyCodeObject *code)
{
    const uintptr_t key = (uintptr_t)code;
    if (!trace_info_of(code)) return false;
    if (s->n && s->items[s->n - 1].key == (key | 1)) trace_end_top(s);
    trace_pop(s, key);
    return true;
}

static inline bool trace_at_line(open_stack *s, PyCodeObject *code, int line)
{
    const uintptr_t key = (uintptr_t)code | 1;
    code_info *info = trace_info_of(code);
    devlog_host_site *site = info ? trace_line_site(code, info, line) : NULL;
    if (!info) return false;
    if (s->n && s->items[s->n - 1].key == key) trace_end_top(s);
    if (site) trace_push(s, key, site);
    return true;
}

static inline bool trace_call_c(open_stack *s, PyCodeObject *caller, PyObject *function)
{
    if (!trace_info_of(caller)) return false;
    devlog_host_site *site = trace_function_site(function);
    if (site) trace_push(s, (uintptr_t)((PyCFunctionObject *)function)->m_ml, site);
    return true;
}

static inline bool trace_return_c(open_stack *s, PyCodeObject *caller, PyObject *function)
{
    if (!trace_info_of(caller)) return false;
    if (trace_function_site(function)) trace_pop(s, (uintptr_t)((PyCFunctionObject *)function)->m_ml);
    return true;
}

#endif
