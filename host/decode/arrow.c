/* Batches of zones through the Arrow C stream interface (devlog/decode.h). Each array owns its memory: a
 * block that its release function frees; texts of a dictionary are shared by batches between which nothing
 * was added. The empty name is the first of every dictionary. */
#include "devlog/decode.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "decode/tables.h"

enum column { CHIP, CORE_X, CORE_Y, RISC, ZONE, LAUNCH, START, END, DEPTH, OWN_COST, COLUMNS };

/* Formats: C unsigned 8 bits, S 16, I 32, L 64; i signed 32; u utf8; +s struct (Arrow columnar format, C data
 * interface). */
static const struct column_type {
    const char *name, *format;
    unsigned char bytes;
    bool dictionary, nullable;
} types[COLUMNS] = {
    [CHIP] = {"chip", "I", 4, false, false},     [CORE_X] = {"core_x", "S", 2, false, false},
    [CORE_Y] = {"core_y", "S", 2, false, false}, [RISC] = {"risc", "i", 4, true, false},
    [ZONE] = {"zone", "i", 4, true, false},      [LAUNCH] = {"launch", "L", 8, false, true},
    [START] = {"start", "L", 8, false, false},   [END] = {"end", "L", 8, false, false},
    [DEPTH] = {"depth", "I", 4, false, false},   [OWN_COST] = {"own_cost", "I", 4, false, false},
};

/* ---- Dictionaries
 * ------------------------------------------------------------------------------------------ */

/* Texts one behind the other, as a utf8 array has them; shared by the arrays that were made of it. */
typedef struct texts {
    atomic_uint users;
    int32_t *offsets;
    char *bytes;
} texts;

/* Numbers for texts in order of first appearance: names are unique, as those who make categories of them
 * require. */
typedef struct dictionary {
    dl_intern *names;
    uint32_t *of, n_of; /* by stream or zone: its name's number + 1 */
    texts *made;        /* of the first n_made names */
    uint32_t n_made;
    dl_str text;
} dictionary;

static void texts_drop(texts *t)
{
    if (!t || atomic_fetch_sub(&t->users, 1) != 1) return;
    free(t->offsets);
    free(t->bytes);
    free(t);
}

static texts *texts_make(const dictionary *d)
{
    uint32_t count = dl_intern_count(d->names);
    size_t bytes = 0, n;
    for (uint32_t i = 0; i < count; i++) {
        dl_intern_text(d->names, i, &n);
        bytes += n;
    }
    if (bytes > INT32_MAX) return NULL;
    texts *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    atomic_init(&t->users, 1);
    t->offsets = malloc((count + (size_t)1) * sizeof *t->offsets);
    t->bytes = malloc(bytes ? bytes : 1);
    if (!t->offsets || !t->bytes) {
        texts_drop(t);
        return NULL;
    }
    int32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *text = dl_intern_text(d->names, i, &n);
        t->offsets[i] = at;
        memcpy(t->bytes + at, text, n);
        at += (int32_t)n;
    }
    t->offsets[count] = at;
    return t;
}

/* The number of `name`, which belongs to stream or zone `of`; UINT32_MAX: out of memory. */
static uint32_t dictionary_index(dictionary *d, uint32_t of, const char *name)
{
    if (of < d->n_of && d->of[of]) return d->of[of] - 1;
    if (of >= d->n_of) {
        uint32_t n = of + 1 + of / 2;
        uint32_t *more = realloc(d->of, n * sizeof *more);
        if (!more) return UINT32_MAX;
        memset(more + d->n_of, 0, (n - d->n_of) * sizeof *more);
        d->of = more;
        d->n_of = n;
    }
    dl_str_clear(&d->text);
    dl_str_utf8(&d->text, name, strlen(name)); /* the format's texts are UTF-8; a log's may not be */
    if (d->text.failed) return UINT32_MAX;
    uint32_t at = dl_intern_add(d->names, d->text.len ? d->text.text : "", d->text.len);
    if (at != DL_NO_STRING) d->of[of] = at + 1;
    return at;
}

static void dictionary_free(dictionary *d)
{
    dl_intern_free(d->names);
    free(d->of);
    texts_drop(d->made);
    dl_str_free(&d->text);
}

/* ---- Arrays
 * ------------------------------------------------------------------------------------------------ */

/* An array with what it points to: one allocation, but for buffers and shared texts. */
typedef struct array_block {
    void *owned[2]; /* buffers to free */
    texts *texts;
    const void *buffers[3];
    struct ArrowArray *children[COLUMNS];
} array_block;

