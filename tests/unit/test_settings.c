/* Settings: values that cannot be read are errors that say what is allowed, wherever they are read; what does
 * nothing is said; and there is no variable anywhere, in code or documents, that is not in the table. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/settings.h"
#include "device/board_gen.h"
#include "support/cli.h"
#include "support/device.h"
#include "support/files.h"

/* What cannot be read, of every kind; the message begins with name and value. */
static const struct {
    dl_setting setting;
    const char *value, *says;
} wrong[] = {
    {DL_SET_TIMEOUT_MS, "abc", "DEVLOG_TIMEOUT_MS=abc: it is a number from 1 to 4294967295 (MILLISECONDS)"},
    {DL_SET_TIMEOUT_MS, "0", "it is a number from 1"},
    {DL_SET_TIMEOUT_MS, "-5", "it is a number from 1"},
    {DL_SET_TIMEOUT_MS, " 5", "it is a number from 1"},
    {DL_SET_TIMEOUT_MS, "5s", "it is a number from 1"},
    {DL_SET_TIMEOUT_MS, "0x10", "it is a number from 1"},
    {DL_SET_TIMEOUT_MS, "4294967296", "it is a number from 1"},
    {DL_SET_TIMEOUT_MS, "99999999999999999999999", "it is a number from 1"},
    {DL_SET_USB_TIMEOUT_MS, "fast", "DEVLOG_USB_TIMEOUT_MS=fast: it is a number from 1 to"},
    {DL_SET_LOG_STYLE, "foo", "DEVLOG_LOG_STYLE=foo: it is one of L9|L2|L0"},
    {DL_SET_LOG_STYLE, "L", "it is one of L9|L2|L0"},
    {DL_SET_LOG_STYLE, "L9|L2", "it is one of L9|L2|L0"},
    {DL_SET_DEVICE_PROFILER, "yes", "TT_METAL_DEVICE_PROFILER=yes: it is one of 0|1"},
    {DL_SET_DEVICE_PROFILER, "2", "it is one of 0|1"},
    {DL_SET_OPS, "on", "DEVLOG_OPS=on: it is one of 0|1"},
    {DL_SET_HOST, "tracey",
     "DEVLOG_HOST=tracey: it is some, with commas between them, of 0|1|tracy|itt|usdt"},
    {DL_SET_HOST, "tracy,", "DEVLOG_HOST=tracy,: it is some"},
    {DL_SET_HOST, "0,tracy", "DEVLOG_HOST=0,tracy: it is some"},
    {DL_SET_HOST, "tracy usdt", "it is some"},
    {DL_SET_CAPTURE, "no", "DEVLOG_CAPTURE=no: it is one of 0|1"},
    {DL_SET_CLOCK_SYNC, "off", "DEVLOG_CLOCK_SYNC=off: it is one of 0|1"},
    {DL_SET_SOURCE_DATE_EPOCH, "yesterday",
     "SOURCE_DATE_EPOCH=yesterday: it is a number from 0 to 253402300799"},
};

static devlog_status read_it(dl_setting s, devlog_error *err)
{
    uint64_t number;
    int choice;
    bool flag;
    unsigned words;
    switch (dl_setting_of(s)->kind) {
    case DL_SETTING_WORDS: return dl_setting_words(s, &words, err);
    case DL_SETTING_NUMBER: return dl_setting_number(s, 7, &number, err);
    case DL_SETTING_CHOICE: return dl_setting_choice(s, 1, &choice, err);
    case DL_SETTING_FLAG: return dl_setting_flag(s, true, &flag, err);
    default: return DEVLOG_OK;
    }
}

