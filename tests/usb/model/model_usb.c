/* Device models on USB: usbdevfs as Linux has it, answered by libumockdev's test bed.
 * Source: Linux include/uapi/linux/usbdevice_fs.h; USB 2.0, chapter 9 (descriptors, GET_DESCRIPTOR). */
#include "usb/model/model_usb.h"

#include <errno.h>
#include <linux/usbdevice_fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <umockdev.h>

enum {
    MAX_PROBES = 4,
    MAX_URBS = 64,
    EP_OUT = 0x02,
    EP_IN = 0x83,
    EP_TRACE = 0x84,
    CONFIG_BYTES = 9 + 9 + 7 + 9 + 7 + 7 + 7,
    ENDPOINTS = 256,
};

typedef struct urb {
    UMockdevIoctlData *data, *buffer;
    struct usbdevfs_urb *u;
    bool complete;
} urb;

typedef struct answer {
    uint32_t n;
    uint8_t bytes[1024];
} answer;

typedef struct probe {
    model_bus *bus;
    model *m;
    UMockdevIoctlBase *handler;
    char *syspath;
    bool hid_only, gone;
    bool halted[ENDPOINTS];
    urb urbs[MAX_URBS];
    uint32_t n_urbs;
    answer answers[MAX_URBS];
    uint32_t n_answers;
    bool late; /* the first answer waits until its reader has given up */
} probe;

struct model_bus {
    UMockdevTestbed *bed;
    GMutex lock;
    probe *probes[MAX_PROBES];
    uint32_t n;
    bool taken;
};

/* ---- Descriptors --------------------------------------------------------------------------------- */

/* An interface of class HID comes first, as with real probes: only the strings tell which is which. */
static uint32_t descriptors(const probe *p, uint8_t out[18 + CONFIG_BYTES])
{
    static const uint8_t device[18] = {18,   1,    0x00, 0x02, 0, 0, 0, 64, 0x09,
                                       0x12, 0x01, 0xDE, 0,    1, 1, 2, 3,  1};
    static const uint8_t hid[] = {9, 4, 0, 0, 1, 3, 0, 0, 4, 7, 5, 0x81, 3, 64, 0, 1};
    static const uint8_t vendor[] = {9, 4, 1, 0, 3, 255, 0, 0, 5};
    const uint8_t ends[3] = {EP_OUT, EP_IN, EP_TRACE};
    uint32_t n = p->hid_only ? 9 + sizeof hid : CONFIG_BYTES;
    const uint8_t config[9] = {9, 2, (uint8_t)n, 0, p->hid_only ? 1 : 2, 1, 0, 0x80, 50};
    uint8_t *at = out;
    memcpy(at, device, 18);
    memcpy(at + 18, config, 9);
    memcpy(at + 27, hid, sizeof hid);
    at += 27 + sizeof hid;
    if (!p->hid_only) {
        memcpy(at, vendor, sizeof vendor);
        at += sizeof vendor;
        for (int i = 0; i < 3; i++, at += 7)
            memcpy(at, (uint8_t[7]){7, 5, ends[i], 2, 0x00, 0x02, 0}, 7);
    }
    return (uint32_t)(at - out);
}

static const char *string_of(const probe *p, uint8_t index)
{

    switch (index) {
    case 1: return "devlog";
    case 2: return "device model CMSIS-DAP";
    case 3: return model_serial(p->m);
    case 4: return "CMSIS-DAP v1";
    case 5: return "CMSIS-DAP v2";
    default: return NULL;
    }
}

/* ---- Transfers ----------------------------------------------------------------------------------- */

static void finish(urb *u, int status, uint32_t n)
{
    u->u->status = status;
    u->u->actual_length = (int)n;
    umockdev_ioctl_data_update(u->data, 0, (guint8 *)u->u, sizeof *u->u);
    u->complete = true;
}

static void give(urb *u, const uint8_t *bytes, uint32_t n, uint32_t header)
{
    uint32_t room = (uint32_t)u->u->buffer_length - header;
    if (n > room) {
        finish(u, -EOVERFLOW, 0);
        return;
    }
    if (n) umockdev_ioctl_data_update(u->buffer, header, (guint8 *)bytes, (gint)n);
    finish(u, 0, n);
}

