/* Clock synchronisation: see the header. */
#include "profiler/clock_sync.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/term.h"
#include "devlog/record.h"

enum {
    END_BURSTS = 5, /* when a device opens and closes: windows of four intervals for the fit */
    READS = 8,
    MOST_READS = 32, /* of a burst whose reads are all slower than a quarter above the quickest so far */
    ROUNDS = 4,
    STEP_CYCLES = 500,      /* while cores are compared on a simulator */
    QUICK_GAP_CYCLES = 500, /* between the bursts at an end there, when reads take no time */
    GAP_CYCLES = 20000,
    GAP_NS = 1000000, /* elsewhere */
    LONGEST_GAP_CYCLES = 100000,
    LONGEST_GAP_NS = 20000000,
    CHEAP_NS = 100000, /* a burst that takes less comes before every launch */
    DEAR_NS = 1000000000,
    LONGEST_BURST_NS = 20000000,
};

#define FIELD(device, member) ((device)->board.mailbox.base + (uint32_t)offsetof(devlog_mailbox, member))

dl_clocks *clocks_new(bool on)
{
    dl_clocks *c = calloc(1, sizeof *c);
    if (c) c->on = on;
    return c;
}

void clocks_free(dl_clocks *c)
{
    if (!c) return;
    free(c->samples);
    free(c->offsets);
    free(c->link_samples);
    free(c);
}

static uint64_t bytes_moved(const devlog_device *d)
{
    return d->transport.bytes_read + d->transport.bytes_written;
}

static devlog_status grow(void **items, size_t n, size_t *cap, size_t size, devlog_error *err)
{
    if (n < *cap) return DEVLOG_OK;
    size_t more = *cap ? 2 * *cap : 64;
    void *bigger = realloc(*items, more * size);
    if (!bigger) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for clock samples");
    *items = bigger;
    *cap = more;
    return DEVLOG_OK;
}

/* ---- The reference against the host -------------------------------------------------------------- */

/* Asks the manager for its clock; `before` and `after` are the host's. */
static devlog_status ask_manager(devlog_device *d, dl_clock_sample *out, devlog_error *err)
{
    dl_clocks *c = d->clocks;
    uint32_t number = ++c->requests << 6, answer[4] = {0};
    const uint32_t rest[3] = {DEVLOG_PEER_HOST, 0, 0};
    devlog_status status = dl_core_write(d, c->reference, FIELD(d, link_in) + 4, rest, sizeof rest, err);
    out->before = dl_transport_now(&d->transport);
    if (status == DEVLOG_OK) status = dl_core_write(d, c->reference, FIELD(d, link_in), &number, 4, err);
    uint64_t deadline = dl_now_ns() + d->timeout_ms * 1000000ull;
    for (;;) {
        if (status == DEVLOG_OK) status = dl_device_advance(d, 16, err);
        if (status == DEVLOG_OK)
            status = dl_core_read(d, c->reference, FIELD(d, link_out), answer, sizeof answer, err);
        out->after = dl_transport_now(&d->transport);
        if (status != DEVLOG_OK || answer[0] == (number | 1)) break;
        if (dl_now_ns() > deadline)
            return dl_fail(err, DEVLOG_ERR_TIMEOUT,
                           "core (%u,%u) does not answer with its clock within %u ms; DEVLOG_CLOCK_SYNC=0 "
                           "goes without",
                           c->reference.x, c->reference.y, d->timeout_ms);
    }
    out->cycles = (uint64_t)answer[3] << 32 | answer[2];
    return status;
}

/* Reads the low half of a counter; the rest follows from `high`, what the whole showed shortly before. */
static devlog_status read_counter(devlog_device *d, devlog_core core, uint64_t shortly_before,
                                  uint64_t *cycles, devlog_error *err)
{
    uint32_t low;
    devlog_status status = dl_core_read(d, core, d->board.clock_low, &low, 4, err);
    *cycles = shortly_before + (uint32_t)(low - (uint32_t)shortly_before);
    return status;
}

static devlog_status take_sample(devlog_device *d, uint64_t shortly_before, dl_clock_sample *out,
                                 devlog_error *err)
{
    if (d->board.clock_kind != BOARD_CLOCK_MMIO) return ask_manager(d, out, err);
    out->before = dl_transport_now(&d->transport);
    devlog_status status = read_counter(d, d->clocks->reference, shortly_before, &out->cycles, err);
    out->after = dl_transport_now(&d->transport);
    return status;
}

