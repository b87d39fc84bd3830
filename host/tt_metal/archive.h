/* A profiler's files in a tar or zip, tt-metal's or devlog's: those that a report needs are unpacked into a folder of their own. */
#ifndef DEVLOG_TT_METAL_ARCHIVE_H
#define DEVLOG_TT_METAL_ARCHIVE_H

#include <stdbool.h>

#include "base/error.h"

/* Whether a file is a tar (also packed as a whole: .tar.gz, .tar.zst, .tar.xz) or a zip. */
bool tt_is_archive(const char *path);
typedef enum tt_unpack_what { TT_UNPACK_ALL, TT_UNPACK_OP_LOG } tt_unpack_what;
/* Unpacks the profiler's files of an archive, and nothing else, or only logs of ops, into `folder`: by their last names,
 * those of rank<N>/, logs/ and logs_device/ into a folder of that name. Names in the archive lead nowhere else. Where files
 * of several runs would have one place, only those in a folder .logs, which is the last run's, are taken. NOT_FOUND when
 * there is none of them, FORMAT when the archive is damaged before its end, ARGUMENT when it has files of several runs and
 * not one .logs. */
devlog_status tt_unpack(const char *path, const char *folder, tt_unpack_what what, devlog_error *err);
/* Removes what tt_unpack has made, and the folder. */
void tt_unpacked_remove(const char *folder);

#endif
