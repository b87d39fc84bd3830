/* Pairing: its state, and what it has come to. Not how marks are paired (pair_runs.c, pair_stack.c). */
#include "decode/pair/pair.h"

#include <stdlib.h>
#include <string.h>

#include "decode/pair/pair_shape.h"

dl_pair *dl_pair_new(dl_tables *tables, dl_losses *losses, const dl_pair_options *options)
{
    dl_pair *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->tables = tables;
    p->losses = losses;
    p->source = "";
    p->first_stream = p->last_stream = DL_NONE;
    if (options) p->filter = options->filter;
    if (options) p->no_samples = options->no_samples;
    if (options) p->no_counts = options->no_counts && !options->filter; /* filters ask for each zone */
    if (options) p->no_shapes = options->no_shapes;
    if (options) p->subtract_cost = options->subtract_cost;
    if (options) p->launches.big_items.folder = p->launches.big_chains.folder = options->scratch;
    p->launches.big_items.warm = p->launches.big_chains.warm = DL_LAUNCHES_WARM;
    if (options) p->pool.filed.folder = options->scratch;
    return p;
}

uint64_t dl_pair_samples_filed(const dl_pair *p)
{
    uint64_t bytes = dl_sample_pool_filed(&p->pool);
    for (uint32_t i = 0; i < p->n_pools; i++)
        bytes += dl_sample_pool_filed(&p->pools[i]);
    return bytes;
}

void dl_pair_forget_launches(dl_pair *p)
{
    dl_launches_free(&p->launches);
}

void dl_pair_free(dl_pair *p)
{
    if (!p) return;
    dl_pair_forget_records(p);
    for (uint32_t i = 0; i < p->n_keys; i++) {
        dl_key *k = &p->key_blocks[i / KEYS_PER_BLOCK][i % KEYS_PER_BLOCK];
        if (k->samples.wide) free(k->samples.wide); /* chunks are the pool's */
        if (k->runs) free(k->runs);
    }
    for (uint32_t i = 0; i < p->n_blocks; i++)
        free(p->key_blocks[i]);
    free(p->key_blocks);
    for (uint32_t i = 0; i < p->n_streams; i++) {
        stream_state *s = p->streams[i];
        if (!s) continue;
        if (s->open != s->inline_open) free(s->open);
        free(s->keys);
        dl_pair_free_costs(s->costs);
        free(s->waiting);
        dl_pair_free_stream_shapes(s);
        free(s);
    }
    dl_pair_free_shapes(p);
    dl_sample_pool_free(&p->pool);
    for (uint32_t i = 0; i < p->n_pools; i++)
        dl_sample_pool_free(&p->pools[i]);
    free(p->pools);
    dl_series_free(&p->series);
    dl_zone_counters_free(&p->counters);
    free(p->streams);
    free(p->sorted);
    free(p->places);
    dl_marks_free(&p->rows);
    dl_outbox_free(&p->out.box);
    dl_launches_free(&p->launches);
    free(p);
}

void dl_pair_losses(dl_pair *p, dl_losses *losses)
{
    p->losses = losses;
}

void dl_pair_source(dl_pair *p, const char *name)
{
    p->source = name;
}

const dl_launches *dl_pair_launches(const dl_pair *p)
{
    return &p->launches;
}

void dl_pair_cool(dl_pair *p)
{
    dl_launches_cool(&p->launches);
}

void dl_pair_launch_times(dl_pair *p, uint32_t chip_id, uint64_t run_host_id, const uint64_t times[4])
{
    for (uint32_t i = p->launches.count; i > 0; i--) {
        dl_launch *l = &p->launches.items[i - 1];
        if (l->run_host_id != run_host_id || p->tables->chips[l->chip].id != chip_id) continue;
        l->call_start = times[0];
        l->call_end = times[1];
        l->pull_start = times[2];
        l->pull_end = times[3];
        return;
    }
    p->times_lost = true;
}

size_t dl_pair_n_keys(const dl_pair *p)
{
    return p->n_keys;
}

