/* sqlite3, loaded when a database is wanted (base/library.h). Each file that includes it (sqlite.c, archive/store.c) has a table of
 * its functions. */
#ifndef DEVLOG_REPORT_SQLITE_LIBRARY_H
#define DEVLOG_REPORT_SQLITE_LIBRARY_H

#include <sqlite3.h>

#include "base/library.h"

/* clang-format off */
#define SQLITE_FUNCTIONS(X) \
    X(sqlite3_bind_blob) X(sqlite3_bind_double) X(sqlite3_bind_int) X(sqlite3_bind_int64) \
    X(sqlite3_bind_null) X(sqlite3_bind_text) X(sqlite3_busy_timeout) X(sqlite3_changes) X(sqlite3_close) \
    X(sqlite3_column_blob) X(sqlite3_column_bytes) X(sqlite3_column_double) X(sqlite3_column_int64) \
    X(sqlite3_column_text) X(sqlite3_column_type) X(sqlite3_errcode) X(sqlite3_errmsg) X(sqlite3_exec) \
    X(sqlite3_finalize) X(sqlite3_last_insert_rowid) X(sqlite3_open_v2) X(sqlite3_prepare_v2) \
    X(sqlite3_reset) X(sqlite3_step)
/* clang-format on */

static struct {
    SQLITE_FUNCTIONS(DL_LIBRARY_FIELD)
} sqlite;
static const char *const sqlite_names[] = {SQLITE_FUNCTIONS(DL_LIBRARY_NAME)};
#define sqlite3_bind_blob         sqlite.sqlite3_bind_blob
#define sqlite3_bind_double       sqlite.sqlite3_bind_double
#define sqlite3_bind_int          sqlite.sqlite3_bind_int
#define sqlite3_bind_int64        sqlite.sqlite3_bind_int64
#define sqlite3_bind_null         sqlite.sqlite3_bind_null
#define sqlite3_bind_text         sqlite.sqlite3_bind_text
#define sqlite3_busy_timeout      sqlite.sqlite3_busy_timeout
#define sqlite3_changes           sqlite.sqlite3_changes
#define sqlite3_close             sqlite.sqlite3_close
#define sqlite3_column_blob       sqlite.sqlite3_column_blob
#define sqlite3_column_bytes      sqlite.sqlite3_column_bytes
#define sqlite3_column_double     sqlite.sqlite3_column_double
#define sqlite3_column_int64      sqlite.sqlite3_column_int64
#define sqlite3_column_text       sqlite.sqlite3_column_text
#define sqlite3_column_type       sqlite.sqlite3_column_type
#define sqlite3_errcode           sqlite.sqlite3_errcode
#define sqlite3_errmsg            sqlite.sqlite3_errmsg
#define sqlite3_exec              sqlite.sqlite3_exec
#define sqlite3_finalize          sqlite.sqlite3_finalize
#define sqlite3_last_insert_rowid sqlite.sqlite3_last_insert_rowid
#define sqlite3_open_v2           sqlite.sqlite3_open_v2
#define sqlite3_prepare_v2        sqlite.sqlite3_prepare_v2
#define sqlite3_reset             sqlite.sqlite3_reset
#define sqlite3_step              sqlite.sqlite3_step

static devlog_status load_sqlite(devlog_error *err)
{
    return dl_library_load(DEVLOG_LIBSQLITE3, sqlite_names, sizeof sqlite_names / sizeof sqlite_names[0],
                           &sqlite, err);
}

#endif
