/* Cells that come from an op's JSON: names, attributes, tensors, kernels, the performance model. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tt_metal/cells.h"
#include "tt_metal/python.h"

enum { MAX_SAID = 256 * 1024 }; /* bytes of cells that are kept for the next call of an op */

static void said_cell(tt_writer *w, tt_said *s, uint32_t column, const char *text, size_t n)
{
    /* A later one takes its place. */
    size_t i = 0;
    while (i < s->n && s->cells[i].column != column)
        i++;
    if (i == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 64;
        void *grown = realloc(s->cells, cap * sizeof *s->cells);
        w->no_memory |= grown == NULL;
        if (!grown) return;
        s->cells = grown;
        s->cap = cap;
    }
    s->cells[i].column = column;
    s->cells[i].at = (uint32_t)s->text.len;
    s->n += i == s->n;
    if (w->o->json)
        dl_str_add_n(&s->text, text, n);
    else
        tt_csv_cell(&s->text, &w->other, text, n);
    s->cells[i].len = (uint32_t)(s->text.len - s->cells[i].at);
}

static void said_work(tt_writer *w, tt_said *s, uint32_t column)
{
    said_cell(w, s, column, w->work.text ? w->work.text : "", w->work.len);
}

static void said_value(tt_writer *w, tt_said *s, uint32_t column, const jl_value *v)
{
    dl_str_clear(&w->work);
    tt_python_str(v, &w->work);
    said_work(w, s, column);
}

/* Members by their keys, in one go; of those with one key the last. What is not there is JL_END. */
static void members(const jl_value *object, const char *const *keys, size_t n, jl_value *out)
{
    jl_reader r;
    jl_value v;
    for (size_t i = 0; i < n; i++)
        out[i].kind = JL_END;
    if (object->kind != JL_OBJECT) return;
    jl_inside(&r, object);
    for (jl_kind k = jl_next(&r, &v); k != JL_END && k != JL_BAD; k = jl_next(&r, &v))
        for (size_t i = 0; i < n; i++)
            if (jl_key_is(&v, keys[i])) {
                out[i] = v;
                break;
            }
}

static void upper_text(const jl_value *v, dl_str *out)
{
    size_t from = out->len;
    tt_python_str(v, out);
    for (size_t i = from; i < out->len; i++)
        if (out->text[i] >= 'a' && out->text[i] <= 'z') out->text[i] = (char)(out->text[i] - 32);
}

/* DEV_0_DRAM_INTERLEAVED, or what a tensor on the host says. */
static void memory_cell(tt_writer *w, tt_said *s, uint32_t column, const jl_value *storage)
{
    static const char *const keys[] = {"device_id", "memory_config"}, *const config_keys[] = {
                                                                          "buffer_type", "memory_layout"};
    jl_value parts[2], config[2];
    if (storage->kind != JL_OBJECT) {
        said_value(w, s, column, storage);
        return;
    }
    members(storage, keys, 2, parts);
    members(&parts[1], config_keys, 2, config);
    dl_str_clear(&w->work);
    dl_str_add(&w->work, "DEV_");
    if (parts[0].kind != JL_END) tt_python_str(&parts[0], &w->work);
    for (int i = 0; i < 2; i++) {
        dl_str_char(&w->work, '_');
        if (config[i].kind != JL_END) upper_text(&config[i], &w->work);
    }
    said_work(w, s, column);
}

static void tensor(tt_writer *w, tt_said *s, uint32_t first, const jl_value *t)
{
    enum { SHAPE, LAYOUT, TYPE, STORAGE, PARTS, DIMENSIONS = 4 };
    static const char *const keys[PARTS] = {"shape", "layout", "dtype", "storage_type"},
                             *const dimensions[DIMENSIONS] = {"W", "Z", "Y", "X"};
    jl_value parts[PARTS], shape[DIMENSIONS];
    members(t, keys, PARTS, parts);
    members(&parts[SHAPE], dimensions, DIMENSIONS, shape);
    for (uint32_t i = 0; i < DIMENSIONS; i++)
        if (shape[i].kind != JL_END) said_value(w, s, first + i, &shape[i]);
    if (parts[LAYOUT].kind != JL_END) said_value(w, s, first + 4, &parts[LAYOUT]);
    if (parts[TYPE].kind != JL_END) said_value(w, s, first + 5, &parts[TYPE]);
    if (parts[STORAGE].kind != JL_END) memory_cell(w, s, first + 6, &parts[STORAGE]);
}

