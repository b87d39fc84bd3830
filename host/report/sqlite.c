/* An SQLite database: tables of what the log holds, and the views that people ask for first. The schema below
 * is its documentation. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "report/export.h"
#include "report/sqlite_library.h"
#include "report/sqlite_rows.h"

/* Nobody else sees the file until it is whole. */
static const char quick[] = "PRAGMA journal_mode=OFF;PRAGMA synchronous=OFF;PRAGMA locking_mode=EXCLUSIVE;";

static const char schema[] =
    "PRAGMA page_size=16384;PRAGMA auto_vacuum=NONE;PRAGMA encoding='UTF-8';"
    "PRAGMA application_id=0x646C6F67;PRAGMA user_version=1;BEGIN;"
    "CREATE TABLE chips(id INTEGER PRIMARY KEY, arch TEXT, freq_khz INTEGER, time_unit TEXT, aligned INTEGER,"
    " residual_ns INTEGER, aiclk_khz INTEGER, cycles_are_instructions INTEGER);"
    "CREATE TABLE cores(id INTEGER PRIMARY KEY, chip INTEGER REFERENCES chips, x INTEGER, y INTEGER);"
    "CREATE TABLE tracks(id INTEGER PRIMARY KEY, chip INTEGER REFERENCES chips, core INTEGER REFERENCES "
    "cores,"
    " risc TEXT);"
    "CREATE TABLE sites(id INTEGER PRIMARY KEY, name TEXT, role TEXT, file TEXT, line INTEGER);"
    "CREATE TABLE ops(run INTEGER, op INTEGER, name TEXT, PRIMARY KEY(run, op)) WITHOUT ROWID;"
    "CREATE TABLE launches(id INTEGER PRIMARY KEY, chip INTEGER REFERENCES chips, launch INTEGER,"
    " trace_id INTEGER, trace_counter INTEGER, run INTEGER, op INTEGER, name TEXT, start_cycle INTEGER,"
    " cycles INTEGER, start_ns INTEGER, ns INTEGER);"
    "CREATE TABLE zones(id INTEGER PRIMARY KEY, track INTEGER REFERENCES tracks, site INTEGER REFERENCES "
    "sites,"
    " launch INTEGER REFERENCES launches, start_cycle INTEGER, cycles INTEGER, start_ns INTEGER, ns INTEGER,"
    " depth INTEGER, lane INTEGER, data INTEGER);"
    "CREATE TABLE markers(id INTEGER PRIMARY KEY, track INTEGER REFERENCES tracks, site INTEGER REFERENCES "
    "sites,"
    " launch INTEGER REFERENCES launches, kind TEXT, name TEXT, cycle INTEGER, time_ns INTEGER, data, text "
    "TEXT);"
    "CREATE TABLE losses(what TEXT PRIMARY KEY, is_loss INTEGER, count INTEGER, text TEXT) WITHOUT ROWID;"
    /* Everything about a zone in one row. */
    "CREATE VIEW zone_list AS SELECT z.id, t.chip, c.x AS core_x, c.y AS core_y, t.risc, s.name, s.role, "
    "s.file,"
    " s.line, l.launch, l.op, z.start_cycle, z.cycles, z.start_ns, z.ns, z.depth, z.lane, z.data FROM zones z"
    " JOIN tracks t ON t.id = z.track JOIN cores c ON c.id = t.core JOIN sites s ON s.id = z.site"
    " LEFT JOIN launches l ON l.id = z.launch;"
    "CREATE VIEW zone_sum AS SELECT chip, risc, name, count(*) AS count, sum(cycles) AS total_cycles,"
    " avg(cycles) AS avg_cycles, min(cycles) AS min_cycles, max(cycles) AS max_cycles, sum(ns) AS total_ns,"
    " avg(ns) AS avg_ns, min(ns) AS min_ns, max(ns) AS max_ns FROM zone_list GROUP BY chip, risc, name"
    " ORDER BY total_cycles DESC;"
    /* Kernel time of every core, by its busiest RISC and over all. */
    "CREATE VIEW core_sum AS SELECT chip, core_x, core_y, count(DISTINCT launch) AS launches,"
    " sum(role = 'kernel') AS kernels, sum(cycles * (role = 'kernel')) AS kernel_cycles,"
    " sum(ns * (role = 'kernel')) AS kernel_ns, sum(cycles * (role = 'firmware')) AS firmware_cycles,"
    " sum(ns * (role = 'firmware')) AS firmware_ns FROM zone_list GROUP BY chip, core_x, core_y"
    " ORDER BY kernel_cycles DESC;"
    "CREATE VIEW op_sum AS SELECT l.run, l.op, o.name, count(*) AS launches, sum(l.cycles) AS total_cycles,"
    " avg(l.cycles) AS avg_cycles, sum(l.ns) AS total_ns, avg(l.ns) AS avg_ns, min(l.ns) AS min_ns,"
    " max(l.ns) AS max_ns FROM launches l LEFT JOIN ops o ON o.run = coalesce(l.run, 0) AND o.op = l.op"
    " WHERE l.op IS NOT NULL GROUP BY l.run, l.op ORDER BY total_cycles DESC;"
    /* From the end of each launch to the start of the next on the same chip; negative when they overlap. */
    "CREATE VIEW gap_sum AS SELECT chip, launch, name, start_cycle - before_end AS gap_cycles,"
    " start_ns - before_end_ns AS gap_ns, before AS after_launch FROM (SELECT chip, launch, name, "
    "start_cycle,"
    " start_ns, lag(start_cycle + cycles) OVER w AS before_end, lag(start_ns + ns) OVER w AS before_end_ns,"
    " lag(launch) OVER w AS before FROM launches WINDOW w AS (PARTITION BY chip ORDER BY start_cycle, id))"
    " WHERE before_end IS NOT NULL ORDER BY gap_cycles DESC;";

