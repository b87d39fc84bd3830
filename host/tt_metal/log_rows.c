/* Reading single rows out of a device log. Not for zones, which are the decoder's. */
#include "tt_metal/log_rows.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { MAX_LINE = 64 * 1024, MAX_CELLS = 24, COUNTER = 9090 /* the static id of their records */ };

enum {
    C_DEVICE,
    C_X,
    C_Y,
    C_RISC,
    C_ID,
    C_TIME,
    C_DATA,
    C_PROGRAM,
    C_TRACE,
    C_SESSION,
    C_ZONE,
    C_TYPE,
    C_META,
    COLUMNS
};

typedef struct reading {
    const tt_log_taker *to;
    int at[COLUMNS];
    bool header, any;
    uint64_t bytes; /* read without such a row */
    tt_log_head head;
} reading;

static void take_chip(reading *r, const char *line, size_t n)
{
    static const char cores[] = "Max Compute Cores:";
    const char *at = memmem(line, n, cores, sizeof cores - 1);
    uint64_t value;
    tt_cell c = {"", 0};
    size_t found;
    r->head = (tt_log_head){.blackhole = memmem(line, n, "blackhole", 9) != NULL,
                            .wormhole = memmem(line, n, "wormhole", 8) != NULL};
    if (at)
        tt_cells_split(at + sizeof cores - 1, (size_t)(line + n - at) - (sizeof cores - 1), &c, 1, &found);
    if (tt_cell_number(c, &value) && value < TT_NONE) r->head.max_cores = (uint32_t)value;
}

static void take_header(reading *r, const char *line, size_t n)
{
    static const char *const texts[COLUMNS] = {"PCIe slot", "core_x",
                                               "core_y",    "RISC processor type",
                                               "timer_id",  "time[cycles since reset]",
                                               "data",      "run host ID",
                                               "trace id",  "trace id counter",
                                               "zone name", "type",
                                               "meta data"};
    tt_cell cells[MAX_CELLS];
    size_t found;
    tt_cells_split(line, n, cells, MAX_CELLS, &found);
    for (int i = 0; i < COLUMNS; i++) {
        r->at[i] = -1;
        for (size_t c = 0; c < found; c++)
            if (tt_cell_is(cells[c], texts[i])) r->at[i] = (int)c;
    }
    r->header = r->at[C_DEVICE] == 0 && r->at[C_ID] > 0 && r->at[C_META] > 0 && r->at[C_PROGRAM] > 0;
}

static bool has(const char *text, size_t n, const char *word)
{
    return memmem(text, n, word, strlen(word)) != NULL;
}

static bool take(void *ctx, const char *line, size_t n, uint64_t number)
{
    reading *r = ctx;
    (void)number;
    if (!r->header) {
        if (n > 5 && memcmp(line, "ARCH:", 5) == 0) take_chip(r, line, n);
        if (n && has(line, n, "PCIe slot")) take_header(r, line, n);
        return true;
    }
    tt_cell cells[MAX_CELLS];
    size_t found;
    tt_cells_split(line, n, cells, MAX_CELLS, &found);
    tt_cell by[COLUMNS];
    uint64_t numbers[COLUMNS];
    bool is_number[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) {
        by[i] = r->at[i] >= 0 && (size_t)r->at[i] < found ? cells[r->at[i]] : (tt_cell){"", 0};
        is_number[i] = tt_cell_number(by[i], &numbers[i]);
    }
    if (numbers[C_ID] != COUNTER && !has(by[C_ZONE].text, by[C_ZONE].n, "CQ-") && !memchr(line, '{', n))
        return true;
    if (!is_number[C_ID] || !is_number[C_DEVICE] || !is_number[C_X] || !is_number[C_Y] ||
        !is_number[C_PROGRAM] || !is_number[C_TIME] || numbers[C_DEVICE] >= TT_NONE ||
        numbers[C_X] > UINT16_MAX || numbers[C_Y] > UINT16_MAX)
        return true;
    const tt_log_row row = {
        .timer = numbers[C_ID],
        .time = numbers[C_TIME],
        .program = numbers[C_PROGRAM],
        .data = is_number[C_DATA] ? numbers[C_DATA] : 0,
        .device = (uint32_t)numbers[C_DEVICE],
        .trace = is_number[C_TRACE] && numbers[C_TRACE] < TT_NONE ? (uint32_t)numbers[C_TRACE] : TT_NONE,
        .session =
            is_number[C_SESSION] && numbers[C_SESSION] < TT_NONE ? (uint32_t)numbers[C_SESSION] : TT_NONE,
        .x = (uint16_t)numbers[C_X],
        .y = (uint16_t)numbers[C_Y],
        .has_data = is_number[C_DATA],
        .risc = by[C_RISC],
        .zone = by[C_ZONE],
        .type = by[C_TYPE],
        .meta = by[C_META],
        .head = &r->head,
    };
    r->any = true;
    return r->to->take(r->to->ctx, &row);
}

