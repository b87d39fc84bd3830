/* Payloads of a capture's frames but cores and their words (capture_read.c): taken apart and handed on. Nothing that a
 * file says is believed before it has been compared with what is there. */
#include "decode/capture/capture_payloads.h"

#include "decode/capture/capture_frame.h"

#include <stdlib.h>
#include <string.h>

typedef struct frame {
    const dl_capture_sink *sink;
    capture_open *open;
} frame;

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for reading a capture");
}

/* Room for all texts of a payload: each has a length of four bytes, which makes place for its NUL. */
static char *text_room(const cursor *c)
{
    return malloc((size_t)(c->end - c->at) + 1);
}

static devlog_status read_chip(frame *f, cursor *c, devlog_error *err)
{
    char *texts = text_room(c), *room = texts;
    if (!texts) return no_memory(err);
    dl_capture_chip chip = {.slot = take32(c), .max_cores = take32(c)};
    chip.freq_khz = take64(c);
    chip.together = take32(c);
    chip.arch = take_text(c, &room);
    chip.board = take_text(c, &room);
    chip.transport = take_text(c, &room);
    chip.boot = take_text(c, &room);
    if (c->end - c->at >= 8) chip.run = take64(c);
    if (c->end - c->at >= 8) chip.aiclk_khz = take64(c);
    if (c->end - c->at >= 8) chip.instructions = take64(c) & 1;
    devlog_status status = DEVLOG_OK;
    if (!c->bad) {
        uint32_t i = 0;
        f->open->any_chip = true;
        while (i < f->open->n && f->open->slots[i] != chip.slot)
            i++;
        if (i == f->open->n && i < CAPTURE_MAX_CHIPS) f->open->slots[f->open->n++] = chip.slot;
        if (f->sink->chip) status = f->sink->chip(f->sink->ctx, &chip, err);
    }
    free(texts);
    return status;
}

/* A line of a grid: how many coordinates, and these. */
static uint32_t take_line(cursor *c, uint8_t out[CHIP_GRID_LINE])
{
    const uint32_t n = take32(c);
    const uint8_t *line = n <= CHIP_GRID_LINE ? take(c, n) : NULL;
    if (!line) c->bad = true;
    if (line && n) memcpy(out, line, n);
    return line ? n : 0;
}

/* What stands behind the tiles is of a newer devlog. */
static devlog_status read_grid(frame *f, cursor *c, devlog_error *err)
{
    chip_grid g = {0};
    const uint32_t slot = take32(c), width = take32(c), height = take32(c);
    g.off_known = take32(c) & 1;
    g.off_columns = take64(c);
    g.off_rows = take64(c);
    g.n_columns = take_line(c, g.columns);
    g.n_rows = take_line(c, g.rows);
    g.n_tiles = take32(c);
    if (width > CHIP_GRID_SIDE || height > CHIP_GRID_SIDE || g.n_tiles > CHIP_GRID_TILES) c->bad = true;
    g.width = (uint8_t)width;
    g.height = (uint8_t)height;
    for (uint32_t i = 0; i < g.n_tiles && !c->bad; i++) {
        const uint8_t *tile = take(c, 3);
        if (tile) g.tiles[i] = (chip_tile){tile[0], tile[1], tile[2]};
    }
    if (!c->bad && !chip_grid_valid(&g)) c->bad = true;
    if (c->bad || !f->sink->grid) return DEVLOG_OK;
    return f->sink->grid(f->sink->ctx, &(dl_capture_grid){slot, &g}, err);
}

static devlog_status read_rank(frame *f, cursor *c, devlog_error *err)
{
    char *texts = text_room(c), *room = texts;
    if (!texts) return no_memory(err);
    dl_capture_rank rank = {.slot = take32(c), .rank = take32(c), .ranks = take32(c)};
    rank.host = take_text(c, &room);
    if (rank.ranks && rank.rank >= rank.ranks) c->bad = true;
    devlog_status status = DEVLOG_OK;
    if (!c->bad && f->sink->rank) status = f->sink->rank(f->sink->ctx, &rank, err);
    free(texts);
    return status;
}

static devlog_status read_elf(frame *f, cursor *c, devlog_error *err)
{
    char *texts = text_room(c), *room = texts;
    if (!texts) return no_memory(err);
    dl_capture_elf elf = {.slot = take32(c), .number = take32(c)};
    elf.path = take_text(c, &room);
    elf.source = take_text(c, &room);
    elf.build_id_size = take32(c);
    elf.build_id = take(c, elf.build_id_size);
    devlog_status status = DEVLOG_OK;
    if (!c->bad && f->sink->elf) status = f->sink->elf(f->sink->ctx, &elf, err);
    free(texts);
    return status;
}

