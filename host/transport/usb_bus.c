/* Memory by system bus access: blocks of words, one scan per word.
 * Source: RISC-V External Debug Support 0.13.2, "System Bus Access" (sbcs, sbaddress0, sbdata0).
 *
 * A block is read with autoincrement, every read starting the next; before the last one that is switched off,
 * so that nothing behind the block is touched. sbcs is read every CHECK words: what came before a good sbcs
 * is known to be right. */
#include "transport/usb_memory.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    SB_BUSYERROR = 1 << 22,
    SB_BUSY = 1 << 21,
    SB_READONADDR = 1 << 20,
    SB_ACCESS32 = 2 << 17,
    SB_AUTOINCREMENT = 1 << 16,
    SB_READONDATA = 1 << 15,
    SB_ERROR_SHIFT = 12,
    SB_ERRORS = 7 << 12,
    CHECK = 128,
};

static const char *const error_texts[] = {
    "no error",         "time-out", "bad address", "bad alignment",
    "unsupported size", "error 5",  "error 6",     "an error",
};

devlog_status usb_ops_reserve(usb_dm *m, size_t n, devlog_error *err)
{
    if (n <= m->cap_ops) return DEVLOG_OK;
    usb_dmi *ops = realloc(m->ops, n * sizeof *ops);
    if (!ops) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for a block of a device's memory");
    m->ops = ops;
    m->cap_ops = n;
    return DEVLOG_OK;
}

static void add(usb_dm *m, size_t *n, uint8_t kind, uint8_t address, uint32_t data)
{
    m->ops[(*n)++] = (usb_dmi){kind, address, data, 0};
}

static void add_start(usb_dm *m, size_t *n, uint32_t mode, uint32_t address)
{
    if (m->sbcs != mode) add(m, n, USB_DMI_WRITE, DM_SBCS, mode | SB_BUSYERROR | SB_ERRORS);
    m->sbcs = mode;
    if (m->bus_bits > 32) add(m, n, USB_DMI_WRITE, DM_SBADDRESS1, 0);
    add(m, n, USB_DMI_WRITE, DM_SBADDRESS0, address);
}

/* Clears errors of the bus. Busy means that the next attempt must be slower. */
static devlog_status settle(usb_dm *m, uint32_t sbcs, uint32_t address, devlog_error *err)
{
    size_t done;
    m->sbcs = 0;
    usb_dmi clear[2] = {{USB_DMI_WRITE, DM_SBCS, SB_BUSYERROR | SB_ERRORS, 0},
                        {USB_DMI_READ, DM_SBADDRESS0, 0, 0}};
    devlog_status status = usb_dtm_run(&m->dtm, clear, 2, &done, err);
    if (status != DEVLOG_OK) return status;
    if (sbcs & SB_ERRORS)
        return dl_fail(err, DEVLOG_ERR_DEVICE,
                       "%s: the chip's bus answers \"%s\" in the block at 0x%08" PRIx32
                       " (it stands at 0x%08" PRIx32 "): check the memory map of the board file",
                       m->dtm.dap.link->name, error_texts[sbcs >> SB_ERROR_SHIFT & 7], address,
                       clear[1].value);
    m->bus_busy++;
    if (usb_dtm_slower(&m->dtm)) return DEVLOG_OK;
    return dl_fail(err, DEVLOG_ERR_TIMEOUT,
                   "%s: the chip's bus stays busy at 0x%08" PRIx32 ", also with %" PRIu32
                   " idle clocks between scans: reset the board",
                   m->dtm.dap.link->name, address, m->dtm.idle);
}

/* Reads sbcs until the last access has ended. */
static devlog_status finish(usb_dm *m, uint32_t *sbcs, devlog_error *err)
{
    usb_dmi op = {USB_DMI_READ, DM_SBCS, 0, 0};
    devlog_status status = DEVLOG_OK;
    size_t done;
    for (int i = 0; *sbcs & SB_BUSY && status == DEVLOG_OK && i < 1000; i++) {
        status = usb_dtm_run(&m->dtm, &op, 1, &done, err);
        *sbcs = op.value;
    }
    return status;
}

/* Takes what a block has brought: words from reads of sbdata0, verified by reads of sbcs. Returns the first
 * sbcs that shows an error, or the last. */
static uint32_t take(usb_dm *m, size_t n_ops, uint32_t *words, size_t *verified)
{
    size_t n = 0;
    uint32_t sbcs = 0;
    for (size_t i = 0; i < n_ops; i++) {
        const usb_dmi *op = &m->ops[i];
        if (op->address == DM_SBDATA0) {
            if (words) words[n] = op->value;
            n++;
        }
        if (op->kind != USB_DMI_READ || op->address != DM_SBCS) continue;
        sbcs = op->value;
        if (sbcs & (SB_BUSYERROR | SB_ERRORS)) return sbcs;
        *verified = n;
    }
    return sbcs;
}

