/* Messages of tt-metal's host: ops, traces, signposts. Not for times (tt_times.c). */
#include "ops/tt_host.h"

#include <stdlib.h>
#include <string.h>

#include "ops/tt_messages.h"

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
    size_t mask = h->n_slots - 1, at = (size_t)dl_hash_u64(id) & mask;
    while (h->slots[at] && h->ops[h->slots[at] - 1].id != id)
        at = (at + 1) & mask;
    return at;
}

uint32_t tt_host_find(const tt_host *h, uint64_t id)
{
    if (!h->n_slots) return TT_NONE;
    uint32_t found = h->slots[slot_of(h, id)];
    return found ? found - 1 : TT_NONE;
}

static bool grow_slots(tt_host *h)
{
    if (h->n_ops * 2 < h->n_slots) return true;
    size_t n = h->n_slots ? h->n_slots * 2 : 1024;
    uint32_t *slots = calloc(n, sizeof *slots);
    if (!slots) return false;
    free(h->slots);
    h->slots = slots;
    h->n_slots = n;
    for (size_t i = 0; i < h->n_ops; i++)
        if (!(h->ops[i].flags & TT_OP_SHADOW)) h->slots[slot_of(h, h->ops[i].id)] = (uint32_t)i + 1;
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
static bool add_op(tt_host *h, const tt_op *op)
{
    if (!grow_slots(h)) return false;
    size_t slot = slot_of(h, op->id);
    if (!h->slots[slot]) {
        if (!append_op(h, op)) return false;
        h->slots[slot] = (uint32_t)h->n_ops;
        return true;
    }
    uint32_t known = h->slots[slot] - 1;
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
    return add_op(h, &op) ? (uint32_t)h->n_ops - 1 : TT_NONE;
}

static tt_cached *cached_slot(tt_host *h, uint32_t device, uint64_t hash)
{
    size_t mask = h->n_cached_slots - 1, at = (size_t)dl_hash_u64(hash ^ (uint64_t)device << 40) & mask;
    while (h->cached[at].json && (h->cached[at].hash != hash || h->cached[at].device != device))
        at = (at + 1) & mask;
    return &h->cached[at];
}

static bool remember(tt_host *h, uint32_t device, uint64_t hash, uint32_t json)
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

static uint32_t capturing(const tt_host *h, uint32_t device)
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
    const tt_trace *t = tt_host_trace(h, device, trace);
    if (!t || session == 0 || session > t->replays) return NULL;
    uint32_t at = t->first;
    /* Replays of one trace are most often neighbours. */
    if (t->last - t->first + 1 == t->replays) return &h->replays[t->first - 1 + session - 1];
    while (--session && at)
        at = h->next_replay[at - 1];
    return at ? &h->replays[at - 1] : NULL;
}

static bool add_replay(tt_host *h, uint32_t device, uint32_t trace, uint64_t ns)
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

static void members_of(jl_reader *r, const char *text, size_t n, bool cut)
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
    members_of(r, h->texts + j->at, j->len, j->cut);
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

static uint32_t tensors_in(const jl_value *list)
{
    jl_reader r;
    jl_value v;
    uint32_t n = 0;
    jl_inside(&r, list);
    for (jl_kind kind = jl_next(&r, &v); kind != JL_END && kind != JL_BAD && n < MAX_TENSORS;
         kind = jl_next(&r, &v))
        n++;
    return n;
}

/* A number, also one in quotes. */
static bool number_of(const jl_value *v, uint64_t *out)
{
    if (v->kind == JL_NUMBER) {
        *out = v->number;
        return true;
    }
    if (v->kind != JL_TEXT || v->len == 0 || v->len > 19) return false;
    *out = 0;
    for (size_t i = 0; i < v->len; i++) {
        if (v->text[i] < '0' || v->text[i] > '9') return false;
        *out = *out * 10 + (uint64_t)(v->text[i] - '0');
    }
    return true;
}

/* What of a JSON is wanted at once. */
typedef struct brief {
    uint64_t id, device, hash;
    bool has_id, has_device, has_hash, has_code, bad;
    uint32_t in, out;
} brief;

