/* The list of `devlog serve`: figures of each log, filter, order, labels, two of them compared, the trace for Perfetto, packed logs and
 * op reports. How it serves: test_serve.c. What is asked of a browser is skipped where there is no chromium; arithmetic of the list is
 * tested in tests/page/list.test.js. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "support/cli.h"
#include "support/device.h"
#include "support/files.h"
#include "support/page_group.h"
#include "support/serve.h"

static served server;

static void make_log(const char *name, const page_log *log)
{
    char path[700], *slash;
    snprintf(path, sizeof path, "%s", in_scratch(name));
    slash = strrchr(path, '/');
    *slash = '\0';
    devlog_error err;
    check_ok(dl_folder_make(path, &err), &err);
    *slash = '/';
    page_log_write(path, log);
}

/* Three logs, one of them packed and one with drops; a run with its op report; an op report by itself; and what is no capture. */
static int start_server(void **state)
{
    char line[2000];
    page_log log = {.chips = 2, .columns = 2, .rows = 1, .riscs = 2, .launches = 3, .zones = 3};
    make_log("runs/first/profile_log_device.csv", &log);
    snprintf(line, sizeof line, "pack %s -o %s", in_scratch("runs/first/profile_log_device.csv"),
             in_scratch("packed"));
    free(devlog_ok(line, 0));
    log.drops = true;
    log.launches = 5;
    make_log("runs/second/profile_log_device.csv", &log);
    snprintf(line, sizeof line, "mkdir -p %s && mv %s %s/profile_log_device.csv.pack",
             in_scratch("runs/packed"), in_scratch("packed"), in_scratch("runs/packed"));
    assert_int_equal(system(line), 0);
    page_network();
    snprintf(
        line, sizeof line,
        "cp -r %s %s && mkdir %s && cp %s/ops_perf_results.csv %s/ops_perf_results_2.csv && mkdir %s && printf 'no,report\\n1,2\\n' > %s",
        in_scratch("network"), in_scratch("runs/network"), in_scratch("runs/alone"), in_scratch("network"),
        in_scratch("runs/alone"), in_scratch("runs/broken"), in_scratch("runs/broken/ops_perf_results.csv"));
    assert_int_equal(system(line), 0);
    server = serve_start(in_scratch("runs"), NULL);
    return start_browser(state);
}

static int stop_server(void **state)
{
    const int status = serve_stop(&server);
    return stop_browser(state) || status;
}

/* The list when everything in it has been read. */
static cJSON *whole_list(void)
{
    for (int i = 0; i < 300; i++) {
        char *answer = serve_get(&server, "/logs.json", NULL);
        if (!strstr(answer, "\"reading\"")) {
            cJSON *list = cJSON_Parse(serve_body(answer));
            free(answer);
            assert_non_null(list);
            return list;
        }
        free(answer);
        usleep(100000);
    }
    fail_msg("the logs are not read");
    return NULL;
}

static const cJSON *log_of(const cJSON *list, const char *name)
{
    const cJSON *log;
    cJSON_ArrayForEach(log, cJSON_GetObjectItem(list, "logs"))
    {
        if (strcmp(cJSON_GetObjectItem(log, "name")->valuestring, name) == 0) return log;
    }
    return NULL;
}

static void has(const cJSON *list, const char *name, const char *key, double value)
{
    const cJSON *log = log_of(list, name), *is = log ? cJSON_GetObjectItem(log, key) : NULL;
    if (!is || is->valuedouble < value || is->valuedouble > value)
        fail_msg("%s of %s is %s, not %g", key, name, is ? "something else" : "not there", value);
}

static char *id_of(const char *name)
{
    cJSON *list = whole_list();
    const cJSON *log = log_of(list, name);
    if (!log) fail_msg("%s is not in the list", name);
    char *id = strdup(cJSON_GetObjectItem(log, "id")->valuestring);
    cJSON_Delete(list);
    return id;
}

