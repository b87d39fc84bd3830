/* The file of an archive: what is in its tables, and that it is whole whoever writes it and however that ends. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "archive/archive.h"
#include "base/file.h"
#include "report/sqlite_library.h"

enum { APPLICATION = 0x646C6172 /* "dlar" */, WAIT_MS = 60000, LEVEL = 3 };
enum { MOST_BYTES = 1 << 30 /* of a file, more than archive add takes */ };

struct archive {
    sqlite3 *db;
    char *path;
    int64_t version; /* of its tables */
};

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

static devlog_status failed(const archive *a, devlog_error *err)
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

static devlog_status run_sql(archive *a, const char *sql, devlog_error *err)
{
    return sqlite3_exec(a->db, sql, NULL, NULL, NULL) == SQLITE_OK ? DEVLOG_OK : failed(a, err);
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
    return rc == SQLITE_OK ? DEVLOG_OK : failed(a, err);
}

static devlog_status prepare(archive *a, const char *sql, sqlite3_stmt **s, devlog_error *err)
{
    return sqlite3_prepare_v2(a->db, sql, -1, s, NULL) == SQLITE_OK ? DEVLOG_OK : failed(a, err);
}

/* One step of a statement that gives nothing; it may be used again. */
static devlog_status step(archive *a, sqlite3_stmt *s, devlog_error *err)
{
    const bool good = sqlite3_step(s) == SQLITE_DONE;
    return sqlite3_reset(s) == SQLITE_OK && good ? DEVLOG_OK : failed(a, err);
}

static devlog_status one_number(archive *a, const char *sql, int64_t *out, devlog_error *err)
{
    sqlite3_stmt *s = NULL;
    devlog_status status = prepare(a, sql, &s, err);
    if (!status && sqlite3_step(s) == SQLITE_ROW)
        *out = sqlite3_column_int64(s, 0);
    else if (!status)
        status = failed(a, err);
    sqlite3_finalize(s);
    return status;
}

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
    if (text)
        sqlite3_bind_text(s, at, text, -1, SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(s, at);
}

static void bind_real(sqlite3_stmt *s, int at, double value)
{
    if (value == value)
        sqlite3_bind_double(s, at, value);
    else
        sqlite3_bind_null(s, at);
}

static char *text_at(sqlite3_stmt *s, int at, bool *no_memory)
{
    const char *text = (const char *)sqlite3_column_text(s, at);
    char *copy = text ? strdup(text) : NULL;
    *no_memory |= text && !copy;
    return copy;
}

static double real_at(sqlite3_stmt *s, int at)
{
    return sqlite3_column_type(s, at) == SQLITE_NULL ? NAN : sqlite3_column_double(s, at);
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
    devlog_status status = load_sqlite(err);
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
        status = a->db ? failed(a, err) : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    } else {
        sqlite3_busy_timeout(a->db, WAIT_MS);
        bool empty = false;
        /* A file of somebody else is left as it is: the way its journal is kept stands in it. One look, lest another writer make
         * the archive between two questions. */
        if (make) status = run_sql(a, "BEGIN", err);
        if (make && !status) status = check(a, make, &empty, err);
        if (make && !status) status = run_sql(a, "COMMIT", err);
        if (make && !status) status = write_ahead(a, err);
        if (!status) status = run_sql(a, make ? "BEGIN IMMEDIATE" : "BEGIN", err);
        if (!status) status = check(a, make, &empty, err);
        if (!status && empty) status = run_sql(a, schema, err);
        if (!status && make && !empty && a->version < ARCHIVE_SCHEMA) status = run_sql(a, upgrade, err);
        if (!status && make) a->version = ARCHIVE_SCHEMA;
        if (!status) status = run_sql(a, "COMMIT", err);
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

/* ---- Adding --- */

typedef struct packed_file {
    dl_str bytes;
    size_t size;
    bool left_out;
} packed_file;

static devlog_status pack(const archive_file *f, uint64_t most, packed_file *to, XXH3_state_t *digest,
                          devlog_error *err)
{
    struct stat st;
    dl_str text = {0};
    if (stat(f->path, &st) != 0) return dl_fail_errno(err, errno, "cannot read %s", f->path);
    to->left_out = (uint64_t)st.st_size > most;
    if (to->left_out) return DEVLOG_OK;
    devlog_status status = dl_file_read(f->path, most, &text, err);
    const size_t bound = status ? 0 : ZSTD_compressBound(text.len);
    ZSTD_CCtx *c = ZSTD_createCCtx();
    if (!status && (!c || !dl_str_reserve(&to->bytes, bound)))
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!status) {
        ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
        const size_t n = ZSTD_compress2(c, to->bytes.text, bound, text.text ? text.text : "", text.len);
        if (ZSTD_isError(n))
            status = dl_fail(err, DEVLOG_ERR_MEMORY, "cannot pack %s: %s", f->path, ZSTD_getErrorName(n));
        to->bytes.len = status ? 0 : n;
        to->size = text.len;
        XXH3_128bits_update(digest, text.text ? text.text : "", text.len);
    }
    ZSTD_freeCCtx(c);
    dl_str_free(&text);
    return status;
}

