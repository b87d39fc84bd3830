/* The dashboard; see dashboard.h. The list's page is in page/serve.*. */
#include "cli/dashboard.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/diff_page.h"
#include "cli/serve_make.h"
#include "report/page_pair.h"
#include "report/page_parts.h"
#include "report/results.h"

static const struct {
    const char *name, *type;
    bool page, download, trace;
} results[] = {
    {"device_perf.html", "text/html; charset=utf-8", true, false, false},
    {"device_stats.txt", "text/plain; charset=utf-8", false, false, false},
    {SERVE_REPORT, "text/plain; charset=utf-8", false, false, false},
    {"device_rearranged_timestamps.csv", "text/csv; charset=utf-8", false, true, false},
    {DL_RESULTS_TAR, "application/x-tar", false, true, false},
    {SERVE_TRACE, "application/octet-stream", false, true, true},
};

devlog_status dashboard_init(dashboard *d, const dashboard_parts *parts, devlog_error *err)
{
    *d = (dashboard){.parts = *parts};
    dl_page_policy(&d->page_policy);
    dl_page_pair_policy(&d->pair_policy);
    dl_str_fmt(&d->list_policy,
               "default-src 'none'; script-src %s; style-src %s; connect-src 'self'; base-uri 'none'; "
               "form-action 'none'; frame-ancestors 'none'",
               page_serve_script_hash, page_serve_style_hash);
    devlog_status status = dl_str_status(&d->list_policy, err);
    if (!status) status = dl_str_status(&d->page_policy, err);
    return status ? status : dl_str_status(&d->pair_policy, err);
}

void dashboard_free(dashboard *d)
{
    dl_str_free(&d->list_policy);
    dl_str_free(&d->page_policy);
    dl_str_free(&d->pair_policy);
}

static void sorry(http_reply *reply, unsigned status, const char *text)
{
    reply->status = status;
    reply->type = "text/plain; charset=utf-8";
    dl_str_clear(&reply->body);
    dl_str_add(&reply->body, text);
    dl_str_char(&reply->body, '\n');
}

static void bytes(dl_str *out, const unsigned char *part, unsigned long size)
{
    dl_str_add_n(out, (const char *)part, size);
}

static void list_page(const dashboard *d, http_reply *reply)
{
    reply->type = "text/html; charset=utf-8";
    reply->policy = d->list_policy.text;
    bytes(&reply->body, page_serve_head, page_serve_head_size);
    dl_str_add(&reply->body, "<style>");
    bytes(&reply->body, page_serve_style, page_serve_style_size);
    dl_str_add(&reply->body, "</style>\n");
    bytes(&reply->body, page_serve_body, page_serve_body_size);
    dl_str_add(&reply->body, "<script>");
    bytes(&reply->body, page_serve_script, page_serve_script_size);
    dl_str_add(&reply->body, "</script>\n");
}

/* What is known of a log so far; the browser asks again. */
static void figures(const dashboard *d, const cli_log *l, dl_str *out)
{
    static const char *const states[] = {[LOG_FIGURES_NONE] = "reading",
                                         [LOG_FIGURES_THERE] = "read",
                                         [LOG_FIGURES_FAILED] = "failed",
                                         [LOG_FIGURES_LARGE] = "large"};
    const log_figure f = log_figures_of(d->parts.figures, l);
    dl_str_fmt(out, ",\"figures\":\"%s\"", states[f.state]);
    if (f.state == LOG_FIGURES_THERE && f.has_ops)
        dl_str_fmt(out, ",\"ops\":%llu", (unsigned long long)f.ops);
    if (f.state == LOG_FIGURES_THERE && !f.has_ops)
        dl_str_fmt(out, ",\"launches\":%llu,\"chips\":%llu", (unsigned long long)f.launches,
                   (unsigned long long)f.chips);
    if (f.state == LOG_FIGURES_THERE) dl_str_fmt(out, ",\"lost\":%llu", (unsigned long long)f.lost);
    if (f.state == LOG_FIGURES_FAILED) {
        dl_str_add(out, ",\"why\":");
        dl_str_json(out, f.why, strlen(f.why));
    }
    dl_str_char(out, '}');
}

static void list_json(const dashboard *d, http_reply *reply)
{
    devlog_error err = {0};
    cli_logs logs;
    dl_str *out = &reply->body;
    reply->type = "application/json";
    if (cli_logs_find_all(d->parts.folder, &logs, &err)) {
        dl_str_add(out, "{\"error\":");
        dl_str_json(out, err.text, strlen(err.text));
        dl_str_add(out, ",\"logs\":[]}\n");
        cli_logs_free(&logs);
        return;
    }
    dl_str_add(out, "{\"folder\":");
    dl_str_json(out, d->parts.folder, strlen(d->parts.folder));
    dl_str_fmt(out, ",\"more\":%s,\"logs\":[", logs.more ? "true" : "false");
    for (size_t i = 0; i < logs.n; i++) {
        const cli_log *l = &logs.items[i];
        dl_str_fmt(out, "%s{\"id\":\"%s\",\"name\":", i ? "," : "", l->id);
        dl_str_json(out, l->name, strlen(l->name));
        dl_str_fmt(out, ",\"capture\":%s,\"report\":%s,\"bytes\":%llu,\"time_ms\":%lld",
                   l->capture ? "true" : "false", l->report ? "true" : "false", (unsigned long long)l->bytes,
                   (long long)(l->time_ns / 1000000));
        figures(d, l, out);
    }
    dl_str_add(out, "]}\n");
    cli_logs_free(&logs);
}

