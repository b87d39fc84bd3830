/* devlog decode as a user runs it: bad input is one clear line and the right exit status; files are whole or
 * absent. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/str.h"
#include "devlog/version.h"
#include "support/cli.h"
#include "support/files.h"

#define HEADER                                                                                               \
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"                                       \
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "             \
    "run host ID, trace id, trace id counter, zone name, type, source line, source file, "                   \
    "meta data\n"
#define ROWS                                                                                                 \
    "0,1,2,BRISC,1,1000,0,7,,,BRISC-FW,ZONE_START,1,brisc.cc,\n"                                             \
    "0,1,2,BRISC,2,1100,0,7,,,BRISC-KERNEL,ZONE_START,2,k.cc,\n"                                             \
    "0,1,2,BRISC,2,1400,0,7,,,BRISC-KERNEL,ZONE_END,2,k.cc,\n"                                               \
    "0,1,2,BRISC,1,1500,0,7,,,BRISC-FW,ZONE_END,1,brisc.cc,\n"
static const char header[] = HEADER, rows[] = ROWS, rows_behind_header[] = HEADER ROWS;

static void write_log(const char *name, const char *a, const char *b)
{
    char text[4000];
    snprintf(text, sizeof text, "%s%s", a, b);
    write_text(in_scratch(name), text);
}

/* What gzip, zstd and xz make of nothing, and captures of nothing: one line that says so. */
static void packed_nothing(void)
{
    static const struct {
        const char *name;
        size_t n;
        unsigned char bytes[32];
    } files[] = {
        {"nothing.csv.gz", 20, {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3}},
        {"nothing.csv.zst", 13, {0x28, 0xb5, 0x2f, 0xfd, 0x24, 0, 1, 0, 0, 0x99, 0xe9, 0xd8, 0x51}},
        {"nothing.csv.xz", 32, {0xfd, '7',  'z', 'X', 'Z', 0,    0,    4,    0xe6, 0xd6, 0xb4,
                                0x46, 0,    0,   0,   0,   0x1c, 0xdf, 0x44, 0x21, 0x1f, 0xb6,
                                0xf3, 0x7d, 1,   0,   0,   0,    0,    4,    'Y',  'Z'}},
        {"capture.devlog", 0, {0}},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char line[100], says[100];
        FILE *f = fopen(in_scratch(files[i].name), "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(files[i].bytes, 1, files[i].n, f), files[i].n);
        assert_int_equal(fclose(f), 0);
        snprintf(line, sizeof line, "decode %s", files[i].name);
        snprintf(says, sizeof says, "%s: the file is empty", files[i].name);
        devlog_fails(line, 1, says);
        unlink(in_scratch(files[i].name));
    }
}

static void the_program_itself(void **state)
{
    (void)state;
    devlog_fails("nonsense", 2, "unknown command 'nonsense'; see 'devlog --help'");
    char *plain = devlog_ok("--help", 0), *word = devlog_ok("help", 0);
    assert_string_equal(plain, word);
    assert_non_null(strstr(plain, "\n  decode "));
    free(plain);
    free(word);
    plain = devlog_ok("decode --help", 0);
    word = devlog_ok("help decode", 0);
    assert_string_equal(plain, word);
    free(plain);
    free(word);
    plain = devlog_ok("--version", 0);
    assert_memory_equal(plain,
                        "devlog " DEVLOG_VERSION "\ncommit: ", strlen("devlog " DEVLOG_VERSION "\ncommit: "));
    static const char *const what[] = {"USDT probes", "ITT", "debug probes", "tar and zip", "devlog serve"};
    for (size_t i = 0; i < sizeof what / sizeof what[0]; i++) {
        char line[60];
        snprintf(line, sizeof line, "\n%s: ", what[i]);
        const char *at = strstr(plain, line);
        if (!at || (strncmp(at + strlen(line), "yes", 3) != 0 && strncmp(at + strlen(line), "no, ", 4) != 0))
            fail_msg("%s in\n%s", what[i], plain);
    }
    free(plain);
}

/* Every command that reads logs says that a file is none, and leaves nothing behind; it is neither an empty run nor a loss. */
static void what_is_no_log_is_told_by_every_command(void **state)
{
    (void)state;
    static const struct {
        const char *before, *behind;
    } commands[] = {
        {"decode", ""},
        {"export -o made.json -f chrome", ""},
        {"causes", ""},
        {"report", ""},
        {"diff whole.csv", ""},
        {"view --no-open -x made", ""},
        {"view --ui speedscope --no-open -x made", ""},
        {"budget --log", "any.txt"},
    };
    static const struct {
        const char *file, *says;
    } files[] = {
        {"other.csv", "not one row of a device log in 2 lines; other.csv:1: neither a row nor a header"},
        {"header.csv", "header.csv: no rows; was the program run with TT_METAL_DEVICE_PROFILER=1"},
        {"empty.csv", "empty"},
        {"damaged.devlog",
         "no rows; damaged parts of the input (damaged.devlog: 12 damaged bytes, the first at byte 8)"},
        {"cut.pack", "cannot unpack cut.pack: it has no end"},
        {"cut.gz", "cannot unpack cut.gz: it ends in the middle"},
    };
    write_log("whole.csv", header, rows);
    write_text(in_scratch("other.csv"), "this is no log\nat all\n");
    write_text(in_scratch("header.csv"), header);
    write_text(in_scratch("empty.csv"), "");
    write_text(in_scratch("any.txt"), "1 * a zone\n");
    free(devlog_ok("pack -o whole.pack whole.csv", 0));
    size_t n;
    char *bytes = read_bytes(in_scratch("whole.pack"), &n), line[200];
    assert_true(n > 40);
    write_bytes(in_scratch("cut.pack"), bytes, 40);
    free(bytes);
    write_text(in_scratch("damaged.devlog"), "DEVLOGC1no frame yet");
    write_bytes(in_scratch("cut.gz"), "\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        for (size_t k = 0; k < sizeof commands / sizeof commands[0]; k++) {
            snprintf(line, sizeof line, "%s %s %s", commands[k].before, files[i].file, commands[k].behind);
            devlog_fails(line, 1, files[i].says);
            assert_int_not_equal(access(in_scratch("made"), F_OK), 0);
            assert_int_not_equal(access(in_scratch("made.json"), F_OK), 0);
        }
    /* In a folder of runs it is not passed over. */
    mkdir(in_scratch("runs"), 0777);
    write_log("runs/a.csv", header, rows);
    free(devlog_ok("report runs", 0));
    bytes = read_bytes(in_scratch("cut.pack"), &n);
    write_bytes(in_scratch("runs/b.pack"), bytes, n);
    free(bytes);
    devlog_fails("diff whole.csv runs", 1, "b.pack: not one row of a device log");
}

static void bad_input_is_one_line(void **state)
{
    (void)state;
    write_log("whole.csv", header, rows);
    mkdir(in_scratch("folder"), 0777);
    devlog_fails("decode", 1, "there is no log in generated/profiler");
    devlog_fails("decode missing.csv", 1, "missing.csv: No such file");
    devlog_fails("decode folder", 1, "folder");
    devlog_fails("decode whole.csv missing.csv", 1, "missing.csv");
    write_text(in_scratch("empty.csv"), "");
    devlog_fails("decode empty.csv", 1, "empty.csv: the file is empty");
    packed_nothing();
    write_text(in_scratch("header.csv"), header);
    devlog_fails("decode header.csv", 1,
                 "header.csv: no rows; was the program run with TT_METAL_DEVICE_PROFILER=1");
    devlog_fails("decode - <empty.csv", 1, "-: the file is empty");
    write_text(in_scratch("other.csv"), "this is no log\nat all\n");
    devlog_fails("decode other.csv", 1, "other.csv: not one row of a device log in 2 lines; other.csv:1:");
    assert_int_not_equal(access(in_scratch("generated"), F_OK), 0);
    write_text(in_scratch("secret.csv"), rows);
    chmod(in_scratch("secret.csv"), 0);
    char *out, *said;
    const int status = devlog_as_user("decode secret.csv", &out, &said);
    if (status >= 0 && (status != 1 || !strstr(said, "secret.csv: Permission denied")))
        fail_msg("%d: %s", status, said);
    if (status >= 0) free(out);
    if (status >= 0) free(said);
    devlog_fails("decode whole.csv --core 1", 2, "--core wants X,Y or X,Y-X,Y, not '1'");
    devlog_fails("decode whole.csv --core 2,2-1,1", 2, "--core wants");
    devlog_fails("decode whole.csv --core 0,0-65535,65535", 2, "more than 65536 cores");
    devlog_fails("decode whole.csv --chips x", 2, "--chips wants numbers and ranges");
    devlog_fails("decode whole.csv --launches 5-3", 2, "--launches wants numbers and ranges");
    devlog_fails("decode whole.csv --from 9 --until 8", 2, "--from lies behind --until");
    devlog_fails("decode whole.csv -n a/b", 2, "has no '/'");
}

/* Each prints a report that ends with what was lost. */
static void incomplete_input_is_told_by_the_exit_status(void **state)
{
    (void)state;
    static const struct {
        const char *head, *body;
        int status;
        const char *says;
    } logs[] = {
        {header, rows, 0,
         "4 rows in 6 lines. Nothing was lost.\nThe log does not say whether its run ended.\n"},
        {"", "0, 1, 2, BRISC, 1, 1000\n0, 1, 2, BRISC, 4, 1500\n", 0, "2 rows in 2 lines. Nothing was lost."},
        {header, "0,1,2,BRISC,1,1000,0,7,,,BRISC-FW,ZONE_START,1,brisc.cc,\n", 3, "zones that never ended"},
        {rows_behind_header, "0,1,2,BRISC,1,many,0,7,,,BRISC-FW,ZONE_START,1,brisc.cc,\n", 3,
         "lines skipped"},
    };
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
        write_log("log.csv", logs[i].head, logs[i].body);
        char *out = devlog_ok("decode log.csv --no-files", logs[i].status);
        if (!strstr(out, logs[i].says)) fail_msg("log %zu: '%s' does not say '%s'", i, out, logs[i].says);
        free(out);
    }
    write_log("log.csv", header, rows);
    char *file = devlog_ok("decode log.csv --no-files", 0),
         *pipe = devlog_ok("decode --no-files - <log.csv", 0);
    assert_string_equal(file, pipe);
    free(file);
    free(pipe);
    assert_int_not_equal(access(in_scratch("generated"), F_OK), 0);
}

