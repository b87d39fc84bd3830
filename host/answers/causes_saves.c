/* What would make the launches of ops shorter. See causes_saves.h. */
#include "answers/causes_saves.h"

#include <stdlib.h>
#include <string.h>

#include "answers/causes_parts.h"
#include "decode/mark.h"

enum {
    MOST_ZONES = 4,   /* of an op, the most cycles on paths first: each is one more pass over its launches */
    MOST_BUFFERS = 1, /* all of them have one page more */
    LOOK_AHEAD = 64,  /* parts of a RISC's time, for the zone that a wait is in front of */
};

typedef struct finding {
    causes_saves *saves;
    const dl_decode *decode;
    causes_op_of *op_of;
    const void *ctx;
    causes_parts parts;
    causes_segments path;
    causes_save *found; /* of each launch, by RISC and core */
    size_t n_found, cap_found;
    uint64_t *less, *waited; /* by node; by lane */
    size_t cap_less, cap_waited;
} finding;

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

static const dl_tables *tables_of(const finding *f)
{
    return dl_decode_tables((dl_decode *)(uintptr_t)f->decode);
}

static uint32_t risc_of(const finding *f, const causes_launch *l, uint32_t lane)
{
    return tables_of(f)->streams[l->riscs[lane].stream].risc_name;
}

static bool room(void **items, size_t *cap, size_t n, size_t size)
{
    if (n <= *cap) return true;
    void *grown = realloc(*items, n * 2 * size);
    if (!grown) return false;
    *items = grown;
    *cap = n * 2;
    return true;
}

/* A zone that somebody wrote: not of firmware, not of the records themselves. */
static bool is_own_zone(const finding *f, uint32_t site)
{
    const dl_tables *t = tables_of(f);
    if (site == DL_NONE) return false;
    const char *name = dl_site_text(t, site), *file = dl_text(t, t->sites[site].file);
    return strncmp(name, "DEVLOG-", 7) != 0 &&
           dl_role_of_zone(name, strlen(name), file, strlen(file)) == DL_ROLE_USER;
}

/* ---- The first pass: what is on the paths --- */

static bool add_found(finding *f, size_t from, const causes_save *s)
{
    for (size_t i = from; i < f->n_found; i++) {
        causes_save *x = &f->found[i];
        if (x->buffer != s->buffer || x->stream != s->stream || x->site != s->site ||
            x->address != s->address)
            continue;
        x->cycles += s->cycles;
        return true;
    }
    if (!room((void **)&f->found, &f->cap_found, f->n_found + 1, sizeof *f->found)) return false;
    f->found[f->n_found++] = *s;
    return true;
}

/* The zone that a RISC is in, or comes to next, when it goes on. */
static uint32_t zone_behind(const finding *f, uint32_t lane, uint64_t time)
{
    size_t low = f->parts.first[lane], high = f->parts.first[lane + 1];
    const size_t end = high;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (f->parts.items[middle].until <= time)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i < end && i < low + LOOK_AHEAD; i++)
        if (is_own_zone(f, f->parts.items[i].site)) return f->parts.items[i].site;
    return DL_NONE;
}

static bool find_buffers(finding *f, const causes_launch *l, uint32_t code, size_t from)
{
    const causes *c = l->causes;
    for (size_t i = 0; i < c->n_path; i++) {
        const causes_node *n = &c->nodes[c->path[i].node];
        if (c->path[i].by != CAUSES_BY_GIVE) continue;
        const causes_event *e = &c->graph->lanes[n->lane].events[c->path[i].node - c->first[n->lane] - 1];
        if (e->why != CAUSES_FULL) continue;
        const causes_save s = {.code = code,
                               .buffer = true,
                               .risc = risc_of(f, l, n->lane),
                               .by = risc_of(f, l, c->nodes[n->give].lane),
                               .site = zone_behind(f, n->lane, e->until),
                               .address = causes_address(e->counter),
                               .stream = l->riscs[n->lane].stream,
                               .cycles = e->until - e->at,
                               .launches = 1};
        if (!add_found(f, from, &s)) return false;
    }
    return true;
}

