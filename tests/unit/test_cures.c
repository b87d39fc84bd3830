/* What goes wrong for those who begin (docs/troubleshooting.md): each failure is a message that says what to do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "report/export.h"
#include "support/cli.h"
#include "support/files.h"

#define HEADER                                                                                                \
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"                                                               \
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, " \
    "trace id, trace id counter, zone name, type, source line, source file, meta data\n"

/* The command fails, and says both what is wrong and what to do. */
static void says(const char *line, const char *wrong, const char *cure)
{
    char *out, *said;
    const int status = devlog(line, &out, &said);
    if (status == 0 || !strstr(said, wrong) || !strstr(said, cure))
        fail_msg("%s: exit status %d, '%s' (wanted: %s ... %s)", line, status, said, wrong, cure);
    free(out);
    free(said);
}

static void no_data(void **state)
{
    (void)state;
    mkdir(in_scratch("nothing"), 0777);
    static const char *const of_logs[] = {"decode --no-files", "view", "export -f chrome -o - --latest",
                                          "report --latest", "causes --latest"};
    for (size_t i = 0; i < sizeof of_logs / sizeof of_logs[0]; i++) {
        char line[200];
        snprintf(line, sizeof line, "%s nothing", of_logs[i]);
        says(line, "there is no log in nothing",
             "run the program with TT_METAL_DEVICE_PROFILER=1 and kernels compiled");
    }
    says("report nothing", "nothing holds no run", "run the program with TT_METAL_DEVICE_PROFILER=1");
    says("diff nothing nothing", "nothing holds no run", "run the program with TT_METAL_DEVICE_PROFILER=1");
    static const char *const others[] = {"decode --no-files", "report", "causes", "export -f chrome -o -"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char line[200];
        snprintf(line, sizeof line, "%s elsewhere", others[i]);
        says(line, "cannot read elsewhere: No such file or directory",
             "devlog view --list-only FOLDER lists");
    }
}

static void empty_logs(void **state)
{
    (void)state;
    write_text(in_scratch("headers.csv"), HEADER);
    write_text(in_scratch("zero.csv.gz"), "");
    static const char *const commands[] = {"decode --no-files", "report", "export -f chrome -o -"};
    for (size_t i = 0; i < 3; i++) {
        char line[200];
        snprintf(line, sizeof line, "%s headers.csv", commands[i]);
        says(line, "headers.csv: no rows",
             "was the program run with TT_METAL_DEVICE_PROFILER=1, and compiled with -DPROFILE_DEVICE?");
        snprintf(line, sizeof line, "%s zero.csv.gz", commands[i]);
        says(line, "zero.csv.gz: the file is empty",
             "did the program end before it wrote its log, or was the disk full?");
    }
}

static void damaged_archives(void **state)
{
    (void)state;
    char *text = malloc(1 << 20), command[900], path[300];
    size_t n = (size_t)sprintf(text, "%s", HEADER);
    for (int i = 0; n < (1 << 20) - 200; i++)
        n += (size_t)sprintf(text + n, "0,0,0,BRISC,%d,%d,0,1,,,zone %d,%s,%d,file.c,\n", 16 + i % 2,
                             1000 + i * 7, i / 2 * 7919 % 1000, i % 2 ? "ZONE_END" : "ZONE_START",
                             i / 2 * 7919 % 1000);
    snprintf(path, sizeof path, "%s", in_scratch("whole.csv"));
    write_text(path, text);
    free(text);
    snprintf(command, sizeof command, "gzip -kf '%s' && head -c 20000 '%s.gz' >'%s.cut.gz'", path, path,
             path);
    assert_int_equal(system(command), 0);
    static const char *const commands[] = {"decode --no-files", "export -f chrome -o -"};
    for (size_t i = 0; i < 2; i++) {
        char line[200];
        snprintf(line, sizeof line, "%s whole.csv.cut.gz", commands[i]);
        char *out, *said;
        assert_int_equal(devlog(line, &out, &said), 3);
        const char *where = strstr(out, "it ends in the middle") ? out : said;
        assert_non_null(strstr(where, "it ends in the middle; if a whole one is elsewhere, copy it again"));
        free(out);
        free(said);
    }
}