static brief brief_of(const char *text, size_t n, bool cut)
{
    brief b = {0};
    jl_reader r;
    jl_value v;
    members_of(&r, text, n, cut);
    for (;;) {
        const char *end = r.end;
        jl_kind kind = jl_next(&r, &v);
        if (kind == JL_END) break;
        bool scalar = kind == JL_NUMBER || kind == JL_REAL || kind == JL_WORD;
        if (kind == JL_BAD || (cut && scalar && v.text + v.len == end)) {
            b.bad = true;
            break;
        }
        if (jl_key_is(&v, "global_call_count"))
            b.has_id = number_of(&v, &b.id);
        else if (jl_key_is(&v, "device_id"))
            b.has_device = number_of(&v, &b.device) && b.device < TT_NONE;
        else if (jl_key_is(&v, "op_hash"))
            b.has_hash = number_of(&v, &b.hash);
        else if (jl_key_is(&v, "op_code"))
            b.has_code = true;
        else if (v.kind == JL_LIST &&
                 (jl_key_is(&v, "input_tensors") || jl_key_is(&v, "optional_input_tensors")))
            b.in += tensors_in(&v);
        else if (v.kind == JL_LIST && jl_key_is(&v, "output_tensors"))
            b.out += tensors_in(&v);
    }
    if (b.in > MAX_TENSORS) b.in = MAX_TENSORS;
    return b;
}

static uint32_t keep_json(tt_host *h, const char *text, size_t n, bool cut, const brief *b)
{
    void *items = NULL;
    uint64_t at;
    if (h->n_jsons >= TT_NONE - 1 || n >= TT_NONE) return TT_NONE;
    if (!big_room(&h->big_jsons, &items, h->n_jsons, sizeof *h->jsons)) return TT_NONE;
    h->jsons = items;
    if (!keep_text(h, text, n, &at)) return TT_NONE;
    h->jsons[h->n_jsons] = (tt_json){.at = at, .len = (uint32_t)n, .in = b->in, .out = b->out, .cut = cut};
    if (at / COOL_BYTES != h->n_texts / COOL_BYTES) tt_host_cool(h);
    return (uint32_t)h->n_jsons++;
}

/* ---- Messages --- */

/* What stands in front of the JSON: NAME, HASH, DEVICE[, CACHE HIT], ID. */
typedef struct head {
    const char *name;
    size_t name_len;
    bool quoted, whole, has_hit, hit;
    uint64_t hash, device, id;
} head;

