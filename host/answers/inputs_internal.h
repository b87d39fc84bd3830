/* Between inputs.c and inputs_before.c: where a run's folder has its logs, and whether its report is its own. */
#ifndef DEVLOG_ANSWERS_INPUTS_INTERNAL_H
#define DEVLOG_ANSWERS_INPUTS_INTERNAL_H

#include "answers/inputs.h"

/* Below a run's folder. */
#define RUN_PLACES "", "logs_device", "logs", ".logs"

/* The log of ops in one of these places, freed by the caller; NULL: there is none, or it is empty. */
char *run_op_log_of(const char *folder, const char *place);
/* Whether a report is of a run before the one whose logs of ops are in the folder, which got another name, or none. Of one that is
 * older than these its ops tell, since copies may be of any age. */
bool run_report_is_before(const char *report, const char *folder);

#endif
