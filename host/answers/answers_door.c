/* The public door: devlog/answers.h on report_job.h, causes_job.h, diff_job.h and memory_answer.h. Works nothing out. */
#include "devlog/answers.h"

#include <stdlib.h>
#include <string.h>

#include "answers/answer_print.h"
#include "answers/causes_job.h"
#include "answers/diff_answer.h"
#include "answers/diff_job.h"
#include "answers/op_rows.h"
#include "answers/report_job.h"
#include "base/c_locale.h"
#include "base/options.h"

typedef enum answer_of { OF_REPORT, OF_CAUSES, OF_DIFF, OF_OPS, OF_MEMORY } answer_of;

struct devlog_answer {
    answer_of of;
    const answer *a;
    bool complete;
    report_job report;
    causes_job causes;
    diff_job diff;
    memory_job memory;
    answer of_diff;
    op_rows_job ops;
};

_Static_assert(sizeof(devlog_range) == sizeof(dl_filter_range), "ranges are handed on as they are");
_Static_assert((int)DEVLOG_GROUP_STACK + 1 == (int)GROUPS && (int)DEVLOG_SORT_SLOWEST + 1 == (int)SORTS,
               "groups and sorts are handed on as they are");
_Static_assert((int)DEVLOG_UNDECIDED == (int)GATE_UNDECIDED && (int)DEVLOG_FAILED == (int)GATE_FAILED,
               "judgements are handed on as they are");

void devlog_answer_free(devlog_answer *whole)
{
    if (!whole) return;
    if (whole->of == OF_REPORT) report_job_free(&whole->report);
    if (whole->of == OF_CAUSES) causes_job_free(&whole->causes);
    if (whole->of == OF_MEMORY) memory_job_free(&whole->memory);
    if (whole->of == OF_DIFF) diff_job_free(&whole->diff);
    if (whole->of == OF_DIFF) answer_free(&whole->of_diff);
    if (whole->of == OF_OPS) op_rows_job_free(&whole->ops);
    free(whole);
}

/* ---- Asking ------------------------------------------------------------------------------------------- */

static devlog_status take_selection(op_selection *out, const devlog_selection *given, devlog_error *err)
{
    devlog_selection s;
    *out = (op_selection){0};
    const devlog_status status = dl_options_take(&s, sizeof s, given, "devlog_selection", err);
    if (status) return status;
    out->filter = (dl_filter){.chips = (const dl_filter_range *)s.chips,
                              .n_chips = s.n_chips,
                              .launches = (const dl_filter_range *)s.launches,
                              .n_launches = s.n_launches,
                              .traces = (const dl_filter_range *)s.traces,
                              .n_traces = s.n_traces,
                              .sessions = (const dl_filter_range *)s.sessions,
                              .n_sessions = s.n_sessions,
                              .skip_launches = s.skip_launches};
    out->host =
        (op_select_options){.from = s.from_signpost, .to = s.to_signpost, .ops = s.ops, .n_ops = s.n_ops};
    out->skip_warm_up = s.skip_warm_up;
    return DEVLOG_OK;
}

/* Hands the answer out, or frees it. */
static devlog_status finish(devlog_answer *whole, devlog_status status, devlog_answer **out)
{
    *out = status ? NULL : whole;
    if (status) devlog_answer_free(whole);
    return status;
}

static devlog_status begin(const char *call, bool good, answer_of of, devlog_answer **whole,
                           devlog_error *err)
{
    if (!good) return dl_fail(err, DEVLOG_ERR_ARGUMENT, "%s: no input, or nowhere to put the answer", call);
    *whole = calloc(1, sizeof **whole);
    if (!*whole) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    (*whole)->of = of;
    return DEVLOG_OK;
}

