/* Collapsed stacks, as flamegraph.pl, inferno and speedscope read them: a line for each stack of zones on
 * each RISC, with the time spent in it itself, in nanoseconds (cycles when the clock is unknown). Stacks have
 * neither counts nor times of their own, so launches and markers are not in it. */
#include "report/export.h"
#include "report/out.h"

#include <stdlib.h>

/* A stack: a zone inside another stack. */
typedef struct node {
    uint32_t site, parent, child, next; /* numbers of nodes; 0: none, the root */
    uint64_t self;
} node;

enum { MOST_NODES = 1 << 20 };

typedef struct collapsed {
    dl_view *view;
    dl_out out;
    node *nodes; /* nodes[0] is the root of the track in hand */
    uint32_t n_nodes, cap_nodes;
    struct open_node {
        uint64_t end;
        uint32_t node;
    } * open;
    uint32_t n_open, cap_open;
    uint32_t track, lane;
    dl_str prefix;
} collapsed;

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while writing collapsed stacks");
}

/* A frame's name: a semicolon ends a frame, a line feed a stack. A comma would make "a;b" the same as "a,b";
 * the full-width semicolon is in nobody's names. */
static void add_frame(dl_str *s, const char *name)
{
    for (; *name; name++) {
        if (*name == ';')
            dl_str_add(s, "\xEF\xBC\x9B"); /* U+FF1B */
        else
            dl_str_char(s, (unsigned char)*name < ' ' ? ' ' : *name);
    }
}

static void print_stack(collapsed *c, const node *n, dl_str *line)
{
    uint32_t path[UINT16_MAX], depth = 0;
    for (const node *at = n; at != c->nodes && depth < UINT16_MAX; at = &c->nodes[at->parent])
        path[depth++] = at->site;
    dl_str_clear(line);
    dl_str_add_n(line, c->prefix.text, c->prefix.len);
    while (depth) {
        const dl_view_item like = {.site = path[--depth], .kind = DL_VIEW_ZONE};
        char buffer[32];
        dl_str_char(line, ';');
        add_frame(line, dl_view_name(c->view, &like, buffer));
    }
    dl_str_char(line, ' ');
    dl_str_u64(line, n->self);
    dl_str_char(line, '\n');
    out_str(&c->out, line);
}

/* Prints the stacks of the track in hand, in the order in which they appeared. */
static devlog_status end_track(collapsed *c, devlog_error *err)
{
    dl_str line = {0};
    /* The RISC itself has time of its own when there were too many stacks to tell them apart. */
    for (uint32_t i = c->nodes[0].self ? 0 : 1; i < c->n_nodes && !line.failed; i++)
        print_stack(c, &c->nodes[i], &line);
    bool failed = line.failed;
    dl_str_free(&line);
    c->n_nodes = 1;
    c->nodes[0] = (node){0};
    return failed ? no_memory(err) : DEVLOG_OK;
}

static devlog_status begin_track(collapsed *c, uint32_t track, devlog_error *err)
{
    uint32_t n;
    const dl_view_track *t = &dl_view_tracks(c->view, &n)[track];
    dl_str_clear(&c->prefix);
    char title[DL_CHIP_TITLE];
    dl_str_fmt(&c->prefix, "%s;", dl_chip_title(title, dl_view_chips(c->view, &n)[t->chip].id));
    if (t->core != DL_NONE) {
        const dl_view_core *core = &dl_view_cores(c->view, &n)[t->core];
        dl_str_fmt(&c->prefix, "core %u,%u;", core->x, core->y);
    }
    add_frame(&c->prefix, t->name);
    c->track = track;
    return c->prefix.failed ? no_memory(err) : DEVLOG_OK;
}

/* The stack of `site` inside `parent`; `parent` itself when there are too many stacks; UINT32_MAX: no memory.
 */
static uint32_t enter(collapsed *c, uint32_t parent, uint32_t site)
{
    for (uint32_t i = c->nodes[parent].child; i; i = c->nodes[i].next)
        if (c->nodes[i].site == site) return i;
    if (c->n_nodes == MOST_NODES) return parent;
    if (c->n_nodes == c->cap_nodes) {
        node *nodes = realloc(c->nodes, 2ul * c->cap_nodes * sizeof *nodes);
        if (!nodes) return UINT32_MAX;
        c->nodes = nodes;
        c->cap_nodes *= 2;
    }
    c->nodes[c->n_nodes] = (node){.site = site, .parent = parent, .next = c->nodes[parent].child};
    c->nodes[parent].child = c->n_nodes;
    return c->n_nodes++;
}

static devlog_status zone(collapsed *c, const dl_view_item *item, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    if (item->track != c->track || item->lane != c->lane) c->n_open = 0;
    c->lane = item->lane;
    if (item->track != c->track) {
        status = end_track(c, err);
        if (!status) status = begin_track(c, item->track, err);
        if (status) return status;
    }
    while (c->n_open && c->open[c->n_open - 1].end <= item->start)
        c->n_open--;
    uint32_t parent = c->n_open ? c->open[c->n_open - 1].node : 0, at = enter(c, parent, item->site);
    if (c->n_open == c->cap_open) {
        uint32_t cap = c->cap_open ? c->cap_open * 2 : 64;
        struct open_node *open = realloc(c->open, cap * sizeof *open);
        if (!open) return no_memory(err);
        c->open = open;
        c->cap_open = cap;
    }
    if (at == UINT32_MAX) return no_memory(err);
    c->open[c->n_open++] = (struct open_node){item->end, at};
    c->nodes[at].self += item->end - item->start;
    if (parent) c->nodes[parent].self -= item->end - item->start;
    return DEVLOG_OK;
}

static devlog_status items(void *ctx, const dl_view_item *all, size_t n, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < n && !status; i++)
        if (all[i].kind == DL_VIEW_ZONE) status = zone(ctx, &all[i], err);
    return status;
}

devlog_status dl_export_collapsed(dl_view *v, const char *path, devlog_error *err)
{
    collapsed c = {.view = v, .track = DL_NONE, .n_nodes = 1, .cap_nodes = 256};
    devlog_status status = out_open(&c.out, path, err);
    if (status) return status;
    c.nodes = calloc(c.cap_nodes, sizeof *c.nodes);
    status = c.nodes ? dl_view_run(v, DL_VIEW_BY_TRACK, (dl_view_sink){.ctx = &c, .items = items}, err)
                     : no_memory(err);
    if (!status) status = end_track(&c, err);
    free(c.nodes);
    free(c.open);
    dl_str_free(&c.prefix);
    return out_close(&c.out, status, err);
}
