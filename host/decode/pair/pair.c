/* Pairing: rows into events. The common case of each step is here and inline; what is rare is elsewhere. */
#include "decode/pair/pair.h"

#include <stdlib.h>
#include <string.h>

#include "decode/pair/pair_shape.h"

dl_pair *dl_pair_new(dl_tables *tables, dl_losses *losses, const dl_pair_options *options)
{
    dl_pair *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->tables = tables;
    p->losses = losses;
    p->source = "";
    if (options) p->filter = options->filter;
    if (options) p->no_samples = options->no_samples;
    if (options) p->subtract_cost = options->subtract_cost;
    if (options) p->launches.big_items.folder = p->launches.big_chains.folder = options->scratch;
    return p;
}

void dl_pair_free(dl_pair *p)
{
    if (!p) return;
    for (uint32_t i = 0; i < p->n_keys; i++) {
        dl_key *k = &p->key_blocks[i / KEYS_PER_BLOCK][i % KEYS_PER_BLOCK];
        dl_samples_free(&k->samples);
        free(k->runs);
    }
    for (uint32_t i = 0; i < p->n_blocks; i++)
        free(p->key_blocks[i]);
    free(p->key_blocks);
    for (uint32_t i = 0; i < p->n_streams; i++) {
        stream_state *s = p->streams[i];
        if (!s) continue;
        if (s->open != s->inline_open) free(s->open);
        free(s->keys);
        free(s->costs);
        free(s->held_row);
        for (uint32_t k = 0; k < s->n_shapes; k++)
            free(s->shapes[k]);
        free(s->shapes);
        free(s);
    }
    dl_pair_free_shapes(p);
    dl_sample_pool_free(&p->pool);
    dl_series_free(&p->series);
    free(p->streams);
    free(p->run);
    dl_pair_out_free(&p->out);
    dl_launches_free(&p->launches);
    free(p);
}

void dl_pair_event_sink(dl_pair *p, dl_event_sink sink)
{
    p->events = sink;
}

void dl_pair_marker_sink(dl_pair *p, dl_marker_sink sink)
{
    p->markers = sink;
}

void dl_pair_losses(dl_pair *p, dl_losses *losses)
{
    p->losses = losses;
}

void dl_pair_source(dl_pair *p, const char *name)
{
    p->source = name;
}

const dl_launches *dl_pair_launches(const dl_pair *p)
{
    return &p->launches;
}

void dl_pair_cool(dl_pair *p)
{
    dl_launches_cool(&p->launches);
}

void dl_pair_launch_times(dl_pair *p, uint32_t chip_id, uint64_t run_host_id, const uint64_t times[4])
{
    for (uint32_t i = p->launches.count; i > 0; i--) {
        dl_launch *l = &p->launches.items[i - 1];
        if (l->run_host_id != run_host_id || p->tables->chips[l->chip].id != chip_id) continue;
        l->call_start = times[0];
        l->call_end = times[1];
        l->pull_start = times[2];
        l->pull_end = times[3];
        return;
    }
}

size_t dl_pair_n_keys(const dl_pair *p)
{
    return p->n_keys;
}

const dl_key *dl_pair_key(const dl_pair *p, size_t i)
{
    return &p->key_blocks[i / KEYS_PER_BLOCK][i % KEYS_PER_BLOCK];
}

const dl_series_table *dl_pair_series(const dl_pair *p)
{
    return &p->series;
}

size_t dl_pair_sample_bytes(const dl_pair *p)
{
    size_t bytes = 0;
    for (size_t i = 0; i < p->n_keys; i++)
        bytes += dl_samples_bytes(&dl_pair_key(p, i)->samples) +
                 dl_pair_key(p, i)->cap_runs * sizeof(dl_launch_run);
    return bytes;
}

static devlog_status out_of_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while pairing markers");
}

devlog_status dl_pair_chip_line(dl_pair *p, const dl_chip_line *chip, devlog_error *err)
{
    (void)err;
    p->chip_line = *chip;
    p->header++;
    /* The next row of every stream takes the slow path, which gives the line to its chip. */
    for (uint32_t i = 0; i < p->n_streams; i++)
        if (p->streams[i]) p->streams[i]->limit = 0;
    return DEVLOG_OK;
}

