/* Packing and unpacking whole logs, block by block on several threads. See pack/pack.h. */
#include "pack/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "pack/audit.h"
#include "pack/ring.h"
#include "pack/unpack.h"

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

static unsigned choose_threads(unsigned threads)
{
    enum { MOST_UNTOLD = 4 };
    if (threads) return threads < PK_MAX_THREADS ? threads : PK_MAX_THREADS;
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > MOST_UNTOLD ? MOST_UNTOLD : (unsigned)n;
}

size_t pk_cut(const char *text, size_t n)
{
    size_t cut = n;
    while (cut && text[cut - 1] != '\n')
        cut--;
    return cut ? cut : n;
}

devlog_status pk_pack_block(pk_packer *p, const char *text, size_t n, uint8_t *out, pk_packed *b,
                            devlog_error *err)
{
    *b = (pk_packed){.stored = out, .n_text = n, .text_check = XXH64(text, n, 0)};
    b->n_stored = pk_packer_block(p, text, n, out, &b->plain, &b->info);
    return b->n_stored ? DEVLOG_OK : no_memory(err);
}

/* A block on its way; of packing and of unpacking. */
typedef struct job {
    char *text;
    uint8_t *stored;
    size_t n_text, cap_text, cap_stored;
    pk_packed packed;
    devlog_status status;
    devlog_error err;
    pk_header header;
    uint64_t offset;
    const char *why;
} job;

typedef struct packing {
    pk_log_source *source;
    void *source_ctx;
    pk_packer *packers[PK_MAX_THREADS];
    char *carry; /* the beginning of a line whose rest belongs to the next block */
    size_t n_carry, cap;
    bool ended;
    pk_writer writer;
    pk_totals *totals;
} packing;

static devlog_status fill_text(void *ctx, void *the_job, bool *done, devlog_error *err)
{
    packing *p = ctx;
    job *j = the_job;
    size_t have = p->n_carry;
    memcpy(j->text, p->carry, have);
    while (have < p->cap && !p->ended) {
        size_t n = 0;
        devlog_status status = p->source(p->source_ctx, j->text + have, p->cap - have, &n, err);
        if (status) return status;
        p->ended = n == 0;
        have += n;
    }
    j->n_text = p->ended ? have : pk_cut(j->text, have);
    p->n_carry = have - j->n_text;
    memcpy(p->carry, j->text + j->n_text, p->n_carry);
    memset(j->text + j->n_text, 0, PK_PADDING);
    *done = j->n_text == 0;
    return DEVLOG_OK;
}

static void pack_text(void *ctx, void *the_job, unsigned worker)
{
    job *j = the_job;
    j->status =
        pk_pack_block(((packing *)ctx)->packers[worker], j->text, j->n_text, j->stored, &j->packed, &j->err);
}

static devlog_status write_packed(void *ctx, void *the_job, devlog_error *err)
{
    packing *p = ctx;
    job *j = the_job;
    if (j->status) {
        if (err) *err = j->err;
        return j->status;
    }
    p->totals->raw += j->packed.info.raw;
    return pk_writer_block(&p->writer, &j->packed, err);
}

static bool jobs_new(job *jobs, unsigned n, size_t text, size_t stored)
{
    for (unsigned i = 0; i < n; i++) {
        jobs[i] =
            (job){.text = malloc(text), .stored = malloc(stored), .cap_text = text, .cap_stored = stored};
        if (!jobs[i].text || !jobs[i].stored) return false;
    }
    return true;
}

static void jobs_free(job *jobs, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        free(jobs[i].text);
        free(jobs[i].stored);
    }
}

devlog_status pk_pack(pk_log_source *source, void *source_ctx, pk_sink *sink, void *sink_ctx,
                      const pk_options *options, pk_totals *totals, devlog_error *err)
{
    const size_t cap = options->text ? options->text : PK_TEXT;
    const unsigned threads = choose_threads(options->threads);
    packing p = {
        .source = source, .source_ctx = source_ctx, .totals = totals, .cap = cap, .carry = malloc(cap)};
    const pk_stages stages = {&p, fill_text, pack_text, write_packed};
    job jobs[PK_MAX_JOBS] = {0};
    *totals = (pk_totals){0};
    devlog_status status = pk_writer_begin(&p.writer, sink, sink_ctx, err);
    bool room = p.carry && jobs_new(jobs, pk_ring_jobs(threads), cap + PK_PADDING, pk_block_bound(cap));
    for (unsigned i = 0; i < threads && room; i++)
        room = (p.packers[i] = pk_packer_new(cap)) != NULL;
    if (!status && !room) status = no_memory(err);
    if (!status) status = pk_ring_run(&stages, jobs, sizeof jobs[0], threads, err);
    if (!status) status = pk_writer_end(&p.writer, err);
    totals->text = p.writer.text;
    totals->lines = p.writer.lines;
    totals->blocks = p.writer.n_entries;
    totals->packed = p.writer.offset;
    for (unsigned i = 0; i < threads; i++)
        pk_packer_free(p.packers[i]);
    jobs_free(jobs, PK_MAX_JOBS);
    pk_writer_free(&p.writer);
    free(p.carry);
    return status;
}

