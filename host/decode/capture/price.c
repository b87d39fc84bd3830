/* Prices of markers where they stand: see the header. A marker's price is the difference that it makes to
 * when what follows it starts, with the markers before it there, and those behind it not: so the prices of
 * all of them add up to what all of them cost. */
#include "decode/capture/price.h"

#include <math.h>
#include <stdlib.h>

#include "decode/capture/price_code.h"

enum {
    BEHIND = 48,   /* instructions and markers of a way from a marker .. */
    BEFORE = 48,   /* .. and of one to it */
    FORKS = 2,     /* how often a way divides */
    MOST_FROM = 8, /* predecessors of one instruction */
    MOST_TO = 4,   /* successors of one that nobody knows */
    LINK = 1       /* register ra */
};
static const double AROUND_A_LOOP = 0.875; /* how likely a jump backwards is, and that a loop is entered */

/* The first jump to `at` or behind it. */
static uint32_t first_jump_to(const price_code *c, uint32_t at)
{
    uint32_t low = 0, high = c->n_jumps;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (c->jumps[middle] >> 32 < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether a jump from one word forward to another skips a loop. */
static bool skips_a_loop(const price_code *c, uint32_t from, uint32_t to)
{
    for (uint32_t i = first_jump_to(c, from + 1); i < c->n_jumps && c->jumps[i] >> 32 < to; i++) {
        uint32_t source = (uint32_t)c->jumps[i];
        if (source >= c->jumps[i] >> 32 && source < to) return true;
    }
    return false;
}

/* ---- From a marker --------------------------------------------------------------------------------- */

/* Whether nothing is in flight that could still make a difference. */
static bool is_quiet(const price_hart *h)
{
    return h->now >= h->pipe.quiet && h->now >= sim_pipe_drained(h->cores, &h->pipe);
}

/* Where a jump leads to that goes where a register says: behind the calls of the function that returns, or to
 * what tables name. Some of them, evenly. */
static uint32_t jumps_to(const price_code *c, uint32_t at, uint32_t out[MOST_TO])
{
    sim_op op = c->ops[at];
    uint32_t n = 0;
    if (op.code != SIM_OP_JALR) return 0;
    if (op.rd != SIM_SINK || op.rs1 != LINK) {
        for (uint32_t i = 0; i < MOST_TO && i < c->n_tables; i++)
            out[n++] = c->tables[c->n_tables <= MOST_TO ? i : (uint64_t)i * c->n_tables / MOST_TO];
        return n;
    }
    uint32_t function = 0; /* the last one that is called and begins before */
    for (uint32_t i = first_jump_to(c, at + 1); i > 0 && n < MOST_TO; i--) {
        uint32_t target = (uint32_t)(c->jumps[i - 1] >> 32), source = (uint32_t)c->jumps[i - 1];
        if (c->ops[source].rd != LINK || c->ops[source].code != SIM_OP_JAL) continue;
        if (n && target != function) break;
        function = target;
        out[n++] = source + 1;
    }
    return n;
}

/* How much later `with` is than `without` some way behind the marker. Both go the same way, without markers.
 */
static double behind(const price_code *c, price_hart with, price_hart without, unsigned left, unsigned forks)
{
    for (; left; left--) {
        if (without.at < c->n && c->marker_at[without.at]) {
            const price_marker *m = &c->markers[c->marker_at[without.at] - 1];
            if (m->part == PRICE_NONE) break;
            with.at = without.at = m->end;
            continue;
        }
        if (is_quiet(&with) && is_quiet(&without)) break;
        uint32_t at = without.at;
        price_step step = price_hart_step(c, &without, 0);
        price_step other = price_hart_step(c, &with, 0);
        if (step == PRICE_LEAVES || other == PRICE_LEAVES) {
            uint32_t to[MOST_TO], n = forks ? jumps_to(c, at, to) : 0;
            double sum = 0;
            for (uint32_t i = 0; i < n; i++) {
                with.at = without.at = to[i];
                sum += behind(c, with, without, left - 1, forks - 1) / n;
            }
            if (n) return sum;
            break;
        }
        if (step == PRICE_BRANCH) {
            uint32_t target = (c->ops[at].imm - c->base) / 4;
            bool back = target <= at;
            without.at = with.at = back ? target : at + 1;
            if (!back && forks) {
                price_hart a = with, b = without;
                double jumps = skips_a_loop(c, at, target) ? 1 - AROUND_A_LOOP : 0.5;
                a.at = b.at = target;
                return jumps * behind(c, a, b, left - 1, forks - 1) +
                       (1 - jumps) * behind(c, with, without, left - 1, forks - 1);
            }
        }
        with.at = without.at;
    }
    return (double)with.now - (double)without.now;
}

/* ---- To a marker ----------------------------------------------------------------------------------- */

typedef struct way {
    const price_code *c;
    const price_marker *to;
    bool full;
    uint32_t at[BEFORE]; /* words; of a marker its first. Those from `from` on are the way */
    uint32_t from;
    double sum, weight;
    price_hart last; /* behind the marker */
} way;

static void arrive(way *w, double weight)
{
    price_hart h;
    price_hart_begin(&h, w->c->cores, w->full);
    for (uint32_t i = w->from; i < BEFORE; i++) {
        h.at = w->at[i];
        uint32_t m = w->c->marker_at[h.at];
        if (m ? !price_hart_marker(w->c, &h, &w->c->markers[m - 1])
              : price_hart_step(w->c, &h, 0) == PRICE_LEAVES)
            return;
    }
    price_hart without = h;
    without.at = w->to->end;
    h.has_record = h.has_third = h.has_event = false;
    if (!price_hart_marker(w->c, &h, w->to)) return;
    w->last = h;
    w->sum += weight * behind(w->c, h, without, BEHIND, FORKS);
    w->weight += weight;
}

typedef struct from {
    uint32_t at;
    double weight;
} from;

/* From where one comes to a word. A call is not followed into what it calls. */
static uint32_t predecessors(const price_code *c, uint32_t at, from out[MOST_FROM])
{
    uint32_t n = 0;
    if (at > 0 && c->marker_at[at - 1]) {
        const price_marker *m = &c->markers[c->marker_at[at - 1] - 1];
        if (m->part != PRICE_NONE && m->end == at) out[n++] = (from){m->start, 1};
    } else if (at > 0) {
        sim_op op = c->ops[at - 1];
        bool passes = op.code > SIM_OP_ILLEGAL && op.code != SIM_OP_JAL && op.code != SIM_OP_JALR;
        if (passes) out[n++] = (from){at - 1, 1};
    }
    bool loop = false;
    for (uint32_t i = first_jump_to(c, at); i < c->n_jumps && c->jumps[i] >> 32 == at && n < MOST_FROM; i++) {
        uint32_t source = (uint32_t)c->jumps[i];
        loop |= source >= at;
        out[n++] = (from){source, source < at && skips_a_loop(c, source, at) ? 1 - AROUND_A_LOOP : 1};
    }
    for (uint32_t i = 0; loop && i < n; i++)
        out[i].weight *= out[i].at >= at ? AROUND_A_LOOP : 1 - AROUND_A_LOOP;
    return n;
}

static void back(way *w, uint32_t at, double weight, unsigned forks)
{
    from all[MOST_FROM];
    uint32_t n = w->from ? predecessors(w->c, at, all) : 0, best = 0;
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += all[i].weight;
        if (all[i].weight > all[best].weight) best = i;
    }
    if (n == 0 || sum <= 0) {
        arrive(w, weight);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (n > 1 && !forks && i != best) continue;
        w->at[--w->from] = all[i].at;
        back(w, all[i].at, n > 1 && forks ? weight * all[i].weight / sum : weight, forks - (n > 1 && forks));
        w->from++;
    }
}

/* The price of a marker in cycles; *last: how a record of it was made. Negative: not known. */
static double price_of(const price_code *c, const price_marker *m, bool full, price_hart *last)
{
    way w = {.c = c, .to = m, .full = full, .from = BEFORE};
    back(&w, m->start, 1, FORKS);
    if (w.weight <= 0) return -1;
    *last = w.last;
    double price = w.sum / w.weight;
    return price > 0 ? price : 0;
}

/* ---- Sites ----------------------------------------------------------------------------------------- */

typedef struct sums {
    double recorded, dropped;
    uint32_t n;
} sums;

static void add(sums *s, double recorded, double dropped)
{
    s->recorded += recorded;
    s->dropped += dropped;
    s->n++;
}

static uint16_t sixteenths(double cycles)
{
    return cycles < 4000 ? (uint16_t)(16 * cycles + 0.5) : UINT16_MAX;
}

static dl_price mean(const sums *s, double scale)
{
    if (!s->n) return (dl_price){0};
    return (dl_price){sixteenths(scale * s->recorded / s->n), sixteenths(scale * s->dropped / s->n)};
}

uint32_t dl_price_documented(sim_cores cores, uint32_t kind)
{
    enum { KINDS = DEVLOG_KIND_VALUE64 + 1 };
    static const uint16_t documented[][KINDS] = {
        [SIM_CORES_WORMHOLE] = {[DEVLOG_KIND_ZONE] = 238,
                                [DEVLOG_KIND_COMPLETE] = 310,
                                [DEVLOG_KIND_EVENT] = 250,
                                [DEVLOG_KIND_VALUE32] = 286,
                                [DEVLOG_KIND_VALUE64] = 334},
        [SIM_CORES_BLACKHOLE] = {[DEVLOG_KIND_ZONE] = 248,
                                 [DEVLOG_KIND_COMPLETE] = 288,
                                 [DEVLOG_KIND_EVENT] = 272,
                                 [DEVLOG_KIND_VALUE32] = 256,
                                 [DEVLOG_KIND_VALUE64] = 264},
    };
    return kind < KINDS ? documented[cores][kind] : 0;
}

/* How the device compares with the documented pipeline: what its firmware measures of markers among other
 * code (firmware/cost.c), and what it would there. 0: it is another pipeline. */
static double scale_of(sim_cores cores, const uint32_t cost[16])
{
    double measured = 0, expected = 0;
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t documented = dl_price_documented(cores, i);
        if (!documented) continue;
        if (cost[i] < documented * 3 / 4 || cost[i] > documented * 5 / 4) return 0;
        measured += cost[i];
        expected += documented;
    }
    return measured / expected;
}

