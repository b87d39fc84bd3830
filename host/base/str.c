/* Strings: a growing text buffer for writers, and the number formats that every report shares. */
#include "base/str.h"

#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dl_str_free(dl_str *s)
{
    free(s->text);
    *s = (dl_str){0};
}

void dl_str_clear(dl_str *s)
{
    s->len = 0;
    s->failed = false;
    if (s->text) s->text[0] = 0;
}

bool dl_str_grow(dl_str *s, size_t n)
{
    if (s->failed) return false;
    size_t cap = s->cap ? s->cap : 256;
    while (cap - s->len <= n) {
        if (cap > SIZE_MAX / 2) goto failed;
        cap *= 2;
    }
    char *text = realloc(s->text, cap);
    if (!text) goto failed;
    s->text = text;
    s->cap = cap;
    return true;
failed:
    s->failed = true;
    return false;
}

void dl_str_fmt(dl_str *s, const char *fmt, ...)
{
    enum { MOSTLY = 128 };
    if (!dl_str_reserve(s, MOSTLY)) return;
    for (;;) {
        size_t room = s->cap - s->len;
        va_list ap;
        va_start(ap, fmt);
        int n = vsnprintf(s->text + s->len, room, fmt, ap);
        va_end(ap);
        if (n < 0) {
            s->text[s->len] = 0;
            s->failed = true;
            return;
        }
        if ((size_t)n < room) {
            s->len += (size_t)n;
            return;
        }
        s->text[s->len] = 0;
        if (!dl_str_reserve(s, (size_t)n)) return;
    }
}

/* The eight decimal digits of what is less than 10^8, one in each byte, the first lowest: halves, quarters
 * and single digits are split off side by side, each by a multiplication whose error is too small to be seen.
 */
static inline uint64_t eight_digits(uint32_t value)
{
    uint64_t x = value / 10000 | (uint64_t)(value % 10000) << 32;
    uint64_t high = (x * 10486 >> 20) & UINT64_C(0x7f0000007f);
    x = high | (x - high * 100) << 16;
    high = (x * 103 >> 10) & UINT64_C(0x000f000f000f000f);
    return high | (x - high * 10) << 8;
}

static inline char *put_eight(char *to, uint64_t digits)
{
    uint64_t text = htole64(digits | UINT64_C(0x3030303030303030));
    memcpy(to, &text, sizeof text);
    return to + sizeof text;
}

/* Of what is less than 10^8, without zeros in front. */
static inline char *first_digits(char *to, uint32_t value)
{
    uint64_t digits = eight_digits(value);
    unsigned zeros = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) / 8;
    put_eight(to, digits >> zeros * 8);
    return to + 8 - zeros;
}

static const char digit_pairs[201] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
    "8081828384858687888990919293949596979899";

/* clang-format off */
#define TRIPLE(h, t, o)                                 \
    {{(h), (t), (o), 0},                                \
     {(h) != '0' ? (h) : (t) != '0' ? (t) : (o),        \
      (h) != '0' ? (t) : (t) != '0' ? (o) : 0,          \
      (h) != '0' ? (o) : 0,                             \
      (h) != '0' ? 3 : (t) != '0' ? 2 : 1}}
/* clang-format on */
#define TEN(h, t)                                                                                            \
    TRIPLE(h, t, '0'), TRIPLE(h, t, '1'), TRIPLE(h, t, '2'), TRIPLE(h, t, '3'), TRIPLE(h, t, '4'),           \
        TRIPLE(h, t, '5'), TRIPLE(h, t, '6'), TRIPLE(h, t, '7'), TRIPLE(h, t, '8'), TRIPLE(h, t, '9')
#define HUNDRED(h)                                                                                           \
    TEN(h, '0'), TEN(h, '1'), TEN(h, '2'), TEN(h, '3'), TEN(h, '4'), TEN(h, '5'), TEN(h, '6'), TEN(h, '7'),  \
        TEN(h, '8'), TEN(h, '9')
const dl_triple dl_triples[1000] = {HUNDRED('0'), HUNDRED('1'), HUNDRED('2'), HUNDRED('3'), HUNDRED('4'),
                                    HUNDRED('5'), HUNDRED('6'), HUNDRED('7'), HUNDRED('8'), HUNDRED('9')};

/* Of what is less than 10^4, as most numbers in a report are. */
static inline char *few_digits(char *to, uint32_t value)
{
    uint32_t high = value / 100;
    if (value < 10) {
        *to = (char)('0' + value);
        return to + 1;
    }
    if (value >= 1000) {
        memcpy(to, digit_pairs + high * 2, 2);
        to += 2;
    } else if (high) {
        *to++ = (char)('0' + high);
    }
    memcpy(to, digit_pairs + value % 100 * 2, 2);
    return to + 2;
}

