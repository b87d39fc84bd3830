/* A look ahead over the records of one RISC and launch: are they whole, in order, and no stamp such that it
 * may be torn? Then they need not become rows that are sorted before they are paired. Not for damage: whoever
 * finds any leaves it to records.c. */
#include "decode/capture/raw_rows.h"

#include <string.h>

/* A shape is kept once the number of the code's site is known, so that sites are numbered where records.c and
 * raw_rows.c number them. */
static uint8_t learn(const record_input *in, const dl_tables *tables, raw_sites *sites, uint32_t code)
{
    static const struct {
        uint16_t below;
        uint8_t shape;
    } shapes[] = {
        {DEVLOG_CODE_ZONE, RAW_OTHER},      {DEVLOG_CODE_COMPLETE, RAW_START},
        {DEVLOG_CODE_EVENT, RAW_COMPLETE},  {DEVLOG_CODE_VALUE32, RAW_EVENT},
        {DEVLOG_CODE_VALUE64, RAW_VALUE32}, {DEVLOG_CODE_PRINT, RAW_VALUE64},
        {DEVLOG_CODE_END, RAW_OTHER},
    };
    size_t i = 0;
    while (code >= shapes[i].below)
        i++;
    uint8_t shape = shapes[i].shape;
    if (shape == RAW_OTHER) return sites->shape[code] = shape;
    uint32_t own = shape == RAW_START ? code & ~1u : code;
    if (own != code) shape = RAW_END;
    if (!sites->of_code[own]) return RAW_UNKNOWN;
    const dl_elf_site *site = in->elf ? dl_elf_site_of(in->elf, false, own) : NULL;
    bool counter = site && site->kind == DEVLOG_KIND_COUNTER;
    if (counter) shape = shape == RAW_VALUE32 ? RAW_COUNTER : RAW_OTHER;
    if (site && shape == RAW_VALUE32 && strcmp(site->name, RAW_MARK_TIME) == 0) shape = RAW_OTHER;
    if (site ? site->stamp32 : in->stamp32) shape = RAW_OTHER;
    if (tables->sites[sites->of_code[own] - 1].role != DL_ROLE_USER) shape = RAW_OTHER;
    if (!site) shape |= RAW_UNNAMED;
    return sites->shape[code] = shape;
}

typedef struct look {
    const record_input *in;
    const dl_tables *tables;
    raw_sites *sites;
    uint64_t top;
    uint64_t last;   /* time of the row before */
    uint64_t record; /* of the record before */
    uint32_t unnamed;
} look;

/* A record that has no short way: its length in words, or 0 when it must be left to records.c. */
static uint32_t other(look *l, const uint32_t *w, uint32_t n)
{
    record_event e;
    uint32_t words = w[1] < RECORD_TORN_WINDOW ? 0 : record_read(l->in, w, n, l->record, &e);
    if (!words || e.time < l->last) return 0;
    bool zone = e.stall || e.kind == DEVLOG_KIND_COMPLETE;
    if (zone && (e.start < l->last || e.start > e.time)) return 0;
    l->unnamed += !e.site && !e.stall;
    l->last = l->record = e.time;
    return words;
}

static bool look_at(look *l, const record_span *span)
{
    const uint8_t *shapes = l->sites->shape;
    const uint32_t *w = span->words, *const end = w + span->n;
    const uint64_t top = l->top;
    uint64_t last = l->last, record = l->record; /* here, so that they are not in memory */
    uint32_t unnamed = 0;
    while (w < end) {
        uint32_t code = w[0] & 0xFFF;
        uint8_t shape = shapes[code], kind = shape & RAW_SHAPE;
        size_t left = (size_t)(end - w);
        if (left >= 2 && (kind == RAW_START || kind == RAW_END)) {
            uint64_t time = top | record_zone_stamp(w);
            if (time < last || w[1] < RECORD_TORN_WINDOW) return false;
            last = record = time;
            unnamed += shape / RAW_UNNAMED;
            w += 2;
        } else if (left >= 3 && kind == RAW_COMPLETE) {
            uint64_t time = top | record_stamp(w), cycles = w[1] - w[2];
            if (time < last || w[1] < RECORD_TORN_WINDOW || time - last < cycles) return false;
            last = record = time;
            unnamed += shape / RAW_UNNAMED;
            w += 3;
        } else if (raw_words[kind] && left >= raw_words[kind]) {
            uint64_t time = top | record_stamp(w);
            if (time < last || w[1] < RECORD_TORN_WINDOW) return false;
            last = record = time;
            unnamed += shape / RAW_UNNAMED;
            w += raw_words[kind];
        } else if (w[0] == 0) { /* padding of a flush, or damage */
            uint32_t padding =
                span == l->in->spans && l->in->padded ? record_padding(span, (uint32_t)(w - span->words)) : 0;
            if (padding == 0) return false;
            w += padding;
        } else if (kind != RAW_UNKNOWN || learn(l->in, l->tables, l->sites, code) == RAW_UNKNOWN) {
            l->last = last;
            l->record = record;
            uint32_t words = other(l, w, (uint32_t)left);
            if (words == 0) return false;
            last = record = l->last;
            w += words;
        }
    }
    l->last = last;
    l->record = record;
    l->unnamed += unnamed;
    return true;
}

bool raw_check(const record_input *in, const dl_tables *tables, raw_sites *sites, uint64_t from,
               uint64_t until, uint32_t *unnamed)
{
    const uint64_t low = (1ull << 52) - 1;
    if (!in->until || in->from > from || until > in->until || (in->from & ~low) != (in->until & ~low))
        return false;
    look l = {
        .in = in, .tables = tables, .sites = sites, .top = in->from & ~low, .last = from, .record = in->from};
    for (uint32_t i = 0; i < in->n_spans; i++)
        if (!look_at(&l, &in->spans[i])) return false;
    /* Markers that the ELF file does not have are damage when it has any. */
    if (l.last > until || (l.unnamed && in->elf && in->elf->n_sites)) return false;
    *unnamed = l.unnamed;
    return true;
}
