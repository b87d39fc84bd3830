/* device_perf.html for tests. See page.h. */
#include "support/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "base/str.h"
#include "decode/capture/capture.h"
#include "support/device.h"
#include "support/logs.h"

static const char *const riscs[] = {"BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2"};

/* The RISC in hand. */
typedef struct writer {
    FILE *f;
    const page_log *log;
    unsigned chip, x, y, launch;
    const char *risc;
    uint64_t time, seed;
} writer;

static void row(writer *w, unsigned timer, uint64_t data, const char *name, const char *type)
{
    fprintf(w->f, "%u,%u,%u,%s,%u,%llu,%llu,%u,%s,%s,%u,kernels/k.c,\n", w->chip, w->x, w->y, w->risc, timer,
            (unsigned long long)w->time, (unsigned long long)data, w->launch * 1024, name, type, timer);
}

static void zone_name(const writer *w, unsigned zone, dl_str *out)
{
    static const char *const names[] = {"read page", "wait for page", "compute", "pack", "write", "reserve"};
    dl_str_clear(out);
    dl_str_fmt(out, "%s %u", names[zone % 6], zone);
    while (out->len < w->log->name)
        dl_str_add(out, " and so on");
}

static void zones(writer *w)
{
    dl_str name = {0};
    for (unsigned i = 0; i < w->log->zones; i++) {
        unsigned zone = w->log->shuffled ? (unsigned)(test_random(&w->seed) % w->log->zones) : i;
        zone_name(w, zone, &name);
        row(w, 10 + zone, 0, name.text, "ZONE_START");
        w->time += 50;
        if (zone % 2) row(w, 9, 0, "inner", "ZONE_START");
        if (w->log->values) {
            row(w, 1000 + zone, i % 2 ? UINT64_MAX : w->time, "a value", "TS_DATA");
            row(w, 2000 + zone, 0, "an event", "TS_EVENT");
        }
        if (w->log->texts)
            fprintf(
                w->f,
                "%u,%u,%u,%s,4000,%llu,0,%u,print,TS_EVENT,9,kernels/k.c,{\"text\":\"tile %u of launch %u\\u002c <done>\"}\n",
                w->chip, w->x, w->y, w->risc, (unsigned long long)w->time, w->launch * 1024, i, w->launch);
        w->time += 150;
        if (zone % 2) row(w, 9, 0, "inner", "ZONE_END");
        w->time += 50;
        row(w, 10 + zone, 0, name.text, "ZONE_END");
        w->time += 50;
    }
    dl_str_free(&name);
}

static void launch(writer *w)
{
    char fw[32], kernel[32];
    int n = strncmp(w->risc, "TRISC", 5) == 0 ? 5 : (int)strlen(w->risc);
    snprintf(fw, sizeof fw, "%.*s-FW", n, w->risc);
    snprintf(kernel, sizeof kernel, "%.*s-KERNEL", n, w->risc);
    row(w, 1, 0, fw, "ZONE_START");
    w->time += 100;
    row(w, 2, 0, kernel, "ZONE_START");
    w->time += 100;
    zones(w);
    if (w->log->slow == w->launch && w->x == 0 && w->y == 0) w->time += w->log->slower;
    if (w->log->values) row(w, 3000, 777, "a sum", "ZONE_TOTAL");
    if (w->log->drops && w->launch % 2) row(w, 3, 40 + w->launch, "DEVLOG-DROPPED", "ZONE_TOTAL");
    w->time += 400;
    row(w, 2, 0, kernel, "ZONE_END");
    w->time += 100;
    row(w, 1, 0, fw, "ZONE_END");
}

void page_log_write(const char *path, const page_log *log)
{
    writer w = {.f = fopen(path, "w"), .log = log, .seed = 14};
    assert_non_null(w.f);
    fputs(
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 500\n"
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host "
        "ID, zone name, type, source line, source file, meta data\n",
        w.f);
    const unsigned cores = log->columns * log->rows, all = log->chips * cores * log->riscs;
    for (unsigned i = 0; i < all; i++) {
        unsigned core = i / log->riscs % cores;
        w.chip = i / log->riscs / cores;
        w.x = core % log->columns;
        w.y = core / log->columns;
        w.risc = riscs[i % log->riscs];
        for (w.launch = 1; w.launch <= log->launches; w.launch++) {
            w.time = 1000 + (uint64_t)w.launch * (log->apart ? log->apart : 20000) + core * log->staggered;
            launch(&w);
        }
    }
    assert_int_equal(fclose(w.f), 0);
}

