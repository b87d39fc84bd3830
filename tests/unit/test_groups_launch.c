/* Statistics by launch: each against the samples of its launch, taken one by one; and those of the first launches against the
 * beginning of all. Not what is in other processes (test_decode_parts.c). */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "decode/analysis/groups.h"
#include "support/cmocka_all.h"
#include "support/runs.h"

enum { LOGS = 150, MOST = 4096 };

/* The samples that a key has of a launch, behind those that are there. */
static size_t samples_of(const dl_key *k, uint32_t launch, uint64_t *all, size_t n)
{
    dl_sample_walk w;
    uint64_t cycles;
    dl_sample_walk_start(&w, &k->samples);
    for (uint32_t i = 0, run = 0; k->n_runs && dl_sample_walk_next(&w, &cycles); i++) {
        while (run + 1 < k->n_runs && k->runs[run + 1].sample <= i)
            run++;
        const dl_launch_run *r = &k->runs[run];
        if (r->launch + (i - r->sample) * r->step != launch) continue;
        assert_true(n < MOST);
        all[n++] = cycles;
    }
    return n;
}

static void check_group(dl_decode *d, const dl_group *g, uint64_t seed)
{
    static uint64_t all[MOST];
    const dl_tables *t = dl_decode_tables(d);
    const dl_summary *s = &g->summary;
    size_t n = 0;
    dl_u128 sum = 0;
    for (size_t i = 0; i < dl_decode_n_keys(d); i++) {
        const dl_key *k = dl_decode_key(d, i);
        const dl_stream *of = &t->streams[k->stream];
        if (of->chip == g->chip && of->risc_name == g->risc_name && t->sites[k->site].name == g->site_name)
            n = samples_of(k, g->launch, all, n);
    }
    assert_true(n > 0);
    dl_sort_u64(all, n);
    for (size_t i = 0; i < n; i++)
        sum += all[i];
    if (s->count != n || s->sum != sum || s->min != all[0] || s->max != all[n - 1] ||
        s->median_low != all[(n - 1) / 2] || s->median_high != all[n / 2] ||
        s->p90 != all[(n * 90 + 99) / 100 - 1] || s->p99 != all[(n * 99 + 99) / 100 - 1])
        fail_msg("seed %lu: launch %u", (unsigned long)seed, g->launch);
}

static void are_those_of_its_samples(void **state)
{
    (void)state;
    uint64_t n_groups = 0;
    for (uint64_t seed = 1; seed <= LOGS; seed++) {
        devlog_error err;
        dl_decode *d;
        dl_groups all, some;
        dl_str log = {0};
        const dl_decode_options options = {.threads = 1};
        test_runs(&log, 3 + (unsigned)(seed % 20), (unsigned)(seed % 4) * 4, seed);
        assert_int_equal(dl_decode_new(&d, &options, &err), DEVLOG_OK);
        assert_int_equal(dl_decode_memory(d, "log", log.text, log.len, &err), DEVLOG_OK);
        assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
        assert_int_equal(dl_groups_by_launch(d, 0, &all, &err), DEVLOG_OK);
        for (size_t i = 0; i < all.n; i++)
            check_group(d, &all.items[i], seed);
        const uint32_t most = 1 + (uint32_t)(seed % 7);
        assert_int_equal(dl_groups_by_launch(d, most, &some, &err), DEVLOG_OK);
        uint32_t launches = 0;
        for (size_t i = 0; i < some.n; i++) {
            const dl_group *g = &some.items[i], *h = &all.items[i];
            launches += i == 0 || g->launch != some.items[i - 1].launch;
            assert_true(g->launch == h->launch && g->site_name == h->site_name &&
                        g->risc_name == h->risc_name);
            check_group(d, g, seed);
        }
        assert_true(launches <= most);
        assert_true(some.n == all.n || all.items[some.n].launch != all.items[some.n - 1].launch);
        n_groups += all.n;
        dl_groups_free(&all);
        dl_groups_free(&some);
        dl_decode_free(d);
        dl_str_free(&log);
    }
    assert_true(n_groups > LOGS * 20);
}

static const char head[] =
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, trace id, "
    "trace id counter, zone name, type, source line, source file, meta data\n";

static void row(dl_str *log, unsigned core, uint64_t time, unsigned launch, const char *zone, bool end)
{
    dl_str_fmt(log, "0,%u,1,BRISC,1,%llu,0,%u,,,%s,%s,1,a.cc,\n", core, (unsigned long long)time, launch,
               zone, end ? "ZONE_END" : "ZONE_START");
}

static void decode(dl_decode **d, const dl_str *log)
{
    devlog_error err;
    const dl_decode_options options = {.threads = 1};
    assert_int_equal(dl_decode_new(d, &options, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_memory(*d, "log", log->text, log->len, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(*d, &err), DEVLOG_OK);
}

/* Samples of a RISC in another order than launches have, which are numbered as they began elsewhere. */
static void in_another_order(void **state)
{
    (void)state;
    static const unsigned order[2][6] = {{1, 2, 3, 4, 5, 6}, {5, 6, 1, 3, 4, 2}};
    devlog_error err;
    dl_decode *d;
    dl_groups groups;
    dl_str log = {0};
    dl_str_add(&log, head);
    for (unsigned core = 0; core < 2; core++)
        for (unsigned i = 0; i < 6; i++) {
            const unsigned launch = order[core][i];
            const uint64_t from = 10000 * core + 1000 * (i + 1);
            row(&log, 1 + core, from, launch, "BRISC-FW", false);
            row(&log, 1 + core, from + 100 + 10 * core + launch, launch, "BRISC-FW", true);
        }
    decode(&d, &log);
    for (uint32_t most = 0; most < 7; most++) {
        assert_int_equal(dl_groups_by_launch(d, most, &groups, &err), DEVLOG_OK);
        assert_int_equal(groups.n, most ? most : 6);
        for (size_t i = 0; i < groups.n; i++) {
            assert_int_equal(groups.items[i].launch, i);
            check_group(d, &groups.items[i], most);
        }
        dl_groups_free(&groups);
    }
    dl_decode_free(d);
    dl_str_free(&log);
}

/* Durations of which few come to more than 64 bits. */
static void sums_of_128_bits(void **state)
{
    (void)state;
    devlog_error err;
    dl_decode *d;
    dl_groups groups;
    dl_str log = {0};
    dl_str_add(&log, head);
    for (unsigned core = 1; core <= 9; core++) {
        const uint64_t until = UINT64_C(1) << 61;
        row(&log, core, 1000 + core, 1, "BRISC-FW", false);
        row(&log, core, until + 100, 1, "BRISC-FW", true);
    }
    decode(&d, &log);
    assert_int_equal(dl_groups_by_launch(d, 0, &groups, &err), DEVLOG_OK);
    assert_int_equal(groups.n, 1);
    for (size_t i = 0; i < groups.n; i++) {
        assert_true(groups.items[i].summary.sum >> 64);
        check_group(d, &groups.items[i], 0);
    }
    dl_groups_free(&groups);
    dl_decode_free(d);
    dl_str_free(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(are_those_of_its_samples),
                                       cmocka_unit_test(in_another_order),
                                       cmocka_unit_test(sums_of_128_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