char *dl_digits(char *to, uint64_t value)
{
    const uint64_t e8 = 100000000;
    if (value < 10000) return few_digits(to, (uint32_t)value);
    if (value < e8) return first_digits(to, (uint32_t)value);
    uint64_t high = value / e8;
    if (high < e8)
        to = first_digits(to, (uint32_t)high);
    else
        to = put_eight(first_digits(to, (uint32_t)(high / e8)), eight_digits((uint32_t)(high % e8)));
    return put_eight(to, eight_digits((uint32_t)(value % e8)));
}

char *dl_digits_far(dl_near *near, char *to, uint64_t value)
{
    char *const end = dl_digits(to, value);
    const uint32_t n = (uint32_t)(end - to);
    /* So that what is less than the base is far from it, as a difference without sign. */
    if (n <= 6 || value > UINT64_MAX - 1000000) return end;
    *near = (dl_near){.base = value - value % 1000000, .reach = 1000000, .n = n - 6};
    memcpy(near->text, to, near->n);
    return end;
}

char *dl_digits_fixed(char *to, uint32_t value, unsigned n)
{
    unsigned at = n;
    for (; at >= 2; at -= 2, value /= 100)
        memcpy(to + at - 2, digit_pairs + value % 100 * 2, 2);
    if (at) to[0] = (char)('0' + value % 10);
    return to + n;
}

const char *dl_u64_grouped(char out[DL_GROUPED_SIZE], uint64_t value)
{
    char digits[DL_U64_DIGITS];
    size_t n = (size_t)(dl_digits(digits, value) - digits);
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = 0;
    return out;
}

void dl_str_u64(dl_str *s, uint64_t value)
{
    if (!dl_str_reserve(s, DL_U64_DIGITS)) return;
    s->len = (size_t)(dl_digits(s->text + s->len, value) - s->text);
    s->text[s->len] = 0;
}

size_t dl_utf8_length(const char *bytes, size_t n)
{
    const unsigned char *text = (const unsigned char *)bytes;
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};
    for (size_t len = 1; len <= 4 && len <= n; len++) {
        if ((text[0] & forms[len - 1].mask) != forms[len - 1].lead) continue;
        uint32_t code = text[0] & (unsigned char)~forms[len - 1].mask;
        for (size_t i = 1; i < len; i++) {
            if ((text[i] & 0xC0) != 0x80) return 0;
            code = code << 6 | (text[i] & 0x3F);
        }
        bool surrogate = code >= 0xD800 && code < 0xE000;
        return code >= forms[len - 1].least && code < 0x110000 && !surrogate ? len : 0;
    }
    return 0;
}

void dl_str_utf8(dl_str *s, const char *text, size_t n)
{
    for (size_t i = 0, len; i < n; i += len ? len : 1) {
        len = dl_utf8_length(text + i, n - i);
        dl_str_add_n(s, len ? text + i : "\xEF\xBF\xBD", len ? len : 3);
    }
}

void dl_str_json(dl_str *s, const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *)text;
    dl_str_char(s, '"');
    for (size_t i = 0; i < n;) {
        size_t plain = i;
        while (plain < n && p[plain] >= 0x20 && p[plain] < 0x7F && p[plain] != '"' && p[plain] != '\\')
            plain++;
        if (plain > i) {
            dl_str_add_n(s, text + i, plain - i);
            i = plain;
        } else if (p[i] == '"' || p[i] == '\\') {
            char escaped[2] = {'\\', (char)p[i++]};
            dl_str_add_n(s, escaped, 2);
        } else if (p[i] < 0x20 || p[i] == 0x7F) {
            dl_str_fmt(s, "\\u%04x", p[i++]);
        } else {
            size_t len = dl_utf8_length(text + i, n - i);
            if (len)
                dl_str_add_n(s, text + i, len);
            else
                dl_str_add(s, "\\ufffd");
            i += len ? len : 1;
        }
    }
    dl_str_char(s, '"');
}

void dl_str_csv(dl_str *s, const char *text, size_t n)
{
    bool quote = n && (text[0] == ' ' || text[n - 1] == ' ');
    for (size_t i = 0; i < n && !quote; i++)
        quote = text[i] == '"' || text[i] == ',' || text[i] == '\n' || text[i] == '\r';
    if (!quote) {
        dl_str_add_n(s, text, n);
        return;
    }
    dl_str_char(s, '"');
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"') dl_str_char(s, '"');
        dl_str_char(s, text[i]);
    }
    dl_str_char(s, '"');
}

