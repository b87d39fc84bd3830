/* Pairing straight from the words of records: the ordinary zones of one RISC and launch when statistics are
 * all that is wanted. The caller has made sure that the records are whole, in order and between the marks of
 * the launch (raw_check.c), so a record here is what a row would be in pair_quick.c. What is not ordinary
 * becomes a row, or is left to the caller. */
#include "decode/pair/pair_records.h"

#include "decode/pair/pair_internal.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

bool dl_pair_takes_records(const dl_pair *p)
{
    return !p->filter && !p->out.sink.runs && !p->subtract_cost;
}

bool dl_pair_records_begin(dl_pair *p, dl_pair_run *run, uint64_t first, uint64_t until)
{
    const dl_row *row = &run->row;
    stream_state *s = row->stream < p->n_streams ? p->streams[row->stream] : NULL;
    const dl_ids ids = {row->run_host_id, row->run_id, row->trace_id, row->trace_counter, row->has_launch};
    if (!s || s->limit != CLOCK_LIMIT || !dl_same_ids(&ids, &s->ids)) return false;
    if (until + s->epoch < first + s->epoch) return false; /* goes through 0 */
    /* Every row up to `until` is as expected, whichever of them was the one before it. */
    if (s->last != first + s->epoch || until - first >= CLOCK_LIMIT) return false;
    run->stream = s;
    return true;
}

/* What a record of each shape cost its RISC, as dl_pair_spend has it. */
static void costs_of(const stream_state *s, uint64_t costs[RAW_SHAPES])
{
    static const uint8_t kinds[RAW_SHAPES] = {
        [RAW_START] = DEVLOG_KIND_ZONE,      [RAW_END] = DEVLOG_KIND_ZONE_END,
        [RAW_EVENT] = DEVLOG_KIND_EVENT,     [RAW_VALUE32] = DEVLOG_KIND_VALUE32,
        [RAW_COUNTER] = DEVLOG_KIND_COUNTER, [RAW_VALUE64] = DEVLOG_KIND_VALUE64,
    };
    for (int i = 0; i < RAW_SHAPES; i++)
        costs[i] = s->costs && kinds[i] ? s->costs->marker[kinds[i]] : 0;
    uint32_t behind = s->costs ? s->costs->marker[DEVLOG_KIND_COMPLETE] - s->costs->marker[0] : 0;
    if (s->costs) costs[RAW_COMPLETE] = (uint64_t)s->costs->marker[0] + behind;
}

/* Adds a zone to the statistics of its key. False, with nothing done, when its chunk is full or it is long.
 */
ALWAYS_INLINE bool count(dl_key *k, uint64_t start, uint64_t cycles, bool samples)
{
    if (cycles >= DL_WIDE) return false;
    if (!samples) {
        dl_key_count(k, start, cycles);
        return true;
    }
    if (k->samples.at == k->samples.limit) return false;
    *k->samples.at++ = (uint32_t)cycles;
    return true;
}

/* Counts an event or a value. */
static void count_point(dl_pair *p, const dl_pair_run *run, uint8_t shape, const uint32_t *w, uint64_t time)
{
    const dl_kind kind = {.site = run->sites->of_code[w[0] & 0xFFF] - 1,
                          .type = shape == RAW_EVENT ? DL_ROW_TS_EVENT : DL_ROW_TS_DATA,
                          .cost = shape == RAW_COUNTER ? DEVLOG_KIND_COUNTER : 0};
    const dl_rare rare = {.data = shape == RAW_EVENT     ? 0
                                  : shape == RAW_VALUE64 ? w[2] | (uint64_t)w[3] << 32
                                                         : w[2]};
    const pair_mark m = {.kind = &kind, .rare = &rare, .stream = run->row.stream, .line = run->row.line};
    dl_pair_count_point(p, &m, time, run->stream->launch);
}

/* Takes records from the front of words[0..n) as long as they are ordinary; returns how many words. What
 * changes with every record is in variables, for the processor would wait for it to come back from memory. */