static const char *const kinds[] = {
    [DL_VIEW_POINT] = "event",
    [DL_VIEW_VALUE] = "value",
    [DL_VIEW_SUM] = "sum",
    [DL_VIEW_DROPPED] = "dropped",
};

typedef struct database {
    dl_view *view;
    const char *path;      /* for messages */
    const char *temporary; /* of the file until it is whole */
    sqlite3 *db;
    sqlite_table zones, markers; /* written as pages while the library has the file closed */
    const dl_view_chip *chips;
    const dl_view_core *cores;
    const dl_view_track *tracks;
    const dl_tables *tables;
    uint32_t n_chips, n_cores, n_tracks;
} database;

static devlog_status failed(const database *d, devlog_error *err)
{
    int code = sqlite3_errcode(d->db);
    if (code == SQLITE_NOMEM) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while writing SQLite");
    if (code == SQLITE_FULL) return dl_file_unwritten(d->path, ENOSPC, err);
    return dl_fail(err, DEVLOG_ERR_IO, "cannot write %s: %s", d->path, sqlite3_errmsg(d->db));
}

static devlog_status prepare(const database *d, const char *sql, sqlite3_stmt **statement, devlog_error *err)
{
    bool ok = sqlite3_prepare_v2(d->db, sql, -1, statement, NULL) == SQLITE_OK;
    return ok ? DEVLOG_OK : failed(d, err);
}

static devlog_status step(const database *d, sqlite3_stmt *statement, devlog_error *err)
{
    bool ok = sqlite3_step(statement) == SQLITE_DONE;
    return sqlite3_reset(statement) == SQLITE_OK && ok ? DEVLOG_OK : failed(d, err);
}

/* SQLite's integers are signed: larger numbers become text, which compares and prints as what it is. */
static void bind_u64(sqlite3_stmt *s, int at, uint64_t value)
{
    char text[24];
    if (value <= INT64_MAX) {
        sqlite3_bind_int64(s, at, (sqlite3_int64)value);
        return;
    }
    int n = snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    sqlite3_bind_text(s, at, text, n, SQLITE_TRANSIENT);
}

