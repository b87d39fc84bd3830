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
    dl_str_free(&t->stack);
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

static void of_stack(op_text *t, const jl_value *v, void *ctx)
{
    jl_reader r;
    jl_value frame;
    (void)ctx;
    if (v->kind != JL_LIST || !jl_key_is(v, "frames")) return;
    jl_inside(&r, v);
    for (jl_kind kind; (kind = jl_next(&r, &frame)) > JL_BAD;) {
        if (kind != JL_TEXT) continue;
        if (t->stack.len) dl_str_add(&t->stack, " < ");
        jl_text(&frame, &t->stack);
    }
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
            uint64_t pair[4] = {0, 0, OP_BYTES_UNKNOWN, 0};
            four(&call, pair);
            t->api[i] = (devlog_api_stats){pair[0], pair[1]};
            t->bytes[i] = pair[2];
        }
    }
}

static bool event_is(const jl_value *event, const char *name)
{
    return event->len == strlen(name) && memcmp(event->text, name, event->len) == 0;
}

/* The line of a tensor just as devlog writes it: what it says behind event and id. */
static bool quick_tensor(const char *line, uint32_t len, const char *begin, jl_reader *rest)
{
    size_t n = strlen(begin); /* known when compiling */
    if (len <= n || memcmp(line, begin, n) != 0 || line[len - 1] != '}') return false;
    const char *at = line + n, *end = line + len - 1;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    *rest = (jl_reader){.at = at, .end = end, .begun = true};
    return at > line + n && at < end && *at == ',';
}

static void of_extra(op_text *t, const char *line, uint32_t len)
{
    jl_reader r = {0}, behind;
    jl_value event, id;
    if (line && quick_tensor(line, len, "{\"e\":\"in\",\"id\":", &r)) {
        add_tensor(t, &r, &t->in, &t->n_in, &t->cap_in);
        return;
    }
    if (line && quick_tensor(line, len, "{\"e\":\"out\",\"id\":", &r)) {
        add_tensor(t, &r, &t->out, &t->n_out, &t->cap_out);
        return;
    }
    bool good = line && jl_line(&r, line, len) && jl_next(&r, &event) == JL_TEXT;
    behind = r;
    if (good && jl_next(&behind, &id) > JL_BAD && jl_key_is(&id, "id")) r = behind;
    if (!good) {
        t->damaged++;
    } else if (event_is(&event, "in")) {
        add_tensor(t, &r, &t->in, &t->n_in, &t->cap_in);
    } else if (event_is(&event, "out")) {
        add_tensor(t, &r, &t->out, &t->n_out, &t->cap_out);
    } else if (event_is(&event, "meta")) {
        walk(t, line, len, of_meta, NULL);
    } else if (event_is(&event, "stack")) {
        dl_str_clear(&t->stack);
        walk(t, line, len, of_stack, NULL);
    } else if (event_is(&event, "set")) {
        t->cells = NULL;
        walk(t, line, len, of_start, NULL);
    }
}

void op_text_clear(op_text *t)
{
    dl_str_clear(&t->texts);
    dl_str_clear(&t->attributes);
    dl_str_clear(&t->stack);
    t->name = t->type = t->fidelity = t->strategy = (op_piece){0};
    t->cells = NULL;
    t->cores = t->own = 0;
    t->n_in = t->n_out = 0;
    memset(t->api, 0, sizeof t->api);
    t->damaged = 0;
    t->no_memory = false;
}

static inline const char *quick_digits(const char *at, const char *end, uint64_t *out)
{
    enum { MOST_DIGITS = 19 };
    const char *first = at;
    uint64_t value = 0;
    for (unsigned digit; at < end && (digit = (unsigned)*at - '0') < 10; at++)
        value = value * 10 + digit;
    *out = value;
    return at > first && at - first <= MOST_DIGITS ? at : NULL;
}

/* Costs just as devlog writes them: ,"own":900,"api":{"LaunchProgram":[1,500]}. False, with whatever it has
 * read, when they are not so. */
