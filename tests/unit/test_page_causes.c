/* Causes, memory and roofline as pictures of device_perf.html: waits, paths and slack over the time line are those of `devlog causes`,
 * owners of memory those of `devlog memory`, and what is pointed at is said, by mouse and keyboard. Skipped where there is no
 * chromium. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cli.h"
#include "support/files.h"
#include "support/page_group.h"

/* Each wait, put together again, is the table; each lies inside what the RISC recorded; the path has the parts of the table. */
static void lines_are_those_of_the_answers(void **state)
{
    NEEDS_BROWSER();
    page_open_waits(b);
    page_has_text(
        b,
        "(() => { const sums = new Map(); for (const [row, w] of drawn.lines.waits) for (let i = 0; i < w.n; i++) { const key = [row.risc, "
        "w.why[i], w.by[i] ? w.by[i].risc : '?'].join(); const s = sums.get(key) || { count: 0, cycles: 0, longest: 0 }; s.count++; const c = "
        "w.to[i] - w.from[i]; s.cycles += c; s.longest = Math.max(s.longest, c); sums.set(key, s); } "
        "const rows = answers.all.causes.sections.waits.rows, wrong = rows.filter((r) => { const s = sums.get([r.risc, r.why, r.by].join()); "
        "return !s || s.count !== r.count || s.cycles !== r.cycles || s.longest !== r.longest; }); "
        "return rows.length + ' ' + sums.size + ' ' + wrong.length })()",
        "6 6 0");
    page_has_text(
        b,
        "(() => { let inside = 0, all = 0; for (const [row, w] of drawn.lines.waits) for (let i = 0; i < w.n; i++) { all++; for (const lane of "
        "row.lanes) { if (lane.points) continue; for (let k = 0; k < lane.n; k++) if (timeline.model.sites[lane.site[k]].name.startsWith('DEVLOG-WAIT') && "
        "lane.start[k] <= w.to[i] && lane.end[k] >= w.from[i]) { inside++; k = lane.n; } } } return all > 400 && inside === all ? 'all' : inside + ' of ' + all })()",
        "all");
    page_has_text(
        b,
        "(() => { const table = answers.all.causes.sections.path.rows, launch = drawn.lines.paths.find((p) => p.parts.length === table.length); if (!launch) return "
        "'none'; const first = launch.parts[0].from - table[0].from; return launch.parts.every((p, i) => p.from - first === table[i].from && p.to - p.from === "
        "table[i].cycles && p.row.core.name === table[i].core && p.row.risc === table[i].risc) ? 'the same' : 'another' })()",
        "the same");
    /* Who is last on a path has no slack there; nobody has more than ends after him would allow. */
    page_has_text(
        b,
        "(() => { for (const { parts } of drawn.lines.paths) { const end = parts.at(-1), own = drawn.lines.slack.get(end.row) || []; if "
        "(own.some((s) => s.at > parts[0].from && s.at <= end.to && s.at + s.cycles > end.to)) return 'slack on the path'; for (const [row, list] of "
        "drawn.lines.slack) for (const s of list) if (s.at > parts[0].from && s.at <= end.to && s.at + s.cycles > end.to + 1) return row.risc + ' ' + "
        "s.cycles; } return 'none' })()",
        "none");
    page_has_no_problems(b, "lines");
}

/* Whether a pixel of the marks has this colour: within a few steps. */
static const char painted[] =
    "(x, y, hex) => { const d = document.getElementById('marks').getContext('2d').getImageData(x * timeline.ratio, y * timeline.ratio, 1, 1).data; "
    "return [1, 3, 5].every((k, i) => Math.abs(parseInt(hex.slice(k, k + 2), 16) - d[i]) < 12) && d[3] > 200; }";

