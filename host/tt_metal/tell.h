/* What is wrong with the rows of a report that a selection leaves, as findings. Of the others nothing is told, so that what
 * is said is of what is shown. */
#ifndef DEVLOG_TT_METAL_TELL_H
#define DEVLOG_TT_METAL_TELL_H

#include "tt_metal/join.h"

/* `part`: of a device log only what the selection needs was read. */
void tt_tell_rows(const tt_join *j, bool selected, bool part);

#endif
