/* An op report read back. */
#include "ops/op_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/round.h"
#include "decode/input.h"
#include "ops/op_columns.h"

enum {
    MAX_COLUMNS = 4096,
    BLOCK = 256 * 1024,
    MAX_TEXTS = 4 * 1024 * 1024,
    MAX_TEXT_BYTES = 256 * 1024 * 1024,
    MAX_SHAPE = 4000,
    DURATIONS = OP_HAS_FW | OP_HAS_KERNEL | OP_HAS_GAP | OP_HAS_HOST | OP_HAS_IDLE,
    SHAPE_HAS_OUTPUT = 128 /* in op_table_more.has, while a row is read */
};

typedef enum wanted {
    W_NONE,
    W_CODE,
    W_TYPE,
    W_ID,
    W_CHIP,
    W_CORES,
    W_FW,
    W_KERNEL,
    W_GAP,
    W_HOST,
    W_HOST_START,
    W_HOST_END,
    W_THREAD,
    W_IDLE,
    W_AICLK,
    W_NOTE,
    W_RISC, /* and the others behind it */
    W_FW_START = W_RISC + OP_TABLE_RISCS,
    W_FW_END,
    W_SHAPE,
    W_OUTPUT, /* the first number of an output's shape */
    W_INPUT,  /* of an input's */
    WANTED,
} wanted;

static const struct {
    const char *name;
    uint8_t what;
} names[] = {
    {"OP CODE", W_CODE},
    {"OP TYPE", W_TYPE},
    {"GLOBAL CALL COUNT", W_ID},
    {"DEVICE ID", W_CHIP},
    {"CORE COUNT", W_CORES},
    {"DEVICE FW DURATION [ns]", W_FW},
    {"DEVICE KERNEL DURATION [ns]", W_KERNEL},
    {"OP TO OP LATENCY [ns]", W_GAP},
    {"HOST DURATION [ns]", W_HOST},
    {"HOST START TS", W_HOST_START},
    {"HOST END TS", W_HOST_END},
    {"HOST THREAD", W_THREAD},
    {"DEVICE IDLE BETWEEN LAUNCHES [ns]", W_IDLE},
    {"DEVICE AICLK [MHz]", W_AICLK},
    {"NOTE", W_NOTE},
};

const char *const op_table_riscs[OP_TABLE_RISCS] = {"BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2", "ERISC"};

typedef enum details { PLAIN, MORE, WIDE } details;

enum { TENSOR_TEXTS = OP_WIDE_TEXTS - OP_SHAPES };

typedef struct reader {
    op_table *t;
    details wants;
    op_table_more more;
    dl_str shape;
    op_wide wide;
    dl_str tensors[TENSOR_TEXTS]; /* types, layouts, memory; that of shapes is `shape` */
    bool outputs[TENSOR_TEXTS];   /* there has been one */
    uint8_t column[MAX_COLUMNS];  /* wanted */
    op_wide_column wide_column[MAX_COLUMNS];
    size_t n_columns; /* 0: the header has not come yet */
    bool seen[WANTED];
    uint64_t sums[WANTED]; /* of durations */
    uint16_t last_cell;    /* the bit that the last cell has set */
    bool at_end;           /* of a file that does not end with a line end */
    size_t cell;
    bool any; /* the row in hand has a cell that is not empty */
    op_table_row row;
    bool no_memory, no_header;
} reader;

static void detail(op_table *t, uint64_t line, const char *column, const char *text, size_t n)
{
    int at = 0;
    while (at < OP_TABLE_DETAILS && t->details[at])
        at++;
    if (at == OP_TABLE_DETAILS) return;
    dl_str all = {0};
    dl_str_shown(&all, t->name, strlen(t->name));
    dl_str_fmt(&all, ", row %llu: %s is '", (unsigned long long)line, column);
    dl_str_shown(&all, text, n < 60 ? n : 60);
    dl_str_char(&all, '\'');
    t->details[at] = all.text;
}

