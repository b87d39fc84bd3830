/* The model's debug module: harts, abstract commands, a program buffer, system bus access. */
#include "usb/model/model_internal.h"

#include <string.h>

enum {
    ERR_BUSY = 1,
    ERR_UNSUPPORTED = 2,
    ERR_EXCEPTION = 3,
    ERR_STATE = 4,
    CSR_MISA = 0x301,
    CSR_MSTATUS = 0x300,
    CSR_DCSR = 0x7B0,
    CSR_DPC = 0x7B1,
    CSR_MHARTID = 0xF14,
    MISA_RV32IM = 0x40001100,
    DCSR_EBREAKM = 1 << 15,
    DCSR_STEP = 1 << 2,
    DCSR_FIXED = 0x40000003,
    STEP_LIMIT = 1000,
};

void model_dm_reset(model *m)
{
    model_dm old = m->dm;
    memset(&m->dm, 0, sizeof m->dm);
    for (uint32_t i = 0; i < m->n_harts; i++)
        m->dm.dcsr[i] = DCSR_FIXED;
    m->dm.access = 2;
    m->dm.reads = old.reads;
    m->dm.writes = old.writes;
    m->dm.fail_next = old.fail_next;
    m->dm.busy_next = old.busy_next;
}

/* ---- Registers of a hart ------------------------------------------------------------------------- */

static bool is_halted(const model *m)
{
    return m->dm.hart < m->n_harts && sim_hart_halted(m->s, m->tile, m->dm.hart);
}

static bool reg_get(model *m, uint32_t reg, uint32_t *value)
{
    sim_hart_state hs;
    sim_hart(m->s, m->tile, m->dm.hart, &hs);
    if (reg >= 0x1000 && reg < 0x1020) {
        *value = hs.x[reg - 0x1000];
        return true;
    }
    switch (reg) {
    case CSR_MISA: *value = MISA_RV32IM; return true;
    case CSR_MSTATUS: *value = 0x1800; return true;
    case CSR_MHARTID: *value = m->dm.hart; return true;
    case CSR_DCSR: *value = m->dm.dcsr[m->dm.hart]; return true;
    case CSR_DPC: *value = hs.pc; return true;
    default: return false;
    }
}

static bool reg_set(model *m, uint32_t reg, uint32_t value)
{
    uint32_t hart = m->dm.hart;
    if (reg >= 0x1000 && reg < 0x1020) {
        if (reg > 0x1000) sim_hart_set(m->s, m->tile, hart, reg - 0x1000, value);
        return true;
    }
    switch (reg) {
    case CSR_MISA:
    case CSR_MSTATUS: return true;
    case CSR_DCSR:
        m->dm.dcsr[hart] = DCSR_FIXED | (value & (DCSR_EBREAKM | DCSR_STEP));
        sim_hart_debugged(m->s, m->tile, hart, value & DCSR_EBREAKM);
        return true;
    case CSR_DPC: sim_hart_set(m->s, m->tile, hart, 32, value); return true;
    default: return false;
    }
}

/* ---- The program buffer: the instructions that debuggers put there --------------------------------- */

static bool memory(model *m, bool write, uint32_t address, uint32_t funct3, uint32_t *value)
{
    uint32_t bytes = 1u << (funct3 & 3);
    if (bytes > 4 || address % bytes) return false;
    if (write) return sim_tile_write(m->s, m->tile, address, value, bytes);
    *value = 0;
    if (!sim_tile_read(m->s, m->tile, address, value, bytes)) return false;
    if (funct3 == 0) *value = (uint32_t)(int8_t)*value;
    if (funct3 == 1) *value = (uint32_t)(int16_t)*value;
    return true;
}

static bool execute(model *m, uint32_t word)
{
    uint32_t op = word & 127, rd = word >> 7 & 31, f3 = word >> 12 & 7, rs1 = word >> 15 & 31;
    uint32_t a = 0, b = 0, csr = word >> 20;
    int32_t imm = (int32_t)word >> 20;
    reg_get(m, 0x1000 + rs1, &a);
    reg_get(m, 0x1000 + (word >> 20 & 31), &b);
    switch (op) {
    case 0x03: return memory(m, false, a + (uint32_t)imm, f3, &b) && reg_set(m, 0x1000 + rd, b);
    case 0x23: imm = (imm & ~31) | (int32_t)rd; return memory(m, true, a + (uint32_t)imm, f3, &b);
    case 0x13: return f3 == 0 && reg_set(m, 0x1000 + rd, a + (uint32_t)imm);
    case 0x0F: return true;
    case 0x73:
        if (f3 == 1 && rd == 0) return reg_set(m, csr, a);
        return f3 == 2 && rs1 == 0 && reg_get(m, csr, &b) && reg_set(m, 0x1000 + rd, b);
    default: return false;
    }
}

