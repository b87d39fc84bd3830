/* tracy_ops_times.csv: zones of ops, joined by "id:N" in their text, and the host calls inside them. It has
 * gigabytes, of which few lines are of interest; these are found without looking at the cells of the
 * others. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "tt_metal/host.h"

enum { MAX_LINE = 1024 * 1024, MAX_CELLS = 64, COOL_EVERY = 65536, FEW_CHILDREN = 8 };

enum { C_NAME, C_FILE, C_LINE, C_ZONE, C_TEXT, C_START, C_NS, C_THREAD, C_PARENT, COLUMNS };

typedef struct times {
    tt_host *host;
    int place[COLUMNS]; /* of each column; -1: not there */
    int n_columns;
    uint64_t line;
    uint32_t
        *child_slots; /* hash table of (op, name): child + 1; of each op without its first FEW_CHILDREN */
    size_t n_child_slots, n_in_table;
    dl_str plain;  /* quoted cells without their quotes */
    uint32_t last; /* op that was found last: the next is often it, or the one behind it */
    uint32_t name; /* of the call inside an op that was found last */
    bool none;     /* it is no such file */
    /* Of the line whose end was found last, when no quotes are in it: where its commas are. */
    const char *known;
    int n_commas;
    uint32_t commas[COLUMNS];
} times;

static bool header(times *t, const char *text, size_t n)
{
    static const char *const names[COLUMNS] = {"name",         "src_file",  "src_line",
                                               "zone_name",    "zone_text", "ns_since_start",
                                               "exec_time_ns", "thread",    "special_parent_text"};
    for (int i = 0; i < COLUMNS; i++)
        t->place[i] = -1;
    t->n_columns = 0;
    const char *end = text + n;
    for (const char *p = text; p <= end && t->n_columns < MAX_CELLS; t->n_columns++) {
        const char *comma = memchr(p, ',', (size_t)(end - p)), *stop = comma ? comma : end;
        for (int i = 0; i < COLUMNS; i++)
            if ((size_t)(stop - p) == strlen(names[i]) && memcmp(p, names[i], strlen(names[i])) == 0)
                t->place[i] = t->n_columns;
        p = stop + 1;
    }
    return t->place[C_NAME] == 0 && t->place[C_START] > 0 && t->place[C_NS] > 0 && t->place[C_TEXT] > 0;
}

/* Splits at commas outside of quotes; more cells than MAX_CELLS are counted but not kept. */
static int split(times *t, const char *line, size_t n, tt_cell *cells)
{
    int found = 0;
    const char *p = line, *end = line + n;
    dl_str_clear(&t->plain);
    if (!dl_str_reserve(&t->plain, n)) return 0; /* so that it does not move */
    for (; p <= end; found++) {
        tt_cell c = {p, 0};
        if (p < end && *p == '"') {
            c.text = t->plain.text + t->plain.len;
            for (p++; p < end; p++) {
                if (*p == '"' && p + 1 < end && p[1] == '"')
                    p++;
                else if (*p == '"')
                    break;
                dl_str_char(&t->plain, *p);
            }
            c.n = (size_t)(t->plain.text + t->plain.len - c.text);
            p = p < end ? p + 1 : end;
            const char *comma = memchr(p, ',', (size_t)(end - p));
            p = (comma ? comma : end) + 1;
        } else {
            const char *comma = memchr(p, ',', (size_t)(end - p));
            c.n = (size_t)((comma ? comma : end) - p);
            p = (comma ? comma : end) + 1;
        }
        if (found < MAX_CELLS) cells[found] = c;
    }
    return found;
}

/* Of a quoted cell, whose text is a copy and not a piece of the line. */
static bool is_copy(const times *t, tt_cell c)
{
    uintptr_t at = (uintptr_t)c.text, begin = (uintptr_t)t->plain.text;
    return at >= begin && at <= begin + t->plain.len;
}

/* The cells by column. A name of a C++ function may hold commas that nobody quoted: then what is behind the
 * names is counted from the right, and the name ends before the source file and its line number. */