static void figures_of_every_kind(void **state)
{
    (void)state;
    cJSON *list = whole_list();
    has(list, "first/profile_log_device.csv", "launches", 6);
    has(list, "first/profile_log_device.csv", "chips", 2);
    has(list, "first/profile_log_device.csv", "lost", 0);
    has(list, "packed/profile_log_device.csv.pack", "launches", 6);
    has(list, "second/profile_log_device.csv", "launches", 10);
    assert_true(cJSON_GetObjectItem(log_of(list, "second/profile_log_device.csv"), "lost")->valuedouble > 0);
    has(list, "alone/ops_perf_results_2.csv", "ops", 26);
    assert_non_null(log_of(list, "network/logs_device/capture.devlog"));
    assert_null(log_of(list, "network/ops_perf_results.csv")); /* is in the page of its capture */
    const cJSON *broken = log_of(list, "broken/ops_perf_results.csv");
    assert_string_equal(cJSON_GetObjectItem(broken, "figures")->valuestring, "failed");
    assert_non_null(cJSON_GetObjectItem(broken, "why"));
    cJSON_Delete(list);
}

static char *get(const char *fmt, const char *a, const char *c, int status)
{
    char path[200];
    snprintf(path, sizeof path, fmt, a, c);
    char *answer = serve_get(&server, path, NULL);
    if (serve_status(answer) != status) fail_msg("%s: %s", path, serve_body(answer));
    return answer;
}

static void has_part(char *answer, const char *part)
{
    assert_non_null(answer);
    if (!strstr(answer, part)) fail_msg("without %s: %.600s", part, answer);
    free(answer);
}

static void two_are_compared(void **state)
{
    (void)state;
    char *first = id_of("first/profile_log_device.csv"), *second = id_of("second/profile_log_device.csv"),
         *network = id_of("network/logs_device/capture.devlog"),
         *alone = id_of("alone/ops_perf_results_2.csv"), *broken = id_of("broken/ops_perf_results.csv");
    char *answer = get("/diff/%s/%s", first, second, 200);
    assert_non_null(strstr(answer, "Content-Security-Policy: default-src 'none'; script-src 'sha256-"));
    has_part(answer, "\"format\":\"devlog-diff-1\"");
    has_part(get("/diff/%s/%s", network, first, 200),
             "\"format\":\"devlog-diff-1\""); /* launches are in both */
    has_part(get("/diff/%s/%s", alone, alone, 200), "text/plain");
    has_part(get("/diff/%s/%s", alone, first, 500), "");
    has_part(get("/diff/%s/%s", first, broken, 500), "broken/ops_perf_results.csv");
    has_part(get("/diff/%s/%s", first, "0123456789abcdef", 404), "gone");
    has_part(get("/diff/%s%s", first, "", 404), "gone");
    has_part(get("/diff/%s/../%s", first, second, 404), "");
    free(first);
    free(second);
    free(network);
    free(alone);
    free(broken);
}

static void reports_and_traces(void **state)
{
    (void)state;
    char *packed = id_of("packed/profile_log_device.csv.pack"),
         *alone = id_of("alone/ops_perf_results_2.csv"), path[200];
    has_part(get("/log/%s/%s", alone, "report.txt", 200), "Matmul");
    free(get("/log/%s/%s", alone, "device_perf.html", 500));
    free(get("/log/%s/%s", alone, "trace.perfetto-trace", 500));
    free(get("/log/%s/%s", packed, "device_perf.html", 200));
    size_t n, expected;
    snprintf(path, sizeof path, "/log/%s/trace.perfetto-trace", packed);
    char *answer = serve_get(&server, path, &n), line[1500];
    assert_int_equal(serve_status(answer), 200);
    snprintf(line, sizeof line, "export -f perfetto %s -o %s",
             in_scratch("runs/packed/profile_log_device.csv.pack"), in_scratch("trace"));
    free(devlog_ok(line, 0));
    char *trace = read_bytes(in_scratch("trace"), &expected);
    assert_int_equal(n - (size_t)(serve_body(answer) - answer), expected);
    assert_memory_equal(serve_body(answer), trace, expected);
    free(trace);
    free(answer);
    free(packed);
    free(alone);
}

