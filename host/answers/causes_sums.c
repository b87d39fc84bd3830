/* Causes over the launches of a log. See causes_sums.h. */
#include "answers/causes_sums.h"

#include <stdlib.h>
#include <string.h>

#include "answers/causes_parts.h"

enum {
    GAINS_OF_ZONES = 12, /* on paths, the most cycles first: each is one more pass over every launch */
    GAINS_OF_SEGMENTS = 24,
};

const char *const causes_why_text[CAUSES_WHYS] = {
    [CAUSES_FULL] = "buffer full", [CAUSES_EMPTY] = "buffer empty", [CAUSES_SEMAPHORE] = "semaphore",
    [CAUSES_NOC] = "NoC barrier",  [CAUSES_OTHER] = "wait",
};

const char *const causes_state_text[CAUSES_STATES] = {
    [CAUSES_NO_WANT] = "",
    [CAUSES_READY] = "it was there",
    [CAUSES_ENDED] = "",
    [CAUSES_OWN] = "nothing: it was there",
    [CAUSES_UNNAMED] = "unknown: no record of what it waited for",
    [CAUSES_UNGIVEN] = "unknown: no record of who gave it",
    [CAUSES_TWICE] = "unknown: given more than once",
    [CAUSES_TOO_LATE] = "unknown: the records contradict it",
};

const char *causes_part_name(const dl_decode *d, uint8_t what, uint32_t site)
{
    static const char *const names[CAUSES_WHATS] = {
        [CAUSES_IN_ZONE] = "",
        [CAUSES_NO_ZONE] = "(no zone)",
        [CAUSES_STARTING] = "(not started yet)",
        [CAUSES_HANDING] = "(hand-over)",
        [CAUSES_ENDING] = "(core ends)",
        [CAUSES_NOBODY] = "(unknown)",
    };
    return what == CAUSES_IN_ZONE ? dl_site_text(dl_decode_tables((dl_decode *)(uintptr_t)d), site)
                                  : names[what];
}

/* What both passes need. */
typedef struct summing {
    causes_sums *s;
    causes_parts parts;
    causes_segments path;
    size_t launch; /* in the second pass, which one it is */
    uint64_t *less;
    size_t cap_less;
} summing;

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

static uint32_t risc_of(const causes_sums *s, uint32_t stream)
{
    return stream == DL_NONE ? 0 : dl_decode_tables(s->decode)->streams[stream].risc_name;
}

static bool grow(void **items, size_t n, size_t *cap, size_t size)
{
    if (n < *cap) return true;
    const size_t more = *cap ? *cap * 2 : 64;
    void *grown = realloc(*items, more * size);
    if (!grown) return false;
    *items = grown;
    *cap = more;
    return true;
}

/* ---- Finding a sum by its key: zones and waits have slots in one table, waits with the highest bit --- */

#define OF_WAIT UINT32_C(0x80000000)

static uint64_t hash_of_zone(const causes_zone_sum *z)
{
    return dl_hash_u64(((uint64_t)z->risc << 32 | z->site) * 31 + z->what);
}

static uint64_t hash_of_wait(const causes_wait_sum *w)
{
    return dl_hash_u64(((uint64_t)w->risc << 32 | w->address) * 31 + w->by) ^ (uint64_t)w->why << 8 ^
           w->state;
}

static bool room_for_slot(causes_sums *s)
{
    if (s->used_slots * 2 < s->n_slots) return true;
    const size_t n = s->n_slots ? s->n_slots * 2 : 256;
    uint32_t *slots = calloc(n, sizeof *slots);
    if (!slots) return false;
    for (uint32_t i = 0; i < s->n_zones + s->n_waits; i++) {
        const bool zone = i < s->n_zones;
        const uint32_t number = zone ? i : i - (uint32_t)s->n_zones;
        size_t at =
            (size_t)(zone ? hash_of_zone(&s->zones[number]) : hash_of_wait(&s->waits[number])) & (n - 1);
        while (slots[at])
            at = (at + 1) & (n - 1);
        slots[at] = (number + 1) | (zone ? 0 : OF_WAIT);
    }
    free(s->slots);
    s->slots = slots;
    s->n_slots = n;
    return true;
}