/* "ID/file", behind "/log/". */
static void result(const dashboard *d, const char *rest, http_reply *reply)
{
    devlog_error err = {0};
    cli_logs logs = {0};
    size_t n = strcspn(rest, "/"), k = 0;
    const char *file = rest[n] ? rest + n + 1 : "";
    while (k < sizeof results / sizeof results[0] && strcmp(file, results[k].name) != 0)
        k++;
    if (k == sizeof results / sizeof results[0]) {
        sorry(reply, 404, "There is nothing here. The list of logs is at /.");
        return;
    }
    devlog_status status = cli_logs_find_all(d->parts.folder, &logs, &err);
    const cli_log *log = status ? NULL : cli_logs_by_id(&logs, rest, n);
    if (!log) {
        sorry(reply, 404, "This log is gone: it was moved or deleted. The list of logs is at /.");
    } else {
        reply->fd =
            cli_store_open(results[k].trace ? d->parts.traces : d->parts.store, log, results[k].name, &err);
        if (reply->fd < 0) sorry(reply, err.status == DEVLOG_ERR_NOT_FOUND ? 404 : 500, err.text);
    }
    if (reply->fd >= 0) {
        reply->type = results[k].type;
        reply->policy = results[k].page ? d->page_policy.text : NULL;
        reply->download = results[k].download ? results[k].name : NULL;
    }
    cli_logs_free(&logs);
}

/* The page of a log that is there or is made. */
static devlog_status page_of(const dashboard *d, const cli_log *log, dl_str *out, devlog_error *err)
{
    char buffer[64 * 1024];
    const int fd = cli_store_open(d->parts.store, log, "device_perf.html", err);
    if (fd < 0) return err->status;
    ssize_t n;
    while ((n = read(fd, buffer, sizeof buffer)) > 0)
        dl_str_add_n(out, buffer, (size_t)n);
    close(fd);
    return n < 0 ? dl_fail_errno(err, errno, "device_perf.html") : dl_str_status(out, err);
}

static devlog_status compare(const dashboard *d, const cli_log *const logs[DIFF_SIDES], http_reply *reply,
                             devlog_error *err)
{
    const char *const paths[DIFF_SIDES] = {logs[DIFF_OLD]->path, logs[DIFF_NEW]->path};
    dl_str pages[DIFF_SIDES] = {{0}};
    devlog_status status = DEVLOG_OK;
    const bool text = logs[DIFF_OLD]->report || logs[DIFF_NEW]->report;
    reply->type = text ? "text/plain; charset=utf-8" : "text/html; charset=utf-8";
    reply->policy = text ? NULL : d->pair_policy.text;
    for (int i = 0; i < DIFF_SIDES && !status && !text; i++)
        status = page_of(d, logs[i], &pages[i], err);
    if (!status)
        status = text ? cli_diff_text_of(paths, &reply->body, err)
                      : cli_diff_page_of(paths, pages, &reply->body, err);
    for (int i = 0; i < DIFF_SIDES; i++)
        dl_str_free(&pages[i]);
    return status;
}

/* "ID/ID", behind "/diff/". */
static void diff_of(const dashboard *d, const char *rest, http_reply *reply)
{
    devlog_error err = {0};
    cli_logs logs = {0};
    const size_t n = strcspn(rest, "/");
    const char *second = rest[n] ? rest + n + 1 : "";
    const devlog_status status = cli_logs_find_all(d->parts.folder, &logs, &err);
    const cli_log *const both[DIFF_SIDES] = {status ? NULL : cli_logs_by_id(&logs, rest, n),
                                             status ? NULL : cli_logs_by_id(&logs, second, strlen(second))};
    if (!both[DIFF_OLD] || !both[DIFF_NEW]) {
        sorry(reply, 404, "One of these logs is gone: it was moved or deleted. The list of logs is at /.");
    } else if (compare(d, both, reply, &err)) {
        reply->policy = NULL;
        sorry(reply, 500, err.text);
    }
    cli_logs_free(&logs);
}

void dashboard_answer(void *ctx, const char *path, http_reply *reply)
{
    const dashboard *d = ctx;
    if (strcmp(path, "/") == 0)
        list_page(d, reply);
    else if (strcmp(path, "/logs.json") == 0)
        list_json(d, reply);
    else if (strncmp(path, "/log/", 5) == 0)
        result(d, path + 5, reply);
    else if (strncmp(path, "/diff/", 6) == 0)
        diff_of(d, path + 6, reply);
    else
        sorry(reply, 404, "There is nothing here. The list of logs is at /.");
}
