/* WHAT WOULD SAVE MOST: what a run could lose without doing less, each with its saving and the evidence. A saving is an upper
 * bound of its own: two of them may be of the same time and are not to be added up. Not for gaps (savings_gaps.c). */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "answers/causes_saves.h"
#include "answers/causes_sums.h"
#include "answers/savings_internal.h"

enum { SHOWN = 3 };

static const answer_column columns[] = {
    {"saving", "saving", ANSWER_TIME, 0},
    {"share", "%", ANSWER_PERCENT, 0},
    {"what", "what", ANSWER_TEXT, 0},
    {"kind", "kind", ANSWER_TEXT, ANSWER_HIDDEN},
    {"op", "op", ANSWER_TEXT, ANSWER_HIDDEN},
    {"op_id", "op id", ANSWER_COUNT, ANSWER_HIDDEN},
    {"core", "core", ANSWER_TEXT, ANSWER_HIDDEN},
    {"line", "line", ANSWER_TEXT, ANSWER_HIDDEN},
    {"evidence", "evidence", ANSWER_TEXT, ANSWER_BELOW},
};

saving *savings_add(savings *c, const saving *s)
{
    if (!(s->time > 0)) return NULL;
    if (c->n == c->cap) {
        const size_t cap = c->cap ? c->cap * 2 : 64;
        saving *grown = realloc(c->items, cap * sizeof *grown);
        c->failed |= !grown;
        if (!grown) return NULL;
        c->items = grown;
        c->cap = cap;
    }
    c->items[c->n] = *s;
    return &c->items[c->n++];
}

static int by_time(const void *a, const void *b)
{
    const saving *x = a, *y = b;
    if (x->behind != y->behind) return x->behind ? 1 : -1;
    if (x->time < y->time || x->time > y->time) return x->time > y->time ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return x->op && y->op ? strcmp(x->op, y->op) : 0;
}

/* ---- Ops of one code --- */

typedef struct by_code {
    double spread, cores, unused, time;
    uint64_t n, with_chips, with_cores, with_unused;
    bool says_cores; /* the report has columns for the times of cores */
    uint32_t used_least, used_most;
    double available;
    const answer_op *longest;
} by_code;

static void look_at(by_code *to, const answer_run *r, const answer_op *op)
{
    const op_table_row *row = answer_row(r, op);
    const double *w = answer_wide(r, op)->numbers;
    const answer_chip *chip = answer_chip_of(r, row->chip);
    if (!isfinite(op->time)) return;
    to->n++;
    to->time += op->time;
    if (!to->longest || op->time > to->longest->time) to->longest = op;
    if (op->spread > 0 && !answer_is_collective(answer_code(r, op))) {
        to->spread += op->spread;
        to->with_chips++;
    }
    to->says_cores |= isfinite(w[OP_CORE_MAX]);
    if (w[OP_CORE_MAX] > w[OP_CORE_AVG]) {
        to->cores += w[OP_CORE_MAX] - w[OP_CORE_AVG];
        to->with_cores++;
    }
    if (chip && (row->has & OP_HAS_CORES) && row->cores && row->cores < chip->available) {
        to->unused += op->time * (1 - row->cores / chip->available);
        if (!to->with_unused++ || row->cores < to->used_least) to->used_least = row->cores;
        if (row->cores > to->used_most) to->used_most = row->cores;
        if (!(to->available >= chip->available)) to->available = chip->available;
    }
}

/* A page more costs no work, so it is told where it gains this part of what the best zone would if it took no time. */
static const double BUFFER_IS_ENOUGH = 0.5;

static const causes_save *best_of(const causes_saves *s, uint32_t code)
{
    const causes_save *zone = NULL, *buffer = NULL;
    for (size_t i = 0; s && i < s->n; i++) {
        const causes_save *x = &s->items[i], **to = x->buffer ? &buffer : &zone;
        if (x->code == code && x->gain && (!*to || x->gain > (*to)->gain)) *to = x;
    }
    if (!buffer || !zone) return buffer ? buffer : zone;
    return (double)buffer->gain >= BUFFER_IS_ENOUGH * (double)zone->gain ? buffer : zone;
}