devlog_status devlog_report(const char *input, const devlog_report_options *options, devlog_answer **out,
                            devlog_error *err)
{
    DL_IN_C_LOCALE();
    devlog_report_options o;
    op_selection selection;
    devlog_answer *made;
    devlog_status status = begin("devlog_report", input && out, OF_REPORT, &made, err);
    if (status) return status;
    status = dl_options_take(&o, sizeof o, options, "devlog_report_options", err);
    if (!status && ((unsigned)o.group >= GROUPS || (unsigned)o.sort >= SORTS))
        status = dl_fail(err, DEVLOG_ERR_ARGUMENT, "devlog_report_options: there is no such group or sort");
    if (!status && !(o.dram_bytes_per_s >= 0))
        status = dl_fail(err, DEVLOG_ERR_ARGUMENT, "devlog_report_options: dram_bytes_per_s is less than 0");
    if (!status) status = take_selection(&selection, o.selection, err);
    if (!status) {
        const report_options how = {.selection = &selection,
                                    .by_fw = o.firmware_time,
                                    .group = (answer_group)o.group,
                                    .sort = (answer_sort)o.sort,
                                    .top = o.top,
                                    .ops_table = o.ops_table,
                                    .board = o.board,
                                    .rules = o.rules,
                                    .thresholds = o.thresholds,
                                    .dram = o.dram_bytes_per_s};
        status = report_job_run(&made->report, input, &how, "", err);
    }
    made->a = &made->report.a;
    made->complete = !made->report.lost;
    return finish(made, status, out);
}

devlog_status devlog_causes(const char *input, const devlog_causes_options *options, devlog_answer **out,
                            devlog_error *err)
{
    DL_IN_C_LOCALE();
    devlog_causes_options o;
    op_selection selection;
    devlog_answer *made;
    devlog_status status = begin("devlog_causes", input && out, OF_CAUSES, &made, err);
    if (status) return status;
    status = dl_options_take(&o, sizeof o, options, "devlog_causes_options", err);
    if (!status) status = take_selection(&selection, o.selection, err);
    if (!status) status = causes_job_read(&made->causes, input, &selection, o.elf_folder, err);
    if (!status) status = causes_job_answer(&made->causes, o.top, err);
    made->a = &made->causes.a;
    if (!status) made->complete = !dl_losses_any(dl_decode_losses(made->causes.reading.d));
    /* The selection is the caller's. */
    made->causes.filter = (dl_filter){0};
    return finish(made, status, out);
}

/* Their texts are the caller's. */
static devlog_status keep_conditions(devlog_answer *whole, devlog_error *err)
{
    diff_job *j = &whole->diff;
    for (size_t i = 0; i < j->n_gates; i++)
        j->gates[i].text = answer_keep(&whole->of_diff, j->gates[i].text, strlen(j->gates[i].text));
    return answer_status(&whole->of_diff, err);
}

devlog_status devlog_diff(const char *const *old_inputs, size_t n_old, const char *const *new_inputs,
                          size_t n_new, const devlog_diff_options *options, devlog_answer **out,
                          devlog_error *err)
{
    DL_IN_C_LOCALE();
    devlog_diff_options o;
    devlog_answer *made;
    devlog_status status =
        begin("devlog_diff", old_inputs && new_inputs && n_old && n_new && out, OF_DIFF, &made, err);
    if (status) return status;
    diff_job *j = &made->diff;
    status = dl_options_take(&o, sizeof o, options, "devlog_diff_options", err);
    if (!status && o.confidence_percent != 0 && !(o.confidence_percent > 50 && o.confidence_percent < 100))
        status = dl_fail(err, DEVLOG_ERR_ARGUMENT,
                         "devlog_diff_options: confidence_percent is more than 50 and less than 100");
    if (!status) status = diff_job_gates(j, o.conditions, o.n_conditions, err);
    for (size_t i = 0; i < n_old && !status; i++)
        status = diff_job_add(j, old_inputs[i], DIFF_OLD, err);
    for (size_t i = 0; i < n_new && !status; i++)
        status = diff_job_add(j, new_inputs[i], DIFF_NEW, err);
    if (!status) {
        const diff_job_options how = {.exact = o.exact,
                                      .by_fw = o.firmware_time,
                                      .confidence = o.confidence_percent,
                                      .min_share = o.min_share_percent};
        status = diff_job_run(j, &how, "", err);
    }
    if (!status) status = diff_answer(&made->of_diff, &j->d, j->gates, j->n_gates, err);
    if (!status) status = keep_conditions(made, err);
    made->a = &made->of_diff;
    made->complete = !j->lost;
    return finish(made, status, out);
}

