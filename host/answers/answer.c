/* The model of answers: sections of cells. See answer.h. */
#include "answers/answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_TEXTS = 4 * 1024 * 1024, MAX_TEXT_BYTES = 256 * 1024 * 1024 };

/* A fact is a row of these; its value's unit is its cell's. */
static const answer_column fact_columns[] = {
    {"key", "", ANSWER_TEXT, 0},
    {"title", "", ANSWER_TEXT, 0},
    {"value", "", ANSWER_TEXT, 0},
    {"note", "", ANSWER_TEXT, 0},
};
enum { FACT_COLUMNS = sizeof fact_columns / sizeof fact_columns[0] };

devlog_status answer_begin(answer *a, devlog_error *err)
{
    *a = (answer){.texts = dl_intern_new(MAX_TEXTS, MAX_TEXT_BYTES)};
    return a->texts ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

void answer_free(answer *a)
{
    for (size_t i = 0; i < a->n; i++) {
        free(a->sections[i].cells);
        free(a->sections[i].notes);
    }
    dl_intern_free(a->texts);
    *a = (answer){0};
}

devlog_status answer_status(const answer *a, devlog_error *err)
{
    bool failed = a->no_memory;
    for (size_t i = 0; i < a->n; i++)
        failed |= a->sections[i].failed;
    return failed ? dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory") : DEVLOG_OK;
}

answer_section *answer_table(answer *a, const char *key, const char *title, const answer_column *columns,
                             size_t n_columns)
{
    if (a->n == ANSWER_SECTIONS) {
        a->no_memory = true;
        return &a->sections[a->n - 1];
    }
    answer_section *s = &a->sections[a->n++];
    *s = (answer_section){.key = key, .title = title, .columns = columns, .n_columns = n_columns};
    return s;
}

answer_section *answer_facts(answer *a, const char *key, const char *title)
{
    answer_section *s = answer_table(a, key, title, fact_columns, FACT_COLUMNS);
    s->facts = true;
    return s;
}

const answer_section *answer_find(const answer *a, const char *key)
{
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->sections[i].key, key) == 0) return &a->sections[i];
    return NULL;
}

static void add(answer_section *s, answer_cell cell)
{
    if (s->n == s->cap) {
        const size_t cap = s->cap ? s->cap * 2 : 64;
        answer_cell *grown = realloc(s->cells, cap * sizeof *grown);
        s->failed |= !grown;
        if (!grown) return;
        s->cells = grown;
        s->cap = cap;
    }
    s->cells[s->n++] = cell;
}

static answer_unit unit_of_next(const answer_section *s)
{
    return s->columns[s->n % s->n_columns].unit;
}

void answer_number(answer_section *s, double value)
{
    const bool known = isfinite(value);
    add(s, (answer_cell){.unit = unit_of_next(s), .known = known, .number = known ? value : 0});
}

void answer_text(answer_section *s, const char *text)
{
    add(s, (answer_cell){.unit = ANSWER_TEXT, .known = text != NULL, .text = text ? text : ""});
}

void answer_unknown(answer_section *s)
{
    add(s, (answer_cell){.unit = unit_of_next(s), .text = ""});
}

const char *answer_keep(answer *a, const char *text, size_t n)
{
    const uint32_t id = dl_intern_add(a->texts, text, n);
    if (id == DL_NO_STRING) {
        a->no_memory = true;
        return "";
    }
    return dl_intern_text(a->texts, id, NULL);
}

const char *answer_keepf(answer *a, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, fmt, args);
    char *text = n < 0 ? NULL : malloc((size_t)n + 1);
    const char *kept = "";
    if (text) {
        vsnprintf(text, (size_t)n + 1, fmt, again);
        kept = answer_keep(a, text, (size_t)n);
    }
    a->no_memory |= !text;
    va_end(again);
    va_end(args);
    free(text);
    return kept;
}

void answer_fact(answer *a, answer_section *s, const char *key, const char *title, answer_unit unit,
                 double value, const char *note)
{
    const bool known = isfinite(value);
    answer_text(s, key);
    answer_text(s, title);
    add(s, (answer_cell){.unit = unit, .known = known, .number = known ? value : 0});
    answer_text(s, note ? answer_keep(a, note, strlen(note)) : NULL);
}

void answer_fact_text(answer *a, answer_section *s, const char *key, const char *title, const char *text,
                      const char *note)
{
    answer_text(s, key);
    answer_text(s, title);
    answer_text(s, text ? answer_keep(a, text, strlen(text)) : NULL);
    answer_text(s, note ? answer_keep(a, note, strlen(note)) : NULL);
}

void answer_note(answer *a, answer_section *s, const char *text)
{
    if (s->n_notes == s->cap_notes) {
        const size_t cap = s->cap_notes ? s->cap_notes * 2 : 4;
        const char **grown = realloc(s->notes, cap * sizeof *grown);
        s->failed |= !grown;
        if (!grown) return;
        s->notes = grown;
        s->cap_notes = cap;
    }
    s->notes[s->n_notes++] = answer_keep(a, text, strlen(text));
}

void answer_top(answer_section *s, size_t most)
{
    const size_t rows = answer_rows(s);
    if (!most || rows <= most) return;
    s->more += rows - most;
    s->n = most * s->n_columns;
}

const char *answer_unit_name(const answer *a, answer_unit unit)
{
    static const char *const names[ANSWER_UNITS] = {
        [ANSWER_TEXT] = "",           [ANSWER_COUNT] = "",
        [ANSWER_TIME] = "ns",         [ANSWER_CYCLES] = "cycles",
        [ANSWER_PERCENT] = "percent", [ANSWER_RATIO] = "ratio",
        [ANSWER_BYTES] = "bytes",     [ANSWER_BYTES_PER_S] = "bytes/s",
        [ANSWER_FLOPS] = "flops",     [ANSWER_FLOPS_PER_S] = "flops/s",
        [ANSWER_MHZ] = "MHz"};
    if (unit == ANSWER_TIME && a->cycles) return "cycles";
    return names[unit];
}
