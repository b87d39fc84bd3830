/* Grids of the architectures that a log names. See page_grids.h.
 *
 * tt-metal's logs name cores by NoC 0 coordinates: tt_metal/impl/profiler/profiler.cpp compares core_x and core_y of markers with
 * what translateNocCoordinatesToNoc0 gives. Ours have logical ones, which say nothing of where a core is on a chip that may have
 * harvested lines. The oldest logs, without zones, do not say whose coordinates they have. */
#include "cli/page_grids.h"

#include <string.h>

#include "device/board_grid.h"

enum { MOST_ARCHS = 8 };

/* Whether the firmware's zones are there, and not ours. */
static bool named_by_noc(const dl_tables *t)
{
    bool any = false;
    for (uint32_t i = 0; i < t->n_sites; i++) {
        const char *file = dl_text(t, t->sites[i].file);
        if (strcmp(file, DL_FIRMWARE_FILE) == 0) return false;
        any |= t->sites[i].role == DL_ROLE_FW && *file;
    }
    return any;
}

/* A log may say anything; a board's name is no path. */
static bool is_name(const char *arch)
{
    return *arch && arch[strspn(arch, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

void cli_page_grids(dl_decode *d, dl_str *out)
{
    const dl_tables *t = dl_decode_tables(d);
    uint32_t done[MOST_ARCHS], n = 0;
    bool any = false;
    if (!named_by_noc(t)) return;
    for (uint32_t i = 0; i < t->n_chips && n < MOST_ARCHS; i++) {
        const uint32_t arch = t->chips[i].arch;
        uint32_t k = 0;
        while (k < n && done[k] != arch)
            k++;
        if (!arch || k < n || dl_chip_clocks_of(dl_decode_clocks(d), t->chips[i].id)) continue;
        done[n++] = arch;
        board b;
        chip_grid grid;
        devlog_error unheard;
        const char *name = dl_text(t, arch);
        if (!is_name(name) || board_load(name, &b, &unheard) != DEVLOG_OK || strcmp(b.arch, name) != 0)
            continue;
        board_grid(&b, false, &grid);
        if (!chip_grid_valid(&grid)) continue;
        dl_str_fmt(out, "%s\"%s\":", any ? "," : "{", name);
        chip_grid_json(&grid, out);
        any = true;
    }
    if (any) dl_str_char(out, '}');
}
