/* Text of documents. */
#include "cli/doc_text.h"

#include <string.h>

enum { WIDTH = 90 };

void cli_spaces(dl_str *out, size_t n)
{
    dl_str_fmt(out, "%*s", (int)n, "");
}

void cli_wrap(dl_str *out, const char *text, size_t n, size_t at, size_t indent)
{
    const char *end = text + n;
    bool first = true;
    while (text < end) {
        size_t word = 0;
        while (text + word < end && text[word] != ' ' && text[word] != '\n')
            word++;
        if (!first && at + 1 + word > WIDTH) {
            dl_str_char(out, '\n');
            cli_spaces(out, indent);
            at = indent;
        } else if (!first) {
            dl_str_char(out, ' ');
            at++;
        }
        dl_str_add_n(out, text, word);
        at += word;
        first = false;
        text += word;
        while (text < end && (*text == ' ' || *text == '\n'))
            text++;
    }
    dl_str_char(out, '\n');
}

void cli_troff(dl_str *out, const char *text, size_t n)
{
    bool begins = out->len && out->text[out->len - 1] == '\n';
    for (size_t i = 0; i < n; i++) {
        if (begins && (text[i] == '.' || text[i] == '\'')) dl_str_add(out, "\\&");
        begins = text[i] == '\n';
        if (text[i] == '\\')
            dl_str_add(out, "\\e");
        else if (text[i] == '-')
            dl_str_add(out, "\\-");
        else
            dl_str_char(out, text[i]);
    }
}

void cli_troff_text(dl_str *out, const char *text)
{
    cli_troff(out, text, strlen(text));
}
