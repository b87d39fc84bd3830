/* device_stats.txt. A section begins with a line "=================== NAME ===================", as the
 * reference decoder's do, and has one line per statistic in its format, "{name:>12} [cycles] =
 * {value:>10,.0f}"; then, for what is measured per core, a grid of median±half the range. Unlike the
 * reference's, every median is exact, also over cores. */
#include "report/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/round.h"
#include "decode/analysis/groups.h"
#include "report/decode_table.h"
#include "report/series_table.h"

enum { MAX_GRID = 64, MAX_LISTED = 20, MAX_LOOKS = 50 * 1000 * 1000 };

/* A core's statistics, for the grid. */
typedef struct place {
    uint32_t x, y;
    const dl_summary *summary;
} place;

/* Rounds to even as the reference does. */
static const char *rounded(char out[DL_GROUPED_SIZE], double value)
{
    double whole = nearbyint(value);
    return dl_u64_grouped(out, dl_u64_of(whole));
}

/* "%12s %-8s = %10s", for the many. */
static void line(dl_str *out, const char *name, const char *unit, double value)
{
    static const char blanks[] = "            ";
    char digits[DL_GROUPED_SIZE];
    size_t n_name = strlen(name), n_unit = strlen(unit), n = strlen(rounded(digits, value));
    dl_str_add_n(out, blanks, n_name < 12 ? 12 - n_name : 0);
    dl_str_add_n(out, name, n_name);
    dl_str_char(out, ' ');
    dl_str_add_n(out, unit, n_unit);
    dl_str_add_n(out, blanks, n_unit < 8 ? 8 - n_unit : 0);
    dl_str_add_n(out, " = ", 3);
    dl_str_add_n(out, blanks, n < 10 ? 10 - n : 0);
    dl_str_add_n(out, digits, n);
    dl_str_char(out, '\n');
}

static void statistics(dl_str *out, const dl_summary *s, uint64_t khz)
{
    static const char cycles[] = "[cycles]";
    line(out, "Count", cycles, (double)s->count);
    line(out, "Average", cycles, dl_summary_average(s));
    line(out, "Max", cycles, (double)s->max);
    line(out, "Median", cycles, dl_summary_median(s));
    line(out, "Min", cycles, (double)s->min);
    line(out, "Range", cycles, (double)(s->max - s->min));
    line(out, "Sum", cycles, (double)s->sum);
    line(out, "First", cycles, (double)s->first);
    line(out, "p90", cycles, (double)s->p90);
    line(out, "p95", cycles, (double)s->p95);
    line(out, "p99", cycles, (double)s->p99);
    if (khz) line(out, "Average", "[ns]", dl_summary_average(s) * 1e6 / (double)khz);
}

static void title(dl_str *out, const char *name)
{
    dl_str_add(out, "\n=================== ");
    dl_str_shown(out, name, strlen(name));
    dl_str_add(out, " ===================\n");
}

/* "1,234±56"; returns its width in columns. */
static int cell_text(char out[80], const dl_summary *s)
{
    char median[DL_GROUPED_SIZE], half[DL_GROUPED_SIZE];
    rounded(median, dl_summary_median(s));
    if (s->count == 1) return snprintf(out, 80, "%s", median);
    return snprintf(out, 80, "%s\u00b1%s", median, dl_u64_grouped(half, (s->max - s->min) / 2)) - 1;
}

static void pad(dl_str *out, int width, const char *text, int columns)
{
    dl_str_fmt(out, "%*s%s", width > columns ? width - columns : 0, "", text);
}

/* Cores from the smallest x and y to the largest; "X" where nothing was measured. A spread of cores that no
 * screen could hold is a list. The places are in the order of y, then x. */
