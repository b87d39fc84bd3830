/* Every view of device_perf.html, of every kind of log, at 1440, 1024 and 390 pixels, light and dark, has nothing that whoever looks at it
 * would call wrong (tests/page/look.js), and the keys do what the page says. What views say is in the other tests of the page. With
 * DEVLOG_TEST_PICTURES=FOLDER a picture of each view is left there, for eyes. Skipped where there is no chromium. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/cli.h"
#include "support/device.h"
#include "support/files.h"
#include "support/page_group.h"

static char *eyes; /* tests/page/look.js */

static int start(void **state)
{
    eyes = read_bytes(source_path("tests/page/look.js"), NULL);
    start_browser(state);
    /* Nothing is to be waited for. */
    if (b)
        cJSON_Delete(
            browser_call(b, "Emulation.setEmulatedMedia",
                         "{\"features\":[{\"name\":\"prefers-reduced-motion\",\"value\":\"reduce\"}]}"));
    return 0;
}

static int stop(void **state)
{
    free(eyes);
    stop_browser(state);
    return 0;
}

static void open_eyes(void)
{
    cJSON *params = cJSON_CreateObject();
    cJSON_AddStringToObject(params, "expression", eyes);
    char *text = cJSON_PrintUnformatted(params);
    cJSON_Delete(browser_call(b, "Runtime.evaluate", text));
    cJSON_free(text);
    cJSON_Delete(params);
}

static void picture(const char *what, const char *view, int width, int dark)
{
    const char *folder = getenv("DEVLOG_TEST_PICTURES");
    char path[600], name[200];
    if (!folder || !*folder) return;
    snprintf(name, sizeof name, "%s_%s_%d_%s.png", what, view, width, dark ? "dark" : "light");
    for (char *c = name; *c; c++)
        if (*c == ' ' || *c == ',') *c = '-';
    snprintf(path, sizeof path, "%.300s/%s", folder, name);
    assert_true(browser_picture(b, path));
}

/* All faults of a log are told, not the first alone. */
static void looks_right(const char *what)
{
    static const int sizes[][2] = {{1440, 900}, {1024, 768}, {390, 844}};
    bool wrong = false;
    open_eyes();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        browser_size(b, sizes[i][0], sizes[i][1]);
        page_settle(b);
        for (int dark = 0; dark < 2; dark++) {
            free(browser_js(
                b,
                "document.documentElement.dataset.theme === '%s' || document.getElementById('theme').click()",
                dark ? "dark" : "light"));
            /* What tabs are after somebody has used them: at the widest and at the narrowest. */
            char *views = browser_js(b, "viewsOfPage(%d).join(';')", dark == (int)i / 2 && i != 1),
                 *rest = views;
            for (char *view = strtok_r(rest, ";", &rest); view; view = strtok_r(rest, ";", &rest)) {
                char *found =
                    browser_js(b, "viewOfPage('%s') ? look(%d).then((w) => w.slice(0, 5).join('; ')) : ''",
                               view, i == 0 && !dark);
                if (*found) {
                    print_message("%s, %s, %d pixels wide, %s: %s\n", what, view, sizes[i][0],
                                  dark ? "dark" : "light", found);
                    wrong = true;
                }
                free(found);
                picture(what, view, sizes[i][0], dark);
            }
            free(views);
        }
    }
    browser_size(b, 1440, 900);
    page_settle(b);
    char *idle = browser_js(b, "devlog.timeline.ready ? keysOfPage().join('; ') : ''");
    if (*idle) print_message("%s: %s\n", what, idle);
    wrong = wrong || *idle;
    free(idle);
    page_has_no_problems(b, what);
    assert_false(wrong);
}

static void made_up(const char *what, const page_log *log, int exit_status)
{
    page_log_write(in_scratch("profile_log_device.csv"), log);
    page_open(b, in_scratch("profile_log_device.csv"), in_scratch("out"), exit_status);
    looks_right(what);
}

static void drops(void **state)
{
    NEEDS_BROWSER();
    made_up("drops",
            &(page_log){
                .chips = 1, .columns = 4, .rows = 2, .riscs = 5, .launches = 6, .zones = 4, .drops = true},
            3);
}

