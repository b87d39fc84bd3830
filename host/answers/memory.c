/* Who held what memory of devices; see memory.h. Events are gone through once, memory by memory; how blocks lay is worked out for
 * the moments that are asked for only. */
#include "answers/memory.h"

#include <math.h>
#include <stdlib.h>

#include "base/intern.h"

enum { MOST_BANKS = 4096, MOST_TEXTS = 1 << 20, MOST_TEXT_BYTES = 256 << 20 };

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the buffers of a run");
}

static const struct {
    const char *text;
} troubles[MEMORY_TROUBLES] = {
    [MEMORY_UNKNOWN] = {"frees of buffers that were not there, skipped"},
    [MEMORY_TWICE] = {"allocations with the number of a buffer that was there; that is taken for freed"},
    [MEMORY_BAD_BANKS] = {"lists of banks that cannot be; the first banks are taken"},
    [MEMORY_OVERLAP] = {"memories in which two buffers lay at one place"},
};

const char *memory_trouble_text(memory_trouble what)
{
    return (unsigned)what < MEMORY_TROUBLES ? troubles[what].text : "";
}

bool memory_lost(const memory_run *r)
{
    for (int i = 0; i < MEMORY_TROUBLES; i++)
        if (r->found[i]) return true;
    for (size_t i = 0; i < r->n_spaces; i++)
        if (r->spaces[i].leaked) return true;
    return false;
}

/* ---- Banks --- */

/* "0-3,8": calls fn for each, or only counts with NULL; 0: it cannot be. */
static uint32_t walk(const char *text, memory_bank_fn *fn, void *ctx)
{
    uint32_t n = 0;
    for (;;) {
        char *end;
        if (*text < '0' || *text > '9') return 0;
        const unsigned long from = strtoul(text, &end, 10);
        unsigned long to = from;
        if (*end == '-') {
            if (end[1] < '0' || end[1] > '9') return 0;
            to = strtoul(end + 1, &end, 10);
        }
        if (to < from || to >= MOST_BANKS || to - from >= MOST_BANKS - n) return 0;
        for (unsigned long b = from; b <= to; b++, n++)
            if (fn) fn(ctx, (uint32_t)b);
        if (*end == 0) return n;
        if (*end != ',') return 0;
        text = end + 1;
    }
}

bool memory_banks(const memory_run *r, const memory_buffer *b, memory_bank_fn *fn, void *ctx)
{
    const char *at = memory_text(r, b->at);
    const uint32_t banks = memory_made(r, b)->banks;
    const bool good = !*at || walk(at, NULL, NULL) == banks;
    if (*at && good) walk(at, fn, ctx);
    for (uint32_t i = 0; !(*at && good) && i < banks; i++)
        fn(ctx, i);
    return good;
}

typedef struct change {
    memory_space *space;
    uint64_t held;
    bool freed;
} change;

static void change_bank(void *ctx, uint32_t bank)
{
    const change *c = ctx;
    uint64_t *used = &c->space->bank_used[bank];
    *used = c->freed ? *used - (c->held < *used ? c->held : *used) : *used + c->held;
}

static uint64_t fullest(const memory_space *s)
{
    uint64_t most = 0;
    for (uint32_t b = 0; b < MOST_BANKS && b < (s->banks ? s->banks : MOST_BANKS); b++)
        if (s->bank_used[b] > most) most = s->bank_used[b];
    return most;
}

/* ---- Which memory, which buffer --- */

static memory_space *space_of(memory_run *r, const op_memory *e)
{
    for (size_t i = 0; i < r->n_spaces; i++) {
        memory_space *s = &r->spaces[i];
        if (s->chip == e->chip && s->boot == e->boot && s->dram == e->dram && !s->closed) return s;
    }
    memory_space *grown = realloc(r->spaces, (r->n_spaces + 1) * sizeof *grown);
    if (!grown) return NULL;
    r->spaces = grown;
    memory_space *s = &grown[r->n_spaces];
    *s = (memory_space){
        .chip = e->chip, .boot = e->boot, .dram = e->dram, .first_t = e->t, .peak_event = MEMORY_NONE};
    s->bank_used = calloc(MOST_BANKS, sizeof *s->bank_used);
    if (!s->bank_used) return NULL;
    r->n_spaces++;
    return s;
}

static uint64_t key_of(const op_memory *e)
{
    return dl_hash_u64((uint64_t)e->chip << 32 | e->boot) ^ dl_hash_u64(e->buffer);
}

static bool same_buffer(const op_memory *a, const op_memory *b)
{
    return a->buffer == b->buffer && a->chip == b->chip && a->boot == b->boot;
}

