/* Periodic capture. See the header. */
#include "profiler/periodic.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/term.h"
#include "decode/capture/capture.h"
#include "decode/log/log_write.h"
#include "profiler/profiler.h"

#define FOLDER_PREFIX   "capture-"
#define VIOLATIONS_NAME "violations.txt" /* in a folder that is not removed */
enum { DIGITS = 6 };

struct dl_periodic {
    char base[sizeof((devlog_device *)0)->log_folder]; /* the device's log folder is one below it */
    bool capturing, unclean;                           /* unclean: launches ran that were not pulled */
    uint64_t launches;                                 /* asked for so far */
    uint64_t captures;                                 /* begun */
    uint64_t number;                                   /* of the last one */
    uint64_t in_hand;                                  /* launches of the capture */
    uint64_t began_ns;
};

bool periodic_on(const devlog_device *device)
{
    return device->profile && device->wishes.periodic.every;
}

bool periodic_between(const devlog_device *device)
{
    return periodic_on(device) && !(device->periodic && device->periodic->capturing);
}

devlog_status periodic_open(devlog_device *device, devlog_error *err)
{
    if (!periodic_on(device) || device->periodic) return DEVLOG_OK;
    device->periodic = calloc(1, sizeof *device->periodic);
    if (!device->periodic) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the profiler");
    strcpy(device->periodic->base, device->log_folder);
    return dl_folder_make(device->periodic->base, err);
}

