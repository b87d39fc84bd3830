/* libusb, loaded when probes are looked for (base/library.h). Included by usb_probe.c alone, which has its
 * table. */
#ifndef DEVLOG_TRANSPORT_USB_LIBRARY_H
#define DEVLOG_TRANSPORT_USB_LIBRARY_H

#include <libusb.h>

#include "base/library.h"

/* clang-format off */
#define USB_FUNCTIONS(X) \
    X(libusb_alloc_transfer) X(libusb_bulk_transfer) X(libusb_cancel_transfer) X(libusb_claim_interface) \
    X(libusb_clear_halt) X(libusb_close) X(libusb_error_name) X(libusb_exit) \
    X(libusb_free_config_descriptor) X(libusb_free_device_list) X(libusb_free_transfer) \
    X(libusb_get_active_config_descriptor) X(libusb_get_bus_number) X(libusb_get_config_descriptor) \
    X(libusb_get_device_descriptor) X(libusb_get_device_list) X(libusb_get_port_numbers) \
    X(libusb_get_string_descriptor_ascii) X(libusb_handle_events_timeout) X(libusb_init) X(libusb_open) \
    X(libusb_release_interface) X(libusb_set_auto_detach_kernel_driver) \
    X(libusb_set_interface_alt_setting) X(libusb_submit_transfer)
/* clang-format on */

static struct {
    USB_FUNCTIONS(DL_LIBRARY_FIELD)
} usb;
static const char *const usb_names[] = {USB_FUNCTIONS(DL_LIBRARY_NAME)};
#define libusb_alloc_transfer                usb.libusb_alloc_transfer
#define libusb_bulk_transfer                 usb.libusb_bulk_transfer
#define libusb_cancel_transfer               usb.libusb_cancel_transfer
#define libusb_claim_interface               usb.libusb_claim_interface
#define libusb_clear_halt                    usb.libusb_clear_halt
#define libusb_close                         usb.libusb_close
#define libusb_error_name                    usb.libusb_error_name
#define libusb_exit                          usb.libusb_exit
#define libusb_free_config_descriptor        usb.libusb_free_config_descriptor
#define libusb_free_device_list              usb.libusb_free_device_list
#define libusb_free_transfer                 usb.libusb_free_transfer
#define libusb_get_active_config_descriptor  usb.libusb_get_active_config_descriptor
#define libusb_get_bus_number                usb.libusb_get_bus_number
#define libusb_get_config_descriptor         usb.libusb_get_config_descriptor
#define libusb_get_device_descriptor         usb.libusb_get_device_descriptor
#define libusb_get_device_list               usb.libusb_get_device_list
#define libusb_get_port_numbers              usb.libusb_get_port_numbers
#define libusb_get_string_descriptor_ascii   usb.libusb_get_string_descriptor_ascii
#define libusb_handle_events_timeout         usb.libusb_handle_events_timeout
#define libusb_init                          usb.libusb_init
#define libusb_open                          usb.libusb_open
#define libusb_release_interface             usb.libusb_release_interface
#define libusb_set_auto_detach_kernel_driver usb.libusb_set_auto_detach_kernel_driver
#define libusb_set_interface_alt_setting     usb.libusb_set_interface_alt_setting
#define libusb_submit_transfer               usb.libusb_submit_transfer

static devlog_status load_usb(devlog_error *err)
{
    return dl_library_load(DEVLOG_LIBUSB, usb_names, sizeof usb_names / sizeof usb_names[0], &usb, err);
}

#endif
