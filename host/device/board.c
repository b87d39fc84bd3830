/* Boards: reads boards/NAME.json. Not for whether what it says can be (board_check.c), nor for what is generated from it
 * (board_gen.c). */
#include "device/board.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"
#include "device/board_check.h"
#include "devlog/record.h"

enum { BOARD_MAX_BYTES = 1 << 20 };

/* Reading state: the first error wins, so that the field table below reads straight. */
typedef struct reader {
    const char *origin;
    devlog_error *err;
    devlog_status status;
} reader;

static void complain(reader *r, const char *path, const char *what)
{
    if (r->status != DEVLOG_OK) return;
    r->status = dl_fail(r->err, DEVLOG_ERR_FORMAT, "%s: \"%s\" %s", r->origin, path, what);
}

/* A number, or a string that holds one in C notation: JSON numbers are doubles and have no hex. */
static uint64_t get_number(reader *r, const cJSON *obj, const char *name, bool required, uint64_t missing)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, name);
    if (!item) {
        if (required) complain(r, name, "is missing");
        return missing;
    }
    if (cJSON_IsNumber(item) && item->valuedouble >= -1 && item->valuedouble <= 4294967295.0)
        return (uint64_t)(int64_t)item->valuedouble;
    if (cJSON_IsString(item) && isdigit((unsigned char)item->valuestring[0])) {
        char *end;
        errno = 0;
        uint64_t value = strtoull(item->valuestring, &end, 0);
        if (*end == 0 && errno == 0) return value;
    }
    complain(r, name, "must be a number or a string like \"0x1000\"");
    return missing;
}

static uint32_t get_u32(reader *r, const cJSON *obj, const char *name, bool required, uint32_t missing)
{
    uint64_t value = get_number(r, obj, name, required, missing);
    if (value > UINT32_MAX) complain(r, name, "does not fit in 32 bits");
    return (uint32_t)value;
}

static void get_text(reader *r, const cJSON *obj, const char *name, bool required, char *out, size_t size)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, name);
    if (!item && !required) return;
    if (!item || !cJSON_IsString(item) || strlen(item->valuestring) >= size || item->valuestring[0] == 0) {
        complain(r, name, "must be a text, and not too long");
        return;
    }
    snprintf(out, size, "%s", item->valuestring);
}

static const cJSON *get_object(reader *r, const cJSON *obj, const char *name, bool required)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, name);
    if (item && cJSON_IsObject(item)) return item;
    if (item || required) complain(r, name, "must be an object");
    return NULL;
}

/* The array `name` with at most `max` items; NULL when missing and not required. */
static const cJSON *get_array(reader *r, const cJSON *obj, const char *name, bool required, int max)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, name);
    if (!item && !required) return NULL;
    if (!cJSON_IsArray(item) || cJSON_GetArraySize(item) > max || cJSON_GetArraySize(item) == 0) {
        complain(r, name, "must be a list, neither empty nor too long");
        return NULL;
    }
    return item;
}

static board_region get_region(reader *r, const cJSON *obj, const char *name, bool required)
{
    board_region region = {0, 0};
    const cJSON *item = get_object(r, obj, name, required);
    if (!item) return region;
    region.base = get_u32(r, item, "base", true, 0);
    region.size = get_u32(r, item, "size", true, 0);
    return region;
}

static void name_in_logs(board_risc *risc)
{
    const char *from = risc->name;
    char *to = risc->log_name;
    do {
        *to++ = *from;
        if (from == risc->name + 4 && strncmp(risc->name, "TRISC", 5) == 0 && isdigit((unsigned char)from[1]))
            *to++ = '_';
    } while (*from++);
}

