/* cmocka with the headers that it wants before it; and a program in which a test was skipped says so to
 * ctest, which counts it as skipped, never as passed (SKIP_RETURN_CODE in tests/CMakeLists.txt). A failure
 * weighs more. */
#ifndef DEVLOG_TESTS_CMOCKA_ALL_H
#define DEVLOG_TESTS_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { TEST_SKIPPED = 77 };

static int tests_skipped;

#undef skip
#define skip() (tests_skipped++, _skip(__FILE__, __LINE__))

static inline int tests_exit(int failures)
{
    if (failures) return failures < TEST_SKIPPED ? failures : 1;
    return tests_skipped ? TEST_SKIPPED : 0;
}

#undef cmocka_run_group_tests
#define cmocka_run_group_tests(tests, setup, teardown)                                                       \
    tests_exit(_cmocka_run_group_tests(#tests, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown))

#endif
