/* devlog selftest: is this board good for use, and is its board file right? */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/settings.h"
#include "base/term.h"
#include "cli/cli.h"
#include "profiler/selftest.h"

typedef struct selftest_args {
    const char *device;
    uint64_t cores;
    int format;
} selftest_args;

enum { TEXT, CSV, JSON };

static const cli_option options[] = {
    {CLI_STRING, "device", 'd', "TRANSPORT[:PATH]",
     "how to reach the board: sim, qemu, usb, kmd:0, ..; unless told: DEVLOG_TRANSPORT, else the first that "
     "its "
     "file lists",
     offsetof(selftest_args, device)},
    {CLI_NUMBER, "cores", 'c', "N", "test the first N cores; all unless told", offsetof(selftest_args, cores),
     1, UINT32_MAX},
    {CLI_CHOICE, "format", 'f', "text|csv|json", "what to print", offsetof(selftest_args, format)},
    {0},
};

typedef struct printer {
    dl_str out;
    int format;
    bool colour, any;
} printer;

static devlog_status print_line(void *context, const selftest_line *l, devlog_error *err)
{
    printer *p = context;
    dl_str *out = &p->out;
    if (p->format == TEXT) {
        const char *on = !p->colour ? "" : l->ok ? "\033[32m" : "\033[31m";
        dl_str_fmt(out, "%s%-6s%s  %-8s  %s\n", on, l->ok ? "ok" : "FAILED", p->colour ? "\033[0m" : "",
                   l->check, l->found);
        /* At once: a check may take long, or never end. */
        const devlog_status status = dl_print(out, err);
        dl_str_clear(out);
        if (status) return status;
    } else if (p->format == CSV) {
        if (!p->any) dl_str_add(out, "check,ok,found\n");
        dl_str_fmt(out, "%s,%d,", l->check, l->ok);
        dl_str_csv(out, l->found, strlen(l->found));
        dl_str_char(out, '\n');
    } else {
        dl_str_fmt(out, "%s{\"check\":\"%s\",\"ok\":%s,\"found\":",
                   p->any ? ",\n " : "{\"format\":\"devlog-selftest-1\",\"checks\":[\n ", l->check,
                   l->ok ? "true" : "false");
        dl_str_json(out, l->found, strlen(l->found));
        dl_str_char(out, '}');
    }
    p->any = true;
    return DEVLOG_OK;
}

static int run(int argc, char **argv)
{
    selftest_args a = {0};
    cli_args rest;
    devlog_error err = {0};
    devlog_device *device = NULL;
    int exit_status;
    if (!cli_parse(&cmd_selftest, argc, argv, &a, &rest, &exit_status)) return exit_status;
    printer p = {.format = a.format, .colour = dl_term_colour(stdout)};
    /* What the profiler of the device writes is of no use to anybody. */
    const char *tmp = dl_setting_text(DL_SET_TMPDIR);
    char *folder = dl_path_join(tmp ? tmp : "/tmp", "devlog-selftest-XXXXXX");
    uint32_t failed = 0;
    exit_status = CLI_FAILED;
    devlog_status status = folder ? DEVLOG_OK : dl_fail(&err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!status && !mkdtemp(folder))
        status = dl_fail_errno(&err, errno, "cannot make the temporary folder %s", folder);
    const bool made = !status;
    const devlog_device_options opening =
        DEVLOG_DEVICE_OPTIONS(.board = rest.n ? rest.items[0] : NULL, .transport = a.device,
                              .profile = DEVLOG_ON, .log_folder = folder);
    const selftest_options testing = {.cores = (uint32_t)a.cores};
    if (status == DEVLOG_OK) status = devlog_device_open(&opening, &device, &err);
    if (status == DEVLOG_OK && a.format == TEXT)
        printf("%s by %s, %u core%s of %u RISC%s\n", device->board.title, devlog_device_transport(device),
               device->board.n_columns * device->board.n_rows,
               device->board.n_columns * device->board.n_rows == 1 ? "" : "s", device->board.n_riscs,
               device->board.n_riscs == 1 ? "" : "s");
    fflush(stdout);
    if (status == DEVLOG_OK) status = selftest_run(device, &testing, print_line, &p, &failed, &err);
    devlog_error closing;
    devlog_status closed = devlog_device_close(device, &closing);
    if (status == DEVLOG_OK && closed != DEVLOG_OK) {
        status = closed;
        err = closing;
    }
    if (a.format == JSON)
        dl_str_add(&p.out, p.any ? "]}\n" : "{\"format\":\"devlog-selftest-1\",\"checks\":[]}\n");
    if (status == DEVLOG_OK) status = dl_print(&p.out, &err);
    if (status != DEVLOG_OK)
        fprintf(stderr, "devlog selftest: %s\n", err.text);
    else
        exit_status = failed ? CLI_FAILED : CLI_OK;
    dl_str_free(&p.out);
    if (made) dl_folder_remove(folder);
    free(folder);
    cli_args_free(&rest);
    return exit_status;
}

const cli_command cmd_selftest = {
    .name = "selftest",
    .temporary = true,
    .summary = "Test a board: memory, clock, a kernel on every RISC, markers, drops",
    .arguments = "[BOARD]",
    .max_arguments = 1,
    .description = "Writes and reads memory of every core, runs a known kernel on every RISC of every core, "
                   "and checks its "
                   "results, the frequency of the counter that stamps are of, that every marker is recorded "
                   "in order, and that "
                   "those that find no place are counted to the last. BOARD is the name or the file of a "
                   "board; unless told, "
                   "DEVLOG_BOARD or wormhole_b0. The exit status is 1 when a check fails.",
    .options = options,
    .examples = "  devlog selftest                            the simulated default board\n"
                "  devlog selftest fe310 --device usb         a microcontroller behind a probe\n"
                "  devlog selftest my_board.json -d sim       a new board file, before there is a board\n",
    .see_also = "devlog-boards(1), devlog-dump(1)",
    .run = run,
};
