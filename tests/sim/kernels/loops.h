/* How many loops loops.c has; shared with the test that runs them. */
#ifndef DEVLOG_TESTS_LOOPS_H
#define DEVLOG_TESTS_LOOPS_H

enum { LOOPS_KINDS = 9, LOOPS_WORKS = 5, LOOPS = LOOPS_KINDS * LOOPS_WORKS, LOOPS_WORDS = 64 };

#endif
