/* What the analyzer's files share. Included by analyzer.c and analyzer_finish.c. */
#ifndef DEVLOG_DECODE_ANALYZER_INTERNAL_H
#define DEVLOG_DECODE_ANALYZER_INTERNAL_H

#include "base/big.h"
#include "decode/analysis/analyzer.h"
#include "decode/run.h"

/* How an analysis is computed; chosen once. */
typedef enum plan {
    PLAN_ADJACENT, /* all of its markers are of one RISC at a time: a state per stream */
    PLAN_MERGED,   /* adjacent, of several RISCs: markers are kept and ordered at the end */
    PLAN_FIRST_LAST,
    PLAN_FIRST_END, /* adjacent from T0: the first end */
    PLAN_SUM,
    PLAN_EVENT,
} plan;

/* The leaf that durations are counted for. */
typedef enum leaf_kind {
    LEAF_STREAM,
    LEAF_CORE,
    LEAF_CHIP,
} leaf_kind;

/* What a state belongs to: a block of slots for each stream, core, ..., each launch on a core. What several
 * analyses want to know of the same (the first start of any kernel) is one slot. */
typedef enum scope {
    SCOPE_STREAM = LEAF_STREAM,
    SCOPE_CORE = LEAF_CORE,
    SCOPE_CHIP = LEAF_CHIP,
    SCOPE_LAUNCH_STREAM,
    SCOPE_LAUNCH_CORE,
    SCOPE_LAUNCH, /* the leaf is the launch's chip */
    SCOPES,
} scope;

#define NO_STAMP UINT64_MAX
#define NO_SLOT  UINT16_MAX

/* What the marks of PLAN_ADJACENT of a stream begin with: NO_STAMP: there is none yet; an end, by its stamp; or: */
#define EDGE_START (UINT64_MAX - 1)
#define EDGE_BOTH  (UINT64_MAX - 2) /* one that is start and end */

/* A slot holds the least of stamps, or, of those of which the last is wanted, of what is left of them up to
 * just before the end of time: so NO_STAMP is none of either. */
static inline uint64_t slot_of_last(uint64_t stamp)
{
    return ~stamp - 1;
}
static inline uint64_t last_of_slot(uint64_t slot)
{
    return ~(slot + 1);
}

/* Slots of TILE blocks lie together, slot by slot: the same slot of blocks with numbers behind each other is a row. */
enum { TILE = 64 };

typedef struct blocks {
    uint64_t *slots;
    dl_big big;     /* where they are */
    uint32_t n;     /* blocks, whole tiles */
    uint32_t width; /* slots in each */
} blocks;

/* A block's slot i is at [i * TILE] of it. */
static inline uint64_t *block_at(const blocks *b, uint32_t index)
{
    return b->slots + (size_t)(index / TILE) * TILE * b->width + index % TILE;
}

/* Sums and how many there were, by index in their scope. */
typedef struct sum {
    uint64_t value, n;
} sum;

typedef struct account {
    uint64_t first_start, first; /* of that whose start is the least: its start, its duration */
    uint32_t launch;             /* and its launch, where several may begin at the same time (finish_slots) */
    dl_summary summary;          /* known at the end (analyzer_finish.c) */
    dl_samples samples;
} account;

/* Markers of one stream, in the order of the log: differences of stamps, shifted by two, with these bits. */
enum { IS_START = 1, IS_END = 2 };

typedef struct kept {
    dl_samples steps;
    uint64_t last;
} kept;

typedef struct job {
    const dl_analysis *analysis;
    dl_sample_pool *pool; /* of durations and of kept markers */
    plan plan;
    scope scope;
    leaf_kind leaf;
    uint16_t first, last; /* slots of its scope; of PLAN_ADJACENT the open start, and EDGE_* */
    sum *sums;
    uint32_t n_sums;
    kept **kept; /* by stream */
    uint32_t n_kept;
    account **accounts; /* by leaf */
    uint32_t n_accounts;
    uint64_t *incomplete; /* by chip */
    dl_analysis_event *events;
    size_t n_events, cap_events;
    dl_analysis_result *results;
    size_t n_results;
} job;

