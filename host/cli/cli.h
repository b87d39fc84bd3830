/* The command line: one file per subcommand, one table of them in commands.c. cli/options.h says how a
 * subcommand describes its options. */
#ifndef DEVLOG_CLI_CLI_H
#define DEVLOG_CLI_CLI_H

#include "cli/options.h"

/* What a subcommand's exit status means. */
enum {
    CLI_OK = 0,
    CLI_FAILED = 1,    /* nothing useful was produced; stderr says why */
    CLI_USAGE = 2,     /* the command line is wrong */
    CLI_PARTIAL = 3,   /* the result is there, but something was lost; the report says what */
    CLI_WORSE = 4,     /* the result is there, and it is worse than the user allows */
    CLI_UNDECIDED = 5, /* the result is there, and whether it is worse cannot be told from so few samples */
};

/* The subcommands, by name; ends with NULL. In commands.c. */
extern const cli_command *const cli_commands[];

extern const cli_command cmd_annotate;
extern const cli_command cmd_archive;
extern const cli_command cmd_boards;
extern const cli_command cmd_budget;
extern const cli_command cmd_causes;
extern const cli_command cmd_cflags;
extern const cli_command cmd_decode;
extern const cli_command cmd_devices;
extern const cli_command cmd_diff;
extern const cli_command cmd_dump;
extern const cli_command cmd_export;
extern const cli_command cmd_man;
extern const cli_command cmd_memory;
extern const cli_command cmd_selftest;
extern const cli_command cmd_ops;
extern const cli_command cmd_ops_compare;
extern const cli_command cmd_ops_summary;
extern const cli_command cmd_pack;
extern const cli_command cmd_ranks;
extern const cli_command cmd_report;
extern const cli_command cmd_run;
extern const cli_command cmd_serve;
extern const cli_command cmd_time;
extern const cli_command cmd_unpack;
extern const cli_command cmd_view;

/* devlog diff with arguments of which folders[i] is temporary: what it prints calls that names[i]. In cmd_diff.c. */
int cli_diff_called(int argc, char **argv, char *const *folders, char *const *names, size_t n);

#endif
