/* The ids of ops and runs on their way through a device log: written, read back, and given to launches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/decode.h"
#include "decode/log/log_write.h"
#include "support/cmocka_all.h"
#include "support/device.h"
#include "support/files.h"

/* One launch of one RISC: firmware start and end. */
static void write_launch(dl_device_log *log, dl_tables *t, uint16_t core_x, uint64_t launch, uint32_t op,
                         uint64_t start)
{
    devlog_error err = {0};
    uint32_t stream = dl_tables_stream(t, 0, core_x, 0, "BRISC", 5);
    uint32_t site = dl_tables_site(t, "BRISC-FW", 8, "run.h", 5, 0);
    dl_row rows[2] = {{.time = start, .type = DL_ROW_ZONE_START, .op = op, .timer_id = 1},
                      {.time = start + 100, .type = DL_ROW_ZONE_END, .timer_id = 4}};
    for (int i = 0; i < 2; i++) {
        rows[i].run_host_id = launch;
        rows[i].stream = stream;
        rows[i].site = site;
        rows[i].trace_id = rows[i].trace_counter = DL_NO_ID;
        rows[i].has_launch = 1;
    }
    check_ok(dl_device_log_rows(log, t, rows, 2, &err), &err);
    check_ok(dl_device_log_commit(log, &err), &err);
}

static dl_decode *decoded(const char *path, dl_parse_path how)
{
    devlog_error err = {0};
    dl_decode *d;
    const dl_decode_options options = {.path = how};
    check_ok(dl_decode_new(&d, &options, &err), &err);
    check_ok(dl_decode_file(d, path, &err), &err);
    check_ok(dl_decode_finish(d, &err), &err);
    assert_false(dl_losses_any(dl_decode_losses(d)));
    return d;
}

/* Two runs into one file, whose launches have the same numbers, on different cores in the second. */
static void write_two_runs(const char *folder)
{
    devlog_error err = {0};
    for (uint64_t run = 1; run <= 2; run++) {
        dl_tables t;
        dl_device_log *log;
        const dl_device_log_options options = {.style = DL_LOG_L9,
                                               .append = run == 2,
                                               .arch = "wormhole_b0",
                                               .freq_khz = 1000000,
                                               .run = run << 60 | 7};
        check_ok(dl_tables_init(&t, &err), &err);
        check_ok(dl_device_log_open(&log, folder, &options, &err), &err);
        for (uint32_t launch = 1; launch <= 3; launch++)
            write_launch(log, &t, (uint16_t)run, launch, launch == 3 ? 0 : (uint32_t)(run * 1000 + launch),
                         run * 100000 + launch * 1000);
        dl_device_log_close(log, NULL);
        dl_tables_free(&t);
    }
}

static void ids_come_back(void **state)
{
    (void)state;
    char path[300];
    const char *folder = test_folder();
    write_two_runs(folder);
    snprintf(path, sizeof path, "%s/" DL_DEVICE_LOG_NAME, folder);
    for (int how = DL_PARSE_BEST; how <= DL_PARSE_CSV; how++) {
        dl_decode *d = decoded(path, (dl_parse_path)how);
        const dl_launches *l = dl_decode_launches(d);
        assert_int_equal(l->count, 6); /* the second run's are launches of their own */
        for (uint32_t i = 0; i < 6; i++) {
            uint32_t run = 1 + i / 3, launch = 1 + i % 3;
            assert_int_equal(l->items[i].run_host_id, launch);
            assert_int_equal(l->items[i].op, launch == 3 ? 0 : run * 1000 + launch);
            assert_true(l->items[i].run == ((uint64_t)run << 60 | 7));
        }
        dl_decode_free(d);
    }
}

static void only_whole_numbers_are_ids(void **state)
{
    (void)state;
    static const char *const metas[] = {"{\"op\":}",           "{\"op\":12",         "{\"op\":-1}",
                                        "{\"op\":4294967296}", "{\"op\":1;\"x\":2}", "op 12",
                                        "{\"OP\":12}"};
    for (size_t i = 0; i < sizeof metas / sizeof metas[0]; i++) {
        devlog_error err = {0};
        dl_decode *d;
        dl_str text = {0};
        dl_str_fmt(&text,
                   "ARCH: x, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 1\n"
                   "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], "
                   "data, run host ID, "
                   "trace id, trace id counter, zone name, type, source line, source file, meta data\n"
                   "0,0,0,BRISC,1,100,0,1,,,BRISC-FW,ZONE_START,0,,%s\n0,0,0,BRISC,4,200,0,1,,,BRISC-FW,ZONE_"
                   "END,0,,\n",
                   metas[i]);
        check_ok(dl_decode_new(&d, NULL, &err), &err);
        check_ok(dl_decode_memory(d, "memory", text.text, text.len, &err), &err);
        check_ok(dl_decode_finish(d, &err), &err);
        assert_int_equal(dl_decode_launches(d)->items[0].op, 0);
        assert_int_equal(dl_decode_launches(d)->items[0].run, 0);
        dl_decode_free(d);
        dl_str_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_come_back),
        cmocka_unit_test(only_whole_numbers_are_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
