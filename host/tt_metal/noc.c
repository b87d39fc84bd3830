/* Reading NoC traces: an array of objects, taken one after the other as they come. */
#include "tt_metal/noc.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "decode/input.h"
#include "ops/jsonline.h"
#include "tt_metal/folder.h"
#include "tt_metal/host.h"
#include "tt_metal/noc_zones.h"

enum { CHUNK = 256 * 1024, MAX_OBJECT = 64 * 1024, MOST = 8160 };

const char *tt_noc_header(tt_noc_sum sum)
{
    static const char *const headers[TT_NOC_COLUMNS] = {
        [TT_NOC_BYTES] = "NOC BYTES",
        [TT_NOC_READ] = "NOC READ BYTES",
        [TT_NOC_WRITE] = "NOC WRITE BYTES",
        [TT_NOC_FABRIC] = "NOC FABRIC BYTES",
        [TT_NOC_0] = "NOC 0 BYTES",
        [TT_NOC_1] = "NOC 1 BYTES",
        [TT_NOC_TRANSFERS] = "NOC TRANSFERS",
        [TT_NOC_READ_WAIT] = "NOC READ WAIT [cycles]",
        [TT_NOC_WRITE_WAIT] = "NOC WRITE WAIT [cycles]",
        [TT_NOC_LINK_BYTES] = "NOC BUSIEST LINK BYTES",
        [TT_NOC_UNROUTED] = "NOC UNROUTED BYTES",
        [TT_NOC_LINK] = "NOC BUSIEST LINK",
    };
    return headers[sum];
}

static int by_ids(const void *a, const void *b)
{
    const tt_noc *x = a, *y = b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return x->session < y->session ? -1 : x->session > y->session;
}

const tt_noc *tt_nocs_of(const tt_nocs *n, uint32_t device, uint64_t id, uint32_t session)
{
    const tt_noc key = {.id = id, .device = device, .session = session};
    return n->n ? bsearch(&key, n->items, n->n, sizeof key, by_ids) : NULL;
}

const tt_noc *tt_nocs_of_run(const tt_nocs *n, uint32_t device, uint64_t id, uint32_t session,
                             uint32_t counted)
{
    const tt_noc *noc = tt_nocs_of(n, device, id, session);
    return noc || counted != TT_NONE ? noc : tt_nocs_of(n, device, id, TT_NONE);
}

static bool digits(const char **p, uint64_t *out)
{
    const char *begin = *p;
    for (*out = 0; **p >= '0' && **p <= '9' && *p - begin < 19; ++*p)
        *out = *out * 10 + (uint64_t)(**p - '0');
    return *p > begin && (**p < '0' || **p > '9');
}

/* What the name of a file says; false: it is no trace. The op's name in it may hold anything, so its id is what
 * stands behind the last "_ID". */
static bool take_name(const char *name, tt_noc *out)
{
    static const char prefix[] = "noc_trace_dev";
    const char *p = name + sizeof prefix - 1, *at = NULL;
    uint64_t device, trace;
    if (strncmp(name, prefix, sizeof prefix - 1) != 0 || !digits(&p, &device) || *p != '_') return false;
    for (const char *q = p; (q = strstr(q, "_ID")) != NULL; q += 3)
        at = q + 3;
    if (!at || !digits(&at, &out->id) || device >= TT_NONE) return false;
    out->device = (uint32_t)device;
    out->session = TT_NONE;
    if (strncmp(at, "_traceID", 8) == 0) {
        at += 8;
        if (!digits(&at, &trace)) return false;
        out->session = (uint32_t)trace; /* the counter is in the low word */
    }
    static const char *const endings[] = {".json", ".json.gz", ".json.zst", ".json.xz", ".json.pack"};
    bool known = false;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        known |= strcmp(at, endings[i]) == 0;
    return known;
}

/* What a "set state" leaves for the transfers "with state" behind it. */
typedef struct set {
    tt_noc_box to; /* x0 UINT64_MAX: not known */
    uint64_t bytes;
} set;

/* A RISC in hand: its objects are neighbours, in the order of time. */
typedef struct waiting {
    uint64_t x, y, since[2]; /* at a read, write barrier; UINT64_MAX: not */
    set sets[2][2];          /* by NoC; of reads, writes */
    char proc[16];
} waiting;

#define NOWHERE                                                                                              \
    {                                                                                                        \
        UINT64_MAX, 0, 0, 0                                                                                  \
    }
#define NOT_SET                                                                                              \
    {                                                                                                        \
        .to = NOWHERE                                                                                        \
    }