static devlog_status insert_labels(archive *a, const archive_run *run, devlog_error *err)
{
    sqlite3_stmt *s = NULL;
    char *copy = strdup(run->labels ? run->labels : ""), *rest = copy;
    devlog_status status = copy ? prepare(a, "INSERT OR REPLACE INTO labels VALUES(?,?,?)", &s, err)
                                : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (char *label; !status && (label = strsep(&rest, ",")) != NULL;) {
        char *value = strchr(label, '=');
        if (!value) continue;
        *value++ = '\0';
        sqlite3_bind_int64(s, 1, run->id);
        bind_text(s, 2, label);
        bind_text(s, 3, value);
        status = step(a, s, err);
    }
    sqlite3_finalize(s);
    free(copy);
    return status;
}

static devlog_status insert_figures(archive *a, const archive_run *run, devlog_error *err)
{
    sqlite3_stmt *series = NULL, *figure = NULL;
    devlog_status status =
        prepare(a, "INSERT OR IGNORE INTO series(kind, name, unit) VALUES(?,?,?)", &series, err);
    /* Two rows of a run with one name are one figure. */
    if (!status)
        status = prepare(
            a,
            "INSERT INTO figures(series, run, value, count, least, most, total, median) VALUES("
            "(SELECT id FROM series WHERE kind=?1 AND name=?2 AND unit=?3),?4,?5,?6,?7,?8,?9,?10)"
            " ON CONFLICT(series, run) DO UPDATE SET value=(total+excluded.total)/(count+excluded.count),"
            " count=count+excluded.count, total=total+excluded.total, least=min(least,excluded.least),"
            " most=max(most,excluded.most), median=CASE WHEN median=excluded.median THEN median END",
            &figure, err);
    for (size_t i = 0; i < run->n_figures && !status; i++) {
        const archive_figure *f = &run->figures[i];
        sqlite3_stmt *const both[] = {series, figure};
        for (int k = 0; k < 2; k++) {
            bind_text(both[k], 1, f->kind);
            bind_text(both[k], 2, f->name);
            bind_text(both[k], 3, f->unit);
        }
        sqlite3_bind_int64(figure, 4, run->id);
        bind_real(figure, 5, f->value);
        bind_real(figure, 6, f->count);
        bind_real(figure, 7, f->least);
        bind_real(figure, 8, f->most);
        bind_real(figure, 9, f->total);
        bind_real(figure, 10, f->median);
        status = step(a, series, err);
        if (!status) status = step(a, figure, err);
    }
    sqlite3_finalize(series);
    sqlite3_finalize(figure);
    return status;
}

/* Of a run that was added before medians were kept. */
static devlog_status fill_medians(archive *a, const archive_run *run, devlog_error *err)
{
    sqlite3_stmt *s = NULL;
    devlog_status status = prepare(a,
                                   "UPDATE figures SET median=?5 WHERE run=?4 AND median IS NULL AND series="
                                   "(SELECT id FROM series WHERE kind=?1 AND name=?2 AND unit=?3)",
                                   &s, err);
    for (size_t i = 0; i < run->n_figures && !status; i++) {
        const archive_figure *f = &run->figures[i];
        bind_text(s, 1, f->kind);
        bind_text(s, 2, f->name);
        bind_text(s, 3, f->unit);
        sqlite3_bind_int64(s, 4, run->id);
        bind_real(s, 5, f->median);
        status = step(a, s, err);
    }
    sqlite3_finalize(s);
    return status;
}

