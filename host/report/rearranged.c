/* device_rearranged_timestamps.csv, as the reference decoder of 2023 wrote it: for every chip two lines that
 * say its clock and its number, a header, and a row per core with the stamps of firmware and kernel of each
 * RISC; the stamps of repeated launches share a cell, separated by a blank. */
#include "report/rearranged.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 4 };

static const char *const column_names[COLUMNS] = {"Firmware Start", "Kernel start", "Kernel End",
                                                  "Firmware End"};

/* Stamps of one RISC: the differences of successive ones, which fit in four bytes each. */
typedef struct stamps {
    dl_samples steps[COLUMNS];
    uint64_t last[COLUMNS];
} stamps;

typedef struct state {
    dl_decode *decode;
    stamps **streams; /* by number of the stream; NULL: none yet */
    uint32_t n;
    dl_sample_pool pool;
    char *folder;      /* of the pool's file */
    uint64_t from, to; /* stamps of as many digits as the last */
    unsigned digits;
    _Atomic uint64_t bytes; /* of the file, more or less */
} state;

static devlog_status out_of_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the stamps of default markers");
}

static stamps *stamps_of(state *s, uint32_t stream)
{
    if (stream >= s->n) {
        uint32_t n = s->n ? s->n : 64;
        while (n <= stream)
            n *= 2;
        stamps **grown = realloc(s->streams, n * sizeof(stamps *));
        if (!grown) return NULL;
        memset(grown + s->n, 0, (n - s->n) * sizeof(stamps *));
        s->streams = grown;
        s->n = n;
    }
    stamps *of = s->streams[stream];
    if (of) return of;
    of = s->streams[stream] = calloc(1, sizeof *of);
    for (int c = 0; of && c < COLUMNS; c++)
        of->steps[c].pool = &s->pool;
    return of;
}

/* The column of a kind of marks; COLUMNS: none. */
static int column_of(const dl_kind *kind)
{
    if (kind->type != DL_ROW_ZONE_START && kind->type != DL_ROW_ZONE_END) return COLUMNS;
    bool start = kind->type == DL_ROW_ZONE_START;
    return kind->role == DL_ROLE_FW       ? (start ? 0 : 3)
           : kind->role == DL_ROLE_KERNEL ? (start ? 1 : 2)
                                          : COLUMNS;
}

static bool add(stamps *of, int column, uint64_t time)
{
    uint64_t step = time - of->last[column];
    of->last[column] = time;
    return dl_samples_add(&of->steps[column], step);
}

/* Its marks are one of each default kind that it has, and nothing else. */
static bool is_plain(const dl_run *run)
{
    return run->n_marks == (uint32_t)__builtin_popcount(run->has);
}

static bool add_plain(stamps *of, const dl_run *run)
{
    return (!(run->has & DL_RUN_FW_START) || add(of, 0, run->fw_start)) &&
           (!(run->has & DL_RUN_KERNEL_START) || add(of, 1, run->kernel_start)) &&
           (!(run->has & DL_RUN_KERNEL_END) || add(of, 2, run->kernel_end)) &&
           (!(run->has & DL_RUN_FW_END) || add(of, 3, run->fw_end));
}

/* Notes what the stamps of a run will take in the file. */
static void count_bytes(state *s, const dl_run *run)
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
    const uint64_t now = (uint64_t)__builtin_popcount(run->has) * (s->digits + 1);
    atomic_store_explicit(&s->bytes, atomic_load_explicit(&s->bytes, memory_order_relaxed) + now,
                          memory_order_relaxed); /* only this thread writes it */
}

static uint64_t bytes(const void *p)
{
    return atomic_load_explicit(&((const state *)p)->bytes, memory_order_relaxed);
}

static devlog_status on_runs(void *ctx, const dl_run *runs, size_t n, devlog_error *err)
{
    state *s = ctx;
    const dl_kind *kinds = dl_decode_tables(s->decode)->kinds;
    for (size_t i = 0; i < n; i++) {
        const dl_run *run = &runs[i];
        if (!run->has) continue;
        count_bytes(s, run);
        stamps *of = stamps_of(s, run->stream);
        if (!of) return out_of_memory(err);
        if (is_plain(run)) {
            if (!add_plain(of, run)) return out_of_memory(err);
            continue;
        }
        for (uint32_t k = 0; k < run->n_marks; k++) {
            const dl_mark *m = &run->marks[k];
            int column = column_of(&kinds[dl_mark_kind(m->code)]);
            if (column == COLUMNS) continue;
            if (!add(of, column, m->time)) return out_of_memory(err);
        }
    }
    return DEVLOG_OK;
}

