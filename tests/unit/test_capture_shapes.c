/* Launches whose kernels do the same again: their records have shapes (decode/capture/raw_shapes.c), of which everything must come
 * out that comes out of the records one by one; with now and then a record that is another, far from the one before, or more.
 * Captures of all kinds of records: test_capture_direct.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/capture/capture.h"
#include "decode/capture/capture_words.h"
#include "decode/capture/raw_marks.h"
#include "support/device.h"
#include "support/digest.h"
#include "support/files.h"
#include "support/logs.h"

enum { WORDS = 2048, RISCS = 3, KERNELS = 3, LAUNCHES = 24, MOST = 200 };

static uint64_t seed, summed_up;

static uint32_t chance(uint32_t below)
{
    return (uint32_t)(test_random(&seed) % below);
}

/* What a kernel's records are, in order. */
typedef struct kernel {
    uint16_t codes[MOST];
    uint32_t n;
} kernel;

/* Zones in one another; `deep`: so deep that not all have room at once; `within`: some after this many that are one in another. */
static void make_kernel(kernel *k, bool deep, uint32_t within)
{
    uint16_t open[MOST];
    uint32_t depth = 0;
    k->n = 0;
    for (; depth < within; depth++)
        k->codes[k->n++] = open[depth] = (uint16_t)(DEVLOG_CODE_ZONE + 2 * (depth % 100));
    while (k->n + depth < MOST - 1 && (k->n < 40 || chance(90))) {
        const bool begins = !depth || (deep ? chance(3) : depth < 4 && chance(2));
        if (begins) {
            open[depth] = (uint16_t)(DEVLOG_CODE_ZONE + 2 * (deep ? depth % 100 : chance(5)));
            k->codes[k->n++] = open[depth++];
        } else {
            k->codes[k->n++] = open[--depth] + 1;
        }
    }
    while (depth)
        k->codes[k->n++] = open[--depth] + 1;
}

/* How often, in a thousand records, one is different. */
typedef struct habits {
    uint32_t far, other, values, back;
    bool deep, spans, costs;
    bool
        nameless; /* no zone is the firmware's: the capture once more is marks out of order, each of which waits for the next */
    bool stuck;      /* the upper half of stamps stays that of the launch's first record */
    uint32_t within; /* how many zones are around all others */
    uint32_t hang;   /* how many zones begin in one launch and do not end */
} habits;

static uint32_t *put(uint32_t *w, uint32_t code, uint64_t time)
{
    w[0] = ((uint32_t)(time >> 32) << 12) + (code & 0x800 ? code - 0x1000u : code);
    w[1] = (uint32_t)time;
    return w + 2;
}

static bool often(uint32_t per_thousand)
{
    return chance(1000) < per_thousand;
}

static uint32_t put_launch(uint32_t *words, const kernel *k, const habits *h, uint64_t *time)
{
    uint32_t *w = words;
    const uint64_t high = *time >> 32 << 32;
    for (uint32_t i = 0; i < k->n; i++) {
        *time += often(h->far) ? 65530 + chance(10) : chance(300);
        if (often(h->back)) *time -= chance(200);
        const uint32_t code = often(h->other) ? DEVLOG_CODE_ZONE + chance(12) : k->codes[i];
        w = put(w, code, h->stuck ? high | (uint32_t)*time : *time);
        if (!often(h->values)) continue;
        *time += chance(50);
        w = put(w, chance(2) ? DEVLOG_CODE_VALUE32 : DEVLOG_CODE_COMPLETE, *time);
        *w++ = (uint32_t)*time - chance(20);
    }
    return (uint32_t)(w - words);
}

