/* A diff as sections of an answer: the figures of its JSON (diff_data.c). See diff_answer.h. */
#include "answers/diff_answer.h"

#include <stdlib.h>

/* Times are in the unit that the line names, so that their columns have none. */
#define SIDE(side)                                                                                           \
    {side "_count", side " count", ANSWER_COUNT, 0},                                                         \
        {side "_without_time", side " without time", ANSWER_COUNT, 0},                                       \
        {side "_samples", side " samples", ANSWER_COUNT, 0}, {side "_mean", side " mean", ANSWER_COUNT, 0},  \
        {side "_median", side " median", ANSWER_COUNT, 0}, {side "_p95", side " p95", ANSWER_COUNT, 0},      \
        {side "_min", side " min", ANSWER_COUNT, 0}, {side "_max", side " max", ANSWER_COUNT, 0},            \
    {                                                                                                        \
        side "_per_run", side " per run", ANSWER_COUNT, 0                                                    \
    }

static const answer_column line_columns[] = {
    {"kind", "kind", ANSWER_TEXT, 0},
    {"name", "name", ANSWER_TEXT, 0},
    {"place", "place", ANSWER_COUNT, 0},
    {"risc", "RISC", ANSWER_TEXT, 0},
    {"where", "where", ANSWER_TEXT, 0},
    {"moved_to", "moved to", ANSWER_TEXT, 0},
    {"verdict", "verdict", ANSWER_TEXT, 0},
    {"unit", "unit", ANSWER_TEXT, 0},
    SIDE("old"),
    SIDE("new"),
    {"difference_per_run", "difference per run", ANSWER_COUNT, 0},
    {"change_percent", "change", ANSWER_PERCENT, 0},
    {"p", "p", ANSWER_COUNT, 0},
    {"p_corrected", "p corrected", ANSWER_COUNT, 0},
    {"line", "line", ANSWER_COUNT, 0},
};
enum { CAUSE_COLUMNS = sizeof line_columns / sizeof line_columns[0], LINE_COLUMNS = CAUSE_COLUMNS - 1 };

static const answer_column run_columns[] = {
    {"side", "side", ANSWER_TEXT, 0},
    {"name", "name", ANSWER_TEXT, 0},
    {"arch", "arch", ANSWER_TEXT, 0},
    {"mhz", "clock", ANSWER_MHZ, 0},
    {"ops", "ops", ANSWER_COUNT, 0},
    {"ops_without_time", "ops without time", ANSWER_COUNT, 0},
    {"launches", "launches", ANSWER_COUNT, 0},
    {"op_report", "op report", ANSWER_COUNT, 0},
    {"device_log", "device log", ANSWER_COUNT, 0},
    {"losses", "losses", ANSWER_COUNT, 0},
    {"cycles_are_instructions", "cycles are instructions", ANSWER_COUNT, 0},
};

static const answer_column condition_columns[] = {
    {"condition", "condition", ANSWER_TEXT, 0}, {"result", "result", ANSWER_TEXT, 0},
    {"failed", "failed", ANSWER_COUNT, 0},      {"undecided", "undecided", ANSWER_COUNT, 0},
    {"reason", "reason", ANSWER_TEXT, 0}, /* the first */
};

static void real(answer_section *s, bool known, double value)
{
    answer_number(s, known ? value : NAN);
}

static void text_unless_empty(answer_section *s, const char *text)
{
    answer_text(s, text && *text ? text : NULL);
}

static void add_part(answer_section *s, const diff_part *p)
{
    answer_number(s, (double)p->count);
    answer_number(s, (double)p->without);
    answer_number(s, (double)p->n);
    real(s, p->n, p->mean);
    real(s, p->n, p->median);
    real(s, p->n, p->n ? rank_test_quantile(p->sorted, p->n, 0.95) : 0);
    real(s, p->n, p->n ? p->sorted[0] : 0);
    real(s, p->n, p->n ? p->sorted[p->n - 1] : 0);
    real(s, p->n, p->per_run);
}