/* The first of the two logs in tests/golden/l9 has cores 1,1 and 2,1, launches 7 and 8; what is left over of
 * BRISC-FW (500, 700, 600 cycles on chip 0, 300 on chip 1) tells which rows came through. */
static void filters_leave_out_what_they_say(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        const char *fw; /* count, average, min, max of zone BRISC-FW on chip 0; NULL: not there */
    } cases[] = {
        {"", "3,600.0,500,700"},
        {"--chips 0", "3,600.0,500,700"},
        {"--chips 1-3", NULL},
        {"--core 1,1", "2,550.0,500,600"},
        {"--core 2,0-9,1", "1,700.0,700,700"},
        {"--core 2,1 --core 1,1", "3,600.0,500,700"},
        {"--riscs BRISC", "3,600.0,500,700"},
        {"--riscs TRISC0", NULL},
        {"--riscs TRISC0,BR*", "3,600.0,500,700"},
        {"--launches 8", "1,600.0,600,600"},
        {"--launches 1-7", "2,600.0,500,700"},
        {"--skip-launches 1", "1,600.0,600,600"},
        {"--zone BRISC-*", "3,600.0,500,700"},
        {"--zone BLOCK*", NULL},
        {"--from 5600", "2,650.0,600,700"},
        {"--until 5500", "2,600.0,500,700"},
        {"--min-cycles 600", "2,650.0,600,700"},
    };
    char path[600];
    snprintf(path, sizeof path, "%s/tests/golden/l9/log.csv", dl_home());
    char *log = read_bytes(path, NULL);
    write_text(in_scratch("l9.csv"), log);
    free(log);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[200], *out, *err;
        snprintf(line, sizeof line, "decode l9.csv -f csv %s", cases[i].options);
        int status = devlog(line, &out, &err);
        assert_true(status == 0 || status == 3);
        const char *fw = strstr(out, "zones,,0,,,,,,,BRISC,BRISC-FW,");
        if (fw && !cases[i].fw) fail_msg("%s: %.60s", line, fw);
        if (!fw && cases[i].fw) fail_msg("%s: %s", line, out);
        if (fw && strncmp(fw + 30, cases[i].fw, strlen(cases[i].fw)) != 0) fail_msg("%s: %.60s", line, fw);
        free(out);
        free(err);
    }
    free(devlog_ok("decode l9.csv -o filtered --no-page --launches 8 --from 9100", 3));
    char *stamps = read_bytes(in_scratch("filtered/device_rearranged_timestamps.csv"), NULL);
    assert_non_null(strstr(stamps, "\n1,1,,9100,9500,9600\n"));
    assert_null(strstr(stamps, "5000"));
    free(stamps);
}

