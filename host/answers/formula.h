/* Formulas of the tables that users edit (tables/ops.json, rules.json, thresholds.json): arithmetic, comparisons and texts
 * over named facts.
 *
 *     2 * out0.y * out0.x * in0.x
 *     gap > 6500 and category != 'host'
 *     in0.memory has 'DRAM' or not known(attr.in0_block_w)
 *
 * or, and, not; < <= > >= == != has; + - * /; numbers, 'texts', names; max(a, b), min(a, b), known(a). A name that has no
 * value makes what it is in unknown, but for known(), `false and`, `true or`. A number divided by 0 is unknown. A formula is
 * parsed once and evaluated often. What names there are is the caller's. */
#ifndef DEVLOG_ANSWERS_FORMULA_H
#define DEVLOG_ANSWERS_FORMULA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef enum formula_kind { FORMULA_UNKNOWN, FORMULA_NUMBER, FORMULA_TEXT } formula_kind;

typedef struct formula_value {
    formula_kind kind;
    double number; /* of a comparison: 0 or 1 */
    const char *text;
} formula_value;

typedef struct formula formula;

/* The number by which a name will be asked for; false: there is no such name. */
typedef bool formula_find(void *ctx, const char *name, size_t n, uint32_t *id);
/* The value of a name. Texts live until the formula has been evaluated. */
typedef formula_value formula_look(void *ctx, uint32_t id);

/* FORMAT: what is wrong, and at which character, from 1. Free with formula_free. */
devlog_status formula_parse(formula **out, const char *text, formula_find *find, void *ctx,
                            devlog_error *err);
formula_value formula_eval(const formula *f, formula_look *look, void *ctx);
/* False: whatever else is the case, it is never true when the names of which `lacks` says so have no value. */
bool formula_may_hold(const formula *f, bool lacks(void *ctx, uint32_t id), void *ctx);
void formula_free(formula *f);

/* A number that is not finite is unknown. */
formula_value formula_number(double value);
/* NULL and "" are unknown. */
formula_value formula_text(const char *text);
/* Whether it is a number other than 0. */
static inline bool formula_true(formula_value v)
{
    return v.kind == FORMULA_NUMBER && v.number != 0;
}

#endif
