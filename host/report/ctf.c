/* Common Trace Format 1.8: a folder with `metadata` (TSDL text) and one stream per chip. Source: CTF
 * specification v1.8.3. Zones are one event each, at their start, with their duration; names, source lines
 * and RISCs are enumerations. Markers that the device had no room for are events of their own, and their sum
 * is every packet's events_discarded, so that readers warn of them. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "report/export.h"
#include "report/out.h"

enum { PACKET = 64 * 1024, PACKET_HEADER = 4 + 4 + 6 * 8 };

static const char types[] = "/* CTF 1.8 */\n"
                            "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
                            "typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
                            "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
                            "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
                            "trace {\n"
                            "  major = 1;\n  minor = 8;\n  byte_order = le;\n"
                            "  packet.header := struct { uint32_t magic; uint32_t stream_id; };\n"
                            "};\n";

static const char clock_and_stream[] =
    "typealias integer { size = 64; align = 8; signed = false; map = clock.devlog.value; } := time_t;\n"
    "stream {\n"
    "  id = 0;\n"
    "  event.header := struct { uint8_t id; time_t timestamp; };\n"
    "  packet.context := struct {\n"
    "    time_t timestamp_begin;\n    time_t timestamp_end;\n"
    "    uint64_t content_size;\n    uint64_t packet_size;\n"
    "    uint64_t events_discarded;\n    uint64_t packet_seq_num;\n"
    "  };\n"
    "  event.context := struct { uint32_t chip; uint64_t launch; uint64_t cycle; };\n"
    "};\n";

/* Events by their ids: dl_view_kind. */
static const char *const event_names[] = {
    [DL_VIEW_ZONE] = "zone", [DL_VIEW_POINT] = "event",     [DL_VIEW_VALUE] = "value",
    [DL_VIEW_SUM] = "sum",   [DL_VIEW_DROPPED] = "dropped", [DL_VIEW_LAUNCH] = "launch",
};
static const char place[] = "uint16_t core_x; uint16_t core_y; riscs risc; names name; sources source;";
static const char *const event_fields[] = {
    [DL_VIEW_ZONE] = "uint64_t cycles; uint64_t duration; uint16_t lane; uint16_t depth; uint64_t data;",
    [DL_VIEW_POINT] = "uint32_t timer_id; string { encoding = UTF8; } text;",
    [DL_VIEW_VALUE] = "uint32_t timer_id; uint64_t data;",
    [DL_VIEW_SUM] = "uint32_t timer_id; uint64_t data;",
    [DL_VIEW_DROPPED] = "uint32_t timer_id; uint64_t data;",
    [DL_VIEW_LAUNCH] = "uint64_t cycles; uint64_t duration; uint16_t lane; string { encoding = UTF8; } name;",
};

/* An enumeration: texts in order, each once; number 0 stands for the empty one. */
typedef struct labels {
    const char **texts;
    uint32_t n;
    uint32_t *of; /* number of a text, by what it is the text of */
} labels;

typedef struct ctf {
    dl_view *view;
    const char *folder;
    const dl_view_chip *chips;
    const dl_view_core *cores;
    const dl_view_track *tracks;
    const dl_tables *tables;
    uint32_t n_chips, n_cores, n_tracks;
    labels names, sources, riscs; /* of sites, sites, tracks */
    char **locations;             /* "file:line" of each site */
    uint32_t chip;                /* of the stream in hand; DL_NONE: none */
    dl_out out;
    dl_file_set files; /* done, and without their names until all are */
    dl_str packet;     /* events of the packet in hand */
    uint64_t begin, end, discarded, number;
} ctf;

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while writing CTF");
}

static int by_text(const void *pa, const void *pb)
{
    return strcmp(*(const char *const *)pa, *(const char *const *)pb);
}

