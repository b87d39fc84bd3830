/* Documents made of a command's table: --help, the man page, the section of docs/cli.md. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/cmd_mpi.h"
#include "cli/doc_text.h"
#include "cli/options.h"

enum { COLUMN = 28 };

static const char *const exit_texts[][2] = {
    {"0", "all is well: the result is complete"},
    {"1", "nothing useful was produced; standard error says why"},
    {"2", "the command line is wrong"},
    {"3", "the result is there, but something was lost, names are missing or the run did not end, and the "
          "report says "
          "what"},
};

/* Calls `paragraph` for each; they are separated by empty lines. */
static void paragraphs(dl_str *out, const char *text, void (*paragraph)(dl_str *, const char *, size_t))
{
    while (text && *text) {
        const char *end = strstr(text, "\n\n");
        paragraph(out, text, end ? (size_t)(end - text) : strlen(text));
        text = end ? end + 2 : NULL;
    }
}

static void plain_paragraph(dl_str *out, const char *text, size_t n)
{
    dl_str_char(out, '\n');
    cli_wrap(out, text, n, 0, 0);
}

static void usage(const cli_command *c, dl_str *out)
{
    dl_str_fmt(out, "%s %s [OPTION]...", cli_program(c), c->name);
    if (c->arguments) dl_str_fmt(out, " %s", c->arguments);
}

static void help_option(const cli_option *o, dl_str *out)
{
    size_t from = out->len;
    dl_str_fmt(out, o->letter ? "  -%c, " : "      ", o->letter);
    dl_str_fmt(out, "--%s", o->name);
    if (o->argument) dl_str_fmt(out, " %s", o->argument);
    size_t at = out->len - from;
    if (at + 2 > COLUMN) {
        dl_str_char(out, '\n');
        at = 0;
    }
    cli_spaces(out, COLUMN - at);
    cli_wrap(out, o->help, strlen(o->help), COLUMN, COLUMN);
}

static const cli_option help_itself = {
    .kind = CLI_FLAG, .name = "help", .letter = 'h', .help = "print this text"};

void cli_help(const cli_command *c, dl_str *out)
{
    dl_str_add(out, "usage: ");
    usage(c, out);
    dl_str_fmt(out, "\n\n%s.\n", c->summary);
    paragraphs(out, c->description, plain_paragraph);
    const cli_option *o = c->options;
    if (!o || o->kind != CLI_HEADING) dl_str_add(out, "\nOptions\n");
    for (; o && o->kind != CLI_END; o++) {
        if (o->kind == CLI_HEADING)
            dl_str_fmt(out, "\n%s\n", o->help);
        else
            help_option(o, out);
    }
    help_option(&help_itself, out);
    if (c->examples) dl_str_fmt(out, "\nExamples\n%s", c->examples);
    if (out->len && out->text[out->len - 1] != '\n') dl_str_char(out, '\n');
}

static void man_paragraph(dl_str *out, const char *text, size_t n)
{
    dl_str_add(out, ".PP\n");
    cli_troff(out, text, n);
    dl_str_char(out, '\n');
}

static void man_option(const cli_option *o, dl_str *out)
{
    dl_str_add(out, ".TP\n");
    if (o->letter) dl_str_fmt(out, "\\fB\\-%c\\fR, ", o->letter);
    dl_str_add(out, "\\fB\\-\\-");
    cli_troff_text(out, o->name);
    dl_str_add(out, "\\fR");
    if (o->argument) {
        dl_str_add(out, " \\fI");
        cli_troff_text(out, o->argument);
        dl_str_add(out, "\\fR");
    }
    dl_str_char(out, '\n');
    cli_troff_text(out, o->help);
    dl_str_char(out, '\n');
}

static void man_upper(const char *text, dl_str *out)
{
    for (; *text; text++)
        dl_str_char(out, *text >= 'a' && *text <= 'z' ? (char)(*text - 'a' + 'A') : *text);
}

static void man_title(const cli_command *c, dl_str *out)
{
    dl_str_add(out, ".\\\" Written by 'devlog man', from the table of options; not by hand.\n.TH \"");
    man_upper(cli_program(c), out);
    dl_str_add(out, "\\-");
    man_upper(c->name, out);
    dl_str_add(out, "\" 1 \"\" \"devlog\" \"devlog manual\"\n.SH NAME\n");
    cli_troff_text(out, cli_program(c));
    dl_str_add(out, "\\-");
    cli_troff_text(out, c->name);
    dl_str_add(out, " \\- ");
    cli_troff_text(out, c->summary);
    dl_str_add(out, "\n.SH SYNOPSIS\n\\fB");
    cli_troff_text(out, cli_program(c));
    dl_str_char(out, ' ');
    cli_troff_text(out, c->name);
    dl_str_add(out, "\\fR [\\fIOPTION\\fR]...");
    if (c->arguments) {
        dl_str_add(out, " \\fI");
        cli_troff_text(out, c->arguments);
        dl_str_add(out, "\\fR");
    }
    dl_str_char(out, '\n');
}

