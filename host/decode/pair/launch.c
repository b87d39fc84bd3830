/* Launches: which launch a marker belongs to. */
#include "decode/pair/launch.h"

#include <stdlib.h>
#include <string.h>

enum { COOL_EVERY = 16384, MOST_LOOKS = 1 << 26 };

void dl_launches_free(dl_launches *l)
{
    for (uint32_t i = 0; i < l->n_chains; i++) {
        free(l->chains[i].launches);
        free(l->chains[i].more_bits);
        free(l->chains[i].counts);
    }
    dl_big_free(&l->big_items);
    dl_big_free(&l->big_chains);
    free(l->slots);
    *l = (dl_launches){0};
}

void dl_launches_cool(const dl_launches *l)
{
    dl_big_cool(&l->big_items);
    dl_big_cool(&l->big_chains);
}

/* In loops over all of them. */
static void cool_now_and_then(const dl_launches *l, uint32_t i)
{
    if (i % COOL_EVERY == COOL_EVERY - 1) dl_launches_cool(l);
}

uint32_t dl_launches_new_stream(dl_launches *l, uint32_t chip)
{
    return l->next_bit[chip]++;
}

static bool bit_is_set(const dl_launch_chain *c, uint32_t bit)
{
    if (bit < 128) return c->bits[bit / 64] >> (bit % 64) & 1;
    uint32_t word = bit / 64 - 2;
    return word < c->n_words && (c->more_bits[word] >> (bit % 64) & 1);
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

/* How many of the chain's launches the stream has begun. */
static uint32_t begun(const dl_launch_chain *c, uint32_t bit)
{
    if (c->n == 1) return bit_is_set(c, bit);
    return bit < c->n_counts ? c->counts[bit] : 0;
}

static bool set_begun(dl_launches *l, dl_launch_chain *c, uint32_t chip, uint32_t bit, uint32_t count)
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

/* Adds a launch to a chain that has some; from the second on streams have counters instead of bits. */
static bool append(dl_launches *l, dl_launch_chain *c, uint32_t launch)
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
            c->counts[bit] = bit_is_set(c, bit);
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

/* Whether the chain's launches have these ids. */
static inline bool is_of(const dl_launches *l, const dl_launch_chain *c, uint32_t chip, uint64_t run,
                         const dl_ids *ids)
{
    const dl_launch *k = &l->items[c->first];
    return k->chip == chip && k->run == run && k->run_host_id == ids->run_host_id &&
           k->run_id == ids->run_id && k->trace_id == ids->trace_id && k->trace_counter == ids->trace_counter;
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
        if ((slot & ~NUMBER_MASK) == tag && is_of(l, &l->chains[(slot & NUMBER_MASK) - 1], chip, run, ids))
            return &l->slots[at];
    }
}

static bool grow_slots(dl_launches *l)
{
    if (l->n_slots && (l->n_chains + 1) * 2 <= l->n_slots) return true;
    uint32_t n = l->n_slots ? l->n_slots * 2 : 128;
    uint32_t *slots = calloc(n, sizeof *slots);
    if (!slots) return false;
    for (uint32_t i = 0; i < l->n_chains; i++) {
        if (i % COOL_EVERY == 0) dl_launches_cool(l);
        uint64_t hash = launch_hash(&l->items[l->chains[i].first]);
        uint32_t at = (uint32_t)hash & (n - 1);
        while (slots[at])
            at = (at + 1) & (n - 1);
        slots[at] = slot_tag(hash) | (i + 1);
    }
    free(l->slots);
    l->slots = slots;
    l->n_slots = n;
    return true;
}

static bool grow_items(dl_launches *l)
{
    if (l->count >= DL_MAX_LAUNCHES) return false;
    enum { FIRST = 64 };
    uint32_t want = l->count < FIRST ? FIRST : l->count + 1;
    if (!dl_big_room(&l->big_items, want * sizeof *l->items)) return false;
    if (!dl_big_room(&l->big_chains, want * sizeof *l->chains)) return false;
    l->items = l->big_items.data;
    l->chains = l->big_chains.data;
    if (want % COOL_EVERY == 0) dl_launches_cool(l);
    return true;
}