static void read_riscs(reader *r, const cJSON *root, board *b)
{
    const cJSON *list = get_array(r, root, "riscs", true, BOARD_MAX_RISCS);
    uint32_t local_base = get_u32(r, root, "local_base", false, 0);
    const cJSON *item;
    uint32_t managers = 0;
    cJSON_ArrayForEach(item, list)
    {
        board_risc *risc = &b->riscs[b->n_riscs++];
        char role[16] = "";
        get_text(r, item, "name", true, risc->name, sizeof risc->name);
        name_in_logs(risc);
        get_text(r, item, "role", true, role, sizeof role);
        risc->role = strcmp(role, "manager") == 0 ? BOARD_MANAGER : BOARD_WORKER;
        managers += risc->role == BOARD_MANAGER;
        if (strcmp(role, "manager") != 0 && strcmp(role, "worker") != 0)
            complain(r, "role", "must be \"manager\" or \"worker\"");
        risc->reset_bit = (int)(int32_t)get_number(r, item, "reset_bit", false, UINT32_MAX);
        risc->reset_pc = get_u32(r, item, "reset_pc", true, 0);
        risc->local.base = get_u32(r, item, "local_base", false, local_base);
        risc->local.size = get_u32(r, item, "local_size", true, 0);
        risc->firmware = get_region(r, item, "firmware", true);
        risc->kernel = get_region(r, item, "kernel", true);
        risc->backend_config = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "backend_config"));
        risc->local_window = get_u32(r, item, "local_window", false, 0);
    }
    if (list && (managers != 1 || b->riscs[0].role != BOARD_MANAGER))
        complain(r, "riscs", "must begin with the one manager");
}

static void read_bytes(reader *r, const cJSON *obj, const char *name, uint8_t *out, uint32_t *count, int max)
{
    const cJSON *list = get_array(r, obj, name, true, max);
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsNumber(item) || item->valueint < 0 || item->valueint > 63) {
            complain(r, name, "must hold coordinates from 0 to 63");
            return;
        }
        out[(*count)++] = (uint8_t)item->valueint;
    }
}

/* "tiles": { "eth": [[1, 0], ...], ... } */
static void read_tiles(reader *r, const cJSON *grid, board *b)
{
    const cJSON *all = get_object(r, grid, "tiles", false), *list, *item;
    cJSON_ArrayForEach(list, all)
    {
        int kind = 1;
        while (kind < CHIP_TILE_KINDS && strcmp(list->string, chip_tile_name((chip_tile_kind)kind)) != 0)
            kind++;
        if (kind == CHIP_TILE_KINDS || !cJSON_IsArray(list)) {
            complain(r, "tiles", "must have lists with the names dram, arc, pcie, eth or router");
            return;
        }
        cJSON_ArrayForEach(item, list)
        {
            const cJSON *x = cJSON_GetArrayItem(item, 0), *y = cJSON_GetArrayItem(item, 1);
            if (!cJSON_IsNumber(x) || !cJSON_IsNumber(y) || x->valueint < 0 || x->valueint >= b->noc_width ||
                y->valueint < 0 || y->valueint >= b->noc_height || b->n_tiles == CHIP_GRID_TILES) {
                complain(r, "tiles", "must be lists of [x, y] inside of the size \"noc\" of the grid");
                return;
            }
            b->tiles[b->n_tiles++] = (chip_tile){(uint8_t)x->valueint, (uint8_t)y->valueint, (uint8_t)kind};
        }
    }
}

static void read_grid(reader *r, const cJSON *root, board *b)
{
    const cJSON *grid = get_object(r, root, "grid", true);
    if (!grid) return;
    uint8_t noc[2] = {0, 0};
    uint32_t n = 0;
    read_bytes(r, grid, "noc", noc, &n, 2);
    b->noc_width = noc[0];
    b->noc_height = noc[1];
    read_bytes(r, grid, "columns", b->columns, &b->n_columns, BOARD_MAX_LINE);
    read_bytes(r, grid, "rows", b->rows, &b->n_rows, BOARD_MAX_LINE);
    b->dram_size = get_number(r, grid, "dram_size", false, 0);
    read_tiles(r, grid, b);
    const cJSON *list = get_array(r, grid, "dram", false, BOARD_MAX_DRAM);
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        const cJSON *x = cJSON_GetArrayItem(item, 0), *y = cJSON_GetArrayItem(item, 1);
        const cJSON *by = cJSON_GetArrayItem(item, 2);
        if (by && (!cJSON_IsNumber(by) || (by->valueint != 0 && by->valueint != 1))) {
            complain(r, "dram", "the third number of a place is the NoC that it is used by, 0 or 1");
            return;
        }
        if (!cJSON_IsNumber(x) || !cJSON_IsNumber(y) || x->valueint < 0 || x->valueint > 63 ||
            y->valueint < 0 || y->valueint > 63) {
            complain(r, "dram", "must be a list of [x, y], from 0 to 63");
            return;
        }
        b->dram_noc[b->n_dram] = by ? (uint8_t)by->valueint : BOARD_ANY_NOC;
        b->dram[b->n_dram++] = (board_xy){(uint8_t)x->valueint, (uint8_t)y->valueint};
    }
}

