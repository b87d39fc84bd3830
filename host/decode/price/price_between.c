/* Between which records of a launch something was spent that leaves none itself, so that it is subtracted from the zones
 * around it: changes of segments; and passes through sums, as much of them as those records are apart between which the
 * code leads by them. Not for what passes cost (price_records.c). */
#include <stdlib.h>

#include "decode/price/price_around.h"
#include "decode/price/price_internal.h"

#define ANY UINT32_MAX

typedef struct moment {
    uint64_t at;
    uint32_t place, number; /* place ANY: what was there is lost, or it is where the kernel begins or ends */
} moment;

static int by_time(const void *a, const void *b)
{
    const moment *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

typedef struct moments {
    moment *items;
    uint32_t n;
} moments;

static void add_moment(moments *m, uint64_t at, uint32_t place)
{
    m->items[m->n] = (moment){at, place, m->n};
    m->n++;
}

/* Everything in the records that has a time. False: their stamps do not tell. */
static bool find_moments(const dl_elf *elf, const record_span *spans, uint32_t n_spans, dl_price_ring kernel,
                         moments *out)
{
    const uint64_t low = (UINT64_C(1) << 52) - 1;
    uint64_t until = kernel.until; /* the records of sums come behind everything */
    add_moment(out, kernel.from, ANY);
    for (uint32_t i = 0; i < n_spans; i++) {
        for (uint32_t at = 0, words; at < spans[i].n; at += words ? words : 1) {
            const uint32_t *w = spans[i].words + at;
            bool ends;
            words = record_words(w, spans[i].n - at);
            const dl_elf_site *site = words > 2 || (words && (w[0] & 0xFFF) != DEVLOG_CODE_WIDE)
                                          ? price_recorded_site(elf, w, words, &ends)
                                          : NULL;
            if (!site) continue;
            const uint64_t time = kernel.from + ((record_stamp(w) - kernel.from) & low);
            if (time > kernel.until) continue;
            if (site->kind == DEVLOG_KIND_SUM && time < until) until = time;
            if (site->kind == DEVLOG_KIND_SUM) continue;
            if (site->stamp32) return false;
            const uint32_t place = 2 * (uint32_t)(site - elf->sites) + ends;
            if (site->kind == DEVLOG_KIND_COMPLETE)
                add_moment(out, time - (uint32_t)((uint32_t)time - w[site->wide ? 3 : 2]), place + 1);
            add_moment(out, time, place);
        }
    }
    add_moment(out, until, ANY);
    return true;
}

/* Whether passes through one sum, or through any, may have been between two moments. */
static bool may_be(const price_around *a, uint32_t sum, const moment *from, const moment *to)
{
    const uint32_t first = sum == ANY ? 0 : sum, last = sum == ANY ? a->n_sums : sum + 1;
    for (uint32_t s = first; s < last; s++) {
        const uint8_t *places = a->places + (size_t)s * a->n_places;
        if ((from->place == ANY || places[from->place] & PRICE_BEFORE_PASS) &&
            (to->place == ANY || places[to->place] & PRICE_BEHIND_PASS))
            return true;
    }
    return false;
}

/* Shares out what the passes through one sum cost among the times in which they may have been. */
static void share(const price_around *a, uint32_t sum, const moments *m, uint64_t cost, dl_spent *out)
{
    double all = 0;
    for (uint32_t i = 1; i < m->n; i++)
        if (may_be(a, sum, &m->items[i - 1], &m->items[i]))
            all += (double)(m->items[i].at - m->items[i - 1].at);
    for (uint32_t i = 1; i < m->n && all > 0; i++)
        if (may_be(a, sum, &m->items[i - 1], &m->items[i]))
            out[i].cost +=
                (uint64_t)((double)cost * (double)(m->items[i].at - m->items[i - 1].at) / all + 0.5);
}

/* Of which of the file's sums a record is. */
static uint32_t sum_of(const dl_elf *elf, const dl_elf_site *site)
{
    uint32_t n = 0;
    for (const dl_elf_site *s = elf->sites; s < site; s++)
        n += s->kind == DEVLOG_KIND_SUM;
    return n;
}

static void share_all(const price_around *a, const dl_prices *p, const dl_elf *elf, const record_span *spans,
                      uint32_t n_spans, dl_price_rest rest, const moments *m, dl_spent *out)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < n_spans; i++) {
        for (uint32_t at = 0, words; at < spans[i].n; at += words ? words : 1) {
            const uint32_t *w = spans[i].words + at;
            words = record_words(w, spans[i].n - at);
            if (!words || (w[0] & 0xFFF) != DEVLOG_CODE_SUM) continue;
            bool ends;
            const dl_elf_site *site = price_recorded_site(elf, w, words, &ends);
            if (!site) continue;
            share(a, sum_of(elf, site), m, price_of_passes(p, elf, site, w, rest), out);
            n += w[3];
        }
    }
    if (n < rest.passes) share(a, ANY, m, (rest.passes - n) * rest.pass, out); /* their records are lost */
}

