/* Conformance: one log in every format, read back by readers that are not ours (tests/readers): per zone
 * name, count, total cycles, total nanoseconds and where they start are those of the decoder, in all of them. */
#include "support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "report/export.h"

typedef struct total {
    const char *name;
    uint64_t count, cycles, ns, starts, start_cycles; /* starts: since the first of all */
    uint64_t key_count, key_cycles;
} total;

typedef struct fixture {
    char folder[64];
    dl_decode *decode;
    dl_view *view;
    total totals[64];
    size_t n;
    uint64_t first;
    bool ns, exact; /* nanoseconds are known; and are cycles */
} fixture;

static total *find(fixture *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->totals[i].name, name) == 0) return &f->totals[i];
    assert_true(f->n < 64);
    f->totals[f->n] = (total){.name = name};
    return &f->totals[f->n++];
}

static devlog_status add_items(void *ctx, const dl_view_item *items, size_t n, devlog_error *err)
{
    (void)err;
    fixture *f = ctx;
    for (size_t i = 0; i < n; i++) {
        if (items[i].kind != DL_VIEW_ZONE) continue;
        const char *name = dl_view_site_name(f->view, items[i].site);
        total *t = find(f, name[0] ? name : "(no name)");
        t->count++;
        t->cycles += items[i].end_cycle - items[i].cycle;
        t->ns += items[i].end - items[i].start;
        t->starts += items[i].start;
        t->start_cycles += items[i].cycle;
        if (items[i].start < f->first) f->first = items[i].start;
    }
    return DEVLOG_OK;
}

/* What the decoder's own statistics say, and what the view hands to the writers: they must agree. */
static void expect(fixture *f)
{
    devlog_error err;
    f->first = UINT64_MAX;
    assert_int_equal(
        dl_view_run(f->view, DL_VIEW_BY_TIME, (dl_view_sink){.ctx = f, .items = add_items}, &err), DEVLOG_OK);
    assert_int_equal(dl_view_left_out(f->view), 0);
    for (size_t i = 0; i < dl_decode_n_keys(f->decode); i++) {
        const dl_key *k = dl_decode_key(f->decode, i);
        if (!k->count) continue;
        const char *name = dl_view_site_name(f->view, k->site);
        total *t = find(f, name[0] ? name : "(no name)");
        t->key_count += k->count;
        t->key_cycles += (uint64_t)k->sum;
    }
    for (size_t i = 0; i < f->n; i++) {
        f->totals[i].starts -= f->totals[i].count * f->first;
        assert_int_equal(f->totals[i].count, f->totals[i].key_count);
        assert_int_equal(f->totals[i].cycles, f->totals[i].key_cycles);
        if (f->exact) assert_int_equal(f->totals[i].ns, f->totals[i].cycles);
    }
}

typedef struct making {
    dl_tables *tables;
    dl_row rows[8192];
    size_t n;
    uint32_t stream;
    uint64_t launch;
} making;

static uint32_t site(making *m, const char *name, uint32_t line)
{
    return dl_tables_site(m->tables, name, strlen(name), "dir/kernel \"x\".c", 16, line);
}

static void mark(making *m, uint64_t time, uint32_t where, dl_row_type type, uint64_t data)
{
    assert_true(m->n < 8192);
    m->rows[m->n++] = (dl_row){.time = time,
                               .data = data,
                               .run_host_id = m->launch,
                               .stream = m->stream,
                               .site = where,
                               .timer_id = 77,
                               .trace_id = DL_NO_ID,
                               .trace_counter = DL_NO_ID,
                               .line = (uint32_t)m->n + 1,
                               .type = (uint8_t)type,
                               .has_launch = 1};
}

static void zone(making *m, uint64_t start, uint64_t end, const char *name, uint32_t line)
{
    mark(m, start, site(m, name, line), DL_ROW_ZONE_START, 0);
    mark(m, end, site(m, name, line), DL_ROW_ZONE_END, 0);
}

