/* Reading single rows out of a device log. Not for zones, which are the decoder's. */
#include "tt_metal/log_rows.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LINE = 64 * 1024, MAX_CELLS = 24 };

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
    if (!n || (!memchr(line, '{', n) && !has(line, n, "9090") && !has(line, n, "CQ-"))) return true;
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

/* Most logs have nothing of it. */
static bool wanted(void *ctx, const char *text, size_t n)
{
    reading *r = ctx;
    if (!r->any) r->bytes += n;
    return !r->header || memchr(text, '{', n) || has(text, n, "9090") || has(text, n, "CQ-");
}

static bool enough(void *ctx)
{
    const reading *r = ctx;
    return !r->any && r->to->try_bytes && r->bytes > r->to->try_bytes;
}

devlog_status tt_log_rows_read(const tt_log_taker *t, dl_input *input, const tt_progress *progress,
                               devlog_error *err)
{
    reading r = {.to = t};
    const tt_lines lines = {.ctx = &r, .take = take, .wanted = wanted, .enough = enough, .longest = MAX_LINE};
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
