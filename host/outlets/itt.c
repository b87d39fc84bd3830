/* ITT tasks, values as meta data of the task they are in, and texts as such. See the header. Without a collector
 * (INTEL_LIBITTNOTIFY64) each call is a load and a branch of ITT's own. */
#include "outlets/itt.h"

#include <string.h>

#ifdef DEVLOG_ITT
#include <ittnotify.h>

static __itt_domain *domain; /* NULL: without a collector */

bool itt_built_in(void)
{
    return true;
}

void *itt_name(const char *name)
{
    if (!(outlets() & OUTLET_ITT)) return NULL;
    if (!domain) domain = __itt_domain_create("devlog");
    return __itt_string_handle_create(name);
}

bool itt_begin(const outlet_site *site)
{
    if (!domain || !site->itt) return false;
    __itt_task_begin(domain, __itt_null, __itt_null, site->itt);
    return true;
}

void itt_end(void)
{
    if (domain) __itt_task_end(domain);
}

void itt_value(const outlet_site *site, uint64_t value)
{
    if (domain && site->itt) __itt_metadata_add(domain, __itt_null, site->itt, __itt_metadata_u64, 1, &value);
}

void itt_message(const outlet_site *site, const char *text, size_t n)
{
    if (domain && site->itt) __itt_metadata_str_add(domain, __itt_null, site->itt, text, n);
}

void itt_thread(const char *name)
{
    __itt_thread_set_name(name);
}

void itt_lock(void *lock, const char *name)
{
    __itt_sync_create(lock, "lock", name, __itt_attr_mutex);
}

void itt_lock_wait(void *lock)
{
    __itt_sync_prepare(lock);
}

void itt_lock_held(void *lock)
{
    __itt_sync_acquired(lock);
}

void itt_lock_released(void *lock)
{
    __itt_sync_releasing(lock);
}

void itt_lock_end(void *lock)
{
    __itt_sync_destroy(lock);
}

#else

bool itt_built_in(void)
{
    return false;
}
void *itt_name(const char *name)
{
    (void)name;
    return NULL;
}
bool itt_begin(const outlet_site *site)
{
    (void)site;
    return false;
}
void itt_end(void) {}
void itt_value(const outlet_site *site, uint64_t value)
{
    (void)site, (void)value;
}
void itt_message(const outlet_site *site, const char *text, size_t n)
{
    (void)site, (void)text, (void)n;
}
void itt_thread(const char *name)
{
    (void)name;
}
void itt_lock(void *lock, const char *name)
{
    (void)lock, (void)name;
}
void itt_lock_wait(void *lock)
{
    (void)lock;
}
void itt_lock_held(void *lock)
{
    (void)lock;
}
void itt_lock_released(void *lock)
{
    (void)lock;
}
void itt_lock_end(void *lock)
{
    (void)lock;
}
#endif
