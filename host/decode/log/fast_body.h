/* The fast path's loops, included once for each set of vector primitives. The includer defines
 *
 *     FAST(name)     the name of a function of this set
 *     FAST_TARGET    an attribute, or nothing
 *     and FAST_TARGET static inline functions
 *     bool FAST(equal)(const char *at, const char *text, uint32_t n)     0 < n <= 32 bytes are equal
 *     bool FAST(equal_long)(...)                                         the same for n up to FAST_ZONE
 *     uint32_t FAST(commas)(const char *at)                              which of 32 bytes are commas
 *     bool FAST(digits)(const char *end, uint32_t n, uint64_t *value)    as fast_digits_scalar
 *     bool FAST(digits_two)(const char *a, const char *b, uint32_t n, uint64_t *values)
 *                                                                        the same of two
 *     const char *FAST(meta_end)(const char *at)          the first comma, CR, LF or NUL
 *
 * How it goes: a line is a place, a timer id, a stamp, data, launch ids and a zone. Place, ids and zone are
 * compared as bytes with what the line before it, or the line that came after a line like that, had; only
 * stamp and data are read as numbers. So the length of each part is known, by prediction, before its bytes
 * have arrived, and the processor works on several lines at once. Lines of six cells are so short that two
 * are taken together. What has not been seen is declined; the general path reads it and shows it to
 * dl_fast_learn. */

/* The place at the beginning of a line, when it is not that of the line before: the one that followed it, or
 * any. */
FAST_TARGET FAST_COLD static fast_place *FAST(find_place)(struct dl_fast *f, fast_place *before,
                                                          const char *at)
{
    fast_place *p = before->next;
    if (p && FAST(equal)(at, p->text, p->len)) return p;
    uint32_t commas = FAST(commas)(at);
    commas &= commas - 1;
    commas &= commas - 1;
    commas &= commas - 1;
    if (!commas) return NULL;
    uint32_t len = (uint32_t)__builtin_ctz(commas) + 1;
    while (at[len] == ' ' && len < FAST_PLACE)
        len++;
    uint64_t hash = fast_place_hash(at, len);
    for (uint32_t slot = (uint32_t)hash & (FAST_PLACE_SLOTS - 1); f->place_slots[slot];
         slot = (slot + 1) & (FAST_PLACE_SLOTS - 1)) {
        p = fast_place_at(f, f->place_slots[slot] - 1);
        if (p->hash != hash || p->len != len || !FAST(equal)(at, p->text, len)) continue;
        before->next = p;
        return p;
    }
    return NULL;
}

/* The number of digits of the stamp at `at`, which `stop` follows, or 0: it is none. */
FAST_COLD static uint32_t FAST(stamp_len)(const char *at, char stop)
{
    uint32_t n = 0;
    while (n <= FAST_DIGITS && (unsigned char)(at[n] - '0') <= 9)
        n++;
    return n <= FAST_DIGITS && at[n] == stop ? n : 0;
}

/* Reads the launch ids, from behind the data to the zone name, and remembers them. */
FAST_TARGET FAST_COLD static const char *FAST(read_ids)(struct dl_fast *f, const char *at)
{
    uint64_t run = 0, run_host = 0, trace = DL_NO_ID, counter = DL_NO_ID;
    const char *from = at;
    for (uint32_t i = 0; i < f->n_ids; i++) {
        if (*at == ',') {
            at++;
            continue;
        }
        const fast_number n =
            fast_number_cell(at, f->ids[i] == DL_COL_RUN_HOST_ID ? UINT64_MAX : DL_NO_ID - 1);
        at = n.next;
        if (!at) return NULL;
        if (f->ids[i] == DL_COL_RUN_ID) run = n.value;
        if (f->ids[i] == DL_COL_RUN_HOST_ID) run_host = n.value;
        if (f->ids[i] == DL_COL_TRACE_ID) trace = n.value;
        if (f->ids[i] == DL_COL_TRACE_COUNTER) counter = n.value;
    }
    fast_ids *ids = &f->last_ids;
    ids->ids = (dl_ids){.run_host_id = run_host,
                        .run_id = (uint32_t)run,
                        .trace_id = (uint32_t)trace,
                        .trace_counter = (uint32_t)counter,
                        .has_launch = run_host || run || trace != DL_NO_ID || counter != DL_NO_ID};
    ids->len = (uint32_t)(at - from);
    if (ids->len > FAST_IDS) ids->len = 0;
    memcpy(ids->text, from, ids->len);
    return at;
}

