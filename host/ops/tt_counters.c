/* Reading hardware counters out of a device log. */
#include "ops/tt_counters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "decode/input.h"

enum { CHUNK = 1024 * 1024, MAX_LINE = 64 * 1024, MAX_CELLS = 24, COOL_EVERY = 262144 };

static const char *const names[] = {
#define NAME(name) #name,
    TT_COUNTERS(NAME)
#undef NAME
};

/* On Blackhole these are not wired, or never count anything (BH_RTL_DEAD_COUNTERS there). */
static bool is_dead(bool blackhole, unsigned kind)
{
    static const unsigned dead[] = {
        TT_PACKER_DEST_READ_2,      TT_PACKER_DEST_READ_3,      TT_PACKER_BUSY_0,
        TT_PACKER_BUSY_1,           TT_PACKER_BUSY_2,           TT_DEST_READ_GRANTED_2,
        TT_DEST_READ_GRANTED_3,     TT_MATH_INSTRN_STARTED,     TT_INSTRN_1_HF_CYCLE,
        TT_WAITING_FOR_SFPU_IDLE_0, TT_WAITING_FOR_SFPU_IDLE_1, TT_WAITING_FOR_SFPU_IDLE_2};
    for (size_t i = 0; blackhole && i < sizeof dead / sizeof dead[0]; i++)
        if (dead[i] == kind) return true;
    return false;
}

void tt_counters_begin(tt_counters *c, const char *scratch)
{
    *c = (tt_counters){.big_items.folder = scratch};
}

void tt_counters_free(tt_counters *c)
{
    dl_big_free(&c->big_items);
    free(c->programs);
    free(c->slots);
    free(c->devices);
    *c = (tt_counters){0};
}

/* ---- Tables --- */

static size_t slot_of(const tt_counters *c, uint32_t device, uint64_t id, uint32_t session)
{
    size_t mask = c->n_slots - 1;
    size_t at = (size_t)dl_hash_u64(id ^ (uint64_t)session << 32 ^ (uint64_t)device << 50) & mask;
    for (; c->slots[at]; at = (at + 1) & mask) {
        const tt_counted *p = &c->programs[c->slots[at] - 1];
        if (p->id == id && p->device == device && p->session == session) break;
    }
    return at;
}

const tt_counted *tt_counters_of(const tt_counters *c, uint32_t device, uint64_t id, uint32_t session)
{
    if (!c->n_slots) return NULL;
    uint32_t found = c->slots[slot_of(c, device, id, session)];
    return found ? &c->programs[found - 1] : NULL;
}

const tt_counted_device *tt_counters_device(const tt_counters *c, uint32_t device)
{
    for (size_t i = 0; i < c->n_devices; i++)
        if (c->devices[i].device == device) return &c->devices[i];
    return NULL;
}

static tt_counted *program_of(tt_counters *c, uint32_t device, uint64_t id, uint32_t session)
{
    if (c->n_programs * 2 >= c->n_slots) {
        size_t n = c->n_slots ? c->n_slots * 2 : 1024;
        uint32_t *slots = calloc(n, sizeof *slots);
        if (!slots) return NULL;
        free(c->slots);
        c->slots = slots;
        c->n_slots = n;
        for (size_t i = 0; i < c->n_programs; i++) {
            const tt_counted *p = &c->programs[i];
            c->slots[slot_of(c, p->device, p->id, p->session)] = (uint32_t)i + 1;
        }
    }
    size_t slot = slot_of(c, device, id, session);
    if (c->slots[slot]) return &c->programs[c->slots[slot] - 1];
    if (c->n_programs == c->cap_programs) {
        size_t cap = c->cap_programs ? c->cap_programs * 2 : 256;
        tt_counted *grown = realloc(c->programs, cap * sizeof *grown);
        if (!grown) return NULL;
        c->programs = grown;
        c->cap_programs = cap;
    }
    c->programs[c->n_programs] = (tt_counted){.id = id, .device = device, .session = session};
    c->slots[slot] = (uint32_t)++c->n_programs;
    return &c->programs[c->n_programs - 1];
}

