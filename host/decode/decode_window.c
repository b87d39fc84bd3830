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

void decode_choose_blocks(dl_decode *d, dl_input *in, const char *text, size_t n)
{
    dl_columns columns;
    dl_filter *f = &d->options.filter;
    if (!d->options.only_input || d->disordered || !columns_of(text, n, &columns)) return;
    if (!f->n_launches && !f->picks && !f->from && !f->to) return;
    if (!dl_input_index(in, &d->index)) return;
    if (!dl_window_plan(&d->window, &d->index, &columns, f)) {
        pk_index_free(&d->index);
        return;
    }
    dl_input_choose(in, &d->index, d->window.wanted);
    f->partly = true;
    d->losses.blocks = d->index.n;
    d->losses.blocks_read = d->window.n_wanted;
}
