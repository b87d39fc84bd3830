/* Formulas: a parser that makes steps for a stack, and the stack. See the header. */
#include "answers/formula.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 384, MOST_DEPTH = 32 };

typedef enum step_kind {
    STEP_NUMBER,
    STEP_TEXT,
    STEP_NAME,
    STEP_NEGATE,
    STEP_NOT,
    STEP_KNOWN,
    STEP_UNLESS_FALSE, /* what is left of `and` decides it: goes on behind it, at step `id` */
    STEP_UNLESS_TRUE,  /* the same of `or` */
    /* of two values: */
    STEP_ADD,
    STEP_SUBTRACT,
    STEP_MULTIPLY,
    STEP_DIVIDE,
    STEP_MAX,
    STEP_MIN,
    STEP_LESS,
    STEP_LESS_EQUAL,
    STEP_MORE,
    STEP_MORE_EQUAL,
    STEP_EQUAL,
    STEP_UNEQUAL,
    STEP_HAS,
    STEP_AND,
    STEP_OR,
} step_kind;

typedef struct step {
    step_kind kind;
    bool by_number; /* a comparison whose right side is `number`: most are, and the stack does without it */
    uint32_t id;
    double number;
    char *text;
} step;

struct formula {
    step *steps;
    size_t n;
};

formula_value formula_number(double value)
{
    return isfinite(value) ? (formula_value){.kind = FORMULA_NUMBER, .number = value} : (formula_value){0};
}

formula_value formula_text(const char *text)
{
    return text && *text ? (formula_value){.kind = FORMULA_TEXT, .text = text} : (formula_value){0};
}

void formula_free(formula *f)
{
    if (!f) return;
    for (size_t i = 0; i < f->n; i++)
        free(f->steps[i].text);
    free(f->steps);
    free(f);
}

/* ---- Parsing ----------------------------------------------------------------------------------------- */

typedef struct parser {
    const char *text, *at;
    formula *f;
    formula_find *find;
    void *ctx;
    devlog_error *err;
    devlog_status status;
    int depth; /* of parentheses */
    int on_stack;
} parser;

static void fail(parser *p, const char *what)
{
    if (p->status) return;
    p->status = dl_fail(p->err, DEVLOG_ERR_FORMAT, "character %zu: %s, in: %.200s",
                        (size_t)(p->at - p->text) + 1, what, p->text);
}

static void add(parser *p, step s)
{
    if (p->status) {
        free(s.text);
        return;
    }
    if (p->f->n == MOST_STEPS) {
        free(s.text);
        fail(p, "the formula is too long");
        return;
    }
    p->f->steps[p->f->n++] = s;
    p->on_stack += s.kind <= STEP_NAME ? 1 : s.kind >= STEP_ADD ? -1 : 0;
    if (p->on_stack > MOST_DEPTH) fail(p, "the formula is nested too deep");
}

static void blanks(parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n')
        p->at++;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Takes a sign or a word, if it comes next. */
static bool take(parser *p, const char *what)
{
    const size_t n = strlen(what);
    blanks(p);
    if (strncmp(p->at, what, n) != 0) return false;
    if (is_name(what[0]) && is_name(p->at[n])) return false;
    p->at += n;
    return true;
}

static void parse_or(parser *p);

static void parse_text(parser *p)
{
    const char *end = strchr(++p->at, '\'');
    if (!end) {
        fail(p, "a text has no ' at its end");
        return;
    }
    char *text = strndup(p->at, (size_t)(end - p->at));
    if (!text) fail(p, "no memory");
    p->at = end + 1;
    add(p, (step){.kind = STEP_TEXT, .text = text});
}

/* The arguments of a function, `n` of them, behind its "(". */
static void parse_call(parser *p, int n, step_kind kind)
{
    if (++p->depth > MOST_DEPTH) fail(p, "the formula is nested too deep");
    for (int i = 0; i < n && !p->status; i++) {
        if (i && !take(p, ",")) fail(p, "a ',' is missing");
        parse_or(p);
    }
    if (!p->status && !take(p, ")")) fail(p, "a ')' is missing");
    p->depth--;
    add(p, (step){.kind = kind});
}

static void parse_name(parser *p)
{
    static const struct {
        const char *name;
        int arguments;
        step_kind kind;
    } functions[] = {{"max", 2, STEP_MAX}, {"min", 2, STEP_MIN}, {"known", 1, STEP_KNOWN}};
    const char *name = p->at;
    while (is_name(*p->at))
        p->at++;
    const size_t n = (size_t)(p->at - name);
    blanks(p);
    if (*p->at == '(') {
        for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
            if (strlen(functions[i].name) != n || memcmp(functions[i].name, name, n) != 0) continue;
            p->at++;
            parse_call(p, functions[i].arguments, functions[i].kind);
            return;
        }
        p->at = name;
        fail(p, "there is no such function; there are max, min and known");
        return;
    }
    uint32_t id = 0;
    if (!p->find(p->ctx, name, n, &id)) {
        p->at = name;
        fail(p, "there is no fact of this name (docs/advice.md lists them)");
    }
    add(p, (step){.kind = STEP_NAME, .id = id});
}

