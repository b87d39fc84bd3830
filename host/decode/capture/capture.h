/* Captures: what the driver pulled, as it was pulled, and everything that decoding it later needs: board and
 * clock of each chip, the identity of each kernel's ELF file, control words, samples of the clocks, when each
 * launch was called and pulled. This file is the format and its two ends; what the words mean is decided by
 * decode/capture/raw_marks.h, and marks of a capture come from decode/capture/capture_marks.h.
 *
 * The format (docs/file-formats.md tells users). Little-endian. A file is the eight bytes
 * "DEVLOGC1" and then frames:
 *
 *     u32 magic    "DLF1"
 *     u8  kind     DL_FRAME_*
 *     u8  version  of the payload of this kind; a reader skips and counts what is newer than it knows.
 *                  2: words of records as in capture_words.h; 1 of cores and words: as they were
 *     u8  packed   1: the payload is one zstd frame
 *     u8  0
 *     u32 stored   bytes that follow this header
 *     u32 size     bytes of the payload when unpacked, at most DL_FRAME_MAX
 *     u64 check    XXH64 of the 16 bytes before it, continued over the stored bytes
 *
 * A reader that meets damage looks for the next frame whose check is right. A launch is written with one
 * system call, so that a reader beside a running program sees whole launches. Two captures may be appended to
 * one another. */
#ifndef DEVLOG_DECODE_CAPTURE_H
#define DEVLOG_DECODE_CAPTURE_H

#include "base/chip_grid.h"
#include "base/host_clock.h"
#include "base/str.h"
#include "decode/capture/host_records.h"
#include "decode/capture/records.h"
#include "decode/clock/chip_clock.h"
#include "decode/input.h"
#include "sim/timing.h"

#define DL_CAPTURE_NAME  "capture.devlog"
#define DL_CAPTURE_MAGIC "DEVLOGC1"
enum { DL_CAPTURE_MAGIC_BYTES = 8, DL_FRAME_HEADER_BYTES = 24, DL_FRAME_MAX = 1 << 20 };

/* A chip, before anything else about it. Texts are NUL-terminated and may be empty. */
typedef struct dl_capture_chip {
    uint32_t slot;
    uint32_t max_cores;
    uint64_t freq_khz;     /* that its board file says; 0: unknown */
    uint32_t together;     /* the board claims that the counters of its cores start together */
    const char *arch;      /* "wormhole_b0" */
    const char *board;     /* name of the board */
    const char *transport; /* "sim", .. */
    const char *boot; /* what one boot of host and chip has in common: captures of two cannot be aligned */
    uint64_t
        run; /* of the op log that belongs to it, of a host process that of DEVLOG_RUN; 0: none. Captures before November 2026 lack it */
    uint64_t
        aiclk_khz; /* what the chip itself says of its clock (AICLK) when the log begins; 0: not known. So do they */
    bool instructions; /* cycles are instructions: a simulator without timing. Written only where it is so */
} dl_capture_chip;

/* Where a chip's cores are, behind its frame. Captures before 23 November 2026 lack it. */
typedef struct dl_capture_grid {
    uint32_t slot;
    const chip_grid *grid;
} dl_capture_grid;

/* What the launcher says of the process that writes, behind its chips' frames; captures of other programs, and those before
 * 23 November 2026, lack it. */
typedef struct dl_capture_rank {
    uint32_t slot, rank, ranks; /* ranks: 0: the launcher does not say how many */
    const char *host;           /* name of the machine; "": unknown */
} dl_capture_rank;

/* Clocks of the host on which the process with this slot, or whoever drives this chip, ran. Captures before 25 November 2026 lack
 * them. */
typedef struct dl_capture_host_clocks {
    uint32_t slot;
    uint64_t
        time_namespace; /* CLOCK_MONOTONIC is one clock where this and the boot are the same; 0: unknown */
    const dl_clock_reading *items;
    size_t n;
} dl_capture_host_clocks;

/* What this process and another rank saw of one another's CLOCK_MONOTONIC: something was sent here at `sent`, was there at
 * `received`, and what was sent back there at `answered` was here at `arrived`. Captures before 25 November 2026 lack them. */
typedef struct dl_capture_exchanges {
    uint32_t slot;
    uint32_t peer;           /* the other's rank, by its launcher */
    const char *boot;        /* of the other's host; "": unknown */
    uint64_t time_namespace; /* the other's; 0: unknown */
    const devlog_clock_stamps *items;
    size_t n;
} dl_capture_exchanges;

/* An ELF file, before the first core that ran it. */
typedef struct dl_capture_elf {
    uint32_t slot, number;
    const char *path;
    const char *source; /* that it was compiled from */
    const uint8_t *build_id;
    uint32_t build_id_size;
} dl_capture_elf;

