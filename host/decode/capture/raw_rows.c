/* What one RISC recorded in one launch, as device rows. Not for the encoding of records (records.c). */
#include "decode/capture/raw_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { PRINT_TEXT_MAX = 1024 }; /* bytes of a text that a print points to */

typedef struct maker {
    dl_tables *tables;
    const raw_risc *in;
    uint32_t stream;
    dl_row *rows;
    size_t n, capacity;
    uint32_t default_sites[2]; /* number + 1 of the zones of firmware and kernel; 0: not looked up yet */
    uint64_t last_record;      /* when the last record was made; 0: none was */
} maker;

static dl_row row_of(const maker *m)
{
    return (dl_row){
        .run_host_id = m->in->control->launch,
        .stream = m->stream,
        .trace_id = DL_NO_ID,
        .trace_counter = DL_NO_ID,
        .has_launch = 1,
    };
}

static dl_row *new_row(maker *m, dl_row_type type, uint64_t time, uint32_t site, uint32_t timer_id,
                       devlog_error *err)
{
    if (m->n == m->capacity) {
        size_t capacity = m->capacity ? 2 * m->capacity : 256;
        dl_row *bigger = realloc(m->rows, capacity * sizeof *bigger);
        if (!bigger) {
            dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the rows of a launch");
            return NULL;
        }
        m->rows = bigger;
        m->capacity = capacity;
    }
    dl_row *row = &m->rows[m->n++];
    *row = row_of(m);
    row->time = time;
    row->site = site;
    row->timer_id = timer_id;
    row->type = (uint8_t)type;
    return row;
}

static uint32_t named(maker *m, const char *name, const char *file, uint32_t line)
{
    return dl_tables_site(m->tables, name, strlen(name), file, strlen(file), line);
}

static uint64_t stamp_of(const devlog_control *c, uint32_t id)
{
    return c->stamps[2 * (id - 1)] | (uint64_t)c->stamps[2 * (id - 1) + 1] << 32;
}

static uint32_t default_site(maker *m, dl_role role)
{
    uint32_t *known = &m->default_sites[role == DL_ROLE_KERNEL];
    if (*known) return *known - 1;
    char name[64];
    dl_default_zone_name(name, m->in->risc, strlen(m->in->risc), role);
    uint32_t site = named(m, name, DL_FIRMWARE_FILE, 0);
    if (site == DL_NONE) site = 0; /* as for records: the table is full */
    *known = site + 1;
    return site;
}

/* FW start and kernel start, or their ends: with the records between them, the rows are mostly in order. */
static devlog_status default_markers(maker *m, bool starts, devlog_error *err)
{
    static const struct {
        uint32_t id;
        dl_role role;
        dl_row_type type;
    } markers[] = {
        {DEVLOG_ID_FW_START, DL_ROLE_FW, DL_ROW_ZONE_START},
        {DEVLOG_ID_KERNEL_START, DL_ROLE_KERNEL, DL_ROW_ZONE_START},
        {DEVLOG_ID_KERNEL_END, DL_ROLE_KERNEL, DL_ROW_ZONE_END},
        {DEVLOG_ID_FW_END, DL_ROLE_FW, DL_ROW_ZONE_END},
    };
    const devlog_control *c = m->in->control;
    for (size_t i = 0; i < sizeof markers / sizeof markers[0]; i++) {
        if ((markers[i].type == DL_ROW_ZONE_START) != starts || !(c->marks & 1u << (markers[i].id - 1)))
            continue;
        dl_row *row = new_row(m, markers[i].type, stamp_of(c, markers[i].id),
                              default_site(m, markers[i].role), markers[i].id, err);
        if (!row) return DEVLOG_ERR_MEMORY;
        if (markers[i].id == DEVLOG_ID_FW_START) row->op = c->host_id;
    }
    return DEVLOG_OK;
}

