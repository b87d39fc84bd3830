/* Stitching: the ops of the host beside what the device did for them. Not for the time between ops
 * (latency.c), and not for what a row is made of (op_rows.c). */
#include "ops/stitch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/same_ops.h"
#include "ops/stitch_internal.h"

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

/* The first place whose key is not less; of the index, or of the launches where they are in order. */
static size_t first_with(const op_log *log, const known_launch *index, uint64_t key)
{
    size_t from = 0, to = log->n_launches;
    /* Launches are numbered in order. */
    uint64_t guess = key - (index ? index[0].key : key_of(&log->launches[0]));
    if (guess < to) {
        uint64_t here = index ? index[guess].key : key_of(&log->launches[guess]);
        uint64_t before = !guess ? 0 : index ? index[guess - 1].key : key_of(&log->launches[guess - 1]);
        if (here == key && (!guess || before != key)) return guess;
    }
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if ((index ? index[middle].key : key_of(&log->launches[middle])) < key)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* The launch of the op log with this number, as number + 1; where several have it (logs of several programs
 * by other writers), that of the op, else one that has not been found yet. 0: there is none. */
static uint32_t find_launch(const join *j, uint32_t chip, uint64_t launch, uint32_t op)
{
    const op_log *log = j->s->device;
    if (launch > UINT32_MAX || log->n_launches == 0) return 0;
    const uint64_t key = (uint64_t)chip << 32 | launch;
    uint32_t best = 0;
    for (size_t at = first_with(log, j->index, key); at < log->n_launches; at++) {
        uint32_t number = j->index ? j->index[at].number : (uint32_t)at;
        const op_launch *l = &log->launches[number];
        if (key_of(l) != key) break;
        bool better = !best || (j->found[best - 1] && !j->found[number]);
        if (op && l->op == op && (!j->found[number] || !best || log->launches[best - 1].op != op))
            better = true;
        else if (op && best && log->launches[best - 1].op == op)
            better = false;
        if (better) best = number + 1;
    }
    return best;
}

/* ---- Which op each launch is of --- */

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
    uint32_t at = l->has_ids ? find_launch(j, chip, l->run_host_id, l->op) : 0;
    const op_launch *known = at ? &s->device->launches[at - 1] : NULL;
    uint32_t id = l->op;
    if (known && id && known->op != id) {
        s->contradictions++;
        j->unnumbered += !known->op;
    }
    if (known && (!id || known->op == id)) {
        j->known[number] = at;
        j->found[at - 1] = 1;
    }
    if (id == 0 && known) id = known->op;
    if (id == 0) {
        j->unnumbered += !known;
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
    if (!j->known[number]) j->extra[op]++;
    s->launches_stitched++;
}

/* ---- Rows --- */

/* A periodic capture has the launches from one to another. */
static bool find_recorded(join *j)
{
    const op_stitch *s = j->s;
    const dl_launches *all = dl_decode_launches(s->decode);
    const uint32_t n = dl_decode_tables(s->decode)->n_chips;
    j->recorded = calloc(n + 1, sizeof *j->recorded);
    for (uint32_t i = 0; i < n && j->recorded; i++)
        j->recorded[i] = (struct recorded){UINT64_MAX, 0};
    for (uint32_t i = 0; i < all->count && j->recorded; i++) {
        const dl_launch *l = &all->items[i];
        struct recorded *r = &j->recorded[l->chip];
        op_stitch_passed(j->s, i);
        if (!l->has_ids || j->op_of[i] == OTHER_RUN) continue;
        if (l->run_host_id < r->first) r->first = l->run_host_id;
        if (l->run_host_id > r->last) r->last = l->run_host_id;
    }
    return j->recorded != NULL;
}

static bool was_recorded(const join *j, const op_launch *launch)
{
    const dl_tables *t = j->recorded ? dl_decode_tables(j->s->decode) : NULL;
    for (uint32_t i = 0; t && i < t->n_chips; i++)
        if (t->chips[i].id == launch->chip)
            return launch->launch >= j->recorded[i].first && launch->launch <= j->recorded[i].last;
    return !t;
}

/* Whether the device of a launch was profiled, as the op log says; true when it does not say. */
static bool was_profiled(const op_log *log, const op_launch *launch)
{
    const size_t before = (size_t)(launch - log->launches);
    bool told = false, profiled = true;
    for (size_t i = 0; i < log->n_chips; i++) {
        const op_chip *c = &log->chips[i];
        if (c->chip == launch->chip && (!told || c->launches <= before)) profiled = c->profiled;
        told |= c->chip == launch->chip;
    }
    return profiled;
}

/* Whether the device log should have a launch. */
static bool is_wanted(const join *j, const op_launch *launch)
{
    return was_profiled(j->s->device, launch) && was_recorded(j, launch);
}

uint32_t op_stitch_missing(const join *j, uint32_t op, bool lost)
{
    const op_log *log = j->s->device;
    uint32_t n = 0;
    for (uint32_t at = log->ops[op].launch; at; at = log->launches[at - 1].next)
        n += !j->found[at - 1] &&
             (lost ? is_wanted(j, &log->launches[at - 1]) : was_profiled(log, &log->launches[at - 1]));
    return n > j->extra[op] ? n - j->extra[op] : 0;
}

/* Whether an op launched anything that the device log should have. */
static bool has_wanted(const join *j, const op_entry *op)
{
    const op_log *log = j->s->device;
    for (uint32_t at = op->launch; at; at = log->launches[at - 1].next)
        if (is_wanted(j, &log->launches[at - 1])) return true;
    return false;
}

op_row *op_stitch_new_row(op_stitch *s)
{
    if (!dl_big_room(&s->big_rows, (s->n_rows + 1) * sizeof *s->rows)) return NULL;
    s->rows = s->big_rows.data;
    s->rows[s->n_rows].order = (uint32_t)s->n_rows;
    return &s->rows[s->n_rows++];
}

static int by_row(const void *a, const void *b)
{
    const op_row *x = a, *y = b;
    if ((x->op == DL_NONE) != (y->op == DL_NONE)) return x->op == DL_NONE ? 1 : -1;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    if (x->op != y->op) return x->op < y->op ? -1 : 1; /* ops with the same id: as they came */
    if (x->chip != y->chip) return x->chip < y->chip ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order; /* by time */
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
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): rows of two runs are stitched only here */
        const op_entry *there = &s->device->ops[device_op];
        const bool wanted = has_wanted(j, there);
        if (j->recorded && !wanted) {
            s->ops_not_recorded++;
            continue;
        }
        op_row *row = op_stitch_new_row(s);
        good = row != NULL;
        if (!good) break;
        *row = (op_row){.op = (uint32_t)i,
                        .device_op = device_op,
                        .id = s->host->ops[i].id,
                        .chip = DL_NONE,
                        .launch = DL_NONE,
                        .order = row->order};
        if (!wanted) continue;
        row->notes = OP_NOTE_NO_DEVICE;
        s->ops_without_device++;
    }
    free(back);
    free(has_row);
    return good;
}

