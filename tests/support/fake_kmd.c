/* A fake of the kernel driver: see the header. It encodes the configuration of a window by itself, from the
 * same documents as the simulator, and refuses what the driver refuses. */
#include "support/fake_kmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/board_sim.h"

enum {
    FIRST_FD = 40,
    LOAD_CYCLES = 64, /* that pass with an access: a load waits for its answer, a store does not */
    STORE_CYCLES = 4,
    AICLK = 14,
    AICLK_MAX = 63,
    ENABLED_COLUMNS = 34,
    TRANSLATION = 40,
    HARVESTING_STATE = 4, /* a trap: 0, whatever is switched off */
    MHZ_PER_MS = 10,
    ALL_POWER = 0x7FFF,
    WINDOW_BASE_GIB = 36,
};

static fake_fd *fd_of(fake_kmd *f, int fd)
{
    assert_true(fd >= FIRST_FD && fd < FIRST_FD + FAKE_MAX_FDS);
    assert_true(f->fds[fd - FIRST_FD].open);
    return &f->fds[fd - FIRST_FD];
}

/* ---- Power ---- */

static uint32_t wanted_mhz(const fake_kmd *f)
{
    uint16_t all = 0;
    for (int i = 0; i < FAKE_MAX_FDS; i++)
        if (f->fds[i].open) all |= f->fds[i].power;
    return all & KMD_POWER_MAX_AICLK ? f->busy_mhz : f->idle_mhz;
}

static void pass_ms(fake_kmd *f, uint32_t ms)
{
    const uint32_t goal = wanted_mhz(f), most = ms * MHZ_PER_MS;
    f->waited_ms += ms;
    f->ps += ms * UINT64_C(1000000000);
    sim_skip(f->s, ms * UINT64_C(1000) * f->mhz);
    if (f->mhz < goal) f->mhz = goal - f->mhz < most ? goal : f->mhz + most;
    if (f->mhz > goal) f->mhz = f->mhz - goal < most ? goal : f->mhz - most;
    sim_arc_tell(f->s, AICLK, f->mhz);
}

/* ---- Opening and closing ---- */

static int do_open(fake_kmd *f, int pid, const char *path, int flags)
{
    int free_slot = -1;
    bool others = false;
    if (f->open_failure) return -(int)f->open_failure;
    if (strcmp(path, f->node) != 0 || f->no_node || f->detached) return -ENOENT;
    for (int i = 0; i < FAKE_MAX_FDS; i++) {
        others |= f->fds[i].open;
        if (!f->fds[i].open && free_slot < 0) free_slot = i;
    }
    assert_true(free_slot >= 0);
    if (f->version >= 210) {
        if (f->exclusive || (flags & O_EXCL && others)) {
            /* A real open would wait here; a test that gets here would hang. */
            if (!(flags & O_NONBLOCK)) fail_msg("an open that blocks until another program ends");
            return -EAGAIN;
        }
        f->exclusive = (flags & O_EXCL) != 0;
    }
    f->fds[free_slot] = (fake_fd){.open = true, .pid = pid, .flags = flags, .generation = f->generation};
    if (f->version >= 206 && !(flags & O_APPEND)) {
        f->fds[free_slot].power = ALL_POWER & ~KMD_POWER_MAX_AICLK;
        f->power_requests++;
    }
    return FIRST_FD + free_slot;
}

static void do_close(fake_kmd *f, int fd)
{
    fake_fd *p = fd_of(f, fd);
    for (uint32_t id = 0; id < f->ids; id++) {
        if (!f->taken[id] || f->owner[id] != fd) continue;
        f->taken[id] = f->configured[id] = false;
        assert_false(f->mapped[id]); /* a mapping would keep the file open */
    }
    if (p->flags & O_EXCL) f->exclusive = false;
    f->locks &= ~p->locks;
    if (p->power) f->power_requests++;
    p->open = false;
}

static int fake_open(void *context, const char *path, int flags)
{
    fake_process *p = context;
    return do_open(p->driver, p->pid, path, flags);
}

