/* Logs and captures of any bytes through devlog/decode.h: numbers in batches are of something that can be looked up, statistics
 * are those of the zones in the batches, and Arrow has the same zones. The first byte says what is asked for. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "devlog/decode.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
    if (!good) abort();
}

/* What zones come to. */
typedef struct sums {
    uint64_t count, total, min, max;
} sums;

static void add(sums *s, uint64_t count, uint64_t total, uint64_t min, uint64_t max)
{
    if (!count) return;
    if (!s->count || min < s->min) s->min = min;
    if (max > s->max) s->max = max;
    s->count += count;
    s->total += total;
}

static void look_up(const devlog_log *log, uint32_t stream, uint32_t zone, uint32_t launch)
{
    check(stream < devlog_log_streams(log) && zone < devlog_log_zones(log));
    check(launch == DEVLOG_NO_LAUNCH || launch < devlog_log_launches(log));
    const devlog_stream s = devlog_log_stream(log, stream);
    check(s.risc && devlog_log_zone(log, zone).name && devlog_log_zone(log, zone).file);
    if (launch != DEVLOG_NO_LAUNCH) check(devlog_log_launch(log, launch).chip == s.chip);
}

static void take_batch(const devlog_log *log, const devlog_batch *b, sums *all)
{
    const devlog_zones *z = &b->zones;
    const devlog_values *v = &b->values;
    for (size_t i = 0; i < z->count; i++) {
        check(z->start[i] <= z->end[i]);
        look_up(log, z->stream[i], z->zone[i], z->launch[i]);
        const uint64_t cycles = z->end[i] - z->start[i];
        check(z->own_cost[i] <= cycles);
        add(all, 1, cycles, cycles, cycles);
    }
    for (size_t i = 0; i < v->count; i++) {
        check(v->kind[i] <= DEVLOG_VALUE_DROPPED && devlog_log_text(log, v->text[i]));
        look_up(log, v->stream[i], v->zone[i], v->launch[i]);
    }
}

static void check_statistics(devlog_log *log, const sums *all, const devlog_log_options *o)
{
    static const devlog_grouping groupings[] = {DEVLOG_BY_RISC, DEVLOG_BY_CORE, DEVLOG_BY_LAUNCH};
    for (size_t g = 0; g < sizeof groupings / sizeof groupings[0]; g++) {
        const devlog_statistics *rows;
        size_t n;
        sums got = {0};
        devlog_error err;
        check(devlog_log_statistics(log, groupings[g], &rows, &n, &err) == DEVLOG_OK);
        for (size_t i = 0; i < n; i++) {
            const devlog_statistics *r = &rows[i];
            check(r->risc && r->zone && r->count && r->min <= r->max);
            if (!o->no_quantiles)
                check(r->min <= r->p90 && r->p90 <= r->p95 && r->p95 <= r->p99 && r->p99 <= r->max);
            add(&got, r->count, r->total_low, r->min, r->max);
        }
        if (groupings[g] == DEVLOG_BY_LAUNCH) continue; /* of firmware and kernels alone */
        check(got.count == all->count);
        if (!o->subtract_cost) check(memcmp(&got, all, sizeof got) == 0);
    }
}

static devlog_log *open_log(const char *path, const devlog_log_options *o)
{
    devlog_log *log;
    devlog_error err;
    return devlog_log_open(&path, 1, o, &log, &err) == DEVLOG_OK ? log : NULL;
}

/* False: it cannot be read to its end. */
static bool read_batches(const char *path, const devlog_log_options *o, sums *all)
{
    devlog_batch b = {0};
    devlog_error err;
    devlog_status status;
    devlog_log *log = open_log(path, o);
    if (!log) return false;
    while (!(status = devlog_log_next(log, &b, &err)) && !b.last)
        take_batch(log, &b, all);
    if (!status) {
        check_statistics(log, all, o);
        if (devlog_log_rows(log)) fuzz_got_inside();
    }
    bool lost = false;
    for (size_t i = 0; i < devlog_log_findings(log); i++) {
        const devlog_finding f = devlog_log_finding(log, i);
        check(f.key && f.text && f.first && f.count);
        lost |= f.loss;
    }
    check(status || devlog_log_complete(log) == !lost);
    for (size_t i = 0; i < devlog_log_chips(log); i++) {
        double ns, error;
        const devlog_chip c = devlog_log_chip(log, (uint32_t)i);
        check(c.arch != NULL);
        (void)devlog_log_host_ns(log, c.chip, all->max, &ns, &error);
    }
    devlog_log_close(log);
    return !status;
}

/* A dictionary's texts; `index`: into them. */
static void check_dictionary(const struct ArrowArray *column, int64_t i)
{
    const struct ArrowArray *d = column->dictionary;
    const int32_t *offsets = d->buffers[1], index = ((const int32_t *)column->buffers[1])[i];
    check(index >= 0 && index < d->length && offsets[index] >= 0 && offsets[index] <= offsets[index + 1]);
    for (int32_t k = offsets[index]; k < offsets[index + 1]; k++)
        check(((const char *)d->buffers[2])[k] != '\0');
}

static void check_array(const struct ArrowArray *a, sums *all)
{
    enum { RISC = 3, ZONE = 4, START = 6, END = 7 };
    const uint64_t *start = a->children[START]->buffers[1], *end = a->children[END]->buffers[1];
    for (int64_t i = 0; i < a->length; i++) {
        const uint64_t cycles = end[i] - start[i];
        add(all, 1, cycles, cycles, cycles);
        check_dictionary(a->children[RISC], i);
        check_dictionary(a->children[ZONE], i);
    }
}

static void read_arrow(const char *path, const devlog_log_options *o, const sums *expected)
{
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray array;
    devlog_error err;
    sums all = {0};
    devlog_log *log = open_log(path, o);
    check(log && devlog_log_arrow(log, &stream, &err) == DEVLOG_OK);
    check(stream.get_schema(&stream, &schema) == 0);
    schema.release(&schema);
    for (;;) {
        check(stream.get_next(&stream, &array) == 0);
        if (!array.release) break;
        check_array(&array, &all);
        array.release(&array);
    }
    stream.release(&stream);
    devlog_log_close(log);
    check(memcmp(&all, expected, sizeof all) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const zones[] = {"a", "*-FW", "BRISC-KERNEL"}, *const riscs[] = {"TRISC*", "BRISC"};
    static const devlog_range launches = {1, 8};
    char path[64];
    sums all = {0};
    if (size == 0) return 0;
    const uint8_t asked = data[0];
    const devlog_log_options o =
        DEVLOG_LOG_OPTIONS(.zones = zones, .n_zones = asked & 1 ? 3 : 0, .riscs = riscs,
                           .n_riscs = asked & 2 ? 2 : 0, .launches = &launches,
                           .n_launches = asked & 4 ? 1 : 0, .min_cycles = asked & 8 ? 12 : 0,
                           .subtract_cost = asked & 16, .no_quantiles = asked & 32, .threads = 1);
    const int fd = memfd_create("log", 0);
    check(fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)(size - 1));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (read_batches(path, &o, &all)) read_arrow(path, &o, &all);
    close(fd);
    return 0;
}
