/* Keys: finding the statistics of a zone on a stream, and which launch each of its samples is of. */
#include <stdlib.h>

#include "decode/pair/pair_internal.h"

static dl_key *new_key(dl_pair *p, uint32_t stream, uint32_t site)
{
    if (p->n_keys >= DL_MAX_KEYS) return NULL;
    if (p->n_keys == p->n_blocks * KEYS_PER_BLOCK) {
        dl_key **blocks = realloc(p->key_blocks, (p->n_blocks + 1) * sizeof(dl_key *));
        if (!blocks) return NULL;
        p->key_blocks = blocks;
        dl_key *block = aligned_alloc(64, KEYS_PER_BLOCK * sizeof(dl_key));
        if (!block) return NULL;
        blocks[p->n_blocks++] = block;
    }
    dl_key *k = &p->key_blocks[p->n_keys / KEYS_PER_BLOCK][p->n_keys % KEYS_PER_BLOCK];
    const dl_site *s = &p->tables->sites[site];
    *k = (dl_key){.stream = stream, .site = site, .role = s->role, .min = UINT64_MAX, .wanted = true};
    k->samples.pool = &p->pool;
    if (p->filter) k->wanted = dl_filter_site(p->filter, p->tables, s);
    p->n_keys++;
    return k;
}

static void enter(key_slot *slots, uint32_t n_slots, key_slot slot)
{
    uint32_t at = dl_key_slot(slot.site, n_slots);
    while (slots[at].key)
        at = (at + 1) & (n_slots - 1);
    slots[at] = slot;
}

static bool grow_slots(stream_state *s)
{
    uint32_t n = s->n_key_slots ? s->n_key_slots * 2 : 16;
    key_slot *slots = calloc(n, sizeof *slots);
    if (!slots) return false;
    for (uint32_t i = 0; i < s->n_key_slots; i++)
        if (s->keys[i].key) enter(slots, n, s->keys[i]);
    free(s->keys);
    s->keys = slots;
    s->n_key_slots = n;
    return true;
}

dl_key *dl_pair_add_key(dl_pair *p, stream_state *s, uint32_t stream, uint32_t site)
{
    if ((s->n_keys + 1) * 2 > s->n_key_slots && !grow_slots(s)) return NULL;
    dl_key *k = new_key(p, stream, site);
    if (!k) return NULL;
    enter(s->keys, s->n_key_slots, (key_slot){k, site});
    s->n_keys++;
    return k;
}

const uint8_t dl_pair_kinds[DL_ROW_TYPES] = {
    [DL_ROW_ZONE_TOTAL] = DL_EVENT_SUM,
    [DL_ROW_TS_DATA] = DL_EVENT_VALUE,
    [DL_ROW_TS_DATA_16B] = DL_EVENT_VALUE,
    [DL_ROW_TS_EVENT] = DL_EVENT_POINT,
};

void dl_pair_count_point(dl_pair *p, const pair_mark *m, uint64_t time, uint32_t launch)
{
    const uint32_t site = m->kind->site;
    dl_event_kind kind = (dl_event_kind)dl_pair_kinds[m->kind->type];
    uint64_t data = kind == DL_EVENT_POINT ? 0 : m->rare->data,
             passes = kind == DL_EVENT_SUM ? m->rare->op : 0;
    dl_series *s = dl_series_add(&p->series, m->stream, site, kind, time, data, passes);
    if (!s) {
        dl_pair_lose_key(p, m);
        return;
    }
    if (m->kind->cost == DEVLOG_KIND_COUNTER && kind == DL_EVENT_VALUE) s->what = DL_SERIES_COUNTER;
    if (m->rare->meta)
        dl_series_tell(&p->series, s, dl_text(p->tables, m->rare->meta),
                       &(dl_message){time, m->stream, site, launch, m->rare->meta});
}

bool dl_key_note_launch(dl_key *k, uint32_t launch)
{
    if (k->n_runs && k->run_samples == 1) {
        k->step = launch - k->next_launch;
        k->runs[k->n_runs - 1].step = k->step;
        k->run_samples = 2;
        k->next_launch = launch + k->step;
        return true;
    }
    if (k->n_runs == k->cap_runs) {
        uint32_t cap = k->cap_runs ? k->cap_runs * 2 : 1;
        dl_launch_run *runs = realloc(k->runs, cap * sizeof *runs);
        if (!runs) return false;
        k->runs = runs;
        k->cap_runs = cap;
    }
    k->runs[k->n_runs++] = (dl_launch_run){(uint32_t)dl_samples_count(&k->samples), launch, 0};
    k->run_samples = 1;
    k->next_launch = launch; /* and the step is found with the next sample */
    return true;
}

bool dl_key_add_sample(dl_key *k, uint64_t start, uint64_t cycles)
{
    if (!k->samples.first && !k->count) k->first_start = start;
    return dl_samples_add(&k->samples, cycles);
}

void dl_key_settle(dl_key *k)
{
    dl_summary totals;
    if (!k->samples.first) return;
    dl_samples_totals(&k->samples, &totals);
    if (!k->count) k->first = totals.first;
    k->count += totals.count; /* to what is away */
    k->min = totals.min < k->min ? totals.min : k->min;
    k->max = totals.max > k->max ? totals.max : k->max;
    k->sum += totals.sum;
}
