/* Errors: filling a devlog_error, and the texts of statuses. Every room of the host uses this one way. */
#ifndef DEVLOG_BASE_ERROR_H
#define DEVLOG_BASE_ERROR_H

#include "devlog/devlog.h"

#if defined(__GNUC__)
#define DL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define DL_PRINTF(fmt, args)
#endif

/* Sets *err (ignored when NULL) to `status` and the formatted text, and returns `status`, so that a
 * failing function can end with `return dl_fail(err, DEVLOG_ERR_IO, "...")`. */
devlog_status dl_fail(devlog_error *err, devlog_status status, const char *fmt, ...) DL_PRINTF(3, 4);

/* Puts "prefix: " in front of the text that is already in *err, and returns its status. */
devlog_status dl_fail_in(devlog_error *err, const char *fmt, ...) DL_PRINTF(2, 3);

/* dl_fail for a failed system call: appends strerror(errnum). */
devlog_status dl_fail_errno(devlog_error *err, int errnum, const char *fmt, ...) DL_PRINTF(3, 4);

#if defined __clang_analyzer__ && !defined DEVLOG_ERROR_C
/* Tells the analyser what it cannot see: a failure is never DEVLOG_OK. */
static inline devlog_status dl_failed(devlog_status status)
{
    if (status == DEVLOG_OK) __builtin_unreachable();
    return status;
}
#define dl_fail(...)       dl_failed(dl_fail(__VA_ARGS__))
#define dl_fail_in(...)    dl_failed(dl_fail_in(__VA_ARGS__))
#define dl_fail_errno(...) dl_failed(dl_fail_errno(__VA_ARGS__))
#endif

#endif
