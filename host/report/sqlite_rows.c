/* Pages of tables of an SQLite database. See sqlite_rows.h. Leaves go to the end of the file as they become full; the pages
 * above them, which say which row is where, follow when the table ends, and the uppermost takes the root's place. */
#include "report/sqlite_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

enum {
    PAGE = SQLITE_ROWS_PAGE,
    MOST_NUMBER = 9, /* bytes of a number of SQLite's in bytes of seven bits */
    LEAF = 13,
    INTERIOR = 5,
    LEAF_HEADER = 8,
    INTERIOR_HEADER = 12,
    CHILDREN = (PAGE - INTERIOR_HEADER) /
               (4 + MOST_NUMBER + 2), /* fit into a page above leaves, however large rows' numbers */
    /* What of a row stands in its leaf: all of it, or at least LEAST bytes, and the rest in pages of its own. */
    MOST_LOCAL = PAGE - 35,
    LEAST_LOCAL = (PAGE - 12) * 32 / 255 - 23,
    OVERFLOW_BYTES = PAGE - 4,
    PENDING_BYTE = 0x40000000, /* the page that holds it is for locks, and stays empty */
    /* Offsets in the database's header. */
    AT_PAGE_SIZE = 16,
    AT_RESERVED = 20,
    AT_PAGES = 28,
    AT_SCHEMA_FORMAT = 44,
    AT_VACUUM = 52,
    HEADER = 100,
};

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while writing SQLite");
}

static void put_u16(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
}

static void put_u32(uint8_t *to, uint32_t value)
{
    put_u16(to, value >> 16);
    put_u16(to + 2, value & 0xFFFF);
}

