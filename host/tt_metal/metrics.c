/* Figures from hardware counters, one after the other as the report has them. */
#include "tt_metal/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What one core counted. */
typedef struct core {
    double value[TT_COUNTERS_END], ref[TT_COUNTERS_END]; /* NaN: not counted */
} core;

typedef enum how {
    UTIL,     /* a / ref */
    RATE,     /* the same, no per cent */
    MEAN2,    /* (a + b) / 2 / ref of a */
    RATIO,    /* a / b */
    LACK,     /* (b - a) / b, at least 0 */
    LACK_ANY, /* the same, without that bound */
    PRESSURE, /* ((a - c) + (b - d)) / (a + b), at least 0 */
    SPECIAL,
} how;

typedef struct metric {
    const char *name;
    how how;
    uint16_t a, b, c, d;
    bool always; /* its columns are there whenever there are counters */
} metric;

/* clang-format off */
static const metric metrics[TT_METRICS] = {
    {"SFPU Util", UTIL, TT_SFPU_COUNTER, 0, 0, 0, true},
    {"FPU Util", UTIL, TT_FPU_COUNTER, 0, 0, 0, true},
    {"MATH Util", UTIL, TT_MATH_COUNTER, 0, 0, 0, true},
    {"Unpacker0 Write Efficiency", RATIO, TT_SRCA_WRITE, TT_UNPACK0_BUSY_THREAD0, 0, 0, true},
    {"Unpacker1 Write Efficiency", RATIO, TT_SRCB_WRITE, TT_UNPACK1_BUSY_THREAD0, 0, 0, true},
    {"Unpacker Write Efficiency", SPECIAL, 0, 0, 0, 0, true},
    {"Packer Efficiency", SPECIAL, 0, 0, 0, 0, true},
    {"FPU Execution Efficiency", RATIO, TT_FPU_COUNTER, TT_FPU_INSTRN_AVAILABLE_1, 0, 0, true},
    {"Math Pipeline Utilization", SPECIAL, 0, 0, 0, 0, true},
    {"Math-to-Pack Handoff Efficiency", SPECIAL, 0, 0, 0, 0, true},
    {"Unpacker-to-Math Data Flow", SPECIAL, 0, 0, 0, 0, true},
    {"Thread 0 Stall Rate", UTIL, TT_THREAD_STALLS_0, 0, 0, 0, false},
    {"Thread 1 Stall Rate", UTIL, TT_THREAD_STALLS_1, 0, 0, 0, false},
    {"Thread 2 Stall Rate", UTIL, TT_THREAD_STALLS_2, 0, 0, 0, false},
    {"SrcA Valid Wait", UTIL, TT_WAITING_FOR_SRCA_VALID, 0, 0, 0, false},
    {"SrcB Valid Wait", UTIL, TT_WAITING_FOR_SRCB_VALID, 0, 0, 0, false},
    {"SrcA Clear Wait", UTIL, TT_WAITING_FOR_SRCA_CLEAR, 0, 0, 0, false},
    {"SrcB Clear Wait", UTIL, TT_WAITING_FOR_SRCB_CLEAR, 0, 0, 0, false},
    {"Math Idle Wait T1", UTIL, TT_WAITING_FOR_MATH_IDLE_1, 0, 0, 0, false},
    {"Pack Idle Wait T2", UTIL, TT_WAITING_FOR_PACK_IDLE_2, 0, 0, 0, false},
    {"Unpack Idle Wait T0", UTIL, TT_WAITING_FOR_UNPACK_IDLE_0, 0, 0, 0, false},
    {"Semaphore Zero Wait T0", UTIL, TT_WAITING_FOR_NONZERO_SEM_0, 0, 0, 0, false},
    {"Semaphore Zero Wait T1", UTIL, TT_WAITING_FOR_NONZERO_SEM_1, 0, 0, 0, false},
    {"Semaphore Zero Wait T2", UTIL, TT_WAITING_FOR_NONZERO_SEM_2, 0, 0, 0, false},
    {"Semaphore Full Wait T0", UTIL, TT_WAITING_FOR_NONFULL_SEM_0, 0, 0, 0, false},
    {"Semaphore Full Wait T1", UTIL, TT_WAITING_FOR_NONFULL_SEM_1, 0, 0, 0, false},
    {"Semaphore Full Wait T2", UTIL, TT_WAITING_FOR_NONFULL_SEM_2, 0, 0, 0, false},
    {"Data Hazard Stall Rate", UTIL, TT_DATA_HAZARD_STALLS_MOVD2A, 0, 0, 0, false},
    {"L1 Unpacker Port Util", UTIL, TT_L1_0_UNPACKER_0, 0, 0, 0, false},
    {"L1 TDMA Bundle Util", MEAN2, TT_L1_0_TDMA_BUNDLE_0_RISC, TT_L1_0_TDMA_BUNDLE_1_TRISC, 0, 0, false},
    {"NOC Ring 0 Outgoing Util", MEAN2, TT_L1_0_NOC_RING0_OUTGOING_0, TT_L1_0_NOC_RING0_OUTGOING_1, 0, 0, false},
    {"NOC Ring 0 Incoming Util", MEAN2, TT_L1_0_NOC_RING0_INCOMING_0, TT_L1_0_NOC_RING0_INCOMING_1, 0, 0, false},
    {"NOC Ring 1 Outgoing Util", MEAN2, TT_L1_1_NOC_RING1_OUTGOING_0, TT_L1_1_NOC_RING1_OUTGOING_1, 0, 0, false},
    {"NOC Ring 1 Incoming Util", MEAN2, TT_L1_1_NOC_RING1_INCOMING_0, TT_L1_1_NOC_RING1_INCOMING_1, 0, 0, false},
    {"L1 Packer Port Util", SPECIAL, 0, 0, 0, 0, false},
    {"NOC Ring 0 Outgoing Backpressure", PRESSURE, TT_L1_0_NOC_RING0_OUTGOING_0, TT_L1_0_NOC_RING0_OUTGOING_1, TT_L1_0_NOC_RING0_OUTGOING_0_GRANT, TT_L1_0_NOC_RING0_OUTGOING_1_GRANT, false},
    {"NOC Ring 0 Incoming Backpressure", PRESSURE, TT_L1_0_NOC_RING0_INCOMING_0, TT_L1_0_NOC_RING0_INCOMING_1, TT_L1_0_NOC_RING0_INCOMING_0_GRANT, TT_L1_0_NOC_RING0_INCOMING_1_GRANT, false},
    {"NOC Ring 1 Outgoing Backpressure", PRESSURE, TT_L1_1_NOC_RING1_OUTGOING_0, TT_L1_1_NOC_RING1_OUTGOING_1, TT_L1_1_NOC_RING1_OUTGOING_0_GRANT, TT_L1_1_NOC_RING1_OUTGOING_1_GRANT, false},
    {"NOC Ring 1 Incoming Backpressure", PRESSURE, TT_L1_1_NOC_RING1_INCOMING_0, TT_L1_1_NOC_RING1_INCOMING_1, TT_L1_1_NOC_RING1_INCOMING_0_GRANT, TT_L1_1_NOC_RING1_INCOMING_1_GRANT, false},
    {"L1 Unpacker Backpressure", LACK, TT_L1_0_UNPACKER_0_GRANT, TT_L1_0_UNPACKER_0, 0, 0, false},
    {"L1 Packer Port Backpressure", SPECIAL, 0, 0, 0, 0, false},
    {"HiFi2 Instrn Rate", RATIO, TT_INSTRN_2_HF_CYCLES, TT_MATH_INSTRN_STARTED, 0, 0, false},
    {"LoFi Instrn Rate", RATIO, TT_INSTRN_1_HF_CYCLE, TT_MATH_INSTRN_STARTED, 0, 0, false},
    {"Math Src Data Ready Rate", RATIO, TT_MATH_INSTRN_NOT_BLOCKED_SRC, TT_MATH_INSTRN_AVAILABLE, 0, 0, false},
    {"SrcA Write Port Blocked Rate", LACK_ANY, TT_SRCA_WRITE_NOT_BLOCKED_OVR, TT_SRCA_WRITE_AVAILABLE, 0, 0, false},
    {"Dest Read Backpressure", SPECIAL, 0, 0, 0, 0, false},
    {"Math Dest Write Port Stall Rate", LACK_ANY, TT_MATH_NOT_STALLED_DEST_WR_PORT, TT_MATH_INSTRN_AVAILABLE, 0, 0, false},
    {"Math Scoreboard Stall Rate", LACK_ANY, TT_AVAILABLE_MATH, TT_MATH_INSTRN_AVAILABLE, 0, 0, false},
    {"Unpack Instrn Issue Rate T0", RATE, TT_UNPACK_INSTRN_ISSUED_0, 0, 0, 0, false},
    {"Math Instrn Issue Rate T1", RATE, TT_FPU_INSTRN_ISSUED_1, 0, 0, 0, false},
    {"Pack Instrn Issue Rate T2", RATE, TT_PACK_INSTRN_ISSUED_2, 0, 0, 0, false},
    {"CFG Instrn Avail Rate T0", UTIL, TT_CFG_INSTRN_AVAILABLE_0, 0, 0, 0, false},
    {"SYNC Instrn Avail Rate T0", UTIL, TT_SYNC_INSTRN_AVAILABLE_0, 0, 0, 0, false},
    {"THCON Instrn Avail Rate T0", UTIL, TT_THCON_INSTRN_AVAILABLE_0, 0, 0, 0, false},
    {"MOVE Instrn Avail Rate T0", UTIL, TT_MOVE_INSTRN_AVAILABLE_0, 0, 0, 0, false},
    {"MATH Instrn Avail Rate T1", UTIL, TT_FPU_INSTRN_AVAILABLE_1, 0, 0, 0, false},
    {"UNPACK Instrn Avail Rate T0", UTIL, TT_UNPACK_INSTRN_AVAILABLE_0, 0, 0, 0, false},
    {"PACK Instrn Avail Rate T2", UTIL, TT_PACK_INSTRN_AVAILABLE_2, 0, 0, 0, false},
    {"SrcB Write Port Blocked Rate", LACK, TT_SRCB_WRITE_NOT_BLOCKED_PORT, TT_SRCB_WRITE_AVAILABLE, 0, 0, false},
    {"SrcA Write Actual Efficiency", RATIO, TT_SRCA_WRITE_ACTUAL, TT_SRCA_WRITE_AVAILABLE, 0, 0, false},
    {"SrcB Write Actual Efficiency", RATIO, TT_SRCB_WRITE_ACTUAL, TT_SRCB_WRITE_AVAILABLE, 0, 0, false},
    {"HiFi4 Instrn Rate", SPECIAL, 0, 0, 0, 0, false},
    {"Fidelity Phase Overhead", UTIL, TT_FIDELITY_PHASE_STALLS, 0, 0, 0, false},
    {"Packer Engine 0 Util", UTIL, TT_PACKER_BUSY_0, 0, 0, 0, false},
    {"Packer Engine 1 Util", UTIL, TT_PACKER_BUSY_1, 0, 0, 0, false},
    {"Packer Engine 2 Util", UTIL, TT_PACKER_BUSY_2, 0, 0, 0, false},
    {"MMIO Idle Wait T0", UTIL, TT_WAITING_FOR_MMIO_IDLE_0, 0, 0, 0, false},
    {"SFPU Idle Wait T1", UTIL, TT_WAITING_FOR_SFPU_IDLE_1, 0, 0, 0, false},
    {"THCON Idle Wait T0", UTIL, TT_WAITING_FOR_THCON_IDLE_0, 0, 0, 0, false},
    {"MOVE Idle Wait T0", UTIL, TT_WAITING_FOR_MOVE_IDLE_0, 0, 0, 0, false},
    {"RISC Core L1 Util", UTIL, TT_L1_1_RISC_CORE, 0, 0, 0, false},
    {"L1 Total Bandwidth Util", SPECIAL, 0, 0, 0, 0, false},
    {"L1 Read vs Write Ratio", SPECIAL, 0, 0, 0, 0, false},
    {"NOC Ring 0 Asymmetry", SPECIAL, 0, 0, 0, 0, false},
    {"L1 Contention Index", SPECIAL, 0, 0, 0, 0, false},
    {"Unpacker L1 Efficiency", RATIO, TT_L1_0_UNPACKER_0_GRANT, TT_UNPACK0_BUSY_THREAD0, 0, 0, false},
    {"Packer L1 Efficiency", RATIO, TT_L1_0_PORT1_GRANT, TT_PACKER_BUSY, 0, 0, false},
    {"NOC vs Compute Balance", SPECIAL, 0, 0, 0, 0, false},
    {"TDMA vs NOC L1 Share", SPECIAL, 0, 0, 0, 0, false},
    {"SrcA Write Overwrite Blocked Rate", LACK, 0, TT_SRCA_WRITE_AVAILABLE, 0, 0, false},
    {"SrcB Write Overwrite Blocked Rate", LACK, 0, TT_SRCB_WRITE_AVAILABLE, 0, 0, false},
};
/* clang-format on */

