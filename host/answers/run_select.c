/* What a selection means in given logs. See run_select.h. */
#include "answers/run_select.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/settings.h"
#include "decode/decode.h"
#include "tt_metal/select.h"

/* Decodes logs for their launches and nothing else. */
static devlog_status read_launches(dl_decode **d, const char *const *logs, size_t n, devlog_error *err)
{
    const dl_decode_options options = {.no_samples = true};
    devlog_status status = dl_decode_new(d, &options, err);
    for (size_t i = 0; i < n && !status; i++)
        status = dl_decode_file(*d, logs[i], err);
    return status ? status : dl_decode_finish(*d, err);
}

static devlog_status find_warm_up(dl_warm_up *w, uint64_t first, char *const *logs, size_t n,
                                  devlog_error *err)
{
    dl_decode *d = NULL;
    devlog_status status = read_launches(&d, (const char *const *)logs, n, err);
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

static int by_low(const void *a, const void *b)
{
    const dl_filter_range *x = a, *y = b;
    return (x->low > y->low) - (x->low < y->low);
}

/* Sorts ids of ops and puts neighbours into one range. Returns how many are left. */
static size_t put_together(dl_filter_range *ops, size_t n)
{
    size_t kept = 0;
    qsort(ops, n, sizeof *ops, by_low);
    for (size_t i = 0; i < n; i++) {
        if (kept && ops[i].low <= ops[kept - 1].high + 1)
            ops[kept - 1].high = ops[i].high;
        else
            ops[kept++] = ops[i];
    }
    return kept;
}

devlog_status run_ops_of_launches(dl_filter_range **ops, size_t *n, const char *log, const dl_filter *f,
                                  devlog_error *err)
{
    dl_decode *d = NULL;
    bool says = false;
    *ops = NULL;
    *n = 0;
    devlog_status status = read_launches(&d, &log, 1, err);
    if (status) goto out;
    const dl_launches *all = dl_decode_launches(d);
    const dl_filter launches = {.launches = f->launches, .n_launches = f->n_launches};
    dl_filter_range *found = malloc((all->count + 1) * sizeof *found);
    if (!found) {
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        goto out;
    }
    for (uint32_t i = 0; i < all->count; i++) {
        const dl_launch *l = &all->items[i];
        says |= l->op != 0;
        if (l->op && dl_filter_launch(&launches, dl_decode_tables(d), l))
            found[(*n)++] = (dl_filter_range){l->op, l->op};
    }
    if (says) {
        status = op_select_check(&launches, all->items, all->count, NULL, err);
        *n = put_together(found, *n);
        *ops = found;
    } else {
        free(found);
    }
out:
    dl_decode_free(d);
    return status;
}