static void what_cannot_be_read_is_an_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        devlog_error err = {0};
        devlog_device *device = NULL;
        devlog_ops *ops = NULL;
        const char *name = dl_setting_of(wrong[i].setting)->name;
        setenv(name, wrong[i].value, 1);
        assert_int_equal(read_it(wrong[i].setting, &err), DEVLOG_ERR_ARGUMENT);
        if (!strstr(err.text, wrong[i].says)) fail_msg("'%s' is not '%s'", err.text, wrong[i].says);
        /* Where something begins, all are checked, whatever options say. */
        const devlog_device_options options =
            DEVLOG_DEVICE_OPTIONS(.profile = DEVLOG_OFF, .timeout_ms = 5, .log_folder = test_folder());
        assert_int_equal(devlog_device_open(&options, &device, &err), DEVLOG_ERR_ARGUMENT);
        if (!strstr(err.text, wrong[i].says)) fail_msg("'%s' is not '%s'", err.text, wrong[i].says);
        assert_int_equal(
            devlog_ops_open(&(devlog_ops_options)DEVLOG_OPS_OPTIONS(.log_folder = test_folder()), &ops, &err),
            DEVLOG_ERR_ARGUMENT);
        if (!strstr(err.text, wrong[i].says)) fail_msg("'%s' is not '%s'", err.text, wrong[i].says);
        assert_null(strchr(err.text, '\n'));
        unsetenv(name);
    }
}

/* Every setting that is a number or one of some words, each with what is neither, and numbers just outside. */
static void every_setting_is_read_or_refused(void **state)
{
    (void)state;
    size_t n = 0;
    for (int s = 1; s < DL_SETTINGS; s++) {
        const dl_setting_info *i = dl_setting_of((dl_setting)s);
        char below[32], above[32];
        snprintf(below, sizeof below, "%lld", (long long)i->low - 1);
        snprintf(above, sizeof above, "%llu", (unsigned long long)i->high + 1);
        const char *const values[] = {"foo", "0x1", "1,000", "1.5", "yes", "-0", below, above};
        if (i->kind == DL_SETTING_TEXT) continue;
        for (size_t k = 0; k < (i->kind == DL_SETTING_NUMBER ? 8 : 5); k++, n++) {
            char said[300];
            devlog_error err = {0};
            devlog_device *device = NULL;
            snprintf(said, sizeof said, "%s=%s: it is ", i->name, values[k]);
            setenv(i->name, values[k], 1);
            const devlog_device_options options = DEVLOG_DEVICE_OPTIONS(.log_folder = test_folder());
            assert_int_equal(devlog_device_open(&options, &device, &err), DEVLOG_ERR_ARGUMENT);
            if (strncmp(err.text, said, strlen(said)) != 0) fail_msg("%s%s: '%s'", said, "?", err.text);
            unsetenv(i->name);
        }
    }
    assert_true(n > 100);
}

/* The least and the greatest number are still read. */
static void limits_are_read(void **state)
{
    (void)state;
    size_t n = 0;
    for (int s = 1; s < DL_SETTINGS; s++) {
        const dl_setting_info *i = dl_setting_of((dl_setting)s);
        if (i->kind != DL_SETTING_NUMBER) continue;
        const uint64_t limits[] = {i->low, i->high};
        for (size_t k = 0; k < 2; k++, n++) {
            char text[32];
            uint64_t number = 0;
            devlog_error err = {0};
            snprintf(text, sizeof text, "%llu", (unsigned long long)limits[k]);
            setenv(i->name, text, 1);
            if (dl_setting_number((dl_setting)s, 7, &number, &err) != DEVLOG_OK || number != limits[k])
                fail_msg("%s=%s: '%s'", i->name, text, err.text);
            unsetenv(i->name);
        }
    }
    assert_true(n > 10);
}

/* Opens a device, and launches a kernel; the first that fails. */
static devlog_status launch_on(const devlog_device_options *options, devlog_error *err)
{
    devlog_device *device = NULL;
    devlog_program *program = NULL;
    const devlog_kernel_options kernel =
        DEVLOG_KERNEL_OPTIONS(.source = source_path("tests/sim/kernels/classes.c"), .risc = "BRISC",
                              .cores = {0, 0, 0, 0});
    devlog_status status = devlog_device_open(options, &device, err);
    if (!status) status = devlog_program_create(device, &program, err);
    if (!status) status = devlog_program_add_kernel(program, &kernel, NULL, err);
    if (!status) status = devlog_compile_program(program, err);
    if (!status) status = devlog_configure_device_with_program(device, program, err);
    return status ? status : devlog_launch_program(device, program, err);
}

