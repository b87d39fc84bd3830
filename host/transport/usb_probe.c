/* CMSIS-DAP v2 probes on USB, by libusb: finding them by the string of their interface, and packets in
 * flight both ways. Not for what is in the packets (usb_dap.c).
 * Source: CMSIS-DAP 2.1, "Connect USB device": a vendor interface whose string contains "CMSIS-DAP", bulk
 * OUT for commands, then bulk IN for answers. */
#include "transport/usb_probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/term.h"
#include "transport/usb_library.h"

enum { MAX_PORTS = 7, DRAIN_MS = 5, USB_CLASS_HID = 3, USB_CLASS_VENDOR = 255 };

typedef struct slot {
    struct libusb_transfer *out, *in;
    usb_packet *packet;
    bool out_flies, in_flies;
    uint8_t answer[USB_PACKET_MAX];
} slot;

struct usb_probe {
    usb_link link;
    libusb_context *context;
    libusb_device_handle *handle;
    int interface;
    uint8_t out, in;
    uint32_t timeout_ms;
    slot slots[USB_DEPTH_MAX];
};

/* ---- What a device says of itself ---------------------------------------------------------------- */

typedef struct found {
    int number; /* of the interface; -1: none */
    uint8_t out, in, string, alternate;
    uint16_t packet_bytes;
} found;

static void path_of(libusb_device *device, char *out, size_t size)
{
    uint8_t ports[MAX_PORTS];
    int n = libusb_get_port_numbers(device, ports, MAX_PORTS);
    int used = snprintf(out, size, "%d", libusb_get_bus_number(device));
    for (int i = 0; i < n; i++)
        used += snprintf(out + used, size - (size_t)used, "%c%d", i == 0 ? '-' : '.', ports[i]);
}

/* A text that Linux has read from the device: readable for everyone, also when the device is not. */
static void kernel_text(const char *path, const char *name, char *out, size_t size)
{
    char file[160];
    out[0] = 0;
    snprintf(file, sizeof file, "/sys/bus/usb/devices/%s/%s", path, name);
    FILE *f = fopen(file, "re");
    if (!f) return;
    if (!fgets(out, (int)size, f)) out[0] = 0;
    out[strcspn(out, "\n")] = 0;
    fclose(f);
}

static void device_text(libusb_device_handle *handle, uint8_t index, char *out, size_t size)
{
    out[0] = 0;
    if (handle && index &&
        libusb_get_string_descriptor_ascii(handle, index, (unsigned char *)out, (int)size) < 0)
        out[0] = 0;
}

static bool bulk_ends(const struct libusb_interface_descriptor *d, found *f)
{
    f->out = f->in = 0;
    for (uint8_t i = 0; i < d->bNumEndpoints; i++) {
        const struct libusb_endpoint_descriptor *e = &d->endpoint[i];
        if ((e->bmAttributes & LIBUSB_TRANSFER_TYPE_MASK) != LIBUSB_TRANSFER_TYPE_BULK) continue;
        bool in = e->bEndpointAddress & LIBUSB_ENDPOINT_IN;
        if (in && !f->in) f->in = e->bEndpointAddress;
        if (!in && !f->out) f->out = e->bEndpointAddress;
        if (!in && f->out == e->bEndpointAddress) f->packet_bytes = e->wMaxPacketSize & 0x7FF;
    }
    return f->in && f->out;
}

