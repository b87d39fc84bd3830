/* Launches: which launch a marker belongs to. */
#include "decode/pair/launch_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LOOKS = 1 << 26 };

void dl_launches_free(dl_launches *l)
{
    for (uint32_t i = 0; l->bytes && i < l->n_chains; i++) {
        free(l->chains[i].launches);
        free(l->chains[i].more_bits);
        free(l->chains[i].counts);
    }
    dl_big_free(&l->big_items);
    dl_big_free(&l->big_chains);
    free(l->slots);
    free(l->origins);
    *l = (dl_launches){0};
}

void dl_launches_cool(const dl_launches *l)
{
    dl_big_cool(&l->big_items);
    dl_big_cool(&l->big_chains);
}

uint32_t dl_launches_new_stream(dl_launches *l, uint32_t chip)
{
    return l->next_bit[chip]++;
}

/* Asks for memory for the bits and counts of chains, which hostile ids could make large. */
static bool spend(dl_launches *l, size_t bytes)
{
    if (bytes > DL_MAX_LAUNCH_BYTES - l->bytes) return false;
    l->bytes += bytes;
    return true;
}

static bool set_bit(dl_launches *l, dl_launch_chain *c, uint32_t chip, uint32_t bit)
{
    if (bit < 128) {
        c->bits[bit / 64] |= UINT64_C(1) << (bit % 64);
        return true;
    }
    uint32_t word = bit / 64 - 2;
    if (word >= c->n_words) {
        /* As many as streams that are known want: there may be millions of chains. */
        const uint32_t known = (l->next_bit[chip] + 63) / 64, n = known > word + 2 ? known - 2 : word + 1;
        if (!spend(l, (n - c->n_words) * sizeof *c->more_bits)) return false;
        uint64_t *grown = realloc(c->more_bits, n * sizeof *grown);
        if (!grown) return false;
        memset(grown + c->n_words, 0, (n - c->n_words) * sizeof *grown);
        c->more_bits = grown;
        c->n_words = n;
    }
    c->more_bits[word] |= UINT64_C(1) << (bit % 64);
    return true;
}

bool launches_set_begun(dl_launches *l, dl_launch_chain *c, uint32_t chip, uint32_t bit, uint32_t count)
{
    if (c->n == 1) return set_bit(l, c, chip, bit);
    if (bit >= c->n_counts) {
        uint32_t n = bit + 64;
        if (!spend(l, (n - c->n_counts) * sizeof *c->counts)) return false;
        uint32_t *grown = realloc(c->counts, n * sizeof *grown);
        if (!grown) return false;
        memset(grown + c->n_counts, 0, (n - c->n_counts) * sizeof *grown);
        c->counts = grown;
        c->n_counts = n;
    }
    c->counts[bit] = count;
    return true;
}

bool launches_copy_bits(dl_launches *l, dl_launch_chain *to, const dl_launch_chain *from)
{
    if (from->n_words) {
        if (!spend(l, from->n_words * sizeof *to->more_bits)) return false;
        to->more_bits = malloc(from->n_words * sizeof *to->more_bits);
        if (!to->more_bits) return false;
        memcpy(to->more_bits, from->more_bits, from->n_words * sizeof *to->more_bits);
        to->n_words = from->n_words;
    }
    memcpy(to->bits, from->bits, sizeof to->bits);
    return true;
}

bool launches_append(dl_launches *l, dl_launch_chain *c, uint32_t launch)
{
    if (c->n + 1 > c->cap) {
        uint32_t cap = c->cap ? c->cap * 2 : 8;
        uint32_t *grown = realloc(c->launches, cap * sizeof *grown);
        if (!grown) return false;
        c->launches = grown;
        c->cap = cap;
        grown[0] = c->first;
    }
    if (c->n == 1) {
        uint32_t n = (c->n_words + 2) * 64;
        if (!spend(l, n * sizeof *c->counts)) return false;
        c->counts = calloc(n, sizeof *c->counts);
        if (!c->counts) return false;
        c->n_counts = n;
        for (uint32_t bit = 0; bit < n; bit++)
            c->counts[bit] = launches_begun(c, bit);
        free(c->more_bits);
        c->more_bits = NULL;
        c->n_words = 0;
    }
    c->launches[c->n++] = launch;
    return true;
}

/* The low bits are those of the number, so that launches which follow one another are neighbours in the
 * table; few of them, as whole neighbourhoods collide. */
