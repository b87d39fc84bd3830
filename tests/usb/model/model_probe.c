/* The model's probe: CMSIS-DAP commands, and where faults happen. */
#include "usb/model/model_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/term.h"
#include "device/board_sim.h"

const char *const model_fault_names[MODEL_FAULTS] = {
    "none", "stall-out", "stall-in", "short",   "empty",    "wrong-answer", "time-out",
    "late", "dmi-busy",  "slow",     "sb-busy", "sb-error", "unplug",
};

enum {
    FIRMWARE_CAPABILITIES = 0x02, /* JTAG */
    SLOW_CLOCKS = 11,
};

model_options model_defaults(const board *b)
{
    return (model_options){
        .serial = "DEVLOG0001",
        .idcode = b->usb_idcode ? b->usb_idcode : 0x1DE51001,
        .abits = 7,
        .packet_bytes = 512,
        .packet_count = 8,
        .cycles_per_tck = 4,
        .progbuf = 2,
    };
}

model *model_create(const board *b, const model_options *options)
{
    model *m = calloc(1, sizeof *m);
    sim_config *config = calloc(1, sizeof *config);
    sim_world_options world;
    if (m && config) {
        board_to_sim(b, config, &world);
        m->s = sim_create(config, NULL, 0);
    }
    free(config);
    if (!m || !m->s) {
        free(m);
        return NULL;
    }
    m->options = *options;
    m->mhz = b->mhz;
    m->n_harts = b->n_riscs;
    for (uint32_t i = 0; i < m->n_harts; i++)
        m->starts_alone[i] = b->riscs[i].reset_bit < 0;
    m->tile = (uint32_t)sim_tile_at(m->s, b->columns[0], b->rows[0]);
    /* No register holds the harts of a microcontroller: they run from power-on. Here there is no program in
     * flash that they could run, so they are found as if a debugger had halted them at their first
     * instruction. */
    for (uint32_t i = 0; i < b->n_riscs; i++) {
        if (b->riscs[i].reset_bit >= 0) continue;
        sim_hart_halt(m->s, m->tile, i, true);
        sim_hart_reset(m->s, m->tile, i, false);
    }
    m->started_ns = dl_now_ns();
    m->fault_at = UINT64_MAX;
    model_dm_reset(m);
    model_jtag_init(m);
    return m;
}

void model_destroy(model *m)
{
    if (!m) return;
    sim_destroy(m->s);
    free(m);
}

sim *model_sim(model *m)
{
    return m->s;
}

uint32_t model_tile(const model *m)
{
    return m->tile;
}

void model_arm(model *m, model_fault fault, uint32_t packet)
{
    m->fault = fault;
    m->fault_at = m->packets + packet;
    m->happened = m->repeats = false;
    m->dm.fail_next = m->dm.busy_next = m->jtag.busy_next = false;
}

void model_arm_all(model *m, model_fault fault)
{
    model_arm(m, fault, 0);
    m->repeats = true;
}

void model_speed(model *m, uint32_t cycles_per_tck)
{
    m->options.cycles_per_tck = cycles_per_tck;
}

void model_delay(model *m, uint32_t answer_us)
{
    m->options.answer_us = answer_us;
}

void model_set_progbuf(model *m, uint32_t words)
{
    m->options.progbuf = words;
}

void model_quick(model *m)
{
    m->jtag.extra = 0;
}

bool model_happened(const model *m)
{
    return m->happened;
}

uint64_t model_packets(const model *m)
{
    return m->packets;
}

uint64_t model_clocks(const model *m)
{
    return m->jtag.clocks;
}

uint64_t model_bus_reads(const model *m)
{
    return m->dm.reads;
}

uint64_t model_bus_writes(const model *m)
{
    return m->dm.writes;
}

double model_clock_at(const model *m, uint64_t ns)
{
    return ((double)ns - (double)m->started_ns) * m->mhz * 1e-3;
}

void model_run(model *m)
{
    while (m->pending > 0) {
        uint32_t n = m->pending > 100000 ? 100000 : (uint32_t)m->pending;
        sim_clock(m->s, n);
        m->pending -= n;
    }
    if (!m->options.real_time) return;
    uint64_t due = (dl_now_ns() - m->started_ns) * m->mhz / 1000, is = sim_chip_clock(m->s) + m->skipped;
    if (due <= is) return;
    sim_skip(m->s, due - is);
    m->skipped += due - is;
}

/* ---- Commands ------------------------------------------------------------------------------------ */

static uint32_t text(uint8_t *in, const char *s)
{
    uint32_t n = (uint32_t)strlen(s) + 1;
    in[1] = (uint8_t)n;
    memcpy(in + 2, s, n);
    return 2 + n;
}

