/* What tt-metal's host says of a run: ops with their times, signposts, traces and their replays, from
 * tracy_ops_data.csv and tracy_ops_times.csv. JSON stays as it is, in room that may be taken in a folder
 * (base/big.h), and is read when a row is written; so memory grows with ops by about 100 bytes each. */
#ifndef DEVLOG_TT_METAL_HOST_H
#define DEVLOG_TT_METAL_HOST_H

#include "base/big.h"
#include "base/intern.h"
#include "ops/jsonline.h"
#include "tt_metal/log_rows.h"

#define TT_OPS_DATA_NAME  "tracy_ops_data.csv"
#define TT_OPS_TIMES_NAME "tracy_ops_times.csv"

enum {
    TT_OP_ZONE = 1,    /* start and ns are known */
    TT_OP_CUT = 2,     /* its message was cut */
    TT_OP_HIT = 4,     /* of the program cache, as the short message says */
    TT_OP_SHORT = 8,   /* the message was the short one of a cached op */
    TT_OP_LOST = 16,   /* it had no message */
    TT_OP_SHADOW = 32, /* another op has its id */
    TT_OP_ORPHAN = 64, /* a cached op without the full message */
};

typedef struct tt_op {
    uint64_t id;        /* GLOBAL CALL COUNT */
    uint64_t start, ns; /* of its zone on the host */
    uint64_t sent;      /* when its message was sent */
    uint64_t hash;
    uint32_t device;   /* TT_NONE: none */
    uint32_t trace;    /* that was being captured; TT_NONE: none */
    uint32_t json;     /* number of its JSON; TT_NONE: none */
    uint32_t own;      /* of a cached op: number of the JSON of this call alone; TT_NONE: none */
    uint32_t children; /* number + 1 of the first */
    uint32_t name;     /* of a cut or orphaned op, in names; 0: see the JSON */
    uint32_t flags;
    uint32_t in, out; /* tensors */
} tt_op;

typedef struct tt_json {
    uint64_t at; /* in `texts` */
    uint32_t len;
    uint32_t in, out; /* tensors */
    bool cut;
} tt_json;

typedef struct tt_child {
    uint64_t ns;         /* of all its calls */
    uint32_t name, next; /* next: number + 1 */
    uint32_t calls;
} tt_child;

typedef struct tt_signpost {
    uint64_t at, ns;
    uint32_t len;
} tt_signpost;

typedef struct tt_replay {
    uint64_t ns;
    uint32_t device, trace;
} tt_replay;

typedef struct tt_trace {
    uint32_t device, trace;
    uint32_t replays;        /* that the host told of */
    uint32_t first, last;    /* number + 1 in replays, chained by next_replay */
    uint32_t seen, seen_at;  /* the replay that was asked for last; its number + 1 in replays */
    uint32_t session, begun; /* while joining */
} tt_trace;

/* The hash stands beside the op, so that a search reads the op that it is after and no other. */
typedef struct tt_id_slot {
    uint32_t op, hash; /* op: its number + 1; 0: empty */
} tt_id_slot;

typedef struct tt_host {
    tt_found *found; /* borrowed */
    tt_op *ops;
    tt_json *jsons;
    tt_child *children;
    char *texts;
    size_t n_ops, n_jsons, n_children, n_texts;
    dl_big big_ops, big_jsons, big_children, big_texts;
    tt_id_slot *slots;         /* hash table of ids */
    size_t n_slots, n_indexed; /* ops that are in it: the others are put there when one is looked for */
    uint64_t above[2];         /* ids from here on are new: of ops on devices, on the host */
    struct tt_cached *cached;  /* hash table of (device, hash) */
    size_t n_cached_slots, n_cached;
    dl_intern *names;
    tt_signpost *signposts;
    tt_replay *replays;
    uint32_t *next_replay;
    tt_trace *traces;
    struct tt_capture *captures; /* what each device captures now */
    size_t n_signposts, n_replays, n_traces, n_captures;
    size_t cap_signposts, cap_replays, cap_traces, cap_captures;
    bool has_data, has_times;
    uint64_t messages, times_lines;
    bool no_memory;
} tt_host;

/* `scratch`: as for op_log_read_large; borrowed, and so is `found`. Free with tt_host_free, also after a
 * failure. */
devlog_status tt_host_begin(tt_host *h, tt_found *found, const char *scratch, devlog_error *err);
devlog_status tt_host_read_data(tt_host *h, const char *path, const tt_progress *progress, devlog_error *err);
devlog_status tt_host_parse_data(tt_host *h, const void *bytes, size_t n, devlog_error *err);
/* After the messages. */
devlog_status tt_host_read_times(tt_host *h, const char *path, const tt_progress *progress,
                                 devlog_error *err);
devlog_status tt_host_parse_times(tt_host *h, const void *bytes, size_t n, devlog_error *err);
void tt_host_free(tt_host *h);

/* Nothing of it is wanted at once (base/big.h); to be called now and then by who walks over ops. */
void tt_host_cool(tt_host *h);
enum { TT_PASSED = 65536 };

/* The op with an id: number, or TT_NONE. */
uint32_t tt_host_find(tt_host *h, uint64_t id);
/* The same, made when there is none; TT_NONE: no memory. */
uint32_t tt_host_lost_op(tt_host *h, uint64_t id, uint32_t device);
tt_trace *tt_host_trace(const tt_host *h, uint32_t device, uint32_t trace);
/* When the n-th replay of a trace, from 1, was asked for; NULL: the host does not tell of it. */
const tt_replay *tt_host_replay(const tt_host *h, uint32_t device, uint32_t trace, uint32_t session);
/* The members of a JSON, as far as they are whole. */
void tt_host_members(const tt_host *h, uint32_t json, jl_reader *r);
/* What jl_next gives, but JL_END for a value that may be cut off. */
jl_kind tt_host_next(const tt_host *h, uint32_t json, jl_reader *r, jl_value *v);
/* A member of an op's JSON by its key: of the call's own, else of the cached one. */
bool tt_host_member(const tt_host *h, const tt_op *op, const char *key, jl_value *v);
/* Its name, for messages to people; appended. */
void tt_host_name(const tt_host *h, const tt_op *op, dl_str *out);

#endif
