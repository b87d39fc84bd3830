/* Pairing of one run of hits, hit by hit. A run is of one RISC and has one set of launch ids, so what rows
 * are asked one by one (whose state, which launch) is asked once. What is not ordinary becomes rows again,
 * from that hit to the end of its run, and takes the general way; the result is the same. Not for what is
 * rare. */
#include <stdlib.h>
#include <string.h>

#include "decode/order.h"
#include "decode/pair/pair_shape.h"

enum {
    MOST_FRONT = 16,   /* hits before those that are in order; more are put in order as rows */
    MOST_MERGED = 512, /* hits of a run that is merged here */
    MOST_OPEN = SHAPE_DEPTH
};

#define TYPE(x) ((uint64_t)(x) << DL_HIT_TYPE_SHIFT)

typedef struct run {
    const dl_hits *hits;
    uint32_t at, n;
    const dl_hit *sorted; /* in order of time: hits->items + at, or a copy */
    const dl_row *first;  /* frame of the first hit, which alone may name an op */
} run;

/* A zone that has begun in the run. */
typedef struct begun {
    uint64_t start;
    dl_key *key;
    const dl_hit *hit;
} begun;

static devlog_status out_of_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while pairing markers");
}

/* The run as rows, in order; NULL: out of memory. */
static dl_row *rows_of(dl_pair *p, const run *r)
{
    if (r->n > p->cap_run) {
        size_t cap = p->cap_run ? p->cap_run : 64;
        while (cap < r->n)
            cap *= 2;
        dl_row *rows = realloc(p->run, cap * sizeof *rows);
        if (!rows) return NULL;
        p->run = rows;
        p->cap_run = cap;
    }
    dl_hits_rows(r->hits, r->at, r->n, p->run);
    dl_order_rows(p->tables, p->run, r->n, true);
    return p->run;
}

/* Leaves the run to the general way from `from` on, with the zones that are open then. */
__attribute__((noinline)) static devlog_status leave(dl_pair *p, const run *r, stream_state *s,
                                                     const begun *open, unsigned n_open, const dl_hit *from,
                                                     devlog_error *err)
{
    size_t done = (size_t)(from - r->sorted);
    const dl_row *rows = NULL;
    if (done < r->n || r->sorted != r->hits->items + r->at) {
        rows = rows_of(p, r);
        if (!rows) return out_of_memory(err);
    }
    for (unsigned i = 0; i < n_open; i++) {
        uint32_t at = (uint32_t)(open[i].hit - r->sorted);
        uint32_t line = rows ? rows[at].line : dl_hit_frame(r->hits, open[i].hit->code)->line + r->at + at;
        s->open[s->n_open++] = (open_zone){.start = open[i].start,
                                           .key = open[i].key,
                                           .spent = s->spent,
                                           .site = open[i].key->site,
                                           .launch = s->launch,
                                           .line = line};
    }
    return rows ? dl_pair_quick_rows(p, rows + done, r->n - done, err) : DEVLOG_OK;
}

/* How many zones may begin before some end. */
static unsigned room_of(const stream_state *s)
{
    unsigned room = (unsigned)(s->cap_open - s->n_open);
    return room < MOST_OPEN ? room : MOST_OPEN;
}

/* The start of a default zone: whether it is ordinary, and then what it means for the launch. */
static inline bool begin(dl_pair *p, const run *r, stream_state *s, uint64_t code, unsigned n_open,
                         bool same_ids)
{
    if (code & DL_HIT_FW_START) {
        if (n_open) return false;
        dl_pair_begin(p, s, DL_ROLE_FW, r->first);
        return true;
    }
    if ((code & DL_HIT_ROLE) != (uint64_t)DL_ROLE_KERNEL << DL_HIT_ROLE_SHIFT || !same_ids) return false;
    if (s->kernel_seen && s->n_open + n_open == 0) return false; /* begins a launch */
    s->kernel_seen = true;
    return true;
}

