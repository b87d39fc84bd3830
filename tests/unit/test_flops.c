/* FLOPs, bytes and what limits an op (answers/flops.h), against computations by hand; formulas (formula.h); tables that are
 * wrong; and on real reports the FLOPs of every matmul and convolution as tt-perf-report counts them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

#include "answers/flops.h"
#include "answers/formula.h"
#include "support/cli.h"
#include "support/files.h"

/* ---- Formulas ---------------------------------------------------------------------------------------- */

static bool find(void *ctx, const char *name, size_t n, uint32_t *id)
{
    static const char *const names[] = {"a", "b.0", "t", "u"};
    (void)ctx;
    for (*id = 0; *id < 4; (*id)++)
        if (strlen(names[*id]) == n && memcmp(names[*id], name, n) == 0) return true;
    return false;
}

static unsigned looks; /* how many names were asked for */

static formula_value look(void *ctx, uint32_t id)
{
    (void)ctx;
    looks++;
    return id == 0   ? formula_number(6)
           : id == 1 ? formula_number(-2)
           : id == 2 ? formula_text("L1_SHARDED")
                     : formula_text("");
}

static formula_value eval(const char *text)
{
    formula *f;
    devlog_error err;
    if (formula_parse(&f, text, find, NULL, &err)) fail_msg("%s: %s", text, err.text);
    formula_value v = formula_eval(f, look, NULL);
    if (v.kind == FORMULA_TEXT) v.text = "";
    formula_free(f);
    return v;
}

static void formulas_have_values(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } known[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"a - b.0 - 1", 7},
        {"-a / 4", -1.5},
        {"max(a, 7) - min(a, 7)", 1},
        {"a > 5 and b.0 < 0", 1},
        {"not a > 5 or b.0 >= -2", 1},
        {"t has 'L1'", 1},
        {"t == 'L1_SHARDED'", 1},
        {"t != 'x'", 1},
        {"known(u)", 0},
        {"known(a) and not known(u)", 1},
        {"u has 'x' or a == 6", 1},
        {"u has 'x' and a == 5", 0},
        {"2 * (3 - (1 - 5))", 14},
        {"a<=6", 1},
        {"1e3", 1000},
        {"not not a", 1},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const formula_value v = eval(known[i].text);
        if (v.kind != FORMULA_NUMBER || v.number != known[i].value)
            fail_msg("%s is %f", known[i].text, v.kind == FORMULA_NUMBER ? v.number : NAN);
    }
    static const char *const unknown[] = {"u",     "u == 'x'", "a / 0", "a == t", "u has 'x' and a == 6",
                                          "1 + t", "a has 'x'"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        assert_int_equal(eval(unknown[i]).kind, FORMULA_UNKNOWN);
}

/* `and` and `or` of all kinds of values, by themselves and inside of one another; and that what is decided is not asked for. */
static void right_sides_are_left_out(void **state)
{
    (void)state;
    static const char *const sides[] = {"0", "1", "6", "u", "(a == 5 or 0)", "(a and b.0)"};
    static const int truth[] = {0, 1, 1, -1, 0, 1}; /* -1: unknown */
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < 6; k++)
            for (int is_or = 0; is_or < 2; is_or++) {
                char text[100];
                const bool decided = truth[i] == is_or || truth[k] == is_or;
                const int wanted = decided ? is_or : truth[i] < 0 || truth[k] < 0 ? -1 : !is_or;
                snprintf(text, sizeof text, "not not (%s %s %s) and 1", sides[i], is_or ? "or" : "and",
                         sides[k]);
                const formula_value v = eval(text);
                if (wanted < 0 ? v.kind != FORMULA_UNKNOWN : v.kind != FORMULA_NUMBER || v.number != wanted)
                    fail_msg("%s: kind %d, %f", text, v.kind, v.number);
            }
    looks = 0;
    eval("a == 5 and t has 'x' and b.0 > 0 or a == 6 or t has 'y' and u has 'z'");
    assert_int_equal(looks, 2);
}

/* ---- Formulas at random: each number once as it is, once as a sum, which takes another way through the stack --- */

static double values[2]; /* of a and b.0; NAN: unknown */
static uint64_t seed = 1;

