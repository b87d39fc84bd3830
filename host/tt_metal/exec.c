/* Programs that ran, from tt-metal's own C++ report. Not for device logs (exec_log.c). */
#include "tt_metal/exec.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINE = 4 * 1024 * 1024, MAX_COLUMNS = 1024, COOL_EVERY = 16384 };

void tt_execs_begin(tt_execs *e, tt_found *found, const char *scratch)
{
    *e = (tt_execs){.found = found};
    tt_counters_begin(&e->counters, scratch);
    tt_dispatch_begin(&e->dispatch, scratch);
    tt_gaps_begin(&e->gaps, scratch);
    e->big_items.folder = e->big_lines.folder = e->big_cycles.folder = scratch;
}

static void drop_columns(tt_execs *e)
{
    for (size_t i = 0; i < e->columns.n; i++)
        free(e->columns.names[i]);
    free(e->columns.names);
    e->columns = (tt_perf_columns){0};
}

void tt_execs_free(tt_execs *e)
{
    dl_big_free(&e->big_items);
    dl_big_free(&e->big_lines);
    dl_big_free(&e->big_cycles);
    drop_columns(e);
    for (size_t i = 0; i < e->n_riscs; i++)
        free(e->riscs[i]);
    free(e->riscs);
    free(e->others);
    dl_decode_free(e->decode);
    tt_gaps_free(&e->gaps);
    tt_counters_free(&e->counters);
    tt_dispatch_free(&e->dispatch);
    tt_nocs_free(&e->nocs);
    tt_sync_free(&e->sync);
    memset(e, 0, sizeof *e);
}

tt_exec *tt_execs_add(tt_execs *e)
{
    size_t wanted = (e->n + 1) * sizeof *e->items;
    if (e->n >= TT_NONE - 1) return NULL;
    if (wanted > e->big_items.bytes && !dl_big_room(&e->big_items, wanted + 4096)) return NULL;
    e->items = e->big_items.data;
    tt_exec *x = &e->items[e->n];
    *x = (tt_exec){
        .trace = TT_NONE, .session = TT_NONE, .cycles = TT_NONE, .counted = TT_NONE, .order = (uint32_t)e->n};
    if (e->n++ % COOL_EVERY == 0) dl_big_cool(&e->big_items);
    return x;
}

