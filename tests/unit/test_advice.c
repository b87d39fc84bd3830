/* Advice and indicators: each rule of tables/rules.json fires for a report with the flaw and not for the same one without
 * it; grades change at their thresholds; and a wrong file of rules or thresholds is told with file, line and cure. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

#include "answers/run_facts.h"
#include "answers/sections.h"
#include "base/paths.h"
#include "support/cli.h"
#include "support/files.h"
#include "support/op_reports.h"

typedef struct made {
    op_table table;
    answer_run run;
    flops_peaks peaks;
    rules *rules;
    answer a;
} made;

static void check(devlog_status status, const devlog_error *err)
{
    if (status) fail_msg("%s", err->text);
}

/* The answer for a usual op, and one or two others behind it; "" is another usual one. */
static void make(made *m, const char *first, const char *second)
{
    dl_str csv = {0};
    devlog_error err = {0};
    const op_selection all = {0};
    const answer_run_options o = {.selection = &all};
    op_report_clock clock = {0};
    op_report_begin(&csv);
    op_report_add(&csv, &clock, "", 1);
    op_report_add(&csv, &clock, first, 2);
    if (second) op_report_add(&csv, &clock, second, 2);
    memset(m, 0, sizeof *m);
    check(op_table_parse_wide(&m->table, "made.csv", csv.text, csv.len, &err), &err);
    check(answer_run_make(&m->run, &m->table, &o, &err), &err);
    check(flops_apply(&m->run, &(flops_options){0}, &m->peaks, &err), &err);
    check(rules_read(&m->rules, NULL, NULL, &err), &err);
    const answer_wishes w = {.peaks = &m->peaks, .rules = m->rules};
    check(answer_make(&m->a, &m->run, &w, &err), &err);
    dl_str_free(&csv);
}

static void drop(made *m)
{
    answer_free(&m->a);
    rules_free(m->rules);
    answer_run_free(&m->run);
    op_table_free(&m->table);
}

/* The row of ADVICE with this rule; -1: it did not fire. */
static int row_of(const answer *a, const char *rule)
{
    const answer_section *s = answer_find(a, "advice");
    assert_non_null(s);
    for (size_t i = 0; i < answer_rows(s); i++)
        if (strcmp(s->cells[i * s->n_columns].text, rule) == 0) return (int)i;
    return -1;
}