/* What a log knows of the cores that ended last in ops of a code; NULL: nothing. */
static const run_late *late_of(const answer_run *r, uint32_t code)
{
    size_t n = 0;
    const run_late *lates = r->log ? run_log_lates(r->log, &n) : NULL;
    for (size_t i = 0; i < n; i++)
        if (lates[i].code == code || !lates[i].code) return lates[i].times ? &lates[i] : NULL;
    return NULL;
}

/* What a log adds: the core that ended last most often, and the line of the zone that took most. Of unused cores the latter would
 * contradict what paths say that launches wait for. */
static void add_place(answer *a, const answer_run *r, uint32_t code, saving *s)
{
    size_t n_zones = 0;
    const run_late *late = late_of(r, code);
    const run_zone *zones = r->log ? run_log_zones(r->log, &n_zones) : NULL, *most = NULL;
    if (late) {
        s->core = answer_keepf(a, "%u: %u-%u", late->chip, late->core.x, late->core.y);
        s->evidence = answer_keepf(a, "%s Core %u,%u ended last in %llu of %llu launches (%s).", s->evidence,
                                   late->core.x, late->core.y, (unsigned long long)late->times,
                                   (unsigned long long)late->launches, late->risc);
    }
    if (strcmp(s->kind, "unused_cores") == 0 && best_of(r->saves, code)) return;
    for (size_t i = 0; i < n_zones; i++) {
        const run_zone *z = &zones[i];
        if (dl_is_process(z->chip) || (z->code != code && z->code) || z->role != DEVLOG_ZONE_USER || !z->line)
            continue;
        if (!most || z->own > most->own) most = z;
    }
    if (!most) return;
    const char *slash = strrchr(most->file, '/');
    s->line = answer_keepf(a, "%s:%u", slash ? slash + 1 : most->file, most->line);
    s->evidence = answer_keepf(a, "%s Of its zones \"%s\" of %s took most, all cores added up: %s.",
                               s->evidence, most->name, most->risc, s->line);
}

/* Launches that are called after no op have no name that says anything. */
static bool has_name(const answer_run *r, const char *name)
{
    return r->has_report && *name != '(';
}

/* "Matmul: cores are left unused", or "Cores are left unused". */
static const char *titled(answer *a, const answer_run *r, const char *name, const char *text)
{
    return has_name(r, name) ? answer_keepf(a, "%s: %s", name, text)
                             : answer_keepf(a, "%c%s", toupper((unsigned char)*text), text + 1);
}

/* ---- Paths of launches: the zone that others wait for, or the buffer that wants one page more --- */

/* What the zone moved over the NoC, when most of its barriers waited for one transfer each. */
static const char *small_transfers(answer *a, const causes_save *x, double scale, const char *unit)
{
    if (x->barriers < 2 || x->transfers > 2 * x->barriers) return "";
    return answer_keepf(a,
                        " It waits for its transfers one by one, %.1f %s on all cores: %llu of %.0f bytes on "
                        "average; larger ones, or one barrier for several, would wait less.",
                        (double)x->noc_waited * scale, unit, (unsigned long long)x->transfers,
                        (double)x->bytes / (double)x->transfers);
}

