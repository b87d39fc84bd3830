/* A disk with little room: no command needs any in proportion to the log. Each runs with a limit for the size of the files
 * that it writes, a fiftieth of the log's: one byte more in any of them, with a name or without, would end it. Not for
 * disks that are full (test_disk_full.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/cli.h"
#include "support/files.h"
#include "support/logs.h"

enum { LAUNCHES = 24, CORES = 250, RISCS = 5, ZONES = 3, LIMIT_KIB = 256 };

static const char *const riscs[RISCS] = {"BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2"};

/* Many rows and few launches, as tt-metal writes them. */
static void make_folder(void)
{
    FILE *f = fopen(in_scratch("profile_log_device.csv"), "w");
    assert_non_null(f);
    fprintf(
        f,
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 250\nPCIe slot, core_x, core_y, RISC processor "
        "type, timer_id, time[cycles since reset], data, run host ID, trace id, trace id counter, zone name, type, "
        "source line, source file, meta data\n");
    for (int core = 0; core < CORES; core++)
        for (int risc = 0; risc < RISCS; risc++)
            for (int i = 0; i < LAUNCHES; i++) {
                const long at = 1000000L + 50000L * i + 7 * core + risc;
                const char *const kinds[] = {"ZONE_START", "ZONE_END"};
                for (int k = 0; k < 2 * ZONES; k++) {
                    const int zone = k < ZONES ? k : 2 * ZONES - 1 - k;
                    static const char *const names[ZONES] = {"FW", "KERNEL", "INNER"};
                    fprintf(
                        f,
                        "0,%d,%d,%s,%d,%ld,0,%d,,,%.5s-%s,%s,%d,/home/user/tt-metal/tt_metal/hw/firmware/src/risc.cc,\n",
                        core % 50, core / 50, riscs[risc], 100 * k + risc, at + 1000 * k, 1024 * (i + 1),
                        riscs[risc], names[zone], kinds[k >= ZONES], 10 + zone);
                }
            }
    assert_int_equal(fclose(f), 0);
    f = fopen(in_scratch("tracy_ops_data.csv"), "w");
    assert_non_null(f);
    fprintf(f, "MessageName;total_ns\n");
    for (int i = 0; i < LAUNCHES; i++)
        fprintf(
            f,
            "`TT_DNN_DEVICE_OP: \"Op\", 5, 0, false, %d ->\n{\"op_code\":\"Op\",\"device_id\":0,\"global_call_count\":%d}`;%d\n",
            1024 * (i + 1), 1024 * (i + 1), 100 * i);
    assert_int_equal(fclose(f), 0);
}

static off_t size_of(const char *name)
{
    struct stat st;
    assert_int_equal(stat(in_scratch(name), &st), 0);
    return st.st_size;
}

static void no_room_in_proportion_to_the_log(void **state)
{
    /* Standard output is a pipe, which has no size. */
    static const struct {
        const char *line;
        int status;
    } runs[] = {
        {"decode profile_log_device.csv --no-files", 0},
        {"decode profile_log_device.csv -f json", 0},
        {"decode profile_log_device.csv --skip-warm-up --chips 0 --no-files", 0},
        {"decode --follow --idle 1 profile_log_device.csv", 0},
        {"pack profile_log_device.csv -o -", 0},
        {"pack profile_log_device.csv -o small.pack", 0},
        {"unpack small.pack -o -", 0},
        {"decode small.pack --no-files", 0},
        {"decode small.pack --launches 2048-4096 --no-files", 0},
        {"ops . -o out", 3},
        {"export small.pack -f csv -z BRISC-INNER -o -", 0},
    };
    (void)state;
    make_folder();
    if (size_of("profile_log_device.csv") < 50 * LIMIT_KIB * 1024)
        fail_msg("the log has only %lld bytes", (long long)size_of("profile_log_device.csv"));
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        char line[1200];
        snprintf(
            line, sizeof line,
            "bash -c \"set -o pipefail; cd '%s' && ulimit -f %d && export TMPDIR=. && '%s' %s 2>&1 | tail -n 3 | cut -c 1-300 "
            ">said\"",
            scratch(), LIMIT_KIB, getenv("DEVLOG_BIN"), runs[i].line);
        const int status = system(line);
        if (WEXITSTATUS(status) != runs[i].status) { /* 3: no times of the host are there */
            char *said = read_bytes(in_scratch("said"), NULL);
            fail_msg("devlog %s: status %d: %s", runs[i].line, WEXITSTATUS(status), said);
        }
    }
}

/* Files for which there is no room are told of while the log is read, with what to do; tables are printed all the same, and
 * nothing is left behind. */
