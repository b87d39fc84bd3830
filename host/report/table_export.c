/* Every zone, marker and launch as one line of text: CSV (RFC 4180) and JSON. What does not change from line
 * to line is printed once, into fragments that are copied. */
#include <stdlib.h>

#include "report/export.h"
#include "report/out.h"
#include "report/view_window.h"

enum {
    MOST_IDS = 160, /* four numbers and the next with their keys, and room to copy in words */
    MOST_NUMBERS = 1024,
    MOST_NAMES = 2048, /* of a place, and of a site, whose lines are printed the quick way */
    MOST_LINE = MOST_NUMBERS + 2 * MOST_NAMES,
    PLAIN_KINDS = DL_VIEW_POINT + 1, /* zones and points */
    PLAIN_DEPTHS = 10,               /* in the first lane: their lines end alike */
};

typedef struct table {
    dl_view *view;
    dl_out out;
    bool json, first;
    const dl_view_chip *chips;
    const dl_view_core *cores;
    const dl_view_track *tracks;
    const dl_tables *tables;
    const dl_launches *launches;
    uint32_t n_chips, n_cores, n_tracks;
    out_fragment *places; /* by track: chip, core, RISC */
    out_fragment *begins; /* of lines, with the place: by track, where that has ns, and kind */
    out_fragment *sites;  /* name, file, line */
    bool *has_ns;         /* by track */
    dl_near cycles, ns;   /* stamps */
    uint32_t launch;      /* whose cells `ids` has, and the next's key */
    size_t n_ids;
    char ids[MOST_IDS];
    char ends[PLAIN_DEPTHS][OUT_WORD]; /* of such lines */
    size_t n_end;
} table;

#define KIND(text)                                                                                           \
    {                                                                                                        \
        text, sizeof(text) - 1                                                                               \
    }
static const struct {
    const char *text;
    size_t n;
} kinds[] = {
    [DL_VIEW_ZONE] = KIND("zone"), [DL_VIEW_POINT] = KIND("event"),     [DL_VIEW_VALUE] = KIND("value"),
    [DL_VIEW_SUM] = KIND("sum"),   [DL_VIEW_DROPPED] = KIND("dropped"), [DL_VIEW_LAUNCH] = KIND("launch"),
};

static bool make_place(const table *t, uint32_t track, out_fragment *f)
{
    dl_str s = {0};
    const dl_view_track *at = &t->tracks[track];
    const dl_view_core *core = at->core == DL_NONE ? NULL : &t->cores[at->core];
    uint32_t chip = t->chips[at->chip].id;
    if (t->json) {
        dl_str_fmt(&s, "\",\"chip\":%u", chip);
        if (core) {
            dl_str_fmt(&s, ",\"core_x\":%u,\"core_y\":%u,\"risc\":", core->x, core->y);
            dl_str_json(&s, at->name, strlen(at->name));
        }
    } else {
        dl_str_fmt(&s, ",%u,", chip);
        if (core) dl_str_fmt(&s, "%u,%u,", core->x, core->y);
        dl_str_add(&s, core ? "" : ",,");
        if (core) dl_str_csv(&s, at->name, strlen(at->name));
    }
    return out_keep(f, &s);
}

static bool make_site(const table *t, const dl_view_item *item, out_fragment *f)
{
    dl_str s = {0};
    char buffer[32], launch[256];
    const char *name = dl_view_name(t->view, item, buffer), *file = dl_view_site_file(t->view, item->site);
    uint32_t line = file[0] ? t->tables->sites[item->site].line : 0;
    if (item->kind == DL_VIEW_LAUNCH) {
        dl_view_launch_name(t->view, item->launch, launch);
        name = launch;
    }
    if (t->json) {
        dl_str_add(&s, ",\"name\":");
        dl_str_json(&s, name, strlen(name));
        if (file[0]) {
            dl_str_add(&s, ",\"file\":");
            dl_str_json(&s, file, strlen(file));
            dl_str_fmt(&s, ",\"line\":%u", line);
        }
    } else {
        dl_str_char(&s, ',');
        dl_str_csv(&s, name, strlen(name));
        dl_str_char(&s, ',');
        dl_str_csv(&s, file, strlen(file));
        dl_str_char(&s, ',');
        if (file[0]) dl_str_u64(&s, line);
    }
    return out_keep(f, &s);
}

