/* Analyses: their JSON form, and what a condition matches. */
#include "decode/analysis/analysis.h"

#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "decode/filter.h"

enum { MAX_FILE = 1 << 20, ANY_ZONE = 1 << DL_ROW_ZONE_START | 1 << DL_ROW_ZONE_END };
enum { ANY_POINT = 1 << DL_ROW_TS_EVENT | 1 << DL_ROW_TS_DATA | 1 << DL_ROW_TS_DATA_16B };

typedef struct word {
    const char *text;
    int value;
} word;

static const word across_words[] = {{"risc", DL_ACROSS_RISC},
                                    {"core", DL_ACROSS_CORE},
                                    {"device", DL_ACROSS_DEVICE},
                                    {"ops", DL_ACROSS_OPS},
                                    {"dispatch_ops", DL_ACROSS_OPS},
                                    {"op", DL_ACROSS_OPS},
                                    {NULL, 0}};
static const word type_words[] = {{"adjacent", DL_ANALYSIS_ADJACENT},
                                  {"session_first_last", DL_ANALYSIS_SESSION_FIRST_LAST},
                                  {"op_first_last", DL_ANALYSIS_OP_FIRST_LAST},
                                  {"launch_first_last", DL_ANALYSIS_OP_FIRST_LAST},
                                  {"op_core_first_last", DL_ANALYSIS_OP_CORE_FIRST_LAST},
                                  {"sum", DL_ANALYSIS_SUM},
                                  {"event", DL_ANALYSIS_EVENT},
                                  {NULL, 0}};
static const word phase_words[] = {{"ZONE_START", 1 << DL_ROW_ZONE_START},
                                   {"begin", 1 << DL_ROW_ZONE_START},
                                   {"ZONE_END", 1 << DL_ROW_ZONE_END},
                                   {"end", 1 << DL_ROW_ZONE_END},
                                   {"ANY", ANY_ZONE},
                                   {"TS_EVENT", 1 << DL_ROW_TS_EVENT},
                                   {"TS_DATA", 1 << DL_ROW_TS_DATA | 1 << DL_ROW_TS_DATA_16B},
                                   {NULL, 0}};
static const word role_words[] = {{"FW", DL_ROLE_FW}, {"KERNEL", DL_ROLE_KERNEL}, {NULL, 0}};

const char *dl_across_text(dl_across across)
{
    return across_words[across].text;
}

const char *dl_analysis_type_text(dl_analysis_type type)
{
    for (const word *w = type_words; w->text; w++)
        if (w->value == (int)type) return w->text;
    return "?";
}

/* What is being read, for messages. */
typedef struct reader {
    const char *source, *analysis, *part;
    devlog_error *err;
} reader;

static devlog_status bad(const reader *r, const char *what, const char *value)
{
    return dl_fail(r->err, DEVLOG_ERR_FORMAT, "%s: analysis '%.80s'%s%s: %s%s%.60s%s", r->source, r->analysis,
                   r->part ? ", " : "", r->part ? r->part : "", what, value ? " '" : "", value ? value : "",
                   value ? "'" : "");
}

static devlog_status no_memory(const reader *r)
{
    return dl_fail(r->err, DEVLOG_ERR_MEMORY, "out of memory for the analyses of %s", r->source);
}

static devlog_status read_word(const reader *r, const cJSON *json, const char *what, const word *words,
                               int *out)
{
    const char *text = cJSON_GetStringValue(json);
    if (!text) return bad(r, what, json ? "not a text" : "missing");
    for (; words->text; words++) {
        if (strcmp(words->text, text) != 0) continue;
        *out = words->value;
        return DEVLOG_OK;
    }
    return bad(r, what, text);
}

static bool whole(const cJSON *json, double max, uint32_t *out)
{
    if (!cJSON_IsNumber(json) || !(json->valuedouble >= 0 && json->valuedouble <= max)) return false;
    *out = (uint32_t)json->valuedouble;
    return (double)*out == json->valuedouble;
}

/* "ANY", or [x, y]. */
static devlog_status read_core(const reader *r, const cJSON *json, dl_match *m)
{
    uint32_t x, y;
    const char *text = cJSON_GetStringValue(json);
    if (text && strcmp(text, "ANY") == 0) return DEVLOG_OK;
    bool pair = cJSON_IsArray(json) && cJSON_GetArraySize(json) == 2;
    if (!pair || !whole(cJSON_GetArrayItem(json, 0), UINT16_MAX, &x) ||
        !whole(cJSON_GetArrayItem(json, 1), UINT16_MAX, &y))
        return bad(r, "core is neither \"ANY\" nor [x, y]", NULL);
    m->has_core = true;
    m->core_x = (uint16_t)x;
    m->core_y = (uint16_t)y;
    return DEVLOG_OK;
}

static devlog_status read_risc(const reader *r, const cJSON *json, dl_match *m)
{
    const char *text = cJSON_GetStringValue(json);
    if (!text) return bad(r, "risc is not a text", NULL);
    if (strcmp(text, "ANY") == 0 || strcmp(text, "TENSIX") == 0) return DEVLOG_OK;
    free(m->risc);
    m->risc = strdup(text);
    return m->risc ? DEVLOG_OK : no_memory(r);
}