/* Logs that real tools wrote, where they are at hand. */
static void real_logs_decode(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int exit_status; /* the last is cut off: two zones never end */
        const char *rows;
    } logs[] = {
        {"device_log_L1b_user_markers.csv", 0, "\"rows\": 26,"},
        {"device_log_L2_docs.csv", 0, "\"rows\": 16,"},
        {"device_log_L3_docs.csv", 0, "\"rows\": 10,"},
        {"device_log_L7_smoke.csv", 3, "\"rows\": 200,"},
    };
    char folder[600], line[1400];
    const char *told = getenv("DEVLOG_SAMPLES");
    if (!told) {
        print_message("skipped: DEVLOG_SAMPLES does not name a folder with logs of other tools\n");
        skip();
    }
    snprintf(folder, sizeof folder, "%s", told);
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
        snprintf(line, sizeof line, "decode -f json '%s/%s' -o samples", folder, logs[i].name);
        char *out = devlog_ok(line, logs[i].exit_status);
        assert_true(is_json(out));
        if (!strstr(out, logs[i].rows)) fail_msg("%s: not %s", logs[i].name, logs[i].rows);
        free(out);
    }
}

static void files_are_named_as_told(void **state)
{
    (void)state;
    write_log("log.csv", header, rows);
    free(devlog_ok("decode log.csv", 0));
    assert_int_equal(access(in_scratch("generated/profiler/output/device/device_perf_results.tar"), R_OK), 0);
    setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
    char *out = devlog_ok("decode log.csv -o a/b --date -n before --no-print", 0);
    unsetenv("SOURCE_DATE_EPOCH");
    assert_non_null(strstr(out, "  a/b/2023_11_14_22_13_20_device_rearranged_timestamps_before.csv\n"));
    assert_non_null(strstr(out, "  a/b/2023_11_14_22_13_20_device_perf_results_before.tar\n"));
    free(out);
}

