/* Which tiles a chip has: see the header. Not for how the chip is asked (telemetry.c).
 *
 * A tile that is switched off (harvested) answers nothing: a load from it never comes back, and the machine
 * may go with it. So nobody probes; the management core is asked, and where it does not know, the user.
 * Sources: tenstorrent/tt-umd 3ed9cb6 blackhole_tt_device.cpp, wormhole_tt_device.cpp (get_chip_info),
 * coordinate_manager.cpp (shuffle_tensix_harvesting_mask): meaning of the bits;
 * blackhole_coordinate_manager.cpp: with translation, what is left of the columns comes first.
 * WormholeB0/NoC/Coordinates.md: raw coordinates stay valid. */
#include "device/harvest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/settings.h"
#include "device/telemetry.h"

enum { LOGIC_SHIFT = 10 }; /* of the answer to the message: bits 0-9 memory, 10-19 logic */

typedef struct lines {
    uint64_t columns, rows; /* a bit for each coordinate */
} lines;

static uint64_t mask_of(const uint8_t *line, uint32_t n)
{
    uint64_t mask = 0;
    for (uint32_t i = 0; i < n; i++)
        mask |= UINT64_C(1) << line[i];
    return mask;
}

/* The first n coordinates of a line, in ascending order. */
static uint64_t first_of(uint64_t line, uint32_t n)
{
    uint64_t mask = 0;
    for (uint32_t i = 0; i < 64 && n; i++) {
        if (!(line >> i & 1)) continue;
        mask |= UINT64_C(1) << i;
        n--;
    }
    return mask;
}

/* ---- What the chip says ---- */

static void keep_dram(board *b, uint32_t enabled)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < b->n_dram; i++) {
        if (!(enabled >> i & 1)) continue;
        b->dram_noc[kept] = b->dram_noc[i];
        b->dram[kept++] = b->dram[i];
    }
    b->n_dram = kept;
}

/* Lines that the bits of the fuses leave; 0 when the bits cannot be. */
static uint64_t left_by(const board *b, uint32_t enabled)
{
    uint64_t left = 0;
    if (b->arc.n_fuses < 32 && enabled >> b->arc.n_fuses) return 0;
    for (uint32_t i = 0; i < b->arc.n_fuses; i++)
        if (enabled >> i & 1) left |= UINT64_C(1) << b->arc.fuses[i];
    return left;
}

static devlog_status ask_columns(dl_transport *t, board *b, const telemetry *table, lines *out, char *why,
                                 size_t why_size, devlog_error *err)
{
    uint32_t enabled = 0, translated = 0, dram = 0;
    bool found, knows, has_dram;
    devlog_status status = telemetry_read(t, b, table, TELEMETRY_ENABLED_COLUMNS, &enabled, &found, err);
    if (status == DEVLOG_OK)
        status = telemetry_read(t, b, table, TELEMETRY_TRANSLATION, &translated, &knows, err);
    if (status == DEVLOG_OK)
        status = telemetry_read(t, b, table, TELEMETRY_ENABLED_DRAM, &dram, &has_dram, err);
    if (status != DEVLOG_OK) return status;
    uint64_t raw = found ? left_by(b, enabled) : 0, all = mask_of(b->columns, b->n_columns);
    if (!raw) {
        snprintf(why, why_size,
                 found ? "its telemetry says columns 0x%x" : "its telemetry does not name columns",
                 (unsigned)enabled);
        return DEVLOG_OK;
    }
    uint64_t moved = first_of(all, (uint32_t)__builtin_popcountll(raw));
    /* Whether coordinates are translated is not known to every firmware: then what is right both ways. */
    out->columns = !knows ? raw & moved : translated ? moved : raw;
    if (has_dram) keep_dram(b, dram);
    return DEVLOG_OK;
}

static devlog_status ask_rows(dl_transport *t, const board *b, lines *out, char *why, size_t why_size,
                              devlog_error *err)
{
    uint32_t bits = 0, all = (1u << b->arc.n_fuses) - 1;
    bool found;
    devlog_status status = telemetry_harvested(t, b, &bits, &found, why, why_size, err);
    if (status != DEVLOG_OK || !found) return status;
    out->rows = bits >> (2 * LOGIC_SHIFT) == 0 ? left_by(b, all & ~(bits | bits >> LOGIC_SHIFT)) : 0;
    if (!out->rows) snprintf(why, why_size, "its management core says rows 0x%x", (unsigned)bits);
    return DEVLOG_OK;
}

static devlog_status ask_card(dl_transport *t, board *b, lines *out, char *why, size_t why_size,
                              devlog_error *err)
{
    if (b->arc.table && !b->arc.columns) return ask_rows(t, b, out, why, why_size, err);
    telemetry *table = malloc(sizeof *table);
    if (!table) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the device");
    devlog_status status = telemetry_find(t, b, table, err);
    if (status == DEVLOG_OK && !table->there) snprintf(why, why_size, "%s", table->why);
    if (status == DEVLOG_OK && table->there) status = ask_columns(t, b, table, out, why, why_size, err);
    free(table);
    return status;
}

