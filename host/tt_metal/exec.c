/* Programs that ran, from tt-metal's own C++ report. Not for device logs (exec_log.c). */
#include "tt_metal/exec.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

enum { MAX_LINE = 4 * 1024 * 1024, MAX_COLUMNS = 1024, COOL_EVERY = 16384, MOST_PLACES = 512 * 1024 };

void tt_execs_begin(tt_execs *e, tt_found *found, const char *scratch)
{
    *e = (tt_execs){.found = found, .most_places = MOST_PLACES};
    tt_counters_begin(&e->counters, scratch);
    tt_dispatch_begin(&e->dispatch, scratch);
    tt_gaps_begin(&e->gaps, scratch);
    e->big_items.folder = e->lines.copy.folder = e->big_cycles.folder = scratch;
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
    tt_kept_free(&e->lines);
    dl_big_free(&e->big_cycles);
    drop_columns(e);
    for (size_t i = 0; i < e->n_riscs; i++)
        free(e->riscs[i]);
    free(e->riscs);
    free(e->others);
    free(e->sorted);
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
    size_t wanted = (e->n_items + 1) * sizeof *e->items;
    if (e->n_items >= TT_NONE - 1) return NULL;
    if (wanted > e->big_items.bytes && !dl_big_room(&e->big_items, wanted + 4096)) return NULL;
    e->items = e->big_items.data;
    tt_exec *x = &e->items[e->n_items];
    *x = (tt_exec){.trace = TT_NONE,
                   .session = TT_NONE,
                   .cycles = TT_NONE,
                   .counted = TT_NONE,
                   .order = (uint32_t)e->n_items};
    if (e->n_items++ % COOL_EVERY == 0) dl_big_cool(&e->big_items);
    return x;
}

/* By device and id; what is equal stays as it came. */
static bool sort_by_id(tt_execs *e)
{
    dl_keyed *keys = malloc((e->n_items + 1) * sizeof *keys);
    if (!keys) return false;
    for (size_t i = 0; i < e->n_items; i++)
        keys[i] = (dl_keyed){e->items[i].id, i};
    bool ok = dl_sort_keyed(keys, e->n_items);
    for (size_t i = 0; i < e->n_items; i++)
        keys[i].key = e->items[keys[i].at].device;
    ok = ok && dl_sort_keyed(keys, e->n_items);
    for (size_t i = 0; i < e->n_items; i++)
        e->sorted[i] = (uint32_t)keys[i].at;
    free(keys);
    return ok;
}

typedef struct program_order {
    const tt_exec *items;
    int (*compare)(const tt_exec *x, const tt_exec *y);
} program_order;

static int in_program(const void *a, const void *b, void *ctx)
{
    const program_order *o = ctx;
    return o->compare(&o->items[*(const uint32_t *)a], &o->items[*(const uint32_t *)b]);
}

/* Those of one program, each program on its own. */
static void sort_programs(tt_execs *e, int (*compare)(const tt_exec *x, const tt_exec *y))
{
    program_order o = {e->items, compare};
    for (size_t from = 0, to; from < e->n; from = to) {
        bool sorted = true;
        for (to = from + 1; to < e->n && tt_same_program(tt_execs_at(e, from), tt_execs_at(e, to)); to++)
            sorted = sorted && compare(tt_execs_at(e, to - 1), tt_execs_at(e, to)) < 0;
        if (!sorted) qsort_r(&e->sorted[from], to - from, sizeof *e->sorted, in_program, &o);
    }
}

bool tt_execs_sort(tt_execs *e, int (*compare)(const tt_exec *x, const tt_exec *y))
{
    free(e->sorted);
    e->sorted = malloc((e->n_items + 1) * sizeof *e->sorted);
    e->n = 0;
    if (!e->sorted || !sort_by_id(e)) return false;
    e->n = e->n_items;
    sort_programs(e, compare);
    return true;
}

static bool stands_before(const tt_exec *x, uint32_t device, uint64_t id)
{
    return x->device != device ? x->device < device : x->id < id;
}