bool dl_launches_has_begun(const dl_launches *l, uint32_t chip, uint32_t bit, uint64_t run, const dl_ids *ids)
{
    if (!l->n_slots) return false;
    uint64_t hash = ids_hash(chip, run, ids->run_host_id, ids->run_id, ids->trace_id, ids->trace_counter);
    uint32_t chain = *find_slot(l, chip, run, ids, hash) & NUMBER_MASK;
    return chain && begun(&l->chains[chain - 1], bit) > 0;
}

bool dl_launches_began_at(dl_launches *l, uint32_t chip, uint32_t bit, uint64_t run, const dl_ids *ids,
                          uint64_t time, uint64_t round)
{
    if (!l->n_slots) return false;
    const uint64_t hash =
        ids_hash(chip, run, ids->run_host_id, ids->run_id, ids->trace_id, ids->trace_counter);
    const uint32_t number = *find_slot(l, chip, run, ids, hash) & NUMBER_MASK;
    if (!number) return false;
    const dl_launch_chain *c = &l->chains[number - 1];
    for (uint32_t i = 0, n = begun(c, bit); i < n && l->looks < MOST_LOOKS; i++, l->looks++) {
        const uint64_t start = l->items[c->n == 1 ? c->first : c->launches[i]].first_fw_start;
        if (start != UINT64_MAX && (time > start ? time - start : start - time) % round == 0) return true;
    }
    return false;
}

uint32_t dl_launches_find(dl_launches *l, uint32_t chip, uint32_t bit, uint64_t run, const dl_ids *ids,
                          bool starts)
{
    uint32_t last = l->last, *slot = NULL;
    uint64_t hash = 0;
    if (!last || !is_of(l, &l->chains[last - 1], chip, run, ids)) {
        if (!grow_slots(l)) return DL_NONE; /* with room for one more */
        hash = ids_hash(chip, run, ids->run_host_id, ids->run_id, ids->trace_id, ids->trace_counter);
        slot = find_slot(l, chip, run, ids, hash);
        last = *slot & NUMBER_MASK;
    }
    dl_launch_chain *chain = last ? &l->chains[last - 1] : NULL;
    if (chain) {
        l->last = last;
        uint32_t next = begun(chain, bit);
        if (!starts && next > 0) next--;
        if (next < chain->n)
            return set_begun(l, chain, chip, bit, next + 1)
                       ? (chain->n == 1 ? chain->first : chain->launches[next])
                       : DL_NONE;
    }
    if (!grow_items(l)) return DL_NONE;
    if (chain) chain = &l->chains[last - 1]; /* where it is now */
    uint32_t index = l->count;
    if (!chain) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): grow_items has made room */
        l->chains[l->n_chains] = (dl_launch_chain){.first = index, .n = 1};
        chain = &l->chains[l->n_chains++];
        *slot = slot_tag(hash) | l->n_chains;
    } else if (!append(l, chain, index)) {
        return DL_NONE;
    }
    l->items[index] = (dl_launch){.run_host_id = ids->run_host_id,
                                  .chip = chip,
                                  .run = run,
                                  .run_id = ids->run_id,
                                  .trace_id = ids->trace_id,
                                  .trace_counter = ids->trace_counter,
                                  .number = l->per_chip[chip]++,
                                  .has_ids = ids->has_launch,
                                  .repeat = chain->n,
                                  .first_fw_start = UINT64_MAX};
    l->count++;
    return set_begun(l, chain, chip, bit, chain->n) ? index : DL_NONE;
}

/* ---- Parts of a log ------------------------------------------------------------------------------------- */

static dl_ids ids_of(const dl_launch *k)
{
    return (dl_ids){k->run_host_id, k->run_id, k->trace_id, k->trace_counter, k->has_ids, false};
}

/* The slot of the chain with the ids of a launch of another table, whose chip is `chip` here. */
static uint32_t *slot_for(const dl_launches *l, const dl_launch *k, uint32_t chip, uint64_t *hash)
{
    const dl_ids ids = ids_of(k);
    *hash = ids_hash(chip, k->run, k->run_host_id, k->run_id, k->trace_id, k->trace_counter);
    return find_slot(l, chip, k->run, &ids, *hash);
}

