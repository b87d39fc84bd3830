/* Op reports read back: those of tt-metal against mawk's sums, damaged ones, and the filters of the summary.
 */
#include <cJSON.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "ops/op_summary.h"
#include "support/cmocka_all.h"
#include "support/device.h"
#include "support/files.h"

static op_table parsed(const char *text)
{
    op_table t;
    devlog_error err = {0};
    check_ok(op_table_parse(&t, "memory", text, strlen(text), &err), &err);
    return t;
}

static const op_summary_item *item_of(const op_summary *s, const op_table *t, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(dl_intern_text(t->texts, s->items[i].code, NULL), name) == 0) return &s->items[i];
    return NULL;
}

/* mawk: one line "code<TAB>rows<TAB>fw<TAB>kernel" for each op code that is no signpost. */
static char *mawk_sums(const char *path)
{
    static const char program[] = "BEGIN{FS=\",\"} NR==1{for(i=1;i<=NF;i++){sub(/\\r$/,\"\",$i);c[$i]=i} "
                                  "next} $c[\"OP TYPE\"]!=\"signpost\"{"
                                  "k=$c[\"OP CODE\"];n[k]++;f[k]+=$c[\"DEVICE FW DURATION "
                                  "[ns]\"];e[k]+=$c[\"DEVICE KERNEL DURATION [ns]\"]}"
                                  "END{for(k in n) printf \"%s\\t%.0f\\t%.0f\\t%.0f\\n\",k,n[k],f[k],e[k]}";
    const char *const argv[] = {"mawk", program, path, NULL};
    dl_output out;
    devlog_error err = {0};
    devlog_status status = dl_process_run(argv, &out, &err);
    if (status == DEVLOG_ERR_NOT_FOUND) return NULL;
    check_ok(status, &err);
    assert_int_equal(out.exit, 0);
    return out.text;
}

static void compare_with_mawk(const char *path)
{
    op_table t;
    op_summary s;
    devlog_error err = {0};
    const op_summary_options o = {0};
    char *sums = mawk_sums(path), *save = NULL;
    if (!sums) {
        printf("no mawk: %s not compared\n", path);
        return;
    }
    check_ok(op_table_read(&t, path, &err), &err);
    check_ok(op_summary_make(&s, &t, &o, &err), &err);
    assert_int_equal(t.bad_cells + t.short_rows + t.long_rows, 0);
    size_t n = 0;
    uint64_t rows = 0;
    for (char *line = strtok_r(sums, "\n", &save); line; line = strtok_r(NULL, "\n", &save), n++) {
        char *tab = strchr(line, '\t');
        *tab = 0;
        unsigned long long count, fw, kernel;
        assert_int_equal(sscanf(tab + 1, "%llu\t%llu\t%llu", &count, &fw, &kernel), 3);
        const op_summary_item *x = item_of(&s, &t, line);
        if (!x) fail_msg("%s: no op '%s'", path, line);
        assert_true(x->count == count && x->fw_ns == fw && x->kernel_ns == kernel && x->total_ns == kernel);
        rows += count;
    }
    assert_int_equal(s.n, n);
    assert_true(s.all.count == rows && rows > 100);
    free(sums);
    op_summary_free(&s);
    op_table_free(&t);
}

static void samples_equal_an_independent_sum(void **state)
{
    (void)state;
    const char *folder = getenv("DEVLOG_SAMPLES");
    char pattern[400];
    glob_t found;
    if (!folder) {
        print_message("skipped: DEVLOG_SAMPLES does not name a folder with op reports of other tools\n");
        skip();
    }
    snprintf(pattern, sizeof pattern, "%s/ops_*.csv", folder);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        compare_with_mawk(found.gl_pathv[i]);
    globfree(&found);
}

#define HEADER                                                                                               \
    "OP CODE,OP TYPE,GLOBAL CALL COUNT,CORE COUNT,OP TO OP LATENCY [ns],DEVICE FW DURATION [ns],DEVICE "     \
    "KERNEL DURATION [ns]\n"

