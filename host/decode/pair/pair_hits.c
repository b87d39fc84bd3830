/* Pairing of hits, run by run, for when statistics are all that is wanted: runs that look like one before are
 * paired here, as a whole; the others by pair_run.c. */
#include <string.h>

#include "decode/order.h"
#include "decode/pair/pair_shape.h"

#define OF_RUN (DL_HIT_STREAM | DL_HIT_FRAME | DL_HIT_FW_START)

/* The launch ids of a frame are those of the launches found last. */
typedef struct known_ids {
    const dl_row *frame;
    uint32_t last, chip;
    stream_state *stream; /* of the run before */
} known_ids;

static inline shape_step load(const dl_hit *hit)
{
    shape_step step;
    memcpy(&step, hit, sizeof step);
    return step;
}

/* Whether hits have this shape: the codes that it has, of one stream and in one frame but for the first, and
 * stamps in the order that it has. Whether the run ends there is another question. */
static inline bool has_shape(const pair_shape *shape, const dl_hit *hits)
{
    const shape_step but_frame = {UINT64_MAX, DL_HIT_RARE - 1};
    const uint32_t n = shape->n;
    const uint8_t *order = shape->order;
    shape_step before = load(hits + (order ? order[1] : 1));
    shape_step differ = (before - load(hits) - shape->steps[1]) & but_frame;
    for (uint32_t i = 2; i < n; i++) {
        shape_step hit = load(hits + (order ? order[i] : i));
        differ |= hit - before - shape->steps[i];
        before = hit;
    }
    const shape_step first = load(hits), of_code = {0, (DL_HIT_RARE - 1) & ~DL_HIT_STREAM};
    differ |= (before - first) & (shape_step){UINT64_MAX, 0};
    differ |= (first ^ shape->first) & of_code;
    differ &= (shape_step){~UINT64_C(0) << 31, UINT64_MAX};
    return (differ[0] | differ[1]) == 0;
}

/* The launch that a firmware start begins; as dl_pair_begin, with nothing open. */
static inline void begin(dl_pair *p, stream_state *s, const dl_hits *h, uint32_t at, known_ids *known)
{
    dl_launches *l = &p->launches;
    const dl_row *ids = dl_hit_frame(h, h->items[at].code);
    s->run_host_id = ids->run_host_id;
    s->run_id = ids->run_id;
    s->trace_id = ids->trace_id;
    s->trace_counter = ids->trace_counter;
    if (known->frame != ids || known->last != l->last || known->chip != s->chip) {
        bool last = dl_launches_are_last(l, s->chip, p->chip_line.run, ids);
        known->frame = last ? ids : NULL;
        known->last = l->last;
        known->chip = s->chip;
    }
    s->launch = known->frame ? dl_launches_next_of_last(l, s->bit) : DL_NONE;
    if (s->launch == DL_NONE) s->launch = dl_launches_find(l, s->chip, s->bit, p->chip_line.run, ids, true);
    if (s->launch != DL_NONE) return;
    dl_row row;
    dl_hits_rows(h, at, 1, &row);
    dl_pair_lose_launch(p, &row);
}

/* Adds the zones of a run to their statistics; false when out of memory. */
static inline bool count_zones(const stream_state *s, const stream_shape *known, const dl_hit *hits)
{
    const shape_zone *zone = known->shape->zones, *end = zone + known->shape->n_zones;
    const uint32_t launch = s->launch;
    for (dl_key *const *key = known->keys; zone < end; zone++, key++) {
        dl_key *k = *key;
        uint64_t start = hits[zone->start].time, cycles = hits[zone->end].time - start;
        if (zone->tells_launch) {
            if (launch == k->next_launch && k->run_samples > 1)
                k->next_launch += k->step;
            else if (!dl_key_note_launch(k, launch))
                return false;
        }
        if (k->samples.at != k->samples.limit)
            *k->samples.at++ = (uint32_t)cycles;
        else if (!dl_key_add_sample(k, start + s->epoch, cycles))
            return false;
    }
    return true;
}

/* The known shape of these hits; NULL: none of those. */
static inline stream_shape *find_shape(const stream_state *s, const dl_hit *hits, uint32_t n)
{
    stream_shape *expected = s->shape->follows;
    if (expected->shape->n <= n && has_shape(expected->shape, hits)) return expected;
    for (uint32_t i = 0; i < s->n_shapes; i++) {
        stream_shape *known = s->shapes[i];
        if (known == expected || known->shape->n > n || !has_shape(known->shape, hits)) continue;
        s->shape->follows = known;
        return known;
    }
    return NULL;
}

/* What the runs after this one will probably need is on its way when they come: the state of a stream three
 * runs ahead, what it remembers two ahead, statistics one ahead. Each step needs only what the one before it
 * has fetched. */
