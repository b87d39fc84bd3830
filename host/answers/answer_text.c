/* Answers for people: a terminal, and Markdown for the comment of a pull request. See answer_print.h. Times are us in tables, all
 * of a column with as many decimals, and in facts in the unit that fits. */
#include "answers/answer_print.h"
#include "base/grid.h"

bool answer_shows(const answer_shown *s, const answer_section *section)
{
    for (size_t i = 0; i < s->n_sections; i++)
        if (strcmp(s->sections[i], section->key) == 0) return true;
    return s->n_sections == 0;
}

/* ---- Numbers --- */

/* 1,234.567 with so many decimals. */
static void grouped(double value, int decimals, dl_str *out)
{
    char digits[DL_GROUPED_SIZE];
    if (value < 0) dl_str_char(out, '-');
    value = fabs(value);
    if (value >= 9e15) {
        dl_str_fmt(out, "%.3g", value);
        return;
    }
    static const double tens[] = {1, 10, 100, 1000};
    const uint64_t scaled = (uint64_t)(value * tens[decimals] + 0.5), one = (uint64_t)tens[decimals];
    dl_str_add(out, dl_u64_grouped(digits, scaled / one));
    if (decimals) dl_str_fmt(out, ".%0*llu", decimals, (unsigned long long)(scaled % one));
}

typedef struct scale {
    double from;
    double divisor;
    const char *unit;
    int decimals;
} scale;

static const scale times[] = {{1e9, 1e9, "s", 3}, {1e6, 1e6, "ms", 3}, {1e3, 1e3, "us", 3}, {0, 1, "ns", 0}};
static const scale bytes[] = {{1e9, 1e9, "GB", 3}, {1e6, 1e6, "MB", 2}, {1e4, 1e3, "kB", 1}, {0, 1, "B", 0}};
static const scale byte_rates[] = {{1e9, 1e9, "GB/s", 2}, {1e6, 1e6, "MB/s", 2}, {0, 1e3, "kB/s", 2}};
static const scale flops[] = {
    {1e12, 1e12, "TFLOP", 2}, {1e9, 1e9, "GFLOP", 2}, {1e6, 1e6, "MFLOP", 2}, {0, 1, "FLOP", 0}};
static const scale flop_rates[] = {
    {1e12, 1e12, "TFLOP/s", 2}, {1e9, 1e9, "GFLOP/s", 2}, {0, 1e6, "MFLOP/s", 2}};

static void scaled(double value, const scale *s, dl_str *out)
{
    while (fabs(value) < s->from)
        s++;
    grouped(value / s->divisor, s->decimals, out);
    dl_str_fmt(out, " %s", s->unit);
}

/* A number with its unit, as one stands by itself. */
static void alone(const answer *a, const answer_cell *c, dl_str *out)
{
    if (!c->known) {
        dl_str_char(out, '-');
        return;
    }
    switch (c->unit) {
    case ANSWER_TEXT: dl_str_shown(out, c->text, strlen(c->text)); break;
    case ANSWER_TIME:
        if (a->cycles) {
            grouped(c->number, 0, out);
            dl_str_add(out, " cycles");
        } else {
            scaled(c->number, times, out);
        }
        break;
    case ANSWER_CYCLES:
        grouped(c->number, c->number == floor(c->number) ? 0 : 1, out);
        dl_str_add(out, " cycles");
        break;
    case ANSWER_PERCENT:
        grouped(c->number, 2, out);
        dl_str_add(out, " %");
        break;
    case ANSWER_RATIO: grouped(c->number, 3, out); break;
    case ANSWER_BYTES: scaled(c->number, bytes, out); break;
    case ANSWER_BYTES_PER_S: scaled(c->number, byte_rates, out); break;
    case ANSWER_FLOPS: scaled(c->number, flops, out); break;
    case ANSWER_FLOPS_PER_S: scaled(c->number, flop_rates, out); break;
    case ANSWER_MHZ: dl_str_fmt(out, "%.10g MHz", floor(c->number * 10 + 0.5) / 10); break;
    case ANSWER_COUNT:
    case ANSWER_UNITS: grouped(c->number, 0, out); break;
    }
}