static devlog_status read_violation(frame *f, cursor *c, devlog_error *err)
{
    char *texts = text_room(c), *room = texts;
    if (!texts) return no_memory(err);
    dl_capture_violation v = {.slot = take32(c)};
    uint32_t xy = take32(c);
    v.x = (uint16_t)xy;
    v.y = (uint16_t)(xy >> 16);
    v.index = take32(c);
    v.launch = take32(c);
    v.line = take32(c);
    v.times = take64(c);
    v.worst = take64(c);
    v.text = take_text(c, &room);
    v.file = take_text(c, &room);
    devlog_status status = DEVLOG_OK;
    if (!c->bad && f->sink->violation) status = f->sink->violation(f->sink->ctx, &v, err);
    free(texts);
    return status;
}

static devlog_status read_launch(frame *f, cursor *c, devlog_error *err)
{
    dl_capture_launch launch = {.slot = take32(c), .number = take32(c), .op = take32(c)};
    launch.call_start = take64(c);
    launch.call_end = take64(c);
    launch.pull_start = take64(c);
    launch.pull_end = take64(c);
    if (c->bad || !f->sink->launch) return DEVLOG_OK;
    return f->sink->launch(f->sink->ctx, &launch, err);
}

static devlog_status read_samples(frame *f, cursor *c, devlog_error *err)
{
    dl_clock_samples s = {.slot = take32(c), .peer = take32(c)};
    uint32_t n = take32(c);
    if (n > (size_t)(c->end - c->at) / 28) c->bad = true;
    if (c->bad || n == 0) return DEVLOG_OK;
    dl_clock_sample *items = malloc(n * sizeof *items);
    if (!items) return no_memory(err);
    for (uint32_t i = 0; i < n; i++) {
        items[i].before = take64(c);
        items[i].after = take64(c);
        items[i].cycles = take64(c);
        items[i].burst = take32(c);
    }
    s.items = items;
    s.n = n;
    devlog_status status = f->sink->samples ? f->sink->samples(f->sink->ctx, &s, err) : DEVLOG_OK;
    free(items);
    return status;
}

static devlog_status read_offsets(frame *f, cursor *c, devlog_error *err)
{
    dl_clock_offsets o = {.slot = take32(c)};
    uint32_t xy = take32(c), n = take32(c);
    o.reference_x = (uint16_t)xy;
    o.reference_y = (uint16_t)(xy >> 16);
    if (n > (size_t)(c->end - c->at) / 24) c->bad = true;
    if (c->bad) return DEVLOG_OK;
    dl_clock_offset *items = malloc((n + 1) * sizeof *items);
    if (!items) return no_memory(err);
    for (uint32_t i = 0; i < n; i++) {
        xy = take32(c);
        items[i].x = (uint16_t)xy;
        items[i].y = (uint16_t)(xy >> 16);
        items[i].moved = take32(c);
        items[i].lo = (int64_t)take64(c);
        items[i].hi = (int64_t)take64(c);
    }
    o.items = items;
    o.n = n;
    devlog_status status = f->sink->offsets ? f->sink->offsets(f->sink->ctx, &o, err) : DEVLOG_OK;
    free(items);
    return status;
}

/* A newer devlog may know more causes of waits: they are passed over. */
static devlog_status read_cycles(frame *f, cursor *c, devlog_error *err)
{
    enum { MOST_STALLS = 64 };
    char *texts = text_room(c), *room = texts;
    if (!texts) return no_memory(err);
    dl_capture_cycles y = {.slot = take32(c)};
    uint32_t xy = take32(c);
    y.x = (uint16_t)xy;
    y.y = (uint16_t)(xy >> 16);
    y.risc = take_text(c, &room);
    y.index = take32(c);
    y.elf = take32(c);
    y.launch = take32(c);
    y.kernel = take32(c) & 1;
    uint32_t stalls = take32(c), n = take32(c);
    if (stalls > MOST_STALLS || n > (size_t)(c->end - c->at) / (20 + 8 * (size_t)stalls)) c->bad = true;
    sim_cycles *items = c->bad ? NULL : calloc((size_t)n + 1, sizeof *items);
    devlog_status status = c->bad || items ? DEVLOG_OK : no_memory(err);
    for (uint32_t i = 0; i < n && items; i++) {
        items[i].pc = take32(c);
        items[i].count = take64(c);
        items[i].cycles = take64(c);
        for (uint32_t k = 0; k < stalls; k++) {
            uint64_t stalled = take64(c);
            if (k < SIM_STALLS) items[i].stalled[k] = stalled;
        }
        if (i && items[i].pc <= items[i - 1].pc) c->bad = true;
    }
    y.items = items;
    y.n = n;
    if (items && !c->bad && f->sink->cycles) status = f->sink->cycles(f->sink->ctx, &y, err);
    free(items);
    free(texts);
    return status;
}

static devlog_status read_host_sites(frame *f, cursor *c, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    const uint32_t slot = take32(c), n = take32(c);
    for (uint32_t i = 0; i < n && !c->bad && !status; i++) {
        char *texts = text_room(c), *room = texts;
        if (!texts) return no_memory(err);
        dl_host_site site = {.number = take32(c), .line = take32(c)};
        site.name = take_text(c, &room);
        site.function = take_text(c, &room);
        site.file = take_text(c, &room);
        if (!c->bad && f->sink->host_site) status = f->sink->host_site(f->sink->ctx, slot, &site, err);
        free(texts);
    }
    return status;
}

