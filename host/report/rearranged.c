/* device_rearranged_timestamps.csv, as the reference decoder of 2023 wrote it: for every chip two lines that
 * say its clock and its number, a header, and a row per core with the stamps of firmware and kernel of each
 * RISC; the stamps of repeated launches share a cell, separated by a blank. */
#include "report/rearranged.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = DL_STAMP_COLUMNS };

static const char *const column_names[COLUMNS] = {"Firmware Start", "Kernel start", "Kernel End",
                                                  "Firmware End"};

typedef struct state {
    dl_decode *decode;
    dl_stamps *stamps;
    bool given;   /* they are not ours */
    char *folder; /* in which ours wait */
    const dl_artifacts_far *far;
} state;

static devlog_status out_of_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the stamps of default markers");
}

static uint64_t bytes(const void *p)
{
    return dl_stamps_bytes(((const state *)p)->stamps);
}

static devlog_status begin(dl_artifacts *set, void **out, devlog_error *err)
{
    state *s = calloc(1, sizeof *s);
    const dl_artifacts_options *o = dl_artifacts_get(set);
    if (!s) return out_of_memory(err);
    *out = s;
    s->decode = dl_artifacts_decode(set);
    s->stamps = o->stamps;
    s->given = o->stamps != NULL;
    s->far = o->far;
    if (s->given) return DEVLOG_OK;
    /* The stamps of a long log wait where the table will be: in that of its folders that is there already. */
    size_t there = dl_folder_there(o->folder);
    s->folder = there ? strndup(o->folder, there) : strdup(".");
    if (!s->folder) return out_of_memory(err);
    devlog_status status = dl_stamps_new(&s->stamps, s->decode, s->folder, err);
    return status ? status : dl_artifacts_runs(set, dl_stamps_sink(s->stamps), err);
}

static void free_state(void *p)
{
    state *s = p;
    if (!s->given) dl_stamps_free(s->stamps);
    free(s->folder);
    free(s);
}

dl_stamps *dl_rearranged_stamps(const void *p)
{
    return ((const state *)p)->stamps;
}

typedef struct place {
    uint32_t stream, chip_id;
    uint16_t x, y;
    dl_risc risc;
    uint32_t risc_name;
    const char *name;
} place;

static int by_risc(const place *a, const place *b)
{
    if (a->risc != b->risc) return a->risc < b->risc ? -1 : 1;
    return a->risc_name == b->risc_name ? 0 : strcmp(a->name, b->name);
}

static int by_core(const void *pa, const void *pb)
{
    const place *a = pa, *b = pb;
    if (a->chip_id != b->chip_id) return a->chip_id < b->chip_id ? -1 : 1;
    if (a->y != b->y) return a->y < b->y ? -1 : 1;
    if (a->x != b->x) return a->x < b->x ? -1 : 1;
    return by_risc(a, b);
}

static int by_risc_only(const void *a, const void *b)
{
    return by_risc(a, b);
}

/* ---- Cells ----------------------------------------------------------------------------------------------- */

/* The digits of all numbers of four: there are as many stamps in the table as zones in a log. */
static char fours[10000][4];

static void make_fours(void)
{
    for (uint32_t i = 0; i < 10000; i++)
        dl_digits_fixed(fours[i], i, 4);
}

void dl_stamp_text_start(dl_stamp_text *t, const dl_stamp_column *c, bool first)
{
    static pthread_once_t made = PTHREAD_ONCE_INIT;
    pthread_once(&made, make_fours);
    *t = (dl_stamp_text){.first = first, .base = 1};
    dl_stamp_walk_start(&t->walk, c);
}

enum { E8 = 100000000, PREFIX = 16 }; /* PREFIX: bytes that are copied, as one word */

/* Stamps that are near the base, up to `most`, from steps that are at hand. Returns the place behind. */
static char *fill_near(dl_stamp_text *t, uint64_t most, char *to, uint64_t *written)
{
    dl_sample_walk *steps = &t->walk.steps;
    const uint64_t left = steps->at ? (uint64_t)(steps->end - steps->at) : 0;
    const uint32_t *at = steps->at, *const end = left > most ? at + most : steps->end;
    uint64_t last = t->walk.time - t->base; /* eight digits */
    for (; at < end; at++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): without steps `end` is `at` */
        const uint64_t next = last + *at;
        if (next >= E8) break; /* so are those that are wide */
        last = next;
        memcpy(to, t->prefix, PREFIX);
        to += t->n_prefix;
        memcpy(to, fours[(uint32_t)last / 10000], 4);
        memcpy(to + 4, fours[(uint32_t)last % 10000], 4);
        to += 8;
    }
    *written = (uint64_t)(at - steps->at);
    steps->at = at;
    t->walk.time = t->base + last;
    return to;
}

/* One stamp after the other: mostly the first digits are those of the one before. */
size_t dl_stamp_text_fill(dl_stamp_text *t, uint64_t most, char *out, size_t room, uint64_t *written)
{
    char *to = out;
    uint64_t time, n = 0;
    for (size_t left; n < most && (left = (room - (size_t)(to - out)) / DL_STAMP_ROOM) > 0; n++) {
        if (t->n_prefix && !t->walk.begins) {
            uint64_t near;
            to = fill_near(t, most - n < left ? most - n : left, to, &near);
            n += near;
            if (n == most || near == left) break;
        }
        if (!dl_stamp_walk_next(&t->walk, &time)) break;
        if (time - t->base >= E8 || !t->n_prefix) {
            t->base = time - time % E8;
            const bool common =
                t->base && t->base < UINT64_MAX - E8; /* it is no prefix of what is behind the end of time */
            t->n_prefix = common ? (size_t)(dl_digits(t->prefix + 1, t->base / E8) - t->prefix) : 0;
            t->prefix[0] = ' ';
        }
        if (!t->first) *to++ = ' ';
        t->first = false;
        to = dl_digits(to, time);
    }
    *written = n;
    return (size_t)(to - out);
}

