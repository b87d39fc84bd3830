/* Fuzzing tt-metal's files: any bytes give a report, without a crash, and every op that was read is a row. The
 * input is the files one after the other, separated by lines "--8<--": messages, times, the C++ report, the
 * device log, a NoC trace, the comparison of clocks, sources of zones. What is written does not depend on how much of the log is
 * kept in memory. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "tt_metal/noc_zones.h"
#include "tt_metal/report.h"
#include "tt_metal/tell.h"
#include "tt_metal/zones.h"

static devlog_status keep(void *ctx, devlog_error *err)
{
    (void)ctx;
    (void)err;
    return DEVLOG_OK;
}

typedef struct part {
    const char *text;
    size_t n;
} part;

/* The next part of the input; empty when there is none. */
static part next_part(const char **at, const char *end)
{
    static const char mark[] = "--8<--\n";
    part p = {*at, (size_t)(end - *at)};
    const char *found = p.n ? memmem(*at, p.n, mark, sizeof mark - 1) : NULL;
    if (found) p.n = (size_t)(found - *at);
    *at = found ? found + sizeof mark - 1 : end;
    return p;
}

/* A CSV's rows have as many cells as its header. */
static void check_csv(const dl_str *out)
{
    size_t cells = 1, of_header = 0;
    bool inside = false;
    for (size_t i = 0; i < out->len; i++) {
        char c = out->text[i];
        if (c == '"') inside = !inside;
        if (inside) continue;
        cells += c == ',';
        if (c != '\n') continue;
        if (!of_header) of_header = cells;
        if (cells != of_header) abort();
        cells = 1;
    }
    if (inside) abort();
}

/* The report, in one form (appended to `out`), and what is written beside it. `most_places`: cores in launches that are kept
 * while the log is read; with few the log is read in another way. */
static void report_all(const uint8_t *data, size_t size, uint32_t most_places, int form, dl_str *out)
{
    const char *at = (const char *)data, *end = at + size;
    part messages = next_part(&at, end), times = next_part(&at, end), report = next_part(&at, end),
         log = next_part(&at, end), noc = next_part(&at, end), sync = next_part(&at, end),
         sources = next_part(&at, end);
    tt_found found = {0};
    tt_host host;
    tt_execs execs;
    tt_join join = {0};
    tt_report_counts counts = {0};
    tt_execs_begin(&execs, &found, NULL);
    execs.most_places = most_places;
    if (tt_host_begin(&host, &found, NULL, NULL) != DEVLOG_OK) abort();
    if (tt_host_parse_data(&host, messages.text, messages.n, NULL) != DEVLOG_OK) abort();
    if (times.n && tt_host_parse_times(&host, times.text, times.n, NULL) != DEVLOG_OK) abort();
    devlog_status status = DEVLOG_OK;
    if (report.n)
        status = tt_execs_parse_report(&execs, report.text, report.n, NULL);
    else if (log.n)
        status = tt_execs_parse_log(&execs, log.text, log.n, NULL);
    if (noc.n &&
        tt_nocs_parse(&execs.nocs, "noc_trace_dev0_ID1024.json", noc.text, noc.n, &found, NULL) != DEVLOG_OK)
        abort();
    if (sync.n && tt_sync_parse(&execs.sync, sync.text, sync.n, &found, NULL) != DEVLOG_OK) abort();
    tt_zones *zones = sources.n ? tt_zones_new(&found) : NULL;
    if (zones && tt_zones_parse(zones, sources.text, sources.n, NULL) != DEVLOG_OK) abort();
    tt_zones_free(zones);
    if (status == DEVLOG_OK && tt_join_make(&join, &host, &execs, NULL, NULL) == DEVLOG_OK) {
        if (join.n) fuzz_got_inside();
        const bool json = form & 1;
        const tt_report_options o = {.json = json, .reference = form & 2};
        if (tt_report_write(&join, &o, out, keep, NULL, &counts, NULL) != DEVLOG_OK) abort();
        if (counts.rows != join.n || counts.rows < host.n_ops + host.n_signposts) abort();
        if (!json) check_csv(out);
        dl_str gaps = {0};
        if (tt_gaps_write(&execs.gaps, &gaps, keep, NULL, NULL) != DEVLOG_OK) abort();
        check_csv(&gaps);
        dl_str_add_n(out, gaps.text, gaps.len);
        dl_str_free(&gaps);
        dl_str of_zones = {0};
        if (tt_noc_zones_write(&join, &of_zones, keep, NULL, NULL) != DEVLOG_OK) abort();
        check_csv(&of_zones);
        dl_str_add_n(out, of_zones.text, of_zones.len);
        dl_str_free(&of_zones);
        tt_tell_rows(&join, false, false);
        dl_str words = {0};
        tt_found_describe(&found, &words);
        dl_str_add_n(out, words.text, words.len);
        dl_str_free(&words);
    }
    tt_join_free(&join);
    tt_execs_free(&execs);
    tt_host_free(&host);
    tt_found_free(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { FORMS = 4, FEW = 8, MANY = 1 << 20 };
    const uint32_t ways = fuzz_ways(data, size, FORMS);
    for (int form = 0; form < FORMS; form++) {
        dl_str few = {0}, many = {0};
        if (!(ways >> form & 1)) continue;
        report_all(data, size, FEW, form, &few);
        report_all(data, size, MANY, form, &many);
        fuzz_same(&few, &many);
        dl_str_free(&few);
        dl_str_free(&many);
    }
    return 0;
}
