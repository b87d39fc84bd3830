/* Buffers of a device: that bank and address are right, by what kernels of the simulator see there; what is refused; and what the
 * log of ops says of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/buffers.h"
#include "support/device.h"
#include "support/files.h"

static const char *const boards[] = {"wormhole_b0", "blackhole"};
static devlog_error err;

static void assert_says(const char *part)
{
    if (!strstr(err.text, part)) fail_msg("'%s' does not say '%s'", err.text, part);
    if (strchr(err.text, '\n')) fail_msg("'%s' is more than one line", err.text);
}

static devlog_buffer make(devlog_device *device, const devlog_buffer_options *o)
{
    devlog_buffer b = {0};
    check_ok(devlog_buffer_create(device, o, &b, &err), &err);
    return b;
}

static devlog_buffer_facts facts(devlog_device *device, devlog_buffer b)
{
    devlog_buffer_facts f;
    check_ok(devlog_buffer_info(device, b, &f, &err), &err);
    return f;
}

static void fill(uint32_t *words, uint32_t n, uint32_t seed)
{
    for (uint32_t i = 0; i < n; i++)
        words[i] = seed = seed * 1664525u + 1013904223u;
}

/* What the host wrote to two buffers by page is what kernels add up on their cores, and what they write is what is read back. */
static void kernels_see_what_is_in_l1(void **state)
{
    (void)state;
    enum { WORDS = 100, CORES = 6 };
    for (int at = 0; at < 2; at++) {
        static uint32_t a[CORES * WORDS], b[CORES * WORDS], sum[CORES * WORDS];
        const devlog_cores cores[] = {{1, 1, 2, 2}, {0, 0, 1, 0}}; /* in this order */
        const devlog_core order[] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {0, 0}, {1, 0}};
        devlog_device *device = open_device(boards[at], NULL);
        const devlog_buffer_options o =
            DEVLOG_BUFFER_OPTIONS(.bytes = sizeof a, .page_bytes = 4 * WORDS, .cores = cores, .n_cores = 2);
        const devlog_buffer in_a = make(device, &o), in_b = make(device, &o), out = make(device, &o);
        fill(a, CORES * WORDS, 1);
        fill(b, CORES * WORDS, 2);
        check_ok(devlog_buffer_write(device, in_a, 0, a, sizeof a, &err), &err);
        check_ok(devlog_buffer_write(device, in_b, 0, b, sizeof b, &err), &err);
        devlog_program *program;
        check_ok(devlog_program_create(device, &program, &err), &err);
        const uint32_t args[] = {(uint32_t)facts(device, in_a).address, (uint32_t)facts(device, in_b).address,
                                 (uint32_t)facts(device, out).address, WORDS};
        for (uint32_t i = 0; i < 2; i++) {
            devlog_kernel *k = add_kernel(program, "firmware/kernels/vector_add.c", "BRISC", cores[i], NULL);
            for (uint32_t y = cores[i].y0; y <= cores[i].y1; y++)
                for (uint32_t x = cores[i].x0; x <= cores[i].x1; x++)
                    check_ok(devlog_kernel_set_args(k, (devlog_core){x, y}, args, 4, &err), &err);
        }
        prepare(device, program);
        check_ok(devlog_launch_program(device, program, &err), &err);
        check_ok(devlog_buffer_read(device, out, 0, sum, sizeof sum, &err), &err);
        for (uint32_t i = 0; i < CORES * WORDS; i++)
            if (sum[i] != a[i] + b[i])
                fail_msg("%s: word %u is %x, expected %x", boards[at], i, sum[i], a[i] + b[i]);
        /* Page by page: the core, and the same bytes by its address. */
        for (uint32_t i = 0; i < CORES; i++) {
            devlog_page p;
            uint32_t word;
            check_ok(devlog_buffer_page(device, out, i, &p, &err), &err);
            assert_int_equal(p.core.x, order[i].x);
            assert_int_equal(p.core.y, order[i].y);
            assert_int_equal(p.bytes, 4 * WORDS);
            assert_int_equal(p.bank, p.core.y * devlog_device_grid(device).x + p.core.x);
            check_ok(devlog_read_from_device(device, p.core, (uint32_t)p.address, &word, 4, &err), &err);
            assert_int_equal(word, sum[i * WORDS]);
        }
        devlog_program_free(program);
        check_ok(devlog_buffer_free(device, in_a, &err), &err);
        check_ok(devlog_buffer_free(device, in_b, &err), &err);
        check_ok(devlog_buffer_free(device, out, &err), &err);
        check_ok(devlog_device_close(device, &err), &err);
    }
}

