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

/* Hardware counters of tt-metal in both forms (meta data, or 32 bits of value, 28 of cycles, 4 of the counter's number), in
 * a zone, in the kernel around it, and in none. */
static void write_counters(const char *name, const char *arch)
{
    dl_str s = {0};
    dl_str_fmt(&s,
               "ARCH: %s, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"
               "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
               "run host ID, trace id, trace id counter, zone name, type, source line, source file, "
               "meta data\n",
               arch);
    for (unsigned x = 1; x < 3; x++)
        for (unsigned launch = 1; launch < 101; launch++) {
            uint64_t t = 1000000 * launch;
            row(&s, 0, x, 1, t, 0, launch, "BRISC-FW", "ZONE_START", "");
            row(&s, 0, x, 2, t + 10, 0, launch, "BRISC-KERNEL", "ZONE_START", "");
            row(&s, 0, x, 3, t + 20, 0, launch, "math", "ZONE_START", "");
            row(&s, 0, x, 9090, t + 30, 5, launch, "", "TS_DATA_16B",
                "{\"counter type\":\"FPU_COUNTER\";\"ref cnt\":1000;\"value\":250}");
            row(&s, 0, x, 9090, t + 31, 5, launch, "", "TS_DATA_16B",
                "{\"counter type\":\"PACKER_BUSY_0\";\"ref cnt\":1000;\"value\":0}");
            row(&s, 0, x, 3, t + 40, 0, launch, "math", "ZONE_END", "");
            row(&s, 0, x, 9090, t + 50, UINT64_C(2) << 60 | UINT64_C(800) << 32 | 8, launch, "", "TS_DATA",
                "");
            row(&s, 0, x, 9090, t + 51, UINT64_C(1) << 60 | UINT64_C(800) << 32 | launch, launch, "",
                "TS_DATA", "");
            row(&s, 0, x, 9090, t + 52, 7, launch, "mine", "TS_DATA", "");
            row(&s, 0, x, 2, t + 60, 0, launch, "BRISC-KERNEL", "ZONE_END", "");
            row(&s, 0, x, 1, t + 70, 0, launch, "BRISC-FW", "ZONE_END", "");
            row(&s, 0, x, 9090, t + 80, 0, launch, "", "TS_DATA_16B",
                "{\"counter type\":\"FPU_COUNTER\";\"ref cnt\":0;\"value\":0}");
        }
    write_text(in_scratch(name), s.text);
    dl_str_free(&s);
}

static void counters_are_of_zones(void **state)
{
    (void)state;
    static const char *const common[] = {
        "\nBRISC  (no zone)     FPU_COUNTER        200       0          0            N/A\n",
        "\nBRISC  BRISC-KERNEL  FPU_COUNTER        200  10,100    160,000           6.31\n",
        "\nBRISC  BRISC-KERNEL  SFPU_COUNTER       200   1,600    160,000           1.00\n",
        "\nBRISC  math          FPU_COUNTER        200  50,000    200,000          25.00\n",
    };
    write_counters("wormhole.csv", "wormhole_b0");
    write_counters("blackhole.csv", "blackhole");
    free(devlog_ok("pack blackhole.csv -o blackhole.pack", 0));
    static const char *const ways[] = {"wormhole.csv", "blackhole.csv", "blackhole.pack",
                                       "-o out blackhole.csv"};
    for (int i = 0; i < 4; i++) {
        char line[100];
        snprintf(line, sizeof line, "decode %s%s", i < 3 ? "--no-files " : "", ways[i]);
        char *table = devlog_ok(line, 0);
        for (size_t k = 0; k < sizeof common / sizeof common[0]; k++)
            has(ways[i], table, common[k]);
        has(ways[i], table,
            i ? "\nBRISC  math          PACKER_BUSY_0      200     N/A        N/A            N/A\n"
              : "\nBRISC  math          PACKER_BUSY_0      200       0    200,000           0.00\n");
        has(ways[i], table, "\nBRISC  mine           value  ");
        free(table);
    }
    char *some = devlog_ok("decode --no-files --launches 1-50 --core 1,1 blackhole.pack", 0);
    has("a filter", some,
        "\nBRISC  math          FPU_COUNTER         50  12,500     50,000          25.00\n");
    free(some);
    char *json = devlog_ok("decode -f json blackhole.csv", 0),
         *csv = devlog_ok("decode -f csv blackhole.csv", 0);
    assert_true(is_json(json));
    has("json", json,
        "{\"chip\": 0, \"risc\": \"BRISC\", \"zone\": \"math\", \"counter\": \"FPU_COUNTER\", \"records\": 200, \"sum\": 50000, "
        "\"average\": 250.0, \"reference_cycles\": 200000, \"percent\": 25.0}");
    has("json", json,
        "\"zone\": \"math\", \"counter\": \"PACKER_BUSY_0\", \"records\": 200, \"sum\": null, \"average\": null, "
        "\"reference_cycles\": null, \"percent\": null}");
    has("json", json, "\"zone\": null, \"counter\": \"FPU_COUNTER\", \"records\": 200, \"sum\": 0, ");
    has("csv", csv, "\ncounters,FPU_COUNTER,0,,,,,,,BRISC,math,200,250.0,,,,,50000,,,,,,,200000,,,,\n");
    has("csv", csv, "\ncounters,PACKER_BUSY_0,0,,,,,,,BRISC,math,200,N/A,,,,,N/A,,,,,,,N/A,,,,\n");
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
        cmocka_unit_test(counters_are_of_zones),
        cmocka_unit_test(an_event_analysis_prints_no_cycles),
        cmocka_unit_test(exports_have_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
