/* Marks of a capture: its frames in the order in which they come. Not for what recording took (capture_costs.c). */
#include "decode/capture/capture_marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/capture/capture_costs.h"
#include "decode/capture/capture_elfs.h"
#include "decode/capture/capture_riscs.h"
#include "decode/capture/host_marks.h"
#include "decode/capture/raw_marks.h"

enum { MAX_CHIPS = 64 };

typedef struct reader {
    const dl_capture_marks_options *options;
    dl_tables *tables;
    dl_losses *losses;
    dl_chip_clocks *clocks;
    const dl_capture_marks_sink *sink;
    capture_elfs elfs;
    uint64_t frame;
    dl_capture_part *part; /* or NULL */
    bool context;          /* what is read is before the part */
    dl_marks marks;        /* of the RISC in hand */
    uint64_t last_time;    /* of the marks that were handed on */
    struct {
        uint32_t slot;
        dl_chip_line line;
    } chips[MAX_CHIPS];
    size_t n_chips;
    capture_riscs riscs;
    dl_record_codes *unnamed; /* of markers without an ELF file */
    uint32_t told;            /* index + 1 of the chip whose line the sink was told last */
    raw_look look;            /* at the records of the RISC in hand */
    raw_extremes extremes;
    raw_place place; /* of them, where they are in planes */
    struct violation {
        dl_capture_violation is; /* without its texts */
        uint32_t site;           /* DL_NONE: there are more than can be kept apart */
    } * violations;              /* of cores that come */
    size_t n_violations, cap_violations;
    dl_host_sites host_sites;
    uint64_t malformed; /* frames of host records */
} reader;

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for reading a capture");
}

static devlog_status on_chip(void *ctx, const dl_capture_chip *chip, devlog_error *err)
{
    reader *r = ctx;
    dl_chip_line line = {.freq_khz = chip->freq_khz,
                         .max_cores = chip->max_cores,
                         .run = chip->run,
                         .aiclk_khz = chip->aiclk_khz,
                         .instructions = chip->instructions};
    /* What is not known yet is known at the end (decode_note_clocks). */
    const dl_chip_clock *clock = dl_chip_clocks_of(r->clocks, chip->slot);
    if (clock && clock->fitted) line.freq_khz = dl_chip_clock_khz(clock);
    snprintf(line.arch, sizeof line.arch, "%s", chip->arch);
    if (!r->context) *(dl_is_process(chip->slot) ? &r->losses->processes : &r->losses->devices) += 1;
    size_t i = 0;
    while (i < r->n_chips && r->chips[i].slot != chip->slot)
        i++;
    if (i == r->n_chips && i < MAX_CHIPS) r->n_chips++;
    if (i < MAX_CHIPS) {
        r->chips[i].slot = chip->slot;
        r->chips[i].line = line;
        r->told = 0;
    }
    return r->options->learn_clocks ? dl_capture_learn_chip(r->clocks, chip, err) : DEVLOG_OK;
}

static devlog_status on_grid(void *ctx, const dl_capture_grid *grid, devlog_error *err)
{
    const reader *r = ctx;
    return r->sink->grid ? r->sink->grid(r->sink->ctx, grid, err) : DEVLOG_OK;
}

static devlog_status on_rank(void *ctx, const dl_capture_rank *rank, devlog_error *err)
{
    const reader *r = ctx;
    return r->sink->rank ? r->sink->rank(r->sink->ctx, rank, err) : DEVLOG_OK;
}

/* As a log does, before the first marks of a chip. */
static devlog_status tell_chip(reader *r, uint32_t slot, devlog_error *err)
{
    if (r->told && r->chips[r->told - 1].slot == slot) return DEVLOG_OK;
    for (uint32_t i = 0; i < r->n_chips; i++) {
        if (r->chips[i].slot != slot) continue;
        r->told = i + 1;
        return r->sink->chip_line(r->sink->ctx, &r->chips[i].line, err);
    }
    return DEVLOG_OK;
}

static devlog_status on_samples(void *ctx, const dl_clock_samples *samples, devlog_error *err)
{
    reader *r = ctx;
    return r->options->learn_clocks ? dl_chip_clocks_samples(r->clocks, samples, err) : DEVLOG_OK;
}

static devlog_status on_offsets(void *ctx, const dl_clock_offsets *offsets, devlog_error *err)
{
    reader *r = ctx;
    return r->options->learn_clocks ? dl_chip_clocks_offsets(r->clocks, offsets, err) : DEVLOG_OK;
}