static uint64_t ids_hash(uint32_t chip, uint64_t run, uint64_t run_host_id, uint32_t run_id,
                         uint32_t trace_id, uint32_t trace_counter)
{
    enum { LOW = 2 };
    uint64_t h = dl_hash_u64((uint64_t)chip << 32 | run_id) ^ run_host_id >> LOW ^ run;
    h = dl_hash_u64(dl_hash_u64(h) ^ ((uint64_t)trace_id << 32 | trace_counter));
    return h << LOW | (run_host_id & ((1u << LOW) - 1));
}

static uint64_t launch_hash(const dl_launch *k)
{
    return ids_hash(k->chip, k->run, k->run_host_id, k->run_id, k->trace_id, k->trace_counter);
}

/* A slot holds the number of a chain + 1, and above it the top bits of its hash: so that another chain is
 * nearly always told without a look at it. */
enum { NUMBER_BITS = 23, TAG_SHIFT = 64 - (32 - NUMBER_BITS) };
#define NUMBER_MASK ((UINT32_C(1) << NUMBER_BITS) - 1)
_Static_assert(DL_MAX_LAUNCHES < (1 << NUMBER_BITS), "the number of a chain fits into its slot");

static inline uint32_t slot_tag(uint64_t hash)
{
    return (uint32_t)(hash >> TAG_SHIFT) << NUMBER_BITS;
}

static uint32_t *find_slot(const dl_launches *l, uint32_t chip, uint64_t run, const dl_ids *ids,
                           uint64_t hash)
{
    uint32_t mask = l->n_slots - 1, tag = slot_tag(hash);
    for (uint32_t at = (uint32_t)hash & mask;; at = (at + 1) & mask) {
        uint32_t slot = l->slots[at];
        if (!slot) return &l->slots[at];
        if ((slot & ~NUMBER_MASK) == tag &&
            launches_is_of(l, &l->chains[(slot & NUMBER_MASK) - 1], chip, run, ids))
            return &l->slots[at];
    }
}

/* Puts the chains into the table of slots that are not there yet: only now one is looked up that way. */
static bool fill_slots(dl_launches *l)
{
    uint32_t n = l->n_slots ? l->n_slots : 128;
    while ((l->n_chains + 1) * 2 > n)
        n *= 2;
    if (n > l->n_slots) {
        uint32_t *slots = calloc(n, sizeof *slots);
        if (!slots) return false;
        free(l->slots);
        l->slots = slots;
        l->n_slots = n;
        l->n_filled = 0;
    }
    for (; l->n_filled < l->n_chains; l->n_filled++) {
        launches_cool_now_and_then(l, l->n_filled);
        uint64_t hash = launch_hash(&l->items[l->chains[l->n_filled].first]);
        uint32_t at = (uint32_t)hash & (n - 1);
        while (l->slots[at])
            at = (at + 1) & (n - 1);
        l->slots[at] = slot_tag(hash) | (l->n_filled + 1);
    }
    return true;
}

/* Ids mostly ascend: whether these are beyond those of a launch of the same chip. */
static inline bool is_beyond(const dl_launch *k, uint64_t run, const dl_ids *ids)
{
    const uint32_t a = ids->trace_counter + 1, b = k->trace_counter + 1; /* 0: no part of a trace */
    if (run != k->run) return run > k->run;
    if (a != b) return a > b;
    if (ids->run_host_id != k->run_host_id) return ids->run_host_id > k->run_host_id;
    if (ids->run_id != k->run_id) return ids->run_id > k->run_id;
    return ids->trace_id > k->trace_id;
}

/* The same where ids of all chains ascend, of one chip. */
static uint32_t find_ascending(const dl_launches *l, uint64_t run, const dl_ids *ids)
{
    uint32_t low = 0, high = l->n_chains; /* the first whose ids are not beyond */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (is_beyond(&l->items[l->chains[middle].first], run, ids))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool launches_look(dl_launches *l, uint32_t chip, uint64_t run, const dl_ids *ids, uint32_t near,
                   uint32_t *chain)
{
    *chain = 0;
    if (near < l->n_chains && launches_is_of(l, &l->chains[near], chip, run, ids)) {
        *chain = near + 1;
        return true;
    }
    if (!l->greatest[chip] || is_beyond(&l->items[l->greatest[chip] - 1], run, ids)) return true;
    if (launches_is_of(l, &l->chains[l->walk], chip, run, ids)) {
        *chain = l->walk + 1;
        return true;
    }
    if (!l->mixed && l->items[0].chip == chip) {
        const uint32_t at = find_ascending(l, run, ids);
        if (at < l->n_chains && launches_is_of(l, &l->chains[at], chip, run, ids)) *chain = at + 1;
        return true;
    }
    if (!fill_slots(l)) return false;
    const uint64_t hash =
        ids_hash(chip, run, ids->run_host_id, ids->run_id, ids->trace_id, ids->trace_counter);
    *chain = *find_slot(l, chip, run, ids, hash) & NUMBER_MASK;
    if (*chain) l->walk = *chain - 1;
    return true;
}

void launches_new_chain(dl_launches *l)
{
    const dl_launch *k = &l->items[l->count];
    const dl_ids ids = launches_ids_of(k);
    uint32_t *greatest = &l->greatest[k->chip];
    if (!*greatest || is_beyond(&l->items[*greatest - 1], k->run, &ids)) *greatest = l->count + 1;
    if (*greatest != l->count + 1 || k->chip != l->items[0].chip) l->mixed = true;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): launches_make_room has made room */
    l->chains[l->n_chains++] = (dl_launch_chain){.first = l->count, .n = 1};
}

