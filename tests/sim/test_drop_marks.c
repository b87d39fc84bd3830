/* Where a log says that markers were dropped: in time where the dropping began, the same in the capture and
 * in the device log. With records that stay, behind the last of them; with a ring, where the kernel began. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/capture/capture.h"
#include "decode/decode.h"
#include "decode/log/log_write.h"
#include "support/device.h"
#include "support/events.h"

typedef struct seen {
    dl_decode *decode;
    uint64_t kernel_start, kernel_end, first, last; /* of iterations */
    uint64_t dropped[4], markers[4];                /* when, and how many */
    size_t n, iterations;
} seen;

static devlog_status on_events(void *ctx, const dl_event *events, size_t n, devlog_error *err)
{
    seen *s = ctx;
    (void)err;
    const dl_tables *t = dl_decode_tables(s->decode);
    for (size_t i = 0; i < n; i++) {
        const dl_event *e = &events[i];
        if (e->kind == DL_EVENT_DROPPED) {
            assert_true(s->n < 4);
            s->dropped[s->n] = e->start;
            s->markers[s->n++] = e->data;
        } else if (t->sites[e->site].role == DL_ROLE_KERNEL) {
            s->kernel_start = e->start;
            s->kernel_end = e->end;
        } else if (strcmp(dl_site_text(t, e->site), "iteration") == 0) {
            if (!s->iterations++ || e->start < s->first) s->first = e->start;
            if (e->end > s->last) s->last = e->end;
        }
    }
    return DEVLOG_OK;
}

static seen look(const char *folder, const char *name)
{
    seen s = {0};
    devlog_error err = {0};
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    check_ok(dl_decode_new(&s.decode, &(dl_decode_options){0}, &err), &err);
    test_events_to(s.decode, &s, on_events);
    check_ok(dl_decode_file(s.decode, path, &err), &err);
    check_ok(dl_decode_finish(s.decode, &err), &err);
    assert_int_equal(dl_decode_losses(s.decode)->found[DL_FOUND_DROPPED], s.n ? s.markers[0] : 0);
    dl_decode_free(s.decode);
    return s;
}

/* One launch of 3,000 zones, 6,000 markers, in this mode; what both logs say of it. */
static void record(devlog_recording mode, const char *style, seen out[2])
{
    devlog_error err = {0};
    devlog_device *device;
    devlog_program *program;
    const char *folder = test_folder();
    const devlog_cores core = {0, 0, 0, 0};
    const uint32_t args[] = {3000, 5000};
    setenv("DEVLOG_LOG_STYLE", style, 1);
    const devlog_device_options options = DEVLOG_DEVICE_OPTIONS(.log_folder = folder, .profile = DEVLOG_ON);
    check_ok(devlog_device_open(&options, &device, &err), &err);
    check_ok(devlog_set_recording(device, mode, 0, &err), &err);
    check_ok(devlog_program_create(device, &program, &err), &err);
    devlog_kernel *kernel = add_kernel(program, "tests/sim/kernels/iterations.c", "BRISC", core, NULL);
    check_ok(devlog_kernel_set_args(kernel, (devlog_core){0, 0}, args, 2, &err), &err);
    prepare(device, program);
    check_ok(devlog_launch_program(device, program, &err), &err);
    devlog_program_free(program);
    check_ok(devlog_device_close(device, &err), &err);
    out[0] = look(folder, DL_CAPTURE_NAME);
    out[1] = look(folder, DL_DEVICE_LOG_NAME);
    unsetenv("DEVLOG_LOG_STYLE");
}

static void behind_the_last_record(void **state)
{
    (void)state;
    seen s[2];
    record(DEVLOG_RECORD_STOP, "L9", s);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(s[i].n, 1);
        assert_true(s[i].iterations > 100 && s[i].iterations < 3000);
        /* At most one zone more was begun. */
        assert_true(s[i].dropped[0] >= s[i].last && s[i].dropped[0] < s[i].last + 1000);
        assert_true(s[i].dropped[0] + 5000 < s[i].kernel_end);
        assert_true(s[i].markers[0] + 2 * s[i].iterations >= 5998);
        assert_int_equal(s[i].dropped[0] - s[i].kernel_start, s[0].dropped[0] - s[0].kernel_start);
        assert_int_equal(s[i].markers[0], s[0].markers[0]);
    }
}

static void from_the_begin_of_a_ring(void **state)
{
    (void)state;
    seen s[2];
    record(DEVLOG_RECORD_RING, "L9", s);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(s[i].n, 1);
        assert_int_equal(s[i].dropped[0], s[i].kernel_start);
        assert_true(s[i].first > s[i].dropped[0] + 5000);
        assert_int_equal(s[i].markers[0], s[0].markers[0]);
    }
}

/* The old styles have the same rows by number. */
static void in_the_style_of_six_columns(void **state)
{
    (void)state;
    seen s[2];
    record(DEVLOG_RECORD_RING, "L2", s);
    assert_int_equal(s[1].n, 1);
    assert_int_equal(s[1].dropped[0], s[1].kernel_start);
    assert_int_equal(s[1].markers[0], s[0].markers[0]);
}

static void nothing_where_nothing_was_dropped(void **state)
{
    (void)state;
    seen s[2];
    record(DEVLOG_RECORD_STREAM, "L9", s);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(s[i].n, 0);
        assert_int_equal(s[i].iterations, 3000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(behind_the_last_record),
        cmocka_unit_test(from_the_begin_of_a_ring),
        cmocka_unit_test(in_the_style_of_six_columns),
        cmocka_unit_test(nothing_where_nothing_was_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
