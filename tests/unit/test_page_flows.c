/* Flows of device_perf.html: from the host's call to its launch, to the first kernel of each core, to the pull; drawn and walked along, at
 * every size, light and dark. Skipped where there is no chromium. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cli.h"
#include "support/device.h"
#include "support/files.h"
#include "support/page_group.h"

/* What a flow should be, by looking at every interval there is: of each core its first kernel of the launch, by their starts. */
static const char truth[] =
    "Object.assign(globalThis, devlog), window.truth = (chip, launch) => { const { model } = timeline, first = new Map(); "
    "for (const row of model.rows) for (const lane of row.lanes) for (let i = 0; i < lane.n; i++) { "
    "if (lane.points || row.chip !== chip || lane.launch[i] !== launch || model.sites[lane.site[i]].role !== ROLE_KERNEL) continue; "
    "const item = { lane, i }, had = first.get(row.core); if (!had || itemStart(item) < itemStart(had)) first.set(row.core, item); } "
    "return [...first].filter(([core]) => shownCores(model).includes(core)).map(([, item]) => item).sort((a, c) => itemStart(a) - itemStart(c)); }, "
    "window.same = (a, c) => a.length === c.length && a.every((x, k) => itemStart(x) === itemStart(c[k])) && "
    "new Set(a.map((x) => x.lane.row.core)).size === a.length, 1";

/* All launches' flows are the truth; the lines of the one that is selected end at its kernels. */
static void flows_are_true(const char *where, unsigned steps_besides_kernels)
{
    char expression[300];
    page_run(b, truth);
    snprintf(
        expression, sizeof expression,
        "timeline.model.tops.flatMap((row) => row.lanes.flatMap((lane) => [...lane.launch.keys()].filter((i) => { const f = flowOf({ lane, i }), "
        "t = truth(row.chip, lane.launch[i]); return !t.length || !same(f.kernels, t) || f.steps.length !== t.length + %u; }))).length",
        steps_besides_kernels);
    page_has_number(b, expression, 0);
    static const int widths[] = {1440, 1024, 390};
    for (int dark = 0; dark < 2; dark++) {
        for (int i = 0; i < 3; i++) {
            browser_size(b, widths[i], 900);
            page_settle(b);
            page_run(
                b,
                "showTab('time'), viewAll(), window.lines = [], window.plain = window.plain || CanvasRenderingContext2D.prototype.bezierCurveTo, "
                "CanvasRenderingContext2D.prototype.bezierCurveTo = function (a, c, d, e, x, y) { if (this.lineWidth === 1) lines.push([x, y]); "
                "return plain.apply(this, arguments); }, window.at = timeline.model.tops.at(-1).lanes[0], select({ lane: at, i: at.n - 1 }, false), repaint()");
            page_settle(b);
            page_run(b, "CanvasRenderingContext2D.prototype.bezierCurveTo = plain");
            page_has_text(
                b,
                "(() => { const seen = flowOf(selection.item).kernels.map(itemBox).filter((x) => x && x.y + x.h >= 0 && x.y <= timeline.height); "
                "return !seen.length ? 'no kernel in sight' : timeline.kernelFlows !== seen.length ? 'lines: ' + timeline.kernelFlows + ' of ' + seen.length : "
                "seen.every((s) => lines.some(([x, y]) => x === s.x && y === s.y)) ? 'drawn' : JSON.stringify([seen, lines]); })()",
                "drawn");
        }
        browser_key(b, "t");
    }
    browser_size(b, 1440, 900);
    page_settle(b);
    page_run(b, "select(null, false)");
    page_has_number(b, "timeline.kernelFlows", 0);
    page_has_no_problems(b, where);
}

static void flows_of_a_network(void **state)
{
    NEEDS_BROWSER();
    page_open(b, page_network(), in_scratch("out"), 0);
    flows_are_true("a network", 3); /* and the call, the launch, the pull */
    /* By keys, from the first call to the end and back; a zone inside a kernel stands where that is. */
    page_run(
        b,
        "window.host = timeline.model.hosts[0].lanes.flatMap((lane) => [...lane.launch.keys()].map((i) => ({ lane, i }))).find((c) => laneName(c.lane, c.i) === 'LaunchProgram'), "
        "goTo(host), window.opened = rowsLayout.open.size, window.flow = flowOf(selection.item), window.here = () => flow.steps.findIndex((s) => s.lane === selection.item.lane && s.i === selection.item.i)");
    page_has_number(b, "here()", 0);
    for (int i = 1; i <= 3; i++) {
        browser_key(b, "]");
        page_has_number(b, "here()", i);
    }
    page_has_number(b, "rowsLayout.open.size - opened", 0); /* no core is opened by it */
    page_run(
        b,
        "window.core = selection.item.lane.row.core, window.zone = core.rows.flatMap((r) => r.lanes).filter((l) => !l.points && l.level >= 2 && l.row.risc !== selection.item.lane.row.risc).map((lane) => "
        "({ lane, i: lane.launch.indexOf(selection.item.lane.launch[selection.item.i]) })).find((z) => z.i >= 0) || selection.item, goTo(zone)");
    browser_key(b, "[");
    page_has_number(b, "here()", 2);
    browser_key(b, "[");
    browser_key(b, "[");
    page_has_number(b, "here()", 0);
    browser_key(b, "[");
    page_has_number(b, "here()", 0);
    page_has_text(b, "document.getElementById('say').textContent", "the flow begins here");
    page_run(b, "[...flow.steps, 1, 2].forEach(() => alongFlow(1))");
    page_has_number(b, "flow.steps.length - here()", 1);
    page_has_text(b, "document.getElementById('say').textContent", "the flow ends here");
}

static void flows_of_several_chips_with_drops(void **state)
{
    NEEDS_BROWSER();
    char path[700];
    const page_log log = {.chips = 4,
                          .columns = 3,
                          .rows = 2,
                          .riscs = 3,
                          .launches = 12,
                          .zones = 4,
                          .drops = true,
                          .values = true,
                          .name = 5000,
                          .apart = 2600,
                          .staggered = 900};
    snprintf(path, sizeof path, "%s", in_scratch("chips.csv"));
    page_log_write(path, &log);
    page_open(b, path, in_scratch("out"), 3);
    flows_are_true("four chips", 1); /* where launches overlap */
    /* A core that is hidden is not walked to. */
    page_run(
        b,
        "window.all = flowOf({ lane: timeline.model.tops[0].lanes[0], i: 0 }).kernels.length, hideRow(timeline.model.cores[0])");
    page_has_number(b, "all - flowOf({ lane: timeline.model.tops[0].lanes[0], i: 0 }).kernels.length", 1);
    flows_are_true("with a hidden core", 1);
    /* What is of no launch has no flow. */
    page_run(b, "select(null, false)");
    browser_key(b, "]");
    page_has_text(b, "document.getElementById('say').textContent",
                  "select a call, a launch or a kernel first");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_of_a_network),
        cmocka_unit_test(flows_of_several_chips_with_drops),
    };
    return cmocka_run_group_tests(tests, start_browser, stop_browser);
}
