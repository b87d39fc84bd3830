/* The terminal: is there one, may it be coloured, and a progress line that appears only when work is slow. */
#ifndef DEVLOG_BASE_TERM_H
#define DEVLOG_BASE_TERM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Whether colour may be written to `out`: a terminal, TERM not "dumb", NO_COLOR unset or empty. */
bool dl_term_colour(FILE *out);
/* Columns of the terminal; 0: `out` is none. One that does not say how wide it is has COLUMNS, or 80. */
unsigned dl_term_width(FILE *out);

/* One line on a terminal's stderr, rewritten in place, first shown after a second. On anything that is not a
 * terminal it stays silent. */
typedef struct dl_progress {
    bool enabled, shown;
    uint64_t start_ns, next_ns;
} dl_progress;

void dl_progress_start(dl_progress *p);
/* True when a line is due; then call dl_progress_show with the text. Cheap enough for every block. */
bool dl_progress_due(dl_progress *p);
void dl_progress_show(dl_progress *p, const char *text);
/* Wipes the line. */
void dl_progress_end(dl_progress *p);

/* Nanoseconds of the monotonic clock. */
uint64_t dl_now_ns(void);

#endif