static devlog_status on_launch(void *ctx, const dl_capture_launch *launch, devlog_error *err)
{
    const reader *r = ctx;
    (void)err;
    if (r->sink->launch) r->sink->launch(r->sink->ctx, launch);
    return DEVLOG_OK;
}

static void on_frame(void *ctx, uint64_t number, uint64_t taken)
{
    reader *r = ctx;
    r->frame = number + (r->part && !r->context ? r->part->frame : 0);
    if (r->sink->progress && !r->context) r->sink->progress(r->sink->ctx, taken);
}

static devlog_status on_elf(void *ctx, const dl_capture_elf *elf, devlog_error *err)
{
    reader *r = ctx;
    const dl_capture_places *standing = r->context ? &r->part->index->standing : NULL;
    const uint64_t at = standing && r->frame < standing->n ? standing->items[r->frame].at : 0;
    return capture_elfs_add(&r->elfs, elf, r->context, at, err);
}

/* ---- Cores ---------------------------------------------------------------------------------------- */

/* The same marks as a device log has. False: out of memory. */
static bool add_lost_at(reader *r, uint32_t stream, uint32_t site, uint64_t amount)
{
    dl_marks *m = &r->marks;
    if (site == DL_NONE) return true;
    if (r->part && !r->part->any) r->part->needs_before = true;
    const dl_kind kind = {.site = site, .type = DL_ROW_ZONE_TOTAL, .role = DL_ROLE_DROPPED};
    uint32_t number = dl_tables_kind(r->tables, &kind);
    uint64_t part = (uint64_t)(m->n_frames - 1) << DL_MARK_FRAME_SHIFT;
    if (number == DL_NONE) return true;
    if (!dl_marks_room(m, 1) || !dl_marks_rare(m, &(dl_rare){.data = amount}, part, &part)) return false;
    m->items[m->n++] = (dl_mark){r->last_time, dl_mark_code(&kind, number) | stream | part};
    return true;
}

static bool add_lost(reader *r, uint32_t stream, dl_loss_zone zone, uint64_t amount)
{
    const char *name = dl_loss_zone_name(zone);
    return add_lost_at(r, stream, dl_tables_site(r->tables, name, strlen(name), "", 0, 0), amount);
}

/* Kept until its core comes. */
static devlog_status on_violation(void *ctx, const dl_capture_violation *v, devlog_error *err)
{
    reader *r = ctx;
    if (r->n_violations == r->cap_violations) {
        const size_t cap = r->cap_violations ? r->cap_violations * 2 : 16;
        struct violation *grown = realloc(r->violations, cap * sizeof *grown);
        if (!grown) return no_memory(err);
        r->violations = grown;
        r->cap_violations = cap;
    }
    dl_str name = {0};
    dl_str_fmt(&name, DL_VIOLATED_ZONE " %s", v->text);
    if (name.failed) return no_memory(err);
    r->violations[r->n_violations++] = (struct violation){
        *v, dl_tables_site(r->tables, name.text, name.len, v->file, strlen(v->file), v->line)};
    dl_str_free(&name);
    return DEVLOG_OK;
}

/* Those of this RISC and launch. False: out of memory. */
static bool add_violations(reader *r, uint32_t stream, const dl_capture_core *core,
                           const dl_capture_risc *risc)
{
    bool good = true;
    for (size_t i = 0; i < r->n_violations && good; i++) {
        const dl_capture_violation *v = &r->violations[i].is;
        if (v->slot == core->slot && v->x == core->x && v->y == core->y && v->index == risc->index &&
            v->launch == risc->control.launch)
            good = add_lost_at(r, stream, r->violations[i].site, v->times);
    }
    return good;
}

static sim_cores cores_of(const reader *r, uint32_t slot)
{
    for (size_t i = 0; i < r->n_chips; i++)
        if (r->chips[i].slot == slot && strcmp(r->chips[i].line.arch, "blackhole") == 0)
            return SIM_CORES_BLACKHOLE;
    return SIM_CORES_WORMHOLE;
}

static devlog_status tell_costs(const reader *r, uint32_t stream, const dl_capture_core *core,
                                const dl_capture_risc *risc, const capture_priced *of, devlog_error *err)
{
    dl_costs costs;
    dl_spent *between = capture_costs(&r->look.counts, core, risc, of, &costs);
    devlog_status status = r->sink->costs(r->sink->ctx, stream, &costs, err);
    free(between);
    return status;
}

