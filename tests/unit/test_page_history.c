/* devlog archive page: what the page says has changed is what devlog archive history says, of all runs and of chosen ones; picture and
 * table have the same numbers; keyboard; sizes; names that are no markup; nothing, one run, hundreds. Skipped where there is no
 * chromium. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/archive.h"
#include "base/str.h"
#include "support/cli.h"
#include "support/device.h"
#include "support/files.h"
#include "support/page_group.h"

#define PAGE   "Object.assign(globalThis, devlog), "
#define JUDGED "document.documentElement.dataset.judged === 'yes'"

enum { DAY = 86400, START = 1767225600 };

/* A generator of skewed figures that are the same each time. */
static double next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (1 << 24);
}

typedef struct made {
    size_t runs, figures;
    const char *name; /* of the first figure */
    bool other_board, ties;
} made;

/* Figure 1 is 10 % slower from the middle on in runs of branch=main, figure 2 5 % faster from a quarter on; others do not change. */
static const char *archive_of(const char *file, const made *m)
{
    static char path[600];
    devlog_error err = {0};
    archive *a = NULL;
    uint32_t state = 7;
    snprintf(path, sizeof path, "%s", in_scratch(file));
    unlink(path);
    assert_int_equal(archive_open(&a, path, true, &err), DEVLOG_OK);
    for (size_t r = 0; r < m->runs; r++) {
        char commit[20], **names = calloc(m->figures, sizeof *names);
        archive_figure *figures = calloc(m->figures, sizeof *figures);
        const bool side = m->other_board && r % 4 == 3;
        assert_non_null(figures);
        assert_non_null(names);
        snprintf(commit, sizeof commit, "%08zx", r * 2654435761u % 0xffffffff);
        for (size_t i = 0; i < m->figures; i++) {
            double value = 10000 + 37 * (double)i;
            value *= 1 + 0.02 * next(&state) * next(&state);
            if (i == 0 && !side && r >= m->runs / 2) value *= 1.1;
            if (i == 1 && r >= m->runs / 4) value *= 0.95;
            if (m->ties) value = 100 * floor(value / 100);
            char other[24];
            snprintf(other, sizeof other, "Op%zu", i);
            names[i] = strdup(i ? other : m->name);
            assert_non_null(names[i]);
            figures[i] = (archive_figure){.kind = (char *)(i % 3 == 2 ? "zone" : "op"),
                                          .name = names[i],
                                          .unit = (char *)"ns",
                                          .value = value,
                                          .median = r < m->runs / 10 ? NAN : value * 0.5,
                                          .count = 6,
                                          .least = value * 0.97,
                                          .most = value * 1.05,
                                          .total = value * 6};
        }
        archive_run run = {.date = START + (int64_t)r * DAY,
                           .commit = commit,
                           .board = (char *)(m->other_board && r % 10 == 9 ? "blackhole" : "wormhole_b0"),
                           .host = (char *)(r % 2 ? "h1" : "h2"),
                           .labels = (char *)(side ? "branch=side" : "branch=main"),
                           .figures = figures,
                           .n_figures = m->figures};
        bool known;
        size_t left_out;
        assert_int_equal(archive_add(a, &run, 1, &known, &left_out, &err), DEVLOG_OK);
        for (size_t i = 0; i < m->figures; i++)
            free(names[i]);
        free(names);
        free(figures);
    }
    archive_close(a);
    return path;
}

static void open_history(const char *archive_path, const char *options)
{
    char line[1500], url[700];
    snprintf(line, sizeof line, "archive page %s %s -o %s", archive_path, options,
             in_scratch("history.html"));
    free(devlog_ok(line, 0));
    snprintf(url, sizeof url, "file://%s", in_scratch("history.html"));
    assert_true(browser_go(b, "about:blank", "true"));
    assert_true(browser_go(b, url, "document.documentElement.dataset.ready === 'yes'"));
    free(browser_js(b, PAGE "1"));
    assert_true(browser_wait(b, JUDGED));
}

/* What devlog archive history says, and the page, as text: figure, run, and medians. */
static void same_changes(const char *archive_path, const char *options)
{
    char line[1500];
    snprintf(line, sizeof line, "archive history -a %s %s --format json", archive_path, options);
    char *said = devlog_ok(line, 0);
    page_has_text(b, "String(page.rows.some((r) => r.changes.length))", "true");
    char *check = NULL;
    assert_true(
        asprintf(
            &check,
            "((said) => { const of = (name, run, before, behind, p) => [name, run, before.toFixed(3), behind.toFixed(3), p.toPrecision(9)].join(' '); "
            "const a = said.sections.changes.rows.map((r) => of(r.name, r.run, r.before, r.behind, r.p)).sort().join('; '), "
            "b = page.rows.flatMap((r) => r.changes.map((c) => of(r.figure, page.runs[r.series.runs[r.at[c.at]]].id, c.before, c.behind, c.p))).sort().join('; '); "
            "return a === b ? 'same' : a + ' | ' + b; })(%s)",
            said) > 0);
    page_has_text(b, check, "same");
    free(check);
    free(said);
}

