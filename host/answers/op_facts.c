/* Facts of ops and runs for formulas: see the header. */
#include "answers/op_facts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "answers/sections.h"

/* ---- Tensors ----------------------------------------------------------------------------------------- */

/* One of W, Z, Y, X as stored; *text goes behind it and a bracket. Nearly all are whole and short. */
static double take_number(const char **text)
{
    enum { EXACT = 15 }; /* digits that a double holds */
    const char *at = *text, *end = at;
    uint64_t whole = 0;
    if (!isdigit((unsigned char)*at)) return NAN;
    while (isdigit((unsigned char)*end) && end - at < EXACT)
        whole = whole * 10 + (uint64_t)(*end++ - '0');
    double value = (double)whole;
    if ((isalnum((unsigned char)*end) && *end != 'x') || *end == '.') {
        char *behind;
        value = strtod(at, &behind);
        end = behind;
    }
    if (*end == '[') {
        const char *close = strchr(end, ']');
        end = close ? close + 1 : end;
    }
    *text = end;
    return value;
}

static op_tensor *tensor_at(op_tensors *t, uint32_t number, bool output)
{
    const uint32_t most = output ? OP_MOST_OUTPUTS : OP_MOST_INPUTS;
    uint32_t *n = output ? &t->n_outputs : &t->n_inputs;
    if (number >= most) {
        t->more = true;
        return NULL;
    }
    op_tensor *tensors = output ? t->outputs : t->inputs;
    while (*n <= number)
        tensors[(*n)++] = (op_tensor){NAN, NAN, NAN, NAN, "", "", "", NAN};
    return &tensors[number];
}

/* "1x1x32x64 1x1x64x32[30] > 1x1x32x32" */
static void read_shapes(op_tensors *t, const char *text)
{
    uint32_t number = 0;
    for (bool output = false; *text;) {
        if (*text == '>' || *text == ' ') {
            if (*text == '>') number = 0;
            output |= *text++ == '>';
            continue;
        }
        double sides[4] = {NAN, NAN, NAN, NAN};
        for (int i = 0; i < 4; i++) {
            sides[i] = take_number(&text);
            if (*text == 'x') text++;
        }
        op_tensor *to = tensor_at(t, number++, output);
        if (to) {
            to->w = sides[0];
            to->z = sides[1];
            to->y = sides[2];
            to->x = sides[3];
        }
        text += strcspn(text, " >");
    }
}

typedef enum tensor_text { TENSOR_TYPE, TENSOR_LAYOUT, TENSOR_MEMORY } tensor_text;

/* "BFLOAT16 BFLOAT8_B > BFLOAT16" */
static void read_texts(op_tensors *t, const char *text, tensor_text what)
{
    uint32_t number = 0;
    for (bool output = false; *text;) {
        if (*text == '>' || *text == ' ') {
            if (*text == '>') number = 0;
            output |= *text++ == '>';
            continue;
        }
        const size_t n = strcspn(text, " >");
        op_tensor *to = tensor_at(t, number++, output);
        if (to && t->used + n + 1 <= sizeof t->room) {
            char *kept = t->room + t->used;
            memcpy(kept, text, n);
            kept[n] = '\0';
            t->used += n + 1;
            *(what == TENSOR_TYPE ? &to->type : what == TENSOR_LAYOUT ? &to->layout : &to->memory) = kept;
        }
        text += n;
    }
}

void op_tensors_read(op_tensors *t, const answer_run *r, const op_wide *w, op_type_bytes *bytes,
                     const void *ctx)
{
    t->n_inputs = t->n_outputs = 0;
    t->more = false;
    t->used = 0;
    if (!w) return;
    read_shapes(t, dl_intern_text(r->table->texts, w->texts[OP_SHAPES], NULL));
    read_texts(t, dl_intern_text(r->table->texts, w->texts[OP_TYPES], NULL), TENSOR_TYPE);
    read_texts(t, dl_intern_text(r->table->texts, w->texts[OP_LAYOUTS], NULL), TENSOR_LAYOUT);
    read_texts(t, dl_intern_text(r->table->texts, w->texts[OP_MEMORY], NULL), TENSOR_MEMORY);
    for (uint32_t i = 0; i < t->n_inputs; i++)
        t->inputs[i].type_bytes = bytes ? bytes(ctx, t->inputs[i].type) : NAN;
    for (uint32_t i = 0; i < t->n_outputs; i++)
        t->outputs[i].type_bytes = bytes ? bytes(ctx, t->outputs[i].type) : NAN;
}

