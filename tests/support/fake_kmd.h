/* A fake of the kernel driver with a simulated chip behind its windows, for transport "kmd": it answers as
 * tt-kmd does, by version, to several processes at once. What it cannot show: that the real driver answers
 * alike (docs/boards.md). Source: tenstorrent/tt-kmd, tags 1.31 to 2.10.0, ioctl.h, chardev.c, memory.c,
 * tlb.c, enumerate.c. */
#ifndef DEVLOG_TESTS_FAKE_KMD_H
#define DEVLOG_TESTS_FAKE_KMD_H

#include "device/board.h"
#include "sim/sim.h"
#include "support/device.h"
#include "transport/kmd.h"

enum { FAKE_MAX_IDS = 256, FAKE_MAX_FDS = 16, FAKE_MAX_PROCESSES = 8, FAKE_NO_FAILURE = 0 };

typedef struct fake_kmd fake_kmd;

typedef struct fake_process {
    fake_kmd *driver;
    int pid;
    char comm[24];
} fake_process;

typedef struct fake_fd {
    bool open;
    int pid, flags;
    long generation;
    uint64_t locks;
    uint16_t power;
} fake_fd;

struct fake_kmd {
    board b;
    sim_config config;
    sim *s;
    int version; /* 131, 132, 133, 134, 200 .. 210: major and minor */
    char node[64];
    fake_process processes[FAKE_MAX_PROCESSES];
    uint32_t n_processes;
    fake_fd fds[FAKE_MAX_FDS];
    long generation; /* counts resets: what was opened before is dead */
    bool detached, in_reset, exclusive;
    bool link_dead, no_node;
    uint64_t locks;

    bool taken[FAKE_MAX_IDS], mapped[FAKE_MAX_IDS], zapped[FAKE_MAX_IDS], configured[FAKE_MAX_IDS];
    int owner[FAKE_MAX_IDS];
    uint64_t offset[FAKE_MAX_IDS]; /* of each window in BAR0 */
    uint8_t bits[FAKE_MAX_IDS];
    uint32_t ids;
    char *pointers; /* where windows are "mapped": BAR0 as addresses that are never touched */

    uint32_t idle_mhz, busy_mhz, mhz; /* AICLK: without and with MAX_AI_CLK, and now */
    uint32_t power_requests;
    uint32_t frees, multicasts, configures;
    uint64_t loads, stores, waited_ms, ps; /* ps: the time of the machine */
    uint64_t window_base[FAKE_MAX_IDS];    /* what each shows, from which address on */
    uint64_t polls, registers;             /* of the loads: those of mailboxes and of registers (clocks) */
    uint32_t open_failure;                 /* errno of every open */
    struct {
        uint32_t request; /* that fails.. */
        int errnum;       /* ..like this */
        uint32_t at;      /* the how many-th of them, counted from 1; 0: each */
        uint32_t seen;
    } failure;
    /* Called before each access of the bus, with how many there have been: a test does something meanwhile.
     */
    void (*meanwhile)(fake_kmd *f, uint64_t accesses);
    uint64_t script[4]; /* for it */
};

/* A machine with one card, /dev/tenstorrent/3, and one process. Some of the chip's tiles are switched off, and touching one
 * fails the test. `change` may alter the chip before it is switched on. */
void fake_kmd_start(fake_kmd *f, const char *board_name, int version, void (*change)(fake_kmd *f));
void fake_kmd_end(fake_kmd *f);

/* A process; 0 is there from the start. */
kmd_system fake_kmd_system(fake_kmd *f, uint32_t process);
uint32_t fake_kmd_process(fake_kmd *f, int pid, const char *comm);
/* Opens the node as another program would; its file descriptor, or a negative errno. */
int fake_kmd_open(fake_kmd *f, uint32_t process, int flags);
void fake_kmd_close(fake_kmd *f, int fd);
/* kill -9: the kernel closes what it had open. */
void fake_kmd_kill(fake_kmd *f, uint32_t process);

void fake_kmd_reset(fake_kmd *f);      /* USER_RESET by another program */
void fake_kmd_post_reset(fake_kmd *f); /* the card is back */
void fake_kmd_unplug(fake_kmd *f);

/* Columns (Blackhole) or rows (Wormhole) that are switched off, by NoC coordinate: the chip hangs when they
 * are touched, and its management core says so. For `change`. */
void fake_kmd_harvest(fake_kmd *f, uint64_t dead);

/* Fails the test when something is open, taken, mapped or locked. */
void fake_kmd_nothing_kept(const fake_kmd *f);

#endif