static void bind_known(sqlite3_stmt *s, int at, bool known, uint64_t value)
{
    if (known)
        bind_u64(s, at, value);
    else
        sqlite3_bind_null(s, at);
}

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
    sqlite3_bind_text(s, at, text, -1, SQLITE_TRANSIENT);
}

static devlog_status write_chips(const database *d, devlog_error *err)
{
    sqlite3_stmt *s = NULL;
    devlog_status status = prepare(d, "INSERT INTO chips VALUES(?,?,?,?,?,?,?,?)", &s, err);
    for (uint32_t i = 0; i < d->n_chips && !status; i++) {
        const dl_view_chip *c = &d->chips[i];
        const dl_chip *chip = &d->tables->chips[c->chip];
        sqlite3_bind_int64(s, 1, c->id);
        char arch[64];
        snprintf(arch, sizeof arch, "%s", chip->arch ? dl_text(d->tables, chip->arch) : "");
        for (char *p = arch; *p; p++)
            if ((unsigned char)*p < ' ' || (unsigned char)*p > '~') *p = '?';
        bind_text(s, 2, arch);
        bind_known(s, 3, chip->freq_khz != 0, chip->freq_khz);
        bind_text(s, 4, c->has_ns ? "ns" : "cycles");
        sqlite3_bind_int64(s, 5, c->aligned);
        bind_known(s, 6, c->aligned, c->residual_ns);
        bind_known(s, 7, chip->aiclk_khz != 0, chip->aiclk_khz);
        sqlite3_bind_int64(s, 8, chip->instructions);
        status = step(d, s, err);
    }
    sqlite3_finalize(s);
    return status;
}

static devlog_status write_places(const database *d, devlog_error *err)
{
    sqlite3_stmt *core = NULL, *track = NULL;
    devlog_status status = prepare(d, "INSERT INTO cores VALUES(?,?,?,?)", &core, err);
    if (!status) status = prepare(d, "INSERT INTO tracks VALUES(?,?,?,?)", &track, err);
    for (uint32_t i = 0; i < d->n_cores && !status; i++) {
        sqlite3_bind_int64(core, 1, i);
        sqlite3_bind_int64(core, 2, d->chips[d->cores[i].chip].id);
        sqlite3_bind_int64(core, 3, d->cores[i].x);
        sqlite3_bind_int64(core, 4, d->cores[i].y);
        status = step(d, core, err);
    }
    for (uint32_t i = 0; i < d->n_tracks && !status; i++) {
        sqlite3_bind_int64(track, 1, i);
        sqlite3_bind_int64(track, 2, d->chips[d->tracks[i].chip].id);
        bind_known(track, 3, d->tracks[i].core != DL_NONE, d->tracks[i].core);
        bind_text(track, 4, d->tracks[i].name);
        status = step(d, track, err);
    }
    sqlite3_finalize(core);
    sqlite3_finalize(track);
    return status;
}

static devlog_status write_sites(const database *d, devlog_error *err)
{
    static const char *const roles[] = {[DL_ROLE_USER] = "user",
                                        [DL_ROLE_FW] = "firmware",
                                        [DL_ROLE_KERNEL] = "kernel",
                                        [DL_ROLE_DROPPED] = "dropped"};
    sqlite3_stmt *s = NULL;
    devlog_status status = prepare(d, "INSERT INTO sites VALUES(?,?,?,?,?)", &s, err);
    for (uint32_t i = 0; i < d->tables->n_sites && !status; i++) {
        const dl_view_item like = {.site = i, .kind = DL_VIEW_ZONE};
        const char *file = dl_view_site_file(d->view, i);
        char buffer[32];
        sqlite3_bind_int64(s, 1, i);
        bind_text(s, 2, dl_view_name(d->view, &like, buffer));
        bind_text(s, 3, roles[d->tables->sites[i].role]);
        bind_text(s, 4, file);
        bind_known(s, 5, file[0] != 0, d->tables->sites[i].line);
        status = step(d, s, err);
    }
    sqlite3_finalize(s);
    return status;
}

