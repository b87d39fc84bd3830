/* --help, the man pages and docs/cli.md are of the tables of options; `./dev docs` writes them. The program's
 * own answers are compared too, so that what a user sees is what is checked. */
#include "support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/process.h"
#include "base/settings.h"
#include "cli/cli.h"
#include "cli/cmd_mpi.h"

static dl_str read_file(const char *name)
{
    char path[600];
    devlog_error err = {0};
    dl_str text = {0};
    snprintf(path, sizeof path, "%s/%s", dl_home(), name);
    if (dl_file_read(path, 1 << 20, &text, &err)) fail_msg("%s; run ./dev docs", err.text);
    return text;
}

static char *ask(const char *a, const char *b)
{
    devlog_error err = {0};
    dl_output out;
    const char *argv[] = {getenv("DEVLOG_BIN"), a, b, NULL};
    assert_non_null(argv[0]);
    assert_int_equal(dl_process_run(argv, &out, &err), DEVLOG_OK);
    assert_int_equal(out.exit, 0);
    return out.text;
}

static void page_is_of_the_table(const char *page)
{
    char name[128];
    snprintf(name, sizeof name, "docs/man/devlog-%s.1", page);
    dl_str file = read_file(name);
    char *asked = ask("man", page);
    if (strcmp(asked, file.text) != 0) fail_msg("%s is not what 'devlog man' prints: run ./dev docs", name);
    free(asked);
    dl_str_free(&file);
}

static void man_pages_are_of_the_tables(void **state)
{
    (void)state;
    for (size_t i = 0; cli_commands[i]; i++)
        page_is_of_the_table(cli_commands[i]->name);
    page_is_of_the_table("mpi");
    for (size_t i = 0; cli_mpi_commands[i]; i++) {
        char page[64];
        snprintf(page, sizeof page, "mpi-%s", cli_mpi_commands[i]->name);
        page_is_of_the_table(page);
    }
    dl_str file = read_file("docs/man/devlog.1");
    char *asked = ask("man", "devlog");
    assert_string_equal(asked, file.text);
    free(asked);
    dl_str_free(&file);
}

static void the_manual_has_every_help_text(void **state)
{
    (void)state;
    dl_str manual = read_file("docs/cli.md");
    for (size_t i = 0; cli_commands[i]; i++) {
        char *asked = ask(cli_commands[i]->name, "--help");
        if (!strstr(manual.text, asked))
            fail_msg("docs/cli.md has not what 'devlog %s --help' prints: run ./dev docs",
                     cli_commands[i]->name);
        free(asked);
    }
    char *generated = ask("man", "--markdown");
    assert_non_null(strstr(manual.text, generated));
    free(generated);
    dl_str_free(&manual);
}

/* Who has typed -f json once types it everywhere. */
static void format_has_its_letter(void **state)
{
    (void)state;
    size_t n = 0;
    for (size_t i = 0; cli_commands[i]; i++)
        for (const cli_option *o = cli_commands[i]->options; o && (o->name || o->help); o++) {
            if (!o->name || strcmp(o->name, "format") != 0) continue;
            if (o->letter != 'f') fail_msg("devlog %s has no -f for --format", cli_commands[i]->name);
            n++;
        }
    assert_true(n > 15);
}

/* The environment's variables: the page, the document, and what the program says. */
static void the_environment_is_of_its_table(void **state)
{
    (void)state;
    dl_str page = read_file("docs/man/devlog-environment.7"), manual = read_file("docs/environment.md");
    char *man = ask("man", "environment"), *text = ask("help", "environment");
    devlog_error err = {0};
    dl_output out;
    const char *argv[] = {getenv("DEVLOG_BIN"), "man", "--markdown", "environment", NULL};
    assert_int_equal(dl_process_run(argv, &out, &err), DEVLOG_OK);
    if (strcmp(man, page.text) != 0) fail_msg("docs/man/devlog-environment.7: run ./dev docs");
    if (!strstr(manual.text, out.text)) fail_msg("docs/environment.md: run ./dev docs");
    for (int s = 1; s < DL_SETTINGS; s++) {
        const char *name = dl_setting_of((dl_setting)s)->name;
        if (!strstr(text, name) || !strstr(man, name) || !strstr(out.text, name))
            fail_msg("%s is not shown", name);
    }
    free(out.text);
    free(man);
    free(text);
    dl_str_free(&page);
    dl_str_free(&manual);
}

/* A reader of man pages finds every option in the page. */
static void man_shows_every_option(void **state)
{
    (void)state;
    devlog_error err = {0};
    dl_output out;
    const char *which[] = {"man", "--version", NULL};
    if (dl_process_run(which, &out, &err)) {
        print_message("skipped: there is no man(1)\n");
        skip();
    }
    free(out.text);
    for (size_t i = 0; cli_commands[i]; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/docs/man/devlog-%s.1", dl_home(), cli_commands[i]->name);
        setenv("MANWIDTH", "200", 1);
        setenv("MAN_KEEP_FORMATTING", "", 1);
        const char *argv[] = {"man", "-E", "ascii", "--warnings=w", "-l", path, NULL};
        assert_int_equal(dl_process_run(argv, &out, &err), DEVLOG_OK);
        if (out.exit != 0) fail_msg("man -l %s: %s", path, out.text);
        for (const cli_option *o = cli_commands[i]->options; o && o->kind != CLI_END; o++) {
            char option[80];
            if (o->kind == CLI_HEADING) continue;
            snprintf(option, sizeof option, "--%s", o->name);
            if (!strstr(out.text, option)) fail_msg("%s: no %s in %s", path, option, out.text);
        }
        if (strstr(out.text, "warning")) fail_msg("%s: %s", path, out.text);
        free(out.text);
    }
}

static void must_run(const char *const *argv)
{
    devlog_error err = {0};
    dl_output out;
    if (dl_process_run(argv, &out, &err)) fail_msg("%s", err.text);
    if (out.exit) fail_msg("%s: %s", argv[0], out.text);
    free(out.text);
}

/* After an installation man(1) finds the pages, and the program its boards and firmware beside itself. */
static void an_installation_is_whole(void **state)
{
    (void)state;
    static const char *const files[] = {"share/man/man1/devlog-decode.1",
                                        "share/man/man7/devlog-environment.7",
                                        "include/devlog/profile.h",
                                        "share/devlog/boards/wormhole_b0.json",
                                        "share/devlog/firmware/crt0.S",
                                        "share/devlog/linker/kernel.ld",
                                        "share/devlog/include/devlog/kernel.h"};
    char build[600], prefix[] = "/tmp/devlog-install-XXXXXX", path[700];
    assert_non_null(mkdtemp(prefix));
    snprintf(build, sizeof build, "%s", getenv("DEVLOG_BIN"));
    for (int up = 0; up < 2; up++)
        *strrchr(build, '/') = '\0';
    must_run((const char *[]){"cmake", "--install", build, "--prefix", prefix, NULL});
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", prefix, files[i]);
        if (access(path, R_OK) != 0) fail_msg("%s is not installed", files[i]);
    }
    snprintf(path, sizeof path, "%s/bin/devlog", prefix);
    must_run((const char *[]){path, "--version", NULL});
    must_run((const char *[]){"rm", "-r", prefix, NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(man_pages_are_of_the_tables),     cmocka_unit_test(the_manual_has_every_help_text),
        cmocka_unit_test(the_environment_is_of_its_table), cmocka_unit_test(man_shows_every_option),
        cmocka_unit_test(an_installation_is_whole),        cmocka_unit_test(format_has_its_letter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
