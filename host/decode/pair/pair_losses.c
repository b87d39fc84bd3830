/* What pairing could not match, told: counted always, described for the first few of each kind. */
#include <stdio.h>
#include <string.h>

#include "decode/pair/pair_internal.h"
#include "devlog/record.h"

void dl_pair_where(const dl_pair *p, uint32_t stream, char out[128])
{
    const dl_stream *s = &p->tables->streams[stream];
    const char *risc = dl_text(p->tables, s->risc_name);
    char chip[DL_CHIP_TITLE];
    dl_chip_title(chip, p->tables->chips[s->chip].id);
    if (dl_is_process(p->tables->chips[s->chip].id))
        snprintf(out, 128, "%s thread %.60s", chip, risc);
    else
        snprintf(out, 128, "%s core %u,%u %.60s", chip, s->core_x, s->core_y, risc);
}

/* The counts of the tables may be those of an earlier time. */
static const char *site_text(const dl_pair *p, uint32_t site)
{
    return dl_text(p->tables, p->tables->sites[site].name);
}

/* Whether it is known that what is wrong here is wrong in the log, and not where a part of it ends. */
static bool is_told(const dl_pair *p, uint32_t launch, uint64_t time)
{
    const dl_filter *f = p->filter;
    return !f || !f->partly ||
           (launch != DL_NONE && dl_filter_time(f, time, time) && dl_pair_launch_is_kept(p, launch));
}

bool dl_pair_is_told(const dl_pair *p, uint32_t stream, uint64_t time)
{
    return stream >= p->n_streams || !p->streams[stream] || is_told(p, p->streams[stream]->launch, time);
}

bool dl_pair_mark_is_told(const dl_pair *p, const pair_mark *m)
{
    const dl_filter *f = p->filter;
    const dl_launch l = {.run_host_id = m->ids->run_host_id,
                         .trace_id = m->ids->trace_id,
                         .trace_counter = m->ids->trace_counter,
                         .has_ids = m->ids->has_launch,
                         .repeat = 1};
    return !f || !f->partly ||
           (m->ids->has_launch && dl_filter_time(f, m->time, m->time) &&
            dl_filter_launch_of(f, p->tables->chips[p->tables->streams[m->stream].chip].id, &l));
}

static void lose_open(dl_pair *p, const open_zone *z)
{
    if (!is_told(p, z->launch, z->start)) return;
    p->losses->found[DL_FOUND_UNPAIRED_START]++;
    if (!dl_losses_wants(p->losses, DL_FOUND_UNPAIRED_START)) return;
    char where[128];
    p->unpaired_at[dl_losses_told(p->losses, DL_FOUND_UNPAIRED_START)] = p->run_line;
    dl_pair_where(p, z->key->stream, where);
    dl_losses_found(p->losses, DL_FOUND_UNPAIRED_START, 0,
                    "%s:%u: %s: zone '%s' began at cycle %llu and never ended", p->source, z->line, where,
                    site_text(p, z->site), (unsigned long long)z->start);
}

void dl_pair_abandon_from(dl_pair *p, stream_state *s, int first)
{
    s->uneven |= first < s->n_open;
    for (int i = first; i < s->n_open; i++)
        lose_open(p, &s->open[i]);
    s->n_open = (uint16_t)first;
    s->too_deep = 0; /* they began behind the last of them */
}

void dl_pair_abandon_open(dl_pair *p, stream_state *s)
{
    dl_pair_abandon_from(p, s, 0);
}

void dl_pair_abandon_site(dl_pair *p, stream_state *s, uint32_t site)
{
    uint16_t kept = 0;
    s->uneven |= s->n_open > 0;
    for (uint16_t i = 0; i < s->n_open; i++) {
        if (s->open[i].site == site)
            lose_open(p, &s->open[i]);
        else
            s->open[kept++] = s->open[i];
    }
    s->n_open = kept;
}

void dl_pair_lose_end(dl_pair *p, const pair_mark *m, uint64_t time, bool of_another)
{
    dl_finding what = of_another ? DL_FOUND_OTHER_LAUNCH : DL_FOUND_UNPAIRED_END;
    if (!dl_pair_is_told(p, m->stream, time)) return;
    p->losses->found[what]++;
    if (!dl_losses_wants(p->losses, what)) return;
    char where[128];
    dl_pair_where(p, m->stream, where);
    dl_losses_found(p->losses, what, 0, "%s:%u: %s: zone '%s' ends at cycle %llu but %s", p->source, m->line,
                    where, site_text(p, m->kind->site), (unsigned long long)time,
                    of_another ? "began in another launch" : "never began");
}

