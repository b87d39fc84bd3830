/* Pipeline, TRISC2: circular buffer 2 to 3. */
#define STAGE           2u
#define STAGE_NAME      "pack page"
#define STAGE_OPERATION PIPELINE_PACK
#include "pipeline_stage.h"
