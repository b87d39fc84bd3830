/* Putting a run into an archive: its labels, figures and packed files, all or nothing. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>
#include <zstd.h>

#include "archive/store_internal.h"
#include "base/file.h"

enum { LEVEL = 3 };

static void bind_real(sqlite3_stmt *s, int at, double value)
{
    if (value == value)
        sqlite3_bind_double(s, at, value);
    else
        sqlite3_bind_null(s, at);
}

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
    devlog_status status = copy ? store_prepare(a, "INSERT OR REPLACE INTO labels VALUES(?,?,?)", &s, err)
                                : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (char *label; !status && (label = strsep(&rest, ",")) != NULL;) {
        char *value = strchr(label, '=');
        if (!value) continue;
        *value++ = '\0';
        sqlite3_bind_int64(s, 1, run->id);
        store_bind_text(s, 2, label);
        store_bind_text(s, 3, value);
        status = store_step(a, s, err);
    }
    sqlite3_finalize(s);
    free(copy);
    return status;
}

static devlog_status insert_figures(archive *a, const archive_run *run, devlog_error *err)
{
    sqlite3_stmt *series = NULL, *figure = NULL;
    devlog_status status =
        store_prepare(a, "INSERT OR IGNORE INTO series(kind, name, unit) VALUES(?,?,?)", &series, err);
    /* Two rows of a run with one name are one figure. */
    if (!status)
        status = store_prepare(
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
            store_bind_text(both[k], 1, f->kind);
            store_bind_text(both[k], 2, f->name);
            store_bind_text(both[k], 3, f->unit);
        }
        sqlite3_bind_int64(figure, 4, run->id);
        bind_real(figure, 5, f->value);
        bind_real(figure, 6, f->count);
        bind_real(figure, 7, f->least);
        bind_real(figure, 8, f->most);
        bind_real(figure, 9, f->total);
        bind_real(figure, 10, f->median);
        status = store_step(a, series, err);
        if (!status) status = store_step(a, figure, err);
    }
    sqlite3_finalize(series);
    sqlite3_finalize(figure);
    return status;
}

/* Of a run that was added before medians were kept. */
static devlog_status fill_medians(archive *a, const archive_run *run, devlog_error *err)
{
    sqlite3_stmt *s = NULL;
    devlog_status status =
        store_prepare(a,
                      "UPDATE figures SET median=?5 WHERE run=?4 AND median IS NULL AND series="
                      "(SELECT id FROM series WHERE kind=?1 AND name=?2 AND unit=?3)",
                      &s, err);
    for (size_t i = 0; i < run->n_figures && !status; i++) {
        const archive_figure *f = &run->figures[i];
        store_bind_text(s, 1, f->kind);
        store_bind_text(s, 2, f->name);
        store_bind_text(s, 3, f->unit);
        sqlite3_bind_int64(s, 4, run->id);
        bind_real(s, 5, f->median);
        status = store_step(a, s, err);
    }
    sqlite3_finalize(s);
    return status;
}

static devlog_status insert_files(archive *a, const archive_run *run, const packed_file *files,
                                  devlog_error *err)
{
    sqlite3_stmt *s = NULL;
    devlog_status status = store_prepare(a, "INSERT INTO files VALUES(?,?,?,?)", &s, err);
    for (size_t i = 0; i < run->n_files && !status; i++) {
        if (files[i].left_out) continue;
        sqlite3_bind_int64(s, 1, run->id);
        store_bind_text(s, 2, run->files[i].name);
        sqlite3_bind_int64(s, 3, (sqlite3_int64)files[i].size);
        sqlite3_bind_blob(s, 4, files[i].bytes.text, (int)files[i].bytes.len, SQLITE_STATIC);
        status = store_step(a, s, err);
    }
    sqlite3_finalize(s);
    return status;
}

/* *known: the digest is there, and run->id is whose. */
static devlog_status insert_run(archive *a, archive_run *run, const char *digest, bool *known,
                                devlog_error *err)
{
    sqlite3_stmt *s = NULL;
    devlog_status status = store_prepare(a, "SELECT id FROM runs WHERE digest=?", &s, err);
    if (!status) {
        store_bind_text(s, 1, digest);
        const int got = sqlite3_step(s);
        *known = got == SQLITE_ROW;
        if (*known) run->id = sqlite3_column_int64(s, 0);
        if (got != SQLITE_ROW && got != SQLITE_DONE) status = store_failed(a, err);
    }
    sqlite3_finalize(s);
    s = NULL;
    if (status || *known) return status;
    status = store_prepare(
        a, "INSERT INTO runs(date, commit_id, board, host, name, lost, digest) VALUES(?,?,?,?,?,?,?)", &s,
        err);
    if (!status) {
        sqlite3_bind_int64(s, 1, run->date);
        store_bind_text(s, 2, run->commit);
        store_bind_text(s, 3, run->board);
        store_bind_text(s, 4, run->host);
        store_bind_text(s, 5, run->name);
        sqlite3_bind_int64(s, 6, run->lost);
        store_bind_text(s, 7, digest);
        status = store_step(a, s, err);
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
        status = store_run(a, "BEGIN IMMEDIATE", err);
        if (!status) {
            status = insert_run(a, run, text, known, err);
            if (!status && *known) status = fill_medians(a, run, err);
            if (!status && !*known) status = insert_labels(a, run, err);
            if (!status && !*known) status = insert_figures(a, run, err);
            if (!status && !*known) status = insert_files(a, run, files, err);
            if (!status) status = store_run(a, "COMMIT", err);
            devlog_error unheard;
            if (status) (void)store_run(a, "ROLLBACK", &unheard);
        }
    }
    for (size_t i = 0; files && i < run->n_files; i++)
        dl_str_free(&files[i].bytes);
    free(files);
    XXH3_freeState(digest);
    return status;
}
