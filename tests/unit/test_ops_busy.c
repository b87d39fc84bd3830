/* What rows add up to is what the device did, in runs made at random: ops that nest, that launch before,
 * between and after the launches of their children, on two threads that take turns, on several chips, in
 * traces that are replayed. The truth is the union of the launches' time, worked out here. And by hand: a
 * parent, a trace, a log that has been appended to itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cmocka_all.h"
#include "support/device.h"
#include "support/op_rows.h"

enum { CHIPS = 3, MAX_SPANS = 600, KINDS = 4 };
static const char *const columns[KINDS] = {"DEVICE FW DURATION [ns]", "DEVICE KERNEL DURATION [ns]",
                                           "DEVICE BRISC KERNEL DURATION [ns]",
                                           "DEVICE TRISC1 KERNEL DURATION [ns]"};

typedef struct span {
    uint64_t start, end;
} span;

typedef struct making {
    uint32_t seed;
    dl_str ops, device;
    unsigned next_op, launches[CHIPS], trace_counter;
    uint64_t now[CHIPS]; /* of the device */
    uint64_t host;
    bool beside; /* launches may run beside one another */
    span spans[KINDS][CHIPS][MAX_SPANS];
    unsigned n[CHIPS];
} making;

static uint32_t below(making *m, uint32_t n)
{
    m->seed = m->seed * 1664525u + 1013904223u;
    return (m->seed >> 8) % n;
}

/* The rows of a launch, by which it may be told in the truth. */
static void rows_of(making *m, unsigned chip, unsigned launch, unsigned op, const char *trace)
{
    uint64_t start = m->now[chip] + below(m, 500), kernel = start + 10 + below(m, 20), first = kernel,
             last = 0;
    unsigned cores = 1 + below(m, 3), n = m->n[chip]++;
    assert_true(n < MAX_SPANS);
    span *of[KINDS];
    for (int i = 0; i < KINDS; i++) {
        of[i] = &m->spans[i][chip][n];
        *of[i] = (span){UINT64_MAX, 0};
    }
    for (unsigned x = 0; x < cores; x++) {
        static const char *const riscs[] = {"BRISC", "TRISC_1"};
        for (int r = 0; r < 2; r++) {
            uint64_t fw = start + below(m, 9), from = kernel + below(m, 30), to = from + 20 + below(m, 400);
            uint64_t end = to + 5 + below(m, 30);
            dl_str_fmt(&m->device,
                       "%u,%u,0,%s,1,%llu,0,%u,%s,%s-FW,ZONE_START,0,,{\"op\":%u}\n"
                       "%u,%u,0,%s,2,%llu,0,%u,%s,%s-KERNEL,ZONE_START,0,,\n",
                       chip, x, riscs[r], (unsigned long long)fw, launch, trace, r ? "TRISC" : "BRISC", op,
                       chip, x, riscs[r], (unsigned long long)from, launch, trace, r ? "TRISC" : "BRISC");
            dl_str_fmt(&m->device,
                       "%u,%u,0,%s,3,%llu,0,%u,%s,%s-KERNEL,ZONE_END,0,,\n"
                       "%u,%u,0,%s,4,%llu,0,%u,%s,%s-FW,ZONE_END,0,,\n",
                       chip, x, riscs[r], (unsigned long long)to, launch, trace, r ? "TRISC" : "BRISC", chip,
                       x, riscs[r], (unsigned long long)end, launch, trace, r ? "TRISC" : "BRISC");
            const span parts[] = {{fw, end}, {from, to}, {from, to}};
            for (int i = 0; i < 3; i++) {
                span *s = of[i == 2 ? 2 + r : i];
                if (parts[i].start < s->start) s->start = parts[i].start;
                if (parts[i].end > s->end) s->end = parts[i].end;
            }
            if (end > last) last = end;
        }
    }
    (void)first;
    m->now[chip] = m->beside && below(m, 3) == 0 ? start + below(m, 200) + 10 : last + below(m, 3) * 100;
}

static void launch(making *m, unsigned op)
{
    unsigned chip = below(m, CHIPS), number = ++m->launches[chip];
    dl_str_fmt(&m->ops,
               "{\"e\":\"launch\",\"id\":%u,\"t\":3,\"chip\":%u,\"launch\":%u,\"program\":1,\"cached\":0}\n",
               op, chip, number);
    rows_of(m, chip, number, below(m, 10) ? op : 0, ",");
}

