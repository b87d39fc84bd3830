/* Captures whose records go straight to marks (decode/capture/raw_quick.c), or are counted as they are
 * (decode/pair/pair_records.c), give what records one by one give, with a consumer of events and marks and without: on made-up launches with every kind of record, ordinary ones and damaged ones, in captures that are whole, cut
 * and hurt. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/capture/capture_marks.h"
#include "decode/capture/raw_internal.h"
#include "program/compile.h"
#include "support/device.h"
#include "support/digest.h"
#include "support/files.h"
#include "support/logs.h"
#include "support/random.h"

enum { WORDS = 4096, SPANS = 4, RISCS = 3, ELFS = 2, MAX_DEPTH = 400 };

static struct {
    char path[COMPILE_PATH];
    dl_elf elf;
} elfs[ELFS];

static char folder[256];
static uint64_t seed, summed_up, texts_told;

static uint32_t chance(uint32_t below)
{
    return below ? (uint32_t)(test_random(&seed) % below) : 0;
}

/* How often, in a thousand records, something that is not ordinary comes. */
typedef struct habits {
    uint32_t other_kinds, wrong, unknown, jumps, damage, stamp32;
    uint32_t depth; /* of zones inside each other */
    bool marks_vary, complete_around;
    bool roles;    /* zones that are named like a kernel, or like a count of what was dropped */
    bool streamed; /* with zeros here and there, up to the end of a flit */
} habits;

typedef struct run {
    const habits *h;
    const dl_elf *elf; /* may be NULL */
    uint32_t *words, n;
    uint64_t time, last;
    uint32_t open[MAX_DEPTH], depth;
} run;

static void put(run *r, uint32_t word)
{
    if (r->n < WORDS) r->words[r->n++] = word;
}

/* The two words that every record begins with. */
static void put_head(run *r, uint32_t code, uint64_t time)
{
    uint32_t high = (uint32_t)(time >> 32);
    put(r, (uint32_t)((high << 12) + (code & 0x800 ? code - 0x1000u : code)));
    put(r, (uint32_t)time);
}

static bool often(uint32_t per_thousand)
{
    return chance(1000) < per_thousand;
}

/* A code of a kind: one that the ELF file has, mostly. */
static uint32_t code_of(const run *r, uint32_t kind, uint32_t from, uint32_t room)
{
    for (uint32_t tries = 0; r->elf && !often(r->h->unknown) && tries < 50; tries++) {
        const dl_elf_site *s = &r->elf->sites[chance(r->elf->n_sites)];
        bool role = s->name[0] == 'B' || s->name[0] == 'D';
        if (s->kind == kind && !s->wide && !s->events && (!role || r->h->roles)) return s->code;
    }
    return from + 2 * chance(room);
}

static void put_other(run *r)
{
    static const uint8_t wide_kinds[] = {1, 2, 3, 4, 5, 6, 7, 9, 0, 12};
    uint32_t n;
    switch (chance(9)) {
    case 0: put_head(r, code_of(r, DEVLOG_KIND_EVENT, DEVLOG_CODE_EVENT, 4), r->time); return;
    case 1:
        put_head(r, code_of(r, DEVLOG_KIND_VALUE32, DEVLOG_CODE_VALUE32, 4), r->time);
        put(r, chance(100));
        return;
    case 2:
        put_head(r, code_of(r, DEVLOG_KIND_VALUE64, DEVLOG_CODE_VALUE64, 4), r->time);
        put(r, chance(100));
        put(r, chance(100));
        return;
    case 3:
        n = chance(9);
        put_head(r, code_of(r, DEVLOG_KIND_PRINT, DEVLOG_CODE_PRINT, 4), r->time);
        for (put(r, n); n; n--)
            put(r, chance(1000));
        return;
    case 4:
        put_head(r, DEVLOG_CODE_WIDE, r->time);
        n = wide_kinds[chance(sizeof wide_kinds)];
        put(r, n << 28 | chance(5));
        for (n = n == 2 || n == 4 || n == 6 ? 1 : n == 5 ? 2 : 0; n; n--)
            put(r, (uint32_t)r->time - chance(50));
        return;
    case 5:
        put_head(r, DEVLOG_CODE_SUM, r->time);
        for (n = 0; n < 6; n++)
            put(r, chance(10));
        return;
    case 6:
        put_head(r, DEVLOG_CODE_STALL, r->time);
        put(r, chance((uint32_t)(r->time - r->last) + 2));
        return;
    case 7: put(r, 0); return;
    default:
        put_head(r, code_of(r, DEVLOG_KIND_COUNTER, DEVLOG_CODE_VALUE32, 4), r->time);
        put(r, chance(100));
        return;
    }
}

