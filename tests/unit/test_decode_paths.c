/* Every way of reading a log gives the same rows, events and losses: libcsv alone, our own splitting, the
 * fast path with each set of instructions, any block size, one thread or two. On whole logs of every version
 * and on thousands of damaged ones. */
#include "support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/digest.h"
#include "support/logs.h"
#include "support/random.h"
#include "support/runs.h"

enum { CASES = 700, RUNS_CASES = 300, CAP = 64 * 1024 };

static test_digest decode(const char *text, size_t n, const dl_decode_options *options)
{
    test_digest digest;
    assert_int_equal(test_digest_of(&digest, text, n, options), DEVLOG_OK);
    return digest;
}

static size_t longest_line(const char *text, size_t n)
{
    size_t longest = 0, from = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] != '\n') continue;
        if (i + 1 - from > longest) longest = i + 1 - from;
        from = i + 1;
    }
    return n - from > longest ? n - from : longest;
}

static const dl_parse_path paths[] = {DL_PARSE_BEST, DL_PARSE_SSE2, DL_PARSE_SCALAR, DL_PARSE_SLOW};
enum { PATHS = sizeof paths / sizeof paths[0] };

static void check(const test_digest *got, const test_digest *expected, const char *text, size_t n,
                  unsigned number, const dl_decode_options *options)
{
    if (memcmp(got, expected, sizeof *got) == 0) return;
    FILE *out = fopen("/tmp/test_decode_paths.csv", "w");
    if (out) fwrite(text, 1, n, out);
    if (out) fclose(out);
    fail_msg("case %u, path %d, %u threads, block %zu: events %d markers %d tables %d launches %d "
             "losses %d keys %d differ; see /tmp/test_decode_paths.csv",
             number, (int)options->path, options->threads, options->block, got->events != expected->events,
             got->markers != expected->markers, got->tables != expected->tables,
             got->launches != expected->launches, got->losses != expected->losses,
             got->keys != expected->keys);
}

/* Without listeners pairing lists nothing. */
static void compare_statistics(const char *text, size_t n, test_digest *expected, const dl_decode_options *of,
                               uint64_t *seed, unsigned number)
{
    dl_decode_options options = {.path = number % 5 < PATHS ? paths[number % 5] : DL_PARSE_CSV,
                                 .no_samples = of->no_samples,
                                 .filter = of->filter};
    test_digest_only_statistics(expected);
    for (options.threads = 1; options.threads <= 2; options.threads++) {
        test_digest got;
        options.block = longest_line(text, n) + 1 + test_random(seed) % 2000;
        assert_int_equal(test_digest_of_statistics(&got, text, n, &options), DEVLOG_OK);
        check(&got, expected, text, n, number, &options);
    }
}

static void compare(const char *text, size_t n, uint64_t *seed, unsigned number)
{
    dl_decode_options options = {
        .path = DL_PARSE_CSV, .threads = 1, .no_shapes = true, .keep_meta = number % 2 == 0};
    test_digest expected = decode(text, n, &options);
    options.no_shapes = false;
    for (size_t i = 0; i < PATHS; i++) {
        options.path = paths[i];
        options.threads = 1 + (number + i) % 2;
        options.block = longest_line(text, n) + 1 + test_random(seed) % 700;
        test_digest got = decode(text, n, &options);
        check(&got, &expected, text, n, number, &options);
    }
    compare_statistics(text, n, &expected, &options, seed, number);
}

static void whole_logs_read_the_same(void **state)
{
    (void)state;
    uint64_t seed = 1;
    uint64_t texts = 0;
    for (int kind = 0; kind < TEST_LOG_KINDS; kind++) {
        dl_str log = {0};
        test_log(&log, kind, 12, (uint64_t)kind);
        test_digest r = decode(log.text, log.len, &(dl_decode_options){.threads = 1});
        assert_true(r.n_rows > 300);
        texts += r.n_texts;
        for (unsigned i = 0; i < 4; i++)
            compare(log.text, log.len, &seed, i);
        dl_str_free(&log);
    }
    assert_true(texts > 50);
}

static void damaged_logs_read_the_same(void **state)
{
    (void)state;
    uint64_t seed = 2;
    char *text = malloc(CAP);
    assert_non_null(text);
    for (unsigned number = 0; number < test_cases(CASES); number++) {
        dl_str log = {0};
        test_log(&log, (int)(number % TEST_LOG_KINDS), 1 + (unsigned)(test_random(&seed) % 2), number);
        size_t n = log.len < CAP ? log.len : CAP;
        memcpy(text, log.text, n);
        dl_str_free(&log);
        for (uint64_t hits = 1 + test_random(&seed) % 6; hits; hits--)
            test_damage(text, &n, CAP, &seed);
        compare(text, n, &seed, number);
    }
    free(text);
}

