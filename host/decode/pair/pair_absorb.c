/* Pairing of a log in parts: what one part has come to, put behind what is before it. */
#include "decode/pair/pair_absorb.h"

#include <stdlib.h>
#include <string.h>

#include "decode/pair/pair_internal.h"

uint32_t dl_pair_headers(const dl_pair *p, const dl_chip_line **last)
{
    *last = &p->chip_line;
    return p->header;
}

void dl_pair_begin_file(dl_pair *p, uint64_t lines_before, uint32_t name)
{
    p->lines_before = lines_before;
    p->source_text = name == DL_NO_STRING ? 0 : name;
}

uint32_t dl_pair_first_stream(const dl_pair *p)
{
    return p->first_stream;
}

uint32_t dl_pair_last_stream(const dl_pair *p)
{
    return p->last_stream;
}

static const stream_state *state_of(const dl_pair *p, uint32_t stream)
{
    return stream < p->n_streams ? p->streams[stream] : NULL;
}

/* ---- Does it follow? ------------------------------------------------------------------------------------- */

/* A stream that has marks before the part, and in it. */
static const char *stream_follows(const stream_state *s, const stream_state *part)
{
    if (s->held) return "a stamp at the cut needs the next one to be judged";
    if (!part->first_starts) return "a launch goes on behind the cut";
    if (part->first_raw + s->epoch - s->last >= CLOCK_LIMIT) return "a clock jumps at the cut";
    if (s->too_deep && !s->n_open) return "zones are open at the cut that were left out";
    return NULL;
}

static const char *chip_follows(const dl_pair *p, const dl_chip *chip, uint32_t here)
{
    const dl_chip *known = &p->tables->chips[here];
    if (p->chips[here].epoch) return "a clock of 44 bits has begun again before the cut";
    if (known->freq_khz && chip->freq_khz && known->freq_khz != chip->freq_khz)
        return "a chip has two clock frequencies";
    return NULL;
}

static dl_launch_bit *bits_of(const dl_pair *p, const dl_pair *part, const dl_absorb_map *map, uint32_t *n)
{
    dl_launch_bit *bits = malloc((part->n_streams + 1) * sizeof *bits);
    *n = 0;
    if (!bits) return NULL;
    for (uint32_t chip = 0; chip < map->from->n_chips; chip++) {
        for (uint32_t i = 0; i < part->n_streams; i++) {
            const stream_state *s = part->streams[i];
            if (!s || s->chip != chip) continue;
            const stream_state *here = state_of(p, map->streams[i]);
            bits[(*n)++] = (dl_launch_bit){chip, s->bit, map->chips[chip], here ? here->bit : DL_NONE};
        }
    }
    return bits;
}

/* What is found out of launches is kept in `map` for dl_pair_absorb. */
static devlog_status launches_follow(dl_pair *p, const dl_pair *part, dl_absorb_map *map, const char **why,
                                     devlog_error *err)
{
    uint32_t n;
    bool follows = true;
    dl_launch_bit *bits = bits_of(p, part, map, &n);
    const bool ok = bits && dl_launches_join(&p->launches, &part->launches, bits, n, &map->join, &follows);
    free(bits);
    if (!ok) return dl_pair_no_memory(err);
    if (!follows) *why = "ids of launches come back, and are counted from the beginning";
    return DEVLOG_OK;
}

