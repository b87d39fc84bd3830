/* Tenstorrent cards as Linux shows them: see the header. Not for reaching them.
 * Source: sysfs of the kernel (Documentation/ABI/testing/sysfs-bus-pci: vendor, device, driver);
 * tenstorrent/tt-kmd makes /dev/tenstorrent/N. */
#include "transport/cards.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { VENDOR_TENSTORRENT = 0x1E52 };

static uint32_t read_hex(const char *folder, const char *name)
{
    char path[400], text[32] = "";
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "re");
    if (!f) return 0;
    if (!fgets(text, sizeof text, f)) text[0] = 0;
    fclose(f);
    return (uint32_t)strtoul(text, NULL, 16);
}

static card_info *grow(card_info **list, size_t *n)
{
    card_info *bigger = realloc(*list, (*n + 1) * sizeof **list);
    if (!bigger) return NULL;
    *list = bigger;
    card_info *c = &bigger[(*n)++];
    memset(c, 0, sizeof *c);
    return c;
}

static void try_open(card_info *c)
{
    int fd = open(c->path, O_RDWR | O_CLOEXEC);
    int why = errno;
    if (fd >= 0)
        close(fd);
    else if (why == EACCES || why == EPERM)
        snprintf(c->wrong, sizeof c->wrong,
                 "no permission: put 'SUBSYSTEM==\"tenstorrent\", MODE=\"0660\", TAG+=\"uaccess\"' in "
                 "/etc/udev/rules.d/70-devlog.rules, run 'udevadm control --reload' and 'udevadm trigger'");
    else if (why == ENXIO || why == ENODEV)
        snprintf(c->wrong, sizeof c->wrong, "its driver has lost it: reset the card, or restart the machine");
    else
        snprintf(c->wrong, sizeof c->wrong, "cannot be opened: %s", strerror(why));
}

static bool list_nodes(card_info **list, size_t *n)
{
    DIR *folder = opendir("/dev/tenstorrent");
    const struct dirent *entry;
    bool good = true;
    while (folder && good && (entry = readdir(folder)) != NULL) {
        struct stat st;
        char path[280], sys[64];
        if (strspn(entry->d_name, "0123456789") != strlen(entry->d_name)) continue;
        snprintf(path, sizeof path, "/dev/tenstorrent/%s", entry->d_name);
        if (stat(path, &st) != 0) continue;
        card_info *c = grow(list, n);
        good = c != NULL;
        if (!good) break;
        memcpy(c->path, path, sizeof c->path);
        snprintf(sys, sizeof sys, "/sys/dev/char/%u:%u/device", major(st.st_rdev), minor(st.st_rdev));
        c->vendor = read_hex(sys, "vendor");
        c->device = read_hex(sys, "device");
        try_open(c);
    }
    if (folder) closedir(folder);
    return good;
}

/* Cards that no driver has taken. */
static bool list_orphans(card_info **list, size_t *n)
{
    static const char root[] = "/sys/bus/pci/devices";
    DIR *folder = opendir(root);
    const struct dirent *entry;
    bool good = true;
    while (folder && good && (entry = readdir(folder)) != NULL) {
        char path[300], driver[320];
        snprintf(path, sizeof path, "%s/%s", root, entry->d_name);
        if (entry->d_name[0] == '.' || read_hex(path, "vendor") != VENDOR_TENSTORRENT) continue;
        snprintf(driver, sizeof driver, "%s/driver", path);
        if (access(driver, F_OK) == 0) continue;
        card_info *c = grow(list, n);
        good = c != NULL;
        if (!good) break;
        snprintf(c->path, sizeof c->path, "PCI %.64s", entry->d_name);
        c->vendor = VENDOR_TENSTORRENT;
        c->device = read_hex(path, "device");
        snprintf(c->wrong, sizeof c->wrong, "no driver has taken it: install and load tt-kmd");
    }
    if (folder) closedir(folder);
    return good;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const card_info *)a)->path, ((const card_info *)b)->path);
}

devlog_status cards_list(card_info **list, size_t *n, devlog_error *err)
{
    *list = NULL;
    *n = 0;
    if (!list_nodes(list, n) || !list_orphans(list, n)) {
        free(*list);
        *list = NULL;
        return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the list of cards");
    }
    if (*n) qsort(*list, *n, sizeof **list, by_path);
    return DEVLOG_OK;
}
