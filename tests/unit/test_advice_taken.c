/* Advice taken, by files: for each rule of tables/rules.json that an op report can fire, a report with the flaw, for which the rule fires;
 * the same run without it, for which no rule does; and `devlog diff`, which shows what is gained. Programs on the simulator:
 * tests/sim/test_advice_gain.c. Every rule must be in one of the two. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>
#include <math.h>

#include "base/paths.h"
#include "support/advised.h"
#include "support/cli.h"
#include "support/files.h"
#include "support/op_reports.h"

enum { MOST_ROWS = 6 };

typedef struct taken {
    const char *rule;
    const char *flawed[MOST_ROWS], *mended[MOST_ROWS]; /* rows behind a usual one; "" is another usual one */
    const char *total;                                 /* of the diff: what is less; NULL: see `same` */
    double least;                                      /* by how many per cent, at the least */
    const char *diff;                                  /* options */
    const char *same; /* it gains something else than time: this total is no more than before */
} taken;

#define KERNEL(ns)  "DEVICE KERNEL DURATION [ns]=" #ns
#define GAP(ns)     "OP TO OP LATENCY [ns]=" #ns
#define OTHER(...)  "OP CODE=Other|" __VA_ARGS__
#define BF8         "INPUT_0_DATATYPE=BFLOAT8_B|INPUT_1_DATATYPE=BFLOAT8_B|"
#define CONFIG(...) "ATTRIBUTES={'program_config': '" __VA_ARGS__ "'}"
#define CORES(max, avg)                                                                                      \
    "DEVICE KERNEL DURATION PER CORE MAX [ns]=" #max "|DEVICE KERNEL DURATION PER CORE AVG [ns]=" #avg "|"
#define NOC(bytes, transfers) "NOC BYTES=" #bytes "|NOC TRANSFERS=" #transfers "|"
#define WAITS                 "NOC READ WAIT [cycles]=500|NOC WRITE WAIT [cycles]=500|"
#define FIRST_ON_CHIP_1       "GLOBAL CALL COUNT=1|DEVICE ID=1"
#define ON_CHIP_1             "GLOBAL CALL COUNT=2|DEVICE ID=1|"
#define SHORT                 OTHER(CORES(2000, 2000) "DEVICE TRISC1 KERNEL DURATION [ns]=1900|")

static const char device[] = "time on the device", gaps[] = "gaps on the device", host[] = "host time in ops";

