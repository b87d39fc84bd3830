/* Raw records as events. See records.h; the encoding is in devlog/record.h. */
#include "decode/capture/records.h"

#include <string.h>

enum { FLIT_WORDS = 8 };

/* The kinds of narrow codes by range, and the words of their records. */
static const struct {
    uint16_t from;
    uint8_t kind, words;
} ranges[] = {
    {DEVLOG_CODE_SPECIAL, 0, 0},
    {DEVLOG_CODE_PRINT, DEVLOG_KIND_PRINT, 3},
    {DEVLOG_CODE_VALUE64, DEVLOG_KIND_VALUE64, 4},
    {DEVLOG_CODE_VALUE32, DEVLOG_KIND_VALUE32, 3},
    {DEVLOG_CODE_EVENT, DEVLOG_KIND_EVENT, 2},
    {DEVLOG_CODE_COMPLETE, DEVLOG_KIND_COMPLETE, 3},
    {DEVLOG_CODE_ZONE, DEVLOG_KIND_ZONE, 2},
};

static const uint8_t words_of_kind[16] = {
    [DEVLOG_KIND_ZONE] = 2,    [DEVLOG_KIND_COMPLETE] = 3, [DEVLOG_KIND_EVENT] = 2,
    [DEVLOG_KIND_VALUE32] = 3, [DEVLOG_KIND_VALUE64] = 4,  [DEVLOG_KIND_COUNTER] = 3,
    [DEVLOG_KIND_PRINT] = 3,   [DEVLOG_KIND_ZONE_END] = 2,
};

typedef struct head {
    uint8_t kind;
    bool wide, stall;
    uint32_t code;
    uint32_t words;   /* length of the record */
    uint32_t payload; /* index of the first word of payload */
} head;

static bool read_head(const uint32_t *w, uint32_t n, head *h)
{
    memset(h, 0, sizeof *h);
    uint32_t code = w[0] & 0xFFF;
    h->payload = 2;
    if (n < 2) return false;
    if (code == DEVLOG_CODE_WIDE) {
        if (n < 3) return false;
        h->wide = true;
        h->payload = 3;
        h->kind = (uint8_t)(w[2] >> 28);
        h->code = w[2] & 0x0FFFFFFF;
        if (!words_of_kind[h->kind]) return false;
        h->words = words_of_kind[h->kind] + 1u;
    } else if (code == DEVLOG_CODE_SUM) {
        h->kind = DEVLOG_KIND_SUM;
        h->wide = true;
        h->words = 8;
        if (n > 2) h->code = w[2];
    } else if (code == DEVLOG_CODE_STALL) {
        h->stall = true;
        h->words = 3;
    } else {
        for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
            if (code < ranges[i].from) continue;
            h->kind = ranges[i].kind;
            h->words = ranges[i].words;
            break;
        }
        if (h->words == 0) return false;
        h->code = code;
        if (h->kind == DEVLOG_KIND_ZONE && (code & 1)) {
            h->kind = DEVLOG_KIND_ZONE_END;
            h->code = code - 1;
        }
    }
    if (h->kind == DEVLOG_KIND_PRINT) {
        if (n <= h->payload) return false;
        if (w[h->payload] > DEVLOG_PRINT_MAX_ARGS) return false;
        h->words += w[h->payload];
    }
    return h->words <= n;
}

uint32_t record_words(const uint32_t *words, uint32_t n)
{
    head h;
    return n > 0 && read_head(words, n, &h) ? h.words : 0;
}

/* ---- Time -------------------------------------------------------------------------------------------------
 */

/* Extends the low `bits` of a clock to 64 bits: the first value from `from` on that ends in them. */
static uint64_t extend(uint64_t low, unsigned bits, uint64_t from)
{
    uint64_t span = 1ull << bits, time = (from & ~(span - 1)) | low;
    return time < from ? time + span : time;
}

/* The stamp as it stands, 52 bits extended to 64, or 32 bits from the record before. */
static uint64_t stamp(const uint32_t *w, bool stamp32, uint64_t floor)
{
    if (stamp32) return extend(w[1], 32, floor);
    uint64_t time = record_stamp(w);
    /* The upper 12 of the 64 bits are those of the start of the launch: 2^52 cycles are weeks. */
    uint64_t top = floor & ~((1ull << 52) - 1);
    if ((top | time) + (1ull << 51) < floor) top += 1ull << 52;
    return top | time;
}

