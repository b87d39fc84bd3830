/* Selection by what only tt-metal's host knows: the same as ops/select.h, of tt-metal's files. Not for which rows of a
 * report stay (select_rows.h). */
#ifndef DEVLOG_TT_METAL_SELECT_H
#define DEVLOG_TT_METAL_SELECT_H

#include "ops/select.h"
#include "tt_metal/host.h"

/* NOT_FOUND, with what there is, when a signpost or an op is not there. Free with op_selected_free, also after a failure. */
devlog_status tt_select(op_selected *s, const tt_host *h, const op_select_options *o, devlog_error *err);
/* The same from the files of the host beside a device log, whichever there are, devlog's own op log first; `scratch` as of
 * tt_host_begin. */
devlog_status tt_select_beside(op_selected *s, const char *device_log, const char *scratch,
                               const op_select_options *o, devlog_error *err);
/* When an op's row stands in the report: its replay `session` of its trace, 0: itself. */
uint64_t tt_select_time(const tt_host *h, const tt_op *op, uint32_t session);

/* The id of the run that wrote a device log or capture first, as its log of ops has it; 0: it says none, or is no such file. */
uint64_t tt_run_of_log(const char *path);

#endif
