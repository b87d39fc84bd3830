/* Rows of the report of a folder of tt-metal's. Not for what is in their cells (op_cells.c,
 * device_cells.c) and for how a row is written (row_text.c). */
#include "tt_metal/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/op_columns.h"
#include "tt_metal/cells.h"

enum { FLUSH_BYTES = 256 * 1024 };

/* ---- Which columns there are --- */

#define CALL_SUFFIX "_TT_HOST_FUNC [ns]"

/* By headers, which are names with something behind them. */
static int by_header(const void *a, const void *b, void *host)
{
    const tt_host *h = host;
    const char *x = dl_intern_text(h->names, *(const uint32_t *)a, NULL);
    const char *y = dl_intern_text(h->names, *(const uint32_t *)b, NULL);
    while (*x && *x == *y) {
        x++;
        y++;
    }
    if (*x && *y) return (unsigned char)*x - (unsigned char)*y;
    return *x ? strcmp(x, CALL_SUFFIX) : *y ? strcmp(CALL_SUFFIX, y) : 0;
}

/* Host calls, sorted by name. */
static bool find_calls(tt_writer *w)
{
    const tt_host *h = w->j->host;
    uint32_t n_names = dl_intern_count(h->names);
    w->call_slot = calloc(n_names + 1u, sizeof *w->call_slot);
    w->call_names = calloc(n_names + 1u, sizeof *w->call_names);
    if (!w->call_slot || !w->call_names) return false;
    for (size_t i = 0; i < h->n_children; i++) {
        uint32_t name = h->children[i].name;
        if (!w->call_slot[name]) w->call_names[w->n_calls++] = name;
        w->call_slot[name] = 1;
    }
    if (w->n_calls)
        qsort_r(w->call_names, w->n_calls, sizeof *w->call_names, by_header, (void *)(uintptr_t)h);
    return true;
}

/* Columns of the C++ report: the fixed ones of that name, else columns of their own. */
static bool find_perf(tt_writer *w)
{
    static const char *const skipped[] = {"GLOBAL CALL COUNT", "DEVICE ID", "METAL TRACE ID",
                                          "METAL TRACE REPLAY SESSION ID", "OP NAME"};
    const tt_perf_columns *p = &w->j->execs->columns;
    w->perf_column = calloc(p->n + 1, sizeof *w->perf_column);
    if (!w->perf_column) return false;
    for (size_t i = 0; i < p->n; i++) {
        bool skip = p->names[i][0] == 0;
        for (size_t k = 0; k < sizeof skipped / sizeof skipped[0]; k++)
            skip |= strcmp(p->names[i], skipped[k]) == 0;
        w->perf_column[i] = -1;
        for (size_t k = 0; k < TT_COL_FIXED && !skip; k++)
            if (strcmp(p->names[i], tt_column_header(k)) == 0) w->perf_column[i] = (int)k;
        for (size_t k = 0; k < TT_METRICS * TT_METRIC_STATS && !skip && w->perf_column[i] < 0; k++) {
            dl_str_clear(&w->work);
            tt_metric_header(k / TT_METRIC_STATS, k % TT_METRIC_STATS, &w->work);
            if (!w->work.failed && strcmp(p->names[i], w->work.text) == 0)
                w->perf_column[i] = (int)(w->first_metric + k);
        }
        if (!skip && w->perf_column[i] < 0) w->perf_column[i] = (int)(w->first_perf + w->n_perf++);
    }
    return true;
}

/* Which figures from counters there are: of the C++ report those with any value. */
static void find_metrics(tt_writer *w)
{
    tt_execs *e = w->j->execs;
    bool *const has = &w->metrics[0][0];
    const size_t n = TT_METRICS * TT_METRIC_STATS;
    bool any = false;
    for (size_t i = 0; i < e->counters.n_devices; i++)
        for (size_t k = 0; k < n; k++)
            has[k] |= tt_metric_exists(&e->counters.devices[i], k / TT_METRIC_STATS);
    for (size_t i = 0; i < e->columns.n; i++)
        any |= w->perf_column[i] >= (int)w->first_metric && w->perf_column[i] < (int)w->first_perf;
    for (size_t x = 0; x < e->n && any; x++) {
        tt_cell cells[1024];
        size_t found = 0;
        if (tt_execs_at(e, x)->len) tt_execs_cells(e, tt_execs_at(e, x), cells, 1024, &found);
        for (size_t i = 0; i < found && i < e->columns.n; i++) {
            int slot = w->perf_column[i];
            if (slot >= (int)w->first_metric && slot < (int)w->first_perf && cells[i].n)
                has[(size_t)slot - w->first_metric] = true;
        }
    }
}

