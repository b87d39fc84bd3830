/* What packing and unpacking a block know in common. See model.h. */
#include "pack/model.h"

#include <stdlib.h>

pk_model *pk_model_new(void)
{
    pk_model *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->places = malloc((PK_MAX_PLACES + 1) * sizeof *m->places);
    m->templates = malloc((PK_MAX_TEMPLATES + 1) * sizeof *m->templates);
    m->dictionary = malloc(PK_MAX_DICTIONARY + PK_PADDING);
    if (m->places && m->templates && m->dictionary) return m;
    pk_model_free(m);
    return NULL;
}

void pk_model_free(pk_model *m)
{
    if (!m) return;
    free(m->places);
    free(m->templates);
    free(m->streams);
    free(m->dictionary);
    free(m);
}

void pk_model_begin(pk_model *m)
{
    m->n_places = m->n_templates = m->n_dictionary = m->n_riscs = 0;
    m->place = m->template = m->stream = 0;
    m->n_streams = 0;
    /* What is foretold before the first row: nothing that there is. */
    memset(&m->places[0], 0, sizeof m->places[0]);
    memset(&m->templates[0], 0, sizeof m->templates[0]);
}

bool pk_model_add_place(pk_model *m, const char *text, size_t n)
{
    if (n == 0 || n > PK_MAX_PLACE || m->n_places == PK_MAX_PLACES) return false;
    pk_place *p = &m->places[m->n_places];
    memset(p, 0, sizeof *p);
    memcpy(p->text, text, n);
    p->len = (uint32_t)n;
    p->next = (uint16_t)m->n_places++;
    return true;
}

/* The number of the name that a template begins with. */
static uint8_t risc_of(pk_model *m, uint32_t number)
{
    const char *text = m->templates[number].text;
    for (uint32_t i = 0; i < m->n_riscs; i++) {
        const char *known = m->templates[m->riscs[i]].text;
        uint32_t k = 0;
        while (text[k] == known[k] && text[k] != ',' && text[k] != '\n')
            k++;
        if (text[k] == known[k]) return (uint8_t)i;
    }
    if (m->n_riscs < PK_RISCS) m->riscs[m->n_riscs++] = number;
    return (uint8_t)(m->n_riscs - 1);
}

bool pk_model_add_template(pk_model *m, const char *text, size_t n)
{
    if (n < 2 || n > PK_MAX_TEMPLATE || text[n - 1] != '\n' || m->n_templates == PK_MAX_TEMPLATES ||
        n > PK_MAX_DICTIONARY - m->n_dictionary)
        return false;
    pk_template *t = &m->templates[m->n_templates];
    memset(t, 0, sizeof *t);
    t->text = m->dictionary + m->n_dictionary;
    t->size = (uint32_t)n;
    uint32_t from = 0, commas = 0, first = 0;
    for (uint32_t i = 0; i < n; i++) {
        commas += text[i] == ',';
        if (text[i]) {
            const uint32_t cell = commas - first - 1;
            t->odd_trace |= t->n && text[i] != ',' && (cell == PK_TRACE_CELL || cell == PK_COUNT_CELL);
            continue;
        }
        if (t->n == PK_NUMBERS) return false;
        if (t->n == 0) first = commas;
        const uint32_t cell = commas - first - 1; /* of the stamp: UINT32_MAX */
        t->cells[t->n] = cell < PK_CELLS ? (uint8_t)cell : PK_CELLS;
        t->has_id |= cell == PK_ID_CELL;
        t->traced |= cell == PK_TRACE_CELL;
        t->counted |= cell == PK_COUNT_CELL;
        t->lengths[t->n++] = (uint16_t)(i - from);
        from = i + 1;
    }
    t->lengths[t->n] = (uint16_t)(n - from);
    if (t->n == 0) return false;
    memcpy(m->dictionary + m->n_dictionary, text, n);
    m->n_dictionary += (uint32_t)n;
    t->first = t->second = (uint16_t)m->n_templates;
    t->risc = risc_of(m, m->n_templates++);
    return true;
}

bool pk_model_stream(pk_model *m, uint32_t place, uint32_t risc, uint32_t *stream)
{
    uint16_t *known = &m->places[place].streams[risc];
    if (*known) {
        *stream = *known - 1u;
        return true;
    }
    if (m->n_streams == UINT16_MAX) {
        *stream = 0; /* as many as can be numbered: the others are one */
        return true;
    }
    if (m->n_streams == m->cap_streams) {
        uint32_t cap = m->cap_streams ? 2 * m->cap_streams : 512;
        pk_stream *more = realloc(m->streams, cap * sizeof *more);
        if (!more) return false;
        m->streams = more;
        m->cap_streams = cap;
    }
    pk_stream *s = &m->streams[m->n_streams];
    if (m->n_streams) {
        *s = m->streams[m->stream]; /* RISCs do about the same at about the same time */
    } else {
        memset(s, 0, sizeof *s);
        for (int i = 0; i < PK_CELLS; i++)
            s->cells[i] = UINT64_MAX; /* no number that a row has had */
    }
    *stream = m->n_streams++;
    *known = (uint16_t)m->n_streams;
    return true;
}
