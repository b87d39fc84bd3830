/* Dumping: the records of every core of the last launch, from L1 into the device log. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/absolute.h"
#include "base/error.h"
#include "base/file.h"
#include "decode/capture/raw_marks.h"
#include "decode/log/log_write.h"
#include "device/buffers.h"
#include "profiler/capture_log.h"
#include "profiler/clock_found.h"
#include "profiler/clock_sync.h"
#include "profiler/ops_device.h"
#include "profiler/periodic.h"
#include "profiler/profiler.h"
#include "profiler/violations.h"

struct dl_profiler {
    dl_tables tables;
    dl_device_log *log;
    char *log_path;
    capture_log *capture; /* NULL: not wanted */
    kept kept;
    struct own_cost {
        bool known;
        uint32_t by_kind[sizeof((devlog_control *)0)->cost / 4];
    } * costs;          /* of each RISC of each core, row by row: read once, since firmware measures once */
    dl_marks marks;     /* of the RISC in hand */
    uint64_t last_time; /* of the marks that were logged */
    uint32_t dumped;    /* number of the last launch that was written */
    profiler_totals totals;
    violations violations;
    meter meter;
    uint32_t metered_from; /* number of the last launch before the meter was on */
};

static devlog_status attach(devlog_device *device, devlog_error *err)
{
    if (device->profiler) return DEVLOG_OK;
    dl_profiler *p = calloc(1, sizeof *p);
    if (!p) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the profiler");
    devlog_status status = dl_tables_init(&p->tables, err);
    if (status != DEVLOG_OK) {
        free(p);
        return status;
    }
    device->clocks = clocks_new(device->wishes.clock_sync);
    if (!device->clocks) {
        dl_tables_free(&p->tables);
        free(p);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the profiler");
    }
    p->kept.keep = device->wishes.results;
    device->profiler = p;
    return DEVLOG_OK;
}

/* The device log begins anew, and there will be no capture beside it: one that is there is a run's before, and would be taken for this
 * one's, as it knows more. */
static void forget_capture_of_before(const devlog_device *device)
{
    char *path = dl_path_join(device->log_folder, DL_CAPTURE_NAME);
    if (path) (void)unlink(path);
    free(path);
}

/* The log is opened when there is something to write, so that a device that is not profiled leaves no file.
 */
static devlog_status open_log(devlog_device *device, devlog_error *err)
{
    dl_profiler *p = device->profiler;
    if (p->log) return DEVLOG_OK;
    static const dl_log_style styles[] = {
        [DEVLOG_STYLE_L9] = DL_LOG_L9, [DEVLOG_STYLE_L2] = DL_LOG_L2, [DEVLOG_STYLE_L0] = DL_LOG_L0};
    /* Folders of periodic captures are always new. */
    bool began = p->log_path != NULL && !periodic_on(device);
    devlog_status status = DEVLOG_OK;
    if (!began && !periodic_on(device)) status = ops_began(device, &began, err);
    if (status != DEVLOG_OK) return status;
    if (!began && !device->wishes.capture) forget_capture_of_before(device);
    const dl_device_log_options options = {
        .style = styles[device->wishes.log_style],
        .append = began,
        .arch = device->board.arch,
        .freq_khz = dl_device_khz(device),
        .max_cores = device->board.n_columns * device->board.n_rows,
        .run = devlog_ops_run(device->ops),
        .aiclk_khz = device->aiclk_khz,
        .instructions = device->transport.instructions,
    };
    status = dl_device_log_open(&p->log, device->log_folder, &options, err);
    if (status != DEVLOG_OK) return status;
    const char *slow = p->log_path ? NULL : dl_folder_slow(device->log_folder);
    if (slow)
        fprintf(
            stderr,
            "devlog: the logs in %s are on a slow file system (%s): launches will wait for it; DEVLOG_LOG_FOLDER names another "
            "place\n",
            device->log_folder, slow);
    status = capture_log_open(&p->capture, device, options.append, &p->kept, err);
    if (status != DEVLOG_OK) {
        dl_device_log_close(p->log, NULL);
        p->log = NULL;
        return status;
    }
    free(p->log_path);
    p->log_path = strdup(dl_device_log_path(p->log));
    return p->log_path ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the profiler");
}

