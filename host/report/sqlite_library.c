/* sqlite3: finding its functions. */
#include "report/sqlite_library.h"

struct dl_sqlite dl_sqlite;

devlog_status dl_sqlite_load(devlog_error *err)
{
    static const char *const names[] = {SQLITE_FUNCTIONS(DL_LIBRARY_NAME)};
    return dl_library_load(DEVLOG_LIBSQLITE3, names, sizeof names / sizeof names[0], &dl_sqlite, err);
}