static bool columns(const times *t, const tt_cell *cells, int n, tt_cell *by)
{
    uint64_t value;
    for (int i = 0; i < COLUMNS; i++)
        by[i] = (tt_cell){"", 0};
    if (n == t->n_columns) {
        for (int i = 0; i < COLUMNS; i++)
            if (t->place[i] >= 0) by[i] = cells[t->place[i]];
        return tt_cell_number(by[C_START], &value) && tt_cell_number(by[C_NS], &value);
    }
    if (n < t->n_columns || n > MAX_CELLS) return false;
    int shift = n - t->n_columns, at = 0;
    for (int i = 0; i < COLUMNS; i++)
        if (t->place[i] > 2) by[i] = cells[t->place[i] + shift];
    for (int i = 2; i <= 2 + shift && !at; i++)
        if (tt_cell_number(cells[i], &value)) at = i;
    if (at < 2 || !tt_cell_number(by[C_START], &value) || !tt_cell_number(by[C_NS], &value)) return false;
    /* The name is one piece of the line only if nobody quoted a part of it: who quotes, quotes every comma. */
    const tt_cell *last = &cells[at - 2];
    for (int i = 0; i <= at - 2; i++)
        if (is_copy(t, cells[i])) return false;
    by[C_NAME] = (tt_cell){cells[0].text, (size_t)(last->text + last->n - cells[0].text)};
    return true;
}

/* The number behind the last colon. */
static bool id_in(tt_cell c, uint64_t *id)
{
    const char *colon = c.n ? memrchr(c.text, ':', c.n) : NULL;
    tt_cell digits = colon ? (tt_cell){colon + 1, (size_t)(c.text + c.n - colon - 1)} : c;
    while (digits.n && (digits.text[digits.n - 1] == ' ' || digits.text[digits.n - 1] == '\r'))
        digits.n--;
    while (digits.n && *digits.text == ' ') {
        digits.text++;
        digits.n--;
    }
    return tt_cell_number(digits, id);
}

static uint32_t find_op(times *t, uint64_t id)
{
    tt_host *h = t->host;
    for (uint32_t op = t->last; op < t->last + 2 && op < h->n_ops; op++)
        if (h->ops[op].id == id && !(h->ops[op].flags & TT_OP_SHADOW)) return t->last = op;
    uint32_t op = tt_host_find(h, id);
    if (op != TT_NONE) t->last = op;
    return op;
}

static bool op_zone(times *t, const tt_cell *by, uint64_t start, uint64_t ns)
{
    tt_host *h = t->host;
    uint64_t id;
    if (!id_in(by[C_TEXT], &id)) {
        tt_found_add(h->found, TT_ZONE_WITHOUT_ID, TT_OPS_TIMES_NAME ":%llu: %.*s",
                     (unsigned long long)t->line, (int)(by[C_NAME].n < 80 ? by[C_NAME].n : 80),
                     by[C_NAME].text);
        return true;
    }
    uint32_t op = find_op(t, id);
    if (op == TT_NONE) {
        if (h->has_data)
            tt_found_add(h->found, TT_LOST_MESSAGE, TT_OPS_TIMES_NAME ":%llu: GLOBAL CALL COUNT %llu",
                         (unsigned long long)t->line, (unsigned long long)id);
        op = tt_host_lost_op(h, id, TT_NONE);
        if (op == TT_NONE) return false;
        h->ops[op].sent = start;
    }
    h->ops[op].flags |= TT_OP_ZONE;
    h->ops[op].start = start;
    h->ops[op].ns = ns;
    return true;
}

static size_t child_slot(const times *t, uint32_t op, uint32_t name)
{
    const tt_host *h = t->host;
    size_t mask = t->n_child_slots - 1, at = (size_t)dl_hash_u64((uint64_t)op << 32 | name) & mask;
    for (; t->child_slots[at * 2]; at = (at + 1) & mask)
        if (t->child_slots[at * 2 + 1] == op && h->children[t->child_slots[at * 2] - 1].name == name) break;
    return at;
}

static bool grow_children(times *t)
{
    const tt_host *h = t->host;
    if (t->n_in_table * 2 < t->n_child_slots) return true;
    size_t n = t->n_child_slots ? t->n_child_slots * 2 : 1024, n_old = t->n_child_slots;
    uint32_t *old = t->child_slots, *slots = calloc(n * 2, sizeof *slots);
    if (!slots) return false;
    t->child_slots = slots;
    t->n_child_slots = n;
    for (size_t i = 0; i < n_old; i++) {
        if (!old[i * 2]) continue;
        size_t at = child_slot(t, old[i * 2 + 1], h->children[old[i * 2] - 1].name);
        slots[at * 2] = old[i * 2];
        slots[at * 2 + 1] = old[i * 2 + 1];
    }
    free(old);
    return true;
}

/* The number of a name; most often it is the one before. */
static uint32_t name_number(times *t, tt_cell name)
{
    dl_intern *names = t->host->names;
    size_t n;
    const char *last = t->name && t->name != DL_NO_STRING ? dl_intern_text(names, t->name, &n) : NULL;
    if (!last || n != name.n || memcmp(last, name.text, n) != 0)
        t->name = dl_intern_add(names, name.text, name.n);
    return t->name;
}