static unsigned dice(unsigned n)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

static void random_formula(dl_str *plain, dl_str *summed, unsigned depth)
{
    static const char *const between[] = {
        " and ", " or ", " < ", " <= ", " > ", " >= ", " == ", " != ", " + ", " * ", " / "};
    static const char *const before[] = {"(", "(not (", "known(", "-("};
    const unsigned what = depth ? dice(4) : 0;
    char number[8];
    snprintf(number, sizeof number, "%u", dice(3));
    const char *leaf = dice(3) ? dice(2) ? "a" : "b.0" : NULL;
    if (what == 0) {
        dl_str_add(plain, leaf ? leaf : number);
        dl_str_fmt(summed, leaf ? "%s" : "(0 + %s)", leaf ? leaf : number);
        return;
    }
    const char *open = what == 1 ? before[dice(4)] : "(", *sign = between[dice(11)];
    dl_str_add(plain, open);
    dl_str_add(summed, open);
    random_formula(plain, summed, depth - 1);
    for (int i = 0; i < 2 && what > 1; i++)
        dl_str_add(i ? summed : plain, sign);
    if (what > 1) random_formula(plain, summed, depth - 1);
    const char *close = strchr(open + 1, '(') && open[0] == '(' ? "))" : ")";
    dl_str_add(plain, close);
    dl_str_add(summed, close);
}

static formula_value look_at_values(void *ctx, uint32_t id)
{
    (void)ctx;
    return formula_number(values[id]);
}

static bool lacks(void *ctx, uint32_t id)
{
    return *(const unsigned *)ctx >> id & 1;
}

static void formulas_at_random(void **state)
{
    (void)state;
    static const double choices[] = {NAN, 0, 1, 2};
    unsigned never = 0;
    for (int n = 0; n < 4000; n++) {
        dl_str plain = {0}, summed = {0};
        formula *one, *other;
        devlog_error err;
        bool ever[4] = {0}; /* true for some values, by which names have none */
        random_formula(&plain, &summed, 4);
        if (formula_parse(&one, plain.text, find, NULL, &err) ||
            formula_parse(&other, summed.text, find, NULL, &err))
            fail_msg("%s: %s", plain.text, err.text);
        for (unsigned i = 0; i < 16; i++) {
            values[0] = choices[i % 4];
            values[1] = choices[i / 4];
            const formula_value v = formula_eval(one, look_at_values, NULL),
                                w = formula_eval(other, look_at_values, NULL);
            if (v.kind != w.kind || (v.kind == FORMULA_NUMBER && v.number != w.number))
                fail_msg("%s and %s differ", plain.text, summed.text);
            for (unsigned missing = 0; missing < 4; missing++)
                ever[missing] |= formula_true(v) && (!(missing & 1) || isnan(values[0])) &&
                                 (!(missing & 2) || isnan(values[1]));
        }
        for (unsigned missing = 0; missing < 4; missing++) {
            const bool may = formula_may_hold(one, lacks, &missing);
            if (ever[missing] && !may) fail_msg("%s holds, names that are missing: %u", plain.text, missing);
            never += !may;
        }
        formula_free(one);
        formula_free(other);
        dl_str_free(&plain);
        dl_str_free(&summed);
    }
    assert_true(never > 1000); /* it is of use */
}

