/* Getting a card to oneself: see the header.
 *
 * Two programs on one card run each other's kernels. The driver's O_EXCL (2.10.0 and newer) would keep
 * everybody out, those too who only look; so whoever uses a card takes one of the driver's locks (all
 * versions), and nobody starts while another program has the node open. The driver gives the lock back when
 * its holder ends, however that happens. Sources: tenstorrent/tt-kmd 2.10.0 chardev.c (admit_chardev_open,
 * ioctl_lock_ctl, tt_cdev_ioctl), enumerate.c (pids_proc_show), udev-50-tenstorrent.rules. */
#include "transport/kmd_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_AGAIN_MS = 100, PASSING_MS = 20, PASSING_LOOKS = 5, OTHERS_MAX = 64 };

bool kmd_at_least(const kmd_driver_info *driver, uint8_t major, uint8_t minor)
{
    return driver->major > major || (driver->major == major && driver->minor >= minor);
}

/* ---- Who has it ---- */

bool kmd_holders(const kmd_system *system, const char *path, bool all, char *text, size_t size)
{
    char file[128], pids[2048];
    long others[OTHERS_MAX];
    size_t used = 0, n = 0;
    const char *number = strrchr(path, '/');
    text[0] = 0;
    snprintf(file, sizeof file, "/proc/driver/tenstorrent/%s/pids", number ? number + 1 : path);
    if (system->read_text(system->context, file, pids, sizeof pids) < 0) return false;
    for (char *p = pids, *end; *p && n < OTHERS_MAX; p = end + strspn(end, " \n")) {
        long pid = strtol(p, &end, 10);
        bool known = pid == system->self(system->context);
        if (end == p) break;
        for (size_t i = 0; i < n; i++)
            known |= others[i] == pid; /* a line for each time that it has the node open */
        if (known) continue;
        others[n++] = pid;
        char name[64] = "a program of another container"; /* the driver says 0 for those */
        snprintf(file, sizeof file, "/proc/%ld/comm", pid);
        if (pid > 0 && system->read_text(system->context, file, name, sizeof name) <= 0)
            snprintf(name, sizeof name, "a program");
        name[strcspn(name, "\n")] = 0;
        for (char *c = name; *c; c++) /* a program calls itself what it likes */
            if ((unsigned char)*c < ' ' || *c == 0x7F) *c = '?';
        if (!all && strcmp(name, "devlog") == 0) continue;
        if (used < size) used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", name);
        if (pid > 0 && used < size) used += (size_t)snprintf(text + used, size - used, " (pid %ld)", pid);
    }
    return true;
}

/* ---- Opening ---- */

static devlog_status open_node(const kmd_system *system, const char *path, int *fd, devlog_error *err)
{
    /* Without O_NONBLOCK this would wait for whoever has opened it with O_EXCL. Without O_APPEND the tiles'
     * clocks are on as long as it is open, and the chip's clock stays as it is. */
    *fd = system->open(system->context, path, O_RDWR | O_NONBLOCK);
    switch (-*fd) {
    case ENOENT:
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                       "there is no %s: is a card in this machine, and the kernel driver tt-kmd loaded?",
                       path);
    case EACCES:
    case EPERM:
        return dl_fail(
            err, DEVLOG_ERR_TRANSPORT,
            "%s may not be opened by this user: the udev rule that comes with tt-kmd (MODE=\"0666\") gives "
            "it to everybody, so somebody has set it otherwise",
            path);
    case ENODEV:
    case ENXIO:
        return dl_fail(err, DEVLOG_ERR_DEVICE, "%s: its card is gone: it was removed, or is being reset",
                       path);
    }
    if (*fd >= 0 || *fd == -EAGAIN) return DEVLOG_OK;
    return dl_fail_errno(err, -*fd, "cannot open %s", path);
}