static void parse_factor(parser *p)
{
    blanks(p);
    if (p->status) return;
    const char c = *p->at;
    if (isdigit((unsigned char)c)) {
        char *end;
        const double number = strtod(p->at, &end);
        p->at = end;
        if (!isfinite(number)) fail(p, "the number is too large");
        add(p, (step){.kind = STEP_NUMBER, .number = number});
    } else if (c == '\'') {
        parse_text(p);
    } else if (c == '(') {
        p->at++;
        if (++p->depth > MOST_DEPTH) fail(p, "the formula is nested too deep");
        parse_or(p);
        if (!p->status && !take(p, ")")) fail(p, "a ')' is missing");
        p->depth--;
    } else if (c == '-') {
        p->at++;
        if (++p->depth > MOST_DEPTH) fail(p, "the formula is nested too deep");
        parse_factor(p);
        p->depth--;
        add(p, (step){.kind = STEP_NEGATE});
    } else if (isalpha((unsigned char)c) || c == '_') {
        parse_name(p);
    } else {
        fail(p, c ? "a number, a name or a 'text' is expected" : "the formula ends too early");
    }
}

static void parse_term(parser *p)
{
    parse_factor(p);
    while (!p->status) {
        const step_kind kind = take(p, "*") ? STEP_MULTIPLY : take(p, "/") ? STEP_DIVIDE : STEP_NAME;
        if (kind == STEP_NAME) return;
        parse_factor(p);
        add(p, (step){.kind = kind});
    }
}

static void parse_sum(parser *p)
{
    parse_term(p);
    while (!p->status) {
        const step_kind kind = take(p, "+") ? STEP_ADD : take(p, "-") ? STEP_SUBTRACT : STEP_NAME;
        if (kind == STEP_NAME) return;
        parse_term(p);
        add(p, (step){.kind = kind});
    }
}

static void parse_comparison(parser *p)
{
    static const struct {
        const char *sign;
        step_kind kind;
    } signs[] = {{"<=", STEP_LESS_EQUAL}, {">=", STEP_MORE_EQUAL}, {"==", STEP_EQUAL}, {"!=", STEP_UNEQUAL},
                 {"<", STEP_LESS},        {">", STEP_MORE},        {"has", STEP_HAS}};
    parse_sum(p);
    for (size_t i = 0; i < sizeof signs / sizeof signs[0] && !p->status; i++) {
        if (!take(p, signs[i].sign)) continue;
        const size_t at = p->f->n;
        parse_sum(p);
        const bool by_number = !p->status && signs[i].kind != STEP_HAS && p->f->n == at + 1 &&
                               p->f->steps[at].kind == STEP_NUMBER;
        const double number = by_number ? p->f->steps[at].number : 0;
        if (by_number) p->f->n--;
        add(p, (step){.kind = signs[i].kind, .by_number = by_number, .number = number});
        return;
    }
}

static void parse_not(parser *p)
{
    if (!take(p, "not")) {
        parse_comparison(p);
        return;
    }
    if (++p->depth > MOST_DEPTH) fail(p, "the formula is nested too deep");
    if (!p->status) parse_not(p);
    p->depth--;
    add(p, (step){.kind = STEP_NOT});
}