/* A text that the kernel gave the address of: the literals of its ELF file can be read there. */
static void print_pointer(const dl_elf *elf, const char *spec, uint32_t address, dl_str *out)
{
    const char *text = elf ? dl_elf_text_at(elf, address) : NULL;
    char cut[PRINT_TEXT_MAX];
    if (!text) {
        dl_str_fmt(out, "<no literal: 0x%" PRIx32 ">", address);
        return;
    }
    snprintf(cut, sizeof cut, "%s", text);
    dl_str_fmt(out, spec, cut);
}

/* The text of a print, or the way an unknown marker is called. */
static void print_text(const dl_elf *elf, const record_event *e, dl_str *out)
{
    const char *f = e->site ? e->site->name : "print";
    uint16_t arg = 0;
    for (; *f; f++) {
        if (*f != '%') {
            dl_str_char(out, *f);
            continue;
        }
        char spec[16] = "%";
        size_t n = 1;
        unsigned digits = 0; /* two at most in a row: a width is not a way to fill the memory */
        for (f++; *f && strchr("-+ #0123456789.lhz", *f) && n < sizeof spec - 3; f++) {
            digits = *f >= '0' && *f <= '9' ? digits + 1 : 0;
            if (!strchr("lhz", *f) && digits <= 2) spec[n++] = *f;
        }
        if (*f == '%' || *f == 0) {
            dl_str_char(out, '%');
            if (*f == 0) break;
            continue;
        }
        uint32_t value = arg < e->n_args ? e->args[arg] : 0;
        bool missing = arg++ >= e->n_args;
        spec[n++] = *f == 'p' ? 'x' : *f;
        spec[n] = 0;
        if (missing || !strchr("diuxXcops", *f))
            dl_str_add(out, "<?>");
        else if (*f == 's')
            print_pointer(elf, spec, value, out);
        else if (*f == 'd' || *f == 'i' || *f == 'c')
            dl_str_fmt(out, spec, (int)value);
        else
            dl_str_fmt(out, spec, value);
    }
}

static devlog_status add_meta(maker *m, dl_row *row, dl_str *json, devlog_error *err)
{
    devlog_status status = dl_str_status(json, err);
    if (status == DEVLOG_OK) row->meta = dl_tables_meta(m->tables, json->text, json->len);
    if (row->meta == DL_NONE) row->meta = 0;
    dl_str_free(json);
    return status;
}

static uint32_t find_site(maker *m, const record_event *e)
{
    char unknown[32];
    if (e->stall) return named(m, RAW_STALL_ZONE, "", 0);
    if (e->site)
        return named(m, e->kind == DEVLOG_KIND_PRINT ? "print" : e->site->name, e->site->file, e->site->line);
    snprintf(unknown, sizeof unknown, "%s %" PRIu32, e->wide ? "wide id" : "id", e->code);
    return named(m, unknown, "", 0);
}

static uint32_t site_of(maker *m, const record_event *e)
{
    bool narrow = m->in->sites && !e->wide && !e->stall && e->code < DEVLOG_CODE_END;
    uint32_t *known = narrow ? &m->in->sites->of_code[e->code] : NULL;
    if (known && *known) return *known - 1;
    uint32_t site = find_site(m, e);
    if (site == DL_NONE) return 0;
    if (known) *known = site + 1;
    return site;
}

/* A text as JSON, with escapes for what a device log has no room for: a comma parts its cells, and ';' stands
 * for one. */
static void json_text(dl_str *json, const dl_str *text)
{
    dl_str quoted = {0};
    dl_str_json(&quoted, text->text ? text->text : "", text->len);
    for (size_t i = 0; i < quoted.len; i++) {
        const char c = quoted.text[i];
        if (c == ',' || c == ';')
            dl_str_add(json, c == ',' ? "\\u002c" : "\\u003b");
        else
            dl_str_char(json, c);
    }
    json->failed |= quoted.failed;
    dl_str_free(&quoted);
}

