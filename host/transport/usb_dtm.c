/* The debug transport on JTAG: see the header.
 *
 * Between two batches the TAP waits in Run-Test/Idle. Inside a batch one scan follows the other through
 * Update-DR and Select-DR-Scan without it, when the chip needs no idle clocks: a scan is then two sequences,
 *     2 + 33 + abits clocks with TMS low (captured), 3 clocks with TMS high,
 * which is nine bytes out and six back with seven bits of address: the fewest that DAP_JTAG_Sequence allows.
 * Idle clocks add four bytes. */
#include "transport/usb_dtm.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    IR_BITS = 5,
    IR_DTMCS = 0x10,
    IR_DMI = 0x11,
    DTMCS_DMIRESET = 1 << 16,
    DMI_OK = 0,
    DMI_BUSY = 3,
    MAX_TAPS = 8,
    MAX_IDLE = 255,
    MAX_SCAN = 62, /* bits of a DR scan that fit one sequence with the two clocks before */
    RESET_CLOCKS = 8,
    MAX_BUSY = 64,
    SOON = 2, /* batches */
    FIRST_PATIENCE = 16,
    MAX_PATIENCE = 1 << 16,
};

/* ---- Scans --------------------------------------------------------------------------------------- */

static uint32_t sequence_bytes(uint32_t clocks)
{
    return clocks ? 1 + (clocks + 7) / 8 : 0;
}

static void idle_clocks(usb_dtm *t, uint32_t clocks)
{
    while (clocks > 0) {
        uint32_t n = clocks < 64 ? clocks : 64;
        usb_batch_group(&t->dap, &t->batch, sequence_bytes(n), 0, 1);
        usb_batch_add(&t->batch, n, false, 0, false);
        clocks -= n;
    }
}

static void select_ir(usb_dtm *t, uint32_t ir)
{
    uint32_t length = t->ir_before + t->ir_bits + t->ir_after;
    if (length == 0 || length > 63) return; /* find_tap has refused it */
    uint64_t ones = (1ull << length) - 1, mine = ((1ull << t->ir_bits) - 1) << t->ir_before;
    uint64_t bits = (ones & ~mine) | (uint64_t)ir << t->ir_before;
    usb_batch_group(&t->dap, &t->batch, 32, 0, 8);
    usb_batch_add(&t->batch, 2, true, 0, false);
    usb_batch_add(&t->batch, 2, false, 0, false);
    if (length > 1) usb_batch_add(&t->batch, length - 1, false, bits, false);
    usb_batch_add(&t->batch, 2, true, bits >> (length - 1), false);
    usb_batch_add(&t->batch, 1, false, 0, false);
}

/* A scan of our DR from Select-DR-Scan, or from Run-Test/Idle when it is the first of a batch. */
static void scan_dr(usb_dtm *t, uint64_t value, uint32_t length, uint32_t idle, bool first, bool last)
{
    uint32_t n = t->dr_before + length + t->dr_after;
    value <<= t->dr_before;
    usb_batch_group(&t->dap, &t->batch, (first ? 2 : 0) + sequence_bytes(n + 1) + 2, (n + 8) / 8, 3);
    if (first) usb_batch_add(&t->batch, 1, true, 0, false);
    usb_batch_add(&t->batch, 2 + n - 1, false, value << 2, true);
    bool through = !last && idle == 0;
    usb_batch_add(&t->batch, through ? 3 : 2, true, value >> (n - 1), false);
    if (through) return;
    idle_clocks(t, last && idle == 0 ? 1 : idle);
    if (last) return;
    usb_batch_group(&t->dap, &t->batch, 2, 0, 1);
    usb_batch_add(&t->batch, 1, true, 0, false);
}

static uint64_t scanned(const usb_dtm *t, size_t i, uint32_t length)
{
    uint32_t n = t->dr_before + length + t->dr_after;
    return usb_batch_bits(&t->batch, i, 2 + n - 1) >> (2 + t->dr_before);
}

