/* Budgets: reading them, and judging a capture by them. See the header. */
#include "answers/budget.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/annotate.h"
#include "base/c_locale.h"
#include "base/file.h"
#include "decode/door.h"
#include "decode/event.h"
#include "devlog/budget.h"
#include "devlog/decode.h"

enum { MOST_BYTES = 1 << 20 };

const char *const budget_result_names[BUDGET_RESULTS] = {
    [BUDGET_KEPT] = "kept",
    [BUDGET_EXCEEDED] = "exceeded",
    [BUDGET_NEVER_RAN] = "never ran",
    [BUDGET_LOST] = "records lost",
};

/* ---- Files ------------------------------------------------------------------------------------------- */

devlog_status budgets_add(budgets *b, const char *zone, size_t zone_size, const char *risc, size_t risc_size,
                          uint64_t cycles, uint32_t line, devlog_error *err)
{
    budget *bigger = realloc(b->items, (b->n + 1) * sizeof *bigger);
    if (!bigger) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for budgets");
    b->items = bigger;
    budget *item = &bigger[b->n++];
    *item = (budget){.zone = strndup(zone, zone_size),
                     .risc = risc ? strndup(risc, risc_size) : NULL,
                     .cycles = cycles,
                     .line = line,
                     .result = BUDGET_NEVER_RAN};
    return item->zone && (item->risc || !risc) ? DEVLOG_OK
                                               : dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for budgets");
}

static devlog_status wrong(const char *path, uint32_t line, const char *what, const char *text, size_t n,
                           devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_FORMAT,
                   "%s:%u: %s: '%.*s'; a line is CYCLES RISC ZONE, such as: 1200 TRISC1 wait for page", path,
                   line, what, n > 60 ? 60 : (int)n, text);
}

static size_t word(const char *text, const char *end)
{
    size_t n = 0;
    while (text + n < end && text[n] != ' ' && text[n] != '\t')
        n++;
    return n;
}

static const char *behind_blanks(const char *text, const char *end)
{
    while (text < end && (*text == ' ' || *text == '\t'))
        text++;
    return text;
}

static devlog_status read_line(budgets *b, const char *path, uint32_t number, const char *line,
                               const char *end, devlog_error *err)
{
    line = behind_blanks(line, end);
    while (end > line && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    if (line == end || *line == '#') return DEVLOG_OK;
    char *behind;
    const size_t n = word(line, end);
    errno = 0;
    unsigned long long cycles =
        *line >= '0' && *line <= '9' ? strtoull(line, &behind, 10) : (behind = NULL, 0);
    if (!behind || behind != line + n || errno)
        return wrong(path, number, "it does not begin with a number of cycles", line, (size_t)(end - line),
                     err);
    const char *risc = behind_blanks(line + n, end);
    const size_t risc_size = word(risc, end);
    const char *zone = behind_blanks(risc + risc_size, end);
    if (risc_size == 0 || zone == end)
        return wrong(path, number, "it names no RISC (or *) and zone", line, (size_t)(end - line), err);
    const bool any = risc_size == 1 && *risc == '*';
    return budgets_add(b, zone, (size_t)(end - zone), any ? NULL : risc, risc_size, cycles, number, err);
}

devlog_status budgets_read(budgets *out, const char *path, devlog_error *err)
{
    dl_str text = {0};
    *out = (budgets){0};
    devlog_status status = dl_file_read(path, MOST_BYTES, &text, err);
    const char *end = text.text ? text.text + text.len : NULL;
    uint32_t number = 0;
    for (const char *line = text.text; line && line < end && !status;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop) stop = end;
        status = read_line(out, path, ++number, line, stop, err);
        line = stop + 1;
    }
    if (!status && out->n == 0)
        status = dl_fail(
            err, DEVLOG_ERR_FORMAT,
            "%s has no budget in it; a line is CYCLES RISC ZONE, such as: 1200 TRISC1 wait for page", path);
    dl_str_free(&text);
    return status;
}

void budgets_free(budgets *b)
{
    for (size_t i = 0; i < b->n; i++) {
        free(b->items[i].zone);
        free(b->items[i].risc);
    }
    free(b->items);
    *b = (budgets){0};
}

/* ---- Judging ----------------------------------------------------------------------------------------- */

/* TRISC_0 and TRISC0 are the same. */
static bool same_risc(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += *a == '_';
        b += *b == '_';
        if (*a != *b) return false;
        if (!*a) return true;
    }
}

