/* Compiling device code with the cross compiler, cached by content. */
#ifndef DEVLOG_PROGRAM_COMPILE_H
#define DEVLOG_PROGRAM_COMPILE_H

#include "base/elf.h"
#include "device/board.h"

typedef struct compile_job {
    const board *board;
    uint32_t risc;
    bool profile;       /* -DPROFILE_DEVICE */
    const char *source; /* the kernel; NULL: the firmware of this RISC */
    const char *flags;  /* further flags, separated by blanks; may be NULL */
} compile_job;

enum { COMPILE_PATH = 4096 };

/* Compiles, or finds in the cache, and returns the path of the ELF file. The text of DEVLOG_ERR_COMPILE is
 * the compiler's own message. */
devlog_status compile(const compile_job *job, char path[COMPILE_PATH], devlog_error *err);

#endif
