/* Chromium over the DevTools protocol: messages are JSON, each ended by a NUL, on file descriptors 3 and 4.
 */
#include "support/browser.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "base/term.h"

struct browser {
    pid_t pid;
    int in, out; /* of ours: to it, from it */
    char profile[64];
    char session[80];
    dl_str buffer, requests, problems;
    int next;
};

enum { PATIENCE_SECONDS = 120 }; /* with both processors busy with something else */

static bool have_chromium(void)
{
    return system("command -v chromium >/dev/null 2>&1") == 0;
}

static void child(int from, int to, const char *profile, int width, int height)
{
    char folder[100], size[64];
    snprintf(folder, sizeof folder, "--user-data-dir=%s", profile);
    snprintf(size, sizeof size, "--window-size=%d,%d", width, height);
    int in = fcntl(from, F_DUPFD, 10), out = fcntl(to, F_DUPFD, 10), null = open("/dev/null", O_RDWR);
    dup2(in, 3);
    dup2(out, 4);
    dup2(null, 0);
    dup2(null, 1);
    dup2(null, 2);
    setsid();
    unsetenv("ASAN_OPTIONS");
    execlp("chromium", "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
           "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
           "--proxy-server=127.0.0.1:9", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", folder,
           size, "about:blank", (char *)NULL);
    _exit(127);
}

browser *browser_start(int width, int height)
{
    int to[2], from[2];
    if (!have_chromium()) return NULL;
    browser *b = calloc(1, sizeof *b);
    if (!b || pipe(to) != 0 || pipe(from) != 0) abort();
    strcpy(b->profile, "/tmp/devlog-browser-XXXXXX");
    if (!mkdtemp(b->profile)) abort();
    signal(SIGPIPE, SIG_IGN);
    b->pid = fork();
    if (b->pid == 0) child(to[0], from[1], b->profile, width, height);
    close(to[0]);
    close(from[1]);
    b->in = to[1];
    b->out = from[0];
    cJSON *r = browser_call(b, "Target.createTarget", "{\"url\":\"about:blank\"}");
    const char *id = cJSON_GetStringValue(cJSON_GetObjectItem(r, "targetId"));
    char params[200];
    snprintf(params, sizeof params, "{\"targetId\":\"%.100s\",\"flatten\":true}", id ? id : "");
    cJSON_Delete(r);
    r = browser_call(b, "Target.attachToTarget", params);
    const char *session = cJSON_GetStringValue(cJSON_GetObjectItem(r, "sessionId"));
    snprintf(b->session, sizeof b->session, "%.70s", session ? session : "");
    cJSON_Delete(r);
    static const char *const domains[] = {"Page.enable", "Runtime.enable", "Network.enable", "Log.enable"};
    for (size_t i = 0; i < sizeof domains / sizeof domains[0] && b->session[0]; i++)
        cJSON_Delete(browser_call(b, domains[i], NULL));
    browser_size(b, width, height);
    if (b->session[0]) return b;
    browser_stop(b);
    return NULL;
}

void browser_size(browser *b, int width, int height)
{
    char params[120];
    snprintf(params, sizeof params, "{\"width\":%d,\"height\":%d,\"deviceScaleFactor\":1,\"mobile\":false}",
             width, height);
    cJSON_Delete(browser_call(b, "Emulation.setDeviceMetricsOverride", params));
}

void browser_stop(browser *b)
{
    char command[120];
    if (!b) return;
    close(b->in);
    close(b->out);
    kill(-b->pid, SIGKILL);
    waitpid(b->pid, NULL, 0);
    snprintf(command, sizeof command, "rm -rf %s", b->profile);
    for (int i = 0; i < 20 && system(command) != 0; i++)
        usleep(50000); /* its other processes may still be ending */
    dl_str_free(&b->buffer);
    dl_str_free(&b->requests);
    dl_str_free(&b->problems);
    free(b);
}

static bool send_all(browser *b, const char *text, size_t n)
{
    while (n) {
        ssize_t sent = write(b->in, text, n);
        if (sent <= 0) return false;
        text += sent;
        n -= (size_t)sent;
    }
    return true;
}