/* The right side of `and` or `or`, which is not evaluated where the left one decides. */
static void parse_right(parser *p, step_kind unless, step_kind kind, void parse(parser *p))
{
    const size_t at = p->f->n;
    add(p, (step){.kind = unless});
    parse(p);
    add(p, (step){.kind = kind});
    if (!p->status) p->f->steps[at].id = (uint32_t)p->f->n;
}

static void parse_and(parser *p)
{
    parse_not(p);
    while (!p->status && take(p, "and"))
        parse_right(p, STEP_UNLESS_FALSE, STEP_AND, parse_not);
}

static void parse_or(parser *p)
{
    parse_and(p);
    while (!p->status && take(p, "or"))
        parse_right(p, STEP_UNLESS_TRUE, STEP_OR, parse_and);
}

devlog_status formula_parse(formula **out, const char *text, formula_find *find, void *ctx, devlog_error *err)
{
    *out = NULL;
    formula *f = calloc(1, sizeof *f);
    if (f) f->steps = calloc(MOST_STEPS, sizeof *f->steps);
    if (!f || !f->steps) {
        free(f);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for a formula");
    }
    parser p = {.text = text, .at = text, .f = f, .find = find, .ctx = ctx, .err = err};
    parse_or(&p);
    blanks(&p);
    if (!p.status && *p.at) fail(&p, "nothing more is expected here");
    if (p.status) {
        formula_free(f);
        return p.status;
    }
    step *fitting = realloc(f->steps, f->n * sizeof *fitting);
    if (fitting) f->steps = fitting;
    *out = f;
    return DEVLOG_OK;
}

/* ---- Evaluating -------------------------------------------------------------------------------------- */

static formula_value yes(bool is)
{
    return (formula_value){.kind = FORMULA_NUMBER, .number = is};
}

static bool is_so(step_kind kind, double a, double b)
{
    switch (kind) {
    case STEP_LESS: return a < b;
    case STEP_LESS_EQUAL: return a <= b;
    case STEP_MORE: return a > b;
    case STEP_MORE_EQUAL: return a >= b;
    case STEP_EQUAL: return a == b;
    default: return a != b;
    }
}

static formula_value compare(step_kind kind, formula_value a, formula_value b)
{
    if (a.kind == FORMULA_UNKNOWN || b.kind != a.kind) return (formula_value){0};
    if (kind == STEP_HAS)
        /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): a value of this kind has a text */
        return a.kind == FORMULA_TEXT ? yes(strstr(a.text, b.text) != NULL) : (formula_value){0};
    if (a.kind != FORMULA_TEXT) return yes(is_so(kind, a.number, b.number));
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): a value of this kind has a text */
    const int order = strcmp(a.text, b.text);
    return yes(is_so(kind, order, 0));
}

static formula_value join(step_kind kind, formula_value a, formula_value b)
{
    const bool decides = kind == STEP_OR;
    if (a.kind == FORMULA_NUMBER && (a.number != 0) == decides) return yes(decides);
    if (b.kind == FORMULA_NUMBER && (b.number != 0) == decides) return yes(decides);
    return a.kind == FORMULA_NUMBER && b.kind == FORMULA_NUMBER ? yes(!decides) : (formula_value){0};
}

static formula_value of_two(step_kind kind, formula_value a, formula_value b)
{
    if (kind == STEP_AND || kind == STEP_OR) return join(kind, a, b);
    if (kind >= STEP_LESS) return compare(kind, a, b);
    if (a.kind != FORMULA_NUMBER || b.kind != FORMULA_NUMBER) return (formula_value){0};
    switch (kind) {
    case STEP_ADD: return formula_number(a.number + b.number);
    case STEP_SUBTRACT: return formula_number(a.number - b.number);
    case STEP_MULTIPLY: return formula_number(a.number * b.number);
    case STEP_DIVIDE: return b.number != 0 ? formula_number(a.number / b.number) : (formula_value){0};
    case STEP_MAX: return formula_number(fmax(a.number, b.number));
    default: return formula_number(fmin(a.number, b.number));
    }
}

