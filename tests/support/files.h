/* Small files for tests. */
#ifndef DEVLOG_TESTS_FILES_H
#define DEVLOG_TESTS_FILES_H

#include <stddef.h>

/* Each fails the test when it cannot be done. */
void write_text(const char *path, const char *text);
void write_bytes(const char *path, const void *bytes, size_t n);
char *read_bytes(const char *path, size_t *size); /* zero-terminated; freed by the caller */

#endif
