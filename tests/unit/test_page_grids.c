/* Where cores are on their chips, on device_perf.html: of a chip with harvested lines as its capture says it, of several, and of logs that
 * do not say it: tt-metal's, which name cores by their NoC coordinates, and those of which nothing is known. Arithmetic is tested in
 * tests/page/grid.test.js. Skipped where there is no chromium. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/capture/capture.h"
#include "device/board_grid.h"
#include "support/cli.h"
#include "support/device.h"
#include "support/files.h"
#include "support/page_group.h"

#define NOTES "[...document.querySelectorAll('#chips figcaption')].map((c) => c.textContent).join(' | ')"
#define KINDS "[...document.querySelectorAll('.chip-kinds')].map((c) => c.textContent).join(' | ')"

static void show_chip(void)
{
    page_run(
        b,
        "showTab('heat'), document.getElementById('heat-as').value = 'chip', document.getElementById('heat-as').dispatchEvent(new Event('change'))");
}

static void ask(const char *what)
{
    char script[300];
    snprintf(
        script, sizeof script,
        "(() => { const m = document.getElementById('chip-what'); m.value = '%s'; m.dispatchEvent(new Event('change')); })()",
        what);
    page_run(b, script);
    page_has_text(b, "chips.what", what);
}

/* A launch of some cores of a chip; core `i` takes longer than those before it. */
static void put_launch(dl_capture *c, uint32_t slot, uint32_t columns, uint32_t rows)
{
    devlog_error err = {0};
    for (uint32_t i = 0; i < columns * rows; i++) {
        dl_capture_risc risc = {.name = "BRISC"};
        risc.control.launch = 1;
        risc.control.marks = 1 | 8;
        risc.control.stamps[0] = 1000;
        risc.control.stamps[6] = 2000 + i;
        const dl_capture_core core = {.slot = slot,
                                      .x = (uint16_t)(i % columns),
                                      .y = (uint16_t)(i / columns),
                                      .n_riscs = 1,
                                      .riscs = &risc};
        check_ok(dl_capture_put_core(c, &core, &err), &err);
    }
    check_ok(dl_capture_put_launch(c, &(dl_capture_launch){.slot = slot, .number = 1}, &err), &err);
}

/* Four Blackholes, of which each lacks one column more than the one before it; the last of an older devlog, that did not say. */
static const char *four_chips(void)
{
    devlog_error err = {0};
    static char path[300];
    dl_capture *c;
    board whole;
    check_ok(board_load("blackhole", &whole, &err), &err);
    check_ok(dl_capture_open(&c, in_scratch("four"), DL_CAPTURE_NAME, false, &err), &err);
    for (uint32_t slot = 0; slot < 4; slot++) {
        board left = whole;
        chip_grid grid;
        left.n_columns -= slot;
        for (uint32_t i = left.n_columns; i < whole.n_columns; i++)
            left.dead_columns |= UINT64_C(1) << whole.columns[i];
        board_grid(&left, true, &grid);
        const dl_capture_chip chip = {.slot = slot,
                                      .max_cores = 140,
                                      .freq_khz = 1350000,
                                      .arch = "blackhole",
                                      .board = "blackhole",
                                      .transport = "kmd",
                                      .boot = "b"};
        check_ok(dl_capture_put_chip(c, &chip, &err), &err);
        if (slot < 3) check_ok(dl_capture_put_grid(c, &(dl_capture_grid){slot, &grid}, &err), &err);
        put_launch(c, slot, 11, 10);
        check_ok(dl_capture_put_end(c, slot, &err), &err);
    }
    check_ok(dl_capture_commit(c, &err), &err);
    snprintf(path, sizeof path, "%s", dl_capture_path(c));
    dl_capture_close(c);
    return path;
}