static devlog_status add_zone(const reader *r, const cJSON *json, dl_match *m)
{
    const char *text = cJSON_GetStringValue(json);
    if (!text) return bad(r, "zone_name is neither a text nor a list of them", NULL);
    if (m->n_zones == DL_MAX_MATCH_ZONES) return bad(r, "more than 64 zone names", NULL);
    char **zones = realloc(m->zones, (m->n_zones + 1) * sizeof *zones);
    if (!zones) return no_memory(r);
    m->zones = zones;
    zones[m->n_zones] = strdup(text);
    if (!zones[m->n_zones]) return no_memory(r);
    m->n_zones++;
    return DEVLOG_OK;
}

static devlog_status read_zones(const reader *r, const cJSON *json, dl_match *m)
{
    if (!cJSON_IsArray(json)) return add_zone(r, json, m);
    devlog_status status = cJSON_GetArraySize(json) ? DEVLOG_OK : bad(r, "zone_name is an empty list", NULL);
    const cJSON *item;
    cJSON_ArrayForEach(item, json)
    {
        if (!status) status = add_zone(r, item, m);
    }
    return status;
}

static devlog_status read_key(const reader *r, const cJSON *json, dl_match *m, bool *phase)
{
    int value = 0;
    devlog_status status;
    if (strcmp(json->string, "core") == 0) return read_core(r, json, m);
    if (strcmp(json->string, "risc") == 0) return read_risc(r, json, m);
    if (strcmp(json->string, "zone_name") == 0) return read_zones(r, json, m);
    if (strcmp(json->string, "timerID") == 0) {
        if (!whole(json, UINT32_MAX, &m->timer_id)) return bad(r, "timerID is not a number", NULL);
        m->t0 = m->timer_id == 0;
        m->has_timer = m->timer_id != 0;
        return DEVLOG_OK;
    }
    if (strcmp(json->string, "zone_phase") == 0) {
        status = read_word(r, json, "zone_phase", phase_words, &value);
        m->types = (uint8_t)value;
        *phase = true;
        return status;
    }
    if (strcmp(json->string, "role") == 0) {
        status = read_word(r, json, "role", role_words, &value);
        m->role = (dl_role)value;
        m->has_role = true;
        return status;
    }
    return bad(r, "unknown key", json->string);
}

/* `types` is what it matches when nothing else is said. */
static devlog_status read_match(reader *r, const cJSON *json, const char *part, int types, dl_match *m)
{
    bool phase = false;
    r->part = part;
    if (!cJSON_IsObject(json)) return bad(r, json ? "not an object" : "missing", NULL);
    m->types = (uint8_t)types;
    const cJSON *key;
    cJSON_ArrayForEach(key, json)
    {
        devlog_status status = read_key(r, key, m, &phase);
        if (status) return status;
    }
    /* In logs of 2023 the timer id alone says which end of a zone it is. */
    if (m->has_timer && !phase) m->types = ANY_ZONE | ANY_POINT | 1 << DL_ROW_ZONE_TOTAL;
    r->part = NULL;
    return DEVLOG_OK;
}

static devlog_status read_analysis(reader *r, const cJSON *json, dl_analysis *a)
{
    int across = 0, type = 0;
    const cJSON *key;
    if (!cJSON_IsObject(json)) return bad(r, "not an object", NULL);
    cJSON_ArrayForEach(key, json)
    {
        static const char *const known[] = {"across", "type", "start", "end", "marker"};
        bool is_known = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            is_known |= strcmp(known[i], key->string) == 0;
        if (!is_known) return bad(r, "unknown key", key->string);
    }
    devlog_status status =
        read_word(r, cJSON_GetObjectItemCaseSensitive(json, "across"), "across", across_words, &across);
    if (!status)
        status = read_word(r, cJSON_GetObjectItemCaseSensitive(json, "type"), "type", type_words, &type);
    if (status) return status;
    a->across = (dl_across)across;
    a->type = (dl_analysis_type)type;
    if (a->type == DL_ANALYSIS_ADJACENT && a->across == DL_ACROSS_OPS)
        return bad(r, "adjacent is across risc, core or device, not ops", NULL);
    if (a->type == DL_ANALYSIS_SUM || a->type == DL_ANALYSIS_EVENT) {
        int types = a->type == DL_ANALYSIS_SUM ? 1 << DL_ROW_ZONE_TOTAL : ANY_POINT;
        status = read_match(r, cJSON_GetObjectItemCaseSensitive(json, "marker"), "marker", types, &a->start);
        if (!status && a->start.t0) status = bad(r, "timerID 0 is no marker", NULL);
        return status;
    }
    status = read_match(r, cJSON_GetObjectItemCaseSensitive(json, "start"), "start", 1 << DL_ROW_ZONE_START,
                        &a->start);
    if (!status)
        status = read_match(r, cJSON_GetObjectItemCaseSensitive(json, "end"), "end", 1 << DL_ROW_ZONE_END,
                            &a->end);
    if (!status && a->end.t0)
        status = bad(r, "timerID 0 is the earliest stamp, which can only be a start", NULL);
    return status;
}

