/* Measures device_perf.html in a browser: made-up logs of one and of ten million intervals on 640 RISCs are packed,
 * opened, and painted, over all and zoomed in; the second as `devlog serve` has it. Prints figures, asserts nothing. With an argument,
 * the last page is left in that folder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/term.h"
#include "report/page.h"
#include "support/browser.h"

enum { LITTLE = 40, MUCH = 400 }; /* launches */
enum { CORES_X = 16, CORES_Y = 8, ZONES = 37, RISCS = 5 };

static const char *const riscs[RISCS] = {"BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2"};
static const char *const zones[] = {"read page", "wait for page", "unpack page", "compute page",
                                    "pack page", "write page",    "semaphore"};

/* xorshift64*: the same on every run. */
static uint64_t random_below(uint64_t *state, uint64_t n)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (*state * UINT64_C(0x2545F4914F6CDD1D) >> 33) % n;
}

typedef struct maker {
    dl_decode *decode;
    uint32_t launches, stream, fw, kernel, sites[7];
    dl_row rows[8192];
    size_t n;
    devlog_error *err;
} maker;

static devlog_status put(maker *m, uint64_t time, uint32_t site, bool end, uint32_t launch)
{
    m->rows[m->n++] = (dl_row){.time = time,
                               .stream = m->stream,
                               .site = site,
                               .timer_id = site + 10,
                               .run_host_id = launch + 1,
                               .trace_id = DL_NO_ID,
                               .trace_counter = DL_NO_ID,
                               .type = end ? DL_ROW_ZONE_END : DL_ROW_ZONE_START};
    if (m->n < sizeof m->rows / sizeof m->rows[0]) return DEVLOG_OK;
    m->n = 0;
    return dl_decode_rows(m->decode, m->rows, sizeof m->rows / sizeof m->rows[0], m->err);
}

static devlog_status make_rows(maker *m, uint64_t seed)
{
    devlog_status status = DEVLOG_OK;
    for (uint32_t launch = 0; launch < m->launches && !status; launch++) {
        uint64_t t = 1000000 + (uint64_t)launch * 60000 + random_below(&seed, 400);
        put(m, t, m->fw, false, launch);
        t += 50 + random_below(&seed, 50);
        put(m, t, m->kernel, false, launch);
        for (int i = 0; i < ZONES / 2 * 2 && !status; i++) {
            uint32_t site = m->sites[random_below(&seed, 7)];
            put(m, t += 20 + random_below(&seed, 100), site, false, launch);
            status = put(m, t += 200 + random_below(&seed, 2000), site, true, launch);
        }
        put(m, t += 60, m->kernel, true, launch);
        if (!status) status = put(m, t += 60, m->fw, true, launch);
    }
    if (!status && m->n) status = dl_decode_rows(m->decode, m->rows, m->n, m->err);
    m->n = 0;
    return status;
}

static devlog_status fill(dl_decode *d, uint32_t launches, devlog_error *err)
{
    maker *m = calloc(1, sizeof *m);
    dl_tables *t = dl_decode_tables(d);
    const dl_chip_line chip = {.arch = "wormhole_b0", .freq_khz = 1000000};
    if (!m) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    *m = (maker){.decode = d, .launches = launches, .err = err};
    devlog_status status = dl_decode_chip_line(d, &chip, err);
    for (uint32_t core = 0; core < CORES_X * CORES_Y && !status; core++) {
        for (uint32_t r = 0; r < RISCS && !status; r++) {
            char name[64];
            size_t n = strlen(riscs[r]);
            m->stream =
                dl_tables_stream(t, 0, (uint16_t)(core % CORES_X), (uint16_t)(core / CORES_X), riscs[r], n);
            dl_default_zone_name(name, riscs[r], n, DL_ROLE_FW);
            m->fw = dl_tables_site(t, name, strlen(name), "fw.c", 4, 1);
            dl_default_zone_name(name, riscs[r], n, DL_ROLE_KERNEL);
            m->kernel = dl_tables_site(t, name, strlen(name), "fw.c", 4, 2);
            for (uint32_t i = 0; i < 7; i++)
                m->sites[i] = dl_tables_site(t, zones[i], strlen(zones[i]), "kernel.c", 8, 10 + i);
            status = make_rows(m, core * RISCS + r + 1);
        }
    }
    free(m);
    return status;
}