void tt_metric_header(size_t m, size_t stat, dl_str *out)
{
    static const char *const stats[] = {"Min", "Median", "Max", "Avg"};
    static const char *const grid[] = {"Avg SFPU util on full grid (%)", "Avg FPU util on full grid (%)",
                                       "Avg Math util on full grid (%)"};
    if (m < 3 && stat == 3)
        dl_str_add(out, grid[m]);
    else
        dl_str_fmt(out, "%s %s%s", metrics[m].name, stats[stat], metrics[m].how == RATE ? "" : " (%)");
}

static bool is(size_t m, const char *name)
{
    return strcmp(metrics[m].name, name) == 0;
}

/* A figure as the names of counters ask for it: what those of September 2026 changed is told by counters that only they
 * have. */
static metric metric_of(const tt_counted_device *d, size_t m)
{
    metric k = metrics[m];
    bool newer = d->seen[TT_SRCA_WRITE_NOT_BLOCKED_PORT] || d->seen[TT_SRCB_WRITE_NOT_BLOCKED_OVR];
    if (!newer) return k;
    if (is(m, "SrcA Write Port Blocked Rate") || is(m, "SrcA Write Actual Efficiency"))
        k.a = TT_SRCA_WRITE_NOT_BLOCKED_PORT;
    else if (is(m, "SrcB Write Actual Efficiency"))
        k.a = TT_SRCB_WRITE_NOT_BLOCKED_PORT;
    else if (is(m, "SrcA Write Overwrite Blocked Rate"))
        k.a = TT_SRCA_WRITE_NOT_BLOCKED_OVR;
    else if (is(m, "SrcB Write Overwrite Blocked Rate"))
        k.a = TT_SRCB_WRITE_NOT_BLOCKED_OVR;
    return k;
}