/* The slot of a buffer: of the last that had the number, or an empty one. */
static uint32_t *slot_of(memory_run *r, const op_memory *e)
{
    for (size_t at = (size_t)key_of(e) & (r->n_slots - 1);; at = (at + 1) & (r->n_slots - 1)) {
        uint32_t *slot = &r->slots[at];
        if (!*slot || same_buffer(memory_made(r, &r->buffers[*slot - 1]), e)) return slot;
    }
}

static bool grow_slots(memory_run *r)
{
    if ((r->n_buffers + 1) * 2 <= r->n_slots) return true;
    const size_t n = r->n_slots ? r->n_slots * 2 : 1024;
    uint32_t *slots = calloc(n, sizeof *slots);
    if (!slots) return false;
    free(r->slots);
    r->slots = slots;
    r->n_slots = n;
    for (size_t i = 0; i < r->n_buffers; i++)
        *slot_of(r, memory_made(r, &r->buffers[i])) = (uint32_t)i + 1;
    return true;
}

static bool add_event(memory_space *s, uint32_t event)
{
    if (s->n_events == s->cap_events) {
        const uint32_t cap = s->cap_events ? s->cap_events * 2 : 64;
        uint32_t *events = realloc(s->events, cap * sizeof *events);
        if (events) s->events = events;
        uint64_t *levels = events ? realloc(s->levels, cap * sizeof *levels) : NULL;
        if (!levels) return false;
        s->levels = levels;
        s->cap_events = cap;
    }
    s->levels[s->n_events] = fullest(s);
    s->events[s->n_events++] = event;
    return true;
}

/* ---- Events --- */

static uint32_t keep(memory_run *r, const dl_str *text)
{
    const uint32_t id = text->len && !text->failed ? dl_intern_add(r->texts, text->text, text->len) : 0;
    return id == DL_NO_STRING ? 0 : id;
}

static uint32_t text_of(memory_run *r, const op_memory *e, const char *key)
{
    dl_str_clear(&r->text);
    op_log_member(r->log, e->at, e->len, key, &r->text);
    return keep(r, &r->text);
}

/* The name of the op, by all that its lines say. */
static uint32_t op_name(memory_run *r, uint32_t id)
{
    const op_entry *op = id ? op_log_find(r->log, id) : NULL;
    if (!op) return 0;
    if (r->named_id != id) {
        op_text_read(&r->op, r->log, op);
        dl_str_clear(&r->text);
        dl_str_add_n(&r->text, op_piece_text(&r->op, r->op.name), r->op.name.len);
        r->named = keep(r, &r->text);
        r->named_id = id;
    }
    return r->named;
}

static bool drop(memory_run *r, uint32_t buffer, uint32_t event, memory_state state)
{
    memory_buffer *b = &r->buffers[buffer];
    memory_space *s = &r->spaces[b->space];
    const op_memory *made = memory_made(r, b);
    change c = {s, made->held, true};
    memory_banks(r, b, change_bank, &c);
    s->used -= memory_bytes(made);
    s->live--;
    b->gone = event;
    b->state = (uint8_t)state;
    if (r->log->memory[event].what == OP_MEMORY_FREE)
        b->gone_file = text_of(r, &r->log->memory[event], "file");
    if (state == MEMORY_FREED) s->frees++;
    return add_event(s, event);
}

static void raise_chip_peak(memory_run *r, const memory_space *s)
{
    uint64_t together = s->used;
    for (size_t i = 0; i < r->n_spaces; i++) {
        const memory_space *other = &r->spaces[i];
        if (other != s && other->chip == s->chip && other->boot == s->boot && !other->closed)
            together += other->used;
    }
    if (together > r->chip_peak) r->chip_peak = together;
}

static bool on_alloc(memory_run *r, const op_memory *e, uint32_t event)
{
    if (!grow_slots(r)) return false;
    uint32_t *slot = slot_of(r, e);
    if (*slot && r->buffers[*slot - 1].gone == MEMORY_NONE) {
        r->found[MEMORY_TWICE]++;
        if (!drop(r, *slot - 1, event, MEMORY_FREED)) return false;
    }
    memory_space *s = space_of(r, e);
    if (!s) return false;
    if (r->n_buffers == r->cap_buffers) {
        const size_t cap = r->cap_buffers ? r->cap_buffers * 2 : 256;
        memory_buffer *grown = realloc(r->buffers, cap * sizeof *grown);
        if (!grown) return false;
        r->buffers = grown;
        r->cap_buffers = cap;
    }
    memory_buffer *b = &r->buffers[r->n_buffers];
    *b = (memory_buffer){.made = event,
                         .gone = MEMORY_NONE,
                         .space = (uint32_t)(s - r->spaces),
                         .at = text_of(r, e, "at"),
                         .file = text_of(r, e, "file"),
                         .name = text_of(r, e, "name"),
                         .op = op_name(r, e->op),
                         .state = MEMORY_LIVE};
    *slot = (uint32_t)++r->n_buffers;
    change c = {s, e->held, false};
    r->found[MEMORY_BAD_BANKS] += !memory_banks(r, b, change_bank, &c);
    s->allocs++;
    s->live++;
    s->used += memory_bytes(e);
    if (s->used > s->peak) {
        s->peak = s->used;
        s->peak_t = e->t;
        s->peak_event = event;
    }
    const uint64_t bank = fullest(s);
    if (bank > s->bank_peak) s->bank_peak = bank;
    raise_chip_peak(r, s);
    return add_event(s, event);
}

