/* Packed logs: whatever is packed comes back, byte for byte; whatever is wrong with a packed log is named, and
 * costs no more than the blocks in which it is. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cmocka_all.h"
#include "support/files.h"
#include "support/logs.h"
#include "support/packed.h"
#include "support/random.h"

enum { LAUNCHES = 40, SMALL_BLOCK = 2000 };

/* Packs and unpacks; returns how many bytes it was packed. */
static size_t comes_back(const char *text, size_t n, size_t block, unsigned threads)
{
    dl_str packed = {0}, back = {0};
    pk_damage damage = {0};
    assert_int_equal(test_pack(text, n, block, threads, &packed), DEVLOG_OK);
    assert_int_equal(test_unpack(packed.text, packed.len, threads, &back, &damage), DEVLOG_OK);
    assert_true(damage.findings == 0);
    assert_true(back.len == n);
    if (n) assert_memory_equal(back.text, text, n);
    const size_t size = packed.len;
    dl_str_free(&packed);
    dl_str_free(&back);
    return size;
}

static void text_comes_back(const char *text)
{
    for (size_t block = 1; block < 70; block += 17)
        comes_back(text, strlen(text), block, 1);
    comes_back(text, strlen(text), 0, 1);
}

static void logs_of_every_version_come_back(void **state)
{
    (void)state;
    for (int kind = 0; kind < TEST_LOG_KINDS; kind++) {
        dl_str log = {0};
        test_log(&log, kind, LAUNCHES, 7);
        size_t one = comes_back(log.text, log.len, 0, 1);
        assert_true(one == comes_back(log.text, log.len, 0, 2));
        comes_back(log.text, log.len, SMALL_BLOCK, 3);
        assert_true(log.len > (kind <= 2 ? 13 : 24) * one);
        dl_str_free(&log);
    }
}

static void files_of_the_tests_come_back(void **state)
{
    (void)state;
    static const char *const folders[] = {
        "tests/fuzz/corpus/device_log", "tests/fuzz/corpus/capture", "tests/golden/l2", "tests/golden/l9",
        "tests/golden/reference",       "tests/golden/traces"};
    unsigned files = 0;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        DIR *dir = opendir(folders[i]);
        assert_non_null(dir);
        for (struct dirent *e; (e = readdir(dir));) {
            char path[1024];
            size_t n;
            if (e->d_name[0] == '.') continue;
            snprintf(path, sizeof path, "%s/%s", folders[i], e->d_name);
            char *text = read_bytes(path, &n);
            comes_back(text, n, 0, 1);
            comes_back(text, n, SMALL_BLOCK, 1);
            free(text);
            files++;
        }
        closedir(dir);
    }
    assert_true(files > 20);
}

static void odd_texts_come_back(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "\n",
        "\n\n\n",
        "no line feed",
        ",",
        ",,,,,",
        ",,,,,5\n,,,,,5",
        "0,1,1,BRISC,7,100\n0,1,1,BRISC,7,100",
        "0,1,1,BRISC,7,100\r\n0,1,1,BRISC,7,101\r\n0,1,1,BRISC,7,102\r\n",
        "0,1,1,BRISC,7,0100\n0,1,1,BRISC,7,00\n0,1,1,BRISC,7,0\n0,1,1,BRISC,7,000\n",
        "0,1,1,BRISC,7,9999999999999999999\n0,1,1,BRISC,7,18446744073709551615\n0,1,1,BRISC,7,"
        "99999999999999999999999999999999999999\n",
        "0,1,1,BRISC,7,12345678\n0,1,1,BRISC,7,1234567890123456\n0,1,1,BRISC,7,12345678901234567\n",
        "0,1,1,BRISC,7,-5\n0,1,1,BRISC,7,5x\n0,1,1,BRISC,7,5 \n0,1,1,BRISC,7, 5\n0,1,1,BRISC,7,5,\n",
        "0,1,1,BRISC,7,5,6,,,7,8,,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28\n"
        "0,1,1,BRISC,7,5,6,,,7,8,,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,29\n",
        "0,1,1,B,7,5,0,,x,{\"a\":1;\"b\":[00,01,2.50,-7e3]}\n0,1,1,B,7,6,0,,x,{\"a\":2;\"b\":[00,01,2.05,-7e4]}\n",
        "a,b,c,d,e,f\n\"0,1\",1,1,BRISC,7,5\n",
        "0,1,1,BRISC,7,5\n\n0,1,1,BRISC,7,6\n \n0,1,1,BRISC,7,7",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        text_comes_back(texts[i]);
    static const char zeros[] =
        "0,1\0,1,BRISC,7,5\n0,1,1,BRI\0SC,7,5\n0,1,1,BRISC,7,5,\0\n\0\0\n0,1,1,BRISC,7,6\n\0";
    comes_back(zeros, sizeof zeros, 0, 1);
}

