/* The L1 layout and the record encoding: the one file that device and host share.
 *
 * Every RISC has one profiler region, at a fixed address of its board. A region holds two segments of
 * records and, in the gap behind the first, a control block:
 *
 *     base                segment 0: 2^bits bytes of records
 *     base + 2^bits       slack: the last record of a segment may run into it
 *     + DEVLOG_SLACK      control block (struct devlog_control)
 *     base + 2^(bits+1)   segment 1: 2^bits bytes of records
 *     base + 3 * 2^bits   slack of segment 1, the rest is unused
 *
 * A segment is aligned to twice its size, so that bit `bits` of the cursor is 0 inside the segment and 1
 * behind it: one test of one bit tells that it is full, and a record may begin anywhere before.
 *
 * A record is a row of 32-bit little-endian words:
 *
 *     word 0   clock[51:32] << 12, plus the code (12 bits, signed: a negative code borrows from the clock)
 *     word 1   clock[31:0]
 *     word 2.. payload, by the kind of the code
 *
 * The code of a record names its site: the place in the source where the marker stands. Codes are handed out
 * by the linker, which places one byte (zones: two) per site in a section that is never loaded; two sites of
 * an ELF file cannot have the same code. The names are in another such section, see devlog_site below.
 * The default markers (FW start, kernel start, kernel end, FW end) are not records: they have a place of
 * their own in the control block and are there whatever happens to the segments.
 */
#ifndef DEVLOG_RECORD_H
#define DEVLOG_RECORD_H

#include <stdint.h>

/* ---- Regions ------------------------------------------------------------------------------------ */

#define DEVLOG_SEGMENTS             2u
#define DEVLOG_SEGMENT_BYTES(bits)  (1u << (bits))
#define DEVLOG_SEGMENT_STRIDE(bits) (2u << (bits))
#define DEVLOG_REGION_BYTES(bits)   (DEVLOG_SEGMENTS * DEVLOG_SEGMENT_STRIDE(bits))
#define DEVLOG_SLACK                64u /* bytes; at least the longest record */
#define DEVLOG_CONTROL_OFFSET(bits) (DEVLOG_SEGMENT_BYTES(bits) + DEVLOG_SLACK)
#define DEVLOG_SEGMENT_BITS_MIN     9u
#define DEVLOG_SEGMENT_BITS_MAX     16u

/* ---- Codes --------------------------------------------------------------------------------------- */

/* First code of each kind, as the low 12 bits of word 0. Linker scripts use the same numbers. */
#define DEVLOG_CODE_NONE     0x000u /* no record: cleared memory or padding */
#define DEVLOG_CODE_ZONE     0x010u /* even: zone begins; odd: zone ends.     8 bytes */
#define DEVLOG_CODE_COMPLETE 0x800u /* a closed zone; word 1: end, 2: start. 12 bytes */
#define DEVLOG_CODE_EVENT    0xC00u /* an event.                              8 bytes */
#define DEVLOG_CODE_VALUE32  0xE00u /* word 2: value.                        12 bytes */
#define DEVLOG_CODE_VALUE64  0xF00u /* words 2, 3: value, low word first.    16 bytes */
#define DEVLOG_CODE_PRINT    0xF80u /* word 2: n; then n arguments.    12 + 4n bytes */
#define DEVLOG_CODE_SPECIAL  0xFE0u
#define DEVLOG_CODE_WIDE     0xFE0u /* word 2: kind << 28 | wide id; then the payload of that kind */
#define DEVLOG_CODE_SUM      0xFE1u /* word 2: wide id; 3: passes; 4, 5: total; 6: min; 7: max. 32 bytes */
#define DEVLOG_CODE_STALL    0xFE2u /* word 2: cycles that a flush held the RISC up.  12 bytes */
#define DEVLOG_CODE_END      0x1000u

#define DEVLOG_PRINT_MAX_ARGS 8u

/* Kinds of sites. */
#define DEVLOG_KIND_ZONE     1u
#define DEVLOG_KIND_COMPLETE 2u
#define DEVLOG_KIND_EVENT    3u
#define DEVLOG_KIND_VALUE32  4u
#define DEVLOG_KIND_VALUE64  5u
#define DEVLOG_KIND_COUNTER  6u /* recorded as a value of 32 bits */
#define DEVLOG_KIND_PRINT    7u
#define DEVLOG_KIND_SUM      8u
#define DEVLOG_KIND_ZONE_END 9u /* only in the word of a wide record: the end of a zone */

