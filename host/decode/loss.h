/* Losses: everything that a report must own up to: rows skipped and why, markers dropped on the device,
 * markers without a partner, stamps repaired. Counts are exact; details are kept for the first few of each
 * kind, so that a ruined log does not fill the memory with complaints. */
#ifndef DEVLOG_DECODE_LOSS_H
#define DEVLOG_DECODE_LOSS_H

#include <stdbool.h>

#include "base/str.h"

/* Why a line gave no row. */
typedef enum dl_skip {
    DL_SKIP_NONE,
    DL_SKIP_NOT_A_NUMBER,
    DL_SKIP_NEGATIVE,
    DL_SKIP_TOO_BIG,
    DL_SKIP_TOO_FEW_CELLS,
    DL_SKIP_TOO_MANY_CELLS, /* and nothing tells which of them are one */
    DL_SKIP_UNKNOWN_TYPE,
    DL_SKIP_NO_RISC,
    DL_SKIP_NOT_A_ROW,  /* neither a row nor a header */
    DL_SKIP_NO_HEADER,  /* nothing says what the cells are */
    DL_SKIP_BAD_HEADER, /* rows below a header that lacks a column */
    DL_SKIP_TOO_LONG,   /* a line of more than DL_MAX_LINE bytes */
    DL_SKIP_NUL,        /* NUL bytes where text should be */
    DL_SKIP_CUT,        /* a last line that was cut off */
    DL_SKIP_TABLE_FULL, /* more chips, cores, RISCs or zones than devlog will keep */
    DL_SKIPS
} dl_skip;

/* What pairing found, beyond skipped lines. */
typedef enum dl_finding {
    DL_FOUND_DROPPED,        /* markers that the device had no room for; amount = markers */
    DL_FOUND_HOST_LOST,      /* records of host zones that found no room; amount = records */
    DL_FOUND_HOST_MEMORY,    /* calls about memory of the host that cannot be; amount = calls */
    DL_FOUND_UNKNOWN,        /* a RISC and launch of which nobody knows what was lost */
    DL_FOUND_RESTARTED,      /* a RISC's firmware started again in the middle of a launch */
    DL_FOUND_UNPAIRED_START, /* a zone that never ended */
    DL_FOUND_UNPAIRED_END,   /* an end without a start */
    DL_FOUND_NEGATIVE,       /* a zone that ends before it starts */
    DL_FOUND_TOO_DEEP,       /* more zones open at once than devlog follows */
    DL_FOUND_TABLE_FULL,     /* more zones per RISC, or launches, than devlog keeps apart */
    DL_FOUND_CORRUPT,        /* a damaged part of a capture or of a compressed log */
    DL_FOUND_DAMAGED_WORDS,  /* words of a RISC's records that are no record */
    DL_FOUND_CUT_CAPTURE,    /* words that a capture should hold and that were cut off */
    DL_FOUND_NEWER,          /* frames of a capture by a newer devlog, skipped */
    DL_FOUND_TORN,           /* stamps 2^32 off, repaired */
    DL_FOUND_WRAP,           /* wraps of the 44-bit clock, continued */
    DL_FOUND_CLOCK_RESTART,  /* a RISC's clock started again: another run in the same log */
    DL_FOUND_RANKS,          /* chips of captures of several ranks that have one number: taken for one chip */
    DL_FOUND_REPEATED,       /* it started again in the same cycle and launch: rows that are there twice */
    DL_FOUND_OUT_OF_ORDER,   /* starts and ends of zones behind later ones of their RISC; not paired */
    DL_FOUND_OTHER_LAUNCH,   /* ends of zones that began under another launch id; not paired */
    DL_FOUND_EXTRA_CELLS,    /* rows with more cells than the header; the rest ignored */
    DL_FOUND_COLUMN_TWICE,   /* a column named twice; the first is used */
    DL_FOUND_NO_HEADER,      /* columns were taken from the shape of the first row */
    DL_FOUND_FREQUENCY,      /* a chip with two clock frequencies; the first is used */
    DL_FOUND_NO_LINE_END,    /* a last line without its line end, whole and kept */
    DL_FOUND_NO_ELF,         /* an ELF file that is missing or another build: markers shown as numbers */
    DL_FOUND_UNNAMED,        /* records whose marker the ELF file does not have */
    DL_FOUND_AMBIGUOUS,      /* stamps that may be 2^32 off, which nothing near decides */
    DL_FOUND_NOT_CLOSED,     /* a capture whose run has not ended, or was killed */
    DL_FOUND_EMPTY,          /* an input that holds nothing at all */
    DL_FOUND_CLOCK,          /* a clock that could not be aligned, or does not do what its board claims */
    DL_FOUND_VIOLATED,       /* what kernels expect of their markers, and was not so */
    DL_FINDINGS
} dl_finding;

