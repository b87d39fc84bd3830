/* devlog/answers.h: every table, column, cell, unit and note against what the program prints as JSON, to the digit, of the example
 * network, in a program whose fractions have a comma, of what is damaged, and of real files; bad input; and that an answer outlives what it was asked with. */
#include <cjson/cJSON.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "devlog/answers.h"
#include "support/cli.h"
#include "support/comma.h"
#include "support/device.h"
#include "support/files.h"

static size_t cells; /* that were compared */

static const char *waits_log(void)
{
    static char path[1024];
    const char *home = getenv("DEVLOG_HOME");
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/causes/waits.csv", home ? home : ".");
    return path;
}

/* ---- The program --- */

static cJSON *json_of(const char *line, int *exit_status)
{
    char *out, *err;
    *exit_status = devlog(line, &out, &err);
    cJSON *json = cJSON_Parse(out);
    if (!json) fail_msg("devlog %s: no JSON: %s", line, err);
    free(out);
    free(err);
    return json;
}

static void same_text(const char *where, const cJSON *wanted, const char *found)
{
    const char *text = cJSON_GetStringValue(wanted);
    if ((text != NULL) != (found != NULL) || (text && strcmp(text, found) != 0))
        fail_msg("%s: '%s', not '%s'", where, found ? found : "-", text ? text : "-");
}

static void same_cell(const char *where, const cJSON *wanted, devlog_cell c)
{
    cells++;
    if (!wanted) fail_msg("%s: the program has no such cell", where);
    if (cJSON_IsNull(wanted) != !c.known) fail_msg("%s: known: %d", where, c.known);
    if (cJSON_IsString(wanted)) same_text(where, wanted, c.text);
    if (cJSON_IsNumber(wanted)) {
        assert_null(c.text);
        if (cJSON_GetNumberValue(wanted) != c.number)
            fail_msg("%s: %.17g, not %.17g", where, c.number, cJSON_GetNumberValue(wanted));
    }
    if (cJSON_IsBool(wanted)) assert_true(c.number == cJSON_IsTrue(wanted));
}

/* JSON names counts so; in the library they have no unit, as texts have none. */
static void same_unit(const char *where, const cJSON *wanted, const char *unit)
{
    const char *text = cJSON_GetStringValue(wanted);
    if (strcmp(text && strcmp(text, "count") != 0 ? text : "", unit) != 0)
        fail_msg("%s: unit '%s', not '%s'", where, unit, text ? text : "-");
}

static void same_facts(const devlog_answer *a, size_t table, const cJSON *facts)
{
    const devlog_table t = devlog_answer_table(a, table);
    assert_int_equal(t.rows, cJSON_GetArraySize(facts));
    for (size_t i = 0; i < t.rows; i++) {
        const char *key = devlog_answer_cell(a, table, i, 0).text;
        const cJSON *fact = cJSON_GetObjectItemCaseSensitive(facts, key);
        const devlog_cell value = devlog_answer_fact(a, t.key, key);
        same_cell(key, cJSON_GetObjectItem(fact, "value"), value);
        same_unit(key, cJSON_GetObjectItem(fact, "unit"), value.unit);
        same_cell(key, cJSON_GetObjectItem(fact, "note"), devlog_answer_cell(a, table, i, 3));
    }
}

