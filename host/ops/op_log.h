/* The op log as the host wrote it: a first pass finds every op with its times and where its lines are; the
 * texts stay in the file and are read again when a row is written. So memory, or room in a folder, grows with
 * ops by about 100 bytes each, not with what is said about them. Damaged lines are counted and the rest is
 * kept. The lines: docs/op-reports.md, "The op log". */
#ifndef DEVLOG_OPS_OP_LOG_H
#define DEVLOG_OPS_OP_LOG_H

#include "base/big.h"
#include "base/str.h"

#define OP_LOG_NAME "profile_log_ops.jsonl"

/* A line has at most so many bytes: longer ones are not written, and skipped and counted when read. */
enum { OP_MAX_LINE = 64 * 1024 * 1024, OP_DETAILS = 3 };
/* Who walks over ops or launches says op_log_cool after so many. */
enum { OP_LOG_PASSED = 16384 };

/* What can be wrong with an op log; each is counted. */
typedef enum op_trouble {
    OP_BAD_LINE,        /* a line that is none of ours */
    OP_CUT_LINE,        /* the last line lacks its end */
    OP_NOT_CLOSED,      /* programs of the run that did not close the log: killed, or at work still */
    OP_NO_OP,           /* an event of an op that never started */
    OP_ENDED_TWICE,     /* the first end is kept */
    OP_DUPLICATE,       /* a second op with the id of an earlier one */
    OP_OTHER_RUN,       /* ops of an earlier run in the same file */
    OP_NOT_WRITTEN,     /* events that the run itself could not write */
    OP_OPEN,            /* never ended; kept, as open */
    OP_ENDED_ELSEWHERE, /* ended by another thread than began it; kept */
    OP_BACKWARDS,       /* ends before it begins; kept, without a duration */
    OP_TROUBLES
} op_trouble;

const char *op_trouble_text(op_trouble what);
/* Whether it means that something is missing from the report. */
bool op_trouble_is_loss(op_trouble what);

enum { OP_MOST_THREAD = (1 << 20) - 1 }; /* the greatest number of a thread that fits into op_entry */
enum { OP_ENDED = 1, OP_ELSEWHERE = 2, OP_IS_DUPLICATE = 4, OP_ENDS_EARLY = 8 };

typedef struct op_entry {
    uint64_t start, end;       /* ns; end 0 while open */
    uint64_t at_start, at_end; /* offsets in the file: the start's line; the end's, or what counts of it */
    uint32_t id;
    uint32_t block; /* bytes behind the start's line in which its other lines stand, most often all of them */
    uint32_t extra, last_extra;   /* its lines elsewhere: number + 1 in extras; 0: none */
    uint32_t launch, last_launch; /* number + 1 in launches; 0: none */
    uint32_t len_start, len_end;
    uint32_t thread : 20, flags : 4;
    uint32_t name_at : 8; /* where in the start's line its name and what follows stand; 0: look for it */
    uint16_t depth;
    uint8_t n_in, n_out;
} op_entry;

/* A line about an op that does not stand behind its start: a tensor, meta data, a correction. */
typedef struct op_extra {
    uint64_t at;
    uint32_t len, next; /* next: number + 1 */
} op_extra;

typedef struct op_launch {
    uint32_t op; /* id; 0: none */
    uint32_t chip, launch, program, cores;
    uint32_t next; /* of the same op: number + 1 */
    uint32_t boot; /* of the device; clocks of two boots have nothing in common. 0: not said */
    bool cached;
} op_launch;

/* A signpost or the beginning of a step. */
typedef struct op_point {
    uint64_t t, at;
    uint32_t len, after; /* after: the id of the op that was started last */
    bool step;
} op_point;

typedef struct op_program {
    uint64_t at;
    uint32_t number, len;
} op_program;

typedef struct op_chip {
    char arch[32], board[32];
    uint64_t mhz;
    size_t launches; /* of the log before this line: the chip may be opened again, profiled or not */
    uint32_t chip, cores;
    bool profiled;
} op_chip;

