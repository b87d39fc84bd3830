/* Firmware, kernel.h and what the host does, on the simulator's strict model of both chips: accesses overtake each other and caches
 * keep what is old wherever the documents allow it, and everything is right all the same. What a chip would not survive is refused.
 * What it is not: a test of the model (test_sim_strict.c), or of single fences (test_ordering_places.c). DEVLOG_TEST_SEEDS: how many
 * seeds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cli.h"
#include "support/trial.h"

static const devlog_core first = {0, 0}, second = {1, 0};

static const char *const boards[] = {"wormhole_b0", "blackhole"};

static unsigned seeds(unsigned few)
{
    const char *n = getenv("DEVLOG_TEST_SEEDS");
    return n ? (unsigned)strtoul(n, NULL, 10) : few;
}

static void everything_is_right(void **state)
{
    (void)state;
    const unsigned n = seeds(3);
    const bool many = n > 3; /* each program more has to be compiled */
    for (size_t b = 0; b < 2; b++) {
        uint64_t most = 0;
        for (unsigned seed = 0; seed < n; seed++) {
            trial t;
            bool ok = trial_everything(&t, boards[b], seed);
            if (t.cycles > most) most = t.cycles;
            if (!ok || !trial_replaced(&t, boards[b], seed) || !trial_frozen(&t, boards[b], seed) ||
                (many && !trial_pipeline(&t, boards[b], seed)))
                fail_msg("%s, DEVLOG_SIM=strict=%u: %s", boards[b], seed, t.wrong);
            if (seed % 100 == 99) printf("%s: %u seeds are right\n", boards[b], seed + 1), fflush(stdout);
        }
        printf("%s: %u seeds, at most %llu cycles\n", boards[b], n, (unsigned long long)most);
        fflush(stdout);
        assert_true(most < TRIAL_LIMIT * 3 / 4);
    }
}

/* ---- What the simulator does not let pass ---- */

/* One kernel that the chip would not survive: the error names the core, the RISC and the kernel. */
static void is_refused(const char *on, const char *source, uint32_t risc, const uint32_t *args, uint32_t n,
                       const char *says)
{
    trial t = {0};
    assert_true(trial_open(&t, on, 1, in_scratch("refused"), DEVLOG_RECORD_STOP, DEVLOG_ON) &&
                trial_begin(&t) && trial_kernel(&t, source, risc, second, NULL, args, n));
    bool ran = trial_run(&t);
    if (says == NULL && !ran) fail_msg("%s", t.wrong);
    if (says && (ran || !strstr(t.wrong, says) || !strstr(t.wrong, "core (1,0)") ||
                 !strstr(t.wrong, source) || !strstr(t.wrong, t.device->board.riscs[risc].name)))
        fail_msg("%s", t.wrong);
    trial_close(&t);
}

static void reads_agree_modulo_64_on_blackhole(void **state)
{
    (void)state;
    for (uint32_t b = 0; b < 2; b++)
        for (uint32_t off = 0; off < 64; off += 32) {
            const uint32_t args[] = {0, 0x1000 + off, 0x60000};
            is_refused(boards[b], "tests/sim/kernels/noc_read.c", 1, args, 3,
                       b && off ? "differ modulo 64" : NULL);
        }
}

/* By the data of two RISCs, one on each NoC, that go to one DRAM tile. */
static void a_dram_endpoint_has_one_noc_on_blackhole(void **state)
{
    (void)state;
    for (uint32_t b = 0; b < 2; b++) {
        trial t = {0};
        assert_true(trial_open(&t, boards[b], 3, in_scratch("endpoint"), DEVLOG_RECORD_STOP, DEVLOG_ON) &&
                    trial_begin(&t));
        for (uint32_t i = 0; i < 2; i++) {
            const uint32_t args[] = {TRIAL_BLOCKS, 0, 0x10000 + 0x8000 * i,
                                     t.device->board.user.base + 8192 + 512 * i};
            assert_true(trial_kernel(&t, "tests/sim/kernels/noc.c", i ? 4 : 1, first, NULL, args, 4));
        }
        assert_true(trial_run(&t) == (b == 0));
        if (b && (!strstr(t.wrong, "both NoCs use this DRAM endpoint") ||
                  !strstr(t.wrong, "tests/sim/kernels/noc.c")))
            fail_msg("%s", t.wrong);
        trial_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_agree_modulo_64_on_blackhole),
        cmocka_unit_test(a_dram_endpoint_has_one_noc_on_blackhole),
        cmocka_unit_test(everything_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
