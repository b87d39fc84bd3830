/* Timelines call launches after their ops: names as the op log has them, to the letter and no further. */
#include <cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "support/cli.h"
#include "support/files.h"

#define HEADER                                                                                               \
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host "    \
    "ID, trace id, trace id counter, zone name, type, source line, source file, meta data\n"
#define ZONE(launch, from, to, op)                                                                           \
    "0,0,0,BRISC,1," #from ",0," #launch ",,,BRISC-FW,ZONE_START,0,,{\"op\":" #op "}\n0,0,0,BRISC,4," #to    \
    ",0," #launch ",,,BRISC-FW,ZONE_END,0,,\n"
#define OP(id, more)                                                                                         \
    "{\"e\":\"start\",\"id\":" #id ",\"t\":1,\"thread\":0,\"depth\":1," more "}\n"                           \
    "{\"e\":\"in\",\"id\":" #id ",\"shape\":[1,1,32,32],\"layout\":\"TILE\"}\n"                              \
    "{\"e\":\"end\",\"id\":" #id ",\"t\":2,\"thread\":0}\n"

static void count_names(const cJSON *item, const char *name, int *same, int *longer)
{
    for (; item; item = item->next) {
        if (cJSON_IsString(item)) {
            *same += strcmp(item->valuestring, name) == 0;
            *longer += strncmp(item->valuestring, name, strlen(name)) == 0 &&
                       item->valuestring[strlen(name)] && item->valuestring[strlen(name)] != ' ';
        }
        count_names(item->child, name, same, longer);
    }
}

static void exported_launches_have_the_names_of_their_ops(void **state)
{
    (void)state;
    static const char *const names[] = {"Matmul", "Add", "a \"b\"\n\xC3\xA4"};
    write_text(in_scratch("profile_log_device.csv"),
               "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 80, Run: ab\n" HEADER ZONE(
                   1, 100, 200, 1) ZONE(2, 300, 400, 2) ZONE(3, 500, 600, 3) ZONE(4, 700, 800, 4));
    write_text(
        in_scratch("profile_log_ops.jsonl"),
        "{\"e\":\"run\",\"t\":1,\"version\":1,\"run\":\"ab\",\"pid\":1}\n" OP(
            1, "\"name\":\"Matmul\",\"type\":\"tt_dnn_device\",\"fidelity\":\"HiFi4\",\"strategy\":\"M\"")
            OP(2, "\"type\":\"tt_dnn_device\",\"fidelity\":\"LoFi\",\"name\":\"Add\"")
                OP(3, "\"name\":\"a \\\"b\\\"\\n\\u00e4\",\"type\":\"tt_dnn_cpu\"")
                    OP(4, "\"name\":\"\"") "{\"e\":\"close\",\"t\":9,\"ops\":4,\"lost\":0}\n");
    free(devlog_ok("export --format chrome -o out.json profile_log_device.csv", 0));
    char *text = read_bytes(in_scratch("out.json"), NULL);
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int same = 0, longer = 0;
        count_names(json, names[i], &same, &longer);
        if (!same || longer) fail_msg("'%s': %d times, %d times longer, in %s", names[i], same, longer, text);
    }
    assert_null(strstr(text, "HiFi4"));
    cJSON_Delete(json);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(exported_launches_have_the_names_of_their_ops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
