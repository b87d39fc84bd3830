/* STEPS and SIGNPOSTS: what ran from each of them to the next. */
#include <ctype.h>

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

/* Ops from row `from` on, before row `to`; *at goes on from call to call. */
static sums sum_of(const answer_run *r, size_t *at, size_t from, size_t to)
{
    sums s = {0};
    while (*at < r->n_ops && r->ops[*at].row < from)
        ++*at;
    for (; *at < r->n_ops && r->ops[*at].row < to; ++*at) {
        const answer_op *op = &r->ops[*at];
        s.ops++;
        if (isfinite(op->time)) s.time += op->time;
        if (isfinite(op->gap)) s.gap += op->gap;
        if (isfinite(op->host)) s.host += op->host;
        s.has_time |= isfinite(op->time) != 0;
        s.has_gap |= isfinite(op->gap) != 0;
        s.has_host |= isfinite(op->host) != 0;
    }
    return s;
}

static void add(answer *a, const answer_run *r, const answer_wishes *w, bool steps)
{
    answer_section *s = NULL;
    size_t at = 0;
    double all = 0;
    for (size_t i = 0; i < r->n_ops; i++)
        if (isfinite(r->ops[i].time)) all += r->ops[i].time;
    for (size_t i = 0; i < r->n_points; i++) {
        const char *name = dl_intern_text(r->table->texts, r->table->rows[r->points[i]].code, NULL);
        if (is_step(name) != steps) continue;
        /* A step goes on to the next step, a signpost to the next point of any kind. */
        size_t next = i + 1;
        while (next < r->n_points && steps &&
               !is_step(dl_intern_text(r->table->texts, r->table->rows[r->points[next]].code, NULL)))
            next++;
        const sums of = sum_of(r, &at, r->points[i], next < r->n_points ? r->points[next] : r->last);
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

void answer_add_ranges(answer *a, const answer_run *r, const answer_wishes *w)
{
    add(a, r, w, true);
    add(a, r, w, false);
}