static void more_than_dictionaries_hold_comes_back(void **state)
{
    (void)state;
    dl_str places = {0}, templates = {0}, streams = {0}, line = {0};
    for (int i = 0; i < 10000; i++) {
        dl_str_fmt(&places, "%d,%d,1,BRISC,7,%d,0,1,,,Z,\n", i, i * 7 % 64, 5 * i);
        dl_str_fmt(&templates, "0,1,1,BRISC,%d,%d,0,1,,,Z%d,\n", i % 8, 5 * i, i * 7 % 6000);
        for (int r = 0; r < 20; r++)
            dl_str_fmt(&streams, "0,1,%d,R%d,7,%d\n", i % 4000, r, 5 * i + r);
    }
    comes_back(places.text, places.len, 0, 1);
    comes_back(templates.text, templates.len, 0, 1);
    comes_back(streams.text, streams.len, 0, 1);
    for (int n = 900; n < 1200; n += 7) {
        dl_str_clear(&line);
        for (int k = 0; k < 3; k++) {
            dl_str_fmt(&line, "0,1,1,BRISC,7,%d,", k);
            for (int i = 0; i < n; i++)
                dl_str_char(&line, 'x');
            dl_str_char(&line, '\n');
        }
        comes_back(line.text, line.len, 0, 1);
    }
    dl_str_free(&places);
    dl_str_free(&templates);
    dl_str_free(&streams);
    dl_str_free(&line);
}

/* What zstd cannot make smaller does not become larger by more than its frame. */
static void noise_comes_back(void **state)
{
    (void)state;
    uint64_t seed = 3;
    enum { N = 300000 };
    char *bytes = malloc(N);
    assert_non_null(bytes);
    for (size_t i = 0; i < N; i++)
        bytes[i] = (char)test_random(&seed);
    assert_true(comes_back(bytes, N, 0, 1) < N + 500);
    comes_back(bytes, N, 70000, 2);
    free(bytes);
}

static void damaged_logs_come_back(void **state)
{
    (void)state;
    const unsigned long cases = test_cases(300); /* by hand: ten thousand */
    uint64_t seed = 11;
    for (unsigned long i = 0; i < cases; i++) {
        dl_str log = {0};
        const size_t n = test_damaged_log(&log, i, 6, &seed);
        comes_back(log.text, n, i & 1 ? 500 + test_random(&seed) % 3000 : 0, 1 + i % 2);
        dl_str_free(&log);
    }
}

/* A packed log of several blocks. */
static void small_log(dl_str *log, dl_str *packed)
{
    test_log(log, 9, 1, 5);
    assert_int_equal(test_pack(log->text, log->len, SMALL_BLOCK, 1, packed), DEVLOG_OK);
}

/* Whether the text is the log, or what is left of it without some whole blocks. */
static bool is_without_blocks(const dl_str *log, const dl_str *text)
{
    size_t at = 0;
    for (size_t from = 0; from < log->len;) {
        const size_t left = log->len - from, cap = left < SMALL_BLOCK ? left : SMALL_BLOCK;
        const size_t n = left < SMALL_BLOCK ? left : pk_cut(log->text + from, cap);
        if (text->len - at >= n && memcmp(text->text + at, log->text + from, n) == 0) at += n;
        from += n;
    }
    return at == text->len;
}

static void a_cut_costs_what_is_behind_it(void **state)
{
    (void)state;
    dl_str log = {0}, packed = {0};
    small_log(&log, &packed);
    size_t most = 0;
    for (size_t n = 0; n < packed.len; n++) {
        dl_str back = {0};
        pk_damage damage = {0};
        uint8_t *exact = malloc(n + 1);
        assert_non_null(exact);
        memcpy(exact, packed.text, n);
        devlog_status status = test_unpack(exact, n, 1, &back, &damage);
        free(exact);
        assert_int_equal(status, n < PK_MAGIC_BYTES ? DEVLOG_ERR_FORMAT : DEVLOG_OK);
        if (!status) assert_true(damage.findings > 0);
        assert_true(back.len >= most); /* more of the file never gives less of the log */
        assert_true(back.len == 0 || memcmp(back.text, log.text, back.len) == 0);
        most = back.len;
        dl_str_free(&back);
    }
    assert_true(most == log.len); /* without its end nothing of the log is lost */
    dl_str_free(&log);
    dl_str_free(&packed);
}

