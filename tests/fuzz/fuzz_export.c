/* Logs of any bytes, in every format that is one stream: nothing crashes, what claims to be JSON is JSON, and
 * what claims to be a Perfetto trace can be taken apart by protobuf-c. */
#include <cJSON.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "perfetto.pb-c.h"
#include "report/export.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Standard output becomes a file in memory: what is written there is read back. */
static void take_standard_output(void)
{
    static bool taken;
    if (taken) return;
    taken = true;
    int fd = memfd_create("export", 0);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0) abort();
    close(fd);
}

static void check(const char *format, const char *text, size_t n)
{
    if (strcmp(format, "perfetto") == 0) {
        Devlog__Perfetto__Trace *t = devlog__perfetto__trace__unpack(NULL, n, (const uint8_t *)text);
        if (!t) abort();
        devlog__perfetto__trace__free_unpacked(t, NULL);
    } else if (strcmp(format, "chrome") == 0 || strcmp(format, "json") == 0 ||
               strcmp(format, "speedscope") == 0) {
        cJSON *json = cJSON_ParseWithLength(text, n);
        if (!json) abort();
        cJSON_Delete(json);
    }
}

static void write_and_check(dl_view *v, const char *format)
{
    devlog_error err;
    take_standard_output();
    if (ftruncate(STDOUT_FILENO, 0) != 0 || lseek(STDOUT_FILENO, 0, SEEK_SET) != 0) abort();
    if (dl_export_find(format)->write(v, "-", &err) != DEVLOG_OK) return;
    off_t n = lseek(STDOUT_FILENO, 0, SEEK_END);
    char *text = malloc((size_t)n + 1);
    if (!text || pread(STDOUT_FILENO, text, (size_t)n, 0) != n) abort();
    check(format, text, (size_t)n);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const formats[] = {"chrome", "collapsed", "csv",       "fxt",
                                          "json",   "perfetto",  "speedscope"};
    const uint32_t ways = fuzz_ways(data, size, sizeof formats / sizeof formats[0]);
    devlog_error err;
    dl_decode *d;
    dl_view *v = NULL;
    const dl_decode_options options = {.keep_meta = true, .no_samples = true};
    if (dl_decode_new(&d, &options, &err) != DEVLOG_OK) return 0;
    if (dl_view_new(&v, d, NULL, &err) == DEVLOG_OK) {
        dl_decode_run_sink(d, dl_view_runs(v), &err);
        dl_decode_memory(d, "fuzz", data, size, &err);
        dl_decode_finish(d, &err);
        if (dl_decode_losses(d)->rows) fuzz_got_inside();
        if (dl_view_ready(v, &err) == DEVLOG_OK)
            for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
                if (ways >> i & 1) write_and_check(v, formats[i]);
    }
    dl_view_free(v);
    dl_decode_free(d);
    return 0;
}