devlog_status usb_bus_read(usb_dm *m, uint32_t address, uint32_t *words, size_t n, size_t *done,
                           devlog_error *err)
{
    devlog_status status = usb_ops_reserve(m, n + n / CHECK + 8, err);
    *done = 0;
    while (status == DEVLOG_OK && *done < n) {
        size_t n_ops = 0, ran, verified = 0, left = n - *done;
        uint32_t one = SB_READONADDR | SB_ACCESS32, many = one | SB_AUTOINCREMENT | SB_READONDATA;
        add_start(m, &n_ops, left > 1 ? many : one, address + 4 * (uint32_t)*done);
        for (size_t i = 0; i + 1 < left; i++) {
            add(m, &n_ops, USB_DMI_READ, DM_SBDATA0, 0);
            if (i % CHECK == CHECK - 1) add(m, &n_ops, USB_DMI_READ, DM_SBCS, 0);
        }
        if (left > 1) add(m, &n_ops, USB_DMI_WRITE, DM_SBCS, one);
        m->sbcs = one;
        add(m, &n_ops, USB_DMI_READ, DM_SBDATA0, 0);
        add(m, &n_ops, USB_DMI_READ, DM_SBCS, 0);
        status = usb_dtm_run(&m->dtm, m->ops, n_ops, &ran, err);
        uint32_t sbcs = take(m, ran, words + *done, &verified);
        if (status != DEVLOG_OK) m->sbcs = 0;
        if (status == DEVLOG_OK && verified < left)
            status = settle(m, sbcs, address + 4 * (uint32_t)(*done + verified), err);
        *done += verified;
    }
    return status;
}

devlog_status usb_bus_write(usb_dm *m, uint32_t address, const uint32_t *words, size_t n, size_t *done,
                            devlog_error *err)
{
    devlog_status status = usb_ops_reserve(m, n + n / CHECK + 8, err);
    *done = 0;
    while (status == DEVLOG_OK && *done < n) {
        size_t n_ops = 0, ran, verified = 0, left = n - *done;
        add_start(m, &n_ops, SB_ACCESS32 | SB_AUTOINCREMENT, address + 4 * (uint32_t)*done);
        for (size_t i = 0; i < left; i++) {
            add(m, &n_ops, USB_DMI_WRITE, DM_SBDATA0, words[*done + i]);
            if (i % CHECK == CHECK - 1 || i + 1 == left) add(m, &n_ops, USB_DMI_READ, DM_SBCS, 0);
        }
        status = usb_dtm_run(&m->dtm, m->ops, n_ops, &ran, err);
        uint32_t sbcs = take(m, ran, NULL, &verified);
        if (status != DEVLOG_OK) m->sbcs = 0;
        if (status == DEVLOG_OK && verified == left) status = finish(m, &sbcs, err);
        if (status == DEVLOG_OK && sbcs & (SB_BUSYERROR | SB_ERRORS)) {
            /* An error of the last write came after its check: it is not done. */
            if (verified == left) verified = left - 1;
            status = settle(m, sbcs, address + 4 * (uint32_t)(*done + verified), err);
        }
        *done += verified;
    }
    return status;
}

devlog_status usb_bus_write_narrow(usb_dm *m, uint32_t address, uint32_t value, uint32_t bytes,
                                   devlog_error *err)
{
    devlog_status status = usb_ops_reserve(m, 8, err);
    for (;;) {
        size_t n_ops = 0, ran, verified = 0;
        if (status != DEVLOG_OK) return status;
        add_start(m, &n_ops, bytes == 1 ? 0 : 1 << 17, address);
        add(m, &n_ops, USB_DMI_WRITE, DM_SBDATA0, value);
        add(m, &n_ops, USB_DMI_READ, DM_SBCS, 0);
        status = usb_dtm_run(&m->dtm, m->ops, n_ops, &ran, err);
        uint32_t sbcs = take(m, ran, NULL, &verified);
        /* Mode 0 looks like "unknown": nothing is remembered after a narrow access. */
        m->sbcs = 0;
        if (status == DEVLOG_OK) status = finish(m, &sbcs, err);
        if (status == DEVLOG_OK && !(sbcs & (SB_BUSYERROR | SB_ERRORS))) return DEVLOG_OK;
        if (status == DEVLOG_OK) status = settle(m, sbcs, address, err);
    }
}