/* A number: with its key in JSON, behind a comma in CSV; one that is not known has no key, or an empty cell.
 */
#define NUMBER(json, to, key, known, value)                                                                  \
    number(json, to, ",\"" key "\":", sizeof(",\"" key "\":") - 1, known, value)

/* Its key and the comma before it. */
ALWAYS_INLINE char *key_of(const bool json, char *to, const char *key, size_t n)
{
    if (json) return out_copy(to, key, n);
    *to = ',';
    return to + 1;
}

ALWAYS_INLINE char *number(const bool json, char *to, const char *key, size_t n, bool known, uint64_t value)
{
    if (json && !known) return to;
    to = key_of(json, to, key, n);
    if (!known) return to;
    if (value > 9) return dl_digits(to, value);
    *to = (char)('0' + value);
    return to + 1;
}

#define KEY(json, to, key) key_of(json, to, ",\"" key "\":", sizeof(",\"" key "\":") - 1)

/* Many events in a row are of one launch, so what says which one it is is printed once for them. */
static void make_ids(table *t, uint32_t launch)
{
    const dl_launch *l = launch < t->launches->count ? &t->launches->items[launch] : NULL;
    char *to = t->ids;
    to = NUMBER(t->json, to, "launch", l != NULL, l ? dl_view_launch_id(t->view, launch) : 0);
    to = NUMBER(t->json, to, "trace_id", l && l->trace_id != DL_NO_ID, l ? l->trace_id : 0);
    to = NUMBER(t->json, to, "trace_counter", l && l->trace_counter != DL_NO_ID, l ? l->trace_counter : 0);
    to = NUMBER(t->json, to, "op", l && l->op, l ? l->op : 0);
    to = KEY(t->json, to, "start_cycle");
    t->n_ids = (size_t)(to - t->ids);
    t->launch = launch;
}

static char *numbers(table *t, char *to, const dl_view_item *item)
{
    const bool json = t->json;
    const bool interval = item->kind == DL_VIEW_ZONE || item->kind == DL_VIEW_LAUNCH;
    const bool ns = t->has_ns[item->track];
    const bool has_data = item->data || (!interval && item->kind != DL_VIEW_POINT);
    if (t->launch != item->launch) make_ids(t, item->launch);
    to = dl_digits_near(&t->cycles, out_copy_words(to, t->ids, t->n_ids), item->cycle);
    to = NUMBER(json, to, "cycles", interval, item->end_cycle - item->cycle);
    to = ns ? dl_digits_near(&t->ns, KEY(json, to, "start_ns"), item->start)
            : NUMBER(json, to, "start_ns", false, 0);
    to = NUMBER(json, to, "ns", ns && interval, item->end - item->start);
    if (json && has_data) {
        /* As text: a 64-bit number does not survive readers whose numbers are doubles. */
        to = out_copy(to, ",\"data\":\"", 9);
        to = dl_digits(to, item->data);
        *to++ = '"';
    } else {
        to = NUMBER(json, to, "data", has_data, item->data);
    }
    to = NUMBER(json, to, "lane", true, item->lane);
    return NUMBER(json, to, "depth", true, item->depth);
}

/* The beginning of a line, up to what its track says. */
static char *begin_line(const table *t, char *to, uint8_t kind, bool is_first)
{
    if (t->json) to = is_first ? OUT_COPY(to, "\n{\"kind\":\"") : OUT_COPY(to, ",\n{\"kind\":\"");
    return out_copy(to, kinds[kind].text, kinds[kind].n);
}

/* What a kernel printed, and the end of the line. */
static devlog_status end_line(table *t, const dl_view_item *item, devlog_error *err)
{
    const char *said = dl_view_text(t->view, item, 0);
    dl_str s = {0};
    if (!t->json) OUT_LITERAL(&t->out, ",");
    if (said && t->json) OUT_LITERAL(&t->out, ",\"text\":");
    if (said && t->json) dl_str_json(&s, said, strlen(said));
    if (said && !t->json) dl_str_csv(&s, said, strlen(said));
    out_str(&t->out, &s);
    out_bytes(&t->out, t->json ? "}" : "\n", 1);
    const bool failed = s.failed;
    dl_str_free(&s);
    return failed ? dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while writing text") : DEVLOG_OK;
}

