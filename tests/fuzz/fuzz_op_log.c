/* Fuzzing the op log: any bytes give a report, without a crash, and every op that was read is a row; and its buffers give an
 * answer whose sums agree. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "answers/answer_print.h"
#include "answers/memory_answer.h"
#include "fuzz/fuzz.h"
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

static void look_at_memory(op_log *log)
{
    static answer_printer *const printers[] = {answer_print_text, answer_print_markdown, answer_print_json,
                                               answer_print_csv};
    memory_run r;
    uint64_t allocs = 0, frees = 0, leaked = 0, live = 0, bytes = 0, used = 0;
    if (memory_run_make(&r, log, NULL) == DEVLOG_OK) {
        answer a;
        for (size_t i = 0; i < r.n_spaces; i++) {
            const memory_space *s = &r.spaces[i];
            if (s->used > s->peak || s->bank_peak > s->peak) abort();
            allocs += s->allocs;
            frees += s->frees;
            leaked += s->leaked;
            live += s->live;
            used += s->used;
        }
        for (size_t i = 0; i < r.n_buffers; i++)
            if (r.buffers[i].gone == MEMORY_NONE) bytes += memory_bytes(memory_made(&r, &r.buffers[i]));
        if (allocs != r.n_buffers || allocs != frees + leaked + live || bytes != used) abort();
        for (size_t i = 0; i < log->n_ops && i < 100; i++)
            (void)memory_l1_of_op(&r, 0, log->ops[i].id);
        const memory_wishes wishes = {.top = log->n_memory % 2 ? 3 : 0, .steps = 1 + log->n_memory % 7};
        if (answer_begin(&a, NULL) == DEVLOG_OK && memory_answer(&a, &r, &wishes, NULL) == DEVLOG_OK) {
            for (size_t i = 0; i < sizeof printers / sizeof printers[0]; i++) {
                dl_str out = {0};
                printers[i](&(answer_shown){.a = &a, .kind = "memory", .version = 1, .width = i ? 0 : 80},
                            &out);
                dl_str_free(&out);
            }
        }
        answer_free(&a);
    }
    memory_run_free(&r);
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
        op_stitch_make(&s, &log, NULL, NULL, NULL, NULL, false, NULL, NULL) == DEVLOG_OK) {
        if (log.n_ops) fuzz_got_inside();
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
        fuzz_same(&out, &plain);
        op_stitch_free(&s);
    }
    if (log.n_memory) look_at_memory(&log);
    op_log_free(&log);
    dl_str_free(&out);
    dl_str_free(&plain);
    return 0;
}
