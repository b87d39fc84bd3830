/* devlog run: two runs and one report, the reference's columns, and a command that devlog does not disturb.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/process.h"
#include "support/cmocka_all.h"
#include "support/device.h"
#include "support/files.h"

static char bin[400]; /* folder of the programs */

static int run(const char *folder, const char *options, const char *command, char **text)
{
    char line[2000];
    devlog_error err = {0};
    dl_output out;
    snprintf(line, sizeof line, "exec %s/devlog run -o %s %s -- %s", bin, folder, options, command);
    const char *const argv[] = {"sh", "-c", line, NULL};
    check_ok(dl_process_run(argv, &out, &err), &err);
    *text = out.text;
    return out.exit;
}

static bool there(const char *folder, const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, R_OK) == 0;
}

static char *first_line(const char *folder, const char *name)
{
    char path[600];
    size_t size;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *text = read_bytes(path, &size);
    text[strcspn(text, "\n")] = 0;
    return text;
}

/* The document's columns; inputs and outputs as the network has them. */
#define TENSOR(t) t "_W," t "_Z," t "_Y," t "_X," t "_LAYOUT," t "_DATA TYPE," t "_MEMORY,"
#define API(f)    f " Count," f " Average"
static const char document[] =
    "OP CODE,OP TYPE,GLOBAL CALL COUNT,ATTRIBUTES,MATH FIDELITY,CORE COUNT,PARALLELIZATION STRATEGY,"
    "HOST START TS,HOST END TS,HOST DURATION [ns],DEVICE FW START CYCLE,DEVICE FW END CYCLE,"
    "DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns],DEVICE BRISC KERNEL DURATION [ns],"
    "DEVICE NCRISC KERNEL DURATION [ns],DEVICE TRISC0 KERNEL DURATION [ns],DEVICE TRISC1 KERNEL DURATION "
    "[ns],"
    "DEVICE TRISC2 KERNEL DURATION [ns],DEVICE ERISC KERNEL DURATION [ns],CALL COUNT," TENSOR(
        "INPUT_0") TENSOR("INPUT_1")
        TENSOR("OUTPUT_0") "CALL DEPTH," API("CompileProgram") "," API("ConfigureDeviceWithProgram") "," API(
            "LaunchProgram") "," API("ReadFromDevice") "," API("WriteToDevice") "," API("DumpDeviceProfileRes"
                                                                                        "ults");

/* What the document "Perf Report Headers" of tt-metal's profiler describes stands in that order. */
static void compare_with_document(const char *header)
{
    static const char *const described[] = {
        "OP CODE",
        "OP TYPE",
        "GLOBAL CALL COUNT",
        "ATTRIBUTES",
        "MATH FIDELITY",
        "CORE COUNT",
        "PARALLELIZATION STRATEGY",
        "HOST START TS",
        "HOST END TS",
        "HOST DURATION [ns]",
        "DEVICE FW START CYCLE",
        "DEVICE FW END CYCLE",
        "DEVICE FW DURATION [ns]",
        "DEVICE KERNEL DURATION [ns]",
        "DEVICE BRISC KERNEL DURATION [ns]",
        "DEVICE NCRISC KERNEL DURATION [ns]",
        "DEVICE TRISC0 KERNEL DURATION [ns]",
        "DEVICE TRISC1 KERNEL DURATION [ns]",
        "DEVICE TRISC2 KERNEL DURATION [ns]",
        "INPUT_0_W", /* Input & Output Tensor Headers */
        "CALL DEPTH",
        "CompileProgram Count", /* TT_METAL API calls */
    };
    const char *from = header;
    for (size_t i = 0; i < sizeof described / sizeof described[0]; i++) {
        const char *found = strstr(from, described[i]);
        if (!found || (found != header && found[-1] != ','))
            fail_msg("no column '%s' behind '%.40s'", described[i], from);
        from = found + strlen(described[i]);
        assert_true(*from == ',' || *from == 0);
    }
}