/* How the lines of a track's zones and points begin. */
static bool make_begins(const table *t, uint32_t track)
{
    const out_fragment *const place = &t->places[track];
    /* NOLINTNEXTLINE(bugprone-too-small-loop-variable): there are few kinds */
    for (uint8_t kind = 0; kind < PLAIN_KINDS; kind++) {
        char begin[32];
        dl_str s = {0};
        dl_str_add_n(&s, begin, (size_t)(begin_line(t, begin, kind, false) - begin));
        dl_str_add_n(&s, place->text, place->n);
        out_fragment *const kept = &t->begins[track * (size_t)PLAIN_KINDS + kind];
        if (!out_keep(kept, &s)) return false;
        if (kept->n > MOST_NAMES) kept->n = 0; /* so that none is printed the quick way */
    }
    return true;
}

static devlog_status any_line(table *t, const dl_view_item *item, devlog_error *err)
{
    out_fragment one = {0}, *place = &t->places[item->track];
    bool named = item->site < t->tables->n_sites && t->tables->sites[item->site].name;
    out_fragment *site = named ? &t->sites[item->site] : &one;
    bool ok = place->text ||
              (make_place(t, item->track, place) && (!t->has_ns[item->track] || make_begins(t, item->track)));
    if (!ok || (!site->text && !make_site(t, item, site)))
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while writing %s", t->json ? "JSON" : "CSV");
    char *to = out_room(&t->out, MOST_NUMBERS);
    t->out.len += (size_t)(begin_line(t, to, item->kind, t->first) - to);
    t->first = false;
    out_bytes(&t->out, place->text, place->n);
    out_bytes(&t->out, site->text, site->n);
    free(one.text);
    to = out_room(&t->out, MOST_NUMBERS);
    t->out.len += (size_t)(numbers(t, to, item) - to);
    return end_line(t, item, err);
}

/* A number that has just been printed, which may overlap with what is written. */
ALWAYS_INLINE void again(char *to, const char *number)
{
    char copy[DL_NEAR_BYTES];
    memcpy(copy, number, sizeof copy);
    memcpy(to, copy, sizeof copy);
}

/* What any_line() prints of a zone or point that has nothing but what all have, to where there is room for MOST_LINE: the place
 * behind; NULL: it has names that are not known yet, or long. Words and not a struct, of which the compiler would make vectors. */
ALWAYS_INLINE char *plain_line(table *t, const bool json, char *const line, uint32_t track,
                               uint32_t site_number, uint32_t kind, uint32_t depth, uint32_t launch,
                               uint64_t cycle, uint64_t end_cycle, uint64_t from, uint64_t until)
{
    if (kind >= PLAIN_KINDS || depth >= PLAIN_DEPTHS) return NULL;
    const out_fragment *const begin = &t->begins[track * (size_t)PLAIN_KINDS + kind],
                              *const site = &t->sites[site_number];
    const size_t n_begin = begin->n, n_site = site->n; /* 0: not known yet */
    if (!n_begin || n_site - 1 >= MOST_NAMES) return NULL;
    const bool is_zone = kind == DL_VIEW_ZONE, is_same = from == cycle && until == end_cycle;

    char *to = out_copy_words(line, begin->text, n_begin);
    to = out_copy_words(to, site->text, n_site);
    if (t->launch != launch) make_ids(t, launch);
    char *const start = out_copy_words(to, t->ids, t->n_ids);
    to = dl_digits_near(&t->cycles, start, cycle);
    const size_t n_start = (size_t)(to - start);
    if (!is_zone) {
        if (!json) *to++ = ',';
        to = dl_digits_near(&t->ns, KEY(json, to, "start_ns"), from);
        if (!json) *to++ = ',';
    } else if (is_same) { /* ns are cycles, whose digits are there */
        char *const cycles = KEY(json, to, "cycles");
        to = dl_digits_short(cycles, end_cycle - cycle);
        const size_t n_cycles = (size_t)(to - cycles);
        to = KEY(json, to, "start_ns");
        again(to, start);
        to = KEY(json, to + n_start, "ns");
        again(to, cycles);
        to += n_cycles;
    } else {
        to = dl_digits_short(KEY(json, to, "cycles"), end_cycle - cycle);
        to = dl_digits_near(&t->ns, KEY(json, to, "start_ns"), from);
        to = dl_digits_short(KEY(json, to, "ns"), until - from);
    }
    memcpy(to, t->ends[depth], sizeof t->ends[0]);
    return to + t->n_end;
}

