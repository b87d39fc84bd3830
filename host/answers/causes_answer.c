/* Sections of why it waited. See causes_answer.h. */
#include "answers/causes_answer.h"

#include <stdlib.h>

typedef struct making {
    answer *a;
    const causes_sums *s;
    const dl_tables *t;
    size_t top;
} making;

static double share(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : NAN;
}

static void cycles_or_unknown(answer_section *s, uint64_t cycles)
{
    if (cycles == CAUSES_NEVER)
        answer_unknown(s);
    else
        answer_number(s, (double)cycles);
}

static const char *core_name(const making *m, uint32_t stream)
{
    if (stream == DL_NONE) return "";
    const dl_stream *s = &m->t->streams[stream];
    const uint32_t chip = m->t->chips[s->chip].id;
    if (m->t->n_chips > 1) return answer_keepf(m->a, "%u:%u,%u", chip, s->core_x, s->core_y);
    return answer_keepf(m->a, "%u,%u", s->core_x, s->core_y);
}

static const char *risc_name(const making *m, uint32_t stream)
{
    return stream == DL_NONE ? "" : dl_risc_text(m->t, stream);
}

static const char *part_name(const making *m, uint8_t what, uint32_t site)
{
    return causes_part_name(m->s->decode, what, site);
}

static uint64_t launch_id(const making *m, uint32_t launch)
{
    const dl_launch *of = &dl_decode_launches(m->s->decode)->items[launch];
    return of->run_host_id ? of->run_host_id : of->run_id ? of->run_id : of->number;
}

/* ---- What is known --- */

static void facts(const making *m)
{
    const causes_sums *s = m->s;
    answer *a = m->a;
    answer_section *f = answer_facts(a, "causes", "WHY IT WAITED");
    answer_fact(a, f, "launches", "launches", ANSWER_COUNT, (double)s->n_launches, NULL);
    answer_fact(
        a, f, "cycles", "their cycles", ANSWER_CYCLES, (double)s->cycles,
        "all of them added up, each from its first RISC's start to its last core's end; of one that never ended, to its last record");
    answer_fact(a, f, "known", "of them explained", ANSWER_PERCENT, share(s->known, s->cycles),
                s->known == s->cycles ? "the path is known from end to start"
                                      : "from the end back to where records end");
    answer_fact(
        a, f, "wants", "looks at buffers and semaphores", ANSWER_COUNT, (double)s->wants,
        s->wants ? NULL
        : s->n_flows
            ? "kernels recorded their transfers, and came to none"
            : "none was recorded: by kernels without any, or by a run without DEVLOG_WAITS=1 (devlog run --waits)");
    if (!s->wants)
        answer_note(
            a, f,
            "What RISCs waited for inside of their kernels is unknown: a wait counts as work of the RISC that "
            "waited.");
    if (s->incomplete)
        answer_note(
            a, f,
            "The log lost records of which nobody knows where they were: what a RISC did between two others is "
            "unknown.");
    if (!s->exact)
        answer_note(a, f, "Some waits or records are unknown: slack and savings are at most what they say.");
    answer_note(a, f, "docs/causes.md says what the terms mean, and how well they are known.");
}

/* ---- The path of one launch --- */

static const char *then_of(const making *m, size_t i)
{
    const causes_segment *g = &m->s->path[i];
    if (!g->ends_wait) return "";
    const uint32_t who = i + 1 < m->s->n_path ? m->s->path[i + 1].stream : DL_NONE;
    return answer_keepf(m->a, "%s %llu: %s", risc_name(m, who), (unsigned long long)g->waited,
                        causes_why_text[g->why]);
}

static void path(const making *m)
{
    static const answer_column columns[] = {
        {"from", "from", ANSWER_CYCLES, 3},     {"cycles", "cycles", ANSWER_CYCLES, 0},
        {"share", "share", ANSWER_PERCENT, 2},  {"core", "core", ANSWER_TEXT, 0},
        {"risc", "RISC", ANSWER_TEXT, 0},       {"zone", "zone", ANSWER_TEXT, 0},
        {"saves", "saves", ANSWER_CYCLES, 1},   {"then", "for which waited", ANSWER_TEXT, 0},
        {"waited", "waited", ANSWER_CYCLES, 9}, {"why", "why", ANSWER_TEXT, 9},
        {"address", "address", ANSWER_TEXT, 9}, {"value", "value", ANSWER_COUNT, 9},
    };
    const causes_sums *s = m->s;
    if (!s->n_launches) return;
    const causes_launch_sum *l = &s->launches[s->shown];
    answer_section *t =
        answer_table(m->a, "path",
                     answer_keepf(m->a, "PATH OF LAUNCH %llu, THE LONGEST: %llu CYCLES",
                                  (unsigned long long)launch_id(m, l->launch), (unsigned long long)l->cycles),
                     columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < s->n_path; i++) {
        const causes_segment *g = &s->path[i];
        const uint64_t cycles = g->until - g->from;
        answer_number(t, (double)g->from);
        answer_number(t, (double)cycles);
        answer_number(t, share(cycles, l->cycles));
        answer_text(t, core_name(m, g->what == CAUSES_NOBODY ? DL_NONE : g->stream));
        answer_text(t, risc_name(m, g->what == CAUSES_NOBODY ? DL_NONE : g->stream));
        answer_text(t, part_name(m, g->what, g->site));
        cycles_or_unknown(t, g->gain);
        answer_text(t, then_of(m, i));
        if (g->ends_wait) {
            answer_number(t, (double)g->waited);
            answer_text(t, causes_why_text[g->why]);
            answer_text(t, answer_keepf(m->a, "0x%x", g->address));
            answer_number(t, g->value);
        } else {
            for (int k = 0; k < 4; k++)
                answer_unknown(t);
        }
    }
    answer_top(t, m->top);
    answer_note(
        m->a, t,
        "saves: how much earlier the launch would end without this part, before another path is the longest.");
}

