/* cmocka with the headers that it wants before it. */
#ifndef DEVLOG_TESTS_CMOCKA_ALL_H
#define DEVLOG_TESTS_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
