/* sqlite3, loaded when a database is written (base/library.h). Included by sqlite.c alone, which has its
 * table. */
#ifndef DEVLOG_REPORT_SQLITE_LIBRARY_H
#define DEVLOG_REPORT_SQLITE_LIBRARY_H

#include <sqlite3.h>

#include "base/library.h"

/* clang-format off */
#define SQLITE_FUNCTIONS(X) \
    X(sqlite3_bind_int) X(sqlite3_bind_int64) X(sqlite3_bind_null) X(sqlite3_bind_text) X(sqlite3_close) \
    X(sqlite3_errcode) X(sqlite3_errmsg) X(sqlite3_exec) X(sqlite3_finalize) X(sqlite3_open_v2) \
    X(sqlite3_prepare_v2) X(sqlite3_reset) X(sqlite3_step)
/* clang-format on */

static struct {
    SQLITE_FUNCTIONS(DL_LIBRARY_FIELD)
} sqlite;
static const char *const sqlite_names[] = {SQLITE_FUNCTIONS(DL_LIBRARY_NAME)};
#define sqlite3_bind_int   sqlite.sqlite3_bind_int
#define sqlite3_bind_int64 sqlite.sqlite3_bind_int64
#define sqlite3_bind_null  sqlite.sqlite3_bind_null
#define sqlite3_bind_text  sqlite.sqlite3_bind_text
#define sqlite3_close      sqlite.sqlite3_close
#define sqlite3_errcode    sqlite.sqlite3_errcode
#define sqlite3_errmsg     sqlite.sqlite3_errmsg
#define sqlite3_exec       sqlite.sqlite3_exec
#define sqlite3_finalize   sqlite.sqlite3_finalize
#define sqlite3_open_v2    sqlite.sqlite3_open_v2
#define sqlite3_prepare_v2 sqlite.sqlite3_prepare_v2
#define sqlite3_reset      sqlite.sqlite3_reset
#define sqlite3_step       sqlite.sqlite3_step

static devlog_status load_sqlite(devlog_error *err)
{
    return dl_library_load(DEVLOG_LIBSQLITE3, sqlite_names, sizeof sqlite_names / sizeof sqlite_names[0],
                           &sqlite, err);
}

#endif
