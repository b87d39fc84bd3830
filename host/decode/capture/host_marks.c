/* Marks of host zones. See the header. */
#include "decode/capture/host_marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/capture/raw_internal.h"

enum { MOST_SITES = 1 << 20, MOST_PROCESSES = 64, RISC_NAME = 96 };

void dl_host_sites_free(dl_host_sites *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        free(s->items[i].sites);
    free(s->items);
    *s = (dl_host_sites){0};
}

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for host zones");
}

static struct dl_host_process *process_of(const dl_host_sites *s, uint32_t slot)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->items[i].slot == slot) return &s->items[i];
    return NULL;
}

devlog_status dl_host_sites_add(dl_host_sites *s, dl_tables *tables, uint32_t slot, const dl_host_site *site,
                                devlog_error *err)
{
    if (site->number == 0 || site->number > MOST_SITES) return DEVLOG_OK;
    struct dl_host_process *p = process_of(s, slot);
    if (!p && s->n == MOST_PROCESSES) return DEVLOG_OK;
    if (!p) {
        struct dl_host_process *items = realloc(s->items, (s->n + 1) * sizeof *items);
        if (!items) return no_memory(err);
        s->items = items;
        p = &items[s->n++];
        *p = (struct dl_host_process){.slot = slot};
    }
    if (site->number > p->n) {
        uint32_t n = p->n ? p->n : 64;
        while (n < site->number)
            n *= 2;
        uint32_t *sites = realloc(p->sites, n * sizeof *sites);
        if (!sites) return no_memory(err);
        memset(sites + p->n, 0, (n - p->n) * sizeof *sites);
        p->sites = sites;
        p->n = n;
    }
    uint32_t found =
        dl_tables_site(tables, site->name, strlen(site->name), site->file, strlen(site->file), site->line);
    if (found != DL_NONE && tables->sites[found].role != DL_ROLE_USER) { /* named as a zone of the firmware */
        dl_str name = {0};
        dl_str_fmt(&name, "%s (host)", site->name);
        if (name.failed) return no_memory(err);
        found = dl_tables_site(tables, name.text, name.len, site->file, strlen(site->file), site->line);
        dl_str_free(&name);
    }
    p->sites[site->number - 1] = found == DL_NONE ? 0 : found + 1;
    return DEVLOG_OK;
}

/* The site of a record; one that was never told is a number, as markers without a name are. */
static uint32_t site_of(const dl_host_sites *s, dl_tables *tables, uint32_t slot, uint32_t number)
{
    const struct dl_host_process *p = process_of(s, slot);
    if (p && number && number <= p->n && p->sites[number - 1]) return p->sites[number - 1] - 1;
    char name[32];
    snprintf(name, sizeof name, "host id %u", number);
    return dl_tables_site(tables, name, strlen(name), "", 0, 0);
}

/* A thread as a RISC: its name and number. */
static uint32_t stream_of(dl_tables *tables, const dl_host_records *r)
{
    char name[RISC_NAME];
    snprintf(name, sizeof name, "%.60s #%u", r->name, r->thread);
    for (char *p = name; *p; p++)
        if (*p == ',' || *p == ';' || (unsigned char)*p < ' ') *p = '_';
    return dl_tables_stream(tables, r->slot, 0, 0, name, strlen(name));
}

static uint32_t text_of(dl_tables *tables, const dl_host_record *record)
{
    dl_str json = {0};
    dl_str_add(&json, "{\"text\":");
    raw_json(&json, record->text, record->n);
    dl_str_add(&json, "}");
    uint32_t meta = json.failed ? DL_NONE : dl_tables_meta(tables, json.text, json.len);
    dl_str_free(&json);
    return meta == DL_NONE ? 0 : meta;
}

devlog_status dl_host_marks(const dl_host_sites *s, dl_tables *tables, const dl_host_records *records,
                            uint32_t line, dl_marks *out, uint64_t *malformed, devlog_error *err)
{
    static const uint8_t types[] = {[DL_HOST_BEGIN] = DL_ROW_ZONE_START,
                                    [DL_HOST_END] = DL_ROW_ZONE_END,
                                    [DL_HOST_VALUE] = DL_ROW_TS_DATA,
                                    [DL_HOST_TEXT] = DL_ROW_TS_EVENT};
    static const dl_ids none = {.trace_id = DL_NO_ID, .trace_counter = DL_NO_ID, .outside = true};
    const char *at = records->bytes, *end = at + records->size;
    dl_host_record record;
    uint64_t time = 0, frame;
    const uint32_t stream = stream_of(tables, records);
    if (stream == DL_NONE) return dl_fail(err, DEVLOG_ERR_MEMORY, "too many threads in one log");
    if (!dl_marks_still_frame(out, &none, line, &frame)) return no_memory(err);
    while (dl_host_take(&at, end, &record)) {
        const uint32_t site = site_of(s, tables, records->slot, record.site);
        time += record.time;
        if (site == DL_NONE) continue; /* the table is full, and says so */
        const dl_kind kind = {
            .site = site, .type = types[record.kind], .role = (uint8_t)tables->sites[site].role};
        const uint32_t number = dl_tables_kind(tables, &kind);
        dl_rare rare = {.data = record.value};
        uint64_t part = frame;
        if (number == DL_NONE) return dl_fail(err, DEVLOG_ERR_MEMORY, "too many kinds of markers");
        if (record.kind == DL_HOST_TEXT && record.n) rare.meta = text_of(tables, &record);
        if (!dl_marks_room(out, 1) || ((rare.data || rare.meta) && !dl_marks_rare(out, &rare, frame, &part)))
            return no_memory(err);
        out->items[out->n++] = (dl_mark){time, dl_mark_code(&kind, number) | stream | part};
    }
    if (at != end) ++*malformed;
    return DEVLOG_OK;
}
