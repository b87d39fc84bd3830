/* Launches as bytes, and back. Mostly a launch goes on as the ones before it: its ids differ from the last one's as those did from the ones
 * before, and the same streams have begun it. That takes a byte, beside its times. */
#include "decode/pair/launch_internal.h"

#include <string.h>

/* By what a launch's ids are more than those of the one before it. */
typedef struct steps {
    uint64_t run_host_id;
    uint32_t run_id, trace_id, trace_counter, op;
} steps;

enum { LIKE_BEFORE = 1, TIMED = 2, SAMPLED = 4, HOW_ENDS = 8 };

static void go_on(dl_launch *k, const dl_launch *before, const steps *s)
{
    k->run_host_id = before->run_host_id + s->run_host_id;
    k->run_id = before->run_id + s->run_id;
    k->trace_id = before->trace_id + s->trace_id;
    k->trace_counter = before->trace_counter + s->trace_counter;
    k->op = before->op + s->op;
    k->chip = before->chip;
    k->run = before->run;
    k->has_ids = before->has_ids;
    k->repeat = before->repeat;
}

static bool goes_on(const dl_launch *k, const dl_launch *before, const steps *s)
{
    return k->run_host_id == before->run_host_id + s->run_host_id &&
           k->run_id == before->run_id + s->run_id && k->trace_id == before->trace_id + s->trace_id &&
           k->trace_counter == before->trace_counter + s->trace_counter && k->op == before->op + s->op &&
           k->chip == before->chip && k->run == before->run && k->has_ids == before->has_ids &&
           k->repeat == before->repeat;
}

static void find_steps(steps *s, const dl_launch *k, const dl_launch *before)
{
    *s =
        (steps){k->run_host_id - before->run_host_id, k->run_id - before->run_id,
                k->trace_id - before->trace_id, k->trace_counter - before->trace_counter, k->op - before->op};
}

static void wire_more_u32(dl_wire *w, uint32_t *value, uint32_t than)
{
    uint64_t wide = *value;
    dl_wire_more(w, &wide, than);
    if (wide > UINT32_MAX) w->bad = true;
    *value = (uint32_t)wide;
}

static void wire_ids(dl_wire *w, dl_launch *k, const dl_launch *before, uint32_t n_chips)
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
}

/* One launch behind another. */
static void wire_launch(dl_wire *w, dl_launch *k, const dl_launch *before, steps *s, uint32_t n_chips)
{
    uint32_t how = 0;
    if (!dl_wire_reads(w)) {
        if (goes_on(k, before, s)) how |= LIKE_BEFORE;
        if (k->call_start | k->call_end | k->pull_start | k->pull_end) how |= TIMED; /* by captures */
        if (k->sampled) how |= SAMPLED;
    }
    dl_wire_below(w, &how, HOW_ENDS);
    k->sampled = how & SAMPLED;
    if (!(how & LIKE_BEFORE)) {
        wire_ids(w, k, before, n_chips);
        find_steps(s, k, before);
    } else if (dl_wire_reads(w)) {
        go_on(k, before, s);
    }
    dl_wire_more(w, &k->first_fw_start, before->first_fw_start);
    dl_wire_more(w, &k->last_fw_end, k->first_fw_start);
    if (!(how & TIMED)) return;
    dl_wire_more(w, &k->call_start, before->call_start);
    dl_wire_more(w, &k->call_end, k->call_start);
    dl_wire_more(w, &k->pull_start, k->call_end);
    dl_wire_more(w, &k->pull_end, k->pull_start);
}

/* A launch that was read comes behind those of its ids. */
static bool add_wired(dl_launches *l, const dl_launch *k, uint32_t *chain)
{
    const dl_ids ids = launches_ids_of(k);
    if (!launches_look(l, k->chip, k->run, &ids, *chain, chain)) return false;
    return k->repeat == (*chain ? l->chains[*chain - 1].n : 0) + 1 &&
           launches_place(l, k, k->chip, k->repeat - 1, chain) != DL_NONE;
}

/* ---- Which streams have begun them ------------------------------------------------------------------------ */

typedef struct streams {
    const dl_launch_bit *bits; /* all, by chip */
    uint32_t n;
    uint32_t chip, at, end;     /* those of one chip */
    uint32_t all[DL_MAX_CHIPS]; /* a chain that all streams of the chip have begun, + 1; once there is one */
} streams;

static uint32_t chip_of(const dl_launches *l, uint32_t chain)
{
    return l->items[l->chains[chain].first].chip;
}

static void of_chip(streams *s, uint32_t chip)
{
    if (s->chip == chip) return;
    s->chip = chip;
    s->at = s->end = launches_first_bit(s->bits, s->n, chip);
    while (s->end < s->n && s->bits[s->end].chip == chip)
        s->end++;
}

