/* What the cache of compiled kernels remembers of a question, so that an answer needs no compiler: for a command line, the
 * content of every file that the compiler read for it, and which ELF file came out. Not the cache itself (compile.c). */
#ifndef DEVLOG_PROGRAM_COMPILE_MEMO_H
#define DEVLOG_PROGRAM_COMPILE_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <xxhash.h>

#include "base/error.h"
#include "program/compile.h"

typedef struct compile_memo {
    bool usable; /* false: what changes the answer cannot be named; nothing is found or kept */
    char path[COMPILE_PATH];
    const char *const *argv; /* the command line, with a NULL behind; for the folders that it names */
} compile_memo;

/* The path of what this hash is the key of; false when it is too long. */
bool compile_cache_path(char path[COMPILE_PATH], const char *cache, XXH3_state_t *hash, const char *ending);

/* Where a file of the cache is made until it is whole: no thread of any program that shares the cache has the same. False when the path
 * is too long. */
bool compile_part_path(char part[COMPILE_PATH], const char *path);

/* The question: a command line, the source, and whatever else (`more`) changes the answer. Relative names are those of the
 * working directory, which counts only when the command has some. */
void compile_memo_ask(compile_memo *m, const char *cache, const char *const *argv, const char *source,
                      XXH64_hash_t more);

/* The ELF file of the same question, if every file is as it was then. */
bool compile_memo_find(const compile_memo *m, const char *cache, char path[COMPILE_PATH]);

/* Remembers. `preprocessed` is what the preprocessor made: its line markers name the files. */
void compile_memo_keep(const compile_memo *m, const char *preprocessed, size_t size, const char *path);

#endif