/* Reads dtmcs and clears a sticky busy, which leaves whatever is under way alone. */
static devlog_status reset_dmi(usb_dtm *t, uint32_t *dtmcs, devlog_error *err)
{
    size_t captured;
    usb_batch_clear(&t->batch);
    select_ir(t, IR_DTMCS);
    scan_dr(t, DTMCS_DMIRESET, 32, 1, true, true);
    select_ir(t, IR_DMI);
    idle_clocks(t, t->idle);
    devlog_status status = usb_batch_run(&t->dap, &t->batch, &captured, err);
    /* The top bit is not captured: bit 31 of dtmcs is reserved. */
    if (status == DEVLOG_OK && dtmcs) *dtmcs = (uint32_t)scanned(t, 0, 32) & 0x7FFFFFFF;
    return status;
}

bool usb_dtm_slower(usb_dtm *t)
{
    t->busy++;
    /* Again at once: it really is slower. Else it was a matter of the moment, and one clock may do. */
    t->step = t->quiet < SOON && t->step ? 2 * t->step : 1;
    t->idle += t->step;
    if (t->lowered && t->quiet < t->patience && t->patience < MAX_PATIENCE) t->patience *= 2;
    t->lowered = false;
    t->quiet = 0;
    return t->idle <= MAX_IDLE;
}

/* Being busy may have been a matter of the moment: after a while fewer idle clocks are tried again. */
static void settle_down(usb_dtm *t)
{
    t->quiet++;
    if (t->idle <= t->least_idle || t->quiet < t->patience) return;
    t->idle -= (t->idle - t->least_idle + 3) / 4;
    t->lowered = true;
    t->quiet = 0;
}

/* ---- Accesses ------------------------------------------------------------------------------------ */

static uint64_t request(const usb_dmi *op)
{
    return (uint64_t)op->address << 34 | (uint64_t)op->data << 2 | op->kind;
}

/* Takes the answers of a batch that began with access `from`: the answer to an access is captured by the scan
 * after it. True when all went well; else *from is where to go on. */
static bool take(usb_dtm *t, usb_dmi *ops, size_t *from, size_t captured, size_t *done, uint32_t *answer)
{
    for (size_t i = 0; i < captured; i++) {
        uint64_t bits = scanned(t, i, 34 + t->abits);
        *answer = bits & 3;
        if (*answer != DMI_OK) {
            *from += i;
            return false;
        }
        if (*from + i == 0) continue;
        ops[*from + i - 1].value = (uint32_t)(bits >> 2);
        *done = *from + i;
    }
    return true;
}

devlog_status usb_dtm_run(usb_dtm *t, usb_dmi *ops, size_t n, size_t *done, devlog_error *err)
{
    static const usb_dmi nop = {USB_DMI_NOP, 0, 0, 0};
    size_t from = 0, captured;
    *done = 0;
    for (int tries = 0;; tries++) {
        usb_batch_clear(&t->batch);
        for (size_t i = from; i <= n; i++)
            scan_dr(t, request(i < n ? &ops[i] : &nop), 34 + t->abits, t->idle, i == from, i == n);
        devlog_status status = usb_batch_run(&t->dap, &t->batch, &captured, err);
        uint32_t answer = DMI_OK;
        bool good = take(t, ops, &from, captured, done, &answer);
        if (status != DEVLOG_OK) return status;
        if (good) {
            settle_down(t);
            return DEVLOG_OK;
        }
        if (answer != DMI_BUSY) {
            uint8_t address = from ? ops[from - 1].address : 0;
            reset_dmi(t, NULL, NULL);
            return dl_fail(
                err, DEVLOG_ERR_DEVICE,
                "%s: the chip's debug module refuses access to its register 0x%02x: reset the board",
                t->dap.link->name, address);
        }
        if (tries == MAX_BUSY || !usb_dtm_slower(t))
            return dl_fail(
                err, DEVLOG_ERR_TIMEOUT,
                "%s: the chip's debug transport stays busy, also with %u idle clocks: lower \"khz\" "
                "in the board file, or reset the board",
                t->dap.link->name, t->idle);
        status = reset_dmi(t, NULL, err);
        if (status != DEVLOG_OK) return status;
    }
}