static devlog_status write_losses(const database *d, devlog_error *err)
{
    const dl_losses *l = dl_decode_losses(dl_view_decode(d->view));
    sqlite3_stmt *s = NULL;
    devlog_status status = prepare(d, "INSERT INTO losses VALUES(?,?,?,?)", &s, err);
    for (int i = DL_SKIP_NONE + 1; i < DL_SKIPS + DL_FINDINGS + 1 && !status; i++) {
        bool skip = i < DL_SKIPS, lane = i == DL_SKIPS + DL_FINDINGS;
        dl_finding what = (dl_finding)(i - DL_SKIPS);
        uint64_t count = lane ? dl_view_left_out(d->view) : skip ? l->skipped[i] : l->found[what];
        bool loss = skip || lane || dl_finding_is_loss(what);
        if (!count && !loss) continue;
        char key[64];
        snprintf(key, sizeof key, "%s%s", skip ? "skipped_" : "",
                 lane   ? "zones_without_lane"
                 : skip ? dl_skip_key((dl_skip)i)
                        : dl_finding_key(what));
        bind_text(s, 1, key);
        sqlite3_bind_int(s, 2, loss);
        bind_u64(s, 3, count);
        bind_text(s, 4,
                  lane   ? "zones that overlapped on more lanes than devlog keeps"
                  : skip ? dl_skip_text((dl_skip)i)
                         : dl_finding_text(what));
        status = step(d, s, err);
    }
    sqlite3_finalize(s);
    return status;
}

static bool has_ns(const database *d, const dl_view_item *item)
{
    return d->chips[d->tracks[item->track].chip].has_ns;
}

/* The op that asked for a launch, and its name when it is known. */
static devlog_status write_op(const database *d, sqlite3_stmt *s, uint32_t launch, devlog_error *err)
{
    const dl_launch *l = &dl_decode_launches(dl_view_decode(d->view))->items[launch];
    const char *name = dl_view_launch_op_name(d->view, launch);
    if (!l->op) return DEVLOG_OK;
    bind_u64(s, 1, l->run);
    sqlite3_bind_int64(s, 2, l->op);
    if (name)
        bind_text(s, 3, name);
    else
        sqlite3_bind_null(s, 3);
    return step(d, s, err);
}

/* Launches of which no firmware zone was seen whole have no time, but zones and markers name them. */
static devlog_status write_launch(const database *d, sqlite3_stmt *s, uint32_t launch, devlog_error *err)
{
    const dl_launch *l = &dl_decode_launches(dl_view_decode(d->view))->items[launch];
    char name[256];
    dl_view_item item = {0};
    const bool timed = dl_view_launch(d->view, launch, &item), ns = timed && has_ns(d, &item);
    dl_view_launch_name(d->view, launch, name);
    sqlite3_bind_int64(s, 1, launch);
    sqlite3_bind_int64(s, 2, d->tables->chips[l->chip].id);
    bind_u64(s, 3, dl_view_launch_id(d->view, launch));
    bind_known(s, 4, l->trace_id != DL_NO_ID, l->trace_id);
    bind_known(s, 5, l->trace_counter != DL_NO_ID, l->trace_counter);
    bind_known(s, 6, l->run != 0, l->run);
    bind_known(s, 7, l->op != 0, l->op);
    bind_text(s, 8, name);
    bind_known(s, 9, timed, item.cycle);
    bind_known(s, 10, timed, item.end_cycle - item.cycle);
    bind_known(s, 11, ns, item.start);
    bind_known(s, 12, ns, item.end - item.start);
    return step(d, s, err);
}

