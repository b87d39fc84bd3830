/* Host zones as USDT probes of the provider `devlog`: zone_begin(name, file, line), zone_end(name), value(name, value),
 * message(name, text, bytes), alloc(pool, block, bytes), free(pool, block), lock_wait(name), lock_held(name), lock_released(name). perf and bpftrace see them in libdevlog.so. Built where sys/sdt.h is found. */
#ifndef DEVLOG_OUTLETS_USDT_H
#define DEVLOG_OUTLETS_USDT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool usdt_built_in(void);
void usdt_begin(const char *name, const char *file, uint32_t line);
void usdt_end(const char *name);
void usdt_value(const char *name, uint64_t value);
void usdt_message(const char *name, const char *text, size_t n);
void usdt_alloc(const char *pool, const void *block, size_t bytes);
void usdt_free(const char *pool, const void *block);
void usdt_lock_wait(const char *name);
void usdt_lock_held(const char *name);
void usdt_lock_released(const char *name);

#endif
