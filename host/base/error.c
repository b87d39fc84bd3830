/* Errors: filling a devlog_error, and the texts of statuses. Not for printing: the command line does that. */
#define DEVLOG_ERROR_C
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

/* One text: of one that is too long the middle is left out, as its end says why; and one line, unless its format has
 * several: names may have line ends in them. */
static size_t fill(char *to, size_t size, const char *fmt, va_list ap)
{
    static const char gap[] = "...";
    char *whole = NULL;
    const int n = vasprintf(&whole, fmt, ap);
    if (n < 0) {
        snprintf(to, size, "%s", fmt); /* no memory: what it was about, without names */
        return strlen(to);
    }
    size_t length = (size_t)n;
    if (length >= size) {
        const size_t tail = size / 3, head = size - 1 - tail - (sizeof gap - 1);
        memmove(whole + head + sizeof gap - 1, whole + length - tail, tail + 1);
        memcpy(whole + head, gap, sizeof gap - 1);
        length = size - 1;
    }
    memcpy(to, whole, length + 1);
    free(whole);
    (strchr(fmt, '\n') ? dl_shown_in_place
                       : dl_shown_line_in_place)(to); /* it may name what a log or a user wrote */
    return length;
}

devlog_status dl_fail(devlog_error *err, devlog_status status, const char *fmt, ...)
{
    if (!err) return status;
    va_list ap;
    va_start(ap, fmt);
    fill(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    err->status = status;
    return status;
}

devlog_status dl_fail_in(devlog_error *err, const char *fmt, ...)
{
    if (!err) return DEVLOG_ERR_STATE;
    char text[sizeof err->text];
    va_list ap;
    va_start(ap, fmt);
    const size_t n = fill(text, sizeof text / 2, fmt, ap);
    va_end(ap);
    snprintf(text + n, sizeof text - n, ": %s", err->text);
    memcpy(err->text, text, sizeof text);
    dl_shown_in_place(err->text); /* its end may be in the middle of a letter */
    return err->status;
}

devlog_status dl_fail_errno(devlog_error *err, int errnum, const char *fmt, ...)
{
    if (!err) return DEVLOG_ERR_IO;
    va_list ap;
    va_start(ap, fmt);
    enum { REASON = 160 };
    const size_t n = fill(err->text, sizeof err->text - REASON, fmt, ap);
    va_end(ap);
    snprintf(err->text + n, REASON, ": %s", strerror(errnum));
    err->status = DEVLOG_ERR_IO;
    return DEVLOG_ERR_IO;
}
