/* Two op reports beside one another: by op code and op by op, what is worse, and how the command ends. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void item_is(const pair *p, size_t i, const char *code, uint64_t counts[2], uint64_t ns[2], bool worse)
{
    assert_true(i < p->c.n);
    const op_compare_item *x = &p->c.items[i];
    assert_string_equal(x->code, code);
    assert_int_equal(x->before.count, counts[0]);
    assert_int_equal(x->after.count, counts[1]);
    assert_int_equal(x->before.ns, ns[0]);
    assert_int_equal(x->after.ns, ns[1]);
    if (x->worse != worse) fail_msg("%s is %sworse", code, worse ? "not " : "");
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
    item_is(&p, 0, "Add", PAIR(1, 2), PAIR(100, 60), false);
    item_is(&p, 1, "Matmul", PAIR(2, 2), PAIR(300, 330), true);
    item_is(&p, 2, "New", PAIR(0, 1), PAIR(0, 20), false); /* there is nothing that it could be worse than */
    item_is(&p, 3, "Gone", PAIR(1, 0), PAIR(10, 0), false);
    item_is(&p, 4, "Cpu", PAIR(1, 1), PAIR(0, 0), false);
    assert_int_equal(p.c.worse, 1);
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
        {{.judged = true, .max_regression = 10.1}, 5, 0, 0, 0},
        {{.max_regression = 1}, 5, 0, 0, 0}, /* nobody asked for a judgement */
        {{.judged = true, .by_fw = true}, 5, 0, 0, 0},
        {{.judged = true, .min_share = 5}, 2, 1, 3, 0},
        {{.judged = true, .min_share = 4.5}, 3, 1, 2, 0}, /* New has more than that in one of them */
        {{.judged = true, .ops = (const char *const[]){"M*"}, .n_ops = 1}, 1, 1, 0, 7},
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
    item_is(&p, 0, "Matmul", PAIR(1, 1), PAIR(100, 100), false);
    item_is(&p, 1, "Add", PAIR(1, 1), PAIR(100, 103), true);
    item_is(&p, 2, "Matmul", PAIR(1, 1), PAIR(200, 190), false);
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
    assert_non_null(strstr(text, "Matmul  worse\n"));
    assert_non_null(strstr(text, "1 of 5 lines are worse by more than 9.9 %"));
    free(text);
    text = devlog_ok("ops compare --format csv --max-regression=10.5 b.csv a.csv", 0);
    assert_non_null(strstr(text, "\nAdd,1,2,1,2,100,60,100,30,-40,-70.00,0\n"));
    assert_non_null(strstr(text, "\nNew,0,1,0,1,0,20,0,20,20,,0\n"));
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
    devlog_fails("ops compare b.csv", 2, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_op_code),
        cmocka_unit_test(filters_and_limits),
        cmocka_unit_test(op_by_op),
        cmocka_unit_test(as_a_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
