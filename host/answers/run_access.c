/* Facts of a run on access patterns, for rules: what kernels recorded of their transfers over the NoC, and in which banks of the
 * DRAM buffers were. Of NoC traces, which have no addresses, there are columns of the op report instead (op_facts.c). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/causes_sums.h"
#include "answers/memory.h"
#include "answers/run_facts.h"
#include "base/grid.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

enum { SHORT = 40, SHORT_BYTES = 4 * SHORT }; /* columns of a name, and what they take at most */

/* A name, shortened in its middle. */
static const char *shortened(char out[SHORT_BYTES], const char *text)
{
    dl_str s = {0};
    dl_str_short(&s, text, SHORT);
    snprintf(out, SHORT_BYTES, "%s", s.failed || !s.text ? "" : s.text);
    dl_str_free(&s);
    return out;
}

/* ---- Transfers --- */

/* `what`, and the core, RISC and zone of a flow. */
static void say_place(run_facts *f, run_text text, const dl_tables *t, const causes_flow *x, const char *what)
{
    const dl_stream *s = &t->streams[x->stream];
    char *room = f->rooms[text], zone[SHORT_BYTES], file[SHORT_BYTES];
    size_t n = (size_t)snprintf(room, sizeof f->rooms[0], "%s on core %llu: %u-%u, %.20s", what,
                                (unsigned long long)t->chips[s->chip].id, s->core_x, s->core_y,
                                dl_text(t, s->risc_name));
    if (x->site != DL_NONE && n < sizeof f->rooms[0])
        snprintf(room + n, sizeof f->rooms[0] - n, ", %s, %s:%u", shortened(zone, dl_site_text(t, x->site)),
                 shortened(file, base_name(dl_text(t, t->sites[x->site].file))), t->sites[x->site].line);
    f->texts[text] = room;
}

static bool is_small(const causes_flow *x)
{
    return x->bytes < RUN_SMALL_BYTES * x->transfers;
}

/* Where most of the transfers are that do not lie in units, and where most of the small ones. */
static void find_places(run_facts *f, const causes_sums *s, const dl_tables *t)
{
    const causes_flow *uneven = NULL, *small = NULL;
    char what[96];
    for (size_t i = 1; i < s->n_flows; i++) {
        const causes_flow *x = &s->flows[i];
        if (x->uneven && (!uneven || x->uneven > uneven->uneven)) uneven = x;
        if (is_small(x) && (!small || x->transfers > small->transfers)) small = x;
    }
    if (uneven) {
        snprintf(what, sizeof what, "%llu of %llu", (unsigned long long)uneven->uneven,
                 (unsigned long long)uneven->transfers);
        say_place(f, RUN_UNEVEN_AT, t, uneven, what);
    }
    if (small) {
        snprintf(what, sizeof what, "%llu of %.4g bytes", (unsigned long long)small->transfers,
                 (double)small->bytes / (double)small->transfers);
        say_place(f, RUN_SMALL_AT, t, small, what);
    }
}

/* A tile of a chip, and what a core moved to or from it. */
typedef struct asked {
    uint32_t chip, tile, core;
    uint64_t bytes;
    const causes_flow *by;
} asked;

static int by_place(const void *a, const void *b)
{
    const asked *x = a, *y = b;
    if (x->chip != y->chip) return x->chip < y->chip ? -1 : 1;
    if (x->tile != y->tile) return x->tile < y->tile ? -1 : 1;
    return x->core < y->core ? -1 : x->core > y->core;
}

/* Of the tile that is asked most on its chip. */
static void find_one_tile(run_facts *f, const causes_sums *s, const dl_tables *t)
{
    asked *all = malloc((s->n_flows + 1) * sizeof *all);
    size_t n = 0;
    double most = -1;
    if (!all) return;
    for (size_t i = 1; i < s->n_flows; i++) {
        const dl_stream *of = &t->streams[s->flows[i].stream];
        all[n++] = (asked){of->chip, s->flows[i].tile, (uint32_t)of->core_x << 16 | of->core_y,
                           s->flows[i].bytes, &s->flows[i]};
    }
    if (n) qsort(all, n, sizeof *all, by_place);
    uint64_t of_chip = 0;
    for (size_t i = 0, k; i < n; i = k) {
        uint64_t bytes = 0, cores = 0;
        const causes_flow *by = NULL;
        if (!i || all[i].chip != all[i - 1].chip)
            for (of_chip = 0, k = i; k < n && all[k].chip == all[i].chip; k++)
                of_chip += all[k].bytes;
        for (k = i; k < n && all[k].chip == all[i].chip && all[k].tile == all[i].tile; k++) {
            bytes += all[k].bytes;
            if (!by || all[k].bytes > by->bytes) by = all[k].by;
            cores += k == i || all[k].core != all[k - 1].core;
        }
        if ((double)bytes <= most) continue;
        most = (double)bytes;
        f->values[RUN_ONE_TILE] = of_chip ? 100 * most / (double)of_chip : NAN;
        f->values[RUN_ONE_TILE_CORES] = (double)cores;
        char what[96];
        snprintf(what, sizeof what, "%llu: %u-%u on NoC 0, most",
                 (unsigned long long)t->chips[all[i].chip].id, all[i].tile & 63u, all[i].tile >> 6);
        say_place(f, RUN_ONE_TILE_AT, t, by, what);
    }
    free(all);
}

