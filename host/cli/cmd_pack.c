/* devlog pack: a device log in a fiftieth of its size, from which `devlog unpack` gets every byte of it back. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/room.h"
#include "base/term.h"
#include "cli/cli.h"
#include "cli/follow_end.h"
#include "cli/pack_folder.h"
#include "cli/pack_output.h"
#include "decode/input.h"
#include "pack/follow.h"

typedef struct pack_args {
    const char *output;
    uint64_t threads, idle;
    bool follow, drop_read;
} pack_args;

static const cli_option options[] = {
    CLI_TITLE("Output"),
    {CLI_STRING, "output", 'o', "FILE",
     "where to; \"-\": standard output. Unless told: LOG" PACK_SUFFIX ", if there is no such file",
     offsetof(pack_args, output)},
    CLI_TITLE("Logs that grow"),
    {CLI_FLAG, "follow", 'F', NULL,
     "wait for more at the log's end, until a signal (Ctrl-C); FILE is good up to its last block at every "
     "moment, and the same command goes on with it",
     offsetof(pack_args, follow)},
    {CLI_NUMBER, "idle", 0, "SECONDS", "with --follow: end when nothing has come for so long",
     offsetof(pack_args, idle), 1, 1000000},
    {CLI_FLAG, "drop-read", 0, NULL,
     "THE ORIGINAL GOES: what is packed, checked and on the disk is taken out of LOG (it stays as long as it "
     "was and reads as zeros), so that both together need little room",
     offsetof(pack_args, drop_read)},
    CLI_TITLE("Working"),
    {CLI_NUMBER, "threads", 0, "N", "threads; as many as there are processors, 4 at most, unless told",
     offsetof(pack_args, threads), 1, 16},
    {0},
};

typedef struct log_source {
    dl_input *in;
    const pack_output *out;
    const char *path; /* of the output */
    uint64_t next;    /* bytes of the log at which room is asked for again */
    dl_progress progress;
} log_source;

/* A disk that is too small is told while the log is read, not when it is full, which hinders others. By what has been packed:
 * the rest may pack a little better. */
static devlog_status ask_for_room(log_source *s, devlog_error *err)
{
    enum { FIRST = 64 * 1024 * 1024, LITTLE = 1000 * 1000 };
    const uint64_t size = dl_input_size(s->in), taken = dl_input_taken(s->in),
                   packed = dl_file_written(&s->out->file);
    if (!size || taken < s->next || (taken < FIRST && taken < size / 16)) return DEVLOG_OK;
    const double all = (double)packed / ((double)taken / (double)size) * 3 / 4;
    if (all < LITTLE || all < (double)packed) return DEVLOG_OK;
    s->next = taken * 2;
    devlog_status status = dl_room_check(s->path, (uint64_t)all - packed, (uint64_t)all, err);
    if (!status) return status;
    char what[sizeof err->text];
    snprintf(what, sizeof what, "%.400s", err->text);
    return dl_fail(err, status, "after %d %% of the log: %s: make room, or write elsewhere (--output)",
                   (int)(taken * 100 / size), what);
}

static devlog_status read_log(void *ctx, void *bytes, size_t cap, size_t *n, devlog_error *err)
{
    log_source *s = ctx;
    if (dl_progress_due(&s->progress)) {
        char text[160];
        const uint64_t size = dl_input_size(s->in), taken = dl_input_taken(s->in);
        snprintf(text, sizeof text, "%.80s: %d %%", dl_input_name(s->in),
                 size ? (int)(taken * 100 / size) : 0);
        dl_progress_show(&s->progress, text);
    }
    devlog_status status = ask_for_room(s, err);
    return status ? status : dl_input_read(s->in, bytes, cap, n, err);
}

static void say_totals(const pk_totals *t, const char *path)
{
    char text[DL_GROUPED_SIZE], lines[DL_GROUPED_SIZE], packed[DL_GROUPED_SIZE];
    printf("%s: %s bytes in %s lines are now %s", path, dl_u64_grouped(text, t->text),
           dl_u64_grouped(lines, t->lines), dl_u64_grouped(packed, t->packed));
    if (t->packed && t->text > t->packed) printf(", %.1f times smaller", (double)t->text / (double)t->packed);
    printf("\n");
}

static devlog_status pack_log(const pack_args *a, const char *log, const char *output, devlog_error *err)
{
    pack_output out = {0};
    log_source source = {.out = &out, .path = output};
    pk_totals totals = {0};
    const pk_options packing = {.threads = (unsigned)a->threads};
    devlog_status status = dl_input_open(&source.in, log, err);
    if (!status) status = pack_output_open(&out, output, err);
    dl_progress_start(&source.progress);
    if (!status) status = pk_pack(read_log, &source, pack_output_write, &out, &packing, &totals, err);
    dl_progress_end(&source.progress);
    dl_input_close(source.in);
    status = pack_output_close(&out, status, err);
    if (!status && strcmp(output, "-") != 0) say_totals(&totals, output);
    return status;
}

static devlog_status pack_member(void *ctx, const char *from, const char *to, devlog_error *err)
{
    return pack_log(ctx, from, to, err);
}

