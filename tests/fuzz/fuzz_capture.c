/* Captures of any bytes: read, made into marks, paired; and the same result record by record, with
 * statistics alone, where some of the marks are looked at, and where sums of events are. Its corpus holds small captures of real launches. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/decode.h"
#include "support/digest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    test_digest quick, slow, alone, some, sums;
    dl_decode_options options = {.threads = 1, .keep_meta = true, .no_samples = size & 1};
    devlog_status status = test_capture_digest(&quick, data, size, &options, TEST_LISTENS_TO_ALL);
    if (test_capture_digest(&alone, data, size, &options, TEST_LISTENS_TO_NOTHING) != status) abort();
    if (test_capture_digest(&some, data, size, &options, TEST_LISTENS_TO_SOME) != status) abort();
    if (test_capture_digest(&sums, data, size, &options, TEST_LISTENS_TO_SUMS) != status) abort();
    sums.n_sums = 0;
    options.path = DL_PARSE_SLOW;
    if (test_capture_digest(&slow, data, size, &options, TEST_LISTENS_TO_ALL) != status) abort();
    if (!status && memcmp(&quick, &slow, sizeof quick) != 0) abort();
    if (test_capture_digest(&slow, data, size, &options, TEST_LISTENS_TO_SOME) != status) abort();
    if (!status && memcmp(&some, &slow, sizeof some) != 0) abort();
    if (test_capture_digest(&slow, data, size, &options, TEST_LISTENS_TO_SUMS) != status) abort();
    if (!status && memcmp(&sums, &slow, sizeof sums) != 0) abort();
    test_digest_only_statistics(&quick);
    if (!status && memcmp(&quick, &alone, sizeof quick) != 0) abort();
    return 0;
}