static bool add_slots(tt_writer *w, size_t first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        w->order[w->n_order++] = first + i;
    return true;
}

static bool add_metrics(tt_writer *w, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (w->metrics[k / TT_METRIC_STATS][k % TT_METRIC_STATS])
            w->order[w->n_order++] = w->first_metric + k;
    return true;
}

/* Columns of devlog's own, those that are there. */
static bool add_own(tt_writer *w)
{
    const tt_execs *e = w->j->execs;
    for (size_t i = 0; i < TT_COL_FIXED; i++)
        w->shown[i] = i != TT_COL_ON_HOST && i != TT_COL_SUB_DEVICE && i != TT_COL_TRACE_FW_NS &&
                      i != TT_COL_TRACE_KERNEL_NS && i != TT_COL_CALL_COUNT && i != TT_COL_CALL_DEPTH;
    for (size_t i = 0; i < e->columns.n; i++)
        if (w->perf_column[i] >= 0 && w->perf_column[i] < (int)TT_COL_FIXED)
            w->shown[w->perf_column[i]] = true;
    for (size_t i = 0; i < e->n_cycles; i++) {
        w->shown[TT_COL_TRACE_FW_NS] |= e->cycles[i].trace_fw_start != TT_NEVER;
        w->shown[TT_COL_TRACE_KERNEL_NS] |= e->cycles[i].trace_kernel_start != TT_NEVER;
    }
    w->shown[TT_COL_SUB_DEVICE] |= e->counters.sub_devices;
    w->shown[TT_COL_ON_HOST] |= e->sync.n > 0;
    for (size_t i = TT_COL_BACK_END; i < TT_COL_NOTE; i++)
        if (w->shown[i]) w->order[w->n_order++] = i;
    return true;
}

static size_t noc_columns(const tt_nocs *n)
{
    return !n->n ? 0 : n->grid.width ? TT_NOC_COLUMNS : TT_NOC_PLAIN;
}

static bool plan(tt_writer *w)
{
    const tt_host *h = w->j->host;
    /* INPUT_0's columns are there although no op has a tensor (a device log alone, messages that never came):
     * ttnn-visualizer refuses a report without them. Without OUTPUT_0's it says nothing of outputs, as it should. */
    w->n_in = 1;
    for (size_t i = 0; i < h->n_jsons; i++) {
        if (h->jsons[i].in > w->n_in) w->n_in = h->jsons[i].in;
        if (h->jsons[i].out > w->n_out) w->n_out = h->jsons[i].out;
    }
    w->first_metric = TT_COL_FIXED;
    w->first_perf = w->first_metric + (size_t)TT_METRICS * TT_METRIC_STATS;
    if (!find_calls(w) || !find_perf(w) || !tt_device_plan(w)) return false;
    find_metrics(w);
    w->first_in = w->first_perf + w->n_perf;
    w->first_out = w->first_in + (size_t)w->n_in * TT_TENSOR_FIELDS;
    w->first_call = w->first_out + (size_t)w->n_out * TT_TENSOR_FIELDS;
    w->first_noc = w->first_call + w->n_calls;
    w->first_other = w->first_noc + TT_NOC_COLUMNS;
    w->first_api = w->first_other + w->j->execs->n_riscs;
    w->n_slots = w->first_api + 2 * w->n_calls;
    for (size_t i = 0; i < w->n_calls; i++)
        w->call_slot[w->call_names[i]] = (uint32_t)(w->first_call + i);
    w->slots = calloc(w->n_slots, sizeof *w->slots);
    w->order = calloc(w->n_slots, sizeof *w->order);
    w->said = calloc(TT_SAID, sizeof *w->said);
    if (!w->slots || !w->order || !w->said) return false;
    for (size_t i = 0; i < TT_SAID; i++)
        w->said[i].json = w->said[i].own = TT_NONE;
    if (w->o->reference) {
        tt_reference_plan(w);
        return tt_said_plan(w) && tt_calls_plan(w);
    }
    size_t n_metrics = (size_t)TT_METRICS * TT_METRIC_STATS;
    return add_slots(w, 0, TT_COL_FRONT_END) && add_slots(w, w->first_in, w->first_call - w->first_in) &&
           add_slots(w, TT_COL_FRONT_END, TT_COL_BACK_END - TT_COL_FRONT_END) && add_metrics(w, n_metrics) &&
           add_slots(w, w->first_call, w->n_calls) && add_own(w) &&
           add_slots(w, w->first_other, w->j->execs->n_riscs) &&
           add_slots(w, w->first_noc, noc_columns(&w->j->execs->nocs)) &&
           add_slots(w, w->first_perf, w->n_perf) && add_slots(w, TT_COL_NOTE, 1) && tt_said_plan(w);
}

