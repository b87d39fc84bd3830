/* Keys: finding the statistics of a zone on a stream, and which launch each of its samples is of. */
#include <stdlib.h>

#include "decode/pair_internal.h"

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
    if (p->filter) k->wanted = dl_filter_site(p->filter, p->tables, s);
    p->n_keys++;
    return k;
}

static bool grow_slots(stream_state *s)
{
    uint32_t n = s->n_key_slots ? s->n_key_slots * 2 : 8;
    key_slot *slots = calloc(n, sizeof *slots);
    if (!slots) return false;
    for (uint32_t i = 0; i < s->n_key_slots; i++) {
        if (!s->keys[i].site) continue;
        uint32_t at = (s->keys[i].site - 1) * 0x9E3779B1u & (n - 1);
        while (slots[at].site)
            at = (at + 1) & (n - 1);
        slots[at] = s->keys[i];
    }
    free(s->keys);
    s->keys = slots;
    s->n_key_slots = n;
    return true;
}

dl_key *dl_pair_find_key(dl_pair *p, stream_state *s, uint32_t stream, uint32_t site)
{
    uint32_t mask = s->n_key_slots - 1;
    uint32_t at = site * 0x9E3779B1u & mask;
    for (; s->n_key_slots && s->keys[at].site; at = (at + 1) & mask)
        if (s->keys[at].site == site + 1)
            return &p->key_blocks[s->keys[at].key / KEYS_PER_BLOCK][s->keys[at].key % KEYS_PER_BLOCK];
    if ((s->n_keys + 1) * 2 > s->n_key_slots) {
        if (!grow_slots(s)) return NULL;
        mask = s->n_key_slots - 1;
        at = site * 0x9E3779B1u & mask;
        while (s->keys[at].site)
            at = (at + 1) & mask;
    }
    uint32_t index = p->n_keys;
    dl_key *k = new_key(p, stream, site);
    if (!k) return NULL;
    s->keys[at] = (key_slot){site + 1, index};
    s->n_keys++;
    return k;
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
    k->runs[k->n_runs++] = (dl_launch_run){(uint32_t)k->count, launch, 0};
    k->run_samples = 1;
    k->next_launch = launch; /* and the step is found with the next sample */
    return true;
}