/* The folder in which captures will be; and the run there may be one of several programs. */
static devlog_status periodic_first(devlog_device *device, devlog_error *err)
{
    bool began;
    devlog_status status = periodic_open(device, err);
    return status == DEVLOG_OK ? ops_began(device, &began, err) : status;
}

devlog_status profiler_prepare(devlog_device *device, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    if (!device->recording_chosen) status = devlog_set_recording(device, DEVLOG_RECORD_AUTO, 0, err);
    if (status == DEVLOG_OK) status = attach(device, err);
    if (status == DEVLOG_OK && periodic_on(device) && !device->periodic) status = periodic_first(device, err);
    return status == DEVLOG_OK && !periodic_between(device) ? open_log(device, err) : status;
}

typedef struct dump {
    devlog_device *device;
    const devlog_program *program;
} dump;

static devlog_status log_marks(dl_profiler *p, devlog_error *err)
{
    const dl_marks *m = &p->marks;
    devlog_status status = DEVLOG_OK;
    if (m->n) p->last_time = m->items[m->n - 1].time;
    for (uint32_t i = 0, end; i < m->n && !status; i = end) {
        for (end = i; end < m->n;) {
            if (p->tables.kinds[dl_mark_kind(m->items[end].code)].role == DL_ROLE_DROPPED) break;
            end++;
        }
        status = dl_device_log_marks(p->log, &p->tables, m, i, end, err);
        if (end == m->n || status) break;
        const dl_row lost = dl_device_log_row(&p->tables, m, end);
        status = dl_device_log_loss(p->log, &p->tables, &lost, DL_LOSS_DROPPED, lost.data, err);
        end++;
    }
    return status;
}

static devlog_status write_risc(devlog_device *device, const devlog_program *program, const pulled *got,
                                const pulled_events *events, uint64_t events_from, uint64_t events_until,
                                devlog_error *err)
{
    dl_profiler *p = device->profiler;
    const devlog_kernel *kernel = program_kernel_at(program, got->core, got->risc);
    raw_risc raw = {
        .chip = device->slot,
        .core_x = (uint16_t)got->core.x,
        .core_y = (uint16_t)got->core.y,
        .risc = device->board.riscs[got->risc].log_name,
        .control = &got->control,
        .spans = got->spans,
        .n_spans = got->n_spans,
        .elf = kernel ? &kernel->elf : NULL,
        .index = got->risc,
        .events = events->words,
        .n_events = events->n_words,
        .events_from = events_from,
        .events_until = events_until,
        .tell_dropped = true,
    };
    record_losses losses = {0};
    dl_marks_clear(&p->marks);
    devlog_status status = raw_marks(&p->tables, &raw, &p->marks, &losses, err);
    if (status == DEVLOG_OK) status = log_marks(p, err);
    uint64_t lost[DL_LOSS_ZONES];
    raw_lost(&got->control, &losses, lost);
    dl_row like = {.run_host_id = got->control.launch,
                   .trace_id = DL_NO_ID,
                   .trace_counter = DL_NO_ID,
                   .has_launch = 1,
                   .time = p->last_time};
    like.stream = dl_tables_stream(&p->tables, raw.chip, raw.core_x, raw.core_y, raw.risc, strlen(raw.risc));
    for (int zone = 0; zone < DL_LOSS_ZONES && status == DEVLOG_OK; zone++)
        status = dl_device_log_loss(p->log, &p->tables, &like, (dl_loss_zone)zone, lost[zone], err);
    const devlog_control *c = &got->control;
    const violations_of of = {
        .device = device,
        .kernel = kernel,
        .got = got,
        .tables = &p->tables,
        .marks = &p->marks,
        .complete = !c->dropped && !c->overwritten && !c->damage && !got->cut && !events->overflow &&
                    !losses.damaged_words && !losses.cut && c->marks & 1u << (DEVLOG_ID_KERNEL_END - 1),
        .log = p->log,
        .capture = p->capture,
        .like = &like,
    };
    if (status == DEVLOG_OK) status = violations_find(&p->violations, &of, err);
    p->totals.dropped += got->control.dropped;
    p->totals.overwritten += got->control.overwritten;
    p->totals.damaged_words += losses.damaged_words + losses.cut;
    p->totals.record_bytes += 4ull * got->n_words;
    return status;
}

