/* devlog view: one command for every viewer. Finds a log, makes what the viewer reads, and opens it, or says
 * where it is on a machine without a display. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/intern.h"
#include "base/paths.h"
#include "base/process.h"
#include "base/settings.h"
#include "cli/cli.h"
#include "cli/filters.h"
#include "cli/handover.h"
#include "cli/http.h"
#include "cli/logs.h"
#include "cli/page_answers.h"
#include "cli/trace.h"
#include "report/export.h"
#include "report/results.h"

enum { PORT = 9001 /* the only one that ui.perfetto.dev may ask */ };
typedef enum ui { UI_HTML, UI_PERFETTO, UI_TENSORBOARD, UI_SPEEDSCOPE, UIS } ui;

typedef struct view_args {
    int ui, format;
    bool latest, list, open;
    const char *extract;
    uint64_t port;
    cli_filters filters;
} view_args;

static const cli_option options[] = {
    {CLI_CHOICE, "ui", 'u', "html|perfetto|tensorboard|speedscope", "the viewer; html unless told",
     offsetof(view_args, ui)},
    {CLI_FLAG, "latest", 'l', NULL, "of several logs the newest", offsetof(view_args, latest)},
    {CLI_FLAG, "list-only", 0, NULL, "list the logs, newest first, and end", offsetof(view_args, list)},
    {CLI_CHOICE, "format", 'f', "text|json|csv", "how --list-only prints", offsetof(view_args, format)},
    {CLI_STRING, "extract", 'x', "FOLDER", "write what the viewer reads into this folder, and open nothing",
     offsetof(view_args, extract)},
    {CLI_OFF, "no-open", 0, NULL, "print the address instead of opening a browser",
     offsetof(view_args, open)},
    {CLI_NUMBER, "port", 'p', "PORT",
     "port from which a web viewer fetches the trace; 9001 unless told, the only one that ui.perfetto.dev "
     "may "
     "ask; 0: any that is free",
     offsetof(view_args, port), 0, 65535},
    CLI_FILTERS(view_args, filters),
    {0},
};

/* What each viewer reads, and how it is told of a trace on this machine. */
static const struct {
    const char *export, *file;
    const char *origin; /* of the viewer, when it is a web site */
    const char *link;   /* before the trace's address */
    bool escaped;       /* the address stands escaped in the link */
} uis[UIS] = {
    [UI_HTML] = {NULL, "device_perf.html", NULL, NULL, false},
    [UI_PERFETTO] = {"perfetto", "trace.perfetto-trace", "https://ui.perfetto.dev",
                     "https://ui.perfetto.dev/#!/?url=", false},
    [UI_TENSORBOARD] = {"xplane", "tensorboard", NULL, NULL, false},
    [UI_SPEEDSCOPE] = {"speedscope", "trace.speedscope.json", "https://www.speedscope.app",
                       "https://www.speedscope.app/#profileURL=", true},
};

static void when(const cli_log *l, char out[32])
{
    time_t t = (time_t)(l->time_ns / 1000000000);
    struct tm tm;
    if (!localtime_r(&t, &tm) || !strftime(out, 32, "%Y-%m-%d %H:%M:%S", &tm)) out[0] = '\0';
}

static void list_text(const cli_logs *logs, dl_str *out)
{
    for (size_t i = 0; i < logs->n; i++) {
        char time[32], bytes[DL_GROUPED_SIZE];
        when(&logs->items[i], time);
        dl_str_fmt(out, "%s  %15s  %-10s  ", time, dl_u64_grouped(bytes, logs->items[i].bytes),
                   logs->items[i].capture ? "capture" : "device log");
        dl_str_shown(out, logs->items[i].path, strlen(logs->items[i].path));
        dl_str_char(out, '\n');
    }
    if (logs->more) dl_str_add(out, "... and more than are listed here\n");
}

static void list_data(const cli_logs *logs, bool json, dl_str *out)
{
    dl_str_add(out, json ? "{\"format\": \"devlog-view-1\", \"logs\": [" : "time_ns,bytes,kind,path\n");
    for (size_t i = 0; i < logs->n; i++) {
        const cli_log *l = &logs->items[i];
        const char *kind = l->capture ? "capture" : "device log";
        if (json) {
            dl_str_fmt(out, "%s\n  {\"time_ns\": \"%lld\", \"bytes\": %llu, \"kind\": \"%s\", \"path\": ",
                       i ? "," : "", (long long)l->time_ns, (unsigned long long)l->bytes, kind);
            dl_str_json(out, l->path, strlen(l->path));
            dl_str_char(out, '}');
        } else {
            dl_str_fmt(out, "%lld,%llu,%s,", (long long)l->time_ns, (unsigned long long)l->bytes, kind);
            dl_str_csv(out, l->path, strlen(l->path));
            dl_str_char(out, '\n');
        }
    }
    if (json) dl_str_fmt(out, "], \"more\": %s}\n", logs->more ? "true" : "false");
}

