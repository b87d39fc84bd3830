/* devlog-mpi: what one process is too few for, on ranks of Open MPI. The only program of devlog that is linked with it. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
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

/* When a rank dies, mpirun ends rank 0 wherever it is, and half of a table looks like a whole one. So what rank 0 prints is held in
 * memory until all ranks have ended MPI. Returns the standard output of before; -1 with errno: nothing is held. */
static int hold_output(void)
{
    const int memory = memfd_create("devlog-mpi output", MFD_CLOEXEC);
    int out = memory < 0 ? -1 : dup(STDOUT_FILENO);
    if (out >= 0 && dup2(memory, STDOUT_FILENO) < 0) {
        close(out);
        out = -1;
    }
    if (memory >= 0) close(memory);
    return out;
}

/* Prints what is held. false with errno: not all of it. */
static bool print_held(int out)
{
    char piece[65536];
    int errnum = 0;
    ssize_t n = lseek(STDOUT_FILENO, 0, SEEK_SET);
    while (n >= 0 && !errnum && (n = read(STDOUT_FILENO, piece, sizeof piece)) > 0)
        errnum = dl_write_all(out, piece, (size_t)n);
    if (errnum) errno = errnum;
    return n == 0 && !errnum;
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
    const bool holds = r.n > 1 && r.rank == 0;
    const int out = holds ? hold_output() : -1;
    if (holds && out < 0) team_die(&r, "no memory for what it prints");
    char what[64];
    if (c) {
        snprintf(what, sizeof what, "devlog-mpi %s", c->cli->name);
        r.what = what;
        status = c->run(&r, argc - 1, argv + 1);
    } else if (r.rank == 0) {
        usage(help ? stdout : stderr);
    }
    errno = 0;
    bool printed = fflush(stdout) == 0 && !ferror(stdout);
    const int why = errno;
    team_end();
    errno = why;
    if (printed && holds) printed = print_held(out);
    if (!printed) {
        fprintf(stderr, "%s: cannot write to standard output%s%s\n", r.what, errno ? ": " : "",
                errno ? strerror(errno) : "");
        if (status == CLI_OK || status == CLI_PARTIAL) status = CLI_FAILED;
    }
    return status;
}
