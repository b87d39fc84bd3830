/* Rows written as pages of an SQLite database, against the library's own: it reads them, finds nothing wrong, and has the
 * same in a table into which it has put the same rows itself. */
#include "support/cmocka_all.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/sqlite_library.h"
#include "report/sqlite_rows.h"

static const char tables[] = "PRAGMA journal_mode=OFF;PRAGMA synchronous=OFF;PRAGMA page_size=16384;"
                             "CREATE TABLE ours(id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, t TEXT, d);"
                             "CREATE TABLE other(id INTEGER PRIMARY KEY, a INTEGER);"
                             "CREATE TABLE theirs(id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, t TEXT, d);";

static char path[] = "/tmp/devlog-rows-XXXXXX";
static sqlite3 *db;

static void exec(const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

/* The first column of the first row as a text. */
static void expect(const char *sql, const char *expected)
{
    sqlite3_stmt *s = NULL;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    const int result = sqlite3_step(s);
    const char *text = result == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : sqlite3_errmsg(db);
    if (!text || strcmp(text, expected) != 0) fail_msg("%s: %s, not %s", sql, text ? text : "NULL", expected);
    sqlite3_finalize(s);
}

static void open_db(void)
{
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
}

static uint32_t root_of(const char *table)
{
    char sql[100], text[20] = "";
    sqlite3_stmt *s = NULL;
    snprintf(sql, sizeof sql, "SELECT rootpage FROM sqlite_master WHERE name = '%s'", table);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    snprintf(text, sizeof text, "%s", (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    return (uint32_t)atoi(text);
}

/* What the tests' rows are made of: numbers, one of which may be missing, and a text. */
typedef struct row {
    uint64_t a, b;
    size_t length;
    bool has_b, is_text;
} row;

typedef row make_row(uint64_t i);

static void text_of(const row *r, uint64_t i, char *text)
{
    for (size_t k = 0; k < r->length; k++)
        text[k] = (char)('a' + (i + k) % 26);
    text[r->length] = 0;
}

static void write_ours(sqlite_file *f, uint32_t ours, uint32_t other, uint64_t n, make_row *make, char *text)
{
    sqlite_table t, u;
    assert_int_equal(sqlite_table_begin(&t, f, ours, NULL), DEVLOG_OK);
    assert_int_equal(sqlite_table_begin(&u, f, other, NULL), DEVLOG_OK);
    for (uint64_t i = 0; i < n; i++) {
        const row r = make(i);
        text_of(&r, i, text);
        sqlite_add_number(&t, r.a);
        sqlite_add_known(&t, r.has_b, r.b);
        assert_true(sqlite_add_text(&t, text));
        if (r.is_text)
            assert_true(sqlite_add_text(&t, text));
        else
            sqlite_add_null(&t);
        assert_int_equal(sqlite_table_row(&t, NULL), DEVLOG_OK);
        sqlite_add_number(&u, i); /* pages of two tables, mixed */
        assert_int_equal(sqlite_table_row(&u, NULL), DEVLOG_OK);
    }
    assert_int_equal(sqlite_table_end(&t, NULL), DEVLOG_OK);
    assert_int_equal(sqlite_table_end(&u, NULL), DEVLOG_OK);
    sqlite_table_free(&t);
    sqlite_table_free(&u);
}

/* What the library makes of a text of digits in a column of whole numbers when it is too large for one. (Its own way from the text to
 * the number is off by one in the last place at times.) */
static void bind(sqlite3_stmt *s, int at, uint64_t value)
{
    if (value <= INT64_MAX)
        sqlite3_bind_int64(s, at, (sqlite3_int64)value);
    else
        sqlite3_bind_double(s, at, (double)value);
}

static void write_theirs(uint64_t n, make_row *make, char *text)
{
    sqlite3_stmt *s = NULL;
    exec("BEGIN");
    assert_int_equal(sqlite3_prepare_v2(db, "INSERT INTO theirs(a, b, t, d) VALUES(?,?,?,?)", -1, &s, NULL),
                     SQLITE_OK);
    for (uint64_t i = 0; i < n; i++) {
        const row r = make(i);
        text_of(&r, i, text);
        bind(s, 1, r.a);
        if (r.has_b)
            bind(s, 2, r.b);
        else
            sqlite3_bind_null(s, 2);
        sqlite3_bind_text(s, 3, text, -1, SQLITE_TRANSIENT);
        if (r.is_text)
            sqlite3_bind_text(s, 4, text, -1, SQLITE_TRANSIENT);
        else
            sqlite3_bind_null(s, 4);
        assert_int_equal(sqlite3_step(s), SQLITE_DONE);
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    exec("COMMIT");
}

/* Both ways, and what the library says. `first_page`: where pages begin; 0: behind the empty tables. */
static void check(uint64_t n, make_row *make, uint32_t first_page)
{
    char count[24], *text = malloc(1 << 17);
    sqlite_file f;
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_non_null(text);
    open_db();
    exec(tables);
    const uint32_t ours = root_of("ours"), other = root_of("other");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(sqlite_file_begin(&f, fd, path, NULL), DEVLOG_OK);
    if (first_page) f.n_pages = first_page - 1;
    write_ours(&f, ours, other, n, make, text);
    assert_int_equal(sqlite_file_end(&f, NULL), DEVLOG_OK);

    open_db();
    if (!first_page) expect("PRAGMA integrity_check", "ok");
    write_theirs(n, make, text);
    if (!first_page) expect("PRAGMA integrity_check", "ok");
    snprintf(count, sizeof count, "%llu", (unsigned long long)n);
    expect("SELECT count(*) FROM ours", count);
    expect("SELECT count(*) FROM other WHERE a = id - 1", count);
    expect(
        "SELECT count(*) FROM ours o JOIN theirs t USING(id) WHERE o.a IS t.a AND o.b IS t.b AND o.t IS t.t AND o.d IS t.d"
        " AND typeof(o.a) = typeof(t.a) AND typeof(o.b) = typeof(t.b) AND typeof(o.d) = typeof(t.d)",
        count);
    /* Rows that the library puts behind and between ours. */
    if (n > 10) exec("DELETE FROM ours WHERE id % 3 = 0");
    exec("INSERT INTO ours(a) SELECT a FROM other");
    if (!first_page) expect("PRAGMA integrity_check", "ok");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    close(fd);
    unlink(path);
    free(text);
}

/* Numbers on both sides of every length, and those that are none of SQLite's. */
static row of_numbers(uint64_t i)
{
    const uint64_t power = UINT64_C(1) << i / 3 % 64;
    const uint64_t value = i % 3 == 0 ? power - 1 : i % 3 == 1 ? power : power + 1;
    return (row){value, ~value, i % 7, i % 5 != 0, i % 2};
}

static void numbers(void **state)
{
    (void)state;
    check(64 * 3, of_numbers, 0);
}

static void few_and_many_rows(void **state)
{
    (void)state;
    static const uint64_t counts[] = {0, 1, 2, 3, 400, 1000, 1200, 20000};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        check(counts[i], of_numbers, 0);
}

/* Every length around what a leaf holds, alone and beside others, and around what pages behind it hold. */
static row of_lengths(uint64_t i)
{
    static const size_t around[] = {16384 / 4,    16384 / 2, 16384 - 35,     16384,
                                    16384 + 2000, 2 * 16384, 3 * 16384 - 20, 5 * 16384};
    return (row){i, i, around[i / 80 % 8] - 50 + i % 80, true, i % 16 == 0};
}

static void long_texts(void **state)
{
    (void)state;
    check(80 * 8, of_lengths, 0);
}

/* More leaves than one page above them can name. */
static row of_leaves(uint64_t i)
{
    return (row){i, 0, 9000, false, false};
}

static void two_levels_above_leaves(void **state)
{
    (void)state;
    check(2300, of_leaves, 0);
}

/* The page at 1 GiB stays empty: SQLite takes locks there. */
static void around_the_page_of_locks(void **state)
{
    (void)state;
    const uint32_t locks = 0x40000000 / SQLITE_ROWS_PAGE + 1;
    for (uint32_t before = 0; before < 3; before++) {
        check(600, of_leaves, locks - before);
        check(300, of_lengths, locks - before);
    }
}

static void another_page_size_is_refused(void **state)
{
    (void)state;
    devlog_error err = {0};
    sqlite_file f;
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(sqlite_file_begin(&f, fd, path, &err), DEVLOG_ERR_IO);
    open_db();
    exec("PRAGMA page_size=4096;CREATE TABLE t(a)");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(sqlite_file_begin(&f, fd, path, &err), DEVLOG_ERR_IO);
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(few_and_many_rows),
        cmocka_unit_test(long_texts),
        cmocka_unit_test(two_levels_above_leaves),
        cmocka_unit_test(around_the_page_of_locks),
        cmocka_unit_test(another_page_size_is_refused),
    };
    devlog_error err = {0};
    if (dl_sqlite_load(&err)) {
        printf("SKIPPED: %s\n", err.text);
        return 77;
    }
    const int fd = mkstemp(path);
    if (fd < 0) return 1;
    close(fd);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
