/* Whether what tt-metal's host has written is of the run of the device's log. See folder.h. */
#include <string.h>
#include <sys/stat.h>

#include "tt_metal/folder.h"

bool tt_data_is_before(const char *data, const char *device_log)
{
    enum { SECONDS = 60 }; /* copies are made in any order */
    static const char packed[] = ".pack";
    const size_t n = strlen(device_log), m = sizeof packed - 1;
    struct stat of_data, of_log;
    if (n > m && strcmp(device_log + n - m, packed) == 0) return false; /* it is as old as its packing */
    return stat(data, &of_data) == 0 && stat(device_log, &of_log) == 0 &&
           of_data.st_mtime + SECONDS < of_log.st_mtime;
}

bool tt_files_say_before(const tt_files *f, dl_str *out)
{
    const char *device = f->log ? f->log : f->report;
    if (!f->data || !device || !tt_data_is_before(f->data, device)) return false;
    dl_str_fmt(out, "%s is older than %s: if it is of a run before, so are the ops of this report", f->data,
               device);
    return true;
}
