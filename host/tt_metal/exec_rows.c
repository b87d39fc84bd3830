/* What single rows of a device log say of programs that ran: counters, dispatch cores, sub-devices. Not for their zones
 * (exec_log.c). */
#include "decode/log/window.h"
#include "tt_metal/exec.h"
#include "tt_metal/part.h"

enum { TRY_BYTES = 64 * 1024 * 1024 };

/* Which counters a device has, and what they mean, all records of it say (metrics.h): where any is wanted, all are. */
static bool take_row(void *ctx, const tt_log_row *row)
{
    tt_execs *e = ctx;
    const bool wanted = !e->part || tt_part_wants(e->part, row), record = tt_counters_is_record(row);
    e->wants_counters |= wanted && record;
    if (!wanted) return !record || tt_counters_take(&e->counters, row);
    return tt_counters_take(&e->counters, row) && tt_dispatch_take(&e->dispatch, row);
}

static devlog_status end_rows(tt_execs *e, devlog_error *err)
{
    if (!e->wants_counters) tt_counters_forget(&e->counters);
    if (!tt_counters_end(&e->counters) || !tt_dispatch_end(&e->dispatch))
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (e->counters.unknown)
        tt_found_add(e->found, TT_UNKNOWN_COUNTER, "%llu records", (unsigned long long)e->counters.unknown);
    return DEVLOG_OK;
}

devlog_status tt_execs_take_rows(tt_execs *e, dl_input *input, devlog_error *err)
{
    const tt_log_taker taker = {e, take_row, 0, false, NULL};
    devlog_status status = tt_log_rows_read(&taker, input, NULL, err);
    return status ? status : end_rows(e, err);
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
    dl_input_window window = {0};
    const bool of_part = e->part && e->part->any;
    uint64_t try_bytes = e->from_report ? TRY_BYTES : 0;
    devlog_status status = dl_input_open(&input, path, err);
    if (!status && try_bytes && of_part) {
        /* Whether there are such rows the beginning of the log says, and not that of what is read of it. */
        bool any = false;
        const tt_log_taker looker = {&any, take_any, try_bytes, true, NULL};
        status = tt_log_rows_read(&looker, input, NULL, err);
        if (status || !any) return status;
        try_bytes = 0;
        status = dl_input_open(&input, path, err);
    }
    if (status) return status;
    /* Of a packed log only the blocks are read that the part of it needs, or all when it has counters. */
    const bool partly = of_part && dl_input_window_choose(&window, input, &e->part->filter);
    tt_log_taker taker = {e, take_row, try_bytes, false, partly ? &e->wants_counters : NULL};
    status = tt_log_rows_read(&taker, input, progress, err);
    dl_input_window_free(&window);
    if (!status && partly && e->wants_counters) {
        const char *scratch = e->dispatch.big_marks.folder;
        tt_counters_forget(&e->counters);
        tt_dispatch_free(&e->dispatch);
        tt_dispatch_begin(&e->dispatch, scratch);
        taker.stop = NULL;
        status = dl_input_open(&input, path, err);
        if (!status) status = tt_log_rows_read(&taker, input, progress, err);
    }
    return status ? status : end_rows(e, err);
}
