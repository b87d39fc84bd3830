/* Pairing of a batch of marks, run by run: a run that looks like one before is paired here, as a whole, by its
 * shape; the others are put in order and paired mark by mark (pair_stack.c). */
#include <stdlib.h>
#include <string.h>

#include "decode/pair/pair_shape.h"

/* The launch ids of a frame are those of the launches found last. */
typedef struct known_ids {
    const dl_frame *frame;
    uint32_t last, chip;
    stream_state *stream; /* of the run before */
} known_ids;

/* ---- By shape ---------------------------------------------------------------------------------------- */

static inline shape_step load(const dl_mark *mark)
{
    shape_step step;
    memcpy(&step, mark, sizeof step);
    return step;
}

/* Whether marks have this shape: the kinds that it has, of one stream, and stamps in the order that it has;
 * none rare and all in one frame but for the first, unless the shape has data. Whether the run ends there is
 * another question. */
static inline bool has_shape(const pair_shape *shape, const dl_mark *marks)
{
    const uint64_t low = DL_MARK_STREAM | DL_MARK_KIND;
    const shape_step first_mask = {UINT64_MAX, low}, mask = {UINT64_MAX, shape->has_data ? low : UINT64_MAX};
    const uint32_t n = shape->n;
    const uint8_t *order = shape->order;
    shape_step before = load(marks + (order ? order[1] : 1));
    shape_step differ = (before - load(marks) - shape->steps[1]) & first_mask, differs = {0, 0};
    for (uint32_t i = 2; i < n; i++) {
        shape_step mark = load(marks + (order ? order[i] : i));
        differs |= mark - before - shape->steps[i];
        before = mark;
    }
    const shape_step first = load(marks), of_kind = {0, DL_MARK_KIND};
    differ |= differs & mask;
    differ |= (before - first) & (shape_step){UINT64_MAX, 0};
    differ |= (first ^ shape->first) & of_kind;
    differ &= (shape_step){~UINT64_C(0) << 31, UINT64_MAX};
    return (differ[0] | differ[1]) == 0;
}

/* Whether the first mark behind those of firmware and kernel is of this shape, mostly: of shapes of several kernels most are told
 * apart by that. */
static inline bool may_have_shape(const pair_shape *shape, const dl_mark *marks)
{
    const uint8_t *order = shape->order;
    if (shape->n < 3) return true;
    const uint64_t code = marks[order ? order[2] : 2].code - marks[order ? order[1] : 1].code;
    return ((code - shape->steps[2][1]) & (DL_MARK_STREAM | DL_MARK_KIND)) == 0;
}

/* Whether marks of a shape with data are all in one frame but for the first, and rare only for their data. */
static bool has_one_frame(const dl_marks *m, const pair_shape *shape, const dl_mark *marks)
{
    const uint64_t of_frame = DL_MARK_FRAME | DL_MARK_RARE, code = marks[shape->fw_end].code;
    if (code & DL_MARK_RARE) return false;
    for (uint32_t i = 0; i < shape->n_items; i++) {
        const shape_item *item = &shape->items[i];
        const uint64_t start = marks[item->start].code, end = marks[item->end].code;
        if (item->kind == DL_EVENT_ZONE) {
            if ((end ^ code) & of_frame || (item->start && (start ^ code) & of_frame)) return false;
        } else if ((end ^ code) & of_frame) {
            const dl_rare *rare = dl_mark_rare(m, end);
            if (!rare || rare->meta || rare->op || rare->frame != code >> DL_MARK_FRAME_SHIFT) return false;
        }
    }
    return true;
}

/* The launch that a firmware start begins, with nothing open. */
static inline void begin(dl_pair *p, stream_state *s, const dl_frame *frame, uint32_t place, known_ids *known)
{
    dl_launches *l = &p->launches;
    s->ids = frame->ids;
    if (known->frame != frame || known->last != l->last || known->chip != s->chip) {
        const bool last = dl_launches_are_last(l, s->chip, p->chip_line.run, &frame->ids) ||
                          dl_launches_go_on(l, s->chip, p->chip_line.run, &frame->ids);
        known->frame = last ? frame : NULL;
        known->last = l->last;
        known->chip = s->chip;
    }
    s->launch = known->frame ? dl_launches_next_of_last(l, s->bit) : DL_NONE;
    if (s->launch == DL_NONE)
        s->launch = dl_launches_find(l, s->chip, s->bit, p->chip_line.run, &frame->ids, true);
    if (s->launch == DL_NONE) dl_pair_lose_launch(p, dl_frame_line(frame, place));
}