static void read_pcie(reader *r, const cJSON *root, board *b)
{
    const cJSON *pcie = get_object(r, root, "pcie", false);
    if (!pcie) return;
    char format[16] = "";
    get_text(r, pcie, "windows", true, format, sizeof format);
    if (strcmp(format, "wormhole") == 0)
        b->window_format = BOARD_WINDOWS_WORMHOLE;
    else if (strcmp(format, "blackhole") == 0)
        b->window_format = BOARD_WINDOWS_BLACKHOLE;
    else
        complain(r, "windows", "must be \"wormhole\" or \"blackhole\"");
    b->pci_vendor = get_u32(r, pcie, "vendor", true, 0);
    b->pci_device = get_u32(r, pcie, "device", true, 0);
    b->reserved_windows = get_u32(r, pcie, "reserved", false, 0);
    b->window_config_offset = get_u32(r, pcie, "config_offset", true, 0);
    b->bar0_base = get_number(r, pcie, "bar0_base", true, 0);
    b->bar0_size = get_number(r, pcie, "bar0_size", true, 0);
    const cJSON *list = get_array(r, pcie, "classes", true, BOARD_MAX_CLASSES);
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        board_window_class *c = &b->classes[b->n_classes++];
        c->count = get_u32(r, item, "count", true, 0);
        uint32_t bits = get_u32(r, item, "bits", true, 0);
        c->bits = (uint8_t)bits;
        if (bits < 16 || bits > 28) complain(r, "bits", "of a window class must be from 16 to 28");
    }
}

static void read_arc(reader *r, const cJSON *root, board *b)
{
    const cJSON *arc = get_object(r, root, "arc", false);
    if (!arc) return;
    uint8_t tile[2] = {0, 0};
    uint32_t n = 0;
    char harvested[16] = "";
    read_bytes(r, arc, "tile", tile, &n, 2);
    b->arc.x = tile[0];
    b->arc.y = tile[1];
    b->arc.space = get_number(r, arc, "space", false, 0);
    b->arc.table = get_number(r, arc, "table", true, 0);
    b->arc.data = get_number(r, arc, "data", true, 0);
    b->arc.messages = get_number(r, arc, "messages", false, 0);
    get_text(r, arc, "harvested", true, harvested, sizeof harvested);
    b->arc.columns = strcmp(harvested, "columns") == 0;
    if (!b->arc.columns && strcmp(harvested, "rows") != 0)
        complain(r, "harvested", "must be \"columns\" or \"rows\"");
    read_bytes(r, arc, "fuses", b->arc.fuses, &b->arc.n_fuses, BOARD_MAX_LINE);
    const uint8_t *line = b->arc.columns ? b->columns : b->rows;
    const uint32_t length = b->arc.columns ? b->n_columns : b->n_rows;
    uint64_t there = 0, named = 0;
    for (uint32_t i = 0; i < length; i++)
        there |= UINT64_C(1) << line[i];
    for (uint32_t i = 0; i < b->arc.n_fuses; i++)
        named |= UINT64_C(1) << b->arc.fuses[i];
    if (n == 2 && (tile[0] >= b->noc_width || tile[1] >= b->noc_height))
        complain(r, "tile", "of \"arc\" lies outside of the size \"noc\" of the grid");
    if (n != 2 || b->arc.n_fuses != length || named != there)
        complain(r, "fuses", "must name each of the columns, or rows, of the grid once");
}

