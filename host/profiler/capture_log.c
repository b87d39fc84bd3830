/* The capture of a device: see the header. */
#include "profiler/capture_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/file.h"
#include "device/board_grid.h"
#include "profiler/live.h"

struct capture_log {
    devlog_device *device;
    dl_capture *capture;
    kept *memory;
    kept live;         /* of the last launch, when zones go out as they happen */
    size_t remembered; /* bytes of what is in hand that have been handed to it: a commit may fail */
    struct known_elf {
        uint8_t build_id[DL_BUILD_ID_MAX];
        uint32_t size;
    } * elfs; /* number - 1 - elfs_from is the index */
    uint32_t n_elfs;
    uint32_t elfs_from;
    uint32_t firmware[BOARD_MAX_RISCS]; /* numbers of their ELF files; DL_CAPTURE_NO_ELF: not put yet */
    size_t samples, link_samples;       /* of the clocks, that have been put */
    size_t offsets;
};

/* Two captures are of one boot when the host's monotonic clock and the chip's counters have not begun anew
 * in between. A simulated chip begins with its device. */
static devlog_status name_boot(dl_clocks *c, const devlog_device *d, devlog_error *err)
{
    if (c->boot[0]) return DEVLOG_OK;
    const dl_clocks *linked = d->linked ? d->linked->clocks : NULL;
    if (linked && linked->boot[0]) {
        memcpy(c->boot, linked->boot, sizeof c->boot);
        return DEVLOG_OK;
    }
    if (!dl_transport_time_is_cycles(&d->transport)) {
        dl_str text = {0};
        devlog_status status = dl_file_read("/proc/sys/kernel/random/boot_id", 256, &text, err);
        if (status == DEVLOG_OK)
            snprintf(c->boot, sizeof c->boot, "%.*s", (int)strcspn(text.text, "\n"), text.text);
        dl_str_free(&text);
        return status;
    }
    uint64_t random[2] = {0, 0};
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return dl_fail(err, DEVLOG_ERR_IO, "no random number for the name of this run");
    snprintf(c->boot, sizeof c->boot, "sim-%016llx%016llx", (unsigned long long)random[0],
             (unsigned long long)random[1]);
    return DEVLOG_OK;
}

static devlog_status commit(capture_log *log, devlog_error *err)
{
    const dl_str *hand = dl_capture_hand(log->capture);
    devlog_status status =
        kept_take(log->memory, hand->text + log->remembered, hand->len - log->remembered, err);
    if (status == DEVLOG_OK)
        status = kept_take(&log->live, hand->text + log->remembered, hand->len - log->remembered, err);
    if (status != DEVLOG_OK) return status;
    log->remembered = hand->len;
    status = dl_capture_commit(log->capture, err);
    if (status == DEVLOG_OK) log->remembered = 0;
    return status;
}

/* Writers of one file in turn may have the same chip number: who is not the first numbers its ELF files from somewhere
 * else, so that the numbers of one are not taken for the other's. */
static devlog_status number_apart(capture_log *log, devlog_error *err)
{
    if (!dl_capture_shared(log->capture)) return DEVLOG_OK;
    if (getrandom(&log->elfs_from, sizeof log->elfs_from, 0) != sizeof log->elfs_from)
        return dl_fail(err, DEVLOG_ERR_IO, "no random number for the kernels of this run");
    log->elfs_from = log->elfs_from >> 1 | 1u << 20; /* neither wraps nor is near the first one's */
    return DEVLOG_OK;
}

/* Where the cores are on the chip: records name them by logical coordinates. */
static devlog_status put_grid(capture_log *log, devlog_error *err)
{
    chip_grid grid;
    board_grid(&log->device->board, true, &grid);
    if (!chip_grid_valid(&grid)) return DEVLOG_OK; /* a board without a grid */
    return dl_capture_put_grid(log->capture, &(dl_capture_grid){log->device->slot, &grid}, err);
}

devlog_status capture_log_open(capture_log **out, devlog_device *device, bool append, kept *memory,
                               devlog_error *err)
{
    *out = NULL;
    const bool live = live_wanted();
    if (!device->wishes.capture && memory->keep == DEVLOG_KEEP_NONE && !live) return DEVLOG_OK;
    capture_log *log = calloc(1, sizeof *log);
    if (!log) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for a capture");
    log->device = device;
    log->memory = memory;
    log->live.keep = live ? DEVLOG_KEEP_LATEST : DEVLOG_KEEP_NONE;
    const char *folder = device->wishes.capture ? device->log_folder : NULL;
    devlog_status status = name_boot(device->clocks, device, err);
    if (status == DEVLOG_OK) status = dl_capture_open(&log->capture, folder, DL_CAPTURE_NAME, append, err);
    if (status == DEVLOG_OK) status = number_apart(log, err);
    const board *b = &device->board;
    const dl_capture_chip chip = {
        .slot = device->slot,
        .max_cores = b->n_columns * b->n_rows,
        .freq_khz = b->mhz * 1000ull,
        .together = b->clocks_start_together,
        .arch = b->arch,
        .board = b->name,
        .transport = device->transport.ops->name,
        .boot = device->clocks->boot,
        .run = devlog_ops_run(device->ops),
        .aiclk_khz = device->aiclk_khz,
        .instructions = device->transport.instructions,
    };
    if (status == DEVLOG_OK) status = dl_capture_put_chip(log->capture, &chip, err);
    if (status == DEVLOG_OK) status = put_grid(log, err);
    if (status == DEVLOG_OK) status = dl_capture_put_launched(log->capture, device->slot, err);
    if (status == DEVLOG_OK) status = dl_capture_put_host_now(log->capture, device->slot, err);
    if (status == DEVLOG_OK) status = commit(log, err);
    if (status != DEVLOG_OK) {
        dl_capture_close(log->capture);
        kept_free(&log->live);
        free(log);
        return status;
    }
    *out = log;
    return DEVLOG_OK;
}