static void release_array(struct ArrowArray *a)
{
    array_block *b = a->private_data;
    for (int64_t i = 0; i < a->n_children; i++) {
        if (a->children[i]->release) a->children[i]->release(a->children[i]);
        free(a->children[i]);
    }
    if (a->dictionary) {
        if (a->dictionary->release) a->dictionary->release(a->dictionary);
        free(a->dictionary);
    }
    free(b->owned[0]);
    free(b->owned[1]);
    texts_drop(b->texts);
    free(b);
    a->release = NULL;
}

/* An array without contents that may be released; false: out of memory. */
static bool array_new(struct ArrowArray *a, int64_t length, int64_t n_buffers)
{
    array_block *b = calloc(1, sizeof *b);
    *a = (struct ArrowArray){
        .length = length, .n_buffers = n_buffers, .release = b ? release_array : NULL, .private_data = b};
    if (!b) return false;
    a->buffers = b->buffers;
    return true;
}

static struct ArrowArray *dictionary_array(dictionary *d)
{
    struct ArrowArray *a = malloc(sizeof *a);
    if (!a) return NULL;
    uint32_t count = dl_intern_count(d->names);
    if (d->n_made != count || !d->made) {
        texts_drop(d->made);
        d->made = texts_make(d);
        d->n_made = count;
    }
    if (!d->made || !array_new(a, count, 3)) {
        free(a);
        return NULL;
    }
    array_block *b = a->private_data;
    atomic_fetch_add(&d->made->users, 1);
    b->texts = d->made;
    b->buffers[1] = d->made->offsets;
    b->buffers[2] = d->made->bytes;
    return a;
}

/* ---- The stream
 * -------------------------------------------------------------------------------------------- */

typedef struct stream {
    devlog_log *log;
    dictionary riscs, zones;
    devlog_error err;
} stream;

/* The run host id, or the number in logs without ids. */
static uint64_t launch_id(const devlog_log *log, uint32_t launch)
{
    const devlog_launch l = devlog_log_launch(log, launch);
    return l.run_host_id ? l.run_host_id : l.number;
}

static bool fill(stream *s, enum column column, const devlog_zones *z, struct ArrowArray *a)
{
    size_t n = z->count;
    array_block *b = a->private_data;
    void *data = malloc(n * types[column].bytes);
    if (!data) return false;
    b->owned[0] = data;
    b->buffers[1] = data;
    uint16_t *u16 = data;
    uint32_t *u32 = data;
    uint64_t *u64 = data;
    switch (column) {
    case CHIP:
        for (size_t i = 0; i < n; i++)
            u32[i] = devlog_log_stream(s->log, z->stream[i]).chip;
        break;
    case CORE_X:
    case CORE_Y:
        for (size_t i = 0; i < n; i++) {
            const devlog_core core = devlog_log_stream(s->log, z->stream[i]).core;
            u16[i] = (uint16_t)(column == CORE_X ? core.x : core.y);
        }
        break;
    case RISC:
        for (size_t i = 0; i < n; i++)
            if ((u32[i] = dictionary_index(&s->riscs, z->stream[i],
                                           devlog_log_stream(s->log, z->stream[i]).risc)) == UINT32_MAX)
                return false;
        break;
    case ZONE:
        for (size_t i = 0; i < n; i++)
            if ((u32[i] = dictionary_index(&s->zones, z->zone[i],
                                           devlog_log_zone(s->log, z->zone[i]).name)) == UINT32_MAX)
                return false;
        break;
    case LAUNCH: {
        uint8_t *valid = calloc((n + 7) / 8, 1);
        if (!valid) return false;
        b->owned[1] = valid;
        for (size_t i = 0; i < n; i++) {
            bool none = z->launch[i] == DEVLOG_NO_LAUNCH;
            u64[i] = none ? 0 : launch_id(s->log, z->launch[i]);
            valid[i / 8] |= (uint8_t)(!none << i % 8);
            a->null_count += none;
        }
        if (a->null_count) b->buffers[0] = valid;
        break;
    }
    case START: memcpy(data, z->start, n * sizeof *u64); break;
    case END: memcpy(data, z->end, n * sizeof *u64); break;
    case DEPTH: memcpy(data, z->depth, n * sizeof *u32); break;
    case OWN_COST: memcpy(data, z->own_cost, n * sizeof *u32); break;
    case COLUMNS: break;
    }
    return true;
}

