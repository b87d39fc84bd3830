/* A tar of files: ustar with everything fixed that could differ between two runs. */
#include "report/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 512, NAME = 100, COPY = 64 * 1024 };

/* The header of a file, as libarchive and GNU tar read it. */
typedef struct ustar {
    char name[NAME], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100];
    char magic[6], version[2], owner[32], group[32], major[8], minor[8], prefix[155], padding[12];
} ustar;

_Static_assert(sizeof(ustar) == BLOCK, "a header is a block");

static const char zeros[2 * BLOCK];

/* Sizes from 8 GiB on are binary, with the top bit set: GNU's way, which every tar of today reads. */
static void put_size(char out[12], uint64_t size)
{
    char digits[24];
    if (size >> 33) {
        for (int i = 11; i >= 0; i--, size >>= 8)
            out[i] = (char)size;
        out[0] = (char)0x80;
        return;
    }
    snprintf(digits, sizeof digits, "%011llo ", (unsigned long long)size);
    memcpy(out, digits, 12);
}

static void make_header(ustar *h, const char *name, uint64_t size)
{
    char digits[16];
    unsigned sum = 0;
    memset(h, 0, sizeof *h);
    memcpy(h->name, name, strlen(name)); /* of all NAME bytes none need be a NUL */
    memcpy(h->mode, "000644 ", 8);
    memcpy(h->uid, "000000 ", 8);
    memcpy(h->gid, "000000 ", 8);
    put_size(h->size, size);
    memcpy(h->mtime, "00000000000 ", 12);
    memset(h->sum, ' ', sizeof h->sum);
    h->type = '0';
    memcpy(h->magic, "ustar", 6);
    memcpy(h->version, "00", 2);
    memcpy(h->owner, "root", 5);
    memcpy(h->group, "root", 5);
    memcpy(h->major, "000000 ", 8);
    memcpy(h->minor, "000000 ", 8);
    for (size_t i = 0; i < BLOCK; i++)
        sum += ((const unsigned char *)h)[i];
    snprintf(digits, sizeof digits, "%06o", sum);
    memcpy(h->sum, digits, 7);
}

devlog_status dl_bundle_begin(dl_bundle *b, const char *name, devlog_error *err)
{
    if (strlen(name) > NAME)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "cannot pack %s: a name in a tar has at most %d bytes", name,
                       NAME);
    b->name = name;
    b->begin = dl_file_written(b->out);
    dl_file_put(b->out, zeros, BLOCK); /* its size is known at its end */
    return DEVLOG_OK;
}

void dl_bundle_end(dl_bundle *b)
{
    ustar h;
    uint64_t end = dl_file_written(b->out), size = end - b->begin - BLOCK;
    make_header(&h, b->name, size);
    dl_file_put(b->out, zeros, (BLOCK - size % BLOCK) % BLOCK);
    dl_file_patch(b->out, b->begin, &h, sizeof h);
}

devlog_status dl_bundle_file(dl_bundle *b, const char *path, const char *name, devlog_error *err)
{
    char block[COPY];
    devlog_status status = dl_bundle_begin(b, name, err);
    if (status) return status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return dl_fail_errno(err, errno, "cannot read %s", path);
    for (;;) {
        ssize_t n = read(fd, block, sizeof block);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) status = dl_fail_errno(err, errno, "cannot read %s", path);
        if (n <= 0) break;
        dl_file_put(b->out, block, (size_t)n);
    }
    close(fd);
    if (!status) dl_bundle_end(b);
    return status;
}

void dl_bundle_close(dl_bundle *b)
{
    dl_file_put(b->out, zeros, sizeof zeros);
}
