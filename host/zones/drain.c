/* The file of host zones, and the thread that fills it: takes records out of the rings every few milliseconds, brings their
 * time to ns of the host's monotonic clock, and writes them. A process that is killed loses what came since. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/file.h"
#include "base/settings.h"
#include "decode/capture/host_records.h"
#include "zones/zones_internal.h"

enum {
    PERIOD_NS = 10 * 1000 * 1000,
    SAMPLE_NS = 1000 * 1000 * 1000, /* between samples of the clock in the file */
    FRAME_BYTES = 256 * 1024,       /* of records; less than DL_FRAME_MAX with what stands before them */
    SITES = 256,                    /* in a frame */
    READS = 5
};

/* ---- Clocks ------------------------------------------------------------------------------------------- */

uint64_t zones_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Whether the counter runs at one rate, whatever the processor does (CPUID 80000007h, EDX bit 8: AMD64 Architecture
 * Programmer's Manual 3, appendix E.4.6; Intel SDM 2A, CPUID). */
void zones_find_clock(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    zones_by_tsc = __get_cpuid(0x80000007, &a, &b, &c, &d) && d >> 8 & 1;
#endif
}

/* Both clocks at one moment: the closest of some reads. */
static zones_moment moment(void)
{
    zones_moment best = {0};
    uint64_t closest = UINT64_MAX;
    for (int i = 0; i < READS; i++) {
        const uint64_t before = zones_ticks(), ns = zones_ns(), after = zones_ticks();
        if (after - before >= closest) continue;
        closest = after - before;
        best = (zones_moment){before + closest / 2, ns, closest / 2};
    }
    if (!zones_by_tsc) best.ticks = best.ns;
    return best;
}

__extension__ typedef __int128 wide;

/* Ns since the file's clock began, of a time between two moments or near them. */
static uint64_t ns_at(const zones_moment *a, const zones_moment *b, uint64_t ticks)
{
    const uint64_t span = b->ticks - a->ticks;
    const wide from = (wide)a->ns - (wide)zones.from.ns;
    wide ns = (wide)ticks - (wide)a->ticks;
    if (zones_by_tsc) ns = span ? ns * (wide)(b->ns - a->ns) / (wide)span : 0;
    ns += from;
    return ns > 0 ? (uint64_t)ns : 0;
}

/* ---- The file ----------------------------------------------------------------------------------------- */

/* The clock in the file counts ns already: a sample says what the host's clock showed, and how well that is known. */
static devlog_status put_sample(const zones_moment *at, devlog_error *err)
{
    if (zones.bursts && at->ns - zones.sampled < SAMPLE_NS) return DEVLOG_OK;
    const dl_clock_sample item = {.before = at->ns - (zones_by_tsc ? at->half : 0),
                                  .after = at->ns + (zones_by_tsc ? at->half : 0),
                                  .cycles = at->ns - zones.from.ns,
                                  .burst = zones.bursts++};
    zones.sampled = at->ns;
    return dl_capture_put_samples(
        zones.capture, &(dl_clock_samples){.slot = zones.slot, .peer = DL_CLOCK_HOST, .items = &item, .n = 1},
        err);
}

static devlog_status put_new_sites(devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    while (!status) {
        dl_host_site some[SITES];
        size_t n = 0, size = 0;
        pthread_mutex_lock(&zones.lock);
        while (n < SITES && zones.put_sites < zones.n_sites && size < FRAME_BYTES) {
            const devlog_host_site *s = zones.sites[zones.put_sites++];
            some[n++] = (dl_host_site){s->number, s->line, s->name, s->function, s->file};
            size += strlen(s->name) + strlen(s->function) + strlen(s->file);
        }
        pthread_mutex_unlock(&zones.lock);
        if (!n) break;
        status = dl_capture_put_host_sites(zones.capture, zones.slot, some, n, err);
    }
    return status;
}

/* Takes one record out of a ring, which comes behind one at `before`. */
static void take_one(zones_thread *t, uint64_t *at, const zones_moment *now, uint64_t before, char *text)
{
    const ring *r = &t->ring;
    const ring_cell first = r->cells[*at & r->mask];
    const size_t n = (size_t)(first.what >> RING_BYTES_SHIFT);
    for (size_t i = 0; i < n; i += sizeof(ring_cell)) {
        const size_t left = n - i;
        memcpy(text + i, &r->cells[(*at + 1 + i / sizeof(ring_cell)) & r->mask],
               left < sizeof(ring_cell) ? left : sizeof(ring_cell));
    }
    uint64_t ns = ns_at(&zones.last, now, first.time);
    if (ns < t->last) ns = t->last; /* by less than the clocks are known */
    dl_host_record record = {.time = ns - before,
                             .site = (uint32_t)first.what,
                             .kind = (dl_host_kind)(first.what >> RING_KIND_SHIFT & 3),
                             .text = text,
                             .n = n};
    if (record.kind == DL_HOST_VALUE) memcpy(&record.value, text, sizeof record.value);
    dl_host_put(&zones.bytes, &record);
    t->last = ns;
    *at += ring_cells_of(n);
}

/* What a thread has recorded until t->until becomes frames in hand. */
static devlog_status put_thread(zones_thread *t, const zones_moment *now, uint64_t *records,
                                devlog_error *err)
{
    char text[DEVLOG_HOST_TEXT_MAX + sizeof(ring_cell)], name[ZONES_NAME];
    devlog_status status = DEVLOG_OK;
    pthread_mutex_lock(&zones.lock);
    const uint32_t number = t->number;
    memcpy(name, t->name, sizeof name);
    t->named |= atomic_load_explicit(&t->ring.tail, memory_order_relaxed) != t->until;
    pthread_mutex_unlock(&zones.lock);
    uint64_t at = atomic_load_explicit(&t->ring.tail, memory_order_relaxed);
    dl_host_records put = {.slot = zones.slot, .thread = number, .name = name};
    put.lost = atomic_load_explicit(&t->ring.lost, memory_order_relaxed) - t->told_lost;
    put.elsewhere = atomic_load_explicit(&t->ring.elsewhere, memory_order_relaxed) - t->told_elsewhere;
    while (!status && number && (at != t->until || put.lost || put.elsewhere)) {
        uint64_t before = 0; /* the first time of a frame is that since the clock began */
        dl_str_clear(&zones.bytes);
        for (; at != t->until && zones.bytes.len < FRAME_BYTES; before = t->last, ++*records)
            take_one(t, &at, now, before, text);
        put.bytes = zones.bytes.text ? zones.bytes.text : "";
        put.size = zones.bytes.len;
        status = dl_str_status(&zones.bytes, err);
        if (!status) status = dl_capture_put_host_records(zones.capture, &put, err);
        t->told_lost += put.lost;
        t->told_elsewhere += put.elsewhere;
        put.lost = put.elsewhere = 0;
        atomic_store_explicit(&t->ring.tail, at, memory_order_release);
    }
    return status;
}

/* Everything of it is in the file: a thread may have counted something since, and ended. */
static bool is_told(const zones_thread *t)
{
    return atomic_load(&t->ring.tail) == atomic_load(&t->ring.head) &&
           atomic_load(&t->ring.lost) == t->told_lost && atomic_load(&t->ring.elsewhere) == t->told_elsewhere;
}

/* The rings of threads that have ended are for others. */
static void free_rings(zones_thread *first)
{
    pthread_mutex_lock(&zones.lock);
    for (zones_thread *t = first; t; t = t->next)
        if (t->number && atomic_load_explicit(&t->ended, memory_order_acquire) && is_told(t)) t->number = 0;
    pthread_mutex_unlock(&zones.lock);
}

/* Records of threads without a ring: as those of a thread. */
static devlog_status put_refused(devlog_error *err)
{
    const uint64_t lost = atomic_load(&zones.refused) - zones.told_refused;
    if (!lost) return DEVLOG_OK;
    zones.told_refused += lost;
    const dl_host_records put = {.slot = zones.slot,
                                 .thread = UINT32_MAX,
                                 .name = "threads without a ring",
                                 .lost = lost,
                                 .bytes = ""};
    return dl_capture_put_host_records(zones.capture, &put, err);
}

static devlog_status put_memory(devlog_error *err)
{
    const dl_host_memory now = {.unknown = atomic_load(&zones.unknown),
                                .twice = atomic_load(&zones.twice),
                                .over = atomic_load(&zones.over)};
    const dl_host_memory put = {.slot = zones.slot,
                                .unknown = now.unknown - zones.told_memory.unknown,
                                .twice = now.twice - zones.told_memory.twice,
                                .over = now.over - zones.told_memory.over};
    zones.told_memory = now;
    return put.unknown || put.twice || put.over ? dl_capture_put_host_memory(zones.capture, &put, err)
                                                : DEVLOG_OK;
}

/* Takes everything out of the rings, with the file's lock. */
static void drain(void)
{
    devlog_error err = {0};
    uint64_t records = 0;
    if (zones.error.status) return;
    const zones_moment now = moment();
    pthread_mutex_lock(&zones.lock);
    zones_thread *first = zones.threads;
    pthread_mutex_unlock(&zones.lock);
    /* A thread numbers a site before it records: so sites are looked at after the ends of the rings. */
    for (zones_thread *t = first; t; t = t->next)
        t->until = atomic_load_explicit(&t->ring.head, memory_order_acquire);
    devlog_status status = put_sample(&now, &err);
    if (!status) status = put_new_sites(&err);
    for (zones_thread *t = first; t && !status; t = t->next)
        status = put_thread(t, &now, &records, &err);
    if (!status) status = put_refused(&err);
    if (!status) status = put_memory(&err);
    free_rings(first);
    zones.last = now;
    if (!status) status = dl_capture_commit(zones.capture, &err);
    if (!status) return;
    /* There is no use in going on: the disk is full, or there is no memory. */
    __atomic_store_n(&devlog_host_on, 0, __ATOMIC_RELAXED);
    zones.error = err;
    zones.unwritten = records;
}

static void *drain_again(void *nothing)
{
    (void)nothing;
    atomic_store(&zones.begun, true);
    while (!atomic_load(&zones.stop)) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += PERIOD_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        while (sem_timedwait(&zones.work, &until) && errno == EINTR)
            ;
        atomic_store(&zones.asked, false);
        pthread_mutex_lock(&zones.file);
        drain();
        pthread_mutex_unlock(&zones.file);
    }
    return NULL;
}

