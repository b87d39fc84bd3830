/* Date and time in front of files' names. */
#include "cli/date.h"

#include <time.h>

#include "base/settings.h"

devlog_status cli_date_prefix(bool wanted, char out[32], devlog_error *err)
{
    uint64_t seconds;
    struct tm tm;
    out[0] = '\0';
    if (!wanted) return DEVLOG_OK;
    bool fixed = dl_setting_text(DL_SET_SOURCE_DATE_EPOCH) != NULL;
    devlog_status status = dl_setting_number(DL_SET_SOURCE_DATE_EPOCH, 0, &seconds, err);
    if (status) return status;
    time_t now = fixed ? (time_t)seconds : time(NULL);
    if ((fixed ? gmtime_r(&now, &tm) : localtime_r(&now, &tm)) == NULL ||
        strftime(out, 32, "%Y_%m_%d_%H_%M_%S_", &tm) == 0)
        out[0] = '\0';
    return DEVLOG_OK;
}
