/* Analyzer: computes analyses (decode/analysis/analysis.h) while runs come, and gives exact statistics.
 *
 *     dl_analyzer_new(&a, decode, list, err);
 *     dl_decode_run_sink(decode, dl_analyzer_sink(a), err);
 *     ... dl_decode_file ..., dl_decode_finish
 *     dl_analyzer_finish(a, err);
 *     ... dl_analyzer_results(a, i, &n) ...
 *
 * Memory: a first and a last stamp per analysis and launch, core or chip, and four bytes per duration for
 * exact medians, as everywhere. Adjacent markers of several RISCs need the RISCs' markers in one order, which
 * the log does not have: four bytes for each marker that such an analysis matches are kept too, and 16 for
 * those of one core (or chip) at a time when it finishes. */
#ifndef DEVLOG_DECODE_ANALYZER_H
#define DEVLOG_DECODE_ANALYZER_H

#include "decode/analysis/analysis.h"
#include "decode/decode.h"
#include "decode/pair/pair_absorb.h"
#include "decode/run.h"
#include "decode/wire.h"

enum { DL_MAX_LISTED = 64 * 1024 }; /* events of an analysis that are listed; further ones are only counted */

/* One line of results: an analysis on a chip (core_x == core_y == DL_NONE), on one of its cores, or on one
 * RISC of it (stream != DL_NONE). */
typedef struct dl_analysis_result {
    uint32_t chip; /* index into chips */
    uint32_t core_x, core_y, stream;
    uint64_t incomplete; /* starts without an end, of the chip as a whole */
    dl_summary summary;
} dl_analysis_result;

typedef struct dl_analysis_event {
    uint64_t time, data;
    uint32_t stream, site, launch;
    uint32_t meta; /* text, 0: none */
    dl_row_type type;
} dl_analysis_event;

typedef struct dl_analyzer dl_analyzer;

/* The list and the decoder are borrowed. */
devlog_status dl_analyzer_new(dl_analyzer **out, dl_decode *decode, const dl_analysis_list *list,
                              devlog_error *err);
void dl_analyzer_free(dl_analyzer *a);
dl_run_sink dl_analyzer_sink(dl_analyzer *a);
/* After dl_decode_finish, once. */
devlog_status dl_analyzer_finish(dl_analyzer *a, devlog_error *err);

/* A log in parts (decode/parts/parts.h), all with the same analyses. NULL: what the part's analyses have come to follows exactly;
 * otherwise why it does not, a text for people. */
const char *dl_analyzer_follows(dl_analyzer *a, dl_analyzer *part, const dl_absorb_map *map);
/* Puts it behind, when its decoder's launches have been; `part` is only to be freed then. */
devlog_status dl_analyzer_absorb(dl_analyzer *a, dl_analyzer *part, const dl_absorb_map *map,
                                 devlog_error *err);
/* What has come, as bytes behind those of its decoder; or from them, into a new one. */
void dl_analyzer_wire(dl_analyzer *a, dl_wire *w);

/* Results of analysis i of the list, by chip; for each chip first the whole, then its cores by y and x, and
 * in analyses across RISCs its RISCs. Analyses across device or ops have the wholes only. */
const dl_analysis_result *dl_analyzer_results(const dl_analyzer *a, size_t i, size_t *n);
/* What an analysis of type event listed, by chip and time. */
const dl_analysis_event *dl_analyzer_events(const dl_analyzer *a, size_t i, size_t *n);
const dl_analysis_list *dl_analyzer_list(const dl_analyzer *a);

#endif
