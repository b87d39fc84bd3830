/* ADVICE and INDICATORS: rules that say what a run's figures mean and what to do (tables/rules.json), and grades of a run's
 * figures (tables/thresholds.json). Both files are the user's to edit; docs/advice.md says how. Not for the facts that they
 * ask for (op_facts.h). */
#ifndef DEVLOG_ANSWERS_RULES_H
#define DEVLOG_ANSWERS_RULES_H

#include "answers/answer_run.h"

typedef struct rules rules;

/* NULL: those of the installation. A wrong file is FORMAT, with file, line and cure. Free with rules_free, also after a
 * failure. */
devlog_status rules_read(rules **out, const char *rules_file, const char *thresholds_file, devlog_error *err);
void rules_free(rules *r);

/* False: no memory. The answer borrows texts of the rules. */
bool rules_add_advice(answer *a, const answer_run *run, const rules *r);
bool rules_add_indicators(answer *a, const answer_run *run, const rules *r);

#endif