/* The known shape of these marks; NULL: none of those. */
static inline stream_shape *find_shape(const stream_state *s, const dl_mark *marks, uint32_t n)
{
    stream_shape *expected = s->shape->follows;
    if (expected->shape->n <= n && has_shape(expected->shape, marks)) return expected;
    for (stream_shape *known = s->shapes; known; known = known->others) {
        if (known == expected || known->shape->n > n || !may_have_shape(known->shape, marks)) continue;
        if (!has_shape(known->shape, marks)) continue;
        s->shape->follows = known;
        return known;
    }
    return NULL;
}

/* What the runs after this one will probably need is on its way when they come: the state of a stream three
 * runs ahead, what it remembers two ahead, statistics one ahead. Each step needs only what the one before it
 * has fetched. */
static inline void fetch_ahead(const stream_state *s, bool counts)
{
    const stream_state *one = s->next;
    const stream_state *two = one ? one->next : NULL;
    const stream_state *three = two ? two->next : NULL;
    if (!three) return;
    __builtin_prefetch(three);
    __builtin_prefetch((const char *)three + 64);
    __builtin_prefetch(two->shape);
    if (!one->shape || !counts) return;
    for (uint32_t i = 0; i < one->shape->shape->n_items; i++)
        if (one->shape->shape->items[i].kind == DL_EVENT_ZONE)
            __builtin_prefetch(one->shape->counters[i].key);
}

/* Whether the filters let all marks through whose stamps are between these, or none, by their launch alone; and
 * something has been seen that they let through. */
static inline bool filters_by_launch(const dl_pair *p, uint64_t first, uint64_t last)
{
    const dl_filter *f = p->filter;
    return p->losses->seen.rows && first >= f->from && (f->to == 0 || last <= f->to);
}

/* Counts what closes in a run of a known shape, and lists it where the run has no items. `plain`: statistics, with samples, are
 * all that is wanted. False when out of memory. */
ALWAYS_INLINE bool take_items(dl_pair *p, stream_state *s, const stream_shape *known, uint32_t at,
                              dl_run *run, bool launch_is_kept, const bool plain)
{
    const dl_marks *m = p->batch;
    const dl_mark *marks = m->items + at;
    const uint64_t epoch = s->epoch;
    const uint32_t launch = s->launch;
    const shape_item *item = known->shape->items, *end = item + known->shape->n_items;
    const bool lists = !plain && run && !run->unlisted && !run->items && dl_pair_lists_events(p),
               filtered = !plain && p->filter;
    for (const shape_counter *counter = known->counters; item < end; item++, counter++) {
        const dl_mark *first = &marks[item->start], *last = &marks[item->end];
        uint64_t data = 0;
        if (item->kind == DL_EVENT_ZONE) {
            dl_key *k = counter->key;
            const uint64_t start = first->time + epoch, cycles = last->time - first->time;
            if (filtered && !dl_pair_zone_is_kept(p, k, start, start + cycles, launch_is_kept)) continue;
            if (!dl_pair_count_zone(!plain && p->no_samples, k, start, cycles, launch, item->tells_launch))
                return false;
        } else {
            if (filtered && (!launch_is_kept || counter->series == DL_NONE)) {
                p->losses->rows_filtered++;
                continue;
            }
            if (known->shape->has_data) data = dl_mark_data(m, last->code);
            dl_series_count(&p->series.items[counter->series], last->time + epoch,
                            item->kind == DL_EVENT_POINT ? 0 : data, 0);
        }
        if (!lists) continue;
        const dl_kind *kind = &p->tables->kinds[dl_mark_kind(last->code)];
        dl_event *e = &p->out.box.events[p->out.box.n_events++];
        const dl_rare *of_start = item->start == 0 ? dl_mark_rare(m, first->code) : NULL;
        *e = (dl_event){.start = first->time + epoch,
                        .end = last->time + epoch,
                        .data = data,
                        .stream = run->stream,
                        .site = kind->site,
                        .launch = launch,
                        .timer_id = kind->timer_id,
                        .line = dl_frame_line(dl_mark_frame(m, last->code), at + item->end),
                        .depth = item->depth,
                        .kind = item->kind};
        if (of_start) e->data = of_start->data, e->meta = of_start->meta;
        run->n_events++;
    }
    return true;
}

