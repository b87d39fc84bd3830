/* Pairing of a part of a log as bytes, and back. */
#include "decode/pair/pair_wire.h"

#include <stdlib.h>

#include "decode/pair/pair_internal.h"

static void wire_u8(dl_wire *w, uint8_t *value)
{
    uint32_t wide = *value;
    dl_wire_below(w, &wide, UINT8_MAX + 1);
    *value = (uint8_t)wide;
}

static void wire_ids(dl_wire *w, dl_ids *ids)
{
    dl_wire_u64(w, &ids->run_host_id);
    dl_wire_u32(w, &ids->run_id);
    dl_wire_u32(w, &ids->trace_id);
    dl_wire_u32(w, &ids->trace_counter);
    dl_wire_flag(w, &ids->has_launch);
    dl_wire_flag(w, &ids->outside);
}

void dl_chip_line_wire(dl_chip_line *line, dl_wire *w)
{
    const char *arch = line->arch;
    size_t n = strnlen(line->arch, sizeof line->arch);
    dl_wire_bytes(w, &arch, &n);
    if (dl_wire_reads(w)) {
        if (n >= sizeof line->arch) w->bad = true;
        memset(line->arch, 0, sizeof line->arch);
        if (n && !w->bad) memcpy(line->arch, arch, n);
    }
    dl_wire_text(w, &line->arch_text);
    dl_wire_u64(w, &line->freq_khz);
    dl_wire_u32(w, &line->max_cores);
    dl_wire_u64(w, &line->run);
    dl_wire_u64(w, &line->aiclk_khz);
    dl_wire_flag(w, &line->instructions);
    dl_wire_flag(w, &line->ends);
    dl_wire_flag(w, &line->beside);
}

/* ---- Marks ----------------------------------------------------------------------------------------------- */

static void wire_rare(dl_wire *w, dl_rare *rare)
{
    dl_wire_u64(w, &rare->data);
    dl_wire_text(w, &rare->meta);
    dl_wire_u32(w, &rare->op);
}

/* Stream and kind of a code, and what follows from the kind; `rest` is which frame, or which rare mark. */
static void wire_code(dl_wire *w, uint64_t *code, uint32_t *rest)
{
    const dl_tables *t = w->tables;
    uint32_t stream = dl_mark_stream(*code), kind = dl_mark_kind(*code);
    bool rare = *code & DL_MARK_RARE;
    *rest = (uint32_t)(*code >> DL_MARK_FRAME_SHIFT);
    dl_wire_below(w, &stream, t->n_streams);
    dl_wire_below(w, &kind, t->n_kinds);
    dl_wire_flag(w, &rare);
    dl_wire_below(w, rest, DL_MAX_FRAMES);
    if (!dl_wire_reads(w) || w->bad) return;
    *code = dl_mark_code(&t->kinds[kind], kind) | stream | (uint64_t)rare << DL_MARK_RARE_SHIFT |
            (uint64_t)*rest << DL_MARK_FRAME_SHIFT;
}

static bool marks_room(dl_marks *m, uint32_t n, uint32_t frames, uint32_t rares)
{
    m->frames = calloc((size_t)frames + 1, sizeof *m->frames);
    m->rares = calloc((size_t)rares + 1, sizeof *m->rares);
    m->cap_frames = frames;
    m->cap_rares = rares;
    return m->frames && m->rares && dl_marks_room(m, n);
}

