/* Captures of any bytes, and where they say that cycles of instructions went: read, added up and printed in every format. Not the
 * lines of the source, for which another program is run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "answers/annotate.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print(const annotation *a, uint32_t ways)
{
    static void (*const printers[])(const annotate_shown *, dl_str *) = {
        annotate_print_text, annotate_print_markdown, annotate_print_csv, annotate_print_json};
    for (size_t i = 0; i < sizeof printers / sizeof printers[0]; i++) {
        if (!(ways >> i & 1)) continue;
        dl_str out = {0};
        printers[i](&(annotate_shown){.a = a, .top = 3, .width = 80, .hot = 5}, &out);
        if (out.failed) abort();
        cJSON *json = printers[i] == annotate_print_json ? cJSON_Parse(out.text) : NULL;
        if (printers[i] == annotate_print_json && !json) abort();
        cJSON_Delete(json);
        dl_str_free(&out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    annotation a = {0};
    dl_capture_state state = {0};
    devlog_error err;
    dl_str there = {0};
    const annotate_options o = {.firmware = true, .risc = size % 4 == 1 ? "BRISC" : NULL};
    const int fd = memfd_create("capture", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (annotate_read(&a, path, &o, &state, &err) == DEVLOG_OK) {
        uint64_t cycles = 0;
        for (size_t i = 0; i < a.n; i++)
            cycles += a.codes[i].sum.cycles;
        if (cycles != a.cycles) abort();
        if (a.n) fuzz_got_inside();
        print(&a, fuzz_ways(data, size, 4));
        (void)annotate_there(path, &o, &there, &err);
    }
    annotate_free(&a);
    dl_str_free(&there);
    close(fd);
    return 0;
}
