/* Cells: one line's cells into a row. The meaning of every cell is here, whoever split the line. */
#include <stdio.h>
#include <string.h>

#include "decode/log/log_write.h"
#include "decode/log/number.h"
#include "decode/log/parser_internal.h"
#include "decode/series.h"
#include "decode/zone_counters.h"

enum { MAX_CHIP = 65535, MAX_CORE = 65535 };
#define MAX_TIME ((UINT64_C(1) << 62) - 1) /* leaves room for what the clock repair adds */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static dl_cell trimmed(const char *from, const char *to)
{
    while (from < to && is_blank(*from))
        from++;
    while (to > from && is_blank(to[-1]))
        to--;
    return (dl_cell){from, (size_t)(to - from)};
}

int dl_split(const char *line, size_t n, dl_cell cells[DL_MAX_CELLS])
{
    const char *end = line + n, *from = line;
    int count = 0;
    for (;;) {
        const char *comma = memchr(from, ',', (size_t)(end - from));
        dl_cell cell = trimmed(from, comma ? comma : end);
        if (cell.len && cell.text[0] == '"') return -1;
        if (count < DL_MAX_CELLS) cells[count] = cell;
        count++;
        if (!comma) return count;
        from = comma + 1;
    }
}

bool dl_row_type_of(dl_cell cell, dl_row_type *type)
{
    static const struct {
        const char *name;
        dl_row_type type;
    } names[] = {
        {"ZONE_START", DL_ROW_ZONE_START}, {"ZONE_END", DL_ROW_ZONE_END},
        {"TS_DATA", DL_ROW_TS_DATA},       {"TS_EVENT", DL_ROW_TS_EVENT},
        {"ZONE_TOTAL", DL_ROW_ZONE_TOTAL}, {"TS_DATA_16B", DL_ROW_TS_DATA_16B},
        {"begin", DL_ROW_ZONE_START},      {"end", DL_ROW_ZONE_END},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i].name) != cell.len || memcmp(names[i].name, cell.text, cell.len) != 0) continue;
        *type = names[i].type;
        return true;
    }
    return false;
}

dl_skip dl_stream_of_cells(dl_parser *p, const dl_cell cells[4], uint32_t *stream)
{
    uint64_t chip = 0, x, y;
    dl_skip why = DL_SKIP_NONE;
    if (cells[0].text) why = dl_number(cells[0], MAX_CHIP, &chip);
    if (!why) why = dl_number(cells[1], MAX_CORE, &x);
    if (!why) why = dl_number(cells[2], MAX_CORE, &y);
    if (why) return why;
    if (cells[3].len == 0) return DL_SKIP_NO_RISC;
    if (memchr(cells[3].text, 0, cells[3].len)) return DL_SKIP_NUL;
    *stream =
        dl_tables_stream(p->tables, (uint32_t)chip, (uint16_t)x, (uint16_t)y, cells[3].text, cells[3].len);
    return *stream == DL_NONE ? DL_SKIP_TABLE_FULL : DL_SKIP_NONE;
}

bool dl_row_by_timer(dl_parser *p, dl_row *row)
{
    static const struct {
        dl_row_type type;
        dl_role role;
    } defaults[] = {
        [1] = {DL_ROW_ZONE_START, DL_ROLE_FW},
        [2] = {DL_ROW_ZONE_START, DL_ROLE_KERNEL},
        [3] = {DL_ROW_ZONE_END, DL_ROLE_KERNEL},
        [4] = {DL_ROW_ZONE_END, DL_ROLE_FW},
    };
    char name[64];
    row->type = DL_ROW_TS_EVENT;
    if (row->timer_id >= 1 && row->timer_id <= 4) {
        size_t len;
        const char *risc =
            dl_intern_text(p->tables->strings, p->tables->streams[row->stream].risc_name, &len);
        dl_default_zone_name(name, risc, len, defaults[row->timer_id].role);
        row->type = (uint8_t)defaults[row->timer_id].type;
    } else if ((row->timer_id & DL_LOSS_TIMER_MASK) == DL_LOSS_TIMER &&
               (row->timer_id >> 24 & 15) < DL_LOSS_ZONES) {
        snprintf(name, sizeof name, "%s", dl_loss_zone_name((dl_loss_zone)(row->timer_id >> 24 & 15)));
        row->type = DL_ROW_ZONE_TOTAL;
        row->data = row->timer_id & DL_LOSS_TIMER_MOST;
    } else {
        snprintf(name, sizeof name, "MARKER-%u", row->timer_id);
    }
    row->site = dl_tables_site(p->tables, name, strlen(name), "", 0, 0);
    return row->site != DL_NONE;
}