/* A zone that ran, or passes through a sum, of which `took` is the longest. */
typedef struct seen {
    const char *name;
    uint32_t stream, launch;
    uint64_t took, times;
} seen;

static void see(budget *b, const devlog_log *log, const seen *z)
{
    const devlog_stream stream = devlog_log_stream(log, z->stream);
    if (b->risc && !same_risc(b->risc, stream.risc)) return;
    const bool first = b->count == 0;
    b->count += z->times;
    if (!first && z->took <= b->most) return;
    b->most = z->took;
    b->chip = stream.chip;
    b->x = stream.core.x;
    b->y = stream.core.y;
    b->launch = z->launch == DEVLOG_NO_LAUNCH ? UINT64_MAX : devlog_log_launch(log, z->launch).run_host_id;
    snprintf(b->on, sizeof b->on, "%s", stream.risc);
}

static void see_all(budgets *b, const devlog_log *log, const seen *z)
{
    for (size_t k = 0; k < b->n; k++)
        if (strcmp(b->items[k].zone, z->name) == 0) see(&b->items[k], log, z);
}

static void see_batch(budgets *b, const devlog_log *log, const devlog_batch *batch)
{
    const devlog_zones *z = &batch->zones;
    const devlog_values *v = &batch->values;
    for (size_t i = 0; i < z->count; i++)
        see_all(b, log,
                &(seen){devlog_log_zone(log, z->zone[i]).name, z->stream[i], z->launch[i],
                        z->end[i] - z->start[i], 1});
    for (size_t i = 0; i < v->count; i++) {
        if (v->kind[i] != DEVLOG_VALUE_SUM) continue;
        const dl_sum_passes p = dl_sum_passes_of(devlog_log_text(log, v->text[i]), v->data[i]);
        if (p.told && p.count)
            see_all(b, log,
                    &(seen){devlog_log_zone(log, v->zone[i]).name, v->stream[i], v->launch[i], p.longest,
                            p.count});
    }
}

devlog_status budgets_judge(budgets *b, const char *capture, const char *elf_folder, devlog_error *err)
{
    devlog_log *log = NULL;
    devlog_batch batch;
    const devlog_log_options options = DEVLOG_LOG_OPTIONS(.elf_folder = elf_folder, .no_quantiles = true);
    devlog_status status = devlog_log_open(&capture, 1, &options, &log, err);
    while (!status && !(status = devlog_log_next(log, &batch, err)) && !batch.last)
        see_batch(b, log, &batch);
    bool lost = false;
    if (!status) status = door_no_rows(log, err);
    for (size_t i = 0; !status && i < devlog_log_findings(log); i++) {
        const devlog_finding f = devlog_log_finding(log, i);
        lost |= f.loss && !(b->running && strcmp(f.key, "not_closed") == 0);
    }
    for (size_t k = 0; k < b->n && !status; k++) {
        budget *item = &b->items[k];
        item->result = item->most > item->cycles ? BUDGET_EXCEEDED
                       : lost                    ? BUDGET_LOST
                       : item->count == 0        ? BUDGET_NEVER_RAN
                                                 : BUDGET_KEPT;
    }
    devlog_log_close(log);
    return status;
}

bool budgets_kept(const budgets *b)
{
    bool kept = true;
    for (size_t i = 0; i < b->n; i++)
        kept &= b->items[i].result == BUDGET_KEPT;
    return kept;
}

/* ---- Why --------------------------------------------------------------------------------------------- */

static void add_name(const budget *b, dl_str *out)
{
    dl_str_add(out, "zone '");
    dl_str_shown(out, b->zone, strlen(b->zone));
    dl_str_fmt(out, "' on %s: ", b->risc ? b->risc : "any RISC");
}

static void explain_exceeded(const budget *b, unsigned width, dl_str *out)
{
    const char *start = out->text ? strrchr(out->text, '\n') : NULL;
    const size_t line = start ? (size_t)(start + 1 - out->text) : 0;
    char where[200];
    int n = snprintf(where, sizeof where, "on %s of core %u,%u", b->on, b->x, b->y);
    if (b->chip && n < (int)sizeof where)
        n += snprintf(where + n, sizeof where - (size_t)n, " of chip %u", b->chip);
    if (b->launch != UINT64_MAX && n < (int)sizeof where)
        snprintf(where + n, sizeof where - (size_t)n, " in launch %llu", (unsigned long long)b->launch);
    char most[DL_GROUPED_SIZE], cycles[DL_GROUPED_SIZE], over[DL_GROUPED_SIZE];
    dl_str_fmt(out, "%s cycles, %s more than its budget of %s,", dl_u64_grouped(most, b->most),
               dl_u64_grouped(over, b->most - b->cycles), dl_u64_grouped(cycles, b->cycles));
    const bool fits = !width || out->len - line + 1 + strlen(where) <= width;
    dl_str_fmt(out, fits ? " %s\n" : "\n  %s\n", where);
}

