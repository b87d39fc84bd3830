/* What is no zone is in every output that zones are in: sums, values, counters, events and text, of devlog's
 * own logs and of tt-metal's, on several chips and cores, among dropped markers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "support/cli.h"
#include "support/files.h"

static void row(dl_str *s, unsigned chip, unsigned x, unsigned timer, uint64_t time, uint64_t data,
                unsigned launch, const char *zone, const char *type, const char *meta)
{
    dl_str_fmt(s, "%u,%u,1,BRISC,%u,%llu,%llu,%u,,,%s,%s,9,k.cc,%s\n", chip, x, timer,
               (unsigned long long)time, (unsigned long long)data, launch, zone, type, meta);
}

static void write_log(const char *name)
{
    dl_str s = {0};
    dl_str_add(&s,
               "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"
               "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
               "run host ID, trace id, trace id counter, zone name, type, source line, source file, "
               "meta data\n");
    for (unsigned chip = 0; chip < 2; chip++)
        for (unsigned x = 1; x < 3; x++)
            for (unsigned launch = 7; launch < 9; launch++) {
                uint64_t t = 1000000 * launch;
                char text[100];
                snprintf(text, sizeof text, "{\"text\":\"core %u\\u002c launch %u\\u003b \\\"ok\\\"\"}", x,
                         launch);
                row(&s, chip, x, 1, t, 0, launch, "BRISC-FW", "ZONE_START", "");
                row(&s, chip, x, 20, t + 20, 64 * launch + x, launch, "bytes", "TS_DATA", "");
                row(&s, chip, x, 22, t + 25, x, launch, "queue", "TS_DATA", "{\"counter\":1}");
                row(&s, chip, x, 24, t + 30, 0, launch, "ready", "TS_EVENT", "");
                row(&s, chip, x, 26, t + 35, 0, launch, "print", "TS_EVENT", text);
                row(&s, chip, x, 28, t + 36, 50 * launch, launch, "wait", "ZONE_TOTAL",
                    "{\"count\":5;\"min\":7;\"max\":300}");
                row(&s, chip, x, 30, t + 37, 111, launch, "CB-WAIT", "ZONE_TOTAL", "");
                row(&s, chip, x, 9090, t + 38, 5, launch, "", "TS_DATA_16B",
                    "{\"counter type\":\"FPU_COUNTER\";\"ref cnt\":900;\"value\":50}");
                row(&s, chip, x, 3, t + 39, 4, launch, "DEVLOG-DROPPED", "ZONE_TOTAL", "");
                row(&s, chip, x, 1, t + 1100, 0, launch, "BRISC-FW", "ZONE_END", "");
            }
    write_text(in_scratch(name), s.text);
    dl_str_free(&s);
}

static void has(const char *what, const char *text, const char *line)
{
    if (!strstr(text, line)) fail_msg("%s lacks '%s':\n%.3000s", what, line, text);
}

/* With files, which needs every event, and without, which does not: two ways through the decoder. */
static void tables_and_statistics_show_them(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "\nBRISC  wait            4      20        1,500         75    7  300  a pass    |       75\n",
        "\nBRISC  CB-WAIT         4       ?          444        111  111  111  a launch  |      111\n",
        "\nBRISC  FPU_COUNTER  value        4    50   50   50   50.0\n",
        "\nBRISC  bytes        value        4   514  449  514  481.5\n",
        "\nBRISC  queue        counter      4     2    1    2    1.5\n",
        "\nBRISC  print  text       4      8,000,035\n",
        "\nBRISC  ready  event      4      8,000,030\n",
        "\n7,000,035  2,1   BRISC  7       core 2, launch 7; \"ok\"\n",
        "\n8,000,035  1,1   BRISC  8       core 1, launch 8; \"ok\"\n",
    };
    write_log("rich.csv");
    char *quick = devlog_ok("decode --no-files rich.csv", 3), *whole = devlog_ok("decode -o out rich.csv", 3);
    char *stats = read_bytes(in_scratch("out/device_stats.txt"), NULL);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        has("the table without files", quick, lines[i]);
        has("the table", whole, lines[i]);
        has("device_stats.txt", stats, lines[i]);
        const char *again = strstr(quick, lines[i]) + strlen(lines[i]) - 1; /* of the other chip */
        has("chip 1", again, lines[i]);
    }
    free(quick);
    free(whole);
    free(stats);
    char *few = devlog_ok("decode --no-files --top 1 rich.csv", 3);
    has("--top 1", few, "\n... and 3 more (--top N shows more, --top 0 all)\n");
    assert_null(strstr(few, "core 2, launch 7"));
    free(few);
    char *filtered = devlog_ok("decode --no-files --launches 8 --core 1,1 --chips 0 rich.csv", 3);
    has("a filter", filtered, "\nBRISC  bytes        value        1   513  513  513  513.0\n");
    assert_null(strstr(filtered, "launch 7; "));
    free(filtered);
}

