/* device_perf.html: puts the page together from its parts and its data. */
#include "report/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/settings.h"
#include "report/page_internal.h"

/* A program or style that stands in the page itself runs only when its hash is in the policy, and nothing may
 * be fetched from anywhere. Text from the log can therefore not become a program, whatever it holds. */
void dl_page_policy(dl_str *out)
{
    dl_str_fmt(out,
               "default-src 'none'; script-src %s; style-src %s; img-src data:; base-uri 'none'; "
               "form-action 'none'",
               page_script_hash, page_style_hash);
}

static void part(dl_str *out, const char *before, const unsigned char *bytes, unsigned long size,
                 const char *after)
{
    dl_str_add(out, before);
    dl_str_add_n(out, (const char *)bytes, size);
    dl_str_add(out, after);
}

/* Deflated: their JSON repeats itself. */
static devlog_status answers(const char *text, dl_str *out, devlog_error *err)
{
    dl_str packed = {0};
    devlog_status status = page_deflate_text(text, strlen(text), &packed, err);
    if (!status) page_base64(out, packed.text, packed.len);
    dl_str_free(&packed);
    return status;
}

devlog_status dl_page_text(dl_view *v, const dl_page_options *options, dl_str *out, devlog_error *err)
{
    uint32_t max = options->max_intervals ? options->max_intervals : DL_PAGE_INTERVALS;
    dl_str columns = {0};
    page_pack p;
    devlog_status status = page_pack_view(&p, v, max, err);
    if (!status) status = page_deflate(&p, &columns, err);
    if (status) goto done;
    part(out, "", page_head, page_head_size, "");
    dl_str_add(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"");
    dl_page_policy(out);
    dl_str_add(out, "\">\n");
    part(out, "<style>", page_style, page_style_size, "</style>\n</head>\n");
    part(out, "", page_body, page_body_size, "");
    dl_str_add(out, "<script type=\"application/json\" id=\"meta\">");
    status = page_meta(&p, options->title, out, err);
    if (status) goto done;
    dl_str_add(out, "</script>\n<script type=\"text/plain\" id=\"columns\">");
    page_base64(out, columns.text, columns.len);
    dl_str_add(out, "</script>\n<script type=\"text/plain\" id=\"answers\">");
    if (options->answers) status = answers(options->answers, out, err);
    if (status) goto done;
    dl_str_add(out, "</script>\n");
    part(out, "<script>", page_script, page_script_size, "</script>\n</body>\n</html>\n");
    status = dl_str_status(out, err);
done:
    page_pack_free(&p);
    dl_str_free(&columns);
    return status;
}

devlog_status dl_page_file(dl_view *v, const dl_page_options *options, const char *path, devlog_error *err)
{
    dl_file_writer w;
    devlog_status status = dl_file_create(&w, path, err);
    if (status) return status;
    status = dl_page_text(v, options, &w.buffer, err);
    if (!status) return dl_file_commit(&w, err);
    dl_file_abandon(&w);
    return status;
}

/* The page while the log is decoded, and its text. */
typedef struct page_state {
    dl_view *view;
    dl_str text;
} page_state;

static uint32_t most(const dl_artifacts_options *asked)
{
    return asked->page_intervals ? asked->page_intervals : DL_PAGE_INTERVALS;
}

static devlog_status begin(dl_artifacts *set, void **state, devlog_error *err)
{
    page_state *s = *state = calloc(1, sizeof *s);
    if (!s) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    dl_decode *decode = dl_artifacts_decode(set);
    const dl_artifacts_options *asked = dl_artifacts_get(set);
    const dl_view_options viewing = {.most = most(asked), .cycles = true};
    dl_run_sink answers;
    devlog_status status = dl_view_new(&s->view, decode, &viewing, err);
    if (!status) status = dl_artifacts_runs(set, dl_view_runs(s->view), err);
    if (!status && asked->answers_runs && asked->answers_runs(asked->answers_ctx, decode, &answers))
        status = dl_artifacts_runs(set, answers, err);
    return status;
}

static devlog_status ready(void *state, devlog_error *err)
{
    return dl_view_ready(((page_state *)state)->view, err);
}

static devlog_status make(dl_artifacts *set, void *state, devlog_error *err)
{
    page_state *s = state;
    const dl_artifacts_options *asked = dl_artifacts_get(set);
    dl_str found = {0};
    devlog_status status = asked->answers ? asked->answers(asked->answers_ctx, &found, err) : DEVLOG_OK;
    const dl_page_options options = {
        .title = asked->title, .answers = found.text, .max_intervals = most(asked)};
    if (!status) status = dl_page_text(s->view, &options, &s->text, err);
    dl_str_free(&found);
    return status;
}

static devlog_status write_artifact(dl_artifacts *set, void *state, dl_file_writer *out, devlog_error *err)
{
    const page_state *s = state;
    const char *folder = dl_setting_text(DL_SET_TMPDIR);
    (void)err;
    dl_file_put(out, s->text.text, s->text.len);
    if (dl_view_is_cramped(s->view))
        dl_artifacts_say(
            set,
            "device_perf.html shows fewer launches than it could: no room for temporary files in %s "
            "(set TMPDIR)",
            folder ? folder : "/tmp");
    return DEVLOG_OK;
}

static void free_state(void *state)
{
    page_state *s = state;
    dl_view_free(s->view);
    dl_str_free(&s->text);
    free(s);
}

const dl_artifact dl_artifact_page = {
    .file = "device_perf.html",
    .begin = begin,
    .ready = ready,
    .make = make,
    .write = write_artifact,
    .free = free_state,
};
