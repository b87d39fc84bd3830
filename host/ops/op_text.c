/* What the op log says about one op, read again from its lines. */
#include "ops/op_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "ops/jsonline.h"

static void free_starts(op_text *t);

void op_text_free(op_text *t)
{
    free_starts(t);
    dl_str_free(&t->texts);
    dl_str_free(&t->attributes);
    free(t->in);
    free(t->out);
    *t = (op_text){0};
}

static op_piece keep(op_text *t, const jl_value *v)
{
    op_piece p = {(uint32_t)t->texts.len, 0};
    jl_text(v, &t->texts);
    p.len = (uint32_t)(t->texts.len - p.at);
    return p;
}

/* Walks a line; `member` is called for each of its members. */
static void walk(op_text *t, const char *line, uint32_t len,
                 void (*member)(op_text *t, const jl_value *v, void *ctx), void *ctx)
{
    jl_reader r;
    jl_value v;
    jl_kind kind = JL_BAD;
    if (line && jl_line(&r, line, len))
        while ((kind = jl_next(&r, &v)) > JL_BAD)
            member(t, &v, ctx);
    if (kind == JL_BAD) t->damaged++;
}

static void of_start(op_text *t, const jl_value *v, void *ctx)
{
    (void)ctx;
    if (v->kind == JL_TEXT && jl_key_is(v, "name")) t->name = keep(t, v);
    if (v->kind == JL_TEXT && jl_key_is(v, "type")) t->type = keep(t, v);
    if (v->kind == JL_TEXT && jl_key_is(v, "fidelity")) t->fidelity = keep(t, v);
    if (v->kind == JL_TEXT && jl_key_is(v, "strategy")) t->strategy = keep(t, v);
    if (v->kind == JL_NUMBER && jl_key_is(v, "cores")) t->cores = v->number;
}

static void four(const jl_value *v, uint64_t out[4])
{
    jl_reader r;
    jl_value item;
    jl_inside(&r, v);
    for (int i = 0; i < 4 && jl_next(&r, &item) == JL_NUMBER; i++)
        out[i] = item.number;
}

static op_piece keep_in(dl_str *texts, const jl_value *v)
{
    op_piece p = {(uint32_t)texts->len, 0};
    jl_text(v, texts);
    p.len = (uint32_t)(texts->len - p.at);
    return p;
}

void op_tensor_read(op_tensor *x, const char *said, size_t n, dl_str *texts)
{
    jl_reader r = {.at = said, .end = said + n, .begun = true};
    jl_value v;
    *x = (op_tensor){0};
    bool logical = false;
    while (jl_next(&r, &v) > JL_BAD) {
        if (v.kind == JL_LIST && jl_key_is(&v, "shape")) four(&v, x->shape);
        if (v.kind == JL_LIST && jl_key_is(&v, "logical")) {
            four(&v, x->logical);
            logical = true;
        }
        if (v.kind == JL_TEXT && jl_key_is(&v, "layout")) x->layout = keep_in(texts, &v);
        if (v.kind == JL_TEXT && jl_key_is(&v, "dtype")) x->data_type = keep_in(texts, &v);
        if (v.kind == JL_TEXT && jl_key_is(&v, "memory")) x->memory = keep_in(texts, &v);
    }
    if (!logical) memcpy(x->logical, x->shape, sizeof x->logical);
}

/* What a line says behind event and id. */
static void add_tensor(op_text *t, const jl_reader *rest, op_piece **list, uint32_t *n, uint32_t *cap)
{
    if (*n == *cap) {
        uint32_t more = *cap ? *cap * 2 : 8;
        op_piece *grown = realloc(*list, more * sizeof *grown);
        if (!grown) {
            t->no_memory = true;
            return;
        }
        *list = grown;
        *cap = more;
    }
    size_t len = rest->at ? (size_t)(rest->end - rest->at) : 0;
    (*list)[(*n)++] = (op_piece){(uint32_t)t->texts.len, (uint32_t)len};
    if (len) dl_str_add_n(&t->texts, rest->at, len);
}