static void says_what_history_says(void **state)
{
    NEEDS_BROWSER();
    const char *of = archive_of("two.sqlite", &(made){60, 12, "Matmul", .other_board = true});
    /* Boards are not mixed; what the reader chooses is what is asked. */
    open_history(of, "");
    page_has_text(b, "page.wanted.get('board') + ' ' + page.shown", "blackhole 6");
    page_has_text(b, "document.getElementById('facts').innerText", "too few runs");
    page_run(
        b,
        "document.querySelector('#filters [aria-label=board]').value = 1, document.querySelector('#filters [aria-label=board]').dispatchEvent(new Event('change'))");
    assert_true(browser_wait(b, JUDGED));
    same_changes(of, "--board wormhole_b0");
    page_run(
        b,
        "document.querySelector('#filters [aria-label=label]').value = 0, document.querySelector('#filters [aria-label=label]').dispatchEvent(new Event('change'))");
    assert_true(browser_wait(b, JUDGED));
    same_changes(of, "--board wormhole_b0 --label branch=main");
    page_has_text(
        b, "page.rows.find((r) => r.figure === 'Matmul').changes.map((c) => c.percent.toFixed(0)).join()",
        "10");
    /* The command's filters, and its confidence. */
    open_history(of, "--board wormhole_b0 --label branch=main --confidence 90 --least 7");
    same_changes(of, "--board wormhole_b0 --label branch=main --confidence 90 --least 7");
    /* Times that are often the same. */
    open_history(archive_of("ties.sqlite", &(made){40, 6, "Matmul", .ties = true}), "");
    same_changes(in_scratch("ties.sqlite"), "");
    page_has_no_problems(b, "changes");
}

static void picture_and_table(void **state)
{
    NEEDS_BROWSER();
    open_history(archive_of("one.sqlite", &(made){50, 5, "Matmul"}), "");
    /* The last change is on top; then by keyboard alone: search, list, picture. */
    page_has_text(b, "page.rows.find((r) => r.with_run === 26).figure + page.chosen.figure", "MatmulMatmul");
    browser_key(b, "/");
    page_has_text(b, "document.activeElement.type", "search");
    page_run(
        b,
        "document.activeElement.value = 'matmul', document.activeElement.dispatchEvent(new Event('input'))");
    page_has_number(b, "document.querySelectorAll('#list-table tbody tr').length", 1);
    page_run(b, "document.querySelector('#list-table tbody tr').focus()");
    browser_key(b, "Enter");
    page_has_text(b, "page.chosen.figure + ' ' + document.activeElement.tagName", "Matmul TR");
    page_has_text(b, "document.getElementById('verdict').innerText", "changed with run 26 (");
    page_has_number(b, "document.querySelectorAll('#picture line.change.slower').length", 1);
    page_has_number(b, "document.querySelector('#picture .points').getAttribute('d').split('M').length - 1",
                    50);
    page_has_number(b, "document.querySelectorAll('#runs-table tbody tr').length", 50);
    page_run(b, "document.getElementById('picture').focus()");
    browser_key(b, "Home");
    browser_key(b, "ArrowRight");
    page_has_text(b, "document.getElementById('at').innerText", "run 2, 2026-01-02 00:00:00");
    page_has_text(
        b,
        "((row) => row.cells[0].innerText + ' ' + (document.getElementById('at').innerText.includes(row.cells[2].innerText) ? 'same' : row.innerText))(document.querySelector('#runs-table "
        "tr[aria-selected=true]'))",
        "2 same");
    /* Dots stand where their values are: the higher the value, the higher the dot; the new level is above the old one. */
    page_has_text(
        b,
        "page.chosen.values.every((v, i) => page.chosen.values.every((w, k) => v <= w || chart.places[i][1] <= chart.places[k][1])) && chart.places.every(([x], i) => !i || x > "
        "chart.places[i - 1][0]) ? 'in place' : 'not'",
        "in place");
    page_has_text(b, "levelsOf(page.chosen).map((l) => l.from + '-' + l.to).join()", "0-25,25-50");
    /* The address leads there again. */
    page_run(b, "window.before = 1, location.reload()");
    assert_true(browser_wait(b, "document.documentElement.dataset.ready === 'yes' && !window.before"));
    free(browser_js(b, PAGE "1"));
    page_has_text(b, "page.chosen.figure", "Matmul");
    page_has_text(
        b,
        "String(document.querySelector('#picture svg').viewBox.baseVal.width === document.getElementById('runs-table').offsetWidth)",
        "true");
    page_has_no_problems(b, "picture");
}

/* By --of median: what is drawn, judged and said is of medians, and what has none is counted. */
static void medians(void **state)
{
    NEEDS_BROWSER();
    open_history(archive_of("medians.sqlite", &(made){50, 6, "Matmul"}), "");
    page_has_text(b, "String(document.getElementById('banner').hidden)", "true");
    const double average = browser_number(b, "page.rows.find((r) => r.figure === 'Matmul').newest");
    open_history(in_scratch("medians.sqlite"), "--of median");
    page_has_number(b, "page.rows.find((r) => r.figure === 'Matmul').newest", average / 2);
    page_has_number(b, "page.rows.find((r) => r.figure === 'Matmul').runs", 45);
    page_has_text(b, "document.getElementById('banner').innerText",
                  "30 figures of runs left out: without a median");
    page_run(b, "document.querySelector('#list-table tbody tr').click()");
    page_has_text(b, "page.data.of + document.getElementById('at').textContent",
                  "mediana dot: the median of a run");
    same_changes(in_scratch("medians.sqlite"), "--of median");
    page_has_no_problems(b, "medians");
}

