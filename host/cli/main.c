/* devlog: the program. Finds the subcommand in the table (commands.c) and calls it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/tidier.h"
#include "cli/version.h"

static void usage(FILE *out)
{
    fputs("usage: devlog COMMAND [OPTION]... [ARGUMENT]...\n\n", out);
    for (size_t i = 0; cli_commands[i]; i++)
        fprintf(out, "  %-12s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    fputs("\n'devlog COMMAND --help' tells more, and so does 'man devlog-COMMAND'; 'devlog help environment' "
          "lists the\n"
          "variables of the environment.\n",
          out);
}

static const cli_command *find(const char *name)
{
    for (size_t i = 0; cli_commands[i]; i++)
        if (strcmp(name, cli_commands[i]->name) == 0) return cli_commands[i];
    return NULL;
}

static int help_environment(void)
{
    dl_str out = {0};
    cli_environment_text(&out);
    devlog_error err = {0};
    devlog_status status = dl_print(&out, &err);
    if (status) fprintf(stderr, "devlog help: %s\n", err.text);
    dl_str_free(&out);
    return status ? CLI_FAILED : CLI_OK;
}

static int run_command(const cli_command *command, int argc, char **argv)
{
    cli_temporary temporary;
    if (!command->temporary) return command->run(argc, argv);
    cli_temporary_begin(&temporary);
    const int status = command->run(argc, argv);
    cli_temporary_end(&temporary);
    return status;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        usage(stderr);
        return CLI_USAGE;
    }
    const cli_command *command = find(argv[1]);
    if (command) return run_command(command, argc - 1, argv + 1);
    bool help = strcmp(argv[1], "help") == 0;
    if (help && argc > 2 && (command = find(argv[2])) != NULL) {
        char *asks[] = {argv[2], (char[]){"--help"}, NULL};
        return command->run(2, asks);
    }
    if (help && argc > 2 && strcmp(argv[2], "environment") == 0) return help_environment();
    if (help && argc > 2) {
        dl_shown_line_in_place(argv[2]);
        fprintf(stderr, "devlog: unknown command '%s'; see 'devlog --help'\n", argv[2]);
        return CLI_USAGE;
    }
    if (help || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        usage(stdout);
        return CLI_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        cli_version();
        return CLI_OK;
    }
    dl_shown_line_in_place(argv[1]);
    fprintf(stderr, "devlog: unknown command '%s'; see 'devlog --help'\n", argv[1]);
    return CLI_USAGE;
}

int main(int argc, char **argv)
{
    /* A file that may not grow is an error to be told, with the file's name, not a silent end. */
    signal(SIGXFSZ, SIG_IGN);
    /* Who starts a program may have it ignore the end of children: how a command or a compiler ended would not be known. */
    signal(SIGCHLD, SIG_DFL);
    const int status = run(argc, argv);
    /* What was printed by stdio, too: a line that nobody could read is no success. */
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    fprintf(stderr, "devlog: cannot write to standard output%s%s\n", errno ? ": " : "",
            errno ? strerror(errno) : "");
    return status == CLI_OK || status == CLI_PARTIAL ? CLI_FAILED : status;
}
