/* Output of the timeline writers: a buffered file that appears whole or not at all, standard output, or
 * either of them compressed; and printing that is fast enough for millions of lines. */
#ifndef DEVLOG_REPORT_OUT_H
#define DEVLOG_REPORT_OUT_H

#include <string.h>

#include "base/file.h"

/* Called with constants, of which there is a body each, or a million times. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Owned by out_open's caller; make it ready with out_open, end it with out_close. Text is appended through
 * the functions below; the first failure is kept and told by out_close. */
typedef struct dl_out dl_out;
struct dl_out {
    char *text; /* what has gathered */
    size_t len, cap;
    uint64_t written; /* bytes before it, uncompressed */
    devlog_status status;
    struct out_target *target;
};

/* `path` "-" is standard output; a name that ends in ".gz" is compressed, with no name and time in its
 * header, so that the bytes depend on nothing else. A file is written beside `path` and renamed by out_close.
 */
devlog_status out_open(dl_out *o, const char *path, devlog_error *err);
/* `status` is of the work so far: when it is no success the file is thrown away and the status returned. */
devlog_status out_close(dl_out *o, devlog_status status, devlog_error *err);
/* The same for one of several files that belong together: it gets its name with the set's others. */
devlog_status out_close_into(dl_out *o, dl_file_set *set, devlog_status status, devlog_error *err);
/* Writes what has gathered; out_room calls it. */
void out_flush(dl_out *o);
/* Overwrites n bytes at an offset of the uncompressed output; only for files that are not compressed. */
void out_patch(dl_out *o, uint64_t at, const void *bytes, size_t n);

/* Makes room for n bytes (at most OUT_MOST) and returns where they go; the caller then adds to o->len. */
enum { OUT_MOST = 64 * 1024 };
static inline char *out_room(dl_out *o, size_t n)
{
    if (o->cap - o->len < n) out_flush(o);
    return o->text + o->len;
}

/* Where the next goes, for who has made room. */
static inline uint8_t *out_end(dl_out *o)
{
    return (uint8_t *)o->text + o->len;
}

/* Any length. */
void out_bytes(dl_out *o, const void *bytes, size_t n);

static inline void out_text(dl_out *o, const char *text)
{
    out_bytes(o, text, strlen(text));
}

/* For literals: their length is known when compiling. */
#define OUT_LITERAL(o, text) out_bytes(o, "" text, sizeof(text) - 1)

static inline void out_str(dl_out *o, const dl_str *s)
{
    out_bytes(o, s->text, s->len);
}

void out_fmt(dl_out *o, const char *fmt, ...) DL_PRINTF(2, 3);

/* Copies to `to` and returns the place behind. */
static inline char *out_copy(char *to, const char *text, size_t n)
{
    memcpy(to, text, n);
    return to + n;
}
/* The same in words, for texts of some ten bytes: reads and writes up to OUT_WORD bytes more. */
enum { OUT_WORD = 32 };
static inline char *out_copy_words(char *to, const char *text, size_t n)
{
    memcpy(to, text, OUT_WORD);
    for (size_t i = OUT_WORD; i < n; i += OUT_WORD)
        memcpy(to + i, text + i, OUT_WORD);
    return to + n;
}
#define OUT_COPY(to, literal) out_copy(to, "" literal, sizeof(literal) - 1)

/* Takes away the beginning of a character whose rest was cut off at the end of a UTF-8 text. */
void out_cut_utf8(char *text);

/* Text that is printed once and copied often; out_copy_words may copy it. */
typedef struct out_fragment {
    char *text; /* NULL: not printed yet */
    size_t n;
} out_fragment;

/* Takes over what *s holds; false, and *s freed, when it is not whole. */
bool out_keep(out_fragment *f, dl_str *s);
/* Frees an array of them; NULL is allowed. */
void out_free_fragments(out_fragment *fragments, size_t n);

static inline void out_u64(dl_out *o, uint64_t value)
{
    char *to = out_room(o, DL_U64_DIGITS);
    o->len += (size_t)(dl_digits(to, value) - to);
}

#endif