static void add_path(answer *a, const answer_run *r, uint32_t code, const by_code *of, savings *c)
{
    const causes_save *x = best_of(r->saves, code);
    const double mhz = r->log ? run_log_mhz(r->log) : 0;
    if (!x || (!r->cycles && !(mhz > 0))) return;
    const dl_tables *t = dl_decode_tables(r->causes->decode);
    const dl_stream *stream = &t->streams[x->stream];
    const char *risc = dl_text(t, x->risc), *by = dl_text(t, x->by),
               *zone = x->site == DL_NONE ? "" : dl_site_text(t, x->site),
               *file = x->site == DL_NONE ? "" : dl_text(t, t->sites[x->site].file);
    const char *slash = strrchr(file, '/'), *name = dl_intern_text(r->table->texts, code, NULL);
    const uint32_t line = x->site == DL_NONE ? 0 : t->sites[x->site].line;
    const double scale = r->cycles ? 1 : 1 / mhz; /* of cycles to what texts say */
    const char *unit = r->cycles ? "cycles" : "us", *at_most = x->exact ? "" : "at most ";
    const char *where = line ? answer_keepf(a, "%s:%u", slash ? slash + 1 : file, line) : NULL;
    const char *of_op = of->longest && has_name(r, name) ? answer_keepf(a, "%s: ", name) : "";
    saving s = {.time = (double)x->gain * (r->cycles ? 1 : 1000 / mhz),
                .kind = x->buffer ? "buffer" : "path",
                .op = of->longest ? name : NULL,
                .op_id = of->longest ? (double)answer_row(r, of->longest)->id : NAN,
                .core = answer_keepf(a, "%llu: %u-%u", (unsigned long long)t->chips[stream->chip].id,
                                     stream->core_x, stream->core_y),
                .line = where};
    if (x->buffer) {
        s.what = answer_keepf(a, "%s%s waits for room in a buffer that %s empties", of_op, risc, by);
        s.evidence = answer_keepf(
            a,
            "%.1f %s of its waits are on the paths of %llu launch%s, most on core %u,%u, before %s (%s), for "
            "the buffer whose counter is at 0x%x; with one page more in each buffer %s%.1f %s are gained.",
            (double)x->cycles * scale, unit, (unsigned long long)x->launches, x->launches == 1 ? "" : "es",
            stream->core_x, stream->core_y, *zone ? zone : "the end", where ? where : "no line", x->address,
            at_most, (double)x->gain * scale, unit);
    } else {
        s.what = answer_keepf(a, "%s%s: its %s is what launches wait for", of_op, risc, zone);
        s.evidence = answer_keepf(
            a,
            "%.1f %s of it%s%s are on the paths of %llu launch%s, most on core %u,%u; others waited %.1f %s for "
            "this RISC, and %s%.1f %s are gained before other paths are the longest.%s",
            (double)x->cycles * scale, unit, where ? ", " : "", where ? where : "",
            (unsigned long long)x->launches, x->launches == 1 ? "" : "es", stream->core_x, stream->core_y,
            (double)x->waited * scale, unit, at_most, (double)x->gain * scale, unit,
            small_transfers(a, x, scale, unit));
    }
    savings_add(c, &s);
}

static void add_code(answer *a, const answer_run *r, uint32_t code, const by_code *x, savings *c)
{
    const char *name = dl_intern_text(r->table->texts, code, NULL);
    const double id = (double)answer_row(r, x->longest)->id;
    const double us = r->cycles ? 1 : 1000;
    const char *unit = r->cycles ? "cycles" : "us";
    const saving spread = {
        .time = x->spread,
        .kind = "chips",
        .what = titled(a, r, name, "chips take unequal time"),
        .op = name,
        .op_id = id,
        .evidence = answer_keepf(a, "In %llu ops the slowest chip took %.1f %s more than their mean.",
                                 (unsigned long long)x->with_chips, x->spread / us, unit)};
    /* Where no report says how long each core took, the log says how much later than the mean core the last one ended. */
    const run_late *late = x->says_cores ? NULL : late_of(r, code);
    const double mhz = r->log ? run_log_mhz(r->log) : 0;
    const double later = late && (r->cycles || mhz > 0) ? late->cycles * (r->cycles ? 1 : 1000 / mhz) : 0;
    const saving cores = {
        .time = late ? later : x->cores,
        .kind = "core_imbalance",
        .what = titled(a, r, name, "some cores have more to do than others"),
        .op = name,
        .op_id = id,
        .evidence =
            late ? answer_keepf(a, "The last core ended %.1f %s later than the mean core, in %llu launches.",
                                later / us, unit, (unsigned long long)late->launches)
                 : answer_keepf(a, "The slowest core took %.1f %s more than the mean core, in %llu ops.",
                                x->cores / us, unit, (unsigned long long)x->with_cores)};
    const saving unused = {
        .time = x->unused,
        .kind = "unused_cores",
        .what = titled(a, r, name, "cores are left unused"),
        .op = name,
        .op_id = id,
        .evidence = answer_keepf(
            a, "%llu %s ran on fewer cores than there are (%s of %.0f); if work spread evenly.",
            (unsigned long long)x->with_unused, has_name(r, name) ? "ops" : "launches",
            x->used_least == x->used_most ? answer_keepf(a, "%u", x->used_most)
                                          : answer_keepf(a, "%u to %u", x->used_least, x->used_most),
            x->available)};
    const saving *const all[] = {&spread, &cores, &unused};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        saving *kept = savings_add(c, all[i]);
        if (kept) add_place(a, r, code, kept);
    }
}

