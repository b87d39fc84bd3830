/* Pipeline, TRISC0: circular buffer 0 to 1. */
#define STAGE           0u
#define STAGE_NAME      "unpack page"
#define STAGE_OPERATION PIPELINE_UNPACK
#include "pipeline_stage.h"
