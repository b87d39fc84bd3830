/* Perfetto's trace format: a tree of tracks (chip > core > RISC), a slice for each zone, instants, counters,
 * source locations, the chip's cycles as arguments, and flows from each launch through the kernels of every
 * core. Format: proto/perfetto.proto.
 *
 * One packet sequence per chip, with the chip's own clock (64) as the default of its packets and interned
 * names. Slices, instants and counters: perfetto_events.c. */
#include <stdio.h>
#include <stdlib.h>

#include "perfetto.pb-c.h"
#include "report/export.h"
#include "report/perfetto_internal.h"

enum { BOOT_TIME = 6, CHIP_CLOCK = 64, STATE_CLEARED = 1, EXPLICIT_ORDER = 3 };

typedef Devlog__Perfetto__TracePacket packet;
typedef Devlog__Perfetto__TrackDescriptor descriptor;
typedef Devlog__Perfetto__InternedString interned;

devlog_status perfetto_no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while writing a Perfetto trace");
}

static devlog_status write_packet(perfetto *p, const packet *message, devlog_error *err)
{
    size_t n = devlog__perfetto__trace_packet__get_packed_size(message);
    uint8_t *bytes = malloc(n + 16), *to = bytes;
    if (!bytes) return perfetto_no_memory(err);
    to = pb_varint(pb_tag(to, 1, PB_BYTES), n);
    to += devlog__perfetto__trace_packet__pack(message, to);
    out_bytes(&p->out, bytes, (size_t)(to - bytes));
    free(bytes);
    return DEVLOG_OK;
}

devlog_status perfetto_describe(perfetto *p, uint64_t uuid, uint64_t parent, const char *name,
                                const char *description, int32_t rank, bool is_counter, devlog_error *err)
{
    packet message = DEVLOG__PERFETTO__TRACE_PACKET__INIT;
    descriptor d = DEVLOG__PERFETTO__TRACK_DESCRIPTOR__INIT;
    Devlog__Perfetto__CounterDescriptor c = DEVLOG__PERFETTO__COUNTER_DESCRIPTOR__INIT;
    message.has_trusted_packet_sequence_id = true;
    message.trusted_packet_sequence_id = p->chip + 1;
    message.track_descriptor = &d;
    d.has_uuid = true;
    d.uuid = uuid;
    d.name = (char *)name;
    d.description = (char *)description;
    d.has_parent_uuid = parent != 0;
    d.parent_uuid = parent;
    d.has_sibling_order_rank = d.has_child_ordering = true;
    d.sibling_order_rank = rank;
    d.child_ordering = EXPLICIT_ORDER;
    if (is_counter) d.counter = &c;
    return write_packet(p, &message, err);
}

/* What people must know of a chip's part of the trace, on its track. */
static void about(const perfetto *p, const dl_view_chip *chip, dl_str *s)
{
    const dl_losses *l = dl_decode_losses(dl_view_decode(p->view));
    if (!chip->has_ns)
        dl_str_add(s, "Times are cycles, shown as nanoseconds: the clock's frequency is unknown.");
    else if (chip->aligned)
        dl_str_fmt(s, "Times are the host's, at most %llu ns off.", (unsigned long long)chip->residual_ns);
    else
        dl_str_add(s, "Times are since the chip's reset, not aligned with other chips.");
    dl_str_add(s, dl_losses_any(l) ? " Lost in the whole log:" : " Nothing was lost.");
    if (dl_losses_skipped(l))
        dl_str_fmt(s, " lines skipped: %llu;", (unsigned long long)dl_losses_skipped(l));
    for (int i = 0; i < DL_FINDINGS; i++)
        if (l->found[i] && dl_finding_is_loss((dl_finding)i))
            dl_str_fmt(s, " %s: %llu;", dl_finding_text((dl_finding)i), (unsigned long long)l->found[i]);
}

static void intern(interned *to, uint64_t iid, const char *name)
{
    devlog__perfetto__interned_string__init(to);
    to->has_iid = true;
    to->iid = iid;
    to->name = (char *)name;
}

/* The first packet of a chip's sequence: clears, sets the default clock, and interns the names that do not
 * depend on the log. */