static devlog_status check_driver(const kmd_system *system, const char *path, int fd, kmd_driver_info *out,
                                  devlog_error *err)
{
    *out = (kmd_driver_info){.size_in = sizeof *out - sizeof out->size_in};
    int result = system->ioctl(system->context, fd, KMD_GET_DRIVER_INFO, out);
    if (result == -ENODEV)
        return dl_fail(err, DEVLOG_ERR_DEVICE, "%s: its card is gone: it was removed, or is being reset",
                       path);
    if (result < 0 && result != -EINVAL)
        return dl_fail_errno(err, -result, "%s: cannot ask which driver it has", path);
    if (result == -EINVAL || out->api == 0)
        return dl_fail(err, DEVLOG_ERR_UNSUPPORTED,
                       "%s: this is no tt-kmd, or one before 1.34: install tt-kmd 2.0 or newer", path);
    return DEVLOG_OK;
}

/* Takes the lock; *taken says whether. */
static devlog_status try_lock(const kmd_system *system, const char *path, int fd, bool *taken,
                              devlog_error *err)
{
    kmd_lock l = {.size_in = 4, .what = KMD_LOCK_ACQUIRE, .index = KMD_LOCK_INDEX};
    int result = system->ioctl(system->context, fd, KMD_LOCK_CTL, &l);
    *taken = result == 0 && l.value == 1;
    if (result == -ENODEV)
        return dl_fail(err, DEVLOG_ERR_DEVICE, "%s: the card is being reset: try again when that is done",
                       path);
    return result < 0 ? dl_fail_errno(err, -result, "%s: cannot lock the card", path) : DEVLOG_OK;
}

/* One attempt. DEVLOG_OK with *fd < 0: somebody else has it, and *who says who. */
static devlog_status attempt(const kmd_system *system, const char *path, bool own, int *fd,
                             kmd_driver_info *driver, char *who, size_t size, devlog_error *err)
{
    bool taken = true, excluded;
    who[0] = 0;
    devlog_status status = open_node(system, path, fd, err);
    if (status != DEVLOG_OK) return status;
    excluded = *fd < 0;
    if (!excluded) status = check_driver(system, path, *fd, driver, err);
    if (status == DEVLOG_OK && !excluded && own) status = try_lock(system, path, *fd, &taken, err);
    if (status == DEVLOG_OK && (excluded || own)) {
        /* Whoever has the lock is a devlog, too; with the lock, other devlogs only look. */
        kmd_holders(system, path, excluded || !taken, who, size);
        /* One that has come in vain has it open for a moment. */
        for (int i = 0; i < PASSING_LOOKS && !excluded && taken && who[0]; i++) {
            system->wait_ms(system->context, PASSING_MS);
            kmd_holders(system, path, false, who, size);
        }
        if (!excluded && taken && !who[0]) return DEVLOG_OK;
        if (!taken && !who[0])
            snprintf(who, size, "this program itself, or one that its driver does not name");
    }
    if (status == DEVLOG_OK && !excluded && !own) return DEVLOG_OK;
    if (*fd >= 0) system->close(system->context, *fd);
    *fd = -1;
    return status;
}

devlog_status kmd_take(const kmd_system *system, const char *path, bool own, uint64_t wait_s, int *fd,
                       kmd_driver_info *driver, devlog_error *err)
{
    char who[KMD_HOLDERS_TEXT];
    uint64_t waited_ms = 0;
    for (bool said = false;; said = true) {
        devlog_status status = attempt(system, path, own, fd, driver, who, sizeof who, err);
        if (status != DEVLOG_OK || *fd >= 0) return status;
        if (waited_ms >= wait_s * 1000) break;
        if (!said)
            fprintf(stderr, "devlog: %s is used by %s; waiting for it, %" PRIu64 " s at most\n", path,
                    who[0] ? who : "another program", wait_s);
        system->wait_ms(system->context, LOOK_AGAIN_MS);
        waited_ms += LOOK_AGAIN_MS;
    }
    return dl_fail(
        err, DEVLOG_ERR_TRANSPORT,
        "%s is used by %s%s: two programs on one card would run each other's kernels; end it, or wait for it "
        "with DEVLOG_CARD_WAIT=SECONDS",
        path, who[0] ? who : "another program", wait_s ? ", still" : "");
}
