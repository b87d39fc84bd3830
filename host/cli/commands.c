/* The subcommands. A new one: declare it in cli.h, add its line here, and run ./dev docs. */
#include "cli/cli.h"

/* By name, one on a line. */
/* clang-format off */
const cli_command *const cli_commands[] = {
    &cmd_annotate,
    &cmd_archive,
    &cmd_boards,
    &cmd_budget,
    &cmd_causes,
    &cmd_cflags,
    &cmd_decode,
    &cmd_devices,
    &cmd_diff,
    &cmd_dump,
    &cmd_export,
    &cmd_man,
    &cmd_memory,
    &cmd_ops,
    &cmd_ops_compare,
    &cmd_ops_summary,
    &cmd_pack,
    &cmd_ranks,
    &cmd_report,
    &cmd_run,
    &cmd_selftest,
    &cmd_serve,
    &cmd_time,
    &cmd_unpack,
    &cmd_view,
    NULL,
};
/* clang-format on */