/* What a buffer of a device did, in the order of the log. */
typedef enum op_memory_what {
    OP_MEMORY_SIZE, /* what buffers may have of each bank, from here on */
    OP_MEMORY_ALLOC,
    OP_MEMORY_FREE,
    OP_MEMORY_CLOSE, /* of the device: what lives goes with it */
} op_memory_what;

typedef struct op_memory {
    uint64_t t, at;         /* ns; the line's offset */
    uint64_t address, held; /* held: in each bank; of SIZE all that there is */
    uint64_t bytes, page;   /* that were asked for */
    uint32_t len, op;       /* op: id; 0: none was open */
    uint32_t chip, boot;
    uint32_t buffer;      /* number, of chip and boot */
    uint32_t banks, line; /* line: of the program; 0: not said */
    uint32_t columns;     /* of SIZE, of the grid of cores; 0: not said */
    uint8_t what;
    bool dram;
} op_memory;

typedef struct op_log {
    char *path;
    int fd;                 /* of its lines: of a packed log a file without a name that has them */
    uint64_t run;           /* 0: the file does not say */
    uint32_t opens, closes; /* of the log, in the run */
    uint64_t compile_ns;    /* inside CompileProgram, of the programs that closed the log */
    op_entry *ops;
    op_extra *extras;
    op_launch *launches;
    op_point *points;
    op_program *programs;
    op_chip *chips;
    op_memory *memory;
    size_t n_ops, n_extras, n_launches, n_points, n_programs, n_chips, n_memory;
    size_t cap_extras, cap_points, cap_programs, cap_chips, cap_memory;
    dl_big big_ops, big_launches; /* where ops and launches are */
    bool in_order;                /* every id is one more than that before it: no table is needed */
    uint32_t *slots;              /* hash table of ids: number of the op + 1 */
    size_t n_slots;
    uint32_t run_op;  /* while reading: the op whose lines come now, number + 1 */
    uint64_t run_end; /* where the next of them begins */
    char run_id[16];  /* its id in digits, with a comma */
    uint32_t run_id_len;
    bool has_stacks;          /* of Python, with some op */
    uint32_t max_in, max_out; /* most tensors that an op has */
    uint64_t lines;
    uint64_t found[OP_TROUBLES];
    char *details[OP_TROUBLES][OP_DETAILS]; /* "file:line: ..." of the first few */
    struct op_window {
        char *text;
        uint64_t at;
        size_t n, cap;
    } windows[2]; /* on the lines read last: one runs with starts, one with ends */
} op_log;

/* The log of ops in a folder, plain or packed (.zst, .gz, .xz, .pack); freed by the caller. NULL: there is none, or no memory. */
char *op_log_in(const char *folder);
/* The same; and where there is none in it, of the folder of a periodic capture (DEVLOG_CAPTURE_EVERY, capture-000001) that of the
 * folder above, which is of them all. *above: it is that one. */
char *op_log_of(const char *folder, bool *above);
/* Reads the log of a run, also a packed one. NOT_FOUND when there is none, ARGUMENT when it is no file; damage is no
 * failure. Free with op_log_free, also after a failure. */
devlog_status op_log_read(op_log *log, const char *path, devlog_error *err);
/* The same with a folder in which room may be taken for what should not fill memory (base/big.h), and for the lines of a
 * packed log; borrowed. */
devlog_status op_log_read_large(op_log *log, const char *path, const char *scratch, devlog_error *err);
/* Nothing of it is wanted at once. */
void op_log_cool(op_log *log);
void op_log_free(op_log *log);

/* The op with an id; NULL: there is none. */
op_entry *op_log_find(const op_log *log, uint32_t id);

/* The text of a member of a line about memory, or of the start of an op: appended to *out; nothing when it is not there. */
void op_log_member(op_log *log, uint64_t at, uint32_t len, const char *key, dl_str *out);

/* A line of the file again; window 0 or 1. Valid until the next call for the same window. NULL: the file has
 * changed under us or cannot be read. */
const char *op_log_line(op_log *log, int window, uint64_t at, uint32_t len);

/* Counts a trouble, with a detail while there is room. `line` 0: no line. */
void op_log_found(op_log *log, op_trouble what, uint64_t amount, uint64_t line, const char *fmt, ...)
    DL_PRINTF(5, 6);

#endif