/* The demo on the simulator, of a chip of which a column and three rows are left out. */
static void a_harvested_chip(void **state)
{
    NEEDS_BROWSER();
    setenv("DEVLOG_GRID", "columns=1-4+7-9,rows=1-3+7-10", 1);
    page_open_waits(b);
    unsetenv("DEVLOG_GRID");
    show_chip();
    page_has_text(
        b, NOTES,
        "chip 0 wormhole_b0 10 × 12 tiles, NoC 0 coordinates; switched off (harvested), or left out: column 6; rows 4, 5, 11");
    page_has_text(b, KINDS, "Tensix 49 (");
    page_has_text(
        b, KINDS,
        " in this log) · D DRAM 18 · E Ethernet 16 · P PCIe 1 · A ARC (management) 1 · R router only 4 · × off 31");
    page_has_number(b, "document.querySelectorAll('.chip-grid > *:not(.axis)').length", 120);
    page_has_number(b, "document.querySelectorAll('.tile-off').length", 31);
    page_has_number(
        b,
        "document.querySelectorAll('.chip-grid .core').length + document.querySelectorAll('.tile-tensix').length",
        49);
    /* The first core stands at 1,1: under 1 of the columns and beside 1 of the rows. */
    page_has_text(b, "document.querySelector('.chip-grid .core').title", "core 0,0 at NoC 1,1: ");
    page_has_text(
        b,
        "(() => { const r = (e) => e.getBoundingClientRect(), c = r(document.querySelector('.chip-grid .core')), a = [...document.querySelectorAll('.axis')];"
        " const over = a.find((e) => r(e).bottom <= r(document.querySelector('.chip-grid .place')).top + 1 && r(e).left <= c.left + 1 && r(e).right >= c.right - 1), beside = a.filter((e) => r(e).right <= r(document.querySelector('.chip-grid .place')).left + 1).find((e) => r(e).top <= c.top + 1 && r(e).bottom >= c.bottom - 1);"
        " return over.textContent + ' ' + beside.textContent; })()",
        "1 1");
    page_run(b, "document.querySelector('.chip-grid .core').focus()");
    browser_key(b, "Enter");
    page_has_text(b, "[...rowsLayout.open].map((c) => c.name).join(' ')", "0,0");
    page_has_no_problems(b, "harvested");
}

/* Bytes that kernels read and wrote: of the cores, and of the tiles at the other end. */
static void coloured_by_bytes(void **state)
{
    NEEDS_BROWSER();
    char line[600];
    const char *own = getenv("DEVLOG_BIN");
    snprintf(line, sizeof line, "run --device-only --waits --recording stream -o net -- %.*snet20 3",
             (int)(strlen(own) - strlen("devlog")), own);
    setenv("DEVLOG_GRID", "columns=1-2,rows=11-11", 1);
    free(devlog_ok(line, 0));
    unsetenv("DEVLOG_GRID");
    page_open(b, in_scratch("net/logs/capture.devlog"), in_scratch("out"), 0);
    show_chip();
    ask("bytes");
    page_has_text(b, "document.querySelector('.chip-grid .core').getAttribute('aria-label')", "B");
    page_has_text(
        b,
        "(() => { const all = valuesOf(timeline.model, 'bytes').reduce((a, v) => a + v, 0);"
        " return all > 0 && all === [...bytesThere(timeline.model, 0).values()].reduce((a, v) => a + v, 0) ? 'as much' : 'another'; })()",
        "as much");
    page_has_number(b, "document.querySelectorAll('.tile-dram b').length",
                    0); /* this network reads from its own tile */
    page_run(
        b,
        "(() => { for (const row of timeline.model.rows) for (const lane of row.lanes) for (let i = 0; lane.points && i < lane.n; i++)"
        " if (timeline.model.sites[lane.site[i]].name === 'DEVLOG-NOC-READ') { lane.value[i] = BigInt(8192 | (5 << 22)) << 32n; showChips(); return; } })()");
    page_has_text(b,
                  "[...document.querySelectorAll('.tile-dram b')].map((t) => t.parentElement.title).join()",
                  "DRAM at NoC 0,5: 8.2 kB read and written by cores");
    page_is_legible(b, "bytes");
    browser_key(b, "t");
    page_is_legible(b, "bytes, the other light");
}

static void several_chips(void **state)
{
    NEEDS_BROWSER();
    page_open(b, four_chips(), in_scratch("out"), 0);
    show_chip();
    page_has_number(b, "document.querySelectorAll('.chip-grid').length", 4);
    page_has_text(b, NOTES,
                  "chip 0 blackhole 17 × 12 tiles, NoC 0 coordinates; no column or row is switched off | ");
    page_has_text(b, NOTES, "left out: column 16 | ");
    page_has_text(b, NOTES, "left out: columns 15, 16 | ");
    page_has_text(b, NOTES, "chip 3 blackhole where on the chip: unknown; harvested tiles: unknown");
    page_has_text(b, KINDS, "Tensix 130 (110 in this log)");
    page_has_text(b, KINDS, "110 cores at the log's own coordinates");
    /* The last core of the third: its columns go on behind those of DRAM and management. */
    page_has_text(b, "[...document.querySelectorAll('.chip-grid')[2].querySelectorAll('.core')].pop().title",
                  "core 2:10,9 at NoC 13,11: ");
    ask("zone");
    browser_size(
        b, 390,
        844); /* what is said of a chip stays on the screen of a telephone, though the chip is wider */
    page_has_number(
        b,
        "[...document.querySelectorAll('#chips figcaption, .chip-kinds')].filter((e) => e.getBoundingClientRect().right > innerWidth - 15).length",
        0);
    page_has_text(b, "document.getElementById('chips').scrollWidth > innerWidth ? 'wider' : 'not'", "wider");
    page_fits(b, "four chips", PAGE_ALL_SIZES | PAGE_LIGHT_AND_DARK);
    page_is_legible(b, "four chips");
    browser_key(b, "t");
    page_is_legible(b, "four chips, the other light");
}

