/* Any text as a file of analyses, and whatever comes of it run over a small log, of which some launches are alike: the same
 * results when nothing is remembered of those. */
#include <stdlib.h>
#include <string.h>

#include "decode/analysis/analyzer.h"
#include "fuzz/fuzz.h"
#include "report/stats.h"

static const char log_text[] = "0, 0, 0, BRISC, 1, 100\n0, 0, 0, BRISC, 2, 110\n0, 0, 0, BRISC, 5, 115\n"
                               "0, 0, 0, BRISC, 3, 120\n0, 0, 0, BRISC, 4, 130\n0, 0, 0, NCRISC, 1, 101\n"
                               "0, 0, 0, NCRISC, 2, 111\n0, 0, 0, NCRISC, 3, 119\n0, 0, 0, NCRISC, 4, 140\n"
                               "0, 1, 0, BRISC, 1, 90\n0, 1, 0, BRISC, 4, 95\n0, 0, 0, BRISC, 1, 200\n"
                               "0, 0, 0, BRISC, 2, 210\n0, 0, 0, BRISC, 3, 220\n0, 0, 0, BRISC, 4, 230\n"
                               "0, 0, 0, BRISC, 1, 300\n0, 0, 0, BRISC, 2, 305\n0, 0, 0, BRISC, 3, 321\n"
                               "0, 0, 0, BRISC, 4, 333\n0, 0, 0, NCRISC, 1, 301\n0, 0, 0, NCRISC, 2, 304\n"
                               "0, 0, 0, NCRISC, 3, 310\n0, 0, 0, NCRISC, 4, 311\n0, 0, 0, BRISC, 1, 400\n"
                               "0, 0, 0, BRISC, 2, 401\n0, 0, 0, BRISC, 3, 417\n0, 0, 0, BRISC, 4, 440\n"
                               "0, 0, 0, BRISC, 1, 500\n";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void analyse(const char *text, bool no_shapes, dl_str *out)
{
    devlog_error err;
    dl_analysis_list list = {0};
    dl_decode *d = NULL;
    dl_analyzer *a = NULL;
    const dl_decode_options options = {.threads = 1, .no_shapes = no_shapes};
    if (dl_analyses_parse(&list, "fuzz", text, &err) == DEVLOG_OK &&
        dl_decode_new(&d, &options, &err) == DEVLOG_OK && dl_analyzer_new(&a, d, &list, &err) == DEVLOG_OK) {
        dl_decode_run_sink(d, dl_analyzer_sink(a), &err);
        fuzz_got_inside();
        bool read = dl_decode_memory(d, "log", log_text, sizeof log_text - 1, &err) == DEVLOG_OK;
        if (read && dl_decode_finish(d, &err) == DEVLOG_OK && dl_analyzer_finish(a, &err) == DEVLOG_OK)
            (void)dl_report_stats(d, a, out, &err);
    }
    dl_analyzer_free(a);
    dl_decode_free(d);
    dl_analyses_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *text = malloc(n + 1);
    if (!text) return 0;
    memcpy(text, bytes, n);
    text[n] = '\0';
    dl_str runs = {0}, marks = {0};
    analyse(text, false, &runs);
    if (runs.len) analyse(text, true, &marks);
    fuzz_same(&runs, &marks);
    dl_str_free(&runs);
    dl_str_free(&marks);
    free(text);
    return 0;
}
