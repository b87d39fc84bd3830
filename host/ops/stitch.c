/* Stitching: the ops of the host beside what the device did for them. Not for the time between ops
 * (latency.c). */
#include "ops/stitch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/same_ops.h"

void op_stitch_passed(op_stitch *s, size_t number)
{
    if (number % OP_LOG_PASSED) return;
    dl_big_cool(&s->big_rows);
    if (s->host) op_log_cool(s->host);
    if (s->device && s->device != s->host) op_log_cool(s->device);
    if (s->decode) dl_decode_cool(s->decode);
    if (s->cycles) op_device_cool(s->cycles);
}

/* ---- Launches that the op log knows, by chip and number --- */

typedef struct known_launch {
    uint64_t key;    /* chip << 32 | launch */
    uint32_t number; /* in device->launches */
} known_launch;

static int by_key(const void *a, const void *b)
{
    const known_launch *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static uint64_t key_of(const op_launch *l)
{
    return (uint64_t)l->chip << 32 | l->launch;
}

/* NULL, and *good, when they stand in the log in the order of their keys. */
static known_launch *index_launches(const op_log *log, bool *good)
{
    size_t ordered = 1;
    *good = true;
    while (ordered < log->n_launches &&
           key_of(&log->launches[ordered - 1]) <= key_of(&log->launches[ordered]))
        ordered++;
    if (ordered >= log->n_launches) return NULL;
    known_launch *index = malloc((log->n_launches + 1) * sizeof *index);
    *good = index != NULL;
    for (size_t i = 0; index && i < log->n_launches; i++)
        index[i] = (known_launch){key_of(&log->launches[i]), (uint32_t)i};
    if (index) qsort(index, log->n_launches, sizeof *index, by_key);
    return index;
}

static int compare_key(const void *key, const void *launch)
{
    uint64_t x = *(const uint64_t *)key, y = key_of(launch);
    return x < y ? -1 : x > y;
}

static const op_launch *find_launch(const op_log *log, const known_launch *index, uint32_t chip,
                                    uint64_t launch)
{
    if (launch > UINT32_MAX || log->n_launches == 0) return NULL;
    const known_launch key = {(uint64_t)chip << 32 | launch, 0};
    /* Launches are numbered in order. */
    uint64_t guess = key.key - (index ? index[0].key : key_of(&log->launches[0]));
    if (!index) {
        if (guess < log->n_launches && key_of(&log->launches[guess]) == key.key) return &log->launches[guess];
        return bsearch(&key.key, log->launches, log->n_launches, sizeof *log->launches, compare_key);
    }
    if (guess < log->n_launches && index[guess].key == key.key) return &log->launches[index[guess].number];
    const known_launch *found = bsearch(&key, index, log->n_launches, sizeof *index, by_key);
    return found ? &log->launches[found->number] : NULL;
}

/* ---- Which op each launch is of --- */

typedef struct join {
    op_stitch *s;
    uint32_t *op_of; /* by launch of the decoder: number of the op in device->ops, DL_NONE, or OTHER_RUN */
    const uint32_t *map; /* from device->ops to host->ops; NULL: the same */
    known_launch *index; /* NULL: the op log's launches are in order */
    dl_big big_op_of, big_found;
    uint32_t *found; /* by op of the device's run: launches with device data */
} join;

/* In join.op_of, besides DL_NONE. */
#define OTHER_RUN  (DL_NONE - 1)
#define UNKNOWN_OP (DL_NONE - 2)

static uint32_t op_number(const op_log *log, uint32_t id)
{
    const op_entry *op = op_log_find(log, id);
    return op ? (uint32_t)(op - log->ops) : DL_NONE;
}

static void join_launch(join *j, uint32_t number)
{
    op_stitch *s = j->s;
    const dl_launch *l = &dl_decode_launches(s->decode)->items[number];
    j->op_of[number] = DL_NONE;
    s->launches++;
    if (!s->device) {
        s->launches_without_op++;
        return;
    }
    if (l->run && s->device->run && l->run != s->device->run) {
        j->op_of[number] = OTHER_RUN;
        s->launches_of_other_runs++;
        s->other_run = l->run;
        return;
    }
    uint32_t chip = dl_decode_tables(s->decode)->chips[l->chip].id;
    const op_launch *known = l->has_ids ? find_launch(s->device, j->index, chip, l->run_host_id) : NULL;
    uint32_t id = l->op;
    if (known && id && known->op != id) s->contradictions++;
    if (id == 0 && known) id = known->op;
    if (id == 0) {
        s->launches_without_op++;
        s->launches_without_ids += !l->has_ids;
        return;
    }
    uint32_t op = op_number(s->device, id);
    if (op == DL_NONE) {
        j->op_of[number] = UNKNOWN_OP;
        s->launches_of_unknown_ops++;
        return;
    }
    j->op_of[number] = op;
    j->found[op]++;
    s->launches_stitched++;
}

/* ---- Rows --- */

typedef struct placed {
    uint32_t op, chip, launch; /* op: in device->ops; DL_NONE sorts last */
} placed;

static int by_place(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->op != y->op) return x->op < y->op ? -1 : 1;
    if (x->chip != y->chip) return x->chip < y->chip ? -1 : 1;
    return x->launch < y->launch ? -1 : x->launch > y->launch;
}

