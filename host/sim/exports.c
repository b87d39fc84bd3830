/* The C ABI of libttsim on top of the simulator: one chip per process.
 *
 * What it is for: programs that load a libttsim.so can load devlog's simulator instead
 * (transport/ttsim_abi.h). What it is not: part of devlog itself, which uses sim.h. As the ABI says, whatever
 * goes wrong ends the process; the reason is one line on stderr. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/shipped.h"
#include "transport/ttsim_abi.h"

#define EXPORT __attribute__((visibility("default")))

static sim *the_chip;

EXPORT ttsim_init_fn libttsim_init;
EXPORT ttsim_exit_fn libttsim_exit;
EXPORT ttsim_set_pci_dma_mem_callbacks_fn libttsim_set_pci_dma_mem_callbacks;
EXPORT ttsim_pci_config_rd32_fn libttsim_pci_config_rd32;
EXPORT ttsim_pci_config_wr32_fn libttsim_pci_config_wr32;
EXPORT ttsim_pci_mem_rd_bytes_fn libttsim_pci_mem_rd_bytes;
EXPORT ttsim_pci_mem_wr_bytes_fn libttsim_pci_mem_wr_bytes;
EXPORT ttsim_clock_fn libttsim_clock;

__attribute__((noreturn)) static void give_up(const char *reason)
{
    fprintf(stderr, "devlog simulator: %s\n", reason);
    _Exit(1);
}

static sim *running(void)
{
    if (!the_chip) give_up("libttsim_init has not been called");
    return the_chip;
}

void libttsim_init(void)
{
    const char *board = getenv("DEVLOG_SIM_BOARD");
    char why[256];
    if (the_chip) give_up("libttsim_init has been called twice");
    if (!board || !*board) board = "wormhole_b0";
    const sim_config *config = sim_shipped_config(board);
    if (!config) {
        snprintf(why, sizeof why, "there is no board '%s' (DEVLOG_SIM_BOARD)", board);
        give_up(why);
    }
    the_chip = sim_create(config, why, sizeof why);
    if (!the_chip) give_up(why);
}

void libttsim_exit(void)
{
    sim_destroy(running());
    the_chip = NULL;
}

/* No part of the chip that is modelled accesses the host's memory, so the functions are never called. */
void libttsim_set_pci_dma_mem_callbacks(void (*rd)(uint64_t, void *, uint32_t),
                                        void (*wr)(uint64_t, const void *, uint32_t))
{
    (void)rd;
    (void)wr;
    if (the_chip) give_up("DMA callbacks have to be set before libttsim_init");
}

uint32_t libttsim_pci_config_rd32(uint32_t bus_device_function, uint32_t offset)
{
    sim *s = running();
    if (bus_device_function & ~0xf8u)
        give_up("config space: only devices of bus 0, function 0 can be asked for");
    if (offset & 3) give_up("config space: the offset is not a multiple of four");
    return bus_device_function ? UINT32_MAX : sim_config_read(s, offset);
}

void libttsim_pci_config_wr32(uint32_t bus_device_function, uint32_t offset, uint32_t data)
{
    (void)bus_device_function;
    (void)offset;
    (void)data;
    give_up("config space: writes are not modelled");
}

void libttsim_pci_mem_rd_bytes(uint64_t paddr, void *dst, uint32_t size)
{
    if (!sim_bus_read(running(), paddr, dst, size)) give_up(sim_fault(the_chip));
}

void libttsim_pci_mem_wr_bytes(uint64_t paddr, const void *src, uint32_t size)
{
    if (!sim_bus_write(running(), paddr, src, size)) give_up(sim_fault(the_chip));
}

void libttsim_clock(uint32_t n_clocks)
{
    if (!sim_clock(running(), n_clocks)) give_up(sim_fault(the_chip));
}
