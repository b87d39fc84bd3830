/* Of a packed log only the blocks that the filter wants. Not for choosing them (log/window.h). */
#include <string.h>

#include "decode/decode_internal.h"
#include "decode/log/parser_internal.h"

/* The columns of the header in a log's first lines. */
static bool columns_of(const char *text, size_t n, dl_columns *columns)
{
    const char *const end = text + n;
    for (const char *feed; text < end && (feed = memchr(text, '\n', (size_t)(end - text))) != NULL;
         text = feed + 1) {
        dl_cell cells[DL_MAX_CELLS];
        const char *twice;
        devlog_error unheard;
        const int found = dl_split(text, (size_t)(feed - text), cells);
        if (found > 0 && dl_columns_is_header(cells, (size_t)found))
            return dl_columns_read(columns, cells, (size_t)found, &twice, &unheard) == DEVLOG_OK;
    }
    return false;
}

static bool plan(pk_index *index, dl_window *w, dl_input *in, const char *text, size_t n, const dl_filter *f)
{
    dl_columns columns;
    if ((!f->n_launches && !f->picks && !f->from && !f->to && !f->n_traces && !f->n_sessions) ||
        !columns_of(text, n, &columns))
        return false;
    if (!dl_input_index(in, index)) return false;
    if (dl_window_plan(w, index, &columns, f)) return true;
    pk_index_free(index);
    return false;
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
