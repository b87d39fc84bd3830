/* Stands for libittnotify.a in a test: each function is handed to the collector that INTEL_LIBITTNOTIFY64 names, and does nothing without
 * one. Not Intel's library: its groups, its lists and collectors with __itt_api_init are not here. */
#include "ittnotify.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *collector;

static void load(void)
{
    const char *path = getenv("INTEL_LIBITTNOTIFY64");
    collector = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

static void *found(const char *name)
{
    (void)pthread_once(&once, load);
    return collector ? dlsym(collector, name) : NULL;
}

#define HANDED_ON(type, none, name, parameters, arguments)                                                   \
    type name parameters                                                                                     \
    {                                                                                                        \
        type(*there) parameters = (type(*) parameters)(size_t)found(#name);                                  \
        if (!there) return none;                                                                             \
        return there arguments;                                                                              \
    }
#define HANDED_ON_VOID(name, parameters, arguments)                                                          \
    void name parameters                                                                                     \
    {                                                                                                        \
        void(*there) parameters = (void(*) parameters)(size_t)found(#name);                                  \
        if (there) there arguments;                                                                          \
    }

HANDED_ON(__itt_domain *, NULL, __itt_domain_create, (const char *name), (name))
HANDED_ON(__itt_string_handle *, NULL, __itt_string_handle_create, (const char *name), (name))
HANDED_ON_VOID(__itt_task_begin,
               (const __itt_domain *d, __itt_id task, __itt_id parent, __itt_string_handle *name),
               (d, task, parent, name))
HANDED_ON_VOID(__itt_task_end, (const __itt_domain *d), (d))
HANDED_ON_VOID(__itt_metadata_add,
               (const __itt_domain *d, __itt_id id, __itt_string_handle *key, __itt_metadata_type type,
                size_t n, void *data),
               (d, id, key, type, n, data))
HANDED_ON_VOID(__itt_metadata_str_add,
               (const __itt_domain *d, __itt_id id, __itt_string_handle *key, const char *data, size_t n),
               (d, id, key, data, n))
HANDED_ON_VOID(__itt_thread_set_name, (const char *name), (name))
HANDED_ON_VOID(__itt_sync_create, (void *at, const char *type, const char *name, int attribute),
               (at, type, name, attribute))
HANDED_ON_VOID(__itt_sync_prepare, (void *at), (at))
HANDED_ON_VOID(__itt_sync_acquired, (void *at), (at))
HANDED_ON_VOID(__itt_sync_releasing, (void *at), (at))
HANDED_ON_VOID(__itt_sync_destroy, (void *at), (at))
