/* Where a capture can be cut into parts: behind the frame of a launch, which comes after its cores. And what of the frames before
 * a cut says what those behind it mean: chips and ELF files, which a part is told first. */
#ifndef DEVLOG_DECODE_CAPTURE_INDEX_H
#define DEVLOG_DECODE_CAPTURE_INDEX_H

#include "base/str.h"
#include "decode/capture/capture.h"
#include "decode/wire.h"

typedef struct dl_capture_place {
    uint64_t at;     /* byte of the file */
    uint64_t before; /* of a cut: frames before it; of a frame: bytes of `frames` before it */
} dl_capture_place;

typedef struct dl_capture_places {
    dl_capture_place *items;
    uint32_t n, cap;
} dl_capture_places;

/* Zero-initialised; of one file. */
typedef struct dl_capture_index {
    dl_str frames;              /* of chips and ELF files, as they stand in the file */
    dl_capture_places standing; /* and where each of them stands */
    dl_capture_places cuts;     /* before which it can be cut; only where it is made */
    bool closed;                /* all of its chips have said that nothing more comes */
    bool whole; /* it cannot be cut: it holds what parts would have to know of one another, or is damaged */
    bool pending, failed; /* while it is made: an expectation waits for its core; out of memory */
} dl_capture_index;

void dl_capture_index_free(dl_capture_index *x);
/* As dl_capture_sink.stands, in the order of the file. */
void dl_capture_index_frame(dl_capture_index *x, const dl_capture_standing *frame);
/* All frames have been seen. False: out of memory. */
bool dl_capture_index_end(dl_capture_index *x, const dl_capture_state *state);
/* The first cut at or behind a byte; NULL: there is none. */
const dl_capture_place *dl_capture_index_cut(const dl_capture_index *x, uint64_t at);
/* How many of the standing frames are before a byte. */
uint32_t dl_capture_index_before(const dl_capture_index *x, uint64_t at);
/* All but the cuts. */
void dl_capture_index_wire(dl_capture_index *x, dl_wire *w);

/* A part of a capture for who reads its marks (capture_marks.h). */
typedef struct dl_capture_part {
    const dl_capture_index *index; /* of the file */
    const char *path;
    uint64_t at, frame; /* byte at which it begins, and frames before it */
    bool last;          /* of the file */
    /* What it hands to the next: */
    uint64_t last_time; /* of all marks so far */
    bool any;           /* there were some */
    bool needs_before;  /* it would have had to know those of the part before it */
    bool unread;        /* what is before it could not be read again */
    dl_str sets; /* of markers that were passed (price.h): two numbers each, the first for the ELF file */
} dl_capture_part;

#endif
