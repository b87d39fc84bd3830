/* devlog-mpi: what one process is too few for, on ranks of Open MPI. The only program of devlog that is linked with it. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/cmd_mpi.h"
#include "devlog/version.h"
#include "mpi_commands.h"

typedef struct command {
    const cli_command *cli;
    int (*run)(team *r, int argc, char **argv);
} command;

static const command commands[] = {
    {&cmd_mpi_decode, mpi_decode}, {&cmd_mpi_ops, mpi_ops}, {&cmd_mpi_report, mpi_report}};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void usage(FILE *out)
{
    fputs("usage: mpirun -n RANKS devlog-mpi COMMAND [OPTION]... [ARGUMENT]...\n\n", out);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-12s %s\n", commands[i].cli->name, commands[i].cli->summary);
    fputs("\n'devlog-mpi COMMAND --help' tells more, and so does 'man devlog-mpi-COMMAND'.\n", out);
}

static const command *find(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(name, commands[i].cli->name) == 0) return &commands[i];
    return NULL;
}

int main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN); /* see host/cli/main.c */
    /* Large arrays, of which little is touched, never come from the heap, where all of them would be; and go when they are freed. */
    mallopt(M_MMAP_THRESHOLD, 256 * 1024);
    team r = {.n = 1, .what = "devlog-mpi"};
    devlog_error err;
    const command *c = argc > 1 ? find(argv[1]) : NULL;
    const bool help = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    int status = c || help ? CLI_OK : CLI_USAGE;
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts("devlog-mpi " DEVLOG_VERSION);
        return CLI_OK;
    }
    if (team_begin(&r, &argc, &argv, &err) != DEVLOG_OK) {
        fprintf(stderr, "devlog-mpi: %s\n", err.text);
        return CLI_FAILED;
    }
    if (c) {
        char what[64];
        snprintf(what, sizeof what, "devlog-mpi %s", c->cli->name);
        r.what = what;
        status = c->run(&r, argc - 1, argv + 1);
    } else if (r.rank == 0) {
        usage(help ? stdout : stderr);
    }
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "%s: cannot write to standard output%s%s\n", r.what, errno ? ": " : "",
                errno ? strerror(errno) : "");
        if (status == CLI_OK || status == CLI_PARTIAL) status = CLI_FAILED;
    }
    team_end();
    return status;
}
