/* Device code compiled outside of devlog, as a user's own build does it: one object file, by gcc or by clang.
 */
#ifndef DEVLOG_TESTS_KERNELS_H
#define DEVLOG_TESTS_KERNELS_H

#include "support/device.h"

typedef enum object_compiler { BY_GCC, BY_CLANG, OBJECT_COMPILERS } object_compiler;

/* Whether it can compile for the device here. */
bool can_compile(object_compiler by);

/* Compiles a source (C, or C++ by the end of its name) for BRISC of the default board, with markers. Returns
 * what the compiler said, which the caller frees; fails the test when the exit status is not the one
 * expected. */
char *build_object(object_compiler by, const char *flags, const char *source, const char *object, int status);

#endif
