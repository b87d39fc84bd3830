/* cmocka with the headers that it wants before itself. */
#ifndef DEVLOG_TESTS_DECODE_CMOCKA_H
#define DEVLOG_TESTS_DECODE_CMOCKA_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#endif
