/* A device log that is nowhere: preloaded into a program, this gives it what it reads of one file, made up as it is read. The file
 * (DEVLOG_BENCH_LOG) has the size and no contents; bytes at one place are the same in every pass and in every process. So logs may be
 * larger than any disk. Rows are as tt-metal writes them since 2025: a dump of a thousand launches at a time, in it core by core
 * and RISC by RISC. All have as many bytes (DEVLOG_BENCH_ROW, 160). Not for what a log can have that is wrong. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SIDE = 8,
    RISCS = 5,
    PLACES = SIDE * SIDE * RISCS,
    RUN = 10,       /* rows of a launch on a RISC */
    DUMP = 1000,    /* launches */
    SHORTEST = 128, /* rows */
    LONGEST = 512,
    TIME = 13, /* digits of a stamp */
    LAUNCH = 9,
    FILES = 1024
};

static const char header[] =
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, trace id, "
    "trace id counter, zone name, type, source line, source file, meta data\n";
enum { HEADER = sizeof header - 1 };

static size_t row_bytes = 160, piece_bytes;
static char pieces[RISCS][RUN * LONGEST]; /* of one RISC's launch, with its stamps and ids to be filled in */
static size_t at_time[RISCS][RUN], at_launch[RISCS][RUN];
static bool ours[FILES]; /* by descriptor */
static int (*real_open)(const char *, int, ...);
static int (*real_close)(int);
static ssize_t (*real_read)(int, void *, size_t);
static ssize_t (*real_pread)(int, void *, size_t, off_t);
static const char *name;

static void make_pieces(void)
{
    static const struct {
        const char *risc, *short_name, *user[3];
    } kinds[RISCS] = {
        {"BRISC", "BRISC", {"read block", "wait for room", "barrier"}},
        {"NCRISC", "NCRISC", {"wait for tile", "write block", "barrier"}},
        {"TRISC_0", "TRISC", {"unpack a", "unpack b", "CB-COMPUTE-WAIT-FRONT"}},
        {"TRISC_1", "TRISC", {"matmul", "reduce", "reload"}},
        {"TRISC_2", "TRISC", {"pack", "pack untilized", "CB-COMPUTE-RESERVE-BACK"}},
    };
    static const int zone_of[RUN] = {0, 1, 2, 2, 3, 3, 4, 4, 1, 0};
    static const bool starts[RUN] = {true, true, true, false, true, false, true, false, false, false};
    for (int r = 0; r < RISCS; r++)
        for (int i = 0; i < RUN; i++) {
            char row[LONGEST + 64], zone[64];
            const int z = zone_of[i];
            snprintf(zone, sizeof zone,
                     z == 0   ? "%s-FW"
                     : z == 1 ? "%s-KERNEL"
                              : "%s",
                     z < 2 ? kinds[r].short_name : kinds[r].user[z - 2]);
            size_t n = (size_t)snprintf(row, sizeof row, "0,X,Y,%s,%d,", kinds[r].risc, 10000 + 1000 * r + z);
            at_time[r][i] = (size_t)i * row_bytes + n;
            /* Both rows of a zone are equally long by their data, and name the same file, whose name fills them. */
            n += (size_t)snprintf(row + n, sizeof row - n, "%0*d,%s,", TIME, 0, starts[i] ? "0" : "000");
            at_launch[r][i] = (size_t)i * row_bytes + n;
            n += (size_t)snprintf(row + n, sizeof row - n, "%0*d,,,%s,%s,%d,/home/user/tt-metal/", LAUNCH, 0,
                                  zone, starts[i] ? "ZONE_START" : "ZONE_END", 30 + z);
            while (n < row_bytes - 8)
                row[n++] = 'k';
            memcpy(row + n, "/k.cpp,\n", 8);
            memcpy(&pieces[r][(size_t)i * row_bytes], row, row_bytes);
        }
}

