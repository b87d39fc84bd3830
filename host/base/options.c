/* Taking structs of options whose size may be that of an older or a newer header. */
#include "base/options.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "devlog/version.h"

/* No struct of options will ever be as large: such a size is what memory held before. */
enum { LARGEST = 4096 };

static devlog_status not_initialised(const char *type, size_t size, devlog_error *err)
{
    char macro[64];
    size_t n = 0;
    for (; type[n] && n + 1 < sizeof macro; n++)
        macro[n] = (char)toupper((unsigned char)type[n]);
    macro[n] = 0;
    return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                   "%s.size is %zu, which is no size of it: initialise it with %s()", type, size, macro);
}

devlog_status dl_options_take(void *out, size_t known, const void *given, const char *type, devlog_error *err)
{
    size_t size = 0;
    memset(out, 0, known);
    if (given) {
        memcpy(&size, given, sizeof size);
        if (size <= sizeof size || size % sizeof size || size > LARGEST)
            return not_initialised(type, size, err);
        for (size_t at = known; at < size; at++)
            if (((const uint8_t *)given)[at])
                return dl_fail(
                    err, DEVLOG_ERR_UNSUPPORTED,
                    "%s: byte %zu is set, and this libdevlog (%s) knows the first %zu: the program "
                    "was built with a newer one and asks for something that it had",
                    type, at, devlog_version(), known);
        memcpy(out, given, size < known ? size : known);
    }
    memcpy(out, &known, sizeof known);
    return DEVLOG_OK;
}