static void same_rows(const devlog_answer *a, size_t table, const cJSON *section)
{
    const devlog_table t = devlog_answer_table(a, table);
    const cJSON *columns = cJSON_GetObjectItem(section, "columns"), *row;
    assert_int_equal(t.columns, cJSON_GetArraySize(columns));
    assert_int_equal(t.more, cJSON_GetNumberValue(cJSON_GetObjectItem(section, "more")));
    for (size_t k = 0; k < t.columns; k++) {
        const devlog_column c = devlog_answer_column(a, table, k);
        const cJSON *column = cJSON_GetArrayItem(columns, (int)k);
        same_text(t.key, cJSON_GetObjectItem(column, "key"), c.key);
        same_unit(c.key, cJSON_GetObjectItem(column, "unit"), c.unit);
        assert_int_equal(c.is_text, cJSON_IsNull(cJSON_GetObjectItem(column, "unit")));
        assert_int_equal(devlog_answer_find_column(a, table, c.key), k);
    }
    size_t i = 0;
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(section, "rows"))
    {
        for (size_t k = 0; k < t.columns; k++) {
            const char *key = devlog_answer_column(a, table, k).key;
            same_cell(key, cJSON_GetObjectItemCaseSensitive(row, key), devlog_answer_cell(a, table, i, k));
        }
        i++;
    }
    assert_int_equal(i, t.rows);
}

static void same_sections(const devlog_answer *a, const cJSON *json)
{
    const cJSON *sections = cJSON_GetObjectItem(json, "sections"), *section;
    assert_int_equal(devlog_answer_tables(a), cJSON_GetArraySize(sections));
    size_t i = 0;
    cJSON_ArrayForEach(section, sections)
    {
        const devlog_table t = devlog_answer_table(a, i);
        const cJSON *notes = cJSON_GetObjectItem(section, "notes");
        assert_string_equal(t.key, section->string);
        same_text(t.key, cJSON_GetObjectItem(section, "title"), t.title);
        assert_int_equal(devlog_answer_find(a, t.key), i);
        assert_int_equal(t.notes, cJSON_GetArraySize(notes));
        for (size_t k = 0; k < t.notes; k++)
            same_text(t.key, cJSON_GetArrayItem(notes, (int)k), devlog_answer_note(a, i, k));
        if (t.facts)
            same_facts(a, i, cJSON_GetObjectItem(section, "facts"));
        else
            same_rows(a, i, section);
        i++;
    }
}

/* ---- The same question to both --- */

static void printed_alike(const devlog_answer *a, const char *command, const char *inputs)
{
    static const char *const forms[] = {"text", "json", "csv", "md"};
    for (int form = 0; form < 4; form++) {
        char line[2048], *out, *printed = NULL;
        snprintf(line, sizeof line, "%s --format %s --top 0 %s", command, forms[form], inputs);
        devlog(line, &out, NULL);
        assert_int_equal(devlog_answer_print(a, (devlog_form)form, &printed, NULL), DEVLOG_OK);
        assert_string_equal(out, printed);
        free(out);
        free(printed);
    }
}

static void same_report(const char *input, const char *options, const devlog_report_options *o)
{
    char line[2048];
    int exit_status;
    devlog_answer *a;
    devlog_error err = {0};
    snprintf(line, sizeof line, "report --format json %s '%s'", options, input);
    cJSON *json = json_of(line, &exit_status);
    if (devlog_report(input, o, &a, &err)) fail_msg("devlog_report %s: %s", input, err.text);
    same_sections(a, json);
    assert_int_equal(devlog_answer_complete(a) ? 0 : 3, exit_status);
    snprintf(line, sizeof line, "%s '%s'", options, input);
    if (!strstr(options, "--top")) printed_alike(a, "report", line);
    devlog_answer_free(a);
    cJSON_Delete(json);
}

static void same_causes(const char *input, const char *options, const devlog_causes_options *o)
{
    char line[2048];
    int exit_status;
    devlog_answer *a;
    devlog_error err = {0};
    snprintf(line, sizeof line, "causes --format json %s '%s'", options, input);
    cJSON *json = json_of(line, &exit_status);
    if (devlog_causes(input, o, &a, &err)) fail_msg("devlog_causes %s: %s", input, err.text);
    same_sections(a, json);
    assert_int_equal(devlog_answer_complete(a) ? 0 : 3, exit_status);
    snprintf(line, sizeof line, "%s '%s'", options, input);
    printed_alike(a, "causes", line);
    devlog_answer_free(a);
    cJSON_Delete(json);
}

