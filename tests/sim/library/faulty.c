/* A libttsim.so that behaves badly as it is asked to, by stores to its BAR: it ends its process in every way that there is, once
 * and twice. For test_ttsim_chips.c; the functions are those of transport/ttsim_abi.h. It simulates nothing. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/ttsim_abi.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT ttsim_init_fn libttsim_init;
EXPORT ttsim_pci_config_rd32_fn libttsim_pci_config_rd32;
EXPORT ttsim_pci_mem_rd_bytes_fn libttsim_pci_mem_rd_bytes;
EXPORT ttsim_pci_mem_wr_bytes_fn libttsim_pci_mem_wr_bytes;
EXPORT ttsim_clock_fn libttsim_clock;

/* The first at the next cycle, the second at the next reading. */
static uint8_t ways[2];

static void end_by(uint8_t way)
{
    int *volatile nowhere = (int *)8; /* volatile: compilers refuse to write there when they see it */
    switch (way) {
    case 'E': exit(1);
    case '_': _Exit(1);
    case 'a': abort();
    case 's': raise(SIGSEGV); break;
    case 'w': *nowhere = 1; break;
    case 'k': raise(SIGKILL); break;
    }
}

void libttsim_init(void) {}

uint32_t libttsim_pci_config_rd32(uint32_t bus_device_function, uint32_t offset)
{
    (void)offset;
    return bus_device_function ? UINT32_MAX : 0;
}

void libttsim_pci_mem_rd_bytes(uint64_t paddr, void *dst, uint32_t size)
{
    (void)paddr;
    end_by(ways[1]);
    memset(dst, 7, size);
}

void libttsim_pci_mem_wr_bytes(uint64_t paddr, const void *src, uint32_t size)
{
    if (size == sizeof ways) memcpy(ways, src, sizeof ways);
    (void)paddr;
}

void libttsim_clock(uint32_t n_clocks)
{
    (void)n_clocks;
    end_by(ways[0]);
}
