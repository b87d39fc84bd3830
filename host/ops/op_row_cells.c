/* All cells of a row, quickly: runs of empty columns at once, the columns about programs copied from the last
 * row of the same program, those of the API together. Byte for byte what op_cell writes column by column. Not
 * for what the cells say (op_cells.c). */
#include <stdlib.h>
#include <string.h>

#include "ops/op_cells.h"

enum { PROGRAMS = 64 };

/* The cells about programs, of ops with one launch or none. */
struct op_program_cache {
    struct program_cells {
        dl_str cells;
        uint32_t program;
        bool made, launched, cached;
    } entries[PROGRAMS];
};

static bool about_programs(uint8_t kind)
{
    return kind >= OP_COL_COMPUTE_SOURCE && kind <= OP_COL_KERNEL_BYTES;
}

static uint8_t step_kind(const op_column *c)
{
    if (c->kind == OP_COL_EMPTY) return OP_STEP_EMPTY;
    if (c->kind >= OP_COL_FW_START && c->kind <= OP_COL_CB_RESERVE_NS) return OP_STEP_DEVICE;
    if (c->kind >= OP_COL_API_COUNT && c->kind <= OP_COL_API_BYTES) return OP_STEP_API;
    return about_programs(c->kind) ? OP_STEP_PROGRAMS : OP_STEP_CELL;
}

bool op_row_plan(op_writer *w)
{
    w->steps = calloc(w->n_columns + 1, sizeof *w->steps);
    w->program_cells = calloc(1, sizeof *w->program_cells);
    if (!w->steps || !w->program_cells) return false;
    for (uint32_t i = 0; i < w->n_columns; i++) {
        uint8_t kind = step_kind(&w->columns[i]);
        op_step *last = w->n_steps ? &w->steps[w->n_steps - 1] : NULL;
        if (last && last->kind == kind && kind != OP_STEP_CELL)
            last->n++;
        else
            w->steps[w->n_steps++] = (op_step){kind, i, 1};
    }
    return true;
}

void op_row_plan_free(op_writer *w)
{
    for (int i = 0; w->program_cells && i < PROGRAMS; i++)
        dl_str_free(&w->program_cells->entries[i].cells);
    free(w->program_cells);
    free(w->steps);
    w->program_cells = NULL;
    w->steps = NULL;
}

static void columns(op_writer *w, const op_row_facts *f, const op_step *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        op_cell(w, f, &w->columns[s->first + i]);
}

static void empties(op_writer *w, uint32_t n)
{
    static const char commas[] = ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,";
    if (w->cell && n < sizeof commas) {
        dl_str_add_n(w->out, commas, n);
        w->cell += n;
        return;
    }
    while (n--)
        op_cell_empty(w);
}

static void programs(op_writer *w, const op_row_facts *f, const op_step *s)
{
    const op_launch *l = f->first;
    if (!w->cell || (l && l->next)) {
        columns(w, f, s);
        return;
    }
    const bool cached = l && l->cached;
    struct program_cells *c = &w->program_cells->entries[l ? (l->program * 2 + cached) % PROGRAMS : 0];
    if (!c->made || c->launched != (l != NULL) || (l && (c->program != l->program || c->cached != cached))) {
        op_writer aside = *w;
        aside.out = &c->cells;
        dl_str_clear(&c->cells);
        columns(&aside, f, s);
        w->no_memory |= aside.no_memory || c->cells.failed;
        c->made = true;
        c->launched = l != NULL;
        c->program = l ? l->program : 0;
        c->cached = cached;
    }
    dl_str_add_n(w->out, c->cells.text, c->cells.len);
    w->cell += s->n;
}

static void api(op_writer *w, const op_row_facts *f, const op_step *s)
{
    uint64_t calls = 0;
    for (int i = 0; i < DEVLOG_API_COUNT && f->op; i++)
        calls |= w->text.api[i].calls;
    if (!calls) {
        empties(w, s->n);
        return;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        const op_column *c = &w->columns[s->first + i];
        if (w->text.api[c->argument].calls)
            op_cell(w, f, c);
        else
            op_cell_empty(w);
    }
}

void op_row_cells(op_writer *w, const op_row_facts *f)
{
    if (!w->steps) {
        columns(w, f, &(op_step){.n = (uint32_t)w->n_columns});
        return;
    }
    for (size_t i = 0; i < w->n_steps; i++) {
        const op_step *s = &w->steps[i];
        switch (s->kind) {
        case OP_STEP_CELL: op_cell(w, f, &w->columns[s->first]); break;
        case OP_STEP_EMPTY: empties(w, s->n); break;
        case OP_STEP_DEVICE: op_device_cells(w, f, &w->columns[s->first], s->n); break;
        case OP_STEP_PROGRAMS: programs(w, f, s); break;
        case OP_STEP_API: api(w, f, s); break;
        }
    }
}
