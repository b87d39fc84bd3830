/* Everything that a decoder says about a log, as a few numbers. See digest.h. */
#include "support/digest.h"

#include "support/packed.h"
#include "support/sums.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/analysis/series_groups.h"

static uint64_t mix(uint64_t h, const void *bytes, size_t n)
{
    return dl_hash_u64(h ^ dl_hash_bytes(bytes, n));
}

static uint64_t mix_text(uint64_t h, const char *text)
{
    return text ? mix(h, text, strlen(text)) : h + 1;
}

static void on_mark(test_digest *r, const dl_run *run, const dl_mark *m)
{
    const dl_kind *k = &r->tables_of->kinds[dl_mark_kind(m->code)];
    const uint64_t parts[] = {
        m->time, dl_mark_data(run->batch, m->code), run->stream, k->site, run->launch, k->timer_id, k->type};
    r->markers = mix(r->markers, parts, sizeof parts);
}

static devlog_status on_runs(void *ctx, const dl_run *runs, size_t n, devlog_error *err)
{
    (void)err;
    test_digest *r = ctx;
    for (size_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < runs[i].n_events; k++) {
            const dl_event e = runs[i].items ? dl_run_event(&runs[i], r->tables_of, k) : runs[i].events[k];
            r->events = mix(r->events, &e, sizeof e);
            if (e.kind != DL_EVENT_DROPPED) r->listed[e.kind == DL_EVENT_ZONE]++;
        }
        for (uint32_t k = 0; k < runs[i].n_marks; k++)
            on_mark(r, &runs[i], &runs[i].marks[k]);
    }
    return DEVLOG_OK;
}

static void take_tables(test_digest *r, const dl_tables *t)
{
    for (uint32_t i = 0; i < t->n_chips; i++) {
        const uint64_t chip[] = {t->chips[i].id, t->chips[i].freq_khz, t->chips[i].max_cores};
        r->tables = mix(mix_text(r->tables, dl_text(t, t->chips[i].arch)), chip, sizeof chip);
    }
    for (uint32_t i = 0; i < t->n_streams; i++) {
        const dl_stream *s = &t->streams[i];
        const uint64_t stream[] = {s->chip, s->core_x, s->core_y, s->risc};
        r->tables = mix(mix_text(r->tables, dl_text(t, s->risc_name)), stream, sizeof stream);
    }
    for (uint32_t i = 0; i < t->n_sites; i++) {
        const uint64_t site[] = {t->sites[i].line, t->sites[i].role};
        r->tables = mix(mix_text(r->tables, dl_text(t, t->sites[i].name)), site, sizeof site);
        r->tables = mix_text(r->tables, dl_text(t, t->sites[i].file));
    }
}

static void take_losses(test_digest *r, const dl_losses *l)
{
    const uint64_t totals[] = {l->lines, l->rows, l->rows_filtered, l->zones_filtered, l->stopped};
    r->losses = mix(r->losses, totals, sizeof totals);
    const uint64_t seen[] = {l->seen.rows,  l->seen.zones, l->seen.any,
                             l->seen.first, l->seen.last,  l->seen.longest};
    r->losses = mix(r->losses, seen, sizeof seen);
    r->losses = mix(r->losses, l->skipped, sizeof l->skipped);
    r->losses = mix(r->losses, l->found, sizeof l->found);
    const uint64_t costs[] = {l->cost_known,          l->cost_subtracted,     l->cost_of_kernels,
                              l->cycles_of_kernels,   l->cost_off_of_kernels, l->kernels_unpriced,
                              l->kernels_unknown_cost};
    r->losses = mix(r->losses, costs, sizeof costs);
    r->losses = mix(r->losses, l->cost_sixteenths, sizeof l->cost_sixteenths);
    for (int kind = 0; kind < DL_SKIPS + DL_FINDINGS; kind++)
        for (int i = 0; i < DL_DETAILS_PER_KIND; i++)
            r->losses = mix_text(r->losses, l->details[kind][i]);
}