static void two_runs_one_report(void **state)
{
    (void)state;
    char folder[300], command[500], *text;
    snprintf(folder, sizeof folder, "%s/out", test_folder());
    snprintf(command, sizeof command, "%s/nn 1 1", bin);
    int status = run(folder, "--columns reference", command, &text);
    if (status != 0) fail_msg("status %d: %s", status, text);
    const char *once = strstr(text, "results correct");
    assert_true(once && strstr(once + 1, "results correct")); /* it ran twice, and its output is there */
    assert_non_null(strstr(text, "/out/ops_perf_results.csv\n"));
    assert_non_null(strstr(text, "8 ops, 5 rows with device data of an op, 6 launches in the device log."));
    assert_true(there(folder, "logs/profile_log_ops.jsonl") && !there(folder, "logs/profile_log_device.csv"));
    assert_true(there(folder, "logs_device/profile_log_ops.jsonl") &&
                there(folder, "logs_device/profile_log_device.csv"));
    assert_true(there(folder, "ops_perf_results.tar"));
    char *header = first_line(folder, "ops_perf_results.csv");
    assert_string_equal(header, document);
    compare_with_document(header);
    free(header);
    free(text);

    /* The same folder again, once: nothing of before is taken for this run's. */
    status = run(folder, "--once -n once", command, &text);
    if (status != 0) fail_msg("status %d: %s", status, text);
    assert_true(there(folder, "logs/profile_log_device.csv") && there(folder, "ops_perf_results_once.csv"));
    free(text);
    status = run(folder, "--host-only -n host", command, &text);
    assert_int_equal(status, 0);
    assert_true(!there(folder, "logs/profile_log_device.csv") && there(folder, "ops_perf_results_host.csv"));
    assert_non_null(strstr(text, "No device log was found"));
    free(text);
}

/* What `devlog run` leaves is what `devlog ops -i` reads: the same report, byte for byte. */
static void what_a_run_leaves_is_read_again(void **state)
{
    (void)state;
    char folder[300], command[500], line[1500], *text;
    snprintf(command, sizeof command, "%s/nn 1 1", bin);
    snprintf(folder, sizeof folder, "%s/out", test_folder());
    int status = run(folder, "", command, &text);
    if (status != 0) fail_msg("status %d: %s", status, text);
    free(text);
    static const char *const inputs[] = {"", "/", "/logs"};
    for (size_t k = 0; k < 3; k++) {
        devlog_error err = {0};
        dl_output out;
        snprintf(line, sizeof line,
                 "%s/devlog ops -i %s%s -o %s/again && cmp %s/again/ops_perf_results.csv "
                 "%s/ops_perf_results.csv",
                 bin, folder, inputs[k], folder, folder, folder);
        const char *const argv[] = {"sh", "-c", line, NULL};
        check_ok(dl_process_run(argv, &out, &err), &err);
        if (out.exit != 0) fail_msg("%s: %s", line, out.text);
        free(out.text);
    }
}

/* Two programs of one command: both are in the report, with the device data of both. */
static void several_programs_add_up(void **state)
{
    (void)state;
    char folder[300], command[1200], *text;
    snprintf(folder, sizeof folder, "%s/out", test_folder());
    snprintf(command, sizeof command, "sh -c '%s/nn 1 1; cd /tmp && %s/nn 1 1'", bin, bin);
    int status = run(folder, "", command, &text);
    if (status != 0) fail_msg("status %d: %s", status, text);
    if (!strstr(text, "16 ops, 10 rows with device data of an op, 12 launches in the device log."))
        fail_msg("%s", text);
    free(text);
}

static void expect(const char *options, const char *command, int status, const char *says)
{
    char folder[300], *text;
    snprintf(folder, sizeof folder, "%s/out", test_folder());
    int got = run(folder, options, command, &text);
    if (got != status || !strstr(text, says)) fail_msg("%s: status %d, '%s'", command, got, text);
    free(text);
}

static void the_command_is_not_disturbed(void **state)
{
    (void)state;
    expect("--host-only", "sh -c 'echo out; echo err >&2; exit 7'", 7, "out\nerr\n");
    expect("", "sh -c 'exit 3'", 3, "the run without device profiling ended with status 3");
    expect("", "sh -c 'kill -SEGV $$'", 128 + SIGSEGV, "was ended by signal 11");
    expect("", "true", 1, "true gave no device data");
    expect("", "sh -c 'kill -XFSZ $$'", 128 + SIGXFSZ,
           "was ended by signal"); /* it is not ignored for the command */
    expect("", "/no/such/program", 1, "there is no program '/no/such/program'");
    expect("--once", "sh -c 'echo $TT_METAL_DEVICE_PROFILER $DEVLOG_OPS; exit 9'", 9, "1 1\n");
    expect("--once --host-only", "true", 2, "exclude each other");
    expect("", "", 2, "devlog run");
}

static void devlog(const char *arguments, int status, const char *says)
{
    char line[1200];
    devlog_error err = {0};
    dl_output out;
    snprintf(line, sizeof line, "SOURCE_DATE_EPOCH=0 exec %s/devlog %s", bin, arguments);
    const char *const argv[] = {"sh", "-c", line, NULL};
    check_ok(dl_process_run(argv, &out, &err), &err);
    if (out.exit != status || !strstr(out.text, says))
        fail_msg("%s: status %d, '%s'", arguments, out.exit, out.text);
    free(out.text);
}

