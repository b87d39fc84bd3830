/* What the instructions of an ELF file are: function, file, line and disassembly, by the objdump of the compiler
 * (GNU binutils), which reads the line table. What it prints is taken apart line by line:
 *
 *     000309a4 <kernel_main>:
 *     kernel_main():
 *     /home/u/k.c:12 (discriminator 3)
 *        309a4:	lw	a5,0(a4) # 8000 <table>
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/annotate.h"
#include "base/elf.h"
#include "base/file.h"
#include "base/process.h"
#include "base/settings.h"

/* Where the ELF file of a code is: where it was, or under its name in a folder. NULL: nowhere; freed by the caller. */
static char *find_elf(annotate_code *c, const char *elf_folder)
{
    const char *base = strrchr(c->path, '/');
    char *const places[] = {strdup(c->path),
                            elf_folder ? dl_path_join(elf_folder, base ? base + 1 : c->path) : NULL};
    char *found = NULL;
    snprintf(c->why, sizeof c->why, "there is no ELF file %s", c->path);
    for (int i = 0; i < 2; i++) {
        dl_elf elf;
        devlog_error why;
        if (!found && places[i] && dl_elf_read(places[i], &elf, &why) == DEVLOG_OK) {
            if (elf.build_id_size == c->build_id_size &&
                memcmp(elf.build_id, c->build_id, c->build_id_size) == 0)
                found = places[i];
            else
                snprintf(c->why, sizeof c->why, "%s is of another build than what ran", places[i]);
            dl_elf_free(&elf);
        }
        if (found != places[i]) free(places[i]);
    }
    return found;
}

/* The compiler knows its own; without it there is the usual name. Freed by the caller. */
static char *find_objdump(void)
{
    const char *cc = dl_setting_text(DL_SET_CC);
    const char *const ask[] = {cc ? cc : "riscv64-unknown-elf-gcc", "-print-prog-name=objdump", NULL};
    dl_output out = {0};
    char *said = NULL, *name = NULL;
    devlog_error err;
    if (dl_run_apart(ask, &out, &said, &err) == DEVLOG_OK && out.exit == 0 && out.size > 1) {
        out.text[strcspn(out.text, "\n")] = '\0';
        name = strdup(out.text);
    }
    free(out.text);
    free(said);
    return name ? name : strdup("riscv64-unknown-elf-objdump");
}

/* Where the parser is. */
typedef struct place {
    uint32_t function, file, line;
} place;

/* "  309a4:\tlw\ta5,0(a4)": its address, and its text behind. */
static bool is_instruction(const char *line, size_t n, uint32_t *pc, const char **text)
{
    char *end;
    if (n < 4 || *line != ' ') return false;
    unsigned long value = strtoul(line, &end, 16);
    if (end >= line + n || *end != ':' || end[1] != '\t') return false;
    *pc = (uint32_t)value;
    *text = end + 2;
    return true;
}

/* "000309a4 <kernel_main>:" */
static void take_function(annotation *a, const char *line, size_t n, place *at)
{
    const char *open = memchr(line, '<', n);
    if (open) *at = (place){.function = dl_intern_add(a->texts, open + 1, (size_t)(line + n - open) - 3)};
}

/* "/home/u/k.c:12 (discriminator 3)" */
static void take_place(annotation *a, const char *line, size_t n, place *at)
{
    static const char remark[] = " (discriminator ";
    const char *cut = memmem(line, n, remark, sizeof remark - 1);
    if (cut) n = (size_t)(cut - line);
    const char *colon = memrchr(line, ':', n);
    if (!colon || colon == line) return;
    unsigned long number = strtoul(colon + 1, NULL, 10);
    at->line = number;
    at->file = number ? dl_intern_add(a->texts, line, (size_t)(colon - line)) : 0;
}

/* Tabs become one space. */
static uint32_t take_text(annotation *a, const char *text, size_t n)
{
    char copy[256];
    if (n >= sizeof copy) n = sizeof copy - 1;
    for (size_t i = 0; i < n; i++)
        copy[i] = text[i] == '\t' ? ' ' : text[i];
    return dl_intern_add(a->texts, copy, n);
}

static annotate_item *item_at(annotate_code *c, uint32_t pc)
{
    size_t low = 0, high = c->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (c->items[middle].sum.pc < pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->n && c->items[low].sum.pc == pc ? &c->items[low] : NULL;
}

static uint32_t known(uint32_t number)
{
    return number == DL_NO_STRING ? 0 : number;
}

static void parse(annotation *a, annotate_code *c, const char *text)
{
    place at = {0};
    for (const char *line = text, *next; *line; line = next) {
        size_t n = strcspn(line, "\n");
        next = line + n + (line[n] == '\n');
        uint32_t pc;
        const char *code;
        if (is_instruction(line, n, &pc, &code)) {
            annotate_item *item = item_at(c, pc);
            if (!item) continue;
            item->function = known(at.function);
            item->file = known(at.file);
            item->line = at.line;
            item->text = known(take_text(a, code, (size_t)(line + n - code)));
        } else if (n > 3 && memcmp(line + n - 2, ">:", 2) == 0) {
            take_function(a, line, n, &at);
        } else if (n > 0 && *line != ' ' && line[n - 1] != ':') {
            take_place(a, line, n, &at);
        }
    }
}

devlog_status annotate_resolve(annotation *a, annotate_code *c, const char *elf_folder, devlog_error *err)
{
    if (c->resolved || c->n == 0) return DEVLOG_OK;
    c->resolved = true;
    char *elf = find_elf(c, elf_folder), *objdump = elf ? find_objdump() : NULL;
    if (!elf) return DEVLOG_OK;
    if (!objdump) {
        free(elf);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for disassembling");
    }
    const char *const argv[] = {objdump, "-d", "-l", "--no-show-raw-insn", elf, NULL};
    dl_output out = {0};
    char *said = NULL;
    devlog_error why;
    devlog_status status = dl_run_apart(argv, &out, &said, &why);
    c->why[0] = '\0';
    if (status == DEVLOG_OK && out.exit == 0)
        parse(a, c, out.text);
    else if (status == DEVLOG_ERR_NOT_FOUND)
        snprintf(
            c->why, sizeof c->why,
            "cannot run %.100s: install the Debian package binutils-riscv64-unknown-elf, or set DEVLOG_CC",
            objdump);
    else
        snprintf(c->why, sizeof c->why, "%.100s failed: %.100s", objdump,
                 status == DEVLOG_OK ? (said ? said : "") : why.text);
    c->why[strcspn(c->why, "\n")] = '\0';
    free(out.text);
    free(said);
    free(objdump);
    free(elf);
    return DEVLOG_OK;
}