static devlog_status begin_sequence(perfetto *p, devlog_error *err)
{
    static const char *const categories[] = {"user", "firmware", "kernel", "dropped", "launch"};
    static const char *const arguments[ARGS] = {
        [ARG_CYCLE] = "cycle", [ARG_CYCLES] = "cycles",  [ARG_LAUNCH] = "launch",
        [ARG_DATA] = "data",   [ARG_SUM] = "sum_cycles", [ARG_DROPPED] = "dropped_markers",
        [ARG_OP] = "op"};
    interned names[ARGS + CATEGORY_LAUNCH], *category[CATEGORY_LAUNCH], *argument[ARGS - 1];
    packet message = DEVLOG__PERFETTO__TRACE_PACKET__INIT;
    Devlog__Perfetto__TracePacketDefaults defaults = DEVLOG__PERFETTO__TRACE_PACKET_DEFAULTS__INIT;
    Devlog__Perfetto__InternedData data = DEVLOG__PERFETTO__INTERNED_DATA__INIT;
    for (size_t i = 0; i < CATEGORY_LAUNCH; i++) {
        category[i] = &names[i];
        intern(category[i], i + 1, categories[i]);
    }
    for (size_t i = 1; i < ARGS; i++) {
        argument[i - 1] = &names[CATEGORY_LAUNCH + i];
        intern(argument[i - 1], i, arguments[i]);
    }
    data.event_categories = category;
    data.n_event_categories = CATEGORY_LAUNCH;
    data.debug_annotation_names = argument;
    data.n_debug_annotation_names = ARGS - 1;
    defaults.has_timestamp_clock_id = true;
    defaults.timestamp_clock_id = CHIP_CLOCK;
    message.has_trusted_packet_sequence_id = message.has_sequence_flags = true;
    message.trusted_packet_sequence_id = p->chip + 1;
    message.sequence_flags = STATE_CLEARED;
    message.trace_packet_defaults = &defaults;
    message.interned_data = &data;
    return write_packet(p, &message, err);
}

/* The chip's clock in terms of the trace's: they run together, from 0, which is the chip's reset unless the
 * chips are aligned. */
static devlog_status snapshot(perfetto *p, devlog_error *err)
{
    packet message = DEVLOG__PERFETTO__TRACE_PACKET__INIT;
    Devlog__Perfetto__ClockSnapshot s = DEVLOG__PERFETTO__CLOCK_SNAPSHOT__INIT;
    Devlog__Perfetto__ClockSnapshot__Clock boot = DEVLOG__PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT, chip = boot;
    Devlog__Perfetto__ClockSnapshot__Clock *clocks[] = {&boot, &chip};
    boot.has_clock_id = boot.has_timestamp = chip.has_clock_id = chip.has_timestamp = true;
    boot.clock_id = BOOT_TIME;
    chip.clock_id = CHIP_CLOCK;
    s.clocks = clocks;
    s.n_clocks = 2;
    s.has_primary_trace_clock = true;
    s.primary_trace_clock = BOOT_TIME;
    message.has_trusted_packet_sequence_id = true;
    message.trusted_packet_sequence_id = p->chip + 1;
    message.clock_snapshot = &s;
    return write_packet(p, &message, err);
}

static devlog_status begin_chip(perfetto *p, uint32_t chip_index, devlog_error *err)
{
    const dl_view_chip *chip = &p->chips[chip_index];
    dl_str text = {0};
    p->chip = chip_index;
    memset(p->interned, 0, p->tables->n_sites * sizeof *p->interned);
    about(p, chip, &text);
    devlog_status status = text.failed ? perfetto_no_memory(err) : begin_sequence(p, err);
    if (!status) status = snapshot(p, err);
    if (!status)
        status = perfetto_describe(p, chip_uuid(chip_index), 0, chip->name, text.text, (int32_t)chip_index,
                                   false, err);
    dl_str_free(&text);
    for (uint32_t i = chip->first_core; i < chip->first_core + chip->n_cores && !status; i++) {
        char name[48];
        snprintf(name, sizeof name, "core %u,%u", p->cores[i].x, p->cores[i].y);
        if (dl_is_process(chip->id)) snprintf(name, sizeof name, "threads");
        status = perfetto_describe(p, core_uuid(p, i), chip_uuid(chip_index), name, NULL,
                                   (int32_t)(i - chip->first_core) + 1, false, err);
    }
    for (uint32_t i = chip->first_track; i < chip->first_track + chip->n_tracks && !status; i++) {
        const dl_view_track *t = &p->tracks[i];
        uint64_t parent = t->core == DL_NONE ? chip_uuid(chip_index) : core_uuid(p, t->core);
        status = perfetto_describe(p, track_uuid(p, i), parent, t->name, NULL,
                                   (int32_t)(i - chip->first_track), false, err);
    }
    return status;
}

