/* FLOPs, bytes and bounds of ops: see the header. */
#include "answers/flops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/op_facts.h"
#include "answers/table_file.h"
#include "base/file.h"
#include "base/paths.h"

enum { VERSION = 1, MOST_BOARD = 1 << 20, MEMORY = 1024 };

/* From how many per cent on an op is bound by what it uses; and by what it wastes, if it is not. The first is tt-perf-report's
 * (perf_report.py @00b7324, "DRAM", "FLOP", "BOTH"). */
static const double BUSY = 65, WASTED = 35, DISPATCHED = 100;

typedef struct kind {
    const cJSON *patterns;
    formula *flops, *bytes; /* NULL: unknown */
    bool matrix;            /* the peak of the matrix unit holds */
} kind;

typedef struct book {
    table_file file;
    op_names names;
    kind *kinds;
    size_t n;
    const cJSON *types, *fidelity;
} book;

/* Ops repeat: what was worked out is kept by the texts that it was worked out from. */
typedef struct memory {
    bool used;
    uint32_t code, texts[OP_WIDE_TEXTS];
    double flops, bytes, phases;
    bool matrix;
} memory;

/* ---- The table --------------------------------------------------------------------------------------- */

/* "*" stands for anything. The last one gives way: what an earlier one would take instead, it can take, too. */
static bool matches(const char *pattern, const char *text)
{
    const char *star = NULL,
               *taken = NULL; /* behind the last "*", and of the text so much as it stands for */
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            taken = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++taken;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

static devlog_status read_formula(book *b, const cJSON *of, const char *member, formula **out,
                                  devlog_error *err)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(of, member);
    devlog_error why;
    if (!item) return DEVLOG_OK;
    if (!cJSON_IsString(item))
        return table_file_wrong(&b->file, NULL, err, "\"%s\" of an op is no text", member);
    devlog_status status = formula_parse(out, item->valuestring, op_names_find, &b->names, &why);
    return status ? table_file_wrong(&b->file, item, err, "\"%s\": %s", member, why.text) : DEVLOG_OK;
}

static devlog_status read_kind(book *b, const cJSON *of, devlog_error *err)
{
    kind *k = &b->kinds[b->n++];
    const cJSON *pattern, *engine = cJSON_GetObjectItemCaseSensitive(of, "engine");
    *k = (kind){.patterns = cJSON_GetObjectItemCaseSensitive(of, "match")};
    if (!cJSON_IsArray(k->patterns) || cJSON_GetArraySize(k->patterns) == 0)
        return table_file_wrong(
            &b->file, NULL, err,
            "op number %zu has no \"match\": a list of op codes, in which * stands for anything", b->n);
    cJSON_ArrayForEach(pattern, k->patterns)
    {
        if (!cJSON_IsString(pattern))
            return table_file_wrong(&b->file, k->patterns->child, err,
                                    "\"match\" has something in it that is no text");
    }
    k->matrix = cJSON_IsString(engine) && strcmp(engine->valuestring, "matrix") == 0;
    if (engine && !k->matrix)
        return table_file_wrong(&b->file, k->patterns->child, err,
                                "\"engine\" is \"matrix\", or is left out");
    devlog_status status = read_formula(b, of, "flops", &k->flops, err);
    return status ? status : read_formula(b, of, "bytes", &k->bytes, err);
}

static devlog_status check_numbers(const book *b, const cJSON *of, const char *member, devlog_error *err)
{
    const cJSON *item;
    if (!cJSON_IsObject(of)) return table_file_wrong(&b->file, NULL, err, "\"%s\" is missing", member);
    cJSON_ArrayForEach(item, of)
    {
        if (!cJSON_IsNumber(item) || !(item->valuedouble > 0))
            return table_file_wrong(&b->file, NULL, err, "\"%s\" of \"%s\" is no number above 0",
                                    item->string, member);
    }
    return DEVLOG_OK;
}

static devlog_status read_book(book *b, const char *path, devlog_error *err)
{
    devlog_status status = table_file_read(&b->file, path, "ops.json", VERSION, err);
    if (status) return status;
    const cJSON *ops = cJSON_GetObjectItemCaseSensitive(b->file.json, "ops"), *one;
    b->types = cJSON_GetObjectItemCaseSensitive(b->file.json, "types");
    b->fidelity = cJSON_GetObjectItemCaseSensitive(b->file.json, "fidelity");
    status = check_numbers(b, b->types, "types", err);
    if (!status) status = check_numbers(b, b->fidelity, "fidelity", err);
    if (!status && !cJSON_IsArray(ops)) status = table_file_wrong(&b->file, NULL, err, "\"ops\" is no list");
    if (status) return status;
    b->kinds = calloc((size_t)cJSON_GetArraySize(ops) + 1, sizeof *b->kinds);
    if (!b->kinds) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for a table of ops");
    cJSON_ArrayForEach(one, ops)
    {
        if (!status) status = read_kind(b, one, err);
    }
    return status;
}

