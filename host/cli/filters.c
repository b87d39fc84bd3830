/* Filters on the command line: texts into ranges and cores. */
#include "cli/filters.h"

#include <errno.h>
#include <stdlib.h>

enum { MAX_CORES = 1 << 16 };

/* A number at *text, which moves behind it. */
static bool number(const char **text, uint64_t max, uint64_t *out)
{
    char *end;
    if (**text < '0' || **text > '9') return false;
    errno = 0;
    *out = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0 && *out <= max;
}

/* "5", "8-11". */
static bool range(const char *text, dl_filter_range *out)
{
    if (!number(&text, UINT64_MAX, &out->low)) return false;
    out->high = out->low;
    if (*text == '-') {
        text++;
        if (!number(&text, UINT64_MAX, &out->high)) return false;
    }
    return *text == '\0' && out->low <= out->high;
}

static bool ranges(const cli_command *c, const char *option, const cli_list *list, cli_args *owner,
                   const dl_filter_range **out, size_t *n)
{
    if (!list->n) return true;
    dl_filter_range *made = cli_args_own(owner, calloc(list->n, sizeof *made));
    if (!made) {
        cli_wrong(c, "out of memory");
        return false;
    }
    for (size_t i = 0; i < list->n; i++) {
        if (range(list->items[i], &made[i])) continue;
        cli_wrong(c, "--%s wants numbers and ranges such as 3 or 5-8, not '%s'", option, list->items[i]);
        return false;
    }
    *out = made;
    *n = list->n;
    return true;
}

/* "1,2" or "0,0-3,3". */
bool cli_filter_cores(const char *text, uint64_t corner[4])
{
    if (!number(&text, UINT16_MAX, &corner[0]) || *text++ != ',' || !number(&text, UINT16_MAX, &corner[1]))
        return false;
    corner[2] = corner[0];
    corner[3] = corner[1];
    if (*text == '-') {
        text++;
        if (!number(&text, UINT16_MAX, &corner[2]) || *text++ != ',' ||
            !number(&text, UINT16_MAX, &corner[3]))
            return false;
    }
    return *text == '\0' && corner[0] <= corner[2] && corner[1] <= corner[3];
}

static bool cores(const cli_command *c, const cli_list *list, cli_args *owner, dl_filter *out)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        uint64_t k[4];
        if (!cli_filter_cores(list->items[i], k)) {
            cli_wrong(c, "--core wants X,Y or X,Y-X,Y, not '%s'", list->items[i]);
            return false;
        }
        n += (k[2] - k[0] + 1) * (k[3] - k[1] + 1);
        if (n <= MAX_CORES) continue;
        cli_wrong(c, "--core %s: more than %d cores", list->items[i], MAX_CORES);
        return false;
    }
    if (!n) return true;
    dl_filter_core *made = cli_args_own(owner, malloc(n * sizeof *made));
    if (!made) {
        cli_wrong(c, "out of memory");
        return false;
    }
    for (size_t i = 0; i < list->n; i++) {
        uint64_t k[4];
        if (!cli_filter_cores(list->items[i], k)) continue;
        for (uint64_t y = k[1]; y <= k[3]; y++)
            for (uint64_t x = k[0]; x <= k[2]; x++)
                made[out->n_cores++] = (dl_filter_core){(uint16_t)x, (uint16_t)y};
    }
    out->cores = made;
    return true;
}

bool cli_filter_of(const cli_command *c, const cli_filters *f, cli_args *owner, dl_filter *out)
{
    *out = (dl_filter){.riscs = f->riscs.items,
                       .n_riscs = f->riscs.n,
                       .zones = f->zones.items,
                       .n_zones = f->zones.n,
                       .from = f->from,
                       .to = f->until,
                       .min_cycles = f->min_cycles,
                       .skip_launches = f->skip_launches};
    if (f->until && f->from > f->until) {
        cli_wrong(c, "--from lies behind --until");
        return false;
    }
    return ranges(c, "chips", &f->chips, owner, &out->chips, &out->n_chips) &&
           ranges(c, "launches", &f->launches, owner, &out->launches, &out->n_launches) &&
           ranges(c, "traces", &f->traces, owner, &out->traces, &out->n_traces) &&
           ranges(c, "trace-sessions", &f->sessions, owner, &out->sessions, &out->n_sessions) &&
           cores(c, &f->cores, owner, out);
}

bool cli_filters_any(const cli_filters *f)
{
    return f->chips.n || f->cores.n || f->riscs.n || f->zones.n || f->launches.n || f->from || f->until ||
           f->min_cycles || f->skip_launches || f->traces.n || f->sessions.n || f->ops.n ||
           f->from_signpost || f->to_signpost || f->skip_warm_up;
}

op_selection cli_selection_of(const cli_filters *f, const dl_filter *filter)
{
    return (op_selection){
        .filter = *filter,
        .host = {.from = f->from_signpost, .to = f->to_signpost, .ops = f->ops.items, .n_ops = f->ops.n},
        .skip_warm_up = f->skip_warm_up};
}