devlog_status budget_explain(const budget *b, const char *capture, const char *elf_folder, size_t top,
                             unsigned width, dl_str *out, devlog_error *err)
{
    if (b->result == BUDGET_KEPT) return DEVLOG_OK;
    add_name(b, out);
    if (b->result == BUDGET_NEVER_RAN) {
        dl_str_add(out, "it never ran; its name is that of the marker, and names are case-sensitive\n");
        return DEVLOG_OK;
    }
    if (b->result == BUDGET_LOST) {
        dl_str_fmt(out, "records were lost, so %s: devlog decode says what was lost and why\n",
                   b->count ? "it may have taken longer than those that are there"
                            : "it may have run or not");
        return DEVLOG_OK;
    }
    explain_exceeded(b, width, out);
    annotation a = {0};
    dl_capture_state state;
    const annotate_options o = {.risc = b->on,
                                .by_core = true,
                                .x = b->x,
                                .y = b->y,
                                .by_chip = true,
                                .chip = b->chip,
                                .launch = b->launch == UINT64_MAX ? 0 : b->launch,
                                .elf_folder = elf_folder};
    devlog_status status = annotate_read(&a, capture, &o, &state, err);
    dl_str lines = {0};
    /* That it took too long stands, whatever was recorded of why. */
    if (status == DEVLOG_ERR_FORMAT) status = DEVLOG_OK;
    if (!status && a.cycles)
        annotate_print_text(&(annotate_shown){.a = &a, .top = top, .width = width, .hot = 10}, &lines);
    else if (!status)
        dl_str_add(&lines, "Where they went is known on the built-in simulator with DEVLOG_ANNOTATE=1.\n");
    if (!status) dl_str_add_n(out, lines.text ? lines.text : "", lines.len);
    dl_str_free(&lines);
    annotate_free(&a);
    return status;
}

/* ---- The library ------------------------------------------------------------------------------------- */

static char *capture_of(const devlog_device *device)
{
    const char *log = devlog_profiler_log(device), *slash = strrchr(log, '/');
    char *folder = slash ? strndup(log, (size_t)(slash - log)) : strdup(".");
    char *path = folder && *log ? dl_path_join(folder, DL_CAPTURE_NAME) : NULL;
    free(folder);
    return path;
}

devlog_status devlog_budget_judge(devlog_device *device, const char *zone, const char *risc, uint64_t cycles,
                                  uint64_t *most, char **report, devlog_error *err)
{
    DL_IN_C_LOCALE();
    *report = NULL;
    if (!zone || !*zone) return dl_fail(err, DEVLOG_ERR_ARGUMENT, "a budget is of a zone, by its name");
    char *capture = capture_of(device);
    budgets b = {.running = true};
    dl_str text = {0};
    devlog_status status =
        capture ? DEVLOG_OK
                : dl_fail(err, DEVLOG_ERR_STATE,
                          "a budget is judged by the capture of a device that is profiled and has launched "
                          "something: open it with devlog_device_options.profile");
    if (!status) status = budgets_add(&b, zone, strlen(zone), risc, risc ? strlen(risc) : 0, cycles, 0, err);
    if (!status) status = budgets_judge(&b, capture, NULL, err);
    if (!status && most) *most = b.items[0].most;
    if (!status) status = budget_explain(&b.items[0], capture, NULL, 12, 120, &text, err);
    if (!status) status = dl_str_status(&text, err);
    if (!status && text.len) {
        *report = text.text;
        text = (dl_str){0};
    }
    dl_str_free(&text);
    budgets_free(&b);
    free(capture);
    return status;
}

bool devlog_budget_kept(devlog_device *device, const char *zone, const char *risc, uint64_t cycles,
                        const char *file, int line)
{
    devlog_error err;
    char *report = NULL;
    devlog_status status = devlog_budget_judge(device, zone, risc, cycles, NULL, &report, &err);
    if (status)
        fprintf(stderr, "%s:%d: %s\n", file, line, err.text);
    else if (report)
        fprintf(stderr, "%s:%d: %s", file, line, report);
    bool kept = !status && !report;
    free(report);
    return kept;
}
