/* Any bytes as a device log, and every report made of it: statistics, JSON, CSV, the rearranged stamps. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "report/machine.h"
#include "report/rearranged.h"
#include "report/stats.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void report(dl_decode *d, dl_analyzer *a, int nowhere)
{
    devlog_error err;
    dl_file_writer out;
    dl_str text = {0};
    const dl_machine_options how = {.analyzer = a};
    (void)dl_report_stats(d, a, &text, &err);
    dl_str_free(&text);
    if (dl_file_stream(&out, nowhere, "nowhere", &err)) return;
    (void)dl_report_json(d, &how, &out, &err);
    (void)dl_report_csv(d, &how, &out, &err);
    dl_file_abandon(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static int nowhere = -1;
    if (nowhere < 0) nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    devlog_error err;
    dl_analysis_list list = {0};
    dl_decode *d = NULL;
    dl_analyzer *a = NULL;
    dl_artifacts *set = NULL;
    bool wanted[DL_ARTIFACT_KINDS] = {[DL_ARTIFACT_REARRANGED] = true};
    dl_artifacts_options options = {.folder = "/nowhere", .wanted = wanted};
    if (dl_analyses_defaults(&list, &err) || dl_decode_new(&d, NULL, &err) ||
        dl_analyzer_new(&a, d, &list, &err))
        goto done;
    options.analyzer = a;
    if (dl_artifacts_new(&set, d, &options, &err)) goto done;
    if (dl_decode_memory(d, "log", bytes, n, &err) || dl_decode_finish(d, &err)) goto done;
    if (dl_decode_losses(d)->rows) fuzz_got_inside();
    if (dl_artifacts_finish(set, &err)) goto done;
    report(d, a, nowhere);
done:
    dl_artifacts_free(set);
    dl_analyzer_free(a);
    dl_analyses_free(&list);
    dl_decode_free(d);
    return 0;
}
