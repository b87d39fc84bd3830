/* What travels on the NoC: the heap of packets on their way, and what they do when they arrive.
 * What it is not: NIU registers (noc.c). Counters are those of WormholeB0/NoC/Counters.md. */
#include <stdlib.h>
#include <string.h>

#include "sim/noc.h"
#include "sim/strict.h"
#include "sim/tile.h"

/* Counters.md: indices */
enum {
    MST_ATOMIC_RESP = 0,
    MST_WR_ACK = 1,
    MST_RD_RESP = 2,
    MST_RD_WORD = 3,
    MST_REQS_OUTSTANDING = 16,
    SLV_ATOMIC_RESP_SENT = 48,
    SLV_WR_ACK_SENT = 49,
    SLV_RD_RESP_SENT = 50,
    SLV_RD_WORD_SENT = 51,
    SLV_REQ_ACCEPTED = 52,
    SLV_RD_RECEIVED = 53,
    SLV_NONPOSTED_ATOMIC_RECEIVED = 54,
    SLV_POSTED_ATOMIC_RECEIVED = 55,
    SLV_NONPOSTED_WR_WORD_RECEIVED = 56,
    SLV_POSTED_WR_WORD_RECEIVED = 57,
    SLV_NONPOSTED_WR_RECEIVED = 58,
    SLV_POSTED_WR_RECEIVED = 59,
    SLV_NONPOSTED_WR_STARTED = 60,
    SLV_POSTED_WR_STARTED = 61,
};

/* ---- The heap -------------------------------------------------------------------------------------- */

static bool before(const sim_packet *a, const sim_packet *b)
{
    if (a->at != b->at) return a->at < b->at;
    if (a->issued != b->issued) return a->issued < b->issued;
    if (a->source != b->source) return a->source < b->source;
    return a->order < b->order;
}

static bool push(sim *s, sim_packet *p)
{
    if (s->n_packets == s->packets_room) {
        size_t room = s->packets_room ? 2 * s->packets_room : 64;
        sim_packet **grown = realloc(s->packets, room * sizeof *grown);
        if (!grown) return false;
        s->packets = grown;
        s->packets_room = room;
    }
    size_t i = s->n_packets++;
    for (; i > 0 && before(p, s->packets[(i - 1) / 2]); i = (i - 1) / 2)
        s->packets[i] = s->packets[(i - 1) / 2];
    s->packets[i] = p;
    return true;
}

static sim_packet *pop(sim *s)
{
    sim_packet *top = s->packets[0], *last = s->packets[--s->n_packets];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < s->n_packets) {
        if (child + 1 < s->n_packets && before(s->packets[child + 1], s->packets[child])) child++;
        if (!before(s->packets[child], last)) break;
        s->packets[i] = s->packets[child];
        i = child;
    }
    s->packets[i] = last;
    return top;
}

uint64_t sim_packets_next(const sim *s)
{
    return s->n_packets ? s->packets[0]->at : SIM_NEVER;
}

void sim_packets_free(sim *s)
{
    for (size_t i = 0; i < s->n_packets; i++)
        free(s->packets[i]);
    free(s->packets);
}

/* ---- Travel ---------------------------------------------------------------------------------------- */

sim_packet *sim_packet_new(uint32_t size)
{
    sim_packet *p = calloc(1, sizeof *p + size);
    if (p) p->size = size;
    return p;
}

/* Hops between neighbouring routers: NoC 0 flows right and down, NoC 1 left and up, both around the edges
 * (WormholeB0/NoC/RoutingPaths.md, "Unicast routes"). */
static uint32_t hops(const sim_tile *from, const sim_tile *to, uint32_t noc)
{
    const sim_config *c = &from->chip->config;
    uint32_t w = c->noc_width, h = c->noc_height;
    uint32_t dx = (to->config->x + w - from->config->x) % w, dy = (to->config->y + h - from->config->y) % h;
    return noc ? (w - dx) % w + (h - dy) % h : dx + dy;
}

/* A multicast arrives everywhere when it arrives at the tile that is farthest away. */
static uint32_t most_hops(const sim_tile *from, const sim_packet *p)
{
    const sim *s = from->chip;
    if (!p->multicast) return hops(from, &s->tiles[p->target], p->noc);
    uint32_t most = 0;
    for (uint32_t i = 0; i < s->n_tiles; i++)
        if (sim_noc_in_rect(&s->tiles[i], p->noc, p->rect)) {
            uint32_t n = hops(from, &s->tiles[i], p->noc);
            if (n > most) most = n;
        }
    return most;
}

const char *sim_packet_send(sim_tile *from, sim_packet *p, uint64_t now)
{
    sim_niu *n = &from->niu[p->noc];
    uint32_t flits = 1 + (p->kind == SIM_PACKET_WRITE && !p->by_mask ? sim_noc_flits(p->size) : 0);
    n->link_free = sim_later(n->link_free, now) + flits;
    p->issued = now;
    p->source = from->index;
    p->order = from->packets++;
    p->at = n->link_free + SIM_NOC_BASE + SIM_NOC_HOP * most_hops(from, p) + sim_strict_way(from);
    from->rescan = true;
    if (push(from->chip, p)) return NULL;
    free(p);
    return "out of memory for a NoC packet";
}

