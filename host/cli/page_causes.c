/* Waits, paths and slack for the page's time line. See page_causes.h. */
#include "cli/page_causes.h"

#include <stdlib.h>
#include <string.h>

#include "answers/causes_parts.h"

enum {
    MOST = 60000
}; /* numbers of all lists together; the launch whose path is the page's first has its own in any case */

typedef struct lines {
    dl_str *out;
    const causes_reading *r;
    causes_parts parts;
    causes_segments path;
    size_t numbers, launch, left_out;
    uint32_t *number_of; /* of each stream of the tables, from 1; 0: it has none */
    uint32_t n_streams;
    dl_str streams, waits, segments, slack;
    bool any;
} lines;

static uint32_t stream_number(lines *l, uint32_t stream)
{
    const dl_tables *t = dl_decode_tables(l->r->d);
    if (l->number_of[stream]) return l->number_of[stream] - 1;
    const dl_stream *s = &t->streams[stream];
    const char *risc = dl_risc_text(t, stream);
    dl_str_fmt(&l->streams, "%s[%u,%u,%u,", l->n_streams ? "," : "", t->chips[s->chip].id, s->core_x,
               s->core_y);
    dl_str_json(&l->streams, risc, strlen(risc));
    dl_str_char(&l->streams, ']');
    return (l->number_of[stream] = ++l->n_streams) - 1;
}

static void number(dl_str *to, unsigned long long value)
{
    dl_str_fmt(to, "%s%llu", to->len ? "," : "", value);
}

static void add_waits(lines *l, const causes_launch *launch)
{
    const causes *c = launch->causes;
    for (uint32_t lane = 0; lane < c->graph->n_lanes; lane++)
        for (size_t i = 0; i < c->graph->lanes[lane].n; i++) {
            const causes_event *e = &c->graph->lanes[lane].events[i];
            const causes_node *n = &c->nodes[c->first[lane] + 1 + i];
            if (e->kind != CAUSES_WANT || e->until <= e->at) continue;
            number(&l->waits, stream_number(l, launch->riscs[lane].stream));
            number(&l->waits, e->at - c->start);
            number(&l->waits, e->until - e->at);
            if (n->state == CAUSES_ENDED)
                number(&l->waits, stream_number(l, launch->riscs[c->nodes[n->give].lane].stream));
            else
                dl_str_add(&l->waits, ",-1");
            number(&l->waits, e->why);
        }
}

static void add_path(lines *l)
{
    for (size_t i = 0; i < l->path.n; i++) {
        const causes_segment *g = &l->path.items[i];
        if (g->what == CAUSES_NOBODY || g->stream == DL_NONE) continue;
        number(&l->segments, stream_number(l, g->stream));
        number(&l->segments, g->from);
        number(&l->segments, g->until - g->from);
    }
}

static void add_slack(lines *l, const causes_launch *launch)
{
    const causes *c = launch->causes;
    for (uint32_t lane = 0; lane < c->graph->n_lanes; lane++) {
        const causes_lane *of = &c->graph->lanes[lane];
        const uint64_t slack =
            of->end > of->start ? causes_slack_of(c, lane, of->end - 1, of->end) : CAUSES_NEVER;
        if (slack == CAUSES_NEVER || !slack) continue;
        number(&l->slack, stream_number(l, launch->riscs[lane].stream));
        number(&l->slack, of->end - c->start);
        number(&l->slack, slack);
    }
}

static size_t numbers_of(const causes_launch *launch)
{
    size_t n = 0;
    for (uint32_t lane = 0; lane < launch->causes->graph->n_lanes; lane++)
        n += launch->causes->graph->lanes[lane].n * 5 + 3;
    return n;
}

static void text_of(lines *l, const char *name, const dl_str *list)
{
    dl_str_fmt(l->out, ",\"%s\":[%s]", name, list->text ? list->text : "");
}

static devlog_status add_launch(void *ctx, const causes_launch *launch, devlog_error *err)
{
    lines *l = ctx;
    const size_t numbers = numbers_of(launch);
    const bool shown = l->launch++ == l->r->sums.shown;
    if (l->numbers + numbers > MOST && !shown) {
        l->left_out++;
        return DEVLOG_OK;
    }
    l->numbers += numbers;
    if (!causes_cut(&l->parts, launch) || !causes_segment_path(&l->path, &l->parts, launch))
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    dl_str_clear(&l->waits);
    dl_str_clear(&l->segments);
    dl_str_clear(&l->slack);
    add_waits(l, launch);
    add_path(l);
    add_slack(l, launch);
    const dl_tables *t = dl_decode_tables(l->r->d);
    const dl_launch *of = &dl_decode_launches(l->r->d)->items[launch->launch];
    dl_str_fmt(l->out, "%s{\"chip\":%u,\"start\":\"%llu\"", l->any ? "," : "", t->chips[of->chip].id,
               (unsigned long long)launch->causes->start);
    l->any = true;
    text_of(l, "waits", &l->waits);
    text_of(l, "path", &l->segments);
    text_of(l, "slack", &l->slack);
    dl_str_char(l->out, '}');
    return DEVLOG_OK;
}

devlog_status cli_page_causes(const causes_reading *r, dl_str *out, devlog_error *err)
{
    lines l = {.out = out, .r = r};
    l.number_of = calloc((size_t)dl_decode_tables(r->d)->n_streams + 1, sizeof *l.number_of);
    if (!l.number_of) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    dl_str_add(out, "{\"whys\":[");
    for (int i = 0; i < CAUSES_WHYS; i++)
        dl_str_fmt(out, "%s\"%s\"", i ? "," : "", causes_why_text[i]);
    dl_str_add(out, "],\"launches\":[");
    devlog_status status = causes_log_each(r->log, add_launch, &l, err);
    dl_str_fmt(out, "],\"streams\":[%s],\"left_out\":%zu}", l.streams.text ? l.streams.text : "", l.left_out);
    if (!status && (l.streams.failed || l.waits.failed || l.segments.failed || l.slack.failed))
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    causes_parts_free(&l.parts);
    free(l.path.items);
    free(l.number_of);
    dl_str_free(&l.streams);
    dl_str_free(&l.waits);
    dl_str_free(&l.segments);
    dl_str_free(&l.slack);
    return status;
}
