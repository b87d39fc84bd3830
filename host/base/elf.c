/* ELF files of device code, read with libelf. Not for debug information (that is libdw's). */
#include "base/elf.h"

#include <elf.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cliteral.h"
#include "base/file.h"
#include "devlog/record.h"

#ifndef EM_RISCV
#define EM_RISCV 243
#endif

enum {
    ELF_MAX_BYTES = 64 << 20,
    MARKER_MAX_BYTES = 16384 /* all that is out of line, too, without optimisation */
};

static uint32_t word_at(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static devlog_status check_kind(Elf *e, const char *origin, GElf_Ehdr *header, devlog_error *err)
{
    if (elf_kind(e) != ELF_K_ELF || !gelf_getehdr(e, header))
        return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: not an ELF file", origin);
    if (header->e_ident[EI_CLASS] != ELFCLASS32)
        return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: a 64-bit ELF file; device code is 32-bit (-mabi=ilp32)",
                       origin);
    if (header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_machine != EM_RISCV)
        return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: an ELF file for machine %u, not for little-endian RISC-V",
                       origin, header->e_machine);
    if (header->e_type != ET_EXEC)
        return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: not a linked program (ELF type %u)", origin,
                       header->e_type);
    return DEVLOG_OK;
}

static devlog_status read_segments(Elf *e, const char *origin, dl_elf *out, devlog_error *err)
{
    size_t n = 0;
    if (elf_getphdrnum(e, &n) != 0 || n > 64)
        return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: damaged program headers", origin);
    out->segments = calloc(n ? n : 1, sizeof *out->segments);
    if (!out->segments) return dl_fail(err, DEVLOG_ERR_MEMORY, "%s: no memory", origin);
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr ph;
        if (!gelf_getphdr(e, (int)i, &ph))
            return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: damaged program headers", origin);
        if (ph.p_type != PT_LOAD || ph.p_filesz == 0) continue;
        if (ph.p_offset > out->file_size || ph.p_filesz > out->file_size - ph.p_offset)
            return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: a segment lies behind the end of the file", origin);
        out->segments[out->n_segments++] =
            (dl_elf_segment){(uint32_t)ph.p_paddr, (uint32_t)ph.p_filesz, out->file + ph.p_offset};
    }
    return DEVLOG_OK;
}

static int by_code(const void *a, const void *b)
{
    const dl_elf_site *x = a, *y = b;
    if (x->wide != y->wide) return x->wide < y->wide ? -1 : 1;
    if (x->events != y->events) return x->events < y->events ? -1 : 1;
    return x->code < y->code ? -1 : x->code > y->code;
}

/* The name as it was written in the source. A value of tt-metal's is named by a token that may be a literal
 * itself (tt_metal/tools/profiler/kernel_profiler.hpp). */
static dl_name_fault read_name(char *name, uint8_t kind)
{
    size_t length = 0;
    bool literal = dl_c_literal(name, &length);
    if (literal && length != strlen(name)) return DL_NAME_HAS_ZERO;
    if (literal && kind == DEVLOG_KIND_VALUE64) dl_c_literal(name, NULL);
    return literal ? DL_NAME_FINE : DL_NAME_NO_LITERAL;
}

