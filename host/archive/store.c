/* The file of an archive: what is in its tables, and that it is whole whoever writes it and however that ends. What is put
 * into it is in store_add.c, what is read of it in store_read.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "archive/store_internal.h"

enum { APPLICATION = 0x646C6172 /* "dlar" */, WAIT_MS = 60000 };

#define HISTORY                                                                                               \
    "CREATE VIEW history AS SELECT s.kind, s.name, s.unit, r.id AS run, r.date, r.commit_id, r.board, "       \
    "f.value, f.count, f.median FROM figures f JOIN series s ON s.id = f.series JOIN runs r ON r.id = f.run " \
    "ORDER BY s.kind, s.name, r.date, r.id;"

static const char schema[] =
    "CREATE TABLE runs(id INTEGER PRIMARY KEY, date INTEGER, commit_id TEXT, board TEXT, host TEXT, name TEXT,"
    " lost INTEGER, digest TEXT UNIQUE);"
    "CREATE TABLE labels(run INTEGER REFERENCES runs, name TEXT, value TEXT, PRIMARY KEY(run, name)) WITHOUT ROWID;"
    "CREATE TABLE series(id INTEGER PRIMARY KEY, kind TEXT, name TEXT, unit TEXT, UNIQUE(kind, name, unit));"
    "CREATE TABLE figures(series INTEGER REFERENCES series, run INTEGER REFERENCES runs, value REAL, count REAL,"
    " least REAL, most REAL, total REAL, median REAL, PRIMARY KEY(series, run)) WITHOUT ROWID;"
    "CREATE TABLE files(run INTEGER REFERENCES runs, name TEXT, size INTEGER, packed BLOB, PRIMARY KEY(run, name));"
    "CREATE INDEX runs_by_date ON runs(date, id);"
    "CREATE INDEX runs_by_commit ON runs(commit_id);" HISTORY
    "PRAGMA application_id=0x646C6172;PRAGMA user_version=2;";

/* From version 1. Runs that are there have no medians. */
static const char upgrade[] = "ALTER TABLE figures ADD COLUMN median REAL;"
                              "DROP VIEW IF EXISTS history;" HISTORY "PRAGMA user_version=2;";

devlog_status store_failed(const archive *a, devlog_error *err)
{
    switch (sqlite3_errcode(a->db) & 0xff) {
    case SQLITE_NOMEM: return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return dl_fail(
            err, DEVLOG_ERR_FORMAT,
            "%s is damaged, or no archive (%s): take a copy of yours, or what sqlite3 saves of it: sqlite3 FILE "
            ".recover | sqlite3 NEW",
            a->path, sqlite3_errmsg(a->db));
    case SQLITE_BUSY:
        return dl_fail(err, DEVLOG_ERR_IO, "%s: another program has been writing it for %d s; try again",
                       a->path, WAIT_MS / 1000);
    case SQLITE_IOERR:
    case SQLITE_FULL:
        return dl_fail(err, DEVLOG_ERR_IO,
                       "%s: %s: is its disk full? make room there, or give another with --archive", a->path,
                       sqlite3_errmsg(a->db));
    default: return dl_fail(err, DEVLOG_ERR_IO, "%s: %s", a->path, sqlite3_errmsg(a->db));
    }
}

devlog_status store_run(archive *a, const char *sql, devlog_error *err)
{
    return sqlite3_exec(a->db, sql, NULL, NULL, NULL) == SQLITE_OK ? DEVLOG_OK : store_failed(a, err);
}

/* Readers do not wait for writers, and what a killed writer has begun is not there. The disk has all when the last program closes it.
 * SQLite refuses the change at once, without waiting, while another program opens the file. */
static devlog_status write_ahead(archive *a, devlog_error *err)
{
    enum { PAUSE_MS = 10 };
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000};
    int rc = SQLITE_BUSY;
    for (int waited = 0; rc == SQLITE_BUSY && waited < WAIT_MS; waited += PAUSE_MS) {
        rc =
            sqlite3_exec(a->db, "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL", NULL, NULL, NULL) & 0xff;
        if (rc == SQLITE_BUSY) nanosleep(&pause, NULL);
    }
    return rc == SQLITE_OK ? DEVLOG_OK : store_failed(a, err);
}

devlog_status store_prepare(archive *a, const char *sql, sqlite3_stmt **s, devlog_error *err)
{
    return sqlite3_prepare_v2(a->db, sql, -1, s, NULL) == SQLITE_OK ? DEVLOG_OK : store_failed(a, err);
}

/* One step of a statement that gives nothing; it may be used again. */
devlog_status store_step(archive *a, sqlite3_stmt *s, devlog_error *err)
{
    const bool good = sqlite3_step(s) == SQLITE_DONE;
    return sqlite3_reset(s) == SQLITE_OK && good ? DEVLOG_OK : store_failed(a, err);
}

