/* Analyses against figures worked out by hand, from the logs in tests/golden; and wrong analysis files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"
#include "decode/analysis/analyzer_internal.h"
#include "support/cmocka_all.h"

typedef struct setup {
    dl_decode *d;
    dl_analyzer *a;
    dl_analysis_list list;
} setup;

static void golden(char out[600], const char *name)
{
    snprintf(out, 600, "%s/tests/golden/%s", dl_home(), name);
}

static setup analyse(const char *log, const char *analyses, const dl_filter *filter)
{
    devlog_error err;
    char path[600];
    setup s = {0};
    const dl_decode_options options = {.filter = filter ? *filter : (dl_filter){0}};
    if (!analyses && dl_analyses_defaults(&s.list, &err)) fail_msg("%s", err.text);
    if (analyses) {
        golden(path, analyses);
        if (dl_analyses_read(&s.list, path, &err)) fail_msg("%s", err.text);
    }
    golden(path, log);
    assert_int_equal(dl_decode_new(&s.d, &options, &err), DEVLOG_OK);
    assert_int_equal(dl_analyzer_new(&s.a, s.d, &s.list, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_run_sink(s.d, dl_analyzer_sink(s.a), &err), DEVLOG_OK);
    if (dl_decode_file(s.d, path, &err)) fail_msg("%s", err.text);
    assert_int_equal(dl_decode_finish(s.d, &err), DEVLOG_OK);
    assert_int_equal(dl_analyzer_finish(s.a, &err), DEVLOG_OK);
    return s;
}

static void done(setup *s)
{
    dl_analyzer_free(s->a);
    dl_analyses_free(&s->list);
    dl_decode_free(s->d);
}

/* x < 0: the chip as a whole. Medians are twice what they are, so that they are whole. */
typedef struct expected {
    const char *name;
    uint32_t chip;
    int x, y;
    uint64_t count, min, max, median2, sum, first, incomplete;
} expected;

static size_t find(const setup *s, const char *name)
{
    for (size_t i = 0; i < s->list.n; i++)
        if (strcmp(s->list.items[i].name, name) == 0) return i;
    fail_msg("no analysis '%s'", name);
    return 0;
}

static void check(const setup *s, const expected *e)
{
    size_t n;
    const dl_analysis_result *r = dl_analyzer_results(s->a, find(s, e->name), &n);
    for (size_t i = 0; i < n; i++) {
        uint32_t x = e->x < 0 ? DL_NONE : (uint32_t)e->x, y = e->x < 0 ? DL_NONE : (uint32_t)e->y;
        if (dl_decode_tables(s->d)->chips[r[i].chip].id != e->chip || r[i].core_x != x || r[i].core_y != y)
            continue;
        const dl_summary *m = &r[i].summary;
        bool same =
            m->count == e->count && m->min == e->min && m->max == e->max && (uint64_t)m->sum == e->sum;
        if (!same || m->median_low + m->median_high != e->median2 || m->first != e->first ||
            r[i].incomplete != e->incomplete)
            fail_msg("%s, chip %u, core %d,%d: count %lu min %lu max %lu medians %lu+%lu sum %lu first %lu "
                     "incomplete %lu",
                     e->name, e->chip, e->x, e->y, m->count, m->min, m->max, m->median_low, m->median_high,
                     (uint64_t)m->sum, m->first, r[i].incomplete);
        return;
    }
    fail_msg("%s has no result for chip %u, core %d,%d", e->name, e->chip, e->x, e->y);
}

static void check_all(const setup *s, const expected *e, size_t n, size_t n_analyses)
{
    size_t with_results = 0;
    for (size_t i = 0; i < n; i++)
        check(s, &e[i]);
    for (size_t i = 0; i < s->list.n; i++) {
        size_t results;
        dl_analyzer_results(s->a, i, &results);
        with_results += results != 0;
    }
    assert_int_equal(with_results, n_analyses);
}

#define CHECK_ALL(s, e, n_analyses) check_all(s, e, sizeof(e) / sizeof((e)[0]), n_analyses)

/* Stamps without their common 1882735000000: NCRISC 35004 36049 36091 36133, BRISC 32214 35364 35433 35518.
 */
