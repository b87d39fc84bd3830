/* Every way of reading a log gives the same rows, events and losses: libcsv alone, our own splitting, the
 * fast path with each set of instructions, any block size, one thread or two. On whole logs of every version
 * and on thousands of damaged ones. */
#include "support/decode_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/decode.h"
#include "support/logs.h"

enum { CASES = 1000, CAP = 64 * 1024 };

/* Everything that a decoder has to say, as one number for each part. */
typedef struct result {
    uint64_t rows, events, markers, tables, launches, losses, keys;
    uint64_t n_rows;
} result;

static uint64_t mix(uint64_t h, const void *bytes, size_t n)
{
    return dl_hash_u64(h ^ dl_hash_bytes(bytes, n));
}

static uint64_t mix_text(uint64_t h, const char *text)
{
    return text ? mix(h, text, strlen(text)) : h + 1;
}

static devlog_status on_rows(void *ctx, const dl_row *rows, size_t n, devlog_error *err)
{
    (void)err;
    result *r = ctx;
    for (size_t i = 0; i < n; i++)
        r->rows = mix(r->rows, &rows[i], sizeof rows[i]);
    r->n_rows += n;
    return DEVLOG_OK;
}

static devlog_status on_events(void *ctx, const dl_event *events, size_t n, devlog_error *err)
{
    (void)err;
    result *r = ctx;
    for (size_t i = 0; i < n; i++)
        r->events = mix(r->events, &events[i], sizeof events[i]);
    return DEVLOG_OK;
}

static devlog_status on_marker(void *ctx, const dl_marker *m, devlog_error *err)
{
    (void)err;
    result *r = ctx;
    const uint64_t parts[] = {m->time, m->data, m->stream, m->site, m->launch, m->timer_id, m->type};
    r->markers = mix(r->markers, parts, sizeof parts);
    return DEVLOG_OK;
}

static void take_tables(result *r, const dl_tables *t)
{
    for (uint32_t i = 0; i < t->n_chips; i++) {
        const uint64_t chip[] = {t->chips[i].id, t->chips[i].freq_khz, t->chips[i].max_cores};
        r->tables = mix(mix_text(r->tables, dl_text(t, t->chips[i].arch)), chip, sizeof chip);
    }
    for (uint32_t i = 0; i < t->n_streams; i++) {
        const dl_stream *s = &t->streams[i];
        const uint64_t stream[] = {s->chip, s->core_x, s->core_y, s->risc};
        r->tables = mix(mix_text(r->tables, dl_text(t, s->risc_name)), stream, sizeof stream);
    }
    for (uint32_t i = 0; i < t->n_sites; i++) {
        const uint64_t site[] = {t->sites[i].line, t->sites[i].role};
        r->tables = mix(mix_text(r->tables, dl_text(t, t->sites[i].name)), site, sizeof site);
        r->tables = mix_text(r->tables, dl_text(t, t->sites[i].file));
    }
}

static void take_losses(result *r, const dl_losses *l)
{
    const uint64_t totals[] = {l->lines, l->rows, l->rows_filtered, l->zones_filtered, l->stopped};
    r->losses = mix(r->losses, totals, sizeof totals);
    r->losses = mix(r->losses, l->skipped, sizeof l->skipped);
    r->losses = mix(r->losses, l->found, sizeof l->found);
    for (int kind = 0; kind < DL_SKIPS + DL_FINDINGS; kind++)
        for (int i = 0; i < DL_DETAILS_PER_KIND; i++)
            r->losses = mix_text(r->losses, l->details[kind][i]);
}

static void take_keys(result *r, const dl_decode *d)
{
    for (size_t i = 0; i < dl_decode_n_keys(d); i++) {
        const dl_key *k = dl_decode_key(d, i);
        const uint64_t key[] = {k->count, k->min, k->max, k->first, (uint64_t)k->sum, k->stream, k->site};
        r->keys = mix(r->keys, key, sizeof key);
        dl_sample_walk w;
        uint64_t value;
        dl_sample_walk_start(&w, &k->samples);
        while (dl_sample_walk_next(&w, &value))
            r->keys = mix(r->keys, &value, sizeof value);
    }
    const dl_launches *l = dl_decode_launches(d);
    for (uint32_t i = 0; i < l->count; i++) {
        const dl_launch *one = &l->items[i];
        const uint64_t launch[] = {
            one->run_host_id,    one->chip,        one->run_id,  one->trace_id, one->trace_counter,
            one->first_fw_start, one->last_fw_end, one->has_ids, one->op,       one->run};
        r->launches = mix(r->launches, launch, sizeof launch);
    }
}

static result decode(const char *text, size_t n, const dl_decode_options *options)
{
    result r = {0};
    devlog_error err = {0};
    dl_decode *d;
    assert_int_equal(dl_decode_new(&d, options, &err), DEVLOG_OK);
    dl_decode_row_sink(d, (dl_row_sink){&r, on_rows});
    dl_decode_event_sink(d, (dl_event_sink){&r, on_events});
    dl_decode_marker_sink(d, (dl_marker_sink){&r, on_marker});
    /* Two inputs, so that what is remembered of the first is tried on the second. */
    size_t half = n / 2;
    while (half < n && half && text[half - 1] != '\n')
        half++;
    assert_int_equal(dl_decode_memory(d, "one.csv", text, half, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_memory(d, "two.csv", text + half, n - half, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_memory(d, "all.csv", text, n, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    take_tables(&r, dl_decode_tables(d));
    take_losses(&r, dl_decode_losses(d));
    take_keys(&r, d);
    dl_decode_free(d);
    return r;
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

static void compare(const char *text, size_t n, uint64_t *seed, unsigned number)
{
    dl_decode_options options = {.path = DL_PARSE_CSV, .threads = 1, .keep_meta = number % 2 == 0};
    result expected = decode(text, n, &options);
    for (size_t i = 0; i < PATHS; i++) {
        options.path = paths[i];
        options.threads = 1 + (number + i) % 2;
        options.block = longest_line(text, n) + 1 + test_random(seed) % 700;
        result got = decode(text, n, &options);
        if (memcmp(&got, &expected, sizeof got) == 0) continue;
        FILE *out = fopen("/tmp/test_decode_paths.csv", "w");
        if (out) fwrite(text, 1, n, out);
        if (out) fclose(out);
        fail_msg(
            "case %u, path %d, %u threads, block %zu: rows %d events %d markers %d tables %d launches %d "
            "losses %d keys %d differ; see /tmp/test_decode_paths.csv",
            number, (int)paths[i], options.threads, options.block, got.rows != expected.rows,
            got.events != expected.events, got.markers != expected.markers, got.tables != expected.tables,
            got.launches != expected.launches, got.losses != expected.losses, got.keys != expected.keys);
    }
}

static void whole_logs_read_the_same(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int kind = 0; kind < TEST_LOG_KINDS; kind++) {
        dl_str log = {0};
        test_log(&log, kind, 12, (uint64_t)kind);
        result r = decode(log.text, log.len, &(dl_decode_options){.threads = 1});
        assert_true(r.n_rows > 300);
        for (unsigned i = 0; i < 4; i++)
            compare(log.text, log.len, &seed, i);
        dl_str_free(&log);
    }
}

static void damaged_logs_read_the_same(void **state)
{
    (void)state;
    uint64_t seed = 2;
    char *text = malloc(CAP);
    assert_non_null(text);
    for (unsigned number = 0; number < CASES; number++) {
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_logs_read_the_same),
        cmocka_unit_test(damaged_logs_read_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