static void path_zones(const making *m)
{
    static const answer_column columns[] = {
        {"risc", "RISC", ANSWER_TEXT, 0},       {"zone", "zone", ANSWER_TEXT, 0},
        {"parts", "parts", ANSWER_COUNT, 2},    {"launches", "launches", ANSWER_COUNT, 3},
        {"cycles", "cycles", ANSWER_CYCLES, 0}, {"share", "share", ANSWER_PERCENT, 0},
        {"saves", "saves", ANSWER_CYCLES, 0},   {"saves_share", "saves %", ANSWER_PERCENT, 1},
    };
    const causes_sums *s = m->s;
    answer_section *t = answer_table(m->a, "path_zones", "ON THE PATHS OF ALL LAUNCHES", columns,
                                     sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < s->n_zones && s->zones[i].on_path; i++) {
        const causes_zone_sum *z = &s->zones[i];
        answer_text(t, dl_text(m->t, z->risc));
        answer_text(t, part_name(m, z->what, z->site));
        answer_number(t, (double)z->passes);
        answer_number(t, (double)z->launches);
        answer_number(t, (double)z->on_path);
        answer_number(t, share(z->on_path, s->cycles));
        cycles_or_unknown(t, z->gain);
        answer_number(t, z->gain == CAUSES_NEVER ? NAN : share(z->gain, s->cycles));
    }
    answer_top(t, m->top);
    answer_note(
        m->a, t,
        "saves: if this zone took no time on any core, and nothing else changed: what is gained until other paths are "
        "the longest.");
}

/* ---- Waits --- */

static void waits(const making *m)
{
    static const answer_column columns[] = {
        {"risc", "RISC", ANSWER_TEXT, 0},
        {"why", "waited for", ANSWER_TEXT, 0},
        {"address", "address", ANSWER_TEXT, 2},
        {"by", "ended by", ANSWER_TEXT, 0},
        {"count", "count", ANSWER_COUNT, 1},
        {"cycles", "cycles", ANSWER_CYCLES, 0},
        {"longest", "longest", ANSWER_CYCLES, 3},
        {"on_path", "on path", ANSWER_COUNT, 1},
        {"longest_core", "on core", ANSWER_TEXT, 4},
        {"longest_launch", "in launch", ANSWER_COUNT, 5},
    };
    answer_section *t = answer_table(m->a, "waits", "WAITS", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < m->s->n_waits; i++) {
        const causes_wait_sum *w = &m->s->waits[i];
        answer_text(t, dl_text(m->t, w->risc));
        answer_text(t, causes_why_text[w->why]);
        answer_text(t, w->address == UINT32_MAX ? "" : answer_keepf(m->a, "0x%x", w->address));
        answer_text(t, w->by ? dl_text(m->t, w->by) : causes_state_text[w->state]);
        answer_number(t, (double)w->count);
        answer_number(t, (double)w->cycles);
        answer_number(t, (double)w->longest);
        answer_number(t, (double)w->on_path);
        answer_text(t, core_name(m, w->longest_stream));
        answer_number(t, (double)launch_id(m, w->longest_launch));
    }
    answer_top(t, m->top);
    answer_note(
        m->a, t,
        "on core, in launch: where the longest of them was. on path: how many of them decided how long their "
        "launch took.");
}

static void noc(const making *m)
{
    static const answer_column columns[] = {
        {"risc", "RISC", ANSWER_TEXT, 0},          {"zone", "zone", ANSWER_TEXT, 0},
        {"by", "ended by", ANSWER_TEXT, 0},        {"tile", "tile", ANSWER_TEXT, 3},
        {"barriers", "barriers", ANSWER_COUNT, 0}, {"transfers", "transfers", ANSWER_COUNT, 1},
        {"bytes", "bytes", ANSWER_BYTES, 2},       {"cycles", "cycles", ANSWER_CYCLES, 0},
        {"longest", "longest", ANSWER_CYCLES, 4},
    };
    if (!m->s->n_noc) return;
    answer_section *t =
        answer_table(m->a, "noc", "BARRIERS OF THE NOC", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < m->s->n_noc; i++) {
        const causes_noc_sum *x = &m->s->noc[i];
        const char *kind = x->last == CAUSES_READS ? "read" : "write";
        answer_text(t, dl_text(m->t, x->risc));
        answer_text(t, x->site == DL_NONE ? "(no zone)" : dl_site_text(m->t, x->site));
        answer_text(t, x->last == CAUSES_PLAIN ? "unknown: no record of a transfer"
                                               : answer_keepf(m->a, "%s of %u bytes", kind, x->last_bytes));
        if (x->last == CAUSES_PLAIN)
            answer_unknown(t);
        else
            answer_text(t, x->several_tiles ? "several"
                                            : answer_keepf(m->a, "%u-%u", x->tile & 63u, x->tile >> 6));
        answer_number(t, (double)x->barriers);
        answer_number(t, (double)x->transfers);
        answer_number(t, (double)x->bytes);
        answer_number(t, (double)x->cycles);
        answer_number(t, (double)x->longest);
    }
    answer_top(t, m->top);
    answer_note(
        m->a, t,
        "ended by: the last transfer before the barrier, whose end it waits for, or that of one before it. tile: as "
        "NoC 0 counts.");
}