/* The site of the marker that h has run through; *ends: of the zone's end. */
static const dl_elf_site *site_of(const dl_elf *elf, const price_hart *h, bool *ends)
{
    uint32_t code = h->record & 0xFFF;
    *ends = false;
    if (h->has_event) {
        const dl_elf_site *site = dl_elf_event_of(elf, h->event & DEVLOG_EVENT_ID_MASK);
        *ends = site && site->code != (h->event & DEVLOG_EVENT_ID_MASK);
        return site;
    }
    if (!h->has_record) return NULL;
    if (code == DEVLOG_CODE_WIDE) {
        *ends = h->third >> 28 == DEVLOG_KIND_ZONE_END;
        return h->has_third ? dl_elf_site_of(elf, true, h->third & 0x0FFFFFFF) : NULL;
    }
    if (code >= DEVLOG_CODE_ZONE && code < DEVLOG_CODE_COMPLETE) *ends = code & 1;
    return dl_elf_site_of(elf, false, code - *ends);
}

static const dl_elf_site *site_of_pass(const dl_elf *elf, uint32_t address, bool *ends)
{
    *ends = false;
    for (uint32_t i = 0; i < elf->n_passes; i++)
        if (elf->passes[i].start == address) return dl_elf_site_of(elf, true, elf->passes[i].id);
    return NULL;
}

