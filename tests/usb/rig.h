/* A device model on a bus of its own, and our transport open on it, in this process. */
#ifndef DEVLOG_TESTS_USB_RIG_H
#define DEVLOG_TESTS_USB_RIG_H

#include "support/cmocka_all.h"
#include "transport/transport.h"
#include "usb/model/model_usb.h"

enum { RIG_TIMEOUT_MS = 30 };

typedef struct rig {
    board b;
    model *m;
    model_bus *bus;
    dl_transport t;
    dl_target at;
    devlog_error err;
} rig;

static inline void rig_ok(rig *r, devlog_status status)
{
    if (status != DEVLOG_OK) fail_msg("%s: %s", devlog_status_text(status), r->err.text);
}

static inline model_options rig_options(const char *board_name)
{
    board b;
    devlog_error err;
    if (board_load(board_name, &b, &err) != DEVLOG_OK) fail_msg("%s", err.text);
    return model_defaults(&b);
}

/* Plugs the model in, without opening it. */
static inline void rig_plug(rig *r, const char *board_name, const model_options *o)
{
    memset(r, 0, sizeof *r);
    rig_ok(r, board_load(board_name, &r->b, &r->err));
    r->m = model_create(&r->b, o);
    assert_non_null(r->m);
    r->bus = model_bus_new();
    model_bus_plug(r->bus, r->m, false);
    r->at = (dl_target){r->b.columns[0], r->b.rows[0], r->b.columns[0], r->b.rows[0]};
}

static inline devlog_status rig_connect(rig *r, const char *which)
{
    const dl_usb_setup usb = {.khz = r->b.usb_khz, .idcode = r->b.usb_idcode, .timeout_ms = RIG_TIMEOUT_MS};
    dl_hart harts[BOARD_MAX_RISCS];
    for (uint32_t i = 0; i < r->b.n_riscs; i++)
        harts[i] = (dl_hart){r->b.riscs[i].reset_pc, r->b.riscs[i].reset_bit};
    const dl_transport_setup setup = {
        .path = which, .usb = &usb, .mhz = r->b.mhz, .harts = harts, .n_harts = r->b.n_riscs};
    return dl_transport_open(&r->t, dl_transport_find("usb"), &setup, &r->err);
}

static inline void rig_open(rig *r, const char *board_name, const model_options *o)
{
    rig_plug(r, board_name, o);
    rig_ok(r, rig_connect(r, NULL));
}

static inline void rig_close(rig *r)
{
    dl_transport_close(&r->t);
    assert_int_equal(model_bus_in_flight(r->bus), 0);
    model_bus_free(r->bus);
    model_destroy(r->m);
}

#endif
