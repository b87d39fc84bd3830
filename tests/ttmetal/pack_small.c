/* Packs a log in small blocks, so that a part of a short log is a part: pack_small BYTES LOG FILE. */
#include <stdio.h>
#include <stdlib.h>

#include "support/packed.h"

int main(int argc, char **argv)
{
    static char text[64 * 1024 * 1024];
    dl_str packed = {0};
    FILE *in = argc == 4 ? fopen(argv[2], "rb") : NULL, *out = in ? fopen(argv[3], "wb") : NULL;
    if (!out) return 2;
    const size_t n = fread(text, 1, sizeof text, in);
    if (n == sizeof text || test_pack(text, n, strtoul(argv[1], NULL, 10), 1, &packed) != DEVLOG_OK) return 2;
    const bool ok = fwrite(packed.text, 1, packed.len, out) == packed.len;
    dl_str_free(&packed);
    fclose(in);
    return fclose(out) == 0 && ok ? 0 : 2;
}
