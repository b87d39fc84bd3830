/* devlog host API: open a device, run programs on it, pull and decode what their markers recorded.
 *
 * Conventions of this header
 *   - A function that can fail returns a devlog_status and takes a devlog_error * as its last parameter
 *     (may be NULL); on failure the error holds one line for a person: what is wrong, where, what to do.
 *   - Outputs are written only on DEVLOG_OK unless a function says otherwise.
 *   - Objects are owned by the caller who created them; borrowed pointers say so.
 *   - No global state: two devices may be used from two threads. One object is used by one thread at a time
 *     unless its section says otherwise.
 *   - Device addresses and sizes are bytes; times are cycles of the chip or nanoseconds, and say which.
 */
#ifndef DEVLOG_DEVLOG_H
#define DEVLOG_DEVLOG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors ------------------------------------------------------------------------------------- */

typedef enum devlog_status {
    DEVLOG_OK = 0,
    DEVLOG_ERR_ARGUMENT,    /* a caller's or user's value is out of range or unknown */
    DEVLOG_ERR_MEMORY,      /* the host is out of memory */
    DEVLOG_ERR_IO,          /* a file or folder could not be read or written */
    DEVLOG_ERR_NOT_FOUND,   /* a file, board, symbol, or program does not exist */
    DEVLOG_ERR_FORMAT,      /* input is malformed; the text says where */
    DEVLOG_ERR_UNSUPPORTED, /* valid, but not supported here */
    DEVLOG_ERR_COMPILE,     /* the cross compiler or linker refused; the text has its message */
    DEVLOG_ERR_TIMEOUT,     /* the device did not finish in time */
    DEVLOG_ERR_DEVICE,      /* the device (or its simulator) reported a fault */
    DEVLOG_ERR_TRANSPORT,   /* the connection to the device failed */
    DEVLOG_ERR_STATE,       /* calls in the wrong order */
    DEVLOG_ERR_PARTIAL,     /* something was kept, something was lost; the text counts both */
} devlog_status;

typedef struct devlog_error {
    devlog_status status;
    char text[2048];
} devlog_error;

/* A short English text for a status; static storage. */
const char *devlog_status_text(devlog_status status);

#ifdef __cplusplus
}
#endif

#endif
