/* An open log of devlog/decode.h, for the two files that make it: door.c reads, door_results.c answers. */
#ifndef DEVLOG_DECODE_DOOR_INTERNAL_H
#define DEVLOG_DECODE_DOOR_INTERNAL_H

#include <pthread.h>
#include <sys/types.h>

#include "decode/door.h"
#include "devlog/decode.h"

enum { COLUMNS_64 = 2, COLUMNS_32 = 5 };

/* One kind of event as columns: 64-bit ones first. */
typedef struct columns {
    size_t n;
    uint64_t *wide[COLUMNS_64];
    uint32_t *narrow[COLUMNS_32];
} columns;

/* Whose turn it is. */
typedef enum turn { CALLER, READER, ENDED } turn;

struct devlog_log {
    dl_decode *decode;
    char **paths;
    size_t n_paths;
    dl_filter filter;
    bool once;        /* an input cannot be read twice */
    dl_warm_up first; /* launches that filter.skip_launches leaves out, of what can */
    columns zones, values;
    bool discard; /* statistics are all that is wanted: batches are not kept */
    /* The reader's thread, and what the two tell one another, under the lock. */
    pthread_t thread;
    pid_t process; /* that has the thread; a child that it forks has not */
    bool started, cancelled;
    bool without_reader; /* somebody else reads it, or has done */
    bool is_lent;        /* the decoder is somebody else's */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    turn turn;
    devlog_status status; /* of the reader, once it has ended */
    devlog_error err;
    devlog_statistics *rows;
};

/* Whether everything has been read, or reading has failed. */
static inline bool door_has_ended(const devlog_log *log)
{
    return log->started && log->turn == ENDED;
}

#endif