static void open_list(void)
{
    char url[100];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", server.port);
    cJSON_Delete(whole_list());
    assert_true(browser_go(b, "about:blank", "true"));
    assert_true(browser_go(b, url, "document.querySelectorAll('#logs tr').length >= 6"));
    free(browser_js(
        b,
        "Object.assign(globalThis, devlog), localStorage.clear(), window.names = () => [...document.querySelectorAll('#logs tr')].map((r) => "
        "r.cells[1].firstChild.textContent.split('/')[0]).join(), window.type = (text) => { const f = document.getElementById('filter'); f.value = text; "
        "f.dispatchEvent(new Event('input')); }, 1"));
}

static void it_filters_sorts_and_labels(void **state)
{
    NEEDS_BROWSER();
    open_list();
    page_has_text(b, "document.getElementById('state').textContent", "6 logs");
    browser_key(b, "/");
    page_has_text(b, "document.activeElement.id", "filter");
    page_run(b, "type('packed'), window.all = names()");
    page_has_text(b, "all", "packed");
    page_run(b, "type('lost')");
    page_has_text(b, "names()", "second");
    page_run(b, "type('no such thing')");
    page_has_text(b, "document.getElementById('none').textContent", "No log has all of these words");
    page_run(b, "type('')");
    /* By keyboard, from the head of the column; who was there stays there. */
    page_run(b, "document.querySelector('#heads [data-part=launches]').focus()");
    browser_key(b, "Enter");
    page_has_text(b, "names() + ' ' + document.activeElement.dataset.part", "network,second,");
    browser_key(b, "Enter");
    page_has_text(b,
                  "names().replace('packed', 'first') + document.querySelector('th[aria-sort]').textContent",
                  "first,first,second,network,");
    page_run(
        b,
        "(() => { const i = [...document.querySelectorAll('#logs tr')].find((r) => r.innerText.includes('second')).querySelector('[data-part=label]'); i.value = 'Before <b>'; "
        "i.dispatchEvent(new Event('change')); type('before'); })()");
    page_has_text(b, "names()", "second");
    page_run(b, "window.gone = true, location.reload()");
    assert_true(browser_wait(b, "!window.gone && document.querySelectorAll('#logs tr').length >= 6"));
    page_has_text(
        b, "[...document.querySelectorAll('[data-part=label]')].map((i) => i.value).filter(Boolean).join()",
        "Before <b>");
    page_has_no_problems(b, "list");
}

/* A log that comes is there by itself, and who writes a label or has ticked one keeps that. */
static void new_logs_appear(void **state)
{
    NEEDS_BROWSER();
    open_list();
    page_run(
        b,
        "document.querySelectorAll('[data-part=pick]')[1].click(), window.before = [...devlog.list.picked][0], document.querySelectorAll('[data-part=stats]')[1].focus(), window.at = "
        "document.activeElement.closest('tr').dataset.id");
    const page_log log = {.chips = 1, .columns = 1, .rows = 1, .riscs = 1, .launches = 4, .zones = 2};
    make_log("runs/later/profile_log_device.csv", &log);
    assert_true(browser_wait(
        b,
        "[...document.querySelectorAll('#logs tr')].some((r) => r.innerText.includes('later') && r.cells[3].textContent === '4')"));
    page_has_text(
        b,
        "devlog.list.picked.has(before) + document.activeElement.dataset.part + (document.activeElement.closest('tr').dataset.id === at)",
        "truestatstrue");
    assert_int_equal(unlink(in_scratch("runs/later/profile_log_device.csv")), 0);
    assert_true(browser_wait(
        b, "![...document.querySelectorAll('#logs tr')].some((r) => r.innerText.includes('later'))"));
    page_has_no_problems(b, "new logs");
}

