/* The ordinary records of one RISC and launch: straight to marks, with no more than a look at each code in a
 * table. Not for damage: whoever finds any leaves everything to records.c. */
#include <string.h>

#include "decode/capture/raw_internal.h"

typedef struct quick {
    raw_maker *maker;
    const record_input *in;
    uint64_t top;  /* the bits of all times above those of a stamp */
    uint64_t last; /* time of the record before */
    uint64_t unnamed;
} quick;

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the marks of a launch");
}

/* A record that has no short way: its length in words, or 0 when it must be left to records.c. */
static uint32_t other(quick *q, const uint32_t *w, uint32_t n, devlog_status *status, devlog_error *err)
{
    record_event e;
    uint32_t words = w[1] < RECORD_TORN_WINDOW ? 0 : record_read(q->in, w, n, q->last, &e);
    if (!words || e.time < q->last) return 0;
    const bool zone = e.stall || e.kind == DEVLOG_KIND_COMPLETE;
    if (zone && e.start > e.time) return 0;
    if (zone && e.start < q->last) q->maker->disorder = true;
    q->unnamed += !e.site && !e.stall;
    q->last = e.time;
    *status = raw_add_event(q->maker, &e, err);
    return words;
}

/* The code of a mark with a value. False: out of memory. */
static inline bool with_value(quick *q, const dl_record_code *c, const uint32_t *w, uint64_t *code)
{
    raw_maker *m = q->maker;
    dl_rare rare = {.data = c->words == 4 ? w[2] | (uint64_t)w[3] << 32 : w[2]};
    uint64_t part = m->common & DL_MARK_FRAME;
    if (!m->in->no_meta) rare.meta = c->meta;
    if ((rare.data || rare.meta) && !dl_marks_rare(m->out, &rare, part, &part)) return false;
    *code = c->code | (m->common & DL_MARK_STREAM) | part;
    return true;
}

/* False: something is not ordinary, or *status. What changes with every record is in variables: the processor
 * would wait for it to come back from memory. */
static bool take_span(quick *q, const record_span *span, devlog_status *status, devlog_error *err)
{
    raw_maker *m = q->maker;
    const dl_record_code *codes = m->in->codes->of;
    const uint64_t top = q->top, common = m->common;
    const uint32_t *w = span->words, *const end = w + span->n;
    if (!dl_marks_room(m->out, span->n)) { /* no mark has less than a word */
        *status = no_memory(err);
        return false;
    }
    dl_mark *to = m->out->items + m->out->n;
    uint64_t last = q->last, unnamed = 0;
    while (end - w >= 2) {
        const dl_record_code *c = &codes[w[0] & 0xFFF];
        if (c->way == DL_RECORD_ZONE) {
            const uint64_t time = top | record_zone_stamp(w);
            if (time < last || w[1] < RECORD_TORN_WINDOW) return false;
            *to++ = (dl_mark){last = time, c->code | common};
            unnamed++;
            w += 2;
            continue;
        }
        const uint64_t time = top | record_stamp(w);
        if (c->way < DL_RECORD_OTHER && c->way != DL_RECORD_UNKNOWN && end - w >= c->words) {
            if (time < last || w[1] < RECORD_TORN_WINDOW) return false;
            uint64_t code = c->code | common;
            if (c->way == DL_RECORD_COMPLETE) {
                const uint64_t start = time - (w[1] - w[2]);
                if (w[1] - w[2] > time - q->in->from) return false;
                if (start < last) m->disorder = true; /* around other records */
                *to++ = (dl_mark){start, c->start | common};
            } else if (c->way == DL_RECORD_VALUE && !with_value(q, c, w, &code)) {
                *status = no_memory(err);
                return false;
            }
            *to++ = (dl_mark){last = time, code};
            unnamed++;
            w += c->words;
            continue;
        }
        uint32_t n = (uint32_t)(w - span->words), words = 0;
        if (w[0] == 0 && q->in->padded && span == q->in->spans) words = record_padding(span, n);
        if (!words && c->way == DL_RECORD_OTHER) {
            m->out->n = (uint32_t)(to - m->out->items);
            q->last = last;
            words = other(q, w, span->n - n, status, err);
            if (*status || !words) return false;
            if (!dl_marks_room(m->out, (uint32_t)(end - w))) *status = no_memory(err);
            to = m->out->items + m->out->n;
            last = q->last;
        }
        if (!words || *status) return false;
        w += words;
    }
    m->out->n = (uint32_t)(to - m->out->items);
    q->last = last;
    q->unnamed += unnamed;
    return w == end;
}

bool raw_quick(raw_maker *m, const record_input *records, record_losses *losses, devlog_status *status,
               devlog_error *err)
{
    const uint64_t low = (UINT64_C(1) << 52) - 1;
    quick q = {.maker = m, .in = records, .top = records->from & ~low, .last = records->from};
    if (!m->in->codes || !records->until || (records->until & ~low) != q.top) return false;
    for (uint32_t i = 0; i < records->n_spans; i++)
        if (!take_span(&q, &records->spans[i], status, err)) return false;
    if (q.last > records->until) return false;
    if (q.last > m->last_record) m->last_record = q.last;
    /* Without an ELF file all of them are; with one, markers that it does not have are damage. */
    if (!records->elf || records->elf->n_sites == 0) losses->unnamed += (uint32_t)q.unnamed;
    return true;
}
