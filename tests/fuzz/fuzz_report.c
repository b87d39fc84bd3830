/* Any bytes as a device log, and every report made of it: statistics, JSON, CSV, the files. JSON is JSON, and all are the same to
 * the byte when nothing is remembered of runs that look alike. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "report/machine.h"
#include "report/rearranged.h"
#include "report/stats.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static char folder[64];

static void remove_folder(void)
{
    rmdir(folder);
}

static void make_folder(void)
{
    if (*folder) return;
    snprintf(folder, sizeof folder, "/tmp/fuzz_report_XXXXXX");
    if (!mkdtemp(folder)) abort();
    atexit(remove_folder);
}

static void read_all(int fd, dl_str *out)
{
    const off_t n = lseek(fd, 0, SEEK_END);
    char *to = n < 0 || !dl_str_reserve(out, (size_t)n + 1) ? NULL : out->text + out->len;
    if (!to || pread(fd, to, (size_t)n, 0) != n) abort();
    out->len += (size_t)n;
    out->text[out->len] = 0;
}

static void add_files(dl_artifacts *set, dl_str *out)
{
    devlog_error err;
    if (dl_artifacts_write(set, &err)) abort();
    for (size_t i = 0; dl_artifacts_path(set, i); i++) {
        FILE *f = fopen(dl_artifacts_path(set, i), "r");
        if (!f) abort();
        read_all(fileno(f), out);
        fclose(f);
        remove(dl_artifacts_path(set, i));
    }
}

static double count_in(const cJSON *json, const char *list)
{
    const cJSON *row;
    double count = 0;
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(json, list)) count +=
        cJSON_GetObjectItem(row, "count")->valuedouble;
    return count;
}

/* It is JSON, and has each zone and marker once by RISC and once by core. */
static void check_json(const dl_decode *d, const dl_str *text)
{
    cJSON *json = cJSON_ParseWithLength(text->text, text->len);
    uint64_t zones = 0;
    if (!json) abort();
    for (size_t i = 0; i < dl_decode_n_keys(d); i++)
        zones += dl_decode_key(d, i)->count;
    if (count_in(json, "zones") != (double)zones || count_in(json, "cores") != (double)zones ||
        count_in(json, "markers") != count_in(json, "core_markers"))
        abort();
    cJSON_Delete(json);
}

static void add_machine(dl_decode *d, dl_analyzer *a, bool is_json, dl_str *out)
{
    static int memory = -1;
    devlog_error err;
    dl_file_writer w;
    const dl_machine_options how = {.analyzer = a};
    if (memory < 0) memory = memfd_create("report", 0);
    if (memory < 0 || ftruncate(memory, 0) != 0 || lseek(memory, 0, SEEK_SET) != 0) abort();
    if (dl_file_stream(&w, memory, "memory", &err)) abort();
    if ((is_json ? dl_report_json : dl_report_csv)(d, &how, &w, &err) || dl_file_commit(&w, &err)) abort();
    read_all(memory, out);
    if (is_json) check_json(d, out);
}

enum { STATS, JSON, CSV, FILES, REPORTS };

/* Of the log; empty: it cannot be decoded. */
static void report_of(const uint8_t *bytes, size_t n, bool no_shapes, int report, dl_str *out)
{
    devlog_error err;
    dl_analysis_list list = {0};
    dl_decode *d = NULL;
    dl_analyzer *a = NULL;
    dl_artifacts *set = NULL;
    const bool wanted[DL_ARTIFACT_KINDS] = {[DL_ARTIFACT_STATS] = true,
                                            [DL_ARTIFACT_REARRANGED] = true,
                                            [DL_ARTIFACT_PAGE] = report == FILES && n % 2};
    const dl_decode_options how = {.no_shapes = no_shapes};
    dl_artifacts_options options = {.folder = folder, .wanted = wanted};
    if (dl_analyses_defaults(&list, &err) || dl_decode_new(&d, &how, &err) ||
        dl_analyzer_new(&a, d, &list, &err))
        goto done;
    options.analyzer = a;
    if (dl_artifacts_new(&set, d, &options, &err)) goto done;
    if (dl_decode_memory(d, "log", bytes, n, &err) || dl_decode_finish(d, &err)) goto done;
    if (dl_decode_losses(d)->rows) fuzz_got_inside();
    if (dl_artifacts_finish(set, &err)) goto done;
    switch (report) {
    case STATS:
        if (dl_report_stats(d, a, out, &err)) abort();
        break;
    case FILES: add_files(set, out); break;
    default: add_machine(d, a, report == JSON, out); break;
    }
done:
    dl_artifacts_free(set);
    dl_analyzer_free(a);
    dl_analyses_free(&list);
    dl_decode_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const uint32_t ways = fuzz_ways(bytes, n, REPORTS);
    make_folder();
    for (int i = 0; i < REPORTS; i++) {
        dl_str runs = {0}, marks = {0};
        if (!(ways >> i & 1)) continue;
        report_of(bytes, n, false, i, &runs);
        report_of(bytes, n, true, i, &marks);
        fuzz_same(&runs, &marks);
        dl_str_free(&runs);
        dl_str_free(&marks);
    }
    return 0;
}
