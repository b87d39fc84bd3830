/* Tables that users may edit, as JSON: tables/ of an installation, or a file of one's own. What is wrong in one is told with
 * file and line. Not for what they say (flops.h, rules.h). */
#ifndef DEVLOG_ANSWERS_TABLE_FILE_H
#define DEVLOG_ANSWERS_TABLE_FILE_H

#include <cJSON.h>

#include "base/str.h"

typedef struct table_file {
    char path[4096];
    dl_str text;
    cJSON *json;
} table_file;

/* `path` NULL: tables/NAME of the installation. Its "version" must be `version`. Free with table_file_free in any case. */
devlog_status table_file_read(table_file *f, const char *path, const char *name, int version,
                              devlog_error *err);
void table_file_free(table_file *f);

/* FORMAT: "file:line: what". The line is that of `item`, a string of the file; NULL: of no line. */
devlog_status table_file_wrong(const table_file *f, const cJSON *item, devlog_error *err, const char *fmt,
                               ...) DL_PRINTF(4, 5);
/* A text that must be there and not be empty; NULL: it is not, which is said. `in` is what it is a member of, and `near` a string of that,
 * to find the line by; NULL: none. */
const char *table_file_text(const table_file *f, const cJSON *in, const char *member, const cJSON *near,
                            devlog_error *err);

#endif
