/* What one RISC recorded in one launch, as marks. Not for the encoding of records (records.c). */
#include "decode/capture/raw_marks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "decode/capture/capture.h"
#include "decode/capture/raw_internal.h"

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the marks of a launch");
}

static uint32_t named(const raw_maker *m, const char *name, const char *file, uint32_t line)
{
    uint32_t site = dl_tables_site(m->tables, name, strlen(name), file, strlen(file), line);
    return site == DL_NONE ? 0 : site; /* the table is full */
}

/* The code of the marks of a kind, without stream and frame. False: there are too many kinds. */
static bool code_of(const raw_maker *m, dl_kind kind, uint64_t *code)
{
    kind.role = (uint8_t)m->tables->sites[kind.site].role;
    uint32_t number = dl_tables_kind(m->tables, &kind);
    *code = dl_mark_code(&kind, number);
    return number != DL_NONE;
}

static devlog_status add_mark(raw_maker *m, uint64_t code, uint64_t time, const dl_rare *rare,
                              devlog_error *err)
{
    uint64_t part = m->common & DL_MARK_FRAME;
    const bool is_rare = rare && (rare->data || rare->meta || rare->op);
    if (!dl_marks_room(m->out, 1) || (is_rare && !dl_marks_rare(m->out, rare, part, &part)))
        return no_memory(err);
    code |= (m->common & DL_MARK_STREAM) | part;
    m->out->items[m->out->n++] = (dl_mark){time, code};
    return DEVLOG_OK;
}

static devlog_status too_many(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "too many kinds of markers");
}

/* Adds a mark that has no narrow code. */
static devlog_status add(raw_maker *m, uint64_t time, const dl_kind *kind, const dl_rare *rare,
                         devlog_error *err)
{
    uint64_t code;
    return code_of(m, *kind, &code) ? add_mark(m, code, time, rare, err) : too_many(err);
}

/* ---- Default markers --------------------------------------------------------------------------------- */

static uint64_t stamp_of(const devlog_control *c, uint32_t id)
{
    return c->stamps[2 * (id - 1)] | (uint64_t)c->stamps[2 * (id - 1) + 1] << 32;
}

/* FW start and kernel start, or their ends: with the records between them, the marks are mostly in order. */
static devlog_status default_markers(raw_maker *m, bool starts, devlog_error *err)
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
    raw_known nothing = {0}, *known = m->in->known ? m->in->known : &nothing;
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < sizeof markers / sizeof markers[0] && !status; i++) {
        const uint32_t id = markers[i].id;
        if ((markers[i].type == DL_ROW_ZONE_START) != starts || !(c->marks & 1u << (id - 1))) continue;
        if (!(known->known >> i & 1)) {
            char name[64];
            dl_default_zone_name(name, m->in->risc, strlen(m->in->risc), markers[i].role);
            const dl_kind kind = {.site = named(m, name, DL_FIRMWARE_FILE, 0),
                                  .timer_id = id,
                                  .type = (uint8_t)markers[i].type};
            if (!code_of(m, kind, &known->code[i])) return too_many(err);
            known->known |= (uint8_t)(1u << i);
        }
        const dl_rare op = {.op = c->host_id};
        status = add_mark(m, known->code[i], stamp_of(c, id), id == DEVLOG_ID_FW_START ? &op : NULL, err);
    }
    return status;
}

/* ---- Records ----------------------------------------------------------------------------------------- */

static uint32_t site_of(const raw_maker *m, const record_event *e)
{
    char unknown[128];
    if (e->stall) return named(m, RAW_STALL_ZONE, "", 0);
    if (e->site)
        return named(m, e->kind == DEVLOG_KIND_PRINT ? "print" : e->site->name, e->site->file, e->site->line);
    /* Numbers of two kernels are not the same marker. */
    const char *source = m->in->source, *base = source ? strrchr(source, '/') : NULL;
    base = base ? base + 1 : source;
    snprintf(unknown, sizeof unknown, "%s %" PRIu32 "%s%.80s", e->wide ? "wide id" : "id", e->code,
             base ? " of " : "", base ? base : "");
    return named(m, unknown, "", 0);
}

