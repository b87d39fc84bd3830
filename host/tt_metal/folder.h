/* Which files of tt-metal's profiler a folder holds. */
#ifndef DEVLOG_TT_METAL_FOLDER_H
#define DEVLOG_TT_METAL_FOLDER_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

typedef struct tt_files {
    char *folder;                      /* in which they are */
    char *data, *times, *report, *log; /* paths; NULL: not there */
    char *tracy;                       /* a saved capture of Tracy's */
    char *sync;                        /* how clocks were compared */
    char *zones, *new_zones;           /* where zones stand in the sources */
    char *ops_report;                  /* a report that has been made already: the last by name */
    size_t n_ops_reports;              /* of so many */
} tt_files;

/* What a CSV of the streaming profiler is, by how it begins: its users name it. */
typedef enum tt_streamed { TT_STREAMED_NOT, TT_STREAMED_OPS, TT_STREAMED_ZONES } tt_streamed;
tt_streamed tt_streamed_is(const char *path);
tt_streamed tt_streamed_begins(const char *text, size_t n);

/* Looks into the folder, into .logs in it, and where tt-metal puts them below its root; plain files,
 * .gz, .zst, .xz, and .pack. False: out of memory. What was found is freed with tt_files_free. */
bool tt_files_find(tt_files *f, const char *folder);
/* The file of this name in a folder, plain or packed. NULL: none, or no memory (*no_memory, which stays as it is
 * otherwise). */
char *tt_file_find(const char *folder, const char *name, bool *no_memory);
/* Whether a file is named as Tracy's captures are. */
bool tt_is_tracy(const char *path);
/* Such a file, and what the device left beside it. */
bool tt_files_find_beside(tt_files *f, const char *tracy);
void tt_files_free(tt_files *f);
/* Whether they are tt-metal's, and not a log of devlog's own. */
bool tt_files_are_metals(const tt_files *f);
/* Whether there is a report and nothing that one could be made of. */
bool tt_files_are_a_report(const tt_files *f);
/* tt-metal writes what its host did when the device has ended: a file of that which is older than the device's log, by more than copies
 * are, may be of a run before. In age.c. */
bool tt_data_is_before(const char *data, const char *device_log);
/* Says so of a folder's files, in a line without its end; false: it is not so. */
bool tt_files_say_before(const tt_files *f, dl_str *out);

/* Folders of ranks in it (rank0, rank1, ...), in the order of their numbers; freed by tt_ranks_free. */
typedef struct tt_ranks {
    char **folders;
    unsigned *numbers;
    size_t n;
} tt_ranks;

bool tt_ranks_find(tt_ranks *r, const char *folder);
void tt_ranks_free(tt_ranks *r);

#endif