/* The run to be handed on, of a known shape: its default stamps and its marks. */
static inline void describe(dl_pair *p, const stream_state *s, const pair_shape *shape, const dl_mark *marks,
                            dl_run *run)
{
    const uint64_t epoch = s->epoch;
    const bool lists_marks = dl_pair_lists_marks(p);
    dl_outbox *o = &p->out.box;
    run->shape = shape->number;
    if (lists_marks || !run->items) {
        run->has = DL_RUN_FW_START | DL_RUN_FW_END;
        run->once = shape->once;
        run->fw_start = marks->time + epoch;
        run->fw_end = marks[shape->fw_end].time + epoch;
        if (shape->has_kernel) {
            run->has |= DL_RUN_KERNEL_START | DL_RUN_KERNEL_END;
            run->kernel_start = marks[shape->kernel_start].time + epoch;
            run->kernel_end = marks[shape->kernel_end].time + epoch;
        }
        if (!lists_marks && !run->items) return;
    }
    run->n_marks = shape->n;
    if (!shape->order && !epoch) {
        run->marks = marks;
        return;
    }
    dl_mark *to = o->marks + o->n_marks;
    for (uint32_t i = 0; i < shape->n; i++) {
        const dl_mark *mark = &marks[shape->order ? shape->order[i] : i];
        to[i] = (dl_mark){mark->time + epoch, mark->code};
    }
    o->n_marks += shape->n;
}

/* How many marks from `at` on are a run of a known shape, which they now are paired by; 0: none, and nothing
 * has been done. */