void dl_pair_lose_negative(dl_pair *p, const pair_mark *m, const open_zone *z, uint64_t time)
{
    char where[128];
    if (!is_told(p, z->launch, time)) return;
    dl_pair_where(p, m->stream, where);
    dl_losses_found(p->losses, DL_FOUND_NEGATIVE, 1,
                    "%s:%u: %s: zone '%s' ends at cycle %llu, before its start %llu", p->source, m->line,
                    where, site_text(p, z->site), (unsigned long long)time, (unsigned long long)z->start);
}

void dl_pair_lose_deep(dl_pair *p, const stream_state *s, const pair_mark *m)
{
    char where[128];
    if (!dl_pair_is_told(p, m->stream, m->time)) return;
    dl_pair_where(p, m->stream, where);
    dl_losses_found(p->losses, DL_FOUND_TOO_DEEP, 1,
                    "%s:%u: %s: %u zones are open on this RISC; '%s' is left out", p->source, m->line, where,
                    s->n_open, site_text(p, m->kind->site));
}

void dl_pair_lose_key(dl_pair *p, const pair_mark *m)
{
    dl_losses_found(p->losses, DL_FOUND_TABLE_FULL, 1, "%s:%u: zone '%s'", p->source, m->line,
                    site_text(p, m->kind->site));
}

void dl_pair_lose_launch(dl_pair *p, uint32_t line)
{
    dl_losses_found(p->losses, DL_FOUND_TABLE_FULL, 1, "%s:%u: more launches than are kept apart", p->source,
                    line);
}

/* Why nobody knows what a RISC lost. */
static const char *why_unknown(uint64_t damage)
{
    static const struct {
        uint32_t bit;
        const char *text;
    } reasons[] = {
        {DEVLOG_DAMAGE_CONTROL, "its control words were overwritten"},
        {DEVLOG_DAMAGE_CURSOR, "tp, the cursor of its records, was not in its segment"},
        {DEVLOG_DAMAGE_KERNEL, "its kernel has instructions that write tp, the cursor of its records"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (damage & reasons[i].bit) return reasons[i].text;
    return "no reason is given";
}

bool dl_pair_is_violation(const dl_pair *p, const pair_mark *m)
{
    const char *name = site_text(p, m->kind->site);
    return dl_loss_of_zone(name, strlen(name)) == DL_LOSS_VIOLATED;
}

dl_loss_zone dl_pair_note_loss(dl_pair *p, const pair_mark *m)
{
    static const struct {
        dl_finding finding;
        const char *of;
    } zones[DL_LOSS_ZONES] = {
        [DL_LOSS_DROPPED] = {DL_FOUND_DROPPED, "markers"},
        [DL_LOSS_DAMAGED] = {DL_FOUND_DAMAGED_WORDS, "words"},
        [DL_LOSS_UNKNOWN] = {DL_FOUND_UNKNOWN, NULL},
        [DL_LOSS_RESTARTED] = {DL_FOUND_RESTARTED, "restarts"},
        [DL_LOSS_TORN] = {DL_FOUND_TORN, "stamps"},
        [DL_LOSS_AMBIGUOUS] = {DL_FOUND_AMBIGUOUS, "stamps"},
    };
    const char *name = site_text(p, m->kind->site);
    dl_loss_zone zone = dl_loss_of_zone(name, strlen(name));
    char where[128];
    if (zone == DL_LOSS_ZONES || !dl_pair_is_told(p, m->stream, m->time)) return zone;
    dl_pair_where(p, m->stream, where);
    const dl_site *site = &p->tables->sites[m->kind->site];
    const size_t named = strlen(DL_VIOLATED_ZONE " ");
    if (zone == DL_LOSS_VIOLATED)
        dl_losses_found(p->losses, DL_FOUND_VIOLATED, m->rare->data,
                        "%s: launch %llu: expected of %s, and %llu times not so (%s:%u)", where,
                        (unsigned long long)m->ids->run_host_id,
                        strlen(name) > named ? name + named : "a marker that the log does not name",
                        (unsigned long long)m->rare->data, dl_text(p->tables, site->file), site->line);
    else if (zone == DL_LOSS_UNKNOWN)
        dl_losses_found(p->losses, DL_FOUND_UNKNOWN, 1, "%s:%u: %s: launch %llu: %s", p->source, m->line,
                        where, (unsigned long long)m->ids->run_host_id, why_unknown(m->rare->data));
    else
        dl_losses_found(p->losses, zones[zone].finding, m->rare->data, "%s:%u: %s: %llu %s", p->source,
                        m->line, where, (unsigned long long)m->rare->data, zones[zone].of);
    return zone;
}
