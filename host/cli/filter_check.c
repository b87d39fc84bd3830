/* Whether filters met anything: one that lets nothing through is a mistake, and the message says what there
 * is. Not for reading filters (filters.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/term.h"
#include "cli/filters.h"
#include "cli/reading.h"
#include "report/out.h"

enum { MOST_SHOWN = 12, MOST_OF_NAME = 60 }; /* of what there is; bytes of a name */

/* Names, each once, in the order in which they come. */
typedef struct names {
    dl_str out;
    size_t n, left;
} names;

static void add_name(names *l, const char *name)
{
    if (l->n == MOST_SHOWN) {
        l->left++;
        return;
    }
    dl_str_fmt(&l->out, "%s%s", l->n ? ", " : "", name);
    l->n++;
}

static void add_range(names *l, uint64_t low, uint64_t high)
{
    char text[48];
    int n = snprintf(text, sizeof text, "%llu", (unsigned long long)low);
    if (high > low && n > 0) snprintf(text + n, sizeof text - (size_t)n, "-%llu", (unsigned long long)high);
    add_name(l, text);
}

/* Numbers as ranges; they are sorted here. */
static void add_numbers(names *l, uint64_t *numbers, size_t n)
{
    dl_sort_u64(numbers, n);
    for (size_t i = 0, to; i < n; i = to) {
        for (to = i + 1; to < n && numbers[to] <= numbers[to - 1] + 1; to++)
            ;
        add_range(l, numbers[i], numbers[to - 1]);
    }
}

static devlog_status nothing(names *there, const char *option, const char *value, const char *what,
                             devlog_error *err)
{
    if (there->left) dl_str_fmt(&there->out, " and %zu more", there->left);
    dl_fail(err, DEVLOG_ERR_NOT_FOUND, "--%s %s: %s; the log has %s", option, value, what,
            there->n && !there->out.failed ? there->out.text : "none");
    dl_str_free(&there->out);
    return DEVLOG_ERR_NOT_FOUND;
}

/* ---- Chips, cores, RISCs ----------------------------------------------------------------------------- */

static bool in_range(const dl_filter_range *r, uint64_t value)
{
    return value >= r->low && value <= r->high;
}

