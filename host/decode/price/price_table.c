/* Prices of markers where they stand: see the header. A marker's price is the difference that it makes to
 * when what follows it starts, with the markers before it there, and those behind it not: so the prices of
 * all of them add up to what all of them cost. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "decode/price/price_table.h"

enum {
    BEHIND = 48,   /* instructions and markers of a way from a marker .. */
    BEFORE = 48,   /* .. and of one to it */
    FORKS = 2,     /* how often a way divides */
    MOST_FROM = 8, /* predecessors of one instruction */
    MOST_TO = 4,   /* successors of one that nobody knows */
    NEAR = 8,      /* instructions */
    LINK = 1       /* register ra */
};
static const double AROUND_A_LOOP = 0.875; /* how likely a jump backwards is, and that a loop is entered */
static const double UNLIKELY = 0.02;       /* a way through a marker of which there is no record */

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

/* How likely a branch forward is taken. */
static double likely_to_jump(const price_code *c, uint32_t at, uint32_t target)
{
    if (c->goes_on[at] == PRICE_TAKEN) return AROUND_A_LOOP;
    return c->goes_on[at] == PRICE_NOT_TAKEN || skips_a_loop(c, at, target) ? 1 - AROUND_A_LOOP : 0.5;
}

/* ---- From a marker --------------------------------------------------------------------------------- */

/* Whether nothing is in flight that could still make a difference. */
static bool is_quiet(const price_hart *h)
{
    return h->now >= h->pipe.quiet && h->now >= sim_pipe_drained(h->cores, &h->pipe);
}

/* Whether hardly anything is between a word and a marker behind it of which there is no record. */
static bool is_before_unlikely(const price_code *c, uint32_t at)
{
    for (uint32_t near = 0; near < NEAR && at < c->n; near++, at++) {
        if (c->marker_at[at]) return c->markers[c->marker_at[at] - 1].unlikely;
        sim_op op = c->ops[at];
        if (op.code == SIM_OP_JAL || op.code == SIM_OP_JALR || price_is_branch(op)) return false;
    }
    return false;
}

/* The cases of the switch whose jump is at a word, some of them, evenly. */
static uint32_t cases_of(const price_code *c, uint32_t at, uint32_t out[MOST_TO])
{
    uint32_t n = 0, all = 0, seen = 0;
    for (uint32_t i = 0; i < c->n_tables; i++)
        all += c->switch_at[c->tables[i]] == at + 1 && !is_before_unlikely(c, c->tables[i]);
    for (uint32_t i = 0; i < c->n_tables && n < MOST_TO; i++) {
        if (c->switch_at[c->tables[i]] != at + 1 || is_before_unlikely(c, c->tables[i])) continue;
        if (all <= MOST_TO || seen == (uint64_t)n * all / MOST_TO) out[n++] = c->tables[i];
        seen++;
    }
    return n;
}

/* Where a jump leads to that goes where a register says: behind the calls of the function that returns, or to
 * the cases of a switch. Some of them. */
static uint32_t jumps_to(const price_code *c, uint32_t at, uint32_t out[MOST_TO])
{
    uint32_t n = 0;
    if (at >= c->n) return 0; /* it has left the code before */
    sim_op op = c->ops[at];
    if (op.code != SIM_OP_JALR) return 0;
    if (op.rd != SIM_SINK || op.rs1 != LINK) return cases_of(c, at, out);
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

typedef struct later {
    double sum, weight;
} later;

static void arrives(later *out, double weight, const price_hart *with, const price_hart *without)
{
    out->sum += weight * ((double)with->now - (double)without->now);
    out->weight += weight;
}

/* How much later `with` is than `without` some way behind the marker. Both go the same way, without markers.
 */
static void behind(const price_code *c, price_hart with, price_hart without, unsigned left, unsigned forks,
                   double weight, later *out)
{
    for (; left; left--) {
        if (without.at < c->n && c->marker_at[without.at]) {
            const price_marker *m = &c->markers[c->marker_at[without.at] - 1];
            if (m->part == PRICE_NONE) break;
            if (m->unlikely) weight *= UNLIKELY;
            with.at = without.at = m->end;
            continue;
        }
        if (is_quiet(&with) && is_quiet(&without)) break;
        uint32_t at = without.at;
        price_step step = price_hart_step(c, &without, 0);
        price_step other = price_hart_step(c, &with, 0);
        if (step == PRICE_LEAVES || other == PRICE_LEAVES) {
            uint32_t to[MOST_TO], n = forks ? jumps_to(c, at, to) : 0;
            for (uint32_t i = 0; i < n; i++) {
                with.at = without.at = to[i];
                behind(c, with, without, left - 1, forks - 1, weight / n, out);
            }
            if (n) return;
            break;
        }
        if (step == PRICE_BRANCH) {
            uint32_t target = (c->ops[at].imm - c->base) / 4;
            bool back = target <= at;
            without.at = with.at = back ? target : at + 1;
            if (!back && forks) {
                price_hart a = with, b = without;
                double jumps = likely_to_jump(c, at, target);
                a.at = b.at = target;
                behind(c, a, b, left - 1, forks - 1, weight * jumps, out);
                behind(c, with, without, left - 1, forks - 1, weight * (1 - jumps), out);
                return;
            }
        }
        with.at = without.at;
    }
    arrives(out, weight, &with, &without);
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
              : price_hart_step(w->c, &h, 0) == PRICE_LEAVES && w->c->ops[w->at[i]].code != SIM_OP_JALR)
            return;
    }
    price_hart without = h;
    without.at = w->to->end;
    h.has_record = h.has_third = h.has_event = false;
    if (!price_hart_marker(w->c, &h, w->to)) return;
    w->last = h;
    later out = {0};
    behind(w->c, h, without, BEHIND, FORKS, weight, &out);
    if (out.weight <= 0) return;
    w->sum += weight * out.sum / out.weight;
    w->weight += weight;
}

