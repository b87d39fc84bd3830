/* Gathering events for the page, within a bound. What does not fit is left out by whole launches, the last
 * first, so that every launch in the page is complete. Not here: what order they are shown in (page_lanes.c).
 */
#include <stdlib.h>
#include <string.h>

#include "report/page_internal.h"

static bool grow(dl_page *p)
{
    size_t cap = p->cap ? p->cap * 2 : 4096;
    if (cap > p->max) cap = p->max;
    page_item *items = realloc(p->items, cap * sizeof *items);
    if (!items) return false;
    p->items = items;
    p->cap = cap;
    return true;
}

/* Makes room by leaving out the last launches, until at most 3/4 of the room is taken. */
static devlog_status leave_out(dl_page *p, devlog_error *err)
{
    uint32_t launches = 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->items[i].launch != DL_NONE && p->items[i].launch >= launches)
            launches = p->items[i].launch + 1;
    uint32_t *count = calloc((size_t)launches + 1, sizeof *count);
    if (!count) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the page's launches");
    for (size_t i = 0; i < p->n; i++)
        count[p->items[i].launch == DL_NONE ? launches : p->items[i].launch]++;
    uint32_t end = 0;
    for (size_t kept = count[launches]; end < launches; end++) {
        kept += count[end];
        if (kept > p->max / 4 * 3) break;
    }
    free(count);
    p->launch_end = end;
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->items[i].launch == DL_NONE || p->items[i].launch < end) p->items[n++] = p->items[i];
    p->left_out += p->n - n;
    p->n = n;
    return DEVLOG_OK;
}

static devlog_status take(void *ctx, const dl_event *events, size_t n, devlog_error *err)
{
    dl_page *p = ctx;
    for (size_t i = 0; i < n; i++) {
        const dl_event *e = &events[i];
        if (e->launch != DL_NONE && e->launch >= p->launch_end) {
            p->left_out++;
            continue;
        }
        if (p->n == p->max) {
            devlog_status status = leave_out(p, err);
            if (status) return status;
            if (p->n == p->max || (e->launch != DL_NONE && e->launch >= p->launch_end)) {
                p->left_out++; /* more than fits, and belonging to no launch or to one that was left out */
                continue;
            }
        }
        if (p->n == p->cap && !grow(p))
            return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the page after %zu intervals", p->n);
        bool zone = e->kind == DL_EVENT_ZONE;
        p->items[p->n++] = (page_item){
            .start = e->start,
            .length = zone ? e->end - e->start : e->data,
            .stream = e->stream,
            .site = e->site,
            .launch = e->launch,
            .kind = e->kind,
        };
    }
    return DEVLOG_OK;
}

devlog_status dl_page_new(dl_page **page, const dl_page_options *options, devlog_error *err)
{
    dl_page *p = calloc(1, sizeof *p);
    *page = p;
    if (!p) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the page");
    p->max = options && options->max_intervals ? options->max_intervals : DL_PAGE_INTERVALS;
    p->title = options && options->title ? options->title : "";
    p->launch_end = DL_NONE;
    memset(p->base, 0xff, sizeof p->base);
    return DEVLOG_OK;
}

void dl_page_free(dl_page *p)
{
    if (!p) return;
    free(p->items);
    free(p->lanes);
    free(p->rows);
    free(p->site_numbers);
    free(p);
}

dl_event_sink dl_page_sink(dl_page *p)
{
    return (dl_event_sink){.ctx = p, .events = take};
}