static devlog_status begin(dl_artifacts *set, void **out, devlog_error *err)
{
    state *s = calloc(1, sizeof *s);
    const char *folder = dl_artifacts_get(set)->folder;
    if (!s) return out_of_memory(err);
    *out = s;
    s->decode = dl_artifacts_decode(set);
    /* The stamps of a long log wait where the table will be: in that of its folders that is there already. */
    size_t there = dl_folder_there(folder);
    s->folder = there ? strndup(folder, there) : strdup(".");
    if (!s->folder) return out_of_memory(err);
    s->pool.folder = s->folder;
    return dl_artifacts_runs(set, (dl_run_sink){s, DL_WANT_MARKS, on_runs, true, NULL}, err);
}

static void free_state(void *p)
{
    state *s = p;
    for (uint32_t i = 0; i < s->n; i++) {
        for (int c = 0; s->streams[i] && c < COLUMNS; c++)
            dl_samples_free(&s->streams[i]->steps[c]);
        free(s->streams[i]);
    }
    free(s->streams);
    dl_sample_pool_free(&s->pool);
    free(s->folder);
    free(s);
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

/* One stamp after the other: mostly the first digits are those of the one before. */
static void cell(const stamps *s, int column, dl_file_writer *out)
{
    enum { PREFIX = 12, ROOM = 1 + PREFIX + DL_U64_DIGITS, E8 = 100000000 };
    char prefix[DL_U64_DIGITS];
    size_t n_prefix = 0;
    dl_str *text = &out->buffer;
    dl_sample_walk w;
    uint64_t step, time = 0, base = 1; /* of the prefix; no stamp is near the first */
    dl_sample_walk_start(&w, &s->steps[column]);
    for (bool first = true; dl_sample_walk_next(&w, &step); first = false) {
        time += step;
        if (text->cap - text->len <= ROOM) {
            dl_file_flush(out);
            if (!dl_str_reserve(text, ROOM)) return;
        }
        char *to = text->text + text->len;
        if (!first) *to++ = ' ';
        if (time - base >= E8 || !n_prefix) {
            base = time - time % E8;
            n_prefix = base ? (size_t)(dl_digits(prefix, base / E8) - prefix) : 0;
        }
        if (n_prefix) {
            memcpy(to, prefix, PREFIX);
            to = dl_digits_eight(to + n_prefix, (uint32_t)(time - base));
        } else {
            to = dl_digits(to, time);
        }
        text->len = (size_t)(to - text->text);
    }
    if (text->text) text->text[text->len] = 0;
    dl_file_flush(out);
}

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
static void one_chip(const state *s, const place *places, size_t n, place *riscs, dl_file_writer *out)
{
    memcpy(riscs, places, n * sizeof *riscs);
    qsort(riscs, n, sizeof *riscs, by_risc_only);
    size_t n_riscs = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || by_risc(&riscs[n_riscs - 1], &riscs[i]) != 0) riscs[n_riscs++] = riscs[i];
    header(dl_decode_tables(s->decode), places, riscs, n_riscs, out);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && places[to].x == places[from].x && places[to].y == places[from].y; to++)
            ;
        dl_str_fmt(&out->buffer, "%u,%u", places[from].x, places[from].y);
        size_t at = from;
        for (size_t r = 0; r < n_riscs; r++) {
            bool has = at < to && by_risc(&places[at], &riscs[r]) == 0;
            for (int c = 0; c < COLUMNS; c++) {
                dl_str_char(&out->buffer, ',');
                if (has) cell(s->streams[places[at].stream], c, out);
            }
            at += has;
        }
        dl_str_char(&out->buffer, '\n');
        dl_file_flush(out);
    }
}

static devlog_status write_file(dl_artifacts *set, void *p, dl_file_writer *out, devlog_error *err)
{
    (void)set;
    const state *s = p;
    const dl_tables *t = dl_decode_tables(s->decode);
    size_t n = 0;
    place *places = malloc((s->n + 1) * sizeof *places), *riscs = malloc((s->n + 1) * sizeof *riscs);
    devlog_status status = places && riscs ? DEVLOG_OK : out_of_memory(err);
    for (uint32_t i = 0; i < s->n && !status; i++) {
        const dl_stream *of = &t->streams[i];
        if (!s->streams[i]) continue;
        places[n++] = (place){i,
                              t->chips[of->chip].id,
                              of->core_x,
                              of->core_y,
                              of->risc,
                              of->risc_name,
                              dl_text(t, of->risc_name)};
    }
    if (n) qsort(places, n, sizeof *places, by_core);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && places[to].chip_id == places[from].chip_id; to++)
            ;
        one_chip(s, places + from, to - from, riscs, out);
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