static void read_usb(reader *r, const cJSON *root, board *b)
{
    const cJSON *usb = get_object(r, root, "usb", false);
    if (!usb) return;
    b->usb_khz = get_u32(r, usb, "khz", false, 0);
    b->usb_idcode = get_u32(r, usb, "idcode", false, 0);
    if (b->usb_khz > 100000) complain(r, "khz", "must be at most 100000");
}

static void read_rest(reader *r, const cJSON *root, board *b)
{
    get_text(r, root, "name", true, b->name, sizeof b->name);
    get_text(r, root, "title", true, b->title, sizeof b->title);
    get_text(r, root, "arch", true, b->arch, sizeof b->arch);
    get_text(r, root, "march", true, b->march, sizeof b->march);
    get_text(r, root, "mabi", true, b->mabi, sizeof b->mabi);
    get_text(r, root, "linker", false, b->linker, sizeof b->linker);
    const cJSON *item;
    const cJSON *list = get_array(r, root, "transports", true, BOARD_MAX_TRANSPORTS);
    cJSON_ArrayForEach(item, list)
    {
        char *name = b->transports[b->n_transports++];
        if (cJSON_IsString(item)) snprintf(name, sizeof b->transports[0], "%s", item->valuestring);
    }

    const cJSON *clock = get_object(r, root, "clock", true);
    if (clock) {
        b->mhz = get_u32(r, clock, "mhz", true, 0);
        if (b->mhz == 0) complain(r, "mhz", "must not be 0");
        bool csr = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(clock, "csr"));
        b->clock_kind = csr ? BOARD_CLOCK_CSR : BOARD_CLOCK_MMIO;
        b->clock_low = get_u32(r, clock, "low", !csr, 0);
        b->clock_high = get_u32(r, clock, "high", !csr, 0);
        b->clock_latched = get_u32(r, clock, "latched", false, 0);
        b->clocks_start_together = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(clock, "start_together"));
    }

    const cJSON *registers = get_object(r, root, "registers", false);
    if (registers) {
        b->soft_reset = get_u32(r, registers, "soft_reset", false, 0);
        b->soft_reset_init = get_u32(r, registers, "soft_reset_init", false, 0);
        b->soft_reset_mask = get_u32(r, registers, "soft_reset_mask", false, 0);
        b->timestamp = get_u32(r, registers, "timestamp", false, 0);
        b->icache_invalidate = get_u32(r, registers, "icache_invalidate", false, 0);
        b->mtime = get_u32(r, registers, "mtime", false, 0);
        const cJSON *noc = cJSON_GetObjectItemCaseSensitive(registers, "noc");
        for (int i = 0; noc && i < 2; i++) {
            const cJSON *address = cJSON_GetArrayItem(noc, i);
            if (cJSON_IsString(address)) b->noc_regs[i] = (uint32_t)strtoul(address->valuestring, NULL, 0);
        }
    }

    b->data_cache = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(root, "data_cache"));
    char icache[16] = "register";
    get_text(r, root, "icache", false, icache, sizeof icache);
    b->icache = strcmp(icache, "fence.i") == 0   ? BOARD_ICACHE_FENCE
                : strcmp(icache, "rewrite") == 0 ? BOARD_ICACHE_REWRITE
                                                 : BOARD_ICACHE_REGISTER;
    if (b->icache == BOARD_ICACHE_REGISTER && strcmp(icache, "register") != 0)
        complain(r, "icache", "must be \"register\", \"fence.i\" or \"rewrite\"");

    list = get_array(r, root, "ram", true, BOARD_MAX_RAMS);
    cJSON_ArrayForEach(item, list)
    {
        b->rams[b->n_rams].base = get_u32(r, item, "base", true, 0);
        b->rams[b->n_rams++].size = get_u32(r, item, "size", true, 0);
    }
    const cJSON *regions = get_object(r, root, "regions", true);
    if (regions) {
        b->mailbox = get_region(r, regions, "mailbox", true);
        b->profiler = get_region(r, regions, "profiler", true);
        b->user = get_region(r, regions, "user", true);
        b->events = get_region(r, regions, "events", false);
        b->boot = get_region(r, regions, "boot", false);
    }
    const cJSON *profiler = get_object(r, root, "profiler", true);
    if (profiler) b->segment_bits = get_u32(r, profiler, "segment_bits", true, 0);
}

