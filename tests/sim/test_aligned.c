/* Captures of chips whose cores' counters differ: stamps are aligned, and what may be concluded from them
 * about order is true on the simulator. Also what cannot be aligned, and that it is said. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "decode/decode.h"
#include "report/decode_table.h"
#include "report/machine.h"
#include "report/view.h"
#include "support/device.h"
#include "support/events.h"
#include "support/files.h"

typedef struct moment {
    int64_t truth;   /* cycles of the reference core's counter, from the simulator's own offsets */
    int64_t aligned; /* what the decoder says */
    double error;    /* bound for this core */
} moment;

typedef struct moments {
    dl_decode *decode;
    const devlog_device *twin; /* a device with the same counters */
    moment *items;
    size_t n, cap;
} moments;

static int64_t ahead_of(const devlog_device *d, uint32_t x, uint32_t y)
{
    const sim_config *c = d->sim;
    return (int64_t)(c->tiles[y * d->board.n_columns + x].clock_offset - c->tiles[0].clock_offset);
}

static devlog_status on_events(void *ctx, const dl_event *events, size_t n, devlog_error *err)
{
    moments *m = ctx;
    (void)err;
    const dl_tables *t = dl_decode_tables(m->decode);
    for (size_t i = 0; i < n; i++) {
        const dl_stream *s = &t->streams[events[i].stream];
        const dl_chip_clock *clock = dl_chip_clocks_of(dl_decode_clocks(m->decode), 0);
        assert_non_null(clock);
        const dl_core_clock *core = dl_chip_clock_core(clock, s->core_x, s->core_y);
        if (m->n == m->cap) {
            m->cap = m->cap ? 2 * m->cap : 1024;
            m->items = realloc(m->items, m->cap * sizeof *m->items);
            assert_non_null(m->items);
        }
        int64_t aligned = (int64_t)events[i].start, raw = aligned + core->ahead;
        m->items[m->n++] = (moment){raw - ahead_of(m->twin, s->core_x, s->core_y), aligned, core->error};
    }
    return DEVLOG_OK;
}

static int by_truth(const void *a, const void *b)
{
    const moment *x = a, *y = b;
    return x->truth < y->truth ? -1 : x->truth > y->truth;
}

static char *path_in(const char *folder)
{
    char *path;
    assert_true(asprintf(&path, "%s/capture.devlog", folder) > 0);
    return path;
}

static dl_decode *decoded(char *const *paths, size_t n, test_take_events *take, moments *m)
{
    devlog_error err = {0};
    dl_decode *d;
    check_ok(dl_decode_new(&d, NULL, &err), &err);
    if (m) m->decode = d;
    if (take) test_events_to(d, m, take);
    check_ok(dl_decode_prepare(d, paths, n, &err), &err);
    for (size_t i = 0; i < n; i++)
        check_ok(dl_decode_file(d, paths[i], &err), &err);
    check_ok(dl_decode_finish(d, &err), &err);
    return d;
}

/* The demo, on cores whose counters differ by anything up to 2^44. */
static void order_of_the_demo(void **state)
{
    (void)state;
    const char *folder = test_folder(), *devlog = getenv("DEVLOG_BIN");
    if (!devlog) skip();
    char *command;
    assert_true(
        asprintf(&command,
                 "TT_METAL_DEVICE_PROFILER=1 DEVLOG_SIM=offsets=11 DEVLOG_LOG_FOLDER='%s' '%.*s/demo' "
                 "> '%s/out.txt' 2>&1",
                 folder, (int)(strrchr(devlog, '/') - devlog), devlog, folder) > 0);
    assert_int_equal(system(command), 0);
    free(command);
    char *path = path_in(folder); /* the next device has another folder in the same place */
    moments m = {.twin = open_device("wormhole_b0", "offsets=11")};
    dl_decode *d = decoded(&path, 1, on_events, &m);
    assert_true(m.n > 10000);
    assert_false(dl_losses_any(dl_decode_losses(d)));
    const dl_chip_clock *clock = dl_chip_clocks_of(dl_decode_clocks(d), 0);
    assert_int_equal(clock->n_cores, 16);
    bool differ = false;
    for (size_t i = 0; i < m.n; i++) {
        assert_true(llabs(m.items[i].aligned - m.items[i].truth) <= (int64_t)ceil(m.items[i].error));
        differ |= m.items[i].aligned != m.items[i].truth;
    }
    assert_true(differ); /* the aligned stamps are measured, not known */
    qsort(m.items, m.n, sizeof *m.items, by_truth);
    uint64_t claims = 0, pairs = 0;
    for (size_t i = 0; i < m.n; i++) {
        for (size_t j = i + 1; j < m.n && j < i + 200; j++) {
            const moment *a = &m.items[i], *b = &m.items[j];
            pairs++;
            if (fabs((double)(b->aligned - a->aligned)) <= a->error + b->error) continue;
            claims++;
            assert_true((b->aligned > a->aligned) == (b->truth > a->truth));
        }
    }
    printf("%zu events of 16 cores, %llu of %llu pairs of near events are ordered by the residual, all "
           "rightly\n",
           m.n, (unsigned long long)claims, (unsigned long long)pairs);
    assert_true(claims > pairs / 10);
    dl_decode_free(d);
    devlog_error err = {0};
    check_ok(devlog_device_close((devlog_device *)m.twin, &err), &err);
    free(m.items);
    free(path);
}

