/* Who held what memory of devices, and when: the buffers of a run, by its log of ops. Nothing of it is measured here: it is
 * what the allocators wrote down. Not for what is shown of it (memory_answer.h). */
#ifndef DEVLOG_ANSWERS_MEMORY_H
#define DEVLOG_ANSWERS_MEMORY_H

#include "base/intern.h"
#include "ops/op_log.h"
#include "ops/op_text.h"

typedef enum memory_state {
    MEMORY_FREED,
    MEMORY_LEAKED, /* it lived when its device was closed */
    MEMORY_LIVE,   /* it lived when the log ended, and nobody closed the device */
} memory_state;

#define MEMORY_NONE UINT32_MAX

typedef struct memory_buffer {
    uint32_t made, gone; /* events: op_log.memory; gone: MEMORY_NONE while it lives */
    uint32_t space;
    uint32_t at, file, name, op,
        gone_file; /* texts: its banks, where it was made, what it is called, the op, where it was freed */
    uint8_t state; /* memory_state */
} memory_buffer;

/* One memory of a device, as long as it was open. */
typedef struct memory_space {
    uint32_t chip, boot;
    bool dram, closed;
    uint32_t banks, columns;   /* 0: the log does not say */
    uint64_t base, bank_bytes; /* that buffers may have, as was said last; 0: the log does not say */
    uint64_t used, peak;       /* at the end, and at most; over all banks */
    uint64_t peak_t, first_t;  /* first_t: of its first event */
    uint32_t peak_event;       /* the allocation by which it was reached */
    uint64_t bank_peak;        /* the most that one bank ever held */
    uint64_t allocs, frees, live, leaked, leaked_bytes; /* live: at the end, also those that leaked before */
    uint32_t *events, n_events, cap_events;             /* in order */
    uint64_t *levels;                                   /* what the fullest bank held behind each event */
    uint64_t *highest;                                  /* a tree over them, for the highest of a range */
    uint64_t *bank_used;                                /* while it is read */
} memory_space;

typedef enum memory_trouble {
    MEMORY_UNKNOWN,   /* a free of a buffer that does not live; skipped */
    MEMORY_TWICE,     /* an allocation with the number of one that lives; the first is taken for freed */
    MEMORY_BAD_BANKS, /* a list of banks that cannot be; taken for the first ones */
    MEMORY_OVERLAP,   /* two buffers in one place at the peak */
    MEMORY_TROUBLES
} memory_trouble;

typedef struct memory_run {
    op_log *log; /* borrowed */
    memory_space *spaces;
    memory_buffer *buffers; /* in the order in which they were made */
    size_t n_spaces, n_buffers, cap_buffers;
    uint64_t start, end; /* ns: of ops and buffers, the first and the last */
    uint64_t chip_peak;  /* of the chip whose L1 and DRAM held most together */
    dl_intern *texts;
    dl_str text; /* in the making */
    op_text op;  /* the op that was read last, its id and its name */
    uint32_t named_id, named;
    uint32_t *slots;
    size_t n_slots;
    uint64_t found[MEMORY_TROUBLES];
} memory_run;

/* Works it out. MEMORY when there is none. Free with memory_run_free, also after a failure. The log stays open for texts. */
devlog_status memory_run_make(memory_run *r, op_log *log, devlog_error *err);
void memory_run_free(memory_run *r);

/* What a memory was at a moment: behind all events up to one of its own; 0 of them: empty. */
typedef struct memory_moment {
    uint64_t used;
    uint64_t
        largest; /* range of addresses that is free in all banks; 0 where the log does not say how many there are */
    bool overlap;
} memory_moment;
devlog_status memory_moment_of(const memory_run *r, const memory_space *s, size_t events, memory_moment *out,
                               devlog_error *err);
/* Of what is free then, the share in per cent that a buffer over all banks cannot have in one piece; NAN: unknown, or nothing
 * is free. */
double memory_fragmentation(const memory_space *s, const memory_moment *m);

/* The most that one bank of the chip's L1 held while an op was open; NAN: the log does not say. */
double memory_l1_of_op(const memory_run *r, uint32_t chip, uint32_t op);

/* Calls a function for each bank of a buffer, in order; false: the list of them cannot be, and it is the first ones. */
typedef void memory_bank_fn(void *ctx, uint32_t bank);
bool memory_banks(const memory_run *r, const memory_buffer *b, memory_bank_fn *fn, void *ctx);

const char *memory_trouble_text(memory_trouble what);
/* Whether anything was lost: buffers that leaked, or lines that do not go together. */
bool memory_lost(const memory_run *r);

static inline const op_memory *memory_made(const memory_run *r, const memory_buffer *b)
{
    return &r->log->memory[b->made];
}
static inline const char *memory_text(const memory_run *r, uint32_t text)
{
    return dl_intern_text(r->texts, text, NULL);
}
static inline uint64_t memory_bytes(const op_memory *e)
{
    return e->held * e->banks;
}

#endif