/* The number of an ELF file, which is put when it is new. */
static devlog_status number_elf(capture_log *log, const dl_elf *elf, const char *path, const char *source,
                                uint32_t *number, devlog_error *err)
{
    for (uint32_t i = log->n_elfs; i > 0; i--) {
        const struct known_elf *e = &log->elfs[i - 1];
        if (e->size != elf->build_id_size || memcmp(e->build_id, elf->build_id, e->size) != 0) continue;
        *number = log->elfs_from + i;
        return DEVLOG_OK;
    }
    struct known_elf *bigger = realloc(log->elfs, (log->n_elfs + 1) * sizeof *bigger);
    if (!bigger) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for a capture");
    log->elfs = bigger;
    struct known_elf *e = &bigger[log->n_elfs++];
    *e = (struct known_elf){.size = elf->build_id_size};
    memcpy(e->build_id, elf->build_id, e->size);
    *number = log->elfs_from + log->n_elfs;
    const dl_capture_elf put = {
        .slot = log->device->slot,
        .number = *number,
        .path = path,
        .source = source,
        .build_id = elf->build_id,
        .build_id_size = elf->build_id_size,
    };
    return dl_capture_put_elf(log->capture, &put, err);
}

static devlog_status number_kernel(capture_log *log, const devlog_kernel *kernel, uint32_t *number,
                                   devlog_error *err)
{
    *number = DL_CAPTURE_NO_ELF;
    return kernel ? number_elf(log, &kernel->elf, kernel->path, kernel->source, number, err) : DEVLOG_OK;
}

/* It was compiled when the core was booted, and is in the cache. */
static devlog_status number_firmware(capture_log *log, uint32_t risc, uint32_t *number, devlog_error *err)
{
    *number = log->firmware[risc];
    if (*number != DL_CAPTURE_NO_ELF) return DEVLOG_OK;
    const compile_job job = {.board = &log->device->board, .risc = risc, .profile = log->device->profile};
    char path[COMPILE_PATH];
    dl_elf elf;
    devlog_status status = compile(&job, path, err);
    if (status == DEVLOG_OK) status = dl_elf_read(path, &elf, err);
    if (status != DEVLOG_OK) return status;
    status = number_elf(log, &elf, path, "firmware", number, err);
    dl_elf_free(&elf);
    log->firmware[risc] = *number;
    return status;
}

static bool is_of(const devlog_kernel *kernel, uint32_t pc)
{
    for (uint32_t i = 0; kernel && i < kernel->elf.n_segments; i++)
        if (pc - kernel->elf.segments[i].address < kernel->elf.segments[i].size) return true;
    return false;
}

/* The kernel's instructions come first in `items` afterwards; returns how many they are. */
static size_t kernel_first(const devlog_kernel *kernel, sim_cycles *items, sim_cycles *room, size_t n)
{
    size_t of_kernel = 0, others = 0;
    for (size_t i = 0; i < n; i++)
        if (is_of(kernel, items[i].pc))
            items[of_kernel++] = items[i];
        else
            room[others++] = items[i];
    memcpy(items + of_kernel, room, others * sizeof *items);
    return of_kernel;
}

static devlog_status put_cycles(capture_log *log, const devlog_kernel *kernel, devlog_core core,
                                uint32_t risc, sim_cycles *items, size_t n, devlog_error *err)
{
    sim_cycles *room = malloc((n + 1) * sizeof *room);
    if (!room) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for a capture");
    const size_t own = kernel_first(kernel, items, room, n);
    free(room);
    dl_capture_cycles put = {
        .slot = log->device->slot,
        .x = (uint16_t)core.x,
        .y = (uint16_t)core.y,
        .risc = log->device->board.riscs[risc].log_name,
        .index = risc,
        .launch = log->device->launches,
        .kernel = true,
        .items = items,
        .n = own,
    };
    devlog_status status = number_kernel(log, kernel, &put.elf, err);
    if (status == DEVLOG_OK) status = dl_capture_put_cycles(log->capture, &put, err);
    put.kernel = false;
    put.items = items + own;
    put.n = n - own;
    if (status == DEVLOG_OK) status = number_firmware(log, risc, &put.elf, err);
    return status == DEVLOG_OK ? dl_capture_put_cycles(log->capture, &put, err) : status;
}