/* The part of the control block that is not pulled with every launch. */
static devlog_status add_cost(devlog_device *device, pulled *got, devlog_error *err)
{
    dl_profiler *p = device->profiler;
    const board *b = &device->board;
    if (!got->alive) return DEVLOG_OK;
    if (!p->costs) p->costs = calloc((size_t)b->n_columns * b->n_rows * b->n_riscs, sizeof *p->costs);
    if (!p->costs) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the profiler");
    struct own_cost *c = &p->costs[(got->core.y * b->n_columns + got->core.x) * b->n_riscs + got->risc];
    uint32_t at = board_profiler_base(b, got->risc) + DEVLOG_CONTROL_OFFSET(b->segment_bits) +
                  (uint32_t)offsetof(devlog_control, cost);
    devlog_status status =
        c->known ? DEVLOG_OK : dl_core_read(device, got->core, at, c->by_kind, sizeof c->by_kind, err);
    c->known = status == DEVLOG_OK;
    memcpy(got->control.cost, c->by_kind, sizeof c->by_kind);
    return status;
}

/* What a core whose device failed in mid-pull has lost; the reason is in *err. */
static devlog_status say_missing(const devlog_device *device, devlog_core core, const pulled *got,
                                 uint32_t first, devlog_error *err)
{
    devlog_error why = *err;
    uint64_t words = 0;
    for (uint32_t risc = 0; risc <= first; risc++)
        words += got[risc].n_words;
    return dl_fail(
        err, DEVLOG_ERR_PARTIAL,
        "the records of core (%u,%u) are missing from %s of %s on, and those of the cores after it; "
        "%llu words of it were kept: %s",
        core.x, core.y, got[first].cut ? "the middle" : "the first", device->board.riscs[first].name,
        (unsigned long long)words, why.text);
}

/* A RISC that calls a null pointer runs another's firmware, which counts the restart as its own. */
static devlog_status blame(const dump *d, devlog_core core, pulled got[BOARD_MAX_RISCS], devlog_error *err)
{
    for (uint32_t risc = 0; risc < d->device->board.n_riscs; risc++) {
        const uint32_t restarts = got[risc].control.damage & ~DEVLOG_DAMAGE_ANY;
        uint32_t from = 0;
        if (!restarts) continue;
        devlog_status status =
            dl_core_read(d->device, core,
                         d->device->board.mailbox.base + (uint32_t)offsetof(devlog_mailbox, restarted_from),
                         &from, sizeof from, err);
        const uint32_t came = program_risc_of(d->program, core, from);
        if (status || came == BOARD_MAX_RISCS) return status;
        got[risc].control.damage -= restarts;
        got[came].control.damage += restarts;
        return DEVLOG_OK; /* the mailbox knows the last one only */
    }
    return DEVLOG_OK;
}

