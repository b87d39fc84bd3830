/* Reading tables: see the header. */
#include "answers/table_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/paths.h"

enum { MOST_BYTES = 4 << 20 };

static unsigned line_at(const table_file *f, const char *at)
{
    unsigned line = 1;
    for (const char *c = f->text.text; c && c < at; c++)
        line += *c == '\n';
    return line;
}

devlog_status table_file_read(table_file *f, const char *path, const char *name, int version,
                              devlog_error *err)
{
    char inside[64];
    *f = (table_file){0};
    snprintf(inside, sizeof inside, "tables/%s", name);
    devlog_status status = DEVLOG_OK;
    if (!path)
        status = dl_join(f->path, sizeof f->path, dl_home(), inside, err);
    else if (snprintf(f->path, sizeof f->path, "%s", path) >= (int)sizeof f->path)
        status = dl_fail(err, DEVLOG_ERR_ARGUMENT, "the name of the table is too long");
    if (!status) status = dl_file_read(f->path, MOST_BYTES, &f->text, err);
    if (status) return status;
    const char *stopped = NULL;
    f->json = cJSON_ParseWithOpts(f->text.text ? f->text.text : "", &stopped, true);
    if (!f->json || !cJSON_IsObject(f->json))
        return dl_fail(err, DEVLOG_ERR_FORMAT,
                       "%s:%u: it is no JSON object: look at the line, and at the comma before it", f->path,
                       line_at(f, stopped));
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(f->json, "version");
    if (!cJSON_IsNumber(v) || v->valueint != version)
        return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: \"version\" must be %d", f->path, version);
    return DEVLOG_OK;
}

void table_file_free(table_file *f)
{
    cJSON_Delete(f->json);
    dl_str_free(&f->text);
    *f = (table_file){0};
}

/* Where a string of the file stands: it is found by what it says, so texts should not be there twice. */
static const char *place_of(const table_file *f, const cJSON *item)
{
    if (!item || !cJSON_IsString(item)) return NULL;
    char *quoted = cJSON_PrintUnformatted(item);
    const char *at = quoted && f->text.text ? strstr(f->text.text, quoted) : NULL;
    cJSON_free(quoted);
    return at;
}

devlog_status table_file_wrong(const table_file *f, const cJSON *item, devlog_error *err, const char *fmt,
                               ...)
{
    char what[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    const char *at = place_of(f, item);
    if (!at) return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: %s", f->path, what);
    return dl_fail(err, DEVLOG_ERR_FORMAT, "%s:%u: %s", f->path, line_at(f, at), what);
}

const char *table_file_text(const table_file *f, const cJSON *in, const char *member, const cJSON *near,
                            devlog_error *err)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(in, member);
    if (cJSON_IsString(item) && item->valuestring[0]) return item->valuestring;
    table_file_wrong(f, near, err, "\"%s\" is missing, or is no text", member);
    return NULL;
}
