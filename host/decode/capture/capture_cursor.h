/* Taking the payload of a frame apart. Not for others than the reader of captures. */
#ifndef DEVLOG_DECODE_CAPTURE_CURSOR_H
#define DEVLOG_DECODE_CAPTURE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A payload being taken apart: reading past its end gives zeros and sets `bad`. */
typedef struct cursor {
    const uint8_t *at, *end;
    bool bad;
    uint8_t version; /* of the payload */
} cursor;

static inline uint32_t le32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline const uint8_t *take(cursor *c, size_t n)
{
    if (c->bad || (size_t)(c->end - c->at) < n) {
        c->bad = true;
        return NULL;
    }
    c->at += n;
    return c->at - n;
}

static inline uint32_t take32(cursor *c)
{
    const uint8_t *p = take(c, 4);
    return p ? le32(p) : 0;
}

static inline uint64_t take64(cursor *c)
{
    uint64_t low = take32(c);
    return low | (uint64_t)take32(c) << 32;
}

/* A text, copied and terminated to *room, which moves on. NUL bytes in it end it early. */
static inline const char *take_text(cursor *c, char **room)
{
    uint32_t n = take32(c);
    const uint8_t *p = take(c, n);
    char *text = *room;
    if (!p) return "";
    memcpy(text, p, n);
    text[n] = 0;
    *room += n + 1;
    return text;
}

#endif
