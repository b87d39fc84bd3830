/* Pulling: reading what one RISC has recorded. Not for what the words mean (decode/capture/records.c). */
#include "profiler/pull.h"
#include "profiler/control.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The part of the control block that firmware writes in every launch. A device that is only looked at was
 * told by another program what the rest says. */
enum {
    CONTROL_FROM = offsetof(devlog_control, magic),
    CONTROL_END = offsetof(devlog_control, events_base),
    KERNEL_FROM = offsetof(devlog_control, stream_size), /* and these, of a RISC that ran a kernel */
    SAMPLES_FROM =
        offsetof(devlog_control, written_over), /* and these, where the ring has written over records */
    GUARD = 16, /* bytes behind the last record that are read too: the host has cleared them */
};

typedef struct extent {
    uint32_t base, end; /* device addresses; end 0: unknown */
    bool fresh;         /* written once since the host cleared it: nothing but zeros behind its records */
} extent;

static bool plausible_end(uint32_t base, uint32_t end, uint32_t segment_bytes)
{
    return end >= base && end <= base + segment_bytes + DEVLOG_SLACK && end % 4 == 0;
}

/* Whether the control words are of launch `launch` and can be so: what a kernel that writes where it should
 * not leaves there is not believed. */
static bool plausible_control(const devlog_control *c)
{
    static const uint8_t marks[] = {1, 3, 7, 9, 15};
    uint64_t last = 0;
    bool known = memchr(marks, (int)(c->marks & 0xFF), sizeof marks) && c->marks < 16;
    for (uint32_t i = 0; i < 4 && known; i++) {
        uint64_t stamp = c->stamps[2 * i] | (uint64_t)c->stamps[2 * i + 1] << 32;
        if (!(c->marks >> i & 1)) continue;
        known = stamp >= last;
        last = stamp;
    }
    uint64_t first = c->stamps[0] | (uint64_t)c->stamps[1] << 32;
    /* Not more was lost than there was time for. */
    bool lost = !(c->marks & 8) || (uint64_t)c->dropped + c->overwritten <= last - first;
    return known && lost && c->state <= DEVLOG_STATE_KERNEL && c->frozen <= DEVLOG_FROZEN_BY_HOST &&
           (c->damage & DEVLOG_DAMAGE_ANY & ~DEVLOG_DAMAGE_CURSOR) == 0;
}

/* Adds up the two words that count drops. False when they cannot be: the firmware brings one up to date
 * whenever the lower bits of the other run over. */
static bool count_drops(devlog_control *c, uint32_t bits)
{
    uint32_t total = devlog_dropped(c->dropped, c->dropping, bits), since = total - c->dropped;
    bool possible = c->dropping == 0 || (c->dropped > 0 && since <= 1u << devlog_drops_low(bits));
    c->dropped_complete = devlog_dropped_complete(c->dropped_complete, c->dropping, bits);
    c->dropped = total;
    c->dropping = 0;
    return possible;
}

/* Words up to the last one that is not zero, in a segment that was clear. The last record may end in zeros.
 */
static uint32_t find_last(const uint32_t *words, uint32_t n)
{
    uint32_t end = n, at = 0;
    while (end && words[end - 1] == 0)
        end--;
    while (at < end) {
        uint32_t length = words[at] ? record_words(words + at, n - at) : 0;
        at += length ? length : 1;
    }
    return at;
}

/* Words up to the first place where no record begins, or where time goes back (an older lap of the ring). */
static uint32_t find_end(const uint32_t *words, uint32_t n)
{
    uint64_t last = 0;
    uint32_t at = 0;
    while (at < n && words[at] != 0) {
        uint32_t length = record_words(words + at, n - at);
        uint64_t time = record_untorn(record_stamp(words + at), last);
        if (length == 0 || (time >> 32 != 0 && time < last)) break;
        last = time;
        at += length;
    }
    /* What stopped the walk may be a damaged record: keep what is not cleared memory behind it. */
    while (at < n && words[at] != 0 && last == 0)
        at++;
    return at;
}

/* What firmware flushed to DRAM. */
static devlog_status read_stream(devlog_device *device, pulled *p, devlog_error *err)
{
    uint32_t bytes = p->control.streamed;
    if (bytes == 0) return DEVLOG_OK;
    stream_place place;
    uint32_t room = device->stream_bytes;
    if (device->attached) {
        const devlog_control *c = &p->control;
        place = (stream_place){c->stream_target & 63, c->stream_target >> 6 & 63, c->stream_base};
        room =
            c->mode == DEVLOG_MODE_STREAM && c->stream_size <= device->board.dram_size ? c->stream_size : 0;
    } else if (!stream_place_of(device, p->core, p->risc, &place)) {
        room = 0;
    }
    if (bytes > room || bytes % 4) {
        p->control.damage |= DEVLOG_DAMAGE_CONTROL;
        p->control.streamed = 0;
        return DEVLOG_OK;
    }
    p->words = malloc(bytes);
    if (!p->words) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the records of a core");
    dl_target at = {place.x, place.y, place.x, place.y};
    devlog_status status = dl_read(&device->transport, at, place.base, p->words, bytes, err);
    p->n_words = (uint32_t)(status == DEVLOG_OK ? bytes : device->transport.partial) / 4;
    p->spans[p->n_spans++].n = p->n_words;
    return status;
}

