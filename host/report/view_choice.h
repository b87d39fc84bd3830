/* Choice: which launches a view keeps that is to keep no more than so many events, known while they come: the
 * first launches whose events are together no more than that, and of the very first what fits. Not for
 * filters. */
#ifndef DEVLOG_REPORT_VIEW_CHOICE_H
#define DEVLOG_REPORT_VIEW_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

/* Zero but for `most`, and `end` is UINT32_MAX, to begin with. */
typedef struct view_choice {
    uint64_t most; /* events that may be kept; 0: all */
    uint32_t end;  /* launches from here on are left out; UINT32_MAX: none is */
    uint64_t kept, left_out;
    uint32_t *counts, n; /* events that are kept of each launch */
    bool is_cramped;     /* `most` has been lowered for lack of room */
} view_choice;

void view_choice_free(view_choice *c);
/* Whether events of this launch (UINT32_MAX: of none) are kept, as far as is known by now. */
static inline bool view_choice_keeps(const view_choice *c, uint32_t launch)
{
    return c->most == 0 || launch == UINT32_MAX || launch < c->end;
}
/* Counts *n events of a launch that come; the first *n of them are kept, which is set. False: out of memory. */
bool view_choice_take(view_choice *c, uint32_t launch, uint32_t *n);
/* Keeps no more than this from now on. */
void view_choice_lower(view_choice *c, uint64_t most);

#endif
