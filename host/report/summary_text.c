/* The statistics of a summary as text. */
#include "report/summary_text.h"

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

/* Exactly n digits, zeros in front. */
static void fixed(dl_str *out, dl_u128 value, int n)
{
    char digits[40];
    for (int i = n; i-- > 0; value /= 10)
        digits[i] = (char)('0' + (int)(value % 10));
    dl_str_add_n(out, digits, (size_t)n);
}

/* The quotient with 17 significant digits, rounded to nearest, and at least one decimal: computed in
 * integers, so that it is the same everywhere. Seventeen digits are as many as a double tells apart. */
static void average(dl_str *out, const dl_summary *s)
{
    const uint64_t n = s->count ? s->count : 1;
    dl_u128 whole = s->count ? s->sum / n : 0, rest = s->count ? s->sum % n : 0;
    int left = 17;
    for (dl_u128 w = whole; w && left > 1; w /= 10)
        left--;
    int k = 0;
    bool significant = whole != 0;
    /* A quotient below 1 has zeros in front that do not count; there are at most 20, for n < 2^64. */
    dl_u128 decimals = 0, unit = 1;
    for (; left > 0 && rest && k < 37; k++) {
        rest *= 10;
        unsigned digit = (unsigned)(rest / n);
        rest %= n;
        significant |= digit != 0;
        decimals = decimals * 10 + digit;
        unit *= 10;
        left -= significant;
    }
    if (rest * 2 >= n && ++decimals == unit) {
        whole++;
        decimals = 0;
    }
    while (k > 1 && decimals % 10 == 0) {
        decimals /= 10;
        k--;
    }
    dl_sum_text(out, whole);
    dl_str_char(out, '.');
    if (k == 0) dl_str_char(out, '0');
    fixed(out, decimals, k);
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
        dl_sum_text(out, s->sum);
    else
        dl_str_u64(out, plain[i]);
}