devlog_status devlog_op_rows(const char *input, devlog_answer **out, devlog_error *err)
{
    DL_IN_C_LOCALE();
    devlog_answer *made;
    devlog_status status = begin("devlog_op_rows", input && out, OF_OPS, &made, err);
    if (status) return status;
    status = op_rows_job_run(&made->ops, input, err);
    made->a = &made->ops.a;
    made->complete = !made->ops.lost;
    return finish(made, status, out);
}

devlog_status devlog_memory_of_run(const char *input, const devlog_memory_options *options,
                                   devlog_answer **out, devlog_error *err)
{
    enum { MOST_STEPS = 10000 };
    devlog_memory_options o;
    devlog_answer *made;
    devlog_status status = begin("devlog_memory_of_run", input && out, OF_MEMORY, &made, err);
    if (status) return status;
    status = dl_options_take(&o, sizeof o, options, "devlog_memory_options", err);
    if (!status && o.steps > MOST_STEPS)
        status = dl_fail(err, DEVLOG_ERR_ARGUMENT, "devlog_memory_options: at most %d steps", MOST_STEPS);
    if (!status) status = memory_job_read(&made->memory, input, err);
    const memory_wishes wishes = {.top = status ? 0 : o.top, .steps = status ? 0 : o.steps};
    if (!status) status = memory_job_answer(&made->memory, &wishes, err);
    if (!status) memory_job_troubles(&made->memory, "", &made->memory.troubles);
    made->a = &made->memory.a;
    made->complete = !made->memory.lost;
    return finish(made, status, out);
}

/* ---- Tables ------------------------------------------------------------------------------------------- */

size_t devlog_answer_tables(const devlog_answer *whole)
{
    return whole->a->n;
}

static const answer_section *section_of(const devlog_answer *whole, size_t table)
{
    return table < whole->a->n ? &whole->a->sections[table] : NULL;
}

devlog_table devlog_answer_table(const devlog_answer *whole, size_t table)
{
    const answer_section *s = section_of(whole, table);
    if (!s) return (devlog_table){.key = "", .title = ""};
    return (devlog_table){.key = s->key,
                          .title = s->title,
                          .facts = s->facts,
                          .columns = s->n_columns,
                          .rows = answer_rows(s),
                          .more = s->more,
                          .notes = s->n_notes};
}

devlog_column devlog_answer_column(const devlog_answer *whole, size_t table, size_t column)
{
    const answer_section *s = section_of(whole, table);
    if (!s || column >= s->n_columns) return (devlog_column){.key = "", .title = "", .unit = ""};
    const answer_column *c = &s->columns[column];
    return (devlog_column){.key = c->key,
                           .title = c->title,
                           .unit = answer_unit_name(whole->a, c->unit),
                           .is_text = c->unit == ANSWER_TEXT};
}

static devlog_cell cell_of(const devlog_answer *whole, const answer_cell *c)
{
    const bool text = c->known && c->unit == ANSWER_TEXT;
    return (devlog_cell){.known = c->known,
                         .text = text ? c->text : NULL,
                         .number = c->known && !text ? c->number : 0,
                         .unit = answer_unit_name(whole->a, c->unit)};
}

devlog_cell devlog_answer_cell(const devlog_answer *whole, size_t table, size_t row, size_t column)
{
    const answer_section *s = section_of(whole, table);
    if (!s || column >= s->n_columns || row >= answer_rows(s)) return (devlog_cell){.unit = ""};
    return cell_of(whole, &s->cells[row * s->n_columns + column]);
}

