/* Which op's code a launch of a log is of, for those that the run wants; see run_log_internal.h. Which row of the report it is:
 * launch_rows.h. */
#include <stdlib.h>

#include "answers/answer_run.h"
#include "answers/run_log_internal.h"

bool run_log_ask(asked *a, const answer_run *r, bool made)
{
    *a = (asked){.all = !r, .made = made, .whole = r && !r->left_out};
    if (!r) return true;
    const op_table *t = r->table;
    a->n_rows = made ? t->n : 0;
    a->rows.made = !r->has_report;
    a->by_row = calloc(a->n_rows + 1, sizeof *a->by_row);
    if (!a->by_row) return false;
    for (size_t i = r->first; i < r->last; i++) {
        const op_table_row *row = &t->rows[i];
        if (!answer_run_wants(r, i) || (row->has & OP_IS_POINT)) continue;
        const double *wide = t->wide[i].numbers;
        if (made)
            a->by_row[i] = row->code + 1;
        else if (!launch_rows_add(&a->rows, row, wide[OP_FW_START], wide[OP_FW_END], row->code))
            return false;
    }
    return made || launch_rows_end(&a->rows, t);
}

uint32_t run_log_code_of(const asked *a, const devlog_log *log, uint32_t number, uint64_t start)
{
    if (a->all) return 1;
    if (a->made) return number < a->n_rows && a->by_row[number] ? a->by_row[number] : NOT_WANTED;
    const launch_key key = launch_key_of(log, number, start);
    const uint32_t code = launch_rows_find(&a->rows, &key);
    return code == UINT32_MAX ? NOT_WANTED : code + 1;
}

bool run_log_launch(const run_log *l, uint32_t i, launch_key *out)
{
    if (i >= devlog_log_launches(l->log)) return false;
    *out = launch_key_of(l->log, i, devlog_log_launch(l->log, i).first_start);
    return true;
}