#define NOBODY                                                                                               \
    {                                                                                                        \
        .x = UINT64_MAX, .since = {UINT64_MAX, UINT64_MAX}, .sets = {                                        \
            {NOT_SET, NOT_SET},                                                                              \
            {NOT_SET, NOT_SET}                                                                               \
        }                                                                                                    \
    }

typedef struct one {
    tt_noc *noc;
    waiting w;
    uint64_t saturated, bad;
    tt_noc_grid grid;
    tt_noc_links *links;
    tt_nocs *all;
    tt_noc_zoner zones;
    bool no_memory;
} one;

static void add(one *o, tt_noc_zone *zone, tt_noc_sum sum, uint64_t n)
{
    o->noc->sums[sum] += n;
    zone->sums[sum] += n;
}

static bool is(const jl_value *v, const char *text)
{
    return v->kind == JL_TEXT && v->len == strlen(text) && memcmp(v->text, text, v->len) == 0;
}

static bool begins(const jl_value *v, const char *text)
{
    return v->kind == JL_TEXT && v->len >= strlen(text) && memcmp(v->text, text, strlen(text)) == 0;
}

/* Stamps are whole cycles, in newer files with a fraction. */
static uint64_t stamp(const jl_value *v)
{
    char text[40];
    if (v->kind == JL_NUMBER) return v->number;
    if (v->kind != JL_REAL || v->len >= sizeof text || *v->text == '-') return 0;
    memcpy(text, v->text, v->len);
    text[v->len] = 0;
    double value = strtod(text, NULL);
    return value < 1e18 ? (uint64_t)value : 0;
}

/* What is no coordinate is outside of every grid. */
static uint64_t place(const jl_value *v)
{
    return v->kind == JL_NUMBER ? v->number : UINT64_MAX;
}

static void take_barrier(one *o, tt_noc_zone *zone, const jl_value *type, uint64_t at)
{
    int write = begins(type, "WRITE_BARRIER");
    if (is(type, "READ_BARRIER_START") || is(type, "WRITE_BARRIER_START")) {
        o->w.since[write] = at;
    } else if (is(type, "READ_BARRIER_END") || is(type, "WRITE_BARRIER_END")) {
        uint64_t since = o->w.since[write];
        if (since != UINT64_MAX && at >= since)
            add(o, zone, write ? TT_NOC_WRITE_WAIT : TT_NOC_READ_WAIT, at - since);
        o->w.since[write] = UINT64_MAX;
    }
}

static bool ends(const jl_value *v, const char *text)
{
    const size_t n = strlen(text);
    return v->len >= n && memcmp(v->text + v->len - n, text, n) == 0;
}

/* A "set state" moves nothing: it tells what each transfer "with state" behind it moves, of which events say no
 * bytes, or those of a set without (tt-metal's dataflow_api.h, tt-npe's npeWorkloadIngest.cpp). */
static bool moves(one *o, const jl_value *type, const jl_value *noc, tt_noc_box *to, uint64_t *bytes)
{
    if (!begins(type, "READ") && !begins(type, "WRITE")) return true;
    set *state = &o->w.sets[is(noc, "NOC_1")][!begins(type, "READ")];
    if (ends(type, "SET_STATE")) {
        *state = (set){*to, *bytes};
        return false;
    }
    if (!memmem(type->text, type->len, "WITH_STATE", 10)) return true;
    if (to->x0 == UINT64_MAX) *to = state->to;
    if (state->bytes) *bytes = state->bytes;
    return true;
}

/* "ZONE_START" and "ZONE_END", until November 2025 "begin" and "end". */
static void take_zone(one *o, const jl_value *zone, const jl_value *phase)
{
    dl_str name = {0};
    bool ok = true;
    if (zone->kind != JL_TEXT) return;
    jl_text(zone, &name);
    if (is(phase, "ZONE_START") || is(phase, "begin"))
        ok = tt_noc_zoner_begins(&o->zones, o->all, o->w.proc, name.text ? name.text : "", name.len);
    else if (is(phase, "ZONE_END") || is(phase, "end"))
        ok = tt_noc_zoner_ends(&o->zones, o->all, o->w.proc, name.text ? name.text : "", name.len);
    o->no_memory |= !ok;
    dl_str_free(&name);
}