static void folders_that_are_not_ours(void **state)
{
    (void)state;
    char *out, *said;
    mkdir(in_scratch("theirs"), 0555);
    write_text(in_scratch("log.csv"), HEADER "0,0,0,BRISC,16,100,0,1,,,z,ZONE_START,1,f.c,\n"
                                             "0,0,0,BRISC,17,200,0,1,,,z,ZONE_END,1,f.c,\n");
    /* Root may write everywhere, so it is another who does. */
    const int status = devlog_as_user("decode -o theirs/out log.csv", &out, &said);
    if (status < 0) {
        print_message("SKIPPED: neither setpriv nor su runs the program as nobody\n");
        skip();
    }
    if (status != 1 || !strstr(said, "cannot make folder") ||
        !strstr(said, "choose one that you may write to"))
        fail_msg("exit status %d, '%s'", status, said);
    free(out);
    free(said);
    /* The current folder is not theirs either: what can be told without a file is told. */
    char *told = devlog_ok("decode --no-files log.csv", 0);
    assert_int_equal(chmod(scratch(), 0555), 0); /* it is theirs where the tests run as another than root */
    const int decoded = devlog_as_user("decode log.csv", &out, &said);
    assert_int_equal(chmod(scratch(), 0777), 0);
    assert_int_equal(decoded, 1);
    if (!strstr(said, "cannot make folder generated, choose one that you may write to"))
        fail_msg("'%s'", said);
    assert_string_equal(out, told);
    assert_non_null(strstr(told, "Nothing was lost"));
    free(told);
    free(out);
    free(said);
}

/* PATH may name folders into which a user may not look. */
static void a_program_that_is_not_there(void **state)
{
    (void)state;
    char path[4096], *out, *said, *before = strdup(getenv("PATH"));
    mkdir(in_scratch("closed"), 0000);
    snprintf(path, sizeof path, "%s:%s", in_scratch("closed"), before);
    setenv("PATH", path, 1);
    mkdir(in_scratch("open"), 0777);
    chmod(in_scratch("open"), 0777); /* whatever the umask is */
    const int found = devlog_as_user("time -n 1 -o open/time -- no-such-program", &out, &said);
    setenv("PATH", before, 1);
    free(before);
    if (found < 0) skip();
    if (found != 1 || !strstr(said, "there is no program 'no-such-program'"))
        fail_msg("exit status %d, '%s'", found, said);
    free(out);
    free(said);
}

static void slow_file_systems(void **state)
{
    (void)state;
    assert_non_null(strstr(dl_file_system_slow(0x01021997), "WSL"));
    assert_string_equal(dl_file_system_slow(0x6969), "NFS");
    assert_string_equal(dl_file_system_slow((unsigned long)(int)0xFF534D42), "CIFS"); /* f_type has a sign */
    assert_null(dl_file_system_slow(0xEF53));                                         /* ext4 */
    assert_null(dl_file_system_slow(0x01021994));                                     /* tmpfs */
    assert_null(dl_folder_slow("/nowhere"));
}

static void traces_that_are_too_large(void **state)
{
    (void)state;
    const dl_export_format *chrome = dl_export_find("chrome"), *perfetto = dl_export_find("perfetto");
    assert_null(dl_export_too_large(chrome, UINT64_C(256) << 20));
    assert_non_null(strstr(dl_export_too_large(chrome, (UINT64_C(256) << 20) + 1), "--launches"));
    assert_null(dl_export_too_large(perfetto, UINT64_C(256) << 21));
    assert_non_null(strstr(dl_export_too_large(perfetto, UINT64_C(1) << 30), "trace_processor --httpd"));
    assert_null(dl_export_too_large(dl_export_find("sqlite"), UINT64_C(1) << 40));
}

static void a_browser_of_windows(void **state)
{
    (void)state;
    write_text(in_scratch("log.csv"), HEADER "0,0,0,BRISC,16,100,0,1,,,z,ZONE_START,1,f.c,\n"
                                             "0,0,0,BRISC,17,200,0,1,,,z,ZONE_END,1,f.c,\n");
    char *out, *said;
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
    setenv("WSL_DISTRO_NAME", "Ubuntu", 1);
    assert_int_equal(devlog("view --no-open log.csv", &out, &said), 0);
    assert_non_null(strstr(said, "devlog serve --address 0.0.0.0 -p 8050 FOLDER"));
    assert_non_null(strstr(said, "hostname -I"));
    free(out);
    free(said);
    unsetenv("WSL_DISTRO_NAME");
    assert_int_equal(devlog("view --no-open log.csv", &out, &said), 0);
    assert_null(strstr(said, "Windows"));
    free(out);
    free(said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_data),
        cmocka_unit_test(empty_logs),
        cmocka_unit_test(damaged_archives),
        cmocka_unit_test(folders_that_are_not_ours),
        cmocka_unit_test(a_program_that_is_not_there),
        cmocka_unit_test(slow_file_systems),
        cmocka_unit_test(traces_that_are_too_large),
        cmocka_unit_test(a_browser_of_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