static bool on_free(memory_run *r, const op_memory *e, uint32_t event)
{
    uint32_t *slot = r->n_slots ? slot_of(r, e) : NULL;
    if (slot && *slot && r->buffers[*slot - 1].gone == MEMORY_NONE)
        return drop(r, *slot - 1, event, MEMORY_FREED);
    r->found[MEMORY_UNKNOWN]++;
    return true;
}

static bool on_close(memory_run *r, const op_memory *e, uint32_t event)
{
    for (size_t i = 0; i < r->n_buffers; i++) {
        const memory_buffer *b = &r->buffers[i];
        memory_space *s = &r->spaces[b->space];
        if (b->gone != MEMORY_NONE || s->chip != e->chip || s->boot != e->boot || s->closed) continue;
        const uint64_t bytes = memory_bytes(memory_made(r, b));
        if (!drop(r, (uint32_t)i, event, MEMORY_LEAKED)) return false;
        s->leaked++;
        s->leaked_bytes += bytes;
    }
    for (size_t i = 0; i < r->n_spaces; i++)
        if (r->spaces[i].chip == e->chip && r->spaces[i].boot == e->boot) r->spaces[i].closed = true;
    return true;
}

static bool on_size(memory_run *r, const op_memory *e)
{
    memory_space *s = space_of(r, e);
    if (!s) return false;
    s->banks = e->banks;
    s->bank_bytes = e->held;
    s->base = e->address;
    s->columns = e->columns;
    return true;
}

static void look_at_time(memory_run *r, uint64_t t)
{
    if (!t) return;
    if (t < r->start) r->start = t;
    if (t > r->end) r->end = t;
}

/* A tree over the levels, whose leaves are the second half. */
static bool make_tree(memory_space *s)
{
    const size_t n = s->n_events;
    s->highest = malloc((2 * n + 1) * sizeof *s->highest);
    if (!s->highest) return false;
    for (size_t i = 0; i < n; i++)
        s->highest[n + i] = s->levels[i];
    for (size_t i = n; i-- > 1;)
        s->highest[i] = s->highest[2 * i] > s->highest[2 * i + 1] ? s->highest[2 * i] : s->highest[2 * i + 1];
    return true;
}

devlog_status memory_run_make(memory_run *r, op_log *log, devlog_error *err)
{
    *r = (memory_run){.log = log, .start = UINT64_MAX};
    if (!log->n_memory) return DEVLOG_OK;
    r->texts = dl_intern_new(MOST_TEXTS, MOST_TEXT_BYTES);
    if (!r->texts) return no_memory(err);
    for (size_t i = 0; i < log->n_memory; i++) {
        const op_memory *e = &log->memory[i];
        bool good = true;
        look_at_time(r, e->t);
        switch ((op_memory_what)e->what) {
        case OP_MEMORY_SIZE: good = on_size(r, e); break;
        case OP_MEMORY_ALLOC: good = on_alloc(r, e, (uint32_t)i); break;
        case OP_MEMORY_FREE: good = on_free(r, e, (uint32_t)i); break;
        case OP_MEMORY_CLOSE: good = on_close(r, e, (uint32_t)i); break;
        }
        if (!good) return no_memory(err);
    }
    for (size_t i = 0; i < log->n_ops; i++) {
        if (i % OP_LOG_PASSED == 0) op_log_cool(log);
        look_at_time(r, log->ops[i].start);
        look_at_time(r, log->ops[i].end);
    }
    for (size_t i = 0; i < r->n_spaces; i++) {
        memory_space *s = &r->spaces[i];
        memory_moment m;
        devlog_status status = make_tree(s) ? DEVLOG_OK : no_memory(err);
        size_t at = 0;
        while (at < s->n_events && s->events[at] != s->peak_event)
            at++;
        if (!status) status = memory_moment_of(r, s, at < s->n_events ? at + 1 : 0, &m, err);
        if (status) return status;
        r->found[MEMORY_OVERLAP] += m.overlap;
    }
    return DEVLOG_OK;
}

