/* The verdict: where a run's time went, in a few lines, with what it is known by. Chips, what was lost, and the summary,
 * which have the same figures. */
#include "answers/memory_answer.h"
#include "answers/sections.h"

#include <stdio.h>

/* The chip whose time is the run's: the one that was at work longest, from its first launch to its last. */
static const answer_chip *longest(const answer_run *r)
{
    const answer_chip *best = NULL;
    for (size_t i = 0; i < r->n_chips; i++)
        if (isfinite(r->chips[i].span) && (!best || r->chips[i].span > best->span)) best = &r->chips[i];
    return best;
}

double answer_wall(const answer_run *r)
{
    const answer_chip *c = longest(r);
    return c ? c->span : r->host_span;
}

static double kernel_time(const answer_run *r, uint64_t *n)
{
    double sum = 0;
    *n = 0;
    for (size_t i = 0; i < r->n_ops; i++) {
        if (!isfinite(r->ops[i].time)) continue;
        sum += r->ops[i].time;
        ++*n;
    }
    return *n ? sum : NAN;
}

/* Of the chips that have it: the least, the most, and the mean of busy time by its own span. */
typedef struct range {
    double min, max, sum;
    size_t n;
} range;

static void add(range *to, double value)
{
    if (!isfinite(value)) return;
    if (!to->n || value < to->min) to->min = value;
    if (!to->n || value > to->max) to->max = value;
    to->sum += value;
    to->n++;
}

static double mean(const range *of)
{
    return of->n ? of->sum / (double)of->n : NAN;
}

static void add_chips_facts(answer *a, answer_section *s, const answer_run *r, double wall)
{
    range shares = {0}, busy = {0};
    char note[160];
    for (size_t i = 0; i < r->n_chips; i++) {
        add(&busy, r->chips[i].busy);
        if (wall > 0) add(&shares, 100 * r->chips[i].busy / wall);
    }
    if (!r->n_chips) {
        answer_fact(a, s, "busy", "device busy", ANSWER_TIME, NAN, "no op has device data");
        return;
    }
    const bool several = r->n_chips > 1;
    const char *of =
        isfinite(longest(r) ? longest(r)->span : NAN) ? "of the wall time" : "of the host's time";
    if (several)
        snprintf(note, sizeof note, "%s: mean of %zu chips, %.2f to %.2f %%", of, r->n_chips, shares.min,
                 shares.max);
    else
        snprintf(note, sizeof note, "%s", of);
    answer_fact(a, s, "busy_share", "device busy", ANSWER_PERCENT, mean(&shares), note);
    answer_fact(a, s, "busy", "", ANSWER_TIME, mean(&busy),
                several ? "union of each chip's launches, mean of the chips" : "union of its launches");
    answer_fact(a, s, "gaps", "device idle", ANSWER_TIME, isfinite(wall) && busy.n ? wall - mean(&busy) : NAN,
                "wall time in which no launch ran: gaps between launches");
    if (several && mean(&busy) > 0)
        answer_fact(a, s, "chip_imbalance", "chip imbalance", ANSWER_RATIO, busy.max / mean(&busy),
                    "the busiest chip by the mean of them; 1 is the best");
}