const char *devlog_answer_note(const devlog_answer *whole, size_t table, size_t note)
{
    const answer_section *s = section_of(whole, table);
    return s && note < s->n_notes ? s->notes[note] : "";
}

size_t devlog_answer_find(const devlog_answer *whole, const char *key)
{
    const answer_section *s = answer_find(whole->a, key);
    return s ? (size_t)(s - whole->a->sections) : DEVLOG_NO_TABLE;
}

size_t devlog_answer_find_column(const devlog_answer *whole, size_t table, const char *key)
{
    const answer_section *s = section_of(whole, table);
    for (size_t i = 0; s && i < s->n_columns; i++)
        if (strcmp(s->columns[i].key, key) == 0) return i;
    return DEVLOG_NO_TABLE;
}

devlog_cell devlog_answer_fact(const devlog_answer *whole, const char *table, const char *fact)
{
    enum { KEY = 0, VALUE = 2 };
    const answer_section *s = answer_find(whole->a, table);
    for (size_t i = 0; s && s->facts && i < answer_rows(s); i++) {
        const answer_cell *row = &s->cells[i * s->n_columns];
        if (strcmp(row[KEY].text, fact) == 0) return cell_of(whole, &row[VALUE]);
    }
    return (devlog_cell){.unit = ""};
}

/* ---- As a whole --------------------------------------------------------------------------------------- */

bool devlog_answer_complete(const devlog_answer *whole)
{
    return whole->complete;
}

const char *devlog_answer_troubles(const devlog_answer *whole)
{
    const dl_str *of = whole->of == OF_DIFF     ? &whole->diff.troubles
                       : whole->of == OF_OPS    ? &whole->ops.troubles
                       : whole->of == OF_MEMORY ? &whole->memory.troubles
                                                : &whole->report.troubles;
    return of->text ? of->text : "";
}

devlog_judgement devlog_answer_judgement(const devlog_answer *whole)
{
    if (whole->of != OF_DIFF) return DEVLOG_PASSED;
    return (devlog_judgement)diff_result(whole->diff.gates, whole->diff.n_gates);
}

devlog_status devlog_answer_print(const devlog_answer *whole, devlog_form form, char **out, devlog_error *err)
{
    DL_IN_C_LOCALE();
    static answer_printer *const of_sections[] = {[DEVLOG_AS_TEXT] = answer_print_text,
                                                  [DEVLOG_AS_JSON] = answer_print_json,
                                                  [DEVLOG_AS_CSV] = answer_print_csv,
                                                  [DEVLOG_AS_MARKDOWN] = answer_print_markdown};
    static diff_printer *const of_diffs[] = {[DEVLOG_AS_TEXT] = diff_print_text,
                                             [DEVLOG_AS_JSON] = diff_print_json,
                                             [DEVLOG_AS_CSV] = diff_print_csv,
                                             [DEVLOG_AS_MARKDOWN] = diff_print_markdown};
    dl_str text = {0};
    if ((unsigned)form > DEVLOG_AS_MARKDOWN)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "devlog_answer_print: there is no such form");
    if (whole->of == OF_DIFF) {
        const diff_job *j = &whole->diff;
        of_diffs[form](&(diff_shown){.d = &j->d, .gates = j->gates, .n_gates = j->n_gates}, &text);
    } else {
        static const struct {
            const char *kind;
            int version;
        } kinds[] = {[OF_REPORT] = {"report", REPORT_FORMAT_VERSION},
                     [OF_CAUSES] = {"causes", CAUSES_FORMAT_VERSION},
                     [OF_OPS] = {"op-rows", OP_ROWS_FORMAT_VERSION},
                     [OF_MEMORY] = {"memory", MEMORY_FORMAT_VERSION}};
        of_sections[form](&(answer_shown){.a = whole->a,
                                          .kind = kinds[whole->of].kind,
                                          .version = kinds[whole->of].version},
                          &text);
    }
    const devlog_status status = dl_str_status(&text, err);
    if (status) dl_str_free(&text);
    if (!status) *out = text.text;
    return status;
}