static void put_record(run *r)
{
    const habits *h = r->h;
    r->last = r->time;
    r->time += chance(300);
    if (often(h->jumps)) r->time += (uint64_t)chance(3) << 32;
    if (often(h->jumps)) r->time -= chance(1000);
    if (often(h->other_kinds)) {
        put_other(r);
        return;
    }
    if (chance(8) == 0) {
        uint64_t back = r->time - r->last;
        if (h->complete_around && chance(4) == 0) back += chance(1000);
        if (often(h->jumps)) r->time |= 0xFFFFFFF0u;
        put_head(r, code_of(r, DEVLOG_KIND_COMPLETE, DEVLOG_CODE_COMPLETE, 3),
                 r->time + (often(h->jumps) ? 1ull << 32 : 0));
        put(r, (uint32_t)(r->time - chance((uint32_t)back + 1)));
        return;
    }
    bool start = r->depth == 0 || (r->depth < h->depth && chance(2));
    if (often(h->wrong)) { /* an end of nothing, of a zone further out, or no end */
        put_head(r, code_of(r, DEVLOG_KIND_ZONE, DEVLOG_CODE_ZONE, 4) + chance(2), r->time);
        return;
    }
    if (start) {
        uint32_t code = code_of(r, DEVLOG_KIND_ZONE, DEVLOG_CODE_ZONE, 4);
        r->open[r->depth++] = code;
        put_head(r, code, r->time);
    } else {
        put_head(r, r->open[--r->depth] + 1, r->time);
    }
}

/* Boundaries of spans: between records, or anywhere when there is damage. */
static uint32_t cut_spans(const run *r, record_span spans[SPANS], uint32_t n_spans)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < n_spans; i++) {
        uint32_t want = i + 1 == n_spans ? r->n : at + chance(r->n - at + 1), to = at;
        while (to < want && !r->h->damage) {
            uint32_t n = r->words[to] ? record_words(r->words + to, r->n - to) : 1;
            to += n ? n : r->n - to;
        }
        if (r->h->damage || i + 1 == n_spans) to = want;
        spans[i] = (record_span){r->words + at, to - at};
        at = to;
    }
    return n_spans;
}

static void make_risc(dl_capture_risc *risc, const habits *h, uint32_t launch, uint32_t index, uint64_t *time,
                      uint32_t *words, record_span *spans)
{
    static const char *const names[RISCS] = {"BRISC", "NCRISC", "TRISC0"};
    uint32_t elf = chance(8) ? 1 : chance(3) + 5 * (chance(2));
    if (h->stamp32 && chance(2)) elf = 2;
    *risc = (dl_capture_risc){.name = names[index], .index = index, .elf = elf, .spans = spans};
    run r = {.h = h, .words = words, .elf = elf == 1 || elf == 2 ? &elfs[elf - 1].elf : NULL};
    uint64_t marks[4] = {*time, *time + 10 + chance(50)};
    r.time = r.last = marks[1] + chance(20);
    for (uint32_t n = chance(120); n; n--) {
        put_record(&r);
        for (uint32_t zeros = h->streamed && chance(9) == 0 ? 8 - r.n % 8 : 0; zeros % 8; zeros--)
            put(&r, 0);
    }
    while (r.depth && chance(10)) {
        r.time += chance(50);
        put_head(&r, r.open[--r.depth] + 1, r.time);
    }
    marks[2] = r.time + chance(40);
    marks[3] = marks[2] + chance(50);
    for (uint32_t i = 0; i < r.n; i++)
        if (often(h->damage))
            words[i] = chance(2) ? (uint32_t)test_random(&seed) : words[i] ^ 1u << chance(32);
    devlog_control *k = &risc->control;
    k->launch = h->marks_vary && chance(4) == 0 ? chance(4) : launch;
    k->host_id = chance(3) ? 0 : launch * 10;
    k->marks = 15;
    if (h->marks_vary && chance(3) == 0) k->marks = chance(16);
    if (h->marks_vary && chance(6) == 0) marks[chance(4)] += 5000 - chance(10000);
    k->dropped = chance(10) ? 0 : chance(3);
    k->overwritten = chance(10) ? 0 : chance(3);
    if (launch % 3)
        for (uint32_t i = 0; i < 10; i++)
            k->cost[i] = launch % 3 == 1 ? 100 + 16 * i : (uint32_t)test_random(&seed) >> 11;
    for (int m = 0; m < 4; m++) {
        k->stamps[2 * m] = (uint32_t)marks[m];
        k->stamps[2 * m + 1] = (uint32_t)(marks[m] >> 32);
    }
    k->streamed = h->streamed;
    risc->n_spans = r.n ? cut_spans(&r, spans, h->streamed ? 1 : 1 + chance(SPANS)) : 0;
    if (marks[3] > *time) *time = marks[3];
}

