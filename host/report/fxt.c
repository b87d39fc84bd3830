/* Fuchsia trace format: Tracy's importer and ui.perfetto.dev read it, and nanoseconds stay whole. Source: fuchsia.dev, "Fuchsia trace
 * format". A process per chip (its launches) and per core, a thread per RISC, as in Chrome JSON (chrome.c); zones are complete events in
 * the order of their start, the longer first. Names of launches are arguments: a viewer keeps each name of a zone, at most 32 Ki of
 * them. Values are counters, called after their core and RISC.
 *
 * Words are 64 bits, the lowest byte first. A record begins with a word that has its type in bits 0-3 and its words in bits 4-15. */
#include <stdio.h>
#include <stdlib.h>

#include "report/export.h"
#include "report/out.h"

enum {
    MOST_WORDS = 4095,
    MOST_STRING = 32000, /* bytes of a text that has a record of its own; its length has 15 bits */
    MOST_TEXT = 8000,    /* of each in another record */
    MOST_STRINGS = 32767 /* numbers are 15 bits, and 0 is the empty one */
};
/* Types of records, events and arguments. */
enum { INITIALIZATION = 1, STRING = 2, EVENT = 4, KERNEL_OBJECT = 7 };
enum { INSTANT = 0, COUNTER = 1, COMPLETE = 4 };
enum { ARG_U64 = 4, ARG_STRING = 6, ARG_KOID = 8 };
enum { OBJECT_PROCESS = 1, OBJECT_THREAD = 2 };

typedef struct record {
    uint64_t words[MOST_WORDS];
    size_t n;
    unsigned arguments;
} record;

typedef struct fxt {
    dl_view *view;
    dl_out out;
    const dl_view_chip *chips;
    const dl_view_core *cores;
    const dl_view_track *tracks;
    const dl_tables *tables;
    uint32_t n_chips, n_cores, n_tracks, n_strings;
    uint16_t *names, *files; /* by site: number of the string; 0: none yet */
    uint16_t *lanes;         /* lanes of a track that have been named */
    record record;           /* in hand */
} fxt;

/* ---- Records ------------------------------------------------------------------------------------------ */

static void put(record *r, uint64_t word)
{
    if (r->n < MOST_WORDS) r->words[r->n++] = word;
}

/* What fits, cut between characters. */
static size_t cut_to(size_t most, const char *text)
{
    size_t n = strnlen(text, most + 1);
    if (n <= most) return n;
    for (n = most; n && ((unsigned char)text[n] & 0xC0) == 0x80; n--)
        ;
    return n;
}

static size_t cut(const char *text)
{
    return cut_to(MOST_TEXT, text);
}

static void put_text(record *r, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i += 8) {
        uint64_t word = 0;
        for (size_t k = 0; k < 8 && i + k < n; k++)
            word |= (uint64_t)(unsigned char)text[i + k] << 8 * k;
        put(r, word);
    }
}

/* A reference to a text that stands in the record. */
static uint64_t inline_text(size_t n)
{
    return n ? 0x8000 | n : 0;
}

static void begin(record *r, uint64_t header)
{
    r->n = r->arguments = 0;
    put(r, header);
}

static void end(fxt *f)
{
    record *r = &f->record;
    r->words[0] |= (uint64_t)r->n << 4;
    for (size_t i = 0; i < r->n; i++) {
        char *to = out_room(&f->out, 8);
        for (int k = 0; k < 8; k++)
            to[k] = (char)(r->words[i] >> 8 * k);
        f->out.len += 8;
    }
}

/* Arguments; their names stand in the record. */
static void add_number(record *r, unsigned type, const char *name, uint64_t value)
{
    const size_t n = cut(name);
    put(r, type | (uint64_t)(2 + (n + 7) / 8) << 4 | inline_text(n) << 16);
    put_text(r, name, n);
    put(r, value);
    r->arguments++;
}

static void add_text(record *r, const char *name, const char *text, uint16_t string)
{
    const size_t n = strlen(name), m = string ? 0 : cut(text);
    put(r, ARG_STRING | (uint64_t)(1 + (n + 7) / 8 + (m + 7) / 8) << 4 | inline_text(n) << 16 |
               (string ? string : inline_text(m)) << 32);
    put_text(r, name, n);
    put_text(r, text, m);
    r->arguments++;
}

/* A text that is used often becomes a number, as long as there are any. */
static uint16_t string_of(fxt *f, const char *text)
{
    const size_t n = cut_to(MOST_STRING, text);
    if (!n || f->n_strings == MOST_STRINGS) return 0;
    begin(&f->record, STRING | (uint64_t)++f->n_strings << 16 | (uint64_t)n << 32);
    put_text(&f->record, text, n);
    end(f);
    return (uint16_t)f->n_strings;
}

/* ---- Processes and threads ------------------------------------------------------------------------------ */

