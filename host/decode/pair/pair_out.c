/* What pairing hands on: runs, with their events and marks, in batches. Not what is in them (pair.c). */
#include <stdlib.h>

#include "decode/pair/pair_internal.h"

devlog_status dl_pair_run_sink(dl_pair *p, dl_run_sink sink, devlog_error *err)
{
    pair_out *o = &p->out;
    o->sink = sink;
    if (!o->events) o->events = malloc(OUT_EVENTS * sizeof *o->events);
    if (!o->marks) o->marks = malloc(OUT_MARKS * sizeof *o->marks);
    if (!o->events || !o->marks)
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while pairing markers");
    return DEVLOG_OK;
}

void dl_pair_out_free(pair_out *o)
{
    free(o->events);
    free(o->marks);
    dl_marks_free(&o->batch);
}

devlog_status dl_pair_out_flush(dl_pair *p, devlog_error *err)
{
    pair_out *o = &p->out;
    uint32_t n = o->n_runs;
    o->n_runs = o->n_events = o->n_marks = 0;
    devlog_status status = n ? o->sink.runs(o->sink.ctx, o->runs, n, err) : DEVLOG_OK;
    dl_marks_clear(&o->batch);
    return status;
}

dl_run *dl_pair_out_run(dl_pair *p, uint32_t stream, uint32_t launch, devlog_status *status,
                        devlog_error *err)
{
    pair_out *o = &p->out;
    dl_run *run = o->n_runs ? &o->runs[o->n_runs - 1] : NULL;
    bool full = o->n_events == OUT_EVENTS || o->n_marks == OUT_MARKS;
    if (run && run->stream == stream && run->launch == launch && !full) return run;
    if (full || o->n_runs == OUT_RUNS) *status = dl_pair_out_flush(p, err);
    if (*status) return NULL;
    run = &o->runs[o->n_runs++];
    *run = (dl_run){.stream = stream, .launch = launch};
    if (o->sink.wants & DL_WANT_EVENTS) run->events = o->events + o->n_events;
    if (o->sink.wants & DL_WANT_MARKS) {
        run->marks = o->marks + o->n_marks;
        run->batch = &o->batch;
    }
    return run;
}

void dl_pair_out_default(dl_run *run, dl_role role, bool start, uint64_t time)
{
    const bool fw = role == DL_ROLE_FW;
    uint64_t *stamp = start ? (fw ? &run->fw_start : &run->kernel_start)
                      : fw  ? &run->fw_end
                            : &run->kernel_end;
    uint8_t bit =
        start ? (fw ? DL_RUN_FW_START : DL_RUN_KERNEL_START) : (fw ? DL_RUN_FW_END : DL_RUN_KERNEL_END);
    if (!(run->has & bit) || (start ? time < *stamp : time > *stamp)) *stamp = time;
    run->has |= bit;
}

/* A row that the filters let through. */
devlog_status dl_pair_out_row(dl_pair *p, const dl_row *row, uint32_t launch, uint64_t time,
                              devlog_error *err)
{
    pair_out *o = &p->out;
    devlog_status status = DEVLOG_OK;
    dl_run *run = dl_pair_out_run(p, row->stream, launch, &status, err);
    if (!run) return status;
    dl_role role = p->tables->sites[row->site].role;
    if (row->type <= DL_ROW_ZONE_END && (role == DL_ROLE_FW || role == DL_ROLE_KERNEL))
        dl_pair_out_default(run, role, row->type == DL_ROW_ZONE_START, time);
    if (!(o->sink.wants & DL_WANT_MARKS)) return DEVLOG_OK;
    const dl_kind kind = {.site = row->site,
                          .timer_id = row->timer_id,
                          .type = row->type,
                          .role = (uint8_t)role,
                          .cost = row->cost};
    uint32_t number = dl_tables_kind(p->tables, &kind);
    const dl_ids ids = {row->run_host_id, row->run_id, row->trace_id, row->trace_counter, row->has_launch};
    const dl_rare rare = {.data = row->data, .meta = row->meta, .op = row->op};
    uint64_t frame;
    bool made = number != DL_NONE && dl_marks_frame(&o->batch, &ids, 0, row->line, &frame);
    if (made && (rare.data || rare.meta || rare.op)) made = dl_marks_rare(&o->batch, &rare, frame, &frame);
    if (!made) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while pairing markers");
    o->marks[o->n_marks++] = (dl_mark){time, dl_mark_code(&kind, number) | row->stream | frame};
    run->n_marks++;
    return DEVLOG_OK;
}

devlog_status dl_pair_out_event(dl_pair *p, const dl_event *e, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    dl_run *run = dl_pair_out_run(p, e->stream, e->launch, &status, err);
    if (!run) return status;
    p->out.events[p->out.n_events++] = *e;
    run->n_events++;
    return DEVLOG_OK;
}