static devlog_status pack_logs(const pack_args *a, const char *folder, const char *output, devlog_error *err)
{
    const pack_folder_way way = {.file = pack_member, .ctx = (void *)a};
    pack_folder_counts counts;
    devlog_status status = pack_folder(folder, output, &way, &counts, err);
    if (!status) {
        printf("%s: %" PRIu64 " logs are packed, %" PRIu64 " other files are as they were\n", output,
               counts.files, counts.copied);
        if (counts.left_out)
            printf("%s: %" PRIu64 " that are neither files nor folders are left out\n", output,
                   counts.left_out);
    }
    return status;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A log that grows, or goes; CLI_OK, CLI_PARTIAL, or CLI_FAILED with *err. */
static int follow_log(const pack_args *a, const char *log, const char *output, devlog_error *err)
{
    const pk_follow_options following = {
        .follow = a->follow, .drop_read = a->drop_read, .idle_ms = a->idle * 1000, .stop = cli_follow_ended};
    pk_followed followed;
    cli_follow_catch();
    devlog_status status = pk_follow(log, output, &following, &followed, err);
    if (status) return CLI_FAILED;
    say_totals(&followed.totals, output);
    if (!followed.changed[0]) return CLI_OK;
    fprintf(stderr,
            "devlog pack: %s %s; %s holds what came before: name another file for what is there now\n", log,
            followed.changed, output);
    return CLI_PARTIAL;
}

static int run(int argc, char **argv)
{
    pack_args a = {0};
    cli_args rest;
    devlog_error err = {0};
    int exit_status, done = CLI_OK;
    if (!cli_parse(&cmd_pack, argc, argv, &a, &rest, &exit_status)) return exit_status;
    char *log = rest.items[0];
    const bool folder = is_folder(log);
    for (size_t n = strlen(log); folder && n > 1 && log[n - 1] == '/'; n--)
        log[n - 1] = '\0'; /* FOLDER.pack, not FOLDER/.pack */
    const bool in_place = a.follow || a.drop_read;
    char *output = a.output ? strdup(a.output) : pack_output_beside(log, PACK_SUFFIX);
    devlog_status status = output ? DEVLOG_OK : dl_fail(&err, DEVLOG_ERR_MEMORY, "out of memory");
    exit_status = CLI_FAILED;
    if (!a.output && strcmp(log, "-") == 0) {
        exit_status = cli_wrong(&cmd_pack, "standard input has no name: say where to with --output FILE");
        /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): without an output status is not OK */
    } else if (in_place && (strcmp(log, "-") == 0 || strcmp(output, "-") == 0)) {
        exit_status = cli_wrong(&cmd_pack, "--follow and --drop-read want a file to read and one to write");
        /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): the same */
    } else if (folder && (in_place || strcmp(output, "-") == 0)) {
        exit_status = cli_wrong(&cmd_pack, "a folder is packed into a folder, and as a whole");
    } else if (a.idle && !a.follow) {
        exit_status = cli_wrong(&cmd_pack, "--idle is for --follow");
    } else {
        if (!status && folder) {
            status = pack_logs(&a, log, output, &err);
        } else if (!status && in_place) {
            done = follow_log(&a, log, output, &err);
            if (done == CLI_FAILED) status = err.status;
        } else {
            if (!status && !a.output) status = pack_output_is_new(output, &err);
            if (!status) status = pack_log(&a, log, output, &err);
        }
        if (status)
            fprintf(stderr, "devlog pack: %s\n", err.text);
        else
            exit_status = done;
    }
    free(output);
    cli_args_free(&rest);
    return exit_status;
}

const cli_command cmd_pack = {
    .name = "pack",
    .summary = "Make a device log many times smaller, without losing a byte",
    .arguments = "LOG-OR-FOLDER",
    .min_arguments = 1,
    .max_arguments = 1,
    .description =
        "Packs a device log (profile_log_device.csv, or \"-\" for standard input) so that devlog unpack gives "
        "every byte of it back: 80 times smaller for today's logs, 20 times for those of six columns. Any other "
        "file can be packed as well; lines that are none of a device log come back as they were, too, and are "
        "kept as zstd keeps them.\n"
        "\n"
        "Every command that takes a device log takes a packed one. The file is in blocks of 4 MiB of text, each "
        "with checksums and independent of the others, so that damage costs no more than the blocks in which it "
        "is; its end is an index of them. It is on the disk (fsync) when the command ends.\n"
        "\n"
        "With --follow or --drop-read, FILE is written in place, and when it is there already, it must hold the "
        "beginning of LOG: packing goes on behind it. Whatever kills the command, nothing that was taken out of "
        "LOG is missing in FILE. A log that is truncated, written anew or replaced ends it, with status 3; a log "
        "that is removed ends it as well.\n"
        "\n"
        "A folder becomes a folder like it, FOLDER" PACK_SUFFIX
        " unless told, in which logs (.csv, .json and .log of "
        "64 KiB and more) are packed and other files are as they were; devlog ops and view read it like the other "
        "one, and devlog unpack gives that back.\n"
        "\n"
        "A log that is compressed (.gz, .zst, .xz) is packed as it is without that: what comes back is the log, "
        "not the compressed file.",
    .options = options,
    .examples = "  devlog pack profile_log_device.csv        write profile_log_device.csv" PACK_SUFFIX "\n"
                "  devlog pack log.csv -o run1" PACK_SUFFIX "          somewhere else\n"
                "  devlog pack logs -o packed                 all logs of a run\n"
                "  cat log.csv | devlog pack - -o log" PACK_SUFFIX "   from a pipe\n"
                "  devlog pack --follow --idle 2 log.csv      until nothing has come for two seconds\n"
                "  devlog decode run1" PACK_SUFFIX "                   as if it were the log\n",
    .see_also = "devlog-unpack(1), devlog-decode(1)",
    .run = run,
};
