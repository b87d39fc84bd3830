/* Device logs of any bytes, by the fast path and by libcsv alone, mark by mark, which must say the same. The first byte
 * chooses how the fast one reads: vector instructions, listeners, meta data, threads, block size; other bytes a
 * filter. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "support/digest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every second input goes through a filter; times and names are those of the corpus. */
static dl_filter filter_of(const uint8_t *data, size_t size)
{
    static const char *const riscs[] = {"BRISC"}, *const zones[] = {"a", "*-FW"};
    static const dl_filter_range launches = {7, 8}, chips = {0, 0};
    static const dl_filter_core core = {1, 1};
    static const dl_filter filters[] = {
        {.riscs = riscs, .n_riscs = 1},
        {.zones = zones, .n_zones = 2},
        {.min_cycles = 20},
        {.from = 2170879456600, .to = 2170879500000},
        {.launches = &launches, .n_launches = 1},
        {.skip_launches = 2},
        {.cores = &core, .n_cores = 1},
        {.chips = &chips, .n_chips = 1, .min_cycles = 2},
    };
    enum { FILTERS = sizeof filters / sizeof filters[0] };
    const uint8_t last = data[size - 1], middle = data[size / 2];
    return (last + middle) % 2 ? filters[(last * 7u + middle + size) % FILTERS] : (dl_filter){0};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const dl_parse_path paths[] = {DL_PARSE_BEST, DL_PARSE_SSE2, DL_PARSE_SCALAR, DL_PARSE_SLOW};
    if (size == 0) return 0;
    const char *text = (const char *)data + 1;
    size_t n = size - 1;
    dl_decode_options options = {.path = DL_PARSE_CSV,
                                 .threads = 1,
                                 .no_shapes = true,
                                 .keep_meta = data[0] >> 3 & 1,
                                 .filter = filter_of(data, size)};
    /* A block smaller than a line is a fault of its own, so both have the same. */
    options.block = data[0] & 0x80 ? n + 1 : data[0] & 0x40 ? 300 : 4096;
    test_digest expected, got;
    if (test_digest_of(&expected, text, n, &options) != DEVLOG_OK) return 0;
    if (expected.n_rows) fuzz_got_inside();
    options.no_shapes = false;
    options.path = paths[data[0] & 3];
    /* Seldom: threads that wait for each other cost more than a decoding. */
    options.threads = (data[0] & 0x30) == 0x30 && size % 8 == 0 ? 2 : 1;
    /* Without listeners rows go another way; meta data that are kept become entries of the tables. */
    bool listen = data[0] >> 2 & 1 || options.keep_meta;
    if (!listen) test_digest_only_statistics(&expected);
    if ((listen ? test_digest_of : test_digest_of_statistics)(&got, text, n, &options) != DEVLOG_OK) return 0;
    if (memcmp(&got, &expected, sizeof got) != 0) abort();
    return 0;
}
