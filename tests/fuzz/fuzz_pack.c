/* Packed logs of any bytes are unpacked; and any bytes come back when they are packed, in blocks of a size
 * that their first byte tells, and are decoded alike. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xxhash.h>

#include "decode/capture/capture.h"
#include "decode/decode.h"
#include "decode/log/packed_range.h"
#include "decode/log/window.h"
#include "fuzz/fuzz.h"
#include "pack/frame.h"
#include "pack/unpack.h"
#include "support/digest.h"
#include "support/packed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bytes of the text of a file are what `text` has there, if that is known; blocks come as often as they have some. */
static void read_range(const dl_str *file, const char *text, uint64_t from, uint64_t to)
{
    char path[64];
    dl_packed_range r;
    devlog_error err;
    dl_str got = {0};
    const int fd = memfd_create("packed", 0);
    if (fd < 0 || write(fd, file->text, file->len) != (ssize_t)file->len) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    devlog_status status = dl_packed_range_open(&r, path, &err);
    if (status && text) abort();
    const char *piece;
    size_t n = 0, blocks = 0;
    if (!status) dl_packed_range_set(&r, from, to);
    while (!status && !(status = dl_packed_range_text(&r, &piece, &n, &err)) && n) {
        dl_str_add_n(&got, piece, n);
        blocks++;
    }
    if (text && (status || got.len != to - from || (got.len && memcmp(got.text, text + from, got.len) != 0)))
        abort();
    pk_header h;
    const uint8_t *stored;
    bool there = true;
    if (!status) dl_packed_range_set(&r, from, to);
    while (!status && !(status = dl_packed_range_next(&r, &h, &stored, &there, &err)) && there)
        blocks--;
    if (text && (status || blocks)) abort();
    dl_packed_range_close(&r);
    close(fd);
    dl_str_free(&got);
}

static void come_back(const uint8_t *data, size_t size)
{
    dl_str packed = {0}, back = {0};
    pk_damage damage = {0};
    const size_t block = size && data[0] & 1 ? 64 + 16 * (size_t)data[0] : 1 << 16;
    if (test_pack((const char *)data, size, block, 1, &packed)) abort();
    if (test_unpack(packed.text, packed.len, 1, &back, &damage)) abort();
    if (damage.findings || back.len != size || (size && memcmp(back.text, data, size) != 0)) abort();
    if (size) {
        const uint64_t from = (size_t)data[size / 2] * size / 256,
                       to = from + (size_t)data[size - 1] * (size - from) / 255;
        read_range(&packed, (const char *)data, from, to);
        packed.text[(size_t)data[0] * packed.len / 256] ^= 0x20;
        read_range(&packed, NULL, from, to);
    }
    dl_str_free(&packed);
    dl_str_free(&back);
}

/* A block's payload, behind the length of its text, without the checks that would refuse it. */
static void unpack_block(const uint8_t *data, size_t size)
{
    if (size < 2) return;
    pk_unpacker *u = pk_unpacker_new();
    const size_t n = data[0] | (size_t)data[1] << 8;
    char *text = malloc(n + PK_LONGEST_ROW);
    if (u && text) (void)pk_unpacker_block(u, data + 2, size - 2, false, text, n);
    free(text);
    pk_unpacker_free(u);
}

static void add_frame(dl_str *file, pk_header *h, const void *stored)
{
    uint8_t bytes[PK_HEADER_BYTES];
    pk_header_put(bytes, h, stored);
    dl_str_add_n(file, (const char *)bytes, sizeof bytes);
    dl_str_add_n(file, stored, h->stored);
}