/* Length of the control character at text[0..n): those of ASCII, and of Latin-1 (U+0080 to U+009F), which
 * terminals obey as well; 0: there is none. */
static size_t control_length(const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *)text;
    if (p[0] < 0x20 || p[0] == 0x7F) return 1;
    if (n > 1 && p[0] == 0xC2 && p[1] >= 0x80 && p[1] < 0xA0) return 2;
    if (n > 1 && p[0] == 0xD8 && p[1] == 0x9C) return 2;
    if (n < 3 || p[0] != 0xE2) return 0;
    const bool marks = p[1] == 0x80 && (p[2] == 0x8E || p[2] == 0x8F || (p[2] >= 0xAA && p[2] <= 0xAE)),
               isolates = p[1] == 0x81 && p[2] >= 0xA6 && p[2] <= 0xA9;
    return marks || isolates ? 3 : 0;
}

/* The code point of a control character of two or three bytes. */
static unsigned control_code(const char *text, size_t length)
{
    const unsigned char *p = (const unsigned char *)text;
    return length == 2 ? (p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu)
                       : (p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
}

void dl_str_shown(dl_str *s, const char *text, size_t n)
{
    static const char from[] = "\n\t\r", to[] = "ntr";
    size_t plain = 0;
    for (size_t i = 0; i < n;) {
        size_t control = control_length(text + i, n - i);
        size_t length = control ? 0 : dl_utf8_length(text + i, n - i);
        if (length) {
            i += length;
            continue;
        }
        dl_str_add_n(s, text + plain, i - plain);
        const char *known = text[i] ? strchr(from, text[i]) : NULL;
        if (known)
            dl_str_fmt(s, "\\%c", to[known - from]);
        else if (control > 1)
            dl_str_fmt(s, control_code(text + i, control) < 0x100 ? "\\x%02x" : "\\u%04x",
                       control_code(text + i, control));
        else
            dl_str_fmt(s, "\\x%02x", (unsigned char)text[i]);
        i += control ? control : 1;
        plain = i;
    }
    dl_str_add_n(s, text + plain, n - plain);
}

/* ESC [ ... m: a colour; 0: it is none. */
static size_t colour_length(const char *text, size_t n)
{
    size_t i = 2;
    if (n < 3 || text[0] != '\x1b' || text[1] != '[') return 0;
    while (i < n && ((text[i] >= '0' && text[i] <= '9') || text[i] == ';'))
        i++;
    return i < n && text[i] == 'm' ? i + 1 : 0;
}

static void show_in_place(char *text, size_t n, bool colours)
{
    for (size_t i = 0; i < n;) {
        size_t colour = colours ? colour_length(text + i, n - i) : 0;
        size_t control = colour ? 0 : control_length(text + i, n - i);
        size_t length = colour ? colour : control ? control : dl_utf8_length(text + i, n - i);
        bool keep = !control || text[i] == '\n' || text[i] == '\t';
        for (size_t k = 0; k < (length ? length : 1); k++)
            if (!length || !keep) text[i + k] = '?';
        i += length ? length : 1;
    }
}

void dl_shown_in_place(char *text)
{
    show_in_place(text, strlen(text), false);
}

void dl_shown_on_terminal(char *text, size_t n)
{
    show_in_place(text, n, true);
}

void dl_shown_line_in_place(char *text)
{
    dl_shown_in_place(text);
    for (char *end = strchr(text, '\n'); end; end = strchr(end, '\n'))
        *end = '?';
}

devlog_status dl_str_status(const dl_str *s, devlog_error *err)
{
    if (!s->failed) return DEVLOG_OK;
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while building %zu bytes of text", s->len);
}

const char *dl_mhz_text(char out[DL_GROUPED_SIZE], uint64_t khz)
{
    size_t n = (size_t)(dl_digits(out, khz / 1000) - out);
    unsigned rest = (unsigned)(khz % 1000);
    if (rest) {
        const char digits[4] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
                                (char)('0' + rest % 10)};
        memcpy(out + n, digits, sizeof digits);
        n += sizeof digits;
        while (out[n - 1] == '0')
            n--;
    }
    out[n] = '\0';
    return out;
}

void dl_str_markdown(dl_str *s, const char *text)
{
    dl_str shown = {0};
    dl_str_shown(&shown, text, strlen(text));
    for (size_t i = 0; i < shown.len; i++) {
        if (strchr("|\\`*_<>[]#", shown.text[i])) dl_str_char(s, '\\');
        dl_str_char(s, shown.text[i]);
    }
    s->failed |= shown.failed;
    dl_str_free(&shown);
}
