/* The dashboard; see dashboard.h. The list's page is in page/serve.*. */
#include "cli/dashboard.h"

#include <string.h>
#include <unistd.h>

#include "report/page.h"
#include "report/page_parts.h"
#include "report/results.h"

static const struct {
    const char *name, *type;
    bool page, download;
} results[] = {
    {"device_perf.html", "text/html; charset=utf-8", true, false},
    {"device_stats.txt", "text/plain; charset=utf-8", false, false},
    {"device_rearranged_timestamps.csv", "text/csv; charset=utf-8", false, true},
    {DL_RESULTS_TAR, "application/x-tar", false, true},
};

devlog_status dashboard_init(dashboard *d, const char *folder, cli_store *store, devlog_error *err)
{
    *d = (dashboard){.folder = folder, .store = store};
    dl_page_policy(&d->page_policy);
    dl_str_fmt(&d->list_policy,
               "default-src 'none'; script-src %s; style-src %s; connect-src 'self'; base-uri 'none'; "
               "form-action 'none'; frame-ancestors 'none'",
               page_serve_script_hash, page_serve_style_hash);
    devlog_status status = dl_str_status(&d->list_policy, err);
    return status ? status : dl_str_status(&d->page_policy, err);
}

void dashboard_free(dashboard *d)
{
    dl_str_free(&d->list_policy);
    dl_str_free(&d->page_policy);
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

static void list_json(const dashboard *d, http_reply *reply)
{
    devlog_error err = {0};
    cli_logs logs;
    dl_str *out = &reply->body;
    reply->type = "application/json";
    if (cli_logs_find(d->folder, &logs, &err)) {
        dl_str_add(out, "{\"error\":");
        dl_str_json(out, err.text, strlen(err.text));
        dl_str_add(out, ",\"logs\":[]}\n");
        cli_logs_free(&logs);
        return;
    }
    dl_str_add(out, "{\"folder\":");
    dl_str_json(out, d->folder, strlen(d->folder));
    dl_str_fmt(out, ",\"more\":%s,\"logs\":[", logs.more ? "true" : "false");
    for (size_t i = 0; i < logs.n; i++) {
        const cli_log *l = &logs.items[i];
        dl_str_fmt(out, "%s{\"id\":\"%s\",\"name\":", i ? "," : "", l->id);
        dl_str_json(out, l->name, strlen(l->name));
        dl_str_fmt(out, ",\"capture\":%s,\"bytes\":%llu,\"time_ms\":%lld}", l->capture ? "true" : "false",
                   (unsigned long long)l->bytes, (long long)(l->time_ns / 1000000));
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
    devlog_status status = cli_logs_find(d->folder, &logs, &err);
    const cli_log *log = status ? NULL : cli_logs_by_id(&logs, rest, n);
    if (!log) {
        sorry(reply, 404, "This log is gone: it was moved or deleted. The list of logs is at /.");
    } else {
        reply->fd = cli_store_open(d->store, log, results[k].name, &err);
        if (reply->fd < 0) sorry(reply, err.status == DEVLOG_ERR_NOT_FOUND ? 404 : 500, err.text);
    }
    if (reply->fd >= 0) {
        reply->type = results[k].type;
        reply->policy = results[k].page ? d->page_policy.text : NULL;
        reply->download = results[k].download ? results[k].name : NULL;
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
    else
        sorry(reply, 404, "There is nothing here. The list of logs is at /.");
}
