/* Packed logs in memory, for tests and fuzz targets. */
#ifndef DEVLOG_TESTS_PACKED_H
#define DEVLOG_TESTS_PACKED_H

#include "base/str.h"
#include "pack/pack.h"

/* Appends the log, packed in blocks of `block` bytes of text (0: the usual), to *out. */
devlog_status test_pack(const char *text, size_t n, size_t block, unsigned threads, dl_str *out);
/* Appends what can be unpacked to *out. */
devlog_status test_unpack(const void *bytes, size_t n, unsigned threads, dl_str *out, pk_damage *damage);

#endif
