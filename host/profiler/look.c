/* Looking at a device that hangs or has crashed: see the header. Not for reading records (pull.c). */
#include "profiler/look.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/capture/raw_marks.h"
#include "profiler/look_names.h"
#include "profiler/pull.h"

const char *look_state_text(look_state state)
{
    static const char *const texts[] = {
        [LOOK_DOWN] = "not started",     [LOOK_IDLE] = "idle",        [LOOK_DONE] = "done",
        [LOOK_FIRMWARE] = "in firmware", [LOOK_KERNEL] = "in kernel", [LOOK_RUNNING] = "running",
        [LOOK_RESTARTED] = "restarted",
    };
    return texts[state];
}

devlog_status look_started(devlog_device *device, devlog_core core, bool *started, devlog_error *err)
{
    devlog_mailbox m;
    *started = false;
    devlog_status status = dl_core_read(device, core, device->board.mailbox.base, &m, sizeof m, err);
    if (status == DEVLOG_ERR_NOT_FOUND) return DEVLOG_OK; /* a saved state that does not have the core */
    if (status != DEVLOG_OK) return status;
    for (uint32_t i = 0; i < device->board.n_riscs; i++)
        *started |= m.risc[i].up == DEVLOG_MAGIC || m.risc[i].up == DEVLOG_RESTARTED;
    return DEVLOG_OK;
}

/* ---- Markers ------------------------------------------------------------------------------------- */

typedef struct gather {
    const dl_tables *tables;
    look_risc *risc;
    uint32_t cap;
    uint32_t *sites; /* of the open zones */
    devlog_status status;
} gather;

static void describe(const dl_tables *t, uint32_t number, uint64_t time, look_mark *out)
{
    const dl_site *site = &t->sites[number];
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "%s", dl_site_text(t, number));
    snprintf(out->file, sizeof out->file, "%s", site->file ? dl_text(t, site->file) : "");
    out->line = site->line;
    out->time = time;
}

static bool grow(gather *g)
{
    look_risc *r = g->risc;
    if (r->n_open < g->cap) return true;
    uint32_t cap = g->cap ? 2 * g->cap : 8;
    look_mark *open = realloc(r->open, cap * sizeof *open);
    if (open) r->open = open;
    uint32_t *sites = open ? realloc(g->sites, cap * sizeof *sites) : NULL;
    if (!sites) return false;
    g->sites = sites;
    g->cap = cap;
    return true;
}

static const char *what_of(dl_row_type type)
{
    switch (type) {
    case DL_ROW_ZONE_START: return "zone begins";
    case DL_ROW_ZONE_END: return "zone ends";
    case DL_ROW_TS_EVENT: return "event";
    default: return "value";
    }
}

/* Marks are in order of time. An end closes the innermost open zone of its site. */
static devlog_status gather_marks(gather *g, const dl_marks *marks, devlog_error *err)
{
    look_risc *r = g->risc;
    for (uint32_t i = 0; i < marks->n; i++) {
        const dl_kind *kind = &g->tables->kinds[dl_mark_kind(marks->items[i].code)];
        if (kind->type == DL_ROW_ZONE_TOTAL) continue;
        r->markers++;
        r->has_last = true;
        r->last_what = what_of((dl_row_type)kind->type);
        describe(g->tables, kind->site, marks->items[i].time, &r->last);
        if (kind->type == DL_ROW_ZONE_START) {
            if (!grow(g)) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for open zones");
            g->sites[r->n_open] = kind->site;
            r->open[r->n_open++] = r->last;
        } else if (kind->type == DL_ROW_ZONE_END) {
            for (uint32_t k = r->n_open; k-- > 0;) {
                /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): grow has made room */
                if (g->sites[k] != kind->site) continue;
                memmove(&r->open[k], &r->open[k + 1], (r->n_open - k - 1) * sizeof *r->open);
                memmove(&g->sites[k], &g->sites[k + 1], (r->n_open - k - 1) * sizeof *g->sites);
                r->n_open--;
                break;
            }
        }
    }
    return DEVLOG_OK;
}

/* ---- One RISC ------------------------------------------------------------------------------------ */

typedef struct looker {
    devlog_device *device;
    look_names *names;
    look_fn *fn;
    void *context;
    uint32_t cores;
} looker;

static look_state state_of(const devlog_mailbox *m, uint32_t i, const devlog_control *c, bool profiled)
{
    if (m->risc[i].up == DEVLOG_RESTARTED) return LOOK_RESTARTED;
    if (m->risc[i].up != DEVLOG_MAGIC) return LOOK_DOWN;
    if (m->go == m->done) return LOOK_IDLE;
    if (m->risc[i].done == m->go) return LOOK_DONE;
    if (!profiled || c->launch != m->go) return LOOK_RUNNING;
    return c->state == DEVLOG_STATE_KERNEL ? LOOK_KERNEL : LOOK_FIRMWARE;
}

