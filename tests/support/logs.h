/* Small device logs of every version, as their writers write them, for tests that damage them. */
#ifndef DEVLOG_TESTS_LOGS_H
#define DEVLOG_TESTS_LOGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "support/random.h"

enum { TEST_LOG_KINDS = 10 };

/* A log of kind 0..9 (L0 to L9), with about `launches` times 40 rows; some with meta data, empty trace ids,
 * values of 20 digits. The same bytes for the same arguments. */
void test_log(dl_str *out, int kind, unsigned launches, uint64_t seed);

/* The i-th of a sequence of small logs, damaged less than `most` times. Returns its bytes: it may hold NULs. */
size_t test_damaged_log(dl_str *out, unsigned long i, unsigned most, uint64_t *seed);

/* Damages text[0..*n) in place (cap bytes of room) in one of many ways. */
void test_damage(char *text, size_t *n, size_t cap, uint64_t *seed);

#endif