void memory_run_free(memory_run *r)
{
    for (size_t i = 0; i < r->n_spaces; i++) {
        free(r->spaces[i].events);
        free(r->spaces[i].levels);
        free(r->spaces[i].highest);
        free(r->spaces[i].bank_used);
    }
    dl_intern_free(r->texts);
    dl_str_free(&r->text);
    op_text_free(&r->op);
    free(r->spaces);
    free(r->buffers);
    free(r->slots);
    *r = (memory_run){0};
}

/* ---- Moments --- */

typedef struct placed {
    const op_memory *made;
    const memory_buffer *buffer;
} placed;

static int by_address(const void *a, const void *b)
{
    const op_memory *x = ((const placed *)a)->made, *y = ((const placed *)b)->made;
    return x->address != y->address ? x->address < y->address ? -1 : 1
                                    : (x->held > y->held) - (x->held < y->held);
}

/* Whether two allocations share a bank. */
typedef struct bank_set {
    uint64_t bits[MOST_BANKS / 64];
    bool met;
} bank_set;

static void put_bank(void *ctx, uint32_t bank)
{
    bank_set *s = ctx;
    if (bank < MOST_BANKS) s->bits[bank / 64] |= UINT64_C(1) << bank % 64;
}

static void see_bank(void *ctx, uint32_t bank)
{
    bank_set *s = ctx;
    s->met |= bank < MOST_BANKS && (s->bits[bank / 64] >> bank % 64 & 1);
}

static bool share_bank(const memory_run *r, const memory_buffer *a, const memory_buffer *b)
{
    bank_set set = {{0}, false};
    memory_banks(r, a, put_bank, &set);
    memory_banks(r, b, see_bank, &set);
    return set.met;
}

devlog_status memory_moment_of(const memory_run *r, const memory_space *s, size_t events, memory_moment *out,
                               devlog_error *err)
{
    *out = (memory_moment){0};
    const uint64_t last = events ? s->events[events - 1] : 0;
    placed *live = malloc((events + 1) * sizeof *live);
    size_t n = 0;
    if (!live) return no_memory(err);
    for (size_t i = 0; i < r->n_buffers && events; i++) {
        const memory_buffer *b = &r->buffers[i];
        if (b->made > last) break;
        if (&r->spaces[b->space] != s || (b->gone != MEMORY_NONE && b->gone <= last)) continue;
        live[n++] = (placed){memory_made(r, b), b};
        out->used += memory_bytes(live[n - 1].made);
    }
    qsort(live, n, sizeof *live, by_address);
    uint64_t end = s->base;
    const uint64_t limit = s->base + s->bank_bytes;
    for (size_t i = 0; i < n; i++) {
        const op_memory *e = live[i].made;
        if (e->address > end && end < limit) {
            const uint64_t gap = (e->address < limit ? e->address : limit) - end;
            if (gap > out->largest) out->largest = gap;
        }
        for (size_t k = i + 1; k < n && !out->overlap && live[k].made->address < e->address + e->held; k++)
            out->overlap = share_bank(r, live[i].buffer, live[k].buffer);
        if (e->address + e->held > end) end = e->address + e->held;
    }
    if (end < limit && limit - end > out->largest) out->largest = limit - end;
    free(live);
    return DEVLOG_OK;
}

double memory_fragmentation(const memory_space *s, const memory_moment *m)
{
    const double all = (double)s->bank_bytes * s->banks, free_bytes = all - (double)m->used;
    if (!(free_bytes > 0)) return NAN;
    return 100 * (1 - (double)m->largest * s->banks / free_bytes);
}

/* The first event of the memory at or behind a time. */
static size_t event_at(const memory_run *r, const memory_space *s, uint64_t t)
{
    size_t from = 0, to = s->n_events;
    while (from < to) {
        const size_t mid = from + (to - from) / 2;
        if (r->log->memory[s->events[mid]].t < t)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

/* The highest level of [from, to). */
static uint64_t highest(const memory_space *s, size_t from, size_t to)
{
    uint64_t most = 0;
    for (from += s->n_events, to += s->n_events; from < to; from /= 2, to /= 2) {
        if (from % 2 && s->highest[from++] > most) most = s->highest[from - 1];
        if (to % 2 && s->highest[--to] > most) most = s->highest[to];
    }
    return most;
}

double memory_l1_of_op(const memory_run *r, uint32_t chip, uint32_t op)
{
    const op_entry *e = op && r->log ? op_log_find(r->log, op) : NULL;
    double most = NAN;
    if (!e) return NAN;
    for (size_t i = 0; i < r->n_spaces; i++) {
        const memory_space *s = &r->spaces[i];
        if (s->chip != chip || s->dram) continue;
        const size_t from = event_at(r, s, e->start), to = e->end ? event_at(r, s, e->end) : s->n_events;
        uint64_t level = from ? s->levels[from - 1] : 0;
        if (from < to && highest(s, from, to) > level) level = highest(s, from, to);
        if (!(most >= (double)level)) most = (double)level;
    }
    return most;
}
