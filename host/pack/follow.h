/* Packing a log that grows: what a running program appends is packed into a file that is whole up to its last
 * block at every moment, and goes on where it was left when whoever packed was killed. With `drop_read` what
 * is safely packed is taken out of the log's disk space. On one thread; logs that are complete and stay:
 * pack/pack.h. */
#ifndef DEVLOG_PACK_FOLLOW_H
#define DEVLOG_PACK_FOLLOW_H

#include "pack/pack.h"

enum {
    PK_DROP_STEP = 64 << 20, /* bytes of the log that are packed between two syncs */
    PK_KEPT = 64 << 10,      /* bytes before the packed part's end that stay in the log: to know it again */
};

typedef struct pk_follow_options {
    bool follow;             /* wait for more at the log's end */
    bool drop_read;          /* the original goes */
    uint64_t idle_ms;        /* end when nothing has come for so long; 0: never */
    bool (*stop)(void *ctx); /* asked at the log's end: whether it ends there */
    void *ctx;
    size_t text, drop_step; /* 0: PK_TEXT, PK_DROP_STEP */
    unsigned poll_ms;       /* between two looks at the log's end; 0: 50 */
} pk_follow_options;

typedef struct pk_followed {
    pk_totals totals;  /* of the whole packed file */
    uint64_t before;   /* bytes of the log that it had already */
    uint64_t dropped;  /* bytes of the log, counted from its beginning, that are gone from it */
    char changed[160]; /* what has happened to the log so that it could not be followed further; or empty */
} pk_followed;

/* Packs `log` into `file`, which may hold the log's beginning already. Stops, with an end in the file and a
 * text in followed->changed, when the log is truncated, written anew or replaced. */
devlog_status pk_follow(const char *log, const char *file, const pk_follow_options *options,
                        pk_followed *followed, devlog_error *err);

#endif