/* Sends `p` back from `far` to the tile that it came from: an answer, for whose flits nothing is in the way
 * but those of other read responses. */
static void answer(sim_tile *far, sim_packet *p, sim_packet_kind kind)
{
    sim *s = far->chip;
    sim_tile *home = &s->tiles[p->source];
    sim_niu *n = &home->niu[p->noc];
    p->kind = kind;
    p->issued = s->clock;
    p->order = home->packets++;
    p->at = s->clock + SIM_NOC_BASE + SIM_NOC_HOP * hops(far, home, p->noc) + sim_strict_way(home);
    if (kind == SIM_PACKET_DATA) {
        p->at = sim_later(p->at, n->inbox_free) + sim_noc_flits(p->size);
        n->inbox_free = p->at;
    }
    if (push(s, p)) return;
    free(p);
    sim_tile_settle(home);
    sim_refuse(home, SIM_NO_HART, s->clock, "out of memory for a NoC packet");
}

/* ---- Arrival --------------------------------------------------------------------------------------- */

static void refuse(sim_tile *far, const sim_packet *p, const char *why)
{
    sim_tile *home = &far->chip->tiles[p->source];
    sim_tile_settle(home);
    sim_refuse(home, SIM_NO_HART, far->chip->clock,
               "NoC %u request of %s at tile (%u,%u), pc 0x%08x, to 0x%llx of tile (%u,%u): %s", p->noc,
               sim_hart_name(home, p->hart), home->config->x, home->config->y, p->pc,
               (unsigned long long)p->addr, far->config->x, far->config->y, why);
    if (far->chip->fault_tile == home->index && far->chip->fault_hart == SIM_NO_HART)
        far->chip->fault_hart = p->hart;
}

/* Blackhole: "DRAM arbiter seems to drop requests from one noc when both nocs are issuing requests to the same DRAM endpoint at a
 * fast rate" (SYS-1419 in tt-metal's tests); how fast is not said. */
static const char *check_endpoint(sim_tile *far, const sim_packet *p)
{
    enum { FAST = 10000 }; /* cycles */
    if (far->config->kind != SIM_TILE_DRAM || !far->chip->config.noc_wide) return NULL;
    uint64_t now = far->chip->clock, other = far->dram_used[!p->noc];
    far->dram_used[p->noc] = now + 1;
    return other && now - other < FAST ? "both NoCs use this DRAM endpoint: the chip hangs" : NULL;
}

static const char *write_at(sim_tile *far, const sim_packet *p)
{
    const char *wrong = check_endpoint(far, p);
    if (wrong) return wrong;
    sim_tile_settle(far);
    sim_by by = {.now = far->chip->clock, .pc = p->pc, .hart = SIM_NO_HART};
    uint32_t *c = far->niu[p->noc].counter;
    uint32_t words = p->by_mask ? 1 : sim_noc_flits(p->size);
    c[SLV_REQ_ACCEPTED]++;
    c[p->answer ? SLV_NONPOSTED_WR_STARTED : SLV_POSTED_WR_STARTED]++;
    c[p->answer ? SLV_NONPOSTED_WR_RECEIVED : SLV_POSTED_WR_RECEIVED]++;
    c[p->answer ? SLV_NONPOSTED_WR_WORD_RECEIVED : SLV_POSTED_WR_WORD_RECEIVED] += words;
    if (p->answer) c[SLV_WR_ACK_SENT]++;
    if (!p->by_mask) return sim_tile_store_bytes(far, by, p->addr, p->bytes, p->size);
    const char *why = NULL;
    for (uint32_t i = 0; i < 16 && !why; i++)
        if (p->mask >> i & 1) why = sim_tile_store_bytes(far, by, p->addr + i, &p->bytes[i & 3], 1);
    return why;
}

/* NoC/Ordering.md: "software should not assume anything about the order in which the individual reads happen", nor when, until
 * they are counted. */
static void read_source(sim *s, sim_packet *p)
{
    const sim_bank *b = sim_tile_bank(&s->tiles[p->source], (uint32_t)p->return_addr, p->size);
    if (b) memcpy(p->bytes, b->bytes + ((uint32_t)p->return_addr - b->base), p->size);
}

static void arrive_write(sim *s, sim_packet *p)
{
    if (p->late) read_source(s, p);
    sim_tile *farthest = &s->tiles[p->target];
    if (!p->multicast) {
        const char *why = write_at(farthest, p);
        if (why) refuse(farthest, p, why);
        p->acks = 1;
    }
    for (uint32_t i = 0, most = 0; p->multicast && i < s->n_tiles; i++) {
        sim_tile *far = &s->tiles[i];
        if (!sim_noc_in_rect(far, p->noc, p->rect) || (i == p->source && !p->include_source)) continue;
        const char *why = write_at(far, p);
        if (why) refuse(far, p, why);
        uint32_t n = hops(far, &s->tiles[p->source], p->noc);
        if (p->acks++ == 0 || n > most) most = n, farthest = far;
    }
    if (p->answer && p->acks)
        answer(farthest, p, SIM_PACKET_ACK);
    else
        free(p);
}