static bool quick_costs(op_text *t, const char *at, const char *end)
{
    static const char own[] = ",\"own\":", api[] = ",\"api\":{";
    if ((size_t)(end - at) < sizeof own || memcmp(at, own, sizeof own - 1) != 0) return false;
    at = quick_digits(at + sizeof own - 1, end, &t->own);
    if (!at || at == end) return at != NULL;
    if ((size_t)(end - at) < sizeof api || memcmp(at, api, sizeof api - 1) != 0) return false;
    at += sizeof api - 1;
    for (int i = 0; i < DEVLOG_API_COUNT; i++) { /* they are written in this order */
        const char *name = devlog_api_name((devlog_api)i);
        size_t n = strlen(name);
        if ((size_t)(end - at) < n + 8 || at[0] != '"' || memcmp(at + 1, name, n) != 0) continue;
        at += n + 1;
        if (memcmp(at, "\":[", 3) != 0) return false;
        at = quick_digits(at + 3, end, &t->api[i].calls);
        if (!at || at == end || *at != ',') return false;
        at = quick_digits(at + 1, end, &t->api[i].total_ns);
        t->bytes[i] = OP_BYTES_UNKNOWN;
        if (at && at < end && *at == ',') at = quick_digits(at + 1, end, &t->bytes[i]);
        if (!at || end - at < 2 || *at != ']') return false;
        if (at[1] == '}') return at + 2 == end;
        if (at[1] != ',') return false;
        at += 2;
    }
    return false;
}

/* The end's line, or just its members from the costs on. */
static void read_end(op_text *t, const char *line, uint32_t len)
{
    if (!line || len == 0 || *line != ',') {
        walk(t, line, len, of_end, NULL);
        return;
    }
    if (quick_costs(t, line, line + len)) return;
    t->own = 0;
    memset(t->api, 0, sizeof t->api);
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
    struct kept_start {
        char *said, *texts; /* one allocation, which the cells' text is at the end of */
        uint32_t said_len, texts_len;
        op_piece name, type, fidelity, strategy;
        op_start_cells cells;
        uint64_t cores;
    } entries[STARTS];
    dl_str cells;
};

static void free_starts(op_text *t)
{
    for (int i = 0; t->starts && i < STARTS; i++)
        free(t->starts->entries[i].said);
    if (t->starts) dl_str_free(&t->starts->cells);
    free(t->starts);
}

static op_piece cell_of(const op_text *t, op_piece p, dl_str *cells)
{
    op_piece cell = {(uint32_t)cells->len, 0};
    dl_str_csv(cells, op_piece_text(t, p), p.len);
    cell.len = (uint32_t)(cells->len - cell.at);
    return cell;
}

static void keep_start(op_text *t, struct kept_start *k, const char *said, uint32_t n)
{
    dl_str *cells = &t->starts->cells;
    dl_str_clear(cells);
    op_start_cells made = {.name = cell_of(t, t->name, cells),
                           .type = cell_of(t, t->type, cells),
                           .fidelity = cell_of(t, t->fidelity, cells),
                           .strategy = cell_of(t, t->strategy, cells)};
    char *all = cells->failed || t->texts.failed ? NULL : malloc(n + t->texts.len + cells->len);
    if (!all) return;
    free(k->said);
    *k = (struct kept_start){.said = all,
                             .texts = all + n,
                             .said_len = n,
                             .texts_len = (uint32_t)t->texts.len,
                             .name = t->name,
                             .type = t->type,
                             .fidelity = t->fidelity,
                             .strategy = t->strategy,
                             .cells = made,
                             .cores = t->cores};
    memcpy(k->said, said, n);
    if (k->texts_len) memcpy(k->texts, t->texts.text, k->texts_len);
    if (cells->len) memcpy(k->texts + k->texts_len, cells->text, cells->len);
    k->cells.text = k->texts + k->texts_len;
}

/* `name_at`: where its name begins; 0: look for it. */
static void read_start(op_text *t, const char *line, uint32_t len, uint32_t name_at)
{
    const char *said = !line ? NULL : name_at ? line + name_at : memmem(line, len, ",\"name\":", 8);
    uint32_t n = said ? (uint32_t)(line + len - said) : 0;
    if (!t->starts) t->starts = calloc(1, sizeof *t->starts);
    if (!said || n > MAX_START_BYTES || !t->starts) {
        walk(t, line, len, of_start, NULL);
        return;
    }
    struct kept_start *k = &t->starts->entries[op_wording_hash(said, n) % STARTS];
    if (k->said && k->said_len == n && memcmp(k->said, said, n) == 0) {
        dl_str_add_n(&t->texts, k->texts, k->texts_len);
        t->name = k->name;
        t->type = k->type;
        t->fidelity = k->fidelity;
        t->strategy = k->strategy;
        t->cores = k->cores;
        t->cells = &k->cells;
        return;
    }
    uint32_t damaged = t->damaged;
    walk(t, line, len, of_start, NULL);
    if (t->damaged == damaged) keep_start(t, k, said, n);
}

void op_text_read(op_text *t, op_log *log, const op_entry *op)
{
    op_text_clear(t);
    const char *line = op_log_line(log, 0, op->at_start, op->len_start + op->block);
    read_start(t, line, op->len_start, op->name_at);
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
    op_text_clear(t);
    *number = 0;
    walk(t, op_log_line(log, 1, p->at, p->len), p->len, of_point, number);
}