/* What such a row has somewhere: '{', "9090" or "CQ-". Most logs have nothing of it, and times that end in 9090. */
static const char *find_row(const char *p, const char *end)
{
#if defined(__SSE2__)
    const __m128i brace = _mm_set1_epi8('{'), nine = _mm_set1_epi8('9'), zero = _mm_set1_epi8('0'),
                  c = _mm_set1_epi8('C'), q = _mm_set1_epi8('Q'), dash = _mm_set1_epi8('-');
    for (; end - p >= 19; p += 16) {
        const __m128i at = _mm_loadu_si128((const __m128i *)(const void *)p),
                      at1 = _mm_loadu_si128((const __m128i *)(const void *)(p + 1)),
                      at2 = _mm_loadu_si128((const __m128i *)(const void *)(p + 2)),
                      at3 = _mm_loadu_si128((const __m128i *)(const void *)(p + 3));
        const __m128i counter =
            _mm_and_si128(_mm_and_si128(_mm_cmpeq_epi8(at, nine), _mm_cmpeq_epi8(at1, zero)),
                          _mm_and_si128(_mm_cmpeq_epi8(at2, nine), _mm_cmpeq_epi8(at3, zero)));
        const __m128i command = _mm_and_si128(_mm_and_si128(_mm_cmpeq_epi8(at, c), _mm_cmpeq_epi8(at1, q)),
                                              _mm_cmpeq_epi8(at2, dash));
        const unsigned any = (unsigned)_mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(at, brace), _mm_or_si128(counter, command)));
        if (any) return p + __builtin_ctz(any);
    }
#endif
    for (; p < end; p++) {
        const size_t left = (size_t)(end - p);
        if (*p == '{' || (left >= 4 && memcmp(p, "9090", 4) == 0) || (left >= 3 && memcmp(p, "CQ-", 3) == 0))
            return p;
    }
    return NULL;
}

static const char *next(void *ctx, const char *text, const char *end)
{
    reading *r = ctx;
    const char *at = r->header ? find_row(text, end) : text;
    if (!r->any) r->bytes += (size_t)((at ? at : end) - text);
    return at;
}

static bool enough(void *ctx)
{
    const reading *r = ctx;
    return (r->any && r->to->first) || (r->to->stop && *r->to->stop) ||
           (!r->any && r->to->try_bytes && r->bytes > r->to->try_bytes);
}

devlog_status tt_log_rows_read(const tt_log_taker *t, dl_input *input, const tt_progress *progress,
                               devlog_error *err)
{
    reading r = {.to = t};
    const tt_lines lines = {.ctx = &r, .take = take, .next = next, .enough = enough, .longest = MAX_LINE};
    return tt_lines_read(&lines, input, progress, NULL, err); /* the decoder says what cannot be read */
}

bool tt_meta_member(tt_cell meta, const char *key, tt_cell *out)
{
    size_t n = strlen(key);
    const char *end = meta.text + meta.n;
    for (const char *p = meta.text; p < end && (p = memmem(p, (size_t)(end - p), key, n)) != NULL; p += n) {
        const char *at = p + n;
        if (p == meta.text || (p[-1] != '"' && p[-1] != '\'') || at == end || (*at != '"' && *at != '\''))
            continue;
        for (at++; at < end && (*at == ':' || *at == ' ' || *at == '"' || *at == '\''); at++)
            ;
        const char *stop = at;
        while (stop < end && *stop != ';' && *stop != ',' && *stop != '}' && *stop != '"' && *stop != '\'')
            stop++;
        *out = (tt_cell){at, (size_t)(stop - at)};
        return stop > at;
    }
    return false;
}