/* A launch, after its cores. Times are the host's, in ns of the clock of the samples; 0: unknown. */
typedef struct dl_capture_launch {
    uint32_t slot, number, op;
    uint64_t call_start, call_end, pull_start, pull_end;
} dl_capture_launch;

enum { DL_CAPTURE_NO_ELF = 0 };

/* Where the cycles of a RISC went in one ELF file since it was pulled before, from a simulator that was asked for
 * them (sim/sim.h). Several of these add up. */
typedef struct dl_capture_cycles {
    uint32_t slot;
    uint16_t x, y;
    const char *risc;
    uint32_t index; /* on the board */
    uint32_t elf, launch;
    bool kernel;             /* not the firmware */
    const sim_cycles *items; /* by ascending pc */
    size_t n;
} dl_capture_cycles;

/* An expectation of a kernel that was not met, before the core of the launch in question. */
typedef struct dl_capture_violation {
    uint32_t slot;
    uint16_t x, y;
    uint32_t index; /* of the RISC on the board */
    uint32_t launch;
    uint32_t line;    /* in the source */
    uint64_t times;   /* in that launch */
    uint64_t worst;   /* cycles, count or value that was farthest outside */
    const char *text; /* "mul: 100 to 200 cycles" */
    const char *file; /* source */
} dl_capture_violation;

typedef struct dl_capture_risc {
    const char *name;
    uint32_t index; /* on the board */
    uint32_t elf;   /* number; DL_CAPTURE_NO_ELF: ran no kernel */
    devlog_control control;
    const record_span *spans;
    uint32_t n_spans;
    uint64_t missing; /* reading: words that the capture should hold and does not (it was cut) */
} dl_capture_risc;

/* The words of a core as numbers that are not put together yet (capture_words.h): plain records, one behind the other. */
typedef struct dl_capture_planes {
    const uint16_t *heads, *lows;
    const uint32_t *rest;
    void *reader;
} dl_capture_planes;

typedef struct dl_capture_core {
    uint32_t slot;
    uint16_t x, y;
    uint32_t n_riscs;
    const dl_capture_risc *riscs;
    const uint32_t *events; /* event stream of the tile */
    uint32_t n_events;
    uint64_t events_from;
    const dl_capture_planes
        *planes; /* reading: spans have no words until dl_capture_join(); NULL: they have */
} dl_capture_core;

/* ---- Writing ------------------------------------------------------------------------------------- */

typedef struct dl_capture dl_capture;

/* Opens folder/name for writing. It begins anew unless `append`, or unless another open capture writes to the
 * same file (two devices of one program): then it goes on behind what is there. Without a folder there is no
 * file, and what is committed is forgotten. */
devlog_status dl_capture_open(dl_capture **capture, const char *folder, const char *name, bool append,
                              devlog_error *err);
const char *dl_capture_path(const dl_capture *c);
/* What is in hand: whole frames, in a new file behind the eight bytes. */
const dl_str *dl_capture_hand(const dl_capture *c);
/* Whether somebody else was writing to the file when it was opened. */
bool dl_capture_shared(const dl_capture *c);

/* Add to what is in hand. They fail only for lack of memory. */
devlog_status dl_capture_put_chip(dl_capture *c, const dl_capture_chip *chip, devlog_error *err);
devlog_status dl_capture_put_grid(dl_capture *c, const dl_capture_grid *grid, devlog_error *err);
devlog_status dl_capture_put_rank(dl_capture *c, const dl_capture_rank *rank, devlog_error *err);
/* The same of this process, by its launcher's variables; nothing when there are none. */
devlog_status dl_capture_put_launched(dl_capture *c, uint32_t slot, devlog_error *err);
devlog_status dl_capture_put_elf(dl_capture *c, const dl_capture_elf *elf, devlog_error *err);
devlog_status dl_capture_put_launch(dl_capture *c, const dl_capture_launch *launch, devlog_error *err);
devlog_status dl_capture_put_core(dl_capture *c, const dl_capture_core *core, devlog_error *err);
devlog_status dl_capture_put_samples(dl_capture *c, const dl_clock_samples *samples, devlog_error *err);
devlog_status dl_capture_put_offsets(dl_capture *c, const dl_clock_offsets *offsets, devlog_error *err);
devlog_status dl_capture_put_cycles(dl_capture *c, const dl_capture_cycles *cycles, devlog_error *err);
devlog_status dl_capture_put_violation(dl_capture *c, const dl_capture_violation *violation,
                                       devlog_error *err);
/* Sites of host code before their records; at most 1 MiB of a frame. */
devlog_status dl_capture_put_host_sites(dl_capture *c, uint32_t slot, const dl_host_site *sites, size_t n,
                                        devlog_error *err);
