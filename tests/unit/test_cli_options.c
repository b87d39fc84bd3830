/* Options: every kind, every way to write it, and one clear line for everything that is wrong. */
#include "support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

typedef struct values {
    bool loud, page;
    const char *folder;
    uint64_t port, bytes;
    double seconds;
    cli_list zones, commands;
    int format;
} values;

static const cli_option options[] = {
    CLI_TITLE("Output"),
    {CLI_FLAG, "loud", 'l', NULL, "more words", offsetof(values, loud)},
    {CLI_OFF, "no-page", 'P', NULL, "no page", offsetof(values, page)},
    {CLI_STRING, "output", 'o', "FOLDER", "where files go", offsetof(values, folder)},
    {CLI_NUMBER, "port", 'p', "PORT", "the port", offsetof(values, port), 1, 65535},
    {CLI_SIZE, "buffer", 0, "BYTES", "how much", offsetof(values, bytes)},
    {CLI_REAL, "seconds", 's', "SECONDS", "how long", offsetof(values, seconds)},
    CLI_TITLE("Choice"),
    {CLI_LIST, "zones", 'z', "NAME,...", "zones", offsetof(values, zones)},
    {CLI_EACH, "command", 'c', "COMMAND", "commands", offsetof(values, commands)},
    {CLI_CHOICE, "format", 0, "text|json|csv", "what to print", offsetof(values, format)},
    {0},
};

static int nothing(int argc, char **argv)
{
    (void)argv;
    return argc;
}

static const cli_command command = {.name = "try",
                                    .summary = "Try options",
                                    .arguments = "LOG...",
                                    .min_arguments = 1,
                                    .max_arguments = 2,
                                    .options = options,
                                    .run = nothing};

enum { MAX = 40 };

/* Splits the line at blanks, parses it, and returns what was written to stderr (empty: all is well). */
static const char *parse(const cli_command *c, const char *line, values *v, cli_args *rest, int *status)
{
    static char said[1000], words[1000];
    static char *argv[MAX];
    memset(argv, 0, sizeof argv);
    int argc = 0;
    snprintf(words, sizeof words, "try %s", line);
    for (char *word = strtok(words, " "); word && argc < MAX - 1; word = strtok(NULL, " "))
        argv[argc++] = word;
    *v = (values){.port = 8050, .page = true};
    FILE *file = tmpfile();
    int keep = dup(STDERR_FILENO);
    assert_non_null(file);
    dup2(fileno(file), STDERR_FILENO);
    *status = -1;
    bool on = cli_parse(c, argc, argv, v, rest, status);
    fflush(stderr);
    dup2(keep, STDERR_FILENO);
    close(keep);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
    assert_int_equal(on, said[0] == '\0');
    return said;
}

static void every_kind_in_every_spelling(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "--loud --no-page --output out --port 99 --buffer 64K --seconds 1.5 --zones a,b --zones c --command "
        "x,y "
        "--format csv one two",
        "one -l -P -oout -p99 --buffer=0x10000 -s 1.5 -z a,b -zc -c x,y --format=csv two",
        "one -lPo out --port=99 --buffer 65536 -s1.5 -z a -z b,c -cx,y --format csv -- two",
    };
    for (size_t i = 0; i < 3; i++) {
        values v;
        cli_args rest;
        int status;
        assert_string_equal(parse(&command, lines[i], &v, &rest, &status), "");
        assert_true(v.loud && !v.page);
        assert_string_equal(v.folder, "out");
        assert_int_equal(v.port, 99);
        assert_int_equal(v.bytes, 65536);
        assert_true(v.seconds > 1.49 && v.seconds < 1.51);
        assert_int_equal(v.zones.n, 3);
        assert_string_equal(v.zones.items[0], "a");
        assert_string_equal(v.zones.items[2], "c");
        assert_int_equal(v.commands.n, 1);
        assert_string_equal(v.commands.items[0], "x,y");
        assert_int_equal(v.format, 2);
        assert_int_equal(rest.n, 2);
        assert_string_equal(rest.items[0], "one");
        assert_string_equal(rest.items[1], "two");
        cli_args_free(&rest);
    }
}

