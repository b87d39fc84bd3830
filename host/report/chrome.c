/* Chrome Trace Event JSON. Source: "Trace Event Format" of the Catapult project. A process per chip (its
 * launches) and per core, a thread per RISC; zones are complete events ("X"), in a thread in the order that
 * readers want: by start, the longer first. Times are microseconds.
 *
 * Large traces are printed directly: a tree of cJSON would have to be held in memory. Everything that does
 * not change from event to event is printed once, into fragments that are copied. */
#include <stdio.h>
#include <stdlib.h>

#include "report/export.h"
#include "report/out.h"

/* How an event begins. It is never the first: threads are named before. */
#define EVENT ",\n{\"ph\":\"X\""

enum {
    FIXED = 512,
    NAME_MOST = 4096,
    PHASE = sizeof EVENT - 3, /* where its X is, which is an i in an event that takes no time */
};

typedef struct chrome {
    dl_view *view;
    dl_out out;
    const dl_view_chip *chips;
    const dl_view_core *cores;
    const dl_view_track *tracks;
    const dl_tables *tables;
    const dl_launches *launches;
    uint32_t n_chips, n_cores, n_tracks;
    out_fragment *sites;   /* the beginning of an event, name, category, source line */
    out_fragment *threads; /* "pid":1,"tid":2 */
    uint16_t *lanes;       /* lanes of a track that have been named */
    bool first;            /* no event has been written yet */
    dl_near cycles, ns;    /* stamps */
    uint32_t launch;       /* whose argument `of_launch` is */
    size_t n_launch;
    char of_launch[48];
    char thousandths[1000][4]; /* .000 to .999 */
} chrome;

/* Threads of a track's further lanes come after all tracks, so that numbers never meet. */
static uint64_t thread_id(const chrome *c, uint32_t track, uint16_t lane)
{
    return 1 + track + (uint64_t)lane * c->n_tracks;
}

static uint32_t process_id(const chrome *c, uint32_t track)
{
    const dl_view_track *t = &c->tracks[track];
    /* The process of a chip comes before those of its cores. */
    return t->core == DL_NONE ? 1 + t->chip + c->chips[t->chip].first_core : 2 + t->chip + t->core;
}

static void begin_event(chrome *c)
{
    if (c->first)
        OUT_LITERAL(&c->out, "\n");
    else
        OUT_LITERAL(&c->out, ",\n");
    c->first = false;
}

static void metadata(chrome *c, const char *what, uint64_t pid, uint64_t tid, const char *name)
{
    dl_str quoted = {0};
    dl_str_json(&quoted, name, strlen(name));
    begin_event(c);
    out_fmt(&c->out, "{\"ph\":\"M\",\"pid\":%llu,\"tid\":%llu,\"name\":\"%s\",\"args\":{\"name\":%s}}",
            (unsigned long long)pid, (unsigned long long)tid, what, quoted.text ? quoted.text : "\"\"");
    dl_str_free(&quoted);
}

static void sort_index(chrome *c, const char *what, uint64_t pid, uint64_t tid, uint64_t index)
{
    begin_event(c);
    out_fmt(&c->out,
            "{\"ph\":\"M\",\"pid\":%llu,\"tid\":%llu,\"name\":\"%s\",\"args\":{\"sort_index\":%llu}}",
            (unsigned long long)pid, (unsigned long long)tid, what, (unsigned long long)index);
}

/* Names a thread; viewers that know no processes (Tracy) show nothing else, so it names the core too. */
static void name_thread(chrome *c, uint32_t track, uint16_t lane)
{
    const dl_view_track *t = &c->tracks[track];
    dl_str name = {0};
    char title[DL_CHIP_TITLE];
    if (t->core == DL_NONE)
        dl_str_fmt(&name, "%s %s", dl_chip_title(title, c->chips[t->chip].id), t->name);
    else
        dl_str_fmt(&name, "%u,%u %s", c->cores[t->core].x, c->cores[t->core].y, t->name);
    if (lane) dl_str_fmt(&name, " (overlap %u)", lane);
    uint64_t pid = process_id(c, track), tid = thread_id(c, track, lane);
    metadata(c, "thread_name", pid, tid, name.text ? name.text : "?");
    sort_index(c, "thread_sort_index", pid, tid, (uint64_t)track * DL_VIEW_LANES + lane);
    dl_str_free(&name);
}

