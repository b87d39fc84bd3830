/* Date and time in front of files' names (--date). */
#ifndef DEVLOG_CLI_DATE_H
#define DEVLOG_CLI_DATE_H

#include "base/error.h"

/* "2026_11_21_20_05_00_" of now, or of SOURCE_DATE_EPOCH in UTC; fails when that is no number. "" unless
 * `wanted`. */
devlog_status cli_date_prefix(bool wanted, char out[32], devlog_error *err);

#endif
