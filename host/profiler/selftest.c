/* The self test of a board: see the header. Everything goes through the same functions as any program's, so
 * that a board that passes can be used. */
#include "profiler/selftest.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "decode/capture/records.h"
#include "profiler/control.h"
#include "profiler/pull.h"

enum {
    MEMORY_BYTES = 4096, /* of each core that are written and read */
    RESULT_BYTES = 4 * DEVLOG_MAX_RISCS,
    FEW = 10,              /* zones of the first launch */
    CLOCK_CYCLES = 100000, /* a simulator counts them exactly; of 32 chips, a million take a minute */
    CLOCK_MS = 200,
    SEED = 12345,
};

typedef struct test {
    devlog_device *device;
    uint32_t cores, failed;
    selftest_fn *fn;
    void *context;
    devlog_program *program;
    devlog_kernel *kernels[DEVLOG_MAX_RISCS];
} test;

static devlog_core core_at(const test *t, uint32_t i)
{
    return (devlog_core){i % t->device->board.n_columns, i / t->device->board.n_columns};
}

static devlog_status tell(test *t, const char *check, bool ok, devlog_error *err, const char *fmt, ...)
    DL_PRINTF(5, 6);
static devlog_status tell(test *t, const char *check, bool ok, devlog_error *err, const char *fmt, ...)
{
    selftest_line line = {.check = check, .ok = ok};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line.found, sizeof line.found, fmt, ap);
    va_end(ap);
    t->failed += !ok;
    return t->fn(t->context, &line, err);
}

/* ---- Memory -------------------------------------------------------------------------------------- */

/* Different at every address and on every core, so that what is mixed up shows. */
static void pattern(uint8_t *bytes, uint32_t n, uint32_t core, uint32_t pass)
{
    uint32_t x = core * 2654435761u + pass * 40503u + 1;
    for (uint32_t i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        bytes[i] = (uint8_t)(x >> 24);
    }
}

static devlog_status check_memory(test *t, devlog_error *err)
{
    const board_region *user = &t->device->board.user;
    uint8_t want[MEMORY_BYTES], got[MEMORY_BYTES];
    uint32_t n = user->size < MEMORY_BYTES ? user->size : MEMORY_BYTES;
    for (uint32_t pass = 0; pass < 2; pass++) {
        /* At the beginning, then at the end; all cores are written before any is read. */
        uint32_t address = pass ? user->base + user->size - n : user->base;
        for (uint32_t i = 0; i < t->cores; i++) {
            pattern(want, n, i, pass);
            devlog_status status = dl_core_write(t->device, core_at(t, i), address, want, n, err);
            if (status != DEVLOG_OK) return status;
        }
        for (uint32_t i = 0; i < t->cores; i++) {
            pattern(want, n, i, pass);
            devlog_status status = dl_core_read(t->device, core_at(t, i), address, got, n, err);
            if (status != DEVLOG_OK) return status;
            for (uint32_t k = 0; k < n; k++)
                if (got[k] != want[k])
                    return tell(t, "memory", false, err,
                                "core (%u,%u): 0x%02x read at 0x%08x, 0x%02x written", core_at(t, i).x,
                                core_at(t, i).y, got[k], address + k, want[k]);
        }
    }
    return tell(t, "memory", true, err, "%u cores, 2 x %u bytes each read as written", t->cores, n);
}

/* ---- Clock --------------------------------------------------------------------------------------- */

static devlog_status check_clock(test *t, devlog_error *err)
{
    const board *b = &t->device->board;
    uint64_t from, until;
    const devlog_core core = core_at(t, 0);
    if (b->clock_kind != BOARD_CLOCK_MMIO)
        return tell(t, "clock", true, err,
                    "mcycle: cannot be read from outside; see the order of the markers");
    /* The counter is read at some time between two readings of the host's clock. */
    dl_transport *transport = &t->device->transport;
    uint64_t at[4] = {dl_transport_now(transport)};
    devlog_status status = devlog_wall_clock(t->device, core, &from, err);
    at[1] = dl_transport_now(transport);
    if (status == DEVLOG_OK && dl_transport_time_is_cycles(transport))
        status = dl_device_advance(t->device, CLOCK_CYCLES, err);
    else
        dl_transport_wait_ms(transport, CLOCK_MS);
    at[2] = dl_transport_now(transport);
    if (status == DEVLOG_OK) status = devlog_wall_clock(t->device, core, &until, err);
    at[3] = dl_transport_now(transport);
    if (status != DEVLOG_OK) return status;
    if (until <= from || at[2] <= at[1])
        return tell(t, "clock", false, err, "the counter stands still at %" PRIu64, from);
    double least = (double)(until - from) * 1000 / (double)(at[3] - at[0]);
    double most = (double)(until - from) * 1000 / (double)(at[2] - at[1]);
    bool near = most >= 0.95 * b->mhz && least <= 1.05 * b->mhz;
    char range[64];
    snprintf(range, sizeof range, most - least < 0.0005 ? "%.3f" : "%.3f to %.3f", least, most);
    return tell(t, "clock", near, err, "%s MHz measured, the board file says %u%s", range, b->mhz,
                near ? "" : ": durations in nanoseconds will be wrong");
}