static void tell_losses(reader *r, const dl_capture_core *core, const dl_capture_risc *risc,
                        const record_losses *found)
{
    char where[160];
    if (!risc->missing && !(found->unnamed && dl_losses_wants(r->losses, DL_FOUND_UNNAMED))) {
        r->losses->found[DL_FOUND_UNNAMED] += found->unnamed;
        return;
    }
    snprintf(where, sizeof where, "%.60s: frame %llu: core %u,%u %.40s", r->options->name,
             (unsigned long long)(r->frame + 1), core->x, core->y, risc->name);
    if (found->unnamed) dl_losses_found(r->losses, DL_FOUND_UNNAMED, found->unnamed, "%s", where);
    if (risc->missing)
        dl_losses_found(r->losses, DL_FOUND_CUT_CAPTURE, risc->missing, "%s: %llu words", where,
                        (unsigned long long)risc->missing);
}

static uint64_t manager_end(const dl_capture_core *core)
{
    return core->n_riscs && core->riscs[0].index == 0 ? raw_fw_end(&core->riscs[0].control) : 0;
}

/* Looks at the records of a RISC. In planes, when they are ordinary, and nothing else wants to see them. */
static devlog_status look_at(reader *r, const dl_capture_core *core, const dl_capture_risc *risc,
                             const record_input *records, raw_known *known, bool *in_planes,
                             devlog_error *err)
{
    const devlog_control *c = &risc->control;
    devlog_status status = DEVLOG_OK;
    if (core->planes) {
        raw_look_at_planes(records, &r->place, known, &r->look);
        *in_planes = r->look.ordinary;
        /* Their prices are not told by their codes alone. */
        const bool read = c->overwritten || c->dropped || c->passes || (risc->n_spans > 1 && c->switches);
        if (read || !*in_planes) status = dl_capture_join(core, err);
    }
    if (!status && !*in_planes) raw_look_at(records, &r->look);
    return status;
}

static devlog_status on_risc(reader *r, const dl_capture_core *core, const dl_capture_risc *risc,
                             uint64_t ahead, devlog_error *err)
{
    record_losses found = {0};
    uint64_t lost[DL_LOSS_ZONES];
    capture_elf *elf =
        risc->elf == DL_CAPTURE_NO_ELF ? NULL : capture_elfs_of(&r->elfs, core->slot, risc->elf);
    const dl_elf *opened = elf ? capture_elfs_open(&r->elfs, elf) : NULL;
    raw_risc raw = {.chip = core->slot,
                    .core_x = core->x,
                    .core_y = core->y,
                    .risc = risc->name,
                    .control = &risc->control,
                    .spans = risc->spans,
                    .n_spans = risc->n_spans,
                    .elf = opened,
                    .source = opened || !elf ? NULL : elf->source,
                    .index = risc->index,
                    .events = core->events,
                    .n_events = core->n_events,
                    .events_from = core->events_from,
                    .events_until = manager_end(core),
                    .ahead = ahead,
                    .line = (uint32_t)(r->frame + 1),
                    .extremes = r->options->recorded ? &r->extremes : NULL, /* and so nothing is filtered */
                    .no_meta = !r->options->keep_meta,
                    .tell_dropped = true};
    raw_known *known = capture_riscs_of(&r->riscs, r->tables, core, risc->name);
    if (!known) return dl_fail(err, DEVLOG_ERR_MEMORY, "too many cores in one log");
    const record_input records = raw_records(&raw);
    bool in_planes = false;
    devlog_status status = look_at(r, core, risc, &records, known, &in_planes, err);
    if (status) return status;
    if (in_planes) raw.unjoined = core;
    uint32_t table = 0;
    const dl_prices *prices =
        opened ? capture_elfs_prices(&r->elfs, elf, cores_of(r, core->slot), risc, &r->look.counts, &table)
               : NULL;
    dl_record_codes **codes = elf ? &elf->codes[table] : &r->unnamed;
    if (!*codes) *codes = calloc(1, sizeof **codes); /* without, it is slower */
    if (prices) raw.prices = prices->of_site;
    if (!r->options->one_by_one) raw.codes = *codes;
    if (r->options->recorded) raw.look = &r->look;
    raw.known = known;
    const uint32_t stream = known->stream;
    const capture_priced priced = {
        .elf = opened, .book = elf ? elf->prices : NULL, .prices = prices, .ahead = ahead};
    status = tell_costs(r, stream, core, risc, &priced, err);
    dl_marks_clear(&r->marks);
    if (!status) status = raw_marks(r->tables, &raw, &r->marks, &found, err);
    if (status) return status;
    if (r->marks.n) r->last_time = r->marks.items[r->marks.n - 1].time;
    if (r->marks.n && r->part) r->part->any = true;
    raw_lost(&risc->control, &found, lost);
    for (int zone = 0; zone < DL_LOSS_ZONES; zone++)
        if (lost[zone] && !add_lost(r, stream, (dl_loss_zone)zone, lost[zone])) return no_memory(err);
    if (!add_violations(r, stream, core, risc)) return no_memory(err);
    tell_losses(r, core, risc, &found);
    return r->marks.n ? r->sink->marks(r->sink->ctx, &r->marks, err) : DEVLOG_OK;
}