enum { DL_DETAILS_PER_KIND = 5, DL_MAX_LINE = 64 * 1024 };

/* How far the stamps of a chip can be trusted (decode/clock/chip_clock.h). */
typedef struct dl_clock_note {
    uint32_t slot;
    double core_cycles; /* bound of the error between markers of two cores; 0: one core, or unknown */
    double host_ns;     /* bound of the error against the host's clock; 0: unknown */
} dl_clock_note;

enum { DL_CLOCK_NOTES = 8 };

/* What the filters met, so that one that let nothing through can be told (host/cli/filter_check.c). */
typedef struct dl_filter_seen {
    bool rows, zones;     /* some row, some closed zone came through all of them */
    bool any;             /* there is a row of the wanted chips, cores and RISCs: */
    uint64_t first, last; /* of these rows, cycles */
    bool closed;          /* there is a closed zone that comes through all but --min-cycles: */
    uint64_t longest;     /* the longest of them, cycles */
} dl_filter_seen;

typedef struct dl_losses {
    uint64_t lines, rows;         /* read */
    uint64_t blocks, blocks_read; /* of a packed log of which a part was read; 0: all was */
    uint32_t devices, processes;  /* chips of captures, and programs whose zones of host code they hold */
    uint64_t empty;               /* inputs that held nothing at all */
    uint64_t rows_filtered;       /* left out at the user's wish */
    uint64_t zones_filtered;
    dl_filter_seen seen; /* only when there are filters */
    uint64_t skipped[DL_SKIPS];
    uint64_t found[DL_FINDINGS];
    char *details[DL_SKIPS + DL_FINDINGS][DL_DETAILS_PER_KIND];
    bool stopped;     /* reading ended early: an input failed in its middle */
    bool end_unknown; /* there are rows of a log that cannot say whether its run ended or was killed */
    /* The markers' own cost, as the devices measured it; captures only. */
    bool cost_known, cost_subtracted;
    uint32_t cost_sixteenths[32];                /* of the dearest RISC, by DL_COST_*, 1/16 cycle */
    uint64_t cost_of_kernels, cycles_of_kernels; /* own cost within kernels, and what they took with it */
    uint64_t cost_off_of_kernels; /* by how many cycles cost_of_kernels may be off; but for .. */
    uint64_t kernels_unpriced; /* .. kernels of which nobody knows, as their markers cost what was measured */
    uint64_t kernels_unknown_cost;        /* kernels that are in none of these: it cannot be stated */
    uint64_t kernels_most_cost;           /* of these, because it is more than half of them */
    bool instructions;                    /* of a chip: its cycles are instructions (tables.h) */
    dl_clock_note clocks[DL_CLOCK_NOTES]; /* of the first chips of captures; logs have none */
    uint32_t n_clocks;
} dl_losses;

void dl_losses_free(dl_losses *l);
/* Counts one skipped line. `where` is "file:line"; `text` is the beginning of the line, or NULL. */
void dl_losses_skip(dl_losses *l, dl_skip why, const char *where, const char *text, size_t n);
/* Counts `amount` of a finding; the detail is kept when there is room. */
void dl_losses_found(dl_losses *l, dl_finding what, uint64_t amount, const char *fmt, ...) DL_PRINTF(4, 5);
/* At the end: where no input has a row, one with nothing but its head has lost nothing beside others (its run may have launched
 * nothing). */
void dl_losses_alone(dl_losses *l);
/* An input that holds nothing at all. */
void dl_losses_empty(dl_losses *l, const char *name);
/* FORMAT or NOT_FOUND when not one row was read: it says why of `first`, the first of n inputs. */
devlog_status dl_losses_no_rows(const dl_losses *l, const char *first, size_t n, devlog_error *err);
/* Whether a detail of this kind would still be kept, so that callers need not make one in vain. */
bool dl_losses_wants_skip(const dl_losses *l, dl_skip why);
bool dl_losses_wants(const dl_losses *l, dl_finding what);
/* How many details of a kind are kept. */
uint32_t dl_losses_told(const dl_losses *l, dl_finding what);
/* Adds `from` to `to`, except for notes on clocks, and empties `from`. */
void dl_losses_merge(dl_losses *to, dl_losses *from);

uint64_t dl_losses_skipped(const dl_losses *l);
/* True when something that was in the input or on the device is not in the result. */
bool dl_losses_any(const dl_losses *l);
/* The same, or something was not as a kernel expects: what an exit status tells. */
bool dl_losses_or_violations(const dl_losses *l);

const char *dl_skip_text(dl_skip why);
const char *dl_finding_text(dl_finding what);
/* "unpaired_start" and so on: the key in machine-readable reports. */
const char *dl_skip_key(dl_skip why);
const char *dl_finding_key(dl_finding what);
/* Whether a finding means that something was lost, as opposed to repaired or merely noticed. */
bool dl_finding_is_loss(dl_finding what);

#endif
