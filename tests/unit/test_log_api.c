/* devlog/decode.h: batches hold every event of the decoder, statistics are those of the batches, findings
 * those of the decoder; filters, closing in the middle, files that are not there. Not for what the decoder
 * makes of a log: its own tests say that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "devlog/decode.h"

#include "decode/decode.h"
#include "support/cli.h"
#include "support/events.h"
#include "support/files.h"
#include "support/logs.h"

/* A number for a sequence of numbers, which depends on their order. */
static void mix(uint64_t *digest, uint64_t number)
{
    *digest = (*digest ^ number) * UINT64_C(0x9E3779B97F4A7C15);
    *digest ^= *digest >> 29;
}

typedef struct digests {
    uint64_t zones, values, n;
} digests;

static devlog_status on_events(void *ctx, const dl_event *events, size_t n, devlog_error *err)
{
    (void)err;
    digests *d = ctx;
    for (const dl_event *e = events; e < events + n; e++) {
        bool zone = e->kind == DL_EVENT_ZONE;
        uint64_t *to = zone ? &d->zones : &d->values;
        mix(to, zone ? e->start : e->data);
        mix(to, e->end);
        mix(to, e->stream);
        mix(to, e->site);
        mix(to, e->launch);
        mix(to, zone ? e->depth : e->meta);
    }
    d->n += n;
    return DEVLOG_OK;
}

