/* Rows of a chip whose counter began anew (several programs, a device that was opened again): random reports, in which the starts follow
 * one another or take turns, and ops of threads change places, give the wall time, busy time and number of starts that were put in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/answer_run.h"
#include "support/device.h"
#include "support/files.h"

enum { MOST_BOOTS = 6, MOST_ROWS = 30, MOST_ROUNDS = 2000 };

static uint32_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

typedef struct row {
    uint64_t start, end;
    int64_t gap; /* cycles */
    bool first;
} row;

typedef struct start {
    row rows[MOST_ROWS];
    uint32_t n, at; /* at: written */
} start;

/* One start of a counter; `like`: cycle by cycle as another one, as a simulator does the same. */
static void fill(start *s, const start *like)
{
    *s = (start){.n = 2 + below(MOST_ROWS - 2)};
    if (like) *s = *like;
    s->at = 0;
    uint64_t t = 1000 + below(3) * 20000, last = 0;
    for (uint32_t i = 0; i < s->n && !like; i++) {
        s->rows[i] = (row){t, t + 10 + below(3000), i ? (int64_t)(t - last) : 0, i == 0};
        if (s->rows[i].end > last) last = s->rows[i].end;
        t = s->rows[i].end + 1 + below(500) -
            (below(6)                  ? 0
             : s->rows[i].end - t > 20 ? 10
                                       : 0); /* some beside the one before */
    }
    /* Ids are of when ops began on the host: two threads' launches may change places. */
    for (uint32_t i = 0; i + 1 < s->n && !like; i += 2)
        if (!below(5)) {
            const row kept = s->rows[i];
            s->rows[i] = s->rows[i + 1];
            s->rows[i + 1] = kept;
        }
}

static void put(FILE *f, const row *r, uint32_t id, uint32_t chip, double mhz)
{
    const double ns = 1000 / mhz;
    fprintf(f, "Op,tt_dnn_device,%u,%u,%llu,%llu,%.0f,%.0f,%.0f\n", id, chip, (unsigned long long)r->start,
            (unsigned long long)r->end, (double)(r->end - r->start) * ns, (double)(r->end - r->start) * ns,
            (double)r->gap * ns);
}

static double union_of(const start *s)
{
    row sorted[MOST_ROWS];
    double sum = 0;
    uint64_t end = 0;
    memcpy(sorted, s->rows, sizeof sorted);
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t k = i + 1; k < s->n; k++)
            if (sorted[k].start < sorted[i].start) {
                const row kept = sorted[i];
                sorted[i] = sorted[k];
                sorted[k] = kept;
            }
    for (uint32_t i = 0; i < s->n; i++) {
        const uint64_t from = sorted[i].start > end ? sorted[i].start : end;
        if (sorted[i].end > from) sum += (double)(sorted[i].end - from);
        if (sorted[i].end > end) end = sorted[i].end;
    }
    return sum;
}

/* The only chip of the report of this path. */
static answer_chip chip_of(const char *path)
{
    op_table t = {0};
    answer_run r;
    devlog_error err;
    const op_selection all = {0};
    check_ok(op_table_read_wide(&t, path, &err), &err);
    check_ok(answer_run_make(&r, &t, &(answer_run_options){.selection = &all}, &err), &err);
    assert_int_equal(r.n_chips, 1);
    const answer_chip chip = r.chips[0];
    answer_run_free(&r);
    op_table_free(&t);
    return chip;
}

#define HEAD                                                                                                 \
    "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE FW START CYCLE,DEVICE FW END CYCLE,"                 \
    "DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns]"