/* The interface of the probe in a device: by its string, or, where no string can be read, by its shape. */
static found find_interface(const struct libusb_config_descriptor *config, libusb_device_handle *handle,
                            const char *path, bool *hid)
{
    found f = {.number = -1};
    *hid = false;
    for (uint8_t i = 0; i < config->bNumInterfaces; i++) {
        for (int a = 0; a < config->interface[i].num_altsetting; a++) {
            const struct libusb_interface_descriptor *d = &config->interface[i].altsetting[a];
            char text[128], name[80];
            device_text(handle, d->iInterface, text, sizeof text);
            snprintf(name, sizeof name, "%s:%d.%d", path, config->bConfigurationValue, d->bInterfaceNumber);
            if (!text[0]) kernel_text(name, "interface", text, sizeof text);
            if (!strstr(text, "CMSIS-DAP")) continue;
            if (d->bInterfaceClass == USB_CLASS_HID) *hid = true;
            if (d->bInterfaceClass != USB_CLASS_VENDOR || f.number >= 0 || !bulk_ends(d, &f)) continue;
            f.number = d->bInterfaceNumber;
            f.alternate = d->bAlternateSetting;
        }
    }
    return f;
}

static void say_wrong(usb_probe_info *info, int rc)
{
    info->state = rc == LIBUSB_ERROR_ACCESS ? USB_PROBE_NO_ACCESS
                  : rc == LIBUSB_ERROR_BUSY ? USB_PROBE_BUSY
                                            : USB_PROBE_BROKEN;
    if (info->state == USB_PROBE_NO_ACCESS)
        snprintf(
            info->wrong, sizeof info->wrong,
            "no permission: put 'SUBSYSTEM==\"usb\", ATTR{idVendor}==\"%04x\", ATTR{idProduct}==\"%04x\", "
            "MODE=\"0660\", TAG+=\"uaccess\"' in /etc/udev/rules.d/70-devlog.rules, run 'udevadm control "
            "--reload' and plug the probe in again",
            info->vendor, info->device);
    else if (info->state == USB_PROBE_BUSY)
        snprintf(info->wrong, sizeof info->wrong,
                 "another program has opened it (OpenOCD? a debugger?): end that first");
    else
        snprintf(info->wrong, sizeof info->wrong, "cannot be opened (%s): plug it in again",
                 libusb_error_name(rc));
}

/* Looks at one device. False when it is no probe. On true and *handle not NULL it is open. */
static bool look(libusb_device *device, usb_probe_info *info, found *f, libusb_device_handle **handle)
{
    struct libusb_device_descriptor d;
    struct libusb_config_descriptor *config;
    *handle = NULL;
    memset(info, 0, sizeof *info);
    if (libusb_get_device_descriptor(device, &d) != 0 || d.bDeviceClass == LIBUSB_CLASS_HUB) return false;
    if (libusb_get_active_config_descriptor(device, &config) != 0 &&
        libusb_get_config_descriptor(device, 0, &config) != 0)
        return false;
    path_of(device, info->path, sizeof info->path);
    info->vendor = d.idVendor;
    info->device = d.idProduct;
    /* Opening wakes a device up: only those that could be a probe. */
    bool candidate = false;
    for (uint8_t i = 0; i < config->bNumInterfaces; i++) {
        if (config->interface[i].num_altsetting == 0) continue;
        uint8_t class = config->interface[i].altsetting[0].bInterfaceClass;
        candidate |= class == USB_CLASS_VENDOR || class == USB_CLASS_HID;
    }
    int rc = candidate ? libusb_open(device, handle) : LIBUSB_ERROR_NOT_FOUND;
    bool hid = false;
    *f = find_interface(config, *handle, info->path, &hid);
    libusb_free_config_descriptor(config);
    if (f->number < 0 && !hid) {
        if (*handle) libusb_close(*handle);
        *handle = NULL;
        return false;
    }
    device_text(*handle, d.iSerialNumber, info->serial, sizeof info->serial);
    device_text(*handle, d.iProduct, info->product, sizeof info->product);
    if (!info->serial[0]) kernel_text(info->path, "serial", info->serial, sizeof info->serial);
    if (!info->product[0]) kernel_text(info->path, "product", info->product, sizeof info->product);
    if (f->number < 0) {
        info->state = USB_PROBE_OLD;
        snprintf(info->wrong, sizeof info->wrong,
                 "speaks only CMSIS-DAP v1 (HID), which is not supported: update the probe's firmware to v2");
    } else if (rc != 0) {
        say_wrong(info, rc);
    }
    return true;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const usb_probe_info *)a)->path, ((const usb_probe_info *)b)->path);
}