static devlog_status prepare(chrome *c, devlog_error *err)
{
    const dl_tables *t = dl_decode_tables(dl_view_decode(c->view));
    c->sites = calloc(t->n_sites + 1u, sizeof *c->sites);
    c->threads = calloc(c->n_tracks + 1u, sizeof *c->threads);
    c->lanes = calloc(c->n_tracks + 1u, sizeof *c->lanes);
    if (!c->sites || !c->threads || !c->lanes) goto no_memory;
    for (uint32_t i = 0; i < 1000; i++) {
        c->thousandths[i][0] = '.';
        dl_digits_fixed(&c->thousandths[i][1], i, 3);
    }
    for (uint32_t i = 0; i < c->n_tracks; i++) {
        dl_str s = {0};
        dl_str_fmt(&s, ",\"pid\":%u,\"tid\":%llu,\"ts\":", process_id(c, i),
                   (unsigned long long)thread_id(c, i, 0));
        if (!out_keep(&c->threads[i], &s)) goto no_memory;
    }
    for (uint32_t i = 0; i < c->n_chips; i++) {
        const dl_view_chip *chip = &c->chips[i];
        uint32_t pid = process_id(c, chip->first_track);
        metadata(c, "process_name", pid, 0, chip->name);
        sort_index(c, "process_sort_index", pid, 0, pid);
        for (uint32_t k = chip->first_core; k < chip->first_core + chip->n_cores; k++) {
            char name[64], title[DL_CHIP_TITLE];
            pid = process_id(c, c->cores[k].first_track);
            dl_chip_title(title, chip->id);
            if (dl_is_process(chip->id))
                snprintf(name, sizeof name, "%s threads", title);
            else
                snprintf(name, sizeof name, "%s core %u,%u", title, c->cores[k].x, c->cores[k].y);
            metadata(c, "process_name", pid, 0, name);
            sort_index(c, "process_sort_index", pid, 0, pid);
        }
    }
    for (uint32_t i = 0; i < c->n_tracks; i++)
        name_thread(c, i, 0);
    return DEVLOG_OK;
no_memory:
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while writing Chrome JSON");
}

/* EVENT,"name":"...","cat":"user","loc":"file:line" */
static const out_fragment *site_fragment(chrome *c, const dl_view_item *item, out_fragment *one)
{
    static const char *const categories[] = {[DL_ROLE_USER] = "user",
                                             [DL_ROLE_FW] = "firmware",
                                             [DL_ROLE_KERNEL] = "kernel",
                                             [DL_ROLE_DROPPED] = "dropped"};
    const dl_tables *t = c->tables;
    const char *text = item->meta ? dl_view_text(c->view, item, 0) : NULL;
    /* Kept of sites with a name only. */
    if (!text && item->site < t->n_sites && c->sites[item->site].text) return &c->sites[item->site];
    bool cached = !text && item->site < t->n_sites && dl_view_site_name(c->view, item->site)[0];
    out_fragment *f = cached ? &c->sites[item->site] : one;
    if (f->text) return f;
    char buffer[32], launch[256];
    const char *name = text && text[0] ? text : dl_view_name(c->view, item, buffer);
    const char *category = item->site < t->n_sites ? categories[t->sites[item->site].role] : "launch";
    if (item->kind == DL_VIEW_LAUNCH) {
        dl_view_launch_name(c->view, item->launch, launch);
        name = launch;
    }
    dl_str s = {0};
    dl_str_add(&s, EVENT ",\"name\":");
    dl_str_json(&s, name, strlen(name));
    dl_str_fmt(&s, ",\"cat\":\"%s\"", category);
    const char *file = dl_view_site_file(c->view, item->site);
    if (file[0]) {
        dl_str loc = {0};
        dl_str_fmt(&loc, "%s:%u", file, t->sites[item->site].line);
        dl_str_add(&s, ",\"loc\":");
        dl_str_json(&s, loc.text ? loc.text : "", loc.len);
        if (loc.failed) s.failed = true;
        dl_str_free(&loc);
    }
    return out_keep(f, &s) ? f : NULL;
}

/* Nanoseconds as microseconds with four digits. Readers multiply by 1000 and cut off; where that would lose
 * the last nanosecond because 0.001 is no binary number, a tenth of a nanosecond keeps it. The last three of them, and that: */
