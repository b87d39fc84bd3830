/* devlog archive: runs kept over months in one file, and what has changed in them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "archive/archive.h"
#include "base/file.h"
#include "cli/answer_out.h"
#include "cli/archived.h"
#include "cli/cli.h"

typedef struct archive_args {
    const char *file, *commit, *board, *host, *name, *date, *since, *until, *output;
    cli_list labels;
    uint64_t top, most;
    double confidence, least;
    int format, of;
    bool fail;
} archive_args;

static const cli_option options[] = {
    {CLI_STRING, "archive", 'a', "FILE", "the archive; devlog-runs.sqlite unless told",
     offsetof(archive_args, file)},
    CLI_TITLE("Of a run: with add what it is, otherwise which are meant"),
    {CLI_STRING, "commit", 'c', "ID", "of the program; the beginning of one is enough to find it",
     offsetof(archive_args, commit)},
    {CLI_STRING, "board", 0, "BOARD", "what its files say unless told", offsetof(archive_args, board)},
    {CLI_STRING, "host", 0, "HOST", "with add this machine unless told", offsetof(archive_args, host)},
    {CLI_STRING, "name", 'n', "NAME", "of the program or test", offsetof(archive_args, name)},
    {CLI_EACH, "label", 'l', "NAME=VALUE", "anything else (branch=main); may be given again",
     offsetof(archive_args, labels)},
    CLI_TITLE("add"),
    {CLI_STRING, "date", 0, "DATE",
     "2026-01-31, 2026-01-31T23:59:59 (UTC) or seconds since 1970; when its log was written unless told",
     offsetof(archive_args, date)},
    {CLI_SIZE, "most", 0, "BYTES", "leave larger files out, and keep figures only; 256M unless told",
     offsetof(archive_args, most), 1, 900u << 20},
    CLI_TITLE("list, find, history, page"),
    {CLI_STRING, "since", 0, "DATE", "only runs from then on", offsetof(archive_args, since)},
    {CLI_STRING, "until", 0, "DATE", "only runs before then", offsetof(archive_args, until)},
    {CLI_REAL, "confidence", 0, "PERCENT",
     "how sure it has to be that nothing it tells is chance; 99 unless told",
     offsetof(archive_args, confidence)},
    {CLI_REAL, "least", 0, "PERCENT", "changes that are smaller are not told; 1 unless told",
     offsetof(archive_args, least)},
    {CLI_CHOICE, "of", 0, "average|median",
     "what is compared of ops and zones in history, and shown on the page; average unless told",
     offsetof(archive_args, of)},
    {CLI_FLAG, "fail", 0, NULL,
     "exit with status 4 when the last change of any figure was for the worse, and 5 when there are too few runs to tell",
     offsetof(archive_args, fail)},
    {CLI_NUMBER, "top", 0, "N", "lines of a table; 0: all. 20 unless told, all in JSON and CSV",
     offsetof(archive_args, top), 0, UINT32_MAX},
    {CLI_CHOICE, "format", 'f', CLI_ANSWER_FORMATS, "what to print", offsetof(archive_args, format)},
    {CLI_STRING, "output", 'o', "PATH",
     "write there, not to standard output; of get the folder, of page the file (devlog-runs.html unless told)",
     offsetof(archive_args, output)},
    {0},
};

typedef struct job {
    const archive_args *o;
    const cli_args *rest; /* without the word that says what to do */
    archive *a;
} job;

/* Seconds since 1970. Fewer than of three years are a year, or a day without its dashes, and no date of a run. */
static bool date_of(const char *text, int64_t *out)
{
    enum { LEAST = 100000000, MOST = 12 /* digits */ };
    struct tm tm = {0};
    char *end;
    const long long seconds = strtoll(text, &end, 10);
    *out = seconds;
    if (end != text && !*end) return seconds >= LEAST && strlen(text) <= MOST;
    const char *rest = strptime(text, "%Y-%m-%d", &tm);
    if (rest && (*rest == 'T' || *rest == ' ')) rest = strptime(rest + 1, "%H:%M:%S", &tm);
    if (rest && strcmp(rest, "Z") == 0) rest++;
    const int day = tm.tm_mday, second = tm.tm_sec;
    *out = (int64_t)timegm(&tm); /* makes the 3rd of March of the 31st of February */
    return rest && !*rest && *out > 0 && tm.tm_mday == day && tm.tm_sec == second;
}