static void control(probe *p, urb *u)
{
    const uint8_t *setup = u->buffer->data;
    uint8_t out[256];
    uint32_t want = setup[6] | (uint32_t)setup[7] << 8, n = 0;
    if (setup[0] == 0x80 && setup[1] == 6 && setup[3] == 3) {
        const char *s = string_of(p, setup[2]);
        if (setup[2] == 0) {
            memcpy(out, (uint8_t[4]){4, 3, 0x09, 0x04}, n = 4);
        } else if (s) {
            n = 2 + 2 * (uint32_t)strlen(s);
            out[0] = (uint8_t)n;
            out[1] = 3;
            for (uint32_t i = 0; s[i]; i++) {
                out[2 + 2 * i] = (uint8_t)s[i];
                out[3 + 2 * i] = 0;
            }
        }
    }
    if (n == 0)
        finish(u, -EPIPE, 0);
    else
        give(u, out, n < want ? n : want, 8);
}

static void unplug(probe *p)
{
    p->gone = true;
    for (uint32_t i = 0; i < p->n_urbs; i++)
        if (!p->urbs[i].complete) finish(&p->urbs[i], -ESHUTDOWN, 0);
}

/* Brings answers and those who wait for them together. */
static void deliver(probe *p)
{
    for (uint32_t i = 0; i < p->n_urbs; i++) {
        urb *u = &p->urbs[i];
        if (u->complete || u->u->endpoint != EP_IN) continue;
        if (p->halted[EP_IN]) {
            finish(u, -EPIPE, 0);
            continue;
        }
        if (p->n_answers == 0 || p->late) return;
        give(u, p->answers[0].bytes, p->answers[0].n, 0);
        memmove(&p->answers[0], &p->answers[1], --p->n_answers * sizeof p->answers[0]);
    }
}

static void command(probe *p, urb *u)
{
    if (p->halted[EP_OUT]) {
        finish(u, -EPIPE, 0);
        return;
    }
    answer *a = &p->answers[p->n_answers];
    uint32_t n = (uint32_t)u->u->buffer_length;
    switch (model_packet(p->m, u->buffer->data, n, a->bytes, &a->n)) {
    case MODEL_GONE: unplug(p); return;
    case MODEL_STALLS:
        p->halted[EP_OUT] = true;
        finish(u, -EPIPE, 0);
        return;
    case MODEL_STALLS_IN: p->halted[EP_IN] = true; break;
    case MODEL_SILENT: break;
    case MODEL_ANSWERS_LATE: p->late = true; /* fall through */
    case MODEL_ANSWERS:
        if (p->n_answers + 1 < MAX_URBS) p->n_answers++;
        break;
    }
    finish(u, 0, n);
}

static void submit(probe *p, UMockdevIoctlClient *client)
{
    urb *u = &p->urbs[p->n_urbs];
    if (p->gone || p->n_urbs == MAX_URBS) {
        umockdev_ioctl_client_complete(client, -1, p->gone ? ENODEV : ENOMEM);
        return;
    }
    u->data = umockdev_ioctl_data_resolve(umockdev_ioctl_client_get_arg(client), 0, sizeof *u->u, NULL);
    u->u = (struct usbdevfs_urb *)u->data->data;
    u->buffer = u->u->buffer_length
                    ? umockdev_ioctl_data_resolve(u->data, offsetof(struct usbdevfs_urb, buffer),
                                                  (gsize)u->u->buffer_length, NULL)
                    : NULL;
    u->complete = false;
    p->n_urbs++;
    if (u->u->type == USBDEVFS_URB_TYPE_CONTROL)
        control(p, u);
    else if (u->u->endpoint == EP_OUT)
        command(p, u);
    deliver(p);
    umockdev_ioctl_client_complete(client, 0, 0);
}

static void drop(probe *p, uint32_t i)
{
    if (p->urbs[i].buffer) g_object_unref(p->urbs[i].buffer);
    g_object_unref(p->urbs[i].data);
    memmove(&p->urbs[i], &p->urbs[i + 1], (--p->n_urbs - i) * sizeof p->urbs[0]);
}

static void reap(probe *p, UMockdevIoctlClient *client)
{
    for (uint32_t i = 0; i < p->n_urbs; i++) {
        if (!p->urbs[i].complete) continue;
        UMockdevIoctlData *arg =
            umockdev_ioctl_data_resolve(umockdev_ioctl_client_get_arg(client), 0, sizeof(void *), NULL);
        umockdev_ioctl_data_set_ptr(arg, 0, p->urbs[i].data);
        g_object_unref(arg);
        drop(p, i);
        umockdev_ioctl_client_complete(client, 0, 0);
        return;
    }
    umockdev_ioctl_client_complete(client, -1, p->gone ? ENODEV : EAGAIN);
}

