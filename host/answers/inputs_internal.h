/* Between inputs.c, inputs_age.c, inputs_hosts.c and inputs_log.c: where a run's folder has its logs, and what in it is its own. */
#ifndef DEVLOG_ANSWERS_INPUTS_INTERNAL_H
#define DEVLOG_ANSWERS_INPUTS_INTERNAL_H

#include "answers/inputs.h"

/* Below a run's folder. */
#define RUN_PLACES "", "logs_device", "logs", ".logs"

#define RUN_CAPTURE    "capture.devlog"
#define RUN_DEVICE_LOG "profile_log_device.csv"

/* The device log or capture of a folder; NULL: there is none. Freed by the caller, as are the next two. */
char *run_log_in(const char *folder);
/* The log of ops in the first of these places that has one; NULL: none has. */
char *run_op_log_in(const char *folder);
/* The log of ops in one of these places; NULL: there is none, or it is empty. */
char *run_op_log_of(const char *folder, const char *place);
/* Whether a report is of a run before the one whose logs of ops are in the folder, which got another name, or none. Of one that is
 * older than these its ops tell, since copies may be of any age. */
bool run_report_is_before(const char *report, const char *folder);
/* host_<pid>.devlog beside the run's log that are of it: `devlog run` removes others. Of a run of the host alone beside its log of ops; the
 * first of them is its log then. */
devlog_status run_add_hosts(run_input *r, const char *ops, devlog_error *err);
/* Zones of host code by themselves, added from `from` on: processes that recorded while the last of them did are one run with it, which is
 * called `folder` when there is no other. */
devlog_status run_join_hosts(run_inputs *in, size_t from, const char *folder, devlog_error *err);
/* A run that was recorded now and then has its device data in captures, which are runs of their own. */
devlog_status run_tell_captures(run_input *r, const char *ops, devlog_error *err);

/* Adds a folder that is one run; *is_one: it is. */
devlog_status run_inputs_add_run(run_inputs *in, const char *folder, uint32_t side, bool *is_one,
                                 devlog_error *err);
/* Adds a file. `named`: by the user; otherwise one that is nothing of a run is passed over. */
devlog_status run_inputs_add_file(run_inputs *in, const char *path, uint32_t side, bool named,
                                  devlog_error *err);

#endif
