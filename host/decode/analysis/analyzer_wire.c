/* Analyzer: what the analyses of a part of a log have come to, as bytes for another process, and back. What is read may be
 * anything. One function per thing both writes and reads it (decode/wire.h). */
#include <stdlib.h>
#include <string.h>

#include "decode/analysis/analyzer_internal.h"

/* Cells of launches on streams or cores, which are there already. */
static void wire_cells(dl_wire *w, dl_analyzer *a, leaf_kind kind)
{
    cells *c = &a->cells[kind];
    uint32_t n = c->n, hint = 0, before = 0;
    const uint32_t n_launches = dl_decode_launches(a->decode)->count;
    dl_wire_count(w, &n, UINT32_MAX - 1, 2);
    for (uint32_t i = 0; i < n && !w->bad; i++) {
        cell it = dl_wire_reads(w) ? (cell){0} : c->items[i];
        uint64_t launch = it.launch;
        dl_wire_more(w, &launch, before);
        dl_wire_below(w, &it.leaf, dl_analyzer_scope_n(a, (scope)kind));
        if (launch >= n_launches) w->bad = true;
        before = it.launch = (uint32_t)launch;
        if (dl_wire_reads(w) && !w->bad && dl_analyzer_cell(c, it.launch, it.leaf, &hint) != i) w->bad = true;
    }
}

/* Slots of a scope: which of each block there are, and what each is more than the one of its kind before it. */
static void wire_slots(dl_wire *w, dl_analyzer *a, scope of)
{
    enum { MOST = 2 * DL_MAX_ANALYSES };
    const blocks *b = &a->blocks[of];
    const uint32_t most = dl_analyzer_scope_n(a, of), width = b->width;
    uint32_t n = b->n < most ? b->n : most;
    uint64_t before[MOST] = {0};
    dl_wire_count(w, &n, most, (width + 63) / 64);
    if (!width) n = 0;
    for (uint32_t i = 0; i < n && !w->bad; i++) {
        uint64_t *slots = dl_wire_reads(w) ? NULL : block_at(b, i);
        for (uint32_t from = 0; from < width && !w->bad; from += 64) {
            uint64_t there = 0;
            const uint32_t end = width - from < 64 ? width - from : 64;
            for (uint32_t k = 0; slots && !dl_wire_reads(w) && k < end; k++)
                there |= (uint64_t)(slots[(from + k) * TILE] != NO_STAMP) << k;
            dl_wire_u64(w, &there);
            if (end < 64 && there >> end) w->bad = true;
            if (!there || w->bad) continue;
            if (!slots && !(slots = dl_analyzer_block(a, of, i))) w->bad = true;
            for (; there && !w->bad; there &= there - 1) {
                const uint32_t k = from + (uint32_t)__builtin_ctzll(there);
                dl_wire_more(w, &slots[k * TILE], before[k]);
                before[k] = slots[k * TILE];
            }
        }
    }
}

static void wire_accounts(dl_wire *w, dl_analyzer *a, job *j)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < j->n_accounts; i++)
        n += j->accounts[i] != NULL;
    dl_wire_count(w, &n, UINT32_MAX, 4);
    for (uint32_t i = 0, leaf = 0; i < n && !w->bad; i++, leaf++) {
        while (!dl_wire_reads(w) && !j->accounts[leaf])
            leaf++;
        dl_wire_below(w, &leaf, dl_analyzer_leaf_n(a, j));
        account *of = w->bad ? NULL : dl_analyzer_account(j, leaf);
        if (!of || (dl_wire_reads(w) && dl_samples_count(&of->samples))) w->bad = true;
        if (w->bad) return;
        dl_wire_u64(w, &of->first_start);
        dl_wire_u64(w, &of->first);
        dl_wire_samples(w, &of->samples);
        if (dl_wire_reads(w) && !dl_samples_count(&of->samples)) w->bad = true;
    }
}

static void wire_kept(dl_wire *w, dl_analyzer *a, job *j)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < j->n_kept; i++)
        n += j->kept[i] != NULL;
    dl_wire_count(w, &n, UINT32_MAX, 3);
    for (uint32_t i = 0, stream = 0; i < n && !w->bad; i++, stream++) {
        while (!dl_wire_reads(w) && !j->kept[stream])
            stream++;
        dl_wire_below(w, &stream, a->n_streams);
        kept *k = w->bad ? NULL : dl_analyzer_kept(j, stream);
        if (!k || (dl_wire_reads(w) && k->steps.first)) w->bad = true;
        if (w->bad) return;
        dl_wire_u64(w, &k->last);
        dl_wire_samples(w, &k->steps);
    }
}

static void wire_sums(dl_wire *w, dl_analyzer *a, job *j)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < j->n_sums; i++)
        n += j->sums[i].n != 0;
    dl_wire_count(w, &n, UINT32_MAX, 3);
    for (uint32_t i = 0, at = 0; i < n && !w->bad; i++, at++) {
        while (!dl_wire_reads(w) && !j->sums[at].n)
            at++;
        dl_wire_below(w, &at, dl_analyzer_scope_n(a, j->scope));
        if (w->bad || !dl_analyzer_room(&j->sums, &j->n_sums, at, sizeof *j->sums)) {
            w->bad = true;
            return;
        }
        dl_wire_u64(w, &j->sums[at].value);
        dl_wire_u64(w, &j->sums[at].n);
    }
}

static void wire_events(dl_wire *w, dl_analyzer *a, job *j)
{
    const dl_tables *t = dl_decode_tables(a->decode);
    const uint32_t n_launches = dl_decode_launches(a->decode)->count;
    uint32_t n = (uint32_t)j->n_events;
    dl_wire_count(w, &n, DL_MAX_LISTED, 7);
    for (uint32_t i = 0; i < n && !w->bad; i++) {
        dl_analysis_event e = dl_wire_reads(w) ? (dl_analysis_event){0} : j->events[i];
        uint32_t type = e.type;
        dl_wire_u64(w, &e.time);
        dl_wire_u64(w, &e.data);
        dl_wire_below(w, &e.stream, a->n_streams);
        dl_wire_below(w, &e.site, t->n_sites);
        dl_wire_index(w, &e.launch, n_launches);
        dl_wire_text(w, &e.meta);
        dl_wire_below(w, &type, DL_ROW_TYPES);
        e.type = (dl_row_type)type;
        if (dl_wire_reads(w) && !w->bad && !dl_analyzer_list_event(j, &e)) w->bad = true;
    }
}

void dl_analyzer_wire(dl_analyzer *a, dl_wire *w)
{
    const dl_tables *t = dl_decode_tables(a->decode);
    if (!dl_analyzer_learn_streams(a) || !dl_analyzer_settle_all(a)) w->bad = true;
    for (uint32_t i = 0; i < t->n_chips && !w->bad; i++)
        dl_wire_u64(w, &a->t0[i]);
    for (int kind = 0; kind < 2 && !w->bad; kind++)
        wire_cells(w, a, (leaf_kind)kind);
    for (int of = 0; of < SCOPES && !w->bad; of++)
        wire_slots(w, a, (scope)of);
    for (size_t i = 0; i < a->list->n && !w->bad; i++) {
        job *j = &a->jobs[i];
        wire_accounts(w, a, j);
        if (!w->bad && j->plan == PLAN_MERGED) wire_kept(w, a, j);
        if (!w->bad && j->plan == PLAN_SUM) wire_sums(w, a, j);
        if (!w->bad && j->plan == PLAN_EVENT) wire_events(w, a, j);
    }
    memset(a->here, 0, sizeof a->here);
    a->stream = a->launch = a->core = a->chip = DL_NONE;
}
