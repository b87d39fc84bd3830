/* Transport "sim": the built-in simulator, in this process, through its PCIe window like any other chip, or,
 * for a board that has none, as a debugger sees its memory. */
#include <stdlib.h>

#include "transport/pcie.h"

typedef struct sim_transport {
    sim *s;
    sim_place *place;
    bool windowed;
    uint64_t bar0;
    pcie_windows windows;
} sim_transport;

static devlog_status refusal(const sim_transport *t, devlog_error *err)
{
    const char *why = sim_fault(sim_world_stopped(t->place));
    return dl_fail(err, DEVLOG_ERR_DEVICE, "the simulator stopped: %s", why ? why : "no reason given");
}

static devlog_status bar_read(void *owner, uint64_t offset, void *dst, uint32_t size, devlog_error *err)
{
    sim_transport *t = owner;
    return sim_bus_read(t->s, t->bar0 + offset, dst, size) ? DEVLOG_OK : refusal(t, err);
}

static devlog_status bar_write(void *owner, uint64_t offset, const void *src, uint32_t size,
                               devlog_error *err)
{
    sim_transport *t = owner;
    return sim_bus_write(t->s, t->bar0 + offset, src, size) ? DEVLOG_OK : refusal(t, err);
}

static void sim_close(dl_transport *t)
{
    sim_transport *state = t->state;
    if (!state) return;
    sim_world_leave(state->place);
    sim_destroy(state->s);
    free(state);
}

static devlog_status sim_open(dl_transport *t, const dl_transport_setup *setup, devlog_error *err)
{
    if (!setup->sim || !setup->world)
        return dl_fail(err, DEVLOG_ERR_UNSUPPORTED, "this board cannot be simulated");
    if (setup->attach)
        return dl_fail(err, DEVLOG_ERR_UNSUPPORTED,
                       "the simulator lives in the process that uses it, so there is nothing to look at: set "
                       "DEVLOG_POSTMORTEM=FILE there, and look at FILE");
    sim_transport *state = calloc(1, sizeof *state);
    if (!state) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the simulator");
    char why[256] = "";
    state->s = sim_create(setup->sim, why, sizeof why);
    if (!state->s) {
        free(state);
        return dl_fail(err, DEVLOG_ERR_DEVICE, "cannot start the simulator: %s", why);
    }
    sim_place *other =
        setup->peer && setup->peer->ops == t->ops ? ((sim_transport *)setup->peer->state)->place : NULL;
    state->place = sim_world_enter(state->s, setup->world, other);
    if (!state->place) {
        sim_destroy(state->s);
        free(state);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "no room for another simulated chip in this world");
    }
    t->state = state;
    t->instructions = setup->sim->functional;
    state->windowed = setup->layout != NULL;
    if (!state->windowed) return DEVLOG_OK;
    state->bar0 = (sim_config_read(state->s, 0x10) & ~0xFu) | (uint64_t)sim_config_read(state->s, 0x14) << 32;
    pcie_bar bar = {.owner = state, .read = bar_read, .write = bar_write};
    devlog_status status = pcie_windows_init(&state->windows, &bar, setup->layout, err);
    if (status != DEVLOG_OK) sim_close(t);
    return status;
}

/* Without a window: every tile of the rectangle in turn; only compute tiles are there. */
static devlog_status direct(sim_transport *t, dl_target at, uint64_t addr, void *dst, const void *src,
                            size_t size, devlog_error *err)
{
    for (uint32_t y = at.y0; y <= at.y1; y++) {
        for (uint32_t x = at.x0; x <= at.x1; x++) {
            int tile = sim_tile_at(t->s, x, y);
            if (tile < 0) continue;
            bool ok = dst ? sim_tile_read(t->s, (uint32_t)tile, (uint32_t)addr, dst, (uint32_t)size)
                          : sim_tile_write(t->s, (uint32_t)tile, (uint32_t)addr, src, (uint32_t)size);
            if (!ok && sim_fault(t->s)) return refusal(t, err);
            if (!ok)
                return dl_fail(err, DEVLOG_ERR_DEVICE,
                               "nothing at 0x%08x (%zu bytes) of tile (%u,%u) can be accessed from outside",
                               (unsigned)addr, size, x, y);
        }
    }
    return DEVLOG_OK;
}