static devlog_status filter_of(const archive_args *o, archive_filter *f, devlog_error *err)
{
    *f = (archive_filter){.commit = o->commit,
                          .board = o->board,
                          .host = o->host,
                          .name = o->name,
                          .labels = o->labels.items,
                          .n_labels = o->labels.n};
    const char *const texts[] = {o->since, o->until};
    int64_t *const to[] = {&f->since, &f->until};
    for (int i = 0; i < 2; i++)
        if (texts[i] && !date_of(texts[i], to[i]))
            return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                           "'%s' is no date: 2026-01-31, 2026-01-31T23:59:59 or seconds since 1970",
                           texts[i]);
    return DEVLOG_OK;
}

static devlog_status print(const job *j, const answer *a, devlog_error *err)
{
    return cli_answer_print(
        a,
        &(cli_answer_out){
            .kind = "archive", .version = ARCHIVE_VERSION, .format = j->o->format, .output = j->o->output},
        err);
}

/* ---- add --- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In the order of their names, so that the same labels are the same text. */
static devlog_status join_labels(const cli_list *labels, char **out, devlog_error *err)
{
    const char **sorted = malloc((labels->n + 1) * sizeof *sorted);
    dl_str text = {0};
    devlog_status status = sorted ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < labels->n && !status; i++) {
        const char *equals = strchr(labels->items[i], '=');
        sorted[i] = labels->items[i];
        if (!equals || equals == labels->items[i] || strchr(labels->items[i], ','))
            status = dl_fail(err, DEVLOG_ERR_ARGUMENT, "--label is NAME=VALUE without a comma, and not '%s'",
                             labels->items[i]);
    }
    if (!status && labels->n) qsort(sorted, labels->n, sizeof *sorted, by_text);
    for (size_t i = 0; i < labels->n && !status; i++)
        dl_str_fmt(&text, "%s%s", i ? "," : "", sorted[i]);
    if (!status) status = dl_str_status(&text, err);
    if (!status) *out = text.text;
    if (status) dl_str_free(&text);
    free(sorted);
    return status;
}

static devlog_status say(char **to, const char *text, devlog_error *err)
{
    if (!text) return DEVLOG_OK;
    free(*to);
    *to = strdup(text);
    return *to ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

static devlog_status add_one(job *j, const char *path, bool *lost, devlog_error *err)
{
    const archive_args *o = j->o;
    archive_run run = {0};
    char host[256] = "";
    bool known;
    size_t left_out;
    devlog_status status = archive_read_run(&run, path, err);
    if (!status && o->date && !date_of(o->date, &run.date))
        status = dl_fail(err, DEVLOG_ERR_ARGUMENT,
                         "'%s' is no date: 2026-01-31, 2026-01-31T23:59:59 or seconds since 1970", o->date);
    if (!status) status = say(&run.commit, o->commit, err);
    if (!status) status = say(&run.board, o->board, err);
    if (!status)
        status = say(&run.host, o->host ? o->host : gethostname(host, sizeof host - 1) ? NULL : host, err);
    if (!status) status = say(&run.name, o->name, err);
    if (!status) status = join_labels(&o->labels, &run.labels, err);
    /* Opened when everything is read: others do not wait meanwhile. */
    if (!status && !j->a) status = archive_open(&j->a, o->file, true, err);
    if (!status) status = archive_add(j->a, &run, o->most, &known, &left_out, err);
    if (!status) {
        *lost |= run.lost || left_out;
        printf(known ? "%s: run %lld has it already\n" : "%s: run %lld\n", path, (long long)run.id);
        if (left_out && !known)
            fprintf(
                stderr,
                "devlog archive: %s: %zu files are larger than --most, and were left out; its figures are there\n",
                path, left_out);
        if (run.lost)
            fprintf(stderr,
                    "devlog archive: %s: its files say that something was lost (devlog report tells)\n",
                    path);
    }
    archive_run_free(&run);
    return status;
}

static int do_add(job *j, devlog_error *err)
{
    bool lost = false;
    for (int i = 0; i < j->rest->n; i++)
        if (add_one(j, j->rest->items[i], &lost, err)) return CLI_FAILED;
    return lost ? CLI_PARTIAL : CLI_OK;
}

/* ---- list, find --- */

static const char *date_text(answer *a, int64_t seconds)
{
    char text[32];
    struct tm tm;
    const time_t t = (time_t)seconds;
    if (!gmtime_r(&t, &tm) || !strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm)) return NULL;
    return answer_keep(a, text, strlen(text));
}

