/* The page of an archive's history; see page_history.h. What runs in the browser is page/history.js. */
#include "report/page_history.h"

#include "report/page_internal.h"

static void part(dl_str *out, const unsigned char *bytes, unsigned long size)
{
    dl_str_add_n(out, (const char *)bytes, size);
}

devlog_status dl_page_history_text(const dl_str *json, dl_str *out, devlog_error *err)
{
    dl_str packed = {0};
    const devlog_status status = page_deflate_text(json->text, json->len, &packed, err);
    if (status) return status;
    part(out, page_history_head, page_history_head_size);
    dl_str_fmt(out,
               "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src %s; "
               "style-src %s; img-src data:; base-uri 'none'; form-action 'none'\">\n<style>",
               page_history_script_hash, page_history_style_hash);
    part(out, page_history_style, page_history_style_size);
    dl_str_add(out, "</style>\n</head>\n");
    part(out, page_history_body, page_history_body_size);
    dl_str_add(out, "<script type=\"text/plain\" id=\"history\">");
    page_base64(out, packed.text, packed.len); /* in which no text is markup */
    dl_str_add(out, "</script>\n<script>");
    part(out, page_history_script, page_history_script_size);
    dl_str_add(out, "</script>\n</body>\n</html>\n");
    dl_str_free(&packed);
    return dl_str_status(out, err);
}
