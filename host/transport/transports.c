/* The table of transports, and what all of them have in common: counting. */
#include "transport/transport.h"

#include <string.h>
#include <time.h>

#include "base/term.h"

extern const dl_transport_ops dl_transport_ops_sim, dl_transport_ops_ttsim, dl_transport_ops_qemu,
    dl_transport_ops_usb, dl_transport_ops_kmd, dl_transport_ops_saved;

static const dl_transport_ops *const all[] = {
    &dl_transport_ops_sim, &dl_transport_ops_ttsim, &dl_transport_ops_qemu,
    &dl_transport_ops_usb, &dl_transport_ops_kmd,   &dl_transport_ops_saved,
};

const dl_transport_ops *dl_transport_at(uint32_t i)
{
    return i < sizeof all / sizeof all[0] ? all[i] : NULL;
}

const dl_transport_ops *dl_transport_find(const char *name)
{
    for (uint32_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i]->name, name) == 0) return all[i];
    return NULL;
}

devlog_status dl_transport_open(dl_transport *t, const dl_transport_ops *ops, const dl_transport_setup *setup,
                                devlog_error *err)
{
    memset(t, 0, sizeof *t);
    t->ops = ops;
    devlog_status status = ops->open(t, setup, err);
    if (status != DEVLOG_OK) memset(t, 0, sizeof *t);
    return status;
}

void dl_transport_close(dl_transport *t)
{
    if (t->ops) t->ops->close(t);
    t->ops = NULL;
    t->state = NULL;
}

devlog_status dl_read(dl_transport *t, dl_target at, uint64_t addr, void *dst, size_t size, devlog_error *err)
{
    t->reads++;
    t->bytes_read += size;
    t->partial = 0;
    return t->ops->read(t, at, addr, dst, size, err);
}

devlog_status dl_write(dl_transport *t, dl_target at, uint64_t addr, const void *src, size_t size,
                       devlog_error *err)
{
    t->writes++;
    t->bytes_written += size;
    return t->ops->write(t, at, addr, src, size, err);
}

bool dl_transport_time_is_cycles(const dl_transport *t)
{
    return t->ops->now_ns && t->ops->advance;
}

void dl_transport_wait_ms(dl_transport *t, uint32_t ms)
{
    if (t->ops->wait_ms)
        t->ops->wait_ms(t, ms);
    else
        nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000}, NULL);
}

uint64_t dl_transport_now(dl_transport *t)
{
    return t->ops->now_ns ? t->ops->now_ns(t) : dl_now_ns();
}
