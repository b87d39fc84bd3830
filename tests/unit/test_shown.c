/* Names that hold what a terminal obeys, in everything that devlog prints for people: they are shown, and the
 * terminal gets text and line ends only. */
#include <pty.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/cli.h"
#include "support/files.h"

#define EVIL      "\x1b[2J\x1b]0;x\a" /* clears the screen, names the window */
#define TURN      "\xE2\x80\xAE"      /* the rest of the line from right to left */
#define SHOWN     "\\x1b[2J\\x1b]0;x\\x07"
#define EVIL_JSON "\\u001b[2J\\u001b]0;x\\u0007\\n\\u009b31m"
#define HEADER                                                                                               \
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 80, Run: ab\nPCIe slot, core_x, core_y, "   \
    "RISC "                                                                                                  \
    "processor type, timer_id, time[cycles since reset], data, run host ID, trace id, trace id counter, "    \
    "zone "                                                                                                  \
    "name, type, source line, source file, meta data\n"
#define ZONE(zone, risc, from, to)                                                                           \
    "0,0,0," risc ",1," from ",0,1,,," zone ",ZONE_START,3,a" EVIL ".c,{\"op\":1}\n0,0,0," risc ",4," to     \
    ",0,1,,," zone ",ZONE_END,3,a" EVIL ".c,\n"

/* `colours`: ESC [ ... m may be there. */
static void harmless(const char *line, const char *which, const char *text, bool colours)
{
    for (const char *p = text; *p; p++) {
        const unsigned char c = (unsigned char)*p, next = (unsigned char)p[1];
        const size_t colour = colours && c == 0x1b && next == '[' ? strspn(p + 2, "0123456789;") + 2 : 0;
        if (colour && p[colour] == 'm') continue;
        bool control =
            (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F || (c == 0xC2 && next >= 0x80 && next < 0xA0);
        control |= strncmp(p, TURN, 3) == 0;
        if (control) fail_msg("'%s' sends byte %02x to the terminal by %s: %s", line, c, which, text);
    }
}

/* What devlog prints on a terminal; freed by the caller. */
static char *on_terminal(const char *line)
{
    int master;
    size_t n = 0, cap = 1 << 16;
    const struct winsize size = {.ws_row = 24, .ws_col = 100};
    const pid_t child = forkpty(&master, NULL, NULL, &size);
    assert_true(child >= 0);
    if (child == 0) {
        char command[2000];
        snprintf(command, sizeof command, "stty -onlcr; exec \"$DEVLOG_BIN\" %s 2>&1", line);
        setenv("TERM", "xterm", 1);
        unsetenv("NO_COLOR");
        if (chdir(scratch()) == 0) execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    char *text = malloc(cap);
    assert_non_null(text);
    for (ssize_t got; (got = read(master, text + n, cap - n - 1)) > 0;) {
        n += (size_t)got;
        if (cap - n < 4096) text = realloc(text, cap *= 2);
        assert_non_null(text);
    }
    text[n] = 0;
    close(master);
    assert_int_equal(waitpid(child, NULL, 0), child);
    return text;
}

/* Also where a format has names as they are: a terminal does not get those, a file or a pipe does. */
static void no_format_is_obeyed(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "decode --no-files logs/profile_log_device.csv",
        "decode --no-files -f csv logs/profile_log_device.csv",
        "decode --no-files -f json logs/profile_log_device.csv",
        "decode --no-files -f md logs/profile_log_device.csv",
        "ops summary -f csv out/ops_perf_results.csv",
        "ops summary -f md out/ops_perf_results.csv",
        "report -f csv logs",
        "export -f csv -o /dev/stdout logs/profile_log_device.csv",
        "diff -f csv --exact logs logs",
        "archive list --format csv",
    };
    free(devlog_ok("archive add -a runs.sqlite --label 'x=" EVIL "' out/ops_perf_results.csv", 0));
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char *text = on_terminal(lines[i]);
        harmless(lines[i], "a terminal", text, true);
        if (strlen(text) < 20) fail_msg("%s: %s", lines[i], text);
        free(text);
    }
    char *piped = devlog_ok("decode --no-files -f csv logs/profile_log_device.csv", 3);
    if (!strstr(piped, "zone" EVIL) || !strstr(piped, "turn" TURN)) fail_msg("%s", piped);
    free(piped);
    /* Colours, and names in other letters, come through; long output comes whole. */
    char *text = on_terminal("decode --no-files logs/profile_log_device.csv"), *end;
    if (!strstr(text, "\x1b[") || !strstr(text, "turn\\u202e")) fail_msg("%s", text);
    free(text);
    text = on_terminal("help environment");
    char *plain = devlog_ok("help environment", 0);
    for (const char *line = strtok_r(plain, "\n", &end); line; line = strtok_r(NULL, "\n", &end))
        if (strlen(line) < 60 && !strstr(text, line)) fail_msg("without '%s': %s", line, text);
    free(plain);
    free(text);
}

