/* Rules of tables/rules.json that speak of a run, or of ops on several devices, and whose advice test_advice_gain takes on the simulator;
 * those that an op report can fire are in test_advice_taken. The tests hold each other and the file of rules to this list. */
#ifndef DEVLOG_TESTS_ADVISED_H
#define DEVLOG_TESTS_ADVISED_H

static const char *const advised_on_simulator[] = {
    "core_imbalance",
    "risc_imbalance",
    "unpack_waits",
    "launch",
    "markers",
    "stream_stalls",
    "gap",
    "straggler",
    "compile",
    "transfers_uneven",
    "transfers_small",
    "transfers_one_tile",
    "dram_one_bank",
    "lost",
};
enum { ADVISED_ON_SIMULATOR = sizeof advised_on_simulator / sizeof advised_on_simulator[0] };

#endif
