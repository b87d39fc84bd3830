/* NIU registers and the making of requests. What it is not: the travel and arrival of packets (fabric.c).
 * Section names are those of WormholeB0/NoC/MemoryMap.md and Counters.md. */
#include "sim/noc.h"

#include <stdlib.h>
#include <string.h>

#include "sim/strict.h"
#include "sim/tile.h"

/* "NIU Request Initiators": offsets / 4. */
enum {
    TARG_LO = 0,
    TARG_MID = 1,
    RET_LO = 3,
    RET_MID = 4,
    TAG = 6,
    CTRL = 7,
    LEN_BE = 8,
    DATA = 9,
    CMD = 10
};
enum {
    INITIATOR_STRIDE = 0x400,
    WIDE_STRIDE = 0x800,
    WIDE_CMD = 0x40,
    WIDE_ID_LOGICAL = 0x148,
    NODE_ID = 0x2c,
    CLEAR_IDS = 0x50,
    STATUS = 0x54,
    ID_LOGICAL = 0x138,
    COUNTERS = 0x200
};

/* "NOC_CTRL" */
enum {
    CTRL_TYPE = 3,
    TYPE_READ = 0,
    TYPE_ATOMIC = 1,
    TYPE_WRITE = 2,
    CTRL_WR_BE = 1 << 2,
    CTRL_WR_INLINE = 1 << 3,
    CTRL_RESP_MARKED = 1 << 4,
    CTRL_BRCST = 1 << 5,
    CTRL_BRCST_SRC_INCLUDE = 1 << 17,
};
#define CTRL_RESERVED   0x87fc1c00u /* reserved for hardware; software writes zero */
#define TAG_TRANSACTION 0x3c00u
#define TAG_IGNORED     0xffff0000u

/* Counters.md: indices */
enum {
    MST_CMD_ACCEPTED = 4,
    MST_RD_REQ_SENT = 5,
    MST_NONPOSTED_ATOMIC_SENT = 6,
    MST_POSTED_ATOMIC_SENT = 7,
    MST_NONPOSTED_WR_WORD_SENT = 8,
    MST_POSTED_WR_WORD_SENT = 9,
    MST_NONPOSTED_WR_SENT = 10,
    MST_POSTED_WR_SENT = 11,
    MST_NONPOSTED_WR_STARTED = 12,
    MST_POSTED_WR_STARTED = 13,
    MST_RD_STARTED = 14,
    MST_NONPOSTED_ATOMIC_STARTED = 15,
    MST_REQS_OUTSTANDING = 16,
    TRANSACTIONS = 16,
};

/* ---- Places ---------------------------------------------------------------------------------------- */

/* NoC 1 counts from the other corner (WormholeB0/NoC/Coordinates.md). */
static void place(const sim_tile *t, uint32_t noc, uint32_t *x, uint32_t *y)
{
    const sim_config *c = &t->chip->config;
    bool other_corner = noc && !c->noc_wide;
    *x = other_corner ? c->noc_width - 1u - t->config->x : t->config->x;
    *y = other_corner ? c->noc_height - 1u - t->config->y : t->config->y;
}

sim_tile *sim_noc_tile(sim *s, uint32_t noc, uint32_t x, uint32_t y)
{
    if (x >= s->config.noc_width || y >= s->config.noc_height) return NULL;
    if (noc && !s->config.noc_wide) x = s->config.noc_width - 1u - x, y = s->config.noc_height - 1u - y;
    return s->by_place[y][x] ? &s->tiles[s->by_place[y][x] - 1] : NULL;
}

static bool in_span(uint32_t at, uint32_t start, uint32_t end)
{
    return start <= end ? start <= at && at <= end : at <= end || start <= at;
}

bool sim_noc_in_rect(const sim_tile *t, uint32_t noc, sim_rect rect)
{
    uint32_t x, y;
    if (t->config->kind != SIM_TILE_TENSIX) return false;
    place(t, noc, &x, &y);
    return in_span(x, rect.x_start, rect.x_end) && in_span(y, rect.y_start, rect.y_end);
}

uint32_t sim_noc_flits(uint32_t size)
{
    return (size + SIM_NOC_FLIT - 1) / SIM_NOC_FLIT;
}

/* ---- Requests -------------------------------------------------------------------------------------- */

typedef struct request {
    uint32_t noc, initiator;
    const uint32_t *field;
    sim_by by;
    uint64_t targ, ret; /* 36-bit addresses */
} request;

