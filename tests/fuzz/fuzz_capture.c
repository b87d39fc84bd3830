/* Captures of any bytes: read, made into rows, paired; and the same result when records go straight to
 * statistics. Its corpus holds small captures of real launches. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/decode.h"
#include "support/digest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    test_digest direct, general;
    const dl_decode_options options = {.threads = 1, .keep_meta = true, .no_samples = size & 1};
    devlog_status status = test_statistics_of(&direct, data, size, &options, false);
    if (test_statistics_of(&general, data, size, &options, true) != status) abort();
    if (!status && memcmp(&direct, &general, sizeof direct) != 0) abort();
    return 0;
}