static devlog_status look(void *ctx, const causes_launch *l, devlog_error *err)
{
    finding *f = ctx;
    const uint32_t code = f->op_of(f->ctx, l->launch);
    const size_t from = f->n_found;
    if (code == UINT32_MAX) return DEVLOG_OK;
    bool good = causes_cut(&f->parts, l) && causes_segment_path(&f->path, &f->parts, l) &&
                find_buffers(f, l, code, from);
    for (size_t i = 0; i < f->path.n && good; i++) {
        const causes_segment *g = &f->path.items[i];
        if (g->what != CAUSES_IN_ZONE || !is_own_zone(f, g->site)) continue;
        const causes_save s = {.code = code,
                               .risc = risc_of(f, l, g->lane),
                               .site = g->site,
                               .stream = g->stream,
                               .cycles = g->until - g->from,
                               .launches = 1};
        good = add_found(f, from, &s);
    }
    return good ? DEVLOG_OK : no_memory(err);
}

/* ---- Put together over cores and launches --- */

static int same_save(const causes_save *x, const causes_save *y)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): those that were found are whole */
    if (x->code != y->code) return x->code < y->code ? -1 : 1;
    if (x->buffer != y->buffer) return x->buffer ? 1 : -1;
    if (x->risc != y->risc) return x->risc < y->risc ? -1 : 1;
    if (x->site != y->site) return x->site < y->site ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

static int by_save(const void *a, const void *b)
{
    const causes_save *x = a, *y = b;
    const int same = same_save(x, y);
    return same ? same : x->stream < y->stream ? -1 : x->stream > y->stream;
}

static int most_cycles(const void *a, const void *b)
{
    const causes_save *x = a, *y = b;
    if (x->code != y->code) return x->code < y->code ? -1 : 1;
    if (x->buffer != y->buffer) return x->buffer ? 1 : -1;
    if (x->cycles != y->cycles) return x->cycles > y->cycles ? -1 : 1;
    return same_save(x, y);
}

static bool put_together(finding *f)
{
    causes_saves *s = f->saves;
    s->items = malloc((f->n_found + 1) * sizeof *s->items);
    if (!s->items) return false;
    if (f->n_found > 1) qsort(f->found, f->n_found, sizeof *f->found, by_save);
    uint64_t here = 0;
    for (size_t i = 0; i < f->n_found; i++) {
        const causes_save *x = &f->found[i];
        causes_save *to = s->n ? &s->items[s->n - 1] : NULL;
        here = i && f->found[i - 1].stream == x->stream ? here : 0; /* on this core */
        if (!to || same_save(to, x)) {
            to = &s->items[s->n++];
            *to = *x;
            to->exact = true;
            to->cycles = to->launches = here = 0;
        }
        here += x->cycles;
        to->cycles += x->cycles;
        to->launches++;
        if (here <= to->there) continue;
        to->there = here;
        to->stream = x->stream;
    }
    if (s->n > 1) qsort(s->items, s->n, sizeof *s->items, most_cycles);
    size_t kept = 0, of = 0;
    for (size_t i = 0; i < s->n; i++) {
        const causes_save x = s->items[i];
        of = kept && s->items[kept - 1].code == x.code && s->items[kept - 1].buffer == x.buffer ? of + 1 : 0;
        if (of < (x.buffer ? MOST_BUFFERS : MOST_ZONES)) s->items[kept++] = x;
    }
    s->n = kept;
    return true;
}

/* ---- The second pass: what each would gain --- */

/* For how long others waited for each RISC. */
static void sum_waited(finding *f, const causes *c)
{
    memset(f->waited, 0, c->graph->n_lanes * sizeof *f->waited);
    for (size_t i = 0; i < c->group_0; i++) {
        const causes_node *n = &c->nodes[i];
        if (n->state != CAUSES_ENDED) continue;
        const causes_event *e = &c->graph->lanes[n->lane].events[i - c->first[n->lane] - 1];
        f->waited[c->nodes[n->give].lane] += e->until - e->at;
    }
}

