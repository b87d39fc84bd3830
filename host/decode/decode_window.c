/* Of a packed log only the blocks that the filter wants. Not for choosing them (log/window.h). */
#include <string.h>

#include "decode/decode_internal.h"
#include "decode/log/packed_range.h"
#include "decode/log/parser_internal.h"

typedef enum line_kind { LINE_ROW, LINE_HEADER, LINE_BESIDE, LINE_UNKNOWN } line_kind;

/* What the parser takes a line for; *columns are its header's. Quoted cells are not looked at: what such a line is, is unknown. */
static line_kind kind_of(const char *line, size_t n, dl_columns *columns)
{
    dl_cell cells[DL_MAX_CELLS];
    dl_chip_line chip;
    const char *twice;
    devlog_error unheard;
    while (n && (line[n - 1] == '\r' || line[n - 1] == ' ' || line[n - 1] == '\t'))
        n--;
    if (n == 0 || n > DL_MAX_LINE) return LINE_BESIDE;
    const bool digit = line[0] >= '0' && line[0] <= '9'; /* most are rows: nothing else is asked of them */
    if (!digit && dl_chip_line_read(&chip, line, n)) return LINE_BESIDE;
    if (memchr(line, '\r', n)) return LINE_UNKNOWN; /* it may be several */
    if (digit) return LINE_ROW;
    int found = dl_split(line, n, cells);
    if (found > DL_MAX_CELLS) found = DL_MAX_CELLS;
    if (found < 0) return LINE_UNKNOWN;
    if (dl_starts_like_row(cells)) return LINE_ROW;
    if (!dl_columns_is_header(cells, (size_t)found)) return LINE_BESIDE;
    memset(columns, 0, sizeof *columns);
    return dl_columns_read(columns, cells, (size_t)found, &twice, &unheard) ? LINE_UNKNOWN : LINE_HEADER;
}

/* The columns of the header in a log's first lines. Without one above its rows these are guessed, but not here. */
static bool columns_of(const char *text, size_t n, dl_columns *columns)
{
    const char *const end = text + n;
    for (const char *feed; text < end && (feed = memchr(text, '\n', (size_t)(end - text))) != NULL;
         text = feed + 1) {
        const line_kind kind = kind_of(text, (size_t)(feed - text), columns);
        if (kind != LINE_BESIDE) return kind == LINE_HEADER;
    }
    return false;
}

static bool has_no_other(const char *text, size_t n, const dl_columns *columns)
{
    const char *const end = text + n;
    for (const char *feed; text < end; text = feed + 1) {
        dl_columns other;
        feed = memchr(text, '\n', (size_t)(end - text));
        if (!feed) feed = end;
        const line_kind kind = kind_of(text, (size_t)(feed - text), &other);
        if (kind == LINE_UNKNOWN || (kind == LINE_HEADER && memcmp(&other, columns, sizeof other) != 0))
            return false;
    }
    return true;
}

/* Whether all headers name the same columns: logs of several writers may be in one file, and the index tells a block's ids by
 * their place. Headers are among the raw rows of their block. */
static bool is_under_one_header(dl_packed_range *r, const dl_columns *columns)
{
    for (size_t i = 0; i < r->index.n; i++) {
        const char *text = NULL;
        size_t n;
        devlog_error unheard;
        if (i && !r->index.entries[i].info.raw) continue;
        r->next = i;
        if (dl_packed_range_text(r, &text, &n, &unheard) || (n && !has_no_other(text, n, columns)))
            return false;
    }
    return true;
}

static bool plan(pk_index *index, dl_window *w, dl_input *in, const char *text, size_t n, const dl_filter *f)
{
    dl_columns columns;
    dl_packed_range range;
    devlog_error unheard;
    if ((!f->n_launches && !f->picks && !f->from && !f->to && !f->n_traces && !f->n_sessions) ||
        !columns_of(text, n, &columns))
        return false;
    bool good =
        dl_input_blocks(in, &range, &unheard) == DEVLOG_OK && dl_window_plan(w, &range.index, &columns, f);
    if (good && !is_under_one_header(&range, &columns)) {
        dl_window_free(w);
        good = false;
    }
    if (good) {
        *index = range.index;
        range.index = (pk_index){0};
    }
    dl_packed_range_close(&range);
    return good;
}

bool dl_input_window_choose(dl_input_window *w, dl_input *in, const dl_filter *f)
{
    const void *text;
    size_t n = SIZE_MAX;
    devlog_error unheard;
    *w = (dl_input_window){0};
    if (!dl_input_is_untouched(in) || dl_input_peek(in, &text, &n, &unheard)) return false;
    if (!plan(&w->index, &w->window, in, text, n, f)) return false;
    dl_input_choose(in, &w->index, w->window.wanted);
    return true;
}

void dl_input_window_free(dl_input_window *w)
{
    dl_window_free(&w->window);
    pk_index_free(&w->index);
}

void decode_choose_blocks(dl_decode *d, dl_input *in, const char *text, size_t n)
{
    dl_filter *f = &d->options.filter;
    if (!d->options.only_input || d->disordered || !plan(&d->index, &d->window, in, text, n, f)) return;
    dl_input_choose(in, &d->index, d->window.wanted);
    f->partly = true;
    d->losses.blocks = d->index.n;
    d->losses.blocks_read = d->window.n_wanted;
}
