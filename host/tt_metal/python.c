/* JSON values in the words of Python. */
#include "tt_metal/python.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_DEPTH = 128, MAX_KEYS_COMPARED = 64 };

void tt_python_double(double value, dl_str *out)
{
    char digits[64];
    if (isnan(value) || isinf(value)) {
        dl_str_add(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    int precision = 1;
    do
        snprintf(digits, sizeof digits, "%.*e", precision - 1, value);
    while (strtod(digits, NULL) != value && ++precision <= 17);
    /* d.ddde+xx: as a plain number when the exponent is from -4 to 15, as repr() decides. */
    const char *mark = strchr(digits, 'e');
    int exponent = atoi(mark + 1);
    char plain[64];
    if (exponent >= -4 && exponent < 16) {
        int decimals = precision - 1 - exponent;
        snprintf(plain, sizeof plain, "%.*f", decimals > 0 ? decimals : 0, value);
        dl_str_add(out, plain);
        if (decimals <= 0) dl_str_add(out, ".0");
        return;
    }
    dl_str_add_n(out, digits, (size_t)(mark - digits));
    dl_str_fmt(out, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
}

/* One character of UTF-8 at p; its length. */
static size_t decoded(const char *p, size_t n, uint32_t *code)
{
    size_t length = dl_utf8_length(p, n);
    const unsigned char *u = (const unsigned char *)p;
    if (length == 2)
        *code = (u[0] & 31u) << 6 | (u[1] & 63u);
    else if (length == 3)
        *code = (u[0] & 15u) << 12 | (u[1] & 63u) << 6 | (u[2] & 63u);
    else if (length == 4)
        *code = (u[0] & 7u) << 18 | (u[1] & 63u) << 12 | (u[2] & 63u) << 6 | (u[3] & 63u);
    else
        *code = length ? u[0] : 0xFFFD;
    return length ? length : 1;
}

/* What repr() writes as an escape: controls, formats, separators other than the space, private use. Code
 * points that no Unicode version has assigned are not known here and printed as they are. */
static bool is_printed(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } hidden[] = {
        {0x7F, 0xA0},     {0xAD, 0xAD},       {0x600, 0x605},      {0x61C, 0x61C},   {0x6DD, 0x6DD},
        {0x70F, 0x70F},   {0x1680, 0x1680},   {0x180E, 0x180E},    {0x2000, 0x200F}, {0x2028, 0x202F},
        {0x205F, 0x206F}, {0x3000, 0x3000},   {0xD800, 0xF8FF},    {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB},
        {0xFFFE, 0xFFFF}, {0xE0000, 0xE0FFF}, {0xF0000, 0x10FFFF},
    };
    if (c < 0x20) return false;
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        if (c >= hidden[i].first && c <= hidden[i].last) return false;
    return true;
}

static void quoted(const char *text, size_t n, dl_str *out)
{
    /* Single quotes, unless the text has them and no double ones. */
    char quote = memchr(text, '\'', n) && !memchr(text, '"', n) ? '"' : '\'';
    dl_str_char(out, quote);
    for (size_t i = 0; i < n;) {
        /* Most of a text needs nothing. */
        size_t run = i;
        while (run < n && text[run] >= ' ' && text[run] <= '~' && text[run] != quote && text[run] != '\\')
            run++;
        if (run > i) dl_str_add_n(out, text + i, run - i);
        i = run;
        if (i == n) break;
        uint32_t c;
        size_t length = decoded(text + i, n - i, &c);
        if (c == (uint32_t)quote || c == '\\')
            dl_str_fmt(out, "\\%c", (char)c);
        else if (c == '\n' || c == '\r' || c == '\t')
            dl_str_add(out, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
        else if (is_printed(c))
            dl_str_utf8(out, text + i, length);
        else if (c < 0x100)
            dl_str_fmt(out, "\\x%02x", (unsigned)c);
        else
            dl_str_fmt(out, c < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)c);
        i += length;
    }
    dl_str_char(out, quote);
}

static void real(const jl_value *v, dl_str *out)
{
    char digits[64];
    bool whole =
        !memchr(v->text, '.', v->len) && !memchr(v->text, 'e', v->len) && !memchr(v->text, 'E', v->len);
    if (whole || v->len >= sizeof digits) {
        /* An integer of any size, as written; -0 is 0 for Python. */
        if (v->len == 2 && memcmp(v->text, "-0", 2) == 0)
            dl_str_char(out, '0');
        else
            dl_str_add_n(out, v->text, v->len);
        return;
    }
    memcpy(digits, v->text, v->len);
    digits[v->len] = 0;
    tt_python_double(strtod(digits, NULL), out);
}

/* Whether a later member has this key: Python keeps the place of the first and the value of the last. */
static bool last_of_key(jl_reader rest, const jl_value *v, jl_value *last)
{
    jl_value other;
    bool later = false;
    for (int i = 0; i < MAX_KEYS_COMPARED; i++) {
        jl_kind kind = jl_next(&rest, &other);
        if (kind == JL_END || kind == JL_BAD) break;
        if (other.key_len != v->key_len || memcmp(other.key, v->key, v->key_len) != 0) continue;
        *last = other;
        later = true;
    }
    return later;
}

/* Whether two of the first members have one key; rare, so what follows need not be quick. */
static bool has_a_key_twice(jl_reader r)
{
    struct {
        const char *text;
        size_t n;
    } keys[MAX_KEYS_COMPARED];
    jl_value m;
    for (unsigned n = 0; n < MAX_KEYS_COMPARED; n++) {
        jl_kind kind = jl_next(&r, &m);
        if (kind == JL_END || kind == JL_BAD) break;
        for (unsigned i = 0; i < n; i++)
            if (keys[i].n == m.key_len && memcmp(keys[i].text, m.key, m.key_len) == 0) return true;
        keys[n].text = m.key;
        keys[n].n = m.key_len;
    }
    return false;
}

static void any(const jl_value *v, unsigned depth, dl_str *out);

static void members(const jl_value *v, unsigned depth, dl_str *out)
{
    bool list = v->kind == JL_LIST, first = true, twice;
    jl_reader r, before;
    jl_value m, last;
    jl_inside(&r, v);
    before = r;
    twice = !list && has_a_key_twice(r);
    dl_str_char(out, list ? '[' : '{');
    for (unsigned number = 0;; number++) {
        jl_kind kind = jl_next(&r, &m);
        if (kind == JL_END || kind == JL_BAD) break;
        if (twice && number < MAX_KEYS_COMPARED) {
            /* Members with the key of an earlier one are that one. */
            jl_reader again = before;
            bool known = false;
            for (unsigned i = 0; i < number && !known; i++) {
                jl_value earlier;
                if (jl_next(&again, &earlier) == JL_BAD) break;
                known = earlier.key_len == m.key_len && memcmp(earlier.key, m.key, m.key_len) == 0;
            }
            if (known) continue;
            if (last_of_key(r, &m, &last)) m = last;
        }
        if (!first) dl_str_add(out, ", ");
        first = false;
        if (!list) {
            dl_str key = {0};
            jl_value k = {.kind = JL_TEXT, .text = m.key, .len = m.key_len};
            k.escaped = memchr(m.key, '\\', m.key_len) != NULL;
            jl_text(&k, &key);
            quoted(key.text ? key.text : "", key.len, out);
            dl_str_free(&key);
            dl_str_add(out, ": ");
        }
        any(&m, depth + 1, out);
    }
    dl_str_char(out, list ? ']' : '}');
}

static void any(const jl_value *v, unsigned depth, dl_str *out)
{
    dl_str text = {0};
    switch (v->kind) {
    case JL_TEXT:
        jl_text(v, &text);
        quoted(text.text ? text.text : "", text.len, out);
        dl_str_free(&text);
        break;
    case JL_NUMBER: dl_str_u64(out, v->number); break;
    case JL_REAL: real(v, out); break;
    case JL_WORD: dl_str_add(out, *v->text == 't' ? "True" : *v->text == 'f' ? "False" : "None"); break;
    case JL_LIST:
    case JL_OBJECT:
        if (depth < MAX_DEPTH)
            members(v, depth, out);
        else
            dl_str_add(out, v->kind == JL_LIST ? "[...]" : "{...}");
        break;
    case JL_END:
    case JL_BAD: break;
    }
}

void tt_python_repr(const jl_value *v, dl_str *out)
{
    any(v, 0, out);
}

void tt_python_str(const jl_value *v, dl_str *out)
{
    if (v->kind == JL_TEXT)
        jl_text(v, out);
    else
        any(v, 0, out);
}