void dl_marks_wire(dl_marks *m, dl_wire *w)
{
    uint32_t n = m->n, frames = m->n_frames, rares = m->n_rares, rest;
    dl_wire_count(w, &n, UINT32_MAX / 4, 4);
    dl_wire_count(w, &frames, DL_MAX_FRAMES, 5);
    dl_wire_count(w, &rares, DL_MAX_FRAMES, 3);
    if (dl_wire_reads(w) && !w->bad && !marks_room(m, n, frames, rares)) w->bad = true;
    for (uint32_t i = 0; i < frames && !w->bad; i++) {
        wire_ids(w, &m->frames[i].ids);
        dl_wire_u32(w, &m->frames[i].line);
        dl_wire_u32(w, &m->frames[i].step);
    }
    for (uint32_t i = 0; i < rares && !w->bad; i++) {
        wire_rare(w, &m->rares[i]);
        dl_wire_below(w, &m->rares[i].frame, frames);
    }
    for (uint32_t i = 0; i < n && !w->bad; i++) {
        dl_wire_more(w, &m->items[i].time, i ? m->items[i - 1].time : 0);
        wire_code(w, &m->items[i].code, &rest);
        if (rest >= (m->items[i].code & DL_MARK_RARE ? rares : frames)) w->bad = true;
    }
    if (w->bad) return;
    m->n = n;
    m->n_frames = frames;
    m->n_rares = rares;
}

/* ---- Streams --------------------------------------------------------------------------------------------- */

static void wire_held(dl_wire *w, stream_state *s)
{
    uint32_t rest;
    dl_wire_flag(w, &s->held);
    if (!s->held || w->bad) return;
    if (dl_wire_reads(w) && !(s->waiting = calloc(1, sizeof *s->waiting))) {
        w->bad = true;
        return;
    }
    held_mark *h = s->waiting;
    dl_wire_u64(w, &h->mark.time);
    wire_code(w, &h->mark.code, &rest);
    dl_wire_u32(w, &h->line);
    wire_ids(w, &h->ids);
    wire_rare(w, &h->rare);
    dl_wire_flag(w, &h->is_rare);
}

/* Its key has been read already, when it has one. */
static void wire_open_zone(dl_wire *w, const dl_pair *p, const stream_state *s, open_zone *z)
{
    dl_wire_u64(w, &z->start);
    dl_wire_u64(w, &z->spent);
    dl_wire_u64(w, &z->data);
    dl_wire_below(w, &z->site, w->tables->n_sites);
    dl_wire_index(w, &z->launch, p->launches.count);
    dl_wire_u32(w, &z->line);
    dl_wire_text(w, &z->meta);
    wire_u8(w, &z->flags);
    wire_u8(w, &z->orphan);
    if (!dl_wire_reads(w) || w->bad) return;
    z->key = dl_pair_known_key(s, z->site);
    if (!z->key) w->bad = true;
}

static void wire_open(dl_wire *w, dl_pair *p, stream_state *s)
{
    uint32_t n = s->n_open;
    dl_wire_count(w, &n, DL_MAX_OPEN, 8);
    if (dl_wire_reads(w) && n > s->cap_open && !w->bad) {
        open_zone *open = calloc(n, sizeof *open);
        if (!open || p->open_bytes > MAX_OPEN_BYTES) {
            free(open);
            w->bad = true;
            return;
        }
        s->open = open;
        s->cap_open = (uint16_t)n;
        p->open_bytes += n * sizeof *open;
    }
    for (uint32_t i = 0; i < n && !w->bad; i++)
        wire_open_zone(w, p, s, &s->open[i]);
    s->n_open = w->bad ? 0 : (uint16_t)n;
}

/* *source: the text of the stream before. */
static void wire_stream(dl_wire *w, dl_pair *p, stream_state *s, uint32_t *source)
{
    dl_wire_flag(w, &s->known);
    dl_wire_u64(w, &s->last);
    dl_wire_more(w, &s->limit, s->last);
    dl_wire_u64(w, &s->epoch);
    dl_wire_more(w, &s->first, s->last);
    dl_wire_more(w, &s->first_raw, s->first);
    dl_wire_more(w, &s->fw_start, s->last);
    dl_wire_u64(w, &s->first_run);
    bool as_before = s->first_source == *source;
    dl_wire_flag(w, &as_before);
    if (as_before)
        s->first_source = *source;
    else
        dl_wire_text(w, &s->first_source);
    *source = s->first_source;
    dl_wire_flag(w, &s->first_starts);
    dl_wire_flag(w, &s->kernel_seen);
    dl_wire_u32(w, &s->too_deep);
    wire_ids(w, &s->ids);
    dl_wire_index(w, &s->launch, p->launches.count);
    /* What markers cost is told before the marks of each launch: only a mark that waits is still of those before. */
    if (!dl_wire_reads(w) && s->held && s->costs) w->bad = true;
    dl_wire_u64(w, &s->spent);
    dl_wire_u64(w, &s->stall_start);
    wire_held(w, s);
    wire_open(w, p, s);
}