/* The answer of a log of ops with two leaks, and what is wrong with it. */
static void memory_is_that_of_the_program(void **state)
{
    (void)state;
    static const char log[] =
        "{\"e\":\"memory\",\"id\":0,\"t\":10,\"chip\":0,\"boot\":1,\"kind\":\"L1\",\"banks\":4,\"bytes\":4096,\"address\":64,\"columns\":2}\n"
        "{\"e\":\"alloc\",\"id\":0,\"t\":11,\"chip\":0,\"boot\":1,\"buffer\":1,\"kind\":\"L1\",\"address\":64,\"held\":128,\"banks\":4,"
        "\"bytes\":500,\"page\":125,\"name\":\"weights\",\"file\":\"a.c\",\"line\":3}\n"
        "{\"e\":\"alloc\",\"id\":0,\"t\":12,\"chip\":0,\"boot\":1,\"buffer\":2,\"kind\":\"L1\",\"address\":192,\"held\":64,\"banks\":1,"
        "\"bytes\":50,\"page\":50,\"file\":\"a.c\",\"line\":4}\n"
        "{\"e\":\"device_close\",\"id\":0,\"t\":20,\"chip\":0,\"boot\":1,\"live\":2}\n";
    char line[2048], input[512];
    int exit_status;
    devlog_answer *a;
    devlog_error err = {0};
    snprintf(input, sizeof input, "%s", in_scratch("profile_log_ops.jsonl"));
    write_text(input, log);
    for (size_t top = 0; top < 2; top++) {
        const devlog_memory_options o = DEVLOG_MEMORY_OPTIONS(.top = top, .steps = 3);
        const char *options = top ? "--steps 3 --top 1" : "--steps 3 --top 0";
        snprintf(line, sizeof line, "memory --format json %s '%s'", options, input);
        cJSON *json = json_of(line, &exit_status);
        if (devlog_memory_of_run(input, &o, &a, &err)) fail_msg("%s", err.text);
        same_sections(a, json);
        assert_int_equal(exit_status, 3);
        assert_false(devlog_answer_complete(a));
        assert_string_equal(devlog_answer_troubles(a),
                            "2 buffers of 576 bytes were not freed before the device was closed\n");
        snprintf(line, sizeof line, "%s '%s'", options, input);
        printed_alike(a, "memory", line);
        devlog_answer_free(a);
        cJSON_Delete(json);
    }
    assert_int_equal(devlog_memory_of_run(
                         input, &(devlog_memory_options)DEVLOG_MEMORY_OPTIONS(.steps = SIZE_MAX), &a, &err),
                     DEVLOG_ERR_ARGUMENT);
    assert_int_equal(devlog_memory_of_run(NULL, NULL, &a, &err), DEVLOG_ERR_ARGUMENT);
    assert_int_equal(devlog_memory_of_run(in_scratch("there is none"), NULL, &a, &err), DEVLOG_ERR_IO);
    assert_int_equal(mkdir(in_scratch("empty"), 0700), 0);
    assert_int_equal(devlog_memory_of_run(in_scratch("empty"), NULL, &a, &err), DEVLOG_ERR_NOT_FOUND);
    assert_null(a);
}