static int fake_close(void *context, int fd)
{
    fake_process *p = context;
    assert_int_equal(fd_of(p->driver, fd)->pid, p->pid);
    do_close(p->driver, fd);
    return 0;
}

int fake_kmd_open(fake_kmd *f, uint32_t process, int flags)
{
    return do_open(f, f->processes[process].pid, f->node, flags);
}

void fake_kmd_close(fake_kmd *f, int fd)
{
    do_close(f, fd);
}

void fake_kmd_kill(fake_kmd *f, uint32_t process)
{
    for (int i = 0; i < FAKE_MAX_FDS; i++) {
        if (!f->fds[i].open || f->fds[i].pid != f->processes[process].pid) continue;
        for (uint32_t id = 0; id < f->ids; id++)
            if (f->taken[id] && f->owner[id] == FIRST_FD + i) f->mapped[id] = f->zapped[id] = false;
        do_close(f, FIRST_FD + i);
    }
}

/* ---- Requests ---- */

static int allocate(fake_kmd *f, int fd, kmd_allocate_tlb *a)
{
    bool size_known = false;
    for (uint32_t id = 0; id + f->b.reserved_windows < f->ids; id++) { /* the last is the driver's */
        if (a->size != UINT64_C(1) << f->bits[id]) continue;
        size_known = true;
        if (f->taken[id]) continue;
        f->taken[id] = true;
        f->owner[id] = fd;
        a->id = id;
        a->reserved_out = 0;
        a->offset_uncached = (UINT64_C(6) << WINDOW_BASE_GIB) + f->offset[id];
        a->offset_combining = (UINT64_C(7) << WINDOW_BASE_GIB) + f->offset[id];
        if (f->version >= 134) a->reserved_more = 0;
        return 0;
    }
    return size_known ? -ENOMEM : -EINVAL;
}

/* Wormhole: one number of 64 bits; Blackhole: 96. Fields from the lowest bit, as in the documents. */
static int configure(fake_kmd *f, const kmd_configure_tlb *given)
{
    kmd_configure_tlb c = *given;
    if (f->version < 134) { /* four coordinates of 32 bits, and what follows is elsewhere */
        const uint8_t *bytes = (const uint8_t *)given;
        uint32_t at[4];
        memcpy(at, bytes + 16, sizeof at);
        c.x_end = at[0] & 63, c.y_end = at[1] & 63, c.x_start = at[2] & 63, c.y_start = at[3] & 63;
        c.noc = bytes[32], c.multicast = bytes[33], c.ordering = bytes[34];
    }
    const bool wormhole = f->b.window_format == BOARD_WINDOWS_WORMHOLE;
    uint64_t low = c.address >> f->bits[c.id], high = 0;
    unsigned at = wormhole ? 36 - f->bits[c.id] : 43;
    const struct {
        unsigned bits;
        uint64_t value;
    } fields[] = {{6, c.x_end},     {6, c.y_end},   {6, c.x_start}, {6, c.y_start}, {wormhole ? 1 : 2, c.noc},
                  {1, c.multicast}, {2, c.ordering}};
    if (c.address & ((UINT64_C(1) << f->bits[c.id]) - 1)) return -EINVAL;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; at += fields[i++].bits) {
        if (at < 64) low |= fields[i].value << at;
        if (at + fields[i].bits > 64)
            high |= at < 64 ? fields[i].value >> (64 - at) : fields[i].value << (at - 64);
    }
    f->multicasts += c.multicast;
    f->configures++;
    f->configured[c.id] = true;
    f->window_base[c.id] = c.address;
    const uint64_t base = f->config.bar0_base + f->b.window_config_offset;
    if (wormhole) return sim_bus_write(f->s, base + 8ull * c.id, &low, 8) ? 0 : -EIO;
    const uint32_t words[3] = {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high};
    for (uint32_t i = 0; i < 3; i++)
        if (!sim_bus_write(f->s, base + 12ull * c.id + 4 * i, &words[i], 4)) return -EIO;
    return 0;
}