static double bytes_of(const op_tensor *t)
{
    return t->w * t->z * t->y * t->x * t->type_bytes;
}

double op_tensors_bytes(const op_tensors *t, const char *memory)
{
    double sum = 0;
    if (t->more || t->n_inputs + t->n_outputs == 0) return NAN;
    for (uint32_t i = 0; i < t->n_inputs + t->n_outputs; i++) {
        const op_tensor *one = i < t->n_inputs ? &t->inputs[i] : &t->outputs[i - t->n_inputs];
        if (!*one->memory) return NAN;
        if (strstr(one->memory, memory)) sum += bytes_of(one);
    }
    return sum;
}

/* ---- Attributes -------------------------------------------------------------------------------------- */

/* Number `index` behind the attribute `name` in "'grid_size': '(x=8;y=7)'" or "in0_block_w=2"; true and false are 1 and 0. The
 * numbers of one attribute end where its brackets, its quotes or, without either, its digits end. */
static double attribute(const char *text, const char *name, unsigned index)
{
    const size_t n = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at += n) {
        const char *c = at + n;
        if (at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_')) continue;
        c += strspn(c, "' ");
        if (*c != ':' && *c != '=') continue;
        c += 1 + strspn(c + 1, "' ");
        if (strncmp(c, "true", 4) == 0) return index ? NAN : 1;
        if (strncmp(c, "false", 5) == 0) return index ? NAN : 0;
        const bool brackets = *c == '(' || *c == '{' || *c == '[';
        while (*c && *c != '\'' && *c != ')' && *c != '}' && *c != ']') {
            const bool minus = *c == '-' && isdigit((unsigned char)c[1]);
            if (!minus && !isdigit((unsigned char)*c)) {
                if (!brackets) return NAN;
                c++;
                continue;
            }
            char *end;
            const double value = strtod(c, &end);
            if (index-- == 0) return value;
            c = end;
            if (!brackets && *c != ';' && *c != ',' && *c != ' ') return NAN;
        }
        return NAN;
    }
    return NAN;
}

/* attr.NAME or attr.NAME.INDEX. */
static formula_value attribute_of(const answer_run *r, const op_wide *w, const char *name)
{
    unsigned index = 0;
    char plain[96];
    const char *dot = strrchr(name, '.');
    const size_t n = dot ? (size_t)(dot - name) : strlen(name);
    if (n >= sizeof plain) return (formula_value){0};
    memcpy(plain, name, n);
    plain[n] = '\0';
    if (dot) index = (unsigned)strtoul(dot + 1, NULL, 10);
    return formula_number(
        attribute(dl_intern_text(r->table->texts, w->texts[OP_ATTRIBUTES], NULL), plain, index));
}

/* ---- Names ------------------------------------------------------------------------------------------- */

typedef enum fact_kind {
    FACT_OP,
    FACT_NUMBER,
    FACT_TEXT,
    FACT_SHARE,
    FACT_RUN,
    FACT_RUN_TEXT,
    FACT_TENSOR,
    FACT_ATTRIBUTE
} fact_kind;

/* Facts of the op's own. */
enum {
    OWN_TIME,
    OWN_FW,
    OWN_KERNEL,
    OWN_GAP,
    OWN_HOST,
    OWN_CORES,
    OWN_CHIPS,
    OWN_SPREAD,
    OWN_FLOPS,
    OWN_BYTES,
    OWN_DRAM_BYTES,
    OWN_L1_BYTES,
    OWN_INPUTS,
    OWN_OUTPUTS,
    OWN_ON_HOST,
    OWN_AVAILABLE,
    /* texts: */
    OWN_CODE,
    OWN_CATEGORY,
    OWN_BOUND,
    OWN_ARCH,
};

