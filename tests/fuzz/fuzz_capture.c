/* Captures of any bytes: read, made into marks, paired; and the same result record by record, with
 * statistics alone, where some of the marks are looked at, and where sums of events are. Its corpus holds small captures of real launches. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/decode.h"
#include "fuzz/fuzz.h"
#include "support/digest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Who listens to the decoder that goes record by record: statistics alone are those of any other. */
    static const test_listens compared[] = {
        [TEST_LISTENS_TO_NOTHING] = TEST_LISTENS_TO_ALL,
        [TEST_LISTENS_TO_ALL] = TEST_LISTENS_TO_ALL,
        [TEST_LISTENS_TO_SOME] = TEST_LISTENS_TO_SOME,
        [TEST_LISTENS_TO_SUMS] = TEST_LISTENS_TO_SUMS,
    };
    const uint32_t ways = fuzz_ways(data, size, sizeof compared / sizeof compared[0]);
    for (test_listens l = 0; l < sizeof compared / sizeof compared[0]; l++) {
        if (!(ways >> l & 1)) continue;
        test_digest quick, slow;
        dl_decode_options options = {.threads = 1, .keep_meta = size & 2, .no_samples = size & 1};
        const devlog_status status = test_capture_digest(&quick, data, size, &options, l);
        if (quick.n_rows) fuzz_got_inside();
        options.path = DL_PARSE_SLOW;
        if (test_capture_digest(&slow, data, size, &options, compared[l]) != status) abort();
        if (l == TEST_LISTENS_TO_NOTHING) test_digest_only_statistics(&slow);
        quick.n_sums = slow.n_sums = 0;
        if (!status && memcmp(&quick, &slow, sizeof quick) != 0) abort();
    }
    return 0;
}