/* In [low, high). */
static void range_in(const tt_execs *e, uint32_t device, uint64_t id, size_t low, size_t high, size_t *from,
                     size_t *to)
{
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (stands_before(tt_execs_at(e, middle), device, id))
            low = middle + 1;
        else
            high = middle;
    }
    *from = low;
    while (low < e->n && tt_execs_at(e, low)->device == device && tt_execs_at(e, low)->id == id)
        low++;
    *to = low;
}

void tt_execs_range(const tt_execs *e, uint32_t device, uint64_t id, size_t *from, size_t *to)
{
    range_in(e, device, id, 0, e->n, from, to);
}

void tt_execs_range_near(const tt_execs *e, uint32_t device, uint64_t id, size_t *at, size_t *from,
                         size_t *to)
{
    size_t low = 0, high = *at, step = 1;
    if (*at < e->n && stands_before(tt_execs_at(e, *at), device, id)) {
        low = *at + 1;
        for (; low + step < e->n && stands_before(tt_execs_at(e, low + step), device, id); step *= 2)
            low += step + 1;
        high = low + step < e->n ? low + step : e->n;
    }
    range_in(e, device, id, low, high, from, to);
    *at = *from;
}

double tt_execs_mhz(const tt_execs *e, uint32_t device)
{
    const dl_tables *t = e->decode ? dl_decode_tables(e->decode) : NULL;
    for (uint32_t i = 0; t && i < t->n_chips; i++)
        if (t->chips[i].id == device) return (double)t->chips[i].freq_khz / 1000.0;
    return 0;
}