/* Every page of an interleaved buffer, fetched from its bank by a RISC over the NoC. */
static void kernels_see_what_is_in_dram(void **state)
{
    (void)state;
    enum { PAGE_WORDS = 16, PAGES = 20 };
    for (int at = 0; at < 2; at++) {
        static uint32_t data[PAGES * PAGE_WORDS], got[PAGE_WORDS];
        const devlog_cores first = {0, 0, 0, 0};
        devlog_device *device = open_device(boards[at], NULL);
        const uint32_t tiles = device->board.n_dram;
        /* Something in front of it, so that it does not begin at 0, and in the L1 where it arrives. */
        const devlog_buffer front =
            make(device, &(devlog_buffer_options)DEVLOG_BUFFER_OPTIONS(.bytes = 1000 * tiles,
                                                                       .memory = DEVLOG_MEMORY_DRAM));
        const devlog_buffer dram =
            make(device, &(devlog_buffer_options)DEVLOG_BUFFER_OPTIONS(.bytes = sizeof data - 4,
                                                                       .page_bytes = 4 * PAGE_WORDS,
                                                                       .memory = DEVLOG_MEMORY_DRAM));
        const devlog_buffer l1 =
            make(device, &(devlog_buffer_options)DEVLOG_BUFFER_OPTIONS(.bytes = 4 * PAGE_WORDS,
                                                                       .cores = &first, .n_cores = 1));
        assert_int_equal(facts(device, front).address, 0);
        assert_int_equal(facts(device, dram).address, 1024);
        assert_int_equal(facts(device, dram).banks, tiles);
        fill(data, PAGES * PAGE_WORDS, 7);
        check_ok(devlog_buffer_write(device, dram, 0, data, sizeof data - 4, &err), &err);
        devlog_program *programs[2]; /* by the NoC of the RISC */
        devlog_kernel *kernels[2];
        for (int noc = 0; noc < 2; noc++) {
            check_ok(devlog_program_create(device, &programs[noc], &err), &err);
            kernels[noc] = add_kernel(programs[noc], "tests/sim/kernels/noc_read.c",
                                      noc ? "TRISC2" : "NCRISC", first, NULL);
        }
        for (uint32_t page = 0; page < PAGES; page++) {
            devlog_page p;
            check_ok(devlog_buffer_page(device, dram, page, &p, &err), &err);
            assert_int_equal(p.bank, page % tiles);
            assert_int_equal(p.noc_x, device->board.dram[p.bank].x);
            assert_int_equal(p.noc_y, device->board.dram[p.bank].y);
            assert_int_equal(p.bytes, page + 1 < PAGES ? 4 * PAGE_WORDS : 4 * PAGE_WORDS - 4);
            const uint32_t args[] = {p.noc_x | p.noc_y << 6, (uint32_t)p.address,
                                     (uint32_t)facts(device, l1).address};
            const int noc = p.noc == 1;
            check_ok(devlog_kernel_set_args(kernels[noc], (devlog_core){0, 0}, args, 3, &err), &err);
            prepare(device, programs[noc]);
            check_ok(devlog_launch_program(device, programs[noc], &err), &err);
            check_ok(devlog_buffer_read(device, l1, 0, got, sizeof got, &err), &err);
            if (memcmp(got, data + page * PAGE_WORDS, p.bytes) != 0)
                fail_msg("%s: page %u is not what was written", boards[at], page);
        }
        /* Parts that begin and end inside of pages. */
        for (uint32_t from = 0; from < 300; from += 13) {
            uint8_t part[301];
            check_ok(devlog_buffer_read(device, dram, from, part, 301, &err), &err);
            assert_memory_equal(part, (uint8_t *)data + from, 301);
        }
        for (int noc = 0; noc < 2; noc++)
            devlog_program_free(programs[noc]);
        check_ok(devlog_buffer_free(device, front, &err), &err);
        check_ok(devlog_buffer_free(device, dram, &err), &err);
        check_ok(devlog_buffer_free(device, l1, &err), &err);
        check_ok(devlog_device_close(device, &err), &err);
    }
}

