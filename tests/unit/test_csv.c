/* base/csv.h against libcsv: every text of up to six bytes that mean something, long random ones, and each in blocks of any size.
 * DEVLOG_TEST_CSV=N: so many random ones. */
#include <csv.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "support/cmocka_all.h"

/* What a reader was told: cells, each with its length, and rows. */
static void note_cell(dl_str *s, const char *text, size_t n)
{
    dl_str_fmt(s, "%zu:", n);
    dl_str_add_n(s, text, n);
    dl_str_char(s, ';');
}

static void our_cell(void *ctx, const char *text, size_t n)
{
    note_cell(ctx, text, n);
}

static void our_row(void *ctx)
{
    dl_str_char(ctx, '|');
}

static void their_cell(void *bytes, size_t n, void *ctx)
{
    note_cell(ctx, bytes ? bytes : "", n);
}

static void their_row(int end, void *ctx)
{
    (void)end;
    dl_str_char(ctx, '|');
}

static unsigned random_number(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* block 0: at once; otherwise in blocks of up to so many bytes, each in memory of its own. */
static void compare(const char *text, size_t n, size_t block, unsigned seed)
{
    dl_str ours = {0}, theirs = {0};
    struct csv_parser p;
    assert_int_equal(csv_init(&p, 0), 0);
    assert_int_equal(csv_parse(&p, text, n, their_cell, their_row, &theirs), n);
    assert_int_equal(csv_fini(&p, their_cell, their_row, &theirs), 0);
    csv_free(&p);
    dl_csv c = {.cell = our_cell, .row = our_row, .ctx = &ours};
    for (size_t at = 0; at < n;) {
        size_t take = block ? 1 + random_number(&seed) % block : n;
        if (take > n - at) take = n - at;
        char *own = malloc(take);
        memcpy(own, text + at, take);
        dl_csv_feed(&c, own, take);
        free(own);
        at += take;
    }
    dl_csv_end(&c);
    dl_csv_free(&c);
    if (ours.len != theirs.len || (ours.len && memcmp(ours.text, theirs.text, ours.len) != 0))
        fail_msg("'%.*s': %s, and libcsv: %s", (int)n, text, ours.text ? ours.text : "",
                 theirs.text ? theirs.text : "");
    dl_str_free(&ours);
    dl_str_free(&theirs);
}

static const char bytes[] = "a,\"\n\r ";

static void test_all_short_texts(void **state)
{
    (void)state;
    enum { KINDS = sizeof bytes - 1, MOST = 6 };
    size_t n_texts = 1;
    for (size_t n = 1; n <= MOST; n++) {
        n_texts *= KINDS;
        for (size_t i = 0; i < n_texts; i++) {
            char text[MOST];
            size_t rest = i;
            for (size_t k = 0; k < n; k++, rest /= KINDS)
                text[k] = bytes[rest % KINDS];
            compare(text, n, 0, 0);
            if (i % 16 == 0) compare(text, n, 2, (unsigned)i);
        }
    }
}

static void test_long_texts(void **state)
{
    (void)state;
    const char *asked = getenv("DEVLOG_TEST_CSV");
    const size_t n_texts = asked ? strtoul(asked, NULL, 10) : 2000;
    unsigned seed = 4711;
    static char text[4096];
    for (size_t i = 0; i < n_texts; i++) {
        const size_t n = random_number(&seed) % sizeof text;
        const unsigned rare = 1 + random_number(&seed) % 30;
        for (size_t k = 0; k < n; k++) {
            const unsigned r = random_number(&seed);
            text[k] = r % rare == 0 ? bytes[(r >> 8) % (sizeof bytes - 1)]
                      : r % 50 == 0 ? '\t'
                                    : (char)(r >> 4);
        }
        compare(text, n, 0, seed);
        compare(text, n, 1 + random_number(&seed) % 700, seed);
    }
}

static void test_nothing(void **state)
{
    (void)state;
    dl_csv c = {.cell = our_cell, .row = our_row};
    dl_csv_feed(&c, NULL, 0);
    dl_csv_end(&c);
    dl_csv_free(&c);
    compare("", 0, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_short_texts),
        cmocka_unit_test(test_long_texts),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
