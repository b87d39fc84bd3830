/* What the kernels of the network of 20 ops and their host share: how large pages are, and what each stage does to a word. */
#ifndef DEVLOG_EXAMPLES_NET20_H
#define DEVLOG_EXAMPLES_NET20_H

#include <stdint.h>

enum {
    NET_PAGE_WORDS = 64,
    NET_PAGE_BYTES = 4 * NET_PAGE_WORDS,
    NET_MAX_PAGES = 32,                                    /* of a tensor on one core */
    NET_MAX_ROOM = 2,                                      /* pages in a buffer */
    NET_BUFFER_BYTES = 16 + NET_MAX_ROOM * NET_PAGE_BYTES, /* pages begin 8 bytes behind its start */
};

/* Arguments of each kernel. */
enum { NET_PAGES, NET_INPUT, NET_OUTPUT, NET_BUFFERS, NET_ROOM, NET_READ_BYTES, NET_TABLE_WORDS, NET_ARGS };

static inline uint32_t net_math(uint32_t word)
{
    return (word ^ word >> 7) * 5u + 1u;
}

#endif