static void add_line(answer_section *s, const diff_line *l)
{
    answer_text(s, diff_kinds[l->kind]);
    answer_text(s, l->name);
    real(s, l->kind == DIFF_OP, l->place);
    text_unless_empty(s, l->risc);
    text_unless_empty(s, l->where);
    answer_text(s, l->moved);
    answer_text(s, diff_verdicts[l->verdict]);
    answer_text(s, l->by_clock ? "cycles" : "ns");
    add_part(s, &l->part[DIFF_OLD]);
    add_part(s, &l->part[DIFF_NEW]);
    real(s, l->part[DIFF_OLD].n || l->part[DIFF_NEW].n, l->difference);
    real(s, l->has_change, l->change);
    real(s, l->tested, l->p);
    real(s, l->tested, l->corrected);
}

static void add_runs(answer *a, const diff *d)
{
    answer_section *s =
        answer_table(a, "runs", "RUNS", run_columns, sizeof run_columns / sizeof run_columns[0]);
    for (uint32_t side = 0; side < DIFF_SIDES; side++) {
        for (size_t i = 0; i < d->n_runs; i++) {
            const diff_run *r = &d->runs[i];
            if (r->side != side) continue;
            answer_text(s, side == DIFF_OLD ? "old" : "new");
            answer_text(s, r->name);
            text_unless_empty(s, r->arch);
            real(s, r->mhz > 0, r->mhz);
            answer_number(s, (double)r->ops);
            answer_number(s, (double)r->timeless);
            answer_number(s, (double)r->launches);
            answer_number(s, r->has_ops);
            answer_number(s, r->has_log);
            answer_number(s, (double)r->lost);
            answer_number(s, r->instructions);
        }
    }
}

static void add_conditions(answer *a, const gate *gates, size_t n)
{
    answer_section *s = answer_table(a, "conditions", "CONDITIONS", condition_columns,
                                     sizeof condition_columns / sizeof condition_columns[0]);
    for (size_t i = 0; i < n; i++) {
        answer_text(s, answer_keep(a, gates[i].text, strlen(gates[i].text)));
        answer_text(s, gate_results[gates[i].result]);
        answer_number(s, (double)gates[i].failed);
        answer_number(s, (double)gates[i].undecided);
        answer_text(s, gates[i].n_reasons ? gates[i].reasons[0] : NULL);
    }
}

static void add_lines(answer *a, const diff *d)
{
    answer_section *lines = answer_table(a, "lines", "LINES", line_columns, LINE_COLUMNS);
    answer_section *causes = answer_table(a, "causes", "CAUSES", line_columns, CAUSE_COLUMNS);
    for (size_t i = 0; i < d->n_order; i++) {
        uint32_t of[8];
        const diff_line *l = &d->lines[d->order[i]];
        if (l->kind == DIFF_CAUSE) break;
        add_line(lines, l);
        const size_t n = l->kind == DIFF_OP ? diff_causes(d, d->order[i], of, 8) : 0;
        for (size_t k = 0; k < n; k++) {
            add_line(causes, &d->lines[of[k]]);
            answer_number(causes, (double)i);
        }
    }
}

devlog_status diff_answer(answer *a, const diff *d, const gate *gates, size_t n_gates, devlog_error *err)
{
    devlog_status status = answer_begin(a, err);
    if (status) return status;
    answer_section *s = answer_facts(a, "diff", "DIFF");
    answer_fact_text(a, s, "samples", "samples are", d->several ? "runs" : "repeats", NULL);
    answer_fact(a, s, "exact", "exact", ANSWER_COUNT, d->exact, NULL);
    answer_fact(a, s, "confidence_percent", "confidence", ANSWER_PERCENT,
                d->exact ? NAN : 100 * (1 - d->alpha), NULL);
    answer_fact(a, s, "tested", "tested", ANSWER_COUNT, (double)d->tested, NULL);
    answer_fact(a, s, "undecided", "undecided", ANSWER_COUNT, (double)d->undecided, NULL);
    if (n_gates)
        answer_fact_text(a, s, "result", "conditions", gate_results[diff_result(gates, n_gates)], NULL);
    add_runs(a, d);
    add_conditions(a, gates, n_gates);
    add_lines(a, d);
    return answer_status(a, err);
}
