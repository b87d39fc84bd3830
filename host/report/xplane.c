/* XPlane, the format of TensorBoard's profiler plugin: PATH is a log folder, and the trace is in
 * PATH/plugins/profile/devlog/devlog.xplane.pb. A plane per chip, a line per RISC (and further lane), an
 * event per zone; markers are events without duration. Format: proto/xplane.proto.
 *
 * A plane holds its lines, and a line its events, so their lengths come before what they are the lengths of;
 * they are filled in when a plane or a line ends. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "report/export.h"
#include "report/out.h"
#include "report/pb.h"
#include "xplane.pb-c.h"

enum { LENGTH = 5 }; /* bytes of a length that is filled in later */

/* Stats, and the names that some have as values. */
enum {
    STAT_CYCLE = 1,
    STAT_CYCLES,
    STAT_LAUNCH,
    STAT_DATA,
    STAT_KERNEL_DETAILS,
    STAT_SOURCE,
    STAT_KIND,
    STAT_TEXT
};
enum { FIRST_KIND = STAT_TEXT + 1, STATS = FIRST_KIND + DL_VIEW_LAUNCH + 1 };
static const char *const stat_names[STATS] = {
    [STAT_CYCLE] = "cycle",
    [STAT_CYCLES] = "cycles",
    [STAT_LAUNCH] = "launch id", /* a kind is called "launch": no two have one name */
    [STAT_DATA] = "data",
    [STAT_KERNEL_DETAILS] = "kernel_details",
    [STAT_SOURCE] = "source",
    [STAT_KIND] = "kind",
    [STAT_TEXT] = "text",
    [FIRST_KIND + DL_VIEW_ZONE] = "zone",
    [FIRST_KIND + DL_VIEW_POINT] = "event",
    [FIRST_KIND + DL_VIEW_VALUE] = "value",
    [FIRST_KIND + DL_VIEW_SUM] = "sum",
    [FIRST_KIND + DL_VIEW_DROPPED] = "dropped",
    [FIRST_KIND + DL_VIEW_LAUNCH] = "launch",
};

typedef struct xplane {
    dl_view *view;
    dl_out out;
    const dl_view_chip *chips;
    const dl_view_core *cores;
    const dl_view_track *tracks;
    const dl_tables *tables;
    const dl_launches *launches;
    uint32_t n_chips, n_cores, n_tracks;
    uint32_t chip, track, lane; /* in hand; DL_NONE: none */
    uint64_t plane_at, line_at; /* where their lengths go */
    uint64_t line_start;
    uint64_t n_lines;
} xplane;

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while writing XPlane");
}

/* Begins a message whose length is not known yet; returns where the length is. */
static uint64_t begin_message(xplane *x, uint32_t field)
{
    uint8_t bytes[PB_MOST_VARINT + LENGTH] = {0}, *to = pb_tag(bytes, field, PB_BYTES);
    uint64_t at = x->out.written + x->out.len + (uint64_t)(to - bytes);
    out_bytes(&x->out, bytes, (size_t)(to - bytes) + LENGTH);
    return at;
}

static devlog_status end_message(xplane *x, uint64_t at, devlog_error *err)
{
    uint64_t n = x->out.written + x->out.len - at - LENGTH;
    uint8_t bytes[LENGTH];
    if (n > INT32_MAX)
        return dl_fail(
            err, DEVLOG_ERR_ARGUMENT,
            "a chip's plane would be larger than the 2 GiB that readers of XPlane take; export less "
            "(fewer logs) or in another format");
    for (int i = 0; i < LENGTH; i++)
        bytes[i] = (uint8_t)((n >> 7 * i & 127) | (i < LENGTH - 1 ? 128 : 0));
    out_patch(&x->out, at, bytes, LENGTH);
    return DEVLOG_OK;
}

static void put_text(xplane *x, uint32_t field, const char *text)
{
    uint8_t bytes[2 * PB_MOST_VARINT], *to = bytes;
    to = pb_varint(pb_tag(to, field, PB_BYTES), strlen(text));
    out_bytes(&x->out, bytes, (size_t)(to - bytes));
    out_text(&x->out, text);
}

static void put_uint(xplane *x, uint32_t field, uint64_t value)
{
    uint8_t bytes[2 * PB_MOST_VARINT], *to = pb_uint(bytes, field, value);
    out_bytes(&x->out, bytes, (size_t)(to - bytes));
}

static devlog_status put_event_metadata(xplane *x, int64_t id, const char *name, const char *source,
                                        devlog_error *err)
{
    Devlog__Xplane__EventMetadataEntry entry = DEVLOG__XPLANE__EVENT_METADATA_ENTRY__INIT;
    Devlog__Xplane__XEventMetadata value = DEVLOG__XPLANE__XEVENT_METADATA__INIT;
    Devlog__Xplane__XStat stat = DEVLOG__XPLANE__XSTAT__INIT, *stats[] = {&stat};
    entry.has_key = value.has_id = true;
    entry.key = value.id = id;
    entry.value = &value;
    value.name = (char *)name;
    if (source) {
        stat.has_metadata_id = true;
        stat.metadata_id = STAT_SOURCE;
        stat.str_value = (char *)source;
        value.stats = stats;
        value.n_stats = 1;
    }
    size_t n = devlog__xplane__event_metadata_entry__get_packed_size(&entry);
    uint8_t *bytes = malloc(n + 2 * PB_MOST_VARINT), *to = bytes;
    if (!bytes) return no_memory(err);
    to = pb_varint(pb_tag(to, 4, PB_BYTES), n);
    to += devlog__xplane__event_metadata_entry__pack(&entry, to);
    out_bytes(&x->out, bytes, (size_t)(to - bytes));
    free(bytes);
    return DEVLOG_OK;
}