static void every_flipped_bit_is_found(void **state)
{
    (void)state;
    dl_str log = {0}, packed = {0};
    small_log(&log, &packed);
    uint64_t seed = 4;
    const size_t step = getenv("DEVLOG_TEST_CASES") ? 1 : 3;
    for (size_t i = 0; i < packed.len; i += step) {
        dl_str back = {0};
        pk_damage damage = {0};
        const char bit = (char)(1 << test_random(&seed) % 8);
        packed.text[i] ^= bit;
        devlog_status status = test_unpack(packed.text, packed.len, 1 + i % 2, &back, &damage);
        packed.text[i] ^= bit;
        assert_int_equal(status, DEVLOG_OK);
        /* The eight bytes of the magic are the only ones that say nothing about the log. */
        assert_true(damage.findings > 0 || i < PK_MAGIC_BYTES);
        assert_true(damage.lost == log.len - back.len);
        assert_true(back.len + 2 * SMALL_BLOCK > log.len); /* of one block, no more */
        assert_true(is_without_blocks(&log, &back));
        dl_str_free(&back);
    }
    dl_str_free(&log);
    dl_str_free(&packed);
}

/* Blocks that are missing, twice, in another order or of another file. */
static void blocks_are_not_mixed_up(void **state)
{
    (void)state;
    dl_str log = {0}, packed = {0}, mixed = {0}, back = {0}, other = {0}, of_other = {0};
    size_t at[64], n = 0;
    small_log(&log, &packed);
    test_log(&other, 8, 1, 6);
    assert_int_equal(test_pack(other.text, other.len, SMALL_BLOCK, 1, &of_other), DEVLOG_OK);
    for (size_t i = PK_MAGIC_BYTES; i < packed.len && n < 64;) {
        pk_header h;
        assert_true(pk_header_get((const uint8_t *)packed.text + i, &h));
        at[n++] = i;
        i += PK_HEADER_BYTES + h.stored;
    }
    assert_true(n > 5);
    for (int way = 0; way < 4; way++) {
        pk_damage damage = {0};
        dl_str_clear(&mixed);
        dl_str_clear(&back);
        dl_str_add_n(&mixed, packed.text, at[2]);
        if (way == 1) dl_str_add_n(&mixed, packed.text + at[1], at[2] - at[1]);
        if (way == 2) dl_str_add_n(&mixed, packed.text + at[3], at[4] - at[3]);
        if (way == 2) dl_str_add_n(&mixed, packed.text + at[2], at[3] - at[2]);
        if (way == 3) dl_str_add_n(&mixed, of_other.text, of_other.len);
        const size_t on = way == 0 ? at[3] : way == 2 ? at[4] : at[2];
        dl_str_add_n(&mixed, packed.text + on, packed.len - on);
        assert_int_equal(test_unpack(mixed.text, mixed.len, 2, &back, &damage), DEVLOG_OK);
        assert_true(damage.findings > 0);
        assert_true(damage.lost == log.len - back.len);
        if (way & 1) assert_true(back.len == log.len);
        assert_true(is_without_blocks(&log, &back));
    }
    dl_str_free(&log);
    dl_str_free(&packed);
    dl_str_free(&mixed);
    dl_str_free(&back);
    dl_str_free(&other);
    dl_str_free(&of_other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_of_every_version_come_back),
        cmocka_unit_test(files_of_the_tests_come_back),
        cmocka_unit_test(odd_texts_come_back),
        cmocka_unit_test(more_than_dictionaries_hold_comes_back),
        cmocka_unit_test(noise_comes_back),
        cmocka_unit_test(damaged_logs_come_back),
        cmocka_unit_test(a_cut_costs_what_is_behind_it),
        cmocka_unit_test(every_flipped_bit_is_found),
        cmocka_unit_test(blocks_are_not_mixed_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