static uint32_t x_of(uint32_t mid)
{
    return mid >> 4 & 0x3f;
}

static uint32_t y_of(uint32_t mid)
{
    return mid >> 10 & 0x3f;
}

static const char *bad(sim_tile *t, const request *r, const char *what)
{
    return sim_tile_why(t, "NoC %u command of initiator %u: %s", r->noc, r->initiator, what);
}

static bool is_here(sim_tile *t, const request *r, uint32_t mid)
{
    return sim_noc_tile(t->chip, r->noc, x_of(mid), y_of(mid)) == t;
}

/* Whether [addr, addr + size) of `t` can be the far side of a transfer: memory, or one aligned register. */
static const char *check_far(sim_tile *t, uint64_t addr, uint32_t size)
{
    if (t->config->kind == SIM_TILE_DRAM)
        return addr < t->chip->config.dram_size && size <= t->chip->config.dram_size - addr
                   ? NULL
                   : "outside of the DRAM";
    if (addr > UINT32_MAX) return "outside of the tile";
    if (sim_tile_bank(t, (uint32_t)addr, size)) return NULL;
    return size == 4 && !(addr & 3) ? NULL : "not in memory, and a register takes 4 aligned bytes";
}

static bool is_memory(sim_tile *t, uint64_t addr)
{
    return t->config->kind == SIM_TILE_DRAM || (addr <= UINT32_MAX && sim_tile_bank(t, (uint32_t)addr, 1));
}

static sim_packet *new_packet(sim_tile *t, const request *r, sim_packet_kind kind, uint32_t size)
{
    sim_packet *p = sim_packet_new(size);
    if (!p) return NULL;
    p->kind = kind;
    p->source = t->index;
    p->noc = (uint8_t)r->noc;
    p->hart = r->by.hart;
    p->pc = r->by.pc;
    p->transaction = (uint8_t)((r->field[TAG] & TAG_TRANSACTION) >> 10);
    p->answer = r->field[CTRL] & CTRL_RESP_MARKED || kind == SIM_PACKET_READ;
    return p;
}

/* Fills in where to: a tile or, for a multicast, a rectangle. */
static const char *aim(sim_tile *t, const request *r, sim_packet *p, uint32_t mid)
{
    if (r->field[CTRL] & CTRL_BRCST) {
        p->multicast = true;
        p->include_source = r->field[CTRL] & CTRL_BRCST_SRC_INCLUDE;
        p->rect = (sim_rect){.x_end = (uint8_t)x_of(mid),
                             .y_end = (uint8_t)y_of(mid),
                             .x_start = (uint8_t)(mid >> 16 & 0x3f),
                             .y_start = (uint8_t)(mid >> 22 & 0x3f)};
        const sim_config *c = &t->chip->config;
        if (p->rect.x_end >= c->noc_width || p->rect.x_start >= c->noc_width ||
            p->rect.y_end >= c->noc_height || p->rect.y_start >= c->noc_height)
            return bad(t, r, "the rectangle is not on the chip");
        return NULL;
    }
    const sim_tile *far = sim_noc_tile(t->chip, r->noc, x_of(mid), y_of(mid));
    if (!far) return bad(t, r, "there is no tile at the coordinates");
    p->target = far->index;
    return NULL;
}

static const char *check_targets(sim_tile *t, const request *r, const sim_packet *p, uint32_t size)
{
    if (!p->multicast) {
        const char *why = check_far(&t->chip->tiles[p->target], p->addr, size);
        return why ? bad(t, r, why) : NULL;
    }
    for (uint32_t i = 0; i < t->chip->n_tiles; i++) {
        sim_tile *far = &t->chip->tiles[i];
        if (!sim_noc_in_rect(far, r->noc, p->rect)) continue;
        const char *why =
            check_far(far, p->addr, size); /* all compute tiles are alike: one answer is enough */
        return why ? bad(t, r, why) : NULL;
    }
    return bad(t, r, "the rectangle holds no compute tile");
}

static void count_write(sim_niu *n, const sim_packet *p, uint32_t words)
{
    n->counter[p->answer ? MST_NONPOSTED_WR_STARTED : MST_POSTED_WR_STARTED]++;
    n->counter[p->answer ? MST_NONPOSTED_WR_SENT : MST_POSTED_WR_SENT]++;
    n->counter[p->answer ? MST_NONPOSTED_WR_WORD_SENT : MST_POSTED_WR_WORD_SENT] += words;
}

