/* What is said of a selection in which something matches nothing: what there is. Not for filters of cores, zones and time
 * (cli/filter_check.c). */
#include <stdio.h>
#include <stdlib.h>

#include "base/sort.h"
#include "ops/select.h"

enum { MOST_SHOWN = 12 };

typedef struct numbers {
    uint64_t *items;
    size_t n;
} numbers;

/* Each once, as ranges. */
static void show(numbers *all, dl_str *out)
{
    size_t shown = 0;
    dl_sort_u64(all->items, all->n);
    for (size_t i = 0, to; i < all->n; i = to) {
        for (to = i + 1; to < all->n && all->items[to] <= all->items[to - 1] + 1; to++)
            ;
        if (shown++ == MOST_SHOWN) {
            dl_str_add(out, " and more");
            break;
        }
        dl_str_fmt(out, "%s%llu", shown > 1 ? ", " : "", (unsigned long long)all->items[i]);
        if (all->items[to - 1] > all->items[i])
            dl_str_fmt(out, "-%llu", (unsigned long long)all->items[to - 1]);
    }
    if (!all->n) dl_str_add(out, "none");
}

typedef uint64_t value_of(const dl_launch *l, const uint32_t *chips);

static uint64_t chip_of(const dl_launch *l, const uint32_t *chips)
{
    return chips[l->chip];
}

static uint64_t id_of(const dl_launch *l, const uint32_t *chips)
{
    (void)chips;
    return l->has_ids ? l->run_host_id : l->number;
}

static uint64_t trace_of(const dl_launch *l, const uint32_t *chips)
{
    (void)chips;
    return l->trace_id == DL_NO_ID ? UINT64_MAX : l->trace_id;
}

static uint64_t session_of(const dl_launch *l, const uint32_t *chips)
{
    (void)chips;
    const uint32_t session = dl_filter_session(l);
    return session ? session : UINT64_MAX;
}

static bool is_wanted(const dl_filter *f, const dl_launch *l, const uint32_t *chips)
{
    return !chips || dl_filter_in(f->chips, f->n_chips, chips[l->chip]);
}

/* One of the ranges that no launch is in; NULL: each has some. */
static const dl_filter_range *in_vain(const dl_filter_range *ranges, size_t n, const numbers *there)
{
    for (size_t i = 0; i < n; i++) {
        bool met = false;
        for (size_t k = 0; k < there->n && !met; k++)
            met = dl_filter_in(&ranges[i], 1, there->items[k]);
        if (!met) return &ranges[i];
    }
    return NULL;
}

static devlog_status no_such(const char *option, const char *what, const dl_filter_range *r,
                             const char *where, numbers *all, devlog_error *err)
{
    char high[24] = "";
    dl_str there = {0};
    if (r->high > r->low) snprintf(high, sizeof high, "-%llu", (unsigned long long)r->high);
    show(all, &there);
    dl_fail(err, DEVLOG_ERR_NOT_FOUND, "--%s %llu%s: no such %s; %s %s", option, (unsigned long long)r->low,
            high, what, where, there.text && !there.failed ? there.text : "others");
    dl_str_free(&there);
    return DEVLOG_ERR_NOT_FOUND;
}

devlog_status op_select_check(const dl_filter *f, const dl_launch *launches, size_t n, const uint32_t *chips,
                              devlog_error *err)
{
    const struct {
        const char *option, *what;
        const dl_filter_range *ranges;
        size_t n;
        value_of *value;
    } kinds[] = {
        {"chips", "chip", f->chips, f->n_chips, chip_of},
        {"launches", "launch", f->launches, f->n_launches, id_of},
        {"traces", "trace", f->traces, f->n_traces, trace_of},
        {"trace-sessions", "replay", f->sessions, f->n_sessions, session_of},
    };
    const char *const left = f->n_cores || f->n_riscs ? "the chips, cores and RISCs that are wanted have"
                             : f->n_chips             ? "the chips that are wanted have"
                                                      : "the log has";
    numbers all = {malloc((n + 1) * sizeof *all.items), 0};
    if (!all.items) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    devlog_status status = DEVLOG_OK;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0] && !status; k++) {
        const bool of_chips = kinds[k].value == chip_of;
        if (!kinds[k].n || (of_chips && !chips)) continue;
        all.n = 0;
        for (size_t i = 0; i < n; i++) {
            if (!of_chips && !is_wanted(f, &launches[i], chips)) continue;
            const uint64_t value = kinds[k].value(&launches[i], chips);
            if (value != UINT64_MAX) all.items[all.n++] = value;
        }
        const dl_filter_range *r = in_vain(kinds[k].ranges, kinds[k].n, &all);
        if (r)
            status = no_such(kinds[k].option, kinds[k].what, r, of_chips ? "the log has" : left, &all, err);
    }
    free(all.items);
    if (status || !f->skip_launches) return status;
    uint32_t counts[DL_MAX_CHIPS] = {0}, most = 0;
    for (size_t i = 0; i < n; i++)
        if (is_wanted(f, &launches[i], chips) && ++counts[launches[i].chip] > most)
            most = counts[launches[i].chip];
    if (f->skip_launches < most) return DEVLOG_OK;
    return dl_fail(err, DEVLOG_ERR_NOT_FOUND, "--skip-launches %llu: no chip has more than %u launches",
                   (unsigned long long)f->skip_launches, most);
}

devlog_status op_select_nothing(const op_selection *s, devlog_error *err)
{
    if (op_select_by_host(&s->host) && !dl_filter_of_launches(&s->filter) && !s->filter.n_chips &&
        !s->skip_warm_up)
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND, "%s",
                       s->host.n_ops ? "no op of the names that --op wants lies between the signposts"
                                     : "no op lies between the signposts");
    return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                   "each part of the selection leaves something, and all of them together leave nothing");
}
