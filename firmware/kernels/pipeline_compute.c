/* Pipeline, TRISC1: circular buffer 1 to 2. */
#define STAGE           1u
#define STAGE_NAME      "compute page"
#define STAGE_OPERATION PIPELINE_COMPUTE
#include "pipeline_stage.h"