static void begin(making *m, unsigned op, unsigned thread, unsigned depth)
{
    dl_str_fmt(&m->ops,
               "{\"e\":\"start\",\"id\":%u,\"t\":%llu,\"thread\":%u,\"depth\":%u,\"name\":\"op%u\"}\n", op,
               (unsigned long long)(m->host += 10), thread, depth, op % 5);
}

static void end(making *m, unsigned op, unsigned thread)
{
    dl_str_fmt(&m->ops, "{\"e\":\"end\",\"id\":%u,\"t\":%llu,\"thread\":%u}\n", op,
               (unsigned long long)(m->host += 10), thread);
}

static void op_tree(making *m, unsigned depth)
{
    unsigned op = ++m->next_op;
    begin(m, op, 0, depth);
    for (unsigned n = below(m, 4); n; n--) {
        if (below(m, 2)) launch(m, op);
        if (depth < 4 && below(m, 2)) op_tree(m, depth + 1);
    }
    if (below(m, 2)) launch(m, op);
    end(m, op, 0);
}

static void two_threads(making *m)
{
    unsigned a = ++m->next_op, b = ++m->next_op;
    begin(m, a, 1, 1);
    begin(m, b, 2, 1);
    for (unsigned n = 2 + below(m, 6); n; n--)
        launch(m, below(m, 2) ? a : b);
    end(m, b, 2);
    end(m, a, 1);
}

/* Ops are recorded once and their launches replayed: the same run host IDs, another counter. */
static void trace(making *m)
{
    unsigned ops[3], numbers[3], chip = below(m, CHIPS), n = 1 + below(m, 3);
    for (unsigned i = 0; i < n; i++) {
        ops[i] = ++m->next_op;
        numbers[i] = ++m->launches[chip];
        begin(m, ops[i], 0, 1);
        dl_str_fmt(
            &m->ops,
            "{\"e\":\"launch\",\"id\":%u,\"t\":3,\"chip\":%u,\"launch\":%u,\"program\":1,\"cached\":0}\n",
            ops[i], chip, numbers[i]);
        end(m, ops[i], 0);
    }
    for (unsigned replay = 1 + below(m, 4); replay; replay--) {
        char ids[40];
        snprintf(ids, sizeof ids, "7,%u", ++m->trace_counter);
        for (unsigned i = 0; i < n; i++)
            rows_of(m, chip, numbers[i], below(m, 2) ? ops[i] : 0, ids);
    }
}

static int by_start(const void *a, const void *b)
{
    const span *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static uint64_t in_union(const span *spans, unsigned n)
{
    static span sorted[MAX_SPANS];
    uint64_t sum = 0, until = 0;
    memcpy(sorted, spans, n * sizeof *spans);
    qsort(sorted, n, sizeof *sorted, by_start);
    for (unsigned i = 0; i < n; i++) {
        uint64_t from = sorted[i].start > until ? sorted[i].start : until;
        if (sorted[i].end > from) sum += sorted[i].end - from;
        if (sorted[i].end > until) until = sorted[i].end;
    }
    return sum;
}

static void one_run(making *m, const char *folder, uint32_t seed)
{
    memset(m, 0, sizeof *m);
    m->seed = seed;
    m->beside = seed % 3 == 2;
    for (int i = 0; i < CHIPS; i++)
        m->now[i] = 1000 + below(m, 100000);
    dl_str_add(&m->ops, "{\"e\":\"run\",\"t\":1,\"version\":1,\"run\":\"ab\",\"pid\":1}\n");
    dl_str_add(&m->device, HEADER);
    for (unsigned n = 1 + below(m, 5); n; n--) {
        op_tree(m, 1);
        if (below(m, 2)) two_threads(m);
        if (below(m, 2)) trace(m);
        if (below(m, 4) == 0) rows_of(m, 0, ++m->launches[0], 0, ","); /* of no op */
    }
    dl_str_add(&m->ops, "{\"e\":\"close\",\"t\":9,\"ops\":1,\"lost\":0}\n");
    static op_job job;
    cJSON *rows = op_rows(folder, m->ops.text, m->device.text, &job);
    for (unsigned chip = 0; chip < CHIPS; chip++) {
        double sums[KINDS] = {0}, overlap = 0, gaps = 0, first = 0, last = 0;
        const cJSON *row;
        cJSON_ArrayForEach(row, rows)
        {
            if (!cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(row, columns[0]))) continue;
            if (op_rows_number(row, "DEVICE ID") != chip) continue;
            for (int i = 0; i < KINDS; i++)
                sums[i] += op_rows_number(row, columns[i]);
            overlap += op_rows_number(row, "DEVICE FW OVERLAP [ns]");
            gaps += op_rows_number(row, "OP TO OP LATENCY [ns]") +
                    op_rows_number(row, "DEVICE IDLE BETWEEN LAUNCHES [ns]");
            double from = op_rows_number(row, "DEVICE FW START CYCLE"),
                   to = op_rows_number(row, "DEVICE FW END CYCLE");
            if (!first || from < first) first = from;
            if (to > last) last = to;
        }
        for (int i = 0; i < KINDS; i++) {
            double truth = (double)in_union(m->spans[i][chip], m->n[chip]);
            if (m->beside ? i == 0 && sums[0] - overlap != truth : sums[i] != truth || overlap != 0)
                fail_msg("seed %u, chip %u, %s: rows add up to %.0f, of it %.0f beside another; the device "
                         "was busy "
                         "for %.0f",
                         seed, chip, columns[i], sums[i], i ? 0 : overlap, truth);
        }
        if (!m->beside && sums[0] + gaps != last - first)
            fail_msg("seed %u, chip %u: %.0f busy and %.0f between, of %.0f", seed, chip, sums[0], gaps,
                     last - first);
    }
    if (op_job_lost(&job)) {
        dl_str text = {0};
        op_job_describe(&job, false, &text);
        fail_msg("seed %u: %s", seed, text.text);
    }
    cJSON_Delete(rows);
    op_job_free(&job);
    dl_str_free(&m->ops);
    dl_str_free(&m->device);
}