/* A signal to devlog reaches the command, which may take its time to end. Until then nobody else takes the folder for runs of theirs: they
 * would remove its logs, and it would take theirs for its own. */
static void signals_reach_the_command(void **state)
{
    (void)state;
    char folder[300], program[500], file[400], script[900], line[400];
    snprintf(folder, sizeof folder, "%s", test_folder());
    snprintf(program, sizeof program, "%s/devlog", bin);
    snprintf(file, sizeof file, "%s/said", folder);
    snprintf(script, sizeof script,
             "trap 'echo caught >%s; exit 5' TERM; touch %s.up; while :; do sleep 0.05; done", file, file);
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 2);
        execl(program, program, "run", "-o", folder, "--host-only", "sh", "-c", script, (char *)NULL);
        _exit(127);
    }
    int code;
    while (!there(folder, "said.up")) {
        assert_int_equal(waitpid(pid, &code, WNOHANG), 0);
        usleep(10000);
    }
    snprintf(line, sizeof line, "run -o %s --host-only -- true", folder);
    devlog(line, 1, "another devlog run or devlog time is at work in ");
    snprintf(line, sizeof line, "time -o %s -n 1 --device 0 -- true", folder);
    devlog(line, 1, "another devlog run or devlog time is at work in ");
    kill(pid, SIGTERM);
    assert_int_equal(waitpid(pid, &code, 0), pid);
    assert_true(WIFEXITED(code));
    assert_int_equal(WEXITSTATUS(code), 5);
    size_t size;
    char *said = read_bytes(file, &size);
    assert_string_equal(said, "caught\n");
    free(said);
    snprintf(line, sizeof line, "time -o %s -n 1 --device 0 -- true", folder);
    devlog(line, 0, "wall");
}

static void options_and_what_is_wrong_with_them(void **state)
{
    (void)state;
    char folder[300], path[400], line[900];
    snprintf(folder, sizeof folder, "%s", test_folder());
    snprintf(path, sizeof path, "%s/profile_log_ops.jsonl", folder);
    devlog("ops -i /nowhere", 1, "cannot read /nowhere: No such file or directory");
    devlog("ops -i /dev/null", 1, "/dev/null is a file: give the folder");
    devlog("ops --host-only -i /nowhere", 1, "no profile_log_ops.jsonl in /nowhere");
    devlog("ops -n a/b", 2, "has no '/'");
    devlog("ops summary /nowhere/report.csv", 1, "/nowhere/report.csv");
    devlog("ops summary --ids 7-3 x.csv", 2, "--ids wants FIRST-LAST");
    devlog("ops summary", 2, "ops-summary");
    write_text(path, "{\"e\":\"start\",\"id\":1,\"t\":5,\"thread\":0,\"depth\":1,\"name\":\"A\"}\n"
                     "{\"e\":\"end\",\"id\":1,\"t\":9,\"thread\":0}\n");
    snprintf(line, sizeof line, "ops -i %s -o %s/out --date -n x --format json", folder, folder);
    devlog(line, 0, "/out/1970_01_01_00_00_00_ops_perf_results_x.json\n");
    assert_true(there(folder, "out/1970_01_01_00_00_00_ops_perf_results_x.tar"));
    snprintf(line, sizeof line, "ops -i %s -o %s/out --no-tar", folder, folder);
    devlog(line, 0, "1 ops, 0 rows with device data of an op");
    assert_false(there(folder, "out/ops_perf_results.tar"));
    snprintf(line, sizeof line, "ops summary %s/out/ops_perf_results.csv", folder);
    devlog(line, 0, "1 ops have no device data.");
    /* Something is missing: status 3. */
    write_text(path,
               "{\"e\":\"start\",\"id\":1,\"t\":5,\"thread\":0,\"depth\":1,\"name\":\"A\"}\n{\"e\":\"en");
    snprintf(line, sizeof line, "ops -i %s -o %s/out", folder, folder);
    devlog(line, 3, "a last line that was cut off");
}

int main(void)
{
    const char *devlog = getenv("DEVLOG_BIN");
    snprintf(bin, sizeof bin, "%.*s", devlog ? (int)(strrchr(devlog, '/') - devlog) : 0,
             devlog ? devlog : "");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_runs_one_report),       cmocka_unit_test(what_a_run_leaves_is_read_again),
        cmocka_unit_test(several_programs_add_up),   cmocka_unit_test(the_command_is_not_disturbed),
        cmocka_unit_test(signals_reach_the_command), cmocka_unit_test(options_and_what_is_wrong_with_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
