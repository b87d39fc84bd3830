/* Logs of any bytes, in every format: nothing crashes, what claims to be JSON is JSON, traces of Perfetto and XPlane can be taken
 * apart by protobuf-c, SQLite finds nothing wrong with a database, and the packets of CTF hold whole events. What is
 * one stream is the same to the byte when nothing is remembered of runs that look alike. */
#include <cJSON.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "perfetto.pb-c.h"
#include "report/export.h"
#include "report/sqlite_library.h"
#include "xplane.pb-c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], output[80];

/* A folder for formats that are a file or a folder. */
static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/fuzz_export_XXXXXX");
    if (!mkdtemp(folder)) abort();
    snprintf(output, sizeof output, "%s/output", folder);
}

/* Removes a file, or a folder with what is in it. */
static void remove_all(const char *path)
{
    DIR *d = opendir(path);
    for (const struct dirent *e; d && (e = readdir(d)) != NULL;) {
        char below[512];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        if (snprintf(below, sizeof below, "%s/%s", path, e->d_name) >= (int)sizeof below) abort();
        remove_all(below);
    }
    if (d) closedir(d);
    remove(path);
}

static void remove_folder(void)
{
    remove_all(folder);
}

/* Standard output becomes a file in memory: what is written there is read back. */
static void take_standard_output(void)
{
    int fd = memfd_create("export", 0);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0) abort();
    close(fd);
}

static void begin(void)
{
    if (*folder) return;
    make_folder();
    atexit(remove_folder);
    take_standard_output();
}

static char *read_all(const char *path, size_t *n)
{
    FILE *f = fopen(path, "r");
    if (!f || fseek(f, 0, SEEK_END) != 0) abort();
    *n = (size_t)ftell(f);
    rewind(f);
    char *text = malloc(*n + 1);
    if (!text || fread(text, 1, *n, f) != *n) abort();
    fclose(f);
    return text;
}

static void check_stream(const char *format, const char *text, size_t n)
{
    if (strcmp(format, "perfetto") == 0) {
        Devlog__Perfetto__Trace *t = devlog__perfetto__trace__unpack(NULL, n, (const uint8_t *)text);
        if (!t) abort();
        devlog__perfetto__trace__free_unpacked(t, NULL);
    } else if (strcmp(format, "chrome") == 0 || strcmp(format, "json") == 0 ||
               strcmp(format, "speedscope") == 0) {
        cJSON *json = cJSON_ParseWithLength(text, n);
        if (!json) abort();
        cJSON_Delete(json);
    }
}

static int is_ok(void *ctx, int n, char **values, char **names)
{
    (void)names;
    if (n != 1 || strcmp(values[0], "ok") != 0) abort();
    ++*(int *)ctx;
    return 0;
}

static void check_sqlite(void)
{
    sqlite3 *db;
    int rows = 0;
    if (sqlite3_open_v2(output, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_exec(db, "PRAGMA integrity_check", is_ok, &rows, NULL) != SQLITE_OK || rows != 1 ||
        sqlite3_exec(db, "SELECT * FROM zone_sum, core_sum LIMIT 9", NULL, NULL, NULL) != SQLITE_OK)
        abort();
    sqlite3_close(db);
}

static void check_xplane(void)
{
    char path[160];
    size_t n;
    snprintf(path, sizeof path, "%s/plugins/profile/devlog/devlog.xplane.pb", output);
    char *text = read_all(path, &n);
    Devlog__Xplane__XSpace *x = devlog__xplane__xspace__unpack(NULL, n, (const uint8_t *)text);
    if (!x) abort();
    devlog__xplane__xspace__free_unpacked(x, NULL);
    free(text);
}

/* Bytes of an event of a stream of CTF, as `metadata` describes them (report/ctf.c); 0: they go on behind `n`. */
static size_t ctf_event(const char *at, size_t n)
{
    enum { HEADER = 1 + 8, CONTEXT = 4 + 8 + 8, PLACE = 2 + 2 + 4 + 4 + 4 };
    static const struct {
        size_t bytes;
        bool is_text_behind;
    } kinds[] = {
        [DL_VIEW_ZONE] = {PLACE + 8 + 8 + 2 + 2 + 8, false},
        [DL_VIEW_POINT] = {PLACE + 4, true},
        [DL_VIEW_VALUE] = {PLACE + 4 + 8, false},
        [DL_VIEW_SUM] = {PLACE + 4 + 8, false},
        [DL_VIEW_DROPPED] = {PLACE + 4 + 8, false},
        [DL_VIEW_LAUNCH] = {8 + 8 + 2, true},
    };
    const unsigned char kind = (unsigned char)*at;
    if (kind >= sizeof kinds / sizeof kinds[0] || n < HEADER + CONTEXT + kinds[kind].bytes) return 0;
    const size_t bytes = HEADER + CONTEXT + kinds[kind].bytes;
    if (!kinds[kind].is_text_behind) return bytes;
    const char *end = memchr(at + bytes, 0, n - bytes);
    return end ? (size_t)(end + 1 - at) : 0;
}

static void check_ctf_stream(const char *text, size_t n)
{
    enum { HEADER = 4 + 4 + 6 * 8, SIZE_AT = 4 + 4 + 8 + 8 };
    for (size_t at = 0, end; at < n; at = end) {
        uint32_t magic;
        uint64_t bits;
        if (n - at < HEADER) abort();
        memcpy(&magic, text + at, sizeof magic);
        memcpy(&bits, text + at + SIZE_AT, sizeof bits);
        if (magic != 0xC1FC1FC1 || bits % 8 || bits / 8 < HEADER || bits / 8 > n - at) abort();
        end = at + (size_t)(bits / 8);
        for (size_t e = at + HEADER; e < end;) {
            const size_t bytes = ctf_event(text + e, end - e);
            if (bytes == 0) abort();
            e += bytes;
        }
    }
}

static void check_ctf(void)
{
    DIR *d = opendir(output);
    bool is_described = false;
    if (!d) abort();
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        char path[400];
        size_t n;
        is_described |= strcmp(e->d_name, "metadata") == 0;
        if (strncmp(e->d_name, "chip_", 5) != 0) continue;
        snprintf(path, sizeof path, "%s/%s", output, e->d_name);
        char *text = read_all(path, &n);
        check_ctf_stream(text, n);
        free(text);
    }
    closedir(d);
    if (!is_described) abort();
}

