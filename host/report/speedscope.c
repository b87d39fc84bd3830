/* Speedscope's file format: an evented profile per RISC (and per further lane, where zones overlap), and one
 * for the launches of each chip. Source: speedscope, src/lib/file-format-spec.ts. Markers, values and sums
 * have no place in it; the file says how many there were. */
#include "report/export.h"
#include "report/out.h"

#include <stdlib.h>

typedef struct speedscope {
    dl_view *view;
    dl_out out;
    const dl_tables *tables;
    uint32_t track, lane; /* in hand; DL_NONE: none yet */
    uint64_t at;          /* of the last event written */
    struct open_frame {
        uint64_t end;
        uint32_t frame;
    } * open; /* frames that are open, from the outside in */
    uint32_t n_open, cap_open;
    bool first_profile, first_event;
    uint64_t left_out;
} speedscope;

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while writing a speedscope profile");
}

/* Frames: one per site, then one per launch. */
static devlog_status frames(speedscope *s, devlog_error *err)
{
    const dl_launches *launches = dl_decode_launches(dl_view_decode(s->view));
    dl_str text = {0};
    uint32_t n_sites = s->tables->n_sites;
    for (uint32_t i = 0; i < n_sites; i++) {
        const dl_view_item like = {.site = i, .kind = DL_VIEW_ZONE};
        char buffer[32];
        const char *name = dl_view_name(s->view, &like, buffer), *file = dl_view_site_file(s->view, i);
        dl_str_add(&text, i ? ",\n{\"name\":" : "\n{\"name\":");
        dl_str_json(&text, name, strlen(name));
        if (file[0]) {
            dl_str_add(&text, ",\"file\":");
            dl_str_json(&text, file, strlen(file));
            dl_str_fmt(&text, ",\"line\":%u", s->tables->sites[i].line);
        }
        dl_str_char(&text, '}');
        out_str(&s->out, &text);
        if (text.failed) break;
        dl_str_clear(&text);
    }
    for (uint32_t i = 0; i < launches->count && !text.failed; i++) {
        char name[256];
        dl_view_launch_name(s->view, i, name);
        dl_str_clear(&text);
        dl_str_add(&text, i || n_sites ? ",\n{\"name\":" : "\n{\"name\":");
        dl_str_json(&text, name, strlen(name));
        dl_str_char(&text, '}');
        out_str(&s->out, &text);
    }
    bool failed = text.failed;
    dl_str_free(&text);
    return failed ? no_memory(err) : DEVLOG_OK;
}

static void event(speedscope *s, char type, uint64_t at, uint32_t frame)
{
    char *start = out_room(&s->out, 128), *to = start;
    if (!s->first_event) *to++ = ',';
    to = OUT_COPY(to, "\n{\"type\":\"");
    *to++ = type;
    to = OUT_COPY(to, "\",\"frame\":");
    to = dl_digits(to, frame);
    to = OUT_COPY(to, ",\"at\":");
    to = dl_digits(to, at);
    *to++ = '}';
    s->out.len += (size_t)(to - start);
    s->first_event = false;
    s->at = at;
}

static void close_until(speedscope *s, uint64_t time)
{
    for (; s->n_open && s->open[s->n_open - 1].end <= time; s->n_open--)
        event(s, 'C', s->open[s->n_open - 1].end, s->open[s->n_open - 1].frame);
}

static void end_profile(speedscope *s)
{
    if (s->track == DL_NONE) return;
    close_until(s, UINT64_MAX);
    out_fmt(&s->out, "\n],\"endValue\":%llu}", (unsigned long long)s->at);
}

