/* What a program wants of its device beyond how to reach it: its options, and where they leave something open
 * the environment. */
#include "device/wishes.h"

#include <stdlib.h>
#include <string.h>

#include "base/settings.h"

static devlog_status take_switch(devlog_switch option, dl_setting setting, bool unset, bool *out,
                                 devlog_error *err)
{
    if ((unsigned)option > DEVLOG_OFF)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "%d is none of DEVLOG_AUTO, DEVLOG_ON and DEVLOG_OFF",
                       (int)option);
    devlog_status status = dl_setting_flag(setting, unset, out, err);
    if (option != DEVLOG_AUTO) *out = option == DEVLOG_ON;
    return status;
}

/* Enums of options are 0 for AUTO and then go in the order of the setting's words (base/settings.c). */
static devlog_status take_choice(int option, int most, const char *what, dl_setting setting, int *out,
                                 devlog_error *err)
{
    int word;
    if (option < 0 || option > most)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "there is no %s %d", what, option);
    devlog_status status = dl_setting_choice(setting, 0, &word, err);
    if (status == DEVLOG_OK) *out = option ? option : word + 1;
    return status;
}

static devlog_status take_number(uint32_t option, dl_setting setting, uint32_t unset, uint32_t *out,
                                 devlog_error *err)
{
    uint64_t number;
    devlog_status status = dl_setting_number(setting, unset, &number, err);
    if (status == DEVLOG_OK) *out = option ? option : (uint32_t)number;
    return status;
}

static devlog_status take_periodic(const devlog_device_options *o, device_periodic *out, devlog_error *err)
{
    devlog_status status = take_number(o->capture_every, DL_SET_CAPTURE_EVERY, 0, &out->every, err);
    if (!status) status = take_number(o->capture_launches, DL_SET_CAPTURE_LAUNCHES, 0, &out->launches, err);
    if (!status) status = take_number(o->capture_ms, DL_SET_CAPTURE_MS, 0, &out->ms, err);
    if (!status) status = take_number(o->capture_most, DL_SET_CAPTURE_MOST, 0, &out->most, err);
    if (!status)
        status = take_number(o->capture_keep, DL_SET_CAPTURE_KEEP, PERIODIC_KEEP_ALL, &out->keep, err);
    if (o->capture_keep == DEVLOG_KEEP_VIOLATED) out->keep = 0;
    const bool details = o->capture_launches || o->capture_ms || o->capture_most || o->capture_keep;
    if (!status && details && !out->every)
        status = dl_fail(
            err, DEVLOG_ERR_ARGUMENT,
            "captures are periodic when capture_every, or DEVLOG_CAPTURE_EVERY, says of which launches; it says nothing");
    return status;
}

devlog_status device_wish(const devlog_device_options *o, device_wishes *out, bool *profile,
                          devlog_error *err)
{
    int recording = 0, style = 0;
    memset(out, 0, sizeof *out);
    devlog_status status = take_choice((int)o->recording, DEVLOG_RECORD_STREAM, "recording mode",
                                       DL_SET_RECORDING, &recording, err);
    if (status == DEVLOG_OK)
        status = take_choice((int)o->log_style, DEVLOG_STYLE_L0, "log style", DL_SET_LOG_STYLE, &style, err);
    if (status == DEVLOG_OK) status = take_switch(o->profile, DL_SET_DEVICE_PROFILER, false, profile, err);
    if (status == DEVLOG_OK) status = take_switch(o->capture, DL_SET_CAPTURE, true, &out->capture, err);
    if (status == DEVLOG_OK)
        status = take_switch(o->clock_sync, DL_SET_CLOCK_SYNC, true, &out->clock_sync, err);
    if (status == DEVLOG_OK) status = dl_setting_flag(DL_SET_WAITS, false, &out->waits, err);
    if (status == DEVLOG_OK) status = take_periodic(o, &out->periodic, err);
    if (status == DEVLOG_OK && (unsigned)o->results > DEVLOG_KEEP_ALL)
        status = dl_fail(err, DEVLOG_ERR_ARGUMENT,
                         "results are kept of none, of the latest or of all launches; there is no %d",
                         (int)o->results);
    if (status != DEVLOG_OK) return status;
    out->results = o->results;
    out->recording = (devlog_recording)recording;
    out->log_style = (devlog_log_style)style;
    out->stream_bytes = o->stream_bytes;
    const char *path = o->postmortem ? o->postmortem : dl_setting_text(DL_SET_POSTMORTEM);
    if (path && *path && !(out->postmortem = strdup(path)))
        return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the device");
    return DEVLOG_OK;
}
