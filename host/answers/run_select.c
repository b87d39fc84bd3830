/* What a selection means in given logs. See run_select.h. */
#include "answers/run_select.h"

#include <string.h>
#include <sys/stat.h>

#include "base/settings.h"
#include "decode/decode.h"
#include "tt_metal/select.h"

/* Decodes the logs for when their launches began and how long they took, and nothing else. */
static devlog_status find_warm_up(dl_warm_up *w, uint64_t first, char *const *logs, size_t n,
                                  devlog_error *err)
{
    dl_decode *d = NULL;
    const dl_decode_options options = {.no_samples = true};
    devlog_status status = dl_decode_new(&d, &options, err);
    for (size_t i = 0; i < n && !status; i++)
        status = dl_decode_file(d, logs[i], err);
    if (!status) status = dl_decode_finish(d, err);
    if (!status) status = dl_warm_up_find(w, dl_decode_launches(d), dl_decode_tables(d), first, err);
    dl_decode_free(d);
    return status;
}

/* What can be read once only. */
static bool any_pipe(char *const *logs, size_t n)
{
    struct stat st;
    for (size_t i = 0; i < n; i++)
        if (strcmp(logs[i], "-") == 0 || (stat(logs[i], &st) == 0 && !S_ISREG(st.st_mode))) return true;
    return false;
}

devlog_status run_select(op_selected *selected, const op_selection *s, dl_filter *filter, char *const *logs,
                         size_t n, devlog_error *err)
{
    *selected = (op_selected){0};
    const bool by_host = op_select_by_host(&s->host);
    devlog_status status = DEVLOG_OK;
    if (!by_host && !op_select_by_order(s)) return DEVLOG_OK;
    if (any_pipe(logs, n) && (by_host || s->skip_warm_up))
        return dl_fail(
            err, DEVLOG_ERR_ARGUMENT,
            "--op, signposts and --skip-warm-up want a log that is a file: standard input can be read once, "
            "and no files of the host are beside it");
    if (by_host) status = tt_select_beside(selected, logs[0], dl_setting_text(DL_SET_TMPDIR), &s->host, err);
    selected->warm_up.by_rule = s->skip_warm_up;
    if (!status && op_select_by_order(s) && !any_pipe(logs, n))
        status = find_warm_up(&selected->warm_up, s->filter.skip_launches, logs, n, err);
    op_selected_apply(selected, by_host, filter);
    return status;
}
