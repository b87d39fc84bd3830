/* Filters on the command line: the same options for every command that reads logs.
 *
 *     typedef struct args { ...; cli_filters filters; } args;
 *     static const cli_option options[] = { ..., CLI_FILTERS(args, filters), {0} };
 *
 *     if (!cli_filter_of(&cmd_x, &a.filters, &rest, &decode_options.filter)) return CLI_USAGE;
 *     status = cli_select(&cmd_x, &a.filters, &decode_options.filter, logs, n, &selected, &err);
 *
 * The filter points into what `rest` and `selected` own: free them after the decoder. CLI_SELECTION is the part that
 * chooses launches, for commands that show nothing of what is inside of them. */
#ifndef DEVLOG_CLI_FILTERS_H
#define DEVLOG_CLI_FILTERS_H

#include "cli/cli.h"
#include "decode/decode.h"
#include "ops/select.h"

typedef struct cli_filters {
    cli_list chips, cores, riscs, zones, launches, traces, sessions, ops;
    const char *from_signpost, *to_signpost;
    uint64_t from, until, min_cycles, skip_launches;
    bool skip_warm_up;
} cli_filters;

/* clang-format off */
/* NOLINTBEGIN(bugprone-macro-parentheses): a type and a member cannot have any */
#define CLI_SELECTION(type, member) \
    CLI_TITLE("Selection"), \
    {CLI_LIST, "chips", 0, "N,...", "only these chips, by number or range (0,2-3)", offsetof(type, member.chips)}, \
    {CLI_EACH, "op", 0, "NAME", \
     "only launches of ops of this name, or beginning with it (NAME*), as the host's files say; may be given again", \
     offsetof(type, member.ops)}, \
    {CLI_STRING, "from-signpost", 0, "NAME", "only what the host asked for behind the first signpost of this name", \
     offsetof(type, member.from_signpost)}, \
    {CLI_STRING, "to-signpost", 0, "NAME", \
     "only what it asked for before the first signpost of this name that is behind --from-signpost", \
     offsetof(type, member.to_signpost)}, \
    {CLI_LIST, "launches", 0, "N,...", \
     "only these launches, by run host id, or by number from 0 in logs without ids, or, in an op report without its log, by GLOBAL CALL COUNT; ranges too (5,8-11)", \
     offsetof(type, member.launches)}, \
    {CLI_LIST, "traces", 0, "N,...", "only launches of these traces, by trace id", offsetof(type, member.traces)}, \
    {CLI_LIST, "trace-sessions", 0, "N,...", "only these replays of traces, from 1; ranges too", \
     offsetof(type, member.sessions)}, \
    {CLI_NUMBER, "skip-launches", 0, "N", "leave out the first N launches of every chip, in the order in which they began (of a pipe: as it has them)", \
     offsetof(type, member.skip_launches)}, \
    {CLI_FLAG, "skip-warm-up", 0, NULL, \
     "leave out the launches of every chip before their durations settle (docs/views.md says the rule); says how many", \
     offsetof(type, member.skip_warm_up)}
#define CLI_FILTERS(type, member) \
    CLI_SELECTION(type, member), \
    CLI_TITLE("Filters"), \
    {CLI_EACH, "core", 0, "X,Y[-X,Y]", "only this core, or this rectangle of cores; may be given again", \
     offsetof(type, member.cores)}, \
    {CLI_LIST, "riscs", 0, "NAME,...", "only these RISCs (BRISC,TRISC*); TRISC0 and TRISC_0 are the same", \
     offsetof(type, member.riscs)}, \
    {CLI_EACH, "zone", 'z', "NAME", "only zones of this name, or beginning with it (NAME*); may be given again", \
     offsetof(type, member.zones)}, \
    {CLI_NUMBER, "from", 0, "CYCLE", "only what touches the time from this cycle on", offsetof(type, member.from)}, \
    {CLI_NUMBER, "until", 0, "CYCLE", "only what touches the time up to this cycle", \
     offsetof(type, member.until), 1, UINT64_MAX}, \
    {CLI_NUMBER, "min-cycles", 0, "N", "only zones of at least so many cycles", offsetof(type, member.min_cycles)}
/* NOLINTEND(bugprone-macro-parentheses) */
/* clang-format on */

/* False when an option makes no sense, which is said. `owner` frees what the filter points to. */
bool cli_filter_of(const cli_command *c, const cli_filters *f, cli_args *owner, dl_filter *out);
/* What that means for ops, with `filter` from cli_filter_of. */
op_selection cli_selection_of(const cli_filters *f, const dl_filter *filter);
/* Adds to a filter what must be looked up: in the files of the host beside the first log, and, for warm-up, in the
 * logs themselves, which are read once more. Says on stderr what warm-up is left out. Free *selected with
 * op_selected_free, also after a failure. (selection.c) */
devlog_status cli_select(const cli_command *c, const cli_filters *f, dl_filter *filter, char *const *logs,
                         size_t n, op_selected *selected, devlog_error *err);
/* After dl_decode_finish: fails when some filter, or all of them together, let nothing of the log through,
 * and says what there is. (filter_check.c) */
devlog_status cli_filters_check(const cli_filters *f, const dl_filter *filter, dl_decode *d,
                                devlog_error *err);
/* What of a log is shown: the same as a context, for dl_results_options. */
typedef struct cli_shown {
    const cli_filters *filters;
    dl_filter filter;
} cli_shown;
devlog_status cli_shown_check(void *shown, dl_decode *d, devlog_error *err);
/* The rectangle that a value of --core stands for: x and y of its first and last core; false: it is none. */
bool cli_filter_cores(const char *text, uint64_t corner[4]);
/* Whether any filter is set. */
bool cli_filters_any(const cli_filters *f);

#endif