static void they_are_drawn_where_they_were(void **state)
{
    NEEDS_BROWSER();
    page_open_waits(b);
    page_run(b, "showTab('causes')");
    page_run(b, "document.querySelector('#pane-causes .go').click()");
    page_has_text(b, "tabs.now + ' ' + [drawn.path, drawn.waits, drawn.slack].join()", "time true,true,true");
    page_has_text(
        b,
        "drawn.painted.path > 10 && drawn.painted.waits > 20 && drawn.painted.slack > 3 ? 'painted' : JSON.stringify(drawn.painted)",
        "painted");
    char script[1600];
    snprintf(
        script, sizeof script,
        "(() => { const is = %s, part = drawn.lines.paths.at(-1).parts.reduce((a, p) => (p.to - p.from > a.to - a.from ? p : a)), band = bandOfRow(part.row), "
        "x = axisToX((part.from + part.to) / 2 * part.row.scale + part.row.offset), y = band.y - document.getElementById('rows').scrollTop; "
        "let here = false; for (let k = 0; k < 8; k++) here = here || is(x, y + k, theme.colours.lost); return band.kind + ' ' + here })()",
        painted);
    page_has_text(b, script, "risc true");
    /* In the colour of who ended it. */
    snprintf(
        script, sizeof script,
        "(() => { const is = %s; for (const [row, w] of drawn.lines.waits) { const band = bandOfRow(row); if (!band || band.kind !== 'risc') continue; for (let i = 0; i "
        "< w.n; i++) { if (w.to[i] - w.from[i] < 500) continue; const x = axisToX((w.from[i] + w.to[i]) / 2 * row.scale + row.offset), y = band.y - "
        "document.getElementById('rows').scrollTop; for (let k = 0; k < band.h; k++) if (is(x, y + k, enderColour(w.by[i].risc))) return 'in its colour'; } } return 'nowhere' })()",
        painted);
    page_has_text(b, script, "in its colour");
    page_has_text(b, "document.getElementById('causes-bar').innerText", "ended by TRISC_1");
    /* Off and on by key, and each by itself. */
    browser_key(b, "p");
    page_has_text(b, "[drawn.path, drawn.waits, drawn.slack].join()", "false,false,false");
    browser_key(b, "p");
    page_run(b, "document.querySelectorAll('#causes-bar input')[1].click()");
    page_has_text(
        b,
        "[drawn.path, drawn.waits, drawn.slack].join() + document.getElementById('causes-bar').innerText.includes('ended by TRISC')",
        "true,false,truefalse");
    page_has_no_problems(b, "drawn");
}

static void what_is_selected_is_explained(void **state)
{
    NEEDS_BROWSER();
    page_open_waits(b);
    page_run(
        b,
        "showTab('time'), (() => { let best = null; for (const [row, w] of drawn.lines.waits) for (let i = 0; i < w.n; i++) if (!best || w.to[i] - w.from[i] > "
        "best.c) best = { row, c: w.to[i] - w.from[i], from: w.from[i], by: w.by[i] }; window.best = best; const lane = best.row.lanes.find((l) => !l.points && "
        "timeline.model.sites[l.site[0]].name.startsWith('DEVLOG-WAIT')) ; let k = 0; while (lane.end[k] < best.from) k++; goTo({ lane, i: k }); })()");
    page_has_text(
        b,
        "document.getElementById('details').innerText.replace(/\\s+/g, ' ').includes('ended by ' + best.by.risc) ? 'who' : document.getElementById('details').innerText",
        "who");
    page_run(
        b,
        "(() => { const part = drawn.lines.paths.at(-1).parts.find((p) => p.to - p.from > 400), lane = part.row.lanes[0]; let k = 0; while (lane.end[k] < part.to) k++; "
        "goTo({ lane, i: k }); })()");
    page_has_text(b, "document.getElementById('details').innerText", "on the path");
    page_has_no_problems(b, "explained");
}

static void pictures_fit_and_can_be_read(void **state)
{
    NEEDS_BROWSER();
    page_open_waits(b);
    page_run(b, "toggleCauses(true)");
    page_fits(b, "causes", PAGE_ALL_SIZES);
    page_is_legible(b, "causes");
    browser_key(b, "t");
    page_is_legible(b, "causes, the other light");
    page_open(b, page_network(), in_scratch("out"), 0);
    page_fits(b, "memory and roofline", PAGE_ALL_SIZES);
}