static void it_fits(void **state)
{
    NEEDS_BROWSER();
    static const int widths[] = {1440, 1024, 390};
    char name[5001];
    memset(name, 'N', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    static const char begin[] = "</script><script>window.bad=1</script>\"'\\u003c \xc3\xa4\xf0\x9f\x9a\x80 ";
    memcpy(name, begin, sizeof begin - 1);
    open_history(archive_of("long.sqlite", &(made){30, 8, name}), "");
    page_run(b, "choose(page.rows.find((r) => r.figure.startsWith('</script>')))");
    for (int i = 0; i < 6; i++) {
        browser_size(b, widths[i % 3], 900);
        if (i == 3) page_run(b, "document.getElementById('theme').click()");
        page_settle(b);
        page_has_text(
            b,
            "document.documentElement.scrollWidth <= innerWidth ? 'fits' : 'sticks out ' + document.documentElement.scrollWidth",
            "fits");
        page_has_text(
            b,
            "['picture', 'runs-table', 'list-table'].every((id) => document.getElementById(id).clientHeight > 100) && document.querySelector('#picture svg').getBoundingClientRect().right <= innerWidth ? "
            "'room' : 'no room'",
            "room");
        page_has_text(
            b,
            "(() => { const of = (e) => getComputedStyle(e), lum = (c) => { const [r, g, b] = c.match(/\\d+/g).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); "
            "return 0.2126 * r + 0.7152 * g + 0.0722 * b; }, contrast = (a, b) => { const [x, y] = [lum(a), lum(b)].sort((p, q) => p - q); return (y + 0.05) / (x + 0.05); }; const page = "
            "of(document.body).backgroundColor; const bad = [...document.querySelectorAll('#top *, #filters *, #one *, #list *')].filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && "
            "n.data.trim()) && contrast(e.closest('svg') ? of(e).fill : of(e).color, e.closest('svg') ? of(document.getElementById('picture')).backgroundColor : page) < 4.5); return bad.length ? "
            "bad[0].outerHTML.slice(0, 200) : 'legible'; })()",
            "legible");
    }
    browser_size(b, 1440, 900);
    page_has_text(
        b,
        "String(window.bad) + page.chosen.figure.length + document.getElementById('name').textContent.slice(0, 45)",
        "undefined");
    page_has_text(b, "document.getElementById('name').textContent", name);
    page_has_no_problems(b, "sizes");
}

static void none_one_and_hundreds(void **state)
{
    NEEDS_BROWSER();
    open_history(archive_of("none.sqlite", &(made){0}), "");
    page_has_text(b, "document.getElementById('banner').innerText", "no run in this archive yet");
    open_history(archive_of("single.sqlite", &(made){1, 3, "Matmul"}), "");
    page_has_text(b, "document.getElementById('facts').innerText", "1 run");
    page_has_number(b, "chart.places.length", 1);
    open_history(archive_of("many.sqlite", &(made){200, 300, "Matmul"}), "");
    page_has_text(b, "page.rows.length + ' ' + page.runs.length", "300 200");
    page_has_text(b, "page.chosen && page.rows.find((r) => r.figure === 'Matmul').changes.length + ''", "1");
    page_has_text(
        b,
        "(() => { for (const r of page.rows.slice(0, 20)) choose(r); return page.chosen === page.rows[19] ? 'chosen' : 'another'; })()",
        "chosen");
    page_has_no_problems(b, "hundreds");
}

static void what_cannot_be(void **state)
{
    (void)state;
    char line[1500];
    archive_of("wrong.sqlite", &(made){2, 2, "Matmul"});
    snprintf(line, sizeof line, "archive page %s --board none -o %s", in_scratch("wrong.sqlite"),
             in_scratch("no.html"));
    devlog_fails(line, 1, "none of its 2 runs is so");
    assert_int_not_equal(access(in_scratch("no.html"), F_OK), 0);
    snprintf(line, sizeof line, "archive page %s.not -o %s", in_scratch("wrong.sqlite"),
             in_scratch("no.html"));
    devlog_fails(line, 1, "there is no archive");
    snprintf(line, sizeof line, "archive page %s -o /nowhere/no.html", in_scratch("wrong.sqlite"));
    devlog_fails(line, 1, "/nowhere");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_history_says),
        cmocka_unit_test(picture_and_table),
        cmocka_unit_test(medians),
        cmocka_unit_test(it_fits),
        cmocka_unit_test(none_one_and_hundreds),
        cmocka_unit_test(what_cannot_be),
    };
    return cmocka_run_group_tests(tests, start_browser, stop_browser);
}