static devlog_status insert_files(archive *a, const archive_run *run, const packed_file *files,
                                  devlog_error *err)
{
    sqlite3_stmt *s = NULL;
    devlog_status status = prepare(a, "INSERT INTO files VALUES(?,?,?,?)", &s, err);
    for (size_t i = 0; i < run->n_files && !status; i++) {
        if (files[i].left_out) continue;
        sqlite3_bind_int64(s, 1, run->id);
        bind_text(s, 2, run->files[i].name);
        sqlite3_bind_int64(s, 3, (sqlite3_int64)files[i].size);
        sqlite3_bind_blob(s, 4, files[i].bytes.text, (int)files[i].bytes.len, SQLITE_STATIC);
        status = step(a, s, err);
    }
    sqlite3_finalize(s);
    return status;
}

/* *known: the digest is there, and run->id is whose. */
static devlog_status insert_run(archive *a, archive_run *run, const char *digest, bool *known,
                                devlog_error *err)
{
    sqlite3_stmt *s = NULL;
    devlog_status status = prepare(a, "SELECT id FROM runs WHERE digest=?", &s, err);
    if (!status) {
        bind_text(s, 1, digest);
        const int got = sqlite3_step(s);
        *known = got == SQLITE_ROW;
        if (*known) run->id = sqlite3_column_int64(s, 0);
        if (got != SQLITE_ROW && got != SQLITE_DONE) status = failed(a, err);
    }
    sqlite3_finalize(s);
    s = NULL;
    if (status || *known) return status;
    status =
        prepare(a, "INSERT INTO runs(date, commit_id, board, host, name, lost, digest) VALUES(?,?,?,?,?,?,?)",
                &s, err);
    if (!status) {
        sqlite3_bind_int64(s, 1, run->date);
        bind_text(s, 2, run->commit);
        bind_text(s, 3, run->board);
        bind_text(s, 4, run->host);
        bind_text(s, 5, run->name);
        sqlite3_bind_int64(s, 6, run->lost);
        bind_text(s, 7, digest);
        status = step(a, s, err);
        run->id = sqlite3_last_insert_rowid(a->db);
    }
    sqlite3_finalize(s);
    return status;
}

devlog_status archive_add(archive *a, archive_run *run, uint64_t most, bool *known, size_t *left_out,
                          devlog_error *err)
{
    XXH3_state_t *digest = XXH3_createState();
    packed_file *files = calloc(run->n_files + 1, sizeof *files);
    devlog_status status = digest && files ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    char text[33] = "";
    *left_out = 0;
    *known = false;
    if (!status) {
        XXH3_128bits_reset(digest);
        const char *const said[] = {run->commit, run->board, run->host, run->name, run->labels};
        for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
            XXH3_128bits_update(digest, said[i] ? said[i] : "", said[i] ? strlen(said[i]) + 1 : 1);
        XXH3_128bits_update(digest, &run->date, sizeof run->date);
    }
    for (size_t i = 0; i < run->n_files && !status; i++) {
        status = pack(&run->files[i], most, &files[i], digest, err);
        *left_out += files[i].left_out;
    }
    if (!status) {
        const XXH128_hash_t hash = XXH3_128bits_digest(digest);
        snprintf(text, sizeof text, "%016llx%016llx", (unsigned long long)hash.high64,
                 (unsigned long long)hash.low64);
        status = run_sql(a, "BEGIN IMMEDIATE", err);
        if (!status) {
            status = insert_run(a, run, text, known, err);
            if (!status && *known) status = fill_medians(a, run, err);
            if (!status && !*known) status = insert_labels(a, run, err);
            if (!status && !*known) status = insert_figures(a, run, err);
            if (!status && !*known) status = insert_files(a, run, files, err);
            if (!status) status = run_sql(a, "COMMIT", err);
            devlog_error unheard;
            if (status) (void)run_sql(a, "ROLLBACK", &unheard);
        }
    }
    for (size_t i = 0; files && i < run->n_files; i++)
        dl_str_free(&files[i].bytes);
    free(files);
    XXH3_freeState(digest);
    return status;
}