static causes_zone_sum *zone_sum(causes_sums *s, uint32_t risc, uint8_t what, uint32_t site)
{
    const causes_zone_sum key = {.risc = risc,
                                 .site = what == CAUSES_IN_ZONE ? site : DL_NONE,
                                 .what = what,
                                 .last = UINT32_MAX,
                                 .gain = CAUSES_NEVER,
                                 .least_slack = CAUSES_NEVER};
    if (!room_for_slot(s) || !grow((void **)&s->zones, s->n_zones, &s->cap_zones, sizeof key)) return NULL;
    size_t at = (size_t)hash_of_zone(&key) & (s->n_slots - 1);
    for (; s->slots[at]; at = (at + 1) & (s->n_slots - 1)) {
        if (s->slots[at] & OF_WAIT) continue;
        causes_zone_sum *z = &s->zones[s->slots[at] - 1];
        if (z->risc == key.risc && z->site == key.site && z->what == key.what) return z;
    }
    s->slots[at] = (uint32_t)++s->n_zones;
    s->used_slots++;
    s->zones[s->n_zones - 1] = key;
    return &s->zones[s->n_zones - 1];
}

static causes_wait_sum *wait_sum(causes_sums *s, const causes_wait_sum *key)
{
    if (!room_for_slot(s) || !grow((void **)&s->waits, s->n_waits, &s->cap_waits, sizeof *key)) return NULL;
    size_t at = (size_t)hash_of_wait(key) & (s->n_slots - 1);
    for (; s->slots[at]; at = (at + 1) & (s->n_slots - 1)) {
        if (!(s->slots[at] & OF_WAIT)) continue;
        causes_wait_sum *w = &s->waits[(s->slots[at] & ~OF_WAIT) - 1];
        if (w->risc == key->risc && w->by == key->by && w->address == key->address && w->why == key->why &&
            w->state == key->state)
            return w;
    }
    s->slots[at] = (uint32_t)++s->n_waits | OF_WAIT;
    s->used_slots++;
    s->waits[s->n_waits - 1] = *key;
    return &s->waits[s->n_waits - 1];
}

/* ---- The first pass: sums --- */

static bool sum_path(summing *m, const causes_launch *l, causes_launch_sum *sum)
{
    causes_sums *s = m->s;
    for (size_t i = 0; i < m->path.n; i++) {
        const causes_segment *g = &m->path.items[i];
        const uint64_t cycles = g->until - g->from;
        causes_zone_sum *z =
            zone_sum(s, g->what == CAUSES_NOBODY ? 0 : risc_of(s, g->stream), g->what, g->site);
        if (!z) return false;
        z->on_path += cycles;
        z->passes++;
        z->launches += z->last != l->launch;
        z->last = l->launch;
        if (g->what != CAUSES_NOBODY) sum->known += cycles;
        if (g->stream != DL_NONE) sum->stream = g->stream;
    }
    return true;
}

static bool sum_zones(summing *m, const causes_launch *l)
{
    for (uint32_t lane = 0; lane < l->causes->graph->n_lanes; lane++) {
        const causes_risc *r = &l->riscs[lane];
        const uint32_t risc = risc_of(m->s, r->stream);
        for (size_t i = m->parts.first[lane]; i < m->parts.first[lane + 1]; i++) {
            const causes_part *p = &m->parts.items[i];
            if (p->site == DL_NONE) continue;
            causes_zone_sum *z = zone_sum(m->s, risc, CAUSES_IN_ZONE, p->site);
            if (!z) return false;
            z->own += p->until - p->from;
        }
        for (size_t i = 0; i < r->n; i++) {
            if (r->zones[i].record != CAUSES_PLAIN) continue;
            causes_zone_sum *z = zone_sum(m->s, risc, CAUSES_IN_ZONE, r->zones[i].site);
            if (!z) return false;
            const uint64_t slack = causes_slack_of(l->causes, lane, r->zones[i].start, r->zones[i].end);
            z->count++;
            if (slack < z->least_slack) z->least_slack = slack;
        }
    }
    return true;
}