/* What a zone moved over the NoC: the records inside it closed before it did. */
static void add_transfers(causes_save *s, const causes_risc *r, size_t zone)
{
    for (size_t i = zone; i-- > 0 && r->zones[i].start >= r->zones[zone].start;) {
        const causes_zone *z = &r->zones[i];
        const uint32_t bytes = causes_transfer_bytes(z);
        if (z->record == CAUSES_NOC_WAITS) {
            s->barriers++;
            s->noc_waited += z->end - z->start;
        } else if (z->record == CAUSES_READS || z->record == CAUSES_WRITES) {
            if (!s->transfers || bytes < s->least_bytes) s->least_bytes = bytes;
            s->transfers++;
            s->bytes += bytes;
        }
    }
}

static void take_out_zone(finding *f, const causes_launch *l, causes_save *s, uint64_t *waited)
{
    const causes *c = l->causes;
    memset(f->less, 0, c->n * sizeof *f->less);
    for (uint32_t lane = 0; lane < c->graph->n_lanes; lane++) {
        const causes_risc *r = &l->riscs[lane];
        if (risc_of(f, l, lane) != s->risc) continue;
        *waited += f->waited[lane];
        for (size_t i = f->parts.first[lane]; i < f->parts.first[lane + 1]; i++) {
            const causes_part *p = &f->parts.items[i];
            if (p->site == s->site) causes_take_out(c, lane, p->from, p->until, f->less);
        }
        for (size_t i = 0; i < r->n; i++)
            if (r->zones[i].record == CAUSES_PLAIN && r->zones[i].site == s->site) add_transfers(s, r, i);
    }
}

static devlog_status add_gain(finding *f, const causes_launch *l, causes_save *s, devlog_error *err)
{
    const causes *c = l->causes;
    uint64_t end = c->end, waited = 0;
    if (!s->buffer) take_out_zone(f, l, s, &waited);
    const causes_change change = {.less = s->buffer ? NULL : f->less, .room = s->buffer};
    devlog_status status = causes_end_with(c, &change, &end, err);
    if (status) return status;
    const uint64_t gain = c->end - end;
    s->gain += !s->buffer && gain > waited ? waited : gain;
    s->waited += s->buffer ? 0 : waited;
    s->exact &= c->exact;
    return DEVLOG_OK;
}

static devlog_status add_gains(void *ctx, const causes_launch *l, devlog_error *err)
{
    finding *f = ctx;
    const uint32_t code = f->op_of(f->ctx, l->launch);
    if (code == UINT32_MAX) return DEVLOG_OK;
    if (!room((void **)&f->less, &f->cap_less, l->causes->n, sizeof *f->less) ||
        !room((void **)&f->waited, &f->cap_waited, l->causes->graph->n_lanes + 1, sizeof *f->waited) ||
        !causes_cut(&f->parts, l))
        return no_memory(err);
    sum_waited(f, l->causes);
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < f->saves->n && !status; i++)
        if (f->saves->items[i].code == code) status = add_gain(f, l, &f->saves->items[i], err);
    return status;
}

static int most_gain(const void *a, const void *b)
{
    const causes_save *x = a, *y = b;
    if (x->code != y->code) return x->code < y->code ? -1 : 1;
    if (x->gain != y->gain) return x->gain > y->gain ? -1 : 1;
    return same_save(x, y);
}

devlog_status causes_find_saves(causes_saves *saves, causes_log *log, const dl_decode *d, causes_op_of *op_of,
                                const void *ctx, devlog_error *err)
{
    finding f = {.saves = saves, .decode = d, .op_of = op_of, .ctx = ctx};
    devlog_status status = causes_log_each(log, look, &f, err);
    if (!status && !put_together(&f)) status = no_memory(err);
    if (!status && saves->n) status = causes_log_each(log, add_gains, &f, err);
    if (!status && saves->n > 1) qsort(saves->items, saves->n, sizeof *saves->items, most_gain);
    causes_parts_free(&f.parts);
    free(f.path.items);
    free(f.found);
    free(f.less);
    free(f.waited);
    return status;
}

void causes_saves_free(causes_saves *s)
{
    free(s->items);
    *s = (causes_saves){0};
}