/* The zone of a line that is not the predicted one: by its timer id, then by its text at `tail`. */
FAST_TARGET FAST_COLD static fast_zone *FAST(find_zone)(struct dl_fast *f, fast_zone **before,
                                                        const char *timer, const char *tail)
{
    uint32_t id = 0, n = 0;
    for (; (unsigned char)(timer[n] - '0') <= 9; n++)
        id = id * 10 + (uint32_t)(timer[n] - '0');
    fast_zone *z = f->zone_slots[fast_zone_slot(id, tail)];
    for (; z; z = z->same_slot) {
        if (!FAST(equal)(timer, z->timer, z->timer_len)) continue;
        if (!FAST(equal_long)(tail, z->text, z->len)) continue;
        *before = z;
        return z;
    }
    return NULL;
}

/* A zone's start or end that has not been seen: its mark as the general path would make it, from the cells behind the launch ids,
 * of which the last is at most empty meta data. Returns the next line; NULL: the general path is to see it, because it is
 * something else, or has been seen and may be learned now. Where names hardly come twice, nothing is learned of them. */
FAST_TARGET FAST_COLD static const char *FAST(new_zone)(dl_parser *p, const fast_line *line, uint64_t frame,
                                                        dl_mark *mark)
{
    struct dl_fast *f = p->fast;
    const dl_columns *c = &f->columns;
    dl_cell cells[DL_MAX_CELLS];
    const char *at = line->tail;
    for (uint32_t i = f->zone_at; i < f->n_cells; i++) {
        const char *stop = FAST(meta_end)(at);
        const size_t n = (size_t)(stop - at);
        if (stop >= line->end || *stop != (i + 1 < f->n_cells ? ',' : '\n')) return NULL;
        if (n && (*at == '"' || *at == ' ' || *at == '\t' || stop[-1] == ' ' || stop[-1] == '\t'))
            return NULL;
        cells[i] = (dl_cell){at, n};
        at = stop + 1;
    }
    if ((size_t)(at - line->at) > DL_MAX_LINE || (f->meta && cells[f->n_cells - 1].len)) return NULL;
    return fast_new_mark(p, line, cells, c, frame, mark) ? at : NULL;
}

/* The number of bytes of a timer id with its comma, when it is not the predicted one; 0: it is none. */
FAST_COLD static uint32_t FAST(timer_len)(const char *at)
{
    uint32_t n = 0;
    while (n < 15 && (unsigned char)(at[n] - '0') <= 9)
        n++;
    if (n == 0) return 0;
    while (n < 15 && at[n] == ' ')
        n++;
    return at[n] == ',' ? n + 1 : 0;
}

/* Meta data up to the end of the line: fills in what is not 0 and returns the next line, or NULL. */
FAST_TARGET FAST_COLD static const char *FAST(meta)(dl_parser *p, const char *line, const char *at,
                                                    uint8_t type, uint32_t *op, uint32_t *meta)
{
    const char *end = FAST(meta_end)(at);
    size_t n = (size_t)(end - at);
    if (*end != '\n' || (size_t)(end - line) >= DL_MAX_LINE) return NULL;
    if (n && (*at == '"' || *at == ' ' || *at == '\t')) return NULL;
    while (n && (at[n - 1] == ' ' || at[n - 1] == '\t'))
        n--;
    const bool sum = type == DL_ROW_ZONE_TOTAL;
    if (type > DL_ROW_ZONE_TOTAL && fast_tells_counter(at, n)) return NULL; /* its name is in there */
    if (n) *op = sum ? dl_meta_passes((dl_cell){at, n}) : dl_meta_op((dl_cell){at, n});
    if (n && (*op == 0 || sum) && dl_meta_is_kept(p, (dl_row_type)type, (dl_cell){at, n})) {
        *meta = dl_tables_meta(p->tables, at, n);
        if (*meta == DL_NONE) return NULL; /* the general path tells it */
    }
    return end + 1;
}

