/* Markers end to end on the simulator: classes, text, sums, the event stream, a million records, long waits,
 * wraps of the clock, and kernels that use markers wrongly. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/series.h"
#include "profiler/control.h"
#include "profiler/profiler.h"
#include "support/files.h"
#include "support/fixture.h"

/* ---- Classes, text, sums ---- */

static void classes_are_switched_without_a_build(void **state)
{
    (void)state;
    static const struct {
        uint32_t mask;
        size_t zones, events, values, prints, complete;
    } cases[] = {
        {0xFFFFFFFF, 6, 3, 3, 3, 3}, {0, 0, 0, 0, 0, 0}, {1, 3, 0, 0, 0, 0},
        {2, 3, 3, 0, 0, 0},          {4, 0, 0, 3, 3, 0}, {0x80000000, 0, 0, 0, 0, 3},
        {0xFFFFFFFF, 6, 3, 3, 3, 3},
    };
    devlog_error err = {0};
    fixture f = start("tests/sim/kernels/classes.c", "TRISC1", NULL, NULL);
    set_args(&f, 3, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_ok(devlog_set_classes(f.device, cases[i].mask, &err), &err);
        launch(f.device, f.program);
        test_rows rows;
        read_rows(f.device, f.program, zero, 3, &rows);
        assert_int_equal(count_rows(&rows, DL_ROW_ZONE_START, "class 0") +
                             count_rows(&rows, DL_ROW_ZONE_START, "class 1"),
                         cases[i].zones);
        assert_int_equal(count_rows(&rows, DL_ROW_TS_EVENT, "event 1"), cases[i].events);
        assert_int_equal(count_rows(&rows, DL_ROW_TS_DATA, "value 2"), cases[i].values);
        assert_int_equal(count_rows(&rows, DL_ROW_TS_EVENT, "print"), cases[i].prints);
        assert_int_equal(count_rows(&rows, DL_ROW_ZONE_START, "class 31"), cases[i].complete);
        assert_int_equal(rows.losses.damaged_words, 0);
        free_rows(&rows);
    }
    stop(&f);
}

static void text_is_printed_on_the_host(void **state)
{
    (void)state;
    fixture f = start("tests/sim/kernels/classes.c", "BRISC", NULL, NULL);
    set_args(&f, 3, 0);
    launch(f.device, f.program);
    test_rows rows;
    read_rows(f.device, f.program, zero, 0, &rows);
    /* A device log has no room for a comma inside a cell. */
    assert_string_equal(dl_text(&rows.tables, row_at(&rows, DL_ROW_TS_EVENT, "print", 0)->meta),
                        "{\"text\":\"print 2: 0 of 3\\u002c 0x0000 x\"}");
    dl_str text = {0};
    assert_true(dl_meta_text(dl_text(&rows.tables, row_at(&rows, DL_ROW_TS_EVENT, "print", 2)->meta), &text));
    assert_string_equal(text.text, "print 2: -2 of 3, 0x0002 x");
    dl_str_free(&text);
    free_rows(&rows);
    stop(&f);
}

static void sums_are_one_record(void **state)
{
    (void)state;
    fixture f = start("tests/sim/kernels/cost.c", "NCRISC", "-DMARKER=DEVLOG_ZONE_SUM(\"sum\")", NULL);
    set_args(&f, 10000, 0);
    launch(f.device, f.program);
    test_rows rows;
    read_rows(f.device, f.program, zero, 1, &rows);
    assert_int_equal(count_rows(&rows, DL_ROW_ZONE_TOTAL, "sum"), 1);
    const dl_row *row = row_at(&rows, DL_ROW_ZONE_TOTAL, "sum", 0);
    const char *meta = dl_text(&rows.tables, row->meta);
    unsigned passes, shortest, longest;
    assert_int_equal(sscanf(meta, "{\"count\":%u,\"min\":%u,\"max\":%u}", &passes, &shortest, &longest), 3);
    assert_int_equal(passes, 10000);
    assert_true(shortest > 0 && shortest <= longest);
    assert_true(row->data >= 10000ull * shortest && row->data <= 10000ull * longest);
    assert_int_equal(rows.control.dropped, 0);
    free_rows(&rows);
    stop(&f);
}

