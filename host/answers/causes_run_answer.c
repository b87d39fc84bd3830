/* The path of a log's run through its launches, as sections of an answer: what they are made of is causes_sums.h, the arithmetic
 * causes_run.h. */
#include <math.h>
#include <stdlib.h>

#include "answers/causes_answer.h"
#include "answers/causes_run.h"

/* Host time where every chip's clock is known by it; else cycles, of one chip. */
typedef enum run_clock { CLOCK_HOST, CLOCK_CYCLES, CLOCK_NONE } run_clock;

/* Clocks that would put it hundreds of years away are no clocks, and differences of such times would not fit. */
static bool has_host_ns(const dl_chip_clocks *clocks, uint32_t chip, uint64_t cycles)
{
    double ns = NAN, error;
    dl_chip_clocks_ns(clocks, chip, cycles, &ns, &error);
    return fabs(ns) < 4e18;
}

static int64_t host_ns(const dl_chip_clocks *clocks, uint32_t chip, uint64_t cycles)
{
    double ns = 0, error;
    dl_chip_clocks_ns(clocks, chip, cycles, &ns, &error);
    return (int64_t)ns;
}

/* The clock by which launches are one run; *first: the first one's start, in cycles. */
static run_clock clock_of(const causes_sums *s, uint64_t *first)
{
    const dl_tables *t = dl_decode_tables(s->decode);
    const dl_launch *launches = dl_decode_launches(s->decode)->items;
    bool fitted = true, one = true;
    uint64_t last = 0;
    *first = UINT64_MAX;
    for (size_t i = 0; i < s->n_launches; i++) {
        const causes_launch_sum *l = &s->launches[i];
        const uint32_t chip = launches[l->launch].chip;
        const dl_chip_clocks *clocks = dl_decode_clocks(s->decode);
        const dl_chip_clock *c = dl_chip_clocks_of(clocks, t->chips[chip].id);
        fitted &= c && c->fitted && has_host_ns(clocks, t->chips[chip].id, l->start) &&
                  has_host_ns(clocks, t->chips[chip].id, l->start + l->cycles);
        one &= chip == launches[s->launches[0].launch].chip;
        if (l->start < *first) *first = l->start;
        if (l->start + l->cycles > last) last = l->start + l->cycles;
    }
    one &= last - *first <= (uint64_t)INT64_MAX;
    return fitted ? CLOCK_HOST : one ? CLOCK_CYCLES : CLOCK_NONE;
}

static int64_t since(const dl_chip_clocks *clocks, uint64_t host)
{
    return host && clocks ? (int64_t)(host - clocks->origin) : CAUSES_RUN_UNKNOWN;
}

static void fill(const causes_sums *s, run_clock clock, uint64_t first, causes_run_launch *to)
{
    const dl_tables *t = dl_decode_tables(s->decode);
    const dl_chip_clocks *clocks = dl_decode_clocks(s->decode);
    for (size_t i = 0; i < s->n_launches; i++) {
        const causes_launch_sum *l = &s->launches[i];
        const dl_launch *of = &dl_decode_launches(s->decode)->items[l->launch];
        const uint32_t chip = t->chips[of->chip].id;
        causes_run_launch *x = &to[i];
        *x = (causes_run_launch){.chip = chip,
                                 .number = (uint32_t)i,
                                 .start = (int64_t)(l->start - first),
                                 .end = (int64_t)(l->start + l->cycles - first),
                                 .call_start = CAUSES_RUN_UNKNOWN,
                                 .call_end = CAUSES_RUN_UNKNOWN,
                                 .pull_start = CAUSES_RUN_UNKNOWN,
                                 .pull_end = CAUSES_RUN_UNKNOWN};
        if (clock == CLOCK_CYCLES) continue;
        x->start = host_ns(clocks, chip, l->start);
        x->end = host_ns(clocks, chip, l->start + l->cycles);
        x->call_start = since(clocks, of->call_start);
        x->call_end = since(clocks, of->call_end);
        x->pull_start = since(clocks, of->pull_start);
        x->pull_end = since(clocks, of->pull_end);
    }
}

