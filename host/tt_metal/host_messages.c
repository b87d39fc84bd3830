/* Messages of tt-metal's host: ops, traces, signposts. Not for keeping them (host.c). */
#include <string.h>

#include "tt_metal/host_internal.h"
#include "tt_metal/messages.h"

enum { MAX_TENSORS = 255 };

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
    if (v->kind != JL_TEXT) return false;
    return dl_digits_value(v->text, v->len, out);
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
    tt_host_span(&r, text, n, cut);
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
    if (dl_digits_value(p, (size_t)(end - p), out)) return true;
    if (end - p != DL_DIGITS_MOST + 1) return false;
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

/* A message by its first line, whose end may be of either kind: behind it are members of JSON. */
static void quote(tt_host *h, tt_trouble kind, const tt_message *m)
{
    enum { MOST = 100 };
    int n = 0;
    while (n < MOST && (size_t)n < m->len && m->text[n] != '\r' && m->text[n] != '\n')
        n++;
    tt_found_add(h->found, kind, TT_OPS_DATA_NAME ":%llu: %.*s", (unsigned long long)m->line, n, m->text);
}

static bool bad_message(tt_host *h, const tt_message *m)
{
    quote(h, TT_BAD_MESSAGE, m);
    return true;
}

static bool short_op(tt_host *h, const tt_message *m, const head *d, tt_op *op)
{
    op->json = tt_host_known_json(h, op->device, d->hash);
    op->flags |= TT_OP_SHORT;
    if (op->json != TT_NONE) {
        if (h->jsons[op->json].cut) { /* what is whole of it */
            op->flags |= TT_OP_CUT;
            op->name = name_of(h, d);
        }
    } else {
        op->flags |= TT_OP_ORPHAN;
        op->name = name_of(h, d);
        quote(h, TT_UNKNOWN_CACHED, m);
    }
    return tt_host_add_op(h, op);
}

static bool take_op(tt_host *h, const tt_message *m)
{
    static const char arrow[] = " ->\n", arrow_crlf[] = " ->\r\n";
    const char *at = NULL, *json = NULL;
    if (memchr(m->text, '\n', m->len)) {
        if ((at = memmem(m->text, m->len, arrow, sizeof arrow - 1)) != NULL)
            json = at + sizeof arrow - 1;
        else if ((at = memmem(m->text, m->len, arrow_crlf, sizeof arrow_crlf - 1)) != NULL)
            json = at + sizeof arrow_crlf - 1;
    }
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
        op.trace = tt_host_capturing(h, op.device);
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
    const tt_json about = {.in = b.in, .out = b.out, .cut = cut};
    uint32_t number = tt_host_keep_json(h, json, n, &about);
    if (number == TT_NONE) return false;
    if (has_hash && op.device != TT_NONE) op.trace = tt_host_capturing(h, op.device);
    if (!cut && !b.has_code && d.whole) {
        /* A cached op with a JSON of its own: what this call alone has. */
        op.own = number;
        op.in = b.in;
        op.out = b.out;
        return short_op(h, m, &d, &op);
    }
    op.json = number;
    if (has_hash && op.device != TT_NONE && !tt_host_remember(h, op.device, op.hash, number)) return false;
    return tt_host_add_op(h, &op);
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
    if (memmem(m->text, n, "BEGIN", 5)) {
        return tt_host_capture(h, (uint32_t)device, (uint32_t)trace);
    } else if (memmem(m->text, n, "END", 3)) {
        if (tt_host_capturing(h, (uint32_t)device) != trace)
            tt_found_add(h->found, TT_TRACE_NESTING, TT_OPS_DATA_NAME ":%llu: trace %llu of device %llu",
                         (unsigned long long)m->line, (unsigned long long)trace, (unsigned long long)device);
        return tt_host_capture(h, (uint32_t)device, TT_NONE);
    } else if (memmem(m->text, n, "REPLAY", 6)) {
        return tt_host_add_replay(h, (uint32_t)device, (uint32_t)trace, m->ns);
    }
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
        ok = tt_host_add_signpost(h, m->text, m->len, m->ns);
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
