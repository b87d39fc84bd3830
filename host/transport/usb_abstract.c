/* Memory through a hart, where there is no system bus access: abstract memory access, or a program of three
 * instructions in the program buffer. The hart is halted meanwhile, and runs on as before.
 * Source: RISC-V External Debug Support 0.13.2, "Abstract Commands", "Program Buffer", abstractauto. */
#include "transport/usb_memory.h"

#include <inttypes.h>
#include <string.h>

enum {
    ABSTRACT_BUSY = 1 << 12,
    CLEAR_CMDERR = 7 << 8,
    CMDERR_BUSY = 1,
    CMDERR_UNSUPPORTED = 2,
    COMMAND_MEMORY = 2 << 24 | 2 << 20 | 1 << 19, /* 32 bits, the address grows by itself */
    COMMAND_REG32 = 2 << 20,
    COMMAND_TRANSFER = 1 << 17,
    COMMAND_POSTEXEC = 1 << 18,
    COMMAND_WRITE = 1 << 16,
    AUTO_DATA0 = 1,
    CHECK = 128,
    LW_S1_S0 = 0x00042483,
    SW_S1_S0 = 0x00942023,
    ADDI_S0_4 = 0x00440413,
    EBREAK = 0x00100073,
    SPECIAL_OPS = 16,
};

static const uint32_t read_s1 = COMMAND_REG32 | COMMAND_TRANSFER | USB_REG_S1;
static const uint32_t write_s0 = COMMAND_REG32 | COMMAND_TRANSFER | COMMAND_WRITE | USB_REG_S0;
static const uint32_t write_s1 = COMMAND_REG32 | COMMAND_TRANSFER | COMMAND_WRITE | USB_REG_S1;

typedef struct block {
    usb_dm *m;
    size_t n; /* accesses so far */
} block;

static void set(block *b, uint8_t address, uint32_t data)
{
    b->m->ops[b->n++] = (usb_dmi){USB_DMI_WRITE, address, data, 0};
}

static void get(block *b, uint8_t address)
{
    b->m->ops[b->n++] = (usb_dmi){USB_DMI_READ, address, 0, 0};
}

/* ---- The hart ------------------------------------------------------------------------------------ */

typedef struct guest {
    bool ran;
    uint32_t s0, s1;
} guest;

static devlog_status enter(usb_dm *m, guest *g, uint32_t access, devlog_error *err)
{
    bool halted;
    devlog_status status = usb_dm_halted(m, 0, &halted, err);
    g->ran = !halted;
    if (status == DEVLOG_OK && g->ran) status = usb_dm_halt(m, 0, err);
    if (m->access == USB_ACCESS_ABSTRACT) return status;
    if (status == DEVLOG_OK) status = usb_dm_reg_get(m, 0, USB_REG_S0, &g->s0, err);
    if (status == DEVLOG_OK) status = usb_dm_reg_get(m, 0, USB_REG_S1, &g->s1, err);
    if (status == DEVLOG_OK) status = usb_dm_set(m, DM_PROGBUF0, access, err);
    if (status == DEVLOG_OK) status = usb_dm_set(m, DM_PROGBUF0 + 1, ADDI_S0_4, err);
    if (status == DEVLOG_OK && m->progbuf_words > 2) status = usb_dm_set(m, DM_PROGBUF0 + 2, EBREAK, err);
    return status;
}

static devlog_status leave(usb_dm *m, const guest *g, devlog_error *err)
{
    devlog_status status = usb_dm_set(m, DM_ABSTRACTAUTO, 0, err);
    if (status == DEVLOG_OK) status = usb_dm_set(m, DM_ABSTRACTCS, CLEAR_CMDERR, err);
    if (m->access == USB_ACCESS_PROGRAM) {
        if (status == DEVLOG_OK) status = usb_dm_reg_set(m, 0, USB_REG_S0, g->s0, err);
        if (status == DEVLOG_OK) status = usb_dm_reg_set(m, 0, USB_REG_S1, g->s1, err);
    }
    return status == DEVLOG_OK && g->ran ? usb_dm_resume(m, 0, err) : status;
}

/* ---- Blocks -------------------------------------------------------------------------------------- */

/* Both ways have two words under way: data0 holds one while the hart fetches the next. */
static void add_reads(block *b, uint32_t address, size_t n)
{
    bool program = b->m->access == USB_ACCESS_PROGRAM;
    size_t ahead = program ? 2 : 1;
    if (program) {
        set(b, DM_DATA0, address);
        set(b, DM_COMMAND, write_s0 | COMMAND_POSTEXEC);
        set(b, DM_COMMAND, n > 1 ? read_s1 | COMMAND_POSTEXEC : read_s1);
    } else {
        set(b, DM_DATA1, address);
        set(b, DM_COMMAND, COMMAND_MEMORY);
    }
    if (n > ahead) set(b, DM_ABSTRACTAUTO, AUTO_DATA0);
    for (size_t i = 0; i + ahead < n; i++) {
        get(b, DM_DATA0);
        if (i % CHECK == CHECK - 1) get(b, DM_ABSTRACTCS);
    }
    if (n > ahead) set(b, DM_ABSTRACTAUTO, 0);
    if (program && n > 1) {
        get(b, DM_DATA0);
        set(b, DM_COMMAND, read_s1);
    }
    get(b, DM_DATA0);
    get(b, DM_ABSTRACTCS);
}

