/* The file of an archive, as anybody may have written it: opened, listed, its history answered, the files of a run written out, and a
 * run added. Any bytes are an answer or an error, JSON is whole, and no file leaves its folder. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "answers/answer_print.h"
#include "archive/archive.h"
#include "base/file.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], path[96], got[96], report[96];

static void empty(const char *in)
{
    char file[400];
    DIR *d = opendir(in);
    for (const struct dirent *e; d && (e = readdir(d)) != NULL;) {
        snprintf(file, sizeof file, "%s/%s", in, e->d_name);
        if (e->d_name[0] != '.' || (e->d_name[1] && e->d_name[1] != '.')) remove(file);
    }
    if (d) closedir(d);
}

static void clean(void)
{
    char beside[112];
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        snprintf(beside, sizeof beside, "%s%s", path, ends[i]);
        remove(beside);
    }
    empty(got);
}

static void remove_all(void)
{
    clean();
    rmdir(got);
    remove(report);
    rmdir(folder);
}

static void write_bytes(const char *to, const void *bytes, size_t n)
{
    FILE *f = fopen(to, "w");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0) abort();
}

static void make_folder(void)
{
    static const char text[] =
        "OP CODE,GLOBAL CALL COUNT,DEVICE ID,DEVICE KERNEL DURATION [ns]\nMatmul,1,0,1000\n";
    snprintf(folder, sizeof folder, "%s/fuzz_archive_XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder)) abort();
    snprintf(path, sizeof path, "%s/archive.sqlite", folder);
    snprintf(got, sizeof got, "%s/got", folder);
    snprintf(report, sizeof report, "%s/ops_perf_results.csv", folder);
    write_bytes(report, text, sizeof text - 1);
    atexit(remove_all);
}

static void print(const answer *a)
{
    dl_str out = {0};
    answer_print_json(&(answer_shown){.a = a, .kind = "history", .version = ARCHIVE_VERSION, .width = 80},
                      &out);
    cJSON *json = out.failed ? NULL : cJSON_Parse(out.text);
    if (!json) abort();
    cJSON_Delete(json);
    dl_str_free(&out);
    answer_print_text(&(answer_shown){.a = a, .kind = "history", .version = ARCHIVE_VERSION, .width = 80},
                      &out);
    if (out.failed) abort();
    dl_str_free(&out);
}

static void look(archive *db, const archive_filter *f)
{
    devlog_error err;
    archive_runs runs;
    answer a;
    archive_verdict verdict;
    if (answer_begin(&a, &err)) abort();
    if (archive_find(db, f, &runs, &err) == DEVLOG_OK) {
        const archive_history_options o = {.confidence = 99, .least = 1, .top = 5};
        if (archive_history(db, &runs, &o, &a, &verdict, &err) == DEVLOG_OK) print(&a);
        for (size_t i = 0; i < runs.n && i < 3; i++)
            (void)archive_get(db, runs.items[i].id, got, &err);
    }
    answer_free(&a);
    archive_runs_free(&runs);
}

static void add(archive *db)
{
    devlog_error err;
    archive_run run = {0};
    bool known;
    size_t left_out;
    if (archive_read_run(&run, report, &err)) abort();
    run.date = 5;
    (void)archive_add(db, &run, 1 << 20, &known, &left_out, &err);
    archive_run_free(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const labels[] = {"branch=main"};
    if (!*folder) make_folder();
    write_bytes(path, data, size);
    devlog_error err;
    archive *db = NULL;
    if (archive_open(&db, path, false, &err) == DEVLOG_OK) {
        fuzz_got_inside();
        look(db, &(archive_filter){0});
        look(db, &(archive_filter){.commit = "ab", .labels = labels, .n_labels = 1, .since = 1});
        archive_close(db);
    }
    db = NULL;
    if (archive_open(&db, path, true, &err) == DEVLOG_OK) {
        add(db);
        archive_close(db);
    }
    clean();
    return 0;
}