static const struct {
    const char *rule, *fires, *does_not;
    double saving; /* of what fires; 0: unknown */
} cases[] = {
    {"fallback",
     "OP CODE=(torch) add|OP TYPE=python_fallback|DEVICE FW DURATION [ns]=|DEVICE KERNEL DURATION [ns]=|OP TO OP LATENCY [ns]=",
     "OP CODE=(torch) add|DEVICE FW DURATION [ns]=|DEVICE KERNEL DURATION [ns]=|OP TO OP LATENCY [ns]=",
     1000},
    {"gap", "OP TO OP LATENCY [ns]=9000", "OP TO OP LATENCY [ns]=6500", 3000},
    {"small_gap", "OP TO OP LATENCY [ns]=6500", "OP TO OP LATENCY [ns]=4096", 6500},
    {"matmul_grid", "CORE COUNT=32|DEVICE KERNEL DURATION [ns]=80000|DEVICE FW DURATION [ns]=81000", "",
     40000},
    {"matmul_l1", "DEVICE KERNEL DURATION [ns]=200000|INPUT_0_MEMORY=DEV_0_DRAM_INTERLEAVED",
     "DEVICE KERNEL DURATION [ns]=200000", 0},
    {"matmul_no_config", "DEVICE KERNEL DURATION [ns]=200000|ATTRIBUTES={'program_config': 'std::nullopt'}",
     "DEVICE KERNEL DURATION [ns]=200000", 0},
    {"matmul_in0_block_w",
     "DEVICE KERNEL DURATION [ns]=200000|ATTRIBUTES={'program_config': 'X(in0_block_w=1)'}",
     "DEVICE KERNEL DURATION [ns]=200000|ATTRIBUTES={'program_config': 'X(in0_block_w=2)'}", 0},
    {"matmul_subblock",
     "DEVICE KERNEL DURATION [ns]=200000|ATTRIBUTES={'program_config': 'X(out_subblock_h=1;out_subblock_w=1)'}",
     "DEVICE KERNEL DURATION [ns]=200000|ATTRIBUTES={'program_config': 'X(out_subblock_h=1;out_subblock_w=2)'}",
     0},
    {"matmul_dram_sharded", "DRAM BW UTIL (%)=80",
     "DRAM BW UTIL (%)=80|ATTRIBUTES={'program_config': 'MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=4)'}",
     0},
    {"fidelity_high", "INPUT_0_DATATYPE=BFLOAT8_B|INPUT_1_DATATYPE=BFLOAT8_B",
     "INPUT_0_DATATYPE=BFLOAT8_B|INPUT_1_DATATYPE=BFLOAT8_B|MATH FIDELITY=HiFi2", 0},
    {"fidelity_low", "DEVICE KERNEL DURATION [ns]=200000|MATH FIDELITY=HiFi2",
     "DEVICE KERNEL DURATION [ns]=200000", 0},
    {"core_imbalance", "DEVICE KERNEL DURATION PER CORE AVG [ns]=30000",
     "DEVICE KERNEL DURATION PER CORE AVG [ns]=33000", 10960},
    {"risc_imbalance", "DEVICE TRISC1 KERNEL DURATION [ns]=10000", "DEVICE TRISC1 KERNEL DURATION [ns]=21000",
     30960},
    {"launch", "OP CODE=Other|DEVICE FW DURATION [ns]=100000", "OP CODE=Other|DEVICE FW DURATION [ns]=60000",
     59040},
    {"dispatch", "OP CODE=Other|DISPATCH TOTAL CQ CMD OP TIME [ns]=50000",
     "OP CODE=Other|DISPATCH TOTAL CQ CMD OP TIME [ns]=40000", 8000},
    {"l1_conflicts", "L1 Unpacker Backpressure Avg (%)=31.5",
     "L1 Unpacker Backpressure Avg (%)=24|L1 Packer Port Backpressure Avg (%)=3", 0},
    {"noc_congestion", "NPE CONG IMPACT (%)=25", "NPE CONG IMPACT (%)=9.9", 10240},
    {"late_unpack", "DEVICE COMPUTE CB WAIT FRONT [ns]=20000", "DEVICE COMPUTE CB WAIT FRONT [ns]=10000",
     20000},
    {"noc_small", "NOC BYTES=64000|NOC TRANSFERS=1000|NOC READ WAIT [cycles]=500|NOC WRITE WAIT [cycles]=0",
     "NOC BYTES=2048000|NOC TRANSFERS=1000|NOC READ WAIT [cycles]=500|NOC WRITE WAIT [cycles]=0", 0},
    {"noc_one_link", "NOC BYTES=2048000|NOC TRANSFERS=1000|NOC BUSIEST LINK BYTES=1500000",
     "NOC BYTES=2048000|NOC TRANSFERS=1000|NOC BUSIEST LINK BYTES=500000", 0},
    {"noc_one_sided",
     "NOC BYTES=2048000|NOC TRANSFERS=1000|NOC READ BYTES=1024000|NOC WRITE BYTES=1024000|NOC 0 BYTES=2048000|NOC 1 BYTES=0",
     "NOC BYTES=2048000|NOC TRANSFERS=1000|NOC READ BYTES=1024000|NOC WRITE BYTES=1024000|NOC 0 BYTES=1024000|NOC 1 BYTES=1024000",
     0},
    {"compile", "CompileProgram_TT_HOST_FUNC [ns]=500", "CompileProgram_TT_HOST_FUNC [ns]=20", 500},
};

static void each_rule_fires_and_does_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        made m;
        make(&m, cases[i].fires, NULL);
        const int row = row_of(&m.a, cases[i].rule);
        if (row < 0) fail_msg("%s does not fire", cases[i].rule);
        const answer_section *s = answer_find(&m.a, "advice");
        const answer_cell *cells = &s->cells[(size_t)row * s->n_columns];
        if (cases[i].saving > 0 ? !cells[3].known || fabs(cells[3].number - cases[i].saving) > 1e-6
                                : cells[3].known)
            fail_msg("%s saves %f", cases[i].rule, cells[3].known ? cells[3].number : NAN);
        for (size_t k = 7; k < s->n_columns; k++)
            assert_true(cells[k].known && *cells[k].text);
        drop(&m);
        make(&m, cases[i].does_not, NULL);
        if (row_of(&m.a, cases[i].rule) >= 0) fail_msg("%s fires where it should not", cases[i].rule);
        drop(&m);
    }
}

