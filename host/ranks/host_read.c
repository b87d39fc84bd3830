/* What the captures in a rank's folder say of its host's clocks: samples of its chips, CLOCK_REALTIME, and exchanges with other ranks.
 * Words of cores are passed over. Not for what follows from it (host_way.c). */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "decode/capture/capture.h"
#include "decode/input.h"
#include "ranks/host_clocks.h"

enum { MOST_EXCHANGES = 1 << 20 };

/* A chip of a capture, whose frames come behind it. */
typedef struct seen_slot {
    uint32_t slot;
    bool of_host;
    char boot[HOST_BOOT];
} seen_slot;

typedef struct reading {
    host_clocks *h;
    bool of_device; /* the file */
    seen_slot *slots;
    size_t n, cap;
} reading;

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

static bool is_simulated(const char *boot)
{
    return strncmp(boot, "sim-", 4) == 0; /* profiler/capture_log.c */
}

static seen_slot *slot_of(reading *g, uint32_t slot)
{
    for (size_t i = g->n; i > 0; i--)
        if (g->slots[i - 1].slot == slot) return &g->slots[i - 1];
    return NULL;
}

static devlog_status on_chip(void *ctx, const dl_capture_chip *chip, devlog_error *err)
{
    reading *g = ctx;
    host_clocks *h = g->h;
    const bool of_host = strcmp(chip->arch, DL_HOST_ARCH) == 0;
    seen_slot *s = slot_of(g, chip->slot);
    if (!s && g->n == g->cap) {
        const size_t cap = g->cap ? g->cap * 2 : 8;
        seen_slot *grown = realloc(g->slots, cap * sizeof *grown);
        if (!grown) return no_memory(err);
        g->slots = grown;
        g->cap = cap;
    }
    if (!s) s = &g->slots[g->n++];
    *s = (seen_slot){.slot = chip->slot, .of_host = of_host};
    snprintf(s->boot, sizeof s->boot, "%s", chip->boot);
    if (!is_simulated(s->boot) && (!of_host || !h->boot[0])) memcpy(h->boot, s->boot, sizeof h->boot);
    if (of_host) return DEVLOG_OK;
    h->any = true;
    h->simulated |= is_simulated(s->boot);
    const devlog_status status =
        dl_chip_clocks_chip(&h->chips, chip->slot, chip->freq_khz, chip->together, chip->boot, err);
    if (!status) dl_chip_clocks_reached(&h->chips, chip->slot, chip->transport, chip->aiclk_khz);
    return status;
}

static devlog_status on_samples(void *ctx, const dl_clock_samples *samples, devlog_error *err)
{
    reading *g = ctx;
    const seen_slot *s = slot_of(g, samples->slot);
    if (!s || s->of_host || samples->peer != DL_CLOCK_HOST) return DEVLOG_OK;
    return dl_chip_clocks_samples(&g->h->chips, samples, err);
}

static devlog_status on_offsets(void *ctx, const dl_clock_offsets *offsets, devlog_error *err)
{
    reading *g = ctx;
    return dl_chip_clocks_offsets(&g->h->chips, offsets, err);
}

/* Files are read by device first: what a process of the host says of another boot is of an earlier run. */
static bool is_of_boot(const reading *g, uint32_t slot)
{
    const seen_slot *s = slot_of((reading *)g, slot);
    return s && (is_simulated(s->boot) || strcmp(s->boot, g->h->boot) == 0);
}

static devlog_status on_host_clocks(void *ctx, const dl_capture_host_clocks *clocks, devlog_error *err)
{
    (void)err;
    reading *g = ctx;
    host_clocks *h = g->h;
    if (!is_of_boot(g, clocks->slot)) return DEVLOG_OK;
    if (clocks->time_namespace) h->time_namespace = clocks->time_namespace;
    for (size_t i = 0; i < clocks->n; i++) {
        const dl_clock_reading *r = &clocks->items[i];
        if (r->after < r->before || r->after > HOST_MOST_NS || r->real > HOST_MOST_NS) {
            h->impossible++;
            continue;
        }
        const int64_t low = (int64_t)(r->real - r->after) - 1, high = (int64_t)(r->real - r->before) + 1;
        const bool first = !h->n_readings++;
        if (first || r->most > h->most) h->most = r->most;
        if (first) h->at = r->before;
        const bool apart = !first && (low > h->real_high || high < h->real_low);
        h->set |= apart;
        if (first || (!h->set && low > h->real_low) || (h->set && low < h->real_low)) h->real_low = low;
        if (first || (!h->set && high < h->real_high) || (h->set && high > h->real_high)) h->real_high = high;
    }
    return DEVLOG_OK;
}