/* Timer ids of a site's marks, from 16 on: two per site, so that both ends of a zone have one. */
static uint32_t timer_id(uint32_t site, bool ends)
{
    return 16 + 2 * site + ends;
}

/* What the mark of a record is, or the last one of two. */
static dl_kind kind_of(const raw_maker *m, const record_event *e, uint32_t site)
{
    static const uint8_t types[16] = {
        [DEVLOG_KIND_ZONE] = DL_ROW_ZONE_START,   [DEVLOG_KIND_ZONE_END] = DL_ROW_ZONE_END,
        [DEVLOG_KIND_COMPLETE] = DL_ROW_ZONE_END, [DEVLOG_KIND_EVENT] = DL_ROW_TS_EVENT,
        [DEVLOG_KIND_PRINT] = DL_ROW_TS_EVENT,    [DEVLOG_KIND_SUM] = DL_ROW_ZONE_TOTAL,
        [DEVLOG_KIND_VALUE32] = DL_ROW_TS_DATA,   [DEVLOG_KIND_VALUE64] = DL_ROW_TS_DATA,
        [DEVLOG_KIND_COUNTER] = DL_ROW_TS_DATA,
    };
    dl_kind kind = {.site = site, .type = e->stall ? DL_ROW_ZONE_END : types[e->kind], .cost = e->kind};
    kind.timer_id = timer_id(site, kind.type == DL_ROW_ZONE_END);
    if (e->stall) kind.cost = DL_COST_STALL;
    if (e->kind == DEVLOG_KIND_PRINT) kind.cost = (uint8_t)(DL_COST_TEXT + e->n_args);
    if (m->in->prices && e->site)
        kind.price =
            m->in->prices[2 * (e->site - m->in->elf->sites) + (e->kind == DEVLOG_KIND_ZONE_END)].recorded;
    if (e->site && e->site->events && !kind.price) kind.cost = DL_COST_NONE; /* one store, not a record */
    return kind;
}

/* Remembers what a narrow code is, and whether its records have a short way. */
static void learn(const raw_maker *m, const record_event *e, const dl_kind *kind, dl_record_code *c)
{
    static const uint8_t ways[16] = {
        [DEVLOG_KIND_ZONE] = DL_RECORD_ZONE,         [DEVLOG_KIND_ZONE_END] = DL_RECORD_ZONE,
        [DEVLOG_KIND_COMPLETE] = DL_RECORD_COMPLETE, [DEVLOG_KIND_EVENT] = DL_RECORD_EVENT,
        [DEVLOG_KIND_VALUE32] = DL_RECORD_VALUE,     [DEVLOG_KIND_VALUE64] = DL_RECORD_VALUE,
        [DEVLOG_KIND_COUNTER] = DL_RECORD_VALUE,
    };
    static const char counter[] = "{\"counter\":1}";
    dl_kind start = *kind;
    start.type = DL_ROW_ZONE_START;
    start.timer_id = timer_id(kind->site, false);
    *c = (dl_record_code){.way = ways[e->kind], .words = (uint8_t)record_words(e->words, 4)};
    if (!code_of(m, *kind, &c->code) || !code_of(m, start, &c->start)) c->way = DL_RECORD_UNKNOWN;
    if (e->kind == DEVLOG_KIND_COUNTER) {
        c->meta = m->in->no_meta ? 0 : dl_tables_meta(m->tables, counter, sizeof counter - 1);
        if (c->meta == DL_NONE) c->meta = 0;
        if (c->words != 3) c->way = DL_RECORD_OTHER;
    }
    if (e->site && e->kind == DEVLOG_KIND_VALUE32 && strcmp(e->site->name, RAW_MARK_TIME) == 0)
        c->way = DL_RECORD_OTHER;
    if (e->site && e->site->stamp32) c->way = DL_RECORD_OTHER;
    if (m->tables->sites[kind->site].role != DL_ROLE_USER) c->way = DL_RECORD_OTHER;
    if (!c->way) c->way = DL_RECORD_OTHER;
    if (c->way == DL_RECORD_OTHER) return;
    const uint32_t code = e->words[0] & 0xFFF;
    m->in->codes->place[code] = (uint16_t)++m->in->codes->n;
}

