/* Programs written for NVTX: their ranges are zones of host code. Each is a child of this one, because a process has one recorder. */
#define PROFILE_HOST 1
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "devlog/decode.h"
#include "devlog/nvtx/nvtx3/nvToolsExt.h"

#include "support/cli.h"

static char folder[64];

static void leaf(void)
{
    nvtxRangePush("leaf");
    nvtxMark("a mark");
    nvtxRangePop();
}

static void program(void)
{
    devlog_error err = {0};
    const devlog_host_options o = DEVLOG_HOST_OPTIONS(.folder = folder);
    const nvtxEventAttributes_t attributes = {.version = NVTX_VERSION,
                                              .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                              .colorType = NVTX_COLOR_ARGB,
                                              .color = 0xFF00FF00,
                                              .messageType = NVTX_MESSAGE_TYPE_ASCII,
                                              .message.ascii = "in a domain"};
    if (devlog_host_start(&o, &err)) _exit(9);
    nvtxNameOsThread(0, "main thread");
    if (nvtxRangePop() >= 0 || nvtxRangePush("outer") != 0 || nvtxRangePushA("inner") != 1) _exit(8);
    for (int i = 0; i < 10; i++)
        leaf();
    nvtxDomainHandle_t domain = nvtxDomainCreateA("mine");
    nvtxDomainRangePushEx(domain, &attributes);
    nvtxDomainRangePop(domain);
    nvtxDomainDestroy(domain);
    const nvtxRangeId_t id = nvtxRangeStartA("by number");
    nvtxRangeEnd(id);
    if (nvtxRangePop() != 1 || nvtxRangePop() != 0) _exit(8);
    for (int i = 0; i < 2 * DEVLOG_NVTX_DEPTH; i++)
        nvtxRangePush("deep");
    for (int i = 0; i < 2 * DEVLOG_NVTX_DEPTH; i++)
        if (nvtxRangePop() < 0) _exit(8);
    if (nvtxRangePop() >= 0) _exit(8);
}

/* How many zones of a name a log has. */
static uint64_t zones_of(devlog_log *log, const char *name)
{
    const devlog_statistics *rows;
    devlog_error err = {0};
    uint64_t n = 0;
    size_t count;
    assert_int_equal(devlog_log_statistics(log, DEVLOG_BY_RISC, &rows, &count, &err), DEVLOG_OK);
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].zone, name) == 0) n += rows[i].count;
    return n;
}

static void ranges_are_zones(void **state)
{
    (void)state;
    int how;
    char path[128], line[160];
    devlog_error err = {0};
    devlog_log *log;
    const char *paths[] = {path};
    const pid_t child = fork();
    if (child == 0) {
        program();
        exit(0);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    snprintf(path, sizeof path, "%s/host_%ld.devlog", folder, (long)child);
    assert_int_equal(devlog_log_open(paths, 1, NULL, &log, &err), DEVLOG_OK);
    assert_int_equal(devlog_log_finish(log, &err), DEVLOG_OK);
    assert_int_equal(zones_of(log, "leaf"), 10);
    assert_int_equal(zones_of(log, "outer"), 1);
    assert_int_equal(zones_of(log, "inner"), 1);
    assert_int_equal(zones_of(log, "in a domain"), 1);
    assert_int_equal(zones_of(log, "by number"), 1);
    assert_int_equal(zones_of(log, "deep"), DEVLOG_NVTX_DEPTH);
    devlog_log_close(log);
    snprintf(line, sizeof line, "decode --no-files %s", path);
    char *text = devlog_ok(line, 0);
    assert_non_null(strstr(text, "main thread"));
    assert_non_null(strstr(text, "Nothing was lost."));
    free(text);
}

int main(void)
{
    strcpy(folder, "/tmp/nvtx_XXXXXX");
    if (!mkdtemp(folder)) return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranges_are_zones)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char line[128];
    snprintf(line, sizeof line, "rm -rf '%s'", folder);
    return system(line) ? 1 : failed; /* NOLINT(cert-env33-c) */
}
