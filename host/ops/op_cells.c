/* The cells of an op report's row, column by column. Not for rows (op_report.c) and tensors
 * (op_tensor_cells.c). */
#include "ops/op_cells.h"

#include <stddef.h>
#include <string.h>

#include "ops/op_table.h"

/* ---- Cells --- */

void op_cell_text(op_writer *w, const char *text, size_t n)
{
    op_cell_begin(w);
    if (w->o->json)
        dl_str_json(w->out, text, n);
    else
        dl_str_csv(w->out, text, n);
}

void op_cell_str(op_writer *w, const char *text)
{
    op_cell_text(w, text, strlen(text));
}

void op_cell_signed(op_writer *w, int64_t value)
{
    op_cell_begin(w);
    if (value < 0) dl_str_char(w->out, '-');
    dl_str_u64(w->out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void op_cell_missing(op_writer *w)
{
    if (w->o->columns == OP_COLUMNS_REFERENCE && !w->o->json)
        op_cell_str(w, "-");
    else
        op_cell_empty(w);
}

void op_cell_piece(op_writer *w, op_piece p)
{
    if (p.len)
        op_cell_text(w, op_piece_text(&w->text, p), p.len);
    else
        op_cell_empty(w);
}

static void cell_ns(op_writer *w, const op_row_facts *f, bool known, uint64_t cycles)
{
    if (known && f->freq_khz)
        op_cell_number(w, dl_cycles_to_ns(cycles, f->freq_khz));
    else
        op_cell_missing(w);
}

/* ---- What the device did --- */

static const op_cycles nothing = {.fw_start = OP_NEVER,
                                  .kernel_start = OP_NEVER,
                                  .dm_start = OP_NEVER,
                                  .core_min = OP_NEVER,
                                  .risc_start = {OP_NEVER, OP_NEVER, OP_NEVER, OP_NEVER, OP_NEVER, OP_NEVER}};

static inline op_device_value value_of(bool known, uint64_t cycles, const op_row_facts *f)
{
    if (!known || !f->freq_khz) return (op_device_value){0};
    return (op_device_value){true, false, dl_cycles_to_ns(cycles, f->freq_khz)};
}

/* Of it, `idle` is time in which nothing ran. */
static inline op_device_value span_of(uint64_t start, uint64_t end, uint64_t idle, const op_row_facts *f)
{
    return value_of(start != OP_NEVER && end >= start, end - start - idle, f);
}

static const op_merged one_launch;

static op_device_value latency_of(int64_t cycles, const op_row_facts *f)
{
    op_device_value v =
        value_of(f->row->has_latency, cycles < 0 ? 0 - (uint64_t)cycles : (uint64_t)cycles, f);
    v.negative = cycles < 0 && v.known;
    return v;
}

static inline op_device_value value_in(const op_row_facts *f, const op_column *c)
{
    const op_cycles *y = f->cycles ? f->cycles : &nothing;
    const op_merged *m = f->merged ? f->merged : &one_launch;
    bool fw = y->fw_start != OP_NEVER, per_core = y->core_n && !y->cores_twice;
    switch ((op_column_kind)c->kind) {
    case OP_COL_FW_START: return (op_device_value){fw, false, y->fw_start};
    case OP_COL_FW_END: return (op_device_value){fw, false, y->fw_end};
    case OP_COL_LATENCY: return latency_of(f->row->latency, f);
    case OP_COL_DM_LATENCY: return latency_of(f->row->dm_latency, f);
    case OP_COL_FW_NS: return span_of(y->fw_start, y->fw_end, m->fw_idle, f);
    case OP_COL_KERNEL_NS: return span_of(y->kernel_start, y->kernel_end, m->kernel_idle, f);
    case OP_COL_DM_KERNEL_NS: return span_of(y->dm_start, y->kernel_end, m->dm_idle, f);
    case OP_COL_CORE_MIN_NS: return value_of(per_core, y->core_min, f);
    case OP_COL_CORE_MAX_NS: return value_of(per_core, y->core_max, f);
    case OP_COL_CORE_AVG_NS:
        return value_of(per_core, per_core ? (y->core_sum + y->core_n / 2) / y->core_n : 0, f);
    case OP_COL_FIRST_TO_LAST_NS:
        if (f->merged) return value_of(y->kernel_start != OP_NEVER, m->first_to_last, f);
        return span_of(y->kernel_start, y->kernel_last_start, 0, f);
    case OP_COL_RISC_NS:
        return span_of(y->risc_start[c->argument], y->risc_end[c->argument], m->risc_idle[c->argument], f);
    case OP_COL_CB_WAIT_NS: return value_of(y->has_cb_wait, y->cb_wait, f);
    case OP_COL_CB_RESERVE_NS: return value_of(y->has_cb_reserve, y->cb_reserve, f);
    default: return (op_device_value){0};
    }
}

op_device_value op_device_value_of(const op_row_facts *f, const op_column *c)
{
    return value_in(f, c);
}

void op_device_cells(op_writer *w, const op_row_facts *f, const op_column *columns, uint32_t n)
{
    for (const op_column *c = columns; c < columns + n; c++) {
        op_device_value v = value_in(f, c);
        if (!v.known)
            op_cell_missing(w);
        else if (v.negative && v.value)
            op_cell_signed(w, -(int64_t)v.value);
        else
            op_cell_number(w, v.value);
    }
}

/* ---- Groups of cells --- */

/* The launches of an op in the op log, one after the other; begin with NULL. */
static const op_launch *next_launch(const op_writer *w, const op_row_facts *f, const op_launch *l)
{
    if (!l) return f->first;
    return l->next ? &w->s->device->launches[l->next - 1] : NULL;
}

typedef const dl_str *op_program_text_list(const op_program_text *p);

static const dl_str *compute_source(const op_program_text *p)
{
    return &p->compute_source;
}
static const dl_str *compute_hash(const op_program_text *p)
{
    return &p->compute_hash;
}
static const dl_str *dm_source(const op_program_text *p)
{
    return &p->dm_source;
}
static const dl_str *dm_hash(const op_program_text *p)
{
    return &p->dm_hash;
}

/* ['a.c'; 'b.c'] of all programs of an op. */
static void cell_kernels(op_writer *w, const op_row_facts *f, op_program_text_list *list)
{
    if (!f->first) {
        op_cell_empty(w);
        return;
    }
    const op_program_text *only = f->first->next ? NULL : op_programs_find(&w->programs, f->first->program);
    if (only && !list(only)->failed) {
        op_cell_text(w, list(only)->text, list(only)->len);
        return;
    }
    dl_str all = {0};
    dl_str_char(&all, '[');
    enum { MOST = 16 }; /* programs that are named; further ones are "..." */
    uint32_t seen[MOST], n = 0;
    for (const op_launch *l = next_launch(w, f, NULL); l; l = next_launch(w, f, l)) {
        uint32_t i = 0;
        while (i < n && seen[i] != l->program)
            i++;
        if (i < n) continue;
        if (n == MOST) {
            dl_str_add(&all, "; ...");
            break;
        }
        seen[n++] = l->program;
        const op_program_text *p = op_programs_find(&w->programs, l->program);
        if (!p || list(p)->failed || list(p)->len <= 2) continue;
        if (all.len > 1) dl_str_add(&all, "; ");
        dl_str_add_n(&all, list(p)->text + 1, list(p)->len - 2);
    }
    dl_str_char(&all, ']');
    if (!all.failed) op_cell_text(w, all.text, all.len);
    w->no_memory |= all.failed;
    dl_str_free(&all);
}

static void cell_program(op_writer *w, const op_row_facts *f, bool hash)
{
    const op_program_text *p = f->first ? op_programs_find(&w->programs, f->first->program) : NULL;
    bool cached = f->first != NULL;
    for (const op_launch *l = next_launch(w, f, NULL); l; l = next_launch(w, f, l))
        cached &= l->cached;
    if (!p)
        op_cell_empty(w);
    else if (hash)
        op_cell_str(w, p->hash);
    else
        op_cell_number(w, cached);
}

static void cell_kernel_bytes(op_writer *w, const op_row_facts *f, uint8_t risc)
{
    uint32_t most = 0;
    for (const op_launch *l = next_launch(w, f, NULL); l; l = next_launch(w, f, l)) {
        const op_program_text *p = op_programs_find(&w->programs, l->program);
        if (p && p->bytes[risc] > most) most = p->bytes[risc];
    }
    if (f->first)
        op_cell_number(w, most);
    else
        op_cell_empty(w);
}

static void cell_cores(op_writer *w, const op_row_facts *f)
{
    uint64_t cores = f->cycles       ? f->cycles->cores
                     : w->text.cores ? w->text.cores
                     : f->first      ? f->first->cores
                                     : 0;
    if (cores)
        op_cell_number(w, cores);
    else
        op_cell_missing(w);
}

static void cell_attributes(op_writer *w)
{
    const dl_str *a = &w->text.attributes;
    if (!a->len) {
        op_cell_empty(w);
        return;
    }
    if (a->text[0] != '\'') {
        op_cell_text(w, a->text, a->len);
        return;
    }
    dl_str all = {0};
    dl_str_char(&all, '{');
    dl_str_add_n(&all, a->text, a->len);
    dl_str_char(&all, '}');
    if (!all.failed) op_cell_text(w, all.text, all.len);
    w->no_memory |= all.failed;
    dl_str_free(&all);
}

static void cell_note(op_writer *w, const op_row_facts *f)
{
    if (!f->row->notes && (!f->op || f->op->flags == OP_ENDED)) {
        op_cell_empty(w);
        return;
    }
    static const struct {
        uint16_t bit;
        const char *text;
    } notes[] = {
        {OP_NOTE_NO_DEVICE, "no device data"},
        {OP_NOTE_PARTLY, "device data of some launches only"},
        {OP_NOTE_NO_OP, "a launch without an op"},
        {OP_NOTE_UNKNOWN_OP, "a launch of an op that is not in the op log"},
        {OP_NOTE_CORES_TWICE, "a core is twice in the device log"},
        {OP_NOTE_CORES_DIFFER, "device data of some cores only"},
        {OP_NOTE_BESIDE, "ran beside a launch that began earlier"},
        {OP_NOTE_INSTRUCTIONS, OP_SAYS_INSTRUCTIONS},
    };
    dl_str all = {0};
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++) {
        if (!(f->row->notes & notes[i].bit)) continue;
        if (all.len) dl_str_add(&all, "; ");
        dl_str_add(&all, notes[i].text);
    }
    uint8_t flags = f->op ? f->op->flags : OP_ENDED;
    if (!(flags & OP_ENDED)) dl_str_add(&all, all.len ? "; never ended" : "never ended");
    if (flags & OP_ELSEWHERE)
        dl_str_add(&all, all.len ? "; ended on another thread" : "ended on another thread");
    if (flags & OP_IS_DUPLICATE) dl_str_add(&all, all.len ? "; id used twice" : "id used twice");
    if (flags & OP_ENDS_EARLY)
        dl_str_add(&all, all.len ? "; ends before it begins" : "ends before it begins");
    if (all.len && !all.failed)
        op_cell_text(w, all.text, all.len);
    else
        op_cell_empty(w);
    w->no_memory |= all.failed;
    dl_str_free(&all);
}

bool op_has_duration(const op_entry *op)
{
    return op && (op->flags & (OP_ENDED | OP_ENDS_EARLY)) == OP_ENDED;
}

static void number_if(op_writer *w, bool known, uint64_t value)
{
    if (known)
        op_cell_number(w, value);
    else
        op_cell_empty(w);
}

static void api_average(op_writer *w, const op_row_facts *f, uint8_t api)
{
    const devlog_api_stats *s = &w->text.api[api];
    number_if(w, f->op && s->calls, s->calls ? (s->total_ns + s->calls / 2) / s->calls : 0);
}

/* What the start of the op says. */
static void start_cell(op_writer *w, op_piece piece, size_t in_cells)
{
    const op_start_cells *kept = w->o->json ? NULL : w->text.cells;
    if (!kept) {
        op_cell_piece(w, piece);
        return;
    }
    const op_piece *cell = (const op_piece *)((const char *)kept + in_cells);
    op_cell_ready(w, kept->text + cell->at, cell->len);
}

static void code_cell(op_writer *w, const op_row_facts *f)
{
    static const char no_op[] = OP_CODE_NO_OP;
    if (f->op)
        start_cell(w, w->text.name, offsetof(op_start_cells, name));
    else
        op_cell_str(w, no_op);
}

static void type_cell(op_writer *w, const op_row_facts *f)
{
    if (f->op)
        start_cell(w, w->text.type, offsetof(op_start_cells, type));
    else
        op_cell_str(w, "tt_dnn_device");
}

/* What the chip itself said of its clock; cards tell it in whole MHz. */
static void aiclk_cell(op_writer *w, const op_row_facts *f)
{
    const uint64_t khz = f->cycles && f->row->chip != DL_NONE
                             ? dl_decode_tables(w->s->decode)->chips[f->row->chip].aiclk_khz
                             : 0;
    number_if(w, khz, (khz + 500) / 1000);
}

void op_cell(op_writer *w, const op_row_facts *f, const op_column *c)
{
    const op_entry *op = f->op;
    bool timed = op && !w->o->no_host_times;
    switch ((op_column_kind)c->kind) {
    case OP_COL_EMPTY: op_cell_empty(w); break;
    case OP_COL_CODE: code_cell(w, f); break;
    case OP_COL_TYPE: type_cell(w, f); break;
    case OP_COL_GLOBAL_COUNT: op_cell_number(w, f->id); break;
    case OP_COL_DEVICE: number_if(w, f->device, f->chip_id); break;
    case OP_COL_ARCH:
        if (f->arch)
            op_cell_str(w, dl_text(dl_decode_tables(w->s->decode), f->arch));
        else
            op_cell_empty(w);
        break;
    case OP_COL_ATTRIBUTES: cell_attributes(w); break;
    case OP_COL_FIDELITY: start_cell(w, w->text.fidelity, offsetof(op_start_cells, fidelity)); break;
    case OP_COL_CORES: cell_cores(w, f); break;
    case OP_COL_AVAILABLE_CORES: number_if(w, f->max_cores, f->max_cores); break;
    case OP_COL_STRATEGY: start_cell(w, w->text.strategy, offsetof(op_start_cells, strategy)); break;
    case OP_COL_HOST_START: number_if(w, timed, op ? op->start : 0); break;
    case OP_COL_HOST_END: number_if(w, timed && (op->flags & OP_ENDED), op ? op->end : 0); break;
    case OP_COL_HOST_NS: number_if(w, timed && op_has_duration(op), op ? op->end - op->start : 0); break;
    case OP_COL_FW_START:
    case OP_COL_FW_END:
    case OP_COL_LATENCY:
    case OP_COL_DM_LATENCY:
    case OP_COL_FW_NS:
    case OP_COL_KERNEL_NS:
    case OP_COL_DM_KERNEL_NS:
    case OP_COL_CORE_MIN_NS:
    case OP_COL_CORE_MAX_NS:
    case OP_COL_CORE_AVG_NS:
    case OP_COL_FIRST_TO_LAST_NS:
    case OP_COL_RISC_NS:
    case OP_COL_CB_WAIT_NS:
    case OP_COL_CB_RESERVE_NS: op_device_cells(w, f, c, 1); break;
    case OP_COL_CALL_COUNT: number_if(w, f->call, f->call); break;
    case OP_COL_INPUTS: op_tensor_cells(w, w->text.in, w->text.n_in, w->n_in); break;
    case OP_COL_OUTPUTS: op_tensor_cells(w, w->text.out, w->text.n_out, w->n_out); break;
    case OP_COL_DEPTH: number_if(w, op, op ? op->depth : 0); break;
    case OP_COL_TRACE_ID:
    case OP_COL_TRACE_SESSION: {
        const dl_launch *l = f->cycles ? &dl_decode_launches(w->s->decode)->items[f->row->launch] : NULL;
        uint32_t id = !l ? DL_NO_ID : c->kind == OP_COL_TRACE_ID ? l->trace_id : l->trace_counter;
        number_if(w, id != DL_NO_ID, id);
        break;
    }
    case OP_COL_COMPUTE_SOURCE: cell_kernels(w, f, compute_source); break;
    case OP_COL_COMPUTE_HASH: cell_kernels(w, f, compute_hash); break;
    case OP_COL_DM_SOURCE: cell_kernels(w, f, dm_source); break;
    case OP_COL_DM_HASH: cell_kernels(w, f, dm_hash); break;
    case OP_COL_PROGRAM_HASH: cell_program(w, f, true); break;
    case OP_COL_CACHE_HIT: cell_program(w, f, false); break;
    case OP_COL_KERNEL_BYTES: cell_kernel_bytes(w, f, c->argument); break;
    case OP_COL_API_COUNT:
        number_if(w, op && w->text.api[c->argument].calls, w->text.api[c->argument].calls);
        break;
    case OP_COL_API_AVERAGE: api_average(w, f, c->argument); break;
    case OP_COL_API_BYTES:
        number_if(w, op && w->text.api[c->argument].calls && w->text.bytes[c->argument] != OP_BYTES_UNKNOWN,
                  w->text.bytes[c->argument]);
        break;
    case OP_COL_THREAD: number_if(w, op, op ? op->thread : 0); break;
    case OP_COL_OWN_NS: number_if(w, op_has_duration(op), w->text.own); break;
    case OP_COL_LAUNCHES: number_if(w, f->launches, f->launches); break;
    case OP_COL_IDLE_NS: cell_ns(w, f, f->cycles && f->row->n_launches > 1, f->row->idle); break;
    case OP_COL_OVERLAP_NS: cell_ns(w, f, f->cycles && f->row->overlap, f->row->overlap); break;
    case OP_COL_AICLK: aiclk_cell(w, f); break;
    case OP_COL_NOTE: cell_note(w, f); break;
    case OP_COL_STACK:
        if (f->op && w->text.stack.len)
            op_cell_text(w, w->text.stack.text, w->text.stack.len);
        else
            op_cell_empty(w);
        break;
    }
}
