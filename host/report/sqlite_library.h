/* sqlite3, loaded when a database is wanted (base/library.h). */
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

/* Its functions, once dl_sqlite_load has found them. */
extern struct dl_sqlite {
    SQLITE_FUNCTIONS(DL_LIBRARY_FIELD)
} dl_sqlite;
devlog_status dl_sqlite_load(devlog_error *err);

#define sqlite3_bind_blob         dl_sqlite.sqlite3_bind_blob
#define sqlite3_bind_double       dl_sqlite.sqlite3_bind_double
#define sqlite3_bind_int          dl_sqlite.sqlite3_bind_int
#define sqlite3_bind_int64        dl_sqlite.sqlite3_bind_int64
#define sqlite3_bind_null         dl_sqlite.sqlite3_bind_null
#define sqlite3_bind_text         dl_sqlite.sqlite3_bind_text
#define sqlite3_busy_timeout      dl_sqlite.sqlite3_busy_timeout
#define sqlite3_changes           dl_sqlite.sqlite3_changes
#define sqlite3_close             dl_sqlite.sqlite3_close
#define sqlite3_column_blob       dl_sqlite.sqlite3_column_blob
#define sqlite3_column_bytes      dl_sqlite.sqlite3_column_bytes
#define sqlite3_column_double     dl_sqlite.sqlite3_column_double
#define sqlite3_column_int64      dl_sqlite.sqlite3_column_int64
#define sqlite3_column_text       dl_sqlite.sqlite3_column_text
#define sqlite3_column_type       dl_sqlite.sqlite3_column_type
#define sqlite3_errcode           dl_sqlite.sqlite3_errcode
#define sqlite3_errmsg            dl_sqlite.sqlite3_errmsg
#define sqlite3_exec              dl_sqlite.sqlite3_exec
#define sqlite3_finalize          dl_sqlite.sqlite3_finalize
#define sqlite3_last_insert_rowid dl_sqlite.sqlite3_last_insert_rowid
#define sqlite3_open_v2           dl_sqlite.sqlite3_open_v2
#define sqlite3_prepare_v2        dl_sqlite.sqlite3_prepare_v2
#define sqlite3_reset             dl_sqlite.sqlite3_reset
#define sqlite3_step              dl_sqlite.sqlite3_step

#endif
