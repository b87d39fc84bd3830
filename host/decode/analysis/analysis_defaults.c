/* The default analyses, in the form in which a user writes them. The first part are those of the reference
 * decoder of 2023, the others what its successors added (tt-metal of April 2026,
 * tools/tracy/device_post_proc_config.py). FW and KERNEL are said by role rather than by the
 * names of zones, so that RISCs of newer chips are in. */
#include "decode/analysis/analysis.h"

#define FW_START     "{\"risc\": \"ANY\", \"role\": \"FW\", \"zone_phase\": \"ZONE_START\"}"
#define FW_END       "{\"risc\": \"ANY\", \"role\": \"FW\", \"zone_phase\": \"ZONE_END\"}"
#define KERNEL_START "{\"risc\": \"ANY\", \"role\": \"KERNEL\", \"zone_phase\": \"ZONE_START\"}"
#define KERNEL_END   "{\"risc\": \"ANY\", \"role\": \"KERNEL\", \"zone_phase\": \"ZONE_END\"}"
#define DM_START                                                                                             \
    "{\"zone_name\": [\"BRISC-KERNEL\", \"NCRISC-KERNEL\", \"ERISC-KERNEL\"], \"zone_phase\": "              \
    "\"ZONE_START\"}"
#define T0                 "{\"timerID\": 0}"
#define OP_START           "{\"zone_name\": [\"BRISC-KERNEL\", \"NCRISC-KERNEL\"], \"zone_phase\": \"ZONE_START\"}"
#define TRACE(zone, phase) "{\"zone_name\": \"TRACE-" zone "\", \"zone_phase\": \"" phase "\"}"

#define TWO(name, across, type, start, end)                                                                  \
    "\"" name "\": {\"across\": \"" across "\", \"type\": \"" type "\",\n    \"start\": " start              \
    ",\n    \"end\": " end "}"
#define ONE(name, across, type, marker)                                                                      \
    "\"" name "\": {\"across\": \"" across "\", \"type\": \"" type "\",\n    \"marker\": " marker "}"

#define SIDE(risc, phase) "{\"risc\": \"" risc "\", \"role\": \"KERNEL\", \"zone_phase\": \"" phase "\"}"
#define KERNEL(risc, name)                                                                                   \
    TWO(name " kernel start -> " name " kernel end", "core", "adjacent", SIDE(risc, "ZONE_START"),           \
        SIDE(risc, "ZONE_END"))
#define DURATION(risc, name)                                                                                 \
    TWO("device_" name "_kernel_duration", "ops", "op_first_last", SIDE(risc, "ZONE_START"),                 \
        SIDE(risc, "ZONE_END"))
#define ZONE(risc, zone) "{\"risc\": \"" risc "\", \"zone_name\": \"" zone "\"}"
#define BRISC_FW         "{\"risc\": \"BRISC\", \"role\": \"FW\", \"zone_phase\": \"ZONE_START\"}"
#define GO               ZONE("NCRISC", "CQ_DISPATCH_CMD_SEND_GO_SIGNAL")

static const char *const texts[] = {
    TWO("T0 -> BRISC FW start", "core", "adjacent", T0, BRISC_FW),
    KERNEL("TRISC_0", "TRISC0"),
    KERNEL("TRISC_1", "TRISC1"),
    KERNEL("TRISC_2", "TRISC2"),
    KERNEL("BRISC", "BRISC"),
    KERNEL("NCRISC", "NCRISC"),
    KERNEL("ERISC", "ERISC"),
    TWO("ANY RISC FW start -> ANY RISC FW end", "core", "launch_first_last", FW_START, FW_END),
    TWO("ANY RISC FW end -> BRISC FW start", "core", "adjacent", FW_END, BRISC_FW),
    TWO("T0 -> ANY RISC FW end", "core", "session_first_last", T0, FW_END),
    TWO("T0 -> ANY CORE ANY RISC FW end", "device", "session_first_last", T0, FW_END),
    TWO("device_fw_duration", "ops", "op_first_last", FW_START, FW_END),
    TWO("device_kernel_duration", "ops", "op_first_last", KERNEL_START, KERNEL_END),
    TWO("device_kernel_duration_per_core", "ops", "op_core_first_last", KERNEL_START, KERNEL_END),
    TWO("device_kernel_duration_dm_start", "ops", "op_first_last", DM_START, KERNEL_END),
    TWO("device_kernel_first_to_last_start", "ops", "op_first_last", KERNEL_START, KERNEL_START),
    DURATION("BRISC", "brisc"),
    DURATION("NCRISC", "ncrisc"),
    DURATION("TRISC_0", "trisc0"),
    DURATION("TRISC_1", "trisc1"),
    DURATION("TRISC_2", "trisc2"),
    DURATION("ERISC", "erisc"),
    ONE("device_compute_cb_wait_front", "ops", "sum", ZONE("TRISC_0", "CB-COMPUTE-WAIT-FRONT")),
    ONE("device_compute_cb_reserve_back", "ops", "sum", ZONE("TRISC_2", "CB-COMPUTE-RESERVE-BACK")),
    TWO("op2op", "core", "adjacent", KERNEL_END, OP_START),
    TWO("trace_fw_duration", "ops", "op_first_last", TRACE("FW", "ANY"), TRACE("FW", "ANY")),
    TWO("trace_kernel_duration", "ops", "op_first_last", TRACE("KERNEL", "ANY"), TRACE("KERNEL", "ANY")),
    TWO("trace2trace - FW", "device", "adjacent", TRACE("FW", "ZONE_END"), TRACE("FW", "ZONE_START")),
    TWO("trace2trace - kernel", "device", "adjacent", TRACE("KERNEL", "ZONE_END"),
        TRACE("KERNEL", "ZONE_START")),
    TWO("dispatch_total_cq_cmd_op_time", "ops", "op_first_last", ZONE("BRISC", "CQ_DISPATCH_*"),
        ZONE("BRISC", "CQ_DISPATCH_*")),
    TWO("dispatch_go_send_wait_time", "ops", "op_first_last", GO, GO),
};

void dl_analyses_default_text(dl_str *out)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        dl_str_fmt(out, "%s  %s", i ? ",\n" : "{\n", texts[i]);
    dl_str_add(out, "\n}\n");
}