static tt_counted_device *device_of(tt_counters *c, uint32_t device)
{
    for (size_t i = 0; i < c->n_devices; i++)
        if (c->devices[i].device == device) return &c->devices[i];
    if (c->n_devices == 1024) return NULL;
    tt_counted_device *grown = realloc(c->devices, (c->n_devices + 1) * sizeof *grown);
    if (!grown) return NULL;
    c->devices = grown;
    memset(&grown[c->n_devices], 0, sizeof *grown);
    grown[c->n_devices].device = device;
    return &grown[c->n_devices++];
}

/* ---- Rows --- */

enum { C_DEVICE, C_X, C_Y, C_ID, C_TIME, C_DATA, C_PROGRAM, C_SESSION, C_META, COLUMNS };

typedef struct log_columns {
    int at[COLUMNS];
    int n;
    bool header, blackhole, wormhole;
} log_columns;

typedef struct cell {
    const char *text;
    size_t n;
} cell;

static int split(const char *line, size_t n, cell *cells)
{
    int found = 0;
    for (const char *p = line, *end = line + n; p <= end && found < MAX_CELLS; found++) {
        const char *comma = memchr(p, ',', (size_t)(end - p)), *stop = comma ? comma : end;
        cell c = {p, (size_t)(stop - p)};
        while (c.n && *c.text == ' ') {
            c.text++;
            c.n--;
        }
        while (c.n && (c.text[c.n - 1] == ' ' || c.text[c.n - 1] == '\r'))
            c.n--;
        cells[found] = c;
        p = stop + 1;
    }
    return found;
}

static void take_header(log_columns *k, const char *line, size_t n)
{
    static const char *const texts[COLUMNS] = {
        "PCIe slot", "core_x",      "core_y",           "timer_id", "time[cycles since reset]",
        "data",      "run host ID", "trace id counter", "meta data"};
    cell cells[MAX_CELLS];
    k->n = split(line, n, cells);
    for (int i = 0; i < COLUMNS; i++) {
        k->at[i] = -1;
        for (int c = 0; c < k->n; c++)
            if (cells[c].n == strlen(texts[i]) && memcmp(cells[c].text, texts[i], cells[c].n) == 0)
                k->at[i] = c;
    }
    k->header = k->at[C_DEVICE] == 0 && k->at[C_ID] > 0 && k->at[C_META] > 0 && k->at[C_PROGRAM] > 0;
}

static bool number(const log_columns *k, const cell *cells, int n, int column, uint64_t *out)
{
    int at = k->at[column];
    if (at < 0 || at >= n || !cells[at].n || cells[at].n > 19) return false;
    *out = 0;
    for (size_t i = 0; i < cells[at].n; i++) {
        if (cells[at].text[i] < '0' || cells[at].text[i] > '9') return false;
        *out = *out * 10 + (uint64_t)(cells[at].text[i] - '0');
    }
    return true;
}

/* A member of the meta data, whose commas are semicolons: {"counter type":17;"value":5;"ref cnt":9}. */
static bool meta_member(cell meta, const char *key, cell *out)
{
    size_t n = strlen(key);
    const char *end = meta.text + meta.n;
    for (const char *p = meta.text; (p = memmem(p, (size_t)(end - p), key, n)) != NULL; p += n) {
        const char *at = p + n;
        if (p == meta.text || (p[-1] != '"' && p[-1] != '\'') || at == end || (*at != '"' && *at != '\''))
            continue;
        for (at++; at < end && (*at == ':' || *at == ' ' || *at == '"' || *at == '\''); at++)
            ;
        const char *stop = at;
        while (stop < end && *stop != ';' && *stop != ',' && *stop != '}' && *stop != '"' && *stop != '\'')
            stop++;
        *out = (cell){at, (size_t)(stop - at)};
        return stop > at;
    }
    return false;
}

