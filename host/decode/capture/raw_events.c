/* The event stream of a tile, as marks of one of its RISCs. The hardware is shared by writers that know nothing of one another, so
 * nothing in it is believed unless a marker can have stored it. Not for records (records.c). */
#include "decode/capture/raw_internal.h"

/* In captures of before, events have 64 bits, two to a block of the buffer: the stored word, clock[31:0]. */
enum { BLOCK = 4, OLD_WORDS = 2, OLD_FORM = 1, FORM = 7 };

typedef struct entry {
    uint32_t stored, words;
    uint64_t time;
    bool whole;
} entry;

/* A stream is of one form: that of most of its blocks. */
static bool is_old(const raw_risc *in)
{
    uint32_t old = 0, blocks = in->n_events / BLOCK;
    for (uint32_t i = 0; i < blocks; i++)
        old += (in->events[i * BLOCK] & FORM) == OLD_FORM;
    return 2 * old > blocks;
}

/* The entry at w, behind one of the time `last`. Both forms are in order of time, as the hardware has stored them, and of this
 * launch. */
static entry entry_at(const raw_risc *in, const uint32_t *w, bool old, uint64_t last)
{
    entry e = {.stored = w[0]};
    if (old) {
        e.words = OLD_WORDS;
        e.time = last + (uint32_t)(w[1] - (uint32_t)last);
        e.whole = (w[0] & FORM) == OLD_FORM;
    } else {
        e.words = DEVLOG_EVENT_WORDS;
        e.time = w[1] | (uint64_t)w[2] << 32;
        e.whole = (w[0] & FORM) == DEVLOG_EVENT_APPEND && w[3] == 0 && e.time >= last;
    }
    e.whole = e.whole && (!in->events_until || e.time <= in->events_until);
    return e;
}

devlog_status raw_events(raw_maker *m, record_losses *losses, devlog_error *err)
{
    const raw_risc *in = m->in;
    const bool old = is_old(in);
    uint64_t last = in->events_from;
    m->streamed = true;
    for (uint32_t i = 0; i + (old ? OLD_WORDS : BLOCK) <= in->n_events; i += old ? OLD_WORDS : BLOCK) {
        const uint32_t *w = in->events + i;
        if (old && w[0] == 0 && w[1] == 0) continue; /* what a flush padded */
        const entry e = entry_at(in, w, old, last);
        if (!e.whole) {
            if (in->index == 0) losses->damaged_words += e.words; /* once for the tile */
            continue;
        }
        last = e.time;
        if (e.stored >> DEVLOG_EVENT_RISC_SHIFT != in->index) continue;
        const uint32_t id = e.stored & DEVLOG_EVENT_ID_MASK;
        const dl_elf_site *site = in->elf ? dl_elf_event_of(in->elf, id) : NULL;
        if (in->elf && !site) { /* no marker of its kernel has this number */
            losses->damaged_words += e.words;
            continue;
        }
        record_event event = {
            .kind = DEVLOG_KIND_EVENT, .code = id, .site = site, .time = e.time, .words = w};
        if (site && site->kind == DEVLOG_KIND_ZONE)
            event.kind = id == site->code ? DEVLOG_KIND_ZONE : DEVLOG_KIND_ZONE_END;
        if (!site) losses->unnamed++;
        devlog_status status = raw_add_event(m, &event, err);
        if (status != DEVLOG_OK) return status;
    }
    return DEVLOG_OK;
}
