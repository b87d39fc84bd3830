/* The view: what it is given, and what it says of itself. Its items: view_items.c. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "report/view_internal.h"

enum { DEFAULT_MEMORY = 64 * 1024 * 1024 };

static bool is_wanted(void *ctx, const dl_event *e)
{
    const dl_view *v = ctx;
    return view_choice_keeps(&v->choice, e->launch);
}

static void want_less(void *ctx, size_t most)
{
    dl_view *v = ctx;
    view_choice_lower(&v->choice, most);
}

devlog_status dl_view_new(dl_view **view, dl_decode *d, const dl_view_options *options, devlog_error *err)
{
    dl_view *v = calloc(1, sizeof *v);
    if (!v) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (options) v->options = *options;
    v->decode = d;
    v->tables = dl_decode_tables(d);
    v->last_launch = DL_NONE;
    if (!v->options.clock.ns) v->options.clock = view_host_clock(d);
    size_t memory = v->options.memory ? v->options.memory : DEFAULT_MEMORY;
    view_spool_init(&v->spool, memory - memory / 8);
    view_spool_init(&v->overflow, memory / 8);
    v->choice = (view_choice){.most = v->options.most, .end = DL_NONE};
    atomic_init(&v->wanted_end, DL_NONE);
    if (v->options.most) v->spool.owner = (view_spool_owner){v, is_wanted, want_less};
    *view = v;
    return DEVLOG_OK;
}

void dl_view_free(dl_view *v)
{
    if (!v) return;
    view_free_lanes(v);
    free(v->axes);
    free(v->shown);
    view_choice_free(&v->choice);
    view_free_names(v);
    view_free_tracks(v);
    view_spool_free(&v->spool);
    view_spool_free(&v->overflow);
    free(v);
}

/* Remembers that there is an event of this launch: filters leave launches without any, which are not shown.
 */
static bool note_launch(dl_view *v, uint32_t launch)
{
    if (launch / 8 >= v->n_shown) {
        uint32_t n = v->n_shown ? v->n_shown : 128;
        while (n <= launch / 8)
            n *= 2;
        uint8_t *shown = realloc(v->shown, n);
        if (!shown) return false;
        memset(shown + v->n_shown, 0, n - v->n_shown);
        v->shown = shown;
        v->n_shown = n;
    }
    v->shown[launch / 8] |= (uint8_t)(1u << launch % 8);
    return true;
}

/* Keeps the events of a run that are wanted, which are the first of them: what is not wanted once will not be
 * later. */
static devlog_status take_run(dl_view *v, const dl_run *run, devlog_error *err)
{
    uint32_t launch = run->launch, n = run->n_events;
    if (launch != v->last_launch && launch != DL_NONE) {
        v->last_launch = launch;
        if (!note_launch(v, launch))
            return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while gathering events");
    }
    if (v->choice.most) {
        if (!view_choice_take(&v->choice, launch, &n))
            return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while gathering events");
        atomic_store_explicit(&v->wanted_end, v->choice.end, memory_order_relaxed);
    }
    if (!n) return DEVLOG_OK;
    return run->items ? view_spool_add_run(&v->spool, run->stream, run, n, v->tables, err)
                      : view_spool_add(&v->spool, run->stream, run->events, n, err);
}

static devlog_status take_runs(void *ctx, const dl_run *runs, size_t n, devlog_error *err)
{
    dl_view *v = ctx;
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < n && !status; i++)
        if (runs[i].n_events) status = take_run(v, &runs[i], err);
    return status;
}

dl_run_sink dl_view_runs(dl_view *v)
{
    return (dl_run_sink){.ctx = v,
                         .wants = DL_WANT_EVENTS | DL_WANT_ITEMS,
                         .runs = take_runs,
                         .apart = true,
                         .events_end = &v->wanted_end};
}

/* An event of a chip, which is its stream: the sources of these are behind the streams'. */
static devlog_status add_of_chip(dl_view *v, const dl_event *e, devlog_error *err)
{
    const uint32_t source = v->tables->n_streams + 2 * e->stream + (e->kind == VIEW_EVENT_HOST);
    return view_spool_add(&v->spool, source, e, 1, err);
}

static bool has_item(const dl_view *v, uint32_t launch)
{
    const dl_launch *l = &dl_decode_launches(v->decode)->items[launch];
    if (l->first_fw_start > l->last_fw_end) return false; /* no firmware zone of it was seen whole */
    return launch / 8 < v->n_shown && v->shown[launch / 8] >> launch % 8 & 1;
}

/* Launches become events of their chip's launch track. */
static devlog_status add_launches(dl_view *v, devlog_error *err)
{
    const dl_launches *launches = dl_decode_launches(v->decode);
    for (uint32_t i = 0; i < launches->count; i++) {
        const dl_launch *l = &launches->items[i];
        if (!view_choice_keeps(&v->choice, i)) break;
        if (!has_item(v, i)) continue;
        const dl_event e = {.start = l->first_fw_start,
                            .end = l->last_fw_end,
                            .stream = v->chip_rank[l->chip],
                            .site = DL_NONE,
                            .launch = i,
                            .kind = VIEW_EVENT_LAUNCH};
        devlog_status status = add_of_chip(v, &e, err);
        if (status) return status;
    }
    return DEVLOG_OK;
}

