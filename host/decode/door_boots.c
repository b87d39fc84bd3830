/* Which starts of its chip's counter the launches of a log are of. See door.h. */
#include <stdlib.h>

#include "decode/door_internal.h"

uint32_t *door_boots(const devlog_log *log)
{
    const dl_launches *all = dl_decode_launches(log->decode);
    struct {
        uint64_t start, number, run;
        uint32_t boot;
        bool any;
    } *last = calloc(DL_MAX_CHIPS, sizeof *last);
    uint32_t *boots = last ? malloc((all->count + (size_t)1) * sizeof *boots) : NULL;
    for (uint32_t i = 0; boots && i < all->count; i++) {
        const dl_launch *l = &all->items[i];
        const bool known = l->first_fw_start != UINT64_MAX;
        const bool other = last[l->chip].any && l->run != last[l->chip].run;
        const bool later =
            l->has_ids && l->trace_id == DL_NO_ID && (other || l->run_host_id > last[l->chip].number);
        if (other || (known && later && l->first_fw_start < last[l->chip].start)) last[l->chip].boot++;
        if (later) last[l->chip].number = l->run_host_id;
        if (known) last[l->chip].start = l->first_fw_start;
        last[l->chip].run = l->run;
        last[l->chip].any = true;
        boots[i] = last[l->chip].boot;
    }
    free(last);
    return boots;
}
