/* Two op reports beside one another: by op code and op by op, what is worse, and how the command ends. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ops/op_compare.h"
#include "support/cli.h"
#include "support/device.h"
#include "support/files.h"

#define HEADER "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns]\n"
/* Matmul 300 in two, Add 100, a signpost, an op without device data, Gone 10. */
#define BEFORE                                                                                               \
    HEADER "Matmul,t,1,200,100\nAdd,t,2,150,100\nhere,signpost,,,\nMatmul,t,3,300,200\nCpu,p,4,,\nGone,t,5," \
           "20,10\n"
/* Matmul 330 in two (10 % more each), Add 60 in two (70 % less each), New 20. */
#define AFTER                                                                                                \
    HEADER "Matmul,t,1,200,110\nAdd,t,2,150,30\nMatmul,t,3,300,220\nCpu,p,4,,\nNew,t,5,20,20\nAdd,t,6,1,"    \
           "30\n"
/* The ops of BEFORE with other times. */
#define AGAIN                                                                                                \
    HEADER "there,signpost,,,\nMatmul,t,7,200,100\nAdd,t,8,150,103\nMatmul,t,9,300,190\nCpu,p,10,,\nGone,t," \
           "11,20,10\n"

typedef struct pair {
    op_table before, after;
    op_compare c;
} pair;

static devlog_status compared(pair *p, const char *before, const char *after, const op_compare_options *o,
                              devlog_error *err)
{
    check_ok(op_table_parse(&p->before, "b.csv", before, strlen(before), err), err);
    check_ok(op_table_parse(&p->after, "a.csv", after, strlen(after), err), err);
    return op_compare_make(&p->c, &p->before, &p->after, o, err);
}

static void done(pair *p)
{
    op_compare_free(&p->c);
    op_table_free(&p->before);
    op_table_free(&p->after);
}

static void item_is(const pair *p, size_t i, const char *code, uint64_t counts[2], uint64_t ns[2],
                    unsigned worse)
{
    assert_true(i < p->c.n);
    const op_compare_item *x = &p->c.items[i];
    assert_string_equal(x->code, code);
    assert_int_equal(x->before.count, counts[0]);
    assert_int_equal(x->after.count, counts[1]);
    assert_int_equal(x->before.ns, ns[0]);
    assert_int_equal(x->after.ns, ns[1]);
    if (x->worse != worse) fail_msg("%s: %x instead of %x", code, x->worse, worse);
}
#define PAIR(a, b)                                                                                           \
    (uint64_t[2])                                                                                            \
    {                                                                                                        \
        a, b                                                                                                 \
    }

static void by_op_code(void **state)
{
    (void)state;
    pair p;
    devlog_error err = {0};
    check_ok(compared(&p, BEFORE, AFTER, &(op_compare_options){.judged = true, .max_regression = 9.9}, &err),
             &err);
    assert_int_equal(p.c.n, 5);
    item_is(&p, 0, "Add", PAIR(1, 2), PAIR(100, 60), OP_WORSE_COUNT);
    item_is(&p, 1, "Matmul", PAIR(2, 2), PAIR(300, 330), OP_WORSE_TIME);
    item_is(&p, 2, "New", PAIR(0, 1), PAIR(0, 20), OP_WORSE_NEW);
    item_is(&p, 3, "Gone", PAIR(1, 0), PAIR(10, 0), OP_WORSE_GONE);
    item_is(&p, 4, "Cpu", PAIR(1, 1), PAIR(0, 0), 0);
    assert_int_equal(p.c.worse, 5);
    assert_int_equal(p.c.all.worse, OP_WORSE_COUNT); /* 6 ops instead of 5 */
    assert_int_equal(p.c.all.before.ns, 410);
    assert_int_equal(p.c.all.after.ns, 410);
    assert_false(p.c.same);
    assert_int_equal(p.c.difference, 5);
    assert_string_equal(p.c.here[0], "Gone");
    assert_string_equal(p.c.here[1], "New");
    done(&p);
}

