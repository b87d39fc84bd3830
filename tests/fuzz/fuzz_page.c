/* Logs of any bytes into device_perf.html: its JSON block parses and cannot end its script element, and its
 * columns inflate to the sizes and hold the numbers that the JSON says. The page is the same when
 * nothing is remembered of runs that look alike. */
#include <cjson/cJSON.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "fuzz/fuzz.h"
#include "report/page_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int good)
{
    if (!good) abort();
}

/* Sums the intervals that the rows' lines say. */
static size_t intervals_of(const cJSON *meta)
{
    size_t n = 0;
    const cJSON *row;
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(meta, "rows"))
    {
        const cJSON *lines = cJSON_GetArrayItem(row, 5);
        for (int i = 2; i < cJSON_GetArraySize(lines); i += 3)
            n += (size_t)cJSON_GetArrayItem(lines, i)->valuedouble;
    }
    return n;
}

/* Each column has as many varints as there are intervals. */
static void check_columns(const cJSON *meta, const dl_str *packed)
{
    size_t total = 0, n = intervals_of(meta), at = 0;
    const cJSON *columns = cJSON_GetObjectItem(meta, "columns"), *column;
    cJSON_ArrayForEach(column, columns) total += (size_t)column->valuedouble;
    unsigned char *bytes = malloc(total + 1);
    uLongf got = total + 1;
    check(bytes && uncompress(bytes, &got, (const Bytef *)packed->text, packed->len) == Z_OK && got == total);
    cJSON_ArrayForEach(column, columns)
    {
        size_t ends = 0, length = (size_t)column->valuedouble;
        for (size_t i = 0; i < length; i++)
            ends += bytes[at + i] < 128;
        check(ends == n);
        at += length;
    }
    free(bytes);
}

/* The page's numbers, appended to `out`. */
static void check_page(dl_view *v, uint64_t max, dl_str *out)
{
    devlog_error err;
    dl_str meta = {0}, packed = {0};
    page_pack p;
    if (page_pack_view(&p, v, max, &err) == DEVLOG_OK && page_deflate(&p, &packed, &err) == DEVLOG_OK &&
        page_meta(&p, "fuzz", &meta, &err) == DEVLOG_OK) {
        cJSON *json = cJSON_ParseWithLength(meta.text, meta.len);
        check(json && !memchr(meta.text, '<', meta.len));
        check_columns(json, &packed);
        check(p.intervals <= max);
        cJSON_Delete(json);
        dl_str_add_n(out, meta.text, meta.len);
        dl_str_add_n(out, packed.text, packed.len);
    }
    page_pack_free(&p);
    dl_str_free(&meta);
    dl_str_free(&packed);
}

static void draw(const uint8_t *data, size_t size, bool no_shapes, dl_str *out)
{
    devlog_error err;
    dl_decode *d = NULL;
    dl_view *v = NULL;
    /* The page takes the first launches, up to so many events; the others are counted and not listed. */
    static const uint64_t most[] = {0, 30, 1 << 20};
    const dl_decode_options options = {.no_shapes = no_shapes};
    const dl_view_options viewing = {.most = most[size % 3], .cycles = true};
    if (dl_decode_new(&d, &options, &err) == DEVLOG_OK && dl_view_new(&v, d, &viewing, &err) == DEVLOG_OK) {
        dl_decode_run_sink(d, dl_view_runs(v), &err);
        if (dl_decode_memory(d, "fuzz", data, size, &err) == DEVLOG_OK &&
            dl_decode_finish(d, &err) == DEVLOG_OK && dl_view_ready(v, &err) == DEVLOG_OK) {
            if (dl_decode_losses(d)->rows) fuzz_got_inside();
            check_page(v, UINT32_MAX, out);
            check_page(v, 3, out);
        }
    }
    dl_view_free(v);
    dl_decode_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dl_str runs = {0}, marks = {0};
    draw(data, size, false, &runs);
    draw(data, size, true, &marks);
    fuzz_same(&runs, &marks);
    dl_str_free(&runs);
    dl_str_free(&marks);
    return 0;
}
