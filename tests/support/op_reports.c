/* See op_reports.h. */
#include "support/op_reports.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const header[] = {"OP CODE",
                                     "OP TYPE",
                                     "GLOBAL CALL COUNT",
                                     "DEVICE ID",
                                     "DEVICE ARCH",
                                     "ATTRIBUTES",
                                     "MATH FIDELITY",
                                     "CORE COUNT",
                                     "AVAILABLE WORKER CORE COUNT",
                                     "HOST START TS",
                                     "HOST END TS",
                                     "HOST DURATION [ns]",
                                     "DEVICE FW START CYCLE",
                                     "DEVICE FW END CYCLE",
                                     "OP TO OP LATENCY [ns]",
                                     "DEVICE FW DURATION [ns]",
                                     "DEVICE KERNEL DURATION [ns]",
                                     "DEVICE KERNEL DURATION PER CORE MAX [ns]",
                                     "DEVICE KERNEL DURATION PER CORE AVG [ns]",
                                     "DEVICE BRISC KERNEL DURATION [ns]",
                                     "DEVICE NCRISC KERNEL DURATION [ns]",
                                     "DEVICE TRISC1 KERNEL DURATION [ns]",
                                     "DISPATCH TOTAL CQ CMD OP TIME [ns]",
                                     "CompileProgram_TT_HOST_FUNC [ns]",
                                     "NPE CONG IMPACT (%)",
                                     "L1 Unpacker Backpressure Avg (%)",
                                     "L1 Packer Port Backpressure Avg (%)",
                                     "DRAM BW UTIL (%)",
                                     "DEVICE COMPUTE CB WAIT FRONT [ns]",
                                     "NOC BYTES",
                                     "NOC READ BYTES",
                                     "NOC WRITE BYTES",
                                     "NOC 0 BYTES",
                                     "NOC 1 BYTES",
                                     "NOC TRANSFERS",
                                     "NOC READ WAIT [cycles]",
                                     "NOC WRITE WAIT [cycles]",
                                     "NOC BUSIEST LINK BYTES",
                                     "INPUT_0_W",
                                     "INPUT_0_Z",
                                     "INPUT_0_Y",
                                     "INPUT_0_X",
                                     "INPUT_0_DATATYPE",
                                     "INPUT_0_MEMORY",
                                     "INPUT_1_W",
                                     "INPUT_1_Z",
                                     "INPUT_1_Y",
                                     "INPUT_1_X",
                                     "INPUT_1_DATATYPE",
                                     "INPUT_1_MEMORY",
                                     "OUTPUT_0_W",
                                     "OUTPUT_0_Z",
                                     "OUTPUT_0_Y",
                                     "OUTPUT_0_X",
                                     "OUTPUT_0_DATATYPE",
                                     "OUTPUT_0_MEMORY"};
enum { COLUMNS = sizeof header / sizeof header[0] };

/* A matmul of 1024 x 1024 x 1024 on all 64 cores of a Wormhole, that has nothing wrong with it: BF16 in L1, HiFi4, compute 80 % of
 * 2 * 2^30 / (64 * 1024) ns = 32,768 ns. */
static const char usual[] =
    "OP CODE=Matmul|OP TYPE=tt_dnn_device|DEVICE ID=0|DEVICE ARCH=wormhole_b0|"
    "ATTRIBUTES={'program_config': 'X(in0_block_w=4;out_subblock_h=2;out_subblock_w=2)'}|MATH FIDELITY=HiFi4|"
    "CORE COUNT=64|AVAILABLE WORKER CORE COUNT=64|HOST START TS=1000|HOST END TS=2000|HOST DURATION [ns]=1000|"
    "OP TO OP LATENCY [ns]=500|DEVICE FW DURATION [ns]=42000|DEVICE KERNEL DURATION [ns]=40960|"
    "DEVICE KERNEL DURATION PER CORE MAX [ns]=40960|DEVICE KERNEL DURATION PER CORE AVG [ns]=40000|"
    "DEVICE BRISC KERNEL DURATION [ns]=40000|DEVICE NCRISC KERNEL DURATION [ns]=40000|"
    "DEVICE TRISC1 KERNEL DURATION [ns]=39000|INPUT_0_W=1|INPUT_0_Z=1|INPUT_0_Y=1024|INPUT_0_X=1024|"
    "INPUT_0_DATATYPE=BFLOAT16|INPUT_0_MEMORY=DEV_0_L1_INTERLEAVED|INPUT_1_W=1|INPUT_1_Z=1|INPUT_1_Y=1024|"
    "INPUT_1_X=1024|INPUT_1_DATATYPE=BFLOAT16|INPUT_1_MEMORY=DEV_0_L1_INTERLEAVED|OUTPUT_0_W=1|OUTPUT_0_Z=1|"
    "OUTPUT_0_Y=1024|OUTPUT_0_X=1024|OUTPUT_0_DATATYPE=BFLOAT16|OUTPUT_0_MEMORY=DEV_0_L1_INTERLEAVED";

/* "NAME=value|NAME=value": the value of a column; n SIZE_MAX: not said. */
static const char *value_of(const char *cells, const char *name, size_t *n)
{
    const size_t length = strlen(name);
    *n = SIZE_MAX;
    for (const char *at = cells; *at;) {
        const size_t whole = strcspn(at, "|");
        if (strncmp(at, name, length) == 0 && at[length] == '=') {
            *n = whole - length - 1;
            return at + length + 1;
        }
        at += whole + (at[whole] == '|');
    }
    return NULL;
}

static const char *cell(const char *cells, const char *name, size_t *n)
{
    const char *value = value_of(cells, name, n);
    return value ? value : value_of(usual, name, n);
}

void op_report_begin(dl_str *out)
{
    for (size_t i = 0; i < COLUMNS; i++)
        dl_str_fmt(out, "%s%s", i ? "," : "", header[i]);
    dl_str_char(out, '\n');
}

void op_report_add(dl_str *out, op_report_clock *clock, const char *cells, unsigned id)
{
    size_t n;
    const char *chip = cell(cells, "DEVICE ID", &n), *gap = cell(cells, "OP TO OP LATENCY [ns]", &n),
               *fw = cell(cells, "DEVICE FW DURATION [ns]", &n);
    const char *kernel = value_of(cells, "DEVICE KERNEL DURATION [ns]", &n);
    const bool own = kernel && n && !value_of(cells, "DEVICE FW DURATION [ns]", &n);
    const double took = own ? strtod(kernel, NULL) + 1040 : strtod(fw, NULL); /* nothing: on the host */
    double *now = &clock->now[*chip == '1'];
    const double start = *now + strtod(gap, NULL), end = start + took;
    if (took > 0) *now = end;
    for (size_t i = 0; i < COLUMNS; i++) {
        const char *value = cell(cells, header[i], &n);
        if (i) dl_str_char(out, ',');
        if (strcmp(header[i], "GLOBAL CALL COUNT") == 0 && !value)
            dl_str_fmt(out, "%u", id);
        else if (strcmp(header[i], "DEVICE FW START CYCLE") == 0 && took > 0)
            dl_str_fmt(out, "%.0f", start);
        else if (strcmp(header[i], "DEVICE FW END CYCLE") == 0 && took > 0)
            dl_str_fmt(out, "%.0f", end);
        else if (strcmp(header[i], "DEVICE FW DURATION [ns]") == 0 && took > 0)
            dl_str_fmt(out, "%.0f", took);
        else if (value)
            dl_str_add_n(out, value, n);
    }
    dl_str_char(out, '\n');
}
