/* devlog decode: device logs into durations, statistics and artifacts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/term.h"
#include "cli/cli.h"
#include "decode/decode.h"
#include "report/decode_table.h"

typedef struct decode_args {
    uint64_t max_launches;
} decode_args;

static const cli_option options[] = {
    CLI_TITLE("Printing"),
    {CLI_NUMBER, "max-launches", 0, "N", "launches in the table per launch; 20 unless told, 0: no such table",
     offsetof(decode_args, max_launches), 0, UINT32_MAX},
    {0},
};

static void say(const char *text)
{
    fprintf(stderr, "devlog decode: %s\n", text);
}

static void on_progress(void *ctx, const char *input, uint64_t taken, uint64_t size, uint64_t rows)
{
    dl_progress *progress = ctx;
    if (!dl_progress_due(progress)) return;
    char text[160], digits[DL_GROUPED_SIZE];
    int percent = size ? (int)(taken * 100 / size) : 0;
    if (size)
        snprintf(text, sizeof text, "%.80s: %d %%, %s rows", input, percent, dl_u64_grouped(digits, rows));
    else
        snprintf(text, sizeof text, "%.80s: %s rows", input, dl_u64_grouped(digits, rows));
    dl_progress_show(progress, text);
}

static int run(int argc, char **argv)
{
    decode_args a = {.max_launches = 20};
    cli_args rest;
    devlog_error err = {0};
    dl_decode *d = NULL;
    dl_progress progress;
    dl_str out = {0};
    int exit_status = CLI_FAILED;
    if (!cli_parse(&cmd_decode, argc, argv, &a, &rest, &exit_status)) return exit_status;
    exit_status = CLI_FAILED;
    dl_progress_start(&progress);
    const dl_decode_options decode = {.progress = on_progress, .progress_ctx = &progress};
    devlog_status status = dl_decode_new(&d, &decode, &err);
    for (int i = 0; i < rest.n && !status; i++)
        status = dl_decode_file(d, rest.items[i], &err);
    if (!status) status = dl_decode_finish(d, &err);
    dl_progress_end(&progress);
    const dl_table_options table = {.colour = dl_term_colour(stdout),
                                    .max_launches = (uint32_t)a.max_launches};
    if (!status) status = dl_report_table(d, &table, &out, &err);
    if (status) {
        say(err.text);
        goto done;
    }
    dl_str_char(&out, '\n');
    dl_report_losses(dl_decode_losses(d), table.colour, &out);
    if (dl_write_all(STDOUT_FILENO, out.text, out.len) != 0) goto done;
    exit_status = dl_losses_any(dl_decode_losses(d)) ? CLI_PARTIAL : CLI_OK;
done:
    dl_str_free(&out);
    dl_decode_free(d);
    cli_args_free(&rest);
    return exit_status;
}

const cli_command cmd_decode = {
    .name = "decode",
    .summary = "Decode device logs: durations, statistics, artifacts",
    .arguments = "LOG...",
    .min_arguments = 1,
    .max_arguments = CLI_ANY,
    .description =
        "Reads profile_log_device.csv in every form that there has been, plain or compressed (.gz, .zst, "
        ".xz), "
        "pairs its markers into zones, and prints their durations. Several logs are one, in the order given; "
        "\"-\" is standard input. A damaged log is decoded as far as it goes, and the report says what was "
        "lost.",
    .options = options,
    .examples = "  devlog decode generated/profiler/logs/profile_log_device.csv\n"
                "  zstdcat old.csv.zst | devlog decode -\n",
    .run = run,
};
