/* Host zones as ITT tasks of the domain `devlog` (VTune and others). Built where ittnotify.h and its static library are found. */
#ifndef DEVLOG_OUTLETS_ITT_H
#define DEVLOG_OUTLETS_ITT_H

#include "outlets/tracy.h"

bool itt_built_in(void);
/* What stands for a name; NULL without ITT. */
void *itt_name(const char *name);
/* False: it was not sent, and must not be ended. */
bool itt_begin(const outlet_site *site);
void itt_end(void);
void itt_value(const outlet_site *site, uint64_t value);
void itt_message(const outlet_site *site, const char *text, size_t n);
void itt_thread(const char *name);
/* Locks: ITT's synchronisation objects. */
void itt_lock(void *lock, const char *name);
void itt_lock_wait(void *lock);
void itt_lock_held(void *lock);
void itt_lock_released(void *lock);
void itt_lock_end(void *lock);

#endif
