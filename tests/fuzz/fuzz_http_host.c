/* Host headers of any bytes: a name is let in only when it is a number, localhost, or on the list. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/http.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"lab.example"};
    char *host = malloc(size + 1);
    if (!host) return 0;
    memcpy(host, data, size);
    host[size] = '\0';
    if (http_host_allowed(host, names, 1)) {
        fuzz_got_inside();
        bool name = strncasecmp(host, "localhost", 9) == 0 || strncasecmp(host, "lab.example", 11) == 0;
        if (!name && strspn(host, "0123456789abcdefABCDEF.:[]") < strcspn(host, ":") && host[0] != '[')
            abort();
    }
    free(host);
    return 0;
}
