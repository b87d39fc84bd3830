/* The C ABI of libttsim on top of the simulator: one chip per process, or as many as DEVLOG_SIM_CHIPS says, each a device of
 * the PCI bus, on one clock.
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

/* Chip i's BARs are so much further than chip 0's, as in tenstorrent/ttsim (src/libttsim.cpp). */
#define STRIDE (UINT64_C(1) << 36)
enum { MOST_CHIPS = 8 };

static sim *chips[MOST_CHIPS];
static uint32_t n_chips;

EXPORT ttsim_init_fn libttsim_init;
EXPORT ttsim_exit_fn libttsim_exit;
EXPORT ttsim_set_pci_dma_mem_callbacks_fn libttsim_set_pci_dma_mem_callbacks;
EXPORT ttsim_pci_config_rd32_fn libttsim_pci_config_rd32;
EXPORT ttsim_pci_config_wr32_fn libttsim_pci_config_wr32;
EXPORT ttsim_pci_mem_rd_bytes_fn libttsim_pci_mem_rd_bytes;
EXPORT ttsim_pci_mem_wr_bytes_fn libttsim_pci_mem_wr_bytes;
EXPORT ttsim_clock_fn libttsim_clock;
EXPORT devlog_sim_timed_fn devlog_sim_timed;

__attribute__((noreturn)) static void give_up(const char *reason)
{
    fprintf(stderr, "devlog simulator: %s\n", reason);
    _Exit(1);
}

static sim *running(uint32_t i)
{
    if (!n_chips) give_up("libttsim_init has not been called");
    if (i >= n_chips) give_up("there is no such chip");
    return chips[i];
}

void libttsim_init(void)
{
    const char *board = getenv("DEVLOG_SIM_BOARD"), *many = getenv("DEVLOG_SIM_CHIPS");
    char why[256];
    if (n_chips) give_up("libttsim_init has been called twice");
    if (!board || !*board) board = "wormhole_b0";
    const sim_config *config = sim_shipped_config(board);
    if (!config) {
        snprintf(why, sizeof why, "there is no board '%s' (DEVLOG_SIM_BOARD)", board);
        give_up(why);
    }
    char *end = NULL;
    const unsigned long wanted = many && *many ? strtoul(many, &end, 10) : 1;
    if ((end && (*end || *many < '0' || *many > '9')) || wanted < 1 || wanted > MOST_CHIPS)
        give_up("DEVLOG_SIM_CHIPS is not a number from 1 to 8");
    for (; n_chips < wanted; n_chips++) {
        chips[n_chips] = sim_create(config, why, sizeof why);
        if (!chips[n_chips]) give_up(why);
    }
}

void libttsim_exit(void)
{
    running(0);
    while (n_chips)
        sim_destroy(chips[--n_chips]);
}

/* The fault is told, and the process ends; whoever keeps it from that (transport/ttsim_child.c) can read the chip. */
static void fault(sim *s)
{
    sim_look(s);
    give_up(sim_fault(s));
}

/* No part of the chip that is modelled accesses the host's memory, so the functions are never called. */
void libttsim_set_pci_dma_mem_callbacks(void (*rd)(uint64_t, void *, uint32_t),
                                        void (*wr)(uint64_t, const void *, uint32_t))
{
    (void)rd;
    (void)wr;
    if (n_chips) give_up("DMA callbacks have to be set before libttsim_init");
}

uint32_t libttsim_pci_config_rd32(uint32_t bus_device_function, uint32_t offset)
{
    running(0);
    const uint32_t device = bus_device_function >> 3;
    if (bus_device_function & ~0xf8u)
        give_up("config space: only devices of bus 0, function 0 can be asked for");
    if (offset & 3) give_up("config space: the offset is not a multiple of four");
    if (device >= n_chips) return UINT32_MAX;
    uint32_t word = sim_config_read(chips[device], offset);
    return offset == 0x14 ? word + device * (uint32_t)(STRIDE >> 32) : word;
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
    const uint32_t i = (uint32_t)(paddr / STRIDE);
    if (!sim_bus_read(running(i), paddr % STRIDE, dst, size)) fault(chips[i]);
}

void libttsim_pci_mem_wr_bytes(uint64_t paddr, const void *src, uint32_t size)
{
    const uint32_t i = (uint32_t)(paddr / STRIDE);
    if (!sim_bus_write(running(i), paddr % STRIDE, src, size)) fault(chips[i]);
}

void libttsim_clock(uint32_t n_clocks)
{
    running(0);
    for (uint32_t i = 0; i < n_chips; i++)
        if (!sim_clock(chips[i], n_clocks)) fault(chips[i]);
}

uint32_t devlog_sim_timed(void)
{
    return 1; /* no option of it makes it functional */
}
