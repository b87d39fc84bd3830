/* What the decoder is compared with. Each returns 0, or 1 with a message on standard error. */
#ifndef DEVLOG_BENCH_MEASURE_H
#define DEVLOG_BENCH_MEASURE_H

#include <stdint.h>

/* Reads the file and counts commas and line feeds: the least that any reader of CSV must do. */
int bench_scan(const char *path, uint64_t *rows);
/* libcsv and a hash table of sums: the least that a program must do which uses a general CSV reader. */
int bench_libcsv(const char *path, uint64_t *rows);

#endif