/* A thread that hears no signals: they are the program's. */
static int start_drainer(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int errnum = pthread_create(&zones.drainer, NULL, drain_again, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return errnum;
}

void zones_file_before_fork(void)
{
    while (zones.running && !atomic_load(&zones.begun))
        nanosleep(&(struct timespec){.tv_nsec = ZONES_NAP_NS}, NULL);
}

/* "app.py (pid 123)": the name of the program, as the system has it. */
static void name_process(char *name, size_t size)
{
    dl_str comm = {0};
    devlog_error unheard;
    char text[32] = "process";
    if (!dl_file_read("/proc/self/comm", 64, &comm, &unheard))
        snprintf(text, sizeof text, "%.*s", (int)strcspn(comm.text, "\n"), comm.text);
    dl_str_free(&comm);
    snprintf(name, size, "%s (pid %ld)", text, (long)zones.pid);
}

/* Opens the file and says whose it is. `again`: the process has written to it before. */
static devlog_status open_file(const char *folder, bool again, devlog_error *err)
{
    char process[80];
    dl_str boot = {0};
    const char *run = dl_setting_text(DL_SET_RUN); /* of `devlog run` */
    name_process(process, sizeof process);
    if (!again) zones.bursts = 0;
    zones.sampled = 0;
    zones.last = moment();
    if (!again) zones.from = zones.last;
    devlog_status status = zones_open_named(folder, again, err);
    if (status) return status;
    zones.slot = DL_HOST_SLOT + zones.number;
    status = dl_file_read("/proc/sys/kernel/random/boot_id", 256, &boot, err);
    if (boot.text) boot.text[strcspn(boot.text, "\n")] = 0;
    const dl_capture_chip chip = {.slot = zones.slot,
                                  .max_cores = 1,
                                  .freq_khz = DL_HOST_KHZ,
                                  .arch = DL_HOST_ARCH,
                                  .board = process,
                                  .transport = DL_HOST_ARCH,
                                  .boot = boot.text,
                                  .run = run ? strtoull(run, NULL, 16) : 0};
    if (!status) status = dl_capture_put_chip(zones.capture, &chip, err);
    if (!status) status = dl_capture_put_launched(zones.capture, zones.slot, err);
    if (!status) status = dl_capture_put_host_now(zones.capture, zones.slot, err);
    if (!status) status = put_sample(&zones.last, err);
    dl_str_free(&boot);
    return status;
}

static void close_file(void)
{
    dl_capture_close(zones.capture);
    zones.capture = NULL;
}

devlog_status zones_file_begin(bool again, devlog_error *err)
{
    zones.put_sites = 0;
    zones.unwritten = zones.told_refused = 0;
    zones.error = (devlog_error){0};
    atomic_store(&zones.refused, 0);
    atomic_store(&zones.unknown, 0);
    atomic_store(&zones.twice, 0);
    atomic_store(&zones.over, 0);
    zones.told_memory = (dl_host_memory){0};
    atomic_store(&zones.stop, false);
    atomic_store(&zones.asked, false);
    atomic_store(&zones.begun, false);
    devlog_status status = open_file(zones.folder, again, err);
    if (!status) status = dl_capture_commit(zones.capture, err);
    if (!status && sem_init(&zones.work, 0, 0))
        status = dl_fail_errno(err, errno, "the thread that writes host zones");
    int errnum = status ? 0 : start_drainer();
    if (errnum) status = dl_fail_errno(err, errnum, "the thread that writes host zones");
    if (status) close_file();
    return status;
}

void zones_file_forget(void)
{
    close_file();
    dl_str_free(&zones.bytes);
}

/* The last sample of the process's clock, its host's, and that nothing more comes. */
static devlog_status put_last(devlog_error *err)
{
    const zones_moment now = moment();
    zones.sampled = 0;
    devlog_status status = put_sample(&now, err);
    if (!status) status = dl_capture_put_host_now(zones.capture, zones.slot, err);
    if (!status) status = dl_capture_put_end(zones.capture, zones.slot, err);
    return status ? status : dl_capture_commit(zones.capture, err);
}

devlog_status zones_file_exchanges(const char *folder, dl_capture_exchanges *put, devlog_error *err)
{
    if (zones.running && zones.error.status)
        return dl_fail(err, zones.error.status, "%s; recording stopped there", zones.error.text);
    const bool again = zones.pid == getpid();
    devlog_status status = DEVLOG_OK;
    zones.pid = getpid();
    if (!zones.running) status = open_file(folder, again, err);
    put->slot = zones.slot;
    if (!status && zones.running) status = dl_capture_put_host_now(zones.capture, zones.slot, err);
    if (!status) status = dl_capture_put_exchanges(zones.capture, put, err);
    if (zones.running) return status ? status : dl_capture_commit(zones.capture, err);
    if (!status) status = put_last(err);
    close_file();
    return status;
}

devlog_status zones_file_end(devlog_error *err)
{
    pthread_mutex_lock(&zones.lock);
    const bool running = zones.running;
    zones.running = false;
    pthread_mutex_unlock(&zones.lock);
    if (!running) return DEVLOG_OK;
    atomic_store(&zones.stop, true);
    (void)sem_post(&zones.work);
    (void)pthread_join(zones.drainer, NULL);
    pthread_mutex_lock(&zones.file);
    drain();
    devlog_status status = zones.error.status;
    if (status) {
        (void)dl_fail(err, status, "%s; recording stopped there, and %llu records are not in the file",
                      zones.error.text, (unsigned long long)zones.unwritten);
    } else {
        status = put_last(err);
    }
    close_file();
    dl_str_free(&zones.bytes);
    (void)sem_destroy(&zones.work);
    pthread_mutex_unlock(&zones.file);
    return status;
}