static digests by_decoder(const char *const *paths, size_t n, unsigned threads, uint64_t found[2])
{
    devlog_error err = {0};
    digests got = {0};
    dl_decode *d;
    const dl_decode_options options = {.threads = threads, .keep_meta = true};
    assert_int_equal(dl_decode_new(&d, &options, &err), DEVLOG_OK);
    test_events_to(d, &got, on_events);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(dl_decode_file(d, paths[i], &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    const dl_losses *l = dl_decode_losses(d);
    found[0] = dl_losses_skipped(l);
    found[1] = 0;
    for (int i = 0; i < DL_FINDINGS; i++)
        found[1] += l->found[i];
    dl_decode_free(d);
    return got;
}

/* What a caller can see of a log, batch by batch. */
static digests by_batches(devlog_log *log)
{
    devlog_error err = {0};
    devlog_batch b;
    digests got = {0};
    for (;;) {
        assert_int_equal(devlog_log_next(log, &b, &err), DEVLOG_OK);
        if (b.last) break;
        for (size_t i = 0; i < b.zones.count; i++) {
            const uint64_t of[] = {b.zones.start[i], b.zones.end[i],    b.zones.stream[i],
                                   b.zones.zone[i],  b.zones.launch[i], b.zones.depth[i]};
            for (size_t k = 0; k < sizeof of / sizeof of[0]; k++)
                mix(&got.zones, of[k]);
            /* Numbers may be looked up at once. */
            assert_true(b.zones.stream[i] < devlog_log_streams(log) &&
                        b.zones.zone[i] < devlog_log_zones(log));
            assert_true(b.zones.launch[i] == DEVLOG_NO_LAUNCH ||
                        b.zones.launch[i] < devlog_log_launches(log));
            assert_true(devlog_log_stream(log, b.zones.stream[i]).risc[0] != '\0');
        }
        for (size_t i = 0; i < b.values.count; i++) {
            const uint64_t of[] = {b.values.data[i], b.values.time[i],   b.values.stream[i],
                                   b.values.zone[i], b.values.launch[i], b.values.text[i]};
            for (size_t k = 0; k < sizeof of / sizeof of[0]; k++)
                mix(&got.values, of[k]);
            assert_non_null(devlog_log_text(log, b.values.text[i]));
        }
        got.n += b.zones.count + b.values.count;
    }
    /* And again: it stays the last. */
    assert_int_equal(devlog_log_next(log, &b, &err), DEVLOG_OK);
    assert_true(b.last && b.zones.count == 0 && b.values.count == 0);
    return got;
}

static const char *write_log(const char *name, int kind, unsigned launches, uint64_t seed)
{
    dl_str text = {0};
    test_log(&text, kind, launches, seed);
    const char *path = in_scratch(name);
    write_text(path, text.text);
    dl_str_free(&text);
    return path;
}

/* Logs of every version, small ones and ones of several batches, on one thread and on two, and two files as
 * one log. */
static void batches_hold_every_event(void **state)
{
    (void)state;
    for (int kind = 0; kind < TEST_LOG_KINDS; kind++) {
        for (unsigned threads = 1; threads <= 2; threads++) {
            char first[300], second[300];
            snprintf(first, sizeof first, "%s", write_log("first.csv", kind, 1200, 7 + (unsigned)kind));
            snprintf(second, sizeof second, "%s", write_log("second.csv", kind, 3, 70 + (unsigned)kind));
            const char *const paths[] = {first, second};
            const devlog_log_options options = DEVLOG_LOG_OPTIONS(.threads = threads);
            devlog_error err = {0};
            uint64_t found[2], skipped = 0, other = 0;
            const digests expected = by_decoder(paths, 2, threads, found);
            devlog_log *log;
            assert_int_equal(devlog_log_open(paths, 2, &options, &log, &err), DEVLOG_OK);
            const digests got = by_batches(log);
            assert_true(got.n == expected.n && got.n > 20000);
            assert_true(got.zones == expected.zones && got.values == expected.values);
            for (size_t i = 0; i < devlog_log_findings(log); i++) {
                const devlog_finding f = devlog_log_finding(log, i);
                bool is_skip = false;
                for (int s = 0; s < DL_SKIPS; s++)
                    is_skip |= strcmp(f.key, dl_skip_key((dl_skip)s)) == 0;
                *(is_skip ? &skipped : &other) += f.count;
                assert_true(f.text[0] != '\0' && f.count > 0);
            }
            assert_true(skipped == found[0] && other == found[1]);
            devlog_log_close(log);
        }
    }
}

/* Statistics from the batches, group by group, against those of the library. */
static void statistics_are_of_the_batches(void **state)
{
    (void)state;
    const char *path = write_log("log.csv", 9, 300, 3);
    devlog_error err = {0};
    const devlog_statistics *rows;
    size_t n;
    for (int g = DEVLOG_BY_RISC; g <= DEVLOG_BY_CORE; g++) {
        devlog_log *log, *again;
        assert_int_equal(devlog_log_open(&path, 1, NULL, &log, &err), DEVLOG_OK);
        assert_int_equal(devlog_log_statistics(log, (devlog_grouping)g, &rows, &n, &err), DEVLOG_ERR_STATE);
        assert_int_equal(devlog_log_finish(log, &err), DEVLOG_OK);
        assert_int_equal(devlog_log_statistics(log, (devlog_grouping)g, &rows, &n, &err), DEVLOG_OK);
        assert_true(n > 4);
        uint64_t zones = 0;
        for (size_t r = 0; r < n; r++) {
            devlog_batch b;
            uint64_t count = 0, total = 0, min = UINT64_MAX, max = 0;
            assert_int_equal(devlog_log_open(&path, 1, NULL, &again, &err), DEVLOG_OK);
            while (!devlog_log_next(again, &b, &err) && !b.last) {
                for (size_t i = 0; i < b.zones.count; i++) {
                    const devlog_stream s = devlog_log_stream(again, b.zones.stream[i]);
                    uint64_t cycles = b.zones.end[i] - b.zones.start[i];
                    if (s.chip != rows[r].chip || strcmp(s.risc, rows[r].risc) != 0 ||
                        (g == DEVLOG_BY_CORE && b.zones.stream[i] != rows[r].stream) ||
                        strcmp(devlog_log_zone(again, b.zones.zone[i]).name, rows[r].zone) != 0)
                        continue;
                    count++;
                    total += cycles;
                    min = cycles < min ? cycles : min;
                    max = cycles > max ? cycles : max;
                }
            }
            assert_true(rows[r].count == count && rows[r].total_low == total && rows[r].total_high == 0);
            assert_true(rows[r].min == min && rows[r].max == max);
            assert_true(rows[r].median >= (double)min && rows[r].median <= (double)max);
            zones += count;
            devlog_log_close(again);
            if (r > 20) break; /* enough */
        }
        assert_true(zones > 100);
        devlog_log_close(log);
    }
}

static size_t count_zones(const devlog_log_options *options, const char *path)
{
    devlog_error err = {0};
    devlog_log *log;
    devlog_batch b;
    size_t n = 0;
    assert_int_equal(devlog_log_open(&path, 1, options, &log, &err), DEVLOG_OK);
    while (!devlog_log_next(log, &b, &err) && !b.last)
        n += b.zones.count;
    devlog_log_close(log);
    return n;
}

static void filters_are_those_of_the_command(void **state)
{
    (void)state;
    const char *path = write_log("log.csv", 9, 40, 5), *const riscs[] = {"BRISC"}, *const none[] = {"FOO"};
    devlog_error err = {0};
    devlog_log *log;
    assert_int_equal(devlog_log_open(&path, 1, NULL, &log, &err), DEVLOG_OK);
    assert_int_equal(devlog_log_finish(log, &err), DEVLOG_OK);
    const uint64_t id = devlog_log_launch(log, 2).run_host_id;
    devlog_log_close(log);
    const devlog_range launches[] = {{id, id}};
    size_t all = count_zones(NULL, path);
    size_t brisc = count_zones(&(devlog_log_options)DEVLOG_LOG_OPTIONS(.riscs = riscs, .n_riscs = 1), path);
    size_t some =
        count_zones(&(devlog_log_options)DEVLOG_LOG_OPTIONS(.launches = launches, .n_launches = 1), path);
    assert_true(brisc > 0 && brisc < all && some > 0 && some < all);
    assert_int_equal(count_zones(&(devlog_log_options)DEVLOG_LOG_OPTIONS(.riscs = none, .n_riscs = 1), path),
                     0);
}

/* A caller may lose interest after any batch. */
static void closing_in_the_middle(void **state)
{
    (void)state;
    const char *path = write_log("log.csv", 9, 3000, 5);
    for (unsigned threads = 1; threads <= 2; threads++) {
        for (int batches = 0; batches < 6; batches++) {
            const devlog_log_options options = DEVLOG_LOG_OPTIONS(.threads = threads);
            devlog_error err = {0};
            devlog_log *log;
            devlog_batch b;
            assert_int_equal(devlog_log_open(&path, 1, &options, &log, &err), DEVLOG_OK);
            for (int i = 0; i < batches; i++)
                assert_int_equal(devlog_log_next(log, &b, &err), DEVLOG_OK);
            assert_false(devlog_log_complete(log));
            devlog_log_close(log);
        }
    }
}

static void what_cannot_be_read(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_log *log = NULL;
    const char *missing = in_scratch("missing.csv"), *torn = in_scratch("torn.csv");
    assert_int_equal(devlog_log_open(&missing, 1, NULL, &log, &err), DEVLOG_ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "missing.csv"));
    assert_int_equal(devlog_log_open(NULL, 0, NULL, &log, &err), DEVLOG_ERR_ARGUMENT);
    assert_int_equal(devlog_log_open(&missing, 1, &(devlog_log_options){.threads = 1}, &log, &err),
                     DEVLOG_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "initialise it with DEVLOG_LOG_OPTIONS()"));
    const devlog_core far = {70000, 0};
    assert_int_equal(devlog_log_open(&missing, 1,
                                     &(devlog_log_options)DEVLOG_LOG_OPTIONS(.cores = &far, .n_cores = 1),
                                     &log, &err),
                     DEVLOG_ERR_ARGUMENT);
    assert_null(log);
    /* A file that is damaged is read as far as it goes, and is not complete. */
    write_text(
        torn,
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], stat value, "
        "Run ID, zone name, zone phase, source line, source file\n"
        "0,1,1,BRISC,1,100,0,1,BRISC-FW,begin,1,a.c\n"
        "0,1,1,BRISC,2,250,0,1,BRISC-FW,end,1,a.c\n"
        "0,1,1,BRISC,3,what,0,1,mine,begin,2,a.c\n");
    assert_int_equal(devlog_log_open(&torn, 1, NULL, &log, &err), DEVLOG_OK);
    assert_int_equal(devlog_log_finish(log, &err), DEVLOG_OK);
    assert_false(devlog_log_complete(log));
    assert_int_equal(devlog_log_findings(log), 1);
    const devlog_finding f = devlog_log_finding(log, 0);
    assert_true(f.loss && f.count == 1 && strstr(f.first, "torn.csv:5"));
    assert_string_equal(devlog_log_finding(log, 1).key, "");
    assert_int_equal(devlog_log_rows(log), 2);
    assert_string_equal(devlog_log_chip(log, 0).arch, "wormhole_b0");
    assert_true(devlog_log_chip(log, 0).mhz == 1000);
    assert_string_equal(devlog_log_zone(log, 99).name, "");
    devlog_log_close(log);
    devlog_log_close(NULL);
}

