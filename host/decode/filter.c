/* Filters: what the user wants to see. */
#include "decode/filter.h"

#include <string.h>

#include "decode/mark.h"

bool dl_filter_in(const dl_filter_range *ranges, size_t n, uint64_t value)
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
    if (!dl_filter_in(f->chips, f->n_chips, t->chips[s->chip].id)) return false;
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

int dl_filter_by_id(const void *a, const void *b)
{
    const dl_filter_id *x = a, *y = b;
    if (x->chip != y->chip) return x->chip < y->chip ? -1 : 1;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return x->session < y->session ? -1 : x->session > y->session;
}

/* Where in a list of launches those of an id begin. */
static size_t first_of(const dl_filter_id *list, size_t n, uint64_t id, uint32_t chip)
{
    const dl_filter_id wanted = {.id = id, .chip = chip};
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (dl_filter_by_id(&list[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_any(const dl_filter_id *list, size_t n, uint64_t id, uint32_t chip)
{
    const size_t at = first_of(list, n, id, chip);
    return at < n && list[at].chip == chip && list[at].id == id;
}

static bool has(const dl_filter_id *list, size_t n, uint64_t id, uint32_t chip, uint32_t session)
{
    for (size_t at = first_of(list, n, id, chip); at < n && list[at].chip == chip && list[at].id == id; at++)
        if (list[at].session == session || list[at].session == DL_FILTER_ANY) return true;
    return false;
}

bool dl_filter_picks(const dl_filter *f, uint64_t id, uint32_t chip, uint32_t session)
{
    return !f->picks || has(f->picked, f->n_picked, id, chip, session);
}

uint32_t dl_filter_session(const dl_launch *l)
{
    if (l->trace_counter != DL_NO_ID && l->trace_counter) return l->trace_counter;
    return l->trace_id == DL_NO_ID ? 0 : l->repeat;
}

static bool is_picked(const dl_filter *f, uint32_t chip, const dl_launch *l)
{
    if (!f->picks) return true;
    /* Which replay it is, may be what other RISCs say. */
    const bool counted = l->trace_counter != DL_NO_ID && l->trace_counter;
    if (f->also && !counted) return has_any(f->picked, f->n_picked, l->run_host_id, chip);
    if (l->op) return dl_filter_picks(f, l->op, DL_FILTER_OP, 0);
    const uint64_t id = l->has_ids ? l->run_host_id : l->number;
    const uint32_t session = dl_filter_session(l);
    /* A replay of a trace in a log that does not say so is known by how often its id has come. */
    return dl_filter_picks(f, id, chip, session) || (!session && dl_filter_picks(f, id, chip, l->repeat));
}

/* Which replay it is only the log's own count says; of a chip of which nothing is told all launches are. */
static bool is_told(const dl_filter *f, uint32_t chip, const dl_launch *l)
{
    if (!f->n_told || !l->has_ids || !l->run_host_id) return true;
    const size_t at = first_of(f->told, f->n_told, 0, chip);
    if (at == f->n_told || f->told[at].chip != chip) return true;
    const bool counted = l->trace_counter != DL_NO_ID && l->trace_counter;
    return counted ? has(f->told, f->n_told, l->run_host_id, chip, l->trace_counter)
                   : has_any(f->told, f->n_told, l->run_host_id, chip);
}

static bool is_skipped(const dl_filter_skip *s, uint32_t number)
{
    return number < s->n && s->bits[number / 64] >> (number % 64) & 1;
}

bool dl_filter_trace(const dl_filter *f, uint32_t trace, uint32_t session)
{
    if (f->n_traces && (trace == DL_NO_ID || !dl_filter_in(f->traces, f->n_traces, trace))) return false;
    return dl_filter_in(f->sessions, f->n_sessions, session);
}

bool dl_filter_launch_of(const dl_filter *f, uint32_t chip, const dl_launch *l)
{
    if (!is_told(f, chip, l)) return true;
    if (l->number < f->skip_launches) return false;
    for (size_t i = 0; i < f->n_skips; i++)
        if (f->skips[i].chip == chip && is_skipped(&f->skips[i], l->number)) return false;
    if (!dl_filter_in(f->launches, f->n_launches, l->has_ids ? l->run_host_id : l->number)) return false;
    const bool of_trace = dl_filter_trace(f, l->trace_id, dl_filter_session(l));
    return f->also ? of_trace || is_picked(f, chip, l) : of_trace && is_picked(f, chip, l);
}

bool dl_filter_launch(const dl_filter *f, const dl_tables *t, const dl_launch *l)
{
    return dl_filter_launch_of(f, t->chips[l->chip].id, l);
}

bool dl_filter_of_launches(const dl_filter *f)
{
    return f->n_launches || f->n_traces || f->n_sessions || f->picks || f->n_skips || f->skip_launches;
}