static void free_book(book *b)
{
    for (size_t i = 0; i < b->n; i++) {
        formula_free(b->kinds[i].flops);
        formula_free(b->kinds[i].bytes);
    }
    free(b->kinds);
    op_names_free(&b->names);
    table_file_free(&b->file);
}

static double number_of(const cJSON *of, const char *name)
{
    const cJSON *item = *name ? cJSON_GetObjectItemCaseSensitive(of, name) : NULL;
    return item && cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static double type_bytes(const void *ctx, const char *type)
{
    return number_of(((const book *)ctx)->types, type);
}

static const kind *kind_of(const book *b, const char *code)
{
    const cJSON *pattern;
    for (size_t i = 0; i < b->n; i++)
        cJSON_ArrayForEach(pattern, b->kinds[i].patterns)
        {
            if (matches(pattern->valuestring, code)) return &b->kinds[i];
        }
    return NULL;
}

/* ---- Peaks ------------------------------------------------------------------------------------------- */

static const char *arch_of(const answer_run *r)
{
    for (size_t i = 0; i < r->n_chips; i++)
        if (*r->chips[i].arch) return r->chips[i].arch;
    for (size_t i = 0; i < r->n_ops; i++) {
        const op_wide *w = answer_wide(r, &r->ops[i]);
        if (w && w->texts[OP_ARCH]) return dl_intern_text(r->table->texts, w->texts[OP_ARCH], NULL);
    }
    return "";
}

/* A board file's member; a board without peaks, and a name that is none of a board, have none. */
static void read_peaks(flops_peaks *p, const char *name)
{
    char path[4096], file[96];
    dl_str text = {0};
    devlog_error err;
    snprintf(p->board, sizeof p->board, "%s", name);
    snprintf(file, sizeof file, "boards/%.64s.json", name);
    snprintf(p->why, sizeof p->why, "there is no board %.64s", name);
    if (strchr(name, '/') || dl_join(path, sizeof path, dl_home(), file, &err) ||
        dl_file_read(path, MOST_BOARD, &text, &err)) {
        dl_str_free(&text);
        return;
    }
    cJSON *json = cJSON_Parse(text.text ? text.text : "");
    const cJSON *peaks = cJSON_GetObjectItemCaseSensitive(json, "peaks");
    p->flops_per_cycle = number_of(peaks, "matrix_flops_per_cycle");
    p->dram = number_of(peaks, "dram_bytes_per_second");
    p->mhz = number_of(cJSON_GetObjectItemCaseSensitive(json, "clock"), "mhz");
    p->mhz_source = "board file";
    snprintf(p->why, sizeof p->why, "%s", "");
    if (!peaks) snprintf(p->why, sizeof p->why, "the file of board %.64s says no peaks", name);
    cJSON_Delete(json);
    dl_str_free(&text);
}

static void find_peaks(flops_peaks *p, const answer_run *r, const flops_options *o)
{
    const char *arch = o->board ? o->board : arch_of(r);
    *p = (flops_peaks){.flops_per_cycle = NAN, .dram = NAN, .mhz = NAN};
    if (*arch)
        read_peaks(p, arch);
    else
        snprintf(p->why, sizeof p->why, "the report does not say which architecture it is: --board does");
    for (size_t i = r->n_chips; i > 0; i--) {
        if (!isfinite(r->chips[i - 1].mhz)) continue;
        p->mhz = r->chips[i - 1].mhz;
        p->mhz_source = r->chips[i - 1].mhz_source;
    }
    if (o->dram > 0) p->dram = o->dram;
}

/* ---- Ops --------------------------------------------------------------------------------------------- */

static void work_out(const book *b, const answer_run *r, const answer_op *op, memory *m)
{
    op_tensors t;
    const op_wide *w = answer_wide(r, op);
    const kind *k = kind_of(b, answer_code(r, op));
    m->flops = m->bytes = NAN;
    m->phases = number_of(b->fidelity, dl_intern_text(r->table->texts, w->texts[OP_FIDELITY], NULL));
    m->matrix = k && k->matrix;
    if (!k) return;
    op_facts f = {
        .run = r, .op = op, .tensors = &t, .type_bytes = type_bytes, .type_ctx = b, .names = &b->names};
    const formula_value flops = k->flops ? formula_eval(k->flops, op_facts_look, &f) : (formula_value){0};
    const formula_value bytes = k->bytes ? formula_eval(k->bytes, op_facts_look, &f) : (formula_value){0};
    if (flops.kind == FORMULA_NUMBER && flops.number >= 0) m->flops = flops.number;
    if (bytes.kind == FORMULA_NUMBER && bytes.number >= 0) m->bytes = bytes.number;
}

static const memory *remembered(const book *b, const answer_run *r, const answer_op *op, memory *all)
{
    const op_wide *w = answer_wide(r, op);
    const uint32_t code = answer_row(r, op)->code;
    uint64_t hash = code;
    for (int i = 0; i < OP_WIDE_TEXTS; i++)
        hash = dl_hash_u64(hash + w->texts[i]);
    memory *m = &all[hash % MEMORY];
    if (m->used && m->code == code && memcmp(m->texts, w->texts, sizeof m->texts) == 0) return m;
    m->used = true;
    m->code = code;
    memcpy(m->texts, w->texts, sizeof m->texts);
    work_out(b, r, op, m);
    return m;
}

/* What it used most, if that was much; otherwise what it wasted most, if that was. "both" when compute and DRAM were busy. */
static const char *bound_of(const answer_run *r, const answer_op *op)
{
    const double *s = op->share;
    if (!op->chips) return answer_on_host(r, op) ? "host" : NULL;
    if (s[OP_OF_COMPUTE] >= BUSY && s[OP_OF_DRAM] >= BUSY) return "compute, DRAM";
    if (s[OP_OF_COMPUTE] >= BUSY) return "compute";
    if (s[OP_OF_DRAM] >= BUSY) return "DRAM";
    if (s[OP_OF_NOC] >= BUSY) return "NoC";
    if (s[OP_OF_DISPATCH] >= DISPATCHED) return "dispatch";
    if (s[OP_OVERHEAD] >= WASTED && !(s[OP_IMBALANCE] > s[OP_OVERHEAD])) return "launch";
    if (s[OP_IMBALANCE] >= WASTED) return "imbalance";
    return isfinite(s[OP_OF_COMPUTE]) || isfinite(s[OP_OF_DRAM]) ? "latency" : NULL;
}

static void limit(answer_run *r, answer_op *op, const flops_peaks *p, const memory *m)
{
    const op_table_row *row = answer_row(r, op);
    const op_wide *w = answer_wide(r, op);
    const answer_chip *chip = answer_chip_of(r, row->chip);
    const double mhz = chip && isfinite(chip->mhz) ? chip->mhz : p->mhz;
    const double seconds = r->cycles ? op->time / (mhz * 1e6) : op->time * 1e-9;
    const double cores = row->has & OP_HAS_CORES && row->cores ? (double)row->cores : NAN;
    double *s = op->share;
    if (!op->captured) {
        op->flops = m->flops;
        op->bytes = m->bytes;
    }
    if (seconds > 0 && m->matrix)
        s[OP_OF_COMPUTE] = 100 * m->flops / (seconds * cores * p->flops_per_cycle / m->phases * mhz * 1e6);
    if (seconds > 0) s[OP_OF_DRAM] = 100 * m->bytes / (seconds * p->dram);
    if (isfinite(w->numbers[OP_DRAM_UTIL])) s[OP_OF_DRAM] = w->numbers[OP_DRAM_UTIL];
    s[OP_OF_NOC] = w->numbers[OP_NOC_UTIL];
    if (w->numbers[OP_CORE_MAX] > 0)
        s[OP_IMBALANCE] = 100 * (1 - w->numbers[OP_CORE_AVG] / w->numbers[OP_CORE_MAX]);
    if (row->has & OP_HAS_FW && row->has & OP_HAS_KERNEL && row->fw_ns > 0 && row->fw_ns >= row->kernel_ns)
        s[OP_OVERHEAD] = 100 * (1 - (double)row->kernel_ns / (double)row->fw_ns);
    if (row->has & OP_HAS_FW && row->fw_ns > 0)
        s[OP_OF_DISPATCH] = 100 * w->numbers[OP_DISPATCH] / (double)row->fw_ns;
    op->bound = bound_of(r, op);
}

devlog_status flops_apply(answer_run *r, const flops_options *o, flops_peaks *peaks, devlog_error *err)
{
    book b = {0};
    memory *all = calloc(MEMORY, sizeof *all);
    devlog_status status =
        all ? read_book(&b, o->table, err) : dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for a table of ops");
    find_peaks(peaks, r, o);
    for (size_t i = 0; i < r->n_ops && !status && r->table->wide; i++)
        limit(r, &r->ops[i], peaks, remembered(&b, r, &r->ops[i], all));
    free_book(&b);
    free(all);
    return status;
}