/* Of a column: in which unit, and with how many decimals. */
typedef struct column_form {
    double divisor;
    int decimals;
    const char *unit; /* for its title; "" none */
    bool any;         /* it has a known cell */
} column_form;

static column_form form_of(const answer *a, const answer_section *s, size_t column)
{
    column_form f = {.divisor = 1, .unit = ""};
    const answer_unit unit = s->columns[column].unit;
    double most = 0;
    for (size_t i = 0; i < answer_rows(s); i++) {
        const answer_cell *c = &s->cells[i * s->n_columns + column];
        f.any |= c->known;
        if (c->known && fabs(c->number) > most) most = fabs(c->number);
    }
    if (unit == ANSWER_TIME && a->cycles) {
        f.unit = "cyc";
    } else if (unit == ANSWER_TIME) {
        f = (column_form){1e3, most < 1e6 ? 3 : 1, "us", f.any};
    } else if (unit == ANSWER_PERCENT) {
        f.decimals = most < 10 ? 2 : 1;
    } else if (unit == ANSWER_RATIO || unit == ANSWER_MHZ) {
        f.decimals = 2;
    } else if (unit == ANSWER_BYTES_PER_S) {
        f = (column_form){1e9, 2, "GB/s", f.any};
    } else if (unit == ANSWER_FLOPS_PER_S) {
        f = (column_form){1e9, 2, "GFLOP/s", f.any};
    }
    return f;
}

static void in_column(const answer_cell *c, const column_form *f, dl_str *out)
{
    if (!c->known)
        dl_str_char(out, '-');
    else if (c->unit == ANSWER_TEXT)
        dl_str_add(out, c->text);
    else
        grouped(c->number / f->divisor, f->decimals, out);
}

/* ---- A terminal --- */

enum { LABEL = 19, MOST_WIDTH = 100 };

static size_t columns_of(const char *text, size_t n)
{
    return dl_text_columns(text, n);
}

/* The bytes of a word that take at most so many columns: one character at least. */
static size_t part_of(const char *word, size_t n, size_t columns)
{
    size_t i = 0;
    while (i < n) {
        const size_t length = dl_utf8_length(word + i, n - i), next = i + (length ? length : 1);
        if (i && columns_of(word, next) > columns) break;
        i = next;
    }
    return i;
}

static size_t width_of(const answer_shown *s)
{
    return s->width && s->width < MOST_WIDTH ? s->width : s->width ? MOST_WIDTH : 80;
}

/* Text in lines of the terminal, each behind the first with `indent` spaces; `at`: columns that are used. A word that is longer than a
 * line is cut into several, on a terminal: elsewhere somebody may look for it. */
static void wrapped(const answer_shown *s, const char *text, size_t at, size_t indent, dl_str *out)
{
    const size_t width = width_of(s);
    dl_str shown = {0};
    dl_str_shown(&shown, text, strlen(text));
    const char *word = shown.text ? shown.text : "";
    bool first = true;
    while (*word) {
        size_t n = strcspn(word, " ");
        if (s->width && indent < width && columns_of(word, n) > width - indent)
            n = part_of(word, n, width - (first ? at < width ? at : indent : indent));
        const size_t takes = columns_of(word, n);
        if ((!first && at + 1 + takes > width) || (first && at > indent && at + takes > width)) {
            dl_str_fmt(out, "\n%*s", (int)indent, "");
            at = indent;
            first = true;
        }
        if (!first) {
            dl_str_char(out, ' ');
            at++;
        }
        dl_str_add_n(out, word, n);
        at += takes;
        first = false;
        word += n;
        while (*word == ' ')
            word++;
    }
    out->failed |= shown.failed;
    dl_str_free(&shown);
}