/* What is left out is that file, in the folder and in the tar, and no other. */
static void files_are_left_out_as_told(void **state)
{
    (void)state;
    static const struct {
        const char *option, *file;
    } left[] = {{"stats", "device_stats.txt"},
                {"rearranged", "device_rearranged_timestamps.csv"},
                {"page", "device_perf.html"},
                {"tar", "device_perf_results.tar"}};
    enum { N = sizeof left / sizeof left[0] };
    write_log("log.csv", header, rows);
    for (size_t i = 0; i < N; i++) {
        char line[200], path[100], tar[100];
        snprintf(line, sizeof line, "decode log.csv -o without%zu --no-%s --no-print", i, left[i].option);
        free(devlog_ok(line, 0));
        snprintf(tar, sizeof tar, "without%zu/%s", i, left[N - 1].file);
        char *packed = i < N - 1 ? read_bytes(in_scratch(tar), NULL) : NULL;
        if (packed) assert_string_equal(packed, i == 0 ? left[1].file : left[0].file);
        free(packed);
        for (size_t k = 0; k < N; k++) {
            snprintf(path, sizeof path, "without%zu/%s", i, left[k].file);
            if ((access(in_scratch(path), R_OK) == 0) != (k != i))
                fail_msg("--no-%s and %s", left[i].option, path);
        }
    }
}