static bool fill_all(stream *s, const devlog_zones *z, struct ArrowArray *out)
{
    if (!array_new(out, (int64_t)z->count, 1)) return false;
    array_block *b = out->private_data;
    out->children = b->children;
    for (int i = 0; i < COLUMNS; i++) {
        struct ArrowArray *child = malloc(sizeof *child);
        if (!child) return false;
        if (!array_new(child, (int64_t)z->count, 2)) {
            free(child);
            return false;
        }
        b->children[out->n_children++] = child;
        if (!fill(s, (enum column)i, z, child)) return false;
        if (types[i].dictionary && !(child->dictionary = dictionary_array(i == RISC ? &s->riscs : &s->zones)))
            return false;
    }
    return true;
}

static int get_next(struct ArrowArrayStream *stream_, struct ArrowArray *out)
{
    stream *s = stream_->private_data;
    devlog_batch batch;
    *out = (struct ArrowArray){0}; /* released: the end of the stream */
    do {
        devlog_status status = devlog_log_next(s->log, &batch, &s->err);
        if (status) return status == DEVLOG_ERR_MEMORY ? ENOMEM : EIO;
        if (batch.last) return 0;
    } while (batch.zones.count == 0);
    if (fill_all(s, &batch.zones, out)) return 0;
    if (out->release) out->release(out);
    dl_fail(&s->err, DEVLOG_ERR_MEMORY, "out of memory for a batch of %zu zones", batch.zones.count);
    return ENOMEM;
}

/* ---- The schema
 * -------------------------------------------------------------------------------------------- */

typedef struct schema_block {
    struct ArrowSchema *children[COLUMNS];
    struct ArrowSchema child[COLUMNS];
} schema_block;

/* A child that was moved away has no release function, and its new owner releases it, after the parent
 * perhaps: so a dictionary belongs to its child, and only what a child is copied from is the parent's. */
static void release_child(struct ArrowSchema *c)
{
    if (c->dictionary) {
        if (c->dictionary->release) c->dictionary->release(c->dictionary);
        free(c->dictionary);
    }
    c->release = NULL;
}

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release) schema->children[i]->release(schema->children[i]);
    free(schema->private_data);
    schema->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream_, struct ArrowSchema *out)
{
    stream *s = stream_->private_data;
    schema_block *b = calloc(1, sizeof *b);
    if (!b) {
        dl_fail(&s->err, DEVLOG_ERR_MEMORY, "out of memory");
        return ENOMEM;
    }
    *out = (struct ArrowSchema){.format = "+s",
                                .name = "",
                                .n_children = COLUMNS,
                                .children = b->children,
                                .release = release_schema,
                                .private_data = b};
    bool ok = true;
    for (int i = 0; i < COLUMNS; i++) {
        b->child[i] = (struct ArrowSchema){.format = types[i].format,
                                           .name = types[i].name,
                                           .flags = types[i].nullable ? ARROW_FLAG_NULLABLE : 0,
                                           .release = release_child};
        b->children[i] = &b->child[i];
        if (!types[i].dictionary) continue;
        struct ArrowSchema *texts_of = b->child[i].dictionary = malloc(sizeof *texts_of);
        if (texts_of) *texts_of = (struct ArrowSchema){.format = "u", .name = "", .release = release_child};
        ok &= texts_of != NULL;
    }
    if (ok) return 0;
    out->release(out);
    dl_fail(&s->err, DEVLOG_ERR_MEMORY, "out of memory");
    return ENOMEM;
}

static const char *get_last_error(struct ArrowArrayStream *stream_)
{
    const stream *s = stream_->private_data;
    return s->err.status ? s->err.text : NULL;
}

static void release_stream(struct ArrowArrayStream *stream_)
{
    stream *s = stream_->private_data;
    dictionary_free(&s->riscs);
    dictionary_free(&s->zones);
    free(s);
    stream_->release = NULL;
}

devlog_status devlog_log_arrow(devlog_log *log, struct ArrowArrayStream *out, devlog_error *err)
{
    stream *s = calloc(1, sizeof *s);
    if (!s) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    s->log = log;
    s->riscs.names = dl_intern_new(DL_MAX_STRINGS, DL_MAX_STRING_BYTES);
    s->zones.names = dl_intern_new(DL_MAX_STRINGS, DL_MAX_STRING_BYTES);
    if (!s->riscs.names || !s->zones.names) {
        dictionary_free(&s->riscs);
        dictionary_free(&s->zones);
        free(s);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    }
    *out = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, s};
    return DEVLOG_OK;
}
