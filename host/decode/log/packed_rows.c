/* Rows of a packed block that come as foretold, into marks, many at once. See packed.h; packed.c does the others. */
#include <string.h>

#include "decode/log/packed_internal.h"

static uint64_t number_in(const uint64_t *cells, uint8_t cell, uint64_t absent)
{
    return cell == NO_CELL ? absent : cells[cell];
}

bool dl_packed_frame(dl_packed *k, dl_parser *p, const meaning *m, const uint64_t *cells, uint32_t stream)
{
    const uint64_t run = number_in(cells, m->run_id, 0), host = number_in(cells, m->run_host_id, 0),
                   trace = number_in(cells, m->trace_id, DL_NO_ID),
                   counter = number_in(cells, m->trace_counter, DL_NO_ID);
    k->shape = NO_SHAPE;
    if (run >= DL_NO_ID || (m->trace_id != NO_CELL && trace >= DL_NO_ID) ||
        (m->trace_counter != NO_CELL && counter >= DL_NO_ID))
        return false;
    const dl_ids ids = {.run_host_id = host,
                        .run_id = (uint32_t)run,
                        .trace_id = (uint32_t)trace,
                        .trace_counter = (uint32_t)counter,
                        .has_launch = host || run || trace != DL_NO_ID || counter != DL_NO_ID};
    if (!dl_marks_frame(p->marks, &ids, p->marks->n, (uint32_t)p->line + 1, &k->frame)) return false;
    k->shape = m->shape;
    k->stream = stream;
    return true;
}

/* Whether any number but the stamp differs from that of the row before on its RISC; a template that is ready has no others. */
static bool numbers_move(const pk_template *t)
{
    uint64_t any = 0;
    for (uint32_t i = 1; i < t->n; i++)
        any |= t->differences[i];
    return any != 0;
}

/* Makes the chain behind a template. */
static void make_chain(dl_packed *k, const pk_model *m, uint32_t template, chain *c)
{
    const pk_template *from = &m->templates[template];
    const uint32_t risc = from->risc, shape = k->meanings[template].shape;
    c->version = k->versions[risc];
    c->n = 0;
    while (c->n < CHAIN && !from->moves) {
        const uint32_t next = from->first;
        const pk_template *t = &m->templates[next];
        meaning *mean = &k->meanings[next];
        if (!mean->ready || mean->shape != shape || t->risc != risc || t->older || numbers_move(t)) break;
        k->meanings[template].leads = mean->member = true;
        c->templates[c->n] = (uint16_t)next;
        c->codes[c->n++] = mean->code;
        template = next;
        from = t;
    }
}

/* What dl_packed_foretold has in hand. */
typedef struct cursor {
    const uint8_t *code, *codes_end, *low, *high, *low_end;
    dl_mark *to, *full;
} cursor;

static bool has_row(const cursor *c)
{
    return c->code < c->codes_end && *c->code == PK_FIRST && c->to < c->full && c->low < c->low_end;
}

/* Rows of a chain, of the stream s, as long as each has a stamp behind that of the one before it. Returns how many. */
static uint32_t chained_rows(cursor *at, const chain *c, pk_stream *s, uint64_t of_risc)
{
    const size_t room = (size_t)(at->full - at->to), codes = (size_t)(at->codes_end - at->code),
                 stamps = (size_t)(at->low_end - at->low);
    size_t most = c->n;
    if (most > room) most = room;
    if (most > codes) most = codes;
    if (most > stamps) most = stamps;
    uint64_t time = s->last, before = s->before;
    uint32_t n = 0;
    if (before > time) return 0;
    for (; n < most; n++) {
        const uint32_t high = at->high[n];
        /* Neither before the last stamp, nor PK_IS_FAR. */
        if (at->code[n] != PK_FIRST || high < PK_BIAS >> 8 || high == PK_IS_FAR >> 8) break;
        before = time;
        time += (at->low[n] | high << 8) - PK_BIAS;
        at->to[n] = (dl_mark){time, of_risc | c->codes[n]};
    }
    if (time > DL_PACKED_MOST_TIME) return 0;
    s->last = time;
    s->before = before;
    at->code += n;
    at->low += n;
    at->high += n;
    at->to += n;
    return n;
}

