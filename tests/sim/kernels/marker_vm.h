/* Operations of marker_vm.c; shared with the test that writes its programs. */
#ifndef MARKER_VM_H
#define MARKER_VM_H

enum {
    VM_ZONE_BEGIN,
    VM_ZONE_END,
    VM_SCOPED,
    VM_COMPLETE,
    VM_EVENT,
    VM_VALUE,
    VM_VALUE64,
    VM_COUNTER,
    VM_PRINT,
    VM_DELAY,
    VM_SUM,
    VM_FREEZE,
    VM_OPERATIONS,

    /* Of damage.c only. */
    VM_OVERWRITE = 32, /* bits 8 to 10: how many words, 11 to 13: which; operand: from which word on */
    VM_MOVE_CURSOR,    /* site: whither */
    VM_CALL_NULL,      /* operand: 0 */
    VM_HANG
};

#endif
