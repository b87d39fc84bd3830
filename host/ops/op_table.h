/* An op report read back, ours or anybody's: any CSV with the columns of an op
 * report, found by their names. What `devlog ops summary` works on. */
#ifndef DEVLOG_OPS_OP_TABLE_H
#define DEVLOG_OPS_OP_TABLE_H

#include "base/intern.h"
#include "base/str.h"
#include "ops/op_aiclk.h"
#include "ops/op_wide.h"

enum { OP_TABLE_DETAILS = 5, OP_TABLE_RISCS = 6 };

/* Which values a row has. */
enum {
    OP_HAS_ID = 1,
    OP_HAS_CHIP = 2,
    OP_HAS_CORES = 4,
    OP_HAS_FW = 8,
    OP_HAS_KERNEL = 16,
    OP_HAS_GAP = 32,
    OP_HAS_HOST = 64,
    OP_IS_POINT = 128, /* a signpost: only its code counts */
    OP_HAS_HOST_START = 256,
    OP_HAS_HOST_END = 512,
    OP_HAS_THREAD = 1024,
    OP_HAS_IDLE = 2048,
};

/* OP TYPE of ops that run on the device. */
#define OP_TYPE_DEVICE "tt_dnn_device"
/* OP CODE of the rows of launches that no op made, in devlog's own reports. */
#define OP_CODE_NO_OP "(launch without op)"

typedef struct op_table_row {
    uint64_t fw_ns, kernel_ns, host_ns;
    int64_t gap_ns;   /* OP TO OP LATENCY */
    uint64_t idle_ns; /* DEVICE IDLE BETWEEN LAUNCHES: gaps inside of an op that launches more than once */
    uint64_t host_start, host_end;
    uint64_t id;         /* GLOBAL CALL COUNT */
    uint64_t line;       /* of the file */
    uint32_t code, type; /* texts */
    uint32_t chip, cores, thread;
    uint16_t has;
} op_table_row;

/* What only a comparison wants of a row. */
typedef struct op_table_more {
    uint64_t
        risc_ns[OP_TABLE_RISCS]; /* DEVICE BRISC KERNEL DURATION and so on; op_table_riscs has the names */
    double fw_start, fw_end;     /* DEVICE FW START CYCLE, DEVICE FW END CYCLE; NAN: not said */
    uint32_t shape; /* text: "1x1x32x64 1x1x64x32 > 1x1x32x32", the inputs and the outputs; empty: not said */
    uint8_t has;    /* bit i: risc_ns[i] */
} op_table_more;

typedef struct op_table {
    char *name;
    dl_intern *texts;
    op_table_row *rows;
    op_table_more *more;            /* by row; NULL unless it was asked for */
    op_wide *wide;                  /* the same */
    bool has_wide[OP_WIDE_NUMBERS]; /* some row may have this number; false: none has it */
    size_t n, cap;
    uint64_t lines;
    bool has_fw, has_kernel; /* the file has these columns */
    bool instructions;       /* NOTE says that cycles are (OP_SAYS_INSTRUCTIONS) */
    op_aiclk aiclk;
    uint64_t bad_cells;  /* that should be numbers and are none; taken as missing */
    uint64_t short_rows; /* with fewer cells than the header; what they have is kept */
    uint64_t long_rows;  /* with more; the rest is ignored */
    bool cut;            /* the last row lacks its end; the number that it ends with is not used */
    char *details[OP_TABLE_DETAILS];
} op_table;

/* Reads a file ("-": standard input), plain or compressed. FORMAT when it has
 * no header with OP CODE and a device or host duration. Free with
 * op_table_free, also after a failure. */
devlog_status op_table_read(op_table *t, const char *path, devlog_error *err);
/* The same with `more`. */
devlog_status op_table_read_more(op_table *t, const char *path, devlog_error *err);
/* The same with `wide`. */
devlog_status op_table_read_wide(op_table *t, const char *path, devlog_error *err);
extern const char *const op_table_riscs[OP_TABLE_RISCS];
/* The same as op_table_read from memory. */
devlog_status op_table_parse(op_table *t, const char *name, const void *bytes, size_t n, devlog_error *err);
devlog_status op_table_parse_more(op_table *t, const char *name, const void *bytes, size_t n,
                                  devlog_error *err);
devlog_status op_table_parse_wide(op_table *t, const char *name, const void *bytes, size_t n,
                                  devlog_error *err);
/* An empty one. */
devlog_status op_table_new(op_table *t, const char *name, devlog_error *err);
/* Another row at the end, empty, with `wide`: for tables that are made of something else than a file. False: no memory. */
bool op_table_add(op_table *t);
void op_table_free(op_table *t);
/* Whether ops and launches have numbers of their own: there are rows of launches without op. */
bool op_table_is_apart(const op_table *t);
/* A line for each kind of what could not be used, after `before`; true when there was any. (op_table_troubles.c) */
bool op_table_troubles(const op_table *t, const char *before, dl_str *out);

#endif