/* The first of the bits of this chip; of `bits`, which are in the order of their chips. */
static uint32_t first_bit(const dl_launch_bit *bits, uint32_t n, uint32_t chip)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (bits[middle].chip < chip)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool dl_launches_bases(const dl_launches *l, const dl_launches *part, const dl_launch_bit *bits, uint32_t n,
                       uint32_t *bases)
{
    for (uint32_t c = 0; c < part->n_chains; c++) {
        const dl_launch_chain *chain = &part->chains[c];
        const dl_launch *k = &part->items[chain->first];
        uint32_t at = first_bit(bits, n, k->chip);
        bool any = false;
        cool_now_and_then(l, c);
        cool_now_and_then(part, c);
        uint64_t hash;
        bases[c] = 0;
        if (at == n || bits[at].chip != k->chip || !l->n_slots) continue;
        const uint32_t known = *slot_for(l, k, bits[at].to_chip, &hash) & NUMBER_MASK;
        for (; known && at < n && bits[at].chip == k->chip; at++) {
            if (!begun(chain, bits[at].bit)) continue;
            const uint32_t before =
                bits[at].to_bit == DL_NONE ? 0 : begun(&l->chains[known - 1], bits[at].to_bit);
            if (any && before != bases[c]) return false;
            bases[c] = before;
            any = true;
        }
    }
    return true;
}

/* What a part knows of a launch that is there already. */
static void merge_launch(dl_launch *to, const dl_launch *from)
{
    if (from->first_fw_start < to->first_fw_start) to->first_fw_start = from->first_fw_start;
    if (from->last_fw_end > to->last_fw_end) to->last_fw_end = from->last_fw_end;
    if (!to->op) to->op = from->op;
    if (!(from->call_start | from->call_end | from->pull_start | from->pull_end)) return;
    to->call_start = from->call_start;
    to->call_end = from->call_end;
    to->pull_start = from->pull_start;
    to->pull_end = from->pull_end;
}

/* The number of a part's launch, which is the `place`th of its chain, from 0; DL_NONE: out of memory. */
static uint32_t place_launch(dl_launches *l, const dl_launch *k, uint32_t chip, uint32_t place)
{
    uint64_t hash;
    if (!grow_slots(l)) return DL_NONE;
    uint32_t *slot = slot_for(l, k, chip, &hash), known = *slot & NUMBER_MASK;
    if (known && place < l->chains[known - 1].n) {
        const dl_launch_chain *c = &l->chains[known - 1];
        const uint32_t number = c->n == 1 ? c->first : c->launches[place];
        merge_launch(&l->items[number], k);
        return number;
    }
    if (!grow_items(l)) return DL_NONE;
    const uint32_t number = l->count;
    if (!known) {
        l->chains[l->n_chains] = (dl_launch_chain){.first = number, .n = 1};
        *slot = slot_tag(hash) | ++l->n_chains;
    } else if (!append(l, &l->chains[known - 1], number)) {
        return DL_NONE;
    }
    l->items[number] = *k;
    l->items[number].chip = chip;
    l->items[number].number = l->per_chip[chip]++;
    l->items[number].repeat = place + 1;
    return l->count++;
}

bool dl_launches_absorb(dl_launches *l, const dl_launches *part, const dl_launch_bit *bits, uint32_t n,
                        const uint32_t *bases, uint32_t *map)
{
    uint32_t *chain_of = malloc((part->count + 1) * sizeof *chain_of);
    bool ok = chain_of != NULL;
    for (uint32_t c = 0; c < part->n_chains && ok; c++)
        for (uint32_t i = 0; i < part->chains[c].n; i++)
            chain_of[part->chains[c].n == 1 ? part->chains[c].first : part->chains[c].launches[i]] = c;
    for (uint32_t i = 0; i < part->count && ok; i++) {
        const dl_launch *k = &part->items[i];
        const uint32_t at = first_bit(bits, n, k->chip);
        cool_now_and_then(l, i);
        cool_now_and_then(part, i);
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.ArraySubscript): each launch is in one chain */
        map[i] = place_launch(l, k, bits[at].to_chip, bases[chain_of[i]] + k->repeat - 1);
        ok = map[i] != DL_NONE;
    }
    for (uint32_t c = 0; c < part->n_chains && ok; c++) {
        const dl_launch_chain *chain = &part->chains[c];
        const dl_launch *k = &part->items[chain->first];
        uint32_t at = first_bit(bits, n, k->chip);
        uint64_t hash;
        cool_now_and_then(l, c);
        cool_now_and_then(part, c);
        dl_launch_chain *to = &l->chains[(*slot_for(l, k, bits[at].to_chip, &hash) & NUMBER_MASK) - 1];
        for (; at < n && bits[at].chip == k->chip && ok; at++) {
            const uint32_t count = begun(chain, bits[at].bit);
            if (count) ok = set_begun(l, to, bits[at].to_chip, bits[at].to_bit, bases[c] + count);
        }
    }
    l->last = 0;
    l->looks += part->looks;
    free(chain_of);
    return ok;
}

