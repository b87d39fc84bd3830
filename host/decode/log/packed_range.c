/* A range of a packed log. See packed_range.h. */
#include "decode/log/packed_range.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pack/unpack.h"

static bool read_at(void *ctx, void *bytes, size_t n, uint64_t at)
{
    const dl_packed_range *r = ctx;
    size_t have = 0;
    while (have < n) {
        const ssize_t got = pread(r->fd, (char *)bytes + have, n - have, (off_t)(at + have));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        have += (size_t)got;
    }
    return true;
}

bool dl_packed_range_is(const char *path)
{
    char first[PK_MAGIC_BYTES];
    dl_packed_range r = {.fd = open(path, O_RDONLY | O_CLOEXEC)};
    const bool is = r.fd >= 0 && read_at(&r, first, sizeof first, 0) && pk_is_packed(first, sizeof first);
    if (r.fd >= 0) close(r.fd);
    return is;
}

devlog_status dl_packed_range_open(dl_packed_range *r, const char *path, devlog_error *err)
{
    return dl_packed_range_take(r, path, open(path, O_RDONLY | O_CLOEXEC), err);
}

devlog_status dl_packed_range_take(dl_packed_range *r, const char *path, int fd, devlog_error *err)
{
    struct stat st;
    uint8_t end[PK_HEADER_BYTES];
    pk_header h;
    *r = (dl_packed_range){.path = path, .fd = fd};
    if (r->fd < 0 || fstat(r->fd, &st) != 0) return dl_fail_errno(err, errno, "cannot read %s", path);
    r->stored = (uint64_t)st.st_size;
    if (!pk_index_read(&r->index, read_at, r, r->stored) || !read_at(r, end, sizeof end, r->index.end_at) ||
        !pk_header_get(end, &h) || h.at < r->index.entries[r->index.n - 1].at)
        return dl_fail(err, DEVLOG_ERR_FORMAT, "%s has no whole index of its blocks", path);
    r->size = r->to = h.at;
    r->unpacker = pk_unpacker_new();
    r->block = malloc(PK_MAX_STORED);
    r->room = malloc(PK_INFO_BYTES + PK_MAX_TEXT + PK_LONGEST_ROW);
    if (!r->unpacker || !r->block || !r->room) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    memset(r->room, 0, PK_INFO_BYTES);
    return DEVLOG_OK;
}

void dl_packed_range_close(dl_packed_range *r)
{
    if (r->fd >= 0) close(r->fd);
    pk_index_free(&r->index);
    if (r->unpacker) pk_unpacker_free(r->unpacker);
    free(r->block);
    free(r->room);
    *r = (dl_packed_range){.fd = -1};
}

static uint64_t end_of(const dl_packed_range *r, size_t block)
{
    return block + 1 < r->index.n ? r->index.entries[block + 1].at : r->size;
}

void dl_packed_range_set(dl_packed_range *r, uint64_t from, uint64_t to)
{
    size_t low = 0, high = r->index.n;
    while (low < high) { /* the first block that ends behind `from` */
        const size_t middle = low + (high - low) / 2;
        if (end_of(r, middle) > from)
            high = middle;
        else
            low = middle + 1;
    }
    r->next = from < to ? low : r->index.n;
    r->from = from;
    r->to = to;
}

static devlog_status damaged(const dl_packed_range *r, size_t block, devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_FORMAT,
                   "%s: the block at byte %llu is damaged; \"devlog decode\" without -j reads on behind it",
                   r->path, (unsigned long long)r->index.entries[block].offset);
}

/* Block `next`, as it is stored. */
static devlog_status load(dl_packed_range *r, pk_header *h, devlog_error *err)
{
    const pk_entry *e = &r->index.entries[r->next];
    uint8_t head[PK_HEADER_BYTES];
    const bool good = read_at(r, head, sizeof head, e->offset) && pk_header_get(head, h) &&
                      pk_header_is_known(h) && h->kind == PK_BLOCK && h->stored <= PK_MAX_STORED &&
                      h->size <= PK_MAX_TEXT && h->at == e->at && h->at + h->size == end_of(r, r->next) &&
                      read_at(r, r->block, h->stored, e->offset + sizeof head) &&
                      pk_header_holds(head, h, r->block);
    return good ? DEVLOG_OK : damaged(r, r->next, err);
}

/* What is in the range of the text of the block that has been loaded. */
static devlog_status cut_out(dl_packed_range *r, const pk_header *h, const char **text, size_t *n,
                             devlog_error *err)
{
    char *all = (char *)r->room + PK_INFO_BYTES;
    if (pk_unpack_block(r->unpacker, h, r->block, all)) return damaged(r, r->next, err);
    const size_t from = r->from > h->at ? (size_t)(r->from - h->at) : 0;
    const size_t to = r->to < h->at + h->size ? (size_t)(r->to - h->at) : h->size;
    *text = all + from;
    *n = to > from ? to - from : 0;
    return DEVLOG_OK;
}

devlog_status dl_packed_range_text(dl_packed_range *r, const char **text, size_t *n, devlog_error *err)
{
    pk_header h;
    *n = 0;
    if (r->next >= r->index.n || r->index.entries[r->next].at >= r->to) return DEVLOG_OK;
    devlog_status status = load(r, &h, err);
    if (!status) status = cut_out(r, &h, text, n, err);
    r->next++;
    return status;
}

devlog_status dl_packed_range_next(dl_packed_range *r, pk_header *h, const uint8_t **stored, bool *there,
                                   devlog_error *err)
{
    const char *text = NULL;
    size_t n;
    *there = r->next < r->index.n && r->index.entries[r->next].at < r->to;
    if (!*there) return DEVLOG_OK;
    devlog_status status = load(r, h, err);
    *stored = r->block;
    if (!status && (h->at < r->from || h->at + h->size > r->to)) {
        status = cut_out(r, h, &text, &n, err);
        if (!status) {
            memmove(r->room + PK_INFO_BYTES, text, n);
            *h = (pk_header){.kind = PK_BLOCK, .version = PK_VERSION, .plain = true};
            h->size = (uint32_t)n;
            h->stored = (uint32_t)(n + PK_INFO_BYTES);
            *stored = r->room;
        }
    }
    r->next++;
    return status;
}
