/* What an open log answers (devlog/decode.h): what numbers stand for, statistics, losses. Not for reading it:
 * door.c. */
#include <stdlib.h>

#include "decode/analysis/groups.h"
#include "decode/door_internal.h"

/* ---- What numbers stand for ---------------------------------------------------------------------------- */

size_t devlog_log_streams(const devlog_log *log)
{
    return dl_decode_tables(log->decode)->n_streams;
}

size_t devlog_log_zones(const devlog_log *log)
{
    return dl_decode_tables(log->decode)->n_sites;
}

size_t devlog_log_chips(const devlog_log *log)
{
    return dl_decode_tables(log->decode)->n_chips;
}

size_t devlog_log_launches(const devlog_log *log)
{
    return dl_decode_launches(log->decode)->count;
}

static uint32_t chip_id(const dl_tables *t, uint32_t chip)
{
    return chip < t->n_chips ? t->chips[chip].id : 0;
}

devlog_stream devlog_log_stream(const devlog_log *log, uint32_t number)
{
    const dl_tables *t = dl_decode_tables(log->decode);
    if (number >= t->n_streams) return (devlog_stream){.risc = ""};
    const dl_stream *s = &t->streams[number];
    return (devlog_stream){chip_id(t, s->chip), {s->core_x, s->core_y}, dl_text(t, s->risc_name)};
}

static devlog_zone_role public_role(dl_role role)
{
    return role == DL_ROLE_FW       ? DEVLOG_ZONE_FIRMWARE
           : role == DL_ROLE_KERNEL ? DEVLOG_ZONE_KERNEL
                                    : DEVLOG_ZONE_USER;
}

devlog_zone devlog_log_zone(const devlog_log *log, uint32_t number)
{
    const dl_tables *t = dl_decode_tables(log->decode);
    if (number >= t->n_sites) return (devlog_zone){.name = "", .file = ""};
    const dl_site *s = &t->sites[number];
    return (devlog_zone){dl_text(t, s->name), dl_text(t, s->file), s->line, public_role(s->role)};
}

static uint64_t public_id(uint32_t id)
{
    return id == DL_NO_ID ? UINT64_MAX : id;
}

devlog_launch devlog_log_launch(const devlog_log *log, uint32_t number)
{
    const dl_launches *all = dl_decode_launches(log->decode);
    if (number >= all->count) return (devlog_launch){0};
    const dl_launch *l = &all->items[number];
    return (devlog_launch){.chip = chip_id(dl_decode_tables(log->decode), l->chip),
                           .number = l->number,
                           .run_host_id = l->run_host_id,
                           .trace_id = public_id(l->trace_id),
                           .trace_counter = public_id(l->trace_counter),
                           .first_start = l->first_fw_start,
                           .last_end = l->last_fw_end};
}

uint64_t door_asked_by(const devlog_log *log, uint32_t launch)
{
    const dl_launches *all = dl_decode_launches(log->decode);
    if (launch >= all->count) return 0;
    return all->items[launch].op ? all->items[launch].op : all->items[launch].run_host_id;
}

bool door_told_op(const devlog_log *log, uint32_t launch)
{
    const dl_launches *all = dl_decode_launches(log->decode);
    return launch < all->count && all->items[launch].op != 0;
}

devlog_chip devlog_log_chip(const devlog_log *log, uint32_t number)
{
    const dl_tables *t = dl_decode_tables(log->decode);
    if (number >= t->n_chips) return (devlog_chip){.arch = ""};
    const dl_chip *c = &t->chips[number];
    const dl_chip_clock *clock = dl_chip_clocks_of(dl_decode_clocks(log->decode), c->id);
    return (devlog_chip){.chip = c->id,
                         .arch = dl_text(t, c->arch),
                         .mhz = (double)c->freq_khz / 1000,
                         .core_error_cycles = clock ? dl_chip_clock_core_residual(clock) : 0,
                         .host_error_ns = clock ? dl_chip_clock_host_residual(clock) : 0};
}

bool door_counts_instructions(const devlog_log *log)
{
    const dl_tables *t = dl_decode_tables(log->decode);
    bool any = false;
    for (uint32_t i = 0; i < t->n_chips; i++)
        any |= t->chips[i].instructions;
    return any;
}

uint64_t door_aiclk_khz(const devlog_log *log, uint32_t number)
{
    const dl_tables *t = dl_decode_tables(log->decode);
    return number < t->n_chips ? t->chips[number].aiclk_khz : 0;
}

const char *devlog_log_text(const devlog_log *log, uint32_t number)
{
    return dl_text(dl_decode_tables(log->decode), number);
}

