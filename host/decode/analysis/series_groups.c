/* Series put together by name for reports, and messages in the order of their time. */
#include <stdlib.h>
#include <string.h>

#include "decode/analysis/series_groups.h"

typedef struct member {
    const dl_tables *tables;
    const dl_series *series;
    const dl_stream *stream;
    uint32_t chip_id;
    bool by_core;
} member;

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int core_order(const member *a, const member *b)
{
    int c = compare_u64(a->stream->core_y, b->stream->core_y);
    return c ? c : compare_u64(a->stream->core_x, b->stream->core_x);
}

static int group_order(const member *a, const member *b)
{
    const dl_tables *t = a->tables;
    int c = compare_u64(a->chip_id, b->chip_id);
    if (!c && a->by_core) c = core_order(a, b);
    if (!c) c = compare_u64(a->series->kind, b->series->kind);
    if (!c) c = compare_u64(a->stream->risc, b->stream->risc);
    if (!c) c = strcmp(dl_text(t, a->stream->risc_name), dl_text(t, b->stream->risc_name));
    if (!c) c = strcmp(dl_site_text(t, a->series->site), dl_site_text(t, b->series->site));
    return c ? c : compare_u64(a->series->what, b->series->what);
}

static int member_order(const void *pa, const void *pb)
{
    const member *a = pa, *b = pb;
    int c = group_order(a, b);
    if (!c) c = core_order(a, b);
    return c ? c : compare_u64(a->series->site, b->series->site);
}

static void join(dl_series *to, const dl_series *m)
{
    to->count += m->count;
    to->sum += m->sum;
    if (m->min < to->min) to->min = m->min;
    if (m->max > to->max) to->max = m->max;
    if (m->last_time >= to->last_time) {
        to->last_time = m->last_time;
        to->last = m->last;
    }
    to->passes += m->passes;
    if (m->shortest < to->shortest) to->shortest = m->shortest;
    if (m->longest > to->longest) to->longest = m->longest;
}

/* Names of include/devlog/waits.h and transfers.h, which host/answers reads one by one. */
static bool is_wait_record(const dl_tables *t, const dl_series *s)
{
    static const char *const names[] = {"DEVLOG-WANTS", "DEVLOG-GIVES", "DEVLOG-NOC-READ",
                                        "DEVLOG-NOC-WRITE"};
    if (s->kind != DL_EVENT_VALUE) return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(dl_site_text(t, s->site), names[i]) == 0) return true;
    return false;
}

devlog_status dl_series_groups_of(dl_decode *d, bool by_core, dl_series_groups *out, devlog_error *err)
{
    const dl_series_table *m = dl_decode_series_table(d);
    const dl_tables *t = dl_decode_tables(d);
    *out = (dl_series_groups){0};
    if (m->n == 0) return DEVLOG_OK;
    member *members = calloc(m->n, sizeof *members);
    out->items = calloc(m->n, sizeof *out->items);
    if (!members || !out->items) {
        free(members);
        dl_series_groups_free(out);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the statistics of markers");
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        const dl_stream *s = &t->streams[m->items[i].stream];
        if (is_wait_record(t, &m->items[i])) {
            out->wait_records += m->items[i].count;
            continue;
        }
        members[n++] = (member){t, &m->items[i], s, t->chips[s->chip].id, by_core};
    }
    qsort(members, n, sizeof *members, member_order);
    for (uint32_t i = 0; i < n; i++) {
        const member *x = &members[i];
        dl_series_group *g = out->n ? &out->items[out->n - 1] : NULL;
        if (!g || group_order(x - 1, x) != 0) {
            out->items[out->n++] = (dl_series_group){x->stream->chip, 1, *x->series};
            continue;
        }
        g->cores += core_order(x - 1, x) != 0;
        join(&g->series, x->series);
    }
    free(members);
    return DEVLOG_OK;
}

void dl_series_groups_free(dl_series_groups *g)
{
    free(g->items);
    *g = (dl_series_groups){0};
}

typedef struct placed {
    dl_message message;
    uint32_t chip_id, at;
} placed;

static int by_time(const void *pa, const void *pb)
{
    const placed *a = pa, *b = pb;
    int c = compare_u64(a->chip_id, b->chip_id);
    if (!c) c = compare_u64(a->message.time, b->message.time);
    return c ? c : compare_u64(a->at, b->at);
}

dl_message *dl_messages_of(dl_decode *d, size_t *n, uint64_t *more)
{
    const dl_series_table *m = dl_decode_series_table(d);
    const dl_tables *t = dl_decode_tables(d);
    *n = 0;
    *more = m->more_messages + m->n_messages;
    if (!m->n_messages) return NULL;
    placed *list = malloc(m->n_messages * sizeof *list);
    dl_message *out = malloc(m->n_messages * sizeof *out);
    if (list && out) {
        for (uint32_t i = 0; i < m->n_messages; i++)
            list[i] = (placed){m->messages[i], t->chips[t->streams[m->messages[i].stream].chip].id, i};
        qsort(list, m->n_messages, sizeof *list, by_time);
        for (uint32_t i = 0; i < m->n_messages; i++)
            out[i] = list[i].message;
        *n = m->n_messages;
        *more = m->more_messages;
    } else {
        free(out);
        out = NULL;
    }
    free(list);
    return out;
}

const char *dl_series_kind_text(const dl_series *s)
{
    switch (s->kind) {
    case DL_EVENT_SUM: return "sum";
    case DL_EVENT_VALUE: return s->what == DL_SERIES_COUNTER ? "counter" : "value";
    default: return s->what == DL_SERIES_TEXT ? "text" : "event";
    }
}

double dl_series_average(const dl_series *s)
{
    uint64_t n = s->passes ? s->passes : s->count;
    return dl_summary_average(&(dl_summary){.count = n, .sum = s->sum});
}