bool launches_make_room(dl_launches *l)
{
    if (l->count >= DL_MAX_LAUNCHES) return false;
    enum { FIRST = 64 };
    uint32_t want = l->count < FIRST ? FIRST : l->count + 1;
    if (!dl_big_room(&l->big_items, want * sizeof *l->items)) return false;
    if (!dl_big_room(&l->big_chains, want * sizeof *l->chains)) return false;
    l->items = l->big_items.data;
    l->chains = l->big_chains.data;
    if (l->count % LAUNCHES_COOL_EVERY == 0) dl_launches_cool(l);
    return true;
}

/* Of the chain with these ids, + 1; 0: there is none. What is asked for twice in a row is found at once. */
static uint32_t find_chain(dl_launches *l, uint32_t chip, uint64_t run, const dl_ids *ids)
{
    uint32_t chain;
    if (dl_launches_are_last(l, chip, run, ids)) return l->last;
    return launches_look(l, chip, run, ids, l->last, &chain) ? chain : 0;
}

bool dl_launches_has_begun(dl_launches *l, uint32_t chip, uint32_t bit, uint64_t run, const dl_ids *ids)
{
    const uint32_t chain = find_chain(l, chip, run, ids);
    return chain && launches_begun(&l->chains[chain - 1], bit) > 0;
}

bool dl_launches_began_at(dl_launches *l, uint32_t chip, uint32_t bit, uint64_t run, const dl_ids *ids,
                          uint64_t time, uint64_t round)
{
    const uint32_t number = find_chain(l, chip, run, ids);
    if (!number) return false;
    const dl_launch_chain *c = &l->chains[number - 1];
    for (uint32_t i = 0, n = launches_begun(c, bit); i < n && l->looks < MOST_LOOKS; i++, l->looks++) {
        const uint64_t start = l->items[c->n == 1 ? c->first : c->launches[i]].first_fw_start;
        if (start != UINT64_MAX && (time > start ? time - start : start - time) % round == 0) return true;
    }
    return false;
}

uint32_t dl_launches_find(dl_launches *l, uint32_t chip, uint32_t bit, uint64_t run, const dl_ids *ids,
                          bool starts)
{
    uint32_t last = l->last;
    if (!dl_launches_are_last(l, chip, run, ids)) {
        if (!launches_look(l, chip, run, ids, last, &last)) return DL_NONE;
        if (last) l->grows = false;
    }
    dl_launch_chain *chain = last ? &l->chains[last - 1] : NULL;
    if (chain) {
        l->last = last;
        uint32_t next = launches_begun(chain, bit);
        chain->unstarted |= !starts && !next;
        if (!starts && next > 0) next--;
        if (next < chain->n)
            return launches_set_begun(l, chain, chip, bit, next + 1)
                       ? (chain->n == 1 ? chain->first : chain->launches[next])
                       : DL_NONE;
    }
    if (!launches_grow(l)) return DL_NONE;
    const uint32_t index = l->count;
    l->items[index] = (dl_launch){.run_host_id = ids->run_host_id,
                                  .chip = chip,
                                  .run = run,
                                  .run_id = ids->run_id,
                                  .trace_id = ids->trace_id,
                                  .trace_counter = ids->trace_counter,
                                  .number = l->per_chip[chip],
                                  .has_ids = ids->has_launch,
                                  .repeat = 1,
                                  .first_fw_start = UINT64_MAX};
    if (!chain) {
        launches_new_chain(l);
        l->last = l->n_chains;
        chain = &l->chains[l->last - 1];
        if (!l->grows) l->walk = l->n_chains - 1;
        l->grows = true;
    } else {
        chain = &l->chains[last - 1]; /* where it is now */
        if (!launches_append(l, chain, index)) return DL_NONE;
        l->items[index].repeat = chain->n;
    }
    chain->unstarted |= !starts;
    l->per_chip[chip]++;
    l->count++;
    return launches_set_begun(l, chain, chip, bit, chain->n) ? index : DL_NONE;
}