ALWAYS_INLINE uint32_t stretch(dl_pair *p, dl_pair_run *run, const uint32_t *words, uint32_t n,
                               uint64_t *rows, bool samples)
{
    stream_state *s = run->stream;
    const raw_sites *sites = run->sites;
    const uint64_t add = run->add + s->epoch;
    const uint32_t launch = s->launch, line = run->row.line;
    const uint32_t *w = words, *const end = words + n;
    open_zone *const bottom = s->open, *const limit = bottom + s->cap_open, *top = bottom + s->n_open;
    uint64_t time = s->last, spent = 0, n_rows = 0, n_records = 0, costs[RAW_SHAPES];
    costs_of(s, costs);
    if (s->too_deep) return 0; /* by rows, one by one */
    while (end - w >= 2) {
        uint32_t code = w[0] & 0xFFF;
        uint8_t shape = sites->shape[code] & RAW_SHAPE;
        if (shape == RAW_START) {
            uint32_t site = sites->of_code[code] - 1;
            dl_key *key = dl_pair_known_key(s, site);
            if (!key || top == limit) break;
            time = record_zone_stamp(w) + add;
            *top++ = (open_zone){.start = time, .key = key, .site = site, .launch = launch, .line = line};
            w += 2;
        } else if (shape == RAW_END) {
            uint64_t at = record_zone_stamp(w) + add;
            const open_zone *z = top - 1;
            if (top == bottom || z->site != sites->of_code[code - 1] - 1 || z->orphan || z->launch != launch)
                break;
            if (!count(z->key, z->start, at - z->start, samples)) break;
            time = at;
            top--;
            w += 2;
        } else if (shape == RAW_COMPLETE && end - w >= 3) {
            uint64_t at = record_stamp(w) + add;
            uint32_t cycles = w[1] - w[2];
            dl_key *key = dl_pair_known_key(s, sites->of_code[code] - 1);
            if (!key || top == limit || !count(key, at - cycles, cycles, samples)) break;
            time = at;
            n_rows++; /* one more */
            w += 3;
        } else if (raw_words[shape] && end - w >= raw_words[shape]) {
            time = record_stamp(w) + add;
            count_point(p, run, shape, w, time);
            w += raw_words[shape];
        } else {
            break;
        }
        spent += costs[shape];
        n_records++;
        n_rows++;
    }
    uint32_t taken = (uint32_t)(w - words);
    if (taken) run->last = time - s->epoch;
    s->last = time;
    s->n_open = (uint16_t)(top - bottom);
    s->spent += spent;
    s->spent_on_records += spent;
    s->records += n_records;
    *rows += n_rows;
    return taken;
}

/* The record at w[0], whose shape is known, by the general path. */
static devlog_status by_rows(dl_pair *p, dl_pair_run *run, const uint32_t *w, uint8_t shape,
                             devlog_error *err)
{
    uint32_t code = w[0] & 0xFFF, site = run->sites->of_code[shape == RAW_END ? code - 1 : code] - 1;
    uint64_t time = record_stamp(w) + run->add;
    dl_row start = run->row;
    start.time = time;
    start.site = site;
    start.timer_id = raw_timer_id(site);
    dl_row end = start;
    start.type = DL_ROW_ZONE_START;
    end.type = DL_ROW_ZONE_END;
    end.timer_id++;
    if (shape == RAW_COMPLETE) start.time -= w[1] - w[2];
    start.cost = shape == RAW_COMPLETE ? DEVLOG_KIND_COMPLETE : DEVLOG_KIND_ZONE;
    end.cost = shape == RAW_COMPLETE ? DEVLOG_KIND_COMPLETE : DEVLOG_KIND_ZONE_END;
    devlog_status status = DEVLOG_OK;
    run->last = time;
    p->losses->rows += shape == RAW_COMPLETE ? 2 : 1;
    if (shape != RAW_END) status = dl_pair_rows(p, &start, 1, err);
    if (shape != RAW_START && !status) status = dl_pair_rows(p, &end, 1, err);
    return status;
}

devlog_status dl_pair_records(dl_pair *p, dl_pair_run *run, const uint32_t *words, uint32_t n,
                              uint32_t *taken, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    *taken = 0;
    while (!status) {
        *taken += p->no_samples ? stretch(p, run, words + *taken, n - *taken, &p->losses->rows, false)
                                : stretch(p, run, words + *taken, n - *taken, &p->losses->rows, true);
        uint32_t left = n - *taken;
        uint8_t shape = left >= 2 ? run->sites->shape[words[*taken] & 0xFFF] & RAW_SHAPE : RAW_OTHER;
        if (shape != RAW_START && shape != RAW_END && shape != RAW_COMPLETE) break;
        if (left < raw_words[shape]) break;
        status = by_rows(p, run, words + *taken, shape, err);
        *taken += raw_words[shape];
    }
    return status;
}