/* DEVLOG-WAIT-NOC by the kernels of RISCs that have it. Zones of an op and a RISC stand behind one another. */
static double noc_waits_of(const answer_run *r)
{
    size_t n = 0;
    const run_zone *z = r->log ? run_log_zones(r->log, &n) : NULL;
    double waits = 0, kernels = 0;
    for (size_t i = 0, k; i < n; i = k) {
        double waited = 0, ran = 0;
        for (k = i; k < n && z[k].code == z[i].code && strcmp(z[k].risc, z[i].risc) == 0; k++) {
            if (strcmp(z[k].name, "DEVLOG-WAIT-NOC") == 0) waited += z[k].total;
            if (z[k].role == DEVLOG_ZONE_KERNEL) ran += z[k].total;
        }
        waits += waited;
        if (waited > 0) kernels += ran;
    }
    return kernels > 0 ? 100 * waits / kernels : NAN;
}

static void look_at_transfers(run_facts *f, const answer_run *r)
{
    const causes_sums *s = r->causes;
    const dl_tables *t = dl_decode_tables(s->decode);
    double transfers = 0, bytes = 0, uneven = 0;
    for (size_t i = 1; i < s->n_flows; i++) {
        const causes_flow *x = &s->flows[i];
        transfers += (double)x->transfers;
        bytes += (double)x->bytes;
        uneven += (double)x->uneven;
    }
    if (!(transfers > 0)) return;
    f->values[RUN_TRANSFERS] = transfers;
    f->values[RUN_TRANSFER_BYTES] = bytes / transfers;
    f->values[RUN_UNEVEN] = 100 * uneven / transfers;
    f->values[RUN_NOC_WAITS] = noc_waits_of(r);
    find_places(f, s, t);
    find_one_tile(f, s, t);
}

/* ---- Banks --- */

/* The largest buffer of a memory that is in one bank. */
static void say_buffer(run_facts *f, const memory_run *m, const memory_space *s)
{
    const memory_buffer *most = NULL;
    size_t n = 0;
    for (size_t i = 0; i < m->n_buffers; i++) {
        const memory_buffer *b = &m->buffers[i];
        if (&m->spaces[b->space] != s || memory_made(m, b)->banks != 1) continue;
        n++;
        if (!most || memory_bytes(memory_made(m, b)) > memory_bytes(memory_made(m, most))) most = b;
    }
    if (!most) return;
    const char *name = most->name ? memory_text(m, most->name) : "a buffer",
               *file = most->file ? base_name(memory_text(m, most->file)) : "an unknown place";
    char name_room[SHORT_BYTES], file_room[SHORT_BYTES];
    snprintf(f->rooms[RUN_DRAM_BY], sizeof f->rooms[0],
             "%s of %s:%u with %llu bytes; %zu buffer%s in one bank", shortened(name_room, name),
             shortened(file_room, file), memory_made(m, most)->line,
             (unsigned long long)memory_bytes(memory_made(m, most)), n, n == 1 ? " is" : "s are");
    f->texts[RUN_DRAM_BY] = f->rooms[RUN_DRAM_BY];
}

static void look_at_banks(run_facts *f, const memory_run *m)
{
    const memory_space *most = NULL;
    for (size_t i = 0; i < m->n_spaces; i++) {
        const memory_space *s = &m->spaces[i];
        if (s->dram && s->banks && (!most || s->bank_peak > most->bank_peak)) most = s;
    }
    if (!most) return;
    f->values[RUN_DRAM_BANKS] = most->banks;
    f->values[RUN_DRAM_PEAK] = (double)most->peak;
    f->values[RUN_DRAM_BANK_PEAK] = (double)most->bank_peak;
    say_buffer(f, m, most);
}

void run_facts_of_access(run_facts *f, const answer_run *r)
{
    if (r->causes) look_at_transfers(f, r);
    if (r->memory) look_at_banks(f, r->memory);
}