static int by_id(const void *a, const void *b)
{
    const tt_exec *x = a, *y = b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

void tt_execs_sort(tt_execs *e)
{
    bool sorted = true;
    for (size_t i = 1; i < e->n && sorted; i++)
        sorted = by_id(&e->items[i - 1], &e->items[i]) < 0;
    if (!sorted) qsort(e->items, e->n, sizeof *e->items, by_id);
}

void tt_execs_range(const tt_execs *e, uint32_t device, uint64_t id, size_t *from, size_t *to)
{
    size_t low = 0, high = e->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const tt_exec *x = &e->items[middle];
        bool before = x->device != device ? x->device < device : x->id < id;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    *from = low;
    while (low < e->n && e->items[low].device == device && e->items[low].id == id)
        low++;
    *to = low;
}

double tt_execs_mhz(const tt_execs *e, uint32_t device)
{
    const dl_tables *t = e->decode ? dl_decode_tables(e->decode) : NULL;
    for (uint32_t i = 0; t && i < t->n_chips; i++)
        if (t->chips[i].id == device) return (double)t->chips[i].freq_khz / 1000.0;
    return 0;
}

/* Cells may be quoted as a whole. */
void tt_perf_cells(const char *line, size_t len, tt_cell *cells, size_t cap, size_t *n)
{
    tt_cells_split(line, len, cells, cap, n);
    if (!memchr(line, '"', len)) return;
    for (size_t i = 0, kept = 0; i < *n; i = kept) {
        tt_cell *c = &cells[kept++];
        if (!c->n || *c->text != '"') continue;
        size_t last = i;
        while (last < *n &&
               (cells[last].n < (last == i ? 2 : 1) || cells[last].text[cells[last].n - 1] != '"'))
            last++;
        if (last == *n) continue;
        *c = (tt_cell){c->text + 1, (size_t)(cells[last].text + cells[last].n - c->text - 2)};
        memmove(&cells[kept], &cells[last + 1], (*n - last - 1) * sizeof *cells);
        *n -= last - i;
    }
}

bool tt_perf_int(tt_cell c, int64_t *out)
{
    char text[64], *end;
    if (!c.n || c.n >= sizeof text) return false;
    size_t digits = 0;
    int64_t value = 0;
    for (; digits < c.n && digits < 18 && c.text[digits] >= '0' && c.text[digits] <= '9'; digits++)
        value = value * 10 + (c.text[digits] - '0');
    if (digits == c.n) {
        *out = value;
        return true;
    }
    memcpy(text, c.text, c.n);
    text[c.n] = 0;
    errno = 0;
    long long whole = strtoll(text, &end, 10);
    if (!*end && !errno && end != text) {
        *out = whole;
        return true;
    }
    double real = strtod(text, &end);
    if (*end || end == text || !isfinite(real) || fabs(real) >= 9.2e18) return false;
    *out = (int64_t)real;
    return true;
}

/* ---- The report's lines --- */

typedef struct key_columns {
    int id, trace, session, execution, device, fw_start, kernel_start;
    size_t behind; /* cells of a line that are looked at, and that it must have */
} key_columns;

static int column(const tt_execs *e, const char *name)
{
    for (size_t i = 0; i < e->columns.n; i++)
        if (strcmp(e->columns.names[i], name) == 0) return (int)i;
    return -1;
}

static bool take_header(tt_execs *e, const char *line, size_t n, key_columns *k)
{
    tt_cell cells[MAX_COLUMNS];
    size_t found;
    tt_perf_cells(line, n, cells, MAX_COLUMNS, &found);
    e->columns.names = calloc(found, sizeof *e->columns.names);
    if (!e->columns.names) return false;
    for (; e->columns.n < found; e->columns.n++) {
        char *name = strndup(cells[e->columns.n].text, cells[e->columns.n].n);
        if (!name) return false;
        e->columns.names[e->columns.n] = name;
    }
    *k = (key_columns){column(e, "GLOBAL CALL COUNT"),
                       column(e, "METAL TRACE ID"),
                       column(e, "METAL TRACE REPLAY SESSION ID"),
                       column(e, "EXECUTION"),
                       column(e, "DEVICE ID"),
                       column(e, "DEVICE FW START CYCLE"),
                       column(e, "DEVICE KERNEL START CYCLE"),
                       e->columns.n / 2};
    const int all[] = {k->id, k->trace, k->session, k->execution, k->device, k->fw_start, k->kernel_start};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i] >= (int)k->behind) k->behind = (size_t)all[i] + 1;
    return true;
}

/* False: empty, or no such column. */
static bool key(const tt_cell *cells, size_t n, int at, int64_t *out)
{
    return at >= 0 && (size_t)at < n && tt_perf_int(cells[at], out) && *out >= 0;
}

static bool take_line(tt_execs *e, const char *line, size_t n, const key_columns *k, uint64_t number)
{
    tt_cell cells[MAX_COLUMNS];
    size_t found;
    int64_t id, device, value;
    /* What quotes hold together is known only of all of them. */
    tt_perf_cells(line, n, cells, memchr(line, '"', n) ? MAX_COLUMNS : k->behind, &found);
    if (found && cells[0].n == strlen(e->columns.names[0]) &&
        memcmp(cells[0].text, e->columns.names[0], cells[0].n) == 0)
        return true; /* the header again: another device was appended with its own */
    if (!key(cells, found, k->id, &id) || !key(cells, found, k->device, &device) || device >= TT_NONE ||
        found < e->columns.n / 2) {
        tt_found_add(e->found, TT_BAD_DEVICE_LINE, TT_PERF_NAME ":%llu: %.*s", (unsigned long long)number,
                     (int)(n < 80 ? n : 80), line);
        return true;
    }
    size_t wanted = e->n_lines + n + 1;
    if (wanted > e->big_lines.bytes && !dl_big_room(&e->big_lines, wanted + 65536)) return false;
    e->lines = e->big_lines.data;
    tt_exec *x = tt_execs_add(e);
    if (!x) return false;
    memcpy(e->lines + e->n_lines, line, n);
    x->id = (uint64_t)id;
    x->device = (uint32_t)device;
    x->at = e->n_lines;
    x->len = (uint32_t)n;
    e->n_lines += n;
    if (e->n % COOL_EVERY == 0) dl_big_cool(&e->big_lines);
    if (key(cells, found, k->trace, &value) && value < TT_NONE) x->trace = (uint32_t)value;
    if (key(cells, found, k->session, &value) && value < TT_NONE) x->session = (uint32_t)value;
    if (key(cells, found, k->execution, &value) && value < TT_NONE) x->execution = (uint32_t)value;
    if (key(cells, found, k->kernel_start, &value) || key(cells, found, k->fw_start, &value))
        x->start = (uint64_t)value;
    return true;
}

