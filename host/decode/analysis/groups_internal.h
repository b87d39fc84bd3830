/* What the files of groups share: groups.c (by RISC, by core), groups_launch.c (by launch). */
#ifndef DEVLOG_DECODE_GROUPS_INTERNAL_H
#define DEVLOG_DECODE_GROUPS_INTERNAL_H

#include "decode/analysis/groups.h"

/* One key and the group it belongs to; sorted so that a group's keys are neighbours. */
typedef struct groups_member {
    const dl_key *key;
    uint64_t place, what; /* in their order groups are listed */
    uint32_t chip;
    uint16_t x, y;
    dl_risc risc;
} groups_member;

static inline int groups_compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* 0: they are of one group. */
static inline int groups_order(const groups_member *a, const groups_member *b)
{
    int c = groups_compare(a->place, b->place);
    return c ? c : groups_compare(a->what, b->what);
}

/* groups_launch.c: `riscs` are the groups that members, which are in their order, are of. */
devlog_status groups_of_launches(dl_decode *d, const groups_member *members, size_t n, const dl_groups *riscs,
                                 uint32_t most, dl_groups *out, devlog_error *err);

#endif
