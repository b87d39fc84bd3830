/* What devlog decode prints: tables for people, or everything for programs. */
#include "cli/decode_print.h"

#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grid.h"
#include "base/term.h"
#include "report/decode_table.h"
#include "report/machine.h"

bool decode_wants_runs(int format)
{
    return format == DECODE_JSON || format == DECODE_CSV;
}

/* Everything, for programs. */
static devlog_status print_machine(dl_decode *d, const decode_shown *s, devlog_error *err)
{
    const dl_machine_options how = {.analyzer = s->analyzer, .files = s->files};
    dl_file_writer out;
    devlog_status status = dl_file_stream(&out, STDOUT_FILENO, "standard output", err);
    if (status) return status;
    status =
        s->format == DECODE_JSON ? dl_report_json(d, &how, &out, err) : dl_report_csv(d, &how, &out, err);
    if (!status) return dl_file_commit(&out, err);
    dl_file_abandon(&out);
    return status;
}

static devlog_status print_text(dl_decode *d, const decode_shown *s, devlog_error *err)
{
    dl_str out = {0};
    const bool markdown = s->format == DECODE_MARKDOWN;
    const dl_table_options table = {.colour = !markdown && !s->plain && dl_term_colour(stdout),
                                    .max_launches = (uint32_t)s->max_launches,
                                    .width = markdown   ? DL_GRID_MARKDOWN
                                             : s->plain ? 0
                                                        : dl_term_width(stdout),
                                    .sort = (dl_table_sort)s->sort,
                                    .top = (size_t)s->top};
    devlog_status status = s->tables ? dl_report_table(d, &table, &out, err) : DEVLOG_OK;
    if (!status && s->tables && s->analyses) dl_report_analyses(d, s->analyzer, &table, &out);
    if (markdown) dl_str_add(&out, "\n```text"); /* what follows is lines, not paragraphs */
    for (size_t i = 0; s->files && s->files[i]; i++)
        dl_str_fmt(&out, "%s%s  %s\n", i == 0 && s->tables ? "\n" : "", i == 0 ? "Files:\n" : "",
                   s->files[i]);
    if (out.len) dl_str_char(&out, '\n');
    dl_report_losses(dl_decode_losses(d), table.colour, &out);
    if (markdown) dl_str_add(&out, "```\n");
    if (!status) status = dl_print(&out, err);
    dl_str_free(&out);
    return status;
}

devlog_status decode_print(dl_decode *d, const decode_shown *s, devlog_error *err)
{
    return decode_wants_runs(s->format) ? print_machine(d, s, err) : print_text(d, s, err);
}