/* What a sum's meta data say. Not by printf: some kernels record little else. */
static void add_numbers(dl_str *json, const record_event *e)
{
    static const char *const keys[] = {"{\"count\":", ",\"min\":", ",\"max\":"};
    const uint32_t values[] = {e->passes, e->shortest, e->longest};
    char text[3 * (sizeof "{\"count\":" + DL_U64_DIGITS) + 2], *to = text;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const size_t n = strlen(keys[i]);
        memcpy(to, keys[i], n);
        to = dl_digits(to + n, values[i]);
    }
    *to++ = '}';
    dl_str_add_n(json, text, (size_t)(to - text));
}

static devlog_status add_meta(raw_maker *m, const record_event *e, dl_rare *rare, devlog_error *err)
{
    dl_str json = {0};
    if (e->kind == DEVLOG_KIND_COUNTER) dl_str_add(&json, "{\"counter\":1}");
    if (e->kind == DEVLOG_KIND_SUM) add_numbers(&json, e);
    if (e->kind == DEVLOG_KIND_PRINT) raw_text(m->in->elf, e, &json);
    devlog_status status = dl_str_status(&json, err);
    if (json.len && status == DEVLOG_OK) rare->meta = dl_tables_meta(m->tables, json.text, json.len);
    if (rare->meta == DL_NONE) rare->meta = 0;
    dl_str_free(&json);
    return status;
}

devlog_status raw_add_event(void *context, const record_event *e, devlog_error *err)
{
    raw_maker *m = context;
    if (e->time > m->last_record) m->last_record = e->time;
    const bool narrow = m->in->codes && !m->streamed && !e->wide && !e->stall;
    dl_record_code *known = narrow ? &m->in->codes->of[e->words[0] & 0xFFF] : NULL;
    const bool zone = e->stall || e->kind <= DEVLOG_KIND_COMPLETE || e->kind == DEVLOG_KIND_ZONE_END;
    dl_rare rare = {.data = zone ? 0 : e->value};
    if (e->kind == DEVLOG_KIND_SUM) rare.op = e->passes;
    /* Texts, and the extremes of sums, are in tables; the rest is for who lists marks. */
    const bool tabled = e->kind == DEVLOG_KIND_PRINT || e->kind == DEVLOG_KIND_SUM;
    dl_kind kind;
    if (!known || known->way == DL_RECORD_UNKNOWN || known->way == DL_RECORD_OTHER) {
        kind = kind_of(m, e, site_of(m, e));
        if (known && known->way == DL_RECORD_UNKNOWN) learn(m, e, &kind, known);
    }
    /* NOLINTBEGIN(clang-analyzer-core.CallAndMessage): of sums the way is DL_RECORD_OTHER (learn) */
    const bool told = e->kind == DEVLOG_KIND_SUM && m->in->no_meta && m->in->extremes &&
                      !raw_extremes_widen(m->in->extremes, (uint32_t)(m->common & DL_MARK_STREAM), kind.site,
                                          e->shortest, e->longest);
    /* NOLINTEND(clang-analyzer-core.CallAndMessage) */
    devlog_status status =
        zone || told || (m->in->no_meta && !tabled) ? DEVLOG_OK : add_meta(m, e, &rare, err);
    if (status) return status;
    if (known && known->way != DL_RECORD_UNKNOWN && known->way != DL_RECORD_OTHER) {
        if (e->kind == DEVLOG_KIND_COMPLETE) status = add_mark(m, known->start, e->start, NULL, err);
        return status ? status : add_mark(m, known->code, e->time, &rare, err);
    }
    if (e->stall || e->kind == DEVLOG_KIND_COMPLETE) {
        dl_kind start = kind;
        start.type = DL_ROW_ZONE_START;
        start.timer_id = timer_id(kind.site, false);
        status = add(m, e->start, &start, NULL, err);
    }
    if (e->site && e->kind == DEVLOG_KIND_VALUE32 && strcmp(e->site->name, RAW_MARK_TIME) == 0) {
        kind.type = DL_ROW_TS_EVENT;
        kind.timer_id = (uint32_t)e->value;
    }
    return status ? status : add(m, e->time, &kind, &rare, err);
}

