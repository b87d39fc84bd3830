/* What is open on each thread that is profiled: functions of Python and C, and lines; see trace_internal.h. Which of them are
 * recorded is not this file's. */
#include <pthread.h>
#include <stdlib.h>

#include "trace_internal.h"

__thread open_stack trace_stack;
static pthread_key_t at_thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void free_stack(void *items)
{
    free(items);
    trace_stack = (open_stack){0};
}

static void make_key(void)
{
    (void)pthread_key_create(&at_thread_end, free_stack);
}

bool trace_stack_grow(open_stack *s)
{
    const size_t cap = s->cap ? 2 * s->cap : 256;
    open_zone *items = realloc(s->items, cap * sizeof *items);
    if (!items) return false;
    s->items = items;
    s->cap = cap;
    (void)pthread_once(&once, make_key);
    (void)pthread_setspecific(at_thread_end, items);
    return true;
}

void trace_pop(open_stack *s, uintptr_t key)
{
    size_t at = s->n;
    while (at && s->items[at - 1].key != key)
        at--;
    while (at && s->n >= at)
        trace_end_top(s);
}

void trace_end_all(open_stack *s)
{
    while (s->n)
        trace_end_top(s);
}

open_stack *trace_join_session(open_stack *s)
{
    trace_end_all(s);
    s->session = trace_session.number;
    return trace_session.on ? s : NULL;
}