/* ---- What has slack --- */

static int least_slack(const void *a, const void *b)
{
    const causes_zone_sum *x = *(causes_zone_sum *const *)a, *y = *(causes_zone_sum *const *)b;
    if (x->least_slack != y->least_slack) return x->least_slack < y->least_slack ? -1 : 1;
    if (x->own != y->own) return x->own > y->own ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void slack(const making *m, devlog_error *err, devlog_status *status)
{
    static const answer_column columns[] = {
        {"risc", "RISC", ANSWER_TEXT, 0},           {"zone", "zone", ANSWER_TEXT, 0},
        {"count", "count", ANSWER_COUNT, 1},        {"cycles", "own cycles", ANSWER_CYCLES, 0},
        {"slack", "least slack", ANSWER_CYCLES, 0},
    };
    const causes_sums *s = m->s;
    const causes_zone_sum **zones = malloc((s->n_zones + 1) * sizeof *zones);
    size_t n = 0;
    if (!zones) {
        *status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        return;
    }
    for (size_t i = 0; i < s->n_zones; i++) {
        const causes_zone_sum *z = &s->zones[i];
        if (z->what == CAUSES_IN_ZONE && z->count && !z->on_path && z->least_slack != CAUSES_NEVER &&
            m->t->sites[z->site].role == DL_ROLE_USER)
            zones[n++] = z;
    }
    if (n > 1) qsort(zones, n, sizeof *zones, least_slack);
    answer_section *t = answer_table(m->a, "slack", "OFF THE PATHS, THE LEAST SLACK FIRST", columns,
                                     sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < n; i++) {
        answer_text(t, dl_text(m->t, zones[i]->risc));
        answer_text(t, dl_site_text(m->t, zones[i]->site));
        answer_number(t, (double)zones[i]->count);
        answer_number(t, (double)zones[i]->own);
        answer_number(t, (double)zones[i]->least_slack);
    }
    free(zones);
    answer_top(t, m->top);
    answer_note(m->a, t, "slack: how much longer one pass may take before its launch ends later.");
}

/* ---- Launches --- */

static void launches(const making *m)
{
    static const answer_column columns[] = {
        {"launch", "launch", ANSWER_COUNT, 0},   {"chip", "chip", ANSWER_COUNT, 2},
        {"cycles", "cycles", ANSWER_CYCLES, 0},  {"known", "explained", ANSWER_PERCENT, 1},
        {"core", "core", ANSWER_TEXT, 0},        {"risc", "ended last", ANSWER_TEXT, 0},
        {"waits", "waits", ANSWER_COUNT, 3},     {"waited", "waited", ANSWER_CYCLES, 0},
        {"unknown", "unknown", ANSWER_COUNT, 2},
    };
    answer_section *t =
        answer_table(m->a, "launches", "LAUNCHES", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < m->s->n_launches; i++) {
        const causes_launch_sum *l = &m->s->launches[i];
        answer_number(t, (double)launch_id(m, l->launch));
        answer_number(t, m->t->chips[dl_decode_launches(m->s->decode)->items[l->launch].chip].id);
        answer_number(t, (double)l->cycles);
        answer_number(t, share(l->known, l->cycles));
        answer_text(t, core_name(m, l->stream));
        answer_text(t, risc_name(m, l->stream));
        answer_number(t, (double)l->waits);
        answer_number(t, (double)l->waited);
        answer_number(t, (double)l->unknown);
    }
    answer_top(t, m->top);
}

devlog_status causes_answer(answer *a, const causes_sums *s, size_t top, devlog_error *err)
{
    const making m = {a, s, dl_decode_tables(s->decode), top};
    devlog_status status = DEVLOG_OK;
    facts(&m);
    path(&m);
    path_zones(&m);
    waits(&m);
    noc(&m);
    slack(&m, err, &status);
    launches(&m);
    if (!status) status = causes_answer_run(a, s, top, err);
    return status ? status : answer_status(a, err);
}

void causes_answer_short(answer *a, const causes_sums *s, size_t top)
{
    const making m = {a, s, dl_decode_tables(s->decode), top};
    path_zones(&m);
    waits(&m);
    noc(&m);
}