/* A number, possibly with decimals, which are rounded. */
static bool number(const char *text, size_t n, bool *negative, uint64_t *out)
{
    size_t i = 0;
    *negative = n && text[0] == '-';
    i += *negative;
    uint64_t value = 0;
    size_t digits = 0;
    for (; i < n && text[i] >= '0' && text[i] <= '9'; i++, digits++) {
        unsigned digit = (unsigned)(text[i] - '0');
        if (value > (UINT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    if (digits && i < n && text[i] == '.') {
        bool up = i + 1 < n && text[i + 1] >= '5' && text[i + 1] <= '9';
        for (i++; i < n && text[i] >= '0' && text[i] <= '9'; i++)
            digits++;
        value += up;
    } else if (digits && i < n && (text[i] == 'e' || text[i] == 'E') && n < 40) {
        char copy[40];
        memcpy(copy, text, n);
        copy[n] = 0;
        char *end;
        double real = strtod(copy, &end);
        if (*end || !(real > -9e18 && real < 9e18)) return false;
        *out = dl_u64_of(fabs(real));
        return true;
    }
    *out = value;
    return digits && i == n;
}

/* INPUT_0_W, INPUT_0_W_PAD[LOGICAL], OUTPUT_1_X and so on; other columns of tensors are no shape. */
static uint8_t shape_column(const char *text, size_t n)
{
    const bool out = n > 7 && memcmp(text, "OUTPUT_", 7) == 0;
    if (!out && !(n > 6 && memcmp(text, "INPUT_", 6) == 0)) return W_NONE;
    size_t at = out ? 7 : 6;
    while (at < n && text[at] >= '0' && text[at] <= '9')
        at++;
    if (at + 2 > n || text[at] != '_' || !strchr("WZYX", text[at + 1])) return W_NONE;
    if (at + 2 < n && !(n - at > 6 && memcmp(text + at + 2, "_PAD", 4) == 0)) return W_NONE;
    return text[at + 1] != 'W' ? W_SHAPE : out ? W_OUTPUT : W_INPUT;
}

static uint8_t more_column(const char *text, size_t n)
{
    static const char start[] = "DEVICE FW START CYCLE", end[] = "DEVICE FW END CYCLE";
    if (n == sizeof start - 1 && memcmp(text, start, n) == 0) return W_FW_START;
    if (n == sizeof end - 1 && memcmp(text, end, n) == 0) return W_FW_END;
    static const char before[] = "DEVICE ", behind[] = " KERNEL DURATION [ns]";
    for (int i = 0; i < OP_TABLE_RISCS; i++) {
        const size_t risc = strlen(op_table_riscs[i]);
        if (n == sizeof before - 1 + risc + sizeof behind - 1 &&
            memcmp(text, before, sizeof before - 1) == 0 &&
            memcmp(text + sizeof before - 1, op_table_riscs[i], risc) == 0 &&
            memcmp(text + sizeof before - 1 + risc, behind, sizeof behind - 1) == 0)
            return (uint8_t)(W_RISC + i);
    }
    return shape_column(text, n);
}

/* A number of a shape: 32, or 32[30] where it is padded. */
static void take_shape(reader *r, uint8_t what, const char *text, size_t n)
{
    if (r->shape.len > MAX_SHAPE) return;
    if (what == W_SHAPE)
        dl_str_char(&r->shape, 'x');
    else if (r->shape.len)
        dl_str_char(&r->shape, ' ');
    if (what == W_OUTPUT && !(r->more.has & SHAPE_HAS_OUTPUT)) {
        dl_str_add(&r->shape, "> ");
        r->more.has |= SHAPE_HAS_OUTPUT;
    }
    const char *bracket = memchr(text, '[', n);
    const size_t padded = bracket ? (size_t)(bracket - text) : n;
    const bool same = bracket && n == 2 * padded + 2 && memcmp(text, bracket + 1, padded) == 0;
    dl_str_add_n(&r->shape, text, same ? padded : n);
}

static void take_risc(reader *r, uint8_t what, const char *text, size_t n)
{
    bool negative;
    uint64_t value;
    if (!number(text, n, &negative, &value) || negative) {
        r->t->bad_cells++;
        detail(r->t, r->t->lines + 1, op_table_riscs[what - W_RISC], text, n);
        return;
    }
    r->more.risc_ns[what - W_RISC] = value;
    r->more.has |= (uint8_t)(1u << (what - W_RISC));
}

/* Cycles, by which launches are found only: what is no number is none. */
static void take_firmware(double *to, const char *text, size_t n)
{
    double value;
    if (op_wide_real(text, n, &value)) *to = value;
}

/* Durations that do not fit together into 64 bits would add up to a wrong total, or to a right one. */
static bool may_add(uint64_t *sum, uint64_t value)
{
    if (value > (uint64_t)INT64_MAX - *sum) return false;
    *sum += value;
    return true;
}

static void take_number(reader *r, uint8_t what, const char *text, size_t n)
{
    static const uint16_t bits[WANTED] = {[W_ID] = OP_HAS_ID,
                                          [W_CHIP] = OP_HAS_CHIP,
                                          [W_CORES] = OP_HAS_CORES,
                                          [W_FW] = OP_HAS_FW,
                                          [W_KERNEL] = OP_HAS_KERNEL,
                                          [W_GAP] = OP_HAS_GAP,
                                          [W_HOST] = OP_HAS_HOST,
                                          [W_HOST_START] = OP_HAS_HOST_START,
                                          [W_HOST_END] = OP_HAS_HOST_END,
                                          [W_THREAD] = OP_HAS_THREAD,
                                          [W_IDLE] = OP_HAS_IDLE};
    bool negative;
    uint64_t value;
    bool good = number(text, n, &negative, &value) && (!negative || what == W_GAP);
    if ((what == W_CHIP || what == W_CORES || what == W_THREAD) && good) good = value <= UINT32_MAX;
    if (good && bits[what] & DURATIONS) good = may_add(&r->sums[what], value);
    if (!good) {
        r->t->bad_cells++;
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            if (names[i].what == what) detail(r->t, r->t->lines + 1, names[i].name, text, n);
        return;
    }
    op_table_row *row = &r->row;
    row->has |= bits[what];
    r->last_cell = bits[what];
    switch ((wanted)what) {
    case W_ID: row->id = value; break;
    case W_CHIP: row->chip = (uint32_t)value; break;
    case W_CORES: row->cores = (uint32_t)value; break;
    case W_FW: row->fw_ns = value; break;
    case W_KERNEL: row->kernel_ns = value; break;
    case W_GAP: row->gap_ns = negative ? -(int64_t)value : (int64_t)value; break;
    case W_HOST: row->host_ns = value; break;
    case W_HOST_START: row->host_start = value; break;
    case W_HOST_END: row->host_end = value; break;
    case W_THREAD: row->thread = (uint32_t)value; break;
    case W_IDLE: row->idle_ns = value; break;
    case W_AICLK: op_aiclk_add(&r->t->aiclk, value); break;
    default: break;
    }
}

static void header_cell(reader *r, const char *text, size_t n)
{
    uint8_t what = W_NONE;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i].name) == n && memcmp(names[i].name, text, n) == 0) what = names[i].what;
    if (!what && r->wants == MORE) what = more_column(text, n);
    if (!what && r->wants == WIDE) what = shape_column(text, n);
    if (r->wants == WIDE && r->cell < MAX_COLUMNS) r->wide_column[r->cell] = op_wide_column_of(text, n);
    if (what && what < W_SHAPE && r->seen[what]) what = W_NONE; /* a column named twice: the first is used */
    if (what) r->seen[what] = true;
    if (r->cell < MAX_COLUMNS) r->column[r->cell] = what;
}