/* Markers that are not there, where their absence begins. */
static devlog_status add_dropped(raw_maker *m, uint64_t amount, uint64_t time, devlog_error *err)
{
    if (amount == 0 || !m->in->tell_dropped) return DEVLOG_OK;
    uint32_t site = dl_tables_site(m->tables, DL_DROPPED_ZONE, strlen(DL_DROPPED_ZONE), "", 0, 0);
    if (site == DL_NONE) return DEVLOG_OK; /* the table is full */
    const dl_kind kind = {.site = site, .type = DL_ROW_ZONE_TOTAL};
    return add(m, time, &kind, &(dl_rare){.data = amount}, err);
}

/* The ring forgets what the kernel did first. */
static devlog_status overwritten(raw_maker *m, const record_input *records, devlog_error *err)
{
    return add_dropped(m, m->in->control->overwritten, records->from, err);
}

/* What found no place came after all that did. */
static devlog_status dropped(raw_maker *m, const record_input *records, devlog_error *err)
{
    uint64_t time = m->last_record > records->from ? m->last_record : records->from;
    if (records->until && time > records->until) time = records->until; /* a stamp that cannot be */
    return add_dropped(m, m->in->control->dropped, time, err);
}

void raw_lost(const devlog_control *control, const record_losses *found, uint64_t lost[DL_LOSS_ZONES])
{
    lost[DL_LOSS_DROPPED] = 0;
    lost[DL_LOSS_DAMAGED] = (uint64_t)found->damaged_words + found->cut;
    lost[DL_LOSS_UNKNOWN] = control->damage & DEVLOG_DAMAGE_ANY;
    lost[DL_LOSS_RESTARTED] = DEVLOG_RESTARTS(control->damage);
    lost[DL_LOSS_TORN] = found->torn;
    lost[DL_LOSS_AMBIGUOUS] = found->ambiguous;
    lost[DL_LOSS_VIOLATED] = 0; /* records do not say it */
}

uint64_t raw_fw_end(const devlog_control *manager)
{
    return manager->marks & 1u << (DEVLOG_ID_FW_END - 1) ? stamp_of(manager, DEVLOG_ID_FW_END) : 0;
}

/* Records are made between kernel start and kernel end. */
static uint64_t from_of(const devlog_control *c)
{
    if (c->marks & 1u << (DEVLOG_ID_KERNEL_START - 1)) return stamp_of(c, DEVLOG_ID_KERNEL_START);
    return c->marks & 1u << (DEVLOG_ID_FW_START - 1) ? stamp_of(c, DEVLOG_ID_FW_START) : 0;
}

static uint64_t until_of(const devlog_control *c)
{
    return c->marks & 1u << (DEVLOG_ID_KERNEL_END - 1) ? stamp_of(c, DEVLOG_ID_KERNEL_END) : raw_fw_end(c);
}

record_input raw_records(const raw_risc *in)
{
    const devlog_control *c = in->control;
    return (record_input){.spans = in->spans,
                          .n_spans = in->n_spans,
                          .padded = c->streamed != 0,
                          .elf = in->elf,
                          .from = from_of(c),
                          .until = until_of(c)};
}

/* Sorts by time; what has the same stays as it is. Cheap where it is in order mostly. */
static void sort(dl_mark *marks, size_t n, dl_mark *room)
{
    size_t half = n / 2, i = 0, j = half;
    if (n < 2) return;
    sort(marks, half, room);
    sort(marks + half, n - half, room);
    if (marks[half - 1].time <= marks[half].time) return;
    memcpy(room, marks, half * sizeof *marks);
    for (size_t to = 0; i < half; to++)
        marks[to] = j < n && marks[j].time < room[i].time ? marks[j++] : room[i++];
}

static bool is_sorted(const dl_mark *marks, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (marks[i].time < marks[i - 1].time) return false;
    return true;
}

static devlog_status put_in_order(dl_mark *marks, size_t n, devlog_error *err)
{
    if (is_sorted(marks, n)) return DEVLOG_OK;
    dl_mark *room = malloc(n * sizeof *room);
    if (!room) return no_memory(err);
    sort(marks, n, room);
    free(room);
    return DEVLOG_OK;
}

