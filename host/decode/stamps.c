/* Stamps of default markers, while runs come; and those of a log in parts. */
#include "decode/stamps.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "decode/decode.h"

enum { ALL = DL_RUN_FW_START | DL_RUN_KERNEL_START | DL_RUN_KERNEL_END | DL_RUN_FW_END };

struct dl_stamps {
    dl_decode *decode;
    dl_stamp_row **rows; /* by number of the stream; NULL: none yet */
    uint32_t n;
    dl_sample_pool pool, *pools; /* own, and those of parts that have been added */
    uint32_t n_pools;
    uint32_t part;
    uint64_t from, to; /* stamps of as many digits as the last */
    unsigned digits;
    _Atomic uint64_t bytes; /* of the text, more or less */
};

static devlog_status out_of_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the stamps of default markers");
}

devlog_status dl_stamps_new(dl_stamps **out, dl_decode *decode, const char *folder, devlog_error *err)
{
    dl_stamps *s = calloc(1, sizeof *s);
    if (!s) return out_of_memory(err);
    s->decode = decode;
    s->pool.filed.folder = folder;
    *out = s;
    return DEVLOG_OK;
}

void dl_stamps_free(dl_stamps *s)
{
    if (!s) return;
    for (uint32_t i = 0; i < s->n; i++) {
        for (int c = 0; s->rows[i] && c < DL_STAMP_COLUMNS; c++) {
            dl_samples_free(&s->rows[i]->columns[c].steps);
            free(s->rows[i]->columns[c].far);
        }
        free(s->rows[i]);
    }
    free(s->rows);
    dl_sample_pool_free(&s->pool);
    for (uint32_t i = 0; i < s->n_pools; i++)
        dl_sample_pool_free(&s->pools[i]);
    free(s->pools);
    free(s);
}

const dl_stamp_row *dl_stamps_row(const dl_stamps *s, uint32_t stream)
{
    return stream < s->n ? s->rows[stream] : NULL;
}

uint32_t dl_stamps_n(const dl_stamps *s)
{
    return s->n;
}

uint64_t dl_stamps_bytes(const dl_stamps *s)
{
    return atomic_load_explicit(&s->bytes, memory_order_relaxed);
}

uint64_t dl_stamps_filed(const dl_stamps *s)
{
    uint64_t bytes = dl_sample_pool_filed(&s->pool);
    for (uint32_t i = 0; i < s->n_pools; i++)
        bytes += dl_sample_pool_filed(&s->pools[i]);
    return bytes;
}

/* ---- Runs ------------------------------------------------------------------------------------------------ */

static dl_stamp_row *row_of(dl_stamps *s, uint32_t stream)
{
    if (stream >= s->n) {
        uint32_t n = s->n ? s->n : 64;
        while (n <= stream)
            n *= 2;
        dl_stamp_row **grown = realloc(s->rows, n * sizeof(dl_stamp_row *));
        if (!grown) return NULL;
        memset(grown + s->n, 0, (n - s->n) * sizeof(dl_stamp_row *));
        s->rows = grown;
        s->n = n;
    }
    dl_stamp_row *row = s->rows[stream];
    if (row) return row;
    row = s->rows[stream] = calloc(1, sizeof *row);
    for (int c = 0; row && c < DL_STAMP_COLUMNS; c++)
        row->columns[c].steps.pool = &s->pool;
    return row;
}

/* The column of a kind of marks; DL_STAMP_COLUMNS: none. */
static int column_of(const dl_kind *kind)
{
    if (kind->type != DL_ROW_ZONE_START && kind->type != DL_ROW_ZONE_END) return DL_STAMP_COLUMNS;
    bool start = kind->type == DL_ROW_ZONE_START;
    return kind->role == DL_ROLE_FW       ? (start ? DL_STAMP_FW_START : DL_STAMP_FW_END)
           : kind->role == DL_ROLE_KERNEL ? (start ? DL_STAMP_KERNEL_START : DL_STAMP_KERNEL_END)
                                          : DL_STAMP_COLUMNS;
}

