/* The table of sequences in docs/simulator.md is what the simulator does, for both pipelines. What each
 * number comes from is in test_sim_cost.c and test_sim_cost_blackhole.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/device.h"
#include "support/files.h"
#include "support/sim_asm.h"
#include "support/sim_cost.h"

#define CODE(...) {__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4
#define USE(reg)  RV_ADDI(A7, reg, 1)

typedef struct row {
    const char *name;
    uint32_t code[16], n;
    uint32_t times; /* one instruction, so often .. */
    int32_t apart;  /* .. at addresses so far apart; 0: `code` as it is */
} row;

static uint32_t start_of_last(sim_cores cores, const row *r)
{
    uint32_t code[COST_MOST], at[COST_MOST], n = r->n, started = r->n;
    memcpy(code, r->code, n * sizeof code[0]);
    if (r->apart) {
        n = started = r->times;
        for (uint32_t i = 0; i < n; i++) {
            bool load = (r->code[0] & 0x7f) == 0x03;
            code[i] =
                load ? RV_LW(A2 + i % 4, T0, r->apart * (int32_t)i) : RV_SW(A0, T0, r->apart * (int32_t)i);
        }
    } else if (r->times) {
        started = r->times; /* a branch leaves something out */
    }
    cost_trace(cores, code, n, 100, 7, false, at, started);
    return at[started - 1];
}

/* A second load of 16 bytes that are there, from its start to what needs it. */
static uint32_t load_again(sim_cores cores)
{
    const uint32_t code[] = {RV_LW(A2, T0, 0), USE(A2), RV_LW(A3, T0, 4), USE(A3)};
    uint32_t at[4];
    cost_trace(cores, code, 4, 100, 7, false, at, 4);
    return at[3] - at[2];
}

static void documented(const char *text, const char *name, uint32_t wormhole, uint32_t blackhole)
{
    char line[200];
    snprintf(line, sizeof line, "\n| %s | %u | %u |\n", name, wormhole, blackhole);
    if (!strstr(text, line)) fail_msg("docs/simulator.md does not say:%s", line);
}

static void the_table(void **state)
{
    (void)state;
    const row rows[] = {
        {"four dependent additions",
         CODE(RV_ADDI(A2, A0, 1), RV_ADD(A2, A2, A2), RV_ADD(A2, A2, A2), USE(A2)), 0, 0},
        {"`mul`, then what does not need it", CODE(RV_MUL(A2, A0, A1), RV_NOP), 0, 0},
        {"`mul`, then what needs it", CODE(RV_MUL(A2, A0, A1), USE(A2)), 0, 0},
        {"load from L1, then what needs it", CODE(RV_LW(A2, T0, 0), USE(A2)), 0, 0},
        {"load from L1, an addition, one other instruction, then what needs the addition",
         CODE(RV_LW(A2, T0, 0), RV_ADDI(A3, A0, 1), RV_NOP, USE(A3)), 0, 0},
        {"load from L1, seven others, then what needs it",
         CODE(RV_LW(A2, T0, 0), RV_NOP, RV_NOP, RV_NOP, RV_NOP, RV_NOP, RV_NOP, RV_NOP, USE(A2)), 0, 0},
        {"12 loads from L1, each of other 16 bytes", CODE(RV_LW(A2, T0, 0)), 12, 16},
        {"12 stores of words to L1, adjacent", CODE(RV_SW(A0, T0, 0)), 12, 4},
        {"128 stores of words to L1, adjacent", CODE(RV_SW(A0, T0, 0)), 128, 4},
        {"100 stores of words to L1, 16 bytes apart", CODE(RV_SW(A0, T0, 0)), 100, 16},
        {"five stores to L1 that share nothing, then three others",
         CODE(RV_SW(A0, T0, 0), RV_SW(A0, T0, 16), RV_SW(A0, T0, 32), RV_SW(A0, T0, 48), RV_SW(A0, T0, 64),
              RV_NOP, RV_NOP, RV_NOP),
         0, 0},
        {"forward branch, taken for the first time, then its target", CODE(RV_BNE(A0, A1, 8), RV_NOP, RV_NOP),
         2, 0},
        {"`fence`, then another instruction", CODE(RV_FENCE, RV_NOP), 0, 0},
        {"load from L1, `fence`, then another instruction", CODE(RV_LW(A2, T0, 0), RV_FENCE, RV_NOP), 0, 0},
    };
    size_t size;
    char *text = read_bytes(source_path("docs/simulator.md"), &size);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        documented(text, rows[i].name, start_of_last(SIM_CORES_WORMHOLE, &rows[i]),
                   start_of_last(SIM_CORES_BLACKHOLE, &rows[i]));
    documented(text, "the same again, of the same 16 bytes", load_again(SIM_CORES_WORMHOLE),
               load_again(SIM_CORES_BLACKHOLE));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