static const struct {
    const char *name;
    uint8_t kind, what;
} names[] = {
    {"time", FACT_OP, OWN_TIME},
    {"fw", FACT_OP, OWN_FW},
    {"kernel", FACT_OP, OWN_KERNEL},
    {"gap", FACT_OP, OWN_GAP},
    {"host", FACT_OP, OWN_HOST},
    {"cores", FACT_OP, OWN_CORES},
    {"available", FACT_OP, OWN_AVAILABLE},
    {"chips", FACT_OP, OWN_CHIPS},
    {"spread", FACT_OP, OWN_SPREAD},
    {"flops", FACT_OP, OWN_FLOPS},
    {"bytes", FACT_OP, OWN_BYTES},
    {"dram_bytes", FACT_OP, OWN_DRAM_BYTES},
    {"l1_bytes", FACT_OP, OWN_L1_BYTES},
    {"inputs", FACT_OP, OWN_INPUTS},
    {"outputs", FACT_OP, OWN_OUTPUTS},
    {"on_host", FACT_OP, OWN_ON_HOST},
    {"code", FACT_OP, OWN_CODE},
    {"category", FACT_OP, OWN_CATEGORY},
    {"bound", FACT_OP, OWN_BOUND},
    {"arch", FACT_OP, OWN_ARCH},
    {"fidelity", FACT_TEXT, OP_FIDELITY},
    {"attributes", FACT_TEXT, OP_ATTRIBUTES},
    {"compute_source", FACT_TEXT, OP_COMPUTE_SOURCE},
    {"dm_source", FACT_TEXT, OP_DM_SOURCE},
    {"core_min", FACT_NUMBER, OP_CORE_MIN},
    {"core_max", FACT_NUMBER, OP_CORE_MAX},
    {"core_avg", FACT_NUMBER, OP_CORE_AVG},
    {"first_to_last_start", FACT_NUMBER, OP_FIRST_TO_LAST},
    {"launches", FACT_NUMBER, OP_LAUNCHES},
    {"brisc", FACT_NUMBER, OP_RISC},
    {"ncrisc", FACT_NUMBER, OP_RISC + 1},
    {"trisc0", FACT_NUMBER, OP_RISC + 2},
    {"trisc1", FACT_NUMBER, OP_RISC + 3},
    {"trisc2", FACT_NUMBER, OP_RISC + 4},
    {"cb_wait", FACT_NUMBER, OP_CB_WAIT},
    {"cb_reserve", FACT_NUMBER, OP_CB_RESERVE},
    {"dispatch", FACT_NUMBER, OP_DISPATCH},
    {"go_wait", FACT_NUMBER, OP_GO_WAIT},
    {"cache_hit", FACT_NUMBER, OP_CACHE_HIT},
    {"pm_ideal", FACT_NUMBER, OP_PM_IDEAL},
    {"pm_compute", FACT_NUMBER, OP_PM_COMPUTE},
    {"pm_bandwidth", FACT_NUMBER, OP_PM_BANDWIDTH},
    {"pm_fpu", FACT_NUMBER, OP_PM_FPU_UTIL},
    {"noc_util", FACT_NUMBER, OP_NOC_UTIL},
    {"dram_util", FACT_NUMBER, OP_DRAM_UTIL},
    {"noc_congestion", FACT_NUMBER, OP_NPE_IMPACT},
    {"noc_bytes", FACT_NUMBER, OP_NOC_BYTES},
    {"noc_read_bytes", FACT_NUMBER, OP_NOC_READ_BYTES},
    {"noc_write_bytes", FACT_NUMBER, OP_NOC_WRITE_BYTES},
    {"noc0_bytes", FACT_NUMBER, OP_NOC_0_BYTES},
    {"noc1_bytes", FACT_NUMBER, OP_NOC_1_BYTES},
    {"noc_transfers", FACT_NUMBER, OP_NOC_TRANSFERS},
    {"noc_read_wait", FACT_NUMBER, OP_NOC_READ_WAIT},
    {"noc_write_wait", FACT_NUMBER, OP_NOC_WRITE_WAIT},
    {"noc_link_bytes", FACT_NUMBER, OP_NOC_LINK_BYTES},
    {"sfpu_util", FACT_NUMBER, OP_SFPU_UTIL},
    {"fpu_util", FACT_NUMBER, OP_FPU_UTIL},
    {"math_util", FACT_NUMBER, OP_MATH_UTIL},
    {"l1_unpack_blocked", FACT_NUMBER, OP_L1_UNPACK_BLOCKED},
    {"l1_pack_blocked", FACT_NUMBER, OP_L1_PACK_BLOCKED},
    {"of_compute", FACT_SHARE, OP_OF_COMPUTE},
    {"of_dram", FACT_SHARE, OP_OF_DRAM},
    {"of_noc", FACT_SHARE, OP_OF_NOC},
    {"imbalance", FACT_SHARE, OP_IMBALANCE},
    {"overhead", FACT_SHARE, OP_OVERHEAD},
    {"of_dispatch", FACT_SHARE, OP_OF_DISPATCH},
    {"run.wall", FACT_RUN, RUN_WALL},
    {"run.busy", FACT_RUN, RUN_BUSY},
    {"run.gaps", FACT_RUN, RUN_GAPS},
    {"run.kernels", FACT_RUN, RUN_KERNELS},
    {"run.compile", FACT_RUN, RUN_COMPILE},
    {"run.host", FACT_RUN, RUN_HOST},
    {"run.ops", FACT_RUN, RUN_OPS},
    {"run.device_ops", FACT_RUN, RUN_DEVICE_OPS},
    {"run.host_ops", FACT_RUN, RUN_HOST_OPS},
    {"run.timeless", FACT_RUN, RUN_TIMELESS},
    {"run.chips", FACT_RUN, RUN_CHIPS},
    {"run.chip_imbalance", FACT_RUN, RUN_CHIP_IMBALANCE},
    {"run.markers", FACT_RUN, RUN_MARKERS},
    {"run.markers_least", FACT_RUN, RUN_MARKERS_LEAST},
    {"run.markers_why", FACT_RUN_TEXT, RUN_MARKERS_WHY},
    {"run.stalls", FACT_RUN, RUN_STALLS},
    {"run.unpack_waits", FACT_RUN, RUN_UNPACK_WAITS},
    {"run.transfers", FACT_RUN, RUN_TRANSFERS},
    {"run.transfer_bytes", FACT_RUN, RUN_TRANSFER_BYTES},
    {"run.uneven", FACT_RUN, RUN_UNEVEN},
    {"run.uneven_at", FACT_RUN_TEXT, RUN_UNEVEN_AT},
    {"run.small_at", FACT_RUN_TEXT, RUN_SMALL_AT},
    {"run.one_tile", FACT_RUN, RUN_ONE_TILE},
    {"run.one_tile_at", FACT_RUN_TEXT, RUN_ONE_TILE_AT},
    {"run.one_tile_cores", FACT_RUN, RUN_ONE_TILE_CORES},
    {"run.noc_waits", FACT_RUN, RUN_NOC_WAITS},
    {"run.dram_banks", FACT_RUN, RUN_DRAM_BANKS},
    {"run.dram_peak", FACT_RUN, RUN_DRAM_PEAK},
    {"run.dram_bank_peak", FACT_RUN, RUN_DRAM_BANK_PEAK},
    {"run.dram_by", FACT_RUN_TEXT, RUN_DRAM_BY},
    {"run.lost", FACT_RUN, RUN_LOST},
    {"run.clock_error", FACT_RUN, RUN_CLOCK_ERROR},
};

