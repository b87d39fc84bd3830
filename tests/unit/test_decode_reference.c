/* The reference document's own sample, decoded, against figures worked out by hand. */
#include "support/cmocka_all.h"

#include <string.h>

#include "decode/analysis/groups.h"
#include "support/events.h"

/* From the document's section on profiling a device: core 0,0, no header lines. */
static const char sample[] = "0, 0, 0, NCRISC, 1, 1882735035004\n"
                             "0, 0, 0, NCRISC, 2, 1882735036049\n"
                             "0, 0, 0, NCRISC, 3, 1882735036091\n"
                             "0, 0, 0, NCRISC, 4, 1882735036133\n"
                             "0, 0, 0, BRISC, 1, 1882735032214\n"
                             "0, 0, 0, BRISC, 2, 1882735035364\n"
                             "0, 0, 0, BRISC, 3, 1882735035433\n"
                             "0, 0, 0, BRISC, 4, 1882735035518\n";

typedef struct collected {
    dl_event events[16];
    size_t n;
} collected;

static devlog_status collect(void *ctx, const dl_event *events, size_t n, devlog_error *err)
{
    (void)err;
    collected *c = ctx;
    for (size_t i = 0; i < n && c->n < 16; i++)
        c->events[c->n++] = events[i];
    return DEVLOG_OK;
}

static void durations_are_as_worked_out_by_hand(void **state)
{
    (void)state;
    static const struct {
        const char *risc, *zone;
        uint64_t cycles;
    } expected[] = {
        {"BRISC", "BRISC-FW", 1882735035518 - 1882735032214},      /* 3304 */
        {"BRISC", "BRISC-KERNEL", 1882735035433 - 1882735035364},  /* 69 */
        {"NCRISC", "NCRISC-FW", 1882735036133 - 1882735035004},    /* 1129 */
        {"NCRISC", "NCRISC-KERNEL", 1882735036091 - 1882735036049} /* 42 */
    };
    devlog_error err;
    dl_decode *d;
    dl_groups g;
    assert_int_equal(dl_decode_new(&d, NULL, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_memory(d, "sample", sample, strlen(sample), &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    assert_int_equal(dl_groups_by_risc(d, &g, &err), DEVLOG_OK);
    assert_int_equal(g.n, 4);
    for (size_t i = 0; i < g.n; i++) {
        const dl_tables *t = dl_decode_tables(d);
        assert_string_equal(dl_text(t, g.items[i].risc_name), expected[i].risc);
        assert_string_equal(dl_text(t, g.items[i].site_name), expected[i].zone);
        assert_int_equal(g.items[i].summary.count, 1);
        assert_int_equal(g.items[i].summary.min, expected[i].cycles);
        assert_int_equal(g.items[i].summary.max, expected[i].cycles);
        assert_int_equal(g.items[i].summary.median_low, expected[i].cycles);
        assert_int_equal(t->chips[g.items[i].chip].freq_khz, 0);
    }
    assert_false(dl_losses_any(dl_decode_losses(d)));
    assert_int_equal(dl_decode_losses(d)->rows, 8);
    dl_groups_free(&g);
    dl_decode_free(d);
}

static void events_close_from_the_inside_out(void **state)
{
    (void)state;
    devlog_error err;
    dl_decode *d;
    collected c = {.n = 0};
    assert_int_equal(dl_decode_new(&d, NULL, &err), DEVLOG_OK);
    test_events_to(d, &c, collect);
    assert_int_equal(dl_decode_memory(d, "sample", sample, strlen(sample), &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    const dl_tables *t = dl_decode_tables(d);
    assert_int_equal(c.n, 4);
    assert_string_equal(dl_site_text(t, c.events[0].site), "NCRISC-KERNEL");
    assert_int_equal(c.events[0].depth, 1);
    assert_int_equal(c.events[0].start, 1882735036049);
    assert_int_equal(c.events[0].end, 1882735036091);
    assert_int_equal(c.events[0].line, 3);
    assert_string_equal(dl_site_text(t, c.events[1].site), "NCRISC-FW");
    assert_int_equal(c.events[1].depth, 0);
    assert_string_equal(dl_risc_text(t, c.events[3].stream), "BRISC");
    /* NCRISC and BRISC ran in the same, first launch, though the log has no ids. */
    assert_int_equal(dl_decode_launches(d)->count, 1);
    assert_int_equal(c.events[0].launch, c.events[3].launch);
    assert_int_equal(dl_decode_launches(d)->items[0].first_fw_start, 1882735032214);
    assert_int_equal(dl_decode_launches(d)->items[0].last_fw_end, 1882735036133);
    dl_decode_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_as_worked_out_by_hand),
        cmocka_unit_test(events_close_from_the_inside_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