static int driver_info(const fake_kmd *f, kmd_driver_info *d)
{
    uint32_t size = d->size_in;
    memset((char *)d + 4, 0, size < sizeof *d - 4 ? size : sizeof *d - 4);
    const bool two = f->version >= 200;
    d->size_out = two ? 12 : 8;
    d->api = two ? 2 : 1;
    if (!two || size < 12) return 0;
    d->major = 2;
    d->minor = (uint8_t)(f->version - 200);
    return 0;
}

static int lock_ctl(fake_kmd *f, fake_fd *p, kmd_lock *l)
{
    if (l->index >= 64) return -EINVAL;
    const uint64_t bit = UINT64_C(1) << l->index;
    uint8_t value = 0;
    if (l->what == KMD_LOCK_ACQUIRE) {
        value = !(f->locks & bit);
        f->locks |= bit;
        if (value) p->locks |= bit;
    } else if (l->what == KMD_LOCK_RELEASE) {
        value = (p->locks & bit) != 0;
        if (value) f->locks &= ~bit;
        p->locks &= ~bit;
    } else if (l->what == KMD_LOCK_TEST) {
        value = (uint8_t)(((f->locks & bit) != 0) << 1 | ((p->locks & bit) != 0));
    } else {
        return -EINVAL;
    }
    l->value = value;
    return 0;
}

static int set_power(fake_kmd *f, fake_fd *p, const kmd_power *power)
{
    if (power->size != sizeof *power || power->flags_in || power->reserved) return -EINVAL;
    const uint16_t told = (uint16_t)((1u << (power->valid & 15)) - 1);
    p->power = (uint16_t)((power->flags & told) | (ALL_POWER & ~told));
    f->power_requests++;
    return 0;
}

static int window_request(fake_kmd *f, int fd, uint32_t request, void *argument)
{
    const uint32_t id = *(const uint32_t *)argument;
    if (id >= FAKE_MAX_IDS) return -EINVAL;
    if (id >= f->ids || !f->taken[id] || f->owner[id] != fd) return -EPERM;
    if (request == KMD_CONFIGURE_TLB) return configure(f, argument);
    if (f->mapped[id]) return -EBUSY;
    f->taken[id] = f->configured[id] = false;
    f->frees++;
    return 0;
}

static int fake_ioctl(void *context, int fd, uint32_t request, void *argument)
{
    fake_process *process = context;
    fake_kmd *f = process->driver;
    fake_fd *p = fd_of(f, fd);
    assert_int_equal(p->pid, process->pid);
    if (request == f->failure.request && (f->failure.at == 0 || ++f->failure.seen == f->failure.at))
        return -f->failure.errnum;
    if (f->detached || p->generation != f->generation) return -ENODEV;
    if (f->in_reset && request != KMD_GET_DEVICE_INFO && request != KMD_GET_DRIVER_INFO) return -ENODEV;
    if (request == KMD_GET_DEVICE_INFO) {
        kmd_device_info *info = argument;
        assert_int_equal(info->size_in, 20);
        info->vendor = (uint16_t)f->b.pci_vendor;
        info->device = (uint16_t)f->b.pci_device;
        return 0;
    }
    if (request == KMD_GET_DRIVER_INFO) return driver_info(f, argument);
    if (request == KMD_LOCK_CTL) return lock_ctl(f, p, argument);
    if (request == KMD_SET_POWER_STATE && f->version >= 206) return set_power(f, p, argument);
    if (f->version < 132) return -EINVAL;
    if (request == KMD_ALLOCATE_TLB) return allocate(f, fd, argument);
    if (request == KMD_CONFIGURE_TLB || request == KMD_FREE_TLB)
        return window_request(f, fd, request, argument);
    return -EINVAL; /* never ENOTTY */
}

static int fake_map(void *context, int fd, uint64_t offset, size_t size, void **at)
{
    fake_process *process = context;
    fake_kmd *f = process->driver;
    if (f->detached || fd_of(f, fd)->generation != f->generation) return -ENODEV;
    assert_int_equal(offset >> WINDOW_BASE_GIB, 6); /* uncached: the order of stores matters */
    for (uint32_t id = 0; id < f->ids; id++) {
        if (!f->taken[id] || f->owner[id] != fd ||
            f->offset[id] != (offset & ((UINT64_C(1) << WINDOW_BASE_GIB) - 1)))
            continue;
        if (size != (size_t)1 << f->bits[id]) return -EINVAL;
        f->mapped[id] = true;
        f->zapped[id] = false;
        *at = f->pointers + f->offset[id];
        return 0;
    }
    return -EINVAL;
}