/* An op of torch's name with device data ran there, whatever its type is. */
static void an_op_on_the_device_is_no_fallback(void **state)
{
    (void)state;
    static const char *const ops[] = {"OP CODE=(torch) add", "OP CODE=(torch) add|OP TYPE=python_fallback"};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        made m;
        make(&m, ops[i], NULL);
        assert_true(row_of(&m.a, "fallback") < 0);
        drop(&m);
    }
}

static void nothing_is_advised_where_nothing_is_wrong(void **state)
{
    (void)state;
    made m;
    make(&m, "", NULL);
    assert_int_equal(answer_rows(answer_find(&m.a, "advice")), 0);
    drop(&m);
}

/* Two chips, of which one is slower: the op's rows have the same id. */
static void a_chip_that_is_slower(void **state)
{
    (void)state;
    made m;
    make(&m, "", "DEVICE ID=1|DEVICE KERNEL DURATION [ns]=60000|DEVICE FW DURATION [ns]=61000");
    assert_true(row_of(&m.a, "straggler") >= 0);
    drop(&m);
    make(&m, "", "DEVICE ID=1");
    assert_true(row_of(&m.a, "straggler") < 0);
    drop(&m);
}

/* Every rule of the file is in the table above, or in a test of its own. */
static void no_rule_is_without_a_test(void **state)
{
    (void)state;
    static const char *const elsewhere[] = {
        "straggler",        "markers",         "stream_stalls",      "lost",         "unpack_waits",
        "transfers_uneven", "transfers_small", "transfers_one_tile", "dram_one_bank"};
    char path[600];
    size_t size;
    snprintf(path, sizeof path, "%s/tables/rules.json", dl_home());
    char *text = read_bytes(path, &size);
    cJSON *json = cJSON_Parse(text);
    const cJSON *rule;
    cJSON_ArrayForEach(rule, cJSON_GetObjectItem(json, "rules"))
    {
        const char *id = cJSON_GetObjectItem(rule, "id")->valuestring;
        bool tested = false;
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            tested |= strcmp(cases[i].rule, id) == 0;
        for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++)
            tested |= strcmp(elsewhere[i], id) == 0;
        if (!tested) fail_msg("the rule %s has no test", id);
    }
    cJSON_Delete(json);
    free(text);
}

static const char *grade_of(const answer *a, const char *indicator)
{
    const answer_section *s = answer_find(a, "indicators");
    for (size_t i = 0; s && i < answer_rows(s); i++)
        if (strcmp(s->cells[i * s->n_columns].text, indicator) == 0)
            return s->cells[i * s->n_columns + 4].text;
    return "";
}

/* Of several chips the worst clock counts, whichever comes last, and one that was not measured is none. */
static void the_worst_clock_counts(void **state)
{
    (void)state;
    static const double errors[][2] = {{300, 5}, {5, 300}, {300, NAN}, {NAN, 300}};
    made m;
    make(&m, "DEVICE ID=1", NULL);
    assert_int_equal(m.run.n_chips, 2);
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        run_facts f;
        for (size_t k = 0; k < 2; k++)
            m.run.chips[k].core_error_cycles = errors[i][k];
        run_facts_of(&f, &m.run);
        assert_true(f.values[RUN_CLOCK_ERROR] == 300);
    }
    drop(&m);
}

static void indicators_have_grades(void **state)
{
    (void)state;
    made m;
    make(&m, "CompileProgram_TT_HOST_FUNC [ns]=500", NULL);
    assert_string_equal(grade_of(&m.a, "gaps"), "good");
    assert_string_equal(grade_of(&m.a, "compile"), "bad");
    assert_string_equal(grade_of(&m.a, "host_ops"), "good");
    assert_string_equal(grade_of(&m.a, "markers"), ""); /* a report does not say it */
    drop(&m);
    make(&m, "OP TO OP LATENCY [ns]=30000|CompileProgram_TT_HOST_FUNC [ns]=50", NULL);
    assert_string_equal(grade_of(&m.a, "gaps"), "warning");
    assert_string_equal(grade_of(&m.a, "compile"), "warning");
    drop(&m);
}

static void fails_with(const char *rules_text, const char *thresholds_text, const char *says)
{
    devlog_error err = {0};
    rules *r = NULL;
    if (rules_text) write_text(in_scratch("rules.json"), rules_text);
    if (thresholds_text) write_text(in_scratch("thresholds.json"), thresholds_text);
    char path[600], other[600];
    snprintf(path, sizeof path, "%s", in_scratch("rules.json"));
    snprintf(other, sizeof other, "%s", in_scratch("thresholds.json"));
    devlog_status status = rules_read(&r, rules_text ? path : NULL, thresholds_text ? other : NULL, &err);
    rules_free(r);
    assert_int_equal(status, DEVLOG_ERR_FORMAT);
    if (!strstr(err.text, says)) fail_msg("%s\nhas no: %s", err.text, says);
}