/* A capture of a few launches, as bytes; freed by the caller. */
static char *make(const habits *h, uint64_t from, size_t *size)
{
    devlog_error err = {0};
    dl_capture *c;
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, DL_CAPTURE_NAME);
    check_ok(dl_capture_open(&c, folder, DL_CAPTURE_NAME, false, &err), &err);
    const dl_capture_chip chip = {.freq_khz = 1000000, .max_cores = 4, .arch = "wormhole_b0"};
    check_ok(dl_capture_put_chip(c, &chip, &err), &err);
    for (uint32_t i = 0; i < ELFS; i++) {
        const dl_capture_elf elf = {.number = i + 1,
                                    .path = elfs[i].path,
                                    .source = "kinds.c",
                                    .build_id = elfs[i].elf.build_id,
                                    .build_id_size = elfs[i].elf.build_id_size};
        check_ok(dl_capture_put_elf(c, &elf, &err), &err);
    }
    const dl_clock_offset ahead[2] = {{.x = 0}, {.x = 1, .lo = 900, .hi = 902}};
    const dl_clock_offsets offsets = {.items = ahead, .n = 2};
    if (chance(2)) check_ok(dl_capture_put_offsets(c, &offsets, &err), &err);
    uint64_t time = from;
    for (uint32_t launch = 1; launch < 6; launch++) {
        for (uint16_t core = 0; core < 2; core++) {
            static uint32_t words[RISCS][WORDS];
            record_span spans[RISCS][SPANS];
            dl_capture_risc riscs[RISCS];
            uint64_t end = time;
            for (uint32_t i = 0; i < RISCS; i++) {
                uint64_t at = time;
                make_risc(&riscs[i], h, launch, i, &at, words[i], spans[i]);
                if (at > end) end = at;
            }
            uint32_t events[4] = {8, (uint32_t)time + 20, 16, (uint32_t)time + 40};
            const dl_capture_core put = {.x = core,
                                         .n_riscs = RISCS,
                                         .riscs = riscs,
                                         .events = events,
                                         .n_events = h->marks_vary && chance(6) == 0 ? 4 : 0,
                                         .events_from = time};
            check_ok(dl_capture_put_core(c, &put, &err), &err);
            if (core == 1) time = end + 100;
        }
    }
    check_ok(dl_capture_put_end(c, 0, &err), &err);
    check_ok(dl_capture_commit(c, &err), &err);
    dl_capture_close(c);
    return read_bytes(path, size);
}

static void keep(const char *bytes, size_t n)
{
    FILE *out = fopen("/tmp/test_capture_direct.devlog", "w");
    if (out) fwrite(bytes, 1, n, out);
    if (out) fclose(out);
}

static void check_digest(test_digest *digest, const char *bytes, size_t n, const dl_decode_options *options,
                         test_listens listens)
{
    assert_int_equal(test_capture_digest(digest, bytes, n, options, listens), DEVLOG_OK);
}

