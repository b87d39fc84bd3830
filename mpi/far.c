/* Far samples by MPI. Rank 0 says which keys there are, then which are meant, then what is to be counted; each as one message to
 * all, and counts are summed up on the way back. */
#include "far.h"

#include <stdlib.h>

#include "decode/parts/parts.h"
#include "decode/wire.h"
#include "far_launches.h"

enum { SAY_END, SAY_KEYS, SAY_SETS, SAY_COUNT, SAY_LAUNCHES, SAY_OTHER, SAYINGS };

static void lacks_memory(const far_samples *f)
{
    team_die(f->r, "out of memory for medians");
}

static void damaged(const far_samples *f)
{
    team_die(f->r, "what rank 0 said of medians is damaged");
}

void far_keep(far_samples *f, dl_decode *d, uint32_t first_part, uint32_t n_parts)
{
    far_part *parts = realloc(f->parts, (f->n_parts + 1) * sizeof *parts);
    if (!parts) lacks_memory(f);
    f->parts = parts;
    parts[f->n_parts++] = (far_part){d, first_part, n_parts};
}

void far_drop(far_samples *f, uint32_t first_part, uint32_t n_parts)
{
    dl_wire w = {.out = &f->dropped};
    dl_wire_u32(&w, &first_part);
    dl_wire_u32(&w, &n_parts);
}

void far_free(far_samples *f)
{
    free(f->parts);
    free(f->sets);
    free(f->ids);
    dl_str_free(&f->dropped);
    dl_str_free(&f->said);
}

/* ---- Which keys there are ------------------------------------------------------------------------------- */

/* Keys of rank 0 whose samples are far. */
typedef struct far_keys {
    dl_tables tables;
    uint64_t *places; /* stream and site of each, by number; then, sorted, with the number */
    uint32_t *ids;
    uint32_t n;
} far_keys;

/* Parts that overlap with those that were decoded again have no say. */
static void forget_parts(far_samples *f, const char *text, size_t n)
{
    dl_wire w = {.at = (const uint8_t *)text, .end = (const uint8_t *)text + n};
    while (w.at < w.end) {
        uint32_t first = 0, count = 0;
        dl_wire_u32(&w, &first);
        dl_wire_u32(&w, &count);
        if (w.bad) damaged(f);
        for (uint32_t i = 0; i < f->n_parts; i++)
            if (f->parts[i].first < first + count && first < f->parts[i].first + f->parts[i].n)
                f->parts[i].decode = NULL;
    }
}

typedef struct place {
    uint64_t at;
    uint32_t id;
} place;