static void memory_by_owner(void **state)
{
    NEEDS_BROWSER();
    page_open(b, page_network(), in_scratch("out"), 0);
    page_run(b, "showTab('memory')");
    /* At the peak: as the table says it. */
    page_has_text(
        b,
        "(() => { const m = answers.all.memory.sections, said = document.querySelector('#pane-memory figure output').innerText; return "
        "m.at_peak.rows.every((r) => said.includes(ownerOf(r) + ' ' + unitText(r.bytes, 'bytes'))) && said.includes(unitText(m.memory.rows[0].peak, 'bytes')) ? 'all' : said })()",
        "all");
    /* Every step of the time line's fullest moment is reached by the owners together. */
    page_has_text(
        b,
        "(() => { const m = answers.all.memory.sections, rows = m.timeline.rows, o = ownersOver(m.buffers.rows, rows.at(-1).to, 8); const wrong = rows.filter((r) => { let "
        "most = 0; for (let i = 0; i < o.times.length; i++) if (o.times[i] < r.to && (i + 1 === o.times.length || o.times[i + 1] > r.from)) most = Math.max(most, "
        "o.owners.reduce((s, w) => s + w.bytes[i], 0)); return most !== r.most; }); return rows.length + ' steps, ' + wrong.length + ' wrong' })()",
        " 0 wrong");
    page_run(b, "document.querySelector('.over-time').focus()");
    for (int i = 0; i < 3; i++)
        browser_key(b, "ArrowLeft");
    browser_key(b, "ArrowLeft");
    browser_key(b, "ArrowLeft");
    page_has_text(b, "document.querySelector('.over-time').getAttribute('aria-valuetext')", "0 ns: ");
    page_run(b, "window.box = document.querySelector('.over-time').getBoundingClientRect()");
    browser_mouse(b, "mouseMoved", browser_number(b, "box.left + box.width * 0.9"),
                  browser_number(b, "box.top + 20"), 0);
    page_settle(b);
    page_has_text(
        b,
        "Math.abs(document.querySelector('.over-time').getAttribute('aria-valuenow') / document.querySelector('.over-time').getAttribute('aria-valuemax') - 0.9) < 0.01 ? 'there' : 'elsewhere'",
        "there");
    page_has_no_problems(b, "memory");
}

static void the_roofline_and_the_op_under_the_pointer(void **state)
{
    NEEDS_BROWSER();
    page_open(b, page_network(), in_scratch("out"), 0);
    page_run(
        b,
        "showTab('roofline'), window.dot = document.querySelector('.roofline .op').getBoundingClientRect()");
    browser_mouse(b, "mouseMoved", browser_number(b, "dot.left + dot.width / 2"),
                  browser_number(b, "dot.top + dot.height / 2"), 0);
    page_settle(b);
    page_has_text(b, "document.getElementById('roofline-op').innerText", "Matmul");
    page_has_text(
        b,
        "document.getElementById('roofline-op').innerText.includes(unitText(answers.all.report.sections.roofline.rows[0].flop_rate, 'flops/s')) ? 'its rate' : 'no'",
        "its rate");
    page_run(b, "document.querySelector('.roofline .op').focus()");
    browser_key(b, "Enter");
    page_has_text(b, "tabs.now + ' ' + itemName(selection.item)", "time launch Matmul");
    page_has_text(b, "document.getElementById('details').innerText", "bound by");
    /* Of ops with FLOPs and bytes: below the roofs, the wall where both meet. */
    page_run(
        b,
        "answers.all.report.sections.roofline.rows = [[600, 5e11, 5], [0.5, 1e10, 0.1], [30, 1e11, 1], [null, 2e11, 2]].map(([intensity, flop_rate, of_compute], i) => ({ "
        "...answers.all.report.sections.roofline.rows[0], op: 'op ' + i, intensity, flop_rate, of_compute, byte_rate: intensity ? flop_rate / intensity : 0, of_dram: intensity ? "
        "(flop_rate / intensity) / 3e11 * 100 : 0 })), showTab('roofline')");
    page_has_number(b, "document.querySelectorAll('.roofline .op').length", 4);
    page_has_number(b, "document.querySelectorAll('.roofline .roof').length", 2);
    page_has_text(
        b,
        "(() => { const roof = [...document.querySelectorAll('.roofline .roof')], y = Number(roof[0].getAttribute('y1')), d = roof[1], at = (k) => "
        "Number(d.getAttribute(k)); return [...document.querySelectorAll('.roofline .op')].every((c) => { const cx = Number(c.getAttribute('cx')), cy = "
        "Number(c.getAttribute('cy')); const slope = cx <= at('x2') ? at('y1') + (cx - at('x1')) / (at('x2') - at('x1')) * (at('y2') - at('y1')) : -1; return cy >= y - 0.5 "
        "&& cy >= slope - 0.5; }) ? 'below' : 'above' })()",
        "below");
    page_has_no_problems(b, "roofline");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_those_of_the_answers),
        cmocka_unit_test(they_are_drawn_where_they_were),
        cmocka_unit_test(what_is_selected_is_explained),
        cmocka_unit_test(memory_by_owner),
        cmocka_unit_test(the_roofline_and_the_op_under_the_pointer),
        cmocka_unit_test(pictures_fit_and_can_be_read),
    };
    return cmocka_run_group_tests(tests, start_browser, stop_browser);
}
