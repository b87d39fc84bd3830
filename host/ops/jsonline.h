/* One JSON object, read where it lies: its members one after the other, without a tree. For the lines of an
 * op log and for the messages of tt-metal's ops (tt_metal/host_messages.c), which have several lines; attributes that users
 * wrote go through cJSON. */
#ifndef DEVLOG_OPS_JSONLINE_H
#define DEVLOG_OPS_JSONLINE_H

#include <string.h>

#include "base/str.h"

typedef enum jl_kind {
    JL_END,    /* no further member */
    JL_BAD,    /* this is not JSON; nothing more comes */
    JL_NUMBER, /* `number`: digits alone, up to 64 bits; text is the number as written */
    JL_REAL,   /* any other number, as written: with sign, point or exponent */
    JL_TEXT,   /* text lies between its quotes; `escaped` when it holds a backslash */
    JL_LIST,   /* text is everything between the brackets */
    JL_OBJECT, /* text is everything between the braces */
    JL_WORD,   /* true, false, null */
} jl_kind;

typedef struct jl_value {
    jl_kind kind;
    const char *key, *text; /* borrowed from the line */
    size_t key_len, len;
    uint64_t number;
    bool escaped;
} jl_value;

typedef struct jl_reader {
    const char *at, *end;
    bool list;  /* values without keys */
    bool begun; /* a comma must come first */
} jl_reader;

/* An object "{...}" (blanks and line ends around it are allowed); false when it does not begin and end like
 * one. */
bool jl_line(jl_reader *r, const char *line, size_t n);
/* The members of a JL_OBJECT or JL_LIST. */
void jl_inside(jl_reader *r, const jl_value *v);
jl_kind jl_next(jl_reader *r, jl_value *out);

/* Inline, so that the length of a literal is known when compiling. */
static inline bool jl_key_is(const jl_value *v, const char *key)
{
    return v->key_len == strlen(key) && memcmp(v->key, key, v->key_len) == 0;
}
/* Appends the text of a JL_TEXT with its escapes resolved; what is no escape stays as it is. */
void jl_text(const jl_value *v, dl_str *out);

#endif
