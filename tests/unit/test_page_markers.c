/* device_perf.html shows what is no zone: sums, values and counters by name, and text, which names its event
 * and leads to it. Skipped where there is no chromium. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/device.h"
#include "support/page.h"

static const char log_text[] =
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, "
    "trace "
    "id, trace id counter, zone name, type, source line, source file, meta data\n"
    "0,1,1,BRISC,1,1000,0,7,,,BRISC-FW,ZONE_START,1,fw.cc,\n"
    "0,1,1,BRISC,9,1100,18446744073709551615,7,,,bytes,TS_DATA,9,k.cc,\n"
    "0,1,1,BRISC,9,1150,5,7,,,bytes,TS_DATA,9,k.cc,\n"
    "0,1,1,BRISC,11,1200,3,7,,,queue,TS_DATA,9,k.cc,{\"counter\":1}\n"
    "0,1,1,BRISC,13,1300,0,7,,,print,TS_EVENT,9,k.cc,{\"text\":\"<b>tile 5\\u002c \\\"done\\\"</b>\"}\n"
    "0,1,1,BRISC,13,1400,0,7,,,print,TS_EVENT,9,k.cc,{\"text\":\"tile 6 \\ud83c\\udf89\\ud83c\"}\n"
    "0,1,1,BRISC,15,1500,400,7,,,wait,ZONE_TOTAL,9,k.cc,{\"count\":8;\"min\":20;\"max\":90}\n"
    "0,1,1,BRISC,19,1550,18446744073709551615,7,,,huge,ZONE_TOTAL,9,k.cc,\n"
    "0,1,1,BRISC,19,1560,18446744073709551615,7,,,huge,ZONE_TOTAL,9,k.cc,\n"
    "0,1,1,BRISC,17,1600,4,7,,,DEVLOG-DROPPED,ZONE_TOTAL,0,,\n"
    "0,1,1,BRISC,1,9000,0,7,,,BRISC-FW,ZONE_END,1,fw.cc,\n";

static void markers_and_text_are_on_the_page(void **state)
{
    (void)state;
    browser *b = browser_start(1440, 900);
    if (!b) skip();
    char folder[64], path[100], out[100], command[100];
    snprintf(folder, sizeof folder, "%s", test_folder());
    snprintf(path, sizeof path, "%s/profile_log_device.csv", folder);
    snprintf(out, sizeof out, "%s/out", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(log_text, f);
    fclose(f);
    page_open(b, path, out, 3);
    free(browser_js(b, "document.getElementById('tab-markers').click()"));
    const char *rows =
        "[...document.querySelectorAll('#markers tbody tr')].map((r) => [...r.cells].map((c) => "
        "c.textContent).join('/')).join('|') + '|'";
    page_has_text(b, rows, "value/bytes/BRISC/2//5/5/18,446,744,073,709,551,615/9,223,372,036,854,775,810/");
    page_has_text(b, rows, "counter/queue/BRISC/1//3/3/3/3/|");
    page_has_text(b, rows, "sum/wait/BRISC/1/8//20/90/50/400|");
    page_has_text(b, rows, "/36,893,488,147,419,103,230|"); /* the total of huge */
    page_has_text(b, rows, "text/print/BRISC/2");
    const char *texts =
        "[...document.querySelectorAll('#texts tbody tr')].map((r) => r.cells[1].textContent + ': ' + "
        "r.cells[2].textContent).join('|')";
    page_has_text(
        b, texts,
        "core 1,1, BRISC: <b>tile 5, \"done\"</b>|core 1,1, BRISC: tile 6 \xF0\x9F\x8E\x89\xEF\xBF\xBD");
    page_has_text(b, "document.getElementById('pane-markers').hidden + ''", "false");
    free(browser_js(b, "document.querySelector('#texts tbody tr').click()"));
    page_has_text(b, "document.getElementById('details').textContent", "<b>tile 5, \"done\"</b>");
    page_has_text(b, "document.getElementById('details').textContent", "text ofprint");
    assert_string_equal(browser_problems(b), "");
    browser_stop(b);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(markers_and_text_are_on_the_page)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
