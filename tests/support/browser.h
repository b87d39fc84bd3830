/* Chromium without a window, driven over the DevTools protocol by a pipe: for tests and benches of the page.
 * It reaches nothing but this machine. */
#ifndef DEVLOG_TESTS_BROWSER_H
#define DEVLOG_TESTS_BROWSER_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct browser browser;

/* NULL when there is no chromium here, or it does not come up. Ends it with browser_stop. */
browser *browser_start(int width, int height);
void browser_stop(browser *b);

/* The size of the page from now on. */
void browser_size(browser *b, int width, int height);

/* One call of the protocol; `params` is JSON or NULL. The result's object, deleted by the caller; NULL when
 * the browser refused or is gone. */
cJSON *browser_call(browser *b, const char *method, const char *params);
/* The value of an expression (awaited when it is a promise) as text; freed by the caller. An exception is the
 * text "exception: ...". */
char *browser_js(browser *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
double browser_number(browser *b, const char *expression);
/* Opens an address and waits until the expression is true; false when it is not within 30 s. */
bool browser_go(browser *b, const char *url, const char *ready);
bool browser_wait(browser *b, const char *condition);

/* What a hand does. Keys are "w", "Enter", "ArrowLeft"; types mousePressed, mouseMoved, mouseDragged (with
 * the button down), mouseReleased; modifiers: 8 is Shift. */
void browser_key(browser *b, const char *key);
void browser_mouse(browser *b, const char *type, double x, double y, int modifiers);
void browser_wheel(browser *b, double x, double y, double delta);
/* A picture of the page as a PNG file. */
bool browser_picture(browser *b, const char *path);

/* Addresses asked for since the last browser_go, one a line; and the uncaught exceptions and refusals of the
 * policy since then. Owned by the browser. */
const char *browser_requests(const browser *b);
const char *browser_problems(const browser *b);

#endif