devlog_status dl_pair_flush(dl_pair *p, devlog_error *err)
{
    size_t n = p->n_batch;
    p->n_batch = 0;
    devlog_status status = n ? p->events.events(p->events.ctx, p->batch, n, err) : DEVLOG_OK;
    return status ? status : dl_pair_out_flush(p, err);
}

static devlog_status emit(dl_pair *p, const dl_event *e, devlog_error *err)
{
    devlog_status status = p->out.sink.wants & DL_WANT_EVENTS ? dl_pair_out_event(p, e, err) : DEVLOG_OK;
    if (status || !p->events.events) return status;
    p->batch[p->n_batch++] = *e;
    return p->n_batch == EVENT_BATCH ? dl_pair_flush(p, err) : DEVLOG_OK;
}

static bool grow_open(dl_pair *p, stream_state *s)
{
    uint16_t cap = (uint16_t)(s->cap_open * 2);
    if (cap > DL_MAX_OPEN || p->open_bytes > MAX_OPEN_BYTES) return false;
    p->open_bytes += cap * sizeof(open_zone);
    open_zone *open = malloc(cap * sizeof *open);
    if (!open) return false;
    memcpy(open, s->open, s->n_open * sizeof *open);
    if (s->open != s->inline_open) free(s->open);
    s->open = open;
    s->cap_open = cap;
    return true;
}

/* Adds a closed zone to its statistics. */
static inline bool count_zone(bool no_samples, dl_key *k, uint64_t start, uint64_t cycles, uint32_t launch)
{
    if (no_samples) {
        dl_key_count(k, start, cycles);
        return true;
    }
    if (k->role == DL_ROLE_FW || k->role == DL_ROLE_KERNEL) {
        if (launch == k->next_launch && k->run_samples > 1)
            k->next_launch += k->step;
        else if (!dl_key_note_launch(k, launch))
            return false;
    }
    if (cycles >= DL_WIDE || k->samples.at == k->samples.limit) return dl_key_add_sample(k, start, cycles);
    *k->samples.at++ = (uint32_t)cycles;
    return true;
}

static bool zone_is_kept(dl_pair *p, const open_zone *z, uint64_t time)
{
    const dl_filter *f = p->filter;
    dl_filter_seen *seen = &p->losses->seen;
    if (time - z->start > seen->longest) seen->longest = time - z->start;
    bool launch = z->launch == DL_NONE || dl_filter_launch(f, &p->launches.items[z->launch]);
    bool kept = z->key->wanted && launch && time - z->start >= f->min_cycles;
    if (kept && dl_filter_time(f, z->start, time)) return seen->zones = true;
    p->losses->zones_filtered++;
    return false;
}

static devlog_status emit_zone(dl_pair *p, const open_zone *z, uint16_t depth, const dl_row *row,
                               uint64_t time, uint8_t flags, uint32_t cost, devlog_error *err)
{
    const dl_event e = {.start = z->start,
                        .end = time,
                        .data = row->data ? row->data : z->data,
                        .stream = row->stream,
                        .site = z->site,
                        .launch = z->launch,
                        .timer_id = row->timer_id,
                        .meta = row->meta ? row->meta : z->meta,
                        .line = row->line,
                        .depth = depth,
                        .kind = DL_EVENT_ZONE,
                        .flags = flags,
                        .own_cost = cost};
    return emit(p, &e, err);
}

static devlog_status close_zone(dl_pair *p, stream_state *s, const open_zone *z, uint16_t depth,
                                const dl_row *row, uint64_t time, uint8_t flags, devlog_error *err)
{
    if (time < z->start) {
        dl_pair_lose_negative(p, row, z, time);
        return DEVLOG_OK;
    }
    flags |= z->flags;
    if (p->filter && !zone_is_kept(p, z, time)) return DEVLOG_OK;
    uint32_t cost = s->costs ? dl_pair_own_cost(p, s, z->spent, time - z->start, z->key->role) : 0;
    uint64_t cycles = time - z->start - (p->subtract_cost ? cost : 0);
    if (!count_zone(p->no_samples, z->key, z->start, cycles, z->launch)) return out_of_memory(err);
    return dl_pair_makes_events(p) ? emit_zone(p, z, depth, row, time, flags, cost, err) : DEVLOG_OK;
}