/* A row whose ids were there before takes its place, as in tt-metal's script. */
static int by_ids(const void *a, const void *b)
{
    const tt_exec *x = a, *y = b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    if (x->trace != y->trace) return x->trace < y->trace ? -1 : 1;
    if (x->session != y->session) return x->session < y->session ? -1 : 1;
    if (x->execution != y->execution) return x->execution < y->execution ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static bool same_ids(const tt_exec *x, const tt_exec *y)
{
    return x->device == y->device && x->id == y->id && x->trace == y->trace && x->session == y->session &&
           x->execution == y->execution;
}

static void drop_doubles(tt_execs *e)
{
    size_t kept = 0;
    bool sorted = true;
    for (size_t i = 1; i < e->n && sorted; i++)
        sorted = by_ids(&e->items[i - 1], &e->items[i]) < 0 && !same_ids(&e->items[i - 1], &e->items[i]);
    if (sorted) return;
    if (e->n) qsort(e->items, e->n, sizeof *e->items, by_ids);
    for (size_t i = 0; i < e->n; i++) {
        tt_exec *last = kept ? &e->items[kept - 1] : NULL, *x = &e->items[i];
        if (last && same_ids(last, x)) {
            tt_found_add(e->found, TT_BAD_DEVICE_LINE,
                         TT_PERF_NAME
                         ": GLOBAL CALL COUNT %llu of device %u is there twice; the last is used",
                         (unsigned long long)x->id, x->device);
            uint32_t order = last->order;
            *last = *x;
            last->order = order;
            continue;
        }
        e->items[kept++] = *x;
    }
    e->n = kept;
}

typedef struct reading {
    tt_execs *e;
    key_columns k;
} reading;

static bool take(void *ctx, const char *line, size_t n, uint64_t number)
{
    reading *r = ctx;
    r->e->read_lines = number;
    if (!n || (r->e->columns.n && (r->k.id < 0 || r->k.device < 0))) return true;
    return r->e->columns.n ? take_line(r->e, line, n, &r->k, number) : take_header(r->e, line, n, &r->k);
}

static devlog_status read_all(tt_execs *e, dl_input *input, const tt_progress *progress, devlog_error *err)
{
    reading r = {.e = e, .k = {-1, -1, -1, -1, -1, -1, -1}};
    const tt_lines lines = {.ctx = &r, .take = take, .longest = MAX_LINE};
    e->from_report = true;
    e->replays_by_time = false;
    devlog_status status = tt_lines_read(&lines, input, progress, e->found, err);
    if (status) return status;
    e->no_report = !e->columns.n || r.k.id < 0 || r.k.device < 0;
    if (e->no_report)
        tt_found_add(e->found, TT_BAD_DEVICE_LINE, TT_PERF_NAME ":1: %s; left out",
                     e->columns.n ? "not the header of that file" : "it is empty");
    if (e->no_report) drop_columns(e);
    e->replays_by_time = r.k.execution >= 0 && r.k.session < 0;
    drop_doubles(e);
    tt_execs_sort(e);
    return DEVLOG_OK;
}

devlog_status tt_execs_read_report(tt_execs *e, const char *path, const tt_progress *progress,
                                   devlog_error *err)
{
    dl_input *input;
    devlog_status status = dl_input_open(&input, path, err);
    return status ? status : read_all(e, input, progress, err);
}

devlog_status tt_execs_parse_report(tt_execs *e, const void *bytes, size_t n, devlog_error *err)
{
    dl_input *input;
    devlog_status status = dl_input_memory(&input, TT_PERF_NAME, bytes, n, err);
    return status ? status : read_all(e, input, NULL, err);
}