static void compare(const char *bytes, size_t n, unsigned number)
{
    const dl_decode_options options[] = {{.threads = 1}, {.no_samples = true}, {.keep_meta = true}};
    uint64_t texts = 0;
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        test_digest quick, slow, alone, some, slow_some, sums, slow_sums;
        dl_decode_options one_by_one = options[i];
        one_by_one.path = DL_PARSE_SLOW;
        check_digest(&quick, bytes, n, &options[i], TEST_LISTENS_TO_ALL);
        check_digest(&alone, bytes, n, &options[i], TEST_LISTENS_TO_NOTHING);
        check_digest(&slow, bytes, n, &one_by_one, TEST_LISTENS_TO_ALL);
        check_digest(&some, bytes, n, &options[i], TEST_LISTENS_TO_SOME);
        check_digest(&slow_some, bytes, n, &one_by_one, TEST_LISTENS_TO_SOME);
        check_digest(&sums, bytes, n, &options[i], TEST_LISTENS_TO_SUMS);
        check_digest(&slow_sums, bytes, n, &one_by_one, TEST_LISTENS_TO_SUMS);
        summed_up += sums.n_sums;
        sums.n_sums = 0;
        bool same = memcmp(&quick, &slow, sizeof quick) == 0;
        if (memcmp(&some, &slow_some, sizeof some) != 0 || memcmp(&sums, &slow_sums, sizeof sums) != 0) {
            keep(bytes, n);
            fail_msg(
                "case %u, options %zu: some marks %d, losses %d, keys %d, sums %d, keys with sums %d differ; "
                "see /tmp/test_capture_direct.devlog",
                number, i, some.markers != slow_some.markers, some.losses != slow_some.losses,
                some.keys != slow_some.keys, sums.events != slow_sums.events, sums.keys != slow_sums.keys);
        }
        /* Texts are in tables, whether meta data is kept for somebody else or not. */
        if (i && quick.n_texts != texts) fail_msg("case %u, options %zu: other texts", number, i);
        texts = quick.n_texts;
        texts_told += texts;
        test_digest_only_statistics(&quick);
        if (same && memcmp(&quick, &alone, sizeof quick) == 0) continue;
        const test_digest *other = same ? &alone : &slow;
        keep(bytes, n);
        fail_msg("case %u, options %zu, %s: rows %d tables %d launches %d losses %d keys %d differ; see "
                 "/tmp/test_capture_direct.devlog",
                 number, i, same ? "alone" : "slow", quick.n_rows != other->n_rows,
                 quick.tables != other->tables, quick.launches != other->launches,
                 quick.losses != other->losses, quick.keys != other->keys);
    }
}

static const habits ordinary = {.depth = 4};

static void whole_captures(void **state)
{
    (void)state;
    const habits all[] = {
        ordinary,
        {.depth = 300, .unknown = 20},
        {.depth = 6, .other_kinds = 100, .roles = true},
        {.depth = 6, .other_kinds = 500, .unknown = 500},
        {.depth = 5, .wrong = 20, .roles = true},
        {.depth = 5, .wrong = 300, .other_kinds = 50},
        {.depth = 5, .complete_around = true},
        {.depth = 5, .jumps = 5},
        {.depth = 5, .jumps = 50, .other_kinds = 100},
        {.depth = 5, .stamp32 = 1, .roles = true, .other_kinds = 20},
        {.depth = 5, .marks_vary = true},
        {.depth = 5, .marks_vary = true, .wrong = 20, .other_kinds = 50, .complete_around = true},
        {.depth = 5, .streamed = true},
    };
    const unsigned n_habits = sizeof all / sizeof all[0];
    const uint64_t from[] = {1000000, (1ull << 32) - 3000, (1ull << 44) - 4000, (1ull << 52) - 5000, 0};
    seed = 1;
    for (unsigned i = 0; i < test_cases(15) * n_habits; i++) {
        size_t size;
        char *bytes = make(&all[i % n_habits], from[i / n_habits % 5], &size);
        compare(bytes, size, i);
        free(bytes);
    }
    if (texts_told < 100) fail_msg("%lu texts were told", texts_told);
    if (summed_up < 30000) fail_msg("%lu zones were summed up", summed_up);
}

static void damaged_records(void **state)
{
    (void)state;
    seed = 2;
    for (unsigned i = 0; i < test_cases(160); i++) {
        const habits h = {.depth = 1 + chance(8),
                          .damage = 1 + chance(20),
                          .other_kinds = chance(100),
                          .unknown = chance(50),
                          .wrong = chance(30),
                          .jumps = chance(10),
                          .marks_vary = chance(3) == 0,
                          .roles = chance(2),
                          .complete_around = chance(2)};
        size_t size;
        char *bytes = make(&h, 1000000, &size);
        compare(bytes, size, i);
        free(bytes);
    }
}