typedef struct unpacking {
    pk_reader *reader;
    pk_unpacker *unpackers[PK_MAX_THREADS];
    pk_audit audit;
    pk_sink *sink;
    void *sink_ctx;
    uint64_t skipped; /* behind the last frame */
    bool any;
    pk_totals *totals;
} unpacking;

static bool reserve(void **room, size_t *cap, size_t n)
{
    if (n <= *cap) return true;
    free(*room);
    *room = malloc(n);
    *cap = *room ? n : 0;
    return *room != NULL;
}

static devlog_status fill_frame(void *ctx, void *the_job, bool *done, devlog_error *err)
{
    unpacking *u = ctx;
    job *j = the_job;
    pk_frame frame;
    int there;
    do {
        errno = 0;
        there = pk_reader_next(u->reader, &frame);
        if (there < 0) return errno ? dl_fail_errno(err, errno, "cannot read it") : no_memory(err);
        u->any |= there || pk_reader_knows_magic(u->reader);
    } while (there && !pk_audit_frame(&u->audit, &frame));
    *done = !there;
    u->skipped = there ? 0 : frame.skipped;
    if (!there) return DEVLOG_OK;
    void *text = j->text, *stored = j->stored;
    bool room = reserve(&text, &j->cap_text, frame.header.size + PK_LONGEST_ROW);
    room = reserve(&stored, &j->cap_stored, frame.header.stored + 1) && room;
    j->text = text;
    j->stored = stored;
    if (!room) return no_memory(err);
    memcpy(j->stored, frame.stored, frame.header.stored);
    j->header = frame.header;
    j->offset = frame.offset;
    return DEVLOG_OK;
}

static void unpack_text(void *ctx, void *the_job, unsigned worker)
{
    job *j = the_job;
    j->why = pk_unpack_block(((unpacking *)ctx)->unpackers[worker], &j->header, j->stored, j->text);
}

static devlog_status write_text(void *ctx, void *the_job, devlog_error *err)
{
    unpacking *u = ctx;
    job *j = the_job;
    pk_info info;
    pk_audit_text(&u->audit, &j->header, j->offset, j->why);
    if (j->why) return DEVLOG_OK;
    pk_info_get(j->stored, &info);
    u->totals->text += j->header.size;
    u->totals->lines += info.lines;
    u->totals->raw += info.raw;
    return u->sink(u->sink_ctx, j->text, j->header.size, err);
}

static void on_found(void *ctx, const char *text)
{
    const pk_damage *d = ctx;
    if (d->found) d->found(d->ctx, text);
}

devlog_status pk_unpack_all(pk_source *source, void *source_ctx, pk_sink *sink, void *sink_ctx,
                            unsigned threads, pk_totals *totals, pk_damage *damage, devlog_error *err)
{
    unpacking u = {.sink = sink, .sink_ctx = sink_ctx, .totals = totals};
    const pk_stages stages = {&u, fill_frame, unpack_text, write_text};
    job jobs[PK_MAX_JOBS] = {0};
    threads = choose_threads(threads);
    *totals = (pk_totals){0};
    u.reader = pk_reader_new(source, source_ctx);
    bool room = pk_audit_begin(&u.audit, on_found, damage) && u.reader;
    for (unsigned i = 0; i < threads && room; i++)
        room = (u.unpackers[i] = pk_unpacker_new()) != NULL;
    devlog_status status = room ? DEVLOG_OK : no_memory(err);
    if (!status) status = pk_ring_run(&stages, jobs, sizeof jobs[0], threads, err);
    if (!status && !u.any)
        status = dl_fail(err, DEVLOG_ERR_FORMAT, "it is no packed log: nothing in it is a block or an end");
    if (!status) pk_audit_end(&u.audit, u.skipped);
    damage->findings = u.audit.findings;
    damage->lost = u.audit.lost;
    totals->blocks = u.audit.blocks;
    for (unsigned i = 0; i < threads; i++)
        pk_unpacker_free(u.unpackers[i]);
    jobs_free(jobs, PK_MAX_JOBS);
    pk_audit_free(&u.audit);
    pk_reader_free(u.reader);
    return status;
}