/* Where all records have been made of one size: closes the gaps behind those that are smaller. Returns how
 * many words are left. */
static uint32_t close_gaps(uint32_t *words, uint32_t n, uint32_t record_words_alike)
{
    uint32_t at = 0, to = 0;
    while (at < n) {
        uint32_t own = words[at] ? record_words(words + at, n - at) : 0;
        uint32_t step = (words[at] & 0xFFF) == DEVLOG_CODE_SUM && own ? own : record_words_alike;
        if (step > n - at) step = n - at;
        if (own == 0 || own > step) own = step;
        memmove(words + to, words + at, 4 * (size_t)own);
        at += step;
        to += own;
    }
    return to;
}

static devlog_status read_extent(devlog_device *device, pulled *p, extent e, uint32_t segment_bytes,
                                 devlog_error *err)
{
    const uint32_t most = segment_bytes + DEVLOG_SLACK;
    uint32_t own = e.end ? e.end - e.base : 0, bytes = e.end ? own : most;
    /* Only a kernel that wrote where it should not leaves something behind its records, so it must have run.
     */
    bool guarded = e.end && e.fresh && p->control.marks & 1u << (DEVLOG_ID_KERNEL_START - 1);
    if (guarded) bytes = own + GUARD < most ? own + GUARD : most;
    if (bytes == 0) return DEVLOG_OK;
    uint32_t *bigger = realloc(p->words, (size_t)p->n_words * 4 + bytes);
    if (!bigger) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the records of a core");
    p->words = bigger;
    uint32_t *to = p->words + p->n_words;
    devlog_status status = dl_core_read(device, p->core, e.base, to, bytes, err);
    uint32_t got = (uint32_t)(status == DEVLOG_OK ? bytes : device->transport.partial) / 4;
    uint32_t n = got;
    if (guarded && n > own / 4) {
        n = own / 4;
        bool stray = false;
        for (uint32_t i = n; i < got; i++)
            stray |= to[i] != 0;
        if (stray && status == DEVLOG_OK) {
            p->stray = true;
            return read_extent(device, p, (extent){e.base, 0, true}, segment_bytes, err);
        }
    }
    if (p->record_bytes) n = close_gaps(to, n, p->record_bytes / 4);
    if (!e.end) n = e.fresh ? find_last(to, n) : find_end(to, n);
    p->spans[p->n_spans++].n = n;
    p->n_words += n;
    return status;
}

/* Bytes of a RISC's records where they are all alike but need not be packed; otherwise 0. */
static uint32_t record_bytes_of(const devlog_device *device, devlog_core core, uint32_t risc,
                                const devlog_control *c)
{
    const board *b = &device->board;
    if (!device->attached) return device->record_bytes[(core.y * b->n_columns + core.x) * b->n_riscs + risc];
    const uint32_t told = DEVLOG_RECORD_BYTES_OF(c->mode);
    return told % 4 || told < 8 || told > DEVLOG_SLACK ? 0 : told;
}

