/* Hardware counters by zone put together for reports. */
#include "decode/analysis/counter_groups.h"

#include <stdlib.h>
#include <string.h>

typedef struct member {
    const dl_tables *tables;
    const dl_zone_counter *counter;
    const dl_stream *stream;
    uint32_t chip_id;
} member;

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static const char *zone_of(const dl_tables *t, uint32_t site)
{
    return site == DL_NONE ? "" : dl_site_text(t, site);
}

static int by_group(const void *pa, const void *pb)
{
    const member *a = pa, *b = pb;
    const dl_tables *t = a->tables;
    int c = compare_u64(a->chip_id, b->chip_id);
    if (!c) c = compare_u64(a->stream->risc, b->stream->risc);
    if (!c) c = strcmp(dl_text(t, a->stream->risc_name), dl_text(t, b->stream->risc_name));
    if (!c) c = strcmp(zone_of(t, a->counter->zone), zone_of(t, b->counter->zone));
    return c ? c : strcmp(dl_site_text(t, a->counter->counter), dl_site_text(t, b->counter->counter));
}

devlog_status dl_counter_groups_of(dl_decode *d, dl_counter_groups *out, devlog_error *err)
{
    const dl_zone_counters *c = dl_decode_zone_counters(d);
    const dl_tables *t = dl_decode_tables(d);
    *out = (dl_counter_groups){0};
    if (c->n == 0) return DEVLOG_OK;
    member *members = calloc(c->n, sizeof *members);
    out->items = calloc(c->n, sizeof *out->items);
    if (!members || !out->items) {
        free(members);
        dl_counter_groups_free(out);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the hardware counters");
    }
    for (uint32_t i = 0; i < c->n; i++) {
        const dl_stream *s = &t->streams[c->items[i].stream];
        members[i] = (member){t, &c->items[i], s, t->chips[s->chip].id};
    }
    qsort(members, c->n, sizeof *members, by_group);
    for (uint32_t i = 0; i < c->n; i++) {
        const member *x = &members[i];
        if (i && by_group(x - 1, x) == 0) {
            dl_zone_counter *sums = &out->items[out->n - 1].sums;
            sums->records += x->counter->records;
            sums->value += x->counter->value;
            sums->reference += x->counter->reference;
            continue;
        }
        const char *arch = dl_text(t, t->chips[x->stream->chip].arch);
        out->items[out->n++] =
            (dl_counter_group){.chip = x->stream->chip,
                               .lacking = dl_counter_is_lacking(arch, dl_site_text(t, x->counter->counter)),
                               .sums = *x->counter};
    }
    free(members);
    return DEVLOG_OK;
}

void dl_counter_groups_free(dl_counter_groups *g)
{
    free(g->items);
    *g = (dl_counter_groups){0};
}

const char *dl_counter_zone(const dl_tables *t, const dl_counter_group *g)
{
    return zone_of(t, g->sums.zone);
}

bool dl_counter_percent(const dl_counter_group *g, double *percent)
{
    if (g->lacking || g->sums.reference == 0) return false;
    *percent = 100.0 * (double)g->sums.value / (double)g->sums.reference;
    return true;
}
