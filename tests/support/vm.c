/* Random programs of markers. See vm.h. */
#include "support/vm.h"

#include <stdlib.h>

static uint64_t seed;

uint64_t vm_seed(void)
{
    const char *wanted = getenv("DEVLOG_TEST_SEED");
    return wanted ? strtoull(wanted, NULL, 10) : 1;
}

static uint32_t random_below(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed % n);
}

void vm_make(vm_program *p)
{
    static const uint8_t operations[] = {VM_ZONE_BEGIN, VM_ZONE_END, VM_SCOPED,  VM_COMPLETE,
                                         VM_EVENT,      VM_VALUE,    VM_VALUE64, VM_COUNTER,
                                         VM_PRINT,      VM_DELAY,    VM_SUM};
    uint32_t sums = 0;
    if (!seed) seed = 88172645463325252u + 0x9E3779B97F4A7C15u * (vm_seed() - 1);
    /* Mostly small programs; some overflow both segments, some several times. */
    p->n = random_below(8) == 0 ? random_below(VM_MAX_STEPS) : random_below(60);
    p->records = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t operation = operations[random_below(sizeof operations)], site = random_below(8);
        if (random_below(3000) == 0) operation = VM_FREEZE;
        uint32_t operand = operation == VM_DELAY ? random_below(30) : random_below(65536);
        p->steps[i] = operation | site << 8 | operand << 16;
        switch (operation) {
        case VM_DELAY:
        case VM_FREEZE: break;
        case VM_SUM: sums |= 1u << site; break;
        case VM_SCOPED: p->records += 2; break;
        default: p->records++; break;
        }
    }
    for (; sums; sums &= sums - 1)
        p->records++; /* one per zone that was summed, at the end */
}