/* Rows of tt-metal's log, and a board's name that is a path. */
static void tt_metal(const char *arch, const char *cores, const char *file)
{
    char text[4000];
    size_t n = (size_t)snprintf(
        text, sizeof text,
        "ARCH: %s, CHIP_FREQ[MHz]: 1000\n"
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host "
        "ID, zone name, type, source line, source file, meta data\n",
        arch);
    unsigned time = 1000;
    for (unsigned x, y; sscanf(cores, "%u,%u", &x, &y) == 2;
         cores += strcspn(cores, " ") + (strchr(cores, ' ') != NULL)) {
        const char *const types[] = {"ZONE_START", "ZONE_END"};
        for (unsigned i = 0; i < 2; i++, time += 100)
            n += (size_t)snprintf(text + n, sizeof text - n, "0,%u,%u,BRISC,%u,%u,0,1,BRISC-FW,%s,396,%s,\n",
                                  x, y, 7 + i, time, types[i], file);
    }
    write_text(in_scratch("tt.csv"), text);
    page_open(b, in_scratch("tt.csv"), in_scratch("out"), 0);
    show_chip();
}

static void logs_without_a_grid(void **state)
{
    NEEDS_BROWSER();
    static const char firmware[] = "/src/tt_metal/hw/firmware/src/brisc.cc";
    tt_metal("wormhole_b0", "1,1 9,11 4,2", firmware);
    page_has_text(
        b, NOTES,
        "chip 0 wormhole_b0 10 × 12 tiles, NoC 0 coordinates; any wormhole_b0; harvested tiles: unknown");
    page_has_text(b, KINDS, "Tensix 80 (3 in this log) · D DRAM 18");
    page_has_text(b, "[...document.querySelectorAll('.chip-grid .core')].pop().title",
                  "core 9,11 at NoC 9,11: ");
    page_is_legible(b, "tt-metal");
    static const char *const unknown[][3] = {
        {"wormhole_b0", "1,1 0,0", firmware},     /* no compute tile is there: coordinates of another kind */
        {"wormhole_b0", "18,18 19,18", firmware}, /* translated ones */
        {"wormhole_b0", "1,1 2,2", "firmware/run.h"}, /* ours: logical */
        {"wormhole_b9", "1,1 2,2", firmware},         /* nobody knows it */
        {"../boards/wormhole_b0.json", "1,1", firmware},
    };
    /* No file is taken for a board by a name that a log has, though it be one that calls itself so. */
    char link[40], *known = read_bytes(source_path("boards/wormhole_b0.json"), NULL), text[1 << 16];
    snprintf(link, sizeof link, "/tmp/b%ld.json", (long)getpid());
    char *arch = strstr(known, "\"arch\": \"wormhole_b0\"");
    assert_non_null(arch);
    snprintf(text, sizeof text, "%.*s\"arch\": \"%s\"%s", (int)(arch - known), known, link,
             arch + strlen("\"arch\": \"wormhole_b0\""));
    write_text(link, text);
    free(known);
    tt_metal(link, "1,1", firmware);
    unlink(link);
    page_has_text(b, NOTES, " where on the chip: unknown; harvested tiles: unknown");
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        tt_metal(unknown[i][0], unknown[i][1], unknown[i][2]);
        page_has_text(b, NOTES, " where on the chip: unknown; harvested tiles: unknown");
        page_has_number(b, "document.querySelectorAll('.tile-dram').length", 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_harvested_chip),
        cmocka_unit_test(coloured_by_bytes),
        cmocka_unit_test(several_chips),
        cmocka_unit_test(logs_without_a_grid),
    };
    return cmocka_run_group_tests(tests, start_browser, stop_browser);
}
