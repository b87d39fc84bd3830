/* USDT probes. See the header. A probe is a nop of one byte, and a note in the file that says where it is and which registers
 * hold its arguments (sys/sdt.h of systemtap). */
#include "outlets/usdt.h"

#ifdef DEVLOG_SDT
#include <sys/sdt.h>

bool usdt_built_in(void)
{
    return true;
}
void usdt_begin(const char *name, const char *file, uint32_t line)
{
    DTRACE_PROBE3(devlog, zone_begin, name, file, line);
}
void usdt_end(const char *name)
{
    DTRACE_PROBE1(devlog, zone_end, name);
}
void usdt_value(const char *name, uint64_t value)
{
    DTRACE_PROBE2(devlog, value, name, value);
}
void usdt_message(const char *name, const char *text, size_t n)
{
    DTRACE_PROBE3(devlog, message, name, text, n);
}
void usdt_alloc(const char *pool, const void *block, size_t bytes)
{
    DTRACE_PROBE3(devlog, alloc, pool, block, bytes);
}
void usdt_free(const char *pool, const void *block)
{
    DTRACE_PROBE2(devlog, free, pool, block);
}
void usdt_lock_wait(const char *name)
{
    DTRACE_PROBE1(devlog, lock_wait, name);
}
void usdt_lock_held(const char *name)
{
    DTRACE_PROBE1(devlog, lock_held, name);
}
void usdt_lock_released(const char *name)
{
    DTRACE_PROBE1(devlog, lock_released, name);
}

#else

bool usdt_built_in(void)
{
    return false;
}
void usdt_begin(const char *name, const char *file, uint32_t line)
{
    (void)name, (void)file, (void)line;
}
void usdt_end(const char *name)
{
    (void)name;
}
void usdt_value(const char *name, uint64_t value)
{
    (void)name, (void)value;
}
void usdt_message(const char *name, const char *text, size_t n)
{
    (void)name, (void)text, (void)n;
}
void usdt_alloc(const char *pool, const void *block, size_t bytes)
{
    (void)pool, (void)block, (void)bytes;
}
void usdt_free(const char *pool, const void *block)
{
    (void)pool, (void)block;
}
void usdt_lock_wait(const char *name)
{
    (void)name;
}
void usdt_lock_held(const char *name)
{
    (void)name;
}
void usdt_lock_released(const char *name)
{
    (void)name;
}
#endif
