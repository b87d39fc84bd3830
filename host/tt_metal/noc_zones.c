/* NoC events by zone. See noc_zones.h; reading traces: noc.c. */
#include "tt_metal/noc_zones.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"

enum { MOST_NAMES = 1 << 20, MOST_BYTES = 64 * 1024 * 1024, MOST_OPEN = 256, FLUSH = 256 * 1024 };

/* Names are "RISC\tzone"; the empty zone is none. */
static uint32_t name_of(tt_nocs *all, const char *risc, const char *zone, size_t n)
{
    dl_str name = {0};
    if (!all->names) all->names = dl_intern_new(MOST_NAMES, MOST_BYTES);
    dl_str_add(&name, risc);
    dl_str_char(&name, '\t');
    dl_str_add_n(&name, zone, n);
    const uint32_t id =
        all->names && !name.failed ? dl_intern_add(all->names, name.text, name.len) : DL_NO_STRING;
    dl_str_free(&name);
    return id;
}

static tt_noc_zone *zone_of(tt_noc_zoner *z, tt_nocs *all, uint32_t name)
{
    if (name == DL_NO_STRING) return NULL;
    if (name >= z->n_slots) {
        const size_t n = (size_t)name + 64;
        uint32_t *grown = realloc(z->slot, n * sizeof *grown);
        if (!grown) return NULL;
        memset(grown + z->n_slots, 0, (n - z->n_slots) * sizeof *grown);
        z->slot = grown;
        z->n_slots = n;
    }
    const size_t known = z->slot[name] ? z->first + z->slot[name] - 1 : all->n_zones;
    if (known < all->n_zones && all->zones[known].name == name) return &all->zones[known];
    if (all->n_zones >= TT_NONE - 1) return NULL;
    if (all->n_zones == all->cap_zones) {
        const size_t cap = all->cap_zones ? all->cap_zones * 2 : 256;
        tt_noc_zone *grown = realloc(all->zones, cap * sizeof *grown);
        if (!grown) return NULL;
        all->zones = grown;
        all->cap_zones = cap;
    }
    z->slot[name] = (uint32_t)(all->n_zones - z->first + 1);
    all->zones[all->n_zones] = (tt_noc_zone){.name = name};
    return &all->zones[all->n_zones++];
}

void tt_noc_zoner_begin(tt_noc_zoner *z, const tt_nocs *all)
{
    *z = (tt_noc_zoner){.first = all->n_zones};
}

void tt_noc_zoner_risc(tt_noc_zoner *z)
{
    z->n_open = 0;
}

bool tt_noc_zoner_begins(tt_noc_zoner *z, tt_nocs *all, const char *risc, const char *zone, size_t n)
{
    const uint32_t name = name_of(all, risc, zone, n);
    tt_noc_zone *x = zone_of(z, all, name);
    if (!x) return false;
    x->entered++;
    z->any = true;
    if (z->n_open == MOST_OPEN) return true; /* its end is then none */
    if (z->n_open == z->cap_open) {
        const size_t cap = z->cap_open ? z->cap_open * 2 : 16;
        uint32_t *grown = realloc(z->open, cap * sizeof *grown);
        if (!grown) return false;
        z->open = grown;
        z->cap_open = cap;
    }
    z->open[z->n_open++] = name;
    return true;
}

bool tt_noc_zoner_ends(tt_noc_zoner *z, tt_nocs *all, const char *risc, const char *zone, size_t n)
{
    const uint32_t name = name_of(all, risc, zone, n);
    if (name == DL_NO_STRING) return false;
    for (size_t i = z->n_open; i-- > 0;) {
        if (z->open[i] != name) continue;
        z->n_open = i; /* ends of those inside are missing */
        break;
    }
    return true;
}

tt_noc_zone *tt_noc_zoner_here(tt_noc_zoner *z, tt_nocs *all, const char *risc)
{
    return zone_of(z, all, z->n_open ? z->open[z->n_open - 1] : name_of(all, risc, "", 0));
}

void tt_noc_zoner_end(tt_noc_zoner *z, tt_nocs *all, uint32_t *from, uint32_t *n)
{
    if (!z->any) all->n_zones = z->first;
    *from = (uint32_t)z->first;
    *n = (uint32_t)(all->n_zones - z->first);
    free(z->open);
    free(z->slot);
}

/* ---- The table --- */

static void header(dl_str *out)
{
    dl_str_add(
        out,
        "GLOBAL CALL COUNT,DEVICE ID,METAL TRACE ID,METAL TRACE REPLAY SESSION ID,OP CODE,RISC,ZONE,ZONE COUNT");
    for (int i = 0; i < TT_NOC_PLAIN; i++) {
        dl_str_char(out, ',');
        dl_str_add(out, tt_noc_header((tt_noc_sum)i));
    }
    dl_str_char(out, '\n');
}

static void number(dl_str *out, uint32_t value)
{
    if (value != TT_NONE) dl_str_u64(out, value);
    dl_str_char(out, ',');
}

static void text(dl_str *out, dl_str *work, const char *s, size_t n)
{
    dl_str_clear(work);
    dl_str_utf8(work, s, n);
    dl_str_csv(out, work->text ? work->text : "", work->len);
    dl_str_char(out, ',');
}

static void rows_of(const tt_join *j, const tt_row *r, const tt_noc *noc, dl_str *out, dl_str *name,
                    dl_str *work)
{
    const tt_nocs *all = &j->execs->nocs;
    for (uint32_t i = 0; i < noc->n_zones; i++) {
        const tt_noc_zone *z = &all->zones[noc->zones + i];
        bool any = z->entered > 0;
        for (int k = 0; k < TT_NOC_PLAIN; k++)
            any |= z->sums[k] > 0;
        if (!any) continue;
        size_t n;
        const char *both = dl_intern_text(all->names, z->name, &n), *tab = memchr(both, '\t', n);
        const size_t n_risc = tab ? (size_t)(tab - both) : n;
        dl_str_u64(out, noc->id);
        dl_str_char(out, ',');
        number(out, noc->device);
        number(out, r->trace);
        number(out, r->session);
        text(out, work, name->text ? name->text : "", name->len);
        text(out, work, both, n_risc);
        text(out, work, tab ? tab + 1 : "", tab ? n - n_risc - 1 : 0);
        dl_str_u64(out, z->entered);
        for (int k = 0; k < TT_NOC_PLAIN; k++) {
            dl_str_char(out, ',');
            dl_str_u64(out, z->sums[k]);
        }
        dl_str_char(out, '\n');
    }
}

devlog_status tt_noc_zones_write(const tt_join *j, dl_str *out,
                                 devlog_status (*flush)(void *ctx, devlog_error *err), void *ctx,
                                 devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    dl_str name = {0}, work = {0};
    header(out);
    for (size_t i = 0; i < j->n && !status; i++) {
        const tt_row *r = &j->rows[j->order[i]];
        const tt_exec *x = r->left_out || r->exec == TT_NONE ? NULL : &j->execs->items[r->exec];
        const tt_noc *noc =
            x ? tt_nocs_of_run(&j->execs->nocs, x->device, x->id, x->session, x->counted) : NULL;
        if (!noc || !noc->n_zones) continue;
        dl_str_clear(&name);
        if (r->op != TT_NONE) tt_host_name(j->host, &j->host->ops[r->op], &name);
        rows_of(j, r, noc, out, &name, &work);
        if (out->len >= FLUSH) status = flush(ctx, err);
    }
    if (!status && (out->failed || work.failed)) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!status) status = flush(ctx, err);
    dl_str_free(&name);
    dl_str_free(&work);
    return status;
}