/* ---- A kernel ------------------------------------------------------------------------------------ */

static devlog_status make_program(test *t, devlog_error *err)
{
    const board *b = &t->device->board;
    char path[4096];
    devlog_status status = devlog_program_create(t->device, &t->program, err);
    if (status == DEVLOG_OK)
        status = dl_join(path, sizeof path, dl_home(), "firmware/kernels/selftest.c", err);
    /* Whole rows of cores: a rectangle. */
    uint32_t width = t->cores < b->n_columns ? t->cores : b->n_columns;
    t->cores = t->cores / width * width;
    for (uint32_t risc = 0; risc < b->n_riscs && status == DEVLOG_OK; risc++) {
        const devlog_kernel_options options =
            DEVLOG_KERNEL_OPTIONS(.source = path, .risc = b->riscs[risc].name,
                                  .cores = {0, 0, width - 1, t->cores / width - 1});
        status = devlog_program_add_kernel(t->program, &options, &t->kernels[risc], err);
    }
    return status;
}

/* One launch with so many zones on every RISC. */
static devlog_status launch_zones(test *t, uint32_t zones, devlog_error *err)
{
    const board *b = &t->device->board;
    devlog_status status = DEVLOG_OK;
    for (uint32_t i = 0; i < t->cores; i++) {
        static const uint8_t zeros[RESULT_BYTES];
        status = dl_core_write(t->device, core_at(t, i), b->user.base, zeros, sizeof zeros, err);
        for (uint32_t risc = 0; risc < b->n_riscs && status == DEVLOG_OK; risc++) {
            const uint32_t args[] = {zones, b->user.base + 4 * risc, SEED + 100 * i + risc};
            status = devlog_kernel_set_args(t->kernels[risc], core_at(t, i), args, 3, err);
        }
        if (status != DEVLOG_OK) return status;
    }
    status = devlog_compile_program(t->program, err);
    if (status == DEVLOG_OK) status = devlog_configure_device_with_program(t->device, t->program, err);
    if (status == DEVLOG_OK) status = control_arm(t->device, t->program, err);
    return status == DEVLOG_OK ? program_launch(t->device, t->program, err) : status;
}

/* What firmware/kernels/selftest.c computes. */
static uint32_t step(uint32_t x, uint32_t i)
{
    return x * 1664525u + 1013904223u + x / (i + 3u);
}

static devlog_status check_results(test *t, uint32_t zones, devlog_error *err)
{
    const board *b = &t->device->board;
    for (uint32_t i = 0; i < t->cores; i++) {
        uint32_t got[DEVLOG_MAX_RISCS];
        devlog_status status = dl_core_read(t->device, core_at(t, i), b->user.base, got, sizeof got, err);
        if (status != DEVLOG_OK) return status;
        for (uint32_t risc = 0; risc < b->n_riscs; risc++) {
            uint32_t want = SEED + 100 * i + risc;
            for (uint32_t k = 0; k < zones; k++)
                want = step(want, k);
            if (got[risc] != want)
                return tell(t, "results", false, err, "%s of core (%u,%u) computed 0x%08x, expected 0x%08x",
                            b->riscs[risc].name, core_at(t, i).x, core_at(t, i).y, got[risc], want);
        }
    }
    return tell(t, "results", true, err, "%u RISCs computed what they should", t->cores * b->n_riscs);
}

/* ---- Markers ------------------------------------------------------------------------------------- */

typedef struct counted {
    uint64_t records, dropped, words;
    uint64_t last;
    uint32_t backwards;
} counted;

static devlog_status count_record(void *context, const record_event *event, devlog_error *err)
{
    (void)err;
    counted *c = context;
    c->records += event->kind == DEVLOG_KIND_ZONE || event->kind == DEVLOG_KIND_ZONE_END;
    c->backwards += event->time < c->last;
    c->last = event->time;
    return DEVLOG_OK;
}

static uint64_t stamp(const devlog_control *c, uint32_t id)
{
    return c->stamps[2 * (id - 1)] | (uint64_t)c->stamps[2 * (id - 1) + 1] << 32;
}

