/* Many ranks of one program, each with an op report of its own, as one run: which ops are the same on all of them, how their
 * clocks lie to one another, and who waited for whom. A rank has chips, and a chip's ops in their order are a lane.
 *
 *     ranks_find    which folders are ranks                            (find.c)
 *     ranks_said    what a folder's files say of the rank              (said.c)
 *     ranks_read    their reports                                      (read.c)
 *     ranks_match   which op of one lane is which of another           (match.c)
 *     ranks_align   where the clocks of lanes lie, and how well known  (align.c by collective ops, align_hosts.c by clocks of hosts)
 *     ranks_answer  tables of what follows                             (answer.c, collectives.c, clocks.c)
 *     ranks_merge   the reports as one, op by op                       (merge.c)
 *     ranks_trace   one time line                                      (trace.c)
 *
 * Not for what is true of one rank: that is its own report (answers/). */
#ifndef DEVLOG_RANKS_RANKS_H
#define DEVLOG_RANKS_RANKS_H

#include "answers/answer.h"
#include "answers/inputs.h"
#include "base/intern.h"

enum {
    RANKS_MOST = 65536,
    RANKS_VERSION = 1,
    RANKS_SPREAD = 5 /* per cent: beyond, the slow rank is named (msprof-analyze's rule for slow cards) */
};
#define RANKS_NONE UINT32_MAX

/* A row of a rank's report that ran on a device; until they are matched also one whose data is lost, as it says where it stands. */
typedef struct rank_item {
    uint64_t id;       /* GLOBAL CALL COUNT; with `has_id` */
    double start, end; /* of the firmware, ns of the lane's own clock; NAN: the report does not say */
    double time;       /* of the kernels, else of the firmware: ns; NAN */
    uint32_t row;      /* the how manieth of the report's rows */
    uint32_t code;     /* ranks.texts: OP CODE */
    uint32_t shape;    /* ranks.texts: shapes of the tensors */
    uint32_t step;     /* ranks.texts: the step that it belongs to, or the signpost before it; 0: none */
    uint32_t op;       /* ranks.ops; the same for what is the same op */
    bool has_id;
    bool blank; /* no device data */
    bool
        impossible; /* a collective op that by the lane's clock was over before others began, or began after their end */
} rank_item;

/* By what a lane's clock is laid beside the others: what goes before comes first. */
typedef enum ranks_way {
    RANKS_WAY_NONE,
    RANKS_WAY_COLLECTIVES, /* ends of collective ops */
    RANKS_WAY_SAME,        /* hosts of one boot have one CLOCK_MONOTONIC */
    RANKS_WAY_EXCHANGES,   /* what two ranks saw of one another's clocks (devlog_clock_exchange) */
    RANKS_WAY_REALTIME,    /* CLOCK_REALTIME, by the word of the kernel */
} ranks_way;

/* A chip of a rank. */
typedef struct rank_lane {
    uint32_t rank, chip; /* the rank by its place */
    size_t first, n;     /* items, in the order of the report */
    double mhz;          /* by cycles and ns of the report; NAN: unknown */
    /* Time of the lane to time of all: t + offset + drift * t. */
    double offset, drift;
    double residual;   /* ns: how far off that may be, if collective ops end at once; NAN: not known */
    double bound;      /* ns: the same, however they end */
    size_t anchors;    /* collective ops that say it */
    size_t strangers;  /* such that contradict the others; they are not used */
    size_t impossible; /* collective ops that its clock puts where they cannot have been: it jumps */
    bool aligned;
    bool common;   /* its items' times are those of all already */
    ranks_way way; /* by which it is aligned; `residual` is NAN where nobody knows how far off it is */
    /* The same by the clocks of hosts, where collective ops align it: */
    ranks_way other;   /* NONE: there is no such way */
    double apart;      /* ns by which the two differ */
    double apart_most; /* and by which they may; NAN: unknown */
    const char *why;   /* there is no way by clocks of hosts: why */
} rank_lane;

/* An op, which every lane may have. */
typedef struct rank_op {
    uint32_t code, shape;
    uint32_t next;   /* in order; RANKS_NONE: the last */
    uint32_t place;  /* in that order, from 0 */
    uint32_t lanes;  /* that have it */
    size_t first;    /* of ranks.by_op: its items, by lane */
    bool collective; /* chips wait for one another in it */
} rank_op;

/* What a folder's files say of the rank whose it is: the launcher's word, as the program has kept it. */
typedef struct rank_said {
    unsigned number, ranks; /* number: with `by`; ranks: how many there are, 0: unknown */
    const char *by;         /* "log of ops", "capture"; NULL: they say none */
    char *host;             /* NULL: unknown */
} rank_said;

/* What another process has found a rank's report to be (ranks_find_report there). */
typedef struct rank_found {
    devlog_status status;
    char *why;    /* of a failure */
    char *report; /* where it can be read here */
    char *name;   /* and was found there */
    bool incomplete;
} rank_found;

typedef struct rank_entry {
    unsigned number;
    char *host;              /* NULL: unknown */
    char *folder;            /* as it was found */
    char *report;            /* path */
    uint64_t rows, lost;     /* of the report; of them with an op that has no device data */
    bool incomplete;         /* what the report was made of had losses, or the report itself is cut */
    bool apart;              /* no op of it is on another rank */
    char *silent;            /* why nothing is known of it; NULL: it has ops with device data */
    const char *said_by;     /* which of its files says a rank; NULL: none */
    unsigned said, ranks;    /* which, and of how many (0: unknown) */
    uint32_t arch;           /* ranks.texts; 0: the report does not say */
    int64_t stamp;           /* seconds, by the name of its report or its folder; 0: the name says none */
    uint64_t device, inode;  /* of its folder */
    const rank_found *found; /* NULL: its report is to be found; borrowed */
} rank_entry;