/* Numbers the n texts; empty ones are 0 and called `none`. */
static bool make_labels(labels *l, const char *const *texts, uint32_t n, const char *none)
{
    l->texts = calloc(n + 1u, sizeof *l->texts);
    l->of = calloc(n + 1u, sizeof *l->of);
    if (!l->texts || !l->of) return false;
    memcpy(l->texts + 1, texts, n * sizeof *texts);
    qsort(l->texts + 1, n, sizeof *l->texts, by_text);
    l->texts[0] = none;
    l->n = 1;
    for (uint32_t i = 1; i <= n; i++) {
        const char *text = l->texts[i];
        bool again = l->n > 1 && strcmp(text, l->texts[l->n - 1]) == 0;
        if (text[0] && strcmp(text, none) != 0 && !again) l->texts[l->n++] = text;
    }
    for (uint32_t i = 0; i < n; i++) {
        const char **found = bsearch(&texts[i], l->texts + 1, l->n - 1, sizeof *l->texts, by_text);
        l->of[i] = found ? (uint32_t)(found - l->texts) : 0;
    }
    return true;
}

static void free_labels(labels *l)
{
    free(l->texts);
    free(l->of);
}

static bool make_all_labels(ctf *c)
{
    uint32_t n = c->tables->n_sites > c->n_tracks ? c->tables->n_sites : c->n_tracks;
    const char **texts = calloc(n + 1u, sizeof *texts);
    c->locations = calloc(c->tables->n_sites + 1u, sizeof *c->locations);
    bool ok = texts && c->locations;
    for (uint32_t i = 0; ok && i < c->tables->n_sites; i++)
        texts[i] = dl_view_site_name(c->view, i);
    ok = ok && make_labels(&c->names, texts, c->tables->n_sites, "(no name)");
    for (uint32_t i = 0; ok && i < c->tables->n_sites; i++) {
        dl_str s = {0};
        const char *file = dl_view_site_file(c->view, i);
        if (file[0]) dl_str_fmt(&s, "%s:%u", file, c->tables->sites[i].line);
        ok = !s.failed;
        c->locations[i] = s.text;
        texts[i] = s.text ? s.text : "";
    }
    ok = ok && make_labels(&c->sources, texts, c->tables->n_sites, "(none)");
    for (uint32_t i = 0; ok && i < c->n_tracks; i++)
        texts[i] = c->tracks[i].name;
    ok = ok && make_labels(&c->riscs, texts, c->n_tracks, "(none)");
    free(texts);
    return ok;
}

/* A TSDL string: C's escapes. */
static void quote(dl_out *o, const char *text)
{
    OUT_LITERAL(o, "\"");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            out_fmt(o, "\\%c", c);
        else if (c < ' ' || c == 127)
            out_fmt(o, "\\%03o", c);
        else
            out_bytes(o, text, 1);
    }
    OUT_LITERAL(o, "\"");
}

static void enumeration(dl_out *o, const char *name, const char *container, const labels *l)
{
    out_fmt(o, "typealias enum : %s {\n", container);
    for (uint32_t i = 0; i < l->n; i++) {
        OUT_LITERAL(o, "  ");
        quote(o, l->texts[i]);
        out_fmt(o, " = %u,\n", i);
    }
    out_fmt(o, "} := %s;\n", name);
}

