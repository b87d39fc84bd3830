/* Fuzzing op reports of other tools: any bytes are a table or an error, and a summary counts every row. */
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "ops/op_summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    op_table t;
    op_summary s;
    dl_str out = {0};
    if (op_table_parse(&t, "fuzz", data, size, NULL) == DEVLOG_OK) {
        if (t.n) fuzz_got_inside();
        size_t points = 0;
        for (size_t i = 0; i < t.n; i++)
            points += (t.rows[i].has & OP_IS_POINT) != 0;
        for (int format = 0; format < 3; format++) {
            op_summary_options o = {.list = size % 2, .by_fw = size % 3 == 0};
            o.format = format == 0 ? OP_SUMMARY_TEXT : format == 1 ? OP_SUMMARY_CSV : OP_SUMMARY_JSON;
            if (op_summary_make(&s, &t, &o, NULL) != DEVLOG_OK) abort();
            if (s.all.count + s.left_out + points != t.n) abort();
            op_summary_print(&s, &t, &o, &out);
            dl_str_clear(&out);
            op_summary_free(&s);
        }
    }
    op_table_free(&t);
    dl_str_free(&out);
    return 0;
}