static bool asks(const archive_args *o)
{
    return o->commit || o->board || o->host || o->name || o->labels.n || o->since || o->until;
}

/* A question that finds nothing is more often a slip than an answer. */
static devlog_status nothing_found(job *j, devlog_error *err)
{
    archive_runs all = {0};
    const devlog_status status = archive_find(j->a, &(archive_filter){0}, &all, err);
    const size_t n = all.n;
    archive_runs_free(&all);
    if (status) return status;
    return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                   "%s: none of its %zu runs is so: devlog archive list shows them", j->o->file, n);
}

static int do_list(job *j, devlog_error *err)
{
    static const answer_column columns[] = {
        {"run", "run", ANSWER_COUNT, 0},      {"date", "date", ANSWER_TEXT, 0},
        {"commit", "commit", ANSWER_TEXT, 0}, {"board", "board", ANSWER_TEXT, 3},
        {"host", "host", ANSWER_TEXT, 4},     {"name", "name", ANSWER_TEXT, 1},
        {"labels", "labels", ANSWER_TEXT, 2}, {"bytes", "packed", ANSWER_BYTES, 5},
        {"lost", "losses", ANSWER_TEXT, 6},
    };
    archive_filter f;
    archive_runs runs = {0};
    answer a;
    devlog_status status = answer_begin(&a, err);
    if (status) return CLI_FAILED;
    status = filter_of(j->o, &f, err);
    if (!status) status = archive_open(&j->a, j->o->file, false, err);
    if (!status) status = archive_find(j->a, &f, &runs, err);
    if (!status && !runs.n && asks(j->o)) status = nothing_found(j, err);
    if (!status) {
        answer_section *t = answer_table(&a, "runs", "RUNS", columns, sizeof columns / sizeof columns[0]);
        for (size_t i = runs.n; i-- > 0;) {
            const archive_run *r = &runs.items[i];
            answer_number(t, (double)r->id);
            answer_text(t, date_text(&a, r->date));
            answer_text(t, r->commit);
            answer_text(t, r->board);
            answer_text(t, r->host);
            answer_text(t, r->name);
            answer_text(t, r->labels);
            answer_number(t, (double)r->bytes);
            answer_text(t, r->lost ? "yes" : "no");
        }
        answer_top(t, cli_answer_top(j->o->format, j->o->top));
        status = answer_status(&a, err);
    }
    if (!status) status = print(j, &a, err);
    archive_runs_free(&runs);
    answer_free(&a);
    return status ? CLI_FAILED : CLI_OK;
}

static int do_find(job *j, devlog_error *err)
{
    if (!asks(j->o)) {
        dl_fail(err, DEVLOG_ERR_ARGUMENT,
                "find what? --commit, --board, --host, --name, --label, --since or --until");
        return CLI_USAGE;
    }
    return do_list(j, err);
}

/* ---- history --- */

/* Figures of two boards have no history in common. */
static devlog_status check_boards(const archive_runs *runs, devlog_error *err)
{
    for (size_t i = 1; i < runs->n; i++) {
        const char *a = runs->items[0].board, *b = runs->items[i].board;
        if (strcmp(a ? a : "", b ? b : "") != 0)
            return dl_fail(
                err, DEVLOG_ERR_ARGUMENT,
                "these runs are of several boards (run %lld: %s, run %lld: %s): --board says which",
                (long long)runs->items[0].id, a ? a : "unknown", (long long)runs->items[i].id,
                b ? b : "unknown");
    }
    return DEVLOG_OK;
}

static int do_history(job *j, devlog_error *err)
{
    archive_filter f;
    archive_runs runs = {0};
    answer a;
    archive_verdict verdict = {0};
    const archive_history_options o = {.name = j->rest->n ? j->rest->items[0] : NULL,
                                       .confidence = j->o->confidence,
                                       .least = j->o->least,
                                       .medians = j->o->of == 1,
                                       .top = cli_answer_top(j->o->format, j->o->top)};
    devlog_status status = answer_begin(&a, err);
    if (status) return CLI_FAILED;
    status = filter_of(j->o, &f, err);
    if (!status) status = archive_open(&j->a, j->o->file, false, err);
    if (!status) status = archive_find(j->a, &f, &runs, err);
    if (!status && !runs.n && asks(j->o)) status = nothing_found(j, err);
    if (!status) status = check_boards(&runs, err);
    if (!status) status = archive_history(j->a, &runs, &o, &a, &verdict, err);
    if (!status) status = print(j, &a, err);
    archive_runs_free(&runs);
    answer_free(&a);
    if (status || !j->o->fail) return status ? CLI_FAILED : CLI_OK;
    return verdict.slower ? CLI_WORSE : verdict.too_few ? CLI_UNDECIDED : CLI_OK;
}

