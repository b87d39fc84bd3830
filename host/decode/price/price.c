/* The tables of prices of an ELF file, by what was passed. Not for making one (price_table.c). */
#include "decode/price/price.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "decode/price/price_around.h"
#include "decode/price/price_table.h"

/* The sites of which there are records: narrow ones by code, the others by their place in the ELF file. */
typedef struct seen {
    uint64_t narrow[DEVLOG_CODE_END / 64];
    uint64_t *others;
} seen;

struct dl_price_book {
    const dl_elf *elf;
    double scale;
    price_code code;
    dl_prices tables[DL_PRICE_TABLES]; /* the first is for whatever was passed */
    seen of[DL_PRICE_TABLES];
    uint32_t n, words; /* tables; words of seen.others */
    seen now;
    price_around *around; /* looked for when there are passes for the first time */
    bool looked_around;
};

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

dl_price_book *dl_price_book_open(const dl_elf *elf, sim_cores cores, const uint32_t cost[16])
{
    const double scale = scale_of(cores, cost);
    if (scale <= 0 || !elf->n_sites) return NULL;
    dl_price_book *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    *b = (dl_price_book){.elf = elf, .scale = scale, .words = elf->n_sites / 64 + 1};
    b->now.others = calloc(b->words, sizeof *b->now.others);
    bool read = b->now.others && price_code_read(elf, &b->code);
    b->code.cores = cores;
    if (read && price_table_make(&b->code, elf, scale, true, &b->tables[0])) {
        b->n = 1;
        return b;
    }
    dl_price_book_close(b);
    return NULL;
}

void dl_price_book_close(dl_price_book *b)
{
    if (!b) return;
    for (uint32_t i = 0; i < b->n; i++) {
        free(b->tables[i].of_site);
        free(b->of[i].others);
    }
    free(b->now.others);
    price_around_free(b->around);
    price_code_free(&b->code);
    free(b);
}

static void see_site(dl_price_book *b, const dl_elf_site *site)
{
    size_t at = (size_t)(site - b->elf->sites);
    b->now.others[at / 64] |= UINT64_C(1) << at % 64;
}

/* Records that have the id of their site in a word of its own. */
static void see_others(dl_price_book *b, const record_span *span)
{
    for (uint32_t at = 0, words; at < span->n; at += words ? words : 1) {
        const uint32_t *w = span->words + at, code = w[0] & 0xFFF;
        words = record_words(w, span->n - at);
        if (words < 3 || (code != DEVLOG_CODE_WIDE && code != DEVLOG_CODE_SUM)) continue;
        const dl_elf_site *site =
            dl_elf_site_of(b->elf, true, code == DEVLOG_CODE_WIDE ? w[2] & 0x0FFFFFFF : w[2]);
        if (site) see_site(b, site);
    }
}

static bool is_seen(const dl_price_book *b, uint32_t place)
{
    const dl_elf_site *site = &b->elf->sites[place / 2];
    uint32_t code = site->code + (place & 1);
    if (site->events) return true;
    if (site->wide) return b->now.others[place / 2 / 64] >> place / 2 % 64 & 1;
    return code < DEVLOG_CODE_END && b->now.narrow[code / 64] >> code % 64 & 1;
}

/* Its place in the book; 0: there is none. */
static uint32_t make_table(dl_price_book *b)
{
    seen *of = &b->of[b->n];
    of->others = malloc(b->words * sizeof *of->others);
    if (!of->others) return 0;
    memcpy(of->others, b->now.others, b->words * sizeof *of->others);
    memcpy(of->narrow, b->now.narrow, sizeof of->narrow);
    for (uint32_t i = 0; i < b->code.n_markers; i++) {
        price_marker *m = &b->code.markers[i];
        m->unlikely = m->site && !is_seen(b, m->site - 1);
    }
    if (!price_table_make(&b->code, b->elf, b->scale, false, &b->tables[b->n])) {
        free(of->others);
        return 0;
    }
    return b->n++;
}

const dl_prices *dl_price_book_for(dl_price_book *b, const dl_price_counts *counts, const record_span *spans,
                                   uint32_t n_spans, bool whole, uint32_t *number)
{
    memcpy(b->now.narrow, counts->seen, sizeof b->now.narrow);
    memset(b->now.others, 0, b->words * sizeof *b->now.others);
    for (uint32_t i = 0; i < n_spans && counts->others; i++)
        see_others(b, &spans[i]);
    /* The records of sums come last, and are lost where there is no place. */
    for (uint32_t i = 0; i < b->elf->n_sites && !whole; i++)
        if (b->elf->sites[i].kind == DEVLOG_KIND_SUM) see_site(b, &b->elf->sites[i]);
    uint32_t at = 1;
    for (; at < b->n; at++)
        if (memcmp(b->of[at].narrow, b->now.narrow, sizeof b->now.narrow) == 0 &&
            memcmp(b->of[at].others, b->now.others, b->words * sizeof *b->now.others) == 0)
            break;
    *number = at < b->n ? at : b->n < DL_PRICE_TABLES ? make_table(b) : 0;
    return &b->tables[*number];
}

uint64_t dl_price_book_set(const dl_price_book *b, uint32_t number)
{
    const seen *of = &b->of[number];
    return dl_hash_u64(dl_hash_bytes(of->narrow, sizeof of->narrow) ^
                       dl_hash_bytes(of->others, b->words * sizeof *of->others));
}

const price_around *dl_price_book_around(dl_price_book *b)
{
    if (!b->looked_around) b->around = price_around_find(&b->code, b->elf);
    b->looked_around = true;
    return b->around;
}