static bool add(dl_stamp_row *row, int column, uint64_t time)
{
    dl_stamp_column *c = &row->columns[column];
    const uint64_t step = time - c->last;
    c->last = time;
    if (c->any) return dl_samples_add(&c->steps, step);
    c->first = time;
    return c->any = true;
}

/* The same, as nearly always: it is not the first, not far from the one before it, and there is room. */
static inline bool add_near(dl_stamp_column *c, uint64_t time)
{
    const uint64_t step = time - c->last;
    dl_samples *steps = &c->steps;
    if (step >= DL_WIDE || steps->at == steps->limit) return false; /* which is so before the first, too */
    c->last = time;
    *steps->at++ = (uint32_t)step;
    return true;
}

/* How many of its four default stamps a run has. */
static unsigned n_default(const dl_run *run)
{
    const unsigned has = run->has; /* four bits */
    if (has == ALL) return 4;
    return (has & 1) + (has >> 1 & 1) + (has >> 2 & 1) + (has >> 3);
}

/* Its marks of default kinds are one of each that it has. */
static bool is_plain(const dl_run *run)
{
    return run->once || run->n_marks == n_default(run);
}

static inline bool add_one(dl_stamp_row *row, int column, uint64_t time)
{
    return add_near(&row->columns[column], time) || add(row, column, time);
}

static inline bool add_plain(dl_stamp_row *row, const dl_run *run)
{
    if (run->has == ALL)
        return add_one(row, DL_STAMP_FW_START, run->fw_start) &&
               add_one(row, DL_STAMP_KERNEL_START, run->kernel_start) &&
               add_one(row, DL_STAMP_KERNEL_END, run->kernel_end) &&
               add_one(row, DL_STAMP_FW_END, run->fw_end);
    return (!(run->has & DL_RUN_FW_START) || add_one(row, DL_STAMP_FW_START, run->fw_start)) &&
           (!(run->has & DL_RUN_KERNEL_START) || add_one(row, DL_STAMP_KERNEL_START, run->kernel_start)) &&
           (!(run->has & DL_RUN_KERNEL_END) || add_one(row, DL_STAMP_KERNEL_END, run->kernel_end)) &&
           (!(run->has & DL_RUN_FW_END) || add_one(row, DL_STAMP_FW_END, run->fw_end));
}

static void add_bytes(dl_stamps *s, uint64_t more)
{
    atomic_store_explicit(&s->bytes, atomic_load_explicit(&s->bytes, memory_order_relaxed) + more,
                          memory_order_relaxed); /* only one thread writes it */
}

/* How many bytes each stamp of a run will take in the file. */
static inline unsigned width_of(dl_stamps *s, const dl_run *run)
{
    const uint64_t stamp = run->has & DL_RUN_FW_START ? run->fw_start : run->marks[0].time;
    if (stamp < s->from || stamp >= s->to || !s->digits) {
        char text[DL_U64_DIGITS];
        s->digits = (unsigned)(dl_digits(text, stamp) - text);
        s->to = s->digits < 19 ? 10 : UINT64_MAX;
        for (unsigned i = 1; i < s->digits && s->to != UINT64_MAX; i++)
            s->to *= 10;
        s->from = s->to == UINT64_MAX ? s->to : s->to / 10;
    }
    return s->digits + 1;
}

static bool add_run(dl_stamp_row *row, const dl_run *run, const dl_kind *kinds)
{
    if (is_plain(run)) return add_plain(row, run);
    for (uint32_t k = 0; k < run->n_marks; k++) {
        const dl_mark *m = &run->marks[k];
        int column = column_of(&kinds[dl_mark_kind(m->code)]);
        if (column != DL_STAMP_COLUMNS && !add(row, column, m->time)) return false;
    }
    return true;
}