static void launches(void **state)
{
    NEEDS_BROWSER();
    made_up("launches",
            &(page_log){.chips = 1,
                        .columns = 4,
                        .rows = 1,
                        .riscs = 1,
                        .launches = 10000,
                        .zones = 1,
                        .slow = 9777,
                        .slower = 4000},
            0);
}

static void chips(void **state)
{
    NEEDS_BROWSER();
    made_up("chips",
            &(page_log){.chips = 4,
                        .columns = 3,
                        .rows = 2,
                        .riscs = 3,
                        .launches = 5,
                        .zones = 4,
                        .slow = 2,
                        .slower = 3000},
            0);
}

static void cores(void **state)
{
    NEEDS_BROWSER();
    made_up("cores",
            &(page_log){.chips = 1,
                        .columns = 16,
                        .rows = 8,
                        .riscs = 5,
                        .launches = 3,
                        .zones = 6,
                        .shuffled = true,
                        .slow = 2,
                        .slower = 3000},
            0);
}

static void names(void **state)
{
    NEEDS_BROWSER();
    made_up(
        "names",
        &(page_log){.chips = 1, .columns = 2, .rows = 2, .riscs = 2, .launches = 3, .zones = 6, .name = 5000},
        0);
}

static void cut(void **state)
{
    NEEDS_BROWSER();
    const char *path = in_scratch("profile_log_device.csv");
    struct stat st;
    page_log_write(path,
                   &(page_log){.chips = 1, .columns = 3, .rows = 2, .riscs = 3, .launches = 5, .zones = 4});
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size * 2 / 3), 0);
    page_open(b, path, in_scratch("out"), 3);
    looks_right("cut");
}

/* A log without a row has no page: decode says so in a line. This one has a row, and no zone that ended. */
static void empty(void **state)
{
    NEEDS_BROWSER();
    char url[700];
    const char *path = in_scratch("profile_log_device.csv"), *out = in_scratch("out");
    write_text(
        path,
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 500\nPCIe slot, core_x, core_y, RISC processor type, timer_id, "
        "time[cycles since reset], data, run host ID, zone name, type, source line, source file, meta data\n"
        "0,1,1,BRISC,1,1000,0,1,BRISC-FW,ZONE_START,1,fw.c,\n");
    page_decode(path, out, 3);
    snprintf(url, sizeof url, "file://%s/device_perf.html", out);
    assert_true(
        browser_go(b, url, "document.getElementById('empty') && !document.getElementById('empty').hidden"));
    looks_right("empty");
}

static void values(void **state)
{
    NEEDS_BROWSER();
    made_up("values",
            &(page_log){.chips = 1,
                        .columns = 3,
                        .rows = 2,
                        .riscs = 2,
                        .launches = 4,
                        .zones = 6,
                        .values = true,
                        .texts = true},
            0);
}

/* Ops of a network, and zones of the host above its chip. */
static void host(void **state)
{
    NEEDS_BROWSER();
    char line[2000], url[700], folder[600];
    snprintf(folder, sizeof folder, "%s", in_scratch("."));
    const pid_t process = page_host_program(folder);
    snprintf(line, sizeof line, "decode %s %s/host_%ld.devlog -o %s", page_network(), folder, (long)process,
             in_scratch("both"));
    free(devlog_ok(line, 0));
    snprintf(url, sizeof url, "file://%s/device_perf.html", in_scratch("both"));
    assert_true(browser_go(b, url, PAGE_READY));
    looks_right("host");
}

static void demo(void **state)
{
    NEEDS_BROWSER();
    page_open_waits(b);
    looks_right("demo");
}

static void network(void **state)
{
    NEEDS_BROWSER();
    page_open(b, page_network(), in_scratch("out"), 0);
    looks_right("network");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(demo),     cmocka_unit_test(network), cmocka_unit_test(drops),
        cmocka_unit_test(launches), cmocka_unit_test(chips),   cmocka_unit_test(cores),
        cmocka_unit_test(names),    cmocka_unit_test(values),  cmocka_unit_test(host),
        cmocka_unit_test(cut),      cmocka_unit_test(empty),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
