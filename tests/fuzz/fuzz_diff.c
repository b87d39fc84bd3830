/* Fuzzing the diff: a line with a condition, then two op reports, the second behind an empty line. Any bytes are a
 * diff or an error; every output is whole, and a table compared with itself differs in nothing. */
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "answers/diff_print.h"
#include "fuzz/fuzz.h"

static bool make(diff *d, const op_table *old, const op_table *new, bool exact)
{
    const diff_options o = {.runs = {1, 1}, .ops = true, .exact = exact};
    if (diff_begin(d, &o, NULL)) abort();
    if (diff_add_run(d, DIFF_OLD, "old", old, NULL, 0, NULL)) abort();
    if (diff_add_run(d, DIFF_NEW, "new", new, NULL, 0, NULL)) abort();
    return diff_finish(d, NULL) == DEVLOG_OK;
}

static void print(const diff *d, const char *condition, uint32_t ways)
{
    static diff_printer *const printers[] = {diff_print_text, diff_print_markdown, diff_print_csv,
                                             diff_print_json, diff_print_junit};
    gate g;
    const bool gated = gate_parse(&g, condition, NULL) == DEVLOG_OK && gate_judge(&g, d, NULL) == DEVLOG_OK;
    const diff_shown s = {.d = d, .gates = &g, .n_gates = gated, .width = 80, .top = 5};
    for (size_t i = 0; i < sizeof printers / sizeof printers[0]; i++) {
        if (!(ways >> i & 1)) continue;
        dl_str out = {0};
        printers[i](&s, &out);
        if (out.failed) abort();
        if (printers[i] == diff_print_json) {
            cJSON *json = cJSON_Parse(out.text);
            if (!json) abort();
            cJSON_Delete(json);
        }
        dl_str_free(&out);
    }
    gate_free(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char condition[100] = "";
    const char *text = (const char *)data, *line = size ? memchr(text, '\n', size) : NULL;
    if (!line) return 0;
    const size_t n = (size_t)(line - text);
    memcpy(condition, text, n < sizeof condition ? n : sizeof condition - 1);
    const char *first = line + 1, *end = text + size;
    const char *gap = memmem(first, (size_t)(end - first), "\n\n", 2);
    const char *second = gap ? gap + 2 : first, *first_end = gap ? gap + 1 : end;
    op_table old, new;
    const bool good_old =
        op_table_parse_more(&old, "old", first, (size_t)(first_end - first), NULL) == DEVLOG_OK;
    const bool good_new = op_table_parse_more(&new, "new", second, (size_t)(end - second), NULL) == DEVLOG_OK;
    diff d;
    if (good_old && good_new) {
        fuzz_got_inside();
        if (make(&d, &old, &new, size % 2)) print(&d, condition, fuzz_ways(data, size, 5));
        diff_free(&d);
    }
    if (good_old && make(&d, &old, &old, true) &&
        d.counted[DIFF_OP][DIFF_SLOWER] + d.counted[DIFF_OP][DIFF_FASTER])
        abort();
    if (good_old) diff_free(&d);
    op_table_free(&old);
    op_table_free(&new);
    return 0;
}
