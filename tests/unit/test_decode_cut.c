/* A log cut at any byte of its last 200 loses the row that was cut, nothing else, and says so. Every real
 * sample decodes. */
#include "support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/digest.h"
#include "support/logs.h"

/* A line of a log that is a mark. */
typedef struct row {
    uint64_t time, data, run_host_id;
    uint32_t stream, site, type, timer_id, meta, op, line;
    uint32_t run_id, trace_id, trace_counter, has_launch,
        padding; /* none that is not written: compared as bytes */
} row;

typedef struct outcome {
    const dl_tables *tables;
    row *rows;
    size_t n, cap;
    uint64_t cut, no_line_end, skipped;
    bool any_loss;
} outcome;

static row row_of(const outcome *o, const dl_marks *m, uint32_t at)
{
    static const dl_rare nothing;
    const uint64_t code = m->items[at].code;
    const dl_rare *rare = code & DL_MARK_RARE ? dl_mark_rare(m, code) : &nothing;
    const dl_frame *frame = dl_mark_frame(m, code);
    const dl_kind *kind = &o->tables->kinds[dl_mark_kind(code)];
    const dl_ids *ids = &frame->ids;
    return (row){m->items[at].time,    rare->data,      ids->run_host_id,
                 dl_mark_stream(code), kind->site,      kind->type,
                 kind->timer_id,       rare->meta,      rare->op,
                 frame->line + at,     ids->run_id,     ids->trace_id,
                 ids->trace_counter,   ids->has_launch, 0};
}

static devlog_status keep(void *ctx, dl_marks *m, bool all, uint32_t *taken, devlog_error *err)
{
    (void)err, (void)all;
    outcome *o = ctx;
    if (o->n + m->n > o->cap) {
        o->cap = (o->n + m->n) * 2;
        o->rows = realloc(o->rows, o->cap * sizeof *o->rows);
        assert_non_null(o->rows);
    }
    for (uint32_t i = 0; i < m->n; i++)
        o->rows[o->n++] = row_of(o, m, i);
    *taken = m->n;
    return DEVLOG_OK;
}

static devlog_status ignore_chip(void *ctx, const dl_chip_line *chip, devlog_error *err)
{
    (void)ctx, (void)chip, (void)err;
    return DEVLOG_OK;
}

/* The marks of a log, in its order, with everything that they say. */
static void read_rows(outcome *o, const char *text, size_t n)
{
    dl_tables tables;
    dl_losses losses = {0};
    dl_marks marks = {0};
    devlog_error err;
    const dl_parse_sink sink = {o, keep, ignore_chip};
    size_t whole = n;
    while (whole && text[whole - 1] != '\n')
        whole--;
    char *copy = calloc(1, DL_PARSE_BEFORE + n + DL_PARSE_AFTER);
    assert_non_null(copy);
    memcpy(copy + DL_PARSE_BEFORE, text, n);
    assert_int_equal(dl_tables_init(&tables, &err), DEVLOG_OK);
    o->tables = &tables;
    dl_parser *p = dl_parser_new(&tables, &losses, DL_PARSE_BEST);
    assert_non_null(p);
    dl_parser_keep(p, true, true);
    dl_parser_marks(p, &marks);
    dl_parser_begin(p, "log.csv");
    assert_int_equal(dl_parser_block(p, copy + DL_PARSE_BEFORE, whole, &sink, &err), DEVLOG_OK);
    assert_int_equal(dl_parser_last(p, copy + DL_PARSE_BEFORE + whole, n - whole, &sink, &err), DEVLOG_OK);
    o->tables = NULL;
    dl_parser_free(p);
    dl_marks_free(&marks);
    dl_losses_free(&losses);
    dl_tables_free(&tables);
    free(copy);
}