/* Launches on two cores of a board; returns the folder. */
static char *run(const char *board_file, const char *simulation)
{
    devlog_error err = {0};
    devlog_device *d;
    devlog_program *p;
    const char *folder = test_folder();
    const devlog_device_options options = DEVLOG_DEVICE_OPTIONS(.board = board_file, .sim = simulation,
                                                                .log_folder = folder, .profile = DEVLOG_ON);
    check_ok(devlog_device_open(&options, &d, &err), &err);
    check_ok(devlog_program_create(d, &p, &err), &err);
    devlog_kernel *k =
        add_kernel(p, "tests/sim/kernels/events.c", "NCRISC", (devlog_cores){0, 0, 1, 0}, NULL);
    const uint32_t rounds = 3;
    for (uint32_t x = 0; x < 2; x++)
        check_ok(devlog_kernel_set_args(k, (devlog_core){x, 0}, &rounds, 1, &err), &err);
    prepare(d, p);
    for (int i = 0; i < 3; i++)
        check_ok(devlog_launch_program(d, p, &err), &err);
    devlog_program_free(p);
    check_ok(devlog_device_close(d, &err), &err);
    return path_in(folder);
}

static const char *finding(dl_decode *d)
{
    const char *text = dl_decode_losses(d)->details[DL_SKIPS + DL_FOUND_CLOCK][0];
    return text ? text : "";
}

static void a_claim_of_the_board_is_checked(void **state)
{
    (void)state;
    devlog_error err = {0};
    dl_str json = {0};
    check_ok(dl_file_read(source_path("boards/wormhole_b0.json"), 1 << 20, &json, &err), &err);
    char *claim = strstr(json.text, "\"start_together\": false");
    assert_non_null(claim);
    memcpy(claim, "\"start_together\":  true", strlen("\"start_together\": false"));
    char *claims;
    assert_true(asprintf(&claims, "%s/claims.json", test_folder()) > 0);
    write_text(claims, json.text);
    dl_str_free(&json);

    char *path = run(claims, ""); /* counters do start together */
    dl_decode *d = decoded(&path, 1, NULL, NULL);
    assert_string_equal(finding(d), "");
    assert_int_equal(dl_chip_clock_core(dl_chip_clocks_of(dl_decode_clocks(d), 0), 1, 0)->ahead, 0);
    dl_decode_free(d);
    free(path);

    path = run(claims, "offsets=3");
    d = decoded(&path, 1, NULL, NULL);
    assert_non_null(strstr(finding(d), "start together; that of core 1,0 does not"));
    assert_true(dl_chip_clock_core(dl_chip_clocks_of(dl_decode_clocks(d), 0), 1, 0)->ahead != 0);
    dl_decode_free(d);
    free(path);
    free(claims);
}

static void two_boots_are_not_aligned(void **state)
{
    (void)state;
    char *paths[2] = {run(NULL, ""), run(NULL, "")};
    dl_decode *d = decoded(paths, 1, NULL, NULL);
    assert_true(dl_decode_losses(d)->clocks[0].host_ns > 0);
    assert_string_equal(finding(d), "");
    dl_decode_free(d);
    d = decoded(paths, 2, NULL, NULL);
    assert_non_null(strstr(finding(d), "different boots"));
    assert_true(dl_decode_losses(d)->clocks[0].host_ns == 0);
    double ns, error;
    assert_false(dl_chip_clocks_ns(dl_decode_clocks(d), 0, 1000, &ns, &error));
    assert_int_equal(dl_decode_launches(d)->count, 6); /* the rest is decoded */
    dl_decode_free(d);
    free(paths[0]);
    free(paths[1]);
}

/* What a program reads of it, written beside the capture. */
static char *as_json(dl_decode *d, const char *beside)
{
    devlog_error err = {0};
    dl_file_writer out = {0};
    dl_str text = {0};
    char *path;
    assert_true(asprintf(&path, "%s.json", beside) > 0);
    check_ok(dl_file_create(&out, path, &err), &err);
    check_ok(dl_report_json(d, &(dl_machine_options){0}, &out, &err), &err);
    check_ok(dl_file_commit(&out, &err), &err);
    check_ok(dl_file_read(path, 1 << 20, &text, &err), &err);
    free(path);
    return text.text;
}

