/* Every zone, marker and launch as one line of text: CSV (RFC 4180) and JSON. What does not change from line
 * to line is printed once, into fragments that are copied. */
#include <stdlib.h>

#include "report/export.h"
#include "report/out.h"

enum {
    MOST_IDS = 160, /* four numbers with their keys, and room to copy in words */
    MOST_NUMBERS = 1024,
    MOST_NAMES = 4096,
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
    out_fragment *sites;  /* name, file, line */
    bool *has_ns;         /* by track */
    dl_near cycles, ns;   /* stamps */
    uint32_t launch;      /* whose cells `ids` has */
    size_t n_ids;
    bool has_ids;
    char ids[MOST_IDS];
} table;

#define KIND(text)                                                                                           \
    {                                                                                                        \
        text, sizeof(text) - 1                                                                               \
    }
static const struct {
    char text[8]; /* copied as a word */
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

#define STAMP(json, to, key, near, value)                                                                    \
    dl_digits_near(near, key_of(json, to, ",\"" key "\":", sizeof(",\"" key "\":") - 1), value)

/* Many events in a row are of one launch, so what says which one it is is printed once for them. */
static void make_ids(table *t, uint32_t launch)
{
    const dl_launch *l = launch < t->launches->count ? &t->launches->items[launch] : NULL;
    char *to = t->ids;
    to = NUMBER(t->json, to, "launch", l != NULL, l ? dl_view_launch_id(t->view, launch) : 0);
    to = NUMBER(t->json, to, "trace_id", l && l->trace_id != DL_NO_ID, l ? l->trace_id : 0);
    to = NUMBER(t->json, to, "trace_counter", l && l->trace_counter != DL_NO_ID, l ? l->trace_counter : 0);
    to = NUMBER(t->json, to, "op", l && l->op, l ? l->op : 0);
    t->n_ids = (size_t)(to - t->ids);
    t->launch = launch;
    t->has_ids = true;
}

ALWAYS_INLINE char *numbers(table *t, char *to, const dl_view_item *item, const bool json)
{
    const bool interval = item->kind == DL_VIEW_ZONE || item->kind == DL_VIEW_LAUNCH;
    const bool ns = t->has_ns[item->track];
    const bool has_data = item->data || (!interval && item->kind != DL_VIEW_POINT);
    if (!t->has_ids || t->launch != item->launch) make_ids(t, item->launch);
    to = out_copy_words(to, t->ids, t->n_ids);
    to = STAMP(json, to, "start_cycle", &t->cycles, item->cycle);
    to = NUMBER(json, to, "cycles", interval, item->end_cycle - item->cycle);
    to = ns ? STAMP(json, to, "start_ns", &t->ns, item->start) : NUMBER(json, to, "start_ns", false, 0);
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
ALWAYS_INLINE char *begin_line(const table *t, char *to, const dl_view_item *item, const bool json)
{
    if (json) to = t->first ? OUT_COPY(to, "\n{\"kind\":\"") : OUT_COPY(to, ",\n{\"kind\":\"");
    memcpy(to, kinds[item->kind].text, sizeof kinds->text);
    return to + kinds[item->kind].n;
}

/* What a kernel printed, and the end of the line. */
static devlog_status end_line(table *t, const dl_view_item *item, devlog_error *err)
{
    const char *said = dl_view_text(t->view, item, 0);
    dl_str s = {0};
    dl_str_add(&s, !t->json ? "," : said ? ",\"text\":" : "");
    if (said && t->json) dl_str_json(&s, said, strlen(said));
    if (said && !t->json) dl_str_csv(&s, said, strlen(said));
    dl_str_char(&s, t->json ? '}' : '\n');
    out_str(&t->out, &s);
    const bool failed = s.failed;
    dl_str_free(&s);
    return failed ? dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while writing text") : DEVLOG_OK;
}

/* One whose names are not kept, or long, or that has a text. */
static devlog_status any_line(table *t, const dl_view_item *item, devlog_error *err)
{
    out_fragment one = {0}, *place = &t->places[item->track];
    bool named = item->site < t->tables->n_sites && t->tables->sites[item->site].name;
    out_fragment *site = named ? &t->sites[item->site] : &one;
    bool ok = place->text || make_place(t, item->track, place);
    if (!ok || (!site->text && !make_site(t, item, site)))
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while writing %s", t->json ? "JSON" : "CSV");
    char *to = out_room(&t->out, MOST_NUMBERS);
    t->out.len += (size_t)(begin_line(t, to, item, t->json) - to);
    t->first = false;
    out_bytes(&t->out, place->text, place->n);
    out_bytes(&t->out, site->text, site->n);
    free(one.text);
    to = out_room(&t->out, MOST_NUMBERS);
    t->out.len += (size_t)(numbers(t, to, item, t->json) - to);
    return end_line(t, item, err);
}

ALWAYS_INLINE devlog_status line(table *t, const dl_view_item *item, const bool json, devlog_error *err)
{
    const out_fragment *const place = &t->places[item->track], *const site = item->site < t->tables->n_sites
                                                                                 ? &t->sites[item->site]
                                                                                 : NULL;
    const bool is_known = site && site->text && place->text && !item->meta;
    if (!is_known || site->n + place->n > MOST_NAMES) return any_line(t, item, err);
    char *const start = out_room(&t->out, MOST_NUMBERS + MOST_NAMES), *to = begin_line(t, start, item, json);
    to = out_copy_words(to, place->text, place->n);
    to = out_copy_words(to, site->text, site->n);
    to = numbers(t, to, item, json);
    if (!json) *to++ = ',';
    *to++ = json ? '}' : '\n';
    t->out.len += (size_t)(to - start);
    return DEVLOG_OK;
}

static devlog_status csv_lines(void *ctx, const dl_view_item *items, size_t n, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < n && !status; i++)
        status = line(ctx, &items[i], false, err);
    return status;
}

static devlog_status json_lines(void *ctx, const dl_view_item *items, size_t n, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < n && !status; i++)
        status = line(ctx, &items[i], true, err);
    return status;
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
    t.sites = calloc(t.tables->n_sites + 1u, sizeof *t.sites);
    t.has_ns = calloc(t.n_tracks + 1u, sizeof *t.has_ns);
    if (!t.places || !t.sites || !t.has_ns) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < t.n_tracks && !status; i++)
        t.has_ns[i] = t.chips[t.tracks[i].chip].has_ns;
    if (json)
        json_head(&t);
    else
        OUT_LITERAL(&t.out, "kind,chip,core_x,core_y,risc,name,file,line,launch,trace_id,trace_counter,op,"
                            "start_cycle,cycles,start_ns,ns,data,lane,depth,text\n");
    const dl_view_sink sink = {.ctx = &t, .items = json ? json_lines : csv_lines};
    if (!status) status = dl_view_run(v, DL_VIEW_BY_TIME, sink, err);
    if (json) json_foot(&t);
    out_free_fragments(t.places, t.n_tracks);
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
