/* What tt-metal's host says of a run, kept and found again. Not for reading it (host_messages.c, times.c). */
#include "tt_metal/host_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_NAMES = 1024 * 1024,
    MAX_NAME_BYTES = 64 * 1024 * 1024,
    MAX_TENSORS = 255,
    COOL_EVERY = 16384,
    COOL_BYTES = 16 * 1024 * 1024
};

typedef struct tt_cached {
    uint64_t hash;
    uint32_t device, json; /* json + 1; 0: empty */
} tt_cached;

typedef struct tt_capture {
    uint32_t device, trace; /* TT_NONE: none */
} tt_capture;

/* ---- Tables --- */

/* Room for one more in an array; false: no memory. */
static bool room(void **items, size_t n, size_t *cap, size_t size)
{
    if (n < *cap) return true;
    size_t grown_cap = *cap ? *cap * 2 : 64;
    void *grown = realloc(*items, grown_cap * size);
    if (!grown) return false;
    *items = grown;
    *cap = grown_cap;
    return true;
}

static bool big_room(dl_big *b, void **items, size_t n, size_t size)
{
    if ((n + 1) * size > b->bytes && !dl_big_room(b, (n + 64) * size)) return false;
    *items = b->data;
    return true;
}

static size_t slot_of(const tt_host *h, uint64_t id)
{
    const uint32_t hash = (uint32_t)dl_hash_u64(id);
    size_t mask = h->n_slots - 1, at = hash & mask;
    while (h->slots[at].op && (h->slots[at].hash != hash || h->ops[h->slots[at].op - 1].id != id))
        at = (at + 1) & mask;
    return at;
}

/* Ids most often come in their order, and are then not looked for one by one: the table is filled when the first is. */
static void fill_slots(tt_host *h)
{
    for (; h->n_indexed < h->n_ops; h->n_indexed++) {
        const tt_op *op = &h->ops[h->n_indexed];
        if (!(op->flags & TT_OP_SHADOW))
            h->slots[slot_of(h, op->id)] =
                (tt_id_slot){(uint32_t)h->n_indexed + 1, (uint32_t)dl_hash_u64(op->id)};
    }
}

uint32_t tt_host_find(tt_host *h, uint64_t id)
{
    if (!h->n_slots) return TT_NONE;
    fill_slots(h);
    uint32_t found = h->slots[slot_of(h, id)].op;
    return found ? found - 1 : TT_NONE;
}

static bool grow_slots(tt_host *h)
{
    if (h->n_ops * 2 < h->n_slots) return true;
    const size_t n = h->n_slots ? h->n_slots * 2 : 1024;
    tt_id_slot *slots = calloc(n, sizeof *slots);
    if (!slots) return false;
    free(h->slots);
    h->slots = slots;
    h->n_slots = n;
    h->n_indexed = 0;
    return true;
}

static tt_op *append_op(tt_host *h, const tt_op *op)
{
    void *items = NULL;
    if (h->n_ops >= TT_NONE - 1 || !big_room(&h->big_ops, &items, h->n_ops, sizeof *h->ops)) return NULL;
    h->ops = items;
    h->ops[h->n_ops] = *op;
    if (h->n_ops % COOL_EVERY == 0) dl_big_cool(&h->big_ops);
    return &h->ops[h->n_ops++];
}

/* An op with an id of its own, or one that takes the place of an earlier one, as in tt-metal's script. */
bool tt_host_add_op(tt_host *h, const tt_op *op)
{
    uint64_t *above = &h->above[op->id >> 31 & 1];
    if (!grow_slots(h)) return false;
    const uint32_t known = op->id < *above || op->id == UINT64_MAX ? tt_host_find(h, op->id) : TT_NONE;
    if (op->id >= *above && op->id < UINT64_MAX) *above = op->id + 1;
    if (known == TT_NONE) return append_op(h, op) != NULL;
    tt_op shadow = h->ops[known];
    tt_found_add(h->found, TT_ID_TWICE, "GLOBAL CALL COUNT %llu", (unsigned long long)op->id);
    shadow.flags |= TT_OP_SHADOW;
    h->ops[known] = *op;
    return append_op(h, &shadow) != NULL;
}

uint32_t tt_host_lost_op(tt_host *h, uint64_t id, uint32_t device)
{
    uint32_t known = tt_host_find(h, id);
    if (known != TT_NONE) return known;
    tt_op op = {
        .id = id, .device = device, .trace = TT_NONE, .json = TT_NONE, .own = TT_NONE, .flags = TT_OP_LOST};
    return tt_host_add_op(h, &op) ? (uint32_t)h->n_ops - 1 : TT_NONE;
}