static bool decimal(const char *p, const char *end, uint64_t *out)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    while (end > p && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\n' || end[-1] == '\r'))
        end--;
    if (p == end || end - p > 20) return false;
    uint64_t value = 0;
    for (; p < end; p++) {
        unsigned digit = (unsigned)(*p - '0');
        if (digit > 9 || value > (UINT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

static head read_head(const char *text, size_t n)
{
    head d = {0};
    const char *end = text + n, *p = memchr(text, ':', n);
    if (!p) return d;
    for (p++; p < end && *p == ' '; p++)
        ;
    d.name = p;
    if (p < end && *p == '"') {
        d.quoted = true;
        for (d.name = ++p; p < end && *p != '"'; p++)
            if (*p == '\\' && p + 1 < end) p++;
        d.name_len = (size_t)(p - d.name);
        if (p < end) p++;
    } else {
        while (p < end && *p != ',')
            p++;
        d.name_len = (size_t)(p - d.name);
    }
    /* The numbers behind it. */
    const char *cells[5], *ends[5];
    int cell = 0;
    while (p < end && *p == ',' && cell < 5) {
        cells[cell] = ++p;
        while (p < end && *p != ',')
            p++;
        ends[cell++] = p;
    }
    if (cell != 3 && cell != 4) return d;
    d.whole = decimal(cells[0], ends[0], &d.hash) && decimal(cells[1], ends[1], &d.device) &&
              decimal(cells[cell - 1], ends[cell - 1], &d.id) && d.device < TT_NONE;
    if (cell == 4) {
        const char *word = cells[2];
        while (word < ends[2] && *word == ' ')
            word++;
        size_t len = (size_t)(ends[2] - word);
        d.has_hit = true;
        d.hit = (len && *word == '1') ||
                (len == 4 && (memcmp(word, "true", 4) == 0 || memcmp(word, "True", 4) == 0));
    }
    return d;
}

static uint32_t name_of(tt_host *h, const head *d)
{
    dl_str name = {0};
    jl_value v = {.kind = JL_TEXT,
                  .text = d->name,
                  .len = d->name_len,
                  .escaped = d->quoted && memchr(d->name, '\\', d->name_len)};
    if (d->name) jl_text(&v, &name);
    uint32_t number = name.len ? dl_intern_add(h->names, name.text, name.len) : 0;
    dl_str_free(&name);
    return number == DL_NO_STRING ? 0 : number;
}

static bool bad_message(tt_host *h, const tt_message *m)
{
    tt_found_add(h->found, TT_BAD_MESSAGE, TT_OPS_DATA_NAME ":%llu: %.*s", (unsigned long long)m->line,
                 (int)(m->len < 100 ? m->len : 100), m->text);
    return true;
}

static bool short_op(tt_host *h, const tt_message *m, const head *d, tt_op *op)
{
    tt_cached *known = h->n_cached_slots ? cached_slot(h, op->device, d->hash) : NULL;
    op->flags |= TT_OP_SHORT;
    if (known && known->json) {
        op->json = known->json - 1;
        if (h->jsons[op->json].cut) { /* what is whole of it */
            op->flags |= TT_OP_CUT;
            op->name = name_of(h, d);
        }
    } else {
        op->flags |= TT_OP_ORPHAN;
        op->name = name_of(h, d);
        tt_found_add(h->found, TT_UNKNOWN_CACHED, TT_OPS_DATA_NAME ":%llu: %.*s", (unsigned long long)m->line,
                     (int)(m->len < 100 ? m->len : 100), m->text);
    }
    return add_op(h, op);
}

static bool take_op(tt_host *h, const tt_message *m)
{
    static const char arrow[] = " ->\n", arrow_crlf[] = " ->\r\n";
    const char *at = memmem(m->text, m->len, arrow, sizeof arrow - 1),
               *json = at ? at + sizeof arrow - 1 : NULL;
    if (!at && (at = memmem(m->text, m->len, arrow_crlf, sizeof arrow_crlf - 1)) != NULL)
        json = at + sizeof arrow_crlf - 1;
    size_t n = json ? (size_t)(m->text + m->len - json) : 0;
    head d = read_head(m->text, at ? (size_t)(at - m->text) : m->len);
    tt_op op = {.device = TT_NONE,
                .trace = TT_NONE,
                .json = TT_NONE,
                .own = TT_NONE,
                .sent = m->ns,
                .hash = d.hash,
                .id = d.id};
    if (d.whole) op.device = (uint32_t)d.device;
    if (d.hit) op.flags |= TT_OP_HIT;
    if (!json) {
        if (!d.whole || m->cut) return bad_message(h, m);
        op.trace = capturing(h, op.device);
        return short_op(h, m, &d, &op);
    }
    brief b = brief_of(json, n, m->cut);
    bool cut = m->cut || b.bad;
    if (b.bad && !m->cut) b = brief_of(json, n, true);
    if (!b.has_id && !d.whole) return bad_message(h, m);
    if (b.has_id) op.id = b.id;
    if (b.has_device) op.device = (uint32_t)b.device;
    if (b.has_hash) op.hash = b.hash;
    bool has_hash = b.has_hash || (cut && d.whole);
    if (cut) {
        op.flags |= TT_OP_CUT;
        op.name = b.has_code ? 0 : name_of(h, &d);
        tt_found_add(h->found, TT_CUT_MESSAGE, TT_OPS_DATA_NAME ":%llu: GLOBAL CALL COUNT %llu, %llu bytes",
                     (unsigned long long)m->line, (unsigned long long)op.id, (unsigned long long)m->len);
    }
    uint32_t number = keep_json(h, json, n, cut, &b);
    if (number == TT_NONE) return false;
    if (has_hash && op.device != TT_NONE) op.trace = capturing(h, op.device);
    if (!cut && !b.has_code && d.whole) {
        /* A cached op with a JSON of its own: what this call alone has. */
        op.own = number;
        op.in = b.in;
        op.out = b.out;
        return short_op(h, m, &d, &op);
    }
    op.json = number;
    if (has_hash && op.device != TT_NONE && !remember(h, op.device, op.hash, number)) return false;
    return add_op(h, &op);
}

static bool take_trace(tt_host *h, const tt_message *m)
{
    const char *end = m->text + m->len, *colon = memrchr(m->text, ':', m->len), *comma = NULL;
    uint64_t device, trace;
    if (colon) comma = memchr(colon, ',', (size_t)(end - colon));
    if (!comma || !decimal(colon + 1, comma, &device) || !decimal(comma + 1, end, &trace) ||
        device >= TT_NONE || trace >= TT_NONE)
        return bad_message(h, m);
    size_t n = (size_t)(colon - m->text);
    tt_capture *c = capture_of(h, (uint32_t)device);
    if (!c) return false;
    if (memmem(m->text, n, "BEGIN", 5)) {
        c->trace = (uint32_t)trace;
    } else if (memmem(m->text, n, "END", 3)) {
        if (c->trace != trace)
            tt_found_add(h->found, TT_TRACE_NESTING, TT_OPS_DATA_NAME ":%llu: trace %llu of device %llu",
                         (unsigned long long)m->line, (unsigned long long)trace, (unsigned long long)device);
        c->trace = TT_NONE;
    } else if (memmem(m->text, n, "REPLAY", 6)) {
        return add_replay(h, (uint32_t)device, (uint32_t)trace, m->ns);
    }
    return true;
}

static bool take_signpost(tt_host *h, const tt_message *m)
{
    uint64_t at;
    if (!room((void **)&h->signposts, h->n_signposts, &h->cap_signposts, sizeof *h->signposts)) return false;
    if (!keep_text(h, m->text, m->len, &at)) return false;
    h->signposts[h->n_signposts++] = (tt_signpost){.at = at, .ns = m->ns, .len = (uint32_t)m->len};
    return true;
}

static bool begins(const tt_message *m, const char *with)
{
    size_t n = strlen(with);
    return m->len >= n && memcmp(m->text, with, n) == 0;
}

/* tt-metal's messages begin with their kind; others (MLIR_OP_LOCATION and the like) are not for us. */
static bool take(void *ctx, const tt_message *m)
{
    tt_host *h = ctx;
    bool ok = true;
    h->messages++;
    if (begins(m, "TT_SIGNPOST"))
        ok = take_signpost(h, m);
    else if (begins(m, "TT_METAL_TRACE_ENQUEUE_PROGRAM"))
        ok = true;
    else if (begins(m, "TT_METAL_TRACE_") || begins(m, "TT_DNN_TRACE_"))
        ok = take_trace(h, m);
    else if ((begins(m, "TT_DNN_") || begins(m, "TT_METAL_")) &&
             memmem(m->text, m->len < 64 ? m->len : 64, "OP", 2))
        ok = take_op(h, m);
    h->no_memory |= !ok;
    return ok;
}

/* ---- Beginning and end --- */

devlog_status tt_host_begin(tt_host *h, tt_found *found, const char *scratch, devlog_error *err)
{
    *h = (tt_host){.found = found};
    h->big_ops.folder = h->big_jsons.folder = h->big_children.folder = h->big_texts.folder = scratch;
    h->names = dl_intern_new(MAX_NAMES, MAX_NAME_BYTES);
    return h->names ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

static void close_data(tt_host *h, const tt_messages_found *m)
{
    h->has_data = true;
    if (m->quoting)
        tt_found_add(h->found, TT_QUOTING, "%llu messages of " TT_OPS_DATA_NAME,
                     (unsigned long long)m->quoting);
    if (m->too_long)
        tt_found_add(h->found, TT_BAD_MESSAGE, "%llu messages of more than %d MiB",
                     (unsigned long long)m->too_long, TT_MAX_MESSAGE / 1024 / 1024);
    if (m->stopped) tt_found_add(h->found, TT_STOPPED, "%s", m->why.text);
    dl_big_cool(&h->big_texts);
    dl_big_cool(&h->big_ops);
}

devlog_status tt_host_read_data(tt_host *h, const char *path, const tt_progress *progress, devlog_error *err)
{
    tt_messages_found m;
    devlog_status status = tt_messages_read(path, take, h, progress ? progress->call : NULL,
                                            progress ? progress->ctx : NULL, &m, err);
    if (!status) close_data(h, &m);
    return status;
}

devlog_status tt_host_parse_data(tt_host *h, const void *bytes, size_t n, devlog_error *err)
{
    tt_messages_found m;
    devlog_status status = tt_messages_parse(bytes, n, take, h, &m, err);
    if (!status) close_data(h, &m);
    return status;
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
