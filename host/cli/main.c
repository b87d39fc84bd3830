/* devlog: the program. Finds the subcommand in the table (commands.c) and calls it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "devlog/version.h"

static void usage(FILE *out)
{
    fputs("usage: devlog COMMAND [OPTION]... [ARGUMENT]...\n\n", out);
    for (size_t i = 0; cli_commands[i]; i++)
        fprintf(out, "  %-12s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    fputs("\n'devlog COMMAND --help' tells more, and so does 'man devlog-COMMAND'.\n", out);
}

static const cli_command *find(const char *name)
{
    for (size_t i = 0; cli_commands[i]; i++)
        if (strcmp(name, cli_commands[i]->name) == 0) return cli_commands[i];
    return NULL;
}

int main(int argc, char **argv)
{
    /* A file that may not grow is an error to be told, with the file's name, not a silent end. */
    signal(SIGXFSZ, SIG_IGN);
    if (argc < 2) {
        usage(stderr);
        return CLI_USAGE;
    }
    const cli_command *command = find(argv[1]);
    if (command) return command->run(argc - 1, argv + 1);
    bool help = strcmp(argv[1], "help") == 0;
    if (help && argc > 2 && (command = find(argv[2])) != NULL) {
        char *asks[] = {argv[2], (char[]){"--help"}, NULL};
        return command->run(2, asks);
    }
    if (help || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        usage(stdout);
        return CLI_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("devlog " DEVLOG_VERSION);
        return CLI_OK;
    }
    fprintf(stderr, "devlog: unknown command '%s'; see 'devlog --help'\n", argv[1]);
    return CLI_USAGE;
}
