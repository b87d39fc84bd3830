/* The debug module: examining it, its harts and their registers. Not for memory (usb_bus.c, usb_abstract.c).
 */
#include "transport/usb_dm.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/term.h"

enum {
    DMACTIVE = 1 << 0,
    NDMRESET = 1 << 1,
    ACKHAVERESET = 1 << 28,
    RESUMEREQ = 1 << 30,
    STATUS_AUTHENTICATED = 1 << 7,
    STATUS_ALLHALTED = 1 << 9,
    STATUS_ANYUNAVAIL = 1 << 12,
    STATUS_ANYNONEXISTENT = 1 << 14,
    STATUS_ALLRESUMEACK = 1 << 17,
    STATUS_IMPEBREAK = 1 << 22,
    ABSTRACT_BUSY = 1 << 12,
    COMMAND_REG32 = 2 << 20,
    COMMAND_TRANSFER = 1 << 17,
    COMMAND_WRITE = 1 << 16,
    COMMAND_POSTEXEC = 1 << 18,
    FENCE_I = 0x0000100F,
    EBREAK = 0x00100073,
};
#define HALTREQ (1u << 31)

static const char *name_of(const usb_dm *m)
{
    return m->dtm.dap.link->name;
}

static uint32_t select_hart(uint32_t hart)
{
    return DMACTIVE | (hart & 0x3FF) << 16 | hart >> 10 << 6;
}

/* Runs accesses; after a failure that trying again may cure, once more from the start: for accesses that may
 * be repeated. */
static devlog_status run(usb_dm *m, usb_dmi *ops, size_t n, devlog_error *err)
{
    size_t done;
    for (int tries = 0;; tries++) {
        devlog_status status = usb_dtm_run(&m->dtm, ops, n, &done, err);
        if (status == DEVLOG_OK || m->dtm.dap.outcome != USB_AGAIN || tries == 2) return status;
        if (usb_dm_recover(m, err) != DEVLOG_OK && m->dtm.dap.outcome != USB_AGAIN) return status;
    }
}

devlog_status usb_dm_set(usb_dm *m, uint8_t address, uint32_t value, devlog_error *err)
{
    usb_dmi op = {USB_DMI_WRITE, address, value, 0};
    return run(m, &op, 1, err);
}

devlog_status usb_dm_recover(usb_dm *m, devlog_error *err)
{
    m->sbcs = 0;
    devlog_status status = usb_dtm_recover(&m->dtm, err);
    for (int tries = 0; status != DEVLOG_OK && m->dtm.dap.outcome == USB_AGAIN && tries < 2; tries++)
        status = usb_dtm_recover(&m->dtm, err);
    return status;
}

/* ---- Harts --------------------------------------------------------------------------------------- */

/* Writes dmcontrol and waits until the bits of dmstatus are set. */
static devlog_status control(usb_dm *m, uint32_t value, uint32_t bits, const char *what, devlog_error *err)
{
    usb_dmi ops[2] = {{USB_DMI_WRITE, DM_DMCONTROL, value, 0}, {USB_DMI_READ, DM_DMSTATUS, 0, 0}};
    uint64_t deadline = dl_now_ns() + m->timeout_ms * 1000000ull;
    devlog_status status = run(m, ops, 2, err);
    while (status == DEVLOG_OK && (ops[1].value & bits) != bits) {
        if (ops[1].value & STATUS_ANYUNAVAIL)
            return dl_fail(err, DEVLOG_ERR_DEVICE, "%s: hart %u is off or held in reset: it does not %s",
                           name_of(m), m->hart, what);
        if (dl_now_ns() > deadline)
            return dl_fail(err, DEVLOG_ERR_TIMEOUT, "%s: hart %u does not %s within %u ms: reset the board",
                           name_of(m), m->hart, what, m->timeout_ms);
        status = run(m, ops + 1, 1, err);
    }
    return status;
}

devlog_status usb_dm_halted(usb_dm *m, uint32_t hart, bool *halted, devlog_error *err)
{
    usb_dmi ops[2] = {{USB_DMI_WRITE, DM_DMCONTROL, select_hart(hart), 0}, {USB_DMI_READ, DM_DMSTATUS, 0, 0}};
    m->hart = hart;
    devlog_status status = run(m, ops, 2, err);
    *halted = ops[1].value & STATUS_ALLHALTED;
    return status;
}

devlog_status usb_dm_halt(usb_dm *m, uint32_t hart, devlog_error *err)
{
    m->hart = hart;
    devlog_status status = control(m, select_hart(hart) | HALTREQ, STATUS_ALLHALTED, "halt", err);
    devlog_status later = usb_dm_set(m, DM_DMCONTROL, select_hart(hart), status == DEVLOG_OK ? err : NULL);
    return status == DEVLOG_OK ? later : status;
}

