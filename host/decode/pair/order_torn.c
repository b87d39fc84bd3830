/* Torn stamps: a clock of 64 bits that was read in two halves while the upper one changed is 2^32 off. Such a
 * stamp is repaired only where it must be one: the marks of a launch, in the order of their stamps, contradict
 * each other, and exactly one stamp explains that. Not for stamps that only the launches around them
 * contradict (pair_clock.c). */
#include <string.h>

#include "decode/pair/order.h"

#define TORN (UINT64_C(1) << 32)
/* A torn read happens within so many cycles of a change of the upper half: decides between explanations. */
#define NEAR (UINT32_C(1) << 20)

enum { MOST_OPEN = 256, MOST_SUSPECTS = 16, MOST_STEPS = 4 * 1024 * 1024 };

/* What is wrong with a series. */
typedef struct look {
    uint32_t contradictions;
    uint32_t n_suspects;
    size_t suspects[MOST_SUSPECTS]; /* places of marks that may be the cause */
} look;

static void suspect(look *l, size_t at)
{
    for (uint32_t i = 0; i < l->n_suspects; i++)
        if (l->suspects[i] == at) return;
    if (l->n_suspects < MOST_SUSPECTS) l->suspects[l->n_suspects++] = at;
}

static bool is_fw_start(const dl_placed *mark)
{
    return mark->mark.code & DL_MARK_FW_START;
}

static const dl_kind *kind_of(const dl_kind *kinds, const dl_placed *mark)
{
    return &kinds[dl_mark_kind(mark->mark.code)];
}

static void look_at(const dl_kind *kinds, const dl_placed *marks, size_t n, bool has_fw, look *l)
{
    size_t open[MOST_OPEN], n_open = 0, fw_edge = 0;
    bool in_fw = false;
    *l = (look){0};
    for (size_t i = 0; i < n; i++) {
        const dl_kind *kind = kind_of(kinds, &marks[i]);
        if (kind->type > DL_ROW_ZONE_END) continue;
        bool fw = kind->role == DL_ROLE_FW;
        if (has_fw && !in_fw && !is_fw_start(&marks[i])) {
            l->contradictions++; /* outside of its launch */
            suspect(l, i);
            suspect(l, fw_edge);
        }
        if (kind->type == DL_ROW_ZONE_START) {
            if (n_open == MOST_OPEN) {
                l->contradictions = UINT32_MAX;
                return;
            }
            if (fw && n_open) {
                l->contradictions++;
                suspect(l, i);
                suspect(l, open[n_open - 1]);
            }
            if (fw) in_fw = true, fw_edge = i;
            open[n_open++] = i;
            continue;
        }
        size_t at = n_open;
        while (at && kind_of(kinds, &marks[open[at - 1]])->site != kind->site)
            at--;
        if (at == 0 || at < n_open) {
            l->contradictions++;
            suspect(l, i);
            if (n_open) suspect(l, open[n_open - 1]);
            if (at) suspect(l, open[at - 1]);
        }
        if (at) {
            memmove(&open[at - 1], &open[at], (n_open - at) * sizeof *open);
            n_open--;
        }
        if (fw) in_fw = false, fw_edge = i;
    }
    for (size_t i = 0; i < n_open; i++) {
        l->contradictions++;
        suspect(l, open[i]);
    }
}

/* Moves the mark at `from` to where its new stamp belongs; returns that place. */
static size_t move(const dl_kind *kinds, dl_placed *marks, size_t n, size_t from, uint64_t time)
{
    dl_placed mark = marks[from];
    size_t at = from;
    mark.mark.time = time;
    for (; at && dl_order_before(kinds, &mark, &marks[at - 1]); at--)
        marks[at] = marks[at - 1];
    for (; at + 1 < n && dl_order_before(kinds, &marks[at + 1], &mark); at++)
        marks[at] = marks[at + 1];
    marks[at] = mark;
    return at;
}

/* Undoes a move. */
static void move_back(dl_placed *marks, size_t from, size_t to, uint64_t time)
{
    dl_placed mark = marks[from];
    mark.mark.time = time;
    if (from < to)
        memmove(&marks[from], &marks[from + 1], (to - from) * sizeof mark);
    else
        memmove(&marks[to + 1], &marks[to], (from - to) * sizeof mark);
    marks[to] = mark;
}

/* Whether this stamp, which is to be moved up or down by 2^32, was read near a change of the upper half. */
static bool is_near(uint64_t time, bool up)
{
    uint32_t low = (uint32_t)time;
    return up ? low < NEAR : low >= UINT32_MAX - NEAR;
}

void dl_order_repair(const dl_kind *kinds, dl_placed *marks, size_t n)
{
    look found, then;
    bool has_fw = false;
    for (size_t i = 0; i < n && !has_fw; i++)
        has_fw = is_fw_start(&marks[i]);
    look_at(kinds, marks, n, has_fw, &found);
    if (found.contradictions == 0) return;
    const uint64_t span = marks[n - 1].mark.time - marks[0].mark.time;
    uint32_t n_good = 0, n_near = 0, most = MOST_STEPS / (uint32_t)n;
    size_t good = 0, near = 0;
    bool good_up = false, near_up = false;
    for (uint32_t i = 0; i < found.n_suspects && i <= most; i++) {
        for (int up = 0; up < 2; up++) {
            size_t from = found.suspects[i];
            uint64_t was = marks[from].mark.time;
            if (!up && was < TORN) continue;
            size_t at = move(kinds, marks, n, from, up ? was + TORN : was - TORN);
            look_at(kinds, marks, n, has_fw, &then);
            bool explains = then.contradictions == 0 && marks[n - 1].mark.time - marks[0].mark.time <= span;
            move_back(marks, at, from, was);
            if (!explains) continue;
            n_good++;
            good = from;
            good_up = up;
            if (!is_near(was, up)) continue;
            n_near++;
            near = from;
            near_up = up;
        }
    }
    if (n_good > 1 && n_near == 1) {
        good = near;
        good_up = near_up;
    } else if (n_good != 1) {
        return; /* not for certain */
    }
    uint64_t time = good_up ? marks[good].mark.time + TORN : marks[good].mark.time - TORN;
    marks[move(kinds, marks, n, good, time)].torn = true;
}
