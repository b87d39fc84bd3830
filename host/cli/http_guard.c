/* Who is connected, and who must go. */
#include "cli/http_guard.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/term.h"

struct http_guest {
    http_guard *guard;
    int fd;    /* -1: this place is free */
    bool told; /* to go: its socket is shut down */
    http_doing doing;
    uint64_t since; /* dl_now_ns */
    struct in6_addr from;
};

struct http_guard {
    pthread_mutex_t lock;
    pthread_cond_t ending;
    pthread_t thread;
    bool end;
    unsigned max, n; /* n: connected, and not told to go */
    http_guest guests[];
};

static const uint64_t second = UINT64_C(1000000000);

static struct in6_addr address_of(const struct sockaddr *from)
{
    struct in6_addr a = {0};
    if (from && from->sa_family == AF_INET6) a = ((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
    if (from && from->sa_family == AF_INET)
        memcpy(a.s6_addr + 12, &((const struct sockaddr_in *)(const void *)from)->sin_addr, 4);
    return a;
}

static bool is_late(const http_guest *g, http_doing what, uint64_t now, unsigned seconds)
{
    return g->fd >= 0 && !g->told && g->doing == what && now - g->since > seconds * second;
}

/* How many of those who are late come from where this one comes from. */
static unsigned late_neighbours(const http_guard *all, const http_guest *g, uint64_t now, unsigned seconds)
{
    unsigned n = 0;
    for (unsigned i = 0; i < all->max; i++)
        n += is_late(&all->guests[i], g->doing, now, seconds) &&
             memcmp(&all->guests[i].from, &g->from, sizeof g->from) == 0;
    return n;
}

static http_guest *latest_of_most(http_guard *all, http_doing what, uint64_t now, unsigned seconds)
{
    http_guest *chosen = NULL;
    unsigned most = 0;
    for (unsigned i = 0; i < all->max; i++) {
        http_guest *g = &all->guests[i];
        if (!is_late(g, what, now, seconds)) continue;
        unsigned n = late_neighbours(all, g, now, seconds);
        if (chosen && (n < most || (n == most && g->since >= chosen->since))) continue;
        chosen = g;
        most = n;
    }
    return chosen;
}

static void tell(http_guest *g)
{
    g->told = true;
    g->guard->n--;
    shutdown(g->fd, SHUT_RDWR); /* its thread sees the end and closes it */
}

/* Called with the lock held. */
static void look(http_guard *all)
{
    uint64_t now = dl_now_ns();
    http_guest *g;
    while ((g = latest_of_most(all, HTTP_IS_ASKING, now, HTTP_ASKING)))
        tell(g);
    while (all->n + HTTP_KEPT > all->max && (g = latest_of_most(all, HTTP_IS_ASKING, now, HTTP_ASKING_FULL)))
        tell(g);
    while (all->n + HTTP_KEPT > all->max && (g = latest_of_most(all, HTTP_IS_TAKING, now, HTTP_SENDING_FULL)))
        tell(g);
}

static void *watch(void *ctx)
{
    http_guard *all = ctx;
    pthread_mutex_lock(&all->lock);
    while (!all->end) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += 250000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&all->ending, &all->lock, &until);
        look(all);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

devlog_status http_guard_start(http_guard **guard, unsigned max, devlog_error *err)
{
    http_guard *all = calloc(1, sizeof *all + max * sizeof all->guests[0]);
    *guard = NULL;
    if (!all) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    pthread_condattr_t how;
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->ending, &how);
    pthread_condattr_destroy(&how);
    all->max = max;
    for (unsigned i = 0; i < max; i++)
        all->guests[i] = (http_guest){.guard = all, .fd = -1};
    int errnum = pthread_create(&all->thread, NULL, watch, all);
    if (!errnum) {
        *guard = all;
        return DEVLOG_OK;
    }
    pthread_cond_destroy(&all->ending);
    pthread_mutex_destroy(&all->lock);
    free(all);
    return dl_fail_errno(err, errnum, "the web server did not start");
}

void http_guard_stop(http_guard *all)
{
    if (!all) return;
    pthread_mutex_lock(&all->lock);
    all->end = true;
    pthread_cond_signal(&all->ending);
    pthread_mutex_unlock(&all->lock);
    pthread_join(all->thread, NULL);
    pthread_cond_destroy(&all->ending);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

http_guest *http_guest_comes(http_guard *all, int fd, const struct sockaddr *from)
{
    http_guest *g = NULL;
    pthread_mutex_lock(&all->lock);
    for (unsigned i = 0; i < all->max && !g; i++)
        if (all->guests[i].fd < 0) g = &all->guests[i];
    if (g) {
        *g = (http_guest){.guard = all, .fd = fd, .since = dl_now_ns(), .from = address_of(from)};
        all->n++;
    }
    pthread_mutex_unlock(&all->lock);
    return g;
}

void http_guest_does(http_guest *g, http_doing what)
{
    if (!g) return;
    pthread_mutex_lock(&g->guard->lock);
    g->doing = what;
    g->since = dl_now_ns();
    pthread_mutex_unlock(&g->guard->lock);
}

void http_guest_leaves(http_guest *g)
{
    if (!g) return;
    http_guard *all = g->guard;
    pthread_mutex_lock(&all->lock);
    if (!g->told) all->n--;
    g->fd = -1;
    pthread_mutex_unlock(&all->lock);
}
