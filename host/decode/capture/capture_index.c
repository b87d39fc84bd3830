/* Where a capture can be cut: see the header. */
#include "decode/capture/capture_index.h"

#include <stdlib.h>

#include "decode/capture/capture_frame.h"

void dl_capture_index_free(dl_capture_index *x)
{
    dl_str_free(&x->frames);
    free(x->standing.items);
    free(x->cuts.items);
    *x = (dl_capture_index){0};
}

static bool add(dl_capture_places *p, uint64_t at, uint64_t before)
{
    if (p->n == p->cap) {
        const uint32_t cap = p->cap ? p->cap * 2 : 64;
        dl_capture_place *grown = realloc(p->items, cap * sizeof *grown);
        if (!grown) return false;
        p->items = grown;
        p->cap = cap;
    }
    p->items[p->n++] = (dl_capture_place){at, before};
    return true;
}

void dl_capture_index_frame(dl_capture_index *x, const dl_capture_standing *f)
{
    switch (f->kind) {
    case DL_FRAME_CHIP:
    case DL_FRAME_ELF:
        x->failed |= !add(&x->standing, f->at, x->frames.len);
        dl_str_add_n(&x->frames, f->bytes, f->n);
        break;
    case DL_FRAME_VIOLATION: x->pending = true; break;
    case DL_FRAME_CORE: x->pending = false; break;
    case DL_FRAME_LAUNCH:
        if (!x->pending) x->failed |= !add(&x->cuts, f->at + f->n, f->number);
        break;
    case DL_FRAME_HOST_SITES:
    case DL_FRAME_HOST_RECORDS:
    case DL_FRAME_HOST_MEMORY: x->whole = true; break;
    default: break;
    }
}

bool dl_capture_index_end(dl_capture_index *x, const dl_capture_state *s)
{
    x->closed = s->closed;
    x->whole |= s->damaged_bytes || s->unknown || s->cut_bytes || s->malformed || s->stopped;
    return !x->failed && !x->frames.failed;
}

/* The first place at or behind a byte. */
static uint32_t find(const dl_capture_places *p, uint64_t at)
{
    uint32_t low = 0, high = p->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (p->items[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const dl_capture_place *dl_capture_index_cut(const dl_capture_index *x, uint64_t at)
{
    const uint32_t i = x->whole ? x->cuts.n : find(&x->cuts, at);
    return i < x->cuts.n ? &x->cuts.items[i] : NULL;
}

uint32_t dl_capture_index_before(const dl_capture_index *x, uint64_t at)
{
    return find(&x->standing, at);
}

void dl_capture_index_wire(dl_capture_index *x, dl_wire *w)
{
    const char *frames = x->frames.len ? x->frames.text : "";
    size_t n_frames = x->frames.len;
    uint32_t n = x->standing.n;
    dl_wire_flag(w, &x->closed);
    dl_wire_bytes(w, &frames, &n_frames);
    dl_wire_count(w, &n, UINT32_MAX, 2);
    if (dl_wire_reads(w)) {
        dl_str_add_n(&x->frames, frames, n_frames);
        x->standing.items = calloc((size_t)n + 1, sizeof *x->standing.items);
        x->standing.n = x->standing.cap = x->standing.items ? n : 0;
        if (x->frames.failed || !x->standing.items) w->bad = true;
    }
    dl_capture_place before = {0};
    for (uint32_t i = 0; i < n && !w->bad; i++) {
        dl_capture_place *p = &x->standing.items[i];
        dl_wire_more(w, &p->at, before.at);
        dl_wire_more(w, &p->before, before.before);
        if (p->at < before.at || p->before < before.before || p->before > n_frames) w->bad = true;
        before = *p;
    }
}
