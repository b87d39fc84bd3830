/* device_rearranged_timestamps.csv: for every core the stamps of its default markers, one row per core. */
#ifndef DEVLOG_REPORT_REARRANGED_H
#define DEVLOG_REPORT_REARRANGED_H

#include "report/artifacts.h"

extern const dl_artifact dl_artifact_rearranged;

#endif