static void take_keys(test_digest *r, dl_decode *d)
{
    for (size_t i = 0; i < dl_decode_n_keys(d); i++) {
        const dl_key *k = dl_decode_key(d, i);
        const uint64_t key[] = {k->count,  k->min,  k->max,         k->first, (uint64_t)k->sum,
                                k->stream, k->site, k->first_start, k->role};
        r->keys = mix(r->keys, key, sizeof key);
        r->counted[true] += k->count;
        for (uint32_t run = 0; run < k->n_runs; run++)
            r->keys = mix(r->keys, &k->runs[run], sizeof k->runs[run]);
        dl_sample_walk w;
        uint64_t value;
        dl_sample_walk_start(&w, &k->samples);
        while (dl_sample_walk_next(&w, &value))
            r->keys = mix(r->keys, &value, sizeof value);
    }
    for (size_t i = 0; i < dl_decode_n_series(d); i++) {
        const dl_series *s = dl_decode_series(d, i);
        const uint64_t series[] = {s->stream, s->site,     s->kind,      s->count,         s->last,
                                   s->min,    s->max,      s->last_time, (uint64_t)s->sum, s->passes,
                                   s->what,   s->shortest, s->longest};
        r->keys = mix(r->keys, series, sizeof series);
        r->counted[false] += s->count;
    }
    size_t n_messages;
    uint64_t more;
    dl_message *list = dl_messages_of(d, &n_messages, &more);
    for (size_t i = 0; i < n_messages; i++) {
        const uint64_t message[] = {list[i].time, list[i].stream, list[i].site, list[i].launch};
        r->keys = mix(mix_text(r->keys, dl_text(dl_decode_tables(d), list[i].meta)), message, sizeof message);
    }
    r->keys = mix(r->keys, &more, sizeof more);
    r->n_texts += n_messages;
    free(list);
    const dl_launches *l = dl_decode_launches(d);
    for (uint32_t i = 0; i < l->count; i++) {
        const dl_launch *one = &l->items[i];
        const uint64_t launch[] = {
            one->run_host_id,    one->chip,        one->run_id,  one->trace_id, one->trace_counter,
            one->first_fw_start, one->last_fw_end, one->has_ids, one->op,       one->run};
        r->launches = mix(r->launches, launch, sizeof launch);
    }
}

/* Tables of statistics and lists of events are of the same zones and markers. */
static void check_counts(test_digest *r, bool listens)
{
    const bool same = memcmp(r->listed, r->counted, sizeof r->listed) == 0;
    if (!listens || same) {
        memset(r->listed, 0, sizeof r->listed);
        memset(r->counted, 0, sizeof r->counted);
        return;
    }
    fprintf(stderr, "%llu zones and %llu other events are listed, and %llu and %llu counted\n",
            (unsigned long long)r->listed[true], (unsigned long long)r->listed[false],
            (unsigned long long)r->counted[true], (unsigned long long)r->counted[false]);
    abort();
}

enum { AS_TEXT = -1 };

/* Decodes the text; or packed in blocks of so many bytes. */
static devlog_status decode_piece(dl_decode *d, const char *name, const char *text, size_t n, long block,
                                  devlog_error *err)
{
    if (block == AS_TEXT) return dl_decode_memory(d, name, text, n, err);
    dl_str packed = {0};
    devlog_status status = test_pack(text, n, (size_t)block, 1, &packed);
    if (!status) status = dl_decode_memory(d, name, packed.text, packed.len, err);
    dl_str_free(&packed);
    return status;
}

static devlog_status digest_of(test_digest *digest, bool listen, const char *text, size_t n, long block,
                               const dl_decode_options *options)
{
    devlog_error err = {0};
    dl_decode *d;
    *digest = (test_digest){0};
    devlog_status status = dl_decode_new(&d, options, &err);
    if (status) return status;
    if (listen) {
        digest->tables_of = dl_decode_tables(d);
        const dl_run_sink runs = {.ctx = digest,
                                  .wants = DL_WANT_EVENTS | DL_WANT_MARKS | DL_WANT_ITEMS,
                                  .runs = on_runs,
                                  .apart = options && options->block % 2};
        if (!status) status = dl_decode_run_sink(d, runs, &err);
    }
    size_t half = n / 2;
    while (half < n && half && text[half - 1] != '\n')
        half++;
    status = decode_piece(d, "one.csv", text, half, block, &err);
    if (!status) status = decode_piece(d, "two.csv", text + half, n - half, block, &err);
    if (!status) status = decode_piece(d, "all.csv", text, n, block, &err);
    if (!status) status = dl_decode_finish(d, &err);
    take_tables(digest, dl_decode_tables(d));
    take_losses(digest, dl_decode_losses(d));
    digest->n_rows = dl_decode_losses(d)->rows;
    take_keys(digest, d);
    check_counts(digest, listen && !status);
    digest->tables_of = NULL;
    dl_decode_free(d);
    return status;
}

devlog_status test_digest_of(test_digest *digest, const char *text, size_t n,
                             const dl_decode_options *options)
{
    return digest_of(digest, true, text, n, AS_TEXT, options);
}

devlog_status test_digest_of_statistics(test_digest *digest, const char *text, size_t n,
                                        const dl_decode_options *options)
{
    return digest_of(digest, false, text, n, AS_TEXT, options);
}

devlog_status test_digest_of_packed(test_digest *digest, const char *text, size_t n, size_t block,
                                    bool listen, const dl_decode_options *options)
{
    return digest_of(digest, listen, text, n, (long)block, options);
}

