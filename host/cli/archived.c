/* Runs that come out of an archive: into a folder, or into a comparison. See archived.h. */
#include "cli/archived.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/settings.h"
#include "cli/cli.h"

/* The runs that a word means: the number of one, or the beginning of a commit. */
static devlog_status runs_of(const cli_archived *from, const char *word, archive_runs *runs,
                             devlog_error *err)
{
    char *end;
    const long long id = strtoll(word, &end, 10);
    archive_filter f = {.commit = word};
    if (*word && !*end && id > 0 && strlen(word) < 7) f = (archive_filter){.id = id};
    devlog_status status = archive_find(from->a, &f, runs, err);
    if (!status && !runs->n)
        status = dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                         "%s: there is no run '%s', by number or by commit (devlog archive list)", from->file,
                         word);
    return status;
}

int cli_archive_get(const cli_archived *from, devlog_error *err)
{
    archive_runs runs = {0};
    devlog_status status = runs_of(from, from->rest->items[0], &runs, err);
    for (size_t i = 0; i < runs.n && !status; i++) {
        char *folder = NULL;
        if (asprintf(&folder, runs.n > 1 ? "%s/%lld" : "%s", from->output ? from->output : "run",
                     (long long)runs.items[i].id) < 0)
            folder = NULL;
        status = folder ? archive_get(from->a, runs.items[i].id, folder, err)
                        : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        if (!status) printf("run %lld: %s\n", (long long)runs.items[i].id, folder);
        free(folder);
    }
    archive_runs_free(&runs);
    return status ? CLI_FAILED : CLI_OK;
}

typedef struct unpacked {
    char **argv, **folders, **names; /* names: what the folders are called */
    int argc, n;
} unpacked;

/* The runs of a word, as arguments of devlog diff. */
static devlog_status unpack(const cli_archived *from, const char *word, const char *side, const char *tmp,
                            unpacked *u, devlog_error *err)
{
    archive_runs runs = {0};
    devlog_status status = runs_of(from, word, &runs, err);
    for (size_t i = 0; i < runs.n && !status; i++) {
        char **argv = realloc(u->argv, (size_t)(u->argc + 3) * sizeof *argv);
        if (argv) u->argv = argv;
        char **folders = realloc(u->folders, (size_t)(u->n + 1) * sizeof *folders);
        if (folders) u->folders = folders;
        char **names = realloc(u->names, (size_t)(u->n + 1) * sizeof *names);
        if (names) u->names = names;
        const long long id = (long long)runs.items[i].id;
        char *folder, *name;
        if (asprintf(&folder, "%s/run%lld%s", tmp, id, side + 1) < 0) folder = NULL;
        if (asprintf(&name, "%s: run %lld", from->file, id) < 0) name = NULL;
        if (!argv || !folders || !names || !folder || !name) {
            free(folder);
            free(name);
            status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
            break;
        }
        u->folders[u->n] = folder;
        u->names[u->n++] = name;
        u->argv[u->argc++] = (char *)side;
        u->argv[u->argc++] = folder;
        u->argv[u->argc] = NULL;
        status = archive_get(from->a, runs.items[i].id, folder, err);
    }
    archive_runs_free(&runs);
    return status;
}

int cli_archive_diff(const cli_archived *from, devlog_error *err)
{
    const char *tmp = dl_setting_text(DL_SET_TMPDIR);
    char *folder = dl_path_join(tmp ? tmp : "/tmp", "devlog-archive-XXXXXX");
    unpacked u = {.argv = calloc(2, sizeof *u.argv), .argc = 1};
    int exit_status = CLI_FAILED;
    devlog_status status = folder && u.argv ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!status && !mkdtemp(folder)) {
        status = dl_fail_errno(err, errno, "cannot make the temporary folder %s", folder);
        *folder = '\0';
    }
    if (!status) u.argv[0] = (char *)"diff";
    if (!status) status = unpack(from, from->rest->items[0], "--old", folder, &u, err);
    if (!status) status = unpack(from, from->rest->items[1], "--new", folder, &u, err);
    if (!status) {
        const int more = from->rest->n - 2;
        char **argv = realloc(u.argv, (size_t)(u.argc + more + 1) * sizeof *argv);
        if (argv) {
            u.argv = argv;
            for (int i = 0; i < more; i++)
                argv[u.argc++] = from->rest->items[2 + i];
            argv[u.argc] = NULL;
            exit_status = cli_diff_called(u.argc, argv, u.folders, u.names, (size_t)u.n);
        } else {
            dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        }
    }
    for (int i = 0; i < u.n; i++) {
        dl_folder_remove(u.folders[i]);
        free(u.folders[i]);
        free(u.names[i]);
    }
    if (folder && *folder) rmdir(folder);
    free(folder);
    free(u.folders);
    free(u.names);
    free(u.argv);
    return exit_status;
}
