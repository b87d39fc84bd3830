/* Bench of the simulator: millions of instructions per second of one busy core, of the five of a tile, and of a whole chip, for
 * both chips, with and without the cost of instructions; and of another libttsim.so (tenstorrent/ttsim) beside it, by the same C
 * ABI, the same code and the same count. Each measurement is a process of its own, since these libraries are one chip per process;
 * all take turns, and the fastest of each counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device/board_sim.h"
#include "device/device.h"
#include "support/sim_asm.h"
#include "transport/transport.h"

enum { TURNS = 3, WARM = 2000, COUNTERS = 0x60000, DATA = 0x61000, APART = 0x100, MOST_WORDS = 64 };

static devlog_error err;

static void must(devlog_status status)
{
    if (status == DEVLOG_OK) return;
    fprintf(stderr, "bench: %s\n", err.text);
    exit(1);
}

/* What kernels do: a loop over words of L1, with a stack in local RAM, some arithmetic and two branches. Counts its rounds. */
static uint32_t program(uint32_t *code, uint32_t risc, uint32_t local, uint32_t *per_round)
{
    const uint32_t start[] = {RV_LI(T0, DATA + APART * risc), RV_LI(T1, local),
                              RV_LI(T2, COUNTERS + 16 * risc), RV_LI(A0, 12345), RV_LI(S2, 0)};
    const uint32_t loop[] = {
        RV_ADDI(S2, S2, 1),  RV_LW(A1, T0, 0),      RV_LW(A2, T0, 4),    RV_SLLI(A3, A0, 5),
        RV_XOR(A0, A0, A3),  RV_SRLI(A3, A0, 7),    RV_XOR(A0, A0, A3),  RV_ADD(A1, A1, A2),
        RV_SW(A1, T1, 16),   RV_ANDI(A4, A0, 0x3C), RV_ADD(A4, A4, T0),  RV_LW(A5, A4, 64),
        RV_ADDI(A6, A0, 99), RV_MUL(A6, A6, S2),    RV_ADD(A5, A5, A6),  RV_LW(A1, T1, 16),
        RV_SW(A5, T0, 4),    RV_SUB(A1, A1, A5),    RV_SLTU(A2, A1, A5), RV_BEQ(A2, ZERO, 8),
        RV_ADDI(A1, A1, 1),  RV_OR(A3, A1, A2),     RV_ADDI(A3, A3, -5), RV_SW(S2, T2, 0),
    };
    const uint32_t n = sizeof start / 4, m = sizeof loop / 4;
    memcpy(code, start, sizeof start);
    memcpy(code + n, loop, sizeof loop);
    code[n + m] = RV_JAL(ZERO, -4 * (int32_t)m);
    *per_round = m; /* and the jump; the branch is mostly taken, over one */
    return n + m + 1;
}

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    if (clock_gettime(clock, &t) != 0) return 0;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of processor time, of this process and of those that it has started: a libttsim runs in one (transport/ttsim_child.h). */
static double seconds(void)
{
    char path[64], list[256] = "";
    double sum = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *f = fopen(path, "r");
    if (!f || !fgets(list, sizeof list, f)) list[0] = 0;
    if (f) fclose(f);
    for (char *at = list, *end; *at; at = end) {
        clockid_t clock;
        const long pid = strtol(at, &end, 10);
        if (end == at) break;
        if (clock_getcpuclockid((pid_t)pid, &clock) == 0) sum += seconds_of(clock);
    }
    return sum;
}