void test_digest_only_statistics(test_digest *digest)
{
    digest->events = digest->markers = 0;
}

/* Every third of user's markers, another third on the next RISC; and those of firmware and kernels. */
static bool is_picked(const void *ctx, uint32_t stream, const dl_kind *kind)
{
    (void)ctx;
    return kind->role != DL_ROLE_USER || (kind->site + stream) % 3 == 0;
}

static devlog_status on_picked(void *ctx, const dl_run *runs, size_t n, devlog_error *err)
{
    (void)err;
    test_digest *r = ctx;
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < runs[i].n_marks; k++) {
            const dl_mark *m = &runs[i].marks[k];
            if (is_picked(r, runs[i].stream, &r->tables_of->kinds[dl_mark_kind(m->code)]))
                on_mark(r, &runs[i], m);
        }
    return DEVLOG_OK;
}

static devlog_status on_sums(void *ctx, const dl_run *runs, size_t n, devlog_error *err)
{
    (void)err;
    for (size_t i = 0; i < n; i++)
        test_sums_take(((test_digest *)ctx)->sums, &runs[i]);
    return DEVLOG_OK;
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int by_small_size(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Launches that repeat are counted marker by marker: zones of several markers with the same statistics, as those have that a full table
 * has no room for, come in another order then, which tells nothing. Where there is room, or a sample's place tells its launch, the order
 * counts. */
static void sort_samples(dl_decode *d)
{
    const dl_tables *t = dl_decode_tables(d);
    if (t->n_sites < DL_MAX_SITES && t->n_kinds < DL_MAX_KINDS) return;
    for (size_t i = 0; i < dl_decode_n_keys(d); i++) {
        const dl_key *k = dl_decode_key(d, i);
        const dl_samples *s = &k->samples;
        const uint64_t n = dl_samples_count(s);
        uint32_t *const all = n && !k->n_runs ? malloc(n * sizeof *all) : NULL, *at = all;
        if (!all) continue;
        for (const dl_sample_chunk *c = s->first; c; c = c->next)
            at = mempcpy(at, c->values, (size_t)((c == s->last ? s->at : c->end) - c->values) * sizeof *at);
        qsort(all, n, sizeof *all, by_small_size);
        at = all;
        for (dl_sample_chunk *c = s->first; c; c = c->next) {
            const size_t held = (size_t)((c == s->last ? s->at : c->end) - c->values);
            memcpy(c->values, at, held * sizeof *at);
            at += held;
        }
        if (s->n_wide) qsort(s->wide, s->n_wide, sizeof *s->wide, by_size);
        free(all);
    }
}

devlog_status test_capture_digest(test_digest *digest, const void *bytes, size_t n,
                                  const dl_decode_options *options, test_listens listens)
{
    devlog_error err = {0};
    dl_decode *d;
    *digest = (test_digest){0};
    devlog_status status = dl_decode_new(&d, options, &err);
    if (status) return status;
    digest->tables_of = dl_decode_tables(d);
    static const _Atomic uint32_t listed = 3;
    const dl_run_sink sinks[] = {
        [TEST_LISTENS_TO_ALL] = {.ctx = digest,
                                 .wants = DL_WANT_EVENTS | DL_WANT_MARKS | DL_WANT_ITEMS,
                                 .runs = on_runs},
        [TEST_LISTENS_TO_SOME] = {.ctx = digest,
                                  .wants = DL_WANT_MARKS,
                                  .runs = on_picked,
                                  .marks_of = is_picked},
        [TEST_LISTENS_TO_SUMS] = {
            .ctx = digest, .wants = DL_WANT_EVENTS, .runs = on_sums, .events_end = &listed, .sums = true}};
    if (listens == TEST_LISTENS_TO_SUMS && !(digest->sums = calloc(1, sizeof *digest->sums)))
        status = DEVLOG_ERR_MEMORY;
    if (!status && listens) status = dl_decode_run_sink(d, sinks[listens], &err);
    if (!status) status = dl_decode_memory(d, "one", bytes, n, &err);
    if (!status) status = dl_decode_memory(d, "two", bytes, n, &err);
    if (!status) status = dl_decode_finish(d, &err);
    digest->n_rows = dl_decode_losses(d)->rows;
    take_tables(digest, dl_decode_tables(d));
    take_losses(digest, dl_decode_losses(d));
    sort_samples(d);
    take_keys(digest, d);
    check_counts(digest, listens == TEST_LISTENS_TO_ALL && !status);
    if (digest->sums) digest->events = test_sums_mix(digest->sums);
    if (digest->sums) digest->n_sums = digest->sums->n_sums;
    test_sums_free(digest->sums);
    digest->sums = NULL;
    digest->tables_of = NULL;
    dl_decode_free(d);
    return status;
}