static void add_clock_facts(answer *a, answer_section *s, const answer_run *r)
{
    range clock = {0}, cores = {0}, host = {0};
    const char *source = NULL;
    double other = NAN;
    char note[300];
    for (size_t i = 0; i < r->n_chips; i++) {
        if (isfinite(r->chips[i].report_mhz)) other = r->chips[i].report_mhz;
        add(&clock, r->chips[i].mhz);
        add(&cores, r->chips[i].core_error_cycles);
        add(&host, r->chips[i].host_error_ns);
        if (isfinite(r->chips[i].mhz)) source = r->chips[i].mhz_source;
    }
    if (clock.n && clock.max > clock.min)
        snprintf(note, sizeof note, "from the %s; chips differ: %.10g to %.10g MHz, each counts with its own",
                 source, clock.min, clock.max);
    else if (clock.n)
        snprintf(note, sizeof note, "from the %s", source);
    else if (r->cycles)
        snprintf(note, sizeof note, "the log does not say it: times are cycles");
    else
        snprintf(note, sizeof note, "the report has no cycles beside its nanoseconds");
    const size_t n = strlen(note);
    if (isfinite(other))
        snprintf(
            note + n, sizeof note - n,
            "; THE REPORT'S CYCLES AND NS SAY %.10g MHz: they are of different runs, or one of the two is wrong, "
            "and so is every time that comes of it",
            floor(other * 10 + 0.5) / 10);
    answer_fact(a, s, "clock", "clock", ANSWER_MHZ, clock.n ? mean(&clock) : NAN, note);
    answer_fact(a, s, "core_error", "clock error, cores", ANSWER_CYCLES, cores.n ? cores.max : NAN,
                cores.n ? "bound, between markers of two cores"
                        : "how far cores' counters differ was not measured in what was read");
    answer_fact(a, s, "host_error", "clock error, host", ANSWER_TIME, r->cycles || !host.n ? NAN : host.max,
                host.n ? "bound, between a chip's clock and the host's" : "not measured in what was read");
}

/* What the host's calls of one direction took and moved. */
static void add_transfer(answer *a, answer_section *s, const char *way, const char *label, double ns,
                         double bytes)
{
    const bool write = *way == 'w';
    answer_fact(a, s, write ? "write_time" : "read_time", label, ANSWER_TIME, ns,
                isfinite(ns) && !isfinite(bytes) ? "time in these calls inside ops, which did not count bytes"
                                                 : "time in these calls, inside ops");
    answer_fact(a, s, write ? "write_bytes" : "read_bytes", "", ANSWER_BYTES, bytes, "that they moved");
    answer_fact(a, s, write ? "write_rate" : "read_rate", "", ANSWER_BYTES_PER_S,
                ns > 0 ? 1e9 * bytes / ns : NAN, "of the time in these calls");
}

static void add_host_facts(answer *a, answer_section *s, const answer_run *r)
{
    const bool ns = !r->cycles;
    char note[128];
    if (!ns) return;
    answer_fact(a, s, "host_span", "host", ANSWER_TIME, r->host_span,
                "from its first op's start to the last end");
    snprintf(note, sizeof note, "inside ops, nested ones counted once");
    answer_fact(a, s, "host_time", "  in ops", ANSWER_TIME, r->host_time, note);
    answer_fact(a, s, "compile_time", "  compiling", ANSWER_TIME, r->compile_time,
                "in CompileProgram, inside ops");
    answer_fact(a, s, "compile_share", "", ANSWER_PERCENT,
                r->host_span > 0 ? 100 * r->compile_time / r->host_span : NAN, "of the host's time");
    add_transfer(a, s, "write", "host to device", r->write_time, r->write_bytes);
    add_transfer(a, s, "read", "device to host", r->read_time, r->read_bytes);
    answer_fact(a, s, "profiler_cost", "log of ops", ANSWER_TIME, r->profiler_cost,
                "what writing it took inside ops");
}

static const char *device_of(answer *a, const answer_run *r)
{
    const char *arch = r->n_chips ? r->chips[0].arch : "";
    char cores[64] = "";
    range available = {0};
    for (size_t i = 0; i < r->n_chips; i++)
        add(&available, r->chips[i].available);
    if (available.n) snprintf(cores, sizeof cores, ", %.0f worker cores", available.max);
    if (!r->n_chips) return NULL;
    return answer_keepf(a, "%zu chip%s%s%s%s", r->n_chips, r->n_chips == 1 ? "" : "s", *arch ? ", " : "",
                        arch, cores);
}