static devlog_status make_page(const char *path, uint32_t launches, devlog_error *err)
{
    dl_decode *d = NULL;
    dl_view *v = NULL;
    uint64_t start = dl_now_ns();
    devlog_status status = dl_decode_new(&d, NULL, err);
    if (!status) status = dl_view_new(&v, d, &(dl_view_options){.most = DL_PAGE_SERVED, .cycles = true}, err);
    if (!status) status = dl_decode_run_sink(d, dl_view_runs(v), err);
    if (!status) status = fill(d, launches, err);
    if (!status) status = dl_decode_finish(d, err);
    if (!status) status = dl_view_ready(v, err);
    uint64_t decoded = dl_now_ns();
    if (!status)
        status =
            dl_page_file(v, &(dl_page_options){.title = "bench", .max_intervals = DL_PAGE_SERVED}, path, err);
    uint64_t written = dl_now_ns();
    struct stat st;
    if (!status && stat(path, &st) == 0)
        printf("%-44s %10.1f s, then writing the page %.2f s\n%-44s %10.2f MB%s\n", "rows into the view",
               (double)(decoded - start) / 1e9, (double)(written - decoded) / 1e9, "device_perf.html",
               (double)st.st_size / 1e6, launches == LITTLE ? " (goal: 5 MB)" : "");
    dl_view_free(v);
    dl_decode_free(d);
    return status;
}

/* Milliseconds of the slowest and the middle of some frames, from the call to the frame's end. */
static void frames(browser *b, const char *what, const char *before, const char *step, const char *goal)
{
    free(browser_js(b, "%s", before));
    char *text = browser_js(
        b,
        "(async () => { const all = []; const frame = () => new Promise((r) => "
        "requestAnimationFrame(r)); await frame(); await frame(); for (let i = 0; i < 20; i++) { %s; "
        "await frame(); await frame(); all.push(timeline.last); } all.sort((a, b) => a - b); return "
        "all[10].toFixed(1) + ' ms, slowest ' + all[19].toFixed(1) + ' ms' })()",
        step);
    printf("%-44s %10s (goal: %s)\n", what, text, goal);
    free(text);
}

/* The middle of nine runs of what a hand has to wait for. */
static void answer(browser *b, const char *what, const char *script, const char *goal)
{
    char *text = browser_js(
        b,
        "(() => { const all = []; for (let i = 0; i < 9; i++) { const from = performance.now(); %s; "
        "all.push(performance.now() - from); } all.sort((a, b) => a - b); return all[4].toFixed(0) + "
        "' ms, slowest ' + all[8].toFixed(0) + ' ms'; })()",
        script);
    printf("%-44s %10s (goal: %s)\n", what, text, goal);
    free(text);
}

/* What goes on in slices, as the page does it: until all is there, and the longest time between two frames meanwhile. */
static void sliced(browser *b, const char *what, const char *script, const char *ready, const char *goal)
{
    char *text = browser_js(
        b,
        "(async () => { const all = []; let longest = 0, last = 0, go = true; const tick = (now) => { if (last) longest = Math.max(longest, now - last); last = now; "
        "if (go) requestAnimationFrame(tick); }; requestAnimationFrame(tick); await new Promise((r) => setTimeout(r, 200)); longest = 0; "
        "for (let k = 0; k < 5; k++) { const from = performance.now(); %s; while (!(%s)) await new Promise((r) => setTimeout(r)); "
        "all.push(performance.now() - from); await new Promise((r) => setTimeout(r, 50)); } go = false; all.sort((a, b) => a - b); return "
        "all[2].toFixed(0) + ' ms, at most ' + longest.toFixed(0) + ' ms between two frames'; })()",
        script, ready);
    printf("%-44s %10s (goal: %s)\n", what, text, goal);
    free(text);
}