static void fake_unmap(void *context, void *at, size_t size)
{
    fake_process *process = context;
    fake_kmd *f = process->driver;
    for (uint32_t id = 0; id < f->ids; id++) {
        if (!f->mapped[id] || f->offset[id] != (uint64_t)((char *)at - f->pointers)) continue;
        assert_int_equal(size, (size_t)1 << f->bits[id]);
        f->mapped[id] = false;
        return;
    }
    fail_msg("unmaps what is not mapped");
}

/* ---- Accesses ---- */

/* An access through a window that is ours and shows something; the chip's time passes meanwhile. False: it is
 * SIGBUS. */
static bool bus_address(fake_kmd *f, const void *at, size_t size, uint32_t cycles, uint64_t *address)
{
    uint64_t offset = (uint64_t)((const char *)at - f->pointers);
    assert_true(size == 1 || size == 4 || size == 16);
    assert_int_equal(offset % size, 0);
    if (f->meanwhile) f->meanwhile(f, f->loads + f->stores);
    for (uint32_t id = 0; id < f->ids; id++) {
        if (!f->mapped[id] || offset < f->offset[id] ||
            offset + size > f->offset[id] + (UINT64_C(1) << f->bits[id]))
            continue;
        if (f->zapped[id]) return false;
        assert_true(f->configured[id]);
        if (!f->link_dead && !sim_clock(f->s, cycles)) fail_msg("%s", sim_fault(f->s));
        f->ps += cycles * UINT64_C(1000000) / f->mhz;
        const uint64_t shown = f->window_base[id] + offset - f->offset[id];
        const bool mailbox = shown >= f->b.mailbox.base && shown < f->b.mailbox.base + f->b.mailbox.size;
        f->polls += cycles == LOAD_CYCLES && mailbox;
        f->registers += cycles == LOAD_CYCLES && shown > UINT32_C(0xFF000000);
        *address = f->config.bar0_base + offset;
        return true;
    }
    fail_msg("an access outside of every mapped window");
    return false;
}

static int fake_load(void *context, const void *from, void *to, size_t size)
{
    fake_process *process = context;
    fake_kmd *f = process->driver;
    uint64_t address = 0;
    f->loads++;
    if (!bus_address(f, from, size, LOAD_CYCLES, &address)) return -EIO;
    memset(to, 0xFF, size);
    if (f->link_dead) return 0;
    if (!sim_bus_read(f->s, address, to, (uint32_t)size)) fail_msg("%s", sim_fault(f->s));
    return 0;
}

static int fake_store(void *context, void *to, const void *from, size_t size)
{
    fake_process *process = context;
    fake_kmd *f = process->driver;
    uint64_t address = 0;
    f->stores++;
    if (!bus_address(f, to, size, STORE_CYCLES, &address)) return -EIO;
    if (!f->link_dead && !sim_bus_write(f->s, address, from, (uint32_t)size)) fail_msg("%s", sim_fault(f->s));
    return 0;
}

/* ---- Files ---- */