static void rows_add_up_to_what_the_device_did(void **state)
{
    (void)state;
    static making m;
    const char *wanted = getenv("DEVLOG_TEST_PROGRAMS");
    uint32_t programs = wanted && *wanted ? (uint32_t)strtoul(wanted, NULL, 10) : 60;
    char folder[100];
    snprintf(folder, sizeof folder, "%s", test_folder());
    for (uint32_t seed = 1; seed <= programs; seed++)
        one_run(&m, folder, seed);
}

/* ---- By hand --- */

static void expect(const cJSON *rows, int i, const char *code, double fw, double latency)
{
    const cJSON *row = cJSON_GetArrayItem(rows, i);
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(row, "OP CODE")->valuestring, code);
    if (op_rows_number(row, columns[0]) != fw || op_rows_number(row, "OP TO OP LATENCY [ns]") != latency)
        fail_msg("row %d: %s", i, cJSON_PrintUnformatted(row));
}

static void a_parent_launches_before_and_behind_its_children(void **state)
{
    (void)state;
    static op_job job;
    cJSON *rows = op_rows(test_folder(),
                          RUN START(1, 1, "P") LAUNCH(1, 1, 1) START(2, 2, "C") LAUNCH(2, 2, 1) END(2)
                              START(3, 2, "C") LAUNCH(3, 3, 1) LAUNCH(3, 4, 1) END(3)
                                  LAUNCH(1, 5, 1) "{\"e\":\"end\",\"id\":1,\"t\":99,\"thread\":0}\n" CLOSE,
                          HEADER FW(0, 1, ",", 1000, 1100) FW(0, 2, ",", 1150, 1250) FW(0, 3, ",", 1300, 1400)
                              FW(0, 4, ",", 1420, 1520) FW(0, 5, ",", 1600, 1700),
                          &job);
    assert_int_equal(cJSON_GetArraySize(rows), 4);
    expect(rows, 0, "P", 100, 0);
    expect(rows, 1, "P", 100, 80);
    expect(rows, 2, "C", 100, 50);
    expect(rows, 3, "C", 200, 50);
    assert_true(op_rows_number(cJSON_GetArrayItem(rows, 3), "DEVICE IDLE BETWEEN LAUNCHES [ns]") == 20);
    assert_int_equal(job.counts.fw_ns, 500);
    assert_int_equal(job.counts.host_ns, 89); /* P's: those inside it are not counted again */
    assert_int_equal(job.counts.ops, 3);
    assert_false(op_job_lost(&job));
    cJSON_Delete(rows);
    op_job_free(&job);
}