static devlog_status one_number(archive *a, const char *sql, int64_t *out, devlog_error *err)
{
    sqlite3_stmt *s = NULL;
    devlog_status status = store_prepare(a, sql, &s, err);
    if (!status && sqlite3_step(s) == SQLITE_ROW)
        *out = sqlite3_column_int64(s, 0);
    else if (!status)
        status = store_failed(a, err);
    sqlite3_finalize(s);
    return status;
}

void store_bind_text(sqlite3_stmt *s, int at, const char *text)
{
    if (text)
        sqlite3_bind_text(s, at, text, -1, SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(s, at);
}

/* A file that somebody made to do harm may have a view that never ends, or one that does something, in place of a table, or a trigger
 * behind it. */
static devlog_status check_tables(archive *a, devlog_error *err)
{
    enum { TABLES = 5 };
    int64_t tables = 0, triggers = 0;
    devlog_status status =
        one_number(a,
                   "SELECT count(*) FROM sqlite_master WHERE type='table' AND rootpage>0 AND name IN "
                   "('runs','labels','series','figures','files')",
                   &tables, err);
    if (!status)
        status = one_number(a, "SELECT count(*) FROM sqlite_master WHERE type='trigger'", &triggers, err);
    if (!status && (tables != TABLES || triggers))
        status = dl_fail(err, DEVLOG_ERR_FORMAT,
                         "%s is no archive as devlog makes them: it has %s; take a copy of yours", a->path,
                         triggers ? "triggers" : "other tables");
    return status;
}

/* Whether it is an archive of ours; *empty: it is nobody's yet, and `make` may make it one. Nothing is written. */
static devlog_status check(archive *a, bool make, bool *empty, devlog_error *err)
{
    int64_t application = 0, version = 0, tables = 0;
    devlog_status status = one_number(a, "PRAGMA application_id", &application, err);
    if (!status) status = one_number(a, "PRAGMA user_version", &version, err);
    if (!status) status = one_number(a, "SELECT count(*) FROM sqlite_master", &tables, err);
    if (status) return status;
    *empty = !tables && !version && !application && make;
    if (*empty) return DEVLOG_OK;
    if (application != APPLICATION)
        return dl_fail(err, DEVLOG_ERR_FORMAT, "%s is no archive of devlog's%s", a->path,
                       tables ? ": it is a database of another program" : "; devlog archive add makes one");
    if (version > ARCHIVE_SCHEMA)
        return dl_fail(
            err, DEVLOG_ERR_FORMAT,
            "%s was written by a newer devlog (its version is %lld, this one knows %d): take that devlog",
            a->path, (long long)version, ARCHIVE_SCHEMA);
    if (version < 1)
        return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: version %lld is none", a->path, (long long)version);
    a->version = version;
    return check_tables(a, err);
}

devlog_status archive_open(archive **out, const char *path, bool make, devlog_error *err)
{
    devlog_status status = dl_sqlite_load(err);
    if (status) return status;
    if (!make && access(path, F_OK) != 0)
        return errno == ENOENT ? dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                                         "there is no archive %s; devlog archive add makes it", path)
                               : dl_fail_errno(err, errno, "cannot read %s", path);
    archive *a = calloc(1, sizeof *a);
    if (a) a->path = strdup(path);
    if (!a || !a->path) {
        archive_close(a);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    }
    const int flags = SQLITE_OPEN_READWRITE | (make ? SQLITE_OPEN_CREATE : 0);
    if (sqlite3_open_v2(path, &a->db, flags, NULL) != SQLITE_OK) {
        status = a->db ? store_failed(a, err) : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    } else {
        sqlite3_busy_timeout(a->db, WAIT_MS);
        bool empty = false;
        /* A file of somebody else is left as it is: the way its journal is kept stands in it. One look, lest another writer make
         * the archive between two questions. */
        if (make) status = store_run(a, "BEGIN", err);
        if (make && !status) status = check(a, make, &empty, err);
        if (make && !status) status = store_run(a, "COMMIT", err);
        if (make && !status) status = write_ahead(a, err);
        if (!status) status = store_run(a, make ? "BEGIN IMMEDIATE" : "BEGIN", err);
        if (!status) status = check(a, make, &empty, err);
        if (!status && empty) status = store_run(a, schema, err);
        if (!status && make && !empty && a->version < ARCHIVE_SCHEMA) status = store_run(a, upgrade, err);
        if (!status && make) a->version = ARCHIVE_SCHEMA;
        if (!status) status = store_run(a, "COMMIT", err);
    }
    if (status) {
        archive_close(a);
        return status;
    }
    *out = a;
    return DEVLOG_OK;
}

void archive_close(archive *a)
{
    if (!a) return;
    if (a->db) sqlite3_close(a->db);
    free(a->path);
    free(a);
}