typedef struct from {
    uint32_t at;
    double weight;
} from;

/* Whether hardly anything is between an instruction and a marker before it of which there is no record. */
static bool is_behind_unlikely(const price_code *c, uint32_t at)
{
    for (uint32_t near = 0; near < NEAR && at > 0; near++, at--) {
        if (c->marker_at[at - 1]) return c->markers[c->marker_at[at - 1] - 1].unlikely;
        sim_op op = c->ops[at - 1];
        if (op.code == SIM_OP_JAL || op.code == SIM_OP_JALR || op.code <= SIM_OP_ILLEGAL) return false;
    }
    return false;
}

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
    if (c->switch_at[at] && n < MOST_FROM) out[n++] = (from){c->switch_at[at] - 1, 1};
    bool loop = false;
    for (uint32_t i = first_jump_to(c, at); i < c->n_jumps && c->jumps[i] >> 32 == at && n < MOST_FROM; i++) {
        uint32_t source = (uint32_t)c->jumps[i];
        if (is_behind_unlikely(c, source)) continue;
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
        const uint32_t marker = w->c->marker_at[all[i].at];
        double likely = marker && w->c->markers[marker - 1].unlikely ? UNLIKELY : 1;
        if (n > 1 && forks) likely *= all[i].weight / sum;
        w->at[--w->from] = all[i].at;
        back(w, all[i].at, weight * likely, forks - (n > 1 && forks));
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
    return cycles < 4000 ? (uint16_t)lround(16 * cycles) : UINT16_MAX;
}

static dl_price mean(const sums *s, double scale)
{
    if (!s->n) return (dl_price){0};
    return (dl_price){sixteenths(scale * s->recorded / s->n), sixteenths(scale * s->dropped / s->n)};
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

/* Which branches of markers are guessed wrong: by loops that were gone around. */
static void guess(price_code *c)
{
    memset(c->wrong, 0, 2 * (size_t)c->n);
    for (uint32_t i = 0; i < c->n_rivals; i++) {
        const price_rival *r = &c->rivals[i];
        if (is_behind_unlikely(c, r->first) || is_before_unlikely(c, r->last + 1)) continue;
        /* A loop that was left, and is entered again, is guessed wrong for the marker's sake. */
        uint8_t *wrong = &c->wrong[2 * r->at + !r->taken];
        if (r->near && *wrong < PRICE_TWICE_WRONG)
            *wrong = r->around ? PRICE_WRONG : PRICE_TWICE_WRONG;
        else if (*wrong < PRICE_WRONG - 1)
            ++*wrong;
    }
}

static bool has_start(const price_marker *m, const dl_elf_site *site)
{
    return m->part == PRICE_PASS || (site && site->kind == DEVLOG_KIND_COMPLETE);
}

/* The prices of all markers, as unlikely as they are marked; the first time it is found which site each one has
 * (`first`). False: no memory. */
bool price_table_make(price_code *c, const dl_elf *elf, double scale, bool first, dl_prices *out)
{
    enum { DEEP = 64 };
    sums *of_site = calloc(2 * (size_t)elf->n_sites, sizeof *of_site), pass = {0}, complete = {0},
         other = {0};
    *out = (dl_prices){.cores = c->cores, .of_site = calloc(2 * (size_t)elf->n_sites, sizeof *out->of_site)};
    struct {
        double recorded, dropped;
        price_marker *marker;
    } begun[DEEP];
    uint32_t depth = 0;
    guess(c);
    for (uint32_t i = 0; i < c->n_markers && of_site && out->of_site; i++) {
        price_marker *m = &c->markers[i];
        price_hart last = {0}, unused = {0};
        if (m->part == PRICE_NONE) continue;
        double recorded = price_of(c, m, false, &last), dropped = price_of(c, m, true, &unused);
        if (recorded < 0 || dropped < 0) continue;
        if (m->part == PRICE_START) {
            if (depth < DEEP) {
                begun[depth].recorded = recorded;
                begun[depth].marker = m;
                begun[depth++].dropped = dropped;
            }
            continue;
        }
        bool ends;
        const dl_elf_site *site = m->part == PRICE_PASS ? site_of_pass(elf, c->base + 4 * m->start, &ends)
                                                        : site_of(elf, &last, &ends);
        if (site && first) m->site = 2 * (uint32_t)(site - elf->sites) + ends + 1;
        if (has_start(m, site) && depth) {
            recorded += begun[--depth].recorded;
            dropped += begun[depth].dropped;
            if (first) begun[depth].marker->site = m->site;
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
    out->loads = c->cores == SIM_CORES_BLACKHOLE && price_has_loads(c);
    bool made = of_site && out->of_site;
    free(of_site);
    if (!made) free(out->of_site);
    return made;
}