bool devlog_log_host_ns(const devlog_log *log, uint32_t chip, uint64_t cycles, double *ns, double *error_ns)
{
    const dl_chip_clocks *clocks = dl_decode_clocks(log->decode);
    double since, error;
    if (!dl_chip_clocks_ns(clocks, chip, cycles, &since, &error)) return false;
    *ns = (double)clocks->origin + since;
    *error_ns = error;
    return true;
}

/* ---- Statistics and losses ----------------------------------------------------------------------------- */

static devlog_statistics public_statistics(const dl_tables *t, const dl_group *g)
{
    const dl_summary *s = &g->summary;
    return (devlog_statistics){.chip = chip_id(t, g->chip),
                               .launch = g->launch,
                               .stream = g->stream,
                               .risc = dl_text(t, g->risc_name),
                               .zone = dl_text(t, g->site_name),
                               .role = public_role(g->role),
                               .count = s->count,
                               .min = s->min,
                               .max = s->max,
                               .total_low = (uint64_t)s->sum,
                               .total_high = (uint64_t)(s->sum >> 64),
                               .average = dl_summary_average(s),
                               .median = dl_summary_median(s),
                               .p90 = s->p90,
                               .p95 = s->p95,
                               .p99 = s->p99};
}

devlog_status devlog_log_statistics(devlog_log *log, devlog_grouping grouping, const devlog_statistics **rows,
                                    size_t *n, devlog_error *err)
{
    dl_groups groups;
    if (!door_has_ended(log) || log->status)
        return dl_fail(err, DEVLOG_ERR_STATE,
                       "statistics are complete after the last batch (devlog_log_finish)");
    devlog_status status = grouping == DEVLOG_BY_RISC   ? dl_groups_by_risc(log->decode, &groups, err)
                           : grouping == DEVLOG_BY_CORE ? dl_groups_by_core(log->decode, &groups, err)
                           : grouping == DEVLOG_BY_LAUNCH
                               ? dl_groups_by_launch(log->decode, 0, &groups, err)
                               : dl_fail(err, DEVLOG_ERR_ARGUMENT, "no grouping %d", (int)grouping);
    if (status) return status;
    devlog_statistics *made = realloc(log->rows, (groups.n ? groups.n : 1) * sizeof *made);
    if (!made) {
        dl_groups_free(&groups);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    }
    log->rows = made;
    for (size_t i = 0; i < groups.n; i++)
        made[i] = public_statistics(dl_decode_tables(log->decode), &groups.items[i]);
    *rows = made;
    *n = groups.n;
    dl_groups_free(&groups);
    return DEVLOG_OK;
}

/* Kinds of finding in the order of dl_losses.details; counts of a reader at work are not looked at. */
static uint64_t finding_count(const devlog_log *log, int kind)
{
    const dl_losses *l = dl_decode_losses(log->decode);
    if (!door_has_ended(log)) return 0;
    return kind < DL_SKIPS ? l->skipped[kind] : l->found[kind - DL_SKIPS];
}

size_t devlog_log_findings(const devlog_log *log)
{
    size_t n = 0;
    for (int kind = 0; kind < DL_SKIPS + DL_FINDINGS; kind++)
        n += finding_count(log, kind) > 0;
    return n;
}

devlog_finding devlog_log_finding(const devlog_log *log, size_t number)
{
    const dl_losses *l = dl_decode_losses(log->decode);
    for (int kind = 0; kind < DL_SKIPS + DL_FINDINGS; kind++) {
        uint64_t count = finding_count(log, kind);
        if (!count || number--) continue;
        const char *first = l->details[kind][0] ? l->details[kind][0] : "";
        if (kind < DL_SKIPS)
            return (devlog_finding){dl_skip_key((dl_skip)kind), dl_skip_text((dl_skip)kind), first, count,
                                    true};
        dl_finding what = (dl_finding)(kind - DL_SKIPS);
        return (devlog_finding){dl_finding_key(what), dl_finding_text(what), first, count,
                                dl_finding_is_loss(what)};
    }
    return (devlog_finding){.key = "", .text = "", .first = ""};
}

bool devlog_log_complete(const devlog_log *log)
{
    return door_has_ended(log) && !log->status && !dl_losses_any(dl_decode_losses(log->decode));
}

devlog_status door_no_rows(const devlog_log *log, devlog_error *err)
{
    if (!log->n_paths) return DEVLOG_OK;
    return dl_losses_no_rows(dl_decode_losses(log->decode), log->paths[0], log->n_paths, err);
}

uint64_t devlog_log_rows(const devlog_log *log)
{
    return door_has_ended(log) ? dl_decode_losses(log->decode)->rows : 0;
}