devlog_status usb_probes_list(usb_probe_info **list, size_t *n, devlog_error *err)
{
    libusb_context *context;
    libusb_device **devices;
    *list = NULL;
    *n = 0;
    if (load_usb(err)) return err->status;
    int rc = libusb_init(&context);
    if (rc != 0) return dl_fail(err, DEVLOG_ERR_TRANSPORT, "no USB here: %s", libusb_error_name(rc));
    ssize_t count = libusb_get_device_list(context, &devices);
    devlog_status status = DEVLOG_OK;
    for (ssize_t i = 0; i < count && status == DEVLOG_OK; i++) {
        usb_probe_info info;
        found f;
        libusb_device_handle *handle;
        if (!look(devices[i], &info, &f, &handle)) continue;
        if (handle && f.number >= 0) {
            rc = libusb_claim_interface(handle, f.number);
            if (rc != 0) say_wrong(&info, rc);
            if (rc == 0) libusb_release_interface(handle, f.number);
        }
        if (handle) libusb_close(handle);
        usb_probe_info *bigger = realloc(*list, (*n + 1) * sizeof info);
        if (!bigger) {
            status = dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the list of probes");
            break;
        }
        *list = bigger;
        (*list)[(*n)++] = info;
    }
    if (count >= 0) libusb_free_device_list(devices, 1);
    libusb_exit(context);
    if (*n) qsort(*list, *n, sizeof **list, by_path);
    return status;
}

/* ---- Packets ------------------------------------------------------------------------------------- */

static void LIBUSB_CALL landed(struct libusb_transfer *t)
{
    slot *s = t->user_data;
    if (t == s->out)
        s->out_flies = false;
    else
        s->in_flies = false;
}

static int submit(usb_probe *p, slot *s, usb_packet *packet)
{
    s->packet = packet;
    packet->n_in = 0;
    /* The answer is asked for with the size of a whole packet: less ends it, more is an overflow. */
    libusb_fill_bulk_transfer(s->in, p->handle, p->in, s->answer, (int)p->link.packet_bytes, landed, s,
                              p->timeout_ms + p->link.busy_ms);
    libusb_fill_bulk_transfer(s->out, p->handle, p->out, packet->out, packet->n_out, landed, s,
                              p->timeout_ms + p->link.busy_ms);
    int rc = libusb_submit_transfer(s->in);
    if (rc != 0) return rc;
    s->in_flies = true;
    rc = libusb_submit_transfer(s->out);
    if (rc == 0) s->out_flies = true;
    return rc;
}

static void wait_for(usb_probe *p, const slot *s)
{
    while (s->out_flies || s->in_flies) {
        struct timeval soon = {0, 100000};
        libusb_handle_events_timeout(p->context, &soon);
    }
}

static void cancel_all(usb_probe *p)
{
    for (int i = 0; i < USB_DEPTH_MAX; i++) {
        if (p->slots[i].in_flies) libusb_cancel_transfer(p->slots[i].in);
        if (p->slots[i].out_flies) libusb_cancel_transfer(p->slots[i].out);
    }
    for (int i = 0; i < USB_DEPTH_MAX; i++)
        wait_for(p, &p->slots[i]);
}

/* After a failure: stalls cleared, and answers that come late thrown away. */
static void clear(usb_probe *p)
{
    uint8_t late[USB_PACKET_MAX];
    int n, rc = 0;
    libusb_clear_halt(p->handle, p->out);
    libusb_clear_halt(p->handle, p->in);
    for (int i = 0; i < 2 * USB_DEPTH_MAX && rc == 0; i++)
        rc = libusb_bulk_transfer(p->handle, p->in, late, (int)p->link.packet_bytes, &n, DRAIN_MS);
}