static devlog_status on_core(void *ctx, const dl_capture_core *core, devlog_error *err)
{
    reader *r = ctx;
    const dl_chip_clock *clock = dl_chip_clocks_of(r->clocks, core->slot);
    int64_t ahead = clock ? dl_chip_clock_core(clock, core->x, core->y)->ahead : 0;
    devlog_status status = tell_chip(r, core->slot, err);
    if (core->planes)
        r->place =
            (raw_place){.heads = core->planes->heads, .lows = core->planes->lows, .rest = core->planes->rest};
    for (uint32_t i = 0; i < core->n_riscs && !status; i++)
        status = on_risc(r, core, &core->riscs[i], (uint64_t)ahead, err);
    r->n_violations = 0;
    return status;
}

/* ---- Threads of the host ------------------------------------------------------------------------------- */

static devlog_status on_host_site(void *ctx, uint32_t slot, const dl_host_site *site, devlog_error *err)
{
    reader *r = ctx;
    return dl_host_sites_add(&r->host_sites, r->tables, slot, site, err);
}

static devlog_status on_host_records(void *ctx, const dl_host_records *records, devlog_error *err)
{
    reader *r = ctx;
    char where[160];
    snprintf(where, sizeof where, "%.60s: frame %llu: thread %.60s", r->options->name,
             (unsigned long long)(r->frame + 1), records->name);
    if (records->lost) dl_losses_found(r->losses, DL_FOUND_HOST_LOST, records->lost, "%s", where);
    if (records->elsewhere)
        dl_losses_found(r->losses, DL_FOUND_UNPAIRED_END, records->elsewhere,
                        "%s: it ended zones that another thread began", where);
    dl_marks_clear(&r->marks);
    devlog_status status = tell_chip(r, records->slot, err);
    if (!status)
        status = dl_host_marks(&r->host_sites, r->tables, records, (uint32_t)(r->frame + 1), &r->marks,
                               &r->malformed, err);
    return status || !r->marks.n ? status : r->sink->marks(r->sink->ctx, &r->marks, err);
}

static devlog_status on_host_memory(void *ctx, const dl_host_memory *memory, devlog_error *err)
{
    const reader *r = ctx;
    const struct {
        uint64_t n;
        const char *what;
    } all[] = {{memory->unknown, "frees of what was not allocated while it was recorded"},
               {memory->twice, "frees of what was free already"},
               {memory->over, "blocks where another one was that had not been freed"}};
    (void)err;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].n)
            dl_losses_found(r->losses, DL_FOUND_HOST_MEMORY, all[i].n, "%.60s: frame %llu: process %u: %s",
                            r->options->name, (unsigned long long)(r->frame + 1), memory->slot - DL_HOST_SLOT,
                            all[i].what);
    return DEVLOG_OK;
}

static void tell_state(const reader *r, const dl_capture_state *s)
{
    const char *name = r->options->name;
    if (s->damaged_bytes)
        dl_losses_found(r->losses, DL_FOUND_CORRUPT, 1, "%s: %llu damaged bytes, the first at byte %llu",
                        name, (unsigned long long)s->damaged_bytes, (unsigned long long)s->damaged_at);
    if (s->malformed)
        dl_losses_found(r->losses, DL_FOUND_CORRUPT, s->malformed,
                        "%s: %llu frames with contents that cannot be", name,
                        (unsigned long long)s->malformed);
    if (s->unknown)
        dl_losses_found(r->losses, DL_FOUND_NEWER, s->unknown, "%s: %llu frames", name,
                        (unsigned long long)s->unknown);
    if (s->cut_bytes)
        dl_losses_found(r->losses, DL_FOUND_CORRUPT, 1,
                        "%s: its end is cut off: a last frame of which %llu bytes are there", name,
                        (unsigned long long)s->cut_bytes);
    else if (!s->closed && !s->stopped)
        dl_losses_found(r->losses, DL_FOUND_NOT_CLOSED, 1, "%s", name);
    if (s->stopped) {
        r->losses->stopped = true;
        dl_losses_found(r->losses, DL_FOUND_CORRUPT, 1, "%s: %s", name, s->why.text);
    }
}