/* ---- Reading --- */

static devlog_status take_run(sqlite3_stmt *s, archive_runs *out, devlog_error *err)
{
    if ((out->n & (out->n - 1)) == 0) {
        archive_run *grown = realloc(out->items, (out->n ? out->n * 2 : 1) * sizeof *grown);
        if (!grown) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        out->items = grown;
    }
    bool no_memory = false;
    out->items[out->n++] = (archive_run){.id = sqlite3_column_int64(s, 0),
                                         .date = sqlite3_column_int64(s, 1),
                                         .commit = text_at(s, 2, &no_memory),
                                         .board = text_at(s, 3, &no_memory),
                                         .host = text_at(s, 4, &no_memory),
                                         .name = text_at(s, 5, &no_memory),
                                         .lost = sqlite3_column_int64(s, 6) != 0,
                                         .labels = text_at(s, 7, &no_memory),
                                         .bytes = (uint64_t)sqlite3_column_int64(s, 8)};
    return no_memory ? dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory") : DEVLOG_OK;
}

devlog_status archive_find(archive *a, const archive_filter *f, archive_runs *out, devlog_error *err)
{
    dl_str sql = {0};
    sqlite3_stmt *s = NULL;
    *out = (archive_runs){0};
    dl_str_add(
        &sql,
        "SELECT id, date, commit_id, board, host, name, lost, (SELECT group_concat(l.name||'='||l.value, ',') FROM "
        "(SELECT name, value FROM labels WHERE run=r.id ORDER BY name) l), (SELECT sum(length(packed)) FROM files "
        "WHERE run=r.id) FROM runs r WHERE (?1 IS NULL OR substr(commit_id, 1, length(?1))=?1) AND (?2 IS NULL OR "
        "board=?2) AND (?3 IS NULL OR host=?3) AND (?4 IS NULL OR name=?4) AND (?5=0 OR date>=?5) AND (?6=0 OR "
        "date<?6) AND (?7=0 OR id=?7)");
    enum { FIRST_LABEL = 8 };
    for (size_t i = 0; i < f->n_labels; i++)
        dl_str_fmt(&sql, " AND EXISTS(SELECT 1 FROM labels WHERE run=r.id AND name||'='||value=?%zu)",
                   FIRST_LABEL + i);
    dl_str_add(&sql, " ORDER BY date, id");
    devlog_status status = dl_str_status(&sql, err);
    if (!status) status = prepare(a, sql.text, &s, err);
    if (!status) {
        bind_text(s, 1, f->commit);
        bind_text(s, 2, f->board);
        bind_text(s, 3, f->host);
        bind_text(s, 4, f->name);
        sqlite3_bind_int64(s, 5, f->since);
        sqlite3_bind_int64(s, 6, f->until);
        sqlite3_bind_int64(s, 7, f->id);
        for (size_t i = 0; i < f->n_labels; i++)
            bind_text(s, (int)(FIRST_LABEL + i), f->labels[i]);
        int got = SQLITE_DONE;
        while (!status && (got = sqlite3_step(s)) == SQLITE_ROW)
            status = take_run(s, out, err);
        if (!status && got != SQLITE_DONE) status = failed(a, err);
    }
    sqlite3_finalize(s);
    dl_str_free(&sql);
    return status;
}

void archive_runs_free(archive_runs *runs)
{
    for (size_t i = 0; i < runs->n; i++)
        archive_run_free(&runs->items[i]);
    free(runs->items);
    *runs = (archive_runs){0};
}

