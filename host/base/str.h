/* Strings: a growing text buffer for writers, and the number formats that every report shares. Not for
 * parsing: decode/log/number.h reads numbers. */
#ifndef DEVLOG_BASE_STR_H
#define DEVLOG_BASE_STR_H

#include <stdbool.h>
#include <string.h>

#include "base/error.h"

/* A growing buffer. Zero-initialise it; free it with dl_str_free. When memory runs out `failed` is set and
 * further text is dropped, so that a writer checks once, at its end. `text` is NUL-terminated when not NULL.
 */
typedef struct dl_str {
    char *text;
    size_t len, cap;
    bool failed;
} dl_str;

void dl_str_free(dl_str *s);
/* Forgets the text and keeps the memory. */
void dl_str_clear(dl_str *s);
bool dl_str_grow(dl_str *s, size_t n);
/* Makes room for `n` further bytes and a NUL; false when out of memory. */
static inline bool dl_str_reserve(dl_str *s, size_t n)
{
    return n < s->cap - s->len && !s->failed ? true : dl_str_grow(s, n);
}
static inline void dl_str_add_n(dl_str *s, const char *text, size_t n)
{
    if (!dl_str_reserve(s, n)) return;
    if (n) memcpy(s->text + s->len, text, n);
    s->len += n;
    s->text[s->len] = 0;
}
static inline void dl_str_add(dl_str *s, const char *text)
{
    dl_str_add_n(s, text, strlen(text));
}
static inline void dl_str_char(dl_str *s, char c)
{
    if (!dl_str_reserve(s, 1)) return;
    s->text[s->len++] = c;
    s->text[s->len] = 0;
}
void dl_str_fmt(dl_str *s, const char *fmt, ...) DL_PRINTF(2, 3);
void dl_str_u64(dl_str *s, uint64_t value);
/* Length of the UTF-8 sequence at text[0..n): 1 to 4; 0 when there is none. */
size_t dl_utf8_length(const char *text, size_t n);
/* The text as UTF-8: bytes that are none become U+FFFD. */
void dl_str_utf8(dl_str *s, const char *text, size_t n);
/* The text as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void dl_str_json(dl_str *s, const char *text, size_t n);
/* The text as a CSV cell (RFC 4180), quoted when it must be. */
void dl_str_csv(dl_str *s, const char *text, size_t n);
/* As Markdown shows it: what it would take for its own is written with a '\\' in front. */
void dl_str_markdown(dl_str *s, const char *text);
/* The text as a terminal may show it, on one line: control characters, those that turn the direction of writing, and bytes that are
 * not UTF-8 as \n, \t, \r, \x1b or \u202e, so that a name from a log can neither move the cursor nor look like another line. For every
 * name that a table or a message shows. */
void dl_str_shown(dl_str *s, const char *text, size_t n);
/* The same of a whole NUL-terminated text in place, "?" for what cannot be shown; line feeds and tabs stay.
 */
void dl_shown_in_place(char *text);
/* The same of what goes to a terminal as it is, colours (ESC [ ... m) among it, which stay. */
void dl_shown_on_terminal(char *text, size_t n);
/* The same of what is one line: names may have line ends in them. */
void dl_shown_line_in_place(char *text);
/* DEVLOG_OK, or DEVLOG_ERR_MEMORY when any of the text could not be stored. */
devlog_status dl_str_status(const dl_str *s, devlog_error *err);

enum { DL_U64_DIGITS = 20, DL_GROUPED_SIZE = 28 };

/* Writes `value` in decimal to `to` and returns the place behind it; up to DL_U64_DIGITS bytes are written
 * to, also when there are fewer digits. No NUL. */
char *dl_digits(char *to, uint64_t value);
/* Three digits: with zeros in front; and without them, and how many these are. */
typedef struct dl_triple {
    char all[4], few[4];
} dl_triple;
extern const dl_triple dl_triples[1000];
/* The same of what is mostly less than 10^6, as durations are. */
static inline char *dl_digits_short(char *to, uint64_t value)
{
    if (value >= 1000000) return dl_digits(to, value);
    const uint32_t high = (uint32_t)value / 1000;
    if (high) {
        memcpy(to, dl_triples[high].few, sizeof dl_triples[high].few);
        to += dl_triples[high].few[3];
        memcpy(to, dl_triples[value - high * 1000].all, sizeof dl_triples[0].all);
        return to + 3;
    }
    memcpy(to, dl_triples[value].few, sizeof dl_triples[value].few);
    return to + dl_triples[value].few[3];
}
/* The same of numbers of which one follows the other closely, as stamps do: all but the last six digits are kept and copied.
 * Writes up to DL_NEAR_BYTES. Zero-initialised is empty. */
enum { DL_NEAR_BYTES = 24 };
typedef struct dl_near {
    uint64_t base;  /* what `text` stands for: a multiple of 10^6 */
    uint32_t reach; /* how far behind it numbers are that begin with it: 10^6; 0: there is none */
    uint32_t n;     /* of its digits */
    char text[16];
} dl_near;
char *dl_digits_far(dl_near *near, char *to, uint64_t value); /* the same, and what follows is near to it */
static inline char *dl_digits_near(dl_near *near, char *to, uint64_t value)
{
    const uint64_t last = value - near->base;
    if (last >= near->reach) return dl_digits_far(near, to, value);
    const uint32_t high = (uint32_t)last / 1000, low = (uint32_t)last - high * 1000;
    memcpy(to, near->text, sizeof near->text);
    to += near->n;
    memcpy(to, dl_triples[high].all, sizeof dl_triples[high].all);
    memcpy(to + 3, dl_triples[low].all, sizeof dl_triples[low].all);
    return to + 6;
}
/* The last n (up to 9) digits of a value, with zeros in front; writes nothing else. */
char *dl_digits_fixed(char *to, uint32_t value, unsigned n);
/* The same with a comma between thousands and a NUL at the end: 1,234,567. Returns `out`. */
const char *dl_u64_grouped(char out[DL_GROUPED_SIZE], uint64_t value);
/* A frequency in kHz as MHz, exactly: 1202, 1202.375. Returns `out`. */
const char *dl_mhz_text(char out[DL_GROUPED_SIZE], uint64_t khz);

#endif
