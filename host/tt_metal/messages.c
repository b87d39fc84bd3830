/* Messages of tracy_ops_data.csv: where each begins and ends. Not for what they say (host.c). */
#include "tt_metal/messages.h"

#include <stdlib.h>
#include <string.h>

#include "decode/input.h"

enum { CHUNK = 1024 * 1024 };

typedef struct reader {
    dl_input *input;
    char *text; /* what has been read and not yet taken */
    size_t at, n, cap;
    bool ended, no_memory;
    uint64_t line;
    dl_str plain; /* a message whose doubled backticks are single again */
    tt_messages_found *found;
} reader;

/* Reads more behind what there is. False: there is no more. */
static bool more(reader *r)
{
    if (r->ended) return false;
    if (r->at) {
        memmove(r->text, r->text + r->at, r->n - r->at);
        r->n -= r->at;
        r->at = 0;
    }
    if (r->cap - r->n < CHUNK) {
        size_t cap = r->cap + r->cap / 2 + 2 * CHUNK;
        char *grown = realloc(r->text, cap);
        if (!grown) {
            r->no_memory = r->ended = true;
            return false;
        }
        r->text = grown;
        r->cap = cap;
    }
    size_t got = 0;
    devlog_error err = {0};
    if (dl_input_read(r->input, r->text + r->n, CHUNK, &got, &err)) {
        r->found->stopped = true;
        r->found->why = err;
        got = 0;
    }
    r->ended = got == 0;
    r->n += got;
    return got > 0;
}

/* ";DIGITS" and the line's end at `at`, as every message ends; *end: behind the line feed. False: something
 * else. At the end of the file a missing line feed is forgiven. */
static bool is_time(const reader *r, size_t at, uint64_t *ns, bool *timed, size_t *end)
{
    if (at >= r->n || r->text[at] != ';') return false;
    uint64_t value = 0;
    size_t digits = 0;
    for (at++; at < r->n && r->text[at] >= '0' && r->text[at] <= '9'; at++, digits++)
        value = value * 10 + (uint64_t)(r->text[at] - '0');
    if (at < r->n && r->text[at] == '\r') at++;
    if (at < r->n ? r->text[at] != '\n' : !r->ended) return false;
    *end = at < r->n ? at + 1 : at;
    *ns = value;
    *timed = digits > 0 && digits < 20;
    return true;
}

/* Whether the line before the one that begins at `at` ends with a time; *from: where its ';' is. */
static bool time_before(const reader *r, size_t begin, size_t at, size_t *from)
{
    size_t p = at;
    if (p > begin && r->text[p - 1] == '\n') p--;
    if (p > begin && r->text[p - 1] == '\r') p--;
    size_t digits = p;
    while (p > begin && r->text[p - 1] >= '0' && r->text[p - 1] <= '9')
        p--;
    if (p == digits || p == begin || r->text[p - 1] != ';') return false;
    *from = p - 1;
    return true;
}

/* A message that was cut ends with the first line that ends with a time: what follows may be lines that are not quoted. Of text between
 * `begin` and `end`; *from: where the ';' is. */
static bool first_time(const reader *r, size_t begin, size_t end, size_t *from)
{
    for (size_t at = begin; at < end;) {
        const char *feed = memchr(r->text + at, '\n', end - at);
        at = feed ? (size_t)(feed - r->text) + 1 : end;
        if (time_before(r, begin, at, from)) return true;
    }
    return false;
}

static uint64_t lines_in(const char *text, size_t n)
{
    uint64_t lines = 0;
    for (const char *p = text, *end = text + n; p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL;
         p++)
        lines++;
    return lines;
}

/* A message with doubled backticks. */
static void undouble(reader *r, tt_message *m)
{
    dl_str_clear(&r->plain);
    for (size_t i = 0; i < m->len; i++) {
        dl_str_char(&r->plain, m->text[i]);
        if (m->text[i] == '`' && i + 1 < m->len && m->text[i + 1] == '`') i++;
    }
    r->no_memory |= r->plain.failed;
    m->text = r->plain.text ? r->plain.text : "";
    m->len = r->plain.len;
}