/* The same payload behind a log's first lines, in frames whose checks are right, decoded without its text. */
static void decode_block(const uint8_t *data, size_t size)
{
    /* As many as are looked at before anything is unpacked (PK_FIRST_TEXT): a shorter block goes as text. */
    static const char lines[] =
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y, RISC processor type, "
        "timer_id, time[cycles since reset], data, run host ID, trace id, trace id counter, zone "
        "name, type, source line, source file, meta data\n"
        "0,1,1,BRISC,1,1000,0,1024,,,BRISC-FW,ZONE_START,10,run.h,\n0,1,1,BRISC,2,1010,0,1024,,,ADD,ZONE_START,20,k.c,\n"
        "0,1,1,BRISC,2,1100,0,1024,,,ADD,ZONE_END,20,k.c,\n0,1,1,BRISC,1,1110,0,1024,,,BRISC-FW,ZONE_END,10,run.h,\n"
        "0,1,1,BRISC,1,2000,0,2048,,,BRISC-FW,ZONE_START,10,run.h,\n0,1,1,BRISC,1,2100,0,2048,,,BRISC-FW,ZONE_END,10,run.h,\n";
    _Static_assert(sizeof lines > PK_FIRST_TEXT, "it would go as text");
    uint8_t first[PK_INFO_BYTES + sizeof lines - 1] = {0};
    if (size < 2 || size - 2 > PK_MAX_STORED) return;
    memcpy(first + PK_INFO_BYTES, lines, sizeof lines - 1);
    pk_header h = {.kind = PK_BLOCK,
                   .version = PK_VERSION,
                   .plain = true,
                   .stored = sizeof first,
                   .size = sizeof lines - 1,
                   .text_check = XXH64(lines, sizeof lines - 1, 0)};
    h.id = h.text_check;
    dl_str file = {0};
    dl_str_add_n(&file, PK_MAGIC, PK_MAGIC_BYTES);
    add_frame(&file, &h, first);
    h.plain = false;
    h.at = h.size;
    h.size = data[0] | (uint32_t)data[1] << 8;
    h.stored = (uint32_t)(size - 2);
    add_frame(&file, &h, data + 2);
    dl_decode *d = NULL;
    const dl_decode_options options = {.threads = 1};
    devlog_error err;
    if (!file.failed && dl_decode_new(&d, &options, &err) == DEVLOG_OK &&
        dl_decode_memory(d, "log.pack", file.text, file.len, &err) == DEVLOG_OK)
        (void)dl_decode_finish(d, &err);
    if (d && dl_decode_losses(d)->rows > 6) fuzz_got_inside(); /* more than those above */
    dl_decode_free(d);
    dl_str_free(&file);
}

typedef struct bytes {
    const char *at;
    size_t n;
} bytes;

static bool read_bytes_at(void *ctx, void *to, size_t n, uint64_t at)
{
    const bytes *b = ctx;
    if (at > b->n || n > b->n - at) return false;
    memcpy(to, b->at + at, n);
    return true;
}

/* What an index says that a window holds; of frames whose checks are right. */
static void plan(const dl_str *file)
{
    bytes b = {file->text, file->len};
    pk_index index;
    dl_window w;
    dl_columns columns = {0};
    columns.at[DL_COL_RUN_HOST_ID] = 7;
    const dl_filter_range launches = {1024, 1030};
    const dl_filter_id picked = {1024, 0, DL_FILTER_ANY};
    const dl_filter filters[] = {{.launches = &launches, .n_launches = 1},
                                 {.picks = true, .picked = &picked, .n_picked = 1},
                                 {.from = 1000, .to = 2000}};
    if (!pk_index_read(&index, read_bytes_at, &b, file->len)) return;
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        if (!dl_window_plan(&w, &index, &columns, &filters[i])) continue;
        if (w.n_wanted == 0 || w.n_wanted >= index.n || !w.wanted[0]) abort();
        dl_window_free(&w);
    }
    pk_index_free(&index);
}

/* Any bytes are the entries of an index, of either version; but blocks are in order. */
static void read_index(const uint8_t *data, size_t size)
{
    if (size < 1) return;
    const unsigned version = 1 + (data[0] & 1);
    const size_t one = pk_entry_bytes(version), n = (size - 1) / one < 64 ? (size - 1) / one : 64;
    uint8_t entries[64 * PK_ENTRY_BYTES], end[PK_END_BYTES] = {0}, block[PK_INFO_BYTES + 1024] = {0};
    memcpy(entries, data + 1, n * one);
    for (size_t i = 0; i < n; i++) {
        pk_put64(entries + i * one, PK_MAGIC_BYTES + i);
        pk_put64(entries + i * one + 8, i);
    }
    dl_str file = {0};
    pk_header h = {.kind = PK_BLOCK,
                   .version = PK_VERSION,
                   .plain = true,
                   .stored = sizeof block,
                   .size = 1024,
                   .id = 1};
    dl_str_add_n(&file, PK_MAGIC, PK_MAGIC_BYTES);
    add_frame(&file, &h, block);
    pk_put64(end, n);
    pk_put64(end + 32, file.len);
    h.kind = PK_INDEX;
    h.version = (uint8_t)version;
    h.stored = h.size = (uint32_t)(n * one);
    h.text_check = XXH64(entries, h.size, 0);
    add_frame(&file, &h, entries);
    h = (pk_header){.kind = PK_END,
                    .version = PK_VERSION,
                    .plain = true,
                    .stored = sizeof end,
                    .size = sizeof end,
                    .id = 1};
    h.text_check = XXH64(end, sizeof end, 0);
    add_frame(&file, &h, end);
    if (!file.failed) plan(&file);
    dl_str_free(&file);
}

static void plan_file(const uint8_t *data, size_t size)
{
    if (size) plan(&(dl_str){.text = (char *)data, .len = size});
}