static void kernels_for_tt_metal_compile_unchanged(void **state)
{
    (void)state;
    fixture f = start("tests/sim/kernels/tt_metal_style.cpp", "NCRISC", NULL, NULL);
    set_args(&f, 0, 0);
    launch(f.device, f.program);
    test_rows rows;
    read_rows(f.device, f.program, zero, 1, &rows);
    assert_int_equal(count_rows(&rows, DL_ROW_ZONE_START, "TEST-FULL"), 3);
    assert_int_equal(count_rows(&rows, DL_ROW_ZONE_END, "MY-KERNEL"), 1);
    assert_int_equal(count_rows(&rows, DL_ROW_ZONE_START, "spin"), 6);
    assert_int_equal(count_rows(&rows, DL_ROW_ZONE_TOTAL, "SUM"), 1);
    assert_int_equal(row_at(&rows, DL_ROW_TS_DATA, "TEST", 2)->data, 2 + (1ull << 32));
    assert_int_equal(row_at(&rows, DL_ROW_TS_DATA, "12345", 1)->data, 1);
    assert_int_equal(row_at(&rows, DL_ROW_TS_DATA, "BR_Data", 2)->data, 9);
    assert_int_equal(count_rows(&rows, DL_ROW_TS_EVENT, "BR_Flag"), 3);
    assert_int_equal(row_at(&rows, DL_ROW_TS_DATA, "DeviceRecordEvent", 2)->data, 2);
    assert_int_equal(count_rows(&rows, DL_ROW_TS_EVENT, "mark_time"), 4);
    assert_int_equal(row_at(&rows, DL_ROW_TS_EVENT, "mark_time", 1)->timer_id, 9);
    assert_int_equal(row_at(&rows, DL_ROW_TS_EVENT, "mark_time", 3)->timer_id, 7);
    free_rows(&rows);
    stop(&f);
}

/* ---- Names ---- */

/* Five kernels of one launch, a thousand zones each, every name at its own line. */
static void five_thousand_names_resolve(void **state)
{
    (void)state;
    enum { ZONES = 1000, FIRST_LINE = 5 };
    devlog_error err = {0};
    devlog_device *device = open_device(NULL, "functional=1");
    /* A board with bigger slots. */
    for (uint32_t r = 0; r < 5; r++)
        device->board.riscs[r].kernel = (board_region){0x60000 + 0x20000 * r, 0x20000};
    device->board.user.size = 0x1000;
    check_ok(devlog_set_recording(device, DEVLOG_RECORD_STREAM, 1 << 20, &err), &err);
    devlog_program *program;
    check_ok(devlog_program_create(device, &program, &err), &err);
    const char *folder = test_folder();
    char paths[5][128];
    static char text[200000];
    for (uint32_t r = 0; r < 5; r++) {
        size_t n = (size_t)snprintf(text, sizeof text,
                                    "#include <devlog/kernel.h>\n#include <devlog/profile.h>\n"
                                    "void kernel_main(void)\n{\n");
        for (uint32_t i = 0; i < ZONES; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, "    { DEVLOG_ZONE(\"%s zone %u\"); }\n",
                                  i % 2 ? "odd" : device->board.riscs[r].name, i);
        snprintf(text + n, sizeof text - n, "}\n");
        snprintf(paths[r], sizeof paths[r], "%s/names%u.c", folder, r);
        write_text(paths[r], text);
        const devlog_kernel_options o =
            DEVLOG_KERNEL_OPTIONS(.source = paths[r], .risc = device->board.riscs[r].name, .cores = one);
        check_ok(devlog_program_add_kernel(program, &o, NULL, &err), &err);
    }
    prepare(device, program);
    launch(device, program);
    for (uint32_t r = 0; r < 5; r++) {
        test_rows rows;
        read_rows(device, program, zero, r, &rows);
        uint32_t seen = 0;
        for (size_t i = 0; i < rows.n; i++) {
            const dl_site *site = &rows.tables.sites[rows.rows[i].site];
            const char *file = dl_text(&rows.tables, site->file);
            if (strcmp(file, paths[r]) != 0) continue; /* firmware and flushes */
            uint32_t zone = seen++ / 2;
            char expected[64];
            snprintf(expected, sizeof expected, "%s zone %u", zone % 2 ? "odd" : device->board.riscs[r].name,
                     zone);
            assert_string_equal(dl_text(&rows.tables, site->name), expected);
            assert_int_equal(site->line, FIRST_LINE + zone);
            assert_int_equal(rows.rows[i].type, seen % 2 ? DL_ROW_ZONE_START : DL_ROW_ZONE_END);
        }
        assert_int_equal(seen, 2 * ZONES);
        assert_int_equal(rows.losses.unnamed + rows.losses.damaged_words, 0);
        free_rows(&rows);
    }
    devlog_program_free(program);
    check_ok(devlog_device_close(device, &err), &err);
}

/* ---- Capacity ---- */

static void two_kib_hold_170_complete_zones(void **state)
{
    (void)state;
    fixture f = start("tests/sim/kernels/many.c", "BRISC", NULL, NULL);
    set_args(&f, 170, 0);
    launch(f.device, f.program);
    test_rows rows;
    read_rows(f.device, f.program, zero, 0, &rows);
    assert_int_equal(count_rows(&rows, DL_ROW_ZONE_START, "pass"), 170);
    assert_int_equal(rows.control.switches, 0); /* in the first segment, which has 2 KiB */
    assert_int_equal(f.device->board.segment_bits, 11);
    free_rows(&rows);
    stop(&f);
}