devlog_status board_parse(const char *json, const char *origin, board *out, devlog_error *err)
{
    reader r = {origin, err, DEVLOG_OK};
    cJSON *root = cJSON_Parse(json);
    if (!root || !cJSON_IsObject(root)) {
        const char *at = cJSON_GetErrorPtr();
        int line = 1;
        for (const char *p = json; at && p < at && *p; p++)
            line += *p == '\n';
        cJSON_Delete(root);
        return dl_fail(err, DEVLOG_ERR_FORMAT, "%s:%d: not a JSON object", origin, line);
    }
    board b;
    memset(&b, 0, sizeof b);
    read_rest(&r, root, &b);
    read_riscs(&r, root, &b);
    read_grid(&r, root, &b);
    read_pcie(&r, root, &b);
    read_arc(&r, root, &b);
    read_usb(&r, root, &b);
    if (r.status == DEVLOG_OK) r.status = board_check(&b, origin, err);
    cJSON_Delete(root);
    if (r.status == DEVLOG_OK) *out = b;
    return r.status;
}

/* The linker fragment lies beside the board file, unless it is named by a whole path. */
static devlog_status find_fragment(board *b, const char *path, devlog_error *err)
{
    if (!b->linker[0]) return DEVLOG_OK;
    const char *slash = strrchr(path, '/');
    char whole[sizeof b->linker];
    if (b->linker[0] != '/' && slash) {
        int n = snprintf(whole, sizeof whole, "%.*s/%s", (int)(slash - path), path, b->linker);
        if (n < 0 || (size_t)n >= sizeof whole)
            return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: the path of its linker fragment is too long", path);
        memcpy(b->linker, whole, sizeof whole);
    }
    if (access(b->linker, R_OK) == 0) return DEVLOG_OK;
    return dl_fail(err, DEVLOG_ERR_NOT_FOUND, "%s: \"linker\": cannot read %s", path, b->linker);
}

devlog_status board_load(const char *name, board *out, devlog_error *err)
{
    char path[4096];
    size_t n = strlen(name);
    bool is_path = n > 5 && strcmp(name + n - 5, ".json") == 0;
    if (is_path) {
        if (n >= sizeof path) return dl_fail(err, DEVLOG_ERR_ARGUMENT, "path too long: %.200s...", name);
        memcpy(path, name, n + 1);
    } else {
        if (strchr(name, '/') ||
            snprintf(path, sizeof path, "%s/boards/%s.json", dl_home(), name) >= (int)sizeof path)
            return dl_fail(err, DEVLOG_ERR_ARGUMENT, "'%.100s' is not the name of a board", name);
    }
    dl_str text = {0};
    devlog_status status = dl_file_read(path, BOARD_MAX_BYTES, &text, err);
    if (status == DEVLOG_ERR_NOT_FOUND && !is_path)
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                       "unknown board '%.100s': there is no %s; 'devlog boards' lists them", name, path);
    if (status == DEVLOG_OK) status = board_parse(text.text, path, out, err);
    dl_str_free(&text);
    return status == DEVLOG_OK ? find_fragment(out, path, err) : status;
}

bool board_core_noc(const board *b, uint32_t x, uint32_t y, board_xy *out)
{
    if (x >= b->n_columns || y >= b->n_rows) return false;
    *out = (board_xy){b->columns[x], b->rows[y]};
    return true;
}

int board_risc_index(const board *b, const char *name)
{
    for (uint32_t i = 0; i < b->n_riscs; i++) {
        const char *p = name, *q = b->riscs[i].name;
        while (*p && *q) {
            if (*p == '_') {
                p++;
                continue;
            }
            if (toupper((unsigned char)*p) != toupper((unsigned char)*q)) break;
            p++;
            q++;
        }
        if (*p == 0 && *q == 0) return (int)i;
    }
    return -1;
}

uint32_t board_profiler_base(const board *b, uint32_t risc)
{
    return b->profiler.base + risc * DEVLOG_REGION_BYTES(b->segment_bits);
}
