/* Losses: everything that a report must own up to. */
#include "decode/loss.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *key, *text;
} skips[DL_SKIPS] = {
    [DL_SKIP_NONE] = {"none", "none"},
    [DL_SKIP_NOT_A_NUMBER] = {"not_a_number", "a cell that should be a number is none"},
    [DL_SKIP_NEGATIVE] = {"negative", "a negative number"},
    [DL_SKIP_TOO_BIG] = {"too_big", "a number that is too big"},
    [DL_SKIP_TOO_FEW_CELLS] = {"too_few_cells", "fewer cells than the header names"},
    [DL_SKIP_TOO_MANY_CELLS] = {"too_many_cells",
                                "more cells than the header names, and none of them is a type"},
    [DL_SKIP_UNKNOWN_TYPE] = {"unknown_type", "an unknown marker type"},
    [DL_SKIP_NO_RISC] = {"no_risc", "no RISC name"},
    [DL_SKIP_NOT_A_ROW] = {"not_a_row", "neither a row nor a header"},
    [DL_SKIP_NO_HEADER] = {"no_header", "no header says what the cells are"},
    [DL_SKIP_BAD_HEADER] = {"bad_header", "below a header that lacks a column"},
    [DL_SKIP_TOO_LONG] = {"too_long", "a line of more than 64 KiB"},
    [DL_SKIP_NUL] = {"nul_bytes", "NUL bytes in a text"},
    [DL_SKIP_CUT] = {"cut", "the last line is cut off"},
    [DL_SKIP_TABLE_FULL] = {"table_full", "more chips, cores, RISCs or zones than can be kept apart"},
};

static const struct {
    const char *key, *text;
    bool loss;
} findings[DL_FINDINGS] = {
    [DL_FOUND_DROPPED] =
        {"dropped_on_device",
         "markers dropped on the device, which had no room for them: "
         "DEVLOG_RECORDING says which are kept (stream: all, stop: the first, ring: the last); complete "
         "zones take less room, "
         "classes leave markers out",
         true},
    [DL_FOUND_UNKNOWN] = {"unknown_loss", "launches of a RISC of which nobody knows what they lost", true},
    [DL_FOUND_RESTARTED] = {"restarted", "restarts of a RISC's firmware in the middle of a launch", true},
    [DL_FOUND_UNPAIRED_START] = {"unpaired_start", "zones that never ended", true},
    [DL_FOUND_UNPAIRED_END] = {"unpaired_end", "zone ends without a start", true},
    [DL_FOUND_HOST_LOST] = {"host_lost",
                            "records of host zones that found no room in the ring of their thread "
                            "(devlog_host_options.ring), left out",
                            true},
    [DL_FOUND_HOST_MEMORY] = {"host_memory",
                              "frees of host memory that was not allocated or was free already, and blocks "
                              "where others were",
                              true},
    [DL_FOUND_NEGATIVE] = {"negative_zone", "zones that end before they start", true},
    [DL_FOUND_TOO_DEEP] = {"too_deep", "zones nested more than 256 deep, left out", true},
    [DL_FOUND_TABLE_FULL] = {"keys_full", "zones beyond the number that is kept apart", true},
    [DL_FOUND_CORRUPT] = {"corrupt", "damaged parts of the input", true},
    [DL_FOUND_DAMAGED_WORDS] = {"damaged_words", "words that belong to no record", true},
    [DL_FOUND_CUT_CAPTURE] = {"cut_words", "words of records that were cut off", true},
    [DL_FOUND_NEWER] = {"newer_frames", "parts of a capture that only a newer devlog can read", true},
    [DL_FOUND_TORN] = {"torn_stamp", "stamps read while the clock's upper half changed, repaired", false},
    [DL_FOUND_WRAP] = {"clock_wrap", "wraps of the 44-bit clock, continued", false},
    [DL_FOUND_RANKS] = {"ranks", "chips of several ranks taken for one, as they have the same number", false},
    [DL_FOUND_CLOCK_RESTART] = {"clock_restart", "restarts of a RISC's clock (several runs in one log)",
                                false},
    [DL_FOUND_REPEATED] = {"repeated",
                           "repetitions of a RISC's rows, to the cycle (a log given or appended "
                           "twice), counted twice",
                           true},
    [DL_FOUND_OUT_OF_ORDER] = {"out_of_order", "starts and ends of zones out of order, not paired", true},
    [DL_FOUND_OTHER_LAUNCH] = {"other_launch",
                               "zones that began in one launch and ended in another, not paired", true},
    [DL_FOUND_EXTRA_CELLS] = {"extra_cells", "rows with more cells than the header, the rest ignored", false},
    [DL_FOUND_COLUMN_TWICE] = {"column_twice", "columns named twice, the first used", false},
    [DL_FOUND_NO_HEADER] = {"guessed_header", "inputs without a header, columns taken from their first row",
                            false},
    [DL_FOUND_FREQUENCY] = {"two_frequencies", "chips with two clock frequencies, the first used", true},
    [DL_FOUND_NO_LINE_END] = {"no_line_end", "last lines without a line end, whole and kept", false},
    [DL_FOUND_NO_ELF] = {"no_elf",
                         "ELF files that are missing or of another build, their markers shown as numbers",
                         false},
    [DL_FOUND_UNNAMED] = {"unnamed", "records whose marker has no name, shown as numbers", true},
    [DL_FOUND_AMBIGUOUS] = {"ambiguous_stamp", "stamps that may be 2^32 cycles off, kept", true},
    [DL_FOUND_NOT_CLOSED] = {"not_closed", "logs and captures whose run goes on or was killed", true},
    [DL_FOUND_EMPTY] =
        {"empty_input",
         "inputs without a row: did the program end before it wrote its log, or was the disk full?", true},
    [DL_FOUND_CLOCK] = {"clock", "clocks that could not be aligned, or do not do what their board claims",
                        false},
    [DL_FOUND_VIOLATED] = {"violated", "expectations of kernels that were not met", false},
};

