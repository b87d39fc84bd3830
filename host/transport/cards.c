/* Tenstorrent cards as Linux shows them: see the header. Not for reaching them.
 * Source: sysfs of the kernel (Documentation/ABI/testing/sysfs-bus-pci: vendor, device, driver, config);
 * tenstorrent/tt-kmd chardev.c, module.c: /dev/tenstorrent/N, its class, the module's version. */
#include "transport/cards.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/kmd_owner.h"

enum { VENDOR_TENSTORRENT = 0x1E52, MAX_NAME = 64, OLDEST_MAJOR = 1, OLDEST_MINOR = 34 };

typedef struct lister {
    const kmd_system *system;
    card_info *cards;
    size_t n;
    bool failed;
} lister;

static uint32_t read_hex(const lister *l, const char *folder, const char *name)
{
    char path[400], text[32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (l->system->read_text(l->system->context, path, text, sizeof text) <= 0) return 0;
    return (uint32_t)strtoul(text, NULL, 16);
}

static card_info *grow(lister *l)
{
    card_info *bigger = realloc(l->cards, (l->n + 1) * sizeof *bigger);
    l->failed |= !bigger;
    if (!bigger) return NULL;
    l->cards = bigger;
    card_info *c = &bigger[l->n++];
    memset(c, 0, sizeof *c);
    return c;
}

/* True when the driver is one whose windows show another tile than they are asked for. */
static bool driver_is_old(const lister *l, char *version, size_t size)
{
    unsigned major, minor;
    if (l->system->read_text(l->system->context, "/sys/module/tenstorrent/version", version, size) <= 0 ||
        sscanf(version, "%u.%u", &major, &minor) != 2)
        return false;
    version[strcspn(version, "\n")] = 0;
    return major < OLDEST_MAJOR || (major == OLDEST_MAJOR && minor < OLDEST_MINOR);
}

/* The first bytes of the configuration space come from the card itself, not from what was read when it was found. */
static bool link_is_dead(const lister *l, const char *sys)
{
    char path[400], config[5];
    snprintf(path, sizeof path, "%s/config", sys);
    return l->system->read_text(l->system->context, path, config, sizeof config) == 4 &&
           memcmp(config, "\xFF\xFF\xFF\xFF", 4) == 0;
}

static void look_at(const lister *l, const char *sys, card_info *c)
{
    const kmd_system *s = l->system;
    char who[KMD_HOLDERS_TEXT], version[32];
    /* O_APPEND: the driver changes no clock for this one. O_NONBLOCK: it does not wait for whoever has it exclusively. */
    int fd = s->open(s->context, c->path, O_RDWR | O_NONBLOCK | O_APPEND);
    if (fd >= 0) s->close(s->context, fd);
    bool told = kmd_holders(s, c->path, true, who, sizeof who);
    if (fd == -EACCES || fd == -EPERM)
        snprintf(c->wrong, sizeof c->wrong,
                 "no permission: put 'SUBSYSTEM==\"tenstorrent\", MODE=\"0660\", TAG+=\"uaccess\"' in "
                 "/etc/udev/rules.d/70-devlog.rules, run 'udevadm control --reload' and 'udevadm trigger'");
    else if (fd == -ENXIO || fd == -ENODEV)
        snprintf(c->wrong, sizeof c->wrong, "its driver has lost it: reset the card, or restart the machine");
    else if (fd < 0 && fd != -EAGAIN)
        snprintf(c->wrong, sizeof c->wrong, "cannot be opened: %s", strerror(-fd));
    else if (link_is_dead(l, sys))
        snprintf(c->wrong, sizeof c->wrong,
                 "it does not answer, its PCIe link is dead: reset it (tt-smi -r), or restart the machine");
    else if (driver_is_old(l, version, sizeof version))
        snprintf(c->wrong, sizeof c->wrong, "its driver is tt-kmd %s: install 2.0 or newer", version);
    else if (fd == -EAGAIN || (told && who[0])) {
        c->in_use = true;
        snprintf(c->wrong, sizeof c->wrong,
                 "used by %s: end it, or wait for it with DEVLOG_CARD_WAIT=SECONDS",
                 who[0] ? who : "another program");
    }
}

static void add_node(void *to, const char *name)
{
    lister *l = to;
    char sys[160];
    if (!*name || strspn(name, "0123456789") != strlen(name) || strlen(name) > MAX_NAME) return;
    card_info *c = grow(l);
    if (!c) return;
    snprintf(c->path, sizeof c->path, "/dev/tenstorrent/%s", name);
    snprintf(sys, sizeof sys, "/sys/class/tenstorrent/tenstorrent!%s/device", name);
    c->vendor = read_hex(l, sys, "vendor");
    c->device = read_hex(l, sys, "device");
    look_at(l, sys, c);
}

/* Cards that no driver has taken. */
static void add_orphan(void *to, const char *name)
{
    lister *l = to;
    char path[300], uevent[400], text[512];
    if (name[0] == '.' || strlen(name) > MAX_NAME) return;
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s", name);
    if (read_hex(l, path, "vendor") != VENDOR_TENSTORRENT) return;
    snprintf(uevent, sizeof uevent, "%s/uevent", path);
    if (l->system->read_text(l->system->context, uevent, text, sizeof text) > 0 && strstr(text, "DRIVER="))
        return;
    card_info *c = grow(l);
    if (!c) return;
    snprintf(c->path, sizeof c->path, "PCI %s", name);
    c->vendor = VENDOR_TENSTORRENT;
    c->device = read_hex(l, path, "device");
    snprintf(c->wrong, sizeof c->wrong, "no driver has taken it: install and load tt-kmd");
}

/* By number: 0, 1, 2, 10; what has no number comes last. */
static int by_path(const void *a, const void *b)
{
    const card_info *x = a, *y = b;
    bool x_node = x->path[0] == '/', y_node = y->path[0] == '/';
    size_t x_length = strlen(x->path), y_length = strlen(y->path);
    if (x_node != y_node) return x_node ? -1 : 1;
    if (x_node && x_length != y_length) return x_length < y_length ? -1 : 1;
    return strcmp(x->path, y->path);
}

devlog_status cards_list(const kmd_system *system, card_info **list, size_t *n, devlog_error *err)
{
    lister l = {.system = system ? system : &kmd_linux};
    l.system->list(l.system->context, "/dev/tenstorrent", add_node, &l);
    l.system->list(l.system->context, "/sys/bus/pci/devices", add_orphan, &l);
    *list = NULL;
    *n = 0;
    if (l.failed) {
        free(l.cards);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the list of cards");
    }
    if (l.n) qsort(l.cards, l.n, sizeof *l.cards, by_path);
    *list = l.cards;
    *n = l.n;
    return DEVLOG_OK;
}