ALWAYS_INLINE devlog_status lines(table *t, const dl_view_item *items, size_t n, const bool json,
                                  devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (const dl_view_item *i = items, *behind = items + n; i < behind && !status; i++) {
        char *const line = out_room(&t->out, MOST_LINE);
        char *to = i->data || i->meta || i->lane
                       ? NULL
                       : plain_line(t, json, line, i->track, i->site, i->kind, i->depth, i->launch, i->cycle,
                                    i->end_cycle, i->start, i->end);
        if (to)
            t->out.len += (size_t)(to - line);
        else
            status = any_line(t, i, err);
    }
    return status;
}

static devlog_status csv_lines(void *ctx, const dl_view_item *items, size_t n, devlog_error *err)
{
    return lines(ctx, items, n, false, err);
}

static devlog_status json_lines(void *ctx, const dl_view_item *items, size_t n, devlog_error *err)
{
    return lines(ctx, items, n, true, err);
}

/* What is not printed the quick way; apart, so that this makes no item. */
static __attribute__((noinline)) devlog_status line_of(table *t, const view_window *w, const view_place *p,
                                                       devlog_error *err)
{
    const dl_view_item item = view_window_item(w, p);
    return t->json ? json_lines(t, &item, 1, err) : csv_lines(t, &item, 1, err);
}

ALWAYS_INLINE devlog_status window_lines(table *t, const view_window *w, const bool json, devlog_error *err)
{
    char *to = out_room(&t->out, MOST_LINE), *const full = t->out.text + t->out.cap - MOST_LINE;
    for (const view_place *p = w->places, *behind = p + w->n; p < behind; p++) {
        char *next = NULL;
        if (view_is_of_run(p)) {
            const view_taken *const run = view_taken_of(w, p);
            const view_shape_item *const of = &run->items[p->what];
            const uint64_t end_cycle = run->start + run->stamps[of->end];
            next = plain_line(t, json, to, run->track, of->site, of->kind, of->depth, run->launch, p->cycle,
                              end_cycle, view_taken_time(run, p->cycle), view_taken_time(run, end_cycle));
        }
        if (next) to = next;
        if (next && to <= full) continue;
        t->out.len = (size_t)(to - t->out.text);
        const devlog_status status = next ? DEVLOG_OK : line_of(t, w, p, err);
        if (status) return status;
        to = out_room(&t->out, MOST_LINE);
    }
    t->out.len = (size_t)(to - t->out.text);
    return DEVLOG_OK;
}

static devlog_status csv_window(void *ctx, const view_window *window, devlog_error *err)
{
    return window_lines(ctx, window, false, err);
}

static devlog_status json_window(void *ctx, const view_window *window, devlog_error *err)
{
    return window_lines(ctx, window, true, err);
}

/* How plain lines end. */
static void make_ends(table *t)
{
    for (unsigned i = 0; i < PLAIN_DEPTHS; i++) {
        char *to = t->ends[i];
        to = NUMBER(t->json, to, "data", false, 0);
        to = NUMBER(t->json, to, "lane", true, 0);
        to = NUMBER(t->json, to, "depth", true, i);
        to = t->json ? OUT_COPY(to, "}") : OUT_COPY(to, ",\n");
        t->n_end = (size_t)(to - t->ends[i]);
    }
}