void op_attribute_add(dl_str *attributes, const char *text, size_t n)
{
    jl_reader r;
    jl_value v;
    size_t before = attributes->len;
    if (before) dl_str_add(attributes, "; ");
    size_t begun = attributes->len;
    jl_kind kind = JL_BAD;
    if (jl_line(&r, text, n)) {
        while ((kind = jl_next(&r, &v)) > JL_BAD) {
            if (attributes->len > begun) dl_str_add(attributes, "; ");
            jl_value key = {
                .text = v.key, .len = v.key_len, .escaped = memchr(v.key, '\\', v.key_len) != NULL};
            dl_str_char(attributes, '\'');
            jl_text(&key, attributes);
            dl_str_add(attributes, "': '");
            if (v.kind == JL_LIST) dl_str_char(attributes, '[');
            if (v.kind == JL_OBJECT) dl_str_char(attributes, '{');
            if (v.kind == JL_TEXT)
                jl_text(&v, attributes);
            else
                dl_str_add_n(attributes, v.text, v.len);
            if (v.kind == JL_LIST) dl_str_char(attributes, ']');
            if (v.kind == JL_OBJECT) dl_str_char(attributes, '}');
            dl_str_char(attributes, '\'');
        }
    }
    if (kind == JL_END || attributes->failed) return;
    attributes->len = begun; /* no JSON, or not to its end: the text itself */
    dl_str_add_n(attributes, text, n);
}

static void of_meta(op_text *t, const jl_value *v, void *ctx)
{
    (void)ctx;
    if (v->kind != JL_TEXT || !jl_key_is(v, "text")) return;
    op_piece p = keep(t, v);
    if (!t->texts.failed) op_attribute_add(&t->attributes, op_piece_text(t, p), p.len);
}

static void of_end(op_text *t, const jl_value *v, void *ctx)
{
    (void)ctx;
    if (v->kind == JL_NUMBER && jl_key_is(v, "own")) t->own = v->number;
    if (v->kind != JL_OBJECT || !jl_key_is(v, "api")) return;
    jl_reader r;
    jl_value call;
    jl_inside(&r, v);
    while (jl_next(&r, &call) > JL_BAD) {
        for (int i = 0; i < DEVLOG_API_COUNT && call.kind == JL_LIST; i++) {
            if (!jl_key_is(&call, devlog_api_name((devlog_api)i))) continue;
            uint64_t pair[4] = {0};
            four(&call, pair);
            t->api[i] = (devlog_api_stats){pair[0], pair[1]};
        }
    }
}

static bool event_is(const jl_value *event, const char *name)
{
    return event->len == strlen(name) && memcmp(event->text, name, event->len) == 0;
}

static void of_extra(op_text *t, const char *line, uint32_t len)
{
    jl_reader r = {0}, behind;
    jl_value event, id;
    bool good = line && jl_line(&r, line, len) && jl_next(&r, &event) == JL_TEXT;
    behind = r;
    if (good && jl_next(&behind, &id) > JL_BAD && jl_key_is(&id, "id")) r = behind;
    if (!good)
        t->damaged++;
    else if (event_is(&event, "in"))
        add_tensor(t, &r, &t->in, &t->n_in, &t->cap_in);
    else if (event_is(&event, "out"))
        add_tensor(t, &r, &t->out, &t->n_out, &t->cap_out);
    else if (event_is(&event, "meta"))
        walk(t, line, len, of_meta, NULL);
    else if (event_is(&event, "set"))
        walk(t, line, len, of_start, NULL);
}

static void clear(op_text *t)
{
    op_text kept = *t;
    *t = (op_text){.texts = kept.texts,
                   .attributes = kept.attributes,
                   .starts = kept.starts,
                   .in = kept.in,
                   .out = kept.out,
                   .cap_in = kept.cap_in,
                   .cap_out = kept.cap_out};
    dl_str_clear(&t->texts);
    dl_str_clear(&t->attributes);
}

/* The end's line, or just its members from the costs on. */
static void read_end(op_text *t, const char *line, uint32_t len)
{
    if (!line || len == 0 || *line != ',') {
        walk(t, line, len, of_end, NULL);
        return;
    }
    jl_reader r = {.at = line, .end = line + len, .begun = true};
    jl_value v;
    jl_kind kind;
    while ((kind = jl_next(&r, &v)) > JL_BAD)
        of_end(t, &v, NULL);
    if (kind == JL_BAD) t->damaged++;
}