static void the_reference_sample(void **state)
{
    (void)state;
    static const expected e[] = {
        {"T0 -> BRISC FW start", 0, -1, 0, 1, 0, 0, 0, 0, 0, 0},
        {"BRISC kernel start -> BRISC kernel end", 0, -1, 0, 1, 69, 69, 138, 69, 69, 0},
        {"NCRISC kernel start -> NCRISC kernel end", 0, 0, 0, 1, 42, 42, 84, 42, 42, 0},
        {"ANY RISC FW start -> ANY RISC FW end", 0, 0, 0, 1, 3919, 3919, 7838, 3919, 3919, 0},
        {"T0 -> ANY RISC FW end", 0, 0, 0, 1, 3919, 3919, 7838, 3919, 3919, 0},
        {"T0 -> ANY CORE ANY RISC FW end", 0, -1, 0, 1, 3919, 3919, 7838, 3919, 3919, 0},
        {"device_fw_duration", 0, -1, 0, 1, 3919, 3919, 7838, 3919, 3919, 0},
        {"device_kernel_duration", 0, -1, 0, 1, 727, 727, 1454, 727, 727, 0},
        {"device_kernel_duration_per_core", 0, 0, 0, 1, 727, 727, 1454, 727, 727, 0},
        {"device_kernel_duration_dm_start", 0, -1, 0, 1, 727, 727, 1454, 727, 727, 0},
        {"device_kernel_first_to_last_start", 0, -1, 0, 1, 685, 685, 1370, 685, 685, 0},
        {"device_brisc_kernel_duration", 0, -1, 0, 1, 69, 69, 138, 69, 69, 0},
        {"device_ncrisc_kernel_duration", 0, -1, 0, 1, 42, 42, 84, 42, 42, 0},
        {"op2op", 0, 0, 0, 1, 616, 616, 1232, 616, 616, 0},
    };
    setup s = analyse("reference/log.csv", NULL, NULL);
    CHECK_ALL(&s, e, 14);
    done(&s);
}

static void two_launches_on_two_cores_without_ids(void **state)
{
    (void)state;
    static const expected e[] = {
        {"T0 -> BRISC FW start", 0, -1, 0, 2, 0, 5, 5, 5, 0, 0},
        {"BRISC kernel start -> BRISC kernel end", 0, -1, 0, 4, 100, 200, 350, 650, 100, 0},
        {"BRISC kernel start -> BRISC kernel end", 0, 0, 0, 2, 100, 150, 250, 250, 100, 0},
        {"BRISC kernel start -> BRISC kernel end", 0, 1, 0, 2, 200, 200, 400, 400, 200, 0},
        {"NCRISC kernel start -> NCRISC kernel end", 0, -1, 0, 2, 340, 350, 690, 690, 350, 0},
        {"ANY RISC FW start -> ANY RISC FW end", 0, -1, 0, 4, 400, 480, 850, 1730, 450, 0},
        {"ANY RISC FW start -> ANY RISC FW end", 0, 0, 0, 2, 450, 480, 930, 930, 450, 0},
        {"ANY RISC FW end -> BRISC FW start", 0, -1, 0, 2, 550, 600, 1150, 1150, 600, 0},
        {"ANY RISC FW end -> BRISC FW start", 0, 0, 0, 1, 550, 550, 1100, 550, 550, 0},
        {"T0 -> ANY RISC FW end", 0, 1, 0, 1, 1405, 1405, 2810, 1405, 1405, 0},
        {"T0 -> ANY CORE ANY RISC FW end", 0, -1, 0, 1, 1480, 1480, 2960, 1480, 1480, 0},
        {"device_fw_duration", 0, -1, 0, 2, 450, 480, 930, 930, 450, 0},
        {"device_kernel_duration", 0, -1, 0, 2, 340, 350, 690, 690, 350, 0},
        {"device_kernel_duration_per_core", 0, -1, 0, 4, 200, 350, 540, 1090, 350, 0},
        {"device_kernel_duration_per_core", 0, 1, 0, 2, 200, 200, 400, 400, 200, 0},
        {"device_kernel_first_to_last_start", 0, -1, 0, 2, 45, 55, 100, 100, 55, 0},
        {"device_brisc_kernel_duration", 0, -1, 0, 2, 205, 205, 410, 410, 205, 0},
        {"device_ncrisc_kernel_duration", 0, -1, 0, 2, 340, 350, 690, 690, 350, 0},
        {"op2op", 0, -1, 0, 2, 660, 800, 1460, 1460, 800, 0},
        {"op2op", 0, 0, 0, 1, 660, 660, 1320, 660, 660, 0},
    };
    setup s = analyse("l2/log.csv", NULL, NULL);
    CHECK_ALL(&s, e, 15);
    done(&s);
}