/* The number in the name of a folder of a capture; 0: it is none. */
static uint64_t number_of(const char *name)
{
    const size_t prefix = strlen(FOLDER_PREFIX), n = strlen(name);
    if (n < prefix + DIGITS || n > prefix + 18 || strncmp(name, FOLDER_PREFIX, prefix) != 0) return 0;
    if (strspn(name + prefix, "0123456789") != n - prefix) return 0;
    return strtoull(name + prefix, NULL, 10);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Numbers of the captures in a folder, in order; NULL: no memory. */
static uint64_t *numbers_in(const char *base, size_t *n)
{
    size_t cap = 64;
    uint64_t *numbers = malloc(cap * sizeof *numbers);
    DIR *dir = opendir(base);
    *n = 0;
    for (struct dirent *e; numbers && dir && (e = readdir(dir));) {
        const uint64_t number = number_of(e->d_name);
        if (!number) continue;
        if (*n == cap) {
            uint64_t *grown = realloc(numbers, (cap *= 2) * sizeof *grown);
            if (!grown) free(numbers);
            if (!(numbers = grown)) break;
        }
        numbers[(*n)++] = number;
    }
    if (dir) closedir(dir);
    if (numbers && *n) qsort(numbers, *n, sizeof *numbers, by_number);
    return numbers;
}

static char *folder_of(const char *base, uint64_t number)
{
    char name[64];
    snprintf(name, sizeof name, FOLDER_PREFIX "%0*" PRIu64, DIGITS, number);
    return dl_path_join(base, name);
}

/* A folder that nobody had before, in the device's log_folder. */
static devlog_status new_folder(devlog_device *device, devlog_error *err)
{
    const char *base = device->periodic->base;
    size_t n;
    devlog_status status = dl_folder_make(base, err);
    uint64_t *numbers = status ? NULL : numbers_in(base, &n), number = numbers && n ? numbers[n - 1] : 0;
    if (!status && !numbers) status = dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the profiler");
    free(numbers);
    if (number < device->periodic->number) number = device->periodic->number; /* that one has been removed */
    for (bool made = false; !status && !made;) {
        char *folder = folder_of(base, ++number);
        if (!folder || strlen(folder) >= sizeof device->log_folder) {
            status = dl_fail(err, folder ? DEVLOG_ERR_ARGUMENT : DEVLOG_ERR_MEMORY,
                             "the log folder %s leaves no room for names of captures", base);
        } else if (mkdir(folder, 0777) == 0) {
            strcpy(device->log_folder, folder);
            device->periodic->number = number;
            made = true;
        } else if (errno != EEXIST) { /* else another device has just made it */
            status = dl_fail_errno(err, errno, "cannot make the folder of a capture, %s", folder);
        }
        free(folder);
    }
    return status;
}

static bool has_file(const char *folder, const char *name)
{
    char *path = dl_path_join(folder, name);
    const bool there = path && access(path, F_OK) == 0;
    free(path);
    return there;
}

static void remove_file(const char *folder, const char *name)
{
    char *path = dl_path_join(folder, name);
    if (path) unlink(path);
    free(path);
}

/* Whether another device, or program, is writing there. */
static bool in_use(const char *folder)
{
    static const char *const names[] = {DL_DEVICE_LOG_NAME, DL_CAPTURE_NAME};
    bool used = false;
    for (size_t i = 0; i < 2; i++) {
        char *path = dl_path_join(folder, names[i]);
        FILE *f = path ? fopen(path, "re") : NULL;
        used |= f && !dl_file_alone(fileno(f));
        if (f) fclose(f);
        free(path);
    }
    return used;
}

/* Removes what devlog has written to the oldest folders; what users have put there, and its folder, stay. */
static void rotate(const devlog_device *device)
{
    const uint32_t most = device->wishes.periodic.keep;
    const char *base = device->periodic->base;
    size_t n;
    uint64_t *numbers = most == PERIODIC_KEEP_ALL ? NULL : numbers_in(base, &n), there = 0;
    if (!numbers) return;
    for (size_t i = n; i > 0; i--) {
        char *folder = folder_of(base, numbers[i - 1]);
        if (folder && !has_file(folder, VIOLATIONS_NAME) && !in_use(folder) && ++there > most) {
            remove_file(folder, DL_DEVICE_LOG_NAME);
            remove_file(folder, DL_CAPTURE_NAME);
            rmdir(folder);
        }
        free(folder);
    }
    free(numbers);
}

/* Whatever unpulled launches have left in the records: a pull believes that what is behind them is clear. */
static devlog_status clear_records(devlog_device *device, devlog_error *err)
{
    const board *b = &device->board;
    const uint32_t bytes = DEVLOG_CONTROL_OFFSET(b->segment_bits);
    uint8_t *zeros = calloc(1, bytes);
    devlog_status status = zeros ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the profiler");
    for (uint32_t y = 0; y < b->n_rows; y++)
        for (uint32_t x = 0; x < b->n_columns; x++)
            for (uint32_t risc = 0; risc < b->n_riscs && !status; risc++)
                if (device->booted[y * b->n_columns + x])
                    status = dl_core_write(device, (devlog_core){x, y}, board_profiler_base(b, risc), zeros,
                                           bytes, err);
    free(zeros);
    return status;
}

static devlog_status begin(devlog_device *device, devlog_error *err)
{
    dl_periodic *p = device->periodic;
    devlog_status status = new_folder(device, err);
    if (!status && p->unclean) status = clear_records(device, err);
    if (status) return status;
    p->capturing = true;
    p->unclean = false;
    p->in_hand = 0;
    p->captures++;
    p->began_ns = dl_now_ns();
    device->paused = false;
    return profiler_prepare(device, err);
}

static devlog_status end(devlog_device *device, devlog_error *err)
{
    dl_periodic *p = device->periodic;
    devlog_status status = DEVLOG_OK;
    if (!p->capturing) return DEVLOG_OK;
    p->capturing = false;
    device->paused = true;
    status = profiler_end_log(device, err);
    rotate(device);
    return status;
}

/* Whether it has all that it should have. */
static bool is_over(const devlog_device *device)
{
    const device_periodic *o = &device->wishes.periodic;
    const dl_periodic *p = device->periodic;
    const uint32_t launches = o->launches || o->ms ? o->launches : 1;
    if (!p->in_hand) return false;
    return (launches && p->in_hand >= launches) ||
           (o->ms && dl_now_ns() - p->began_ns >= (uint64_t)o->ms * 1000000u);
}

devlog_status periodic_before(devlog_device *device, devlog_error *err)
{
    if (!periodic_on(device)) return DEVLOG_OK;
    const device_periodic *o = &device->wishes.periodic;
    devlog_status status = periodic_open(device, err);
    dl_periodic *p = device->periodic;
    if (status) return status;
    if (p->capturing && is_over(device)) status = end(device, err);
    const bool due = ++p->launches % o->every == 0 && (!o->most || p->captures < o->most);
    if (!status && due && !p->capturing) return begin(device, err);
    device->paused = !p->capturing;
    p->unclean |= device->paused;
    return status;
}

devlog_status periodic_failed(devlog_device *device, devlog_error *err)
{
    dl_periodic *p = device->periodic;
    devlog_status status = new_folder(device, err);
    if (status) return status;
    p->capturing = true;
    p->captures++;
    p->began_ns = dl_now_ns();
    return profiler_prepare(device, err);
}

devlog_status periodic_after(devlog_device *device, devlog_error *err)
{
    dl_periodic *p = device->periodic;
    if (!p || !p->capturing) return DEVLOG_OK;
    p->in_hand++;
    return is_over(device) ? end(device, err) : DEVLOG_OK;
}

devlog_status periodic_violated(devlog_device *device, const devlog_violation *v, devlog_error *err)
{
    if (!device->periodic || !device->periodic->capturing) return DEVLOG_OK;
    char *path = dl_path_join(device->log_folder, VIOLATIONS_NAME);
    FILE *f = path ? fopen(path, "ae") : NULL;
    const int errnum = errno;
    devlog_status status =
        f ? DEVLOG_OK : dl_fail_errno(err, errnum, "cannot write %s", path ? path : VIOLATIONS_NAME);
    if (f)
        fprintf(f,
                "launch %" PRIu64 ", chip %u core %u,%u %s: expected of %s, and %" PRIu64
                " times not so, the worst %" PRIu64 " (%s:%u)\n",
                v->launch, v->chip, v->core.x, v->core.y, v->risc, v->text, v->times, v->worst, v->file,
                v->line);
    if (f && fclose(f) != 0) status = dl_fail_errno(err, errno, "cannot write %s", path);
    free(path);
    return status;
}

devlog_status periodic_move(devlog_device *device, const char *folder, devlog_error *err)
{
    devlog_status status = periodic_open(device, err);
    if (!status) status = end(device, err);
    if (status) return status;
    strcpy(device->periodic->base, folder);
    strcpy(device->log_folder, folder);
    return dl_folder_make(folder, err);
}

devlog_status periodic_close(devlog_device *device, devlog_error *err)
{
    devlog_status status = device->periodic ? end(device, err) : DEVLOG_OK;
    free(device->periodic);
    device->periodic = NULL;
    return status;
}