/* A name of 10 kB, and names with everything in them that some format holds special. */
static char long_name[10001], long_risc[302];
static const char *const names[] = {
    "plain",
    "<script>alert('x')</script> & <b>",
    "quotes \" ' ` and \\ backslash \\n",
    "emoji \xF0\x9F\xA6\x8A and \xC3\xBC",
    "line one\nline two\r\n\ttab",
    "bad utf-8 \xFF\xC3( \xED\xA0\x80",
    "comma, semicolon; {brace} [bracket] (paren) #hash %d %s $(sh)",
    " spaces around ",
    "\x01\x1b[31m\x7f",
    long_name,
    "",
};
enum { NAMES = sizeof names / sizeof names[0], LAUNCHES = 3, CORES = 2 };

/* A launch of one RISC: nested zones, one of no length, two that overlap, markers of every kind, a drop. */
static void fill_risc(making *m, uint64_t at, const char *fw, const char *kernel, uint32_t salt)
{
    const uint32_t a = site(m, "overlap a", 1), b = site(m, "overlap b", 2);
    const uint32_t f = site(m, fw, 3), k = site(m, kernel, 4);
    mark(m, at, f, DL_ROW_ZONE_START, 0);
    mark(m, at + 7, k, DL_ROW_ZONE_START, 0);
    uint64_t t = at + 11;
    for (uint32_t i = 0; i < NAMES; i++) {
        mark(m, t, site(m, "around", 5), DL_ROW_ZONE_START, 0);
        zone(m, t, t + 13 + salt + i, names[i], 10 + i);
        zone(m, t + 20 + salt + i, t + 20 + salt + i, "no length", 6);
        mark(m, t + 30 + salt + i, site(m, "around", 5), DL_ROW_ZONE_END, UINT64_MAX);
        t += 31 + salt + i;
    }
    mark(m, t, a, DL_ROW_ZONE_START, 0);
    mark(m, t + 5, b, DL_ROW_ZONE_START, 0);
    mark(m, t + 9, a, DL_ROW_ZONE_END, 0);
    mark(m, t + 17, b, DL_ROW_ZONE_END, 0);
    mark(m, t + 18, site(m, names[2], 50), DL_ROW_TS_DATA, UINT64_MAX);
    mark(m, t + 18, site(m, "", 0), DL_ROW_TS_DATA, 5);
    mark(m, t + 18, site(m, "zero", 53), DL_ROW_TS_DATA, 0);
    mark(m, t + 19, site(m, names[4], 51), DL_ROW_TS_EVENT, 0);
    mark(m, t + 19, site(m, "sum", 52), DL_ROW_ZONE_TOTAL, 12345);
    mark(m, t + 20, k, DL_ROW_ZONE_END, 0);
    mark(m, t + 21, dl_tables_site(m->tables, DL_DROPPED_ZONE, strlen(DL_DROPPED_ZONE), "", 0, 0),
         DL_ROW_ZONE_TOTAL, salt);
    mark(m, t + 22, f, DL_ROW_ZONE_END, 0);
}

static void fill_chip(fixture *f, making *m, uint32_t chip, uint64_t freq_khz)
{
    static const struct {
        const char *risc, *fw, *kernel;
    } riscs[] = {{"BRISC", "BRISC-FW", "BRISC-KERNEL"}, {long_risc, "TRISC-FW", "TRISC-KERNEL"}};
    strcpy(long_risc, "T"); /* so that a cut at an even number of bytes is within a character */
    for (int i = 0; i < 150; i++)
        strcat(long_risc, "\xC3\xA9");
    devlog_error err;
    dl_chip_line line = {.freq_khz = freq_khz};
    if (freq_khz) snprintf(line.arch, sizeof line.arch, "wormhole_b0");
    assert_int_equal(dl_decode_chip_line(f->decode, &line, &err), DEVLOG_OK);
    for (uint16_t core = 0; core < CORES; core++) {
        for (uint32_t r = 0; r < 2; r++) {
            m->stream = dl_tables_stream(m->tables, chip, core, (uint16_t)(2 * core), riscs[r].risc,
                                         strlen(riscs[r].risc));
            m->n = 0;
            for (uint32_t l = 0; l < LAUNCHES; l++) {
                m->launch = 1024u * (l + 1);
                fill_risc(m, 8000000000000u + 5000u * l + 13u * core + r, riscs[r].fw, riscs[r].kernel,
                          core + r);
            }
            assert_int_equal(dl_decode_rows(f->decode, m->rows, m->n, &err), DEVLOG_OK);
        }
    }
}