static void header_of(const tt_writer *w, size_t slot, dl_str *out)
{
    if (slot < TT_COL_FIXED) {
        dl_str_add(out, tt_column_header(slot));
    } else if (slot < w->first_perf) {
        size_t k = slot - w->first_metric;
        tt_metric_header(k / TT_METRIC_STATS, k % TT_METRIC_STATS, out);
    } else if (slot < w->first_in) {
        for (size_t i = 0; i < w->j->execs->columns.n; i++)
            if (w->perf_column[i] == (int)slot) dl_str_add(out, w->j->execs->columns.names[i]);
    } else if (slot < w->first_call) {
        bool in = slot < w->first_out;
        size_t at = slot - (in ? w->first_in : w->first_out);
        op_column_set set = w->o->reference ? OP_COLUMNS_REFERENCE : OP_COLUMNS_CURRENT;
        dl_str_fmt(out, "%s_%zu_%s", in ? "INPUT" : "OUTPUT", at / TT_TENSOR_FIELDS,
                   op_tensor_field(set, (int)(at % TT_TENSOR_FIELDS)));
    } else if (slot >= w->first_api) {
        size_t at = slot - w->first_api;
        dl_str_add(out, dl_intern_text(w->j->host->names, w->call_names[at / 2], NULL));
        dl_str_add(out, at % 2 ? " Average" : " Count");
    } else if (slot >= w->first_other) {
        dl_str_fmt(out, "DEVICE %s KERNEL DURATION [ns]", w->j->execs->riscs[slot - w->first_other]);
    } else if (slot >= w->first_noc) {
        dl_str_add(out, tt_noc_header((tt_noc_sum)(slot - w->first_noc)));
    } else {
        dl_str_add(out, dl_intern_text(w->j->host->names, w->call_names[slot - w->first_call], NULL));
        dl_str_add(out, CALL_SUFFIX);
    }
}

/* ---- Cells --- */

static void note_cell(tt_writer *w, uint16_t notes)
{
    static const struct {
        uint16_t bit;
        const char *text;
    } texts[] = {
        {TT_NOTE_NO_DEVICE, "no device data"},
        {TT_NOTE_NEVER_REPLAYED, "captured in a trace that was never replayed"},
        {TT_NOTE_MISSING_REPLAY, "no device data of this replay"},
        {TT_NOTE_NO_OP, "launch without an op of the host"},
        {TT_NOTE_NO_ZONE, "no host times"},
        {TT_NOTE_LOST, "its message is missing"},
        {TT_NOTE_CUT, "its message was cut"},
        {TT_NOTE_SHADOW, "another op has the same GLOBAL CALL COUNT"},
        {TT_NOTE_TWICE, "ran again outside of a trace"},
        {TT_NOTE_EXTRA_REPLAY, "the host does not tell of this replay"},
        {TT_NOTE_TRACE_IDS, "its RISCs disagree about the trace"},
        {TT_NOTE_ORPHAN, "cached; its full message is missing"},
    };
    if (!notes) return;
    uint32_t from = tt_cell_begin(w);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (!(notes & texts[i].bit)) continue;
        if (w->text.len > from) dl_str_add(&w->text, "; ");
        dl_str_add(&w->text, texts[i].text);
    }
    tt_cell_end(w, TT_COL_NOTE, from);
}