static inline void fetch_ahead(const stream_state *s)
{
    const stream_state *one = s->next;
    const stream_state *two = one ? one->next : NULL;
    const stream_state *three = two ? two->next : NULL;
    if (!three) return;
    __builtin_prefetch(three);
    __builtin_prefetch((const char *)three + 64);
    __builtin_prefetch(two->shape);
    if (!one->shape) return;
    for (uint32_t i = 0; i < one->shape->n_keys; i++)
        __builtin_prefetch(one->shape->keys[i]);
}

/* How many hits from `at` on are a run of a known shape, which they now are paired by; 0: none, and nothing
 * has been done. */
static inline uint32_t pair_as_before(dl_pair *p, const dl_hits *h, uint32_t at, uint32_t to, bool all,
                                      known_ids *ids, devlog_status *status)
{
    const dl_hit *hits = h->items + at;
    const uint64_t code = hits->code;
    uint32_t stream = dl_hit_stream(code);
    stream_state *s = stream < p->n_streams ? p->streams[stream] : NULL;
    if (!s || !s->shape || s->limit != CLOCK_LIMIT || s->n_open) return 0;
    fetch_ahead(s);
    if (hits->time + s->epoch - s->last >= CLOCK_LIMIT) return 0;
    stream_shape *known = find_shape(s, hits, to - at);
    if (!known) return 0;
    const pair_shape *shape = known->shape;
    uint32_t n = shape->n;
    if (at + n == to) {
        if (!all) return 0;
    } else {
        const dl_hit *after = &hits[n];
        if (!((after->code ^ code) & DL_HIT_STREAM)) {
            bool starts = after->code & DL_HIT_FW_START;
            if (starts && after->time < hits[shape->last].time) return 0; /* it may be of this run */
            const dl_order_run run = {.most = hits[shape->last].time};
            if (!starts && !dl_hits_boundary(&run, h, at + n - 1, h, at + n)) return 0;
        }
    }
    if ((code ^ hits[1].code) & DL_HIT_FRAME) {
        const dl_order_run one = {.n = 1, .most = hits->time}; /* and the second is no start */
        if (dl_hits_boundary(&one, h, at, h, at + 1)) return 0;
    }
    if (hits[1].code & DL_HIT_RARE) return 0;
    begin(p, s, h, at, ids);
    uint64_t from = hits->time + s->epoch, end = hits[shape->fw_end].time + s->epoch;
    if (s->launch != DL_NONE) {
        dl_launch *l = &p->launches.items[s->launch];
        if (from < l->first_fw_start) l->first_fw_start = from;
        if (end > l->last_fw_end) l->last_fw_end = end;
        if (code & DL_HIT_RARE && l->op == 0) l->op = dl_hit_frame(h, code)->op;
    }
    s->fw_start = from;
    s->kernel_seen = shape->has_kernel;
    s->last = hits[shape->last].time + s->epoch;
    s->shape = known;
    if (ids->stream && ids->stream->next != s) ids->stream->next = s;
    ids->stream = s;
    if (!count_zones(s, known, hits)) *status = DEVLOG_ERR_MEMORY;
    for (uint32_t i = 0; i < shape->n_points; i++)
        dl_series_add_empty(&p->series.items[known->series[i]], hits[shape->points[i]].time + s->epoch);
    return n;
}

devlog_status dl_pair_hits(dl_pair *p, const dl_hits *h, uint32_t from, uint32_t to, bool all,
                           uint32_t *taken, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    uint32_t at = from, end;
    known_ids ids = {0};
    for (; at < to && !status; at = end) {
        uint32_t n = pair_as_before(p, h, at, to, all, &ids, &status);
        end = at + n;
        if (n) continue;
        const dl_hit *hits = h->items;
        const dl_row *first = dl_hit_frame(h, hits[at].code);
        bool starts = hits[at].code & DL_HIT_FW_START,
             plain = !first->data && !first->meta && (!first->op || starts);
        uint64_t code = hits[at].code & ~DL_HIT_FW_START;
        dl_order_run run = {0};
        dl_hit_add(&run, &hits[at]);
        for (end = at + 1; end < to && !dl_order_run_is_full(&run); end++) {
            if ((hits[end].code ^ code) & OF_RUN) {
                if (dl_hits_boundary(&run, h, end - 1, h, end)) break;
                const dl_row *frame = dl_hit_frame(h, hits[end].code);
                if (frame->op || frame->data || frame->meta) plain = false;
                code = hits[end].code & ~DL_HIT_FW_START;
            }
            dl_hit_add(&run, &hits[end]);
        }
        if (end == to && !all && !dl_order_run_is_full(&run)) break;
        if (first->op && end > at + 1 && dl_hit_frame(h, hits[at + 1].code)->op) plain = false;
        status = dl_pair_run(p, h, at, &run, plain, err);
    }
    *taken = at - from;
    if (status == DEVLOG_ERR_MEMORY) return dl_fail(err, status, "out of memory while pairing markers");
    return status;
}

bool dl_pair_takes_hits(const dl_pair *p)
{
    return dl_pair_is_quick(p);
}