devlog_status dl_capture_put_host_records(dl_capture *c, const dl_host_records *records, devlog_error *err);
devlog_status dl_capture_put_host_memory(dl_capture *c, const dl_host_memory *memory, devlog_error *err);
devlog_status dl_capture_put_host_clocks(dl_capture *c, const dl_capture_host_clocks *clocks,
                                         devlog_error *err);
/* The same of this process, as of now. */
devlog_status dl_capture_put_host_now(dl_capture *c, uint32_t slot, devlog_error *err);
devlog_status dl_capture_put_exchanges(dl_capture *c, const dl_capture_exchanges *exchanges,
                                       devlog_error *err);
/* Says that nothing more of this chip will come. */
devlog_status dl_capture_put_end(dl_capture *c, uint32_t slot, devlog_error *err);
/* Writes what is in hand. On failure none of it is in the file, and it is still in hand. */
devlog_status dl_capture_commit(dl_capture *c, devlog_error *err);
/* Closes; what was not committed is forgotten. */
void dl_capture_close(dl_capture *c);

/* ---- Reading --------------------------------------------------------------------------------------- */

/* A frame as it stands in the input, from byte `at` on; frames are numbered from 1. */
typedef struct dl_capture_standing {
    uint64_t number, at;
    const void *bytes;
    size_t n;
    uint8_t kind; /* DL_FRAME_* (capture_frame.h) */
} dl_capture_standing;

/* Where the contents go, in the order of the file; functions that are NULL are not called. What they are
 * handed is valid during the call. A status other than DEVLOG_OK stops the reader. */
typedef struct dl_capture_sink {
    void *ctx;
    devlog_status (*chip)(void *ctx, const dl_capture_chip *chip, devlog_error *err);
    devlog_status (*elf)(void *ctx, const dl_capture_elf *elf, devlog_error *err);
    devlog_status (*launch)(void *ctx, const dl_capture_launch *launch, devlog_error *err);
    devlog_status (*core)(void *ctx, const dl_capture_core *core, devlog_error *err);
    devlog_status (*samples)(void *ctx, const dl_clock_samples *samples, devlog_error *err);
    devlog_status (*offsets)(void *ctx, const dl_clock_offsets *offsets, devlog_error *err);
    devlog_status (*cycles)(void *ctx, const dl_capture_cycles *cycles, devlog_error *err);
    devlog_status (*host_site)(void *ctx, uint32_t slot, const dl_host_site *site, devlog_error *err);
    devlog_status (*host_records)(void *ctx, const dl_host_records *records, devlog_error *err);
    devlog_status (*host_memory)(void *ctx, const dl_host_memory *memory, devlog_error *err);
    /* After each frame: its number from 1, and the bytes of the input so far, for messages and progress. */
    void (*frame)(void *ctx, uint64_t number, uint64_t taken);
    devlog_status (*violation)(void *ctx, const dl_capture_violation *violation, devlog_error *err);
    devlog_status (*grid)(void *ctx, const dl_capture_grid *grid, devlog_error *err);
    devlog_status (*rank)(void *ctx, const dl_capture_rank *rank, devlog_error *err);
    devlog_status (*host_clocks)(void *ctx, const dl_capture_host_clocks *clocks, devlog_error *err);
    devlog_status (*exchanges)(void *ctx, const dl_capture_exchanges *exchanges, devlog_error *err);
    /* Each frame that is found, whatever is in it; perhaps long before it is handed on. */
    void (*stands)(void *ctx, const dl_capture_standing *frame);
    bool planes; /* cores may come without their words, where these are plain */
} dl_capture_sink;

/* What the reader met. */
typedef struct dl_capture_state {
    uint64_t frames;
    uint64_t damaged_bytes; /* between frames, or of frames whose check is wrong */
    uint64_t damaged_at;    /* where the first of them begins, bytes from the start */
    uint64_t unknown;       /* frames of a newer devlog */
    uint64_t cut_bytes;     /* of a last frame that lacks its end */
    uint64_t malformed;     /* frames whose check is right and whose contents cannot be */
    bool closed;            /* every chip has said that nothing more comes */
    bool stopped;           /* the input failed: *why */
    devlog_error why;
} dl_capture_state;

/* Whether an input begins like a capture. */
bool dl_capture_is(const void *bytes, size_t n);
/* Reads to the end of the input. Damage is not a failure: *state counts it. On two threads one unpacks while
 * the other, which called, hands on; the sink hears the same. Without a sink for cores they are passed over
 * unchecked, where the frame behind shows that they end where they say. */
devlog_status dl_capture_read(dl_input *in, const dl_capture_sink *sink, bool two_threads,
                              dl_capture_state *state, devlog_error *err);

/* Has the spans of a core that came without words have them; while it is handed on. */
devlog_status dl_capture_join(const dl_capture_core *core, devlog_error *err);

#endif