/* "Write requests with NOC_CMD_WR_INLINE=true": the data go to NOC_TARG_ADDR. */
static const char *make_inline(sim_tile *t, const request *r, sim_packet **out)
{
    sim_packet *p = *out = new_packet(t, r, SIM_PACKET_WRITE, 4);
    if (!p) return bad(t, r, "out of memory");
    const char *why = aim(t, r, p, r->field[TARG_MID]);
    if (why) return why;
    p->addr = r->targ;
    memcpy(p->bytes, &r->field[DATA], 4);
    sim_tile *far = p->multicast ? t : &t->chip->tiles[p->target];
    if (far->config->kind == SIM_TILE_DRAM) return bad(t, r, "an inline write to DRAM is not modelled");
    if (is_memory(far, p->addr)) {
        uint32_t be = r->field[LEN_BE];
        p->by_mask = true;
        p->mask = (be | be >> 16) & 0xffff;
        p->addr &= ~UINT64_C(15);
        if ((why = check_targets(t, r, p, 16))) return why;
    } else if ((why = check_targets(t, r, p, 4))) {
        return why;
    }
    count_write(&t->niu[r->noc], p, 0);
    return NULL;
}

static const char *check_length(sim_tile *t, const request *r)
{
    uint32_t length = r->field[LEN_BE];
    if (length >= 1 && length <= SIM_NOC_MAX_BYTES) return NULL;
    return sim_tile_why(t, "NoC %u command of initiator %u: a length of %u bytes is not in 1 to %u", r->noc,
                        r->initiator, length, SIM_NOC_MAX_BYTES);
}

/* Both sides of a transfer lie alike in the 16 bytes that L1 moves at once; reads from DRAM in more. */
static const char *check_alignment(sim_tile *t, const request *r, uint32_t unit)
{
    if ((r->targ & (unit - 1)) == (r->ret & (unit - 1))) return NULL;
    return sim_tile_why(t, "NoC %u command of initiator %u: addresses 0x%llx and 0x%llx differ modulo %u",
                        r->noc, r->initiator, (unsigned long long)r->targ, (unsigned long long)r->ret, unit);
}

static const char *make_write(sim_tile *t, const request *r, sim_packet **out)
{
    uint32_t size = r->field[LEN_BE];
    const char *why = check_length(t, r);
    if (why) return why;
    if (!is_here(t, r, r->field[TARG_MID]))
        return bad(t, r, "the data of a write must come from the tile itself");
    const sim_bank *b = r->targ <= UINT32_MAX ? sim_tile_bank(t, (uint32_t)r->targ, size) : NULL;
    if (!b) return bad(t, r, "the data of a write must come from memory");
    sim_packet *p = *out = new_packet(t, r, SIM_PACKET_WRITE, size);
    if (!p) return bad(t, r, "out of memory");
    if ((why = aim(t, r, p, r->field[RET_MID]))) return why;
    p->addr = r->ret;
    if ((why = check_targets(t, r, p, size))) return why;
    if (is_memory(p->multicast ? t : &t->chip->tiles[p->target], p->addr) &&
        (why = check_alignment(t, r, 16)))
        return why;
    memcpy(p->bytes, b->bytes + ((uint32_t)r->targ - b->base), size);
    p->late = sim_strict_way(t) & 1;
    p->return_addr = r->targ;
    count_write(&t->niu[r->noc], p, sim_noc_flits(size));
    return NULL;
}

static const char *make_read(sim_tile *t, const request *r, sim_packet **out)
{
    uint32_t size = r->field[LEN_BE];
    const char *why = check_length(t, r);
    if (why) return why;
    if (r->field[CTRL] & CTRL_BRCST) return bad(t, r, "a read cannot be a broadcast");
    if (!is_here(t, r, r->field[RET_MID])) return bad(t, r, "a read must return to the tile itself");
    if (r->ret > UINT32_MAX || !sim_tile_bank(t, (uint32_t)r->ret, size))
        return bad(t, r, "a read must return to memory");
    sim_packet *p = *out = new_packet(t, r, SIM_PACKET_READ, size);
    if (!p) return bad(t, r, "out of memory");
    if ((why = aim(t, r, p, r->field[TARG_MID]))) return why;
    p->addr = r->targ;
    p->return_addr = r->ret;
    if ((why = check_targets(t, r, p, size))) return why;
    sim_tile *far = &t->chip->tiles[p->target];
    /* Of DRAM: Wormhole's Alignment.md, C32. Blackhole's has not been published: 64, as ttsim v1.10 demands, whose flits are as
     * long as the chip's. */
    uint32_t of_dram = t->chip->config.noc_wide ? 64 : 32;
    uint32_t unit = far->config->kind == SIM_TILE_DRAM ? of_dram : is_memory(far, p->addr) ? 16 : 4;
    if ((why = check_alignment(t, r, unit))) return why;
    t->niu[r->noc].counter[MST_RD_STARTED]++;
    t->niu[r->noc].counter[MST_RD_REQ_SENT]++;
    return NULL;
}

