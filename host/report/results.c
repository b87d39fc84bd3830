/* Results of one log. */
#include "report/results.h"

#include <string.h>

#include "report/decode_table.h"

devlog_status dl_results_make(const char *log, const char *folder, const dl_results_options *options,
                              dl_str *lost, devlog_error *err)
{
    dl_decode *d = NULL;
    dl_artifacts *set = NULL;
    dl_analyzer *analyzer = NULL;
    dl_analysis_list list = {0};
    const char *slash = strrchr(log, '/');
    bool wanted[DL_ARTIFACT_KINDS];
    const dl_decode_options how = {.filter = options ? options->filter : (dl_filter){0},
                                   .only_input = !options || !options->n_also};
    memset(wanted, true, sizeof wanted);
    devlog_status status = dl_analyses_defaults(&list, err);
    if (!status) status = dl_decode_new(&d, &how, err);
    if (!status) status = dl_analyzer_new(&analyzer, d, &list, err);
    const dl_artifacts_options artifacts = {.folder = folder,
                                            .title = slash ? slash + 1 : log,
                                            .wanted = wanted,
                                            .page_intervals = options ? options->page_intervals : 0,
                                            .answers = options ? options->answers : NULL,
                                            .answers_runs = options ? options->answers_runs : NULL,
                                            .answers_ctx = options ? options->answers_ctx : NULL,
                                            .tar = true,
                                            .analyzer = analyzer};
    if (!status) status = dl_artifacts_new(&set, d, &artifacts, err);
    const size_t n_also = options ? options->n_also : 0;
    if (!status) status = dl_decode_file(d, log, err);
    for (size_t i = 0; i < n_also && !status; i++)
        status = dl_decode_file(d, options->also[i], err);
    if (!status) status = dl_decode_finish(d, err);
    if (!status && options && options->check) status = options->check(options->ctx, d, err);
    if (!status) status = dl_artifacts_finish(set, err);
    if (!status) status = dl_artifacts_write(set, err);
    if (!status && lost && dl_losses_any(dl_decode_losses(d)))
        dl_report_losses(dl_decode_losses(d), false, lost);
    dl_artifacts_free(set);
    dl_analyzer_free(analyzer);
    dl_analyses_free(&list);
    dl_decode_free(d);
    return status;
}