static tt_cached *cached_slot(tt_host *h, uint32_t device, uint64_t hash)
{
    size_t mask = h->n_cached_slots - 1, at = (size_t)dl_hash_u64(hash ^ (uint64_t)device << 40) & mask;
    while (h->cached[at].json && (h->cached[at].hash != hash || h->cached[at].device != device))
        at = (at + 1) & mask;
    return &h->cached[at];
}

uint32_t tt_host_known_json(tt_host *h, uint32_t device, uint64_t hash)
{
    return h->n_cached_slots ? cached_slot(h, device, hash)->json - 1 : TT_NONE;
}

bool tt_host_remember(tt_host *h, uint32_t device, uint64_t hash, uint32_t json)
{
    if (h->n_cached * 2 >= h->n_cached_slots) {
        tt_cached *old = h->cached;
        size_t n_old = h->n_cached_slots, n = n_old ? n_old * 2 : 256;
        tt_cached *grown = calloc(n, sizeof *grown);
        if (!grown) return false;
        h->cached = grown;
        h->n_cached_slots = n;
        for (size_t i = 0; i < n_old; i++)
            if (old[i].json) *cached_slot(h, old[i].device, old[i].hash) = old[i];
        free(old);
    }
    tt_cached *slot = cached_slot(h, device, hash);
    if (slot->json && h->jsons[json].cut && !h->jsons[slot->json - 1].cut)
        return true; /* a whole one is better */
    h->n_cached += !slot->json;
    *slot = (tt_cached){.hash = hash, .device = device, .json = json + 1};
    return true;
}

static tt_capture *capture_of(tt_host *h, uint32_t device)
{
    for (size_t i = 0; i < h->n_captures; i++)
        if (h->captures[i].device == device) return &h->captures[i];
    if (!room((void **)&h->captures, h->n_captures, &h->cap_captures, sizeof *h->captures)) return NULL;
    h->captures[h->n_captures] = (tt_capture){.device = device, .trace = TT_NONE};
    return &h->captures[h->n_captures++];
}

bool tt_host_capture(tt_host *h, uint32_t device, uint32_t trace)
{
    tt_capture *c = capture_of(h, device);
    if (c) c->trace = trace;
    return c != NULL;
}

uint32_t tt_host_capturing(const tt_host *h, uint32_t device)
{
    for (size_t i = 0; i < h->n_captures; i++)
        if (h->captures[i].device == device) return h->captures[i].trace;
    return TT_NONE;
}

tt_trace *tt_host_trace(const tt_host *h, uint32_t device, uint32_t trace)
{
    for (size_t i = 0; i < h->n_traces; i++)
        if (h->traces[i].device == device && h->traces[i].trace == trace) return &h->traces[i];
    return NULL;
}

const tt_replay *tt_host_replay(const tt_host *h, uint32_t device, uint32_t trace, uint32_t session)
{
    tt_trace *t = tt_host_trace(h, device, trace);
    if (!t || session == 0 || session > t->replays) return NULL;
    /* Replays of one trace are most often neighbours, or are asked for in their order. */
    if (t->last - t->first + 1 == t->replays) return &h->replays[t->first - 1 + session - 1];
    if (!t->seen || session < t->seen) {
        t->seen = 1;
        t->seen_at = t->first;
    }
    for (; t->seen < session && t->seen_at; t->seen++)
        t->seen_at = h->next_replay[t->seen_at - 1];
    return t->seen_at ? &h->replays[t->seen_at - 1] : NULL;
}

bool tt_host_add_replay(tt_host *h, uint32_t device, uint32_t trace, uint64_t ns)
{
    tt_trace *t = tt_host_trace(h, device, trace);
    if (!t) {
        if (!room((void **)&h->traces, h->n_traces, &h->cap_traces, sizeof *h->traces)) return false;
        t = &h->traces[h->n_traces++];
        *t = (tt_trace){.device = device, .trace = trace};
    }
    size_t cap = h->cap_replays;
    if (!room((void **)&h->replays, h->n_replays, &h->cap_replays, sizeof *h->replays)) return false;
    if (cap != h->cap_replays) {
        uint32_t *grown = realloc(h->next_replay, h->cap_replays * sizeof *grown);
        if (!grown) return false;
        h->next_replay = grown;
    }
    h->replays[h->n_replays] = (tt_replay){.ns = ns, .device = device, .trace = trace};
    h->next_replay[h->n_replays++] = 0;
    if (t->last)
        h->next_replay[t->last - 1] = (uint32_t)h->n_replays;
    else
        t->first = (uint32_t)h->n_replays;
    t->last = (uint32_t)h->n_replays;
    t->replays++;
    return true;
}

/* ---- JSON --- */

static bool keep_text(tt_host *h, const char *text, size_t n, uint64_t *at)
{
    if (h->n_texts + n + 1 > h->big_texts.bytes) {
        if (!dl_big_room(&h->big_texts, h->n_texts + n + 65536)) return false;
        h->texts = h->big_texts.data;
    }
    memcpy(h->texts + h->n_texts, text, n);
    *at = h->n_texts;
    h->n_texts += n;
    return true;
}