static uint32_t get_u32(const uint8_t *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

/* Seven bits a byte, the highest first; a ninth byte has eight. */
static uint8_t *put_number(uint8_t *to, uint64_t value)
{
    if (value < 0x80) {
        *to = (uint8_t)value;
        return to + 1;
    }
    if (value < 0x4000) {
        to[0] = (uint8_t)(value >> 7 | 0x80);
        to[1] = value & 0x7F;
        return to + 2;
    }
    if (value >> 56) {
        for (int i = 0; i < 8; i++)
            *to++ = (uint8_t)(value >> (57 - 7 * i) | 0x80);
        *to++ = (uint8_t)value;
        return to;
    }
    unsigned n = (unsigned)(63 - __builtin_clzll(value)) / 7;
    for (; n; n--)
        *to++ = (uint8_t)(value >> 7 * n | 0x80);
    *to++ = value & 0x7F;
    return to;
}

static devlog_status write_page(const sqlite_file *f, uint32_t page, const uint8_t *bytes, devlog_error *err)
{
    const uint64_t from = (uint64_t)(page - 1) * PAGE;
    for (size_t done = 0; done < PAGE;) {
        ssize_t n = pwrite(f->fd, bytes + done, PAGE - done, (off_t)(from + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return dl_file_unwritten(f->path, n ? errno : EIO, err);
        done += (size_t)n;
    }
    return DEVLOG_OK;
}

/* The number of the next page of the file; 0: a file of SQLite's cannot be longer. */
static uint32_t new_page(sqlite_file *f)
{
    if (f->n_pages >= UINT32_MAX - 2) return 0;
    f->n_pages++;
    if (f->n_pages == PENDING_BYTE / PAGE + 1) f->n_pages++;
    return f->n_pages;
}

static devlog_status add_page(sqlite_file *f, const uint8_t *bytes, uint32_t *page, devlog_error *err)
{
    *page = new_page(f);
    if (!*page)
        return dl_fail(err, DEVLOG_ERR_UNSUPPORTED, "%s becomes larger than an SQLite database can be",
                       f->path);
    return write_page(f, *page, bytes, err);
}

devlog_status sqlite_file_begin(sqlite_file *f, int fd, const char *path, devlog_error *err)
{
    uint8_t header[HEADER];
    *f = (sqlite_file){.fd = fd, .path = path};
    const ssize_t n = pread(fd, header, sizeof header, 0);
    if (n < 0) return dl_fail_errno(err, errno, "cannot read %s", path);
    if (n != sizeof header || header[AT_PAGE_SIZE] != PAGE >> 8 || header[AT_PAGE_SIZE + 1] ||
        header[AT_RESERVED] || get_u32(header + AT_SCHEMA_FORMAT) != 4 || get_u32(header + AT_VACUUM))
        return dl_fail(err, DEVLOG_ERR_IO,
                       "cannot write %s: the SQLite library of this machine makes other files than usual",
                       path);
    f->n_pages = get_u32(header + AT_PAGES);
    return DEVLOG_OK;
}

devlog_status sqlite_file_end(sqlite_file *f, devlog_error *err)
{
    uint8_t pages[4];
    put_u32(pages, f->n_pages);
    if (pwrite(f->fd, pages, sizeof pages, AT_PAGES) != sizeof pages)
        return dl_file_unwritten(f->path, errno, err);
    return DEVLOG_OK;
}

/* ---- Rows -------------------------------------------------------------------------------------------- */

static void empty_leaf(sqlite_table *t)
{
    t->n_cells = 0;
    t->free_end = PAGE;
    memset(t->page, 0, PAGE);
}

devlog_status sqlite_table_begin(sqlite_table *t, sqlite_file *f, uint32_t root, devlog_error *err)
{
    *t = (sqlite_table){.file = f, .root = root, .page = malloc(PAGE), .cap_values = 1024};
    t->values = malloc(t->cap_values);
    if (!t->page || !t->values) return no_memory(err);
    empty_leaf(t);
    sqlite_add_null(t); /* the first column is the row's number */
    return DEVLOG_OK;
}

void sqlite_table_free(sqlite_table *t)
{
    free(t->page);
    free(t->leaves);
    free(t->values);
    *t = (sqlite_table){0};
}

bool sqlite_add_text(sqlite_table *t, const char *text)
{
    const size_t left = t->n_values < SQLITE_ROWS_TEXT ? SQLITE_ROWS_TEXT - t->n_values : 0,
                 n = strnlen(text, left);
    const size_t wanted = t->n_values + n + SQLITE_ROWS_COLUMNS * sizeof(uint64_t);
    if (wanted > t->cap_values) {
        uint8_t *grown = realloc(t->values, 2 * wanted);
        if (!grown) return false;
        t->values = grown;
        t->cap_values = 2 * wanted;
    }
    memcpy(t->values + t->n_values, text, n);
    t->n_values += n;
    t->n_types = (size_t)(put_number(t->types + t->n_types, 13 + 2 * (uint64_t)n) - t->types);
    return true;
}

static void finish_leaf(const sqlite_table *t)
{
    t->page[0] = LEAF;
    put_u16(t->page + 3, t->n_cells);
    put_u16(t->page + 5, t->free_end);
}

static devlog_status write_leaf(sqlite_table *t, devlog_error *err)
{
    if (t->n_leaves == t->cap_leaves) {
        const size_t cap = t->cap_leaves ? 2 * t->cap_leaves : 64;
        sqlite_child *grown = realloc(t->leaves, cap * sizeof *grown);
        if (!grown) return no_memory(err);
        t->leaves = grown;
        t->cap_leaves = cap;
    }
    finish_leaf(t);
    sqlite_child *leaf = &t->leaves[t->n_leaves];
    leaf->last = t->n_rows;
    devlog_status status = add_page(t->file, t->page, &leaf->page, err);
    if (status) return status;
    t->n_leaves++;
    empty_leaf(t);
    return DEVLOG_OK;
}

/* What does not fit into a leaf: a chain of pages, which come one after the other. */
static devlog_status write_overflow(sqlite_table *t, const uint8_t *bytes, size_t n, uint32_t *first,
                                    devlog_error *err)
{
    uint8_t *page = malloc(PAGE);
    if (!page) return no_memory(err);
    uint32_t at = *first = new_page(t->file);
    devlog_status status = DEVLOG_OK;
    while (at && n && !status) {
        const size_t some = n < OVERFLOW_BYTES ? n : OVERFLOW_BYTES;
        const uint32_t next = n > some ? new_page(t->file) : 0;
        if (n > some && !next) break;
        put_u32(page, next);
        memcpy(page + 4, bytes, some);
        memset(page + 4 + some, 0, OVERFLOW_BYTES - some);
        status = write_page(t->file, at, page, err);
        bytes += some;
        n -= some;
        at = next;
    }
    free(page);
    if (!status && n)
        status = dl_fail(err, DEVLOG_ERR_UNSUPPORTED, "%s becomes larger than an SQLite database can be",
                         t->file->path);
    return status;
}

/* A row whose record is longer than what a leaf may hold of it. */
static devlog_status cut_row(sqlite_table *t, size_t n_header, size_t *local, uint32_t *overflow,
                             devlog_error *err)
{
    const size_t n = n_header + t->n_values, rest = LEAST_LOCAL + (n - LEAST_LOCAL) % OVERFLOW_BYTES;
    *local = rest <= MOST_LOCAL ? rest : LEAST_LOCAL;
    return write_overflow(t, t->values + (*local - n_header), n - *local, overflow, err);
}

devlog_status sqlite_table_row(sqlite_table *t, devlog_error *err)
{
    uint8_t head[2 * MOST_NUMBER + 2]; /* the lengths of the cell and of the header, and the row's number */
    /* The header begins with its own length, which is less than 128. */
    const size_t n_header = t->n_types + 1, n = n_header + t->n_values;
    size_t local = n;
    uint32_t overflow = 0;
    if (n > MOST_LOCAL) {
        devlog_status status = cut_row(t, n_header, &local, &overflow, err);
        if (status) return status;
    }
    uint8_t *end = put_number(put_number(head, n), t->n_rows + 1);
    end = put_number(end, n_header);
    const size_t n_head = (size_t)(end - head);
    const uint32_t cell = (uint32_t)(n_head + t->n_types + (local - n_header) + (overflow ? 4 : 0));
    if (LEAF_HEADER + 2 * (t->n_cells + 1) + cell > t->free_end) {
        devlog_status status = write_leaf(t, err);
        if (status) return status;
    }
    t->free_end -= cell;
    put_u16(t->page + LEAF_HEADER + 2 * t->n_cells++, t->free_end);
    uint8_t *to = t->page + t->free_end;
    memcpy(to, head, n_head);
    memcpy(to + n_head, t->types, t->n_types);
    memcpy(to + n_head + t->n_types, t->values, local - n_header);
    if (overflow) put_u32(to + cell - 4, overflow);
    t->n_rows++;
    t->n_types = 1;
    t->n_values = 0;
    return DEVLOG_OK;
}

/* ---- What is above leaves ---------------------------------------------------------------------------- */

/* A page whose children are these: all but the last with the number of their last row. */
static void make_interior(uint8_t *page, const sqlite_child *children, size_t n)
{
    uint32_t end = PAGE;
    memset(page, 0, PAGE);
    for (size_t i = 0; i + 1 < n; i++) {
        uint8_t cell[4 + MOST_NUMBER];
        put_u32(cell, children[i].page);
        const uint32_t size = (uint32_t)(put_number(cell + 4, children[i].last) - cell);
        end -= size;
        memcpy(page + end, cell, size);
        put_u16(page + INTERIOR_HEADER + 2 * i, end);
    }
    page[0] = INTERIOR;
    put_u16(page + 3, (uint32_t)(n - 1));
    put_u16(page + 5, end);
    put_u32(page + 8, children[n - 1].page);
}

/* Puts pages above those of a level, which they then replace: as many as are needed, with children evenly. */
static devlog_status add_level(sqlite_table *t, devlog_error *err)
{
    const size_t n = t->n_leaves, n_groups = (n + CHILDREN - 1) / CHILDREN;
    for (size_t i = 0; i < n_groups; i++) {
        const size_t from = n * i / n_groups, to = n * (i + 1) / n_groups;
        sqlite_child above = {.last = t->leaves[to - 1].last};
        make_interior(t->page, t->leaves + from, to - from);
        devlog_status status = add_page(t->file, t->page, &above.page, err);
        if (status) return status;
        t->leaves[i] = above; /* i <= from */
    }
    t->n_leaves = n_groups;
    return DEVLOG_OK;
}

devlog_status sqlite_table_end(sqlite_table *t, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    if (!t->n_leaves) {
        finish_leaf(t);
        return write_page(t->file, t->root, t->page, err);
    }
    if (t->n_cells) status = write_leaf(t, err);
    while (!status && t->n_leaves > CHILDREN)
        status = add_level(t, err);
    if (status) return status;
    make_interior(t->page, t->leaves, t->n_leaves);
    return write_page(t->file, t->root, t->page, err);
}