/* A line of a diff, or one of its causes: what JSON has below "old" and "new" has a name of its own in the table. */
static void same_line(const devlog_answer *a, size_t table, size_t row, const cJSON *line)
{
    static const char *const optional[] = {"place", "risc", "where", "moved_to"};
    static const char *const sides[] = {"old", "new"};
    const cJSON *field;
    size_t seen = 0;
    cJSON_ArrayForEach(field, line)
    {
        const size_t column = devlog_answer_find_column(a, table, field->string);
        if (cJSON_IsArray(field)) continue;
        for (int side = 0; side < 2 && cJSON_IsObject(field); side++) {
            const cJSON *of;
            if (strcmp(field->string, sides[side]) != 0) continue;
            cJSON_ArrayForEach(of, field)
            {
                char key[64];
                snprintf(key, sizeof key, "%s_%s", sides[side], of->string);
                same_cell(key, of,
                          devlog_answer_cell(a, table, row, devlog_answer_find_column(a, table, key)));
                seen++;
            }
        }
        if (cJSON_IsObject(field)) continue;
        assert_true(column != DEVLOG_NO_TABLE);
        same_cell(field->string, field, devlog_answer_cell(a, table, row, column));
        seen++;
    }
    for (size_t i = 0; i < 4; i++) {
        if (cJSON_GetObjectItem(line, optional[i])) continue;
        assert_false(
            devlog_answer_cell(a, table, row, devlog_answer_find_column(a, table, optional[i])).known);
        seen++;
    }
    seen += devlog_answer_find_column(a, table, "line") != DEVLOG_NO_TABLE;
    assert_int_equal(seen, devlog_answer_table(a, table).columns);
}

static void same_lines(const devlog_answer *a, const cJSON *json)
{
    const size_t lines = devlog_answer_find(a, "lines"), causes = devlog_answer_find(a, "causes");
    const size_t of = devlog_answer_find_column(a, causes, "line");
    const cJSON *line, *cause;
    size_t row = 0, n_causes = 0;
    cJSON_ArrayForEach(line, cJSON_GetObjectItem(json, "lines"))
    {
        same_line(a, lines, row, line);
        cJSON_ArrayForEach(cause, cJSON_GetObjectItem(line, "causes"))
        {
            assert_true(devlog_answer_cell(a, causes, n_causes, of).number == (double)row);
            same_line(a, causes, n_causes++, cause);
        }
        row++;
    }
    assert_int_equal(row, devlog_answer_table(a, lines).rows);
    assert_int_equal(n_causes, devlog_answer_table(a, causes).rows);
}

static void same_runs(const devlog_answer *a, const cJSON *json)
{
    static const char *const sides[] = {"old", "new"};
    static const char *const keys[] = {"name",     "mhz",       "ops",        "ops_without_time",
                                       "launches", "op_report", "device_log", "losses"};
    const size_t runs = devlog_answer_find(a, "runs");
    size_t row = 0;
    for (int side = 0; side < 2; side++) {
        const cJSON *run;
        cJSON_ArrayForEach(run, cJSON_GetObjectItem(json, sides[side]))
        {
            assert_string_equal(devlog_answer_cell(a, runs, row, 0).text, sides[side]);
            for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
                same_cell(keys[i], cJSON_GetObjectItem(run, keys[i]),
                          devlog_answer_cell(a, runs, row, devlog_answer_find_column(a, runs, keys[i])));
            row++;
        }
    }
    assert_int_equal(row, devlog_answer_table(a, runs).rows);
}

static void same_conditions(const devlog_answer *a, const cJSON *json)
{
    const size_t table = devlog_answer_find(a, "conditions");
    const cJSON *gate;
    size_t row = 0;
    cJSON_ArrayForEach(gate, cJSON_GetObjectItem(json, "gates"))
    {
        static const char *const keys[] = {"condition", "result", "failed", "undecided"};
        for (size_t i = 0; i < 4; i++)
            same_cell(keys[i], cJSON_GetObjectItem(gate, keys[i]), devlog_answer_cell(a, table, row, i));
        same_text("reason", cJSON_GetArrayItem(cJSON_GetObjectItem(gate, "reasons"), 0),
                  devlog_answer_cell(a, table, row, 4).text);
        row++;
    }
    assert_int_equal(row, devlog_answer_table(a, table).rows);
}