static void filters_and_limits(void **state)
{
    (void)state;
    const struct {
        op_compare_options o;
        size_t n;
        uint64_t worse, below, left_out;
    } cases[] = {
        {{.judged = true, .other_ops = true, .max_regression = 10.1}, 5, 0, 0, 0},
        {{.judged = true, .max_regression = 10.1}, 5, 4, 0, 0},
        {{.judged = true, .max_regression = 101}, 5, 2, 0, 0}, /* New and Gone */
        {{.max_regression = 1}, 5, 0, 0, 0},                   /* nobody asked for a judgement */
        {{.judged = true, .by_fw = true, .other_ops = true},
         5,
         2,
         0,
         0}, /* the total: 671 instead of 670, and Matmul's kernels */
        {{.judged = true, .min_share = 5, .other_ops = true}, 2, 2, 3, 0},
        {{.judged = true, .min_share = 4.5}, 3, 4, 2, 0}, /* New has more than that in one of them */
        {{.judged = true, .filter = {(const char *const[]){"M*"}, 1}}, 1, 2, 0, 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pair p;
        devlog_error err = {0};
        check_ok(compared(&p, BEFORE, AFTER, &cases[i].o, &err), &err);
        if (p.c.n != cases[i].n || p.c.worse != cases[i].worse || p.c.below != cases[i].below ||
            p.c.left_out != cases[i].left_out)
            fail_msg("case %zu: %zu lines, %llu worse, %llu below, %llu left out", i, p.c.n,
                     (unsigned long long)p.c.worse, (unsigned long long)p.c.below,
                     (unsigned long long)p.c.left_out);
        done(&p);
    }
}

static void op_by_op(void **state)
{
    (void)state;
    pair p;
    devlog_error err = {0};
    const op_compare_options o = {.list = true, .judged = true, .max_regression = 2};
    check_ok(compared(&p, BEFORE, AGAIN, &o, &err), &err);
    assert_true(p.c.same);
    assert_int_equal(p.c.n, 5);
    item_is(&p, 0, "Matmul", PAIR(1, 1), PAIR(100, 100), 0);
    item_is(&p, 1, "Add", PAIR(1, 1), PAIR(100, 103), OP_WORSE_TIME);
    item_is(&p, 2, "Matmul", PAIR(1, 1), PAIR(200, 190), 0);
    assert_int_equal(p.c.items[2].before.id, 3);
    assert_int_equal(p.c.items[2].after.id, 9);
    done(&p);
    assert_int_equal(compared(&p, BEFORE, AFTER, &o, &err), DEVLOG_ERR_FORMAT);
    if (!strstr(err.text, "op 5 is 'Gone' in b.csv and 'New' in a.csv")) fail_msg("it says '%s'", err.text);
    done(&p);
    assert_int_equal(compared(&p, BEFORE, HEADER, &o, &err), DEVLOG_ERR_FORMAT);
    if (!strstr(err.text, "op 1 is 'Matmul' in b.csv and '(none)' in a.csv"))
        fail_msg("it says '%s'", err.text);
    done(&p);
    assert_int_equal(compared(&p, HEADER, BEFORE, &o, &err), DEVLOG_ERR_FORMAT);
    if (!strstr(err.text, "op 1 is '(none)' in b.csv and 'Matmul' in a.csv"))
        fail_msg("it says '%s'", err.text);
    done(&p);
}

/* What has as much of the time as --min-share says is shown, in whichever report it has that. */
static void a_share_that_is_just_enough(void **state)
{
    (void)state;
    static const char quarter[] = HEADER "A,t,1,,75\nB,t,2,,25\n", less[] = HEADER "A,t,1,,76\nB,t,2,,24\n";
    const op_compare_options o = {.min_share = 25};
    pair p;
    devlog_error err = {0};
    check_ok(compared(&p, quarter, less, &o, &err), &err);
    assert_int_equal(p.c.n, 2);
    done(&p);
    check_ok(compared(&p, less, quarter, &o, &err), &err);
    assert_int_equal(p.c.n, 2);
    done(&p);
    check_ok(compared(&p, less, less, &o, &err), &err);
    assert_int_equal(p.c.n, 1);
    assert_int_equal(p.c.below, 1);
    done(&p);
}

/* Nothing to be judged by is an error where something is judged, and only there. */
static void reports_without_device_data_are_shown(void **state)
{
    (void)state;
    static const char host[] = HEADER "A,t,1,,\n", both[] = HEADER "A,t,1,,\nB,t,2,,25\n";
    op_compare_options o = {.max_regression = 5};
    pair p;
    devlog_error err = {0};
    check_ok(compared(&p, host, host, &o, &err), &err);
    assert_int_equal(p.c.n, 1);
    done(&p);
    o.judged = true;
    assert_int_equal(compared(&p, host, host, &o, &err), DEVLOG_ERR_NOT_FOUND);
    if (!strstr(err.text, "b.csv has no device data: there is nothing")) fail_msg("it says '%s'", err.text);
    done(&p);
    const char *ops[] = {"A"};
    o.filter = (op_filter){.ops = ops, .n = 1};
    assert_int_equal(compared(&p, both, both, &o, &err), DEVLOG_ERR_NOT_FOUND);
    if (!strstr(err.text, "b.csv has no device data of these ops: ")) fail_msg("it says '%s'", err.text);
    done(&p);
}

/* A gap of 1 ns is one; ops that overlap have none. */
static void small_gaps_are_gaps(void **state)
{
    (void)state;
    static const char gaps[] =
        "OP CODE,OP TYPE,OP TO OP LATENCY [ns],DEVICE KERNEL DURATION [ns]\nA,t,1,10\nA,t,-7,10\nA,t,0,"
        "10\n";
    pair p;
    devlog_error err = {0};
    check_ok(compared(&p, gaps, gaps, &(op_compare_options){.max_regression = 5}, &err), &err);
    assert_int_equal(p.c.all.before.gap_ns, 1);
    assert_int_equal(p.c.all.before.with_gap, 3);
    done(&p);
}

/* ---- Ways to pass a gate wrongly --- */

#define WIDE                                                                                                 \
    "OP CODE,OP TYPE,GLOBAL CALL COUNT,HOST START TS,HOST END TS,HOST DURATION [ns],HOST THREAD,OP TO OP "   \
    "LATENCY [ns],DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns],DEVICE IDLE BETWEEN LAUNCHES [ns]\n"
static const char *const code_names[] = {"Matmul", "Add", "Softmax"};
enum { CODES = 3, EACH = 20 };

typedef struct shape {
    const char *suffix;       /* of op codes */
    unsigned copies, without; /* per op; without: of 20 ops of a code, those without device data */
    double device, host, gap; /* factors */
    unsigned noise;           /* per cent up and down: of device times; hosts and gaps get 20 times that */
    bool no_host, no_gap;
    unsigned fw;   /* cycles of firmware more than of the kernel; 0: 100 */
    unsigned idle; /* inside of each op, between its launches */
} shape;

static uint32_t seed;

static double around(double value, double percent)
{
    seed = seed * 1664525u + 1013904223u;
    double at = (double)(seed >> 8) / (1 << 24) * 2 - 1;
    return value * (1 + at * percent / 100);
}

/* A report of 60 ops of three codes: one of them is an op around the others. */
static void report(const char *name, const shape *s)
{
    dl_str out = {0};
    dl_str_add(&out, WIDE);
    unsigned id = 0;
    unsigned long long at = 1000;
    for (unsigned i = 0; i < EACH; i++) {
        for (unsigned code = 0; code < CODES; code++) {
            for (unsigned copy = 0; copy < s->copies; copy++) {
                double hosted = around(5000 * s->host, s->noise * 20 > 90 ? 90 : s->noise * 20);
                double gap = around(300 * s->gap, s->noise * 20 > 90 ? 90 : s->noise * 20);
                unsigned long long ns = (unsigned long long)around((code + 1) * 10000 * s->device, s->noise);
                dl_str_fmt(&out, "%s%s,tt_dnn_device,%u,", code_names[code], s->suffix, ++id);
                if (s->no_host)
                    dl_str_add(&out, ",,,,");
                else
                    dl_str_fmt(&out, "%llu,%llu,%llu,0,", at, at + (unsigned long long)hosted,
                               (unsigned long long)hosted);
                at += (unsigned long long)hosted + 100;
                if (s->no_gap)
                    dl_str_add(&out, ",");
                else
                    dl_str_fmt(&out, "%llu,", (unsigned long long)gap);
                if (i < s->without)
                    dl_str_add(&out, ",,\n");
                else
                    dl_str_fmt(&out, "%llu,%llu,%u\n", ns ? ns + (s->fw ? s->fw : 100) : 0, ns, s->idle);
            }
        }
    }
    write_text(in_scratch(name), out.text);
    dl_str_free(&out);
}

/* The text with its columns two blanks apart, however wide they are. */
static char *squeezed(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++)
        if (*at != ' ' || to - text < 2 || to[-1] != ' ' || to[-2] != ' ') *to++ = *at;
    *to = 0;
    return text;
}

