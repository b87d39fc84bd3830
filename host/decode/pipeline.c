/* Pipeline: four stages, each of which is at work on one batch at most, and two threads. One pairs, the
 * other parses, so that what each stage knows stays in the cache of one core; whichever has nothing else to
 * do reads, and consumes; and parses, too, where no batch needs to know of those before it. */
#include "decode/pipeline.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/c_locale.h"

enum { READ, PARSE, PAIR, CONSUME, STAGES };

/* Batches that have been read and not parsed: as many should wait, at least. */
enum { LEAD = 3 };

/* How often a thread looks again before it sleeps, for about as long as a batch takes: to be woken takes
 * longer, above all on a virtual machine. Now and then it lets others have the processor. */
enum { LOOKS = 20000, LOOKS_BETWEEN_YIELDS = 1000 };

typedef struct pipeline {
    const dl_pipeline_stages *stages;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    atomic_uint version; /* changes with what is under the lock */
    /* Under the lock: */
    uint64_t done[STAGES]; /* batches that each stage is done with */
    bool busy[STAGES];
    uint64_t begun; /* batches whose parsing has begun, and, of those behind done[PARSE], .. */
    bool parsed[DL_PIPELINE_SLOTS]; /* .. whether it is done */
    uint64_t n_batches;             /* UINT64_MAX until the last has been read */
    devlog_status status;
    devlog_error err;
} pipeline;

unsigned dl_pipeline_processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

bool dl_pipeline_two(unsigned wanted, const dl_input *in, uint64_t from)
{
    if (wanted) return wanted > 1;
    uint64_t size = dl_input_size(in);     /* 0: unknown */
    if (size && size < from) return false; /* read before a second thread has begun */
    return dl_pipeline_processors() > 1;
}

static bool is_ready(const pipeline *p, unsigned mask, int stage)
{
    uint64_t batch = stage == PARSE ? p->begun : p->done[stage];
    const bool busy = p->busy[stage] && !(stage == PARSE && p->stages->parse_apart);
    if (!(mask >> stage & 1) || busy || batch >= p->n_batches) return false;
    return stage == READ ? batch < p->done[CONSUME] + DL_PIPELINE_SLOTS : batch < p->done[stage - 1];
}

/* The stage to work on next, of those in `mask`: pairing, which only one thread does; otherwise the last one, so
 * that slots are emptied before others are filled. But batches are read one after the other, and that must not stop while the other thread pairs: so
 * the one that parses reads before it has nothing left to parse. */
static int next_stage(const pipeline *p, unsigned mask)
{
    bool parses = mask >> PARSE & 1;
    if (is_ready(p, mask, PAIR)) return PAIR;
    if (parses && p->done[READ] < p->begun + LEAD && is_ready(p, mask, READ)) return READ;
    for (int stage = CONSUME; stage >= READ; stage--)
        if (is_ready(p, mask, stage)) return stage;
    return -1;
}

static devlog_status run_stage(const dl_pipeline_stages *s, int stage, unsigned slot, bool *last,
                               devlog_error *err)
{
    if (stage == PARSE) return s->parse(s->ctx, slot, err);
    if (stage == PAIR) return s->pair(s->ctx, slot, err);
    if (stage == CONSUME) return s->consume ? s->consume(s->ctx, slot, err) : DEVLOG_OK;
    return s->read(s->ctx, slot, last, err);
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

/* Notes that a stage is done with a batch. Called with the lock held. */
static void note_done(pipeline *p, int stage, unsigned slot)
{
    p->busy[stage] = false;
    if (stage != PARSE) {
        p->done[stage]++;
        return;
    }
    p->parsed[slot] = true;
    for (; p->parsed[p->done[PARSE] % DL_PIPELINE_SLOTS]; p->done[PARSE]++)
        p->parsed[p->done[PARSE] % DL_PIPELINE_SLOTS] = false;
}

/* Works on the stages in `mask` until there is nothing left for them. */
static void work(pipeline *p, unsigned mask)
{
    pthread_mutex_lock(&p->lock);
    while (!p->status && p->done[CONSUME] < p->n_batches) {
        int stage = next_stage(p, mask);
        if (stage < 0) {
            wait(p);
            continue;
        }
        unsigned slot = (unsigned)((stage == PARSE ? p->begun++ : p->done[stage]) % DL_PIPELINE_SLOTS);
        devlog_error err;
        bool last = false;
        p->busy[stage] = true;
        pthread_mutex_unlock(&p->lock);
        devlog_status status = run_stage(p->stages, stage, slot, &last, &err);
        pthread_mutex_lock(&p->lock);
        note_done(p, stage, slot);
        if (stage == PAIR && !p->stages->consume) p->done[CONSUME]++;
        if (last) p->n_batches = p->done[READ];
        if (status && !p->status) {
            p->status = status;
            p->err = err;
        }
        atomic_fetch_add(&p->version, 1);
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
}

static void *other_thread(void *ctx)
{
    DL_IN_C_LOCALE();
    work(ctx, 1u << READ | 1u << PARSE | 1u << CONSUME);
    return NULL;
}

static devlog_status on_one_thread(const dl_pipeline_stages *s, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (bool last = false; !last && !status;) {
        for (int stage = READ; stage < STAGES && !status; stage++)
            status = run_stage(s, stage, 0, &last, err);
    }
    return status;
}

devlog_status dl_pipeline_run(const dl_pipeline_stages *stages, bool two_threads, devlog_error *err)
{
    pipeline p = {.stages = stages, .n_batches = UINT64_MAX};
    pthread_t other;
    if (!two_threads) return on_one_thread(stages, err);
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.changed, NULL);
    bool two = pthread_create(&other, NULL, other_thread, &p) == 0; /* alone it takes longer, that is all */
    work(&p, 1u << READ | 1u << PAIR | 1u << CONSUME | (two && !stages->parse_apart ? 0 : 1u << PARSE));
    if (two) pthread_join(other, NULL);
    pthread_cond_destroy(&p.changed);
    pthread_mutex_destroy(&p.lock);
    if (p.status && err) *err = p.err;
    return p.status;
}