static const dl_elf_site *site_of(const dl_elf *elf, const head *h)
{
    return elf && !h->stall ? dl_elf_site_of(elf, h->wide, h->code) : NULL;
}

typedef struct decoder {
    const record_input *in;
    record_losses *losses;
    uint64_t last; /* time of the record before */
} decoder;

/* Whether the ELF file has the marker: it has all of them, if it has any. */
static bool known(const record_input *in, const head *h, const dl_elf_site *site)
{
    if (h->stall || !in->elf || in->elf->n_sites == 0) return true;
    if (!site) return false;
    if (h->kind == DEVLOG_KIND_ZONE_END) return site->kind == DEVLOG_KIND_ZONE;
    return site->kind == h->kind || (site->kind == DEVLOG_KIND_COUNTER && h->kind == DEVLOG_KIND_VALUE32);
}

/* A record is believed when its marker exists, when its time is not before the one before it, nor after the
 * end of the kernel, and when what it says of its beginning lies in the kernel. */
static bool plausible(const decoder *d, const head *h, const uint32_t *w, const dl_elf_site *site,
                      uint64_t time)
{
    if (time < d->last || !known(d->in, h, site)) return false;
    if (h->stall && w[2] > time - d->in->from) return false;
    if (h->kind == DEVLOG_KIND_COMPLETE && w[1] - w[h->payload] > time - d->in->from) return false;
    if (d->in->until) return time <= d->in->until;
    return time - d->last < 1ull << 48; /* 3 days at 1 GHz */
}

/* The time of the next whole record behind this one, or of the end of the launch; 0 when nothing is known. */
static uint64_t next_time(const decoder *d, const uint32_t *w, uint32_t n, uint32_t span)
{
    for (;; w = NULL) {
        head h;
        if (w && n > 0 && read_head(w, n, &h)) {
            const dl_elf_site *site = site_of(d->in->elf, &h);
            if (site ? site->stamp32 : d->in->stamp32) return 0;
            return stamp(w, false, d->in->from);
        }
        if (++span >= d->in->n_spans) return d->in->until;
        w = d->in->spans[span].words;
        n = d->in->spans[span].n;
        if (n > 0 && read_head(w, n, &h)) return stamp(w, false, d->in->from);
    }
}

/* A stamp that is in order may be torn all the same when nothing else happened in the 2^32 cycles before it:
 * counted when it was taken at a wrap and what follows leaves room for both. */
static bool may_be_torn(const decoder *d, uint64_t time, const uint32_t *behind, uint32_t n, uint32_t span)
{
    if ((uint32_t)time >= RECORD_TORN_WINDOW) return false;
    uint64_t next = next_time(d, behind, n, span);
    return next == 0 || next >= time + (UINT64_C(1) << 32);
}

static void payload(const head *h, const uint32_t *w, record_event *e)
{
    const uint32_t *p = w + h->payload;
    switch (h->kind) {
    case DEVLOG_KIND_COMPLETE:
        /* The start is the low half of a clock at most 2^32 before the end. */
        e->start = e->time - (uint32_t)((uint32_t)e->time - p[0]);
        break;
    case DEVLOG_KIND_VALUE32:
    case DEVLOG_KIND_COUNTER: e->value = p[0]; break;
    case DEVLOG_KIND_VALUE64: e->value = p[0] | (uint64_t)p[1] << 32; break;
    case DEVLOG_KIND_PRINT:
        e->n_args = (uint16_t)p[0];
        e->args = p + 1;
        break;
    case DEVLOG_KIND_SUM:
        e->passes = w[3];
        e->value = w[4] | (uint64_t)w[5] << 32;
        e->shortest = w[6];
        e->longest = w[7];
        break;
    default: break;
    }
    if (h->stall) e->start = e->time - w[2];
}

static inline void fill(const head *h, const uint32_t *w, const dl_elf_site *site, uint64_t time,
                        record_event *e)
{
    *e = (record_event){.words = w,
                        .kind = h->kind,
                        .stall = h->stall,
                        .wide = h->wide,
                        .code = h->code,
                        .site = site,
                        .time = time};
    if (site && site->kind == DEVLOG_KIND_COUNTER) e->kind = DEVLOG_KIND_COUNTER;
    payload(h, w, e);
}