/* A refusal is final, but memory and core states can still be looked at. */
static devlog_status look(const sim_transport *t, dl_target at, uint64_t addr, void *dst, size_t size,
                          devlog_error *err)
{
    int tile = sim_tile_at(t->s, at.x0, at.y0);
    if (tile >= 0 && sim_tile_read(t->s, (uint32_t)tile, (uint32_t)addr, dst, (uint32_t)size))
        return DEVLOG_OK;
    return refusal(t, err);
}

static devlog_status sim_read(dl_transport *t, dl_target at, uint64_t addr, void *dst, size_t size,
                              devlog_error *err)
{
    sim_transport *state = t->state;
    if (sim_fault(state->s)) return look(state, at, addr, dst, size, err);
    if (!sim_world_access(state->place)) return refusal(state, err);
    devlog_status status = state->windowed ? pcie_windows_read(&state->windows, at, addr, dst, size, err)
                                           : direct(state, at, addr, dst, NULL, size, err);
    return status == DEVLOG_OK && !sim_world_access(state->place) ? refusal(state, err) : status;
}

static devlog_status sim_write(dl_transport *t, dl_target at, uint64_t addr, const void *src, size_t size,
                               devlog_error *err)
{
    sim_transport *state = t->state;
    if (!sim_world_access(state->place)) return refusal(state, err);
    devlog_status status = state->windowed ? pcie_windows_write(&state->windows, at, addr, src, size, err)
                                           : direct(state, at, addr, NULL, src, size, err);
    return status == DEVLOG_OK && !sim_world_access(state->place) ? refusal(state, err) : status;
}

static devlog_status sim_hold(dl_transport *t, dl_target at, uint32_t held, devlog_error *err)
{
    (void)err;
    sim_transport *state = t->state;
    int tile = sim_tile_at(state->s, at.x0, at.y0);
    for (uint32_t hart = 0; tile >= 0 && hart < SIM_MAX_HARTS; hart++)
        sim_hart_reset(state->s, (uint32_t)tile, hart, held >> hart & 1);
    return DEVLOG_OK;
}

static devlog_status sim_advance(dl_transport *t, uint32_t cycles, devlog_error *err)
{
    sim_transport *state = t->state;
    return sim_world_cycles(state->place, cycles) ? DEVLOG_OK : refusal(state, err);
}

static uint64_t sim_now(dl_transport *t)
{
    const sim_transport *state = t->state;
    return sim_world_ns(state->place);
}

static bool sim_hart_pc(dl_transport *t, dl_target at, uint32_t hart, uint32_t *pc)
{
    sim_transport *state = t->state;
    sim_hart_state hs;
    int tile = sim_tile_at(state->s, at.x0, at.y0);
    if (tile < 0 || !sim_hart(state->s, (uint32_t)tile, hart, &hs)) return false;
    *pc = hs.pc;
    return true;
}

static bool sim_where_cycles_went(dl_transport *t, dl_target at, uint32_t hart, sim_cycles **out, size_t *n)
{
    sim_transport *state = t->state;
    int tile = sim_tile_at(state->s, at.x0, at.y0);
    return tile >= 0 && sim_cycles_take(state->s, (uint32_t)tile, hart, out, n);
}

static bool sim_stopped_by(dl_transport *t, dl_target *at, uint32_t *hart)
{
    const sim_transport *state = t->state;
    uint32_t tile;
    if (!sim_fault_by(state->s, &tile, hart)) return false;
    sim_tile_place(state->s, tile, &at->x0, &at->y0);
    return true;
}

const dl_transport_ops dl_transport_ops_sim = {
    .name = "sim",
    .summary = "the built-in simulator",
    .open = sim_open,
    .close = sim_close,
    .read = sim_read,
    .write = sim_write,
    .hold = sim_hold,
    .advance = sim_advance,
    .now_ns = sim_now,
    .hart_pc = sim_hart_pc,
    .cycles = sim_where_cycles_went,
    .stopped_by = sim_stopped_by,
};

sim *dl_transport_sim(dl_transport *t)
{
    if (t->ops != &dl_transport_ops_sim) return NULL;
    sim_transport *state = t->state;
    return state->s;
}