/* ---- All of it --- */

static void count_missing(const join *j)
{
    op_stitch *s = j->s;
    const op_log *log = s->device;
    if (!log) return;
    for (size_t i = 0; i < log->n_ops; i++) {
        op_stitch_passed(s, i);
        s->launches_missing += op_stitch_missing(j, (uint32_t)i, true);
    }
    uint64_t without_op = 0;
    for (size_t i = 0; i < log->n_launches; i++)
        without_op += !log->launches[i].op && !j->found[i] && is_wanted(j, &log->launches[i]);
    if (without_op > j->unnumbered) s->launches_missing += without_op - j->unnumbered;
}

/* A number for each of n things, all 0. */
static uint32_t *zeros(dl_big *big, size_t n)
{
    if (!dl_big_room(big, n * sizeof(uint32_t))) return NULL;
    if (!big->file) memset(big->data, 0, n * sizeof(uint32_t)); /* a new file is all zeros */
    return big->data;
}

devlog_status op_stitch_make(op_stitch *out, op_log *host, op_log *device, dl_decode *decode,
                             op_device *cycles, const dl_filter *apart, bool periodic, const char *scratch,
                             devlog_error *err)
{
    op_stitch *s = out;
    *s = (op_stitch){.host = host,
                     .device = device ? device : host,
                     .decode = decode,
                     .cycles = cycles,
                     .apart = apart,
                     .periodic = periodic && decode,
                     .points_to = UINT32_MAX,
                     .big_rows = {.folder = scratch}};
    uint32_t n_launches = decode ? dl_decode_launches(decode)->count : 0;
    uint32_t *map = NULL;
    join j = {.s = s,
              .big_op_of = {.folder = scratch},
              .big_known = {.folder = scratch},
              .big_found = {.folder = scratch},
              .big_extra = {.folder = scratch}};
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
    j.known = zeros(&j.big_known, (size_t)n_launches + 1);
    j.found = zeros(&j.big_found, s->device ? s->device->n_launches + 1 : 1);
    j.extra = zeros(&j.big_extra, s->device ? s->device->n_ops + 1 : 1);
    if (s->device) j.index = index_launches(s->device, &indexed);
    if (!j.op_of || !j.known || !j.found || !j.extra || !indexed) goto done;
    for (uint32_t i = 0; i < n_launches; i++) {
        op_stitch_passed(s, i);
        join_launch(&j, i);
    }
    if (s->periodic && !find_recorded(&j)) goto done;
    if (decode && !op_stitch_device_rows(&j)) goto done;
    if (s->host && !host_rows(s, &j)) goto done;
    count_missing(&j);
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
    dl_big_free(&j.big_known);
    dl_big_free(&j.big_found);
    dl_big_free(&j.big_extra);
    free(j.index);
    free(j.recorded);
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
    if (row->merged) return &s->merged[row->merged - 1].cycles;
    return op_device_launch(s->cycles, row->launch);
}

bool op_stitch_lost(const op_stitch *s)
{
    return s->launches_of_other_runs || s->launches_of_unknown_ops || s->launches_missing ||
           s->launches_twice || s->launches_with_other_cores || s->runs_differ;
}