static void same_diff(const char *before, const char *after, const char *options,
                      const devlog_diff_options *o)
{
    char line[4096];
    int exit_status;
    devlog_answer *a;
    devlog_error err = {0};
    snprintf(line, sizeof line, "diff --format json %s '%s' '%s'", options, before, after);
    cJSON *json = json_of(line, &exit_status);
    if (devlog_diff(&before, 1, &after, 1, o, &a, &err)) fail_msg("devlog_diff: %s", err.text);
    same_cell("exact", cJSON_GetObjectItem(json, "exact"), devlog_answer_fact(a, "diff", "exact"));
    static const char *const facts[] = {"samples", "confidence_percent", "tested", "undecided"};
    for (size_t i = 0; i < 4; i++)
        same_cell(facts[i], cJSON_GetObjectItem(json, facts[i]), devlog_answer_fact(a, "diff", facts[i]));
    same_text("result", cJSON_GetObjectItem(json, "result"), devlog_answer_fact(a, "diff", "result").text);
    same_runs(a, json);
    same_conditions(a, json);
    same_lines(a, json);
    static const int exits[] = {[DEVLOG_PASSED] = 0, [DEVLOG_FAILED] = 4, [DEVLOG_UNDECIDED] = 5};
    const devlog_judgement judgement = devlog_answer_judgement(a);
    assert_int_equal(judgement == DEVLOG_PASSED && !devlog_answer_complete(a) ? 3 : exits[judgement],
                     exit_status);
    snprintf(line, sizeof line, "%s '%s' '%s'", options, before, after);
    printed_alike(a, "diff", line);
    devlog_answer_free(a);
    cJSON_Delete(json);
}

/* ---- What is asked --- */

/* Paths of a run of the example network; made once. */
static const char *network(const char *file)
{
    static bool made;
    if (!made) {
        char line[1024];
        const char *program = getenv("DEVLOG_BIN");
        const int n = program ? (int)(strlen(program) - strlen("devlog")) : 0;
        snprintf(line, sizeof line, "run -o network -- %.*snn 2", n, program ? program : "");
        free(devlog_ok(line, 0));
        made = true;
    }
    return in_scratch(file);
}

static void test_network(void **state)
{
    (void)state;
    char report[512], folder[512], capture[512];
    snprintf(folder, sizeof folder, "%s", network("network"));
    snprintf(report, sizeof report, "%s", network("network/ops_perf_results.csv"));
    snprintf(capture, sizeof capture, "%s", network("network/logs_device/capture.devlog"));
    const char *const matmuls[] = {"Matmul", "Soft*"}, *const none[] = {"no such op"};
    const devlog_range launches = {3, 9};
    const devlog_selection some = DEVLOG_SELECTION(.ops = matmuls, .n_ops = 2),
                           few = DEVLOG_SELECTION(.launches = &launches, .n_launches = 1),
                           nothing = DEVLOG_SELECTION(.ops = none, .n_ops = 1);
    same_report(folder, "", NULL);
    same_report(report, "--group shape --sort gap --time fw --top 3",
                &(devlog_report_options)DEVLOG_REPORT_OPTIONS(.group = DEVLOG_GROUP_SHAPE,
                                                              .sort = DEVLOG_SORT_GAP, .firmware_time = true,
                                                              .top = 3));
    same_report(folder, "--op Matmul --op 'Soft*' --dram-bandwidth 100",
                &(devlog_report_options)DEVLOG_REPORT_OPTIONS(.selection = &some, .dram_bytes_per_s = 100e9));
    same_report(capture, "--launches 3-9 --group none",
                &(devlog_report_options)DEVLOG_REPORT_OPTIONS(.selection = &few, .group = DEVLOG_GROUP_NONE));
    same_causes(capture, "", NULL);
    same_causes(folder, "--launches 3-9", &(devlog_causes_options)DEVLOG_CAUSES_OPTIONS(.selection = &few));
    same_diff(folder, folder, "--exact", &(devlog_diff_options)DEVLOG_DIFF_OPTIONS(.exact = true));
    same_diff(capture, in_scratch("network/logs_device/profile_log_device.csv"), "", NULL);
    same_diff(report, folder, "", NULL);

    devlog_answer *a = (devlog_answer *)&a;
    devlog_error err = {0};
    assert_int_equal(
        devlog_report(folder, &(devlog_report_options)DEVLOG_REPORT_OPTIONS(.selection = &nothing), &a, &err),
        DEVLOG_ERR_NOT_FOUND);
    assert_null(a);
    char line[1024], *said;
    snprintf(line, sizeof line, "report --op 'no such op' '%s'", folder);
    assert_int_equal(devlog(line, NULL, &said), 1);
    assert_non_null(strstr(said, err.text));
    free(said);
}

