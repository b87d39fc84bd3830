/* Reports of up to four ranks, divided by empty lines, and behind a report perhaps the capture that lies beside it: found in their
 * folders, read, matched, aligned, answered, merged and drawn. Any
 * bytes are an answer or an error, JSON is whole, and a merged report has the rows of them all. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "answers/answer_print.h"
#include "decode/capture/capture.h"
#include "fuzz/fuzz.h"
#include "ranks/ranks.h"

enum { MOST = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], reports[MOST][128], captures[MOST][128], merged[96], drawn[96];

static void remove_all(void)
{
    char rank[96];
    remove(merged);
    remove(drawn);
    for (int i = 0; i < MOST; i++) {
        remove(reports[i]);
        remove(captures[i]);
        snprintf(rank, sizeof rank, "%s/rank%d", folder, i);
        rmdir(rank);
    }
    rmdir(folder);
}

static void make_folders(void)
{
    char rank[96];
    snprintf(folder, sizeof folder, "%s", "/tmp/fuzz_ranks_XXXXXX");
    if (!mkdtemp(folder)) abort();
    snprintf(merged, sizeof merged, "%s/merged.csv", folder);
    snprintf(drawn, sizeof drawn, "%s/drawn.json", folder);
    for (int i = 0; i < MOST; i++) {
        snprintf(rank, sizeof rank, "%s/rank%d", folder, i);
        if (mkdir(rank, 0700) != 0) abort();
        snprintf(reports[i], sizeof reports[i], "%s/ops_perf_results.csv", rank);
        snprintf(captures[i], sizeof captures[i], "%s/capture.devlog", rank);
    }
    atexit(remove_all);
}

static void write_part(const char *path, const char *bytes, size_t n)
{
    FILE *f = n ? fopen(path, "w") : NULL;
    if (!n) remove(path);
    if (n && (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)) abort();
}

/* The next part, and where the one behind it begins. */
static size_t part_of(const char **text, const char *end, const char **part)
{
    const char *gap = *text < end ? memmem(*text, (size_t)(end - *text), "\n\n", 2) : NULL;
    const size_t n = *text < end ? (size_t)((gap ? gap + 1 : end) - *text) : 0;
    *part = *text;
    *text = gap ? gap + 2 : end;
    return n;
}

static void write_reports(const char *text, const char *end)
{
    for (int i = 0; i < MOST; i++) {
        const char *part;
        size_t n = part_of(&text, end, &part);
        write_part(reports[i], part, n);
        const bool capture = dl_capture_is(text, (size_t)(end - text));
        n = capture ? part_of(&text, end, &part) : 0;
        write_part(captures[i], part, n);
    }
}

static void print(const answer *a, uint32_t ways)
{
    static answer_printer *const printers[] = {answer_print_text, answer_print_markdown, answer_print_csv,
                                               answer_print_json};
    for (size_t i = 0; i < sizeof printers / sizeof printers[0]; i++) {
        if (!(ways >> i & 1)) continue;
        dl_str out = {0};
        printers[i](&(answer_shown){.a = a, .kind = "ranks", .version = RANKS_VERSION, .width = 80}, &out);
        if (out.failed) abort();
        cJSON *json = printers[i] == answer_print_json ? cJSON_Parse(out.text) : NULL;
        if (printers[i] == answer_print_json && !json) abort();
        cJSON_Delete(json);
        dl_str_free(&out);
    }
}

static void write_files(const ranks *r)
{
    uint64_t rows = 0, left_out = 0, wanted = 0;
    devlog_error err;
    if (ranks_merge(r, merged, &rows, &err) == DEVLOG_OK) {
        for (size_t i = 0; i < r->n; i++)
            wanted += r->items[i].silent ? 0 : r->items[i].rows;
        if (rows < wanted) abort();
    }
    if (ranks_trace(r, drawn, &left_out, &err) != DEVLOG_OK) return;
    FILE *f = fopen(drawn, "r");
    struct stat st;
    if (!f || fstat(fileno(f), &st) != 0) abort();
    char *text = calloc(1, (size_t)st.st_size + 1);
    if (!text || fread(text, 1, (size_t)st.st_size, f) != (size_t)st.st_size) abort();
    fclose(f);
    cJSON *json = cJSON_Parse(text);
    if (!json) abort();
    cJSON_Delete(json);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!*folder) make_folders();
    write_reports((const char *)data, (const char *)data + size);
    const char *const paths[] = {folder};
    devlog_error err;
    ranks r = {0};
    answer a;
    if (ranks_find(&r, paths, 1, &err) == DEVLOG_OK && ranks_read(&r, &err) == DEVLOG_OK &&
        ranks_match(&r, &err) == DEVLOG_OK && ranks_align(&r, &err) == DEVLOG_OK &&
        ranks_align_hosts(&r, &err) == DEVLOG_OK) {
        if (r.n > 1) fuzz_got_inside();
        if (answer_begin(&a, &err)) abort();
        if (ranks_answer(&a, &r, &(ranks_wishes){.top = 3}, &err) == DEVLOG_OK)
            print(&a, fuzz_ways(data, size, 4));
        answer_free(&a);
        write_files(&r);
    }
    ranks_free(&r);
    return 0;
}
