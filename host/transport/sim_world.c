/* The world of simulated chips: see the header. */
#include "transport/sim_world.h"

#include <stdlib.h>
#include <string.h>

#define FS_PER_NS   UINT64_C(1000000)
#define NS_AT_START UINT64_C(1000000000)

enum { LINK_BYTES = 16, LINK_QUEUE = 16, LINK_LOOKS = 4 };

typedef struct message {
    uint64_t arrives; /* fs */
    uint8_t bytes[LINK_BYTES];
} message;

struct sim_place {
    sim_world *world;
    sim *s;
    sim_world_options options;
    uint64_t at;     /* fs: where this chip's time is */
    uint64_t period; /* fs per cycle */
    uint64_t cycles;
    uint32_t next_change;
    uint32_t tile; /* that the link ends in */
    uint8_t sent[LINK_BYTES];
    message queue[LINK_QUEUE]; /* towards this chip */
    uint32_t n_queue;
};

struct sim_world {
    uint64_t now; /* fs */
    uint64_t random;
    uint32_t n;
    sim_place *places[SIM_WORLD_MAX_CHIPS];
};

static uint64_t period_of(double mhz)
{
    return (uint64_t)(1e9 / mhz + 0.5);
}

static uint32_t first_tile(sim *s)
{
    uint32_t tile = 0;
    while (tile + 1 < SIM_MAX_TILES && !sim_ram_bytes(s, tile, 0))
        tile++;
    return tile;
}

sim_place *sim_world_enter(sim *s, const sim_world_options *options, sim_place *other)
{
    sim_place *p = calloc(1, sizeof *p);
    sim_world *w = other ? other->world : calloc(1, sizeof *w);
    if (!p || !w || w->n == SIM_WORLD_MAX_CHIPS) {
        free(p);
        if (!other) free(w);
        return NULL;
    }
    p->world = w;
    p->s = s;
    p->options = *options;
    p->period = period_of(options->mhz * (1 + options->ppm * 1e-6));
    p->at = w->now;
    p->tile = first_tile(s);
    w->random += options->seed;
    w->places[w->n++] = p;
    return p;
}

void sim_world_leave(sim_place *place)
{
    if (!place) return;
    sim_world *w = place->world;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->n; i++)
        if (w->places[i] != place) w->places[kept++] = w->places[i];
    w->n = kept;
    if (kept == 0) free(w);
    free(place);
}

/* Runs a chip up to a time, with its changes of frequency on the way. */
static bool run_to(sim_place *p, uint64_t fs)
{
    while (fs - p->at >= p->period) {
        uint64_t n = (fs - p->at) / p->period;
        if (p->next_change < p->options.n_changes) {
            uint64_t change = p->options.changes[p->next_change].cycle;
            if (p->cycles >= change) {
                p->period = period_of(p->options.changes[p->next_change++].mhz);
                continue;
            }
            if (n > change - p->cycles) n = change - p->cycles;
        }
        if (n > UINT32_MAX) n = UINT32_MAX;
        if (!sim_clock(p->s, (uint32_t)n)) return false;
        p->at += n * p->period;
        p->cycles += n;
    }
    return true;
}

/* What has changed at one end of the link is on its way; what has arrived is written. */
static void carry(sim_world *w)
{
    for (uint32_t i = 0; i < w->n; i++) {
        sim_place *from = w->places[i], *to = w->places[i ^ 1];
        uint8_t now[LINK_BYTES];
        if (!sim_tile_read(from->s, from->tile, from->options.link_out, now, LINK_BYTES)) continue;
        if (memcmp(now, from->sent, LINK_BYTES) != 0 && to->n_queue < LINK_QUEUE) {
            memcpy(from->sent, now, LINK_BYTES);
            message *m = &to->queue[to->n_queue++];
            memcpy(m->bytes, now, LINK_BYTES);
            m->arrives = w->now + to->options.link_ns * FS_PER_NS;
        }
    }
    for (uint32_t i = 0; i < w->n; i++) {
        sim_place *p = w->places[i];
        if (p->n_queue == 0 || p->queue[0].arrives > w->now) continue;
        sim_tile_write(p->s, p->tile, p->options.link_in, p->queue[0].bytes, LINK_BYTES);
        memmove(&p->queue[0], &p->queue[1], --p->n_queue * sizeof p->queue[0]);
    }
}

static bool pass(sim_world *w, uint64_t fs)
{
    bool linked = w->n == 2 && w->places[0]->options.link_ns && w->places[1]->options.link_ns;
    uint64_t end = w->now + fs;
    uint64_t step = linked ? w->places[0]->options.link_ns * FS_PER_NS / LINK_LOOKS : fs;
    while (w->now < end) {
        w->now = end - w->now < step ? end : w->now + step;
        for (uint32_t i = 0; i < w->n; i++)
            if (!run_to(w->places[i], w->now)) return false;
        if (linked) carry(w);
    }
    return true;
}

bool sim_world_cycles(sim_place *place, uint64_t cycles)
{
    uint64_t goal = place->cycles + cycles;
    while (place->cycles < goal) {
        uint64_t n = goal - place->cycles;
        if (sim_fault(place->s)) return false; /* it does no more cycles */
        if (place->next_change < place->options.n_changes) {
            uint64_t change = place->options.changes[place->next_change].cycle;
            if (change > place->cycles && n > change - place->cycles) n = change - place->cycles;
            /* The cycle behind a change has another length: run_to finds out. */
            if (change <= place->cycles)
                place->period = period_of(place->options.changes[place->next_change++].mhz);
        }
        if (!pass(place->world, place->at + n * place->period - place->world->now)) return false;
    }
    return true;
}

static uint64_t random_below(sim_world *w, uint64_t n)
{
    w->random = w->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (w->random >> 33) % n;
}

bool sim_world_access(sim_place *place)
{
    const sim_world_options *o = &place->options;
    if (!o->latency_ns && !o->jitter_ns) return true;
    uint64_t fs = o->latency_ns * FS_PER_NS / 2;
    if (o->jitter_ns) fs += random_below(place->world, o->jitter_ns + 1) * FS_PER_NS;
    return pass(place->world, fs);
}

uint64_t sim_world_ns(const sim_place *place)
{
    return NS_AT_START + place->world->now / FS_PER_NS;
}

sim *sim_world_stopped(const sim_place *place)
{
    for (uint32_t i = 0; i < place->world->n; i++)
        if (sim_fault(place->world->places[i]->s)) return place->world->places[i]->s;
    return place->s;
}