devlog_status pull_risc(devlog_device *device, devlog_core core, uint32_t risc, uint32_t launch, bool clear,
                        pulled *out, devlog_error *err)
{
    const board *b = &device->board;
    uint32_t region = board_profiler_base(b, risc), bytes = DEVLOG_SEGMENT_BYTES(b->segment_bits);
    uint32_t stride = DEVLOG_SEGMENT_STRIDE(b->segment_bits);
    memset(out, 0, sizeof *out);
    out->core = core;
    out->risc = risc;
    devlog_control *c = &out->control;
    uint32_t from = device->attached ? 0 : CONTROL_FROM;
    devlog_status status = dl_core_read(device, core, region + DEVLOG_CONTROL_OFFSET(b->segment_bits) + from,
                                        (uint8_t *)c + from, CONTROL_END - from, err);
    if (status == DEVLOG_OK && !device->attached &&
        (c->marks & 1u << (DEVLOG_ID_KERNEL_START - 1) || c->marks > 15))
        status = dl_core_read(device, core, region + DEVLOG_CONTROL_OFFSET(b->segment_bits) + KERNEL_FROM,
                              (uint8_t *)c + KERNEL_FROM, CONTROL_FROM - KERNEL_FROM, err);
    if (status != DEVLOG_OK) return status;
    if (c->overwritten)
        status = dl_core_read(device, core, region + DEVLOG_CONTROL_OFFSET(b->segment_bits) + SAMPLES_FROM,
                              (uint8_t *)c + SAMPLES_FROM, sizeof c->written_over, err);
    if (status != DEVLOG_OK) return status;
    out->record_bytes = record_bytes_of(device, core, risc, c);
    bool counted = count_drops(c, b->segment_bits);
    bool whole = c->magic == DEVLOG_MAGIC && c->segment < DEVLOG_SEGMENTS;
    /* A core that has ended the launch has begun it on every RISC. */
    bool ended =
        !device->attached && device->ended == launch && device->booted[core.y * b->n_columns + core.x];
    if (whole && c->launch < launch && !ended) return DEVLOG_OK; /* it has not begun this launch */
    whole = whole && c->launch == launch && counted && plausible_control(c);

    const bool restore = c->magic != DEVLOG_MAGIC && ended && clear;
    extent extents[DEVLOG_SEGMENTS];
    uint32_t n = 0;
    if (!whole) {
        /* Nothing of it is believed, but that the host asked for this launch. */
        *c = (devlog_control){.magic = DEVLOG_MAGIC, .launch = launch, .damage = DEVLOG_DAMAGE_CONTROL};
        for (uint32_t s = 0; s < DEVLOG_SEGMENTS; s++)
            extents[n++] = (extent){region + s * stride, 0, true};
    } else {
        uint32_t current = c->segment, other = current ^ 1u;
        if (c->segment_end[other])
            extents[n++] = (extent){region + other * stride, c->segment_end[other], c->switches < 2};
        extents[n++] =
            (extent){region + current * stride, c->tail ? c->tail : c->segment_end[current], c->switches < 2};
        out->finished = c->tail != 0;
        /* Only the manager's firmware writes it, and only where a kernel uses the tile's stream: the buffer holds nothing of this
         * launch. */
        if (c->events_status && device->last && (risc || !program_streams_events(device->last))) {
            c->events_status = 0;
            c->damage |= DEVLOG_DAMAGE_CONTROL;
        }
    }
    out->alive = true;
    if (whole) status = read_stream(device, out, err);
    for (uint32_t i = 0; i < n && status == DEVLOG_OK; i++) {
        if (extents[i].end && !plausible_end(extents[i].base, extents[i].end, bytes)) {
            extents[i].end = 0;
            c->damage |= DEVLOG_DAMAGE_CURSOR;
        }
        status = read_extent(device, out, extents[i], bytes, err);
    }
    out->damaged = (c->damage & DEVLOG_DAMAGE_ANY) != 0 || out->stray;
    uint32_t *at = out->words;
    for (uint32_t i = 0; i < out->n_spans; i++) {
        out->spans[i].words = at;
        at += out->spans[i].n;
    }
    out->cut = status != DEVLOG_OK;
    /* Firmware writes it once, when it starts: the launches that follow are not damaged by this one. */
    const uint32_t magic = DEVLOG_MAGIC;
    if (status == DEVLOG_OK && restore)
        status = dl_core_write(device, core,
                               region + DEVLOG_CONTROL_OFFSET(b->segment_bits) +
                                   (uint32_t)offsetof(devlog_control, magic),
                               &magic, sizeof magic, err);
    /* A RISC that has not finished goes on where it is; before its core is used again, all of it is cleared.
     */
    if (status == DEVLOG_OK && clear && (out->n_words || out->damaged || c->switches) &&
        (out->finished || !whole)) {
        uint8_t *zeros = calloc(1, (size_t)bytes + DEVLOG_SLACK);
        if (!zeros) status = dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the records of a core");
        /* A segment that was written more than once holds more than its last records. */
        bool all = out->damaged || c->switches;
        for (uint32_t s = 0; s < DEVLOG_SEGMENTS && all; s++)
            extents[s] = (extent){region + s * stride, 0, true};
        if (all) n = DEVLOG_SEGMENTS;
        for (uint32_t i = 0; i < n && status == DEVLOG_OK; i++) {
            uint32_t size = extents[i].end ? extents[i].end - extents[i].base : bytes + DEVLOG_SLACK;
            if (size) status = dl_core_write(device, core, extents[i].base, zeros, size, err);
        }
        free(zeros);
    }
    return status;
}

void pulled_free(pulled *p)
{
    free(p->words);
    p->words = NULL;
    p->n_words = p->n_spans = 0;
}

devlog_status pull_events(devlog_device *device, const pulled *manager, pulled_events *out, devlog_error *err)
{
    *out = (pulled_events){0};
    const board_region *region = &device->board.events;
    uint32_t status_word = manager->control.events_status, bytes = 16 * DEVLOG_EVENTS_BLOCKS(status_word);
    if (!manager->alive || status_word == 0 || region->size == 0) return DEVLOG_OK;
    if (bytes > region->size) bytes = region->size;
    out->overflow = DEVLOG_EVENTS_OVERFLOW(status_word);
    if (bytes == 0) return DEVLOG_OK;
    out->words = malloc(bytes);
    if (!out->words) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the events of a core");
    out->n_words = bytes / 4;
    devlog_status status = dl_core_read(device, manager->core, region->base, out->words, bytes, err);
    if (status != DEVLOG_OK) {
        free(out->words);
        *out = (pulled_events){0};
    }
    return status;
}