static void free_match(dl_match *m)
{
    for (size_t i = 0; i < m->n_zones; i++)
        free(m->zones[i]);
    free(m->zones);
    free(m->risc);
}

static void free_analysis(dl_analysis *a)
{
    free_match(&a->start);
    free_match(&a->end);
    free(a->name);
}

void dl_analyses_free(dl_analysis_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free_analysis(&list->items[i]);
    free(list->items);
    *list = (dl_analysis_list){0};
}

/* Where the new analysis goes: over one of the same name, or behind the last. */
static dl_analysis *place(dl_analysis_list *list, const reader *r)
{
    for (size_t i = 0; i < list->n; i++) {
        if (strcmp(list->items[i].name, r->analysis) != 0) continue;
        free_analysis(&list->items[i]);
        return &list->items[i];
    }
    if (list->n == DL_MAX_ANALYSES) {
        bad(r, "more than 64 analyses", NULL);
        return NULL;
    }
    dl_analysis *items = realloc(list->items, (list->n + 1) * sizeof *items);
    if (!items) {
        no_memory(r);
        return NULL;
    }
    list->items = items;
    return &items[list->n++];
}

static devlog_status add(dl_analysis_list *list, reader *r, const cJSON *json)
{
    dl_analysis made = {0};
    r->analysis = json->string;
    r->part = NULL;
    devlog_status status = json->string[0] ? read_analysis(r, json, &made) : bad(r, "no name", NULL);
    if (!status && !(made.name = strdup(json->string))) status = no_memory(r);
    dl_analysis *to = status ? NULL : place(list, r);
    if (!to) {
        free_analysis(&made);
        return status ? status : r->err ? r->err->status : DEVLOG_ERR_FORMAT;
    }
    *to = made;
    return DEVLOG_OK;
}

static unsigned line_of(const char *text, const char *at)
{
    unsigned line = 1;
    for (; at && text < at; text++)
        line += *text == '\n';
    return line;
}

devlog_status dl_analyses_parse(dl_analysis_list *list, const char *source, const char *text,
                                devlog_error *err)
{
    const char *end = NULL;
    devlog_error own;
    reader r = {.source = source, .err = err ? err : &own};
    cJSON *json = cJSON_ParseWithOpts(text, &end, true);
    if (!json) return dl_fail(err, DEVLOG_ERR_FORMAT, "%s:%u: not JSON", source, line_of(text, end));
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(json, "timerAnalysis");
    if (!all) all = json;
    devlog_status status = DEVLOG_OK;
    if (!cJSON_IsObject(all))
        status = dl_fail(err, DEVLOG_ERR_FORMAT, "%s: not an object of analyses by name", source);
    const cJSON *item;
    if (!status) {
        cJSON_ArrayForEach(item, all)
        {
            if (!status) status = add(list, &r, item);
        }
    }
    cJSON_Delete(json);
    return status;
}

devlog_status dl_analyses_read(dl_analysis_list *list, const char *path, devlog_error *err)
{
    dl_str text = {0};
    devlog_status status = dl_file_read(path, MAX_FILE, &text, err);
    if (!status && text.len && memchr(text.text, '\0', text.len))
        status = dl_fail(err, DEVLOG_ERR_FORMAT, "%s: not JSON: it has NUL bytes", path);
    if (!status) status = dl_analyses_parse(list, path, text.text ? text.text : "", err);
    dl_str_free(&text);
    return status;
}

devlog_status dl_analyses_defaults(dl_analysis_list *list, devlog_error *err)
{
    dl_str text = {0};
    dl_analyses_default_text(&text);
    devlog_status status = dl_str_status(&text, err);
    if (!status) status = dl_analyses_parse(list, "default analyses", text.text, err);
    dl_str_free(&text);
    return status;
}

bool dl_match_stream(const dl_match *m, const dl_tables *t, const dl_stream *s)
{
    if (m->has_core && (m->core_x != s->core_x || m->core_y != s->core_y)) return false;
    if (!m->risc) return true;
    dl_risc wanted = dl_risc_of_name(m->risc, strlen(m->risc));
    if (wanted != DL_RISC_OTHER) return wanted == s->risc;
    return dl_filter_match(m->risc, dl_text(t, s->risc_name));
}

bool dl_match_site(const dl_match *m, const dl_tables *t, const dl_site *s, dl_row_type type)
{
    if (!(m->types >> type & 1)) return false;
    if (s->role == DL_ROLE_DROPPED) return false;
    if (m->has_role && m->role != s->role) return false;
    bool zone = m->n_zones == 0;
    for (size_t i = 0; i < m->n_zones && !zone; i++)
        zone = dl_filter_match(m->zones[i], dl_text(t, s->name));
    return zone;
}