/* Cells may be quoted as a whole. */
static void split_quoted(const char *line, size_t len, tt_cell *cells, size_t cap, size_t *n)
{
    tt_cells_split(line, len, cells, cap, n);
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

static void split(const char *line, size_t len, bool quoted, tt_cell *cells, size_t cap, size_t *n)
{
    if (quoted)
        split_quoted(line, len, cells, cap, n);
    else
        tt_cells_split(line, len, cells, cap, n);
}

void tt_execs_cells(tt_execs *e, const tt_exec *x, tt_cell *cells, size_t cap, size_t *n)
{
    const char *line = tt_kept_line(&e->lines, x->at, x->len, x->device);
    *n = 0;
    if (line)
        split(line, x->len, x->quoted, cells, cap, n);
    else
        tt_found_add(e->found, TT_STOPPED,
                     TT_PERF_NAME ": GLOBAL CALL COUNT %llu of device %u is not there any more",
                     (unsigned long long)x->id, x->device);
}

bool tt_perf_int(tt_cell c, int64_t *out)
{
    char text[64], *end;
    if (!c.n || c.n >= sizeof text) return false;
    uint64_t value;
    if (c.n < DL_DIGITS_MOST && dl_digits_value(c.text, c.n, &value)) {
        *out = (int64_t)value;
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
    split(line, n, memchr(line, '"', n) != NULL, cells, MAX_COLUMNS, &found);
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

static bool take_line(tt_execs *e, const char *line, size_t n, const key_columns *k, uint64_t number,
                      uint64_t place)
{
    tt_cell cells[MAX_COLUMNS];
    size_t found;
    int64_t id, device, value;
    /* What quotes hold together is known only of all of them. */
    const bool quoted = memchr(line, '"', n) != NULL;
    split(line, n, quoted, cells, quoted ? MAX_COLUMNS : k->behind, &found);
    if (found && cells[0].n == strlen(e->columns.names[0]) &&
        memcmp(cells[0].text, e->columns.names[0], cells[0].n) == 0)
        return true; /* the header again: another device was appended with its own */
    if (!key(cells, found, k->id, &id) || !key(cells, found, k->device, &device) || device >= TT_NONE ||
        found < e->columns.n / 2) {
        tt_found_add(e->found, TT_BAD_DEVICE_LINE, TT_PERF_NAME ":%llu: %.*s", (unsigned long long)number,
                     (int)(n < 80 ? n : 80), line);
        return true;
    }
    tt_exec *x = tt_execs_add(e);
    if (!x || !tt_kept_add(&e->lines, line, n, place, &x->at)) return false;
    x->id = (uint64_t)id;
    x->device = (uint32_t)device;
    x->len = (uint32_t)n;
    x->quoted = quoted;
    if (e->n_items % COOL_EVERY == 0) tt_kept_cool(&e->lines);
    if (key(cells, found, k->trace, &value) && value < TT_NONE) x->trace = (uint32_t)value;
    if (key(cells, found, k->session, &value) && value < TT_NONE) x->session = (uint32_t)value;
    if (key(cells, found, k->execution, &value) && value < TT_NONE) x->execution = (uint32_t)value;
    if (key(cells, found, k->kernel_start, &value) || key(cells, found, k->fw_start, &value))
        x->start = (uint64_t)value;
    return true;
}

static int by_order(const tt_exec *x, const tt_exec *y)
{
    return x->order < y->order ? -1 : x->order > y->order;
}

static int by_replay(const tt_exec *x, const tt_exec *y)
{
    if (x->trace != y->trace) return x->trace < y->trace ? -1 : 1;
    if (x->session != y->session) return x->session < y->session ? -1 : 1;
    if (x->execution != y->execution) return x->execution < y->execution ? -1 : 1;
    return by_order(x, y);
}

static bool same_replay(const tt_exec *x, const tt_exec *y)
{
    return x->trace == y->trace && x->session == y->session && x->execution == y->execution;
}

/* A row whose ids were there before takes its place, as in tt-metal's script. Entries are sorted by replay. */
static void drop_doubles(tt_execs *e)
{
    size_t kept = 0;
    for (size_t i = 0; i < e->n; i++) {
        tt_exec *last = kept ? tt_execs_at(e, kept - 1) : NULL, *x = tt_execs_at(e, i);
        if (!last || !tt_same_program(last, x) || !same_replay(last, x)) {
            e->sorted[kept++] = e->sorted[i];
            continue;
        }
        tt_found_add(e->found, TT_BAD_DEVICE_LINE,
                     TT_PERF_NAME ": GLOBAL CALL COUNT %llu of device %u is there twice; the last is used",
                     (unsigned long long)x->id, x->device);
        x->order = last->order;
        e->sorted[kept - 1] = e->sorted[i];
    }
    e->n = kept;
}

typedef struct reading {
    tt_execs *e;
    key_columns k;
    uint64_t place; /* of the line in hand */
} reading;

static bool take(void *ctx, const char *line, size_t n, uint64_t number)
{
    reading *r = ctx;
    r->e->read_lines = number;
    if (!n || (r->e->columns.n && (r->k.id < 0 || r->k.device < 0))) return true;
    return r->e->columns.n ? take_line(r->e, line, n, &r->k, number, r->place)
                           : take_header(r->e, line, n, &r->k);
}

static devlog_status read_all(tt_execs *e, dl_input *input, const tt_progress *progress, devlog_error *err)
{
    reading r = {.e = e, .k = {-1, -1, -1, -1, -1, -1, -1, -1}};
    const tt_lines lines = {.ctx = &r, .take = take, .longest = MAX_LINE, .place = &r.place};
    e->from_report = true;
    e->replays_by_time = false;
    tt_kept_begin(&e->lines, input);
    devlog_status status = tt_lines_read(&lines, input, progress, e->found, err);
    if (status) return status;
    e->no_report = !e->columns.n || r.k.id < 0 || r.k.device < 0;
    if (e->no_report)
        tt_found_add(e->found, TT_BAD_DEVICE_LINE, TT_PERF_NAME ":1: %s; left out",
                     e->columns.n ? "not the header of that file" : "it is empty");
    if (e->no_report) drop_columns(e);
    e->replays_by_time = r.k.execution >= 0 && r.k.session < 0;
    const bool ok = tt_execs_sort(e, by_replay);
    drop_doubles(e);
    sort_programs(e, by_order);
    return ok ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
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