static bool is_of_path(const saving *s)
{
    return strcmp(s->kind, "path") == 0 || strcmp(s->kind, "buffer") == 0;
}

/* Ops of a code share their time: of what more or equally busy cores would save only the greatest is told, and of what launches
 * wait for the greatest; of all the greatest, and what is told behind them. */
static size_t only_greatest(savings *c)
{
    size_t n = 0, by_time = 0;
    for (size_t i = 0; i < c->n; i++) {
        bool told = by_time == SHOWN && !c->items[i].behind;
        for (size_t k = 0; k < n; k++)
            told |= c->items[i].by_op && c->items[k].by_op && strcmp(c->items[i].op, c->items[k].op) == 0 &&
                    is_of_path(&c->items[i]) == is_of_path(&c->items[k]);
        if (told) continue;
        by_time += !c->items[i].behind;
        c->items[n++] = c->items[i];
    }
    return n;
}

bool answer_add_savings(answer *a, const answer_run *r)
{
    const size_t codes = dl_intern_count(r->table->texts);
    by_code *of = calloc(codes + 1, sizeof *of);
    savings c = {.failed = !of};
    const double wall = answer_wall(r);
    for (size_t i = 0; of && i < r->n_ops; i++)
        if (r->ops[i].chips) look_at(&of[answer_row(r, &r->ops[i])->code], r, &r->ops[i]);
    savings_find_gaps(a, r, &c);
    const size_t of_gaps = c.n;
    for (size_t i = 0; of && i < codes; i++) {
        if (of[i].n) add_code(a, r, (uint32_t)i, &of[i], &c);
        add_path(a, r, (uint32_t)i, &of[i], &c);
    }
    for (size_t i = of_gaps; i < c.n; i++)
        c.items[i].by_op = c.items[i].op != NULL;
    if (c.n) qsort(c.items, c.n, sizeof *c.items, by_time);
    answer_section *s =
        answer_table(a, "savings", "WHAT WOULD SAVE MOST", columns, sizeof columns / sizeof columns[0]);
    const size_t shown = only_greatest(&c);
    for (size_t i = 0; i < shown; i++) {
        const saving *x = &c.items[i];
        answer_number(s, x->time);
        answer_number(s, wall > 0 ? 100 * x->time / wall : NAN);
        answer_text(s, x->what);
        answer_text(s, x->kind);
        answer_text(s, x->op);
        answer_number(s, x->op_id);
        answer_text(s, x->core);
        answer_text(s, x->line);
        answer_text(s, x->evidence);
    }
    answer_note(a, s,
                shown ? "Each is what could be saved at most, in per cent of the wall time; they may overlap."
                      : "Nothing that was read says what could be saved.");
    const bool good = !c.failed;
    free(c.items);
    free(of);
    return good;
}
