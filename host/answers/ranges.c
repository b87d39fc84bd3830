/* STEPS and SIGNPOSTS: what ran from each of them to the next. */
#include <ctype.h>
#include <stdlib.h>

#include "answers/sections.h"

static const answer_column columns[] = {
    {"name", "from", ANSWER_TEXT, 0},          {"ops", "ops", ANSWER_COUNT, 0},
    {"device_time", "device", ANSWER_TIME, 0}, {"share", "%", ANSWER_PERCENT, 0},
    {"gap", "gaps", ANSWER_TIME, 1},           {"host_time", "host", ANSWER_TIME, 2},
};

/* As devlog_step writes them: "step 3", and a name behind it. */
static bool is_step(const char *name)
{
    return strncmp(name, "step ", 5) == 0 && isdigit((unsigned char)name[5]);
}

typedef struct sums {
    double time, gap, host;
    bool has_time, has_gap, has_host;
    size_t ops;
} sums;

static void add_op(sums *to, const answer_op *op)
{
    to->ops++;
    if (isfinite(op->time)) to->time += op->time;
    if (isfinite(op->gap)) to->gap += op->gap;
    if (isfinite(op->host)) to->host += op->host;
    to->has_time |= isfinite(op->time) != 0;
    to->has_gap |= isfinite(op->gap) != 0;
    to->has_host |= isfinite(op->host) != 0;
}

static void add_sums(sums *to, const sums *more)
{
    to->ops += more->ops;
    to->time += more->time;
    to->gap += more->gap;
    to->host += more->host;
    to->has_time |= more->has_time;
    to->has_gap |= more->has_gap;
    to->has_host |= more->has_host;
}

/* By point: ops of the rows behind it, up to the next. Ops of several chips are not in the order of their rows. NULL: no memory. */
static sums *sums_of_points(const answer_run *r)
{
    sums *all = calloc(r->n_points + 1, sizeof *all);
    for (size_t i = 0; all && i < r->n_ops; i++) {
        size_t low = 0, high = r->n_points; /* the first point behind the op */
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (r->points[middle] <= r->ops[i].row)
                low = middle + 1;
            else
                high = middle;
        }
        if (low) add_op(&all[low - 1], &r->ops[i]);
    }
    return all;
}

static void add(answer *a, const answer_run *r, const answer_wishes *w, const sums *points, bool steps)
{
    answer_section *s = NULL;
    double all = 0;
    for (size_t i = 0; i < r->n_ops; i++)
        if (isfinite(r->ops[i].time)) all += r->ops[i].time;
    for (size_t i = 0; i < r->n_points; i++) {
        const char *name = dl_intern_text(r->table->texts, r->table->rows[r->points[i]].code, NULL);
        if (is_step(name) != steps) continue;
        /* A step goes on to the next step, a signpost to the next point of any kind. */
        sums of = points[i];
        for (size_t next = i + 1;
             next < r->n_points && steps &&
             !is_step(dl_intern_text(r->table->texts, r->table->rows[r->points[next]].code, NULL));
             next++)
            add_sums(&of, &points[next]);
        if (!s)
            s = answer_table(a, steps ? "steps" : "signposts", steps ? "STEPS" : "SIGNPOSTS", columns,
                             sizeof columns / sizeof columns[0]);
        answer_text(s, name);
        answer_number(s, (double)of.ops);
        answer_number(s, of.has_time ? of.time : NAN);
        answer_number(s, of.has_time && all > 0 ? 100 * of.time / all : NAN);
        answer_number(s, of.has_gap ? of.gap : NAN);
        answer_number(s, of.has_host ? of.host : NAN);
    }
    if (!s) return;
    answer_top(s, w->top);
    answer_note(a, s,
                steps ? "A step goes on to the next step, or to the end."
                      : "From a signpost to the next signpost or step. --from-signpost and --to-signpost "
                        "report on what lies between two of them.");
}

bool answer_add_ranges(answer *a, const answer_run *r, const answer_wishes *w)
{
    sums *points = sums_of_points(r);
    if (!points) return false;
    add(a, r, w, points, true);
    add(a, r, w, points, false);
    free(points);
    return true;
}
