/* The meter. See the header. */
#include "profiler/meter.h"

#include <stdlib.h>

#include "profiler/clock_sync.h"

/* By how much the counter of a core is ahead of the first one's: the middle of what was measured. Boards whose counters start
 * together measure nothing else. */
static int64_t ahead_of(const devlog_device *device, devlog_core core)
{
    const dl_clocks *c = device->clocks;
    for (size_t i = 0; c && i < c->n_offsets; i++) {
        const dl_core_offset *o = &c->offsets[i];
        if (o->core.x != core.x || o->core.y != core.y || o->hi < o->lo) continue;
        if (device->board.clocks_start_together && o->lo <= 0 && o->hi >= 0) return 0;
        return o->lo + (o->hi - o->lo) / 2;
    }
    return 0;
}

static uint64_t stamp_of(const devlog_control *c, uint32_t id)
{
    return c->stamps[2 * (id - 1)] | (uint64_t)c->stamps[2 * (id - 1) + 1] << 32;
}

void meter_risc(meter *m, const devlog_device *device, const pulled *got)
{
    enum { BOTH = 1 << (DEVLOG_ID_FW_START - 1) | 1 << (DEVLOG_ID_FW_END - 1) };
    const devlog_control *c = &got->control;
    if (!m->on || !got->alive || got->damaged || (c->marks & BOTH) != BOTH) return;
    const uint64_t ahead = (uint64_t)ahead_of(device, got->core);
    const meter_span s = {stamp_of(c, DEVLOG_ID_FW_START) - ahead, stamp_of(c, DEVLOG_ID_FW_END) - ahead};
    if (!m->any || s.start < m->launch.start) m->launch.start = s.start;
    if (!m->any || s.end > m->launch.end) m->launch.end = s.end;
    m->any = true;
}

void meter_launch(meter *m)
{
    if (!m->any) return;
    m->any = false;
    if (m->n == m->cap) {
        const size_t cap = m->cap ? m->cap * 2 : 64;
        meter_span *grown = realloc(m->spans, cap * sizeof *grown);
        if (!grown) {
            m->no_memory = true;
            return;
        }
        m->spans = grown;
        m->cap = cap;
    }
    m->spans[m->n++] = m->launch;
}