/* Ops are started in the same words again and again: what came of them is kept. */
enum { STARTS = 256, MAX_START_BYTES = 1024 };

struct op_start_cache {
    struct {
        char *said, *texts; /* one allocation */
        uint32_t said_len, texts_len;
        op_piece name, type, fidelity, strategy;
        uint64_t cores;
    } entries[STARTS];
};

static void free_starts(op_text *t)
{
    for (int i = 0; t->starts && i < STARTS; i++)
        free(t->starts->entries[i].said);
    free(t->starts);
}

static void read_start(op_text *t, const char *line, uint32_t len)
{
    const char *said = line ? memmem(line, len, ",\"name\":", 8) : NULL;
    uint32_t n = said ? (uint32_t)(line + len - said) : 0;
    if (!t->starts) t->starts = calloc(1, sizeof *t->starts);
    if (!said || n > MAX_START_BYTES || !t->starts) {
        walk(t, line, len, of_start, NULL);
        return;
    }
    size_t at = dl_hash_bytes(said, n) % STARTS;
    if (t->starts->entries[at].said_len == n && memcmp(t->starts->entries[at].said, said, n) == 0) {
        dl_str_add_n(&t->texts, t->starts->entries[at].texts, t->starts->entries[at].texts_len);
        t->name = t->starts->entries[at].name;
        t->type = t->starts->entries[at].type;
        t->fidelity = t->starts->entries[at].fidelity;
        t->strategy = t->starts->entries[at].strategy;
        t->cores = t->starts->entries[at].cores;
        return;
    }
    uint32_t damaged = t->damaged;
    walk(t, line, len, of_start, NULL);
    char *both = t->texts.failed || t->damaged != damaged ? NULL : malloc(n + t->texts.len);
    if (!both) return;
    memcpy(both, said, n);
    if (t->texts.len) memcpy(both + n, t->texts.text, t->texts.len);
    free(t->starts->entries[at].said);
    t->starts->entries[at].said = both;
    t->starts->entries[at].texts = both + n;
    t->starts->entries[at].said_len = n;
    t->starts->entries[at].texts_len = (uint32_t)t->texts.len;
    t->starts->entries[at].name = t->name;
    t->starts->entries[at].type = t->type;
    t->starts->entries[at].fidelity = t->fidelity;
    t->starts->entries[at].strategy = t->strategy;
    t->starts->entries[at].cores = t->cores;
}

void op_text_read(op_text *t, op_log *log, const op_entry *op)
{
    clear(t);
    const char *line = op_log_line(log, 0, op->at_start, op->len_start + op->block);
    read_start(t, line, op->len_start);
    for (uint32_t at = op->len_start; line && at < op->block + op->len_start;) {
        const char *from = line + at + 1, *end = line + op->len_start + op->block;
        const char *line_end = from < end ? memchr(from, '\n', (size_t)(end - from)) : NULL;
        uint32_t len = from < end ? (uint32_t)((line_end ? line_end : end) - from) : 0;
        if (len) of_extra(t, from, len);
        at += len + 1;
    }
    for (uint32_t at = op->extra; at; at = log->extras[at - 1].next) {
        const op_extra *x = &log->extras[at - 1];
        of_extra(t, op_log_line(log, 0, x->at, x->len), x->len);
    }
    if (op->flags & OP_ENDED) read_end(t, op_log_line(log, 1, op->at_end, op->len_end), op->len_end);
}

static void of_point(op_text *t, const jl_value *v, void *ctx)
{
    if (v->kind == JL_TEXT && (jl_key_is(v, "header") || jl_key_is(v, "name"))) t->name = keep(t, v);
    if (v->kind == JL_TEXT && jl_key_is(v, "text")) t->strategy = keep(t, v);
    if (v->kind == JL_NUMBER && jl_key_is(v, "n")) *(uint64_t *)ctx = v->number;
}

void op_text_point(op_text *t, op_log *log, const op_point *p, uint64_t *number)
{
    clear(t);
    *number = 0;
    walk(t, op_log_line(log, 1, p->at, p->len), p->len, of_point, number);
}
