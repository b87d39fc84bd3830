/* Zones to a Tracy client library, by the functions of its C API (wolfpld/tracy, public/tracy/TracyC.h at aa53e37), which are looked
 * up by name: Tracy is neither linked nor needed. Not for files that Tracy imports (report/fxt.c). */
#ifndef DEVLOG_OUTLETS_TRACY_H
#define DEVLOG_OUTLETS_TRACY_H

#include "outlets/outlets.h"

/* A place in a program. It begins as Tracy's struct ___tracy_source_location_data, and lives as long as the process, as that has to. */
typedef struct outlet_site {
    const char *name, *function, *file;
    uint32_t line, color;
    void *itt;
} outlet_site;

/* Finds the library: in the process, else as DEVLOG_TRACY says. DEVLOG_ERR_NOT_FOUND: there is none, or it lacks what zones need. */
devlog_status tracy_open(devlog_error *err);

/* False: it was not sent, and must not be ended. */
bool tracy_begin(const outlet_site *site, uint64_t zone[2]);
void tracy_end(const uint64_t zone[2]);
void tracy_value(const outlet_site *site, uint64_t value);
void tracy_message(const outlet_site *site, const char *text, size_t n);
void tracy_thread(const char *name);
/* A block of memory; false: Tracy must not be told of its end. */
bool tracy_alloc(const void *block, size_t bytes, const char *pool);
void tracy_free(const void *block, const char *pool);
/* A lock; NULL: the library knows none, or it was not sent. `wait` and `tried` are false when Tracy must not be told the rest. */
void *tracy_lock(const outlet_site *site, const char *name);
bool tracy_lock_wait(void *lock);
bool tracy_lock_tried(void *lock);
void tracy_lock_held(void *lock);
void tracy_lock_released(void *lock);
void tracy_lock_end(void *lock);
/* Events that were not sent since the last call. */
unsigned long long tracy_take_unsent(void);

/* ---- Devices (tracy_device.c) --- */

typedef struct tracy_device_zone {
    uint64_t start, end; /* ns of the chip's clock */
    const char *name, *file;
    uint32_t line, depth;
    uint32_t chip, row; /* which RISC: a number of the caller, and its name */
    const char *row_name;
} tracy_device_zone;

/* Zones of one launch, which it puts in order. `now`: the chip's clock, ns, as of host_ns of CLOCK_MONOTONIC. */
void tracy_device_zones(tracy_device_zone *zones, size_t n, uint64_t now, uint64_t host_ns);

/* Of the C API: GPU zones, by functions that any thread may call. */
typedef struct tracy_gpu_context {
    int64_t time;
    float period;
    uint8_t context, flags, type;
} tracy_gpu_context;
typedef struct tracy_gpu_name {
    uint8_t context;
    const char *name;
    uint16_t size;
} tracy_gpu_name;
typedef struct tracy_gpu_begin {
    uint64_t site;
    uint16_t query;
    uint8_t context;
} tracy_gpu_begin;
typedef struct tracy_gpu_end {
    uint16_t query;
    uint8_t context;
} tracy_gpu_end;
typedef struct tracy_gpu_time {
    int64_t time;
    uint16_t query;
    uint8_t context;
} tracy_gpu_time;

typedef struct tracy_gpu {
    void (*new_context)(tracy_gpu_context);
    void (*name)(tracy_gpu_name);
    void (*begin)(tracy_gpu_begin);
    void (*end)(tracy_gpu_end);
    void (*time)(tracy_gpu_time);
} tracy_gpu;

/* NULL: the library has them not, or Tracy is off. */
const tracy_gpu *tracy_gpu_calls(void);
/* Whether `events` more may be sent: until somebody is connected Tracy keeps all in memory, so that there is a bound. */
bool tracy_may_send(uint64_t events);
/* Counts events that were not sent. */
void tracy_unsent(uint64_t events);

#endif