/* ---- Opening ------------------------------------------------------------------------------------- */

/* Resets the TAPs and reads their IDCODEs, nearest to TDO first; 0 for one that has none. */
static devlog_status read_chain(usb_dtm *t, uint32_t *codes, uint32_t *n, devlog_error *err)
{
    size_t captured;
    usb_batch_clear(&t->batch);
    usb_batch_group(&t->dap, &t->batch, 8, 0, 4);
    usb_batch_add(&t->batch, RESET_CLOCKS, true, 0xFF, false);
    usb_batch_add(&t->batch, 1, false, 0, false);
    usb_batch_add(&t->batch, 1, true, 0, false);
    usb_batch_add(&t->batch, 2, false, 0, false);
    for (uint32_t i = 0; i <= MAX_TAPS; i++) {
        usb_batch_group(&t->dap, &t->batch, 5, 4, 1);
        usb_batch_add(&t->batch, 32, false, UINT32_MAX, true);
    }
    usb_batch_group(&t->dap, &t->batch, 4, 0, 2);
    usb_batch_add(&t->batch, 2, true, 3, false);
    usb_batch_add(&t->batch, 1, false, 0, false);
    devlog_status status = usb_batch_run(&t->dap, &t->batch, &captured, err);
    *n = 0;
    for (uint32_t bit = 0; status == DEVLOG_OK && *n <= MAX_TAPS;) {
        uint32_t word = bit / 32, code = 0;
        if (word + 1 > MAX_TAPS) break;
        uint64_t two = usb_batch_bits(&t->batch, word, 32) | usb_batch_bits(&t->batch, word + 1, 32) << 32;
        code = (uint32_t)(two >> bit % 32);
        if (code == UINT32_MAX) break;
        codes[(*n)++] = code & 1 ? code : 0;
        bit += code & 1 ? 32 : 1;
    }
    return status;
}

/* Bits of all instruction registers together: how late a 0 comes out. They are left at BYPASS. */
static devlog_status read_ir_length(usb_dtm *t, uint32_t *length, devlog_error *err)
{
    size_t captured;
    usb_batch_clear(&t->batch);
    usb_batch_group(&t->dap, &t->batch, 48, 8, 8);
    usb_batch_add(&t->batch, 2, true, 0, false);
    usb_batch_add(&t->batch, 2, false, 0, false);
    usb_batch_add(&t->batch, 64, false, UINT64_MAX, false);
    usb_batch_add(&t->batch, 64, false, ~1ull, true);
    usb_batch_add(&t->batch, 2, true, 3, false);
    usb_batch_add(&t->batch, 1, false, 0, false);
    devlog_status status = usb_batch_run(&t->dap, &t->batch, &captured, err);
    if (status != DEVLOG_OK) return status;
    uint64_t bits = usb_batch_bits(&t->batch, 0, 64);
    *length = 0;
    while (*length < 64 && bits >> *length & 1)
        ++*length;
    return DEVLOG_OK;
}

static bool plausible(uint32_t dtmcs)
{
    uint32_t version = dtmcs & 15, abits = dtmcs >> 4 & 63;
    return version == 1 && abits >= 6 && abits <= 28;
}

static devlog_status try_tap(usb_dtm *t, uint32_t index, uint32_t taps, uint32_t ir, uint32_t *dtmcs,
                             devlog_error *err)
{
    t->dr_before = index;
    t->dr_after = taps - 1 - index;
    t->ir_bits = taps == 1 ? ir : IR_BITS;
    t->ir_before = index == 0 ? 0 : ir - t->ir_bits;
    t->ir_after = ir - t->ir_bits - t->ir_before;
    return reset_dmi(t, dtmcs, err);
}

