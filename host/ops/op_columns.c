/* The columns of an op report. Names and order: the reference document's section "Perf Report Headers", and
 * the header lines that tt-metal has written since 2025. */
#include "ops/op_columns.h"

#include <stdio.h>

#include "decode/tables.h"

/* clang-format off */
static const op_column reference[] = {
    {"OP CODE", OP_COL_CODE, 0},
    {"OP TYPE", OP_COL_TYPE, 0},
    {"GLOBAL CALL COUNT", OP_COL_GLOBAL_COUNT, 0},
    {"ATTRIBUTES", OP_COL_ATTRIBUTES, 0},
    {"MATH FIDELITY", OP_COL_FIDELITY, 0},
    {"CORE COUNT", OP_COL_CORES, 0},
    {"PARALLELIZATION STRATEGY", OP_COL_STRATEGY, 0},
    {"HOST START TS", OP_COL_HOST_START, 0},
    {"HOST END TS", OP_COL_HOST_END, 0},
    {"HOST DURATION [ns]", OP_COL_HOST_NS, 0},
    {"DEVICE FW START CYCLE", OP_COL_FW_START, 0},
    {"DEVICE FW END CYCLE", OP_COL_FW_END, 0},
    {"DEVICE FW DURATION [ns]", OP_COL_FW_NS, 0},
    {"DEVICE KERNEL DURATION [ns]", OP_COL_KERNEL_NS, 0},
    {"DEVICE BRISC KERNEL DURATION [ns]", OP_COL_RISC_NS, DL_RISC_BRISC},
    {"DEVICE NCRISC KERNEL DURATION [ns]", OP_COL_RISC_NS, DL_RISC_NCRISC},
    {"DEVICE TRISC0 KERNEL DURATION [ns]", OP_COL_RISC_NS, DL_RISC_TRISC0},
    {"DEVICE TRISC1 KERNEL DURATION [ns]", OP_COL_RISC_NS, DL_RISC_TRISC1},
    {"DEVICE TRISC2 KERNEL DURATION [ns]", OP_COL_RISC_NS, DL_RISC_TRISC2},
    {"DEVICE ERISC KERNEL DURATION [ns]", OP_COL_RISC_NS, DL_RISC_ERISC},
    {"CALL COUNT", OP_COL_CALL_COUNT, 0},
    {"INPUT", OP_COL_INPUTS, 0},
    {"OUTPUT", OP_COL_OUTPUTS, 0},
    {"CALL DEPTH", OP_COL_DEPTH, 0},
    {"CompileProgram Count", OP_COL_API_COUNT, 0},
    {"CompileProgram Average", OP_COL_API_AVERAGE, 0},
    {"ConfigureDeviceWithProgram Count", OP_COL_API_COUNT, 1},
    {"ConfigureDeviceWithProgram Average", OP_COL_API_AVERAGE, 1},
    {"LaunchProgram Count", OP_COL_API_COUNT, 2},
    {"LaunchProgram Average", OP_COL_API_AVERAGE, 2},
    {"ReadFromDevice Count", OP_COL_API_COUNT, 3},
    {"ReadFromDevice Average", OP_COL_API_AVERAGE, 3},
    {"WriteToDevice Count", OP_COL_API_COUNT, 4},
    {"WriteToDevice Average", OP_COL_API_AVERAGE, 4},
    {"DumpDeviceProfileResults Count", OP_COL_API_COUNT, 5},
    {"DumpDeviceProfileResults Average", OP_COL_API_AVERAGE, 5},
};