static devlog_status begin_profile(speedscope *s, const dl_view_item *item, devlog_error *err)
{
    uint32_t n;
    const dl_view_track *t = &dl_view_tracks(s->view, &n)[item->track];
    const dl_view_chip *chip = &dl_view_chips(s->view, &n)[t->chip];
    dl_str name = {0}, quoted = {0};
    end_profile(s);
    char title[DL_CHIP_TITLE];
    dl_str_fmt(&name, "%s ", dl_chip_title(title, chip->id));
    if (t->core != DL_NONE) {
        const dl_view_core *core = &dl_view_cores(s->view, &n)[t->core];
        dl_str_fmt(&name, "core %u,%u ", core->x, core->y);
    }
    dl_str_add(&name, t->name);
    if (item->lane) dl_str_fmt(&name, " (overlap %u)", item->lane);
    dl_str_json(&quoted, name.text ? name.text : "", name.len);
    out_fmt(&s->out, "%s\n{\"type\":\"evented\",\"name\":", s->first_profile ? "" : ",");
    out_str(&s->out, &quoted);
    out_fmt(&s->out, ",\"unit\":\"%s\",\"startValue\":%llu,\"events\":[",
            chip->has_ns ? "nanoseconds" : "none", (unsigned long long)item->start);
    bool failed = name.failed || quoted.failed;
    dl_str_free(&name);
    dl_str_free(&quoted);
    s->track = item->track;
    s->lane = item->lane;
    s->first_profile = false;
    s->first_event = true;
    return failed ? no_memory(err) : DEVLOG_OK;
}

static devlog_status interval(speedscope *s, const dl_view_item *item, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    if (item->track != s->track || item->lane != s->lane) status = begin_profile(s, item, err);
    if (status) return status;
    close_until(s, item->start);
    if (s->n_open == s->cap_open) {
        uint32_t cap = s->cap_open ? s->cap_open * 2 : 64;
        struct open_frame *open = realloc(s->open, cap * sizeof *open);
        if (!open) return no_memory(err);
        s->open = open;
        s->cap_open = cap;
    }
    uint32_t frame = item->kind == DL_VIEW_LAUNCH ? s->tables->n_sites + item->launch : item->site;
    s->open[s->n_open++] = (struct open_frame){item->end, frame};
    event(s, 'O', item->start, frame);
    return DEVLOG_OK;
}

static devlog_status items(void *ctx, const dl_view_item *all, size_t n, devlog_error *err)
{
    speedscope *s = ctx;
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < n && !status; i++) {
        if (all[i].kind == DL_VIEW_ZONE || all[i].kind == DL_VIEW_LAUNCH)
            status = interval(s, &all[i], err);
        else
            s->left_out++;
    }
    return status;
}

/* Here, because the format has no other place for it. The texts have nothing to escape. */
static void put_losses(speedscope *s)
{
    const dl_losses *l = dl_decode_losses(dl_view_decode(s->view));
    if (dl_losses_skipped(l))
        out_fmt(&s->out, "; %llu lines skipped", (unsigned long long)dl_losses_skipped(l));
    for (int i = 0; i < DL_FINDINGS; i++)
        if (l->found[i] && dl_finding_is_loss((dl_finding)i))
            out_fmt(&s->out, "; %llu %s", (unsigned long long)l->found[i], dl_finding_text((dl_finding)i));
    if (l->instructions) OUT_LITERAL(&s->out, "; cycles are instructions");
}

devlog_status dl_export_speedscope(dl_view *v, const char *path, devlog_error *err)
{
    speedscope s = {.view = v, .track = DL_NONE, .first_profile = true};
    s.tables = dl_decode_tables(dl_view_decode(v));
    devlog_status status = out_open(&s.out, path, err);
    if (status) return status;
    OUT_LITERAL(&s.out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                        "\"name\":\"devlog\",\"shared\":{\"frames\":[");
    status = frames(&s, err);
    OUT_LITERAL(&s.out, "\n]},\"profiles\":[");
    if (!status) status = dl_view_run(v, DL_VIEW_BY_TRACK, (dl_view_sink){.ctx = &s, .items = items}, err);
    end_profile(&s);
    out_fmt(
        &s.out,
        "\n],\"exporter\":\"devlog; not in this format: %llu markers, values and sums; zones without a lane: "
        "%llu",
        (unsigned long long)s.left_out, (unsigned long long)dl_view_left_out(v));
    put_losses(&s);
    OUT_LITERAL(&s.out, "\"}\n");
    free(s.open);
    return out_close(&s.out, status, err);
}
