/* devlog export on the command line: formats by name and by suffix, what is said when something is missing.
 */
#include "support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process.h"
#include "base/str.h"
#include "decode/capture/capture.h"
#include "support/files.h"
#include "support/page.h"

static char folder[] = "/tmp/devlog-export-XXXXXX";

/* Runs devlog export with up to six arguments; returns its exit status and what it printed. */
static int run(char **text, const char *a, const char *b, const char *c, const char *d, const char *e)
{
    devlog_error err;
    dl_output out = {0};
    const char *program = getenv("DEVLOG_BIN");
    const char *argv[] = {program ? program : "build/asan/bin/devlog", "export", a, b, c, d, e, NULL};
    assert_int_equal(dl_process_run(argv, &out, &err), DEVLOG_OK);
    *text = out.text;
    return out.exit;
}

static const char *path(char out[128], const char *name)
{
    snprintf(out, 128, "%s/%s", folder, name);
    return out;
}

static void formats_by_name_and_suffix(void **state)
{
    (void)state;
    char log[128], output[128], *text;
    static const char *const names[] = {
        "a.perfetto-trace",  "a.json",   "a.json.gz", "a.csv",    "a.sqlite", "a.zones.json",
        "a.speedscope.json", "a.folded", "a.ctf",     "a.xplane", "a.fxt"};
    write_text(path(log, "log.csv"), "0, 0, 0, NCRISC, 1, 100\n0, 0, 0, NCRISC, 4, 103\n");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(run(&text, "-o", path(output, names[i]), log, NULL, NULL), 0);
        assert_string_equal(text, "");
        assert_int_equal(access(output, R_OK), 0);
        free(text);
    }
    assert_int_equal(run(&text, "--format", "csv", "--output=-", log, NULL), 0);
    assert_non_null(strstr(text, "zone,0,0,0,NCRISC,NCRISC-FW,,,0,,,,100,3,,,,0,0,\n"));
    free(text);
    assert_int_equal(run(&text, "--format", "list", NULL, NULL, NULL), 0);
    assert_non_null(strstr(text, "perfetto"));
    free(text);
}