static usb_outcome explain(enum libusb_transfer_status status, const usb_probe *p, devlog_error *err)
{
    switch (status) {
    case LIBUSB_TRANSFER_COMPLETED: return USB_DONE;
    case LIBUSB_TRANSFER_TIMED_OUT:
        dl_fail(err, DEVLOG_ERR_TIMEOUT,
                "did not answer within %u ms: plug it in again, or use a better cable", p->timeout_ms);
        return USB_AGAIN;
    case LIBUSB_TRANSFER_STALL:
        dl_fail(err, DEVLOG_ERR_TRANSPORT, "refused a packet (stall): update its firmware");
        return USB_AGAIN;
    case LIBUSB_TRANSFER_NO_DEVICE:
        dl_fail(err, DEVLOG_ERR_TRANSPORT, "was unplugged: plug it in and start again");
        return USB_GONE;
    default:
        dl_fail(err, DEVLOG_ERR_TRANSPORT,
                "sent a packet that is no answer (USB status %d): use a better cable", (int)status);
        return USB_AGAIN;
    }
}

static usb_outcome explain_submit(int rc, const usb_probe *p, devlog_error *err)
{
    if (rc == LIBUSB_ERROR_NO_DEVICE) return explain(LIBUSB_TRANSFER_NO_DEVICE, p, err);
    if (rc == LIBUSB_ERROR_PIPE) return explain(LIBUSB_TRANSFER_STALL, p, err);
    dl_fail(err, DEVLOG_ERR_TRANSPORT, "takes no packets (%s): plug it in again", libusb_error_name(rc));
    return rc == LIBUSB_ERROR_IO ? USB_AGAIN : USB_IMPOSSIBLE;
}

static usb_outcome exchange(void *owner, usb_packet *packets, size_t n, size_t *done, devlog_error *err)
{
    usb_probe *p = owner;
    size_t sent = 0, depth = p->link.depth < USB_DEPTH_MAX ? p->link.depth : USB_DEPTH_MAX;
    usb_outcome outcome = USB_DONE;
    if (depth == 0) depth = 1;
    *done = 0;
    while (*done < n) {
        while (sent < n && sent < *done + depth && outcome == USB_DONE) {
            int rc = submit(p, &p->slots[sent % depth], &packets[sent]);
            if (rc != 0) outcome = explain_submit(rc, p, err);
            sent++;
        }
        if (outcome != USB_DONE) break;
        slot *s = &p->slots[*done % depth];
        wait_for(p, s);
        outcome = explain(s->out->status, p, err);
        if (outcome == USB_DONE) outcome = explain(s->in->status, p, err);
        if (outcome != USB_DONE) break;
        s->packet->n_in = (uint16_t)s->in->actual_length;
        memcpy(s->packet->in, s->answer, s->packet->n_in);
        p->link.packets++;
        (*done)++;
    }
    if (outcome == USB_DONE) return USB_DONE;
    cancel_all(p);
    /* When an answer was lost, those behind it may have been taken for it: none can be trusted. */
    if (outcome == USB_AGAIN) *done = 0;
    if (outcome == USB_AGAIN) clear(p);
    return outcome;
}

/* ---- Opening ------------------------------------------------------------------------------------- */

void usb_probe_close(usb_probe *p)
{
    if (!p) return;
    for (int i = 0; i < USB_DEPTH_MAX; i++) {
        libusb_free_transfer(p->slots[i].out);
        libusb_free_transfer(p->slots[i].in);
    }
    if (p->handle && p->interface >= 0) libusb_release_interface(p->handle, p->interface);
    if (p->handle) libusb_close(p->handle);
    if (p->context) libusb_exit(p->context);
    free(p);
}

usb_link *usb_probe_link(usb_probe *p)
{
    return &p->link;
}

static bool wanted(const usb_probe_info *info, const char *which)
{
    return !which || !*which || strcmp(which, info->serial) == 0 || strcmp(which, info->path) == 0;
}

