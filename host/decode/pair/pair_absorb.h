/* Pairing of a log in parts: each part is paired by itself, as if nothing were before it, and then put behind what is
 * before it. That is exact only where the parts do not touch one another, which is found out afterwards, stream by stream:
 * dl_pair_follows says why a part does not follow, and then it must be paired again behind the other. */
#ifndef DEVLOG_DECODE_PAIR_ABSORB_H
#define DEVLOG_DECODE_PAIR_ABSORB_H

#include "decode/pair/launch.h"
#include "decode/pair/pair.h"

/* Numbers of a part's tables in those of what is before it. */
typedef struct dl_absorb_map {
    const dl_tables *from;
    dl_tables *to;
    uint32_t *chips, *streams, *sites, *kinds;
    dl_launch_join join; /* of launches, known when the part follows */
    uint32_t *launches;  /* known when it has been put behind; NULL: nobody asks for them */
} dl_absorb_map;

/* How the part came about. */
typedef struct dl_absorb_part {
    bool file;           /* it begins with a file: nothing of a run goes on */
    uint32_t headers;    /* chip lines that it was told before its first line */
    uint32_t line_shift; /* from its numbers of lines to those of what is before it */
    uint64_t run_shift;  /* the same of all lines, where several files are counted as one */
    bool launches;       /* launches are put together, too; otherwise nobody asks for them */
} dl_absorb_part;

/* *why NULL: the part follows exactly; otherwise why it does not, a text for people. Nothing that matters is changed. */
devlog_status dl_pair_follows(dl_pair *p, const dl_pair *part, dl_absorb_map *map, const dl_absorb_part *how,
                              const char **why, devlog_error *err);
/* Puts it behind; `part` is used up, and only to be freed. Its losses have been taken already, but for zones without an
 * end, of which `unpaired` are the details, freed here. */
devlog_status dl_pair_absorb(dl_pair *p, dl_pair *part, dl_absorb_map *map, const dl_absorb_part *how,
                             char *unpaired[DL_DETAILS_PER_KIND], devlog_error *err);
/* The number here of a text of the part's tables; DL_NONE: out of memory. */
uint32_t dl_absorb_text(const dl_absorb_map *map, uint32_t text);
/* A file of a part begins: lines of files before it, and its name as a text of the tables. */
void dl_pair_begin_file(dl_pair *p, uint64_t lines_before, uint32_t name);
/* Streams of the first and of the last mark so far, DL_NONE: there is none. */
uint32_t dl_pair_first_stream(const dl_pair *p);
uint32_t dl_pair_last_stream(const dl_pair *p);
/* Marks of the part that have not been paired yet, as if they had been read behind what was before it. False: out of
 * memory. */
bool dl_absorb_marks(const dl_absorb_map *map, const dl_absorb_part *how, dl_marks *marks);
/* Chip lines so far, and the last of them. */
uint32_t dl_pair_headers(const dl_pair *p, const dl_chip_line **last);

#endif