static devlog_status on_runs(void *ctx, const dl_run *runs, size_t n, devlog_error *err)
{
    dl_stamps *s = ctx;
    const dl_kind *kinds = dl_decode_tables(s->decode)->kinds;
    uint64_t bytes = 0;
    bool good = true;
    for (size_t i = 0; i < n && good; i++) {
        const dl_run *run = &runs[i];
        if (!run->has) continue;
        bytes += (uint64_t)n_default(run) * width_of(s, run);
        dl_stamp_row *row = run->stream < s->n ? s->rows[run->stream] : NULL;
        if (!row) row = row_of(s, run->stream);
        good = row && add_run(row, run, kinds);
    }
    add_bytes(s, bytes);
    return good ? DEVLOG_OK : out_of_memory(err);
}

static bool marks_of(const void *ctx, uint32_t stream, const dl_kind *kind)
{
    (void)ctx, (void)stream;
    return column_of(kind) != DL_STAMP_COLUMNS;
}

dl_run_sink dl_stamps_sink(dl_stamps *s)
{
    return (dl_run_sink){
        .ctx = s, .wants = DL_WANT_MARKS, .runs = on_runs, .apart = true, .marks_of = marks_of};
}

void dl_stamp_walk_start(dl_stamp_walk *w, const dl_stamp_column *c)
{
    *w = (dl_stamp_walk){.time = c->first, .begins = c->any, .any = c->any};
    if (c->any) dl_sample_walk_start(&w->steps, &c->steps);
}

/* ---- A log in parts -------------------------------------------------------------------------------------- */

static uint64_t count_of(const dl_stamp_column *c)
{
    return c->any ? dl_samples_count(&c->steps) + 1 : 0;
}

static bool take_far(dl_stamp_column *to, const dl_stamp_column *from)
{
    if (!from->n_far) return true;
    const uint64_t before = count_of(to);
    dl_far_stamps *far = realloc(to->far, ((size_t)to->n_far + from->n_far) * sizeof *far);
    if (!far) return false;
    to->far = far;
    for (uint32_t i = 0; i < from->n_far; i++) {
        far[to->n_far] = from->far[i];
        far[to->n_far++].after += before;
    }
    return true;
}

static bool take_column(dl_stamp_column *to, dl_stamp_column *from)
{
    if (!take_far(to, from)) return false;
    if (!from->any) return true;
    if (to->any && !dl_samples_add(&to->steps, from->first - to->last)) return false;
    if (!to->any) to->first = from->first;
    to->any = true;
    to->last = from->last;
    return dl_samples_take(&to->steps, &from->steps);
}

/* The stamps stay where they are. */
static bool take_pools(dl_stamps *s, dl_stamps *part)
{
    dl_sample_pool *pools = realloc(s->pools, ((size_t)s->n_pools + part->n_pools + 1) * sizeof *pools);
    if (!pools) return false;
    s->pools = pools;
    for (uint32_t i = 0; i < part->n_pools; i++)
        pools[s->n_pools++] = part->pools[i];
    pools[s->n_pools++] = part->pool;
    part->n_pools = 0;
    part->pool = (dl_sample_pool){0};
    return true;
}

bool dl_stamps_absorb(dl_stamps *s, dl_stamps *part, const dl_absorb_map *map)
{
    if (!take_pools(s, part)) return false;
    for (uint32_t i = 0; i < part->n; i++) {
        dl_stamp_row *from = part->rows[i], *to = from ? row_of(s, map->streams[i]) : NULL;
        if (!from) continue;
        for (int c = 0; to && c < DL_STAMP_COLUMNS; c++)
            if (!take_column(&to->columns[c], &from->columns[c])) return false;
        if (!to) return false;
    }
    add_bytes(s, dl_stamps_bytes(part));
    return true;
}

void dl_stamps_part(dl_stamps *s, uint32_t part)
{
    s->part = part;
}