static void zone_start(dl_pair *p, stream_state *s, dl_key *key, const dl_row *row, uint64_t time,
                       uint8_t flags)
{
    if (s->n_open == s->cap_open && !grow_open(p, s)) {
        dl_pair_lose_deep(p, s, row);
        s->too_deep++;
        return;
    }
    if (!key) key = dl_pair_add_key(p, s, row->stream, row->site);
    if (!key) {
        dl_pair_lose_key(p, row);
        return;
    }
    dl_pair_open(p, s, key, row, time, flags);
}

/* An end that does not match the innermost open zone: a zone further out, or none. */
static devlog_status end_elsewhere(dl_pair *p, stream_state *s, const dl_row *row, uint64_t time,
                                   uint8_t flags, devlog_error *err)
{
    if (p->tables->sites[row->site].role == DL_ROLE_FW) dl_pair_note_fw_end(p, s, time);
    int at = s->n_open - 1;
    bool of_another = false;
    for (; at >= 0; at--) {
        if (s->open[at].site != row->site) continue;
        if (s->open[at].launch == s->launch) break;
        of_another = true;
    }
    if (at < 0) {
        dl_pair_lose_end(p, row, time, of_another);
        return DEVLOG_OK;
    }
    open_zone z = s->open[at];
    if (!z.orphan) z.flags |= DL_EVENT_OVERLAPS;
    /* Nothing outlasts the firmware's part of a launch: the ends of these are lost, or their stamps are
     * wrong. */
    if (z.key->role == DL_ROLE_FW) dl_pair_abandon_from(p, s, at + 1);
    uint16_t depth = 0;
    for (int i = 0; i < at; i++)
        depth += !s->open[i].orphan;
    /* What began inside stays open: its end may still come, or its loss is told when the launch is over. */
    for (int i = at + 1; i < s->n_open; i++) {
        s->open[i - 1] = s->open[i];
        s->open[i - 1].orphan = 1;
    }
    s->n_open--;
    return close_zone(p, s, &z, depth, row, time, flags, err);
}

static devlog_status zone_end(dl_pair *p, stream_state *s, const dl_row *row, uint64_t time, uint8_t flags,
                              devlog_error *err)
{
    if (s->too_deep && p->tables->sites[row->site].role == DL_ROLE_USER) {
        s->too_deep--;
        return DEVLOG_OK;
    }
    if (s->n_open == 0) return end_elsewhere(p, s, row, time, flags, err);
    const open_zone *z = &s->open[s->n_open - 1];
    if (z->site != row->site || z->orphan || z->launch != s->launch)
        return end_elsewhere(p, s, row, time, flags, err);
    if (z->key->role == DL_ROLE_FW) dl_pair_note_fw_end(p, s, time);
    s->n_open--;
    return close_zone(p, s, z, s->n_open, row, time, flags, err);
}

