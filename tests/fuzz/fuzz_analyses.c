/* Any text as a file of analyses, and whatever comes of it run over a small log. */
#include <stdlib.h>
#include <string.h>

#include "decode/analysis/analyzer.h"
#include "fuzz/fuzz.h"

static const char log_text[] = "0, 0, 0, BRISC, 1, 100\n0, 0, 0, BRISC, 2, 110\n0, 0, 0, BRISC, 5, 115\n"
                               "0, 0, 0, BRISC, 3, 120\n0, 0, 0, BRISC, 4, 130\n0, 0, 0, NCRISC, 1, 101\n"
                               "0, 0, 0, NCRISC, 2, 111\n0, 0, 0, NCRISC, 3, 119\n0, 0, 0, NCRISC, 4, 140\n"
                               "0, 1, 0, BRISC, 1, 90\n0, 1, 0, BRISC, 4, 95\n0, 0, 0, BRISC, 1, 200\n";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    devlog_error err;
    dl_analysis_list list = {0};
    dl_decode *d = NULL;
    dl_analyzer *a = NULL;
    char *text = malloc(n + 1);
    if (!text) return 0;
    memcpy(text, bytes, n);
    text[n] = '\0';
    if (dl_analyses_parse(&list, "fuzz", text, &err) == DEVLOG_OK &&
        dl_decode_new(&d, NULL, &err) == DEVLOG_OK && dl_analyzer_new(&a, d, &list, &err) == DEVLOG_OK) {
        dl_decode_run_sink(d, dl_analyzer_sink(a), &err);
        fuzz_got_inside();
        bool read = dl_decode_memory(d, "log", log_text, sizeof log_text - 1, &err) == DEVLOG_OK;
        if (read && dl_decode_finish(d, &err) == DEVLOG_OK) (void)dl_analyzer_finish(a, &err);
    }
    dl_analyzer_free(a);
    dl_decode_free(d);
    dl_analyses_free(&list);
    free(text);
    return 0;
}