static devlog_status check_chips(const cli_filters *f, const dl_filter *filter, const dl_tables *t,
                                 devlog_error *err)
{
    for (size_t i = 0; i < filter->n_chips; i++) {
        bool met = false;
        for (uint32_t c = 0; c < t->n_chips && !met; c++)
            met = in_range(&filter->chips[i], t->chips[c].id);
        if (met) continue;
        names there = {0};
        uint64_t *ids = malloc((t->n_chips + 1) * sizeof *ids);
        size_t n = 0;
        for (uint32_t c = 0; ids && c < t->n_chips; c++)
            if (!dl_is_process(t->chips[c].id)) ids[n++] = t->chips[c].id;
        if (ids) add_numbers(&there, ids, n);
        free(ids);
        for (uint32_t c = 0; c < t->n_chips; c++) {
            char text[2 * DL_CHIP_TITLE], title[DL_CHIP_TITLE];
            if (!dl_is_process(t->chips[c].id)) continue;
            snprintf(text, sizeof text, "%u (%s)", t->chips[c].id, dl_chip_title(title, t->chips[c].id));
            add_name(&there, text);
        }
        return nothing(&there, "chips", f->chips.items[i], "no such chip", err);
    }
    return DEVLOG_OK;
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The cores, each once, row by row. */
static void add_cores(names *l, const dl_tables *t)
{
    uint32_t *cores = malloc((t->n_streams + 1) * sizeof *cores);
    if (!cores) return;
    for (uint32_t i = 0; i < t->n_streams; i++)
        cores[i] = (uint32_t)t->streams[i].core_y << 16 | t->streams[i].core_x;
    qsort(cores, t->n_streams, sizeof *cores, compare_u32);
    for (uint32_t i = 0; i < t->n_streams; i++) {
        char text[32];
        if (i && cores[i] == cores[i - 1]) continue;
        snprintf(text, sizeof text, "%u,%u", cores[i] & 0xFFFF, cores[i] >> 16);
        add_name(l, text);
    }
    free(cores);
}

static devlog_status check_cores(const cli_filters *f, const dl_tables *t, devlog_error *err)
{
    for (size_t i = 0; i < f->cores.n; i++) {
        uint64_t k[4];
        bool met = !cli_filter_cores(f->cores.items[i], k);
        for (uint32_t s = 0; s < t->n_streams && !met; s++) {
            const dl_stream *at = &t->streams[s];
            met = at->core_x >= k[0] && at->core_x <= k[2] && at->core_y >= k[1] && at->core_y <= k[3];
        }
        if (met) continue;
        names there = {0};
        add_cores(&there, t);
        return nothing(&there, "core", f->cores.items[i], "no such core", err);
    }
    return DEVLOG_OK;
}

/* Adds texts of the tables, each once; `met`, of DL_MAX_STRINGS, remembers which. */
static void add_text(names *l, const dl_tables *t, bool *met, uint32_t text)
{
    if (!met || met[text]) return;
    met[text] = true;
    char quoted[80];
    const char *const name = dl_text(t, text);
    char shown[MOST_OF_NAME + 1];
    if (snprintf(shown, sizeof shown, "%s", name) > MOST_OF_NAME) out_cut_utf8(shown);
    snprintf(quoted, sizeof quoted, "'%s%s'", shown, strlen(name) > MOST_OF_NAME ? "..." : "");
    add_name(l, quoted);
}

static devlog_status check_riscs(const dl_filter *filter, const dl_tables *t, devlog_error *err)
{
    for (size_t i = 0; i < filter->n_riscs; i++) {
        const dl_filter one = {.riscs = &filter->riscs[i], .n_riscs = 1};
        bool met = false;
        for (uint32_t s = 0; s < t->n_streams && !met; s++)
            met = dl_filter_stream(&one, t, &t->streams[s]);
        if (met) continue;
        names there = {0};
        bool *texts = calloc(DL_MAX_STRINGS, sizeof *texts);
        for (uint32_t s = 0; s < t->n_streams; s++)
            add_text(&there, t, texts, t->streams[s].risc_name);
        free(texts);
        return nothing(&there, "riscs", filter->riscs[i], "no such RISC", err);
    }
    return DEVLOG_OK;
}

/* ---- Zones and launches ------------------------------------------------------------------------------ */

static devlog_status check_zones(const dl_filter *filter, const dl_tables *t, devlog_error *err)
{
    for (size_t i = 0; i < filter->n_zones; i++) {
        const dl_filter one = {.zones = &filter->zones[i], .n_zones = 1};
        bool met = false;
        for (uint32_t s = 0; s < t->n_sites && !met; s++)
            met = dl_filter_site(&one, t, &t->sites[s]);
        if (met) continue;
        names there = {0};
        bool *texts = calloc(DL_MAX_STRINGS, sizeof *texts);
        for (uint32_t s = 0; s < t->n_sites; s++)
            if (t->sites[s].role != DL_ROLE_DROPPED) add_text(&there, t, texts, t->sites[s].name);
        free(texts);
        return nothing(&there, "zone", filter->zones[i], "no zone or marker of this name", err);
    }
    return DEVLOG_OK;
}

/* Launches of other chips, cores and RISCs than the wanted ones are not among them. */
static devlog_status check_launches(const cli_filters *f, const dl_filter *filter, const dl_launches *l,
                                    const dl_tables *t, devlog_error *err)
{
    dl_filter of_launches = *filter;
    of_launches.skip_launches = f->skip_launches;
    const devlog_status status = op_select_check(&of_launches, l->items, l->count, NULL, err);
    if (status || !filter->picks) return status;
    bool met = false;
    for (uint32_t i = 0; i < l->count && !met; i++)
        met = dl_filter_launch(
            &(dl_filter){.picks = true, .picked = filter->picked, .n_picked = filter->n_picked}, t,
            &l->items[i]);
    return met ? DEVLOG_OK
               : dl_fail(
                     err, DEVLOG_ERR_NOT_FOUND,
                     "no launch of this log is of an op that --op, --from-signpost and --to-signpost leave");
}

/* ---- All of them ------------------------------------------------------------------------------------- */

static devlog_status check(const cli_filters *f, const dl_filter *filter, dl_decode *d, devlog_error *err)
{
    const dl_tables *t = dl_decode_tables(d);
    const dl_filter_seen *seen = &dl_decode_losses(d)->seen;
    devlog_status status = check_chips(f, filter, t, err);
    if (!status) status = check_cores(f, t, err);
    if (!status) status = check_riscs(filter, t, err);
    if (!status) status = check_zones(filter, t, err);
    if (status) return status;
    if (!seen->any)
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                       "no row of this log is of the chips, cores and RISCs that --chips, --core and --riscs "
                       "leave together");
    status = check_launches(f, filter, dl_decode_launches(d), t, err);
    if (status) return status;
    if (!seen->rows && !seen->zones && (f->from > seen->last || (f->until && f->until < seen->first)))
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                       "nothing lies between --from and --until; the rows are of cycles %llu to %llu",
                       (unsigned long long)seen->first, (unsigned long long)seen->last);
    if (f->min_cycles && !seen->zones && !seen->closed)
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND, "--min-cycles %llu: the other filters leave no zone",
                       (unsigned long long)f->min_cycles);
    if (f->min_cycles && !seen->zones)
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                       "--min-cycles %llu: no zone is as long that the other filters leave; the longest has "
                       "%llu cycles",
                       (unsigned long long)f->min_cycles, (unsigned long long)seen->longest);
    if (seen->rows || seen->zones) return DEVLOG_OK;
    return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                   "each filter leaves something of this log, and all of them together leave nothing");
}

devlog_status cli_filters_check(const cli_filters *f, const dl_filter *filter, dl_decode *d,
                                devlog_error *err)
{
    if (!cli_filters_any(f)) return DEVLOG_OK;
    devlog_status status = check(f, filter, d, err);
    if (!status || !dl_decode_losses(d)->blocks) return status;
    /* What there is, a part of the log does not say. */
    dl_decode *whole = NULL;
    devlog_error unread;
    dl_progress progress;
    dl_progress_start(&progress);
    const bool read = dl_decode_whole(&whole, d, cli_show_reading, &progress, &unread) == DEVLOG_OK;
    dl_progress_end(&progress);
    if (read) status = check(f, filter, whole, err);
    dl_decode_free(whole);
    return status;
}

devlog_status cli_shown_check(void *shown, dl_decode *d, devlog_error *err)
{
    const cli_shown *s = shown;
    return dl_decode_losses(d)->rows ? cli_filters_check(s->filters, &s->filter, d, err) : DEVLOG_OK;
}