static devlog_status read_sites(const uint8_t *p, size_t size, const char *origin, dl_elf *out,
                                devlog_error *err)
{
    size_t capacity = 0, at = 0;
    while (at + 4 * DEVLOG_SITE_WORDS < size) {
        if (out->n_sites >= capacity) {
            capacity = capacity ? 2 * capacity : 64;
            dl_elf_site *bigger = realloc(out->sites, capacity * sizeof *bigger);
            if (!bigger) return dl_fail(err, DEVLOG_ERR_MEMORY, "%s: no memory", origin);
            out->sites = bigger;
        }
        uint32_t code = word_at(p + at), flags = word_at(p + at + 4), line = word_at(p + at + 8);
        at += 4 * DEVLOG_SITE_WORDS;
        const char *name = (const char *)p + at;
        const void *name_end = memchr(name, 0, size - at);
        if (!name_end) break;
        at = (size_t)((const uint8_t *)name_end - p) + 1;
        const char *file = (const char *)p + at;
        const void *file_end = memchr(file, 0, size - at);
        if (!file_end) break;
        at = (size_t)((const uint8_t *)file_end - p) + 1;
        at = (at + 3) & ~(size_t)3;
        dl_name_fault fault = read_name((char *)(uintptr_t)name, (uint8_t)flags);
        bool wide = flags >> 16 & DEVLOG_SITE_FLAG_WIDE, events = flags >> 16 & DEVLOG_SITE_FLAG_EVENTS;
        out->sites[out->n_sites++] = (dl_elf_site){
            .code = wide || events ? code : code & 0xFFF,
            .kind = (uint8_t)flags,
            .cls = (uint8_t)(flags >> 8),
            .wide = wide,
            .events = events,
            .stamp32 = flags >> 16 & DEVLOG_SITE_FLAG_STAMP32,
            .line = line,
            .n_args = (uint8_t)(flags >> 24),
            .fault = fault,
            .name = name,
            .file = file,
        };
    }
    if (at < size) return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: the table of marker names is damaged", origin);
    if (out->sites) qsort(out->sites, out->n_sites, sizeof *out->sites, by_code);
    return DEVLOG_OK;
}

/* Where the marker moves its cursor: addi tp, tp, so many bytes. */
static void find_advance(dl_elf *elf, dl_elf_patch *p)
{
    /* Distances are compared, so that it also ends at the end of addresses. */
    for (uint32_t at = p->start; at - p->start < p->end - p->start; at += 4) {
        const uint8_t *code = dl_elf_code_at(elf, at);
        uint32_t word = code ? word_at(code) : 0;
        if ((word & 3) != 3) elf->compressed = true;
        if ((word & 0xFFFFF) != 0x20213 || word >> 20 < 8 || word >> 20 > DEVLOG_SLACK) continue;
        p->advance = at;
        p->bytes = word >> 20;
    }
}

static devlog_status read_patches(const uint8_t *p, size_t size, const char *origin, dl_elf *out,
                                  devlog_error *err)
{
    size_t n = size / (4 * DEVLOG_PATCH_WORDS);
    out->patches = calloc(n ? n : 1, sizeof *out->patches);
    if (!out->patches) return dl_fail(err, DEVLOG_ERR_MEMORY, "%s: no memory", origin);
    for (size_t i = 0; i < n; i++, p += 4 * DEVLOG_PATCH_WORDS) {
        dl_elf_patch patch = {.start = word_at(p), .end = word_at(p + 4), .cls = (uint8_t)word_at(p + 8)};
        uint8_t *code = dl_elf_code_at(out, patch.start);
        if (!code) continue; /* of a function that the linker left out */
        if (patch.end <= patch.start || patch.end - patch.start > MARKER_MAX_BYTES || patch.start % 4)
            return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: the table of switchable markers is damaged", origin);
        patch.first = word_at(code);
        find_advance(out, &patch);
        out->patches[out->n_patches++] = patch;
    }
    return DEVLOG_OK;
}

static devlog_status read_passes(const uint8_t *p, size_t size, const char *origin, dl_elf *out,
                                 devlog_error *err)
{
    size_t n = size / (4 * DEVLOG_PASS_WORDS);
    out->passes = calloc(n ? n : 1, sizeof *out->passes);
    if (!out->passes) return dl_fail(err, DEVLOG_ERR_MEMORY, "%s: no memory", origin);
    for (; out->n_passes < n; p += 4 * DEVLOG_PASS_WORDS)
        out->passes[out->n_passes++] = (dl_elf_pass){.start = word_at(p), .id = word_at(p + 4)};
    return DEVLOG_OK;
}