ALWAYS_INLINE char *thousandths(const chrome *c, char *to, uint32_t last, uint64_t ns)
{
    const uint64_t exact = UINT64_C(1)
                           << 53; /* from here on doubles are even: nothing keeps the last digit */
    memcpy(to, c->thousandths[last], sizeof *c->thousandths);
    to[4] = ns < exact && (int64_t)((double)(int64_t)ns / 1000.0 * 1000.0) < (int64_t)ns ? '1' : '0';
    return to + 5;
}

static inline char *microseconds(const chrome *c, char *to, uint64_t ns)
{
    const uint64_t whole = ns < UINT32_MAX ? (uint32_t)ns / 1000 : ns / 1000;
    return thousandths(c, dl_digits_short(to, whole), (uint32_t)(ns - whole * 1000), ns);
}

/* The same of a stamp: all but its last six digits are mostly those of the one before. */
static inline char *stamp(chrome *c, char *to, uint64_t ns)
{
    char digits[DL_NEAR_BYTES];
    const dl_near *const near = &c->ns;
    if (ns - near->base >= near->reach) {
        dl_digits_far(&c->ns, digits, ns);
        if (ns - near->base >= near->reach) return microseconds(c, to, ns);
    }
    const uint32_t last = (uint32_t)(ns - near->base), high = last / 1000;
    memcpy(to, near->text, sizeof near->text);
    to += near->n;
    memcpy(to, dl_triples[high].all, sizeof dl_triples[high].all);
    return thousandths(c, to + 3, last - high * 1000, ns);
}

static void make_launch(chrome *c, uint32_t launch)
{
    c->launch = launch;
    c->n_launch = 0;
    if (launch >= c->launches->count) return;
    char *to = OUT_COPY(c->of_launch, ",\"launch\":");
    c->n_launch = (size_t)(dl_digits(to, dl_view_launch_id(c->view, launch)) - c->of_launch);
}

/* The launch, which the caller has made, and what else goes to every event's arguments. */
ALWAYS_INLINE char *arguments(chrome *c, char *to, uint64_t cycle)
{
    to = OUT_COPY(to, ",\"args\":{\"cycle\":");
    to = dl_digits_near(&c->cycles, to, cycle);
    return out_copy_words(to, c->of_launch, c->n_launch);
}

ALWAYS_INLINE char *zone(chrome *c, char *to, uint64_t ns, uint64_t cycle, uint64_t cycles, uint64_t data)
{
    to = OUT_COPY(to, ",\"dur\":");
    to = microseconds(c, to, ns);
    to = arguments(c, to, cycle);
    to = OUT_COPY(to, ",\"cycles\":");
    to = dl_digits_short(to, cycles);
    if (data) {
        to = OUT_COPY(to, ",\"data\":\"");
        to = dl_digits(to, data);
        *to++ = '"';
    }
    return OUT_COPY(to, "}}");
}

ALWAYS_INLINE char *point(chrome *c, char *to, uint64_t cycle, uint32_t kind, uint64_t data)
{
    /* 64-bit values travel as text: a JSON number is a double for most readers. */
    static const char *const names[] = {[DL_VIEW_VALUE] = ",\"value\":\"",
                                        [DL_VIEW_SUM] = ",\"sum_cycles\":\"",
                                        [DL_VIEW_DROPPED] = ",\"dropped_markers\":\""};
    to = OUT_COPY(to, ",\"s\":\"t\"");
    to = arguments(c, to, cycle);
    if (kind != DL_VIEW_POINT) {
        to = out_copy(to, names[kind], strlen(names[kind]));
        to = dl_digits(to, data);
        *to++ = '"';
    }
    return OUT_COPY(to, "}}");
}

