/* Packed logs in memory. See packed.h. */
#include "support/packed.h"

#include <string.h>

typedef struct memory {
    const char *at;
    size_t left;
} memory;

static ssize_t take(void *ctx, void *bytes, size_t cap)
{
    memory *m = ctx;
    const size_t n = m->left < cap ? m->left : cap;
    if (n) memcpy(bytes, m->at, n);
    m->at += n;
    m->left -= n;
    return (ssize_t)n;
}

static devlog_status take_text(void *ctx, void *bytes, size_t cap, size_t *n, devlog_error *err)
{
    (void)err;
    *n = (size_t)take(ctx, bytes, cap);
    return DEVLOG_OK;
}

static devlog_status add(void *ctx, const void *bytes, size_t n, devlog_error *err)
{
    dl_str_add_n(ctx, bytes, n);
    return dl_str_status(ctx, err);
}

devlog_status test_pack(const char *text, size_t n, size_t block, unsigned threads, dl_str *out)
{
    memory m = {text, n};
    pk_totals totals;
    const pk_options options = {.threads = threads, .text = block};
    return pk_pack(take_text, &m, add, out, &options, &totals, NULL);
}

devlog_status test_unpack(const void *bytes, size_t n, unsigned threads, dl_str *out, pk_damage *damage)
{
    memory m = {bytes, n};
    pk_totals totals;
    return pk_unpack_all(take, &m, add, out, threads, &totals, damage, NULL);
}
