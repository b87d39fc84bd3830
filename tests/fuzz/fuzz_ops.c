/* Op reports of any bytes: an op log and, behind a line "--8<--", the device log of its run. Every op that was read is a row, JSON is
 * JSON, the quick way of writing gives what the plain one gives, and what the device did is the same when nothing is remembered of
 * runs that look alike. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "ops/op_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static devlog_status keep(void *ctx, devlog_error *err)
{
    (void)ctx;
    (void)err;
    return DEVLOG_OK;
}

typedef struct input {
    const char *op_log, *device_log;
    size_t n_op_log, n_device_log;
} input;

static input parts_of(const uint8_t *data, size_t size)
{
    static const char mark[] = "--8<--\n";
    const char *text = (const char *)data, *end = text + size,
               *found = size ? memmem(text, size, mark, sizeof mark - 1) : NULL;
    const char *behind = found ? found + sizeof mark - 1 : end;
    return (input){text, behind, (size_t)((found ? found : end) - text), (size_t)(end - behind)};
}

static bool read_op_log(op_log *log, const input *in)
{
    static int fd = -1;
    char path[64];
    if (fd < 0) fd = memfd_create("op_log", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (ftruncate(fd, 0) != 0 || pwrite(fd, in->op_log, in->n_op_log, 0) != (ssize_t)in->n_op_log) abort();
    return op_log_read(log, path, NULL) == DEVLOG_OK;
}

static void write_report(op_stitch *s, const op_log *log, op_report_options o, dl_str *out)
{
    op_report_counts counts;
    if (op_report_write(s, &o, out, keep, NULL, &counts, NULL) != DEVLOG_OK) abort();
    if (log && counts.ops + s->ops_not_recorded < log->n_ops) abort();
    if (counts.ops) fuzz_got_inside();
    if (!o.json) return;
    cJSON *json = cJSON_ParseWithLength(out->text, out->len);
    if (!json) abort();
    cJSON_Delete(json);
}

enum { NO_SHAPES = 1, PLAIN = 2, PERIODIC = 4 };

static void report(const input *in, op_report_options o, int how, dl_str *out)
{
    const dl_decode_options options = {.no_samples = true, .threads = 1, .no_shapes = how & NO_SHAPES};
    op_log log = {0};
    op_stitch s;
    op_device *cycles = NULL;
    dl_decode *d = NULL;
    devlog_error err;
    const bool ops = in->n_op_log && read_op_log(&log, in);
    o.plain = how & PLAIN;
    if (dl_decode_new(&d, &options, &err) || op_device_new(&cycles, d, NULL, &err)) abort();
    dl_decode_memory(d, "device log", in->device_log, in->n_device_log, &err);
    if (dl_decode_finish(d, &err) == DEVLOG_OK && op_stitch_make(&s, ops ? &log : NULL, NULL, d, cycles, NULL,
                                                                 how & PERIODIC, NULL, &err) == DEVLOG_OK) {
        write_report(&s, ops ? &log : NULL, o, out);
        op_stitch_free(&s);
    }
    op_device_free(cycles);
    dl_decode_free(d);
    op_log_free(&log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const op_report_options forms[] = {{.columns = OP_COLUMNS_CURRENT},
                                              {.columns = OP_COLUMNS_REFERENCE},
                                              {.columns = OP_COLUMNS_CURRENT, .json = true}};
    enum { FORMS = sizeof forms / sizeof forms[0] + 1 }; /* the first twice, once as of a periodic capture */
    const input in = parts_of(data, size);
    const uint32_t ways = fuzz_ways(data, size, FORMS);
    for (int i = 0; i < FORMS; i++) {
        dl_str quick = {0}, plain = {0};
        const op_report_options *o = &forms[i % (FORMS - 1)];
        const int how = i == FORMS - 1 ? PERIODIC : 0;
        if (!(ways >> i & 1)) continue;
        report(&in, *o, how, &quick);
        report(&in, *o, how | NO_SHAPES | (o->json ? 0 : PLAIN), &plain);
        fuzz_same(&quick, &plain);
        dl_str_free(&quick);
        dl_str_free(&plain);
    }
    return 0;
}