static const op_column current[] = {
    {"OP CODE", OP_COL_CODE, 0},
    {"OP TYPE", OP_COL_TYPE, 0},
    {"GLOBAL CALL COUNT", OP_COL_GLOBAL_COUNT, 0},
    {"DEVICE ID", OP_COL_DEVICE, 0},
    {"DEVICE ARCH", OP_COL_ARCH, 0},
    {"ATTRIBUTES", OP_COL_ATTRIBUTES, 0},
    {"MATH FIDELITY", OP_COL_FIDELITY, 0},
    {"CORE COUNT", OP_COL_CORES, 0},
    {"AVAILABLE WORKER CORE COUNT", OP_COL_AVAILABLE_CORES, 0},
    {"PARALLELIZATION STRATEGY", OP_COL_STRATEGY, 0},
    {"HOST START TS", OP_COL_HOST_START, 0},
    {"HOST END TS", OP_COL_HOST_END, 0},
    {"HOST DURATION [ns]", OP_COL_HOST_NS, 0},
    {"DEVICE FW START CYCLE", OP_COL_FW_START, 0},
    {"DEVICE FW END CYCLE", OP_COL_FW_END, 0},
    {"OP TO OP LATENCY [ns]", OP_COL_LATENCY, 0},
    {"OP TO OP LATENCY BR/NRISC START [ns]", OP_COL_DM_LATENCY, 0},
    {"DEVICE FW DURATION [ns]", OP_COL_FW_NS, 0},
    {"DEVICE KERNEL DURATION [ns]", OP_COL_KERNEL_NS, 0},
    {"DEVICE KERNEL DURATION DM START [ns]", OP_COL_DM_KERNEL_NS, 0},
    {"DEVICE KERNEL DURATION PER CORE MIN [ns]", OP_COL_CORE_MIN_NS, 0},
    {"DEVICE KERNEL DURATION PER CORE MAX [ns]", OP_COL_CORE_MAX_NS, 0},
    {"DEVICE KERNEL DURATION PER CORE AVG [ns]", OP_COL_CORE_AVG_NS, 0},
    {"DEVICE KERNEL FIRST TO LAST START [ns]", OP_COL_FIRST_TO_LAST_NS, 0},
    {"DEVICE BRISC KERNEL DURATION [ns]", OP_COL_RISC_NS, DL_RISC_BRISC},
    {"DEVICE NCRISC KERNEL DURATION [ns]", OP_COL_RISC_NS, DL_RISC_NCRISC},
    {"DEVICE TRISC0 KERNEL DURATION [ns]", OP_COL_RISC_NS, DL_RISC_TRISC0},
    {"DEVICE TRISC1 KERNEL DURATION [ns]", OP_COL_RISC_NS, DL_RISC_TRISC1},
    {"DEVICE TRISC2 KERNEL DURATION [ns]", OP_COL_RISC_NS, DL_RISC_TRISC2},
    {"DEVICE ERISC KERNEL DURATION [ns]", OP_COL_RISC_NS, DL_RISC_ERISC},
    {"DEVICE COMPUTE CB WAIT FRONT [ns]", OP_COL_CB_WAIT_NS, 0},
    {"DEVICE COMPUTE CB RESERVE BACK [ns]", OP_COL_CB_RESERVE_NS, 0},
    {"DISPATCH TOTAL CQ CMD OP TIME [ns]", OP_COL_EMPTY, 0},
    {"DISPATCH GO SEND WAIT TIME [ns]", OP_COL_EMPTY, 0},
    {"INPUT", OP_COL_INPUTS, 0},
    {"OUTPUT", OP_COL_OUTPUTS, 0},
    {"METAL TRACE ID", OP_COL_TRACE_ID, 0},
    {"METAL TRACE REPLAY SESSION ID", OP_COL_TRACE_SESSION, 0},
    {"COMPUTE KERNEL SOURCE", OP_COL_COMPUTE_SOURCE, 0},
    {"COMPUTE KERNEL HASH", OP_COL_COMPUTE_HASH, 0},
    {"DATA MOVEMENT KERNEL SOURCE", OP_COL_DM_SOURCE, 0},
    {"DATA MOVEMENT KERNEL HASH", OP_COL_DM_HASH, 0},
    {"PROGRAM HASH", OP_COL_PROGRAM_HASH, 0},
    {"PROGRAM CACHE HIT", OP_COL_CACHE_HIT, 0},
    {"TENSIX DM 0 MAX KERNEL SIZE [B]", OP_COL_KERNEL_BYTES, DL_RISC_BRISC},
    {"TENSIX DM 1 MAX KERNEL SIZE [B]", OP_COL_KERNEL_BYTES, DL_RISC_NCRISC},
    {"TENSIX COMPUTE 0 MAX KERNEL SIZE [B]", OP_COL_KERNEL_BYTES, DL_RISC_TRISC0},
    {"TENSIX COMPUTE 1 MAX KERNEL SIZE [B]", OP_COL_KERNEL_BYTES, DL_RISC_TRISC1},
    {"TENSIX COMPUTE 2 MAX KERNEL SIZE [B]", OP_COL_KERNEL_BYTES, DL_RISC_TRISC2},
    {"ACTIVE ETH DM 0 MAX KERNEL SIZE [B]", OP_COL_EMPTY, 0},
    {"ACTIVE ETH DM 1 MAX KERNEL SIZE [B]", OP_COL_EMPTY, 0},
    {"IDLE ETH DM 0 MAX KERNEL SIZE [B]", OP_COL_EMPTY, 0},
    {"IDLE ETH DM 1 MAX KERNEL SIZE [B]", OP_COL_EMPTY, 0},
    {"PM IDEAL [ns]", OP_COL_EMPTY, 0},
    {"PM COMPUTE [ns]", OP_COL_EMPTY, 0},
    {"PM BANDWIDTH [ns]", OP_COL_EMPTY, 0},
    {"PM REQ I BW", OP_COL_EMPTY, 0},
    {"PM REQ O BW", OP_COL_EMPTY, 0},
    {"PM FPU UTIL (%)", OP_COL_EMPTY, 0},
    {"NOC UTIL (%)", OP_COL_EMPTY, 0},
    {"MULTICAST NOC UTIL (%)", OP_COL_EMPTY, 0},
    {"DRAM BW UTIL (%)", OP_COL_EMPTY, 0},
    {"DRAM BW UTIL PER CTRL (%)", OP_COL_EMPTY, 0},
    {"ETH BW UTIL (%)", OP_COL_EMPTY, 0},
    {"NPE CONG IMPACT (%)", OP_COL_EMPTY, 0},
    /* What follows is devlog's own: readers look columns up by name. */
    {"CALL COUNT", OP_COL_CALL_COUNT, 0},
    {"CALL DEPTH", OP_COL_DEPTH, 0},
    {"CompileProgram Count", OP_COL_API_COUNT, 0},
    {"CompileProgram Average", OP_COL_API_AVERAGE, 0},
    {"ConfigureDeviceWithProgram Count", OP_COL_API_COUNT, 1},
    {"ConfigureDeviceWithProgram Average", OP_COL_API_AVERAGE, 1},
    {"LaunchProgram Count", OP_COL_API_COUNT, 2},
    {"LaunchProgram Average", OP_COL_API_AVERAGE, 2},
    {"ReadFromDevice Count", OP_COL_API_COUNT, 3},
    {"ReadFromDevice Average", OP_COL_API_AVERAGE, 3},
    {"WriteToDevice Count", OP_COL_API_COUNT, 4},
    {"WriteToDevice Average", OP_COL_API_AVERAGE, 4},
    {"DumpDeviceProfileResults Count", OP_COL_API_COUNT, 5},
    {"DumpDeviceProfileResults Average", OP_COL_API_AVERAGE, 5},
    {"ReadFromDevice [B]", OP_COL_API_BYTES, 3},
    {"WriteToDevice [B]", OP_COL_API_BYTES, 4},
    {"HOST THREAD", OP_COL_THREAD, 0},
    {"HOST PROFILER COST [ns]", OP_COL_OWN_NS, 0},
    {"DEVICE LAUNCHES", OP_COL_LAUNCHES, 0},
    {"DEVICE IDLE BETWEEN LAUNCHES [ns]", OP_COL_IDLE_NS, 0},
    {"DEVICE FW OVERLAP [ns]", OP_COL_OVERLAP_NS, 0},
    {"DEVICE AICLK [MHz]", OP_COL_AICLK, 0},
    {"NOTE", OP_COL_NOTE, 0},
    {"CALL STACK", OP_COL_STACK, 0}, /* where it was asked for */
};
/* clang-format on */