/* A text that ends before `end`; NULL: there is none. */
static const char *take_text(const uint8_t **at, const uint8_t *end)
{
    const char *text = (const char *)*at;
    const uint8_t *zero = *at < end ? memchr(*at, 0, (size_t)(end - *at)) : NULL;
    if (zero) *at = zero + 1;
    return zero ? text : NULL;
}

static devlog_status read_expects(const uint8_t *p, size_t size, const char *origin, dl_elf *out,
                                  devlog_error *err)
{
    size_t n = 0;
    out->expects = calloc(size / DEVLOG_EXPECT_HEAD + 1, sizeof *out->expects);
    if (!out->expects) return dl_fail(err, DEVLOG_ERR_MEMORY, "%s: no memory", origin);
    for (uint32_t bytes; size >= DEVLOG_EXPECT_HEAD; p += bytes, size -= bytes) {
        bytes = word_at(p);
        if (bytes < DEVLOG_EXPECT_HEAD || bytes > size || bytes % 8) break;
        const uint8_t *at = p + DEVLOG_EXPECT_HEAD;
        dl_elf_expect e = {.kind = word_at(p + 4),
                           .line = word_at(p + 8),
                           .low = word_at(p + 16) | (uint64_t)word_at(p + 20) << 32,
                           .high = word_at(p + 24) | (uint64_t)word_at(p + 28) << 32,
                           .name = take_text(&at, p + bytes),
                           .other = take_text(&at, p + bytes),
                           .file = take_text(&at, p + bytes)};
        if (!e.name || !e.other || !e.file) break;
        out->expects[n++] = e;
    }
    out->n_expects = (uint32_t)n;
    if (size) return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: the table of expectations is damaged", origin);
    return DEVLOG_OK;
}

static void read_build_id(const uint8_t *p, size_t size, dl_elf *out)
{
    if (size < 16) return;
    uint32_t name = word_at(p), desc = word_at(p + 4);
    if (word_at(p + 8) != NT_GNU_BUILD_ID || name != 4 || desc > size - 16) return;
    out->build_id_size = desc < DL_BUILD_ID_MAX ? desc : DL_BUILD_ID_MAX;
    memcpy(out->build_id, p + 16, out->build_id_size);
}

static devlog_status read_sections(Elf *e, const char *origin, dl_elf *out, devlog_error *err)
{
    size_t names;
    if (elf_getshdrstrndx(e, &names) != 0) return DEVLOG_OK; /* stripped of sections: markers have no names */
    for (Elf_Scn *section = elf_nextscn(e, NULL); section; section = elf_nextscn(e, section)) {
        GElf_Shdr sh;
        const char *name = gelf_getshdr(section, &sh) ? elf_strptr(e, names, sh.sh_name) : NULL;
        if (!name || sh.sh_type == SHT_NOBITS) continue;
        bool sites = strcmp(name, ".devlog.sites") == 0, patches = strcmp(name, ".devlog.patch") == 0;
        bool build_id = strcmp(name, ".note.gnu.build-id") == 0, build = strcmp(name, ".devlog.build") == 0;
        bool passes = strcmp(name, ".devlog.passes") == 0, expects = strcmp(name, ".devlog.expect") == 0;
        if (!sites && !patches && !passes && !build_id && !build && !expects) continue;
        if (sh.sh_offset > out->file_size || sh.sh_size > out->file_size - sh.sh_offset)
            return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: section %s lies behind the end of the file", origin,
                           name);
        const uint8_t *p = out->file + sh.sh_offset;
        devlog_status status = DEVLOG_OK;
        if (sites && !out->sites) status = read_sites(p, sh.sh_size, origin, out, err);
        if (patches && !out->patches) status = read_patches(p, sh.sh_size, origin, out, err);
        if (passes && !out->passes) status = read_passes(p, sh.sh_size, origin, out, err);
        if (expects && !out->expects) status = read_expects(p, sh.sh_size, origin, out, err);
        if (build_id) read_build_id(p, sh.sh_size, out);
        if (build && sh.sh_size >= 4) out->version = word_at(p);
        if (build && sh.sh_size > 0) out->profiled = true;
        if (status != DEVLOG_OK) return status;
    }
    /* The names in ELF files of before are the text, without quotes. */
    for (uint32_t i = 0; i < out->n_sites && out->version < DEVLOG_BUILD_LITERALS; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): sites were read when there are any */
        out->sites[i].fault = DL_NAME_FINE;
    return DEVLOG_OK;
}

