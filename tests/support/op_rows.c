/* Op reports of logs that a test writes by hand: see op_rows.h. */
#include "support/op_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/device.h"
#include "support/files.h"

cJSON *op_rows(const char *folder, const char *ops, const char *device, op_job *job)
{
    char path[200];
    devlog_error err = {0};
    snprintf(path, sizeof path, "%s/profile_log_ops.jsonl", folder);
    if (ops) write_text(path, ops);
    snprintf(path, sizeof path, "%s/profile_log_device.csv", folder);
    write_text(path, device);
    const op_job_options o = {
        .logs = folder, .output = folder, .name = "out", .no_tar = true, .report = {.json = true}};
    check_ok(op_job_run(job, &o, &err), &err);
    char *text = read_bytes(job->report_path, NULL);
    cJSON *rows = cJSON_Parse(text);
    assert_non_null(rows);
    free(text);
    return rows;
}

double op_rows_number(const cJSON *row, const char *column)
{
    const cJSON *c = cJSON_GetObjectItemCaseSensitive(row, column);
    return cJSON_IsNumber(c) ? c->valuedouble : 0;
}

void op_rows_say(const op_job *job, const char *what)
{
    dl_str text = {0};
    op_job_describe(job, false, &text);
    assert_true(op_job_lost(job));
    if (!strstr(text.text, what)) fail_msg("'%s' does not say '%s'", text.text, what);
    dl_str_free(&text);
}
