/* A diff for people: tables on a terminal, and Markdown for the comment of a pull request. See diff_print.h. */
#include <math.h>
#include <stdio.h>

#include "answers/diff_print.h"
#include "base/grid.h"

enum { CAUSES = 3 };

const char *const diff_verdicts[DIFF_VERDICTS] = {
    [DIFF_SAME] = "same",       [DIFF_SLOWER] = "slower",
    [DIFF_FASTER] = "faster",   [DIFF_UNDECIDED] = "undecided",
    [DIFF_IS_NEW] = "new",      [DIFF_IS_GONE] = "gone",
    [DIFF_NO_TIME] = "no time", [DIFF_LOST_TIME] = "time missing",
};

const char *const gate_results[GATE_RESULTS] = {
    [GATE_PASSED] = "passed", [GATE_FAILED] = "failed", [GATE_UNDECIDED] = "undecided"};

const char *const diff_kinds[DIFF_KINDS] = {
    [DIFF_TOTAL] = "total", [DIFF_OP] = "op", [DIFF_ZONE] = "zone", [DIFF_CAUSE] = "cause"};

gate_result diff_result(const gate *gates, size_t n)
{
    gate_result all = GATE_PASSED;
    for (size_t i = 0; i < n; i++) {
        if (gates[i].result == GATE_FAILED) return GATE_FAILED;
        if (gates[i].result == GATE_UNDECIDED) all = GATE_UNDECIDED;
    }
    return all;
}

/* The causes stand behind all else, by their op; within it the greatest difference first. */
size_t diff_causes(const diff *d, uint32_t op, uint32_t *lines, size_t most)
{
    size_t low = 0, high = d->n_order, n = 0;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const diff_line *l = &d->lines[d->order[middle]];
        if (l->kind != DIFF_CAUSE || l->parent < op)
            low = middle + 1;
        else
            high = middle;
    }
    const bool slower = d->lines[op].difference > 0;
    for (size_t i = low; i < d->n_order && n < most; i++) {
        const diff_line *l = &d->lines[d->order[i]];
        if (l->parent != op) break;
        if (l->difference != 0 && (l->difference > 0) == slower) lines[n++] = d->order[i];
    }
    return n;
}

static const char *unit_of(const diff_line *l)
{
    return l->by_clock ? "cycles" : "ns";
}

/* 12,345 or 12.3, with a sign if wanted. */
static void number(double value, bool sign, dl_str *out)
{
    char digits[DL_GROUPED_SIZE];
    const double size = fabs(value);
    if (sign && value != 0) dl_str_char(out, value < 0 ? '-' : '+');
    if (size >= 9e18)
        dl_str_fmt(out, "%.3g", size);
    else if (size < 100 && fabs(size - floor(size + 0.5)) >= 0.05)
        dl_str_fmt(out, "%.1f", size);
    else
        dl_str_add(out, dl_u64_grouped(digits, (uint64_t)(size + 0.5)));
}

static void chance(const diff_line *l, dl_str *out)
{
    if (!l->tested) return;
    if (l->corrected < 0.0001)
        dl_str_add(out, "<0.0001");
    else
        dl_str_fmt(out, "%.4f", l->corrected);
}

/* ---- What was compared --- */

static void describe_side(const diff *d, uint32_t side, dl_str *out)
{
    size_t n = 0;
    uint64_t ops = 0, launches = 0;
    const diff_run *first = NULL;
    for (size_t i = 0; i < d->n_runs; i++) {
        const diff_run *r = &d->runs[i];
        if (r->side != side) continue;
        if (n++ == 0) first = r;
        ops += r->ops;
        launches += r->launches;
    }
    char digits[DL_GROUPED_SIZE];
    dl_str_add(out, side == DIFF_OLD ? "Old: " : "New: ");
    if (first) dl_str_shown(out, first->name, strlen(first->name));
    if (n == 2) dl_str_add(out, " and another run");
    if (n > 2) dl_str_fmt(out, " and %zu more runs", n - 1);
    if (ops) dl_str_fmt(out, ", %s op%s", dl_u64_grouped(digits, ops), ops == 1 ? "" : "s");
    if (launches)
        dl_str_fmt(out, ", %s launch%s", dl_u64_grouped(digits, launches), launches == 1 ? "" : "es");
    dl_str_char(out, '\n');
}

static const char *known(const char *text)
{
    return text ? text : "a board that it does not name";
}

