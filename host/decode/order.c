/* Order: the rows of one RISC by time. */
#include "decode/order.h"

#include <string.h>

#define WRAP (UINT64_C(1) << 44)

enum { MOVES_PER_ROW = 8, MAX_FRONT = 16 };

static inline bool has_other_ids(const dl_row *before, const dl_row *after)
{
    uint64_t differ = (before->run_host_id ^ after->run_host_id) | (before->stream ^ after->stream) |
                      (before->run_id ^ after->run_id) | (before->trace_id ^ after->trace_id) |
                      (before->trace_counter ^ after->trace_counter);
    return differ;
}

static inline bool ends(const dl_site *sites, const dl_order_run *run, const dl_row *before,
                        const dl_row *after)
{
    if (has_other_ids(before, after)) return true;
    bool fw_start = after->type == DL_ROW_ZONE_START && sites[after->site].role == DL_ROLE_FW;
    return fw_start && dl_order_run_starts(run, after->time);
}

bool dl_order_boundary(const dl_tables *tables, const dl_order_run *run, const dl_row *before,
                       const dl_row *after)
{
    return ends(tables->sites, run, before, after);
}

static inline void add(const dl_site *sites, dl_order_run *run, const dl_row *row)
{
    if (row->type <= DL_ROW_ZONE_END && sites[row->site].role == DL_ROLE_FW)
        dl_order_run_add_fw(run, row->time, row->type == DL_ROW_ZONE_START);
    dl_order_run_add(run, row->time);
}

void dl_order_add(const dl_tables *tables, dl_order_run *run, const dl_row *row)
{
    add(tables->sites, run, row);
}

static int rank(const dl_tables *t, const dl_row *row)
{
    dl_role role = t->sites[row->site].role;
    if (row->type == DL_ROW_ZONE_START && role == DL_ROLE_FW) return 0;
    if (row->type == DL_ROW_ZONE_START && role == DL_ROLE_KERNEL) return 1;
    if (row->type == DL_ROW_ZONE_END && role == DL_ROLE_KERNEL) return 3;
    if (row->type == DL_ROW_ZONE_END && role == DL_ROLE_FW) return 4;
    return 2;
}

/* A total order: rows with the same stamp and rank stay as they are in the log, by their lines. */
static bool before(const dl_tables *t, const dl_row *a, const dl_row *b)
{
    if (a->time != b->time) return a->time < b->time;
    int ra = rank(t, a), rb = rank(t, b);
    return ra != rb ? ra < rb : a->line < b->line;
}

bool dl_order_before(const dl_tables *tables, const dl_row *a, const dl_row *b)
{
    return before(tables, a, b);
}

/* Linear for what it meets: four markers in the wrong place among rows that are in order. Gives up, with the
 * rows in whatever order it has reached, when that is not what it meets. */
static bool insertion_sort(const dl_tables *t, dl_row *rows, size_t n)
{
    size_t moved_rows = 0;
    for (size_t i = 1; i < n; i++) {
        if (moved_rows > MOVES_PER_ROW * n) return false;
        if (!before(t, &rows[i], &rows[i - 1])) continue;
        dl_row moved = rows[i];
        size_t at = i;
        while (at && before(t, &moved, &rows[at - 1]))
            at--;
        memmove(&rows[at + 1], &rows[at], (i - at) * sizeof *rows);
        rows[at] = moved;
        moved_rows += i - at;
    }
    return true;
}

static void sift_down(const dl_tables *t, dl_row *rows, size_t root, size_t n)
{
    for (;;) {
        size_t child = root * 2 + 1;
        if (child >= n) return;
        if (child + 1 < n && before(t, &rows[child], &rows[child + 1])) child++;
        if (!before(t, &rows[root], &rows[child])) return;
        dl_row swapped = rows[root];
        rows[root] = rows[child];
        rows[child] = swapped;
        root = child;
    }
}

/* For rows in real disorder: n log n whatever they are. */
static void heap_sort(const dl_tables *t, dl_row *rows, size_t n)
{
    for (size_t root = n / 2; root-- > 0;)
        sift_down(t, rows, root, n);
    for (size_t end = n - 1; end > 0; end--) {
        dl_row swapped = rows[0];
        rows[0] = rows[end];
        rows[end] = swapped;
        sift_down(t, rows, 0, end);
    }
}

/* Rows that are in order but for a few at the front, as the reference writer leaves them: sorts those few and
 * merges them with the others in place. */
static void merge_front(const dl_tables *t, dl_row *rows, size_t n_front, size_t n)
{
    dl_row front[MAX_FRONT];
    for (size_t i = 0; i < n_front; i++) {
        size_t at = i;
        for (; at && before(t, &rows[i], &front[at - 1]); at--)
            front[at] = front[at - 1];
        front[at] = rows[i];
    }
    /* The next place to fill is never behind the next row to move, as long as a row of the front waits. */
    dl_row *to = rows;
    const dl_row *next = rows + n_front, *end = rows + n;
    for (size_t i = 0; i < n_front; i++) {
        while (next < end && (next->time < front[i].time || before(t, next, &front[i])))
            *to++ = *next++;
        *to++ = front[i];
    }
}

/* Whether the clock went through its 44 bits among these rows: some are near its end, others near 0. */
static bool wraps(const dl_row *rows, size_t n)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < n; i++) {
        if (rows[i].time < least) least = rows[i].time;
        if (rows[i].time > most) most = rows[i].time;
    }
    return most < WRAP && most - least > WRAP / 2;
}

/* Stamps behind a wrap as if the clock had more bits, and back. */
static void unwrap(dl_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].time < WRAP / 2) rows[i].time += WRAP;
}

static void wrap(dl_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].time >= WRAP) rows[i].time -= WRAP;
}

void dl_order_sort(const dl_tables *tables, dl_row *rows, size_t n)
{
    bool wrapped = n && wraps(rows, n);
    if (wrapped) unwrap(rows, n);
    if (n > 1 && !insertion_sort(tables, rows, n)) heap_sort(tables, rows, n);
    if (wrapped) wrap(rows, n);
}

/* The rows of a run. `whole`: it has not been cut. */
static void order_run(const dl_tables *t, dl_row *rows, const dl_order_run *run, bool whole)
{
    const size_t n = run->n;
    bool wrapped = wraps(rows, n);
    if (wrapped) unwrap(rows, n);
    if (run->front && run->front <= MAX_FRONT && !wrapped)
        merge_front(t, rows, run->front, n);
    else if ((run->front || wrapped) && !insertion_sort(t, rows, n))
        heap_sort(t, rows, n);
    if (whole && rows[n - 1].time - rows[0].time >= DL_HALF_TORN) dl_order_repair(t, rows, n);
    if (wrapped) wrap(rows, n);
}

size_t dl_order_rows(const dl_tables *tables, dl_row *rows, size_t n, bool all)
{
    const dl_site *sites = tables->sites;
    size_t from = 0;
    for (size_t to; from < n; from = to) {
        dl_order_run run = {0};
        add(sites, &run, &rows[from]);
        for (to = from + 1; to < n && !dl_order_run_is_full(&run); to++) {
            if (ends(sites, &run, &rows[to - 1], &rows[to])) break;
            add(sites, &run, &rows[to]);
        }
        bool full = dl_order_run_is_full(&run);
        if (to == n && !all && !full) break;
        if (run.front || run.most - rows[from].time >= DL_HALF_TORN)
            order_run(tables, rows + from, &run, !full);
    }
    return from;
}
