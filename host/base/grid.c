/* Grids: tables for people. */
#include "base/grid.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char ellipsis[] = "\xE2\x80\xA6";
enum { LEAST_LEFT = 8, NOTE = '\1' };

/* ---- Texts on a terminal --------------------------------------------------------------------------- */

static uint32_t code_point(const char *text, size_t len)
{
    static const uint8_t first[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t c = (unsigned char)text[0] & first[len];
    for (size_t i = 1; i < len; i++)
        c = c << 6 | ((unsigned char)text[i] & 0x3F);
    return c;
}

/* Columns of one character: 0 for those that join the one before, 2 for the wide ones of East Asia. */
static unsigned columns_of(uint32_t c)
{
    static const struct {
        uint32_t from, to;
        unsigned columns;
    } unusual[] = {
        {0x300, 0x36F, 0},     {0x200B, 0x200F, 0}, {0xFE00, 0xFE0F, 0},   {0x1100, 0x115F, 2},
        {0x2E80, 0xA4CF, 2},   {0xAC00, 0xD7A3, 2}, {0xF900, 0xFAFF, 2},   {0xFE30, 0xFE6F, 2},
        {0xFF00, 0xFF60, 2},   {0xFFE0, 0xFFE6, 2}, {0x1F300, 0x1F64F, 2}, {0x1F900, 0x1F9FF, 2},
        {0x20000, 0x3FFFD, 2},
    };
    for (size_t i = 0; i < sizeof unusual / sizeof unusual[0]; i++)
        if (c >= unusual[i].from && c <= unusual[i].to) return unusual[i].columns;
    return 1;
}

unsigned dl_text_columns(const char *text, size_t n)
{
    unsigned columns = 0;
    for (size_t i = 0, len; i < n; i += len ? len : 1) {
        for (; i < n && text[i] >= ' ' && text[i] <= '~'; i++)
            columns++;
        if (i == n) break;
        len = dl_utf8_length(text + i, n - i);
        columns += len ? columns_of(code_point(text + i, len)) : 1;
    }
    return columns;
}

/* The first bytes that take no more than `most` columns, and how many columns they take. */
static size_t head_of(const char *text, size_t n, unsigned most, unsigned *taken)
{
    size_t i = 0;
    *taken = 0;
    for (size_t len; i < n; i += len) {
        len = dl_utf8_length(text + i, n - i);
        if (!len) len = 1;
        unsigned more = dl_text_columns(text + i, len);
        if (*taken + more > most) break;
        *taken += more;
    }
    return i;
}

/* A plain text, which has only whole characters, shortened in its middle. */
static void shorten(dl_str *s, const char *text, size_t n, unsigned most)
{
    unsigned all = dl_text_columns(text, n), taken;
    if (all <= most || most == 0) {
        dl_str_add_n(s, text, n);
        return;
    }
    size_t front = head_of(text, n, most / 2, &taken);
    unsigned left = most - 1 - taken, skip = all - left; /* columns in front of the tail */
    size_t tail = head_of(text, n, skip, &taken);
    if (taken < skip) { /* half of a wide character: without it */
        size_t len = dl_utf8_length(text + tail, n - tail);
        tail += len ? len : 1;
    }
    dl_str_add_n(s, text, front);
    dl_str_add(s, ellipsis);
    dl_str_add_n(s, text + tail, n - tail);
}

void dl_str_short(dl_str *s, const char *text, unsigned most)
{
    dl_str plain = {0};
    dl_str_shown(&plain, text, strlen(text));
    s->failed |= plain.failed;
    shorten(s, plain.text ? plain.text : "", plain.len, most);
    dl_str_free(&plain);
}

/* ---- Cells ----------------------------------------------------------------------------------------- */

dl_grid dl_grid_of(const dl_grid_column *columns, size_t n)
{
    dl_grid g = {.n_columns = n < DL_GRID_COLUMNS ? (unsigned)n : DL_GRID_COLUMNS};
    memcpy(g.columns, columns, g.n_columns * sizeof *columns);
    return g;
}

static void end_cell(dl_grid *g)
{
    dl_str_char(&g->text, '\0');
    g->cells++;
}

static void next(dl_grid *g)
{
    end_cell(g);
    g->at = g->at + 1 == g->n_columns ? 0 : g->at + 1;
}

void dl_grid_text(dl_grid *g, const char *text)
{
    dl_str_shown(&g->text, text, strlen(text));
    next(g);
}

void dl_grid_fmt(dl_grid *g, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    dl_grid_text(g, text);
}

void dl_grid_u64(dl_grid *g, uint64_t value)
{
    char digits[DL_GROUPED_SIZE];
    dl_grid_text(g, dl_u64_grouped(digits, value));
}

void dl_grid_number(dl_grid *g, double value)
{
    if (!isfinite(value) || value < 0)
        dl_grid_text(g, "");
    else if (value < 9.2e18)
        dl_grid_u64(g, (uint64_t)llround(value));
    else
        dl_grid_fmt(g, "%.6g", value);
}

void dl_grid_note(dl_grid *g, const char *text)
{
    dl_str_char(&g->text, NOTE);
    dl_str_shown(&g->text, text, strlen(text));
    end_cell(g);
}

/* ---- Printing -------------------------------------------------------------------------------------- */

typedef struct layout {
    unsigned widths[DL_GRID_COLUMNS];
    bool shown[DL_GRID_COLUMNS];
    bool head;
} layout;

static unsigned gap_of(const dl_grid *g, unsigned k, bool first)
{
    return (first ? 0 : 2) + (g->columns[k].flags & DL_GRID_RULE ? 2 : 0);
}

/* Columns of a line as it is laid out; *can: by how much names can be made shorter, down to `least`. */
static unsigned length_of(const dl_grid *g, const layout *l, unsigned least, unsigned *can)
{
    unsigned length = 0;
    *can = 0;
    for (unsigned k = 0; k < g->n_columns; k++) {
        if (!l->shown[k]) continue;
        length += gap_of(g, k, length == 0) + l->widths[k];
        if (g->columns[k].flags & DL_GRID_NAME && l->widths[k] > least) *can += l->widths[k] - least;
    }
    return length;
}

/* The column that can be spared best; n_columns: none. */
static unsigned spare_of(const dl_grid *g, const layout *l)
{
    unsigned best = g->n_columns;
    for (unsigned k = 0; k < g->n_columns; k++)
        if (l->shown[k] && g->columns[k].spare &&
            (best == g->n_columns || g->columns[k].spare > g->columns[best].spare))
            best = k;
    return best;
}

/* Makes the widest name shorter, column by column, until the line fits. */
static void squeeze(const dl_grid *g, layout *l, unsigned by, unsigned least)
{
    for (; by; by--) {
        unsigned widest = g->n_columns;
        for (unsigned k = 0; k < g->n_columns; k++)
            if (l->shown[k] && g->columns[k].flags & DL_GRID_NAME && l->widths[k] > least &&
                (widest == g->n_columns || l->widths[k] > l->widths[widest]))
                widest = k;
        if (widest == g->n_columns) return;
        l->widths[widest]--;
    }
}

static void fit(const dl_grid *g, layout *l, unsigned width)
{
    unsigned least = DL_GRID_LEAST_NAME, can, length;
    if (width == 0) return;
    for (;;) {
        length = length_of(g, l, least, &can);
        if (length <= width) return;
        if (length - can <= width) break;
        unsigned k = spare_of(g, l);
        if (k < g->n_columns) {
            l->shown[k] = false;
            continue;
        }
        least = LEAST_LEFT;
        break;
    }
    squeeze(g, l, length - width, least);
}

static void pad(dl_str *out, unsigned n)
{
    for (; n; n--)
        dl_str_char(out, ' ');
}

/* One cell; blanks behind the last of a line are left out. */
static void put(const dl_grid *g, const layout *l, unsigned k, const char *text, size_t n, unsigned *blanks,
                bool *begun, dl_str *out)
{
    if (!l->shown[k]) return;
    unsigned columns = dl_text_columns(text, n), width = l->widths[k];
    unsigned free_ = columns < width ? width - columns : 0;
    bool right = g->columns[k].flags & DL_GRID_RIGHT;
    if (g->columns[k].flags & DL_GRID_RULE) {
        pad(out, *blanks + (*begun ? 2 : 0));
        dl_str_char(out, '|');
        *blanks = 1 + (right ? free_ : 0);
    } else {
        *blanks += (*begun ? 2 : 0) + (right ? free_ : 0);
    }
    *begun = true;
    if (n) {
        pad(out, *blanks);
        *blanks = 0;
        const bool red = g->colour && g->columns[k].flags & DL_GRID_RED;
        if (red) dl_str_add(out, "\033[31m");
        if (columns > width)
            shorten(out, text, n, width);
        else
            dl_str_add_n(out, text, n);
        if (red) dl_str_add(out, "\033[0m");
    }
    if (!right) *blanks += free_;
}

static void measure(const dl_grid *g, layout *l)
{
    for (unsigned k = 0; k < g->n_columns; k++) {
        const char *title = g->columns[k].title;
        l->shown[k] = !(g->columns[k].flags & DL_GRID_GONE);
        l->head |= title != NULL;
        l->widths[k] = title ? dl_text_columns(title, strlen(title)) : 0;
    }
    const char *at = g->text.text;
    unsigned k = 0;
    for (size_t i = 0; i < g->cells; i++, at += strlen(at) + 1) {
        if (*at == NOTE) continue;
        unsigned columns = dl_text_columns(at, strlen(at));
        if (columns > l->widths[k]) l->widths[k] = columns;
        k = k + 1 == g->n_columns ? 0 : k + 1;
    }
}

/* In lines that fit, too. */
static void left_out(const dl_grid *g, const layout *l, unsigned width, dl_str *out)
{
    bool any = false;
    size_t begins = out->len;
    for (unsigned k = 0; k < g->n_columns; k++) {
        if (l->shown[k] || g->columns[k].flags & DL_GRID_GONE) continue;
        const unsigned columns = dl_text_columns(g->columns[k].title, strlen(g->columns[k].title));
        if (any) dl_str_char(out, ',');
        if (any && width && out->len - begins + columns + 2 > width) {
            dl_str_char(out, '\n');
            begins = out->len;
        }
        dl_str_fmt(out, "%s%s", any ? " " : "(no room for: ", g->columns[k].title);
        any = true;
    }
    if (any) dl_str_add(out, ")\n");
}

static bool has_column(const dl_grid *g, unsigned k)
{
    return !(g->columns[k].flags & DL_GRID_GONE);
}

/* A note is a row with one cell: a table of Markdown ends at the first line that is none of it. */
static void markdown(const dl_grid *g, dl_str *out)
{
    const char *at = g->text.text;
    for (unsigned k = 0; k < g->n_columns; k++) {
        if (!has_column(g, k)) continue;
        dl_str_add(out, "| ");
        dl_str_markdown(out, g->columns[k].title ? g->columns[k].title : "");
        dl_str_char(out, ' ');
    }
    dl_str_add(out, "|\n");
    for (unsigned k = 0; k < g->n_columns; k++)
        if (has_column(g, k)) dl_str_add(out, g->columns[k].flags & DL_GRID_RIGHT ? "|--:" : "|---");
    dl_str_add(out, "|\n");
    unsigned k = 0;
    for (size_t i = 0; i < g->cells; i++, at += strlen(at) + 1) {
        const bool note = *at == NOTE;
        bool written = false;
        for (unsigned c = note ? 0 : k; c < (note ? g->n_columns : k + 1); c++) {
            if (!has_column(g, c)) continue;
            dl_str_add(out, "| ");
            if (!written) dl_str_markdown(out, at + note);
            dl_str_char(out, ' ');
            written = true;
        }
        if (!note) k = k + 1 == g->n_columns ? 0 : k + 1;
        if (note || k == 0) dl_str_add(out, "|\n");
    }
    dl_str_char(out, '\n'); /* or what follows would be in it */
}

static void empty(dl_grid *g)
{
    dl_str_free(&g->text);
    g->cells = 0;
    g->at = 0;
}

void dl_grid_print(dl_grid *g, unsigned width, dl_str *out)
{
    layout l = {0};
    unsigned blanks = 0, k = 0;
    bool begun = false;
    out->failed |= g->text.failed;
    if (g->text.failed) g->cells = 0;
    if (width == DL_GRID_MARKDOWN) {
        markdown(g, out);
        empty(g);
        return;
    }
    measure(g, &l);
    fit(g, &l, width);
    for (; l.head && k < g->n_columns; k++)
        put(g, &l, k, g->columns[k].title ? g->columns[k].title : "",
            g->columns[k].title ? strlen(g->columns[k].title) : 0, &blanks, &begun, out);
    if (l.head) dl_str_char(out, '\n');
    const char *at = g->text.text;
    k = 0;
    for (size_t i = 0; i < g->cells; i++) {
        size_t n = strlen(at);
        if (k == 0) {
            blanks = 0;
            begun = false;
        }
        if (*at == NOTE) {
            dl_str_add_n(out, at + 1, n - 1);
            dl_str_char(out, '\n');
        } else {
            put(g, &l, k, at, n, &blanks, &begun, out);
            k = k + 1 == g->n_columns ? 0 : k + 1;
            if (k == 0) dl_str_char(out, '\n');
        }
        at += n + 1;
    }
    left_out(g, &l, width, out);
    empty(g);
}
