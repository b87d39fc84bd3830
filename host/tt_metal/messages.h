/* tracy_ops_data.csv, message by message: what Tracy's csvexport writes of a program's messages, as
 * "`MESSAGE`;NS". A message has several lines and is quoted by backticks, which are part of what tt-metal
 * sends; Tracy cuts at 64 KiB, and a cut message lacks the closing one, so that other readers take the
 * messages behind it for a part of it. This one does not. */
#ifndef DEVLOG_TT_METAL_MESSAGES_H
#define DEVLOG_TT_METAL_MESSAGES_H

#include "base/str.h"

typedef struct tt_message {
    const char *text; /* without its backticks */
    size_t len;
    uint64_t ns; /* when it was sent */
    uint64_t line;
    bool timed; /* ns is known */
    bool cut;   /* its closing backtick is missing */
} tt_message;

typedef struct tt_messages_found {
    uint64_t messages, lines;
    uint64_t cut;      /* without a closing backtick */
    uint64_t quoting;  /* with a backtick inside that is no doubled one; kept as it is */
    uint64_t untimed;  /* without a time */
    uint64_t too_long; /* more than TT_MAX_MESSAGE, skipped */
    bool stopped;      /* the file could not be read to its end: */
    devlog_error why;
} tt_messages_found;

enum { TT_MAX_MESSAGE = 16 * 1024 * 1024 };

/* Calls `take` for each, with what is valid during the call only; false stops, and gives MEMORY. Damage is no
 * failure: NOT_FOUND or IO only when the file cannot be opened. */
devlog_status tt_messages_read(const char *path, bool (*take)(void *ctx, const tt_message *m), void *ctx,
                               void (*progress)(void *ctx, uint64_t taken, uint64_t size), void *progress_ctx,
                               tt_messages_found *found, devlog_error *err);
/* The same from memory. */
devlog_status tt_messages_parse(const void *bytes, size_t n, bool (*take)(void *ctx, const tt_message *m),
                                void *ctx, tt_messages_found *found, devlog_error *err);

#endif