/* Reports whose latencies say nothing: none, all 0, some missing. */
static void latencies_that_say_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *rows;
        size_t boots;
        double span, busy;
    } reports[] = {
        {HEAD "\nA,,1,3,100,200,100,90\nA,,2,3,300,500,200,190\nA,,3,3,600,700,100,90\n", 1, 600, 400},
        {HEAD
         ",OP TO OP LATENCY [ns]\nA,,1,3,100,200,100,90,0\nA,,2,3,300,500,200,190,0\nA,,3,3,600,700,100,90,0\n",
         1, 600, 400},
        /* Nothing but the first of each start, as of tests with an op each. */
        {HEAD
         ",OP TO OP LATENCY [ns]\nA,,1,3,100,200,100,90,0\nA,,2,3,100,300,200,190,0\nA,,3,3,110,200,90,80,0\n",
         3, 390, 390},
        /* A report of some launches only: what came before its first row is not in it. */
        {HEAD ",OP TO OP LATENCY [ns]\nA,,7,3,300,400,100,90,50\nA,,9,3,700,800,100,90,20\n", 1, 500, 200},
        {HEAD ",OP TO OP LATENCY [ns]\nA,,7,3,300,400,100,90,\nA,,9,3,700,800,100,90,300\n", 1, 500, 200},
    };
    for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/report.csv", test_folder());
        write_text(path, reports[i].rows);
        const answer_chip c = chip_of(path);
        if (c.boots != reports[i].boots || fabs(c.span - reports[i].span) > 1e-6 ||
            fabs(c.busy - reports[i].busy) > 1e-6)
            fail_msg("report %zu: %zu starts, %.1f and %.1f ns", i, c.boots, c.span, c.busy);
    }
}

static void starts_are_told_apart(void **state)
{
    (void)state;
    uint32_t several = 0, turns_taken = 0, unclear = 0;
    char path[512];
    snprintf(path, sizeof path, "%s/report.csv", test_folder());
    for (uint32_t round = 0; round < MOST_ROUNDS; round++) {
        seed = round;
        const double mhz = below(2) ? 1000 : 1350;
        const bool turns = below(2), same = below(3) == 0;
        const uint32_t n = 1 + below(MOST_BOOTS);
        start boots[MOST_BOOTS];
        double wall = 0, busy = 0;

        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(HEAD ",OP TO OP LATENCY [ns]\n", f);
        for (uint32_t i = 0; i < n; i++) {
            uint64_t first = UINT64_MAX, last = 0;
            fill(&boots[i], i && same ? &boots[0] : NULL);
            for (uint32_t k = 0; k < boots[i].n; k++) {
                if (boots[i].rows[k].start < first) first = boots[i].rows[k].start;
                if (boots[i].rows[k].end > last) last = boots[i].rows[k].end;
            }
            wall += (double)(last - first);
            busy += union_of(&boots[i]);
        }
        uint32_t id = 1, left = n;
        for (uint32_t at = 0; left; id++) {
            start *s = &boots[turns ? below(n) : at];
            if (s->at < s->n) put(f, &s->rows[s->at++], id, 3, mhz);
            left = 0;
            for (uint32_t i = 0; i < n; i++)
                left += boots[i].at < boots[i].n;
            if (!turns && s->at == s->n) at++;
        }
        fclose(f);
        const answer_chip found = chip_of(path), *c = &found;
        const double cycle = 1000 / c->mhz;
        const bool right = c->boots == n && fabs(c->span - wall * cycle) <= 1e-6 * wall &&
                           fabs(c->busy - busy * cycle) <= 1e-6 * busy;
        /* By chance a start begins where another one has ended, to the cycle; and where a nanosecond is more than a cycle, ends that
         * are a cycle apart may be one to a latency. */
        unclear += !right;
        if (unclear > MOST_ROUNDS / 200)
            fail_msg("round %u: %zu starts, %.1f and %.1f ns, instead of %u, %.1f and %.1f", round, c->boots,
                     c->span, c->busy, n, wall * cycle, busy * cycle);
        several += n > 1;
        turns_taken += n > 1 && turns;
    }
    assert_true(several > 1000 && turns_taken > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(starts_are_told_apart),
                                       cmocka_unit_test(latencies_that_say_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
