/* Chip clocks: see the header. */
#include "decode/clock/chip_clock.h"
#include "decode/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CHIPS = 64, MAX_SAMPLES = 32 * 1024 };

static void free_chip(dl_chip_clock *c)
{
    free(c->cores);
    free(c->samples);
    free(c->link_samples);
    if (c->fitted) dl_clock_fit_free(&c->fit);
    if (c->linked) dl_clock_fit_free(&c->link);
}

void dl_chip_clocks_free(dl_chip_clocks *c)
{
    for (size_t i = 0; i < c->n; i++)
        free_chip(&c->items[i]);
    free(c->items);
    *c = (dl_chip_clocks){0};
}

static dl_chip_clock *chip_of(dl_chip_clocks *c, uint32_t slot)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->items[i].slot == slot) return &c->items[i];
    return NULL;
}

const dl_chip_clock *dl_chip_clocks_of(const dl_chip_clocks *c, uint32_t slot)
{
    return chip_of((dl_chip_clocks *)c, slot);
}

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the clocks of the chips");
}

devlog_status dl_chip_clocks_chip(dl_chip_clocks *c, uint32_t slot, uint64_t freq_khz, bool together,
                                  const char *boot, devlog_error *err)
{
    dl_chip_clock *k = chip_of(c, slot);
    if (!k) {
        if (c->n == MAX_CHIPS) return DEVLOG_OK;
        dl_chip_clock *items = realloc(c->items, (c->n + 1) * sizeof *items);
        if (!items) return no_memory(err);
        c->items = items;
        k = &items[c->n++];
        *k = (dl_chip_clock){.slot = slot, .freq_khz = freq_khz, .peer = DL_CLOCK_HOST};
        snprintf(k->boot, sizeof k->boot, "%s", boot);
    }
    if (strncmp(k->boot, boot, sizeof k->boot - 1) != 0) k->boots_differ = true;
    k->together = together;
    return DEVLOG_OK;
}

void dl_chip_clocks_reached(dl_chip_clocks *c, uint32_t slot, const char *transport, uint64_t aiclk_khz)
{
    /* On the others the measured rate is that of the host which simulates. */
    static const char *const timed[] = {"sim", "kmd", "usb"};
    dl_chip_clock *k = chip_of(c, slot);
    if (!k) return;
    if (aiclk_khz) k->aiclk_khz = aiclk_khz;
    for (size_t i = 0; i < sizeof timed / sizeof timed[0]; i++)
        k->timed |= strcmp(transport, timed[i]) == 0;
}

/* Room for more within the limit: leaves every other burst out, again and again. The first always stays. */
static void thin(dl_clock_sample *items, size_t *n, size_t more)
{
    while (*n && *n + more > MAX_SAMPLES) {
        size_t kept = 0;
        bool keep = false;
        for (size_t i = 0; i < *n; i++) {
            if (i == 0 || items[i].burst != items[i - 1].burst) keep = !keep;
            if (keep) items[kept++] = items[i];
        }
        if (kept == *n) kept = *n / 2; /* one burst */
        *n = kept;
    }
}

/* Samples that are appended keep bursts apart: their numbers go on behind those that are there. */
static devlog_status append(dl_clock_sample **items, size_t *n, size_t *cap, const dl_clock_samples *more,
                            devlog_error *err)
{
    thin(*items, n, more->n);
    if (more->n > MAX_SAMPLES) return DEVLOG_OK;
    if (*n + more->n > *cap) {
        size_t grown = *cap ? *cap : 64;
        while (grown < *n + more->n)
            grown *= 2;
        dl_clock_sample *bigger = realloc(*items, grown * sizeof *bigger);
        if (!bigger) return no_memory(err);
        *items = bigger;
        *cap = grown;
    }
    memcpy(*items + *n, more->items, more->n * sizeof **items);
    *n += more->n;
    return DEVLOG_OK;
}

devlog_status dl_chip_clocks_samples(dl_chip_clocks *c, const dl_clock_samples *samples, devlog_error *err)
{
    dl_chip_clock *k = chip_of(c, samples->slot);
    if (!k) return DEVLOG_OK;
    if (samples->peer == DL_CLOCK_HOST)
        return append(&k->samples, &k->n_samples, &k->cap_samples, samples, err);
    k->peer = samples->peer;
    return append(&k->link_samples, &k->n_link_samples, &k->cap_link_samples, samples, err);
}

static int by_core(const void *a, const void *b)
{
    const dl_core_clock *p = a, *q = b;
    return p->y != q->y ? (p->y < q->y ? -1 : 1) : p->x < q->x ? -1 : p->x > q->x;
}

devlog_status dl_chip_clocks_offsets(dl_chip_clocks *c, const dl_clock_offsets *offsets, devlog_error *err)
{
    dl_chip_clock *k = chip_of(c, offsets->slot);
    if (!k) return DEVLOG_OK;
    dl_core_clock *cores = malloc((offsets->n + 1) * sizeof *cores);
    if (!cores) return no_memory(err);
    size_t n = 0;
    cores[n++] = (dl_core_clock){.x = offsets->reference_x, .y = offsets->reference_y};
    k->refuted = k->moved = false;
    k->core_error = 0;
    for (size_t i = 0; i < offsets->n; i++) {
        const dl_clock_offset *o = &offsets->items[i];
        if (o->hi < o->lo) continue; /* no measurement */
        double half = ((double)o->hi - (double)o->lo) / 2;
        dl_core_clock core = {.x = o->x, .y = o->y, .ahead = o->lo + (int64_t)half, .error = half + 1};
        bool zero = o->lo <= 0 && o->hi >= 0;
        if (k->together && zero) {
            core.ahead = 0;
            core.error = fmax(-(double)o->lo, (double)o->hi);
        }
        if (k->together && !zero && !k->refuted) {
            k->refuted = true;
            k->refuted_x = o->x;
            k->refuted_y = o->y;
        }
        if (o->moved) k->moved = true;
        if (core.error > k->core_error) k->core_error = core.error;
        cores[n++] = core;
    }
    qsort(cores, n, sizeof *cores, by_core);
    free(k->cores);
    k->cores = cores;
    k->n_cores = n;
    k->offsets_given++;
    return DEVLOG_OK;
}

