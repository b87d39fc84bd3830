/* The C ABI of libttsim: seven functions that present a simulated PCIe device. Both our own simulator
 * and tenstorrent/ttsim export it, so that one driver path serves both.
 * Source of the contract: tenstorrent/ttsim, docs/libttsim_api.md, "API reference".
 *
 * The library is a singleton per process, single-threaded; addresses given to the pci_mem functions are
 * BAR base (read from config space) plus offset. A violation ends the process: there are no error codes. */
#ifndef DEVLOG_TRANSPORT_TTSIM_ABI_H
#define DEVLOG_TRANSPORT_TTSIM_ABI_H

#include <stdint.h>

typedef void ttsim_init_fn(void);
typedef void ttsim_exit_fn(void);
typedef void ttsim_set_pci_dma_mem_callbacks_fn(void (*rd)(uint64_t paddr, void *dst, uint32_t size),
                                                void (*wr)(uint64_t paddr, const void *src, uint32_t size));
typedef uint32_t ttsim_pci_config_rd32_fn(uint32_t bus_device_function, uint32_t offset);
typedef void ttsim_pci_config_wr32_fn(uint32_t bus_device_function, uint32_t offset, uint32_t data);
typedef void ttsim_pci_mem_rd_bytes_fn(uint64_t paddr, void *dst, uint32_t size);
typedef void ttsim_pci_mem_wr_bytes_fn(uint64_t paddr, const void *src, uint32_t size);
typedef void ttsim_clock_fn(uint32_t n_clocks);

/* Not of that contract: libdevlogsim.so has it, and says whether its cycles are those that the chip would take.
 * tenstorrent/ttsim has not: each of its harts does an instruction a cycle (docs/simulator.md, the comparison). */
#define TTSIM_TIMED "devlog_sim_timed"
typedef uint32_t devlog_sim_timed_fn(void);

#endif