static int list(const cli_logs *logs, int format)
{
    dl_str out = {0};
    if (format == 0)
        list_text(logs, &out);
    else
        list_data(logs, format == 1, &out);
    devlog_error err;
    const devlog_status status = dl_print(&out, &err);
    if (status) fprintf(stderr, "devlog view: %s\n", err.text);
    if (logs->more && format) fprintf(stderr, "devlog view: there are more than are listed here\n");
    dl_str_free(&out);
    return status ? CLI_FAILED : CLI_OK;
}

/* A log, and the zones of host code of its run. */
typedef struct viewed {
    const cli_log *log;
    char **paths; /* the log's own first */
    size_t n;
} viewed;

static devlog_status export_log(const viewed *all, cli_shown *s, const char *format, const char *path,
                                dl_str *lost, devlog_error *err)
{
    const cli_trace trace = {all->paths, all->n, s, format, path, "view"};
    const devlog_status status = cli_trace_write(&trace, lost, err);
    struct stat st;
    const char *too_large = !status && stat(path, &st) == 0 && S_ISREG(st.st_mode)
                                ? dl_export_too_large(dl_export_find(format), (uint64_t)st.st_size)
                                : NULL;
    if (too_large) fprintf(stderr, "devlog view: %s\n", too_large);
    return status;
}

typedef struct page_check {
    const cli_log *log;
    cli_shown *shown;
} page_check;

/* The dashboard has a page for a log that is still empty; who asks to see one is told why there is nothing to see. */
static devlog_status check_page(void *ctx, dl_decode *d, devlog_error *err)
{
    const page_check *c = ctx;
    const devlog_status status = dl_losses_no_rows(dl_decode_losses(d), c->log->path, 1, err);
    return status ? status : cli_shown_check(c->shown, d, err);
}

/* Writes what the viewer reads into `folder`; *path, freed by the caller, is its place. */
static devlog_status make(const viewed *all, cli_shown *s, cli_page_asked *page, ui which, const char *folder,
                          char **path, dl_str *lost, devlog_error *err)
{
    *path = dl_path_join(folder, uis[which].file);
    if (!*path) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    const size_t there = dl_folder_there(folder);
    page_check check = {all->log, s};
    const dl_results_options results = {.filter = s->filter,
                                        .check = check_page,
                                        .ctx = &check,
                                        .answers = cli_page_answers,
                                        .answers_runs = cli_page_runs,
                                        .answers_ctx = page,
                                        .also = all->paths + 1,
                                        .n_also = all->n - 1};
    devlog_status status = dl_folder_make(folder, err);
    if (!status && which == UI_HTML)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there is a log, or the choice has failed */
        status = dl_results_make(all->log->path, folder, &results, lost, err);
    else if (!status)
        status = export_log(all, s, uis[which].export, *path, lost, err);
    if (status) dl_folder_unmake(folder, there);
    return status;
}

/* The folder for what is only to be looked at: one for each log, wherever it was named from, so that it does not grow by looking
 * twice, and the page of one run is not that of another. */
static devlog_status looking_folder(const cli_log *log, char *folder, size_t size, devlog_error *err)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there is a log, or the choice has failed */
    char cache[400], name[64], *whole = realpath(log->path, NULL);
    if (!whole) return dl_fail(err, DEVLOG_ERR_IO, "%s is gone", log->path);
    devlog_status status = dl_cache_folder(cache, sizeof cache, err);
    snprintf(name, sizeof name, "view/%016llx", (unsigned long long)dl_hash_bytes(whole, strlen(whole)));
    free(whole);
    return status ? status : dl_join(folder, size, cache, name, err);
}

static bool has_display(void)
{
    return dl_setting_text(DL_SET_DISPLAY) || dl_setting_text(DL_SET_WAYLAND_DISPLAY);
}

/* What is behind an address, for somebody whose browser is on another machine. */
typedef struct served {
    unsigned port;     /* at which this machine answers */
    const char *start; /* what has to be typed here before, or NULL; and its folder */
    const char *folder;
    const char *open; /* the address there; NULL: the one that was printed */
} served;

/* Over ssh: what to type, here and there. SSH_CONNECTION is the client's address and port, then this
 * machine's. */
