/* The statistics of a summary as text, the same digits in every machine-readable report. */
#ifndef DEVLOG_REPORT_SUMMARY_TEXT_H
#define DEVLOG_REPORT_SUMMARY_TEXT_H

#include "base/str.h"
#include "decode/samples.h"

/* In the order in which they are written: "count", "average", ... */
enum { DL_SUMMARY_FIELDS = 12, DL_SUMMARY_AVERAGE = 1, DL_SUMMARY_SUM = 6, DL_SUMMARY_FIRST = 7 };
extern const char *const dl_summary_names[DL_SUMMARY_FIELDS];
/* Field i: a decimal number, exact but for an average, which is the text of dl_summary_average's double (sum and
 * count are beside it); a median between two values has one decimal. */
void dl_summary_field(dl_str *out, const dl_summary *s, int i);
/* All of them, or all but "first", as the members of a JSON object. */
void dl_summary_json(dl_str *out, const dl_summary *s, bool first);
/* The digits of a sum. */
void dl_sum_text(dl_str *out, dl_u128 value);

#endif