static bool can_be(const devlog_clock_stamps *s)
{
    return s->arrived >= s->sent && s->answered >= s->received && s->arrived <= HOST_MOST_NS &&
           s->answered <= HOST_MOST_NS &&
           (double)(s->arrived - s->sent) >= (double)(s->answered - s->received) * 0.999;
}

static devlog_status on_exchanges(void *ctx, const dl_capture_exchanges *x, devlog_error *err)
{
    reading *g = ctx;
    host_clocks *h = g->h;
    const bool foreign = !is_of_boot(g, x->slot);
    for (size_t i = 0; i < x->n; i++) {
        if (foreign || h->n == MOST_EXCHANGES) {
            h->foreign++;
            continue;
        }
        if (!can_be(&x->items[i])) {
            h->impossible++;
            continue;
        }
        if (h->n == h->cap) {
            const size_t cap = h->cap ? h->cap * 2 : 16;
            host_exchange *grown = realloc(h->items, cap * sizeof *grown);
            if (!grown) return no_memory(err);
            h->items = grown;
            h->cap = cap;
        }
        host_exchange *e = &h->items[h->n++];
        *e = (host_exchange){.peer = x->peer, .time_namespace = x->time_namespace, .stamps = x->items[i]};
        snprintf(e->boot, sizeof e->boot, "%s", x->boot);
    }
    return DEVLOG_OK;
}

static devlog_status read_one(reading *g, const char *path, devlog_error *err)
{
    dl_input *in = NULL;
    devlog_error unheard = {0};
    dl_capture_state state;
    const dl_capture_sink sink = {.ctx = g,
                                  .chip = on_chip,
                                  .samples = on_samples,
                                  .offsets = on_offsets,
                                  .host_clocks = on_host_clocks,
                                  .exchanges = on_exchanges};
    const void *first;
    size_t n = DL_CAPTURE_MAGIC_BYTES;
    devlog_status status = dl_input_open(&in, path, &unheard);
    if (status) return status == DEVLOG_ERR_MEMORY ? no_memory(err) : DEVLOG_OK;
    g->n = 0;
    if (dl_input_peek(in, &first, &n, &unheard) == DEVLOG_OK && dl_capture_is(first, n))
        status = dl_capture_read(in, &sink, false, &state, err);
    dl_input_close(in);
    return status;
}

static int is_capture(const struct dirent *e)
{
    const bool of_host = strncmp(e->d_name, "host_", 5) == 0 && strstr(e->d_name, ".devlog");
    return of_host || strncmp(e->d_name, DL_CAPTURE_NAME, strlen(DL_CAPTURE_NAME)) == 0;
}

static devlog_status read_folder(reading *g, const char *folder, bool of_hosts, devlog_error *err)
{
    struct dirent **found = NULL;
    const int n = scandir(folder, &found, is_capture, alphasort);
    devlog_status status = DEVLOG_OK;
    for (int k = 0; k < n; k++) {
        const bool of_host = strncmp(found[k]->d_name, "host_", 5) == 0;
        char *path = of_host == of_hosts && !status ? dl_path_join(folder, found[k]->d_name) : NULL;
        if (path) status = read_one(g, path, err);
        free(path);
        free(found[k]);
    }
    free(found);
    return status;
}

devlog_status host_clocks_read(host_clocks *h, const char *folder, devlog_error *err)
{
    static const char *const places[] = {"", "logs", "logs_device", ".logs"};
    enum { PLACES = sizeof places / sizeof places[0] };
    reading g = {.h = h};
    devlog_status status = DEVLOG_OK;
    /* Those of devices first: they say of which boot the run is. */
    for (size_t i = 0; i < 2 * PLACES && !status; i++) {
        const char *place = places[i % PLACES];
        char *inner = *place ? dl_path_join(folder, place) : strdup(folder);
        status = inner ? read_folder(&g, inner, i >= PLACES, err) : no_memory(err);
        free(inner);
    }
    free(g.slots);
    return status ? status : dl_chip_clocks_make(&h->chips, err);
}

void host_clocks_free(host_clocks *h)
{
    dl_chip_clocks_free(&h->chips);
    free(h->items);
    *h = (host_clocks){0};
}
