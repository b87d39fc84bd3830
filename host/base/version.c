/* The version of the library. */
#include "devlog/version.h"

const char *devlog_version(void)
{
    return DEVLOG_VERSION;
}