/* L1 is given from the end of what programs may use downwards, and never outside of it. */
static void nothing_reserved_is_given_away(void **state)
{
    (void)state;
    uint32_t size, base;
    devlog_memory_facts m;
    devlog_device *device = open_device("wormhole_b0", NULL);
    base = devlog_device_user_l1(device, &size);
    check_ok(devlog_memory_info(device, DEVLOG_MEMORY_L1, &m, &err), &err);
    assert_int_equal(m.banks, 80);
    assert_int_equal(m.bank_bytes, size);
    assert_int_equal(m.largest_block, size);
    const devlog_buffer small = make(device, &(devlog_buffer_options)DEVLOG_BUFFER_OPTIONS(.bytes = 80));
    assert_int_equal(facts(device, small).address, base + size - 64);
    assert_int_equal(facts(device, small).banks, 80); /* a byte each: a page for each bank */
    const devlog_buffer one =
        make(device, &(devlog_buffer_options)DEVLOG_BUFFER_OPTIONS(.bytes = 80, .page_bytes = 100));
    assert_int_equal(facts(device, one).banks, 1);
    assert_int_equal(facts(device, one).bank_bytes, 128);
    const devlog_buffer all =
        make(device, &(devlog_buffer_options)DEVLOG_BUFFER_OPTIONS(.bytes = 80ull * (size - 64 - 128)));
    assert_int_equal(facts(device, all).address, base);
    check_ok(devlog_memory_info(device, DEVLOG_MEMORY_L1, &m, &err), &err);
    assert_int_equal(m.used, 80ull * (size - 128) + 128);
    assert_int_equal(m.free, 79u * 128);
    assert_int_equal(m.largest_block, 0);
    assert_int_equal(m.buffers, 3);
    /* No room: how much is free, the largest block, who holds the most. */
    devlog_buffer none = {77};
    assert_int_equal(devlog_buffer_create(
                         device, &(devlog_buffer_options)DEVLOG_BUFFER_OPTIONS(.bytes = 6400), &none, &err),
                     DEVLOG_ERR_MEMORY);
    assert_int_equal(none.id, 77);
    assert_says(
        "no room for a buffer of 6,400 bytes in L1: it needs 128 in each of 80 banks at one address; 10,112 of ");
    assert_says("the largest block that is free in all 80 banks has 0; most is held by ");
    assert_says("test_buffers.c:");
    assert_says("(3 buffers, ");
    check_ok(devlog_buffer_free(device, all, &err), &err);
    check_ok(devlog_buffer_free(device, one, &err), &err);
    check_ok(devlog_buffer_free(device, small, &err), &err);
    check_ok(devlog_memory_info(device, DEVLOG_MEMORY_L1, &m, &err), &err);
    assert_int_equal(m.used, 0);
    assert_int_equal(m.peak, 80ull * (size - 128) + 128);
    assert_int_equal(m.free, 80ull * size);
    check_ok(devlog_device_close(device, &err), &err);
}

/* Pages of 100 bytes on two cores: each begins 128 bytes behind the one before it in its bank, and none lies in another. */
static void pages_have_a_stride(void **state)
{
    (void)state;
    enum { PAGE = 100, PAGES = 11, BYTES = PAGE * PAGES - 30 };
    static uint8_t data[BYTES], got[PAGE];
    const devlog_cores cores = {3, 2, 4, 2};
    devlog_device *device = open_device("blackhole", NULL);
    const devlog_buffer b =
        make(device, &(devlog_buffer_options)DEVLOG_BUFFER_OPTIONS(.bytes = BYTES, .page_bytes = PAGE,
                                                                   .cores = &cores, .n_cores = 1));
    const devlog_buffer_facts f = facts(device, b);
    assert_int_equal(f.pages, PAGES);
    assert_int_equal(f.stride, 128);
    assert_int_equal(f.bank_bytes, 6 * 128);
    for (int i = 0; i < BYTES; i++)
        data[i] = (uint8_t)(i * 7 + i / 256);
    check_ok(devlog_buffer_write(device, b, 0, data, BYTES, &err), &err);
    for (uint32_t i = 0; i < PAGES; i++) {
        devlog_page p;
        check_ok(devlog_buffer_page(device, b, i, &p, &err), &err);
        assert_int_equal(p.core.x, 3 + i % 2);
        assert_int_equal(p.address, f.address + i / 2 * 128);
        assert_int_equal(p.bytes, i + 1 < PAGES ? PAGE : PAGE - 30);
        check_ok(devlog_read_from_device(device, p.core, (uint32_t)p.address, got, (size_t)p.bytes, &err),
                 &err);
        assert_memory_equal(got, data + i * PAGE, p.bytes);
    }
    check_ok(devlog_buffer_free(device, b, &err), &err);
    check_ok(devlog_device_close(device, &err), &err);
}

