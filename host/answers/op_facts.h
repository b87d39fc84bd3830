/* What formulas may ask of an op and of a run, by name (docs/advice.md lists the names). Reads the shapes, types and
 * places of an op's tensors, and numbers inside its attributes. Not for what follows from them (flops.h, rules.h). */
#ifndef DEVLOG_ANSWERS_OP_FACTS_H
#define DEVLOG_ANSWERS_OP_FACTS_H

#include "answers/answer_run.h"
#include "answers/formula.h"
#include "answers/run_facts.h"

enum { OP_MOST_INPUTS = 8, OP_MOST_OUTPUTS = 4 };

typedef struct op_tensor {
    double w, z, y, x;                  /* as stored, in elements; NAN unknown */
    const char *type, *layout, *memory; /* "" unknown; into op_tensors.room */
    double type_bytes;                  /* of an element; NAN unknown */
} op_tensor;

typedef struct op_tensors {
    uint32_t n_inputs, n_outputs;
    op_tensor inputs[OP_MOST_INPUTS], outputs[OP_MOST_OUTPUTS];
    bool more;       /* there are more than have room: no sum over them is known */
    char room[2048]; /* of texts */
    size_t used;
} op_tensors;

/* Bytes of an element of this type; NAN: not known. */
typedef double op_type_bytes(const void *ctx, const char *type);
void op_tensors_read(op_tensors *t, const answer_run *r, const op_wide *w, op_type_bytes *bytes,
                     const void *ctx);
/* Bytes of all tensors whose place has this word in it ("DRAM", "L1"); NAN when a size of one of them is unknown, or there
 * are no tensors. */
double op_tensors_bytes(const op_tensors *t, const char *memory);

/* Names that were used, by number: those of attributes are the formulas' own. */
typedef struct op_names {
    char **attributes;
    size_t n;
    bool of_run; /* only facts of the run are known */
} op_names;
void op_names_free(op_names *n);
/* formula_find, with an op_names. */
bool op_names_find(void *names, const char *name, size_t n, uint32_t *id);

/* What kinds of work codes are, by their numbers: the name is looked through once for many ops. */
typedef struct op_categories {
    struct {
        uint32_t code;
        const char *category; /* NULL: none yet */
    } of[64];
} op_categories;

/* What formula_look is handed. `op` NULL: facts of the run only. */
typedef struct op_facts {
    const answer_run *run;
    const answer_op *op;
    op_tensors *tensors;       /* room for those of the op, which are read when a formula asks for them ... */
    bool tensors_read;         /* ... and then are there */
    op_type_bytes *type_bytes; /* NULL: sizes are not known */
    const void *type_ctx;
    const op_names *names;
    const struct run_facts *of_run; /* NULL: unknown */
    op_categories categories;
} op_facts;
formula_value op_facts_look(void *facts, uint32_t id);
/* Whether no op of the run has this fact, so that formulas need not be asked about each (formula_may_hold). */
bool op_facts_lack(void *facts, uint32_t id);

#endif