/* The same scripts for both sizes, with the goals of each. */
static int measure(browser *b, const char *path, const char *opening, const char *all, const char *tenth,
                   const char *hundredth, const char *open)
{
    char url[400];
    snprintf(url, sizeof url, "file://%s", path);
    for (int i = 0; i < 3; i++) {
        if (!browser_go(b, "about:blank", "true") ||
            !browser_go(b, url, "document.documentElement.dataset.ready === 'yes'"))
            return 1;
        char *paint = browser_js(
            b,
            "performance.getEntriesByType('paint').map((p) => p.name + ' ' + "
            "p.startTime.toFixed(0)).join(', ') + ' ms, overview ' + (timeline.overview || 0).toFixed(0) + ' ms, "
            "all of it ' + (timeline.shown || 0).toFixed(0)");
        printf("%-44s %10s ms (%s)\n", i ? "" : "opening, from navigation", paint, opening);
        free(paint);
    }
    char *first = browser_js(
        b,
        "(async () => { const from = performance.now(); showTab('time'); await new Promise((r) => "
        "requestAnimationFrame(() => requestAnimationFrame(r))); return (performance.now() - from).toFixed(0); })()");
    printf("%-44s %10s ms\n", "from the overview to the time line", first);
    free(first);
    char *count = browser_js(
        b, "grouped(timeline.model.intervals) + ' intervals on ' + timeline.model.rows.length + ' RISCs'");
    printf("%s\n", count);
    free(count);
    frames(b, "frame, all of it, cores closed", "viewAll()", "pan(i % 2 ? 0.01 : -0.01)", all);
    frames(b, "frame, a tenth of the time", "viewRange(view.span * 0.45, view.span * 0.5)",
           "pan(i % 2 ? 0.01 : -0.01)", tenth);
    frames(b, "frame, a hundredth, zooming", "viewRange(view.span * 0.45, view.span * 0.455)",
           "zoom(i % 2 ? 1.05 : 0.95, 0.5)", hundredth);
    frames(b, "frame, all of it, cores open", "toggleCore(null), viewAll()", "pan(i % 2 ? 0.01 : -0.01)",
           open);
    free(browser_js(b, "slices.most = Infinity"));
    answer(b, "search of a name that a seventh have", "runSearch(i % 2 ? 'compute page' : 'compute pag')",
           "100 ms");
    answer(b, "search by a regular expression", "runSearch(i % 2 ? '/^(un)?pack/' : '/^(un)?pack page/')",
           "100 ms");
    free(browser_js(b, "slices.most = 150000"));
    answer(b, "statistics of an area, all of it",
           "runSearch(''), areaOf(timeline.model, 0, timeline.model.span, null)", "100 ms");
    free(browser_js(b, "showTab('time')"));
    sliced(b, "search, in slices", "runSearch(k % 2 ? 'compute page' : 'compute pag')", "!search.busy",
           "17 ms");
    sliced(b, "statistics of an area, in slices", "measure(0, view.span - k), showDetails()",
           "document.querySelector('#details table')", "17 ms");
    return 0;
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/devlog-bench-XXXXXX", path[300];
    devlog_error err = {0};
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/device_perf.html", argc > 1 ? argv[1] : folder);
    devlog_status status = argc > 1 ? dl_folder_make(argv[1], &err) : DEVLOG_OK;
    browser *b = status ? NULL : browser_start(1440, 900);
    if (!status && !b) printf("no chromium here: frames are not measured\n");
    int failed = 0;
    for (int i = 0; i < 2 && !status && !failed; i++) {
        const uint32_t launches = i ? MUCH : LITTLE;
        status = make_page(path, launches, &err);
        if (status || !b) continue;
        failed = i ? measure(b, path, "goal: all 2 s", "16 ms", "16 ms", "16 ms", "16 ms")
                   : measure(b, path, "goals: overview 200, all 600 ms", "12 ms", "4 ms", "3 ms", "60 ms");
    }
    if (status) fprintf(stderr, "bench page: %s\n", err.text);
    if (failed) fprintf(stderr, "bench page: the page does not open\n");
    browser_stop(b);
    if (argc < 2) unlink(path);
    rmdir(folder);
    return status || failed;
}
