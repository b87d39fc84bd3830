/* Order: the rows of one RISC by time. */
#include "decode/order.h"

#include <string.h>

#define TORN (UINT64_C(1) << 32)
#define HALF (UINT64_C(1) << 31)

enum { MOVES_PER_ROW = 8, MAX_FRONT = 16 };

static inline bool is_boundary(const dl_site *sites, const dl_row *before, const dl_row *after)
{
    uint64_t differ = (before->run_host_id ^ after->run_host_id) | (before->stream ^ after->stream) |
                      (before->run_id ^ after->run_id) | (before->trace_id ^ after->trace_id) |
                      (before->trace_counter ^ after->trace_counter);
    return differ || (after->type == DL_ROW_ZONE_START && sites[after->site].role == DL_ROLE_FW);
}

bool dl_order_boundary(const dl_tables *tables, const dl_row *before, const dl_row *after)
{
    return is_boundary(tables->sites, before, after);
}

/* Whether any row is earlier than its neighbour on the same RISC. */
static bool is_disordered(const dl_row *rows, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (rows[i].time < rows[i - 1].time && rows[i].stream == rows[i - 1].stream) return true;
    return false;
}

/* Rows with the same stamp: starts from the outside in, then what was inside, then ends from the inside out.
 */
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

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* A stamp that both its neighbours contradict by 2^32 was torn. Works on rows in the order of the log. */
static void repair_torn(dl_row *rows, size_t n)
{
    for (size_t i = 0; i < n && n >= 3; i++) {
        uint64_t one = rows[i ? i - 1 : 2].time, two = rows[i + 1 < n ? i + 1 : n - 3].time;
        if (distance(one, two) >= HALF || distance(rows[i].time, one) < HALF) continue;
        uint64_t up = rows[i].time + TORN, down = rows[i].time - TORN;
        bool too_low = distance(up, one) < HALF && distance(up, two) < HALF;
        bool too_high = rows[i].time >= TORN && distance(down, one) < HALF && distance(down, two) < HALF;
        if (!too_low && !too_high) continue;
        rows[i].time = too_low ? up : down;
        rows[i].torn = 1;
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

/* Whether all stamps are near enough to each other to be in disorder, rather than a jump of the clock. */
static bool is_near(const dl_row *rows, size_t n)
{
    uint64_t min = UINT64_MAX, max = 0;
    for (size_t i = 0; i < n; i++) {
        if (rows[i].time < min) min = rows[i].time;
        if (rows[i].time > max) max = rows[i].time;
    }
    return max - min < HALF;
}

/* The rows of a run. `front`: those before the last one that is earlier than its neighbour; the rows from
 * there on are in order. */
static void order_run(const dl_tables *t, dl_row *rows, size_t front, size_t n)
{
    if (front <= MAX_FRONT) {
        uint64_t low = rows[front].time, high = rows[n - 1].time;
        for (size_t i = 0; i < front; i++) {
            if (rows[i].time < low) low = rows[i].time;
            if (rows[i].time > high) high = rows[i].time;
        }
        if (high - low < HALF) {
            merge_front(t, rows, front, n);
            return;
        }
    }
    if (!is_near(rows, n)) {
        repair_torn(rows, n);
        if (!is_disordered(rows, n)) return;
        if (!is_near(rows, n)) return; /* not disorder but jumps: pairing judges them one by one */
    }
    if (!insertion_sort(t, rows, n)) heap_sort(t, rows, n);
}

size_t dl_order_rows(const dl_tables *tables, dl_row *rows, size_t n, bool all)
{
    size_t whole = n;
    if (!all && n) {
        for (whole = n - 1; whole && !is_boundary(tables->sites, &rows[whole - 1], &rows[whole]);)
            whole--;
        if (whole == 0 && n >= DL_MAX_RUN) whole = DL_MAX_RUN;
    }
    if (!is_disordered(rows, whole)) return whole;
    const dl_site *sites = tables->sites;
    for (size_t from = 0, to; from < whole; from = to) {
        size_t front = 0;
        for (to = from + 1; to < whole && to - from < DL_MAX_RUN; to++) {
            if (is_boundary(sites, &rows[to - 1], &rows[to])) break;
            if (rows[to].time < rows[to - 1].time) front = to - from;
        }
        if (front) order_run(tables, rows + from, front, to - from);
    }
    return whole;
}
