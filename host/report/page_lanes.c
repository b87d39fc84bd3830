/* The order of the page: rows by chip, core and RISC; on each, zones by level of nesting and points; in each
 * lane, by time. Not here: how that is written down (page_pack.c). */
#include <stdlib.h>
#include <string.h>

#include "report/page_internal.h"

typedef struct row_key {
    const char *name;
    uint32_t stream, chip, x, y, risc;
} row_key;

static int by_row(const void *a, const void *b)
{
    const row_key *p = a, *q = b;
    if (p->chip != q->chip) return p->chip < q->chip ? -1 : 1;
    if (p->y != q->y) return p->y < q->y ? -1 : 1;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    if (p->risc != q->risc) return p->risc < q->risc ? -1 : 1;
    int names = strcmp(p->name, q->name);
    return names ? names : p->stream < q->stream ? -1 : p->stream > q->stream;
}

/* Zones before points; the zone around before those inside. Equal items are equal in every field, so that an
 * unstable sort gives the same bytes. */
static int by_time(const void *a, const void *b)
{
    const page_item *p = a, *q = b;
    bool p_point = p->kind != DL_EVENT_ZONE, q_point = q->kind != DL_EVENT_ZONE;
    if (p_point != q_point) return q_point ? -1 : 1;
    if (p->start != q->start) return p->start < q->start ? -1 : 1;
    if (p->length != q->length) return p->length > q->length ? -1 : 1;
    if (p->site != q->site) return p->site < q->site ? -1 : 1;
    if (p->launch != q->launch) return p->launch < q->launch ? -1 : 1;
    return (int)p->kind - (int)q->kind;
}

/* Ranks streams as the page shows them; `first`: where each stream's items begin, n_streams + 1 of them. */
static devlog_status rank_rows(dl_page *p, const dl_tables *t, const uint32_t *first, devlog_error *err)
{
    row_key *keys = malloc((t->n_streams + 1) * sizeof *keys);
    p->rows = malloc((t->n_streams + 1) * sizeof *p->rows);
    if (!keys || !p->rows) {
        free(keys);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the page's rows");
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_streams; i++) {
        const dl_stream *s = &t->streams[i];
        if (first[i] == first[i + 1]) continue;
        keys[n++] = (row_key){.name = dl_risc_text(t, i),
                              .stream = i,
                              .chip = t->chips[s->chip].id,
                              .x = s->core_x,
                              .y = s->core_y,
                              .risc = (uint32_t)s->risc};
    }
    qsort(keys, n, sizeof *keys, by_row);
    for (uint32_t i = 0; i < n; i++)
        p->rows[i] = keys[i].stream;
    p->n_rows = n;
    free(keys);
    return DEVLOG_OK;
}

enum { MAX_LEVELS = 512 };

/* The lane of each zone of one stream: one more than that of the zone around it; where it does not nest, the
 * first free one above. */
static uint32_t set_levels(page_item *items, size_t n)
{
    uint64_t ends[MAX_LEVELS];
    uint32_t levels = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t start = items[i].start, end = start + items[i].length;
        uint32_t level = 0;
        for (uint32_t k = levels; k > 0; k--) {
            if (ends[k - 1] <= start) continue;
            level = k; /* inside, or across, the zone in lane k - 1 */
            break;
        }
        items[i].lane = (uint16_t)level;
        if (level == MAX_LEVELS) continue; /* left out by one_row */
        if (level == levels) levels++;
        ends[level] = end;
    }
    return levels;
}

static int by_lane(const void *a, const void *b)
{
    const page_item *p = a, *q = b;
    return p->lane != q->lane ? (p->lane < q->lane ? -1 : 1) : by_time(a, b);
}

static devlog_status add_lane(dl_page *p, page_lane lane, devlog_error *err)
{
    if (p->n_lanes == p->cap_lanes) {
        uint32_t cap = p->cap_lanes ? p->cap_lanes * 2 : 256;
        page_lane *lanes = realloc(p->lanes, cap * sizeof *lanes);
        if (!lanes) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the page's lanes");
        p->lanes = lanes;
        p->cap_lanes = cap;
    }
    p->lanes[p->n_lanes++] = lane;
    return DEVLOG_OK;
}

/* One stream: items[from..to) of the page. */
static devlog_status one_row(dl_page *p, uint32_t stream, uint32_t from, uint32_t to, devlog_error *err)
{
    page_item *items = p->items + from;
    uint32_t n = to - from, zones = 0;
    qsort(items, n, sizeof *items, by_time);
    while (zones < n && items[zones].kind == DL_EVENT_ZONE)
        zones++;
    if (set_levels(items, zones) > 1) qsort(items, zones, sizeof *items, by_lane);
    devlog_status status = DEVLOG_OK;
    for (uint32_t i = 0, k; i < n && !status; i = k) {
        bool points = i >= zones;
        for (k = i + 1; k < n && (points || (k < zones && items[k].lane == items[i].lane)); k++)
            ;
        if (!points && items[i].lane == MAX_LEVELS) {
            p->left_out += k - i;
            continue;
        }
        status = add_lane(
            p,
            (page_lane){
                .stream = stream, .first = from + i, .n = k - i, .level = items[i].lane, .points = points},
            err);
    }
    return status;
}

/* Brings the items of each stream together, in place of a sort: counts, then moves. */
static devlog_status by_stream(dl_page *p, uint32_t *first, uint32_t n_streams, devlog_error *err)
{
    page_item *sorted = malloc((p->n + 1) * sizeof *sorted);
    if (!sorted) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for %zu intervals of the page", p->n);
    for (size_t i = 0; i < p->n; i++)
        first[p->items[i].stream + 1]++;
    for (uint32_t i = 0; i < n_streams; i++)
        first[i + 1] += first[i];
    for (size_t i = 0; i < p->n; i++)
        sorted[first[p->items[i].stream]++] = p->items[i];
    memmove(first + 1, first, n_streams * sizeof *first);
    first[0] = 0;
    free(p->items);
    p->items = sorted;
    p->cap = p->n + 1;
    return DEVLOG_OK;
}

/* Numbers the sites that the page names, in the order of the tables. */
static devlog_status number_sites(dl_page *p, const dl_tables *t, devlog_error *err)
{
    uint32_t n = 0;
    p->site_numbers = malloc((t->n_sites + 1) * sizeof *p->site_numbers);
    if (!p->site_numbers) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the page's zones");
    for (uint32_t i = 0; i < t->n_sites; i++)
        p->site_numbers[i] = DL_NONE;
    for (size_t i = 0; i < p->n; i++)
        p->site_numbers[p->items[i].site] = 0;
    for (uint32_t i = 0; i < t->n_sites; i++)
        if (p->site_numbers[i] == 0) p->site_numbers[i] = n++;
    return DEVLOG_OK;
}

devlog_status page_lanes(dl_page *p, const dl_tables *t, devlog_error *err)
{
    uint32_t *first = calloc((size_t)t->n_streams + 2, sizeof *first);
    if (!first) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the page's rows");
    devlog_status status = by_stream(p, first, t->n_streams, err);
    if (!status) status = rank_rows(p, t, first, err);
    if (!status) status = number_sites(p, t, err);
    for (uint32_t i = 0; i < p->n_rows && !status; i++) {
        uint32_t stream = p->rows[i], chip = t->streams[stream].chip;
        status = one_row(p, stream, first[stream], first[stream + 1], err);
        for (uint32_t k = first[stream]; k < first[stream + 1]; k++)
            if (p->items[k].start < p->base[chip]) p->base[chip] = p->items[k].start;
    }
    free(first);
    return status;
}
