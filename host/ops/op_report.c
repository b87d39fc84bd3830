/* The op report: stitched rows as CSV or JSON. */
#include "ops/op_report.h"

#include <stdlib.h>
#include <string.h>

#include "ops/op_programs.h"
#include "ops/op_text.h"

enum { FLUSH_BYTES = 64 * 1024, MAX_NAMES = 1024 * 1024, MAX_NAME_BYTES = 64 * 1024 * 1024 };

typedef struct writer {
    op_stitch *s;
    const op_report_options *o;
    dl_str *out;
    const op_column *columns;
    size_t n_columns;
    uint32_t n_in, n_out;
    char **keys; /* JSON: "\"HEADER\":" of each cell */
    size_t n_keys, cap_keys;
    size_t cell; /* of the row in hand */
    op_text text;
    op_programs programs;
    dl_intern *names; /* for CALL COUNT */
    uint32_t *calls;
    uint32_t cap_calls;
    uint32_t next_id; /* for rows without an op */
    op_report_counts *counts;
    bool no_memory;
} writer;

/* ---- Cells --- */

static void begin_cell(writer *w)
{
    if (w->cell) dl_str_char(w->out, ',');
    if (w->o->json && w->cell < w->n_keys) dl_str_add(w->out, w->keys[w->cell]);
    w->cell++;
}

static void cell_text(writer *w, const char *text, size_t n)
{
    begin_cell(w);
    if (w->o->json)
        dl_str_json(w->out, text, n);
    else
        dl_str_csv(w->out, text, n);
}

static void cell_str(writer *w, const char *text)
{
    cell_text(w, text, strlen(text));
}

static void cell_number(writer *w, uint64_t value)
{
    begin_cell(w);
    dl_str_u64(w->out, value);
}

