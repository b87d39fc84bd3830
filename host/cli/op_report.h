/* What the commands that make op reports share. In cmd_ops.c. */
#ifndef DEVLOG_CLI_OP_REPORT_H
#define DEVLOG_CLI_OP_REPORT_H

#include "ops/op_job.h"
#include "ops/op_table.h"

/* Runs the job with progress on a terminal, prints what was found and where the files are, on file descriptor
 * `fd`. Returns CLI_OK, ... */
int cli_op_report(const char *command, op_job_options *options, int fd);

/* What was unpacked from an archive is called by that, and not by the folder, which is gone when the text is read. */
void cli_op_call(const op_job_options *options, dl_str *text);

/* "devlog COMMAND: what failed", on stderr, in the same words. */
void cli_op_failed(const char *command, const op_job_options *options, const devlog_error *err);

/* Where the options want Markdown, writes it beside the report and appends a line with its name to `files`. */
devlog_status cli_op_markdown(const op_job_options *options, const char *report, dl_str *files,
                              devlog_error *err);

/* Says on stderr what an earlier report has left in that folder under the name of this one, which wrote other files;
 * `packed`: a tar of its logs, too. */
void cli_op_tell_older(const char *command, const op_job_options *options, const char *output, bool packed);

/* Reads an op report; of a folder, that of the run which is in it, made where there is none yet; *lost is set when something was
 * lost of what it was made of. */
devlog_status cli_op_table_read(op_table *t, const char *path, bool *lost, devlog_error *err);

/* Says on stderr what of a report could not be used; true when there was any. */
bool cli_op_table_troubles(const char *command, const op_table *t);

#endif
