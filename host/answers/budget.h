/* Budgets: how many cycles zones may take (docs/budgets.md). Reading files of them, and judging a run by its capture. Not
 * for running anything (cli/cmd_budget.c), and not for times that chance has a part in (diff.h). */
#ifndef DEVLOG_ANSWERS_BUDGET_H
#define DEVLOG_ANSWERS_BUDGET_H

#include "base/str.h"

typedef enum budget_result {
    BUDGET_KEPT,
    BUDGET_EXCEEDED,
    BUDGET_NEVER_RAN,
    BUDGET_LOST, /* it did not take longer, or never ran, by what is there; but records were lost */
    BUDGET_RESULTS
} budget_result;
extern const char *const budget_result_names[BUDGET_RESULTS]; /* "kept", .. */

typedef struct budget {
    char *zone, *risc; /* risc NULL: any */
    uint64_t cycles;
    uint32_t line; /* of the file that says so; 0: none */
    /* What was found: */
    budget_result result;
    uint64_t count, most;
    uint32_t chip, x, y; /* where it took most, .. */
    char on[32];         /* .. on which RISC .. */
    uint64_t launch;     /* .. and in which launch; UINT64_MAX: none */
} budget;

typedef struct budgets {
    budget *items;
    size_t n;
    bool annotated; /* the capture says where cycles went */
    bool running;   /* the program that made the capture judges itself: that it has not ended is no loss */
} budgets;

/* Reads a file: a line for each, "CYCLES RISC ZONE", with '*' for any RISC; '#' begins a comment. What is wrong is told with
 * file, line and cure. Free *out in any case. */
devlog_status budgets_read(budgets *out, const char *path, devlog_error *err);
devlog_status budgets_add(budgets *b, const char *zone, size_t zone_size, const char *risc, size_t risc_size,
                          uint64_t cycles, uint32_t line, devlog_error *err);
void budgets_free(budgets *b);

/* Fills in what was found in a capture. */
devlog_status budgets_judge(budgets *b, const char *capture, const char *elf_folder, devlog_error *err);
/* The worst of the results: kept only if all are. */
bool budgets_kept(const budgets *b);

/* A line of text about a budget that was not kept, and below it the `top` lines of its kernel that took most, of `width`
 * columns (0: any). */
devlog_status budget_explain(const budget *b, const char *capture, const char *elf_folder, size_t top,
                             unsigned width, dl_str *out, devlog_error *err);

/* width: of the terminal, for which long names are shortened; 0: no limit. */
void budgets_print_text(const budgets *b, unsigned width, dl_str *out);
enum { BUDGET_FORMAT_VERSION = 1 };
/* A table, for the comment of a pull request. */
void budgets_print_markdown(const budgets *b, dl_str *out);
void budgets_print_csv(const budgets *b, dl_str *out);
void budgets_print_json(const budgets *b, dl_str *out);

#endif
