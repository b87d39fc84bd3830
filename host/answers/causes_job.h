/* Causes of a run from its input to their sums, for the program (cli/cmd_causes.c) and the library (answers_door.c). Not for what is
 * shown of them (causes_answer.h). */
#ifndef DEVLOG_ANSWERS_CAUSES_JOB_H
#define DEVLOG_ANSWERS_CAUSES_JOB_H

#include "answers/causes_answer.h"
#include "answers/inputs.h"
#include "answers/run_select.h"

enum { CAUSES_FORMAT_VERSION = 1 }; /* of the JSON */

typedef struct causes_job {
    answer a;
    run_inputs in;
    const char *path;              /* of the log */
    const op_selection *selection; /* borrowed */
    dl_filter filter;              /* as it was used */
    op_selected selected;
    causes_reading reading;
} causes_job;

/* Reads a run. `selection` and what it points to is borrowed until causes_job_free, which also follows a failure. */
devlog_status causes_job_read(causes_job *j, const char *path, const op_selection *selection,
                              const char *elf_folder, devlog_error *err);
/* Fills in the answer. NOT_FOUND: there is no launch, or the selection leaves none, or has a part that is of none. */
devlog_status causes_job_answer(causes_job *j, size_t top, devlog_error *err);
void causes_job_free(causes_job *j);

#endif
