/* What packing and unpacking a block of a device log know in common: which places and lines there are, and
 * what the next line should be after those before it. Both sides keep the same state, so that what comes as
 * foretold needs no bytes. Knows nothing of files, sections and compression.
 *
 * A line is a place, "0,1,1,": everything up to its third comma; and a template: the rest of it, with its
 * numbers taken out: its stamp, the cells behind that as long as they are numbers or empty, and the numbers in
 * meta data. Both are learned when they are first met, in a block of their own. */
#ifndef DEVLOG_PACK_MODEL_H
#define DEVLOG_PACK_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pack/ids.h"

enum {
    PK_MAX_PLACES = 4096,
    PK_MAX_TEMPLATES = 4096,
    PK_MAX_PLACE = 64,             /* bytes */
    PK_MAX_TEMPLATE = 1024,        /* bytes of its texts, with one for each number */
    PK_MAX_DICTIONARY = 512 << 10, /* bytes of all templates of a block */
    PK_NUMBERS = 17,               /* of a template at most; the first is the stamp */
    PK_CELLS = 5,                  /* cells behind the stamp whose numbers are foretold by RISC */
    PK_RISCS = 16,
    PK_SLOTS = 8192,
    PK_LONGEST_ROW = PK_MAX_PLACE + PK_MAX_TEMPLATE + 20 * PK_NUMBERS,
    PK_PADDING = 64, /* readable bytes behind a text, for loads of words */
};

/* The code of a row: which template, whether its place is another than foretold, whether any number but the
 * stamp is. */
enum {
    PK_FIRST,  /* the template that followed the one before it last time */
    PK_SECOND, /* the one before that */
    PK_OTHER,  /* its number is told */
    PK_RAW,    /* no template: a line as it is, up to and with its line feed or the end of the block */
    PK_TEMPLATE = 3,
    PK_PLACE = 4,
    PK_WRONG = 8,
    PK_CODE_END = 16,
};

typedef struct pk_place {
    char text[PK_MAX_PLACE];
    uint64_t hash;
    uint32_t len;
    uint16_t next; /* the place that followed it last time */
    uint16_t padding;
    uint16_t streams[PK_RISCS]; /* number of a stream + 1; 0: none yet */
} pk_place;

typedef struct pk_template {
    const char *text; /* its texts, one behind the other; between them stands one byte for each number */
    uint32_t size;
    uint16_t lengths[PK_NUMBERS + 1]; /* of its texts, n + 1 of them */
    uint8_t cells[PK_NUMBERS];        /* number of its cell behind the stamp's, or PK_CELLS */
    uint8_t n, risc;
    bool traced, counted;   /* it has a number in PK_TRACE_CELL, in the cell behind it */
    bool has_id, odd_trace; /* one in PK_ID_CELL; these two are neither numbers nor empty */
    bool moves;             /* the place changed behind it last time */
    bool still;             /* unpacking: its numbers are those that its RISC has had */
    bool older;             /* its stamp was nearer to the last but one of its RISC than to the last */
    uint16_t first, second;
    uint16_t same_slot;               /* number + 1 of the next one that begins so */
    uint64_t differences[PK_NUMBERS]; /* in a cell: to the row before on its RISC; otherwise the number */
} pk_template;

/* A RISC of a core: what its last row had. */
typedef struct pk_stream {
    uint64_t last, before; /* stamps */
    uint64_t cells[PK_CELLS];
} pk_stream;

typedef struct pk_model {
    pk_place *places;
    pk_template *templates;
    pk_stream *streams;
    char *dictionary;
    uint32_t n_places, n_templates, n_streams, n_dictionary, n_riscs;
    uint32_t cap_streams;
    uint32_t riscs[PK_RISCS]; /* the template that has each name first */
    /* Of the row before. */
    uint32_t place, template, stream;
} pk_model;

pk_model *pk_model_new(void);
void pk_model_free(pk_model *m);
/* Forgets everything, for the next block. */
void pk_model_begin(pk_model *m);

/* Adds a place, without '\n' or NUL in it; false: it cannot be one, or there are too many. */
bool pk_model_add_place(pk_model *m, const char *text, size_t n);
/* Adds a template: its texts with a NUL for each number, the last with the line feed. False as before. */
bool pk_model_add_template(pk_model *m, const char *text, size_t n);
/* The stream of a RISC on a place, a new one if need be; false: no memory. */
bool pk_model_stream(pk_model *m, uint32_t place, uint32_t risc, uint32_t *stream);

/* The place that the next row should have. */
static inline uint32_t pk_model_place(const pk_model *m)
{
    return m->templates[m->template].moves ? m->places[m->place].next : m->place;
}

/* The next row has this place and template; `choice` is how the template was told. */
static inline void pk_model_go(pk_model *m, uint32_t place, uint32_t template, uint32_t choice)
{
    pk_template *t = &m->templates[m->template];
    if (choice != PK_FIRST) {
        t->second = t->first;
        t->first = (uint16_t) template;
    }
    t->moves = place != m->place;
    if (t->moves) m->places[m->place].next = (uint16_t)place;
    m->place = place;
    m->template = template;
}

/* What a stamp is told as: how much more than the one before, or the one before that. */
static inline uint64_t pk_stamp_from(const pk_template *t, const pk_stream *s)
{
    return t->older ? s->before : s->last;
}

static inline void pk_stamp_is(pk_template *t, pk_stream *s, uint64_t stamp)
{
    const int64_t a = (int64_t)(stamp - s->last), b = (int64_t)(stamp - s->before);
    t->older = (b < 0 ? 0 - (uint64_t)b : (uint64_t)b) < (a < 0 ? 0 - (uint64_t)a : (uint64_t)a);
    s->before = s->last;
    s->last = stamp;
}

/* What number i of a template should be. */
static inline uint64_t pk_number_from(const pk_template *t, const pk_stream *s, uint32_t i)
{
    return t->cells[i] < PK_CELLS ? s->cells[t->cells[i]] + t->differences[i] : t->differences[i];
}

/* It was `foretold` and is `value`. */
static inline void pk_number_is(pk_template *t, pk_stream *s, uint32_t i, uint64_t value)
{
    if (t->cells[i] < PK_CELLS) {
        t->differences[i] = value - s->cells[t->cells[i]];
        s->cells[t->cells[i]] = value;
    } else {
        t->differences[i] = value;
    }
}

#endif
