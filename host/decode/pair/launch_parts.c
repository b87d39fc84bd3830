/* Launches of a part of a log, put behind those of what is before it. */
#include "decode/pair/launch_internal.h"

#include <stdlib.h>

uint32_t launches_first_bit(const dl_launch_bit *bits, uint32_t n, uint32_t chip)
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

void dl_launch_join_free(dl_launch_join *join)
{
    free(join->known);
    free(join->before);
    *join = (dl_launch_join){0};
}

/* How many launches of a chain of the part have been before it, for all streams that begin them in the part; false: not as
 * many for each. */
static bool count_before(const dl_launch_chain *known, const dl_launch_chain *chain,
                         const dl_launch_bit *bits, uint32_t n, uint32_t *count)
{
    bool any = false;
    for (uint32_t i = 0; i < n && bits[i].chip == bits[0].chip; i++) {
        if (!launches_begun(chain, bits[i].bit)) continue;
        const uint32_t before = bits[i].to_bit == DL_NONE ? 0 : launches_begun(known, bits[i].to_bit);
        if (any && before != *count) return false;
        *count = before;
        any = true;
    }
    return true;
}

bool dl_launches_join(dl_launches *l, const dl_launches *part, const dl_launch_bit *bits, uint32_t n,
                      dl_launch_join *join, bool *follows)
{
    join->known = malloc((part->n_chains + 1) * sizeof *join->known);
    join->before = malloc((part->n_chains + 1) * sizeof *join->before);
    *follows = true;
    if (!join->known || !join->before) return false;
    uint32_t near = 0, chip = DL_NONE, at = n;
    for (uint32_t c = 0; c < part->n_chains && *follows; c++) {
        const dl_launch *k = &part->items[part->chains[c].first];
        launches_cool_now_and_then(l, c);
        launches_cool_now_and_then(part, c);
        if (k->chip != chip) at = launches_first_bit(bits, n, chip = k->chip);
        join->known[c] = join->before[c] = 0;
        *follows = at < n && bits[at].chip == chip; /* there is no launch without a stream */
        if (!*follows) break;
        const dl_ids ids = launches_ids_of(k);
        if (!launches_look(l, bits[at].to_chip, k->run, &ids, near, &join->known[c])) return false;
        if (!join->known[c]) continue;
        near = join->known[c];
        *follows =
            count_before(&l->chains[near - 1], &part->chains[c], bits + at, n - at, &join->before[c]) &&
            !(part->chains[c].unstarted && join->before[c]);
    }
    return true;
}

/* What a part knows of a launch that is there already. */
static void merge_launch(dl_launch *to, const dl_launch *from)
{
    if (from->first_fw_start < to->first_fw_start) to->first_fw_start = from->first_fw_start;
    if (from->last_fw_end > to->last_fw_end) to->last_fw_end = from->last_fw_end;
    if (!to->op) to->op = from->op;
    to->sampled |= from->sampled;
    if (!(from->call_start | from->call_end | from->pull_start | from->pull_end)) return;
    to->call_start = from->call_start;
    to->call_end = from->call_end;
    to->pull_start = from->pull_start;
    to->pull_end = from->pull_end;
}

uint32_t launches_place(dl_launches *l, const dl_launch *k, uint32_t chip, uint32_t place, uint32_t *chain)
{
    if (*chain && place < l->chains[*chain - 1].n) {
        const dl_launch_chain *c = &l->chains[*chain - 1];
        const uint32_t number = c->n == 1 ? c->first : c->launches[place];
        merge_launch(&l->items[number], k);
        return number;
    }
    if (!launches_grow(l)) return DL_NONE;
    const uint32_t number = l->count;
    dl_launch *here = &l->items[number];
    *here = *k;
    here->chip = chip;
    here->number = l->per_chip[chip];
    here->repeat = place + 1;
    if (!*chain) {
        launches_new_chain(l);
        *chain = l->n_chains;
    } else if (!launches_append(l, &l->chains[*chain - 1], number)) {
        return DL_NONE;
    }
    l->per_chip[chip]++;
    return l->count++;
}

/* Which streams have begun a chain of the part. Neighbours have mostly been begun by the same ones: then those are copied
 * of which *last of the part has become *last_here. */
static bool take_begun(dl_launches *l, const dl_launches *part, uint32_t c, const dl_launch_bit *bits,
                       uint32_t n, const dl_launch_join *join, uint32_t *last)
{
    const dl_launch_chain *chain = &part->chains[c];
    dl_launch_chain *to = &l->chains[join->known[c] - 1];
    to->unstarted |= chain->unstarted;
    const bool fresh = to->n == 1 && !to->bits[0] && !to->bits[1] && !to->n_words;
    if (fresh && *last != DL_NONE && launches_same_bits(chain, &part->chains[*last]))
        return launches_copy_bits(l, to, &l->chains[join->known[*last] - 1]);
    *last = fresh && chain->n == 1 ? c : DL_NONE;
    for (uint32_t i = 0; i < n && bits[i].chip == bits[0].chip; i++) {
        const uint32_t count = launches_begun(chain, bits[i].bit);
        if (count && !launches_set_begun(l, to, bits[i].to_chip, bits[i].to_bit, join->before[c] + count))
            return false;
    }
    return true;
}

enum { DONE = DL_MAX_LAUNCHES + 1 }; /* streams of a chain are known; in place of what was before it */

bool dl_launches_absorb(dl_launches *l, const dl_launches *part, const dl_launch_bit *bits, uint32_t n,
                        dl_launch_join *join, uint32_t *map)
{
    uint32_t chip = DL_NONE, at = n, last = DL_NONE;
    bool ok = true;
    for (uint32_t c = 0; c < part->n_chains; c++) /* until a launch has its number, that of its chain */
        for (uint32_t i = 0; i < part->chains[c].n; i++)
            map[part->chains[c].n == 1 ? part->chains[c].first : part->chains[c].launches[i]] = c;
    for (uint32_t i = 0; i < part->count && ok; i++) {
        const dl_launch *k = &part->items[i];
        const uint32_t c = map[i];
        const bool fresh = !join->known[c] && part->chains[c].n == 1;
        launches_cool_now_and_then(l, i);
        launches_cool_now_and_then(part, i);
        if (k->chip != chip) {
            at = launches_first_bit(bits, n, chip = k->chip);
            last = DL_NONE;
        }
        map[i] = launches_place(l, k, bits[at].to_chip, join->before[c] + k->repeat - 1, &join->known[c]);
        ok = map[i] != DL_NONE && (!fresh || take_begun(l, part, c, bits + at, n - at, join, &last));
        if (fresh) join->before[c] = DONE;
    }
    for (uint32_t c = 0; c < part->n_chains && ok; c++) {
        if (join->before[c] == DONE) continue;
        last = DL_NONE;
        at = launches_first_bit(bits, n, part->items[part->chains[c].first].chip);
        ok = take_begun(l, part, c, bits + at, n - at, join, &last);
    }
    l->last = 0;
    l->looks += part->looks;
    return ok && launches_absorb_origins(l, part, map);
}
