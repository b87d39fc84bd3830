/* devlog man: the man pages, and the part of docs/cli.md that is made of the tables of options. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/cmd_mpi.h"
#include "cli/completion.h"
#include "cli/environment.h"

typedef struct man_args {
    bool list, markdown;
    int completion;
} man_args;

static const cli_option options[] = {
    {CLI_FLAG, "list", 0, NULL, "print the names of all commands instead", offsetof(man_args, list)},
    {CLI_FLAG, "markdown", 0, NULL,
     "print all commands as Markdown instead, as in docs/cli.md; with environment, those of "
     "docs/environment.md",
     offsetof(man_args, markdown)},
    {CLI_CHOICE, "completion", 0, "bash|zsh", "print what completes the command line in that shell instead",
     offsetof(man_args, completion)},
    {0},
};

static int one_page(const char *name, dl_str *out)
{
    if (strcmp(name, "devlog") == 0) {
        cli_overview_man(out);
        return CLI_OK;
    }
    if (strcmp(name, "mpi") == 0) {
        cli_mpi_overview_man(out);
        return CLI_OK;
    }
    if (strcmp(name, "environment") == 0) {
        cli_environment_man(out);
        return CLI_OK;
    }
    for (size_t i = 0; cli_commands[i]; i++) {
        if (strcmp(cli_commands[i]->name, name) != 0) continue;
        cli_man(cli_commands[i], out);
        return CLI_OK;
    }
    const char *mpi = "mpi-";
    for (size_t i = 0; cli_mpi_commands[i] && strncmp(name, mpi, strlen(mpi)) == 0; i++) {
        if (strcmp(cli_mpi_commands[i]->name, name + strlen(mpi)) != 0) continue;
        cli_man(cli_mpi_commands[i], out);
        return CLI_OK;
    }
    return cli_wrong(&cmd_man, "there is no command '%s'", name);
}

static int run(int argc, char **argv)
{
    man_args a = {.completion = -1};
    cli_args rest;
    dl_str out = {0};
    int status;
    if (!cli_parse(&cmd_man, argc, argv, &a, &rest, &status)) return status;
    status = CLI_OK;
    if (a.completion >= 0) {
        (a.completion ? cli_completion_zsh : cli_completion_bash)(&out);
    } else if (a.markdown && rest.n && strcmp(rest.items[0], "environment") == 0) {
        cli_environment_markdown(&out);
    } else if (a.list || a.markdown) {
        for (size_t i = 0; cli_commands[i]; i++) {
            if (a.list) dl_str_fmt(&out, "%s\n", cli_commands[i]->name);
            if (a.markdown && i) dl_str_char(&out, '\n');
            if (a.markdown) cli_markdown(cli_commands[i], &out);
        }
        for (size_t i = 0; cli_mpi_commands[i]; i++) {
            if (a.markdown) dl_str_char(&out, '\n');
            if (a.markdown) cli_markdown(cli_mpi_commands[i], &out);
        }
    } else if (rest.n == 0) {
        status = cli_wrong(&cmd_man, "which command?");
    } else {
        status = one_page(rest.items[0], &out);
    }
    if (status == CLI_OK) {
        devlog_error err;
        if (dl_print(&out, &err)) {
            fprintf(stderr, "devlog man: %s\n", err.text);
            status = CLI_FAILED;
        }
    }
    dl_str_free(&out);
    cli_args_free(&rest);
    return status;
}

const cli_command cmd_man = {
    .name = "man",
    .summary = "Print the man page of a command, or of the environment's variables",
    .arguments = "COMMAND|devlog|mpi|environment",
    .max_arguments = 1,
    .description =
        "Prints the page in the form that man(1) reads, made of the same table of options as --help.",
    .options = options,
    .examples =
        "  devlog man decode | man -l -    read a page that is not installed\n"
        "  devlog man --completion bash >~/.local/share/bash-completion/completions/devlog    complete the command line\n",
    .run = run,
};