/* Beside the row. What is no number here is missing: columns that op_table_row has too are judged there. */
static void take_wide(reader *r, op_wide_column c, const char *text, size_t n)
{
    double value;
    if (n == 1 && text[0] == '-') return;
    if (c.kind == OP_WIDE_TEXT) {
        r->wide.texts[c.what] = dl_intern_add(r->t->texts, text, n);
        r->no_memory |= r->wide.texts[c.what] == DL_NO_STRING;
    } else if (c.kind == OP_WIDE_TENSOR) {
        dl_str *to = &r->tensors[c.what - OP_SHAPES];
        bool *outputs = &r->outputs[c.what - OP_SHAPES];
        if (to->len > MAX_SHAPE) return;
        if (to->len) dl_str_char(to, ' ');
        if (c.output && !*outputs) dl_str_add(to, "> ");
        *outputs |= c.output;
        dl_str_add_n(to, text, n);
    } else if (op_wide_real(text, n, &value)) {
        r->wide.numbers[c.what] = value;
        r->t->has_wide[c.what] = true;
    }
}

static void on_cell(void *ctx, const char *text, size_t n)
{
    reader *r = ctx;
    if (r->n_columns == 0) {
        /* A byte order mark is no part of the first name. */
        if (r->cell == 0 && n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
            text += 3;
            n -= 3;
        }
        header_cell(r, text, n);
        r->cell++;
        return;
    }
    const size_t at = r->cell++;
    r->last_cell = 0;
    if (n == 0) return;
    r->any = true;
    const bool named = at < r->n_columns;
    uint8_t what = named ? r->column[at] : W_NONE;
    const op_wide_column wide = named ? r->wide_column[at] : (op_wide_column){0};
    if (wide.kind) take_wide(r, wide, text, n);
    if (what == W_NONE) return;
    if (what == W_NOTE) {
        r->t->instructions |= memmem(text, n, OP_SAYS_INSTRUCTIONS, strlen(OP_SAYS_INSTRUCTIONS)) != NULL;
        return;
    }
    if (what == W_CODE || what == W_TYPE) {
        uint32_t id = dl_intern_add(r->t->texts, text, n);
        if (id == DL_NO_STRING) {
            r->no_memory = true;
            return;
        }
        *(what == W_CODE ? &r->row.code : &r->row.type) = id;
        if (what == W_TYPE && n == 8 && memcmp(text, "signpost", 8) == 0) r->row.has |= OP_IS_POINT;
        return;
    }
    if (n == 1 && text[0] == '-') return; /* no device data */
    if (what >= W_SHAPE) {
        take_shape(r, what, text, n);
        return;
    }
    if (what >= W_FW_START) {
        take_firmware(what == W_FW_START ? &r->more.fw_start : &r->more.fw_end, text, n);
        return;
    }
    if (what >= W_RISC) {
        take_risc(r, what, text, n);
        return;
    }
    take_number(r, what, text, n);
}

