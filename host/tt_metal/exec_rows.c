/* What single rows of a device log say of programs that ran: counters, dispatch cores, sub-devices. Not for their zones
 * (exec_log.c). */
#include "decode/log/window.h"
#include "tt_metal/exec.h"
#include "tt_metal/part.h"

enum { TRY_BYTES = 64 * 1024 * 1024 };

static bool take_row(void *ctx, const tt_log_row *row)
{
    tt_execs *e = ctx;
    if (e->part && !tt_part_wants(e->part, row)) return true;
    return tt_counters_take(&e->counters, row) && tt_dispatch_take(&e->dispatch, row);
}

/* Takes the input, of which, when it is a packed log, only the blocks are read that the part of it needs. */
devlog_status tt_execs_take_rows(tt_execs *e, dl_input *input, uint64_t try_bytes,
                                 const tt_progress *progress, devlog_error *err)
{
    const tt_log_taker taker = {e, take_row, try_bytes, false};
    dl_input_window window = {0};
    if (e->part && e->part->any) dl_input_window_choose(&window, input, &e->part->filter);
    devlog_status status = tt_log_rows_read(&taker, input, progress, err);
    dl_input_window_free(&window);
    if (!status && (!tt_counters_end(&e->counters) || !tt_dispatch_end(&e->dispatch)))
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (e->counters.unknown)
        tt_found_add(e->found, TT_UNKNOWN_COUNTER, "%llu records", (unsigned long long)e->counters.unknown);
    return status;
}

static bool take_any(void *ctx, const tt_log_row *row)
{
    (void)row;
    *(bool *)ctx = true;
    return true;
}

devlog_status tt_execs_read_rows(tt_execs *e, const char *path, const tt_progress *progress,
                                 devlog_error *err)
{
    dl_input *input;
    uint64_t try_bytes = e->from_report ? TRY_BYTES : 0;
    devlog_status status = dl_input_open(&input, path, err);
    if (!status && try_bytes && e->part && e->part->any) {
        /* Whether there are such rows the beginning of the log says, and not that of what is read of it. */
        bool any = false;
        const tt_log_taker looker = {&any, take_any, try_bytes, true};
        status = tt_log_rows_read(&looker, input, NULL, err);
        if (status || !any) return status;
        try_bytes = 0;
        status = dl_input_open(&input, path, err);
    }
    return status ? status : tt_execs_take_rows(e, input, try_bytes, progress, err);
}
