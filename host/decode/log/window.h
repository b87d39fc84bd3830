/* A part of a packed log: which of its blocks a filter of launches or of time wants, by the index. What the filter lets
 * through is in them as a whole; of the rest there may be pieces. */
#ifndef DEVLOG_DECODE_WINDOW_H
#define DEVLOG_DECODE_WINDOW_H

#include "decode/filter.h"
#include "decode/input.h"
#include "decode/log/columns.h"
#include "pack/index.h"

typedef struct dl_window {
    bool *wanted; /* by block */
    size_t n_wanted;
} dl_window;

/* False: all of the log must be read, as the filter does not say less, or the index does not. */
bool dl_window_plan(dl_window *w, const pk_index *index, const dl_columns *columns, const dl_filter *filter);
void dl_window_free(dl_window *w);

/* The same of an input that is read as text. */
typedef struct dl_input_window {
    pk_index index;
    dl_window window;
} dl_input_window;

/* Before anything of the input is read: only what the filter wants is, from now on, when the input is a packed log whose index
 * knows that; true then. The window lives as long as the input. */
bool dl_input_window_choose(dl_input_window *w, dl_input *in, const dl_filter *filter);
void dl_input_window_free(dl_input_window *w);

#endif
