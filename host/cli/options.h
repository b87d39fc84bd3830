/* Options: one table per subcommand says everything about its command line. From it come the parser,
 * `--help`, the man page (`devlog man COMMAND`) and docs/cli.md, so that none of them can disagree.
 *
 *     typedef struct args { const char *folder; uint64_t port; bool page; cli_list zones; int format; } args;
 *
 *     static const cli_option options[] = {
 *         CLI_TITLE("Output"),
 *         {CLI_STRING, "output", 'o', "FOLDER", "where files go", offsetof(args, folder)},
 *         {CLI_NUMBER, "port", 'p', "PORT", "port; 8050 unless told", offsetof(args, port), 1, 65535},
 *         {CLI_OFF, "no-page", 0, NULL, "do not write device_perf.html", offsetof(args, page)},
 *         {CLI_LIST, "zones", 'z', "NAME,...", "only these zones", offsetof(args, zones)},
 *         {CLI_CHOICE, "format", 0, "text|json|csv", "what to print", offsetof(args, format)},
 *         {0},
 *     };
 *
 *     static int run(int argc, char **argv)
 *     {
 *         args a = {.port = 8050, .page = true};    the defaults
 *         cli_args rest;
 *         int exit_status;
 *         if (!cli_parse(&cmd_serve, argc, argv, &a, &rest, &exit_status)) return exit_status;
 *         ... rest.items[0 .. rest.n) are the arguments ...
 *         cli_args_free(&rest);
 *     }
 *
 *     const cli_command cmd_serve = {.name = "serve", .summary = "...", .arguments = "LOG...",
 *                                    .min_arguments = 1, .max_arguments = CLI_ANY, .options = options,
 *                                    .run = run};
 *
 * Then: declare cmd_serve in cli/cli.h, add &cmd_serve to the table in cli/commands.c, and run `./dev docs`,
 * which writes docs/man/devlog-serve.1 and docs/cli.md anew. `--help` (-h) is in every command by itself.
 *
 * On the command line: --name VALUE, --name=VALUE, -n VALUE, -nVALUE, -ab for flags, -- ends the options;
 * options and arguments may be mixed; "-" alone is an argument. */
#ifndef DEVLOG_CLI_OPTIONS_H
#define DEVLOG_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

typedef enum cli_kind {
    CLI_END,     /* ends the table */
    CLI_HEADING, /* a heading above the options that follow: CLI_TITLE("...") */
    CLI_FLAG,    /* bool: becomes true */
    CLI_OFF,     /* bool: becomes false */
    CLI_STRING,  /* const char *: into argv */
    CLI_NUMBER,  /* uint64_t: decimal, or hexadecimal with 0x; from `low` to `high` when high is not 0 */
    CLI_SIZE,    /* uint64_t: a number of bytes, with K, M or G (1024) behind it if wanted */
    CLI_REAL,    /* double: finite, not negative */
    CLI_LIST,    /* cli_list: values separated by commas; may be given again to add more */
    CLI_EACH,    /* cli_list: the whole value is one item; may be given again */
    CLI_CHOICE,  /* int: which of the words in `argument`, "text|json|csv", counted from 0 */
} cli_kind;

typedef struct cli_option {
    cli_kind kind;
    const char *name;     /* without dashes */
    char letter;          /* 0: none */
    const char *argument; /* "FILE": what follows it; NULL for flags */
    const char *help;     /* a phrase; wrapped where it is shown */
    size_t at;            /* offsetof the value in the command's struct */
    uint64_t low, high;   /* CLI_NUMBER */
} cli_option;

/* clang-format off */
#define CLI_TITLE(text) {.kind = CLI_HEADING, .help = (text)}
/* clang-format on */

/* The values of a CLI_LIST or CLI_EACH; freed with cli_args_free. */
typedef struct cli_list {
    const char **items;
    size_t n;
} cli_list;

enum { CLI_ANY = 1 << 30 };

typedef struct cli_command {
    const char *program; /* "devlog-mpi"; NULL: devlog */
    const char *name;
    const char *summary;   /* one line, no full stop */
    const char *arguments; /* "LOG..."; NULL: none */
    int min_arguments, max_arguments;
    bool temporary; /* makes folders in TMPDIR (cli/tidier.h) */
    bool stops;     /* options end at the first argument: for a command line inside the command line */
    const char *description;   /* paragraphs, an empty line between them; may be NULL */
    const cli_option *options; /* ends with {0}; NULL: none but --help */
    const char *examples;   /* lines: a command, then two spaces or more, then what it is for; may be NULL */
    const char *files;      /* paragraphs for the man page and docs/cli.md only; may be NULL */
    const char *exit_worse; /* what exit status 4 says; NULL: the command has none */
    const char *exit_undecided;        /* what 5 says; NULL: it has none */
    const char *see_also;              /* "devlog-decode(1), devlog-serve(1)"; may be NULL */
    int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns CLI_OK ... of cli.h */
} cli_command;

/* What is left of the command line, and the memory of its lists. */
typedef struct cli_args {
    char **items; /* into argv, which is put in another order */
    int n;
    void **owned;
    size_t n_owned;
} cli_args;

/* Parses argv[1 ..] into `values`, the command's struct, which holds the defaults. True when the command is
 * to go on; then *rest is freed by the caller. Otherwise all is said (the help on stdout, or one line on
 * stderr), and *exit_status is what the command returns. */
bool cli_parse(const cli_command *c, int argc, char **argv, void *values, cli_args *rest, int *exit_status);
void cli_args_free(cli_args *rest);
/* Lets `rest` free the memory (from malloc); returns it, or NULL when it is NULL or cannot be kept. */
void *cli_args_own(cli_args *rest, void *memory);

/* One line on stderr, "devlog decode: ...; see 'devlog decode --help'"; returns CLI_USAGE. For what the table
 * cannot judge, such as options that exclude each other. */
int cli_wrong(const cli_command *c, const char *fmt, ...) DL_PRINTF(2, 3);

/* A folder that is named is meant to be looked into: it must be there. NULL: none is named. */
devlog_status cli_folder_option(const char *option, const char *folder, devlog_error *err);

/* The program whose command it is. */
static inline const char *cli_program(const cli_command *c)
{
    return c->program ? c->program : "devlog";
}

/* The documents. Each ends with a line feed. */
void cli_help(const cli_command *c, dl_str *out); /* what --help prints */
void cli_man(const cli_command *c, dl_str *out);  /* a page for man(1) */
/* devlog(1): which commands there are. */
void cli_overview_man(dl_str *out);
void cli_mpi_overview_man(dl_str *out);               /* of devlog-mpi */
void cli_markdown(const cli_command *c, dl_str *out); /* its section of docs/cli.md */

#endif