/* ---- What the user says ---- */

static devlog_status bad_list(const char *text, const char *what, devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                   "DEVLOG_GRID=%s: %s; it is columns=LIST,rows=LIST with lists like 1-7+10-14, or all", text,
                   what);
}

/* "1-7+10" */
static bool parse_list(const char *p, uint64_t *mask)
{
    *mask = 0;
    for (;;) {
        char *end;
        if (*p < '0' || *p > '9') return false;
        unsigned long from = strtoul(p, &end, 10), to = from;
        if (*end == '-') {
            p = end + 1;
            if (*p < '0' || *p > '9') return false;
            to = strtoul(p, &end, 10);
        }
        if (from > to || to > 63) return false;
        for (unsigned long i = from; i <= to; i++)
            *mask |= UINT64_C(1) << i;
        if (*end == 0) return true;
        if (*end != '+') return false;
        p = end + 1;
    }
}

static devlog_status parse_grid(const char *text, const board *b, lines *out, devlog_error *err)
{
    const lines all = {mask_of(b->columns, b->n_columns), mask_of(b->rows, b->n_rows)};
    char copy[256], *rest = copy;
    *out = all;
    if (strcmp(text, "all") == 0) return DEVLOG_OK;
    if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy) return bad_list(text, "too long", err);
    for (char *item = strsep(&rest, ","); item; item = strsep(&rest, ",")) {
        char *value = strchr(item, '=');
        if (value) *value++ = 0;
        uint64_t *line = strcmp(item, "columns") == 0 ? &out->columns
                         : strcmp(item, "rows") == 0  ? &out->rows
                                                      : NULL;
        if (!line || !value || !parse_list(value, line)) return bad_list(text, "this cannot be read", err);
    }
    if (out->columns & ~all.columns || out->rows & ~all.rows)
        return bad_list(text, "the board has not got all of these", err);
    return DEVLOG_OK;
}

/* ---- Both ---- */

static void keep(uint8_t *line, uint32_t *n, uint64_t mask)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *n; i++)
        if (mask >> line[i] & 1) line[kept++] = line[i];
    *n = kept;
}

static void apply(board *b, lines left)
{
    /* What the user leaves out may be there or not: it is not touched either. */
    b->dead_columns = mask_of(b->columns, b->n_columns) & ~left.columns;
    b->dead_rows = mask_of(b->rows, b->n_rows) & ~left.rows;
    keep(b->columns, &b->n_columns, left.columns);
    keep(b->rows, &b->n_rows, left.rows);
}

/* "7+10" */
static void list_of(uint64_t mask, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < 64; i++)
        if (mask >> i & 1 && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%u", used ? "+" : "", i);
}

devlog_status harvest_grid(dl_transport *t, board *b, devlog_error *err)
{
    const char *named = dl_setting_text(DL_SET_GRID);
    const lines all = {mask_of(b->columns, b->n_columns), mask_of(b->rows, b->n_rows)};
    lines wanted = all, chip = all;
    char why[128] = "", list[256];
    devlog_status status = named ? parse_grid(named, b, &wanted, err) : DEVLOG_OK;
    if (status != DEVLOG_OK) return status;
    if (t->ops->dead) {
        lines dead = {0, 0};
        t->ops->dead(t, &dead.columns, &dead.rows);
        if (all.columns & ~dead.columns) chip.columns &= ~dead.columns;
        if (all.rows & ~dead.rows) chip.rows &= ~dead.rows;
    }
    if (t->ops->card) {
        status = ask_card(t, b, &chip, why, sizeof why, err);
        if (status != DEVLOG_OK) return status;
        if (why[0]) chip = all; /* the user says */
    }
    if (why[0] && !named)
        return dl_fail(
            err, DEVLOG_ERR_DEVICE,
            "this card does not say which of its tiles are switched off: %s; touching one would hang it. "
            "Name those that it has: DEVLOG_GRID=columns=1-7+10-14,rows=2-11",
            why);
    uint64_t no_columns = wanted.columns & ~chip.columns, no_rows = wanted.rows & ~chip.rows;
    if (named && !why[0] && strcmp(named, "all") != 0 && (no_columns || no_rows)) {
        list_of(no_columns ? no_columns : no_rows, list, sizeof list);
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "DEVLOG_GRID=%s: this chip has no %s %s: switched off",
                       named, no_columns ? "column" : "row", list);
    }
    if (!(wanted.columns & chip.columns) || !(wanted.rows & chip.rows))
        return dl_fail(err, DEVLOG_ERR_DEVICE, "no column, or no row, of this chip's cores is left");
    apply(b, (lines){wanted.columns & chip.columns, wanted.rows & chip.rows});
    return DEVLOG_OK;
}
