/* Marks: one marker that a RISC has passed, in sixteen bytes: when, and a number that says the rest. What
 * neighbouring marks have in common (the ids of their launch, how their lines are counted) is kept once, in a
 * frame; what few marks have (data, meta data, an op) is in a table of their batch. Readers make batches of
 * marks, and there is no other form of a marker behind them. */
#ifndef DEVLOG_DECODE_MARK_H
#define DEVLOG_DECODE_MARK_H

#include <stdbool.h>
#include <stddef.h>

#include "decode/kinds.h"
#include "decode/recorded.h"
#include "decode/tables.h"

/* The code of a mark, from its lowest bit: stream 17, kind 20, whether it is the start, or the end, of a
 * firmware zone, whether it is rare, and from bit 40 on the number of its frame, or, of a rare mark, of its
 * entry among the rare ones. */
enum {
    DL_MARK_KIND_SHIFT = 17,
    DL_MARK_FW_START_SHIFT = 37,
    DL_MARK_FW_END_SHIFT = 38,
    DL_MARK_RARE_SHIFT = 39,
    DL_MARK_FRAME_SHIFT = 40,
    DL_MAX_FRAMES = 1 << 24, /* of a batch, and as many rare marks */
};

#define DL_MARK_STREAM   ((UINT64_C(1) << DL_MARK_KIND_SHIFT) - 1)
#define DL_MARK_KIND     (UINT64_C(0xFFFFF) << DL_MARK_KIND_SHIFT)
#define DL_MARK_FW_START (UINT64_C(1) << DL_MARK_FW_START_SHIFT)
#define DL_MARK_FW_END   (UINT64_C(1) << DL_MARK_FW_END_SHIFT)
#define DL_MARK_RARE     (UINT64_C(1) << DL_MARK_RARE_SHIFT)
#define DL_MARK_FRAME    (~UINT64_C(0) << DL_MARK_FRAME_SHIFT)

_Static_assert(DL_MAX_STREAMS <= 1 << DL_MARK_KIND_SHIFT && DL_MAX_KINDS <= 1 << 20, "they fit a code");

typedef struct dl_mark {
    uint64_t time; /* cycles since the chip's reset */
    uint64_t code;
} dl_mark;

/* What a launch is told by. */
typedef struct dl_ids {
    uint64_t run_host_id;   /* the host's number of the launch; 0 when the log has none */
    uint32_t run_id;        /* logs of 2024; otherwise 0 */
    uint32_t trace_id;      /* DL_NO_ID: not part of a trace */
    uint32_t trace_counter; /* DL_NO_ID: not part of a trace */
    bool has_launch;        /* false: the log has no launch ids; launches are counted by firmware starts */
    bool outside;           /* it belongs to no launch: a zone of the host */
} dl_ids;

#define DL_NO_ID UINT32_MAX /* there is no such id */

typedef struct dl_frame {
    dl_ids ids;
    /* Of the input, for messages: of a mark the sum of this and `step` times its place in the batch. */
    uint32_t line, step;
} dl_frame;

typedef struct dl_rare {
    uint64_t data;
    uint32_t meta; /* text of dl_tables; 0: none */
    uint32_t op; /* the op on whose behalf the launch was made (meta data {"op":N}); of a ZONE_TOTAL how often
                    what is summed up was passed ({"count":N;...}); 0: not said here; of a hardware counter (zone_counters.h)
                    over how many cycles it counted, and 1 */
    uint32_t frame; /* number, from 0 */
} dl_rare;

/* A batch. Zero-initialised is empty. */
typedef struct dl_marks {
    dl_mark *items;
    uint32_t n, cap;
    dl_frame *frames; /* the last is that of the next mark */
    uint32_t n_frames, cap_frames;
    dl_rare *rares;
    uint32_t n_rares, cap_rares;
    dl_recorded recorded; /* records among them of which there are no marks */
} dl_marks;

void dl_marks_free(dl_marks *m);
void dl_marks_clear(dl_marks *m);
/* Room for at least n marks more; false when out of memory. */
bool dl_marks_room(dl_marks *m, uint32_t n);
/* The frame's part of the code of a mark to be put at place `at`, with these ids and this line. The frame in
 * hand when it says that already. False: out of memory, or of numbers. */
bool dl_marks_frame(dl_marks *m, const dl_ids *ids, uint32_t at, uint32_t line, uint64_t *code);
/* The same where all marks have one line. */
bool dl_marks_still_frame(dl_marks *m, const dl_ids *ids, uint32_t line, uint64_t *code);
/* The same for a rare mark: `code` is that of its frame. */
bool dl_marks_rare(dl_marks *m, const dl_rare *what, uint64_t frame, uint64_t *code);
/* Adds marks of another batch, whose place in their own is `at`. */
bool dl_marks_add(dl_marks *m, const dl_marks *from, uint32_t at, uint32_t n);
/* Forgets the first n marks. */
void dl_marks_drop(dl_marks *m, uint32_t n);

/* The code of every mark of a kind, but for stream and frame. */
static inline uint64_t dl_mark_code(const dl_kind *kind, uint32_t number)
{
    bool fw = kind->role == DL_ROLE_FW;
    return (uint64_t)number << DL_MARK_KIND_SHIFT |
           (uint64_t)(fw && kind->type == DL_ROW_ZONE_START) << DL_MARK_FW_START_SHIFT |
           (uint64_t)(fw && kind->type == DL_ROW_ZONE_END) << DL_MARK_FW_END_SHIFT;
}

static inline uint32_t dl_mark_stream(uint64_t code)
{
    return (uint32_t)(code & DL_MARK_STREAM);
}

/* A number of dl_tables.kinds. */
static inline uint32_t dl_mark_kind(uint64_t code)
{
    return (uint32_t)(code >> DL_MARK_KIND_SHIFT) & 0xFFFFF;
}

/* NULL: it is not rare, and has neither data nor meta data nor an op. */
static inline const dl_rare *dl_mark_rare(const dl_marks *m, uint64_t code)
{
    return code & DL_MARK_RARE ? &m->rares[code >> DL_MARK_FRAME_SHIFT] : NULL;
}

static inline const dl_frame *dl_mark_frame(const dl_marks *m, uint64_t code)
{
    uint64_t number = code >> DL_MARK_FRAME_SHIFT;
    return &m->frames[code & DL_MARK_RARE ? m->rares[number].frame : number];
}

static inline uint32_t dl_frame_line(const dl_frame *f, uint32_t place)
{
    return f->line + f->step * place;
}

static inline uint64_t dl_mark_data(const dl_marks *m, uint64_t code)
{
    return code & DL_MARK_RARE ? m->rares[code >> DL_MARK_FRAME_SHIFT].data : 0;
}

static inline bool dl_same_ids(const dl_ids *a, const dl_ids *b)
{
    return ((a->run_host_id ^ b->run_host_id) | (a->run_id ^ b->run_id) | (a->trace_id ^ b->trace_id) |
            (a->trace_counter ^ b->trace_counter)) == 0;
}

#endif
