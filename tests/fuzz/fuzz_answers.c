/* Fuzzing answers: a byte of what is asked for, then an op report or a device log. Any bytes are an answer or an error; no row
 * is lost, and every output is whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "answers/answer_print.h"
#include "answers/causes_saves.h"
#include "answers/causes_sums.h"
#include "answers/sections.h"
#include "fuzz/fuzz.h"

static void print(const answer *a, uint32_t ways)
{
    static answer_printer *const printers[] = {answer_print_text, answer_print_markdown, answer_print_csv,
                                               answer_print_json};
    const answer_shown s = {.a = a, .kind = "report", .version = 1, .width = 80};
    for (size_t i = 0; i < sizeof printers / sizeof printers[0]; i++) {
        if (!(ways >> i & 1)) continue;
        dl_str out = {0};
        printers[i](&s, &out);
        if (out.failed) abort();
        if (printers[i] == answer_print_json) {
            cJSON *json = cJSON_Parse(out.text);
            if (!json) abort();
            cJSON_Delete(json);
        }
        dl_str_free(&out);
    }
}

/* Those of the installation; kept for all inputs. */
static const rules *usual_rules(void)
{
    static rules *usual;
    static bool asked;
    if (!asked && rules_read(&usual, NULL, NULL, NULL) != DEVLOG_OK) {
        rules_free(usual);
        usual = NULL;
    }
    asked = true;
    return usual;
}

static void answer_all(answer_run *r, run_log *log, uint8_t asked, uint32_t ways)
{
    answer a;
    const answer_wishes w = {.group = asked % (GROUP_NONE + 1),
                             .sort = asked % SORTS,
                             .rules = usual_rules(),
                             .top = asked & 64 ? 3 : 0};
    size_t points = 0, rows = 0;
    for (size_t i = 0; i < r->table->n; i++)
        points += (r->table->rows[i].has & OP_IS_POINT) != 0;
    for (size_t i = 0; i < r->n_ops; i++)
        rows += r->ops[i].chips ? r->ops[i].chips : 1;
    if (rows + r->left_out + points != r->table->n) abort();
    if (rows) fuzz_got_inside();
    if (log) answer_run_add_log(r, log);
    if (answer_make(&a, r, &w, NULL) == DEVLOG_OK) print(&a, ways);
    answer_free(&a);
}

/* Zones of the log, beside a decoder. */
static run_log *zones_of(dl_decode *d, const uint8_t *data, size_t size)
{
    run_log *log = NULL;
    devlog_error err;
    if (run_log_begin(&log, d, NULL, &err) == DEVLOG_OK &&
        dl_decode_run_sink(d, run_log_runs(log), &err) == DEVLOG_OK &&
        dl_decode_memory(d, "log", data, size, &err) == DEVLOG_OK && dl_decode_finish(d, &err) == DEVLOG_OK &&
        run_log_end(log, &err) == DEVLOG_OK)
        return log;
    run_log_free(log);
    return NULL;
}

static bool same_zone(const run_zone *a, const run_zone *b)
{
    return a->code == b->code && strcmp(a->risc, b->risc) == 0 && strcmp(a->name, b->name) == 0 &&
           a->role == b->role && a->count == b->count && a->total == b->total && a->own == b->own &&
           a->min == b->min && a->max == b->max && a->cores == b->cores && a->chip == b->chip &&
           a->worst.x == b->worst.x && a->worst.y == b->worst.y && a->worst_total == b->worst_total;
}

/* The same zones when nothing is remembered of runs that look alike. */
static void compare_zones(const uint8_t *data, size_t size)
{
    dl_decode *d[2];
    run_log *logs[2];
    size_t n[2] = {0, 0};
    const run_zone *zones[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        const dl_decode_options how = {.threads = 1, .no_samples = true, .no_shapes = i == 1};
        devlog_error err;
        if (dl_decode_new(&d[i], &how, &err) != DEVLOG_OK) abort();
        logs[i] = zones_of(d[i], data, size);
        if (logs[i]) zones[i] = run_log_zones(logs[i], &n[i]);
    }
    if (n[0] != n[1]) abort();
    for (size_t i = 0; i < n[0]; i++)
        if (!same_zone(&zones[0][i], &zones[1][i])) abort();
    for (int i = 0; i < 2; i++) {
        run_log_free(logs[i]);
        dl_decode_free(d[i]);
    }
}

/* As a log alone: its launches. By a file, as logs are. */
static void of_log(const uint8_t *data, size_t size, uint8_t asked, uint32_t ways, const op_selection *s)
{
    char path[64];
    const char *const paths[] = {path};
    const int fd = memfd_create("fuzz", 0);
    run_log *log = NULL;
    op_table t = {0};
    answer_run r;
    answer_run_options o = {.selection = s, .made = true};
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (run_log_read(&log, paths, 1, NULL, false, NULL, NULL) == DEVLOG_OK &&
        op_table_new(&t, "fuzz", NULL) == DEVLOG_OK && run_log_rows(log, &t, &o.cycles, NULL) == DEVLOG_OK &&
        answer_run_make(&r, &t, &o, NULL) == DEVLOG_OK) {
        causes_reading why = {0};
        causes_saves saves = {0};
        if (!r.left_out && run_log_has_waits(log) && causes_read(&why, path, NULL) == DEVLOG_OK) {
            r.causes = &why.sums;
            if (causes_find_saves(&saves, why.log, why.d, run_log_op_of, log, NULL) == DEVLOG_OK)
                r.saves = &saves;
        }
        answer_all(&r, log, asked, ways);
        causes_saves_free(&saves);
        causes_reading_free(&why);
        answer_run_free(&r);
    }
    run_log_free(log);
    op_table_free(&t);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const dl_filter_range chip = {0, 0};
    if (!size) return 0;
    const uint8_t asked = data[0];
    const uint32_t ways = fuzz_ways(data, size, 4);
    const op_selection s = {.filter = {.chips = asked & 128 ? &chip : NULL, .n_chips = asked & 128 ? 1 : 0},
                            .skip_warm_up = asked & 32};
    op_table t;
    answer_run r;
    const answer_run_options o = {.selection = &s, .by_fw = asked & 16};
    const bool table = op_table_parse_wide(&t, "fuzz", data + 1, size - 1, NULL) == DEVLOG_OK;
    if (table && answer_run_make(&r, &t, &o, NULL) == DEVLOG_OK) {
        answer_all(&r, NULL, asked, ways);
        answer_run_free(&r);
    }
    op_table_free(&t);
    if (!table) of_log(data + 1, size - 1, asked, ways, &s);
    if (!table && size % 4 == 0) compare_zones(data + 1, size - 1);
    return 0;
}