/* Those of a list behind the `n` that were there. */
static uint32_t tensors(tt_writer *w, tt_said *s, size_t first, uint32_t most, uint32_t n,
                        const jl_value *list)
{
    jl_reader r;
    jl_value v;
    jl_inside(&r, list);
    for (jl_kind k = jl_next(&r, &v); k != JL_END && k != JL_BAD && n < most; k = jl_next(&r, &v), n++)
        tensor(w, s, (uint32_t)first + n * TT_TENSOR_FIELDS, &v);
    return n;
}

/* What is said of the kernels, as lists in Python's words, and the compute kernels' fidelity, of which the last stands. */
static void kernel_lists(tt_writer *w, tt_said *s, uint32_t source, uint32_t name, const jl_value *kernels)
{
    enum { SOURCE, NAME, FIDELITY, PARTS };
    static const char *const keys[PARTS] = {"source", "name", "math_fidelity"};
    const uint32_t columns[] = {source, name};
    jl_reader r;
    jl_value v, parts[PARTS];
    dl_str *lists[] = {&w->work, &w->names};
    for (int i = 0; i < 2; i++) {
        dl_str_clear(lists[i]);
        dl_str_char(lists[i], '[');
    }
    jl_value fidelity = {.kind = JL_END};
    if (kernels->kind == JL_LIST) {
        jl_inside(&r, kernels);
        for (jl_kind k = jl_next(&r, &v); k != JL_END && k != JL_BAD; k = jl_next(&r, &v)) {
            members(&v, keys, PARTS, parts);
            for (int i = 0; i < 2; i++) {
                if (parts[i].kind == JL_END) continue;
                if (lists[i]->len > 1) dl_str_add(lists[i], ", ");
                tt_python_repr(&parts[i], lists[i]);
            }
            if (parts[FIDELITY].kind != JL_END) fidelity = parts[FIDELITY];
        }
    }
    for (int i = 0; i < 2; i++) {
        dl_str_char(lists[i], ']');
        said_cell(w, s, columns[i], lists[i]->text ? lists[i]->text : "", lists[i]->len);
    }
    if (fidelity.kind != JL_END && source == TT_COL_COMPUTE_SOURCE)
        said_value(w, s, TT_COL_FIDELITY, &fidelity);
}

static void kernels(tt_writer *w, tt_said *s, const jl_value *info)
{
    enum { COMPUTE, DATA, SIZES, PARTS };
    static const char *const keys[PARTS] = {"compute_kernels", "datamovement_kernels", "kernel_sizes"};
    jl_value parts[PARTS];
    members(info, keys, PARTS, parts);
    kernel_lists(w, s, TT_COL_COMPUTE_SOURCE, TT_COL_COMPUTE_HASH, &parts[COMPUTE]);
    kernel_lists(w, s, TT_COL_DM_SOURCE, TT_COL_DM_HASH, &parts[DATA]);
    if (parts[SIZES].kind != JL_OBJECT) return;
    jl_reader r;
    jl_value v;
    jl_inside(&r, &parts[SIZES]);
    for (jl_kind k = jl_next(&r, &v); k != JL_END && k != JL_BAD; k = jl_next(&r, &v)) {
        char header[128];
        int n = snprintf(header, sizeof header, "%.*s [B]", (int)(v.key_len < 100 ? v.key_len : 100), v.key);
        int column = n > 0 ? tt_column_find(header, (size_t)n) : -1;
        if (column >= 0) said_value(w, s, (uint32_t)column, &v);
    }
}

static void model(tt_writer *w, tt_said *s, const jl_value *v)
{
    enum { PARTS = 5 };
    static const char *const keys[PARTS] = {"ideal_ns", "compute_ns", "bandwidth_ns", "input_bws",
                                            "output_bws"};
    static const uint32_t columns[PARTS] = {TT_COL_PM_IDEAL, TT_COL_PM_COMPUTE, TT_COL_PM_BANDWIDTH,
                                            TT_COL_PM_IN, TT_COL_PM_OUT};
    jl_value parts[PARTS];
    members(v, keys, PARTS, parts);
    for (size_t i = 0; i < PARTS; i++)
        if (parts[i].kind != JL_END) said_value(w, s, columns[i], &parts[i]);
}

