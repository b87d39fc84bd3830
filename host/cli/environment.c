/* The environment's variables as documents. */
#include "cli/environment.h"

#include <string.h>

#include "base/settings.h"
#include "cli/doc_text.h"

enum { COLUMN = 28 };

static const char intro[] = "Variables that devlog and programs with its host API read. One that is empty is "
                            "not set. A value that cannot be read "
                            "is an error, and the line says what is allowed; an option, or a member of the "
                            "API's structs, goes before its variable.";
static const char without_effect[] = "Of tt-metal, without effect here";
static const char without_effect_intro[] =
    "When one of these is set, and is not 0, standard error says so once when a device is opened.";
static const char of_tests[] = "Of devlog's tests and benches";

/* "NAME=a|b" or "NAME=FOLDER". */
static void usage(const dl_setting_info *i, dl_str *out)
{
    dl_str_fmt(out, "%s=%s", i->name, i->values);
}

/* ---- Plain text -------------------------------------------------------------------------------------- */

static void entry(dl_str *out, const char *name, const char *what)
{
    dl_str_fmt(out, "  %s", name);
    size_t at = strlen(name) + 2;
    if (at + 2 > COLUMN) {
        dl_str_char(out, '\n');
        at = 0;
    }
    cli_spaces(out, COLUMN - at);
    cli_wrap(out, what, strlen(what), COLUMN, COLUMN);
}

void cli_environment_text(dl_str *out)
{
    dl_str line = {0}, text = {0};
    cli_wrap(out, intro, strlen(intro), 0, 0);
    for (int s = 1; s < DL_SETTINGS; s++) {
        const dl_setting_info *i = dl_setting_of((dl_setting)s);
        if (i->title) dl_str_fmt(out, "\n%s\n", i->title);
        dl_str_clear(&line);
        dl_str_clear(&text);
        usage(i, &line);
        dl_str_fmt(&text, "%s; unless set: %s (%s)", i->what, i->unset, i->reader);
        if (!line.failed && !text.failed) entry(out, line.text, text.text);
    }
    dl_str_fmt(out, "\n%s\n", without_effect);
    for (const dl_setting_other *o = dl_settings_without_effect; o->name; o++)
        entry(out, o->name, o->what);
    if (line.failed || text.failed) out->failed = true;
    dl_str_free(&line);
    dl_str_free(&text);
}

/* ---- man(1) ------------------------------------------------------------------------------------------ */

static void man_entry(dl_str *out, const char *name, const char *values, const char *what)
{
    dl_str_add(out, ".TP\n\\fB");
    cli_troff_text(out, name);
    dl_str_add(out, "\\fR");
    if (values) {
        dl_str_add(out, "=\\fI");
        cli_troff_text(out, values);
        dl_str_add(out, "\\fR");
    }
    dl_str_char(out, '\n');
    cli_troff_text(out, what);
    dl_str_char(out, '\n');
}

void cli_environment_man(dl_str *out)
{
    dl_str_add(out, ".\\\" Written by 'devlog man', from the table of settings; not by hand.\n"
                    ".TH \"DEVLOG\\-ENVIRONMENT\" 7 \"\" \"devlog\" \"devlog manual\"\n"
                    ".SH NAME\ndevlog\\-environment \\- variables of the environment that devlog reads\n"
                    ".SH DESCRIPTION\n");
    cli_troff_text(out, intro);
    dl_str_char(out, '\n');
    for (int s = 1; s < DL_SETTINGS; s++) {
        const dl_setting_info *i = dl_setting_of((dl_setting)s);
        if (i->title) dl_str_fmt(out, ".SS %s\n", i->title);
        man_entry(out, i->name, i->values, i->what);
        dl_str_add(out, "Unless set: ");
        cli_troff_text(out, i->unset);
        dl_str_add(out, ". Read by ");
        cli_troff_text(out, i->reader);
        dl_str_add(out, ".\n");
    }
    dl_str_fmt(out, ".SS \"%s\"\n", without_effect);
    cli_troff_text(out, without_effect_intro);
    dl_str_char(out, '\n');
    for (const dl_setting_other *o = dl_settings_without_effect; o->name; o++)
        man_entry(out, o->name, NULL, o->what);
    dl_str_add(out, ".SH \"SEE ALSO\"\ndevlog\\-run(1), devlog\\-decode(1), devlog\\-dump(1)\n");
}

/* ---- Markdown ---------------------------------------------------------------------------------------- */

/* A cell: bars would end it. */
static void cell(dl_str *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|') dl_str_char(out, '\\');
        dl_str_char(out, *text);
    }
}

static void others(dl_str *out, const dl_setting_other *o)
{
    for (; o->name; o++) {
        dl_str_fmt(out, "| `%s` | ", o->name);
        cell(out, o->what);
        dl_str_add(out, " |\n");
    }
}

void cli_environment_markdown(dl_str *out)
{
    for (int s = 1; s < DL_SETTINGS; s++) {
        const dl_setting_info *i = dl_setting_of((dl_setting)s);
        if (i->title)
            dl_str_fmt(out,
                       "%s## %s\n\n| variable | what it says | unless set | read by |\n|---|---|---|---|\n",
                       s > 1 ? "\n" : "", i->title);
        dl_str_fmt(out, "| `%s=", i->name);
        cell(out, i->values);
        dl_str_add(out, "` | ");
        cell(out, i->what);
        dl_str_add(out, " | ");
        cell(out, i->unset);
        dl_str_add(out, " | ");
        cell(out, i->reader);
        dl_str_add(out, " |\n");
    }
    dl_str_fmt(out, "\n## %s\n\n%s\n\n| variable | here |\n|---|---|\n", without_effect,
               without_effect_intro);
    others(out, dl_settings_without_effect);
    dl_str_fmt(out, "\n## %s\n\n| variable | what it says |\n|---|---|\n", of_tests);
    others(out, dl_settings_of_tests);
}
