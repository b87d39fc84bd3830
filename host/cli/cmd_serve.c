/* devlog serve: the dashboard, in a browser, of all logs below a folder. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/dashboard.h"
#include "cli/serve_make.h"

typedef struct serve_args {
    uint64_t port;
    const char *address;
    cli_list host_names;
    cli_filters filters;
} serve_args;

static const cli_option options[] = {
    {CLI_NUMBER, "port", 'p', "PORT", "port; 8050 unless told, 0: any that is free",
     offsetof(serve_args, port), 0, 65535},
    {CLI_STRING, "address", 0, "ADDRESS",
     "where to listen; 127.0.0.1 unless told, so that only this machine can ask. 0.0.0.0: every network",
     offsetof(serve_args, address)},
    {CLI_LIST, "host-name", 0, "NAME,...",
     "names, besides numbers and localhost, that browsers may call it by", offsetof(serve_args, host_names)},
    CLI_FILTERS(serve_args, filters),
    {0},
};

/* Waits until the user has had enough. The signals are blocked in every thread, so none is lost. */
static void wait_for_end(const sigset_t *signals)
{
    int which;
    sigwait(signals, &which);
}

static int serve(const serve_args *a, const dl_filter *filter, const char *folder, devlog_error *err)
{
    serve_maker maker = {&a->filters, filter, &cmd_serve};
    cli_store *store = NULL, *traces = NULL;
    log_figures *figures = NULL;
    dashboard d = {0};
    http *server = NULL;
    cli_logs logs;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN); /* a browser that goes away in the middle */
    devlog_status status = cli_logs_find_all(folder, &logs, err);
    size_t n = logs.n;
    cli_logs_free(&logs);
    if (!status) status = cli_store_new(&store, serve_make_results, &maker, err);
    if (!status) status = cli_store_new(&traces, serve_make_trace, &maker, err);
    if (!status) status = log_figures_new(&figures, err);
    if (!status) status = dashboard_init(&d, &(dashboard_parts){folder, store, traces, figures}, err);
    const http_options how = {.address = a->address,
                              .port = (uint16_t)a->port,
                              .host_names = a->host_names.items,
                              .n_host_names = a->host_names.n,
                              .handler = dashboard_answer,
                              .ctx = &d};
    if (!status) status = http_start(&server, &how, err);
    if (!status) {
        printf("%s/  %zu log%s in %s%s; Ctrl-C ends\n", http_url(server), n, n == 1 ? "" : "s", folder,
               cli_filters_any(&a->filters) ? ", of each what the options choose" : "");
        fflush(stdout);
        http_say_windows(http_port(server));
        wait_for_end(&signals);
    }
    http_stop(server);
    dashboard_free(&d);
    log_figures_free(figures);
    cli_store_free(traces);
    cli_store_free(store);
    return status ? CLI_FAILED : CLI_OK;
}

static int run(int argc, char **argv)
{
    serve_args a = {.port = 8050};
    cli_args rest;
    dl_filter filter;
    devlog_error err = {0};
    int exit_status;
    if (!cli_parse(&cmd_serve, argc, argv, &a, &rest, &exit_status)) return exit_status;
    if (!cli_filter_of(&cmd_serve, &a.filters, &rest, &filter)) {
        cli_args_free(&rest);
        return CLI_USAGE;
    }
    exit_status = serve(&a, &filter, rest.n ? rest.items[0] : "generated/profiler", &err);
    if (exit_status) fprintf(stderr, "devlog serve: %s\n", err.text);
    cli_args_free(&rest);
    return exit_status;
}

const cli_command cmd_serve = {
    .name = "serve",
    .temporary = true,
    .summary = "Dashboard in a browser: the logs of a folder, newest first",
    .arguments = "[FOLDER]",
    .min_arguments = 0,
    .max_arguments = 1,
    .description =
        "Serves a page that lists the logs, captures and op reports below FOLDER (generated/profiler unless told), "
        "newest "
        "first, with launches and losses of each, the timeline and statistics, a button for ui.perfetto.dev, and one that downloads "
        "the artifacts as "
        "device_perf_results.tar. Two logs that are ticked are compared, as devlog diff --page does. The list is filtered and sorted, "
        "takes labels, which the browser keeps, and a new log appears by itself. Logs are decoded when they are first looked "
        "at; nothing is written into FOLDER. Selection and filters are those of devlog decode and hold for every log.\n\n"
        "It answers this machine only, unless --address says otherwise: it has no password. A browser must "
        "call it by a number, localhost or a name given with --host-name, so that no web site can read from "
        "it by pointing a name of its own here.",
    .options = options,
    .examples = "  devlog serve                          then open http://127.0.0.1:8050/\n"
                "  devlog serve -p 9000 ~/runs\n"
                "  devlog serve --skip-warm-up --from-signpost start ~/runs\n"
                "  ssh -L 8050:127.0.0.1:8050 machine    the dashboard of another machine\n",
    .see_also = "devlog-decode(1), devlog-view(1)",
    .run = run,
};