static void grid(dl_str *out, const place *places, size_t n)
{
    char text[80];
    uint32_t x0 = UINT32_MAX, x1 = 0;
    int width = 8;
    for (size_t i = 0; i < n; i++) {
        int columns = cell_text(text, places[i].summary) + 2;
        if (columns > width) width = columns;
        if (places[i].x < x0) x0 = places[i].x;
        if (places[i].x > x1) x1 = places[i].x;
    }
    if (n < 2) return;
    dl_str_char(out, '\n');
    if (x1 - x0 >= MAX_GRID || places[n - 1].y - places[0].y >= MAX_GRID) {
        for (size_t i = 0; i < n; i++) {
            cell_text(text, places[i].summary);
            dl_str_fmt(out, "  core %u,%u: %s\n", places[i].x, places[i].y, text);
        }
        return;
    }
    dl_str_fmt(out, "%6s", "y\\x");
    for (uint32_t x = x0; x <= x1; x++)
        dl_str_fmt(out, "%*u", width, x);
    dl_str_char(out, '\n');
    size_t at = 0;
    for (uint32_t y = places[0].y; y <= places[n - 1].y; y++) {
        dl_str_fmt(out, "%4u||", y);
        for (uint32_t x = x0; x <= x1; x++) {
            bool has = at < n && places[at].x == x && places[at].y == y;
            int columns = has ? cell_text(text, places[at].summary) : snprintf(text, sizeof text, "X");
            pad(out, width, text, columns);
            at += has;
        }
        dl_str_char(out, '\n');
    }
}

static void list_events(dl_str *out, const dl_tables *t, const dl_analyzer *a, size_t i, uint32_t chip)
{
    size_t n, shown = 0, more = 0;
    const dl_analysis_event *events = dl_analyzer_events(a, i, &n);
    for (size_t k = 0; k < n; k++) {
        const dl_stream *s = &t->streams[events[k].stream];
        if (s->chip != chip) continue;
        if (shown == MAX_LISTED) {
            more++;
            continue;
        }
        shown++;
        const char *name = dl_site_text(t, events[k].site);
        dl_str said = {0};
        dl_str_fmt(out, "  cycle %llu  core %u,%u %s  ", (unsigned long long)events[k].time, s->core_x,
                   s->core_y, dl_text(t, s->risc_name));
        dl_str_shown(out, name, strlen(name));
        if (events[k].meta && dl_meta_text(dl_text(t, events[k].meta), &said)) {
            dl_str_add(out, "  ");
            dl_str_shown(out, said.text ? said.text : "", said.len);
        }
        dl_str_free(&said);
        if (events[k].type != DL_ROW_TS_EVENT) dl_str_fmt(out, "  %llu", (unsigned long long)events[k].data);
        dl_str_char(out, '\n');
    }
    if (more) dl_str_fmt(out, "  ... and %zu more\n", more);
}

static void incomplete(dl_str *out, uint64_t n)
{
    char digits[DL_GROUPED_SIZE];
    if (n) dl_str_fmt(out, "  %s without an end\n", dl_u64_grouped(digits, n));
}

/* One analysis on one chip: results[0] is the whole, the rest its parts. */
static void analysis(dl_str *out, const dl_tables *t, const dl_analyzer *a, size_t i,
                     const dl_analysis_result *r, size_t n, place *places)
{
    const dl_analysis *of = &dl_analyzer_list(a)->items[i];
    uint64_t khz = t->chips[r[0].chip].freq_khz;
    title(out, of->name);
    if (of->type == DL_ANALYSIS_EVENT) {
        line(out, "Count", "", (double)r[0].summary.count);
        list_events(out, t, a, i, r[0].chip);
        return;
    }
    statistics(out, &r[0].summary, khz);
    incomplete(out, r[0].incomplete);
    if (n > 1 && r[1].stream == DL_NONE) {
        for (size_t k = 1; k < n; k++)
            places[k - 1] = (place){r[k].core_x, r[k].core_y, &r[k].summary};
        grid(out, places, n - 1);
        return;
    }
    for (size_t k = 1; k < n; k++) {
        char text[80];
        cell_text(text, &r[k].summary);
        dl_str_fmt(out, "  core %u,%u %s: %s\n", r[k].core_x, r[k].core_y, dl_risc_text(t, r[k].stream),
                   text);
    }
}