static int by_place(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

static int by_id(const void *a, const void *b)
{
    const far_set *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static void add_set(far_samples *f, uint32_t id, uint32_t part, const dl_key *key)
{
    if (f->n_sets == f->cap_sets) {
        const size_t cap = f->cap_sets ? f->cap_sets * 2 : 256;
        far_set *sets = realloc(f->sets, cap * sizeof *sets);
        if (!sets) lacks_memory(f);
        f->sets = sets;
        f->cap_sets = cap;
    }
    f->sets[f->n_sets++] = (far_set){id, part, key};
}

/* Which keys of a decoder are which of rank 0's. */
static void match_keys(far_samples *f, const far_part *part, dl_tables *theirs, const place *places,
                       uint32_t n)
{
    const dl_tables *t = dl_decode_tables(part->decode);
    for (size_t i = 0; i < dl_decode_n_keys(part->decode); i++) {
        const dl_key *k = dl_decode_key(part->decode, i);
        if (!k->samples.first) continue;
        const dl_stream *s = &t->streams[k->stream];
        const dl_site *z = &t->sites[k->site];
        const char *risc = dl_risc_text(t, k->stream), *name = dl_text(t, z->name),
                   *file = dl_text(t, z->file);
        const uint32_t stream =
            dl_tables_stream(theirs, t->chips[s->chip].id, s->core_x, s->core_y, risc, strlen(risc));
        const uint32_t site = dl_tables_site(theirs, name, strlen(name), file, strlen(file), z->line);
        const place wanted = {.at = (uint64_t)stream << 32 | site};
        const place *found = n ? bsearch(&wanted, places, n, sizeof *places, by_place) : NULL;
        if (found) add_set(f, found->id, part->first, k);
    }
}

static void hear_keys(far_samples *f, dl_wire *w)
{
    const char *dropped = NULL;
    size_t n_dropped = 0;
    dl_tables theirs;
    devlog_error err;
    uint32_t n = 0;
    dl_wire_bytes(w, &dropped, &n_dropped);
    forget_parts(f, dropped, n_dropped);
    if (dl_tables_init(&theirs, &err)) lacks_memory(f);
    w->tables = &theirs;
    dl_parts_names(w, &theirs);
    dl_wire_count(w, &n, DL_MAX_KEYS, 2);
    f->n_keys = n;
    place *places = malloc(((size_t)n + 1) * sizeof *places);
    if (!places) lacks_memory(f);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t stream = 0, site = 0;
        dl_wire_below(w, &stream, theirs.n_streams);
        dl_wire_below(w, &site, theirs.n_sites);
        places[i] = (place){(uint64_t)stream << 32 | site, i};
    }
    if (w->bad) damaged(f);
    if (n) qsort(places, n, sizeof *places, by_place);
    for (uint32_t i = 0; i < f->n_parts; i++)
        if (f->parts[i].decode) match_keys(f, &f->parts[i], &theirs, places, n);
    if (f->n_sets) qsort(f->sets, f->n_sets, sizeof *f->sets, by_id);
    free(places);
    dl_tables_free(&theirs);
}

/* ---- What is counted ------------------------------------------------------------------------------------ */

static void hear_sets(far_samples *f, dl_wire *w)
{
    uint32_t n = 0, id = 0, more;
    dl_wire_count(w, &n, DL_MAX_KEYS, 1);
    if (n > f->cap_ids) {
        uint32_t *ids = realloc(f->ids, n * sizeof *ids);
        if (!ids) lacks_memory(f);
        f->ids = ids;
        f->cap_ids = n;
    }
    for (uint32_t i = 0; i < n; i++, id += more) {
        more = 0;
        dl_wire_u32(w, &more);
        f->ids[i] = id + more;
    }
    f->n_ids = n;
    if (w->bad) damaged(f);
}

static void wire_pass(dl_wire *w, dl_far_pass *pass)
{
    dl_wire_u64(w, &pass->min);
    dl_wire_below(w, &pass->shift, 64);
    dl_wire_below(w, &pass->bits, DL_FAR_BITS + 1);
    dl_wire_below(w, &pass->n, DL_FAR_RANKS + 1);
    for (uint32_t i = 0; i < pass->n; i++)
        dl_wire_u64(w, &pass->prefixes[i]);
    dl_wire_flag(w, &pass->all);
}

/* The first set of this number, or where it would be. */
static size_t first_set(const far_samples *f, uint32_t id)
{
    size_t low = 0, high = f->n_sets;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (f->sets[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void count_here(far_samples *f, const dl_far_pass *pass, uint64_t *counts)
{
    for (size_t i = 0; i < f->n_ids; i++)
        for (size_t k = first_set(f, f->ids[i]); k < f->n_sets && f->sets[k].id == f->ids[i]; k++)
            dl_far_count(&f->sets[k].key->samples, pass, counts);
}

/* ---- Rank 0 ---------------------------------------------------------------------------------------------- */

static dl_wire say(far_samples *f, uint32_t what)
{
    dl_wire w = {.out = &f->said};
    dl_str_clear(&f->said);
    dl_wire_u32(&w, &what);
    return w;
}

static void tell(far_samples *f)
{
    if (f->said.failed) lacks_memory(f);
    team_tell(f->r, &f->said);
}

/* What the others hear, rank 0 hears, too. */
static dl_wire heard(far_samples *f, uint32_t *what)
{
    dl_wire w = {.at = (const uint8_t *)f->said.text, .end = (const uint8_t *)f->said.text + f->said.len};
    *what = SAY_END;
    dl_wire_below(&w, what, SAYINGS);
    if (w.bad) damaged(f);
    return w;
}

static devlog_status ask_sets(void *ctx, const dl_samples *const *sets, size_t n, devlog_error *err)
{
    far_samples *f = ctx;
    dl_wire w = say(f, SAY_SETS);
    uint32_t count = 0, id = 0, what;
    (void)err;
    f->asked = sets;
    f->n_asked = n;
    for (size_t i = 0; i < n; i++)
        count += sets[i]->far != NULL;
    dl_wire_u32(&w, &count);
    for (size_t i = 0; i < n; i++) {
        uint32_t more = sets[i]->far_id - id;
        if (!sets[i]->far) continue;
        dl_wire_u32(&w, &more);
        id = sets[i]->far_id;
    }
    tell(f);
    w = heard(f, &what);
    hear_sets(f, &w);
    return DEVLOG_OK;
}

static devlog_status ask_counts(void *ctx, const dl_far_pass *pass, uint64_t *counts, devlog_error *err)
{
    far_samples *f = ctx;
    dl_wire w = say(f, SAY_COUNT);
    dl_far_pass said = *pass;
    (void)err;
    wire_pass(&w, &said);
    tell(f);
    count_here(f, pass, counts);
    for (size_t i = 0; i < f->n_asked; i++)
        dl_far_count(f->asked[i], pass, counts); /* of parts that were decoded again */
    team_sum(f->r, counts, (int)(pass->n << pass->bits));
    return DEVLOG_OK;
}

static devlog_status ask_launches(void *ctx, const dl_far_launch *wanted, size_t n, dl_far_sample **samples,
                                  size_t *n_samples, devlog_error *err)
{
    far_samples *f = ctx;
    dl_wire w = say(f, SAY_LAUNCHES);
    uint32_t what, end = 0;
    for (size_t i = 0; i < n; i++)
        if (wanted[i].place >= end) end = wanted[i].place + 1;
    far_say_launches(&w, wanted, n);
    tell(f);
    w = heard(f, &what);
    dl_str *all = calloc((size_t)f->r->n, sizeof *all);
    if (!all) lacks_memory(f);
    far_answer_launches(f, &w, all);
    devlog_status status = DEVLOG_OK;
    for (int i = 0; i < f->r->n; i++) {
        if (!status) status = far_read_samples(f, &all[i], end, samples, n_samples, err);
        dl_str_free(&all[i]);
    }
    free(all);
    return status;
}

devlog_status far_begin(far_samples *f, dl_decode *d, devlog_error *err)
{
    (void)err;
    f->far = (dl_far){f, ask_sets, ask_counts, ask_launches};
    uint32_t n = dl_decode_far(d, &f->far), what;
    dl_wire w = say(f, SAY_KEYS);
    const char *dropped = f->dropped.text;
    size_t n_dropped = f->dropped.len;
    if (f->dropped.failed) lacks_memory(f);
    dl_wire_bytes(&w, &dropped, &n_dropped);
    w.tables = dl_decode_tables(d);
    dl_parts_names(&w, w.tables);
    dl_wire_u32(&w, &n);
    for (size_t i = 0; i < dl_decode_n_keys(d); i++) {
        const dl_key *k = dl_decode_key(d, i);
        uint32_t stream = k->stream, site = k->site;
        if (!k->samples.far) continue;
        dl_wire_u32(&w, &stream);
        dl_wire_u32(&w, &site);
    }
    tell(f);
    w = heard(f, &what);
    hear_keys(f, &w);
    return DEVLOG_OK;
}

void far_end(far_samples *f)
{
    (void)say(f, SAY_END);
    tell(f);
}

void far_tell(far_samples *f, const dl_str *bytes)
{
    dl_wire w = say(f, SAY_OTHER);
    const char *text = bytes->text;
    size_t n = bytes->len;
    dl_wire_bytes(&w, &text, &n);
    tell(f);
}

/* ---- The others ------------------------------------------------------------------------------------------ */

void far_serve(far_samples *f)
{
    uint64_t *counts = malloc(DL_FAR_COUNTS * sizeof *counts);
    dl_far_pass pass = {0};
    if (!counts) lacks_memory(f);
    for (;;) {
        uint32_t what;
        team_tell(f->r, &f->said);
        dl_wire w = heard(f, &what);
        if (what == SAY_END) break;
        if (what == SAY_KEYS) hear_keys(f, &w);
        if (what == SAY_SETS) hear_sets(f, &w);
        if (what == SAY_LAUNCHES) far_answer_launches(f, &w, NULL);
        if (what == SAY_OTHER) {
            const char *text = NULL;
            size_t n = 0;
            dl_wire_bytes(&w, &text, &n);
            f->hear(f->ctx, text, n);
        }
        if (what != SAY_COUNT) continue;
        wire_pass(&w, &pass);
        if (w.bad) damaged(f);
        memset(counts, 0, ((size_t)pass.n << pass.bits) * sizeof *counts);
        count_here(f, &pass, counts);
        team_sum(f->r, counts, (int)(pass.n << pass.bits));
    }
    free(counts);
}
