/* A simulated chip for tests: a Wormhole without its board file, and what tests do with it all the time.
 * What it is not: a board that devlog ships; the numbers are those of the public documents. */
#ifndef DEVLOG_TESTS_SUPPORT_SIM_RIG_H
#define DEVLOG_TESTS_SUPPORT_SIM_RIG_H

#include "sim/sim.h"

#define RIG_LOCAL         0xFFB00000u
#define RIG_SOFT_RESET    0xFFB121B0u
#define RIG_CLOCK         0xFFB121F0u
#define RIG_TIMESTAMP     0xFFB121FCu
#define RIG_ICACHE        0xFFEF0274u
#define RIG_NOC0          0xFFB20000u
#define RIG_NOC1          0xFFB30000u
#define RIG_RESET_ALL     0x47800u
#define RIG_L1_SIZE       (1464u * 1024)
#define RIG_TRUTH         0x4000u
#define RIG_TRUTH_SIZE    0x1000u
#define RIG_BAR0          UINT64_C(0x100000000)
#define RIG_WINDOW_CONFIG UINT64_C(0x1FC00000)

enum rig_hart { BRISC, TRISC0, TRISC1, TRISC2, NCRISC };

/* A 10x12 grid with compute tiles at (1..4, 1..4) and DRAM tiles at (0,0) and (5,0); tile 0 is (1,1). */
sim_config rig_config(void);
sim *rig_create(const sim_config *config);

/* Reset pc of a hart in rig_config. */
uint32_t rig_pc(enum rig_hart hart);
/* Writes code to where a hart starts. */
void rig_load(sim *s, uint32_t tile, enum rig_hart hart, const uint32_t *code, uint32_t n_words);
/* Takes the harts in `mask` (bits of enum rig_hart) out of reset, holds the others. */
void rig_release(sim *s, uint32_t tile, uint32_t mask);

uint32_t rig_word(sim *s, uint32_t tile, uint32_t addr);
void rig_put(sim *s, uint32_t tile, uint32_t addr, uint32_t value);
uint32_t rig_x(sim *s, uint32_t tile, enum rig_hart hart, uint32_t reg);

/* Runs `code` on BRISC of tile 0 for `cycles` and fails the test if it is refused. */
void rig_run(sim *s, const uint32_t *code, uint32_t n_words, uint32_t cycles);
#define RIG_RUN(s, cycles, ...)                                                                              \
    do {                                                                                                     \
        const uint32_t rig_code_[] = {__VA_ARGS__};                                                          \
        rig_run(s, rig_code_, sizeof rig_code_ / 4, cycles);                                                 \
    } while (0)
#define RIG_LOAD(s, tile, hart, ...)                                                                         \
    do {                                                                                                     \
        const uint32_t rig_code_[] = {__VA_ARGS__};                                                          \
        rig_load(s, tile, hart, rig_code_, sizeof rig_code_ / 4);                                            \
    } while (0)

#endif
