/* Zones with one hash. */
#include "tt_metal/zones.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"

enum { MAX_LINE = 64 * 1024, HASHES = 65536, MAX_ZONES = 64 * 1024, MAX_TEXT = 16 * 1024 * 1024 };

struct tt_zones {
    tt_found *found;
    dl_intern *texts;
    uint32_t of_hash[HASHES]; /* text; 0: none */
};

tt_zones *tt_zones_new(tt_found *found)
{
    tt_zones *z = calloc(1, sizeof *z);
    if (!z) return NULL;
    z->found = found;
    z->texts = dl_intern_new(MAX_ZONES, MAX_TEXT);
    if (z->texts) return z;
    free(z);
    return NULL;
}

void tt_zones_free(tt_zones *z)
{
    if (!z) return;
    dl_intern_free(z->texts);
    free(z);
}

/* hash16CT of tt_metal/impl/profiler/profiler.cpp at 28a871b: FNV-1a, folded. */
static uint16_t hash16(const char *text, size_t n)
{
    uint32_t h = UINT32_C(2166136261);
    for (size_t i = 0; i < n; i++)
        h = (h ^ (uint32_t)(int32_t)(signed char)text[i]) * UINT32_C(16777619);
    return (uint16_t)(h ^ h >> 16);
}

/* NAME,FILE,LINE,KERNEL_PROFILER; a name may hold commas, a template's. */
static bool is_whole(const char *text, size_t n)
{
    static const char end[] = ",KERNEL_PROFILER";
    size_t m = sizeof end - 1, digits = 0;
    if (n < m || memcmp(text + n - m, end, m) != 0) return false;
    size_t at = n - m;
    while (at && text[at - 1] >= '0' && text[at - 1] <= '9') {
        at--;
        digits++;
    }
    return digits && at > 1 && text[at - 1] == ',' && memchr(text, ',', at - 1) && !memchr(text, '\'', n);
}

static bool take(void *ctx, const char *line, size_t n, uint64_t number)
{
    static const char mark[] = "'#pragma message: ";
    tt_zones *z = ctx;
    if (!n) return true;
    const char *at = memmem(line, n, mark, sizeof mark - 1), *end = line + n;
    if (at) at += sizeof mark - 1;
    if (at && end > at && (end[-1] == '\'' || end[-1] == '"')) end--;
    if (!at || !is_whole(at, (size_t)(end - at))) {
        tt_found_add(z->found, TT_BAD_ZONE_SOURCE, "line %llu: %.*s", (unsigned long long)number,
                     (int)(n < 120 ? n : 120), line);
        return true;
    }
    uint32_t text = dl_intern_add(z->texts, at, (size_t)(end - at));
    if (text == DL_NO_STRING) return true;
    uint32_t *there = &z->of_hash[hash16(at, (size_t)(end - at))];
    if (*there && *there != text) {
        const char *name = dl_intern_text(z->texts, *there, NULL);
        tt_found_add(z->found, TT_ZONE_NAMES, "%.100s and %.*s", name, (int)(end - at < 100 ? end - at : 100),
                     at);
    }
    if (!*there) *there = text;
    return true;
}

static devlog_status read_all(tt_zones *z, dl_input *in, devlog_error *err)
{
    const tt_lines lines = {.ctx = z, .take = take, .longest = MAX_LINE};
    return tt_lines_read(&lines, in, NULL, z->found, err);
}

devlog_status tt_zones_read(tt_zones *z, const char *path, devlog_error *err)
{
    dl_input *in;
    devlog_status status = dl_input_open(&in, path, err);
    return status ? status : read_all(z, in, err);
}

devlog_status tt_zones_parse(tt_zones *z, const void *bytes, size_t n, devlog_error *err)
{
    dl_input *in;
    devlog_status status = dl_input_memory(&in, TT_ZONES_NAME, bytes, n, err);
    return status ? status : read_all(z, in, err);
}