static void discard(probe *p, UMockdevIoctlClient *client)
{
    gulong address;
    memcpy(&address, umockdev_ioctl_client_get_arg(client)->data, sizeof address);
    for (uint32_t i = 0; i < p->n_urbs; i++) {
        urb *u = &p->urbs[i];
        if (u->data->client_addr != address || u->complete) continue;
        finish(u, -ENOENT, 0);
        p->late = false;
        umockdev_ioctl_client_complete(client, 0, 0);
        return;
    }
    umockdev_ioctl_client_complete(client, -1, EINVAL);
}

static void clear_halt(probe *p, UMockdevIoctlClient *client)
{
    UMockdevIoctlData *arg =
        umockdev_ioctl_data_resolve(umockdev_ioctl_client_get_arg(client), 0, sizeof(uint32_t), NULL);
    uint32_t end;
    memcpy(&end, arg->data, sizeof end);
    p->halted[end & 0xFF] = false;
    g_object_unref(arg);
    umockdev_ioctl_client_complete(client, p->gone ? -1 : 0, p->gone ? ENODEV : 0);
}

static gboolean on_ioctl(UMockdevIoctlBase *handler, UMockdevIoctlClient *client, gpointer context)
{
    (void)handler;
    probe *p = context;
    gboolean handled = TRUE;
    g_mutex_lock(&p->bus->lock);
    switch (umockdev_ioctl_client_get_request(client)) {
    case USBDEVFS_GET_CAPABILITIES: {
        uint32_t caps = USBDEVFS_CAP_ZERO_PACKET | USBDEVFS_CAP_NO_PACKET_SIZE_LIM |
                        USBDEVFS_CAP_BULK_CONTINUATION | USBDEVFS_CAP_REAP_AFTER_DISCONNECT;
        UMockdevIoctlData *arg =
            umockdev_ioctl_data_resolve(umockdev_ioctl_client_get_arg(client), 0, sizeof caps, NULL);
        umockdev_ioctl_data_update(arg, 0, (guint8 *)&caps, sizeof caps);
        g_object_unref(arg);
        umockdev_ioctl_client_complete(client, 0, 0);
        break;
    }
    case USBDEVFS_CLAIMINTERFACE:
    case USBDEVFS_DISCONNECT_CLAIM:
        if (p->bus->taken) {
            umockdev_ioctl_client_complete(client, -1, EBUSY);
            break;
        } /* fall through */
    case USBDEVFS_RELEASEINTERFACE:
    case USBDEVFS_SETINTERFACE:
    case USBDEVFS_SETCONFIGURATION:
    case USBDEVFS_RESET:
        umockdev_ioctl_client_complete(client, p->gone ? -1 : 0, p->gone ? ENODEV : 0);
        break;
    case USBDEVFS_CLEAR_HALT: clear_halt(p, client); break;
    case USBDEVFS_SUBMITURB: submit(p, client); break;
    case USBDEVFS_REAPURB:
    case USBDEVFS_REAPURBNDELAY: reap(p, client); break;
    case USBDEVFS_DISCARDURB: discard(p, client); break;
    default: umockdev_ioctl_client_complete(client, -1, ENOTTY); break;
    }
    g_mutex_unlock(&p->bus->lock);
    return handled;
}

/* ---- The bus ------------------------------------------------------------------------------------- */

model_bus *model_bus_new(void)
{
    model_bus *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->bed = umockdev_testbed_new();
    g_mutex_init(&b->lock);
    return b;
}

static void must(gboolean good, GError *error)
{
    if (good) return;
    fprintf(stderr, "test bed: %s\n", error->message);
    abort();
}

/* What the kernel shows of an interface. */
static void add_interface(model_bus *b, const probe *p, uint32_t port, uint32_t number)
{
    char text[300];
    GError *error = NULL;
    snprintf(text, sizeof text,
             "P: /devices/pci0000:00/0000:00:01.0/usb1/1-%u/1-%u:1.%u\nE: DEVTYPE=usb_interface\n"
             "E: SUBSYSTEM=usb\nA: interface=%s\\n\n\n",
             port, port, number, string_of(p, (uint8_t)(4 + number)));
    must(umockdev_testbed_add_from_string(b->bed, text, &error), error);
}