/* Boards and clocks: what makes times of two runs differ without any change of the program. */
static void describe_boards(const diff *d, dl_str *out)
{
    const diff_run *seen[DIFF_SIDES] = {0};
    bool clocks = false, lost = false, instructions = false;
    op_aiclk aiclk[DIFF_SIDES] = {0};
    for (size_t i = 0; i < d->n_runs; i++) {
        const diff_run *r = &d->runs[i];
        if (r->has_log && !seen[r->side]) seen[r->side] = r;
        clocks |= r->clocks;
        instructions |= r->instructions;
        op_aiclk_add(&aiclk[r->side], r->aiclk.low);
        op_aiclk_add(&aiclk[r->side], r->aiclk.high);
        lost |= r->lost != 0;
    }
    const diff_run *x = seen[DIFF_OLD], *y = seen[DIFF_NEW];
    if (x && y && (x->arch || y->arch) && (!x->arch || !y->arch || strcmp(x->arch, y->arch) != 0)) {
        dl_str_add(out, "Different boards: the old log is of ");
        dl_str_shown(out, known(x->arch), strlen(known(x->arch)));
        dl_str_add(out, ", the new one of ");
        dl_str_shown(out, known(y->arch), strlen(known(y->arch)));
        dl_str_add(out, ".\n");
    }
    if (d->cycles_unknown)
        dl_str_add(out, "The clock of a log is unknown: times of logs are cycles.\n");
    else if (x && y && (x->mhz < y->mhz || x->mhz > y->mhz))
        dl_str_fmt(out, "Different clocks: %g MHz before, %g MHz now; times are nanoseconds.\n", x->mhz,
                   y->mhz);
    if (instructions)
        dl_str_add(
            out,
            "Cycles are instructions: the simulator of a run has no timing, so times say nothing of a chip.\n");
    if (aiclk[DIFF_OLD].high || aiclk[DIFF_NEW].high) {
        dl_str_add(out, "AICLK: ");
        op_aiclk_text(&aiclk[DIFF_OLD], out);
        dl_str_add(out, " before, ");
        op_aiclk_text(&aiclk[DIFF_NEW], out);
        dl_str_add(out, " now.\n");
    }
    if (clocks) dl_str_add(out, "Chips of one run have different clocks; each has its own.\n");
    if (lost) dl_str_add(out, "Something was lost of a device log; devlog decode says what.\n");
}

static void describe_test(const diff *d, dl_str *out)
{
    if (d->exact) {
        dl_str_add(out, "Taken as exact: every difference counts as real.\n");
        return;
    }
    char digits[DL_GROUPED_SIZE];
    dl_str_fmt(out,
               "A sample is %s.\n%s lines were tested together (Mann-Whitney's U, Holm); %g %% confidence.\n",
               d->several ? "a run" : "a repeat inside the run", dl_u64_grouped(digits, d->tested),
               100 * (1 - d->alpha));
    if (d->undecided)
        dl_str_fmt(out, "%s lines are undecided: so few samples cannot tell; run it more often.\n",
                   dl_u64_grouped(digits, d->undecided));
}

/* ---- Tables --- */

static const dl_grid_column columns[] = {
    {"old", DL_GRID_RIGHT, 1},    {"new", DL_GRID_RIGHT, 0},
    {"%", DL_GRID_RIGHT, 0},      {"difference", DL_GRID_RIGHT, 0},
    {"chance", DL_GRID_RIGHT, 2}, {"", DL_GRID_LEFT, 0},
    {"", DL_GRID_NAME, 0},
};
enum { COLUMNS = sizeof columns / sizeof columns[0], CHANCE = 4, NAME = COLUMNS - 1 };

static const char *const titles[DIFF_KINDS] = {
    [DIFF_TOTAL] = "in a run", [DIFF_OP] = "op", [DIFF_ZONE] = "zone", [DIFF_CAUSE] = ""};

/* The cells of a line, one behind the other, each with its NUL. */
static void cells(const diff *d, const diff_line *l, dl_str out[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++)
        dl_str_clear(&out[i]);
    for (int side = 0; side < DIFF_SIDES; side++)
        if (l->part[side].n) number(l->part[side].mean, false, &out[side]);
    if (l->has_change) dl_str_fmt(&out[2], "%+.2f", l->change);
    if (l->part[DIFF_OLD].n || l->part[DIFF_NEW].n) number(l->difference, true, &out[3]);
    chance(l, &out[4]);
    dl_str_add(&out[5], diff_verdicts[l->verdict]);
    diff_line_name(l, &out[NAME]);
    if (*l->where)
        dl_str_fmt(&out[NAME], " (%s%s%s)", l->where, l->moved ? ", now " : "", l->moved ? l->moved : "");
    if (d->cycles_unknown && l->by_clock) dl_str_add(&out[NAME], " [cycles]");
}

