/* CMSIS-DAP commands: see the header. Every answer is checked: its first byte repeats the command. */
#include "transport/usb_dap.h"

#include <stdlib.h>
#include <string.h>

enum {
    DAP_INFO = 0x00,
    DAP_CONNECT = 0x02,
    DAP_DISCONNECT = 0x03,
    DAP_SWJ_CLOCK = 0x11,
    DAP_JTAG_SEQUENCE = 0x14,
    DAP_JTAG_CONFIGURE = 0x15,
    INFO_CAPABILITIES = 0xF0,
    INFO_PACKET_COUNT = 0xFE,
    INFO_PACKET_SIZE = 0xFF,
    CAPABLE_OF_JTAG = 2,
    PORT_JTAG = 2,
    IR_BITS = 5,
    MAX_SEQUENCES = 255,
    SEQUENCE_TMS = 1 << 6,
    SEQUENCE_CAPTURE = 1 << 7,
};

static devlog_status fail_in(const usb_dap *d, devlog_error *err)
{
    return dl_fail_in(err, "%s", d->link->name);
}

/* One command and its answer of at least `least` bytes. */
static devlog_status command(usb_dap *d, const uint8_t *out, uint32_t n, uint32_t least, uint8_t in[64],
                             uint32_t *got, devlog_error *err)
{
    *got = 0;
    memset(in, 0, 64);
    usb_packet *p = calloc(1, sizeof *p);
    if (!p) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for a packet");
    memcpy(p->out, out, n);
    p->n_out = (uint16_t)n;
    size_t done;
    devlog_error why = {0};
    devlog_status status = DEVLOG_OK;
    d->outcome = d->link->exchange(d->link->owner, p, 1, &done, &why);
    if (d->outcome != USB_DONE) {
        status = dl_fail(err, why.status, "%s %s", d->link->name, why.text);
    } else if (p->n_in < least || p->in[0] != out[0]) {
        d->outcome = USB_AGAIN;
        status = dl_fail(err, DEVLOG_ERR_TRANSPORT,
                         "%s: %u bytes that begin with 0x%02x answer command 0x%02x: update its firmware",
                         d->link->name, p->n_in, p->n_in ? p->in[0] : 0, out[0]);
    }
    *got = p->n_in;
    memcpy(in, p->in, 64);
    if (p->n_in < 64) memset(in + p->n_in, 0, 64u - p->n_in);
    free(p);
    return status;
}

/* A number that the probe tells of itself; 0 when it does not. */
static devlog_status info(usb_dap *d, uint8_t id, uint32_t *out, devlog_error *err)
{
    uint8_t in[64];
    uint32_t got;
    const uint8_t ask[] = {DAP_INFO, id};
    devlog_status status = command(d, ask, sizeof ask, 2, in, &got, err);
    *out = 0;
    if (status == DEVLOG_OK && in[1] > got - 2) {
        d->outcome = USB_AGAIN;
        return dl_fail(err, DEVLOG_ERR_TRANSPORT,
                       "%s: its answer about itself is cut: plug it in again, or update its firmware",
                       d->link->name);
    }
    if (status == DEVLOG_OK && in[1] >= 1) *out = in[2];
    if (status == DEVLOG_OK && in[1] >= 2) *out |= (uint32_t)in[3] << 8;
    return status;
}

static devlog_status demand(usb_dap *d, const uint8_t *out, uint32_t n, uint8_t expected, const char *what,
                            devlog_error *err)
{
    uint8_t in[64];
    uint32_t got;
    devlog_status status = command(d, out, n, 2, in, &got, err);
    if (status == DEVLOG_OK && in[1] != expected)
        return dl_fail(err, DEVLOG_ERR_UNSUPPORTED, "%s refuses to %s (answer 0x%02x)", d->link->name, what,
                       in[1]);
    return status;
}

devlog_status usb_dap_connect(usb_dap *d, uint32_t khz, devlog_error *err)
{
    uint32_t hz = khz * 1000;
    d->khz = khz;
    d->link->busy_ms = 0;
    const uint8_t connect[] = {DAP_CONNECT, PORT_JTAG};
    const uint8_t clock[] = {DAP_SWJ_CLOCK, (uint8_t)hz, (uint8_t)(hz >> 8), (uint8_t)(hz >> 16),
                             (uint8_t)(hz >> 24)};
    const uint8_t configure[] = {DAP_JTAG_CONFIGURE, 1, IR_BITS};
    devlog_status status = demand(d, connect, sizeof connect, PORT_JTAG, "drive JTAG", err);
    if (status == DEVLOG_OK) status = demand(d, clock, sizeof clock, 0, "set the JTAG clock", err);
    if (status == DEVLOG_OK) status = demand(d, configure, sizeof configure, 0, "configure JTAG", err);
    return status;
}

devlog_status usb_dap_open(usb_dap *d, usb_link *link, uint32_t khz, devlog_error *err)
{
    d->link = link;
    uint32_t bytes, count, capabilities;
    devlog_status status = info(d, INFO_PACKET_SIZE, &bytes, err);
    if (status == DEVLOG_OK) status = info(d, INFO_PACKET_COUNT, &count, err);
    if (status == DEVLOG_OK) status = info(d, INFO_CAPABILITIES, &capabilities, err);
    if (status != DEVLOG_OK) return status;
    if (!(capabilities & CAPABLE_OF_JTAG))
        return dl_fail(err, DEVLOG_ERR_UNSUPPORTED, "%s cannot drive JTAG: use one that can", link->name);
    if (bytes < 64)
        return dl_fail(err, DEVLOG_ERR_TRANSPORT,
                       "%s says that its packets have %u bytes, at least 64 are needed: update its firmware",
                       link->name, bytes);
    link->packet_bytes = bytes < USB_PACKET_MAX ? bytes : USB_PACKET_MAX;
    link->depth = count < 1 ? 1 : count < USB_DEPTH_MAX ? count : USB_DEPTH_MAX;
    return usb_dap_connect(d, khz, err);
}