static unsigned packer_port(const tt_counted_device *d)
{
    return d->seen[TT_L1_0_UNIFIED_PACKER] ? TT_L1_0_UNIFIED_PACKER : TT_L1_0_UNPACKER_1_ECC_PACK1;
}

static unsigned dest_grant(const tt_counted_device *d)
{
    return d->seen[TT_DEST_READ_GRANTED_1] ? TT_DEST_READ_GRANTED_1 : TT_DEST_READ_GRANTED_0;
}

bool tt_metric_exists(const tt_counted_device *d, size_t m)
{
    const metric here = metric_of(d, m), *k = &here;
    const bool *s = d->seen;
    if (k->always) return true;
    switch (k->how) {
    case UTIL:
    case RATE: return s[k->a];
    case PRESSURE: return s[k->a] && s[k->c];
    case MEAN2:
    case RATIO:
    case LACK_ANY:
        /* Dead on Blackhole: a counter that never counted says nothing. */
        if (k->a == TT_MATH_NOT_STALLED_DEST_WR_PORT && !d->sums[k->a]) return false;
        /* On Wormhole this counts something else. */
        if (k->a == TT_MATH_INSTRN_NOT_BLOCKED_SRC && d->wormhole) return false;
        return s[k->a] && s[k->b];
    case LACK:
        if (k->a == TT_L1_0_UNPACKER_0_GRANT && !(d->l1_grant_ratio > 0.1)) return false;
        return s[k->a] && s[k->b];
    case SPECIAL: break;
    }
    if (is(m, "L1 Packer Port Util")) return s[TT_L1_0_UNIFIED_PACKER] || s[TT_L1_0_UNPACKER_1_ECC_PACK1];
    if (is(m, "L1 Packer Port Backpressure"))
        return s[TT_L1_0_PORT1_GRANT] && (s[TT_L1_0_UNIFIED_PACKER] || s[TT_L1_0_UNPACKER_1_ECC_PACK1]);
    if (is(m, "Dest Read Backpressure")) return s[TT_PACKER_DEST_READ_AVAILABLE] && s[dest_grant(d)];
    if (is(m, "HiFi4 Instrn Rate"))
        return s[TT_MATH_INSTRN_STARTED] && s[TT_INSTRN_2_HF_CYCLES] && s[TT_INSTRN_1_HF_CYCLE];
    if (is(m, "L1 Contention Index"))
        return s[TT_L1_0_UNPACKER_0_GRANT] && s[TT_L1_0_NOC_RING0_OUTGOING_0_GRANT];
    if (is(m, "NOC vs Compute Balance")) return s[TT_FPU_COUNTER] && s[TT_L1_0_NOC_RING0_OUTGOING_0];
    return s[TT_L1_0_UNPACKER_0] && s[TT_L1_0_NOC_RING0_OUTGOING_0];
}

