/* Advice and indicators: see the header. */
#include "answers/rules.h"

#include <stdlib.h>
#include <string.h>

#include "answers/op_facts.h"
#include "answers/sections.h"
#include "answers/table_file.h"

enum { VERSION = 1, MOST_SHOWN = 6 };

typedef struct rule {
    const char *id, *title, *means, *cure;
    bool of_run;
    formula *when, *saves; /* saves NULL: how much is not known */
    const char *shown[MOST_SHOWN];
    formula *show[MOST_SHOWN];
    size_t n_shown;
} rule;

typedef struct indicator {
    const char *id, *title, *means, *cure, *unit;
    formula *value, *good, *warning;
} indicator;

struct rules {
    table_file rules_file, thresholds_file;
    op_names names;
    rule *rules;
    size_t n_rules;
    indicator *indicators;
    size_t n_indicators;
};

/* ---- Reading ----------------------------------------------------------------------------------------- */

/* `member` of an entry as a formula; the entry's id tells the line. */
static devlog_status read_formula(rules *r, const table_file *f, const cJSON *of, const char *member,
                                  bool must, formula **out, devlog_error *err)
{
    devlog_error why;
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(of, member);
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(of, "id");
    if (!item && !must) return DEVLOG_OK;
    const char *text = table_file_text(f, of, member, id, err);
    if (!text) return DEVLOG_ERR_FORMAT;
    devlog_status status = formula_parse(out, text, op_names_find, &r->names, &why);
    return status ? table_file_wrong(f, item, err, "\"%s\" of \"%s\": %s", member, id->valuestring, why.text)
                  : DEVLOG_OK;
}

/* The texts that every entry has. */
static devlog_status read_texts(const table_file *f, const cJSON *of, const char **texts[4],
                                devlog_error *err)
{
    static const char *const members[] = {"id", "title", "means", "do"};
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(of, "id");
    for (int i = 0; i < 4; i++) {
        *texts[i] = table_file_text(f, of, members[i], id, err);
        if (!*texts[i]) return DEVLOG_ERR_FORMAT;
    }
    return DEVLOG_OK;
}

static devlog_status read_shown(rules *r, const cJSON *of, rule *to, devlog_error *err)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(of, "show"), *one;
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(of, "id");
    devlog_error why;
    if (list && (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > MOST_SHOWN))
        return table_file_wrong(&r->rules_file, id, err, "\"show\" is a list of up to %d names of facts",
                                MOST_SHOWN);
    cJSON_ArrayForEach(one, list)
    {
        if (!cJSON_IsString(one))
            return table_file_wrong(&r->rules_file, id, err, "\"show\" has something in it that is no text");
        to->shown[to->n_shown] = one->valuestring;
        if (formula_parse(&to->show[to->n_shown], one->valuestring, op_names_find, &r->names, &why))
            return table_file_wrong(&r->rules_file, id, err, "\"show\": %s", why.text);
        to->n_shown++;
    }
    return DEVLOG_OK;
}

static devlog_status read_rule(rules *r, const cJSON *of, devlog_error *err)
{
    const table_file *f = &r->rules_file;
    rule *to = &r->rules[r->n_rules++];
    const char **texts[4] = {&to->id, &to->title, &to->means, &to->cure};
    devlog_status status = read_texts(f, of, texts, err);
    if (status) return status;
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(of, "id");
    for (size_t i = 0; i + 1 < r->n_rules; i++)
        if (strcmp(r->rules[i].id, to->id) == 0)
            return table_file_wrong(f, id, err, "two rules have the id \"%s\"", to->id);
    const char *scope = table_file_text(f, of, "of", id, err);
    if (!scope) return DEVLOG_ERR_FORMAT;
    to->of_run = strcmp(scope, "run") == 0;
    if (!to->of_run && strcmp(scope, "op") != 0)
        return table_file_wrong(f, id, err, "\"of\" is \"op\" or \"run\", not \"%s\"", scope);
    r->names.of_run = to->of_run;
    status = read_formula(r, f, of, "when", true, &to->when, err);
    if (!status) status = read_formula(r, f, of, "saves", false, &to->saves, err);
    return status ? status : read_shown(r, of, to, err);
}

static devlog_status read_indicator(rules *r, const cJSON *of, devlog_error *err)
{
    static const char *const units[] = {"percent", "ratio", "count", "cycles", "ns"};
    const table_file *f = &r->thresholds_file;
    indicator *to = &r->indicators[r->n_indicators++];
    const char **texts[4] = {&to->id, &to->title, &to->means, &to->cure};
    devlog_status status = read_texts(f, of, texts, err);
    if (status) return status;
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(of, "id");
    to->unit = table_file_text(f, of, "unit", id, err);
    if (!to->unit) return DEVLOG_ERR_FORMAT;
    bool known = false;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        known |= strcmp(units[i], to->unit) == 0;
    if (!known)
        return table_file_wrong(f, id, err, "\"unit\" is percent, ratio, count, cycles or ns, not \"%s\"",
                                to->unit);
    r->names.of_run = true;
    status = read_formula(r, f, of, "value", true, &to->value, err);
    if (!status) status = read_formula(r, f, of, "good", true, &to->good, err);
    return status ? status : read_formula(r, f, of, "warning", true, &to->warning, err);
}

