/* A look over the instructions of an ELF file with markers: is anything in it that markers do not survive?
 * Their cursor is register tp, so nobody else may write it; and a marker is several instructions, so nobody
 * who interrupts one may record. Not for running or disassembling code. */
#ifndef DEVLOG_BASE_ELF_CODE_H
#define DEVLOG_BASE_ELF_CODE_H

#include "base/elf.h"

typedef struct dl_elf_code {
    bool writes_cursor;  /* an instruction outside of markers writes tp */
    uint32_t cursor_at;  /* the first of them .. */
    char cursor_in[96];  /* .. and the function that it is in */
    bool marked_handler; /* a function that returns from an interrupt records, or calls one that does */
    char handler[96], records[96]; /* that function, and the one that records */
} dl_elf_code;

/* Functions that the file has no symbols of are not looked at, nor what is called by a pointer. */
devlog_status dl_elf_look_at_code(const dl_elf *elf, dl_elf_code *out, devlog_error *err);

#endif