/* And every one that is a text, with a text that means nothing: an error that has it, where it is used. */
static void texts_that_mean_nothing_are_errors(void **state)
{
    (void)state;
    static const struct {
        dl_setting setting;
        const char *value, *transport,
            *says; /* says NULL: any text means something, or only the system's own programs read it */
    } texts[] = {
        {DL_SET_LOG_FOLDER, "/proc/x", "sim", "cannot make folder /proc/x"},
        {DL_SET_POSTMORTEM, "", NULL, NULL}, /* written when a launch hangs: tests/sim/test_dump.c */
        {DL_SET_RUN, "zzz", "sim", "DEVLOG_RUN='zzz' is no id of a run"},
        {DL_SET_RANK_RUN, "", NULL,
         NULL}, /* a launcher's, not the user's: passed over; tests/report/ranks.py */
        {DL_SET_RANK_OMPI, "", NULL, NULL},
        {DL_SET_RANK_PMI, "", NULL, NULL},
        {DL_SET_RANK_SLURM, "", NULL, NULL},
        {DL_SET_SIZE_OMPI, "", NULL, NULL},
        {DL_SET_SIZE_SLURM, "", NULL, NULL},
        {DL_SET_SIZE_PMI, "", NULL, NULL}, /* a launcher's: only whether there are several */
        {DL_SET_BOARD, "typo", "sim", "unknown board 'typo'"},
        {DL_SET_BOARD, "/typo.json", "sim", "/typo.json"},
        {DL_SET_TRANSPORT, "typo", NULL, "unknown transport 'typo'"},
        {DL_SET_TRANSPORT, "sim:0", NULL,
         "transport 'sim' takes nothing behind its name, and 'sim:0' has ':0'"},
        {DL_SET_TRANSPORT, "sim,ttsim", NULL, "unknown transport 'sim,ttsim'"},
        {DL_SET_SIMULATOR, "/typo.so", NULL, "/typo.so: cannot open shared object file"},
        {DL_SET_SIM, "typo", "sim", "unknown simulator option 'typo'"},
        {DL_SET_KMD, "typo", "kmd", "there is no typo: is a card"},
        {DL_SET_KMD, "31", "kmd", "there is no /dev/tenstorrent/31: is a card"},
        {DL_SET_GRID, "typo", "sim", "DEVLOG_GRID=typo: this cannot be read"},
        {DL_SET_PROBE, "", NULL, NULL}, /* wants a bus: tests/usb/test_usb_devices.c */
        {DL_SET_QEMU_DIR, "/proc/x", "qemu", "cannot make folder /proc/x"},
        {DL_SET_SIM_BOARD, "", NULL, NULL}, /* test_ttsim_chips.c */
        {DL_SET_HOME, "/typo", "sim", "there is no /typo/boards/"},
        {DL_SET_CACHE, "/proc/x", "sim", "cannot make folder /proc/x"},
        {DL_SET_XDG_CACHE_HOME, "/proc/x", "sim", "cannot make folder /proc/x"},
        {DL_SET_USER_HOME, "/proc/x", "sim", "cannot make folder /proc/x"},
        {DL_SET_TMPDIR, "", NULL, NULL}, /* test_small_disk.c */
        {DL_SET_CC, "/typo", "sim", "cannot run the cross compiler /typo: install"},
        {DL_SET_QEMU, "/typo", "qemu", "cannot run /typo: install"},
        {DL_SET_PATH, "/typo", "sim", "cannot run the cross compiler riscv64-unknown-elf-gcc"},
        {DL_SET_PROFILER_DIR, "", NULL, NULL}, /* one of several places that are looked into: test_view.c */
        {DL_SET_METAL_HOME, "", NULL, NULL},
        {DL_SET_NO_COLOR, "", NULL, NULL},
        {DL_SET_TERM, "", NULL, NULL},
        {DL_SET_COLUMNS, "", NULL, NULL}, /* the terminal's own; docs/environment.md says what comes of it */
        {DL_SET_TRACY, "", NULL, NULL},   /* test_outlets: it is said, and the program goes on */
        {DL_SET_DISPLAY, "", NULL, NULL},
        {DL_SET_WAYLAND_DISPLAY, "", NULL, NULL},
        {DL_SET_SSH_CONNECTION, "", NULL, NULL},
        {DL_SET_WSL_DISTRO_NAME, "", NULL, NULL},
        {DL_SET_USER, "", NULL, NULL},
        {DL_SET_LOGNAME, "", NULL, NULL},
    };
    enum { TEXTS = sizeof texts / sizeof texts[0] };
    for (int s = 1; s < DL_SETTINGS; s++) {
        bool told = dl_setting_of((dl_setting)s)->kind != DL_SETTING_TEXT;
        for (size_t i = 0; i < TEXTS && !told; i++)
            told = (int)texts[i].setting == s;
        if (!told)
            fail_msg("%s is a text: what comes of one that means nothing?",
                     dl_setting_of((dl_setting)s)->name);
    }
    const char *const shadowing[] = {"DEVLOG_CACHE", "XDG_CACHE_HOME", "DEVLOG_LOG_FOLDER"};
    char log_folder[200];
    snprintf(log_folder, sizeof log_folder, "%s", test_folder());
    for (size_t i = 0; i < TEXTS; i++) {
        const char *name = dl_setting_of(texts[i].setting)->name;
        if (!texts[i].says) continue;
        pid_t pid = fork();
        if (pid == 0) {
            devlog_error err = {0};
            if (texts[i].setting == DL_SET_XDG_CACHE_HOME || texts[i].setting == DL_SET_USER_HOME)
                for (size_t k = 0; k < (texts[i].setting == DL_SET_USER_HOME ? 2 : 1); k++)
                    unsetenv(shadowing[k]);
            else /* nothing is compiled already */
                setenv("DEVLOG_CACHE", log_folder, 1);
            setenv("DEVLOG_LOG_FOLDER", log_folder, 1);
            setenv(name, texts[i].value, 1);
            const devlog_device_options options =
                DEVLOG_DEVICE_OPTIONS(.transport = texts[i].transport, .profile = DEVLOG_ON);
            devlog_status status = launch_on(&options, &err);
            if (status == DEVLOG_OK || !strstr(err.text, texts[i].says) || strchr(err.text, '\n')) {
                fprintf(stderr, "%s=%s: status %d, '%s'\n", name, texts[i].value, (int)status, err.text);
                _exit(1);
            }
            _exit(0);
        }
        int code;
        assert_int_equal(waitpid(pid, &code, 0), pid);
        if (code) fail_msg("%s=%s", name, texts[i].value);
    }
}