/* A value is a point, and a sample of a counter that is called after its core, RISC and name. */
static void counter(chrome *c, const dl_view_item *item)
{
    char buffer[32];
    const dl_view_track *t = &c->tracks[item->track];
    dl_str name = {0}, quoted = {0};
    dl_str_fmt(&name, "%u,%u %s %s", c->cores[t->core].x, c->cores[t->core].y, t->name,
               dl_view_name(c->view, item, buffer));
    dl_str_json(&quoted, name.text ? name.text : "", name.len);
    begin_event(c);
    OUT_LITERAL(&c->out, "{\"ph\":\"C\"");
    out_bytes(&c->out, c->threads[item->track].text, c->threads[item->track].n);
    char *to = out_room(&c->out, 32), *end = stamp(c, to, item->start);
    c->out.len += (size_t)(end - to);
    OUT_LITERAL(&c->out, ",\"name\":");
    out_str(&c->out, &quoted);
    OUT_LITERAL(&c->out, ",\"args\":{");
    out_str(&c->out, &quoted);
    OUT_LITERAL(&c->out, ":");
    out_u64(&c->out, item->data);
    OUT_LITERAL(&c->out, "}}");
    dl_str_free(&name);
    dl_str_free(&quoted);
}

/* Arrows from the host's call to the launch and on to its pull. */
static void flow(chrome *c, const dl_view_item *item)
{
    static const char *const steps[] = {
        [DL_VIEW_NO_CALL] = "t", [DL_VIEW_LAUNCH_CALL] = "s", [DL_VIEW_PULL_CALL] = "f\",\"bp\":\"e"};
    char ts[48];
    if (c->chips[c->tracks[item->track].chip].host_track == DL_NONE) return;
    *stamp(c, ts, item->start) = '\0';
    begin_event(c);
    out_fmt(
        &c->out,
        "{\"ph\":\"%s\",\"id\":%u,\"cat\":\"host\",\"name\":\"launch\",\"pid\":%u,\"tid\":%llu,\"ts\":%s}",
        steps[dl_view_call_of(c->view, item)], item->launch, process_id(c, item->track),
        (unsigned long long)thread_id(c, item->track, item->lane), ts);
}

static devlog_status event(chrome *c, const dl_view_item *item, devlog_error *err)
{
    out_fragment one = {0};
    bool is_zone = item->kind == DL_VIEW_ZONE || item->kind == DL_VIEW_LAUNCH;
    const out_fragment *site = site_fragment(c, item, &one);
    if (!site) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while writing Chrome JSON");
    if (item->launch != c->launch) make_launch(c, item->launch);
    for (; c->lanes[item->track] < item->lane; c->lanes[item->track]++)
        name_thread(c, item->track, (uint16_t)(c->lanes[item->track] + 1));
    const char phase = is_zone ? 'X' : 'i';
    if (site->n > NAME_MOST) {
        out_bytes(&c->out, site->text, PHASE);
        out_bytes(&c->out, &phase, 1);
        out_bytes(&c->out, site->text + PHASE + 1, site->n - PHASE - 1);
    }
    char *start = out_room(&c->out, NAME_MOST + FIXED), *to = start;
    if (site->n <= NAME_MOST) {
        to = out_copy_words(to, site->text, site->n);
        start[PHASE] = phase;
    }
    if (item->lane == 0) {
        to = out_copy_words(to, c->threads[item->track].text, c->threads[item->track].n);
    } else {
        to = OUT_COPY(to, ",\"pid\":");
        to = dl_digits(to, process_id(c, item->track));
        to = OUT_COPY(to, ",\"tid\":");
        to = dl_digits(to, thread_id(c, item->track, item->lane));
        to = OUT_COPY(to, ",\"ts\":");
    }
    to = stamp(c, to, item->start);
    to = is_zone
             ? zone(c, to, item->end - item->start, item->cycle, item->end_cycle - item->cycle, item->data)
             : point(c, to, item->cycle, item->kind, item->data);
    c->out.len += (size_t)(to - start);
    if (item->kind == DL_VIEW_VALUE) counter(c, item);
    if (c->tracks[item->track].core == DL_NONE) flow(c, item);
    free(one.text);
    return DEVLOG_OK;
}

/* Apart, so that the quick way makes no item. */
static __attribute__((noinline)) devlog_status event_in_run(chrome *c, const view_run *run, uint32_t track,
                                                            const view_shape_item *at, const uint64_t *times,
                                                            devlog_error *err)
{
    const dl_view_item item = dl_view_run_item(run, track, at, times);
    return event(c, &item, err);
}