static void put_stat_metadata(xplane *x, int64_t id, const char *name)
{
    uint8_t bytes[256];
    Devlog__Xplane__StatMetadataEntry entry = DEVLOG__XPLANE__STAT_METADATA_ENTRY__INIT;
    Devlog__Xplane__XStatMetadata value = DEVLOG__XPLANE__XSTAT_METADATA__INIT;
    entry.has_key = value.has_id = true;
    entry.key = value.id = id;
    entry.value = &value;
    value.name = (char *)name;
    size_t n = devlog__xplane__stat_metadata_entry__pack(&entry, bytes + 16);
    uint8_t head[16], *to = pb_varint(pb_tag(head, 5, PB_BYTES), n);
    out_bytes(&x->out, head, (size_t)(to - head));
    out_bytes(&x->out, bytes + 16, n);
}

/* Names that the plane's events refer to: sites from 1, then the launches of this chip. */
static devlog_status put_metadata(xplane *x, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (uint32_t i = 0; i < x->tables->n_sites && !status; i++) {
        const dl_view_item like = {.site = i, .kind = DL_VIEW_ZONE};
        const char *file = dl_view_site_file(x->view, i);
        char buffer[32];
        dl_str source = {0};
        if (file[0]) dl_str_fmt(&source, "%s:%u", file, x->tables->sites[i].line);
        status =
            put_event_metadata(x, (int64_t)i + 1, dl_view_name(x->view, &like, buffer), source.text, err);
        dl_str_free(&source);
    }
    for (uint32_t i = 0; i < x->launches->count && !status; i++) {
        char name[256];
        if (x->launches->items[i].chip != x->chips[x->chip].chip) continue;
        dl_view_launch_name(x->view, i, name);
        status = put_event_metadata(x, (int64_t)x->tables->n_sites + 1 + i, name, NULL, err);
    }
    for (int i = 1; i < STATS; i++)
        put_stat_metadata(x, i, stat_names[i]);
    return status;
}

static devlog_status end_line(xplane *x, devlog_error *err)
{
    if (x->track == DL_NONE) return DEVLOG_OK;
    x->track = DL_NONE;
    return end_message(x, x->line_at, err);
}

static devlog_status end_plane(xplane *x, devlog_error *err)
{
    if (x->chip == DL_NONE) return DEVLOG_OK;
    devlog_status status = end_line(x, err);
    if (!status) status = put_metadata(x, err);
    if (!status) status = end_message(x, x->plane_at, err);
    x->chip = DL_NONE;
    return status;
}

/* The name is one that the profiler's pages know: their kernel tables list planes of GPUs only. */
static void begin_plane(xplane *x, uint32_t chip)
{
    char name[32];
    x->chip = chip;
    x->plane_at = begin_message(x, 1);
    put_uint(x, 1, x->chips[chip].id + 1u);
    snprintf(name, sizeof name, "/device:GPU:%u", x->chips[chip].id);
    put_text(x, 2, name);
    x->n_lines = 0;
}

static void begin_line(xplane *x, const dl_view_item *item)
{
    const dl_view_track *t = &x->tracks[item->track];
    char name[192];
    x->track = item->track;
    x->lane = item->lane;
    x->line_start = item->start;
    x->line_at = begin_message(x, 3);
    put_uint(x, 1, ++x->n_lines);
    if (t->core == DL_NONE)
        snprintf(name, sizeof name, "%s: %s", x->chips[t->chip].name, t->name); /* "launches", "host" */
    else
        snprintf(name, sizeof name, "core %u,%u %s", x->cores[t->core].x, x->cores[t->core].y, t->name);
    out_cut_utf8(name);
    if (item->lane) {
        char lane[256];
        snprintf(lane, sizeof lane, "%s (overlap %u)", name, item->lane);
        put_text(x, 2, lane);
    } else {
        put_text(x, 2, name);
    }
    put_uint(x, 3, item->start);
}

static uint8_t *stat_uint(uint8_t *to, uint32_t id, uint64_t value)
{
    uint8_t *body = to = pb_begin(to, 4);
    return pb_end(body, pb_uint(pb_uint(to, 1, id), 3, value));
}

static uint8_t *stat_kind(uint8_t *to, uint32_t kind)
{
    uint8_t *body = to = pb_begin(to, 4);
    return pb_end(body, pb_uint(pb_uint(to, 1, STAT_KIND), 7, FIRST_KIND + kind));
}

