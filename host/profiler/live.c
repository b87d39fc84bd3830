/* The last launch through the decoder, to Tracy. See the header. */
#include "profiler/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "decode/decode.h"
#include "outlets/tracy.h"
#include "profiler/clock_sync.h"

/* Zones as they are decoded. */
typedef struct found {
    dl_event *items;
    size_t n, cap;
} found;

bool live_wanted(void)
{
    outlets_open();
    return tracy_gpu_calls() != NULL;
}

static devlog_status take_runs(void *ctx, const dl_run *runs, size_t n, devlog_error *err)
{
    found *f = ctx;
    for (size_t r = 0; r < n; r++) {
        if (f->n + runs[r].n_events > f->cap) {
            const size_t cap = 2 * (f->n + runs[r].n_events);
            dl_event *grown = realloc(f->items, cap * sizeof *grown);
            if (!grown) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for what goes to Tracy");
            f->items = grown;
            f->cap = cap;
        }
        for (uint32_t i = 0; i < runs[r].n_events; i++)
            if (runs[r].events[i].kind == DL_EVENT_ZONE) f->items[f->n++] = runs[r].events[i];
    }
    return DEVLOG_OK;
}

__extension__ typedef unsigned __int128 wide;

static uint64_t ns_of(uint64_t cycles, uint64_t khz)
{
    return khz ? (uint64_t)((wide)cycles * 1000000 / khz) : cycles;
}

enum { ROW_NAME = 64 };

static void name_row(const dl_tables *t, const dl_stream *s, char name[ROW_NAME])
{
    snprintf(name, ROW_NAME, "chip %u core %u,%u %s", t->chips[s->chip].id, s->core_x, s->core_y,
             dl_intern_text(t->strings, s->risc_name, NULL));
}

/* Cycles to ns, numbers to texts. Returns the last end. */
static uint64_t fill(dl_tables *t, const found *f, tracy_device_zone *zones, char (*names)[ROW_NAME])
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < t->n_streams; i++)
        name_row(t, &t->streams[i], names[i]);
    for (size_t i = 0; i < f->n; i++) {
        const dl_event *e = &f->items[i];
        const dl_stream *s = &t->streams[e->stream];
        const dl_site *site = &t->sites[e->site];
        const dl_chip *chip = &t->chips[s->chip];
        zones[i] = (tracy_device_zone){.start = ns_of(e->start, chip->freq_khz),
                                       .end = ns_of(e->end, chip->freq_khz),
                                       .name = dl_intern_text(t->strings, site->name, NULL),
                                       .file = dl_intern_text(t->strings, site->file, NULL),
                                       .line = site->line,
                                       .depth = e->depth,
                                       .chip = (uint32_t)chip->id,
                                       .row = (uint32_t)s->core_x << 20 | (uint32_t)s->core_y << 8 | s->risc,
                                       .row_name = names[e->stream]};
        if (zones[i].end > last) last = zones[i].end;
    }
    return last;
}

/* What the chip's clock showed at a moment of the host's: by the last comparison of the two, else the launch ended just now. */
static void send(const devlog_device *d, tracy_device_zone *zones, size_t n, uint64_t last_end)
{
    const dl_clocks *c = d->clocks;
    const bool compared = c->n_samples && !dl_transport_time_is_cycles(&d->transport);
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t host = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec, chip = last_end;
    if (compared) {
        const dl_clock_sample *s = &c->samples[c->n_samples - 1];
        host = s->before + (s->after - s->before) / 2;
        chip = ns_of(s->cycles, d->board.mhz * 1000ull);
    }
    tracy_device_zones(zones, n, chip, host);
}

devlog_status live_send(const devlog_device *device, const kept *launch, devlog_error *err)
{
    if (!live_wanted()) return DEVLOG_OK;
    found f = {0};
    dl_str capture = {0};
    dl_decode *d = NULL;
    const dl_decode_options options = {.no_samples = true, .threads = 1};
    const dl_run_sink sink = {.ctx = &f, .wants = DL_WANT_EVENTS, .runs = take_runs};
    devlog_status status = kept_capture(launch, KEPT_LATEST, device->slot, &capture, err);
    if (!status) status = dl_decode_new(&d, &options, err);
    if (!status) status = dl_decode_run_sink(d, sink, err);
    if (!status && capture.len) status = dl_decode_memory(d, "a launch", capture.text, capture.len, err);
    if (!status) status = dl_decode_finish(d, err);
    if (!status && f.n) {
        dl_tables *t = dl_decode_tables(d);
        tracy_device_zone *zones = malloc(f.n * sizeof *zones);
        char(*names)[ROW_NAME] = malloc((t->n_streams + (size_t)1) * sizeof *names);
        if (zones && names)
            send(device, zones, f.n, fill(t, &f, zones, names));
        else
            status = dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for what goes to Tracy");
        free(zones);
        free(names);
    }
    dl_decode_free(d);
    dl_str_free(&capture);
    free(f.items);
    return status;
}
