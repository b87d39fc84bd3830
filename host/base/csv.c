/* Cells and rows of CSV. See csv.h. */
#include "base/csv.h"

#include <string.h>

static bool is_end(char c)
{
    return c == '\n' || c == '\r';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Hands over the cell in hand, without the last `less` bytes. */
static void end_cell(dl_csv *c, size_t less)
{
    if (!c->text.failed) c->cell(c->ctx, c->text.text ? c->text.text : "", c->text.len - less);
    dl_str_clear(&c->text);
    c->state = DL_CSV_FIELD;
    c->quoted = false;
    c->blanks = 0;
}

static void end_row(dl_csv *c)
{
    c->row(c->ctx);
    c->state = DL_CSV_ROW;
}

static void between(dl_csv *c, char byte)
{
    if (is_blank(byte)) return;
    if (is_end(byte)) {
        if (c->state == DL_CSV_ROW) return;
        end_cell(c, 0);
        end_row(c);
    } else if (byte == ',') {
        end_cell(c, 0);
    } else {
        c->state = DL_CSV_INSIDE;
        c->quoted = byte == '"';
        if (!c->quoted) dl_str_char(&c->text, byte);
    }
}

static void inside(dl_csv *c, char byte)
{
    if (!c->quoted && (byte == ',' || is_end(byte))) {
        end_cell(c, c->blanks);
        if (byte != ',') end_row(c);
        return;
    }
    dl_str_char(&c->text, byte);
    if (c->quoted && byte == '"')
        c->state = DL_CSV_PERHAPS_ENDED;
    else
        c->blanks = !c->quoted && is_blank(byte) ? c->blanks + 1 : 0;
}

/* Behind a quote inside of a quoted cell, which has been kept. */
static void perhaps_ended(dl_csv *c, char byte)
{
    if (byte == ',' || is_end(byte)) {
        end_cell(c, c->blanks + 1);
        if (byte != ',') end_row(c);
    } else if (is_blank(byte)) {
        dl_str_char(&c->text, byte);
        c->blanks++;
    } else if (byte == '"' && !c->blanks) {
        c->state = DL_CSV_INSIDE; /* written twice: it stands for one */
    } else {
        c->blanks = 0;
        dl_str_char(&c->text, byte);
        if (byte != '"') c->state = DL_CSV_INSIDE;
    }
}

static const bool ends[256] = {[','] = true, ['\n'] = true, ['\r'] = true};

/* Cells that are slices of the block, from `at`, where one begins; returns where the first is that is none, or that does not
 * end in this block. Most cells are empty, or short. */
static size_t slices(dl_csv *c, const char *text, size_t at, size_t n)
{
    while (at < n) {
        const char first = text[at];
        size_t end = at;
        if (first == ',') {
            c->cell(c->ctx, text + at, 0);
        } else if (first == '"') {
            const char *quote = memchr(text + at + 1, '"', n - at - 1);
            end = quote ? (size_t)(quote - text) + 1 : n;
            if (end == n || !ends[(unsigned char)text[end]]) return at;
            c->cell(c->ctx, text + at + 1, end - at - 2);
        } else if (is_blank(first) || (is_end(first) && c->state == DL_CSV_ROW)) {
            return at;
        } else {
            while (end < n && !ends[(unsigned char)text[end]])
                end++;
            if (end == n) return at;
            size_t until = end;
            while (until > at && is_blank(text[until - 1]))
                until--;
            c->cell(c->ctx, text + at, until - at);
        }
        c->state = DL_CSV_FIELD;
        if (text[end] != ',') end_row(c);
        at = end + 1;
    }
    return at;
}

void dl_csv_feed(dl_csv *c, const char *text, size_t n)
{
    for (size_t at = 0; at < n; at++) {
        if (c->state == DL_CSV_ROW || c->state == DL_CSV_FIELD) at = slices(c, text, at, n);
        if (at == n) return;
        if (c->state == DL_CSV_ROW || c->state == DL_CSV_FIELD)
            between(c, text[at]);
        else if (c->state == DL_CSV_INSIDE)
            inside(c, text[at]);
        else
            perhaps_ended(c, text[at]);
    }
}

void dl_csv_end(dl_csv *c)
{
    if (c->state == DL_CSV_ROW) return;
    end_cell(c, c->state == DL_CSV_PERHAPS_ENDED ? c->blanks + 1 : c->state == DL_CSV_INSIDE ? c->blanks : 0);
    end_row(c);
}

void dl_csv_free(dl_csv *c)
{
    dl_str_free(&c->text);
}