/* A number that may be absent: `none` then. */
static dl_skip optional(const dl_columns *c, const dl_cell *cells, dl_column column, uint64_t max,
                        uint64_t none, uint64_t *out)
{
    *out = none;
    if (c->at[column] < 0 || cells[c->at[column]].len == 0) return DL_SKIP_NONE;
    return dl_number(cells[c->at[column]], max, out);
}

bool dl_meta_is_kept(const dl_parser *p, dl_row_type type, dl_cell meta)
{
    return p->keep_meta || (type > DL_ROW_ZONE_END && dl_series_meta(meta.text, meta.len));
}

uint32_t dl_meta_op(dl_cell meta)
{
    static const char head[] = "{\"op\":";
    const size_t n = sizeof head - 1;
    uint64_t op = 0;
    if (meta.len < n + 2 || memcmp(meta.text, head, n) != 0 || meta.text[meta.len - 1] != '}') return 0;
    const dl_cell digits = {meta.text + n, meta.len - n - 1};
    return dl_number(digits, UINT32_MAX, &op) == DL_SKIP_NONE ? (uint32_t)op : 0;
}

/* The text behind "key": in meta data, up to what ends it; empty when there is none. */
static dl_cell meta_text(dl_cell meta, const char *key)
{
    size_t n = strlen(key);
    for (size_t i = 0; i + n + 3 < meta.len; i++) {
        const char *at = meta.text + i, *end = meta.text + meta.len;
        if (*at != '"' || memcmp(at + 1, key, n) != 0 || at[n + 1] != '"' || at[n + 2] != ':') continue;
        at += n + 3;
        while (at < end && (*at == ' ' || *at == '"'))
            at++;
        const char *from = at;
        while (at < end && !strchr("\";,} ", *at))
            at++;
        return (dl_cell){from, (size_t)(at - from)};
    }
    return (dl_cell){NULL, 0};
}

bool dl_meta_counter(dl_cell meta, dl_cell *name, uint64_t *value)
{
    if (meta.len < 2 || meta.text[0] != '{') return false;
    *name = meta_text(meta, "counter type");
    return name->len && dl_number(meta_text(meta, "value"), UINT64_MAX, value) == DL_SKIP_NONE;
}

uint64_t dl_meta_clock(dl_cell meta)
{
    uint64_t findings = 0;
    if (meta.len < 2 || meta.text[0] != '{') return 0;
    return dl_number(meta_text(meta, DL_END_CLOCK), UINT32_MAX, &findings) == DL_SKIP_NONE ? findings : 0;
}

uint32_t dl_meta_passes(dl_cell meta)
{
    uint64_t count = 0;
    if (meta.len < 2 || meta.text[0] != '{') return 0;
    return dl_number(meta_text(meta, "count"), UINT32_MAX, &count) == DL_SKIP_NONE ? (uint32_t)count : 0;
}

static uint32_t reference_plus_one(uint64_t cycles)
{
    return cycles < UINT32_MAX ? (uint32_t)cycles + 1 : UINT32_MAX;
}

/* A marker without a name is called by its number; a hardware counter has its name in the meta data, and its
 * value, where the data are the words of its record; in its first form the data are value (32 bits), cycles (28) and
 * number (4). */
static dl_cell name_of_point(dl_row *row, dl_cell meta, char unnamed[32])
{
    dl_cell name;
    uint64_t value, cycles = 0;
    const bool first = row->timer_id == DL_COUNTER_TIMER && row->type == DL_ROW_TS_DATA && meta.len == 0;
    const char *counter = first ? dl_counter_name(row->data >> 60) : NULL;
    if (row->type != DL_ROW_ZONE_TOTAL && dl_meta_counter(meta, &name, &value)) {
        row->data = value;
        (void)dl_number(meta_text(meta, "ref cnt"), UINT64_MAX, &cycles);
        if (row->timer_id == DL_COUNTER_TIMER) row->op = reference_plus_one(cycles);
        return name;
    }
    if (!counter) return (dl_cell){unnamed, (size_t)snprintf(unnamed, 32, "MARKER-%u", row->timer_id)};
    row->op = reference_plus_one(row->data >> 32 & 0xFFFFFFF);
    row->data &= UINT32_MAX;
    return (dl_cell){counter, strlen(counter)};
}

