/* The public functions that tt-metal counts, each with its calls and its time, and closing a device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/term.h"
#include "profiler/api.h"
#include "profiler/buffer_api.h"
#include "profiler/clock_sync.h"
#include "profiler/control.h"
#include "profiler/ops_device.h"
#include "profiler/periodic.h"
#include "profiler/profiler.h"

static const char *const names[DEVLOG_API_COUNT] = {
    [DEVLOG_API_COMPILE_PROGRAM] = "CompileProgram",
    [DEVLOG_API_CONFIGURE_DEVICE_WITH_PROGRAM] = "ConfigureDeviceWithProgram",
    [DEVLOG_API_LAUNCH_PROGRAM] = "LaunchProgram",
    [DEVLOG_API_READ_FROM_DEVICE] = "ReadFromDevice",
    [DEVLOG_API_WRITE_TO_DEVICE] = "WriteToDevice",
    [DEVLOG_API_DUMP_DEVICE_PROFILE_RESULTS] = "DumpDeviceProfileResults",
};

const char *devlog_api_name(devlog_api api)
{
    return (unsigned)api < DEVLOG_API_COUNT ? names[api] : "";
}

devlog_api_stats devlog_device_api_stats(const devlog_device *device, devlog_api api)
{
    return (unsigned)api < DEVLOG_API_COUNT ? device->api[api] : (devlog_api_stats){0, 0};
}

devlog_status api_counted(devlog_device *device, devlog_api api, uint64_t start, size_t bytes,
                          devlog_status status)
{
    uint64_t ns = dl_now_ns() - start;
    device->api[api].calls++;
    device->api[api].total_ns += ns;
    ops_count(device->ops, api, ns, status == DEVLOG_OK ? bytes : 0);
    return status;
}

static devlog_status counted(devlog_device *device, devlog_api api, uint64_t start, devlog_status status)
{
    return api_counted(device, api, start, 0, status);
}

devlog_status devlog_write_to_device(devlog_device *device, devlog_core core, uint32_t address,
                                     const void *data, size_t size, devlog_error *err)
{
    uint64_t start = dl_now_ns();
    devlog_status status = dl_core_write(device, core, address, data, size, err);
    return api_counted(device, DEVLOG_API_WRITE_TO_DEVICE, start, size, status);
}

devlog_status devlog_read_from_device(devlog_device *device, devlog_core core, uint32_t address, void *data,
                                      size_t size, devlog_error *err)
{
    uint64_t start = dl_now_ns();
    devlog_status status = dl_core_read(device, core, address, data, size, err);
    return api_counted(device, DEVLOG_API_READ_FROM_DEVICE, start, size, status);
}

devlog_status devlog_compile_program(devlog_program *program, devlog_error *err)
{
    uint64_t start = dl_now_ns();
    devlog_status status = program_compile(program, err);
    return counted(program->device, DEVLOG_API_COMPILE_PROGRAM, start, status);
}

devlog_status devlog_configure_device_with_program(devlog_device *device, devlog_program *program,
                                                   devlog_error *err)
{
    uint64_t start = dl_now_ns();
    devlog_status status = device->profile ? profiler_prepare(device, err) : DEVLOG_OK;
    if (status == DEVLOG_OK) status = program_configure(device, program, err);
    if (status == DEVLOG_OK && device->profile) status = clocks_open(device, program, err);
    return counted(device, DEVLOG_API_CONFIGURE_DEVICE_WITH_PROGRAM, start, status);
}

devlog_status devlog_dump_device_profile_results(devlog_device *device, devlog_error *err)
{
    uint64_t start = dl_now_ns();
    devlog_status status = profiler_dump(device, err);
    return counted(device, DEVLOG_API_DUMP_DEVICE_PROFILE_RESULTS, start, status);
}

/* For whoever looks at it later; the message says what became of it. */
static void save_postmortem(devlog_device *device, devlog_error *err)
{
    const char *path = device->wishes.postmortem;
    devlog_error why;
    if (!path || !err) return;
    bool saved = devlog_save_state(device, path, &why) == DEVLOG_OK;
    size_t used = strlen(err->text), room = sizeof err->text - used;
    if (saved)
        snprintf(err->text + used, room, "; look at it with: devlog dump %s", path);
    else if (strncmp(err->text, why.text, strlen(why.text)) == 0)
        snprintf(err->text + used, room, "; so nothing of its state could be saved in %s", path);
    else
        snprintf(err->text + used, room, "; its state could not be saved: %s", why.text);
}

devlog_status devlog_launch_program(devlog_device *device, devlog_program *program, devlog_error *err)
{
    devlog_status ready = dl_device_runs(device, "nothing can be launched on it", err);
    if (ready == DEVLOG_OK) ready = periodic_before(device, err);
    if (ready == DEVLOG_OK) ready = program_switch_markers(device, program, err);
    if (ready == DEVLOG_OK && device->profile) ready = control_arm(device, program, err);
    if (ready == DEVLOG_OK && device->profile && !device->paused) ready = clocks_before_launch(device, err);
    if (ready != DEVLOG_OK) return ready;
    ops_launch(device, program);
    uint64_t start = dl_now_ns();
    if (device->clocks) device->clocks->launch_start = dl_transport_now(&device->transport);
    devlog_status status = program_launch(device, program, err);
    if (device->clocks) device->clocks->launch_end = dl_transport_now(&device->transport);
    device->failed = status != DEVLOG_OK;
    counted(device, DEVLOG_API_LAUNCH_PROGRAM, start, status);
    if (status == DEVLOG_ERR_TIMEOUT || status == DEVLOG_ERR_DEVICE) save_postmortem(device, err);
    if (device->paused && status == DEVLOG_OK) return status;
    /* What a program that hangs has recorded so far says where it hangs. */
    if (device->profile &&
        (status == DEVLOG_OK || status == DEVLOG_ERR_TIMEOUT || status == DEVLOG_ERR_DEVICE)) {
        devlog_error later;
        devlog_status dumped = device->paused ? periodic_failed(device, &later) : DEVLOG_OK;
        if (dumped == DEVLOG_OK)
            dumped = devlog_dump_device_profile_results(device, status == DEVLOG_OK ? err : &later);
        devlog_status ended =
            periodic_after(device, status == DEVLOG_OK && dumped == DEVLOG_OK ? err : &later);
        if (status == DEVLOG_OK) return dumped == DEVLOG_OK ? ended : dumped;
    }
    return status;
}

devlog_status devlog_device_close(devlog_device *device, devlog_error *err)
{
    if (!device) return DEVLOG_OK;
    devlog_error first = {.status = DEVLOG_OK}, later;
    /* Of a chip that failed in a launch the caller knows that it does not answer. */
    clocks_close(device, device->failed ? &later : &first);
    buffers_close(device);
    profiler_free(device, first.status == DEVLOG_OK ? &first : &later);
    dl_device_free(device);
    if (first.status != DEVLOG_OK && err) *err = first;
    return first.status;
}
