/* An ITT collector that writes down what it is told, a line per call, into the file that DEVLOG_TEST_ITT names. It has the functions by
 * name and __itt_api_version, as collectors without __itt_api_init do, for which ittnotify's own library (ittnotify_static.c of Intel's
 * ittapi at 07c2259) needs INTEL_ITTNOTIFY_GROUPS=all as well. Not VTune: no times. */
#include "ittnotify.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *file;
static __itt_domain domain = {.flags = 1, .nameA = "devlog"};
static __itt_string_handle *names;

__attribute__((constructor)) static void loaded(void)
{
    const char *path = getenv("DEVLOG_TEST_ITT");
    file = path ? fopen(path, "a") : NULL;
}

__attribute__((destructor)) static void unloaded(void)
{
    if (file) fclose(file);
    while (names) {
        __itt_string_handle *next = names->next;
        free(names);
        names = next;
    }
}

#define SAY(...)                                                                                             \
    do {                                                                                                     \
        pthread_mutex_lock(&lock);                                                                           \
        if (file) fprintf(file, __VA_ARGS__), fflush(file);                                                  \
        pthread_mutex_unlock(&lock);                                                                         \
    } while (0)
#define THREAD  (long)syscall(SYS_gettid)
#define OF(key) ((key) ? (key)->strA : "(none)")

/* Intel's library makes a domain itself when it is asked for one first of all. */
static int is_ours(const __itt_domain *d)
{
    return d && d->flags && d->nameA && !strcmp(d->nameA, "devlog");
}

#pragma GCC visibility push(default)
const char *__itt_api_version(void);
const char *__itt_api_version(void)
{
    return "devlog's test";
}

__itt_domain *__itt_domain_create(const char *name)
{
    SAY("domain %s\n", name);
    return &domain;
}

__itt_string_handle *__itt_string_handle_create(const char *name)
{
    const size_t n = strlen(name) + 1;
    __itt_string_handle *made = calloc(1, sizeof *made + n);
    if (!made) return NULL;
    made->strA = memcpy(made + 1, name, n);
    pthread_mutex_lock(&lock);
    made->next = names;
    names = made;
    pthread_mutex_unlock(&lock);
    return made;
}

void __itt_task_begin(const __itt_domain *d, __itt_id task, __itt_id parent, __itt_string_handle *name)
{
    SAY("begin %ld %s%s\n", THREAD, OF(name),
        !is_ours(d) || task.d1 || task.d2 || parent.d1 || parent.d2 ? " (of what?)" : "");
}

void __itt_task_end(const __itt_domain *d)
{
    SAY("end %ld%s\n", THREAD, !is_ours(d) ? " (of what?)" : "");
}

void __itt_metadata_add(const __itt_domain *d, __itt_id id, __itt_string_handle *key,
                        __itt_metadata_type type, size_t n, void *data)
{
    unsigned long long value = 0;
    if (n == 1 && type == __itt_metadata_u64) memcpy(&value, data, 8);
    SAY("value %ld %s %llu%s\n", THREAD, OF(key), value, !is_ours(d) || id.d1 ? " (of what?)" : "");
}

void __itt_metadata_str_add(const __itt_domain *d, __itt_id id, __itt_string_handle *key, const char *data,
                            size_t n)
{
    SAY("text %ld %s %.*s%s\n", THREAD, OF(key), (int)n, data, !is_ours(d) || id.d1 ? " (of what?)" : "");
}

void __itt_thread_set_name(const char *name)
{
    SAY("thread %ld %s\n", THREAD, name);
}

void __itt_sync_create(void *at, const char *type, const char *name, int attribute)
{
    SAY("sync %p created %s %s %d\n", at, type, name, attribute);
}

void __itt_sync_prepare(void *at)
{
    SAY("sync %p prepare %ld\n", at, THREAD);
}

void __itt_sync_acquired(void *at)
{
    SAY("sync %p acquired %ld\n", at, THREAD);
}

void __itt_sync_releasing(void *at)
{
    SAY("sync %p releasing %ld\n", at, THREAD);
}

void __itt_sync_destroy(void *at)
{
    SAY("sync %p destroyed\n", at);
}
