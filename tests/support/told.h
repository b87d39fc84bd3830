/* All that a decoder says, as text, to hold two ways of decoding to one another: tables, statistics, samples, analyses, stamps. */
#ifndef DEVLOG_TESTS_TOLD_H
#define DEVLOG_TESTS_TOLD_H

#include <stdbool.h>

#include "base/str.h"
#include "decode/decode.h"

/* One more analysis, of a kind that follows nothing that is open behind a cut. */
extern bool told_with_both;

/* A decoder with analyses: the default ones, and those of kinds that are not among them. */
devlog_status told_new(dl_decode **d, const dl_decode_options *options, devlog_error *err);
/* What it says when it has finished. */
void told_all(dl_decode *d, dl_str *out);

#endif
