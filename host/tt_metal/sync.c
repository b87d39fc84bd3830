/* Devices' clocks on the host's. */
#include "tt_metal/sync.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CELLS = 24, MAX_LINE = 64 * 1024, MAX_DEVICES = 1024 };
enum { C_DEVICE, C_CYCLES, C_START, C_DELAY, C_FREQUENCY, C_RATIO, C_BASE, C_SCALE, C_SHIFT, COLUMNS };

typedef struct reading {
    tt_sync *s;
    tt_found *found;
    int at[COLUMNS];
    bool header;
} reading;

static bool real(tt_cell c, double *out)
{
    char text[64], *end;
    if (!c.n || c.n >= sizeof text) return false;
    memcpy(text, c.text, c.n);
    text[c.n] = 0;
    *out = strtod(text, &end);
    return !*end && isfinite(*out);
}

static tt_sync_device *device_of(tt_sync *s, uint32_t device)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->items[i].device == device) return &s->items[i];
    if (s->n == MAX_DEVICES) return NULL;
    tt_sync_device *grown = realloc(s->items, (s->n + 1) * sizeof *grown);
    if (!grown) return NULL;
    s->items = grown;
    grown[s->n] = (tt_sync_device){.device = device, .scale = 1};
    return &grown[s->n++];
}

static bool take(void *ctx, const char *line, size_t n, uint64_t number)
{
    static const char *const texts[COLUMNS] = {
        "device id",   "device",      "host_start",      "delay",
        "frequency",   "tracy_ratio", "tracy_base_time", "device_frequency_ratio",
        "device_shift"};
    reading *r = ctx;
    tt_cell cells[MAX_CELLS];
    size_t found;
    if (!n) return true;
    tt_cells_split(line, n, cells, MAX_CELLS, &found);
    if (found && tt_cell_is(cells[0], texts[C_DEVICE])) { /* also again: another run was appended */
        for (int i = 0; i < COLUMNS; i++) {
            r->at[i] = -1;
            for (size_t k = 0; k < found; k++)
                if (tt_cell_is(cells[k], texts[i])) r->at[i] = (int)k;
        }
        r->header = true;
        return true;
    }
    double v[COLUMNS];
    bool has[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) {
        has[i] = r->header && r->at[i] >= 0 && (size_t)r->at[i] < found && real(cells[r->at[i]], &v[i]);
        if (!has[i]) v[i] = 0;
    }
    bool fit =
        has[C_DELAY] && has[C_FREQUENCY] && has[C_START] && has[C_RATIO] && has[C_BASE] && v[C_FREQUENCY] > 0;
    bool beside = !has[C_FREQUENCY] && has[C_SCALE] && has[C_SHIFT] && v[C_SCALE] > 0;
    if (!has[C_DEVICE] || v[C_DEVICE] < 0 || v[C_DEVICE] >= MAX_DEVICES || (!fit && !beside)) {
        tt_found_add(r->found, TT_BAD_SYNC, TT_SYNC_NAME ":%llu: %.*s", (unsigned long long)number,
                     (int)(n < 80 ? n : 80), line);
        return true;
    }
    tt_sync_device *d = device_of(r->s, (uint32_t)v[C_DEVICE]);
    if (!d) return false;
    if (fit) {
        d->by_host = true;
        d->frequency = v[C_FREQUENCY];
        d->delay = v[C_DELAY];
        d->origin = (v[C_START] - v[C_BASE]) * v[C_RATIO];
        d->samples++;
    } else {
        d->scale = v[C_SCALE];
        d->shift = v[C_SHIFT];
    }
    return true;
}

static devlog_status read_all(tt_sync *s, dl_input *in, tt_found *found, devlog_error *err)
{
    reading r = {.s = s, .found = found};
    const tt_lines lines = {.ctx = &r, .take = take, .longest = MAX_LINE};
    return tt_lines_read(&lines, in, NULL, found, err);
}

devlog_status tt_sync_read(tt_sync *s, const char *path, tt_found *found, devlog_error *err)
{
    dl_input *in;
    devlog_status status = dl_input_open(&in, path, err);
    return status ? status : read_all(s, in, found, err);
}

devlog_status tt_sync_parse(tt_sync *s, const void *bytes, size_t n, tt_found *found, devlog_error *err)
{
    dl_input *in;
    devlog_status status = dl_input_memory(&in, TT_SYNC_NAME, bytes, n, err);
    return status ? status : read_all(s, in, found, err);
}

void tt_sync_free(tt_sync *s)
{
    free(s->items);
    *s = (tt_sync){0};
}

bool tt_sync_host(const tt_sync *s, uint32_t device, uint64_t cycle, double *ns)
{
    const tt_sync_device *d = NULL, *root = NULL;
    for (size_t i = 0; i < s->n; i++) {
        if (s->items[i].device == device) d = &s->items[i];
        if (s->items[i].by_host && (!root || s->items[i].device == device)) root = &s->items[i];
    }
    if (!d || !root) return false;
    *ns = root->origin + ((double)cycle * d->scale + d->shift - root->delay) / root->frequency;
    return fabs(*ns) < 9e15;
}
