/* Shared libraries that are loaded when they are used. */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

devlog_status dl_library_load(const char *file, const char *const *names, size_t n, void *functions,
                              devlog_error *err)
{
    char *to = functions;
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND, "cannot load %s, which this needs: %s", file, dlerror());
    for (size_t i = 0; i < n; i++) {
        void *symbol = dlsym(library, names[i]);
        if (!symbol)
            return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                           "%s has no function %s: it is not the one for which "
                           "devlog was built",
                           file, names[i]);
        /* dlsym gives an object pointer; C11 has no cast to a function pointer, POSIX promises that the copy
         * works. */
        memcpy(to + i * sizeof symbol, &symbol, sizeof symbol);
    }
    return DEVLOG_OK;
}