/* The next message, deleted by the caller; NULL when it is gone or says nothing for too long. */
static cJSON *receive(browser *b)
{
    uint64_t end = dl_now_ns() + PATIENCE_SECONDS * UINT64_C(1000000000);
    for (;;) {
        char *nul = b->buffer.len ? memchr(b->buffer.text, 0, b->buffer.len) : NULL;
        if (nul) {
            cJSON *message = cJSON_Parse(b->buffer.text);
            size_t n = (size_t)(nul - b->buffer.text) + 1;
            memmove(b->buffer.text, b->buffer.text + n, b->buffer.len - n);
            b->buffer.len -= n;
            return message;
        }
        struct pollfd p = {.fd = b->out, .events = POLLIN};
        if (dl_now_ns() > end || poll(&p, 1, 1000) < 0) return NULL;
        if (!(p.revents & (POLLIN | POLLHUP))) continue;
        if (!dl_str_reserve(&b->buffer, 1 << 16)) return NULL;
        ssize_t got = read(b->out, b->buffer.text + b->buffer.len, 1 << 16);
        if (got <= 0) return NULL;
        b->buffer.len += (size_t)got;
    }
}

static const char *text_at(const cJSON *object, const char *a, const char *c, const char *d)
{
    const cJSON *at = cJSON_GetObjectItem(object, a);
    if (c) at = cJSON_GetObjectItem(at, c);
    if (d) at = cJSON_GetObjectItem(at, d);
    const char *text = cJSON_GetStringValue(at);
    return text ? text : "";
}

static void note(browser *b, const cJSON *event)
{
    const char *method = text_at(event, "method", NULL, NULL);
    const cJSON *params = cJSON_GetObjectItem(event, "params");
    if (strcmp(method, "Network.requestWillBeSent") == 0) {
        const char *url = text_at(params, "request", "url", NULL);
        dl_str_fmt(&b->requests, "%.300s\n", url);
    } else if (strcmp(method, "Runtime.exceptionThrown") == 0) {
        dl_str_fmt(&b->problems, "%.1000s\n",
                   text_at(params, "exceptionDetails", "exception", "description"));
    } else if (strcmp(method, "Log.entryAdded") == 0 &&
               strcmp(text_at(params, "entry", "level", NULL), "error") == 0) {
        dl_str_fmt(&b->problems, "%.1000s\n", text_at(params, "entry", "text", NULL));
    } else if (strcmp(method, "Runtime.consoleAPICalled") == 0) {
        const char *type = text_at(params, "type", NULL, NULL);
        const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItem(params, "args"), 0);
        if (strcmp(type, "error") == 0 || strcmp(type, "warning") == 0 || strcmp(type, "assert") == 0)
            dl_str_fmt(&b->problems, "console: %.1000s\n", text_at(first, "value", NULL, NULL));
    }
}

cJSON *browser_call(browser *b, const char *method, const char *params)
{
    dl_str text = {0};
    int id = ++b->next;
    dl_str_fmt(&text, "{\"id\":%d,\"method\":\"%s\",\"params\":%s", id, method, params ? params : "{}");
    if (b->session[0]) dl_str_fmt(&text, ",\"sessionId\":\"%s\"", b->session);
    dl_str_char(&text, '}');
    bool sent = !text.failed && send_all(b, text.text, text.len + 1);
    dl_str_free(&text);
    for (cJSON *message; sent && (message = receive(b)); cJSON_Delete(message)) {
        const cJSON *number = cJSON_GetObjectItem(message, "id");
        if (!cJSON_IsNumber(number)) {
            note(b, message);
        } else if (number->valueint == id) {
            cJSON *result = cJSON_DetachItemFromObject(message, "result");
            cJSON_Delete(message);
            return result;
        }
    }
    return NULL;
}

char *browser_js(browser *b, const char *fmt, ...)
{
    char *expression = NULL;
    va_list ap;
    dl_str params = {0}, wrapped = {0};
    va_start(ap, fmt);
    int n = vasprintf(&expression, fmt, ap);
    va_end(ap);
    if (n < 0) abort();
    dl_str_fmt(&wrapped, "(async () => { with (globalThis.devlog || {}) return String(await (%s)); })()",
               expression);
    dl_str_add(&params, "{\"returnByValue\":true,\"awaitPromise\":true,\"expression\":");
    dl_str_json(&params, wrapped.text, wrapped.len);
    dl_str_char(&params, '}');
    cJSON *result = browser_call(b, "Runtime.evaluate", params.text);
    const char *value = text_at(result, "result", "value", NULL);
    char *text = NULL;
    if (cJSON_GetObjectItem(result, "exceptionDetails")) {
        if (asprintf(&text, "exception: %s",
                     text_at(result, "exceptionDetails", "exception", "description")) < 0)
            abort();
    } else {
        text = strdup(value);
    }
    cJSON_Delete(result);
    dl_str_free(&params);
    dl_str_free(&wrapped);
    free(expression);
    return text;
}