static void a_gate_is_not_passed_wrongly(void **state)
{
    (void)state;
    const shape same = {.suffix = "", .copies = 1, .device = 1, .host = 1, .gap = 1};
    report("before.csv", &same);
    static const struct {
        const char *what;
        shape s;
        const char *options;
        int status;
        const char *says;
    } cases[] = {
        {"the same", {"", 1, 0, 1, 1, 1, 0, 0, 0, 0, 0}, "", 0, "0 of 3 lines are worse by more than 5 %."},
        {"no device data",
         {"", 1, EACH, 1, 1, 1, 0, 0, 0, 0, 0},
         "",
         4,
         "The report after has no device data."},
        {"none by firmware", {"", 1, EACH, 1, 1, 1, 0, 0, 0, 0, 0}, "--time fw", 4, "has no device data."},
        {"one op in twenty without", {"", 1, 1, 1, 1, 1, 0, 0, 0, 0, 0}, "", 4, "Matmul  data missing"},
        {"renamed and slower", {"2", 1, 0, 10, 1, 1, 0, 0, 0, 0, 0}, "", 4, "Softmax2  new"},
        {"renamed and slower, with leave",
         {"2", 1, 0, 10, 1, 1, 0, 0, 0, 0, 0},
         "--other-ops",
         4,
         "in total: worse, the other device duration longer."},
        {"renamed, with leave", {"2", 1, 0, 1, 1, 1, 0, 0, 0, 0, 0}, "--other-ops", 0, "0 of 6 lines"},
        {"ten times as many", {"", 10, 0, 1, 1, 1, 0, 0, 0, 0, 0}, "", 4, "Add  another count"},
        {"ten times as many, each a tenth",
         {"", 10, 0, 0.1, 0.1, 0.1, 0, 0, 0, 0, 0},
         "",
         4,
         "Add  another count"},
        {"ten times as many, with leave",
         {"", 10, 0, 1, 1, 1, 0, 0, 0, 0, 0},
         "--other-ops",
         4,
         "in total: worse"},
        {"gaps a hundred times as long",
         {"", 1, 0, 1, 1, 100, 0, 0, 0, 0, 0},
         "",
         4,
         "in total: gaps longer."},
        {"hosts a hundred times as long",
         {"", 1, 0, 1, 100, 1, 0, 0, 0, 0, 0},
         "",
         4,
         "in total: host times longer."},
        {"six times as long", {"", 1, 0, 1, 6, 1, 0, 0, 0, 0, 0}, "", 4, "host times longer."},
        {"twice as long", {"", 1, 0, 1, 2, 2, 0, 0, 0, 0, 0}, "", 0, "0 of 3 lines"},
        {"twice is too much",
         {"", 1, 0, 1, 2, 2, 0, 0, 0, 0, 0},
         "--max-host-regression 50",
         4,
         "host times longer, gaps"},
        {"nothing is too much",
         {"", 1, 0, 1, 1.01, 1, 0, 0, 0, 0, 0},
         "--max-host-regression 0",
         4,
         "host times longer"},
        {"host times missing", {"", 1, 0, 1, 1, 1, 0, true, 0, 0, 0}, "", 4, "in total: data missing."},
        {"gaps missing", {"", 1, 0, 1, 1, 1, 0, 0, true, 0, 0}, "", 4, "in total: data missing."},
        {"six per cent", {"", 1, 0, 1.06, 1, 1, 0, 0, 0, 0, 0}, "", 4, "Matmul  worse"},
        {"six per cent of what is left out",
         {"", 1, 0, 1.06, 1, 1, 0, 0, 0, 0, 0},
         "--min-share 90",
         4,
         "in total: worse, the other device duration longer."},
        {"firmware ten times as long",
         {.suffix = "", .copies = 1, .device = 1, .host = 1, .gap = 1, .fw = 100000},
         "",
         4,
         "Matmul  the other device duration longer"},
        {"kernels slower, by firmware",
         {"", 1, 0, 1.06, 1, 1, 0, 0, 0, 0, 0},
         "--time fw",
         4,
         "Matmul  worse, the other"},
        {"durations of 0", {"", 1, 0, 0, 1, 1, 0, 0, 0, 0, 0}, "", 4, "The report after has no device data."},
        {"idle inside of ops",
         {.suffix = "", .copies = 1, .device = 1, .host = 1, .gap = 1, .idle = 30000},
         "",
         4,
         "in total: gaps longer."},
        {"four per cent", {"", 1, 0, 1.04, 1, 1, 0, 0, 0, 0, 0}, "", 0, "0 of 3 lines"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[300], *out, *err;
        report("after.csv", &cases[i].s);
        snprintf(line, sizeof line, "ops compare --max-regression 5 %s before.csv after.csv",
                 cases[i].options);
        int status = devlog(line, &out, &err);
        if (status != cases[i].status || !strstr(squeezed(out), cases[i].says))
            fail_msg("%s: status %d, %s%s", cases[i].what, status, out, err);
        free(out);
        free(err);
    }
    devlog_fails("ops compare --max-regression 5 --ops Typo before.csv before.csv", 1,
                 "--ops Typo: no such op; before.csv has 'Matmul', 'Add', 'Softmax'");
    devlog_fails("ops compare --ops 'Mat*,Typo' before.csv before.csv", 1, "--ops Typo: no such op");
    report("after.csv", &(shape){"", 1, EACH, 1, 1, 1, 0, 0, 0, 0, 0});
    devlog_fails("ops compare --max-regression 5 after.csv before.csv", 1, "after.csv has no device data");
    devlog_fails("ops compare --max-host-regression 5 before.csv before.csv", 2,
                 "--max-regression is not given");
    devlog_fails("ops compare --max-regression 5 --max-host-regression x before.csv before.csv", 2,
                 "--max-host-regression wants a number of percent, not 'x'");
}

/* Two runs of one program: each device time 3 % up or down, host times and gaps 60 %. */
static void noisy_repeats_pass(void **state)
{
    (void)state;
    const shape noisy = {.suffix = "", .copies = 1, .device = 1, .host = 1, .gap = 1, .noise = 3};
    for (seed = 1; seed < 100; seed += 7) {
        report("before.csv", &noisy);
        report("after.csv", &noisy);
        free(devlog_ok("ops compare --max-regression 5 before.csv after.csv", 0));
    }
}

/* Names that would move the cursor, and a row that is cut off. */
static void what_is_shown_is_harmless(void **state)
{
    (void)state;
    write_text(in_scratch("evil.csv"), HEADER "\"\x1b[2J\nE\",t,1,200,100\nB,t,2,3,4\n");
    static const char *const lines[] = {"ops compare evil.csv b.csv", "ops summary evil.csv",
                                        "ops summary --list evil.csv"};
    write_text(in_scratch("b.csv"), BEFORE);
    for (size_t i = 0; i < 3; i++) {
        char *text = devlog_ok(lines[i], 0);
        if (strchr(text, '\x1b') || !strstr(text, "  \\x1b[2J\\nE\n")) fail_msg("%s", text);
        free(text);
    }
    write_text(in_scratch("cut.csv"), HEADER "A,t,1,200,100\nB,t,2,300,12");
    char *text = devlog_ok("ops summary --format csv cut.csv 2>/dev/null", 3);
    assert_non_null(strstr(text, "\nB,t,1,0,,,,,300,,,,,,\n"));
    free(text);
    write_text(in_scratch("cut.csv"), HEADER "A,t,1,200,100\nB,t,2,30");
    text = devlog_ok("ops summary --format csv cut.csv 2>/dev/null", 3);
    assert_non_null(strstr(text, "\nB,t,1,0,,,,,,,,,,,\n"));
    free(text);
}

/* Four of them add up to the same in 64 bits, which passed every gate. */
static void durations_beyond_64_bits(void **state)
{
    (void)state;
    write_text(in_scratch("b.csv"), HEADER "A,t,1,100,100\nA,t,2,100,100\nA,t,3,100,100\nA,t,4,100,100\n");
    write_text(
        in_scratch("a.csv"), HEADER
        "A,t,1,4611686018427388004,4611686018427388004\nA,t,2,4611686018427388004,4611686018427388004\n"
        "A,t,3,4611686018427388004,4611686018427388004\nA,t,4,4611686018427388004,4611686018427388004\n");
    char *text = devlog_ok("ops compare --max-regression 5 b.csv a.csv 2>/dev/null", 4);
    assert_non_null(strstr(text, "A         worse, data missing"));
    free(text);
    text = devlog_ok("ops summary --format csv a.csv 2>/dev/null", 3);
    assert_non_null(strstr(text, "\nA,t,4,1,4611686018427388004,"));
    free(text);
}

static void as_a_command(void **state)
{
    (void)state;
    write_text(in_scratch("b.csv"), BEFORE);
    write_text(in_scratch("a.csv"), AFTER);
    write_text(in_scratch("c.csv"), AGAIN "Odd,t,12,x,1\n");
    char *text = devlog_ok("ops compare b.csv a.csv", 0);
    assert_non_null(strstr(text, "op 5 is 'Gone' before and 'New' after"));
    free(text);
    text = devlog_ok("ops compare --max-regression 9.9 b.csv a.csv", 4);
    assert_non_null(strstr(squeezed(text), "Matmul  worse\n"));
    assert_non_null(strstr(text, "4 of 5 lines are worse by more than 9.9 %, and in total: another count."));
    free(text);
    text = devlog_ok("ops compare --format csv --max-regression=10.5 b.csv a.csv", 4);
    assert_non_null(strstr(text, "\nAdd,1,2,1,2,100,60,100.0,30.0,-40,-70.0,1,count\n"));
    assert_non_null(strstr(text, "\nNew,0,1,0,1,0,20,,20.0,20,,1,new\n"));
    assert_non_null(strstr(text, "\nCpu,1,1,0,0,,,,,,,0,\n")); /* nothing is known of its time: not 0 */
    free(text);
    text = devlog_ok("ops-compare --format json b.csv a.csv", 0);
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "ops"), 0);
    assert_string_equal(cJSON_GetObjectItem(first, "op_code")->valuestring, "Add");
    assert_true(cJSON_GetObjectItem(first, "difference_ns")->valuedouble == -40);
    assert_true(cJSON_IsNull(
        cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "ops"), 2), "change_percent")));
    cJSON_Delete(json);
    free(text);
    free(devlog_ok("ops compare b.csv c.csv 2>/dev/null", 3)); /* a cell that is no number */
    devlog_fails("ops compare --list b.csv a.csv", 1, "do not hold the same ops");
    devlog_fails("ops compare b.csv nothing.csv", 1, "nothing.csv");
    devlog_fails("ops compare --max-regression 5% b.csv a.csv", 2, "a number of percent");
    devlog_fails("ops compare b.csv", 2, "AFTER is missing");
    devlog_fails("ops compare", 2, "BEFORE AFTER is missing");
    /* folders: the op report that is in them */
    free(devlog_ok("ops compare b.csv b.csv", 0));
    assert_int_equal(mkdir(in_scratch("run"), 0700) | mkdir(in_scratch("none"), 0700), 0);
    write_text(in_scratch("run/ops_perf_results.csv"), BEFORE);
    free(devlog_ok("ops compare run b.csv", 0));
    free(devlog_ok("ops summary run", 0));
    devlog_fails("ops compare none b.csv", 1, "none");
    devlog_fails("ops summary none", 1, "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_op_code),
        cmocka_unit_test(filters_and_limits),
        cmocka_unit_test(op_by_op),
        cmocka_unit_test(a_share_that_is_just_enough),
        cmocka_unit_test(reports_without_device_data_are_shown),
        cmocka_unit_test(small_gaps_are_gaps),
        cmocka_unit_test(as_a_command),
        cmocka_unit_test(a_gate_is_not_passed_wrongly),
        cmocka_unit_test(noisy_repeats_pass),
        cmocka_unit_test(what_is_shown_is_harmless),
        cmocka_unit_test(durations_beyond_64_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