static inline uint32_t pair_as_before(dl_pair *p, uint32_t at, uint32_t to, bool all, known_ids *ids,
                                      devlog_status *status, devlog_error *err)
{
    const dl_marks *m = p->batch;
    const dl_mark *marks = m->items + at;
    const uint64_t code = marks->code;
    uint32_t stream = dl_mark_stream(code);
    stream_state *s = stream < p->n_streams ? p->streams[stream] : NULL;
    if (!s || !s->shape || s->limit != CLOCK_LIMIT || s->n_open) return 0;
    fetch_ahead(s, !p->no_counts);
    if (marks->time + s->epoch - s->last >= CLOCK_LIMIT) return 0;
    stream_shape *known = find_shape(s, marks, to - at);
    if (!known) return 0;
    const pair_shape *shape = known->shape;
    uint32_t n = shape->n;
    if (at + n == to) {
        if (!all) return 0;
    } else {
        const dl_mark *after = &marks[n];
        if (!((after->code ^ code) & DL_MARK_STREAM)) {
            bool starts = after->code & DL_MARK_FW_START;
            if (starts && after->time < marks[shape->last].time) return 0; /* it may be of this run */
            const dl_order_run run = {.most = marks[shape->last].time};
            if (!starts && !dl_order_boundary(&run, m, at + n - 1, m, at + n)) return 0;
        }
    }
    if (shape->has_data ? !has_one_frame(m, shape, marks) : (marks[1].code & DL_MARK_RARE) != 0) return 0;
    const dl_frame *frame = dl_mark_frame(m, code), *rest = dl_mark_frame(m, marks[shape->fw_end].code);
    if (frame != rest && !dl_same_ids(&frame->ids, &rest->ids)) return 0;
    const uint64_t from = marks->time + s->epoch, last = marks[shape->last].time + s->epoch;
    if (p->filter && !filters_by_launch(p, from, last)) return 0;
    begin(p, s, frame, at, ids);
    if (s->launch != DL_NONE) {
        dl_launch *l = &p->launches.items[s->launch];
        uint64_t end = marks[shape->fw_end].time + s->epoch;
        if (from < l->first_fw_start) l->first_fw_start = from;
        if (end > l->last_fw_end) l->last_fw_end = end;
        if (code & DL_MARK_RARE && l->op == 0) l->op = dl_mark_rare(m, code)->op;
    }
    s->fw_start = from;
    s->kernel_seen = shape->has_kernel;
    s->last = last;
    s->shape = known;
    if (ids->stream && ids->stream->next != s) ids->stream->next = s;
    ids->stream = s;
    const bool launch_is_kept = dl_pair_launch_is_kept(p, s->launch);
    const bool counts = dl_pair_lists_events(p) && dl_pair_only_counts(p, s->launch);
    const bool tells =
        !counts && dl_pair_lists_items(p) && shape->number && !shape->has_data && !(code & DL_MARK_RARE);
    dl_run *run = NULL;
    if (p->filter) {
        if (from < p->losses->seen.first) p->losses->seen.first = from;
        if (last > p->losses->seen.last) p->losses->seen.last = last;
    }
    if (p->out.sink.runs && launch_is_kept) {
        run = dl_pair_out_begin(p, stream, s->launch, counts || tells ? 0 : shape->n_items, n, status, err);
        if (!run) return n;
        run->unlisted = counts;
        if (counts || tells) run->n_events = shape->n_items;
        if (tells) {
            run->items = shape->told;
            run->line = dl_frame_line(rest, at);
            run->line_step = rest->step;
        }
        describe(p, s, shape, marks, run);
    }
    if (p->no_counts && tells) return n;
    bool taken = !p->filter && !p->no_samples && (counts || tells || !dl_pair_lists_events(p))
                     ? take_items(p, s, known, at, run, launch_is_kept, true)
                     : take_items(p, s, known, at, run, launch_is_kept, false);
    if (!taken) *status = dl_pair_no_memory(err);
    return n;
}

/* ---- Mark by mark ------------------------------------------------------------------------------------ */

static bool sorting_room(dl_pair *p, uint32_t n)
{
    if (n <= p->cap_sorted) return true;
    uint32_t cap = p->cap_sorted ? p->cap_sorted : 64;
    while (cap < n)
        cap *= 2;
    dl_mark *sorted = realloc(p->sorted, cap * sizeof *sorted);
    if (sorted) p->sorted = sorted;
    uint32_t *places = realloc(p->places, cap * sizeof *places);
    if (places) p->places = places;
    if (!sorted || !places) return false;
    p->cap_sorted = cap;
    return true;
}

/* A run in any order, with stamps of which one may be torn. */
static bool sort_run(dl_pair *p, const dl_mark *marks, uint32_t n, bool whole)
{
    dl_placed *placed = malloc(n * sizeof *placed);
    if (!placed) return false;
    for (uint32_t i = 0; i < n; i++)
        placed[i] = (dl_placed){marks[i], i, false};
    dl_order_marks(p->tables->kinds, placed, n, whole);
    for (uint32_t i = 0; i < n; i++) {
        p->sorted[i] = placed[i].mark;
        p->places[i] = placed[i].place | (placed[i].torn ? DL_TORN : 0);
    }
    free(placed);
    return true;
}

/* Puts the marks of a run in order. False when out of memory. */
static bool put_in_order(dl_pair *p, pair_run *run, const dl_order_run *of)
{
    const dl_mark *marks = run->sorted;
    const bool is_short = of->most - marks->time < DL_HALF_TORN; /* or something in it may be torn */
    if (!of->front && is_short) return true;
    if (!sorting_room(p, run->n)) return false;
    run->sorted = p->sorted;
    run->places = p->places;
    if (is_short && of->front <= DL_MOST_FRONT &&
        dl_order_merge(p->tables->kinds, marks, of->front, run->n, p->sorted, p->places))
        return true;
    return sort_run(p, marks, run->n, !dl_order_run_is_full(of));
}