/* Bytes of the digits of all stamps that are here, and one for each. */
static uint64_t text_bytes(const dl_stamp_column *c)
{
    dl_stamp_walk w;
    uint64_t time, bytes = 0;
    char text[DL_U64_DIGITS];
    uint64_t end = 0, least = 1; /* of stamps with so many digits: */
    unsigned digits = 0;
    dl_stamp_walk_start(&w, c);
    while (dl_stamp_walk_next(&w, &time)) {
        if (time < least || time >= end) {
            digits = (unsigned)(dl_digits(text, time) - text);
            least = digits == 1 ? 0 : 1;
            for (unsigned i = 1; i < digits; i++)
                least *= 10;
            end = digits == 1 ? 10 : digits < 20 ? least * 10 : UINT64_MAX;
        }
        bytes += digits + 1;
    }
    return bytes;
}

static void wire_far(dl_wire *w, dl_stamp_column *c, uint64_t count)
{
    dl_wire_count(w, &c->n_far, UINT32_MAX, 3);
    if (dl_wire_reads(w) && c->n_far && !(c->far = calloc(c->n_far, sizeof *c->far))) w->bad = true;
    if (w->bad) c->n_far = 0;
    for (uint32_t i = 0; i < c->n_far && !w->bad; i++) {
        dl_far_stamps *far = &c->far[i];
        dl_wire_u64(w, &far->after);
        dl_wire_u64(w, &far->bytes);
        dl_wire_u32(w, &far->part);
        if (far->after > count || (i && far->after < far[-1].after) || far->bytes < 2) w->bad = true;
    }
}

/* What is here stays here, and is far there. */
static void leave_column(dl_wire *w, const dl_stamps *s, const dl_stamp_column *c)
{
    dl_far_stamps far = {.bytes = c->any ? text_bytes(c) : 0, .part = s->part};
    dl_stamp_column there = {.far = &far, .n_far = c->any};
    if (c->n_far) w->bad = true; /* once is enough */
    dl_wire_flag(w, &there.any);
    wire_far(w, &there, 0);
}

static void wire_column(dl_wire *w, dl_stamp_column *c)
{
    dl_wire_flag(w, &c->any);
    if (c->any) {
        dl_wire_u64(w, &c->first);
        dl_wire_u64(w, &c->last);
        dl_wire_samples(w, &c->steps);
    }
    wire_far(w, c, count_of(c));
}

/* What has been read counts, too. */
static void count_row(dl_stamps *s, const dl_stamp_row *row)
{
    for (int c = 0; c < DL_STAMP_COLUMNS; c++) {
        const dl_stamp_column *column = &row->columns[c];
        add_bytes(s, text_bytes(column));
        for (uint32_t i = 0; i < column->n_far; i++)
            add_bytes(s, column->far[i].bytes);
    }
}

void dl_stamps_wire(dl_stamps *s, dl_wire *w)
{
    const bool leaves = !dl_wire_reads(w) && w->leaves != DL_WIRE_ALL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        n += s->rows[i] != NULL;
    dl_wire_count(w, &n, DL_MAX_STREAMS, 1 + 2 * DL_STAMP_COLUMNS);
    for (uint32_t i = 0, stream = 0; i < n && !w->bad; i++, stream++) {
        while (!dl_wire_reads(w) && !s->rows[stream])
            stream++;
        dl_wire_below(w, &stream, dl_decode_tables(s->decode)->n_streams);
        if (dl_wire_reads(w) && dl_stamps_row(s, stream)) w->bad = true;
        dl_stamp_row *row = w->bad ? NULL : row_of(s, stream);
        if (!row) w->bad = true;
        for (int c = 0; c < DL_STAMP_COLUMNS && !w->bad; c++) {
            if (leaves)
                leave_column(w, s, &row->columns[c]);
            else
                wire_column(w, &row->columns[c]);
        }
        if (dl_wire_reads(w) && !w->bad) count_row(s, row);
    }
}
