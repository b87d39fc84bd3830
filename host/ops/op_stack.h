/* The call stack of Python on the calling thread, for ops whose log was asked for it (DEVLOG_OP_STACKS). */
#ifndef DEVLOG_OPS_OP_STACK_H
#define DEVLOG_OPS_OP_STACK_H

#include "base/str.h"

/* Appends "file:line function" of so many frames, innermost first, as texts of a JSON list without its brackets. Nothing where no Python
 * runs in this process, or where it cannot be asked. Without the interpreter's lock it waits for it. */
void op_stack_add(dl_str *out, unsigned most);

#endif
