/* The calls of Linux behind transport "kmd". Not for what is asked of the driver (kmd.c, kmd_owner.c).
 *
 * A window that the driver has taken away - the card was reset, or pulled out - is still an address of this
 * process, and an access to it is SIGBUS. The handler here ends only the access that this file was making, on
 * the thread that was making it, within the window that it names; every other SIGBUS goes to whoever was
 * there before. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/term.h"
#include "transport/kmd.h"

/* ---- SIGBUS ---- */

typedef struct guard {
    sigjmp_buf back;
    const char *from, *to;
} guard;

static _Thread_local guard *volatile current;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t windows; /* mapped, of all devices */
static struct sigaction before;

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    guard *g = current;
    const char *at = info->si_addr;
    if (g && at >= g->from && at < g->to) siglongjmp(g->back, 1);
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(number, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(number);
    } else {
        /* Back at the access, it happens again, and does what it always did. */
        sigaction(SIGBUS, &before, NULL);
    }
}

static void guard_begin(void)
{
    struct sigaction ours = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    pthread_mutex_lock(&lock);
    sigemptyset(&ours.sa_mask);
    if (windows++ == 0) sigaction(SIGBUS, &ours, &before);
    pthread_mutex_unlock(&lock);
}

static void guard_end(void)
{
    struct sigaction now;
    pthread_mutex_lock(&lock);
    /* Somebody who came later keeps his place; ours stays behind him, and passes on what it gets. */
    if (--windows == 0 && sigaction(SIGBUS, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO &&
        now.sa_sigaction == on_bus_error)
        sigaction(SIGBUS, &before, NULL);
    pthread_mutex_unlock(&lock);
}

/* ---- Accesses ---- */

typedef uint32_t line __attribute__((vector_size(16)));

static void access_once(volatile void *to, const volatile void *from, size_t size)
{
    if (size == 16)
        *(volatile line *)to = *(const volatile line *)from;
    else if (size == 4)
        *(volatile uint32_t *)to = *(const volatile uint32_t *)from;
    else
        *(volatile uint8_t *)to = *(const volatile uint8_t *)from;
}

/* Between a window and memory of our own; `window` is the one of the two that can go away. */
static int guarded(void *to, const void *from, const void *window, size_t size)
{
    guard g;
    g.from = window;
    g.to = g.from + size;
    if (sigsetjmp(g.back, 0)) {
        current = NULL;
        return -EIO;
    }
    current = &g;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    access_once(to, from, size);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    current = NULL;
    return 0;
}

static int linux_load(void *context, const void *from, void *to, size_t size)
{
    (void)context;
    line word; /* aligned, whatever `to` is */
    int result = guarded(&word, from, from, size);
    if (result == 0) memcpy(to, &word, size);
    return result;
}

static int linux_store(void *context, void *to, const void *from, size_t size)
{
    (void)context;
    line word;
    memcpy(&word, from, size);
    return guarded(to, &word, to, size);
}

/* ---- Calls ---- */

static int linux_open(void *context, const char *path, int flags)
{
    (void)context;
    int fd = open(path, flags | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int linux_close(void *context, int fd)
{
    (void)context;
    return close(fd) == 0 ? 0 : -errno;
}

static int linux_ioctl(void *context, int fd, uint32_t request, void *argument)
{
    (void)context;
    return ioctl(fd, (unsigned long)request, argument) == 0 ? 0 : -errno;
}

static int linux_map(void *context, int fd, uint64_t offset, size_t size, void **at)
{
    (void)context;
    *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
    if (*at == MAP_FAILED) return -errno;
    guard_begin();
    return 0;
}

static void linux_unmap(void *context, void *at, size_t size)
{
    (void)context;
    munmap(at, size);
    guard_end();
}

static int linux_read_text(void *context, const char *path, char *out, size_t size)
{
    (void)context;
    size_t used = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -errno;
    for (ssize_t n; used < size - 1 && (n = read(fd, out + used, size - 1 - used)) > 0;)
        used += (size_t)n;
    close(fd);
    out[used] = 0;
    return (int)used;
}

static int linux_list(void *context, const char *folder, void (*each)(void *to, const char *name), void *to)
{
    (void)context;
    DIR *d = opendir(folder);
    if (!d) return -errno;
    int n = 0;
    for (const struct dirent *e; (e = readdir(d)) != NULL; n++)
        each(to, e->d_name);
    closedir(d);
    return n;
}

static int linux_self(void *context)
{
    (void)context;
    return (int)getpid();
}

static void linux_wait_ms(void *context, uint32_t ms)
{
    (void)context;
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000}, NULL);
}

static uint64_t linux_now_ns(void *context)
{
    (void)context;
    return dl_now_ns();
}

const kmd_system kmd_linux = {
    .open = linux_open,
    .close = linux_close,
    .ioctl = linux_ioctl,
    .map = linux_map,
    .unmap = linux_unmap,
    .load = linux_load,
    .store = linux_store,
    .read_text = linux_read_text,
    .list = linux_list,
    .self = linux_self,
    .wait_ms = linux_wait_ms,
    .now_ns = linux_now_ns,
};