static void make(fixture *f, const uint64_t *freq_khz, uint32_t n_chips)
{
    devlog_error err;
    static making m;
    static const dl_decode_options decoding = {.keep_meta = true, .no_samples = true};
    memset(long_name, 'x', sizeof long_name - 1);
    strcpy(f->folder, "/tmp/devlog-export-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    assert_int_equal(dl_decode_new(&f->decode, &decoding, &err), DEVLOG_OK);
    assert_int_equal(dl_view_new(&f->view, f->decode, NULL, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_run_sink(f->decode, dl_view_runs(f->view), &err), DEVLOG_OK);
    m.tables = dl_decode_tables(f->decode);
    f->ns = f->exact = true;
    for (uint32_t i = 0; i < n_chips; i++) {
        fill_chip(f, &m, i, freq_khz[i]);
        if (!freq_khz[i]) f->ns = false;
        if (freq_khz[i] != 1000000) f->exact = false;
    }
    assert_int_equal(dl_decode_finish(f->decode, &err), DEVLOG_OK);
    assert_int_equal(dl_view_ready(f->view, &err), DEVLOG_OK);
    expect(f);
}

static void unmake(fixture *f)
{
    char command[128];
    dl_view_free(f->view);
    dl_decode_free(f->decode);
    snprintf(command, sizeof command, "rm -rf %s", f->folder);
    assert_int_equal(system(command), 0);
}

/* The name as a format writes it: collapsed stacks have no place for semicolons (U+FF1B stands for them) and
 * control characters. */
static void hex_of(const char *format, const char *name, dl_str *out)
{
    bool collapsed = strcmp(format, "collapsed") == 0;
    dl_str_clear(out);
    for (; *name; name++) {
        unsigned char c = (unsigned char)*name;
        if (collapsed && c < ' ') c = ' ';
        if (collapsed && c == ';')
            dl_str_add(out, "efbc9b");
        else
            dl_str_fmt(out, "%02x", c);
    }
}

/* Compares one number of a line with what is expected; "-" is allowed where the format cannot hold it. */
static bool agrees(const char *text, uint64_t expected, bool may_be_missing)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)expected);
    return strcmp(text, digits) == 0 || (may_be_missing && strcmp(text, "-") == 0);
}

static void compare(const fixture *f, const char *format, char *text)
{
    static const char *const with_start_cycles[] = {"csv", "ctf", "json", "sqlite", "xplane"};
    bool has_cycles = false;
    for (size_t i = 0; i < sizeof with_start_cycles / sizeof *with_start_cycles; i++)
        has_cycles |= strcmp(format, with_start_cycles[i]) == 0;
    bool collapsed = strcmp(format, "collapsed") == 0, flame = collapsed || strcmp(format, "speedscope") == 0;
    dl_str hex = {0};
    size_t n = 0;
    char *state, *line = strtok_r(text, "\n", &state);
    if (!line || strncmp(line, "=dropped\t", 9) != 0) fail_msg("%s: the reader says: %s", format, line);
    if (!agrees(strtok(line + 9, "\t"), dl_decode_losses(f->decode)->found[DL_FOUND_DROPPED], flame))
        fail_msg("%s: %s markers dropped", format, line + 9);
    line = strtok_r(NULL, "\n", &state);
    for (; line; line = strtok_r(NULL, "\n", &state), n++) {
        char *cell, *name = strtok_r(line, "\t", &cell), *count = strtok_r(NULL, "\t", &cell);
        char *cycles = strtok_r(NULL, "\t", &cell), *ns = strtok_r(NULL, "\t", &cell);
        char *starts = strtok_r(NULL, "\t", &cell), *start_cycles = strtok_r(NULL, "\t", &cell);
        if (!start_cycles) fail_msg("%s: the reader says: %s", format, line);
        const total *t = NULL;
        for (size_t i = 0; i < f->n && !t; i++) {
            hex_of(format, f->totals[i].name, &hex);
            if (strcmp(hex.text ? hex.text : "", name) == 0) t = &f->totals[i];
        }
        if (!t) fail_msg("%s: a zone that nobody wrote: %.80s", format, name);
        bool ok = agrees(count, t->count, collapsed) && agrees(cycles, t->cycles, flame) &&
                  agrees(ns, t->ns, !f->ns);
        if (!agrees(starts, t->starts, !f->ns || collapsed) ||
            !agrees(start_cycles, t->start_cycles, !has_cycles))
            fail_msg(
                "%s: zone %.40s: starts that were read add up to %s ns and %s cycles; decoded %llu, %llu",
                format, t->name, starts, start_cycles, (unsigned long long)t->starts,
                (unsigned long long)t->start_cycles);
        if (!ok)
            fail_msg("%s: zone %.40s: read %s zones, %s cycles, %s ns; decoded %llu, %llu, %llu", format,
                     t->name, count, cycles, ns, (unsigned long long)t->count, (unsigned long long)t->cycles,
                     (unsigned long long)t->ns);
    }
    dl_str_free(&hex);
    if (n != f->n) fail_msg("%s: %zu zone names were read, %zu written", format, n, f->n);
}