static void a_million_markers_are_captured_whole(void **state)
{
    (void)state;
    devlog_error err = {0};
    const uint32_t n = 1000000;
    fixture f = start("tests/sim/kernels/many.c", "TRISC2", "-DVALUES", "functional=1");
    check_ok(devlog_set_recording(f.device, DEVLOG_RECORD_STREAM, 0, &err), &err);
    f.device->timeout_ms = 120000;
    set_args(&f, n, 0);
    launch(f.device, f.program);
    test_rows rows;
    read_rows(f.device, f.program, zero, 4, &rows);
    assert_int_equal(rows.control.dropped + rows.control.overwritten, 0);
    assert_int_equal(rows.losses.damaged_words + rows.losses.cut, 0);
    uint32_t expected = 0;
    uint64_t last = 0;
    for (size_t i = 0; i < rows.n; i++) {
        assert_true(rows.rows[i].time >= last);
        last = rows.rows[i].time;
        if (rows.rows[i].type == DL_ROW_TS_DATA) assert_int_equal(rows.rows[i].data, expected++);
    }
    assert_int_equal(expected, n);
    size_t stalls = count_rows(&rows, DL_ROW_ZONE_START, RAW_STALL_ZONE);
    assert_true(stalls > 5000);
    printf("%u markers, %zu flushes, %u cycles of %llu held up\n", n, stalls, rows.control.stall_cycles,
           (unsigned long long)(last - rows.rows[0].time));
    free_rows(&rows);
    stop(&f);
}

/* ---- The event stream of the tile ---- */

static void hardware_events(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *device = open_device(NULL, NULL);
    devlog_program *program;
    check_ok(devlog_program_create(device, &program, &err), &err);
    devlog_kernel *kernels[5];
    for (uint32_t r = 0; r < 5; r++)
        kernels[r] = add_kernel(program, "tests/sim/kernels/events.c", device->board.riscs[r].name, one,
                                "-DDEVLOG_HW_STREAM");
    for (int overflow = 0; overflow < 2; overflow++) {
        uint32_t rounds =
            overflow ? 200 : 60; /* 5 RISCs x 3 events x 16 bytes x rounds; the buffer has 16 KiB */
        for (uint32_t r = 0; r < 5; r++)
            check_ok(devlog_kernel_set_args(kernels[r], zero, &rounds, 1, &err), &err);
        prepare(device, program);
        launch(device, program);
        size_t zones = 0;
        /* Entries that no marker can have stored are told, and are nobody's events: of another form, with a fourth word, from
         * before the launch, from behind it, in front of the entry before; once for the tile. One with a number that no site of
         * BRISC's has, by BRISC. */
        static const uint32_t garbled[][2] = {{4 * 16, 0x12345672}, {8 * 16 + 12, 1}, {12 * 16 + 4, 0},
                                              {16 * 16 + 8, 1},     {20 * 16 + 4, 1}, {24 * 16, 0x1FFFFF8}};
        enum { GARBLED = sizeof garbled / sizeof garbled[0] };
        for (size_t i = 0; overflow && i < GARBLED; i++)
            check_ok(dl_core_write(device, zero, device->board.events.base + garbled[i][0], &garbled[i][1], 4,
                                   &err),
                     &err);
        for (uint32_t r = 0; r < 5; r++) {
            test_rows rows;
            read_rows(device, program, zero, r, &rows);
            size_t starts = count_rows(&rows, DL_ROW_ZONE_START, "round"),
                   ends = count_rows(&rows, DL_ROW_ZONE_END, "round");
            assert_int_equal(count_rows(&rows, DL_ROW_TS_DATA, "i"), rounds); /* values are records as ever */
            assert_int_equal(rows.losses.unnamed, 0);
            if (!overflow) {
                assert_int_equal(starts, rounds);
                assert_int_equal(ends, rounds);
                assert_int_equal(count_rows(&rows, DL_ROW_TS_EVENT, "middle"), rounds);
                assert_int_equal(count_rows(&rows, DL_ROW_ZONE_END, "all rounds"), 1);
                /* Each event lies between the values of its round and the one before. */
                for (uint32_t i = 1; i < rounds; i++) {
                    uint64_t before = row_at(&rows, DL_ROW_TS_DATA, "i", i - 1)->time;
                    uint64_t middle = row_at(&rows, DL_ROW_TS_EVENT, "middle", i)->time;
                    assert_true(before < middle && middle < row_at(&rows, DL_ROW_TS_DATA, "i", i)->time);
                }
            }
            assert_int_equal(rows.losses.damaged_words,
                             overflow && r == 0 ? GARBLED * DEVLOG_EVENT_WORDS : 0);
            zones += starts;
            free_rows(&rows);
        }
        if (overflow) {
            assert_true(zones > 250 && zones < 500);
            check_ok(devlog_dump_device_profile_results(device, &err), &err);
            assert_true(profiler_totals_of(device)->dropped > 0);
        }
    }
    devlog_program_free(program);
    check_ok(devlog_device_close(device, &err), &err);
}

