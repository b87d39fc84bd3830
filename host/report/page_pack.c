/* The page's columns of numbers; page_internal.h has the format. */
#include <stdlib.h>
#include <zlib.h>

#include "report/page_internal.h"

void page_varint(dl_str *out, uint64_t value)
{
    char bytes[10];
    size_t n = 0;
    while (value >= 0x80) {
        bytes[n++] = (char)(value | 0x80);
        value >>= 7;
    }
    bytes[n++] = (char)value;
    dl_str_add_n(out, bytes, n);
}

void page_base64(dl_str *out, const void *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = bytes;
    if (!dl_str_reserve(out, (n + 2) / 3 * 4)) return;
    char *to = out->text + out->len;
    for (size_t i = 0; i < n; i += 3) {
        uint32_t three = (uint32_t)in[i] << 16;
        if (i + 1 < n) three |= (uint32_t)in[i + 1] << 8;
        if (i + 2 < n) three |= in[i + 2];
        *to++ = digits[three >> 18];
        *to++ = digits[three >> 12 & 63];
        *to++ = i + 1 < n ? digits[three >> 6 & 63] : '=';
        *to++ = i + 2 < n ? digits[three & 63] : '=';
    }
    *to = '\0';
    out->len = (size_t)(to - out->text);
}

static void gaps(const dl_page *p, const dl_tables *t, dl_str *out)
{
    for (uint32_t l = 0; l < p->n_lanes; l++) {
        const page_lane *lane = &p->lanes[l];
        uint64_t at = p->base[t->streams[lane->stream].chip];
        for (uint32_t i = 0; i < lane->n; i++) {
            const page_item *item = &p->items[lane->first + i];
            page_varint(out, item->start - at);
            at = item->start + (lane->points ? 0 : item->length);
        }
    }
}

static void lengths(const dl_page *p, dl_str *out)
{
    for (uint32_t l = 0; l < p->n_lanes; l++)
        for (uint32_t i = 0; i < p->lanes[l].n; i++)
            page_varint(out, p->items[p->lanes[l].first + i].length);
}

static void sites(const dl_page *p, const uint32_t *numbers, dl_str *out)
{
    for (uint32_t l = 0; l < p->n_lanes; l++) {
        for (uint32_t i = 0; i < p->lanes[l].n; i++) {
            const page_item *item = &p->items[p->lanes[l].first + i];
            uint64_t site = numbers[item->site];
            page_varint(out, p->lanes[l].points ? site * 4 + item->kind : site);
        }
    }
}

static void launches(const dl_page *p, dl_str *out)
{
    for (uint32_t l = 0; l < p->n_lanes; l++) {
        int64_t before = 0;
        for (uint32_t i = 0; i < p->lanes[l].n; i++) {
            uint32_t launch = p->items[p->lanes[l].first + i].launch;
            int64_t now = launch == DL_NONE ? -1 : (int64_t)launch;
            int64_t step = now - before;
            page_varint(out, step < 0 ? (uint64_t)(-step) * 2 - 1 : (uint64_t)step * 2);
            before = now;
        }
    }
}

devlog_status page_pack(const dl_page *p, const dl_tables *t, dl_str *out, uint64_t column_bytes[4],
                        devlog_error *err)
{
    dl_str columns = {0};
    size_t mark = 0;
    gaps(p, t, &columns);
    column_bytes[0] = columns.len - mark, mark = columns.len;
    lengths(p, &columns);
    column_bytes[1] = columns.len - mark, mark = columns.len;
    sites(p, p->site_numbers, &columns);
    column_bytes[2] = columns.len - mark, mark = columns.len;
    launches(p, &columns);
    column_bytes[3] = columns.len - mark;
    uLongf size = compressBound(columns.len);
    if (columns.failed || !dl_str_reserve(out, size)) {
        dl_str_free(&columns);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for %zu intervals of the page", p->n);
    }
    int z = compress2((Bytef *)out->text + out->len, &size, (const Bytef *)columns.text, columns.len, 6);
    dl_str_free(&columns);
    if (z != Z_OK) return dl_fail(err, DEVLOG_ERR_MEMORY, "zlib could not pack the page (%d)", z);
    out->len += size;
    out->text[out->len] = '\0';
    return DEVLOG_OK;
}