static uint8_t *stat_text(uint8_t *to, const char *text)
{
    uint8_t *body = to = pb_begin(to, 4);
    return pb_end(body, pb_bytes(pb_uint(to, 1, STAT_TEXT), 5, text, strlen(text)));
}

/* What the kernel tables read; a kernel runs on one RISC, which has no registers or blocks to report. */
static uint8_t *stat_kernel(uint8_t *to)
{
    static const char details[] = "regs:0 static_shared:0 dynamic_shared:0 grid:1,1,1 block:1,1,1 occ_pct:0";
    uint8_t *body = to = pb_begin(to, 4);
    return pb_end(body, pb_bytes(pb_uint(to, 1, STAT_KERNEL_DETAILS), 5, details, sizeof details - 1));
}

static void put_event(xplane *x, const dl_view_item *item)
{
    enum { MOST = 512, MOST_TEXT = 4096 };
    const char *text = dl_view_text(x->view, item, MOST_TEXT);
    bool launch = item->kind == DL_VIEW_LAUNCH, interval = launch || item->kind == DL_VIEW_ZONE;
    uint8_t *start = (uint8_t *)out_room(&x->out, MOST + MOST_TEXT), *to = start, *body;
    body = to = pb_begin(to, 4);
    to = pb_uint(to, 1, launch ? (uint64_t)x->tables->n_sites + 1 + item->launch : (uint64_t)item->site + 1);
    to = pb_uint(to, 2, (item->start - x->line_start) * 1000);
    to = pb_uint(to, 3, (item->end - item->start) * 1000);
    to = stat_uint(to, STAT_CYCLE, item->cycle);
    if (interval) to = stat_uint(to, STAT_CYCLES, item->end_cycle - item->cycle);
    if (item->launch < x->launches->count)
        to = stat_uint(to, STAT_LAUNCH, dl_view_launch_id(x->view, item->launch));
    if (item->data || (!interval && item->kind != DL_VIEW_POINT)) to = stat_uint(to, STAT_DATA, item->data);
    if (text) to = stat_text(to, text);
    if (item->kind != DL_VIEW_ZONE)
        to = stat_kind(to, item->kind);
    else if (x->tables->sites[item->site].role == DL_ROLE_KERNEL)
        to = stat_kernel(to);
    to = pb_end(body, to);
    x->out.len += (size_t)(to - start);
}

static devlog_status items(void *ctx, const dl_view_item *all, size_t n, devlog_error *err)
{
    xplane *x = ctx;
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < n && !status; i++) {
        const dl_view_item *item = &all[i];
        if (item->track != x->track || item->lane != x->lane) {
            uint32_t chip = x->tracks[item->track].chip;
            status = chip == x->chip ? end_line(x, err) : end_plane(x, err);
            if (status) break;
            if (chip != x->chip) begin_plane(x, chip);
            begin_line(x, item);
        }
        put_event(x, item);
    }
    return status;
}

static void put_warnings(xplane *x)
{
    const dl_losses *l = dl_decode_losses(dl_view_decode(x->view));
    char text[256];
    for (int i = 0; i < DL_FINDINGS; i++) {
        if (!l->found[i] || !dl_finding_is_loss((dl_finding)i)) continue;
        snprintf(text, sizeof text, "%llu %s", (unsigned long long)l->found[i],
                 dl_finding_text((dl_finding)i));
        put_text(x, 3, text);
    }
    if (!dl_losses_skipped(l)) return;
    snprintf(text, sizeof text, "%llu lines of the log were skipped",
             (unsigned long long)dl_losses_skipped(l));
    put_text(x, 3, text);
}

devlog_status dl_export_xplane(dl_view *v, const char *path, devlog_error *err)
{
    xplane x = {.view = v, .chip = DL_NONE, .track = DL_NONE};
    if (strcmp(path, "-") == 0)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                       "XPlane is written into a log folder and cannot go to standard output");
    char *folder = dl_path_join(path, "plugins/profile/devlog");
    char *file = folder ? dl_path_join(folder, "devlog.xplane.pb") : NULL;
    size_t there = folder ? dl_folder_there(folder) : 0;
    devlog_status status = file ? dl_folder_make(folder, err) : no_memory(err);
    if (!status) status = out_open(&x.out, file, err);
    free(file);
    if (status) {
        if (folder) dl_folder_unmake(folder, there);
        free(folder);
        return status;
    }
    x.chips = dl_view_chips(v, &x.n_chips);
    x.cores = dl_view_cores(v, &x.n_cores);
    x.tracks = dl_view_tracks(v, &x.n_tracks);
    x.tables = dl_decode_tables(dl_view_decode(v));
    x.launches = dl_decode_launches(dl_view_decode(v));
    status = dl_view_run(v, DL_VIEW_BY_TRACK, (dl_view_sink){.ctx = &x, .items = items}, err);
    if (!status) status = end_plane(&x, err);
    if (!status) put_warnings(&x);
    status = out_close(&x.out, status, err);
    if (status) dl_folder_unmake(folder, there);
    free(folder);
    return status;
}