/* "device busy          0.53 %  of the wall time" */
static void facts(const answer_shown *s, const answer_section *of, dl_str *out)
{
    size_t values = 0;
    dl_str value = {0};
    for (size_t i = 0; i < answer_rows(of); i++) {
        const answer_cell *c = &of->cells[i * of->n_columns];
        dl_str_clear(&value);
        alone(s->a, &c[2], &value);
        if (c[2].unit != ANSWER_TEXT && value.text && columns_of(value.text, value.len) > values)
            values = columns_of(value.text, value.len);
    }
    for (size_t i = 0; i < answer_rows(of); i++) {
        const answer_cell *c = &of->cells[i * of->n_columns];
        /* What is not known of a figure that has no name of its own is said by the one above it. */
        if (!c[2].known && !*c[1].text) continue;
        dl_str_clear(&value);
        alone(s->a, &c[2], &value);
        const char *text = value.text ? value.text : "";
        const size_t named = columns_of(c[1].text, strlen(c[1].text)), label = named > LABEL ? named : LABEL;
        dl_str_fmt(out, "%-*s", LABEL, c[1].text);
        if (c[2].unit == ANSWER_TEXT) {
            wrapped(s, text, label, LABEL, out);
        } else {
            const size_t takes = columns_of(text, value.len);
            dl_str_fmt(out, "%*s%s", (int)(values - (takes < values ? takes : values)), "", text);
        }
        if (c[3].known) {
            dl_str_add(out, "  ");
            wrapped(s, c[3].text, label + values + 2, LABEL + values + 2, out);
        }
        dl_str_char(out, '\n');
    }
    out->failed |= value.failed;
    dl_str_free(&value);
}

/* Columns that nobody knows anything of are not shown, and named. */
static void table(const answer_shown *s, const answer_section *of, dl_str *out)
{
    dl_grid_column columns[DL_GRID_COLUMNS];
    column_form forms[DL_GRID_COLUMNS];
    dl_str titles[DL_GRID_COLUMNS] = {{0}}, cell = {0}, unknown = {0};
    const size_t n = of->n_columns < DL_GRID_COLUMNS ? of->n_columns : DL_GRID_COLUMNS;
    for (size_t k = 0; k < n; k++) {
        const answer_column *c = &of->columns[k];
        forms[k] = form_of(s->a, of, k);
        dl_str_fmt(&titles[k], *forms[k].unit ? "%s %s" : "%s", c->title, forms[k].unit);
        const bool shown = forms[k].any && c->spare < ANSWER_BELOW;
        columns[k] = (dl_grid_column){titles[k].text ? titles[k].text : "",
                                      c->unit == ANSWER_TEXT ? DL_GRID_NAME : DL_GRID_RIGHT, c->spare};
        if (!shown) columns[k].flags = DL_GRID_GONE;
        if (forms[k].any || c->spare >= ANSWER_BELOW) continue;
        dl_str_fmt(&unknown, "%s%s", unknown.len ? ", " : "", c->title);
    }
    dl_grid g = dl_grid_of(columns, n);
    g.colour = s->colour;
    for (size_t i = 0; i < answer_rows(of); i++) {
        for (size_t k = 0; k < n; k++) {
            dl_str_clear(&cell);
            in_column(&of->cells[i * of->n_columns + k], &forms[k], &cell);
            dl_grid_text(&g, cell.text ? cell.text : "");
        }
        for (size_t k = 0; k < n; k++) {
            const answer_cell *c = &of->cells[i * of->n_columns + k];
            if (of->columns[k].spare != ANSWER_BELOW || !c->known) continue;
            dl_str_clear(&cell);
            dl_str_add(&cell, "    ");
            wrapped(s, c->text, 4, 4, &cell);
            for (char *line = cell.text; line && *line;) {
                char *end = strchr(line, '\n');
                if (end) *end = 0;
                dl_grid_note(&g, line);
                line = end ? end + 1 : NULL;
            }
        }
    }
    if (answer_rows(of)) dl_grid_print(&g, s->width, out);
    if (!answer_rows(of)) dl_str_add(out, "none\n");
    if (of->more) dl_str_fmt(out, "... and %zu more (--top)\n", of->more);
    if (unknown.len && answer_rows(of)) {
        dl_str_add(out, "Not known: ");
        wrapped(s, unknown.text, 11, 2, out);
        dl_str_char(out, '\n');
    }
    for (size_t k = 0; k < n; k++)
        dl_str_free(&titles[k]);
    out->failed |= cell.failed || unknown.failed;
    dl_str_free(&cell);
    dl_str_free(&unknown);
}