/* Text number i of a utf8 array. */
static void utf8(const struct ArrowArray *a, int64_t i, char out[300])
{
    const int32_t *offsets = a->buffers[1];
    assert_true(i < a->length && offsets[i + 1] - offsets[i] < 300);
    int n = offsets[i + 1] - offsets[i];
    snprintf(out, 300, "%.*s", n, (const char *)a->buffers[2] + offsets[i]);
}

/* A record batch by the rules of the interface's document, against the zones of another reader of the same
 * log. */
static size_t check_batch(const struct ArrowArray *a, devlog_log *log, const devlog_zones *z, size_t at)
{
    assert_int_equal(a->n_children, 10);
    assert_int_equal(a->n_buffers, 1);
    for (int64_t c = 0; c < a->n_children; c++) {
        assert_int_equal(a->children[c]->length, a->length);
        assert_int_equal(a->children[c]->n_buffers, 2);
        assert_int_equal(a->children[c]->offset, 0);
    }
    const struct ArrowArray *const *c = (const struct ArrowArray *const *)a->children;
    for (int64_t i = 0; i < a->length; i++, at++) {
        const devlog_stream s = devlog_log_stream(log, z->stream[at]);
        char text[300], names_seen[300];
        assert_int_equal(((const uint32_t *)c[0]->buffers[1])[i], s.chip);
        assert_int_equal(((const uint16_t *)c[1]->buffers[1])[i], s.core.x);
        assert_int_equal(((const uint16_t *)c[2]->buffers[1])[i], s.core.y);
        utf8(c[3]->dictionary, ((const int32_t *)c[3]->buffers[1])[i], text);
        assert_string_equal(text, s.risc);
        utf8(c[4]->dictionary, ((const int32_t *)c[4]->buffers[1])[i], names_seen);
        assert_string_equal(names_seen, devlog_log_zone(log, z->zone[at]).name);
        const uint8_t *valid = c[5]->buffers[0];
        bool is_valid = !valid || (valid[i / 8] >> i % 8 & 1);
        assert_int_equal(is_valid, z->launch[at] != DEVLOG_NO_LAUNCH);
        if (is_valid)
            assert_int_equal(((const uint64_t *)c[5]->buffers[1])[i],
                             devlog_log_launch(log, z->launch[at]).run_host_id);
        assert_int_equal(((const uint64_t *)c[6]->buffers[1])[i], z->start[at]);
        assert_int_equal(((const uint64_t *)c[7]->buffers[1])[i], z->end[at]);
        assert_int_equal(((const uint32_t *)c[8]->buffers[1])[i], z->depth[at]);
        assert_int_equal(((const uint32_t *)c[9]->buffers[1])[i], z->own_cost[at]);
    }
    return at;
}

