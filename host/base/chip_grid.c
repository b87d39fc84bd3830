/* A chip as its NoC sees it: see the header. */
#include "base/chip_grid.h"

static const char *const names[CHIP_TILE_KINDS] = {
    [CHIP_TILE_DRAM] = "dram", [CHIP_TILE_ARC] = "arc",       [CHIP_TILE_PCIE] = "pcie",
    [CHIP_TILE_ETH] = "eth",   [CHIP_TILE_ROUTER] = "router",
};

const char *chip_tile_name(chip_tile_kind kind)
{
    return kind > 0 && kind < CHIP_TILE_KINDS ? names[kind] : "";
}

/* Each coordinate once, inside, and not among those that are off. */
static bool line_valid(const uint8_t *line, uint32_t n, uint8_t size, uint64_t off)
{
    uint64_t seen = off;
    if (n > CHIP_GRID_LINE || (size < CHIP_GRID_SIDE && off >> size)) return false;
    for (uint32_t i = 0; i < n; i++) {
        if (line[i] >= size || seen >> line[i] & 1) return false;
        seen |= UINT64_C(1) << line[i];
    }
    return true;
}

bool chip_grid_valid(const chip_grid *g)
{
    if (!g->width || !g->height || g->width > CHIP_GRID_SIDE || g->height > CHIP_GRID_SIDE) return false;
    if (!line_valid(g->columns, g->n_columns, g->width, g->off_columns)) return false;
    if (!line_valid(g->rows, g->n_rows, g->height, g->off_rows) || g->n_tiles > CHIP_GRID_TILES) return false;
    for (uint32_t i = 0; i < g->n_tiles; i++)
        if (g->tiles[i].x >= g->width || g->tiles[i].y >= g->height) return false;
    return true;
}

static void line_json(const char *name, const uint8_t *line, uint32_t n, dl_str *out)
{
    dl_str_fmt(out, "\"%s\":[", name);
    for (uint32_t i = 0; i < n; i++)
        dl_str_fmt(out, "%s%u", i ? "," : "", line[i]);
    dl_str_char(out, ']');
}

static void mask_json(const char *name, uint64_t mask, dl_str *out)
{
    uint8_t line[CHIP_GRID_SIDE];
    uint32_t n = 0;
    for (unsigned i = 0; i < CHIP_GRID_SIDE; i++)
        if (mask >> i & 1) line[n++] = (uint8_t)i;
    line_json(name, line, n, out);
}

void chip_grid_json(const chip_grid *g, dl_str *out)
{
    dl_str_fmt(out, "{\"noc\":[%u,%u],", g->width, g->height);
    line_json("columns", g->columns, g->n_columns, out);
    dl_str_char(out, ',');
    line_json("rows", g->rows, g->n_rows, out);
    if (g->off_known) {
        dl_str_add(out, ",\"off\":{");
        mask_json("columns", g->off_columns, out);
        dl_str_char(out, ',');
        mask_json("rows", g->off_rows, out);
        dl_str_char(out, '}');
    }
    dl_str_add(out, ",\"tiles\":{");
    bool any_kind = false;
    for (int kind = 1; kind < CHIP_TILE_KINDS; kind++) {
        bool any = false;
        for (uint32_t i = 0; i < g->n_tiles; i++) {
            if (g->tiles[i].kind != kind) continue; /* those that a newer devlog knows are not known here */
            if (!any) dl_str_fmt(out, "%s\"%s\":", any_kind ? "," : "", names[kind]);
            dl_str_fmt(out, "%c[%u,%u]", any ? ',' : '[', g->tiles[i].x, g->tiles[i].y);
            any = any_kind = true;
        }
        if (any) dl_str_char(out, ']');
    }
    dl_str_add(out, "}}");
}