static void groups_are_ranked_and_filtered(void **state)
{
    (void)state;
    devlog_error err = {0};
    op_table t = parsed(HEADER "first,signpost,,,,,\n"
                               "Add,tt_dnn_device,1,4,0,20,10\n"
                               "\"Mat, mul\",tt_dnn_device,2,8,-5,200,100\n"
                               "second,signpost,,,,,\n"
                               "\"Mat, mul\",tt_dnn_device,3,16,7,300,290\n"
                               "Host,tt_dnn_cpu,4,-,-,-,-\n");
    op_summary s;
    op_summary_options o = {0};
    check_ok(op_summary_make(&s, &t, &o, &err), &err);
    assert_int_equal(s.n, 3);
    assert_string_equal(dl_intern_text(t.texts, s.items[0].code, NULL), "Mat, mul");
    const op_summary_item *m = &s.items[0];
    assert_true(m->count == 2 && m->total_ns == 390 && m->min_ns == 100 && m->max_ns == 290 &&
                m->gap_ns == 2);
    assert_true(m->cores_min == 8 && m->cores_max == 16 && m->fw_ns == 500);
    assert_true(s.all.count == 4 && s.all.with_device == 3 && s.all.total_ns == 400);
    dl_str text = {0};
    o.format = OP_SUMMARY_JSON;
    op_summary_print(&s, &t, &o, &text);
    cJSON *json = cJSON_Parse(text.text);
    assert_non_null(json);
    assert_true(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "total"), "total_ns")->valuedouble == 400);
    assert_string_equal(
        cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "ops"), 0), "op_code")->valuestring,
        "Mat, mul");
    cJSON_Delete(json);
    op_summary_free(&s);

    const struct {
        op_summary_options o;
        uint64_t count, total;
        size_t items;
    } cases[] = {
        {{.from = "second"}, 2, 290, 2},      {{.to = "second"}, 2, 110, 2},
        {{.first = 2, .last = 3}, 2, 390, 1}, {{.first = 3}, 2, 290, 2},
        {{.min_share = 10}, 4, 400, 1},       {{.list = true}, 4, 400, 4},
        {{.by_fw = true}, 4, 520, 3},         {{.filter = {(const char *const[]){"Mat*"}, 1}}, 2, 390, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_ok(op_summary_make(&s, &t, &cases[i].o, &err), &err);
        if (s.all.count != cases[i].count || s.all.total_ns != cases[i].total || s.n != cases[i].items)
            fail_msg("case %zu: %llu ops, %llu ns, %zu lines", i, (unsigned long long)s.all.count,
                     (unsigned long long)s.all.total_ns, s.n);
        assert_true(s.all.count + s.left_out == 4);
        op_summary_free(&s);
    }
    assert_int_equal(op_summary_make(&s, &t, &(op_summary_options){.from = "third"}, &err),
                     DEVLOG_ERR_NOT_FOUND);
    assert_string_equal(err.text, "memory has no signpost 'third'; it has 'first', 'second'");

    /* What matches nothing is an error that says what there is. */
    const struct {
        op_summary_options o;
        const char *says;
    } nothing[] = {
        {{.filter = {(const char *const[]){"Add", "Sub*"}, 2}},
         "--ops Sub*: no such op; memory has 'Add', 'Mat, mul', 'Host'"},
        {{.first = 5}, "--ids: no such op; those of memory are 1 to 4"},
        {{.first = 1, .last = 2, .from = "second"},
         "the filters together leave nothing of the ops of memory"},
        {{.filter = {(const char *const[]){"Add"}, 1}, .from = "second"},
         "the filters together leave nothing of the ops of memory"},
    };
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
        assert_int_equal(op_summary_make(&s, &t, &nothing[i].o, &err), DEVLOG_ERR_NOT_FOUND);
        assert_string_equal(err.text, nothing[i].says);
    }
    dl_str_free(&text);
    op_table_free(&t);
}

/* Ops inside ops, on two threads, in two rows for two chips: the host spent their time once. */
static void host_time_is_counted_once(void **state)
{
    (void)state;
    devlog_error err = {0};
    static const struct {
        const char *text;
        uint64_t all, outer, inner;
    } cases[] = {
        {"OP CODE,GLOBAL CALL COUNT,HOST START TS,HOST END TS,HOST DURATION [ns],HOST THREAD\n"
         "outer,1,1000,1100,100,0\ninner,2,1010,1050,40,0\ninner,2,1010,1050,40,0\n"
         "inner,3,1020,1080,60,1\nouter,4,1200,1210,10,0\n",
         170, 110, 100},
        /* Without a beginning: rows of one op count once. */
        {"OP CODE,GLOBAL CALL COUNT,HOST DURATION [ns]\nouter,1,100\nouter,1,100\ninner,2,40\n", 140, 100,
         40},
        {"OP CODE,GLOBAL CALL COUNT,HOST DURATION [ns],DEVICE FW DURATION [ns]\nouter,1,,5\ninner,2,-,6\n", 0,
         0, 0},
        /* In no order, and one op twice with another between. */
        {"OP CODE,GLOBAL CALL COUNT,HOST START TS,HOST END TS,HOST DURATION [ns],HOST THREAD\n"
         "inner,2,1010,1050,40,0\nouter,1,1000,1100,100,0\ninner,2,1010,1050,40,0\ninner,5,900,950,50,0\n",
         150, 100, 90},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        op_table t = parsed(cases[i].text);
        op_summary s;
        check_ok(op_summary_make(&s, &t, &(op_summary_options){.format = OP_SUMMARY_JSON}, &err), &err);
        assert_int_equal(s.all.host_ns, cases[i].all);
        assert_int_equal(item_of(&s, &t, "outer")->host_ns, cases[i].outer);
        assert_int_equal(item_of(&s, &t, "inner")->host_ns, cases[i].inner);
        dl_str text = {0};
        op_summary_print(&s, &t, &(op_summary_options){.format = OP_SUMMARY_JSON}, &text);
        cJSON *json = cJSON_Parse(text.text), *total = cJSON_GetObjectItem(json, "total");
        assert_non_null(total);
        if (cJSON_IsNull(cJSON_GetObjectItem(total, "host_ns")) != (i == 2)) fail_msg("%s", text.text);
        assert_true(cJSON_IsNull(cJSON_GetObjectItem(total, "kernel_ns")));
        assert_true(cJSON_IsNull(cJSON_GetObjectItem(total, "gap_ns")));
        assert_true(cJSON_IsNull(cJSON_GetObjectItem(total, "avg_ns")));
        assert_true(cJSON_IsNull(cJSON_GetObjectItem(total, "cores_max")));
        cJSON_Delete(json);
        dl_str_clear(&text);
        op_summary_print(&s, &t, &(op_summary_options){0}, &text);
        /* Nothing is known of the device: no zero says that it took no time. */
        if (i < 2 &&
            !strstr(text.text,
                    "\n    5        -           -         -    -    -                  -  in total\n") &&
            !strstr(text.text,
                    "\n    3        -           -         -    -    -                  -  in total\n"))
            fail_msg("%s", text.text);
        dl_str_free(&text);
        op_summary_free(&s);
        op_table_free(&t);
    }
}

