/* Captures of any bytes: read, made into marks, paired; and the same result record by record, and with
 * statistics alone. Its corpus holds small captures of real launches. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/decode.h"
#include "support/digest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    test_digest quick, slow, alone;
    dl_decode_options options = {.threads = 1, .keep_meta = true, .no_samples = size & 1};
    devlog_status status = test_capture_digest(&quick, data, size, &options, true);
    if (test_capture_digest(&alone, data, size, &options, false) != status) abort();
    options.path = DL_PARSE_SLOW;
    if (test_capture_digest(&slow, data, size, &options, true) != status) abort();
    if (!status && memcmp(&quick, &slow, sizeof quick) != 0) abort();
    test_digest_only_statistics(&quick);
    if (!status && memcmp(&quick, &alone, sizeof quick) != 0) abort();
    return 0;
}