static bool value_of(cell c, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < c.n; i++) {
        if (c.text[i] < '0' || c.text[i] > '9' || i > 18) return false;
        *out = *out * 10 + (uint64_t)(c.text[i] - '0');
    }
    return c.n > 0;
}

static unsigned kind_of(cell c)
{
    uint64_t value;
    if (value_of(c, &value)) return value < TT_COUNTERS_END ? (unsigned)value : 0;
    for (unsigned i = 0; i < TT_COUNTERS_END; i++)
        if (strlen(names[i]) == c.n && memcmp(names[i], c.text, c.n) == 0) return i;
    return 0;
}

static bool take_row(tt_counters *c, const log_columns *k, const char *line, size_t n)
{
    cell cells[MAX_CELLS], part;
    int found = split(line, n, cells);
    uint64_t static_id, device, x, y, id, time, session, value = 0, ref = 0, raw;
    if (!number(k, cells, found, C_ID, &static_id) || static_id != 9090) return true;
    if (!number(k, cells, found, C_DEVICE, &device) || !number(k, cells, found, C_X, &x) ||
        !number(k, cells, found, C_Y, &y) || !number(k, cells, found, C_PROGRAM, &id) ||
        !number(k, cells, found, C_TIME, &time) || device >= TT_NONE || x > UINT16_MAX || y > UINT16_MAX)
        return true;
    cell meta = k->at[C_META] < found ? cells[k->at[C_META]] : (cell){"", 0};
    unsigned kind = 0;
    if (meta_member(meta, "counter type", &part)) {
        kind = kind_of(part);
        if (meta_member(meta, "value", &part)) value_of(part, &value);
        if (meta_member(meta, "ref cnt", &part)) value_of(part, &ref);
    } else if (number(k, cells, found, C_DATA, &raw)) {
        /* The first form: value 32 bits, reference 28, counter 4. */
        value = raw & UINT32_MAX;
        ref = raw >> 32 & 0xFFFFFFF;
        kind = (unsigned)(raw >> 60);
    }
    if (!kind) {
        c->unknown++;
        return true;
    }
    if (is_dead(k->blackhole, kind)) return true;
    if (!number(k, cells, found, C_SESSION, &session) || session >= TT_NONE) session = TT_NONE;
    tt_counted *p = program_of(c, (uint32_t)device, id, (uint32_t)session);
    tt_counted_device *d = device_of(c, (uint32_t)device);
    if (!p || !d || c->n >= TT_NONE - 1) return false;
    if ((c->n + 1) * sizeof *c->items > c->big_items.bytes &&
        !dl_big_room(&c->big_items, (c->n + 4096) * sizeof *c->items))
        return false;
    c->items = c->big_items.data;
    c->items[c->n] =
        (tt_counter){time, (uint32_t)value, (uint32_t)ref, (uint32_t)(x << 16 | y), p->first, (uint16_t)kind};
    if (++c->n % COOL_EVERY == 0) dl_big_cool(&c->big_items);
    p->first = (uint32_t)c->n;
    d->wormhole = k->wormhole;
    d->seen[kind] = true;
    d->sums[kind] += value;
    return true;
}