static void run_progbuf(model *m)
{
    for (uint32_t i = 0; i < m->options.progbuf; i++) {
        if (m->dm.progbuf[i] == 0x00100073) return;
        if (!execute(m, m->dm.progbuf[i])) {
            m->dm.cmderr = ERR_EXCEPTION;
            return;
        }
    }
    m->dm.cmderr = ERR_EXCEPTION; /* it ran off the end: there is no implicit ebreak */
}

/* ---- Abstract commands --------------------------------------------------------------------------- */

static void access_register(model *m, uint32_t c)
{
    bool transfer = c >> 17 & 1, write = c >> 16 & 1, post = c >> 18 & 1;
    if (transfer && (c >> 20 & 7) != 2) {
        m->dm.cmderr = ERR_UNSUPPORTED;
        return;
    }
    if (transfer &&
        !(write ? reg_set(m, c & 0xFFFF, m->dm.data[0]) : reg_get(m, c & 0xFFFF, &m->dm.data[0]))) {
        m->dm.cmderr = ERR_EXCEPTION;
        return;
    }
    if (post && m->options.progbuf == 0)
        m->dm.cmderr = ERR_UNSUPPORTED;
    else if (post)
        run_progbuf(m);
}

static void access_memory(model *m, uint32_t c)
{
    uint32_t size = c >> 20 & 7;
    if (!m->options.abstract_memory || size > 2)
        m->dm.cmderr = ERR_UNSUPPORTED;
    else if (!memory(m, c >> 16 & 1, m->dm.data[1], size | 4, &m->dm.data[0]))
        m->dm.cmderr = ERR_EXCEPTION;
    else if (c >> 19 & 1)
        m->dm.data[1] += 1u << size;
}

static void run_command(model *m, uint32_t c)
{
    if (m->dm.cmderr) return;
    if (!is_halted(m)) {
        m->dm.cmderr = ERR_STATE;
        return;
    }
    if (c >> 24 == 0)
        access_register(m, c);
    else if (c >> 24 == 2)
        access_memory(m, c);
    else
        m->dm.cmderr = ERR_UNSUPPORTED;
}

/* ---- The system bus ------------------------------------------------------------------------------ */

static bool bus_starts(model *m)
{
    model_dm *d = &m->dm;
    if (d->busyerror || d->error) return false;
    if (d->busy_next || m->jtag.clocks < d->busy_until) {
        d->busy_next = false;
        d->busyerror = true;
        return false;
    }
    d->busy_until = m->jtag.clocks + m->options.bus_clocks;
    if (d->fail_next) d->error = 7;
    d->fail_next = false;
    if (d->access > 2 || (m->options.no_narrow && d->access != 2)) d->error = 4;
    if (!d->error && d->address & ((1u << d->access) - 1)) d->error = 3;
    return d->error == 0;
}

static void bus_ends(model *m, bool good)
{
    if (!good) m->dm.error = 2;
    if (good && m->dm.autoincrement) m->dm.address += 1u << m->dm.access;
}

static void bus_read(model *m)
{
    if (!bus_starts(m)) return;
    m->dm.reads++;
    m->dm.sbdata = 0;
    bus_ends(m, sim_tile_read(m->s, m->tile, m->dm.address, &m->dm.sbdata, 1u << m->dm.access));
}

static void bus_write(model *m, uint32_t value)
{
    m->dm.sbdata = value;
    if (!bus_starts(m)) return;
    m->dm.writes++;
    bus_ends(m, sim_tile_write(m->s, m->tile, m->dm.address, &value, 1u << m->dm.access));
}

/* ---- Registers ----------------------------------------------------------------------------------- */

static uint32_t dmstatus(const model *m)
{
    uint32_t v = (m->options.version_1 ? 3u : 2u) | 1u << 7;
    uint32_t h = m->dm.hart;
    if (h >= m->n_harts) return v | 3u << 14;
    v |= is_halted(m) ? 3u << 8 : 3u << 10;
    if (m->dm.resumeack[h]) v |= 3u << 16;
    if (m->dm.havereset[h]) v |= 3u << 18;
    return v;
}

/* A hart without a bit in a reset register is held by the simulator until somebody starts it: a
 * microcontroller that runs what is in its flash, of which the tile knows nothing. */
static void start(model *m, uint32_t hart)
{
    sim_hart_state hs;
    sim_hart(m->s, m->tile, hart, &hs);
    if (!hs.in_reset || !m->starts_alone[hart]) return;
    sim_hart_reset(m->s, m->tile, hart, false);
    sim_hart_set(m->s, m->tile, hart, 32, hs.pc);
}

static void resume(model *m, uint32_t hart)
{
    sim_hart_state before, now;
    start(m, hart);
    sim_hart_halt(m->s, m->tile, hart, false);
    m->dm.resumeack[hart] = true;
    if (!(m->dm.dcsr[hart] & DCSR_STEP)) return;
    sim_hart(m->s, m->tile, hart, &before);
    for (int i = 0; i < STEP_LIMIT; i++) {
        sim_clock(m->s, 1);
        sim_hart(m->s, m->tile, hart, &now);
        if (now.retired != before.retired) break;
    }
    sim_hart_halt(m->s, m->tile, hart, true);
    m->dm.dcsr[hart] = (m->dm.dcsr[hart] & ~(7u << 6)) | 4u << 6;
}

