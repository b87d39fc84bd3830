/* Structs of options that callers give: they begin with their size, so that they can grow. Not for options of
 * the command line (cli/options.h) or the environment (settings.h). */
#ifndef DEVLOG_BASE_OPTIONS_H
#define DEVLOG_BASE_OPTIONS_H

#include <stddef.h>

#include "base/error.h"

/* Copies the options that a caller gave, whose first member is their size (size_t), into the struct of `known`
 * bytes that this library has. What the caller's is too short for is zero, as it all is when `given` is NULL.
 * A longer one may hold nothing but zeros behind what is known. Fails with ARGUMENT when it was not
 * initialised, with UNSUPPORTED when it asks for what this library does not know. `type` is the struct's name. */
devlog_status dl_options_take(void *out, size_t known, const void *given, const char *type,
                              devlog_error *err);

#endif
