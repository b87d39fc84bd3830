/* Answers for programs: JSON (schema: devlog-KIND-VERSION.json of share/devlog/schema) and CSV. Numbers are whole where they are; unknown is null, or an
 * empty cell. See answer_print.h. */
#include "answers/answer_print.h"
#include "base/real.h"

static void number(double value, dl_str *out)
{
    if (value == floor(value) && fabs(value) < 9e15)
        dl_str_fmt(out, "%lld", (long long)value);
    else
        dl_str_real(out, value);
}

static void json_text(const char *text, dl_str *out)
{
    dl_str_json(out, text, strlen(text));
}

static void json_cell(const answer_cell *c, dl_str *out)
{
    if (!c->known)
        dl_str_add(out, "null");
    else if (c->unit == ANSWER_TEXT)
        json_text(c->text, out);
    else
        number(c->number, out);
}

static void json_unit(const answer *a, answer_unit unit, dl_str *out)
{
    dl_str_add(out, ",\"unit\":");
    if (unit == ANSWER_TEXT)
        dl_str_add(out, "null");
    else
        json_text(unit == ANSWER_COUNT ? "count" : answer_unit_name(a, unit), out);
}

static void json_facts(const answer *a, const answer_section *s, dl_str *out)
{
    dl_str_add(out, ",\"facts\":{");
    for (size_t i = 0; i < answer_rows(s); i++) {
        const answer_cell *c = &s->cells[i * s->n_columns];
        dl_str_add(out, i ? ",\n    " : "\n    ");
        json_text(c[0].text, out);
        dl_str_add(out, ":{\"value\":");
        json_cell(&c[2], out);
        json_unit(a, c[2].unit, out);
        dl_str_add(out, ",\"note\":");
        json_cell(&c[3], out);
        dl_str_char(out, '}');
    }
    dl_str_char(out, '}');
}

static void json_table(const answer *a, const answer_section *s, dl_str *out)
{
    dl_str_add(out, ",\"columns\":[");
    for (size_t i = 0; i < s->n_columns; i++) {
        dl_str_add(out, i ? ",{\"key\":" : "{\"key\":");
        json_text(s->columns[i].key, out);
        json_unit(a, s->columns[i].unit, out);
        dl_str_char(out, '}');
    }
    dl_str_fmt(out, "],\"more\":%zu,\"rows\":[", s->more);
    for (size_t i = 0; i < answer_rows(s); i++) {
        dl_str_add(out, i ? ",\n    {" : "\n    {");
        for (size_t k = 0; k < s->n_columns; k++) {
            if (k) dl_str_char(out, ',');
            json_text(s->columns[k].key, out);
            dl_str_char(out, ':');
            json_cell(&s->cells[i * s->n_columns + k], out);
        }
        dl_str_char(out, '}');
    }
    dl_str_char(out, ']');
}

void answer_print_json(const answer_shown *s, dl_str *out)
{
    bool any = false;
    dl_str_fmt(out, "{\"format\":\"devlog-%s-%d\",\"sections\":{", s->kind, s->version);
    for (size_t i = 0; i < s->a->n; i++) {
        const answer_section *of = &s->a->sections[i];
        if (!answer_shows(s, of)) continue;
        dl_str_add(out, any ? ",\n  " : "\n  ");
        json_text(of->key, out);
        dl_str_add(out, ":{\"title\":");
        json_text(of->title, out);
        if (of->facts)
            json_facts(s->a, of, out);
        else
            json_table(s->a, of, out);
        dl_str_add(out, ",\"notes\":[");
        for (size_t k = 0; k < of->n_notes; k++) {
            if (k) dl_str_char(out, ',');
            json_text(of->notes[k], out);
        }
        dl_str_add(out, "]}");
        any = true;
    }
    dl_str_add(out, "}}\n");
}

/* ---- CSV: one table after the other, an empty line between them --- */

static void csv_cell(const answer_cell *c, dl_str *out)
{
    if (!c->known) return;
    if (c->unit == ANSWER_TEXT)
        dl_str_csv(out, c->text, strlen(c->text));
    else
        number(c->number, out);
}

static void csv_head(const answer *a, const answer_section *s, dl_str *out)
{
    if (s->facts) {
        dl_str_add(out, "key,value,unit,note\n");
        return;
    }
    for (size_t i = 0; i < s->n_columns; i++) {
        const char *unit = answer_unit_name(a, s->columns[i].unit);
        if (i) dl_str_char(out, ',');
        dl_str_fmt(out, *unit ? "%s [%s]" : "%s", s->columns[i].key, unit);
    }
    dl_str_char(out, '\n');
}

static void csv_row(const answer *a, const answer_section *s, const answer_cell *c, dl_str *out)
{
    if (s->facts) {
        csv_cell(&c[0], out);
        dl_str_char(out, ',');
        csv_cell(&c[2], out);
        dl_str_fmt(out, ",%s,", answer_unit_name(a, c[2].unit));
        csv_cell(&c[3], out);
        dl_str_char(out, '\n');
        return;
    }
    for (size_t k = 0; k < s->n_columns; k++) {
        if (k) dl_str_char(out, ',');
        csv_cell(&c[k], out);
    }
    dl_str_char(out, '\n');
}

void answer_print_csv(const answer_shown *s, dl_str *out)
{
    bool any = false;
    for (size_t i = 0; i < s->a->n; i++) {
        const answer_section *of = &s->a->sections[i];
        if (!answer_shows(s, of)) continue;
        if (any) dl_str_char(out, '\n');
        csv_head(s->a, of, out);
        for (size_t k = 0; k < answer_rows(of); k++)
            csv_row(s->a, of, &of->cells[k * of->n_columns], out);
        any = true;
    }
}