static const struct {
    const char *format;
    void (*check)(void);
} on_disk[] = {{"ctf", check_ctf}, {"sqlite", check_sqlite}, {"xplane", check_xplane}};
enum { ON_DISK = sizeof on_disk / sizeof on_disk[0] };

static bool write_to_disk(dl_view *v, const dl_export_format *format)
{
    devlog_error err;
    for (int i = 0; i < ON_DISK; i++) {
        if (strcmp(on_disk[i].format, format->name) != 0) continue;
        if (format->write(v, output, &err) != DEVLOG_OK) abort();
        on_disk[i].check();
        remove_all(output);
        return true;
    }
    return false;
}

/* Appends what the format writes to standard output, if it is a stream and does not refuse. */
static void write_stream(dl_view *v, const dl_export_format *format, dl_str *out)
{
    devlog_error err;
    if (write_to_disk(v, format)) return;
    if (ftruncate(STDOUT_FILENO, 0) != 0 || lseek(STDOUT_FILENO, 0, SEEK_SET) != 0) abort();
    if (format->write(v, "-", &err) != DEVLOG_OK) return;
    const size_t n = (size_t)lseek(STDOUT_FILENO, 0, SEEK_END);
    if (!dl_str_reserve(out, n + 1) || pread(STDOUT_FILENO, out->text, n, 0) != (ssize_t)n) abort();
    out->len = n;
    out->text[n] = 0;
    check_stream(format->name, out->text, n);
}

static devlog_status count_items(void *ctx, const dl_view_item *items, size_t n, devlog_error *err)
{
    uint64_t *zones = ctx;
    (void)err;
    for (size_t i = 0; i < n; i++)
        *zones += items[i].kind == DL_VIEW_ZONE;
    return DEVLOG_OK;
}

/* What is exported are the zones that tables of statistics count. */
static void check_zones(dl_view *v, dl_decode *d)
{
    uint64_t listed = 0, counted = 0;
    devlog_error err;
    if (dl_view_run(v, DL_VIEW_BY_TIME, (dl_view_sink){.ctx = &listed, .items = count_items}, &err)) abort();
    for (size_t i = 0; i < dl_decode_n_keys(d); i++)
        counted += dl_decode_key(d, i)->count;
    if (listed != counted) abort();
}

/* The log in this format. `no_shapes`: paired mark by mark, and written event by event; now and then without room in memory. */
static void export_log(const uint8_t *data, size_t size, const dl_export_format *format, bool no_shapes,
                       dl_str *out)
{
    devlog_error err;
    dl_decode *d;
    dl_view *v = NULL;
    const dl_decode_options options = {.keep_meta = true, .no_samples = true, .no_shapes = no_shapes};
    if (dl_decode_new(&d, &options, &err) != DEVLOG_OK) return;
    const dl_view_options how = {.memory = no_shapes && size % 8 == 0 ? 1 : 0};
    if (dl_view_new(&v, d, &how, &err) == DEVLOG_OK) {
        dl_decode_run_sink(d, dl_view_runs(v), &err);
        dl_decode_memory(d, "fuzz", data, size, &err);
        dl_decode_finish(d, &err);
        if (dl_decode_losses(d)->rows) fuzz_got_inside();
        if (dl_view_ready(v, &err) == DEVLOG_OK) {
            check_zones(v, d);
            write_stream(v, format, out);
        }
    }
    dl_view_free(v);
    dl_decode_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t n_formats;
    const dl_export_format *formats = dl_export_formats(&n_formats);
    const uint32_t ways = fuzz_ways(data, size, (uint32_t)n_formats);
    begin();
    for (size_t i = 0; i < n_formats; i++) {
        if (!(ways >> i & 1)) continue;
        dl_str runs = {0}, marks = {0};
        export_log(data, size, &formats[i], false, &runs);
        if (runs.len) export_log(data, size, &formats[i], true, &marks);
        fuzz_same(&runs, &marks);
        dl_str_free(&runs);
        dl_str_free(&marks);
    }
    return 0;
}