formula_value formula_eval(const formula *f, formula_look *look, void *ctx)
{
    formula_value stack[MOST_DEPTH + 3], *top = stack; /* the first place is of none */
    const step *const end = f->steps + f->n;
    for (const step *s = f->steps; s < end; s++) {
        if (s->by_number) {
            /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): a formula that was read takes no more than it has put there */
            if (top->kind == FORMULA_NUMBER)
                top->number = is_so(s->kind, top->number, s->number);
            else
                top->kind = FORMULA_UNKNOWN;
            continue;
        }
        switch (s->kind) {
        case STEP_NUMBER: *++top = formula_number(s->number); break;
        case STEP_TEXT: *++top = (formula_value){.kind = FORMULA_TEXT, .text = s->text}; break;
        case STEP_NAME: *++top = look(ctx, s->id); break;
        case STEP_NEGATE:
            /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): the same */
            *top = top->kind == FORMULA_NUMBER ? formula_number(-top->number) : (formula_value){0};
            break;
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): the same */
        case STEP_NOT: *top = top->kind == FORMULA_NUMBER ? yes(top->number == 0) : (formula_value){0}; break;
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): the same */
        case STEP_KNOWN: *top = yes(top->kind != FORMULA_UNKNOWN); break;
        case STEP_UNLESS_FALSE:
        case STEP_UNLESS_TRUE:
            /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): the same */
            if (top->kind != FORMULA_NUMBER || (top->number != 0) != (s->kind == STEP_UNLESS_TRUE)) break;
            top->number = s->kind == STEP_UNLESS_TRUE;
            s = f->steps + s->id - 1;
            break;
        default: top--; *top = of_two(s->kind, top[0], top[1]);
        }
    }
    return stack[1];
}

/* What is known of a value before the values of names are. */
typedef enum prospect {
    MAY_BE_ANYTHING,
    IS_UNKNOWN,
    IS_NEVER_TRUE, /* unknown or false */
} prospect;

static prospect joined(step_kind kind, prospect a, prospect b)
{
    if (kind == STEP_AND)
        return a == MAY_BE_ANYTHING && b == MAY_BE_ANYTHING ? MAY_BE_ANYTHING : IS_NEVER_TRUE;
    if (kind == STEP_OR)
        return a == MAY_BE_ANYTHING || b == MAY_BE_ANYTHING ? MAY_BE_ANYTHING : IS_NEVER_TRUE;
    return a == IS_UNKNOWN || b == IS_UNKNOWN ? IS_UNKNOWN : MAY_BE_ANYTHING;
}

bool formula_may_hold(const formula *f, bool lacks(void *ctx, uint32_t id), void *ctx)
{
    prospect stack[MOST_DEPTH + 2];
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++) {
        const step *s = &f->steps[i];
        switch (s->kind) {
        case STEP_UNLESS_FALSE:
        case STEP_UNLESS_TRUE: break;
        case STEP_NUMBER:
        case STEP_TEXT: stack[n++] = MAY_BE_ANYTHING; break;
        case STEP_NAME: stack[n++] = lacks(ctx, s->id) ? IS_UNKNOWN : MAY_BE_ANYTHING; break;
        case STEP_NEGATE:
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): a formula that was read takes no more than it has put there */
        case STEP_NOT: stack[n - 1] = stack[n - 1] == IS_UNKNOWN ? IS_UNKNOWN : MAY_BE_ANYTHING; break;
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): the same */
        case STEP_KNOWN: stack[n - 1] = stack[n - 1] == IS_UNKNOWN ? IS_NEVER_TRUE : MAY_BE_ANYTHING; break;
        default:
            if (s->by_number) {
                /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): the same */
                stack[n - 1] = stack[n - 1] == IS_UNKNOWN ? IS_UNKNOWN : MAY_BE_ANYTHING;
            } else {
                n--;
                /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): the same */
                stack[n - 1] = joined(s->kind, stack[n - 1], stack[n]);
            }
        }
    }
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): the same */
    return stack[0] == MAY_BE_ANYTHING;
}
