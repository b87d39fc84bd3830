/* Everything that a decoder says about a log, as a few numbers: to compare ways of reading it. */
#ifndef DEVLOG_TESTS_DIGEST_H
#define DEVLOG_TESTS_DIGEST_H

#include "decode/decode.h"

typedef struct test_digest {
    uint64_t events, markers, tables, launches, losses, keys;
    uint64_t n_rows, n_texts, n_sums;
    uint64_t listed[2], counted[2]; /* zones [true] and other events, while decoding */
    const dl_tables *tables_of;     /* while decoding */
    struct test_sums *sums;         /* the same */
} test_digest;

/* Decodes the text three times with one decoder, in two inputs and in one, so that what is remembered of one
 * is tried on the next. Returns the first status that is not DEVLOG_OK. */
devlog_status test_digest_of(test_digest *digest, const char *text, size_t n,
                             const dl_decode_options *options);
/* The same without a consumer of events and marks, as when statistics are all that is wanted: their
 * digests stay 0. */
devlog_status test_digest_of_statistics(test_digest *digest, const char *text, size_t n,
                                        const dl_decode_options *options);
/* The same of what is packed in blocks of so many bytes (0: the usual), with consumers or without. */
devlog_status test_digest_of_packed(test_digest *digest, const char *text, size_t n, size_t block,
                                    bool listen, const dl_decode_options *options);
/* What of a digest does not depend on who listens. */
void test_digest_only_statistics(test_digest *digest);

typedef enum test_listens {
    TEST_LISTENS_TO_NOTHING,
    TEST_LISTENS_TO_ALL,
    TEST_LISTENS_TO_SOME, /* marks of some kinds, on some RISCs: the digest is of those */
    TEST_LISTENS_TO_SUMS, /* what zones come to, from the fourth launch on: the digest of events is of that */
} test_listens;

/* The same of a capture, which is decoded twice with one decoder. */
devlog_status test_capture_digest(test_digest *digest, const void *bytes, size_t n,
                                  const dl_decode_options *options, test_listens listens);

#endif
