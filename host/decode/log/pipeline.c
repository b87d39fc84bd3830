/* Pipeline: three stages, each of which is at work on one block at most, and two threads. One pairs, the
 * other parses, so that what each stage knows stays in the cache of one core; whichever has nothing else to
 * do reads. */
#include "decode/log/pipeline.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { READ, PARSE, PAIR, STAGES };

/* Blocks that have been read and not parsed: as many should wait, at least. */
enum { LEAD = 3 };

/* How often a thread looks again before it sleeps, for about as long as a block takes: to be woken takes
 * longer, above all on a virtual machine. Now and then it lets others have the processor. */
enum { LOOKS = 20000, LOOKS_BETWEEN_YIELDS = 1000 };

typedef struct pipeline {
    dl_block *blocks;
    const dl_pipeline_stages *stages;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    atomic_uint version; /* changes with what is under the lock */
    /* Under the lock: */
    uint64_t done[STAGES]; /* blocks that each stage is done with */
    bool busy[STAGES];
    uint64_t n_blocks; /* UINT64_MAX until the last has been read */
    devlog_status status;
    devlog_error err;
    uint64_t taken, rows;
} pipeline;

unsigned dl_pipeline_threads(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1 ? 2 : 1;
}

static bool is_ready(const pipeline *p, unsigned mask, int stage)
{
    uint64_t block = p->done[stage];
    if (!(mask >> stage & 1) || p->busy[stage] || block >= p->n_blocks) return false;
    return stage == READ ? block < p->done[PAIR] + DL_PIPELINE_BLOCKS : block < p->done[stage - 1];
}

/* The stage to work on next, of those in `mask`; the last one first: so blocks are emptied before others are
 * filled. But blocks are read one after the other, and that must not stop while the other thread pairs: so
 * the one that parses reads before it has nothing left to parse. */
static int next_stage(const pipeline *p, unsigned mask)
{
    bool parses = mask >> PARSE & 1;
    if (parses && p->done[READ] < p->done[PARSE] + LEAD && is_ready(p, mask, READ)) return READ;
    for (int stage = PAIR; stage >= READ; stage--)
        if (is_ready(p, mask, stage)) return stage;
    return -1;
}

static devlog_status run_stage(const pipeline *p, int stage, dl_block *b, devlog_error *err)
{
    const dl_pipeline_stages *s = p->stages;
    if (stage == PARSE) return s->parse(s->ctx, b, err);
    if (stage == PAIR) return s->pair(s->ctx, b, err);
    s->read(s->ctx, b);
    return DEVLOG_OK;
}

/* Waits until something has changed. Called and left with the lock held. */
static void wait(pipeline *p)
{
    unsigned seen = atomic_load(&p->version);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < LOOKS && atomic_load_explicit(&p->version, memory_order_relaxed) == seen; i++) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        if (i % LOOKS_BETWEEN_YIELDS == LOOKS_BETWEEN_YIELDS - 1) sched_yield();
    }
    pthread_mutex_lock(&p->lock);
    while (atomic_load(&p->version) == seen)
        pthread_cond_wait(&p->changed, &p->lock);
}

/* Works on the stages in `mask` until there is nothing left for them. */
static void work(pipeline *p, unsigned mask)
{
    pthread_mutex_lock(&p->lock);
    while (!p->status && p->done[PAIR] < p->n_blocks) {
        int stage = next_stage(p, mask);
        if (stage < 0) {
            wait(p);
            continue;
        }
        dl_block *b = &p->blocks[p->done[stage] % DL_PIPELINE_BLOCKS];
        devlog_error err;
        p->busy[stage] = true;
        pthread_mutex_unlock(&p->lock);
        devlog_status status = run_stage(p, stage, b, &err);
        pthread_mutex_lock(&p->lock);
        p->busy[stage] = false;
        p->done[stage]++;
        if (stage == READ && b->last) p->n_blocks = p->done[READ];
        if (stage == PAIR) {
            p->taken = b->taken;
            p->rows = b->rows_so_far;
        }
        if (status && !p->status) {
            p->status = status;
            p->err = err;
        }
        atomic_fetch_add(&p->version, 1);
        pthread_cond_broadcast(&p->changed);
        if (!p->stages->progress || stage != PAIR) continue;
        uint64_t taken = p->taken, rows = p->rows;
        pthread_mutex_unlock(&p->lock);
        p->stages->progress(p->stages->ctx, taken, rows);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
}

static void *other_thread(void *ctx)
{
    work(ctx, 1u << READ | 1u << PARSE);
    return NULL;
}

devlog_status dl_pipeline_run(dl_block blocks[DL_PIPELINE_BLOCKS], const dl_pipeline_stages *stages,
                              devlog_error *err)
{
    pipeline p = {.blocks = blocks, .stages = stages, .n_blocks = UINT64_MAX};
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.changed, NULL);
    pthread_t other;
    bool two = pthread_create(&other, NULL, other_thread, &p) == 0; /* alone it takes longer, that is all */
    work(&p, 1u << READ | 1u << PAIR | (two ? 0 : 1u << PARSE));
    if (two) pthread_join(other, NULL);
    pthread_cond_destroy(&p.changed);
    pthread_mutex_destroy(&p.lock);
    if (p.status && err) *err = p.err;
    return p.status;
}