void cli_man(const cli_command *c, dl_str *out)
{
    man_title(c, out);
    if (c->description) {
        dl_str_add(out, ".SH DESCRIPTION\n");
        paragraphs(out, c->description, man_paragraph);
    }
    dl_str_add(out, ".SH OPTIONS\n");
    for (const cli_option *o = c->options; o && o->kind != CLI_END; o++) {
        if (o->kind == CLI_HEADING) {
            dl_str_add(out, ".SS ");
            cli_troff_text(out, o->help);
            dl_str_char(out, '\n');
        } else {
            man_option(o, out);
        }
    }
    man_option(&help_itself, out);
    if (c->files) {
        dl_str_add(out, ".SH FILES\n");
        paragraphs(out, c->files, man_paragraph);
    }
    dl_str_add(out, ".SH \"EXIT STATUS\"\n");
    for (size_t i = 0; i < sizeof exit_texts / sizeof exit_texts[0]; i++)
        dl_str_fmt(out, ".TP\n%s\n%s\n", exit_texts[i][0], exit_texts[i][1]);
    if (c->exit_worse) dl_str_fmt(out, ".TP\n%d\n%s\n", CLI_WORSE, c->exit_worse);
    if (c->exit_undecided) dl_str_fmt(out, ".TP\n%d\n%s\n", CLI_UNDECIDED, c->exit_undecided);
    if (c->examples) {
        dl_str_add(out, ".SH EXAMPLES\n.nf\n");
        cli_troff_text(out, c->examples);
        dl_str_add(out, ".fi\n");
    }
    if (c->see_also) {
        dl_str_add(out, ".SH \"SEE ALSO\"\n");
        cli_troff_text(out, c->see_also);
        dl_str_char(out, '\n');
    }
}

static void commands_and_exit(dl_str *out, const char *program, const cli_command *const *commands)
{
    dl_str_add(out, ".SH COMMANDS\n");
    for (size_t i = 0; commands[i]; i++) {
        dl_str_fmt(out, ".TP\n\\fB%s\\-", program);
        cli_troff_text(out, commands[i]->name);
        dl_str_add(out, "\\fR(1)\n");
        cli_troff_text(out, commands[i]->summary);
        dl_str_char(out, '\n');
    }
    dl_str_add(out, ".SH ENVIRONMENT\nSee \\fBdevlog\\-environment\\fR(7).\n.SH \"EXIT STATUS\"\n");
    for (size_t i = 0; i < sizeof exit_texts / sizeof exit_texts[0]; i++)
        dl_str_fmt(out, ".TP\n%s\n%s\n", exit_texts[i][0], exit_texts[i][1]);
}

void cli_overview_man(dl_str *out)
{
    dl_str_add(
        out,
        ".\\\" Written by 'devlog man', from the table of commands; not by hand.\n"
        ".TH DEVLOG 1 \"\" \"devlog\" \"devlog manual\"\n"
        ".SH NAME\ndevlog \\- profiler of device code on many\\-core RISC\\-V accelerators\n"
        ".SH SYNOPSIS\n\\fBdevlog\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n.br\n"
        "\\fBdevlog\\fR \\-\\-help | \\-\\-version\n"
        ".SH DESCRIPTION\n"
        "Reads what markers in device code recorded (profile_log_device.csv of devlog and of tt\\-metal, and captures), "
        "and makes statistics, op reports, timelines and a page of it. Every command tells more with "
        "\\-\\-help, and has a page of its own.\n");
    commands_and_exit(out, "devlog", cli_commands);
    dl_str_add(out, ".PP\nCommands that judge have more; their pages say them.\n");
}

void cli_mpi_overview_man(dl_str *out)
{
    dl_str_add(
        out,
        ".\\\" Written by 'devlog man', from the table of commands; not by hand.\n"
        ".TH DEVLOG\\-MPI 1 \"\" \"devlog\" \"devlog manual\"\n"
        ".SH NAME\ndevlog\\-mpi \\- device logs and reports that are too much for one process, on ranks of Open MPI\n"
        ".SH SYNOPSIS\nmpirun \\-n \\fIRANKS\\fR \\fBdevlog\\-mpi\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... "
        "[\\fIARGUMENT\\fR]...\n.br\n"
        "\\fBdevlog\\-mpi\\fR \\-\\-help | \\-\\-version\n"
        ".SH DESCRIPTION\n"
        "Each command prints and writes what the command of \\fBdevlog\\fR(1) of that name does, to the byte, for every number "
        "of ranks.\n");
    commands_and_exit(out, "devlog\\-mpi", cli_mpi_commands);
    dl_str_add(out, ".SH \"SEE ALSO\"\ndevlog(1), mpirun(1)\n");
}

void cli_markdown(const cli_command *c, dl_str *out)
{
    dl_str_fmt(out, "## %s %s\n\n```text\n", cli_program(c), c->name);
    cli_help(c, out);
    dl_str_add(out, "```\n");
    paragraphs(out, c->files, plain_paragraph);
}