static const char *const tensor_facts[] = {"w",     "z",    "y",      "x",      "elements",
                                           "bytes", "type", "layout", "memory", NULL};

static uint32_t id_of(fact_kind kind, uint32_t what)
{
    return (uint32_t)kind << 24 | what;
}

/* "in0.y", "out1.memory" */
static bool find_tensor(const char *name, size_t n, uint32_t *id)
{
    const bool output = n > 3 && memcmp(name, "out", 3) == 0;
    const size_t at = output ? 3 : 2;
    if (!output && !(n > 2 && memcmp(name, "in", 2) == 0)) return false;
    if (n < at + 3 || !isdigit((unsigned char)name[at]) || name[at + 1] != '.') return false;
    const uint32_t number = (uint32_t)(name[at] - '0');
    if (number >= (output ? (uint32_t)OP_MOST_OUTPUTS : (uint32_t)OP_MOST_INPUTS)) return false;
    for (uint32_t i = 0; tensor_facts[i]; i++) {
        if (strlen(tensor_facts[i]) != n - at - 2 || memcmp(tensor_facts[i], name + at + 2, n - at - 2) != 0)
            continue;
        *id = id_of(FACT_TENSOR, (uint32_t)output << 16 | number << 8 | i);
        return true;
    }
    return false;
}

