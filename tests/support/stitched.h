/* Op logs and device logs in a folder, what devlog ops makes of them, and what is to be seen in it. For tests of stitching. */
#ifndef DEVLOG_TESTS_STITCHED_H
#define DEVLOG_TESTS_STITCHED_H

#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "ops/op_job.h"
#include "support/cmocka_all.h"
#include "support/device.h"
#include "support/files.h"

#define HEADER                                                                                               \
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host "    \
    "ID, "                                                                                                   \
    "trace id, trace id counter, zone name, type, source line, source file, meta data\n"
#define CHIP(run) "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 500, Max Compute Cores: 80, Run: " run "\n" HEADER

typedef struct fixture {
    const char *folder;
    op_job job;
    devlog_status status;
    devlog_error err;
    cJSON *rows;
    dl_str text; /* what is said to people */
} fixture;

static inline void put(const char *folder, const char *name, const char *text)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    write_text(path, text);
}

static inline void run_job(fixture *f, const op_job_options *more)
{
    op_job_options o = {.logs = f->folder, .output = f->folder, .name = "out"};
    if (more) {
        o = *more;
        o.logs = o.logs ? o.logs : f->folder;
        o.output = f->folder;
        o.name = "out";
    }
    o.report.json = true;
    f->status = op_job_run(&f->job, &o, &f->err);
    if (f->status) return;
    size_t size;
    char *json = read_bytes(f->job.report_path, &size);
    f->rows = cJSON_Parse(json);
    if (!f->rows) fail_msg("the report is no JSON: %s", json);
    free(json);
    op_job_describe(&f->job, false, &f->text);
}

static inline fixture stitched(const char *ops, const char *device)
{
    fixture f = {.folder = test_folder()};
    char *folder = strdup(f.folder);
    f.folder = folder;
    if (ops) put(folder, "profile_log_ops.jsonl", ops);
    if (device) put(folder, "profile_log_device.csv", device);
    run_job(&f, NULL);
    return f;
}

static inline void done(fixture *f)
{
    cJSON_Delete(f->rows);
    dl_str_free(&f->text);
    op_job_free(&f->job);
    char other[400];
    snprintf(other, sizeof other, "%s_device", f->folder);
    dl_folder_remove(other);
    free((char *)f->folder);
}

static inline const cJSON *cell(const fixture *f, int row, const char *column)
{
    const cJSON *r = cJSON_GetArrayItem(f->rows, row);
    const cJSON *c = cJSON_GetObjectItemCaseSensitive(r, column);
    if (!c) fail_msg("row %d has no column %s", row, column);
    return c;
}

static inline void number_is(const fixture *f, int row, const char *column, double value)
{
    const cJSON *c = cell(f, row, column);
    if (!cJSON_IsNumber(c) || c->valuedouble != value)
        fail_msg("row %d, %s: %s instead of %.0f", row, column, cJSON_PrintUnformatted(c), value);
}

static inline void text_is(const fixture *f, int row, const char *column, const char *value)
{
    const cJSON *c = cell(f, row, column);
    bool same = value ? cJSON_IsString(c) && strcmp(c->valuestring, value) == 0 : cJSON_IsNull(c);
    if (!same)
        fail_msg("row %d, %s: %s instead of %s", row, column, cJSON_PrintUnformatted(c),
                 value ? value : "nothing");
}

static inline void says(const fixture *f, const char *text)
{
    if (!strstr(f->text.text, text)) fail_msg("'%s' does not say '%s'", f->text.text, text);
}

#define RUN(id) "{\"e\":\"run\",\"t\":1,\"version\":1,\"run\":\"" id "\",\"pid\":1}\n"
#define CLOSE   "{\"e\":\"close\",\"t\":9,\"ops\":1,\"lost\":0}\n"
#define OP(id, name, start, end)                                                                             \
    "{\"e\":\"start\",\"id\":" #id ",\"t\":" #start ",\"thread\":0,\"depth\":1,\"name\":\"" name             \
    "\",\"type\":\"tt_dnn_device\"}\n"                                                                       \
    "{\"e\":\"end\",\"id\":" #id ",\"t\":" #end ",\"thread\":0,\"own\":5}\n"
#define LAUNCH(id, chip, number)                                                                             \
    "{\"e\":\"launch\",\"id\":" #id ",\"t\":3,\"chip\":" #chip ",\"launch\":" #number                        \
    ",\"program\":1,\"cached\":0,\"cores\":1}\n"
#define DEVICE(chip)                                                                                         \
    "{\"e\":\"device\",\"chip\":" #chip                                                                      \
    ",\"t\":2,\"arch\":\"wormhole_b0\",\"mhz\":500,\"cores\":64,\"profiled\":1}\n"
/* A zone on a RISC; `meta` as in the log. */
#define ZONE(chip, x, risc, launch, zone, from, to, meta)                                                    \
#chip "," #x ",0," risc ",1," #from ",0," #launch ",,," zone ",ZONE_START,0,," meta "\n" #chip "," #x    \
          ",0," risc ",4," #to ",0," #launch ",,," zone ",ZONE_END,0,,\n"

#endif
