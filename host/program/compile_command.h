/* The command line of the compiler. For compile.c. */
#ifndef DEVLOG_PROGRAM_COMPILE_COMMAND_H
#define DEVLOG_PROGRAM_COMPILE_COMMAND_H

#include <xxhash.h>

#include "base/process.h"
#include "program/compile.h"

enum { COMMAND_MAX_ARGS = 96 };

/* A command line under construction; texts are kept until it is freed. */
typedef struct command {
    const char *argv[COMMAND_MAX_ARGS];
    char *owned[COMMAND_MAX_ARGS];
    uint32_t n, n_owned;
    bool failed;
} command;

void command_add(command *c, const char *arg);
void command_addf(command *c, const char *fmt, ...) DL_PRINTF(2, 3);
void command_free(command *c);

/* The compiler, and the flags that all device code has; `many_sites`: it has so many markers that scheduling them all
 * takes too long. */
void command_begin(command *c, const compile_job *job, const char *board_folder, bool many_sites);

/* A kernel may come compiled, say by another compiler: an object file is linked as it is. */
bool command_is_object(const char *source);

/* *said, freed by the caller, is what the compiler has to say; `out` is what it makes. */
devlog_status command_run(command *c, dl_output *out, char **said, devlog_error *err);

/* What the preprocessor makes of a source (or NULL) and of files of firmware/ with these flags, to *seen, whose text is freed by the
 * caller; the hash takes it and the compiler's version in. The command has what was asked for behind. */
devlog_status command_preprocess(command *c, const compile_job *job, const char *source,
                                 const char *const *firmware, XXH3_state_t *hash, dl_output *seen,
                                 devlog_error *err);

/* What stands behind the compiler's name to compile alone, quoted for a shell. */
void command_text(const command *c, dl_str *out);

#endif