devlog_status usb_dm_resume(usb_dm *m, uint32_t hart, devlog_error *err)
{
    m->hart = hart;
    devlog_status status = control(m, select_hart(hart) | RESUMEREQ, STATUS_ALLRESUMEACK, "resume", err);
    devlog_status later = usb_dm_set(m, DM_DMCONTROL, select_hart(hart), status == DEVLOG_OK ? err : NULL);
    return status == DEVLOG_OK ? later : status;
}

devlog_status usb_dm_reset(usb_dm *m, bool halt, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    uint32_t stop = halt ? HALTREQ : 0;
    for (uint32_t i = 0; i < m->n_harts && status == DEVLOG_OK; i++)
        status = usb_dm_set(m, DM_DMCONTROL, select_hart(i) | stop | NDMRESET, err);
    for (uint32_t i = m->n_harts; i-- > 0 && status == DEVLOG_OK;) {
        m->hart = i;
        status = control(m, select_hart(i) | stop | ACKHAVERESET, halt ? STATUS_ALLHALTED : 0, "halt", err);
        if (status == DEVLOG_OK) status = usb_dm_set(m, DM_DMCONTROL, select_hart(i), err);
    }
    m->sbcs = 0;
    return status;
}

/* ---- Registers ----------------------------------------------------------------------------------- */

static const char *const cmderr_texts[] = {
    "no error",  "busy",     "not supported", "the access raised an exception", "wrong state of hart",
    "bus error", "reserved", "other",
};

static devlog_status transfer(usb_dm *m, uint32_t hart, uint32_t reg, uint32_t *value, bool write,
                              devlog_error *err)
{
    usb_dmi ops[] = {
        {USB_DMI_WRITE, DM_DMCONTROL, select_hart(hart), 0},
        {USB_DMI_WRITE, DM_ABSTRACTCS, 7u << 8, 0},
        {USB_DMI_WRITE, DM_DATA0, *value, 0},
        {USB_DMI_WRITE, DM_COMMAND, COMMAND_REG32 | COMMAND_TRANSFER | (write ? COMMAND_WRITE : 0) | reg, 0},
        {USB_DMI_READ, DM_ABSTRACTCS, 0, 0},
        {USB_DMI_READ, DM_DATA0, 0, 0},
    };
    m->hart = hart;
    uint64_t deadline = dl_now_ns() + m->timeout_ms * 1000000ull;
    devlog_status status = run(m, ops, 6, err);
    while (status == DEVLOG_OK && ops[4].value & ABSTRACT_BUSY) {
        if (dl_now_ns() > deadline)
            return dl_fail(err, DEVLOG_ERR_TIMEOUT,
                           "%s: hart %u does not give its register 0x%x within %u ms", name_of(m), hart, reg,
                           m->timeout_ms);
        status = run(m, ops + 4, 2, err);
    }
    uint32_t error = ops[4].value >> 8 & 7;
    if (status == DEVLOG_OK && error)
        return dl_fail(err, DEVLOG_ERR_DEVICE, "%s: register 0x%x of hart %u cannot be %s: %s", name_of(m),
                       reg, hart, write ? "written" : "read", cmderr_texts[error]);
    *value = ops[5].value;
    return status;
}

devlog_status usb_dm_reg_get(usb_dm *m, uint32_t hart, uint32_t reg, uint32_t *value, devlog_error *err)
{
    *value = 0;
    return transfer(m, hart, reg, value, false, err);
}

devlog_status usb_dm_reg_set(usb_dm *m, uint32_t hart, uint32_t reg, uint32_t value, devlog_error *err)
{
    return transfer(m, hart, reg, &value, true, err);
}

devlog_status usb_dm_fence(usb_dm *m, uint32_t hart, devlog_error *err)
{
    if (m->progbuf_words + m->impebreak < 2) return DEVLOG_OK;
    usb_dmi ops[] = {
        {USB_DMI_WRITE, DM_DMCONTROL, select_hart(hart), 0},
        {USB_DMI_WRITE, DM_PROGBUF0, FENCE_I, 0},
        {USB_DMI_WRITE, DM_PROGBUF0 + 1, EBREAK, 0},
        {USB_DMI_WRITE, DM_COMMAND, COMMAND_REG32 | COMMAND_POSTEXEC, 0},
        {USB_DMI_WRITE, DM_ABSTRACTCS, 7u << 8, 0},
    };
    m->hart = hart;
    return run(m, ops, 5, err);
}

/* ---- Examining ----------------------------------------------------------------------------------- */