/* What is to be done with a mark of one kind on one class of streams: a list of steps, first those into slots,
 * that ends with STEP_END. */
typedef enum step_what {
    STEP_LEAST, /* of the stamp, into a slot */
    STEP_LAST,
    STEP_ADJACENT,
    STEP_KEEP,
    STEP_SUM,
    STEP_EVENT,
    STEP_PAIR, /* of shapes: the start and the end of PLAN_ADJACENT */
    STEP_END,
} step_what;

typedef struct step {
    uint8_t what, scope;
    uint8_t bits; /* IS_START, IS_END */
    uint8_t job;
    uint16_t slot;
} step;

enum { NO_STEPS = 1 }; /* an empty list's number; 0: not made yet */

/* What the stamps of a run are for that an analysis asks for, as runs of many shapes have it (analyzer_wait.c). Numbers of stamps
 * are places among those; the first is that of the run's first mark. */
typedef struct recipe_slot {
    uint64_t flip; /* as of shape_slot */
    uint32_t stamp, slot;
} recipe_slot;

typedef struct recipe_keep {
    uint32_t job, stamp, bits;
} recipe_keep;

typedef struct recipe_pair {
    uint32_t job, start, end;
} recipe_pair;

typedef struct recipe {
    struct recipe *next; /* of the class */
    size_t size;         /* bytes, from here on with what is behind it: */
    uint32_t n_stamps;   /* in fours */
    uint32_t n_scopes, n_keeps, n_pairs;
    uint32_t scopes[SCOPES], ends[SCOPES]; /* which have slots, and where they end */
    /* Behind it, in this order: recipe_slot, scope by scope; recipe_keep, job by job, in the order of the marks; recipe_pair. */
} recipe;

static inline const recipe_slot *recipe_slots(const recipe *r)
{
    return (const recipe_slot *)(const void *)(r + 1);
}
static inline const recipe_keep *recipe_keeps(const recipe *r)
{
    const uint32_t n_slots = r->n_scopes ? r->ends[r->n_scopes - 1] : 0;
    return (const recipe_keep *)(const void *)(recipe_slots(r) + n_slots);
}
static inline const recipe_pair *recipe_pairs(const recipe *r)
{
    return (const recipe_pair *)(const void *)(recipe_keeps(r) + r->n_keeps);
}

/* Runs of one stream that wait until there are many, and one recipe does for all. */
typedef struct waiting {
    const recipe *of;
    uint64_t *stamps;   /* cap of each */
    uint32_t *launches; /* of each run; behind the stamps */
    uint32_t n, cap;
    uint32_t n_stamps;     /* for which there is room */
    uint32_t shape;        /* of the last one, */
    const uint32_t *marks; /* and where it has its stamps */
} waiting;

enum {
    RECIPE_STAMPS = 8
}; /* at most; fours of them, of which the last may be filled up with the first stamp */

/* What runs of one shape mean (analyzer_shapes.c): the stamps that go into slots, scope by scope; and the other steps, in
 * the order of the marks. */
typedef struct shape_slot {
    uint64_t flip;       /* 0: the stamp; all ones: slot_of_last of it */
    uint32_t mark, slot; /* bytes from the first mark, and from the block's beginning */
} shape_slot;

typedef struct shape_other {
    step step;
    uint32_t mark, end; /* places among the marks; end: of STEP_PAIR */
} shape_other;

typedef struct shape_scope {
    scope scope;
    uint32_t end; /* of its slots */
} shape_scope;

typedef struct shape_steps {
    const shape_slot *slots;
    const shape_other *others;
    shape_scope scopes[SCOPES];
    uint32_t n_scopes, n_others;
    const recipe *recipe;  /* NULL: they do not wait */
    const uint32_t *marks; /* where the recipe's stamps are: bytes from the first mark */
} shape_steps;