/* Whether a log may begin somewhere that is packed, or a capture: these are unpacked once, and not twice. */
static bool may_be_packed(const uint8_t *data, size_t size)
{
    static const char *const begins[] = {PK_MAGIC, DL_CAPTURE_MAGIC, "\x1f\x8b", "\x28\xb5\x2f\xfd",
                                         "\xfd\x37zXZ"};
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (size && memmem(data, size, begins[i], strlen(begins[i]))) return true;
    return false;
}

/* What is decoded from blocks is what is decoded from their text. */
static void decode_alike(const uint8_t *data, size_t size)
{
    if (may_be_packed(data, size)) return;
    const size_t block = 64 + 16 * (size_t)(size ? data[0] : 0);
    const bool listens = size % 2;
    const dl_decode_options options = {.threads = 1};
    test_digest text, packed;
    if (test_digest_of(&text, (const char *)data, size, &options) != DEVLOG_OK) return;
    if (!listens) test_digest_only_statistics(&text);
    if (test_digest_of_packed(&packed, (const char *)data, size, block, listens, &options) != DEVLOG_OK)
        abort();
    if (memcmp(&text, &packed, sizeof text) != 0) abort();
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Zones and their statistics of what a filter lets through, in the order of their texts. */
static void zones_of(dl_decode *d, dl_str *out)
{
    const dl_tables *t = dl_decode_tables(d);
    char **lines = calloc(dl_decode_n_keys(d) + 1, sizeof *lines);
    size_t n = 0;
    if (!lines) abort();
    for (size_t i = 0; i < dl_decode_n_keys(d); i++) {
        const dl_key *k = dl_decode_key(d, i);
        const dl_stream *s = &t->streams[k->stream];
        if (k->count && asprintf(&lines[n++], "%u %u %u %s %s: %llu %llu %llu %llu", t->chips[s->chip].id,
                                 s->core_x, s->core_y, dl_risc_text(t, k->stream), dl_site_text(t, k->site),
                                 (unsigned long long)k->count, (unsigned long long)k->sum,
                                 (unsigned long long)k->min, (unsigned long long)k->max) < 0)
            abort();
    }
    qsort(lines, n, sizeof *lines, by_text);
    for (size_t i = 0; i < n; i++) {
        dl_str_fmt(out, "%s\n", lines[i]);
        free(lines[i]);
    }
    free(lines);
}

/* The log's file, or what the index of a packed one says that the filter wants of it. */
static void decode_part(const void *file, size_t n, const dl_filter *filter, dl_str *out)
{
    char path[64];
    const dl_decode_options how = {.filter = *filter, .threads = 1, .only_input = true};
    dl_decode *d;
    devlog_error err;
    const int fd = memfd_create("part", 0);
    if (fd < 0 || write(fd, file, n) != (ssize_t)n) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (dl_decode_new(&d, &how, &err) || dl_decode_file(d, path, &err) || dl_decode_finish(d, &err)) abort();
    zones_of(d, out);
    dl_decode_free(d);
    close(fd);
}

/* A part of a packed log has the zones that it has in the whole log. */
static void window_alike(const uint8_t *data, size_t size)
{
    static const dl_filter_range some = {1025, 1026}, one = {8, 8}, second = {2, 2};
    static const dl_filter_id picked[] = {{5, 0, 2}, {1026, 0, DL_FILTER_ANY}};
    static const dl_filter filters[] = {
        {.launches = &some, .n_launches = 1},
        {.launches = &one, .n_launches = 1},
        {.from = 103000, .to = 107000},
        {.from = 2170879450000, .to = 2170879480000},
        {.sessions = &second, .n_sessions = 1},
        {.traces = &second, .n_traces = 1},
        {.picks = true, .picked = picked, .n_picked = 2},
        {.picks = true, .also = true, .picked = picked, .n_picked = 1, .sessions = &second, .n_sessions = 1}};
    if (size < 2 || may_be_packed(data, size)) return;
    const dl_filter *f = &filters[data[size / 2] % (sizeof filters / sizeof filters[0])];
    dl_str packed = {0}, whole = {0}, part = {0};
    if (test_pack((const char *)data, size, PK_FIRST_TEXT + (size_t)data[size / 3], 1, &packed)) abort();
    decode_part(data, size, f, &whole);
    decode_part(packed.text, packed.len, f, &part);
    fuzz_same(&whole, &part);
    dl_str_free(&packed);
    dl_str_free(&whole);
    dl_str_free(&part);
}

static void unpack_all(const uint8_t *data, size_t size)
{
    dl_str back = {0};
    pk_damage damage = {0};
    (void)test_unpack(data, size, 1, &back, &damage);
    dl_str_free(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const all[])(const uint8_t *data, size_t size) = {unpack_all,   unpack_block, decode_block,
                                                                    decode_block, read_index,   plan_file,
                                                                    come_back,    decode_alike, window_alike};
    const uint32_t ways = fuzz_ways(data, size, sizeof all / sizeof all[0]);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (ways >> i & 1) all[i](data, size);
    return 0;
}
