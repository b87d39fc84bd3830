/* Options: the parser over a command's table. The documents made of the table are in options_doc.c. */
#include "cli/options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/log_names.h"

typedef struct parse {
    const cli_command *command;
    char *values;
    cli_args *rest;
    bool failed, helped;
} parse;

static int vwrong(const cli_command *c, const char *fmt, va_list args)
{
    char *text = NULL; /* it may quote what was typed, or pasted */
    if (vasprintf(&text, fmt, args) < 0) text = NULL;
    if (text) dl_shown_line_in_place(text);
    fprintf(stderr, "%s %s: %s; see '%s %s --help'\n", cli_program(c), c->name, text ? text : "out of memory",
            cli_program(c), c->name);
    free(text);
    return CLI_USAGE;
}

int cli_wrong(const cli_command *c, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int status = vwrong(c, fmt, args);
    va_end(args);
    return status;
}

static void wrong(parse *p, const char *fmt, ...) DL_PRINTF(2, 3);
static void wrong(parse *p, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vwrong(p->command, fmt, args);
    va_end(args);
    p->failed = true;
}

static bool is_option(const cli_option *o)
{
    return o->kind != CLI_HEADING;
}

static bool takes_value(const cli_option *o)
{
    return o->kind != CLI_FLAG && o->kind != CLI_OFF;
}

static const cli_option *by_name(const cli_command *c, const char *name, size_t n)
{
    for (const cli_option *o = c->options; o && o->kind != CLI_END; o++)
        if (is_option(o) && strlen(o->name) == n && memcmp(o->name, name, n) == 0) return o;
    return NULL;
}

static const cli_option *by_letter(const cli_command *c, char letter)
{
    for (const cli_option *o = c->options; o && o->kind != CLI_END; o++)
        if (is_option(o) && o->letter == letter) return o;
    return NULL;
}

/* How many letters differ, insertions included; for "did you mean". */
static size_t distance(const char *a, size_t na, const char *b)
{
    size_t row[64], nb = strlen(b);
    if (nb >= 64) return 64;
    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t change = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            size_t best = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            row[j] = best < change ? best : change;
        }
    }
    return row[nb];
}

static void unknown(parse *p, const char *name, size_t n)
{
    const cli_option *near = NULL;
    size_t best = 3;
    for (const cli_option *o = p->command->options; o && o->kind != CLI_END; o++) {
        if (!is_option(o)) continue;
        bool begins = n >= 2 && strncmp(o->name, name, n) == 0;
        size_t d = begins ? 0 : distance(name, n, o->name);
        if (d >= best) continue;
        near = o;
        best = d;
    }
    if (near)
        wrong(p, "unknown option '--%.*s', did you mean --%s?", (int)n, name, near->name);
    else
        wrong(p, "unknown option '--%.*s'", (int)n, name);
}

void *cli_args_own(cli_args *rest, void *memory)
{
    void **owned = memory ? realloc(rest->owned, (rest->n_owned + 1) * sizeof *owned) : NULL;
    if (!owned) {
        free(memory);
        return NULL;
    }
    rest->owned = owned;
    owned[rest->n_owned++] = memory;
    return memory;
}

static void add_items(parse *p, const cli_option *o, char *value)
{
    cli_list *list = (cli_list *)(void *)(p->values + o->at);
    size_t more = 1;
    for (const char *c = value; o->kind == CLI_LIST && *c; c++)
        more += *c == ',';
    const char **items = cli_args_own(p->rest, malloc((list->n + more) * sizeof *items));
    if (!items) {
        wrong(p, "out of memory");
        return;
    }
    if (list->n) memcpy(items, list->items, list->n * sizeof *items);
    list->items = items;
    while (value) {
        char *comma = o->kind == CLI_LIST ? strchr(value, ',') : NULL;
        if (comma) *comma = '\0';
        if (*value == '\0') wrong(p, "--%s has an empty item", o->name);
        list->items[list->n++] = value;
        value = comma ? comma + 1 : NULL;
    }
}

/* The number at the front of `text`; *rest is what follows it. False when there is none, or it is too big. */
static bool read_u64(const char *text, uint64_t *value, const char **rest)
{
    char *end;
    int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
    if (text[0] < '0' || text[0] > '9') return false;
    errno = 0;
    *value = strtoull(text, &end, base);
    *rest = end;
    return errno == 0;
}

static void read_number(parse *p, const cli_option *o, const char *text, uint64_t *value)
{
    const char *rest;
    if (!read_u64(text, value, &rest) || *rest)
        wrong(p, "--%s wants a number, not '%s'", o->name, text);
    else if (o->high && (*value < o->low || *value > o->high))
        wrong(p, "--%s is from %llu to %llu, not %s", o->name, (unsigned long long)o->low,
              (unsigned long long)o->high, text);
}