/* A log that was cut off, in the folder of its run: losses, and a diff of what is whole with what is not. */
static void test_losses(void **state)
{
    (void)state;
    size_t n;
    char folder[512], line[2048];
    snprintf(folder, sizeof folder, "%s", network("network"));
    snprintf(line, sizeof line, "cp -r '%s' '%s'", folder, in_scratch("cut"));
    assert_int_equal(system(line), 0);
    char *log = read_bytes(in_scratch("cut/logs_device/capture.devlog"), &n);
    FILE *f = fopen(in_scratch("cut/logs_device/capture.devlog"), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(log, 1, n * 2 / 3, f), n * 2 / 3);
    fclose(f);
    free(log);
    char cut[512];
    snprintf(cut, sizeof cut, "%s", in_scratch("cut"));
    same_report(cut, "", NULL);
    same_report(in_scratch("cut/logs_device/capture.devlog"), "", NULL);
    same_causes(cut, "", NULL);
    const char *const conditions[] = {"op>+5%", "missing", "count>+0%"};
    same_diff(folder, cut, "--exact --fail-on 'op>+5%' --fail-on missing --fail-on 'count>+0%'",
              &(devlog_diff_options)DEVLOG_DIFF_OPTIONS(.exact = true, .conditions = conditions,
                                                        .n_conditions = 3));
    devlog_answer *a;
    assert_int_equal(devlog_report(cut, NULL, &a, NULL), DEVLOG_OK);
    assert_false(devlog_answer_complete(a));
    devlog_answer_free(a);
}

static void test_waits(void **state)
{
    (void)state;
    const char *waits = waits_log();
    same_causes(waits, "", NULL);
    same_report(waits, "", NULL);

    size_t n;
    char fraction[512], *text = read_bytes(waits, &n), *mhz = strstr(text, "MHz]: 1000");
    assert_non_null(mhz);
    memcpy(mhz, "MHz]: 1.25", 10);
    snprintf(fraction, sizeof fraction, "%s", in_scratch("slow.csv"));
    write_text(fraction, text);
    free(text);
    same_causes(fraction, "", NULL);
    same_diff(waits, fraction, "", NULL);
}