static uint32_t info(const model *m, uint32_t id, uint8_t *in)
{
    switch (id) {
    case 0x01: return text(in, "devlog");
    case 0x02: return text(in, "device model");
    case 0x03: return text(in, m->options.serial);
    case 0x04: return text(in, "2.1.0");
    case 0xF0:
        in[1] = 1;
        in[2] = m->options.no_jtag ? 1 : FIRMWARE_CAPABILITIES;
        return 3;
    case 0xFE:
        in[1] = 1;
        in[2] = (uint8_t)m->options.packet_count;
        return 3;
    case 0xFF:
        in[1] = 2;
        in[2] = (uint8_t)m->options.packet_bytes;
        in[3] = (uint8_t)(m->options.packet_bytes >> 8);
        return 4;
    default: in[1] = 0; return 2;
    }
}

static uint32_t jtag_sequence(model *m, const uint8_t *out, uint32_t n, uint8_t *in)
{
    uint32_t at = 2, used = 2;
    in[1] = 0;
    for (uint32_t i = 0; i < out[1]; i++) {
        uint8_t how = at < n ? out[at++] : 0;
        uint32_t clocks = how & 63 ? how & 63 : 64, bytes = (clocks + 7) / 8;
        if (at + bytes > n || used + bytes > m->options.packet_bytes) {
            in[1] = 0xFF;
            return 2;
        }
        if (how >> 7) memset(in + used, 0, bytes);
        for (uint32_t k = 0; k < clocks; k++) {
            bool tdo = model_jtag_clock(m, how >> 6 & 1, out[at + k / 8] >> k % 8 & 1);
            if (how >> 7) in[used + k / 8] |= (uint8_t)(tdo << k % 8);
        }
        if (how >> 7) used += bytes;
        at += bytes;
    }
    return used;
}

static uint32_t swj_sequence(model *m, const uint8_t *out, uint32_t n, uint8_t *in)
{
    uint32_t bits = out[1] ? out[1] : 256;
    for (uint32_t k = 0; k < bits && 2 + k / 8 < n; k++)
        model_jtag_clock(m, out[2 + k / 8] >> k % 8 & 1, true);
    in[1] = 0;
    return 2;
}

static uint32_t command(model *m, const uint8_t *out, uint32_t n, uint8_t *in)
{
    in[0] = out[0];
    in[1] = 0;
    switch (out[0]) {
    case 0x00: return info(m, n > 1 ? out[1] : 0, in);
    case 0x02: in[1] = n > 1 && (out[1] == 2 || out[1] == 0) ? 2 : 0; return 2;
    case 0x0A: in[2] = 0; return 3;
    case 0x12: return swj_sequence(m, out, n, in);
    case 0x14: return jtag_sequence(m, out, n, in);
    case 0x01:
    case 0x03:
    case 0x04:
    case 0x09:
    case 0x10:
    case 0x11:
    case 0x13:
    case 0x15: return 2;
    default: in[0] = 0xFF; return 1;
    }
}

model_reply model_packet(model *m, const uint8_t *out, uint32_t n, uint8_t *in, uint32_t *n_in)
{
    bool here = m->packets == m->fault_at || (m->repeats && m->packets > m->fault_at);
    model_fault fault = here ? m->fault : MODEL_NO_FAULT;
    m->packets++;
    m->happened |= fault != MODEL_NO_FAULT;
    *n_in = 0;
    if (fault == MODEL_STALL_OUT) return MODEL_STALLS;
    if (fault == MODEL_UNPLUG) return MODEL_GONE;
    if (fault == MODEL_DMI_BUSY) m->jtag.busy_next = true;
    if (fault == MODEL_SLOW) m->jtag.extra = SLOW_CLOCKS;
    if (fault == MODEL_SB_BUSY) m->dm.busy_next = true;
    if (fault == MODEL_SB_ERROR) m->dm.fail_next = true;
    if (m->options.answer_us) usleep(m->options.answer_us / 2);
    *n_in = n ? command(m, out, n, in) : 0;
    if (m->options.answer_us) usleep(m->options.answer_us / 2);
    model_run(m);
    if (fault == MODEL_STALL_IN) return MODEL_STALLS_IN;
    if (fault == MODEL_TIMEOUT) return MODEL_SILENT;
    if (fault == MODEL_LATE) return MODEL_ANSWERS_LATE;
    if (fault == MODEL_SHORT) *n_in /= 2;
    if (fault == MODEL_EMPTY) *n_in = 0;
    if (fault == MODEL_WRONG_ANSWER) in[0] ^= 0x55;
    return MODEL_ANSWERS;
}

void model_restart(model *m)
{
    memset(&m->dm, 0, sizeof m->dm);
    memset(&m->jtag, 0, sizeof m->jtag);
    model_dm_reset(m);
    model_jtag_init(m);
    for (uint32_t i = 0; i < m->n_harts; i++)
        sim_hart_halt(m->s, m->tile, i, false);
    m->pending = 0;
}

const char *model_serial(const model *m)
{
    return m->options.serial;
}