static void read_size(parse *p, const cli_option *o, const char *text, uint64_t *value)
{
    const char *rest;
    static const char units[] = "KMG";
    bool good = read_u64(text, value, &rest);
    const char *unit = good && *rest ? strchr(units, *rest) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (!good || (*rest && (!unit || rest[1])) || *value > UINT64_MAX >> shift)
        wrong(p, "--%s wants a number of bytes such as 4096, 64K or 2M, not '%s'", o->name, text);
    else
        *value <<= shift;
}

static void read_real(parse *p, const cli_option *o, const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    if (end == text || *end || !isfinite(*value) || *value < 0)
        wrong(p, "--%s wants a number, not '%s'", o->name, text);
}

static void read_choice(parse *p, const cli_option *o, const char *text, int *value)
{
    size_t n = strlen(text);
    int i = 0;
    for (const char *word = o->argument; word; i++) {
        const char *bar = strchr(word, '|');
        size_t len = bar ? (size_t)(bar - word) : strlen(word);
        if (len == n && memcmp(word, text, n) == 0) {
            *value = i;
            return;
        }
        word = bar ? bar + 1 : NULL;
    }
    wrong(p, "--%s is one of %s, not '%s'", o->name, o->argument, text);
}

/* An empty name of a file or folder is a variable of a shell that was not set: it would be the current folder, the root
 * of the disk, or a file that is gone afterwards. */