static devlog_status wake(usb_dm *m, devlog_error *err)
{
    usb_dmi ops[] = {{USB_DMI_WRITE, DM_DMCONTROL, DMACTIVE, 0},
                     {USB_DMI_READ, DM_DMCONTROL, 0, 0},
                     {USB_DMI_READ, DM_DMSTATUS, 0, 0}};
    uint64_t deadline = dl_now_ns() + m->timeout_ms * 1000000ull;
    devlog_status status = run(m, ops, 3, err);
    while (status == DEVLOG_OK && !(ops[1].value & DMACTIVE)) {
        if (dl_now_ns() > deadline)
            return dl_fail(err, DEVLOG_ERR_DEVICE,
                           "%s: the chip's debug module does not wake up: reset the board", name_of(m));
        status = run(m, ops + 1, 2, err);
    }
    if (status != DEVLOG_OK) return status;
    uint32_t version = ops[2].value & 15;
    if (version != 2 && version != 3)
        return dl_fail(err, DEVLOG_ERR_UNSUPPORTED,
                       "%s: the chip's debug module has version code %u; 2 (0.13) and 3 (1.0) are supported",
                       name_of(m), version);
    if (!(ops[2].value & STATUS_AUTHENTICATED))
        return dl_fail(err, DEVLOG_ERR_UNSUPPORTED, "%s: the chip's debug module is locked: unlock it first",
                       name_of(m));
    m->version = version == 2 ? 13 : 100;
    m->impebreak = ops[2].value & STATUS_IMPEBREAK;
    return DEVLOG_OK;
}

static devlog_status count_harts(usb_dm *m, devlog_error *err)
{
    usb_dmi ops[3 * USB_MAX_HARTS + 1];
    for (uint32_t i = 0; i < USB_MAX_HARTS; i++) {
        ops[3 * i] = (usb_dmi){USB_DMI_WRITE, DM_DMCONTROL, select_hart(i), 0};
        ops[3 * i + 1] = (usb_dmi){USB_DMI_READ, DM_DMCONTROL, 0, 0};
        ops[3 * i + 2] = (usb_dmi){USB_DMI_READ, DM_DMSTATUS, 0, 0};
    }
    ops[3 * USB_MAX_HARTS] = (usb_dmi){USB_DMI_WRITE, DM_DMCONTROL, select_hart(0), 0};
    devlog_status status = run(m, ops, 3 * USB_MAX_HARTS + 1, err);
    /* Bits of a hart's number that the module does not have read as 0. */
    m->n_harts = 0;
    while (m->n_harts < USB_MAX_HARTS && ops[3 * m->n_harts + 1].value == select_hart(m->n_harts) &&
           !(ops[3 * m->n_harts + 2].value & STATUS_ANYNONEXISTENT))
        m->n_harts++;
    if (status == DEVLOG_OK && m->n_harts == 0)
        return dl_fail(err, DEVLOG_ERR_DEVICE, "%s: the chip's debug module knows no hart", name_of(m));
    return status;
}

static devlog_status choose_access(usb_dm *m, devlog_error *err)
{
    usb_dmi ops[] = {{USB_DMI_READ, DM_SBCS, 0, 0}, {USB_DMI_READ, DM_ABSTRACTCS, 0, 0}};
    devlog_status status = run(m, ops, 2, err);
    if (status != DEVLOG_OK) return status;
    uint32_t sbcs = ops[0].value;
    m->bus_bits = sbcs >> 5 & 127;
    m->bus_widths = sbcs >> 29 == 1 && m->bus_bits ? sbcs & 31 : 0;
    m->progbuf_words = ops[1].value >> 24 & 31;
    m->data_words = ops[1].value & 15;
    if (m->bus_widths & 4)
        m->access = USB_ACCESS_BUS;
    else if (m->progbuf_words + m->impebreak >= 3)
        m->access = USB_ACCESS_PROGRAM;
    else
        m->access = USB_ACCESS_ABSTRACT;
    if (m->access == USB_ACCESS_ABSTRACT && m->data_words < 2)
        return dl_fail(
            err, DEVLOG_ERR_UNSUPPORTED,
            "%s: the chip's debug module has no way to memory (no system bus access, a program buffer "
            "of %u words, %u data registers)",
            name_of(m), m->progbuf_words, m->data_words);
    return DEVLOG_OK;
}

devlog_status usb_dm_open(usb_dm *m, usb_link *link, uint32_t khz, uint32_t idcode, uint32_t timeout_ms,
                          devlog_error *err)
{
    memset(m, 0, sizeof *m);
    m->timeout_ms = timeout_ms;
    devlog_status status;
    for (int tries = 0; tries < 3; tries++) {
        status = usb_dtm_open(&m->dtm, link, khz, idcode, err);
        if (status == DEVLOG_OK || m->dtm.dap.outcome != USB_AGAIN) break;
    }
    if (status != DEVLOG_OK) return status;
    status = wake(m, err);
    if (status == DEVLOG_OK) status = count_harts(m, err);
    if (status == DEVLOG_OK) status = choose_access(m, err);
    if (status != DEVLOG_OK) usb_dm_close(m);
    return status;
}

void usb_dm_close(usb_dm *m)
{
    free(m->ops);
    m->ops = NULL;
    usb_dtm_close(&m->dtm);
}
