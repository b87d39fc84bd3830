/* An SQLite database: tables of what the log holds, and the views that people ask for first. The schema below
 * is its documentation. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "report/export.h"
#include "report/sqlite_library.h"

static const char schema[] =
    "PRAGMA journal_mode=OFF;PRAGMA synchronous=OFF;PRAGMA locking_mode=EXCLUSIVE;PRAGMA page_size=16384;"
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

/* Zones that are inserted by one statement: to begin and end one costs as much as some rows do. */
enum { AT_ONCE = 32, ZONE_COLUMNS = 10 };

typedef struct database {
    dl_view *view;
    const char *path; /* for messages */
    sqlite3 *db;
    sqlite3_stmt *zones, *zone, *marker, *launch, *op; /* zones: of AT_ONCE */
    dl_view_item waiting[AT_ONCE];
    int n_waiting;
    /* In the columns of `zones` that rarely change: the value and one, 0: NULL. */
    uint64_t bound[AT_ONCE * ZONE_COLUMNS + 1];
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

/* A column of a zone that mostly has what it had in the row before: what is bound stays bound. */
static void bind_same(database *d, int at, bool known, uint64_t value)
{
    uint64_t wanted = known ? value + 1 : 0;
    if (d->bound[at] == wanted && !(known && !wanted)) return; /* of the largest value one more is 0 */
    d->bound[at] = wanted;
    bind_known(d->zones, at, known, value);
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

/* Binds what does not depend on time; `chip` is the decoder's number. */
static devlog_status write_launch(const database *d, uint32_t launch, uint32_t chip, devlog_error *err)
{
    const dl_launch *l = &dl_decode_launches(dl_view_decode(d->view))->items[launch];
    char name[256];
    dl_view_launch_name(d->view, launch, name);
    sqlite3_bind_int64(d->launch, 1, launch);
    sqlite3_bind_int64(d->launch, 2, d->tables->chips[chip].id);
    bind_u64(d->launch, 3, dl_view_launch_id(d->view, launch));
    bind_known(d->launch, 4, l->trace_id != DL_NO_ID, l->trace_id);
    bind_known(d->launch, 5, l->trace_counter != DL_NO_ID, l->trace_counter);
    bind_known(d->launch, 6, l->run != 0, l->run);
    bind_known(d->launch, 7, l->op != 0, l->op);
    bind_text(d->launch, 8, name);
    devlog_status status = step(d, d->launch, err);
    if (status || !l->op) return status;
    const char *op = dl_view_launch_op_name(d->view, launch);
    bind_u64(d->op, 1, l->run);
    sqlite3_bind_int64(d->op, 2, l->op);
    if (op)
        bind_text(d->op, 3, op);
    else
        sqlite3_bind_null(d->op, 3);
    return step(d, d->op, err);
}

static bool has_ns(const database *d, const dl_view_item *item)
{
    return d->chips[d->tracks[item->track].chip].has_ns;
}

/* All that wait, which are AT_ONCE. */
static devlog_status write_zones(database *d, devlog_error *err)
{
    for (int i = 0; i < AT_ONCE; i++) {
        const dl_view_item *item = &d->waiting[i];
        const int at = i * ZONE_COLUMNS;
        const bool ns = has_ns(d, item);
        sqlite3_bind_int64(d->zones, at + 1, item->track);
        sqlite3_bind_int64(d->zones, at + 2, item->site);
        bind_same(d, at + 3, item->launch != DL_NONE, item->launch);
        bind_u64(d->zones, at + 4, item->cycle);
        bind_u64(d->zones, at + 5, item->end_cycle - item->cycle);
        bind_known(d->zones, at + 6, ns, item->start);
        bind_known(d->zones, at + 7, ns, item->end - item->start);
        bind_same(d, at + 8, true, item->depth);
        bind_same(d, at + 9, true, item->lane);
        bind_same(d, at + 10, item->data != 0, item->data);
    }
    d->n_waiting = 0;
    return step(d, d->zones, err);
}

/* Those that wait at the end, one by one. */
static devlog_status write_rest(const database *d, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (int i = 0; i < d->n_waiting && !status; i++) {
        const dl_view_item *item = &d->waiting[i];
        const bool ns = has_ns(d, item);
        sqlite3_bind_int64(d->zone, 1, item->track);
        sqlite3_bind_int64(d->zone, 2, item->site);
        bind_known(d->zone, 3, item->launch != DL_NONE, item->launch);
        bind_u64(d->zone, 4, item->cycle);
        bind_u64(d->zone, 5, item->end_cycle - item->cycle);
        bind_known(d->zone, 6, ns, item->start);
        bind_known(d->zone, 7, ns, item->end - item->start);
        bind_u64(d->zone, 8, item->depth);
        bind_u64(d->zone, 9, item->lane);
        bind_known(d->zone, 10, item->data != 0, item->data);
        status = step(d, d->zone, err);
    }
    return status;
}

static devlog_status write_item(database *d, const dl_view_item *item, devlog_error *err)
{
    const bool ns = has_ns(d, item);
    if (item->kind == DL_VIEW_LAUNCH) {
        bind_u64(d->launch, 9, item->cycle);
        bind_u64(d->launch, 10, item->end_cycle - item->cycle);
        bind_known(d->launch, 11, ns, item->start);
        bind_known(d->launch, 12, ns, item->end - item->start);
        return write_launch(d, item->launch, d->chips[d->tracks[item->track].chip].chip, err);
    }
    if (item->kind != DL_VIEW_ZONE) {
        char buffer[32];
        sqlite3_bind_int64(d->marker, 1, item->track);
        sqlite3_bind_int64(d->marker, 2, item->site);
        bind_known(d->marker, 3, item->launch != DL_NONE, item->launch);
        sqlite3_bind_text(d->marker, 4, kinds[item->kind], -1, SQLITE_STATIC);
        bind_text(d->marker, 5, dl_view_name(d->view, item, buffer));
        bind_u64(d->marker, 6, item->cycle);
        bind_known(d->marker, 7, ns, item->start);
        bind_known(d->marker, 8, item->kind != DL_VIEW_POINT, item->data);
        const char *text = dl_view_text(d->view, item, 0);
        if (text)
            bind_text(d->marker, 9, text);
        else
            sqlite3_bind_null(d->marker, 9);
        return step(d, d->marker, err);
    }
    d->waiting[d->n_waiting++] = *item;
    return d->n_waiting == AT_ONCE ? write_zones(d, err) : DEVLOG_OK;
}

/* Launches of which no firmware zone was seen whole have no time, but zones and markers name them. */
static devlog_status write_timeless_launches(const database *d, devlog_error *err)
{
    const dl_launches *all = dl_decode_launches(dl_view_decode(d->view));
    devlog_status status = DEVLOG_OK;
    for (uint32_t i = 0; i < all->count && !status; i++) {
        if (all->items[i].first_fw_start <= all->items[i].last_fw_end) continue;
        for (int column = 9; column <= 12; column++)
            sqlite3_bind_null(d->launch, column);
        status = write_launch(d, i, all->items[i].chip, err);
    }
    return status;
}

static devlog_status items(void *ctx, const dl_view_item *all, size_t n, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < n && !status; i++)
        status = write_item(ctx, &all[i], err);
    return status;
}

/* "INSERT INTO zones ... VALUES (?,...),(?,...)" for n of them. */
static devlog_status prepare_zones(const database *d, int n, sqlite3_stmt **statement, devlog_error *err)
{
    dl_str sql = {0};
    dl_str_add(&sql,
               "INSERT INTO zones(track,site,launch,start_cycle,cycles,start_ns,ns,depth,lane,data) VALUES");
    for (int i = 0; i < n; i++)
        dl_str_add(&sql, i ? ",(?,?,?,?,?,?,?,?,?,?)" : "(?,?,?,?,?,?,?,?,?,?)");
    devlog_status status = dl_str_status(&sql, err);
    if (!status) status = prepare(d, sql.text, statement, err);
    dl_str_free(&sql);
    return status;
}

static devlog_status fill(database *d, devlog_error *err)
{
    if (sqlite3_exec(d->db, schema, NULL, NULL, NULL) != SQLITE_OK) return failed(d, err);
    devlog_status status = prepare_zones(d, AT_ONCE, &d->zones, err);
    if (!status) status = prepare_zones(d, 1, &d->zone, err);
    if (!status)
        status = prepare(d,
                         "INSERT INTO markers(track,site,launch,kind,name,cycle,time_ns,data,text)"
                         " VALUES(?,?,?,?,?,?,?,?,?)",
                         &d->marker, err);
    if (!status) status = prepare(d, "INSERT INTO launches VALUES(?,?,?,?,?,?,?,?,?,?,?,?)", &d->launch, err);
    if (!status) status = prepare(d, "INSERT OR IGNORE INTO ops VALUES(?,?,?)", &d->op, err);
    if (!status) status = write_chips(d, err);
    if (!status) status = write_places(d, err);
    if (!status) status = write_sites(d, err);
    if (!status) status = dl_view_run(d->view, DL_VIEW_BY_TIME, (dl_view_sink){d, items}, err);
    if (!status) status = write_rest(d, err);
    if (!status) status = write_timeless_launches(d, err);
    if (!status) status = write_losses(d, err);
    if (!status && sqlite3_exec(d->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) status = failed(d, err);
    sqlite3_finalize(d->zones);
    sqlite3_finalize(d->zone);
    sqlite3_finalize(d->marker);
    sqlite3_finalize(d->launch);
    sqlite3_finalize(d->op);
    return status;
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
    devlog_status status = load_sqlite(err);
    if (status) return status;
    d.chips = dl_view_chips(v, &d.n_chips);
    d.cores = dl_view_cores(v, &d.n_cores);
    d.tracks = dl_view_tracks(v, &d.n_tracks);
    d.tables = dl_decode_tables(dl_view_decode(v));
    dl_str_fmt(&temporary, "%s.XXXXXX", path);
    if (temporary.failed) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    int fd = mkostemp(temporary.text, O_CLOEXEC);
    if (fd < 0) {
        status = dl_fail_errno(err, errno, "cannot write %s", path);
        dl_str_free(&temporary);
        return status;
    }
    mode_t mask = umask(0);
    umask(mask);
    (void)fchmod(fd, 0666 & ~mask);
    close(fd);
    if (sqlite3_open_v2(temporary.text, &d.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        status = failed(&d, err);
    if (!status) status = fill(&d, err);
    if (sqlite3_close(d.db) != SQLITE_OK && !status) status = failed(&d, err);
    if (!status && rename(temporary.text, path) != 0)
        status = dl_fail_errno(err, errno, "cannot write %s", path);
    if (status) unlink(temporary.text);
    dl_str_free(&temporary);
    return status;
}
