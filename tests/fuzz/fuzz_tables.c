/* Fuzzing what users write: tables of ops, rules and thresholds, the formulas in them, and files of budgets: any bytes are one or an
 * error with a text. The first byte says which. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "answers/budget.h"
#include "answers/sections.h"
#include "fuzz/fuzz.h"

static const char report[] =
    "OP CODE,DEVICE ARCH,ATTRIBUTES,MATH FIDELITY,CORE COUNT,DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns],INPUT_0_W,INPUT_0_Z,"
    "INPUT_0_Y,INPUT_0_X,INPUT_0_DATATYPE,INPUT_0_MEMORY\n"
    "Matmul,wormhole_b0,'in0_block_w=2',HiFi2,4,12000,10000,1,1,32,64,BFLOAT16,DEV_0_DRAM_INTERLEAVED\n";

static void check(devlog_status status, const devlog_error *err)
{
    if (status != DEVLOG_OK && err->text[0] == '\0') abort();
    if (status == DEVLOG_OK) fuzz_got_inside();
}

/* What the tables make of an op. */
static void answer_by(const char *ops, const rules *r)
{
    const op_selection all = {0};
    const answer_run_options o = {.selection = &all};
    const flops_options f = {.table = ops};
    op_table t;
    answer_run run;
    flops_peaks peaks;
    answer a;
    devlog_error err = {0};
    if (op_table_parse_wide(&t, "fuzz", report, sizeof report - 1, &err)) abort();
    if (answer_run_make(&run, &t, &o, &err)) abort();
    check(flops_apply(&run, &f, &peaks, &err), &err);
    const answer_wishes w = {.peaks = &peaks, .rules = r};
    if (answer_make(&a, &run, &w, &err)) abort();
    answer_free(&a);
    answer_run_free(&run);
    op_table_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    devlog_error err = {0};
    if (size < 1) return 0;
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)(size - 1)) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (data[0] % 4 == 0) {
        budgets b;
        check(budgets_read(&b, path, &err), &err);
        budgets_free(&b);
    } else if (data[0] % 4 == 1) {
        answer_by(path, NULL);
    } else {
        rules *r = NULL;
        const bool thresholds = data[0] % 4 == 2;
        devlog_status status = rules_read(&r, thresholds ? NULL : path, thresholds ? path : NULL, &err);
        check(status, &err);
        if (!status) answer_by(NULL, r);
        rules_free(r);
    }
    close(fd);
    return 0;
}