static int do_page(job *j, devlog_error *err)
{
    const archive_history_options o = {
        .confidence = j->o->confidence, .least = j->o->least, .medians = j->o->of == 1};
    const char *file = j->o->file, *slash = strrchr(file, '/'),
               *to = j->o->output ? j->o->output : "devlog-runs.html";
    archive_filter f;
    archive_runs runs = {0};
    dl_file_writer w;
    devlog_status status = filter_of(j->o, &f, err);
    if (!status) status = archive_open(&j->a, file, false, err);
    if (!status) status = archive_find(j->a, &f, &runs, err);
    if (!status && !runs.n && asks(j->o)) status = nothing_found(j, err);
    if (!status) status = dl_file_create(&w, to, err);
    if (!status) {
        status = archive_page(j->a, slash ? slash + 1 : file, &runs, &o, &w.buffer, err);
        if (status)
            dl_file_abandon(&w);
        else
            status = dl_file_commit(&w, err);
    }
    if (!status) printf("%s: %zu runs\n", to, runs.n);
    archive_runs_free(&runs);
    return status ? CLI_FAILED : CLI_OK;
}

/* ---- get, diff --- */

static int out(job *j, int (*what)(const cli_archived *, devlog_error *), devlog_error *err)
{
    if (archive_open(&j->a, j->o->file, false, err)) return CLI_FAILED;
    return what(&(cli_archived){.a = j->a, .file = j->o->file, .output = j->o->output, .rest = j->rest}, err);
}

static int do_get(job *j, devlog_error *err)
{
    return out(j, cli_archive_get, err);
}

static int do_diff(job *j, devlog_error *err)
{
    return out(j, cli_archive_diff, err);
}

/* ---- All of it --- */

static const struct {
    const char *name;
    int (*run)(job *j, devlog_error *err);
    int least, most; /* arguments */
    const char *wants;
} actions[] = {
    {"add", do_add, 1, CLI_ANY,
     "a run: a folder or a tar or zip of it, an op report, a device log or a capture"},
    {"list", do_list, 0, 0, "no argument"},
    {"find", do_find, 0, 0, "no argument, and options that say what"},
    {"diff", do_diff, 2, CLI_ANY,
     "an old and a new run, each by its number or its commit; options of devlog diff behind --"},
    {"get", do_get, 1, 1, "a run, by its number or its commit"},
    {"history", do_history, 0, 1, "at most the name of a figure"},
    {"page", do_page, 0, 1, "at most the archive"},
};

/* Which actions an option is for: one that is taken and not obeyed would be a lie. */
#define OF(field) offsetof(archive_args, field), sizeof((archive_args *)NULL)->field
static const struct {
    const char *name;
    size_t at, size;
    const char *actions;
} options_of[] = {
    {"commit", OF(commit), "add list find history page"},
    {"board", OF(board), "add list find history page"},
    {"host", OF(host), "add list find history page"},
    {"name", OF(name), "add list find history page"},
    {"label", OF(labels), "add list find history page"},
    {"date", OF(date), "add"},
    {"most", OF(most), "add"},
    {"since", OF(since), "list find history page"},
    {"until", OF(until), "list find history page"},
    {"confidence", OF(confidence), "history page"},
    {"least", OF(least), "history page"},
    {"of", OF(of), "history page"},
    {"fail", OF(fail), "history"},
    {"top", OF(top), "list find history"},
    {"format", OF(format), "list find history"},
    {"output", OF(output), "list find history get page"},
};

/* The first option that is not what it is unless told, and is not for the action; NULL: there is none. */
static const char *not_for(const char *action, const archive_args *o, const archive_args *untold)
{
    for (size_t i = 0; i < sizeof options_of / sizeof options_of[0]; i++) {
        const size_t at = options_of[i].at;
        const bool told = memcmp((const char *)o + at, (const char *)untold + at, options_of[i].size) != 0;
        if (told && !strstr(options_of[i].actions, action)) return options_of[i].name;
    }
    return NULL;
}