/* A call inside an op; several of one name are added up. Of ops that the host does not know nothing is kept,
 * as in tt-metal's script. */
static bool child(times *t, const tt_cell *by, uint64_t ns)
{
    tt_host *h = t->host;
    uint64_t id;
    if (!id_in(by[C_PARENT], &id)) return true;
    uint32_t op = find_op(t, id);
    if (op == TT_NONE || (h->ops[op].flags & TT_OP_LOST)) return true;
    const uint32_t name = name_number(t, by[C_NAME]);
    if (name == DL_NO_STRING) return true;
    /* The first few of an op stand first and are looked through; a table has the others. */
    uint32_t known = h->ops[op].children, before = 0;
    int looked = 0;
    size_t at = 0;
    while (looked < FEW_CHILDREN && known && h->children[known - 1].name != name) {
        looked++;
        before = known;
        known = h->children[known - 1].next;
    }
    const bool many = looked == FEW_CHILDREN;
    if (many && !grow_children(t)) return false;
    if (many) at = child_slot(t, op, name);
    const uint32_t next = known;
    if (many) known = t->child_slots[at * 2];
    if (known) {
        h->children[known - 1].ns += ns;
        h->children[known - 1].calls++;
        return true;
    }
    size_t wanted = (h->n_children + 1) * sizeof *h->children;
    if (wanted > h->big_children.bytes && !dl_big_room(&h->big_children, wanted + 4096)) return false;
    h->children = h->big_children.data;
    h->children[h->n_children] = (tt_child){.ns = ns, .name = name, .next = next, .calls = 1};
    *(before ? &h->children[before - 1].next : &h->ops[op].children) = (uint32_t)++h->n_children;
    if (!many) return true;
    t->child_slots[at * 2] = (uint32_t)h->n_children;
    t->child_slots[at * 2 + 1] = op;
    t->n_in_table++;
    return true;
}

static bool has(tt_cell c, const char *what)
{
    const size_t m = strlen(what);
    if (c.n >= m && memcmp(c.text, what, m) == 0) return true;
    return memmem(c.text, c.n, what, strlen(what)) != NULL;
}

/* Whether TT_DNN or TT_METAL is in a name. */
static bool is_of_an_op(tt_cell name)
{
    const char *at = name.text, *const end = at + name.n;
    while (at < end && (at = memchr(at, '_', (size_t)(end - at))) != NULL) {
        const size_t left = (size_t)(end - ++at);
        if (at - name.text < 3 || at[-2] != 'T' || at[-3] != 'T') continue;
        if ((left >= 3 && memcmp(at, "DNN", 3) == 0) || (left >= 5 && memcmp(at, "METAL", 5) == 0))
            return true;
    }
    return false;
}

static bool take_cells(times *t, const tt_cell *by, uint64_t start, uint64_t ns)
{
    bool ok = true;
    if (is_of_an_op(by[C_NAME])) ok = op_zone(t, by, start, ns);
    if (ok && by[C_PARENT].n && has(by[C_PARENT], "id:")) ok = child(t, by, ns);
    return ok;
}

static bool take_line(times *t, const char *line, size_t n)
{
    tt_cell cells[MAX_CELLS], by[COLUMNS];
    if (!columns(t, cells, split(t, line, n, cells), by)) {
        tt_found_add(t->host->found, TT_BAD_TIMES_LINE, TT_OPS_TIMES_NAME ":%llu: %.*s",
                     (unsigned long long)t->line, (int)(n < 80 ? n : 80), line);
        return !t->plain.failed;
    }
    uint64_t start = 0, ns = 0;
    tt_cell_number(by[C_START], &start);
    tt_cell_number(by[C_NS], &ns);
    return take_cells(t, by, start, ns);
}

/* A line whose cells are between its commas. */
static bool take_quickly(times *t, const char *line, size_t n)
{
    const uint32_t *const commas = t->commas;
    tt_cell by[COLUMNS];
    uint64_t start, ns;
    for (int i = 0; i < COLUMNS; i++) {
        const int at = t->place[i];
        const size_t from = at > 0 ? commas[at - 1] + 1 : 0,
                     to = at < t->n_columns - 1 && at >= 0 ? commas[at] : n;
        by[i] = at < 0 ? (tt_cell){"", 0} : (tt_cell){line + from, to - from};
    }
    if (line[n - 1] == ',' && !is_of_an_op(by[C_NAME])) return true;
    const bool good = tt_cell_number(by[C_START], &start) && tt_cell_number(by[C_NS], &ns);
    return good ? take_cells(t, by, start, ns) : take_line(t, line, n);
}

