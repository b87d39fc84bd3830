/* devlog unpack: the log out of a packed one, byte for byte. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/room.h"
#include "cli/cli.h"
#include "cli/pack_folder.h"
#include "cli/pack_output.h"
#include "pack/index.h"
#include "pack/pack.h"

typedef struct unpack_args {
    const char *output;
    uint64_t threads;
} unpack_args;

static const cli_option options[] = {
    CLI_TITLE("Output"),
    {CLI_STRING, "output", 'o', "LOG",
     "where to; \"-\": standard output. Unless told: FILE without " PACK_SUFFIX ", if there is no such file",
     offsetof(unpack_args, output)},
    CLI_TITLE("Working"),
    {CLI_NUMBER, "threads", 0, "N", "threads; as many as there are processors, 4 at most, unless told",
     offsetof(unpack_args, threads), 1, 16},
    {0},
};

enum { MOST_TOLD = 20 };

static void say_finding(void *ctx, const char *text)
{
    uint64_t *said = ctx;
    if (++*said <= MOST_TOLD) fprintf(stderr, "devlog unpack: %s\n", text);
}

static ssize_t read_file(void *ctx, void *bytes, size_t cap)
{
    ssize_t n;
    do
        n = read(*(int *)ctx, bytes, cap);
    while (n < 0 && errno == EINTR);
    return n;
}

static bool read_at(void *ctx, void *bytes, size_t n, uint64_t at)
{
    size_t have = 0;
    while (have < n) {
        const ssize_t got = pread(*(int *)ctx, (char *)bytes + have, n - have, (off_t)(at + have));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        have += (size_t)got;
    }
    return true;
}

/* Where there is an index, it says how long the log is, all but its last block. */
static devlog_status check_room(int fd, const char *output, devlog_error *err)
{
    pk_index index = {0};
    struct stat st;
    devlog_status status = DEVLOG_OK;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) return DEVLOG_OK;
    if (pk_index_read(&index, read_at, &fd, (uint64_t)st.st_size) && index.n)
        status = dl_room_check(output, index.entries[index.n - 1].at, index.entries[index.n - 1].at, err);
    pk_index_free(&index);
    if (!status) return status;
    char what[sizeof err->text];
    snprintf(what, sizeof what, "%.500s", err->text);
    return dl_fail(err, status, "%s: make room, or write elsewhere (--output)", what);
}

/* CLI_OK, CLI_PARTIAL, or CLI_FAILED with *err. */
static int unpack(const unpack_args *a, const char *file, const char *output, devlog_error *err)
{
    pack_output out = {0};
    pk_totals totals = {0};
    uint64_t said = 0;
    pk_damage damage = {.found = say_finding, .ctx = &said};
    const bool from_stdin = strcmp(file, "-") == 0;
    int fd = from_stdin ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
    devlog_status status = fd < 0 ? dl_fail_errno(err, errno, "cannot read %s", file) : DEVLOG_OK;
    if (!status) status = check_room(fd, output, err);
    if (!status) status = pack_output_open(&out, output, err);
    if (!status) {
        status = pk_unpack_all(read_file, &fd, pack_output_write, &out, (unsigned)a->threads, &totals,
                               &damage, err);
        if (status && out.open) dl_fail_in(err, "%s", from_stdin ? "standard input" : file);
    }
    status = pack_output_close(&out, status, err);
    if (fd > STDIN_FILENO) close(fd);
    if (status) return CLI_FAILED;
    if (!damage.findings) return CLI_OK;
    if (said > MOST_TOLD) fprintf(stderr, "devlog unpack: and %" PRIu64 " more\n", said - MOST_TOLD);
    fprintf(stderr, "devlog unpack: %s holds %" PRIu64 " bytes, all that could be unpacked; ", output,
            totals.text);
    if (damage.lost)
        fprintf(stderr, "%" PRIu64 " bytes are lost\n", damage.lost);
    else
        fprintf(stderr, "nothing before its end is lost\n");
    return CLI_PARTIAL;
}

typedef struct member {
    const unpack_args *args;
    int worst;
} member;

static devlog_status unpack_member(void *ctx, const char *from, const char *to, devlog_error *err)
{
    member *m = ctx;
    const int done = unpack(m->args, from, to, err);
    if (done == CLI_FAILED) return err->status;
    if (done != CLI_OK) m->worst = done;
    return DEVLOG_OK;
}

static int unpack_logs(const unpack_args *a, const char *folder, const char *output, devlog_error *err)
{
    member m = {a, CLI_OK};
    const pack_folder_way way = {.file = unpack_member, .ctx = &m, .unpack = true};
    pack_folder_counts counts;
    if (pack_folder(folder, output, &way, &counts, err)) return CLI_FAILED;
    if (counts.left_out)
        fprintf(stderr, "devlog unpack: %s: %" PRIu64 " that are neither files nor folders are left out\n",
                output, counts.left_out);
    return m.worst;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* FILE without the suffix, or NULL: it has none. */
static char *name_without_suffix(const char *file)
{
    const size_t n = strlen(file), m = strlen(PACK_SUFFIX);
    if (n <= m || strcmp(file + n - m, PACK_SUFFIX) != 0) return NULL;
    return strndup(file, n - m);
}

static int run(int argc, char **argv)
{
    unpack_args a = {0};
    cli_args rest;
    devlog_error err = {0};
    int exit_status;
    if (!cli_parse(&cmd_unpack, argc, argv, &a, &rest, &exit_status)) return exit_status;
    char *file = rest.items[0];
    const bool folder = is_folder(file);
    for (size_t n = strlen(file); folder && n > 1 && file[n - 1] == '/'; n--)
        file[n - 1] = '\0';
    char *output = a.output ? strdup(a.output) : name_without_suffix(file);
    if (!output) {
        exit_status = cli_wrong(&cmd_unpack,
                                "%s does not end in " PACK_SUFFIX ": say where to with --output LOG", file);
    } else if (folder && strcmp(output, "-") == 0) {
        exit_status = cli_wrong(&cmd_unpack, "a folder is unpacked into a folder");
    } else {
        exit_status = CLI_FAILED;
        if (folder)
            exit_status = unpack_logs(&a, file, output, &err);
        else if (a.output || !pack_output_is_new(output, &err))
            exit_status = unpack(&a, file, output, &err);
        if (exit_status == CLI_FAILED) fprintf(stderr, "devlog unpack: %s\n", err.text);
    }
    free(output);
    cli_args_free(&rest);
    return exit_status;
}

const cli_command cmd_unpack = {
    .name = "unpack",
    .summary = "Get a log back that devlog pack has packed",
    .arguments = "FILE-OR-FOLDER",
    .min_arguments = 1,
    .max_arguments = 1,
    .description =
        "Writes the log that was packed, byte for byte, and checks all of it on the way. Whatever is wrong with "
        "FILE (\"-\" for standard input) is named: where it is in FILE, and which bytes of the log it costs; the "
        "others are written all the same, and the exit status is 3. A file that has no end, because what packs it "
        "still runs or was killed, gives what is in it so far.\n"
        "\n"
        "Of a folder that devlog pack has made of another one, all files are as they were there.\n"
        "\n"
        "devlog's own commands read packed logs as they are.",
    .options = options,
    .examples = "  devlog unpack run1" PACK_SUFFIX "                        write run1\n"
                "  devlog unpack run1" PACK_SUFFIX " -o - | grep TRISC       only look at it\n",
    .see_also = "devlog-pack(1)",
    .run = run,
};