static void a_click_compares_and_opens_perfetto(void **state)
{
    NEEDS_BROWSER();
    open_list();
    /* A window of Perfetto's that answers as it does. */
    page_run(
        b,
        "window.said = [], window.open = (url) => ({ postMessage(data, to) { said.push([data, to]); if (data === 'PING' && said.length > 1 && !this.told) { this.told = true; dispatchEvent(new "
        "MessageEvent('message', { data: 'PONG', source: null })); const e = new MessageEvent('message', { data: 'PONG' }); Object.defineProperty(e, 'source', { value: this }); dispatchEvent(e); } }, close() {} })");
    page_run(
        b,
        "[...document.querySelectorAll('#logs tr')].find((r) => r.innerText.includes('first')).querySelector('[data-part=perfetto]').click()");
    assert_true(browser_wait(b, "said.some(([d]) => d.perfetto)"));
    page_has_text(
        b,
        "(() => { const [data, to] = said.find(([d]) => d.perfetto); return to + ' ' + (data.perfetto.buffer.byteLength > 500) + ' ' + data.perfetto.title })()",
        "https://ui.perfetto.dev true first/profile_log_device.csv");
    page_has_text(b, "document.getElementById('compare').disabled", "true");
    page_run(
        b,
        "['first', 'second'].forEach((n) => [...document.querySelectorAll('#logs tr')].find((r) => r.innerText.includes(n)).querySelector('[data-part=pick]').click())");
    page_has_text(b, "document.getElementById('picked').textContent",
                  "first/profile_log_device.csv → second/profile_log_device.csv");
    page_run(b, "document.getElementById('compare').focus()");
    browser_key(b, "Enter");
    assert_true(browser_wait(b, "document.documentElement.dataset.ready === 'yes'"));
    page_has_text(b, "devlog.pair.ops.length + document.getElementById('banner').innerText",
                  "10the new run lost something");
    page_has_no_problems(b, "compare");
}

static void it_fits(void **state)
{
    NEEDS_BROWSER();
    static const int widths[] = {1440, 1024, 390};
    open_list();
    for (int i = 0; i < 6; i++) {
        char params[200];
        browser_size(b, widths[i % 3], 800);
        snprintf(params, sizeof params,
                 "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"%s\"}]}",
                 i < 3 ? "light" : "dark");
        cJSON_Delete(browser_call(b, "Emulation.setEmulatedMedia", params));
        page_settle(b);
        page_has_text(
            b,
            "document.documentElement.scrollWidth <= innerWidth ? 'fits' : 'sticks out ' + document.documentElement.scrollWidth",
            "fits");
        page_has_text(
            b,
            "(() => { const light = (c) => { const v = c.match(/[\\d.]+/g).slice(0, 3).map((x) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4)); return 0.2126 * v[0] + 0.7152 * "
            "v[1] + 0.0722 * v[2]; }; const page = light(getComputedStyle(document.body).backgroundColor); const bad = [...document.querySelectorAll('body *')].filter((e) => !e.disabled && "
            "[...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) && (() => { const t = light(getComputedStyle(e).color); return (Math.max(t, page) + 0.05) / (Math.min(t, page) + 0.05) < 4.5; "
            "})()); return bad.length ? bad[0].outerHTML.slice(0, 200) : 'legible'; })()",
            "legible");
    }
    browser_size(b, 1440, 900);
    cJSON_Delete(browser_call(b, "Emulation.setEmulatedMedia", "{\"features\":[]}"));
    page_has_no_problems(b, "sizes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_every_kind),
        cmocka_unit_test(two_are_compared),
        cmocka_unit_test(reports_and_traces),
        cmocka_unit_test(it_filters_sorts_and_labels),
        cmocka_unit_test(new_logs_appear),
        cmocka_unit_test(a_click_compares_and_opens_perfetto),
        cmocka_unit_test(it_fits),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
