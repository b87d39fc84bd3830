/* Boards: whether a board can be as its file says. Not for reading the file (board.c). */
#include "device/board_check.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devlog/record.h"

enum { LOCAL_LEAST = 512 };

/* The first error wins. */
typedef struct checker {
    const char *origin;
    devlog_error *err;
    devlog_status status;
} checker;

static void complain(checker *r, const char *path, const char *what)
{
    if (r->status != DEVLOG_OK) return;
    r->status = dl_fail(r->err, DEVLOG_ERR_FORMAT, "%s: \"%s\" %s", r->origin, path, what);
}

typedef struct named_region {
    char name[48];
    board_region at;
} named_region;

static int by_base(const void *a, const void *b)
{
    const named_region *x = a, *y = b;
    if (x->at.base != y->at.base) return x->at.base < y->at.base ? -1 : 1;
    return x->at.size < y->at.size ? -1 : x->at.size > y->at.size;
}

bool board_in_ram(const board *b, board_region at)
{
    for (uint32_t i = 0; i < b->n_rams; i++) {
        uint64_t start = b->rams[i].base, end = start + b->rams[i].size;
        if (at.base >= start && (uint64_t)at.base + at.size <= end) return true;
    }
    return false;
}

/* A name that becomes a symbol of the linker and of C. */
static bool is_identifier(const char *name)
{
    if (!isalpha((unsigned char)name[0]) && name[0] != '_') return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_') return false;
    return true;
}

static void check_riscs(checker *r, const board *b)
{
    if (!is_identifier(b->name)) complain(r, "name", "must be made of letters, digits and _");
    for (uint32_t i = 0; i < b->n_riscs; i++) {
        const board_risc *risc = &b->riscs[i];
        if (!is_identifier(risc->name))
            complain(r, "riscs", "have names that are not made of letters, digits and _");
        if (risc->reset_bit < -1 || risc->reset_bit > 31)
            complain(r, "reset_bit", "must be from 0 to 31, or -1: none");
        if ((risc->reset_bit >= 0) != (b->soft_reset != 0))
            complain(r, "reset_bit",
                     "is for every RISC when there is a register \"soft_reset\", else for none");
        if (risc->local.size < LOCAL_LEAST || risc->local.size % 4)
            complain(r, "local_size", "must be a multiple of 4, and at least 512");
        if (risc->local.size > UINT32_MAX - risc->local.base) complain(r, "local_size", "goes beyond 4 GiB");
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(b->riscs[k].name, risc->name) == 0) complain(r, "riscs", "have the same name twice");
    }
    for (uint32_t i = 0; i < b->n_columns; i++)
        if (b->columns[i] >= b->noc_width)
            complain(r, "columns", "lie outside of the size \"noc\" of the grid");
    for (uint32_t i = 0; i < b->n_rows; i++)
        if (b->rows[i] >= b->noc_height) complain(r, "rows", "lie outside of the size \"noc\" of the grid");
    uint32_t page = (b->clock_low + 0x800) & 0xFFFFF000u;
    int32_t high = (int32_t)(b->clock_high - page);
    if (b->clock_kind == BOARD_CLOCK_MMIO && (high < -0x800 || high > 0x7FF))
        complain(r, "high", "must be within the 4 KiB around \"low\": one base register reaches both");
}

static void check_regions(checker *r, const board *b)
{
    named_region all[3 * BOARD_MAX_RISCS + 5];
    uint32_t n = 0;
    all[n++] = (named_region){"mailbox", b->mailbox};
    all[n++] = (named_region){"profiler", b->profiler};
    all[n++] = (named_region){"user", b->user};
    if (b->events.size) all[n++] = (named_region){"events", b->events};
    if (b->boot.size) all[n++] = (named_region){"boot", b->boot};
    for (uint32_t i = 0; i < b->n_riscs; i++) {
        snprintf(all[n].name, sizeof all[n].name, "firmware of %s", b->riscs[i].name);
        all[n++].at = b->riscs[i].firmware;
        snprintf(all[n].name, sizeof all[n].name, "kernel of %s", b->riscs[i].name);
        all[n++].at = b->riscs[i].kernel;
        if (!board_in_ram(b, b->riscs[i].local)) continue;
        snprintf(all[n].name, sizeof all[n].name, "local memory of %s", b->riscs[i].name);
        all[n++].at = b->riscs[i].local;
    }
    qsort(all, n, sizeof all[0], by_base);
    for (uint32_t i = 0; i < n; i++) {
        if (all[i].at.size == 0 || !board_in_ram(b, all[i].at))
            complain(r, all[i].name, "is empty or lies outside the RAM");
        if (i > 0 && (uint64_t)all[i - 1].at.base + all[i - 1].at.size > all[i].at.base) {
            char what[96];
            snprintf(what, sizeof what, "overlaps the region \"%s\"", all[i - 1].name);
            complain(r, all[i].name, what);
        }
    }
    if (b->segment_bits < DEVLOG_SEGMENT_BITS_MIN || b->segment_bits > DEVLOG_SEGMENT_BITS_MAX)
        complain(r, "segment_bits", "must be from 9 to 16");
    if (r->status != DEVLOG_OK) return;
    uint32_t need = b->n_riscs * DEVLOG_REGION_BYTES(b->segment_bits);
    if (b->profiler.size < need || b->profiler.base % (2u << b->segment_bits) != 0)
        complain(r, "profiler", "must be aligned to two segments and hold one region per RISC");
    if (b->events.base % 16 || b->events.size % 16)
        complain(r, "events", "must be made of blocks of 16 bytes");
    if (b->mailbox.size < sizeof(devlog_mailbox)) complain(r, "mailbox", "is too small");
}

devlog_status board_check(const board *b, const char *origin, devlog_error *err)
{
    checker r = {origin, err, DEVLOG_OK};
    check_riscs(&r, b);
    if (r.status == DEVLOG_OK) check_regions(&r, b);
    return r.status;
}