/* What the path is made of. */
static void add_facts(answer *a, const causes_run *r)
{
    double launches = 0, host = 0, forward = 0, back = 0, pull = 0, unknown = 0;
    const double whole = (double)(r->end - r->start);
    for (size_t i = 0; i < r->n; i++) {
        const causes_run_launch *l = &r->launches[i];
        const causes_run_gap g = causes_run_gap_of(r, i);
        if (!l->on_path) continue;
        launches += (double)(l->end - l->start);
        host += g.known ? (double)g.host : 0;
        forward += g.known ? (double)g.forward : 0;
        back += g.known ? (double)g.back : 0;
        pull += g.known ? (double)g.pull : 0;
        unknown += g.known ? 0 : (double)g.whole;
    }
    const struct {
        const char *key, *title, *note;
        double time;
    } parts[] = {
        {"launches", "launches", "on the device; PATH, ON THE PATHS: what in them", launches},
        {"dispatch", "dispatch", "from the host's call to the device's start", forward},
        {"back", "back to the host", "from the device's end to the call's", back},
        {"pull", "pulling records", "the profiler's own", pull},
        {"host", "host", "between calls", host},
        {"unknown", "unknown", "between launches: host or dispatch", unknown},
    };
    answer_section *f = answer_facts(a, "run", "PATH OF THE RUN");
    answer_fact(a, f, "whole", "whole run", ANSWER_TIME, whole,
                "from the first launch's start to the last one's end");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].time > 0)
            answer_fact(a, f, parts[i].key, parts[i].title, ANSWER_TIME, parts[i].time,
                        answer_keepf(a, "%.1f %% of it; %s", 100 * parts[i].time / whole, parts[i].note));
    answer_note(
        a, f,
        r->by_host
            ? "The host called for one launch after the other: each waited for the one before, on whatever chip."
            : "A launch waited for the one before on its chip; whether chips waited for one another is unknown.");
}

static void number_or_unknown(answer_section *t, bool known, int64_t value)
{
    answer_number(t, known ? (double)value : NAN);
}

static void add_launches(answer *a, const causes_sums *s, const causes_run *r, size_t top)
{
    static const answer_column columns[] = {
        {"launch", "launch", ANSWER_COUNT, 0},    {"chip", "chip", ANSWER_COUNT, 1},
        {"gap", "gap", ANSWER_TIME, 0},           {"back", "back", ANSWER_TIME, 4},
        {"pull", "pull", ANSWER_TIME, 3},         {"host", "host", ANSWER_TIME, 1},
        {"dispatch", "dispatch", ANSWER_TIME, 2}, {"time", "launch took", ANSWER_TIME, 0},
        {"share", "share", ANSWER_PERCENT, 1},    {"path", "on path", ANSWER_TEXT, 0},
        {"slack", "slack", ANSWER_TIME, 0},       {"saves", "saves", ANSWER_TIME, 3},
    };
    answer_section *t = answer_table(a, "run_path", "LAUNCHES AND WHAT LIES BETWEEN THEM", columns,
                                     sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < r->n; i++) {
        const causes_run_launch *l = &r->launches[i];
        const causes_run_gap g = causes_run_gap_of(r, i);
        const dl_launch *of = &dl_decode_launches(s->decode)->items[s->launches[l->number].launch];
        const int64_t took = l->end - l->start;
        answer_number(t, (double)(of->run_host_id ? of->run_host_id : of->run_id ? of->run_id : of->number));
        answer_number(t, l->chip);
        number_or_unknown(t, l->before != SIZE_MAX, g.whole);
        number_or_unknown(t, g.known, g.back);
        number_or_unknown(t, g.known, g.pull);
        number_or_unknown(t, g.known, g.host);
        number_or_unknown(t, g.known, g.forward);
        answer_number(t, (double)took);
        answer_number(t, r->end > r->start ? 100 * (double)took / (double)(r->end - r->start) : NAN);
        answer_text(t, l->on_path ? "yes" : "no");
        answer_number(t, (double)l->slack);
        answer_number(t, (double)(l->most < took ? l->most : took));
    }
    answer_top(t, top);
    answer_note(
        a, t,
        "gap: before the launch, since the one that it waited for. slack: how much longer the launch may take before "
        "the run ends later; that of its zones adds to it.");
}

devlog_status causes_answer_run(answer *a, const causes_sums *s, size_t top, devlog_error *err)
{
    uint64_t first;
    const run_clock clock = clock_of(s, &first);
    if (!s->n_launches || clock == CLOCK_NONE) return DEVLOG_OK; /* chips that cannot be compared */
    causes_run_launch *launches = malloc(s->n_launches * sizeof *launches);
    causes_run r;
    if (!launches) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    fill(s, clock, first, launches);
    a->cycles = clock == CLOCK_CYCLES;
    devlog_status status = causes_run_make(&r, launches, s->n_launches, err);
    if (!status) {
        add_facts(a, &r);
        add_launches(a, s, &r, top);
    }
    free(launches);
    return status;
}