/* A filter that lets a part of a log through, of which `all` has the extent; every second one is none. */
typedef struct some_filter {
    const char *name;
    dl_filter_range launches;
    dl_filter filter;
} some_filter;

static void choose_filter(some_filter *f, const dl_filter_seen *all, uint64_t *seed)
{
    static const char *const zones[] = {"*-FW", "BRISC-KERNEL", "TRISC*", "Z*", "NCRISC-FW"};
    static const char *const riscs[] = {"BRISC", "TRISC*", "NCRISC", "TRISC_0"};
    const uint64_t length = all->last - all->first;
    *f = (some_filter){.launches = {test_random(seed) % 4, 4 + test_random(seed) % 4}};
    switch (test_random(seed) % 12) {
    case 0: f->filter.riscs = &f->name, f->filter.n_riscs = 1, f->name = riscs[test_random(seed) % 4]; break;
    case 1: f->filter.zones = &f->name, f->filter.n_zones = 1, f->name = zones[test_random(seed) % 5]; break;
    case 2: f->filter.min_cycles = 1 + test_random(seed) % 3000; break;
    case 3: f->filter.skip_launches = 1 + test_random(seed) % 3; break;
    case 4: f->filter.launches = &f->launches, f->filter.n_launches = 1; break;
    case 5: f->filter.from = all->first + length / 4 + test_random(seed) % (length / 4 + 1); break;
    case 6: f->filter.to = all->first + length / 2 + test_random(seed) % (length / 4 + 1); break;
    default: break;
    }
}

/* The extent of a log: what filters meet. */
static dl_filter_seen extent_of(const char *text, size_t n)
{
    devlog_error err;
    dl_decode *d;
    const dl_decode_options options = {.filter.min_cycles = 1};
    assert_int_equal(dl_decode_new(&d, &options, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_memory(d, "log.csv", text, n, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    dl_filter_seen seen = dl_decode_losses(d)->seen;
    dl_decode_free(d);
    return seen;
}

/* Programs that do the same again and again are read by what they did before; here they sometimes do not. */
static void regular_logs_with_odd_rows_read_the_same(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (unsigned number = 0; number < test_cases(RUNS_CASES); number++) {
        dl_str log = {0};
        unsigned odd = number % 3 ? (unsigned)(test_random(&seed) % 12) : 0;
        test_runs(&log, 4 + (unsigned)(test_random(&seed) % 12), odd, number);
        assert_int_equal(dl_str_status(&log, NULL), DEVLOG_OK);
        const dl_filter_seen extent = extent_of(log.text, log.len);
        some_filter f;
        choose_filter(&f, &extent, &seed);
        dl_decode_options options = {.path = DL_PARSE_CSV,
                                     .threads = 1,
                                     .no_shapes = true,
                                     .no_samples = number % 7 == 0,
                                     .filter = f.filter};
        test_digest expected = decode(log.text, log.len, &options);
        options.path = paths[number % PATHS];
        options.no_shapes = false;
        options.threads = 1 + number / 2 % 2;
        options.block = longest_line(log.text, log.len) + 1 + test_random(&seed) % 2000;
        test_digest got = decode(log.text, log.len, &options);
        check(&got, &expected, log.text, log.len, number, &options);
        compare_statistics(log.text, log.len, &expected, &options, &seed, number);
        dl_str_free(&log);
    }
}

/* Lines of one length: behind the last one of a short block those of the block before it stand in the same
 * places, and must not be taken for more of them. */
static void lines_of_an_earlier_block_are_not_read(void **state)
{
    (void)state;
    uint64_t seed = 4;
    dl_str log = {0};
    dl_str_add(&log, "ARCH: grayskull, CHIP_FREQ[MHz]: 1202\n"
                     "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]\n");
    for (unsigned row = 0; row < 400; row++) {
        dl_str_fmt(&log, "0, 1, %u, BRISC, %u, %u\n", 1 + row / 4 % 8, 1 + row % 4, 1882735032 + 7 * row);
        if (row > 200) compare(log.text, log.len, &seed, row);
    }
    dl_str_free(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_logs_read_the_same),
        cmocka_unit_test(damaged_logs_read_the_same),
        cmocka_unit_test(regular_logs_with_odd_rows_read_the_same),
        cmocka_unit_test(lines_of_an_earlier_block_are_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