/* 100 * a / b; NaN where that is no number. */
static double percent(double a, double b)
{
    double value = a / b * 100;
    return isinf(value) ? NAN : value;
}

/* The same, at least 0; so what is below 0 without end is 0, too. */
static double percent_from_0(double a, double b)
{
    double value = a / b * 100;
    return value < 0 ? 0 : isinf(value) ? NAN : value;
}

static double lack(const core *c, unsigned part, unsigned whole)
{
    return percent(c->value[whole] - c->value[part], c->value[whole]);
}

static double lack_from_0(const core *c, unsigned part, unsigned whole)
{
    return percent_from_0(c->value[whole] - c->value[part], c->value[whole]);
}

/* Mean of what is there. */
static double mean2(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : (a + b) / 2;
}

static double contention(const core *c, const tt_counted_device *d)
{
    static const unsigned pairs[][2] = {{TT_L1_0_UNPACKER_0, TT_L1_0_UNPACKER_0_GRANT},
                                        {TT_L1_0_NOC_RING0_OUTGOING_0, TT_L1_0_NOC_RING0_OUTGOING_0_GRANT},
                                        {TT_L1_0_NOC_RING0_OUTGOING_1, TT_L1_0_NOC_RING0_OUTGOING_1_GRANT},
                                        {TT_L1_0_NOC_RING0_INCOMING_0, TT_L1_0_NOC_RING0_INCOMING_0_GRANT},
                                        {TT_L1_0_NOC_RING0_INCOMING_1, TT_L1_0_NOC_RING0_INCOMING_1_GRANT}};
    double sum = 0;
    int n = 0;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (!d->seen[pairs[i][0]] || !d->seen[pairs[i][1]]) continue;
        sum += lack_from_0(c, pairs[i][1], pairs[i][0]);
        n++;
    }
    return n ? sum / n : NAN;
}