static devlog_status pair_run_by_stack(dl_pair *p, pair_run *run, devlog_error *err)
{
    const dl_mark *first = &p->batch->items[run->at];
    stream_state *s = dl_pair_stream(p, dl_mark_stream(first->code));
    if (!s) return dl_pair_no_memory(err);
    if (!s->wanted) {
        p->losses->rows_filtered += run->n;
        return DEVLOG_OK;
    }
    const bool whole = s->n_open == 0 && first->code & DL_MARK_FW_START;
    p->run_line = p->lines_before + dl_frame_line(dl_mark_frame(p->batch, first->code), run->at);
    devlog_status status = dl_pair_by_stack(p, s, run, err);
    if (!status && whole && !p->no_shapes && s->n_open == 0 && s->limit == CLOCK_LIMIT)
        dl_pair_learn_shape(p, s, run);
    return status;
}

/* The end of the run that begins at `at`, of marks that are in order: it is cut at the next firmware start. */
static uint32_t end_of_ordered(const dl_marks *m, uint32_t at, uint32_t to)
{
    const uint64_t of_run = DL_MARK_STREAM | DL_MARK_FRAME | DL_MARK_RARE | DL_MARK_FW_START;
    const dl_frame *frame = dl_mark_frame(m, m->items[at].code);
    uint64_t code = m->items[at].code & ~DL_MARK_FW_START;
    if (to - at > DL_MAX_RUN) to = at + DL_MAX_RUN;
    for (uint32_t end = at + 1; end < to; end++) {
        const uint64_t next = m->items[end].code;
        if (!((next ^ code) & of_run)) continue;
        if ((next ^ code) & (DL_MARK_STREAM | DL_MARK_FW_START)) return end;
        const dl_frame *other = dl_mark_frame(m, next);
        if (other != frame && !dl_same_ids(&other->ids, &frame->ids)) return end;
        code = next;
    }
    return to;
}

/* The same of marks in any order, of which *run tells then. */
static uint32_t end_of_run(const dl_marks *m, uint32_t at, uint32_t to, dl_order_run *run)
{
    const uint64_t of_run = DL_MARK_STREAM | DL_MARK_FRAME | DL_MARK_RARE | DL_MARK_FW_START;
    uint64_t code = m->items[at].code & ~DL_MARK_FW_START;
    uint32_t end = at + 1;
    dl_order_add(run, &m->items[at]);
    for (; end < to && !dl_order_run_is_full(run); end++) {
        const uint64_t next = m->items[end].code;
        if ((next ^ code) & of_run) {
            if (dl_order_boundary(run, m, end - 1, m, end)) break;
            code = next & ~DL_MARK_FW_START;
        }
        dl_order_add(run, &m->items[end]);
    }
    return end;
}

devlog_status dl_pair_marks(dl_pair *p, const dl_marks *m, uint32_t from, uint32_t to, bool all, bool ordered,
                            uint32_t *taken, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    uint32_t at = from, end;
    known_ids ids = {0};
    p->batch = m;
    if (from < to && p->first_stream == DL_NONE) p->first_stream = dl_mark_stream(m->items[from].code);
    for (; at < to && !status; at = end) {
        uint32_t n = pair_as_before(p, at, to, all, &ids, &status, err);
        end = at + n;
        if (n) continue;
        dl_order_run of = {0};
        end = ordered ? end_of_ordered(m, at, to) : end_of_run(m, at, to, &of);
        if (end == to && !all && (ordered || !dl_order_run_is_full(&of))) break;
        pair_run run = {m->items + at, NULL, at, end - at};
        if (!ordered && !put_in_order(p, &run, &of)) return dl_pair_no_memory(err);
        status = pair_run_by_stack(p, &run, err);
    }
    *taken = at - from;
    if (at > from) p->last_stream = dl_mark_stream(m->items[at - 1].code);
    if (!status) status = dl_pair_out_flush(p, err);
    if (!p->out.collects && p->out.box.extra) dl_marks_clear(p->out.box.extra);
    p->batch = NULL;
    return status;
}