/* Streams that meet the same conditions. */
typedef struct stream_class {
    uint64_t starts, ends; /* jobs whose conditions its streams can meet */
    uint32_t *steps;       /* by kind: number of the first step */
    uint32_t n_kinds;
    shape_steps **shapes; /* by number of the shape; NULL: not made yet */
    uint32_t n_shapes;
    recipe *recipes;
} stream_class;

/* Pairs of numbers, themselves numbered in order of appearance: launches on leaves, and cores of chips. */
typedef struct cell {
    uint32_t launch, leaf;
} cell;

/* What is known of a leaf's cells. */
typedef struct leaf_cells {
    uint32_t next; /* one more than the highest launch that it has one with */
    uint32_t row;  /* the first of the last ones that are behind each other, with launches that are, too */
} leaf_cells;

typedef struct cells {
    cell *items;
    dl_big big; /* where they are */
    uint32_t n;
    uint32_t *slots, n_slots; /* number + 1 */
    uint32_t
        n_hashed; /* the first cells, which are in the slots; the others are entered when one is looked for */
    leaf_cells *leaves;
    uint32_t n_leaves;
} cells;

/* What is known about a stream: which conditions it can meet, and where it belongs. */
typedef struct stream_info {
    uint32_t class, chip, core;
    uint32_t cell
        [2]; /* behind the last of LEAF_STREAM and LEAF_CORE: where the next is, as launches mostly follow each other
                         alike on all streams of a core */
    waiting waiting;
} stream_info;

/* Which conditions a zone's name can meet, told by its first character. */
typedef struct first_characters {
    uint64_t starts[256], ends[256];
} first_characters;

struct dl_analyzer {
    dl_decode *decode;
    const dl_analysis_list *list;
    dl_sample_pool pool;
    job jobs[DL_MAX_ANALYSES];
    blocks blocks[SCOPES];
    step *steps;
    uint32_t n_steps, cap_steps;
    stream_class *classes;
    uint32_t n_classes, cap_classes;
    bool has_cores; /* a condition is of one core */
    first_characters names;
    stream_info *streams;
    uint32_t n_streams;
    cells cores;    /* y << 16 | x, on chips; a core's number is its place */
    cells cells[2]; /* launches on streams (LEAF_STREAM) and on cores (LEAF_CORE) */
    /* Of the run in hand: its blocks by scope, as far as they have been asked for; those of launches are
     * `nowhere` when it belongs to none. */
    uint64_t *here[SCOPES], *nowhere;
    uint32_t stream, launch, core, chip;
    uint64_t t0[DL_MAX_CHIPS];
};

/* analyzer.c: makes room for item `index`, the new ones zero; false when out of memory. */
bool dl_analyzer_room(void *items, uint32_t *n, uint32_t index, size_t size);
/* analyzer_steps.c: gives jobs their slots; the list of steps for a kind on a class of streams: 0 when out of
 * memory; and where a new stream belongs. */
void dl_analyzer_plan(dl_analyzer *a);
uint32_t dl_analyzer_steps(dl_analyzer *a, uint32_t class, uint32_t kind);
bool dl_analyzer_learn_streams(dl_analyzer *a);
/* analyzer_shapes.c: what runs of this run's shape mean on a class of streams; NULL: out of memory. */
const shape_steps *dl_analyzer_shape(dl_analyzer *a, uint32_t class, const dl_run *run);
/* analyzer_cells.c: the number of a pair of numbers, which may be *hint, and is one less afterwards; DL_NONE when
 * out of memory. */
uint32_t dl_analyzer_cell(cells *c, uint32_t launch, uint32_t leaf, uint32_t *hint);
/* The same of one leaf and n launches, not DL_NONE: *number is that of the first, and the numbers of as many as are returned
 * follow each other. 0: out of memory. */
uint32_t dl_analyzer_cells_of(cells *c, const uint32_t *launches, uint32_t n, uint32_t leaf, uint32_t *hint,
                              uint32_t *number);