/* "TT_SIGNPOST: header\nmessage": what is behind the last ": ", by lines. */
static void signpost_row(tt_writer *w, const tt_signpost *p)
{
    const char *text = w->j->host->texts + p->at, *end = text + p->len, *begin = text;
    for (const char *at = text; at + 1 < end; at++)
        if (at[0] == ':' && at[1] == ' ') begin = at + 2;
    const char *feed = memchr(begin, '\n', (size_t)(end - begin));
    tt_cell_text(w, TT_COL_CODE, begin, (size_t)((feed ? feed : end) - begin));
    tt_cell_text(w, TT_COL_TYPE, "signpost", 8);
    if (feed) {
        const char *next = memchr(feed + 1, '\n', (size_t)(end - feed - 1));
        tt_cell_text(w, TT_COL_ATTRIBUTES, feed + 1, (size_t)((next ? next : end) - feed - 1));
    }
    tt_cell_u64(w, TT_COL_HOST_START, p->ns);
    w->counts->points++;
}

/* The name that the C++ report has for a launch. */
static void launch_cells(tt_writer *w, const tt_exec *x)
{
    static const char unknown[] = "(launch without op)";
    tt_execs *e = w->j->execs;
    tt_cell cells[1024];
    size_t n = 0;
    tt_cell_text(w, TT_COL_CODE, unknown, sizeof unknown - 1);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a row without an op has a launch */
    if (x->len) tt_execs_cells(e, x, cells, 1024, &n);
    for (size_t i = 0; i < n && i < e->columns.n; i++)
        if (strcmp(e->columns.names[i], "OP NAME") == 0 && cells[i].n)
            tt_cell_text(w, TT_COL_CODE, cells[i].text, cells[i].n);
    tt_cell_u64(w, TT_COL_COUNT, x->id);
    tt_cell_u64(w, TT_COL_DEVICE, x->device);
    w->counts->launches++;
}

/* tt-perf-report takes no row without a name and a type. */
static void known_cells(tt_writer *w, bool of_device)
{
    static const char unknown[] = "(message missing)";
    const char *type = of_device ? "tt_dnn_device" : "unknown";
    if (!tt_cell_of(w, TT_COL_CODE).n) tt_cell_text(w, TT_COL_CODE, unknown, sizeof unknown - 1);
    if (!tt_cell_of(w, TT_COL_TYPE).n) tt_cell_text(w, TT_COL_TYPE, type, strlen(type));
}

static uint64_t sum_of(const tt_writer *w, size_t slot)
{
    uint64_t value;
    return tt_cell_number(tt_cell_of(w, slot), &value) ? value : 0;
}

static void one_row(tt_writer *w, const tt_row *r)
{
    const tt_host *h = w->j->host;
    w->row++;
    w->row_said = NULL;
    dl_str_clear(&w->text);
    if (r->point != TT_NONE) {
        signpost_row(w, &h->signposts[r->point]);
        tt_row_write(w);
        return;
    }
    const tt_exec *x = r->exec == TT_NONE ? NULL : &w->j->execs->items[r->exec];
    if (r->op != TT_NONE)
        tt_op_cells(w, &h->ops[r->op]);
    else
        launch_cells(w, x);
    known_cells(w, x || h->ops[r->op].device != TT_NONE);
    if (r->trace != TT_NONE) tt_cell_u64(w, TT_COL_TRACE, r->trace);
    if (r->session != TT_NONE) {
        tt_cell_u64(w, TT_COL_SESSION, r->session);
        const tt_replay *replay =
            r->op == TT_NONE ? NULL : tt_host_replay(h, h->ops[r->op].device, r->trace, r->session);
        if (replay) tt_cell_u64(w, TT_COL_REPLAY_TS, replay->ns);
    }
    if (x)
        tt_device_cells(w, x);
    else if (r->op != TT_NONE && h->ops[r->op].device != TT_NONE)
        tt_sub_device_cell(w, h->ops[r->op].device, h->ops[r->op].id, r->session);
    if (r->op != TT_NONE && w->o->reference) tt_call_cells(w, r->op);
    tt_op_pm_cells(w);
    note_cell(w, r->notes);
    w->counts->kernel_ns += sum_of(w, TT_COL_KERNEL_NS);
    w->counts->fw_ns += sum_of(w, TT_COL_FW_NS);
    tt_row_write(w);
}