static bool has_start(const price_marker *m, const dl_elf_site *site)
{
    return m->part == PRICE_PASS || (site && site->kind == DEVLOG_KIND_COMPLETE);
}

bool dl_prices_make(const dl_elf *elf, sim_cores cores, const uint32_t cost[16], dl_prices *out)
{
    enum { DEEP = 64 };
    price_code c;
    *out = (dl_prices){0};
    const double scale = scale_of(cores, cost);
    if (scale <= 0 || !elf->n_sites || !price_code_read(elf, &c)) return false;
    c.cores = cores;
    sums *of_site = calloc(2 * (size_t)elf->n_sites, sizeof *of_site), pass = {0}, complete = {0},
         other = {0};
    out->of_site = calloc(2 * (size_t)elf->n_sites, sizeof *out->of_site);
    struct {
        double recorded, dropped;
    } begun[DEEP];
    uint32_t depth = 0;
    for (uint32_t i = 0; i < c.n_markers && of_site && out->of_site; i++) {
        const price_marker *m = &c.markers[i];
        price_hart last, unused;
        if (m->part == PRICE_NONE) continue;
        double recorded = price_of(&c, m, false, &last), dropped = price_of(&c, m, true, &unused);
        if (recorded < 0 || dropped < 0) continue;
        if (m->part == PRICE_START) {
            if (depth < DEEP) begun[depth].recorded = recorded, begun[depth++].dropped = dropped;
            continue;
        }
        bool ends;
        const dl_elf_site *site = m->part == PRICE_PASS ? site_of_pass(elf, c.base + 4 * m->start, &ends)
                                                        : site_of(elf, &last, &ends);
        if (has_start(m, site) && depth) {
            recorded += begun[--depth].recorded;
            dropped += begun[depth].dropped;
        }
        if (m->part == PRICE_PASS)
            add(&pass, recorded, dropped);
        else
            add(site && site->kind == DEVLOG_KIND_COMPLETE ? &complete : &other, recorded, dropped);
        if (site) add(&of_site[2 * (site - elf->sites) + ends], recorded, dropped);
    }
    for (uint32_t i = 0; i < 2 * elf->n_sites && of_site && out->of_site; i++)
        out->of_site[i] = mean(&of_site[i], scale);
    out->pass = mean(&pass, scale);
    out->complete = mean(&complete, scale);
    out->other = mean(&other, scale);
    bool made = of_site && out->of_site;
    free(of_site);
    price_code_free(&c);
    if (!made) dl_prices_free(out);
    return made;
}

