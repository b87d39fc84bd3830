/* Without each single place of devlog/order.h, one at a time, something is wrong on the simulator's strict model: every fence and
 * every reading back is needed. DEVLOG_TEST_SEEDS: on every chip that has the place, instead of on one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "devlog/order.h"
#include "support/cli.h"
#include "support/files.h"
#include "support/trial.h"

static const char *const boards[] = {"wormhole_b0", "blackhole"};

/* The compiler, by which all is compiled without the fence of a place. */
static void leave_out(unsigned place)
{
    char path[300], text[300];
    snprintf(path, sizeof path, "%s", in_scratch("cc"));
    snprintf(text, sizeof text, "#!/bin/sh\nexec riscv64-unknown-elf-gcc -DDEVLOG_WITHOUT_FENCE=%u \"$@\"\n",
             place);
    write_text(path, text);
    assert_int_equal(chmod(path, 0755), 0);
    setenv("DEVLOG_CC", path, 1);
}

static void every_place_is_needed(void **state)
{
    (void)state;
    enum { WORMHOLE = 1, BLACKHOLE = 2, BOTH = 3, MOST_SEEDS = 60 };
    static trial_fn *const where[DEVLOG_ORDER_PLACES + 1] = {
        [DEVLOG_ORDER_SOURCE] = trial_noc_and_clocks, [DEVLOG_ORDER_COMMAND] = trial_noc_and_clocks,
        [DEVLOG_ORDER_ANSWER] = trial_noc_and_clocks, [DEVLOG_ORDER_RESERVE] = trial_pipeline,
        [DEVLOG_ORDER_FRONT] = trial_pipeline,        [DEVLOG_ORDER_EVENTS] = trial_events,
        [DEVLOG_ORDER_FROZEN] = trial_frozen,
    };
    static const uint8_t chips[DEVLOG_ORDER_PLACES + 1] = {
        [DEVLOG_ORDER_START] = BLACKHOLE,   [DEVLOG_ORDER_UP] = BLACKHOLE,
        [DEVLOG_ORDER_GO] = BLACKHOLE,      [DEVLOG_ORDER_WORK] = BLACKHOLE,
        [DEVLOG_ORDER_DONE] = BLACKHOLE,    [DEVLOG_ORDER_CODE] = BOTH,
        [DEVLOG_ORDER_PIPELINE] = BOTH,     [DEVLOG_ORDER_SOURCE] = BOTH,
        [DEVLOG_ORDER_COMMAND] = BOTH,      [DEVLOG_ORDER_ANSWER] = BLACKHOLE,
        [DEVLOG_ORDER_RESERVE] = BLACKHOLE, [DEVLOG_ORDER_FRONT] = BLACKHOLE,
        [DEVLOG_ORDER_FROZEN] = BLACKHOLE,  [DEVLOG_ORDER_EVENTS] = BOTH,
    };
    const bool many = getenv("DEVLOG_TEST_SEEDS"); /* otherwise a place of both chips is left out on one */
    for (unsigned place = 1; place <= DEVLOG_ORDER_PLACES; place++) {
        leave_out(place);
        for (unsigned b = 0; b < 2; b++) {
            if (!(chips[place] >> b & 1) || (!many && chips[place] == BOTH && place % 2 == b)) continue;
            trial t = {0};
            unsigned seed = 0;
            trial_fn *run_it = where[place] ? where[place] : trial_replaced;
            while (seed < MOST_SEEDS && run_it(&t, boards[b], seed))
                seed++;
            if (seed == MOST_SEEDS)
                fail_msg("%s: without place %u of devlog/order.h nothing is wrong in %u seeds", boards[b],
                         place, seed);
            /* By the missing fence, and not because nothing could be compiled. */
            if (t.status != DEVLOG_OK && t.status != DEVLOG_ERR_DEVICE) fail_msg("%s", t.wrong);
            printf("%s without place %u: strict=%u: %.100s\n", boards[b], place, seed, t.wrong);
            fflush(stdout);
        }
    }
    unsetenv("DEVLOG_CC");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_place_is_needed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
