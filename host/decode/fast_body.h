/* The fast path's loops, included once for each set of vector primitives. The includer defines
 *
 *     FAST(name)     the name of a function of this set
 *     FAST_TARGET    an attribute, or nothing
 *     and FAST_TARGET static inline functions
 *     bool FAST(equal)(const char *at, const char *text, uint32_t n)     n <= 32 bytes are equal
 *     uint32_t FAST(commas)(const char *at)                              which of 32 bytes are commas
 *     bool FAST(digits)(const char *end, uint32_t n, uint64_t *value)    as fast_digits_scalar
 *     const char *FAST(meta_end)(const char *at)          the first comma, CR, LF or NUL
 *
 * How it goes: a line is a place, a timer id, a stamp, data, launch ids and a zone. Place, ids and zone are
 * compared as bytes with what the line before it, or the line that came after a line like that, had; only
 * stamp and data are read as numbers. So the length of each part is known, by prediction, before its bytes
 * have arrived, and the processor works on several lines at once. What has not been seen is declined; the
 * general path reads it and shows it to dl_fast_learn. */

/* `n` is any length up to FAST_ZONE; reads whole groups of 32 bytes, as far as they are equal. */
FAST_TARGET static inline bool FAST(equal_long)(const char *at, const char *text, uint32_t n)
{
    while (n > 32) {
        if (!FAST(equal)(at, text, 32)) return false;
        at += 32;
        text += 32;
        n -= 32;
    }
    return FAST(equal)(at, text, n);
}

/* The place at the beginning of a line: that of the line before, the one that followed it, or any. */
FAST_TARGET static inline const fast_place *FAST(place)(struct dl_fast *f, const char *at)
{
    const fast_place *p = &f->places[f->place];
    if (FAST(equal)(at, p->text, p->len)) return p;
    uint32_t next = p->next;
    const fast_place *q = &f->places[next];
    if (FAST(equal)(at, q->text, q->len)) {
        f->place = next;
        return q;
    }
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
        next = f->place_slots[slot] - 1;
        q = &f->places[next];
        if (q->hash != hash || q->len != len || !FAST(equal)(at, q->text, len)) continue;
        f->places[f->place].next = next;
        f->place = next;
        return q;
    }
    return NULL;
}

/* A number of up to 20 digits that ends with a comma; NULL when it is none. */
FAST_TARGET static inline const char *FAST(number)(const char *at, uint64_t max, uint64_t *value)
{
    size_t n = 0;
    while (n < 21 && (unsigned char)(at[n] - '0') <= 9)
        n++;
    if (at[n] != ',' || dl_number((dl_cell){at, n}, max, value) != DL_SKIP_NONE) return NULL;
    return at + n + 1;
}

/* The stamp at `at`, which `stop` follows. Returns what is behind `stop`, or NULL. */
FAST_TARGET static inline const char *FAST(stamp)(struct dl_fast *f, const char *at, char stop,
                                                  uint64_t *time)
{
    uint32_t n = f->time_len;
    if (at[n] == stop && FAST(digits)(at + n, n, time)) return at + n + 1;
    for (n = 0; n <= FAST_DIGITS && (unsigned char)(at[n] - '0') <= 9;)
        n++;
    if (n == 0 || n > FAST_DIGITS || at[n] != stop) return NULL;
    f->time_len = n;
    FAST(digits)(at + n, n, time);
    return at + n + 1;
}

/* The launch ids, from behind the data to the zone name. */
FAST_TARGET static inline const char *FAST(ids)(struct dl_fast *f, const char *at)
{
    fast_ids *ids = &f->last_ids;
    if (ids->len && FAST(equal)(at, ids->text, ids->len)) return at + ids->len;
    uint64_t run = 0, run_host = 0, trace = DL_NO_ID, counter = DL_NO_ID;
    const char *from = at;
    for (uint32_t i = 0; i < f->n_ids; i++) {
        if (*at == ',') {
            at++;
            continue;
        }
        uint64_t max = f->ids[i] == DL_COL_RUN_HOST_ID ? UINT64_MAX : DL_NO_ID - 1, value;
        at = FAST(number)(at, max, &value);
        if (!at) return NULL;
        if (f->ids[i] == DL_COL_RUN_ID) run = value;
        if (f->ids[i] == DL_COL_RUN_HOST_ID) run_host = value;
        if (f->ids[i] == DL_COL_TRACE_ID) trace = value;
        if (f->ids[i] == DL_COL_TRACE_COUNTER) counter = value;
    }
    ids->run_id = (uint32_t)run;
    ids->run_host_id = run_host;
    ids->trace_id = (uint32_t)trace;
    ids->trace_counter = (uint32_t)counter;
    ids->has_launch = run_host || run || trace != DL_NO_ID || counter != DL_NO_ID;
    ids->len = (uint32_t)(at - from);
    if (ids->len > FAST_IDS) ids->len = 0;
    memcpy(ids->text, from, ids->len);
    return at;
}

/* The zone of a line that is not the predicted one: by its timer id, then by its text at `tail`. */
FAST_TARGET static const fast_zone *FAST(find_zone)(struct dl_fast *f, const char *timer, const char *tail)
{
    uint32_t id = 0, n = 0;
    for (; (unsigned char)(timer[n] - '0') <= 9; n++)
        id = id * 10 + (uint32_t)(timer[n] - '0');
    uint32_t at = f->zone_slots[fast_timer_slot(id)];
    for (int i = 0; at && i < FAST_CHAIN; i++, at = f->zones[at - 1].same_timer) {
        const fast_zone *z = &f->zones[at - 1];
        if (!FAST(equal)(timer, z->timer, z->timer_len)) continue;
        if (!FAST(equal_long)(tail, z->text, z->len)) continue;
        f->zones[f->zone].next = at - 1;
        return z;
    }
    return NULL;
}