devlog_status capture_log_cycles(capture_log *log, const devlog_program *program, devlog_core core,
                                 devlog_error *err)
{
    dl_target at;
    if (!log || !log->device->transport.ops->cycles) return DEVLOG_OK;
    dl_transport *t = &log->device->transport;
    devlog_status status = dl_device_target(log->device, core, &at, err);
    for (uint32_t risc = 0; risc < log->device->board.n_riscs && status == DEVLOG_OK; risc++) {
        sim_cycles *items;
        size_t n;
        if (!t->ops->cycles(t, at, risc, &items, &n)) continue;
        status = put_cycles(log, program_kernel_at(program, core, risc), core, risc, items, n, err);
        free(items);
    }
    return status;
}

devlog_status capture_log_core(capture_log *log, const devlog_program *program, const pulled *riscs,
                               uint32_t n_riscs, const pulled_events *events, uint64_t events_from,
                               devlog_error *err)
{
    if (!log) return DEVLOG_OK;
    dl_capture_risc put[BOARD_MAX_RISCS];
    dl_capture_core core = {
        .slot = log->device->slot,
        .x = (uint16_t)riscs[0].core.x,
        .y = (uint16_t)riscs[0].core.y,
        .riscs = put,
        .events = events->words,
        .n_events = events->n_words,
        .events_from = events_from,
    };
    for (uint32_t i = 0; i < n_riscs; i++) {
        const pulled *got = &riscs[i];
        if (!got->alive && !got->damaged) continue;
        dl_capture_risc *risc = &put[core.n_riscs++];
        *risc = (dl_capture_risc){
            .name = log->device->board.riscs[got->risc].log_name,
            .index = got->risc,
            .control = got->control,
            .spans = got->spans,
            .n_spans = got->n_spans,
        };
        devlog_status status =
            number_kernel(log, program_kernel_at(program, got->core, got->risc), &risc->elf, err);
        if (status != DEVLOG_OK) return status;
    }
    return core.n_riscs ? dl_capture_put_core(log->capture, &core, err) : DEVLOG_OK;
}

devlog_status capture_log_violation(capture_log *log, const dl_capture_violation *v, devlog_error *err)
{
    return log ? dl_capture_put_violation(log->capture, v, err) : DEVLOG_OK;
}

static devlog_status put_offsets(capture_log *log, devlog_error *err)
{
    const dl_clocks *c = log->device->clocks;
    dl_clock_offset *items = malloc((c->n_offsets + 1) * sizeof *items);
    if (!items) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for a capture");
    for (size_t i = 0; i < c->n_offsets; i++) {
        const dl_core_offset *o = &c->offsets[i];
        items[i] = (dl_clock_offset){(uint16_t)o->core.x, (uint16_t)o->core.y, o->moved, o->lo, o->hi};
    }
    const dl_clock_offsets put = {
        .slot = log->device->slot,
        .reference_x = (uint16_t)c->reference.x,
        .reference_y = (uint16_t)c->reference.y,
        .items = items,
        .n = c->n_offsets,
    };
    log->offsets = c->n_offsets;
    devlog_status status = dl_capture_put_offsets(log->capture, &put, err);
    free(items);
    return status;
}

/* What has been added to the clocks since the last time. */
static devlog_status put_clocks(capture_log *log, bool last, devlog_error *err)
{
    const dl_clocks *c = log->device->clocks;
    dl_clock_samples host = {log->device->slot, DL_CLOCK_HOST, c->samples + log->samples,
                             c->n_samples - log->samples};
    dl_clock_samples link = {log->device->slot, c->link_to, c->link_samples + log->link_samples,
                             c->n_link_samples - log->link_samples};
    devlog_status status = host.n ? dl_capture_put_samples(log->capture, &host, err) : DEVLOG_OK;
    if (status == DEVLOG_OK && link.n) status = dl_capture_put_samples(log->capture, &link, err);
    log->samples = c->n_samples;
    log->link_samples = c->n_link_samples;
    bool offsets = c->has_reference && (last || c->n_offsets != log->offsets);
    return status == DEVLOG_OK && offsets ? put_offsets(log, err) : status;
}

devlog_status capture_log_commit(capture_log *log, const dl_capture_launch *launch, devlog_error *err)
{
    if (!log) return DEVLOG_OK;
    devlog_status status = dl_capture_put_launch(log->capture, launch, err);
    if (status == DEVLOG_OK) status = put_clocks(log, false, err);
    if (status == DEVLOG_OK) status = commit(log, err);
    return status == DEVLOG_OK && log->live.keep ? live_send(log->device, &log->live, err) : status;
}

devlog_status capture_log_close(capture_log *log, devlog_error *err)
{
    if (!log) return DEVLOG_OK;
    devlog_status status = put_clocks(log, true, err);
    if (status == DEVLOG_OK) status = dl_capture_put_host_now(log->capture, log->device->slot, err);
    if (status == DEVLOG_OK) status = dl_capture_put_end(log->capture, log->device->slot, err);
    if (status == DEVLOG_OK) status = commit(log, err);
    dl_capture_close(log->capture);
    kept_free(&log->live);
    free(log->elfs);
    free(log);
    return status;
}
