/* The quick path of pairing: ordinary starts and ends of zones when statistics are all that is wanted. What
 * it declines goes through pair.c, row by row, and the result is the same. Not for what is rare. */
#include "decode/pair/pair_internal.h"

/* The ordinary start of a zone: of one that is known on this stream, and in the launch in hand or at its
 * beginning. False, with nothing done, when it is not that. */
static inline bool quick_start(dl_pair *p, stream_state *s, const dl_row *row, uint64_t time)
{
    dl_key *key = dl_pair_known_key(s, row->site);
    if (!key || s->n_open == s->cap_open) return false;
    bool plain = !row->op && dl_pair_has_ids(row, s);
    if (key->role == DL_ROLE_KERNEL && plain && (!s->kernel_seen || s->n_open))
        s->kernel_seen = true;
    else if (key->role != DL_ROLE_USER)
        dl_pair_begin(p, s, key->role, row);
    else if (!plain)
        return false;
    s->last = time;
    dl_pair_open(p, s, key, row, time, 0);
    return true;
}

/* The ordinary end of a zone: of the innermost one, in the launch in which it began. */
static inline bool quick_end(dl_pair *p, stream_state *s, const dl_row *row, uint64_t time)
{
    if (s->n_open == 0 || s->too_deep || !dl_pair_has_ids(row, s)) return false;
    const open_zone *z = &s->open[s->n_open - 1];
    if (z->site != row->site || z->orphan || z->launch != s->launch || time < z->start) return false;
    dl_key *k = z->key;
    uint64_t cycles = time - z->start;
    if (cycles >= DL_WIDE || k->samples.at == k->samples.limit) return false;
    if (k->role != DL_ROLE_USER) {
        if (z->launch != k->next_launch || k->run_samples < 2) return false;
        k->next_launch += k->step;
        if (k->role == DL_ROLE_FW) dl_pair_note_fw_end(p, s, time);
    }
    *k->samples.at++ = (uint32_t)cycles;
    s->last = time;
    s->n_open--;
    return true;
}

/* Statistics are all that is wanted: no filter, no consumer of each event. */
devlog_status dl_pair_quick_rows(dl_pair *p, const dl_row *rows, size_t n, devlog_error *err)
{
    for (const dl_row *row = rows, *end = rows + n; row < end; row++) {
        stream_state *s = row->stream < p->n_streams ? p->streams[row->stream] : NULL;
        if (s) {
            uint64_t time = row->time + s->epoch;
            bool expected = time - s->last < s->limit && !row->torn && !s->costs;
            if (expected && row->type == DL_ROW_ZONE_START && quick_start(p, s, row, time)) continue;
            if (expected && row->type == DL_ROW_ZONE_END && quick_end(p, s, row, time)) continue;
        }
        devlog_status status = dl_pair_row(p, row, err);
        if (status) return status;
    }
    return DEVLOG_OK;
}