static bool sum_waits(summing *m, const causes_launch *l, causes_launch_sum *sum, const bool *on_path)
{
    const causes *c = l->causes;
    for (uint32_t lane = 0; lane < c->graph->n_lanes; lane++) {
        m->s->wants += l->riscs[lane].waits;
        for (size_t i = 0; i < c->graph->lanes[lane].n; i++) {
            const causes_event *e = &c->graph->lanes[lane].events[i];
            const size_t node = c->first[lane] + 1 + i;
            const causes_node *n = &c->nodes[node];
            if (e->kind != CAUSES_WANT || e->until <= e->at) continue;
            const bool known = n->state == CAUSES_ENDED;
            const causes_wait_sum key = {
                .risc = risc_of(m->s, l->riscs[lane].stream),
                .by = known ? risc_of(m->s, l->riscs[c->nodes[n->give].lane].stream) : 0,
                .address = e->counter == CAUSES_NO_COUNTER ? UINT32_MAX : causes_address(e->counter),
                .why = e->why,
                .state = n->state};
            causes_wait_sum *w = wait_sum(m->s, &key);
            if (!w) return false;
            const uint64_t cycles = e->until - e->at;
            w->count++;
            w->cycles += cycles;
            if (cycles > w->longest) {
                w->longest = cycles;
                w->longest_stream = l->riscs[lane].stream;
                w->longest_launch = l->launch;
            }
            w->on_path += on_path[node];
            sum->waits++;
            sum->waited += cycles;
            sum->unknown += n->state >= CAUSES_UNNAMED;
        }
    }
    return true;
}

static devlog_status add_launch(void *ctx, const causes_launch *l, devlog_error *err)
{
    summing *m = ctx;
    causes_sums *s = m->s;
    const causes *c = l->causes;
    if (!grow((void **)&s->launches, s->n_launches, &s->cap_launches, sizeof *s->launches))
        return no_memory(err);
    causes_launch_sum *sum = &s->launches[s->n_launches];
    *sum = (causes_launch_sum){
        .launch = l->launch, .stream = DL_NONE, .start = c->start, .cycles = c->end - c->start};
    bool *on_path = calloc(c->n, sizeof *on_path);
    for (size_t i = 0; on_path && i < c->n_path; i++)
        on_path[c->path[i].node] = c->path[i].by == CAUSES_BY_GIVE;
    const bool good = on_path && causes_cut(&m->parts, l) && causes_segment_path(&m->path, &m->parts, l) &&
                      sum_path(m, l, sum) && sum_zones(m, l) && sum_waits(m, l, sum, on_path) &&
                      causes_sum_noc(s, &m->parts, l);
    free(on_path);
    if (!good) return no_memory(err);
    s->exact &= c->exact;
    s->cycles += sum->cycles;
    s->known += sum->known;
    if (sum->cycles > s->launches[s->shown].cycles) s->shown = s->n_launches;
    s->n_launches++;
    return DEVLOG_OK;
}

/* ---- The second pass: what it would be worth --- */

static devlog_status gain_of(summing *m, const causes *c, uint64_t *gain, devlog_error *err)
{
    uint64_t end;
    devlog_status status = causes_end_if(c, m->less, &end, err);
    *gain = status ? 0 : c->end - end;
    return status;
}

static devlog_status zone_gains(summing *m, const causes_launch *l, devlog_error *err)
{
    const causes *c = l->causes;
    devlog_status status = DEVLOG_OK;
    for (size_t k = 0; k < m->s->n_zones && k < GAINS_OF_ZONES && !status; k++) {
        causes_zone_sum *z = &m->s->zones[k];
        uint64_t gain;
        bool any = false;
        if (z->what != CAUSES_IN_ZONE || !z->on_path) continue;
        memset(m->less, 0, c->n * sizeof *m->less);
        for (uint32_t lane = 0; lane < c->graph->n_lanes; lane++) {
            if (risc_of(m->s, l->riscs[lane].stream) != z->risc) continue;
            for (size_t i = m->parts.first[lane]; i < m->parts.first[lane + 1]; i++) {
                const causes_part *p = &m->parts.items[i];
                if (p->site != z->site) continue;
                causes_take_out(c, lane, p->from, p->until, m->less);
                any = true;
            }
        }
        if (z->gain == CAUSES_NEVER) z->gain = 0;
        if (!any) continue;
        status = gain_of(m, c, &gain, err);
        z->gain += status ? 0 : gain;
    }
    return status;
}

static devlog_status segment_gains(summing *m, const causes_launch *l, devlog_error *err)
{
    const causes *c = l->causes;
    devlog_status status = DEVLOG_OK;
    for (size_t k = 0; k < GAINS_OF_SEGMENTS && !status; k++) {
        causes_segment *longest = NULL;
        for (size_t i = 0; i < m->path.n; i++) {
            causes_segment *g = &m->path.items[i];
            if (g->what <= CAUSES_NO_ZONE && g->gain == CAUSES_NEVER &&
                (!longest || g->until - g->from > longest->until - longest->from))
                longest = g;
        }
        if (!longest) break;
        memset(m->less, 0, c->n * sizeof *m->less);
        causes_take_out(c, longest->lane, c->start + longest->from, c->start + longest->until, m->less);
        status = gain_of(m, c, &longest->gain, err);
    }
    return status;
}

