/* For programs that include <nvtx3/nvToolsExt.h>: see ../nvToolsExt.h. */
#include "../nvToolsExt.h"