static void what_is_wrong_is_one_line(void **state)
{
    (void)state;
    devlog_device *device = open_device("wormhole_b0", NULL), *other = open_device("blackhole", NULL);
    devlog_buffer b = {0};
    devlog_page page;
    uint32_t word = 0;
    const devlog_cores outside = {7, 9, 8, 9}, twice[] = {{0, 0, 1, 1}, {1, 1, 2, 2}};
    const struct {
        devlog_buffer_options o;
        const char *says;
        devlog_status status;
    } bad[] = {
        {DEVLOG_BUFFER_OPTIONS(.bytes = 0), "a buffer of 0 bytes", DEVLOG_ERR_ARGUMENT},
        {DEVLOG_BUFFER_OPTIONS(.bytes = UINT64_MAX), "must be 1 to 2^48", DEVLOG_ERR_ARGUMENT},
        {DEVLOG_BUFFER_OPTIONS(.bytes = 1, .page_bytes = UINT64_MAX), "must be 1 to 2^48",
         DEVLOG_ERR_ARGUMENT},
        {DEVLOG_BUFFER_OPTIONS(.bytes = UINT64_C(1) << 48, .page_bytes = 1), "no room", DEVLOG_ERR_MEMORY},
        {DEVLOG_BUFFER_OPTIONS(.bytes = 1, .memory = (devlog_memory)2), "there is no memory 2",
         DEVLOG_ERR_ARGUMENT},
        {DEVLOG_BUFFER_OPTIONS(.bytes = 1, .cores = &outside, .n_cores = 1), "outside the grid",
         DEVLOG_ERR_ARGUMENT},
        {DEVLOG_BUFFER_OPTIONS(.bytes = 1, .cores = twice, .n_cores = 2), "core (1,1) twice",
         DEVLOG_ERR_ARGUMENT},
        {DEVLOG_BUFFER_OPTIONS(.bytes = 1, .cores = twice), "cores and no n_cores", DEVLOG_ERR_ARGUMENT},
        {DEVLOG_BUFFER_OPTIONS(.bytes = 1, .n_cores = 1), "n_cores and no cores", DEVLOG_ERR_ARGUMENT},
        {DEVLOG_BUFFER_OPTIONS(.bytes = 1, .memory = DEVLOG_MEMORY_DRAM, .cores = twice, .n_cores = 1),
         "DRAM has no cores", DEVLOG_ERR_ARGUMENT},
        {{.bytes = 1}, "DEVLOG_BUFFER_OPTIONS()", DEVLOG_ERR_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(devlog_buffer_create(device, &bad[i].o, &b, &err), bad[i].status);
        assert_says(bad[i].says);
        assert_int_equal(b.id, 0);
    }
    const devlog_buffer none = {0};
    check_ok(devlog_buffer_free(device, none, &err), &err);
    assert_int_equal(devlog_buffer_read(device, none, 0, &word, 4, &err), DEVLOG_ERR_ARGUMENT);
    assert_says("was not made");
    const devlog_buffer mine = make(device, &(devlog_buffer_options)DEVLOG_BUFFER_OPTIONS(.bytes = 10));
    const devlog_buffer its = make(other, &(devlog_buffer_options)DEVLOG_BUFFER_OPTIONS(.bytes = 10));
    assert_int_equal(devlog_buffer_free(other, mine, &err), DEVLOG_ERR_ARGUMENT);
    assert_says("none of this device's");
    assert_int_equal(devlog_buffer_page(device, mine, 10, &page, &err), DEVLOG_ERR_ARGUMENT);
    assert_says("has no page 10");
    assert_int_equal(devlog_buffer_write(device, mine, 8, &word, 4, &err), DEVLOG_ERR_ARGUMENT);
    assert_says("4 bytes from byte 8 on go beyond the end of a buffer of 10 (");
    assert_int_equal(devlog_buffer_read(device, mine, UINT64_MAX, &word, 4, &err), DEVLOG_ERR_ARGUMENT);
    check_ok(devlog_buffer_read(device, mine, 10, &word, 0, &err), &err);
    check_ok(devlog_buffer_free(device, mine, &err), &err);
    const int line = __LINE__ - 1;
    char says[64];
    assert_int_equal(devlog_buffer_free(device, mine, &err), DEVLOG_ERR_ARGUMENT);
    snprintf(says, sizeof says, "test_buffers.c:%d", line);
    assert_says("cannot be freed: it was freed at ");
    assert_says(says);
    /* The memory is given again, the id is not. */
    const devlog_buffer again = make(device, &(devlog_buffer_options)DEVLOG_BUFFER_OPTIONS(.bytes = 10));
    assert_true(again.id != mine.id);
    assert_int_equal(devlog_buffer_write(device, mine, 0, &word, 4, &err), DEVLOG_ERR_ARGUMENT);
    /* A device that was closed: its buffers are nobody's. */
    check_ok(devlog_buffer_free(other, its, &err), &err);
    check_ok(devlog_device_close(other, &err), &err);
    other = open_device("blackhole", NULL);
    assert_int_equal(devlog_buffer_free(other, its, &err), DEVLOG_ERR_ARGUMENT);
    assert_says("none of this device's");
    check_ok(devlog_device_close(other, &err), &err);
    check_ok(devlog_buffer_free(device, again, &err), &err);
    check_ok(devlog_device_close(device, &err), &err);
}

/* Streams of records have the end of the DRAM: whoever comes second is refused. */
static void streams_and_buffers_share_the_dram(void **state)
{
    (void)state;
    devlog_memory_facts m, with;
    devlog_device *device = open_device("wormhole_b0", NULL);
    check_ok(devlog_memory_info(device, DEVLOG_MEMORY_DRAM, &m, &err), &err);
    assert_int_equal(m.bank_bytes, device->board.dram_size);
    check_ok(devlog_set_recording(device, DEVLOG_RECORD_STREAM, 1 << 20, &err), &err);
    check_ok(devlog_memory_info(device, DEVLOG_MEMORY_DRAM, &with, &err), &err);
    const uint64_t taken = m.bank_bytes - with.bank_bytes; /* 80 cores of 5 RISCs on 6 tiles: 67 places */
    assert_int_equal(taken, 67ull << 20);
    const devlog_buffer_options most =
        DEVLOG_BUFFER_OPTIONS(.bytes = m.banks * with.bank_bytes, .memory = DEVLOG_MEMORY_DRAM);
    const devlog_buffer_options more =
        DEVLOG_BUFFER_OPTIONS(.bytes = m.banks * (with.bank_bytes + 64), .memory = DEVLOG_MEMORY_DRAM);
    devlog_buffer b = {0};
    assert_int_equal(devlog_buffer_create(device, &more, &b, &err), DEVLOG_ERR_MEMORY);
    b = make(device, &most);
    assert_int_equal(devlog_set_recording(device, DEVLOG_RECORD_STREAM, 2 << 20, &err), DEVLOG_ERR_STATE);
    assert_says("buffers in DRAM reach to byte ");
    check_ok(devlog_set_recording(device, DEVLOG_RECORD_STREAM, 1 << 20, &err), &err);
    check_ok(devlog_buffer_free(device, b, &err), &err);
    check_ok(devlog_set_recording(device, DEVLOG_RECORD_STREAM, 2 << 20, &err), &err);
    check_ok(devlog_device_close(device, &err), &err);
    /* A board without DRAM. */
    device = open_device(source_path("tests/boards/made_up.json"), NULL);
    assert_int_equal(devlog_buffer_create(device, &most, &b, &err), DEVLOG_ERR_UNSUPPORTED);
    assert_says("has no DRAM for buffers");
    check_ok(devlog_memory_info(device, DEVLOG_MEMORY_DRAM, &m, &err), &err);
    assert_int_equal(m.banks + m.bank_bytes + m.free, 0);
    b = make(device, &(devlog_buffer_options)DEVLOG_BUFFER_OPTIONS(.bytes = 100));
    check_ok(devlog_buffer_free(device, b, &err), &err);
    check_ok(devlog_device_close(device, &err), &err);
}

/* A line for each event, with the op and the line of the program. */
static void the_log_of_ops_has_every_event(void **state)
{
    (void)state;
    char path[256], wanted[512];
    devlog_ops *ops = NULL;
    devlog_device *device = NULL;
    const char *folder = test_folder();
    const devlog_cores cores[] = {{0, 0, 2, 0}, {1, 1, 1, 1}};
    check_ok(
        devlog_ops_open(&(devlog_ops_options)DEVLOG_OPS_OPTIONS(.log_folder = folder, .profile = DEVLOG_ON),
                        &ops, &err),
        &err);
    check_ok(devlog_device_open(&(devlog_device_options)DEVLOG_DEVICE_OPTIONS(.transport = "sim",
                                                                              .log_folder = folder,
                                                                              .ops = ops, .slot = 3),
                                &device, &err),
             &err);
    const uint32_t op = devlog_op_start(ops, &(devlog_op){.name = "Load"});
    devlog_buffer a = {0}, b = {0};
    check_ok(
        devlog_buffer_create_at(
            "a\"b.c", 12, device,
            &(devlog_buffer_options)DEVLOG_BUFFER_OPTIONS(.bytes = 1000, .page_bytes = 250, .cores = cores,
                                                          .n_cores = 2, .name = "weights"),
            &a, &err),
        &err);
    devlog_op_end(ops, op);
    check_ok(devlog_buffer_create_at(
                 "c.c", 5, device,
                 &(devlog_buffer_options)DEVLOG_BUFFER_OPTIONS(.bytes = 600, .memory = DEVLOG_MEMORY_DRAM),
                 &b, &err),
             &err);
    check_ok(devlog_buffer_free_at("d.c", 6, device, a, &err), &err);
    check_ok(devlog_device_close(device, &err), &err); /* b is a leak */
    check_ok(devlog_ops_close(ops, &err), &err);
    snprintf(path, sizeof path, "%s/profile_log_ops.jsonl", folder);
    char *text = read_bytes(path, NULL);
    const char *const parts[] = {
        "\"kind\":\"L1\",\"banks\":80,\"bytes\":1187840,\"address\":294912,\"columns\":8}",
        ("\"chip\":3,\"boot\":1,\"buffer\":1,\"kind\":\"L1\",\"address\":1482496,\"held\":256,\"banks\":4,\"bytes\":1000,\"page\":250,\"at\":\"0-2,9\","
         "\"name\":\"weights\",\"file\":\"a\\\"b.c\",\"line\":12}"),
        "\"kind\":\"DRAM\",\"banks\":6,\"bytes\":2147483648,\"address\":0}",
        "\"chip\":3,\"boot\":1,\"buffer\":2,\"kind\":\"DRAM\",\"address\":0,\"held\":128,\"banks\":6,\"bytes\":600,\"page\":100,\"file\":\"c.c\",\"line\":5}",
        "\"chip\":3,\"boot\":1,\"buffer\":1,\"file\":\"d.c\",\"line\":6}",
        "\"chip\":3,\"boot\":1,\"live\":1}",
    };
    const char *at = text;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        snprintf(wanted, sizeof wanted, "%s", parts[i]);
        at = at ? strstr(at, wanted) : NULL;
        if (!at) fail_msg("%s has no '%s'", text, wanted);
    }
    assert_non_null(strstr(text, "{\"e\":\"alloc\",\"id\":1,\"t\":"));
    assert_non_null(strstr(text, "{\"e\":\"alloc\",\"id\":0,\"t\":"));
    assert_non_null(strstr(text, "{\"e\":\"free\",\"id\":0,\"t\":"));
    assert_non_null(strstr(text, "{\"e\":\"device_close\",\"id\":0,\"t\":"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_see_what_is_in_l1),
        cmocka_unit_test(kernels_see_what_is_in_dram),
        cmocka_unit_test(nothing_reserved_is_given_away),
        cmocka_unit_test(pages_have_a_stride),
        cmocka_unit_test(what_is_wrong_is_one_line),
        cmocka_unit_test(streams_and_buffers_share_the_dram),
        cmocka_unit_test(the_log_of_ops_has_every_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
