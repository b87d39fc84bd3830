/* Groups: the statistics of zones put together, by RISC, by core, by launch. */
#include "decode/analysis/groups_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

void dl_groups_free(dl_groups *g)
{
    free(g->items);
    *g = (dl_groups){0};
}

/* Names in their order: the rank of each text that is the name of a site or of a RISC, by number. */
static int by_text(const void *pa, const void *pb, void *tables)
{
    const dl_keyed *a = pa, *b = pb;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return strcmp(dl_text(tables, (uint32_t)a->at), dl_text(tables, (uint32_t)b->at));
}

/* Eight bytes of a text, so that numbers are in the order of texts. */
static uint64_t eight_of(const char *text, size_t from)
{
    uint64_t eight = 0;
    const char *at = text + from;
    for (int i = 0; i < 8; i++) {
        eight = eight << 8 | (unsigned char)*at;
        at += *at != 0;
    }
    return eight;
}

/* Puts texts in order that have so many first bytes in common: by the next eight, and where these are the same, too, by those behind them.
 * False: no memory. */
static bool sort_names(dl_tables *t, dl_keyed *names, size_t n, size_t same)
{
    enum { FEW = 256, MOST = 256 };
    for (size_t i = 0; i < n && n > 1; i++)
        names[i].key = eight_of(dl_text(t, (uint32_t)names[i].at), same);
    if (n < FEW || same > MOST) {
        if (n > 1) qsort_r(names, n, sizeof *names, by_text, t);
        return true;
    }
    bool ok = dl_sort_keyed(names, n);
    for (size_t from = 0, to; from < n && ok; from = to) {
        for (to = from + 1; to < n && names[to].key == names[from].key;)
            to++;
        if (names[from].key & 0xFF) ok = sort_names(t, names + from, to - from, same + 8);
    }
    return ok;
}

static uint32_t *rank_names(dl_tables *t)
{
    const uint32_t n_texts = dl_intern_count(t->strings);
    uint32_t *ranks = calloc(n_texts + 1u, sizeof *ranks);
    dl_keyed *names = malloc((n_texts + 1u) * sizeof *names);
    uint32_t n = 0;
    for (uint32_t i = 0; ranks && names && i < t->n_sites + t->n_streams; i++) {
        uint32_t name = i < t->n_sites ? t->sites[i].name : t->streams[i - t->n_sites].risc_name;
        if (!ranks[name]) names[n++].at = name;
        ranks[name] = 1;
    }
    const bool ok = ranks && names && sort_names(t, names, n, 0);
    for (uint32_t i = 0; ok && i < n; i++)
        ranks[names[i].at] = i;
    if (!ok) {
        free(ranks);
        ranks = NULL;
    }
    free(names);
    return ranks;
}

/* Which of a group's keys is the first: that does not depend on the input's order. */
static bool is_before(const groups_member *a, const groups_member *b)
{
    int c = groups_compare(a->key->first_start, b->key->first_start);
    if (!c) c = groups_compare(a->y, b->y);
    if (!c) c = groups_compare(a->x, b->x);
    if (!c) c = groups_compare(a->key->site, b->key->site);
    return c < 0;
}

/* Chip, and core when each is by itself. */
static uint64_t place_of(const dl_tables *t, const dl_stream *s, bool by_core)
{
    uint64_t core = by_core ? (uint64_t)s->core_y << 16 | s->core_x : 0;
    return (uint64_t)t->chips[s->chip].id << 32 | core;
}

_Static_assert(DL_MAX_STRINGS <= 1 << 20, "ranks of names have 20 bits");

/* RISC (those that devlog does not know by their names), role with users' zones last, name. */
static uint64_t what_of(const dl_tables *t, const dl_stream *s, const dl_key *k, const uint32_t *ranks)
{
    uint64_t other = s->risc == DL_RISC_OTHER ? ranks[s->risc_name] : 0;
    uint64_t role = (uint64_t)(k->role == DL_ROLE_USER) << 3 | (uint64_t)k->role;
    return (uint64_t)s->risc << 60 | other << 40 | role << 30 | ranks[t->sites[k->site].name];
}

/* Members in the order of their groups; NULL: no memory. */
static groups_member *in_order(const groups_member *members, size_t n)
{
    dl_keyed *items = malloc((n ? n : 1) * sizeof *items);
    groups_member *sorted = malloc((n ? n : 1) * sizeof *sorted);
    for (size_t i = 0; items && i < n; i++)
        items[i] = (dl_keyed){members[i].what, i};
    bool ok = items && sorted && dl_sort_keyed(items, n);
    for (size_t i = 0; ok && i < n; i++)
        items[i].key = members[items[i].at].place;
    ok = ok && dl_sort_keyed(items, n); /* of one place, they stay in the order of what they are */
    for (size_t i = 0; ok && i < n; i++)
        sorted[i] = members[items[i].at];
    free(items);
    if (ok) return sorted;
    free(sorted);
    return NULL;
}

static groups_member *list_members(dl_decode *d, bool by_core, size_t *n, devlog_error *err)
{
    dl_tables *t = dl_decode_tables(d);
    size_t all = dl_decode_n_keys(d);
    uint32_t *ranks = rank_names(t);
    groups_member *members = ranks ? malloc((all ? all : 1) * sizeof *members) : NULL, *sorted = NULL;
    *n = 0;
    for (size_t i = 0; members && i < all; i++) {
        const dl_key *k = dl_decode_key(d, i);
        if (!k->count) continue;
        const dl_stream *s = &t->streams[k->stream];
        members[(*n)++] = (groups_member){.key = k,
                                          .place = place_of(t, s, by_core),
                                          .what = what_of(t, s, k, ranks),
                                          .chip = s->chip,
                                          .x = s->core_x,
                                          .y = s->core_y,
                                          .risc = s->risc};
    }
    if (members) sorted = in_order(members, *n);
    free(ranks);
    free(members);
    if (!sorted) dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    return sorted;
}