const op_column *op_columns(op_column_set set, size_t *n)
{
    bool ref = set == OP_COLUMNS_REFERENCE;
    *n = ref ? sizeof reference / sizeof reference[0] : sizeof current / sizeof current[0] - 1;
    return ref ? reference : current;
}

const op_column *op_columns_with_stacks(size_t *n)
{
    *n = sizeof current / sizeof current[0];
    return current;
}

const char *op_tensor_field(op_column_set set, int field)
{
    static const char *const names[2][OP_TENSOR_FIELDS] = {
        [OP_COLUMNS_CURRENT] = {"W_PAD[LOGICAL]", "Z_PAD[LOGICAL]", "Y_PAD[LOGICAL]", "X_PAD[LOGICAL]",
                                "LAYOUT", "DATATYPE", "MEMORY"},
        [OP_COLUMNS_REFERENCE] = {"W", "Z", "Y", "X", "LAYOUT", "DATA TYPE", "MEMORY"},
    };
    return names[set][field];
}

void op_columns_headers(op_column_set set, size_t n, uint32_t n_inputs, uint32_t n_outputs,
                        void (*cell)(void *ctx, const char *text), void *ctx)
{
    const op_column *columns = op_columns(set, &(size_t){0});
    for (size_t i = 0; i < n; i++) {
        bool in = columns[i].kind == OP_COL_INPUTS, out = columns[i].kind == OP_COL_OUTPUTS;
        if (!in && !out) cell(ctx, columns[i].header);
        uint32_t tensors = in ? n_inputs : out ? n_outputs : 0;
        for (uint32_t t = 0; t < tensors; t++) {
            for (int field = 0; field < OP_TENSOR_FIELDS; field++) {
                char text[64];
                snprintf(text, sizeof text, "%s_%u_%s", columns[i].header, t, op_tensor_field(set, field));
                cell(ctx, text);
            }
        }
    }
}
