/* device_rearranged_timestamps.csv: for every core the stamps of its default markers, one row per core. */
#ifndef DEVLOG_REPORT_REARRANGED_H
#define DEVLOG_REPORT_REARRANGED_H

#include "decode/stamps.h"
#include "report/artifacts.h"

extern const dl_artifact dl_artifact_rearranged;

/* Of the artifact's state: what the table is made of. */
dl_stamps *dl_rearranged_stamps(const void *state);

/* A cell's text, or the piece of it whose stamps are here, for who writes it elsewhere: a blank stands between stamps, and before all but the
 * first of the cell. */
enum { DL_STAMP_PREFIX = 12, DL_STAMP_ROOM = 1 + DL_STAMP_PREFIX + DL_U64_DIGITS };

typedef struct dl_stamp_text {
    dl_stamp_walk walk;
    uint64_t base; /* of the prefix; no stamp is near the first */
    size_t
        n_prefix; /* a blank, and the digits that stamps have in common up to the last eight; 0: there are none */
    bool first;
    char prefix[1 + DL_U64_DIGITS];
} dl_stamp_text;

void dl_stamp_text_start(dl_stamp_text *t, const dl_stamp_column *c, bool first);
/* Up to `most` more stamps, as many as surely have room; *written: so many were it, 0: there is none any more. Returns bytes. */
size_t dl_stamp_text_fill(dl_stamp_text *t, uint64_t most, char *out, size_t room, uint64_t *written);

#endif