/* Adds cells as one, with the commas that were between them; returns how long it is. */
static size_t join(dl_str *text, const dl_cell *cells, size_t n)
{
    size_t before = text->len;
    for (size_t i = 0; i < n; i++) {
        if (i) dl_str_char(text, ',');
        if (cells[i].len) dl_str_add_n(text, cells[i].text, cells[i].len);
    }
    return text->len - before;
}

/* tt-metal's writer quotes nothing, so a comma in a zone's name, or in the name of its file, makes a cell
 * more. The cells between them have fixed forms (a type, a number), which tell where the names end. Fills
 * `whole` with as many cells as the header has; false: there is no telling. */
static bool mend_names(dl_parser *p, const dl_cell *cells, size_t n, dl_cell whole[DL_MAX_CELLS])
{
    const dl_columns *c = &p->header.columns;
    const int zone = c->at[DL_COL_ZONE], type = c->at[DL_COL_TYPE], line = c->at[DL_COL_LINE];
    const int file = c->at[DL_COL_FILE];
    const size_t extra = n - c->n_cells;
    if (!c->named || n > DL_MAX_CELLS || type != zone + 1 || line != type + 1 || file != line + 1)
        return false;
    for (size_t in_zone = 0; in_zone <= extra; in_zone++) {
        const size_t in_file = extra - in_zone, at_type = (size_t)type + in_zone;
        dl_row_type unused;
        uint64_t number;
        const dl_cell source_line = cells[at_type + 1];
        if (!dl_row_type_of(cells[at_type], &unused)) continue;
        if (source_line.len && dl_number(source_line, DL_NO_ID - 1, &number) != DL_SKIP_NONE) continue;
        dl_str_clear(&p->names);
        size_t zone_len = join(&p->names, &cells[zone], in_zone + 1);
        size_t file_len = join(&p->names, &cells[at_type + 2], in_file + 1);
        if (p->names.failed) return false;
        memcpy(whole, cells, (size_t)zone * sizeof *cells);
        whole[zone] = (dl_cell){p->names.text, zone_len};
        whole[type] = cells[at_type];
        whole[line] = source_line;
        whole[file] = (dl_cell){p->names.text + zone_len, file_len};
        for (size_t i = (size_t)file + 1; i < c->n_cells; i++)
            whole[i] = cells[i + extra];
        return true;
    }
    return false;
}

/* Whether what a line has too much is in a name rather than at its end: no type is where it should be, or no
 * meta data. */
static bool has_split_name(const dl_columns *c, const dl_cell *cells, size_t n)
{
    dl_row_type unused;
    if (!c->named) return false;
    if (!dl_row_type_of(cells[c->at[DL_COL_TYPE]], &unused)) return true;
    if (c->at[DL_COL_META] < 0 || c->at[DL_COL_META] != c->at[DL_COL_FILE] + 1) return false;
    const dl_cell meta = cells[c->at[DL_COL_META]], last = cells[n - 1];
    return meta.len && meta.text[0] != '{' && (last.len == 0 || last.text[0] == '{');
}

static dl_skip row_of(dl_parser *p, const dl_cell *cells, size_t n, dl_row *row);

dl_skip dl_row_of_cells(dl_parser *p, const dl_cell *cells, size_t n, dl_row *row)
{
    const dl_columns *c = &p->header.columns;
    dl_cell whole[DL_MAX_CELLS];
    if (n > c->n_cells && n <= DL_MAX_CELLS && has_split_name(c, cells, n)) {
        if (!mend_names(p, cells, n, whole)) return DL_SKIP_TOO_MANY_CELLS;
        return row_of(p, whole, c->n_cells, row);
    }
    return row_of(p, cells, n, row);
}