void answer_print_text(const answer_shown *s, dl_str *out)
{
    bool any = false;
    for (size_t i = 0; i < s->a->n; i++) {
        const answer_section *of = &s->a->sections[i];
        if (!answer_shows(s, of)) continue;
        if (any) dl_str_char(out, '\n');
        dl_str_fmt(out, s->colour ? "\033[1m%s\033[0m\n" : "%s\n", of->title);
        if (of->facts)
            facts(s, of, out);
        else
            table(s, of, out);
        for (size_t k = 0; k < of->n_notes; k++) {
            wrapped(s, of->notes[k], 0, 0, out);
            dl_str_char(out, '\n');
        }
        any = true;
    }
}

/* ---- Markdown --- */

static void md_facts(const answer *a, const answer_section *of, dl_str *out)
{
    dl_str value = {0};
    dl_str_add(out, "| | | |\n|---|--:|---|\n");
    for (size_t i = 0; i < answer_rows(of); i++) {
        const answer_cell *c = &of->cells[i * of->n_columns];
        if (!c[2].known && !*c[1].text) continue;
        dl_str_clear(&value);
        alone(a, &c[2], &value);
        dl_str_add(out, "| ");
        dl_str_markdown(out, c[1].text + strspn(c[1].text, " "));
        dl_str_add(out, " | ");
        dl_str_markdown(out, value.text ? value.text : "");
        dl_str_add(out, " | ");
        dl_str_markdown(out, c[3].text);
        dl_str_add(out, " |\n");
    }
    out->failed |= value.failed;
    dl_str_free(&value);
}

static void md_table(const answer *a, const answer_section *of, dl_str *out)
{
    column_form forms[DL_GRID_COLUMNS];
    const size_t n = of->n_columns < DL_GRID_COLUMNS ? of->n_columns : DL_GRID_COLUMNS;
    dl_str cell = {0};
    for (size_t k = 0; k < n; k++)
        forms[k] = form_of(a, of, k);
    if (!answer_rows(of)) {
        dl_str_add(out, "none\n");
        return;
    }
    for (int line = 0; line < 2; line++) {
        for (size_t k = 0; k < n; k++) {
            if (!forms[k].any || of->columns[k].spare == ANSWER_HIDDEN) continue;
            if (line)
                dl_str_add(out, of->columns[k].unit == ANSWER_TEXT ? "|---" : "|--:");
            else
                dl_str_fmt(out, *forms[k].unit ? "| %s %s " : "| %s ", of->columns[k].title, forms[k].unit);
        }
        dl_str_add(out, "|\n");
    }
    for (size_t i = 0; i < answer_rows(of); i++) {
        for (size_t k = 0; k < n; k++) {
            if (!forms[k].any || of->columns[k].spare == ANSWER_HIDDEN) continue;
            dl_str_clear(&cell);
            in_column(&of->cells[i * of->n_columns + k], &forms[k], &cell);
            dl_str_add(out, "| ");
            dl_str_markdown(out, cell.text ? cell.text : "");
            dl_str_char(out, ' ');
        }
        dl_str_add(out, "|\n");
    }
    if (of->more) dl_str_fmt(out, "\n%zu more.\n", of->more);
    out->failed |= cell.failed;
    dl_str_free(&cell);
}

void answer_print_markdown(const answer_shown *s, dl_str *out)
{
    bool any = false;
    for (size_t i = 0; i < s->a->n; i++) {
        const answer_section *of = &s->a->sections[i];
        if (!answer_shows(s, of)) continue;
        dl_str_fmt(out, any ? "\n### %s\n\n" : "### %s\n\n", of->title);
        if (of->facts)
            md_facts(s->a, of, out);
        else
            md_table(s->a, of, out);
        for (size_t k = 0; k < of->n_notes; k++) {
            dl_str_char(out, '\n');
            dl_str_markdown(out, of->notes[k]);
            dl_str_char(out, '\n');
        }
        any = true;
    }
}