static void a_replay_is_a_row(void **state)
{
    (void)state;
    static op_job job;
    cJSON *rows = op_rows(
        test_folder(), RUN START(1, 1, "A") LAUNCH(1, 1, 1) END(1) CLOSE,
        HEADER FW(0, 1, "4,1", 1000, 1076) FW(0, 1, "4,2", 1300, 1376) FW(0, 1, "4,3", 1594, 1670), &job);
    assert_int_equal(cJSON_GetArraySize(rows), 3);
    expect(rows, 0, "A", 76, 0);
    expect(rows, 1, "A", 76, 224);
    expect(rows, 2, "A", 76, 218);
    for (int i = 0; i < 3; i++) {
        assert_true(op_rows_number(cJSON_GetArrayItem(rows, i), "METAL TRACE ID") == 4);
        assert_true(op_rows_number(cJSON_GetArrayItem(rows, i), "METAL TRACE REPLAY SESSION ID") == i + 1);
    }
    assert_false(op_job_lost(&job));
    cJSON_Delete(rows);
    op_job_free(&job);
}

static void a_log_appended_to_itself(void **state)
{
    (void)state;
#define ONCE HEADER FW(0, 1, ",", 1000, 1100) FW(1, 1, ",", 1010, 1110) FW(0, 2, ",", 1200, 1300)
#define OPS  RUN START(1, 1, "A") LAUNCH(1, 1, 2) END(1) START(2, 1, "B") LAUNCH(2, 2, 1) END(2) CLOSE
    static const char *const logs[] = {ONCE ONCE, ONCE FW(0, 1, ",", 1000, 1100), ONCE ONCE ONCE};
    for (size_t i = 0; i < 3; i++) {
        for (int without = 0; without < 2; without++) {
            static op_job job;
            cJSON *rows = op_rows(test_folder(), without ? "" : OPS, logs[i], &job);
            assert_int_equal(cJSON_GetArraySize(rows), 2);
            expect(rows, 0, without ? "(launch without op)" : "A", 110, 0);
            expect(rows, 1, without ? "(launch without op)" : "B", 100, 90);
            op_rows_say(&job, i == 0 ? "2  launches that are in the device log twice"
                                     : "launches that are in the device log twice");
            cJSON_Delete(rows);
            op_job_free(&job);
        }
    }
}

/* Two programs of one `devlog run` without an op log: their numbers go on, their clocks do not. */
static void programs_without_an_op_log(void **state)
{
    (void)state;
    static op_job job;
    cJSON *rows = op_rows(test_folder(), "",
                          HEADER FW(0, 1, ",", 1000, 1100) FW(0, 2, ",", 1200, 1300) FW(0, 3, ",", 1000, 1100)
                              FW(0, 4, ",", 1250, 1350),
                          &job);
    /* An empty op log is none, and says nothing of launches. */
    assert_int_equal(cJSON_GetArraySize(rows), 4);
    cJSON_Delete(rows);
    op_job_free(&job);
    rows = op_rows(test_folder(), NULL,
                   HEADER FW(0, 1, ",", 1000, 1100) FW(0, 2, ",", 1200, 1300) FW(0, 3, ",", 1000, 1100)
                       FW(0, 4, ",", 1250, 1350),
                   &job);
    assert_int_equal(cJSON_GetArraySize(rows), 4);
    static const double gaps[] = {0, 100, 0, 150};
    for (int i = 0; i < 4; i++)
        expect(rows, i, "(launch without op)", 100, gaps[i]);
    assert_int_equal(job.counts.overlap_ns, 0);
    cJSON_Delete(rows);
    op_job_free(&job);
}

static void a_core_that_is_missing(void **state)
{
    (void)state;
    static op_job job;
    cJSON *rows =
        op_rows(test_folder(), RUN START(1, 1, "A") LAUNCH(1, 1, 2) LAUNCH(1, 2, 2) END(1) CLOSE,
                HEADER FW(0, 1, ",", 1000, 1100) FW(1, 1, ",", 1010, 1110) FW(0, 2, ",", 1200, 1300), &job);
    assert_int_equal(cJSON_GetArraySize(rows), 1);
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(rows, 0), "NOTE")->valuestring,
                        "device data of some cores only");
    op_rows_say(&job, "1  launches with other cores in the device log than were launched");
    cJSON_Delete(rows);
    op_job_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_add_up_to_what_the_device_did),
        cmocka_unit_test(a_parent_launches_before_and_behind_its_children),
        cmocka_unit_test(a_replay_is_a_row),
        cmocka_unit_test(a_log_appended_to_itself),
        cmocka_unit_test(programs_without_an_op_log),
        cmocka_unit_test(a_core_that_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