/* Whether anything but launches speaks against it. */
static const char *rest_follows(const dl_pair *p, const dl_pair *part, const dl_absorb_map *map)
{
    const char *why = NULL;
    const uint64_t *found = part->losses->found;
    if (found[DL_FOUND_CLOCK_RESTART] || found[DL_FOUND_REPEATED])
        return "a clock begins again behind the cut";
    if (part->times_lost) return "it is told when a launch was called that is not behind the cut";
    if (p->losses->found[DL_FOUND_TABLE_FULL] || found[DL_FOUND_TABLE_FULL] ||
        p->losses->skipped[DL_SKIP_TABLE_FULL] || part->losses->skipped[DL_SKIP_TABLE_FULL] ||
        (uint64_t)p->n_keys + part->n_keys > DL_MAX_KEYS || p->series.n + part->series.n > DL_MAX_SERIES ||
        p->counters.n + part->counters.n > DL_MAX_ZONE_COUNTERS ||
        (uint64_t)p->launches.count + part->launches.count > DL_MAX_LAUNCHES ||
        p->launches.bytes + part->launches.bytes > DL_MAX_LAUNCH_BYTES)
        return "there is more than can be kept apart";
    for (uint32_t i = 0; i < part->n_streams && !why; i++) {
        const stream_state *s = part->streams[i], *here = s ? state_of(p, map->streams[i]) : NULL;
        if (here && here->known && s->known) why = stream_follows(here, s);
        if (s && !why) why = chip_follows(p, &map->from->chips[s->chip], map->chips[s->chip]);
    }
    return why;
}

devlog_status dl_pair_follows(dl_pair *p, const dl_pair *part, dl_absorb_map *map, const dl_absorb_part *how,
                              const char **why, devlog_error *err)
{
    *why = rest_follows(p, part, map);
    return *why || !how->launches ? DEVLOG_OK : launches_follow(p, part, map, why, err);
}

/* ---- Zones without an end -------------------------------------------------------------------------------- */

/* A stream whose open zones end with the first mark of the part. */
typedef struct leftover {
    uint64_t at;     /* the line with which the run of that mark begins, */
    uint32_t source; /* in this file; a text of the part */
    uint32_t stream; /* here */
} leftover;