static devlog_status find_tap(usb_dtm *t, devlog_error *err)
{
    uint32_t codes[MAX_TAPS + 1], taps, ir = 0, dtmcs = 0;
    const char *name = t->dap.link->name;
    devlog_status status = read_chain(t, codes, &taps, err);
    if (status != DEVLOG_OK) return status;
    if (taps == 0 || taps > MAX_TAPS - 1)
        return dl_fail(
            err, DEVLOG_ERR_TRANSPORT,
            "%s: no chip answers on JTAG (TDO stays %s): is the board powered, and are TCK, TMS, TDI, "
            "TDO and ground connected?",
            name, taps ? "low" : "high");
    status = read_ir_length(t, &ir, err);
    if (status != DEVLOG_OK) return status;
    if (ir < IR_BITS || ir >= 64 || taps > 2)
        return dl_fail(
            err, DEVLOG_ERR_UNSUPPORTED,
            "%s: %u chips with %u bits of instruction registers on JTAG; one with 5 bits, and at most "
            "one other, are supported",
            name, taps, ir);
    uint32_t index = 0;
    for (; index < taps; index++) {
        if (t->expected && codes[index] != t->expected) continue;
        status = try_tap(t, index, taps, ir, &dtmcs, err);
        if (status != DEVLOG_OK) return status;
        if (plausible(dtmcs)) break;
    }
    t->idcode = codes[index < taps ? index : 0];
    if (index == taps && t->expected)
        return dl_fail(
            err, DEVLOG_ERR_DEVICE,
            "%s: the chip on JTAG has the IDCODE 0x%08x, the board file says 0x%08x: choose the board "
            "that fits",
            name, t->idcode, t->expected);
    if (index == taps)
        return dl_fail(
            err, DEVLOG_ERR_UNSUPPORTED,
            "%s: the chip on JTAG (IDCODE 0x%08x) has no RISC-V debug transport of version 0.13 or 1.0 "
            "(dtmcs 0x%08x)",
            name, t->idcode, dtmcs);
    t->abits = dtmcs >> 4 & 63;
    uint32_t idle = dtmcs >> 12 & 7;
    t->least_idle = t->idle = idle;
    t->patience = FIRST_PATIENCE;
    if (t->dr_before + 34 + t->abits + t->dr_after > MAX_SCAN)
        return dl_fail(err, DEVLOG_ERR_UNSUPPORTED, "%s: the chip's debug module has %u bits of address",
                       name, t->abits);
    return DEVLOG_OK;
}

devlog_status usb_dtm_open(usb_dtm *t, usb_link *link, uint32_t khz, uint32_t expected_idcode,
                           devlog_error *err)
{
    memset(t, 0, sizeof *t);
    t->khz = khz;
    t->expected = expected_idcode;
    devlog_status status = usb_dap_open(&t->dap, link, khz, err);
    if (status == DEVLOG_OK) status = find_tap(t, err);
    if (status != DEVLOG_OK) usb_batch_free(&t->batch);
    return status;
}

devlog_status usb_dtm_recover(usb_dtm *t, devlog_error *err)
{
    devlog_status status = usb_dap_connect(&t->dap, t->khz, err);
    if (status != DEVLOG_OK) return status;
    size_t captured;
    usb_batch_clear(&t->batch);
    usb_batch_group(&t->dap, &t->batch, 4, 0, 2);
    usb_batch_add(&t->batch, RESET_CLOCKS, true, 0xFF, false);
    usb_batch_add(&t->batch, 1, false, 0, false);
    status = usb_batch_run(&t->dap, &t->batch, &captured, err);
    return status == DEVLOG_OK ? reset_dmi(t, NULL, err) : status;
}

void usb_dtm_close(usb_dtm *t)
{
    if (t->dap.outcome != USB_GONE) usb_dap_close(&t->dap);
    usb_batch_free(&t->batch);
}
