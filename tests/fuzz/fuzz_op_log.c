/* Fuzzing the op log: any bytes give a report, without a crash, and every op that was read is a row. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ops/op_report.h"

static devlog_status keep(void *ctx, devlog_error *err)
{
    (void)ctx;
    (void)err;
    return DEVLOG_OK;
}

static devlog_status drop(void *ctx, devlog_error *err)
{
    (void)err;
    dl_str_clear(ctx);
    return DEVLOG_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64];
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("op_log", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size) return 0;
    op_log log;
    op_stitch s;
    op_report_counts counts;
    dl_str out = {0}, plain = {0};
    if (op_log_read(&log, path, NULL) == DEVLOG_OK &&
        op_stitch_make(&s, &log, NULL, NULL, NULL, NULL, NULL, NULL) == DEVLOG_OK) {
        for (int json = 0; json < 2; json++) {
            const op_report_options o = {.json = json,
                                         .columns = size % 2 ? OP_COLUMNS_REFERENCE : OP_COLUMNS_CURRENT};
            if (op_report_write(&s, &o, &out, drop, &out, &counts, NULL) != DEVLOG_OK) abort();
            if (counts.ops != log.n_ops) abort();
            dl_str_clear(&out);
        }
        /* The quick way of writing it gives what the plain one gives. */
        op_report_options o = {.columns = size % 2 ? OP_COLUMNS_CURRENT : OP_COLUMNS_REFERENCE};
        if (op_report_write(&s, &o, &out, keep, NULL, &counts, NULL) != DEVLOG_OK) abort();
        o.plain = true;
        if (op_report_write(&s, &o, &plain, keep, NULL, &counts, NULL) != DEVLOG_OK) abort();
        if (out.len != plain.len || memcmp(out.text, plain.text, out.len) != 0) abort();
        op_stitch_free(&s);
    }
    op_log_free(&log);
    dl_str_free(&out);
    dl_str_free(&plain);
    return 0;
}
