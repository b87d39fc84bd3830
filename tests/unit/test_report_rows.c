/* A report of an op report whose rows come in any order, and say the same of the host more than once: ops on two chips, each with
 * its own time on the host, and a trace that was captured once and replayed. Its figures are those by hand. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "support/cli.h"
#include "support/device.h"
#include "support/files.h"

typedef struct op {
    const char *code;
    unsigned id, chip;           /* as tt-metal gives them, with the chip in the last ten bits */
    int session;                 /* of a replay; 0: none */
    unsigned start, ns, compile; /* on the host; compile 0: it was not compiled */
    unsigned gap, cores;
    unsigned fw_start, fw; /* cycles, at 1,000 MHz; fw 0: it did not run */
} op;

static const op ops[] = {
    {"Matmul", 1 << 10 | 0, 0, 0, 1000, 500, 0, 0, 32, 10000, 2000},
    {"Matmul", 1 << 10 | 1, 1, 0, 2000, 700, 300, 70000, 32, 80000, 1000},
    {"Add", 2 << 10 | 0, 0, 0, 3000, 400, 0, 20000, 16, 32000, 1000},
    {"Add", 2 << 10 | 1, 1, 0, 4000, 600, 0, 3000, 16, 84000, 3000},
    {"Softmax", 3 << 10 | 0, 0, 0, 5000, 900, 800, 0, 64, 0, 0}, /* captured */
    {"Softmax", 3 << 10 | 0, 0, 1, 5000, 900, 800, 30000, 64, 63000, 4000},
    {"Add", 4 << 10 | 0, 0, 0, 7000, 400, 0, 1000, 48, 68000, 2000},
    {"Softmax", 3 << 10 | 0, 0, 2, 5000, 900, 800, 40000, 64, 110000, 4000},
};
enum { OPS = sizeof ops / sizeof ops[0] };

static void write_report(const unsigned *order)
{
    dl_str out = {0};
    dl_str_add(
        &out,
        "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,METAL TRACE ID,METAL TRACE REPLAY SESSION ID,HOST START "
        "TS,HOST END TS,HOST DURATION [ns],OP TO OP LATENCY [ns],CORE COUNT,AVAILABLE WORKER CORE "
        "COUNT,DEVICE FW START CYCLE,DEVICE FW END CYCLE,DEVICE FW DURATION [ns],DEVICE KERNEL DURATION "
        "[ns],CompileProgram_TT_HOST_FUNC [ns]\n");
    for (unsigned i = 0; i < OPS; i++) {
        const op *o = &ops[order[i]];
        dl_str_fmt(&out, "%s,tt_dnn_device,%u,%u,", o->code, o->id, o->chip);
        if (o->session) dl_str_fmt(&out, "0,%d", o->session);
        dl_str_fmt(&out, "%s,%u,%u,%u,", o->session ? "" : ",", o->start, o->start + o->ns, o->ns);
        if (o->fw)
            dl_str_fmt(&out, "%u,%u,64,%u,%u,%u,%u,", o->gap, o->cores, o->fw_start, o->fw_start + o->fw,
                       o->fw, o->fw);
        else
            dl_str_add(&out, ",,,,,,,");
        if (o->compile) dl_str_fmt(&out, "%u", o->compile);
        dl_str_char(&out, '\n');
    }
    write_text(in_scratch("rows.csv"), out.text);
    dl_str_free(&out);
}

static const cJSON *section(const cJSON *json, const char *name, const char *part)
{
    return cJSON_GetObjectItem(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "sections"), name), part);
}

static double fact(const cJSON *json, const char *name)
{
    return cJSON_GetObjectItem(cJSON_GetObjectItem(section(json, "verdict", "facts"), name), "value")
        ->valuedouble;
}

/* What `column` says in the row in which `key` is `name`. */
static const cJSON *cell(const cJSON *json, const char *table, const char *key, const char *name,
                         const char *column)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, section(json, table, "rows"))
    {
        const cJSON *of = cJSON_GetObjectItem(row, key);
        if (cJSON_IsString(of) && strcmp(of->valuestring, name) == 0) return cJSON_GetObjectItem(row, column);
    }
    fail_msg("no %s in %s", name, table);
    return NULL;
}

static void figures_are_those_by_hand(void **state)
{
    (void)state;
    static const unsigned orders[][OPS] = {
        {0, 1, 2, 3, 4, 5, 6, 7}, /* as it ran */
        {7, 6, 5, 4, 3, 2, 1, 0},
        {1, 3, 0, 2, 6, 4, 5, 7}, /* chip by chip */
        {5, 2, 7, 0, 4, 1, 6, 3},
    };
    char *first = NULL;
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        write_report(orders[i]);
        char *text = devlog_ok("report --format json rows.csv", 0);
        cJSON *json = cJSON_Parse(text);
        assert_non_null(json);
        /* The capture's call and compilation are in a row for each replay; chips' calls of one op are two. */
        assert_true(fact(json, "host_time") == 500 + 700 + 400 + 600 + 900 + 400);
        assert_true(fact(json, "compile_time") == 300 + 800);
        assert_true(cell(json, "op_statistics", "op", "Matmul", "host")->valuedouble == 500 + 700);
        assert_true(cell(json, "op_statistics", "op", "Softmax", "host")->valuedouble == 900);
        /* 30,000 and 40,000 less the 6,000 that a launch takes; before the first Add it is that of chip 1, which took longer. The
         * first of each chip had none before it, and replays did not wait for the compiler. */
        assert_true(cell(json, "savings", "kind", "gaps", "saving")->valuedouble == 24000 + 34000);
        const char *cores = cell(json, "savings", "kind", "unused_cores", "evidence")->valuestring;
        if (!strstr(cores, "2 ops ran on fewer cores than there are (16 to 48 of 64)")) fail_msg("%s", cores);
        cJSON_Delete(json);
        if (!first) {
            first = text;
            continue;
        }
        assert_string_equal(text, first);
        free(text);
    }
    free(first);
}

