/* Choice: which launches a view keeps that is to keep no more than so many events. */
#include "report/view_choice.h"

#include <stdlib.h>
#include <string.h>

void view_choice_free(view_choice *c)
{
    free(c->counts);
    c->counts = NULL;
    c->n = 0;
}

/* Launches only ever get more events, so what does not fit now will not fit later. */
static void shrink(view_choice *c)
{
    if (c->kept > c->most && c->end > c->n) c->end = c->n;
    while (c->kept > c->most && c->end > 1) {
        uint32_t gone = c->counts[--c->end];
        c->kept -= gone;
        c->left_out += gone;
    }
}

/* Room for the count of a launch. */
static bool grow(view_choice *c, uint32_t launch)
{
    uint32_t n = c->n ? c->n : 1024;
    while (n <= launch)
        n = n > UINT32_MAX / 2 ? UINT32_MAX : n * 2;
    uint32_t *counts = realloc(c->counts, (size_t)n * sizeof *counts);
    if (!counts) return false;
    memset(counts + c->n, 0, (size_t)(n - c->n) * sizeof *counts);
    c->counts = counts;
    c->n = n;
    return true;
}

bool view_choice_take(view_choice *c, uint32_t launch, uint32_t *n)
{
    const uint32_t all = *n;
    if (c->most == 0) return true;
    if (!view_choice_keeps(c, launch)) {
        *n = 0;
    } else if (launch == UINT32_MAX) { /* these go where there is room, and drive no launch out */
        uint64_t room = c->kept < c->most ? c->most - c->kept : 0;
        *n = all < room ? all : (uint32_t)room;
        c->kept += *n;
    } else {
        if (launch >= c->n && !grow(c, launch)) return false;
        c->kept += all;
        c->counts[launch] += all;
        shrink(c);
        if (!view_choice_keeps(c, launch)) { /* shrink has counted them as left out */
            *n = 0;
            return true;
        }
        if (c->kept > c->most) { /* of the very first launch what fits */
            uint64_t beyond = c->kept - c->most;
            *n = beyond < all ? all - (uint32_t)beyond : 0;
            c->counts[launch] -= all - *n;
            c->kept -= all - *n;
        }
    }
    c->left_out += all - *n;
    return true;
}

void view_choice_lower(view_choice *c, uint64_t most)
{
    if (most < c->most) c->most = most ? most : 1;
    c->is_cramped = true;
    shrink(c);
}