static int run(int argc, char **argv)
{
    const archive_args untold = {
        .file = "devlog-runs.sqlite", .top = UINT64_MAX, .most = 256u << 20, .confidence = 99, .least = 1};
    archive_args o = untold;
    const char *wrong;
    cli_args all;
    int exit_status;
    if (!cli_parse(&cmd_archive, argc, argv, &o, &all, &exit_status)) return exit_status;
    cli_args rest = {.items = all.items + 1, .n = all.n - 1};
    job j = {.o = &o, .rest = &rest};
    devlog_error err = {0};
    size_t i = 0, n = sizeof actions / sizeof actions[0];
    while (i < n && strcmp(all.items[0], actions[i].name) != 0)
        i++;
    /* The page of an archive: its file may stand behind the word, too. */
    const bool named = i < n && actions[i].run == do_page && rest.n == 1;
    const bool twice = named && strcmp(o.file, untold.file) != 0;
    if (named && !twice) o.file = rest.items[0];
    if (i == n)
        exit_status = cli_wrong(&cmd_archive, "'%s' is none of add, list, find, diff, get, history, page",
                                all.items[0]);
    else if (rest.n < actions[i].least || rest.n > actions[i].most)
        exit_status = cli_wrong(&cmd_archive, "%s wants %s", actions[i].name, actions[i].wants);
    else if (twice)
        exit_status = cli_wrong(&cmd_archive, "page is of one archive: %s or %s", o.file, rest.items[0]);
    else if ((wrong = not_for(actions[i].name, &o, &untold)))
        exit_status = cli_wrong(&cmd_archive, "--%s is not for %s", wrong, actions[i].name);
    else if (o.confidence <= 50 || o.confidence >= 100)
        exit_status = cli_wrong(&cmd_archive, "--confidence is more than 50 and less than 100 percent");
    else
        exit_status = actions[i].run(&j, &err);
    if (err.status && (exit_status == CLI_FAILED || exit_status == CLI_USAGE))
        fprintf(stderr, "devlog archive: %s\n", err.text);
    archive_close(j.a);
    cli_args_free(&all);
    return exit_status;
}

const cli_command cmd_archive = {
    .name = "archive",
    .temporary = true,
    .summary =
        "A store of runs: add, list, find, diff, get; and which figure changed with which run, as a page, too",
    .arguments = "add|list|find|diff|get|history|page [ARGUMENT...]",
    .min_arguments = 1,
    .max_arguments = CLI_ANY,
    .description =
        "add INPUT...: keeps runs (what devlog report takes) in one SQLite file: what they were, the figures of their ops, zones and "
        "whole, and their files, packed. The same files with the same words are not added again.\n\n"
        "list, find: which runs there are, the newest first. get RUN: writes a run's files into the folder --output. diff OLD NEW [-- "
        "OPTION...]: devlog diff of two runs, or of all runs of two commits; its options go behind --.\n\n"
        "history [FIGURE]: where figures changed over all runs, by Mann-Whitney's U at every place between two runs. With --confidence 99, "
        "of a hundred histories in which nothing has changed at most one tells a change of any figure. With a FIGURE its runs one by one, "
        "too. Runs of several boards want --board.\n\n"
        "page [ARCHIVE]: one HTML file with the history of every op and zone, whose reader chooses boards, hosts and labels; what changed is "
        "asked of those runs as history does it.\n\n"
        "Several programs may add at once; one that dies in it leaves the archive as it was. docs/archive.md has a recipe for CI.",
    .options = options,
    .examples =
        "  devlog archive add --commit \"$(git rev-parse HEAD)\" --label branch=main generated/profiler/run\n"
        "  devlog archive find --label branch=main --since 2026-01-01\n"
        "  devlog archive history --label branch=main --fail  for CI\n"
        "  devlog archive page -o history.html\n"
        "  devlog archive diff 41 42 -- --fail-on 'op>+5%'\n",
    .exit_worse =
        "of history --fail: the last change of a figure was for the worse; of diff: a condition of --fail-on is true",
    .exit_undecided = "of history --fail: there are too few runs to tell; of diff: as it says",
    .see_also = "devlog-report(1), devlog-diff(1), devlog-run(1)",
    .run = run,
};
