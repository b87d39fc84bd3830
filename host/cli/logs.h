/* Logs below a folder: which there are, for `devlog serve` and `devlog view`. Knows names, sizes and times,
 * and opens none of them. */
#ifndef DEVLOG_CLI_LOGS_H
#define DEVLOG_CLI_LOGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/options.h"

typedef struct cli_log {
    char *path;   /* as it can be opened */
    char *name;   /* below the folder */
    char id[17];  /* of the name: 16 hexadecimal digits, for URLs */
    bool capture; /* capture.devlog, otherwise a device log */
    bool report;  /* an op report; only cli_logs_find_all tells of those */
    uint64_t bytes;
    uint64_t bytes_of_hosts; /* of zones of host code beside it, which are read with it */
    int64_t time_ns;         /* of its last change, since 1970 */
    uint64_t device, inode;
} cli_log;

/* A run leaves a capture and a device log side by side: then the run is the capture, which knows more, and
 * its device log is one of those behind the n that are told, as zones of host code beside either are. Side by side is: in one folder, and changed last
 * within CLI_RUN_SECONDS of each other. */
typedef struct cli_logs {
    cli_log *items; /* newest first; n, and behind them those that belong to captures */
    size_t n, n_all;
    bool more; /* there are more than CLI_MAX_LOGS, or folders deeper than CLI_MAX_DEPTH */
} cli_logs;

enum { CLI_MAX_LOGS = 1000, CLI_MAX_DEPTH = 8, CLI_MAX_ENTRIES = 100000, CLI_RUN_SECONDS = 60 };

/* The logs below `folder`, or the one log when it is a file. Links are not followed. Free *logs in any case.
 * NOT_FOUND when there is no such folder; a folder without a log is no failure. */
devlog_status cli_logs_find(const char *folder, cli_logs *logs, devlog_error *err);
/* The same with op reports, but for those of runs whose log is there, too. */
devlog_status cli_logs_find_all(const char *folder, cli_logs *logs, devlog_error *err);
/* The logs of all places where programs leave them when nobody says where: DEVLOG_LOG_FOLDER,
 * generated/profiler, and where tt-metal puts its own, TT_METAL_PROFILER_DIR and
 * TT_METAL_HOME/generated/profiler. `where` receives their names; those that are not there are left out,
 * unless none is. */
devlog_status cli_logs_find_any(cli_logs *logs, dl_str *where, devlog_error *err);
void cli_logs_free(cli_logs *logs);
/* The one log there is, or with `latest` the newest. NOT_FOUND when there is none, or it is not clear which;
 * `ways` is what else the user can do then. */
const cli_log *cli_logs_choose(const cli_logs *logs, const char *where, bool latest, const char *ways,
                               devlog_error *err);
/* --latest, and what it means: a folder among the arguments is the newest log below it; no argument is the newest of the places
 * where programs leave them. What is taken is said on stderr. With `run` a log that belongs to a run is that run:
 * its folder. `items` are arguments of `rest`, `one` is room for one. */
#define CLI_LATEST(type, member)                                                                             \
    {                                                                                                        \
        CLI_FLAG, "latest", 0, NULL, "of a folder the newest log below it, wherever it is",                  \
            offsetof(type, member)                                                                           \
    }
devlog_status cli_logs_latest(const char *command, cli_args *rest, char *one[1], bool run, devlog_error *err);
typedef struct cli_logs_wanted {
    const char *command;
    bool latest;
    bool grows; /* one that can be followed: a device log, alone, also where a capture knows more */
} cli_logs_wanted;

/* Arguments of a command that reads logs: a folder stands for its only log, or with `latest` the newest; no argument for the newest
 * of the places where programs leave them. Zones of host code beside a log that was found so are read with it; those of a log that is named are not. */
devlog_status cli_logs_of_folders(const cli_logs_wanted *wanted, cli_args *rest, devlog_error *err);
/* ARGUMENT when what happened would count twice: a file is named twice, or a capture and the device log beside it of the same run are
 * among the paths (a shell names all files of a folder). */
devlog_status cli_logs_apart(char *const *paths, size_t n, devlog_error *err);
/* The paths of a log of `logs`, and behind it of the zones of host code beside it, in an array that the caller frees; the paths are
 * the logs' own. NULL: out of memory. */
char **cli_logs_with_hosts(const cli_logs *logs, const cli_log *log, size_t *n);
/* Of all, those that belong to captures too. */
const cli_log *cli_logs_by_id(const cli_logs *logs, const char *id, size_t n);

#endif