static devlog_status add_gains(void *ctx, const causes_launch *l, devlog_error *err)
{
    summing *m = ctx;
    if (l->causes->n > m->cap_less) {
        uint64_t *grown = realloc(m->less, l->causes->n * sizeof *grown);
        if (!grown) return no_memory(err);
        m->less = grown;
        m->cap_less = l->causes->n;
    }
    if (!causes_cut(&m->parts, l)) return no_memory(err);
    devlog_status status = zone_gains(m, l, err);
    if (!status && m->launch == m->s->shown) {
        if (!causes_segment_path(&m->path, &m->parts, l)) return no_memory(err);
        status = segment_gains(m, l, err);
        m->s->path = m->path.items;
        m->s->n_path = m->path.n;
        m->path = (causes_segments){0};
    }
    m->launch++;
    return status;
}

/* ---- All --- */

static int most_on_path(const void *a, const void *b)
{
    const causes_zone_sum *x = a, *y = b;
    if (x->on_path != y->on_path) return x->on_path > y->on_path ? -1 : 1;
    if (x->risc != y->risc) return x->risc < y->risc ? -1 : 1;
    if (x->site != y->site) return x->site < y->site ? -1 : 1;
    return x->what - y->what;
}

static int most_cycles(const void *a, const void *b)
{
    const causes_wait_sum *x = a, *y = b;
    if (x->cycles != y->cycles) return x->cycles > y->cycles ? -1 : 1;
    if (x->risc != y->risc) return x->risc < y->risc ? -1 : 1;
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    if (x->why != y->why) return x->why - y->why;
    return x->by < y->by ? -1 : x->by > y->by;
}

static int most_noc(const void *a, const void *b)
{
    const causes_noc_sum *x = a, *y = b;
    if (x->cycles != y->cycles) return x->cycles > y->cycles ? -1 : 1;
    if (x->risc != y->risc) return x->risc < y->risc ? -1 : 1;
    if (x->site != y->site) return x->site < y->site ? -1 : 1;
    if (x->last != y->last) return x->last < y->last ? -1 : 1;
    return x->last_bytes < y->last_bytes ? -1 : x->last_bytes > y->last_bytes;
}

devlog_status causes_sum(causes_sums *s, causes_log *log, dl_decode *d, devlog_error *err)
{
    summing m = {.s = s};
    s->decode = d;
    s->exact = true;
    s->incomplete = causes_log_incomplete(log);
    devlog_status status = causes_log_each(log, add_launch, &m, err);
    free(s->slots); /* what follows changes their places */
    s->slots = NULL;
    if (s->n_zones > 1) qsort(s->zones, s->n_zones, sizeof *s->zones, most_on_path);
    if (s->n_waits > 1) qsort(s->waits, s->n_waits, sizeof *s->waits, most_cycles);
    if (s->n_noc > 1) qsort(s->noc, s->n_noc, sizeof *s->noc, most_noc);
    if (!status) status = causes_log_each(log, add_gains, &m, err);
    causes_parts_free(&m.parts);
    free(m.path.items);
    free(m.less);
    return status;
}

void causes_sums_free(causes_sums *s)
{
    free(s->launches);
    free(s->zones);
    free(s->waits);
    free(s->noc);
    free(s->flows);
    dl_intern_free(s->flow_keys);
    free(s->path);
    free(s->slots);
    *s = (causes_sums){0};
}

devlog_status causes_read(causes_reading *r, const char *path, devlog_error *err)
{
    return causes_read_some(r, path, &(dl_filter){0}, NULL, err);
}

devlog_status causes_read_some(causes_reading *r, const char *path, const dl_filter *filter,
                               const char *elf_folder, devlog_error *err)
{
    const dl_decode_options o = {
        .filter = *filter, .no_samples = true, .only_input = true, .elf_folder = elf_folder};
    devlog_status status = dl_decode_new(&r->d, &o, err);
    if (!status) status = causes_log_new(&r->log, r->d, err);
    if (!status) status = dl_decode_run_sink(r->d, causes_log_sink(r->log), err);
    if (!status) status = dl_decode_file(r->d, path, err);
    if (!status) status = dl_decode_finish(r->d, err);
    return status ? status : causes_sum(&r->sums, r->log, r->d, err);
}

void causes_reading_free(causes_reading *r)
{
    causes_sums_free(&r->sums);
    causes_log_free(r->log);
    dl_decode_free(r->d);
}
