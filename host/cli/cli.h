/* The command line: one file per subcommand, one table of them in main.c. */
#ifndef DEVLOG_CLI_CLI_H
#define DEVLOG_CLI_CLI_H

/* What a subcommand's exit status means. */
enum {
    CLI_OK = 0,
    CLI_FAILED = 1,  /* nothing useful was produced; stderr says why */
    CLI_USAGE = 2,   /* the command line is wrong */
    CLI_PARTIAL = 3, /* the result is there, but something was lost; the report says what */
};

int cmd_decode(int argc, char **argv);

#endif
