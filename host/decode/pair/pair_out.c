/* What pairing hands on: runs, with their events and marks, in batches. Not what is in them (pair_stack.c,
 * pair_runs.c). */
#include <stdlib.h>

#include "decode/pair/pair_internal.h"

static devlog_status wants(dl_pair *p, unsigned what, devlog_error *err)
{
    pair_out *o = &p->out;
    if (what & DL_WANT_EVENTS && !o->events) o->events = malloc(OUT_EVENTS * sizeof *o->events);
    if (what & DL_WANT_MARKS && !o->marks) o->marks = malloc(OUT_MARKS * sizeof *o->marks);
    bool failed = (what & DL_WANT_EVENTS && !o->events) || (what & DL_WANT_MARKS && !o->marks);
    return failed ? dl_pair_no_memory(err) : DEVLOG_OK;
}

devlog_status dl_pair_run_sink(dl_pair *p, dl_run_sink sink, devlog_error *err)
{
    p->out.sink = sink;
    return wants(p, sink.wants, err);
}

void dl_pair_out_free(pair_out *o)
{
    free(o->events);
    free(o->marks);
}

devlog_status dl_pair_out_flush(dl_pair *p, devlog_error *err)
{
    pair_out *o = &p->out;
    const uint32_t n = o->n_runs;
    o->n_runs = o->n_events = o->n_marks = 0;
    return n ? o->sink.runs(o->sink.ctx, o->runs, n, err) : DEVLOG_OK;
}

dl_run *dl_pair_out_begin(dl_pair *p, uint32_t stream, uint32_t launch, uint32_t n_events, uint32_t n_marks,
                          devlog_status *status, devlog_error *err)
{
    pair_out *o = &p->out;
    if (o->n_runs == OUT_RUNS || OUT_EVENTS - o->n_events < n_events || OUT_MARKS - o->n_marks < n_marks)
        *status = dl_pair_out_flush(p, err);
    if (*status) return NULL;
    dl_run *run = &o->runs[o->n_runs++];
    *run = (dl_run){.stream = stream, .launch = launch, .batch = p->batch};
    if (o->events) run->events = o->events + o->n_events;
    if (o->marks) run->marks = o->marks + o->n_marks;
    return run;
}

void dl_pair_out_default(dl_run *run, dl_role role, bool start, uint64_t time)
{
    const bool fw = role == DL_ROLE_FW;
    uint64_t *stamp =
        start ? (fw ? &run->fw_start : &run->kernel_start) : (fw ? &run->fw_end : &run->kernel_end);
    uint8_t bit =
        start ? (fw ? DL_RUN_FW_START : DL_RUN_KERNEL_START) : (fw ? DL_RUN_FW_END : DL_RUN_KERNEL_END);
    if (!(run->has & bit) || (start ? time < *stamp : time > *stamp)) *stamp = time;
    run->has |= bit;
}
