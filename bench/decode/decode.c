/* Bench of the decoder. One measurement per process, so that CPU time and peak memory are its own:
 *
 *     bench_decode generate 2|8|9 ROWS FILE [CORES]
 *     bench_decode scan FILE                count commas and line feeds, AVX2 where there is
 *     bench_decode decode FILE THREADS [no-samples]
 *     bench_decode libcsv FILE              libcsv, strtoull, and one hash table: what a program without us
 * does
 *
 * Prints "cpu SECONDS wall SECONDS peak KiB rows N". bench/decode/run puts them side by side. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "decode/analysis/groups.h"
#include "generate.h"
#include "measure.h"

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int fail(const char *text)
{
    fprintf(stderr, "bench_decode: %s\n", text);
    return 1;
}

static int decode(const char *path, unsigned threads, bool no_samples, uint64_t *rows, uint64_t *extra)
{
    devlog_error err;
    dl_decode *d;
    const char *block = getenv("DEVLOG_BENCH_BLOCK");
    const dl_decode_options options = {
        .threads = threads, .no_samples = no_samples, .block = block ? strtoull(block, NULL, 10) : 0};
    if (dl_decode_new(&d, &options, &err) != DEVLOG_OK) return fail(err.text);
    dl_groups groups = {0};
    devlog_status status = dl_decode_file(d, path, &err);
    if (!status) status = dl_decode_finish(d, &err);
    if (!status) status = dl_groups_by_risc(d, &groups, &err);
    if (status) return fail(err.text);
    *rows = dl_decode_losses(d)->rows;
    *extra = dl_decode_sample_bytes(d);
    dl_groups_free(&groups);
    dl_decode_free(d);
    return 0;
}

static int generate(const char *version, const char *rows, const char *path, const char *cores)
{
    FILE *out = fopen(path, "w");
    if (!out) return fail("cannot write the log");
    uint64_t bytes = generate_log(out, atoi(version), strtoull(rows, NULL, 10), (uint32_t)atoi(cores));
    if (fclose(out) != 0 || bytes == 0) return fail("cannot write the log");
    return 0;
}

int main(int argc, char **argv)
{
    if ((argc == 5 || argc == 6) && strcmp(argv[1], "generate") == 0)
        return generate(argv[2], argv[3], argv[4], argc == 6 ? argv[5] : "64");
    if (argc < 3) return fail("see decode.c");
    uint64_t rows = 0, extra = 0;
    double begin = now();
    int status = 1;
    if (strcmp(argv[1], "scan") == 0) status = bench_scan(argv[2], &rows);
    if (strcmp(argv[1], "libcsv") == 0) status = bench_libcsv(argv[2], &rows);
    if (strcmp(argv[1], "decode") == 0 && argc >= 4)
        status = decode(argv[2], (unsigned)atoi(argv[3]), argc > 4, &rows, &extra);
    if (status) return status;
    double wall = now() - begin;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("cpu %.3f wall %.3f peak %ld rows %llu samples %llu\n",
           seconds(usage.ru_utime) + seconds(usage.ru_stime), wall, usage.ru_maxrss, (unsigned long long)rows,
           (unsigned long long)extra / 1024);
    return 0;
}
