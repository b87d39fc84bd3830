/* Random programs of markers for tests/sim/kernels/marker_vm.c. */
#ifndef DEVLOG_TESTS_VM_H
#define DEVLOG_TESTS_VM_H

#include <stdint.h>

#include "sim/kernels/marker_vm.h"

enum { VM_MAX_STEPS = 800, VM_PROGRAM_BYTES = 4 * VM_MAX_STEPS };

typedef struct vm_program {
    uint32_t steps[VM_MAX_STEPS], n;
    uint32_t records; /* that it emits in all */
} vm_program;

/* Which sequence of random programs: DEVLOG_TEST_SEED, or 1. */
uint64_t vm_seed(void);

/* The next program of a sequence that is the same in every run. */
void vm_make(vm_program *p);

#endif
