/* Regular device logs with odd rows in them. See runs.h. */
#include "support/runs.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "support/logs.h"

enum { MOST_ROWS = 16 * 1024, ZONES = 6, DEEP = 40 };

#define TORN (UINT64_C(1) << 32)
#define WRAP (UINT64_C(1) << 44)

typedef struct line {
    const char *before; /* a line above it */
    uint64_t time, data;
    unsigned chip, core, risc, zone, launch, trace, op;
    const char *type;
} line;

typedef struct log {
    line *rows;
    size_t n;
} log;

static const char *const riscs[] = {"BRISC", "NCRISC", "TRISC_1"};
static const char *const zones[][ZONES] = {
    {"BRISC-FW", "BRISC-KERNEL", "read", "wait", "DEVLOG-DROPPED", "seldom"},
    {"NCRISC-FW", "NCRISC-KERNEL", "write", "wait", "DEVLOG-DROPPED", "seldom"},
    {"TRISC-FW", "TRISC-KERNEL", "math", "pack", "DEVLOG-DROPPED", "seldom, at last"},
};
static const char start[] = "ZONE_START", end[] = "ZONE_END", total[] = "ZONE_TOTAL", event[] = "TS_EVENT",
                  value[] = "TS_DATA";

static void add(log *l, line row)
{
    if (l->n < MOST_ROWS) l->rows[l->n++] = row;
}

static void zone(log *l, line *row, unsigned number, const char *type, uint64_t time)
{
    row->zone = number;
    row->type = type;
    row->time = time;
    add(l, *row);
    row->op = 0;
}

/* What one RISC does in one launch: the default zones first, as tt-metal writes them, or as they happen. */
static void run(log *l, line row, bool by_time, unsigned program, uint64_t *seed)
{
    uint64_t at[24], t = row.time;
    unsigned n = 2 + program % 4, k = 0;
    for (unsigned i = 0; i < 2 * n + 5; i++)
        at[i] = t += 1 + test_random(seed) % 300;
    zone(l, &row, 0, start, at[k++]);
    if (!by_time) zone(l, &row, 0, end, at[2 * n + 4]);
    bool kernel = program % 7 != 5;
    if (kernel) zone(l, &row, 1, start, at[k++]);
    if (kernel && !by_time) zone(l, &row, 1, end, at[2 * n + 3]);
    for (unsigned i = 0; i < n; i++) {
        zone(l, &row, 2, start, at[k++]);
        if (program / 4 % 2) zone(l, &row, 3, start, at[k - 1] + test_random(seed) % 2);
        if (program / 4 % 2) zone(l, &row, 3, end, at[k]);
        zone(l, &row, 2, end, at[k++]);
    }
    static const char *const points[] = {event, total, value};
    row.data = program % 4 ? 0 : test_random(seed) % 1000;
    if (program % 3 == 0) zone(l, &row, 5, points[test_random(seed) % 3], at[k]);
    row.data = 0;
    if (kernel && by_time) zone(l, &row, 1, end, at[2 * n + 3]);
    if (by_time) zone(l, &row, 0, end, at[2 * n + 4]);
}

static void move_from(log *l, size_t at, uint64_t by)
{
    for (; at < l->n; at++)
        l->rows[at].time += by;
}

static void swap(line *a, line *b)
{
    line was = *a;
    *a = *b;
    *b = was;
}

/* Behind the run of a RISC a zone outside of its firmware in the same launch; between them the first mark of another RISC, whose
 * clock has stepped on so far that what it means hangs on the mark behind it. */
static void add_late_zone(log *l, size_t at, uint64_t some)
{
    while (at + 2 < l->n && l->rows[at].core == l->rows[at + 1].core &&
           l->rows[at].risc == l->rows[at + 1].risc)
        at++;
    if (at + 2 >= l->n || l->n + 2 > MOST_ROWS) return;
    line late = l->rows[at];
    memmove(&l->rows[at + 4], &l->rows[at + 2], (l->n - at - 2) * sizeof late);
    l->n += 2;
    l->rows[at + 1].time += TORN + (TORN >> 1);
    late.before = NULL;
    late.data = late.op = 0;
    late.zone = 3;
    late.time += 3000 + some;
    for (int i = 0; i < 2; i++, late.time += some) {
        late.type = i ? end : start;
        l->rows[at + 2 + i] = late;
    }
}