static devlog_status add_event(void *context, const record_event *e, devlog_error *err)
{
    maker *m = context;
    if (e->time > m->last_record) m->last_record = e->time;
    bool print = e->kind == DEVLOG_KIND_PRINT;
    uint32_t site = site_of(m, e);
    uint32_t id = raw_timer_id(site);
    dl_row *row;
    dl_str json = {0};
    if (e->stall || e->kind == DEVLOG_KIND_COMPLETE) {
        uint8_t cost = e->stall ? DL_COST_STALL : DEVLOG_KIND_COMPLETE;
        row = new_row(m, DL_ROW_ZONE_START, e->start, site, id, err);
        if (!row) return DEVLOG_ERR_MEMORY;
        row->cost = cost;
        row = new_row(m, DL_ROW_ZONE_END, e->time, site, id + 1, err);
        if (!row) return DEVLOG_ERR_MEMORY;
        row->cost = cost;
        return DEVLOG_OK;
    }
    switch (e->kind) {
    case DEVLOG_KIND_ZONE: row = new_row(m, DL_ROW_ZONE_START, e->time, site, id, err); break;
    case DEVLOG_KIND_ZONE_END: row = new_row(m, DL_ROW_ZONE_END, e->time, site, id + 1, err); break;
    case DEVLOG_KIND_EVENT:
    case DEVLOG_KIND_PRINT: row = new_row(m, DL_ROW_TS_EVENT, e->time, site, id, err); break;
    case DEVLOG_KIND_SUM: row = new_row(m, DL_ROW_ZONE_TOTAL, e->time, site, id, err); break;
    default: row = new_row(m, DL_ROW_TS_DATA, e->time, site, id, err); break;
    }
    if (!row) return DEVLOG_ERR_MEMORY;
    row->data = e->value;
    row->cost = print ? (uint8_t)(DL_COST_TEXT + e->n_args) : e->kind;
    if (e->site && e->kind == DEVLOG_KIND_VALUE32 && strcmp(e->site->name, RAW_MARK_TIME) == 0) {
        row->type = DL_ROW_TS_EVENT;
        row->timer_id = (uint32_t)e->value;
    }
    if (e->kind == DEVLOG_KIND_COUNTER) dl_str_add(&json, "{\"counter\":1}");
    if (e->kind == DEVLOG_KIND_SUM) row->op = e->passes;
    if (e->kind == DEVLOG_KIND_SUM)
        dl_str_fmt(&json, "{\"count\":%" PRIu32 ",\"min\":%" PRIu32 ",\"max\":%" PRIu32 "}", e->passes,
                   e->shortest, e->longest);
    if (print) {
        dl_str text = {0};
        print_text(m->in->elf, e, &text);
        dl_str_add(&json, "{\"text\":");
        json_text(&json, &text);
        dl_str_add(&json, "}");
        dl_str_free(&text);
    }
    if (json.len == 0) return DEVLOG_OK;
    return add_meta(m, row, &json, err);
}

static int by_time(const void *a, const void *b)
{
    const dl_row *x = a, *y = b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line; /* `line` holds the order in which they were made */
}

static bool is_sorted(const dl_row *rows, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (rows[i].time < rows[i - 1].time) return false;
    return true;
}

/* Events of this RISC. The tile's stream is in order of time, so the high half of the clock follows from the
 * event before, whoever it was of. */
static devlog_status stream_events(maker *m, record_losses *losses, devlog_error *err)
{
    uint64_t time = m->in->events_from;
    for (uint32_t i = 0; i + DEVLOG_EVENT_WORDS <= m->in->n_events; i += DEVLOG_EVENT_WORDS) {
        const uint32_t *w = m->in->events + i;
        if (w[0] == 0 && w[1] == 0) continue; /* what a flush padded */
        time += (uint32_t)(w[1] - (uint32_t)time);
        if (w[0] >> DEVLOG_EVENT_RISC_SHIFT != m->in->index) continue;
        uint32_t id = w[0] & DEVLOG_EVENT_ID_MASK;
        const dl_elf_site *site = m->in->elf ? dl_elf_event_of(m->in->elf, id) : NULL;
        record_event e = {.kind = DEVLOG_KIND_EVENT, .code = id, .site = site, .time = time, .words = w};
        if (site && site->kind == DEVLOG_KIND_ZONE)
            e.kind = id == site->code ? DEVLOG_KIND_ZONE : DEVLOG_KIND_ZONE_END;
        if (!site) losses->unnamed++;
        devlog_status status = add_event(m, &e, err);
        if (status != DEVLOG_OK) return status;
    }
    return DEVLOG_OK;
}

