/* Programs as the op log describes them, made ready for the columns of a report. */
#ifndef DEVLOG_OPS_OP_PROGRAMS_H
#define DEVLOG_OPS_OP_PROGRAMS_H

#include "ops/op_device.h"
#include "ops/op_log.h"

typedef struct op_program_text {
    uint32_t number;
    char hash[20];
    /* "['a.c'; 'b.c']" and "['a/<hash>/'; ...]"; "[]" when it has no such kernel. */
    dl_str compute_source, compute_hash, dm_source, dm_hash;
    uint32_t bytes[OP_RISCS]; /* of the kernel on each RISC, the largest of several */
} op_program_text;

typedef struct op_programs {
    op_program_text *items;
    size_t n;
} op_programs;

devlog_status op_programs_read(op_programs *p, op_log *log, devlog_error *err);
void op_programs_free(op_programs *p);
/* NULL: there is none of this number. */
const op_program_text *op_programs_find(const op_programs *p, uint32_t number);

#endif