/* What a trace of programs leaves where nothing but traces is profiled: zones of TENSIX_RISC_AGG. */
static void traces(void **state)
{
    (void)state;
    static const expected e[] = {
        {"trace_fw_duration", 0, -1, 0, 2, 850, 1000, 1850, 1850, 850, 0},
        {"trace_kernel_duration", 0, -1, 0, 2, 650, 800, 1450, 1450, 650, 0},
        {"trace2trace - FW", 0, -1, 0, 1, 1150, 1150, 2300, 1150, 1150, 0},
        {"trace2trace - kernel", 0, -1, 0, 1, 1350, 1350, 2700, 1350, 1350, 0},
    };
    setup s = analyse("traces/log.csv", NULL, NULL);
    for (size_t i = 0; i < sizeof e / sizeof e[0]; i++)
        check(&s, &e[i]);
    done(&s);
}

static void two_chips_with_sums_and_losses(void **state)
{
    (void)state;
    static const expected e[] = {
        {"T0 -> BRISC FW start", 0, 2, 1, 1, 10, 10, 20, 10, 10, 0},
        {"T0 -> BRISC FW start", 1, -1, 0, 1, 0, 0, 0, 0, 0, 0},
        {"BRISC kernel start -> BRISC kernel end", 0, 1, 1, 2, 300, 400, 700, 700, 300, 0},
        {"BRISC kernel start -> BRISC kernel end", 1, 1, 1, 1, 200, 200, 400, 200, 200, 0},
        {"ANY RISC FW end -> BRISC FW start", 0, -1, 0, 1, 3480, 3480, 6960, 3480, 3480, 0},
        {"device_fw_duration", 0, -1, 0, 2, 600, 710, 1310, 1310, 710, 0},
        {"device_fw_duration", 1, -1, 0, 1, 300, 300, 600, 300, 300, 0},
        {"device_kernel_duration", 0, -1, 0, 2, 400, 510, 910, 910, 510, 0},
        {"device_kernel_first_to_last_start", 0, -1, 0, 2, 0, 30, 30, 30, 30, 0},
        {"device_trisc0_kernel_duration", 0, -1, 0, 1, 410, 410, 820, 410, 410, 0},
        {"device_compute_cb_wait_front", 0, -1, 0, 1, 700, 700, 1400, 700, 700, 0},
        {"op2op", 0, 1, 1, 1, 3660, 3660, 7320, 3660, 3660, 0},
    };
    setup s = analyse("l9/log.csv", NULL, NULL);
    CHECK_ALL(&s, e, 16);
    done(&s);
}

static void the_users_own(void **state)
{
    (void)state;
    static const expected e[] = {
        {"blocks", 0, -1, 0, 2, 60, 100, 160, 160, 100, 1},
        {"waiting per core", 0, -1, 0, 2, 300, 400, 700, 700, 300, 0},
        {"waiting per core", 0, 2, 1, 1, 400, 400, 800, 400, 400, 0},
        {"FW of core 1,1", 0, -1, 0, 2, 520, 600, 1120, 1120, 520, 0},
        {"FW of core 1,1", 1, -1, 0, 1, 300, 300, 600, 300, 300, 0},
        {"by timer", 0, 1, 1, 1, 50, 50, 100, 50, 50, 0},
    };
    setup s = analyse("l9/log.csv", "l9/analyses.json", NULL);
    CHECK_ALL(&s, e, 5);
    size_t n;
    const dl_analysis_event *events = dl_analyzer_events(s.a, find(&s, "points"), &n);
    assert_int_equal(n, 2);
    assert_string_equal(dl_site_text(dl_decode_tables(s.d), events[0].site), "half way");
    assert_int_equal(events[0].time, 5200);
    assert_int_equal(events[1].time, 5310);
    assert_int_equal(events[1].data, 42);
    done(&s);
}

/* Only the first launch of chip 0 is left: the second is skipped by its number, chip 1 by its own. */
static void filters_hold_for_analyses(void **state)
{
    (void)state;
    static const dl_filter_range chips[] = {{0, 0}}, launches[] = {{7, 7}};
    const dl_filter filter = {.chips = chips, .n_chips = 1, .launches = launches, .n_launches = 1};
    static const expected e[] = {
        {"BRISC kernel start -> BRISC kernel end", 0, -1, 0, 2, 300, 500, 800, 800, 300, 0},
        {"device_fw_duration", 0, -1, 0, 1, 710, 710, 1420, 710, 710, 0},
        {"device_compute_cb_wait_front", 0, -1, 0, 1, 700, 700, 1400, 700, 700, 0},
    };
    setup s = analyse("l9/log.csv", NULL, &filter);
    for (size_t i = 0; i < 3; i++)
        check(&s, &e[i]);
    size_t n;
    dl_analyzer_results(s.a, find(&s, "device_fw_duration"), &n);
    assert_int_equal(n, 1);
    done(&s);
}

