/* The text of a print, as meta data. Not for what is around it (raw_marks.c). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "decode/capture/raw_internal.h"

enum { PRINT_TEXT_MAX = 1024 }; /* bytes of a text that a print points to */

/* A text that the kernel gave the address of: the literals of its ELF file can be read there. */
static void print_pointer(const dl_elf *elf, const char *spec, uint32_t address, dl_str *out)
{
    const char *text = elf ? dl_elf_text_at(elf, address) : NULL;
    char cut[PRINT_TEXT_MAX];
    if (!text) {
        dl_str_fmt(out, "<no literal: 0x%" PRIx32 ">", address);
        return;
    }
    snprintf(cut, sizeof cut, "%s", text);
    dl_str_fmt(out, spec, cut);
}

/* The text of a print, or the way an unknown marker is called. */
static void print_text(const dl_elf *elf, const record_event *e, dl_str *out)
{
    const char *f = e->site ? e->site->name : "print";
    uint16_t arg = 0;
    for (; *f; f++) {
        if (*f != '%') {
            dl_str_char(out, *f);
            continue;
        }
        char spec[16] = "%";
        size_t n = 1;
        unsigned digits = 0; /* two at most in a row: a width is not a way to fill the memory */
        for (f++; *f && strchr("-+ #0123456789.lhz", *f) && n < sizeof spec - 3; f++) {
            digits = *f >= '0' && *f <= '9' ? digits + 1 : 0;
            if (!strchr("lhz", *f) && digits <= 2) spec[n++] = *f;
        }
        if (*f == '%' || *f == 0) {
            dl_str_char(out, '%');
            if (*f == 0) break;
            continue;
        }
        uint32_t value = arg < e->n_args ? e->args[arg] : 0;
        bool missing = arg++ >= e->n_args;
        spec[n++] = *f == 'p' ? 'x' : *f;
        spec[n] = 0;
        if (missing || !strchr("diuxXcops", *f))
            dl_str_add(out, "<?>");
        else if (*f == 's')
            print_pointer(elf, spec, value, out);
        else if (*f == 'd' || *f == 'i' || *f == 'c')
            dl_str_fmt(out, spec, (int)value);
        else
            dl_str_fmt(out, spec, value);
    }
}

/* A text as JSON, with escapes for what a device log has no room for: a comma parts its cells, and ';' stands
 * for one. */
void raw_json(dl_str *json, const char *text, size_t n)
{
    dl_str quoted = {0};
    dl_str_json(&quoted, text, n);
    for (size_t i = 0; i < quoted.len; i++) {
        const char c = quoted.text[i];
        if (c == ',' || c == ';')
            dl_str_add(json, c == ',' ? "\\u002c" : "\\u003b");
        else
            dl_str_char(json, c);
    }
    json->failed |= quoted.failed;
    dl_str_free(&quoted);
}

void raw_text(const dl_elf *elf, const record_event *e, dl_str *json)
{
    dl_str text = {0};
    print_text(elf, e, &text);
    dl_str_add(json, "{\"text\":");
    raw_json(json, text.text ? text.text : "", text.len);
    dl_str_add(json, "}");
    dl_str_free(&text);
}