static void cell_signed(writer *w, int64_t value)
{
    begin_cell(w);
    if (value < 0) dl_str_char(w->out, '-');
    dl_str_u64(w->out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static void cell_empty(writer *w)
{
    begin_cell(w);
    if (w->o->json) dl_str_add(w->out, "null");
}

/* Device data that is missing: "-" in the reference's report, nothing in today's. */
static void cell_missing(writer *w)
{
    if (w->o->columns == OP_COLUMNS_REFERENCE && !w->o->json)
        cell_str(w, "-");
    else
        cell_empty(w);
}

static void cell_piece(writer *w, op_piece p)
{
    if (p.len)
        cell_text(w, op_piece_text(&w->text, p), p.len);
    else
        cell_empty(w);
}

/* ---- What a row is about --- */

typedef struct row_facts {
    const op_row *row;
    const op_entry *op; /* NULL: none */
    const op_cycles *cycles;
    uint64_t freq_khz; /* 0: no nanoseconds */
    uint32_t id, chip_id, arch, call;
    uint64_t max_cores;
    uint32_t launches;      /* of it on this chip */
    const op_launch *first; /* in the op log, or NULL */
    bool device;            /* it ran on a device */
} row_facts;

static void cell_ns(writer *w, const row_facts *f, bool known, uint64_t cycles)
{
    if (known && f->freq_khz)
        cell_number(w, dl_cycles_to_ns(cycles, f->freq_khz));
    else
        cell_missing(w);
}

static void cell_span(writer *w, const row_facts *f, uint64_t start, uint64_t end)
{
    cell_ns(w, f, start != OP_NEVER && end >= start, end - start);
}

static void cell_signed_ns(writer *w, const row_facts *f, int64_t cycles)
{
    if (!f->row->has_latency || !f->freq_khz) {
        cell_missing(w);
        return;
    }
    uint64_t ns = dl_cycles_to_ns(cycles < 0 ? 0 - (uint64_t)cycles : (uint64_t)cycles, f->freq_khz);
    cell_signed(w, cycles < 0 ? -(int64_t)ns : (int64_t)ns);
}

/* ---- Groups of cells --- */

static void tensor_cells(writer *w, const op_tensor *tensors, uint32_t have, uint32_t want)
{
    bool both = w->o->columns == OP_COLUMNS_CURRENT;
    for (uint32_t i = 0; i < want; i++) {
        if (i >= have) {
            for (int k = 0; k < OP_TENSOR_FIELDS; k++)
                cell_empty(w);
            continue;
        }
        const op_tensor *t = &tensors[i];
        for (int k = 0; k < 4; k++) {
            if (!both) {
                cell_number(w, t->shape[k]);
                continue;
            }
            char text[2 * DL_U64_DIGITS + 2];
            size_t n = dl_u64_text(text, t->shape[k]);
            text[n++] = '[';
            n += dl_u64_text(text + n, t->logical[k]);
            text[n++] = ']';
            cell_text(w, text, n);
        }
        cell_piece(w, t->layout);
        cell_piece(w, t->data_type);
        cell_piece(w, t->memory);
    }
}

/* The launches of an op in the op log, one after the other; begin with NULL. */
static const op_launch *next_launch(const writer *w, const row_facts *f, const op_launch *l)
{
    if (!l) return f->first;
    return l->next ? &w->s->device->launches[l->next - 1] : NULL;
}

typedef char *op_program_text_list(const op_program_text *p);

static char *compute_source(const op_program_text *p)
{
    return p->compute_source;
}
static char *compute_hash(const op_program_text *p)
{
    return p->compute_hash;
}
static char *dm_source(const op_program_text *p)
{
    return p->dm_source;
}
static char *dm_hash(const op_program_text *p)
{
    return p->dm_hash;
}

/* ['a.c'; 'b.c'] of all programs of an op. */
static void cell_kernels(writer *w, const row_facts *f, op_program_text_list *list)
{
    if (!f->first) {
        cell_empty(w);
        return;
    }
    dl_str all = {0};
    dl_str_char(&all, '[');
    uint32_t before = 0;
    for (const op_launch *l = next_launch(w, f, NULL); l; l = next_launch(w, f, l)) {
        const op_program_text *p = l->program == before ? NULL : op_programs_find(&w->programs, l->program);
        before = l->program;
        if (!p || !list(p)) continue;
        if (all.len > 1) dl_str_add(&all, "; ");
        dl_str_add(&all, list(p));
    }
    dl_str_char(&all, ']');
    if (!all.failed) cell_text(w, all.text, all.len);
    w->no_memory |= all.failed;
    dl_str_free(&all);
}

static void cell_program(writer *w, const row_facts *f, bool hash)
{
    const op_program_text *p = f->first ? op_programs_find(&w->programs, f->first->program) : NULL;
    bool cached = f->first != NULL;
    for (const op_launch *l = next_launch(w, f, NULL); l; l = next_launch(w, f, l))
        cached &= l->cached;
    if (!p)
        cell_empty(w);
    else if (hash)
        cell_str(w, p->hash);
    else
        cell_number(w, cached);
}

static void cell_kernel_bytes(writer *w, const row_facts *f, uint8_t risc)
{
    uint32_t most = 0;
    for (const op_launch *l = next_launch(w, f, NULL); l; l = next_launch(w, f, l)) {
        const op_program_text *p = op_programs_find(&w->programs, l->program);
        if (p && p->bytes[risc] > most) most = p->bytes[risc];
    }
    if (f->first)
        cell_number(w, most);
    else
        cell_empty(w);
}

static void cell_cores(writer *w, const row_facts *f)
{
    uint64_t cores = f->cycles       ? f->cycles->cores
                     : w->text.cores ? w->text.cores
                     : f->first      ? f->first->cores
                                     : 0;
    if (cores)
        cell_number(w, cores);
    else
        cell_missing(w);
}

static void cell_attributes(writer *w)
{
    const dl_str *a = &w->text.attributes;
    if (!a->len) {
        cell_empty(w);
        return;
    }
    if (a->text[0] != '\'') {
        cell_text(w, a->text, a->len);
        return;
    }
    dl_str all = {0};
    dl_str_char(&all, '{');
    dl_str_add_n(&all, a->text, a->len);
    dl_str_char(&all, '}');
    if (!all.failed) cell_text(w, all.text, all.len);
    w->no_memory |= all.failed;
    dl_str_free(&all);
}

static void cell_note(writer *w, const row_facts *f)
{
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
        cell_text(w, all.text, all.len);
    else
        cell_empty(w);
    w->no_memory |= all.failed;
    dl_str_free(&all);
}

static bool has_duration(const op_entry *op)
{
    return op && (op->flags & (OP_ENDED | OP_ENDS_EARLY)) == OP_ENDED;
}

static void number_if(writer *w, bool known, uint64_t value)
{
    if (known)
        cell_number(w, value);
    else
        cell_empty(w);
}

static void device_number_if(writer *w, bool known, uint64_t value)
{
    if (known)
        cell_number(w, value);
    else
        cell_missing(w);
}

static void api_average(writer *w, const row_facts *f, uint8_t api)
{
    const devlog_api_stats *s = &w->text.api[api];
    number_if(w, f->op && s->calls, s->calls ? (s->total_ns + s->calls / 2) / s->calls : 0);
}

static void code_cell(writer *w, const row_facts *f)
{
    static const char no_op[] = "(launch without op)";
    if (f->op)
        cell_piece(w, w->text.name);
    else
        cell_str(w, no_op);
}

static void type_cell(writer *w, const row_facts *f)
{
    if (f->op)
        cell_piece(w, w->text.type);
    else
        cell_str(w, "tt_dnn_device");
}

static void cell(writer *w, const row_facts *f, const op_column *c)
{
    static const op_cycles nothing = {
        .fw_start = OP_NEVER,
        .kernel_start = OP_NEVER,
        .dm_start = OP_NEVER,
        .core_min = OP_NEVER,
        .risc_start = {OP_NEVER, OP_NEVER, OP_NEVER, OP_NEVER, OP_NEVER, OP_NEVER}};
    const op_cycles *y = f->cycles ? f->cycles : &nothing;
    const op_entry *op = f->op;
    bool timed = op && !w->o->no_host_times;
    bool fw = y->fw_start != OP_NEVER, per_core = y->core_n && !y->cores_twice;
    switch ((op_column_kind)c->kind) {
    case OP_COL_EMPTY: cell_empty(w); break;
    case OP_COL_CODE: code_cell(w, f); break;
    case OP_COL_TYPE: type_cell(w, f); break;
    case OP_COL_GLOBAL_COUNT: cell_number(w, f->id); break;
    case OP_COL_DEVICE: number_if(w, f->device, f->chip_id); break;
    case OP_COL_ARCH:
        if (f->arch)
            cell_str(w, dl_text(dl_decode_tables(w->s->decode), f->arch));
        else
            cell_empty(w);
        break;
    case OP_COL_ATTRIBUTES: cell_attributes(w); break;
    case OP_COL_FIDELITY: cell_piece(w, w->text.fidelity); break;
    case OP_COL_CORES: cell_cores(w, f); break;
    case OP_COL_AVAILABLE_CORES: number_if(w, f->max_cores, f->max_cores); break;
    case OP_COL_STRATEGY: cell_piece(w, w->text.strategy); break;
    case OP_COL_HOST_START: number_if(w, timed, op ? op->start : 0); break;
    case OP_COL_HOST_END: number_if(w, timed && (op->flags & OP_ENDED), op ? op->end : 0); break;
    case OP_COL_HOST_NS: number_if(w, timed && has_duration(op), op ? op->end - op->start : 0); break;
    case OP_COL_FW_START: device_number_if(w, fw, y->fw_start); break;
    case OP_COL_FW_END: device_number_if(w, fw, y->fw_end); break;
    case OP_COL_LATENCY: cell_signed_ns(w, f, f->row->latency); break;
    case OP_COL_DM_LATENCY: cell_signed_ns(w, f, f->row->dm_latency); break;
    case OP_COL_FW_NS: cell_span(w, f, y->fw_start, y->fw_end); break;
    case OP_COL_KERNEL_NS: cell_span(w, f, y->kernel_start, y->kernel_end); break;
    case OP_COL_DM_KERNEL_NS: cell_span(w, f, y->dm_start, y->kernel_end); break;
    case OP_COL_CORE_MIN_NS: cell_ns(w, f, per_core, y->core_min); break;
    case OP_COL_CORE_MAX_NS: cell_ns(w, f, per_core, y->core_max); break;
    case OP_COL_CORE_AVG_NS:
        cell_ns(w, f, per_core, per_core ? (y->core_sum + y->core_n / 2) / y->core_n : 0);
        break;
    case OP_COL_FIRST_TO_LAST_NS: cell_span(w, f, y->kernel_start, y->kernel_last_start); break;
    case OP_COL_RISC_NS: cell_span(w, f, y->risc_start[c->argument], y->risc_end[c->argument]); break;
    case OP_COL_CB_WAIT_NS: cell_ns(w, f, y->has_cb_wait, y->cb_wait); break;
    case OP_COL_CB_RESERVE_NS: cell_ns(w, f, y->has_cb_reserve, y->cb_reserve); break;
    case OP_COL_CALL_COUNT: number_if(w, f->call, f->call); break;
    case OP_COL_INPUTS: tensor_cells(w, w->text.in, w->text.n_in, w->n_in); break;
    case OP_COL_OUTPUTS: tensor_cells(w, w->text.out, w->text.n_out, w->n_out); break;
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
    case OP_COL_THREAD: number_if(w, op, op ? op->thread : 0); break;
    case OP_COL_OWN_NS: number_if(w, has_duration(op), w->text.own); break;
    case OP_COL_LAUNCHES: number_if(w, f->launches, f->launches); break;
    case OP_COL_IDLE_NS: cell_ns(w, f, f->cycles && f->row->n_launches > 1, f->row->idle); break;
    case OP_COL_NOTE: cell_note(w, f); break;
    }
}

/* ---- Rows --- */

static void begin_row(writer *w)
{
    if (w->o->json) dl_str_add(w->out, w->counts->rows ? ",\n{" : "{");
    w->cell = 0;
    w->counts->rows++;
}

static void end_row(writer *w)
{
    dl_str_add(w->out, w->o->json ? "}" : "\n");
}

/* The how manieth call of an op of this name it is. */
static uint32_t count_call(writer *w)
{
    uint32_t name = dl_intern_add(w->names, op_piece_text(&w->text, w->text.name), w->text.name.len);
    if (name == DL_NO_STRING) return 0;
    if (name >= w->cap_calls) {
        uint32_t cap = name < 64 ? 128 : name * 2;
        uint32_t *grown = realloc(w->calls, cap * sizeof *grown);
        if (!grown) return 0;
        memset(grown + w->cap_calls, 0, (cap - w->cap_calls) * sizeof *grown);
        w->calls = grown;
        w->cap_calls = cap;
    }
    return ++w->calls[name];
}

static uint64_t rounded_ns(const row_facts *f, uint64_t start, uint64_t end)
{
    return f->freq_khz && start != OP_NEVER && end >= start ? dl_cycles_to_ns(end - start, f->freq_khz) : 0;
}

static void about_chip(const writer *w, row_facts *f)
{
    const op_log *log = w->s->device;
    f->device = true;
    if (f->row->chip != DL_NONE) {
        const dl_chip *chip = &dl_decode_tables(w->s->decode)->chips[f->row->chip];
        f->chip_id = chip->id;
        f->freq_khz = chip->freq_khz;
        f->arch = chip->arch;
        f->max_cores = chip->max_cores;
    } else if (f->first) {
        f->chip_id = f->first->chip;
    } else {
        f->device = false;
    }
    for (size_t i = 0; f->device && log && i < log->n_chips; i++)
        if (log->chips[i].chip == f->chip_id && log->chips[i].cores) f->max_cores = log->chips[i].cores;
}

static void op_row_write(writer *w, const op_row *row, bool first_of_op)
{
    op_stitch *s = w->s;
    row_facts f = {.row = row, .id = row->id};
    f.op = row->op == DL_NONE ? NULL : &s->host->ops[row->op];
    f.cycles = op_stitch_cycles(s, row);
    if (f.op && first_of_op) {
        op_text_read(&w->text, s->host, f.op);
        w->counts->damaged += w->text.damaged;
        w->counts->ops++;
        count_call(w);
        if (has_duration(f.op) && !w->o->no_host_times) w->counts->host_ns += f.op->end - f.op->start;
    } else if (!f.op) {
        w->text.texts.len = w->text.attributes.len = 0;
        op_text empty = {.texts = w->text.texts,
                         .attributes = w->text.attributes,
                         .in = w->text.in,
                         .out = w->text.out,
                         .cap_in = w->text.cap_in,
                         .cap_out = w->text.cap_out};
        w->text = empty;
        f.id = w->next_id++;
        w->counts->launches_without_op++;
    }
    if (f.op) {
        uint32_t name = dl_intern_find(w->names, op_piece_text(&w->text, w->text.name), w->text.name.len);
        f.call = name < w->cap_calls ? w->calls[name] : 0;
        const op_entry *there = row->device_op == DL_NONE ? NULL : &s->device->ops[row->device_op];
        if (there && there->launch) f.first = &s->device->launches[there->launch - 1];
    }
    about_chip(w, &f);
    f.launches = row->n_launches;
    if (f.cycles && f.op) w->counts->ops_with_device++;
    if (f.cycles) {
        w->counts->kernel_ns += rounded_ns(&f, f.cycles->kernel_start, f.cycles->kernel_end);
        w->counts->fw_ns += rounded_ns(&f, f.cycles->fw_start, f.cycles->fw_end);
    }
    begin_row(w);
    for (size_t i = 0; i < w->n_columns; i++)
        cell(w, &f, &w->columns[i]);
    end_row(w);
}

static void point_row(writer *w, const op_point *p)
{
    uint64_t number;
    op_text_point(&w->text, w->s->host, p, &number);
    w->counts->damaged += w->text.damaged;
    w->counts->points++;
    begin_row(w);
    for (size_t i = 0; i < w->n_columns; i++) {
        const op_column *c = &w->columns[i];
        dl_str step = {0};
        if (c->kind == OP_COL_CODE && p->step) {
            dl_str_add(&step, "step ");
            dl_str_u64(&step, number);
            if (w->text.name.len) dl_str_char(&step, ' ');
            dl_str_add_n(&step, op_piece_text(&w->text, w->text.name), w->text.name.len);
            cell_text(w, step.text ? step.text : "", step.len);
            dl_str_free(&step);
        } else if (c->kind == OP_COL_CODE) {
            cell_piece(w, w->text.name);
        } else if (c->kind == OP_COL_TYPE) {
            cell_str(w, "signpost");
        } else if (c->kind == OP_COL_ATTRIBUTES) {
            cell_piece(w, w->text.strategy);
        } else if (c->kind == OP_COL_HOST_START) {
            cell_number(w, p->t);
        } else if (c->kind == OP_COL_INPUTS || c->kind == OP_COL_OUTPUTS) {
            tensor_cells(w, NULL, 0, c->kind == OP_COL_INPUTS ? w->n_in : w->n_out);
        } else {
            cell_empty(w);
        }
    }
    end_row(w);
}

static void header_cell(void *ctx, const char *text)
{
    writer *w = ctx;
    if (!w->o->json) {
        cell_str(w, text);
        return;
    }
    dl_str key = {0};
    dl_str_json(&key, text, strlen(text));
    dl_str_char(&key, ':');
    if (w->n_keys == w->cap_keys) {
        size_t cap = w->cap_keys ? w->cap_keys * 2 : 128;
        char **grown = realloc(w->keys, cap * sizeof *grown);
        w->no_memory |= grown == NULL;
        if (grown) w->keys = grown;
        if (grown) w->cap_keys = cap;
    }
    w->no_memory |= key.failed;
    if (w->n_keys < w->cap_keys && !key.failed)
        w->keys[w->n_keys++] = key.text;
    else
        dl_str_free(&key);
}

static void free_writer(writer *w)
{
    for (size_t i = 0; i < w->n_keys; i++)
        free(w->keys[i]);
    free(w->keys);
    free(w->calls);
    dl_intern_free(w->names);
    op_programs_free(&w->programs);
    op_text_free(&w->text);
}

/* Signposts and steps stand behind the op that was started last before them. */
static bool point_is_next(const writer *w, size_t point, const op_row *row)
{
    const op_log *log = w->s->host;
    if (!log || point >= log->n_points || w->o->columns == OP_COLUMNS_REFERENCE) return false;
    return !row || row->op == DL_NONE || row->id > log->points[point].after;
}

devlog_status op_report_write(op_stitch *s, const op_report_options *options, dl_str *out,
                              devlog_status (*flush)(void *ctx, devlog_error *err), void *ctx,
                              op_report_counts *counts, devlog_error *err)
{
    *counts = (op_report_counts){0};
    writer w = {.s = s, .o = options, .out = out, .counts = counts, .next_id = 1};
    w.columns = op_columns(options->columns, &w.n_columns);
    if (s->host) {
        w.n_in = s->host->max_in;
        w.n_out = s->host->max_out;
        if (options->columns == OP_COLUMNS_REFERENCE) counts->points_left_out = s->host->n_points;
    }
    for (size_t i = 0; i < s->n_rows; i++)
        if (s->rows[i].op != DL_NONE && s->rows[i].id >= w.next_id) w.next_id = s->rows[i].id + 1;
    w.names = dl_intern_new(MAX_NAMES, MAX_NAME_BYTES);
    devlog_status status = w.names ? op_programs_read(&w.programs, s->device, err)
                                   : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    op_columns_headers(options->columns, w.n_in, w.n_out, header_cell, &w);
    dl_str_add(out, options->json ? "[" : "\n");
    size_t point = 0;
    for (size_t i = 0; i <= s->n_rows && !status; i++) {
        const op_row *row = i < s->n_rows ? &s->rows[i] : NULL;
        while (point_is_next(&w, point, row))
            point_row(&w, &s->host->points[point++]);
        if (row) op_row_write(&w, row, i == 0 || s->rows[i - 1].op != row->op);
        if (out->len >= FLUSH_BYTES) status = flush(ctx, err);
    }
    if (options->json) dl_str_add(out, "]\n");
    if (!status && (w.no_memory || out->failed || w.text.texts.failed))
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while writing the op report");
    if (!status) status = flush(ctx, err);
    free_writer(&w);
    return status;
}
