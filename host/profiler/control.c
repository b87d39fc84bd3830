/* What the host tells the profiler of each RISC before a launch. */
#include "profiler/control.h"

#include <stddef.h>

#include "base/error.h"
#include "device/buffers.h"

enum { DEFAULT_STREAM_BYTES = 16 << 20, STREAM_ALIGN = 32 };

/* The DRAM tiles that a RISC may write to by its NoC, and which of the RISCs of a core that may do so it is. */
typedef struct stream_share {
    uint32_t tiles[BOARD_MAX_DRAM], n_tiles;
    uint32_t riscs, index;
} stream_share;

static bool uses(const board *b, uint32_t risc, uint32_t tile)
{
    return b->dram_noc[tile] == BOARD_ANY_NOC || b->dram_noc[tile] == board_noc_of_risc(risc);
}

static stream_share share_of(const board *b, uint32_t risc)
{
    stream_share s = {.n_tiles = 0};
    for (uint32_t i = 0; i < b->n_dram; i++)
        if (uses(b, risc, i)) s.tiles[s.n_tiles++] = i;
    for (uint32_t i = 0; i < b->n_riscs; i++) {
        if (s.n_tiles == 0 || !uses(b, i, s.tiles[0])) continue;
        if (i < risc) s.index++;
        s.riscs++;
    }
    return s;
}

/* RISCs take turns over the DRAM tiles that they may use; in each tile their places fill the end of the memory, downwards. */
bool stream_place_of(const devlog_device *device, devlog_core core, uint32_t risc, stream_place *out)
{
    const board *b = &device->board;
    if (device->recording != DEVLOG_RECORD_STREAM) return false;
    const stream_share s = share_of(b, risc);
    if (s.n_tiles == 0) return false;
    uint32_t n = (core.y * b->n_columns + core.x) * s.riscs + s.index;
    board_xy tile = b->dram[s.tiles[n % s.n_tiles]];
    uint64_t top = b->dram_size < 1ull << 32 ? b->dram_size : 1ull << 32;
    uint64_t base = top - (uint64_t)(n / s.n_tiles + 1) * device->stream_bytes;
    *out = (stream_place){tile.x, tile.y, (uint32_t)base};
    return true;
}

/* The most RISCs that share a DRAM tile; 0: a RISC has none. */
static uint64_t most_per_tile(const board *b)
{
    uint64_t most = 0;
    for (uint32_t risc = 0; risc < b->n_riscs; risc++) {
        const stream_share s = share_of(b, risc);
        uint64_t all = (uint64_t)b->n_columns * b->n_rows * s.riscs;
        if (s.n_tiles == 0) return 0;
        if ((all + s.n_tiles - 1) / s.n_tiles > most) most = (all + s.n_tiles - 1) / s.n_tiles;
    }
    return most;
}

/* What a mode with so many bytes per RISC (0: as many as unless told) takes of them. */
static uint64_t aligned_stream(uint64_t bytes)
{
    return ((bytes ? bytes : DEFAULT_STREAM_BYTES) + STREAM_ALIGN - 1) / STREAM_ALIGN * STREAM_ALIGN;
}

uint64_t stream_bytes_of(const devlog_device *device)
{
    const bool later = !device->recording_chosen && device->profile;
    const devlog_recording recording = later ? device->wishes.recording : device->recording;
    if (recording != DEVLOG_RECORD_STREAM) return 0;
    const uint64_t each = later ? aligned_stream(device->wishes.stream_bytes) : device->stream_bytes;
    return most_per_tile(&device->board) * each;
}

/* Streams take the end of the DRAM, where no buffer may be then. */
static devlog_status end_is_free(const devlog_device *device, uint64_t stream_bytes, devlog_error *err)
{
    const allocator *a = buffer_allocator(device, DEVLOG_MEMORY_DRAM);
    const uint64_t limit = buffer_limit(device, DEVLOG_MEMORY_DRAM, stream_bytes);
    if (!a || allocator_extent(a) <= limit) return DEVLOG_OK;
    return dl_fail(
        err, DEVLOG_ERR_STATE,
        "buffers in DRAM reach to byte %llu of each tile, and streams of records want what begins at %llu: set the recording "
        "mode before they are made, or give it fewer bytes",
        (unsigned long long)allocator_extent(a), (unsigned long long)limit);
}

