/* What a selection means in given logs. See run_select.h. */
#include "answers/run_select.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/settings.h"
#include "decode/decode.h"
#include "tt_metal/select.h"

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
        status = dl_decode_warm_up(&selected->warm_up, logs, n, s->filter.skip_launches, err);
    op_selected_apply(selected, by_host, filter);
    return status;
}

static launch_key key_of(const dl_launch *l, const dl_tables *t)
{
    const uint64_t own = l->run_host_id ? l->run_host_id : l->number;
    return (launch_key){.op = l->op ? l->op : l->run_host_id,
                        .own = own,
                        .start = l->first_fw_start,
                        .chip = t->chips[l->chip].id,
                        .told = l->op != 0};
}

devlog_status run_launches_asked(run_touched *out, bool *told, const char *log, const dl_filter *f,
                                 devlog_error *err)
{
    dl_decode *d = NULL;
    *out = (run_touched){0};
    *told = false;
    devlog_status status = dl_decode_for_launches(&d, (char *const *)&log, 1, err);
    if (status) goto out;
    const dl_launches *all = dl_decode_launches(d);
    const dl_tables *t = dl_decode_tables(d);
    const dl_filter launches = {.launches = f->launches, .n_launches = f->n_launches};
    out->keys = malloc((all->count + 1) * sizeof *out->keys);
    if (!out->keys) {
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        goto out;
    }
    for (uint32_t i = 0; i < all->count; i++) {
        const dl_launch *l = &all->items[i];
        *told |= l->op != 0;
        if (dl_filter_launch(&launches, t, l)) out->keys[out->n++] = key_of(l, t);
    }
    status = op_select_check(&launches, all->items, all->count, NULL, err);
out:
    dl_decode_free(d);
    return status;
}