static const taken cases[] = {
    {"fallback",
     {"OP CODE=(torch) add|OP TYPE=python_fallback|HOST DURATION [ns]=90000|DEVICE FW DURATION [ns]=|"
      "DEVICE KERNEL DURATION [ns]=|OP TO OP LATENCY [ns]=|HOST START TS=3000|HOST END TS=93000",
      GAP(95000)},
     {OTHER(KERNEL(3000) "|" CORES(3000, 3000) "HOST START TS=3000|HOST END TS=4000|" GAP(200))},
     gaps,
     90,
     "",
     NULL},
    {"gap", {GAP(30000), GAP(25000)}, {GAP(2000), GAP(2000)}, gaps, 90, "", NULL},
    {"small_gap",
     {SHORT KERNEL(2000) "|" GAP(4000), SHORT KERNEL(2000) "|" GAP(4000), SHORT KERNEL(2000) "|" GAP(4000)},
     {OTHER(CORES(6000, 6000) KERNEL(6000) "|" GAP(500))},
     gaps,
     80,
     "",
     NULL},
    {"matmul_grid",
     {"CORE COUNT=32|" CORES(80000, 80000) KERNEL(80000)},
     {"CORE COUNT=64|" KERNEL(40960)},
     device,
     30,
     "",
     NULL},
    {"matmul_l1",
     {CORES(200000, 200000) "INPUT_0_MEMORY=DEV_0_DRAM_INTERLEAVED|" KERNEL(200000)},
     {KERNEL(42000)},
     device,
     50,
     "",
     NULL},
    {"matmul_no_config",
     {CORES(200000, 200000) CONFIG("std::nullopt") "|" KERNEL(200000)},
     {CONFIG("X(in0_block_w=4;out_subblock_h=2;out_subblock_w=2)") "|" KERNEL(42000)},
     device,
     50,
     "",
     NULL},
    {"matmul_in0_block_w",
     {CORES(200000, 200000) CONFIG("X(in0_block_w=1;out_subblock_h=2;out_subblock_w=2)") "|" KERNEL(200000)},
     {CONFIG("X(in0_block_w=2;out_subblock_h=2;out_subblock_w=2)") "|" KERNEL(42000)},
     device,
     50,
     "",
     NULL},
    {"matmul_subblock",
     {CORES(200000, 200000) CONFIG("X(in0_block_w=4;out_subblock_h=1;out_subblock_w=1)") "|" KERNEL(200000)},
     {CONFIG("X(in0_block_w=4;out_subblock_h=1;out_subblock_w=2)") "|" KERNEL(42000)},
     device,
     50,
     "",
     NULL},
    {"matmul_dram_sharded",
     {"DRAM BW UTIL (%)=80|" KERNEL(60000)},
     {"DRAM BW UTIL (%)=85|" CONFIG(
         "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=4)") "|" KERNEL(42000)},
     device,
     15,
     "",
     NULL},
    {"fidelity_high",
     {BF8 KERNEL(40960)},
     {BF8 "MATH FIDELITY=HiFi2|DEVICE TRISC1 KERNEL DURATION [ns]=19000|" CORES(20480, 20000) KERNEL(20480)},
     device,
     20,
     "",
     NULL},
    /* What it gains are bits of the result: it takes no longer. */
    {"fidelity_low",
     {CORES(200000, 200000) "MATH FIDELITY=HiFi2|DEVICE TRISC1 KERNEL DURATION [ns]=190000|" KERNEL(200000)},
     {CORES(200000, 200000) "DEVICE TRISC1 KERNEL DURATION [ns]=190000|" KERNEL(200000)},
     NULL,
     0,
     "",
     device},
    {"core_imbalance",
     {CORES(60000, 30000) KERNEL(60000)},
     {CORES(40960, 40000) KERNEL(40960)},
     device,
     15,
     "",
     NULL},
    {"straggler",
     {FIRST_ON_CHIP_1, "GLOBAL CALL COUNT=2|" CORES(25000, 25000) OTHER(KERNEL(25000)),
      ON_CHIP_1 CORES(57000, 57000) OTHER(KERNEL(57000))},
     {FIRST_ON_CHIP_1, "GLOBAL CALL COUNT=2|" CORES(41000, 41000) OTHER(KERNEL(41000)),
      ON_CHIP_1 CORES(41000, 41000) OTHER(KERNEL(41000))},
     "time on the busiest chip",
     15,
     "",
     NULL},
    {"risc_imbalance",
     {OTHER("DEVICE TRISC1 KERNEL DURATION [ns]=10000")},
     {OTHER("DEVICE BRISC KERNEL DURATION [ns]=14000|DEVICE NCRISC KERNEL DURATION [ns]=14000|"
            "DEVICE TRISC1 KERNEL DURATION [ns]=10000|" CORES(14000, 14000) KERNEL(14000))},
     device,
     25,
     "",
     NULL},
    {"launch",
     {SHORT KERNEL(2000) "|DEVICE FW DURATION [ns]=4000|" GAP(100),
      SHORT KERNEL(2000) "|DEVICE FW DURATION [ns]=4000|" GAP(100),
      SHORT KERNEL(2000) "|DEVICE FW DURATION [ns]=4000|" GAP(100)},
     {OTHER(CORES(6000, 6000) KERNEL(6000) "|DEVICE FW DURATION [ns]=8000|" GAP(100))},
     device,
     5,
     "--time fw",
     NULL},
    {"dispatch",
     {OTHER("DISPATCH TOTAL CQ CMD OP TIME [ns]=50000"), OTHER(GAP(8000))},
     {OTHER("DISPATCH TOTAL CQ CMD OP TIME [ns]=20000"), OTHER(GAP(500))},
     gaps,
     70,
     "",
     NULL},
    {"noc_congestion",
     {"NPE CONG IMPACT (%)=25|" KERNEL(52000)},
     {"NPE CONG IMPACT (%)=2|" KERNEL(42000)},
     device,
     10,
     "",
     NULL},
    {"l1_conflicts",
     {"L1 Unpacker Backpressure Avg (%)=4|L1 Packer Port Backpressure Avg (%)=40|" KERNEL(52000)},
     {"L1 Unpacker Backpressure Avg (%)=4|L1 Packer Port Backpressure Avg (%)=5|" KERNEL(42000)},
     device,
     10,
     "",
     NULL},
    {"late_unpack",
     {OTHER("DEVICE COMPUTE CB WAIT FRONT [ns]=30000|" KERNEL(60000))},
     {OTHER("DEVICE COMPUTE CB WAIT FRONT [ns]=3000|" KERNEL(40000))},
     device,
     15,
     "",
     NULL},
    {"noc_small",
     {OTHER(NOC(2048000, 32000) WAITS KERNEL(60000))},
     {OTHER(NOC(2048000, 1000) WAITS KERNEL(40000))},
     device,
     15,
     "",
     NULL},
    {"noc_one_link",
     {OTHER(NOC(2048000, 1000) "NOC BUSIEST LINK BYTES=1900000|" KERNEL(60000))},
     {OTHER(NOC(2048000, 1000) "NOC BUSIEST LINK BYTES=200000|" KERNEL(40000))},
     device,
     15,
     "",
     NULL},
    {"noc_one_sided",
     {OTHER(NOC(
         2048000,
         1000) "NOC READ BYTES=1024000|NOC WRITE BYTES=1024000|NOC 0 BYTES=2048000|NOC 1 BYTES=0|" KERNEL(60000))},
     {OTHER(NOC(2048000, 1000) "NOC READ BYTES=1024000|NOC WRITE BYTES=1024000|NOC 0 BYTES=1024000|NOC 1 "
                               "BYTES=1024000|" KERNEL(40000))},
     device,
     15,
     "",
     NULL},
    {"compile",
     {"CompileProgram_TT_HOST_FUNC [ns]=800000|HOST START TS=3000|HOST END TS=903000|HOST DURATION [ns]=900000"},
     {"CompileProgram_TT_HOST_FUNC [ns]=20|HOST START TS=3000|HOST END TS=103000|HOST DURATION [ns]=100000"},
     host,
     80,
     "",
     NULL},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static void write_report(const char *name, const char *const rows[MOST_ROWS])
{
    dl_str csv = {0};
    op_report_clock clock = {0};
    op_report_begin(&csv);
    op_report_add(&csv, &clock, "", 1);
    for (unsigned i = 0; i < MOST_ROWS && rows[i]; i++)
        op_report_add(&csv, &clock, rows[i], i + 2);
    write_bytes(in_scratch(name), csv.text, csv.len);
    dl_str_free(&csv);
}

/* The rules that fire for a report, as CSV: a line of columns, and one for each. */
static char *advice_of(const char *name)
{
    char line[300];
    snprintf(line, sizeof line, "report --format csv --tables advice %s", name);
    return devlog_ok(line, 0);
}

/* What the diff says of a total, before and after. */
static void totals(const char *options, const char *total, double out[2])
{
    char line[300];
    snprintf(line, sizeof line, "diff --exact %s --format json flawed.csv mended.csv", options);
    char *text = devlog_ok(line, 0);
    cJSON *json = cJSON_Parse(text);
    const cJSON *one;
    out[0] = out[1] = NAN;
    cJSON_ArrayForEach(one, cJSON_GetObjectItem(json, "lines"))
    {
        if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(one, "name")), total) != 0) continue;
        out[0] = cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(one, "old"), "per_run"));
        out[1] = cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(one, "new"), "per_run"));
    }
    cJSON_Delete(json);
    free(text);
}