static devlog_status pair_run(dl_pair *p, const run *r, stream_state *s, devlog_error *err)
{
    const dl_hit *hit = r->sorted, *const end = hit + r->n;
    const uint64_t epoch = s->epoch;
    uint64_t last = s->last;
    dl_key *started = s->started;
    bool same_ids = dl_pair_has_ids(r->first, s);
    begun open[MOST_OPEN];
    unsigned n_open = 0, room = room_of(s);
    const bool whole = s->n_open == 0 && (hit->code & DL_HIT_FW_START);
    for (; hit < end; hit++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): sorted is full up to n */
        uint64_t time = hit->time + epoch, code = hit->code, type = code & DL_HIT_TYPE;
        uint32_t site = dl_hit_site(code);
        if (time - last >= CLOCK_LIMIT) break;
        if (type == TYPE(DL_ROW_ZONE_START)) {
            /* Mostly the zone that followed this one last time. */
            dl_key *key = started ? started->follows : NULL;
            if (!key || key->site != site) {
                key = dl_pair_known_key(s, site);
                if (!key) break;
                if (started) started->follows = key;
            }
            if (n_open == room) break;
            if (code & DL_HIT_ROLE) {
                if (!begin(p, r, s, code, n_open, same_ids)) break;
                if (code & DL_HIT_FW_START) {
                    same_ids = true;
                    room = room_of(s);
                    dl_pair_note_fw_start(p, s, time);
                }
            } else if (!same_ids) {
                break;
            }
            started = key;
            open[n_open++] = (begun){time, key, hit};
        } else if (!same_ids) {
            break;
        } else if (type == TYPE(DL_ROW_ZONE_END)) {
            dl_key *key;
            uint64_t start;
            if (n_open) {
                key = open[n_open - 1].key;
                start = open[n_open - 1].start;
            } else {
                if (s->n_open == 0) break;
                const open_zone *z = &s->open[s->n_open - 1];
                if (z->orphan || z->launch != s->launch || time < z->start) break;
                key = z->key;
                start = z->start;
            }
            uint64_t cycles = time - start;
            if (key->site != site || cycles >= DL_WIDE) break;
            if (code & DL_HIT_ROLE) {
                if (key->role == DL_ROLE_DROPPED) break;
                if (s->launch == key->next_launch && key->run_samples > 1)
                    key->next_launch += key->step;
                else if (!dl_key_note_launch(key, s->launch))
                    return out_of_memory(err);
                if (key->role == DL_ROLE_FW) dl_pair_note_fw_end(p, s, time);
            }
            if (key->samples.at == key->samples.limit) {
                if (!dl_key_add_sample(key, start, cycles)) return out_of_memory(err);
            } else {
                *key->samples.at++ = (uint32_t)cycles;
            }
            if (n_open)
                n_open--;
            else
                s->n_open--;
        } else if (code & DL_HIT_ROLE) {
            break;
        } else {
            const dl_row point = {.stream = dl_hit_stream(code),
                                  .site = site,
                                  .type = (uint8_t)(type >> DL_HIT_TYPE_SHIFT),
                                  .line = dl_hit_frame(r->hits, code)->line};
            dl_pair_count_point(p, &point, time, s->launch);
        }
        last = time;
    }
    s->last = last;
    s->started = started;
    if (n_open || hit < end) return leave(p, r, s, open, n_open, hit, err);
    if (whole) dl_pair_learn_shape(p, s, r->hits->items + r->at, r->sorted, r->n);
    return DEVLOG_OK;
}

/* Hits with the same stamp, as order.c has it. */
static int rank(const dl_hit *h)
{
    static const uint8_t ranks[] = {
        [DL_ROLE_FW << 3 | DL_ROW_ZONE_START] = 1,
        [DL_ROLE_KERNEL << 3 | DL_ROW_ZONE_START] = 2,
        [DL_ROLE_KERNEL << 3 | DL_ROW_ZONE_END] = 4,
        [DL_ROLE_FW << 3 | DL_ROW_ZONE_END] = 5,
        [31] = 0,
    };
    uint8_t known = ranks[h->code >> DL_HIT_TYPE_SHIFT & 31];
    return known ? known : 3;
}

static inline bool before(const dl_hit *a, const dl_hit *b)
{
    return dl_order_is_later(b->time, a->time) || (a->time == b->time && rank(a) < rank(b));
}

/* Hits that are in order but for `n_front` at the front: sorts those few and merges them with the others.
 * False when their stamps are so far apart that it may be something else than disorder. */
static bool merge(const dl_hit *hits, uint32_t n_front, uint32_t n, dl_hit *to)
{
    dl_hit front[MOST_FRONT];
    const dl_hit *next = hits + n_front, *const end = hits + n, *const sorted = to;
    for (uint32_t i = 0; i < n_front; i++) {
        uint32_t at = i;
        for (; at && before(&hits[i], &front[at - 1]); at--)
            front[at] = front[at - 1];
        front[at] = hits[i];
    }
    for (uint32_t i = 0; i < n_front; i++) {
        while (next < end && before(next, &front[i]))
            *to++ = *next++;
        *to++ = front[i];
    }
    while (next < end)
        *to++ = *next++;
    return sorted[n - 1].time - sorted[0].time < DL_HALF_TORN;
}

devlog_status dl_pair_run(dl_pair *p, const dl_hits *h, uint32_t at, const dl_order_run *of, bool plain,
                          devlog_error *err)
{
    const uint32_t n = of->n, front = of->front;
    dl_hit merged[MOST_MERGED];
    run r = {h, at, n, h->items + at, dl_hit_frame(h, h->items[at].code)};
    uint32_t stream = dl_hit_stream(h->items[at].code);
    stream_state *s = stream < p->n_streams ? p->streams[stream] : NULL;
    bool is_short = of->most - h->items[at].time < DL_HALF_TORN; /* or something in it may be torn */
    bool expected = plain && is_short && s && s->limit == CLOCK_LIMIT && !s->costs && !s->too_deep;
    if (expected && front) {
        expected = front <= MOST_FRONT && n <= MOST_MERGED && merge(r.sorted, front, n, merged);
        r.sorted = merged;
    }
    return expected ? pair_run(p, &r, s, err) : leave(p, &r, s, NULL, 0, r.sorted, err);
}
