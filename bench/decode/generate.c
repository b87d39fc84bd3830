/* Made-up device logs. See generate.h. */
#include "generate.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 8, RISCS = 5, BUFFER = 1 << 20, LONGEST_LINE = 512 };

typedef struct writer {
    FILE *out;
    char *buffer;
    size_t n;
    uint64_t rows, left, bytes;
    bool failed;
} writer;

static uint64_t next_random(uint64_t *seed)
{
    uint64_t z = (*seed += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    return (z ^ z >> 27) >> 7;
}

static void flush(writer *w)
{
    if (w->n && fwrite(w->buffer, 1, w->n, w->out) != w->n) w->failed = true;
    w->bytes += w->n;
    w->n = 0;
}

static void text(writer *w, const char *s)
{
    size_t n = strlen(s);
    memcpy(w->buffer + w->n, s, n);
    w->n += n;
}

static void number(writer *w, uint64_t value)
{
    char digits[20];
    int n = 0;
    do
        digits[n++] = (char)('0' + value % 10);
    while (value /= 10);
    while (n)
        w->buffer[w->n++] = digits[--n];
}

static void end_row(writer *w)
{
    w->buffer[w->n++] = '\n';
    if (w->left) w->left--;
    if (w->n > BUFFER - LONGEST_LINE) flush(w);
}

/* "0, 1, 1, NCRISC, 1, 1882735035004" */
static void row_l2(writer *w, int x, int y, const char *risc, uint32_t timer, uint64_t time)
{
    if (!w->left) return;
    text(w, "0, ");
    number(w, (uint64_t)x);
    text(w, ", ");
    number(w, (uint64_t)y);
    text(w, ", ");
    text(w, risc);
    text(w, ", ");
    number(w, timer);
    text(w, ", ");
    number(w, time);
    end_row(w);
}

static void l2(writer *w, int cores)
{
    static const char *const riscs[RISCS] = {"NCRISC", "BRISC", "TRISC_0", "TRISC_1", "TRISC_2"};
    uint64_t seed = 2, clock = UINT64_C(1882735032214);
    text(w, "ARCH: grayskull, CHIP_FREQ[MHz]: 1202\n"
            "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]\n");
    for (uint64_t launch = 0; w->left; launch++, clock += 40000 + next_random(&seed) % 4096) {
        for (int core = 0; core < cores; core++) {
            for (int r = 0; r < RISCS; r++) {
                int x = 1 + core % SIDE, y = 1 + core / SIDE;
                uint64_t t = clock + next_random(&seed) % 512;
                row_l2(w, x, y, riscs[r], 1, t);
                row_l2(w, x, y, riscs[r], 2, t += 300 + next_random(&seed) % 64);
                for (uint32_t i = 0; i < 8 && launch % 16 == 15; i++)
                    row_l2(w, x, y, riscs[r], 5 + i % 4, t += 200 + next_random(&seed) % 256);
                row_l2(w, x, y, riscs[r], 3, t += 2000 + next_random(&seed) % 8192);
                row_l2(w, x, y, riscs[r], 4, t + 40 + next_random(&seed) % 16);
            }
        }
    }
}

typedef struct zone {
    uint32_t timer;
    const char *name, *line_and_file;
} zone;

/* "0,1,1,BRISC,22845,2170879416545,0,1024,,,BRISC-FW,ZONE_START,396,/.../brisc.cc," */
static void row_l9(writer *w, int core, const char *risc, const zone *z, uint64_t time, uint64_t launch,
                   const char *type)
{
    if (!w->left) return;
    text(w, "0,");
    number(w, (uint64_t)(1 + core % SIDE));
    text(w, ",");
    number(w, (uint64_t)(1 + core / SIDE));
    text(w, ",");
    text(w, risc);
    text(w, ",");
    number(w, z->timer);
    text(w, ",");
    number(w, time);
    text(w, ",0,");
    number(w, 1024 + launch);
    text(w, ",,,");
    text(w, z->name);
    text(w, type);
    text(w, z->line_and_file);
    end_row(w);
}

/* `firmware_first`: L8, as tt-metal wrote until 2025, launch by launch, and in each firmware's and kernel's
 * markers before the others. Otherwise as since then: a dump at a time, in it core by core and RISC by RISC,
 * and their launches by time (tt_metal/impl/profiler/profiler.cpp: dumpDeviceResultsToCSV). */
static void l9(writer *w, bool firmware_first, uint32_t cores)
{
#define SOURCES "/home/user/tt-metal/tt_metal/"
    static const struct {
        const char *name;
        zone fw, kernel, user[3];
    } riscs[RISCS] = {
        {"BRISC",
         {22845, "BRISC-FW", "396," SOURCES "hw/firmware/src/brisc.cc,"},
         {21766, "BRISC-KERNEL", "49," SOURCES "hw/firmware/src/brisck.cc,"},
         {{4127, "read block", "31," SOURCES "kernels/reader.cpp,"},
          {4301, "wait for room", "36," SOURCES "kernels/reader.cpp,"},
          {60992, "barrier", "44," SOURCES "kernels/reader.cpp,"}}},
        {"NCRISC",
         {5151, "NCRISC-FW", "137," SOURCES "hw/firmware/src/ncrisc.cc,"},
         {8934, "NCRISC-KERNEL", "51," SOURCES "hw/firmware/src/ncrisck.cc,"},
         {{11127, "wait for tile", "28," SOURCES "kernels/writer.cpp,"},
          {11301, "write block", "33," SOURCES "kernels/writer.cpp,"},
          {50993, "barrier", "40," SOURCES "kernels/writer.cpp,"}}},
        {"TRISC_0",
         {7213, "TRISC-FW", "104," SOURCES "hw/firmware/src/trisc.cc,"},
         {9091, "TRISC-KERNEL", "61," SOURCES "hw/firmware/src/trisck.cc,"},
         {{31127, "unpack", "72," SOURCES "kernels/bmm.cpp,"},
          {31301, "unpack", "75," SOURCES "kernels/bmm.cpp,"},
          {20993, "CB-COMPUTE-WAIT-FRONT", "88," SOURCES "hw/inc/cb.h,"}}},
        {"TRISC_1",
         {7213, "TRISC-FW", "104," SOURCES "hw/firmware/src/trisc.cc,"},
         {9091, "TRISC-KERNEL", "61," SOURCES "hw/firmware/src/trisck.cc,"},
         {{41127, "matmul", "79," SOURCES "kernels/bmm.cpp,"},
          {41301, "matmul", "83," SOURCES "kernels/bmm.cpp,"},
          {40993, "reload", "91," SOURCES "kernels/bmm.cpp,"}}},
        {"TRISC_2",
         {7213, "TRISC-FW", "104," SOURCES "hw/firmware/src/trisc.cc,"},
         {9091, "TRISC-KERNEL", "61," SOURCES "hw/firmware/src/trisck.cc,"},
         {{61127, "pack", "95," SOURCES "kernels/bmm.cpp,"},
          {61301, "pack", "97," SOURCES "kernels/bmm.cpp,"},
          {60991, "CB-COMPUTE-RESERVE-BACK", "99," SOURCES "hw/inc/cb.h,"}}},
    };
#undef SOURCES
    text(w, firmware_first ? "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
                           : "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n");
    text(w,
         "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
         "run host ID, trace id, trace id counter, zone name, type, source line, source file, meta data\n");
    enum { RUN = 10, DUMP = 1000 }; /* rows of a RISC's launch; launches that a dump holds */
    const uint64_t places = (uint64_t)cores * RISCS, launches = w->left / (places * RUN) + 1;
    const uint64_t dump = firmware_first ? 1 : launches < DUMP ? launches : DUMP;
    for (uint64_t first = 0; w->left; first += dump) {
        for (uint64_t place = 0; place < places; place++) {
            for (uint64_t launch = first; launch < first + dump; launch++) {
                const int core = (int)(place / RISCS), r = (int)(place % RISCS);
                const char *start = ",ZONE_START,", *end = ",ZONE_END,", *risc = riscs[r].name;
                const zone *fw = &riscs[r].fw, *kernel = &riscs[r].kernel;
                uint64_t seed = launch * places + place;
                uint64_t at[RUN], t = UINT64_C(2170879416545) + launch * 42000 + next_random(&seed) % 512;
                for (int i = 0; i < RUN; i++)
                    at[i] = t += 50 + next_random(&seed) % 1024;
                row_l9(w, core, risc, fw, at[0], launch, start);
                if (firmware_first) row_l9(w, core, risc, fw, at[9], launch, end);
                row_l9(w, core, risc, kernel, at[1], launch, start);
                if (firmware_first) row_l9(w, core, risc, kernel, at[8], launch, end);
                for (int i = 0; i < 3; i++) {
                    row_l9(w, core, risc, &riscs[r].user[i], at[2 + 2 * i], launch, start);
                    row_l9(w, core, risc, &riscs[r].user[i], at[3 + 2 * i], launch, end);
                }
                if (!firmware_first) row_l9(w, core, risc, kernel, at[8], launch, end);
                if (!firmware_first) row_l9(w, core, risc, fw, at[9], launch, end);
            }
        }
    }
}

uint64_t generate_log(FILE *out, int version, uint64_t rows, uint32_t cores)
{
    writer w = {.out = out, .left = rows, .buffer = malloc(BUFFER)};
    if (!w.buffer) return 0;
    if (version == 2)
        l2(&w, (int)cores);
    else
        l9(&w, version == 8, cores);
    flush(&w);
    free(w.buffer);
    return w.failed ? 0 : w.bytes;
}
