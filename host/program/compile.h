/* Compiling device code with the cross compiler, cached by content. */
#ifndef DEVLOG_PROGRAM_COMPILE_H
#define DEVLOG_PROGRAM_COMPILE_H

#include "base/elf.h"
#include "base/str.h"
#include "device/board.h"

typedef struct compile_job {
    const board *board;
    uint32_t risc;
    bool profile;       /* -DPROFILE_DEVICE */
    bool waits;         /* -DDEVLOG_WAITS, of profiled kernels */
    const char *source; /* the kernel; NULL: the firmware of this RISC */
    const char *flags;  /* further flags, separated by blanks; may be NULL */
    board_region
        room; /* memory around its slot that the kernel may use when the slot is too small; size 0: none */
} compile_job;

enum { COMPILE_PATH = 4096 };

/* Compiles, or finds in the cache, and returns the path of the ELF file. The text of DEVLOG_ERR_COMPILE says
 * what is wrong: in the compiler's words, where it is the compiler that refuses. A kernel with more markers
 * than codes is compiled with -DDEVLOG_WIDE_IDS; one that is larger than its slot gets the room, if that is
 * enough. */
devlog_status compile(const compile_job *job, char path[COMPILE_PATH], devlog_error *err);

/* Adds to `out` what a compiler has to be told to compile the job's kernel with -c, in one line, quoted for a
 * shell; writes the header of the board, to which one of them points, into the cache. */
devlog_status compile_flags(const compile_job *job, dl_str *out, devlog_error *err);

/* What the compiler and devlog remarked on the kernel of an ELF file that compile returned, or nothing. */
devlog_status compile_remarks(const char *path, dl_str *out, devlog_error *err);

#endif