devlog_status dl_elf_parse(uint8_t *bytes, size_t size, const char *origin, dl_elf *out, devlog_error *err)
{
    memset(out, 0, sizeof *out);
    if (elf_version(EV_CURRENT) == EV_NONE) return dl_fail(err, DEVLOG_ERR_UNSUPPORTED, "libelf is too old");
    Elf *e = elf_memory((char *)bytes, size);
    if (!e) return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: not an ELF file", origin);
    out->file = bytes;
    out->file_size = size;
    GElf_Ehdr header;
    devlog_status status = check_kind(e, origin, &header, err);
    if (status == DEVLOG_OK) {
        out->entry = (uint32_t)header.e_entry;
        status = read_segments(e, origin, out, err);
    }
    if (status == DEVLOG_OK) status = read_sections(e, origin, out, err);
    elf_end(e);
    if (status != DEVLOG_OK) {
        out->file = NULL; /* still the caller's */
        dl_elf_free(out);
    }
    return status;
}

devlog_status dl_elf_read(const char *path, dl_elf *out, devlog_error *err)
{
    dl_str bytes = {0};
    devlog_status status = dl_file_read(path, ELF_MAX_BYTES, &bytes, err);
    if (status == DEVLOG_OK) status = dl_elf_parse((uint8_t *)bytes.text, bytes.len, path, out, err);
    if (status != DEVLOG_OK) dl_str_free(&bytes);
    return status;
}

uint8_t *dl_elf_code_at(const dl_elf *elf, uint32_t address)
{
    for (uint32_t i = 0; i < elf->n_segments; i++) {
        const dl_elf_segment *s = &elf->segments[i];
        if (address >= s->address && address - s->address + 4ull <= s->size)
            return s->data + (address - s->address);
    }
    return NULL;
}

const char *dl_elf_text_at(const dl_elf *elf, uint32_t address)
{
    for (uint32_t i = 0; i < elf->n_segments; i++) {
        const dl_elf_segment *s = &elf->segments[i];
        if (address < s->address || address - s->address >= s->size) continue;
        const uint8_t *text = s->data + (address - s->address);
        return memchr(text, 0, s->size - (address - s->address)) ? (const char *)text : NULL;
    }
    return NULL;
}

void dl_elf_free(dl_elf *elf)
{
    free(elf->segments);
    free(elf->sites);
    free(elf->patches);
    free(elf->passes);
    free(elf->expects);
    free(elf->file);
    memset(elf, 0, sizeof *elf);
}

const dl_elf_site *dl_elf_event_of(const dl_elf *elf, uint32_t id)
{
    dl_elf_site key = {.events = true, .code = id};
    const dl_elf_site *site =
        elf->n_sites ? bsearch(&key, elf->sites, elf->n_sites, sizeof key, by_code) : NULL;
    if (site) return site;
    key.code = id - 8; /* the end of a zone */
    site = elf->n_sites ? bsearch(&key, elf->sites, elf->n_sites, sizeof key, by_code) : NULL;
    return site && site->kind == DEVLOG_KIND_ZONE ? site : NULL;
}

const dl_elf_site *dl_elf_site_of(const dl_elf *elf, bool wide, uint32_t code)
{
    dl_elf_site key = {.wide = wide, .code = code};
    if (!elf->n_sites) return NULL;
    return bsearch(&key, elf->sites, elf->n_sites, sizeof key, by_code);
}