static void what_can_be_read_is_read(void **state)
{
    (void)state;
    uint64_t number = 0;
    int choice = 9;
    bool flag = false;
    assert_int_equal(dl_setting_number(DL_SET_TIMEOUT_MS, 7, &number, NULL), DEVLOG_OK);
    assert_int_equal(number, 7);
    setenv("DEVLOG_TIMEOUT_MS", "", 1); /* empty is not set */
    assert_int_equal(dl_setting_number(DL_SET_TIMEOUT_MS, 8, &number, NULL), DEVLOG_OK);
    assert_int_equal(number, 8);
    assert_null(dl_setting_text(DL_SET_TIMEOUT_MS));
    setenv("DEVLOG_TIMEOUT_MS", "4294967295", 1);
    assert_int_equal(dl_setting_number(DL_SET_TIMEOUT_MS, 8, &number, NULL), DEVLOG_OK);
    assert_int_equal(number, UINT32_MAX);
    unsetenv("DEVLOG_TIMEOUT_MS");
    setenv("DEVLOG_LOG_STYLE", "L0", 1);
    assert_int_equal(dl_setting_choice(DL_SET_LOG_STYLE, 0, &choice, NULL), DEVLOG_OK);
    assert_int_equal(choice, 2);
    unsetenv("DEVLOG_LOG_STYLE");
    assert_int_equal(dl_setting_flag(DL_SET_CAPTURE, true, &flag, NULL), DEVLOG_OK);
    assert_true(flag);
    setenv("DEVLOG_CAPTURE", "0", 1);
    assert_int_equal(dl_setting_flag(DL_SET_CAPTURE, true, &flag, NULL), DEVLOG_OK);
    assert_false(flag);
    assert_int_equal(dl_settings_check(NULL), DEVLOG_OK);
    unsetenv("DEVLOG_CAPTURE");
}

