/* How far reading a log is. See reading.h. */
#include "cli/reading.h"

#include <stdio.h>

#include "base/str.h"
#include "base/term.h"

void cli_show_reading(void *progress, const char *input, uint64_t taken, uint64_t size, uint64_t rows)
{
    if (!dl_progress_due(progress)) return;
    char text[160], digits[DL_GROUPED_SIZE];
    const int percent = size ? (int)(taken * 100 / size) : 0;
    if (size)
        snprintf(text, sizeof text, "%.80s: %d %%, %s rows", input, percent, dl_u64_grouped(digits, rows));
    else
        snprintf(text, sizeof text, "%.80s: %s rows", input, dl_u64_grouped(digits, rows));
    dl_progress_show(progress, text);
}