static void wrong_formulas_say_where(void **state)
{
    (void)state;
    char deep[400] = "", sums[1200] = "1";
    for (int i = 0; i < 100; i++)
        strcat(deep, "(");
    for (int i = 0; i < 300; i++)
        strcat(sums, "+1");
    const struct {
        const char *text, *says;
    } wrong[] = {{"", "character 1: the formula ends too early"},
                 {"a +", "character 4: the formula ends too early"},
                 {"a b", "character 3: nothing more is expected"},
                 {"cost > 3", "character 1: there is no fact of this name"},
                 {"sin(a)", "character 1: there is no such function"},
                 {"max(a)", "a ',' is missing"},
                 {"(a", "a ')' is missing"},
                 {"'abc", "a text has no ' at its end"},
                 {"a > $", "character 5: a number, a name or a 'text' is expected"},
                 {"1e999", "the number is too large"},
                 {deep, "nested too deep"},
                 {sums, "too long"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        formula *f;
        devlog_error err = {0};
        assert_int_equal(formula_parse(&f, wrong[i].text, find, NULL, &err), DEVLOG_ERR_FORMAT);
        if (!strstr(err.text, wrong[i].says)) fail_msg("%s\nhas no: %s", err.text, wrong[i].says);
    }
}

/* ---- Ops --------------------------------------------------------------------------------------------- */

static const char header[] =
    "OP CODE,DEVICE ARCH,ATTRIBUTES,MATH FIDELITY,CORE COUNT,DEVICE FW START CYCLE,DEVICE FW END CYCLE,"
    "DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns],DRAM BW UTIL (%),NOC UTIL (%),"
    "DEVICE KERNEL DURATION PER CORE MAX [ns],DEVICE KERNEL DURATION PER CORE AVG [ns],"
    "INPUT_0_W,INPUT_0_Z,INPUT_0_Y,INPUT_0_X,INPUT_0_DATATYPE,INPUT_0_MEMORY,INPUT_1_W,INPUT_1_Z,INPUT_1_Y,"
    "INPUT_1_X,INPUT_1_DATATYPE,INPUT_1_MEMORY,OUTPUT_0_W,OUTPUT_0_Z,OUTPUT_0_Y,OUTPUT_0_X,OUTPUT_0_DATATYPE,"
    "OUTPUT_0_MEMORY\n";

#define DRAM "DEV_0_DRAM_INTERLEAVED"
#define L1   "DEV_0_L1_INTERLEAVED"

typedef struct made {
    op_table table;
    answer_run run;
    flops_peaks peaks;
} made;

static devlog_status try_make(made *m, const char *rows, const flops_options *o, devlog_error *err)
{
    dl_str csv = {0};
    const op_selection all = {0};
    const answer_run_options run = {.selection = &all};
    memset(m, 0, sizeof *m);
    dl_str_add(&csv, header);
    dl_str_add(&csv, rows);
    devlog_status status = op_table_parse_wide(&m->table, "made.csv", csv.text, csv.len, err);
    if (!status) status = answer_run_make(&m->run, &m->table, &run, err);
    if (!status) status = flops_apply(&m->run, o, &m->peaks, err);
    dl_str_free(&csv);
    return status;
}

static void make(made *m, const char *rows, const flops_options *o)
{
    devlog_error err = {0};
    if (try_make(m, rows, o ? o : &(flops_options){0}, &err)) fail_msg("%s", err.text);
}

static void drop(made *m)
{
    answer_run_free(&m->run);
    op_table_free(&m->table);
}

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected))) fail_msg("%.12g, not %.12g", value, expected);
}

/* 2 * 64 * 128 * 256 * 3 FLOPs in 10 us on 4 cores at 1 GHz, HiFi2: 4 * 2048 per ns can be had. Bytes: BFLOAT8_B has 1,088 a tile. */
static void a_matmul_by_hand(void **state)
{
    (void)state;
    made m;
    make(&m,
         "Matmul,wormhole_b0,,HiFi2,4,1000,13000,12000,10000,,,10000,8000,3,1,64,128,BFLOAT16," DRAM
         ",1,1,128,256,BFLOAT8_B," DRAM ",3,1,64,256,BFLOAT16," L1 "\n",
         NULL);
    const answer_op *op = &m.run.ops[0];
    near(op->flops, 2.0 * 64 * 128 * 256 * 3);
    near(op->bytes, 3 * 64 * 128 * 2 + 128 * 256 * 1.0625);
    near(op->share[OP_OF_COMPUTE], 100 * 2.0 * 64 * 128 * 256 * 3 / (10000 * 4 * 2048.0));
    near(op->share[OP_OF_DRAM], 100 * (3 * 64 * 128 * 2 + 128 * 256 * 1.0625) / (10e-6 * 288e9));
    near(op->share[OP_IMBALANCE], 20);
    near(op->share[OP_OVERHEAD], 100.0 / 6);
    assert_string_equal(op->bound, "latency");
    assert_string_equal(m.peaks.board, "wormhole_b0");
    near(m.peaks.mhz, 1000);
    assert_string_equal(m.peaks.mhz_source, "cycles and ns of the report");
    drop(&m);
}

