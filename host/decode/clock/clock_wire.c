/* What is known of clocks as bytes, and back: what was measured, not what follows from it. */
#include "decode/clock/clock_wire.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CHIPS = 64, MAX_CORES = UINT16_MAX };

static void wire_double(dl_wire *w, double *value)
{
    uint64_t bits;
    memcpy(&bits, value, sizeof bits);
    dl_wire_u64(w, &bits);
    memcpy(value, &bits, sizeof bits);
    if (!isfinite(*value)) {
        w->bad = true;
        *value = 0;
    }
}

static void wire_samples(dl_wire *w, dl_clock_sample **items, size_t *n, size_t *cap)
{
    uint32_t count = (uint32_t)*n;
    dl_clock_sample before = {0};
    dl_wire_count(w, &count, UINT32_MAX, 4);
    if (dl_wire_reads(w) && count && !w->bad) {
        *items = calloc(count, sizeof **items);
        *cap = *n = *items ? count : 0;
        if (!*items) w->bad = true;
    }
    for (uint32_t i = 0; i < count && !w->bad; i++) {
        dl_clock_sample *s = &(*items)[i];
        dl_wire_more(w, &s->before, before.before);
        dl_wire_more(w, &s->after, s->before);
        dl_wire_more(w, &s->cycles, before.cycles);
        dl_wire_u32(w, &s->burst);
        before = *s;
    }
}

static void wire_cores(dl_wire *w, dl_chip_clock *k)
{
    uint32_t n = (uint32_t)k->n_cores;
    dl_wire_count(w, &n, MAX_CORES, 4);
    if (dl_wire_reads(w) && n && !w->bad) {
        k->cores = calloc(n, sizeof *k->cores);
        k->n_cores = k->cores ? n : 0;
        if (!k->cores) w->bad = true;
    }
    for (uint32_t i = 0; i < n && !w->bad; i++) {
        dl_core_clock *c = &k->cores[i];
        uint32_t x = c->x, y = c->y;
        uint64_t ahead = (uint64_t)c->ahead;
        dl_wire_below(w, &x, UINT16_MAX + 1);
        dl_wire_below(w, &y, UINT16_MAX + 1);
        dl_wire_more(w, &ahead, 0);
        wire_double(w, &c->error);
        c->x = (uint16_t)x;
        c->y = (uint16_t)y;
        c->ahead = (int64_t)ahead;
    }
}

static void wire_chip(dl_wire *w, dl_chip_clock *k)
{
    const char *boot = k->boot;
    size_t n = strlen(boot);
    dl_wire_u32(w, &k->slot);
    dl_wire_u64(w, &k->freq_khz);
    dl_wire_u64(w, &k->aiclk_khz);
    dl_wire_flag(w, &k->timed);
    dl_wire_flag(w, &k->together);
    dl_wire_flag(w, &k->refuted);
    dl_wire_u32(w, &k->refuted_x);
    dl_wire_u32(w, &k->refuted_y);
    dl_wire_flag(w, &k->moved);
    wire_double(w, &k->core_error);
    dl_wire_u32(w, &k->offsets_given);
    dl_wire_bytes(w, &boot, &n);
    if (n >= sizeof k->boot) w->bad = true;
    if (dl_wire_reads(w) && !w->bad && n) memcpy(k->boot, boot, n);
    dl_wire_flag(w, &k->boots_differ);
    dl_wire_u32(w, &k->bursts);
    dl_wire_u32(w, &k->peer);
    wire_cores(w, k);
    wire_samples(w, &k->samples, &k->n_samples, &k->cap_samples);
    wire_samples(w, &k->link_samples, &k->n_link_samples, &k->cap_link_samples);
}

void dl_chip_clocks_wire(dl_chip_clocks *c, dl_wire *w)
{
    uint32_t n = (uint32_t)c->n;
    dl_wire_count(w, &n, MAX_CHIPS, 16);
    if (dl_wire_reads(w) && n && !w->bad) {
        if (c->n || !(c->items = calloc(n, sizeof *c->items))) w->bad = true;
        if (!w->bad) c->n = n;
    }
    for (uint32_t i = 0; i < n && !w->bad; i++)
        wire_chip(w, &c->items[i]);
}