void dl_prices_free(dl_prices *p)
{
    free(p->of_site);
    *p = (dl_prices){0};
}

/* The site of the record at w, of so many words. */
static const dl_elf_site *recorded_site(const dl_elf *elf, const uint32_t *w, uint32_t words, bool *ends)
{
    uint32_t code = w[0] & 0xFFF;
    *ends = false;
    if (code == DEVLOG_CODE_SUM && words > 2) return dl_elf_site_of(elf, true, w[2]);
    if (code == DEVLOG_CODE_WIDE && words > 2) {
        *ends = w[2] >> 28 == DEVLOG_KIND_ZONE_END;
        return dl_elf_site_of(elf, true, w[2] & 0x0FFFFFFF);
    }
    *ends = code < DEVLOG_CODE_COMPLETE && code & 1;
    return dl_elf_site_of(elf, false, code - *ends);
}

/* What keeping the shortest and the longest pass takes: the first is both, and of others that differ the n-th
 * is a new one with a chance of 1 : n each. */
static uint64_t price_of_extremes(const uint32_t *sum_record)
{
    enum { EACH = 3 * 16 }; /* a branch that is rare, a store, a jump */
    uint32_t passes = sum_record[3], n = sum_record[6] == sum_record[7] || passes == 0 ? 1 : passes;
    double updates = n < 2 ? 1 : log((double)n) + 0.5772;
    return (uint64_t)(2 * EACH * updates);
}

uint64_t dl_price_of_rest(const dl_prices *p, const dl_elf *elf, const record_span *spans, uint32_t n_spans,
                          dl_price_rest rest)
{
    uint64_t drops[2] = {0}, n_drops[2] = {0}, passes = 0, n_passes = 0; /* of others, of complete zones */
    if (p->pass.recorded) rest.pass = p->pass.recorded;
    for (uint32_t i = 0; i < n_spans; i++) {
        for (uint32_t at = 0, words; at < spans[i].n; at += words ? words : 1) {
            const uint32_t *w = spans[i].words + at;
            bool ends;
            words = record_words(w, spans[i].n - at);
            const dl_elf_site *site = words ? recorded_site(elf, w, words, &ends) : NULL;
            if (!site) continue;
            const dl_price *price = &p->of_site[2 * (site - elf->sites) + ends];
            bool complete = site->kind == DEVLOG_KIND_COMPLETE;
            if (site->kind == DEVLOG_KIND_SUM) {
                passes +=
                    w[3] * (uint64_t)(price->recorded ? price->recorded : rest.pass) + price_of_extremes(w);
                n_passes += w[3];
            } else if (price->dropped) {
                drops[complete] += price->dropped;
                n_drops[complete]++;
            }
        }
    }
    if (n_passes > rest.passes) passes = n_passes = 0; /* somebody has written there */
    if (rest.complete > rest.dropped) rest.complete = rest.dropped;
    uint64_t each[2] = {p->other.dropped ? p->other.dropped : rest.drop,
                        p->complete.dropped ? p->complete.dropped : rest.drop};
    for (int i = 0; i < 2; i++)
        if (n_drops[i]) each[i] = drops[i] / n_drops[i];
    return passes + (rest.passes - n_passes) * rest.pass + (rest.dropped - rest.complete) * each[0] +
           rest.complete * each[1];
}
