/* Every byte of every output for the logs in tests/golden. Their figures are worked out by hand in
 * test_decode_analysis.c and test_decode_reference.c; this keeps the formats as they are. After a wanted
 * change of a format: DEVLOG_GOLDEN=write ./dev test test_golden, and read the difference before committing
 * it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "support/cli.h"
#include "support/files.h"

static const struct {
    const char *folder, *options;
    int exit_status;
} cases[] = {
    {"reference", "", 0},
    {"l2", "", 0},
    {"l9", "--analyses analyses.json", 3},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

static const char *const printed[][2] = {
    {"decode.json", "decode log.csv -f json"},
    {"decode.csv", "decode log.csv -f csv"},
    {"decode.txt", "decode log.csv -o out --no-page"},
};
static const char *const files[] = {"device_stats.txt", "device_rearranged_timestamps.csv"};

static void bring(const char *folder, const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/tests/golden/%s/%s", dl_home(), folder, name);
    if (access(path, R_OK) != 0) return;
    char *text = read_bytes(path, NULL);
    write_text(in_scratch(name), text ? text : "");
    free(text);
}

static void compare(const char *folder, const char *name, const char *text)
{
    char path[600];
    snprintf(path, sizeof path, "%s/tests/golden/%s/%s", dl_home(), folder, name);
    if (getenv("DEVLOG_GOLDEN")) write_text(path, text);
    char *expected = read_bytes(path, NULL);
    if (strcmp(text, expected) != 0) fail_msg("%s is not as it was; it is now:\n%s", path, text);
    free(expected);
}

static void outputs_are_as_they_were(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bring(cases[i].folder, "log.csv");
        bring(cases[i].folder, "analyses.json");
        for (size_t k = 0; k < sizeof printed / sizeof printed[0]; k++) {
            char line[200];
            snprintf(line, sizeof line, "%s %s", printed[k][1], cases[i].options);
            char *text = devlog_ok(line, cases[i].exit_status);
            if (k == 0) assert_true(is_json(text));
            compare(cases[i].folder, printed[k][0], text);
            free(text);
        }
        for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
            char name[100];
            snprintf(name, sizeof name, "out/%s", files[k]);
            char *text = read_bytes(in_scratch(name), NULL);
            compare(cases[i].folder, files[k], text);
            free(text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(outputs_are_as_they_were)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