static void write_dmcontrol(model *m, uint32_t value)
{
    if (!(value & 1)) {
        model_dm_reset(m);
        return;
    }
    m->dm.active = true;
    m->dm.hart = (value >> 16 & 0x3FF) | (value >> 6 & 0x3FF) << 10;
    m->dm.hart &= 15; /* bits of hartsel that are there */
    uint32_t h = m->dm.hart;
    if (value & 2)
        for (uint32_t i = 0; i < m->n_harts; i++) {
            m->dm.havereset[i] = true;
            sim_hart_reset(m->s, m->tile, i, true);
            if (!m->starts_alone[i]) sim_hart_reset(m->s, m->tile, i, false);
        }
    if (h >= m->n_harts) return;
    if (value >> 28 & 1) m->dm.havereset[h] = false;
    if (value >> 31 && !is_halted(m)) {
        sim_hart_halt(m->s, m->tile, h, true);
        m->dm.dcsr[h] = (m->dm.dcsr[h] & ~(7u << 6)) | 3u << 6;
    } else if (value >> 30 & 1 && !(value >> 31)) {
        m->dm.resumeack[h] = false;
        if (is_halted(m)) resume(m, h);
    }
}

static uint32_t read_sbcs(const model *m)
{
    const model_dm *d = &m->dm;
    if (m->options.no_bus) return 0;
    return 1u << 29 | (uint32_t)d->busyerror << 22 | (uint32_t)(m->jtag.clocks < d->busy_until) << 21 |
           (uint32_t)d->readonaddr << 20 | d->access << 17 | (uint32_t)d->autoincrement << 16 |
           (uint32_t)d->readondata << 15 | d->error << 12 | 32u << 5 | (m->options.no_narrow ? 4u : 7u);
}

static void write_sbcs(model *m, uint32_t value)
{
    model_dm *d = &m->dm;
    if (value >> 22 & 1) d->busyerror = false;
    d->error &= ~(value >> 12 & 7);
    d->readonaddr = value >> 20 & 1;
    d->access = value >> 17 & 7;
    d->autoincrement = value >> 16 & 1;
    d->readondata = value >> 15 & 1;
}

uint32_t model_dm_read(model *m, uint32_t address)
{
    model_dm *d = &m->dm;
    uint32_t value;
    if (address == 0x10) return d->active ? d->hart << 16 | 1 : 0;
    if (!d->active) return 0;
    model_run(m);
    if (address >= 0x20 && address < 0x20 + m->options.progbuf) return d->progbuf[address - 0x20];
    switch (address) {
    case 0x04:
        value = d->data[0];
        if (d->autoexec & 1) run_command(m, d->command);
        return value;
    case 0x05: return d->data[1];
    case 0x11: return dmstatus(m);
    case 0x12: return 1u << 20; /* one dscratch register, data registers not in memory */
    case 0x16: return m->options.progbuf << 24 | d->cmderr << 8 | 2;
    case 0x17: return 0;
    case 0x18: return d->autoexec;
    case 0x38: return read_sbcs(m);
    case 0x39: return d->address;
    case 0x3C:
        if (m->options.no_bus) return 0;
        if (m->jtag.clocks < d->busy_until || d->busy_next) {
            d->busy_next = false;
            d->busyerror = true;
            return d->sbdata ^ 0xA5A5A5A5; /* whatever is on the wires */
        }
        value = d->sbdata;
        if (d->readondata) bus_read(m);
        return value;
    default: return 0;
    }
}

void model_dm_write(model *m, uint32_t address, uint32_t value)
{
    model_dm *d = &m->dm;
    if (address != 0x10 && !d->active) return;
    model_run(m);
    if (address >= 0x20 && address < 0x20 + m->options.progbuf) {
        d->progbuf[address - 0x20] = value;
        return;
    }
    switch (address) {
    case 0x04:
        d->data[0] = value;
        if (d->autoexec & 1) run_command(m, d->command);
        break;
    case 0x05: d->data[1] = value; break;
    case 0x10: write_dmcontrol(m, value); break;
    case 0x16: d->cmderr &= ~(value >> 8 & 7); break;
    case 0x17:
        d->command = value;
        run_command(m, value);
        break;
    case 0x18: d->autoexec = value & 1; break;
    case 0x38: write_sbcs(m, value); break;
    case 0x39:
        if (m->options.no_bus) break;
        d->address = value;
        if (d->readonaddr) bus_read(m);
        break;
    case 0x3C:
        if (!m->options.no_bus) bus_write(m, value);
        break;
    default: break;
    }
}