void tt_host_span(jl_reader *r, const char *text, size_t n, bool cut)
{
    if (!cut && jl_line(r, text, n)) return;
    const char *brace = memchr(text, '{', n);
    *r = (jl_reader){.at = brace ? brace + 1 : text + n, .end = text + n};
}

static jl_kind next_whole(bool cut, jl_reader *r, jl_value *v)
{
    const char *end = r->end;
    jl_kind kind = jl_next(r, v);
    bool scalar = kind == JL_NUMBER || kind == JL_REAL || kind == JL_WORD;
    return kind == JL_BAD || (cut && scalar && v->text + v->len == end) ? JL_END : kind;
}

void tt_host_members(const tt_host *h, uint32_t json, jl_reader *r)
{
    const tt_json *j = &h->jsons[json];
    tt_host_span(r, h->texts + j->at, j->len, j->cut);
}

jl_kind tt_host_next(const tt_host *h, uint32_t json, jl_reader *r, jl_value *v)
{
    return next_whole(h->jsons[json].cut, r, v);
}

static bool member_of(const tt_host *h, uint32_t json, const char *key, jl_value *v)
{
    jl_reader r;
    jl_value m;
    bool found = false;
    if (json == TT_NONE) return false;
    tt_host_members(h, json, &r);
    while (tt_host_next(h, json, &r, &m) != JL_END)
        if (jl_key_is(&m, key)) {
            *v = m;
            found = true;
        }
    return found;
}

bool tt_host_member(const tt_host *h, const tt_op *op, const char *key, jl_value *v)
{
    return member_of(h, op->own, key, v) || member_of(h, op->json, key, v);
}

void tt_host_name(const tt_host *h, const tt_op *op, dl_str *out)
{
    jl_value v;
    if (op->name)
        dl_str_add(out, dl_intern_text(h->names, op->name, NULL));
    else if (tt_host_member(h, op, "op_code", &v) && v.kind == JL_TEXT)
        jl_text(&v, out);
}

uint32_t tt_host_keep_json(tt_host *h, const char *text, size_t n, const tt_json *about)
{
    void *items = NULL;
    uint64_t at;
    if (h->n_jsons >= TT_NONE - 1 || n >= TT_NONE) return TT_NONE;
    if (!big_room(&h->big_jsons, &items, h->n_jsons, sizeof *h->jsons)) return TT_NONE;
    h->jsons = items;
    if (!keep_text(h, text, n, &at)) return TT_NONE;
    h->jsons[h->n_jsons] = *about;
    h->jsons[h->n_jsons].at = at;
    h->jsons[h->n_jsons].len = (uint32_t)n;
    if (at / COOL_BYTES != h->n_texts / COOL_BYTES) tt_host_cool(h);
    return (uint32_t)h->n_jsons++;
}

bool tt_host_add_signpost(tt_host *h, const char *text, size_t n, uint64_t ns)
{
    uint64_t at;
    if (!room((void **)&h->signposts, h->n_signposts, &h->cap_signposts, sizeof *h->signposts)) return false;
    if (!keep_text(h, text, n, &at)) return false;
    /* Lines may have come with the ends of another system. */
    char *kept = h->texts + at;
    size_t len = 0;
    for (size_t i = 0; i < n; i++)
        if (text[i] != '\r' || (i + 1 < n && text[i + 1] != '\n')) kept[len++] = text[i];
    h->signposts[h->n_signposts++] = (tt_signpost){.at = at, .ns = ns, .len = (uint32_t)len};
    return true;
}

/* ---- Beginning and end --- */

devlog_status tt_host_begin(tt_host *h, tt_found *found, const char *scratch, devlog_error *err)
{
    *h = (tt_host){.found = found};
    h->big_ops.folder = h->big_jsons.folder = h->big_children.folder = h->big_texts.folder = scratch;
    h->names = dl_intern_new(MAX_NAMES, MAX_NAME_BYTES);
    return h->names ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

void tt_host_cool(tt_host *h)
{
    dl_big_cool(&h->big_ops);
    dl_big_cool(&h->big_jsons);
    dl_big_cool(&h->big_children);
    dl_big_cool(&h->big_texts);
}

void tt_host_free(tt_host *h)
{
    dl_big_free(&h->big_ops);
    dl_big_free(&h->big_jsons);
    dl_big_free(&h->big_children);
    dl_big_free(&h->big_texts);
    free(h->slots);
    free(h->cached);
    dl_intern_free(h->names);
    free(h->signposts);
    free(h->replays);
    free(h->next_replay);
    free(h->traces);
    free(h->captures);
    memset(h, 0, sizeof *h);
}
