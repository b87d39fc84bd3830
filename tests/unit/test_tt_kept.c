/* Lines of tt-metal's C++ report that are read again when rows are written: in whatever order, from whatever file, and when
 * the file is no longer what it was. What reports say: tests/ttmetal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/cmocka_all.h"
#include "tt_metal/kept.h"

enum { LINES = 6000, LONG = 40 * 1024 };

typedef struct rig {
    char path[64];
    tt_kept kept;
    uint64_t at[LINES];
    size_t len[LINES];
} rig;

/* Every 1,000th line is longer than what is read ahead. */
static size_t line_of(char *to, unsigned i)
{
    size_t n = (size_t)sprintf(to, "%u,line,%u", i, i * 7919);
    if (i % 1000 == 999) {
        memset(to + n, 'a' + (int)(i / 1000), LONG);
        n += LONG;
    }
    return n;
}

static void begin(rig *r, const char *pack)
{
    char line[LONG + 100], command[200];
    snprintf(r->path, sizeof r->path, "/tmp/devlog-kept.XXXXXX");
    const int fd = mkstemp(r->path);
    FILE *f = fdopen(fd, "w");
    assert_non_null(f);
    for (unsigned i = 0; i < LINES; i++) {
        r->len[i] = line_of(line, i);
        fprintf(f, "%.*s\n", (int)r->len[i], line);
    }
    fclose(f);
    if (pack) {
        snprintf(command, sizeof command, "%s <%s >%s.packed && mv %s.packed %s", pack, r->path, r->path,
                 r->path, r->path);
        assert_int_equal(system(command), 0);
    }
    dl_input *input;
    assert_int_equal(dl_input_open(&input, r->path, NULL), DEVLOG_OK);
    r->kept = (tt_kept){.copy.folder = "/tmp"};
    tt_kept_begin(&r->kept, input);
    uint64_t place = 0;
    for (unsigned i = 0; i < LINES; i++) {
        const size_t n = line_of(line, i);
        assert_true(tt_kept_add(&r->kept, line, n, place, &r->at[i]));
        place += n + 1;
    }
    dl_input_close(input);
}

static void check(rig *r, unsigned i, unsigned stream)
{
    char line[LONG + 100];
    const size_t n = line_of(line, i);
    const char *kept = tt_kept_line(&r->kept, r->at[i], n, stream);
    assert_non_null(kept);
    assert_memory_equal(kept, line, n);
}

static void end(rig *r)
{
    tt_kept_free(&r->kept);
    unlink(r->path);
}

static void in_their_order_they_are_read_ahead(void **state)
{
    (void)state;
    rig r;
    begin(&r, NULL);
    assert_true(r.kept.file != 0);
    for (unsigned i = 0; i < 999; i++) /* four streams, each in order */
        check(&r, i / 4 + i % 4 * 250, i % 4);
    assert_false(r.kept.all);
    assert_int_equal(r.kept.n, 0);
    for (unsigned i = 0; i < LINES; i++)
        check(&r, i, TT_KEPT_STREAMS + 1);
    assert_false(tt_kept_changed(&r.kept));
    end(&r);
}

static void in_another_order_the_file_is_copied_once(void **state)
{
    (void)state;
    rig r;
    begin(&r, NULL);
    for (unsigned i = 0; i < LINES; i++)
        if (i % 1000 != 1) check(&r, i * 2477 % LINES / 1000 * 1000 + i * 2477 % 998, 0);
    assert_true(r.kept.all);
    for (unsigned i = 0; i < LINES; i++)
        check(&r, i * 2477 % LINES, 0);
    end(&r);
}

static void what_is_packed_is_copied(void **state)
{
    (void)state;
    rig r;
    begin(&r, "gzip -1");
    assert_int_equal(r.kept.file, 0);
    for (unsigned i = 0; i < LINES; i++)
        check(&r, i * 2477 % LINES, i);
    assert_false(tt_kept_changed(&r.kept));
    end(&r);
}

static void a_file_that_was_cut_is_told(void **state)
{
    (void)state;
    rig r;
    begin(&r, NULL);
    check(&r, 0, 0);
    assert_int_equal(truncate(r.path, (off_t)r.at[500]), 0);
    assert_null(tt_kept_line(&r.kept, r.at[3000], r.len[3000], 1));
    assert_null(tt_kept_line(&r.kept, r.at[999], r.len[999], 1));
    check(&r, 400, 2);
    assert_true(tt_kept_changed(&r.kept));
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_their_order_they_are_read_ahead),
        cmocka_unit_test(in_another_order_the_file_is_copied_once),
        cmocka_unit_test(what_is_packed_is_copied),
        cmocka_unit_test(a_file_that_was_cut_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