static void commands_say_it_in_one_line(void **state)
{
    (void)state;
    write_text(in_scratch("log.csv"), "0, 1, 2, BRISC, 1, 1000\n0, 1, 2, BRISC, 4, 1500\n");
    setenv("SOURCE_DATE_EPOCH", "abc", 1);
    devlog_fails("decode log.csv --date -o out", 1, "SOURCE_DATE_EPOCH=abc: it is a number");
    devlog_fails("ops --date", 1, "SOURCE_DATE_EPOCH=abc: it is a number");
    devlog_fails("run --date -o r -- true", 1, "SOURCE_DATE_EPOCH=abc: it is a number");
    free(devlog_ok("decode log.csv --no-files", 0)); /* which does not read it */
    unsetenv("SOURCE_DATE_EPOCH");
    setenv("DEVLOG_LOG_STYLE", "foo", 1);
    devlog_fails("dump nothing.state", 1, "DEVLOG_LOG_STYLE=foo: it is one of L9|L2|L0");
    devlog_fails("selftest", 1, "DEVLOG_LOG_STYLE=foo: it is one of L9|L2|L0");
    devlog_fails("run -o r -- false", 1, "DEVLOG_LOG_STYLE=foo: it is one of L9|L2|L0");
    unsetenv("DEVLOG_LOG_STYLE");
    assert_int_not_equal(access(in_scratch("r"), F_OK), 0);
}

/* Options of the simulator are numbers of two kinds. */
static void options_of_the_simulator_are_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *value, *says;
    } cases[] = {
        {"clock=1e6", "simulator option clock=1e6: not a whole number"},
        {"clock=-5", "not a whole number"},
        {"clock=", "not a whole number"},
        {"seed=0x", "not a whole number"},
        {"latency=0.5", "not a whole number"},
        {"change=1e6,to=500", "not a whole number"},
        {"clock=18446744073709551616", "out of range"},
        {"functional=2", "out of range"},
        {"ppm=fast", "not a number"},
        {"ppm=nan", "out of range"},
        {"speed=9", "unknown simulator option 'speed'; there are: clock, "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        devlog_error err = {0};
        devlog_device *device = NULL;
        setenv("DEVLOG_SIM", cases[i].value, 1);
        assert_int_equal(devlog_device_open(NULL, &device, &err), DEVLOG_ERR_ARGUMENT);
        if (!strstr(err.text, cases[i].says)) fail_msg("%s: '%s'", cases[i].value, err.text);
    }
    setenv("DEVLOG_SIM", "clock=0xffffff00,ppm=-1.5e1,functional,seed=7,latency=100", 1);
    devlog_error err = {0};
    devlog_device *device = NULL;
    check_ok(devlog_device_open(NULL, &device, &err), &err);
    check_ok(devlog_device_close(device, &err), &err);
    unsetenv("DEVLOG_SIM");
}

