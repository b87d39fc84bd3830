/* What the decoder is compared with. See measure.h. */
#include "measure.h"

#include <csv.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/intern.h"

enum { BLOCK = 256 * 1024 };

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx2,popcnt"))) static void count_avx2(const char *text, size_t n, uint64_t *commas,
                                                              uint64_t *lines)
{
    uint64_t c = 0, l = 0;
    for (size_t i = 0; i < n; i += 64) {
        const __m256i *at = (const __m256i *)(const void *)(text + i);
        __m256i a = _mm256_loadu_si256(at), b = _mm256_loadu_si256(at + 1);
        const __m256i comma = _mm256_set1_epi8(','), line = _mm256_set1_epi8('\n');
        uint64_t ca = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, comma));
        uint64_t cb = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, comma));
        uint64_t la = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, line));
        uint64_t lb = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, line));
        c += (uint64_t)__builtin_popcountll(ca | cb << 32);
        l += (uint64_t)__builtin_popcountll(la | lb << 32);
    }
    *commas += c;
    *lines += l;
}
#endif

static void count_plain(const char *text, size_t n, uint64_t *commas, uint64_t *lines)
{
    for (size_t i = 0; i < n; i++) {
        *commas += text[i] == ',';
        *lines += text[i] == '\n';
    }
}

static int failed(const char *what)
{
    perror(what);
    return 1;
}

int bench_scan(const char *path, uint64_t *rows)
{
    int fd = open(path, O_RDONLY);
    char *block = aligned_alloc(64, BLOCK + 64);
    if (fd < 0 || !block) return failed(path);
    uint64_t commas = 0;
    bool avx2 = false;
#if defined(__x86_64__)
    avx2 = __builtin_cpu_supports("avx2");
#endif
    ssize_t n;
    while ((n = read(fd, block, BLOCK)) > 0) {
        memset(block + n, 0, 64);
#if defined(__x86_64__)
        if (avx2) {
            count_avx2(block, (size_t)n, &commas, rows);
            continue;
        }
#endif
        count_plain(block, (size_t)n, &commas, rows);
    }
    if (!avx2) fprintf(stderr, "bench_decode: no AVX2 here, the scan is a plain loop\n");
    fprintf(stderr, "%llu commas\n", (unsigned long long)commas);
    free(block);
    close(fd);
    return 0;
}

typedef struct key {
    uint64_t hash, sum, count;
    uint64_t open;
} key;

enum { KEYS = 1 << 16 };

typedef struct grouping {
    key *keys;
    uint64_t rows, hash, time;
    int cell, name_at, type_at;
    bool is_end, rows_begin;
} grouping;

static void on_cell(void *text, size_t n, void *ctx)
{
    grouping *g = ctx;
    char number[32] = {0};
    int cell = g->cell++;
    if (cell <= 3 || cell == g->name_at) g->hash = dl_hash_u64(g->hash ^ dl_hash_bytes(text, n));
    if (cell == 4 && g->type_at < 0) g->is_end = n == 1 && (*(char *)text == '3' || *(char *)text == '4');
    if (cell == g->type_at) g->is_end = n == 8;
    if (cell != 5) return;
    memcpy(number, text, n < 31 ? n : 31);
    g->time = strtoull(number, NULL, 10);
}

static void on_row(int end, void *ctx)
{
    (void)end;
    grouping *g = ctx;
    if (g->cell > 10) { /* the header or a row of a log of 2026 */
        g->name_at = 10;
        g->type_at = 11;
    }
    key *k = &g->keys[g->hash % KEYS];
    if (g->is_end) {
        k->sum += g->time - k->open;
        k->count++;
    } else {
        k->open = g->time;
    }
    g->rows++;
    g->cell = 0;
    g->hash = 0;
}

int bench_libcsv(const char *path, uint64_t *rows)
{
    int fd = open(path, O_RDONLY);
    char *block = malloc(BLOCK);
    grouping g = {.keys = calloc(KEYS, sizeof(key)), .name_at = -1, .type_at = -1};
    struct csv_parser csv;
    if (fd < 0 || !block || !g.keys || csv_init(&csv, 0) != 0) return failed(path);
    ssize_t n;
    while ((n = read(fd, block, BLOCK)) > 0)
        csv_parse(&csv, block, (size_t)n, on_cell, on_row, &g);
    csv_fini(&csv, on_cell, on_row, &g);
    csv_free(&csv);
    *rows = g.rows;
    free(g.keys);
    free(block);
    close(fd);
    return 0;
}
