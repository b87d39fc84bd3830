/* Decoding a log that grows: what comes of it is what comes of the whole log, whatever pieces it grew by; a log that is
 * truncated, written anew or replaced ends it and is told. Packing such logs: test_pack_follow.c. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decode/decode.h"
#include "support/cli.h"
#include "support/files.h"
#include "support/logs.h"
#include "support/random.h"

typedef struct growing {
    dl_str text;
    size_t written;
    uint64_t seed;
    int fd;
    int trick; /* done to the log at half its length; TRICKS: none */
} growing;

enum { TRUNCATE, WRITE_ANEW, REPLACE, REMOVE, TRICKS };

static void grow(growing *g, size_t n)
{
    const size_t left = g->text.len - g->written;
    if (n > left) n = left;
    assert_true(write(g->fd, g->text.text + g->written, n) == (ssize_t)n);
    g->written += n;
}

static void begin(growing *g, int kind, uint64_t seed, size_t first)
{
    *g = (growing){.seed = seed, .trick = TRICKS};
    test_log(&g->text, kind, 30, seed);
    unlink(in_scratch("log.csv"));
    g->fd = open(in_scratch("log.csv"), O_WRONLY | O_CREAT | O_APPEND, 0644);
    assert_true(g->fd >= 0);
    grow(g, first);
}

static void end(growing *g)
{
    close(g->fd);
    dl_str_free(&g->text);
}

static void play(growing *g)
{
    if (g->trick == TRUNCATE) assert_int_equal(ftruncate(g->fd, 100), 0);
    if (g->trick == REMOVE) assert_int_equal(unlink(in_scratch("log.csv")), 0);
    if (g->trick == REPLACE) {
        write_text(in_scratch("other.csv"), "another file\n");
        assert_int_equal(rename(in_scratch("other.csv"), in_scratch("log.csv")), 0);
    }
    if (g->trick == WRITE_ANEW) { /* as long as it was, and longer */
        char *anew = strdup(g->text.text);
        for (size_t i = 0; i < g->text.len; i++)
            if (anew[i] >= '0' && anew[i] <= '8') anew[i]++;
        assert_int_equal(ftruncate(g->fd, 0), 0);
        assert_true(write(g->fd, anew, g->written + 50) == (ssize_t)(g->written + 50));
        free(anew);
    }
}

/* At the log's end: a piece more, until it is whole. */
static bool at_end(void *ctx)
{
    growing *g = ctx;
    if (g->trick != TRICKS && g->written > g->text.len / 2) {
        play(g);
        return false;
    }
    if (g->written == g->text.len) return true;
    grow(g, 1 + test_random(&g->seed) % (test_random(&g->seed) % 3 ? 900 : 40000));
    return false;
}