static double bandwidth(const core *c, const tt_counted_device *d)
{
    const unsigned ports[] = {TT_L1_0_UNPACKER_0,           packer_port(d),
                              TT_L1_0_TDMA_BUNDLE_0_RISC,   TT_L1_0_TDMA_BUNDLE_1_TRISC,
                              TT_L1_0_NOC_RING0_OUTGOING_0, TT_L1_0_NOC_RING0_OUTGOING_1,
                              TT_L1_0_NOC_RING0_INCOMING_0, TT_L1_0_NOC_RING0_INCOMING_1};
    double sum = 0;
    for (size_t i = 0; i < sizeof ports / sizeof ports[0]; i++)
        if (d->seen[ports[i]]) sum += c->value[ports[i]];
    return percent(sum, 8 * c->ref[TT_L1_0_UNPACKER_0]);
}

static double special(const core *c, const tt_counted_device *d, size_t m)
{
    const double *v = c->value;
    double out = v[TT_L1_0_NOC_RING0_OUTGOING_0] + v[TT_L1_0_NOC_RING0_OUTGOING_1];
    double in = v[TT_L1_0_NOC_RING0_INCOMING_0] + v[TT_L1_0_NOC_RING0_INCOMING_1];
    bool busy = d->sums[TT_PACKER_BUSY] > 0;
    if (is(m, "Unpacker Write Efficiency"))
        return mean2(percent(v[TT_SRCA_WRITE], v[TT_UNPACK0_BUSY_THREAD0]),
                     percent(v[TT_SRCB_WRITE], v[TT_UNPACK1_BUSY_THREAD0]));
    if (is(m, "Packer Efficiency"))
        return busy ? percent(v[TT_PACKER_DEST_READ_AVAILABLE], v[TT_PACKER_BUSY])
                    : percent(v[TT_DEST_READ_GRANTED_1], v[TT_PACKER_DEST_READ_AVAILABLE]);
    if (is(m, "Math Pipeline Utilization"))
        return d->sums[TT_MATH_INSTRN_STARTED] > 0
                   ? percent(v[TT_MATH_INSTRN_STARTED], v[TT_MATH_INSTRN_AVAILABLE])
                   : percent(v[TT_FIDELITY_PHASE_STALLS], c->ref[TT_FIDELITY_PHASE_STALLS]);
    if (is(m, "Math-to-Pack Handoff Efficiency"))
        return percent(v[TT_AVAILABLE_MATH], busy ? v[TT_PACKER_BUSY] : c->ref[TT_AVAILABLE_MATH]);
    if (is(m, "Unpacker-to-Math Data Flow"))
        return percent((v[TT_SRCA_WRITE_AVAILABLE] + v[TT_SRCB_WRITE_AVAILABLE]) / 2,
                       (v[TT_UNPACK0_BUSY_THREAD0] + v[TT_UNPACK1_BUSY_THREAD0]) / 2);
    if (is(m, "L1 Packer Port Util")) return percent(v[packer_port(d)], c->ref[packer_port(d)]);
    if (is(m, "L1 Packer Port Backpressure")) return lack_from_0(c, TT_L1_0_PORT1_GRANT, packer_port(d));
    if (is(m, "Dest Read Backpressure")) return lack(c, dest_grant(d), TT_PACKER_DEST_READ_AVAILABLE);
    if (is(m, "HiFi4 Instrn Rate")) {
        double four = d->sums[TT_MATH_INSTRN_NOT_BLOCKED_SRC] > 0
                          ? v[TT_MATH_INSTRN_NOT_BLOCKED_SRC]
                          : v[TT_MATH_INSTRN_STARTED] - v[TT_INSTRN_2_HF_CYCLES] - v[TT_INSTRN_1_HF_CYCLE];
        return percent_from_0(four, v[TT_MATH_INSTRN_STARTED]);
    }
    if (is(m, "L1 Total Bandwidth Util")) return bandwidth(c, d);
    if (is(m, "L1 Read vs Write Ratio")) {
        double reads = v[TT_L1_0_UNPACKER_0] + out;
        return percent(reads, reads + v[packer_port(d)] + in);
    }
    if (is(m, "NOC Ring 0 Asymmetry")) return percent(out, out + in);
    if (is(m, "L1 Contention Index")) return contention(c, d);
    if (is(m, "NOC vs Compute Balance")) return percent(out + in, v[TT_FPU_COUNTER] + out + in);
    double tdma = v[TT_L1_0_TDMA_BUNDLE_0_RISC] + v[TT_L1_0_TDMA_BUNDLE_1_TRISC];
    return percent(tdma, tdma + out + in);
}