/* The launches that become rows, by op, chip and number. */
static placed *place_launches(const join *j, dl_big *big, size_t *n)
{
    op_stitch *s = j->s;
    const dl_launches *launches = dl_decode_launches(s->decode);
    placed *all = dl_big_room(big, (launches->count + (size_t)1) * sizeof *all) ? big->data : NULL;
    bool sorted = true;
    *n = 0;
    for (uint32_t i = 0; all && i < launches->count; i++) {
        op_stitch_passed(s, i);
        uint32_t op = j->op_of[i];
        if (op == OTHER_RUN) continue;
        all[*n] = (placed){op == UNKNOWN_OP ? DL_NONE : op, launches->items[i].chip, i};
        sorted &= *n == 0 || by_place(&all[*n - 1], &all[*n]) <= 0;
        ++*n;
    }
    if (all && !sorted) qsort(all, *n, sizeof *all, by_place);
    return all;
}

typedef struct span {
    uint64_t start, end;
} span;

static int by_start(const void *a, const void *b)
{
    const span *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Cycles between the first start and the last end in which no launch ran. */
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

static bool merge(op_stitch *s, op_row *row, const placed *launches, uint32_t n)
{
    if (s->n_merged == s->cap_merged) {
        size_t cap = s->cap_merged ? s->cap_merged * 2 : 16;
        op_cycles *grown = realloc(s->merged, cap * sizeof *grown);
        if (!grown) return false;
        s->merged = grown;
        s->cap_merged = cap;
    }
    span *spans = malloc(n * sizeof *spans);
    if (!spans) return false;
    uint32_t n_spans = 0;
    op_cycles *all = &s->merged[s->n_merged++];
    row->merged = (uint32_t)s->n_merged;
    op_cycles_none(all);
    for (uint32_t i = 0; i < n; i++) {
        const op_cycles *c = op_device_launch(s->cycles, launches[i].launch);
        if (!c) continue;
        if (c->fw_start != OP_NEVER) spans[n_spans++] = (span){c->fw_start, c->fw_end};
        op_cycles_add(all, c);
    }
    row->idle = idle_between(spans, n_spans);
    free(spans);
    return true;
}

/* The cores of its launches in the op log against those in the device log. */
static void compare_cores(const op_stitch *s, const join *j, op_row *row, const op_cycles *c)
{
    if (row->n_launches != 1 || !s->device || row->device_op == DL_NONE) return;
    const dl_launch *l = &dl_decode_launches(s->decode)->items[row->launch];
    uint32_t chip = dl_decode_tables(s->decode)->chips[l->chip].id;
    const op_launch *known = find_launch(s->device, j->index, chip, l->run_host_id);
    if (known && known->cores && known->cores != c->cores) row->notes |= OP_NOTE_CORES_DIFFER;
}

static uint32_t launches_of(const op_log *log, const op_entry *op)
{
    uint32_t n = 0;
    for (uint32_t at = op->launch; at; at = log->launches[at - 1].next)
        n++;
    return n;
}

/* Whether the device that an op launched on was profiled, as the log says; true when it does not say. */
static bool was_profiled(const op_log *log, const op_entry *op)
{
    if (!op->launch) return false;
    uint32_t chip = log->launches[op->launch - 1].chip;
    for (size_t i = 0; i < log->n_chips; i++)
        if (log->chips[i].chip == chip) return log->chips[i].profiled;
    return true;
}

static op_row *new_row(op_stitch *s)
{
    if (!dl_big_room(&s->big_rows, (s->n_rows + 1) * sizeof *s->rows)) return NULL;
    s->rows = s->big_rows.data;
    return &s->rows[s->n_rows++];
}

/* Rows of the launches placed[at .. at + n), all of one op and chip. */
static bool add_row(op_stitch *s, const join *j, const placed *p, uint32_t n)
{
    op_row *row = new_row(s);
    if (!row) return false;
    *row = (op_row){.op = DL_NONE, .device_op = p->op, .chip = p->chip, .launch = p->launch, .n_launches = n};
    if (p->op != DL_NONE) {
        row->op = j->map ? j->map[p->op] : p->op;
        row->id = s->host->ops[row->op].id;
        if (j->found[p->op] < launches_of(s->device, &s->device->ops[p->op])) row->notes |= OP_NOTE_PARTLY;
    } else {
        row->notes |= j->op_of[p->launch] == UNKNOWN_OP ? OP_NOTE_UNKNOWN_OP : OP_NOTE_NO_OP;
    }
    if (n > 1 && !merge(s, row, p, n)) return false;
    const op_cycles *c = op_stitch_cycles(s, row);
    if (!c) return true;
    if (c->cores_twice) row->notes |= OP_NOTE_CORES_TWICE;
    compare_cores(s, j, row, c);
    return true;
}

static bool device_rows(op_stitch *s, const join *j)
{
    size_t n;
    dl_big big = {.folder = s->big_rows.folder};
    placed *all = place_launches(j, &big, &n);
    bool good = all != NULL;
    for (size_t at = 0, next; at < n && good; at = next) {
        next = at + 1;
        if (all[at].op != DL_NONE)
            while (next < n && all[next].op == all[at].op && all[next].chip == all[at].chip)
                next++;
        good = add_row(s, j, &all[at], (uint32_t)(next - at));
        op_stitch_passed(s, s->n_rows);
    }
    dl_big_free(&big);
    return good;
}

static int by_row(const void *a, const void *b)
{
    const op_row *x = a, *y = b;
    if ((x->op == DL_NONE) != (y->op == DL_NONE)) return x->op == DL_NONE ? 1 : -1;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    if (x->op != y->op) return x->op < y->op ? -1 : 1; /* ops with the same id: as they came */
    if (x->chip != y->chip) return x->chip < y->chip ? -1 : 1;
    return x->launch < y->launch ? -1 : x->launch > y->launch;
}

/* Ops that have no row yet. */
static bool host_rows(op_stitch *s, const join *j)
{
    uint8_t *has_row = calloc(s->host->n_ops + 1, 1);
    if (!has_row) return false;
    for (size_t i = 0; i < s->n_rows; i++) {
        op_stitch_passed(s, i);
        if (s->rows[i].op != DL_NONE) has_row[s->rows[i].op] = 1;
    }
    uint32_t *back = NULL; /* from host->ops to device->ops */
    if (j->map) {
        back = calloc(s->host->n_ops + 1, sizeof *back);
        if (!back) {
            free(has_row);
            return false;
        }
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the map is from the device's run */
        for (size_t i = 0; i < s->device->n_ops; i++)
            back[j->map[i]] = (uint32_t)i;
    }
    bool good = true;
    for (size_t i = 0; i < s->host->n_ops; i++) {
        op_stitch_passed(s, i);
        if (has_row[i]) continue;
        uint32_t device_op = back ? back[i] : (uint32_t)i;
        const op_entry *there = &s->device->ops[device_op];
        op_row *row = new_row(s);
        good = row != NULL;
        if (!good) break;
        *row = (op_row){.op = (uint32_t)i, .device_op = device_op, .id = s->host->ops[i].id, .chip = DL_NONE};
        row->launch = DL_NONE;
        if (!there->launch || !was_profiled(s->device, there)) continue;
        row->notes = OP_NOTE_NO_DEVICE;
        s->ops_without_device++;
    }
    free(back);
    free(has_row);
    return good;
}

/* ---- All of it --- */

static void count_missing(op_stitch *s, const join *j)
{
    for (size_t i = 0; s->device && i < s->device->n_ops; i++) {
        op_stitch_passed(s, i);
        const op_entry *op = &s->device->ops[i];
        if (!was_profiled(s->device, op)) continue;
        uint32_t asked = launches_of(s->device, op);
        if (j->found[i] < asked) s->launches_missing += asked - j->found[i];
    }
}

/* A number for each of n things, all 0. */
static uint32_t *zeros(dl_big *big, size_t n)
{
    if (!dl_big_room(big, n * sizeof(uint32_t))) return NULL;
    if (!big->file) memset(big->data, 0, n * sizeof(uint32_t)); /* a new file is all zeros */
    return big->data;
}

devlog_status op_stitch_make(op_stitch *out, op_log *host, op_log *device, dl_decode *decode,
                             op_device *cycles, const char *scratch, devlog_error *err)
{
    op_stitch *s = out;
    *s = (op_stitch){.host = host,
                     .device = device ? device : host,
                     .decode = decode,
                     .cycles = cycles,
                     .big_rows = {.folder = scratch}};
    uint32_t n_launches = decode ? dl_decode_launches(decode)->count : 0;
    uint32_t *map = NULL;
    join j = {.s = s, .big_op_of = {.folder = scratch}, .big_found = {.folder = scratch}};
    bool indexed = true;
    devlog_status status = DEVLOG_OK;
    if (device && host && device != host) {
        status = same_ops(host, device, &map, s->difference, sizeof s->difference, err);
        if (status) return status;
        s->runs_differ = map == NULL;
        if (s->runs_differ) s->host = device;
    }
    if (!s->host) s->host = s->device;
    status = dl_fail(err, DEVLOG_ERR_MEMORY, "no memory to stitch %u launches", n_launches);
    j.map = map;
    j.op_of = zeros(&j.big_op_of, (size_t)n_launches + 1);
    j.found = zeros(&j.big_found, s->device ? s->device->n_ops + 1 : 1);
    if (s->device) j.index = index_launches(s->device, &indexed);
    if (!j.op_of || !j.found || !indexed) goto done;
    for (uint32_t i = 0; i < n_launches; i++) {
        op_stitch_passed(s, i);
        join_launch(&j, i);
    }
    if (decode && !device_rows(s, &j)) goto done;
    if (s->host && !host_rows(s, &j)) goto done;
    count_missing(s, &j);
    bool sorted = true;
    for (size_t i = 1; i < s->n_rows && sorted; i++) {
        op_stitch_passed(s, i);
        sorted = by_row(&s->rows[i - 1], &s->rows[i]) <= 0;
    }
    if (!sorted) qsort(s->rows, s->n_rows, sizeof *s->rows, by_row);
    if (!op_stitch_latencies(s)) goto done;
    status = DEVLOG_OK;
done:
    free(map);
    dl_big_free(&j.big_op_of);
    dl_big_free(&j.big_found);
    free(j.index);
    if (status) op_stitch_free(s);
    return status;
}

void op_stitch_free(op_stitch *s)
{
    dl_big_free(&s->big_rows);
    free(s->merged);
    s->rows = NULL;
    s->merged = NULL;
    s->n_rows = s->n_merged = s->cap_merged = 0;
}

const op_cycles *op_stitch_cycles(const op_stitch *s, const op_row *row)
{
    if (row->chip == DL_NONE || !s->cycles) return NULL;
    if (row->merged) return &s->merged[row->merged - 1];
    return op_device_launch(s->cycles, row->launch);
}

bool op_stitch_lost(const op_stitch *s)
{
    return s->launches_of_other_runs || s->launches_of_unknown_ops || s->launches_missing || s->runs_differ;
}