/* Section .devlog.sites: one entry per site, 4-byte aligned: three words, then the name, as a string literal
 * with its quotes, and the source file, each zero-terminated. Word 0: code (narrow sites) or wide id; word 1:
 * kind | class << 8 | flags << 16 | arguments of a print << 24; word 2: source line. */
#define DEVLOG_SITE_WORDS        3u
#define DEVLOG_SITE_FLAG_WIDE    1 /* word 0 is a wide id */
#define DEVLOG_SITE_FLAG_STAMP32 2 /* its records carry clock[31:0] only */
#define DEVLOG_SITE_FLAG_EVENTS  4 /* recorded in the event stream of the tile; word 0 is its event id */

/* Section .devlog.build: one word, the version of the table of sites. */
#define DEVLOG_BUILD_LITERALS 2 /* names are literals; before, they were what the assembler made of those */

/* Section .devlog.patch: one entry per marker in the code, three words: the address of its first
 * instruction, the address behind its last, its class. To switch a marker off, the host replaces the first
 * instruction by a jump over the rest: a marker that is on pays nothing for that, one that is off costs
 * one jump. */
#define DEVLOG_PATCH_WORDS 3u
#define DEVLOG_CLASSES     32u

/* Section .devlog.passes: two words for each place where a pass through a sum ends: the address of its first
 * instruction, as in .devlog.patch, and the wide id of its site. */
#define DEVLOG_PASS_WORDS 2u

/* Section .devlog.expect: what is expected of markers, one entry each, 8-byte aligned: four words (bytes of the entry, kind, source
 * line, 0), two of 64 bits (low, high), then three zero-terminated texts: a marker's name, another one's
 * (or none), the source file. */
#define DEVLOG_EXPECT_HEAD    32u /* bytes in front of the texts */
#define DEVLOG_EXPECTS_CYCLES 1u  /* each pass of a zone takes low to high cycles */
#define DEVLOG_EXPECTS_COUNT  2u  /* the marker is recorded low to high times in a launch */
#define DEVLOG_EXPECTS_VALUE  3u  /* each value is low to high */
#define DEVLOG_EXPECTS_ORDER                                                                                 \
    4u /* the other marker comes no more often than this one has come (and ended) before it */

/* ---- Event stream of the tile --- */

/* With -DDEVLOG_HW_STREAM zones and events are single stores to the debug timestamper, which appends four
 * words to a buffer that the five RISCs of a tile share: the stored word, clock[31:0], clock[63:32], 0
 * (WormholeB0/TensixTile/DebugTimestamper.md, "Timestamp event streams", 128-bit events). They fill the
 * accumulator, so that what one RISC stores is never put together with what another one does. */
#define DEVLOG_EVENT_RISC_SHIFT 29u         /* bits 31:29: index of the RISC */
#define DEVLOG_EVENT_ID_MASK    0x1FFFFFF8u /* bits 28:3: event id of the site; zones: + 8 for the end */
#define DEVLOG_EVENT_APPEND     0u          /* bits 2:0: append a 128-bit event */
#define DEVLOG_EVENT_WORDS      4u

/* RISCV_DEBUG_REG_TIMESTAMP_STATUS. */
#define DEVLOG_EVENTS_OVERFLOW(status) ((status) >> 4 & 1u)
#define DEVLOG_EVENTS_BLOCKS(status)   ((status) >> 14) /* of 16 bytes */

/* ---- Default markers ------------------------------------------------------------------------------ */

/* Ids of the TT-Metal performance profiler's document, "Default markers". */
#define DEVLOG_ID_FW_START     1u
#define DEVLOG_ID_KERNEL_START 2u
#define DEVLOG_ID_KERNEL_END   3u
#define DEVLOG_ID_FW_END       4u

/* ---- Control block -------------------------------------------------------------------------------- */

#define DEVLOG_MAGIC 0x314C5644u /* "DVL1" */

#define DEVLOG_MODE_STOP   0u /* keep the first records, count the rest as dropped */
#define DEVLOG_MODE_RING   1u /* keep the last records, count those overwritten */
#define DEVLOG_MODE_STREAM 2u /* flush full segments to DRAM */

/* The word `mode`: what to do with a full segment, and in the ring, from bit 8 on, the bytes of every record
 * but those of sums, where the host has made them alike; otherwise 0. */
#define DEVLOG_MODE(mode, record_bytes) ((mode) | (record_bytes) << 8)
#define DEVLOG_MODE_OF(word)            ((word)&0xFFu)
#define DEVLOG_RECORD_BYTES_OF(word)    ((word) >> 8)

#define DEVLOG_FROZEN_BY_KERNEL 1u /* for the rest of the launch */
#define DEVLOG_FROZEN_BY_HOST   2u /* until the host takes it back */