static void files_without_room_are_told_beforehand(void **state)
{
    (void)state;
    char line[900];
    snprintf(
        line, sizeof line,
        "bash -c \"cd '%s' && ulimit -f %d && export TMPDIR=. && '%s' decode profile_log_device.csv -o made/here 2>err >said\"",
        scratch(), LIMIT_KIB, getenv("DEVLOG_BIN"));
    assert_int_equal(WEXITSTATUS(system(line)), 1);
    char *err = read_bytes(in_scratch("err"), NULL), *said = read_bytes(in_scratch("said"), NULL);
    const char *first = strstr(err, "devlog decode: after "),
               *last = strstr(err, "\ndevlog decode: cannot write ");
    if (first != err || !last || strchr(first, '\n') != last ||
        !strstr(err, " % of the log: cannot write made/here: a file of it takes ") ||
        !strstr(err, "--no-rearranged"))
        fail_msg("%s", err);
    assert_non_null(strstr(said, "BRISC-KERNEL"));
    assert_null(strstr(said, "Files:"));
    assert_int_not_equal(access(in_scratch("made"), F_OK), 0);
    free(err);
    free(said);
    /* Without the large ones there is room. */
    snprintf(
        line, sizeof line,
        "bash -c \"cd '%s' && ulimit -f %d && export TMPDIR=. && '%s' decode profile_log_device.csv -o made/here "
        "--no-rearranged --no-page --no-tar 2>err >said\"",
        scratch(), LIMIT_KIB, getenv("DEVLOG_BIN"));
    assert_int_equal(WEXITSTATUS(system(line)), 0);
    assert_int_equal(size_of("err"), 0);
    assert_int_equal(access(in_scratch("made/here/device_stats.txt"), F_OK), 0);
}

/* The same where nothing limits files, but the disk does: a file system of 2 MiB, where one may be mounted. */
static void a_disk_without_room_is_told_beforehand(void **state)
{
    (void)state;
    char line[1500];
    snprintf(
        line, sizeof line,
        "cd '%s' && mkdir -p disk && unshare -Urm sh -c 'mount -t tmpfs -o size=%dk tmpfs disk || exit 77\n"
        "\"%s\" decode profile_log_device.csv -o disk/out 2>err >said; echo $? >>err\n"
        "\"%s\" unpack small.pack -o disk/again 2>>err; echo $? >>err; ls disk >>err' 2>nothing",
        scratch(), LIMIT_KIB, getenv("DEVLOG_BIN"), getenv("DEVLOG_BIN"));
    if (system(line) != 0) skip();
    char *err = read_bytes(in_scratch("err"), NULL), *said = read_bytes(in_scratch("said"), NULL);
    const char *const in_order[] = {
        "% of the log: cannot write disk/out: it takes ",    "there is room for 262 kB: make room",
        "\ndevlog decode: cannot write disk/out: it takes ", "\n1\n",
        "devlog unpack: cannot write disk/again: it takes ", "\n1\n"};
    const char *at = err;
    for (size_t i = 0; i < sizeof in_order / sizeof in_order[0]; i++) {
        at = strstr(at, in_order[i]);
        if (!at) fail_msg("no '%s' in: %s", in_order[i], err);
        at++;
    }
    assert_string_equal(at, "1\n");
    assert_non_null(strstr(said, "BRISC-KERNEL"));
    free(err);
    free(said);
}

/* In a log in the order of time each core of each launch is kept until the end: where there is no room for that but memory,
 * devlog ops says so. */
static void tables_without_room_are_told(void **state)
{
    (void)state;
    enum { MANY = 3000, PLACES = 64 };
    char line[900];
    assert_int_equal(mkdir(in_scratch("by_time"), 0777), 0);
    FILE *f = fopen(in_scratch("by_time/profile_log_device.csv"), "w");
    assert_non_null(f);
    fprintf(
        f,
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\nPCIe slot, core_x, core_y, RISC processor "
        "type, timer_id, time[cycles since reset], data, run host ID, trace id, trace id counter, zone name, type, "
        "source line, source file, meta data\n");
    for (int i = 0; i < MANY; i++)
        for (int k = 0; k < 4; k++) /* one RISC of all cores, then the other */
            for (int core = 0; core < PLACES; core++)
                fprintf(f, "0,%d,%d,%s,%d,%ld,0,%d,,,%sRISC-FW,ZONE_%s,1,a.cc,\n", core % 8, core / 8,
                        k < 2 ? "BRISC" : "NCRISC", k + 1, 1000000L + 5000L * i + 1000 * k + core,
                        1024 * (i + 1), k < 2 ? "B" : "NC", k % 2 ? "END" : "START");
    assert_int_equal(fclose(f), 0);
    snprintf(
        line, sizeof line,
        "cd '%s/by_time' && mkdir -p disk && unshare -Urm sh -c 'mount -t tmpfs -o size=40m tmpfs disk || exit 77\n"
        "\"%s\" ops . -o disk >said; [ $? -le 3 ] && cp disk/ops_perf_results.csv small.csv' 2>nothing",
        scratch(), getenv("DEVLOG_BIN"));
    if (system(line) != 0) skip();
    snprintf(line, sizeof line,
             "cd '%s/by_time' && '%s' ops . -o out >said_large; cmp out/ops_perf_results.csv small.csv",
             scratch(), getenv("DEVLOG_BIN"));
    assert_int_equal(system(line), 0);
    char *said = read_bytes(in_scratch("by_time/said"), NULL);
    if (!strstr(said, "MiB were in memory, as there is no room for them in disk") ||
        !strstr(said, "do not come one after the other"))
        fail_msg("%s", said);
    free(said);
}