/* Lines with zone names, L3 to L9. */
FAST_TARGET static const char *FAST(named)(dl_parser *p, const char *at, const char *end)
{
    struct dl_fast *f = p->fast;
    const fast_output out = fast_begin(p);
    fast_place *place = f->place;
    fast_zone *zone = f->zone;
    const fast_ids *ids = &f->last_ids;
    uint32_t digits = f->time_len, i = 0;
    uint64_t frame;
    if (!fast_frame(p, &out, &ids->ids, 0, &frame)) return at;
    for (; at < end && i < out.room; i++) {
        if (!FAST(equal)(at, place->text, place->len)) {
            fast_place *found = FAST(find_place)(f, place, at);
            if (!found) break;
            place = found;
        }
        const char *timer = at + place->len;
        fast_zone *z = zone->next[place->risc];
        bool predicted = FAST(equal)(timer, z->timer, z->timer_len);
        uint32_t timer_len = z->timer_len;
        if (!predicted && !(timer_len = FAST(timer_len)(timer))) break;
        const char *cell = timer + timer_len;
        uint64_t time, data = 0;
        while (cell[digits] != ',' || !FAST(digits)(cell + digits, digits, &time)) {
            uint32_t n = FAST(stamp_len)(cell, ',');
            if (n == 0 || n == digits) goto declined;
            digits = n;
        }
        cell += digits + 1;
        if (cell[0] == '0' && cell[1] == ',') {
            cell += 2;
        } else if (cell[0] == ',') {
            cell++;
        } else {
            const fast_number n = fast_number_cell(cell, UINT64_MAX);
            if (!n.next) break;
            cell = n.next;
            data = n.value;
        }
        if (ids->len && FAST(equal)(cell, ids->text, ids->len))
            cell += ids->len;
        else if (!(cell = FAST(read_ids)(f, cell)) || !fast_frame(p, &out, &ids->ids, i, &frame))
            break;
        if (!predicted || !FAST(equal_long)(cell, z->text, z->len)) {
            z = FAST(find_zone)(f, &zone->next[place->risc], timer, cell);
            if (!z) {
                const fast_line line = {at, end, timer, cell, place->stream, time, data};
                const char *behind = FAST(new_zone)(p, &line, frame, &out.marks[i]);
                if (!behind) break;
                at = behind;
                continue;
            }
        }
        const char *next = cell + z->len;
        uint64_t code = frame;
        if (z->meta_follows | (data != 0)) {
            dl_rare rare = {.data = z->has_data ? data : 0};
            if (z->meta_follows && !(next = FAST(meta)(p, at, next, z->type, &rare.op, &rare.meta))) break;
            if ((rare.data || rare.op || rare.meta) && !dl_marks_rare(p->marks, &rare, frame, &code)) break;
        }
        out.marks[i] = (dl_mark){time, place->stream | z->code | code};
        zone = z;
        at = next;
    }
declined:
    f->place = place;
    f->zone = zone;
    f->time_len = digits;
    fast_end(p, i);
    return at;
}

/* The marker at `at` on this RISC, when it is not the predicted one. */
FAST_COLD static fast_marker *FAST(find_marker)(struct dl_fast *f, fast_marker *before,
                                                const fast_place *place, const char *at)
{
    uint32_t timer = 0;
    for (int n = 0; n < 9 && (unsigned char)(at[n] - '0') <= 9; n++)
        timer = timer * 10 + (uint32_t)(at[n] - '0');
    fast_marker *m = &f->markers[fast_marker_slot(place->risc_name, timer)];
    if (!m->mask || m->risc_name != place->risc_name || (fast_load64(at) & m->mask) != m->text) return NULL;
    before->next = m;
    return m;
}