/* In the first lane: what event() writes. */
static devlog_status events_of_run(void *ctx, const view_run *run, uint32_t track, devlog_error *err)
{
    chrome *c = ctx;
    const out_fragment *const thread = &c->threads[track], *const sites = c->sites;
    const view_run here = *run; /* so that what is printed cannot be it */
    const uint32_t n_sites = c->tables->n_sites;
    uint64_t times[VIEW_RUN_MARKS];
    devlog_status status = DEVLOG_OK;
    dl_view_times(c->view, track, run, times);
    if (run->launch != c->launch) make_launch(c, run->launch);
    const view_shape_item *at = here.shape->items, *const behind = at + here.shape->n;
    for (; at < behind; at++) {
        const out_fragment *site = &sites[at->site < n_sites ? at->site : n_sites]; /* the last is none */
        if (at->kind > DL_EVENT_POINT || site->n - 1 >= NAME_MOST) {
            status = event_in_run(c, run, track, at, times, err);
            if (status) return status;
            continue;
        }
        const bool is_zone = at->kind == DL_EVENT_ZONE;
        const uint64_t ns = times[at->start], cycle = view_run_stamp(&here, at->start);
        char *const start = out_room(&c->out, NAME_MOST + FIXED),
                    *to = out_copy_words(start, site->text, site->n);
        if (!is_zone) start[PHASE] = 'i';
        to = out_copy_words(to, thread->text, thread->n);
        to = stamp(c, to, ns);
        if (is_zone) {
            const uint64_t end = times[at->end], cycles = view_run_stamp(&here, at->end) - cycle;
            to = zone(c, to, end < ns ? 0 : end - ns, cycle, cycles, 0);
        } else {
            to = point(c, to, cycle, DL_VIEW_POINT, 0);
        }
        c->out.len += (size_t)(to - start);
    }
    return status;
}

static devlog_status events(void *ctx, const dl_view_item *items, size_t n, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < n && !status; i++)
        status = event(ctx, &items[i], err);
    return status;
}

/* What was lost, what the time axis is: readers show it as the trace's metadata. */
static void other_data(chrome *c)
{
    const dl_losses *l = dl_decode_losses(dl_view_decode(c->view));
    OUT_LITERAL(&c->out, "\n],\"otherData\":{\"writer\":\"devlog\"");
    char title[DL_CHIP_TITLE];
    for (uint32_t i = 0; i < c->n_chips; i++)
        out_fmt(&c->out, ",\"%s time\":\"%s\"", dl_chip_title(title, c->chips[i].id),
                !c->chips[i].has_ns   ? "cycles, 1000 shown as 1 us: the clock's frequency is unknown"
                : c->chips[i].aligned ? "of the host's clock"
                                      : "since the chip's reset, not aligned with other chips");
    out_fmt(&c->out, ",\"zones without a lane\":\"%llu\"", (unsigned long long)dl_view_left_out(c->view));
    out_fmt(&c->out, ",\"lines skipped\":\"%llu\"", (unsigned long long)dl_losses_skipped(l));
    for (int i = 0; i < DL_FINDINGS; i++)
        if (l->found[i])
            out_fmt(&c->out, ",\"%s\":\"%llu\"", dl_finding_key((dl_finding)i),
                    (unsigned long long)l->found[i]);
    OUT_LITERAL(&c->out, "}}\n");
}

devlog_status dl_export_chrome(dl_view *v, const char *path, devlog_error *err)
{
    chrome c = {.view = v, .first = true, .launch = DL_NONE};
    c.tables = dl_decode_tables(dl_view_decode(v));
    c.launches = dl_decode_launches(dl_view_decode(v));
    const uint32_t n_sites = c.tables->n_sites;
    c.chips = dl_view_chips(v, &c.n_chips);
    c.cores = dl_view_cores(v, &c.n_cores);
    c.tracks = dl_view_tracks(v, &c.n_tracks);
    devlog_status status = out_open(&c.out, path, err);
    if (status) return status;
    OUT_LITERAL(&c.out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    status = prepare(&c, err);
    if (!status)
        status = dl_view_run(v, DL_VIEW_BY_TRACK,
                             (dl_view_sink){.ctx = &c, .items = events, .run = events_of_run}, err);
    if (!status) other_data(&c);
    out_free_fragments(c.sites, n_sites);
    out_free_fragments(c.threads, c.n_tracks);
    free(c.lanes);
    return out_close(&c.out, status, err);
}