/* All cells of one JSON. Columns that an earlier JSON filled are overwritten. */
static void say(tt_writer *w, tt_said *s, uint32_t json)
{
    enum { IN, OPTIONAL, OUT, KERNELS, HASH, MODEL, PARTS };
    static const char *const keys[PARTS] = {"input_tensors",  "optional_input_tensors",
                                            "output_tensors", "kernel_info",
                                            "op_hash",        "performance_model"};
    const tt_host *h = w->j->host;
    jl_reader r;
    jl_value v, parts[PARTS] = {{.kind = JL_END}};
    for (int i = 0; i < PARTS; i++)
        parts[i].kind = JL_END;
    tt_host_members(h, json, &r);
    while (tt_host_next(h, json, &r, &v) != JL_END) {
        int part = 0, column;
        while (part < PARTS &&
               !(strlen(keys[part]) == v.key_len && memcmp(keys[part], v.key, v.key_len) == 0))
            part++;
        if (part < PARTS)
            parts[part] = v;
        else if ((column = tt_column_find(v.key, v.key_len)) >= 0)
            said_value(w, s, (uint32_t)column, &v);
    }
    uint32_t n = 0;
    if (parts[IN].kind == JL_LIST) n = tensors(w, s, w->first_in, w->n_in, 0, &parts[IN]);
    if (parts[OPTIONAL].kind == JL_LIST) tensors(w, s, w->first_in, w->n_in, n, &parts[OPTIONAL]);
    if (parts[OUT].kind == JL_LIST) tensors(w, s, w->first_out, w->n_out, 0, &parts[OUT]);
    if (parts[KERNELS].kind != JL_END) kernels(w, s, &parts[KERNELS]);
    if (parts[HASH].kind != JL_END) said_value(w, s, TT_COL_PROGRAM_HASH, &parts[HASH]);
    if (parts[MODEL].kind != JL_END) model(w, s, &parts[MODEL]);
}

/* Columns that nothing but a JSON fills; the C++ report may have any of those that are not tensors'. */
static bool is_said_alone(const tt_writer *w, size_t slot)
{
    static const uint32_t fixed[] = {TT_COL_COMPUTE_SOURCE, TT_COL_COMPUTE_HASH, TT_COL_DM_SOURCE,
                                     TT_COL_DM_HASH,        TT_COL_PM_BANDWIDTH, TT_COL_PM_IN,
                                     TT_COL_PM_OUT};
    if (slot >= w->first_in && slot < w->first_call) return true;
    bool known = false;
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        known |= slot == fixed[i];
    for (size_t i = 0; i < w->j->execs->columns.n && known; i++)
        known = w->perf_column[i] != (int)slot;
    return known;
}

bool tt_said_plan(tt_writer *w)
{
    w->in_run = calloc(w->n_slots + 1, sizeof *w->in_run);
    if (!w->in_run) return false;
    for (size_t i = 0; i < w->n_order && !w->o->json && w->n_runs < TT_SAID_RUNS;) {
        size_t to = i;
        while (to < w->n_order && is_said_alone(w, w->order[to]))
            w->in_run[w->order[to++]] = true;
        if (to > i) w->runs[w->n_runs++] = (tt_said_run){i, to};
        i = to + (to == i);
    }
    return true;
}

/* Puts the cells of runs together, behind what is in the text. */
static void make_runs(tt_writer *w, tt_said *s)
{
    for (size_t r = 0; r < w->n_runs; r++) {
        s->runs[r].at = (uint32_t)s->text.len;
        for (size_t i = w->runs[r].from; i < w->runs[r].to; i++) {
            if (i > w->runs[r].from) dl_str_char(&s->text, ',');
            for (size_t k = 0; k < s->n; k++) {
                if (s->cells[k].column != w->order[i]) continue;
                const uint32_t at = s->cells[k].at, n = s->cells[k].len;
                if (dl_str_reserve(&s->text, n)) dl_str_add_n(&s->text, s->text.text + at, n);
                break;
            }
        }
        s->runs[r].len = (uint32_t)s->text.len - s->runs[r].at;
    }
    size_t kept = 0;
    for (size_t k = 0; k < s->n; k++)
        if (!w->in_run[s->cells[k].column]) s->cells[kept++] = s->cells[k];
    s->n = kept;
}

static void forget(tt_said *s)
{
    s->n = 0;
    s->json = s->own = TT_NONE;
    s->ready = false;
    if (s->text.cap > MAX_SAID) dl_str_free(&s->text);
    dl_str_clear(&s->text);
}

static const tt_said *said_of(tt_writer *w, const tt_op *op)
{
    tt_said *s = tt_said_place(w, op);
    if (s->json == op->json && s->own == op->own && s->ready) return s;
    forget(s);
    if (op->json != TT_NONE) say(w, s, op->json);
    if (op->own != TT_NONE) say(w, s, op->own);
    make_runs(w, s);
    s->json = op->json;
    s->own = op->own;
    s->ready = true;
    w->no_memory |= s->text.failed;
    return s;
}

