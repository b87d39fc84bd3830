/* Saved states: see the header. */
#include "transport/saved.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 16, ENTRY = 12, VERSION = 1, MAX_BYTES = 1 << 30, MAX_NAME = 4096 };

static const char magic[8] = {'D', 'E', 'V', 'L', 'O', 'G', 'P', 'M'};

/* ---- Writing ------------------------------------------------------------------------------------- */

static void put32(dl_file_writer *w, uint32_t value)
{
    const char bytes[4] = {(char)value, (char)(value >> 8), (char)(value >> 16), (char)(value >> 24)};
    dl_str_add_n(&w->buffer, bytes, 4);
}

static void put_entry(dl_file_writer *w, int kind, dl_target at, uint32_t hart, uint32_t address,
                      uint32_t size)
{
    const char head[4] = {(char)kind, (char)at.x0, (char)at.y0, (char)hart};
    dl_str_add_n(&w->buffer, head, 4);
    put32(w, address);
    put32(w, size);
}

devlog_status saved_create(dl_file_writer *w, const char *path, const char *board, devlog_error *err)
{
    devlog_status status = dl_file_create(w, path, err);
    if (status != DEVLOG_OK) return status;
    w->sync = true; /* the device will not be in this state again */
    dl_str_add_n(&w->buffer, magic, sizeof magic);
    put32(w, VERSION);
    put32(w, (uint32_t)strlen(board));
    dl_str_add(&w->buffer, board);
    return DEVLOG_OK;
}

void saved_memory(dl_file_writer *w, dl_target at, uint32_t address, const void *bytes, uint32_t size)
{
    put_entry(w, SAVED_MEMORY, at, 0, address, size);
    dl_str_add_n(&w->buffer, bytes, size);
    dl_file_flush(w);
}

void saved_pc(dl_file_writer *w, dl_target at, uint32_t hart, uint32_t pc)
{
    put_entry(w, SAVED_PC, at, hart, pc, 0);
}

void saved_grid(dl_file_writer *w, uint64_t dead_columns, uint64_t dead_rows)
{
    put_entry(w, SAVED_GRID, (dl_target){0, 0, 0, 0}, 0, 0, 16);
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t mask = i ? dead_rows : dead_columns;
        put32(w, (uint32_t)mask);
        put32(w, (uint32_t)(mask >> 32));
    }
}

devlog_status saved_commit(dl_file_writer *w, devlog_error *err)
{
    put_entry(w, SAVED_END, (dl_target){0, 0, 0, 0}, 0, 0, 0);
    return dl_file_commit(w, err);
}

/* ---- Reading ------------------------------------------------------------------------------------- */

typedef struct entry {
    uint8_t kind, x, y, hart;
    uint32_t address, size;
    const char *bytes;
} entry;

typedef struct saved_transport {
    dl_str file;
    entry *entries;
    size_t n;
} saved_transport;

