/* Rows of what the device did: launches in the order of their time, those of one op that follow one another
 * on a chip as one row. An op that launches, and lets others launch, and launches again has a row for each
 * time; so has each replay of a trace. A row's durations are the time in which its launches ran, so that what
 * rows add up to is what the device did. Not for which op a launch is of (stitch.c). */
#include <stdlib.h>
#include <string.h>

#include "ops/select_rows.h"
#include "ops/stitch_internal.h"

typedef struct placed {
    uint64_t start;
    uint32_t chip, boot, launch;
} placed;

static int by_time(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->chip != y->chip) return x->chip < y->chip ? -1 : 1;
    if (x->boot != y->boot) return x->boot < y->boot ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->launch < y->launch ? -1 : x->launch > y->launch;
}

static bool has_fw(const op_cycles *c)
{
    return c && c->fw_start != OP_NEVER && c->fw_end >= c->fw_start;
}

/* The launches that become rows, by chip and time. One whose firmware did not end stays where the log has it.
 */
static placed *place_launches(const join *j, dl_big *big, size_t *n)
{
    op_stitch *s = j->s;
    const dl_launches *launches = dl_decode_launches(s->decode);
    placed *all = dl_big_room(big, (launches->count + (size_t)1) * sizeof *all) ? big->data : NULL;
    struct {
        uint64_t start, number, run;
        uint32_t boot;
        bool any;
    } last[DL_MAX_CHIPS] = {{0}};
    bool sorted = true;
    *n = 0;
    for (uint32_t i = 0; all && i < launches->count; i++) {
        op_stitch_passed(s, i);
        if (j->op_of[i] == OTHER_RUN) continue;
        uint32_t chip = launches->items[i].chip;
        const op_cycles *c = op_device_launch(s->cycles, i);
        /* What no op log tells of: a launch of another run, or with a higher number that begins earlier, is of another program,
         * whose device was started anew (docs/op-reports.md, "Several programs, several opens"). */
        const dl_launch *l = &launches->items[i];
        const bool other_run = last[chip].any && l->run != last[chip].run;
        bool later =
            l->has_ids && l->trace_id == DL_NO_ID && (other_run || l->run_host_id > last[chip].number);
        const bool back = has_fw(c) && later && c->fw_start < last[chip].start;
        const bool told = s->device && j->known[i];
        if ((!s->device && other_run) || (!told && back)) last[chip].boot++;
        if (later) last[chip].number = l->run_host_id;
        last[chip].run = l->run;
        last[chip].any = true;
        if (has_fw(c)) last[chip].start = c->fw_start;
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): what is known is known by it */
        if (j->known[i] && s->device->launches[j->known[i] - 1].boot)
            last[chip].boot = s->device->launches[j->known[i] - 1].boot;
        all[*n] = (placed){last[chip].start, chip, last[chip].boot, i};
        sorted &= *n == 0 || by_time(&all[*n - 1], &all[*n]) <= 0;
        ++*n;
    }
    if (all && !sorted) qsort(all, *n, sizeof *all, by_time);
    return all;
}

/* ---- What is twice in the log --- */

static bool same_ids(const dl_launch *x, const dl_launch *y)
{
    return x->run == y->run && x->run_id == y->run_id && x->run_host_id == y->run_host_id &&
           x->trace_id == y->trace_id && x->trace_counter == y->trace_counter;
}

/* Counters do not go back: two launches of a chip with the same ids that begin in the same cycle are one,
 * whose rows somebody has appended to the log once more. The more complete of them is kept. */
