/* What every kernel has besides its own source, compiled once for all kernels that are compiled with the same flags. For compile.c. */
#ifndef DEVLOG_PROGRAM_COMPILE_LIBRARY_H
#define DEVLOG_PROGRAM_COMPILE_LIBRARY_H

#include "program/compile_command.h"

/* Its files, of firmware/, with a NULL behind. */
extern const char *const compile_library_sources[];

/* False: it has to be compiled with the kernel, since flags name files, or there is no source. */
bool compile_library_is_apart(const compile_job *job);

/* Compiles it as a kernel of these flags is compiled, or finds it in the cache. `path`, a file of the cache whose name tells the content,
 * is what the compiler remarked; the objects lie beside it. */
devlog_status compile_library(const compile_job *job, const char *cache, const char *board_folder, bool wide,
                              bool many_sites, char path[COMPILE_PATH], devlog_error *err);

/* Adds the objects, in the order of their sources. */
void compile_library_add(command *c, const char *path);

#endif
