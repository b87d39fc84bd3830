/* The rows of a launch in memory. See rows.h. */
#include "support/rows.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/control.h"

void launch(devlog_device *device, devlog_program *program)
{
    devlog_error err = {0};
    check_ok(program_switch_markers(device, program, &err), &err);
    check_ok(control_arm(device, program, &err), &err);
    check_ok(program_launch(device, program, &err), &err);
}

void read_rows(devlog_device *device, const devlog_program *program, devlog_core core, uint32_t risc,
               test_rows *out)
{
    devlog_error err = {0};
    pulled got, manager;
    pulled_events events;
    memset(out, 0, sizeof *out);
    check_ok(dl_tables_init(&out->tables, &err), &err);
    check_ok(pull_risc(device, core, 0, device->launches, false, &manager, &err), &err);
    check_ok(pull_risc(device, core, risc, device->launches, true, &got, &err), &err);
    check_ok(pull_events(device, &manager, &events, &err), &err);
    const devlog_kernel *kernel = program_kernel_at(program, core, risc);
    raw_risc raw = {
        .core_x = (uint16_t)core.x,
        .core_y = (uint16_t)core.y,
        .risc = device->board.riscs[risc].name,
        .control = &got.control,
        .spans = got.spans,
        .n_spans = got.n_spans,
        .elf = kernel ? &kernel->elf : NULL,
        .index = risc,
        .events = events.words,
        .n_events = events.n_words,
        .events_from = manager.control.stamps[0] | (uint64_t)manager.control.stamps[1] << 32,
        .events_until = raw_fw_end(&manager.control),
    };
    dl_marks marks = {0};
    check_ok(raw_marks(&out->tables, &raw, &marks, &out->losses, &err), &err);
    out->rows = calloc(marks.n + 1, sizeof *out->rows);
    assert_non_null(out->rows);
    for (; out->n < marks.n; out->n++)
        out->rows[out->n] = dl_device_log_row(&out->tables, &marks, (uint32_t)out->n);
    dl_marks_free(&marks);
    out->control = got.control;
    pulled_free(&got);
    pulled_free(&manager);
    free(events.words);
}

void free_rows(test_rows *rows)
{
    dl_tables_free(&rows->tables);
    free(rows->rows);
}

static bool matches(const test_rows *rows, const dl_row *row, dl_row_type type, const char *name)
{
    return row->type == type && (!name || strcmp(dl_site_text(&rows->tables, row->site), name) == 0);
}

size_t count_rows(const test_rows *rows, dl_row_type type, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++)
        n += matches(rows, &rows->rows[i], type, name);
    return n;
}

const dl_row *row_at(const test_rows *rows, dl_row_type type, const char *name, size_t k)
{
    for (size_t i = 0; i < rows->n; i++)
        if (matches(rows, &rows->rows[i], type, name) && k-- == 0) return &rows->rows[i];
    fail_msg("no such row: %s %s", dl_row_type_text(type), name ? name : "");
    return NULL;
}
