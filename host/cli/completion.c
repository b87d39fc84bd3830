/* Completion of the command line by shells; see completion.h. What is no option is a file. */
#include "cli/completion.h"

#include <string.h>

#include "cli/cli.h"

/* "ops-summary" is typed as "ops summary": the part behind the dash, for commands that another one calls. */
static const char *below(const cli_command *c, const cli_command *parent)
{
    const size_t n = strlen(parent->name);
    return strncmp(c->name, parent->name, n) == 0 && c->name[n] == '-' ? c->name + n + 1 : NULL;
}

static const cli_command *parent_of(const cli_command *c)
{
    for (size_t i = 0; cli_commands[i]; i++)
        if (below(c, cli_commands[i])) return cli_commands[i];
    return NULL;
}

static bool is_option(const cli_option *o)
{
    return o->kind != CLI_HEADING;
}

/* The words of "text|json|csv", with blanks between. */
static void words(const char *argument, dl_str *out)
{
    for (; *argument; argument++)
        dl_str_char(out, *argument == '|' ? ' ' : *argument);
}

/* ---- bash ----------------------------------------------------------------------------------------------- */

/* A line of the case over "command:option before" for each option that takes a word; files otherwise. */
static void bash_words(const cli_command *c, dl_str *out)
{
    for (const cli_option *o = c->options; o && o->kind != CLI_END; o++) {
        if (!is_option(o) || !o->argument) continue;
        dl_str_fmt(out, "    %s:--%s", c->name, o->name);
        if (o->letter) dl_str_fmt(out, " | %s:-%c", c->name, o->letter);
        dl_str_add(out, ") ");
        if (o->kind == CLI_CHOICE) {
            dl_str_add(out, "COMPREPLY=($(compgen -W '");
            words(o->argument, out);
            dl_str_add(out, "' -- \"$word\")); return ;;\n");
        } else {
            dl_str_add(out, "COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n");
        }
    }
}

void cli_completion_bash(dl_str *out)
{
    dl_str_add(
        out,
        "# Completion of devlog for bash. Written by 'devlog man --completion bash', from the tables of options.\n"
        "_devlog() {\n"
        "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}\n"
        "  COMPREPLY=()\n"
        "  if [ \"$COMP_CWORD\" = 1 ]; then\n"
        "    COMPREPLY=($(compgen -W 'help --help --version");
    for (size_t i = 0; cli_commands[i]; i++)
        if (!parent_of(cli_commands[i])) dl_str_fmt(out, " %s", cli_commands[i]->name);
    dl_str_add(out, "' -- \"$word\"))\n    return\n  fi\n  case $command:${COMP_WORDS[2]} in\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        const cli_command *parent = parent_of(cli_commands[i]);
        if (parent)
            dl_str_fmt(out, "    %s:%s) [ \"$COMP_CWORD\" -le 2 ] || command=%s ;;\n", parent->name,
                       below(cli_commands[i], parent), cli_commands[i]->name);
    }
    dl_str_add(out, "  esac\n  case $command:$before in\n");
    for (size_t i = 0; cli_commands[i]; i++)
        bash_words(cli_commands[i], out);
    dl_str_add(out, "  esac\n  local options=--help\n  case $command in\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        const cli_command *c = cli_commands[i];
        dl_str_fmt(out, "    %s) options+='", c->name);
        for (const cli_option *o = c->options; o && o->kind != CLI_END; o++)
            if (is_option(o)) dl_str_fmt(out, " --%s", o->name);
        dl_str_add(out, "' ;;\n");
    }
    dl_str_add(out, "    help) COMPREPLY=($(compgen -W 'environment");
    for (size_t i = 0; cli_commands[i]; i++)
        dl_str_fmt(out, " %s", cli_commands[i]->name);
    dl_str_add(out, "' -- \"$word\")); return ;;\n  esac\n"
                    "  case $word in\n"
                    "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
                    "    *)\n"
                    "      COMPREPLY=($(compgen -f -- \"$word\"))\n"
                    "      case $command:$COMP_CWORD in\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        const cli_command *parent = parent_of(cli_commands[i]);
        if (parent)
            dl_str_fmt(out, "        %s:2) COMPREPLY+=($(compgen -W %s -- \"$word\")) ;;&\n", parent->name,
                       below(cli_commands[i], parent));
    }
    dl_str_add(out, "      esac ;;\n  esac\n}\ncomplete -o filenames -F _devlog devlog\n");
}

