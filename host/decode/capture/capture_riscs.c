/* RISCs that have come in a capture, found by which one came behind which. See the header. */
#include "decode/capture/capture_riscs.h"

#include <stdlib.h>
#include <string.h>

/* Which one came behind it last time. */
typedef struct known_risc {
    raw_known is;
    uint32_t slot, next; /* next: a stream; DL_NONE: none yet */
    uint16_t x, y;
    bool used;
} known_risc;

static bool is_risc(const capture_riscs *all, const dl_tables *tables, uint32_t stream,
                    const dl_capture_core *core, const char *name)
{
    const known_risc *k = stream < all->n ? &all->items[stream] : NULL;
    return k && k->used && k->slot == core->slot && k->x == core->x && k->y == core->y &&
           strcmp(dl_risc_text(tables, stream), name) == 0;
}

raw_known *capture_riscs_of(capture_riscs *all, dl_tables *tables, const dl_capture_core *core,
                            const char *name)
{
    uint32_t stream = all->n ? all->items[all->last].next : DL_NONE;
    if (!is_risc(all, tables, stream, core, name)) {
        stream = dl_tables_stream(tables, core->slot, core->x, core->y, name, strlen(name));
        if (stream == DL_NONE) return NULL;
        if (stream >= all->n) {
            const uint32_t n = stream + 64 + stream / 2;
            known_risc *grown = realloc(all->items, n * sizeof *grown);
            if (!grown) return NULL;
            memset(grown + all->n, 0, (n - all->n) * sizeof *grown);
            if (!all->n) all->last = stream;
            all->items = grown;
            all->n = n;
        }
        if (!all->items[stream].used)
            all->items[stream] = (known_risc){.is.stream = stream,
                                              .slot = core->slot,
                                              .next = DL_NONE,
                                              .x = core->x,
                                              .y = core->y,
                                              .used = true};
        all->items[all->last].next = stream;
    }
    all->last = stream;
    return &all->items[stream].is;
}

void capture_riscs_free(capture_riscs *all)
{
    free(all->items);
}
