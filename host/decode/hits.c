/* Hits: rows in sixteen bytes. */
#include "decode/hits.h"

#include <stdlib.h>
#include <string.h>

void dl_hits_free(dl_hits *h)
{
    free(h->items);
    free(h->frames);
    *h = (dl_hits){0};
}

void dl_hits_clear(dl_hits *h)
{
    h->n = h->n_frames = 0;
}

bool dl_hits_room(dl_hits *h, uint32_t n)
{
    if (n <= h->cap - h->n) return true;
    uint64_t cap = h->cap ? h->cap : 64;
    while (cap < (uint64_t)h->n + n)
        cap *= 2;
    if (cap > UINT32_MAX / 2) return false;
    dl_hit *items = realloc(h->items, cap * sizeof *items);
    if (!items) return false;
    h->items = items;
    h->cap = (uint32_t)cap;
    return true;
}

/* Whether two frames say the same of all rows. */
static bool same_frame(const dl_row *a, const dl_row *b)
{
    return a->run_host_id == b->run_host_id && a->run_id == b->run_id && a->trace_id == b->trace_id &&
           a->trace_counter == b->trace_counter && a->has_launch == b->has_launch && a->op == b->op &&
           a->data == b->data && a->meta == b->meta && a->line == b->line;
}

/* The last frame's part of a code. */
static uint64_t code_of_last(const dl_hits *h)
{
    const dl_row *frame = &h->frames[h->n_frames - 1];
    return (uint64_t)h->n_frames << DL_HIT_FRAME_SHIFT |
           (frame->op || frame->data || frame->meta ? DL_HIT_RARE : 0);
}

static uint64_t add_frame(dl_hits *h, const dl_row *frame)
{
    if (h->n_frames == h->cap_frames) {
        uint32_t cap = h->cap_frames ? h->cap_frames * 2 : 64;
        dl_row *frames = cap <= DL_MAX_HIT_FRAMES ? realloc(h->frames, cap * sizeof *frames) : NULL;
        if (!frames) return 0;
        h->frames = frames;
        h->cap_frames = cap;
    }
    if (h->n_frames == DL_MAX_HIT_FRAMES - 1) return 0;
    h->frames[h->n_frames++] = *frame;
    return code_of_last(h);
}

uint64_t dl_hits_frame(dl_hits *h, const dl_row *row, uint32_t at, uint32_t line)
{
    const dl_row frame = {.run_host_id = row->run_host_id,
                          .run_id = row->run_id,
                          .trace_id = row->trace_id,
                          .trace_counter = row->trace_counter,
                          .has_launch = row->has_launch,
                          .op = row->op,
                          .data = row->data,
                          .meta = row->meta,
                          .line = line - at};
    bool same = h->n_frames && same_frame(&h->frames[h->n_frames - 1], &frame);
    return same ? code_of_last(h) : add_frame(h, &frame);
}

bool dl_hits_add_row(dl_hits *h, const dl_tables *tables, const dl_row *row)
{
    dl_role role = tables->sites[row->site].role;
    dl_row common = *row;
    if (row->type <= DL_ROW_ZONE_END) common.meta = 0;
    if (role != DL_ROLE_DROPPED && row->type <= DL_ROW_ZONE_END) common.data = 0;
    uint64_t frame = dl_hits_frame(h, &common, h->n, row->line);
    if (!frame || !dl_hits_room(h, 1)) return false;
    h->items[h->n++] = (dl_hit){row->time, dl_hit_code(row->site, row->type, role) | row->stream | frame};
    return true;
}

bool dl_hits_add(dl_hits *h, const dl_hits *from, uint32_t at, uint32_t n)
{
    uint64_t theirs = 0, ours = 0;
    if (!dl_hits_room(h, n)) return false;
    for (uint32_t i = at; i < at + n; i++) {
        dl_hit hit = from->items[i];
        if ((hit.code & DL_HIT_FRAME) != theirs) {
            const dl_row *frame = dl_hit_frame(from, hit.code);
            theirs = hit.code & DL_HIT_FRAME;
            ours = dl_hits_frame(h, frame, h->n, frame->line + i);
            if (!ours) return false;
        }
        hit.code = (hit.code & ~(DL_HIT_FRAME | DL_HIT_RARE)) | ours;
        h->items[h->n++] = hit;
    }
    return true;
}

void dl_hits_drop(dl_hits *h, uint32_t n)
{
    if (n == 0) return;
    h->n -= n;
    memmove(h->items, h->items + n, h->n * sizeof *h->items);
    /* What is left begins with frame `first`. */
    uint64_t first = h->n ? h->items[0].code >> DL_HIT_FRAME_SHIFT : h->n_frames ? h->n_frames : 1;
    for (uint32_t i = 0; i < h->n; i++)
        h->items[i].code -= (first - 1) << DL_HIT_FRAME_SHIFT;
    h->n_frames -= (uint32_t)first - 1;
    memmove(h->frames, h->frames + first - 1, h->n_frames * sizeof *h->frames);
    for (uint32_t i = 0; i < h->n_frames; i++)
        h->frames[i].line += n;
}

void dl_hits_rows(const dl_hits *h, uint32_t at, uint32_t n, dl_row *rows)
{
    for (uint32_t i = 0; i < n; i++) {
        const dl_hit *hit = &h->items[at + i];
        rows[i] = *dl_hit_frame(h, hit->code);
        rows[i].time = hit->time;
        rows[i].stream = dl_hit_stream(hit->code);
        rows[i].site = dl_hit_site(hit->code);
        rows[i].type = (uint8_t)((hit->code & DL_HIT_TYPE) >> DL_HIT_TYPE_SHIFT);
        rows[i].line += at + i;
    }
}

bool dl_hits_boundary(const dl_order_run *run, const dl_hits *h, uint32_t before, const dl_hits *next,
                      uint32_t after)
{
    uint64_t a = h->items[before].code, b = next->items[after].code;
    const dl_row *one = dl_hit_frame(h, a), *two = dl_hit_frame(next, b);
    if ((a ^ b) & DL_HIT_STREAM || one->run_host_id != two->run_host_id || one->run_id != two->run_id ||
        one->trace_id != two->trace_id || one->trace_counter != two->trace_counter)
        return true;
    return (b & DL_HIT_FW_START) && dl_order_run_starts(run, next->items[after].time);
}