static devlog_status point(dl_pair *p, stream_state *s, const dl_row *row, uint64_t time, uint8_t flags,
                           devlog_error *err)
{
    const dl_site *site = &p->tables->sites[row->site];
    if (site->role == DL_ROLE_DROPPED) {
        /* Only markers that found no room have a place in time. */
        if (!row->data || dl_pair_note_loss(p, row) != DL_LOSS_DROPPED) return DEVLOG_OK;
    }
    if (p->filter && site->role != DL_ROLE_DROPPED) {
        const dl_filter *f = p->filter;
        bool launch = s->launch == DL_NONE || dl_filter_launch(f, &p->launches.items[s->launch]);
        if (!launch || !dl_filter_site(f, p->tables, site) || !dl_filter_time(f, time, time)) {
            p->losses->rows_filtered++;
            return DEVLOG_OK;
        }
    }
    if (site->role != DL_ROLE_DROPPED) dl_pair_count_point(p, row, time, s->launch);
    if (!dl_pair_makes_events(p)) return DEVLOG_OK;
    const dl_event e = {.start = time,
                        .end = time,
                        .data = row->data,
                        .stream = row->stream,
                        .site = row->site,
                        .launch = s->launch,
                        .timer_id = row->timer_id,
                        .meta = row->meta,
                        .line = row->line,
                        .depth = s->n_open,
                        .kind = site->role == DL_ROLE_DROPPED ? (uint8_t)DL_EVENT_DROPPED
                                                              : dl_pair_kinds[row->type],
                        .flags = flags};
    return emit(p, &e, err);
}

static inline void change_launch(dl_pair *p, stream_state *s, const dl_row *row, bool starts)
{
    s->run_host_id = row->run_host_id;
    s->run_id = row->run_id;
    s->trace_id = row->trace_id;
    s->trace_counter = row->trace_counter;
    uint64_t run = p->chip_line.run;
    s->launch = starts ? dl_launches_next(&p->launches, s->chip, s->bit, run, row)
                       : dl_launches_find(&p->launches, s->chip, s->bit, run, row, false);
    if (s->launch == DL_NONE) dl_pair_lose_launch(p, row);
    if (starts) s->kernel_seen = false;
}

void dl_pair_begin(dl_pair *p, stream_state *s, dl_role role, const dl_row *row)
{
    bool starts = false;
    if (role == DL_ROLE_FW) {
        if (s->n_open) dl_pair_abandon_open(p, s);
        starts = true;
    } else if (role == DL_ROLE_KERNEL) {
        starts = s->kernel_seen && s->n_open == 0; /* the firmware start between them was lost */
    }
    if (starts || !dl_pair_has_ids(row, s)) change_launch(p, s, row, starts || s->launch == DL_NONE);
    if (row->op && s->launch != DL_NONE && p->launches.items[s->launch].op == 0)
        p->launches.items[s->launch].op = row->op;
    if (role == DL_ROLE_KERNEL) s->kernel_seen = true;
}

static bool marker_wanted(const dl_pair *p, const stream_state *s, uint64_t time)
{
    if (!p->filter) return true;
    if (!dl_filter_time(p->filter, time, time)) return false;
    return s->launch == DL_NONE || dl_filter_launch(p->filter, &p->launches.items[s->launch]);
}

/* Remembers what the filters meet: a filter that lets nothing through is a mistake of who asked. */
static void see(dl_pair *p, const stream_state *s, const dl_row *row, uint64_t time)
{
    dl_filter_seen *seen = &p->losses->seen;
    if (!seen->any || time < seen->first) seen->first = time;
    if (!seen->any || time > seen->last) seen->last = time;
    seen->any = true;
    if (!seen->rows)
        seen->rows =
            marker_wanted(p, s, time) && dl_filter_site(p->filter, p->tables, &p->tables->sites[row->site]);
}

devlog_status dl_pair_accept(dl_pair *p, stream_state *s, const dl_row *row, uint64_t time, uint8_t flags,
                             devlog_error *err)
{
    s->last = time;
    dl_key *key = NULL;
    if (row->type == DL_ROW_ZONE_START) {
        key = dl_pair_known_key(s, row->site);
        dl_role role = key ? key->role : p->tables->sites[row->site].role;
        if (role != DL_ROLE_USER || row->op || !dl_pair_has_ids(row, s)) dl_pair_begin(p, s, role, row);
    } else if (!dl_pair_has_ids(row, s)) {
        change_launch(p, s, row, false);
    }
    if (p->filter) see(p, s, row, time);
    if (p->out.sink.runs && marker_wanted(p, s, time)) {
        devlog_status status = dl_pair_out_row(p, row, s->launch, time, err);
        if (status) return status;
    }
    if (p->markers.marker && marker_wanted(p, s, time)) {
        const dl_marker m = {time,      row->data,     row->stream, row->site,
                             s->launch, row->timer_id, row->meta,   (dl_row_type)row->type};
        devlog_status status = p->markers.marker(p->markers.ctx, &m, err);
        if (status) return status;
    }
    devlog_status status = DEVLOG_OK;
    switch (row->type) {
    case DL_ROW_ZONE_START: zone_start(p, s, key, row, time, flags); break;
    case DL_ROW_ZONE_END: status = zone_end(p, s, row, time, flags, err); break;
    default: status = point(p, s, row, time, flags, err); break;
    }
    if (s->costs) dl_pair_spend(s, row);
    return status;
}

