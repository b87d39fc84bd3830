/* Marks: batches of them. */
#include <stdlib.h>
#include <string.h>

#include "decode/row.h"

void dl_marks_free(dl_marks *m)
{
    free(m->items);
    free(m->frames);
    free(m->rares);
    *m = (dl_marks){0};
}

void dl_marks_clear(dl_marks *m)
{
    m->n = m->n_frames = m->n_rares = 0;
    m->recorded.n = 0;
}

bool dl_marks_room(dl_marks *m, uint32_t n)
{
    if (n <= m->cap - m->n) return true;
    uint64_t cap = m->cap ? m->cap : 64;
    while (cap < (uint64_t)m->n + n)
        cap *= 2;
    if (cap > UINT32_MAX / 2) return false;
    dl_mark *items = realloc(m->items, cap * sizeof *items);
    if (!items) return false;
    m->items = items;
    m->cap = (uint32_t)cap;
    return true;
}

/* Room for one frame or rare mark more. */
static bool room_for_one(void **items, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap) return true;
    uint32_t more = *cap ? *cap * 2 : 64;
    void *grown = more <= DL_MAX_FRAMES ? realloc(*items, more * size) : NULL;
    if (!grown) return false;
    *items = grown;
    *cap = more;
    return true;
}

static bool frame_of(dl_marks *m, const dl_ids *ids, uint32_t line, uint32_t step, uint64_t *code)
{
    const dl_frame *last = m->n_frames ? &m->frames[m->n_frames - 1] : NULL;
    bool same = last && last->line == line && last->step == step && dl_same_ids(&last->ids, ids) &&
                last->ids.has_launch == ids->has_launch;
    if (!same) {
        void *frames = m->frames;
        if (!room_for_one(&frames, m->n_frames, &m->cap_frames, sizeof *m->frames)) return false;
        m->frames = frames;
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): room_for_one has made room */
        m->frames[m->n_frames++] = (dl_frame){*ids, line, step};
    }
    *code = (uint64_t)(m->n_frames - 1) << DL_MARK_FRAME_SHIFT;
    return true;
}

bool dl_marks_frame(dl_marks *m, const dl_ids *ids, uint32_t at, uint32_t line, uint64_t *code)
{
    return frame_of(m, ids, line - at, 1, code);
}

bool dl_marks_still_frame(dl_marks *m, const dl_ids *ids, uint32_t line, uint64_t *code)
{
    return frame_of(m, ids, line, 0, code);
}

bool dl_marks_rare(dl_marks *m, const dl_rare *what, uint64_t frame, uint64_t *code)
{
    void *rares = m->rares;
    if (!room_for_one(&rares, m->n_rares, &m->cap_rares, sizeof *m->rares)) return false;
    m->rares = rares;
    m->rares[m->n_rares] = *what;
    m->rares[m->n_rares].frame = (uint32_t)(frame >> DL_MARK_FRAME_SHIFT);
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): a number of 24 bits */
    *code = (uint64_t)m->n_rares++ << DL_MARK_FRAME_SHIFT | DL_MARK_RARE;
    return true;
}

bool dl_marks_add(dl_marks *m, const dl_marks *from, uint32_t at, uint32_t n)
{
    const dl_frame *theirs = NULL;
    uint64_t ours = 0;
    if (!dl_marks_room(m, n)) return false;
    for (uint32_t i = at; i < at + n; i++) {
        dl_mark mark = from->items[i];
        const dl_frame *frame = dl_mark_frame(from, mark.code);
        const dl_rare *rare = dl_mark_rare(from, mark.code);
        uint64_t code;
        const uint32_t line = dl_frame_line(frame, i) - frame->step * m->n;
        if (frame != theirs && !frame_of(m, &frame->ids, line, frame->step, &ours)) return false;
        theirs = frame;
        code = ours;
        if (rare && !dl_marks_rare(m, rare, ours, &code)) return false;
        mark.code = (mark.code & ~(DL_MARK_FRAME | DL_MARK_RARE)) | code;
        m->items[m->n++] = mark;
    }
    return true;
}

void dl_marks_drop(dl_marks *m, uint32_t n)
{
    if (n == 0) return;
    m->n -= n;
    if (m->n) memmove(m->items, m->items + n, m->n * sizeof *m->items);
    /* What is left begins with these; frames and rare marks are in the order of the marks. */
    uint32_t frame = m->n_frames ? m->n_frames - 1 : 0, rare = m->n_rares;
    if (m->n) frame = (uint32_t)(dl_mark_frame(m, m->items[0].code) - m->frames);
    for (uint32_t i = 0; i < m->n && rare == m->n_rares; i++)
        if (m->items[i].code & DL_MARK_RARE) rare = (uint32_t)(m->items[i].code >> DL_MARK_FRAME_SHIFT);
    for (uint32_t i = 0; i < m->n; i++) {
        uint64_t before = m->items[i].code & DL_MARK_RARE ? rare : frame;
        m->items[i].code -= before << DL_MARK_FRAME_SHIFT;
    }
    m->n_frames -= frame;
    m->n_rares -= rare;
    if (m->n_frames) memmove(m->frames, m->frames + frame, m->n_frames * sizeof *m->frames);
    if (m->n_rares) memmove(m->rares, m->rares + rare, m->n_rares * sizeof *m->rares);
    for (uint32_t i = 0; i < m->n_frames; i++)
        m->frames[i].line += m->frames[i].step * n;
    for (uint32_t i = 0; i < m->n_rares; i++)
        m->rares[i].frame -= frame;
}

bool dl_marks_add_row(dl_marks *m, dl_tables *tables, const dl_row *row)
{
    const dl_kind kind = {.site = row->site,
                          .timer_id = row->timer_id,
                          .type = row->type,
                          .role = (uint8_t)tables->sites[row->site].role,
                          .cost = row->cost,
                          .price = row->price};
    const dl_ids ids = {.run_host_id = row->run_host_id,
                        .run_id = row->run_id,
                        .trace_id = row->trace_id,
                        .trace_counter = row->trace_counter,
                        .has_launch = row->has_launch};
    const dl_rare rare = {.data = row->data, .meta = row->meta, .op = row->op};
    const uint32_t number = dl_tables_kind(tables, &kind);
    uint64_t frame;
    if (number == DL_NONE || !dl_marks_room(m, 1)) return false;
    if (!dl_marks_frame(m, &ids, m->n, row->line, &frame)) return false;
    if ((rare.data || rare.meta || rare.op) && !dl_marks_rare(m, &rare, frame, &frame)) return false;
    m->items[m->n++] = (dl_mark){row->time, dl_mark_code(&kind, number) | row->stream | frame};
    return true;
}