static void without_samples(void **state)
{
    (void)state;
    setenv("DEVLOG_CLOCK_SYNC", "0", 1);
    char *path = run(NULL, "");
    unsetenv("DEVLOG_CLOCK_SYNC");
    dl_decode *d = decoded(&path, 1, NULL, NULL);
    assert_non_null(strstr(finding(d), "there are no samples of its clock"));
    assert_int_equal(dl_decode_launches(d)->count, 3);
    dl_str text = {0};
    dl_report_losses(dl_decode_losses(d), false, &text);
    assert_non_null(strstr(text.text, "how far stamps of two cores are apart was not measured"));
    dl_str_free(&text);
    char *json = as_json(d, path);
    assert_non_null(strstr(json, "{\"chip\": 0, \"core_error_cycles\": null, \"host_error_ns\": null}"));
    free(json);
    dl_decode_free(d);
    free(path);
}

/* A chip that slows down: said, with both frequencies, and the bound holds the change. */
static void slows_down(void **state)
{
    (void)state;
    char *path = run(NULL, "change=40000,to=500,latency=100");
    dl_decode *d = decoded(&path, 1, NULL, NULL);
    const dl_chip_clock *clock = dl_chip_clocks_of(dl_decode_clocks(d), 0);
    assert_true(clock->fitted);
    printf("frequency: %u changes; %s\n", clock->fit.n_changes, finding(d));
    assert_int_equal(clock->fit.n_changes, 1);
    assert_non_null(strstr(finding(d), "changed its frequency"));
    dl_decode_free(d);
    free(path);
}

typedef struct timeline {
    dl_view *view;
    dl_view_item call[8], launch[8], pull[8];
    uint32_t n;
} timeline;

static devlog_status on_items(void *ctx, const dl_view_item *items, size_t n, devlog_error *err)
{
    timeline *t = ctx;
    uint32_t n_tracks;
    const dl_view_track *tracks = dl_view_tracks(t->view, &n_tracks);
    (void)err;
    for (size_t i = 0; i < n; i++) {
        const dl_view_item *item = &items[i];
        if (tracks[item->track].core != DL_NONE) continue;
        assert_true(item->launch < 8);
        dl_view_item *to = item->kind == DL_VIEW_LAUNCH                            ? t->launch
                           : dl_view_call_of(t->view, item) == DL_VIEW_LAUNCH_CALL ? t->call
                                                                                   : t->pull;
        to[item->launch] = *item;
        t->n++;
    }
    return DEVLOG_OK;
}

/* The call that launches, the launch on the device, and the pull, on one time axis. */
static void host_and_device_on_one_axis(void **state)
{
    (void)state;
    devlog_error err = {0};
    char *path = run(NULL, "offsets=5,latency=400,jitter=100,ppm=80");
    dl_decode *d;
    timeline t = {0};
    check_ok(dl_decode_new(&d, NULL, &err), &err);
    check_ok(dl_view_new(&t.view, d, NULL, &err), &err);
    check_ok(dl_decode_run_sink(d, dl_view_runs(t.view), &err), &err);
    check_ok(dl_decode_file(d, path, &err), &err);
    check_ok(dl_decode_finish(d, &err), &err);
    check_ok(dl_view_ready(t.view, &err), &err);
    check_ok(dl_view_run(t.view, DL_VIEW_BY_TIME, (dl_view_sink){.ctx = &t, .items = on_items}, &err), &err);
    assert_int_equal(t.n, 9);
    uint32_t n;
    const dl_view_chip *chip = dl_view_chips(t.view, &n);
    assert_true(chip->aligned && chip->host_track != DL_NONE);
    for (uint32_t i = 0; i < 3; i++) {
        const dl_launch *l = &dl_decode_launches(d)->items[i];
        assert_true(llabs((int64_t)(t.call[i].start - l->call_start)) <= 2);
        assert_true(llabs((int64_t)(t.pull[i].end - l->pull_end)) <= 2);
        assert_true(t.call[i].start <= t.launch[i].start + chip->residual_ns);
        assert_true(t.launch[i].end <= t.call[i].end + chip->residual_ns);
        assert_true(t.call[i].end <= t.pull[i].start);
        assert_string_equal(dl_view_site_name(t.view, t.call[i].site), "LaunchProgram");
        assert_string_equal(dl_view_site_name(t.view, t.pull[i].site), "DumpDeviceProfileResults");
        if (i) assert_true(t.pull[i - 1].end <= t.call[i].start);
    }
    dl_view_free(t.view);
    dl_decode_free(d);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_the_demo),
        cmocka_unit_test(a_claim_of_the_board_is_checked),
        cmocka_unit_test(two_boots_are_not_aligned),
        cmocka_unit_test(without_samples),
        cmocka_unit_test(slows_down),
        cmocka_unit_test(host_and_device_on_one_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