static void say_tunnel(const served *s)
{
    const char *connection = dl_setting_text(DL_SET_SSH_CONNECTION), *user = dl_setting_text(DL_SET_USER);
    char host[64] = "this-machine";
    int port = 22;
    http_say_windows((uint16_t)(s->start ? s->port : 8050));
    if (!connection) return;
    if (sscanf(connection, "%*s %*s %63s %d", host, &port) < 1) strcpy(host, "this-machine");
    if (!user) user = dl_setting_text(DL_SET_LOGNAME);
    fprintf(stderr, "You are here over ssh. To see it in the browser of your own machine, type\n");
    if (s->start) {
        fprintf(stderr, "  here:   %s '", s->start);
        for (const char *c = s->folder; *c; c++) {
            if (*c == '\'') fputs("'\\'", stderr); /* 'a'\''b' */
            fputc(*c, stderr);
        }
        fprintf(stderr, "'\n");
    }
    fprintf(stderr, "  there:  ssh -L %u:127.0.0.1:%u ", s->port, s->port);
    if (port != 22) fprintf(stderr, "-p %d ", port);
    fprintf(stderr, "%s%s%s\n  and open %s there\n", user ? user : "", user ? "@" : "", host,
            s->open ? s->open : "the address above");
}

/* Opens an address in the user's browser; when there is none, or no screen, it is only printed. */
static void open_address(const char *address, bool may, const served *s)
{
    const char *argv[] = {"xdg-open", address, NULL};
    dl_output out = {0};
    devlog_error err;
    printf("%s\n", address);
    fflush(stdout);
    if (!may || !has_display())
        say_tunnel(s);
    else if (dl_process_run(argv, &out, &err) == DEVLOG_OK)
        free(out.text);
}

static devlog_status show_file(const char *path, const char *log, bool may, devlog_error *err)
{
    const char *slash = strrchr(log, '/');
    char folder[1024];
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - log) : 1, slash ? log : ".");
    const served dashboard = {8050, "devlog serve", folder, "http://127.0.0.1:8050/"};
    char *whole = realpath(path, NULL);
    dl_str address = {0};
    if (!whole) return dl_fail(err, DEVLOG_ERR_IO, "%s is gone", path);
    dl_str_add(&address, "file://");
    for (const char *c = whole; *c; c++) { /* RFC 3986: what is not plain is escaped */
        if (strchr("/-._~", *c) || (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') ||
            (*c >= 'A' && *c <= 'Z'))
            dl_str_char(&address, *c);
        else
            dl_str_fmt(&address, "%%%02X", (unsigned char)*c);
    }
    if (!address.failed) open_address(address.text, may, &dashboard);
    dl_str_free(&address);
    free(whole);
    return DEVLOG_OK;
}

/* Lends the trace to a web viewer, once. */
static devlog_status show_web(ui which, const char *path, const view_args *a, devlog_error *err)
{
    cli_handover *h = NULL;
    char name[80], url[200], link[400];
    snprintf(name, sizeof name, "/%s", uis[which].file);
    uint16_t port = which == UI_PERFETTO || a->port != PORT ? (uint16_t)a->port : 0;
    devlog_status status = cli_handover_start(&h, path, name, uis[which].origin, port, err);
    if (status) return status;
    snprintf(url, sizeof url, "%s%s", cli_handover_url(h), name);
    size_t n = (size_t)snprintf(link, sizeof link, "%s", uis[which].link);
    for (const char *c = url; *c && n + 4 < sizeof link; c++) {
        bool escape = uis[which].escaped && strchr(":/", *c);
        n += (size_t)snprintf(link + n, sizeof link - n, escape ? "%%%02X" : "%c", *c);
    }
    fprintf(stderr, "waiting for the viewer to fetch the trace, once, from this machine; Ctrl-C ends\n");
    open_address(link, a->open, &(served){.port = cli_handover_port(h)});
    cli_handover_wait(h);
    cli_handover_stop(h);
    return DEVLOG_OK;
}

/* *lost: something was, and it has been said. */
static devlog_status show(const viewed *all, const view_args *a, const dl_filter *filter, bool *lost,
                          devlog_error *err)
{
    cli_shown s = {&a->filters, *filter};
    const cli_log *log = all->log;
    cli_page_asked page = cli_page_ask(all->paths, all->n, NULL, &a->filters, filter);
    op_selected selected;
    char folder[600], *path = NULL;
    dl_str losses = {0};
    ui which = (ui)a->ui;
    devlog_status status = a->extract ? DEVLOG_OK : looking_folder(log, folder, sizeof folder, err);
    devlog_status chosen = cli_select(&cmd_view, &a->filters, &s.filter, all->paths, all->n, &selected, err);
    if (!status) status = chosen;
    if (!status) status = make(all, &s, &page, which, a->extract ? a->extract : folder, &path, &losses, err);
    if (!status) status = dl_str_status(&losses, err);
    *lost = losses.len > 0;
    if (*lost) fputs(losses.text, stderr); /* before what may wait for a viewer */
    dl_str_free(&losses);
    if (status)
        ;
    else if (a->extract)
        printf("%s\n", path);
    else if (which == UI_HTML)
        status = show_file(path, log->path, a->open, err);
    else if (which == UI_TENSORBOARD) {
        printf("%s\nLook at it with: tensorboard --logdir '%s'   (pip install tensorboard "
               "tensorboard-plugin-profile)\n",
               path, path);
        fflush(stdout);
        say_tunnel(&(served){.port = 6006, .open = "http://127.0.0.1:6006/"});
    } else
        status = show_web(which, path, a, err);
    free(path);
    cli_page_asked_free(&page);
    op_selected_free(&selected);
    return status;
}