/* Whether a line is worth showing when not all are. */
static bool is_of_interest(const diff_line *l)
{
    return l->kind == DIFF_TOTAL || l->difference != 0 ||
           (l->verdict != DIFF_SAME && l->verdict != DIFF_NO_TIME);
}

static void causes_notes(const diff *d, uint32_t op, dl_grid *grid)
{
    uint32_t lines[CAUSES];
    const diff_line *l = &d->lines[op];
    if (l->kind != DIFF_OP || (l->verdict != DIFF_SLOWER && l->verdict != DIFF_FASTER)) return;
    const size_t n = diff_causes(d, op, lines, CAUSES);
    for (size_t i = 0; i < n; i++) {
        const diff_line *c = &d->lines[lines[i]];
        dl_str text = {0};
        dl_str_add(&text, "    ");
        number(c->part[DIFF_NEW].mean - c->part[DIFF_OLD].mean, true, &text);
        dl_str_fmt(&text, " %s in ", unit_of(c));
        diff_line_name(c, &text);
        if (*c->where) dl_str_fmt(&text, " (%s)", c->moved ? c->moved : c->where);
        dl_str shown = {0};
        dl_str_shown(&shown, text.text ? text.text : "", text.len);
        dl_grid_note(grid, shown.text ? shown.text : "");
        dl_str_free(&shown);
        dl_str_free(&text);
    }
}

static void text_table(const diff_shown *s, diff_kind kind, dl_str *out)
{
    const diff *d = s->d;
    dl_str cell[COLUMNS] = {{0}};
    dl_grid grid = DL_GRID(columns);
    char digits[DL_GROUPED_SIZE];
    size_t shown = 0, more = 0;
    grid.colour = s->colour;
    grid.columns[NAME].title = titles[kind];
    if (!d->tested) grid.columns[CHANCE].flags |= DL_GRID_GONE;
    for (size_t i = 0; i < d->n_order; i++) {
        const diff_line *l = &d->lines[d->order[i]];
        if (l->kind != kind) continue;
        if (s->top && (shown >= s->top || !is_of_interest(l))) {
            more++;
            continue;
        }
        cells(d, l, cell);
        for (int k = 0; k < COLUMNS; k++)
            dl_grid_text(&grid, cell[k].text ? cell[k].text : "");
        causes_notes(d, d->order[i], &grid);
        shown++;
    }
    if (shown) {
        dl_str_char(out, '\n');
        dl_grid_print(&grid, s->width, out);
    }
    if (more)
        dl_str_fmt(out, "... and %s more %s%s (--top N shows more, --top 0 all)\n",
                   dl_u64_grouped(digits, more), titles[kind], more == 1 ? "" : "s");
    for (int k = 0; k < COLUMNS; k++)
        dl_str_free(&cell[k]);
}

static void counts_text(const diff *d, dl_str *out)
{
    static const diff_verdict told[] = {DIFF_SLOWER,    DIFF_FASTER,  DIFF_SAME,    DIFF_UNDECIDED,
                                        DIFF_LOST_TIME, DIFF_NO_TIME, DIFF_IS_GONE, DIFF_IS_NEW};
    char digits[DL_GROUPED_SIZE];
    for (int kind = DIFF_OP; kind <= DIFF_ZONE; kind++) {
        bool any = false;
        for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
            const size_t n = d->counted[kind][told[i]];
            if (!n) continue;
            dl_str_fmt(out, "%s%s %s",
                       any               ? ", "
                       : kind == DIFF_OP ? "Ops: "
                                         : "Zones: ",
                       dl_u64_grouped(digits, n), diff_verdicts[told[i]]);
            any = true;
        }
        if (any) dl_str_add(out, ".\n");
    }
}

static void gates_text(const diff_shown *s, dl_str *out)
{
    for (size_t i = 0; i < s->n_gates; i++) {
        const gate *g = &s->gates[i];
        const bool red = s->colour && g->result == GATE_FAILED;
        dl_str_fmt(out, "%s%s%-9s %s%s\n", i ? "" : "\n", red ? "\033[31m" : "", gate_results[g->result],
                   g->text, red ? "\033[0m" : "");
        for (size_t k = 0; k < g->n_reasons; k++) {
            dl_str_add(out, "    ");
            if (s->width > 24)
                dl_str_short(out, g->reasons[k], s->width - 5);
            else
                dl_str_shown(out, g->reasons[k], strlen(g->reasons[k]));
            dl_str_char(out, '\n');
        }
        const size_t all = g->failed + g->undecided;
        if (all > g->n_reasons) dl_str_fmt(out, "    ... and %zu more\n", all - g->n_reasons);
    }
}