static void programs_get_them(void **state)
{
    (void)state;
    write_log("rich.csv");
    char *json = devlog_ok("decode -f json rich.csv", 3), *csv = devlog_ok("decode -f csv rich.csv", 3);
    assert_true(is_json(json));
    has("json", json,
        "{\"chip\": 1, \"risc\": \"BRISC\", \"name\": \"wait\", \"kind\": \"sum\", \"count\": 4, \"passes\": "
        "20, \"last\": "
        "400, \"last_cycle\": 8000036, \"min\": 350, \"max\": 400, \"shortest_pass\": 7, \"longest_pass\": "
        "300, \"sum\": "
        "1500, \"average\": 75.0}");
    has("json", json,
        "{\"chip\": 0, \"core\": [2, 1], \"risc\": \"BRISC\", \"name\": \"bytes\", \"kind\": \"value\", "
        "\"count\": 2, "
        "\"passes\": null, \"last\": 514, ");
    has("json", json, "\"cycle\": 8000035, \"text\": \"core 2, launch 8; \\\"ok\\\"\"}");
    has("json", json, "\"messages_left_out\": 0,");
    has("csv", csv, "\nmarkers,counter,0,,,,,,,BRISC,queue,4,1.5,1,2,1,,6,,,,,,2,8000025,,,,\n");
    has("csv", csv, "\nmarkers,sum,0,,,,,,,BRISC,wait,4,75.0,350,400,50,,1500,,,,,,400,8000036,20,7,300,\n");
    has("csv", csv,
        "\nmessages,text,0,0,7,,,2,1,BRISC,print,1,,,,,,,,,,,,,7000035,,,,\"core 2, launch 7; "
        "\"\"ok\"\"\"\n");
    free(json);
    free(csv);
}

/* An analysis that lists points and values has no durations. */
static void an_event_analysis_prints_no_cycles(void **state)
{
    (void)state;
    write_log("rich.csv");
    write_text(
        in_scratch("points.json"),
        "{\"points\": {\"across\": \"device\", \"type\": \"event\", \"marker\": {\"risc\": \"ANY\"}}}");
    char *text = devlog_ok("decode --no-files --no-default-analyses -a points.json rich.csv", 3);
    has("the table", text, "\npoints       20  ");
    const char *line = strstr(text, "\npoints       20  ") + 16;
    if (strcspn(line, "0123456789") < strcspn(line, "\n")) fail_msg("durations of points: %.80s", line);
    free(text);
    char *json = devlog_ok("decode -f json --no-default-analyses -a points.json rich.csv", 3);
    has("json", json, "\"type\": \"event\", \"chip\": 0, \"count\": 20, \"incomplete\": 0, \"events\": [");
    has("json", json, "\"zone\": \"print\", \"data\": null, \"text\": \"core 1, launch 7; \\\"ok\\\"\"}");
    free(json);
    char *csv = devlog_ok("decode -f csv --no-default-analyses -a points.json rich.csv", 3);
    has("csv", csv, "\nanalyses,points,0,,,,,,,,,20,,,,,,,,,,,,,,,,,\n");
    free(csv);
    free(devlog_ok("decode -o out --no-default-analyses -a points.json rich.csv", 3));
    char *stats = read_bytes(in_scratch("out/device_stats.txt"), NULL);
    has("device_stats.txt", stats, "  cycle 7000035  core 1,1 BRISC  print  core 1, launch 7; \"ok\"\n");
    free(stats);
}

static bool has_bytes(const char *bytes, size_t n, const char *text)
{
    return memmem(bytes, n, text, strlen(text)) != NULL;
}

/* Text is the event's text, values and sums are data, in every format that has points in time. */
static void exports_have_them(void **state)
{
    (void)state;
    static const struct {
        const char *format, *file, *text, *value, *sum;
    } formats[] = {
        {"perfetto", "t.pb", "core 2, launch 8; \"ok\"", "bytes", "wait"},
        {"chrome", "t.json", "\"name\":\"core 2, launch 8; \\\"ok\\\"\"", "\"value\":\"514\"",
         "\"sum_cycles\":\"400\""},
        {"csv", "t.csv", ",\"core 2, launch 8; \"\"ok\"\"\"\n", ",514,0,1,\n", ",400,0,1,\n"},
        {"json", "t2.json", ",\"text\":\"core 2, launch 8; \\\"ok\\\"\"}", "\"data\":\"514\"",
         "\"data\":\"400\""},
        {"sqlite", "t.db", "core 2, launch 8; \"ok\"", "bytes", "wait"},
        {"xplane", "xp/plugins/profile/devlog/devlog.xplane.pb", "core 2, launch 8; \"ok\"", "bytes", "wait"},
        {"ctf", "ctf/chip_1", "core 2, launch 8; \"ok\"", "", ""},
    };
    write_log("rich.csv");
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char line[200], path[100];
        snprintf(path, sizeof path, "%s", formats[i].file);
        if (strchr(path, '/')) *strchr(path, '/') = 0;
        snprintf(line, sizeof line, "export -f %s -o %s rich.csv", formats[i].format, path);
        free(devlog_ok(line, 3));
        size_t n;
        char *bytes = read_bytes(in_scratch(formats[i].file), &n);
        if (!has_bytes(bytes, n, formats[i].text)) fail_msg("%s: no text", formats[i].format);
        if (!has_bytes(bytes, n, formats[i].value)) fail_msg("%s: no value", formats[i].format);
        if (!has_bytes(bytes, n, formats[i].sum)) fail_msg("%s: no sum", formats[i].format);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_and_statistics_show_them),
        cmocka_unit_test(programs_get_them),
        cmocka_unit_test(an_event_analysis_prints_no_cycles),
        cmocka_unit_test(exports_have_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
