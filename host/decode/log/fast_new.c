/* Marks of zones that the fast path sees for the first time. Not for what it remembers (fast.c), nor for lines that are not like
 * those of writers (cells.c). */
#include "decode/log/fast_internal.h"

/* Whether a zone with this timer id can be learned: then it is worth it when it comes again. */
static bool can_learn(const struct dl_fast *f, uint32_t timer_id, const char *tail)
{
    int in_slot = 0;
    for (const fast_zone *z = f->zone_slots[fast_zone_slot(timer_id, tail)]; z; z = z->same_slot)
        in_slot++;
    return in_slot < FAST_CHAIN && f->n_zones < FAST_MAX_ZONES;
}

static bool type_of(dl_cell cell, dl_row_type *type)
{
    static const char start[10] = "ZONE_START", end[8] = "ZONE_END";
    *type = cell.len == sizeof end ? DL_ROW_ZONE_END : DL_ROW_ZONE_START;
    return *type == DL_ROW_ZONE_END ? memcmp(cell.text, end, sizeof end) == 0
                                    : cell.len == sizeof start && memcmp(cell.text, start, sizeof start) == 0;
}

static bool number(dl_cell cell, uint64_t max, uint64_t *value)
{
    *value = 0;
    return cell.len == 0 || dl_number(cell, max, value) == DL_SKIP_NONE;
}

bool fast_new_mark(dl_parser *p, const fast_line *line, const dl_cell *cells, const dl_columns *c,
                   uint64_t frame, dl_mark *mark)
{
    static const char last[] = DL_END_ZONE;
    const dl_cell none = {"", 0}, zone = cells[c->at[DL_COL_ZONE]];
    const dl_cell file = c->at[DL_COL_FILE] >= 0 ? cells[c->at[DL_COL_FILE]] : none;
    dl_row_type type;
    uint64_t timer, source = 0;
    size_t n = 0;
    while ((unsigned char)(line->timer[n] - '0') <= 9)
        n++;
    if (!type_of(cells[c->at[DL_COL_TYPE]], &type) || !zone.len || n > 10) return false;
    if (!number((dl_cell){line->timer, n}, UINT32_MAX, &timer)) return false;
    if (c->at[DL_COL_LINE] >= 0 && !number(cells[c->at[DL_COL_LINE]], DL_NO_ID - 1, &source)) return false;
    if (zone.len == sizeof last - 1 && memcmp(zone.text, last, sizeof last - 1) == 0) return false;
    const uint32_t site =
        dl_tables_site(p->tables, zone.text, zone.len, file.len ? file.text : "", file.len, (uint32_t)source);
    if (site == DL_NONE) return false;
    const dl_role role = p->tables->sites[site].role;
    const dl_kind kind = {
        .site = site, .timer_id = (uint32_t)timer, .type = (uint8_t)type, .role = (uint8_t)role};
    const uint32_t known = p->tables->added.kinds, number_of = dl_tables_kind(p->tables, &kind);
    if (number_of == DL_NONE || (number_of < known && can_learn(p->fast, (uint32_t)timer, line->tail)))
        return false;
    const dl_rare rare = {.data = p->keep_data || role == DL_ROLE_DROPPED ? line->data : 0};
    if (rare.data && !dl_marks_rare(p->marks, &rare, frame, &frame)) return false;
    *mark = (dl_mark){line->time, dl_mark_code(&kind, number_of) | line->stream | frame};
    return true;
}