/* Something that is not regular, at a row. */
static void make_odd(log *l, size_t at, uint64_t *seed)
{
    static const char *const lines[] = {"\n", "not a row\n", "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n",
                                        "0,1,1\n"};
    line *row = &l->rows[at], *next = at + 1 < l->n ? row + 1 : row, copy = *row;
    unsigned some = (unsigned)(test_random(seed) % 1000);
    switch (test_random(seed) % 28) {
    case 0: row->time += TORN; break;
    case 1: row->time -= TORN; break;
    case 2: move_from(l, at, TORN + some); break;
    case 3: move_from(l, at, TORN - some); break;
    case 4: move_from(l, at, UINT64_C(1) << 40); break;
    case 5: move_from(l, at, -(uint64_t)some * 1000000); break;
    case 6: move_from(l, at, -WRAP); break;
    case 7: row->time = next->time; break;
    case 8: row->time = next->time + some; break;
    case 9: swap(row, next); break;
    case 10: swap(row, &l->rows[(at + some) % l->n]); break;
    case 11: row->launch += some % 3; break;
    case 12: row->trace = some % 3; break;
    case 13: row->data = some; break;
    case 14: row->type = row->type == start ? end : start; break;
    case 15: row->zone = some % ZONES; break;
    case 16:
        memmove(row, row + 1, (l->n - at - 1) * sizeof *row);
        l->n--;
        break;
    case 17: l->rows[l->n - 1] = copy; break;
    case 18:
        for (unsigned i = 0; i < some % DEEP && at + i < l->n; i++)
            l->rows[at + i].type = start;
        break;
    case 19:
        row->zone = 4;
        row->type = total;
        row->data = some % 2;
        break;
    case 20: row->before = lines[some % 4]; break;
    case 21: row->op = some; break;
    case 22:
        for (size_t i = at; i < at + 8; i++)
            move_from(l, i, UINT64_C(5) << 28);
        break;
    case 23: row->time = l->rows[(at + some % 12) % l->n].time; break;
    case 24: row->core = some % 4; break;
    case 25:
    case 26: add_late_zone(l, at, some); break;
    default: row->risc = some % 3; break;
    }
}

/* As programs run: the rows of all RISCs mixed. */
static int by_stamp(const void *a, const void *b)
{
    const line *x = a, *y = b;
    return x->time != y->time ? (x->time > y->time ? 1 : -1) : (x > y) - (x < y);
}

static void write_row(dl_str *out, const line *r, bool named)
{
    static const unsigned timers[ZONES][2] = {{1, 4}, {2, 3}, {5, 6}, {7, 8}, {9, 10}, {11, 12}};
    uint64_t time = r->time % WRAP;
    unsigned x = 1 + r->core % 2, y = 1 + r->core / 2, timer = timers[r->zone][r->type == end];
    if (r->before) dl_str_add(out, r->before);
    if (!named) {
        dl_str_fmt(out, "%u, %u, %u, %s, %u, %" PRIu64 "\n", r->chip, x, y, riscs[r->risc], timer, time);
        return;
    }
    dl_str_fmt(out, "%u,%u,%u,%s,%u,%" PRIu64 ",%" PRIu64 ",%u,", r->chip, x, y, riscs[r->risc], timer, time,
               r->data, r->launch);
    if (r->trace)
        dl_str_fmt(out, "%u,%u,", r->trace, r->launch);
    else
        dl_str_add(out, ",,");
    dl_str_fmt(out, "%s,%s,%u,/a/file.cc,", zones[r->risc][r->zone], r->type, 10 + r->zone);
    if (r->op) dl_str_fmt(out, "{\"op\":%u}", r->op);
    dl_str_add(out, "\n");
}

void test_runs(dl_str *out, unsigned launches, unsigned odd, uint64_t seed)
{
    const uint64_t seed_given = seed;
    log l = {.rows = calloc(MOST_ROWS, sizeof(line))};
    if (!l.rows) return;
    bool named = seed % 4 != 0, by_time = !named || seed % 3 == 0, ops = seed % 2;
    bool ids = seed % 5 != 0, by_core = seed % 7 == 0;
    uint64_t clock = seed % 11 == 0 ? WRAP - 100000 : UINT64_C(2170879416545);
    unsigned outer = by_core ? 5 : launches, inner = by_core ? launches : 5;
    for (unsigned i = 0; i < outer; i++) {
        for (unsigned k = 0; k < inner; k++) {
            unsigned launch = by_core ? k : i, core = by_core ? i : k;
            for (unsigned r = 0; r < 3; r++) {
                const line first = {.time = clock + launch * 20000 + test_random(&seed) % 100,
                                    .chip = core / 4,
                                    .core = core % 4,
                                    .risc = r,
                                    .launch = ids ? 1024 + launch : 0,
                                    .op = ops ? launch + 1 : 0};
                run(&l, first, by_time, r + 4 * (launch % 5 == 4), &seed);
            }
        }
    }
    if (seed_given % 6 == 5) qsort(l.rows, l.n, sizeof *l.rows, by_stamp);
    while (odd-- && l.n > 2)
        make_odd(&l, test_random(&seed) % (l.n - 1), &seed);
    dl_str_add(
        out, named ? "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"
                     "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], "
                     "data, run host ID, trace id, trace id counter, zone name, type, source line, "
                     "source file, meta data\n"
                   : "ARCH: grayskull, CHIP_FREQ[MHz]: 1202\n"
                     "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]\n");
    for (size_t i = 0; i < l.n; i++)
        write_row(out, &l.rows[i], named);
    free(l.rows);
}