void usb_dap_close(usb_dap *d)
{
    uint8_t in[64];
    uint32_t got;
    const uint8_t disconnect[] = {DAP_DISCONNECT};
    command(d, disconnect, sizeof disconnect, 1, in, &got, NULL);
}

/* ---- Batches ------------------------------------------------------------------------------------- */

void usb_batch_free(usb_batch *b)
{
    free(b->packets);
    free(b->captures);
    free(b->answered);
    memset(b, 0, sizeof *b);
}

void usb_batch_clear(usb_batch *b)
{
    b->n = b->n_captures = 0;
    b->clocks = 0;
    b->failed = false;
}

static usb_packet *new_packet(usb_batch *b)
{
    if (b->n == b->cap) {
        size_t cap = b->cap ? 2 * b->cap : 8;
        usb_packet *packets = realloc(b->packets, cap * sizeof *packets);
        if (packets) b->packets = packets;
        uint16_t *answered = realloc(b->answered, cap * sizeof *answered);
        if (answered) b->answered = answered;
        if (!packets || !answered) {
            b->failed = true;
            return NULL;
        }
        b->cap = cap;
    }
    usb_packet *p = &b->packets[b->n];
    b->answered[b->n++] = 0;
    p->n_in = 0;
    p->n_out = 2;
    p->out[0] = DAP_JTAG_SEQUENCE;
    p->out[1] = 0;
    return p;
}

void usb_batch_group(usb_dap *d, usb_batch *b, uint32_t out_bytes, uint32_t in_bytes, uint32_t sequences)
{
    if (b->n) {
        const usb_packet *p = &b->packets[b->n - 1];
        if (p->n_out + out_bytes <= d->link->packet_bytes &&
            2u + b->answered[b->n - 1] + in_bytes <= d->link->packet_bytes &&
            p->out[1] + sequences <= MAX_SEQUENCES)
            return;
    }
    new_packet(b);
}

void usb_batch_add(usb_batch *b, uint32_t clocks, bool tms, uint64_t tdi, bool capture)
{
    if (b->failed || b->n == 0) return;
    usb_packet *p = &b->packets[b->n - 1];
    uint32_t bytes = (clocks + 7) / 8;
    if (p->n_out + 1 + bytes > USB_PACKET_MAX) {
        b->failed = true;
        return;
    }
    b->clocks += clocks;
    p->out[1]++;
    p->out[p->n_out++] =
        (uint8_t)((clocks & 63) | (tms ? SEQUENCE_TMS : 0) | (capture ? SEQUENCE_CAPTURE : 0));
    for (uint32_t i = 0; i < bytes; i++)
        p->out[p->n_out++] = (uint8_t)(tdi >> 8 * i);
    if (!capture) return;
    if (b->n_captures == b->cap_captures) {
        size_t cap = b->cap_captures ? 2 * b->cap_captures : 256;
        uint32_t *captures = realloc(b->captures, cap * sizeof *captures);
        if (!captures) {
            b->failed = true;
            return;
        }
        b->captures = captures;
        b->cap_captures = cap;
    }
    uint16_t *answered = &b->answered[b->n - 1];
    b->captures[b->n_captures++] = (uint32_t)(b->n - 1) << 16 | (2u + *answered);
    *answered = (uint16_t)(*answered + bytes);
}

devlog_status usb_batch_run(usb_dap *d, usb_batch *b, size_t *captured, devlog_error *err)
{
    *captured = 0;
    if (b->failed) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for packets");
    size_t done;
    devlog_error why = {0};
    devlog_status status = DEVLOG_OK;
    if (b->n && d->khz) d->link->busy_ms = (uint32_t)(b->clocks / b->n * (d->link->depth + 1) / d->khz);
    d->outcome = d->link->exchange(d->link->owner, b->packets, b->n, &done, &why);
    if (d->outcome != USB_DONE) status = dl_fail(err, why.status, "%s %s", d->link->name, why.text);
    for (size_t i = 0; i < done; i++) {
        const usb_packet *p = &b->packets[i];
        if (p->n_in == 2u + b->answered[i] && p->in[0] == DAP_JTAG_SEQUENCE && p->in[1] == 0) continue;
        d->outcome = USB_AGAIN;
        status = dl_fail(err, DEVLOG_ERR_TRANSPORT,
                         "answered a packet of JTAG sequences with %u bytes (0x%02x, status 0x%02x) where %u "
                         "are due: update its firmware",
                         p->n_in, p->in[0], p->in[1], 2u + b->answered[i]);
        fail_in(d, err);
        done = i;
    }
    while (*captured < b->n_captures && b->captures[*captured] >> 16 < done)
        (*captured)++;
    return status;
}

uint64_t usb_batch_bits(const usb_batch *b, size_t i, uint32_t clocks)
{
    const uint8_t *at = b->packets[b->captures[i] >> 16].in + (b->captures[i] & 0xFFFF);
    uint64_t bits = 0;
    for (uint32_t k = 0; k < (clocks + 7) / 8; k++)
        bits |= (uint64_t)at[k] << 8 * k;
    return clocks < 64 ? bits & ((1ull << clocks) - 1) : bits;
}
