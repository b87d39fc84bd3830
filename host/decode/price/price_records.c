/* What the records of a launch cost, and what was not recorded. */
#include <math.h>
#include <string.h>

#include "decode/price/price_internal.h"

/* ---- What was recorded ------------------------------------------------------------------------------ */

static uint32_t kind_of(uint32_t code)
{
    if (code >= DEVLOG_CODE_PRINT) return DEVLOG_KIND_PRINT;
    if (code >= DEVLOG_CODE_VALUE64) return DEVLOG_KIND_VALUE64;
    if (code >= DEVLOG_CODE_VALUE32) return DEVLOG_KIND_VALUE32;
    if (code >= DEVLOG_CODE_EVENT) return DEVLOG_KIND_EVENT;
    return code >= DEVLOG_CODE_COMPLETE ? DEVLOG_KIND_COMPLETE : DEVLOG_KIND_ZONE;
}

const dl_elf_site *price_recorded_site(const dl_elf *elf, const uint32_t *w, uint32_t words, bool *ends)
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

/* What one record cost; 0: it is none of a marker. */
static uint64_t price_of(const dl_prices *p, const dl_elf *elf, const dl_costs *costs, const uint32_t *w,
                         uint32_t words)
{
    const uint32_t code = w[0] & 0xFFF;
    if (words == 0 || code == DEVLOG_CODE_SUM || code == DEVLOG_CODE_STALL || code < DEVLOG_CODE_ZONE)
        return 0;
    bool ends;
    const dl_elf_site *site = elf ? price_recorded_site(elf, w, words, &ends) : NULL;
    uint32_t price = p && site ? p->of_site[2 * (site - elf->sites) + ends].recorded : 0;
    if (price) return price;
    const bool wide = code == DEVLOG_CODE_WIDE;
    const uint32_t kind = wide ? w[2] >> 28 : kind_of(code), args = wide ? 3 : 2;
    if (kind == DEVLOG_KIND_PRINT && words > args) return costs->marker[DL_COST_TEXT + w[args] % 16];
    return costs->marker[kind];
}

dl_price_sum dl_price_of_records(const dl_prices *p, const dl_elf *elf, const dl_costs *costs,
                                 const dl_price_counts *counts, const record_span *spans, uint32_t n_spans)
{
    dl_price_sum out = {0};
    for (uint32_t i = 0; i < counts->n_codes && !counts->others; i++) {
        const uint32_t code = counts->codes[i];
        if (code >= DEVLOG_CODE_SPECIAL / 64 * 64) continue;
        /* Of a text by its ELF file's number of arguments. */
        const dl_elf_site *site = elf ? dl_elf_site_of(elf, false, code) : NULL;
        const uint32_t w[3] = {code, 0, site ? site->n_args : 0};
        uint64_t each = price_of(p, elf, costs, w, 3);
        out.n += each ? counts->n[code] : 0;
        out.sum += each * counts->n[code];
        out.squares += each * each * counts->n[code];
    }
    for (uint32_t i = 0; i < n_spans && counts->others; i++) {
        for (uint32_t at = 0, words; at < spans[i].n; at += words ? words : 1) {
            const uint32_t *w = spans[i].words + at;
            words = record_words(w, spans[i].n - at);
            uint64_t each = price_of(p, elf, costs, w, words);
            out.n += each != 0;
            out.sum += each;
            out.squares += each * each;
        }
    }
    return out;
}

/* ---- What was not recorded -------------------------------------------------------------------------- */

/* What keeping the shortest and the longest pass takes: the first is both, and of others that differ the n-th
 * is a new one with a chance of 1 : n each. */
static uint64_t price_of_extremes(sim_cores cores, const uint32_t *sum_record)
{
    /* A branch that is rare, a store, a jump. */
    const uint32_t each = 16 * (sim_mispredict_cycles(cores) - 1 + 2);
    uint32_t passes = sum_record[3], n = sum_record[6] == sum_record[7] || passes == 0 ? 1 : passes;
    double updates = n < 2 ? 1 : log((double)n) + 0.5772;
    return (uint64_t)(2 * each * updates);
}

