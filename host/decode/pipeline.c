/* Pipeline: three stages, each of which is at work on one block at most, and two threads that take turns. */
#include "decode/pipeline.h"

#include <pthread.h>
#include <sched.h>

enum { READ, PARSE, PAIR, STAGES };

typedef struct pipeline {
    dl_block *blocks;
    const dl_pipeline_stages *stages;
    pthread_mutex_t lock;
    pthread_cond_t changed;
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

/* The stage to work on next, the last one first: so blocks are emptied before others are filled. */
static int next_stage(const pipeline *p)
{
    for (int stage = PAIR; stage >= READ; stage--) {
        uint64_t block = p->done[stage];
        if (p->busy[stage] || block >= p->n_blocks) continue;
        bool ready = stage == READ ? block < p->done[PAIR] + DL_PIPELINE_BLOCKS : block < p->done[stage - 1];
        if (ready) return stage;
    }
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

static void work(pipeline *p, bool caller)
{
    pthread_mutex_lock(&p->lock);
    while (!p->status && p->done[PAIR] < p->n_blocks) {
        int stage = next_stage(p);
        if (stage < 0) {
            pthread_cond_wait(&p->changed, &p->lock);
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
        pthread_cond_broadcast(&p->changed);
        if (!caller || !p->stages->progress || stage != PAIR) continue;
        uint64_t taken = p->taken, rows = p->rows;
        pthread_mutex_unlock(&p->lock);
        p->stages->progress(p->stages->ctx, taken, rows);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
}

static void *other_thread(void *ctx)
{
    work(ctx, false);
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
    work(&p, true);
    if (two) pthread_join(other, NULL);
    pthread_cond_destroy(&p.changed);
    pthread_mutex_destroy(&p.lock);
    if (p.status && err) *err = p.err;
    return p.status;
}