static void nothing_is_obeyed(void **state)
{
    (void)state;
    mkdir(in_scratch("logs"), 0777);
    mkdir(in_scratch("a" EVIL), 0777);
    static const char device[] = HEADER ZONE("BRISC-FW", "BRISC", "100", "900")
        ZONE("BRISC-KERNEL", "BRISC", "200", "800") ZONE("zone" EVIL, "BRISC", "300", "400")
            ZONE("zone\xC2\x9b"
                 "31m",
                 "BRISC", "410", "420") ZONE("turn" TURN "\xC3\xA4", "BRISC", "430", "440")
                ZONE("risc", "X" EVIL, "300",
                     "400") "0,0,0,BRISC,7,500,3,1,,,value" EVIL ",TS_DATA,1,,\n"
                            "0,0,0,BRISC,7,x" EVIL ",3,1,,,bad,TS_DATA,1,,\n0,0,0,BRISC,4,600,0,1,,,open" EVIL
                            ",ZONE_START,3,,\n";
    write_text(in_scratch("logs/profile_log_device.csv"), device);
    write_text(in_scratch("a" EVIL "/profile_log_device.csv"), device);
    write_text(in_scratch("logs/profile_log_ops.jsonl"),
               "{\"e\":\"run\",\"t\":1,\"version\":1,\"run\":\"ab\",\"pid\":1}\n"
               "{\"e\":\"start\",\"id\":1,\"t\":10,\"thread\":0,\"depth\":1,\"name\":\"op" EVIL_JSON "\"}\n"
               "{\"e\":\"launch\",\"id\":1,\"t\":3,\"chip\":0,\"launch\":1,\"cores\":1}\n"
               "garbage" EVIL "\n{\"e\":\"what" EVIL "\"}\n{\"e\":\"end\",\"id\":1,\"t\":20,\"thread\":0}\n");
    write_text(in_scratch("bad.csv"),
               "OP CODE,DEVICE KERNEL DURATION [ns]\nop" EVIL ",1" EVIL "\n\"a\n" EVIL "\",7\n");
    static const char *const lines[] = {
        "decode logs/profile_log_device.csv",
        "decode --launches 1 logs/profile_log_device.csv",
        "decode logs/profile_log_device.csv -z '" EVIL "'",
        "decode a*/profile_log_device.csv",
        "decode 'nothing" EVIL "'",
        "ops -i logs -o out",
        "ops -i 'none" EVIL "'",
        "ops summary out/ops_perf_results.csv",
        "ops summary --list out/ops_perf_results.csv",
        "ops summary --ops 'x" EVIL "' out/ops_perf_results.csv",
        "ops compare out/ops_perf_results.csv bad.csv",
        "ops summary bad.csv",
        "view --list-only .",
        "export --format chrome -o out.json a*/profile_log_device.csv",
        "decode --unknown'" EVIL "'",
        "'" EVIL "'",
        "run --host-only -- '" EVIL "'",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char *out, *err;
        devlog(lines[i], &out, &err);
        harmless(lines[i], "stdout", out ? out : "", false);
        harmless(lines[i], "stderr", err ? err : "", false);
        free(out);
        free(err);
    }
    char *decoded;
    devlog("decode --launches 1 logs/profile_log_device.csv", &decoded, NULL);
    if (!strstr(decoded, "zone" SHOWN)) fail_msg("%s", decoded);
    free(decoded);
    /* And the name is there to be read. */
    char *text = devlog_ok("ops summary out/ops_perf_results.csv", 0);
    if (!strstr(text, "op" SHOWN "\\n\\x9b31m\n")) fail_msg("%s", text);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_obeyed),
                                       cmocka_unit_test(no_format_is_obeyed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
