/* NVTX's names over devlog/host.h: programs that mark their ranges with NVTX (nvToolsExt.h) compile unchanged, and their ranges are zones
 * of host code. Not NVIDIA's header, nor all of it: ranges, marks, names of threads, and domains, which are one.
 *
 *     cc -DPROFILE_HOST -I$(pkg-config --variable=includedir devlog)/devlog/nvtx app.c -ldevlog
 *
 * Without -DPROFILE_HOST nothing is recorded. Ranges that are pushed are popped on their thread, at most DEVLOG_NVTX_DEPTH of them
 * are recorded at a time. A range of nvtxRangeStart ends on the thread on which it began, inside those that are open there: others are
 * counted as zones that never ended. Colours, categories and payloads are not kept. */
#ifndef DEVLOG_NVTX_H
#define DEVLOG_NVTX_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "devlog/host.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { DEVLOG_NVTX_DEPTH = 256 };

#define NVTX_VERSION              3
#define NVTX_INLINE_STATIC        static inline
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)

typedef uint64_t nvtxRangeId_t;
typedef struct dl_nvtx_domain *nvtxDomainHandle_t;

enum { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 };
enum { NVTX_MESSAGE_UNKNOWN = 0, NVTX_MESSAGE_TYPE_ASCII = 1, NVTX_MESSAGE_TYPE_UNICODE = 2 };
enum {
    NVTX_PAYLOAD_UNKNOWN = 0,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3
};

typedef union nvtxMessageValue_t {
    const char *ascii;
    const void *unicode;
} nvtxMessageValue_t;

typedef struct nvtxEventAttributes_t {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    union {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_t;
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

/* Ranges that are open on a thread; one variable of the program, whichever of its files push and pop. */
struct dl_nvtx_stack {
    devlog_host_zone zones[DEVLOG_NVTX_DEPTH];
    int depth;
};
__attribute__((weak, visibility("default"))) __thread struct dl_nvtx_stack dl_nvtx_open;

static inline const char *dl_nvtx_message(const nvtxEventAttributes_t *a)
{
    return a && a->messageType == NVTX_MESSAGE_TYPE_ASCII && a->message.ascii ? a->message.ascii : "range";
}

static inline int dl_nvtx_on(void)
{
#ifdef PROFILE_HOST
    return DEVLOG_HOST_IS_ON();
#else
    return 0;
#endif
}

static inline devlog_host_site *dl_nvtx_site(const char *name)
{
    return devlog_host_named(name ? name : "", name ? strlen(name) : 0, NULL, NULL, 0);
}

/* The level of the range, from 0 on. */
static inline int nvtxRangePushA(const char *message)
{
    struct dl_nvtx_stack *s = &dl_nvtx_open;
    if (s->depth < DEVLOG_NVTX_DEPTH) {
        devlog_host_site *site = dl_nvtx_on() ? dl_nvtx_site(message) : NULL;
        memset(&s->zones[s->depth], 0, sizeof s->zones[0]);
        if (site) devlog_host_begin(&s->zones[s->depth], site);
    }
    return s->depth++;
}

/* The level of the range that ends; negative: none is open. */
static inline int nvtxRangePop(void)
{
    struct dl_nvtx_stack *s = &dl_nvtx_open;
    if (!s->depth) return NVTX_NO_PUSH_POP_TRACKING;
    if (--s->depth < DEVLOG_NVTX_DEPTH) devlog_host_end(&s->zones[s->depth]);
    return s->depth;
}

static inline int nvtxRangePushEx(const nvtxEventAttributes_t *a)
{
    return nvtxRangePushA(dl_nvtx_message(a));
}

static inline nvtxRangeId_t nvtxRangeStartA(const char *message)
{
    devlog_host_site *site = dl_nvtx_on() ? dl_nvtx_site(message) : NULL;
    devlog_host_zone *zone = site ? (devlog_host_zone *)calloc(1, sizeof *zone) : NULL;
    if (zone) devlog_host_begin(zone, site);
    return (nvtxRangeId_t)(uintptr_t)zone;
}

static inline nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *a)
{
    return nvtxRangeStartA(dl_nvtx_message(a));
}

static inline void nvtxRangeEnd(nvtxRangeId_t id)
{
    devlog_host_zone *zone = (devlog_host_zone *)(uintptr_t)id;
    if (zone) devlog_host_end(zone);
    free(zone);
}

static inline void nvtxMarkA(const char *message)
{
    devlog_host_site *site = dl_nvtx_on() ? dl_nvtx_site("message") : NULL;
    if (site) devlog_host_message(site, message, message ? strlen(message) : 0);
}

static inline void nvtxMarkEx(const nvtxEventAttributes_t *a)
{
    nvtxMarkA(dl_nvtx_message(a));
}

/* The calling thread's, whichever is named. */
static inline void nvtxNameOsThreadA(uint32_t thread, const char *name)
{
    (void)thread;
    if (dl_nvtx_on()) devlog_host_thread(name);
}

static inline nvtxDomainHandle_t nvtxDomainCreateA(const char *name)
{
    (void)name;
    return NULL;
}

static inline void nvtxDomainDestroy(nvtxDomainHandle_t domain)
{
    (void)domain;
}

static inline int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *a)
{
    (void)domain;
    return nvtxRangePushEx(a);
}

static inline int nvtxDomainRangePop(nvtxDomainHandle_t domain)
{
    (void)domain;
    return nvtxRangePop();
}

static inline nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *a)
{
    (void)domain;
    return nvtxRangeStartEx(a);
}

static inline void nvtxDomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
    (void)domain;
    nvtxRangeEnd(id);
}

static inline void nvtxDomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *a)
{
    (void)domain;
    nvtxMarkEx(a);
}

#define nvtxRangePush    nvtxRangePushA
#define nvtxRangeStart   nvtxRangeStartA
#define nvtxMark         nvtxMarkA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA

#ifdef __cplusplus
}
#endif

#endif