/* The row's numbers, which must be those of the frame in hand, or of a new one; false: it is for others. */
static bool numbers_as_foretold(dl_packed *k, dl_parser *p, const pk_template *t, const meaning *mean,
                                pk_stream *s, uint32_t stream, dl_mark *to)
{
    const bool moved = numbers_move(t);
    if (mean->shape == k->shape && (mean->shape == 0 || (stream == k->stream && !moved))) {
        for (uint32_t i = 1; moved && i < t->n; i++) /* data that nobody wants */
            s->cells[t->cells[i]] += t->differences[i];
        return true;
    }
    uint64_t cells[PK_CELLS];
    memcpy(cells, s->cells, sizeof cells);
    for (uint32_t i = 1; i < t->n; i++)
        cells[t->cells[i]] += t->differences[i];
    const uint32_t n = (uint32_t)(to - p->marks->items);
    p->line += n - p->marks->n;
    p->marks->n = n;
    if (!dl_packed_frame(k, p, mean, cells, stream)) return false;
    memcpy(s->cells, cells, sizeof cells);
    return true;
}

void dl_packed_foretold(dl_packed *k, dl_parser *p, pk_rows *rows)
{
    pk_model *m = rows->model;
    pk_part *codes = &rows->sections[PK_S_CODES], *stamps = &rows->sections[PK_S_STAMP_LOW];
    cursor at = {.code = codes->bytes + codes->at,
                 .codes_end = codes->bytes + codes->n,
                 .low = stamps[0].bytes + stamps->at,
                 .high = stamps[1].bytes + stamps->at,
                 .low_end = stamps[0].bytes + stamps->n,
                 .to = p->marks->items + p->marks->n,
                 .full = p->marks->items + p->marks->cap};
    const uint8_t *const from = at.code;
    if (!m->n_places || !m->n_templates) return;
    uint32_t place = m->place, template = m->template;
    while (has_row(&at)) {
        pk_template *before = &m->templates[template];
        const uint32_t next = before->first, told = *at.low | (uint32_t)*at.high << 8;
        pk_template *t = &m->templates[next];
        meaning *mean = &k->meanings[next];
        const uint32_t here = before->moves ? m->places[place].next : place;
        const uint32_t stream = m->places[here].streams[t->risc];
        if (!mean->ready || told == PK_IS_FAR || !stream || !k->streams[stream - 1]) break;
        pk_stream *s = &m->streams[stream - 1];
        const uint64_t time = pk_stamp_from(t, s) + told - PK_BIAS;
        if (time > DL_PACKED_MOST_TIME || !numbers_as_foretold(k, p, t, mean, s, stream - 1, at.to)) break;
        const uint64_t of_risc = (k->streams[stream - 1] - 1) | k->frame;
        *at.to++ = (dl_mark){time, of_risc | mean->code};
        pk_stamp_is(t, s, time);
        if (before->moves) before->moves = here != place;
        at.code++;
        at.low++;
        at.high++;
        place = here;
        template = next;
        if (mean->member && t->older) dl_packed_break_chains(k, t->risc);
        chain *c = &k->chains[template];
        if (c->version != k->versions[t->risc]) {
            if (k->calm[t->risc]++ < CALM) continue;
            make_chain(k, m, template, c);
        }
        const uint32_t n = chained_rows(&at, c, s, of_risc);
        if (n) template = c->templates[n - 1];
    }
    const uint32_t n = (uint32_t)(at.to - p->marks->items);
    codes->at += (size_t)(at.code - from);
    stamps->at += (size_t)(at.code - from);
    p->line += n - p->marks->n;
    p->marks->n = n;
    m->place = place;
    m->template = template;
    if (at.code != from) m->stream = m->places[place].streams[m->templates[template].risc] - 1u;
}
