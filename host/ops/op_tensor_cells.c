/* The columns of an op's tensors. Tensors of many ops are described in the same words, so the cells that came
 * of them are kept and copied. */
#include <stdlib.h>
#include <string.h>

#include "ops/op_cells.h"

enum { CACHED = 1024, MAX_CACHED_BYTES = 1024 };

typedef struct cached {
    char *said, *cells; /* one allocation */
    uint32_t said_len, cells_len;
} cached;

struct op_tensor_cache {
    cached entries[CACHED];
    dl_str cells, texts;
};

static void render(op_writer *w, const char *said, size_t n, dl_str *texts)
{
    op_tensor t;
    dl_str_clear(texts);
    op_tensor_read(&t, said, n, texts);
    w->no_memory |= texts->failed;
    for (int k = 0; k < 4; k++) {
        if (w->o->columns == OP_COLUMNS_REFERENCE) {
            op_cell_number(w, t.shape[k]);
            continue;
        }
        char text[2 * DL_U64_DIGITS + 2], *to = dl_digits(text, t.shape[k]);
        *to++ = '[';
        to = dl_digits(to, t.logical[k]);
        *to++ = ']';
        op_cell_text(w, text, (size_t)(to - text));
    }
    const op_piece pieces[] = {t.layout, t.data_type, t.memory};
    for (int k = 0; k < 3; k++) {
        if (pieces[k].len && !texts->failed)
            op_cell_text(w, texts->text + pieces[k].at, pieces[k].len);
        else
            op_cell_empty(w);
    }
}

/* The cells as CSV, rendered once for each wording. */
static void copy_cells(op_writer *w, struct op_tensor_cache *cache, const char *said, uint32_t n)
{
    cached *c = &cache->entries[op_wording_hash(said, n) % CACHED];
    if (!c->said || c->said_len != n || memcmp(c->said, said, n) != 0) {
        op_writer aside = *w;
        aside.out = &cache->cells;
        aside.cell = 0;
        dl_str_clear(&cache->cells);
        render(&aside, said, n, &cache->texts);
        w->no_memory |= aside.no_memory || cache->cells.failed;
        free(c->said);
        *c = (cached){0};
        char *both = cache->cells.failed ? NULL : malloc(n + cache->cells.len);
        if (!both) {
            w->no_memory = true;
            return;
        }
        memcpy(both, said, n);
        memcpy(both + n, cache->cells.text, cache->cells.len);
        *c = (cached){both, both + n, n, (uint32_t)cache->cells.len};
    }
    op_cell_begin(w);
    dl_str_add_n(w->out, c->cells, c->cells_len);
    w->cell += OP_TENSOR_FIELDS - 1;
}

void op_tensor_cells(op_writer *w, const op_piece *said, uint32_t have, uint32_t want)
{
    if (!w->tensors) w->tensors = calloc(1, sizeof *w->tensors);
    if (!w->tensors) {
        w->no_memory = true;
        return;
    }
    for (uint32_t i = 0; i < want; i++) {
        if (i >= have) {
            for (int k = 0; k < OP_TENSOR_FIELDS; k++)
                op_cell_empty(w);
        } else if (w->o->json || said[i].len == 0 || said[i].len > MAX_CACHED_BYTES) {
            render(w, op_piece_text(&w->text, said[i]), said[i].len, &w->tensors->texts);
        } else {
            copy_cells(w, w->tensors, op_piece_text(&w->text, said[i]), said[i].len);
        }
    }
    if (have > want) w->counts->tensors_left_out += have - want;
}

void op_tensor_cells_free(op_writer *w)
{
    for (int i = 0; w->tensors && i < CACHED; i++)
        free(w->tensors->entries[i].said);
    if (w->tensors) dl_str_free(&w->tensors->cells);
    if (w->tensors) dl_str_free(&w->tensors->texts);
    free(w->tensors);
    w->tensors = NULL;
}
