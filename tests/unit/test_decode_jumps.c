/* Stamps that jump from one log of a chip to the next: what each is taken for, and what becomes of the zones around it. Each log
 * is sorted by itself before, so what is here is what only another log contradicts. The last stamp of all: test_decode_clock.c; torn
 * stamps within a launch: test_decode_torn.c. */
#include "support/cmocka_all.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/events.h"

#define TORN    (UINT64_C(1) << 32)
#define WRAP    (UINT64_C(1) << 44)
#define CHANGE  (505 * TORN)        /* the upper half of the clock changes here */
#define RESTART (UINT64_C(1) << 24) /* a step back that is another run */
#define NEAR    (UINT64_C(1) << 20) /* to a change of the upper half */
#define FAR     (UINT64_C(1) << 21) /* too far from it for a torn read */

enum { MOST = 8 };

typedef struct row {
    unsigned log;
    const char *zone;
    uint64_t stamp;
    char type;        /* '<' and '>': a zone's start and end; '!': an event */
    const char *risc; /* NULL: BRISC */
    unsigned launch;
} row;

typedef struct expected {
    dl_finding what;
    uint64_t times;
} expected;

/* Zones are of one launch unless it says otherwise; stamps of 44 bits are written, of a second round they come back as more. */
typedef struct jump {
    const char *name;
    row rows[MOST];
    uint64_t zones[MOST][2]; /* start and end of those that are whole */
    expected findings[4];
} jump;

typedef struct found {
    uint64_t zones[MOST][2];
    size_t n;
} found;

static devlog_status on_events(void *ctx, const dl_event *events, size_t n, devlog_error *err)
{
    found *f = ctx;
    (void)err;
    for (size_t i = 0; i < n; i++) {
        if (events[i].kind != DL_EVENT_ZONE) continue;
        assert_true(f->n < MOST);
        f->zones[f->n][0] = events[i].start;
        f->zones[f->n++][1] = events[i].end;
    }
    return DEVLOG_OK;
}

static void add_log(dl_decode *d, const row *rows, unsigned log)
{
    dl_str text = {0};
    devlog_error err;
    dl_str_fmt(&text,
               "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
               "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
               "run host ID, zone name, type, source line, source file\n");
    for (const row *r = rows; r < rows + MOST && r->zone; r++)
        if (r->log == log)
            dl_str_fmt(&text, "0,1,1,%s,7,%" PRIu64 ",0,%u,%s,%s,1,k.cc\n", r->risc ? r->risc : "BRISC",
                       r->stamp % WRAP, r->launch, r->zone,
                       r->type == '<'   ? "ZONE_START"
                       : r->type == '>' ? "ZONE_END"
                                        : "TS_EVENT");
    assert_false(text.failed);
    assert_int_equal(dl_decode_memory(d, "log.csv", text.text, text.len, &err), DEVLOG_OK);
    dl_str_free(&text);
}

static void check(const jump *j)
{
    found f = {0};
    dl_decode *d;
    devlog_error err;
    unsigned logs = 0;
    assert_int_equal(dl_decode_new(&d, &(dl_decode_options){.threads = 1}, &err), DEVLOG_OK);
    test_events_to(d, &f, on_events);
    for (const row *r = j->rows; r < j->rows + MOST && r->zone; r++)
        if (r->log >= logs) logs = r->log + 1;
    for (unsigned i = 0; i < logs; i++)
        add_log(d, j->rows, i);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);

    uint64_t want[DL_FINDINGS] = {0};
    for (size_t i = 0; i < sizeof j->findings / sizeof *j->findings; i++)
        want[j->findings[i].what] += j->findings[i].times;
    bool same = memcmp(f.zones, j->zones, sizeof f.zones) == 0;
    const dl_losses *l = dl_decode_losses(d);
    for (int i = 0; i < DL_FINDINGS; i++)
        same &= l->found[i] == want[i];
    if (!same) {
        printf("%s:\n", j->name);
        for (size_t i = 0; i < f.n; i++)
            printf("  zone {%" PRIu64 ", %" PRIu64 "}\n", f.zones[i][0], f.zones[i][1]);
        for (int i = 0; i < DL_FINDINGS; i++)
            if (l->found[i] || want[i])
                printf("  finding %d: %" PRIu64 " of %" PRIu64 "\n", i, l->found[i], want[i]);
    }
    assert_true(same);
    dl_decode_free(d);
}