/* The same of all else. */
static void keep_wide(reader *r)
{
    op_table *t = r->t;
    r->wide.texts[OP_SHAPES] = r->shape.len ? dl_intern_add(t->texts, r->shape.text, r->shape.len) : 0;
    bool failed = r->shape.failed || r->wide.texts[OP_SHAPES] == DL_NO_STRING;
    for (size_t i = 1; i < TENSOR_TEXTS; i++) {
        const dl_str *s = &r->tensors[i];
        uint32_t *to = &r->wide.texts[OP_SHAPES + i];
        *to = s->len ? dl_intern_add(t->texts, s->text, s->len) : 0;
        failed |= s->failed || *to == DL_NO_STRING;
    }
    r->no_memory |= failed;
    t->wide[t->n] = r->wide;
}

/* Keeps what was read of the row beside it. */
static void keep_more(reader *r)
{
    op_table *t = r->t;
    r->more.has &= (uint8_t)~SHAPE_HAS_OUTPUT;
    r->more.shape = r->shape.len ? dl_intern_add(t->texts, r->shape.text, r->shape.len) : 0;
    r->no_memory |= r->more.shape == DL_NO_STRING || r->shape.failed;
    t->more[t->n] = r->more;
}

static bool grow(op_table *t, details wants)
{
    size_t cap = t->cap ? t->cap * 2 : 1024;
    op_table_row *grown = realloc(t->rows, cap * sizeof *grown);
    if (grown) t->rows = grown;
    op_table_more *more = grown && wants == MORE ? realloc(t->more, cap * sizeof *more) : NULL;
    if (more) t->more = more;
    op_wide *wide = grown && wants == WIDE ? realloc(t->wide, cap * sizeof *wide) : NULL;
    if (wide) t->wide = wide;
    if (!grown || (wants == MORE && !more) || (wants == WIDE && !wide)) return false;
    t->cap = cap;
    return true;
}