/* Chip by chip: the row of an op's slowest chip stands behind those of other ops. Each op counts where that row stands. */
static void signposts_have_their_ops(void **state)
{
    (void)state;
    static const char rows[] =
        "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,HOST START TS,HOST END TS,HOST DURATION [ns],DEVICE KERNEL DURATION [ns]\n"
        "A,tt_dnn_device,1024,0,1000,1100,100,10\n"
        "B,tt_dnn_device,2048,0,2000,2100,100,20\n"
        "half,signpost,,,2500,,,\n"
        "A,tt_dnn_device,1025,1,3000,3100,100,400\n"
        "B,tt_dnn_device,2049,1,4000,4100,100,8\n"
        "end,signpost,,,4500,,,\n"
        "C,tt_dnn_device,3072,0,5000,5100,100,1000\n"
        "C,tt_dnn_device,3073,1,6000,6100,100,3000\n";
    write_text(in_scratch("points.csv"), rows);
    char *text = devlog_ok("report --format csv --tables signposts points.csv", 0);
    if (!strstr(text, "\nhalf,1,400,") || !strstr(text, "\nend,1,3000,")) fail_msg("%s", text);
    free(text);
}

/* A captured op ran when it was replayed, and not on the host; one whose device data are missing did not run on the host either. */
static void captured_ops_ran_when_replayed(void **state)
{
    (void)state;
    dl_str out = {0};
    dl_str_add(
        &out,
        "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,METAL TRACE REPLAY SESSION ID,HOST START TS,HOST END "
        "TS,HOST DURATION [ns],DEVICE KERNEL DURATION [ns]");
    static const char *const tensors[] = {"INPUT_0", "INPUT_1", "OUTPUT_0"};
    for (size_t i = 0; i < 3; i++)
        for (const char *axis = "WZYX"; *axis; axis++)
            dl_str_fmt(&out, ",%s_%c_PAD[LOGICAL]", tensors[i], *axis);
    static const char *const rows[] = {
        "Matmul,tt_dnn_device,1024,0,,1000,1900,900,",
        "Matmul,tt_dnn_device,1024,0,1,1000,1900,900,5000",
        "Matmul,tt_dnn_device,1024,0,2,1000,1900,900,5000",
        "Matmul,tt_dnn_device,2048,0,,3000,3100,100,",
        "(torch) add,python_fallback,2147483650,,,4000,4050,50,",
        "Add,tt_dnn_device,4096,0,,5000,5100,100,700",
        "Add,tt_dnn_device,4096,1,,5000,5100,100,", /* the same op, on a chip of which it is missing */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        dl_str_fmt(&out, "\n%s%s", rows[i],
                   i < 3 ? ",1,1,32[32],64[64],1,1,64[64],32[32],1,1,32[32],32[32]" : ",,,,,,,,,,,,");
    dl_str_char(&out, '\n');
    write_text(in_scratch("trace.csv"), out.text);
    write_text(
        in_scratch("counts.json"),
        "{\"version\":1,\"indicators\":[{\"id\":\"timeless\",\"title\":\"no data\",\"unit\":\"count\","
        "\"value\":\"run.timeless\",\"good\":\"run.timeless == 0\",\"warning\":\"run.timeless < 9\",\"means\":\"m\",\"do\":\"d\"},"
        "{\"id\":\"host_ops\",\"title\":\"on host\",\"unit\":\"count\",\"value\":\"run.host_ops\",\"good\":\"run.host_ops == "
        "0\",\"warning\":\"run.host_ops < 9\",\"means\":\"m\",\"do\":\"d\"}]}");
    char *text = devlog_ok("report --format json --thresholds counts.json trace.csv", 0);
    cJSON *json = cJSON_Parse(text);
    const cJSON *flops = cJSON_GetObjectItem(section(json, "summary", "facts"), "flops");
    assert_true(cJSON_GetObjectItem(flops, "value")->valuedouble == 2 * 2.0 * 32 * 64 * 32);
    assert_true(cell(json, "indicators", "indicator", "timeless", "value")->valuedouble == 2);
    assert_true(cell(json, "indicators", "indicator", "host_ops", "value")->valuedouble == 1);
    cJSON_Delete(json);
    free(text);
    dl_str_free(&out);
    text = devlog_ok("report --format csv --tables indicators trace.csv", 0);
    assert_non_null(
        strstr(text, "\ntimeless,without device data,66.6")); /* two, beside two replays and one */
    free(text);
}

/* An op report is known by its first line, wherever in it the code of ops stands. */
static void columns_in_any_place(void **state)
{
    (void)state;
    dl_str out = {0};
    for (int i = 0; i < 400; i++)
        dl_str_fmt(&out, "A NOTE OF OURS %d,", i);
    dl_str_add(&out, "DEVICE KERNEL DURATION [ns],OP CODE\n");
    for (int i = 0; i < 400; i++)
        dl_str_char(&out, ',');
    dl_str_add(&out, "1234,Matmul\n");
    write_text(in_scratch("wide.csv"), out.text);
    dl_str_free(&out);
    char *text = devlog_ok("report --format csv wide.csv", 0);
    assert_non_null(strstr(text, "Matmul,device,1,1234,1234,"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_by_hand),
        cmocka_unit_test(signposts_have_their_ops),
        cmocka_unit_test(captured_ops_ran_when_replayed),
        cmocka_unit_test(columns_in_any_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