static int fake_read_text(void *context, const char *path, char *out, size_t size)
{
    fake_process *process = context;
    const fake_kmd *f = process->driver;
    size_t used = 0;
    char file[64];
    snprintf(file, sizeof file, "/proc/driver/tenstorrent/%s/pids", strrchr(f->node, '/') + 1);
    out[0] = 0;
    if (strcmp(path, file) == 0 && f->version >= 205 && !f->detached) {
        for (int i = 0; i < FAKE_MAX_FDS; i++)
            if (f->fds[i].open) used += (size_t)snprintf(out + used, size - used, "%d\n", f->fds[i].pid);
        return (int)used;
    }
    const char *sys = strstr(path, "/device/");
    if (sys && strstr(path, "tenstorrent!3/")) {
        if (strcmp(sys, "/device/vendor") == 0) return snprintf(out, size, "0x%04x\n", f->b.pci_vendor);
        if (strcmp(sys, "/device/device") == 0) return snprintf(out, size, "0x%04x\n", f->b.pci_device);
        uint32_t id = f->link_dead ? UINT32_MAX : f->b.pci_vendor | f->b.pci_device << 16;
        memcpy(out, &id, size - 1 < 4 ? size - 1 : 4);
        return (int)(size - 1 < 4 ? size - 1 : 4);
    }
    if (strcmp(path, "/sys/module/tenstorrent/version") == 0)
        return snprintf(out, size, "%d.%d\n", f->version / 100, f->version % 100);
    for (uint32_t i = 0; i < f->n_processes; i++) {
        snprintf(file, sizeof file, "/proc/%d/comm", f->processes[i].pid);
        if (strcmp(path, file) == 0) return snprintf(out, size, "%s\n", f->processes[i].comm);
    }
    return -ENOENT;
}

static int fake_list(void *context, const char *folder, void (*each)(void *to, const char *name), void *to)
{
    fake_process *process = context;
    const fake_kmd *f = process->driver;
    if (strcmp(folder, "/dev/tenstorrent") != 0 || f->no_node || f->detached) return -ENOENT;
    static const char *const names[] = {"10", "3", "by-id",
                                        "0"}; /* of two other cards there is no more than this */
    for (int i = 0; i < 4; i++)
        each(to, names[i]);
    return 4;
}

static int fake_self(void *context)
{
    const fake_process *process = context;
    return process->pid;
}

static void fake_wait(void *context, uint32_t ms)
{
    fake_process *process = context;
    pass_ms(process->driver, ms);
    if (process->driver->meanwhile)
        process->driver->meanwhile(process->driver, process->driver->loads + process->driver->stores);
}

static uint64_t fake_now(void *context)
{
    const fake_process *process = context;
    return process->driver->ps / 1000;
}

/* ---- What happens to a card ---- */

static void zap(fake_kmd *f)
{
    for (uint32_t id = 0; id < f->ids; id++)
        if (f->mapped[id]) f->zapped[id] = true;
}

void fake_kmd_reset(fake_kmd *f)
{
    zap(f);
    f->in_reset = true;
    f->generation++;
    f->locks &= f->locks; /* they survive a reset, until their holder closes */
    if (f->version < 210) return;
    for (uint32_t id = 0; id < f->ids; id++) /* windows of the dead go back */
        f->taken[id] = f->taken[id] && f->mapped[id];
}

void fake_kmd_post_reset(fake_kmd *f)
{
    f->in_reset = false;
}

void fake_kmd_unplug(fake_kmd *f)
{
    zap(f);
    f->detached = true;
}

/* ---- The machine ---- */

static void set_tag(sim_arc_config *a, uint32_t tag, uint32_t value)
{
    for (uint32_t i = 0; i < a->n_tags; i++) {
        if (a->tags[i].tag != tag) continue;
        a->tags[i].value = value;
        return;
    }
    a->tags[a->n_tags].tag = tag;
    a->tags[a->n_tags++].value = value;
}

void fake_kmd_harvest(fake_kmd *f, uint64_t dead)
{
    const board *b = &f->b;
    uint32_t fuses = 0, blown = 0;
    for (uint32_t i = 0; i < b->arc.n_fuses; i++) {
        fuses |= (uint32_t)(dead >> b->arc.fuses[i] & 1) << i;
        blown += dead >> b->arc.fuses[i] & 1;
    }
    /* With translation of coordinates, which firmware switches on, Blackhole's last columns are the dead
     * ones. */
    uint64_t gone = dead;
    if (b->arc.columns) {
        gone = 0;
        for (uint32_t i = 0; i < blown; i++)
            gone |= UINT64_C(1) << b->columns[b->n_columns - 1 - i];
        set_tag(&f->config.arc, ENABLED_COLUMNS, ((1u << b->arc.n_fuses) - 1) & ~fuses);
        set_tag(&f->config.arc, TRANSLATION, 1);
    } else {
        f->config.arc.harvested = fuses & 0x155; /* some by their memory, the others by their logic */
        f->config.arc.harvested |= (fuses & ~0x155u) << 10;
    }
    for (uint32_t i = 0; i < f->config.n_tiles; i++) {
        sim_tile_config *t = &f->config.tiles[i];
        t->dead = t->kind == SIM_TILE_TENSIX && gone >> (b->arc.columns ? t->x : t->y) & 1;
    }
}