/* What is printed does not depend on whether files can be written. */
static void tables_are_printed_whatever_happens_to_files(void **state)
{
    (void)state;
    static const char *const formats[] = {"text", "json", "csv"};
    write_log("log.csv", header, rows);
    write_text(in_scratch("a_file"), "");
    for (size_t i = 0; i < 3; i++) {
        char line[200], *out, *err;
        snprintf(line, sizeof line, "decode log.csv -f %s --no-files", formats[i]);
        char *expected = devlog_ok(line, 0);
        snprintf(line, sizeof line, "decode log.csv -f %s -o a_file/out", formats[i]);
        assert_int_equal(devlog(line, &out, &err), 1);
        assert_string_equal(out, expected);
        assert_non_null(strstr(err, "devlog decode: "));
        assert_non_null(strstr(err, "a_file"));
        assert_ptr_equal(strchr(err, '\n'), strrchr(err, '\n'));
        free(expected);
        free(out);
        free(err);
    }
}

static void the_same_log_gives_the_same_bytes(void **state)
{
    (void)state;
    write_log("log.csv", header, rows);
    size_t sizes[2];
    char *tars[2];
    for (int i = 0; i < 2; i++) {
        free(devlog_ok(i ? "decode log.csv -o d1" : "decode log.csv -o d0", 0));
        tars[i] = read_bytes(in_scratch(i ? "d1/device_perf_results.tar" : "d0/device_perf_results.tar"),
                             &sizes[i]);
    }
    assert_true(sizes[0] > 1024);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(tars[0], tars[1], sizes[0]);
    free(tars[0]);
    free(tars[1]);
    if (system("command -v tar >/dev/null") == 0) {
        char command[600];
        snprintf(command, sizeof command,
                 "cd %s && mkdir -p x && tar -C x -xf d0/device_perf_results.tar && "
                 "cmp x/device_rearranged_timestamps.csv d0/device_rearranged_timestamps.csv",
                 scratch());
        assert_int_equal(system(command), 0);
    }
}

/* What a line of the shell prints, with the program in its path. */
static void run_shell(const char *line, const char *prints)
{
    char command[1000], said[500], bin[500];
    snprintf(bin, sizeof bin, "%s", getenv("DEVLOG_BIN"));
    *strrchr(bin, '/') = '\0';
    snprintf(command, sizeof command, "cd %s && PATH='%s':$PATH; %s", scratch(), bin, line);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    said[fread(said, 1, sizeof said - 1, pipe)] = '\0';
    pclose(pipe);
    assert_string_equal(said, prints);
}

/* One line on stderr, the table on stdout, exit status 1. */
static void fails_to_write(const char *line, const char *says)
{
    char *out, *err;
    assert_int_equal(devlog(line, &out, &err), 1);
    if (!strstr(err, says)) fail_msg("'%s' says '%s', not '%s'", line, err, says);
    assert_ptr_equal(strchr(err, '\n'), strrchr(err, '\n'));
    assert_non_null(strstr(out, "BRISC-KERNEL"));
    free(out);
    free(err);
}

/* Stamps of every length, on both sides of the places where the rearranged table begins its digits anew. */
static void stamps_of_any_length_are_rearranged(void **state)
{
    (void)state;
    static const uint64_t stamps[] = {1,
                                      9,
                                      10,
                                      99999998,
                                      99999999,
                                      100000000,
                                      100000001,
                                      199999999,
                                      200000000,
                                      3000000007,
                                      9999999999999998,
                                      9999999999999999,
                                      10000000000000000,
                                      10000000000000001,
                                      12345678900000000,
                                      12345678999999999,
                                      1234567890123456789,
                                      4000000000000000000};
    dl_str log = {0}, cells[2] = {{0}, {0}}, expected = {0};
    const size_t n = sizeof stamps / sizeof stamps[0];
    dl_str_add(&log, HEADER);
    for (size_t i = 0; i < n; i++) {
        dl_str_fmt(&log, "0,1,2,BRISC,1,%llu,0,%zu,,,BRISC-FW,ZONE_%s,1,brisc.cc,\n",
                   (unsigned long long)stamps[i], 1 + i / 2, i % 2 ? "END" : "START");
        dl_str_fmt(&cells[i % 2], "%s%llu", i > 1 ? " " : "", (unsigned long long)stamps[i]);
    }
    dl_str_fmt(&expected, "\n1,2,%s,,,%s\n", cells[0].text, cells[1].text);
    write_text(in_scratch("stamps.csv"), log.text);
    free(devlog_ok("decode stamps.csv -o stamps --no-print", 0));
    size_t size;
    char *table = read_bytes(in_scratch("stamps/device_rearranged_timestamps.csv"), &size);
    if (!strstr(table, expected.text)) fail_msg("%s\nis not in\n%s", expected.text, table);
    free(table);
    dl_str_free(&log);
    dl_str_free(&cells[0]);
    dl_str_free(&cells[1]);
    dl_str_free(&expected);
}

