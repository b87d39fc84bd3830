/* One JSON object, read where it lies. */
#include "ops/jsonline.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n'))
        at++;
    return at;
}

bool jl_line(jl_reader *r, const char *line, size_t n)
{
    const char *end = line + n;
    line = skip_blanks(line, end);
    while (end > line && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r' || end[-1] == '\n'))
        end--;
    if (end - line < 2 || *line != '{' || end[-1] != '}') return false;
    *r = (jl_reader){.at = line + 1, .end = end - 1};
    return true;
}

void jl_inside(jl_reader *r, const jl_value *v)
{
    *r = (jl_reader){.at = v->text, .end = v->text + v->len, .list = v->kind == JL_LIST};
}

/* The next quote or backslash; `end`: there is none. */
static const char *quote_or_slash(const char *at, const char *end)
{
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
    for (; end - at >= 16; at += 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        const unsigned any = (unsigned)_mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, slash)));
        if (any) return at + __builtin_ctz(any);
    }
#endif
    while (at < end && *at != '"' && *at != '\\')
        at++;
    return at;
}

/* The quote that ends the text that begins at `at`; NULL: there is none. */
static const char *closing_quote(const char *at, const char *end, bool *escaped)
{
    *escaped = false;
    for (;;) {
        at = quote_or_slash(at, end);
        if (at == end) return NULL;
        if (*at == '"') return at;
        *escaped = true;
        if (end - at < 2) return NULL;
        at += 2;
    }
}

/* The bracket that closes what was opened just before `at`. */
static const char *closing_bracket(const char *at, const char *end)
{
    static const bool marks[256] = {['"'] = true, ['['] = true, [']'] = true, ['{'] = true, ['}'] = true};
    unsigned depth = 1;
    bool escaped;
    for (;; at++) {
        while (end - at >= 4 && !marks[(unsigned char)at[0]] && !marks[(unsigned char)at[1]] &&
               !marks[(unsigned char)at[2]] && !marks[(unsigned char)at[3]])
            at += 4;
        while (at < end && !marks[(unsigned char)*at])
            at++;
        if (at == end) break;
        if (*at == '"') {
            at = closing_quote(at + 1, end, &escaped);
            if (!at) return NULL;
        } else if (*at == '[' || *at == '{') {
            depth++;
        } else if (--depth == 0) {
            return at;
        }
    }
    return NULL;
}

static jl_kind bad(jl_reader *r, jl_value *out)
{
    r->at = r->end = NULL;
    out->kind = JL_BAD;
    return JL_BAD;
}

static const char *word_end(const char *at, const char *end)
{
    while (at < end && *at != ',' && *at != ' ' && *at != '\t' && *at != '\r' && *at != '\n')
        at++;
    return at;
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

/* Where the number that begins at `at` ends, as JSON writes them; NULL: it is none. */
static const char *real_end(const char *at, const char *end)
{
    if (at < end && *at == '-') at++;
    const char *digits = at;
    at = skip_digits(at, end);
    if (at == digits) return NULL;
    if (at < end && *at == '.') {
        digits = ++at;
        at = skip_digits(at, end);
        if (at == digits) return NULL;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        if (++at < end && (*at == '+' || *at == '-')) at++;
        digits = at;
        at = skip_digits(at, end);
        if (at == digits) return NULL;
    }
    return at;
}

/* A number that is cut, or has something behind its digits, is no number. */
static jl_kind number(jl_reader *r, jl_value *out, const char *end)
{
    const char *p = r->at;
    out->kind = JL_NUMBER;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        unsigned digit = (unsigned)(*p - '0');
        if (out->number > (UINT64_MAX - digit) / 10) return bad(r, out);
        out->number = out->number * 10 + digit;
    }
    if (p < end || p == r->at) {
        out->kind = JL_REAL;
        out->number = 0;
        if (real_end(r->at, end) != end) return bad(r, out);
    }
    r->at = end;
    return out->kind;
}

