/* What finding the ops and signposts of a selection takes, whoever wrote the log of the host: which names were met, and
 * what is said of those that were not. Used by select.c and tt_metal/select.c. */
#ifndef DEVLOG_OPS_SELECT_ASKED_H
#define DEVLOG_OPS_SELECT_ASKED_H

#include "ops/select.h"

/* Names that there are, each once. */
typedef struct op_listed {
    dl_intern *names;
    dl_str out;
} op_listed;

/* Which of the wanted ops have been met. */
typedef struct op_asked {
    const op_select_options *o;
    bool *met;
} op_asked;

void op_listed_add(op_listed *l, const char *name, size_t n);
/* NOT_FOUND: what was asked for, and the names that there are. Frees them. */
devlog_status op_listed_missing(op_listed *l, const char *option, const char *value, const char *what,
                                const char *where, devlog_error *err);

bool op_asked_wants(op_asked *w, const char *name);
/* The first that was not met, or NULL. */
const char *op_asked_not_met(const op_asked *w);

/* One more op that is wanted; false: out of memory. */
bool op_selected_add(op_selected *s, uint64_t id, uint32_t chip, uint32_t session);
void op_selected_order(op_selected *s);

#endif