static void arrow_has_the_zones(void **state)
{
    (void)state;
    const char *path = write_log("log.csv", 9, 2000, 11);
    devlog_error err = {0};
    devlog_log *log, *other;
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray array, kept = {0};
    devlog_batch b;
    size_t batches = 0;
    assert_int_equal(devlog_log_open(&path, 1, NULL, &log, &err), DEVLOG_OK);
    assert_int_equal(devlog_log_open(&path, 1, NULL, &other, &err), DEVLOG_OK);
    assert_int_equal(devlog_log_arrow(log, &stream, &err), DEVLOG_OK);
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_string_equal(schema.format, "+s");
    assert_string_equal(schema.children[4]->name, "zone");
    assert_string_equal(schema.children[4]->dictionary->format, "u");
    /* A child may be moved out, and is then released by itself: before its parent, or after it. */
    struct ArrowSchema moved = *schema.children[3], later = *schema.children[4];
    schema.children[3]->release = NULL;
    schema.children[4]->release = NULL;
    moved.release(&moved);
    schema.release(&schema);
    assert_null(schema.release);
    assert_string_equal(later.name, "zone");
    assert_string_equal(later.dictionary->format, "u");
    later.release(&later);
    for (;; batches++) {
        assert_int_equal(stream.get_next(&stream, &array), 0);
        if (!array.release) break;
        do {
            assert_int_equal(devlog_log_next(other, &b, &err), DEVLOG_OK);
        } while (!b.last && b.zones.count == 0);
        assert_int_equal(check_batch(&array, other, &b.zones, 0), b.zones.count);
        if (batches == 1)
            kept = array; /* outlives its stream and log */
        else
            array.release(&array);
    }
    assert_true(batches > 2);
    stream.release(&stream);
    assert_null(stream.release);
    devlog_log_close(log);
    devlog_log_close(other);
    char text[300];
    utf8(kept.children[4]->dictionary, 1, text);
    assert_true(text[0] != '\0');
    kept.release(&kept);
}

