/* ZONES: where inside their kernels ops spend their time, and on which core most. HOST ZONES: where programs spend theirs. */
#include <stdlib.h>

#include "answers/sections.h"
#include "decode/tables.h"

static const answer_column columns[] = {
    {"zone", "zone", ANSWER_TEXT, 0},
    {"risc", "RISC", ANSWER_TEXT, 0},
    {"op", "op", ANSWER_TEXT, 3},
    {"where", "where", ANSWER_TEXT, 2},
    {"count", "count", ANSWER_COUNT, 4},
    {"own", "own", ANSWER_TIME, 0},
    {"share", "% of RISC", ANSWER_PERCENT, 0},
    {"total", "total", ANSWER_TIME, 8},
    {"min", "min", ANSWER_TIME, 10},
    {"max", "max", ANSWER_TIME, 9},
    {"core", "worst core", ANSWER_TEXT, 5},
    {"core_total", "there", ANSWER_TIME, 6},
};

static const answer_column of_host[] = {
    {"zone", "zone", ANSWER_TEXT, 0},     {"process", "process", ANSWER_COUNT, 5},
    {"thread", "thread", ANSWER_TEXT, 0}, {"where", "where", ANSWER_TEXT, 2},
    {"count", "count", ANSWER_COUNT, 4},  {"own", "own", ANSWER_TIME, 0},
    {"total", "total", ANSWER_TIME, 8},   {"min", "min", ANSWER_TIME, 10},
    {"max", "max", ANSWER_TIME, 9},
};

static int by_own(const void *a, const void *b)
{
    const run_zone *const *x = a, *const *y = b;
    if ((*x)->own < (*y)->own || (*x)->own > (*y)->own) return (*x)->own > (*y)->own ? -1 : 1;
    return *x < *y ? -1 : *x > *y; /* as the log's zones are: by code, RISC and name */
}

/* All kernels of the zone's RISC in its op. */
static double kernels_of(const run_zone *zones, size_t n, const run_zone *z)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        if (zones[i].role == DEVLOG_ZONE_KERNEL && zones[i].code == z->code &&
            strcmp(zones[i].risc, z->risc) == 0)
            sum += zones[i].total;
    return sum;
}

static const char *place_of(answer *a, const run_zone *z)
{
    const char *slash = strrchr(z->file, '/');
    const char *file = slash ? slash + 1 : z->file;
    return z->line ? answer_keepf(a, "%s:%u", file, z->line) : NULL;
}

static double ns_of(const answer_run *r)
{
    const double mhz = run_log_mhz(r->log);
    return r->cycles ? 1 : mhz > 0 ? 1000 / mhz : NAN;
}

static void print(answer *a, answer_section *s, const answer_run *r, const run_zone *z, double kernels)
{
    const double scale = ns_of(r);
    answer_text(s, answer_keep(a, z->name, strlen(z->name)));
    answer_text(s, answer_keep(a, z->risc, strlen(z->risc)));
    answer_text(s, z->code ? dl_intern_text(r->table->texts, z->code, NULL) : NULL);
    answer_text(s, place_of(a, z));
    answer_number(s, (double)z->count);
    answer_number(s, z->own * scale);
    answer_number(s, kernels > 0 ? 100 * z->own / kernels : NAN);
    answer_number(s, z->total * scale);
    answer_number(s, z->min * scale);
    answer_number(s, z->max * scale);
    answer_text(s, r->n_chips > 1 ? answer_keepf(a, "%u: %u-%u", z->chip, z->worst.x, z->worst.y)
                                  : answer_keepf(a, "%u-%u", z->worst.x, z->worst.y));
    answer_number(s, z->worst_total * scale);
}

static void print_host(answer *a, answer_section *s, const answer_run *r, const run_zone *z)
{
    const double scale = ns_of(r);
    answer_text(s, answer_keep(a, z->name, strlen(z->name)));
    answer_number(s, z->chip - DL_HOST_SLOT);
    answer_text(s, answer_keep(a, z->risc, strlen(z->risc)));
    answer_text(s, place_of(a, z));
    answer_number(s, (double)z->count);
    answer_number(s, z->own * scale);
    answer_number(s, z->total * scale);
    answer_number(s, z->min * scale);
    answer_number(s, z->max * scale);
}

/* A table of the zones in `order`, those that took most first. NULL: there are none. */
static answer_section *begin(answer *a, const run_zone **order, size_t n, const answer_wishes *w,
                             const char *key, const char *title, const answer_column *of, size_t n_columns)
{
    if (n) qsort(order, n, sizeof *order, by_own);
    answer_section *s = n ? answer_table(a, key, title, of, n_columns) : NULL;
    if (s && w->top && n > w->top) s->more = n - w->top;
    return s;
}

void answer_add_zones(answer *a, const answer_run *r, const answer_wishes *w)
{
    size_t n, of_device = 0, hosts = 0;
    const run_zone *zones = r->log ? run_log_zones(r->log, &n) : NULL;
    if (!zones || !n) return;
    const run_zone **order = malloc(n * sizeof *order), **host = malloc(n * sizeof *host);
    a->no_memory |= !order || !host;
    for (size_t i = 0; order && host && i < n; i++) {
        if (dl_is_process(zones[i].chip))
            host[hosts++] = &zones[i];
        else if (zones[i].role != DEVLOG_ZONE_FIRMWARE)
            order[of_device++] = &zones[i];
    }
    answer_section *s =
        begin(a, order, of_device, w, "zones", "ZONES", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; s && i < of_device && (!w->top || i < w->top); i++)
        print(a, s, r, order[i], kernels_of(zones, n, order[i]));
    if (s)
        answer_note(
            a, s,
            "own: without the zones inside it, over all cores. worst core: where all of it took longest, "
            "and how long it took there.");
    s = begin(a, host, hosts, w, "host_zones", "HOST ZONES", of_host, sizeof of_host / sizeof of_host[0]);
    for (size_t i = 0; s && i < hosts && (!w->top || i < w->top); i++)
        print_host(a, s, r, host[i]);
    if (s) answer_note(a, s, "own: without the zones inside it (docs/host.md).");
    free(order);
    free(host);
}