static devlog_status read_host_records(frame *f, cursor *c, devlog_error *err)
{
    char *texts = text_room(c), *room = texts;
    if (!texts) return no_memory(err);
    dl_host_records records = {.slot = take32(c), .thread = take32(c)};
    records.name = take_text(c, &room);
    records.lost = take64(c);
    records.elsewhere = take64(c);
    records.bytes = (const char *)c->at;
    records.size = (size_t)(c->end - c->at);
    devlog_status status = DEVLOG_OK;
    if (!c->bad && f->sink->host_records) status = f->sink->host_records(f->sink->ctx, &records, err);
    free(texts);
    return status;
}

static devlog_status read_host_memory(frame *f, cursor *c, devlog_error *err)
{
    dl_host_memory memory = {.slot = take32(c)};
    memory.unknown = take64(c);
    memory.twice = take64(c);
    memory.over = take64(c);
    return c->bad || !f->sink->host_memory ? DEVLOG_OK : f->sink->host_memory(f->sink->ctx, &memory, err);
}

static devlog_status read_host_clocks(frame *f, cursor *c, devlog_error *err)
{
    enum { BYTES = 40 };
    dl_capture_host_clocks clocks = {.slot = take32(c), .time_namespace = take64(c)};
    const uint32_t n = take32(c);
    if (n > (size_t)(c->end - c->at) / BYTES) c->bad = true;
    if (c->bad || !f->sink->host_clocks) return DEVLOG_OK;
    dl_clock_reading *items = malloc((n + 1) * sizeof *items);
    if (!items) return no_memory(err);
    for (uint32_t i = 0; i < n; i++) {
        items[i].before = take64(c);
        items[i].after = take64(c);
        items[i].real = take64(c);
        items[i].most = take64(c);
        items[i].likely = take64(c);
    }
    clocks.items = items;
    clocks.n = n;
    devlog_status status = f->sink->host_clocks(f->sink->ctx, &clocks, err);
    free(items);
    return status;
}

static devlog_status read_exchanges(frame *f, cursor *c, devlog_error *err)
{
    char *texts = text_room(c), *room = texts;
    if (!texts) return no_memory(err);
    dl_capture_exchanges x = {.slot = take32(c), .peer = take32(c)};
    x.boot = take_text(c, &room);
    x.time_namespace = take64(c);
    const uint32_t n = take32(c);
    if (n > (size_t)(c->end - c->at) / sizeof(devlog_clock_stamps)) c->bad = true;
    devlog_clock_stamps *items = c->bad || !f->sink->exchanges ? NULL : malloc((n + 1) * sizeof *items);
    devlog_status status = c->bad || !f->sink->exchanges || items ? DEVLOG_OK : no_memory(err);
    for (uint32_t i = 0; i < n && items; i++) {
        items[i].sent = take64(c);
        items[i].received = take64(c);
        items[i].answered = take64(c);
        items[i].arrived = take64(c);
    }
    x.items = items;
    x.n = n;
    if (items) status = f->sink->exchanges(f->sink->ctx, &x, err);
    free(items);
    free(texts);
    return status;
}

static devlog_status read_end(frame *f, cursor *c, devlog_error *err)
{
    (void)err;
    uint32_t slot = take32(c);
    for (uint32_t i = 0; i < f->open->n; i++)
        if (f->open->slots[i] == slot) {
            f->open->slots[i] = f->open->slots[--f->open->n];
            break;
        }
    return DEVLOG_OK;
}

static devlog_status (*const payloads[DL_FRAME_KINDS])(frame *, cursor *, devlog_error *) = {
    [DL_FRAME_CHIP] = read_chip,
    [DL_FRAME_ELF] = read_elf,
    [DL_FRAME_LAUNCH] = read_launch,
    [DL_FRAME_SAMPLES] = read_samples,
    [DL_FRAME_OFFSETS] = read_offsets,
    [DL_FRAME_END] = read_end,
    [DL_FRAME_CYCLES] = read_cycles,
    [DL_FRAME_VIOLATION] = read_violation,
    [DL_FRAME_HOST_SITES] = read_host_sites,
    [DL_FRAME_HOST_RECORDS] = read_host_records,
    [DL_FRAME_HOST_MEMORY] = read_host_memory,
    [DL_FRAME_GRID] = read_grid,
    [DL_FRAME_RANK] = read_rank,
    [DL_FRAME_HOST_CLOCKS] = read_host_clocks,
    [DL_FRAME_EXCHANGES] = read_exchanges,
};

devlog_status capture_payload(unsigned kind, cursor *c, const dl_capture_sink *sink, capture_open *open,
                              devlog_error *err)
{
    frame f = {.sink = sink, .open = open};
    return payloads[kind](&f, c, err);
}