/* The number of bytes of a timer id with its comma, when it is not the predicted one; 0: it is none. */
static inline uint32_t FAST(timer_len)(const char *at)
{
    uint32_t n = 0;
    while (n < 15 && (unsigned char)(at[n] - '0') <= 9)
        n++;
    if (n == 0) return 0;
    while (n < 15 && at[n] == ' ')
        n++;
    return at[n] == ',' ? n + 1 : 0;
}

/* Rows with zone names: L3 to L9. */
FAST_TARGET static inline const char *FAST(named)(dl_parser *p, const char *at, const char *end)
{
    struct dl_fast *f = p->fast;
    dl_row *row = p->rows + p->n_rows, *full = p->rows + p->cap_rows;
    uint64_t line = p->line;
    while (at < end && row < full) {
        const fast_place *place = FAST(place)(f, at);
        if (!place) break;
        const char *timer = at + place->len;
        const fast_zone *z = &f->zones[f->zones[f->zone].next];
        bool predicted = FAST(equal)(timer, z->timer, z->timer_len);
        uint32_t timer_len = predicted ? z->timer_len : FAST(timer_len)(timer);
        if (!timer_len) break;
        uint64_t time = 0, data = 0;
        const char *cell = FAST(stamp)(f, timer + timer_len, ',', &time);
        if (!cell) break;
        if (cell[0] == '0' && cell[1] == ',')
            cell += 2;
        else if (cell[0] == ',')
            cell++;
        else if (!(cell = FAST(number)(cell, UINT64_MAX, &data)))
            break;
        cell = FAST(ids)(f, cell);
        if (!cell) break;
        if (!predicted || !FAST(equal_long)(cell, z->text, z->len)) {
            z = FAST(find_zone)(f, timer, cell);
            if (!z) break;
        }
        const char *next = cell + z->len;
        uint32_t meta = 0, op = 0;
        if (z->meta_follows) {
            const char *meta_end = FAST(meta_end)(next);
            size_t n = (size_t)(meta_end - next);
            if (*meta_end != '\n' || (size_t)(meta_end - at) >= DL_MAX_LINE) break;
            if (n && (*next == '"' || *next == ' ' || *next == '\t')) break;
            while (n && (next[n - 1] == ' ' || next[n - 1] == '\t'))
                n--;
            if (n) op = dl_meta_op((dl_cell){next, n});
            if (n && p->keep_meta && op == 0) {
                meta = dl_tables_text(p->tables, next, n);
                if (meta == DL_NO_STRING) meta = 0;
            }
            next = meta_end + 1;
        }
        f->zone = (uint32_t)(z - f->zones);
        *row++ = (dl_row){.time = time,
                          .data = data,
                          .run_host_id = f->last_ids.run_host_id,
                          .stream = place->stream,
                          .site = z->site,
                          .timer_id = z->timer_id,
                          .meta = meta,
                          .run_id = f->last_ids.run_id,
                          .trace_id = f->last_ids.trace_id,
                          .trace_counter = f->last_ids.trace_counter,
                          .line = (uint32_t)++line,
                          .type = z->type,
                          .has_launch = f->last_ids.has_launch,
                          .op = op};
        at = next;
    }
    p->line = line;
    p->n_rows = (size_t)(row - p->rows);
    return at;
}

/* Rows of six cells: L0 to L2. */
FAST_TARGET static inline const char *FAST(unnamed)(dl_parser *p, const char *at, const char *end)
{
    struct dl_fast *f = p->fast;
    dl_row *row = p->rows + p->n_rows, *full = p->rows + p->cap_rows;
    uint64_t line = p->line;
    while (at < end && row < full) {
        const fast_place *place = FAST(place)(f, at);
        if (!place) break;
        const char *cell = at + place->len;
        uint32_t timer = (uint32_t)(unsigned char)cell[0] - '0', n = 1;
        if (timer > 9) break;
        for (; cell[n] != ',' && n < 9; n++) {
            uint32_t digit = (uint32_t)(unsigned char)cell[n] - '0';
            if (digit > 9) break;
            timer = timer * 10 + digit;
        }
        if (cell[n] != ',') break;
        cell += n + 1;
        if (place->blank && *cell++ != ' ') break;
        uint64_t time = 0;
        const char *next = FAST(stamp)(f, cell, '\n', &time);
        if (!next) break;
        const fast_marker *m = &f->markers[fast_marker_slot(place->risc_name, timer)];
        if (m->timer_id != timer || m->risc_name != place->risc_name) break;
        *row++ = (dl_row){.time = time,
                          .stream = place->stream,
                          .site = m->site,
                          .timer_id = timer,
                          .trace_id = DL_NO_ID,
                          .trace_counter = DL_NO_ID,
                          .line = (uint32_t)++line,
                          .type = m->type};
        at = next;
    }
    p->line = line;
    p->n_rows = (size_t)(row - p->rows);
    return at;
}

FAST_TARGET static const char *FAST(rows)(dl_parser *p, const char *at, const char *end)
{
    return p->fast->named ? FAST(named)(p, at, end) : FAST(unnamed)(p, at, end);
}
