/* Logs in disorder: marks of one RISC that are neither neighbours nor in order of time, as when somebody
 * sorted a log by another column, or by none. No writer of logs leaves such; they are told by their
 * beginning. Then all marks are held, put in order RISC by RISC, and paired at the end. Not for marks that are
 * out of order within one launch of a RISC (order.c). */
#include <stdlib.h>
#include <string.h>

#include "decode/decode_internal.h"

enum {
    LOOK_BYTES = 512 * 1024,     /* of a log that are looked at */
    LEAST_LATE = 3,              /* marks behind later ones, at least .. */
    ONE_IN = 32,                 /* .. and one in so many */
    MOST_HELD = 8 * 1024 * 1024, /* marks; more are put in order in pieces */
};

/* The last mark of a RISC. */
typedef struct last_mark {
    uint64_t time;
    dl_ids ids;
    bool any;
} last_mark;

/* What is found out about a log: the last mark of each RISC, and how many marks are behind later ones. */
typedef struct disorder {
    last_mark *last; /* by stream */
    uint32_t n;
    uint32_t before; /* stream of the mark before */
    uint64_t marks, late;
} disorder;

static devlog_status look_at_marks(void *ctx, dl_marks *m, bool all, uint32_t *taken, devlog_error *err)
{
    disorder *o = ctx;
    (void)all;
    *taken = m->n;
    for (uint32_t i = 0; i < m->n; i++) {
        const uint64_t code = m->items[i].code, time = m->items[i].time;
        const dl_ids *ids = &dl_mark_frame(m, code)->ids;
        const uint32_t stream = dl_mark_stream(code);
        if (stream >= o->n) {
            uint32_t more = (stream + 64) * 2;
            last_mark *last = realloc(o->last, more * sizeof *last);
            if (!last) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
            memset(last + o->n, 0, (more - o->n) * sizeof *last);
            o->last = last;
            o->n = more;
        }
        last_mark *last = &o->last[stream];
        bool same_ids = last->any && dl_same_ids(&last->ids, ids);
        bool apart = !same_ids || o->before != stream;
        bool later = last->any && dl_order_is_later(last->time, time);
        /* A firmware start may be the first of another run, with another clock. */
        bool starts = code & DL_MARK_FW_START;
        o->late += apart && later && !starts;
        if (!later || !same_ids || starts) *last = (last_mark){time, *ids, true};
        o->before = stream;
    }
    o->marks += m->n;
    return DEVLOG_OK;
}

static devlog_status look_at_chip(void *ctx, const dl_chip_line *chip, devlog_error *err)
{
    disorder *o = ctx;
    (void)chip, (void)err;
    if (o->n) memset(o->last, 0, o->n * sizeof *o->last); /* another run's clock */
    return DEVLOG_OK;
}

bool decode_is_disordered(dl_input *in)
{
    devlog_error unheard;
    dl_tables tables;
    dl_losses losses = {0};
    disorder o = {.before = DL_NONE};
    dl_marks marks = {0};
    dl_block block = {0};
    dl_block_reader reader = {.in = in};
    const dl_parse_sink sink = {&o, look_at_marks, look_at_chip};
    if (dl_tables_init(&tables, &unheard) != DEVLOG_OK) return false;
    dl_input_few(in, 2 * LOOK_BYTES);
    /* A packed or compressed file has more text than bytes. */
    const uint64_t size = dl_input_plain_file(in) >= 0 ? dl_input_size(in) : 0;
    dl_parser *parser = dl_parser_new(&tables, &losses, DL_PARSE_BEST);
    if (parser && dl_block_init(&block, size && size < LOOK_BYTES ? (size_t)size + 1 : LOOK_BYTES)) {
        devlog_status status = DEVLOG_OK;
        dl_parser_begin(parser, "");
        dl_parser_marks(parser, &marks);
        for (size_t seen = 0; seen < LOOK_BYTES && !block.last && !status; seen += block.n) {
            dl_block_read(&reader, &block);
            /* A last block has no whole line. */
            if (!block.last) status = dl_parser_block(parser, block.text, block.n, &sink, &unheard);
        }
    }
    dl_block_free(&block);
    dl_marks_free(&marks);
    dl_parser_free(parser);
    dl_losses_free(&losses);
    dl_tables_free(&tables);
    free(o.last);
    return o.late >= LEAST_LATE && o.late * ONE_IN >= o.marks;
}

/* Marks by stream, and in the order of the log. */
static int by_stream(const void *a, const void *b)
{
    const dl_placed *x = a, *y = b;
    uint32_t one = dl_mark_stream(x->mark.code), two = dl_mark_stream(y->mark.code);
    if (one != two) return one < two ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Pairs the marks of one stream, which are in order. */
static devlog_status pair_stream(dl_decode *d, const dl_placed *placed, size_t n, devlog_error *err)
{
    dl_marks m = {0};
    uint32_t taken;
    bool made = true;
    for (size_t i = 0; i < n && made; i++)
        made = dl_marks_add(&m, &d->run, placed[i].place, 1);
    devlog_status status = made ? dl_pair_marks(d->pair, &m, 0, m.n, true, false, &taken, err)
                                : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    dl_marks_free(&m);
    return status;
}

devlog_status decode_sorted(dl_decode *d, devlog_error *err)
{
    const size_t n = d->run.n;
    devlog_status status = DEVLOG_OK;
    if (n == 0) return DEVLOG_OK;
    dl_placed *placed = malloc(n * sizeof *placed);
    if (!placed) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < n; i++)
        placed[i] = (dl_placed){d->run.items[i], i, false};
    qsort(placed, n, sizeof *placed, by_stream);
    for (size_t from = 0, to; from < n && !status; from = to) {
        const uint32_t stream = dl_mark_stream(placed[from].mark.code);
        for (to = from + 1; to < n && dl_mark_stream(placed[to].mark.code) == stream;)
            to++;
        dl_order_sort(d->tables.kinds, placed + from, to - from);
        status = pair_stream(d, placed + from, to - from, err);
    }
    free(placed);
    dl_marks_clear(&d->run);
    return status;
}

static devlog_status hold_marks(void *ctx, dl_marks *m, bool all, uint32_t *taken, devlog_error *err)
{
    dl_decode *d = ctx;
    (void)all;
    *taken = m->n;
    if (!dl_marks_add(&d->run, m, 0, m->n)) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    return d->run.n >= MOST_HELD ? decode_sorted(d, err) : DEVLOG_OK;
}

static devlog_status chip_line(void *ctx, const dl_chip_line *chip, devlog_error *err)
{
    devlog_status status = decode_sorted(ctx, err);
    return status ? status : decode_chip_line(ctx, chip, err);
}

dl_parse_sink decode_disorder_sink(dl_decode *d)
{
    dl_marks_clear(&d->run);
    return (dl_parse_sink){d, hold_marks, chip_line};
}
