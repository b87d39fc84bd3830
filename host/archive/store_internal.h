/* What the files of the archive's store share. Included by store.c, store_add.c and store_read.c. */
#ifndef DEVLOG_ARCHIVE_STORE_INTERNAL_H
#define DEVLOG_ARCHIVE_STORE_INTERNAL_H

#include "archive/archive.h"
#include "report/sqlite_library.h"

struct archive {
    sqlite3 *db;
    char *path;
    int64_t version; /* of its tables */
};

/* What SQLite says of the last call, in our words. */
devlog_status store_failed(const archive *a, devlog_error *err);
/* Statements that give nothing. */
devlog_status store_run(archive *a, const char *sql, devlog_error *err);
devlog_status store_prepare(archive *a, const char *sql, sqlite3_stmt **s, devlog_error *err);
/* One step of a statement that gives nothing; it may be used again. */
devlog_status store_step(archive *a, sqlite3_stmt *s, devlog_error *err);
/* NULL is none. */
void store_bind_text(sqlite3_stmt *s, int at, const char *text);

#endif