/* What the host called becomes zones of its track: so every writer shows it that shows zones. */
static devlog_status add_calls(dl_view *v, devlog_error *err)
{
    static const char *const names[2] = {"LaunchProgram", "DumpDeviceProfileResults"};
    const dl_launches *launches = dl_decode_launches(v->decode);
    uint32_t *sites = v->call_sites;
    for (uint32_t i = 0; i < launches->count; i++) {
        const dl_launch *l = &launches->items[i];
        const dl_view_chip *chip = &v->chips[v->chip_rank[l->chip]];
        const uint64_t spans[2][2] = {{l->call_start, l->call_end}, {l->pull_start, l->pull_end}};
        if (i / 8 >= v->n_shown || !(v->shown[i / 8] >> i % 8 & 1) || chip->host_track == DL_NONE) continue;
        if (!view_choice_keeps(&v->choice, i)) break;
        for (int k = 0; k < 2; k++) {
            if (spans[k][0] == 0 || spans[k][1] < spans[k][0]) continue;
            if (!sites[k]) /* the first site is never one of these: a launch has been seen */
                sites[k] = dl_tables_site(dl_decode_tables(v->decode), names[k], strlen(names[k]), "", 0, 0);
            if (sites[k] == DL_NONE) return DEVLOG_OK; /* the table is full */
            const dl_event e = {.start = view_cycle_at(v->decode, chip->id, spans[k][0]),
                                .end = view_cycle_at(v->decode, chip->id, spans[k][1]),
                                .stream = v->chip_rank[l->chip],
                                .site = sites[k],
                                .launch = i,
                                .kind = VIEW_EVENT_HOST};
            v->n_calls++;
            devlog_status status = add_of_chip(v, &e, err);
            if (status) return status;
        }
    }
    return DEVLOG_OK;
}

bool dl_view_launch(const dl_view *v, uint32_t launch, dl_view_item *item)
{
    const dl_launch *l = &dl_decode_launches(v->decode)->items[launch];
    const dl_view_chip *chip = &v->chips[v->chip_rank[l->chip]];
    if (!has_item(v, launch) || !view_choice_keeps(&v->choice, launch)) return false;
    const uint64_t start = view_time(v, chip, DL_NONE, l->first_fw_start),
                   end = view_time(v, chip, DL_NONE, l->last_fw_end);
    *item = (dl_view_item){.start = start,
                           .end = end < start ? start : end,
                           .cycle = l->first_fw_start,
                           .end_cycle = l->last_fw_end,
                           .track = chip->first_track,
                           .site = DL_NONE,
                           .launch = launch,
                           .kind = DL_VIEW_LAUNCH};
    return true;
}

dl_view_call dl_view_call_of(const dl_view *v, const dl_view_item *item)
{
    if (v->tracks[item->track].core != DL_NONE || item->kind != DL_VIEW_ZONE) return DL_VIEW_NO_CALL;
    return item->site == v->call_sites[0] ? DL_VIEW_LAUNCH_CALL : DL_VIEW_PULL_CALL;
}

devlog_status dl_view_ready(dl_view *v, devlog_error *err)
{
    devlog_status status = view_make_tracks(v, err);
    if (!status) status = add_launches(v, err);
    if (!status) status = add_calls(v, err);
    return status ? status : view_make_names(v, err);
}

uint64_t view_time(const dl_view *v, const dl_view_chip *chip, uint32_t stream, uint64_t cycles)
{
    if (chip->aligned) return v->options.clock.ns(v->options.clock.ctx, chip->id, stream, cycles);
    return chip->has_ns && !v->options.cycles ? dl_cycles_to_ns(cycles, v->tables->chips[chip->chip].freq_khz)
                                              : cycles;
}

const dl_view_chip *dl_view_chips(const dl_view *v, uint32_t *n)
{
    *n = v->n_chips;
    return v->chips;
}

const dl_view_core *dl_view_cores(const dl_view *v, uint32_t *n)
{
    *n = v->n_cores;
    return v->cores;
}

const dl_view_track *dl_view_tracks(const dl_view *v, uint32_t *n)
{
    *n = v->n_tracks;
    return v->tracks;
}

dl_decode *dl_view_decode(const dl_view *v)
{
    return v->decode;
}

uint64_t dl_view_count(const dl_view *v)
{
    return v->spool.total;
}

uint64_t dl_view_most(const dl_view *v)
{
    return v->choice.most ? v->choice.kept + v->n_calls : v->spool.total;
}

uint32_t dl_view_end(const dl_view *v)
{
    return v->choice.most ? v->choice.end : DL_NONE;
}

uint64_t dl_view_unwanted(const dl_view *v)
{
    return v->choice.left_out + v->spool.unfit;
}

bool dl_view_is_cramped(const dl_view *v)
{
    return v->choice.is_cramped;
}

uint64_t dl_view_left_out(const dl_view *v)
{
    return v->left_out;
}