static void add_writes(block *b, uint32_t address, const uint32_t *words, size_t n)
{
    bool program = b->m->access == USB_ACCESS_PROGRAM;
    if (program) {
        set(b, DM_DATA0, address);
        set(b, DM_COMMAND, write_s0);
    } else {
        set(b, DM_DATA1, address);
    }
    set(b, DM_DATA0, words[0]);
    set(b, DM_COMMAND, program ? write_s1 | COMMAND_POSTEXEC : COMMAND_MEMORY | COMMAND_WRITE);
    if (n > 1) set(b, DM_ABSTRACTAUTO, AUTO_DATA0);
    for (size_t i = 1; i < n; i++) {
        set(b, DM_DATA0, words[i]);
        if (i % CHECK == CHECK - 1) get(b, DM_ABSTRACTCS);
    }
    if (n > 1) set(b, DM_ABSTRACTAUTO, 0);
    get(b, DM_ABSTRACTCS);
}

/* Takes words up to the first bad abstractcs; *verified are those before the last good one. A write's word is
 * done when the abstractcs behind it is good and not busy. */
static uint32_t take(const usb_dm *m, size_t n_ops, uint32_t *words, size_t limit, size_t *verified)
{
    size_t n = 0;
    uint32_t cs = 0;
    for (size_t i = 0; i < n_ops; i++) {
        const usb_dmi *op = &m->ops[i];
        if (op->address == DM_DATA0 && op->kind == USB_DMI_READ && n < limit) words[n++] = op->value;
        if (op->address != DM_ABSTRACTCS || op->kind != USB_DMI_READ) continue;
        cs = op->value;
        if (cs & (CLEAR_CMDERR | ABSTRACT_BUSY)) return cs;
        *verified = n;
    }
    return cs;
}

static devlog_status settle(usb_dm *m, uint32_t cs, uint32_t address, devlog_error *err)
{
    size_t done;
    usb_dmi ops[] = {{USB_DMI_WRITE, DM_ABSTRACTAUTO, 0, 0}, {USB_DMI_WRITE, DM_ABSTRACTCS, CLEAR_CMDERR, 0}};
    devlog_status status = usb_dtm_run(&m->dtm, ops, 2, &done, err);
    uint32_t error = cs >> 8 & 7;
    if (status != DEVLOG_OK) return status;
    if (error == CMDERR_UNSUPPORTED)
        return dl_fail(err, DEVLOG_ERR_UNSUPPORTED, "%s: the chip's debug module has no way to memory",
                       m->dtm.dap.link->name);
    if (error > CMDERR_BUSY)
        return dl_fail(err, DEVLOG_ERR_DEVICE,
                       "%s: hart 0 cannot reach memory in the block at 0x%08" PRIx32
                       " (cmderr %u): check the memory map of the board file",
                       m->dtm.dap.link->name, address, error);
    if (usb_dtm_slower(&m->dtm)) return DEVLOG_OK;
    return dl_fail(err, DEVLOG_ERR_TIMEOUT, "%s: hart 0 stays busy at 0x%08" PRIx32 ": reset the board",
                   m->dtm.dap.link->name, address);
}

devlog_status usb_abstract_read(usb_dm *m, uint32_t address, uint32_t *words, size_t n, size_t *done,
                                devlog_error *err)
{
    guest g = {0};
    *done = 0;
    devlog_status status = usb_ops_reserve(m, n + n / CHECK + SPECIAL_OPS, err);
    if (status == DEVLOG_OK) status = enter(m, &g, LW_S1_S0, err);
    if (status != DEVLOG_OK) return status;
    while (status == DEVLOG_OK && *done < n) {
        block b = {m, 0};
        size_t ran, verified = 0;
        add_reads(&b, address + 4 * (uint32_t)*done, n - *done);
        status = usb_dtm_run(&m->dtm, m->ops, b.n, &ran, err);
        uint32_t cs = take(m, ran, words + *done, n - *done, &verified);
        *done += verified;
        if (status == DEVLOG_OK && *done < n) status = settle(m, cs, address + 4 * (uint32_t)*done, err);
    }
    /* When the link failed, the caller tries again, and enters a hart that is halted already: the registers
     * that it finds there are not the program's. They are put back here as soon as the link is back. */
    if (status != DEVLOG_OK && m->dtm.dap.outcome == USB_AGAIN) usb_dm_recover(m, NULL);
    devlog_status left = leave(m, &g, status == DEVLOG_OK ? err : NULL);
    return status == DEVLOG_OK ? left : status;
}

devlog_status usb_abstract_write(usb_dm *m, uint32_t address, const uint32_t *words, size_t n, size_t *done,
                                 devlog_error *err)
{
    guest g = {0};
    *done = 0;
    devlog_status status = usb_ops_reserve(m, n + n / CHECK + SPECIAL_OPS, err);
    if (status == DEVLOG_OK) status = enter(m, &g, SW_S1_S0, err);
    if (status != DEVLOG_OK) return status;
    for (;;) {
        block b = {m, 0};
        size_t ran, verified = 0;
        add_writes(&b, address, words, n);
        status = usb_dtm_run(&m->dtm, m->ops, b.n, &ran, err);
        if (status != DEVLOG_OK) break;
        uint32_t cs = take(m, ran, NULL, 0, &verified);
        if (!(cs & (CLEAR_CMDERR | ABSTRACT_BUSY))) {
            *done = n;
            break;
        }
        status = settle(m, cs, address, err);
        if (status != DEVLOG_OK) break;
    }
    if (status != DEVLOG_OK && m->dtm.dap.outcome == USB_AGAIN) usb_dm_recover(m, NULL);
    devlog_status left = leave(m, &g, status == DEVLOG_OK ? err : NULL);
    return status == DEVLOG_OK ? left : status;
}