static devlog_status hand_on(maker *m, const dl_row_sink *sink, devlog_error *err)
{
    size_t n = m->n;
    m->n = 0;
    return n ? sink->rows(sink->ctx, m->rows, n, err) : DEVLOG_OK;
}

/* Whether the records can go to pairing as they are: they would be rows in order between the default markers.
 */
static bool is_plain(const maker *m, const record_input *records, record_losses *losses)
{
    const raw_risc *in = m->in;
    const devlog_control *c = in->control;
    uint32_t unnamed = 0;
    if (!in->pair || !in->sites || in->n_events || (c->marks & 15) != 15) return false;
    if (stamp_of(c, DEVLOG_ID_FW_START) > stamp_of(c, DEVLOG_ID_KERNEL_START) ||
        stamp_of(c, DEVLOG_ID_KERNEL_END) > stamp_of(c, DEVLOG_ID_FW_END))
        return false;
    if (!raw_check(records, m->tables, in->sites, stamp_of(c, DEVLOG_ID_KERNEL_START),
                   stamp_of(c, DEVLOG_ID_KERNEL_END), &unnamed))
        return false;
    losses->unnamed += unnamed;
    return true;
}

/* Records to pairing as they are; those that have no short way as rows, one by one. */
static devlog_status plain_span(maker *m, dl_pair_run *run, const record_input *records, record_span span,
                                const dl_row_sink *sink, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (uint32_t at = 0, taken = 0; at < span.n && !status; at += taken) {
        status = dl_pair_records(m->in->pair, run, span.words + at, span.n - at, &taken, err);
        at += taken;
        if (status || at == span.n) break;
        record_event e;
        taken = 1; /* padding, as raw_check has found */
        if (span.words[at] == 0) continue;
        taken = record_read(records, span.words + at, span.n - at, run->last + m->in->ahead, &e);
        if (!taken) break; /* raw_check would have found it */
        run->last = e.time - m->in->ahead;
        status = add_event(m, &e, err);
        if (!status) status = hand_on(m, sink, err);
    }
    return status;
}

/* Markers that are not there, where their absence begins. */
static devlog_status add_dropped(maker *m, uint64_t amount, uint64_t time, devlog_error *err)
{
    if (amount == 0 || !m->in->tell_dropped) return DEVLOG_OK;
    uint32_t site = named(m, DL_DROPPED_ZONE, "", 0);
    if (site == DL_NONE) return DEVLOG_OK; /* the table is full */
    dl_row *row = new_row(m, DL_ROW_ZONE_TOTAL, time, site, 0, err);
    if (!row) return DEVLOG_ERR_MEMORY;
    row->data = amount;
    return DEVLOG_OK;
}

/* The ring forgets what the kernel did first. */
static devlog_status overwritten_rows(maker *m, const record_input *records, devlog_error *err)
{
    return add_dropped(m, m->in->control->overwritten, records->from, err);
}

/* What found no place came after all that did. */
static devlog_status dropped_rows(maker *m, const record_input *records, devlog_error *err)
{
    uint64_t time = m->last_record > records->from ? m->last_record : records->from;
    if (records->until && time > records->until) time = records->until; /* a stamp that cannot be */
    return add_dropped(m, m->in->control->dropped, time, err);
}