static void wrong_files_are_told(void **state)
{
    (void)state;
#define TWO(name, across, type, start, end)                                                                  \
    "{\"" name "\": {\"across\": \"" across "\", \"type\": \"" type "\", \"start\": " start                  \
    ", \"end\": " end "}}"
    static const char *const texts[][2] = {
        {"", "t.json:1: not JSON"},
        {"{\n\"a\": \n}", "t.json:3: not JSON"},
        {"[]", "not an object of analyses by name"},
        {"{\"a\": 1}", "analysis 'a': not an object"},
        {"{\"\": {}}", "no name"},
        {"{\"a\": {}}", "analysis 'a': across 'missing'"},
        {TWO("a", "chip", "adjacent", "{}", "{}"), "across 'chip'"},
        {TWO("a", "core", "near", "{}", "{}"), "type 'near'"},
        {TWO("a", "ops", "adjacent", "{}", "{}"), "adjacent is across risc, core or device"},
        {TWO("a", "core", "adjacent", "1", "{}"), "start: not an object"},
        {TWO("a", "core", "adjacent", "{}", "{\"zone\": 1}"), "end: unknown key 'zone'"},
        {TWO("a", "core", "adjacent", "{}", "{\"timerID\": 0}"), "which can only be a start"},
        {TWO("a", "core", "adjacent", "{\"timerID\": -1}", "{}"), "timerID is not a number"},
        {TWO("a", "core", "adjacent", "{\"core\": [1]}", "{}"), "core is neither"},
        {TWO("a", "core", "adjacent", "{\"core\": [1, 70000]}", "{}"), "core is neither"},
        {TWO("a", "core", "adjacent", "{\"risc\": 3}", "{}"), "risc is not a text"},
        {TWO("a", "core", "adjacent", "{\"zone_name\": []}", "{}"), "zone_name is an empty list"},
        {TWO("a", "core", "adjacent", "{\"zone_name\": [1]}", "{}"), "zone_name is neither"},
        {TWO("a", "core", "adjacent", "{\"zone_phase\": \"MIDDLE\"}", "{}"), "zone_phase 'MIDDLE'"},
        {TWO("a", "core", "sum", "{}", "{}"), "marker: missing"},
        {"{\"a\": {\"across\": \"core\", \"type\": \"sum\", \"marker\": {\"timerID\": 0}}}",
         "timerID 0 is no marker"},
        {"{\"a\": {\"across\": \"core\", \"type\": \"sum\", \"mark\": {}}}", "unknown key 'mark'"},
    };
#undef TWO
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        devlog_error err = {0};
        dl_analysis_list list = {0};
        assert_int_equal(dl_analyses_parse(&list, "t.json", texts[i][0], &err), DEVLOG_ERR_FORMAT);
        if (!strstr(err.text, texts[i][1])) fail_msg("'%s' says '%s'", texts[i][0], err.text);
        assert_int_equal(dl_analyses_parse(&list, "t.json", texts[i][0], NULL), DEVLOG_ERR_FORMAT);
        dl_analyses_free(&list);
    }
}

/* The example in docs/file-formats.md is one that works. */
static void the_documents_example_is_read(void **state)
{
    (void)state;
    char path[600];
    devlog_error err;
    dl_str text = {0};
    dl_analysis_list list = {0};
    snprintf(path, sizeof path, "%s/docs/file-formats.md", dl_home());
    assert_int_equal(dl_file_read(path, 1 << 20, &text, &err), DEVLOG_OK);
    char *from = strstr(text.text, "```json\n");
    assert_non_null(from);
    from += strlen("```json\n");
    *strstr(from, "```") = '\0';
    if (dl_analyses_parse(&list, "docs/file-formats.md", from, &err)) fail_msg("%s", err.text);
    assert_int_equal(list.n, 5);
    dl_analyses_free(&list);
    dl_str_free(&text);
}