static uint64_t thread_of(const fxt *f, uint32_t track, uint16_t lane)
{
    return 1 + track + (uint64_t)lane * f->n_tracks;
}

static uint64_t process_of(const fxt *f, uint32_t track)
{
    const dl_view_track *t = &f->tracks[track];
    return t->core == DL_NONE ? 1 + t->chip + f->chips[t->chip].first_core : 2 + t->chip + t->core;
}

static void name_object(fxt *f, unsigned kind, uint64_t id, uint64_t process, const char *name)
{
    const size_t n = cut(name);
    record *r = &f->record;
    begin(r, KERNEL_OBJECT | (uint64_t)kind << 16 | inline_text(n) << 24);
    put(r, id);
    put_text(r, name, n);
    if (kind == OBJECT_THREAD) add_number(r, ARG_KOID, "process", process);
    r->words[0] |= (uint64_t)r->arguments << 40;
    end(f);
}

static void name_thread(fxt *f, uint32_t track, uint16_t lane)
{
    const dl_view_track *t = &f->tracks[track];
    dl_str name = {0};
    char title[DL_CHIP_TITLE];
    if (t->core == DL_NONE)
        dl_str_fmt(&name, "%s %s", dl_chip_title(title, f->chips[t->chip].id), t->name);
    else
        dl_str_fmt(&name, "%u,%u %s", f->cores[t->core].x, f->cores[t->core].y, t->name);
    if (lane) dl_str_fmt(&name, " (overlap %u)", lane);
    name_object(f, OBJECT_THREAD, thread_of(f, track, lane), process_of(f, track),
                name.text ? name.text : "?");
    dl_str_free(&name);
}

static void name_all(fxt *f)
{
    char name[64], title[DL_CHIP_TITLE];
    for (uint32_t i = 0; i < f->n_chips; i++) {
        const dl_view_chip *chip = &f->chips[i];
        name_object(f, OBJECT_PROCESS, process_of(f, chip->first_track), 0, chip->name);
        for (uint32_t k = chip->first_core; k < chip->first_core + chip->n_cores; k++) {
            dl_chip_title(title, chip->id);
            if (dl_is_process(chip->id))
                snprintf(name, sizeof name, "%s threads", title);
            else
                snprintf(name, sizeof name, "%s core %u,%u", title, f->cores[k].x, f->cores[k].y);
            name_object(f, OBJECT_PROCESS, process_of(f, f->cores[k].first_track), 0, name);
        }
    }
    for (uint32_t i = 0; i < f->n_tracks; i++)
        name_thread(f, i, 0);
}

/* ---- Events ------------------------------------------------------------------------------------------- */

/* Categories: the first strings. */
static const char *const categories[] = {"zone", "launch", "point"};
enum { CATEGORY_ZONE = 1, CATEGORY_LAUNCH, CATEGORY_POINT };

/* Header, time, process and thread, and a name that stands in the record unless it is a string. */
static void begin_event(fxt *f, unsigned type, const dl_view_item *item, uint16_t string, const char *name)
{
    const size_t n = string ? 0 : cut(name);
    record *r = &f->record;
    const unsigned category = item->kind == DL_VIEW_LAUNCH ? CATEGORY_LAUNCH
                              : item->kind == DL_VIEW_ZONE ? CATEGORY_ZONE
                                                           : CATEGORY_POINT;
    begin(r,
          EVENT | (uint64_t)type << 16 | (uint64_t)category << 32 | (string ? string : inline_text(n)) << 48);
    put(r, item->start);
    put(r, process_of(f, item->track));
    put(r, thread_of(f, item->track, item->lane));
    put_text(r, name, n);
}

static void end_event(fxt *f)
{
    f->record.words[0] |= (uint64_t)f->record.arguments << 20;
    end(f);
}

static void add_common(fxt *f, const dl_view_item *item)
{
    const dl_launches *launches = dl_decode_launches(dl_view_decode(f->view));
    add_number(&f->record, ARG_U64, "cycle", item->cycle);
    if (item->launch < launches->count)
        add_number(&f->record, ARG_U64, "launch", dl_view_launch_id(f->view, item->launch));
}

/* "file:line" of a site, as a string where there is room for one. */
static void add_place(fxt *f, const dl_str *place, uint16_t string)
{
    if (place->len) add_text(&f->record, "loc", place->text, string);
}

static bool place_of(fxt *f, const dl_view_item *item, dl_str *place, uint16_t *string)
{
    const char *file = item->site < f->tables->n_sites ? dl_view_site_file(f->view, item->site) : "";
    *string = 0;
    if (!file[0]) return true;
    dl_str_fmt(place, "%.*s:%u", MOST_TEXT - 16, file, f->tables->sites[item->site].line);
    if (place->failed) return false;
    if (!f->files[item->site]) f->files[item->site] = string_of(f, place->text);
    *string = f->files[item->site];
    return true;
}