static dl_group group_of(const dl_tables *t, const groups_member *members, size_t n, bool by_core)
{
    const groups_member *m = members;
    for (size_t i = 1; i < n; i++)
        if (is_before(&members[i], m)) m = &members[i];
    dl_group g = {.chip = m->chip,
                  .launch = DL_NONE,
                  .risc_name = t->streams[m->key->stream].risc_name,
                  .site_name = t->sites[m->key->site].name,
                  .stream = by_core ? m->key->stream : DL_NONE,
                  .risc = m->risc,
                  .role = m->key->role};
    dl_summary *s = &g.summary;
    s->min = UINT64_MAX;
    s->first = m->key->first;
    for (size_t i = 0; i < n; i++) {
        const dl_key *k = members[i].key;
        s->count += k->count;
        s->sum += k->sum;
        if (k->min < s->min) s->min = k->min;
        if (k->max > s->max) s->max = k->max;
    }
    return g;
}

/* Groups of members that are in order; with quantiles of all their samples, when these are wanted. */
static devlog_status group_members(dl_decode *d, const groups_member *members, size_t n, bool by_core,
                                   bool quantiles, dl_groups *out, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    const dl_samples **sets = malloc((n ? n : 1) * sizeof *sets);
    out->items = malloc((n ? n : 1) * sizeof *out->items);
    if (!sets || !out->items) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (size_t from = 0, to; from < n && !status; from = to) {
        for (to = from; to < n && groups_order(&members[from], &members[to]) == 0; to++)
            sets[to - from] = &members[to].key->samples;
        dl_group g = group_of(dl_decode_tables(d), &members[from], to - from, by_core);
        const bool sampled = dl_samples_any(&members[from].key->samples);
        if (quantiles && sampled) status = dl_summary_quantiles(&g.summary, sets, to - from, err);
        out->items[out->n++] = g;
    }
    free(sets);
    if (status) dl_groups_free(out);
    return status;
}

/* What is counted only grows: statistics have changed when this has. */
static uint64_t state_of(dl_decode *d)
{
    uint64_t zones = 0, n = dl_decode_n_keys(d);
    for (size_t i = 0; i < n; i++)
        zones += dl_decode_key(d, i)->count;
    return dl_hash_u64(zones << 20 ^ n) | 1;
}

static devlog_status copy_groups(const dl_groups *from, dl_groups *to, devlog_error *err)
{
    *to = *from;
    to->items = malloc((from->n ? from->n : 1) * sizeof *to->items);
    if (!to->items) {
        *to = (dl_groups){0};
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    }
    if (from->n) memcpy(to->items, from->items, from->n * sizeof *to->items);
    return DEVLOG_OK;
}

/* Groups by RISC, of which the decoder keeps those that were made last. */
static devlog_status group_riscs(dl_decode *d, const groups_member *members, size_t n, dl_groups *out,
                                 devlog_error *err)
{
    dl_groups_kept *kept = dl_decode_groups_kept(d);
    const uint64_t of = state_of(d);
    pthread_mutex_lock(&kept->lock);
    devlog_status status = DEVLOG_OK;
    if (kept->of != of) {
        dl_groups_free(&kept->groups);
        kept->of = 0;
        status = group_members(d, members, n, false, true, &kept->groups, err);
        if (!status) kept->of = of;
    }
    if (!status) status = copy_groups(&kept->groups, out, err);
    pthread_mutex_unlock(&kept->lock);
    return status;
}

static devlog_status by_key(dl_decode *d, bool by_core, dl_groups *out, devlog_error *err)
{
    size_t n;
    *out = (dl_groups){0};
    groups_member *members = list_members(d, by_core, &n, err);
    if (!members) return DEVLOG_ERR_MEMORY;
    devlog_status status =
        by_core ? group_members(d, members, n, true, true, out, err) : group_riscs(d, members, n, out, err);
    free(members);
    return status;
}

devlog_status dl_groups_by_risc(dl_decode *d, dl_groups *out, devlog_error *err)
{
    return by_key(d, false, out, err);
}

devlog_status dl_groups_by_core(dl_decode *d, dl_groups *out, devlog_error *err)
{
    return by_key(d, true, out, err);
}

static devlog_status both(dl_decode *d, uint32_t most, bool quantiles, dl_groups *riscs, dl_groups *launches,
                          devlog_error *err)
{
    size_t n;
    *riscs = *launches = (dl_groups){0};
    groups_member *members = list_members(d, false, &n, err);
    if (!members) return DEVLOG_ERR_MEMORY;
    devlog_status status = quantiles ? group_riscs(d, members, n, riscs, err)
                                     : group_members(d, members, n, false, false, riscs, err);
    if (!status) status = groups_of_launches(d, members, n, riscs, most, launches, err);
    free(members);
    if (status) dl_groups_free(riscs);
    return status;
}

devlog_status dl_groups_by_risc_and_launch(dl_decode *d, uint32_t most, dl_groups *riscs, dl_groups *launches,
                                           devlog_error *err)
{
    return both(d, most, true, riscs, launches, err);
}

devlog_status dl_groups_by_launch(dl_decode *d, uint32_t most, dl_groups *out, devlog_error *err)
{
    dl_groups riscs; /* what they are: the summaries are of each launch's samples */
    devlog_status status = both(d, most, false, &riscs, out, err);
    dl_groups_free(&riscs);
    return status;
}
