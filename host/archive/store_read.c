/* Reading an archive: its runs, their files and figures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "archive/store_internal.h"
#include "base/file.h"

enum { MOST_BYTES = 1 << 30 /* of a file, more than archive add takes */ };

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
    if (!status) status = store_prepare(a, sql.text, &s, err);
    if (!status) {
        store_bind_text(s, 1, f->commit);
        store_bind_text(s, 2, f->board);
        store_bind_text(s, 3, f->host);
        store_bind_text(s, 4, f->name);
        sqlite3_bind_int64(s, 5, f->since);
        sqlite3_bind_int64(s, 6, f->until);
        sqlite3_bind_int64(s, 7, f->id);
        for (size_t i = 0; i < f->n_labels; i++)
            store_bind_text(s, (int)(FIRST_LABEL + i), f->labels[i]);
        int got = SQLITE_DONE;
        while (!status && (got = sqlite3_step(s)) == SQLITE_ROW)
            status = take_run(s, out, err);
        if (!status && got != SQLITE_DONE) status = store_failed(a, err);
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
        status = store_prepare(a, "SELECT name, size, packed FROM files WHERE run=? ORDER BY name", &s, err);
    if (!status) sqlite3_bind_int64(s, 1, id);
    int got = SQLITE_DONE;
    while (!status && (got = sqlite3_step(s)) == SQLITE_ROW) {
        status = write_file(a, s, id, folder, err);
        n++;
    }
    if (!status && got != SQLITE_DONE) status = store_failed(a, err);
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
    devlog_status status = store_run(
        a,
        "CREATE TEMP TABLE IF NOT EXISTS chosen(run INTEGER PRIMARY KEY, place INTEGER);DELETE FROM chosen",
        err);
    if (!status) status = store_prepare(a, "INSERT INTO chosen VALUES(?,?)", &s, err);
    for (size_t i = 0; i < runs->n && !status; i++) {
        sqlite3_bind_int64(s, 1, runs->items[i].id);
        sqlite3_bind_int64(s, 2, (sqlite3_int64)i);
        status = store_step(a, s, err);
    }
    sqlite3_finalize(s);
    s = NULL;
    if (!status)
        status = store_prepare(
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
    if (!status && got != SQLITE_DONE) status = store_failed(a, err);
    sqlite3_finalize(s);
    return status;
}
