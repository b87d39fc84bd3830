/* Order: the marks of one RISC by time. */
#include "decode/pair/order.h"

#include <string.h>

#define WRAP (UINT64_C(1) << 44)

enum { MOVES_PER_MARK = 8 };

bool dl_order_boundary(const dl_order_run *run, const dl_marks *m, uint32_t before, const dl_marks *next,
                       uint32_t after)
{
    uint64_t a = m->items[before].code, b = next->items[after].code;
    if ((a ^ b) & DL_MARK_STREAM) return true;
    if (!dl_same_ids(&dl_mark_frame(m, a)->ids, &dl_mark_frame(next, b)->ids)) return true;
    return (b & DL_MARK_FW_START) && dl_order_run_starts(run, next->items[after].time);
}

static inline int rank(const dl_kind *kinds, const dl_mark *mark)
{
    const dl_kind *k = &kinds[dl_mark_kind(mark->code)];
    if (k->type > DL_ROW_ZONE_END || (k->role != DL_ROLE_FW && k->role != DL_ROLE_KERNEL)) return 2;
    bool fw = k->role == DL_ROLE_FW;
    return k->type == DL_ROW_ZONE_START ? (fw ? 0 : 1) : (fw ? 4 : 3);
}

/* A total order: marks with the same stamp and rank stay as they are in the log. */
static inline bool before(const dl_kind *kinds, const dl_placed *a, const dl_placed *b)
{
    if (a->mark.time != b->mark.time) return a->mark.time < b->mark.time;
    int ra = rank(kinds, &a->mark), rb = rank(kinds, &b->mark);
    return ra != rb ? ra < rb : a->place < b->place;
}

bool dl_order_before(const dl_kind *kinds, const dl_placed *a, const dl_placed *b)
{
    return before(kinds, a, b);
}

/* Linear for what it meets: four markers in the wrong place among marks that are in order. Gives up, with the
 * marks in whatever order it has reached, when that is not what it meets. */
static bool insertion_sort(const dl_kind *kinds, dl_placed *marks, size_t n)
{
    size_t moves = 0;
    for (size_t i = 1; i < n; i++) {
        if (moves > MOVES_PER_MARK * n) return false;
        if (!before(kinds, &marks[i], &marks[i - 1])) continue;
        dl_placed moved = marks[i];
        size_t at = i;
        while (at && before(kinds, &moved, &marks[at - 1]))
            at--;
        memmove(&marks[at + 1], &marks[at], (i - at) * sizeof *marks);
        marks[at] = moved;
        moves += i - at;
    }
    return true;
}

static void sift_down(const dl_kind *kinds, dl_placed *marks, size_t root, size_t n)
{
    for (;;) {
        size_t child = root * 2 + 1;
        if (child >= n) return;
        if (child + 1 < n && before(kinds, &marks[child], &marks[child + 1])) child++;
        if (!before(kinds, &marks[root], &marks[child])) return;
        dl_placed swapped = marks[root];
        marks[root] = marks[child];
        marks[child] = swapped;
        root = child;
    }
}

/* For marks in real disorder: n log n whatever they are. */
static void heap_sort(const dl_kind *kinds, dl_placed *marks, size_t n)
{
    for (size_t root = n / 2; root-- > 0;)
        sift_down(kinds, marks, root, n);
    for (size_t end = n - 1; end > 0; end--) {
        dl_placed swapped = marks[0];
        marks[0] = marks[end];
        marks[end] = swapped;
        sift_down(kinds, marks, 0, end);
    }
}

/* Whether the clock went through its 44 bits among these marks: some are near its end, others near 0. */
static bool wraps(const dl_placed *marks, size_t n)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < n; i++) {
        if (marks[i].mark.time < least) least = marks[i].mark.time;
        if (marks[i].mark.time > most) most = marks[i].mark.time;
    }
    return most < WRAP && most - least > WRAP / 2;
}

/* Stamps behind a wrap as if the clock had more bits, and back. */
static void unwrap(dl_placed *marks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (marks[i].mark.time < WRAP / 2) marks[i].mark.time += WRAP;
}

static void wrap(dl_placed *marks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (marks[i].mark.time >= WRAP) marks[i].mark.time -= WRAP;
}

void dl_order_sort(const dl_kind *kinds, dl_placed *marks, size_t n)
{
    bool wrapped = n && wraps(marks, n);
    if (wrapped) unwrap(marks, n);
    if (n > 1 && !insertion_sort(kinds, marks, n)) heap_sort(kinds, marks, n);
    if (wrapped) wrap(marks, n);
}

void dl_order_marks(const dl_kind *kinds, dl_placed *marks, uint32_t n, bool whole)
{
    bool wrapped = wraps(marks, n);
    if (wrapped) unwrap(marks, n);
    if (n > 1 && !insertion_sort(kinds, marks, n)) heap_sort(kinds, marks, n);
    if (whole && marks[n - 1].mark.time - marks[0].mark.time >= DL_HALF_TORN)
        dl_order_repair(kinds, marks, n);
    if (wrapped) wrap(marks, n);
}

/* Whether a is before b, when the one that is first in the log is b. */
static inline bool passes(const dl_kind *kinds, const dl_mark *a, const dl_mark *b)
{
    return dl_order_is_later(b->time, a->time) || (a->time == b->time && rank(kinds, a) < rank(kinds, b));
}

bool dl_order_merge(const dl_kind *kinds, const dl_mark *marks, uint32_t n_front, uint32_t n, dl_mark *to,
                    uint32_t *places)
{
    uint32_t front[DL_MOST_FRONT], next = n_front, at = 0;
    for (uint32_t i = 0; i < n_front; i++) {
        uint32_t k = i;
        for (; k && passes(kinds, &marks[i], &marks[front[k - 1]]); k--)
            front[k] = front[k - 1];
        front[k] = i;
    }
    for (uint32_t i = 0; i < n_front; i++) {
        for (; next < n && passes(kinds, &marks[next], &marks[front[i]]); next++)
            to[at] = marks[next], places[at++] = next;
        to[at] = marks[front[i]], places[at++] = front[i];
    }
    for (; next < n; next++)
        to[at] = marks[next], places[at++] = next;
    return to[n - 1].time - to[0].time < DL_HALF_TORN;
}