/* NAME or NAME.INDEX: a name without letters would be found everywhere, and a word is no index. */
static bool names_attribute(const char *name, size_t n)
{
    const char *dot = memchr(name, '.', n);
    const size_t digits = dot ? n - (size_t)(dot + 1 - name) : 0;
    return dot != name && (!dot || (digits > 0 && digits <= 4 && strspn(dot + 1, "0123456789") >= digits));
}

static bool find_attribute(op_names *own, const char *name, size_t n, uint32_t *id)
{
    if (n <= 5 || memcmp(name, "attr.", 5) != 0 || !names_attribute(name + 5, n - 5)) return false;
    for (size_t i = 0; i < own->n; i++)
        if (strlen(own->attributes[i]) == n - 5 && memcmp(own->attributes[i], name + 5, n - 5) == 0) {
            *id = id_of(FACT_ATTRIBUTE, (uint32_t)i);
            return true;
        }
    char **bigger = realloc(own->attributes, (own->n + 1) * sizeof *bigger);
    if (!bigger) return false;
    own->attributes = bigger;
    bigger[own->n] = strndup(name + 5, n - 5);
    if (!bigger[own->n]) return false;
    *id = id_of(FACT_ATTRIBUTE, (uint32_t)own->n++);
    return true;
}

bool op_names_find(void *ctx, const char *name, size_t n, uint32_t *id)
{
    op_names *own = ctx;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i].name) != n || memcmp(names[i].name, name, n) != 0) continue;
        *id = id_of((fact_kind)names[i].kind, names[i].what);
        return !own->of_run || names[i].kind == FACT_RUN || names[i].kind == FACT_RUN_TEXT;
    }
    return !own->of_run && (find_tensor(name, n, id) || find_attribute(own, name, n, id));
}

void op_names_free(op_names *n)
{
    for (size_t i = 0; i < n->n; i++)
        free(n->attributes[i]);
    free(n->attributes);
    *n = (op_names){0};
}

/* ---- Values ------------------------------------------------------------------------------------------ */

static formula_value look_at_tensor(const op_tensors *t, uint32_t what)
{
    const bool output = what >> 16 & 1;
    const uint32_t number = what >> 8 & 0xff;
    if (number >= (output ? t->n_outputs : t->n_inputs)) return (formula_value){0};
    const op_tensor *one = output ? &t->outputs[number] : &t->inputs[number];
    switch (what & 0xff) {
    case 0: return formula_number(one->w);
    case 1: return formula_number(one->z);
    case 2: return formula_number(one->y);
    case 3: return formula_number(one->x);
    case 4: return formula_number(one->w * one->z * one->y * one->x);
    case 5: return formula_number(bytes_of(one));
    case 6: return formula_text(one->type);
    case 7: return formula_text(one->layout);
    default: return formula_text(one->memory);
    }
}

static const op_tensors *tensors_of(op_facts *f)
{
    if (f->tensors && !f->tensors_read)
        op_tensors_read(f->tensors, f->run, answer_wide(f->run, f->op), f->type_bytes, f->type_ctx);
    f->tensors_read = true;
    return f->tensors;
}