/* The message that begins with the backtick at r->at; *end: where the next begins. False: skipped. */
static bool quoted(reader *r, tt_message *m, size_t *end)
{
    size_t looked = 1;
    bool doubled = false, odd = false;
    for (;;) {
        /* What begins at r->at moves when more is read, so places count from there. */
        const char *tick = memchr(r->text + r->at + looked, '`', r->n - r->at - looked);
        size_t place = tick ? (size_t)(tick - r->text) : r->n;
        /* What follows a backtick must be there to judge it. */
        if (!r->ended && (!tick || r->n - place < 40)) {
            if (place - r->at > TT_MAX_MESSAGE) break;
            looked = tick ? place - r->at : r->n - r->at;
            more(r);
            if (r->no_memory) return false;
            continue;
        }
        size_t from = 0;
        if (!tick || r->text[place - 1] == '\n') {
            /* The next message, or the end: was this one cut? */
            if ((!tick || time_before(r, r->at + 1, place, &from)) &&
                first_time(r, r->at + 1, place, &from)) {
                is_time(r, from, &m->ns, &m->timed, end);
                m->cut = true;
                m->len = from - r->at - 1;
                break;
            }
            if (!tick) {
                m->cut = true;
                m->len = r->n - r->at - 1;
                *end = r->n;
                break;
            }
        }
        if (is_time(r, place + 1, &m->ns, &m->timed, end)) {
            m->len = place - r->at - 1;
            break;
        }
        bool pair = place + 1 < r->n && r->text[place + 1] == '`';
        doubled |= pair;
        odd |= !pair;
        looked = place - r->at + (pair ? 2 : 1);
        if (looked > r->n - r->at) looked = r->n - r->at;
    }
    m->text = r->text + r->at + 1;
    if (!m->len && *end == r->at) { /* too long: on to the next line that begins a message */
        r->found->too_long++;
        *end = r->n;
        const char *next = memmem(r->text + r->at + 1, r->n - r->at - 1, "\n`", 2);
        if (next) *end = (size_t)(next + 1 - r->text);
        return false;
    }
    r->found->quoting += odd;
    if (doubled) undouble(r, m);
    return true;
}

/* A line that is not quoted. */
static bool bare(reader *r, tt_message *m, size_t *end)
{
    const char *feed;
    for (size_t looked = 0; !(feed = memchr(r->text + r->at + looked, '\n', r->n - r->at - looked));) {
        looked = r->n - r->at;
        if (looked > TT_MAX_MESSAGE || !more(r)) break;
    }
    size_t stop = feed ? (size_t)(feed - r->text) : r->n, n = stop - r->at;
    *end = feed ? stop + 1 : stop;
    m->text = r->text + r->at;
    if (n && m->text[n - 1] == '\r') n--;
    m->len = n;
    const char *semicolon = memrchr(m->text, ';', n);
    size_t ignored;
    if (semicolon && is_time(r, (size_t)(semicolon - r->text), &m->ns, &m->timed, &ignored))
        m->len = (size_t)(semicolon - m->text);
    return n > 0;
}

static devlog_status read_all(reader *r, bool (*take)(void *ctx, const tt_message *m), void *ctx,
                              void (*progress)(void *ctx, uint64_t taken, uint64_t size), void *progress_ctx,
                              devlog_error *err)
{
    static const char header[] = "MessageName;";
    bool stopped = false;
    r->line = 1;
    while (!stopped && !r->no_memory && (r->at < r->n || more(r))) {
        tt_message m = {.line = r->line};
        size_t end = r->at;
        bool any = r->text[r->at] == '`' ? quoted(r, &m, &end) : bare(r, &m, &end);
        if (r->no_memory) break;
        bool is_header = r->line == 1 && m.len + 1 >= sizeof header - 1 && any &&
                         memcmp(r->text + r->at, header, sizeof header - 1) == 0;
        if (any && !is_header) {
            r->found->messages++;
            r->found->cut += m.cut;
            r->found->untimed += !m.timed;
            stopped = !take(ctx, &m);
        }
        if (progress && r->found->messages % 4096 == 0)
            progress(progress_ctx, dl_input_taken(r->input), dl_input_size(r->input));
        r->line += lines_in(r->text + r->at, end - r->at);
        r->at = end;
    }
    r->found->lines = r->line - 1;
    bool failed = stopped || r->no_memory;
    free(r->text);
    dl_str_free(&r->plain);
    dl_input_close(r->input);
    return failed ? dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory") : DEVLOG_OK;
}

devlog_status tt_messages_read(const char *path, bool (*take)(void *ctx, const tt_message *m), void *ctx,
                               void (*progress)(void *ctx, uint64_t taken, uint64_t size), void *progress_ctx,
                               tt_messages_found *found, devlog_error *err)
{
    reader r = {.found = found};
    *found = (tt_messages_found){0};
    devlog_status status = dl_input_open(&r.input, path, err);
    return status ? status : read_all(&r, take, ctx, progress, progress_ctx, err);
}

devlog_status tt_messages_parse(const void *bytes, size_t n, bool (*take)(void *ctx, const tt_message *m),
                                void *ctx, tt_messages_found *found, devlog_error *err)
{
    reader r = {.found = found};
    *found = (tt_messages_found){0};
    devlog_status status = dl_input_memory(&r.input, "messages", bytes, n, err);
    return status ? status : read_all(&r, take, ctx, NULL, NULL, err);
}
