/* Two pages beside one another; see page_pair.h. What runs in the browser is page/pair.js. */
#include "report/page_pair.h"

#include <string.h>

#include "report/page_internal.h"

/* The pages inside it have policies of their own, and are held to this one, too. */
void dl_page_pair_policy(dl_str *out)
{
    dl_str_fmt(out,
               "default-src 'none'; script-src %s %s; style-src %s %s; img-src data:; base-uri 'none'; "
               "form-action 'none'",
               page_pair_script_hash, page_script_hash, page_pair_style_hash, page_style_hash);
}

static void part(dl_str *out, const unsigned char *bytes, unsigned long size)
{
    dl_str_add_n(out, (const char *)bytes, size);
}

/* A page as a string of JSON: inside a script element, where it is no markup. */
static void page(const char *id, const dl_str *html, dl_str *out)
{
    dl_str_fmt(out, "<script type=\"application/json\" id=\"%s\">", id);
    const size_t from = out->len;
    dl_str_json(out, html->text ? html->text : "", html->len);
    page_without_angle(out, from);
    dl_str_add(out, "</script>\n");
}

devlog_status dl_page_pair_text(const dl_page_pair *pair, dl_str *out, devlog_error *err)
{
    part(out, page_pair_head, page_pair_head_size);
    dl_str_add(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"");
    dl_page_pair_policy(out);
    dl_str_add(out, "\">\n<style>");
    part(out, page_pair_style, page_pair_style_size);
    dl_str_add(out, "</style>\n</head>\n");
    part(out, page_pair_body, page_pair_body_size);
    dl_str_add(out, "<script type=\"application/json\" id=\"diff\">");
    const size_t from = out->len;
    dl_str_add(out, pair->diff);
    page_without_angle(out, from);
    dl_str_add(out, "</script>\n");
    page("old-page", pair->old, out);
    page("new-page", pair->now, out);
    dl_str_add(out, "<script>");
    part(out, page_pair_script, page_pair_script_size);
    dl_str_add(out, "</script>\n</body>\n</html>\n");
    return dl_str_status(out, err);
}
