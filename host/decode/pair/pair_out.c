/* What pairing hands on: runs, with their events and marks, in batches. Not what is in them (pair_stack.c,
 * pair_runs.c). */
#include <stdlib.h>

#include "decode/pair/pair_internal.h"

void dl_outbox_free(dl_outbox *o)
{
    free(o->runs);
    free(o->events);
    free(o->marks);
    if (o->extra) dl_marks_free(o->extra);
    free(o->extra);
    *o = (dl_outbox){0};
}

devlog_status dl_outbox_hand_on(dl_outbox *o, const dl_run_sink *sink, devlog_error *err)
{
    const dl_event *events = o->events;
    const dl_mark *marks = o->marks;
    for (uint32_t i = 0; i < o->n_runs; i++) {
        dl_run *run = &o->runs[i];
        if (!run->unlisted && !run->items) {
            if (sink->wants & DL_WANT_EVENTS) run->events = events;
            events += run->n_events;
        }
        if (run->marks || !run->n_marks) continue;
        run->marks = marks;
        marks += run->n_marks;
    }
    const uint32_t n = o->n_runs;
    o->n_runs = o->n_events = o->n_marks = 0;
    return n ? sink->runs(sink->ctx, o->runs, n, err) : DEVLOG_OK;
}

devlog_status dl_pair_run_sink(dl_pair *p, dl_run_sink sink, devlog_error *err)
{
    (void)err;
    p->out.sink = sink;
    return DEVLOG_OK;
}

void dl_pair_collect(dl_pair *p, dl_outbox *box)
{
    dl_outbox_free(&p->out.box); /* it is empty, and hardly ever wanted again */
    p->out.box = *box;
    p->out.collects = true;
}

void dl_pair_collected(dl_pair *p, dl_outbox *box)
{
    *box = p->out.box;
    p->out.box = (dl_outbox){0};
    p->out.collects = false;
}

devlog_status dl_pair_out_flush(dl_pair *p, devlog_error *err)
{
    return p->out.collects ? DEVLOG_OK : dl_outbox_hand_on(&p->out.box, &p->out.sink, err);
}

/* Room for n more; the first time for `first`. */
static bool room(void **items, uint32_t used, uint32_t *cap, uint32_t n, uint32_t first, size_t size)
{
    if (n <= *cap - used) return true;
    uint32_t more = *cap ? *cap : first;
    while (more - used < n)
        more *= 2;
    void *grown = realloc(*items, more * size);
    if (!grown) return false;
    *items = grown;
    *cap = more;
    return true;
}

bool dl_pair_out_room(dl_pair *p, bool full, uint32_t n_events, uint32_t n_marks, devlog_status *status,
                      devlog_error *err)
{
    dl_outbox *o = &p->out.box;
    if (full) *status = dl_pair_out_flush(p, err);
    if (*status) return false;
    void *runs = o->runs, *events = o->events, *marks = o->marks;
    bool made = room(&runs, o->n_runs, &o->cap_runs, 1, OUT_RUNS, sizeof *o->runs);
    if (made) made = room(&events, o->n_events, &o->cap_events, n_events, OUT_EVENTS, sizeof *o->events);
    if (made) made = room(&marks, o->n_marks, &o->cap_marks, n_marks, OUT_MARKS, sizeof *o->marks);
    o->runs = runs;
    o->events = events;
    o->marks = marks;
    if (!made) *status = dl_pair_no_memory(err);
    return made;
}

bool dl_pair_out_take_held(dl_pair *p, const held_mark *held, dl_mark *mark)
{
    dl_outbox *o = &p->out.box;
    uint64_t code;
    if (!o->extra) o->extra = calloc(1, sizeof *o->extra);
    if (!o->extra || !dl_marks_still_frame(o->extra, &held->ids, held->line, &code)) return false;
    if (held->is_rare && !dl_marks_rare(o->extra, &held->rare, code, &code)) return false;
    *mark = (dl_mark){held->mark.time, (held->mark.code & ~(DL_MARK_FRAME | DL_MARK_RARE)) | code};
    p->batch = o->extra;
    return true;
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