double browser_number(browser *b, const char *expression)
{
    char *text = browser_js(b, "%s", expression);
    double value = atof(text);
    free(text);
    return value;
}

bool browser_wait(browser *b, const char *condition)
{
    uint64_t end = dl_now_ns() + PATIENCE_SECONDS * UINT64_C(1000000000);
    while (dl_now_ns() < end) {
        char *text = browser_js(b, "%s", condition);
        bool met = strcmp(text, "true") == 0;
        free(text);
        if (met) return true;
        usleep(20000);
    }
    return false;
}

bool browser_go(browser *b, const char *url, const char *ready)
{
    dl_str params = {0};
    dl_str_clear(&b->requests);
    dl_str_clear(&b->problems);
    dl_str_add(&params, "{\"url\":");
    dl_str_json(&params, url, strlen(url));
    dl_str_char(&params, '}');
    cJSON_Delete(browser_call(b, "Page.navigate", params.text));
    dl_str_free(&params);
    return browser_wait(b, ready);
}

void browser_key(browser *b, const char *key)
{
    char params[300];
    static const char *const types[] = {"keyDown", "keyUp"};
    /* What the key writes; of Enter a button wants it, too. */
    const char *text = strlen(key) == 1 ? key : strcmp(key, "Enter") == 0 ? "\\r" : NULL;
    for (int i = 0; i < 2; i++) {
        snprintf(params, sizeof params, "{\"type\":\"%s\",\"key\":\"%s\"%s%s%s%s}", types[i], key,
                 text ? ",\"text\":\"" : "", text ? text : "", text ? "\"" : "",
                 strcmp(key, "Enter") == 0 ? ",\"windowsVirtualKeyCode\":13" : "");
        cJSON_Delete(browser_call(b, "Input.dispatchKeyEvent", params));
    }
    /* The browser may answer before the page has had the key. */
    free(browser_js(b, "new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))"));
}

void browser_mouse(browser *b, const char *type, double x, double y, int modifiers)
{
    char params[300];
    bool dragged = strcmp(type, "mouseDragged") == 0, moved = strcmp(type, "mouseMoved") == 0;
    snprintf(params, sizeof params,
             "{\"type\":\"%s\",\"x\":%.1f,\"y\":%.1f,\"modifiers\":%d,\"button\":\"%s\",\"buttons\":%d,"
             "\"clickCount\":%d}",
             dragged ? "mouseMoved" : type, x, y, modifiers, moved ? "none" : "left", dragged,
             !dragged && !moved);
    cJSON_Delete(browser_call(b, "Input.dispatchMouseEvent", params));
}

void browser_wheel(browser *b, double x, double y, double delta)
{
    char params[300];
    snprintf(params, sizeof params,
             "{\"type\":\"mouseWheel\",\"x\":%.1f,\"y\":%.1f,\"deltaX\":0,\"deltaY\":%.1f}", x, y, delta);
    cJSON_Delete(browser_call(b, "Input.dispatchMouseEvent", params));
}

static int digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

bool browser_picture(browser *b, const char *path)
{
    cJSON *result = browser_call(b, "Page.captureScreenshot", "{\"format\":\"png\"}");
    const char *in = text_at(result, "data", NULL, NULL);
    FILE *f = fopen(path, "wb");
    unsigned bits = 0;
    int n = 0;
    for (; f && *in; in++) {
        int d = digit(*in);
        if (d < 0) break;
        bits = bits << 6 | (unsigned)d;
        if ((n += 6) >= 8) fputc((int)(bits >> (n -= 8) & 255), f);
    }
    bool whole = f && ftell(f) > 0;
    if (f && fclose(f) != 0) whole = false;
    cJSON_Delete(result);
    return whole;
}

const char *browser_requests(const browser *b)
{
    return b->requests.text ? b->requests.text : "";
}

const char *browser_problems(const browser *b)
{
    return b->problems.text ? b->problems.text : "";
}