static void child_cells(tt_writer *w, const tt_op *op)
{
    const tt_host *h = w->j->host;
    for (uint32_t c = op->children; c; c = h->children[c - 1].next)
        tt_cell_u64(w, w->call_slot[h->children[c - 1].name], h->children[c - 1].ns);
}

void tt_op_cells(tt_writer *w, const tt_op *op)
{
    const tt_said *s = said_of(w, op);
    const char *text = s->text.text ? s->text.text : "";
    w->row_said = s;
    for (size_t i = 0; i < s->n; i++)
        tt_cell_lent(w, s->cells[i].column, text + s->cells[i].at, s->cells[i].len, !w->o->json);
    if (op->name && !tt_cell_there(w, TT_COL_CODE)) {
        size_t n;
        const char *name = dl_intern_text(w->j->host->names, op->name, &n);
        tt_cell_lent(w, TT_COL_CODE, name, n, false);
    }
    tt_cell_u64(w, TT_COL_COUNT, op->id);
    if (op->device != TT_NONE && !tt_cell_there(w, TT_COL_DEVICE)) tt_cell_u64(w, TT_COL_DEVICE, op->device);
    if (op->flags & TT_OP_SHORT)
        tt_cell_lent(w, TT_COL_CACHE_HIT, op->flags & TT_OP_HIT ? "True" : "False",
                     op->flags & TT_OP_HIT ? 4 : 5, true);
    if (op->flags & TT_OP_ORPHAN) tt_cell_u64(w, TT_COL_PROGRAM_HASH, op->hash);
    if (op->flags & TT_OP_ZONE) {
        tt_cell_u64(w, TT_COL_HOST_START, op->start);
        tt_cell_u64(w, TT_COL_HOST_END, op->start + op->ns);
        tt_cell_u64(w, TT_COL_HOST_NS, op->ns);
    }
    child_cells(w, op);
}

static bool real_of(const tt_writer *w, size_t slot, double *out)
{
    char text[64], *end;
    const tt_cell c = tt_cell_of(w, slot);
    if (!c.n || c.n >= sizeof text) return false;
    uint64_t whole;
    if (c.n <= 15 && dl_digits_value(c.text, c.n, &whole)) {
        *out = (double)whole;
        return true;
    }
    memcpy(text, c.text, c.n);
    text[c.n] = 0;
    *out = strtod(text, &end);
    return *end == 0;
}

/* "%.3f" of what is neither negative nor great. The product is exact where a long double has ten bits more than a
 * double, so that it is rounded once. */
static size_t three_decimals(double value, char digits[48])
{
#if LDBL_MANT_DIG >= DBL_MANT_DIG + 10
    const uint64_t thousandths = (uint64_t)rintl((long double)value * 1000.0L);
    char *to = dl_digits(digits, thousandths / 1000);
    *to++ = '.';
    return (size_t)(dl_digits_fixed(to, (uint32_t)(thousandths % 1000), 3) - digits);
#else
    return (size_t)snprintf(digits, 48, "%.3f", value);
#endif
}

/* What needs both: the model's compute time against the kernels'. */
void tt_op_pm_cells(tt_writer *w)
{
    double compute, kernel;
    char digits[352]; /* a double has at most 309 digits in front of the point */
    if (!real_of(w, TT_COL_PM_COMPUTE, &compute) || !real_of(w, TT_COL_KERNEL_NS, &kernel)) return;
    double util = kernel != 0 ? 100.0 * compute / kernel : 0.0;
    uint32_t from = tt_cell_begin(w);
    if (util >= 0 &&
        util < 1e12) { /* three decimals are more than repr() needs: but for zeros at their end */
        size_t n = three_decimals(util, digits);
        while (n > 2 && digits[n - 1] == '0' && digits[n - 2] != '.')
            n--;
        dl_str_add_n(&w->text, digits, n);
    } else {
        snprintf(digits, sizeof digits, "%.3f", util);
        tt_python_double(strtod(digits, NULL), &w->text);
    }
    tt_cell_end_ready(w, TT_COL_PM_FPU, from);
}

void tt_said_free(tt_writer *w)
{
    for (size_t i = 0; w->said && i < TT_SAID; i++) {
        dl_str_free(&w->said[i].text);
        free(w->said[i].cells);
    }
    free(w->said);
    free(w->in_run);
}
