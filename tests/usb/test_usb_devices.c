/* Finding probes: two at once, old ones, those of somebody else, chips that do not fit; each in one line that
 * says what to do. And what `devlog devices` makes of them. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process.h"
#include "usb/rig.h"

static void fails_with(rig *r, const char *which, devlog_status expected, const char *says, const char *cure)
{
    devlog_status status = rig_connect(r, which);
    if (status != expected) fail_msg("status %d (%s), expected %d", status, r->err.text, expected);
    if (!strstr(r->err.text, says) || !strstr(r->err.text, cure) || strchr(r->err.text, '\n'))
        fail_msg("'%s' does not say '%s' and '%s'", r->err.text, says, cure);
}

static void two_probes(void **state)
{
    (void)state;
    rig r;
    model_options o = rig_options("usb_tile");
    rig_plug(&r, "usb_tile", &o);
    model_options o2 = o;
    o2.serial = "SECOND";
    model *second = model_create(&r.b, &o2);
    model_bus_plug(r.bus, second, false);
    fails_with(&r, NULL, DEVLOG_ERR_ARGUMENT, "2 probes: choose one", "DEVLOG0001 (USB 1-1)");
    fails_with(&r, "THIRD", DEVLOG_ERR_NOT_FOUND, "no probe 'THIRD'", "SECOND (USB 1-2)");
    static const char *const names[] = {"SECOND", "1-2", "DEVLOG0001", "1-1"};
    for (int i = 0; i < 4; i++) {
        uint32_t word = 0x1000 + (uint32_t)i, there;
        rig_ok(&r, rig_connect(&r, names[i]));
        rig_ok(&r, dl_write(&r.t, r.at, 0x48000, &word, 4, &r.err));
        dl_transport_close(&r.t);
        sim *s = model_sim(i < 2 ? second : r.m);
        memcpy(&there, sim_ram_bytes(s, 0, 0) + 0x48000, 4);
        assert_int_equal(there, word);
    }
    model_bus_free(r.bus);
    model_destroy(second);
    model_destroy(r.m);
}

static void nothing_plugged_in(void **state)
{
    (void)state;
    rig r;
    model_options o = rig_options("usb_tile");
    rig_plug(&r, "usb_tile", &o);
    model_bus_free(r.bus);
    r.bus = model_bus_new();
    fails_with(&r, NULL, DEVLOG_ERR_NOT_FOUND, "no CMSIS-DAP probe on USB", "devlog devices");
    model_bus_plug(r.bus, r.m, true);
    fails_with(&r, NULL, DEVLOG_ERR_UNSUPPORTED, "speaks only CMSIS-DAP v1", "update the probe's firmware");
    model_bus_free(r.bus);
    model_destroy(r.m);
}

static void chips_that_do_not_fit(void **state)
{
    (void)state;
    const struct {
        uint32_t idcode;
        int stuck;
        bool no_jtag;
        devlog_status status;
        const char *says, *cure;
    } cases[] = {
        {0x20000913, 0, false, DEVLOG_ERR_DEVICE, "IDCODE 0x20000913, the board file says 0x1de51001",
         "choose the board that fits"},
        {0x1DE51001, 1, false, DEVLOG_ERR_TRANSPORT, "TDO stays high", "is the board powered"},
        {0x1DE51001, -1, false, DEVLOG_ERR_TRANSPORT, "TDO stays low", "is the board powered"},
        {0x1DE51001, 0, true, DEVLOG_ERR_UNSUPPORTED, "cannot drive JTAG", "use one that can"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rig r;
        model_options o = rig_options("usb_tile");
        o.idcode = cases[i].idcode;
        o.stuck = cases[i].stuck;
        o.no_jtag = cases[i].no_jtag;
        rig_plug(&r, "usb_tile", &o);
        fails_with(&r, NULL, cases[i].status, cases[i].says, cases[i].cure);
        fails_with(&r, NULL, cases[i].status, "probe DEVLOG0001", cases[i].cure);
        model_bus_free(r.bus);
        model_destroy(r.m);
    }
}

/* ---- devlog devices ---- */