__attribute__((constructor)) static void begin(void)
{
    *(void **)&real_open = dlsym(RTLD_NEXT, "open");
    *(void **)&real_close = dlsym(RTLD_NEXT, "close");
    *(void **)&real_read = dlsym(RTLD_NEXT, "read");
    *(void **)&real_pread = dlsym(RTLD_NEXT, "pread");
    name = getenv("DEVLOG_BENCH_LOG");
    const char *row = getenv("DEVLOG_BENCH_ROW");
    const size_t wanted = row ? strtoul(row, NULL, 10) : 0;
    if (wanted >= SHORTEST && wanted <= LONGEST) row_bytes = wanted;
    piece_bytes = RUN * row_bytes;
    make_pieces();
}

static uint64_t next_random(uint64_t *seed)
{
    uint64_t z = (*seed += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    return z ^ z >> 27;
}

static void number(char *to, int digits, uint64_t value)
{
    while (digits--) {
        to[digits] = (char)('0' + value % 10);
        value /= 10;
    }
}

/* The how manieth piece of the log, of piece_bytes. */
static void piece(char *to, uint64_t i)
{
    const uint64_t launch = i / (PLACES * DUMP) * DUMP + i % DUMP, place = i / DUMP % PLACES;
    const unsigned r = (unsigned)(place % RISCS), core = (unsigned)(place / RISCS);
    uint64_t seed = launch * PLACES + place, t = UINT64_C(1170879416545) + launch * 42000, dice = 0;
    memcpy(to, pieces[r], piece_bytes);
    for (int k = 0; k < RUN; k++, dice >>= 12) {
        if (k % 5 == 0) dice = next_random(&seed);
        t += 50 + (dice & 1023);
        char *at = to + (size_t)k * row_bytes;
        at[2] = (char)('1' + core % SIDE);
        at[4] = (char)('1' + core / SIDE);
        number(to + at_time[r][k], TIME, t);
        number(to + at_launch[r][k], LAUNCH, 100000000 + launch);
    }
}

static ssize_t make(char *to, size_t n, uint64_t at, uint64_t size)
{
    size_t done = 0;
    if (at >= size) return 0;
    if (n > size - at) n = (size_t)(size - at);
    for (; done < n && at + done < HEADER; done++)
        to[done] = header[at + done];
    while (done < n) {
        char one[RUN * LONGEST];
        const uint64_t i = (at + done - HEADER) / piece_bytes;
        const size_t from = (size_t)((at + done - HEADER) % piece_bytes);
        const size_t take = n - done < piece_bytes - from ? n - done : piece_bytes - from;
        if (take == piece_bytes) {
            piece(to + done, i);
        } else {
            piece(one, i);
            memcpy(to + done, one + from, take);
        }
        done += take;
    }
    return (ssize_t)n;
}

static uint64_t size_of(int fd)
{
    const off_t at = lseek(fd, 0, SEEK_CUR), end = lseek(fd, 0, SEEK_END);
    lseek(fd, at, SEEK_SET);
    return (uint64_t)end;
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const int fd = real_open(path, flags, flags & (O_CREAT | O_TMPFILE) ? va_arg(args, int) : 0);
    va_end(args);
    if (fd >= 0 && fd < FILES) ours[fd] = name && strcmp(path, name) == 0;
    return fd;
}

int close(int fd)
{
    if (fd >= 0 && fd < FILES) ours[fd] = false;
    return real_close(fd);
}

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    if (fd < 0 || fd >= FILES || !ours[fd]) return real_pread(fd, to, n, at);
    return make(to, n, (uint64_t)at, size_of(fd));
}

ssize_t read(int fd, void *to, size_t n)
{
    if (fd < 0 || fd >= FILES || !ours[fd]) return real_read(fd, to, n);
    const off_t at = lseek(fd, 0, SEEK_CUR);
    const ssize_t got = make(to, n, (uint64_t)at, size_of(fd));
    lseek(fd, at + got, SEEK_SET);
    return got;
}