static devlog_status burst(devlog_device *d, devlog_error *err)
{
    dl_clocks *c = d->clocks;
    uint64_t started = dl_transport_now(&d->transport), moved = bytes_moved(d), cycles = 0;
    devlog_status status = DEVLOG_OK;
    if (d->board.clock_kind == BOARD_CLOCK_MMIO) status = devlog_wall_clock(d, c->reference, &cycles, err);
    size_t first = c->n_samples;
    uint64_t quickest = UINT64_MAX;
    int most = d->board.clock_kind == BOARD_CLOCK_MMIO ? MOST_READS : READS; /* messages wait for programs */
    for (int i = 0; status == DEVLOG_OK; i++) {
        bool enough = i == most || quickest <= c->round_trip_ns + c->round_trip_ns / 4 ||
                      dl_transport_now(&d->transport) - started >= CHEAP_NS;
        if (i >= READS && enough) break;
        status = grow((void **)&c->samples, c->n_samples, &c->cap_samples, sizeof *c->samples, err);
        if (status != DEVLOG_OK) break;
        dl_clock_sample *s = &c->samples[c->n_samples];
        status = take_sample(d, cycles, s, err);
        if (status != DEVLOG_OK) break;
        s->burst = c->bursts;
        cycles = s->cycles;
        /* A simulator whose time stands still between two reads has nothing new to tell. */
        if (i > 0 && s->cycles == s[-1].cycles && s->after == s[-1].after) break;
        if (s->after - s->before < quickest) quickest = s->after - s->before;
        if (c->round_trip_ns == 0 || quickest < c->round_trip_ns) c->round_trip_ns = quickest;
        c->n_samples++;
        if (s->after - started > LONGEST_BURST_NS && i >= 2) break;
    }
    if (c->n_samples > first) {
        const dl_clock_sample *s = &c->samples[first];
        if (first && s->cycles == s[-1].cycles && s->before == s[-1].before)
            c->n_samples = first; /* as above, since the last burst */
        else
            c->bursts++;
    }
    c->last_burst_ns = dl_transport_now(&d->transport);
    c->cost_ns += c->last_burst_ns - started;
    c->bytes += bytes_moved(d) - moved;
    return status;
}

/* Before the next burst at an end. What lies between the last launches is as well known as the slope behind
 * them, so the bursts when a device closes are as far apart as those before launches were. */
static devlog_status wait_a_little(devlog_device *d, devlog_error *err)
{
    const dl_clocks *c = d->clocks;
    uint64_t apart = c->n_launches > 1 ? (c->last_launch_ns - c->first_launch_ns) / (c->n_launches - 1) : 0;
    if (dl_transport_time_is_cycles(
            &d->transport)) { /* idle cycles have to be simulated: few where reads take no time */
        uint64_t cycles = apart * d->board.mhz / 1000;
        if (cycles < GAP_CYCLES) cycles = GAP_CYCLES;
        if (cycles > LONGEST_GAP_CYCLES) cycles = LONGEST_GAP_CYCLES;
        return dl_device_advance(d, c->round_trip_ns < 100 ? QUICK_GAP_CYCLES : (uint32_t)cycles, err);
    }
    if (apart < GAP_NS) apart = GAP_NS;
    if (apart > LONGEST_GAP_NS) apart = LONGEST_GAP_NS;
    dl_transport_wait_ms(&d->transport, (uint32_t)((apart + 999999) / 1000000));
    return DEVLOG_OK;
}

static devlog_status end_bursts(devlog_device *d, devlog_error *err)
{
    for (int i = 0; i < END_BURSTS; i++) {
        devlog_status status = burst(d, err);
        if (status == DEVLOG_OK && i + 1 < END_BURSTS) status = wait_a_little(d, err);
        if (status != DEVLOG_OK) return status;
    }
    return DEVLOG_OK;
}

/* ---- Cores against the reference ----------------------------------------------------------------- */

/* Lets the reference exchange messages with a peer, and returns the three stamps of the quickest exchange;
 * all zero when the peer did not answer. */
