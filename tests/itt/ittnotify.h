/* The part of ITT's interface that host/outlets/itt.c calls, declared from its published reference (Intel's ittapi at 07c2259,
 * include/ittnotify.h), so that this outlet is tested where Intel's header is not. Not that header: dispatch.c stands for its library. */
#ifndef DEVLOG_TESTS_ITTNOTIFY_H
#define DEVLOG_TESTS_ITTNOTIFY_H

#include <stddef.h>

typedef struct ___itt_domain {
    volatile int flags;
    const char *nameA;
    void *nameW;
    int extra1;
    void *extra2;
    struct ___itt_domain *next;
} __itt_domain;
typedef struct ___itt_string_handle {
    const char *strA;
    void *strW;
    int extra1;
    void *extra2;
    struct ___itt_string_handle *next;
} __itt_string_handle;
typedef struct ___itt_id {
    unsigned long long d1, d2, d3;
} __itt_id;
typedef enum { __itt_metadata_unknown = 0, __itt_metadata_u64 } __itt_metadata_type;

static const __itt_id __itt_null = {0, 0, 0};
#define __itt_attr_mutex 2

__itt_domain *__itt_domain_create(const char *name);
__itt_string_handle *__itt_string_handle_create(const char *name);
void __itt_task_begin(const __itt_domain *domain, __itt_id task, __itt_id parent, __itt_string_handle *name);
void __itt_task_end(const __itt_domain *domain);
void __itt_metadata_add(const __itt_domain *domain, __itt_id id, __itt_string_handle *key,
                        __itt_metadata_type type, size_t count, void *data);
void __itt_metadata_str_add(const __itt_domain *domain, __itt_id id, __itt_string_handle *key,
                            const char *data, size_t length);
void __itt_thread_set_name(const char *name);
void __itt_sync_create(void *address, const char *type, const char *name, int attribute);
void __itt_sync_prepare(void *address);
void __itt_sync_acquired(void *address);
void __itt_sync_releasing(void *address);
void __itt_sync_destroy(void *address);

#endif