static void take_object(one *o, const char *text, size_t n)
{
    jl_reader r;
    tt_noc_box to = NOWHERE, all = NOWHERE;
    jl_value v, type = {.kind = JL_END}, noc = type, proc = type, zone = type, phase = type;
    uint64_t bytes = 0, at = 0, x = 0, y = 0;
    jl_kind kind = JL_BAD;
    if (jl_line(&r, text, n))
        while ((kind = jl_next(&r, &v)) != JL_END && kind != JL_BAD) {
            if (jl_key_is(&v, "type"))
                type = v;
            else if (jl_key_is(&v, "num_bytes"))
                bytes = v.kind == JL_NUMBER ? v.number : 0;
            else if (jl_key_is(&v, "noc"))
                noc = v;
            else if (jl_key_is(&v, "proc"))
                proc = v;
            else if (jl_key_is(&v, "zone"))
                zone = v;
            else if (jl_key_is(&v, "zone_phase"))
                phase = v;
            else if (jl_key_is(&v, "sx"))
                x = place(&v);
            else if (jl_key_is(&v, "sy"))
                y = place(&v);
            else if (jl_key_is(&v, "timestamp"))
                at = stamp(&v);
            else if (jl_key_is(&v, "dx"))
                to.x0 = to.x1 = place(&v);
            else if (jl_key_is(&v, "dy"))
                to.y0 = to.y1 = place(&v);
            else if (jl_key_is(&v, "mcast_start_x"))
                all.x0 = place(&v);
            else if (jl_key_is(&v, "mcast_start_y"))
                all.y0 = place(&v);
            else if (jl_key_is(&v, "mcast_end_x"))
                all.x1 = place(&v);
            else if (jl_key_is(&v, "mcast_end_y"))
                all.y1 = place(&v);
        }
    if (kind == JL_BAD) {
        o->bad++;
        return;
    }
    size_t n_proc = proc.kind == JL_TEXT && proc.len < sizeof o->w.proc ? proc.len : 0;
    if (x != o->w.x || y != o->w.y || strlen(o->w.proc) != n_proc ||
        (n_proc && memcmp(o->w.proc, proc.text, n_proc) != 0)) {
        o->w = (waiting)NOBODY;
        o->w.x = x;
        o->w.y = y;
        if (n_proc) memcpy(o->w.proc, proc.text, n_proc);
        tt_noc_zoner_risc(&o->zones);
    }
    if (type.kind != JL_TEXT) {
        take_zone(o, &zone, &phase);
        return;
    }
    tt_noc_zone *here = tt_noc_zoner_here(&o->zones, o->all, o->w.proc);
    o->no_memory |= !here;
    if (!here) return;
    take_barrier(o, here, &type, at);
    o->noc->written += bytes;
    tt_noc_kind way = begins(&type, "READ") ? TT_NOC_FROM : TT_NOC_TO;
    if (all.x0 != UINT64_MAX) {
        to = all;
        way = TT_NOC_TO_ALL;
    }
    if (!moves(o, &type, &noc, &to, &bytes) || !bytes) return;
    const bool fabric = begins(&type, "FABRIC");
    tt_noc_route(o->links, o->grid, fabric ? -1 : is(&noc, "NOC_1"), o->w.x, o->w.y, to, way, bytes);
    add(o, here, TT_NOC_BYTES, bytes);
    add(o, here, TT_NOC_TRANSFERS, 1);
    add(o, here, fabric ? TT_NOC_FABRIC : begins(&type, "READ") ? TT_NOC_READ : TT_NOC_WRITE, bytes);
    if (is(&noc, "NOC_0") || is(&noc, "NOC_1")) add(o, here, is(&noc, "NOC_0") ? TT_NOC_0 : TT_NOC_1, bytes);
    o->saturated += bytes == MOST;
}

/* The end of the object that begins at p; NULL: it is not all there. */
static const char *object_end(const char *p, const char *end)
{
    unsigned depth = 0;
    bool inside = false;
    for (; p < end; p++) {
        if (inside) {
            if (*p == '\\')
                p++;
            else if (*p == '"')
                inside = false;
        } else if (*p == '"') {
            inside = true;
        } else if (*p == '{') {
            depth++;
        } else if (*p == '}' && --depth == 0) {
            return p + 1;
        }
    }
    return NULL;
}

static void take_links(tt_noc *noc, const tt_noc_links *l)
{
    int way = 0;
    unsigned x = 0, y = 0;
    noc->sums[TT_NOC_LINK_BYTES] = tt_noc_busiest(l, &way, &x, &y);
    noc->sums[TT_NOC_UNROUTED] = l->unrouted;
    noc->way = (uint8_t)way;
    noc->x = (uint8_t)x;
    noc->y = (uint8_t)y;
}