static const char *make_atomic(sim_tile *t, const request *r, sim_packet **out)
{
    sim_niu *n = &t->niu[r->noc];
    if (r->field[CTRL] & CTRL_BRCST) return bad(t, r, "a broadcast of an atomic is not modelled");
    sim_packet *p = *out = new_packet(t, r, SIM_PACKET_ATOMIC, 0);
    if (!p) return bad(t, r, "out of memory");
    const char *why = aim(t, r, p, r->field[TARG_MID]);
    if (why) return why;
    sim_tile *far = &t->chip->tiles[p->target];
    if (far->config->kind == SIM_TILE_DRAM || !is_memory(far, r->targ))
        return bad(t, r, "an atomic must aim at L1");
    if (r->targ & 3) return bad(t, r, "an atomic must aim at an aligned word");
    uint32_t code = r->field[LEN_BE] >> 12 & 7;
    bool swap6 = code == 6 && r->field[LEN_BE] & 4;
    if (code != 1 && code != 3 && code != 4 && !swap6 && code != 7)
        return bad(t, r, "this atomic is not documented");
    if (p->answer) {
        if (!is_here(t, r, r->field[RET_MID])) return bad(t, r, "an atomic must return to the tile itself");
        if (r->ret > UINT32_MAX || r->ret & 3 || !sim_tile_bank(t, (uint32_t)r->ret, 4))
            return bad(t, r, "an atomic must return to an aligned word of memory");
    }
    p->addr = r->targ;
    p->return_addr = r->ret;
    p->value = r->field[DATA];
    p->mask = r->field[LEN_BE];
    if (p->answer) n->counter[MST_NONPOSTED_ATOMIC_STARTED]++;
    n->counter[p->answer ? MST_NONPOSTED_ATOMIC_SENT : MST_POSTED_ATOMIC_SENT]++;
    return NULL;
}

/* "NOC_CMD_CTRL" */
static const char *initiate(sim_tile *t, uint32_t noc, uint32_t initiator, sim_by by)
{
    sim_niu *n = &t->niu[noc];
    uint32_t field[SIM_NOC_FIELDS];
    memcpy(field, n->field[initiator], sizeof field);
    if (t->chip->config.noc_wide) { /* the coordinates, of 24 bits, where the other layout has them */
        field[TARG_MID] = (field[TARG_MID] & 0xf) | field[TARG_MID + 1] << 4;
        field[RET_MID] = (field[RET_MID] & 0xf) | field[RET_MID + 1] << 4;
    }
    request r = {.noc = noc, .initiator = initiator, .field = field, .by = by};
    uint32_t ctrl = r.field[CTRL], tag = r.field[TAG];
    r.targ = r.field[TARG_LO] | (uint64_t)(r.field[TARG_MID] & 0xf) << 32;
    r.ret = r.field[RET_LO] | (uint64_t)(r.field[RET_MID] & 0xf) << 32;
    if (ctrl & CTRL_RESERVED) return bad(t, &r, "reserved bits of NOC_CTRL are set");
    if (tag & ~(TAG_TRANSACTION | TAG_IGNORED)) return bad(t, &r, "this NOC_PACKET_TAG is not modelled");
    sim_packet *p = NULL;
    const char *why = NULL;
    switch (ctrl & CTRL_TYPE) {
    case TYPE_READ: why = make_read(t, &r, &p); break;
    case TYPE_ATOMIC: why = make_atomic(t, &r, &p); break;
    case TYPE_WRITE:
        if (ctrl & CTRL_WR_BE)
            why = bad(t, &r, "a write with byte enables is not modelled");
        else
            why = ctrl & CTRL_WR_INLINE ? make_inline(t, &r, &p) : make_write(t, &r, &p);
        break;
    default: why = bad(t, &r, "request type 3 is reserved");
    }
    if (why || !p) {
        free(p);
        return why;
    }
    n->counter[MST_CMD_ACCEPTED]++;
    if (p->answer) n->counter[MST_REQS_OUTSTANDING + p->transaction]++;
    n->busy_until[initiator] = sim_later(by.now + SIM_NOC_ACCEPT + sim_strict_way(t) / 8, n->link_free);
    return sim_packet_send(t, p, by.now);
}

