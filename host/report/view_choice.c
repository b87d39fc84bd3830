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

bool view_choice_take(view_choice *c, uint32_t launch, bool *keep)
{
    *keep = view_choice_keeps(c, launch);
    if (c->most == 0) return true;
    if (*keep && launch != UINT32_MAX && launch >= c->n) {
        uint32_t n = c->n ? c->n : 1024;
        while (n <= launch)
            n = n > UINT32_MAX / 2 ? UINT32_MAX : n * 2;
        uint32_t *counts = realloc(c->counts, (size_t)n * sizeof *counts);
        if (!counts) return false;
        memset(counts + c->n, 0, (size_t)(n - c->n) * sizeof *counts);
        c->counts = counts;
        c->n = n;
    }
    if (*keep && c->kept >= c->most && (launch == UINT32_MAX || c->end == 1)) *keep = false;
    if (!*keep) {
        c->left_out++;
        return true;
    }
    c->kept++;
    if (launch != UINT32_MAX) c->counts[launch]++;
    shrink(c);
    *keep = view_choice_keeps(c, launch);
    return true;
}

void view_choice_lower(view_choice *c, uint64_t most)
{
    c->most = most ? most : 1;
    c->is_cramped = true;
    shrink(c);
}
