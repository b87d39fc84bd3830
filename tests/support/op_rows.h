/* Op reports of logs that a test writes by hand: their lines, and the rows that come of them. */
#ifndef DEVLOG_TESTS_OP_ROWS_H
#define DEVLOG_TESTS_OP_ROWS_H

#include <cJSON.h>

#include "ops/op_job.h"

/* Lines of a log of ops .. */
#define RUN   "{\"e\":\"run\",\"t\":1,\"version\":1,\"run\":\"ab\",\"pid\":1}\n"
#define CLOSE "{\"e\":\"close\",\"t\":9,\"ops\":1,\"lost\":0}\n"
#define START(id, depth, name)                                                                               \
    "{\"e\":\"start\",\"id\":" #id ",\"t\":" #id "0,\"thread\":0,\"depth\":" #depth ",\"name\":\"" name      \
    "\"}\n"
#define END(id) "{\"e\":\"end\",\"id\":" #id ",\"t\":" #id "5,\"thread\":0}\n"
#define LAUNCH(id, n, cores)                                                                                 \
    "{\"e\":\"launch\",\"id\":" #id ",\"t\":3,\"chip\":0,\"launch\":" #n ",\"cores\":" #cores "}\n"
#define BOOT(id, n, number)                                                                                  \
    "{\"e\":\"launch\",\"id\":" #id ",\"t\":3,\"chip\":0,\"launch\":" #n ",\"boot\":" #number "}\n"

/* .. and of a device log at 1,000 MHz: its head, and zones of firmware (of an op: its first says of which one) and of kernels. */
#define HEADER                                                                                               \
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 80, Run: ab\nPCIe slot, core_x, core_y, "   \
    "RISC "                                                                                                  \
    "processor type, timer_id, time[cycles since reset], data, run host ID, trace id, trace id counter, "    \
    "zone "                                                                                                  \
    "name, type, source line, source file, meta data\n"
#define FW(x, n, trace, from, to)                                                                            \
    "0," #x ",0,BRISC,1," #from ",0," #n "," trace ",BRISC-FW,ZONE_START,0,,\n0," #x ",0,BRISC,4," #to       \
    ",0," #n "," trace ",BRISC-FW,ZONE_END,0,,\n"
#define KERNEL(x, n, from, to)                                                                               \
    "0," #x ",0,BRISC,2," #from ",0," #n ",,,BRISC-KERNEL,ZONE_START,0,,\n0," #x ",0,BRISC,3," #to ",0," #n  \
    ",,,BRISC-KERNEL,ZONE_END,0,,\n"
#define FW_OF(op, n, from, to)                                                                               \
    "0,0,0,BRISC,1," #from ",0," #n ",,,BRISC-FW,ZONE_START,0,,{\"op\":" #op "}\n0,0,0,BRISC,4," #to         \
    ",0," #n ",,,BRISC-FW,ZONE_END,0,,\n"

/* The rows of a log of ops (NULL: there is none) and a device log, which it writes to a folder; to be deleted, as the job is to be
 * freed. */
cJSON *op_rows(const char *folder, const char *ops, const char *device, op_job *job);

/* What a row has in a column; 0: no number. */
double op_rows_number(const cJSON *row, const char *column);

/* Fails the test when the job has lost nothing, or does not say `what`. */
void op_rows_say(const op_job *job, const char *what);

#endif
