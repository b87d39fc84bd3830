/* What pairing could not match, told: counted always, described for the first few of each kind. */
#include <stdio.h>

#include "decode/pair_internal.h"

void dl_pair_where(const dl_pair *p, uint32_t stream, char out[128])
{
    const dl_stream *s = &p->tables->streams[stream];
    snprintf(out, 128, "chip %u core %u,%u %.60s", p->tables->chips[s->chip].id, s->core_x, s->core_y,
             dl_text(p->tables, s->risc_name));
}

static void lose_open(dl_pair *p, const open_zone *z)
{
    p->losses->found[DL_FOUND_UNPAIRED_START]++;
    if (!dl_losses_wants(p->losses, DL_FOUND_UNPAIRED_START)) return;
    char where[128];
    dl_pair_where(p, z->key->stream, where);
    dl_losses_found(p->losses, DL_FOUND_UNPAIRED_START, 0,
                    "%s:%u: %s: zone '%s' began at cycle %llu and never ended", p->source, z->line, where,
                    dl_site_text(p->tables, z->site), (unsigned long long)z->start);
}

void dl_pair_abandon_open(dl_pair *p, stream_state *s)
{
    for (uint16_t i = 0; i < s->n_open; i++)
        lose_open(p, &s->open[i]);
    s->n_open = 0;
}

void dl_pair_lose_end(dl_pair *p, const dl_row *row, uint64_t time)
{
    p->losses->found[DL_FOUND_UNPAIRED_END]++;
    if (!dl_losses_wants(p->losses, DL_FOUND_UNPAIRED_END)) return;
    char where[128];
    dl_pair_where(p, row->stream, where);
    dl_losses_found(p->losses, DL_FOUND_UNPAIRED_END, 0,
                    "%s:%u: %s: zone '%s' ends at cycle %llu but never began", p->source, row->line, where,
                    dl_site_text(p->tables, row->site), (unsigned long long)time);
}

void dl_pair_lose_negative(dl_pair *p, const dl_row *row, const open_zone *z, uint64_t time)
{
    char where[128];
    dl_pair_where(p, row->stream, where);
    dl_losses_found(p->losses, DL_FOUND_NEGATIVE, 1,
                    "%s:%u: %s: zone '%s' ends at cycle %llu, before its start %llu", p->source, row->line,
                    where, dl_site_text(p->tables, z->site), (unsigned long long)time,
                    (unsigned long long)z->start);
}

void dl_pair_lose_deep(dl_pair *p, const dl_row *row)
{
    char where[128];
    dl_pair_where(p, row->stream, where);
    dl_losses_found(p->losses, DL_FOUND_TOO_DEEP, 1, "%s:%u: %s: too many zones are open; '%s' is left out",
                    p->source, row->line, where, dl_site_text(p->tables, row->site));
}

void dl_pair_lose_key(dl_pair *p, const dl_row *row)
{
    dl_losses_found(p->losses, DL_FOUND_TABLE_FULL, 1, "%s:%u: zone '%s'", p->source, row->line,
                    dl_site_text(p->tables, row->site));
}

void dl_pair_lose_launch(dl_pair *p, const dl_row *row)
{
    dl_losses_found(p->losses, DL_FOUND_TABLE_FULL, 1, "%s:%u: more launches than are kept apart", p->source,
                    row->line);
}

void dl_pair_note_dropped(dl_pair *p, const dl_row *row)
{
    char where[128];
    dl_pair_where(p, row->stream, where);
    dl_losses_found(p->losses, DL_FOUND_DROPPED, row->data, "%s:%u: %s: %llu markers", p->source, row->line,
                    where, (unsigned long long)row->data);
}
