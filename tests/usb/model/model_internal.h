/* The inside of the device model. */
#ifndef DEVLOG_TESTS_USB_MODEL_INTERNAL_H
#define DEVLOG_TESTS_USB_MODEL_INTERNAL_H

#include "usb/model/model.h"

enum { MODEL_PROGBUF_MAX = 16, MODEL_TAPS_MAX = 2 };

/* The debug module. */
typedef struct model_dm {
    bool active;
    uint32_t hart; /* selected */
    bool resumeack[SIM_MAX_HARTS], havereset[SIM_MAX_HARTS];
    uint32_t dcsr[SIM_MAX_HARTS];
    uint32_t data[2], progbuf[MODEL_PROGBUF_MAX], autoexec, cmderr;
    uint32_t command;
    /* sbcs */
    bool readonaddr, readondata, autoincrement, busyerror;
    uint32_t access, error, address, sbdata;
    uint64_t busy_until; /* in clocks of JTAG */
    bool fail_next, busy_next;
    uint64_t reads, writes;
} model_dm;

typedef struct model_tap {
    uint32_t idcode, ir_bits, ir;
    uint64_t shift;
    uint32_t shift_bits;
    bool debug; /* has the debug transport */
} model_tap;

typedef struct model_jtag {
    uint8_t state;
    uint32_t n_taps;
    model_tap taps[MODEL_TAPS_MAX]; /* nearest to TDO first */
    uint64_t clocks, ready_at;      /* when the debug transport can take the next access */
    uint64_t answer;                /* what dmi shows */
    bool sticky_busy, busy_next;
    uint32_t extra; /* idle clocks needed beyond those of the options */
} model_jtag;

struct model {
    model_options options;
    sim *s;
    uint32_t tile, n_harts;
    bool starts_alone[SIM_MAX_HARTS]; /* there is no bit that holds it in reset */
    uint32_t mhz;
    uint64_t pending; /* cycles that the tile has yet to do */
    uint64_t started_ns, skipped;
    model_dm dm;
    model_jtag jtag;
    uint64_t packets, fault_at;
    model_fault fault;
    bool happened, repeats;
};

/* Lets the tile do the cycles that JTAG's clocks have let pass. */
void model_run(model *m);

uint32_t model_dm_read(model *m, uint32_t address);
void model_dm_write(model *m, uint32_t address, uint32_t value);
void model_dm_reset(model *m);

void model_jtag_init(model *m);
/* One clock of JTAG; returns TDO. */
bool model_jtag_clock(model *m, bool tms, bool tdi);

#endif