static int by_line(const void *a, const void *b)
{
    const leftover *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* What the part says of zones without an end comes in its place among those that were open at the cut. */
static devlog_status tell_unpaired(dl_pair *p, const dl_pair *part, const dl_absorb_map *map,
                                   const dl_absorb_part *how, char *unpaired[DL_DETAILS_PER_KIND],
                                   devlog_error *err)
{
    uint32_t n = 0, told = 0;
    const char *const source = p->source;
    leftover *left = malloc((part->n_streams + 1) * sizeof *left);
    if (!left) return dl_pair_no_memory(err);
    for (uint32_t i = 0; i < part->n_streams; i++) {
        const stream_state *s = part->streams[i], *here = s ? state_of(p, map->streams[i]) : NULL;
        if (here && here->n_open) left[n++] = (leftover){s->first_run, s->first_source, map->streams[i]};
    }
    qsort(left, n, sizeof *left, by_line);
    char **details = p->losses->details[DL_SKIPS + DL_FOUND_UNPAIRED_START];
    for (uint32_t i = 0; i <= n; i++) {
        for (;
             told < DL_DETAILS_PER_KIND && unpaired[told] && (i == n || part->unpaired_at[told] < left[i].at);
             told++) {
            const uint32_t at = dl_losses_told(p->losses, DL_FOUND_UNPAIRED_START);
            if (at == DL_DETAILS_PER_KIND) {
                free(unpaired[told]);
                continue;
            }
            details[at] = unpaired[told];
            p->unpaired_at[at] = part->unpaired_at[told] + how->run_shift;
        }
        if (i == n) break;
        p->run_line = left[i].at + how->run_shift;
        if (left[i].source) p->source = dl_text(map->from, left[i].source);
        dl_pair_abandon_open(p, p->streams[left[i].stream]);
    }
    p->source = source;
    free(left);
    return DEVLOG_OK;
}

/* ---- Putting together ------------------------------------------------------------------------------------ */

uint32_t dl_absorb_text(const dl_absorb_map *map, uint32_t text)
{
    if (!text) return 0;
    const char *said = dl_text(map->from, text);
    return text & DL_META_TEXT ? dl_tables_meta(map->to, said, strlen(said))
                               : dl_tables_text(map->to, said, strlen(said));
}

/* ends[i]: up to this launch of the part those from i on keep their distance here. */
static void find_even(const uint32_t *launches, uint32_t n, uint32_t *ends)
{
    for (uint32_t i = n; i-- > 0;)
        ends[i] = i + 1 < n && launches[i + 1] == launches[i] + 1 ? ends[i + 1] : i;
}

/* The launches of a key's samples, which come behind those that are there. */
static bool take_runs(dl_key *to, const dl_key *from, const uint32_t *launches, const uint32_t *ends)
{
    const uint64_t count = dl_samples_count(&from->samples);
    const uint32_t before = (uint32_t)dl_samples_count(&to->samples);
    dl_launch_run *runs = NULL;
    uint32_t n = to->n_runs, cap = to->n_runs + from->n_runs;
    if (!from->n_runs) return true;
    if (!(runs = realloc(to->runs, cap * sizeof *runs))) return false;
    to->runs = runs;
    for (uint32_t i = 0; i < from->n_runs; i++) {
        const dl_launch_run *run = &from->runs[i];
        const uint64_t end = i + 1 < from->n_runs ? from->runs[i + 1].sample : count,
                       samples = end - run->sample;
        const uint64_t last = (uint64_t)run->launch + (samples - 1) * run->step;
        const bool even = run->launch == DL_NONE
                              ? run->step == 0
                              : samples == 1 || (run->step < DL_MAX_LAUNCHES && last <= ends[run->launch]);
        const uint32_t pieces = even ? 1 : (uint32_t)samples;
        if (n + pieces + (from->n_runs - i) > cap) {
            cap = (n + pieces + (from->n_runs - i)) * 2;
            if (!(runs = realloc(to->runs, cap * sizeof *runs))) return false;
            to->runs = runs;
        }
        for (uint32_t k = 0; k < pieces; k++) {
            const uint32_t launch = run->launch + k * run->step;
            runs[n++] = (dl_launch_run){before + run->sample + k,
                                        launch == DL_NONE ? DL_NONE : launches[launch], even ? run->step : 0};
        }
    }
    to->n_runs = n;
    to->cap_runs = cap;
    to->run_samples = 0; /* the next sample begins a run of its own */
    return true;
}

static bool take_key(dl_pair *p, dl_key *to, dl_key *from, const uint32_t *launches, const uint32_t *ends)
{
    const bool first = !to->samples.first && !to->count;
    if (first) to->first_start = from->first_start;
    dl_sample_walk walk; /* samples that are here came before those that are away */
    if (to->samples.first && !to->count && from->count) {
        dl_sample_walk_start(&walk, &to->samples);
        dl_sample_walk_next(&walk, &to->first);
    }
    if (launches && !take_runs(to, from, launches, ends)) return false;
    if (!to->samples.first) to->samples.pool = &p->pool;
    if (!dl_samples_take(&to->samples, &from->samples)) return false;
    if (!from->count) return true;
    if (first) to->first = from->first;
    to->away |= from->away;
    to->count += from->count;
    to->sum += from->sum;
    if (from->min < to->min) to->min = from->min;
    if (from->max > to->max) to->max = from->max;
    return true;
}

static uint64_t code_here(const dl_absorb_map *map, uint64_t code)
{
    return (code & ~(DL_MARK_STREAM | DL_MARK_KIND)) | map->streams[dl_mark_stream(code)] |
           (uint64_t)map->kinds[dl_mark_kind(code)] << DL_MARK_KIND_SHIFT;
}

bool dl_absorb_marks(const dl_absorb_map *map, const dl_absorb_part *how, dl_marks *marks)
{
    for (uint32_t i = 0; i < marks->n; i++)
        marks->items[i].code = code_here(map, marks->items[i].code);
    for (uint32_t i = 0; i < marks->n_frames; i++)
        marks->frames[i].line += how->line_shift;
    bool ok = true;
    for (uint32_t i = 0; i < marks->n_rares; i++) {
        dl_rare *rare = &marks->rares[i];
        rare->meta = dl_absorb_text(map, rare->meta);
        ok &= rare->meta != DL_NONE;
    }
    return ok;
}

static uint32_t launch_here(const uint32_t *launches, uint32_t launch)
{
    return launches && launch != DL_NONE ? launches[launch] : DL_NONE;
}

/* The state of a stream at the end of the part. */
static devlog_status take_state(dl_pair *p, stream_state *to, stream_state *from, const dl_absorb_map *map,
                                const dl_absorb_part *how, const uint32_t *launches, devlog_error *err)
{
    if (!to->known) {
        to->first = from->first;
        to->first_raw = from->first_raw;
        to->first_starts = from->first_starts;
        to->first_run = from->first_run + how->run_shift;
        to->first_source = dl_absorb_text(map, from->first_source);
        if (to->first_source == DL_NONE) to->first_source = 0;
    }
    to->last = from->last;
    to->limit = from->limit;
    to->epoch = from->epoch;
    to->ids = from->ids;
    to->launch = launch_here(launches, from->launch);
    to->known = from->known;
    to->held = from->held;
    to->kernel_seen = from->kernel_seen;
    to->too_deep = from->too_deep;
    to->fw_start = from->fw_start;
    to->fruitless = 0;
    to->started = NULL;
    dl_pair_free_costs(to->costs);
    to->costs = from->costs;
    from->costs = NULL;
    to->spent = from->spent;
    to->stalls = from->stalls;
    to->records = from->records;
    to->spent_on_records = from->spent_on_records;
    to->change_at = from->change_at;
    to->stall_start = from->stall_start;
    if (from->held) {
        free(to->waiting);
        to->waiting = from->waiting;
        from->waiting = NULL;
        held_mark *w = to->waiting;
        w->mark.code = code_here(map, w->mark.code);
        w->line += how->line_shift;
        w->rare.meta = dl_absorb_text(map, w->rare.meta);
    }
    if (from->n_open > to->cap_open) {
        open_zone *open = malloc(from->cap_open * sizeof *open);
        if (!open) return dl_pair_no_memory(err);
        if (to->open != to->inline_open) free(to->open);
        to->open = open;
        to->cap_open = from->cap_open;
        p->open_bytes += from->cap_open * sizeof *open;
    }
    to->n_open = from->n_open;
    for (uint32_t i = 0; i < from->n_open; i++) {
        open_zone z = from->open[i];
        z.site = map->sites[z.site];
        z.key = dl_pair_known_key(to, z.site);
        z.launch = launch_here(launches, z.launch);
        z.line += how->line_shift;
        z.meta = dl_absorb_text(map, z.meta);
        to->open[i] = z;
    }
    return DEVLOG_OK;
}

static bool take_series(dl_pair *p, const dl_pair *part, const dl_absorb_map *map, const uint32_t *launches)
{
    for (uint32_t i = 0; i < part->series.n; i++) {
        const dl_series *from = &part->series.items[i];
        if (!dl_series_absorb(&p->series, from, map->streams[from->stream], map->sites[from->site]))
            return false;
    }
    for (uint32_t i = 0; i < part->series.n_messages; i++) {
        dl_message m = part->series.messages[i];
        m.stream = map->streams[m.stream];
        m.site = map->sites[m.site];
        m.launch = launch_here(launches, m.launch);
        m.meta = dl_absorb_text(map, m.meta);
        if (m.meta == DL_NONE) return false;
        dl_series_keep(&p->series, &m);
    }
    p->series.more_messages += part->series.more_messages;
    for (uint32_t i = 0; i < part->counters.n; i++) {
        dl_zone_counter record = part->counters.items[i];
        record.stream = map->streams[record.stream];
        if (record.zone != DL_NONE) record.zone = map->sites[record.zone];
        record.counter = map->sites[record.counter];
        if (!dl_zone_counters_add(&p->counters, &record)) return false;
    }
    return true;
}

/* Chip lines, and what chips know of their clocks. */
static void take_chips(dl_pair *p, const dl_pair *part, const dl_absorb_map *map, const dl_absorb_part *how)
{
    const uint32_t shift = p->header - how->headers;
    for (uint32_t i = 0; i < map->from->n_chips; i++) {
        const uint32_t here = map->chips[i];
        const dl_chip *from = &map->from->chips[i];
        dl_chip *to = &map->to->chips[here];
        const chip_state *c = &part->chips[i];
        if (c->last > p->chips[here].last) p->chips[here].last = c->last;
        if (c->epoch > p->chips[here].epoch) p->chips[here].epoch = c->epoch;
        if (c->header) p->chips[here].header = c->header + shift;
        if (!to->freq_khz) to->freq_khz = from->freq_khz;
        if (!to->max_cores) to->max_cores = from->max_cores;
        if (!to->aiclk_khz) to->aiclk_khz = from->aiclk_khz;
        to->instructions |= from->instructions;
        if (!to->arch) to->arch = dl_absorb_text(map, from->arch);
    }
    if (part->header == how->headers) return;
    p->header = part->header + shift;
    p->chip_line = part->chip_line;
    p->chip_line.arch_text = dl_absorb_text(map, part->chip_line.arch_text);
    for (uint32_t i = 0; i < p->n_streams; i++) /* see dl_pair_chip_line */
        if (p->streams[i]) p->streams[i]->limit = 0;
}

/* The samples stay where they are. */
static bool take_pools(dl_pair *p, dl_pair *part)
{
    dl_sample_pool *pools = realloc(p->pools, (p->n_pools + part->n_pools + 1) * sizeof *pools);
    if (!pools) return false;
    p->pools = pools;
    for (uint32_t i = 0; i < part->n_pools; i++)
        pools[p->n_pools++] = part->pools[i];
    pools[p->n_pools++] = part->pool;
    free(part->pools);
    part->pools = NULL;
    part->n_pools = 0;
    part->pool = (dl_sample_pool){0};
    return true;
}

static bool take_launches(dl_pair *p, const dl_pair *part, dl_absorb_map *map, uint32_t **launches,
                          uint32_t **ends)
{
    uint32_t n;
    const size_t room = (size_t)part->launches.count + 1;
    *launches = malloc(room * sizeof **launches);
    *ends = malloc(room * sizeof **ends);
    dl_launch_bit *bits = bits_of(p, part, map, &n);
    const bool ok = *launches && *ends && bits &&
                    dl_launches_absorb(&p->launches, &part->launches, bits, n, &map->join, *launches);
    if (ok) find_even(*launches, part->launches.count, *ends);
    free(bits);
    return ok;
}

devlog_status dl_pair_absorb(dl_pair *p, dl_pair *part, dl_absorb_map *map, const dl_absorb_part *how,
                             char *unpaired[DL_DETAILS_PER_KIND], devlog_error *err)
{
    uint32_t *launches = NULL, *ends = NULL;
    devlog_status status = tell_unpaired(p, part, map, how, unpaired, err);
    for (uint32_t i = 0; i < p->n_streams; i++)
        if (p->streams[i]) p->streams[i]->next = NULL;
    take_chips(p, part, map, how);
    for (uint32_t i = 0; i < part->n_streams && !status; i++)
        if (part->streams[i] && !dl_pair_stream(p, map->streams[i])) status = dl_pair_no_memory(err);
    if (!status && how->launches && !take_launches(p, part, map, &launches, &ends))
        status = dl_pair_no_memory(err);
    if (!status && !take_pools(p, part)) status = dl_pair_no_memory(err);
    for (uint32_t i = 0; i < part->n_keys && !status; i++) {
        dl_key *from = &part->key_blocks[i / KEYS_PER_BLOCK][i % KEYS_PER_BLOCK];
        const uint32_t stream = map->streams[from->stream], site = map->sites[from->site];
        dl_key *to = dl_pair_known_key(p->streams[stream], site);
        if (!to) to = dl_pair_add_key(p, p->streams[stream], stream, site);
        if (!to || !take_key(p, to, from, launches, ends)) status = dl_pair_no_memory(err);
    }
    for (uint32_t i = 0; i < part->n_streams && !status; i++)
        if (part->streams[i] && part->streams[i]->known)
            status = take_state(p, p->streams[map->streams[i]], part->streams[i], map, how, launches, err);
    if (!status && !take_series(p, part, map, launches)) status = dl_pair_no_memory(err);
    if (p->first_stream == DL_NONE && part->first_stream != DL_NONE)
        p->first_stream = map->streams[part->first_stream];
    if (part->last_stream != DL_NONE) p->last_stream = map->streams[part->last_stream];
    map->launches = launches;
    free(ends);
    return status;
}