static bool names_a_place(const cli_option *o)
{
    static const char *const places[] = {"FILE", "FOLDER", "PATH"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (o->kind == CLI_STRING && strstr(o->argument, places[i])) return true;
    return false;
}

static void set(parse *p, const cli_option *o, char *value)
{
    void *to = p->values + o->at;
    if (value && !*value && names_a_place(o))
        wrong(p, "--%s wants %s, not an empty text", o->name, o->argument);
    switch (o->kind) {
    case CLI_FLAG: *(bool *)to = true; break;
    case CLI_OFF: *(bool *)to = false; break;
    case CLI_STRING: *(const char **)to = value; break;
    case CLI_NUMBER: read_number(p, o, value, to); break;
    case CLI_SIZE: read_size(p, o, value, to); break;
    case CLI_REAL: read_real(p, o, value, to); break;
    case CLI_LIST:
    case CLI_EACH: add_items(p, o, value); break;
    case CLI_CHOICE: read_choice(p, o, value, to); break;
    case CLI_END:
    case CLI_HEADING: break;
    }
}

/* --name, --name=value, --name value; `next` is the argument behind it. Returns how many of the two it took.
 */
static int long_option(parse *p, char *text, char *next)
{
    char *equals = strchr(text, '=');
    size_t n = equals ? (size_t)(equals - text) : strlen(text);
    if (n == 4 && memcmp(text, "help", 4) == 0 && !equals) {
        p->helped = true;
        return 1;
    }
    const cli_option *o = by_name(p->command, text, n);
    if (!o) {
        unknown(p, text, n);
        return 1;
    }
    if (!takes_value(o)) {
        if (equals) wrong(p, "--%s takes no value", o->name);
        set(p, o, NULL);
        return 1;
    }
    char *value = equals ? equals + 1 : next;
    if (!value)
        wrong(p, "--%s wants %s", o->name, o->argument);
    else
        set(p, o, value);
    return equals ? 1 : 2;
}

/* -a, -ab, -n value, -nvalue. */
static int letters(parse *p, char *text, char *next)
{
    for (; *text && !p->failed; text++) {
        const cli_option *o = by_letter(p->command, *text);
        if (!o && *text == 'h') {
            p->helped = true;
            return 1;
        }
        if (!o) {
            wrong(p, "unknown option '-%c'", *text);
            return 1;
        }
        if (!takes_value(o)) {
            set(p, o, NULL);
            continue;
        }
        char *value = text[1] ? text + 1 : next;
        if (!value)
            wrong(p, "-%c wants %s", o->letter, o->argument);
        else
            set(p, o, value);
        return text[1] ? 1 : 2;
    }
    return 1;
}

/* The text from its word number n, from 0. */
static const char *from_word(const char *text, int n)
{
    for (const char *blank; n > 0 && (blank = strchr(text, ' ')) != NULL; n--)
        text = blank + 1;
    return text;
}

static void check_arguments(parse *p)
{
    const cli_command *c = p->command;
    int n = p->rest->n;
    if (n < c->min_arguments)
        wrong(p, "%s is missing; usage: %s %s [OPTION]... %s", from_word(c->arguments, n), cli_program(c),
              c->name, c->arguments);
    else if (n > c->max_arguments)
        wrong(p, "'%s' is one argument too many", p->rest->items[c->max_arguments]);
    for (int i = 0; i < n && !c->stops && !p->failed; i++)
        if (!*p->rest->items[i])
            wrong(p, "an argument is an empty text; usage: %s %s [OPTION]... %s", cli_program(c), c->name,
                  c->arguments);
}

static bool is_file(const char *path, const struct stat *file)
{
    struct stat st;
    return path && stat(path, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* By its name, or that of what it is a link to. */
static bool is_of_a_run(const char *path)
{
    char *real = realpath(path, NULL);
    const char *slash = strrchr(path, '/'), *real_slash = real ? strrchr(real, '/') : NULL;
    const bool is =
        cli_is_run_name(slash ? slash + 1 : path) || (real_slash && cli_is_run_name(real_slash + 1));
    free(real);
    return is;
}

static bool is_below(const char *path, const char *folder)
{
    char *file = realpath(path, NULL), *above = realpath(folder, NULL);
    const size_t n = above ? strlen(above) : 0;
    const bool is = file && n && strncmp(file, above, n) == 0 && file[n] == '/';
    free(file);
    free(above);
    return is;
}

/* A file that is read and written at once would be lost: one that is an argument or an option's, and a log of a run where
 * inputs are looked for in folders. */
static void check_written(parse *p, const cli_option *written, bool anywhere)
{
    struct stat file;
    const char *path = *(const char **)(void *)(p->values + written->at);
    if (!path || stat(path, &file) != 0 || !S_ISREG(file.st_mode)) return;
    bool read = false, found = p->rest->n == 0;
    for (int i = 0; i < p->rest->n; i++) {
        read = read || is_file(p->rest->items[i], &file);
        found = found || (is_folder(p->rest->items[i]) && (anywhere || is_below(path, p->rest->items[i])));
    }
    for (const cli_option *o = p->command->options; o && o->kind != CLI_END; o++) {
        const void *value = p->values + o->at;
        if (o->kind == CLI_STRING && o != written) read = read || is_file(*(const char *const *)value, &file);
        const cli_list *each = value;
        for (size_t i = 0; o->kind == CLI_EACH && i < each->n; i++)
            read = read || is_file(each->items[i], &file);
    }
    if (read)
        wrong(p, "--%s %s is the file that is read, and would be lost: name another one", written->name,
              path);
    else if (found && is_of_a_run(path))
        wrong(p, "--%s %s is a log that may be the one that is read, and would be lost: name another one",
              written->name, path);
}

static void check_outputs(parse *p)
{
    static const struct {
        const char *name;
        bool anywhere; /* what is read may lie beside the folders, too; of ranks it is in them */
    } files[] = {{"output", true}, {"merge", false}, {"trace", false}, {"save", false}};
    for (size_t i = 0; i < sizeof files / sizeof files[0] && !p->failed && !p->command->stops; i++) {
        const cli_option *o = by_name(p->command, files[i].name, strlen(files[i].name));
        if (o && o->kind == CLI_STRING) check_written(p, o, files[i].anywhere);
    }
}

bool cli_parse(const cli_command *c, int argc, char **argv, void *values, cli_args *rest, int *exit_status)
{
    parse p = {.command = c, .values = values, .rest = rest};
    *rest = (cli_args){.items = argv + 1};
    bool options = true;
    for (int i = 1; i < argc && !p.failed && !p.helped;) {
        char *text = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
        if (options && strcmp(text, "--") == 0) {
            options = false;
            i++;
        } else if (options && text[0] == '-' && text[1] == '-') {
            i += long_option(&p, text + 2, next);
        } else if (options && text[0] == '-' && text[1]) {
            i += letters(&p, text + 1, next);
        } else {
            rest->items[rest->n++] = text;
            if (c->stops) options = false;
            i++;
        }
    }
    if (p.helped && !p.failed) {
        dl_str out = {0};
        cli_help(c, &out);
        devlog_error err;
        const devlog_status status = dl_print(&out, &err);
        if (status) fprintf(stderr, "%s %s: %s\n", cli_program(c), c->name, err.text);
        dl_str_free(&out);
        cli_args_free(rest);
        *exit_status = status ? CLI_FAILED : CLI_OK;
        return false;
    }
    if (!p.failed) check_arguments(&p);
    if (!p.failed) check_outputs(&p);
    if (p.failed) {
        cli_args_free(rest);
        *exit_status = CLI_USAGE;
    }
    return !p.failed;
}

void cli_args_free(cli_args *rest)
{
    for (size_t i = 0; i < rest->n_owned; i++)
        free(rest->owned[i]);
    free(rest->owned);
    *rest = (cli_args){0};
}

devlog_status cli_folder_option(const char *option, const char *folder, devlog_error *err)
{
    struct stat st;
    if (!folder) return DEVLOG_OK;
    if (stat(folder, &st) != 0) return dl_fail_errno(err, errno, "--%s: %s", option, folder);
    return S_ISDIR(st.st_mode)
               ? DEVLOG_OK
               : dl_fail(err, DEVLOG_ERR_ARGUMENT, "--%s wants a folder: %s is none", option, folder);
}
