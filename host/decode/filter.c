/* Filters: what the user wants to see. */
#include "decode/filter.h"

#include <string.h>

static bool in_ranges(const dl_filter_range *ranges, size_t n, uint64_t value)
{
    for (size_t i = 0; i < n; i++)
        if (value >= ranges[i].low && value <= ranges[i].high) return true;
    return n == 0;
}

bool dl_filter_match(const char *pattern, const char *text)
{
    size_t n = strlen(pattern);
    if (n && pattern[n - 1] == '*') return strncmp(pattern, text, n - 1) == 0;
    return strcmp(pattern, text) == 0;
}

bool dl_filter_stream(const dl_filter *f, const dl_tables *t, const dl_stream *s)
{
    if (!in_ranges(f->chips, f->n_chips, t->chips[s->chip].id)) return false;
    bool core = f->n_cores == 0;
    for (size_t i = 0; i < f->n_cores && !core; i++)
        core = f->cores[i].x == s->core_x && f->cores[i].y == s->core_y;
    if (!core) return false;
    bool risc = f->n_riscs == 0;
    const char *name = dl_text(t, s->risc_name);
    for (size_t i = 0; i < f->n_riscs && !risc; i++) {
        dl_risc wanted = dl_risc_of_name(f->riscs[i], strlen(f->riscs[i]));
        risc = dl_filter_match(f->riscs[i], name) || (wanted != DL_RISC_OTHER && wanted == s->risc);
    }
    return risc;
}

bool dl_filter_site(const dl_filter *f, const dl_tables *t, const dl_site *s)
{
    bool zone = f->n_zones == 0;
    for (size_t i = 0; i < f->n_zones && !zone; i++)
        zone = dl_filter_match(f->zones[i], dl_text(t, s->name));
    return zone;
}

bool dl_filter_launch(const dl_filter *f, const dl_launch *l)
{
    if (l->number < f->skip_launches) return false;
    return in_ranges(f->launches, f->n_launches, l->has_ids ? l->run_host_id : l->number);
}