static devlog_status write_metadata(ctf *c, devlog_error *err)
{
    const dl_losses *l = dl_decode_losses(dl_view_decode(c->view));
    char *path = dl_path_join(c->folder, "metadata");
    if (!path) return no_memory(err);
    dl_out o;
    devlog_status status = out_open(&o, path, err);
    free(path);
    if (status) return status;
    out_text(&o, types);
    OUT_LITERAL(&o, "env {\n  tracer_name = \"devlog\";\n");
    for (uint32_t i = 0; i < c->n_chips; i++) {
        out_fmt(&o, "  chip_%u = ", c->chips[i].id);
        quote(&o, c->chips[i].name);
        out_fmt(&o, ";\n  chip_%u_time_unit = \"%s\";\n", c->chips[i].id,
                c->chips[i].has_ns ? "ns" : "cycles");
    }
    out_fmt(&o, "  lines_skipped = %llu;\n", (unsigned long long)dl_losses_skipped(l));
    for (int i = 0; i < DL_FINDINGS; i++)
        if (l->found[i])
            out_fmt(&o, "  %s = %llu;\n", dl_finding_key((dl_finding)i), (unsigned long long)l->found[i]);
    OUT_LITERAL(&o, "};\nclock {\n  name = devlog;\n  freq = 1000000000;\n  description = "
                    "\"since each chip's reset, unless env says otherwise\";\n};\n");
    out_text(&o, clock_and_stream);
    enumeration(&o, "riscs", "uint32_t", &c->riscs);
    enumeration(&o, "names", "uint32_t", &c->names);
    enumeration(&o, "sources", "uint32_t", &c->sources);
    for (size_t i = 0; i < sizeof event_names / sizeof event_names[0]; i++)
        out_fmt(
            &o,
            "event {\n  name = \"%s\";\n  id = %zu;\n  stream_id = 0;\n  fields := struct { %s %s };\n};\n",
            event_names[i], i, i == DL_VIEW_LAUNCH ? "" : place, event_fields[i]);
    return out_close_into(&o, &c->files, DEVLOG_OK, err);
}

static char *put(char *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *to++ = (char)(value >> 8 * i);
    return to;
}

/* Writes the packet in hand; an empty one is written only as the first of a stream, so that what is discarded
 * in the second counts from 0. */
static void end_packet(ctf *c)
{
    char header[PACKET_HEADER], *to = header;
    uint64_t bits = (PACKET_HEADER + c->packet.len) * 8;
    to = put(to, 0xC1FC1FC1, 4);
    to = put(to, 0, 4);
    to = put(to, c->begin, 8);
    to = put(to, c->end, 8);
    to = put(to, bits, 8);
    to = put(to, bits, 8);
    to = put(to, c->discarded, 8);
    put(to, c->number++, 8);
    out_bytes(&c->out, header, PACKET_HEADER);
    out_bytes(&c->out, c->packet.text, c->packet.len);
    c->packet.len = 0;
    c->begin = c->end;
}

static devlog_status end_stream(ctf *c, devlog_error *err)
{
    if (c->chip == DL_NONE) return DEVLOG_OK;
    if (c->packet.len) end_packet(c);
    return out_close_into(&c->out, &c->files, c->packet.failed ? no_memory(err) : DEVLOG_OK, err);
}

static devlog_status begin_stream(ctf *c, uint32_t chip, uint64_t time, devlog_error *err)
{
    char name[32];
    devlog_status status = end_stream(c, err);
    c->chip = DL_NONE;
    if (status) return status;
    snprintf(name, sizeof name, "chip_%u", c->chips[chip].id);
    char *path = dl_path_join(c->folder, name);
    if (!path) return no_memory(err);
    status = out_open(&c->out, path, err);
    free(path);
    if (status) return status;
    c->chip = chip;
    c->begin = c->end = time;
    c->discarded = c->number = 0;
    end_packet(c);
    return DEVLOG_OK;
}