static jl_kind scalar(jl_reader *r, jl_value *out)
{
    static const char *const words[] = {"true", "false", "null"};
    const char *end = word_end(r->at, r->end);
    out->text = r->at;
    out->len = (size_t)(end - r->at);
    out->number = 0;
    char first = *r->at;
    if (first == '-' || (first >= '0' && first <= '9')) return number(r, out, end);
    out->kind = JL_WORD;
    bool known = false;
    for (int i = 0; i < 3; i++)
        known |= out->len == strlen(words[i]) && memcmp(out->text, words[i], out->len) == 0;
    if (!known) return bad(r, out);
    out->number = first == 't';
    r->at = end;
    return out->kind;
}

jl_kind jl_next(jl_reader *r, jl_value *out)
{
    out->kind = JL_END;
    if (!r->at) return JL_END;
    r->at = skip_blanks(r->at, r->end);
    if (r->at == r->end) {
        r->at = NULL;
        return JL_END;
    }
    if (r->begun) {
        if (*r->at != ',') return bad(r, out);
        r->at = skip_blanks(r->at + 1, r->end);
    }
    r->begun = true;
    out->key = "";
    out->key_len = 0;
    if (!r->list) {
        if (r->at == r->end || *r->at != '"') return bad(r, out);
        const char *quote = closing_quote(r->at + 1, r->end, &out->escaped);
        if (!quote) return bad(r, out);
        out->key = r->at + 1;
        out->key_len = (size_t)(quote - out->key);
        r->at = skip_blanks(quote + 1, r->end);
        if (r->at == r->end || *r->at != ':') return bad(r, out);
        r->at = skip_blanks(r->at + 1, r->end);
    }
    if (r->at == r->end) return bad(r, out);
    char first = *r->at;
    const char *close;
    switch (first) {
    case '"':
        close = closing_quote(r->at + 1, r->end, &out->escaped);
        out->kind = JL_TEXT;
        break;
    case '[':
    case '{':
        close = closing_bracket(r->at + 1, r->end);
        if (close && *close != (first == '[' ? ']' : '}')) close = NULL;
        out->kind = first == '[' ? JL_LIST : JL_OBJECT;
        break;
    default: return scalar(r, out);
    }
    if (!close) return bad(r, out);
    out->text = r->at + 1;
    out->len = (size_t)(close - out->text);
    r->at = close + 1;
    return out->kind;
}

/* Four hexadecimal digits; false when they are none. */
static bool hex4(const char *at, const char *end, uint32_t *out)
{
    if (end - at < 4) return false;
    *out = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 16;
        if (digit > 15) return false;
        *out = *out << 4 | digit;
    }
    return true;
}

static void add_utf8(dl_str *out, uint32_t code)
{
    char b[4];
    size_t n = 0;
    if (code >= 0xD800 && code < 0xE000) code = 0xFFFD; /* half a pair */
    if (code < 0x80) {
        b[n++] = (char)code;
    } else if (code < 0x800) {
        b[n++] = (char)(0xC0 | code >> 6);
        b[n++] = (char)(0x80 | (code & 63));
    } else if (code < 0x10000) {
        b[n++] = (char)(0xE0 | code >> 12);
        b[n++] = (char)(0x80 | (code >> 6 & 63));
        b[n++] = (char)(0x80 | (code & 63));
    } else {
        b[n++] = (char)(0xF0 | code >> 18);
        b[n++] = (char)(0x80 | (code >> 12 & 63));
        b[n++] = (char)(0x80 | (code >> 6 & 63));
        b[n++] = (char)(0x80 | (code & 63));
    }
    dl_str_add_n(out, b, n);
}

void jl_text(const jl_value *v, dl_str *out)
{
    if (!v->escaped) {
        dl_str_add_n(out, v->text, v->len);
        return;
    }
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *end = v->text + v->len;
    for (const char *p = v->text; p < end;) {
        const char *known;
        uint32_t code, low;
        if (*p != '\\' || p + 1 == end) {
            dl_str_char(out, *p++);
        } else if (p[1] && (known = strchr(from, p[1])) != NULL) {
            dl_str_char(out, to[known - from]);
            p += 2;
        } else if (p[1] == 'u' && hex4(p + 2, end, &code)) {
            p += 6;
            bool pair = code >= 0xD800 && code < 0xDC00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u' &&
                        hex4(p + 2, end, &low) && low >= 0xDC00 && low < 0xE000;
            if (pair) {
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                p += 6;
            }
            add_utf8(out, code);
        } else {
            dl_str_char(out, *p++);
        }
    }
}
