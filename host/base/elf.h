/* ELF files of device code: what is loaded, symbols, and the sections in which markers keep their names.
 * Read with libelf. Layout of the sections: devlog/record.h. */
#ifndef DEVLOG_BASE_ELF_H
#define DEVLOG_BASE_ELF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef struct dl_elf_segment {
    uint32_t address; /* load address */
    uint32_t size;    /* bytes in the file */
    uint8_t *data;    /* owned by the dl_elf */
} dl_elf_segment;

typedef enum dl_name_fault {
    DL_NAME_FINE,
    DL_NAME_NO_LITERAL, /* the name is not a string literal, but what the source has in its place */
    DL_NAME_HAS_ZERO,   /* it ends at a zero inside the literal */
} dl_name_fault;

typedef struct dl_elf_site {
    uint32_t code;     /* low 12 bits of a record's word 0, or the wide id */
    uint8_t kind, cls; /* DEVLOG_KIND_*, class */
    bool wide, stamp32;
    bool events; /* recorded in the tile's event stream; code is its event id */
    uint32_t line;
    uint8_t n_args; /* of a print */
    dl_name_fault fault;
    const char *name; /* owned by the dl_elf */
    const char *file;
} dl_elf_site;

typedef struct dl_elf_patch {
    uint32_t start, end; /* addresses of the marker's first instruction and of what follows it */
    uint8_t cls;         /* 255: cannot be switched */
    uint32_t first;      /* the instruction at `start`, for when it has been switched off */
    uint32_t advance; /* address of the instruction that moves the cursor behind its record; 0: none does */
    uint32_t bytes;   /* by how much, as compiled */
} dl_elf_patch;

/* The end of a pass through a sum: its first instruction, and the wide id of its site. */
typedef struct dl_elf_pass {
    uint32_t start, id;
} dl_elf_pass;

/* What a kernel expects of its markers. */
typedef struct dl_elf_expect {
    uint32_t kind; /* DEVLOG_EXPECTS_* */
    uint32_t line;
    uint64_t low, high;
    const char *name, *other, *file; /* owned by the dl_elf */
} dl_elf_expect;

enum { DL_BUILD_ID_MAX = 32 };

typedef struct dl_elf {
    uint8_t *file; /* the file's bytes */
    size_t file_size;
    uint32_t entry;
    uint32_t n_segments, n_sites, n_patches, n_passes, n_expects;
    dl_elf_segment *segments;
    dl_elf_site *sites; /* sorted by wide, then code */
    dl_elf_patch *patches;
    dl_elf_pass *passes;
    dl_elf_expect *expects;
    uint8_t build_id[DL_BUILD_ID_MAX];
    uint32_t build_id_size;
    bool profiled;    /* has the section .devlog.build: compiled with -DPROFILE_DEVICE */
    bool compressed;  /* there are instructions of 16 bits in its markers */
    uint32_t version; /* of its table of sites: what that section says */
} dl_elf;

/* Reads an ELF file for 32-bit little-endian RISC-V; anything else is DEVLOG_ERR_FORMAT and says what it is.
 * Free with dl_elf_free. */
devlog_status dl_elf_read(const char *path, dl_elf *out, devlog_error *err);

/* The same from memory; takes over `bytes` (from malloc) when it succeeds. */
devlog_status dl_elf_parse(uint8_t *bytes, size_t size, const char *origin, dl_elf *out, devlog_error *err);
void dl_elf_free(dl_elf *elf);

/* The four bytes of the file that are loaded at an address; NULL when there are none. */
uint8_t *dl_elf_code_at(const dl_elf *elf, uint32_t address);

/* The zero-terminated text that is loaded at an address; NULL when there is none. */
const char *dl_elf_text_at(const dl_elf *elf, uint32_t address);

/* The site of a code or of a wide id; NULL when the file has none. */
const dl_elf_site *dl_elf_site_of(const dl_elf *elf, bool wide, uint32_t code);

/* The site of an id in the tile's event stream; of a zone for both of its ids. NULL when there is none. */
const dl_elf_site *dl_elf_event_of(const dl_elf *elf, uint32_t id);

#endif