/* Once, on stderr, when a device is opened; not when the value asks for nothing. */
static void what_does_nothing_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *says; /* NULL: nothing */
    } cases[] = {
        {"TT_METAL_PROFILER_SYNC", "1",
         "devlog: TT_METAL_PROFILER_SYNC is a setting of tt-metal that does nothing here: clocks are "
         "compared"},
        {"TT_METAL_DEVICE_PROFILER_NOC_EVENTS", "1",
         "TT_METAL_DEVICE_PROFILER_NOC_EVENTS is a setting of tt-metal"},
        {"TT_METAL_PROFILER_DIR", "/tmp/x", NULL}, /* devlog view looks there */
        {"TT_METAL_PROFILER_OF_TOMORROW", "1", "it is for tt-metal's own profiler"},
        {"TT_METAL_STREAMING_PROFILER_RING_MB", "64", "records go from L1 to the log"},
        {"TT_METAL_STREAMING_PROFILER_NEXT", "64", "it is for tt-metal's own profiler"},
        {"TT_METAL_PROFILER_SUM", "0", NULL},
        {"TT_METAL_HOME", "/tt", NULL},
        {"DEVLOG_LOGSTYLE", "L2",
         "devlog: DEVLOG_LOGSTYLE is no setting of devlog; 'devlog help environment' lists them"},
        {"DEVLOG_LOG_STYLE", "L2", NULL},
        {"DEVLOG_BENCH_ROWS", "5", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *err;
        setenv(cases[i].name, cases[i].value, 1);
        assert_int_equal(devlog("dump nothing.state", NULL, &err), 1);
        unsetenv(cases[i].name);
        const char *at = strstr(err, cases[i].name);
        if (cases[i].says && (!strstr(err, cases[i].says) || !at || strstr(at + 1, cases[i].name)))
            fail_msg("%s: '%s'", cases[i].name, err);
        if (!cases[i].says && at) fail_msg("%s: '%s'", cases[i].name, err);
        free(err);
    }
}

/* ---- The table has them all -------------------------------------------------------------------------- */

static bool in_table(const char *name)
{
    for (int s = 1; s < DL_SETTINGS; s++)
        if (strcmp(dl_setting_of((dl_setting)s)->name, name) == 0) return true;
    for (const dl_setting_other *o = dl_settings_of_tests; o->name; o++)
        if (strcmp(o->name, name) == 0) return true;
    return false;
}

static bool is_of_tt_metal(const char *name)
{
    /* Messages of its host, which are no variables. */
    static const char message[] = "TT_METAL_TRACE";
    const size_t n = sizeof message - 1;
    if (strncmp(name, message, n) == 0 &&
        (!name[n] || strstr("_BEGIN _END _REPLAY _ENQUEUE_PROGRAM", name + n)))
        return true;
    for (const dl_setting_other *o = dl_settings_without_effect; o->name; o++)
        if (strcmp(o->name, name) == 0) return true;
    return false;
}

/* What a line of the shell prints in the folder of the sources; freed by the caller. */
static char *shell(const char *line)
{
    char command[1500];
    snprintf(command, sizeof command, "cd '%s' && %s", dl_home(), line);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    dl_str text = {0};
    char part[4096];
    for (size_t n; (n = fread(part, 1, sizeof part, pipe)) > 0;)
        dl_str_add_n(&text, part, n);
    pclose(pipe);
    return text.text ? text.text : strdup("");
}

static void nothing_else_reads_the_environment(void **state)
{
    (void)state;
    /* libdevlogsim.so stands alone: it has nothing of base/. */
    char *places = shell("grep -rlE '\\b(secure_)?getenv *\\(' host firmware include | sort");
    assert_string_equal(places, "host/base/settings.c\nhost/sim/exports.c\n");
    free(places);
    static const char *const foreign[] = {
        "ASAN_OPTIONS", "LD_PRELOAD", "MANWIDTH", "MAN_KEEP_FORMATTING", "RANK_1_DIES" /* tests/mpi/last.c */,
        "UMOCKDEV_DIR"};
    char *names = shell("{ grep -rhoE '\\bgetenv *\\(\"[A-Za-z_]+\"' host tests bench examples; "
                        "grep -rhoE 'environ\\.get\\(\"DEVLOG_[A-Z_]+\"' tests bench examples python; "
                        "grep -rhoE '[$][{]DEVLOG_[A-Z_]+:-' tests bench dev .ci; } | "
                        "sed -E 's/.*(\"|[{])([A-Za-z_]+).*/\\2/' | sort -u");
    size_t n = 0;
    for (char *save = NULL, *name = strtok_r(names, "\n", &save); name;
         name = strtok_r(NULL, "\n", &save), n++) {
        bool known = in_table(name);
        for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
            known |= strcmp(foreign[i], name) == 0;
        if (!known) fail_msg("getenv(\"%s\"): there is no such variable in host/base/settings.c", name);
    }
    assert_true(n > 5);
    free(names);
}