/* A capture, as bytes; freed by the caller. */
static char *make(const habits *h, uint64_t time, size_t *size)
{
    devlog_error err = {0};
    dl_capture *c;
    char path[256];
    kernel kernels[KERNELS];
    for (uint32_t i = 0; i < KERNELS; i++)
        make_kernel(&kernels[i], h->deep, h->within ? h->within + i : 0);
    const char *folder = test_folder();
    snprintf(path, sizeof path, "%s/%s", folder, DL_CAPTURE_NAME);
    check_ok(dl_capture_open(&c, folder, DL_CAPTURE_NAME, false, &err), &err);
    const dl_capture_chip chip = {.freq_khz = 1000000, .max_cores = 4, .arch = "wormhole_b0"};
    check_ok(dl_capture_put_chip(c, &chip, &err), &err);
    for (uint32_t launch = 1; launch <= LAUNCHES; launch++) {
        static const char *const names[RISCS] = {"BRISC", "NCRISC", "TRISC0"};
        static uint32_t words[RISCS][WORDS];
        record_span spans[RISCS][2];
        dl_capture_risc riscs[RISCS];
        uint64_t end = time;
        for (uint32_t r = 0; r < RISCS; r++) {
            uint64_t at = time + 100;
            /* One does the same always, one two things in turns, one anything. */
            const uint32_t which = r == 0 ? 0 : r == 1 ? launch % 2 : chance(KERNELS);
            uint32_t n = put_launch(words[r], &kernels[which], h, &at);
            for (uint32_t i = 0; launch == LAUNCHES / 2 && i < h->hang; i++, n += 2)
                put(words[r] + n, DEVLOG_CODE_ZONE, at++);
            const uint32_t first = h->spans ? chance(n / 4) * 2 : n;
            spans[r][0] = (record_span){words[r], first};
            spans[r][1] = (record_span){words[r] + first, n - first};
            riscs[r] = (dl_capture_risc){.name = h->nameless ? "" : names[r],
                                         .index = r,
                                         .elf = DL_CAPTURE_NO_ELF,
                                         .spans = spans[r],
                                         .n_spans = h->spans ? 2 : 1};
            devlog_control *k = &riscs[r].control;
            k->launch = launch;
            k->marks = 15;
            k->dropped = chance(20) == 0;
            for (int i = 0; h->costs && i < 10; i++)
                k->cost[i] = 100 + 16 * (uint32_t)i;
            const uint64_t marks[4] = {time, time + 50, at + 20, at + 30};
            for (int m = 0; m < 4; m++) {
                k->stamps[2 * m] = (uint32_t)marks[m];
                k->stamps[2 * m + 1] = (uint32_t)(marks[m] >> 32);
            }
            if (at > end) end = at;
        }
        const dl_capture_core core = {.n_riscs = RISCS, .riscs = riscs, .events_from = time};
        check_ok(dl_capture_put_core(c, &core, &err), &err);
        time = end + 1000;
    }
    check_ok(dl_capture_put_end(c, 0, &err), &err);
    check_ok(dl_capture_commit(c, &err), &err);
    dl_capture_close(c);
    return read_bytes(path, size);
}

