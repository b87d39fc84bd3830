/* The statistics of a summary as text. */
#include "report/summary_text.h"

const char *const dl_summary_names[DL_SUMMARY_FIELDS] = {"count", "average", "min", "max", "range", "median",
                                                         "sum",   "first",   "p50", "p90", "p95",   "p99"};

static void big(dl_str *out, dl_u128 value)
{
    const uint64_t chunk = UINT64_C(1000000000000000000);
    if (value < chunk) {
        dl_str_u64(out, (uint64_t)value);
        return;
    }
    big(out, value / chunk);
    dl_str_fmt(out, "%018llu", (unsigned long long)(value % chunk));
}

/* The quotient with three decimals, rounded to nearest: computed in integers, so that it is the same
 * everywhere. */
static void average(dl_str *out, const dl_summary *s)
{
    dl_u128 whole = s->count ? s->sum / s->count : 0;
    uint64_t rest = s->count ? (uint64_t)(s->sum % s->count) : 0;
    uint64_t thousandths = s->count ? (uint64_t)(((dl_u128)rest * 1000 + s->count / 2) / s->count) : 0;
    if (thousandths == 1000) {
        whole++;
        thousandths = 0;
    }
    big(out, whole);
    dl_str_fmt(out, ".%03llu", (unsigned long long)thousandths);
}

static void median(dl_str *out, const dl_summary *s)
{
    uint64_t between = s->median_high - s->median_low;
    dl_str_u64(out, s->median_low + between / 2);
    dl_str_add(out, between & 1 ? ".5" : ".0");
}

void dl_summary_field(dl_str *out, const dl_summary *s, int i)
{
    const uint64_t plain[DL_SUMMARY_FIELDS] = {s->count, 0,        s->min, s->max, s->max - s->min, 0,
                                               0,        s->first, s->p50, s->p90, s->p95,          s->p99};
    if (i == 1)
        average(out, s);
    else if (i == 5)
        median(out, s);
    else if (i == 6)
        big(out, s->sum);
    else
        dl_str_u64(out, plain[i]);
}
