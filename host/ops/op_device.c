/* What the device did for each launch, gathered from the decoder's runs.
 *
 * Durations per core need the first start and last end of each launch on each core. As the rows of a launch
 * on one core are neighbours in every log, they are kept for one core, and folded into the launch when
 * another comes; a core that comes back for the same launch is noticed by its bit. */
#include "ops/op_device.h"

#include <stdlib.h>
#include <string.h>

#define CB_WAIT_ZONE    "CB-COMPUTE-WAIT-FRONT"
#define CB_RESERVE_ZONE "CB-COMPUTE-RESERVE-BACK"

/* The cores of a chip by index, in order of appearance. */
typedef struct chip_cores {
    uint32_t place; /* of the last, x << 16 | y */
    uint32_t core;  /* its index */
    bool any;
    uint32_t *cores; /* places by index */
    uint32_t n_cores, cap_cores;
} chip_cores;

struct op_device {
    dl_decode *decode;
    op_cycles *launches;
    uint32_t n;
    dl_big big;         /* where they are */
    op_cycles whole[2]; /* that were asked for last */
    uint32_t n_whole;
    chip_cores *chips;
    uint32_t n_chips;
    /* Roles of sites, asked for once each. */
    uint8_t *roles;
    uint32_t n_roles;
};

enum { COOL_EVERY = 16384 };
enum { ROLE_UNKNOWN, ROLE_NONE, ROLE_FW, ROLE_KERNEL, ROLE_CB_WAIT, ROLE_CB_RESERVE };

void op_cycles_none(op_cycles *c)
{
    *c = (op_cycles){
        .fw_start = OP_NEVER, .kernel_start = OP_NEVER, .dm_start = OP_NEVER, .core_min = OP_NEVER};
    for (int i = 0; i < OP_RISCS; i++)
        c->risc_start[i] = OP_NEVER;
}

static void least(uint64_t *to, uint64_t value)
{
    if (value < *to) *to = value;
}

static void most(uint64_t *to, uint64_t value)
{
    if (value > *to) *to = value;
}

void op_cycles_add(op_cycles *to, const op_cycles *from)
{
    least(&to->fw_start, from->fw_start);
    most(&to->fw_end, from->fw_end);
    least(&to->kernel_start, from->kernel_start);
    most(&to->kernel_end, from->kernel_end);
    most(&to->kernel_last_start, from->kernel_last_start);
    least(&to->dm_start, from->dm_start);
    for (int i = 0; i < OP_RISCS; i++) {
        least(&to->risc_start[i], from->risc_start[i]);
        most(&to->risc_end[i], from->risc_end[i]);
    }
    to->cb_wait += from->cb_wait;
    to->cb_reserve += from->cb_reserve;
    to->has_cb_wait |= from->has_cb_wait;
    to->has_cb_reserve |= from->has_cb_reserve;
    to->cores_twice |= from->cores_twice;
    least(&to->core_min, from->core_min);
    most(&to->core_max, from->core_max);
    to->core_sum += from->core_sum;
    to->core_n += from->core_n;
    to->zones += from->zones;
    /* Cores of both: by their bits as far as they have any. */
    uint32_t beyond = 0, either = 0;
    for (int i = 0; i < OP_CORE_WORDS; i++) {
        beyond += (uint32_t)__builtin_popcountll(to->seen[i]);
        to->seen[i] |= from->seen[i];
        either += (uint32_t)__builtin_popcountll(to->seen[i]);
    }
    if (to->cores == beyond)
        to->cores = either;
    else if (from->cores > to->cores)
        to->cores = from->cores;
}

static uint8_t role_of(op_device *d, uint32_t site)
{
    if (site >= d->n_roles) {
        uint32_t n = site + 64;
        uint8_t *roles = realloc(d->roles, n);
        if (!roles) return ROLE_UNKNOWN;
        memset(roles + d->n_roles, ROLE_UNKNOWN, n - d->n_roles);
        d->roles = roles;
        d->n_roles = n;
    }
    if (d->roles[site] != ROLE_UNKNOWN) return d->roles[site];
    const dl_tables *t = dl_decode_tables(d->decode);
    const dl_site *s = &t->sites[site];
    const char *name = dl_text(t, s->name);
    d->roles[site] = s->role == DL_ROLE_FW                ? ROLE_FW
                     : s->role == DL_ROLE_KERNEL          ? ROLE_KERNEL
                     : strcmp(name, CB_WAIT_ZONE) == 0    ? ROLE_CB_WAIT
                     : strcmp(name, CB_RESERVE_ZONE) == 0 ? ROLE_CB_RESERVE
                                                          : ROLE_NONE;
    return d->roles[site];
}

static op_cycles *launch_of(op_device *d, uint32_t launch)
{
    if (launch >= d->n) {
        if (!dl_big_room(&d->big, ((size_t)launch + 1) * sizeof *d->launches)) return NULL;
        d->launches = d->big.data;
        for (; d->n <= launch; d->n++) {
            op_cycles_none(&d->launches[d->n]);
            if (d->n % COOL_EVERY == 0) dl_big_cool(&d->big);
        }
    }
    return &d->launches[launch];
}

/* What is known of the core in hand is complete. */
static void fold(op_cycles *l)
{
    bool ran = l->core && l->core_start != OP_NEVER && l->core_end >= l->core_start;
    l->core = 0;
    if (!ran) return;
    uint64_t cycles = l->core_end - l->core_start;
    least(&l->core_min, cycles);
    most(&l->core_max, cycles);
    l->core_sum += cycles;
    l->core_n++;
}