/* ---- As bytes --------------------------------------------------------------------------------------------- */

static void wire_more_u32(dl_wire *w, uint32_t *value, uint32_t than)
{
    uint64_t wide = *value;
    dl_wire_more(w, &wide, than);
    if (wide > UINT32_MAX) w->bad = true;
    *value = (uint32_t)wide;
}

/* One launch behind another. */
static void wire_launch(dl_wire *w, dl_launch *k, const dl_launch *before, uint32_t n_chips)
{
    dl_wire_below(w, &k->chip, n_chips);
    dl_wire_more(w, &k->run_host_id, before->run_host_id);
    wire_more_u32(w, &k->run_id, before->run_id);
    wire_more_u32(w, &k->trace_id, before->trace_id);
    wire_more_u32(w, &k->trace_counter, before->trace_counter);
    wire_more_u32(w, &k->op, before->op);
    dl_wire_more(w, &k->run, before->run);
    dl_wire_flag(w, &k->has_ids);
    dl_wire_u32(w, &k->repeat);
    dl_wire_more(w, &k->first_fw_start, before->first_fw_start);
    dl_wire_more(w, &k->last_fw_end, k->first_fw_start);
    bool timed = k->call_start | k->call_end | k->pull_start | k->pull_end;
    dl_wire_flag(w, &timed); /* by captures */
    if (!timed) return;
    dl_wire_more(w, &k->call_start, before->call_start);
    dl_wire_more(w, &k->call_end, k->call_start);
    dl_wire_more(w, &k->pull_start, k->call_end);
    dl_wire_more(w, &k->pull_end, k->pull_start);
}

/* A launch that was read comes behind those of its ids. */
static bool add_wired(dl_launches *l, const dl_launch *k)
{
    uint64_t hash;
    if (!grow_slots(l)) return false;
    const uint32_t known = *slot_for(l, k, k->chip, &hash) & NUMBER_MASK;
    return k->repeat == (known ? l->chains[known - 1].n : 0) + 1 &&
           place_launch(l, k, k->chip, k->repeat - 1) != DL_NONE;
}

/* How many of the chain's launches each stream has begun: all of them, mostly. */
static void wire_begun(dl_launches *l, dl_launch_chain *c, dl_wire *w, const dl_launch_bit *bits, uint32_t n)
{
    const uint32_t chip = l->items[c->first].chip, first = first_bit(bits, n, chip);
    bool all = true;
    for (uint32_t i = first; i < n && bits[i].chip == chip && !dl_wire_reads(w); i++)
        all &= begun(c, bits[i].bit) == c->n;
    dl_wire_flag(w, &all);
    for (uint32_t i = first; i < n && bits[i].chip == chip && !w->bad; i++) {
        uint32_t count = dl_wire_reads(w) ? c->n : begun(c, bits[i].bit);
        if (!all) dl_wire_below(w, &count, c->n + 1);
        if (dl_wire_reads(w) && count && !set_begun(l, c, chip, bits[i].bit, count)) w->bad = true;
    }
}

void dl_launches_wire(dl_launches *l, dl_wire *w, const dl_launch_bit *bits, uint32_t n, uint32_t n_chips)
{
    uint32_t count = l->count;
    dl_launch before = {0};
    dl_wire_count(w, &count, DL_MAX_LAUNCHES, 10);
    for (uint32_t i = 0; i < count && !w->bad; i++) {
        dl_launch k = dl_wire_reads(w) ? (dl_launch){0} : l->items[i];
        wire_launch(w, &k, &before, n_chips);
        cool_now_and_then(l, i);
        if (dl_wire_reads(w) && !w->bad && !add_wired(l, &k)) w->bad = true;
        before = k;
    }
    for (uint32_t c = 0; c < l->n_chains && !w->bad; c++) {
        wire_begun(l, &l->chains[c], w, bits, n);
        cool_now_and_then(l, c);
    }
    dl_wire_u32(w, &l->looks);
}