static cJSON *list_devices(model_bus *bus, bool as_nobody)
{
    const char *const argv[] = {"setpriv", "--reuid=65534", "--clear-groups", getenv("DEVLOG_BIN"),
                                "devices", "--format",      "json",           NULL};
    dl_output out;
    devlog_error err = {0};
    model_bus_env(bus);
    devlog_status status = dl_process_run(as_nobody ? argv : argv + 3, &out, &err);
    unsetenv("LD_PRELOAD");
    if (status != DEVLOG_OK || out.exit != 0) fail_msg("%s%s", err.text, status == DEVLOG_OK ? out.text : "");
    cJSON *all = cJSON_Parse(out.text);
    if (!all) fail_msg("not JSON: %s", out.text);
    free(out.text);
    return all;
}

static const char *cell(const cJSON *all, const char *name, const char *column)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(all, "devices"))
    {
        if (strcmp(cJSON_GetObjectItem(row, "name")->valuestring, name) == 0)
            return cJSON_GetObjectItem(row, column)->valuestring;
    }
    fail_msg("no device '%s'", name);
    return "";
}

static void listed(void **state)
{
    (void)state;
    rig r;
    model_options o = rig_options("usb_tile");
    rig_plug(&r, "usb_tile", &o);
    model_options o2 = o;
    o2.serial = "OLD";
    model *old = model_create(&r.b, &o2);
    model_bus_plug(r.bus, old, true);
    cJSON *all = list_devices(r.bus, false);
    assert_string_equal(cell(all, "usb:DEVLOG0001", "state"), "ready");
    assert_string_equal(cell(all, "usb:DEVLOG0001", "cure"), "");
    assert_string_equal(cell(all, "usb:OLD", "state"), "too old");
    assert_non_null(strstr(cell(all, "usb:OLD", "cure"), "update the probe's firmware"));
    assert_string_equal(cell(all, "usb_tile", "kind"), "board");
    assert_string_equal(cell(all, "wormhole_b0", "state"), "known");
    cJSON_Delete(all);
    model_bus_free(r.bus);
    model_destroy(old);
    model_destroy(r.m);
}

static void in_use(void **state)
{
    (void)state;
    rig r;
    model_options o = rig_options("usb_tile");
    rig_plug(&r, "usb_tile", &o);
    model_bus_take(r.bus, true);
    fails_with(&r, NULL, DEVLOG_ERR_TRANSPORT, "another program has opened it", "end that first");
    cJSON *all = list_devices(r.bus, false);
    assert_string_equal(cell(all, "usb:DEVLOG0001", "state"), "in use");
    cJSON_Delete(all);
    model_bus_take(r.bus, false);
    rig_ok(&r, rig_connect(&r, NULL));
    rig_close(&r);
}

static void no_permission(void **state)
{
    (void)state;
    if (geteuid() == 0 && access("/usr/bin/setpriv", X_OK) != 0) {
        puts("skipped: root may open everything, and there is no setpriv");
        skip();
    }
    rig r;
    model_options o = rig_options("usb_tile");
    rig_plug(&r, "usb_tile", &o);
    model_bus_forbid(r.bus);
    cJSON *all = list_devices(r.bus, geteuid() == 0);
    assert_string_equal(cell(all, "usb:DEVLOG0001", "state"), "no permission");
    const char *cure = cell(all, "usb:DEVLOG0001", "cure");
    if (!strstr(cure, "ATTR{idVendor}==\"1209\", ATTR{idProduct}==\"de01\"") || !strstr(cure, "udevadm"))
        fail_msg("%s", cure);
    cJSON_Delete(all);
    model_bus_free(r.bus);
    model_destroy(r.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_probes),
        cmocka_unit_test(nothing_plugged_in),
        cmocka_unit_test(chips_that_do_not_fit),
        cmocka_unit_test(listed),
        cmocka_unit_test(in_use),
        cmocka_unit_test(no_permission),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