/* All that filters left, also those without a whole firmware zone, which have no times. */
static devlog_status write_launches(const database *d, devlog_error *err)
{
    const dl_launches *all = dl_decode_launches(dl_view_decode(d->view));
    sqlite3_stmt *launch = NULL, *op = NULL;
    devlog_status status = prepare(d, "INSERT INTO launches VALUES(?,?,?,?,?,?,?,?,?,?,?,?)", &launch, err);
    if (!status) status = prepare(d, "INSERT OR IGNORE INTO ops VALUES(?,?,?)", &op, err);
    for (uint32_t i = 0; i < all->count && !status; i++) {
        dl_view_item item;
        const bool timed = all->items[i].first_fw_start <= all->items[i].last_fw_end;
        if (timed ? !dl_view_launch(d->view, i, &item)
                  : !dl_decode_wants(dl_view_decode(d->view), &all->items[i]))
            continue;
        status = write_launch(d, launch, i, err);
        if (!status) status = write_op(d, op, i, err);
    }
    sqlite3_finalize(launch);
    sqlite3_finalize(op);
    return status;
}

static devlog_status write_zone(database *d, const dl_view_item *item, devlog_error *err)
{
    sqlite_table *const t = &d->zones;
    const bool ns = has_ns(d, item);
    sqlite_add_number(t, item->track);
    sqlite_add_number(t, item->site);
    sqlite_add_known(t, item->launch != DL_NONE, item->launch);
    sqlite_add_number(t, item->cycle);
    sqlite_add_number(t, item->end_cycle - item->cycle);
    sqlite_add_known(t, ns, item->start);
    sqlite_add_known(t, ns, item->end - item->start);
    sqlite_add_number(t, item->depth);
    sqlite_add_number(t, item->lane);
    sqlite_add_known(t, item->data != 0, item->data);
    return sqlite_table_row(t, err);
}

/* The data of a marker: the column has no type, so that what is too large for one of SQLite's numbers stays a text, with
 * all of its digits. */
static bool add_data(sqlite_table *t, const dl_view_item *item)
{
    char text[24];
    if (item->kind == DL_VIEW_POINT || item->data <= INT64_MAX) {
        sqlite_add_known(t, item->kind != DL_VIEW_POINT, item->data);
        return true;
    }
    snprintf(text, sizeof text, "%llu", (unsigned long long)item->data);
    return sqlite_add_text(t, text);
}

static devlog_status write_marker(database *d, const dl_view_item *item, devlog_error *err)
{
    sqlite_table *const t = &d->markers;
    char buffer[32];
    const char *const text = dl_view_text(d->view, item, 0);
    sqlite_add_number(t, item->track);
    sqlite_add_number(t, item->site);
    sqlite_add_known(t, item->launch != DL_NONE, item->launch);
    bool ok =
        sqlite_add_text(t, kinds[item->kind]) && sqlite_add_text(t, dl_view_name(d->view, item, buffer));
    sqlite_add_number(t, item->cycle);
    sqlite_add_known(t, has_ns(d, item), item->start);
    ok = add_data(t, item) && ok;
    if (text)
        ok = sqlite_add_text(t, text) && ok;
    else
        sqlite_add_null(t);
    return ok ? sqlite_table_row(t, err)
              : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while writing SQLite");
}

static devlog_status items(void *ctx, const dl_view_item *all, size_t n, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < n && !status; i++) {
        if (all[i].kind == DL_VIEW_ZONE)
            status = write_zone(ctx, &all[i], err);
        else if (all[i].kind != DL_VIEW_LAUNCH)
            status = write_marker(ctx, &all[i], err);
    }
    return status;
}

static devlog_status root_of(const database *d, const char *table, uint32_t *root, devlog_error *err)
{
    sqlite3_stmt *s = NULL;
    devlog_status status = prepare(d, "SELECT rootpage FROM sqlite_master WHERE name = ?", &s, err);
    if (status) return status;
    bind_text(s, 1, table);
    if (sqlite3_step(s) == SQLITE_ROW)
        *root = (uint32_t)sqlite3_column_int64(s, 0);
    else
        status = failed(d, err);
    sqlite3_finalize(s);
    return status;
}