static devlog_status keep_name(op_table *t, const char *name, devlog_error *err)
{
    *t = (op_table){.name = strdup(name)};
    return t->name ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

devlog_status op_table_new(op_table *t, const char *name, devlog_error *err)
{
    devlog_status status = keep_name(t, name, err);
    if (!status) t->texts = dl_intern_new(MAX_TEXTS, MAX_TEXT_BYTES);
    memset(t->has_wide, true, sizeof t->has_wide); /* whoever fills the rows knows */
    return status || t->texts ? status : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

bool op_table_add(op_table *t)
{
    if (t->n == t->cap && !grow(t, WIDE)) return false;
    t->rows[t->n] = (op_table_row){0};
    op_wide_clear(&t->wide[t->n++]);
    return true;
}

static void on_row(void *ctx)
{
    reader *r = ctx;
    op_table *t = r->t;
    t->lines++;
    if (r->n_columns == 0) {
        r->n_columns = r->cell < MAX_COLUMNS ? r->cell : MAX_COLUMNS;
        r->no_header = !r->seen[W_CODE] || !(r->seen[W_FW] || r->seen[W_KERNEL] || r->seen[W_HOST]);
    } else if (r->any) {
        if (r->at_end && (r->last_cell || r->cell < r->n_columns)) {
            t->cut = true;
            r->row.has &= (uint16_t)~r->last_cell; /* half a number, perhaps */
        } else if (r->cell < r->n_columns) {
            t->short_rows++;
        }
        if (r->cell > r->n_columns) t->long_rows++;
        if (t->n == t->cap && !grow(t, r->wants)) r->no_memory = true;
        r->row.line = t->lines;
        if (t->n < t->cap && r->wants == MORE) keep_more(r);
        if (t->n < t->cap && r->wants == WIDE) keep_wide(r);
        if (t->n < t->cap) t->rows[t->n++] = r->row;
    }
    r->more = (op_table_more){.fw_start = NAN, .fw_end = NAN};
    dl_str_clear(&r->shape);
    if (r->wants == WIDE) {
        op_wide_clear(&r->wide);
        for (size_t i = 0; i < TENSOR_TEXTS; i++) {
            dl_str_clear(&r->tensors[i]);
            r->outputs[i] = false;
        }
    }
    r->row = (op_table_row){0};
    r->cell = 0;
    r->any = false;
}

static devlog_status read_all(op_table *t, dl_input *in, details wants, devlog_error *err)
{
    reader *r = calloc(1, sizeof *r);
    char *block = malloc(BLOCK);
    dl_csv csv = {.cell = on_cell, .row = on_row, .ctx = r};
    devlog_status status = DEVLOG_OK;
    char last = '\n';
    t->texts = dl_intern_new(MAX_TEXTS, MAX_TEXT_BYTES);
    if (!r || !block || !t->texts) {
        free(r);
        free(block);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    }
    r->t = t;
    r->wants = wants;
    for (;;) {
        size_t got;
        status = dl_input_read(in, block, BLOCK, &got, err);
        if (status || got == 0) break;
        dl_csv_feed(&csv, block, got);
        r->no_memory |= csv.text.failed;
        last = block[got - 1];
        if (r->no_header || r->no_memory) break;
    }
    r->at_end = last != '\n' && last != '\r';
    dl_csv_end(&csv);
    r->no_memory |= csv.text.failed;
    dl_csv_free(&csv);
    t->has_fw = r->seen[W_FW];
    t->has_kernel = r->seen[W_KERNEL];
    if (!status && r->no_memory)
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "%s: no memory for more than %zu ops", t->name, t->n);
    else if (!status && r->n_columns == 0)
        status = dl_fail(err, DEVLOG_ERR_FORMAT, "%s is empty", t->name);
    else if (!status && r->no_header)
        status = dl_fail(err, DEVLOG_ERR_FORMAT,
                         "%s: its first line has no column '%s'; is it an op report "
                         "(ops_perf_results.csv)?",
                         t->name, r->seen[W_CODE] ? "DEVICE KERNEL DURATION [ns]" : "OP CODE");
    free(block);
    dl_str_free(&r->shape);
    for (size_t i = 0; i < TENSOR_TEXTS; i++)
        dl_str_free(&r->tensors[i]);
    free(r);
    return status;
}

static devlog_status read_path(op_table *t, const char *path, details wants, devlog_error *err)
{
    dl_input *in;
    devlog_status status = keep_name(t, path, err);
    if (!status) status = dl_input_open(&in, path, err);
    if (status) return status;
    status = read_all(t, in, wants, err);
    dl_input_close(in);
    return status;
}

devlog_status op_table_read(op_table *t, const char *path, devlog_error *err)
{
    return read_path(t, path, PLAIN, err);
}

devlog_status op_table_read_more(op_table *t, const char *path, devlog_error *err)
{
    return read_path(t, path, MORE, err);
}

devlog_status op_table_read_wide(op_table *t, const char *path, devlog_error *err)
{
    return read_path(t, path, WIDE, err);
}

static devlog_status parse(op_table *t, const char *name, const void *bytes, size_t n, details wants,
                           devlog_error *err)
{
    dl_input *in;
    devlog_status status = keep_name(t, name, err);
    if (!status) status = dl_input_memory(&in, name, bytes, n, err);
    if (status) return status;
    status = read_all(t, in, wants, err);
    dl_input_close(in);
    return status;
}

devlog_status op_table_parse(op_table *t, const char *name, const void *bytes, size_t n, devlog_error *err)
{
    return parse(t, name, bytes, n, PLAIN, err);
}

devlog_status op_table_parse_more(op_table *t, const char *name, const void *bytes, size_t n,
                                  devlog_error *err)
{
    return parse(t, name, bytes, n, MORE, err);
}

devlog_status op_table_parse_wide(op_table *t, const char *name, const void *bytes, size_t n,
                                  devlog_error *err)
{
    return parse(t, name, bytes, n, WIDE, err);
}

bool op_table_is_apart(const op_table *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(dl_intern_text(t->texts, t->rows[i].code, NULL), OP_CODE_NO_OP) == 0) return true;
    return false;
}

void op_table_free(op_table *t)
{
    for (int i = 0; i < OP_TABLE_DETAILS; i++)
        free(t->details[i]);
    free(t->name);
    free(t->rows);
    free(t->more);
    free(t->wide);
    dl_intern_free(t->texts);
    *t = (op_table){0};
}
