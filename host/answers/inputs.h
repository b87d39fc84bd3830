/* What `devlog report`, `causes` and `diff` are given: files and folders, and which runs are in them. Opens no more of a file
 * than its beginning; makes an op report, in a temporary folder, of a folder that has only what one is made of. */
#ifndef DEVLOG_ANSWERS_INPUTS_H
#define DEVLOG_ANSWERS_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "ops/op_table.h"

typedef struct run_input {
    char *name;   /* as it was given, or found in a folder of runs */
    char *report; /* an op report, or NULL */
    char *log;    /* a device log or capture, or NULL */
    char **hosts; /* zones of host code of the run whose log it is, beside that */
    size_t n_hosts;
    char *temporary; /* folder of a report that was made; NULL: none */
    char *
        folder; /* of one that was unpacked: where it is, while `name` is in the archive; NULL: it is what it is called */
    uint32_t side; /* DIFF_OLD, DIFF_NEW */
    bool lost;     /* what the report was made of had losses */
    dl_str
        doubt; /* a line without its end: why the report may not be what was meant; empty: nothing speaks for it */
} run_input;

typedef struct run_inputs {
    run_input *items;
    size_t n, cap;
    struct run_archive {
        char *path, *folder; /* folder: where it is unpacked */
    } * archives;
    size_t n_archives;
} run_inputs;

/* Adds the runs of an input: a file and a folder of one run are a run, a folder of such is one run each, in the
 * order of their names. A tar or zip is unpacked (tt_metal/archive.h), and is as that folder. NOT_FOUND when it is not
 * there, or holds nothing of that kind. */
devlog_status run_inputs_add(run_inputs *in, const char *path, uint32_t side, devlog_error *err);
/* The same of a path that has to hold one run; ARGUMENT says what the others are. */
devlog_status run_inputs_one(run_inputs *in, const char *path, devlog_error *err);
/* The run that a log is of: with the op report that stands beside it, or that is made of what does; a log by itself, too.
 * *why is why there is no report where there should be one: a failure of making it; otherwise its text is "". */
devlog_status run_inputs_of_log(run_inputs *in, const char *log, devlog_error *why, devlog_error *err);
/* Whether a file says that it is an op report, a device log or a capture. */
bool run_inputs_know(const char *path);
/* What a log says of its run. */
typedef struct run_age {
    uint64_t run; /* its id; 0: the log does not say one */
    uint64_t from,
        to; /* ns of CLOCK_REALTIME: when it began, 0: it does not say; when it was written last, 0: it is not there */
} run_age;

/* What some logs have said, for who asks many times; zero knows nothing. Each function does without (NULL). */
enum { RUN_AGES = 8 };
typedef struct run_ages {
    char *logs[RUN_AGES];
    run_age of[RUN_AGES];
    size_t next;
} run_ages;
void run_ages_free(run_ages *known);

/* The folder of that run, freed by the caller; NULL: the log is by itself. */
char *run_folder_of_log(run_ages *known, const char *log);
/* Runs from `first` on that are `folder`, or in it, are called `path`, with what is behind the folder: whoever asks named that, and
 * not where it is unpacked. */
devlog_status run_inputs_call(run_inputs *in, size_t first, const char *folder, const char *path,
                              devlog_error *err);
/* Calls a folder `name` wherever the words of a failure name it. */
void run_call_in(devlog_error *err, const char *folder, const char *name);
/* The same of a text that has not failed. */
void run_call_in_text(dl_str *text, const char *folder, const char *name);
/* Gives the status back; where that is a failure whose words name what was unpacked, they name what it is called. */
devlog_status run_inputs_failed(const run_inputs *in, devlog_status status, devlog_error *err);
/* The table of its report is called as the user called the run when the report is a temporary file. */
devlog_status run_input_call(const run_input *r, op_table *table, devlog_error *err);
/* Adds its doubt as a line behind `before`. */
void run_input_doubts(const run_input *r, const char *before, dl_str *out);
/* Whether two paths name files of one folder, as they are written. */
bool run_in_one_folder(const char *a, const char *b);
/* Whether these are a capture and the device log that lies beside it. */
bool run_log_of_capture(const char *capture, const char *log);
/* Whether a path is named as zones of host code are. */
bool run_is_host_log(const char *path);
/* Whether zones of host code beside a log, in host_<pid>.devlog, are of its run: by the run's id, where both say one; else by when they were
 * recorded, while the run went on or while another process of the run was recorded. Where a log does not say when it began (before November
 * 2026): what was written last within a minute of it, or later by a process that recorded already then. */
bool run_host_is_of(run_ages *known, const char *host, const char *log);
/* Whether zones of host code of two processes are of one run: by its id, else by whether they were recorded at one time. */
bool run_hosts_overlap(const char *a, const char *b);
/* Removes temporary files, too. */
void run_inputs_free(run_inputs *in);

#endif