static devlog_status write_file(const archive *a, sqlite3_stmt *s, int64_t id, const char *folder,
                                devlog_error *err)
{
    const char *name = (const char *)sqlite3_column_text(s, 0);
    const int64_t size = sqlite3_column_int64(s, 1);
    const void *packed = sqlite3_column_blob(s, 2);
    const size_t n = (size_t)sqlite3_column_bytes(s, 2);
    /* Names come from a file that anybody may have written. */
    if (!name || !*name || *name == '.' || strchr(name, '/'))
        return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: run %lld has a file that is called '%s'", a->path,
                       (long long)id, name ? name : "");
    const unsigned long long whole = packed ? ZSTD_getFrameContentSize(packed, n) : ZSTD_CONTENTSIZE_ERROR;
    if (size < 0 || whole != (unsigned long long)size || whole > MOST_BYTES)
        return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: %s of run %lld is damaged", a->path, name, (long long)id);
    char *bytes = malloc((size_t)size + 1), *path = dl_path_join(folder, name);
    devlog_status status = bytes && path ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    dl_file_writer w;
    if (!status && ZSTD_decompress(bytes, (size_t)size, packed, n) != (size_t)size)
        status =
            dl_fail(err, DEVLOG_ERR_FORMAT, "%s: %s of run %lld is damaged", a->path, name, (long long)id);
    if (!status) status = dl_file_create(&w, path, err);
    if (!status) {
        dl_file_put(&w, bytes, (size_t)size);
        status = dl_file_commit(&w, err);
    }
    free(bytes);
    free(path);
    return status;
}

devlog_status archive_get(archive *a, int64_t id, const char *folder, devlog_error *err)
{
    sqlite3_stmt *s = NULL;
    size_t n = 0;
    devlog_status status = dl_folder_make(folder, err);
    if (!status)
        status = prepare(a, "SELECT name, size, packed FROM files WHERE run=? ORDER BY name", &s, err);
    if (!status) sqlite3_bind_int64(s, 1, id);
    int got = SQLITE_DONE;
    while (!status && (got = sqlite3_step(s)) == SQLITE_ROW) {
        status = write_file(a, s, id, folder, err);
        n++;
    }
    if (!status && got != SQLITE_DONE) status = failed(a, err);
    sqlite3_finalize(s);
    if (!status && !n)
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                       "%s has no files of run %lld: they were too large, or it has no such run", a->path,
                       (long long)id);
    return status;
}

#define FIGURES                                                                                              \
    " FROM series s JOIN figures f ON f.series=s.id JOIN chosen c ON c.run=f.run WHERE f.value IS NOT "      \
    "NULL ORDER BY s.kind, s.name, s.unit, c.place"

devlog_status archive_figures(archive *a, const archive_runs *runs, archive_take *take, void *ctx,
                              devlog_error *err)
{
    sqlite3_stmt *s = NULL;
    devlog_status status = run_sql(
        a,
        "CREATE TEMP TABLE IF NOT EXISTS chosen(run INTEGER PRIMARY KEY, place INTEGER);DELETE FROM chosen",
        err);
    if (!status) status = prepare(a, "INSERT INTO chosen VALUES(?,?)", &s, err);
    for (size_t i = 0; i < runs->n && !status; i++) {
        sqlite3_bind_int64(s, 1, runs->items[i].id);
        sqlite3_bind_int64(s, 2, (sqlite3_int64)i);
        status = step(a, s, err);
    }
    sqlite3_finalize(s);
    s = NULL;
    if (!status)
        status = prepare(
            a,
            a->version < 2
                ? "SELECT s.kind, s.name, s.unit, c.place, f.value, f.count, f.least, f.most, NULL" FIGURES
                : "SELECT s.kind, s.name, s.unit, c.place, f.value, f.count, f.least, f.most, f.median" FIGURES,
            &s, err);
    int got = SQLITE_DONE;
    while (!status && (got = sqlite3_step(s)) == SQLITE_ROW) {
        const archive_figure f = {.kind = (char *)sqlite3_column_text(s, 0),
                                  .name = (char *)sqlite3_column_text(s, 1),
                                  .unit = (char *)sqlite3_column_text(s, 2),
                                  .value = sqlite3_column_double(s, 4),
                                  .count = real_at(s, 5),
                                  .least = real_at(s, 6),
                                  .most = real_at(s, 7),
                                  .median = real_at(s, 8),
                                  .total = NAN};
        status = take(ctx, &f, (size_t)sqlite3_column_int64(s, 3), err);
    }
    if (!status && got != SQLITE_DONE) status = failed(a, err);
    sqlite3_finalize(s);
    return status;
}