static void json_head(table *t)
{
    OUT_LITERAL(&t->out, "{\"writer\":\"devlog\",\"chips\":[");
    for (uint32_t i = 0; i < t->n_chips; i++) {
        const dl_view_chip *c = &t->chips[i];
        const dl_chip *chip = &t->tables->chips[c->chip];
        out_fmt(&t->out, "%s\n{\"id\":%u,\"freq_khz\":%llu,\"aligned\":%s", i ? "," : "", c->id,
                (unsigned long long)chip->freq_khz, c->aligned ? "true" : "false");
        if (c->aligned) out_fmt(&t->out, ",\"residual_ns\":%llu", (unsigned long long)c->residual_ns);
        if (chip->aiclk_khz) out_fmt(&t->out, ",\"aiclk_khz\":%llu", (unsigned long long)chip->aiclk_khz);
        if (chip->instructions) OUT_LITERAL(&t->out, ",\"cycles_are_instructions\":true");
        if (chip->arch) {
            dl_str arch = {0};
            const char *text = dl_text(t->tables, chip->arch);
            dl_str_json(&arch, text, strlen(text));
            OUT_LITERAL(&t->out, ",\"arch\":");
            out_str(&t->out, &arch);
            dl_str_free(&arch);
        }
        OUT_LITERAL(&t->out, "}");
    }
    OUT_LITERAL(&t->out, "],\n\"events\":[");
}

static void json_foot(table *t)
{
    const dl_losses *l = dl_decode_losses(dl_view_decode(t->view));
    OUT_LITERAL(&t->out, "\n],\n\"losses\":{");
    out_fmt(&t->out, "\"rows\":%llu,\"lines\":%llu,\"zones_without_lane\":%llu", (unsigned long long)l->rows,
            (unsigned long long)l->lines, (unsigned long long)dl_view_left_out(t->view));
    for (int i = DL_SKIP_NONE + 1; i < DL_SKIPS; i++)
        if (l->skipped[i])
            out_fmt(&t->out, ",\"skipped_%s\":%llu", dl_skip_key((dl_skip)i),
                    (unsigned long long)l->skipped[i]);
    for (int i = 0; i < DL_FINDINGS; i++)
        if (l->found[i])
            out_fmt(&t->out, ",\"%s\":%llu", dl_finding_key((dl_finding)i), (unsigned long long)l->found[i]);
    OUT_LITERAL(&t->out, "}}\n");
}

static devlog_status write_table(dl_view *v, const char *path, bool json, devlog_error *err)
{
    table t = {.view = v, .json = json, .first = true};
    t.chips = dl_view_chips(v, &t.n_chips);
    t.cores = dl_view_cores(v, &t.n_cores);
    t.tracks = dl_view_tracks(v, &t.n_tracks);
    t.tables = dl_decode_tables(dl_view_decode(v));
    t.launches = dl_decode_launches(dl_view_decode(v));
    devlog_status status = out_open(&t.out, path, err);
    if (status) return status;
    t.places = calloc(t.n_tracks + 1u, sizeof *t.places);
    t.begins = calloc(t.n_tracks + 1u, PLAIN_KINDS * sizeof *t.begins);
    t.sites = calloc(t.tables->n_sites + 1u, sizeof *t.sites);
    t.has_ns = calloc(t.n_tracks + 1u, sizeof *t.has_ns);
    if (!t.places || !t.begins || !t.sites || !t.has_ns)
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < t.n_tracks && !status; i++)
        t.has_ns[i] = t.chips[t.tracks[i].chip].has_ns;
    make_ends(&t);
    make_ids(&t, DL_NONE);
    if (json)
        json_head(&t);
    else
        OUT_LITERAL(&t.out, "kind,chip,core_x,core_y,risc,name,file,line,launch,trace_id,trace_counter,op,"
                            "start_cycle,cycles,start_ns,ns,data,lane,depth,text\n");
    const dl_view_sink sink = {
        .ctx = &t, .items = json ? json_lines : csv_lines, .window = json ? json_window : csv_window};
    if (!status) status = dl_view_run(v, DL_VIEW_BY_TIME, sink, err);
    if (json) json_foot(&t);
    out_free_fragments(t.places, t.n_tracks);
    out_free_fragments(t.begins, (size_t)t.n_tracks * PLAIN_KINDS);
    out_free_fragments(t.sites, t.tables->n_sites);
    free(t.has_ns);
    return out_close(&t.out, status, err);
}

devlog_status dl_export_csv(dl_view *v, const char *path, devlog_error *err)
{
    return write_table(v, path, false, err);
}

devlog_status dl_export_json(dl_view *v, const char *path, devlog_error *err)
{
    return write_table(v, path, true, err);
}
