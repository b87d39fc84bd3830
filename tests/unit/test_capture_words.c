/* Words of records as captures store them: whatever they are, they come back; what is stored may be anything;
 * and captures of before they were sorted are read as ever. */
#include <stdlib.h>
#include <string.h>

#include "decode/capture/capture_words.h"
#include "decode/decode.h"
#include "devlog/record.h"
#include "support/cmocka_all.h"
#include "support/files.h"
#include "support/logs.h"

enum { WORDS = 64 };

/* Words that are records, look like records, or neither; in memory of exactly their size, so that sanitizers
 * see what reads past them. */
static uint32_t *random_words(size_t n, uint64_t *seed)
{
    uint32_t *words = malloc(n ? n * 4 : 1);
    assert_non_null(words);
    for (size_t i = 0; i < n; i++) {
        uint64_t r = test_random(seed);
        uint32_t code = (uint32_t)(r >> 40) & 0xFFF, word = (uint32_t)r;
        if (r >> 60 < 4) code = DEVLOG_CODE_PRINT + code % (DEVLOG_CODE_END - DEVLOG_CODE_PRINT);
        if (r >> 60 < 8) word = word & ~0xFFFu;
        words[i] = r >> 60 < 2 ? word % 12 : (word & ~0xFFFu) | code;
    }
    return words;
}

static void words_come_back(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 40000; i++) {
        size_t n = test_random(&seed) % (WORDS + 1);
        uint32_t *words = random_words(n, &seed), *room = malloc(8 * n + 1), *back = malloc(4 * n + 1);
        uint8_t *bytes = malloc(dl_words_bound(n));
        assert_true(room && back && bytes);
        size_t size = dl_words_split(words, n, bytes, room);
        assert_true(size <= dl_words_bound(n));
        bytes = realloc(bytes, size);
        assert_non_null(bytes);
        assert_true(dl_words_count(bytes, size) == n);
        assert_true(dl_words_join(bytes, back, n, room));
        assert_memory_equal(back, words, 4 * n);
        assert_true(dl_words_count(bytes, size - 1 - test_random(&seed) % size) == SIZE_MAX);
        free(words);
        free(room);
        free(back);
        free(bytes);
    }
}

static void ordinary_records_are_sorted_as_documented(void **state)
{
    (void)state;
    /* A zone, in it a complete zone that took 5 cycles and a value, padding. */
    const uint32_t words[] = {0x00002010, 0x100, 0x00002802, 0x130, 0x12B, 0x00002E00, 0x10131, 77, 0};
    enum { N = sizeof words / sizeof words[0] };
    static const uint8_t expected[] = {
        N,    0,    0,    0,    4, 0, 0, 0, 3, 0, 0, 0, 5, 0, 0, 0, /* how many words, heads, lows, rest */
        0x10, 0x02, 0x00, 0x00,                                     /* heads: the first is far, */
        0x80, 0x08, 0x0E, 0x80,                                     /* and so is the padding */
        0x00, 0x30, 0xFF,          /* low halves, each less the one before; */
        0x01, 0x00, 0xFF,          /* the last of them is too far off */
        0x02, 5,    0x01, 77,   0, /* high bits, a duration, a low half, a value, high bits: the lowest bytes
                                    */
        0,    0,    0,    0,    0, /* the next */
        0,    0,    1,    0,    0, /* the next */
        0,    0,    0,    0,    0, /* the highest */
    };
    uint8_t bytes[DL_WORDS_HEADER_BYTES + 8 * N];
    uint32_t room[2 * N];
    assert_true(dl_words_split(words, N, bytes, room) == sizeof expected);
    assert_memory_equal(bytes, expected, sizeof expected);
}

static void any_bytes_are_refused_or_read(void **state)
{
    (void)state;
    uint64_t seed = 2;
    unsigned good = 0, refused = 0;
    for (int i = 0; i < 40000; i++) {
        size_t n = test_random(&seed) % (WORDS + 1);
        uint32_t *words = random_words(n, &seed), *room = malloc(8 * n + 1);
        uint8_t *bytes = malloc(dl_words_bound(n));
        assert_true(room && bytes);
        size_t size = dl_words_split(words, n, bytes, room);
        for (size_t hits = test_random(&seed) % 4; hits; hits--) {
            size_t at = test_random(&seed) % (hits % 2 ? DL_WORDS_HEADER_BYTES : size);
            bytes[at] = (uint8_t)(bytes[at] + (hits & 2 ? test_random(&seed) : 2 - test_random(&seed) % 5));
        }
        /* Other numbers of each that need as many bytes. */
        if (i % 4 == 0 && bytes[4] && bytes[8]) bytes[4]--, bytes[8]--, bytes[12]++;
        bytes = realloc(bytes, size);
        assert_non_null(bytes);
        size_t count = dl_words_count(bytes, size);
        assert_true(count == SIZE_MAX || count <= size / 2); /* or it would take much memory */
        uint32_t *to = malloc(count < 256 ? 4 * count + 1 : 1),
                 *space = malloc(count < 256 ? 8 * count + 1 : 1);
        bool joined = count < 256 && dl_words_join(bytes, to, count, space);
        free(to);
        free(space);
        good += joined;
        refused += !joined;
        free(words);
        free(room);
        free(bytes);
    }
    assert_true(good > 1000 && refused > 1000);
}

static void older_captures_are_read(void **state)
{
    (void)state;
    size_t n;
    devlog_error err = {0};
    dl_decode *d;
    char *bytes = read_bytes("tests/fuzz/corpus/capture/launches-1", &n);
    bool version_1 = false; /* of a frame with the words of a core */
    for (size_t i = 0; i + 6 < n; i++)
        version_1 |= memcmp(bytes + i, "DLF1\4\1", 6) == 0;
    assert_true(version_1);
    assert_int_equal(dl_decode_new(&d, NULL, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_memory(d, "old", bytes, n, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    const dl_losses *l = dl_decode_losses(d);
    assert_int_equal(l->rows, 156);
    assert_int_equal(l->found[DL_FOUND_CORRUPT] + l->found[DL_FOUND_NEWER] + l->found[DL_FOUND_DAMAGED_WORDS],
                     0);
    dl_decode_free(d);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_come_back),
        cmocka_unit_test(ordinary_records_are_sorted_as_documented),
        cmocka_unit_test(any_bytes_are_refused_or_read),
        cmocka_unit_test(older_captures_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