static stream_state *new_stream(dl_pair *p, uint32_t stream)
{
    if (stream >= p->n_streams) {
        uint32_t n = p->n_streams ? p->n_streams : 64;
        while (n <= stream)
            n *= 2;
        stream_state **streams = realloc(p->streams, n * sizeof *streams);
        if (!streams) return NULL;
        memset(streams + p->n_streams, 0, (n - p->n_streams) * sizeof *streams);
        p->streams = streams;
        p->n_streams = n;
    }
    stream_state *s = aligned_alloc(64, (sizeof *s + 63) & ~(size_t)63);
    if (!s) return NULL;
    memset(s, 0, sizeof *s);
    s->open = s->inline_open;
    s->cap_open = INLINE_OPEN;
    s->launch = DL_NONE;
    s->chip = p->tables->streams[stream].chip;
    s->bit = dl_launches_new_stream(&p->launches, s->chip);
    s->wanted = !p->filter || dl_filter_stream(p->filter, p->tables, &p->tables->streams[stream]);
    p->streams[stream] = s;
    return s;
}

stream_state *dl_pair_stream(dl_pair *p, uint32_t stream)
{
    stream_state *s = stream < p->n_streams ? p->streams[stream] : NULL;
    return s ? s : new_stream(p, stream);
}

/* A row that is not as expected: the first of its stream, unwanted, repaired, or with a stamp that jumps. */
static devlog_status unexpected(dl_pair *p, const dl_row *row, devlog_error *err)
{
    stream_state *s = dl_pair_stream(p, row->stream);
    if (!s) return out_of_memory(err);
    if (!s->wanted) {
        p->losses->rows_filtered++;
        return DEVLOG_OK;
    }
    if (row->torn) dl_pair_note_torn(p, row);
    uint64_t time = row->time + s->epoch;
    return time - s->last < s->limit ? dl_pair_accept(p, s, row, time, row->torn * DL_EVENT_TORN, err)
                                     : dl_pair_suspicious(p, s, row, err);
}

devlog_status dl_pair_row(dl_pair *p, const dl_row *row, devlog_error *err)
{
    stream_state *s = row->stream < p->n_streams ? p->streams[row->stream] : NULL;
    uint64_t time = s ? row->time + s->epoch : 0;
    if (!s || time - s->last >= s->limit || row->torn)
        return unexpected(p, row, err); /* unwanted: limit is 0 */
    return dl_pair_accept(p, s, row, time, 0, err);
}

devlog_status dl_pair_rows(dl_pair *p, const dl_row *rows, size_t n, devlog_error *err)
{
    if (dl_pair_is_quick(p)) return dl_pair_quick_rows(p, rows, n, err);
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < n && !status; i++)
        status = dl_pair_row(p, &rows[i], err);
    return status;
}

devlog_status dl_pair_finish(dl_pair *p, devlog_error *err)
{
    for (uint32_t i = 0; i < p->n_streams; i++) {
        stream_state *s = p->streams[i];
        if (!s) continue;
        devlog_status status = s->held ? dl_pair_settle(p, s, err) : DEVLOG_OK;
        if (status) return status;
        dl_pair_abandon_open(p, s);
    }
    for (uint32_t i = 0; i < p->n_keys; i++)
        dl_key_settle(&p->key_blocks[i / KEYS_PER_BLOCK][i % KEYS_PER_BLOCK]);
    return dl_pair_flush(p, err);
}