/* Whether the marks of ordinary records come in order between the default markers. */
static bool may_be_quick(const raw_risc *in)
{
    const devlog_control *c = in->control;
    return in->codes && !in->n_events && (c->marks & 15) == 15 &&
           stamp_of(c, DEVLOG_ID_FW_START) <= stamp_of(c, DEVLOG_ID_KERNEL_START) &&
           stamp_of(c, DEVLOG_ID_KERNEL_END) <= stamp_of(c, DEVLOG_ID_FW_END);
}

/* Leaves the records as they are. False: marks of them are wanted, or needed. */
static bool leave_recorded(raw_maker *m, const record_input *records, record_losses *losses)
{
    const raw_look *look = m->in->look;
    const dl_record_codes *codes = m->in->codes;
    const uint64_t from = records->from - m->in->ahead;
    if (!look || !look->ordinary || !look->n) return false;
    if (records->from >> 62 || from >> 62) return false; /* they would begin before 0 */
    for (uint32_t i = 0; i < look->counts.n_codes; i++)
        if (!codes->place[look->counts.codes[i]]) return false;
    m->out->recorded = (dl_recorded){.at = m->out->n,
                                     .n = look->marks,
                                     .spans = records->spans,
                                     .n_spans = records->n_spans,
                                     .planes = m->in->unjoined ? look->planes : NULL,
                                     .shape = look->shape,
                                     .stamps = look->shapes.stamps,
                                     .codes = codes,
                                     .seen = look->counts.codes,
                                     .n_seen = look->counts.n_codes,
                                     .counts = look->counts.n,
                                     .common = m->common,
                                     .from = records->from,
                                     .ahead = m->in->ahead,
                                     .no_meta = m->in->no_meta};
    m->last_record = look->last;
    /* Without an ELF file all of them are; with one, markers that it does not have are damage. */
    if (!records->elf || records->elf->n_sites == 0) losses->unnamed += look->n;
    return true;
}

static devlog_status add_records(raw_maker *m, const record_input *records, record_losses *losses,
                                 bool *ordered, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    const uint32_t n = m->out->n, n_rares = m->out->n_rares;
    const bool quick = may_be_quick(m->in);
    *ordered = quick && leave_recorded(m, records, losses);
    if (!*ordered && m->in->unjoined) status = dl_capture_join(m->in->unjoined, err);
    if (!*ordered && !status) *ordered = quick && raw_quick(m, records, losses, &status, err);
    if (*ordered || status) return status;
    m->out->n = n;
    m->out->n_rares = n_rares;
    m->last_record = 0;
    return records_decode(records, raw_add_event, m, losses, err);
}

devlog_status raw_marks(dl_tables *tables, const raw_risc *in, dl_marks *out, record_losses *losses,
                        devlog_error *err)
{
    raw_maker m = {.tables = tables, .in = in, .out = out};
    const devlog_control *c = in->control;
    const dl_ids ids = {
        .run_host_id = c->launch, .trace_id = DL_NO_ID, .trace_counter = DL_NO_ID, .has_launch = true};
    const uint32_t first = out->n;
    const uint32_t stream =
        in->known ? in->known->stream
                  : dl_tables_stream(tables, in->chip, in->core_x, in->core_y, in->risc, strlen(in->risc));
    if (stream == DL_NONE) return dl_fail(err, DEVLOG_ERR_MEMORY, "too many cores in one log");
    if (!dl_marks_still_frame(out, &ids, in->line, &m.common)) return no_memory(err);
    m.common |= stream;
    const record_input records = raw_records(in);
    bool ordered;
    devlog_status status = default_markers(&m, true, err);
    if (!status) status = overwritten(&m, &records, err);
    if (!status) status = add_records(&m, &records, losses, &ordered, err);
    if (!status) status = dropped(&m, &records, err);
    if (!status) status = raw_events(&m, losses, err);
    if (!status) status = default_markers(&m, false, err);
    if (!status && out->n > first && (!ordered || m.disorder))
        status = put_in_order(out->items + first, out->n - first, err);
    for (uint32_t i = first; in->ahead && i < out->n; i++)
        out->items[i].time -= in->ahead;
    return status;
}