static bool is_there(const char *program)
{
    devlog_error err;
    dl_output out = {0};
    const char *argv[] = {program, "--version", NULL};
    bool found = dl_process_run(argv, &out, &err) == DEVLOG_OK && out.exit == 0;
    free(out.text);
    return found;
}

static void check_format(const fixture *f, const char *format, const char *suffix)
{
    devlog_error err;
    dl_output out = {0};
    char path[128], again[128];
    const char *home = getenv("DEVLOG_HOME");
    dl_str script = {0}, protos = {0};
    dl_str_fmt(&script, "%s/tests/readers/read_export.py", home ? home : ".");
    dl_str_fmt(&protos, "%s/host/report/proto", home ? home : ".");
    snprintf(path, sizeof path, "%s/a%s", f->folder, suffix);
    snprintf(again, sizeof again, "%s/b%s", f->folder, suffix);
    const dl_export_format *e = dl_export_find(format);
    assert_non_null(e);
    assert_int_equal(e->write(f->view, path, &err), DEVLOG_OK);
    const char *argv[] = {"python3", script.text, format, path, protos.text, NULL};
    assert_int_equal(dl_process_run(argv, &out, &err), DEVLOG_OK);
    if (out.exit != 0) fail_msg("%s: %s", format, out.text);
    compare(f, format, out.text);
    free(out.text);
    /* The same bytes a second time. */
    assert_int_equal(e->write(f->view, again, &err), DEVLOG_OK);
    const char *diff[] = {"diff", "-r", path, again, NULL};
    assert_int_equal(dl_process_run(diff, &out, &err), DEVLOG_OK);
    if (out.exit != 0) fail_msg("%s: not the same bytes twice: %s", format, out.text);
    free(out.text);
    dl_str_free(&script);
    dl_str_free(&protos);
}

static void check_all(const uint64_t *freq_khz, uint32_t n_chips)
{
    static const struct {
        const char *format, *suffix, *program;
    } readers[] = {
        {"chrome", ".json", "python3"},
        {"chrome", ".json.gz", "python3"},
        {"collapsed", ".folded", "python3"},
        {"csv", ".csv", "python3"},
        {"ctf", ".ctf", "babeltrace2"},
        {"json", ".zones.json", "python3"},
        {"fxt", ".fxt", "python3"},
        {"perfetto", ".pftrace", "protoc"},
        {"speedscope", ".speedscope.json", "python3"},
        {"sqlite", ".sqlite", "python3"},
        {"xplane", ".xplane", "protoc"},
    };
    fixture f = {0};
    make(&f, freq_khz, n_chips);
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        if (!is_there("python3") || !is_there(readers[i].program)) {
            print_message("skipped: %s: no %s here\n", readers[i].format, readers[i].program);
            continue;
        }
        check_format(&f, readers[i].format, readers[i].suffix);
    }
    unmake(&f);
}

static void every_format_holds_the_same_zones(void **state)
{
    (void)state;
    static const uint64_t freq_khz[] = {1000000};
    check_all(freq_khz, 1);
}

/* Frequencies that do not divide: all formats agree to the nanosecond, and with the cycles exactly. */
static void with_two_chips_and_odd_clocks(void **state)
{
    (void)state;
    static const uint64_t freq_khz[] = {1202000, 500123};
    check_all(freq_khz, 2);
}

static void without_a_clock(void **state)
{
    (void)state;
    static const uint64_t freq_khz[] = {0};
    check_all(freq_khz, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_holds_the_same_zones),
        cmocka_unit_test(with_two_chips_and_odd_clocks),
        cmocka_unit_test(without_a_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
