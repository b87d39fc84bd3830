/* Captures of any bytes: read, made into rows, paired. Its corpus holds small captures of real launches. */
#include <stdint.h>

#include "decode/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    devlog_error err;
    dl_decode *d;
    const dl_decode_options options = {.keep_meta = true};
    if (dl_decode_new(&d, &options, &err) != DEVLOG_OK) return 0;
    dl_decode_memory(d, "fuzz", data, size, &err);
    dl_decode_finish(d, &err);
    dl_decode_free(d);
    return 0;
}