static void counter(fxt *f, const dl_view_item *item, const char *name)
{
    const dl_view_track *t = &f->tracks[item->track];
    dl_str full = {0};
    dl_str_fmt(&full, "%u,%u %s %.1000s", f->cores[t->core].x, f->cores[t->core].y, t->name, name);
    begin_event(f, COUNTER, item, 0, full.text ? full.text : name);
    add_number(&f->record, ARG_U64, full.text ? full.text : name, item->data);
    put(&f->record, 1 + item->track); /* counters of one name are told apart by it */
    end_event(f);
    dl_str_free(&full);
}

static devlog_status event(fxt *f, const dl_view_item *item, devlog_error *err)
{
    static const char *const data[] = {
        [DL_VIEW_VALUE] = "value", [DL_VIEW_SUM] = "sum cycles", [DL_VIEW_DROPPED] = "dropped markers"};
    char buffer[32], launch[256];
    const bool zone = item->kind == DL_VIEW_ZONE || item->kind == DL_VIEW_LAUNCH,
               site = item->site < f->tables->n_sites;
    uint16_t name = 0, place_string;
    dl_str place = {0};
    for (; f->lanes[item->track] < item->lane; f->lanes[item->track]++)
        name_thread(f, item->track, (uint16_t)(f->lanes[item->track] + 1));
    if (site && dl_view_site_name(f->view, item->site)[0]) {
        if (!f->names[item->site])
            f->names[item->site] = string_of(f, dl_view_site_name(f->view, item->site));
        name = f->names[item->site];
    }
    if (!place_of(f, item, &place, &place_string)) {
        dl_str_free(&place);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while writing a Fuchsia trace");
    }
    const char *called = item->kind == DL_VIEW_LAUNCH ? "launch" : dl_view_name(f->view, item, buffer);
    const char *text = dl_view_text(f->view, item, 0);
    if (!zone && text && text[0]) { /* a message */
        name = 0;
        called = text;
    }
    begin_event(f, zone ? COMPLETE : INSTANT, item, name, called);
    add_common(f, item);
    add_place(f, &place, place_string);
    if (zone) add_number(&f->record, ARG_U64, "cycles", item->end_cycle - item->cycle);
    if (zone && item->data) add_number(&f->record, ARG_U64, "data", item->data);
    if (zone && text && text[0]) add_text(&f->record, "text", text, 0);
    if (item->kind == DL_VIEW_LAUNCH) {
        dl_view_launch_name(f->view, item->launch, launch);
        add_text(&f->record, "name", launch, 0);
    }
    if (!zone && item->kind != DL_VIEW_POINT) add_number(&f->record, ARG_U64, data[item->kind], item->data);
    if (zone) put(&f->record, item->end);
    end_event(f);
    if (item->kind == DL_VIEW_VALUE && f->tracks[item->track].core != DL_NONE)
        counter(f, item, dl_view_name(f->view, item, buffer));
    dl_str_free(&place);
    return DEVLOG_OK;
}

static devlog_status events(void *ctx, const dl_view_item *items, size_t n, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < n && !status; i++)
        status = event(ctx, &items[i], err);
    return status;
}

devlog_status dl_export_fxt(dl_view *v, const char *path, devlog_error *err)
{
    fxt *f = calloc(1, sizeof *f);
    if (!f) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while writing a Fuchsia trace");
    f->view = v;
    f->tables = dl_decode_tables(dl_view_decode(v));
    f->chips = dl_view_chips(v, &f->n_chips);
    f->cores = dl_view_cores(v, &f->n_cores);
    f->tracks = dl_view_tracks(v, &f->n_tracks);
    f->names = calloc(f->tables->n_sites + 1u, sizeof *f->names);
    f->files = calloc(f->tables->n_sites + 1u, sizeof *f->files);
    f->lanes = calloc(f->n_tracks + 1u, sizeof *f->lanes);
    devlog_status status =
        f->names && f->files && f->lanes
            ? out_open(&f->out, path, err)
            : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while writing a Fuchsia trace");
    if (!status) {
        begin(&f->record,
              UINT64_C(0x0016547846040010) & ~UINT64_C(0xFFF0)); /* its one word is counted by end */
        end(f);
        begin(&f->record, INITIALIZATION);
        put(&f->record, 1000000000); /* ticks a second */
        end(f);
        for (size_t i = 0; i < sizeof categories / sizeof categories[0]; i++)
            (void)string_of(f, categories[i]);
        name_all(f);
        status = dl_view_run(v, DL_VIEW_BY_TRACK, (dl_view_sink){.ctx = f, .items = events}, err);
        status = out_close(&f->out, status, err);
    }
    free(f->names);
    free(f->files);
    free(f->lanes);
    free(f);
    return status;
}