static uint32_t take32(const char *p)
{
    const uint8_t *b = (const uint8_t *)p;
    /* Never NULL: head_bytes has looked. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* Bytes of the head with the name, or 0 when it is none. */
static size_t head_bytes(const dl_str *file)
{
    if (!file->text || file->len < HEAD || memcmp(file->text, magic, sizeof magic) != 0 ||
        take32(file->text + 8) != VERSION)
        return 0;
    uint32_t name = take32(file->text + 12);
    return name == 0 || name > MAX_NAME || name > file->len - HEAD ? 0 : HEAD + name;
}

static devlog_status no_state(const char *origin, devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: not a saved state of a device of this version", origin);
}

static devlog_status read_file(const char *path, dl_str *file, devlog_error *err)
{
    if (!path || !*path) return dl_fail(err, DEVLOG_ERR_ARGUMENT, "which saved state? saved:FILE");
    devlog_status status = dl_file_read(path, MAX_BYTES, file, err);
    if (status == DEVLOG_OK && head_bytes(file) == 0) status = no_state(path, err);
    return status;
}

static devlog_status saved_board_of(const char *path, char *name, size_t size, devlog_error *err)
{
    dl_str file = {0};
    devlog_status status = read_file(path, &file, err);
    if (status == DEVLOG_OK) {
        uint32_t n = take32(file.text + 12);
        if (n >= size || memchr(file.text + HEAD, 0, n)) status = no_state(path, err);
        if (status == DEVLOG_OK) snprintf(name, size, "%.*s", (int)n, file.text + HEAD);
    }
    dl_str_free(&file);
    return status;
}

static void saved_close(dl_transport *t)
{
    saved_transport *s = t->state;
    if (!s) return;
    dl_str_free(&s->file);
    free(s->entries);
    free(s);
    t->state = NULL;
}

/* The entries of the file; DEVLOG_ERR_FORMAT names the first byte that makes no sense. */
static devlog_status index_entries(saved_transport *s, const char *origin, devlog_error *err)
{
    size_t cap = 0;
    for (size_t at = head_bytes(&s->file);;) {
        if (s->file.len - at < ENTRY)
            return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: cut off after %zu bytes", origin, s->file.len);
        const char *p = s->file.text + at;
        entry e = {(uint8_t)p[0], (uint8_t)p[1], (uint8_t)p[2], (uint8_t)p[3],
                   take32(p + 4), take32(p + 8), p + ENTRY};
        if (e.kind == SAVED_END) return DEVLOG_OK;
        if (e.kind > SAVED_GRID || (e.kind == SAVED_GRID && e.size != 16) ||
            e.size > s->file.len - at - ENTRY)
            return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: damaged at byte %zu", origin, at);
        if (s->n == cap) {
            cap = cap ? 2 * cap : 256;
            entry *bigger = realloc(s->entries, cap * sizeof *bigger);
            if (!bigger) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for %s", origin);
            s->entries = bigger;
        }
        s->entries[s->n++] = e;
        at += ENTRY + e.size;
    }
}

devlog_status saved_parse(dl_str *bytes, const char *origin, dl_transport *out, devlog_error *err)
{
    saved_transport *s = calloc(1, sizeof *s);
    if (!s) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for %s", origin);
    s->file = *bytes;
    *bytes = (dl_str){0};
    out->state = s;
    devlog_status status = head_bytes(&s->file) ? index_entries(s, origin, err) : no_state(origin, err);
    if (status != DEVLOG_OK) saved_close(out);
    return status;
}

static devlog_status saved_open(dl_transport *t, const dl_transport_setup *setup, devlog_error *err)
{
    dl_str file = {0};
    if (!setup->attach)
        return dl_fail(err, DEVLOG_ERR_UNSUPPORTED, "a saved state can only be looked at: devlog dump");
    devlog_status status = read_file(setup->path, &file, err);
    if (status == DEVLOG_OK) status = saved_parse(&file, setup->path, t, err);
    dl_str_free(&file);
    return status;
}

static devlog_status saved_read(dl_transport *t, dl_target at, uint64_t addr, void *dst, size_t size,
                                devlog_error *err)
{
    const saved_transport *s = t->state;
    for (size_t i = 0; i < s->n; i++) {
        const entry *e = &s->entries[i];
        if (e->kind != SAVED_MEMORY || e->x != at.x0 || e->y != at.y0 || addr < e->address) continue;
        uint64_t offset = addr - e->address;
        if (offset > e->size || size > e->size - offset) continue;
        memcpy(dst, e->bytes + offset, size);
        return DEVLOG_OK;
    }
    return dl_fail(err, DEVLOG_ERR_NOT_FOUND, "%zu bytes at 0x%llx of tile (%u,%u) were not saved", size,
                   (unsigned long long)addr, at.x0, at.y0);
}

static devlog_status saved_write(dl_transport *t, dl_target at, uint64_t addr, const void *src, size_t size,
                                 devlog_error *err)
{
    (void)t, (void)at, (void)addr, (void)src, (void)size;
    return dl_fail(err, DEVLOG_ERR_STATE, "a saved state cannot be written");
}

static bool saved_hart_pc(dl_transport *t, dl_target at, uint32_t hart, uint32_t *pc)
{
    const saved_transport *s = t->state;
    for (size_t i = 0; i < s->n; i++) {
        const entry *e = &s->entries[i];
        if (e->kind != SAVED_PC || e->x != at.x0 || e->y != at.y0 || e->hart != hart) continue;
        *pc = e->address;
        return true;
    }
    return false;
}

static void saved_dead(const dl_transport *t, uint64_t *columns, uint64_t *rows)
{
    const saved_transport *s = t->state;
    for (size_t i = 0; i < s->n; i++) {
        const char *p = s->entries[i].bytes;
        if (s->entries[i].kind != SAVED_GRID) continue;
        *columns = take32(p) | (uint64_t)take32(p + 4) << 32;
        *rows = take32(p + 8) | (uint64_t)take32(p + 12) << 32;
    }
}

const dl_transport_ops dl_transport_ops_saved = {
    .name = "saved",
    .summary = "the state of a device in a file (DEVLOG_POSTMORTEM), to look at only: saved:FILE",
    .open = saved_open,
    .close = saved_close,
    .read = saved_read,
    .write = saved_write,
    .board_of = saved_board_of,
    .hart_pc = saved_hart_pc,
    .dead = saved_dead,
};
