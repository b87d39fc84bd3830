/* devlog --version: which devlog this is, of which commit, and what it can do here. See version.h. */
#include "cli/version.h"

#include <dlfcn.h>
#include <stdio.h>

#include "commit.h"
#include "devlog/version.h"
#include "outlets/itt.h"
#include "outlets/usdt.h"

static void built_in(const char *what, bool is, const char *header)
{
    if (is)
        printf("%s: yes\n", what);
    else
        printf("%s: no, it was built without %s\n", what, header);
}

static void loaded(const char *what, const char *library)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    if (handle)
        printf("%s: yes, by %s\n", what, library);
    else
        printf("%s: no, %s is not on this machine\n", what, library);
    if (handle) dlclose(handle);
}

void cli_version(void)
{
    puts("devlog " DEVLOG_VERSION);
    puts("commit: " DEVLOG_COMMIT);
    built_in("USDT probes", usdt_built_in(), "sys/sdt.h");
    built_in("ITT", itt_built_in(), "ittnotify.h");
    loaded("debug probes", DEVLOG_LIBUSB);
    loaded("devlog archive and runs in SQLite", DEVLOG_LIBSQLITE3);
    loaded("tar and zip", DEVLOG_LIBARCHIVE);
    loaded("devlog serve", DEVLOG_LIBMICROHTTPD);
}
