/* Which columns op_wide has. See op_wide.h. */
#include "ops/op_wide.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* By the columns' whole names. A name that is here twice is that of two versions. */
static const struct {
    const char *name;
    uint8_t what;
} numbers[] = {
    {"DEVICE FW START CYCLE", OP_FW_START},
    {"DEVICE FW END CYCLE", OP_FW_END},
    {"DEVICE KERNEL DURATION PER CORE MIN [ns]", OP_CORE_MIN},
    {"DEVICE KERNEL DURATION PER CORE MAX [ns]", OP_CORE_MAX},
    {"DEVICE KERNEL DURATION PER CORE AVG [ns]", OP_CORE_AVG},
    {"DEVICE KERNEL FIRST TO LAST START [ns]", OP_FIRST_TO_LAST},
    {"DEVICE FW OVERLAP [ns]", OP_OVERLAP},
    {"DEVICE LAUNCHES", OP_LAUNCHES},
    {"AVAILABLE WORKER CORE COUNT", OP_AVAILABLE},
    {"DEVICE BRISC KERNEL DURATION [ns]", OP_RISC},
    {"DEVICE NCRISC KERNEL DURATION [ns]", OP_RISC + 1},
    {"DEVICE TRISC0 KERNEL DURATION [ns]", OP_RISC + 2},
    {"DEVICE TRISC1 KERNEL DURATION [ns]", OP_RISC + 3},
    {"DEVICE TRISC2 KERNEL DURATION [ns]", OP_RISC + 4},
    {"DEVICE ERISC KERNEL DURATION [ns]", OP_RISC + 5},
    {"DEVICE COMPUTE CB WAIT FRONT [ns]", OP_CB_WAIT},
    {"DEVICE COMPUTE CB RESERVE BACK [ns]", OP_CB_RESERVE},
    {"DISPATCH TOTAL CQ CMD OP TIME [ns]", OP_DISPATCH},
    {"DISPATCH GO SEND WAIT TIME [ns]", OP_GO_WAIT},
    {"METAL TRACE ID", OP_TRACE},
    {"METAL TRACE REPLAY SESSION ID", OP_SESSION},
    {"TENSIX DM 0 MAX KERNEL SIZE [B]", OP_CODE_DM0},
    {"TENSIX DM 1 MAX KERNEL SIZE [B]", OP_CODE_DM1},
    {"TENSIX COMPUTE 0 MAX KERNEL SIZE [B]", OP_CODE_COMPUTE0},
    {"TENSIX COMPUTE 1 MAX KERNEL SIZE [B]", OP_CODE_COMPUTE1},
    {"TENSIX COMPUTE 2 MAX KERNEL SIZE [B]", OP_CODE_COMPUTE2},
    {"PROGRAM CACHE HIT", OP_CACHE_HIT},
    {"CompileProgram Count", OP_COMPILE_COUNT},
    {"CompileProgram Average", OP_COMPILE_AVG},
    {"CompileProgram_TT_HOST_FUNC [ns]", OP_COMPILE_AVG},
    {"WriteToDevice Count", OP_WRITE_COUNT},
    {"WriteToDevice Average", OP_WRITE_AVG},
    {"HWCommandQueue_write_buffer_TT_HOST_FUNC [ns]", OP_WRITE_AVG},
    {"ReadFromDevice Count", OP_READ_COUNT},
    {"ReadFromDevice Average", OP_READ_AVG},
    {"WriteToDevice [B]", OP_WRITE_BYTES},
    {"ReadFromDevice [B]", OP_READ_BYTES},
    {"HOST PROFILER COST [ns]", OP_PROFILER_COST},
    {"PM IDEAL [ns]", OP_PM_IDEAL},
    {"PM COMPUTE [ns]", OP_PM_COMPUTE},
    {"PM BANDWIDTH [ns]", OP_PM_BANDWIDTH},
    {"PM FPU UTIL (%)", OP_PM_FPU_UTIL},
    {"NOC UTIL (%)", OP_NOC_UTIL},
    {"DRAM BW UTIL (%)", OP_DRAM_UTIL},
    {"NPE CONG IMPACT (%)", OP_NPE_IMPACT},
    {"NOC BYTES", OP_NOC_BYTES},
    {"NOC READ BYTES", OP_NOC_READ_BYTES},
    {"NOC WRITE BYTES", OP_NOC_WRITE_BYTES},
    {"NOC 0 BYTES", OP_NOC_0_BYTES},
    {"NOC 1 BYTES", OP_NOC_1_BYTES},
    {"NOC TRANSFERS", OP_NOC_TRANSFERS},
    {"NOC READ WAIT [cycles]", OP_NOC_READ_WAIT},
    {"NOC WRITE WAIT [cycles]", OP_NOC_WRITE_WAIT},
    {"NOC BUSIEST LINK BYTES", OP_NOC_LINK_BYTES},
    {"Avg SFPU util on full grid (%)", OP_SFPU_UTIL},
    {"Avg FPU util on full grid (%)", OP_FPU_UTIL},
    {"Avg Math util on full grid (%)", OP_MATH_UTIL},
    {"L1 Unpacker Backpressure Avg (%)", OP_L1_UNPACK_BLOCKED},
    {"L1 Packer Port Backpressure Avg (%)", OP_L1_PACK_BLOCKED},
};