#define DEVLOG_STATE_IDLE   0u
#define DEVLOG_STATE_FW     1u /* between FW start and FW end */
#define DEVLOG_STATE_KERNEL 2u /* between kernel start and kernel end */

/* Why nobody knows what was lost. */
#define DEVLOG_DAMAGE_CONTROL 1u /* host: control words that cannot be */
#define DEVLOG_DAMAGE_CURSOR  2u /* the cursor was not in its segment */
#define DEVLOG_DAMAGE_KERNEL                                                                                 \
    4u /* host: the kernel has instructions that write the cursor, outside of markers */
#define DEVLOG_DAMAGE_ANY       0xFFu
#define DEVLOG_DAMAGE_RESTART   0x100u /* is added for every restart */
#define DEVLOG_RESTARTS(damage) ((damage) >> 8)

#define DEVLOG_SAMPLES 8u

/* All words; "host" words are written by the host before a launch, the others by firmware. */
typedef struct devlog_control {
    uint32_t mode;          /* host: DEVLOG_MODE_*, and the size of records */
    uint32_t frozen;        /* host or device: not 0: record nothing more */
    uint32_t stream_target; /* host: NoC coordinates of the DRAM tile, x | y << 6 */
    uint32_t stream_base;   /* host: address in it */
    uint32_t stream_size;   /* host: bytes that may be used there */
    /* These three say something of a RISC that ran a kernel only. Together with the word before they are what the
     * host loads at once. */
    uint32_t dropped_complete; /* complete zones among `dropped`: devlog_dropped_complete() */
    uint32_t passes;           /* through sums, UINT32_MAX and more as UINT32_MAX; written at kernel end */
    uint32_t dropping;         /* device: the cursor while it counts drops; 0: it does not */

    uint32_t magic;  /* DEVLOG_MAGIC once the firmware of this RISC has started */
    uint32_t launch; /* the launch that the rest of the block belongs to */
    uint32_t host_id;
    uint32_t state;   /* DEVLOG_STATE_*: tells where a RISC hangs */
    uint32_t marks;   /* bit i: stamp of default marker i + 1 is valid */
    uint32_t tail;    /* cursor behind the last record; written at kernel end; 0: not yet */
    uint32_t segment; /* index of the segment that the cursor is in */
    uint32_t segment_end[DEVLOG_SEGMENTS]; /* cursor at which a full segment was left; 0: not left */
    uint32_t switches;                     /* how often a full segment was left */
    uint32_t dropped;       /* records that found no place (stop, frozen, stream without room), or, while
                             * `dropping` is not 0, an earlier count of them: devlog_dropped() */
    uint32_t overwritten;   /* records lost to the ring */
    uint32_t streamed;      /* bytes flushed to stream_base */
    uint32_t stall_cycles;  /* cycles that changes of segments and the records of sums took, in sum */
    uint32_t events_status; /* manager: RISCV_DEBUG_REG_TIMESTAMP_STATUS at the end of the launch */
    uint32_t damage;        /* firmware and host: DEVLOG_DAMAGE_*, and from bit 8 on restarts in mid-launch */
    uint32_t stamps[8];     /* default markers 1 to 4: low word, high word */
    uint32_t events_base;   /* host, manager only: buffer of the tile's event stream, bytes; 0: not used */
    uint32_t events_size;
    /* Own cost of a marker by kind, in 1/16 cycle; 0: not measured. cost[0]: how long a complete zone with
     * nothing in it takes by its own record. */
    uint32_t cost[16];
    /* Codes of two records of each of the first segments that the ring wrote over. */
    uint32_t written_over[DEVLOG_SAMPLES];
} devlog_control;

/* Places in `cost` that are no kinds of records: a dropped record; a pass through a sum (DEVLOG_KIND_SUM),
 * and what that shows of itself; each argument of a text. */
#define DEVLOG_COST_DROP     10u
#define DEVLOG_COST_SUM_SELF 11u
#define DEVLOG_COST_ARGUMENT 12u

/* ---- Counting drops -------------------------------------------------------------------------------- */

/* When there is no place, the cursor itself counts what is dropped: a marker that finds the segment full
 * stores it as `dropping` and adds 1 to it, which costs less than a record. Bit `bits` stays 1 (full). Bit
 * `low` of the cursor is 1, which no cursor behind a full segment has: DEVLOG_SLACK is smaller. The count is
 * in the bits below that and in those above `bits`, and `dropped` is brought up to date long before they run
 * over. When the lower ones run over into bit `low` + 1, segment.c carries. The uppermost `low` + 1 bits
 * count how many of the drops since then were of complete zones, which cost more: for the price only, so
 * the last one need not be in `dropping` yet. */
