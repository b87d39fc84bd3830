/* Saved states of any bytes: opened, and looked at as `devlog dump` does, with a small board. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "profiler/look.h"
#include "transport/saved.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static devlog_status ignore(void *context, const look_risc *risc, devlog_error *err)
{
    (void)context, (void)risc, (void)err;
    return DEVLOG_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static devlog_device device;
    static const look_options nothing;
    devlog_error err;
    dl_str bytes = {0};
    uint32_t cores;
    if (device.board.n_riscs == 0) {
        setenv("DEVLOG_CACHE", "/nowhere", 1);
        if (board_load("fe310", &device.board, &err) != DEVLOG_OK) abort();
        device.attached = true;
    }
    memset(&device.transport, 0, sizeof device.transport);
    device.transport.ops = dl_transport_find("saved");
    dl_str_add_n(&bytes, (const char *)data, size);
    if (saved_parse(&bytes, "fuzz", &device.transport, &err) == DEVLOG_OK) {
        fuzz_got_inside();
        look_at_device(&device, &nothing, ignore, NULL, &cores, &err);
        dl_transport_close(&device.transport);
    }
    dl_str_free(&bytes);
    return 0;
}