static void cut_and_hurt_captures(void **state)
{
    (void)state;
    seed = 3;
    for (unsigned i = 0; i < test_cases(8); i++) {
        const habits h = {.depth = 5, .other_kinds = chance(40)};
        size_t size;
        char *bytes = make(&h, 1000000, &size);
        for (unsigned k = 0; k < 20; k++) {
            compare(bytes, chance((uint32_t)size), i);
            bytes[chance((uint32_t)size)] ^= (char)(1 << chance(8));
            if (k % 4 == 0) compare(bytes, size, i);
        }
        free(bytes);
    }
}

/* Otherwise the comparisons above compare one way with itself. */
static void ordinary_records_are_quick(void **state)
{
    (void)state;
    devlog_error err = {0};
    static uint32_t words[WORDS];
    record_span spans[SPANS];
    dl_capture_risc risc;
    dl_tables tables = {0};
    dl_marks marks = {0};
    record_losses found = {0};
    static dl_record_codes codes;
    check_ok(dl_tables_init(&tables, &err), &err);
    seed = 4;
    unsigned quick = 0, recorded = 0, launches = 0;
    static raw_look look;
    for (uint32_t launch = 1; launch <= 50; launch++) {
        uint64_t time = 1000000 * launch;
        make_risc(&risc, &ordinary, launch, 0, &time, words, spans);
        if (risc.elf != 1) continue;
        const uint32_t *c = risc.control.stamps;
        const raw_risc in = {.risc = "BRISC", .control = &risc.control, .elf = &elfs[0].elf, .codes = &codes};
        const record_input records = {.spans = risc.spans,
                                      .n_spans = risc.n_spans,
                                      .elf = in.elf,
                                      .from = c[2] | (uint64_t)c[3] << 32,
                                      .until = c[4] | (uint64_t)c[5] << 32};
        raw_maker m = {.tables = &tables, .in = &in, .out = &marks};
        devlog_status status = DEVLOG_OK;
        dl_marks_clear(&marks);
        if (raw_quick(&m, &records, &found, &status, &err))
            quick++;
        else
            check_ok(records_decode(&records, raw_add_event, &m, &found, &err), &err);
        check_ok(status, &err);
        launches++;
        raw_risc looked = in;
        looked.spans = risc.spans;
        looked.n_spans = risc.n_spans;
        looked.look = &look;
        raw_look_at(&records, &look);
        dl_marks_clear(&marks);
        check_ok(raw_marks(&tables, &looked, &marks, &found, &err), &err);
        if (!marks.recorded.n) continue;
        /* The same records as marks. */
        const uint32_t n = marks.n + marks.recorded.n;
        dl_marks_clear(&marks);
        looked.look = NULL;
        check_ok(raw_marks(&tables, &looked, &marks, &found, &err), &err);
        assert_int_equal(n, marks.n);
        recorded++;
    }
    /* The first ones meet codes for the first time; and there are user's zones that are named like those of the
     * kernel. */
    assert_true(launches > 25);
    assert_true(quick * 10 > launches * 7);
    assert_true(recorded * 10 > launches * 7);
    dl_marks_free(&marks);
    dl_tables_free(&tables);
}

static int setup(void **state)
{
    (void)state;
    static board b;
    devlog_error err = {0};
    snprintf(folder, sizeof folder, "%s", test_folder());
    check_ok(board_load("wormhole_b0", &b, &err), &err);
    for (int i = 0; i < ELFS; i++) {
        compile_job job = {.board = &b,
                           .profile = true,
                           .source = source_path("tests/sim/kernels/kinds.c"),
                           .flags = i ? "-DDEVLOG_STAMP32" : NULL};
        check_ok(compile(&job, elfs[i].path, &err), &err);
        check_ok(dl_elf_read(elfs[i].path, &elfs[i].elf, &err), &err);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < ELFS; i++)
        dl_elf_free(&elfs[i].elf);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_captures),
        cmocka_unit_test(damaged_records),
        cmocka_unit_test(cut_and_hurt_captures),
        cmocka_unit_test(ordinary_records_are_quick),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
