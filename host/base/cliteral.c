/* String literals of C and C++ into text (C11 6.4.5, C++17 [lex.string]). Not for other tokens. */
#include "base/cliteral.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Only counts when `to` is NULL, so that a text can be looked through before it is changed. What is written
 * is never longer than what was read. */
typedef struct writer {
    char *to;
    size_t n;
} writer;

static void put(writer *w, char c)
{
    if (w->to) w->to[w->n] = c;
    w->n++;
}

static void put_utf8(writer *w, uint32_t code)
{
    if (code < 0x80) {
        put(w, (char)code);
        return;
    }
    static const uint8_t lead[] = {0, 0xC0, 0xE0, 0xF0};
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    put(w, (char)(lead[more] | code >> 6 * more));
    for (int i = more - 1; i >= 0; i--)
        put(w, (char)(0x80u | (code >> 6 * i & 0x3Fu)));
}

static int digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 16;
}

/* Up to `most` digits of a base; NULL when there is none. */
static const char *number(const char *at, int base, int most, uint32_t *value)
{
    int n = 0;
    for (*value = 0; n < most && digit(*at) < base; n++, at++)
        *value = *value * (uint32_t)base + (uint32_t)digit(*at);
    return n ? at : NULL;
}

/* What follows a backslash. NULL: that is no escape sequence. */
static const char *escape(const char *at, writer *w)
{
    static const char from[] = "abefnrtv\\'\"?", to[] = "\a\b\033\f\n\r\t\v\\'\"?";
    uint32_t value;
    const char *simple = *at ? strchr(from, *at) : NULL, *end;
    if (simple) {
        put(w, to[simple - from]);
        return at + 1;
    }
    if (*at == 'u' || *at == 'U') {
        int digits = *at == 'u' ? 4 : 8;
        end = number(at + 1, 16, digits, &value);
        if (!end || end - at - 1 != digits || value > 0x10FFFF || value >> 11 == 0x1B) return NULL;
        put_utf8(w, value);
        return end;
    }
    if (*at == 'x')
        end = number(at + 1, 16, 1 << 20, &value);
    else
        end = number(at, 8, 3, &value);
    if (end) put(w, (char)value);
    return end;
}

/* Behind the opening quote; returns what follows the closing one, or NULL. */
static const char *plain_part(const char *at, writer *w)
{
    while (at && *at && *at != '"' && *at != '\n') {
        if (*at == '\\')
            at = escape(at + 1, w);
        else
            put(w, *at++);
    }
    return at && *at == '"' ? at + 1 : NULL;
}

/* Behind R": delimiter( text )delimiter". */
static const char *raw_part(const char *at, writer *w)
{
    size_t n = strcspn(at, "( )\\\t\v\f\n");
    char delimiter[16]; /* what is written may come to lie on it */
    if (n > sizeof delimiter || at[n] != '(') return NULL;
    memcpy(delimiter, at, n);
    for (at += n + 1; *at; at++) {
        if (*at == ')' && strncmp(at + 1, delimiter, n) == 0 && at[n + 1] == '"') return at + n + 2;
        put(w, *at);
    }
    return NULL;
}

static bool walk(const char *at, writer *w)
{
    do {
        if (strncmp(at, "u8", 2) == 0) at += 2;
        if (*at == '"')
            at = plain_part(at + 1, w);
        else if (at[0] == 'R' && at[1] == '"')
            at = raw_part(at + 2, w);
        else
            return false;
        if (!at) return false;
        at += strspn(at, " \t\n");
    } while (*at);
    return true;
}

bool dl_c_literal(char *text, size_t *length)
{
    writer w = {0};
    if (!walk(text, &w)) return false;
    w = (writer){.to = text};
    walk(text, &w); /* reads ahead of what it writes */
    text[w.n] = 0;
    if (length) *length = w.n;
    return true;
}