/* The most that buffers held, in the chip where that was most, and who made the last of them. */
static void add_memory_facts(answer *a, answer_section *s, const memory_run *m)
{
    uint64_t leaked = 0;
    for (int dram = 0; dram < 2; dram++) {
        const memory_space *most = NULL;
        for (size_t i = 0; i < m->n_spaces; i++)
            if (m->spaces[i].dram == dram && (!most || m->spaces[i].peak > most->peak)) most = &m->spaces[i];
        if (!most) continue;
        const memory_buffer *by = memory_peak_buffer(m, most);
        const char *source = by ? memory_source(a, m, by) : NULL,
                   *op = by && by->op ? memory_text(m, by->op) : NULL;
        answer_fact(a, s, dram ? "peak_dram" : "peak_l1", dram ? "peak DRAM" : "peak L1", ANSWER_BYTES,
                    (double)most->peak,
                    answer_keepf(a, "held by buffers of chip %u%s%s%s%s", most->chip,
                                 op ? "; reached by " : "", op ? op : "", source ? " at " : "",
                                 source ? source : ""));
    }
    for (size_t i = 0; i < m->n_spaces; i++)
        leaked += m->spaces[i].leaked;
    answer_fact(a, s, "leaks", "buffers not freed", ANSWER_COUNT, (double)leaked,
                leaked ? "when their device was closed: devlog memory says where they were made"
                       : "when their device was closed");
}

void answer_add_verdict(answer *a, const answer_run *r)
{
    answer_section *s = answer_facts(a, "verdict", "VERDICT");
    const answer_chip *c = longest(r);
    const double wall = answer_wall(r);
    uint64_t timed;
    char note[200];
    const double kernels = kernel_time(r, &timed);
    answer_fact_text(a, s, "input", "input", r->name, NULL);
    answer_fact_text(a, s, "device", "device", device_of(a, r), NULL);
    snprintf(note, sizeof note, "%llu with device data%s", (unsigned long long)timed,
             r->left_out ? "; the selection left others out" : "");
    answer_fact(a, s, "ops", r->has_report ? "ops" : "launches", ANSWER_COUNT, (double)r->n_ops, note);
    if (c && c->boots > 1)
        snprintf(
            note, sizeof note,
            "chip %u: its counter began %zu times; from each first launch's start to the last one's end, "
            "added up",
            c->chip, c->boots);
    else if (c)
        snprintf(note, sizeof note, "chip %u: from its first launch's start to its last one's end", c->chip);
    else
        snprintf(note, sizeof note, "of the host: nothing says when the device began and ended");
    answer_fact(a, s, "wall", "wall time", ANSWER_TIME, wall, isfinite(wall) ? note : NULL);
    add_chips_facts(a, s, r, wall);
    answer_fact(a, s, "ops_time", r->by_fw ? "in firmware" : "in kernels", ANSWER_TIME, kernels,
                "all ops added up");
    add_host_facts(a, s, r);
    uint64_t warm = 0;
    for (size_t i = 0; i < r->n_chips; i++)
        warm += r->chips[i].warm_up;
    if (r->n_chips)
        answer_fact(a, s, "warm_up", "warm-up", ANSWER_COUNT, (double)warm,
                    "launches before durations settle (MSER); --skip-warm-up leaves them out");
    add_clock_facts(a, s, r);
    if (r->memory) add_memory_facts(a, s, r->memory);
    const uint64_t lost = r->log ? run_log_lost(r->log) : 0;
    answer_fact(a, s, "lost", "lost", ANSWER_COUNT, r->log ? (double)lost : NAN,
                r->log ? lost ? "kinds of loss in the device log: see LOSSES" : "nothing of the device log"
                       : "no device log was read: an op report does not say");
    const uint64_t violated = r->log ? run_log_violated(r->log) : 0;
    if (violated)
        answer_fact(a, s, "violated", "not as expected", ANSWER_COUNT, (double)violated,
                    "times that markers were not as kernels expect: see LOSSES");
}