void model_bus_plug(model_bus *b, model *m, bool hid_only)
{
    probe *p = calloc(1, sizeof *p);
    p->bus = b;
    p->m = m;
    p->hid_only = hid_only;
    uint32_t port = ++b->n;
    b->probes[port - 1] = p;
    uint8_t raw[18 + CONFIG_BYTES];
    uint32_t n = descriptors(p, raw);
    char hex[2 * sizeof raw + 1], text[1024], node[64];
    for (uint32_t i = 0; i < n; i++)
        sprintf(hex + 2 * i, "%02x", raw[i]);
    snprintf(node, sizeof node, "/dev/bus/usb/001/%03u", port + 1);
    snprintf(text, sizeof text,
             "P: /devices/pci0000:00/0000:00:01.0/usb1/1-%u\nN: bus/usb/001/%03u\nE: DEVTYPE=usb_device\n"
             "E: SUBSYSTEM=usb\nE: DEVNAME=%s\nE: BUSNUM=001\nE: DEVNUM=%03u\nA: busnum=1\\n\nA: "
             "devnum=%u\\n\nA: speed=480\\n\n"
             "A: bConfigurationValue=1\\n\nA: bNumConfigurations=1\\n\nA: serial=%s\\n\nA: product=%s\\n\n"
             "H: descriptors=%s\n\n",
             port, port + 1, node, port + 1, port + 1, string_of(p, 3), string_of(p, 2), hex);
    GError *error = NULL;
    must(umockdev_testbed_add_from_string(b->bed, text, &error), error);
    add_interface(b, p, port, 0);
    if (!hid_only) add_interface(b, p, port, 1);
    p->syspath = g_strdup_printf("/sys/devices/pci0000:00/0000:00:01.0/usb1/1-%u", port);
    p->handler = umockdev_ioctl_base_new();
    g_signal_connect(p->handler, "handle-ioctl", G_CALLBACK(on_ioctl), p);
    must(umockdev_testbed_attach_ioctl(b->bed, node, p->handler, &error), error);
}

void model_bus_forbid(model_bus *b)
{
    gchar *root = umockdev_testbed_get_root_dir(b->bed);
    chmod(root, 0777);
    for (uint32_t i = 0; i < b->n; i++) {
        char node[256];
        snprintf(node, sizeof node, "%s/dev/bus/usb/001/%03u", root, i + 2);
        chmod(node, 0);
        /* libumockdev connects this before it looks whether the node could be opened. */
        snprintf(node, sizeof node, "%s/ioctl/dev/bus/usb/001/%03u", root, i + 2);
        chmod(node, 0777);
    }
    g_free(root);
}

void model_bus_take(model_bus *b, bool taken)
{
    model_bus_lock(b);
    b->taken = taken;
    model_bus_unlock(b);
}

void model_bus_replug(model_bus *b)
{
    model_bus_lock(b);
    for (uint32_t i = 0; i < b->n; i++) {
        probe *p = b->probes[i];
        p->gone = p->late = false;
        p->n_answers = 0;
        memset(p->halted, 0, sizeof p->halted);
        while (p->n_urbs)
            drop(p, 0);
    }
    model_bus_unlock(b);
}

void model_bus_lock(model_bus *b)
{
    g_mutex_lock(&b->lock);
}

void model_bus_unlock(model_bus *b)
{
    g_mutex_unlock(&b->lock);
}

uint32_t model_bus_in_flight(model_bus *b)
{
    uint32_t n = 0;
    model_bus_lock(b);
    for (uint32_t i = 0; i < b->n; i++)
        n += b->probes[i]->n_urbs;
    model_bus_unlock(b);
    return n;
}

void model_bus_env(model_bus *b)
{
    gchar *root = umockdev_testbed_get_root_dir(b->bed);
    setenv("UMOCKDEV_DIR", root, 1);
    setenv("LD_PRELOAD", "libumockdev-preload.so.0", 1);
    const char *asan = getenv("ASAN_OPTIONS");
    char options[256];
    snprintf(options, sizeof options, "%s%sverify_asan_link_order=0", asan ? asan : "", asan ? ":" : "");
    setenv("ASAN_OPTIONS", options, 1);
    g_free(root);
}

void model_bus_free(model_bus *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        probe *p = b->probes[i];
        char node[64];
        snprintf(node, sizeof node, "/dev/bus/usb/001/%03u", i + 2);
        umockdev_testbed_detach_ioctl(b->bed, node, NULL);
        while (p->n_urbs)
            drop(p, 0);
        g_object_unref(p->handler);
        g_free(p->syspath);
        free(p);
    }
    g_object_unref(b->bed);
    g_mutex_clear(&b->lock);
    free(b);
}
