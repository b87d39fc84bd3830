/* The ELF files of the kernels that a device runs, found by their build ids, and what their addresses mean.
 */
#ifndef DEVLOG_PROFILER_LOOK_NAMES_H
#define DEVLOG_PROFILER_LOOK_NAMES_H

#include "base/elf.h"
#include "profiler/look.h"

typedef struct look_names look_names;

/* Files named in the options first, then the cache of compiled programs. NULL: no memory. */
look_names *look_names_new(const look_options *options);
void look_names_free(look_names *names);

/* The file whose build id begins so; owned by names. NULL when there is none. */
const dl_elf *look_names_elf(look_names *names, const uint32_t build[2]);

/* Function and "file:line" of an address, both empty when the toolchain's addr2line does not know. */
void look_names_place(look_names *names, const uint32_t build[2], uint32_t pc, char function[LOOK_TEXT],
                      char place[LOOK_TEXT]);

#endif