/* Millions of instructions per second of `riscs` of each of `tiles`. */
static double measure(const char *library, bool functional, const board *b, uint32_t tiles, uint32_t riscs,
                      double for_s)
{
    static sim_config config;
    sim_world_options world;
    dl_transport t = {0};
    dl_window_layout layout;
    uint32_t per_round = 0, bits = 0;
    device_window_layout(b, &layout);
    board_to_sim(b, &config, &world);
    config.functional = functional;
    const dl_transport_setup setup = {
        .path = library, .sim = &config, .world = &world, .layout = &layout, .mhz = b->mhz};
    must(dl_transport_open(&t, dl_transport_find(library ? "ttsim" : "sim"), &setup, &err));
    for (uint32_t i = 0; i < tiles; i++) {
        const dl_target at = {b->columns[i % b->n_columns], b->rows[i / b->n_columns],
                              b->columns[i % b->n_columns], b->rows[i / b->n_columns]};
        static const uint32_t zeros[APART * 8 / 4];
        must(dl_write(&t, at, b->soft_reset, &b->soft_reset_init, 4, &err));
        must(dl_write(&t, at, COUNTERS, zeros, sizeof zeros, &err));
        must(dl_write(&t, at, DATA, zeros, sizeof zeros, &err));
        for (uint32_t r = 0; r < riscs; r++) {
            uint32_t code[MOST_WORDS], n = program(code, r, b->riscs[r].local.base, &per_round);
            must(dl_write(&t, at, b->riscs[r].reset_pc, code, 4 * n, &err));
            bits |= 1u << b->riscs[r].reset_bit;
        }
        const uint32_t held = b->soft_reset_init & ~bits;
        must(dl_write(&t, at, b->soft_reset, &held, 4, &err));
    }
    must(t.ops->advance(&t, WARM, &err));
    uint64_t rounds[2] = {0, 0};
    double start = seconds(), took = 0;
    for (int k = 0; k < 2; k++) {
        for (uint32_t cycles = 1u << 14; k == 1 && took < for_s; took = seconds() - start)
            must(t.ops->advance(&t, cycles, &err));
        for (uint32_t i = 0; i < tiles; i++) {
            const dl_target at = {b->columns[i % b->n_columns], b->rows[i / b->n_columns],
                                  b->columns[i % b->n_columns], b->rows[i / b->n_columns]};
            for (uint32_t r = 0; r < riscs; r++) {
                uint32_t count;
                must(dl_read(&t, at, COUNTERS + 16 * r, &count, 4, &err));
                rounds[k] += count;
            }
        }
        if (k == 0) start = seconds();
    }
    dl_transport_close(&t);
    return (double)(rounds[1] - rounds[0]) * per_round / took / 1e6;
}

static double in_a_child(const char *library, bool functional, const board *b, uint32_t tiles, uint32_t riscs)
{
    int ends[2];
    double mips = 0;
    fflush(NULL); /* so that what waits is not printed twice */
    if (pipe(ends) != 0) exit(1);
    pid_t child = fork();
    if (child == 0) {
        mips = measure(library, functional, b, tiles, riscs, 0.4);
        _exit(write(ends[1], &mips, sizeof mips) != sizeof mips);
    }
    close(ends[1]);
    if (read(ends[0], &mips, sizeof mips) != sizeof mips) mips = 0;
    close(ends[0]);
    waitpid(child, NULL, 0);
    return mips;
}

int main(int argc, char **argv)
{
    static const char *const boards[] = {"wormhole_b0", "blackhole"};
    const char *others[2] = {NULL, NULL};
    if (argc > 1) {
        others[0] = strtok(argv[1], ",");
        others[1] = strtok(NULL, ",");
    }
    printf("%-12s %-12s %14s %14s %14s %22s\n", "board", "busy", "timed, MIPS", "functional", "libttsim",
           "timed : libttsim");
    for (int i = 0; i < 2; i++) {
        static board b;
        must(board_load(boards[i], &b, &err));
        const uint32_t all = b.n_columns * b.n_rows;
        const struct {
            const char *name;
            uint32_t tiles, riscs;
        } sizes[] = {{"one core", 1, 1}, {"one tile", 1, b.n_riscs}, {"all", all, b.n_riscs}};
        for (int k = 0; k < 3; k++) {
            double best[3] = {0};
            for (int turn = 0; turn < TURNS; turn++) {
                for (int j = 0; j < 3; j++) {
                    if (j == 2 && !others[i]) continue;
                    double mips =
                        in_a_child(j == 2 ? others[i] : NULL, j == 1, &b, sizes[k].tiles, sizes[k].riscs);
                    if (mips > best[j]) best[j] = mips;
                }
            }
            printf("%-12s %-12s %14.1f %14.1f %14.1f", b.name, sizes[k].name, best[0], best[1], best[2]);
            if (best[2] > 0) printf(" %22.2f", best[0] / best[2]);
            putchar('\n');
        }
    }
    return 0;
}
