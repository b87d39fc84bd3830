/* Selection by what only the host knows: ops by their names, and what lies between two signposts. Makes of it the launches
 * that decode/filter.h can tell, so that every command that reads a device log has the same selection. Not for which rows
 * of a report stay (op_select_rows.c). Of the files of tt-metal's host: tt_metal/select.h. */
#ifndef DEVLOG_OPS_SELECT_H
#define DEVLOG_OPS_SELECT_H

#include "decode/warm_up.h"
#include "ops/op_log.h"

typedef struct op_select_options {
    const char *from,
        *to; /* signposts: the first of this name, and the first of that name behind it; or NULL */
    const char *const *ops; /* op codes; a trailing * is a prefix */
    size_t n_ops;
} op_select_options;

/* What a user wants of a run. */
typedef struct op_selection {
    dl_filter filter; /* of launches: chips, launches, traces, sessions, skip_launches; arrays are borrowed */
    op_select_options host;
    bool skip_warm_up;
} op_selection;

typedef struct op_selected {
    dl_filter_id *ids; /* of the ops that are wanted, in order */
    size_t n, cap;
    uint64_t from, to; /* above the first, not above the second: ns, or, in devlog's op log, ids of ops */
    dl_warm_up warm_up;
} op_selected;

/* Whether launches are left out by the order in which they ran. */
static inline bool op_select_by_order(const op_selection *s)
{
    return s->filter.skip_launches || s->skip_warm_up;
}

static inline bool op_select_by_host(const op_select_options *o)
{
    return o->from || o->to || o->n_ops;
}

/* Whether it leaves anything out at all. */
bool op_selection_any(const op_selection *s);

/* NOT_FOUND, with what there is, when a signpost or an op is not there. Free with op_selected_free, also after a failure. */
devlog_status op_select_log(op_selected *s, op_log *log, const op_select_options *o, devlog_error *err);
void op_selected_free(op_selected *s);
/* Adds it to a filter, which borrows it. `by_host`: ids were asked for. */
void op_selected_apply(const op_selected *s, bool by_host, dl_filter *filter);

static inline bool op_selected_time(const op_selected *s, uint64_t time)
{
    return time > s->from && time <= s->to;
}

/* NOT_FOUND, with what there is, when one of the numbers that a filter wants is of no launch of the chips that it wants. `chips`: their
 * ids by dl_launch.chip; NULL: all launches are of wanted chips, which have been looked at. */
devlog_status op_select_check(const dl_filter *f, const dl_launch *launches, size_t n, const uint32_t *chips,
                              devlog_error *err);
/* NOT_FOUND: all parts of the selection together leave nothing. */
devlog_status op_select_nothing(const op_selection *s, devlog_error *err);

#endif