/* The format of texts is UTF-8, which names of a log need not be. */
static void arrow_has_utf8(void **state)
{
    (void)state;
    const char *path = in_scratch("latin.csv");
    write_text(path,
               "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
               "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
               "run host ID, zone name, type, source line, source file\n"
               "0,1,1,BRISC,10,5000,0,7,caf\xE9 \xF0\x9F\x8E\x89,ZONE_START,10,k.cc\n"
               "0,1,1,BRISC,10,5500,0,7,caf\xE9 \xF0\x9F\x8E\x89,ZONE_END,10,k.cc\n");
    devlog_error err = {0};
    devlog_log *log;
    struct ArrowArrayStream stream;
    struct ArrowArray array;
    assert_int_equal(devlog_log_open(&path, 1, NULL, &log, &err), DEVLOG_OK);
    assert_int_equal(devlog_log_arrow(log, &stream, &err), DEVLOG_OK);
    assert_int_equal(stream.get_next(&stream, &array), 0);
    char text[300];
    utf8(array.children[4]->dictionary, *(const int32_t *)array.children[4]->buffers[1], text);
    assert_string_equal(text, "caf\xEF\xBF\xBD \xF0\x9F\x8E\x89");
    array.release(&array);
    stream.release(&stream);
    devlog_log_close(log);
}

/* What a pipe gives is read once, from its first byte. */
static void a_pipe_is_a_log(void **state)
{
    (void)state;
    const char *path = write_log("plain.csv", 9, 20, 3), *names[] = {path, in_scratch("pipe")};
    uint64_t zones[2] = {0}, rows[2] = {0};
    devlog_error err = {0};
    assert_int_equal(mkfifo(names[1], 0600), 0);
    pid_t writer = fork();
    if (writer == 0) {
        execlp("sh", "sh", "-c", "exec cat \"$0\" >\"$1\"", names[0], names[1], (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 2; i++) {
        devlog_log *log;
        devlog_batch b;
        assert_int_equal(devlog_log_open(&names[i], 1, NULL, &log, &err), DEVLOG_OK);
        while (devlog_log_next(log, &b, &err) == DEVLOG_OK && !b.last)
            zones[i] += b.zones.count;
        rows[i] = devlog_log_rows(log);
        assert_true(devlog_log_complete(log));
        devlog_log_close(log);
    }
    int status;
    assert_int_equal(waitpid(writer, &status, 0), writer);
    assert_int_equal(status, 0);
    assert_true(zones[0] > 0);
    assert_int_equal(zones[1], zones[0]);
    assert_int_equal(rows[1], rows[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_hold_every_event),
        cmocka_unit_test(statistics_are_of_the_batches),
        cmocka_unit_test(filters_are_those_of_the_command),
        cmocka_unit_test(closing_in_the_middle),
        cmocka_unit_test(what_cannot_be_read),
        cmocka_unit_test(arrow_has_the_zones),
        cmocka_unit_test(arrow_has_utf8),
        cmocka_unit_test(a_pipe_is_a_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