static void what_is_missing_is_said(void **state)
{
    (void)state;
    char log[128], output[128], *text;
    static const struct {
        const char *a, *b, *c, *says;
        int exit;
    } cases[] = {
        {"-f", "speed", "x", "there is no format speed", 2},
        {"x", NULL, NULL, "which format?", 2},
        {"-o", "trace.bin", "x", "which format?", 2},
        {"-f", "csv", NULL, "which log?", 2},
        {"-f", "csv", "/nowhere/log.csv", "/nowhere/log.csv", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(run(&text, cases[i].a, cases[i].b, cases[i].c, NULL, NULL), cases[i].exit);
        if (!strstr(text, cases[i].says)) fail_msg("'%s' is not in: %s", cases[i].says, text);
        free(text);
    }
    write_text(path(log, "empty.csv"), "");
    assert_int_equal(run(&text, "-o", path(output, "empty.json"), log, NULL, NULL), 1);
    assert_non_null(
        strstr(text, "empty.csv: the file is empty; did the program end before it wrote its log"));
    assert_int_not_equal(access(output, F_OK), 0);
    free(text);
    /* A zone that never ends: the file is there, and the exit status says that something is missing. */
    write_text(path(log, "open.csv"), "0, 0, 0, NCRISC, 1, 100\n");
    assert_int_equal(run(&text, "-o", path(output, "open.json"), log, NULL, NULL), 3);
    assert_non_null(strstr(text, "never ended"));
    assert_int_equal(access(output, R_OK), 0);
    free(text);
    assert_int_equal(run(&text, "-f", "sqlite", "-o", "-", log), 1);
    assert_non_null(strstr(text, "standard output"));
    free(text);
}

#define HEAD                                                                                                 \
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"                                                              \
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID," \
    "trace id, trace id counter, zone name, type, source line, source file, meta data\n"
#define ZONE(launch, zone, from, to, meta)                                                                   \
    "0,0,0,BRISC,1," #from ",0," #launch ",,," zone ",ZONE_START,0,," meta "\n"                              \
    "0,0,0,BRISC,1," #to ",0," #launch ",,," zone ",ZONE_END,0,,\n"
#define START(id, name)                                                                                      \
    "{\"e\":\"start\",\"id\":" #id ",\"t\":5,\"thread\":0,\"depth\":1,\"name\":\"" name "\"}\n"

static void launches_are_called_after_their_ops(void **state)
{
    (void)state;
    char log[128], ops[128], *text;
    write_text(path(log, "with_ops.csv"),
               HEAD ZONE(7, "BRISC-FW", 100, 200, "{\"op\":1}") ZONE(8, "BRISC-FW", 300, 400, "{\"op\":2}")
                   ZONE(9, "BRISC-FW", 500, 600, ""));
    write_text(
        path(ops, "profile_log_ops.jsonl"),
        "{\"e\":\"run\",\"t\":1,\"version\":1,\"run\":\"ab\",\"pid\":1}\n" START(1, "matmul, \\\"big\\\""));
    /* The op log beside the device log is found by itself. */
    assert_int_equal(run(&text, "-f", "csv", "-o", "-", log), 0);
    assert_non_null(strstr(text, "launch,0,,,,\"matmul, \"\"big\"\"\",,,7,,,1,100,100,100,100,,0,0,\n"));
    assert_non_null(strstr(text, "launch,0,,,,launch 8,,,8,,,2,300,100,300,100,,0,0,\n"));
    assert_non_null(strstr(text, "launch,0,,,,launch 9,,,9,,,,500,100,500,100,,0,0,\n"));
    free(text);
    assert_int_equal(run(&text, "-fcsv", "-o-", "--ops", "/nowhere/ops", log), 1);
    assert_non_null(strstr(text, "/nowhere/ops"));
    free(text);
    const char *query[] = {"sqlite3", path(ops, "ops.sqlite"),
                           "SELECT op, name, launches, total_ns FROM op_sum", NULL};
    assert_int_equal(run(&text, "-o", ops, log, NULL, NULL), 0);
    free(text);
    dl_output out = {0};
    devlog_error err;
    if (dl_process_run(query, &out, &err) == DEVLOG_OK) {
        assert_non_null(strstr(out.text, "1|matmul, \"big\"|1|100\n"));
        assert_non_null(strstr(out.text, "2||1|100\n"));
        free(out.text);
    } else {
        print_message("skipped: no sqlite3 here\n");
    }
    /* Filters: launches that they leave nothing of are not shown. */
    assert_int_equal(run(&text, "-fcsv", "-o-", "--launches", "8", log), 0);
    assert_null(strstr(text, "matmul"));
    assert_null(strstr(text, "launch 9"));
    assert_non_null(strstr(text, "launch 8"));
    free(text);
}

/* A launch whose firmware zone never ended has no times, and is in the table of launches all the same: where it is asked for. */
static void a_database_has_the_launches_that_are_asked_for(void **state)
{
    (void)state;
    static const struct {
        const char *option, *value, *launches;
    } ways[] = {{"--launches", "7-9", "7:100,8:,9:300"},
                {"--launches", "7", "7:100"},
                {"--launches", "8", "8:"},
                {"--skip-launches", "2", "9:300"},
                {"--chips", "0", "7:100,8:,9:300"}};
    char log[128], base[128], *text;
    const char *query[] = {"sqlite3", path(base, "asked.sqlite"),
                           "SELECT group_concat(launch || ':' || ifnull(cycles, '')) FROM launches", NULL};
    dl_output out = {0};
    devlog_error err;
    const char *there[] = {"sqlite3", "--version", NULL};
    if (dl_process_run(there, &out, &err) != DEVLOG_OK) skip();
    free(out.text);
    write_text(
        path(log, "asked.csv"),
        HEAD ZONE(7, "BRISC-FW", 100, 200,
                  "") "0,0,0,BRISC,1,300,0,8,,,BRISC-FW,ZONE_START,0,,\n" ZONE(9, "BRISC-FW", 500, 800, ""));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        assert_int_equal(run(&text, "-o", base, ways[i].option, ways[i].value, log),
                         3); /* a zone never ended */
        free(text);
        assert_int_equal(dl_process_run(query, &out, &err), DEVLOG_OK);
        assert_memory_equal(out.text, ways[i].launches, strlen(ways[i].launches));
        assert_int_equal(out.text[strlen(ways[i].launches)], '\n');
        free(out.text);
    }
}

/* A capture that knows when the host called: what the host did is a line of its own, with a name of its own.
 * The reader refuses two lines or two stats of one name. */
static void xplane_of_a_capture_has_different_names(void **state)
{
    (void)state;
    char log[128], output[128], *text;
    devlog_error err;
    dl_output out = {0};
    const char *home = getenv("DEVLOG_HOME"), *protoc[] = {"protoc", "--version", NULL};
    if (dl_process_run(protoc, &out, &err) != DEVLOG_OK) skip();
    free(out.text);
    page_capture_write(folder);
    assert_int_equal(
        run(&text, "-f", "xplane", "-o", path(output, "host.xplane"), path(log, DL_CAPTURE_NAME)), 0);
    free(text);
    dl_str script = {0}, protos = {0};
    dl_str_fmt(&script, "%s/tests/readers/read_export.py", home ? home : ".");
    dl_str_fmt(&protos, "%s/host/report/proto", home ? home : ".");
    const char *argv[] = {"python3", script.text, "xplane", output, protos.text, NULL};
    assert_int_equal(dl_process_run(argv, &out, &err), DEVLOG_OK);
    if (out.exit) print_message("%s\n", out.text);
    assert_int_equal(out.exit, 0);
    free(out.text);
    size_t n;
    char file[256];
    snprintf(file, sizeof file, "%s/plugins/profile/devlog/devlog.xplane.pb", output);
    char *bytes = read_bytes(file, &n);
    assert_non_null(memmem(bytes, n, " MHz): host", 11));
    assert_non_null(memmem(bytes, n, " MHz): launches", 15));
    assert_null(memmem(bytes, n, "(overlap 0)", 11)); /* the first lane of a line has its name */
    free(bytes);
    dl_str_free(&script);
    dl_str_free(&protos);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_by_name_and_suffix),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(launches_are_called_after_their_ops),
        cmocka_unit_test(a_database_has_the_launches_that_are_asked_for),
        cmocka_unit_test(xplane_of_a_capture_has_different_names),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