/* Whether this marker of this kind of RISC is at `at`. */
static inline bool FAST(is_marker)(const fast_marker *m, const fast_place *place, const char *at)
{
    return (((fast_load64(at) & m->mask) ^ m->text) | (m->risc_name ^ place->risc_name)) == 0;
}

/* Reads a line of six cells, L0 to L2: its place and marker become those of the line before. Returns the next
 * line, or NULL. */
FAST_TARGET FAST_COLD static const char *FAST(line)(struct dl_fast *f, const char *at, uint64_t *time)
{
    fast_place *place = f->place;
    if (!FAST(equal)(at, place->text, place->len) && !(place = FAST(find_place)(f, place, at))) return NULL;
    const char *cell = at + place->len;
    fast_marker *marker = f->marker->next;
    if (!FAST(is_marker)(marker, place, cell) && !(marker = FAST(find_marker)(f, f->marker, place, cell)))
        return NULL;
    cell += marker->len;
    uint32_t digits = f->time_len;
    while (cell[digits] != '\n' || !FAST(digits)(cell + digits, digits, time)) {
        uint32_t n = FAST(stamp_len)(cell, '\n');
        if (n == 0 || n == digits) return NULL;
        digits = n;
    }
    f->place = place;
    f->marker = marker;
    f->time_len = digits;
    return cell + digits + 1;
}

/* Lines of six cells: two by two, as long as two are of one place and all is as foretold; by themselves when
 * not. */
FAST_TARGET static const char *FAST(unnamed)(dl_parser *p, const char *at, const char *end)
{
    struct dl_fast *f = p->fast;
    const fast_output out = fast_begin(p);
    const dl_ids none = {.trace_id = DL_NO_ID, .trace_counter = DL_NO_ID};
    dl_mark *to = out.marks, *const full = to + out.room;
    uint64_t frame;
    if (!fast_frame(p, &out, &none, 0, &frame)) return at;
    while (at < end && to < full) {
        fast_place *place = f->place;
        fast_marker *marker = f->marker;
        const uint32_t digits = f->time_len;
        for (; at < end && full - to >= 2; to += 2) {
            if (!FAST(equal)(at, place->text, place->len)) {
                if (!place->next || !FAST(equal)(at, place->next->text, place->next->len)) break;
                place = place->next;
            }
            fast_marker *one = marker->next, *two = one->next;
            const char *cell = at + place->len, *line_end = cell + one->len + digits;
            const char *next = line_end + 1; /* behind the end may be lines of an earlier block */
            if (*line_end != '\n' || next >= end || !FAST(is_marker)(one, place, cell)) break;
            if (!FAST(equal)(next, place->text, place->len)) break;
            const char *next_cell = next + place->len, *next_end = next_cell + two->len + digits;
            if (*next_end != '\n' || !FAST(is_marker)(two, place, next_cell)) break;
            uint64_t times[2];
            if (!FAST(digits_two)(line_end, next_end, digits, times)) break;
            to[0] = (dl_mark){times[0], place->stream | one->code | frame};
            to[1] = (dl_mark){times[1], place->stream | two->code | frame};
            marker = two;
            at = next_end + 1;
        }
        f->place = place;
        f->marker = marker;
        if (at >= end || to == full) break;
        uint64_t time;
        const char *next = FAST(line)(f, at, &time);
        if (!next) break;
        *to++ = (dl_mark){time, f->place->stream | f->marker->code | frame};
        at = next;
    }
    fast_end(p, (uint32_t)(to - out.marks));
    return at;
}

FAST_TARGET static const char *FAST(marks)(dl_parser *p, const char *at, const char *end)
{
    return p->fast->named ? FAST(named)(p, at, end) : FAST(unnamed)(p, at, end);
}