void page_capture_write(const char *folder)
{
    enum { CALLS = 3, BURSTS = 10, NS = 1000000 };
    devlog_error err = {0};
    dl_capture *c;
    check_ok(dl_capture_open(&c, folder, DL_CAPTURE_NAME, false, &err), &err);
    const dl_capture_chip chip = {.freq_khz = 1000000,
                                  .max_cores = 1,
                                  .arch = "wormhole_b0",
                                  .board = "",
                                  .transport = "sim",
                                  .boot = "b"};
    check_ok(dl_capture_put_chip(c, &chip, &err), &err);
    for (uint64_t i = 0; i < BURSTS; i++) {
        const dl_clock_sample sample = {5 * NS + i * NS / 2, 5 * NS + i * NS / 2 + 100, i * NS / 2 + 50,
                                        (uint32_t)i};
        const dl_clock_samples samples = {0, DL_CLOCK_HOST, &sample, 1};
        check_ok(dl_capture_put_samples(c, &samples, &err), &err);
    }
    for (uint32_t i = 1; i <= CALLS; i++) {
        dl_capture_risc risc = {.name = "BRISC"};
        const uint32_t from = i * NS, to = from + NS / 4;
        risc.control.launch = i;
        risc.control.marks = 1 | 8;
        risc.control.stamps[0] = from;
        risc.control.stamps[6] = to;
        check_ok(dl_capture_put_core(c, &(dl_capture_core){.n_riscs = 1, .riscs = &risc}, &err), &err);
        const dl_capture_launch launch = {0,
                                          i,
                                          0,
                                          5 * NS + from - NS / 5,
                                          5 * NS + to + NS / 10,
                                          5 * NS + to + NS / 8,
                                          5 * NS + to + NS / 4};
        check_ok(dl_capture_put_launch(c, &launch, &err), &err);
    }
    check_ok(dl_capture_put_end(c, 0, &err), &err);
    check_ok(dl_capture_commit(c, &err), &err);
    dl_capture_close(c);
}

void page_decode(const char *log, const char *out, int exit_status)
{
    devlog_error err;
    dl_output printed;
    const char *argv[] = {getenv("DEVLOG_BIN"), "decode", log, "-o", out, NULL};
    check_ok(dl_process_run(argv, &printed, &err), &err);
    if (exit_status >= 0 && printed.exit != exit_status) print_message("%s\n", printed.text);
    if (exit_status >= 0) assert_int_equal(printed.exit, exit_status);
    free(printed.text);
}

void page_open(browser *b, const char *log, const char *out, int exit_status)
{
    char url[500];
    page_decode(log, out, exit_status);
    snprintf(url, sizeof url, "file://%.400s/device_perf.html", out);
    if (browser_go(b, url, PAGE_READY " || document.documentElement.dataset.ready === 'failed'")) {
        page_has_no_problems(b, log);
        page_has_text(b, "document.documentElement.dataset.ready", "yes");
    } else {
        fail_msg("%s: the page is not drawn", log);
    }
}

void page_settle(browser *b)
{
    free(browser_js(b, "new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))"));
}

void page_has_text(browser *b, const char *expression, const char *expected)
{
    char *text = browser_js(b, "%s", expression);
    if (!strstr(text, expected))
        print_message("%s\n  is        '%s'\n  without   '%s'\n", expression, text, expected);
    bool has = strstr(text, expected) != NULL;
    free(text);
    assert_true(has);
}

void page_has_number(browser *b, const char *expression, double expected)
{
    char *text = browser_js(b, "%s", expression);
    if (atof(text) != expected) print_message("%s is %s, not %g\n", expression, text, expected);
    bool is = atof(text) == expected;
    free(text);
    assert_true(is);
}

void page_has_no_problems(browser *b, const char *where)
{
    if (*browser_problems(b)) print_message("%s: the console says:\n%s\n", where, browser_problems(b));
    assert_string_equal(browser_problems(b), "");
}