static outcome decode(const char *text, size_t n, unsigned threads)
{
    outcome o = {0};
    devlog_error err;
    dl_decode *d;
    const dl_decode_options options = {.threads = threads, .keep_meta = true};
    assert_int_equal(dl_decode_new(&d, &options, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_memory(d, "log.csv", text, n, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    const dl_losses *l = dl_decode_losses(d);
    o.cut = l->skipped[DL_SKIP_CUT];
    o.skipped = dl_losses_skipped(l);
    o.no_line_end = l->found[DL_FOUND_NO_LINE_END];
    o.any_loss = dl_losses_any(l);
    const uint64_t rows = l->rows;
    dl_decode_free(d);
    read_rows(&o, text, n);
    assert_int_equal(rows, o.n);
    return o;
}

/* The rows of `whole` up to the line of the last row of `part` are those of `part`. Of the last row the meta
 * data may be missing, when it was cut just before them. */
static bool begins_with(const outcome *whole, const outcome *part)
{
    if (part->n > whole->n) return false;
    for (size_t i = 0; i < part->n; i++) {
        row a = whole->rows[i], b = part->rows[i];
        if (i + 1 == part->n && b.meta == 0 && b.op == 0) a.meta = a.op = 0;
        if (i + 1 == part->n && a.meta != 0) a.meta = b.meta;
        if (memcmp(&a, &b, sizeof a) != 0) return false;
    }
    return true;
}

static void cut_everywhere(const char *text, size_t n, const char *what)
{
    outcome whole = decode(text, n, 1);
    for (size_t cut = n - 200; cut < n; cut++) {
        size_t lines = 0, rest = 0;
        for (size_t i = 0; i < cut; i++) {
            rest = text[i] == '\n' ? 0 : rest + (text[i] != '\r');
            lines += text[i] == '\n';
        }
        outcome before = decode(text, cut - rest, 1);
        outcome got = decode(text, cut, 1 + (unsigned)(cut % 2));
        bool kept = got.n == before.n + 1 && got.no_line_end == 1 && got.skipped == before.skipped;
        bool lost = got.n == before.n && got.cut == 1 && got.skipped == before.skipped + 1 && got.any_loss;
        bool nothing = rest == 0 && got.n == before.n && got.skipped == before.skipped;
        if (!begins_with(&whole, &got) || kept + lost + nothing != 1)
            fail_msg("%s cut after %zu bytes, line %zu: %zu rows, before it %zu; %d cut, %d without an end: "
                     "'%.*s'",
                     what, cut, lines + 1, got.n, before.n, (int)got.cut, (int)got.no_line_end, (int)rest,
                     text + cut - rest);
        free(before.rows);
        free(got.rows);
    }
    free(whole.rows);
}

static void a_cut_log_loses_the_cut_row(void **state)
{
    (void)state;
    for (int kind = 0; kind < TEST_LOG_KINDS; kind++) {
        char what[8];
        dl_str log = {0};
        snprintf(what, sizeof what, "L%d", kind);
        test_log(&log, kind, 2, 5);
        cut_everywhere(log.text, log.len, what);
        dl_str_free(&log);
    }
}

static void every_sample_decodes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t freq_khz;
    } samples[] = {
        {"device_log_L1b_user_markers.csv", 1202000},
        {"device_log_L2_docs.csv", 1202000},
        {"device_log_L3_docs.csv", 1202000},
        {"device_log_L7_smoke.csv", 1000000},
    };
    const char *folder = getenv("DEVLOG_SAMPLES");
    if (!folder) {
        print_message("skipped: DEVLOG_SAMPLES does not name a folder with logs of other tools\n");
        skip();
    }
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, samples[i].name);
        devlog_error err;
        dl_decode *d;
        assert_int_equal(dl_decode_new(&d, NULL, &err), DEVLOG_OK);
        devlog_status status = dl_decode_file(d, path, &err);
        if (status == DEVLOG_ERR_NOT_FOUND) {
            dl_decode_free(d);
            print_message("skipped: no %s\n", path);
            skip();
        }
        assert_int_equal(status, DEVLOG_OK);
        assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
        const dl_losses *l = dl_decode_losses(d);
        /* Every line but the chip line and the header is a row. */
        assert_int_equal(dl_losses_skipped(l), 0);
        assert_int_equal(l->rows, l->lines - 2);
        assert_int_equal(dl_decode_tables(d)->chips[0].freq_khz, samples[i].freq_khz);
        assert_true(dl_decode_n_keys(d) > 0);
        dl_decode_free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_log_loses_the_cut_row),
        cmocka_unit_test(every_sample_decodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