/* Chips and ELF files of frames before the part. */
static devlog_status tell_context(reader *r, devlog_error *err)
{
    const dl_capture_part *part = r->part;
    const dl_capture_index *x = part->index;
    const uint32_t n = dl_capture_index_before(x, part->at);
    const uint64_t bytes = n < x->standing.n ? x->standing.items[n].before : x->frames.len;
    const dl_capture_sink sink = {.ctx = r, .chip = on_chip, .elf = on_elf, .frame = on_frame};
    dl_capture_state state = {0};
    dl_input *in;
    devlog_status status =
        bytes ? dl_input_memory(&in, part->path, x->frames.text, (size_t)bytes, err) : DEVLOG_OK;
    r->context = true;
    if (!status && bytes) {
        status = dl_capture_read(in, &sink, false, &state, err);
        dl_input_close(in);
    }
    r->context = false;
    r->frame = part->frame;
    r->last_time = part->last_time;
    if (!status && (state.frames != n || state.damaged_bytes || state.cut_bytes))
        status = dl_fail(err, DEVLOG_ERR_FORMAT, "%s: what was said of its frames is damaged", part->path);
    return status;
}

/* Damage was not there when the capture was cut, or is within frames: all of it must be read to tell of it. */
static devlog_status end_part(const reader *r, const dl_capture_state *s, devlog_error *err)
{
    dl_capture_part *part = r->part;
    part->last_time = r->last_time;
    if (part->unread)
        return dl_fail(err, DEVLOG_ERR_IO, "cannot read %s again, before byte %llu", part->path,
                       (unsigned long long)part->at);
    if (s->damaged_bytes || s->malformed || s->unknown || s->cut_bytes || s->stopped)
        return dl_fail(
            err, DEVLOG_ERR_FORMAT,
            "%s: damaged frames behind byte %llu; \"devlog decode\" without -j reads on behind them",
            part->path, (unsigned long long)part->at);
    if (part->last && !part->index->closed)
        dl_losses_found(r->losses, DL_FOUND_NOT_CLOSED, 1, "%s", r->options->name);
    return part->sets.failed ? no_memory(err) : DEVLOG_OK;
}

devlog_status dl_capture_marks(dl_input *in, const dl_capture_marks_options *options, dl_tables *tables,
                               dl_losses *losses, dl_chip_clocks *clocks, const dl_capture_marks_sink *sink,
                               devlog_error *err)
{
    reader r = {.options = options,
                .tables = tables,
                .losses = losses,
                .clocks = clocks,
                .sink = sink,
                .part = options->part,
                .elfs = {.options = options, .losses = losses}};
    const dl_capture_sink frames = {.ctx = &r,
                                    .planes = options->recorded && !options->one_by_one,
                                    .chip = on_chip,
                                    .elf = on_elf,
                                    .launch = on_launch,
                                    .violation = on_violation,
                                    .core = on_core,
                                    .samples = on_samples,
                                    .offsets = on_offsets,
                                    .host_site = on_host_site,
                                    .host_records = on_host_records,
                                    .host_memory = on_host_memory,
                                    .grid = on_grid,
                                    .rank = on_rank,
                                    .frame = on_frame};
    dl_capture_state state;
    devlog_status status = r.part ? tell_context(&r, err) : DEVLOG_OK;
    if (!status) status = dl_capture_read(in, &frames, options->two_threads, &state, err);
    if (!status) {
        state.malformed += r.malformed;
        if (r.part)
            status = end_part(&r, &state, err);
        else
            tell_state(&r, &state);
    }
    capture_elfs_free(&r.elfs);
    free(r.violations);
    free(r.unnamed);
    capture_riscs_free(&r.riscs);
    dl_host_sites_free(&r.host_sites);
    raw_look_free(&r.look);
    raw_extremes_free(&r.extremes);
    dl_marks_free(&r.marks);
    return status;
}