static void a_file_that_cannot_be_written_is_named(void **state)
{
    (void)state;
    write_log("log.csv", header, rows);
    write_text(in_scratch("afile"), "x");
    fails_to_write("decode log.csv -o afile", "afile");
    mkdir(in_scratch("o"), 0777);
    mkdir(in_scratch("o/device_perf_results.tar"), 0777);
    fails_to_write("decode log.csv -o o", "o/device_perf_results.tar: Is a directory");
    /* The whole output of the program is lost when standard output is full. */
    run_shell("devlog decode log.csv --no-files 2>&1 >/dev/full; echo $?",
              "devlog decode: cannot write to standard output: No space left on device\n1\n");
    /* No file may have any bytes: the error goes through a pipe to be read. */
    run_shell(
        "(ulimit -f 0; devlog decode log.csv -o full 2>&1 >/dev/null; echo $?)",
        "devlog decode: cannot write full/device_stats.txt: File too large: allow larger files (ulimit -f), or write elsewhere\n1\n");
    char command[400];
    snprintf(command, sizeof command, "ls -A %s/full | grep -q .", scratch());
    assert_int_not_equal(system(command), 0);
}

/* What nobody could read was not said: by no command, whatever it prints with. */
static void a_full_standard_output_is_told(void **state)
{
    (void)state;
    static const char *const commands[] = {
        "--help",
        "--version",
        "help environment",
        "report --help",
        "boards",
        "boards --transports --format csv",
        "devices --format json",
        "man decode",
        "man --completion zsh",
        "cflags --board wormhole_b0 --risc BRISC",
        "export --format list",
        "export --format csv -o - log.csv",
        "report log.csv",
        "causes --format json log.csv",
        "diff log.csv log.csv",
        "decode --format csv log.csv",
        "decode --no-files log.csv",
        "pack --output packed log.csv",
        "view --list-only --format json .",
        "time -n 1 -- true",
        "selftest --format json --cores 1",
        "selftest --cores 1",
    };
    if (access("/dev/full", W_OK) != 0) {
        print_message("skipped: there is no /dev/full here\n");
        skip();
    }
    write_log("log.csv", header, rows);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char line[300];
        snprintf(line, sizeof line,
                 "(devlog %s >/dev/full) 2>err; echo $?; grep -c ': No space left on device$' err",
                 commands[i]);
        print_message("%s\n", commands[i]);
        run_shell(line, "1\n1\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_program_itself),
        cmocka_unit_test(what_is_no_log_is_told_by_every_command),
        cmocka_unit_test(bad_input_is_one_line),
        cmocka_unit_test(incomplete_input_is_told_by_the_exit_status),
        cmocka_unit_test(filters_leave_out_what_they_say),
        cmocka_unit_test(real_logs_decode),
        cmocka_unit_test(files_are_named_as_told),
        cmocka_unit_test(files_are_left_out_as_told),
        cmocka_unit_test(tables_are_printed_whatever_happens_to_files),
        cmocka_unit_test(the_same_log_gives_the_same_bytes),
        cmocka_unit_test(stamps_of_any_length_are_rearranged),
        cmocka_unit_test(a_file_that_cannot_be_written_is_named),
        cmocka_unit_test(a_full_standard_output_is_told), /* last: some make folders */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