static const jump jumps[] = {
    {"a little earlier, near a change of the upper half",
     {{0, "A", CHANGE + 5000, '<'}, {1, "A", CHANGE + 4000, '>'}},
     {{0}},
     {{DL_FOUND_OUT_OF_ORDER, 1}, {DL_FOUND_UNPAIRED_START, 1}}},
    {"2^32 earlier, and what is next lies where neither explains it",
     {{0, "A", CHANGE + 5000, '<'},
      {1, "A", CHANGE + 6000 - TORN, '>'},
      {2, "B", CHANGE + 5500, '<'},
      {2, "B", CHANGE + 5600, '>'}},
     {{CHANGE + 5500, CHANGE + 5600}},
     {{DL_FOUND_OUT_OF_ORDER, 1}, {DL_FOUND_UNPAIRED_START, 1}}},
    {"a little earlier, near the end of a round",
     {{0, "A", WRAP - 5000, '<'},
      {0, "A", WRAP - 4000, '>'},
      {1, "B", WRAP - 7000, '<'},
      {1, "B", WRAP - 6500, '>'}},
     {{WRAP - 5000, WRAP - 4000}},
     {{DL_FOUND_OUT_OF_ORDER, 2}}},
    {"the last stamp of all is long before",
     {{0, "A", 50 * TORN, '<'}, {0, "A", 50 * TORN + 100, '>'}, {1, "B", 10 * TORN + FAR, '<'}},
     {{50 * TORN, 50 * TORN + 100}},
     {{DL_FOUND_CLOCK_RESTART, 1}, {DL_FOUND_UNPAIRED_START, 1}}},
    {"a wrap, which all RISCs of a chip have",
     {{0, "A", WRAP - 100, '<'},
      {0, "A", WRAP - 50, '>'},
      {1, "B", WRAP + 100, '<'},
      {1, "B", WRAP + 200, '>'},
      {2, "C", WRAP + 300, '<', "NCRISC"},
      {2, "C", WRAP + 400, '>', "NCRISC"},
      {3, "D", WRAP - 30, '<', "TRISC_0"},
      {3, "D", WRAP - 20, '>', "TRISC_0"}},
     {{WRAP - 100, WRAP - 50}, {WRAP + 100, WRAP + 200}, {WRAP + 300, WRAP + 400}, {WRAP - 30, WRAP - 20}},
     {{DL_FOUND_WRAP, 1}}},
    {"an event that is earlier does not set the clock back",
     {{0, "A", 5000, '<'},
      {0, "A", 6000, '>'},
      {1, "E", 3000, '!'},
      {2, "B", 5500, '<'},
      {2, "B", 5700, '>'},
      {3, "C", 6100, '<'},
      {3, "C", 6200, '>'}},
     {{5000, 6000}, {6100, 6200}},
     {{DL_FOUND_OUT_OF_ORDER, 2}}},
    {"far back, of the same launch",
     {{0, "A", 50 * TORN, '<', NULL, 3},
      {0, "A", 50 * TORN + 100, '>', NULL, 3},
      {1, "B", 10 * TORN + FAR, '<', NULL, 3},
      {1, "B", 10 * TORN + FAR + 100, '>', NULL, 3}},
     {{50 * TORN, 50 * TORN + 100}},
     {{DL_FOUND_OUT_OF_ORDER, 2}}},
    {"far back, of another launch",
     {{0, "A", 50 * TORN, '<', NULL, 3},
      {0, "A", 50 * TORN + 100, '>', NULL, 3},
      {1, "B", 10 * TORN + FAR, '<', NULL, 4},
      {1, "B", 10 * TORN + FAR + 100, '>', NULL, 4}},
     {{50 * TORN, 50 * TORN + 100}, {10 * TORN + FAR, 10 * TORN + FAR + 100}},
     {{DL_FOUND_CLOCK_RESTART, 1}}},
    {"2^32 earlier, far from a change of the upper half",
     {{0, "A", CHANGE + FAR + 1000, '<'}, {1, "A", CHANGE + FAR + 2000 - TORN, '>'}},
     {{0}},
     {{DL_FOUND_CLOCK_RESTART, 1}, {DL_FOUND_UNPAIRED_START, 1}, {DL_FOUND_UNPAIRED_END, 1}}},
    {"a zone that is open when the clock starts again",
     {{0, "A", 50 * TORN, '<'},
      {1, "B", 10 * TORN + FAR, '<'},
      {1, "B", 10 * TORN + FAR + 5, '>'},
      {1, "A", 10 * TORN + FAR + 9, '>'}},
     {{10 * TORN + FAR, 10 * TORN + FAR + 5}},
     {{DL_FOUND_CLOCK_RESTART, 1}, {DL_FOUND_UNPAIRED_START, 1}, {DL_FOUND_UNPAIRED_END, 1}}},
    {"an end that came too early, and another",
     {{0, "A", 5000, '<'}, {1, "A", 4000, '>'}, {2, "A", 5600, '>'}},
     {{0}},
     {{DL_FOUND_OUT_OF_ORDER, 1}, {DL_FOUND_UNPAIRED_START, 1}, {DL_FOUND_UNPAIRED_END, 1}}},
    {"an end that came too early, inside a zone that goes on",
     {{0, "A", 5000, '<'}, {0, "B", 5100, '<'}, {1, "A", 4000, '>'}, {2, "B", 5600, '>'}},
     {{5100, 5600}},
     {{DL_FOUND_OUT_OF_ORDER, 1}, {DL_FOUND_UNPAIRED_START, 1}}},
    {"back by hardly less than what is another run",
     {{0, "A", 50 * TORN, '<', NULL, 3},
      {0, "A", 50 * TORN + 100, '>', NULL, 3},
      {1, "B", 50 * TORN + 101 - RESTART, '<', NULL, 4},
      {1, "B", 50 * TORN + 151 - RESTART, '>', NULL, 4}},
     {{50 * TORN, 50 * TORN + 100}},
     {{DL_FOUND_OUT_OF_ORDER, 2}}},
    {"back by as much",
     {{0, "A", 50 * TORN, '<', NULL, 3},
      {0, "A", 50 * TORN + 100, '>', NULL, 3},
      {1, "B", 50 * TORN + 100 - RESTART, '<', NULL, 4},
      {1, "B", 50 * TORN + 150 - RESTART, '>', NULL, 4}},
     {{50 * TORN, 50 * TORN + 100}, {50 * TORN + 100 - RESTART, 50 * TORN + 150 - RESTART}},
     {{DL_FOUND_CLOCK_RESTART, 1}}},
    {"a long zone, and what comes next is more than 2^32 before its end",
     {{0, "A", CHANGE - 3 * TORN, '<', NULL, 3},
      {0, "A", CHANGE - 10, '>', NULL, 3},
      {1, "B", CHANGE - 510 - TORN, '<', NULL, 3},
      {1, "B", CHANGE - 500 - TORN, '>', NULL, 3}},
     {{CHANGE - 3 * TORN, CHANGE - 10}},
     {{DL_FOUND_OUT_OF_ORDER, 2}}},
    {"2^32 earlier, as far from a change of the upper half as a torn read may be",
     {{0, "A", CHANGE + 20, '<'}, {1, "A", CHANGE + NEAR - 1 - TORN, '>'}},
     {{CHANGE + 20, CHANGE + NEAR - 1}},
     {{DL_FOUND_TORN, 1}}},
    {"and farther",
     {{0, "A", CHANGE + 20, '<'}, {1, "A", CHANGE + NEAR - TORN, '>'}},
     {{0}},
     {{DL_FOUND_CLOCK_RESTART, 1}, {DL_FOUND_UNPAIRED_START, 1}, {DL_FOUND_UNPAIRED_END, 1}}},
    {"a log that is there twice, from behind a wrap",
     {{0, "BRISC-FW", WRAP - 5000, '<', NULL, 3},
      {0, "BRISC-FW", WRAP - 4000, '>', NULL, 3},
      {1, "BRISC-FW", WRAP + 100, '<', NULL, 4},
      {1, "B", WRAP + 200, '<', NULL, 4},
      {2, "BRISC-FW", WRAP - 5000, '<', NULL, 3},
      {2, "BRISC-FW", WRAP - 4000, '>', NULL, 3},
      {3, "B", WRAP + 300, '>', NULL, 4}},
     {{WRAP - 5000, WRAP - 4000}, {WRAP - 5000, WRAP - 4000}},
     {{DL_FOUND_WRAP, 2}, {DL_FOUND_REPEATED, 1}, {DL_FOUND_UNPAIRED_START, 2}, {DL_FOUND_UNPAIRED_END, 1}}},
    {"2^32 behind the firmware's start, which is near a change of the upper half",
     {{0, "BRISC-FW", CHANGE - TORN + 500, '<', NULL, 3},
      {0, "A", CHANGE + 700, '<', NULL, 3},
      {0, "A", CHANGE + 800, '>', NULL, 3},
      {0, "BRISC-FW", CHANGE + 900, '>', NULL, 3}},
     {{CHANGE + 700, CHANGE + 800}, {CHANGE - TORN + 500, CHANGE + 900}},
     {{DL_FOUND_AMBIGUOUS, 1}}},
    {"more than 2^32 behind it",
     {{0, "BRISC-FW", CHANGE - TORN + 500, '<', NULL, 3},
      {0, "A", CHANGE + FAR, '<', NULL, 3},
      {0, "A", CHANGE + FAR + 100, '>', NULL, 3},
      {0, "BRISC-FW", CHANGE + FAR + 900, '>', NULL, 3}},
     {{CHANGE + FAR, CHANGE + FAR + 100}, {CHANGE - TORN + 500, CHANGE + FAR + 900}},
     {{0}}},
    {"2^32 behind it, far from a change of the upper half",
     {{0, "BRISC-FW", CHANGE - TORN + FAR, '<', NULL, 3},
      {0, "A", CHANGE + FAR + 200, '<', NULL, 3},
      {0, "A", CHANGE + FAR + 300, '>', NULL, 3},
      {0, "BRISC-FW", CHANGE + FAR + 900, '>', NULL, 3}},
     {{CHANGE + FAR + 200, CHANGE + FAR + 300}, {CHANGE - TORN + FAR, CHANGE + FAR + 900}},
     {{0}}},
    {"2^32 behind another marker, which the firmware's start is before",
     {{0, "BRISC-FW", CHANGE - TORN + 500, '<', NULL, 3},
      {0, "A", CHANGE - TORN + 510, '<', NULL, 3},
      {0, "A", CHANGE + 800, '>', NULL, 3},
      {0, "BRISC-FW", CHANGE + 900, '>', NULL, 3}},
     {{CHANGE - TORN + 510, CHANGE + 800}, {CHANGE - TORN + 500, CHANGE + 900}},
     {{0}}},
};

static void each_jump(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++)
        check(&jumps[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_jump)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