/* Real logs and op reports, and each report beside a damaged copy. */
static void test_samples(void **state)
{
    (void)state;
    const char *folder = getenv("DEVLOG_SAMPLES");
    DIR *dir = folder ? opendir(folder) : NULL;
    if (!dir) {
        print_message("skipped: DEVLOG_SAMPLES does not name a folder with logs of other tools\n");
        skip();
    }
    for (struct dirent *e; (e = readdir(dir));) {
        char path[1024];
        if (!strstr(e->d_name, ".csv")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        same_report(path, "", NULL);
        if (strncmp(e->d_name, "ops", 3) != 0) {
            same_causes(path, "", NULL);
            continue;
        }
        size_t n;
        char *text = read_bytes(path, &n);
        text[n * 2 / 3] = 0;
        write_text(in_scratch("damaged.csv"), text);
        free(text);
        same_report(in_scratch("damaged.csv"), "", NULL);
        same_diff(path, in_scratch("damaged.csv"), "", NULL);
    }
    closedir(dir);
}

/* Several runs of each version, conditions that are freed after the call, and everything that is wrong. */
static void test_many_and_bad(void **state)
{
    (void)state;
    const char *const waits[] = {waits_log(), waits_log()};
    devlog_answer *a = NULL;
    devlog_error err = {0};
    char *condition = strdup("zone>+5%");
    const char *conditions[] = {condition};
    devlog_diff_options o = DEVLOG_DIFF_OPTIONS(.conditions = conditions, .n_conditions = 1);
    assert_int_equal(devlog_diff(waits, 2, waits, 1, &o, &a, &err), DEVLOG_OK);
    memset(condition, '?', strlen(condition));
    free(condition);
    assert_string_equal(devlog_answer_cell(a, devlog_answer_find(a, "conditions"), 0, 0).text, "zone>+5%");
    assert_string_equal(devlog_answer_fact(a, "diff", "samples").text, "runs");
    assert_int_equal(devlog_answer_table(a, devlog_answer_find(a, "runs")).rows, 3);
    assert_string_equal(devlog_answer_troubles(a), "");
    /* What there is not. */
    assert_int_equal(devlog_answer_find(a, "none"), DEVLOG_NO_TABLE);
    assert_int_equal(devlog_answer_find_column(a, DEVLOG_NO_TABLE, "key"), DEVLOG_NO_TABLE);
    assert_string_equal(devlog_answer_table(a, 99).key, "");
    assert_string_equal(devlog_answer_column(a, 0, 99).unit, "");
    assert_false(devlog_answer_cell(a, 0, 99, 0).known);
    assert_false(devlog_answer_fact(a, "lines", "exact").known);
    assert_false(devlog_answer_fact(a, "diff", "no such fact").known);
    assert_string_equal(devlog_answer_note(a, 0, 99), "");
    char *out = NULL;
    assert_int_equal(devlog_answer_print(a, (devlog_form)9, &out, &err), DEVLOG_ERR_ARGUMENT);
    devlog_answer_free(a);
    devlog_answer_free(NULL);

    conditions[0] = "op is slow";
    assert_int_equal(devlog_diff(waits, 1, waits, 1, &o, &a, &err), DEVLOG_ERR_ARGUMENT);
    assert_null(a);
    assert_non_null(strstr(err.text, "op is slow"));
    o = (devlog_diff_options)DEVLOG_DIFF_OPTIONS(.confidence_percent = 100);
    assert_int_equal(devlog_diff(waits, 1, waits, 1, &o, &a, &err), DEVLOG_ERR_ARGUMENT);
    assert_int_equal(devlog_diff(waits, 0, waits, 1, NULL, &a, &err), DEVLOG_ERR_ARGUMENT);
    assert_int_equal(devlog_report("/no/such/file", NULL, &a, &err), DEVLOG_ERR_NOT_FOUND);
    assert_int_equal(devlog_report(NULL, NULL, &a, &err), DEVLOG_ERR_ARGUMENT);
    devlog_report_options wrong = {.size = sizeof wrong, .group = (devlog_group)99};
    assert_int_equal(devlog_report(waits[0], &wrong, &a, &err), DEVLOG_ERR_ARGUMENT);
    wrong = (devlog_report_options){.board = "no board"};
    assert_int_equal(devlog_report(waits[0], &wrong, &a, &err), DEVLOG_ERR_ARGUMENT); /* without its size */
    wrong = (devlog_report_options)DEVLOG_REPORT_OPTIONS(.rules = "/no/such/rules.json");
    assert_true(devlog_report(waits[0], &wrong, &a, &err) != DEVLOG_OK);
    write_text(in_scratch("empty.csv"), "");
    assert_int_equal(devlog_causes(in_scratch("empty.csv"), NULL, &a, &err), DEVLOG_ERR_FORMAT);
    assert_null(a);
    write_text(in_scratch("report.csv"), "OP CODE,DEVICE KERNEL DURATION [ns]\nadd,5\nadd,x\n");
    assert_int_equal(devlog_causes(in_scratch("report.csv"), NULL, &a, &err), DEVLOG_ERR_ARGUMENT);
    assert_int_equal(devlog_report(in_scratch("report.csv"), NULL, &a, &err), DEVLOG_OK);
    assert_non_null(strstr(devlog_answer_troubles(a), "1 cells that should be numbers are none"));
    assert_false(devlog_answer_complete(a));
    devlog_answer_free(a);
}

/* Every cell of the report, as it stands; a folder without one has the same; what is no report is refused. */
static void test_op_rows(void **state)
{
    (void)state;
    devlog_answer *a;
    devlog_error err = {0};
    char report[512];
    snprintf(report, sizeof report, "%s", network("network/ops_perf_results.csv"));
    if (devlog_op_rows(report, &a, &err)) fail_msg("devlog_op_rows: %s", err.text);
    const devlog_table t = devlog_answer_table(a, 0);
    assert_string_equal(t.key, "ops");
    size_t size, rows = 0;
    char *text = read_bytes(report, &size), *printed;
    for (size_t i = 0; i < size; i++)
        rows += text[i] == '\n';
    assert_int_equal(t.rows, rows - 1);
    assert_int_equal(strncmp(text, "OP CODE,", 8), 0);
    for (size_t i = 0; i < t.rows; i++)
        assert_non_null(devlog_answer_cell(a, 0, i, 0).text);
    assert_int_equal(devlog_answer_print(a, DEVLOG_AS_JSON, &printed, NULL), DEVLOG_OK);
    assert_true(is_json(printed));
    free(printed);
    /* Its CSV is the report's, but for what is unknown there: "-" is an empty cell here. */
    assert_int_equal(devlog_answer_print(a, DEVLOG_AS_CSV, &printed, NULL), DEVLOG_OK);
    assert_int_equal(strncmp(printed, text, strcspn(text, "\r\n")), 0);
    free(printed);
    free(text);
    assert_true(devlog_answer_complete(a));
    devlog_answer_free(a);
    assert_int_equal(devlog_op_rows(waits_log(), &a, &err), DEVLOG_ERR_NOT_FOUND);
    assert_null(a);
    assert_int_equal(devlog_op_rows(NULL, &a, &err), DEVLOG_ERR_ARGUMENT);

    const char *fraction = in_scratch("fraction.csv");
    write_text(fraction, "OP CODE,DEVICE KERNEL DURATION [ns],PM FPU UTIL (%)\nMatmul,100,12.25\n");
    if (devlog_op_rows(fraction, &a, &err)) fail_msg("devlog_op_rows: %s", err.text);
    assert_true(devlog_answer_cell(a, 0, 0, 2).number == 12.25);
    devlog_answer_free(a);
    snprintf(report, sizeof report, "%s", in_scratch("fraction.csv"));
    char slower[512];
    snprintf(slower, sizeof slower, "%s", in_scratch("slower.csv"));
    write_text(slower, "OP CODE,DEVICE KERNEL DURATION [ns],PM FPU UTIL (%)\nMatmul,150,12.25\n");
    const char *const condition = "op>+5%";
    same_diff(report, slower, "--exact --fail-on 'op>+5%'",
              &(devlog_diff_options)DEVLOG_DIFF_OPTIONS(.exact = true, .conditions = &condition,
                                                        .n_conditions = 1));
}

static void test_that_cells_were_compared(void **state)
{
    (void)state;
    assert_true(cells > 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_that_of_the_program),
        cmocka_unit_test(test_network),
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_many_and_bad),
        cmocka_unit_test(test_op_rows),
        cmocka_unit_test(test_that_cells_were_compared),
    };
    return cmocka_run_group_tests(tests, comma_set_up, NULL);
}