/* Whether all streams of the chip have begun all launches of the chain, with a start. */
static bool begun_by_all(const dl_launches *l, uint32_t chain, streams *s)
{
    const dl_launch_chain *c = &l->chains[chain];
    const uint32_t chip = chip_of(l, chain);
    if (c->unstarted) return false;
    if (c->n == 1 && s->all[chip] && launches_same_bits(c, &l->chains[s->all[chip] - 1])) return true;
    of_chip(s, chip);
    for (uint32_t i = s->at; i < s->end; i++)
        if (launches_begun(c, s->bits[i].bit) != c->n) return false;
    if (c->n == 1) s->all[chip] = chain + 1;
    return true;
}

/* Whether the next chains are as `first` is, which is one launch that not all streams have begun. */
static bool alike(const dl_launches *l, uint32_t chain, uint32_t first)
{
    const dl_launch_chain *a = &l->chains[first], *b = &l->chains[chain];
    return a->n == 1 && b->n == 1 && a->unstarted == b->unstarted && chip_of(l, chain) == chip_of(l, first) &&
           launches_same_bits(a, b);
}

/* How many chains from here on are alike: all of them begun by all streams, or by the same ones. */
static uint32_t run_of(const dl_launches *l, uint32_t from, streams *s, bool *all)
{
    uint32_t c = from + 1;
    *all = begun_by_all(l, from, s);
    while (c < l->n_chains && (*all ? begun_by_all(l, c, s) : alike(l, c, from))) {
        launches_cool_now_and_then(l, c);
        c++;
    }
    return c - from;
}

static bool set_all(dl_launches *l, uint32_t chain, streams *s)
{
    dl_launch_chain *c = &l->chains[chain];
    const uint32_t chip = chip_of(l, chain);
    if (c->n == 1 && s->all[chip]) return launches_copy_bits(l, c, &l->chains[s->all[chip] - 1]);
    of_chip(s, chip);
    for (uint32_t i = s->at; i < s->end; i++)
        if (!launches_set_begun(l, c, chip, s->bits[i].bit, c->n)) return false;
    if (c->n == 1) s->all[chip] = chain + 1;
    return true;
}

/* How many launches of the chain each stream has begun. */
static void wire_counts(dl_launches *l, uint32_t chain, dl_wire *w, streams *s)
{
    dl_launch_chain *c = &l->chains[chain];
    of_chip(s, chip_of(l, chain));
    dl_wire_flag(w, &c->unstarted);
    for (uint32_t i = s->at; i < s->end && !w->bad; i++) {
        uint32_t count = dl_wire_reads(w) ? 0 : launches_begun(c, s->bits[i].bit);
        dl_wire_below(w, &count, c->n + 1);
        if (dl_wire_reads(w) && count && !launches_set_begun(l, c, s->chip, s->bits[i].bit, count))
            w->bad = true;
    }
}

static void read_run(dl_launches *l, uint32_t from, uint32_t n, bool all, dl_wire *w, streams *s)
{
    if (!all) wire_counts(l, from, w, s);
    for (uint32_t c = from + !all; c < from + n && !w->bad; c++) {
        dl_launch_chain *to = &l->chains[c];
        const bool one = to->n == 1 && l->chains[from].n == 1 && chip_of(l, c) == chip_of(l, from);
        to->unstarted = !all && l->chains[from].unstarted;
        w->bad = all ? !set_all(l, c, s) : !one || !launches_copy_bits(l, to, &l->chains[from]);
        launches_cool_now_and_then(l, c);
    }
}

static void wire_begun(dl_launches *l, dl_wire *w, const dl_launch_bit *bits, uint32_t n)
{
    streams s = {.bits = bits, .n = n, .chip = DL_NONE};
    uint32_t length = 0;
    for (uint32_t c = 0; c < l->n_chains && !w->bad; c += length) {
        bool all = false;
        length = dl_wire_reads(w) ? 0 : run_of(l, c, &s, &all);
        dl_wire_flag(w, &all);
        dl_wire_below(w, &length, l->n_chains - c + 1);
        if (!length) w->bad = true;
        if (dl_wire_reads(w) && !w->bad) read_run(l, c, length, all, w, &s);
        if (!dl_wire_reads(w) && !all) wire_counts(l, c, w, &s);
    }
}

void dl_launches_wire(dl_launches *l, dl_wire *w, const dl_launch_bit *bits, uint32_t n, uint32_t n_chips)
{
    const dl_launch none = {0};
    uint32_t count = l->count, chain = 0;
    steps s = {0};
    dl_wire_count(w, &count, DL_MAX_LAUNCHES, 3);
    for (uint32_t i = 0; i < count && !w->bad; i++) {
        dl_launch read = {0};
        const dl_launch *before = i ? &l->items[i - 1] : &none;
        wire_launch(w, dl_wire_reads(w) ? &read : &l->items[i], before, &s, n_chips);
        launches_cool_now_and_then(l, i);
        if (dl_wire_reads(w) && !w->bad && !add_wired(l, &read, &chain)) w->bad = true;
    }
    if (!w->bad) wire_begun(l, w, bits, n);
    if (!w->bad) launches_wire_origins(l, w);
    dl_wire_u32(w, &l->looks);
}