/* Output 100 rows of 32 channels, 3 x 5 window over 16 channels in: 2 * 100 * 16 * 15 * 32. */
static void a_convolution_by_hand(void **state)
{
    (void)state;
    made m;
    make(&m,
         "Conv2dDeviceOperation,blackhole,'sliding_window_config': 'S(batch_size=1; window_hw=(3;5); "
         "stride_hw=(1;1))',LoFi,1,0,1350,1000,1000,,,,,1,1,140,16,BFLOAT16," L1 ",1,1,240,32,BFLOAT8_B," DRAM
         ",1,1,100,32,BFLOAT16," L1 "\n",
         NULL);
    near(m.run.ops[0].flops, 2.0 * 100 * 16 * 15 * 32);
    near(m.run.ops[0].bytes, 240 * 32 * 1.0625);
    near(m.run.ops[0].share[OP_OF_COMPUTE], 100 * 2.0 * 100 * 16 * 15 * 32 / (1350 * 4096.0));
    drop(&m);
}

/* Each limit, with the one in front of it out of the way. */
static void what_limits_an_op(void **state)
{
    (void)state;
    static const struct {
        const char *cells, *bound;
    } rows[] = {
        {"HiFi4,1,0,100000,100000,20000,,,20000,20000", "compute"},
        {"HiFi4,1,0,20000,20000,20000,70,,20000,20000", "compute, DRAM"},
        {"LoFi,64,0,100000,100000,100000,64,70,100000,100000", "NoC"},
        {"LoFi,64,0,100000,100000,100000,65,10,100000,100000", "DRAM"},
        {"LoFi,64,0,100000,100000,60000,10,10,60000,50000", "launch"},
        {"LoFi,64,0,100000,100000,90000,10,10,90000,50000", "imbalance"},
        {"LoFi,64,0,100000,100000,90000,10,10,90000,80000", "latency"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char row[600];
        made m;
        snprintf(
            row, sizeof row,
            "Matmul,wormhole_b0,,%s,1,1,256,256,BFLOAT16,%s,1,1,256,128,BFLOAT16,%s,1,1,256,128,BFLOAT16,%s\n",
            rows[i].cells, L1, L1, L1);
        make(&m, row, NULL);
        if (!m.run.ops[0].bound || strcmp(m.run.ops[0].bound, rows[i].bound) != 0)
            fail_msg("%s: %s, not %s (compute %.1f)", rows[i].cells, m.run.ops[0].bound, rows[i].bound,
                     m.run.ops[0].share[OP_OF_COMPUTE]);
        drop(&m);
    }
}

/* What is not there is not made up. */
static void nothing_is_invented(void **state)
{
    (void)state;
    static const char *const rows[] = {
        /* no shapes; half a shape; a type that nobody knows; another op; no time */
        "Matmul,wormhole_b0,,HiFi2,4,0,9,12000,10000,,,,,,,,,BFLOAT16," DRAM ",,,,,BFLOAT16," DRAM
        ",,,,,BFLOAT16," DRAM "\n",
        "Matmul,wormhole_b0,,HiFi2,4,0,9,12000,10000,,,,,1,1,32,,BFLOAT16," DRAM ",1,1,32,32,BFLOAT16," DRAM
        ",1,1,32,32,BFLOAT16," DRAM "\n",
        "MyOwnOp,wormhole_b0,,HiFi2,4,0,9,12000,10000,,,,,1,1,32,32,BFLOAT16," DRAM
        ",1,1,32,32,BFLOAT16," DRAM ",1,1,32,32,BFLOAT16," DRAM "\n",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        made m;
        make(&m, rows[i], NULL);
        assert_true(isnan(m.run.ops[0].flops));
        assert_true(isnan(m.run.ops[0].bytes));
        assert_true(isnan(m.run.ops[0].share[OP_OF_COMPUTE]));
        assert_null(m.run.ops[0].bound);
        drop(&m);
    }
    made m; /* bytes of a type that is not in the table; FLOPs all the same */
    make(&m,
         "Matmul,wormhole_b0,,HiFi2,4,0,9,12000,10000,,,,,1,1,32,32,NEW_TYPE," DRAM
         ",1,1,32,32,BFLOAT16," DRAM ",1,1,32,32,BFLOAT16," DRAM "\n",
         NULL);
    near(m.run.ops[0].flops, 65536);
    assert_true(isnan(m.run.ops[0].bytes));
    drop(&m);
    /* no architecture: FLOPs, and no share of a peak; told by hand, there are peaks */
    const char *row = "Matmul,,,HiFi2,4,0,10000,12000,10000,,,,,1,1,32,32,BFLOAT16," L1
                      ",1,1,32,32,BFLOAT16," L1 ",1,1,32,32,BFLOAT16," L1 "\n";
    make(&m, row, NULL);
    near(m.run.ops[0].flops, 65536);
    assert_true(isnan(m.run.ops[0].share[OP_OF_COMPUTE]));
    assert_non_null(strstr(m.peaks.why, "--board"));
    drop(&m);
    make(&m, row, &(flops_options){.board = "wormhole_b0", .dram = 100e9});
    assert_true(m.run.ops[0].share[OP_OF_COMPUTE] > 0);
    near(m.peaks.dram, 100e9);
    drop(&m);
    make(&m, row, &(flops_options){.board = "fe310"});
    assert_non_null(strstr(m.peaks.why, "says no peaks"));
    drop(&m);
    make(&m, row, &(flops_options){.board = "no_such_board"});
    assert_non_null(strstr(m.peaks.why, "there is no board no_such_board"));
    drop(&m);
}

static void a_table_of_ones_own(void **state)
{
    (void)state;
    made m;
    char path[600];
    write_text(
        in_scratch("ops.json"),
        "{\"version\":1,\"types\":{\"BFLOAT16\":2},\"fidelity\":{\"HiFi2\":2},\"ops\":[{\"match\":[\"My*Op\"],"
        "\"flops\":\"3 * out0.elements\",\"bytes\":\"in0.bytes + attr.extra\"}]}");
    snprintf(path, sizeof path, "%s", in_scratch("ops.json"));
    make(&m,
         "MyOwnOp,wormhole_b0,\"{'extra': '17'}\",HiFi2,4,0,9,12000,10000,,,,,1,1,32,32,BFLOAT16," DRAM
         ",,,,,,,1,1,32,64,BFLOAT16," DRAM "\n",
         &(flops_options){.table = path});
    near(m.run.ops[0].flops, 3.0 * 32 * 64);
    near(m.run.ops[0].bytes, 32 * 32 * 2 + 17);
    drop(&m);
    /* Many parts that stand for anything: each of them might take any number of letters. */
    write_text(
        in_scratch("ops.json"),
        "{\"version\":1,\"types\":{\"BFLOAT16\":2},\"fidelity\":{},\"ops\":[{\"match\":["
        "\"*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b\",\"a**a*\"],\"flops\":\"5\",\"bytes\":\"6\"}]}");
    make(
        &m,
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,wormhole_b0,\"{'extra': '17'}\","
        "HiFi2,4,0,9,12000,10000,,,,,1,1,32,32,BFLOAT16," DRAM ",,,,,,,1,1,32,64,BFLOAT16," DRAM "\n",
        &(flops_options){.table = path});
    near(m.run.ops[0].flops, 5);
    drop(&m);
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"{", "ops.json:1: it is no JSON object"},
        {"{\"version\":1}", "\"types\" is missing"},
        {"{\"version\":1,\"types\":{\"A\":0},\"fidelity\":{},\"ops\":[]}",
         "\"A\" of \"types\" is no number above 0"},
        {"{\"version\":1,\"types\":{},\"fidelity\":{}}", "\"ops\" is no list"},
        {"{\"version\":1,\"types\":{},\"fidelity\":{},\"ops\":[{}]}", "op number 1 has no \"match\""},
        {"{\"version\":1,\"types\":{},\"fidelity\":{},\"ops\":[\n{\"match\":[\"A\"],\n\"flops\":\"2 * in0.q\"}]}",
         "ops.json:3: \"flops\": character 5: there is no fact of this name"},
        {"{\"version\":1,\"types\":{},\"fidelity\":{},\"ops\":[\n{\"match\":[\"A\"],\"flops\":\"2 * attr..1\"}]}",
         "ops.json:2: \"flops\": character 5: there is no fact of this name"},
        {"{\"version\":1,\"types\":{},\"fidelity\":{},\"ops\":[\n{\"match\":[\"A\"],\"flops\":\"attr.extra.x\"}]}",
         "ops.json:2: \"flops\": character 1: there is no fact of this name"},
        {"{\"version\":1,\"types\":{},\"fidelity\":{},\"ops\":[\n{\"match\":[\"A\"],\"flops\":\"attr.extra.\"}]}",
         "ops.json:2: \"flops\": character 1: there is no fact of this name"},
        {"{\"version\":1,\"types\":{},\"fidelity\":{},\"ops\":[\n{\"match\":[\"A\"],\"flops\":\"attr.a.1.2\"}]}",
         "ops.json:2: \"flops\": character 1: there is no fact of this name"},
        {"{\"version\":1,\"types\":{},\"fidelity\":{},\"ops\":[\n{\"match\":[\"A\"],\"flops\":\"attr.a.99999\"}]}",
         "ops.json:2: \"flops\": character 1: there is no fact of this name"},
        {"{\"version\":1,\"types\":{},\"fidelity\":{},\"ops\":[\n{\"match\":[\"A\"],\"engine\":\"magic\"}]}",
         "ops.json:2: \"engine\" is \"matrix\", or is left out"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        devlog_error err = {0};
        write_text(path, wrong[i].text);
        assert_int_equal(
            try_make(&m, "A,,,,,,,,5,,,,,,,,,,,,,,,,,,,,,,\n", &(flops_options){.table = path}, &err),
            DEVLOG_ERR_FORMAT);
        if (!strstr(err.text, wrong[i].says)) fail_msg("%s\nhas no: %s", err.text, wrong[i].says);
        drop(&m);
    }
}