/* The end of a line without quotes, and where its commas are, as many as the header has; what cannot be told so is left
 * to others, and NULL comes back. Reads TT_LINES_AHEAD bytes behind the end. */
static const char *quick_end(times *t, const char *line, const char *end)
{
#if defined(__SSE2__)
    const __m128i comma = _mm_set1_epi8(','), quote = _mm_set1_epi8('"'), line_feed = _mm_set1_epi8('\n');
    int found = 0;
    for (const char *p = line; p < end; p += 64) {
        uint64_t commas = 0, quotes = 0, feeds = 0;
        for (int i = 0; i < 4; i++) {
            const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
            commas |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, comma)) << (16 * i);
            quotes |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, quote)) << (16 * i);
            feeds |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, line_feed)) << (16 * i);
        }
        const uint64_t in_line = feeds ? (feeds & -feeds) - 1 : UINT64_MAX;
        if (quotes & in_line) return NULL;
        for (commas &= in_line; commas; commas &= commas - 1) {
            if (found == COLUMNS) return NULL;
            t->commas[found++] = (uint32_t)(p - line) + (uint32_t)__builtin_ctzll(commas);
        }
        if (!feeds) continue;
        const char *feed = p + __builtin_ctzll(feeds);
        if (feed >= end) return NULL;
        t->known = line;
        t->n_commas = found;
        return feed;
    }
#else
    (void)t, (void)line, (void)end;
#endif
    return NULL;
}

/* Where a line ends whose cells may hold line feeds in quotes; NULL: more must be read. */
static const char *line_end(void *ctx, const char *line, const char *end)
{
    times *t = ctx;
    t->known = NULL;
    const char *feed = quick_end(t, line, end);
    if (feed) return feed;
    feed = memchr(line, '\n', (size_t)(end - line));
    if (!feed || !memchr(line, '"', (size_t)(feed - line))) return feed;
    bool inside = false;
    for (const char *p = line; p < end; p++) {
        if (*p == '"') inside = !inside;
        if (*p == '\n' && (!inside || p - line > MAX_LINE)) return p;
    }
    return NULL;
}

static bool take(void *ctx, const char *line, size_t n, uint64_t number)
{
    times *t = ctx;
    t->line = number;
    if (number % COOL_EVERY == 0) tt_host_cool(t->host);
    if (n && !t->n_columns) {
        t->none = !header(t, line, n);
        return true;
    }
    if (n && !t->none && t->known == line && t->n_columns <= COLUMNS && t->n_commas == t->n_columns - 1)
        return take_quickly(t, line, n);
    /* A parent, if there is any, is in the last cell; an op's zone has a name that begins with TT_. */
    if (!n || t->none || (line[n - 1] == ',' && !memmem(line, n, "TT_", 3))) return true;
    return take_line(t, line, n);
}

static bool is_none(void *ctx)
{
    return ((const times *)ctx)->none;
}

static devlog_status read_all(tt_host *h, dl_input *input, const tt_progress *progress, devlog_error *err)
{
    times t = {.host = h};
    char name[256]; /* the input is closed when it has been read */
    snprintf(name, sizeof name, "%s", dl_input_name(input));
    const tt_lines lines = {
        .ctx = &t, .take = take, .line_end = line_end, .enough = is_none, .longest = 4 * MAX_LINE};
    devlog_status status = tt_lines_read(&lines, input, progress, h->found, err);
    if (!status && t.plain.failed) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (t.none)
        tt_found_add(h->found, TT_BAD_TIMES_LINE,
                     TT_OPS_TIMES_NAME ":1: not the header of that file; left out");
    h->has_times = !t.none && t.n_columns;
    if (!h->has_times && !t.none) tt_found_add(h->found, TT_NO_OPS_TIMES, "%s is empty", name);
    h->times_lines = t.line;
    free(t.child_slots);
    dl_str_free(&t.plain);
    return status;
}

devlog_status tt_host_read_times(tt_host *h, const char *path, const tt_progress *progress, devlog_error *err)
{
    dl_input *input;
    devlog_status status = dl_input_open(&input, path, err);
    return status ? status : read_all(h, input, progress, err);
}

devlog_status tt_host_parse_times(tt_host *h, const void *bytes, size_t n, devlog_error *err)
{
    dl_input *input;
    devlog_status status = dl_input_memory(&input, TT_OPS_TIMES_NAME, bytes, n, err);
    return status ? status : read_all(h, input, NULL, err);
}