#define RULE(more)                                                                                             \
    "{\"version\": 1, \"rules\": [\n{\"id\": \"mine\", \"title\": \"t\", \"means\": \"m\", \"do\": \"d\"" more \
    "}]}"

static void wrong_files_say_where_and_how(void **state)
{
    (void)state;
    fails_with("{\n\"version\": 1,\n\"rules\": [}", NULL, "rules.json:3: it is no JSON object");
    fails_with("[]", NULL, "it is no JSON object");
    fails_with("{\"version\": 2}", NULL, "\"version\" must be 1");
    fails_with("{\"version\": 1}", NULL, "\"rules\" is no list");
    fails_with(RULE(""), NULL, "rules.json:2: \"of\" is missing");
    fails_with(RULE(", \"of\": \"chip\""), NULL, "rules.json:2: \"of\" is \"op\" or \"run\", not \"chip\"");
    fails_with(RULE(", \"of\": \"op\""), NULL, "rules.json:2: \"when\" is missing");
    fails_with(RULE(",\n\"of\": \"op\",\n\"when\": \"gab > 3\""), NULL,
               "rules.json:4: \"when\" of \"mine\": character 1: there is no fact of this name");
    fails_with(RULE(", \"of\": \"op\", \"when\": \"gap > \""), NULL,
               "character 7: the formula ends too early");
    fails_with(RULE(", \"of\": \"run\", \"when\": \"gap > 3\""), NULL, "there is no fact of this name");
    fails_with(RULE(", \"of\": \"op\", \"when\": \"gap > 3\", \"show\": [\"no\"]"), NULL,
               "\"show\": character 1");
    fails_with(
        RULE(
            ", \"of\": \"op\", \"when\": \"1\"},\n{\"id\": \"mine\", \"title\": \"t\", \"means\": \"m\", \"do\": \"d\""),
        NULL, "two rules have the id \"mine\"");
    fails_with(
        NULL,
        "{\"version\": 1, \"indicators\": [\n{\"id\": \"i\", \"title\": \"t\", \"means\": \"m\", \"do\": \"d\", \"unit\": \"s\"}]}",
        "thresholds.json:2: \"unit\" is percent, ratio, count, cycles or ns, not \"s\"");
    fails_with(
        NULL,
        "{\"version\": 1, \"indicators\": [\n{\"id\": \"i\", \"title\": \"t\", \"means\": \"m\", \"do\": \"d\", \"unit\": \"ns\", \"value\": \"time\"}]}",
        "there is no fact of this name");
    char line[700];
    write_text(in_scratch("rules.json"), "{\"version\": 2}");
    write_text(in_scratch("r.csv"), "OP CODE,DEVICE KERNEL DURATION [ns]\nA,5\n");
    snprintf(line, sizeof line, "report --rules rules.json r.csv");
    devlog_fails(line, 1, "rules.json: \"version\" must be 1");
}

/* A rule of one's own, by the command. */
static void a_rule_of_ones_own(void **state)
{
    (void)state;
    write_text(
        in_scratch("rules.json"),
        "{\"version\": 1, \"rules\": [{\"id\": \"mine\", \"of\": \"op\", \"title\": \"My ops are slow\", "
        "\"means\": \"m\", \"do\": \"hurry\", \"when\": \"code == 'A' and time > 3\", \"saves\": \"time - 3\"}]}");
    write_text(in_scratch("r.csv"), "OP CODE,DEVICE KERNEL DURATION [ns]\nA,5\nB,9\nA,3\n");
    char *out = devlog_ok("report --rules rules.json --tables advice r.csv", 0);
    assert_non_null(strstr(out, "My ops are slow"));
    assert_non_null(strstr(out, "hurry"));
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_fires_and_does_not),
        cmocka_unit_test(nothing_is_advised_where_nothing_is_wrong),
        cmocka_unit_test(a_chip_that_is_slower),
        cmocka_unit_test(no_rule_is_without_a_test),
        cmocka_unit_test(an_op_on_the_device_is_no_fallback),
        cmocka_unit_test(the_worst_clock_counts),
        cmocka_unit_test(indicators_have_grades),
        cmocka_unit_test(wrong_files_say_where_and_how),
        cmocka_unit_test(a_rule_of_ones_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