static devlog_status analyses(const dl_analyzer *a, const dl_tables *t, uint32_t chip, dl_str *out,
                              devlog_error *err)
{
    for (size_t i = 0; a && i < dl_analyzer_list(a)->n; i++) {
        size_t n, from = 0, to;
        const dl_analysis_result *r = dl_analyzer_results(a, i, &n);
        while (from < n && r[from].chip != chip)
            from++;
        for (to = from; to < n && r[to].chip == chip; to++)
            ;
        if (from == to) continue;
        place *places = malloc((to - from) * sizeof *places);
        if (!places) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for statistics");
        analysis(out, t, a, i, r + from, to - from, places);
        free(places);
    }
    return DEVLOG_OK;
}

/* Which groups of `cores` are parts of which of `all`: cores.items[parts[k]], k from ends[i - 1] to ends[i], those of
 * all.items[i], in their order. */
typedef struct parts {
    uint32_t *parts, *ends;
} parts;

static void parts_free(parts *p)
{
    free(p->parts);
    free(p->ends);
}

static bool same_zone(const dl_group *a, const dl_group *b)
{
    return a->chip == b->chip && a->risc == b->risc && a->risc_name == b->risc_name &&
           a->site_name == b->site_name;
}

static uint64_t zone_hash(const dl_group *g)
{
    uint64_t names = (uint64_t)g->site_name << 32 | g->risc_name;
    return dl_hash_u64(dl_hash_u64(names) ^ ((uint64_t)g->chip << 8 | g->risc));
}

static devlog_status find_parts(const dl_groups *all, const dl_groups *cores, parts *p, devlog_error *err)
{
    size_t n_slots = 16;
    while (n_slots < 2 * all->n + 2)
        n_slots *= 2;
    uint32_t *slots = calloc(n_slots, sizeof *slots), *of = malloc((cores->n + 1) * sizeof *of);
    p->parts = malloc((cores->n + 1) * sizeof *p->parts);
    p->ends = calloc(all->n + 2, sizeof *p->ends);
    devlog_status status = DEVLOG_OK;
    if (!slots || !of || !p->parts || !p->ends) {
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for statistics");
        goto done;
    }
    for (uint32_t i = 0; i < all->n; i++) {
        size_t at = zone_hash(&all->items[i]) & (n_slots - 1);
        while (slots[at])
            at = (at + 1) & (n_slots - 1);
        slots[at] = i + 1;
    }
    for (size_t k = 0; k < cores->n; k++) {
        size_t at = zone_hash(&cores->items[k]) & (n_slots - 1);
        while (slots[at] && !same_zone(&all->items[slots[at] - 1], &cores->items[k]))
            at = (at + 1) & (n_slots - 1);
        of[k] = slots[at] ? slots[at] - 1 : (uint32_t)all->n; /* every part has its whole */
        p->ends[of[k] + 1]++;
    }
    for (size_t i = 1; i <= all->n + 1; i++)
        p->ends[i] += p->ends[i - 1];
    for (uint32_t k = 0; k < cores->n; k++)
        p->parts[p->ends[of[k]]++] = k;
done:
    free(slots);
    free(of);
    return status;
}

/* Zones that kernels mark themselves; firmware and kernel are in the analyses, or here when there are none.
 */
