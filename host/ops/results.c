/* Results by call (devlog/results.h): a capture in memory through the decoder, and what the op report says of
 * each launch by itself. Not for keeping the capture (profiler/kept.h). */
#include "devlog/results.h"

#include <stdlib.h>

#include "decode/door.h"
#include "ops/op_cells.h"
#include "ops/op_columns.h"
#include "profiler/profiler.h"

/* The public struct, and what it borrows from. */
typedef struct results {
    devlog_results shown;
    devlog_launch_results *launches;
    devlog_measure *measures;
} results;

/* A decoded capture, and what the device did in each of its launches. */
typedef struct decoded {
    dl_decode *decode;
    op_device *cycles;
} decoded;

static void decoded_free(decoded *d)
{
    op_device_free(d->cycles);
    dl_decode_free(d->decode);
    *d = (decoded){0};
}

static devlog_status decode(const dl_str *capture, bool samples, decoded *out, devlog_error *err)
{
    const dl_decode_options options = {.keep_meta = true, .no_samples = !samples};
    devlog_status status = dl_decode_new(&out->decode, &options, err);
    if (!status) status = op_device_new(&out->cycles, out->decode, NULL, err);
    if (!status && capture->len)
        status = dl_decode_memory(out->decode, "results", capture->text, capture->len, err);
    return status ? status : dl_decode_finish(out->decode, err);
}

/* A row of the op report for every launch by itself. */
static devlog_status make_rows(const decoded *d, op_stitch *s, devlog_error *err)
{
    const dl_launches *launches = dl_decode_launches(d->decode);
    *s = (op_stitch){.decode = d->decode, .cycles = d->cycles, .n_rows = launches->count};
    s->rows = calloc(launches->count + (size_t)1, sizeof *s->rows);
    if (!s->rows) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for results");
    for (uint32_t i = 0; i < launches->count; i++)
        s->rows[i] = (op_row){.op = DL_NONE,
                              .device_op = DL_NONE,
                              .chip = launches->items[i].chip,
                              .launch = i,
                              .n_launches = 1};
    return op_stitch_latencies(s) ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for results");
}

static void fill_launch(const op_stitch *s, const op_row *row, devlog_launch_results *to,
                        devlog_measure *measures)
{
    size_t n_columns;
    const op_column *columns = op_columns(OP_COLUMNS_CURRENT, &n_columns);
    const dl_launch *l = &dl_decode_launches(s->decode)->items[row->launch];
    const dl_chip *chip = &dl_decode_tables(s->decode)->chips[l->chip];
    const op_row_facts facts = {.row = row, .cycles = op_stitch_cycles(s, row), .freq_khz = chip->freq_khz};
    *to = (devlog_launch_results){.chip = chip->id,
                                  .number = l->run_host_id,
                                  .op = l->op,
                                  .cores = facts.cycles ? facts.cycles->cores : 0,
                                  .measures = measures};
    for (size_t i = 0; i < n_columns; i++)
        if (op_is_device_column(&columns[i])) {
            const op_device_value v = op_device_value_of(&facts, &columns[i]);
            measures[to->n_measures++] = (devlog_measure){columns[i].header, v.known,
                                                          v.negative ? -(int64_t)v.value : (int64_t)v.value};
        }
}

static size_t count_device_columns(void)
{
    size_t n_columns, n = 0;
    const op_column *columns = op_columns(OP_COLUMNS_CURRENT, &n_columns);
    for (size_t i = 0; i < n_columns; i++)
        n += op_is_device_column(&columns[i]);
    return n;
}

/* The launches behind the first `skipped` of d. */
static devlog_status fill(results *r, const decoded *d, uint32_t skipped, devlog_error *err)
{
    op_stitch s = {0};
    size_t each = count_device_columns();
    devlog_status status = make_rows(d, &s, err);
    if (skipped > s.n_rows) skipped = (uint32_t)s.n_rows;
    size_t n = status ? 0 : s.n_rows - skipped;
    r->launches = calloc(n + 1, sizeof *r->launches);
    r->measures = calloc(n * each + 1, sizeof *r->measures);
    if (!status && (!r->launches || !r->measures))
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for results");
    for (size_t i = 0; i < n && !status; i++) {
        fill_launch(&s, &s.rows[skipped + i], &r->launches[i], r->measures + i * each);
        r->launches[i].launch = (uint32_t)i;
    }
    r->shown.n_launches = status ? 0 : n;
    r->shown.launches = r->launches;
    free(s.rows);
    return status;
}

/* Latest: measures are of two launches, since a latency is between two; the log is of the last one. */
static devlog_status make(devlog_device *device, bool all, results *r, devlog_error *err)
{
    dl_str one = {0}, two = {0};
    decoded shown = {0}, both = {0};
    devlog_status status = profiler_kept(device, all ? KEPT_ALL : KEPT_LATEST, &one, err);
    if (!status && !all) status = profiler_kept(device, KEPT_LATEST_TWO, &two, err);
    if (!status) status = decode(&one, true, &shown, err);
    bool has_two = !status && two.len > one.len;
    if (has_two) status = decode(&two, false, &both, err);
    const decoded *measured = has_two ? &both : &shown;
    if (!status)
        status = fill(
            r, measured,
            has_two ? dl_decode_launches(both.decode)->count - dl_decode_launches(shown.decode)->count : 0,
            err);
    if (!status) status = door_of_decoded(shown.decode, &r->shown.log, err);
    if (!status) shown.decode = NULL;
    decoded_free(&both);
    decoded_free(&shown);
    dl_str_free(&one);
    dl_str_free(&two);
    return status;
}

static devlog_status results_of(devlog_device *device, bool all, devlog_results **out, devlog_error *err)
{
    results *r = calloc(1, sizeof *r);
    *out = NULL;
    if (!r) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for results");
    devlog_status status = make(device, all, r, err);
    if (status)
        devlog_results_free(&r->shown);
    else
        *out = &r->shown;
    return status;
}

devlog_status devlog_results_latest(devlog_device *device, devlog_results **out, devlog_error *err)
{
    return results_of(device, false, out, err);
}

devlog_status devlog_results_all(devlog_device *device, devlog_results **out, devlog_error *err)
{
    return results_of(device, true, out, err);
}

void devlog_results_free(devlog_results *shown)
{
    results *r = (results *)shown; /* its first member */
    if (!r) return;
    devlog_log_close(r->shown.log);
    free(r->launches);
    free(r->measures);
    free(r);
}
