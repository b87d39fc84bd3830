/* The rows of a launch in memory, for tests that look at what markers recorded. */
#ifndef DEVLOG_TESTS_ROWS_H
#define DEVLOG_TESTS_ROWS_H

#include "decode/capture/raw_marks.h"
#include "decode/log/log_write.h"
#include "profiler/pull.h"
#include "support/device.h"

typedef struct test_rows {
    dl_tables tables;
    dl_row *rows;
    size_t n;
    record_losses losses;
    devlog_control control;
} test_rows;

/* Launches the program (told of mode and classes) without dumping; fails the test when that fails. */
void launch(devlog_device *device, devlog_program *program);

/* Pulls and decodes the last launch of one RISC, and clears its records, as the profiler does. */
void read_rows(devlog_device *device, const devlog_program *program, devlog_core core, uint32_t risc,
               test_rows *out);
void free_rows(test_rows *rows);

/* Rows of a type whose zone is called `name` (NULL: any). */
size_t count_rows(const test_rows *rows, dl_row_type type, const char *name);
/* The k-th of them; fails the test when there are fewer. */
const dl_row *row_at(const test_rows *rows, dl_row_type type, const char *name, size_t k);

#endif