/* The list `member` of a file, entry by entry. */
static devlog_status read_list(rules *r, const table_file *f, const char *member, size_t size, void **items,
                               devlog_status (*read)(rules *, const cJSON *, devlog_error *),
                               devlog_error *err)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(f->json, member), *one;
    if (!cJSON_IsArray(list)) return table_file_wrong(f, NULL, err, "\"%s\" is no list", member);
    *items = calloc((size_t)cJSON_GetArraySize(list) + 1, size);
    if (!*items) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for rules");
    devlog_status status = DEVLOG_OK;
    cJSON_ArrayForEach(one, list)
    {
        if (!status) status = read(r, one, err);
    }
    return status;
}

devlog_status rules_read(rules **out, const char *rules_file, const char *thresholds_file, devlog_error *err)
{
    rules *r = *out = calloc(1, sizeof *r);
    if (!r) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for rules");
    devlog_status status = table_file_read(&r->rules_file, rules_file, "rules.json", VERSION, err);
    if (!status)
        status = table_file_read(&r->thresholds_file, thresholds_file, "thresholds.json", VERSION, err);
    if (!status)
        status = read_list(r, &r->rules_file, "rules", sizeof *r->rules, (void **)&r->rules, read_rule, err);
    if (!status)
        status = read_list(r, &r->thresholds_file, "indicators", sizeof *r->indicators,
                           (void **)&r->indicators, read_indicator, err);
    return status;
}

void rules_free(rules *r)
{
    if (!r) return;
    for (size_t i = 0; i < r->n_rules; i++) {
        formula_free(r->rules[i].when);
        formula_free(r->rules[i].saves);
        for (size_t k = 0; k < MOST_SHOWN; k++)
            formula_free(r->rules[i].show[k]);
    }
    for (size_t i = 0; i < r->n_indicators; i++) {
        formula_free(r->indicators[i].value);
        formula_free(r->indicators[i].good);
        formula_free(r->indicators[i].warning);
    }
    free(r->rules);
    free(r->indicators);
    op_names_free(&r->names);
    table_file_free(&r->rules_file);
    table_file_free(&r->thresholds_file);
    free(r);
}

/* ---- Advice ------------------------------------------------------------------------------------------ */

static const answer_column columns[] = {
    {"rule", "rule", ANSWER_TEXT, 0},
    {"title", "what", ANSWER_TEXT, 0},
    {"count", "ops", ANSWER_COUNT, 1},
    {"saving", "saves up to", ANSWER_TIME, 0},
    {"share", "%", ANSWER_PERCENT, 0},
    {"op", "op", ANSWER_TEXT, ANSWER_HIDDEN},
    {"op_id", "op id", ANSWER_COUNT, ANSWER_HIDDEN},
    {"evidence", "evidence", ANSWER_TEXT, ANSWER_BELOW},
    {"means", "means", ANSWER_TEXT, ANSWER_BELOW},
    {"do", "do", ANSWER_TEXT, ANSWER_BELOW},
};

/* Ops that a rule fired for. */
typedef struct fired {
    const rule *of;
    uint64_t count;
    double saving, worst; /* worst: of `op`: what it saves, or its time */
    bool saves;
    const answer_op *op;
    bool of_ops; /* it may fire for ops of this run */
} fired;

static void see(fired *x, op_facts *f)
{
    const rule *of = x->of;
    if (!formula_true(formula_eval(of->when, op_facts_look, f))) return;
    const formula_value saves = of->saves ? formula_eval(of->saves, op_facts_look, f) : (formula_value){0};
    const bool known = saves.kind == FORMULA_NUMBER && saves.number > 0;
    const double weight = known ? saves.number : f->op && isfinite(f->op->time) ? f->op->time : 0;
    x->count++;
    if (known) {
        x->saving += saves.number;
        x->saves = true;
    }
    if (x->count > 1 && weight <= x->worst) return;
    x->worst = weight;
    x->op = f->op;
}

/* "gap 8392663, cores 12" of the op that shows it best. */
static const char *evidence(answer *a, const fired *x, op_facts *f)
{
    dl_str text = {0};
    f->op = x->op;
    f->tensors_read = false;
    for (size_t i = 0; i < x->of->n_shown; i++) {
        const formula_value v = formula_eval(x->of->show[i], op_facts_look, f);
        if (v.kind == FORMULA_UNKNOWN) continue;
        if (text.len) dl_str_add(&text, ", ");
        dl_str_fmt(&text, "%s ", x->of->shown[i]);
        if (v.kind == FORMULA_TEXT)
            dl_str_add(&text, v.text);
        else
            dl_str_fmt(&text, fabs(v.number) < 1e6 || fabs(v.number) > 1e15 ? "%.6g" : "%.0f", v.number);
    }
    const char *kept = NULL;
    if (x->op) {
        const op_table_row *row = answer_row(f->run, x->op);
        kept = answer_keepf(a, "%s (op %llu)%s%s", answer_code(f->run, x->op), (unsigned long long)row->id,
                            text.len ? ": " : "", text.len ? text.text : "");
    } else if (text.len) {
        kept = answer_keep(a, text.text, text.len);
    }
    dl_str_free(&text);
    return kept;
}

