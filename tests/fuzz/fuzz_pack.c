/* Packed logs of any bytes are unpacked; and any bytes come back when they are packed, in blocks of a size
 * that their first byte tells. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dl_str back = {0};
    pk_damage damage = {0};
    (void)test_unpack(data, size, 1, &back, &damage);
    dl_str_free(&back);
    unpack_block(data, size);
    come_back(data, size);
    return 0;
}