static int run(int argc, char **argv)
{
    view_args a = {.open = true, .port = PORT};
    cli_args rest;
    devlog_error err = {0};
    cli_logs logs;
    dl_str where = {0};
    dl_filter filter;
    int exit_status;
    if (!cli_parse(&cmd_view, argc, argv, &a, &rest, &exit_status)) return exit_status;
    exit_status = CLI_USAGE;
    if (a.list && (a.extract || a.ui || cli_filters_any(&a.filters)))
        cli_wrong(&cmd_view, "--list-only shows no log: without --ui, --extract and filters");
    else if (a.format && !a.list)
        cli_wrong(&cmd_view, "--format is for --list-only");
    else if (a.port != PORT && a.ui != UI_PERFETTO && a.ui != UI_SPEEDSCOPE)
        cli_wrong(&cmd_view, "--port is for --ui perfetto and speedscope");
    else if (cli_filter_of(&cmd_view, &a.filters, &rest, &filter))
        exit_status = CLI_OK;
    if (exit_status) {
        cli_args_free(&rest);
        return exit_status;
    }
    exit_status = CLI_FAILED;
    if (rest.n) dl_str_add(&where, rest.items[0]);
    devlog_status status =
        rest.n ? cli_logs_find(rest.items[0], &logs, &err) : cli_logs_find_any(&logs, &where, &err);
    const cli_log *log = NULL;
    bool lost = false;
    if (!status && a.list) {
        exit_status = list(&logs, a.format);
    } else if (!status) {
        log = cli_logs_choose(&logs, where.failed ? "" : where.text, a.latest || !rest.n,
                              "name one, or say --latest; --list-only lists them", &err);
        status = log ? DEVLOG_OK : err.status;
        if (log && logs.n > 1 && !rest.n && !a.latest)
            fprintf(stderr, "%s is the newest of %zu logs; --list-only lists them\n", log->path, logs.n);
        viewed all = {.log = log};
        if (log && !(all.paths = cli_logs_with_hosts(&logs, log, &all.n)))
            status = dl_fail(&err, DEVLOG_ERR_MEMORY, "out of memory");
        if (!status) status = show(&all, &a, &filter, &lost, &err);
        free(all.paths);
    }
    if (status) fprintf(stderr, "devlog view: %s\n", err.text);
    if (log && !status) exit_status = lost ? CLI_PARTIAL : CLI_OK;
    dl_str_free(&where);
    cli_logs_free(&logs);
    cli_args_free(&rest);
    return exit_status;
}

const cli_command cmd_view = {
    .name = "view",
    .summary = "Open a log in a viewer: the page, Perfetto, TensorBoard, speedscope",
    .arguments = "[LOG-OR-FOLDER]",
    .min_arguments = 0,
    .max_arguments = 1,
    .description =
        "Finds the log, makes what the viewer reads, and opens it in the browser; on a machine without a "
        "display "
        "it prints the address, and over ssh what to type so that the browser of your own machine shows "
        "it.\n\n"
        "Unless told it takes the newest log of those in DEVLOG_LOG_FOLDER, generated/profiler, and where "
        "tt-metal writes its own: TT_METAL_PROFILER_DIR and TT_METAL_HOME/generated/profiler. A capture and "
        "the "
        "device log beside it are of one run: it takes the capture, which knows more.\n\n"
        "html is device_perf.html, which needs no network. Perfetto and speedscope are web sites: the trace "
        "stays on this machine, and a server on the loopback interface hands it to the site's program in "
        "your "
        "browser, once, then ends. For TensorBoard it writes the log folder and prints the command.",
    .options = options,
    .examples = "  devlog view                                the newest log, as a page\n"
                "  devlog view --ui perfetto run1.csv         in ui.perfetto.dev\n"
                "  devlog view --list-only ~/runs             which logs there are\n"
                "  devlog view --ui speedscope -x out run1.csv  only write the file\n",
    .files = "Without --extract, files are made below ~/.cache/devlog/view (DEVLOG_CACHE, XDG_CACHE_HOME).",
    .see_also = "devlog-decode(1), devlog-export(1), devlog-serve(1)",
    .run = run,
};