/* ---- zsh ------------------------------------------------------------------------------------------------ */

/* Text inside of '...[...]...:...': what zsh would take for the end of it is left out or escaped. */
static void zsh_text(const char *text, dl_str *out)
{
    for (; *text; text++) {
        if (*text == '\'')
            dl_str_add(out, "'\\''");
        else if (*text == '[' || *text == ']' || *text == ':')
            dl_str_fmt(out, "\\%c", *text);
        else
            dl_str_char(out, *text);
    }
}

static void zsh_option(const cli_option *o, const char *dashes, const char *name, size_t n, dl_str *out)
{
    const bool again = o->kind == CLI_LIST || o->kind == CLI_EACH;
    dl_str_fmt(out, " \\\n        '%s%s%.*s%s[", again ? "*" : "", dashes, (int)n, name,
               !o->argument       ? ""
               : dashes[1] == '-' ? "="
                                  : "+");
    zsh_text(o->help, out);
    dl_str_add(out, "]");
    if (o->argument) {
        dl_str_char(out, ':');
        zsh_text(o->kind == CLI_CHOICE ? "one of" : o->argument, out);
        dl_str_char(out, ':');
        if (o->kind == CLI_CHOICE) {
            dl_str_char(out, '(');
            words(o->argument, out);
            dl_str_char(out, ')');
        } else {
            dl_str_add(out, "_files");
        }
    }
    dl_str_char(out, '\'');
}

void cli_completion_zsh(dl_str *out)
{
    dl_str_add(
        out,
        "#compdef devlog\n"
        "# Completion of devlog for zsh. Written by 'devlog man --completion zsh', from the tables of options.\n"
        "_devlog() {\n  local -a commands\n  commands=(\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        if (parent_of(cli_commands[i])) continue;
        dl_str_fmt(out, "    '%s:", cli_commands[i]->name);
        zsh_text(cli_commands[i]->summary, out);
        dl_str_add(out, "'\n");
    }
    dl_str_add(out, "  )\n"
                    "  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
                    "  local command=$words[2]\n"
                    "  case $command:$words[3] in\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        const cli_command *parent = parent_of(cli_commands[i]);
        if (parent)
            dl_str_fmt(out,
                       "    %s:%s) (( CURRENT > 3 )) && { command=%s; shift words; (( CURRENT-- )) } ;;\n",
                       parent->name, below(cli_commands[i], parent), cli_commands[i]->name);
    }
    dl_str_add(out, "  esac\n  shift words\n  (( CURRENT-- ))\n  case $command in\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        const cli_command *c = cli_commands[i];
        dl_str_fmt(out, "    %s)\n", c->name);
        for (size_t k = 0; cli_commands[k]; k++)
            if (below(cli_commands[k], c))
                dl_str_fmt(out, "      (( CURRENT == 2 )) && compadd %s\n", below(cli_commands[k], c));
        dl_str_add(out, "      _arguments '--help[what it does]'");
        for (const cli_option *o = c->options; o && o->kind != CLI_END; o++) {
            if (!is_option(o)) continue;
            zsh_option(o, "--", o->name, strlen(o->name), out);
            if (o->letter) zsh_option(o, "-", &o->letter, 1, out);
        }
        dl_str_add(out, " \\\n        '*:file:_files' ;;\n");
    }
    dl_str_add(out, "  esac\n}\n_devlog \"$@\"\n");
}
