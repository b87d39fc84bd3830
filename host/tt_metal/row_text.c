/* A row of the report as text: its cells as CSV or JSON. Not for what is in them. */
#include <string.h>

#include "tt_metal/cells.h"

/* No number may begin with a zero in JSON, or be long enough to lose digits in a reader. */
bool tt_is_number(const char *text, size_t n)
{
    size_t i = n && *text == '-', digits = i;
    if (n > 18 || i == n || (text[i] == '0' && n > i + 1 && text[i + 1] != '.')) return false;
    while (i < n && text[i] >= '0' && text[i] <= '9')
        i++;
    if (i == digits) return false;
    if (i == n) return true;
    if (text[i++] != '.') return false;
    for (digits = i; i < n && text[i] >= '0' && text[i] <= '9'; i++)
        ;
    return i == n && i > digits;
}

/* The script puts ';' in place of every ',' of a cell. */
void tt_csv_cell(dl_str *out, dl_str *work, const char *text, size_t n)
{
    bool quotes = false, comma = false, high = false;
    for (size_t i = 0; i < n; i++) {
        quotes |= text[i] == '"' || text[i] == '\n' || text[i] == '\r';
        comma |= text[i] == ',';
        high |= (unsigned char)text[i] >= 0x80;
    }
    if (high) { /* what is no UTF-8 becomes U+FFFD */
        dl_str_clear(work);
        dl_str_utf8(work, text, n);
        text = work->text ? work->text : "";
        n = work->len;
    }
    if (!quotes && !comma) {
        dl_str_add_n(out, text, n);
        return;
    }
    if (quotes) dl_str_char(out, '"');
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"') dl_str_char(out, '"');
        dl_str_char(out, text[i] == ',' ? ';' : text[i]);
    }
    if (quotes) dl_str_char(out, '"');
}

static void write_json_row(tt_writer *w)
{
    dl_str_add(w->out, w->counts->rows ? ",\n{" : "{");
    for (size_t i = 0; i < w->n_order; i++) {
        const tt_cell c = tt_cell_of(w, w->order[i]);
        if (i) dl_str_char(w->out, ',');
        dl_str_add(w->out, w->keys[i]);
        if (!c.n)
            dl_str_add(w->out, "null");
        else if (tt_is_number(c.text, c.n))
            dl_str_add_n(w->out, c.text, c.n);
        else
            dl_str_json(w->out, c.text, c.n);
    }
    dl_str_char(w->out, '}');
}

/* Most cells are short: two moves that may overlap are quicker than a call. */
static inline char *put(char *to, const char *from, size_t n)
{
    if (n > 32) {
        memcpy(to, from, n);
    } else if (n >= 16) {
        memcpy(to, from, 16);
        memcpy(to + n - 16, from + n - 16, 16);
    } else if (n >= 8) {
        memcpy(to, from, 8);
        memcpy(to + n - 8, from + n - 8, 8);
    } else if (n >= 4) {
        memcpy(to, from, 4);
        memcpy(to + n - 4, from + n - 4, 4);
    } else {
        for (size_t i = 0; i < n; i++)
            to[i] = from[i];
    }
    return to + n;
}

/* Of what is empty only the commas are written; room is asked for once for them, and then for each cell. */
static void write_csv_row(tt_writer *w)
{
    dl_str *out = w->out;
    const uint32_t row = w->row;
    if (!w->n_order || !dl_str_reserve(out, w->n_order)) return;
    char *to = out->text + out->len;
    size_t run = 0;
    for (size_t i = 0; i < w->n_order; i++) {
        if (run < w->n_runs && i == w->runs[run].from && w->row_said) {
            const size_t n = w->row_said->runs[run].len;
            out->len = (size_t)(to - out->text);
            if (!dl_str_reserve(out, n + w->n_order)) return;
            to = out->text + out->len;
            if (n) to = put(to, w->row_said->text.text + w->row_said->runs[run].at, n);
            *to++ = ',';
            i = w->runs[run++].to - 1;
            continue;
        }
        const tt_slot *s = &w->slots[w->order[i]];
        if (s->row == row && s->len) {
            const char *text = s->text ? s->text : w->text.text + s->at;
            const size_t left = w->n_order - i;
            out->len = (size_t)(to - out->text);
            if (s->ready) {
                if (!dl_str_reserve(out, s->len + left)) return;
                to = put(out->text + out->len, text, s->len);
            } else {
                tt_csv_cell(out, &w->work, text, s->len);
                if (!dl_str_reserve(out, left)) return;
                to = out->text + out->len;
            }
        }
        *to++ = ',';
    }
    to[-1] = '\n';
    *to = 0;
    out->len = (size_t)(to - out->text);
}

void tt_row_write(tt_writer *w)
{
    if (w->o->json)
        write_json_row(w);
    else
        write_csv_row(w);
    w->counts->rows++;
}