/* ---- Registers ------------------------------------------------------------------------------------- */

static bool busy(const sim_niu *n, uint32_t initiator, uint64_t now)
{
    return n->busy_until[initiator] > now;
}

/* Field of an initiator, or false. */
static bool find_field(const sim_tile *t, uint32_t offset, uint32_t *initiator, uint32_t *field)
{
    if (t->chip->config.noc_wide) {
        *initiator = offset / WIDE_STRIDE;
        *field = offset % WIDE_STRIDE == WIDE_CMD ? CMD : offset % WIDE_STRIDE / 4;
        return *initiator < SIM_NOC_INITIATORS && (*field <= LEN_BE || offset % WIDE_STRIDE == WIDE_CMD);
    }
    *initiator = offset / INITIATOR_STRIDE;
    *field = offset % INITIATOR_STRIDE / 4;
    if (*initiator >= SIM_NOC_INITIATORS || *field >= SIM_NOC_FIELDS) return false;
    return *field != 2 && *field != 5; /* there is nothing at 0x08 and 0x14 */
}

/* "NOC_NODE_ID". The dateline bits are not documented enough to be given; they read as zero. */
static uint32_t node_id(const sim_tile *t, uint32_t noc)
{
    const sim_config *c = &t->chip->config;
    uint32_t x, y;
    place(t, noc, &x, &y);
    return x | y << 6 | (uint32_t)c->noc_width << 12 | (uint32_t)c->noc_height << 19 | (uint32_t)!noc << 28;
}

const char *sim_niu_read(sim_tile *t, uint32_t noc, sim_by by, uint32_t offset, uint32_t *value)
{
    const sim_niu *n = &t->niu[noc];
    uint32_t initiator, field;
    if (find_field(t, offset, &initiator, &field)) {
        *value = field == CMD ? busy(n, initiator, by.now) : n->field[initiator][field];
        return NULL;
    }
    bool wide = t->chip->config.noc_wide;
    if (!wide && offset % INITIATOR_STRIDE == NODE_ID && initiator < SIM_NOC_INITIATORS) {
        *value = node_id(t, noc);
        return NULL;
    }
    if (offset == (wide ? WIDE_ID_LOGICAL : ID_LOGICAL)) {
        *value = node_id(t, noc) & 0xfff; /* as at power-on: there is no coordinate translation */
        return NULL;
    }
    if (offset == STATUS) {
        *value = 0;
        for (uint32_t i = 0; i < SIM_NOC_INITIATORS; i++)
            *value |= (uint32_t)busy(n, i, by.now) << i;
        return NULL;
    }
    uint32_t counter = (offset - COUNTERS) / 4;
    if (offset >= COUNTERS && counter < SIM_NOC_COUNTERS) {
        bool narrow = counter >= MST_REQS_OUTSTANDING && counter < MST_REQS_OUTSTANDING + 2 * TRANSACTIONS;
        *value = narrow ? n->counter[counter] & 0xff : n->counter[counter];
        return NULL;
    }
    return "this NIU register is not modelled";
}

const char *sim_niu_write(sim_tile *t, uint32_t noc, sim_by by, uint32_t offset, uint32_t value)
{
    sim_niu *n = &t->niu[noc];
    uint32_t initiator, field;
    if (find_field(t, offset, &initiator, &field)) {
        if (busy(n, initiator, by.now))
            return sim_tile_why(t, "NoC %u initiator %u is busy: NOC_CMD_CTRL has to read as 0 first", noc,
                                initiator);
        if (field != CMD) {
            n->field[initiator][field] = value;
            return NULL;
        }
        return value & 1 ? initiate(t, noc, initiator, by) : NULL;
    }
    if (offset == CLEAR_IDS) {
        for (uint32_t i = 0; i < TRANSACTIONS; i++)
            if (value >> i & 1) n->counter[MST_REQS_OUTSTANDING + i] = 0;
        return NULL;
    }
    return "this NIU register is not modelled";
}
