/* Work on blocks by several threads. See pack/ring.h. */
#include "pack/ring.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

typedef struct ring {
    const pk_stages *stages;
    uint8_t *jobs;
    size_t job_size;
    unsigned n_jobs, n_workers;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    uint64_t filled, taken; /* jobs so far; job k is in place k modulo n_jobs */
    bool worked[PK_MAX_JOBS];
    bool stop;
} ring;

static void *job_at(ring *r, uint64_t k)
{
    return r->jobs + k % r->n_jobs * r->job_size;
}

static void *worker(void *ctx)
{
    ring *r = ctx;
    pthread_mutex_lock(&r->lock);
    const unsigned number = r->n_workers++;
    for (;;) {
        while (r->taken == r->filled && !r->stop)
            pthread_cond_wait(&r->work, &r->lock);
        if (r->taken == r->filled) break;
        const uint64_t k = r->taken++;
        pthread_mutex_unlock(&r->lock);
        r->stages->work(r->stages->ctx, job_at(r, k), number);
        pthread_mutex_lock(&r->lock);
        r->worked[k % r->n_jobs] = true;
        pthread_cond_signal(&r->done);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static devlog_status drain(ring *r, uint64_t k, devlog_error *err)
{
    pthread_mutex_lock(&r->lock);
    while (!r->worked[k % r->n_jobs])
        pthread_cond_wait(&r->done, &r->lock);
    r->worked[k % r->n_jobs] = false;
    pthread_mutex_unlock(&r->lock);
    return r->stages->drain(r->stages->ctx, job_at(r, k), err);
}

/* The caller's thread. */
static devlog_status feed(ring *r, devlog_error *err)
{
    uint64_t drained = 0;
    devlog_status status = DEVLOG_OK;
    bool done = false;
    while (!status && (!done || drained < r->filled)) {
        if (done || r->filled - drained == r->n_jobs) {
            status = drain(r, drained++, err);
            continue;
        }
        status = r->stages->fill(r->stages->ctx, job_at(r, r->filled), &done, err);
        if (status || done) continue;
        pthread_mutex_lock(&r->lock);
        r->filled++;
        pthread_cond_signal(&r->work);
        pthread_mutex_unlock(&r->lock);
    }
    return status;
}

static devlog_status on_one_thread(const pk_stages *s, void *job, devlog_error *err)
{
    for (;;) {
        bool done = false;
        devlog_status status = s->fill(s->ctx, job, &done, err);
        if (status || done) return status;
        s->work(s->ctx, job, 0);
        status = s->drain(s->ctx, job, err);
        if (status) return status;
    }
}

devlog_status pk_ring_run(const pk_stages *stages, void *jobs, size_t job_size, unsigned threads,
                          devlog_error *err)
{
    ring r = {.stages = stages, .jobs = jobs, .job_size = job_size, .n_jobs = pk_ring_jobs(threads)};
    pthread_t ids[PK_MAX_THREADS];
    unsigned n = 0;
    if (threads <= 1) return on_one_thread(stages, jobs, err);
    pthread_mutex_init(&r.lock, NULL);
    pthread_cond_init(&r.work, NULL);
    pthread_cond_init(&r.done, NULL);
    while (n < threads && pthread_create(&ids[n], NULL, worker, &r) == 0)
        n++;
    devlog_status status = n ? feed(&r, err) : on_one_thread(stages, jobs, err);
    pthread_mutex_lock(&r.lock);
    r.stop = true;
    if (status) r.filled = r.taken; /* what nobody has begun stays undone */
    pthread_cond_broadcast(&r.work);
    pthread_mutex_unlock(&r.lock);
    for (unsigned i = 0; i < n; i++)
        pthread_join(ids[i], NULL);
    pthread_cond_destroy(&r.done);
    pthread_cond_destroy(&r.work);
    pthread_mutex_destroy(&r.lock);
    return status;
}