static void advice_that_is_taken_gains(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        const taken *c = &cases[i];
        double of[2];
        char fired[64];
        write_report("flawed.csv", c->flawed);
        write_report("mended.csv", c->mended);
        snprintf(fired, sizeof fired, "\n%s,", c->rule);
        char *before = advice_of("flawed.csv"), *after = advice_of("mended.csv");
        if (!strstr(before, fired)) fail_msg("%s does not fire where the flaw is, but\n%s", c->rule, before);
        if (strchr(after, '\n')[1]) fail_msg("where %s is mended, this fires:\n%s", c->rule, after);
        totals(c->diff, c->total ? c->total : c->same, of);
        const double won = 100 * (1 - of[1] / of[0]);
        print_message("%-20s %s: %.1f %% less\n", c->rule, c->total ? c->total : c->same, won);
        if (!(won >= c->least)) fail_msg("%s: %.1f %% less, not %.0f %%", c->rule, won, c->least);
        free(before);
        free(after);
    }
}

/* Every rule of the file has a case in which its advice is taken. */
static void no_rule_is_without_a_gain(void **state)
{
    (void)state;
    char path[600];
    size_t size;
    snprintf(path, sizeof path, "%s/tables/rules.json", dl_home());
    char *text = read_bytes(path, &size);
    cJSON *json = cJSON_Parse(text);
    const cJSON *rule;
    cJSON_ArrayForEach(rule, cJSON_GetObjectItem(json, "rules"))
    {
        const char *id = cJSON_GetObjectItem(rule, "id")->valuestring;
        bool taken_here = false, on_simulator = false;
        for (size_t i = 0; i < CASES; i++)
            taken_here |= strcmp(cases[i].rule, id) == 0;
        for (size_t i = 0; i < ADVISED_ON_SIMULATOR; i++)
            on_simulator |= strcmp(advised_on_simulator[i], id) == 0;
        if (!taken_here && !on_simulator) fail_msg("of the rule %s no test shows what it gains", id);
    }
    cJSON_Delete(json);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(advice_that_is_taken_gains),
        cmocka_unit_test(no_rule_is_without_a_gain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