/* Stamps that are here, up to `most`. */
static void put_here(dl_stamp_text *t, uint64_t most, dl_file_writer *out)
{
    enum { ROOM = 4096 };
    dl_str *text = &out->buffer;
    for (uint64_t written = 1; written && most; most -= written) {
        if (!dl_str_reserve(text, ROOM)) return;
        text->len += dl_stamp_text_fill(t, most, text->text + text->len, text->cap - text->len, &written);
        text->text[text->len] = 0;
        dl_file_flush(out);
    }
}

static devlog_status cell(const state *s, uint32_t stream, int column, dl_file_writer *out, devlog_error *err)
{
    const dl_stamp_column *c = &dl_stamps_row(s->stamps, stream)->columns[column];
    dl_stamp_text text;
    uint64_t here = 0;
    dl_stamp_text_start(&text, c, true);
    for (uint32_t i = 0; i < c->n_far; i++) {
        const dl_far_stamps *far = &c->far[i];
        put_here(&text, far->after - here, out);
        here = far->after;
        const dl_stamp_place there = {far->part, stream, (uint32_t)column, text.first, dl_file_written(out)};
        if (!s->far) return dl_fail(err, DEVLOG_ERR_ARGUMENT, "stamps are elsewhere");
        devlog_status status = s->far->place(s->far->ctx, &there, err);
        if (status) return status;
        dl_file_skip(out, far->bytes - text.first);
        text.first = false;
    }
    put_here(&text, UINT64_MAX, out);
    return DEVLOG_OK;
}

/* ---- The table ------------------------------------------------------------------------------------------- */

static void header(const dl_tables *t, const place *first, const place *riscs, size_t n_riscs,
                   dl_file_writer *out)
{
    char mhz[DL_GROUPED_SIZE];
    const dl_chip *chip = &t->chips[t->streams[first->stream].chip];
    dl_str_fmt(&out->buffer, "Clock Frequency [MHz],%s\nPCIe slot,%u\ncore x,core y",
               dl_mhz_text(mhz, chip->freq_khz), chip->id);
    for (size_t r = 0; r < n_riscs; r++) {
        for (int c = 0; c < COLUMNS; c++) {
            dl_str name = {0};
            dl_str_fmt(&name, "%s %s", riscs[r].name, column_names[c]);
            dl_str_char(&out->buffer, ',');
            if (!name.failed) dl_str_csv(&out->buffer, name.text, name.len);
            out->buffer.failed |= name.failed;
            dl_str_free(&name);
        }
    }
    dl_str_char(&out->buffer, '\n');
}

/* The places of one chip, sorted by core. `riscs` has room for as many. */
static devlog_status one_chip(const state *s, const place *places, size_t n, place *riscs,
                              dl_file_writer *out, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    memcpy(riscs, places, n * sizeof *riscs);
    qsort(riscs, n, sizeof *riscs, by_risc_only);
    size_t n_riscs = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || by_risc(&riscs[n_riscs - 1], &riscs[i]) != 0) riscs[n_riscs++] = riscs[i];
    header(dl_decode_tables(s->decode), places, riscs, n_riscs, out);
    for (size_t from = 0, to; from < n && !status; from = to) {
        for (to = from; to < n && places[to].x == places[from].x && places[to].y == places[from].y; to++)
            ;
        dl_str_fmt(&out->buffer, "%u,%u", places[from].x, places[from].y);
        size_t at = from;
        for (size_t r = 0; r < n_riscs && !status; r++) {
            bool has = at < to && by_risc(&places[at], &riscs[r]) == 0;
            for (int c = 0; c < COLUMNS && !status; c++) {
                dl_str_char(&out->buffer, ',');
                if (has) status = cell(s, places[at].stream, c, out, err);
            }
            at += has;
        }
        dl_str_char(&out->buffer, '\n');
        dl_file_flush(out);
    }
    return status;
}

static devlog_status write_file(dl_artifacts *set, void *p, dl_file_writer *out, devlog_error *err)
{
    (void)set;
    const state *s = p;
    const dl_tables *t = dl_decode_tables(s->decode);
    const uint32_t n_streams = dl_stamps_n(s->stamps);
    size_t n = 0;
    place *places = malloc((n_streams + 1) * sizeof *places),
          *riscs = malloc((n_streams + 1) * sizeof *riscs);
    devlog_status status = places && riscs ? DEVLOG_OK : out_of_memory(err);
    for (uint32_t i = 0; i < n_streams && !status; i++) {
        if (!dl_stamps_row(s->stamps, i)) continue;
        const dl_stream *of = &t->streams[i];
        places[n++] = (place){i,
                              t->chips[of->chip].id,
                              of->core_x,
                              of->core_y,
                              of->risc,
                              of->risc_name,
                              dl_text(t, of->risc_name)};
    }
    if (n) qsort(places, n, sizeof *places, by_core);
    for (size_t from = 0, to; from < n && !status; from = to) {
        for (to = from; to < n && places[to].chip_id == places[from].chip_id; to++)
            ;
        status = one_chip(s, places + from, to - from, riscs, out, err);
    }
    free(places);
    free(riscs);
    return status;
}

const dl_artifact dl_artifact_rearranged = {
    .file = "device_rearranged_timestamps.csv",
    .begin = begin,
    .write = write_file,
    .free = free_state,
    .bytes = bytes,
};
