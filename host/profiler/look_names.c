/* Names for what is seen on a device: see the header. */
#include "profiler/look_names.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "base/process.h"

enum { BUILD = 8, PATH = 4352 };

typedef struct known {
    uint8_t build[BUILD];
    char *path;
    dl_elf elf; /* read when it is asked for */
    bool loaded;
} known;

struct look_names {
    known *all;
    size_t n, cap;
};

static void add_file(look_names *names, const char *path)
{
    dl_elf elf;
    if (dl_elf_read(path, &elf, NULL) != DEVLOG_OK) return;
    if (elf.build_id_size >= BUILD && names->n == names->cap) {
        size_t cap = names->cap ? 2 * names->cap : 64;
        known *bigger = realloc(names->all, cap * sizeof *bigger);
        if (bigger) {
            names->all = bigger;
            names->cap = cap;
        }
    }
    if (elf.build_id_size >= BUILD && names->n < names->cap) {
        known *k = &names->all[names->n];
        memset(k, 0, sizeof *k);
        memcpy(k->build, elf.build_id, BUILD);
        k->path = strdup(path);
        if (k->path) names->n++;
    }
    dl_elf_free(&elf);
}

static int is_elf(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 4 && strcmp(entry->d_name + n - 4, ".elf") == 0;
}

look_names *look_names_new(const look_options *options)
{
    look_names *names = calloc(1, sizeof *names);
    if (!names) return NULL;
    for (uint32_t i = 0; i < options->n_elfs; i++)
        add_file(names, options->elfs[i]);
    char folder[4096], path[PATH];
    struct dirent **entries = NULL;
    int n = dl_cache_folder(folder, sizeof folder, NULL) == DEVLOG_OK
                ? scandir(folder, &entries, is_elf, alphasort)
                : 0;
    for (int i = 0; i < n; i++) {
        if (dl_join(path, sizeof path, folder, entries[i]->d_name, NULL) == DEVLOG_OK) add_file(names, path);
        free(entries[i]);
    }
    free(entries);
    return names;
}

void look_names_free(look_names *names)
{
    if (!names) return;
    for (size_t i = 0; i < names->n; i++) {
        if (names->all[i].loaded) dl_elf_free(&names->all[i].elf);
        free(names->all[i].path);
    }
    free(names->all);
    free(names);
}

static known *find(look_names *names, const uint32_t build[2])
{
    if (build[0] == 0 && build[1] == 0) return NULL;
    for (size_t i = 0; i < names->n; i++)
        if (memcmp(names->all[i].build, build, BUILD) == 0) return &names->all[i];
    return NULL;
}

const dl_elf *look_names_elf(look_names *names, const uint32_t build[2])
{
    known *k = find(names, build);
    if (k && !k->loaded) k->loaded = dl_elf_read(k->path, &k->elf, NULL) == DEVLOG_OK;
    return k && k->loaded ? &k->elf : NULL;
}

void look_names_place(look_names *names, const uint32_t build[2], uint32_t pc, char function[LOOK_TEXT],
                      char place[LOOK_TEXT])
{
    function[0] = place[0] = 0;
    const known *k = find(names, build);
    const dl_elf *elf = k ? look_names_elf(names, build) : NULL;
    bool inside = false;
    for (uint32_t i = 0; elf && i < elf->n_segments; i++)
        inside |= pc - elf->segments[i].address < elf->segments[i].size;
    if (!inside) return;
    char address[16];
    snprintf(address, sizeof address, "0x%x", pc);
    const char *argv[] = {"riscv64-unknown-elf-addr2line", "-f", "-s", "-e", k->path, address, NULL};
    dl_output out;
    char *complaints; /* of debug information that it does not understand: no names */
    if (dl_run_apart(argv, &out, &complaints, NULL) != DEVLOG_OK) return;
    free(complaints);
    char *line = out.exit == 0 ? strchr(out.text, '\n') : NULL;
    if (line && out.text[0] != '?') {
        snprintf(function, LOOK_TEXT, "%.*s", (int)(line - out.text), out.text);
        if (line[1] != '?') snprintf(place, LOOK_TEXT, "%.*s", (int)strcspn(line + 1, " \n"), line + 1);
    }
    free(out.text);
}
