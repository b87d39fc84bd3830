/* What compiler and linker say, and what a linked kernel is found to be, in words for a person. */
#ifndef DEVLOG_PROGRAM_COMPILE_WORDS_H
#define DEVLOG_PROGRAM_COMPILE_WORDS_H

#include "base/str.h"
#include "program/compile.h"

/* What the linker found to be full, by how many bytes; 0: not. */
typedef struct link_full {
    uint32_t code, variables;
    bool ids; /* more markers of a kind than there are codes */
} link_full;

link_full compile_what_is_full(const char *said);

/* DEVLOG_ERR_COMPILE with what is wrong and what to do. `code` and `said`: what the code had room for, and
 * what compiler and linker said. */
devlog_status compile_failed(const compile_job *job, board_region code, const char *said, devlog_error *err);

/* DEVLOG_ERR_COMPILE when a marker of the kernel cannot be reported as it stands: with its file and line. */
devlog_status compile_check_sites(const compile_job *job, const dl_elf *elf, devlog_error *err);

#endif