static devlog_status plain_rows(maker *m, const record_input *records, const dl_row_sink *sink,
                                devlog_error *err)
{
    const raw_risc *in = m->in;
    const uint64_t low = (1ull << 52) - 1;
    dl_pair_run run = {.row = row_of(m),
                       .sites = in->sites,
                       .add = (records->from & ~low) - in->ahead,
                       .last = stamp_of(in->control, DEVLOG_ID_KERNEL_START) - in->ahead};
    run.row.line = in->line;
    record_losses counted = {0}; /* already, by is_plain */
    devlog_status status = default_markers(m, true, err);
    if (!status) status = overwritten_rows(m, records, err);
    if (!status) status = hand_on(m, sink, err);
    if (!status) {
        if (dl_pair_records_begin(in->pair, &run, stamp_of(in->control, DEVLOG_ID_KERNEL_START) - in->ahead,
                                  stamp_of(in->control, DEVLOG_ID_FW_END) - in->ahead))
            for (uint32_t i = 0; i < records->n_spans && !status; i++)
                status = plain_span(m, &run, records, records->spans[i], sink, err);
        else
            status = records_decode(records, add_event, m, &counted, err);
    }
    if (run.last + in->ahead > m->last_record) m->last_record = run.last + in->ahead;
    if (!status) status = dropped_rows(m, records, err);
    if (!status) status = default_markers(m, false, err);
    return status ? status : hand_on(m, sink, err);
}

void raw_lost(const devlog_control *control, const record_losses *found, uint64_t lost[DL_LOSS_ZONES])
{
    lost[DL_LOSS_DROPPED] = 0;
    lost[DL_LOSS_DAMAGED] = (uint64_t)found->damaged_words + found->cut;
    lost[DL_LOSS_UNKNOWN] = control->damage & DEVLOG_DAMAGE_ANY;
    lost[DL_LOSS_RESTARTED] = DEVLOG_RESTARTS(control->damage);
    lost[DL_LOSS_TORN] = found->torn;
    lost[DL_LOSS_AMBIGUOUS] = found->ambiguous;
}

/* Records are made between kernel start and kernel end. */
static uint64_t from_of(const devlog_control *c)
{
    if (c->marks & 1u << (DEVLOG_ID_KERNEL_START - 1)) return stamp_of(c, DEVLOG_ID_KERNEL_START);
    return c->marks & 1u << (DEVLOG_ID_FW_START - 1) ? stamp_of(c, DEVLOG_ID_FW_START) : 0;
}

static uint64_t until_of(const devlog_control *c)
{
    if (c->marks & 1u << (DEVLOG_ID_KERNEL_END - 1)) return stamp_of(c, DEVLOG_ID_KERNEL_END);
    return c->marks & 1u << (DEVLOG_ID_FW_END - 1) ? stamp_of(c, DEVLOG_ID_FW_END) : 0;
}

devlog_status raw_rows(dl_tables *tables, const raw_risc *in, const dl_row_sink *sink, record_losses *losses,
                       devlog_error *err)
{
    maker m = {.tables = tables, .in = in};
    m.stream = dl_tables_stream(tables, in->chip, in->core_x, in->core_y, in->risc, strlen(in->risc));
    if (m.stream == DL_NONE) return dl_fail(err, DEVLOG_ERR_MEMORY, "too many cores in one log");
    const devlog_control *c = in->control;
    record_input records = {
        .spans = in->spans,
        .n_spans = in->n_spans,
        .padded = c->streamed != 0,
        .elf = in->elf,
        .from = from_of(c),
        .until = until_of(c),
    };
    devlog_status status;
    if (is_plain(&m, &records, losses)) {
        status = plain_rows(&m, &records, sink, err);
        goto done;
    }
    status = default_markers(&m, true, err);
    if (status == DEVLOG_OK)
        status = overwritten_rows(&m, &records, err); /* as above: names get their numbers there */
    if (status == DEVLOG_OK) status = records_decode(&records, add_event, &m, losses, err);
    if (status == DEVLOG_OK) status = dropped_rows(&m, &records, err);
    if (status == DEVLOG_OK) status = stream_events(&m, losses, err);
    if (status == DEVLOG_OK) status = default_markers(&m, false, err);
    if (status == DEVLOG_OK && m.n) {
        if (!is_sorted(m.rows, m.n)) {
            for (size_t i = 0; i < m.n; i++)
                m.rows[i].line = (uint32_t)i;
            qsort(m.rows, m.n, sizeof *m.rows, by_time);
            for (size_t i = 0; i < m.n; i++)
                m.rows[i].line = 0;
        }
        status = hand_on(&m, sink, err);
    }
done:
    free(m.rows);
    return status;
}