const dl_key *dl_pair_key(const dl_pair *p, size_t i)
{
    return &p->key_blocks[i / KEYS_PER_BLOCK][i % KEYS_PER_BLOCK];
}

const dl_series_table *dl_pair_series(const dl_pair *p)
{
    return &p->series;
}

const dl_zone_counters *dl_pair_counters(const dl_pair *p)
{
    return &p->counters;
}

uint32_t dl_pair_far(dl_pair *p, const struct dl_far *far)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_keys; i++) {
        dl_key *k = &p->key_blocks[i / KEYS_PER_BLOCK][i % KEYS_PER_BLOCK];
        if (!k->away) continue;
        k->samples.far = far;
        k->samples.far_id = n++;
    }
    return n;
}

size_t dl_pair_sample_bytes(const dl_pair *p)
{
    size_t bytes = 0;
    for (size_t i = 0; i < p->n_keys; i++)
        bytes += dl_samples_bytes(&dl_pair_key(p, i)->samples) +
                 dl_pair_key(p, i)->cap_runs * sizeof(dl_launch_run);
    return bytes;
}

devlog_status dl_pair_no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while pairing markers");
}

devlog_status dl_pair_chip_line(dl_pair *p, const dl_chip_line *chip, devlog_error *err)
{
    (void)err;
    p->chip_line = *chip;
    p->header++;
    /* The next mark of every stream takes the slow path, which gives the line to its chip. */
    for (uint32_t i = 0; i < p->n_streams; i++)
        if (p->streams[i]) p->streams[i]->limit = 0;
    return DEVLOG_OK;
}

static stream_state *new_stream(dl_pair *p, uint32_t stream)
{
    if (stream >= p->n_streams) {
        uint32_t n = p->n_streams ? p->n_streams : 64;
        while (n <= stream)
            n *= 2;
        stream_state **streams = realloc(p->streams, n * sizeof *streams);
        if (!streams) return NULL;
        memset(streams + p->n_streams, 0, (n - p->n_streams) * sizeof *streams);
        p->streams = streams;
        p->n_streams = n;
    }
    stream_state *s = aligned_alloc(64, (sizeof *s + 63) & ~(size_t)63);
    if (!s) return NULL;
    memset(s, 0, sizeof *s);
    s->open = s->inline_open;
    s->cap_open = INLINE_OPEN;
    s->launch = DL_NONE;
    s->chip = p->tables->streams[stream].chip;
    s->bit = dl_launches_new_stream(&p->launches, s->chip);
    s->wanted = !p->filter || dl_filter_stream(p->filter, p->tables, &p->tables->streams[stream]);
    p->streams[stream] = s;
    return s;
}

stream_state *dl_pair_stream(dl_pair *p, uint32_t stream)
{
    stream_state *s = stream < p->n_streams ? p->streams[stream] : NULL;
    return s ? s : new_stream(p, stream);
}

devlog_status dl_pair_rows(dl_pair *p, const dl_row *rows, size_t n, devlog_error *err)
{
    uint32_t taken;
    dl_marks_clear(&p->rows);
    for (size_t i = 0; i < n; i++)
        if (!dl_marks_add_row(&p->rows, p->tables, &rows[i])) return dl_pair_no_memory(err);
    return dl_pair_marks(p, &p->rows, 0, p->rows.n, true, true, &taken, err);
}

devlog_status dl_pair_finish(dl_pair *p, devlog_error *err)
{
    for (uint32_t i = 0; i < p->n_streams; i++) {
        stream_state *s = p->streams[i];
        if (!s) continue;
        devlog_status status = s->held ? dl_pair_settle(p, s, err) : DEVLOG_OK;
        if (status) return status;
        dl_pair_abandon_open(p, s);
    }
    for (uint32_t i = 0; i < p->n_keys; i++)
        dl_key_settle(&p->key_blocks[i / KEYS_PER_BLOCK][i % KEYS_PER_BLOCK]);
    return dl_pair_out_flush(p, err);
}