static devlog_status exchange(devlog_device *d, uint32_t peer, uint64_t stamps[3], devlog_error *err)
{
    dl_clocks *c = d->clocks;
    uint32_t number = ++c->requests, done, words[6];
    const uint32_t rest[2] = {peer, ROUNDS};
    devlog_status status = dl_core_write(d, c->reference, FIELD(d, sync.peer), rest, sizeof rest, err);
    if (status == DEVLOG_OK) status = dl_core_write(d, c->reference, FIELD(d, sync.go), &number, 4, err);
    uint64_t deadline = dl_now_ns() + d->timeout_ms * 1000000ull;
    for (;;) {
        if (status == DEVLOG_OK) status = dl_device_advance(d, STEP_CYCLES, err);
        if (status == DEVLOG_OK) status = dl_core_read(d, c->reference, FIELD(d, sync.done), &done, 4, err);
        if (status != DEVLOG_OK) return status;
        if (done == number) break;
        if (dl_now_ns() > deadline)
            return dl_fail(err, DEVLOG_ERR_TIMEOUT,
                           "core (%u,%u) did not finish comparing clocks within %u ms; DEVLOG_CLOCK_SYNC=0 "
                           "goes without",
                           c->reference.x, c->reference.y, d->timeout_ms);
    }
    status = dl_core_read(d, c->reference, FIELD(d, sync.sent), words, sizeof words, err);
    for (int i = 0; i < 3; i++)
        stamps[i] = (uint64_t)words[2 * i + 1] << 32 | words[2 * i];
    return status;
}

/* Reads the reference, the core, and the reference again. */
static devlog_status read_in_turn(devlog_device *d, devlog_core core, uint64_t stamps[3], devlog_error *err)
{
    uint64_t reference, there, best = UINT64_MAX;
    devlog_status status = devlog_wall_clock(d, d->clocks->reference, &reference, err);
    if (status == DEVLOG_OK) status = devlog_wall_clock(d, core, &there, err);
    for (int i = 0; i < ROUNDS && status == DEVLOG_OK; i++) {
        uint64_t sent = reference, back = reference;
        status = read_counter(d, d->clocks->reference, reference, &sent, err);
        if (status == DEVLOG_OK) status = read_counter(d, core, there, &there, err);
        if (status == DEVLOG_OK) status = read_counter(d, d->clocks->reference, sent, &back, err);
        reference = back;
        if (status != DEVLOG_OK || back - sent >= best) continue;
        best = back - sent;
        stamps[0] = sent;
        stamps[1] = there;
        stamps[2] = back;
    }
    return status;
}

static dl_core_offset *offset_of(dl_clocks *c, devlog_core core)
{
    for (size_t i = 0; i < c->n_offsets; i++)
        if (c->offsets[i].core.x == core.x && c->offsets[i].core.y == core.y) return &c->offsets[i];
    return NULL;
}

static devlog_status compare_core(void *context, devlog_core core, devlog_error *err)
{
    devlog_device *d = context;
    dl_clocks *c = d->clocks;
    if (core.x == c->reference.x && core.y == c->reference.y) return DEVLOG_OK;
    uint64_t stamps[3] = {0};
    dl_target at;
    devlog_status status = dl_device_target(d, core, &at, err);
    if (status == DEVLOG_OK && d->board.noc_regs[0])
        status = exchange(d, (uint32_t)at.x0 | (uint32_t)at.y0 << 6, stamps, err);
    else if (status == DEVLOG_OK && d->board.clock_kind == BOARD_CLOCK_MMIO)
        status = read_in_turn(d, core, stamps, err);
    if (status != DEVLOG_OK || stamps[2] == 0) return status;
    /* Both counters show whole cycles: each may be up to one further on. */
    int64_t lo = (int64_t)(stamps[1] - stamps[2]) - 1, hi = (int64_t)(stamps[1] - stamps[0]) + 1;
    dl_core_offset *o = offset_of(c, core);
    if (!o) {
        status = grow((void **)&c->offsets, c->n_offsets, &c->cap_offsets, sizeof *c->offsets, err);
        if (status == DEVLOG_OK) c->offsets[c->n_offsets++] = (dl_core_offset){core, lo, hi, false};
        return status;
    }
    if (lo > o->hi || hi < o->lo) { /* both are right: the counters do not run alike */
        o->moved = true;
        o->lo = lo < o->lo ? lo : o->lo;
        o->hi = hi > o->hi ? hi : o->hi;
    } else if (!o->moved) {
        o->lo = lo > o->lo ? lo : o->lo;
        o->hi = hi < o->hi ? hi : o->hi;
    }
    return DEVLOG_OK;
}