static void defaults_stay_and_a_dash_is_an_argument(void **state)
{
    (void)state;
    values v;
    cli_args rest;
    int status;
    assert_string_equal(parse(&command, "- -- --loud", &v, &rest, &status), "");
    assert_int_equal(rest.n, 2);
    assert_string_equal(rest.items[0], "-");
    assert_string_equal(rest.items[1], "--loud");
    assert_true(!v.loud && v.page && v.port == 8050 && !v.folder && v.zones.n == 0);
    cli_args_free(&rest);
    cli_command stops = command;
    stops.stops = true;
    stops.max_arguments = CLI_ANY;
    assert_string_equal(parse(&stops, "-l make -j 2 --loud", &v, &rest, &status), "");
    assert_int_equal(rest.n, 4);
    assert_string_equal(rest.items[3], "--loud");
    assert_true(v.loud);
    cli_args_free(&rest);
}

static void wrong_lines_are_told_in_one_line(void **state)
{
    (void)state;
    static const char *const lines[][2] = {
        {"x --lout", "unknown option '--lout', did you mean --loud?"},
        {"x --form csv", "unknown option '--form', did you mean --format?"},
        {"x --nonsense", "unknown option '--nonsense';"},
        {"x -q", "unknown option '-q'"},
        {"x --loud=1", "--loud takes no value"},
        {"x --output", "--output wants FOLDER"},
        {"x -o", "-o wants FOLDER"},
        {"x --port many", "--port wants a number, not 'many'"},
        {"x --port -1", "--port wants a number, not '-1'"},
        {"x --port 99999999999999999999", "--port wants a number"},
        {"x --port 0", "--port is from 1 to 65535, not 0"},
        {"x --port 65536", "--port is from 1 to 65535, not 65536"},
        {"x --buffer 12Q", "--buffer wants a number of bytes"},
        {"x --buffer 99999999999999G", "--buffer wants a number of bytes"},
        {"x --seconds nan", "--seconds wants a number"},
        {"x --seconds -1", "--seconds wants a number"},
        {"x --zones a,,b", "--zones has an empty item"},
        {"x --format xml", "--format is one of text|json|csv, not 'xml'"},
        {"", "LOG... is missing"},
        {"a b c", "'c' is one argument too many"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        values v;
        cli_args rest;
        int status;
        const char *said = parse(&command, lines[i][0], &v, &rest, &status);
        if (!strstr(said, lines[i][1])) fail_msg("'%s' says '%s'", lines[i][0], said);
        assert_int_equal(status, CLI_USAGE);
        assert_memory_equal(said, "devlog try: ", 12);
        assert_non_null(strstr(said, "; see 'devlog try --help'\n"));
        assert_ptr_equal(strchr(said, '\n'), strrchr(said, '\n'));
    }
}

/* Of every command: names and letters stand for one option each, everything has a help text, no text ends in
 * a full stop. */
static void tables_are_sound(void **state)
{
    (void)state;
    for (size_t i = 0; cli_commands[i]; i++) {
        const cli_command *c = cli_commands[i];
        if (i) assert_true(strcmp(cli_commands[i - 1]->name, c->name) < 0);
        assert_non_null(c->run);
        assert_true(c->summary[0] >= 'A' && c->summary[0] <= 'Z');
        assert_int_not_equal(c->summary[strlen(c->summary) - 1], '.');
        if (c->min_arguments) assert_non_null(c->arguments);
        if (c->examples) assert_int_equal(c->examples[strlen(c->examples) - 1], '\n');
        for (const cli_option *o = c->options; o && o->kind != CLI_END; o++) {
            assert_non_null(o->help);
            if (o->kind == CLI_HEADING) continue;
            assert_non_null(o->name);
            assert_int_equal(o->argument != NULL, o->kind != CLI_FLAG && o->kind != CLI_OFF);
            if (o->help[strlen(o->help) - 1] == '.') fail_msg("%s --%s: full stop", c->name, o->name);
            assert_true(o->letter != 'h' && strcmp(o->name, "help") != 0);
            for (const cli_option *p = c->options; p < o; p++) {
                if (p->kind == CLI_HEADING) continue;
                if (strcmp(p->name, o->name) == 0) fail_msg("%s: --%s twice", c->name, o->name);
                if (o->letter && p->letter == o->letter) fail_msg("%s: -%c twice", c->name, o->letter);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_in_every_spelling),
        cmocka_unit_test(defaults_stay_and_a_dash_is_an_argument),
        cmocka_unit_test(wrong_lines_are_told_in_one_line),
        cmocka_unit_test(tables_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
