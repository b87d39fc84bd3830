/* devlog: the program. Finds the subcommand in the table and calls it. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static const struct {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"decode", "decode device logs: durations, statistics, artifacts", cmd_decode},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void usage(FILE *out)
{
    fputs("usage: devlog COMMAND [OPTIONS]\n\n", out);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fputs("\n'devlog COMMAND --help' tells more.\n", out);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        usage(stderr);
        return CLI_USAGE;
    }
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0) return commands[i].run(argc - 1, argv + 1);
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        usage(stdout);
        return CLI_OK;
    }
    fprintf(stderr, "devlog: unknown command '%s'; see devlog --help\n", argv[1]);
    return CLI_USAGE;
}