void dl_analyzer_cells_free(cells *c);
/* analyzer.c: the block of this index in a scope, made where there is none; NULL: out of memory. */
uint64_t *dl_analyzer_block(dl_analyzer *a, scope of, uint32_t index);
/* analyzer.c: durations of a leaf, and marks kept of a stream, made where there are none; NULL: out of memory. */
account *dl_analyzer_account(job *j, uint32_t leaf);
kept *dl_analyzer_kept(job *j, uint32_t stream);
/* analyzer.c: lists an event, as long as there is room in the list; false: out of memory. */
bool dl_analyzer_list_event(job *j, const dl_analysis_event *event);
/* analyzer_parts.c: how many of a scope there may be, by what is known now; how many leaves. */
uint32_t dl_analyzer_scope_n(const dl_analyzer *a, scope of);
uint32_t dl_analyzer_leaf_n(const dl_analyzer *a, const job *j);
/* Counts one duration. */
static inline bool dl_analyzer_count(job *j, uint32_t leaf, uint64_t start, uint64_t duration)
{
    account *of = leaf < j->n_accounts ? j->accounts[leaf] : NULL;
    if (!of && !(of = dl_analyzer_account(j, leaf))) return false;
    if (start < of->first_start) {
        of->first_start = start;
        of->first = duration;
    }
    return dl_samples_add(&of->samples, duration);
}
/* analyzer_shapes.c: of a class. */
void dl_analyzer_shapes_free(stream_class *c);
/* Another run of the shape of the last one that waits; there is room. Four stamps at once. */
static inline void dl_analyzer_put(waiting *w, const dl_run *run)
{
    const uint32_t *mark = w->marks, *const end = mark + w->of->n_stamps, cap = w->cap;
    const char *marks = (const char *)run->marks;
    uint64_t *to = w->stamps + w->n;
    w->launches[w->n++] = run->launch;
    for (; mark < end; mark += 4, to += (size_t)cap * 4) {
        to[0] = *(const uint64_t *)(const void *)(marks + mark[0]);
        to[cap] = *(const uint64_t *)(const void *)(marks + mark[1]);
        to[(size_t)cap * 2] = *(const uint64_t *)(const void *)(marks + mark[2]);
        to[(size_t)cap * 3] = *(const uint64_t *)(const void *)(marks + mark[3]);
    }
}
/* analyzer_wait.c: a run of a shape with a recipe waits; all of a stream that wait are done; all of all. False: out of memory. */
bool dl_analyzer_wait(dl_analyzer *a, const shape_steps *of_shape, const dl_run *run);
bool dl_analyzer_settle(dl_analyzer *a, uint32_t stream);
bool dl_analyzer_settle_all(dl_analyzer *a);
/* The chip of a leaf. */
static inline uint32_t dl_analyzer_chip_of(const dl_analyzer *a, const job *j, uint32_t leaf)
{
    return j->leaf == LEAF_STREAM ? a->streams[leaf].chip
           : j->leaf == LEAF_CORE ? a->cores.items[leaf].leaf
                                  : leaf;
}

/* Starts that are still open when the log ends. From the end of something to the next beginning the last is
 * always open: that is no loss. */
static inline bool dl_analyzer_is_gap(const job *j)
{
    return j->analysis->start.types == 1 << DL_ROW_ZONE_END;
}

/* analyzer_merge.c: what kept marks come to. */
bool dl_analyzer_merge(dl_analyzer *a, job *j);
/* analyzer.c: gives back what results do not need, which is most of it. Nothing may be counted after. */
void dl_analyzer_forget(dl_analyzer *a);
/* analyzer.c: a start without an end. */
bool dl_analyzer_incomplete(job *j, uint32_t chip);
devlog_status dl_analyzer_no_memory(devlog_error *err);
/* analyzer_steps.c: dl_run_sink.marks_of. */
bool dl_analyzer_marks_of(const void *ctx, uint32_t stream, const dl_kind *kind);

#endif
