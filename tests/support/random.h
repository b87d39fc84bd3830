/* Random numbers that are the same everywhere, for tests that make up what they look at. */
#ifndef DEVLOG_TESTS_RANDOM_H
#define DEVLOG_TESTS_RANDOM_H

#include <stdint.h>

/* The next of a sequence. */
uint64_t test_random(uint64_t *seed);

/* How many random cases a test tries: DEVLOG_TEST_CASES, or as many as usual. */
unsigned test_cases(unsigned usual);

/* Between two numbers, any as likely as the other; and any power of ten as likely as the other. */
double test_uniform(uint64_t *seed, double low, double high);
double test_log_uniform(uint64_t *seed, double low, double high);

#endif