/* Another core of the launch. */
static void next_core(op_cycles *l, uint32_t core)
{
    fold(l);
    l->core = core + 1;
    l->core_start = OP_NEVER;
    l->core_end = 0;
    l->cores++;
    if (core >= 64 * OP_CORE_WORDS) return;
    uint64_t bit = UINT64_C(1) << (core % 64);
    if (l->seen[core / 64] & bit) {
        l->cores--;
        l->cores_twice = true;
    }
    l->seen[core / 64] |= bit;
}

/* The index of a core on its chip. */
static bool core_index(chip_cores *h, uint32_t place)
{
    for (uint32_t i = 0; i < h->n_cores; i++) {
        /* The next core is most often the one behind the last. */
        uint32_t at = h->core + 1 + i < h->n_cores ? h->core + 1 + i : (h->core + 1 + i) % h->n_cores;
        if (h->cores[at] != place) continue;
        h->core = at;
        return true;
    }
    if (h->n_cores == h->cap_cores) {
        uint32_t cap = h->cap_cores ? h->cap_cores * 2 : 64;
        uint32_t *grown = realloc(h->cores, cap * sizeof *grown);
        if (!grown) return false;
        h->cores = grown;
        h->cap_cores = cap;
    }
    h->core = h->n_cores;
    h->cores[h->n_cores++] = place;
    return true;
}

static bool find_core(op_device *d, const dl_stream *s, uint32_t *core)
{
    if (s->chip >= d->n_chips) {
        chip_cores *grown = realloc(d->chips, (s->chip + 1) * sizeof *grown);
        if (!grown) return false;
        memset(grown + d->n_chips, 0, (s->chip + 1 - d->n_chips) * sizeof *grown);
        d->chips = grown;
        d->n_chips = s->chip + 1;
    }
    chip_cores *h = &d->chips[s->chip];
    uint32_t place = (uint32_t)s->core_x << 16 | s->core_y;
    if (!h->any || h->place != place) {
        h->place = place;
        h->any = true;
        if (!core_index(h, place)) return false;
    }
    *core = h->core;
    return true;
}

static bool take(op_device *d, const dl_tables *t, const dl_event *e)
{
    uint8_t role = role_of(d, e->site);
    if (role == ROLE_NONE || e->launch == DL_NONE) return role != ROLE_UNKNOWN;
    const dl_stream *s = &t->streams[e->stream];
    op_cycles *l = launch_of(d, e->launch);
    if (!l) return false;
    if (role == ROLE_CB_WAIT || role == ROLE_CB_RESERVE) {
        /* The reference counts waits of the unpacker and of the packer only. */
        bool wait = role == ROLE_CB_WAIT;
        if (e->kind == DL_EVENT_SUM && s->risc == (wait ? DL_RISC_TRISC0 : DL_RISC_TRISC2)) {
            *(wait ? &l->cb_wait : &l->cb_reserve) += e->data;
            *(wait ? &l->has_cb_wait : &l->has_cb_reserve) = true;
        }
        return true;
    }
    if (e->kind != DL_EVENT_ZONE) return true;
    uint32_t core;
    if (!find_core(d, s, &core)) return false;
    if (l->core != core + 1) next_core(l, core);
    l->zones++;
    if (role == ROLE_FW) {
        least(&l->fw_start, e->start);
        most(&l->fw_end, e->end);
        return true;
    }
    least(&l->core_start, e->start);
    most(&l->core_end, e->end);
    least(&l->kernel_start, e->start);
    most(&l->kernel_last_start, e->start);
    most(&l->kernel_end, e->end);
    if (s->risc == DL_RISC_BRISC || s->risc == DL_RISC_NCRISC || s->risc == DL_RISC_ERISC)
        least(&l->dm_start, e->start);
    if ((int)s->risc < (int)OP_RISCS) {
        least(&l->risc_start[s->risc], e->start);
        most(&l->risc_end[s->risc], e->end);
    }
    return true;
}

static devlog_status on_runs(void *context, const dl_run *runs, size_t n, devlog_error *err)
{
    op_device *d = context;
    const dl_tables *t = dl_decode_tables(d->decode);
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < runs[i].n_events; k++)
            if (!take(d, t, &runs[i].events[k]))
                return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for more than %u launches", d->n);
    return DEVLOG_OK;
}

devlog_status op_device_new(op_device **out, dl_decode *decode, const char *scratch, devlog_error *err)
{
    op_device *d = calloc(1, sizeof *d);
    if (!d) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    d->decode = decode;
    d->big.folder = scratch;
    devlog_status status =
        dl_decode_run_sink(decode, (dl_run_sink){.ctx = d, .wants = DL_WANT_EVENTS, .runs = on_runs}, err);
    if (status) {
        op_device_free(d);
        return status;
    }
    *out = d;
    return DEVLOG_OK;
}

void op_device_free(op_device *d)
{
    if (!d) return;
    for (uint32_t i = 0; i < d->n_chips; i++)
        free(d->chips[i].cores);
    free(d->chips);
    dl_big_free(&d->big);
    free(d->roles);
    free(d);
}

void op_device_cool(op_device *d)
{
    dl_big_cool(&d->big);
}

const op_cycles *op_device_launch(op_device *d, uint32_t launch)
{
    if (launch >= d->n || !d->launches[launch].zones) return NULL;
    op_cycles *whole = &d->whole[d->n_whole++ % 2];
    *whole = d->launches[launch]; /* which stays as it is: a page that is written to must be written out */
    fold(whole);
    return whole;
}