static void headers(tt_writer *w)
{
    dl_str name = {0};
    if (w->o->json) w->keys = calloc(w->n_order, sizeof *w->keys);
    w->no_memory |= w->o->json && !w->keys;
    for (size_t i = 0; i < w->n_order && !w->no_memory; i++) {
        dl_str_clear(&name);
        header_of(w, w->order[i], &name);
        const char *text = name.text ? name.text : "";
        if (w->o->json) {
            dl_str key = {0};
            dl_str_json(&key, text, name.len);
            dl_str_char(&key, ':');
            w->no_memory |= key.failed;
            w->keys[i] = key.text;
            continue;
        }
        if (i) dl_str_char(w->out, ',');
        dl_str_clear(&w->work);
        dl_str_utf8(&w->work, text, name.len);
        dl_str_csv(w->out, w->work.text ? w->work.text : "", w->work.len);
    }
    dl_str_add(w->out, w->o->json ? "[" : "\n");
    dl_str_free(&name);
}

static void free_writer(tt_writer *w)
{
    for (size_t i = 0; w->keys && i < w->n_order; i++)
        free(w->keys[i]);
    free(w->keys);
    tt_said_free(w);
    free(w->slots);
    free(w->order);
    free(w->perf_column);
    free(w->perf_whole);
    free(w->call_names);
    free(w->call_slot);
    free(w->call_count);
    free(w->call_depth);
    free(w->devices);
    dl_str_free(&w->text);
    dl_str_free(&w->work);
    dl_str_free(&w->other);
    dl_str_free(&w->names);
}

/* Rows stand in another order than what they are made of, but it is known: what one of the next is made of is sent for
 * while there is another to write. */
static void send_for(const tt_writer *w, size_t i)
{
    enum { ROW = 24, REST = 12, SAID = 6, CELLS = 3 };
    const tt_join *j = w->j;
    if (i + ROW < j->n) __builtin_prefetch(&j->rows[j->order[i + ROW]]);
    if (i + REST >= j->n) return;
    const tt_row *r = &j->rows[j->order[i + REST]];
    if (r->op != TT_NONE) {
        const char *op = (const char *)&j->host->ops[r->op];
        __builtin_prefetch(op);
        __builtin_prefetch(op + sizeof(tt_op) - 1);
    }
    if (r->exec != TT_NONE) {
        const char *x = (const char *)&j->execs->items[r->exec];
        __builtin_prefetch(x);
        __builtin_prefetch(x + sizeof(tt_exec) - 1);
    }
    r = &j->rows[j->order[i + SAID]];
    if (r->op != TT_NONE) {
        const char *said = (const char *)tt_said_place(w, &j->host->ops[r->op]);
        __builtin_prefetch(said);
        __builtin_prefetch(said + sizeof(tt_said) - 1);
    }
    r = &j->rows[j->order[i + CELLS]];
    if (r->op != TT_NONE) {
        const tt_said *said = tt_said_place(w, &j->host->ops[r->op]);
        for (size_t k = 0; k < said->n * sizeof *said->cells; k += 64)
            __builtin_prefetch((const char *)said->cells + k);
        for (size_t k = 0; k < said->text.len && k < 1024; k += 64)
            __builtin_prefetch(said->text.text + k);
    }
}

devlog_status tt_report_write(tt_join *j, const tt_report_options *options, dl_str *out,
                              devlog_status (*flush)(void *ctx, devlog_error *err), void *ctx,
                              tt_report_counts *counts, devlog_error *err)
{
    *counts = (tt_report_counts){0};
    tt_writer w = {.j = j, .o = options, .out = out, .counts = counts};
    devlog_status status = DEVLOG_OK;
    w.no_memory = !plan(&w);
    if (!w.no_memory) headers(&w);
    for (size_t i = 0; i < j->n && !status && !w.no_memory; i++) {
        tt_join_passed(j, i);
        send_for(&w, i);
        const tt_row *r = &j->rows[j->order[i]];
        if (!r->left_out)
            one_row(&w, r);
        else if (r->exec != TT_NONE)
            tt_device_passed(&w, &j->execs->items[r->exec]);
        if (out->len >= FLUSH_BYTES) status = flush(ctx, err);
    }
    if (options->json) dl_str_add(out, "]\n");
    if (!status && (w.no_memory || out->failed || w.text.failed || w.work.failed))
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while writing the op report");
    if (!status) status = flush(ctx, err);
    free_writer(&w);
    return status;
}