/* What one RISC recorded in the last launch, cleared on the device. *wrong: what is wrong, or NULL. */
static devlog_status count_risc(test *t, devlog_core core, uint32_t risc, counted *out, const char **wrong,
                                devlog_error *err)
{
    pulled p;
    devlog_status status = pull_risc(t->device, core, risc, t->device->launches, true, &p, err);
    if (status != DEVLOG_OK) return status;
    const record_input in = {.spans = p.spans,
                             .n_spans = p.n_spans,
                             .elf = &t->kernels[risc]->elf,
                             .from = stamp(&p.control, DEVLOG_ID_FW_START),
                             .until = stamp(&p.control, DEVLOG_ID_FW_END)};
    record_losses losses = {0};
    memset(out, 0, sizeof *out);
    status = records_decode(&in, count_record, out, &losses, err);
    out->dropped = p.control.dropped;
    out->words = p.n_words;
    if (!p.alive)
        *wrong = "has recorded nothing of this launch";
    else if (p.damaged || losses.damaged_words || losses.cut || losses.unnamed)
        *wrong = "has records that make no sense";
    else if (p.control.marks != 0xF)
        *wrong = "lacks a default marker";
    else if (out->backwards || in.from > stamp(&p.control, DEVLOG_ID_KERNEL_START) ||
             stamp(&p.control, DEVLOG_ID_KERNEL_START) > stamp(&p.control, DEVLOG_ID_KERNEL_END) ||
             stamp(&p.control, DEVLOG_ID_KERNEL_END) > in.until || (out->last && out->last > in.until))
        *wrong = "has stamps that go back";
    pulled_free(&p);
    return status;
}

/* Emitted = recorded + dropped, on every RISC; `full`: there must be drops. */
static devlog_status check_markers(test *t, const char *check, uint32_t zones, bool full, devlog_error *err)
{
    const board *b = &t->device->board;
    counted sum = {0};
    for (uint32_t i = 0; i < t->cores; i++) {
        for (uint32_t risc = 0; risc < b->n_riscs; risc++) {
            const char *wrong = NULL;
            counted c;
            devlog_core core = core_at(t, i);
            devlog_status status = count_risc(t, core, risc, &c, &wrong, err);
            if (status != DEVLOG_OK) return status;
            if (wrong)
                return tell(t, check, false, err, "%s of core (%u,%u) %s", b->riscs[risc].name, core.x,
                            core.y, wrong);
            if (c.records + c.dropped != 2ull * zones || full != (c.dropped > 0))
                return tell(t, check, false, err,
                            "%s of core (%u,%u): %" PRIu64 " markers recorded and %" PRIu64 " dropped of %u",
                            b->riscs[risc].name, core.x, core.y, c.records, c.dropped, 2 * zones);
            sum.records += c.records;
            sum.dropped += c.dropped;
        }
    }
    return tell(t, check, true, err,
                "%" PRIu64 " markers: %" PRIu64 " recorded, %" PRIu64 " counted as dropped",
                sum.records + sum.dropped, sum.records, sum.dropped);
}

/* ---- All of it ----------------------------------------------------------------------------------- */

/* A failure of the device while checking is the result of that check. */
static devlog_status as_line(test *t, const char *check, devlog_status status, devlog_error *err)
{
    if (status == DEVLOG_OK || status == DEVLOG_ERR_MEMORY || status == DEVLOG_ERR_COMPILE ||
        status == DEVLOG_ERR_NOT_FOUND)
        return status;
    char text[200];
    snprintf(text, sizeof text, "%s", err->text);
    return tell(t, check, false, err, "%s", text);
}

devlog_status selftest_run(devlog_device *device, const selftest_options *options, selftest_fn *fn,
                           void *context, uint32_t *failed, devlog_error *err)
{
    const board *b = &device->board;
    test t = {.device = device, .cores = b->n_columns * b->n_rows, .fn = fn, .context = context};
    if (options->cores > t.cores)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "there are no %u cores to test: %s has %u", options->cores,
                       b->title, t.cores);
    if (options->cores) t.cores = options->cores;
    /* More than both segments hold, in records of 8 bytes. */
    const uint32_t many = DEVLOG_SEGMENT_BYTES(b->segment_bits) / 8 + 50;
    devlog_status status = make_program(&t, err);
    if (status == DEVLOG_OK) status = as_line(&t, "memory", check_memory(&t, err), err);
    if (status == DEVLOG_OK && t.failed == 0) {
        status = launch_zones(&t, FEW, err);
        if (status == DEVLOG_OK)
            status = tell(&t, "start", true, err, "firmware and kernels start on %u cores", t.cores);
        else
            status = as_line(&t, "start", status, err);
    }
    if (status == DEVLOG_OK && t.failed == 0) {
        status = as_line(&t, "results", check_results(&t, FEW, err), err);
        if (status == DEVLOG_OK) status = as_line(&t, "clock", check_clock(&t, err), err);
        if (status == DEVLOG_OK)
            status = as_line(&t, "markers", check_markers(&t, "markers", FEW, false, err), err);
        if (status == DEVLOG_OK) status = as_line(&t, "drops", launch_zones(&t, many, err), err);
        if (status == DEVLOG_OK)
            status = as_line(&t, "drops", check_markers(&t, "drops", many, true, err), err);
    }
    devlog_program_free(t.program);
    *failed = t.failed;
    return status;
}