void answer_add_chips(answer *a, const answer_run *r)
{
    static const answer_column columns[] = {
        {"chip", "chip", ANSWER_COUNT, 0},
        {"arch", "arch", ANSWER_TEXT, 5},
        {"clock", "MHz", ANSWER_MHZ, 4},
        {"launches", "launches", ANSWER_COUNT, 3},
        {"wall", "wall", ANSWER_TIME, 0},
        {"busy", "busy", ANSWER_TIME, 0},
        {"busy_share", "busy %", ANSWER_PERCENT, 0},
        {"idle", "idle", ANSWER_TIME, 0},
        {"warm_up", "warm-up", ANSWER_COUNT, 6},
    };
    if (!r->n_chips) return;
    answer_section *s = answer_table(a, "chips", "CHIPS", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < r->n_chips; i++) {
        const answer_chip *c = &r->chips[i];
        answer_number(s, c->chip);
        answer_text(s, *c->arch ? c->arch : NULL);
        answer_number(s, c->mhz);
        answer_number(s, (double)c->rows);
        answer_number(s, c->span);
        answer_number(s, c->busy);
        answer_number(s, c->span > 0 ? 100 * c->busy / c->span : NAN);
        answer_number(s, c->span - c->busy);
        answer_number(s, (double)c->warm_up);
    }
}

void answer_add_losses(answer *a, const answer_run *r)
{
    static const answer_column columns[] = {
        {"finding", "finding", ANSWER_TEXT, 0},
        {"count", "count", ANSWER_COUNT, 0},
        {"loss", "loss", ANSWER_TEXT, 0},
        {"first", "first at", ANSWER_TEXT, 5},
    };
    if (!r->log || !run_log_findings(r->log)) return;
    answer_section *s = answer_table(a, "losses", "LOSSES", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < run_log_findings(r->log); i++) {
        const devlog_finding f = run_log_finding(r->log, i);
        const size_t n =
            r->folder && strncmp(f.first, r->folder, strlen(r->folder)) == 0 ? strlen(r->folder) : 0;
        answer_text(s, answer_keep(a, f.text, strlen(f.text)));
        answer_number(s, (double)f.count);
        answer_text(s, f.loss ? "yes" : "no");
        answer_text(s, *f.first ? answer_keepf(a, "%s%s", n ? r->name : "", f.first + n) : NULL);
    }
}

void answer_add_summary(answer *a, const answer_run *r)
{
    answer_section *s = answer_facts(a, "summary", "SUMMARY");
    double flops = NAN, bytes = NAN;
    uint64_t timed;
    for (size_t i = 0; i < r->n_ops; i++) {
        if (isfinite(r->ops[i].flops)) flops = (isfinite(flops) ? flops : 0) + r->ops[i].flops;
        if (isfinite(r->ops[i].bytes)) bytes = (isfinite(bytes) ? bytes : 0) + r->ops[i].bytes;
    }
    const double wall = answer_wall(r), kernels = kernel_time(r, &timed);
    const double seconds = r->cycles ? NAN : 1e-9 * wall;
    answer_fact(a, s, "runtime", "runtime", ANSWER_TIME, wall, "wall time");
    answer_fact(a, s, "device_time", "device time", ANSWER_TIME, kernels, "of all ops");
    answer_fact(a, s, "compile_time", "compile time", ANSWER_TIME, r->cycles ? NAN : r->compile_time, NULL);
    const bool several = r->n_chips > 1;
    answer_fact(a, s, "flops", "FLOPs", ANSWER_FLOPS, flops,
                several ? "of ops whose shapes and kind are known, of each on one of its chips"
                        : "of ops whose shapes and kind are known");
    answer_fact(a, s, "flop_rate", "FLOP rate", ANSWER_FLOPS_PER_S, flops / seconds, "of the wall time");
    answer_fact(a, s, "bytes", "bytes", ANSWER_BYTES, bytes,
                several ? "that ops read and write, by their shapes, of each on one of its chips"
                        : "that ops read and write, by their shapes");
    answer_fact(a, s, "peak_memory", "peak memory", ANSWER_BYTES,
                r->memory ? (double)r->memory->chip_peak : NAN,
                r->memory ? "L1 and DRAM of one chip, by its buffers" : "not in what was read");
}