static dl_spent *find_passes(const price_around *a, const dl_prices *p, const dl_elf *elf,
                             const record_span *spans, uint32_t n_spans, dl_price_rest rest,
                             dl_price_ring kernel, uint32_t *n)
{
    uint32_t words = 0;
    *n = 0;
    for (uint32_t i = 0; i < n_spans; i++)
        words += spans[i].n;
    if (!a || !rest.passes || kernel.until <= kernel.from) return NULL;
    moments m = {.items =
                     malloc((words + 2) * sizeof *m.items)}; /* a complete zone has three words, others two */
    dl_spent *out = NULL;
    if (m.items && find_moments(elf, spans, n_spans, kernel, &m)) out = calloc(m.n, sizeof *out);
    if (out) {
        qsort(m.items, m.n, sizeof *m.items, by_time);
        share_all(a, p, elf, spans, n_spans, rest, &m, out);
        for (uint32_t i = 1; i < m.n; i++) {
            out[*n] = (dl_spent){m.items[i].at, out[i].cost};
            *n += out[i].cost != 0;
        }
    }
    free(m.items);
    return out;
}

/* The changes of segments that the records show: to the one that is written, and in the ring to the one before, where the
 * first record may be of a zone that began in front of it. What they cost: of those in the ring that count what is
 * written over each took the same, the first hardly anything. Returns how many. */
static uint32_t find_changes(const dl_elf *elf, const record_span *spans, uint32_t n_spans,
                             const devlog_control *c, uint64_t from, dl_spent out[2])
{
    enum { FIRST = 160, SUMS = 40, SUM = 60, LOST_SUM = 200 }; /* cycles */
    const record_span *last = n_spans ? &spans[n_spans - 1] : NULL;
    if (n_spans < 2 || c->streamed || last->n < 2 || !c->switches) return 0;
    const uint64_t low = (UINT64_C(1) << 52) - 1;
    uint64_t cost = c->stall_cycles, sums = SUMS;
    uint32_t n = 0, lost = 0; /* records of sums */
    for (uint32_t i = 0; elf && c->dropped && i < elf->n_sites; i++)
        lost += elf->sites[i].kind == DEVLOG_KIND_SUM;
    for (uint32_t at = 0, words; at < last->n; at += words ? words : 1) {
        words = record_words(last->words + at, last->n - at);
        if ((last->words[at] & 0xFFF) != DEVLOG_CODE_SUM) continue;
        sums += SUM;
        lost -= lost > 0;
    }
    sums += LOST_SUM * lost;
    if (c->passes) cost = cost > sums ? cost - sums : 0;
    if (!c->overwritten && cost > FIRST) cost = FIRST; /* freezing, and the first drop, are there too */
    if (c->overwritten && c->switches > 1) {
        cost = (cost > FIRST ? cost - FIRST : 0) / (c->switches - 1);
        const uint64_t before = c->switches > 2 || cost < FIRST ? cost : FIRST;
        if (spans[0].n >= 2)
            out[n++] = (dl_spent){from + ((record_stamp(spans[0].words) - from) & low), 16 * before};
    }
    out[n++] = (dl_spent){from + ((record_stamp(last->words) - from) & low), 16 * cost};
    return n;
}

dl_spent *dl_price_moments(dl_price_book *b, const dl_prices *p, const dl_elf *elf, const record_span *spans,
                           uint32_t n_spans, dl_price_rest rest, dl_price_ring kernel,
                           const devlog_control *c, uint64_t ahead, uint32_t *n)
{
    dl_spent changes[2], *passes = NULL;
    const uint32_t n_changes = find_changes(elf, spans, n_spans, c, kernel.from, changes);
    *n = 0;
    if (p && c->passes && !(c->damage & DEVLOG_DAMAGE_ANY))
        passes = find_passes(dl_price_book_around(b), p, elf, spans, n_spans, rest, kernel, n);
    dl_spent *all = realloc(passes, (*n + n_changes + 1) * sizeof *all);
    if (!all) {
        free(passes);
        *n = 0;
        return NULL;
    }
    for (uint32_t i = 0; i < n_changes; i++) {
        uint32_t at = (*n)++;
        for (; at > 0 && all[at - 1].at > changes[i].at; at--)
            all[at] = all[at - 1];
        all[at] = changes[i];
    }
    for (uint32_t i = 0; i < *n; i++)
        all[i].at -= ahead;
    return all;
}