static void arrive_read(sim *s, sim_packet *p)
{
    sim_tile *far = &s->tiles[p->target];
    sim_by by = {.now = s->clock, .pc = p->pc, .hart = SIM_NO_HART};
    uint32_t *c = far->niu[p->noc].counter;
    sim_tile_settle(far);
    c[SLV_REQ_ACCEPTED]++;
    c[SLV_RD_RECEIVED]++;
    c[SLV_RD_RESP_SENT]++;
    c[SLV_RD_WORD_SENT] += sim_noc_flits(p->size);
    const char *why = check_endpoint(far, p);
    if (!why) why = sim_tile_fetch_bytes(far, by, p->addr, p->bytes, p->size);
    if (why) {
        refuse(far, p, why);
        free(p);
        return;
    }
    answer(far, p, SIM_PACKET_DATA);
}

/* WormholeB0/NoC/Atomics.md. p->mask is NOC_AT_LEN_BE, p->value is NOC_AT_DATA. */
static void do_atomic(uint8_t *line, const sim_packet *p)
{
    enum { INCREMENT = 1, SWAP_MASK = 3, CAS = 4, SWAP_7 = 7 };
    uint32_t code = p->mask >> 12 & 7;
    uint8_t *at = line + 4 * (code == SWAP_7 ? p->mask >> 2 & 3 : p->mask & 3);
    uint32_t old, fresh = p->value;
    memcpy(&old, at, 4);
    switch (code) {
    case INCREMENT: {
        uint32_t keep = (p->mask >> 2 & 31) == 31 ? 0 : ~((2u << (p->mask >> 2 & 31)) - 1);
        fresh = ((old + p->value) & ~keep) | (old & keep);
        break;
    }
    case CAS: fresh = old == (p->mask >> 2 & 15) ? p->mask >> 6 & 15 : old; break;
    case SWAP_MASK:
        for (uint32_t i = 0; i < 8; i++)
            if (p->mask >> (2 + i) & 1) memcpy(line + 2 * i, (const uint8_t *)&p->value + 2 * (i & 1), 2);
        return;
    }
    memcpy(at, &fresh, 4);
}

static void arrive_atomic(sim *s, sim_packet *p)
{
    sim_tile *far = &s->tiles[p->target];
    sim_by by = {.now = s->clock, .pc = p->pc, .hart = SIM_NO_HART};
    uint32_t *c = far->niu[p->noc].counter;
    uint8_t line[16];
    sim_tile_settle(far);
    c[SLV_REQ_ACCEPTED]++;
    c[p->answer ? SLV_NONPOSTED_ATOMIC_RECEIVED : SLV_POSTED_ATOMIC_RECEIVED]++;
    uint64_t base = p->addr & ~UINT64_C(15);
    const char *why = sim_tile_fetch_bytes(far, by, base, line, sizeof line);
    uint32_t result;
    memcpy(&result, line + (p->addr & 12), 4);
    if (!why) {
        do_atomic(line, p);
        why = sim_tile_store_bytes(far, by, base, line, sizeof line);
    }
    if (why) refuse(far, p, why);
    p->value = result;
    if (!p->answer) {
        free(p);
        return;
    }
    c[SLV_ATOMIC_RESP_SENT]++;
    answer(far, p, SIM_PACKET_RESULT);
}

/* An answer has come home. */
static void arrive_home(sim *s, sim_packet *p)
{
    sim_tile *home = &s->tiles[p->source];
    sim_by by = {.now = s->clock, .pc = p->pc, .hart = SIM_NO_HART};
    uint32_t *c = home->niu[p->noc].counter;
    const char *why = NULL;
    sim_tile_settle(home);
    switch (p->kind) {
    case SIM_PACKET_ACK: c[MST_WR_ACK] += p->acks; break;
    case SIM_PACKET_DATA:
        why = sim_tile_store_bytes(home, by, p->return_addr, p->bytes, p->size);
        c[MST_RD_RESP]++;
        c[MST_RD_WORD] += sim_noc_flits(p->size);
        break;
    default: why = sim_tile_store_bytes(home, by, p->return_addr, &p->value, 4); c[MST_ATOMIC_RESP]++;
    }
    c[MST_REQS_OUTSTANDING + p->transaction] -= p->kind == SIM_PACKET_ACK ? p->acks : 1;
    if (why) refuse(home, p, why);
    free(p);
}

void sim_packets_deliver(sim *s)
{
    while (s->n_packets && s->packets[0]->at <= s->clock) {
        sim_packet *p = pop(s);
        switch (p->kind) {
        case SIM_PACKET_WRITE: arrive_write(s, p); break;
        case SIM_PACKET_READ: arrive_read(s, p); break;
        case SIM_PACKET_ATOMIC: arrive_atomic(s, p); break;
        default: arrive_home(s, p);
        }
    }
}