static devlog_status event(ctf *c, const dl_view_item *item, devlog_error *err)
{
    enum { MOST = 512, MOST_TEXT = 4096 };
    const dl_view_track *t = &c->tracks[item->track];
    devlog_status status = t->chip != c->chip ? begin_stream(c, t->chip, item->start, err) : DEVLOG_OK;
    if (status) return status;
    const char *text = dl_view_text(c->view, item, MOST_TEXT);
    if (!dl_str_reserve(&c->packet, MOST + MOST_TEXT)) return no_memory(err);
    uint32_t n_launches = dl_decode_launches(dl_view_decode(c->view))->count;
    bool in_launch = item->launch < n_launches;
    char *start = c->packet.text + c->packet.len, *to = start;
    to = put(to, item->kind, 1);
    to = put(to, item->start, 8);
    to = put(to, c->chips[t->chip].id, 4);
    to = put(to, in_launch ? dl_view_launch_id(c->view, item->launch) : 0, 8);
    to = put(to, item->cycle, 8);
    if (item->kind != DL_VIEW_LAUNCH) {
        bool on_core = t->core != DL_NONE; /* otherwise the host's: it is nowhere on the chip */
        to = put(to, on_core ? c->cores[t->core].x : UINT16_MAX, 2);
        to = put(to, on_core ? c->cores[t->core].y : UINT16_MAX, 2);
        to = put(to, c->riscs.of[item->track], 4);
        to = put(to, c->names.of[item->site], 4);
        to = put(to, c->sources.of[item->site], 4);
    }
    if (item->kind == DL_VIEW_ZONE || item->kind == DL_VIEW_LAUNCH) {
        to = put(to, item->end_cycle - item->cycle, 8);
        to = put(to, item->end - item->start, 8);
        to = put(to, item->lane, 2);
    } else {
        to = put(to, item->timer_id, 4);
    }
    if (item->kind == DL_VIEW_ZONE) to = put(to, item->depth, 2);
    if (item->kind == DL_VIEW_LAUNCH) {
        dl_view_launch_name(c->view, item->launch, to);
        to += strlen(to) + 1;
    } else if (item->kind != DL_VIEW_POINT) {
        to = put(to, item->data, 8);
    } else {
        to = out_copy(to, text ? text : "", text ? strlen(text) + 1 : 1);
    }
    c->packet.len += (size_t)(to - start);
    c->end = item->start;
    if (item->kind == DL_VIEW_DROPPED) c->discarded += item->data;
    if (c->packet.len >= PACKET - MOST - MOST_TEXT) end_packet(c);
    return DEVLOG_OK;
}

static devlog_status events(void *ctx, const dl_view_item *items, size_t n, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < n && !status; i++)
        status = event(ctx, &items[i], err);
    return status;
}

/* The folder must be new or empty: what is left of another trace would be read as part of this one. */
static devlog_status make_folder(const char *path, devlog_error *err)
{
    if (strcmp(path, "-") == 0)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "a CTF trace is a folder and cannot go to standard output");
    devlog_status status = dl_folder_make(path, err);
    if (status) return status;
    DIR *folder = opendir(path);
    if (!folder) return dl_fail_errno(err, errno, "cannot read folder %s", path);
    bool empty = true;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) empty = false;
    closedir(folder);
    if (empty) return DEVLOG_OK;
    return dl_fail(err, DEVLOG_ERR_ARGUMENT, "folder %s is not empty; remove it or give another with -o",
                   path);
}

devlog_status dl_export_ctf(dl_view *v, const char *path, devlog_error *err)
{
    ctf c = {.view = v, .folder = path, .chip = DL_NONE};
    size_t there = dl_folder_there(path);
    devlog_status status = make_folder(path, err);
    if (status) return status;
    c.chips = dl_view_chips(v, &c.n_chips);
    c.cores = dl_view_cores(v, &c.n_cores);
    c.tracks = dl_view_tracks(v, &c.n_tracks);
    c.tables = dl_decode_tables(dl_view_decode(v));
    if (!make_all_labels(&c)) status = no_memory(err);
    if (!status) status = dl_view_run(v, DL_VIEW_BY_TIME, (dl_view_sink){.ctx = &c, .items = events}, err);
    if (status && c.chip != DL_NONE)
        status = out_close(&c.out, status, err);
    else if (!status)
        status = end_stream(&c, err);
    if (!status) status = write_metadata(&c, err);
    if (!status) status = dl_file_set_commit(&c.files, err);
    dl_file_set_abandon(&c.files); /* nothing is in it any more, unless something failed */
    if (status) dl_folder_unmake(path, there);
    for (uint32_t i = 0; c.locations && i < c.tables->n_sites; i++)
        free(c.locations[i]);
    free(c.locations);
    free_labels(&c.names);
    free_labels(&c.sources);
    free_labels(&c.riscs);
    dl_str_free(&c.packet);
    return status;
}