static devlog_status dump_core(void *context, devlog_core core, devlog_error *err)
{
    dump *d = context;
    uint32_t riscs = d->device->board.n_riscs, failed = riscs;
    pulled got[BOARD_MAX_RISCS] = {0};
    pulled_events events = {0};
    devlog_status pull = DEVLOG_OK;
    for (uint32_t risc = 0; risc < riscs && pull == DEVLOG_OK; risc++) {
        pull = pull_risc(d->device, core, risc, d->device->launches, true, &got[risc], err);
        if (pull == DEVLOG_OK) pull = add_cost(d->device, &got[risc], err);
        const devlog_kernel *kernel = program_kernel_at(d->program, core, risc);
        if (kernel && kernel->writes_cursor) got[risc].control.damage |= DEVLOG_DAMAGE_KERNEL;
        if (pull != DEVLOG_OK) failed = risc;
        if (pull == DEVLOG_OK) meter_risc(&d->device->profiler->meter, d->device, &got[risc]);
    }
    if (pull == DEVLOG_OK) pull = blame(d, core, got, err);
    if (pull == DEVLOG_OK) pull = pull_events(d->device, &got[0], &events, err);
    /* What was pulled is written even when the device failed in between. */
    devlog_error later, *unless_pull = pull == DEVLOG_OK ? err : &later;
    devlog_status status = DEVLOG_OK;
    const uint64_t until = raw_fw_end(&got[0].control);
    uint64_t from = got[0].control.stamps[0] | (uint64_t)got[0].control.stamps[1] << 32;
    for (uint32_t risc = 0; risc < riscs && status == DEVLOG_OK; risc++) {
        /* The hardware says that events were lost, not how many: at least one. */
        if (risc == 0 && events.overflow) got[0].control.dropped++;
        if (got[risc].alive || got[risc].damaged)
            status = write_risc(d->device, d->program, &got[risc], &events, from, until, unless_pull);
    }
    if (status == DEVLOG_OK)
        status = capture_log_core(d->device->profiler->capture, d->program, got, riscs, &events, from,
                                  unless_pull);
    if (status == DEVLOG_OK)
        status = capture_log_cycles(d->device->profiler->capture, d->program, core, unless_pull);
    if (pull != DEVLOG_OK)
        status =
            failed < riscs && status == DEVLOG_OK ? say_missing(d->device, core, got, failed, err) : pull;
    for (uint32_t risc = 0; risc < riscs; risc++)
        pulled_free(&got[risc]);
    free(events.words);
    return status;
}

static devlog_status not_profiled(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_STATE,
                   "the device is not profiled: open it with devlog_device_options.profile, or with "
                   "TT_METAL_DEVICE_PROFILER=1 in the environment");
}

devlog_status profiler_dump(devlog_device *device, devlog_error *err)
{
    if (!device->profile) return not_profiled(err);
    devlog_status status = profiler_prepare(device, err);
    if (status != DEVLOG_OK) return status;
    dl_profiler *p = device->profiler;
    if (!device->last || p->dumped == device->launches || periodic_between(device)) return DEVLOG_OK;
    uint64_t before = device->transport.bytes_read;
    dl_capture_launch launch = {
        .slot = device->slot,
        .number = device->launches,
        .op = device->host_id,
        .call_start = device->clocks->launch_start,
        .call_end = device->clocks->launch_end,
        .pull_start = dl_transport_now(&device->transport),
    };
    dump d = {device, device->last};
    status = program_each_core(device->last, dump_core, &d, err);
    meter_launch(&p->meter);
    p->totals.bytes_read += device->transport.bytes_read - before;
    p->totals.launches++;
    p->dumped = device->launches;
    /* What was pulled is written even when a core failed in between. */
    devlog_error later;
    launch.pull_end = dl_transport_now(&device->transport);
    devlog_status written = dl_device_log_commit(p->log, status == DEVLOG_OK ? err : &later);
    if (written == DEVLOG_OK)
        written = capture_log_commit(p->capture, &launch, status == DEVLOG_OK ? err : &later);
    if (status == DEVLOG_OK) status = written;
    devlog_status told = violations_tell(&p->violations, device, status == DEVLOG_OK ? err : &later);
    return status == DEVLOG_OK ? told : status;
}

/* Both are closed, whatever becomes of the first. */
static devlog_status close_logs(devlog_device *device, devlog_error *err)
{
    dl_profiler *p = device->profiler;
    devlog_error later;
    uint64_t found = 0;
    devlog_status status = p->capture ? clocks_found(device, &found, err) : DEVLOG_OK;
    dl_device_log_clock(p->log, found);
    devlog_status written = dl_device_log_close(p->log, status == DEVLOG_OK ? err : &later);
    if (status == DEVLOG_OK) status = written;
    p->log = NULL;
    devlog_status closed = capture_log_close(p->capture, status == DEVLOG_OK ? err : &later);
    p->capture = NULL;
    return status == DEVLOG_OK ? closed : status;
}