void dl_losses_free(dl_losses *l)
{
    for (int kind = 0; kind < DL_SKIPS + DL_FINDINGS; kind++)
        for (int i = 0; i < DL_DETAILS_PER_KIND; i++)
            free(l->details[kind][i]);
    *l = (dl_losses){0};
}

static char **free_detail(char *details[DL_DETAILS_PER_KIND])
{
    for (int i = 0; i < DL_DETAILS_PER_KIND; i++)
        if (!details[i]) return &details[i];
    return NULL;
}

bool dl_losses_wants_skip(const dl_losses *l, dl_skip why)
{
    return !l->details[why][DL_DETAILS_PER_KIND - 1];
}

bool dl_losses_wants(const dl_losses *l, dl_finding what)
{
    return !l->details[DL_SKIPS + what][DL_DETAILS_PER_KIND - 1];
}

uint32_t dl_losses_told(const dl_losses *l, dl_finding what)
{
    uint32_t n = 0;
    while (n < DL_DETAILS_PER_KIND && l->details[DL_SKIPS + what][n])
        n++;
    return n;
}

void dl_losses_skip(dl_losses *l, dl_skip why, const char *where, const char *text, size_t n)
{
    l->skipped[why]++;
    char **detail = free_detail(l->details[why]);
    if (!detail) return;
    dl_str s = {0};
    dl_str_fmt(&s, "%s: %s", where, dl_skip_text(why));
    if (text && n) {
        bool cut = n > 60;
        dl_str_add(&s, ": '");
        for (size_t i = 0; i < n && i < 60; i++)
            dl_str_char(&s, (unsigned char)text[i] < 0x20 || text[i] == 0x7F ? '?' : text[i]);
        dl_str_add(&s, cut ? "...'" : "'");
    }
    *detail = s.text;
}

void dl_losses_found(dl_losses *l, dl_finding what, uint64_t amount, const char *fmt, ...)
{
    l->found[what] += amount;
    char **detail = free_detail(l->details[DL_SKIPS + what]);
    if (!detail || !fmt) return;
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    *detail = strdup(text);
}

void dl_losses_empty(dl_losses *l, const char *name)
{
    l->empty++;
    dl_losses_found(l, DL_FOUND_EMPTY, 1, "%s", name);
}

void dl_losses_alone(dl_losses *l)
{
    if (!l->rows) l->found[DL_FOUND_EMPTY] = l->empty;
}

/* What became of rows that are not there: the first finding that says so, or DL_FINDINGS. */
static int found_instead(const dl_losses *l)
{
    int i = 0;
    while (i < DL_FINDINGS && (i == DL_FOUND_EMPTY || !findings[i].loss || !l->found[i]))
        i++;
    return i;
}

