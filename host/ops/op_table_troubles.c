/* What of an op report could not be used, as lines for a person. See op_table.h. */
#include "ops/op_table.h"

static void rows(const op_table *t, const char *before, uint64_t n, const char *what, dl_str *out)
{
    if (n)
        dl_str_fmt(out, "%s%s: %llu rows have %s cells than the header\n", before, t->name,
                   (unsigned long long)n, what);
}

bool op_table_troubles(const op_table *t, const char *before, dl_str *out)
{
    if (t->bad_cells)
        dl_str_fmt(out, "%s%s: %llu cells that should be numbers are none and count as missing\n", before,
                   t->name, (unsigned long long)t->bad_cells);
    for (int i = 0; i < OP_TABLE_DETAILS && t->details[i]; i++)
        dl_str_fmt(out, "  %s\n", t->details[i]);
    rows(t, before, t->short_rows, "fewer", out);
    rows(t, before, t->long_rows, "more", out);
    if (t->cut)
        dl_str_fmt(out, "%s%s: the last row is cut off; the number that it ends with is not used\n", before,
                   t->name);
    return t->bad_cells || t->short_rows || t->long_rows || t->cut;
}
