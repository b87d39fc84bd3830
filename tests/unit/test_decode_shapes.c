/* Runs of one shape: that consumers may take them by it. Analyses by shape against the same mark by mark, and what runs say of
 * themselves. Not whether pairing by shape is right (test_decode_paths.c). */
#include <stdlib.h>
#include <string.h>

#include "decode/analysis/analyzer_internal.h"
#include "support/cmocka_all.h"
#include "support/runs.h"

typedef struct setup {
    dl_decode *d;
    dl_analyzer *a;
    dl_analysis_list list;
} setup;

static void done(setup *s)
{
    dl_analyzer_free(s->a);
    dl_analyses_free(&s->list);
    dl_decode_free(s->d);
}

/* Of a random log, with and without what is remembered of runs that look alike. */
static void analyse(setup *s, const dl_str *log, const char *analyses, bool no_shapes)
{
    devlog_error err;
    *s = (setup){0};
    const dl_decode_options options = {.no_shapes = no_shapes, .threads = 1};
    if (dl_analyses_defaults(&s->list, &err)) fail_msg("%s", err.text);
    if (dl_analyses_parse(&s->list, "test", analyses, &err)) fail_msg("%s", err.text);
    assert_int_equal(dl_decode_new(&s->d, &options, &err), DEVLOG_OK);
    assert_int_equal(dl_analyzer_new(&s->a, s->d, &s->list, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_run_sink(s->d, dl_analyzer_sink(s->a), &err), DEVLOG_OK);
    assert_int_equal(dl_decode_memory(s->d, "log", log->text, log->len, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(s->d, &err), DEVLOG_OK);
}

static void check_same(const setup *a, const setup *b, uint64_t seed)
{
    for (size_t i = 0; i < a->list.n; i++) {
        size_t n, m;
        const dl_analysis_result *x = dl_analyzer_results(a->a, i, &n), *y = dl_analyzer_results(b->a, i, &m);
        assert_int_equal(n, m);
        for (size_t k = 0; k < n; k++) {
            const dl_summary *p = &x[k].summary, *q = &y[k].summary;
            const bool same =
                x[k].chip == y[k].chip && x[k].core_x == y[k].core_x && x[k].core_y == y[k].core_y &&
                x[k].stream == y[k].stream && x[k].incomplete == y[k].incomplete && p->count == q->count &&
                p->min == q->min && p->max == q->max && p->first == q->first && p->sum == q->sum &&
                p->median_low == q->median_low && p->median_high == q->median_high;
            if (!same) fail_msg("seed %lu: '%s' differs", seed, a->list.items[i].name);
        }
        const dl_analysis_event *e = dl_analyzer_events(a->a, i, &n), *f = dl_analyzer_events(b->a, i, &m);
        assert_int_equal(n, m);
        for (size_t k = 0; k < n; k++)
            if (e[k].time != f[k].time || e[k].data != f[k].data || e[k].stream != f[k].stream)
                fail_msg("seed %lu: event %lu of '%s' differs", seed, k, a->list.items[i].name);
    }
}

static void join(dl_str *analyses, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dl_str_fmt(analyses, "%c%s", i ? ',' : '{', list[i]);
    dl_str_char(analyses, '}');
}

/* Every kind of analysis, on one RISC, a core, a chip and the launches of it; markers that are a start and an end at once,
 * and starts and ends that meet in one run twice or not at all. Those of the second list let runs wait until there are many. */
static void runs_that_look_alike_change_nothing(void **state)
{
    (void)state;
    enum { LOGS = 120 };
#define START(role) "{\"risc\": \"ANY\", \"role\": \"" role "\", \"zone_phase\": \"ZONE_START\"}"
#define END(role)   "{\"risc\": \"ANY\", \"role\": \"" role "\", \"zone_phase\": \"ZONE_END\"}"
#define ANY         "{\"risc\": \"ANY\", \"zone_name\": \"*\", \"zone_phase\": \"ANY\"}"
#define FW          "{\"risc\": \"ANY\", \"role\": \"FW\", \"zone_phase\": \"ANY\"}"
#define TWO(name, across, type, start, end)                                                                  \
    "\"" name "\": {\"across\": \"" across "\", \"type\": \"" type "\", \"start\": " start ", \"end\": " end \
    "}"
    static const char *const list[] = {
        TWO("own", "risc", "adjacent", START("KERNEL"), END("KERNEL")),
        TWO("gap", "risc", "adjacent", END("KERNEL"), START("FW")),
        TWO("all", "risc", "adjacent", ANY, ANY),
        TWO("any", "core", "adjacent", ANY, END("FW")),
        TWO("to the end", "device", "adjacent", START("KERNEL"), ANY),
        TWO("first any", "core", "session_first_last", ANY, ANY),
        TWO("launch", "risc", "launch_first_last", ANY, ANY),
        TWO("launch of core", "core", "launch_first_last", END("KERNEL"), END("FW")),
        TWO("op", "ops", "op_core_first_last", END("FW"), START("FW")),
    };
    static const char *const often[] = {
        TWO("pairs", "risc", "adjacent", START("KERNEL"), END("KERNEL")),
        TWO("both at once", "core", "adjacent", FW, FW),
        TWO("of the chip", "device", "adjacent", END("FW"), START("KERNEL")),
        TWO("session", "risc", "session_first_last", START("KERNEL"), END("FW")),
        TWO("launch", "risc", "launch_first_last", START("FW"), END("KERNEL")),
        TWO("launch of core", "core", "launch_first_last", END("KERNEL"), START("KERNEL")),
    };
    dl_str analyses[2] = {{0}, {0}};
    join(&analyses[0], list, sizeof list / sizeof list[0]);
    join(&analyses[1], often, sizeof often / sizeof often[0]);
    uint32_t shapes = 0, recipes = 0;
    for (uint64_t seed = 1; seed <= LOGS; seed++) {
        dl_str log = {0};
        const bool wait = seed % 2;
        test_runs(&log, 4 + (unsigned)(wait ? seed % 80 : seed % 9), (unsigned)(seed / 2 % 4) * 3, seed);
        setup one, other;
        analyse(&one, &log, analyses[wait].text, true);
        analyse(&other, &log, analyses[wait].text, false);
        for (uint32_t i = 0; i < other.a->n_classes; i++)
            for (uint32_t k = 0; k < other.a->classes[i].n_shapes; k++)
                if (other.a->classes[i].shapes[k]) {
                    shapes++;
                    recipes += other.a->classes[i].shapes[k]->recipe != NULL;
                }
        devlog_error err;
        assert_int_equal(dl_analyzer_finish(one.a, &err), DEVLOG_OK);
        assert_int_equal(dl_analyzer_finish(other.a, &err), DEVLOG_OK);
        check_same(&one, &other, seed);
        done(&one);
        done(&other);
        dl_str_free(&log);
    }
    dl_str_free(&analyses[0]);
    dl_str_free(&analyses[1]);
    assert_true(shapes > LOGS && recipes > LOGS);
}

/* The marks of firmware's starts and kernels' ends, as an analysis between them should see them. */
typedef struct moment {
    uint64_t place, time;
    bool is_end;
} moment;

typedef struct moments {
    const dl_tables *tables;
    dl_run_sink to; /* the analyzer */
    moment *items;
    size_t n, cap;
    bool by_core;
} moments;

static devlog_status note_moments(void *ctx, const dl_run *runs, size_t n, devlog_error *err)
{
    moments *m = ctx;
    for (size_t i = 0; i < n; i++) {
        const dl_stream *s = &m->tables->streams[runs[i].stream];
        for (uint32_t k = 0; k < runs[i].n_marks; k++) {
            const dl_mark *mark = &runs[i].marks[k];
            const dl_kind *kind = &m->tables->kinds[dl_mark_kind(mark->code)];
            const bool starts = kind->role == DL_ROLE_FW && kind->type == DL_ROW_ZONE_START;
            if (!starts && (kind->role != DL_ROLE_KERNEL || kind->type != DL_ROW_ZONE_END)) continue;
            if (m->n == m->cap) m->items = realloc(m->items, (m->cap = m->cap * 2 + 64) * sizeof *m->items);
            assert_non_null(m->items);
            const uint64_t core = m->by_core ? (uint64_t)s->core_y << 16 | s->core_x : 0;
            m->items[m->n++] = (moment){(uint64_t)s->chip << 32 | core, mark->time, !starts};
        }
    }
    return m->to.runs(m->to.ctx, runs, n, err);
}

/* Starts before ends of the same time. */
static int in_order(const void *pa, const void *pb)
{
    const moment *a = pa, *b = pb;
    if (a->place != b->place) return a->place < b->place ? -1 : 1;
    if (a->time != b->time) return a->time < b->time ? -1 : 1;
    return a->is_end - b->is_end;
}

/* Of one chip: durations, their sum, starts that stay open. */
static void count_in_order(const moments *m, uint32_t chip, uint64_t found[3])
{
    const moment *open = NULL;
    memset(found, 0, 3 * sizeof *found);
    for (size_t i = 0; i < m->n; i++) {
        const moment *at = &m->items[i];
        if (at->place >> 32 != chip) continue;
        if (open && open->place != at->place) {
            found[2]++;
            open = NULL;
        }
        if (open && at->is_end) {
            found[0]++;
            found[1] += at->time - open->time;
            open = NULL;
        } else if (!at->is_end) {
            open = at;
        }
    }
    found[2] += open != NULL;
}

/* Marks of several RISCs as if they had been put in order, of cores and of chips with more RISCs than are looked at side by side. */
static void ends_find_the_last_start_before_them(void **state)
{
    (void)state;
    enum { LOGS = 200 };
    static const char *const list[] = {TWO("between", "device", "adjacent", START("FW"), END("KERNEL")),
                                       TWO("between", "core", "adjacent", START("FW"), END("KERNEL"))};
    uint64_t durations = 0, open = 0;
    for (uint64_t seed = 1; seed <= LOGS; seed++) {
        devlog_error err;
        dl_str log = {0}, analyses = {0};
        setup s = {0};
        moments m = {.by_core = seed % 2};
        const dl_decode_options options = {.threads = 1};
        test_runs(&log, 3 + (unsigned)(seed % 70), (unsigned)(seed / 2 % 4) * 4, seed);
        join(&analyses, &list[m.by_core], 1);
        if (dl_analyses_parse(&s.list, "test", analyses.text, &err)) fail_msg("%s", err.text);
        assert_int_equal(dl_decode_new(&s.d, &options, &err), DEVLOG_OK);
        assert_int_equal(dl_analyzer_new(&s.a, s.d, &s.list, &err), DEVLOG_OK);
        m.tables = dl_decode_tables(s.d);
        m.to = dl_analyzer_sink(s.a);
        const dl_run_sink sink = {.ctx = &m, .wants = DL_WANT_MARKS, .runs = note_moments};
        assert_int_equal(dl_decode_run_sink(s.d, sink, &err), DEVLOG_OK);
        assert_int_equal(dl_decode_memory(s.d, "log", log.text, log.len, &err), DEVLOG_OK);
        assert_int_equal(dl_decode_finish(s.d, &err), DEVLOG_OK);
        assert_int_equal(dl_analyzer_finish(s.a, &err), DEVLOG_OK);
        if (m.n) qsort(m.items, m.n, sizeof *m.items, in_order);
        size_t n;
        const dl_analysis_result *r = dl_analyzer_results(s.a, 0, &n);
        for (size_t i = 0; i < n; i++) {
            uint64_t found[3];
            if (r[i].core_x != DL_NONE) continue;
            count_in_order(&m, r[i].chip, found);
            if (r[i].summary.count != found[0] || r[i].summary.sum != found[1] || r[i].incomplete != found[2])
                fail_msg("seed %lu: %lu durations for %lu, %lu open for %lu", seed,
                         (unsigned long)r[i].summary.count, (unsigned long)found[0],
                         (unsigned long)r[i].incomplete, (unsigned long)found[2]);
            durations += found[0];
            open += found[2];
        }
        free(m.items);
        dl_str_free(&log);
        dl_str_free(&analyses);
        done(&s);
    }
    assert_true(durations > 100 * LOGS && open > 10);
}

/* On a core where two launches begin at the same time the first is that which the log had first, though it came to this core last. */
static void the_first_of_launches_is_the_logs_first(void **state)
{
    (void)state;
    static const char list[] = "{" TWO("both", "core", "launch_first_last", START("FW"), END("FW")) "}";
    static const struct {
        unsigned core, launch, start, end;
        const char *risc;
    } runs[] = {{1, 7, 100, 200, "BRISC"},
                {1, 8, 300, 400, "BRISC"},
                {2, 8, 300, 350, "BRISC"},
                {2, 7, 300, 390, "NCRISC"}};
    dl_str log = {0};
    dl_str_add(
        &log,
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host "
        "ID, trace id, trace id counter, zone name, type, source line, source file, meta data\n");
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++)
        for (unsigned end = 0; end < 2; end++)
            dl_str_fmt(&log, "0,%u,1,%s,1,%u,0,%u,,,%s-FW,ZONE_%s,1,a.cc,\n", runs[i].core, runs[i].risc,
                       end ? runs[i].end : runs[i].start, runs[i].launch, runs[i].risc,
                       end ? "END" : "START");
    setup s;
    devlog_error err;
    analyse(&s, &log, list, false);
    assert_int_equal(dl_analyzer_finish(s.a, &err), DEVLOG_OK);
    size_t n, cores = 0;
    const dl_analysis_result *r = dl_analyzer_results(s.a, s.list.n - 1, &n);
    for (size_t i = 0; i < n; i++) {
        if (r[i].core_x == DL_NONE) continue;
        assert_int_equal(r[i].summary.count, 2);
        assert_int_equal(r[i].summary.first, r[i].core_x == 1 ? 100 : 90);
        cores++;
    }
    assert_int_equal(cores, 2);
    done(&s);
    dl_str_free(&log);
}

/* What a run says of itself is so: `once`, and that runs of one shape have marks of the same kinds. */
typedef struct promises {
    const dl_tables *tables;
    uint64_t kinds[DL_RUN_SHAPES]; /* by shape: a sum over its marks; 0: not met */
    unsigned n_once, n_shapes;
} promises;

static devlog_status check_promises(void *ctx, const dl_run *runs, size_t n, devlog_error *err)
{
    promises *p = ctx;
    (void)err;
    for (size_t i = 0; i < n; i++) {
        const dl_run *run = &runs[i];
        unsigned defaults = 0;
        uint64_t kinds = run->n_marks;
        for (uint32_t k = 0; k < run->n_marks; k++) {
            const dl_kind *kind = &p->tables->kinds[dl_mark_kind(run->marks[k].code)];
            defaults += kind->type <= DL_ROW_ZONE_END && kind->role != DL_ROLE_USER;
            kinds = dl_hash_u64(kinds ^ dl_mark_kind(run->marks[k].code)) | 1;
            assert_true(!run->shape || k == 0 || run->marks[k].time >= run->marks[k - 1].time);
        }
        if (run->once) assert_int_equal(defaults, __builtin_popcount(run->has));
        p->n_once += run->once;
        if (!run->shape) continue;
        assert_true(run->shape < DL_RUN_SHAPES);
        if (p->kinds[run->shape]) assert_int_equal(p->kinds[run->shape], kinds);
        p->n_shapes += !p->kinds[run->shape];
        p->kinds[run->shape] = kinds;
    }
    return DEVLOG_OK;
}

static void look(promises *p, const dl_str *log)
{
    devlog_error err;
    dl_decode *d;
    const dl_decode_options options = {.threads = 1};
    assert_int_equal(dl_decode_new(&d, &options, &err), DEVLOG_OK);
    memset(p, 0, sizeof *p);
    p->tables = dl_decode_tables(d);
    const dl_run_sink sink = {.ctx = p, .wants = DL_WANT_MARKS, .runs = check_promises};
    assert_int_equal(dl_decode_run_sink(d, sink, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_memory(d, "log", log->text, log->len, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    dl_decode_free(d);
}

static void runs_keep_what_they_promise(void **state)
{
    (void)state;
    unsigned n_once = 0, n_shapes = 0;
    promises *p = malloc(sizeof *p);
    assert_non_null(p);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        dl_str log = {0};
        test_runs(&log, 4 + (unsigned)(seed % 9), (unsigned)(seed % 4) * 3, seed);
        look(p, &log);
        n_once += p->n_once;
        n_shapes += p->n_shapes;
        dl_str_free(&log);
    }
    assert_true(n_once > 100 && n_shapes > 60);
    dl_str two_kernels = {0};
    for (unsigned row = 0; row < 60; row++) {
        static const unsigned ids[] = {1, 2, 3, 2, 3, 4};
        dl_str_fmt(&two_kernels, "0, 1, 1, BRISC, %u, %u\n", ids[row % 6], 1000 + 10 * row);
    }
    look(p, &two_kernels);
    assert_true(p->n_shapes == 1 && p->n_once == 0);
    dl_str_free(&two_kernels);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_that_look_alike_change_nothing),
        cmocka_unit_test(ends_find_the_last_start_before_them),
        cmocka_unit_test(the_first_of_launches_is_the_logs_first),
        cmocka_unit_test(runs_keep_what_they_promise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
