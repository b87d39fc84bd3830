/* What compiler and linker say, in words for a person. Not for running them (compile.c), and not for what
 * markers are called (compile_sites.c). */
#include "program/compile_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of an error that the compiler's own message may take. */
enum { MESSAGE_MAX = 1500 };

/* N of "region `NAME...' overflowed by N bytes"; 0: there is no such line. */
static uint32_t overflow_of(const char *said, const char *name)
{
    for (const char *at = said; (at = strstr(at, name)); at++) {
        const char *by = at + strcspn(at, "\n'");
        unsigned bytes;
        if (sscanf(by, "' overflowed by %u byte", &bytes) == 1) return bytes;
    }
    return 0;
}

link_full compile_what_is_full(const char *said)
{
    return (link_full){
        .code = overflow_of(said, "`kernel_slot_of_"),
        .variables = overflow_of(said, "`kernel_variables_of_"),
        .ids = strstr(said, "in one kernel: compile it with -DDEVLOG_WIDE_IDS") != NULL,
    };
}

static const char *source_of(const compile_job *job)
{
    return job->source ? job->source : "firmware";
}

static devlog_status code_is_full(const compile_job *job, board_region code, uint32_t over, devlog_error *err)
{
    const board_risc *r = &job->board->riscs[job->risc];
    char has[DL_GROUPED_SIZE], takes[DL_GROUPED_SIZE], too_much[DL_GROUPED_SIZE], more[200] = "";
    dl_u64_grouped(has, code.size);
    dl_u64_grouped(takes, (uint64_t)code.size + over);
    dl_u64_grouped(too_much, over);
    if (code.size > r->kernel.size)
        snprintf(more, sizeof more, ", with the slots beside it that no kernel of the program uses,");
    return dl_fail(
        err, DEVLOG_ERR_COMPILE,
        "%s for %s does not fit: its code and constants take %s bytes, its slot%s has %s (%s too "
        "many). A zone takes 96 bytes of code, a complete zone 56, with -DDEVLOG_STAMP32 80 and 48: "
        "take out markers, compile with -Os, split the kernel, or give it a larger slot in the board "
        "file (docs/markers.md, 'How many fit')",
        job->source, r->name, takes, more, has, too_much);
}

static devlog_status variables_are_full(const compile_job *job, uint32_t over, devlog_error *err)
{
    const board_risc *r = &job->board->riscs[job->risc];
    char too_much[DL_GROUPED_SIZE], has[DL_GROUPED_SIZE];
    return dl_fail(
        err, DEVLOG_ERR_COMPILE,
        "%s for %s does not fit: its variables take %s bytes more than there is room for in the %s "
        "bytes of local data RAM, which hold the stack too. A sum takes 24 bytes: take out sums, or put "
        "large variables into L1 (DEVLOG_USER_BASE)",
        job->source, r->name, dl_u64_grouped(too_much, over), dl_u64_grouped(has, r->local.size));
}

/* The first line with an error, where the message is too long to be shown as a whole: what comes before it
 * are warnings and the includes that led there. */
static const char *first_error(const char *said)
{
    static const char *const signs[] = {"error:", "undefined reference", "Error:", NULL};
    const char *first = NULL;
    for (size_t i = 0; signs[i]; i++) {
        const char *at = strstr(said, signs[i]);
        if (at && (!first || at < first)) first = at;
    }
    if (!first) return said;
    while (first > said && first[-1] != '\n')
        first--;
    return first;
}

static devlog_status not_compiled(const compile_job *job, const char *said, devlog_error *err)
{
    size_t length = strlen(said);
    const char *from = length > MESSAGE_MAX ? first_error(said) : said;
    size_t shown = strlen(from);
    if (shown > MESSAGE_MAX) { /* whole lines, if there are any */
        shown = MESSAGE_MAX;
        while (shown > 0 && from[shown - 1] != '\n')
            shown--;
        if (shown == 0) shown = MESSAGE_MAX;
    }
    while (shown > 0 && from[shown - 1] == '\n')
        shown--;
    return dl_fail(err, DEVLOG_ERR_COMPILE, "%s for %s does not compile:\n%.*s%s", source_of(job),
                   job->board->riscs[job->risc].name, (int)shown, from,
                   shown + 2 < length ? "\n(the compiler said more)" : "");
}

/* The words of linker/devlog_sites.ld. */
static devlog_status ids_are_full(const compile_job *job, const char *said, devlog_error *err)
{
    const char *from = strstr(said, "more than ");
    return dl_fail(err, DEVLOG_ERR_COMPILE, "%s for %s has %.*s", job->source,
                   job->board->riscs[job->risc].name, (int)strcspn(from, "\n"), from);
}

devlog_status compile_failed(const compile_job *job, board_region code, const char *said, devlog_error *err)
{
    link_full full = job->source ? compile_what_is_full(said) : (link_full){0};
    if (full.ids) return ids_are_full(job, said, err);
    if (full.code) return code_is_full(job, code, full.code, err);
    if (full.variables) return variables_are_full(job, full.variables, err);
    return not_compiled(job, said, err);
}