/* Those that say what they save first, the most of it before the others. */
static int by_saving(const void *a, const void *b)
{
    const fired *x = a, *y = b;
    if (x->saves != y->saves) return x->saves ? -1 : 1;
    const double left = x->saves ? x->saving : (double)x->count,
                 right = y->saves ? y->saving : (double)y->count;
    if (left < right || left > right) return left > right ? -1 : 1;
    return x->of < y->of ? -1 : x->of > y->of;
}

bool rules_add_advice(answer *a, const answer_run *run, const rules *r)
{
    op_tensors room;
    run_facts of_run;
    fired *all = calloc(r->n_rules + 1, sizeof *all);
    if (!all) return false;
    run_facts_of(&of_run, run);
    op_facts f = {.run = run, .tensors = &room, .names = &r->names, .of_run = &of_run};
    for (size_t i = 0; i < r->n_rules; i++)
        all[i] =
            (fired){.of = &r->rules[i],
                    .of_ops = !r->rules[i].of_run && formula_may_hold(r->rules[i].when, op_facts_lack, &f)};
    for (size_t k = 0; k < run->n_ops && run->table->wide; k++) {
        f.op = &run->ops[k];
        f.tensors_read = false;
        for (size_t i = 0; i < r->n_rules; i++)
            if (all[i].of_ops) see(&all[i], &f);
    }
    f.op = NULL;
    for (size_t i = 0; i < r->n_rules; i++)
        if (r->rules[i].of_run) see(&all[i], &f);
    if (r->n_rules) qsort(all, r->n_rules, sizeof *all, by_saving);
    answer_section *s = answer_table(a, "advice", "ADVICE", columns, sizeof columns / sizeof columns[0]);
    const double wall = of_run.values[RUN_WALL];
    for (size_t i = 0; i < r->n_rules; i++) {
        const fired *x = &all[i];
        if (!x->count) continue;
        answer_text(s, x->of->id);
        answer_text(s, x->of->title);
        answer_number(s, x->of->of_run ? NAN : (double)x->count);
        answer_number(s, x->saves ? x->saving : NAN);
        /* What is more than all of the wall time is not of it: compiling before the first launch. */
        answer_number(s, x->saves && wall > 0 && x->saving <= wall ? 100 * x->saving / wall : NAN);
        answer_text(s, x->op ? answer_code(run, x->op) : NULL);
        answer_number(s, x->op ? (double)answer_row(run, x->op)->id : NAN);
        answer_text(s, evidence(a, x, &f));
        answer_text(s, x->of->means);
        answer_text(s, x->of->cure);
    }
    answer_note(
        a, s,
        answer_rows(s)
            ? "Rules: tables/rules.json. Each saving is an upper bound of its own; % is of the wall time."
            : "No rule of tables/rules.json fired.");
    free(all);
    return true;
}

/* ---- Indicators -------------------------------------------------------------------------------------- */

static const answer_column grades[] = {
    {"indicator", "indicator", ANSWER_TEXT, ANSWER_HIDDEN},
    {"title", "indicator", ANSWER_TEXT, 0},
    {"value", "value", ANSWER_RATIO, 0},
    {"unit", "unit", ANSWER_TEXT, 0},
    {"grade", "grade", ANSWER_TEXT, 0},
    {"means", "means", ANSWER_TEXT, 2},
    {"do", "do", ANSWER_TEXT, ANSWER_BELOW},
};

/* What is not known is left out: it has no grade. */
bool rules_add_indicators(answer *a, const answer_run *run, const rules *r)
{
    run_facts of_run;
    run_facts_of(&of_run, run);
    op_facts f = {.run = run, .names = &r->names, .of_run = &of_run};
    answer_section *s = NULL;
    for (size_t i = 0; i < r->n_indicators; i++) {
        const indicator *x = &r->indicators[i];
        const formula_value value = formula_eval(x->value, op_facts_look, &f);
        if (value.kind != FORMULA_NUMBER) continue;
        const bool good = formula_true(formula_eval(x->good, op_facts_look, &f));
        const bool warning = !good && formula_true(formula_eval(x->warning, op_facts_look, &f));
        if (!s) s = answer_table(a, "indicators", "INDICATORS", grades, sizeof grades / sizeof grades[0]);
        answer_text(s, x->id);
        answer_text(s, x->title);
        answer_number(s, value.number);
        answer_text(s, x->unit);
        answer_text(s, good ? "good" : warning ? "warning" : "bad");
        answer_text(s, x->means);
        answer_text(s, good ? NULL : x->cure);
    }
    if (s) answer_note(a, s, "Thresholds: tables/thresholds.json.");
    return true;
}