static devlog_status zones(const dl_tables *t, uint32_t chip, const dl_groups *all, const dl_groups *cores,
                           const parts *p, dl_str *out, devlog_error *err)
{
    dl_str name = {0};
    place *places = malloc((cores->n + 1) * sizeof *places);
    if (!places) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for statistics");
    const bool grids = cores->n && all->n <= MAX_LOOKS / cores->n;
    for (size_t i = 0; i < all->n; i++) {
        const dl_group *g = &all->items[i];
        if (g->chip != chip) continue;
        dl_str_clear(&name);
        dl_str_add(&name, dl_text(t, g->risc_name));
        dl_str_add(&name, ": ");
        dl_str_add(&name, dl_text(t, g->site_name));
        title(out, name.text ? name.text : "");
        statistics(out, &g->summary, t->chips[chip].freq_khz);
        size_t n = 0;
        for (uint32_t k = i ? p->ends[i - 1] : 0; k < p->ends[i] && grids; k++) {
            const dl_group *c = &cores->items[p->parts[k]];
            const dl_stream *s = &t->streams[c->stream];
            places[n++] = (place){s->core_x, s->core_y, &c->summary};
        }
        grid(out, places, n);
    }
    free(places);
    dl_str_free(&name);
    return DEVLOG_OK;
}

typedef struct chip_rank {
    uint32_t id, chip;
} chip_rank;

static int by_id(const void *pa, const void *pb)
{
    const chip_rank *a = pa, *b = pb;
    return a->id < b->id ? -1 : a->id > b->id;
}

static devlog_status chips(dl_decode *d, const dl_analyzer *a, const dl_groups *all, const dl_groups *cores,
                           const parts *p, dl_str *out, devlog_error *err)
{
    const dl_tables *t = dl_decode_tables(d);
    chip_rank ranks[DL_MAX_CHIPS];
    devlog_status status = DEVLOG_OK;
    for (uint32_t i = 0; i < t->n_chips; i++)
        ranks[i] = (chip_rank){t->chips[i].id, i};
    qsort(ranks, t->n_chips, sizeof ranks[0], by_id);
    for (uint32_t i = 0; i < t->n_chips && !status; i++) {
        const dl_chip *chip = &t->chips[ranks[i].chip];
        char mhz[DL_GROUPED_SIZE];
        dl_str_fmt(out, "%sChip %u (%s", i ? "\n\n" : "", chip->id,
                   chip->arch ? dl_text(t, chip->arch) : "unknown chip");
        if (chip->freq_khz)
            dl_str_fmt(out, ", %s MHz", dl_mhz_text(mhz, chip->freq_khz));
        else
            dl_str_add(out, ", clock unknown");
        if (chip->aiclk_khz) dl_str_fmt(out, ", AICLK %s MHz", dl_mhz_text(mhz, chip->aiclk_khz));
        dl_str_add(out, chip->instructions ? "; cycles are instructions)\n" : ")\n");
        status = analyses(a, t, ranks[i].chip, out, err);
        if (!status) status = zones(t, ranks[i].chip, all, cores, p, out, err);
    }
    return status;
}

devlog_status dl_report_stats(dl_decode *d, const dl_analyzer *analyzer, dl_str *out, devlog_error *err)
{
    dl_groups all = {0}, cores = {0};
    parts p = {0};
    devlog_status status = dl_groups_by_risc(d, &all, err);
    if (!status) status = dl_groups_by_core(d, &cores, err);
    if (!status) status = find_parts(&all, &cores, &p, err);
    if (!status) status = chips(d, analyzer, &all, &cores, &p, out, err);
    parts_free(&p);
    dl_groups_free(&all);
    dl_groups_free(&cores);
    if (status) return status;
    const dl_table_options all_rows = {.sort = DL_SORT_NAME};
    status = dl_report_series(d, &all_rows, out, err);
    if (status) return status;
    dl_str_char(out, '\n');
    dl_report_losses(dl_decode_losses(d), false, out);
    return dl_str_status(out, err);
}

static devlog_status write_file(dl_artifacts *set, void *state, dl_file_writer *out, devlog_error *err)
{
    (void)state;
    return dl_report_stats(dl_artifacts_decode(set), dl_artifacts_analyzer(set), &out->buffer, err);
}

const dl_artifact dl_artifact_stats = {.file = "device_stats.txt", .write = write_file};
