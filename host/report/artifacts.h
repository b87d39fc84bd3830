/* Artifacts: the files that `devlog decode` leaves in its output folder. One table of them is in artifacts.c;
 * each entry says how its file is made. A new one is an id here, a line in the table, and a --no-NAME in
 * cli/cmd_decode.c.
 *
 *     dl_artifacts_new(&set, decode, &options, err);     before the first input: entries ask for runs
 *     ... dl_decode_file ..., dl_decode_finish
 *     dl_artifacts_finish(set, err);
 *     dl_artifacts_write(set, err);
 *     ... dl_artifacts_path(set, i) ...
 *     dl_artifacts_free(set);                            before dl_decode_free
 *
 * Every file is written under a temporary name and renamed when it is whole; one that cannot be written is as
 * it was. */
#ifndef DEVLOG_REPORT_ARTIFACTS_H
#define DEVLOG_REPORT_ARTIFACTS_H

#include "base/file.h"
#include "decode/analysis/analyzer.h"

/* In the order in which they are written, listed and packed. */
typedef enum dl_artifact_id {
    DL_ARTIFACT_STATS,
    DL_ARTIFACT_REARRANGED,
    DL_ARTIFACT_PAGE,
    DL_ARTIFACT_KINDS,
} dl_artifact_id;

typedef struct dl_artifacts dl_artifacts;

typedef struct dl_artifact {
    const char *file; /* "device_stats.txt" */
    /* Before the first input: makes *state and asks for what it wants to see (dl_artifacts_runs).
     * May be NULL. */
    devlog_status (*begin)(dl_artifacts *set, void **state, devlog_error *err);
    /* After dl_decode_finish, one after the other. May be NULL, as may: */
    devlog_status (*ready)(void *state, devlog_error *err);
    /* What takes long and can be made beside the others, perhaps on a thread of its own: after `ready` and before
     * `write`. It only reads what the decoder has. */
    devlog_status (*make)(dl_artifacts *set, void *state, devlog_error *err);
    /* Appends to out->buffer, with dl_file_flush(out) now and then. */
    devlog_status (*write)(dl_artifacts *set, void *state, dl_file_writer *out, devlog_error *err);
    void (*free)(void *state); /* may be NULL */
    /* What its file would take if the log ended now; also while runs are handed on. May be NULL: little. */
    uint64_t (*bytes)(const void *state);
} dl_artifact;

/* Stamps of the rearranged table that other processes have (decode/stamps.h), and write themselves. */
typedef struct dl_stamp_place {
    uint32_t part, stream, column; /* which */
    bool first;                    /* of their cell */
    uint64_t at;                   /* byte of the table at which their text begins */
} dl_stamp_place;

typedef struct dl_artifacts_far {
    void *ctx;
    devlog_status (*place)(void *ctx, const dl_stamp_place *place, devlog_error *err);
    /* All places have been told: their texts go into the file `table`, and, from byte `tar_at` on, into `tar` (NULL: there is none).
     * Both get their names when this has succeeded. */
    devlog_status (*write)(void *ctx, const char *table, const char *tar, uint64_t tar_at, devlog_error *err);
} dl_artifacts_far;

typedef struct dl_artifacts_options {
    const char *folder;      /* made when it is missing */
    const char *prefix;      /* in front of every name; may be NULL */
    const char *title;       /* of the page: the log's name, without folders; may be NULL */
    uint32_t page_intervals; /* in the page at most; 0: DL_PAGE_INTERVALS */
    const char *suffix;      /* before the extension of every name, after a '_'; may be NULL */
    const bool *wanted;      /* of DL_ARTIFACT_KINDS */
    dl_analyzer *analyzer;   /* fed with the runs too, and finished by dl_artifacts_finish; may be NULL */
    struct dl_stamps
        *stamps; /* the rearranged table is made of, collected elsewhere; NULL: they are collected here */
    const dl_artifacts_far *far; /* NULL: all of them are here */
    /* Appends what the page shows besides the log itself, a JSON object; on a thread of its own, after everything has been
     * decoded. NULL: nothing. */
    devlog_status (*answers)(void *ctx, dl_str *out, devlog_error *err);
    /* What the answers are made of, of the runs of this decoder: asked before its first input when there will be a page. false, or
     * NULL: of none. */
    bool (*answers_runs)(void *ctx, dl_decode *decode, dl_run_sink *out);
    void *answers_ctx; /* of both */
    bool tar;          /* pack them into device_perf_results.tar */
} dl_artifacts_options;

/* What the options point to is borrowed. */
devlog_status dl_artifacts_new(dl_artifacts **set, dl_decode *decode, const dl_artifacts_options *options,
                               devlog_error *err);
void dl_artifacts_free(dl_artifacts *set);
/* Writes all that are wanted, then the tar. Stops at the first that fails; *err names it. */
devlog_status dl_artifacts_write(dl_artifacts *set, devlog_error *err);
/* Path of the i-th file written, the tar last; NULL behind the last. Owned by the set. */
const char *dl_artifacts_path(const dl_artifacts *set, size_t i);

/* After dl_decode_finish, before the analyzer's results are read and before dl_artifacts_write. */
devlog_status dl_artifacts_finish(dl_artifacts *set, devlog_error *err);
const dl_artifacts_options *dl_artifacts_get(const dl_artifacts *set);

/* Whether there is room for the files of a log that has been read up to `part` (0 to 1): what they take so far says what they
 * will take. DEVLOG_ERR_IO: there is none, and what to do about it. */
devlog_status dl_artifacts_room(const dl_artifacts *set, double part, devlog_error *err);

/* What is to be said of the files that were written: a sentence; NULL: nothing. */
const char *dl_artifacts_note(const dl_artifacts *set);

/* For the entries: says it. */
void dl_artifacts_say(dl_artifacts *set, const char *fmt, ...) DL_PRINTF(2, 3);
/* For the entries. Several may ask for the same; each gets all of it. */
dl_decode *dl_artifacts_decode(dl_artifacts *set);
/* The analyses' results; NULL when there are none. */
dl_analyzer *dl_artifacts_analyzer(const dl_artifacts *set);
/* What the rearranged table is made of; NULL: nobody wants one. */
struct dl_stamps *dl_artifacts_stamps(const dl_artifacts *set);
devlog_status dl_artifacts_runs(dl_artifacts *set, dl_run_sink sink, devlog_error *err);

#endif