/* Which streams there are; states of new ones are made. */
static void wire_which(dl_wire *w, dl_pair *p)
{
    for (uint32_t i = 0; i < w->tables->n_streams && !w->bad; i++) {
        bool there = i < p->n_streams && p->streams[i];
        dl_wire_flag(w, &there);
        if (dl_wire_reads(w) && there && !dl_pair_stream(p, i)) w->bad = true;
    }
}

static stream_state *stream_of(const dl_pair *p, uint32_t i)
{
    return i < p->n_streams ? p->streams[i] : NULL;
}

/* The bits of all streams, by chip. */
static dl_launch_bit *bits_of(const dl_pair *p, uint32_t *n)
{
    dl_launch_bit *bits = malloc(((size_t)p->n_streams + 1) * sizeof *bits);
    *n = 0;
    for (uint32_t chip = 0; chip < p->tables->n_chips && bits; chip++)
        for (uint32_t i = 0; i < p->n_streams; i++)
            if (p->streams[i] && p->streams[i]->chip == chip)
                bits[(*n)++] = (dl_launch_bit){.chip = chip, .bit = p->streams[i]->bit};
    return bits;
}

/* ---- Statistics ------------------------------------------------------------------------------------------ */

/* Launches of samples go up, or down, evenly: none is beyond those that there are when the ends of a run are not. */
static bool run_is_right(const dl_key *k, uint32_t i, uint64_t samples, uint32_t n_launches)
{
    const dl_launch_run *run = &k->runs[i];
    const uint64_t end = i + 1 < k->n_runs ? k->runs[i + 1].sample : samples;
    if ((i == 0) != (run->sample == 0) || run->sample >= end) return false;
    const int64_t first = (int32_t)run->launch,
                  last = first + (int64_t)(end - run->sample - 1) * (int32_t)run->step;
    return first >= -1 && last >= -1 && first < n_launches && last < n_launches;
}

static void wire_runs(dl_wire *w, dl_key *k, uint64_t samples, uint32_t n_launches)
{
    uint32_t n = k->n_runs;
    dl_wire_count(w, &n, UINT32_MAX, 3);
    if (dl_wire_reads(w) && n && !w->bad) {
        k->runs = calloc(n, sizeof *k->runs);
        k->n_runs = k->cap_runs = k->runs ? n : 0;
        w->bad = !k->runs || samples > UINT32_MAX;
    }
    for (uint32_t i = 0; i < n && !w->bad; i++) {
        dl_wire_u32(w, &k->runs[i].sample);
        dl_wire_index(w, &k->runs[i].launch, n_launches);
        uint64_t step = (uint64_t)(int64_t)(int32_t)k->runs[i].step;
        dl_wire_more(w, &step, 0);
        k->runs[i].step = (uint32_t)step;
    }
    for (uint32_t i = 0; i < n && !w->bad && dl_wire_reads(w); i++)
        w->bad = !run_is_right(k, i, samples, n_launches);
}