static devlog_status read_one(tt_nocs *all, const char *name, dl_input *in, tt_found *found,
                              devlog_error *err)
{
    tt_noc noc = {0};
    one o = {.noc = &noc, .w = NOBODY, .grid = all->grid, .links = calloc(1, sizeof *o.links), .all = all};
    char *text = malloc(CHUNK + MAX_OBJECT);
    size_t n = 0, got = 1;
    bool ok = text && o.links, whole = take_name(name, &noc);
    tt_noc_zoner_begin(&o.zones, all);
    while (ok && whole && got) {
        devlog_error why = {0};
        got = 0;
        if (dl_input_read(in, text + n, CHUNK, &got, &why)) {
            tt_found_add(found, TT_STOPPED, "%s", why.text);
            got = 0;
        }
        n += got;
        const char *p = text, *end = text + n;
        for (const char *brace; (brace = memchr(p, '{', (size_t)(end - p))) != NULL;) {
            const char *stop = object_end(brace, end);
            p = brace;
            if (!stop) break;
            take_object(&o, brace, (size_t)(stop - brace));
            p = stop;
        }
        n = (size_t)(end - p);
        if (n > MAX_OBJECT || (!got && n && *p == '{')) { /* too long, or cut */
            o.bad++;
            n = 0;
        }
        memmove(text, p, n);
    }
    free(text);
    dl_input_close(in);
    if (ok) take_links(&noc, o.links);
    free(o.links);
    tt_noc_zoner_end(&o.zones, all, &noc.zones, &noc.n_zones);
    ok = ok && !o.no_memory;
    if (ok && whole && all->n == all->cap) {
        size_t cap = all->cap ? all->cap * 2 : 256;
        tt_noc *grown = realloc(all->items, cap * sizeof *grown);
        ok = grown != NULL;
        if (ok) all->items = grown;
        if (ok) all->cap = cap;
    }
    if (!ok) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (whole) all->items[all->n++] = noc;
    if (o.bad)
        tt_found_add(found, TT_NOC_BAD, "%s: %llu events that could not be read", name,
                     (unsigned long long)o.bad);
    if (o.saturated)
        tt_found_add(found, TT_NOC_SATURATED, "%s: %llu transfers", name, (unsigned long long)o.saturated);
    return DEVLOG_OK;
}

static void sort(tt_nocs *n)
{
    if (n->n) qsort(n->items, n->n, sizeof *n->items, by_ids);
}

/* {"cluster_type": "N150", ...}: which chip it is. */
static tt_noc_grid read_grid(const char *folder, tt_found *found, bool *no_memory)
{
    static const char key[] = "\"cluster_type\"";
    char *path = tt_file_find(folder, "topology.json", no_memory), type[32] = "", text[64 * 1024];
    dl_input *in = NULL;
    const void *bytes = NULL;
    size_t n = sizeof text - 1;
    if (path && dl_input_open(&in, path, NULL) == DEVLOG_OK) {
        if (dl_input_peek(in, &bytes, &n, NULL) != DEVLOG_OK) n = 0;
        if (n) memcpy(text, bytes, n);
        text[n] = 0;
        const char *at = strstr(text, key);
        if (at) sscanf(at + sizeof key - 1, " : \"%31[^\"]\"", type);
        dl_input_close(in);
    } else if (path) {
        tt_found_add(found, TT_STOPPED, "%s cannot be read", path);
    }
    free(path);
    return tt_noc_grid_of(type);
}

static int of_program(const struct dirent *e)
{
    tt_noc ids;
    return take_name(e->d_name, &ids);
}

/* In the order of names, so that what is said is the same everywhere. */
devlog_status tt_nocs_read(tt_nocs *n, const char *folder, tt_found *found, devlog_error *err)
{
    struct dirent **files = NULL;
    bool no_memory = false;
    *n = (tt_nocs){.grid = read_grid(folder, found, &no_memory)};
    const int n_files = scandir(folder, &files, of_program, alphasort);
    no_memory |= n_files < 0 && errno == ENOMEM;
    devlog_status status = no_memory ? dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory") : DEVLOG_OK;
    for (int i = 0; i < n_files; i++) {
        dl_input *in;
        char *path = status ? NULL : dl_path_join(folder, files[i]->d_name);
        if (!status && !path)
            status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        else if (!status && dl_input_open(&in, path, NULL) == DEVLOG_OK)
            status = read_one(n, files[i]->d_name, in, found, err);
        else if (!status)
            tt_found_add(found, TT_STOPPED, "%s cannot be read", path);
        free(path);
        free(files[i]);
    }
    free(files);
    sort(n);
    return status;
}

devlog_status tt_nocs_parse(tt_nocs *n, const char *name, const void *bytes, size_t size, tt_found *found,
                            devlog_error *err)
{
    dl_input *in;
    devlog_status status = dl_input_memory(&in, name, bytes, size, err);
    if (!status) status = read_one(n, name, in, found, err);
    sort(n);
    return status;
}

void tt_nocs_free(tt_nocs *n)
{
    free(n->items);
    free(n->zones);
    dl_intern_free(n->names);
    *n = (tt_nocs){0};
}