static bool take_line(tt_counters *c, log_columns *k, const char *line, size_t n)
{
    if (!k->header) {
        if (n > 5 && memcmp(line, "ARCH:", 5) == 0) {
            k->blackhole = memmem(line, n, "blackhole", 9) != NULL;
            k->wormhole = memmem(line, n, "wormhole", 8) != NULL;
        }
        if (memmem(line, n, "PCIe slot", 9)) take_header(k, line, n);
        return true;
    }
    return memmem(line, n, "9090", 4) ? take_row(c, k, line, n) : true;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Whether grants of the unpacker's port count what its requests do: on Blackhole they do not. */
static bool unpacker_ratio(tt_counters *c, tt_counted_device *d)
{
    size_t n = 0;
    double *ratios = malloc((c->n + 1) * sizeof *ratios);
    d->l1_grant_ratio = -1;
    if (!ratios) return false;
    for (size_t i = 0; i < c->n_programs; i++) {
        const tt_counted *p = &c->programs[i];
        if (p->device != d->device) continue;
        /* Records of a core are neighbours: grant and request meet within it. */
        double req = 0, grant = 0;
        bool has_req = false, has_grant = false;
        uint32_t core = TT_NONE;
        for (uint32_t at = p->first;; at = c->items[at - 1].next) {
            const tt_counter *r = at ? &c->items[at - 1] : NULL;
            if (!r || r->core != core) {
                if (has_req && has_grant && req > 0) ratios[n++] = grant / req;
                has_req = has_grant = false;
                if (!r) break;
                core = r->core;
            }
            if (r->kind == TT_L1_0_UNPACKER_0) {
                req = r->value;
                has_req = true;
            } else if (r->kind == TT_L1_0_UNPACKER_0_GRANT) {
                grant = r->value;
                has_grant = true;
            }
        }
    }
    if (n) qsort(ratios, n, sizeof *ratios, by_value);
    if (n) d->l1_grant_ratio = n % 2 ? ratios[n / 2] : (ratios[n / 2 - 1] + ratios[n / 2]) / 2;
    free(ratios);
    return true;
}

static devlog_status read_all(tt_counters *c, dl_input *input, const tt_progress *progress, devlog_error *err)
{
    log_columns k = {.n = 0};
    char *text = NULL;
    size_t n = 0, cap = 0;
    bool ok = true, ended = false;
    while (!ended && ok) {
        if (cap - n < CHUNK) {
            char *grown = realloc(text, cap + 2 * CHUNK);
            ok = grown != NULL;
            if (!ok) break;
            text = grown;
            cap += 2 * CHUNK;
        }
        size_t got = 0;
        if (dl_input_read(input, text + n, CHUNK, &got, NULL)) got = 0; /* the decoder says what is wrong */
        ended = got == 0;
        n += got;
        const char *p = text, *end = text + n;
        /* Most logs have none of them. */
        bool any = !k.header || memmem(text, n, "9090", 4);
        while (p < end && ok && any) {
            const char *feed = memchr(p, '\n', (size_t)(end - p));
            if (!feed && !ended && end - p < MAX_LINE) break;
            const char *stop = feed ? feed : end;
            ok = take_line(c, &k, p, (size_t)(stop - p));
            p = feed ? feed + 1 : end;
        }
        if (!any) { /* what a later piece may go on with */
            const char *feed = memrchr(text, '\n', n);
            p = feed ? feed + 1 : n > MAX_LINE ? end - 16 : text;
        }
        n = (size_t)(end - p);
        memmove(text, p, n);
        if (progress) progress->call(progress->ctx, dl_input_taken(input), dl_input_size(input));
    }
    for (size_t i = 0; i < c->n_devices && ok; i++)
        if (c->devices[i].seen[TT_L1_0_UNPACKER_0_GRANT]) ok = unpacker_ratio(c, &c->devices[i]);
    free(text);
    dl_input_close(input);
    return ok ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

devlog_status tt_counters_read(tt_counters *c, const char *path, const tt_progress *progress,
                               devlog_error *err)
{
    dl_input *input;
    devlog_status status = dl_input_open(&input, path, err);
    return status ? status : read_all(c, input, progress, err);
}

devlog_status tt_counters_parse(tt_counters *c, const void *bytes, size_t n, devlog_error *err)
{
    dl_input *input;
    devlog_status status = dl_input_memory(&input, "device log", bytes, n, err);
    return status ? status : read_all(c, input, NULL, err);
}
