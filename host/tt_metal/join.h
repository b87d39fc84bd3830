/* Joining: ops of tt-metal's host beside what ran on its devices, row by row. Joined by GLOBAL CALL COUNT and
 * device; replays of a trace by the device's own count of them, or, where a log has none, by their order, as
 * tt-metal's script does. What cannot be joined is a row with a note. */
#ifndef DEVLOG_TT_METAL_JOIN_H
#define DEVLOG_TT_METAL_JOIN_H

#include "tt_metal/exec.h"

enum {
    TT_NOTE_NO_DEVICE = 1,
    TT_NOTE_NEVER_REPLAYED = 2,
    TT_NOTE_MISSING_REPLAY = 4,
    TT_NOTE_NO_OP = 8,
    TT_NOTE_NO_ZONE = 16,
    TT_NOTE_LOST = 32, /* no message */
    TT_NOTE_CUT = 64,  /* message cut */
    TT_NOTE_SHADOW = 128,
    TT_NOTE_TWICE = 256, /* ran more than once outside of a trace */
    TT_NOTE_EXTRA_REPLAY = 512,
    TT_NOTE_TRACE_IDS = 1024,
    TT_NOTE_ORPHAN = 2048, /* cached op without its full message */
};

typedef struct tt_row {
    uint64_t time;            /* of the host, by which rows are sorted; UINT64_MAX: behind all others */
    uint32_t op, exec, point; /* TT_NONE: none */
    uint32_t trace, session;  /* TT_NONE: none */
    uint32_t order;
    uint16_t notes;
    uint8_t group; /* ops, then replays, then signposts where they have one time */
    bool left_out; /* by the selection */
} tt_row;

typedef struct tt_join {
    tt_host *host;
    tt_execs *execs;
    tt_row *rows;
    uint32_t *order; /* of the rows, as they are to be written */
    size_t n;
    dl_big big_rows;
    bool alone; /* there is nothing of the host's */
    uint64_t ops, with_device, replays;
    uint32_t *devices; /* in order of their first op */
    size_t n_devices, cap_devices;
    uint32_t *exec_of; /* scratch */
    bool *joined;      /* scratch: by entry */
} tt_join;

devlog_status tt_join_make(tt_join *j, tt_host *host, tt_execs *execs, const char *scratch,
                           devlog_error *err);
/* To be called for every row that a walk over them comes to: lets go of what lies behind. */
void tt_join_passed(tt_join *j, size_t row);
void tt_join_free(tt_join *j);

#endif