static inline uint32_t devlog_drops_low(uint32_t bits)
{
    return bits < 11u ? bits - 2u : 9u;
}

/* The lowest bit of those that count complete zones. */
static inline uint32_t devlog_drops_complete_bit(uint32_t bits)
{
    return 31u - devlog_drops_low(bits);
}

/* The cursor that means `count` drops, as far as it has bits for them, none of a complete zone. */
static inline uint32_t devlog_drops_cursor(uint32_t count, uint32_t bits)
{
    uint32_t low = devlog_drops_low(bits), high = devlog_drops_complete_bit(bits) - bits - 1u;
    return (count & ((1u << low) - 1u)) | 1u << low | 1u << bits |
           (count >> low & ((1u << high) - 1u)) << (bits + 1u);
}

/* Records that were dropped in the launch, whenever the two words are read. */
static inline uint32_t devlog_dropped(uint32_t dropped, uint32_t dropping, uint32_t bits)
{
    uint32_t low = devlog_drops_low(bits), top = devlog_drops_complete_bit(bits);
    uint32_t all = (1u << (low + top - bits - 1u)) - 1u;
    uint32_t count = (dropping & ((1u << top) - 1u)) >> (bits + 1u) << low | (dropping & ((1u << low) - 1u));
    return dropping ? dropped + ((count - dropped) & all) : dropped;
}

/* How many of them were complete zones, but for the last one. */
static inline uint32_t devlog_dropped_complete(uint32_t dropped_complete, uint32_t dropping, uint32_t bits)
{
    return dropped_complete + (dropping ? dropping >> devlog_drops_complete_bit(bits) : 0);
}

/* ---- Launch messages ------------------------------------------------------------------------------ */

#define DEVLOG_MAX_RISCS 8u
#define DEVLOG_MAX_ARGS  64u

#define DEVLOG_PEER_HOST 0xFFFFFFFFu /* the answer stays in link_out */
#define DEVLOG_PEER_LINK 0xFFFFFFFEu /* the other end of the link */

/* In devlog_mailbox.risc[].up: the firmware was started again, and has stopped. */
#define DEVLOG_RESTARTED 0x54525344u /* "DSRT" */

typedef struct devlog_mailbox {
    uint32_t ready;          /* firmware: DEVLOG_MAGIC once every RISC of the core is up */
    uint32_t go;             /* host: number of the launch to run, written last */
    uint32_t done;           /* manager: number of the launch that has finished */
    uint32_t host_id;        /* host: the op that asked for the launch */
    uint32_t core_x, core_y; /* host: logical coordinates of this core */
    uint32_t grid_x, grid_y; /* host: size of the grid of cores in this launch */
    uint32_t restarted_from; /* firmware that was started again: the return address of who came there */
    uint32_t reserved[3];    /* so that messages are aligned to 16 bytes, as the NoC wants them */

    /* Clocks. A message is four words: number << 1 | 1 when it is an answer; sender x | y << 6, or one of
     * DEVLOG_PEER_*; clock, low and high. The manager answers a message in link_in with its clock. */
    uint32_t link_in[4];  /* host, another core's manager, or the other end of the link */
    uint32_t link_out[4]; /* manager; what it holds goes to the other end of the link, if there is one */
    struct {
        uint32_t go;     /* host: number of the request to exchange messages with another core */
        uint32_t done;   /* manager: number of the request that is done */
        uint32_t peer;   /* host: NoC coordinates x | y << 6, or DEVLOG_PEER_LINK */
        uint32_t rounds; /* host: exchanges; that with the shortest round trip is kept */
        uint32_t sent[2], there[2], back[2]; /* manager: own clock, the peer's, own clock; low, high */
        uint32_t reserved[2];
    } sync;
    struct {
        uint32_t entry; /* host: address of the kernel; 0: this RISC has none */
        uint32_t up;    /* firmware: DEVLOG_MAGIC once this RISC waits for work; 0: not started */
        uint32_t go;    /* manager: number of the launch that this worker is to run */
        uint32_t done;  /* firmware: number of the launch whose kernel has returned */
    } risc[DEVLOG_MAX_RISCS];
    uint32_t args[DEVLOG_MAX_RISCS][DEVLOG_MAX_ARGS]; /* host: arguments of the kernels */
    /* host: the first eight bytes of the build id of each kernel's ELF file, so that another program finds
     * the names of its markers; 0: unknown */
    uint32_t build[DEVLOG_MAX_RISCS][2];
} devlog_mailbox;

#endif