static dl_skip row_of(dl_parser *p, const dl_cell *cells, size_t n, dl_row *row)
{
    const dl_columns *c = &p->header.columns;
    if (n < c->n_needed) return DL_SKIP_TOO_FEW_CELLS;
    uint64_t timer = 0, run = 0, trace = DL_NO_ID, counter = DL_NO_ID, line = 0, last = DL_NO_ID - 1;
    const dl_cell none = {NULL, 0};
    const dl_cell place[4] = {c->at[DL_COL_CHIP] < 0 ? none : cells[c->at[DL_COL_CHIP]],
                              cells[c->at[DL_COL_CORE_X]], cells[c->at[DL_COL_CORE_Y]],
                              cells[c->at[DL_COL_RISC]]};
    dl_skip why = DL_SKIP_NONE;
    *row = (dl_row){0};
    if (!why && !c->named && cells[c->at[DL_COL_TIMER_ID]].len == 0) why = DL_SKIP_NOT_A_NUMBER;
    if (!why) why = optional(c, cells, DL_COL_TIMER_ID, UINT32_MAX, 0, &timer);
    if (!why) why = dl_number(cells[c->at[DL_COL_TIME]], MAX_TIME, &row->time);
    if (!why) why = optional(c, cells, DL_COL_DATA, UINT64_MAX, 0, &row->data);
    if (!why) why = optional(c, cells, DL_COL_RUN_ID, last, 0, &run);
    if (!why) why = optional(c, cells, DL_COL_RUN_HOST_ID, UINT64_MAX, 0, &row->run_host_id);
    if (!why) why = optional(c, cells, DL_COL_TRACE_ID, last, DL_NO_ID, &trace);
    if (!why) why = optional(c, cells, DL_COL_TRACE_COUNTER, last, DL_NO_ID, &counter);
    if (!why) why = optional(c, cells, DL_COL_LINE, last, 0, &line);
    dl_row_type type = DL_ROW_TS_EVENT;
    dl_cell zone = none, file = none, meta = none;
    if (!why && c->named) {
        zone = cells[c->at[DL_COL_ZONE]];
        if (!dl_row_type_of(cells[c->at[DL_COL_TYPE]], &type)) why = DL_SKIP_UNKNOWN_TYPE;
        if (c->at[DL_COL_FILE] >= 0) file = cells[c->at[DL_COL_FILE]];
        if (c->at[DL_COL_META] >= 0 && (size_t)c->at[DL_COL_META] < n) meta = cells[c->at[DL_COL_META]];
        bool nul =
            (zone.len && memchr(zone.text, 0, zone.len)) || (file.len && memchr(file.text, 0, file.len));
        if (!why && (nul || (meta.len && memchr(meta.text, 0, meta.len)))) why = DL_SKIP_NUL;
    }
    if (!why) why = dl_stream_of_cells(p, place, &row->stream);
    if (why) return why;
    row->timer_id = (uint32_t)timer;
    row->run_id = (uint32_t)run;
    row->trace_id = (uint32_t)trace;
    row->trace_counter = (uint32_t)counter;
    row->type = (uint8_t)type;
    row->line = (uint32_t)p->line;
    row->has_launch = row->run_host_id || run || trace != DL_NO_ID || counter != DL_NO_ID;
    if (c->named) {
        const char *empty = "";
        char unnamed[32];
        if (zone.len == 0 && type != DL_ROW_ZONE_START && type != DL_ROW_ZONE_END)
            zone = name_of_point(row, meta, unnamed);
        row->site = dl_tables_site(p->tables, zone.len ? zone.text : empty, zone.len,
                                   file.len ? file.text : empty, file.len, (uint32_t)line);
        if (row->site == DL_NONE) return DL_SKIP_TABLE_FULL;
    } else if (!dl_row_by_timer(p, row)) {
        return DL_SKIP_TABLE_FULL;
    }
    const bool sum = type == DL_ROW_ZONE_TOTAL;
    const uint32_t counted = row->op;
    if (meta.len && !counted) row->op = sum ? dl_meta_passes(meta) : dl_meta_op(meta);
    if (meta.len && (row->op == 0 || sum || counted) && dl_meta_is_kept(p, type, meta)) {
        row->meta = dl_tables_meta(p->tables, meta.text, meta.len);
        if (row->meta == DL_NONE) {
            row->meta = 0;
            dl_losses_found(p->losses, DL_FOUND_TABLE_FULL, 1, "%s:%llu: meta data of '%.60s'", p->source,
                            (unsigned long long)p->line, dl_site_text(p->tables, row->site));
        }
    }
    if (n > c->n_cells) {
        dl_losses_found(p->losses, DL_FOUND_EXTRA_CELLS, 1, "%s:%llu: %zu cells, the header has %u",
                        p->source, (unsigned long long)p->line, n, c->n_cells);
    }
    return DL_SKIP_NONE;
}