static size_t drop_copies(const join *j, placed *all, size_t n)
{
    op_stitch *s = j->s;
    const dl_launches *launches = dl_decode_launches(s->decode);
    size_t kept = 0, first = 0; /* first: of those kept with this start */
    for (size_t i = 0; i < n; i++) {
        op_stitch_passed(s, i);
        const placed here = all[i];
        if (kept == 0 || all[kept - 1].chip != here.chip || all[kept - 1].boot != here.boot ||
            all[kept - 1].start != here.start)
            first = kept;
        const op_cycles *c = kept > first ? op_device_launch(s->cycles, here.launch) : NULL;
        size_t twin = first;
        while (has_fw(c) && twin < kept &&
               !same_ids(&launches->items[all[twin].launch], &launches->items[here.launch]))
            twin++;
        if (!has_fw(c) || twin == kept) {
            all[kept++] = here;
            continue;
        }
        s->launches_twice++;
        const op_cycles *other = op_device_launch(s->cycles, all[twin].launch);
        if (!other || other->zones < c->zones) all[twin].launch = here.launch;
    }
    return kept;
}

/* ---- Several launches as one row --- */

typedef struct span {
    uint64_t start, end;
} span;

static int by_start(const void *a, const void *b)
{
    const span *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Cycles between the first start and the last end in which none of the spans was. */
static uint64_t idle_between(span *spans, uint32_t n)
{
    uint64_t idle = 0;
    qsort(spans, n, sizeof *spans, by_start);
    for (uint32_t i = 1; i < n; i++) {
        if (spans[i].start > spans[i - 1].end) idle += spans[i].start - spans[i - 1].end;
        if (spans[i].end < spans[i - 1].end) spans[i].end = spans[i - 1].end;
    }
    return idle;
}

enum { OF_FW, OF_KERNEL, OF_DM, OF_RISC, SPANS = OF_RISC + OP_RISCS };

static span span_of(const op_cycles *c, int what)
{
    switch (what) {
    case OF_FW: return (span){c->fw_start, c->fw_end};
    case OF_KERNEL: return (span){c->kernel_start, c->kernel_end};
    case OF_DM: return (span){c->dm_start, c->kernel_end};
    default: return (span){c->risc_start[what - OF_RISC], c->risc_end[what - OF_RISC]};
    }
}

static op_merged *new_merged(op_stitch *s)
{
    if (s->n_merged == s->cap_merged) {
        size_t cap = s->cap_merged ? s->cap_merged * 2 : 16;
        op_merged *grown = realloc(s->merged, cap * sizeof *grown);
        if (!grown) return NULL;
        s->merged = grown;
        s->cap_merged = cap;
    }
    return &s->merged[s->n_merged++];
}

static bool merge(op_stitch *s, op_row *row, const placed *launches, uint32_t n)
{
    op_merged *all = new_merged(s);
    span *spans = all ? malloc(n * sizeof *spans) : NULL;
    if (!spans) return false;
    row->merged = (uint32_t)s->n_merged;
    *all = (op_merged){.fw_idle = 0};
    op_cycles_none(&all->cycles);
    for (uint32_t i = 0; i < n; i++) {
        const op_cycles *c = op_device_launch(s->cycles, launches[i].launch);
        if (!c) continue;
        op_cycles_add(&all->cycles, c);
        if (c->kernel_start != OP_NEVER && c->kernel_last_start >= c->kernel_start)
            all->first_to_last += c->kernel_last_start - c->kernel_start;
    }
    uint64_t idle[SPANS];
    for (int what = 0; what < SPANS; what++) {
        uint32_t n_spans = 0;
        for (uint32_t i = 0; i < n; i++) {
            const op_cycles *c = op_device_launch(s->cycles, launches[i].launch);
            span x = c ? span_of(c, what) : (span){OP_NEVER, 0};
            if (x.start != OP_NEVER && x.end >= x.start) spans[n_spans++] = x;
        }
        idle[what] = idle_between(spans, n_spans);
    }
    free(spans);
    all->fw_idle = row->idle = idle[OF_FW];
    all->kernel_idle = idle[OF_KERNEL];
    all->dm_idle = idle[OF_DM];
    memcpy(all->risc_idle, idle + OF_RISC, sizeof all->risc_idle);
    return true;
}

/* ---- Rows --- */

/* The cores of a launch in the op log against those in the device log. */
static void compare_cores(const join *j, op_row *row, uint32_t launch, const op_cycles *c)
{
    op_stitch *s = j->s;
    const op_launch *known = j->known[launch] ? &s->device->launches[j->known[launch] - 1] : NULL;
    if (!known || !known->cores || known->cores == (c ? c->cores : 0)) return;
    row->notes |= OP_NOTE_CORES_DIFFER;
    s->launches_with_other_cores++;
}

/* What the chip is busy with until when, launch by launch in order of time. */
typedef struct busy {
    uint64_t until;
    uint32_t chip, boot;
    bool any;
} busy;

/* Cycles of a launch in which the chip was not busy before. */
static uint64_t cover(busy *b, const placed *p, const op_cycles *c)
{
    if (!b->any || b->chip != p->chip || b->boot != p->boot)
        *b = (busy){.chip = p->chip, .boot = p->boot, .any = true};
    uint64_t from = c->fw_start > b->until ? c->fw_start : b->until;
    if (c->fw_end <= from) return 0;
    b->until = c->fw_end;
    return c->fw_end - from;
}

static bool add_row(join *j, busy *b, const placed *p, uint32_t n)
{
    op_stitch *s = j->s;
    op_row *row = op_stitch_new_row(s);
    if (!row) return false;
    uint32_t op = j->op_of[p->launch];
    *row = (op_row){.op = DL_NONE,
                    .device_op = op == UNKNOWN_OP ? DL_NONE : op,
                    .chip = p->chip,
                    .boot = p->boot,
                    .launch = p->launch,
                    .n_launches = n,
                    .order = row->order};
    if (row->device_op != DL_NONE) {
        row->op = j->map ? j->map[op] : op;
        row->id = s->host->ops[row->op].id;
        if (op_stitch_missing(j, op, false)) row->notes |= OP_NOTE_PARTLY;
    } else {
        row->notes |= op == UNKNOWN_OP ? OP_NOTE_UNKNOWN_OP : OP_NOTE_NO_OP;
    }
    if (n > 1 && !merge(s, row, p, n)) return false;
    uint64_t covered = 0;
    for (uint32_t i = 0; i < n; i++) {
        const op_cycles *c = op_device_launch(s->cycles, p[i].launch);
        if (has_fw(c)) covered += cover(b, p, c);
        compare_cores(j, row, p[i].launch, c);
    }
    const op_cycles *c = op_stitch_cycles(s, row);
    if (!c) return true;
    if (row->chip != DL_NONE && dl_decode_tables(s->decode)->chips[row->chip].instructions)
        row->notes |= OP_NOTE_INSTRUCTIONS;
    if (c->cores_twice) row->notes |= OP_NOTE_CORES_TWICE;
    if (has_fw(c)) row->overlap = c->fw_end - c->fw_start - row->idle - covered;
    if (row->overlap) row->notes |= OP_NOTE_BESIDE;
    return true;
}

/* Whether a launch goes on with the row of the one before it. */
static bool goes_on(const join *j, const placed *before, const placed *p)
{
    const dl_launch *x = &dl_decode_launches(j->s->decode)->items[before->launch];
    const dl_launch *y = &dl_decode_launches(j->s->decode)->items[p->launch];
    const dl_filter *apart = j->s->apart;
    uint32_t op = j->op_of[p->launch];
    if (apart && op_select_launch(j->s, apart, before->launch) != op_select_launch(j->s, apart, p->launch))
        return false;
    return op != DL_NONE && op != UNKNOWN_OP && op == j->op_of[before->launch] && before->chip == p->chip &&
           before->boot == p->boot && x->trace_id == y->trace_id && x->trace_counter == y->trace_counter;
}

bool op_stitch_device_rows(join *j)
{
    size_t n;
    dl_big big = {.folder = j->s->big_rows.folder};
    placed *all = place_launches(j, &big, &n);
    bool good = all != NULL;
    busy b = {0};
    if (good) n = drop_copies(j, all, n);
    for (size_t at = 0, next; at < n && good; at = next) {
        next = at + 1;
        while (next < n && goes_on(j, &all[next - 1], &all[next]))
            next++;
        good = add_row(j, &b, &all[at], (uint32_t)(next - at));
        op_stitch_passed(j->s, j->s->n_rows);
    }
    dl_big_free(&big);
    return good;
}
