/* Printing an answer; see answer_out.h. */
#include "cli/answer_out.h"

#include "answers/answer_print.h"
#include "base/file.h"
#include "base/term.h"

size_t cli_answer_top(int format, uint64_t asked)
{
    const bool people = format == CLI_ANSWER_TEXT || format == CLI_ANSWER_MARKDOWN;
    return asked != UINT64_MAX ? (size_t)asked : people ? 20 : 0;
}

static devlog_status write_file(const dl_str *text, const char *path, devlog_error *err)
{
    dl_file_writer w;
    devlog_status status = dl_str_status(text, err);
    if (!status) status = dl_file_create(&w, path, err);
    if (status) return status;
    dl_file_put(&w, text->text, text->len);
    return dl_file_commit(&w, err);
}

devlog_status cli_answer_print(const answer *a, const cli_answer_out *o, devlog_error *err)
{
    static answer_printer *const printers[] = {[CLI_ANSWER_TEXT] = answer_print_text,
                                               [CLI_ANSWER_JSON] = answer_print_json,
                                               [CLI_ANSWER_CSV] = answer_print_csv,
                                               [CLI_ANSWER_MARKDOWN] = answer_print_markdown};
    dl_str out = {0};
    const answer_shown shown = {.a = a,
                                .kind = o->kind,
                                .version = o->version,
                                .sections = o->tables ? o->tables->items : NULL,
                                .n_sections = o->tables ? o->tables->n : 0,
                                .colour = !o->output && !o->plain && dl_term_colour(stdout),
                                .width = o->output || o->plain ? 0 : dl_term_width(stdout)};
    printers[o->format](&shown, &out);
    devlog_status status = o->output ? write_file(&out, o->output, err) : dl_print(&out, err);
    dl_str_free(&out);
    return status;
}
