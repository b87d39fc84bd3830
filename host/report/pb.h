/* Protobuf by hand, for messages that are written a million times; all others go through protobuf-c, and a
 * test compares the two. Every function writes at `to` and returns the place behind. Source: "Encoding" of
 * the Protocol Buffers documentation. */
#ifndef DEVLOG_REPORT_PB_H
#define DEVLOG_REPORT_PB_H

#include <stdint.h>
#include <string.h>

enum { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_MOST_VARINT = 10 };

static inline uint8_t *pb_varint(uint8_t *to, uint64_t value)
{
    if (value < 128) {
        *to = (uint8_t)value;
        return to + 1;
    }
    for (; value > 127; value >>= 7)
        *to++ = (uint8_t)(value | 128);
    *to++ = (uint8_t)value;
    return to;
}

/* Numbers of which one follows the other closely, as stamps do: their low 28 bits are spread over four bytes, and the bytes
 * behind these are kept. Zero-initialised is empty. */
typedef struct pb_near {
    uint64_t high; /* what `rest` stands for; 0: nothing */
    uint8_t n, rest[8];
} pb_near;

static inline uint32_t pb_little32(uint32_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap32(value);
#endif
    return value;
}

static inline uint64_t pb_little64(uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

/* Writes up to 12 bytes. */
static inline uint8_t *pb_varint_near(pb_near *near, uint8_t *to, uint64_t value)
{
    const uint64_t high = value >> 28;
    if (high != near->high || !high) {
        if (!high) return pb_varint(to, value);
        near->high = high;
        near->n = (uint8_t)(pb_varint(near->rest, high) - near->rest);
    }
    const uint32_t low = (uint32_t)value;
    const uint32_t spread = pb_little32((low & 0x7f) | (low & 0x3f80) << 1 | (low & 0x1fc000) << 2 |
                                        (low & 0xfe00000) << 3 | 0x80808080u);
    memcpy(to, &spread, sizeof spread);
    memcpy(to + sizeof spread, near->rest, sizeof near->rest);
    return to + sizeof spread + near->n;
}

static inline uint8_t *pb_tag(uint8_t *to, uint32_t field, uint32_t wire)
{
    return pb_varint(to, field << 3 | wire);
}

static inline uint8_t *pb_uint(uint8_t *to, uint32_t field, uint64_t value)
{
    return pb_varint(pb_tag(to, field, PB_VARINT), value);
}

static inline uint8_t *pb_uint_near(pb_near *near, uint8_t *to, uint32_t field, uint64_t value)
{
    return pb_varint_near(near, pb_tag(to, field, PB_VARINT), value);
}

static inline uint8_t *pb_fixed64(uint8_t *to, uint32_t field, uint64_t value)
{
    to = pb_tag(to, field, PB_FIXED64);
    value = pb_little64(value);
    memcpy(to, &value, sizeof value);
    return to + sizeof value;
}

static inline uint8_t *pb_bytes(uint8_t *to, uint32_t field, const void *bytes, size_t n)
{
    to = pb_varint(pb_tag(to, field, PB_BYTES), n);
    memcpy(to, bytes, n);
    return to + n;
}

/* A message of at most 16383 bytes inside another: leaves room for a length of one byte when it begins and
 * makes room for a second where it needs one. */
static inline uint8_t *pb_begin(uint8_t *to, uint32_t field)
{
    return pb_tag(to, field, PB_BYTES) + 1;
}

/* `body` is what pb_begin returned, `to` the end of the message. */
static inline uint8_t *pb_end(uint8_t *body, uint8_t *to)
{
    size_t n = (size_t)(to - body);
    if (n < 128) {
        body[-1] = (uint8_t)n;
        return to;
    }
    memmove(body + 1, body, n);
    body[-1] = (uint8_t)(n | 128);
    body[0] = (uint8_t)(n >> 7);
    return to + 1;
}

#endif