static bool has_stamp32(const record_input *in, const head *h, const dl_elf_site *site)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Branch): who calls has read the head */
    return site ? site->stamp32 : !h->stall && h->kind != DEVLOG_KIND_SUM && in->stamp32;
}

uint32_t record_read(const record_input *in, const uint32_t *words, uint32_t n, uint64_t last,
                     record_event *event)
{
    head h;
    const decoder d = {.in = in, .last = last};
    if (!read_head(words, n, &h)) return 0;
    const dl_elf_site *site = site_of(in->elf, &h);
    bool stamp32 = has_stamp32(in, &h, site);
    uint64_t time = stamp(words, stamp32, last);
    if (!plausible(&d, &h, words, site, time)) return 0;
    fill(&h, words, site, time, event);
    return h.words;
}

uint32_t record_padding(const record_span *span, uint32_t at)
{
    const uint32_t end = (at + FLIT_WORDS - 1) / FLIT_WORDS * FLIT_WORDS;
    if (end > span->n) return 0;
    for (uint32_t i = at; i < end; i++)
        if (span->words[i]) return 0;
    return end - at;
}

/* Whether two records behind this one agree with each other and with the one before, and not with it. */
static bool contradicted(const decoder *d, uint64_t time, const uint32_t *w, uint32_t n)
{
    uint64_t last = d->last;
    for (int i = 0; i < 2; i++) {
        head h;
        if (n == 0 || w[0] == 0 || !read_head(w, n, &h)) return false;
        const dl_elf_site *site = site_of(d->in->elf, &h);
        if (has_stamp32(d->in, &h, site)) return false;
        uint64_t behind = stamp(w, false, last);
        if (behind >= time || behind < last || !plausible(d, &h, w, site, behind)) return false;
        last = behind;
        w += h.words;
        n -= h.words;
    }
    return true;
}

static devlog_status decode_span(decoder *d, uint32_t number, record_fn *fn, void *context, devlog_error *err)
{
    const record_span *span = &d->in->spans[number];
    const uint32_t *w = span->words;
    uint32_t n = span->n;
    bool lost = false; /* between records: looking for the next one */
    while (n > 0) {
        head h;
        uint32_t padding = d->in->padded && number == 0 && w[0] == 0 ? record_padding(span, span->n - n) : 0;
        if (padding) {
            w += padding;
            n -= padding;
            continue;
        }
        bool whole = w[0] != 0 && read_head(w, n, &h); /* no record has code 0 */
        if (w[0] == 0) h = (head){0};
        const dl_elf_site *site = whole ? site_of(d->in->elf, &h) : NULL;
        bool stamp32 = has_stamp32(d->in, &h, site);
        uint64_t read = whole ? stamp(w, stamp32, d->last) : 0, time = read;
        if (!stamp32) time = record_untorn(read, d->last);
        if (!whole || !plausible(d, &h, w, site, time) ||
            (!stamp32 && contradicted(d, time, w + h.words, n - h.words))) {
            if (!whole && !lost && h.words > n) {
                d->losses->cut++;
                return DEVLOG_OK;
            }
            d->losses->damaged_words++;
            lost = true;
            w++;
            n--;
            continue;
        }
        lost = false;
        bool by_marker = !stamp32 && !h.stall && h.kind != DEVLOG_KIND_SUM;
        if (time != read)
            d->losses->torn++;
        else if (by_marker && may_be_torn(d, time, w + h.words, n - h.words, number))
            d->losses->ambiguous++;
        record_event e;
        fill(&h, w, site, time, &e);
        if (!site && !h.stall) d->losses->unnamed++;
        d->last = time;
        devlog_status status = fn(context, &e, err);
        if (status != DEVLOG_OK) return status;
        w += h.words;
        n -= h.words;
    }
    return DEVLOG_OK;
}

devlog_status records_decode(const record_input *in, record_fn *fn, void *context, record_losses *losses,
                             devlog_error *err)
{
    decoder d = {.in = in, .losses = losses, .last = in->from};
    for (uint32_t i = 0; i < in->n_spans; i++) {
        devlog_status status = decode_span(&d, i, fn, context, err);
        if (status != DEVLOG_OK) return status;
    }
    return DEVLOG_OK;
}
