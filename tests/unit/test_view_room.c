/* A view that need not keep everything: it keeps the first launches, whole, as many as it may; and fewer
 * where there is no room for temporary files. What it leaves out is counted. One that must keep everything
 * says what it lacks. */
#include "support/cmocka_all.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "report/view.h"

enum { LAUNCHES = 60, ZONES = 400, EVENTS = LAUNCHES * (ZONES + 2) };

/* As tt-metal writes: RISC by RISC, each with all launches. */
static void make_log(dl_str *log)
{
    static const char *const riscs[] = {"BRISC", "NCRISC"};
    dl_str_add(log,
               "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
               "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
               "run host ID, zone name, type, source line, source file\n");
    for (unsigned r = 0; r < 2; r++) {
        for (unsigned launch = 0; launch < LAUNCHES; launch++) {
            uint64_t at = 1000000 + launch * 100000;
#define ROW(time, zone, type)                                                                                \
    dl_str_fmt(log, "0,1,1,%s,7,%llu,0,%u,%s,%s,1,k.cc\n", riscs[r], (unsigned long long)(time),             \
               1024 + launch, zone, type)
            char fw[16];
            snprintf(fw, sizeof fw, "%s-FW", riscs[r]);
            ROW(at, fw, "ZONE_START");
            for (unsigned i = 0; i < ZONES / 2; i++) {
                ROW(at + 100 + i * 20, "work", "ZONE_START");
                ROW(at + 110 + i * 20, "work", "ZONE_END");
            }
            ROW(at + 90000, fw, "ZONE_END");
#undef ROW
        }
    }
}

typedef struct seen {
    uint32_t launches[LAUNCHES];
    uint64_t n;
} seen;

static devlog_status look(void *ctx, const dl_view_item *items, size_t n, devlog_error *err)
{
    seen *s = ctx;
    (void)err;
    for (size_t i = 0; i < n; i++) {
        if (items[i].kind == DL_VIEW_LAUNCH) continue;
        s->launches[items[i].launch]++;
        s->n++;
    }
    return DEVLOG_OK;
}

/* Decodes and looks at what is kept. */
static devlog_status run(const dl_view_options *options, seen *s, uint32_t *end, uint64_t *unwanted,
                         bool *cramped)
{
    devlog_error err;
    dl_decode *d;
    dl_view *v;
    dl_str log = {0};
    const dl_decode_options decoding = {.no_samples = true};
    *s = (seen){0};
    make_log(&log);
    assert_int_equal(dl_decode_new(&d, &decoding, &err), DEVLOG_OK);
    assert_int_equal(dl_view_new(&v, d, options, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_run_sink(d, dl_view_runs(v), &err), DEVLOG_OK);
    devlog_status status = dl_decode_memory(d, "log.csv", log.text, log.len, &err);
    if (!status) status = dl_decode_finish(d, &err);
    if (!status) status = dl_view_ready(v, &err);
    if (!status) status = dl_view_run(v, DL_VIEW_BY_TRACK, (dl_view_sink){.ctx = s, .items = look}, &err);
    *end = dl_view_end(v);
    *unwanted = dl_view_unwanted(v);
    *cramped = dl_view_is_cramped(v);
    dl_view_free(v);
    dl_decode_free(d);
    dl_str_free(&log);
    return status;
}

/* Launches up to `end` are whole, and the others not there. */
static void check(const seen *s, uint32_t end, uint64_t unwanted)
{
    for (uint32_t i = 0; i < LAUNCHES; i++)
        assert_int_equal(s->launches[i], i < end ? ZONES + 2 : 0);
    assert_int_equal(s->n + unwanted, EVENTS);
}

static void the_first_launches_are_kept(void **state)
{
    (void)state;
    seen s;
    uint32_t end;
    uint64_t unwanted;
    bool cramped;
    for (uint64_t most = 500; most < EVENTS + 5000; most += 2345) {
        const dl_view_options options = {.memory = 1, .most = most};
        assert_int_equal(run(&options, &s, &end, &unwanted, &cramped), DEVLOG_OK);
        assert_false(cramped);
        uint64_t whole = most / (ZONES + 2);
        if (whole >= LAUNCHES)
            assert_int_equal(end, DL_NONE);
        else
            assert_int_equal(end, whole);
        check(&s, end, unwanted);
    }
}

static void fewer_are_kept_without_room(void **state)
{
    (void)state;
    seen s;
    uint32_t end;
    uint64_t unwanted;
    bool cramped;
    const dl_view_options some = {.memory = 1, .most = 20000}, all = {.memory = 1};
    struct rlimit was, small = {256 * 1024, 256 * 1024};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    small.rlim_max = was.rlim_max;
    for (int nowhere = 0; nowhere < 2; nowhere++) {
        if (nowhere)
            setenv("TMPDIR", "/no/such/folder", 1);
        else
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        assert_int_equal(run(&some, &s, &end, &unwanted, &cramped), DEVLOG_OK);
        assert_true(cramped);
        assert_true(end > 1 && end < 20000 / (ZONES + 2));
        check(&s, end, unwanted);
        assert_int_not_equal(run(&all, &s, &end, &unwanted, &cramped), DEVLOG_OK);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    }
    unsetenv("TMPDIR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_launches_are_kept),
        cmocka_unit_test(fewer_are_kept_without_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
