/* Lines of tt-metal's text files. Not for what they say. */
#include "tt_metal/lines.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { CHUNK = 1024 * 1024 };

typedef struct reading {
    const tt_lines *l;
    char *text;
    size_t n, cap;
    uint64_t number, before; /* before: bytes of the input in front of the text */
    bool ok;
} reading;

/* The beginning of the next line of interest; of what may be one once it is whole, where there is none. */
static const char *pass_over(const reading *r, const char *p, const char *end)
{
    const char *at = r->l->next(r->l->ctx, p, end), *stop = at ? at : end;
    const char *feed = memrchr(p, '\n', (size_t)(stop - p));
    if (feed) return feed + 1;
    return !at && (size_t)(end - p) > r->l->longest ? end - 16 : p;
}

/* Hands over whole lines, and what is too long to be one; returns how many bytes they are. */
static size_t take_lines(reading *r, bool ended)
{
    const tt_lines *l = r->l;
    const char *p = r->text, *end = p + r->n;
    while (p < end && r->ok) {
        if (l->next) p = pass_over(r, p, end);
        if (p == end) break;
        const char *feed = l->line_end ? l->line_end(l->ctx, p, end) : memchr(p, '\n', (size_t)(end - p));
        bool forced = ended || (size_t)(end - p) > l->longest;
        if (!feed && !forced) break;
        if (!feed && l->line_end) feed = memchr(p, '\n', (size_t)(end - p));
        const char *stop = feed ? feed : end;
        size_t length = (size_t)(stop - p);
        if (length && p[length - 1] == '\r') length--;
        if (l->place) *l->place = r->before + (uint64_t)(p - r->text);
        r->ok = l->take(l->ctx, p, length, ++r->number);
        p = feed ? feed + 1 : end;
    }
    return (size_t)(p - r->text);
}

static bool room(reading *r)
{
    if (r->cap - r->n >= CHUNK) return true;
    char *grown = realloc(r->text, r->cap + 2 * CHUNK + TT_LINES_AHEAD);
    if (!grown) return false;
    r->text = grown;
    r->cap += 2 * CHUNK;
    return true;
}

devlog_status tt_lines_read(const tt_lines *l, dl_input *input, const tt_progress *progress, tt_found *found,
                            devlog_error *err)
{
    reading r = {.l = l, .ok = true};
    for (bool ended = false; !ended && r.ok && !(l->enough && l->enough(l->ctx));) {
        size_t got = 0, taken;
        devlog_error why = {0};
        r.ok = room(&r);
        if (!r.ok) break;
        if (dl_input_read(input, r.text + r.n, CHUNK, &got, &why)) {
            if (found) tt_found_add(found, TT_STOPPED, "%s", why.text);
            got = 0;
        }
        ended = got == 0;
        r.n += got;
        if (!r.n) break;
        taken = take_lines(&r, ended);
        memmove(r.text, r.text + taken, r.n - taken);
        r.n -= taken;
        r.before += taken;
        if (progress) progress->call(progress->ctx, dl_input_taken(input), dl_input_size(input));
    }
    free(r.text);
    dl_input_close(input);
    return r.ok ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

static inline tt_cell trimmed(const char *begin, const char *end)
{
    while (begin < end && (*begin == ' ' || *begin == '\t'))
        begin++;
    while (end > begin && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    return (tt_cell){begin, (size_t)(end - begin)};
}

void tt_cells_split(const char *line, size_t n, tt_cell *cells, size_t cap, size_t *found)
{
    const char *begin = line, *end = line + n;
    size_t at = 0, kept = 0;
#if defined(__SSE2__)
    const __m128i comma = _mm_set1_epi8(',');
    for (; at + 16 <= n && kept < cap; at += 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(line + at));
        unsigned here = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, comma));
        for (; here && kept < cap; here &= here - 1) {
            const char *stop = line + at + __builtin_ctz(here);
            cells[kept++] = trimmed(begin, stop);
            begin = stop + 1;
        }
    }
#endif
    for (; at < n && kept < cap; at++) {
        if (line[at] != ',') continue;
        cells[kept++] = trimmed(begin, line + at);
        begin = line + at + 1;
    }
    if (kept < cap) cells[kept++] = trimmed(begin, end);
    *found = kept;
}

bool tt_cell_is(tt_cell c, const char *text)
{
    size_t n = strlen(text);
    return c.n == n && (!n || memcmp(c.text, text, n) == 0);
}
