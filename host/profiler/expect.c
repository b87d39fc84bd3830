/* Expectations of kernels. See the header. */
#include "profiler/expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "decode/event.h"
#include "devlog/record.h"

enum { MOST_OPEN = 32 }; /* passes of a zone inside of one another; what is deeper is not judged */

/* An expectation and what has been seen of its markers. */
typedef struct judged {
    const dl_elf_expect *of;
    uint32_t name, other_name; /* texts */
    uint64_t seen;             /* of the marker: begun, or come */
    uint64_t ended;            /* of an order: of the first, that have ended */
    uint64_t other;            /* of an order: of the second */
    uint64_t times;            /* not as expected */
    uint64_t worst, by;        /* and by how much it was outside */
    uint64_t open[MOST_OPEN];
    uint32_t n_open;
} judged;

/* Who is interested in the markers of a site: places in `items`, each with the next one's place + 1. */
typedef struct judge {
    judged *items;
    uint32_t n;
    uint32_t *first, *other; /* by site: whose name it is, and whose other name */
    uint32_t *next, *next_other;
} judge;

static void outside(judged *j, uint64_t value)
{
    const dl_elf_expect *e = j->of;
    const uint64_t by = value < e->low ? e->low - value : value > e->high ? value - e->high : 0;
    if (!by) return;
    j->times++;
    if (by <= j->by) return;
    j->by = by;
    j->worst = value;
}

static void begins(judged *j, uint64_t time)
{
    j->seen++;
    if (j->n_open < MOST_OPEN) j->open[j->n_open] = time;
    j->n_open++;
}

static void ends(judged *j, uint64_t time)
{
    j->ended++;
    if (!j->n_open) return; /* its start is missing */
    if (--j->n_open < MOST_OPEN && j->of->kind == DEVLOG_EXPECTS_CYCLES)
        outside(j, time - j->open[j->n_open]);
}

static void sum_of_passes(judged *j, const char *meta, uint64_t passes)
{
    const dl_sum_passes p = dl_sum_passes_of(meta, 0);
    j->seen += passes;
    j->ended += passes;
    if (j->of->kind != DEVLOG_EXPECTS_CYCLES || !passes || !p.told) return;
    outside(j, p.shortest);
    if (p.longest != p.shortest) outside(j, p.longest);
}

static void first_marker(judged *j, const dl_tables *t, const dl_marks *m, const dl_mark *mark)
{
    const dl_rare *rare = dl_mark_rare(m, mark->code);
    switch (t->kinds[dl_mark_kind(mark->code)].type) {
    case DL_ROW_ZONE_START: begins(j, mark->time); return;
    case DL_ROW_ZONE_END: ends(j, mark->time); return;
    case DL_ROW_ZONE_TOTAL: sum_of_passes(j, rare ? dl_text(t, rare->meta) : "", rare ? rare->op : 0); return;
    default: break;
    }
    j->seen++;
    j->ended++;
    if (j->of->kind == DEVLOG_EXPECTS_VALUE) outside(j, rare ? rare->data : 0);
}

static void other_marker(judged *j, const dl_tables *t, const dl_mark *mark)
{
    if (t->kinds[dl_mark_kind(mark->code)].type == DL_ROW_ZONE_END) return;
    if (++j->other <= j->ended) return;
    j->times++;
    if (!j->worst) j->worst = j->other;
}

static void see(judge *g, const dl_tables *t, const dl_marks *m, const dl_mark *mark)
{
    const uint32_t site = t->kinds[dl_mark_kind(mark->code)].site;
    for (uint32_t i = g->first[site]; i; i = g->next[i - 1])
        first_marker(&g->items[i - 1], t, m, mark);
    for (uint32_t i = g->other[site]; i; i = g->next_other[i - 1])
        other_marker(&g->items[i - 1], t, mark);
}

/* Links each expectation to the sites that have its names. Sites of one name begin one chain. */
static void link_sites(judge *g, const dl_tables *t)
{
    for (uint32_t s = 0; s < t->n_sites; s++) {
        const uint32_t name = t->sites[s].name;
        for (uint32_t i = g->n; i && t->sites[s].role == DL_ROLE_USER; i--) {
            if (g->items[i - 1].name == name) g->first[s] = i;
            if (g->items[i - 1].other_name == name) g->other[s] = i;
        }
    }
    for (uint32_t i = 0; i < g->n; i++) {
        for (uint32_t k = g->n; k > i + 1; k--) {
            if (g->items[k - 1].name == g->items[i].name) g->next[i] = k;
            if (g->items[k - 1].other_name == g->items[i].other_name) g->next_other[i] = k;
        }
    }
}

devlog_status expect_check(const dl_elf *elf, dl_tables *tables, const dl_marks *marks, bool complete,
                           devlog_status (*found)(void *ctx, const expect_violation *v, devlog_error *err),
                           void *ctx, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    if (!elf || !elf->n_expects) return DEVLOG_OK;
    judge g = {.n = elf->n_expects};
    g.items = calloc(g.n, sizeof *g.items);
    g.next = calloc(2 * (size_t)g.n, sizeof *g.next);
    g.first = calloc(2 * ((size_t)tables->n_sites + 1), sizeof *g.first);
    if (!g.items || !g.next || !g.first) {
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the expectations of a kernel");
        goto out;
    }
    g.next_other = g.next + g.n;
    g.other = g.first + tables->n_sites + 1;
    for (uint32_t i = 0; i < g.n; i++) {
        const dl_elf_expect *e = g.items[i].of = &elf->expects[i];
        g.items[i].name = dl_tables_text(tables, e->name, strlen(e->name));
        g.items[i].other_name = *e->other ? dl_tables_text(tables, e->other, strlen(e->other)) : DL_NONE;
    }
    link_sites(&g, tables);
    for (uint32_t i = 0; i < marks->n; i++)
        see(&g, tables, marks, &marks->items[i]);
    for (uint32_t i = 0; i < g.n && !status; i++) {
        judged *j = &g.items[i];
        if (j->of->kind == DEVLOG_EXPECTS_COUNT && (complete || j->seen > j->of->high)) outside(j, j->seen);
        if (j->of->kind == DEVLOG_EXPECTS_ORDER && !complete) continue;
        if (j->times) status = found(ctx, &(expect_violation){j->of, j->times, j->worst}, err);
    }
out:
    free(g.items);
    free(g.next);
    free(g.first);
    return status;
}

void expect_text(const dl_elf_expect *e, char *out, size_t size)
{
    static const char *const units[] = {
        [DEVLOG_EXPECTS_CYCLES] = "cycles",
        [DEVLOG_EXPECTS_COUNT] = "times a launch",
        [DEVLOG_EXPECTS_VALUE] = "as value",
    };
    const unsigned long long low = e->low, high = e->high;
    const char *unit = e->kind < sizeof units / sizeof units[0] && units[e->kind] ? units[e->kind] : "";
    if (e->kind == DEVLOG_EXPECTS_ORDER)
        snprintf(out, size, "%s: one before each %s", e->name, e->other);
    else if (low == high)
        snprintf(out, size, "%s: %llu %s", e->name, low, unit);
    else if (high == UINT64_MAX)
        snprintf(out, size, "%s: at least %llu %s", e->name, low, unit);
    else if (low == 0)
        snprintf(out, size, "%s: at most %llu %s", e->name, high, unit);
    else
        snprintf(out, size, "%s: %llu to %llu %s", e->name, low, high, unit);
}
