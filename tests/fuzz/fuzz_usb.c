/* What a probe and the chip behind it answer is outside data. The real driver talks to the device model
 * through a link that damages answers as the input says: opening, reading, writing, halting and registers
 * must end, without a crash, whatever comes back. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "transport/usb_memory.h"
#include "usb/model/model.h"

enum { BYTES = 700, ADDRESS = 0x48002, MAX_PACKETS = 4000 };

/* The input: four bytes per damage: how many packets to wait, what to do, two bytes for it. */
typedef struct damaged {
    model *m;
    const uint8_t *data;
    size_t size;
    uint32_t wait, packets;
} damaged;

static usb_outcome damage(damaged *d, usb_packet *p)
{
    if (d->size < 4) return USB_DONE;
    if (d->wait > 0) {
        d->wait--;
        return USB_DONE;
    }
    uint8_t what = d->data[1], a = d->data[2], b = d->data[3];
    d->data += 4;
    d->size -= 4;
    d->wait = d->size >= 4 ? d->data[0] & 31 : 0;
    switch (what & 7) {
    case 0: p->n_in = (uint16_t)(p->n_in * a / 256); break;
    case 1: p->in[(a | b << 8) % USB_PACKET_MAX] ^= what >> 3; break;
    case 2: memset(p->in + 2, a, p->n_in > 2 ? p->n_in - 2u : 0); break;
    case 3:
        for (uint32_t i = 2; i < p->n_in; i++)
            p->in[i] ^= (uint8_t)(a * i + b);
        break;
    case 4: return USB_AGAIN;
    case 5: return what >> 3 ? USB_DONE : USB_GONE;
    case 6: p->n_in = (uint16_t)((a | b << 8) % (USB_PACKET_MAX + 1)); break;
    default:
        /* The same word at every place where a scan shows it. */
        for (uint32_t i = 2; i + 6 <= p->n_in; i += 6)
            p->in[i + (a % 6)] = b;
    }
    return USB_DONE;
}

static usb_outcome exchange(void *owner, usb_packet *packets, size_t n, size_t *done, devlog_error *err)
{
    damaged *d = owner;
    for (*done = 0; *done < n; (*done)++) {
        usb_packet *p = &packets[*done];
        uint32_t n_in = 0;
        if (d->packets++ > MAX_PACKETS) {
            dl_fail(err, DEVLOG_ERR_TRANSPORT, "is worn out: plug another in");
            return USB_GONE;
        }
        model_packet(d->m, p->out, p->n_out, p->in, &n_in);
        p->n_in = (uint16_t)n_in;
        usb_outcome outcome = damage(d, p);
        if (outcome == USB_DONE) continue;
        dl_fail(err, DEVLOG_ERR_TRANSPORT, "did what the input says");
        if (outcome == USB_AGAIN) *done = 0;
        return outcome;
    }
    return USB_DONE;
}

static model *models[4];

/* One of each way to memory. */
static void make_models(void)
{
    board b;
    devlog_error err;
    if (board_load("usb_tile", &b, &err) != DEVLOG_OK) abort();
    for (int i = 0; i < 4; i++) {
        model_options o = model_defaults(&b);
        o.cycles_per_tck = 0;
        o.no_bus = i == 1 || i == 2;
        o.progbuf = i == 1 ? 3 : 0;
        o.abstract_memory = i == 2;
        o.packet_bytes = i == 3 ? 64 : 512;
        models[i] = model_create(&b, &o);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!models[0]) make_models();
    if (size < 1) return 0;
    model_restart(models[data[0] & 3]);
    damaged d = {.m = models[data[0] & 3], .data = data + 1, .size = size - 1};
    d.wait = d.size >= 4 ? d.data[0] & 31 : 0;
    usb_link link = {
        .owner = &d, .name = "probe of a fuzzer", .packet_bytes = 64, .depth = 1, .exchange = exchange};
    usb_dm dm;
    devlog_error err;
    if (usb_dm_open(&dm, &link, 1000, data[0] & 4 ? 0x1DE51001 : 0, 0, &err) != DEVLOG_OK) return 0;
    fuzz_got_inside();
    uint8_t out[BYTES], in[BYTES];
    size_t got = 0;
    uint32_t value;
    bool halted;
    memset(out, 0x5A, sizeof out);
    usb_memory_write(&dm, ADDRESS, out, BYTES, &err);
    devlog_status status = usb_memory_read(&dm, ADDRESS, in, BYTES, &got, &err);
    if (got > BYTES || (status == DEVLOG_OK && got != BYTES)) abort();
    if (usb_dm_halt(&dm, 0, &err) == DEVLOG_OK) {
        usb_dm_reg_get(&dm, 0, USB_REG_DPC, &value, &err);
        usb_dm_reg_set(&dm, 0, USB_REG_S0, 1, &err);
        usb_dm_fence(&dm, 0, &err);
    }
    usb_dm_resume(&dm, 0, &err);
    usb_dm_halted(&dm, 1, &halted, &err);
    usb_dm_reset(&dm, false, &err);
    usb_dm_close(&dm);
    return 0;
}