/* Sums over all matmuls and convolutions that tt-perf-report 00b7324 gives for these files, row by row the same
 * (analyze_matmul, analyze_conv: FLOP/s times DEVICE KERNEL DURATION). */
static void real_reports_have_tt_perf_reports_flops(void **state)
{
    (void)state;
    const char *folder = getenv("DEVLOG_SAMPLES");
    static const struct {
        const char *file, *matmul, *conv, *conv_code;
    } reports[] = {
        {"ops_2025_09_18.csv", "70552387584", "520864923648", "OptimizedConvNew"},
        {"ops_bh_p100_dlv3.csv", "75463917568", "335644983296", "Conv2dDeviceOperation"},
        {"ops_seg_encoder_2024_10_04.csv", "5339348992", "45680164864", "OptimizedConvNew"},
    };
    if (!folder) {
        print_message("SKIPPED: DEVLOG_SAMPLES is not set\n");
        skip();
    }
    for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++) {
        char line[600];
        snprintf(line, sizeof line, "report --format csv --tables roofline %s/%s", folder, reports[i].file);
        char *out = devlog_ok(line, 0);
        for (int conv = 0; conv < 2; conv++) {
            char begins[80], cell[40];
            snprintf(begins, sizeof begins, "\n%s,", conv ? reports[i].conv_code : "Matmul");
            snprintf(cell, sizeof cell, ",%s,", conv ? reports[i].conv : reports[i].matmul);
            char *row = strstr(out, begins);
            assert_non_null(row);
            row[1 + strcspn(row + 1, "\n")] = '\0';
            if (!strstr(row + 1, cell)) fail_msg("%s: %s has no %s", reports[i].file, row + 1, cell);
            row[strlen(row)] = '\n';
        }
        free(out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_have_values), cmocka_unit_test(right_sides_are_left_out),
        cmocka_unit_test(formulas_at_random),   cmocka_unit_test(wrong_formulas_say_where),
        cmocka_unit_test(a_matmul_by_hand),     cmocka_unit_test(a_convolution_by_hand),
        cmocka_unit_test(what_limits_an_op),    cmocka_unit_test(nothing_is_invented),
        cmocka_unit_test(a_table_of_ones_own),  cmocka_unit_test(real_reports_have_tt_perf_reports_flops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
