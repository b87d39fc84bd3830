/* The statistics of a summary as text. */
#include "report/summary_text.h"

#include "base/real.h"

const char *const dl_summary_names[DL_SUMMARY_FIELDS] = {"count", "average", "min", "max", "range", "median",
                                                         "sum",   "first",   "p50", "p90", "p95",   "p99"};

void dl_sum_text(dl_str *out, dl_u128 value)
{
    const uint64_t chunk = UINT64_C(1000000000000000000);
    if (value < chunk) {
        dl_str_u64(out, (uint64_t)value);
        return;
    }
    dl_sum_text(out, value / chunk);
    dl_str_fmt(out, "%018llu", (unsigned long long)(value % chunk));
}

static void median(dl_str *out, const dl_summary *s)
{
    uint64_t between = s->median_high - s->median_low;
    dl_str_u64(out, s->median_low + between / 2);
    dl_str_add_n(out, between & 1 ? ".5" : ".0", 2);
}

void dl_summary_field(dl_str *out, const dl_summary *s, int i)
{
    const uint64_t plain[DL_SUMMARY_FIELDS] = {s->count, 0,        s->min, s->max, s->max - s->min, 0,
                                               0,        s->first, s->p50, s->p90, s->p95,          s->p99};
    if (i == 1)
        dl_str_real(out, dl_summary_average(s));
    else if (i == 5)
        median(out, s);
    else if (i == 6)
        dl_sum_text(out, s->sum);
    else
        dl_str_u64(out, plain[i]);
}

static void member(dl_str *out, const char *key, size_t n, uint64_t value)
{
    if (!dl_str_reserve(out, n + DL_U64_DIGITS)) return;
    memcpy(out->text + out->len, key, n);
    out->len = (size_t)(dl_digits(out->text + out->len + n, value) - out->text);
    out->text[out->len] = '\0';
}

#define MEMBER(key, value) member(out, ", \"" key "\": ", sizeof ", \"" key "\": " - 1, value)

void dl_summary_json(dl_str *out, const dl_summary *s, bool first)
{
    dl_str_add(out, "\"count\": ");
    dl_str_u64(out, s->count);
    dl_str_add(out, ", \"average\": ");
    dl_str_real(out, dl_summary_average(s));
    MEMBER("min", s->min);
    MEMBER("max", s->max);
    MEMBER("range", s->max - s->min);
    dl_str_add(out, ", \"median\": ");
    median(out, s);
    dl_str_add(out, ", \"sum\": ");
    dl_sum_text(out, s->sum);
    if (first) MEMBER("first", s->first);
    MEMBER("p50", s->p50);
    MEMBER("p90", s->p90);
    MEMBER("p95", s->p95);
    MEMBER("p99", s->p99);
}