/* Captures of before hold events of 64 bits, two to a block. */
static void old_events(void **state)
{
    (void)state;
    enum { ROUNDS = 21 };
    const uint32_t rounds = ROUNDS;
    devlog_error err = {0};
    devlog_device *device = open_device(NULL, NULL);
    devlog_program *program;
    pulled manager;
    pulled_events events;
    check_ok(devlog_program_create(device, &program, &err), &err);
    for (uint32_t r = 0; r < 5; r++)
        check_ok(devlog_kernel_set_args(add_kernel(program, "tests/sim/kernels/events.c",
                                                   device->board.riscs[r].name, one, "-DDEVLOG_HW_STREAM"),
                                        zero, &rounds, 1, &err),
                 &err);
    prepare(device, program);
    launch(device, program);
    check_ok(pull_risc(device, zero, 0, device->launches, false, &manager, &err), &err);
    check_ok(pull_events(device, &manager, &events, &err), &err);
    const uint32_t n = events.n_words / DEVLOG_EVENT_WORDS, blocks = (n + 1) / 2;
    assert_int_equal(n, 5 * (3 * ROUNDS + 2));
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t *e = events.words + 4 * i;
        events.words[2 * i] = e[0] | 1;
        events.words[2 * i + 1] = e[1];
    }
    events.words[2 * n] = events.words[2 * n + 1] = 0; /* the flush */
    const uint32_t status = blocks << 14, at = board_profiler_base(&device->board, 0) +
                                               DEVLOG_CONTROL_OFFSET(device->board.segment_bits) +
                                               (uint32_t)offsetof(devlog_control, events_status);
    check_ok(dl_core_write(device, zero, at, &status, 4, &err), &err);
    check_ok(dl_core_write(device, zero, device->board.events.base, events.words, 16 * blocks, &err), &err);
    for (uint32_t r = 0; r < 5; r++) {
        test_rows rows;
        read_rows(device, program, zero, r, &rows);
        assert_int_equal(count_rows(&rows, DL_ROW_TS_EVENT, "middle"), ROUNDS);
        assert_int_equal(count_rows(&rows, DL_ROW_ZONE_START, "round"), ROUNDS);
        assert_int_equal(count_rows(&rows, DL_ROW_ZONE_END, "all rounds"), 1);
        assert_int_equal(rows.losses.damaged_words + rows.losses.unnamed, 0);
        free_rows(&rows);
    }
    pulled_free(&manager);
    free(events.words);
    devlog_program_free(program);
    check_ok(devlog_device_close(device, &err), &err);
}

/* ---- Misuse ---- */

static void wrong_use_is_diagnosed(void **state)
{
    (void)state;
    for (int garbage = 0; garbage < 2; garbage++) {
        fixture f = start("tests/sim/kernels/bad.c", "BRISC", garbage ? "-DGARBAGE" : NULL, NULL);
        set_args(&f, 0, 0);
        launch(f.device, f.program);
        test_rows rows;
        read_rows(f.device, f.program, zero, 0, &rows);
        assert_int_equal(count_rows(&rows, DL_ROW_TS_EVENT, "last"), 1);
        assert_int_equal(count_rows(&rows, DL_ROW_ZONE_END, "never begun"), 2);
        assert_int_equal(count_rows(&rows, DL_ROW_ZONE_START, "left open"), 1);
        size_t down = count_rows(&rows, DL_ROW_ZONE_START, "down");
        if (garbage) {
            /* Words 10 to 29 of the records: ten records of two words are gone, everything else is kept. */
            assert_int_equal(down, 90);
            assert_int_equal(rows.losses.damaged_words, 20);
        } else {
            assert_int_equal(down, 100);
            assert_int_equal(rows.losses.damaged_words, 0);
        }
        free_rows(&rows);
        stop(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_switched_without_a_build),
        cmocka_unit_test(text_is_printed_on_the_host),
        cmocka_unit_test(sums_are_one_record),
        cmocka_unit_test(kernels_for_tt_metal_compile_unchanged),
        cmocka_unit_test(five_thousand_names_resolve),
        cmocka_unit_test(two_kib_hold_170_complete_zones),
        cmocka_unit_test(a_million_markers_are_captured_whole),
        cmocka_unit_test(hardware_events),
        cmocka_unit_test(old_events),
        cmocka_unit_test(wrong_use_is_diagnosed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