typedef enum ranks_by {
    RANKS_BY_ID,
    RANKS_BY_ORDER,
    RANKS_BY_KIND, /* orders are too different: by how manieth op of its kind it is */
} ranks_by;

typedef struct ranks {
    rank_entry *items; /* by number */
    size_t n, cap;
    run_inputs inputs; /* reports that had to be made */
    rank_lane *lanes;  /* by rank and chip */
    size_t n_lanes;
    rank_item *ops_of_lanes; /* lane by lane */
    size_t n_items;
    uint32_t *lane_of; /* of every item */
    rank_op *ops;
    size_t n_ops, cap_ops;
    uint32_t head;   /* the first op */
    uint32_t *order; /* ops by place */
    uint32_t *by_op; /* items, op by op */
    dl_intern *texts;
    ranks_by by;             /* how ops were matched */
    size_t reference;        /* the lane whose clock is that of all, or whose rank's host's is */
    bool by_hosts;           /* that of all is the clock of a host */
    struct host_ways *hosts; /* host_clocks.h */
    unsigned *missing;       /* numbers between 0 and the greatest that are not there */
    size_t n_missing;
    size_t n_silent; /* ranks of which nothing is known */
} ranks;

/* What a folder's files say of the rank; free with rank_said_free. */
void ranks_said(const char *folder, rank_said *said);
void rank_said_free(rank_said *said);

/* Each path is a folder of ranks (rank0, rank1, ...; NAME_rank_0, ...), or one of a rank, or its report, or a folder in it. Numbers
 * are those of the folders' names; where no name has one they are counted. ARGUMENT: two of one number, or one folder twice;
 * NOT_FOUND: no rank at all.
 * ranks_free frees in any case. */
devlog_status ranks_find(ranks *r, const char *const *paths, size_t n, devlog_error *err);
/* The name of each rank's host, in their order. ARGUMENT: not as many as ranks. */
devlog_status ranks_name_hosts(ranks *r, const char *const *names, size_t n, devlog_error *err);
/* Whether a folder is the one that holds those of ranks. */
bool ranks_are_in(const char *folder);
/* A rank whose report cannot be read is silent, and the others are read all the same; the error when all are. */
devlog_status ranks_read(ranks *r, devlog_error *err);
/* The report of an entry, made when there is only what one is made of: its path goes to e->report. */
devlog_status ranks_find_report(ranks *r, rank_entry *e, devlog_error *err);
devlog_status ranks_match(ranks *r, devlog_error *err);
devlog_status ranks_align(ranks *r, devlog_error *err);
/* Behind it: what the clocks of hosts say of lanes that it could not align, and of those that it could. */
devlog_status ranks_align_hosts(ranks *r, devlog_error *err);
void ranks_free(ranks *r);

typedef struct ranks_wishes {
    size_t top; /* rows of long tables; 0: all */
} ranks_wishes;

/* What a rank's report is found in, or made of: the last of its folders of reports, else its folder; freed by the caller. NULL: no
 * memory. */
char *ranks_source(const rank_entry *e);
/* Sections for answer_print.h. */
devlog_status ranks_answer(answer *a, const ranks *r, const ranks_wishes *w, devlog_error *err);
/* The part of them that is about clocks: facts that go with the verdict, and a table. */
void ranks_answer_doubts_of_clocks(answer *a, answer_section *verdict, const ranks *r);
void ranks_answer_clocks(answer *a, const ranks *r, const ranks_wishes *w);
/* The part of them that is about collective ops. */
devlog_status ranks_answer_collectives(answer *a, const ranks *r, const ranks_wishes *w, devlog_error *err);
/* Writes the reports as one CSV: every row, by op and rank and chip, with RANK and HOST behind the columns of them all. *rows:
 * how many. */
devlog_status ranks_merge(const ranks *r, const char *path, uint64_t *rows, devlog_error *err);
/* Writes ops on their common time as a Chrome trace: a process for each rank, a thread for each chip. *left_out: ops without a
 * place in it, because nothing says where their clock lies. */
devlog_status ranks_trace(const ranks *r, const char *path, uint64_t *left_out, devlog_error *err);
/* Whether the launcher started another number of ranks for this one than for the first that knows one, or fewer than its own number asks
 * for: then both are not of one run. */
bool ranks_of_other_size(const ranks *r, size_t rank);
/* Whether anything is missing: then the exit status is 3. */
bool ranks_incomplete(const ranks *r);

/* ---- Between its files --- */

static inline const char *ranks_text(const ranks *r, uint32_t text)
{
    return dl_intern_text(r->texts, text, NULL);
}
/* ns of all lanes' common time; NAN: not aligned. */
static inline double ranks_common(const rank_lane *l, double t)
{
    if (!l->aligned) return NAN;
    return l->common ? t : t + l->offset + l->drift * t;
}
/* When an item began or ended, in common time; NAN: that is not known. */
static inline double ranks_start(const ranks *r, uint32_t item)
{
    const rank_item *i = &r->ops_of_lanes[item];
    return i->impossible ? NAN : ranks_common(&r->lanes[r->lane_of[item]], i->start);
}
static inline double ranks_end(const ranks *r, uint32_t item)
{
    const rank_item *i = &r->ops_of_lanes[item];
    return i->impossible ? NAN : ranks_common(&r->lanes[r->lane_of[item]], i->end);
}
/* "rank 3", or "rank 3 chip 1" where ranks have several. */
const char *ranks_lane_name(answer *a, const ranks *r, const rank_lane *l);

#endif
