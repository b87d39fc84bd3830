/* What is shown of the memory of a run (memory.h): for `devlog memory`, and in short for `devlog report`. */
#ifndef DEVLOG_ANSWERS_MEMORY_ANSWER_H
#define DEVLOG_ANSWERS_MEMORY_ANSWER_H

#include "answers/answer.h"
#include "answers/memory.h"

enum { MEMORY_FORMAT_VERSION = 1 }; /* of the JSON */

typedef struct memory_wishes {
    size_t top;   /* rows of each table; 0: all */
    size_t steps; /* of the timeline; 0: 10 */
} memory_wishes;

/* All sections; `a` has begun. */
devlog_status memory_answer(answer *a, const memory_run *r, const memory_wishes *w, devlog_error *err);
/* MEMORY alone. */
devlog_status memory_answer_short(answer *a, const memory_run *r, devlog_error *err);

/* "file:line" of a buffer; NULL: the log does not say. Kept by the answer. */
const char *memory_source(answer *a, const memory_run *r, const memory_buffer *b);
/* The buffer by which the peak of a memory was reached; NULL: there is none. */
const memory_buffer *memory_peak_buffer(const memory_run *r, const memory_space *s);

/* The log of ops in a folder of a run; NULL: there is none, or no memory. And whether one has any buffers: a quick look. */
char *memory_log_in(const char *folder);
bool memory_log_has_buffers(const char *path);

/* From a path to an answer: a log of ops, plain or packed; a folder of a run, or of runs that has one; a device log, a capture or
 * an op report, beside which the log is; a tar or zip of any. Free with memory_job_free, also after a
 * failure. NOT_FOUND: there is no such log. */
typedef struct memory_job {
    answer a;
    char *path;     /* of the log */
    char *unpacked; /* folder of what was in an archive; NULL: none */
    char *called;   /* what messages call the log; NULL: by its path */
    op_log log;
    memory_run run;
    dl_str troubles; /* for who wants to keep them */
    bool has_log,
        lost; /* lost: what memory_lost says, or lines of the log that are missing or cannot be read */
} memory_job;
devlog_status memory_job_read(memory_job *j, const char *path, devlog_error *err);
devlog_status memory_job_answer(memory_job *j, const memory_wishes *w, devlog_error *err);
void memory_job_free(memory_job *j);
/* Messages call the log so: it is in an archive, which whoever asks has named. */
devlog_status memory_job_call(memory_job *j, const char *name, devlog_error *err);
/* What is wrong with the log, a line for each kind. */
void memory_job_troubles(const memory_job *j, const char *before, dl_str *out);

#endif