const dl_core_clock *dl_chip_clock_core(const dl_chip_clock *c, uint16_t x, uint16_t y)
{
    static const dl_core_clock unknown;
    const dl_core_clock key = {.x = x, .y = y};
    const dl_core_clock *found = c->n_cores ? bsearch(&key, c->cores, c->n_cores, sizeof key, by_core) : NULL;
    return found ? found : &unknown;
}

static devlog_status make_one(dl_chip_clock *k, devlog_error *err)
{
    devlog_error why = {0};
    if (k->fitted) dl_clock_fit_free(&k->fit);
    if (k->linked) dl_clock_fit_free(&k->link);
    k->fitted = k->linked = false;
    k->why[0] = 0;
    if (k->boots_differ) {
        snprintf(k->why, sizeof k->why,
                 "its captures are of different boots, whose clocks have nothing in common");
        return DEVLOG_OK;
    }
    if (k->n_samples == 0) {
        snprintf(k->why, sizeof k->why, "there are no samples of its clock");
        return DEVLOG_OK;
    }
    devlog_status status =
        dl_clock_fit_make(&k->fit, k->samples, k->n_samples, DL_CLOCK_QUIET, DL_CLOCK_STEERED, &why);
    if (status == DEVLOG_ERR_MEMORY) return no_memory(err);
    k->fitted = status == DEVLOG_OK;
    if (!k->fitted) snprintf(k->why, sizeof k->why, "%.190s", why.text);
    if (k->n_link_samples) {
        status = dl_clock_fit_make(&k->link, k->link_samples, k->n_link_samples, DL_CLOCK_QUIET, 0, &why);
        if (status == DEVLOG_ERR_MEMORY) return no_memory(err);
        k->linked = status == DEVLOG_OK;
    }
    return DEVLOG_OK;
}

/* How host/profiler/capture_log.c names the boot of a chip whose time is counted, not measured. */
static bool simulated(const dl_chip_clock *c)
{
    return strncmp(c->boot, "sim-", 4) == 0;
}

devlog_status dl_chip_clocks_make(dl_chip_clocks *c, devlog_error *err)
{
    c->any = false;
    c->origin = 0;
    for (size_t i = 0; i < c->n; i++) {
        dl_chip_clock *k = &c->items[i];
        devlog_status status = make_one(k, err);
        if (status) return status;
        if (!k->fitted) continue;
        if (!c->any || k->fit.ticks < c->origin) c->origin = k->fit.ticks;
        c->any = true;
    }
    /* Chips of two boots of the host have no common clock either. */
    char title[DL_CHIP_TITLE];
    for (size_t i = 0; i < c->n; i++) {
        dl_chip_clock *k = &c->items[i];
        if (!k->fitted || strcmp(k->boot, c->items[0].boot) == 0) continue;
        dl_clock_fit_free(&k->fit);
        k->fitted = false;
        dl_chip_title(title, c->items[0].slot);
        if (simulated(k) == simulated(&c->items[0]))
            snprintf(k->why, sizeof k->why, "it is of another boot than %s", title);
        else if (simulated(k))
            snprintf(k->why, sizeof k->why, "it is simulated, in a time of its own");
        else
            snprintf(k->why, sizeof k->why, "%s is simulated, in a time of its own", title);
    }
    c->made = true;
    return DEVLOG_OK;
}

bool dl_chip_clocks_ns(const dl_chip_clocks *c, uint32_t slot, uint64_t cycles, double *ns, double *error)
{
    const dl_chip_clock *k = dl_chip_clocks_of(c, slot);
    if (!k || !k->fitted) return false;
    dl_clock_fit_at(&k->fit, cycles, ns, error);
    *ns += (double)(k->fit.ticks - c->origin);
    return true;
}

uint64_t dl_chip_clock_khz(const dl_chip_clock *c)
{
    if (!c->fitted || !c->timed || c->fit.n_knots < 2) return c->freq_khz;
    const dl_clock_knot *first = &c->fit.knots[0], *last = &c->fit.knots[c->fit.n_knots - 1];
    const double span = last->ticks - first->ticks, khz = c->fit.rate * 1e6;
    if (!(span > 0) || !(khz >= 1 && khz < 1e9)) return c->freq_khz;
    const double slack = (first->half + last->half) / span;
    const double off = khz - (double)c->freq_khz;
    if (c->freq_khz && (off < 0 ? -off : off) <= slack * khz + 1) return c->freq_khz;
    /* A coarse one has to be sure. */
    if (c->freq_khz && slack > 1e-3 && (off < 0 ? -off : off) < 5 * slack * khz) return c->freq_khz;
    return (uint64_t)(khz + 0.5);
}

double dl_chip_clock_core_residual(const dl_chip_clock *c)
{
    return c->n_cores > 1 ? 2 * c->core_error : 0;
}

double dl_chip_clock_host_residual(const dl_chip_clock *c)
{
    if (!c->fitted) return 0;
    return c->fit.residual + (c->freq_khz ? c->core_error * 1e6 / (double)c->freq_khz : 0);
}