devlog_status dl_losses_no_rows(const dl_losses *l, const char *first, size_t n, devlog_error *err)
{
    const char *more = n > 1 ? " and the others" : "", *detail = NULL;
    const int instead = found_instead(l);
    if (l->rows) return DEVLOG_OK;
    if (l->empty == n && !l->stopped)
        return dl_fail(
            err, DEVLOG_ERR_NOT_FOUND,
            "%s%s: the file is empty; did the program end before it wrote its log, or was the disk full?",
            first, more);
    if (dl_losses_skipped(l) || l->stopped) {
        for (int i = 0; i < DL_SKIPS + DL_FINDINGS && !detail; i++)
            detail = l->details[i][0];
        return dl_fail(err, DEVLOG_ERR_FORMAT, "%s%s: not one row of a device log in %llu lines; %s", first,
                       more, (unsigned long long)l->lines, detail ? detail : "nothing in it is known");
    }
    if (instead < DL_FINDINGS) {
        detail = l->details[DL_SKIPS + instead][0];
        return dl_fail(err, DEVLOG_ERR_FORMAT, "%s%s: no rows; %s (%s)", first, more, findings[instead].text,
                       detail ? detail : first);
    }
    if (l->processes && !l->devices)
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                       "%s%s: no rows; the program recorded no zone of host code, no value and no message "
                       "while DEVLOG_HOST=1 was set or after devlog_host_start() (docs/host.md)",
                       first, more);
    return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                   "%s%s: no rows; was the program run with TT_METAL_DEVICE_PROFILER=1, and compiled with "
                   "-DPROFILE_DEVICE?",
                   first, more);
}

static void merge_seen(dl_filter_seen *to, const dl_filter_seen *from)
{
    to->rows |= from->rows;
    to->zones |= from->zones;
    to->closed |= from->closed;
    if (from->longest > to->longest) to->longest = from->longest;
    if (!from->any) return;
    if (!to->any || from->first < to->first) to->first = from->first;
    if (!to->any || from->last > to->last) to->last = from->last;
    to->any = true;
}

void dl_losses_merge(dl_losses *to, dl_losses *from)
{
    merge_seen(&to->seen, &from->seen);
    to->lines += from->lines;
    to->rows += from->rows;
    to->empty += from->empty;
    to->rows_filtered += from->rows_filtered;
    to->zones_filtered += from->zones_filtered;
    to->stopped |= from->stopped;
    to->devices += from->devices;
    to->processes += from->processes;
    to->end_unknown |= from->end_unknown;
    to->cost_known |= from->cost_known;
    to->instructions |= from->instructions;
    for (size_t i = 0; i < sizeof to->cost_sixteenths / sizeof to->cost_sixteenths[0]; i++)
        if (from->cost_sixteenths[i] > to->cost_sixteenths[i])
            to->cost_sixteenths[i] = from->cost_sixteenths[i];
    to->cost_of_kernels += from->cost_of_kernels;
    to->cost_off_of_kernels += from->cost_off_of_kernels;
    to->kernels_unpriced += from->kernels_unpriced;
    to->kernels_unknown_cost += from->kernels_unknown_cost;
    to->kernels_most_cost += from->kernels_most_cost;
    to->cycles_of_kernels += from->cycles_of_kernels;
    for (int i = 0; i < DL_SKIPS; i++)
        to->skipped[i] += from->skipped[i];
    for (int i = 0; i < DL_FINDINGS; i++)
        to->found[i] += from->found[i];
    for (int kind = 0; kind < DL_SKIPS + DL_FINDINGS; kind++) {
        for (int i = 0; i < DL_DETAILS_PER_KIND && from->details[kind][i]; i++) {
            char **detail = free_detail(to->details[kind]);
            if (!detail) break;
            *detail = from->details[kind][i];
            from->details[kind][i] = NULL;
        }
    }
    dl_losses_free(from);
}

uint64_t dl_losses_skipped(const dl_losses *l)
{
    uint64_t sum = 0;
    for (int i = DL_SKIP_NONE + 1; i < DL_SKIPS; i++)
        sum += l->skipped[i];
    return sum;
}

bool dl_losses_any(const dl_losses *l)
{
    bool any = l->stopped || dl_losses_skipped(l) > 0;
    for (int i = 0; i < DL_FINDINGS; i++)
        any |= findings[i].loss && l->found[i] > 0;
    return any;
}

bool dl_losses_or_violations(const dl_losses *l)
{
    return dl_losses_any(l) || l->found[DL_FOUND_VIOLATED];
}

const char *dl_skip_text(dl_skip why)
{
    return (unsigned)why < DL_SKIPS ? skips[why].text : "?";
}

const char *dl_finding_text(dl_finding what)
{
    return (unsigned)what < DL_FINDINGS ? findings[what].text : "?";
}

const char *dl_skip_key(dl_skip why)
{
    return (unsigned)why < DL_SKIPS ? skips[why].key : "?";
}

const char *dl_finding_key(dl_finding what)
{
    return (unsigned)what < DL_FINDINGS ? findings[what].key : "?";
}

bool dl_finding_is_loss(dl_finding what)
{
    return (unsigned)what < DL_FINDINGS && findings[what].loss;
}