devlog_status perfetto_begin_chips(perfetto *p, uint32_t chip, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    while (p->chip != chip && !status)
        status = begin_chip(p, p->chip == DL_NONE ? 0 : p->chip + 1, err);
    return status;
}

devlog_status perfetto_intern_site(perfetto *p, uint32_t site, devlog_error *err)
{
    interned name;
    Devlog__Perfetto__SourceLocation location = DEVLOG__PERFETTO__SOURCE_LOCATION__INIT;
    interned *names[] = {&name};
    Devlog__Perfetto__SourceLocation *locations[] = {&location};
    packet message = DEVLOG__PERFETTO__TRACE_PACKET__INIT;
    Devlog__Perfetto__InternedData data = DEVLOG__PERFETTO__INTERNED_DATA__INIT;
    const char *file = dl_view_site_file(p->view, site);
    intern(&name, (uint64_t)site + 1, dl_view_site_name(p->view, site));
    data.event_names = names;
    data.n_event_names = 1;
    if (file[0]) {
        location.has_iid = location.has_line_number = true;
        location.iid = (uint64_t)site + 1;
        location.file_name = (char *)file;
        location.line_number = p->tables->sites[site].line;
        data.source_locations = locations;
        data.n_source_locations = 1;
    }
    message.has_trusted_packet_sequence_id = message.has_sequence_flags = true;
    message.trusted_packet_sequence_id = p->chip + 1;
    message.sequence_flags = PERFETTO_NEEDS_STATE;
    message.interned_data = &data;
    identity_bytes *const keep = &p->interned[site];
    uint8_t *to = pb_uint(keep->bytes, 3, p->tables->sites[site].role + 1u);
    to = pb_uint(to, 10, (uint64_t)site + 1);
    if (p->tables->sites[site].file) to = pb_uint(to, 34, (uint64_t)site + 1);
    keep->n = (uint8_t)(to - keep->bytes);
    keep->has_name = p->tables->sites[site].name != 0;
    keep->is_kernel = p->tables->sites[site].role == DL_ROLE_KERNEL;
    return write_packet(p, &message, err);
}

devlog_status dl_export_perfetto(dl_view *v, const char *path, devlog_error *err)
{
    perfetto p = {.view = v, .chip = DL_NONE, .track = DL_NONE, .launch = DL_NONE};
    p.chips = dl_view_chips(v, &p.n_chips);
    p.cores = dl_view_cores(v, &p.n_cores);
    p.tracks = dl_view_tracks(v, &p.n_tracks);
    p.tables = dl_decode_tables(dl_view_decode(v));
    p.launches = dl_decode_launches(dl_view_decode(v));
    p.next_uuid = track_uuid(&p, p.n_tracks);
    devlog_status status = out_open(&p.out, path, err);
    if (status) return status;
    p.interned = calloc(p.tables->n_sites + 1u, sizeof *p.interned);
    p.counters = calloc(p.tables->n_sites + 1u, sizeof *p.counters);
    status = p.interned && p.counters ? dl_view_run(v, DL_VIEW_BY_TRACK, perfetto_sink(&p), err)
                                      : perfetto_no_memory(err);
    if (!status) perfetto_end_slices(&p);
    /* Chips of which nothing is in the log still show that they are there. */
    if (!status && p.n_chips) status = perfetto_begin_chips(&p, p.n_chips - 1, err);
    free(p.interned);
    free(p.open);
    free(p.counters);
    return out_close(&p.out, status, err);
}
