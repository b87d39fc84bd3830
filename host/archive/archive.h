/* An archive of runs: one SQLite file with what each run was (commit, board, host, date, labels), the figures of its ops and zones, and
 * its files, packed; and what has changed over all of them.
 *
 *     archive_open, archive_add, archive_runs, archive_get     the file, and what is in it        (store.c)
 *     archive_read_run                                         a run's figures, from its files     (run.c)
 *     archive_history                                          when which figure changed           (history.c, change.h)
 *     archive_page                                             all of them as a page               (page.c; in the browser page/history.js)
 *
 * Several programs may write at once: each addition is one transaction, and who comes second waits. A program that dies in it leaves
 * the archive as it was. */
#ifndef DEVLOG_ARCHIVE_ARCHIVE_H
#define DEVLOG_ARCHIVE_ARCHIVE_H

#include "answers/answer.h"
#include "answers/inputs.h"

enum { ARCHIVE_VERSION = 1, ARCHIVE_SCHEMA = 2 /* user_version of the database; 1: without medians */ };

typedef struct archive archive;

/* A figure of a run: an op with its shapes, a zone, or what is true of the whole run. */
typedef struct archive_figure {
    char *kind; /* "run", "op", "zone" */
    char *name;
    char *unit; /* "ns", "cycles" */
    double value, median, count, least, most,
        total; /* value, median: what is compared: an average, or the figure itself; NAN: unknown */
} archive_figure;

typedef struct archive_file {
    char *name, *path;
} archive_file;

typedef struct archive_run {
    int64_t id, date; /* seconds since 1970 */
    char *commit, *board, *host, *name,
        *labels;    /* NULL: unknown; labels: "a=1,b=2", in the order of their names */
    bool lost;      /* its files say that something was lost */
    uint64_t bytes; /* of its files, as packed */
    archive_figure *figures;
    size_t n_figures;
    archive_file *files;
    size_t n_files;
    run_inputs in; /* whose files they are */
} archive_run;

typedef struct archive_runs {
    archive_run *items;
    size_t n;
} archive_runs;

/* What runs are wanted; NULL, 0: any. */
typedef struct archive_filter {
    const char *commit; /* begins like this */
    const char *board, *host, *name;
    const char *const *labels; /* "name=value", all of them */
    size_t n_labels;
    int64_t since, until;
    int64_t id;
} archive_filter;

/* Reads the figures of a run from its files. Free with archive_run_free, also after a failure. */
devlog_status archive_read_run(archive_run *run, const char *path, devlog_error *err);
void archive_run_free(archive_run *run);

/* Opens it; it is made when it is not there and `make`, and brought to this version when it is older. FORMAT: it is damaged, of a newer devlog, or something else. */
devlog_status archive_open(archive **a, const char *path, bool make, devlog_error *err);
void archive_close(archive *a);
/* Adds a run with its files, all of it or nothing; run->id is its number. *known: these files were there already, as that number;
 * medians that it lacks are filled in.
 * Files of more than `most` bytes are left out, and counted in *left_out. */
devlog_status archive_add(archive *a, archive_run *run, uint64_t most, bool *known, size_t *left_out,
                          devlog_error *err);
/* Runs by date, without figures. Free with archive_runs_free. */
devlog_status archive_find(archive *a, const archive_filter *f, archive_runs *out, devlog_error *err);
void archive_runs_free(archive_runs *runs);
/* Writes the files of a run into a folder. */
devlog_status archive_get(archive *a, int64_t id, const char *folder, devlog_error *err);
/* The figures of some runs: calls `take` for each, ordered by kind and name, and by the place of the run in `runs`. Texts are NULL in a
 * file that somebody else has written; `total` is not told. */
typedef devlog_status archive_take(void *ctx, const archive_figure *f, size_t run, devlog_error *err);
devlog_status archive_figures(archive *a, const archive_runs *runs, archive_take *take, void *ctx,
                              devlog_error *err);

typedef struct archive_history_options {
    const char *name;  /* of an op, zone or figure: all its runs, too; NULL: all of them */
    double confidence; /* per cent */
    double least;      /* per cent: smaller changes are not told */
    size_t top;
    bool medians; /* are compared, in place of averages */
} archive_history_options;

typedef struct archive_verdict {
    size_t slower; /* figures whose last change is for the worse */
    bool too_few;  /* runs: no outcome of so many could be told from chance among so many figures */
} archive_verdict;

/* Sections for answer_print.h. */
devlog_status archive_history(archive *a, const archive_runs *runs, const archive_history_options *o,
                              answer *out, archive_verdict *verdict, devlog_error *err);

/* The page of these runs, appended to *out: it asks what has changed by itself, as archive_history does, of those runs that its reader
 * chooses; `name` and `top` of the options are not asked. */
devlog_status archive_page(archive *a, const char *title, const archive_runs *runs,
                           const archive_history_options *o, dl_str *out, devlog_error *err);

#endif