/* Every name in documents, scripts and the texts of programs is in the table, or a name of the headers or of
 * the build. */
static void no_other_name_is_spoken_of(void **state)
{
    (void)state;
    dl_str known = {0};
    char *headers = shell("grep -rhoE '\\bDEVLOG_[A-Z0-9_]+' include firmware linker CMakeLists.txt boards "
                          "host/CMakeLists.txt host/device/board_gen.c | sort -u");
    dl_str_fmt(&known, "\n%s", headers);
    free(headers);
    /* And those of the header that is made of a board file. */
    board b;
    devlog_error err = {0};
    check_ok(board_load("wormhole_b0", &b, &err), &err);
    char *header = NULL;
    size_t size;
    FILE *out = open_memstream(&header, &size);
    assert_non_null(out);
    board_write_header(&b, out);
    fclose(out);
    for (char *save = NULL, *line = strtok_r(header, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char name[100];
        if (sscanf(line, "#define %99s", name) == 1) dl_str_fmt(&known, "%s\n", name);
    }
    free(header);
    char *names = shell(
        "{ cat README.md CHANGELOG.md docs/*.md dev .ci/* bench/*/run; grep -rhoE '\"([^\"\\\\]|\\\\.)*\"' "
        "host examples "
        "--include=*.c --include=*.h --exclude=settings.c; } | grep -oE "
        "'\\b(DEVLOG|TT_METAL|TTNN)_[A-Z][A-Z0-9_]*[A-Z0-9]' | sort -u");
    size_t n = 0;
    for (char *save = NULL, *name = strtok_r(names, "\n", &save); name;
         name = strtok_r(NULL, "\n", &save), n++) {
        char line[200], family[200];
        snprintf(line, sizeof line, "\n%s\n", name);
        snprintf(family, sizeof family, "\n%s_", name); /* DEVLOG_KIND_* */
        if (!in_table(name) && !is_of_tt_metal(name) && !strstr(known.text, line) &&
            !strstr(known.text, family))
            fail_msg("%s: neither a variable of host/base/settings.c nor a name of the headers", name);
    }
    assert_true(n > 40);
    free(names);
    dl_str_free(&known);
}

/* A row of the table that is not complete shows nothing. */
static void rows_are_complete(void **state)
{
    (void)state;
    for (int s = 1; s < DL_SETTINGS; s++) {
        const dl_setting_info *i = dl_setting_of((dl_setting)s);
        if (!i->name || !i->values || !i->unset || !i->reader || !i->what)
            fail_msg("setting %d has an empty cell", s);
        assert_true(i->kind != DL_SETTING_NUMBER || i->high > i->low);
        assert_true((i->kind != DL_SETTING_FLAG) || strcmp(i->values, "0|1") == 0);
    }
    assert_non_null(dl_setting_of((dl_setting)1)->title);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_read_is_an_error),
        cmocka_unit_test(every_setting_is_read_or_refused),
        cmocka_unit_test(limits_are_read),
        cmocka_unit_test(texts_that_mean_nothing_are_errors),
        cmocka_unit_test(what_can_be_read_is_read),
        cmocka_unit_test(commands_say_it_in_one_line),
        cmocka_unit_test(options_of_the_simulator_are_numbers),
        cmocka_unit_test(what_does_nothing_is_said),
        cmocka_unit_test(nothing_else_reads_the_environment),
        cmocka_unit_test(no_other_name_is_spoken_of),
        cmocka_unit_test(rows_are_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
