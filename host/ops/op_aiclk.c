/* AICLK of several chips; see op_aiclk.h. */
#include "ops/op_aiclk.h"

void op_aiclk_add(op_aiclk *a, uint64_t mhz)
{
    if (mhz == 0) return;
    if (a->low == 0 || mhz < a->low) a->low = mhz;
    if (mhz > a->high) a->high = mhz;
}

void op_aiclk_text(const op_aiclk *a, dl_str *out)
{
    if (a->high == 0)
        dl_str_add(out, "unknown");
    else if (a->low == a->high)
        dl_str_fmt(out, "%llu MHz", (unsigned long long)a->low);
    else
        dl_str_fmt(out, "%llu to %llu MHz", (unsigned long long)a->low, (unsigned long long)a->high);
}

void op_aiclk_json(const op_aiclk *a, const char *name, dl_str *out)
{
    if (a->high)
        dl_str_fmt(out, "\"%s\":[%llu,%llu],", name, (unsigned long long)a->low, (unsigned long long)a->high);
}