/* What programs read is not rounded: neither the mean of 10, 11 and 11 ns nor a third. */
static void programs_read_what_is_not_rounded(void **state)
{
    (void)state;
    devlog_error err = {0};
    op_table t = parsed(HEADER "A,tt_dnn_device,1,4,0,20,10\nA,tt_dnn_device,2,4,0,20,11\n"
                               "A,tt_dnn_device,3,4,0,20,11\nB,tt_dnn_device,4,4,0,20,64\n");
    op_summary s;
    dl_str text = {0};
    check_ok(op_summary_make(&s, &t, &(op_summary_options){0}, &err), &err);
    op_summary_print(&s, &t, &(op_summary_options){.format = OP_SUMMARY_JSON}, &text);
    cJSON *json = cJSON_Parse(text.text), *a = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "ops"), 1);
    assert_non_null(a);
    assert_string_equal(cJSON_GetObjectItem(a, "op_code")->valuestring, "A");
    assert_true(cJSON_GetObjectItem(a, "avg_ns")->valuedouble == 32 / 3.0);
    assert_true(cJSON_GetObjectItem(a, "share_percent")->valuedouble == 100.0 * 32 / 96);
    cJSON_Delete(json);
    dl_str_clear(&text);
    op_summary_print(&s, &t, &(op_summary_options){.format = OP_SUMMARY_CSV}, &text);
    /* The shortest text that reads back as the same. */
    if (!strstr(text.text, ",10.666666666666666,0,4,4,33.333333333333336\n")) fail_msg("%s", text.text);
    dl_str_free(&text);
    op_summary_free(&s);
    op_table_free(&t);
}

static void what_is_wrong_is_counted(void **state)
{
    (void)state;
    devlog_error err = {0};
    op_table t = parsed("\xEF\xBB\xBFunknown," HEADER
                        "x,A,t,1,4,0,20,ten\nx,B,t,2,4,0,20\n\nx,C,t,3,4,1.5,20.0,7.6,more\n"
                        "x,D,t,4,-4,2e1,-1,99999999999999999999\n");
    assert_int_equal(t.n, 4);
    assert_int_equal(t.bad_cells, 4);
    assert_int_equal(t.short_rows, 1);
    assert_int_equal(t.long_rows, 1);
    assert_non_null(strstr(t.details[0], "memory, row 2: DEVICE KERNEL DURATION [ns] is 'ten'"));
    assert_true(t.rows[2].gap_ns == 2 && t.rows[2].kernel_ns == 8 && t.rows[3].gap_ns == 20);
    op_table_free(&t);
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "memory is empty"},
        {"a,b\n1,2\n", "no column 'OP CODE'; is it an op report"},
        {"OP CODE\nx\n", "no column 'DEVICE KERNEL DURATION [ns]'"},
    };
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(op_table_parse(&t, "memory", bad[i].text, strlen(bad[i].text), &err),
                         DEVLOG_ERR_FORMAT);
        if (!strstr(err.text, bad[i].says)) fail_msg("'%s' does not say '%s'", err.text, bad[i].says);
        op_table_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_equal_an_independent_sum),
        cmocka_unit_test(groups_are_ranked_and_filtered),
        cmocka_unit_test(host_time_is_counted_once),
        cmocka_unit_test(programs_read_what_is_not_rounded),
        cmocka_unit_test(what_is_wrong_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
