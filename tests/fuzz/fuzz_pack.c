/* Packed logs of any bytes are unpacked; and any bytes come back when they are packed, in blocks of a size
 * that their first byte tells. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "decode/decode.h"
#include "pack/frame.h"
#include "support/packed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void come_back(const uint8_t *data, size_t size)
{
    dl_str packed = {0}, back = {0};
    pk_damage damage = {0};
    const size_t block = size && data[0] & 1 ? 64 + 16 * (size_t)data[0] : 1 << 16;
    if (test_pack((const char *)data, size, block, 1, &packed)) abort();
    if (test_unpack(packed.text, packed.len, 1, &back, &damage)) abort();
    if (damage.findings || back.len != size || (size && memcmp(back.text, data, size) != 0)) abort();
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
    static const char lines[] =
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y, RISC processor type, "
        "timer_id, time[cycles since reset], data, run host ID, trace id, trace id counter, zone "
        "name, type, source line, source file, meta data\n";
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
    dl_decode_free(d);
    dl_str_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dl_str back = {0};
    pk_damage damage = {0};
    (void)test_unpack(data, size, 1, &back, &damage);
    dl_str_free(&back);
    unpack_block(data, size);
    decode_block(data, size);
    come_back(data, size);
    return 0;
}