static devlog_status compare_if_new(void *context, devlog_core core, devlog_error *err)
{
    devlog_device *d = context;
    return offset_of(d->clocks, core) ? DEVLOG_OK : compare_core(context, core, err);
}

/* ---- The device against one that it is linked to ---- */

static bool is_up(const devlog_device *d, devlog_core core)
{
    return d->booted[core.y * d->board.n_columns + core.x];
}

/* The link joins the first core of both devices. */
static bool ends_here(const devlog_device *d)
{
    const dl_clocks *c = d->clocks;
    return c && c->on && c->has_reference && c->reference.x == 0 && c->reference.y == 0 &&
           is_up(d, c->reference);
}

/* That which was opened later asks. */
static devlog_status ask_linked(devlog_device *d, devlog_error *err)
{
    dl_clocks *c = d->clocks;
    if (!d->linked || !d->asks_linked || !ends_here(d) || !ends_here(d->linked)) return DEVLOG_OK;
    uint64_t stamps[3];
    devlog_status status = exchange(d, DEVLOG_PEER_LINK, stamps, err);
    if (status != DEVLOG_OK || stamps[2] == 0) return status;
    status = grow((void **)&c->link_samples, c->n_link_samples, &c->cap_link_samples, sizeof *c->link_samples,
                  err);
    if (status != DEVLOG_OK) return status;
    c->link_samples[c->n_link_samples++] = (dl_clock_sample){
        .before = stamps[0], .after = stamps[2], .cycles = stamps[1], .burst = (uint32_t)c->n_link_samples};
    c->link_to = d->linked->slot;
    return DEVLOG_OK;
}

static devlog_status end_asks(devlog_device *d, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (int i = 0; i < END_BURSTS && status == DEVLOG_OK; i++)
        status = ask_linked(d, err);
    return status;
}

/* ---- When ---------------------------------------------------------------------------------------- */

static devlog_status choose_reference(void *context, devlog_core core, devlog_error *err)
{
    (void)err;
    dl_clocks *c = context;
    if (!c->has_reference) c->reference = core;
    c->has_reference = true;
    return DEVLOG_OK;
}

devlog_status clocks_open(devlog_device *device, const devlog_program *program, devlog_error *err)
{
    dl_clocks *c = device->clocks;
    if (!c || !c->on) return DEVLOG_OK;
    devlog_status status = DEVLOG_OK;
    if (!c->has_reference) {
        status = program_each_core(program, choose_reference, c, err);
        if (status == DEVLOG_OK) status = end_bursts(device, err);
    }
    uint64_t started = dl_transport_now(&device->transport), moved = bytes_moved(device);
    if (status == DEVLOG_OK) status = program_each_core(program, compare_if_new, device, err);
    if (status == DEVLOG_OK && c->n_link_samples == 0) status = end_asks(device, err);
    c->cost_ns += dl_transport_now(&device->transport) - started;
    c->bytes += bytes_moved(device) - moved;
    return status;
}

devlog_status clocks_before_launch(devlog_device *device, devlog_error *err)
{
    dl_clocks *c = device->clocks;
    if (!c || !c->on || !c->has_reference) return DEVLOG_OK;
    devlog_status status = ask_linked(device, err);
    if (status != DEVLOG_OK) return status;
    c->last_launch_ns = dl_transport_now(&device->transport);
    if (c->n_launches++ == 0) c->first_launch_ns = c->last_launch_ns;
    bool cheap = c->round_trip_ns * READS < CHEAP_NS;
    if (!cheap && dl_transport_now(&device->transport) - c->last_burst_ns < DEAR_NS) return DEVLOG_OK;
    return burst(device, err);
}

devlog_status clocks_close(devlog_device *device, devlog_error *err)
{
    dl_clocks *c = device->clocks;
    if (!c || !c->on || !c->has_reference) return DEVLOG_OK;
    if (!is_up(device, c->reference)) return DEVLOG_OK; /* it hangs: nothing answers */
    devlog_status status = end_asks(device, err);
    if (status == DEVLOG_OK) status = end_bursts(device, err);
    for (size_t i = 0; i < c->n_offsets && status == DEVLOG_OK; i++)
        if (is_up(device, c->offsets[i].core)) status = compare_core(device, c->offsets[i].core, err);
    return status;
}