uint64_t price_of_passes(const dl_prices *p, const dl_elf *elf, const dl_elf_site *site, const uint32_t *w,
                         dl_price_rest rest)
{
    const uint32_t each = p->of_site[2 * (site - elf->sites)].recorded;
    return w[3] * (uint64_t)(each               ? each
                             : p->pass.recorded ? p->pass.recorded
                                                : rest.pass) +
           price_of_extremes(p->cores, w);
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
            const dl_elf_site *site = words ? price_recorded_site(elf, w, words, &ends) : NULL;
            if (!site) continue;
            const dl_price *price = &p->of_site[2 * (site - elf->sites) + ends];
            bool complete = site->kind == DEVLOG_KIND_COMPLETE;
            if (site->kind == DEVLOG_KIND_SUM) {
                passes += price_of_passes(p, elf, site, w, rest);
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
    /* Where a marker's record was dropped for the first time, the frontend expected twice that it was not. */
    const uint64_t turns = 2 * rest.sites < rest.dropped ? 2 * rest.sites : rest.dropped;
    passes += turns * 16 * (sim_mispredict_cycles(p->cores) - 1);
    return passes + (rest.passes - n_passes) * rest.pass + (rest.dropped - rest.complete) * each[0] +
           rest.complete * each[1];
}

/* Whether what was written over came as fast as what is kept, or hardly matters. */
static bool is_even(const dl_prices *p, const dl_elf *elf, const record_span *spans, uint32_t n_spans,
                    dl_price_sum kept, dl_price_ring ring)
{
    const uint64_t low = (UINT64_C(1) << 52) - 1, cycles = ring.until - ring.from;
    if (kept.n == 0 || n_spans == 0 || spans[0].n < 2) return false;
    const uint64_t first = record_stamp(spans[0].words);
    const uint64_t before = (first - ring.from) & low, behind = (ring.until - first) & low;
    if (before > cycles) return false;
    /* Any of the ELF file's markers may have been there. */
    uint64_t cheapest = UINT64_MAX, dearest = 0, mean = kept.sum / kept.n;
    for (uint32_t i = 0; i < 2 * elf->n_sites; i++) {
        uint64_t price = elf->sites[i / 2].kind == DEVLOG_KIND_SUM ? 0 : p->of_site[i].recorded;
        if (price > dearest) dearest = price;
        if (price && price < cheapest) cheapest = price;
    }
    uint64_t above = dearest > mean ? dearest - mean : 0, below = cheapest < mean ? mean - cheapest : 0;
    uint64_t off = above > below ? above : below;
    if (ring.overwritten < cycles && 100 * ring.overwritten * off <= 16 * cycles) return true;
    double fast = (double)ring.overwritten * (double)behind, slow = (double)kept.n * (double)before;
    return 4 * fast <= 5 * slow && 4 * slow <= 5 * fast;
}

/* *mean: by the samples that the device kept of the first segments that it wrote over. Where they are like what is
 * kept, what is gone was so too, and what is kept are the more. Where they are not, what came between the two cost
 * something between them. False: there are too few, or their prices are too far apart. */
static bool price_of_samples(const dl_prices *p, const dl_elf *elf, dl_price_sum kept, dl_price_ring ring,
                             const devlog_control *control, double *mean)
{
    enum { FEW = 4 };
    const uint32_t segments = control->switches ? control->switches - 1 : 0;
    const uint32_t n_samples = segments < DEVLOG_SAMPLES ? segments : DEVLOG_SAMPLES;
    /* Where records are not alike, nobody knew at once where another one begins: the first was kept twice. */
    const uint32_t step = DEVLOG_RECORD_BYTES_OF(control->mode) ? 1 : 2;
    double n = 0, sum = 0, squares = 0, last = 0;
    for (uint32_t i = 0; i < 2 * n_samples; i += step) {
        const uint32_t w[1] = {control->written_over[i / 2] >> 16 * (i % 2) & 0xFFF};
        bool ends;
        const dl_elf_site *site = price_recorded_site(elf, w, 1, &ends);
        const uint32_t price = site ? p->of_site[2 * (site - elf->sites) + ends].recorded : 0;
        if (!price) continue;
        n++;
        last = price;
        sum += price;
        squares += (double)price * price;
    }
    if (n < 2 || kept.n == 0) return false;
    const double of_kept = (double)kept.sum / (double)kept.n;
    const double spread = sqrt(fmax((double)kept.squares / (double)kept.n - of_kept * of_kept, 0) / n);
    const double allowed = 1.5 * 16 * (double)(ring.until - ring.from) / 100 / (double)ring.overwritten;
    if (fabs(sum / n - of_kept) <= 2 * spread) {
        *mean = (sum + (double)kept.sum) / (n + (double)kept.n);
        return spread <= allowed;
    }
    const double known = (double)n_samples / segments;
    const double own = sqrt(fmax(squares / n - sum / n * (sum / n), 0) / (n - 1));
    *mean = known * sum / n + (1 - known) * (last + of_kept) / 2;
    return n >= FEW && known * own + (1 - known) * fabs(last - of_kept) / 2 <= allowed;
}

bool dl_price_of_ring(const dl_prices *p, const dl_elf *elf, const record_span *spans, uint32_t n_spans,
                      dl_price_sum kept, dl_price_ring ring, const devlog_control *control, uint64_t *out)
{
    double mean = kept.n ? (double)kept.sum / (double)kept.n : 0;
    bool known = ring.overwritten == 0 || is_even(p, elf, spans, n_spans, kept, ring) ||
                 price_of_samples(p, elf, kept, ring, control, &mean);
    *out = known ? (uint64_t)(mean * (double)ring.overwritten) : 0;
    return known;
}