static const char *category_of(op_facts *f, const answer_op *op)
{
    enum { PLACES = sizeof f->categories.of / sizeof f->categories.of[0] };
    const uint32_t code = answer_row(f->run, op)->code, at = code % PLACES;
    if (f->categories.of[at].code != code || !f->categories.of[at].category) {
        f->categories.of[at].code = code;
        f->categories.of[at].category = op_category(answer_code(f->run, op));
    }
    return f->categories.of[at].category;
}

static formula_value look_at_own(op_facts *f, uint32_t what)
{
    const answer_op *op = f->op;
    const op_table_row *row = answer_row(f->run, op);
    /* Rules speak of nanoseconds. */
    if (f->run->cycles && (what <= OWN_GAP || what == OWN_SPREAD)) return (formula_value){0};
    switch (what) {
    case OWN_TIME: return formula_number(op->time);
    case OWN_FW: return formula_number(row->has & OP_HAS_FW ? (double)row->fw_ns : NAN);
    case OWN_KERNEL: return formula_number(row->has & OP_HAS_KERNEL ? (double)row->kernel_ns : NAN);
    case OWN_GAP: return formula_number(answer_is_first(f->run, op) ? NAN : op->gap);
    case OWN_HOST: return formula_number(op->host);
    case OWN_CORES: return formula_number(row->has & OP_HAS_CORES ? (double)row->cores : NAN);
    case OWN_CHIPS: return formula_number(op->chips);
    case OWN_SPREAD: return formula_number(op->spread);
    case OWN_FLOPS: return formula_number(op->flops);
    case OWN_BYTES: return formula_number(op->bytes);
    case OWN_DRAM_BYTES: return formula_number(f->tensors ? op_tensors_bytes(tensors_of(f), "DRAM") : NAN);
    case OWN_L1_BYTES: return formula_number(f->tensors ? op_tensors_bytes(tensors_of(f), "L1") : NAN);
    case OWN_INPUTS: return formula_number(f->tensors ? tensors_of(f)->n_inputs : NAN);
    case OWN_OUTPUTS: return formula_number(f->tensors ? tensors_of(f)->n_outputs : NAN);
    case OWN_ON_HOST: return formula_number(answer_on_host(f->run, op));
    case OWN_CODE: return formula_text(answer_code(f->run, op));
    case OWN_CATEGORY: return formula_text(category_of(f, op));
    case OWN_BOUND: return formula_text(op->bound);
    default: break;
    }
    const answer_chip *chip = answer_chip_of(f->run, row->chip);
    const op_wide *w = answer_wide(f->run, op);
    if (what == OWN_AVAILABLE)
        return formula_number(chip && isfinite(chip->available) ? chip->available : w->numbers[OP_AVAILABLE]);
    return formula_text(chip && *chip->arch ? chip->arch
                                            : dl_intern_text(f->run->table->texts, w->texts[OP_ARCH], NULL));
}

formula_value op_facts_look(void *ctx, uint32_t id)
{
    op_facts *f = ctx;
    const uint32_t what = id & 0xffffff;
    const fact_kind kind = (fact_kind)(id >> 24);
    if (kind == FACT_RUN) return formula_number(f->of_run ? f->of_run->values[what] : NAN);
    if (kind == FACT_RUN_TEXT) return formula_text(f->of_run ? f->of_run->texts[what] : NULL);
    if (!f->op) return (formula_value){0};
    const op_wide *w = answer_wide(f->run, f->op);
    switch (kind) {
    case FACT_OP: return look_at_own(f, what);
    case FACT_NUMBER: return formula_number(w->numbers[what]);
    case FACT_TEXT: return formula_text(dl_intern_text(f->run->table->texts, w->texts[what], NULL));
    case FACT_SHARE: return formula_number(f->op->share[what]);
    case FACT_TENSOR: return f->tensors ? look_at_tensor(tensors_of(f), what) : (formula_value){0};
    default: return attribute_of(f->run, w, f->names->attributes[what]);
    }
}

bool op_facts_lack(void *ctx, uint32_t id)
{
    const op_facts *f = ctx;
    return (fact_kind)(id >> 24) == FACT_NUMBER && !f->run->table->has_wide[id & 0xffffff];
}
