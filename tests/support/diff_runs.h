/* Logs and op reports with known differences, for tests of devlog diff as a command. */
#ifndef DEVLOG_TESTS_DIFF_RUNS_H
#define DEVLOG_TESTS_DIFF_RUNS_H

#include <stdbool.h>
#include <stddef.h>

/* The first line of reports that are written here. */
#define OP_REPORT_HEAD                                                                                           \
    "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,HOST START TS,HOST END TS,HOST DURATION [ns],OP TO OP LATENCY " \
    "[ns],DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns],DEVICE BRISC KERNEL DURATION [ns],DEVICE TRISC1 "  \
    "KERNEL DURATION [ns],INPUT_0_W_PAD[LOGICAL],INPUT_0_Z_PAD[LOGICAL],INPUT_0_Y_PAD[LOGICAL],INPUT_0_X_PAD["   \
    "LOGICAL],INPUT_0_DATATYPE,OUTPUT_0_W_PAD[LOGICAL],OUTPUT_0_Z_PAD[LOGICAL],OUTPUT_0_Y_PAD[LOGICAL],OUTPUT_"  \
    "0_X_PAD[LOGICAL]\n"

typedef struct log_of {
    unsigned launches, mhz; /* mhz 0: the log does not say it */
    unsigned load, loop;    /* cycles of the two zones of TRISC_1; the second is inside of the first */
    unsigned load_line, loop_line;
    const char *arch, *extra; /* name of one more zone */
    unsigned id;              /* of the first launch; they are 1 apart */
    unsigned chips;           /* 0: one */
    bool by_time;             /* rows in the order of time, as tt-metal writes them, else core by core */
} log_of;

static const log_of plain_log = {20, 1000, 900, 500, 40, 44, "wormhole_b0", NULL, 1, 0, false};

typedef struct report_of {
    const char *suffix; /* of op codes */
    unsigned copies;    /* of each op */
    double device, host, gap;
    bool no_device, no_host, no_gap, half_device;
    unsigned noise; /* different numbers: different noise of 1 % up or down; 0: none */
    unsigned width; /* of the first op's input; 0: 32 */
    bool one_less;  /* one of three repeats of an op has no device data */
} report_of;

static const report_of plain_report = {"", 1, 1, 1, 1, false, false, false, false, 0, 0};

/* Writes one of them into the scratch folder. */
void write_log(const char *name, const log_of *l);
void write_report(const char *name, const report_of *r);

void has(const char *text, const char *what);
void has_not(const char *text, const char *what);
/* A command line of devlog ends with that status, and its output has these words. */
void says(const char *line, int status, const char *what);

#endif