static void compare(const char *bytes, size_t n, unsigned number)
{
    static const dl_decode_options options[] = {{.threads = 1}, {.no_samples = true}, {.threads = 2}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        for (int listens = TEST_LISTENS_TO_NOTHING; listens <= TEST_LISTENS_TO_SUMS; listens++) {
            test_digest quick, slow;
            dl_decode_options one_by_one = options[i];
            one_by_one.path = DL_PARSE_SLOW;
            assert_int_equal(test_capture_digest(&quick, bytes, n, &options[i], (test_listens)listens),
                             DEVLOG_OK);
            /* Statistics alone are those of whoever listens to all. */
            const test_listens others = listens ? (test_listens)listens : TEST_LISTENS_TO_ALL;
            assert_int_equal(test_capture_digest(&slow, bytes, n, &one_by_one, others), DEVLOG_OK);
            if (!listens) test_digest_only_statistics(&slow);
            summed_up += quick.n_sums;
            quick.n_sums = slow.n_sums = 0;
            if (memcmp(&quick, &slow, sizeof quick) == 0) continue;
            fail_msg(
                "case %u, options %zu, listens %d: events %d markers %d rows %d tables %d losses %d keys %d differ",
                number, i, listens, quick.events != slow.events, quick.markers != slow.markers,
                quick.n_rows != slow.n_rows, quick.tables != slow.tables, quick.losses != slow.losses,
                quick.keys != slow.keys);
        }
}

static void the_same_again(void **state)
{
    (void)state;
    const habits all[] = {{0},
                          {.costs = true},
                          {.deep = true},
                          {.spans = true},
                          {.far = 2},
                          {.other = 2},
                          {.values = 3, .costs = true},
                          {.back = 2},
                          {.stuck = true},
                          {.spans = true, .values = 20},
                          {.far = 1, .other = 1, .values = 1, .back = 1, .costs = true},
                          {.within = 58},
                          {.within = 61},
                          {.deep = true, .costs = true},
                          {.hang = 62},
                          {.values = 30, .nameless = true}};
    const unsigned n_habits = sizeof all / sizeof all[0];
    const uint64_t from[] = {1000000, (1ull << 32) - 200000, (1ull << 52) - 100000, (5ull << 32) + 100};
    seed = 1;
    for (unsigned i = 0; i < 4 * n_habits; i++) {
        size_t size;
        char *bytes = make(&all[i % n_habits], from[i / n_habits], &size);
        compare(bytes, size, i);
        free(bytes);
    }
    if (summed_up < 10000) fail_msg("%lu zones were summed up", summed_up);
}

/* What would be read beyond its end is not plain. */
static void check_not_plain(dl_word_planes p, uint32_t n)
{
    const uint16_t others[] = {DEVLOG_CODE_ZONE - 1, DEVLOG_CODE_PRINT, DEVLOG_CODE_SUM, 0x7000},
                   was = p.heads[0];
    assert_false(dl_words_are_plain(&p, n + 1));
    p.n_rest++;
    assert_false(dl_words_are_plain(&p, n));
    p.n_rest--;
    p.n_lows--;
    assert_false(dl_words_are_plain(&p, n));
    p.n_lows++;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        p.heads[0] = others[i];
        assert_false(dl_words_are_plain(&p, n));
    }
    p.heads[0] = was;
}

/* Otherwise the comparison above compares one way with itself. */
static void shapes_are_found(void **state)
{
    (void)state;
    static uint32_t words[WORDS], room[2 * WORDS + 1], back[2 * WORDS];
    static uint8_t bytes[DL_WORDS_HEADER_BYTES + 8 * WORDS];
    static raw_look look, by_words;
    raw_known known = {0};
    kernel k;
    seed = 2;
    make_kernel(&k, false, 0);
    for (uint32_t launch = 0; launch < 6; launch++) {
        const habits h = {0};
        uint64_t time = 1000000 * (launch + 1), from = time;
        const uint32_t n = put_launch(words, &k, &h, &time);
        dl_words_split(words, n, bytes, room);
        const dl_word_planes planes = dl_words_unite(bytes, back);
        assert_true(dl_words_are_plain(&planes, n));
        check_not_plain(planes, n);
        const record_span span = {words, n};
        const record_input in = {.spans = &span, .n_spans = 1, .from = from, .until = time + 10};
        raw_place place = {.heads = planes.heads, .lows = planes.lows, .rest = planes.rest};
        raw_look_at_planes(&in, &place, &known, &look);
        raw_look_at(&in, &by_words);
        assert_true(look.ordinary && by_words.ordinary);
        assert_int_equal(look.shape != NULL, launch > 1); /* met, remembered, known */
        assert_ptr_equal(place.heads, planes.heads + planes.n_heads);
        assert_int_equal(look.last, by_words.last);
        assert_int_equal(look.counts.n_codes, by_words.counts.n_codes);
        for (uint32_t i = 0; i < look.counts.n_codes; i++) {
            const uint16_t code = look.counts.codes[i];
            assert_int_equal(code, by_words.counts.codes[i]);
            assert_int_equal(look.counts.n[code], by_words.counts.n[code]);
        }
        assert_memory_equal(look.counts.seen, by_words.counts.seen, sizeof look.counts.seen);
    }
    raw_look_free(&look);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_again),
        cmocka_unit_test(shapes_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