/* A file may replace a default by its name, and there is a limit to how many there are. */
/* A log of so many launches on cores that what analyses hold of them goes to a file. */
static void write_many_launches(const char *path)
{
    enum { LAUNCHES = 2400, CORES = 64, CYCLES = 5000 };
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(
        f,
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], stat value, run ID, "
        "run host ID,  zone name, type, source line, source file\n");
    for (unsigned core = 0; core < CORES; core++)
        for (unsigned i = 0; i < LAUNCHES; i++)
            for (unsigned end = 0; end < 2; end++)
                fprintf(f, "0,%u,%u,BRISC,%u,%u,0,0,%u,BRISC-FW,ZONE_%s,1,a.cc\n", 1 + core % 8, 1 + core / 8,
                        1 + end, 1000 + i * CYCLES + core + end * (1000 + i % 7 * 100), i + 1,
                        end ? "END" : "START");
    assert_int_equal(fclose(f), 0);
}

static setup analyse_in(const char *log, const char *scratch)
{
    devlog_error err;
    setup s = {0};
    const dl_decode_options options = {.scratch = scratch};
    assert_int_equal(dl_analyses_defaults(&s.list, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_new(&s.d, &options, &err), DEVLOG_OK);
    assert_int_equal(dl_analyzer_new(&s.a, s.d, &s.list, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_run_sink(s.d, dl_analyzer_sink(s.a), &err), DEVLOG_OK);
    if (dl_decode_file(s.d, log, &err) || dl_decode_finish(s.d, &err)) fail_msg("%s", err.text);
    const bool filed = s.a->blocks[SCOPE_LAUNCH_CORE].big.file != 0;
    if (!scratch && filed) fail_msg("a file nobody asked for");
    if (scratch && !filed && !s.a->blocks[SCOPE_LAUNCH_CORE].big.stays) fail_msg("in memory");
    assert_int_equal(dl_analyzer_finish(s.a, &err), DEVLOG_OK);
    return s;
}

static void long_logs_are_analysed_from_a_file(void **state)
{
    (void)state;
    char path[] = "/tmp/devlog-analyses-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    write_many_launches(path);
    setup in_memory = analyse_in(path, NULL), in_file = analyse_in(path, "/tmp");
    uint64_t count = 0;
    for (size_t i = 0; i < in_memory.list.n; i++) {
        size_t n, m;
        const dl_analysis_result *x = dl_analyzer_results(in_memory.a, i, &n);
        const dl_analysis_result *y = dl_analyzer_results(in_file.a, i, &m);
        assert_int_equal(n, m);
        for (size_t k = 0; k < n; k++) {
            assert_int_equal(x[k].incomplete, y[k].incomplete);
            assert_int_equal(x[k].summary.count, y[k].summary.count);
            assert_int_equal(x[k].summary.p50, y[k].summary.p50);
            assert_int_equal(x[k].summary.p99, y[k].summary.p99);
            assert_true(x[k].summary.sum == y[k].summary.sum);
            count += x[k].summary.count;
        }
    }
    assert_true(count > 100 * 1000);
    done(&in_memory);
    done(&in_file);
    unlink(path);
}

static void names_replace_and_are_limited(void **state)
{
    (void)state;
    devlog_error err;
    dl_analysis_list list = {0};
    assert_int_equal(dl_analyses_defaults(&list, &err), DEVLOG_OK);
    size_t n = list.n;
    const char *text =
        "{\"timerAnalysis\": {\"device_fw_duration\": {\"across\": \"core\", \"type\": \"sum\", "
        "\"marker\": {}}}}";
    assert_int_equal(dl_analyses_parse(&list, "t", text, &err), DEVLOG_OK);
    assert_int_equal(list.n, n);
    devlog_status status = DEVLOG_OK;
    for (int i = 0; i < DL_MAX_ANALYSES && !status; i++) {
        char one[128];
        snprintf(one, sizeof one, "{\"a%d\": {\"across\": \"core\", \"type\": \"sum\", \"marker\": {}}}", i);
        status = dl_analyses_parse(&list, "t", one, &err);
    }
    assert_int_equal(status, DEVLOG_ERR_FORMAT);
    assert_non_null(strstr(err.text, "more than 64 analyses"));
    assert_int_equal(list.n, DL_MAX_ANALYSES);
    dl_analyses_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reference_sample),
        cmocka_unit_test(two_launches_on_two_cores_without_ids),
        cmocka_unit_test(two_chips_with_sums_and_losses),
        cmocka_unit_test(traces),
        cmocka_unit_test(the_users_own),
        cmocka_unit_test(filters_hold_for_analyses),
        cmocka_unit_test(wrong_files_are_told),
        cmocka_unit_test(the_documents_example_is_read),
        cmocka_unit_test(names_replace_and_are_limited),
        cmocka_unit_test(long_logs_are_analysed_from_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