devlog_status devlog_set_recording(devlog_device *device, devlog_recording recording, uint32_t stream_bytes,
                                   devlog_error *err)
{
    const board *b = &device->board;
    devlog_status runs = dl_device_runs(device, "its recording mode cannot be set", err);
    if (runs != DEVLOG_OK) return runs;
    if (recording == DEVLOG_RECORD_AUTO) {
        recording = device->wishes.recording;
        if (!stream_bytes) stream_bytes = device->wishes.stream_bytes;
    }
    if ((unsigned)recording > DEVLOG_RECORD_STREAM)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "there is no recording mode %d", (int)recording);
    if (recording == DEVLOG_RECORD_STREAM) {
        uint64_t per_tile = most_per_tile(b);
        if (per_tile == 0 || b->noc_regs[0] == 0)
            return dl_fail(err, DEVLOG_ERR_UNSUPPORTED,
                           "board %s has no DRAM that its cores can write to: use stop or ring", b->name);
        const uint64_t bytes = aligned_stream(stream_bytes);
        uint64_t room = b->dram_size < 1ull << 32 ? b->dram_size : 1ull << 32;
        if (bytes > room / per_tile)
            return dl_fail(err, DEVLOG_ERR_UNSUPPORTED,
                           "board %s has room for %llu bytes of DRAM per RISC, not %llu", b->name,
                           (unsigned long long)(room / per_tile / STREAM_ALIGN * STREAM_ALIGN),
                           (unsigned long long)bytes);
        devlog_status fits = end_is_free(device, per_tile * bytes, err);
        if (fits != DEVLOG_OK) return fits;
        device->stream_bytes = (uint32_t)bytes;
    }
    device->recording = recording;
    device->recording_chosen = true;
    device->recording_version++;
    return DEVLOG_OK;
}

devlog_status devlog_set_classes(devlog_device *device, uint32_t mask, devlog_error *err)
{
    devlog_status status = dl_device_runs(device, "its markers cannot be switched", err);
    if (status == DEVLOG_OK) device->classes = mask;
    return status;
}

typedef struct arm {
    devlog_device *device;
    const devlog_program *program;
    bool events; /* a kernel uses the event stream of its tile */
} arm;

static devlog_status arm_core(void *context, devlog_core core, devlog_error *err)
{
    static const uint32_t modes[] = {
        [DEVLOG_RECORD_STOP] = DEVLOG_MODE_STOP,
        [DEVLOG_RECORD_RING] = DEVLOG_MODE_RING,
        [DEVLOG_RECORD_STREAM] = DEVLOG_MODE_STREAM,
    };
    const arm *a = context;
    devlog_device *device = a->device;
    for (uint32_t risc = 0; risc < device->board.n_riscs; risc++) {
        stream_place place = {0, 0, 0};
        bool streams = stream_place_of(device, core, risc, &place);
        bool events = a->events && risc == 0;
        const devlog_kernel *k = program_kernel_at(a->program, core, risc);
        uint32_t bytes = k ? program_record_bytes(k, device->recording) : 0;
        const board *b = &device->board;
        device->record_bytes[(core.y * b->n_columns + core.x) * b->n_riscs + risc] = (uint8_t)bytes;
        const uint32_t words[] = {
            DEVLOG_MODE(modes[device->recording], bytes),
            device->frozen ? DEVLOG_FROZEN_BY_HOST : 0,
            place.x | (uint32_t)place.y << 6,
            place.base,
            streams ? device->stream_bytes : 0,
        };
        const uint32_t buffer[] = {
            events ? device->board.events.base : 0,
            events ? device->board.events.size : 0,
        };
        uint32_t address =
            board_profiler_base(&device->board, risc) + DEVLOG_CONTROL_OFFSET(device->board.segment_bits);
        devlog_status status = dl_core_write(device, core, address + (uint32_t)offsetof(devlog_control, mode),
                                             words, sizeof words, err);
        if (status == DEVLOG_OK && risc == 0)
            status = dl_core_write(device, core, address + (uint32_t)offsetof(devlog_control, events_base),
                                   buffer, sizeof buffer, err);
        if (status != DEVLOG_OK) return status;
    }
    return DEVLOG_OK;
}

devlog_status control_arm(devlog_device *device, devlog_program *program, devlog_error *err)
{
    if (program->recording_version == device->recording_version) return DEVLOG_OK;
    arm a = {.device = device, .program = program};
    for (const devlog_kernel *k = program->kernels; k; k = k->next) {
        a.events |= kernel_streams_events(k);
        if (a.events && device->board.events.size == 0)
            return dl_fail(
                err, DEVLOG_ERR_UNSUPPORTED,
                "%s was compiled with -DDEVLOG_HW_STREAM, and the board file of %s has no region \"events\"",
                k->source, device->board.name);
    }
    devlog_status status = program_each_core(program, arm_core, &a, err);
    if (status == DEVLOG_OK) program->recording_version = device->recording_version;
    return status;
}

devlog_status devlog_freeze(devlog_device *device, bool frozen, devlog_error *err)
{
    devlog_status runs = dl_device_runs(device, "its records cannot be frozen", err);
    if (runs != DEVLOG_OK) return runs;
    device->frozen = frozen;
    device->recording_version++;
    const uint32_t word = frozen ? DEVLOG_FROZEN_BY_HOST : 0;
    const board *b = &device->board;
    for (uint32_t y = 0; y < b->n_rows; y++) {
        for (uint32_t x = 0; x < b->n_columns; x++) {
            if (!device->booted[y * b->n_columns + x]) continue;
            for (uint32_t risc = 0; risc < b->n_riscs; risc++) {
                uint32_t address = board_profiler_base(b, risc) + DEVLOG_CONTROL_OFFSET(b->segment_bits) +
                                   (uint32_t)offsetof(devlog_control, frozen);
                devlog_status status = dl_core_write(device, (devlog_core){x, y}, address, &word, 4, err);
                if (status != DEVLOG_OK) return status;
            }
        }
    }
    return DEVLOG_OK;
}