static double figure(const core *c, const tt_counted_device *d, size_t m)
{
    const metric here = metric_of(d, m), *k = &here;
    const double *v = c->value;
    switch (k->how) {
    case UTIL: return percent(v[k->a], c->ref[k->a]);
    case RATE: {
        double value = v[k->a] / c->ref[k->a];
        return isinf(value) ? NAN : value;
    }
    case MEAN2: return percent((v[k->a] + v[k->b]) / 2, c->ref[k->a]);
    case RATIO: return percent(v[k->a], v[k->b]);
    case LACK: return lack_from_0(c, k->a, k->b);
    case LACK_ANY: return lack(c, k->a, k->b);
    case PRESSURE: return percent_from_0((v[k->a] - v[k->c]) + (v[k->b] - v[k->d]), v[k->a] + v[k->b]);
    case SPECIAL: return special(c, d, m);
    }
    return NAN;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void statistics(double *values, size_t n, double out[TT_METRIC_STATS])
{
    for (int i = 0; i < TT_METRIC_STATS; i++)
        out[i] = NAN;
    if (!n) return;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    if (n) qsort(values, n, sizeof *values, by_value);
    out[0] = values[0];
    out[1] = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
    out[2] = values[n - 1];
    out[3] = sum / (double)n;
}

static core *core_of(core **cores, uint32_t **places, size_t *n, size_t *last, uint32_t place)
{
    if (*n && (*places)[*last] == place) return &(*cores)[*last];
    for (size_t i = 0; i < *n; i++)
        if ((*places)[i] == place) {
            *last = i;
            return &(*cores)[i];
        }
    if (*n % 64 == 0) {
        core *grown = realloc(*cores, (*n + 64) * sizeof *grown);
        if (grown) *cores = grown;
        uint32_t *more = realloc(*places, (*n + 64) * sizeof *more);
        if (more) *places = more;
        if (!grown || !more) return NULL;
    }
    core *c = &(*cores)[*n];
    for (int i = 0; i < TT_COUNTERS_END; i++)
        c->value[i] = c->ref[i] = NAN;
    (*places)[*n] = place;
    *last = (*n)++;
    return c;
}

bool tt_metrics_of(const tt_counters *c, const tt_counted *program, const tt_counted_device *d, uint64_t from,
                   uint64_t to, tt_metric_values *out)
{
    core *cores = NULL;
    uint32_t *places = NULL;
    size_t n = 0, last = 0;
    bool ok = true;
    tt_counter_walk w = tt_counters_walk(c, program);
    for (const tt_counter *r = tt_counters_next(&w); r && ok; r = tt_counters_next(&w)) {
        if (to && (r->time < from || r->time > to)) continue;
        core *of = core_of(&cores, &places, &n, &last, r->core);
        ok = of != NULL;
        if (!ok || !isnan(of->value[r->kind])) continue; /* records come last first: the last one counts */
        of->value[r->kind] = r->value;
        of->ref[r->kind] = r->ref;
    }
    double *values = malloc((n + 1) * sizeof *values);
    ok = ok && values;
    for (size_t m = 0; m < TT_METRICS && ok; m++) {
        size_t k = 0;
        for (size_t i = 0; i < n; i++) {
            double value = figure(&cores[i], d, m);
            if (!isnan(value)) values[k++] = value;
        }
        statistics(values, k, out->stats[m]);
        if (m >= 3) continue;
        double sum = NAN;
        for (size_t i = 0; i < n; i++) {
            double value = cores[i].value[metrics[m].a];
            if (!isnan(value)) sum = isnan(sum) ? value : sum + value;
        }
        out->stats[m][3] = sum;
    }
    free(values);
    free(cores);
    free(places);
    return ok;
}