devlog_status profiler_end_log(devlog_device *device, devlog_error *err)
{
    return device->profiler && device->profiler->log ? close_logs(device, err) : DEVLOG_OK;
}

devlog_status devlog_set_profiler_location(devlog_device *device, const char *folder, devlog_error *err)
{
    char absolute[sizeof device->log_folder];
    if (!folder || !*folder) return dl_fail(err, DEVLOG_ERR_ARGUMENT, "the log folder must have a name");
    devlog_status moved = dl_absolute(absolute, sizeof absolute, folder, err);
    if (moved) return moved;
    if (periodic_on(device)) return periodic_move(device, absolute, err);
    strcpy(device->log_folder, absolute);
    dl_profiler *p = device->profiler;
    if (p && p->log) {
        devlog_status status = close_logs(device, err);
        free(p->log_path);
        p->log_path = NULL;
        if (status != DEVLOG_OK) return status;
    }
    return device->profile ? profiler_prepare(device, err) : DEVLOG_OK;
}

const char *devlog_profiler_log(const devlog_device *device)
{
    return device->profiler && device->profiler->log_path ? device->profiler->log_path : "";
}

devlog_status profiler_kept(const devlog_device *device, kept_which which, dl_str *out, devlog_error *err)
{
    dl_str_clear(out);
    if (!device->profile) return not_profiled(err);
    if (device->wishes.results < (which == KEPT_ALL ? DEVLOG_KEEP_ALL : DEVLOG_KEEP_LATEST))
        return dl_fail(err, DEVLOG_ERR_STATE,
                       "the device does not keep results of %s: open it with devlog_device_options.results",
                       which == KEPT_ALL ? "all launches" : "launches");
    if (!device->profiler) return DEVLOG_OK;
    return kept_capture(&device->profiler->kept, which, device->slot, out, err);
}

devlog_status profiler_meter_begin(devlog_device *device, devlog_error *err)
{
    devlog_status status = device->profile ? attach(device, err) : DEVLOG_OK;
    for (int m = 0; m < BUFFER_MEMORIES; m++)
        buffer_peak_since(device, (devlog_memory)m);
    if (status != DEVLOG_OK || !device->profiler) return status;
    device->profiler->metered_from = device->launches;
    device->profiler->meter = (meter){.on = true};
    return DEVLOG_OK;
}

void profiler_meter_end(devlog_device *device, profiler_metered *out)
{
    *out = (profiler_metered){.missing = !device->profiler};
    for (int m = 0; m < BUFFER_MEMORIES; m++) {
        out->has[m] = buffer_banks(device, (devlog_memory)m) > 0;
        out->peak[m] = buffer_peak_since(device, (devlog_memory)m);
    }
    if (!device->profiler) return;
    meter *m = &device->profiler->meter;
    out->spans = m->spans;
    out->n = m->n;
    out->missing = m->no_memory || m->n != device->launches - device->profiler->metered_from;
    *m = (meter){.on = false};
}

const profiler_totals *profiler_totals_of(const devlog_device *device)
{
    static const profiler_totals none;
    return device->profiler ? &device->profiler->totals : &none;
}

devlog_status profiler_free(devlog_device *device, devlog_error *err)
{
    dl_profiler *p = device->profiler;
    devlog_error later;
    ops_leave(device);
    devlog_status status = periodic_close(device, err);
    if (!p) return status;
    devlog_status closed = p->log ? close_logs(device, status == DEVLOG_OK ? err : &later) : DEVLOG_OK;
    if (status == DEVLOG_OK) status = closed;
    free(p->log_path);
    free(p->costs);
    dl_marks_free(&p->marks);
    kept_free(&p->kept);
    violations_free(&p->violations);
    free(p->meter.spans);
    dl_tables_free(&p->tables);
    clocks_free(device->clocks);
    device->clocks = NULL;
    free(p);
    device->profiler = NULL;
    return status;
}
