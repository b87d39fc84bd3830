/* Zones of devices as GPU zones of Tracy. A RISC is a GPU context, because zones of one context have to nest; there are 255 of
 * them in Tracy, and zones of further RISCs are counted and not sent. Contexts count ns and go without the calibration flag, with
 * which Tracy stretches durations; in each, times never go back, since Tracy shifts a context by 2^31 when they do by so much. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "outlets/tracy.h"

enum {
    CONTEXTS = 255,
    MOST_SITES = 8000, /* of Tracy's 32K source locations: the rest is for the host's zones (outlets.c) */
    DEEPEST = 256,
    CUSTOM = 7 /* Tracy's GpuContextType::Custom (public/common/TracyQueue.hpp at aa53e37) */
};

typedef struct context {
    uint32_t chip, row;
    uint64_t last; /* ns of the last event */
    uint16_t query;
} context;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static context contexts[CONTEXTS];
static uint32_t n_contexts;
static outlet_site *sites[2 * 8192]; /* a hash table */
static uint32_t n_sites;
static outlet_site others = {
    .name = "zones of devices beyond the first 8000 names", .function = "", .file = ""};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A place, which stays. */
static const outlet_site *site_of(const tracy_device_zone *z)
{
    uint64_t hash = z->line;
    for (const char *c = z->name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    const size_t size = sizeof sites / sizeof *sites;
    for (size_t at = hash % size;; at = (at + 1) % size) {
        outlet_site *s = sites[at];
        if (s && s->line == z->line && !strcmp(s->name, z->name) && !strcmp(s->file, z->file)) return s;
        if (s) continue;
        const size_t n = strlen(z->name) + 1, m = strlen(z->file) + 1;
        if (n_sites == MOST_SITES || !(s = malloc(sizeof *s + n + m))) return &others;
        char *text = (char *)(s + 1);
        memcpy(text, z->name, n);
        memcpy(text + n, z->file, m);
        *s = (outlet_site){.name = text, .function = text, .file = text + n, .line = z->line};
        n_sites++;
        return sites[at] = s;
    }
}

/* `chip_now` was `at` on the host. Tracy takes the time of a new context as that of the call. */
static context *context_of(const tracy_gpu *gpu, const tracy_device_zone *z, uint64_t chip_now, uint64_t at)
{
    for (uint32_t i = 0; i < n_contexts; i++)
        if (contexts[i].chip == z->chip && contexts[i].row == z->row) return &contexts[i];
    if (n_contexts == CONTEXTS) return NULL;
    const uint8_t number = (uint8_t)n_contexts;
    context *c = &contexts[n_contexts++];
    *c = (context){.chip = z->chip, .row = z->row};
    gpu->new_context((tracy_gpu_context){
        .time = (int64_t)(chip_now + (now_ns() - at)), .period = 1, .context = number, .type = CUSTOM});
    const size_t n = strlen(z->row_name);
    gpu->name((tracy_gpu_name){number, z->row_name, (uint16_t)(n < UINT16_MAX ? n : UINT16_MAX)});
    return c;
}

static void put_time(const tracy_gpu *gpu, context *c, uint16_t query, uint64_t time)
{
    if (time < c->last) time = c->last;
    c->last = time;
    gpu->time((tracy_gpu_time){.time = (int64_t)time, .query = query, .context = (uint8_t)(c - contexts)});
}

static void put_begin(const tracy_gpu *gpu, context *c, const tracy_device_zone *z)
{
    const uint16_t query = c->query++;
    gpu->begin((tracy_gpu_begin){(uint64_t)(uintptr_t)site_of(z), query, (uint8_t)(c - contexts)});
    put_time(gpu, c, query, z->start);
}

static void put_end(const tracy_gpu *gpu, context *c, uint64_t time)
{
    const uint16_t query = c->query++;
    gpu->end((tracy_gpu_end){query, (uint8_t)(c - contexts)});
    put_time(gpu, c, query, time);
}

/* By row, then as they open: the outer one first. */
static int earlier(const void *a, const void *b)
{
    const tracy_device_zone *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->depth < y->depth ? -1 : x->depth > y->depth;
}

/* Zones of one row. */
static void put_row(const tracy_gpu *gpu, context *c, const tracy_device_zone *zones, size_t n)
{
    uint64_t ends[DEEPEST];
    size_t open = 0;
    for (size_t i = 0; i < n; i++) {
        const tracy_device_zone *z = &zones[i];
        while (open && ends[open - 1] <= z->start)
            put_end(gpu, c, ends[--open]);
        if (open == DEEPEST ||
            z->start < c->last) { /* what is not in order, which a device that began anew may be */
            tracy_unsent(2);
            continue;
        }
        put_begin(gpu, c, z);
        ends[open] = open && ends[open - 1] < z->end ? ends[open - 1] : z->end;
        open++;
    }
    while (open)
        put_end(gpu, c, ends[--open]);
}

void tracy_device_zones(tracy_device_zone *zones, size_t n, uint64_t now, uint64_t host_ns)
{
    const tracy_gpu *gpu = tracy_gpu_calls();
    if (!n || !gpu) return;
    qsort(zones, n, sizeof *zones, earlier);
    pthread_mutex_lock(&lock);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && zones[to].row == zones[from].row;)
            to++;
        context *c = context_of(gpu, &zones[from], now, host_ns);
        if (!c)
            tracy_unsent(2 * (to - from));
        else if (tracy_may_send(4 * (to - from)))
            put_row(gpu, c, &zones[from], to - from);
    }
    pthread_mutex_unlock(&lock);
}