static devlog_status open_database(database *d, const char *sql, devlog_error *err)
{
    if (sqlite3_open_v2(d->temporary, &d->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
            SQLITE_OK ||
        sqlite3_exec(d->db, quick, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(d->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return failed(d, err);
    return DEVLOG_OK;
}

/* Commits, and closes in any case. */
static devlog_status close_database(database *d, devlog_status status, devlog_error *err)
{
    if (!status && sqlite3_exec(d->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) status = failed(d, err);
    if (d->db && sqlite3_close(d->db) != SQLITE_OK && !status) status = failed(d, err);
    d->db = NULL;
    return status;
}

/* What zones and markers refer to. */
static devlog_status write_before(database *d, uint32_t *zones, uint32_t *markers, devlog_error *err)
{
    devlog_status status = open_database(d, schema, err);
    if (!status) status = write_chips(d, err);
    if (!status) status = write_places(d, err);
    if (!status) status = write_sites(d, err);
    if (!status) status = root_of(d, "zones", zones, err);
    if (!status) status = root_of(d, "markers", markers, err);
    return close_database(d, status, err);
}

static devlog_status write_events(database *d, int fd, uint32_t zones, uint32_t markers, devlog_error *err)
{
    sqlite_file file;
    devlog_status status = sqlite_file_begin(&file, fd, d->path, err);
    if (!status) status = sqlite_table_begin(&d->zones, &file, zones, err);
    if (!status) status = sqlite_table_begin(&d->markers, &file, markers, err);
    if (!status)
        status = dl_view_run(d->view, DL_VIEW_BY_TIME, (dl_view_sink){.ctx = d, .items = items}, err);
    if (!status) status = sqlite_table_end(&d->zones, err);
    if (!status) status = sqlite_table_end(&d->markers, err);
    if (!status) status = sqlite_file_end(&file, err);
    sqlite_table_free(&d->zones);
    sqlite_table_free(&d->markers);
    return status;
}

/* What is known when all events have been seen. */
static devlog_status write_after(database *d, devlog_error *err)
{
    devlog_status status = open_database(d, "BEGIN", err);
    if (!status) status = write_launches(d, err);
    if (!status) status = write_losses(d, err);
    return close_database(d, status, err);
}

devlog_status dl_export_sqlite(dl_view *v, const char *path, devlog_error *err)
{
    database d = {.view = v, .path = path};
    dl_str temporary = {0};
    if (strcmp(path, "-") == 0)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                       "a database cannot go to standard output; give -o a file name");
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "a database is a file: %s is none", path);
    devlog_status status = dl_sqlite_load(err);
    if (status) return status;
    d.chips = dl_view_chips(v, &d.n_chips);
    d.cores = dl_view_cores(v, &d.n_cores);
    d.tracks = dl_view_tracks(v, &d.n_tracks);
    d.tables = dl_decode_tables(dl_view_decode(v));
    dl_str_fmt(&temporary, "%s.XXXXXX", path);
    if (temporary.failed) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    int fd = mkostemp(temporary.text, O_CLOEXEC);
    if (fd < 0) {
        status = dl_file_unwritten(path, errno, err);
        dl_str_free(&temporary);
        return status;
    }
    mode_t mask = umask(0);
    umask(mask);
    (void)fchmod(fd, 0666 & ~mask);
    d.temporary = temporary.text;
    uint32_t zones = 0, markers = 0;
    status = write_before(&d, &zones, &markers, err);
    if (!status) status = write_events(&d, fd, zones, markers, err);
    if (!status) status = write_after(&d, err);
    close(fd);
    if (!status && rename(temporary.text, path) != 0) status = dl_file_unwritten(path, errno, err);
    if (status) unlink(temporary.text);
    dl_str_free(&temporary);
    return status;
}