static const struct {
    const char *name;
    uint8_t what;
} texts[] = {
    {"DEVICE ARCH", OP_ARCH},
    {"ATTRIBUTES", OP_ATTRIBUTES},
    {"MATH FIDELITY", OP_FIDELITY},
    {"COMPUTE KERNEL SOURCE", OP_COMPUTE_SOURCE},
    {"DATA MOVEMENT KERNEL SOURCE", OP_DM_SOURCE},
    {"PROGRAM HASH", OP_PROGRAM},
    {"CALL STACK", OP_STACK},
};

static bool is(const char *name, const char *text, size_t n)
{
    return strlen(name) == n && memcmp(name, text, n) == 0;
}

static bool ends(const char *text, size_t n, const char *end)
{
    const size_t m = strlen(end);
    return n > m && memcmp(text + n - m, end, m) == 0;
}

op_wide_column op_wide_column_of(const char *text, size_t n)
{
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (is(numbers[i].name, text, n)) return (op_wide_column){OP_WIDE_NUMBER, numbers[i].what, false};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (is(texts[i].name, text, n)) return (op_wide_column){OP_WIDE_TEXT, texts[i].what, false};
    const bool out = n > 7 && memcmp(text, "OUTPUT_", 7) == 0;
    if (!out && !(n > 6 && memcmp(text, "INPUT_", 6) == 0)) return (op_wide_column){0};
    if (ends(text, n, "_LAYOUT")) return (op_wide_column){OP_WIDE_TENSOR, OP_LAYOUTS, out};
    if (ends(text, n, "_DATATYPE") || ends(text, n, "_DATA TYPE"))
        return (op_wide_column){OP_WIDE_TENSOR, OP_TYPES, out};
    if (ends(text, n, "_MEMORY")) return (op_wide_column){OP_WIDE_TENSOR, OP_MEMORY, out};
    return (op_wide_column){0};
}

void op_wide_clear(op_wide *w)
{
    for (size_t i = 0; i < OP_WIDE_NUMBERS; i++)
        w->numbers[i] = NAN;
    memset(w->texts, 0, sizeof w->texts);
}

bool op_wide_real(const char *text, size_t n, double *out)
{
    static const double tenths[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    const bool negative = n && text[0] == '-';
    size_t i = negative, digits = 0, decimals = 0;
    uint64_t value = 0;
    for (; i < n && text[i] >= '0' && text[i] <= '9' && digits < 18; i++, digits++)
        value = value * 10 + (unsigned)(text[i] - '0');
    if (digits && i < n && text[i] == '.') {
        for (i++; i < n && text[i] >= '0' && text[i] <= '9' && decimals < 9 && digits < 18;
             i++, digits++, decimals++)
            value = value * 10 + (unsigned)(text[i] - '0');
    }
    double real = (double)value / tenths[decimals];
    if (!digits || i < n) {
        char copy[40], *end;
        if (!n || n >= sizeof copy) return false;
        memcpy(copy, text, n);
        copy[n] = 0;
        real = fabs(strtod(copy, &end));
        if (end == copy || *end || !isfinite(real)) return false;
    }
    *out = negative ? -real : real;
    return true;
}
