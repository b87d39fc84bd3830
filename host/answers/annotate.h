/* Where the cycles of a program's instructions went (docs/budgets.md): what the built-in simulator counted, out of
 * a capture, by instruction and by source line.
 *
 * What it is not: the counting (sim/counted.h), or a look at code that nobody ran. Lines and disassembly come from
 * the compiler's objdump; without it, or without the ELF file, instructions are their addresses. */
#ifndef DEVLOG_ANSWERS_ANNOTATE_H
#define DEVLOG_ANSWERS_ANNOTATE_H

#include "base/intern.h"
#include "base/str.h"
#include "decode/capture/capture.h"

/* What is wanted; zero: everything. */
typedef struct annotate_options {
    const char *risc; /* name; TRISC_0 and TRISC0 are the same */
    bool by_core, by_chip;
    uint32_t x, y, chip;
    const char *function;   /* name of a function */
    uint64_t launch;        /* its number, as logs have it; 0: all */
    bool firmware;          /* the firmware's instructions too */
    const char *elf_folder; /* where to look for ELF files that have moved; or NULL */
} annotate_options;

/* An instruction that ran, or a source line with all that ran of it. */
typedef struct annotate_item {
    sim_cycles sum;
    uint32_t file, function; /* numbers in annotation.texts; 0: unknown, as are the others */
    uint32_t line;
    uint32_t text; /* of an instruction, disassembled */
} annotate_item;

/* One ELF file on the RISCs of one name. */
typedef struct annotate_code {
    char *path, *source, *risc;
    uint8_t build_id[32];
    uint32_t build_id_size;
    bool kernel, resolved;
    uint32_t n_cores, n_launches;
    sim_cycles sum;
    annotate_item *items; /* instructions, by pc */
    size_t n;
    annotate_item *lines; /* by cycles, most first */
    size_t n_lines;
    char why[256]; /* why it has no lines; "": it has */
} annotate_code;

typedef struct annotation {
    annotate_code *codes; /* by cycles, most first */
    size_t n;
    dl_intern *texts; /* files, functions, instructions */
    uint64_t cycles;  /* of all codes */
    bool any;         /* the capture has any such counts, whatever the options leave of them */
    dl_str there;     /* what could be asked for: RISCs, cores and launches, or functions of what is left */
} annotation;

/* Reads a capture; *out is freed by the caller in any case. DEVLOG_ERR_FORMAT when it is none. What was damaged in it
 * is in *state. */
devlog_status annotate_read(annotation *out, const char *capture, const annotate_options *options,
                            dl_capture_state *state, devlog_error *err);
void annotate_free(annotation *a);

/* Where the options leave nothing: what the capture has. */
devlog_status annotate_there(const char *capture, const annotate_options *options, dl_str *out,
                             devlog_error *err);

/* What every instruction is, from the ELF file of a code; sets `why` where that is not known. */
devlog_status annotate_resolve(annotation *a, annotate_code *code, const char *elf_folder, devlog_error *err);

/* ---- Output ------------------------------------------------------------------------------------------ */

enum { ANNOTATE_FORMAT_VERSION = 1 };

typedef struct annotate_shown {
    const annotation *a;
    size_t top;     /* lines of each code; 0: all */
    unsigned width; /* of the terminal; 0: no limit */
    double hot;     /* lines with at least so many per cent have their instructions beneath */
} annotate_shown;

void annotate_print_text(const annotate_shown *s, dl_str *out);
void annotate_print_csv(const annotate_shown *s, dl_str *out);
void annotate_print_markdown(const annotate_shown *s, dl_str *out);
void annotate_print_json(const annotate_shown *s, dl_str *out);

#endif
