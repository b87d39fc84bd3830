/* Analyses: what to measure between which markers, as the reference decoder's configuration says it: a name,
 * across what (RISC, core, device, op), how (adjacent, first to last, sum, list of events), and two
 * conditions on markers. This is the description and its JSON form; decode/analysis/analyzer.h computes it.
 * docs/file-formats.md shows the JSON by example. */
#ifndef DEVLOG_DECODE_ANALYSIS_H
#define DEVLOG_DECODE_ANALYSIS_H

#include "base/str.h"
#include "decode/row.h"
#include "decode/tables.h"

enum { DL_MAX_ANALYSES = 64, DL_MAX_MATCH_ZONES = 64 };

/* Whose markers make one series, ordered by time. */
typedef enum dl_across {
    DL_ACROSS_RISC,
    DL_ACROSS_CORE,   /* the RISCs of a core merged */
    DL_ACROSS_DEVICE, /* the cores of a chip merged */
    DL_ACROSS_OPS,    /* as DEVICE, each launch by itself */
} dl_across;

typedef enum dl_analysis_type {
    DL_ANALYSIS_ADJACENT,           /* the last start before an end, and the first end after it */
    DL_ANALYSIS_SESSION_FIRST_LAST, /* the first start to the last end */
    DL_ANALYSIS_OP_FIRST_LAST,      /* the same for every launch */
    DL_ANALYSIS_OP_CORE_FIRST_LAST, /* the same for every launch and core */
    DL_ANALYSIS_SUM,                /* adds the data of ZONE_TOTAL markers */
    DL_ANALYSIS_EVENT,              /* lists TS_EVENT and TS_DATA markers */
} dl_analysis_type;

/* A condition on a marker: everything that is set must hold. */
typedef struct dl_match {
    bool t0;        /* not a marker at all: the earliest stamp of the chip (timerID 0) */
    bool has_core;  /* core_x, core_y */
    bool has_timer; /* timer_id */
    bool has_role;  /* role */
    uint8_t types;  /* 1 << dl_row_type, one or more */
    uint16_t core_x, core_y;
    uint32_t timer_id;
    dl_role role;
    char *risc;   /* NULL: any; a trailing * is a prefix; TRISC_0 and TRISC0 are the same */
    char **zones; /* any of these, a trailing * is a prefix */
    size_t n_zones;
} dl_match;

typedef struct dl_analysis {
    char *name;
    dl_across across;
    dl_analysis_type type;
    dl_match start, end; /* sums and events: start is the marker, end is unused */
} dl_analysis;

/* Zero-initialised is empty. */
typedef struct dl_analysis_list {
    dl_analysis *items;
    size_t n;
} dl_analysis_list;

/* Adds the analyses of a JSON text. One of a name that is in the list already takes its place. Fails with
 * FORMAT, the text naming `source`, the analysis and what is wrong with it; the list is then as it was or
 * longer. */
devlog_status dl_analyses_parse(dl_analysis_list *list, const char *source, const char *text,
                                devlog_error *err);
/* The same for a file. */
devlog_status dl_analyses_read(dl_analysis_list *list, const char *path, devlog_error *err);
/* Adds the default analyses; their JSON is dl_analyses_default_text. */
devlog_status dl_analyses_defaults(dl_analysis_list *list, devlog_error *err);
void dl_analyses_default_text(dl_str *out);
void dl_analyses_free(dl_analysis_list *list);

bool dl_match_stream(const dl_match *m, const dl_tables *t, const dl_stream *s);
/* Without the timer id. */
bool dl_match_site(const dl_match *m, const dl_tables *t, const dl_site *s, dl_row_type type);

const char *dl_across_text(dl_across across);
const char *dl_analysis_type_text(dl_analysis_type type);

#endif