/* As many lines of the board as a chip of this kind can lose; other ones for each machine of a test program. */
static uint64_t some_dead(const board *b)
{
    static uint32_t seed;
    uint64_t mask = 0;
    seed = seed * 1664525u + 1013904223u;
    for (uint32_t n = (seed >> 8) % (b->arc.columns ? 5 : 3); n > 0; n--) {
        seed = seed * 1664525u + 1013904223u;
        mask |= UINT64_C(1) << b->arc.fuses[(seed >> 8) % b->arc.n_fuses];
    }
    return mask;
}

void fake_kmd_start(fake_kmd *f, const char *board_name, int version, void (*change)(fake_kmd *f))
{
    sim_world_options world;
    devlog_error err = {0};
    char why[256];
    memset(f, 0, sizeof *f);
    check_ok(board_load(board_name, &f->b, &err), &err);
    board_to_sim(&f->b, &f->config, &world);
    f->version = version;
    snprintf(f->node, sizeof f->node, "/dev/tenstorrent/3");
    f->busy_mhz = f->b.mhz;
    f->idle_mhz = f->mhz = f->b.arc.columns ? 800 : 500;
    set_tag(&f->config.arc, HARVESTING_STATE, 0);
    set_tag(&f->config.arc, AICLK, f->mhz);
    set_tag(&f->config.arc, AICLK_MAX, f->busy_mhz);
    fake_kmd_harvest(f, some_dead(&f->b));
    if (change) change(f);
    f->s = sim_create(&f->config, why, sizeof why);
    if (!f->s) fail_msg("%s", why);
    f->pointers = (char *)(uintptr_t)0x100000000000;
    uint64_t offset = 0;
    for (uint32_t k = 0; k < f->b.n_classes; k++) {
        for (uint32_t i = 0; i < f->b.classes[k].count && f->ids < FAKE_MAX_IDS; i++) {
            f->bits[f->ids] = f->b.classes[k].bits;
            f->offset[f->ids++] = offset;
            offset += UINT64_C(1) << f->b.classes[k].bits;
        }
    }
    fake_kmd_process(f, 4711, "program");
}

void fake_kmd_end(fake_kmd *f)
{
    sim_destroy(f->s);
    f->s = NULL;
}

uint32_t fake_kmd_process(fake_kmd *f, int pid, const char *comm)
{
    assert_true(f->n_processes < FAKE_MAX_PROCESSES);
    fake_process *p = &f->processes[f->n_processes];
    *p = (fake_process){.driver = f, .pid = pid};
    snprintf(p->comm, sizeof p->comm, "%s", comm);
    return f->n_processes++;
}

kmd_system fake_kmd_system(fake_kmd *f, uint32_t process)
{
    return (kmd_system){.context = &f->processes[process],
                        .open = fake_open,
                        .close = fake_close,
                        .ioctl = fake_ioctl,
                        .map = fake_map,
                        .unmap = fake_unmap,
                        .load = fake_load,
                        .store = fake_store,
                        .read_text = fake_read_text,
                        .list = fake_list,
                        .self = fake_self,
                        .wait_ms = fake_wait,
                        .now_ns = fake_now};
}

void fake_kmd_nothing_kept(const fake_kmd *f)
{
    for (int i = 0; i < FAKE_MAX_FDS; i++)
        if (f->fds[i].open) fail_msg("process %d has the node open", f->fds[i].pid);
    for (uint32_t id = 0; id < f->ids; id++)
        assert_false(f->taken[id] || f->mapped[id]);
    assert_int_equal(f->locks, 0);
}