/* Every command that writes: one line with what to do, status 1, and nothing left behind, as soon as it can be known. */
static void what_has_no_room_leaves_nothing(void **state)
{
    (void)state;
    enum { NOISE = 24 * 1024 * 1024 };
    static const struct {
        const char *line, *said;
    } runs[] = {
        /* Found out of what is packed so far: noise becomes half of its hexadecimal digits. */
        {"pack noise.csv -o disk/p --threads 1", "% of the log: cannot write disk/p: it takes "},
        {"pack noisy -o disk/folder/deep --threads 1",
         "% of the log: cannot write disk/folder/deep/x.csv.pack: it takes "},
        /* What is in a pipe nobody knows. */
        {"pack - -o disk/p <noise.csv",
         "cannot write disk/p: No space left on device: make room there, or write elsewhere"},
        {"pack --follow --idle 1 noise.csv -o disk/p; rm disk/p; (exit 1)",
         "and the same command goes on where it ended"},
        {"unpack noisy.pack -o disk/folder", "cannot write disk/folder/x.csv: it takes "},
        {"export profile_log_device.csv -f json -o disk/x",
         "cannot write disk/x: No space left on device: make room there"},
        {"export profile_log_device.csv -f sqlite -o tiny/x",
         "cannot write tiny/x: No space left on device: make room there"},
        {"export profile_log_device.csv -f ctf -o tiny/x", "No space left on device: make room there"},
        {"ops . -o tiny",
         "cannot write tiny/per_core_op_to_op_times.csv: No space left on device: make room there"},
        {"ops . -o tiny/folder",
         "cannot write tiny/folder/per_core_op_to_op_times.csv: No space left on device: make room there"},
    };
    uint64_t seed = 9;
    char line[1200];
    FILE *f = fopen(in_scratch("noise.csv"), "w");
    assert_non_null(f);
    for (int i = 0; i < NOISE / 64; i++)
        fprintf(f, "%016llx%016llx%016llx%015llx\n", (unsigned long long)test_random(&seed),
                (unsigned long long)test_random(&seed), (unsigned long long)test_random(&seed),
                (unsigned long long)test_random(&seed) >> 4);
    assert_int_equal(fclose(f), 0);
    snprintf(
        line, sizeof line,
        "cd '%s' && mkdir -p noisy tiny disk && ln -f noise.csv noisy/x.csv && head -c 70000 noise.csv >noisy/a.csv && "
        "'%s' pack noisy -o noisy.pack >/dev/null",
        scratch(), getenv("DEVLOG_BIN"));
    assert_int_equal(system(line), 0);
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        snprintf(
            line, sizeof line,
            "cd '%s' && unshare -Urm sh -c 'mount -t tmpfs -o size=6m tmpfs disk && mount -t tmpfs -o size=16k tmpfs tiny "
            "|| exit 77\ndevlog() { \"%s\" \"$@\"; }\nexport TMPDIR=.\n{ devlog %s; } 2>err >nothing; echo $? >status; "
            "find disk tiny -mindepth 1 >left' 2>nothing",
            scratch(), getenv("DEVLOG_BIN"), runs[i].line);
        if (system(line) != 0) skip();
        char *err = read_bytes(in_scratch("err"), NULL), *left = read_bytes(in_scratch("left"), NULL),
             *status = read_bytes(in_scratch("status"), NULL);
        if (!strstr(err, runs[i].said) || strchr(err, '\n') != err + strlen(err) - 1 || left[0] ||
            strcmp(status, "1\n") != 0)
            fail_msg("devlog %s: status %s: %s\nleft: %s", runs[i].line, status, err, left);
        free(err);
        free(left);
        free(status);
    }
}

/* That the limit would be met: who writes the log once more meets it. */
static void the_limit_holds(void **state)
{
    (void)state;
    char line[900];
    snprintf(line, sizeof line,
             "bash -c \"cd '%s' && ulimit -f %d && '%s' unpack small.pack -o again\" >/dev/null 2>&1",
             scratch(), LIMIT_KIB, getenv("DEVLOG_BIN"));
    assert_int_not_equal(system(line), 0);
    assert_int_not_equal(access(in_scratch("again"), F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_room_in_proportion_to_the_log),
        cmocka_unit_test(files_without_room_are_told_beforehand),
        cmocka_unit_test(a_disk_without_room_is_told_beforehand),
        cmocka_unit_test(tables_without_room_are_told),
        cmocka_unit_test(what_has_no_room_leaves_nothing),
        cmocka_unit_test(the_limit_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