/* Launches that have samples which stay here. Those of most keys are the same ones. */
static void mark_sampled(dl_pair *p)
{
    dl_launch_run last = {0};
    for (uint32_t i = 0; i < p->n_keys; i++) {
        const dl_key *k = &p->key_blocks[i / KEYS_PER_BLOCK][i % KEYS_PER_BLOCK];
        for (uint32_t r = 0; r < k->n_runs; r++) {
            const dl_launch_run *run = &k->runs[r];
            const uint32_t n = dl_key_run_end(k, r) - run->sample;
            if (run->launch == last.launch && run->step == last.step && n <= last.sample) continue;
            for (uint32_t s = 0; s < n; s++) {
                const uint32_t launch = run->launch + s * run->step;
                if (launch != DL_NONE) p->launches.items[launch].sampled = true;
            }
            last = (dl_launch_run){n, run->launch, run->step};
        }
    }
}

/* What a key is as others see it whose samples stay here: totals of all of them. */
static dl_key totals_of(const dl_key *k)
{
    dl_key t = *k;
    dl_key_settle(&t);
    t.samples = (dl_samples){0};
    t.runs = NULL;
    t.n_runs = t.cap_runs = 0;
    t.away = t.count > 0;
    return t;
}

static void wire_key(dl_wire *w, dl_pair *p, dl_key *k)
{
    const bool stay = !dl_wire_reads(w) && k->samples.first &&
                      (w->leaves == DL_WIRE_TOTALS || w->leaves == DL_WIRE_KEPT ||
                       (w->leaves == DL_WIRE_LAUNCHES && !k->n_runs));
    dl_key totals;
    if (stay) {
        totals = totals_of(k);
        k = &totals;
    }
    dl_wire_u64(w, &k->first_start);
    dl_wire_u64(w, &k->count);
    if (k->count) {
        dl_wire_flag(w, &k->away);
        dl_wire_u64(w, &k->first);
        dl_wire_u64(w, &k->min);
        dl_wire_more(w, &k->max, k->min);
        dl_wire_u128(w, &k->sum);
    }
    dl_wire_samples(w, &k->samples);
    wire_runs(w, k, dl_samples_count(&k->samples), p->launches.count);
}

static void wire_keys(dl_wire *w, dl_pair *p)
{
    uint32_t n = p->n_keys;
    dl_wire_count(w, &n, DL_MAX_KEYS, 6);
    for (uint32_t i = 0; i < n && !w->bad; i++) {
        dl_key *k = dl_wire_reads(w) ? NULL : &p->key_blocks[i / KEYS_PER_BLOCK][i % KEYS_PER_BLOCK];
        uint32_t stream = k ? k->stream : 0, site = k ? k->site : 0;
        dl_wire_below(w, &stream, w->tables->n_streams);
        dl_wire_below(w, &site, w->tables->n_sites);
        if (w->bad) return;
        stream_state *s = stream_of(p, stream);
        if (!k && s && !dl_pair_known_key(s, site)) k = dl_pair_add_key(p, s, stream, site);
        if (k)
            wire_key(w, p, k);
        else
            w->bad = true;
    }
}

static void wire_series(dl_wire *w, dl_pair *p)
{
    uint32_t n = p->series.n;
    dl_wire_count(w, &n, DL_MAX_SERIES, 10);
    for (uint32_t i = 0; i < n && !w->bad; i++) {
        dl_series s = dl_wire_reads(w) ? (dl_series){0} : p->series.items[i];
        uint32_t kind = (uint32_t)s.kind, what = (uint32_t)s.what;
        dl_wire_below(w, &s.stream, w->tables->n_streams);
        dl_wire_below(w, &s.site, w->tables->n_sites);
        dl_wire_below(w, &kind, DL_EVENT_DROPPED);
        dl_wire_below(w, &what, DL_SERIES_TEXT + 1);
        dl_wire_u64(w, &s.count);
        dl_wire_u64(w, &s.last);
        dl_wire_u64(w, &s.last_time);
        dl_wire_u64(w, &s.min);
        dl_wire_u64(w, &s.max);
        dl_wire_u128(w, &s.sum);
        dl_wire_u64(w, &s.passes);
        dl_wire_u64(w, &s.shortest);
        dl_wire_u64(w, &s.longest);
        s.kind = (dl_event_kind)kind;
        s.what = (dl_series_what)what;
        if (!dl_wire_reads(w) || w->bad) continue;
        if (!dl_series_absorb(&p->series, &s, s.stream, s.site) || p->series.n != i + 1) w->bad = true;
    }
}

