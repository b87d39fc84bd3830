/* One time line of all ranks: their ops where they lie on the common clock, as a Chrome trace, which ui.perfetto.dev opens. Waiting for
 * the last one is a slice inside a collective op. Not for zones of cores: `devlog export` of one rank has them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "ranks/ranks.h"

static void event(dl_file_writer *w, bool *first)
{
    dl_str_add(&w->buffer, *first ? "\n" : ",\n");
    *first = false;
    if (w->buffer.len > 1 << 18) dl_file_flush(w);
}

static void name(dl_file_writer *w, bool *first, const char *what, uint32_t pid, uint32_t tid,
                 const char *text)
{
    event(w, first);
    dl_str_fmt(&w->buffer, "{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"%s\",\"args\":{\"name\":", pid,
               tid, what);
    dl_str_json(&w->buffer, text, strlen(text));
    dl_str_add(&w->buffer, "}}");
}

/* When the last lane of each op began; NAN: nobody waits. */
static double *last_starts(const ranks *r)
{
    double *last = malloc((r->n_ops + 1) * sizeof *last);
    for (size_t i = 0; i < r->n_ops && last; i++) {
        const rank_op *op = &r->ops[i];
        last[i] = NAN;
        for (size_t k = 0; op->collective && op->lanes > 1 && k < op->lanes; k++) {
            const double start = ranks_start(r, r->by_op[op->first + k]);
            if (isfinite(start) && !(start <= last[i])) last[i] = start;
        }
    }
    return last;
}

devlog_status ranks_trace(const ranks *r, const char *path, uint64_t *left_out, devlog_error *err)
{
    dl_file_writer w;
    bool first = true;
    double zero = INFINITY;
    *left_out = 0;
    for (size_t i = 0; i < r->n_items; i++) {
        const double start = ranks_common(&r->lanes[r->lane_of[i]], r->ops_of_lanes[i].start);
        if (start < zero) zero = start;
    }
    if (!isfinite(zero))
        return dl_fail(
            err, DEVLOG_ERR_UNSUPPORTED,
            "these ranks have no collective op in common, and captures that say how the clocks of their hosts lie are not beside "
            "their reports, so there is no one time line: devlog ranks --merge FILE writes their ops as one table");
    double *lasts = last_starts(r);
    if (!lasts) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    devlog_status status = dl_file_create(&w, path, err);
    if (status) {
        free(lasts);
        return status;
    }
    dl_str_add(&w.buffer, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for (size_t i = 0; i < r->n; i++) {
        char text[320];
        const rank_entry *e = &r->items[i];
        snprintf(text, sizeof text, e->host ? "rank %u, %s" : "rank %u", e->number, e->host);
        name(&w, &first, "process_name", e->number + 1, 0, text);
    }
    for (size_t k = 0; k < r->n_lanes; k++) {
        const rank_lane *l = &r->lanes[k];
        char text[96];
        if (l->aligned && isnan(l->residual))
            snprintf(text, sizeof text, "chip %u, clock by CLOCK_REALTIME, not known how well", l->chip);
        else
            snprintf(text, sizeof text, "chip %u, clock known to %.0f ns", l->chip,
                     l->aligned ? l->residual : 0);
        name(&w, &first, "thread_name", r->items[l->rank].number + 1, l->chip + 1, text);
        for (size_t i = l->first; i < l->first + l->n; i++) {
            const rank_item *item = &r->ops_of_lanes[i];
            const rank_op *op = &r->ops[item->op];
            const double start = ranks_common(l, item->start), end = ranks_common(l, item->end),
                         last = item->impossible ? NAN : lasts[item->op];
            if (!isfinite(start) || !(end >= start)) {
                ++*left_out;
                continue;
            }
            event(&w, &first);
            dl_str_fmt(
                &w.buffer,
                "{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"cat\":\"%s\",\"name\":",
                r->items[l->rank].number + 1, l->chip + 1, (start - zero) / 1000, (end - start) / 1000,
                op->collective ? "collective" : "op");
            const char *code = ranks_text(r, item->code);
            dl_str_json(&w.buffer, code, strlen(code));
            dl_str_fmt(&w.buffer, ",\"args\":{\"place\":%u,\"id\":%llu}}", op->place,
                       (unsigned long long)item->id);
            if (!(last > start) || last > end) continue;
            event(&w, &first);
            dl_str_fmt(
                &w.buffer,
                "{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"cat\":\"skew\",\"name\":\"waits for the last\"}",
                r->items[l->rank].number + 1, l->chip + 1, (start - zero) / 1000, (last - start) / 1000);
        }
    }
    free(lasts);
    dl_str_add(&w.buffer, "\n]}\n");
    return dl_file_commit(&w, err);
}