static devlog_status read_markers(looker *l, look_risc *r, uint32_t index, const pulled *manager,
                                  const pulled_events *events, const pulled *got, const dl_elf *elf,
                                  devlog_error *err)
{
    dl_tables tables = {0};
    devlog_status status = dl_tables_init(&tables, err);
    if (status != DEVLOG_OK) return status;
    gather g = {.tables = &tables, .risc = r};
    raw_risc raw = {
        .chip = l->device->slot,
        .core_x = (uint16_t)r->core.x,
        .core_y = (uint16_t)r->core.y,
        .risc = r->name,
        .control = &got->control,
        .spans = got->spans,
        .n_spans = got->n_spans,
        .elf = elf,
        .index = index,
        .events = events->words,
        .n_events = events->n_words,
        .events_from = manager->control.stamps[0] | (uint64_t)manager->control.stamps[1] << 32,
        .events_until = raw_fw_end(&manager->control),
    };
    record_losses losses = {0};
    dl_marks marks = {0};
    status = raw_marks(&tables, &raw, &marks, &losses, err);
    if (status == DEVLOG_OK) status = gather_marks(&g, &marks, err);
    dl_marks_free(&marks);
    r->damaged |= got->damaged || losses.damaged_words;
    r->unnamed = losses.unnamed > 0;
    free(g.sites);
    dl_tables_free(&tables);
    return status;
}

static devlog_status look_at_risc(looker *l, devlog_core core, uint32_t i, const devlog_mailbox *m,
                                  const pulled *got, const pulled_events *events, uint64_t clock,
                                  bool has_clock, devlog_error *err)
{
    const devlog_control *c = &got[i].control;
    bool profiled = c->magic == DEVLOG_MAGIC;
    look_risc r = {
        .core = core,
        .name = l->device->board.riscs[i].name,
        .state = state_of(m, i, c, profiled),
        .launch = m->go,
        .host_id = m->host_id,
        .has_clock = has_clock,
        .clock = clock,
    };
    dl_target at;
    devlog_status status = dl_device_target(l->device, core, &at, err);
    const dl_transport_ops *ops = l->device->transport.ops;
    if (status == DEVLOG_OK && ops->hart_pc) r.has_pc = ops->hart_pc(&l->device->transport, at, i, &r.pc);
    if (r.has_pc) look_names_place(l->names, m->build[i], r.pc, r.function, r.place);
    if (status == DEVLOG_OK && profiled && got[i].alive) {
        r.lost = (uint64_t)c->dropped + c->overwritten;
        status = read_markers(l, &r, i, &got[0], events, &got[i], look_names_elf(l->names, m->build[i]), err);
    }
    if (status == DEVLOG_OK) status = l->fn(l->context, &r, err);
    free(r.open);
    return status;
}

static devlog_status look_at_core(looker *l, devlog_core core, devlog_error *err)
{
    devlog_device *d = l->device;
    pulled got[BOARD_MAX_RISCS] = {0};
    pulled_events events = {0};
    devlog_mailbox m;
    uint64_t clock = 0;
    uint32_t n = d->board.n_riscs, bits = d->board.segment_bits;
    devlog_status status = dl_core_read(d, core, d->board.mailbox.base, &m, sizeof m, err);
    for (uint32_t i = 0; i < n && status == DEVLOG_OK; i++) {
        /* The launch that it is in, whichever that is: a core may have been left alone in the last one. */
        uint32_t launch, address = board_profiler_base(&d->board, i) + DEVLOG_CONTROL_OFFSET(bits);
        status = dl_core_read(d, core, address + (uint32_t)offsetof(devlog_control, launch), &launch, 4, err);
        if (status == DEVLOG_OK) status = pull_risc(d, core, i, launch, false, &got[i], err);
    }
    /* Not in every saved state; what was recorded otherwise counts. */
    if (status == DEVLOG_OK && pull_events(d, &got[0], &events, NULL) != DEVLOG_OK)
        events = (pulled_events){0};
    bool has_clock = status == DEVLOG_OK && d->board.clock_kind == BOARD_CLOCK_MMIO &&
                     devlog_wall_clock(d, core, &clock, NULL) == DEVLOG_OK;
    for (uint32_t i = 0; i < n && status == DEVLOG_OK; i++)
        status = look_at_risc(l, core, i, &m, got, &events, clock, has_clock, err);
    for (uint32_t i = 0; i < n; i++)
        pulled_free(&got[i]);
    free(events.words);
    return status;
}

devlog_status look_at_device(devlog_device *device, const look_options *options, look_fn *fn, void *context,
                             uint32_t *cores, devlog_error *err)
{
    looker l = {.device = device, .names = look_names_new(options), .fn = fn, .context = context};
    devlog_status status =
        l.names ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "no memory to look at a device");
    for (uint32_t y = 0; y < device->board.n_rows; y++) {
        for (uint32_t x = 0; x < device->board.n_columns && status == DEVLOG_OK; x++) {
            bool started;
            status = look_started(device, (devlog_core){x, y}, &started, err);
            if (status != DEVLOG_OK || !started) continue;
            l.cores++;
            status = look_at_core(&l, (devlog_core){x, y}, err);
        }
    }
    *cores = l.cores;
    look_names_free(l.names);
    return status;
}