static devlog_status claim(usb_probe *p, const found *f, usb_probe_info *info, devlog_error *err)
{
    snprintf(p->link.name, sizeof p->link.name, "probe %s (USB %s)",
             info->serial[0] ? info->serial : info->product, info->path);
    if (!p->handle) return dl_fail(err, DEVLOG_ERR_TRANSPORT, "%s: %s", p->link.name, info->wrong);
    libusb_set_auto_detach_kernel_driver(p->handle, 1);
    int rc = libusb_claim_interface(p->handle, f->number);
    if (rc == 0) p->interface = f->number;
    if (rc == 0 && f->alternate) rc = libusb_set_interface_alt_setting(p->handle, f->number, f->alternate);
    if (rc != 0) {
        say_wrong(info, rc);
        return dl_fail(err, DEVLOG_ERR_TRANSPORT, "%s: %s", p->link.name, info->wrong);
    }
    p->out = f->out;
    p->in = f->in;
    p->link.packet_bytes = f->packet_bytes < 64 ? 64 : f->packet_bytes;
    for (int i = 0; i < USB_DEPTH_MAX; i++) {
        p->slots[i].out = libusb_alloc_transfer(0);
        p->slots[i].in = libusb_alloc_transfer(0);
        if (!p->slots[i].out || !p->slots[i].in)
            return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for USB transfers");
    }
    return DEVLOG_OK;
}

devlog_status usb_probe_open(const char *which, uint32_t timeout_ms, usb_probe **out, devlog_error *err)
{
    if (load_usb(err)) return err->status;
    usb_probe *p = calloc(1, sizeof *p);
    if (!p) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the probe");
    p->interface = -1;
    p->timeout_ms = timeout_ms;
    p->link.owner = p;
    p->link.exchange = exchange;
    p->link.depth = 1;
    libusb_device **devices;
    int rc = libusb_init(&p->context);
    if (rc != 0) {
        free(p);
        return dl_fail(err, DEVLOG_ERR_TRANSPORT, "no USB here: %s", libusb_error_name(rc));
    }
    ssize_t count = libusb_get_device_list(p->context, &devices);
    char names[600] = "";
    size_t used = 0, seen = 0, fit = 0;
    usb_probe_info chosen = {0};
    found chosen_interface = {.number = -1};
    for (ssize_t i = 0; i < count; i++) {
        usb_probe_info info;
        found f;
        libusb_device_handle *handle;
        if (!look(devices[i], &info, &f, &handle)) continue;
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s (USB %s)", seen ? ", " : "",
                                     info.serial[0] ? info.serial : info.product, info.path);
        seen++;
        if (wanted(&info, which) && fit++ == 0) {
            chosen = info;
            chosen_interface = f;
            p->handle = handle;
        } else if (handle) {
            libusb_close(handle);
        }
    }
    if (count >= 0) libusb_free_device_list(devices, 1);
    devlog_status status;
    if (fit == 1 && chosen.state == USB_PROBE_OLD)
        status = dl_fail(err, DEVLOG_ERR_UNSUPPORTED, "probe %s (USB %s) %s", chosen.serial, chosen.path,
                         chosen.wrong);
    else if (fit == 1)
        status = claim(p, &chosen_interface, &chosen, err);
    else if (seen == 0)
        status = dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                         "no CMSIS-DAP probe on USB: plug one in; 'devlog devices' lists them");
    else if (fit == 0)
        status = dl_fail(err, DEVLOG_ERR_NOT_FOUND, "no probe '%.80s'; there are: %s", which, names);
    else
        status =
            dl_fail(err, DEVLOG_ERR_ARGUMENT,
                    "%zu probes: choose one by serial number or bus path, as in usb:SERIAL; there are: %s",
                    fit, names);
    if (status != DEVLOG_OK) {
        usb_probe_close(p);
        return status;
    }
    *out = p;
    return DEVLOG_OK;
}