static void wire_messages(dl_wire *w, dl_pair *p)
{
    uint32_t n = p->series.n_messages;
    dl_wire_count(w, &n, DL_MAX_MESSAGES, 5);
    for (uint32_t i = 0; i < n && !w->bad; i++) {
        dl_message m = dl_wire_reads(w) ? (dl_message){0} : p->series.messages[i];
        dl_wire_u64(w, &m.time);
        dl_wire_below(w, &m.stream, w->tables->n_streams);
        dl_wire_below(w, &m.site, w->tables->n_sites);
        dl_wire_index(w, &m.launch, p->launches.count);
        dl_wire_text(w, &m.meta);
        if (dl_wire_reads(w) && !w->bad) dl_series_keep(&p->series, &m);
    }
    dl_wire_u64(w, &p->series.more_messages);
}

static void wire_counters(dl_wire *w, dl_pair *p)
{
    uint32_t n = p->counters.n;
    dl_wire_count(w, &n, DL_MAX_ZONE_COUNTERS, 8);
    for (uint32_t i = 0; i < n && !w->bad; i++) {
        dl_zone_counter c = dl_wire_reads(w) ? (dl_zone_counter){0} : p->counters.items[i];
        dl_wire_below(w, &c.stream, w->tables->n_streams);
        dl_wire_index(w, &c.zone, w->tables->n_sites);
        dl_wire_below(w, &c.counter, w->tables->n_sites);
        dl_wire_u64(w, &c.records);
        dl_wire_u128(w, &c.value);
        dl_wire_u128(w, &c.reference);
        if (dl_wire_reads(w) && !w->bad && !dl_zone_counters_add(&p->counters, &c)) w->bad = true;
    }
}

/* ---- All of it ------------------------------------------------------------------------------------------- */

static void wire_chips(dl_wire *w, dl_pair *p)
{
    for (uint32_t i = 0; i < w->tables->n_chips; i++) {
        dl_wire_u64(w, &p->chips[i].last);
        dl_wire_u64(w, &p->chips[i].epoch);
        dl_wire_u32(w, &p->chips[i].header);
    }
    dl_wire_u32(w, &p->header);
    dl_chip_line_wire(&p->chip_line, w);
}

void dl_pair_wire(dl_pair *p, dl_wire *w)
{
    wire_chips(w, p);
    wire_which(w, p);
    if (w->bad) return;
    uint32_t n, source = 0;
    dl_launch_bit *bits = bits_of(p, &n);
    if (!dl_wire_reads(w) && w->leaves == DL_WIRE_KEPT) mark_sampled(p);
    if (bits)
        dl_launches_wire(&p->launches, w, bits, n, w->tables->n_chips);
    else
        w->bad = true;
    free(bits);
    wire_keys(w, p);
    for (uint32_t i = 0; i < p->n_streams && !w->bad; i++)
        if (p->streams[i]) wire_stream(w, p, p->streams[i], &source);
    wire_series(w, p);
    wire_messages(w, p);
    wire_counters(w, p);
    dl_wire_index(w, &p->first_stream, w->tables->n_streams);
    dl_wire_index(w, &p->last_stream, w->tables->n_streams);
    dl_wire_u64(w, &p->run_line);
    dl_wire_u64(w, &p->lines_before);
    dl_wire_flag(w, &p->times_lost);
    for (int i = 0; i < DL_DETAILS_PER_KIND; i++)
        dl_wire_u64(w, &p->unpaired_at[i]);
}