void diff_print_text(const diff_shown *s, dl_str *out)
{
    const diff *d = s->d;
    for (uint32_t side = 0; side < DIFF_SIDES; side++)
        describe_side(d, side, out);
    describe_boards(d, out);
    describe_test(d, out);
    for (int kind = 0; kind <= DIFF_ZONE; kind++)
        text_table(s, (diff_kind)kind, out);
    dl_str_char(out, '\n');
    counts_text(d, out);
    dl_str_fmt(out, "Times are %s of one; \"difference\" is of all of them in a run.\n", d->time_unit);
    gates_text(s, out);
}

/* ---- Markdown --- */

/* Names are no Markdown. */
static void plain(const char *text, dl_str *out)
{
    dl_str shown = {0};
    dl_str_shown(&shown, text, strlen(text));
    for (const char *p = shown.text ? shown.text : ""; *p; p++) {
        if (strchr("\\`*_{}[]<>#|~&", *p)) dl_str_char(out, '\\');
        dl_str_char(out, *p);
    }
    dl_str_free(&shown);
}

static void markdown_table(const diff_shown *s, diff_kind kind, dl_str *out)
{
    const diff *d = s->d;
    dl_str cell[COLUMNS] = {{0}};
    const size_t top = s->top ? s->top : SIZE_MAX;
    size_t shown = 0, more = 0;
    for (size_t i = 0; i < d->n_order; i++) {
        const diff_line *l = &d->lines[d->order[i]];
        if (l->kind != kind) continue;
        if (shown >= top || (s->top && !is_of_interest(l))) {
            more++;
            continue;
        }
        if (!shown++)
            dl_str_fmt(out,
                       "\n| %s | old | new | %% | difference | chance | |\n|---|--:|--:|--:|--:|--:|---|\n",
                       titles[kind]);
        cells(d, l, cell);
        dl_str_add(out, "| ");
        plain(cell[NAME].text ? cell[NAME].text : "", out);
        for (int k = 0; k < NAME; k++)
            dl_str_fmt(out, " | %s", cell[k].text ? cell[k].text : "");
        dl_str_add(out, " |\n");
    }
    if (more) dl_str_fmt(out, "\n%zu more.\n", more);
    for (int k = 0; k < COLUMNS; k++)
        dl_str_free(&cell[k]);
}

void diff_print_markdown(const diff_shown *s, dl_str *out)
{
    static const char *const heads[GATE_RESULTS] = {
        [GATE_PASSED] = "passed", [GATE_FAILED] = "**failed**", [GATE_UNDECIDED] = "**undecided**"};
    const diff *d = s->d;
    dl_str lines = {0};
    dl_str_add(out, "### devlog diff");
    if (s->n_gates) dl_str_fmt(out, ": %s", heads[diff_result(s->gates, s->n_gates)]);
    dl_str_add(out, "\n\n");
    for (uint32_t side = 0; side < DIFF_SIDES; side++)
        describe_side(d, side, &lines);
    describe_boards(d, &lines);
    describe_test(d, &lines);
    counts_text(d, &lines);
    for (const char *p = lines.text ? lines.text : ""; *p; p++) { /* a line each */
        if (strchr("\\`*_{}[]<>#|~&", *p)) dl_str_char(out, '\\');
        if (*p == '\n') dl_str_char(out, '\\');
        dl_str_char(out, *p);
    }
    dl_str_free(&lines);
    dl_str_fmt(out, "Times are %s of one.\n", d->time_unit);
    for (size_t i = 0; i < s->n_gates; i++) {
        const gate *g = &s->gates[i];
        dl_str_fmt(out, "%s- ", i ? "" : "\n");
        plain(g->text, out);
        dl_str_fmt(out, ": %s\n", heads[g->result]);
        for (size_t k = 0; k < g->n_reasons; k++) {
            dl_str_add(out, "  - ");
            plain(g->reasons[k], out);
            dl_str_char(out, '\n');
        }
    }
    for (int kind = 0; kind <= DIFF_ZONE; kind++)
        markdown_table(s, (diff_kind)kind, out);
}
