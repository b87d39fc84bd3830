/* Errors: filling a devlog_error, and the texts of statuses. Not for printing: the command line does that. */
#define DEVLOG_ERROR_C
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

static const char *const status_text[] = {
    [DEVLOG_OK] = "no error",
    [DEVLOG_ERR_ARGUMENT] = "wrong argument",
    [DEVLOG_ERR_MEMORY] = "out of memory",
    [DEVLOG_ERR_IO] = "input or output failed",
    [DEVLOG_ERR_NOT_FOUND] = "not found",
    [DEVLOG_ERR_FORMAT] = "malformed input",
    [DEVLOG_ERR_UNSUPPORTED] = "not supported",
    [DEVLOG_ERR_COMPILE] = "compilation failed",
    [DEVLOG_ERR_TIMEOUT] = "timed out",
    [DEVLOG_ERR_DEVICE] = "the device failed",
    [DEVLOG_ERR_TRANSPORT] = "the connection to the device failed",
    [DEVLOG_ERR_STATE] = "called in the wrong state",
    [DEVLOG_ERR_PARTIAL] = "only a part could be done",
};

const char *devlog_status_text(devlog_status status)
{
    size_t n = sizeof status_text / sizeof status_text[0];
    if ((size_t)status >= n || !status_text[status]) return "unknown status";
    return status_text[status];
}

devlog_status dl_fail(devlog_error *err, devlog_status status, const char *fmt, ...)
{
    if (!err) return status;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    dl_shown_in_place(err->text); /* it may name what a log or a user wrote */
    err->status = status;
    return status;
}

devlog_status dl_fail_in(devlog_error *err, const char *fmt, ...)
{
    if (!err) return DEVLOG_ERR_STATE;
    char text[sizeof err->text];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n < 0) n = 0;
    if ((size_t)n < sizeof text - 2) snprintf(text + n, sizeof text - (size_t)n, ": %s", err->text);
    memcpy(err->text, text, sizeof text);
    dl_shown_in_place(err->text);
    return err->status;
}

devlog_status dl_fail_errno(devlog_error *err, int errnum, const char *fmt, ...)
{
    if (!err) return DEVLOG_ERR_IO;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof err->text)
        snprintf(err->text + n, sizeof err->text - (size_t)n, ": %s", strerror(errnum));
    dl_shown_in_place(err->text);
    err->status = DEVLOG_ERR_IO;
    return DEVLOG_ERR_IO;
}