/* What a log comes to, as text. */
static void decoded(dl_str *out, const dl_follow *follow, unsigned threads, size_t block, bool *stopped,
                    char why[200])
{
    dl_decode *d;
    devlog_error err = {0};
    const dl_decode_options o = {.threads = threads, .block = block, .follow = follow};
    assert_int_equal(dl_decode_new(&d, &o, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_file(d, in_scratch("log.csv"), &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    const dl_losses *l = dl_decode_losses(d);
    dl_str_fmt(out, "%llu lines, %llu rows, %u launches\n", (unsigned long long)l->lines,
               (unsigned long long)l->rows, dl_decode_launches(d)->count);
    for (size_t i = 0; i < dl_decode_n_keys(d); i++) {
        const dl_key *k = dl_decode_key(d, i);
        dl_str_fmt(out, "%u %u: %llu %llu %llu %llu\n", k->stream, k->site, (unsigned long long)k->count,
                   (unsigned long long)k->sum, (unsigned long long)k->min, (unsigned long long)k->max);
    }
    for (int i = 0; i < DL_SKIPS; i++)
        if (l->skipped[i])
            dl_str_fmt(out, "%s: %llu\n", dl_skip_key((dl_skip)i), (unsigned long long)l->skipped[i]);
    for (int i = 0; i < DL_FINDINGS; i++)
        if (l->found[i])
            dl_str_fmt(out, "%s: %llu\n", dl_finding_key((dl_finding)i), (unsigned long long)l->found[i]);
    *stopped = l->stopped;
    snprintf(why, 200, "%.199s", l->details[DL_SKIPS + DL_FOUND_CORRUPT][0]);
    dl_decode_free(d);
}

static void what_grows_is_decoded_as_a_whole(void **state)
{
    (void)state;
    const uint64_t cases = test_cases(40);
    for (uint64_t i = 0; i < cases; i++) {
        growing g;
        dl_str grown = {0}, whole = {0};
        bool stopped;
        char why[200];
        uint64_t seed = i + 1;
        const size_t first = i % 5 ? (size_t)(test_random(&seed) % 2000) : 0;
        begin(&g, (int)(i % TEST_LOG_KINDS), i + 1, first);
        const dl_follow follow = {.stop = at_end, .ctx = &g, .poll_ms = 1};
        decoded(&grown, &follow, 1 + (unsigned)(i / TEST_LOG_KINDS) % 2, i % 3 ? 0 : 8192, &stopped, why);
        if (stopped) fail_msg("case %llu: %s", (unsigned long long)i, why);
        decoded(&whole, NULL, 1, 0, &stopped, why);
        if (strcmp(grown.text, whole.text) != 0)
            fail_msg("case %llu: it grew to\n%swhich is, as a whole,\n%s", (unsigned long long)i, grown.text,
                     whole.text);
        dl_str_free(&grown);
        dl_str_free(&whole);
        end(&g);
    }
}

static void logs_that_change_are_noticed(void **state)
{
    static const char *const says[TRICKS] = {[TRUNCATE] = "log.csv was truncated",
                                             [WRITE_ANEW] = "log.csv was truncated or written anew after",
                                             [REPLACE] = "log.csv was replaced by another file after",
                                             [REMOVE] = NULL};
    (void)state;
    for (int trick = 0; trick < TRICKS; trick++) {
        growing g;
        dl_str out = {0};
        bool stopped;
        char why[200];
        begin(&g, 9, 5, 1000);
        g.trick = trick;
        const dl_follow follow = {.stop = at_end, .ctx = &g, .poll_ms = 1};
        decoded(&out, &follow, 1, 0, &stopped, why);
        if (says[trick] && (!stopped || !strstr(why, says[trick]))) fail_msg("trick %d: '%s'", trick, why);
        if (!says[trick]) assert_false(stopped); /* removed: its end */
        if (strncmp(out.text, "0 lines", 7) == 0) fail_msg("trick %d: nothing was decoded", trick);
        dl_str_free(&out);
        end(&g);
    }
}

static void the_command_follows(void **state)
{
    (void)state;
    growing g;
    begin(&g, 9, 3, 0);
    grow(&g, g.text.len);
    char *whole = devlog_ok("decode log.csv -f json", 0),
         *said = devlog_ok("decode --follow --idle 1 -f json log.csv", 0);
    assert_string_equal(whole, said);
    free(said);
    /* A signal ends it, with the report. */
    char line[700];
    snprintf(line, sizeof line,
             "cd '%s' && timeout --preserve-status -s TERM 2 '%s' decode -F -f json log.csv >signalled",
             scratch(), getenv("DEVLOG_BIN"));
    assert_int_equal(system(line), 0);
    said = read_bytes(in_scratch("signalled"), NULL);
    assert_string_equal(whole, said);
    free(said);
    free(whole);
    /* No files unless it is said where. */
    free(devlog_ok("decode --follow --idle 1 log.csv", 0));
    assert_int_not_equal(access(in_scratch("generated"), F_OK), 0);
    free(devlog_ok("decode --follow --idle 1 log.csv -o out", 0));
    assert_int_equal(access(in_scratch("out/device_stats.txt"), F_OK), 0);
    devlog_fails("decode --follow - <log.csv", 2, "one device log, by name");
    devlog_fails("decode --follow log.csv log.csv", 2, "one device log, by name");
    devlog_fails("decode --idle 3 log.csv", 2, "--follow");
    devlog_fails("decode --follow --skip-warm-up log.csv", 2, "--follow knows neither");
    devlog_fails("decode --follow no.csv", 1, "no.csv");
    free(devlog_ok("pack log.csv", 0));
    devlog_fails("decode --follow --idle 1 log.csv.pack", 1, "cannot be followed");
    end(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_grows_is_decoded_as_a_whole),
        cmocka_unit_test(logs_that_change_are_noticed),
        cmocka_unit_test(the_command_follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
