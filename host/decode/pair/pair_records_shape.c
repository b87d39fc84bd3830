/* Records of a shape counted at once: which of them are the start and the end of each zone is known, so a zone is a subtraction.
 * Not for what makes a shape (capture/raw_shapes.c). */
#include "decode/pair/pair_records.h"

/* The statistics of the zones of a group, when they are known on the stream. */
static dl_key *key_of_group(const records_in_hand *h, uint32_t code)
{
    const uint16_t *places = h->of->codes->place;
    char *const zone = h->turns->zones[places[code]];
    const bool known =
        ((uintptr_t)zone & (KEY_ALIGNED - 1)) == 0 && h->turns->zones[places[code + 1]] == zone + ENDS;
    return known ? key_of(zone, 0) : NULL;
}

/* What the zones of a group come to. */
static void add_up(dl_zone_sum *sum, const uint32_t *cycles, const uint32_t *end)
{
    uint64_t total = 0;
    uint32_t min = UINT32_MAX, max = 0;
    for (; cycles < end; cycles++) {
        total += *cycles;
        min = *cycles < min ? *cycles : min;
        max = *cycles > max ? *cycles : max;
    }
    sum->total += total;
    if (min < sum->min) sum->min = min;
    if (max > sum->max) sum->max = max;
}

/* Counts the zones of a group; sum: and what they come to, or NULL. False: out of memory. */
static bool count_group(const records_in_hand *h, dl_key *key, const struct record_zone *zone,
                        const struct record_zone *end, dl_zone_sum *sum)
{
    const uint32_t *stamps = h->of->stamps;
    while (zone < end) {
        const size_t left = (size_t)(end - zone), room = (size_t)(key->samples.limit - key->samples.at);
        const struct record_zone *stop = zone + (left < room ? left : room);
        uint32_t *const from = key->samples.at, *at = from;
        for (; zone < stop; zone++)
            *at++ = stamps[zone->end] - stamps[zone->start];
        if (sum && at > from) add_up(sum, from, at);
        key->samples.at = at;
        if (zone == end) break;
        const uint32_t one = stamps[zone->end] - stamps[zone->start];
        if (sum) add_up(sum, &one, &one + 1);
        if (!dl_pair_count_recorded(h, key, one, stamps[zone->end])) return false;
        zone++;
    }
    return true;
}

/* All zones of the shape; sums: and what they come to. False: out of memory. */
static bool count_all(const records_in_hand *h, bool sums)
{
    const record_shape *shape = h->of->shape;
    const struct record_zone *zone = shape->zones;
    for (uint32_t i = 0; i < shape->n_groups; i++) {
        const struct record_group *group = &shape->groups[i];
        dl_key *key = key_of_group(h, group->code);
        dl_zone_sum *sum = NULL;
        if (sums) { /* at the place of their ends, as if they had come one by one */
            const uint32_t place = h->of->codes->place[group->code + 1];
            dl_pair_begin_sum(h, place, key, time_of(h->of, h->of->stamps[zone->start]) + h->s->epoch);
            sum = &h->room->sums[place];
            sum->count = group->n;
        }
        if (!count_group(h, key, zone, zone + group->n, sum)) return false;
        zone += group->n;
    }
    return true;
}

/* Hands on what all have been summed up to: what is a zone's own is not in those within. */
static devlog_status hand_on(const records_in_hand *h, devlog_error *err)
{
    const record_shape *shape = h->of->shape;
    const uint16_t *places = h->of->codes->place;
    dl_zone_sum *sums = h->room->sums;
    h->room->inside[0] = 0;
    for (uint32_t i = 0; i < shape->n_groups; i++)
        sums[places[shape->groups[i].code + 1]].own += sums[places[shape->groups[i].code + 1]].total;
    for (uint32_t i = 0; i < shape->n_groups; i++) {
        const struct record_group *group = &shape->groups[i];
        const uint64_t total = sums[places[group->code + 1]].total;
        if (group->around < shape->n_groups)
            sums[places[shape->groups[group->around].code + 1]].own -= total;
        else
            h->room->inside[0] += total;
    }
    return dl_pair_hand_on_sums(h, 1, shape->n / 2, h->s->n_open, err);
}

/* Whether they can be counted, and summed up where that is wanted, as if they had come one by one. */
static bool may_be_counted(const records_in_hand *h)
{
    const record_shape *shape = h->of->shape;
    const stream_state *s = h->s;
    if (!shape || !dl_pair_records_go_on(h, h->of->stamps[0])) return false;
    if (s->n_open + shape->depth > (h->lists ? DL_SUMS_DEEP - 1u : DL_MAX_OPEN)) return false;
    if (h->lists && (s->costs || shape->uneven || !dl_pair_records_sum_up(h))) return false;
    for (uint32_t i = 0; i < shape->n_groups; i++)
        if (!key_of_group(h, shape->groups[i].code)) return false;
    return true;
}

bool dl_pair_take_shape(const records_in_hand *h, devlog_status *status, devlog_error *err)
{
    if (!may_be_counted(h)) return false;
    const bool good = count_all(h, h->lists);
    h->s->last = time_of(h->of, h->of->stamps[h->of->shape->n - 1]) + h->s->epoch;
    if (good && h->lists) *status = hand_on(h, err);
    if (!good) *status = dl_pair_no_memory(err);
    return true;
}
