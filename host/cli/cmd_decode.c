/* devlog decode: device logs into durations, statistics and artifacts. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/term.h"
#include "cli/cli.h"
#include "decode/decode.h"
#include "report/decode_table.h"

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

int cmd_decode(int argc, char **argv)
{
    devlog_error err = {0};
    dl_decode *d = NULL;
    dl_progress progress;
    dl_str out = {0};
    int exit_status = CLI_FAILED;
    if (argc < 2) {
        say("which log? Usage: devlog decode LOG...");
        return CLI_USAGE;
    }
    dl_progress_start(&progress);
    const dl_decode_options options = {.progress = on_progress, .progress_ctx = &progress};
    devlog_status status = dl_decode_new(&d, &options, &err);
    for (int i = 1; i < argc && !status; i++)
        status = dl_decode_file(d, argv[i], &err);
    if (!status) status = dl_decode_finish(d, &err);
    dl_progress_end(&progress);
    const dl_table_options table = {.colour = dl_term_colour(stdout), .max_launches = 20};
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
    return exit_status;
}
